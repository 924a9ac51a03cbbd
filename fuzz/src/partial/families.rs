//! The other families over shapes that are known in part.

use super::TOP;
use crate::check::assert_refused;
use crate::input::Input;
use crate::oracle::{Names, covers, worlds};
use ndarray_broadcast::partial::{
    PartialShape, infer_axes, infer_batch, infer_in_dim, infer_shape, infer_sum, infer_target,
};
use ndarray_broadcast::{AxisSet, BroadcastError, resolve_target};

/// Targets, axes, batches and sums: what is inferred accepts what comes out, and there is an error only where
/// nothing comes out.
pub(super) fn families(input: &mut Input<'_>) {
    let own = super::shape(input, 2);
    let worlds = worlds(std::slice::from_ref(&own), TOP);
    let axes = input.axes(3);
    match input.below(3) {
        0 => {
            let count = input.below(4);
            let target: Vec<isize> =
                (0..count).map(|_| input.pick(&[-1, 1, 2, 0, 3, -1, -2, isize::MAX])).collect();
            let found = infer_target(&own, &target);
            let real = worlds
                .iter()
                .filter_map(|(names, shapes)| Some((*names, resolve_target(&shapes[0], &target).ok()?)));
            assert_sound(&found, real.collect());
        }
        1 => {
            let found = infer_sum(&own, &axes[..]);
            let distinct: AxisSet = axes[..].into();
            let ndim = own.ndim().expect("ranked");
            let valid = distinct.len() == axes.len() && axes.iter().all(|&axis| axis < ndim);
            assert_eq!(found.is_ok(), valid);
            let left = |shape: &[usize]| {
                (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect()
            };
            if valid {
                assert_sound(
                    &found,
                    worlds.iter().map(|(names, shapes)| (*names, left(&shapes[0]))).collect(),
                );
            }
        }
        _ => {
            let target = super::shape(input, 3);
            let found = infer_axes(&own, &target, &axes[..]);
            if let Ok(found) = &found {
                assert!(target.ndim() == found.ndim());
                let known = target.dims().into_iter().flatten().zip(found.dims().into_iter().flatten());
                assert!(
                    known
                        .into_iter()
                        .all(|(before, after)| (0..=TOP)
                            .all(|size| before.admits(size) || !after.admits(size)))
                );
            }
            let placed = infer_in_dim(&own, &target, &axes[..]);
            for error in [found.err(), placed.err()].into_iter().flatten() {
                assert_refused(&error, &crate::model::variant(&error));
            }
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
        let dims = found.dims().expect("ranked");
        assert!(
            dims.len() == shape.len() && dims.iter().zip(&shape).all(|(dim, &size)| covers(dim, names, size)),
            "{found} of {shape:?}"
        );
    }
}
