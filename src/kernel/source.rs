//! What is reduced: an array, or the results of a closure over arrays, which are never stored.
//!
//! A source fills blocks. An array does so where it lies, or by a copy; the results of a closure are a map to the block.

#![forbid(unsafe_code)]

use super::map::fill_nest;
use super::memory::Buffer;
use super::nest::{Adjacent, Elements, Inputs, Make, Peek, Raw, Reads, Types, Visit, steps};

/// What is reduced. `A` are its elements.
pub(crate) trait Source<A>: Copy {
    type Elems: Elements;

    fn inputs(&self) -> &Inputs<'_, Self::Elems>;

    /// The shape, to which the inputs are broadcast.
    fn shape(&self) -> &[usize];

    /// The elements, if they lie in the order of the shape.
    fn as_slice(&self) -> Option<&[A]>;

    /// What fills the blocks of a nest over the inputs.
    fn fill<'b>(&self, types: Types<'b, (), Self::Elems>) -> impl Fill<'b, A>;
}

/// Gives the elements of blocks of the nest with the brand `'b`.
pub(crate) trait Fill<'b, A> {
    /// The elements of a block in the order of its loops, if they lie so.
    fn in_place(&self, block: &Peek<'_, 'b>) -> Option<Adjacent<'b, A>>;

    /// The elements of a block in the order of its loops, in a buffer.
    fn buffered<'x>(&mut self, block: Raw<'_, 'b, Reads>, buffer: &'x mut Buffer<A>) -> &'x [A];

    /// Calls `then` with each element.
    fn for_each(&mut self, block: Raw<'_, 'b, Reads>, then: &mut dyn FnMut(A));

    /// Whether elements are in place for some blocks.
    fn is_stored(&self) -> bool;
}

/// The elements of an array.
pub(crate) struct Stored<'a, A>(Inputs<'a, (A,)>);

impl<A> Clone for Stored<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Stored<'_, A> {}

impl<'a, A> Stored<'a, A> {
    #[inline(always)]
    pub(crate) fn of<D: ndarray::Dimension>(array: &'a ndarray::ArrayRef<A, D>) -> Self {
        Self(Inputs::from((array,)))
    }
}

impl<A: Clone> Source<A> for Stored<'_, A> {
    type Elems = (A,);

    #[inline(always)]
    fn inputs(&self) -> &Inputs<'_, (A,)> {
        &self.0
    }

    #[inline(always)]
    fn shape(&self) -> &[usize] {
        self.0.shapes()[0]
    }

    #[inline(always)]
    fn as_slice(&self) -> Option<&[A]> {
        self.0.as_slice()
    }

    #[inline(always)]
    fn fill<'b>(&self, types: Types<'b, (), (A,)>) -> impl Fill<'b, A> {
        types
    }
}

impl<'b, A: Clone> Fill<'b, A> for Types<'b, (), (A,)> {
    fn in_place(&self, block: &Peek<'_, 'b>) -> Option<Adjacent<'b, A>> {
        self.adjacent(block)
    }

    fn buffered<'x>(&mut self, block: Raw<'_, 'b, Reads>, buffer: &'x mut Buffer<A>) -> &'x [A] {
        buffer.filled(steps(block.loops()), |slots| match self.copy(&block, slots) {
            Some(written) => written,
            None => fill_nest(self.onto(block, slots), false, &mut |rows| rows.fill(&mut Cloned)),
        })
    }

    fn for_each(&mut self, block: Raw<'_, 'b, Reads>, then: &mut dyn FnMut(A)) {
        self.for_each_input(block, &mut Then(&mut Cloned, then));
    }

    fn is_stored(&self) -> bool {
        true
    }
}

/// Makes a clone of the one element at an index: so a copy is a map.
pub(crate) struct Cloned;

impl<A: Clone> Make<A, (A,)> for Cloned {
    #[inline(always)]
    fn make(&mut self, (element,): (&A,)) -> A {
        element.clone()
    }
}

impl<A: Clone> Visit<A, (A,)> for Cloned {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (element,): (&A,)) {
        *out = element.clone();
    }
}

/// Hands on what is made.
struct Then<'f, 't, M, A>(&'f mut M, &'t mut dyn FnMut(A));

impl<A, E: Elements, M: Make<A, E>> Make<(), E> for Then<'_, '_, M, A> {
    fn make(&mut self, items: E::Refs<'_>) {
        (self.1)(self.0.make(items));
    }
}

/// The results of a closure over arrays.
pub(crate) struct Fused<'a, E: Elements, M> {
    pub(crate) inputs: Inputs<'a, E>,
    /// The shape to which the inputs are broadcast.
    pub(crate) shape: &'a [usize],
    pub(crate) make: M,
}

impl<E: Elements, M: Copy> Clone for Fused<'_, E, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements, M: Copy> Copy for Fused<'_, E, M> {}

impl<A, E: Elements, M: Make<A, E> + Copy> Source<A> for Fused<'_, E, M> {
    type Elems = E;

    fn inputs(&self) -> &Inputs<'_, E> {
        &self.inputs
    }

    fn shape(&self) -> &[usize] {
        self.shape
    }

    fn as_slice(&self) -> Option<&[A]> {
        None
    }

    fn fill<'b>(&self, types: Types<'b, (), E>) -> impl Fill<'b, A> {
        FillFused { types, make: self.make }
    }
}

struct FillFused<'b, E, M> {
    types: Types<'b, (), E>,
    make: M,
}

impl<'b, A, E: Elements, M: Make<A, E>> Fill<'b, A> for FillFused<'b, E, M> {
    fn in_place(&self, _: &Peek<'_, 'b>) -> Option<Adjacent<'b, A>> {
        None
    }

    fn buffered<'x>(&mut self, block: Raw<'_, 'b, Reads>, buffer: &'x mut Buffer<A>) -> &'x [A] {
        buffer.filled(steps(block.loops()), |slots| {
            fill_nest(self.types.onto(block, slots), false, &mut |rows| rows.fill(&mut self.make))
        })
    }

    fn for_each(&mut self, block: Raw<'_, 'b, Reads>, then: &mut dyn FnMut(A)) {
        self.types.for_each_input(block, &mut Then(&mut self.make, then));
    }

    fn is_stored(&self) -> bool {
        false
    }
}
