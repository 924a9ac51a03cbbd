//! Products of many matrices: rows of the first with columns of the second.
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | library | `f32` and `f64`, from 2^16 multiplications on, no side below 8: `ndarray::linalg` | the library's |
//! | dots | a vector and at least 64 terms | pairwise, as sums |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers | in the order of the terms |
//!
//! *Dots* and *tiles* read rows without gaps. A matrix with other strides is copied, once for all the rows and columns that it
//! is multiplied with. Batches that share the second matrix are the rows of one product.

#![forbid(unsafe_code)]

use super::bases::in_halves;
use super::ensure;
use super::nest::{BaseNest, Inputs, Output, State, matrices, steps};
use super::operation::Plus;
use super::reduce::sum_of_lane;
use super::simd::{Work, dispatch};
use super::threads::{count, join};
use alloc::vec::Vec;
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayRef, ArrayView2, ArrayViewMut2, Axis, Dimension, LinalgScalar};

/// The fewest multiplications for which the library was measured to be faster: on Zen 4, 40x40 matrices take as long either
/// way.
const LIBRARY: usize = 1 << 16;
/// The fewest rows, terms and columns for which it was.
const LIBRARY_SIDE: usize = 8;
/// The fewest terms of a product of a vector that are added pairwise: below, their order costs no accuracy.
const TERMS: usize = 64;
/// The fewest multiplications that are worth another thread. Measured as for `LIBRARY`.
const GRAIN: usize = 1 << 16;
/// Rows of a tile.
const ROWS: usize = 4;

/// Multiplies the last axes of two arrays into `out`, for each index of the outer axes.
///
/// `axes` are the numbers of last axes of `out`, `a` and `b`: two for a matrix, one for a vector. The vector of `a` is a
/// row, that of `b` a column. The vector of `out` is a row if `a` has a vector, else a column.
///
/// # Panics
/// If the sizes do not go together, or the outer axes do not go to those of `out`.
pub(crate) fn products_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
) {
    let (inputs, out, swapped) = matrices(Output::of(out), inputs, axes);
    if let Some(nest) = BaseNest::over(&mut State::new(), &inputs, &out) {
        let mut copies = Copies::new(swapped);
        nest.for_each(|(a, b), out| copies.multiply(a, b, out));
    }
}

/// [`products_into`] on several threads.
pub(crate) fn par_products_into<T: LinalgScalar + Send + Sync, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
) {
    let terms = inputs.shapes()[0].last().copied().unwrap_or(1);
    let multiplications = terms.saturating_mul(out.len());
    let (inputs, out, swapped) = matrices(Output::of(out), inputs, axes);
    let mut state = State::new();
    let Some(nest) = BaseNest::over(&mut state, &inputs, &out) else { return };
    let batches = steps(nest.loops());
    if batches >= 2 * count() {
        let grain = GRAIN.saturating_mul(batches).div_ceil(multiplications.max(1)).max(batches.div_ceil(8 * count()));
        return in_halves(nest, grain, &|part| {
            let mut copies = Copies::new(swapped);
            part.for_each(|(a, b), out| copies.multiply(a, b, out));
        });
    }
    nest.for_each(|(a, b), out| rows_in_halves(a, b, out, swapped));
}

/// One product, whose rows are shared by threads.
fn rows_in_halves<T: LinalgScalar + Send + Sync>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
    swapped: bool,
) {
    let half = a.nrows() / 2;
    if half < ROWS || half * a.ncols().saturating_mul(b.ncols()) < GRAIN || count() == 1 {
        return Copies::new(swapped).multiply(a, b, out);
    }
    let (upper, lower) = a.split_at(Axis(0), half);
    let (to_upper, to_lower) = out.split_at(Axis(0), half);
    join(|| rows_in_halves(upper, b, to_upper, swapped), || rows_in_halves(lower, b, to_lower, swapped));
}

/// Whether the library has loops of its own for the type, and may be faster.
fn suits_library<T: 'static>(sides: [usize; 3]) -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>())
        && sides.iter().all(|&side| side >= LIBRARY_SIDE)
        && sides.iter().fold(1_usize, |product, &side| product.saturating_mul(side)) >= LIBRARY
}

/// Copies of matrices, without gaps.
struct Copies<T> {
    a: Vec<T>,
    b: Vec<T>,
    out: Vec<T>,
    /// Whether the factors are swapped.
    swapped: bool,
}

impl<T: LinalgScalar> Copies<T> {
    fn new(swapped: bool) -> Self {
        Self { a: Vec::new(), b: Vec::new(), out: Vec::new(), swapped }
    }

    /// One product.
    #[inline]
    fn multiply(&mut self, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
        let [rows, terms, columns] = [a.nrows(), a.ncols(), b.ncols()];
        ensure(b.nrows() == terms && out.dim() == (rows, columns), "matrices whose sizes go together");
        if suits_library::<T>([rows, terms, columns]) {
            return general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
        }
        if terms == 0 {
            return out.fill(T::zero());
        }
        let Self { a: copy_a, b: copy_b, out: copy_out, swapped } = self;
        let a = without_gaps(&a, copy_a);
        // dots read the columns of the second matrix
        let are_dots = terms >= TERMS && (rows == 1 || columns == 1);
        let b = if are_dots { b.reversed_axes() } else { b };
        let b = without_gaps(&b, copy_b);
        let multiply = |out: &mut [T]| {
            let matrices = Matrices { a, b, out, sides: [terms, columns], swapped: *swapped };
            if are_dots { matrices.dots() } else { dispatch(matrices) }
        };
        match out.as_slice_mut() {
            Some(out) => multiply(out),
            None => {
                copy_out.clear();
                copy_out.resize(rows * columns, T::zero());
                multiply(copy_out);
                out.iter_mut().zip(&*copy_out).for_each(|(out, &element)| *out = element);
            }
        }
    }
}

/// The elements of a matrix, row by row: where they are, or copied.
#[inline]
fn without_gaps<'a, T: Copy>(matrix: &'a ArrayView2<'_, T>, copy: &'a mut Vec<T>) -> &'a [T] {
    if let Some(elements) = matrix.as_slice() {
        return elements;
    }
    copy.clear();
    copy.extend(matrix.iter().copied());
    copy
}

/// Two matrices and their product, row by row without gaps.
struct Matrices<'m, T> {
    a: &'m [T],
    b: &'m [T],
    out: &'m mut [T],
    /// The number of terms, and of columns.
    sides: [usize; 2],
    swapped: bool,
}

impl<T: LinalgScalar> Matrices<'_, T> {
    /// Pairwise sums of products of rows of `a` with rows of `b`, which is transposed.
    fn dots(self) {
        let [terms, columns] = self.sides;
        let mut products = Vec::with_capacity(CHUNK.min(terms));
        for (i, out) in self.out.iter_mut().enumerate() {
            let (x, y) = (&self.a[i / columns * terms..][..terms], &self.b[i % columns * terms..][..terms]);
            *out = dot(x, y, self.swapped, &mut products);
        }
    }
}

/// The elements of a part of a dot product. Measured with f32: 512 to 4096 take about as long.
const CHUNK: usize = 1024;

/// The pairwise sum of products.
fn dot<T: LinalgScalar>(x: &[T], y: &[T], swapped: bool, products: &mut Vec<T>) -> T {
    if x.len() > CHUNK {
        let half = (x.len() / 2).next_multiple_of(CHUNK);
        let first = dot(&x[..half], &y[..half], swapped, products);
        return first + dot(&x[half..], &y[half..], swapped, products);
    }
    products.clear();
    if swapped {
        products.extend(x.iter().zip(y).map(|(&x, &y)| y * x));
    } else {
        products.extend(x.iter().zip(y).map(|(&x, &y)| x * y));
    }
    sum_of_lane(Plus, products)
}

impl<T: LinalgScalar> Work for Matrices<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.swapped { self.tiles(|x, y| y * x) } else { self.tiles(|x, y| x * y) }
    }
}

impl<T: LinalgScalar> Matrices<'_, T> {
    #[inline(always)]
    fn tiles(mut self, times: impl Fn(T, T) -> T + Copy) {
        let [terms, columns] = self.sides;
        let mut column = 0;
        while column + 8 <= columns {
            self.columns::<8>(column, times);
            column += 8;
        }
        if column + 4 <= columns {
            self.columns::<4>(column, times);
            column += 4;
        }
        while column < columns {
            self.columns::<1>(column, times);
            column += 1;
        }
        debug_assert_eq!(self.a.len() / terms * columns, self.out.len());
    }

    /// Computes `C` columns of the result, from `column` on.
    #[inline(always)]
    fn columns<const C: usize>(&mut self, column: usize, times: impl Fn(T, T) -> T + Copy) {
        let ([terms, columns], mut row) = (self.sides, 0);
        let rows = self.a.len() / terms;
        while row + ROWS <= rows {
            self.tile::<ROWS, C>(row, column, times);
            row += ROWS;
        }
        while row < rows {
            self.tile::<1, C>(row, column, times);
            row += 1;
        }
        debug_assert!(column + C <= columns);
    }

    /// Computes `R` rows and `C` columns of the result, from `row` and `column` on, in registers.
    #[inline(always)]
    fn tile<const R: usize, const C: usize>(&mut self, row: usize, column: usize, times: impl Fn(T, T) -> T) {
        let [terms, columns] = self.sides;
        let a: [&[T]; R] = core::array::from_fn(|r| &self.a[(row + r) * terms..][..terms]);
        let mut sums = [[T::zero(); C]; R];
        let mut b = self.b.chunks_exact(columns);
        for i in 0..terms {
            let Some(Some(y)) = b.next().map(|b| b[column..].first_chunk::<C>()) else { return };
            for r in 0..R {
                for c in 0..C {
                    let product = times(a[r][i], y[c]);
                    sums[r][c] = if i == 0 { product } else { sums[r][c] + product };
                }
            }
        }
        for r in 0..R {
            self.out[(row + r) * columns + column..][..C].copy_from_slice(&sums[r]);
        }
    }
}
