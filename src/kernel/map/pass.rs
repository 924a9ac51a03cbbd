//! The pass itself: every element of the output once, with the operands' elements there.

use super::sources::{ANY, Inputs, Layout, Sources};
#[cfg(feature = "rayon")]
use crate::kernel::par::split;
use crate::kernel::plan::{Loop, Nest, Walk};
use crate::kernel::raw::Target;
use crate::kernel::simd::{self, Work};
use ndarray::{ArrayRef, Dimension};

/// What a pass goes through.
///
/// Invariant: the loops' steps from `out` stay within an array that is borrowed exclusively for `'a`, those from each of
/// `from` within one that is borrowed. If [`par_run`](Self::par_run) is called, no two steps come to the same element.
pub(super) struct Pass<'a, T, P, const M: usize> {
    loops: &'a [Loop<M>],
    out: Target<'a, T>,
    from: P,
}

impl<'a, T, P: Sources<M>, const M: usize> Pass<'a, T, P, M> {
    /// A pass that visits every element of `out`, with the inputs' elements there. `None` where there is none.
    ///
    /// The loops' strides are those within `out` and, where an input has that axis with that size, within the input,
    /// else 0.
    ///
    /// # Panics
    /// Where an input does not go to the shape of `out`.
    #[inline(always)]
    pub(super) fn plan<E: Dimension>(
        nest: &'a mut Nest<M>,
        out: &'a mut ArrayRef<T, E>,
        inputs: &Inputs<'_, P, M>,
    ) -> Option<Self> {
        inputs.assert_ndim(out.ndim());
        let layout = Layout::of(out);
        let axes = (0..out.ndim()).map(|axis| {
            let (from_end, len) = (out.ndim() - 1 - axis, layout.size(axis));
            let mut strides = inputs.strides(from_end, len);
            strides[0] = layout.stride(from_end, len);
            Loop { len, strides }
        });
        nest.plan(axes, |l| l.strides[0].unsigned_abs());
        let at = nest.offsets();
        (!nest.is_empty()).then(|| Self {
            loops: nest.loops(),
            out: Target::new(out).moved(at[0]),
            from: inputs.start().moved(at),
        })
    }

    /// # Safety
    /// The invariant.
    #[inline(always)]
    pub(super) unsafe fn new(loops: &'a [Loop<M>], out: Target<'a, T>, from: P) -> Self {
        Self { loops, out, from }
    }

    /// Has `f` visit the elements, in whatever order.
    #[inline(always)]
    pub(super) fn run(self, f: impl FnMut(&mut T, P::Items)) {
        simd::dispatch(Visits { pass: self, f });
    }

    /// [`run`](Self::run) on several threads: parts of at least `grain` elements.
    #[cfg(feature = "rayon")]
    pub(super) fn par_run(self, grain: usize, f: impl Fn(&mut T, P::Items) + Sync)
    where
        T: Send,
        P: Sync,
    {
        let Self { loops, out, from } = self;
        split(loops, [0; M], grain, &|loops, at| {
            let part = Pass { loops, out: out.moved(at[0]), from: from.moved(at) };
            part.run(|slot: &mut T, items| f(slot, items));
        });
    }
}

/// A pass and what is to visit the elements.
struct Visits<'a, T, P, F, const M: usize> {
    pass: Pass<'a, T, P, M>,
    f: F,
}

impl<T, P, F, const M: usize> Work for Visits<'_, T, P, F, M>
where
    P: Sources<M>,
    F: FnMut(&mut T, P::Items),
{
    #[inline(always)]
    fn run(mut self) {
        let Pass { loops, out, from } = self.pass;
        let (outer, inner) = loops.split_at(loops.len().saturating_sub(3));
        for at in Walk::new(outer, [0; M]) {
            // Looked at anew for each block: else what all of the loops below need is worked out before the first.
            let (planes, rows, row) = match *inner {
                [planes, rows, row] => (planes, rows, row),
                [rows, row] => (Loop::ONE, rows, row),
                [row] => (Loop::ONE, Loop::ONE, row),
                _ => (Loop::ONE, Loop::ONE, Loop { strides: [1; M], ..Loop::ONE }),
            };
            let (out, from) = (out.moved(at[0]), from.moved(at));
            Block { out, from, planes, rows, row }.choose(&mut self.f);
        }
    }
}

/// The mask of a row's steps if the output's is 1: each 0 or 1, else [`ANY`]. `None` if the output's is not 1.
#[inline(always)]
fn mask<const M: usize>(row: &Loop<M>) -> Option<u8> {
    let steps = row.strides;
    if steps[0] != 1 {
        return None;
    }
    if steps.iter().any(|&step| step & !1 != 0) {
        return Some(ANY);
    }
    Some(steps.iter().enumerate().fold(0, |mask, (k, &step)| if step == 1 { mask | 1 << k } else { mask }))
}

/// Whether there is a loop of its own for a mask: for up to 3 operands always, for more where all of them, all but
/// one or only one moves.
const fn worth(mask: u8, m: usize) -> bool {
    let moving = mask.count_ones() as usize;
    (mask as usize) < 1 << m && (m <= 4 || moving == 2 || moving + 1 >= m)
}

/// The three innermost loops.
struct Block<'a, T, P, const M: usize> {
    out: Target<'a, T>,
    from: P,
    planes: Loop<M>,
    rows: Loop<M>,
    row: Loop<M>,
}

/// Goes through `$block` by the loop for `$mask`, one of those listed.
macro_rules! by_mask {
    ($mask:ident, $block:ident, $f:ident; $($MASK:literal)*) => {
        match $mask {
            $($MASK if const { worth($MASK, M) } => {
                if const { M <= 3 } && $block.row.len == 8 {
                    $block.rows::<$MASK, 8>($f);
                } else {
                    $block.rows::<$MASK, 0>($f);
                }
            })*
            _ => $block.rows::<ANY, 0>($f),
        }
    };
}

/// The two outer loops of a block; a macro, as a closure might not be compiled for the caller's CPU features.
macro_rules! for_each_row {
    ($block:ident, $out:ident, $from:ident => $body:block) => {
        let (mut plane_out, mut plane_from) = ($block.out, $block.from);
        for _ in 0..$block.planes.len {
            let (mut $out, mut $from) = (plane_out, plane_from);
            for _ in 0..$block.rows.len {
                $body
                $out = $out.moved($block.rows.strides[0]);
                $from = $from.moved($block.rows.strides);
            }
            plane_out = plane_out.moved($block.planes.strides[0]);
            plane_from = plane_from.moved($block.planes.strides);
        }
    };
}

impl<T, P: Sources<M>, const M: usize> Block<'_, T, P, M> {
    /// Goes through the block by the loop for the steps of its rows, or for their length where that is tiny.
    #[inline(always)]
    fn choose(self, f: &mut impl FnMut(&mut T, P::Items)) {
        let Some(mask) = mask(&self.row) else { return self.apart(f) };
        match self.row.len {
            2 => return self.tiny::<2>(f),
            3 => return self.tiny::<3>(f),
            4 => return self.tiny::<4>(f),
            _ => {}
        }
        by_mask!(mask, self, f;
            1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55 57 59 61 63
            65 67 69 71 73 75 77 79 81 83 85 87 89 91 93 95 97 99 101 103 105 107 109 111 113 115 117 119
            121 123 125 127);
    }

    /// With the output's step 1 and rows of length `LEN`.
    #[inline(always)]
    fn tiny<const LEN: usize>(self, f: &mut impl FnMut(&mut T, P::Items)) {
        let (dense, still) =
            (self.rows.strides[0] == LEN.cast_signed(), self.rows.strides[1..].iter().all(|&s| s == 0));
        if M > 2 || !dense || !still {
            return self.rows::<ANY, LEN>(f);
        }
        let rows = Loop::ONE;
        let block = Block { rows, ..self };
        for_each_row!(block, out, from => {
            // SAFETY: rows of the loops, as the pass has them, of step 1 and one after the other, as was looked
            // at. It is the only reference into the output.
            let slots = unsafe { out.slice(self.rows.len * LEN) };
            // SAFETY: as above, elements that are being read, the same ones for each row.
            unsafe { from.same::<LEN, T>(slots, &self.row.strides, f) };
        });
    }

    /// With the output's step 1, the steps those of the mask, and with a `LEN` other than 0 rows of that length.
    #[inline(always)]
    fn rows<const MASK: u8, const LEN: usize>(self, f: &mut impl FnMut(&mut T, P::Items)) {
        let len = if LEN > 0 { LEN } else { self.row.len };
        for_each_row!(self, out, from => {
            // SAFETY: a row of the loops, as the pass has them, of step 1 as was looked at. It is the only
            // reference into the output.
            let slots = unsafe { out.slice(len) };
            let steps = &self.row.strides;
            // SAFETY: as above, elements that are being read; their steps are those of the mask.
            unsafe {
                match <&mut [T; LEN]>::try_from(&mut *slots) {
                    Ok(slots) if LEN > 0 => from.tiny::<MASK, LEN, T>(slots, steps, f),
                    _ => from.row::<MASK, T>(slots, steps, f),
                }
            }
        });
    }

    /// With any steps.
    #[inline(always)]
    fn apart(self, f: &mut impl FnMut(&mut T, P::Items)) {
        let steps = self.row.strides;
        for_each_row!(self, out, from => {
            for i in 0..self.row.len.cast_signed() {
                // SAFETY: a step of the loops, as the pass has them. It is the only reference into the output.
                let slot = unsafe { out.slot_at(i * steps[0]) };
                // SAFETY: as above, elements that are being read.
                f(slot, unsafe { from.items::<ANY>(i, &steps) });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask_of<const M: usize>(strides: [isize; M]) -> Option<u8> {
        mask(&Loop { len: 9, strides })
    }

    #[test]
    fn steps_of_0_and_1_have_a_mask() {
        assert_eq!(mask_of([1, 1]), Some(0b11));
        assert_eq!(mask_of([1, 0]), Some(0b01));
        assert_eq!(mask_of([1, 0, 1, 1]), Some(0b1101));
        assert_eq!(mask_of([1, 1, 2]), Some(ANY));
        assert_eq!(mask_of([1, -1, 0]), Some(ANY));
        assert_eq!([mask_of([2, 1]), mask_of([-1, 1]), mask_of([0, 1])], [None; 3]);
    }

    #[test]
    fn which_masks_have_a_loop() {
        let those =
            |m: usize| (1..ANY).step_by(2).filter(|&mask| worth(mask, m)).collect::<alloc::vec::Vec<_>>();
        assert_eq!(those(2), [0b01, 0b11]);
        assert_eq!(those(3), [0b001, 0b011, 0b101, 0b111]);
        assert_eq!(those(4), [1, 3, 5, 7, 9, 11, 13, 15]);
        let two = [0b11, 0b101, 0b1001, 0b1_0001];
        let four = [0b1111, 0b1_0111, 0b1_1011, 0b1_1101, 0b1_1111];
        assert_eq!(those(5).len(), two.len() + four.len());
        assert!(two.iter().chain(&four).all(|&mask| worth(mask, 5)));
        assert_eq!(those(7).iter().filter(|mask| mask.count_ones() == 2).count(), 6);
        assert_eq!(those(7).iter().map(|mask| mask.count_ones()).min(), Some(2));
        assert_eq!(those(7).len(), 6 + 6 + 1);
    }
}
