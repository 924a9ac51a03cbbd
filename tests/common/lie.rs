//! Layouts by name.

use crate::strided::{Layout, Spacing, Strided};
use ndarray::ArrayD;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Without gaps, the last axis innermost.
    C,
    /// Without gaps, the first axis innermost.
    F,
    /// Without gaps, the first axis innermost and the others in C order.
    Turned,
    /// Gaps after every turn of the last axis.
    Rows,
    /// Gaps after every turn of the last axis, and the first axis backwards.
    Gap,
    /// Every second element of the last axis.
    Second,
    /// Every third of each axis, all backwards.
    ThirdReversed,
    /// The last axis backwards alone.
    Reversed,
    /// The first axis repeated.
    Repeated,
}

impl Lie {
    /// The layout of a shape.
    pub fn layout(self, shape: &[usize]) -> Layout {
        let last = shape.len().saturating_sub(1);
        let mut order: Vec<usize> = (0..shape.len()).collect();
        match self {
            Lie::F => order.reverse(),
            Lie::Turned if last > 0 => order.rotate_left(1),
            _ => {}
        }
        let spacing = |axis: usize| match self {
            Lie::Rows if axis == last => Spacing { before: 1, ..Spacing::DENSE },
            Lie::Gap if axis == last => Spacing { after: 1, reversed: last == 0, ..Spacing::DENSE },
            Lie::Gap if axis == 0 => Spacing { reversed: true, ..Spacing::DENSE },
            Lie::Second if axis == last => Spacing { step: 2, after: 1, ..Spacing::DENSE },
            Lie::ThirdReversed => Spacing { step: 3, before: 2, reversed: true, ..Spacing::DENSE },
            Lie::Reversed if axis == last => Spacing { reversed: true, ..Spacing::DENSE },
            Lie::Repeated if axis == 0 => Spacing { step: 0, ..Spacing::DENSE },
            _ => Spacing::DENSE,
        };
        Layout::spaced(shape, &order, spacing)
    }

    /// An array of this shape that lies in this way. `of(i)` is the element at place `i` in memory, from 1 on.
    pub fn strided<A>(self, shape: &[usize], mut of: impl FnMut(usize) -> A) -> Strided<A> {
        Strided::new(self.layout(shape).for_copies(), |place| of(place + 1))
    }

    /// As [`strided`](Self::strided), an array of its own, which is not repeated.
    pub fn array<A>(self, shape: &[usize], of: impl FnMut(usize) -> A) -> ArrayD<A> {
        assert_ne!(self, Lie::Repeated, "an array of its own");
        self.strided(shape, of).into_array()
    }
}
