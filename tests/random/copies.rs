//! Copies and maps.

use crate::elements::{Aligned, Boxed, Element, Newtype, Nothing, TYPES, Three, Wide, of_type};
use crate::layouts::{Output, Random, check, codes, scrambled};
use common::{Choices, Strided, aligned_right, numbers_read};
use ndarray::{ArrayD, ArrayViewD};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map};

/// What an operand has at each index of a shape to which it is stretched.
pub(crate) fn stretched<A: Element>(view: &ArrayViewD<'_, A>, to: &[usize]) -> Vec<i64> {
    let (own, places) = (codes(view), aligned_right(view.ndim(), to.len()));
    numbers_read(to, view.shape(), &places).map(|number| own[number]).collect()
}

pub(crate) fn copy(random: &mut Random) {
    let number = random.below(TYPES);
    of_type!(number, copy_of(random));
}

fn copy_of<A: Element>(random: &mut Random) {
    random.note(format_args!("copy of {}", A::name()));
    let most = random.elements();
    let shape = random.shape(6, most);
    let from = random.array::<A>(&shape, true, scrambled);
    let view = from.view();
    let expected = codes(&view);
    let copy = view.materialize();
    assert!(copy.is_standard_layout(), "materialize: standard layout");
    check("materialize", &copy.view(), &expected);
    // onto more axes
    let mut wide = if random.one_in(3) { random.shape(2, 4) } else { vec![] };
    wide.extend(shape.iter().map(|&size| if size == 1 && random.one_in(4) { 3 } else { size }));
    let mut out = random.array::<A>(&wide, false, |_, _| 1);
    view.materialize_into(&mut out.view_mut()).expect("shapes that go together");
    out.check("materialize_into", &stretched(&view, &wide));
}

/// A result that tells operands apart.
fn mixed(codes: &[i64]) -> i64 {
    codes.iter().zip([1, 3, 5, 7, 11, 13]).map(|(code, weight)| code % 1_000_003 * weight).sum()
}

/// The operands of a map, their joint shape, and the results.
struct Map {
    joint: Vec<usize>,
    expected: Vec<i64>,
}

/// Makes an operand and adds what it has at each index.
fn operand<A: Element>(random: &mut Random, joint: &[usize], all: &mut Vec<Vec<i64>>) -> Strided<A> {
    // the first one has the joint shape, so that this is what operands stretch to
    let shape = if all.is_empty() { joint.to_vec() } else { random.operand_of(joint) };
    let operand = random.array::<A>(&shape, true, scrambled);
    all.push(stretched(&operand.view(), joint));
    operand
}

impl Map {
    fn new(joint: Vec<usize>, all: &[Vec<i64>]) -> Self {
        let result = |i: usize| mixed(&all.iter().map(|codes| codes[i]).collect::<Vec<_>>());
        let expected = (0..all[0].len()).map(result).collect();
        Self { joint, expected }
    }

    fn check<R: Element>(&self, what: &str, array: &ArrayD<R>) {
        assert_eq!(array.shape(), self.joint, "{what}: the joint shape");
        check(what, &array.view(), &self.expected);
    }
}

/// A function that maps operands of these types in every way.
macro_rules! map_of {
    ($name:ident<$($T:ident),*>: $first:ident $A:ty $(, $x:ident $B:ty)* => $R:ty) => {
        fn $name<$($T: Element),*>(random: &mut Random) {
            random.note(format_args!("map of {:?}", [<$A>::name() $(, <$B>::name())*]));
            let most = random.elements();
            let (joint, mut all) = (random.shape(6, most), Vec::new());
            let $first = operand::<$A>(random, &joint, &mut all);
            $(let $x = operand::<$B>(random, &joint, &mut all);)*
            let map = Map::new(joint, &all);
            let views = ($first.view(), $($x.view()),*);
            let ($first, $($x),*) = &views;
            let f = |$first: &$A $(, $x: &$B)*| <$R>::of(mixed(&[$first.code() $(, $x.code())*]));
            map.check("broadcast_map", &broadcast_map(($first, $($x),*), f).expect("a map"));
            map.check("broadcast_map of par", &broadcast_map(($first, $($x),*).par(), f).expect("a map"));
            let apply = |out: &mut $R, $first: &$A $(, $x: &$B)*| {
                *out = <$R>::of(mixed(&[$first.code() $(, $x.code())*]) + out.code() - <$R>::of(1).code());
            };
            let mut out = random.array::<$R>(&map.joint, false, |_, _| 1);
            broadcast_apply(&mut out.view_mut(), ($first, $($x),*), apply).expect("a map");
            out.check("broadcast_apply", &map.expected);
            let mut out = random.array::<$R>(&map.joint, false, |_, _| 1);
            broadcast_apply(&mut out.view_mut(), ($first, $($x),*).par(), apply).expect("a map");
            out.check("broadcast_apply of par", &map.expected);
        }
    };
}
map_of!(map_1<T>: a T => T);
map_of!(map_2<T>: a T, b T => T);
map_of!(map_3<T>: a T, b f32, c T => u16);
map_of!(map_4<T>: a f32, b T, c u8, d f32 => T);
map_of!(unlike_2<>: a u8, b f64 => Wide);
map_of!(unlike_3<>: a Three, b u128, c f32 => u8);
map_of!(like_4<>: a f32, b f32, c f32, d f32 => f32);
map_of!(like_5<>: a f64, b f64, c f64, d f64, e f64 => f64);
map_of!(unlike_5<>: a u16, b f32, c u8, d Boxed, e u128 => u32);
map_of!(like_6<>: a f32, b f32, c f32, d f32, e f32, f f32 => f32);
map_of!(unlike_6<>: a u8, b u16, c u32, d f64, e u128, f Newtype => Aligned);

pub(crate) fn map(random: &mut Random) {
    let number = random.below(TYPES);
    match random.below(12) {
        0 => of_type!(number, map_1(random)),
        1 | 2 => of_type!(number, map_2(random)),
        3 => of_type!(number, map_3(random)),
        4 => of_type!(number, map_4(random)),
        5 => unlike_2(random),
        6 => unlike_3(random),
        7 => like_4(random),
        8 => like_5(random),
        9 => unlike_5(random),
        10 => like_6(random),
        _ => unlike_6(random),
    }
}

pub(crate) fn map_by_value(random: &mut Random) {
    let number = random.below(TYPES);
    of_type!(number, map_by_value_of(random));
}

/// `into_broadcast_map`, whose array has the joint shape or stretches too.
fn map_by_value_of<A: Element>(random: &mut Random) {
    random.note(format_args!("into_broadcast_map of {}", A::name()));
    let most = random.elements();
    let joint = random.shape(6, most);
    let shape = if random.one_in(3) { random.operand_of(&joint) } else { joint.clone() };
    let own = random.array::<A>(&shape, false, scrambled);
    let mut all = vec![stretched(&own.view(), &joint)];
    let b = random.array::<A>(&joint, true, scrambled);
    all.push(stretched(&b.view(), &joint));
    let c = operand::<u16>(random, &joint, &mut all);
    let map = Map::new(joint, &all);
    let f = |a: &A, b: &A, c: &u16| A::of(mixed(&[a.code(), b.code(), c.code()]));
    let result = own.into_array().into_broadcast_map((&b.view(), &c.view()), f).expect("a map");
    map.check("into_broadcast_map", &result);
}
