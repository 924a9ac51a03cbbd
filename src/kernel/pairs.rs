//! What becomes of the elements of two arrays of one shape, pair by pair.

use super::each::{advance, innermost};
use super::plan::{Loop, Nest, Walk};
use super::raw::{Source, Target};
use super::simd::{self, Work};
use super::slots::{Filled, Slots};
use core::mem::MaybeUninit;
use ndarray::{ArrayRef, Dimension};

/// Writes `op(a, b)` of each pair of elements.
pub(crate) fn pairs<A: Copy, B: Copy, C: Copy, E: Dimension>(
    a: &ArrayRef<A, E>,
    b: &ArrayRef<B, E>,
    mut out: Slots<'_, C, E>,
    op: impl Fn(A, B) -> C + Copy,
) -> Filled {
    let (nest, pairs) = plan(a, b, &mut out, op);
    if !nest.is_empty() {
        pairs.run(nest.loops(), nest.offsets());
    }
    Filled::all()
}

/// [`pairs`] on several threads.
#[cfg(feature = "rayon")]
pub(crate) fn par_pairs<A: Copy + Sync, B: Copy + Sync, C: Copy + Send, E: Dimension>(
    a: &ArrayRef<A, E>,
    b: &ArrayRef<B, E>,
    mut out: Slots<'_, C, E>,
    op: impl Fn(A, B) -> C + Copy + Sync,
) -> Filled {
    /// The least elements to hand to another thread.
    const GRAIN: usize = 1 << 15;
    let (nest, pairs) = plan(a, b, &mut out, op);
    if !nest.is_empty() {
        super::par::split(nest.loops(), nest.offsets(), GRAIN, &|loops, start| pairs.run(loops, start));
    }
    Filled::all()
}

#[inline(always)]
fn plan<'s, A: Copy, B: Copy, C: Copy, E: Dimension, F>(
    a: &'s ArrayRef<A, E>,
    b: &'s ArrayRef<B, E>,
    out: &'s mut Slots<'_, C, E>,
    op: F,
) -> (Nest<3>, Pairs<'s, A, B, C, F>) {
    let (out, sizes, strides) = out.targets();
    assert!(a.shape() == sizes && b.shape() == sizes, "arrays of one shape");
    let axes = (0..sizes.len())
        .map(|i| Loop { len: sizes[i], strides: [strides[i], a.strides()[i], b.strides()[i]] });
    let nest = Nest::new(axes, |l| l.strides[0].unsigned_abs());
    (nest, Pairs { a: Source::new(a), b: Source::new(b), out, op })
}

/// Three arrays of one shape.
#[derive(Clone, Copy)]
struct Pairs<'s, A, B, C, F> {
    a: Source<'s, A>,
    b: Source<'s, B>,
    out: Target<'s, MaybeUninit<C>>,
    op: F,
}

/// How far the elements of a row of the operands are apart, that of the result's being 1.
const EACH: u8 = 0;
const ONE_A: u8 = 1;
const ONE_B: u8 = 2;
/// Of all three: anything.
const STRIDED: u8 = 3;

impl<A: Copy, B: Copy, C: Copy, F: Fn(A, B) -> C + Copy> Pairs<'_, A, B, C, F> {
    /// `loops` are those of the plan or a part of them.
    #[inline(always)]
    fn run(&self, loops: &[Loop<3>], start: [isize; 3]) {
        let (outer, inner) = innermost(loops);
        match inner.strides {
            [1, 1, 1] => simd::dispatch(Rows::<'_, _, EACH> { pairs: self, inner, outer, start }),
            [1, 0, 1] => simd::dispatch(Rows::<'_, _, ONE_A> { pairs: self, inner, outer, start }),
            [1, 1, 0] => simd::dispatch(Rows::<'_, _, ONE_B> { pairs: self, inner, outer, start }),
            _ => simd::dispatch(Rows::<'_, _, STRIDED> { pairs: self, inner, outer, start }),
        }
    }
}

/// The work, row by row.
struct Rows<'s, P, const KIND: u8> {
    pairs: &'s P,
    inner: Loop<3>,
    outer: &'s [Loop<3>],
    start: [isize; 3],
}

impl<A: Copy, B: Copy, C: Copy, F: Fn(A, B) -> C + Copy, const KIND: u8> Work
    for Rows<'_, Pairs<'_, A, B, C, F>, KIND>
{
    #[inline(always)]
    fn run(self) {
        let (&Pairs { a, b, out, op }, len) = (self.pairs, self.inner.len);
        let (outer, middle) = innermost(self.outer);
        for mut at in Walk::new(outer, self.start) {
            for _ in 0..middle.len {
                let (a, b, out) = (a.moved(at[1]), b.moved(at[2]), out.moved(at[0]));
                // SAFETY: The loops are those of arrays of one shape, as asserted in `plan`: each of their steps is an
                // index of all three, and a row is `len` of them. The result is borrowed exclusively, apart from the
                // operands, and no index comes twice.
                unsafe {
                    match KIND {
                        EACH => row(out.slice(len), a.slice(len), b.slice(len), |x, y| op(*x, *y)),
                        ONE_A => {
                            let x = *a.get();
                            row(out.slice(len), b.slice(len), b.slice(len), |y, _| op(x, *y));
                        }
                        ONE_B => {
                            let y = *b.get();
                            row(out.slice(len), a.slice(len), a.slice(len), |x, _| op(*x, y));
                        }
                        _ => {
                            let [so, sa, sb] = self.inner.strides;
                            for k in 0..len.cast_signed() {
                                let value = op(*a.moved(k * sa).get(), *b.moved(k * sb).get());
                                out.moved(k * so).slot().write(value);
                            }
                        }
                    }
                }
                advance(&mut at, &middle);
            }
        }
    }
}

#[inline(always)]
fn row<A, B, C>(out: &mut [MaybeUninit<C>], a: &[A], b: &[B], op: impl Fn(&A, &B) -> C) {
    for ((slot, x), y) in out.iter_mut().zip(a).zip(b) {
        slot.write(op(x, y));
    }
}
