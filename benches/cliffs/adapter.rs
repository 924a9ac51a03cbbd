//! The crate's operations that this program calls, at dynamic rank. A change of the public names touches this file only.

use ndarray::{ArrayD, ArrayViewD, LinalgScalar};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{base_op, broadcast_apply, fused};
use num_traits::Zero;

/// An element that the program measures.
pub(crate) trait Number: Copy + Zero + 'static {
    const NAME: &'static str;

    /// A number for each `n` up to 100.
    fn from_u8(n: u8) -> Self;
    fn times(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! number {
    ($T:ident, $times:expr, $plus:expr, $n:ident => $nth:expr) => {
        impl Number for $T {
            const NAME: &'static str = stringify!($T);

            fn from_u8($n: u8) -> Self {
                $nth
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                $times(self, other)
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}
// Between 1/4 and 3/4: no chain of multiply-adds overflows or becomes subnormal.
number!(f32, |a, b| a * b, |a, b| a + b, n => 0.25 + f32::from(n) / 202.0);
number!(f64, |a, b| a * b, |a, b| a + b, n => 0.25 + f64::from(n) / 202.0);
// Zero where overflow is checked: sums of `u8` overflow.
number!(i32, i32::wrapping_mul, i32::wrapping_add, n => if cfg!(debug_assertions) { 0 } else { i32::from(n) });
number!(u8, u8::wrapping_mul, u8::wrapping_add, n => if cfg!(debug_assertions) { 0 } else { n });

/// The product of the operands (or a square), then `OPS - 1` dependent multiply-adds.
#[inline]
fn chain<T: Number, const OPS: usize, const N: usize>(x: [T; N]) -> T {
    let factor = if N == 1 { x[0].times(x[0]) } else { x[1..].iter().fold(x[0], |p, x| p.times(*x)) };
    (1..OPS).fold(factor, |sum, _| sum.times(factor).plus(x[0]))
}

/// `f` of the operands, summed to `shape`: the fused sum.
fn map_sum_to<T: Number, const OPS: usize>(operands: &[ArrayViewD<T>], shape: &[usize]) -> ArrayD<T> {
    match operands {
        [a] => fused((a,), |a| chain::<T, OPS, _>([*a])).sum_to(shape),
        [a, b] => fused((a, b), |a, b| chain::<T, OPS, _>([*a, *b])).sum_to(shape),
        [a, b, c] => fused((a, b, c), |a, b, c| chain::<T, OPS, _>([*a, *b, *c])).sum_to(shape),
        [a, b, c, d] => fused((a, b, c, d), |a, b, c, d| chain::<T, OPS, _>([*a, *b, *c, *d])).sum_to(shape),
        [a, b, c, d, e] => {
            fused((a, b, c, d, e), |a, b, c, d, e| chain::<T, OPS, _>([*a, *b, *c, *d, *e])).sum_to(shape)
        }
        [a, b, c, d, e, f] => {
            fused((a, b, c, d, e, f), |a, b, c, d, e, f| chain::<T, OPS, _>([*a, *b, *c, *d, *e, *f]))
                .sum_to(shape)
        }
        _ => unreachable!("one to six operands"),
    }
    .expect("a shape that the operands' joint shape is summed to")
}

/// `f` of the operands, written into an array that exists.
fn map_into<T: Number, const OPS: usize>(operands: &[ArrayViewD<T>], out: &mut ArrayD<T>) {
    match operands {
        [a] => broadcast_apply(out, (a,), |out, a| *out = chain::<T, OPS, _>([*a])),
        [a, b] => broadcast_apply(out, (a, b), |out, a, b| *out = chain::<T, OPS, _>([*a, *b])),
        [a, b, c] => broadcast_apply(out, (a, b, c), |out, a, b, c| *out = chain::<T, OPS, _>([*a, *b, *c])),
        [a, b, c, d] => {
            broadcast_apply(out, (a, b, c, d), |out, a, b, c, d| *out = chain::<T, OPS, _>([*a, *b, *c, *d]))
        }
        [a, b, c, d, e] => broadcast_apply(out, (a, b, c, d, e), |out, a, b, c, d, e| {
            *out = chain::<T, OPS, _>([*a, *b, *c, *d, *e]);
        }),
        [a, b, c, d, e, f] => broadcast_apply(out, (a, b, c, d, e, f), |out, a, b, c, d, e, f| {
            *out = chain::<T, OPS, _>([*a, *b, *c, *d, *e, *f]);
        }),
        _ => unreachable!("one to six operands"),
    }
    .expect("operands that stretch onto the output");
}

/// The sum of one array to `shape`.
pub(crate) fn sum_to<T: Number>(array: &ArrayViewD<T>, shape: &[usize]) -> ArrayD<T> {
    array.sum_to(shape).expect("a shape that the array is summed to")
}

/// A copy into an array that exists.
pub(crate) fn copy_into<T: Number>(array: &ArrayViewD<T>, out: &mut ArrayD<T>) {
    array.materialize_into(out).expect("an array that stretches onto the output");
}

/// Products of matrices, one for each index of the first axis, into an array that exists.
pub(crate) fn products_into<T: LinalgScalar>(a: &ArrayViewD<T>, b: &ArrayViewD<T>, out: &mut ArrayD<T>) {
    let (a, b) = (a.batch_dyn(2).expect("a base"), b.batch_dyn(2).expect("a base"));
    a.apply_into(base_op::MatMul, &b, out).expect("matrices that go together");
}

/// A copy by the means of maps.
pub(crate) fn map_copy_into<T: Number>(array: &ArrayViewD<T>, out: &mut ArrayD<T>) {
    broadcast_apply(out, (array,), |out, x| *out = *x).expect("an array that stretches onto the output");
}

/// The calls of one element type with a closure of one length.
#[derive(Clone, Copy)]
pub(crate) struct Calls<T> {
    pub(crate) map_sum_to: fn(&[ArrayViewD<T>], &[usize]) -> ArrayD<T>,
    pub(crate) map_into: fn(&[ArrayViewD<T>], &mut ArrayD<T>),
}

/// The lengths of closures.
pub(crate) const LENGTHS: [usize; 6] = [1, 2, 4, 8, 20, 40];

impl<T: Number> Calls<T> {
    /// With a closure of `ops` operations, one of [`LENGTHS`].
    pub(crate) fn with_length(ops: usize) -> Self {
        match ops {
            1 => Self::of::<1>(),
            2 => Self::of::<2>(),
            4 => Self::of::<4>(),
            8 => Self::of::<8>(),
            20 => Self::of::<20>(),
            40 => Self::of::<40>(),
            _ => unreachable!("a length in the table"),
        }
    }

    fn of<const OPS: usize>() -> Self {
        Self { map_sum_to: map_sum_to::<T, OPS>, map_into: map_into::<T, OPS> }
    }
}
