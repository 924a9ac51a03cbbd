//! Copies and maps.

use crate::cases::Input;
use crate::cases::check::{Verdict, agreed, stretches};
use crate::cases::elements::{Aligned, Boxed, Element, Newtype, Nothing, Three, Wide, of_type};
use crate::cases::layouts::{Output, check, codes, scrambled};
use common::{Choices, Layout, Spacing, Strided, aligned_right, joint, numbers_read, sample};
use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, broadcast_apply, broadcast_map};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What an operand has at each index of a shape to which it is stretched.
pub(crate) fn stretched<A: Element>(view: &ArrayViewD<'_, A>, to: &[usize]) -> Vec<i64> {
    let (own, places) = (codes(view), aligned_right(view.ndim(), to.len()));
    numbers_read(to, view.shape(), &places).map(|number| own[number]).collect()
}

pub(crate) fn copy(input: &mut Input<'_>) {
    let number = input.element_type();
    of_type!(number, copy_of(input));
}

fn copy_of<A: Element>(input: &mut Input<'_>) {
    let most = input.elements::<A>();
    let shape = input.shape(6, most);
    let layout = Layout::any(input, &shape, true);
    copy_in::<A>(input, layout);
}

/// Copies an array in this layout.
fn copy_in<A: Element>(input: &mut Input<'_>, layout: Layout) {
    input.log.clear();
    input.note(format_args!("copy of {}", A::name()));
    let from = input.array_in::<A>(layout, scrambled);
    let shape = from.shape().to_vec();
    let view = from.view();
    let expected = codes(&view);
    let copy = view.materialize();
    assert!(copy.is_standard_layout(), "materialize: standard layout");
    check("materialize", &copy.view(), &expected);
    // onto more axes
    let mut wide = if input.one_in(3) { input.shape(2, 4) } else { vec![] };
    wide.extend(shape.iter().map(|&size| if size == 1 && input.one_in(4) { 3 } else { size }));
    let mut out = input.array::<A>(&wide, false, |_, _| 1);
    view.materialize_into(&mut out.view_mut()).expect("shapes that go together");
    out.check("materialize_into", &stretched(&view, &wide));
}

/// Transposed matrices around every number of rows and columns of a tile, with axes that run backwards and gaps; one short side,
/// rows whose distance is a power of two, and every order of three axes; rows, columns and blocks that are repeated.
pub(crate) fn of_each_size(input: &mut Input<'_>) {
    copies_of_each_size::<u8>(input);
    #[cfg(feature = "rayon")]
    copies_of_each_size::<u16>(input);
    #[cfg(feature = "rayon")]
    copies_of_each_size::<f32>(input);
    copies_of_each_size::<f64>(input);
    copies_of_each_size::<u128>(input);
    // neither is a plain number
    copies_of_each_size::<Newtype>(input);
    copies_of_each_size::<Boxed>(input);
    for shape in sample(3, [[1, 1030, 1024], [1, 2011, 2100], [17, 511, 520]]) {
        copy_in::<u32>(input, Layout::ordered(&shape, &[0, 2, 1]));
    }
}

fn copies_of_each_size<A: Element>(input: &mut Input<'_>) {
    const SIZES: [usize; 15] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 65, 70, 130];
    let backwards = Spacing { reversed: true, ..Spacing::DENSE };
    let gaps = Spacing { step: 2, before: 1, ..Spacing::DENSE };
    let pairs = SIZES.iter().flat_map(|&rows| SIZES.map(|columns| [columns, rows]));
    for shape in sample(2, pairs).chain([[3, 1500], [3000, 2], [900, 5], [2048, 21]]) {
        for spacings in
            [[Spacing::DENSE; 2], [Spacing::DENSE, backwards], [backwards, Spacing::DENSE], [gaps; 2]]
        {
            copy_in::<A>(input, Layout::spaced(&shape, &[1, 0], |axis| spacings[axis]));
        }
    }
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        copy_in::<A>(input, Layout::ordered(&[9, 66, 5], &order));
    }
    let repeated = Spacing { step: 0, ..Spacing::DENSE };
    let sides = [1, 2, 3, 8, 40, 300].into_iter().flat_map(|rows| [1, 3, 8, 90].map(|n| (rows, n)));
    for (rows, columns) in sample(3, sides) {
        for (axis, order) in [(0, [0, 1]), (0, [1, 0]), (1, [0, 1]), (1, [1, 0])] {
            let spacing = |own| if own == axis { repeated } else { Spacing::DENSE };
            copy_in::<A>(input, Layout::spaced(&[rows, columns], &order, spacing));
            copy_in::<A>(
                input,
                Layout::spaced(&[rows, columns], &order, |own| Spacing { reversed: true, ..spacing(own) }),
            );
        }
        let spacing = |axis| if axis == 1 { repeated } else { Spacing::DENSE };
        copy_in::<A>(input, Layout::spaced(&[4, rows, columns], &[0, 1, 2], spacing));
    }
}

/// Two operands that stay along every second axis: rows of all lengths around those that are visited as they lie, merged and kept
/// while an operand stays.
pub(crate) fn operands_that_move_in_turn(input: &mut Input<'_>) {
    for shape in [
        &[3, 5, 2, 7, 12, 11][..],
        &[2, 3, 4, 8, 8, 8],
        &[9, 20, 10, 9],
        &[5, 30, 7, 15],
        &[40, 12, 11],
        &[3, 9, 4, 63],
    ] {
        let of =
            |stays| (0..shape.len()).map(|axis| if axis % 2 == stays { 1 } else { shape[axis] }).collect();
        let map = || Map { given: vec![of(0), of(1), of(0), of(1)], ..Map::default() };
        for _ in 0..2 {
            map_2_of::<u8>(input, shape, map());
            #[cfg(feature = "rayon")]
            map_2_of::<u16>(input, shape, map());
            map_2_of::<f32>(input, shape, map());
            map_2_of::<f64>(input, shape, map());
            map_2_of::<Boxed>(input, shape, map());
            like_4_of(input, shape, map());
        }
    }
}

/// A result that tells operands apart.
fn mixed(codes: &[i64]) -> i64 {
    codes.iter().zip([1, 3, 5, 7, 11, 13]).map(|(code, weight)| code % 1_000_003 * weight).sum()
}

/// The operands of a map: their shapes and codes.
#[derive(Default)]
pub(crate) struct Map {
    /// The shapes of operands that are not random, from the last to the first.
    given: Vec<Vec<usize>>,
    shapes: Vec<Vec<usize>>,
    codes: Vec<Vec<i64>>,
    calls: AtomicUsize,
}

impl Map {
    /// An operand for a map that mostly has the shape `whole`.
    pub(crate) fn operand<A: Element>(&mut self, input: &mut Input<'_>, whole: &[usize]) -> Strided<A> {
        if let Some(shape) = self.given.pop() {
            return self.add(input.array::<A>(&shape, true, scrambled));
        }
        let is_whole = self.shapes.is_empty() && !input.one_in(3);
        let mut shape = if is_whole { whole.to_vec() } else { input.operand_of(whole) };
        if !shape.is_empty() && input.one_in(40) {
            shape[0] = input.size();
        }
        self.add(input.array::<A>(&shape, true, scrambled))
    }

    pub(crate) fn add<A: Element>(&mut self, operand: Strided<A>) -> Strided<A> {
        self.shapes.push(operand.shape().to_vec());
        self.codes.push(codes(&operand.view()));
        operand
    }

    /// The results in an output of this shape, or the error.
    pub(crate) fn results(&self, to: &[usize]) -> Verdict<Vec<i64>> {
        if self.shapes.iter().any(|shape| shape.len() > to.len()) {
            return Err("TooFewAxes");
        }
        let places = |shape: &Vec<usize>| aligned_right(shape.len(), to.len());
        if !self.shapes.iter().all(|shape| stretches(shape, &places(shape), to)) {
            return Err("Incompatible");
        }
        let numbers = |shape: &Vec<usize>| numbers_read(to, shape, &places(shape)).collect::<Vec<_>>();
        let all: Vec<Vec<usize>> = self.shapes.iter().map(numbers).collect();
        let codes = |i: usize| all.iter().zip(&self.codes).map(move |(numbers, codes)| codes[numbers[i]]);
        let result = |i| mixed(&codes(i).collect::<Vec<_>>());
        Ok((0..to.iter().product()).map(result).collect())
    }

    /// The results in the joint shape, or the error.
    pub(crate) fn joint(&self) -> Verdict<(Vec<i64>, Vec<usize>)> {
        joint(&self.shapes).and_then(|joint| Ok((self.results(&joint)?, joint)))
    }

    /// The code of the result of a call of a closure.
    pub(crate) fn call(&self, codes: &[i64]) -> i64 {
        self.calls.fetch_add(1, Relaxed);
        mixed(codes)
    }

    /// Checks how often a closure was called since the last time.
    #[track_caller]
    pub(crate) fn check_calls(&self, expected: usize) {
        assert_eq!(self.calls.swap(0, Relaxed), expected, "the number of calls");
    }

    /// The shape of an output, which is mostly `whole`.
    pub(crate) fn output(input: &mut Input<'_>, whole: &[usize]) -> Vec<usize> {
        let mut shape = whole.to_vec();
        match input.below(40) {
            37 => shape.insert(0, 2),
            38 if !shape.is_empty() => drop(shape.remove(0)),
            39 if !shape.is_empty() => shape[0] = input.size(),
            _ => {}
        }
        shape
    }

    /// Checks a new array, and that its closure was called once for each element.
    fn check<R: Element>(&self, what: &str, found: Result<ArrayD<R>, BroadcastError>) {
        let joint = self.joint();
        let found = agreed(found, &joint).map(|(array, (results, joint))| {
            assert_eq!(array.shape(), joint, "{what}: the joint shape");
            check(what, &array.view(), results);
            array.len()
        });
        self.check_calls(found.unwrap_or(0));
    }

    /// Applies a map to an output that mostly has this shape. The elements were 1 before.
    fn check_apply<R: Element>(
        &self,
        what: &str,
        input: &mut Input<'_>,
        whole: &[usize],
        apply: impl FnOnce(&mut ArrayViewMutD<'_, R>) -> Result<(), BroadcastError>,
    ) {
        let shape = Self::output(input, whole);
        let mut out = input.array::<R>(&shape, false, |_, _| 1);
        let len = shape.iter().product();
        let (calls, results) = match agreed(apply(&mut out.view_mut()), &self.results(&shape)) {
            Some(((), results)) => (len, results.clone()),
            None => (0, vec![1; len]),
        };
        self.check_calls(calls);
        out.check(what, &results);
    }
}

/// A function that maps operands of these types in every way.
macro_rules! map_of {
    ($name:ident $of:ident<$($T:ident),*>: $($x:ident $A:ty),+ => $R:ty) => {
        fn $name<$($T: Element),*>(input: &mut Input<'_>) {
            let most = input.elements::<$R>();
            let whole = input.shape(6, most);
            $of::<$($T),*>(input, &whole, Map::default());
        }

        fn $of<$($T: Element),*>(input: &mut Input<'_>, whole: &[usize], mut map: Map) {
            input.log.clear();
            input.note(format_args!("map of {:?}", [$(<$A>::name()),+]));
            $(let $x = map.operand::<$A>(input, whole);)+
            let views = ($($x.view(),)+);
            let ($($x,)+) = &views;
            let f = |$($x: &$A),+| <$R>::of(map.call(&[$($x.code()),+]));
            map.check("broadcast_map", broadcast_map(($($x,)+), f));
            map.check("broadcast_map of par", broadcast_map(($($x,)+).par(), f));
            let g = |out: &mut $R, $($x: &$A),+| {
                assert_eq!(out.code(), <$R>::of(1).code());
                *out = f($($x),+);
            };
            map.check_apply("broadcast_apply", input, whole, |out| broadcast_apply(out, ($($x,)+), g));
            map.check_apply("broadcast_apply of par", input, whole, |out| broadcast_apply(out, ($($x,)+).par(), g));
        }
    };
}
map_of!(map_1 map_1_of<>: a f64 => f64);
map_of!(map_2 map_2_of<T>: a T, b T => T);
map_of!(map_3 map_3_of<>: a Boxed, b f32, c Boxed => u16);
map_of!(map_4 map_4_of<>: a f32, b Three, c u8, d f32 => Three);
map_of!(unlike_2 unlike_2_of<>: a u8, b f64 => Wide);
map_of!(unlike_3 unlike_3_of<>: a Three, b u128, c f32 => u8);
map_of!(like_4 like_4_of<>: a f32, b f32, c f32, d f32 => f32);
map_of!(like_5 like_5_of<>: a f64, b f64, c f64, d f64, e f64 => f64);
map_of!(unlike_5 unlike_5_of<>: a u16, b f32, c u8, d Boxed, e u128 => u32);
map_of!(like_6 like_6_of<>: a f32, b f32, c f32, d f32, e f32, f f32 => f32);
map_of!(unlike_6 unlike_6_of<>: a u8, b u16, c u32, d f64, e u128, f Newtype => Aligned);

pub(crate) fn map(input: &mut Input<'_>) {
    let number = input.element_type();
    match input.below(12) {
        0 => map_1(input),
        1..=3 => of_type!(number, map_2(input)),
        4 => {
            if input.one_in(2) {
                map_3(input);
            } else {
                map_4(input);
            }
        }
        5 => unlike_2(input),
        6 => unlike_3(input),
        7 => like_4(input),
        8 => like_5(input),
        9 => unlike_5(input),
        10 => like_6(input),
        _ => unlike_6(input),
    }
}

pub(crate) fn map_by_value(input: &mut Input<'_>) {
    let number = input.element_type();
    of_type!(number, map_by_value_of(input));
}

/// `into_broadcast_map`, whose array has the joint shape or stretches too.
fn map_by_value_of<A: Element>(input: &mut Input<'_>) {
    input.note(format_args!("into_broadcast_map of {}", A::name()));
    let most = input.elements::<A>();
    let joint = input.shape(6, most);
    let shape = if input.one_in(3) { input.operand_of(&joint) } else { joint.clone() };
    let mut map = Map::default();
    let own = map.add(input.array::<A>(&shape, false, scrambled));
    let b = map.add(input.array::<A>(&joint, true, scrambled));
    let c = map.operand::<u16>(input, &joint);
    let f = |a: &A, b: &A, c: &u16| A::of(map.call(&[a.code(), b.code(), c.code()]));
    let result = own.into_array().into_broadcast_map((&b.view(), &c.view()), f);
    map.check("into_broadcast_map", result.map_err(BroadcastError::from));
}
