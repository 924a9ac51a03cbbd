//! Reductions of arrays and of fused operands.

use crate::cases::Input;
use crate::cases::copies::stretched;
use crate::cases::elements::{Boxed, COMPLEX, Element, NAN, Newtype, Nothing, Three, Wide, of_type};
use crate::cases::layouts::{Output, check, codes, scrambled};
use common::{Choices, Strided, extreme_at, lanes, sample, without_axes};
use ndarray::ArrayD;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, fused, keepdims};
use num_complex::Complex;

/// Sums and other reductions of a source: their shapes, and the source's codes.
struct Reduction {
    /// The shape with size 1 along the axes, and without them.
    kept: Vec<usize>,
    left: Vec<usize>,
    lanes: Vec<Vec<i64>>,
}

impl Reduction {
    fn new(shape: &[usize], axes: &[usize], values: impl IntoIterator<Item = i64>) -> Self {
        let kept = kept(shape, axes);
        let left = without_axes(shape.len(), axes).iter().map(|&axis| shape[axis]).collect();
        let lanes = lanes(shape, values, &kept, &(0..shape.len()).collect::<Vec<_>>());
        Self { kept, left, lanes }
    }

    fn sums(&self) -> Vec<i64> {
        self.lanes.iter().map(|lane| lane.iter().sum()).collect()
    }

    /// What `op` makes of the codes of each lane.
    fn folded(&self, first: Option<i64>, op: impl Fn(i64, i64) -> i64) -> Option<Vec<i64>> {
        self.lanes.iter().map(|lane| first.iter().chain(lane).copied().reduce(&op)).collect()
    }
}

/// The shape with size 1 along the axes.
fn kept(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] }).collect()
}

/// The position in each lane of the first element that exceeds all others, in logical order; nothing where there are no elements.
fn positions<T: Copy>(lanes: &[Vec<T>], exceeds: impl Fn(T, T) -> bool) -> Option<Vec<usize>> {
    lanes.iter().map(|lane| extreme_at(lane, &exceeds)).collect()
}

/// Codes of an operand of `shape` whose sums over `terms` indices stay below `most`: few other than zero if these are many.
fn summable(shape: &[usize], terms: usize, most: i64) -> impl Fn(usize, usize) -> i64 + use<> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let len = shape.iter().product::<usize>().max(1);
    move |place, times| {
        let (code, times) = (scrambled(place, times), terms / len * times);
        if terms.saturating_mul(6) <= most {
            code % 7
        } else if times > most / 16 {
            0
        } else {
            // for each element, how many are zero: a sum is an eighth of `most` on average
            let every = (terms / most + 1) * 8;
            i64::from(code.unsigned_abs() % every as u64 == 0)
        }
    }
}

/// Calls every form of a sum of a source.
macro_rules! check_sums {
    ($what:literal, $reduction:expr, $axes:expr, $input:expr, $A:ty, $source:expr) => {{
        let (reduction, axes, input): (&Reduction, &[usize], _) = ($reduction, $axes, &mut *$input);
        let expected = reduction.sums();
        let result = $source.sum_axes(axes).expect("axes of the source");
        assert_eq!(result.shape(), reduction.left, concat!($what, ": without the axes"));
        check::<$A>(concat!($what, ".sum_axes"), &result.view(), &expected);
        let result = $source.sum_to(&reduction.kept[..]).expect("the shape of the sum");
        check::<$A>(concat!($what, ".sum_to"), &result.view(), &expected);
        let mut out = input.array::<$A>(&reduction.kept, false, |_, _| 1);
        $source.assign_sum_to(&mut out.view_mut()).expect("the shape of the sum");
        out.check(concat!($what, ".assign_sum_to"), &expected);
        let mut out = input.array::<$A>(&reduction.kept, false, |_, _| 1);
        $source.add_sum_to(&mut out.view_mut()).expect("the shape of the sum");
        let one = <$A>::of(1).code();
        out.check(concat!($what, ".add_sum_to"), &expected.iter().map(|sum| sum + one).collect::<Vec<_>>());
        let mut out = input.array::<$A>(&reduction.kept, false, |_, _| 1);
        $source.scaled_add_sum_to(<$A>::of(2), &mut out.view_mut()).expect("the shape of the sum");
        let expected = expected.iter().map(|sum| 2 * sum + one).collect::<Vec<_>>();
        out.check(concat!($what, ".scaled_add_sum_to"), &expected);
    }};
}

/// Calls every other reduction of a source.
macro_rules! check_folds {
    ($what:literal, $reduction:expr, $axes:expr, $A:ty, $source:expr) => {{
        let (reduction, axes): (&Reduction, &[usize]) = ($reduction, $axes);
        for is_max in [true, false] {
            let exceeds = |a: i64, b: i64| if is_max { a > b } else { a < b };
            let found = if is_max { $source.argmax_axes(axes) } else { $source.argmin_axes(axes) };
            let kept = if is_max {
                $source.argmax_axes(keepdims(axes))
            } else {
                $source.argmin_axes(keepdims(axes))
            };
            match positions(&reduction.lanes, exceeds) {
                None => assert!(found.is_err() && kept.is_err(), concat!($what, ": no elements")),
                Some(expected) => {
                    let (found, kept) = (found.expect("elements"), kept.expect("elements"));
                    assert_eq!((found.shape(), kept.shape()), (&reduction.left[..], &reduction.kept[..]));
                    assert_eq!(
                        found.into_iter().collect::<Vec<_>>(),
                        expected,
                        concat!($what, ", positions")
                    );
                }
            }
            let op = |a: i64, b: i64| if is_max { a.max(b) } else { a.min(b) };
            let result = if is_max { $source.max_axes(axes) } else { $source.min_axes(axes) };
            match reduction.folded(None, op) {
                None => assert!(result.is_err(), concat!($what, ": an extreme of no elements")),
                Some(expected) => {
                    let result = result.expect("axes of the source");
                    check::<$A>(concat!($what, ", extremes"), &result.view(), &expected);
                }
            }
        }
        let op = |a: $A, b: $A| <$A>::of(a.code() ^ b.code());
        let result = $source.reduce_axes(axes, <$A>::of(0), op).expect("axes of the source");
        let expected = reduction.folded(Some(0), |a, b| a ^ b).expect("an identity");
        check::<$A>(concat!($what, ".reduce_axes"), &result.view(), &expected);
    }};
}

pub(crate) fn reduction(input: &mut Input<'_>) {
    match input.element_type() {
        COMPLEX => {
            let (shape, axes) = shape_and_axes::<Complex<f32>>(input);
            sums_of::<Complex<f32>>(input, &shape, &axes);
        }
        NAN => with_nan(input),
        number => of_type!(number, random_reduction(input)),
    }
}

fn random_reduction<A: Element + PartialOrd>(input: &mut Input<'_>) {
    let (shape, axes) = shape_and_axes::<A>(input);
    reduction_of::<A>(input, &shape, &axes);
}

/// The shape and the axes of a reduction.
fn shape_and_axes<A>(input: &mut Input<'_>) -> (Vec<usize>, Vec<usize>) {
    let most = input.elements::<A>();
    let shape = input.shape(6, most);
    let axes = input.distinct_axes(shape.len());
    (shape, axes)
}

fn sums_of<A: Element>(input: &mut Input<'_>, shape: &[usize], axes: &[usize]) {
    input.log.clear();
    input.note(format_args!("reductions of {}, {shape:?} over {axes:?}", A::name()));
    let array = input.array::<A>(shape, true, summable(shape, shape.iter().product(), (A::MOST - 1) / 2));
    let view = array.view();
    let reduction = Reduction::new(shape, axes, codes(&view));
    if input.one_in(2) {
        check_sums!("array", &reduction, axes, input, A, view);
    } else {
        check_sums!("array.par()", &reduction, axes, input, A, view.par());
    }
}

fn reduction_of<A: Element + PartialOrd>(input: &mut Input<'_>, shape: &[usize], axes: &[usize]) {
    sums_of::<A>(input, shape, axes);
    let array = input.array::<A>(shape, true, scrambled);
    let view = array.view();
    let reduction = Reduction::new(shape, axes, codes(&view));
    if input.one_in(2) {
        check_folds!("array", &reduction, axes, A, view);
    } else {
        check_folds!("array.par()", &reduction, axes, A, view.par());
    }
}

/// Sums of few elements of every type of numbers, in which each can be of a loop of its own.
pub(crate) fn of_each_number(input: &mut Input<'_>) {
    macro_rules! each {
        ($($T:ty)*) => {$(
            for axes in [&[0][..], &[1], &[1, 0]] {
                for _ in 0..4 {
                    sums_of::<$T>(input, &[2, 3], axes);
                    sums_of::<$T>(input, &[0, 3], axes);
                }
            }
        )*};
    }
    each!(f32 i64 u8 Complex<f64> Boxed);
    #[cfg(feature = "rayon")]
    each!(f64 i8 i16 i32 u16 u32 u64 Complex<f32>);
}

/// Sums over every set of axes, of shapes around each number at which the kernel takes another way.
pub(crate) fn sums_of_each_shape(input: &mut Input<'_>) {
    /// Lengths around the widths of vectors and the blocks of 64, 128, 256 and 1024.
    const LENGTHS: [usize; 24] =
        [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000];
    let over_all_sets = |input: &mut Input<'_>, shape: &[usize]| {
        for set in 0..1 << shape.len() {
            let axes: Vec<usize> = (0..shape.len()).filter(|axis| set >> axis & 1 == 1).collect();
            for _ in sample(4, 0..4) {
                match input.below(8) {
                    #[cfg(feature = "rayon")]
                    0 => sums_of::<u8>(input, shape, &axes),
                    #[cfg(feature = "rayon")]
                    1 => sums_of::<u128>(input, shape, &axes),
                    2 if shape.len() == 2 => sums_of::<Wide>(input, shape, &axes),
                    2..5 => sums_of::<i64>(input, shape, &axes),
                    _ => sums_of::<f32>(input, shape, &axes),
                }
            }
        }
    };
    // a long and a short axis
    for [length, period] in sample(3, LENGTHS).flat_map(|length| (1..=16).map(move |period| [length, period]))
    {
        over_all_sets(input, &[length, period]);
        over_all_sets(input, &[period, length]);
    }
    // lanes of few elements: several are added up at a time, unless there are gaps between them
    for width in sample(5, 2..=40) {
        for count in [1, 7, 8, 9, 20, 100] {
            over_all_sets(input, &[count, width]);
            over_all_sets(input, &[3, count, width]);
        }
        over_all_sets(input, &[70, width]);
    }
    for width in [1023, 1025, 2049, 4095, 4096, 4097, 5003] {
        over_all_sets(input, &[9, width]);
        over_all_sets(input, &[width, 5]);
    }
    let shapes: [&[usize]; 34] = [
        // rows that end with a block
        &[7, 33],
        &[65, 8],
        &[9, 127],
        &[129, 17],
        &[33, 257],
        &[64, 64],
        &[129, 70],
        &[31, 130],
        &[257, 40],
        // one row is left of rows that are joined
        &[8193, 8],
        &[2, 20_011],
        &[20_011, 3],
        &[2, 70_000],
        &[17, 9, 33],
        &[3, 130, 5],
        &[65, 2, 16],
        &[2, 257, 3],
        &[40, 33, 3],
        &[5, 7, 129],
        &[130, 8, 1],
        &[4, 5, 17, 9],
        &[9, 3, 8, 17],
        &[2, 3, 4, 5, 9],
        // long rows that repeat, few reduced steps around short lanes, nothing that is reduced, and lanes of several parts
        &[3, 5, 4, 200],
        &[5, 3000, 3],
        &[4, 100, 30],
        &[7, 300, 3, 3],
        &[1, 90, 200],
        &[4, 65, 64],
        // lanes inside other reduced axes
        &[3, 16, 192],
        &[70, 2, 3, 200],
        &[2, 17, 3, 193],
        // past every number of blocks that are added up pairwise
        &[12_289],
        &[140_001],
    ];
    for shape in shapes {
        over_all_sets(input, shape);
    }
    for length in [1023, 1024, 1025, 4095, 4097, 8193, 20_000, 32_768, 65_535, 65_536, 65_537] {
        over_all_sets(input, &[length]);
    }
}

/// Around every length at which lanes are reduced in another way, adjacent and not; every number of rows and of columns that are
/// combined at once, in one block of rows and in several; short lanes, few and many; and results that fit into a buffer or not.
pub(crate) fn at_each_length(input: &mut Input<'_>) {
    const LANES: [usize; 33] = [
        1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 41, 63, 64, 65, 127, 129, 1024, 1025, 2047, 2048,
        2049, 3072, 3073, 5000, 65_536, 65_537, 131_072, 150_000,
    ];
    const ROWS: [usize; 16] = [2, 3, 29, 31, 32, 33, 37, 40, 63, 64, 65, 127, 128, 129, 300, 2100];
    for len in sample(4, LANES) {
        reduction_of::<f64>(input, &[3, len], &[1]);
    }
    let sides = [1, 7, 8, 9, 15, 16, 17, 25, 41, 70].map(|columns| ROWS.map(|rows| [rows, columns]));
    for [rows, columns] in sample(2, sides.into_iter().flatten()) {
        reduction_of::<f64>(input, &[rows, columns], &[0]);
        reduction_of::<f64>(input, &[2, rows, columns], &[1]);
        reduction_of::<f64>(input, &[rows, columns], &[0, 1]);
    }
    for [count, len] in (2..=40).flat_map(|len| [3, 8, 9, 70, 300].map(|count| [count, len])) {
        reduction_of::<f32>(input, &[count, len], &[1]);
    }
    for shape in [[2, 900], [30, 60], [900, 2], [2, 100], [100, 2]] {
        for axes in [&[0][..], &[1], &[0, 1]] {
            reduction_of::<f32>(input, &shape, axes);
            reduction_of::<Wide>(input, &shape, axes);
            reduction_of::<Boxed>(input, &shape, axes);
        }
    }
}

/// Floats with NaN in some place: it is the result of each lane that has it, and of no other.
fn with_nan(input: &mut Input<'_>) {
    let (shape, axes) = shape_and_axes::<f64>(input);
    input.note(format_args!("{shape:?} over {axes:?}"));
    let numbers = input.array::<f64>(&shape, true, |place, times| scrambled(place, times) % 1000);
    for _ in 0..numbers.cells.len().min(8) {
        let at = input.below(numbers.cells.len());
        let mut array = numbers.clone();
        array.cells[at] = f64::NAN;
        let view = array.view();
        let is_nan = Reduction::new(&shape, &axes, view.iter().map(|x| i64::from(x.is_nan()))).sums();
        let of_codes = Reduction::new(&shape, &axes, codes(&view));
        let source = fused(&view, f64::clone);
        let check = |expected: Option<Vec<i64>>, results: [Result<ArrayD<f64>, BroadcastError>; 3]| {
            for (expected, result) in
                expected.iter().flat_map(|expected| results.iter().map(move |x| (expected, x)))
            {
                let result = result.as_ref().expect("axes of the source");
                for ((x, &code), &is_nan) in result.iter().zip(expected).zip(&is_nan) {
                    let is_nan = is_nan > 0;
                    let is_right = x.is_nan() == is_nan && (is_nan || x.code() == code);
                    assert!(is_right, "{x}, NaN at {at}");
                }
            }
        };
        check(
            Some(of_codes.sums()),
            [view.sum_axes(&axes), view.par().sum_axes(&axes), source.sum_axes(&axes)],
        );
        check(
            of_codes.folded(None, i64::max),
            [view.max_axes(&axes), view.par().max_axes(&axes), source.max_axes(&axes)],
        );
        check(
            of_codes.folded(None, i64::min),
            [view.min_axes(&axes), view.par().min_axes(&axes), source.min_axes(&axes)],
        );
        let exceeds = |a: f64, b: f64| !b.is_nan() && (a > b || a.is_nan());
        let every: Vec<usize> = (0..shape.len()).collect();
        let expected = positions(&lanes(&shape, view.iter().copied(), &of_codes.kept, &every), exceeds);
        for found in [view.argmax_axes(&axes), view.par().argmax_axes(&axes), source.argmax_axes(&axes)] {
            let found = found.ok().map(|found| found.into_iter().collect::<Vec<_>>());
            assert_eq!(found, expected, "positions, NaN at {at}");
        }
    }
}

/// Batches, points of either operand, and coordinates, as in distances: sums over short lanes of operands of which one is read again
/// and again, so that it is copied. In the last three, lanes are too long or rows are too short for copies.
pub(crate) fn over_short_lanes(input: &mut Input<'_>) {
    for [batch, n, m, d] in [
        [1, 9, 40, 2],
        [1, 50, 33, 7],
        [1, 8, 50, 31],
        [1, 100, 16, 13],
        [3, 20, 30, 4],
        [20, 8, 12, 6],
        [2, 9, 500, 2],
        [1, 10, 110, 20],
        [2, 40, 7, 9],
        [2, 7, 40, 9],
        [2, 10, 40, 32],
    ] {
        let given = || vec![vec![d], vec![batch, 1, m, d], vec![batch, n, 1, d]];
        for axes in [&[3][..], &[1, 3], &[2, 3], &[0, 3], &[0, 1, 2, 3]] {
            let shape = || vec![batch, n, m, d];
            fused_2_of::<f32>(input, shape(), axes, given()[1..].to_vec());
            fused_3_of(input, shape(), axes, given());
            fused_3_of(input, shape(), axes, given());
            // elements of other sizes
            unlike_3_of(input, shape(), axes, given());
        }
    }
}

/// The sum of codes, each times its place.
fn weighted(codes: &[i64]) -> i64 {
    codes.iter().zip(1..).map(|(code, weight)| code * weight).sum()
}

/// Operands of a fused reduction, and what they have at each index.
struct Operands {
    shape: Vec<usize>,
    /// The most that an operand may sum to; 0 if any code will do.
    most: i64,
    /// The shapes of operands that are not random, from the last to the first.
    given: Vec<Vec<usize>>,
    all: Vec<Vec<i64>>,
}

impl Operands {
    fn next<A: Element>(&mut self, input: &mut Input<'_>) -> Strided<A> {
        let own = self.given.pop().unwrap_or_else(|| {
            if self.all.is_empty() { self.shape.clone() } else { input.operand_of(&self.shape) }
        });
        let operand = if self.most > 0 {
            let most = self.most.min(A::MOST);
            input.array::<A>(&own, true, summable(&own, self.shape.iter().product(), most))
        } else {
            input.array::<A>(&own, true, |place, times| scrambled(place, times) % 1_000_003)
        };
        self.all.push(stretched(&operand.view(), &self.shape));
        operand
    }

    fn reduction<A: Element>(&self, axes: &[usize]) -> Reduction {
        let values = (0..self.all[0].len()).map(|i| {
            let codes: Vec<i64> = self.all.iter().map(|codes| codes[i]).collect();
            A::of(weighted(&codes)).code()
        });
        Reduction::new(&self.shape, axes, values)
    }
}

/// A function that reduces the results of a closure of these types in every way.
macro_rules! fused_of {
    ($name:ident $of:ident<$($T:ident),*>: $first:ident $A:ty $(, $x:ident $B:ty)* => $R:ty) => {
        fn $name<$($T: Element + PartialOrd),*>(input: &mut Input<'_>) {
            let (shape, axes) = shape_and_axes::<$A>(input);
            $of::<$($T),*>(input, shape, &axes, vec![]);
        }

        fn $of<$($T: Element + PartialOrd),*>(
            input: &mut Input<'_>, shape: Vec<usize>, axes: &[usize], given: Vec<Vec<usize>>,
        ) {
            input.log.clear();
            input.note(format_args!("fused {:?}, {shape:?} over {axes:?}", [<$A>::name() $(, <$B>::name())*]));
            let (is_sum, is_par) = (input.one_in(2), input.one_in(2));
            // the weights of up to six operands
            let most = if is_sum { (<$R>::MOST - 1) / 2 / 21 } else { 0 };
            let mut operands = Operands { shape, most, given, all: vec![] };
            let $first = operands.next::<$A>(input);
            $(let $x = operands.next::<$B>(input);)*
            let reduction = operands.reduction::<$R>(axes);
            let ($first, $($x),*) = ($first.view(), $($x.view()),*);
            let f = |$first: &$A $(, $x: &$B)*| <$R>::of(weighted(&[$first.code() $(, $x.code())*]));
            let source = || fused((&$first, $(&$x),*), f);
            match (is_sum, is_par) {
                (true, false) => check_sums!("fused", &reduction, axes, input, $R, source()),
                (true, true) => check_sums!("fused.par()", &reduction, axes, input, $R, source().par()),
                (false, false) => check_folds!("fused", &reduction, axes, $R, source()),
                (false, true) => check_folds!("fused.par()", &reduction, axes, $R, source().par()),
            }
        }
    };
}
fused_of!(fused_1 fused_1_of<>: a f64 => f64);
fused_of!(fused_2 fused_2_of<T>: a T, b T => T);
fused_of!(fused_3 fused_3_of<>: a f32, b f32, c f32 => f32);
fused_of!(unlike_3 unlike_3_of<>: a u8, b Boxed, c u16 => Three);
fused_of!(fused_4 fused_4_of<>: a f32, b f64, c u16, d f32 => f64);
fused_of!(fused_5 fused_5_of<>: a f32, b f32, c u16, d f32, e Newtype => f32);
fused_of!(fused_6 fused_6_of<>: a u8, b f32, c u16, d f32, e f32, f u128 => u32);

pub(crate) fn fused_reduction(input: &mut Input<'_>) {
    let number = input.element_type();
    match input.below(10) {
        0 => fused_1(input),
        1..5 => of_type!(number, fused_2(input)),
        5 => fused_3(input),
        6 => unlike_3(input),
        7 => fused_4(input),
        8 => fused_5(input),
        _ => fused_6(input),
    }
}
