//! Products of many matrices: rows of the first with columns of the second.
//!
//! ```text
//! for each batch element:
//!     library:  large matrices, and batches that share a matrix and so make a large one: `ndarray::linalg`
//!     fixed:    tiny matrices of sizes that the compiler knows, all sums side by side
//!     tiles:    for 4 rows and 8 columns: sums[4][8] += a[4] * b[8], for each term
//!     dots:     for each row and column: eight accumulators, if the terms are adjacent in both matrices
//!     columns:  tiles of one column, for all other strides
//! ```
//!
//! Memory: any strides, but each strategy has its condition. [`ProductStrategy::of`] and [`Library`] choose.
//! - *Fixed*: three matrices without gaps.
//! - *Tiles*: adjacent columns in the second matrix and the result, or adjacent rows in the first matrix and the result.
//! - *Dots*: adjacent terms in both matrices.
//! - *Library*: no negative strides.
//!
//! *Dots*, for 16 terms or more, adds eight partial sums; *fixed*, *tiles* and *columns* add in the order of the terms.
//! The choice and the order do not depend on the CPU or on the number of threads.

#![forbid(unsafe_code)]

use super::loops::{Loop, LoopPlan, Loops};
use super::memory::{Reserved, WriteOnly, array};
use super::nest::{Block, Grid, Inputs, Nest, Output};
use super::simd::{self, Cpu, Work};
use super::threads::{Executor, Task};
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array, Dimension, LinalgScalar};

/// The fewest multiplications that are worth another thread.
const GRAIN: usize = 1 << 15;
/// The fewest terms that are added in several accumulators.
const PARTS_FROM: usize = 16;
/// The number of accumulators of a sum.
const PARTS: usize = 8;
/// Rows of a tile.
const ROWS: usize = 4;
/// Columns of a tile.
const COLUMNS: usize = 8;

/// Multiplies the last axes of two arrays into `out`, for each index of the outer axes.
///
/// `axes` are the numbers of last axes of `out`, `a` and `b`: two for a matrix, one for a vector. The vector of `a` is a
/// row, that of `b` a column. The vector of `out` is a row if `a` has a vector, else a column.
///
/// # Panics
/// If the sizes do not go together, or the outer axes do not stretch to those of `out`.
pub(crate) fn products_into<T: LinalgScalar>(
    mut out: Output<'_, T>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
    executor: impl Executor<WriteOnly<T>, (T, T), Products> + Executor<T, (T, T), Library>,
) {
    let (mut plan, mut room) = (LoopPlan::new(), Loops::new());
    if let Some(mut nest) = Nest::products(&mut plan, out.reborrow(), inputs, axes) {
        let joined = nest.joined(&mut room);
        if Library::suits::<T>(joined.loops()) {
            return executor.run(joined, &Library);
        }
        return executor.run(nest.overwriting(), &Products);
    }
    // every sum has no terms
    out.for_each(|slot| *slot = T::zero());
}

/// [`products_into`] a new array.
pub(crate) fn products_to_new<T: LinalgScalar, D: Dimension>(
    reserved: Reserved<T, D>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
    executor: impl Executor<WriteOnly<T>, (T, T), Products> + Executor<T, (T, T), Library>,
) -> Array<T, D> {
    // the last axis of the first operand, a matrix or a vector
    let terms = inputs.axes(1).sizes.last();
    if terms.is_some_and(|&terms| Library::may_suit::<T>(reserved.shape(), terms)) {
        let mut out = reserved.filled(T::zero());
        products_into(Output::of(&mut out), inputs, axes, executor);
        return out;
    }
    reserved.written(None, |out| {
        let mut out = Output::of(out).write_only();
        if let Some(nest) = Nest::products(&mut LoopPlan::new(), out.reborrow(), inputs, axes) {
            return executor.run(nest, &Products);
        }
        out.for_each(|slot| slot.write(T::zero()));
    })
}

/// Products by `ndarray::linalg`, for matrices large enough to repay its preparation.
pub(crate) struct Library;

impl Library {
    /// The fewest multiplications for which the library was measured to be faster.
    const MIN_MULTIPLICATIONS: usize = 1 << 16;
    /// The fewest rows, terms and columns for which the library was measured to be faster.
    const MIN_SIZE: usize = 8;

    /// Whether the library may be faster for a result of this shape.
    fn may_suit<T: 'static>(shape: &[usize], terms: usize) -> bool {
        let is_its_own = [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>());
        let multiplications = shape.iter().fold(terms, |count, &size| count.saturating_mul(size));
        is_its_own && terms >= Self::MIN_SIZE && multiplications >= Self::MIN_MULTIPLICATIONS
    }

    fn suits<T: 'static>(loops: &[Loop]) -> bool {
        let [.., rows, terms, columns] = loops else { unreachable!("three loops") };
        Self::may_suit::<T>(&[rows.len, columns.len], terms.len)
            && [rows, columns].iter().all(|l| l.len >= Self::MIN_SIZE)
            && [rows, terms, columns].iter().all(|l| l.strides.iter().all(|&stride| stride >= 0))
    }
}

impl<T: LinalgScalar> Task<T, (T, T)> for Library {
    fn grain(&self) -> usize {
        GRAIN
    }

    /// Whether the loop is over batches or rows.
    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        place + 2 < loops.len()
    }

    fn run(&self, part: Nest<'_, T, (T, T)>) {
        let mut products = part.walk(3);
        while let Some(product) = products.next() {
            let [a, b] = product.read().matrices(false).map(Block::view);
            general_mat_mul(T::one(), &a, &b, T::zero(), &mut product.grid(false).view());
        }
    }
}

/// The products of a nest of batches and three loops.
pub(crate) struct Products;

impl<T: LinalgScalar> Task<WriteOnly<T>, (T, T)> for Products {
    fn grain(&self) -> usize {
        GRAIN
    }

    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        place + 3 < loops.len()
    }

    #[inline]
    fn run(&self, part: Nest<'_, WriteOnly<T>, (T, T)>) {
        let strategy = ProductStrategy::of(&part.loops()[part.loops().len() - 3..]);
        simd::dispatch(Multiply { strategy, nest: part });
    }
}

/// The strategy of a product, chosen by its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProductStrategy {
    /// Matrices without gaps of sizes for which a loop is compiled: rows, terms and columns.
    Fixed([usize; 3]),
    /// Adjacent columns in the second matrix and in the result, or in the transposed product if `transposed`.
    Tiles {
        transposed: bool,
    },
    Dots,
    Columns,
}

impl ProductStrategy {
    /// The fastest strategy for three loops: rows, terms and columns. Operand 0 is the result.
    fn of(loops: &[Loop]) -> Self {
        let [rows, terms, columns] = loops else { unreachable!("three loops") };
        let sizes = [rows.len, terms.len, columns.len];
        let known = matches!(sizes, [m, n, p] if m == n && (p == 1 || p == n) && matches!(n, 2 | 3 | 4 | 6))
            || matches!(sizes, [1, 3 | 6, 1]);
        if known && rows.is_packed(terms, 1) && terms.is_packed(columns, 2) && rows.is_packed(columns, 0) {
            return Self::Fixed(sizes);
        }
        if columns.strides[2] == 1 && columns.strides[0] == 1 {
            Self::Tiles { transposed: false }
        } else if rows.strides[1] == 1 && rows.strides[0] == 1 {
            Self::Tiles { transposed: true }
        } else if terms.len >= PARTS_FROM && terms.strides[1] == 1 && terms.strides[2] == 1 {
            Self::Dots
        } else {
            Self::Columns
        }
    }
}

struct Multiply<'a, T> {
    strategy: ProductStrategy,
    nest: Nest<'a, WriteOnly<T>, (T, T)>,
}

impl<T: LinalgScalar> Work for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { strategy, nest } = self;
        match strategy {
            ProductStrategy::Fixed([2, 2, 1]) => fixed::<T, 2, 2, 1>(nest),
            ProductStrategy::Fixed([3, 3, 1]) => fixed::<T, 3, 3, 1>(nest),
            ProductStrategy::Fixed([4, 4, 1]) => fixed::<T, 4, 4, 1>(nest),
            ProductStrategy::Fixed([6, 6, 1]) => fixed::<T, 6, 6, 1>(nest),
            ProductStrategy::Fixed([2, 2, 2]) => fixed::<T, 2, 2, 2>(nest),
            ProductStrategy::Fixed([3, 3, 3]) => fixed::<T, 3, 3, 3>(nest),
            ProductStrategy::Fixed([4, 4, 4]) => fixed::<T, 4, 4, 4>(nest),
            ProductStrategy::Fixed([6, 6, 6]) => fixed::<T, 6, 6, 6>(nest),
            ProductStrategy::Fixed([_, 3, _]) => fixed::<T, 1, 3, 1>(nest),
            ProductStrategy::Fixed(_) => fixed::<T, 1, 6, 1>(nest),
            ProductStrategy::Tiles { transposed: false } => tiles::<T, false>(nest, true),
            ProductStrategy::Tiles { transposed: true } => tiles::<T, true>(nest, true),
            ProductStrategy::Dots => dots(nest),
            ProductStrategy::Columns => tiles::<T, false>(nest, false),
        }
    }
}

/// Tiny matrices without gaps: `M` rows, sums of `N` terms, `P` columns.
#[inline(always)]
fn fixed<T: LinalgScalar, const M: usize, const N: usize, const P: usize>(
    nest: Nest<'_, WriteOnly<T>, (T, T)>,
) {
    let mut products = nest.packed::<M, N, P>();
    while let Some((a, b, out)) = products.next() {
        if P == 1 {
            // all sums side by side, stored at the end: their chains of additions overlap
            let mut sums: [T; M] = array(|i| a[i][0] * b[0][0]);
            for j in 1..N {
                for i in 0..M {
                    sums[i] = sums[i] + a[i][j] * b[j][0];
                }
            }
            for i in 0..M {
                out[i][0].write(sums[i]);
            }
        } else {
            for i in 0..M {
                let mut sums: [T; P] = array(|k| a[i][0] * b[0][k]);
                for j in 1..N {
                    for k in 0..P {
                        sums[k] = sums[k] + a[i][j] * b[j][k];
                    }
                }
                for k in 0..P {
                    out[i][k].write(sums[k]);
                }
            }
        }
    }
}

/// Long sums whose terms are adjacent in both matrices.
#[inline(always)]
fn dots<T: LinalgScalar>(nest: Nest<'_, WriteOnly<T>, (T, T)>) {
    let mut products = nest.walk(3);
    while let Some(product) = products.next() {
        let [a, b] = product.read().matrices(false);
        let (Some(a), Some(b)) = (a.dense(), b.transposed().dense()) else { unreachable!("adjacent terms") };
        let mut out = product.grid(false);
        for column in 0..b.rows() {
            for row in 0..a.rows() {
                let [slot] = out.part(row, column);
                slot.write(dot(a.row(row), b.row(column)));
            }
        }
    }
}

/// The sum of the products of two rows. With several rows at a time, the compiler gathers their terms instead of loading
/// them side by side (2x slower).
#[inline(always)]
fn dot<T: LinalgScalar>(a: &[T], b: &[T]) -> T {
    let mut parts = [T::zero(); PARTS];
    let (xs, ys) = (a.chunks_exact(PARTS), b.chunks_exact(PARTS));
    let (rest_a, rest_b) = (xs.remainder(), ys.remainder());
    for (x, y) in xs.zip(ys) {
        for k in 0..PARTS {
            parts[k] = parts[k] + x[k] * y[k];
        }
    }
    // written out: with computed indices, the compiler keeps the parts in memory
    let [p0, p1, p2, p3, p4, p5, p6, p7] = parts;
    let mut sum = ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7));
    for (&x, &y) in rest_a.iter().zip(rest_b) {
        sum = sum + x * y;
    }
    sum
}

/// Tiles of the result that stay in registers while their terms are added. They are several columns wide if `adjacent`.
///
/// If `TRANSPOSED`, the operands are transposed and exchanged. Elements of the first matrix are still the left factors.
#[inline(always)]
fn tiles<T: LinalgScalar, const TRANSPOSED: bool>(nest: Nest<'_, WriteOnly<T>, (T, T)>, adjacent: bool) {
    let mut products = nest.walk(3);
    while let Some(product) = products.next() {
        let [a, b] = product.read().matrices(TRANSPOSED);
        let mut out = product.grid(TRANSPOSED);
        let (columns, mut column) = (b.width(), 0);
        while adjacent && column + COLUMNS <= columns {
            rows::<T, COLUMNS, TRANSPOSED>(a, b, &mut out, column);
            column += COLUMNS;
        }
        if adjacent && column + 4 <= columns {
            rows::<T, 4, TRANSPOSED>(a, b, &mut out, column);
            column += 4;
        }
        if adjacent && column + 2 <= columns {
            rows::<T, 2, TRANSPOSED>(a, b, &mut out, column);
            column += 2;
        }
        while column < columns {
            rows::<T, 1, TRANSPOSED>(a, b, &mut out, column);
            column += 1;
        }
    }
}

/// Computes `C` columns of the result, from `column` on.
#[inline(always)]
fn rows<T: LinalgScalar, const C: usize, const TRANSPOSED: bool>(
    a: Block<'_, T>,
    b: Block<'_, T>,
    out: &mut Grid<'_, WriteOnly<T>>,
    column: usize,
) {
    let mut row = 0;
    while row + ROWS <= a.rows() {
        tile::<T, ROWS, C, TRANSPOSED>(a, b, out, [row, column]);
        row += ROWS;
    }
    while row < a.rows() {
        tile::<T, 1, C, TRANSPOSED>(a, b, out, [row, column]);
        row += 1;
    }
}

/// Computes `R` rows and `C` columns of the result, from `row` and `column` on.
#[inline(always)]
fn tile<T: LinalgScalar, const R: usize, const C: usize, const TRANSPOSED: bool>(
    a: Block<'_, T>,
    b: Block<'_, T>,
    out: &mut Grid<'_, WriteOnly<T>>,
    [row, column]: [usize; 2],
) {
    let mut sums = [[T::zero(); C]; R];
    for (xs, ys) in a.terms::<R, C>(row, b, column) {
        for (sums, x) in sums.iter_mut().zip(xs) {
            for (sum, y) in sums.iter_mut().zip(ys) {
                *sum = *sum + if TRANSPOSED { y * x } else { x * y };
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        let slots = out.part::<C>(row + r, column);
        for (slot, &sum) in slots.iter_mut().zip(&sums) {
            slot.write(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::loops::stride_along;
    use alloc::{vec, vec::Vec};

    fn of(len: usize, strides: [isize; 3]) -> Loop {
        Loop::new(len, strides.map(|stride| stride_along(len, stride)))
    }

    /// The strategy for matrices of these sizes and strides, and a dense result.
    fn strategy([rows, terms, columns]: [usize; 3], a: [isize; 2], b: [isize; 2]) -> ProductStrategy {
        let out = [columns.cast_signed(), 1];
        ProductStrategy::of(&[
            of(rows, [out[0], a[0], 0]),
            of(terms, [0, a[1], b[0]]),
            of(columns, [out[1], 0, b[1]]),
        ])
    }

    #[test]
    fn the_quickest_strategy() {
        for n in [2_usize, 3, 4, 6] {
            let s = n.cast_signed();
            assert_eq!(strategy([n, n, n], [s, 1], [s, 1]), ProductStrategy::Fixed([n, n, n]));
            assert_eq!(strategy([n, n, 1], [s, 1], [1, 1]), ProductStrategy::Fixed([n, n, 1]));
        }
        assert_eq!(strategy([1, 3, 1], [3, 1], [1, 1]), ProductStrategy::Fixed([1, 3, 1]));
        assert_eq!(strategy([1, 6, 1], [9, 1], [1, 7]), ProductStrategy::Fixed([1, 6, 1]));
        assert_eq!(strategy([5, 5, 5], [5, 1], [5, 1]), ProductStrategy::Tiles { transposed: false });
        assert_eq!(strategy([3, 3, 3], [4, 1], [3, 1]), ProductStrategy::Tiles { transposed: false });
        // the columns of the first matrix, and of a result that is a column
        assert_eq!(strategy([5, 20, 1], [1, 5], [1, 1]), ProductStrategy::Tiles { transposed: true });
        assert_eq!(strategy([5, 20, 1], [20, 1], [1, 1]), ProductStrategy::Dots);
        assert_eq!(strategy([5, 15, 1], [15, 1], [1, 1]), ProductStrategy::Columns);
        assert_eq!(strategy([5, 20, 4], [20, 1], [1, 20]), ProductStrategy::Dots);
        assert_eq!(strategy([5, 20, 4], [40, 2], [1, 20]), ProductStrategy::Columns);
        assert_eq!(strategy([5, 20, 1], [20, 1], [2, 1]), ProductStrategy::Columns);
    }

    #[test]
    fn the_library_takes_large_ones() {
        let square = |n: usize, step: isize| {
            let s = n.cast_signed();
            [of(n, [s, s, 0]), of(n, [0, step, s]), of(n, [1, 0, 1])]
        };
        assert!(Library::suits::<f32>(&square(41, 1)) && Library::suits::<f64>(&square(41, 1)));
        assert!(!Library::suits::<f32>(&square(40, 1)), "too small");
        assert!(Library::may_suit::<f32>(&[32, 64], 32), "just enough");
        assert!(!Library::may_suit::<f32>(&[32, 64], 31) && !Library::may_suit::<f32>(&[512, 512], 7));
        assert!(!Library::suits::<f32>(&square(41, -1)), "backwards");
        assert!(!Library::suits::<i32>(&square(41, 1)), "no loop of its own");
        let thin = [of(1 << 10, [7, 1 << 10, 0]), of(1 << 10, [0, 1, 7]), of(7, [1, 0, 1])];
        assert!(!Library::suits::<f64>(&thin));
        let least = Library::MIN_SIZE;
        let [rows, terms, columns] = [of(1 << 10, [8, 8, 0]), of(least, [0, 1, 8]), of(least, [1, 0, 1])];
        assert!(Library::suits::<f64>(&[rows, terms, columns]));
    }

    #[test]
    fn threads_share_batches_and_rows_of_the_library() {
        let loops: Vec<_> = [2, 3, 4, 5, 6].map(|len| of(len, [1, 1, 1])).into();
        let cuts = |may_cut: &dyn Fn(usize, &[Loop]) -> bool| {
            (0..loops.len()).filter(|&place| may_cut(place, &loops)).collect::<Vec<_>>()
        };
        let products = |place, loops: &_| Task::<WriteOnly<f32>, _>::may_cut(&Products, place, loops);
        let library = |place, loops: &_| Task::<f32, _>::may_cut(&Library, place, loops);
        assert_eq!([cuts(&products), cuts(&library)], [vec![0, 1], vec![0, 1, 2]]);
        let grains = [Task::<WriteOnly<f32>, _>::grain(&Products), Task::<f32, _>::grain(&Library)];
        assert_eq!(grains, [GRAIN; 2]);
    }

    #[test]
    fn batches_are_rows_or_columns() {
        let joined = |loops: &[Loop]| {
            let mut room = Loops::new();
            room.products(loops);
            room.to_vec()
        };
        // one matrix for many vectors, and for many matrices without gaps
        let matrix = [of(4, [1, 3, 0]), of(3, [0, 1, 1])];
        let vectors = [of(9, [4, 0, 3]), matrix[0], matrix[1], of(1, [0, 0, 0])];
        assert_eq!(joined(&vectors), [matrix[0], matrix[1], of(9, [4, 0, 3])]);
        let last = [of(3, [0, 1, 5]), of(5, [1, 0, 1])];
        let matrices = [of(2, [99, 60, 7]), of(6, [20, 12, 0]), of(4, [5, 3, 0]), last[0], last[1]];
        assert_eq!(joined(&matrices), [matrices[0], of(24, [5, 3, 0]), last[0], last[1]]);
        // with gaps, or with another matrix for each batch element
        let gaps = [of(6, [21, 12, 0]), of(4, [5, 3, 0]), last[0], last[1]];
        assert_eq!(joined(&gaps), gaps);
        let others = [of(6, [20, 12, 15]), of(4, [5, 3, 0]), last[0], last[1]];
        assert_eq!(joined(&others), others);
    }
}
