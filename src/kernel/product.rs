//! Products of many matrices: rows of the first with columns of the second.
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | sums | products of two vectors: sums of a closure's results | as sums: pairwise |
//! | library | `f32` and `f64`, from 2^12 multiplications on, no side below 8: `ndarray::linalg` | the library's |
//! | packed | many matrices without gaps, of 2, 3, 4 or 6 rows and columns | in the order of the terms |
//! | dots | a vector and at least 64 terms | pairwise, as sums |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers | 64 terms in their order, and these sums pairwise |
//!
//! *Dots* and *tiles* read rows without gaps: a matrix with other strides is copied, once for all the rows and columns that it
//! is multiplied with. Where one matrix is multiplied with all others, they are the rows of one product.

#![forbid(unsafe_code)]

use super::ensure;
use super::nest::{AxisSelection, BaseNest, Inputs, Make, Output, State, matrices, steps};
use super::operation::Plus;
use super::reduce::{Reduces, Store, into, sum_of_lane};
use super::simd::{Work, dispatch};
use super::source::Fused;
use super::threads::{Serial, Threads, count, join};
use alloc::vec::Vec;
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayRef, ArrayView2, ArrayViewMut2, Axis, Dimension, LinalgScalar};

/// The fewest multiplications for which the library was measured to be as fast or faster: on Zen 4, 16x16 matrices of f32.
const LIBRARY: usize = 1 << 12;
/// The fewest rows, terms and columns for which it was.
const LIBRARY_SIDE: usize = 8;
/// The most terms of a tile that are added one after the other, and the fewest of a vector's product that are added pairwise:
/// below, their order costs no accuracy.
const TERMS: usize = 64;
/// The fewest multiplications that are worth another thread: 50 us of the library's time on Zen 4.
const GRAIN: usize = 1 << 20;
/// The fewest rows of a part for a thread: with fewer, the library packs the other matrix for too little.
const FEW_ROWS: usize = 32;
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
    if axes == VECTORS {
        return sums_into(out, inputs, Serial);
    }
    if packed_into(out, &inputs, axes) {
        return;
    }
    let (inputs, mut out, swapped) = matrices(Output::of(out), inputs, axes);
    if let Some(nest) = BaseNest::over(&mut State::new(), &inputs, &mut out) {
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
    if axes == VECTORS {
        return sums_into(out, inputs, Threads);
    }
    let terms = inputs.shapes()[0].last().copied().unwrap_or(1);
    let multiplications = terms.saturating_mul(out.len());
    let (inputs, mut out, swapped) = matrices(Output::of(out), inputs, axes);
    let mut state = State::new();
    let Some(nest) = BaseNest::over(&mut state, &inputs, &mut out) else { return };
    let batches = steps(nest.loops());
    if batches >= 2 * count() {
        let grain = GRAIN.saturating_mul(batches).div_ceil(multiplications.max(1));
        return nest.in_parts(grain, &|part| {
            let mut copies = Copies::new(swapped);
            part.for_each(|(a, b), out| copies.multiply(a, b, out));
        });
    }
    nest.for_each(|(a, b), out| rows_in_halves(a, b, out, swapped, count()));
}

/// One product, whose rows are shared by threads. Each part is large enough to be multiplied as the whole would be.
fn rows_in_halves<T: LinalgScalar + Send + Sync>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
    swapped: bool,
    threads: usize,
) {
    let half = a.nrows() / 2;
    if threads < 2 || half < FEW_ROWS || half * a.ncols().saturating_mul(b.ncols()) < GRAIN {
        return Copies::new(swapped).multiply(a, b, out);
    }
    let (upper, lower) = a.split_at(Axis(0), half);
    let (to_upper, to_lower) = out.split_at(Axis(0), half);
    join(
        || rows_in_halves(upper, b, to_upper, swapped, threads / 2),
        || rows_in_halves(lower, b, to_lower, swapped, threads.div_ceil(2)),
    );
}

/// The axes of products of two vectors.
const VECTORS: [usize; 3] = [0, 1, 1];

/// Products of vectors: sums over their last axis.
fn sums_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: Inputs<'_, (T, T)>,
    executor: impl for<'a> Reduces<T, Fused<'a, (T, T), Times>, Plus>,
) {
    let terms = inputs.shapes()[0].last().copied().unwrap_or(1);
    let mut shape = out.raw_dim().insert_axis(Axis(out.ndim()));
    shape[out.ndim()] = terms;
    let last = Only(out.ndim());
    let source = Fused { inputs, shape: shape.slice(), results: &Times };
    into(source, out, Some(&last), Plus, Store::replacing(), executor);
}

/// The product of two factors.
#[derive(Clone, Copy)]
struct Times;

impl<T: LinalgScalar> Make<T, (T, T)> for Times {
    #[inline(always)]
    fn make(&mut self, (&a, &b): (&T, &T)) -> T {
        a * b
    }
}

/// One axis.
struct Only(usize);

impl AxisSelection for Only {
    fn contains(&self, axis: usize) -> bool {
        axis == self.0
    }
}

/// Multiplies many small matrices without gaps, if these are what there is. Returns whether it did.
fn packed_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, (T, T)>,
    axes: [usize; 3],
) -> bool {
    let columns = if axes[2] == 2 { inputs.shapes()[1].last().copied().unwrap_or(0) } else { 1 };
    let (rows, terms) = match *inputs.shapes()[0] {
        [.., rows, terms] if axes[1] == 2 => (rows, terms),
        _ => return false,
    };
    let way: fn(Packed<'_, T>) = match [rows, terms, columns] {
        [2, 2, 1] => dispatch_packed::<T, 2, 2, 1>,
        [3, 3, 1] => dispatch_packed::<T, 3, 3, 1>,
        [4, 4, 1] => dispatch_packed::<T, 4, 4, 1>,
        [6, 6, 1] => dispatch_packed::<T, 6, 6, 1>,
        [2, 2, 2] => dispatch_packed::<T, 2, 2, 2>,
        [3, 3, 3] => dispatch_packed::<T, 3, 3, 3>,
        [4, 4, 4] => dispatch_packed::<T, 4, 4, 4>,
        [6, 6, 6] => dispatch_packed::<T, 6, 6, 6>,
        _ => return false,
    };
    // batches that end those of the result are repeated as a whole
    let batch = &out.shape()[..out.ndim() - axes[0]];
    let is_end = |k: usize| {
        let shape = inputs.shapes()[k];
        let own = &shape[..shape.len() - axes[k + 1]];
        batch.ends_with(&own[own.iter().take_while(|&&size| size == 1).count()..])
    };
    if !is_end(0) || !is_end(1) {
        return false;
    }
    let ((Some(a), Some(b)), Some(out)) = (inputs.as_slices(), out.as_slice_mut()) else { return false };
    way(Packed { a, b, out });
    true
}

/// Matrices, one after the other. Those of an operand that are fewer are repeated.
struct Packed<'m, T> {
    a: &'m [T],
    b: &'m [T],
    out: &'m mut [T],
}

fn dispatch_packed<T: LinalgScalar, const M: usize, const N: usize, const P: usize>(matrices: Packed<'_, T>) {
    struct Fixed<'m, T, const M: usize, const N: usize, const P: usize>(Packed<'m, T>);
    impl<T: LinalgScalar, const M: usize, const N: usize, const P: usize> Work for Fixed<'_, T, M, N, P> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let Packed { a, b, out } = self.0;
            let (all_a, all_b) = (a.len(), b.len());
            let (mut next_a, mut next_b) = (0, 0);
            for out in out.chunks_exact_mut(M * P) {
                let (a, b) = (&a[next_a..][..M * N], &b[next_b..][..N * P]);
                // all sums side by side, stored at the end: their chains of additions overlap
                let mut sums = [[T::zero(); P]; M];
                for k in 0..N {
                    for r in 0..M {
                        for c in 0..P {
                            let product = a[r * N + k] * b[k * P + c];
                            sums[r][c] = if k == 0 { product } else { sums[r][c] + product };
                        }
                    }
                }
                out.copy_from_slice(sums.as_flattened());
                next_a = if next_a + M * N == all_a { 0 } else { next_a + M * N };
                next_b = if next_b + N * P == all_b { 0 } else { next_b + N * P };
            }
        }
    }
    dispatch(Fixed::<T, M, N, P>(matrices));
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
        if let Some(out) = out.as_slice_mut() {
            return multiply(out);
        }
        copy_out.clear();
        copy_out.resize(rows * columns, T::zero());
        multiply(copy_out);
        out.iter_mut().zip(&*copy_out).for_each(|(out, &element)| *out = element);
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
        let mut b = self.b.chunks_exact(columns);
        // sums of 2^n chunks of terms, joined as the digits of a binary counter
        let (mut before, mut from, mut chunk) = (Vec::<[[T; C]; R]>::new(), 0, 0_usize);
        let sums = loop {
            let (to, mut sums) = (terms.min(from + TERMS), [[T::zero(); C]; R]);
            for i in from..to {
                let Some(Some(y)) = b.next().map(|b| b[column..].first_chunk::<C>()) else { return };
                for r in 0..R {
                    for c in 0..C {
                        let product = times(a[r][i], y[c]);
                        sums[r][c] = if i == from { product } else { sums[r][c] + product };
                    }
                }
            }
            (from, chunk) = (to, chunk + 1);
            let joined = if from == terms { before.len() } else { chunk.trailing_zeros() as usize };
            for former in before.drain(before.len() - joined..).rev() {
                for r in 0..R {
                    for c in 0..C {
                        sums[r][c] = former[r][c] + sums[r][c];
                    }
                }
            }
            if from == terms {
                break sums;
            }
            before.push(sums);
        };
        for r in 0..R {
            self.out[(row + r) * columns + column..][..C].copy_from_slice(&sums[r]);
        }
    }
}
