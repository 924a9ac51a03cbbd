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
use super::nest::{
    AxisSelection, ErasedNest, Inputs, MapElement, MapReduce, Nest, Output, SMALL_NEST, matrices, steps,
};
use super::operation::Plus;
use super::reduce::{FoldLoops, into};
use super::source::{Cloned, Source};
use super::threads::{GRAIN, count, in_two};
use alloc::vec::Vec;
use core::any::TypeId;
use core::mem::take;
use ndarray::linalg::general_mat_mul;
use ndarray::{
    ArrayRef, ArrayView, ArrayView2, ArrayViewMut, ArrayViewMut2, Axis, CowArray, Dimension, LinalgScalar,
};

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster.
const LIBRARY_SIDE: usize = 8;
/// The fewest multiplications that are worth another thread: 50 us of the library's time on Zen 4.
const PART_MULTIPLICATIONS: usize = 1 << 20;
/// The fewest rows of a part for a thread. For fewer, the library spends too much time on packing the other matrix.
const PART_ROWS: usize = 32;
/// The most elements of a factor that are copied at once: 512 KiB of `f64`.
const COPIED_ELEMENTS: usize = 1 << 16;
/// The most elements of a block of the result that is copied, and of a factor if there is no memory for more.
const BLOCK_ELEMENTS: usize = 1 << 13;
/// The fewest rows or columns of a block that are cut.
const BLOCK_SIDE: usize = 8;
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
        let mut blocks = Blocks::new(swapped);
        nest.for_each(|(a, b), out| blocks.multiply(a, b, out));
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
        let grain = PART_MULTIPLICATIONS.saturating_mul(batches).div_ceil(multiplications.max(1));
        return nest.in_parts(grain, &|part| {
            let mut blocks = Blocks::new(swapped);
            part.for_each(|(a, b), out| blocks.multiply(a, b, out));
        });
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
    if threads < 2
        || half < PART_ROWS
        || half.saturating_mul(a.ncols()).saturating_mul(b.ncols()) < PART_MULTIPLICATIONS
    {
        return Blocks::new(swapped).multiply(a, b, out);
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

/// Products of matrices of any layout, by contiguous copies of blocks of them.
struct Blocks<T> {
    /// Memory for copies of the factors and for results.
    copies: [Vec<T>; 3],
    /// The most elements of a block of a factor.
    most: usize,
    /// Whether the factors are swapped.
    swapped: bool,
}

impl<T: LinalgScalar> Blocks<T> {
    fn new(swapped: bool) -> Self {
        Self { copies: [const { Vec::new() }; 3], most: COPIED_ELEMENTS, swapped }
    }

    /// Computes one product. Repeated rows, columns and terms are computed once.
    #[inline]
    fn multiply(&mut self, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
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
                self.multiply(a, b, first.view_mut());
                return others.assign(&first);
            }
        }
        if terms > 1 && a.strides()[1] == 0 && b.strides()[0] == 0 {
            self.multiply(a.split_at(Axis(1), 1).0, b.split_at(Axis(0), 1).0, out.view_mut());
            return out.map_inplace(|sum| *sum = repeated_sum(*sum, terms));
        }
        if suits_library::<T>([rows, terms, columns]) {
            return general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
        }
        // dot products read columns of the second matrix
        let are_dots = terms >= TERMS && (rows == 1 || columns == 1);
        self.block(a, if are_dots { b.reversed_axes() } else { b }, out, are_dots);
    }

    /// Computes a block of a product. Where a matrix is not contiguous, the block is cut until the matrix is small, and copied.
    /// Cuts do not change the order of addition.
    fn block(
        &mut self,
        a: ArrayView2<'_, T>,
        b: ArrayView2<'_, T>,
        mut out: ArrayViewMut2<'_, T>,
        are_dots: bool,
    ) {
        let (sides, terms, along) = ([out.nrows(), out.ncols()], a.ncols(), usize::from(!are_dots));
        let is_large = |matrix: &ArrayView2<'_, T>| !matrix.is_standard_layout() && matrix.len() > self.most;
        let cut = if !out.is_standard_layout() && out.len() > BLOCK_ELEMENTS {
            Some(usize::from(sides[0] < sides[1]))
        } else {
            [&a, &b].into_iter().position(is_large)
        };
        if let Some(axis) = cut {
            let axis = if sides[axis] > BLOCK_SIDE { axis } else { 1 - axis };
            let middle = (sides[axis] / 2).next_multiple_of(BLOCK_SIDE);
            if sides[axis] <= BLOCK_SIDE {
                let middle = if are_dots {
                    middle_of(terms)
                } else {
                    terms.div_ceil(TERMS).next_power_of_two() / 2 * TERMS
                };
                let ((low_a, high_a), (low_b, high_b)) =
                    (a.split_at(Axis(1), middle), b.split_at(Axis(1 - along), middle));
                let mut sums = [T::zero(); BLOCK_SIDE * BLOCK_SIDE];
                let mut high =
                    ArrayViewMut2::from_shape(out.dim(), &mut sums[..out.len()]).expect("few sums");
                self.block(low_a, low_b, out.view_mut(), are_dots);
                self.block(high_a, high_b, high.view_mut(), are_dots);
                out.zip_mut_with(&high, |low, &high| *low = *low + high);
            } else if axis == 0 {
                let ((lower, upper), (to_lower, to_upper)) =
                    (a.split_at(Axis(0), middle), out.split_at(Axis(0), middle));
                self.block(lower, b, to_lower, are_dots);
                self.block(upper, b, to_upper, are_dots);
            } else {
                let ((left, right), (to_left, to_right)) =
                    (b.split_at(Axis(along), middle), out.split_at(Axis(1), middle));
                self.block(a, left, to_left, are_dots);
                self.block(a, right, to_right, are_dots);
            }
            return;
        }
        for (k, factor) in [a, b].into_iter().enumerate() {
            if !factor.is_standard_layout() {
                let mut copy = take(&mut self.copies[k]);
                copy.clear();
                if self.most > BLOCK_ELEMENTS && copy.try_reserve(factor.len()).is_err() {
                    self.most = BLOCK_ELEMENTS;
                    return self.block(a, b, out, are_dots);
                }
                copy.resize(factor.len(), T::zero());
                copy_matrix(&mut copy, &factor);
                let contiguous = ArrayView2::from_shape(factor.dim(), &copy).expect("as many elements");
                let (a, b) = if k == 0 { (contiguous, b) } else { (a, contiguous) };
                self.block(a, b, out, are_dots);
                self.copies[k] = copy;
                return;
            }
        }
        let (Some(a), Some(b)) = (a.to_slice(), b.to_slice()) else { return };
        if let Some(out) = out.as_slice_mut() {
            return self.contiguous([a, b], out, [sides[0], terms, sides[1]], are_dots);
        }
        let mut copy = take(&mut self.copies[2]);
        copy.resize(out.len(), T::zero());
        self.contiguous([a, b], &mut copy, [sides[0], terms, sides[1]], are_dots);
        out.iter_mut().zip(&copy).for_each(|(out, &element)| *out = element);
        self.copies[2] = copy;
    }

    /// Computes a product of contiguous matrices.
    #[inline]
    fn contiguous(&self, [a, b]: [&[T]; 2], out: &mut [T], sides: [usize; 3], are_dots: bool) {
        let (swapped, [rows, terms, columns]) = (self.swapped, sides);
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
}

/// The sum of `count` equal terms, added in pairs.
fn repeated_sum<T: LinalgScalar>(term: T, count: usize) -> T {
    if count == 1 {
        return term;
    }
    let half = repeated_sum(term, count / 2);
    if count & 1 == 0 { half + half } else { half + half + term }
}

/// Copies a matrix row by row.
#[inline]
fn copy_matrix<T: LinalgScalar>(to: &mut [T], matrix: &ArrayView2<'_, T>) {
    if matrix.len() > SMALL_NEST {
        let mut to = ArrayViewMut2::from_shape(matrix.dim(), to).expect("as many elements");
        return copy_into(&mut to, matrix);
    }
    for (i, row) in to.chunks_exact_mut(matrix.ncols()).enumerate() {
        for (j, element) in row.iter_mut().enumerate() {
            *element = matrix[[i, j]];
        }
    }
}
