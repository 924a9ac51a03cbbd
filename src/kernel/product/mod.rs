//! Products of many matrices.
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | packed | many small contiguous matrices: of 2 to 7 rows and columns; *narrow*, a column, or a row times up to 7 columns, of fewer than 64 terms; or *tiles* of each | in the order of the terms; as tiles |
//! | dots | pairs of contiguous vectors, and a vector with a matrix from 64 terms on | pairwise |
//! | sums | other pairs of vectors: sums of a closure's results | that of sums: pairwise |
//! | library | `f32` and `f64`, from 2^12 multiplications on, no side below 8: `ndarray::linalg` | the library's |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers | 64 terms in their order, and these sums pairwise |
//! | once | rows, columns or terms with stride 0: computed once, by one of the ways above | equal terms in pairs |
//!
//! *Tiles*, and *dots* of a matrix, read contiguous rows and write contiguous results. Of small matrices with gaps, some products at
//! a time are computed from copies and to a copy; larger ones are cut into blocks, along rows, columns and terms, where *tiles* and
//! *dots* would halve them. So copies have a constant size, and the layout of the result does not change the order of addition,
//! but for the library's: where a shared matrix makes the products rows of one, it is one product or several.
//! Where one matrix is multiplied with all others, these become the rows of one product, but for one vector after many small matrices.

#![forbid(unsafe_code)]

mod packed;
mod tiles;

use packed::{
    Dots, Packed, Tiles, each_product, fixed, in_order, is_small, middle as middle_of, multiplications,
    packed_in_halves, packed_into, sides,
};
use tiles::TERMS;

use super::ensure;
use super::map::{copy, copy_into};
use super::memory::Reserved;
use super::nest::{AxisSelection, ErasedNest, Inputs, MapElement, MapReduce, Nest, Output, matrices, steps};
use super::operation::Plus;
use super::reduce::{FoldLoops, into};
use super::source::{Cloned, Source};
use super::threads::{GRAIN, count, in_two};
use alloc::vec;
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{
    ArrayRef, ArrayView, ArrayView2, ArrayViewMut, ArrayViewMut2, Axis, CowArray, Dimension, LinalgScalar,
};

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster, and the fewest of a block that are cut.
const LIBRARY_SIDE: usize = 8;
/// The most elements of a block that is copied.
const BLOCK_ELEMENTS: usize = 1 << 13;
/// The axes of products of two vectors.
const VECTORS: [usize; 3] = [0, 1, 1];

/// Multiplies the last axes of two arrays into `out`, for each index of the outer axes.
///
/// `axes` are the numbers of last axes of `out`, `a` and `b`: two for a matrix, one for a vector. The vector of `a` is a
/// row, that of `b` a column. The vector of `out` is a row if `a` has a vector, else a column.
///
/// # Panics
/// If the sizes do not go together, or the outer axes do not broadcast to those of `out`.
pub(crate) fn products_into<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
) {
    let inputs = Inputs::from((a, b));
    if are_copied(&inputs, out, axes) {
        if a.len() + b.len() + out.len() > BLOCK_ELEMENTS {
            if let Some(halves) = halves(out.view_mut(), (a.view(), b.view()), axes) {
                return halves
                    .into_iter()
                    .for_each(|(mut out, (a, b))| products_into(&mut out, (&a, &b), axes));
            }
        }
        let products =
            Reserved::new(if out.is_standard_layout() { E::zeros(out.ndim()) } else { out.raw_dim() });
        if let (Some(a), Some(b), Ok(products)) = (contiguous(a), contiguous(b), products) {
            if out.is_standard_layout() {
                return products_into(out, (&a, &b), axes);
            }
            let mut products = products.filled(None, T::zero());
            products_into(&mut products, (&a, &b), axes);
            return copy_into(out, &products);
        }
    }
    if packed_into(out, &inputs, axes, |packed, way| way(packed)) {
        return;
    }
    if axes == VECTORS && !inputs.are_repeated() {
        let (product, loops) = (MapReduce::new(Times, Plus), FoldLoops::new(Cloned, Plus));
        return sums_into(out, &inputs, &Source::fused(&inputs, &product, &loops));
    }
    let (inputs, mut out, swapped) = matrices(Output::of(out), inputs, axes);
    if let Some(nest) = Nest::of_bases(&mut ErasedNest::new(), &inputs, &mut out) {
        nest.for_each(|(a, b), out| multiply(a, b, out, swapped));
    }
}

/// [`products_into`] on several threads.
pub(crate) fn par_products_into<T: LinalgScalar + Send + Sync, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
) {
    let inputs = Inputs::from((a, b));
    if are_copied(&inputs, out, axes) {
        if out.len() >= GRAIN / 8 {
            if let Some([(mut out, (a, b)), (mut other, (c, d))]) =
                halves(out.view_mut(), (a.view(), b.view()), axes)
            {
                in_two(
                    || par_products_into(&mut out, (&a, &b), axes),
                    || par_products_into(&mut other, (&c, &d), axes),
                );
                return;
            }
        }
        return products_into(out, (a, b), axes);
    }
    if packed_into(out, &inputs, axes, packed_in_halves) {
        return;
    }
    if axes == VECTORS && !inputs.are_repeated() {
        let (product, loops) = (MapReduce::new(Times, Plus), FoldLoops::new(Cloned, Plus));
        return sums_into(out, &inputs, &Source::par_fused(&inputs, &product, &loops));
    }
    let terms = inputs.shapes()[0].last().copied().unwrap_or(1);
    let multiplications = terms.saturating_mul(out.len());
    let (inputs, mut out, swapped) = matrices(Output::of(out), inputs, axes);
    let mut erased = ErasedNest::new();
    let Some(nest) = Nest::of_bases(&mut erased, &inputs, &mut out) else { return };
    let batches = steps(nest.loops());
    if batches >= 2 * count() {
        let grain = (4 * GRAIN).saturating_mul(batches).div_ceil(multiplications.max(1));
        return nest.in_parts(grain, &|part| part.for_each(|(a, b), out| multiply(a, b, out, swapped)));
    }
    nest.for_each(|(a, b), out| rows_in_halves(a, b, out, swapped, count()));
}

/// Whether the matrices are small and not contiguous: then some products at a time are computed from copies.
fn are_copied<T: LinalgScalar, E: Dimension>(
    inputs: &Inputs<'_, (T, T)>,
    out: &ArrayRef<T, E>,
    axes: [usize; 3],
) -> bool {
    let is_small = axes != VECTORS && is_small::<T>(sides(inputs.shapes(), axes)) && !out.is_empty();
    is_small && !(inputs.are_standard() && out.is_standard_layout())
}

/// The array, or a contiguous copy. `None` if memory cannot hold it.
fn contiguous<T: LinalgScalar, D: Dimension>(array: &ArrayRef<T, D>) -> Option<CowArray<'_, T, D>> {
    if array.is_standard_layout() {
        return Some(array.view().into());
    }
    Some(copy(Reserved::new(array.raw_dim()).ok()?, array).into())
}

/// An output and its two operands.
type Part<'a, T, D, D2, E> = (ArrayViewMut<'a, T, E>, (ArrayView<'a, T, D>, ArrayView<'a, T, D2>));

/// The halves of products along the outermost axis along which there are several.
fn halves<'a, T, D: Dimension, D2: Dimension, E: Dimension>(
    out: ArrayViewMut<'a, T, E>,
    (a, b): (ArrayView<'a, T, D>, ArrayView<'a, T, D2>),
    axes: [usize; 3],
) -> Option<[Part<'a, T, D, D2, E>; 2]> {
    fn split<T, D: Dimension>(
        array: ArrayView<'_, T, D>,
        from_end: usize,
        size: usize,
    ) -> [ArrayView<'_, T, D>; 2] {
        match array.ndim().checked_sub(from_end) {
            Some(axis) if array.shape()[axis] == size => array.split_at(Axis(axis), size / 2).into(),
            _ => [array.clone(), array],
        }
    }
    let batch = out.ndim() - axes[0];
    let axis = (0..batch).find(|&axis| out.shape()[axis] > 1)?;
    let (size, from_end) = (out.shape()[axis], batch - axis);
    let ([a, c], [b, d]) = (split(a, from_end + axes[1], size), split(b, from_end + axes[2], size));
    let (out, other) = out.split_at(Axis(axis), size / 2);
    Some([(out, (a, b)), (other, (c, d))])
}

/// One product, whose rows are divided among threads. Each part is large enough for the way of the whole product.
fn rows_in_halves<T: LinalgScalar + Send + Sync>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
    swapped: bool,
    threads: usize,
) {
    let half = a.nrows() / 2;
    // for fewer rows, the library spends too much time on packing the other matrix
    if threads < 2 || half < 32 || multiplications([half, a.ncols(), b.ncols()]) < 4 * GRAIN {
        return multiply(a, b, out, swapped);
    }
    let (upper, lower) = a.split_at(Axis(0), half);
    let (to_upper, to_lower) = out.split_at(Axis(0), half);
    in_two(
        || rows_in_halves(upper, b, to_upper, swapped, threads / 2),
        || rows_in_halves(lower, b, to_lower, swapped, threads.div_ceil(2)),
    );
}

/// Products of vectors: sums of `source` over their last axis.
fn sums_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, (T, T)>,
    source: &Source<'_, T>,
) {
    let terms = inputs.shapes()[0].last().copied().unwrap_or(1);
    let mut shape = out.raw_dim().insert_axis(Axis(out.ndim()));
    shape[out.ndim()] = terms;
    into(source, shape.slice(), out, Some(&SingleAxis(out.ndim())), &T::zero(), Cloned);
}

/// The product of two factors.
#[derive(Clone, Copy)]
struct Times;

impl<T: LinalgScalar> MapElement<T, (T, T)> for Times {
    #[inline(always)]
    fn map(&mut self, (&a, &b): (&T, &T)) -> T {
        a * b
    }
}

/// One axis.
struct SingleAxis(usize);

impl AxisSelection for SingleAxis {
    fn contains(&self, axis: usize) -> bool {
        axis == self.0
    }
}

/// Whether the library has loops for the type and may be faster.
fn suits_library<T: 'static>(sides: [usize; 3]) -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>())
        && sides.iter().all(|&side| side >= LIBRARY_SIDE)
        && multiplications(sides) >= LIBRARY_MULTIPLICATIONS
}

/// Computes one product of matrices of any layout. Repeated rows, columns and terms are computed once.
#[inline]
fn multiply<T: LinalgScalar>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T>,
    swapped: bool,
) {
    let [rows, terms, columns] = [a.nrows(), a.ncols(), b.ncols()];
    ensure(b.nrows() == terms && out.dim() == (rows, columns), "matrices whose sizes do not go together");
    if terms == 0 || out.is_empty() {
        return out.fill(T::zero());
    }
    for (axis, factor) in [a, b].into_iter().enumerate() {
        if factor.shape()[axis] > 1 && factor.strides()[axis] == 0 {
            let (mut first, mut others) = out.split_at(Axis(axis), 1);
            let one = factor.split_at(Axis(axis), 1).0;
            let (a, b) = if axis == 0 { (one, b) } else { (a, one) };
            multiply(a, b, first.view_mut(), swapped);
            return others.assign(&first);
        }
    }
    if terms > 1 && a.strides()[1] == 0 && b.strides()[0] == 0 {
        multiply(a.split_at(Axis(1), 1).0, b.split_at(Axis(0), 1).0, out.view_mut(), swapped);
        return out.map_inplace(|sum| *sum = repeated_sum(*sum, terms));
    }
    if suits_library::<T>([rows, terms, columns]) {
        return general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    }
    // dot products read columns of the second matrix
    let are_dots = terms >= TERMS && (rows == 1 || columns == 1);
    block(a, if are_dots { b.reversed_axes() } else { b }, out, are_dots, swapped);
}

/// Computes a block of a product. Where a matrix is not contiguous, the block is cut until the matrix is small, and copied. Cuts do
/// not change the order of addition.
fn block<T: LinalgScalar>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T>,
    are_dots: bool,
    swapped: bool,
) {
    let (sides, terms, along) = ([out.nrows(), out.ncols()], a.ncols(), usize::from(!are_dots));
    let is_large = |is_standard: bool, len: usize| !is_standard && len > BLOCK_ELEMENTS;
    let cut = if is_large(out.is_standard_layout(), out.len()) {
        Some(usize::from(sides[0] < sides[1]))
    } else {
        [&a, &b].into_iter().position(|factor| is_large(factor.is_standard_layout(), factor.len()))
    };
    if let Some(axis) = cut {
        let axis = if sides[axis] > LIBRARY_SIDE { axis } else { 1 - axis };
        let middle = (sides[axis] / 2).next_multiple_of(LIBRARY_SIDE);
        let both = |a: [_; 2], b: [_; 2], out: (ArrayViewMut2<'_, T>, ArrayViewMut2<'_, T>)| {
            block(a[0], b[0], out.0, are_dots, swapped);
            block(a[1], b[1], out.1, are_dots, swapped);
        };
        if sides[axis] <= LIBRARY_SIDE {
            let chunks = terms.div_ceil(TERMS).next_power_of_two() / 2;
            let middle = if are_dots { middle_of(terms) } else { chunks * TERMS };
            let mut sums = [T::zero(); LIBRARY_SIDE * LIBRARY_SIDE];
            let mut high = ArrayViewMut2::from_shape(out.dim(), &mut sums[..out.len()]).expect("few sums");
            let (a, b) = (a.split_at(Axis(1), middle), b.split_at(Axis(1 - along), middle));
            both(a.into(), b.into(), (out.view_mut(), high.view_mut()));
            out.zip_mut_with(&high, |low, &high| *low = *low + high);
        } else if axis == 0 {
            both(a.split_at(Axis(0), middle).into(), [b, b], out.split_at(Axis(0), middle));
        } else {
            both([a, a], b.split_at(Axis(along), middle).into(), out.split_at(Axis(1), middle));
        }
        return;
    }
    let [a, b] = [&a, &b].map(|factor| contiguous(factor).expect("memory for few elements"));
    let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else { return };
    let multiply =
        |out: &mut [T]| multiply_contiguous([a, b], out, [sides[0], terms, sides[1]], are_dots, swapped);
    if let Some(out) = out.as_slice_mut() {
        return multiply(out);
    }
    let mut copy = vec![T::zero(); out.len()];
    multiply(&mut copy);
    out.iter_mut().zip(&copy).for_each(|(out, &element)| *out = element);
}

/// Computes a product of contiguous matrices.
#[inline]
fn multiply_contiguous<T: LinalgScalar>(
    [a, b]: [&[T]; 2],
    out: &mut [T],
    sides: [usize; 3],
    are_dots: bool,
    swapped: bool,
) {
    let [rows, terms, columns] = sides;
    if are_dots {
        let by = [rows, columns].map(|side| if side == 1 { 0 } else { terms });
        let (batch, sides) = (&[(out.len(), by)], [1, terms, 1]);
        let ((a, b), batch) =
            if swapped { ((b, a), &[(out.len(), [by[1], by[0]])]) } else { ((a, b), batch) };
        return each_product::<T, Dots>(Packed { a, b, out, sides, batch, first: 0 });
    }
    let way = match (fixed(sides), swapped) {
        (_, true) => each_product::<T, Tiles<true>>,
        (way, false) => way.unwrap_or(in_order(sides)),
    };
    way(Packed { a, b, out, sides, batch: &[], first: 0 });
}

/// The sum of `count` equal terms, added in pairs.
fn repeated_sum<T: LinalgScalar>(term: T, count: usize) -> T {
    if count == 1 {
        return term;
    }
    let half = repeated_sum(term, count / 2);
    if count & 1 == 0 { half + half } else { half + half + term }
}
