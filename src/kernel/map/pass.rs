//! The pass itself: every element of the output once, with the operands' elements there.

use super::sources::{ANY, Sources, step};
use crate::kernel::plan::{Loop, Walk};
use crate::kernel::raw::Target;
use crate::kernel::simd::Work;

/// Everything a pass needs.
pub(super) struct Pass<'a, T, P, F, const M: usize> {
    loops: &'a [Loop<M>],
    out: Target<'a, T>,
    from: P,
    f: F,
}

impl<'a, T, P, F, const M: usize> Pass<'a, T, P, F, M> {
    /// # Safety
    /// The loops' steps from `out` stay within an array that is borrowed exclusively for `'a`, those from each of
    /// `from` within one that is borrowed.
    #[inline(always)]
    pub(super) unsafe fn new(loops: &'a [Loop<M>], out: Target<'a, T>, from: P, f: F) -> Self {
        Self { loops, out, from, f }
    }
}

impl<T, P, F, const M: usize> Work for Pass<'_, T, P, F, M>
where
    P: Sources<M>,
    F: FnMut(&mut T, P::Items),
{
    #[inline(always)]
    fn run(mut self) {
        let (outer, rows, row) = match *self.loops {
            [ref outer @ .., rows, row] => (outer, rows, row),
            [row] => (&[][..], Loop::ONE, row),
            [] => (&[][..], Loop::ONE, Loop::ONE),
        };
        let mask = mask(&row);
        let mut walk = Walk::new(outer, [0; M]);
        while let Some(at) = walk.next() {
            let plane = Plane { out: self.out.moved(at[0]), from: self.from.moved(at), rows, row };
            plane.choose(mask, &mut self.f);
        }
    }
}

/// The mask of steps that are 0 or 1, the output's 1; else [`ANY`].
#[inline(always)]
fn mask<const M: usize>(row: &Loop<M>) -> u8 {
    let mut mask = 0;
    for (k, &step) in row.strides.iter().enumerate() {
        match step {
            0 => {}
            1 => mask |= 1 << k,
            _ => return ANY,
        }
    }
    if mask & 1 == 1 { mask } else { ANY }
}

/// Whether there is a loop of its own for a mask: for up to 3 operands always, for more where all of them, all but
/// one or only one moves.
const fn worth(mask: u8, m: usize) -> bool {
    let moving = mask.count_ones() as usize;
    (mask as usize) < 1 << m && (m <= 4 || moving == 2 || moving + 1 >= m)
}

/// The two innermost loops.
struct Plane<'a, T, P, const M: usize> {
    out: Target<'a, T>,
    from: P,
    rows: Loop<M>,
    row: Loop<M>,
}

/// Goes through `$plane` by the loop for `$mask`, one of those listed.
macro_rules! by_mask {
    ($mask:ident, $plane:ident, $f:ident; $($MASK:literal)*) => {
        match $mask {
            $($MASK if const { worth($MASK, M) } => $plane.run::<$MASK, 0>($f),)*
            _ => $plane.run::<ANY, 0>($f),
        }
    };
}

impl<T, P: Sources<M>, const M: usize> Plane<'_, T, P, M> {
    /// Goes through the plane by the loop for the steps of its rows, or for their length where that is tiny.
    #[inline(always)]
    fn choose(self, mask: u8, f: &mut impl FnMut(&mut T, P::Items)) {
        match self.row.len {
            2 => return self.run::<ANY, 2>(f),
            3 => return self.run::<ANY, 3>(f),
            4 => return self.run::<ANY, 4>(f),
            _ => {}
        }
        by_mask!(mask, self, f;
            1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55 57 59 61 63
            65 67 69 71 73 75 77 79 81 83 85 87 89 91 93 95 97 99 101 103 105 107 109 111 113 115 117 119
            121 123 125 127);
    }

    /// With a `LEN` other than 0, that is the length of the rows.
    #[inline(always)]
    fn run<const MASK: u8, const LEN: usize>(self, f: &mut impl FnMut(&mut T, P::Items)) {
        let Self { mut out, mut from, rows, row } = self;
        let len = if LEN > 0 { LEN.cast_signed() } else { row.len.cast_signed() };
        for _ in 0..rows.len {
            for i in 0..len {
                // SAFETY: a step of the loops, as `Pass::new` was promised: a mask and a length are those of the row.
                // The slot is the only reference into the output.
                let slot = unsafe { out.slot_at(i * step::<MASK, M>(0, &row.strides)) };
                // SAFETY: as above, elements that are being read.
                f(slot, unsafe { from.items::<MASK>(i, &row.strides) });
            }
            out = out.moved(rows.strides[0]);
            from = from.moved(rows.strides);
        }
    }
}
