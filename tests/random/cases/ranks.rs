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
        macro_rules! with {
            ($value:expr) => {{
                let $target = $value;
                $body
            }};
        }
        let sizes: &[i64] = $sizes;
        let small = sizes.iter().all(|&size| (-1..100).contains(&size));
        let plain = sizes.iter().all(|&size| size >= 0);
        match (sizes, $way % 8) {
            (&[], 0) => with!([0_i64; 0]),
            (&[], 1) => with!(()),
            (&[a], 0) => with!([a]),
            (&[a], 1) => with!(a),
            (&[a], 2) if small => with!((a as i8,)),
            (&[a, b], 0) => with!([a, b]),
            (&[a, b], 1) => with!((a as isize, b)),
            (&[a, b], 2) if plain => with!(ndarray::Ix2(a as usize, b as usize)),
            (&[a, b, c], 0) => with!([a, b, c]),
            (&[a, b, c], 1) if small => with!((a, b as i16, c as i32)),
            (&[a, b, c, d], 0 | 1) => with!([a, b, c, d]),
            (&[a, b, c, d, e], 0) => with!([a, b, c, d, e]),
            (_, 3) if small && plain => with!(sizes.iter().map(|&size| size as u8).collect::<Vec<_>>()),
            (_, 4) if plain => {
                with!(ndarray::IxDyn(&sizes.iter().map(|&size| size as usize).collect::<Vec<_>>()))
            }
            (_, 5) if small => with!(sizes.iter().map(|&size| size as i32).collect::<Vec<_>>()),
            _ => with!(sizes),
        }
    }};
}

/// Runs `$body` with `$given` the axes `$axes`, given as the `$way`th type that can hold them. A set only where each
/// stands once.
macro_rules! axes_given {
    ($axes:expr, $way:expr, $given:ident => $body:expr) => {{
        macro_rules! with {
            ($value:expr) => {{
                let $given = $value;
                $body
            }};
        }
        let axes: &[usize] = $axes;
        let set: ndarray_broadcast::AxisSet = axes.into();
        match (axes, $way % 6) {
            (&[a], 0) => with!(a),
            (&[a], 1) => with!(ndarray::Axis(a)),
            (&[], 0) => with!([0_usize; 0]),
            (&[a], 2) => with!([a]),
            (&[a, b], 0) => with!([a, b]),
            (&[a, b, c], 0) => with!([ndarray::Axis(a), ndarray::Axis(b), ndarray::Axis(c)]),
            (_, 3) if set.as_slice().len() == axes.len() && set.as_slice() == axes => with!(set),
            (_, 4) => with!(axes.iter().map(|&axis| ndarray::Axis(axis)).collect::<Vec<_>>()),
            _ => with!(axes),
        }
    }};
}

pub(crate) use {axes_given, ranked, targeted};
