//! Shape algebra: sizes in, sizes out, no arrays.

mod axes;
mod joint;
mod place;
mod target;

pub use axes::{Axes, AxisIndex, AxisSet};
pub use joint::{broadcast_shapes, const_broadcast_shape};
pub use place::reduction_axes;
pub use target::{Size, TargetShape, resolve_target};

pub(crate) use axes::{Members, positions};
pub(crate) use joint::{checked_len, joint_shape, joint_size};
pub(crate) use place::{along_axes, in_dim, repeats, right_aligned};
pub(crate) use target::{Placeholder, resolve};

use ndarray::Dimension;

/// The sizes of `dim` as a slice.
#[inline]
pub(crate) fn sizes<D: Dimension>(dim: &D) -> &[usize] {
    dim.as_array_view().to_slice().expect("a dimension is stored in one piece")
}
