//! The operations for a number of operands that is only known at run time.

use ndarray::{Array, ArrayRef, ArrayView, DimMax, Dimension};
use ndarray_broadcast::{
    BroadcastError, bounds::TargetShape, broadcast_apply, broadcast_map, fused, prelude::*,
};

pub type Views<'a, D> = [ArrayView<'a, i64, D>];

/// Dimension types of which the joint one is the same.
pub trait Same: Dimension + DimMax<Self, Output = Self> + TargetShape<Dim = Self> {}
impl<D: Dimension + DimMax<D, Output = D> + TargetShape<Dim = D>> Same for D {}

/// Has `$call!` make a call of the operands, in a tuple or, in half of the cases, a single one without, and of
/// names for the arguments of the closure.
macro_rules! by_number {
    ($views:expr, $call:ident) => {
        match $views {
            [a] if a.ndim() % 2 == 0 => $call!(a; a),
            [a] => $call!((a,); a),
            [a, b] => $call!((a, b); a b),
            [a, b, c] => $call!((a, b, c.clone()); a b c),
            [a, b, c, d] => $call!((a, &**b, c, d); a b c d),
            [a, b, c, d, e] => $call!((a, b, c, d, e); a b c d e),
            [a, b, c, d, e, f] => $call!((a, b, c, d, e, f); a b c d e f),
            _ => panic!("1 to 6 operands"),
        }
    };
}

pub fn map<R, D: Same>(
    views: &Views<'_, D>,
    mut function: impl FnMut(&[i64]) -> R,
) -> Result<Array<R, D>, BroadcastError> {
    macro_rules! call {
        ($operands:expr; $($x:ident)+) => { broadcast_map($operands, |$($x),+| function(&[$(*$x),+])) };
    }
    by_number!(views, call)
}

pub fn apply<T, D: Same, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    views: &Views<'_, D>,
    mut function: impl FnMut(&mut T, &[i64]),
) -> Result<(), BroadcastError> {
    macro_rules! call {
        ($operands:expr; $($x:ident)+) => {
            broadcast_apply(out, $operands, |out, $($x),+| function(out, &[$(*$x),+]))
        };
    }
    by_number!(views, call)
}

pub fn map_sum_to<S: TargetShape, D: Same>(
    views: &Views<'_, D>,
    shape: S,
    function: impl Fn(&[i64]) -> i64,
) -> Result<Array<i64, S::Dim>, BroadcastError> {
    macro_rules! call {
        ($operands:expr; $($x:ident)+) => {
            fused($operands, |$($x),+| function(&[$(*$x),+])).sum_to(shape)
        };
    }
    by_number!(views, call)
}
