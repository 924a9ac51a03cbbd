//! Sums of arrays of thousands of elements, in every order in memory, around each number at which the kernel takes another way.
#![cfg_attr(
    not(feature = "rayon"),
    allow(dead_code, reason = "some types are compiled with all features only")
)]

use approx::assert_relative_eq;
use common::Lie::{self, C, F, Gap, Repeated, Reversed, Rows, Second, ThirdReversed, Turned};
use common::{indices, sample, scrambled, signed, sums, without_axes};
use ndarray::{Array1, Array3, ArrayD, ArrayViewD, ArrayViewMutD, Axis, Slice, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, broadcast_map, fused, keepdims};
use num_traits::Zero;
use std::fmt::Debug;
use std::num::Wrapping;
use std::ops::{Add, Mul};

/// An element that counts in whole numbers, in which every sum here is exact (or wraps).
trait Whole: Clone + Zero + Mul<Output = Self> + PartialEq + Debug {
    fn whole(number: i64) -> Self;
}

macro_rules! whole {
    ($($T:ty: $number:ident => $value:expr;)*) => {$(
        impl Whole for $T {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                reason = "numbers below 2^24, or that wrap")]
            fn whole($number: i64) -> Self {
                $value
            }
        }
    )*};
}
whole! {
    i64: n => n;
    f32: n => n as f32;
    Wrapping<u8>: n => Wrapping(n as u8);
    i128: n => i128::from(n);
    Large: n => Large([n, 0, 0, 0, 0, 0, 0, 0, -n]);
}

/// An element of more bytes than a cache line.
#[derive(Clone, Debug, PartialEq)]
struct Large([i64; 9]);

impl Add for Large {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
        self
    }
}

impl Mul for Large {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Large::whole(self.0[0] * other.0[0])
    }
}

impl Zero for Large {
    fn zero() -> Self {
        Large([0; 9])
    }
    fn is_zero(&self) -> bool {
        self.0 == [0; 9]
    }
}

const ALL: [Lie; 8] = [C, F, Rows, Second, ThirdReversed, Reversed, Repeated, Turned];

/// Asserts the sums over every set of axes but none, in every form that stores in a way of its own.
fn assert_all<A: Whole>(shape: &[usize], lies: &[Lie]) {
    for &lie in sample(4, lies) {
        let numbers = lie.strided(shape, |place| scrambled(signed(place)));
        let elements = numbers.map(|&number| A::whole(number));
        let (numbers, delta) = (numbers.view(), elements.view());
        for choice in indices(&vec![2; shape.len()]) {
            let axes: AxisSet = (0..shape.len()).filter(|&axis| choice[axis] == 1).collect();
            let left = without_axes(shape.len(), axes.as_slice());
            let sizes: Vec<usize> = left.iter().map(|&axis| shape[axis]).collect();
            let expected = sums(shape, numbers.iter().copied(), &sizes, &left);
            assert_forms(&delta, &axes, &expected, &format!("{shape:?} {lie:?} over {axes}"));
        }
    }
}

/// Asserts that every form comes to these sums, in row-major order.
fn assert_forms<A: Whole>(delta: &ArrayViewD<A>, axes: &AxisSet, expected: &[i64], case: &str) {
    let sum = delta.sum_axes(axes).expect("axes of the array");
    assert!(sum.iter().cloned().eq(expected.iter().map(|&sum| A::whole(sum))), "{case}");
    let kept = delta.sum_axes(keepdims(axes)).expect("axes of the array");
    assert!(kept.iter().eq(&sum), "kept: {case}");
    // Outputs in C order, often not the order of the sum's own axes, in one piece and every second element.
    for step in [1, 2] {
        let mut base = kept.shape().to_vec();
        let last = base.len() - 1;
        base[last] *= step;
        let mut base = ArrayD::from_elem(base, A::whole(5));
        let assert_base = |base: &ArrayD<A>, becomes: &dyn Fn(i64) -> i64, form| {
            let after = base.iter().enumerate().all(|(i, element)| {
                *element == A::whole(if i % step == 0 { becomes(expected[i / step]) } else { 5 })
            });
            assert!(after, "{form}, every {step}: {case}");
        };
        let out = |base: &mut ArrayD<A>, form: &dyn Fn(&mut ArrayViewMutD<A>)| {
            let mut out = base.view_mut();
            out.slice_axis_inplace(Axis(last), Slice::from(..).step_by(step.cast_signed()));
            form(&mut out);
        };
        if step == 1 {
            out(&mut base, &|out| delta.assign_sum_to(out).expect("a shape to sum to"));
            assert_base(&base, &|sum| sum, "overwritten");
            out(&mut base, &|out| delta.scaled_add_sum_to(A::whole(-3), out).expect("a shape to sum to"));
            assert_base(&base, &|sum| -2 * sum, "scaled");
        } else {
            out(&mut base, &|out| delta.add_sum_to(out).expect("a shape to sum to"));
            assert_base(&base, &|sum| 5 + sum, "added");
        }
    }
}

/// Lengths around the widths of vectors and the blocks of 64, 128, 256 and 1024.
const LENGTHS: [usize; 24] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000];
const PERIODS: [usize; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

#[test]
fn a_long_and_a_short_axis() {
    for length in sample(3, LENGTHS) {
        for period in PERIODS {
            // each pair in one of the layouts, each length and each period in all of them
            let lies = [ALL[(length + period) % 8], ALL[(length + 3 * period + 3) % 8]];
            assert_all::<i64>(&[length, period], &lies[..1]);
            assert_all::<f32>(&[period, length], &lies[1..]);
        }
    }
}

#[test]
fn rows_that_end_with_a_block() {
    for (length, width) in
        [(7, 33), (8, 65), (9, 127), (17, 129), (33, 257), (64, 64), (129, 70), (130, 31), (257, 40)]
    {
        assert_all::<f32>(&[length, width], &[C, Rows, ThirdReversed, Turned]);
        assert_all::<i64>(&[width, length], &[F, Second, Reversed, Repeated]);
        #[cfg(feature = "rayon")]
        assert_all::<Wrapping<u8>>(&[length, width], &[C, F]);
        #[cfg(feature = "rayon")]
        assert_all::<i128>(&[length, width], &[C, Second]);
        #[cfg(feature = "rayon")]
        assert_all::<Large>(&[length, width], &[ThirdReversed]);
    }
}

#[test]
fn lanes_of_few_elements() {
    // several lanes are added up at a time, unless there are gaps between them
    for width in sample(5, 2..=40) {
        for count in [1, 7, 8, 9, 20, 100] {
            assert_all::<f32>(&[count, width], &[C, Gap]);
            assert_all::<i64>(&[3, count, width], &[C, Reversed]);
        }
        #[cfg(feature = "rayon")]
        assert_all::<Wrapping<u8>>(&[70, width], &[C]);
        #[cfg(feature = "rayon")]
        assert_all::<i128>(&[70, width], &[C]);
        #[cfg(feature = "rayon")]
        assert_all::<Large>(&[9, width], &[C]);
    }
}

#[test]
fn wide_rows() {
    for width in [1023, 1025, 2049, 4095, 4096, 4097, 5003] {
        assert_all::<f32>(&[9, width], &[C, Reversed]);
        assert_all::<i64>(&[3, width], &[Turned]);
        assert_all::<f32>(&[width, 5], &[C]);
    }
    assert_all::<f32>(&[2, 20_011], &[C, F]);
    assert_all::<i64>(&[20_011, 3], &[C, F]);
    // one row is left of rows that are joined
    assert_all::<i64>(&[8193, 8], &[C]);
}

#[test]
fn three_and_four_axes() {
    for shape in [[17, 9, 33], [3, 130, 5], [65, 2, 16], [2, 257, 3], [40, 33, 3], [5, 7, 129], [130, 8, 1]] {
        assert_all::<f32>(&shape, &[C, Second, Turned, Repeated]);
        assert_all::<i64>(&shape, &[F, Rows, ThirdReversed]);
    }
    assert_all::<f32>(&[4, 5, 17, 9], &ALL);
    assert_all::<i64>(&[9, 3, 8, 17], &[C, F, Turned]);
    assert_all::<f32>(&[2, 3, 4, 5, 9], &[C, Turned, Second]);
}

/// Shapes for which a way to reduce was wrong while it was built, or took hundreds of times as long as others.
#[test]
fn of_single_ways() {
    // long rows that repeat, few reduced steps around short lanes, with outputs between them or not, nothing that is reduced, and
    // lanes of several parts
    let shapes: [&[usize]; 6] =
        [&[3, 5, 4, 200], &[5, 3000, 3], &[4, 100, 30], &[7, 300, 3, 3], &[1, 90, 200], &[4, 65, 64]];
    for shape in shapes {
        assert_all::<i64>(shape, &[C, Turned, Reversed, Repeated]);
        #[cfg(feature = "rayon")]
        assert_all::<Wrapping<u8>>(shape, &[C]);
    }
    assert_all::<i64>(&[2, 70_000], &[C]);
}

#[test]
fn lanes_inside_other_reduced_axes() {
    for shape in [&[3, 16, 192][..], &[70, 2, 3, 200], &[2, 17, 3, 193]] {
        assert_all::<i64>(shape, &ALL);
        assert_all::<f32>(shape, &[C, Turned]);
    }
    #[allow(clippy::cast_precision_loss, reason = "some digits")]
    let x = Array1::from_iter((0..16 * 64 * 600).map(|i| 1.0 / (1.0 + i as f32)));
    let x = x.into_shape_with_order((16, 64, 600)).expect("as many elements");
    let serial = x.sum_axes([0, 2]).expect("axes");
    assert_eq!(x.par().sum_axes([0, 2]).expect("axes"), serial);
}

/// Asserts that arrays are equal but for rounding.
macro_rules! assert_close {
    ($found:expr, $expected:expr) => {
        assert_relative_eq!($found, $expected, epsilon = 0.0, max_relative = 1e-12)
    };
}

/// Arrays of at least 16 MiB, most of which are repeated, so that they need little memory.
#[test]
fn short_rows_beyond_the_cache() {
    #[allow(clippy::cast_precision_loss, reason = "some digits")]
    let number = |(i, j, k): (usize, usize, usize)| 1.0 / (1.0 + (i + 3 * j + 7 * k) as f64);
    for (images, rows, width) in [(1100, 60, 40), (4200, 8, 64), (600, 9, 400)] {
        let base = Array3::from_shape_fn((1, rows, width), number);
        let x = base.broadcast((images, rows, width)).expect("a shape that the array stretches to");
        let (sums, expected) = (x.sum_axes(1).expect("axes"), base.sum_axis(Axis(1)));
        assert_close!(sums, expected.broadcast(sums.raw_dim()).expect("a sum for each image"));
        assert_eq!(x.par().sum_axes(1).expect("axes"), sums, "{images} {rows} {width}");
        let weights = Array1::from_shape_fn(width, |k| number((0, 0, k)));
        let fused = fused((&x, &weights), |x, w| x * w).sum_to((images, 1, width)).expect("shapes");
        let expected = broadcast_map((&expected, &weights), |sum, w| sum * w).expect("shapes");
        let expected = expected.insert_axis(Axis(1));
        assert_close!(fused, expected.broadcast(fused.raw_dim()).expect("a sum for each image"));
        let largest = x.reduce_axes(1, 0.0, |a, b| if a > b { a } else { b }).expect("axes");
        assert!(largest.iter().eq(base.slice(s![0, 0, ..]).iter().cycle().take(images * width)));
    }
}

/// One axis, past every number of blocks that are added up pairwise.
#[test]
fn long_runs() {
    for length in
        [1023, 1024, 1025, 4095, 4097, 8193, 12_289, 20_000, 32_768, 65_535, 65_536, 65_537, 140_001]
    {
        assert_runs::<f32>(length);
        assert_runs::<i64>(length);
        #[cfg(feature = "rayon")]
        assert_runs::<Wrapping<u8>>(length / 4 + 1);
    }
    #[cfg(feature = "rayon")]
    assert_runs::<i128>(20_000);
}

fn assert_runs<A: Whole>(length: usize) {
    let numbers: Vec<i64> = (0..).map(scrambled).take(length).collect();
    let elements: Array1<A> = numbers.iter().map(|&number| A::whole(number)).collect();
    for step in [1, 2, 3] {
        let expected = A::whole(numbers.iter().step_by(step).sum());
        let mut view = elements.slice_axis(Axis(0), Slice::from(..).step_by(step.cast_signed()));
        for reversed in [false, true] {
            let sum = view.sum_axes(0).expect("an axis of the array").into_scalar();
            assert_eq!(sum, expected, "{length} by {step}, reversed: {reversed}");
            view.invert_axis(Axis(0));
        }
    }
}
