//! Shape algebra: sizes in, sizes out, no arrays.

mod axes;
mod batch_shape;
mod by_name;
mod joint;
mod less_axes;
mod placed;
mod signature;
mod sizes;
mod stretch;
mod target;

pub use axes::{Axes, AxesOrAll, AxisIndex, AxisSet};
pub use joint::{broadcast_shapes, const_broadcast_shape, explain};
pub use less_axes::{KeepDims, LessAxes, ReducedAxes, keepdims};
pub use signature::{Signature, SignatureShapes};
pub use stretch::{reduction_axes, resolve_target};
pub use target::{Size, TargetShape};

// All that these files have for the crate.
pub(crate) use {axes::*, batch_shape::*, by_name::*, joint::*, less_axes::*, placed::*};
pub(crate) use {sizes::*, stretch::*, target::*};

#[cfg(feature = "partial")]
pub(crate) use signature::*;
