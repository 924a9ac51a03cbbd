//! Maps with several outputs.

use crate::cases::Input;
use crate::cases::check::agreed;
use crate::cases::copies::Map;
use crate::cases::elements::{Boxed, Element, Large, Newtype, Nothing, Three, Wide, of_type};
use crate::cases::layouts::{Output, check, scrambled};
use common::Choices;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply2, broadcast_apply3, broadcast_map2, broadcast_map3};

/// One way to call these functions, with outputs and operands of these types. The first operand may be given by value. A call adds to the
/// element of each output; one of these counts.
macro_rules! several_of {
    ($name:ident<$($T:ident)?>: $apply:ident $map:ident $n:literal, $($k:tt $out:ident $R:ty),+; $own:ident $O:ty $(, $x:ident $A:ty)*) => {
        fn $name<$($T: Element)?>(input: &mut Input<'_>) {
            let (mut map, turn, way) = (Map::default(), input.below($n), input.below(6));
            let names = [$(<$R>::name(),)+ <$O>::name() $(, <$A>::name())*];
            input.note(format_args!("{} of {names:?}, way {way}, turn {turn}", stringify!($apply)));
            let most = input.elements::<($($R),+)>();
            let whole = input.shape(6, most);
            let shape = if input.one_in(3) { input.operand_of(&whole) } else { whole.clone() };
            let $own = map.add(input.array::<$O>(&shape, false, scrambled));
            $(let $x = map.operand::<$A>(input, &whole);)*
            let step = |k: i64, mixed| 1 + (k + turn as i64) % $n * mixed;
            let codes = |k, before, results: &[i64]| -> Vec<i64> { results.iter().map(|&x| before + step(k, x)).collect() };
            let update = |$($out: &mut $R,)+ $own: &$O $(, $x: &$A)*| {
                let mixed = map.call(&[$own.code() $(, $x.code())*]);
                $(*$out = <$R>::of($out.code() + step($k, mixed));)+
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
                    check("a result", &found.$k.view(), &codes($k, 0, results));
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
                Some(other) => Err(if other.len() == shape.len() { "Incompatible" } else { "AxisCount" }),
                None => map.results(&shape),
            };
            let results = agreed(result, &expected).map(|((), results)| results);
            map.check_calls(results.map_or(0, Vec::len));
            let before = |k: usize| vec![1; shapes[k].iter().product()];
            $($out.check("an output", &results.map_or(before($k), |results| codes($k, 1, results)));)+
        }
    };
}
several_of!(like_2<T>: broadcast_apply2 broadcast_map2 2, 0 p T, 1 q T; a T, b T);
several_of!(unlike_2<>: broadcast_apply2 broadcast_map2 2, 0 p u8, 1 q Boxed; a Boxed);
several_of!(large_2<>: broadcast_apply2 broadcast_map2 2, 0 p Large, 1 q f64; a Wide, b u16, c f64);
several_of!(most_2<>: broadcast_apply2 broadcast_map2 2, 0 p Boxed, 1 q f32; a f32, b f32, c u8, d f64, e Boxed);
several_of!(like_3<>: broadcast_apply3 broadcast_map3 3, 0 p f32, 1 q f32, 2 r f32; a f32, b f32, c f32);
several_of!(unlike_3<T>: broadcast_apply3 broadcast_map3 3, 0 p T, 1 q Boxed, 2 r u16; a Newtype, b T);
several_of!(most_3<>: broadcast_apply3 broadcast_map3 3, 0 p Nothing, 1 q u8, 2 r u128; a f64, b u8, c f64, d u32);

pub(crate) fn several(input: &mut Input<'_>) {
    let number = input.element_type();
    match input.below(9) {
        0..=2 => of_type!(number, like_2(input)),
        3 => unlike_2(input),
        4 => large_2(input),
        5 => most_2(input),
        6 => like_3(input),
        7 => most_3(input),
        _ => of_type!(number, unlike_3(input)),
    }
}
