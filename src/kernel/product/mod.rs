//! Products of many matrices.
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | packed | many small contiguous matrices: of 2 to 7 rows and columns, and such with a vector; *narrow*, a column of fewer than 64 terms; or *tiles* of each | in the order of the terms; as tiles |
//! | dots | pairs of contiguous vectors; from 64 terms on, a vector with a matrix, and contiguous rows with up to 4 others | pairwise |
//! | sums | other pairs of vectors, and contiguous columns with a vector: sums of a closure's results | that of sums: pairwise |
//! | library | `f32` and `f64`, from 2^12 multiplications on, no side below 8, or contiguous rows with others: `ndarray::linalg` | the library's |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers | 64 terms in their order, and these sums pairwise |
//! | once | rows, columns or terms with stride 0: computed once, by one of the ways above | equal terms in pairs |
//!
//! *Tiles*, and *dots* of a matrix, read contiguous rows and write contiguous results. Of small matrices with gaps, some products at
//! a time are computed from copies and to a copy. Of larger ones, the smaller factor with gaps is copied whole, the other one and
//! the result some rows at a time. Results are finished before they are stored, whatever panics.
//! The layout of the result does not change the order of addition, but for the library's: where a shared matrix makes the products
//! rows of one, it is one product or several.
//! From 2^12 multiplications on, batch axes along which only one factor moves become rows or columns of larger products, where strides
//! allow: of one matrix for all others, of some for several, and of pairs of vectors that broadcast on both sides. Where only a few
//! columns of each product are neighbours, the library computes those of all products with gaps. A matrix of a size that the compiler
//! knows stays *packed*. Reversed rows and terms of a matrix that is multiplied with a vector are reversed in the vector or the result.

#![forbid(unsafe_code)]

mod packed;
mod tiles;

use packed::{
    Packed, Tiles, are_joined, each_dot, each_product, elements, fixed, in_order, is_small, multiplications,
    packed_in_halves, packed_into, sides,
};
use tiles::TERMS;

use super::ensure;
use super::map::copy_into;
use super::nest::{
    AxisSelection, BaseInputs, Cloned, FoldLoops, Inputs, MapElement, MapReduce, Source, Threads,
    for_each_base, on_threads,
};
use super::operation::Plus;
use super::reduce::{fold_of, into};
use super::threads::{GRAIN, count, in_two};
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{
    Array, ArrayBase, ArrayRef, ArrayView2, ArrayViewD, ArrayViewMut2, ArrayViewMutD, Axis, CowArray,
    Dimension, Ix2, IxDyn, LinalgScalar, RawData,
};

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster, and the fewest of a block that are cut.
const LIBRARY_SIDE: usize = 8;
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
    let are_joined = are_joined::<T>(out.len(), [a.shape(), b.shape()], axes);
    if !are_joined && packed_into(out, (a, b), axes, |packed, way| way(packed)) {
        return;
    }
    if axes == VECTORS && !are_joined && !are_repeated(a, b) {
        return sums_into(out, &Inputs::from((a, b)), &MapReduce::new(Times, Plus));
    }
    let are_copied = !are_joined && are_copied((a, b), out, axes);
    // one small product has no more elements, so there are several to halve otherwise
    if are_copied && a.len() + b.len() + out.len() <= 8 * LIBRARY_MULTIPLICATIONS {
        let (a, b) = (contiguous(a), contiguous(b));
        if out.is_standard_layout() {
            return products_into(out, (&a, &b), axes);
        }
        let mut products = Array::zeros(out.raw_dim());
        products_into(&mut products, (&a, &b), axes);
        return copy_into(out, &products);
    }
    let products = (out.view_mut().into_dyn(), a.view().into_dyn(), b.view().into_dyn());
    if are_copied {
        return halves(products, axes)
            .into_iter()
            .for_each(|(mut out, a, b)| products_into(&mut out, (&a, &b), axes));
    }
    for_each_product(matrices(products, axes), multiply);
}

/// [`products_into`] on several threads.
pub(crate) fn par_products_into<T: LinalgScalar + Send + Sync, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
) {
    let are_joined = are_joined::<T>(out.len(), [a.shape(), b.shape()], axes);
    if !are_joined && packed_into(out, (a, b), axes, packed_in_halves) {
        return;
    }
    if axes == VECTORS && !are_joined && !are_repeated(a, b) {
        return sums_into(out, &Inputs::from((a, b)), &MapReduce::new(Times, Plus).on(Threads::new()));
    }
    let are_copied = !are_joined && are_copied((a, b), out, axes);
    if are_copied && out.len() < GRAIN / 8 {
        return products_into(out, (a, b), axes);
    }
    let products = (out.view_mut().into_dyn(), a.view().into_dyn(), b.view().into_dyn());
    if are_copied {
        let [(mut out, a, b), (mut other, c, d)] = halves(products, axes);
        in_two(
            || par_products_into(&mut out, (&a, &b), axes),
            || par_products_into(&mut other, (&c, &d), axes),
        );
        return;
    }
    let ((mut out, a, b), swapped) = matrices(products, axes);
    let (batches, terms) = (batches(&out), a.shape()[a.ndim() - 1]);
    if batches >= 2 * count() && terms.saturating_mul(out.len()) >= 8 * GRAIN {
        let factors = BaseInputs::two((&a, 2), (&b, 2));
        for_each_base(&factors, &mut out, 2, |(a, b), out| multiply(a, b, out, swapped), on_threads);
    } else {
        for_each_product(((out, a, b), swapped), |a, b, out, swapped| {
            rows_in_halves(a, b, out, swapped, count());
        });
    }
}

/// An output and its two operands.
type Products<'m, T> = (ArrayViewMutD<'m, T>, ArrayViewD<'m, T>, ArrayViewD<'m, T>);

/// Whether the matrices are small and not contiguous: then some products at a time are computed from copies.
fn are_copied<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    out: &ArrayRef<T, E>,
    axes: [usize; 3],
) -> bool {
    let sides = sides(&[a.shape(), b.shape()], axes);
    let is_small = axes != VECTORS && is_small::<T>(sides) && !out.is_empty();
    let is_sum = axes[2] == 1 && out.ndim() == 1 && sides[0] >= LIBRARY_SIDE && a.strides()[0] == 1;
    is_small && !is_sum && (elements(a).is_none() || elements(b).is_none() || !out.is_standard_layout())
}

/// Whether strides of 0 repeat the terms of both operands.
fn are_repeated<T, D: Dimension, D2: Dimension>(a: &ArrayRef<T, D>, b: &ArrayRef<T, D2>) -> bool {
    a.strides().last() == Some(&0) && b.strides().last() == Some(&0)
}

/// The array, or a contiguous copy of few elements.
fn contiguous<T: LinalgScalar, D: Dimension>(array: &ArrayRef<T, D>) -> CowArray<'_, T, D> {
    if array.is_standard_layout() {
        return array.view().into();
    }
    let mut copy = Array::zeros(array.raw_dim());
    copy_into(&mut copy, array);
    copy.into()
}

/// The halves of products along the outermost axis along which there are several.
fn halves<'m, T>((out, a, b): Products<'m, T>, axes: [usize; 3]) -> [Products<'m, T>; 2] {
    let batch = out.ndim() - axes[0];
    let axis = (0..batch).find(|&axis| out.shape()[axis] > 1).expect("several products");
    let (size, from_end) = (out.shape()[axis], batch - axis);
    let split = |factor: ArrayViewD<'m, T>, base: usize| match factor.ndim().checked_sub(from_end + base) {
        Some(axis) if factor.shape()[axis] == size => factor.split_at(Axis(axis), size / 2),
        _ => (factor.clone(), factor),
    };
    let ((a, c), (b, d), (out, other)) =
        (split(a, axes[1]), split(b, axes[2]), out.split_at(Axis(axis), size / 2));
    [(out, a, b), (other, c, d)]
}

/// The products as those of the largest matrices that the strides allow: vectors become rows or columns, and batch axes along which
/// one factor stays become rows or columns of the other. Also returns whether the factors were swapped for that.
fn matrices<T: 'static>(
    (mut out, mut a, mut b): Products<'_, T>,
    axes: [usize; 3],
) -> (Products<'_, T>, bool) {
    if axes[1] == 1 {
        (a, out) = (with_axis(a, 1), with_axis(out, axes[2] - 1));
    }
    if axes[2] == 1 {
        (b, out) = (with_axis(b, 0), with_axis(out, 0));
    }
    let batch = out.ndim() - 2;
    for factor in [&mut a, &mut b] {
        while factor.ndim() < out.ndim() {
            factor.insert_axis_inplace(Axis(0));
        }
    }
    let columns = out.shape()[batch + 1];
    for axis in (0..batch).rev() {
        let [of_a, of_b] = [&a, &b].map(|factor| factor.shape()[axis]);
        if of_b == 1 && of_a > 1 {
            join(&mut a, &mut out, [axis, batch]);
        } else if of_a == 1 && of_b > 1 && !join(&mut b, &mut out, [axis, batch + 1]) {
            // columns of the library may have gaps, if these are more
            let [rows, columns] = [batch, batch + 1].map(|side| out.shape()[side]);
            if columns < LIBRARY_SIDE && suits_library::<T>([rows, a.shape()[batch + 1], of_b]) {
                b.swap_axes(axis, batch + 1);
                out.swap_axes(axis, batch + 1);
            }
        }
    }
    // threads divide rows
    let swapped = out.shape()[batch + 1] > columns.max(out.shape()[batch]);
    if swapped { ((turned(out), turned(b), turned(a)), true) } else { ((out, a, b), false) }
}

/// Makes an axis of a factor and of the result a part of the rows or columns `side`. Returns whether the strides allow it.
fn join<T>(factor: &mut ArrayViewD<'_, T>, out: &mut ArrayViewMutD<'_, T>, [axis, side]: [usize; 2]) -> bool {
    let mut joined = factor.clone();
    let are_merged = joined.merge_axes(Axis(axis), Axis(side)) && out.merge_axes(Axis(axis), Axis(side));
    if are_merged {
        *factor = joined;
    }
    are_merged
}

/// Calls `visit` with the matrices of each product.
fn for_each_product<T>(
    ((mut out, a, b), swapped): (Products<'_, T>, bool),
    mut visit: impl FnMut(ArrayView2<'_, T>, ArrayView2<'_, T>, ArrayViewMut2<'_, T>, bool),
) {
    if batches(&out) == 1 {
        return visit(only_matrix(a), only_matrix(b), only_matrix(out), swapped);
    }
    let factors = BaseInputs::two((&a, 2), (&b, 2));
    for_each_base(&factors, &mut out, 2, |(a, b), out| visit(a, b, out, swapped), |nest, f| nest.for_each(f));
}

/// The number of products.
fn batches<T>(out: &ArrayViewMutD<'_, T>) -> usize {
    out.shape()[..out.ndim() - 2].iter().product()
}

/// The one matrix of an array.
fn only_matrix<S: RawData>(mut array: ArrayBase<S, IxDyn>) -> ArrayBase<S, Ix2> {
    while array.ndim() > 2 {
        ensure(array.shape()[0] == 1, "an axis of an input does not fit the shape");
        array = array.remove_axis(Axis(0));
    }
    array.into_dimensionality().expect("two axes")
}

/// The array with a new axis before the last `count` axes.
fn with_axis<S: RawData>(array: ArrayBase<S, IxDyn>, count: usize) -> ArrayBase<S, IxDyn> {
    let axis = array.ndim() - count;
    array.insert_axis(Axis(axis))
}

/// The array with its last two axes swapped.
fn turned<S: RawData>(mut array: ArrayBase<S, IxDyn>) -> ArrayBase<S, IxDyn> {
    let last = array.ndim() - 1;
    array.swap_axes(last - 1, last);
    array
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
    let is_small = half < 32 || multiplications([half, a.ncols(), b.ncols()]) < 4 * GRAIN;
    if threads < 2 || is_small || is_sum(&a, b.ncols()) {
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
    products: &MapReduce<Times, T, (T, T), Plus>,
) {
    let mut shape = out.raw_dim().insert_axis(Axis(out.ndim()));
    shape[out.ndim()] = inputs.shapes()[0].last().copied().unwrap_or(1);
    let (loops, terms) = (FoldLoops::new(Cloned, Plus), SingleAxis(out.ndim()));
    let source = Source::fused(inputs, products, fold_of(&loops));
    into(&source, shape.slice(), out, Some(&terms), &T::zero(), Cloned);
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
    mut a: ArrayView2<'_, T>,
    mut b: ArrayView2<'_, T>,
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
        let product = |x, y| if swapped { y * x } else { x * y };
        for ((i, j), out) in out.indexed_iter_mut() {
            *out = repeated_sum(product(a[(i, 0)], b[(0, j)]), terms);
        }
        return;
    }
    if suits_library::<T>([rows, terms, columns]) {
        return general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    }
    // of the left factor, some rows at a time are copied, and columns are summed
    if columns > rows && (rows == 1 || !b.is_standard_layout()) {
        return multiply(b.reversed_axes(), a.reversed_axes(), out.reversed_axes(), !swapped);
    }
    // so that of a vector and a reversed matrix the vector is copied
    if (if columns == 1 { a.strides()[1] } else { b.strides()[0] }) < 0 {
        a.invert_axis(Axis(1));
        b.invert_axis(Axis(0));
    }
    if columns == 1 && a.strides()[0] < 0 {
        a.invert_axis(Axis(0));
        out.invert_axis(Axis(0));
    }
    if is_sum(&a, columns) {
        let (v, mut out) = (b.reversed_axes(), out.remove_axis(Axis(1)));
        let (x, y) = if swapped { (&v, &a) } else { (&a, &v) };
        return sums_into(&mut out, &Inputs::from((&**x, &**y)), &MapReduce::new(Times, Plus));
    }
    // in both factors, terms are neighbours
    let are_rows = a.strides()[1] == 1 && b.strides()[0] == 1;
    let few = rows.min(columns);
    if terms >= TERMS && (few == 1 || are_rows && few <= LIBRARY_SIDE / 2) {
        // dot products read columns of the second matrix
        let dots: fn(Packed<'_, T>) = if swapped { each_dot::<T, true> } else { each_dot::<T, false> };
        return contiguously(a, b.reversed_axes(), out, dots);
    }
    // the library packs rows, which tiles copy
    let sides = [rows, terms, columns];
    if few > 1 && are_rows && suits_library::<T>(sides.map(|side| side.max(LIBRARY_SIDE))) {
        return general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    }
    let tiles: fn(Packed<'_, T>) = each_product::<T, Tiles<true>>;
    contiguously(a, b, out, if swapped { tiles } else { fixed(sides).unwrap_or(in_order(sides)) });
}

/// Whether the product is a sum of the columns of `a`, which are contiguous.
fn is_sum<T>(a: &ArrayView2<'_, T>, columns: usize) -> bool {
    let [row, term] = [0, 1].map(|axis| a.strides()[axis].unsigned_abs());
    columns == 1 && a.nrows() >= LIBRARY_SIDE && row == 1 && term > 1
}

/// Computes a product by a way that reads and writes contiguous matrices. The right factor is copied whole if it is not contiguous,
/// the left one and the result some rows at a time.
fn contiguously<T: LinalgScalar>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T>,
    way: fn(Packed<'_, T>),
) {
    let (rows, terms, columns) = (out.nrows(), a.ncols(), out.ncols());
    let are_whole = a.is_standard_layout() && out.is_standard_layout();
    let few = (LIBRARY_MULTIPLICATIONS / terms.max(columns)).max(LIBRARY_SIDE / 2);
    let most = if are_whole { rows } else { few };
    let b = contiguous(&b);
    for (mut out, a) in out.axis_chunks_iter_mut(Axis(0), most).zip(a.axis_chunks_iter(Axis(0), most)) {
        let (a, rows) = (contiguous(&a), out.nrows());
        let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else { return };
        let multiply = |out: &mut [T]| {
            way(Packed { a, b, out, sides: [rows, terms, columns], batch: &[], first: 0 });
        };
        if let Some(out) = out.as_slice_mut() {
            multiply(out);
        } else {
            let mut copy = Array::zeros(out.raw_dim());
            copy.as_slice_mut().into_iter().for_each(multiply);
            copy_into(&mut out, &copy);
        }
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
