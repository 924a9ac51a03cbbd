//! What is reduced: an array, or the results of a closure over arrays, which are never stored.
//!
//! A source fills blocks. An array does so where it lies, or by a copy; the results of a closure are a map to the block.

#![forbid(unsafe_code)]

use super::map::fill_nest;
use super::memory::{Buffer, Slot};
use super::nest::{Adjacent, Elements, Inputs, Make, Raw, Rows, Types, Visit, Written, steps};

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
    fn in_place(&self, block: &Raw<'_, 'b>) -> Option<Adjacent<'b, A>>;

    /// The elements of a block in the order of its loops, in a buffer.
    fn buffered<'x>(&mut self, block: Raw<'_, 'b>, buffer: &'x mut Buffer<A>) -> &'x [A];

    /// Calls `then` with each element.
    fn for_each(&mut self, block: Raw<'_, 'b>, then: &mut dyn FnMut(A));

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
    fn in_place(&self, block: &Raw<'_, 'b>) -> Option<Adjacent<'b, A>> {
        self.adjacent(block)
    }

    fn buffered<'x>(&mut self, block: Raw<'_, 'b>, buffer: &'x mut Buffer<A>) -> &'x [A] {
        buffer.filled(steps(block.loops()), |slots| match self.copy(&block, slots) {
            Ok(written) => written,
            Err(slots) => fill_nest(self.onto(block, slots), false, &mut |rows| rows.fill(&mut Cloned)),
        })
    }

    fn for_each(&mut self, block: Raw<'_, 'b>, then: &mut dyn FnMut(A)) {
        self.for_each_input(block, &mut Then(&Cloned, then));
    }

    fn is_stored(&self) -> bool {
        true
    }
}

/// Makes a clone of the one element at an index: so a copy is a map.
#[derive(Clone, Copy)]
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
struct Then<'f, 't, R: ?Sized, A>(&'f R, &'t mut dyn FnMut(A));

impl<A, E: Elements, R: Results<A, E> + ?Sized> Make<(), E> for Then<'_, '_, R, A> {
    fn make(&mut self, items: E::Refs<'_>) {
        (self.1)(self.0.of(items));
    }
}

/// What writes the results of a closure to rows. `dyn`, so that reductions are compiled once for all closures.
pub(crate) trait Results<A, E: Elements> {
    /// Writes a result for each element of the rows.
    fn fill<'s>(&self, rows: Rows<'_, Slot<'s, A>, E>) -> Written<'s>;

    /// The result of one element of each input.
    fn of(&self, items: E::Refs<'_>) -> A;
}

impl<A, E: Elements, M: Make<A, E> + Copy> Results<A, E> for M {
    fn fill<'s>(&self, rows: Rows<'_, Slot<'s, A>, E>) -> Written<'s> {
        rows.fill(&mut { *self })
    }

    fn of(&self, items: E::Refs<'_>) -> A {
        { *self }.make(items)
    }
}

/// The results of a closure over arrays.
pub(crate) struct Fused<'a, E: Elements, R: ?Sized> {
    pub(crate) inputs: Inputs<'a, E>,
    /// The shape to which the inputs are broadcast.
    pub(crate) shape: &'a [usize],
    /// Some `dyn Results`, which threads can share or not.
    pub(crate) results: &'a R,
}

impl<E: Elements, R: ?Sized> Clone for Fused<'_, E, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements, R: ?Sized> Copy for Fused<'_, E, R> {}

impl<A, E: Elements, R: Results<A, E> + ?Sized> Source<A> for Fused<'_, E, R> {
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
        FillFused { types, results: self.results }
    }
}

struct FillFused<'b, 'r, E, R: ?Sized> {
    types: Types<'b, (), E>,
    results: &'r R,
}

impl<'b, A, E: Elements, R: Results<A, E> + ?Sized> Fill<'b, A> for FillFused<'b, '_, E, R> {
    fn in_place(&self, _: &Raw<'_, 'b>) -> Option<Adjacent<'b, A>> {
        None
    }

    fn buffered<'x>(&mut self, block: Raw<'_, 'b>, buffer: &'x mut Buffer<A>) -> &'x [A] {
        buffer.filled(steps(block.loops()), |slots| {
            fill_nest(self.types.onto(block, slots), false, &mut |rows| self.results.fill(rows))
        })
    }

    fn for_each(&mut self, block: Raw<'_, 'b>, then: &mut dyn FnMut(A)) {
        self.types.for_each_input(block, &mut Then(self.results, then));
    }

    fn is_stored(&self) -> bool {
        false
    }
}
