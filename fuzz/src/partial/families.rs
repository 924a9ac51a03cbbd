//! The other families over shapes that are known in part.

use super::TOP;
use crate::cases::Input;
use crate::cases::check::assert_refused;
use common::oracle::{Names, covers_all, worlds};
use common::{Choices, in_dim_places, variant, without_axes};
use ndarray_broadcast::partial::{
    PartialShape, infer_axes, infer_batch, infer_in_dim, infer_shape, infer_sum, infer_target,
};
use ndarray_broadcast::{AxisSet, BroadcastError, resolve_target};

/// Targets, axes, batches and sums: what is inferred accepts what comes out, and there is an error only where
/// nothing comes out.
pub(super) fn families(input: &mut Input<'_>) {
    let own = super::shape(input, 2);
    let ways = worlds(std::slice::from_ref(&own), TOP);
    let axes = input.axes(3);
    match input.below(3) {
        0 => {
            let count = input.below(4);
            let target: Vec<isize> =
                (0..count).map(|_| input.pick(&[-1, 1, 2, 0, 3, -1, -2, isize::MAX])).collect();
            let found = infer_target(&own, &target);
            let real = ways
                .iter()
                .filter_map(|(names, shapes)| Some((*names, resolve_target(&shapes[0], &target).ok()?)));
            let real: Vec<_> = real.collect();
            if found.is_ok() && real.is_empty() && target.contains(&isize::MAX) {
                // an axis that can be larger than any that is tried
                return;
            }
            assert_sound(&found, real);
        }
        1 => {
            let found = infer_sum(&own, &axes[..]);
            let distinct: AxisSet = axes[..].into();
            let ndim = own.ndim().expect("ranked");
            let valid = distinct.as_slice().len() == axes.len() && axes.iter().all(|&axis| axis < ndim);
            assert_eq!(found.is_ok(), valid);
            let left = |shape: &[usize]| {
                (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect()
            };
            if valid {
                assert_sound(&found, ways.iter().map(|(names, shapes)| (*names, left(&shapes[0]))).collect());
            }
        }
        _ => {
            let operands = [own, super::shape(input, 2)];
            let [own, target] = &operands;
            let axes = input.axes(2);
            let ways = worlds(&operands, TOP);
            let distinct = AxisSet::from(&axes[..]).as_slice().len() == axes.len();
            let along = |shape: &[usize], to: &[usize]| {
                let others = without_axes(to.len(), &axes);
                distinct
                    && axes.iter().all(|&axis| axis < to.len())
                    && others.iter().map(|&axis| to[axis]).eq(shape.iter().copied())
            };
            assert_possible(&infer_axes(own, target, &axes[..]), &ways, along);
            let dims: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
            let placed = |shape: &[usize], to: &[usize]| in_dim_places(shape, to, &dims).is_some();
            assert_possible(&infer_in_dim(own, target, &axes[..]), &ways, placed);
            return;
        }
    }
    let other = super::shape(input, 3);
    let bases = [input.below(3), input.below(3)];
    let found = infer_batch(&[(own.clone(), bases[0]), (other.clone(), bases[1])]);
    let batch = |shape: &PartialShape, base: usize| {
        let dims = shape.dims().expect("ranked");
        Some(PartialShape::ranked(dims[..dims.len().checked_sub(base)?].to_vec()))
    };
    match (batch(&own, bases[0]), batch(&other, bases[1])) {
        (Some(a), Some(b)) => {
            assert_eq!(found.ok(), infer_shape(&a, &b).ok());
            let base =
                PartialShape::ranked(own.dims().expect("ranked")[a.ndim().expect("ranked")..].to_vec());
            assert_eq!(a.with_base(&base), own);
        }
        _ => assert_refused(&found.expect_err("too few axes"), "DeclaredAxes"),
    }
}

/// That every shape which comes out is as inferred, and that something comes out unless that is an error.
fn assert_sound(found: &Result<PartialShape, BroadcastError>, real: Vec<(Names, Vec<usize>)>) {
    assert_eq!(found.is_ok(), !real.is_empty(), "{found:?}");
    let Ok(found) = found else { return };
    for (names, shape) in real {
        assert_eq!(found.ndim(), Some(shape.len()));
        assert!(covers_all(found, names, &shape), "{found} of {shape:?}");
    }
}

/// That every target to which an array goes is as inferred, and that there is none where that is an error.
fn assert_possible(
    found: &Result<PartialShape, BroadcastError>,
    worlds: &[(Names, Vec<Vec<usize>>)],
    goes: impl Fn(&[usize], &[usize]) -> bool,
) {
    if let Err(error) = found {
        assert_refused(error, &variant(error));
    }
    for (names, shapes) in worlds.iter().filter(|(_, shapes)| goes(&shapes[0], &shapes[1])) {
        let found = found.as_ref().unwrap_or_else(|error| panic!("{shapes:?}: {error}"));
        assert_eq!(found.ndim(), Some(shapes[1].len()));
        assert!(covers_all(found, *names, &shapes[1]), "{found} of {shapes:?}");
    }
}
