//! Shape algebra: sizes in, sizes out, no arrays. The function that finds the shape of a result also reserves its memory.

mod axes;
mod batch_shape;
mod by_name;
mod explain;
mod joint_shape;
mod output;
mod place;
mod reduced_axes;
mod signature;
mod target;

pub use axes::{Axes, AxesOrAll, AxisIndex, AxisSet};
pub use explain::explain;
pub(crate) use joint_shape::JoinDims;
pub use joint_shape::{broadcast_shapes, const_broadcast_shape};
pub use place::reduction_axes;
pub use reduced_axes::{KeepDims, LessAxes, ReducedAxes, keepdims};
pub use signature::{Signature, SignatureShapes};
pub use target::{Size, TargetShape, resolve_target};

pub(crate) use axes::{AxisMask, AxisNumbers, axis_numbers};
pub(crate) use batch_shape::{
    BatchShape, base_axes, base_size, batch_ndim, batch_result, check_base, check_batches_into, joint_base,
    joint_batch, with_base,
};
pub(crate) use by_name::ByName;
pub(crate) use joint_shape::{
    checked_joint_dim, checked_len, join, joint_dim, joint_error, joint_error_of, joint_ndim, joint_shape,
    joint_size, stretches,
};
pub(crate) use output::{all_stretch_to, output_error};
pub(crate) use place::{
    FOR_ARRAY, FOR_TARGET, OF_TARGET, check_axis_count, check_len, placed_sum_order, placed_sum_target,
    repeats, target_along_axes, target_in_dim,
};
pub(crate) use reduced_axes::{check_sums, reduced_result, reserved, sum_target, too_many_axes};
pub(crate) use signature::{Cores, two_sizes, unknown_symbol};
pub(crate) use target::{
    Placeholder, check_target, leading_target_axes, resolved_dim, sizes_only, stretch_error, target_error,
};

use ndarray::Dimension;

/// The sizes of `dim` as a slice. `slice` is a hidden method of ndarray; the public way, a view, costs a call.
#[inline]
pub(crate) fn sizes<D: Dimension>(dim: &D) -> &[usize] {
    dim.slice()
}

/// The sizes of `dim` as a slice to write.
#[inline]
pub(crate) fn sizes_mut<D: Dimension>(dim: &mut D) -> &mut [usize] {
    dim.slice_mut()
}
