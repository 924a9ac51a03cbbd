//! Maps with several outputs.

use crate::cases::Input;
use crate::cases::check::agreed;
use crate::cases::copies::Map;
use crate::cases::elements::{Boxed, Element, Large, Newtype, Nothing, Three, Wide, of_type};
use crate::cases::layouts::{Output, check};
use common::Choices;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply2, broadcast_apply3, broadcast_map2, broadcast_map3};

/// What each call adds to the element of an output. Where the weight is 0, it counts the calls.
fn step(weight: usize, mixed: i64) -> i64 {
    1 + weight as i64 * mixed
}

/// Every way to call these functions, with outputs and operands of these types. The first operand is given by value in some.
macro_rules! several_of {
    ($name:ident<$($T:ident)?>: $apply:ident $map:ident $n:literal, $($k:tt $out:ident $R:ty),+; $own:ident $O:ty $(, $x:ident $A:ty)*) => {
        fn $name<$($T: Element)?>(input: &mut Input<'_>) {
            let names = [$(<$R>::name(),)+ <$O>::name() $(, <$A>::name())*];
            input.note(format_args!("{} of {names:?}", stringify!($apply)));
            let most = input.elements::<($($R),+)>();
            let whole = input.shape(6, most);
            let (mut map, turn, way) = (Map::default(), input.below($n), input.below(6));
            input.note(format_args!("way {way}, turn {turn}"));
            let $own = map.operand::<$O>(input, &whole, false);
            $(let $x = map.operand::<$A>(input, &whole, true);)*
            let weight = |k: usize| (k + turn) % $n;
            let update = |$($out: &mut $R,)+ $own: &$O $(, $x: &$A)*| {
                let mixed = map.called(&[$own.code() $(, $x.code())*]);
                $(*$out = <$R>::of($out.code() + step(weight($k), mixed));)+
            };
            let of_code = |k: usize, before: i64, results: &[i64]| -> Vec<i64> {
                results.iter().map(|&mixed| before + step(weight(k), mixed)).collect()
            };
            if way >= 4 {
                let parts = |$own: &$O $(, $x: &$A)*| {
                    let mut parts = ($(<$R>::default(),)+);
                    update($(&mut parts.$k,)+ $own $(, $x)*);
                    parts
                };
                let result = match way {
                    4 => $map(($own.into_array() $(, &$x.view())*), parts),
                    _ => $map(($own.into_array().into_shared() $(, $x.view())*).par(), parts),
                };
                let joint = map.joint();
                let Some((found, (results, joint))) = agreed(result, &joint) else { return map.check_calls(0) };
                $(
                    assert_eq!((found.$k.shape(), found.$k.strides()), (&joint[..], found.0.strides()));
                    check("a result", &found.$k.view(), &of_code($k, 0, results));
                )+
                return map.check_calls(results.len());
            }
            let shape = Map::output(input, &whole);
            let shapes = [$(if $k > 0 && input.one_in(40) { Map::output(input, &shape) } else { shape.clone() }),+];
            $(let mut $out = input.array::<$R>(&shapes[$k], false, |_, _| 1);)+
            let result = match way {
                0 => $apply($(&mut $out.view_mut(),)+ (&$own.view() $(, &$x.view())*), update),
                1 => $apply($(&mut $out.view_mut(),)+ ($own.view() $(, &$x.view())*).par(), update),
                2 => $apply($(&mut $out.view_mut(),)+ ($own.into_array() $(, $x.view())*), update),
                _ => $apply($(&mut $out.view_mut(),)+ ($own.into_array() $(, &$x.view())*).par(), update),
            };
            let expected = match shapes.iter().find(|other| **other != shape) {
                Some(other) if other.len() != shape.len() => Err("AxisCount"),
                Some(_) => Err("Incompatible"),
                None => map.results(&shape),
            };
            let done = agreed(result, &expected).map(|((), results)| results);
            map.check_calls(done.map_or(0, Vec::len));
            $(
                let before = vec![1; shapes[$k].iter().product()];
                $out.check("an output", &done.map_or(before, |results| of_code($k, 1, results)));
            )+
        }
    };
}
several_of!(two_like<T>: broadcast_apply2 broadcast_map2 2, 0 p T, 1 q T; a T, b T);
several_of!(two_unlike<>: broadcast_apply2 broadcast_map2 2, 0 p u8, 1 q Boxed; a Boxed);
several_of!(two_large<>: broadcast_apply2 broadcast_map2 2, 0 p Large, 1 q f64; a Wide, b u16, c f64);
several_of!(three_like<>: broadcast_apply3 broadcast_map3 3, 0 p f32, 1 q f32, 2 r f32; a f32, b f32, c f32);
several_of!(three_unlike<T>: broadcast_apply3 broadcast_map3 3, 0 p T, 1 q Boxed, 2 r u16; a Newtype, b T);
several_of!(three_small<>: broadcast_apply3 broadcast_map3 3, 0 p Nothing, 1 q u8, 2 r u128; a f64);

pub(crate) fn several(input: &mut Input<'_>) {
    let number = input.element_type();
    match input.below(8) {
        0 | 1 => of_type!(number, two_like(input)),
        2 => two_unlike(input),
        3 => two_large(input),
        4 => three_like(input),
        5 => three_small(input),
        _ => of_type!(number, three_unlike(input)),
    }
}
