//! How the operands of a reduction are read: as they are, or in an order of axes, or only the first of each lane.

use crate::kernel::strided::AxisSelection;
use crate::shape::{AxisMask, sizes_mut};
use ndarray::{ArrayRef, ArrayView, Axis, Dimension};

/// The joint shape of the operands of a reduction, and how they are read.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Seen<'a, D> {
    joint: &'a D,
    how: How<'a, D>,
}

enum How<'a, D> {
    Whole,
    InOrder(&'a D),
    Firsts(&'a AxisMask),
}

impl<'a, D: Dimension> Seen<'a, D> {
    /// As they are.
    #[inline]
    pub(crate) fn whole(joint: &'a D) -> Self {
        Self { joint, how: How::Whole }
    }

    /// With axis `order[i]` of the joint shape as axis `i`.
    pub(crate) fn in_order(joint: &'a D, order: &'a D) -> Self {
        Self { joint, how: How::InOrder(order) }
    }

    /// Only at index zero of these axes, which have size 1 then.
    pub(crate) fn firsts(joint: &'a D, axes: &'a AxisMask) -> Self {
        Self { joint, how: How::Firsts(axes) }
    }

    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.how, How::Whole)
    }

    /// The shape that is read.
    #[inline]
    pub(crate) fn shape(&self) -> D {
        let mut shape = self.joint.clone();
        for (axis, size) in sizes_mut(&mut shape).iter_mut().enumerate() {
            match self.how {
                How::Whole => {}
                How::InOrder(order) => *size = self.joint[order[axis]],
                How::Firsts(axes) if axes.contains(axis) => *size = 1,
                How::Firsts(_) => {}
            }
        }
        shape
    }

    /// The view of an operand, stretched to the joint shape, that is read.
    ///
    /// # Panics
    /// If it does not stretch to that shape, or if the first of no elements is asked for.
    pub(crate) fn view<'s, A, E: Dimension>(&self, operand: &'s ArrayRef<A, E>) -> ArrayView<'s, A, D> {
        let mut view = operand.broadcast(self.joint.clone()).expect("operands stretch to their joint shape");
        match self.how {
            How::Whole => view,
            How::InOrder(order) => view.permuted_axes(order.clone()),
            How::Firsts(axes) => {
                for axis in (0..self.joint.ndim()).filter(|&axis| axes.contains(axis)) {
                    view.collapse_axis(Axis(axis), 0);
                }
                view
            }
        }
    }
}
