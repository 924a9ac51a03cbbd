//! Loops, and what they need to know of operands. See the invariant of the [folder](super).

use crate::kernel::memory::List;
use core::iter::from_fn;

/// The most operands: an output and six inputs.
pub(crate) const OPERANDS: usize = 7;

/// The most elements of rows that are visited, and of a source that is reduced, without arranging a nest. Measured on Zen 4: for so
/// few, the order of the loops costs less than the 50 ns of arranging them.
pub(crate) const SMALL_NEST: usize = 4096;
/// The most elements that are visited or combined one by one where there is no row loop. For more, operands are copied. Measured
/// on 2026-11-26 with `cliffs`, for closures of one to forty operations: 32 to 64 take about as long.
pub(crate) const ONE_BY_ONE: usize = 64;

/// A loop: its number of steps, and the bytes that each operand moves at a step.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) len: usize,
    /// Whether the output moves along the loop; otherwise the loop is reduced.
    pub(crate) kept: bool,
    pub(crate) strides: [isize; OPERANDS],
}

impl Loop {
    pub(super) const ONE_STEP: Self = Self { len: 1, kept: false, strides: [0; OPERANDS] };

    /// The length of each part when the loop is split into the fewest parts of at most `most` steps. The last part may be
    /// shorter. Parts are whole vectors, unless the last one would then be shorter than a vector.
    #[inline(never)]
    pub(crate) fn part(&self, most: usize) -> usize {
        if self.len <= most {
            return self.len;
        }
        let vector = if most < NARROW { 1 } else { NARROW };
        let parts = self.len.div_ceil((most / vector * vector).max(1));
        let equal = self.len.div_ceil(parts);
        let whole = equal.next_multiple_of(vector);
        if (1..vector).contains(&(self.len % whole)) { equal } else { whole }
    }

    /// Whether a copy of operand `k` has these steps: those along which it stays are only in a copy that is `whole`.
    pub(super) fn is_copied(&self, k: usize, whole: bool) -> bool {
        whole || self.strides[k] != 0
    }

    /// The inputs, `count` of them, that neither stay nor are contiguous along the loop. `sizes` are the bytes of elements.
    #[inline(never)]
    pub(super) fn gaps(&self, sizes: &[usize; OPERANDS], count: usize) -> InputSet {
        InputSet::of(count, |k| ![0, sizes[k].cast_signed()].contains(&self.strides[k]))
    }

    /// Whether a step is as long as all of `inner`, in the first `count` operands.
    #[inline]
    pub(super) fn continues(&self, inner: &Self, count: usize) -> bool {
        (0..count).all(|k| self.strides[k] == inner.strides[k].wrapping_mul(inner.len.cast_signed()))
    }

    /// The pointers after some steps of the output and of the inputs.
    #[inline(never)]
    pub(super) fn moved(&self, at: &Pointers, [output, input]: [usize; 2]) -> Pointers {
        let mut moved = *at;
        for (k, at) in moved.iter_mut().enumerate() {
            let steps = if k == 0 { output } else { input };
            *at = at.wrapping_offset(self.strides[k].wrapping_mul(steps.cast_signed()));
        }
        moved
    }
}

/// The loops of a nest, outermost first. Few nests have more than 8.
pub(crate) type Loops = List<Loop, 8>;
/// A number of steps for each loop.
pub(crate) type Steps = List<usize, 8>;

/// The strides of several steps as one.
pub(super) fn scaled(strides: &[isize; OPERANDS], steps: usize) -> [isize; OPERANDS] {
    // past the last step, an offset may exceed `isize`: it is not followed
    strides.map(|stride| stride.wrapping_mul(steps.cast_signed()))
}

/// The number of indices of loops. It may exceed `usize` for views that repeat elements.
#[inline]
pub(crate) fn indices(loops: &[Loop]) -> usize {
    loops.iter().fold(1, |count, l| count.saturating_mul(l.len))
}

/// Whether each half of the loops has at least `grain` indices.
pub(crate) fn is_worth_halving(loops: &[Loop], grain: usize) -> bool {
    indices(loops) / 2 >= grain
}

/// A set of inputs. Operand `k` is bit `k - 1`.
///
/// Not exported; public because `Elements` takes one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InputSet(pub(super) u8);

impl InputSet {
    pub(crate) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(u8::MAX);

    #[inline(always)]
    pub(super) const fn contains(self, k: usize) -> bool {
        self.0 >> (k - 1) & 1 == 1
    }

    #[inline(always)]
    pub(crate) fn operands(self) -> impl Iterator<Item = usize> {
        // bit by bit: LLVM would unroll a loop over all operands
        let mut left = self.0;
        from_fn(move || {
            let k = left.trailing_zeros() as usize + 1;
            (left != 0).then(|| (left &= left - 1, k).1)
        })
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, k: usize) {
        self.0 |= 1 << (k - 1);
    }

    /// The inputs up to operand `last` for which `is_in` holds.
    #[inline(always)]
    pub(super) fn of(last: usize, is_in: impl Fn(usize) -> bool) -> Self {
        (1..=last).fold(Self::NONE, |set, k| Self(set.0 | u8::from(is_in(k)) << (k - 1)))
    }
}

/// A pointer for each operand.
pub(super) type Pointers = [*mut u8; OPERANDS];

/// The neighbours of a panel. Measured with `by_hand` on a Xeon: 16 take up to 1.3 times as long (2026-11-26), 8 up to 1.5 times
/// (2026-11-27), and 64 are no longer kept in registers.
pub(crate) const WIDE: usize = 32;
/// The neighbours of a panel where no wide one fits.
pub(crate) const NARROW: usize = 8;
/// The most panels of a lane that are added before the accumulators are folded, and the most groups of rows that are added. Both
/// keep the error small.
pub(crate) const ROUNDS: usize = 32;
/// The most rows of a group, which are added in registers. L1 has 8 ways on Zen 4, where more rows that are 4 KiB apart take up to 2.7
/// times as long (sums of 1024x1024 over 0, 2026-11-27).
pub(crate) const GROUP_ROWS: usize = 16;
/// The most rows that are added to one sum.
pub(crate) const MAX_ROWS: usize = ROUNDS * GROUP_ROWS;

/// Facts about the elements of inputs that the untyped parts of the kernel need.
///
/// Not exported; public because `Elements` has one.
pub struct ElementInfo {
    /// The number of inputs.
    pub(super) count: usize,
    /// The bytes of an element of each operand; 0 for the output.
    pub(super) sizes: [usize; OPERANDS],
    /// The sets of inputs for which `Elements::row` has a loop of its own, along which these move and the others stay.
    pub(super) row_loops: &'static [InputSet],
    /// The inputs whose elements are plain numbers.
    pub(super) plain: fn() -> InputSet,
    /// Copies the elements of each input, if they are plain numbers: those of operand `k` by the function at `k - 1`.
    pub(super) gathers: &'static [Gather],
}

impl ElementInfo {
    /// Whether there is a row loop along which these inputs move and the others stay: of none, of those with a loop of their own, and of
    /// any if those that stay are plain numbers, which are repeated.
    #[inline]
    pub(super) fn has_row(&self, moving: InputSet) -> bool {
        let stays = !moving.0 & !(u8::MAX << self.count);
        moving == InputSet::NONE || self.row_loops.contains(&moving) || stays & !(self.plain)().0 == 0
    }

    /// The facts about no inputs.
    pub(super) const NONE: Self =
        Self { count: 0, sizes: [0; OPERANDS], row_loops: &[], plain: || InputSet::NONE, gathers: &[] };
}

/// A copy of plain numbers of one size, to operand 0 from operand 1. A program has the functions for the sizes of its own elements.
pub(super) type Gather = unsafe fn(&[Loop], *const u8, *mut u8);

/// Whether the elements of operand `k` are contiguous in the order of the loops.
#[inline]
pub(crate) fn is_dense(loops: &[Loop], k: usize, size: usize) -> bool {
    let mut width = size.cast_signed();
    for l in loops.iter().rev() {
        if l.strides[k] != width {
            return false;
        }
        // does not overflow: the elements so far are contiguous in an array
        width *= l.len.cast_signed();
    }
    true
}

/// Sorts loops by a key. A few are sorted sooner than by the functions of `core`, which are ten times as much code.
pub(super) fn sort_by<K: Ord>(loops: &mut [Loop], key: impl Fn(&Loop) -> K) {
    for at in 1..loops.len() {
        let place = loops[..at].partition_point(|l| key(l) <= key(&loops[at]));
        loops[place..=at].rotate_right(1);
    }
}
