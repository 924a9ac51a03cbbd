//! Nests from nests: a part of the loops, other loops over the same indices, or other operands.
//!
//! Each method keeps the invariant of the [parent module](super).

#![forbid(unsafe_code)]

use super::{Elements, Nest, NestFn};
use crate::kernel::ensure;
use crate::kernel::loop_plan::Loops;
use crate::kernel::loops::{Loop, steps};
#[cfg(any(test, feature = "rayon"))]
use alloc::vec::Vec;
use core::marker::PhantomData;

impl<'a, T, E: Elements> Nest<'a, T, E> {
    /// The nest with only `len` steps of loop `place`, from step `from` on. `room` stores its loops.
    fn part_of<'b>(&self, place: usize, from: usize, len: usize, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        let by = room.part(self.loops, place, from, len);
        Nest { loops: room, out: self.out, read: self.read, arrays: PhantomData }.moved_by(&by)
    }

    /// The nest in two parts, with loop `place` cut after `at` steps.
    ///
    /// # Panics
    /// If a part has no steps, or the output does not move along the loop.
    // Rooms on the heap: parts are cut again, and calls within calls would fill the stack of a thread.
    #[cfg(any(test, feature = "rayon"))]
    pub(crate) fn cut<'b>(self, place: usize, at: usize, rooms: &'b mut [Vec<Loop>; 2]) -> [Nest<'b, T, E>; 2]
    where
        'a: 'b,
    {
        let whole = self.loops[place];
        ensure(!whole.is_reduced(), "parts that write different elements");
        ensure(at > 0 && at < whole.len, "a part of the loop");
        let [low, high] = rooms;
        (*low, *high) = (self.loops.to_vec(), self.loops.to_vec());
        (low[place].len, high[place].len) = (at, whole.len - at);
        let part = |loops| Nest { loops, out: self.out, read: self.read, arrays: PhantomData };
        [part(low), part(high).moved_by(&whole.after(at))]
    }

    /// The nest with loop `place` split into two, the inner one with `take` steps. The last steps are left out if `take` does not
    /// divide the length of the loop: a pass that writes a whole array is grouped only where it does.
    ///
    /// # Panics
    /// If the loop has fewer steps, or `take` is 0.
    pub(crate) fn grouped<'b>(self, place: usize, take: usize, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        room.group(self.loops, place, take);
        Nest { loops: room, ..self }
    }

    /// Calls `then` with loop `place` split into chunks of up to `take` steps, and after that with the remaining steps, if
    /// any. The loop over a chunk is as far from the innermost loop as loop `place` was. The output may stay along the loop,
    /// because the two parts do not exist at the same time.
    pub(crate) fn chunked(self, place: usize, take: usize, then: &mut dyn NestFn<T, E>) {
        let len = self.loops[place].len;
        if take >= len {
            return then.call(self);
        }
        let (rest, mut room) = (len % take, Loops::new());
        room.group(self.loops, place, take);
        then.call(Nest { loops: &room, ..self });
        if rest > 0 {
            then.call(self.part_of(place, len - rest, rest, &mut room));
        }
    }

    /// Calls `then` with each `take` steps of loop `place`, and the remaining ones. The parts do not exist at the same time.
    pub(crate) fn each_part(self, place: usize, take: usize, then: &mut dyn NestFn<T, E>) {
        let (len, mut room) = (self.loops[place].len, Loops::new());
        for from in (0..len).step_by(take) {
            then.call(self.part_of(place, from, take.min(len - from), &mut room));
        }
    }

    /// The nest with its loops sorted by their class, 0 outermost and 2 innermost. Loops of one class keep their order.
    pub(crate) fn ordered<'b>(self, class: impl Fn(usize, &Loop) -> u8, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        room.order(self.loops, &class);
        Nest { loops: room, ..self }
    }

    /// The output alone, along the loops in which it moves.
    pub(crate) fn written<'b>(self, room: &'b mut Loops) -> Nest<'b, T, ()>
    where
        'a: 'b,
    {
        room.written(self.loops);
        Nest { loops: room, out: self.out, read: (), arrays: PhantomData }
    }

    /// The inputs, with `tile` as the output: an array in standard layout, whose sizes are those of the loops in `shape`. The
    /// innermost loops run along its axes. A longer loop reduces its axis, which has size 1. So do the other loops.
    ///
    /// # Panics
    /// If the tile has fewer elements than `shape` says, or an axis has another size than 1 and fewer elements than its loop
    /// has steps.
    pub(crate) fn onto<'b, R>(&self, tile: &'b mut [R], shape: &[Loop], room: &'b mut Loops) -> Nest<'b, R, E>
    where
        'a: 'b,
    {
        let (outer, mut width) = (self.loops.len() - shape.len(), 1_usize);
        room.clone_from_slice(self.loops);
        let (outer, inner) = room.split_at_mut(outer);
        for l in outer {
            l.strides[0] = 0;
        }
        for at in (0..shape.len()).rev() {
            let (l, len) = (&mut inner[at], shape[at].len);
            ensure(len == 1 || l.len <= len, "an element of the tile for each index");
            l.strides[0] = if len > 1 { width.cast_signed() } else { 0 };
            width *= len;
        }
        ensure(width <= tile.len(), "room for an element of each index");
        Nest { loops: room, out: tile.as_mut_ptr(), read: self.read, arrays: PhantomData }
    }
}

impl<'a, E: Elements> Nest<'a, (), E> {
    /// The nest with only `len` steps of loop `place`, from step `from` on.
    ///
    /// # Panics
    /// If the loop does not have these steps, or `len` is 0.
    pub(crate) fn part<'b>(
        &self,
        place: usize,
        from: usize,
        len: usize,
        room: &'b mut Loops,
    ) -> Nest<'b, (), E>
    where
        'a: 'b,
    {
        self.part_of(place, from, len, room)
    }
}

impl<'a, T, A> Nest<'a, T, (A,)> {
    /// The same outputs, with copies of the input in standard layout along the loops.
    ///
    /// # Panics
    /// If there are fewer copies than indices.
    pub(crate) fn reading<'b>(self, copies: &'b [A], room: &'b mut Loops) -> Nest<'b, T, (A,)>
    where
        'a: 'b,
    {
        ensure(steps(self.loops) <= copies.len(), "a copy for each index");
        room.clone_from_slice(self.loops);
        room.pack();
        Nest { loops: room, read: (copies.as_ptr(),), ..self }
    }
}

impl<'a, T, A> Nest<'a, T, (A, A)> {
    /// The same products, with batches merged into the rows or columns where possible: see [`Loops::products`].
    pub(crate) fn joined<'b>(&'b mut self, room: &'b mut Loops) -> Nest<'b, T, (A, A)> {
        room.products(self.loops);
        Nest { loops: room, ..*self }
    }

    /// The transposed products: rows and columns are exchanged, and so are the two matrices.
    pub(crate) fn transposed<'b>(self, room: &'b mut Loops) -> Nest<'b, T, (A, A)>
    where
        'a: 'b,
    {
        room.transpose(self.loops);
        Nest { loops: room, read: (self.read.1, self.read.0), ..self }
    }
}
