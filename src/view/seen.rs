//! How the operands of a reduction are read: as they are, or in an order of axes.

use crate::shape::sizes_mut;
use ndarray::{ArrayRef, ArrayView, Dimension};

/// The joint shape of the operands of a reduction, and the order in which its axes are read.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Seen<'a, D> {
    joint: &'a D,
    order: Option<&'a D>,
}

impl<'a, D: Dimension> Seen<'a, D> {
    /// As they are.
    #[inline]
    pub(crate) fn whole(joint: &'a D) -> Self {
        Self { joint, order: None }
    }

    /// With axis `order[i]` of the joint shape as axis `i`.
    pub(crate) fn in_order(joint: &'a D, order: &'a D) -> Self {
        Self { joint, order: Some(order) }
    }

    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.order.is_none()
    }

    /// The shape that is read.
    #[inline]
    pub(crate) fn shape(&self) -> D {
        let mut shape = self.joint.clone();
        if let Some(order) = self.order {
            for (axis, size) in sizes_mut(&mut shape).iter_mut().enumerate() {
                *size = self.joint[order[axis]];
            }
        }
        shape
    }

    /// The view of an operand, stretched to the joint shape, that is read.
    ///
    /// # Panics
    /// If it does not stretch to that shape.
    pub(crate) fn view<'s, A, E: Dimension>(&self, operand: &'s ArrayRef<A, E>) -> ArrayView<'s, A, D> {
        let view = operand.broadcast(self.joint.clone()).expect("operands stretch to their joint shape");
        match self.order {
            Some(order) => view.permuted_axes(order.clone()),
            None => view,
        }
    }
}
