//! Code that is run with a number of axes that is in the type.

/// Runs `$body` with `$name` a view with as many axes as `$view`, fixed if `$fixed` and if it is one of the numbers
/// that are listed, else dynamic.
macro_rules! ranked {
    ($view:expr, $fixed:expr, [$($n:literal $Ix:ident),*], $name:ident => $body:expr) => {{
        let view = $view;
        match view.ndim() {
            $($n if $fixed => {
                let $name = view.into_dimensionality::<ndarray::$Ix>().expect("so many axes");
                $body
            })*
            _ => {
                let $name = view;
                $body
            }
        }
    }};
    ($view:expr, $fixed:expr, $name:ident => $body:expr) => {
        crate::cases::ranks::ranked!($view, $fixed, [0 Ix0, 1 Ix1, 2 Ix2, 3 Ix3, 4 Ix4], $name => $body)
    };
}

/// Runs `$body` with `$target` the sizes `$sizes` of type `i64`, given as the `$way`th type that can hold them.
macro_rules! targeted {
    ($sizes:expr, $way:expr, $target:ident => $body:expr) => {{
        let sizes: &[i64] = $sizes;
        let small = sizes.iter().all(|&size| (-1..100).contains(&size));
        let plain = sizes.iter().all(|&size| size >= 0);
        match (sizes, $way % 8) {
            (&[], 0) => {
                let $target = [0_i64; 0];
                $body
            }
            (&[], 1) => {
                let $target = ();
                $body
            }
            (&[a], 0) => {
                let $target = [a];
                $body
            }
            (&[a], 1) => {
                let $target = a;
                $body
            }
            (&[a], 2) if small => {
                let $target = (a as i8,);
                $body
            }
            (&[a, b], 0) => {
                let $target = [a, b];
                $body
            }
            (&[a, b], 1) => {
                let $target = (a as isize, b);
                $body
            }
            (&[a, b], 2) if plain => {
                let $target = ndarray::Ix2(a as usize, b as usize);
                $body
            }
            (&[a, b, c], 0) => {
                let $target = [a, b, c];
                $body
            }
            (&[a, b, c], 1) if small => {
                let $target = (a, b as i16, c as i32);
                $body
            }
            (&[a, b, c, d], 0 | 1) => {
                let $target = [a, b, c, d];
                $body
            }
            (&[a, b, c, d, e], 0) => {
                let $target = [a, b, c, d, e];
                $body
            }
            (_, 3) if small && plain => {
                let $target: Vec<u8> = sizes.iter().map(|&size| size as u8).collect();
                $body
            }
            (_, 4) if plain => {
                let $target = ndarray::IxDyn(&sizes.iter().map(|&size| size as usize).collect::<Vec<_>>());
                $body
            }
            (_, 5) if small => {
                let $target: Vec<i32> = sizes.iter().map(|&size| size as i32).collect();
                $body
            }
            _ => {
                let $target = sizes;
                $body
            }
        }
    }};
}

/// Runs `$body` with `$given` the axes `$axes`, given as the `$way`th type that can hold them. A set only where each
/// stands once.
macro_rules! axes_given {
    ($axes:expr, $way:expr, $given:ident => $body:expr) => {{
        let axes: &[usize] = $axes;
        let set: ndarray_broadcast::AxisSet = axes.into();
        match (axes, $way % 6) {
            (&[a], 0) => {
                let $given = a;
                $body
            }
            (&[a], 1) => {
                let $given = ndarray::Axis(a);
                $body
            }
            (&[], 0) => {
                let $given = [0_usize; 0];
                $body
            }
            (&[a], 2) => {
                let $given = [a];
                $body
            }
            (&[a, b], 0) => {
                let $given = [a, b];
                $body
            }
            (&[a, b, c], 0) => {
                let $given = [ndarray::Axis(a), ndarray::Axis(b), ndarray::Axis(c)];
                $body
            }
            (_, 3) if set.len() == axes.len() && set.as_slice() == axes => {
                let $given = set;
                $body
            }
            (_, 4) => {
                let $given: Vec<ndarray::Axis> = axes.iter().map(|&axis| ndarray::Axis(axis)).collect();
                $body
            }
            _ => {
                let $given = axes;
                $body
            }
        }
    }};
}

pub(crate) use {axes_given, ranked, targeted};
