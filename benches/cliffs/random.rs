//! Shapes, layouts and choices, all from one seed.

use crate::adapter::{Number, broadcast_to};
use ndarray::{ArrayD, ArrayViewD, Axis, Slice};

/// Powers of two and the numbers in the kernel: sizes lie around them.
const SIZES: [usize; 13] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768];

/// A small generator (`SplitMix64`), so that a seed gives the same cases on all machines.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another generator, to be cloned where the same choices are made twice.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from 0 on, below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("less than a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn shuffled(&mut self, ndim: usize) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..ndim).collect();
        for i in (1..ndim).rev() {
            axes.swap(i, self.below(i + 1));
        }
        axes
    }

    /// One to four axes of at most about `most` elements: half of them around a listed size, the others short.
    pub(crate) fn shape(&mut self, least_axes: usize, most: usize) -> Vec<usize> {
        let ndim = least_axes + self.below(5 - least_axes);
        let (mut shape, mut room) = (vec![1; ndim], most);
        for axis in self.shuffled(ndim) {
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
    pub(crate) fn target(&mut self, shape: &[usize]) -> Vec<usize> {
        let summed = self.below(shape.len());
        let keep = |(axis, size): (usize, &usize)| if axis == summed || self.one_in(2) { 1 } else { *size };
        shape.iter().enumerate().map(keep).collect()
    }

    /// A target between `shape` and `target`, if there is one: some of the summed axes are still there.
    pub(crate) fn between(&mut self, shape: &[usize], target: &[usize]) -> Option<Vec<usize>> {
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
    pub(crate) fn operands(&mut self, shape: &[usize], count: usize) -> Vec<Vec<usize>> {
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

/// An array and how a view of it with the wanted shape is made.
pub(crate) struct Operand<T> {
    base: ArrayD<T>,
    order: Vec<usize>,
    step: Option<(usize, isize)>,
    stretched: Option<Vec<usize>>,
}

impl<T: Number> Operand<T> {
    /// In standard layout.
    pub(crate) fn dense(shape: &[usize]) -> Self {
        let mut n = 0_u8;
        let base = ArrayD::from_shape_simple_fn(shape, || {
            n = (n + 37) % 101;
            T::from_u8(n)
        });
        Self { base, order: (0..shape.len()).collect(), step: None, stretched: None }
    }

    /// With its axes stored in reverse order.
    pub(crate) fn transposed(shape: &[usize]) -> Self {
        let stored: Vec<usize> = shape.iter().rev().copied().collect();
        Self { order: (0..shape.len()).rev().collect(), ..Self::dense(&stored) }
    }

    /// Dense, permuted, with gaps along an axis, or backwards.
    pub(crate) fn random(shape: &[usize], random: &mut Random) -> Self {
        if random.one_in(2) {
            return Self::dense(shape);
        }
        let mut stored = shape.to_vec();
        let step = if random.one_in(2) {
            let (axis, step) = (random.below(shape.len()), random.pick(&[2, 2, 3, -1]));
            stored[axis] *= isize::unsigned_abs(step);
            Some((axis, step))
        } else {
            None
        };
        let order = if random.one_in(3) { (0..shape.len()).collect() } else { random.shuffled(shape.len()) };
        let mut permuted = vec![0; shape.len()];
        for (axis, from) in order.iter().enumerate() {
            permuted[*from] = stored[axis];
        }
        Self { order, step, ..Self::dense(&permuted) }
    }

    /// Of any layout, and now and then repeated along an axis or some.
    pub(crate) fn view_of(shape: &[usize], random: &mut Random) -> Self {
        let base: Vec<usize> = shape.iter().map(|size| if random.one_in(6) { 1 } else { *size }).collect();
        Self { stretched: Some(shape.to_vec()), ..Self::random(&base, random) }
    }

    pub(crate) fn view(&self) -> ArrayViewD<'_, T> {
        let mut view = self.base.view().permuted_axes(self.order.clone());
        if let Some((axis, step)) = self.step {
            view.slice_axis_inplace(Axis(axis), Slice::new(0, None, step));
        }
        match &self.stretched {
            None => view,
            Some(shape) => broadcast_to(view, shape),
        }
    }
}
