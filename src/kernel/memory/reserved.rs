//! Memory for new arrays, and the order of their axes in it.

use super::List;
use super::buffer::Count;
use crate::kernel::{ensure, fail};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;
use core::sync::atomic::AtomicUsize;
use ndarray::{Array, Dimension, ShapeBuilder};

/// The slots of a new array, with its sizes and strides. They are those of a permuted standard layout.
pub(crate) struct StridedSlots<'a, A> {
    at: *mut MaybeUninit<A>,
    sizes: &'a [usize],
    strides: &'a [isize],
    count: Count<'a>,
    memory: PhantomData<&'a mut A>,
}

impl<'a, A> StridedSlots<'a, A> {
    /// The first slot, the sizes and the strides, and the count.
    #[inline(always)]
    pub(crate) fn into_parts(self) -> (*mut MaybeUninit<A>, &'a [usize], &'a [isize], Count<'a>) {
        (self.at, self.sizes, self.strides, self.count)
    }
}

/// Memory for a new array. It is reserved before a pass runs, so that a result that is too large is an error. Scratch, whose size
/// is constant, and lists of partial results are allocated by the pass, which ends the program where it gets none.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Reserved<A, D> {
    shape: D,
    /// Empty, with capacity for the elements of the shape.
    elements: Vec<A>,
}

impl<A, D: Dimension> Reserved<A, D> {
    /// Returns the shape if its non-zero sizes multiply past `isize::MAX`, or if there is not enough memory.
    #[inline(always)]
    pub(crate) fn new(shape: D) -> Result<Self, D> {
        let (sizes, mut elements) = (shape.slice(), Vec::new());
        let len = sizes.iter().fold(1_usize, |len, &size| len.saturating_mul(size.max(1)));
        let reserved = if sizes.contains(&0) { 0 } else { len };
        let fits = isize::try_from(len).is_ok() && elements.try_reserve_exact(reserved).is_ok();
        if fits { Ok(Self { shape, elements }) } else { Err(shape) }
    }

    /// Memory for elements that the pass alone reads, at most as many as scratch has: the program ends where there is none.
    ///
    /// # Panics
    /// If the number of elements overflows.
    pub(crate) fn scratch(shape: D) -> Self {
        Self { elements: Vec::with_capacity(shape.size_checked().expect("few elements")), shape }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &[usize] {
        self.shape.slice()
    }

    /// The number of elements of the new array.
    pub(crate) fn len(&self) -> usize {
        self.shape.size()
    }

    /// An array of clones of `elements` in standard layout.
    ///
    /// # Panics
    /// If their number is not that of the shape.
    #[inline(always)]
    pub(crate) fn cloned<'a>(mut self, elements: impl IntoIterator<Item = &'a A>) -> Array<A, D>
    where
        A: Clone + 'a,
    {
        self.elements.extend(elements.into_iter().cloned());
        Array::from_shape_vec(self.shape, self.elements)
            .unwrap_or_else(|_| fail("more or fewer elements than the shape has"))
    }

    /// An array whose elements are clones of `element`, with this order of axes in memory or in standard layout.
    pub(crate) fn filled(mut self, order: Option<AxisOrder<'_>>, element: A) -> Array<A, D>
    where
        A: Clone,
    {
        let mut steps = self.shape.clone();
        let len = strides(self.shape.slice(), order, steps.slice_mut());
        self.elements.resize(len, element);
        // SAFETY: There are `len` elements, and the strides are those of a permuted standard layout.
        unsafe { Array::from_shape_vec_unchecked(self.shape.strides(steps), self.elements) }
    }

    /// An array whose elements `fill` writes, with this order of axes in memory or in standard layout. If `fill` panics, the
    /// elements that it wrote leak.
    ///
    /// # Panics
    /// If `fill` did not write every slot.
    #[inline]
    pub(crate) fn filled_by(
        mut self,
        order: Option<AxisOrder<'_>>,
        fill: impl FnOnce(StridedSlots<'_, A>),
    ) -> Array<A, D> {
        let mut steps = self.shape.clone();
        let len = strides(self.shape.slice(), order, steps.slice_mut());
        ensure(len <= self.elements.capacity(), "no room for the elements");
        // the capacity holds the elements of a permuted standard layout of this shape
        let written = AtomicUsize::new(0);
        let out = StridedSlots {
            at: self.elements.as_mut_ptr().cast(),
            sizes: self.shape.slice(),
            strides: signed(steps.slice()),
            count: Count(Some(&written)),
            memory: PhantomData,
        };
        fill(out);
        ensure(written.into_inner() == len, "a slot was not written");
        // SAFETY: Each slot is counted once, so all `len` were written. The strides are those of a permuted standard layout.
        unsafe {
            self.elements.set_len(len);
            Array::from_shape_vec_unchecked(self.shape.strides(steps), self.elements)
        }
    }
}

/// The same numbers, which are at most `isize::MAX`.
pub(crate) fn signed(numbers: &[usize]) -> &[isize] {
    // SAFETY: `usize` and `isize` have the same layout.
    unsafe { slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) }
}

/// An order of a shape's axes in memory: whether the first axis belongs inside the second one, or `None` if their order does not matter.
pub(crate) type AxisOrder<'o> = &'o dyn Fn(&[usize], usize, usize) -> Option<bool>;

/// Writes the strides, in elements, of a contiguous array with this shape and `order` of axes; without one, those of the standard
/// layout. Returns the number of elements.
///
/// Axes keep the order of the shape where the [order](AxisOrder) returns `None`. Only axes of at least two elements are passed
/// to it: an array with elements has few of these.
#[inline]
pub(crate) fn strides(shape: &[usize], order: Option<AxisOrder<'_>>, strides: &mut [usize]) -> usize {
    if shape.contains(&0) {
        strides.fill(0);
        return 0;
    }
    let mut len = 1;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = len;
        // a number that wraps would be that of fewer elements
        len = len.saturating_mul(size);
    }
    if let Some(order) = order.filter(|_| shape.len() > 1) {
        reorder(shape, order, strides);
    }
    len
}

fn reorder(shape: &[usize], order: AxisOrder<'_>, strides: &mut [usize]) {
    // outermost first
    let mut axes = List::<usize, 8>::new();
    for axis in (0..shape.len()).filter(|&axis| shape[axis] > 1) {
        let mut place = axes.len();
        for at in (0..axes.len()).rev() {
            match order(shape, axes[at], axis) {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        axes.push(axis);
        axes[place..].rotate_right(1);
    }
    let mut width = 1;
    for &axis in axes.iter().rev() {
        strides[axis] = width;
        width *= shape[axis];
    }
}
