//! Shape algebra: sizes in, sizes out, no arrays.

mod axes;
mod batch_shape;
mod by_name;
mod equal;
mod explain;
mod joint;
mod less_axes;
mod placed;
mod signature;
mod sizes;
mod stretch;
mod target;

pub use axes::{Axes, AxesOrAll, AxisIndex, AxisSet};
pub use explain::explain;
pub(crate) use joint::JoinDims;
pub use joint::{broadcast_shapes, const_broadcast_shape};
pub use less_axes::{KeepDims, LessAxes, ReducedAxes, keepdims};
pub use signature::{Signature, SignatureShapes};
pub use stretch::{reduction_axes, resolve_target};
pub use target::{Size, TargetShape};

pub(crate) use axes::{AxisMask, FOR_ARRAY, FOR_TARGET, OF_TARGET, axis_numbers, check_axis_count};
pub(crate) use batch_shape::{
    BaseAxis, BatchShape, base_axes, base_size, batch_ndim, check_batches_into, joint_base, joint_batch,
    with_base,
};
pub(crate) use by_name::ByName;
pub(crate) use equal::{check_base, target_along_axes};
pub(crate) use joint::{checked_joint_dim, join, joint_dim, joint_error, joint_error_of};
pub(crate) use less_axes::reduced_dim;
pub(crate) use placed::{placed_sum_order, target_in_dim};
pub(crate) use sizes::{check_len, checked_len, joint_ndim, sizes, sizes_mut};
pub(crate) use stretch::{
    all_stretch_to, check_outputs, check_sums, output_error, repeats, resolved_dim, stretch_error, stretches,
    target_error,
};
pub(crate) use target::{Placeholder, sizes_only};

#[cfg(feature = "partial")]
pub(crate) use {
    axes::Numbers,
    joint::joint_size,
    signature::{Cores, two_sizes, unknown_symbol},
    stretch::{leading_target_axes, too_many_axes},
    target::check_target,
};
