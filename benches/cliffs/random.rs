//! Shapes, layouts and choices, all from one seed.

use crate::adapter::Number;
pub(crate) use common::{Choices, Random};
use common::{Layout, Spacing, Strided};

/// Powers of two and the numbers in the kernel: sizes lie around them.
const SIZES: [usize; 13] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768];

/// The shapes of a case.
pub(crate) trait Shapes: Choices + Sized {
    /// One to four axes of at most about `most` elements: half of them around a listed size, the others short.
    fn shape(&mut self, least_axes: usize, most: usize) -> Vec<usize> {
        let ndim = least_axes + self.below(5 - least_axes);
        let (mut shape, mut room) = (vec![1; ndim], most);
        for axis in self.order(ndim) {
            let listed = SIZES.iter().take_while(|size| **size <= room).count();
            let size = if listed > 0 && self.one_in(2) {
                let size = SIZES[self.below(listed)];
                match self.below(5) {
                    0 => size - 1,
                    1 => size + 1,
                    2 => size + 1 + self.below(size / 2),
                    3 => size - 1 - self.below(size / 4),
                    _ => size,
                }
            } else {
                1 + self.below(20.min(room))
            };
            shape[axis] = size;
            room = (room / size).max(1);
        }
        shape
    }

    /// `shape` with axes of size 1: each axis is kept once in two times, and at least one is not.
    fn target(&mut self, shape: &[usize]) -> Vec<usize> {
        let summed = self.below(shape.len());
        let keep = |(axis, size): (usize, &usize)| if axis == summed || self.one_in(2) { 1 } else { *size };
        shape.iter().enumerate().map(keep).collect()
    }

    /// A target between `shape` and `target`, if there is one: some of the summed axes are still there.
    fn between(&mut self, shape: &[usize], target: &[usize]) -> Option<Vec<usize>> {
        let summed: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] != target[*axis]).collect();
        let (kept, gone) = (self.pick_axis(&summed)?, self.pick_axis(&summed)?);
        let (kept, gone) =
            if kept == gone { (kept, *summed.iter().find(|axis| **axis != kept)?) } else { (kept, gone) };
        let size = |axis: usize| {
            if axis == kept || axis != gone && self.one_in(2) { shape[axis] } else { target[axis] }
        };
        Some((0..shape.len()).map(size).collect())
    }

    fn pick_axis(&mut self, axes: &[usize]) -> Option<usize> {
        if axes.is_empty() { None } else { Some(self.pick(axes)) }
    }

    /// Shapes of `count` operands that broadcast to `shape`.
    fn operands(&mut self, shape: &[usize], count: usize) -> Vec<Vec<usize>> {
        let mask =
            |random: &mut Self| shape.iter().map(|size| if random.one_in(3) { 1 } else { *size }).collect();
        let mut operands: Vec<Vec<usize>> = (0..count).map(|_| mask(self)).collect();
        for (axis, size) in shape.iter().enumerate() {
            if operands.iter().all(|operand| operand[axis] == 1) {
                let filled = self.below(count);
                operands[filled][axis] = *size;
            }
        }
        operands
    }
}

impl Shapes for Random {}

/// Numbers from 1 to 100 in any layout.
fn numbered<T: Number>(layout: Layout) -> Strided<T> {
    let mut n = 0_u8;
    Strided::new(layout, |_| {
        n = (n + 37) % 101;
        T::from_u8(n)
    })
}

/// In standard layout.
pub(crate) fn dense<T: Number>(shape: &[usize]) -> Strided<T> {
    numbered(Layout::plain(shape))
}

/// With its axes stored in reverse order.
pub(crate) fn transposed<T: Number>(shape: &[usize]) -> Strided<T> {
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    numbered(Layout::ordered(shape, &order))
}

/// Dense, permuted, with gaps along an axis, or backwards.
pub(crate) fn operand<T: Number>(shape: &[usize], random: &mut Random) -> Strided<T> {
    numbered(layout(shape, &vec![false; shape.len()], random))
}

/// Of any layout, and now and then repeated along an axis or some.
pub(crate) fn view<T: Number>(shape: &[usize], random: &mut Random) -> Strided<T> {
    let repeated: Vec<bool> = shape.iter().map(|_| random.one_in(6)).collect();
    numbered(layout(shape, &repeated, random))
}

fn layout(shape: &[usize], repeated: &[bool], random: &mut Random) -> Layout {
    let (mut order, mut gap, mut backwards) = ((0..shape.len()).collect(), None, None);
    if random.one_in(2) {
        let axis = random.below(shape.len());
        match random.below(8) {
            0 => backwards = Some(axis),
            1 => gap = Some((axis, 3)),
            2 | 3 => gap = Some((axis, 2)),
            _ => {}
        }
        if !random.one_in(3) {
            order = random.order(shape.len());
        }
    }
    Layout::spaced(shape, &order, |axis| {
        let step = gap.filter(|gap| gap.0 == axis).map_or(1, |gap| gap.1);
        if repeated[axis] {
            return Spacing { step: 0, ..Spacing::DENSE };
        }
        Spacing { step, after: step - 1, reversed: backwards == Some(axis), ..Spacing::DENSE }
    })
}
