//! Shape algebra: sizes in, sizes out, no arrays.

mod axes;
mod batch;
mod by_name;
mod explain;
mod joint;
mod onto;
mod place;
mod placed_sum;
mod reduce;
mod target;

pub use axes::{Axes, AxisIndex, AxisSet};
pub use explain::explain;
pub use joint::{broadcast_shapes, const_broadcast_shape};
pub use place::reduction_axes;
pub use reduce::LessAxes;
pub use target::{Size, TargetShape, resolve_target};

pub(crate) use axes::{Named, positions};
pub(crate) use batch::{
    Split, base_axes, base_size, batch_ndim, expanded, goes_into, join_bases, join_batches, join_batches_of,
    joint_with, with_base,
};
pub(crate) use by_name::{ByName, insert_sorted};
pub(crate) use joint::{
    checked_len, clash_or_overflow, join, join_checked, joint_ndim, joint_size, not_joint, stretches,
};
pub(crate) use onto::{go_onto, misfit};
pub(crate) use place::{along_axes, in_dim, repeats};
pub(crate) use placed_sum::{placed_sum, placed_sum_target};
pub(crate) use reduce::{fits, kept, left, over_axes, sum_target, sums_to};
pub(crate) use target::{Placeholder, ShapeOf, plain, refusal, resolve};

use ndarray::Dimension;

/// The sizes of `dim` as a slice.
#[inline]
pub(crate) fn sizes<D: Dimension>(dim: &D) -> &[usize] {
    dim.as_array_view().to_slice().expect("a dimension is stored in one piece")
}

/// The sizes of `dim` as a slice to write.
#[inline]
pub(crate) fn sizes_mut<D: Dimension>(dim: &mut D) -> &mut [usize] {
    dim.as_array_view_mut().into_slice().expect("a dimension is stored in one piece")
}
