//! Products of many matrices: rows of the first with columns of the second.
//!
//! ```text
//! for each batch element:
//!     library:  large matrices, and batches that share a matrix and so make a large one: `ndarray::linalg`
//!     fixed:    tiny matrices of sizes that the compiler knows, all sums side by side
//!     tiles:    for 4 rows and 8 columns: sums[4][8] += a[4] * b[8], for each term
//!     dots:     for each row and column: eight accumulators, if the terms are adjacent in both matrices
//! ```
//!
//! Memory: any strides, but each way has its condition.
//! - *Fixed*: three matrices without gaps.
//! - *Tiles*: several columns are adjacent in the second matrix and in the result. Where the rows are adjacent in the first
//!   matrix and in the result instead, the transposed product is computed. For all other strides, tiles have one column.
//! - *Dots*: 16 terms or more, adjacent in both matrices, and no adjacent columns.
//! - *Library*: no negative strides.
//!
//! *Dots* adds eight partial sums; *fixed* and *tiles* add in the order of the terms.
//! The choice and the order do not depend on the CPU or on the number of threads.

#![forbid(unsafe_code)]

use super::loop_plan::{LoopPlan, Loops};
use super::loops::Loop;
use super::memory::{Reserved, WriteOnly, array};
use super::nest::{Inputs, Nest, Output};
use super::simd::{self, Cpu, Work};
use super::strided::are_packed;
use super::threads::{Executor, Task};
use core::any::TypeId;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array, Dimension, LinalgScalar};

/// The fewest terms that are added in several accumulators.
const PARTS_FROM: usize = 16;
/// The number of accumulators of a sum.
const PARTS: usize = 8;
/// Rows of a tile.
const ROWS: usize = 4;
/// The fewest multiplications for which the library was measured to be faster.
const LIBRARY_MULTIPLICATIONS: usize = 1 << 16;
/// The fewest rows, terms and columns for which the library was measured to be faster.
const LIBRARY_SIZE: usize = 8;

/// Products of one type: batches, and three loops.
type Product<'a, T> = Nest<'a, WriteOnly<T>, (T, T)>;

/// Multiplies the last axes of two arrays into `out`, for each index of the outer axes.
///
/// `axes` are the numbers of last axes of `out`, `a` and `b`: two for a matrix, one for a vector. The vector of `a` is a
/// row, that of `b` a column. The vector of `out` is a row if `a` has a vector, else a column.
///
/// # Panics
/// If the sizes do not go together, or the outer axes do not stretch to those of `out`.
pub(crate) fn products_into<T: LinalgScalar>(
    out: Output<'_, T>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
    executor: impl Executor<WriteOnly<T>, (T, T), Products<T, WriteOnly<T>>> + Executor<T, (T, T), Products<T, T>>,
) {
    let (mut plan, mut room) = (LoopPlan::new(), Loops::new());
    let Some(mut nest) = Nest::products(&mut plan, out, inputs, axes) else { return };
    let joined = nest.joined(&mut room);
    if suits_library::<T>(joined.loops()) {
        return executor.run(joined, &Products(by_library));
    }
    by_loops(nest.overwriting(), executor);
}

/// [`products_into`] a new array.
pub(crate) fn products_to_new<T: LinalgScalar, D: Dimension>(
    reserved: Reserved<T, D>,
    inputs: Inputs<'_, (T, T)>,
    axes: [usize; 3],
    executor: impl Executor<WriteOnly<T>, (T, T), Products<T, WriteOnly<T>>> + Executor<T, (T, T), Products<T, T>>,
) -> Array<T, D> {
    // the last axis of the first operand, a matrix or a vector
    let terms = inputs.axes(1).sizes.last();
    if terms.is_some_and(|&terms| may_suit_library::<T>(reserved.len(), terms)) {
        let mut out = reserved.filled(T::zero());
        products_into(Output::of(&mut out), inputs, axes, executor);
        return out;
    }
    reserved.written(None, |out| {
        let (out, mut plan) = (Output::of(out).write_only(), LoopPlan::new());
        if let Some(nest) = Nest::products(&mut plan, out, inputs, axes) {
            by_loops(nest, executor);
        }
    })
}

fn by_loops<T: LinalgScalar>(
    nest: Product<'_, T>,
    executor: impl Executor<WriteOnly<T>, (T, T), Products<T, WriteOnly<T>>>,
) {
    let [.., rows, _, columns] = nest.loops() else { unreachable!("three loops") };
    if are_adjacent(rows, 1) && !are_adjacent(columns, 2) {
        let mut room = Loops::new();
        return executor.run(
            nest.transposed(&mut room),
            &Products(|nest| simd::dispatch(Multiply { nest, transposed: true })),
        );
    }
    executor.run(nest, &Products(|nest| simd::dispatch(Multiply { nest, transposed: false })));
}

/// Whether elements of the output and of operand `k` are adjacent along a loop.
fn are_adjacent(l: &Loop, k: usize) -> bool {
    l.strides[0] == 1 && l.strides[k] == 1
}

/// Whether the library may be faster for so many sums. It has loops of its own for these types only.
fn may_suit_library<T: 'static>(sums: usize, terms: usize) -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>())
        && terms >= LIBRARY_SIZE
        && sums.saturating_mul(terms) >= LIBRARY_MULTIPLICATIONS
}

/// Whether these products are computed by the library.
fn suits_library<T: 'static>(loops: &[Loop]) -> bool {
    let [.., rows, terms, columns] = loops else { unreachable!("three loops") };
    may_suit_library::<T>(rows.len * columns.len, terms.len)
        && rows.len.min(columns.len) >= LIBRARY_SIZE
        && [rows, terms, columns].iter().all(|l| l.strides.iter().all(|&stride| stride >= 0))
}

/// A function for the products of a nest, or for each of its parts.
pub(crate) struct Products<T, S>(fn(Nest<'_, S, (T, T)>));

impl<T, S> Task<S, (T, T)> for Products<T, S> {
    /// The fewest multiplications that are worth another thread.
    fn grain(&self) -> usize {
        1 << 15
    }

    /// Whether the loop is over batches or rows: these cuts change no sum.
    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        place + 2 < loops.len()
    }

    #[inline]
    fn run(&self, part: Nest<'_, S, (T, T)>) {
        (self.0)(part);
    }
}

/// Products by `ndarray::linalg`.
fn by_library<T: LinalgScalar>(nest: Nest<'_, T, (T, T)>) {
    let mut products = nest.walk(3);
    while let Some(product) = products.next() {
        let ([a, b], mut out) = product.views();
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    }
}

/// Products by the loops of this module.
struct Multiply<'a, T> {
    nest: Product<'a, T>,
    transposed: bool,
}

impl<T: LinalgScalar> Work for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { nest, transposed } = self;
        let [.., rows, terms, columns] = nest.loops() else { unreachable!("three loops") };
        let sizes = [rows.len, terms.len, columns.len];
        let is_packed = are_packed(nest.loops(), sizes);
        match sizes {
            [2, 2, 1] if is_packed => fixed::<T, 2, 2, 1>(nest),
            [3, 3, 1] if is_packed => fixed::<T, 3, 3, 1>(nest),
            [4, 4, 1] if is_packed => fixed::<T, 4, 4, 1>(nest),
            [6, 6, 1] if is_packed => fixed::<T, 6, 6, 1>(nest),
            [2, 2, 2] if is_packed => fixed::<T, 2, 2, 2>(nest),
            [3, 3, 3] if is_packed => fixed::<T, 3, 3, 3>(nest),
            [4, 4, 4] if is_packed => fixed::<T, 4, 4, 4>(nest),
            [6, 6, 6] if is_packed => fixed::<T, 6, 6, 6>(nest),
            [1, 3, 1] if is_packed => fixed::<T, 1, 3, 1>(nest),
            [1, 6, 1] if is_packed => fixed::<T, 1, 6, 1>(nest),
            _ => tiles(nest, transposed),
        }
    }
}

/// Tiny matrices without gaps: `M` rows, sums of `N` terms, `P` columns.
#[inline(always)]
fn fixed<T: LinalgScalar, const M: usize, const N: usize, const P: usize>(nest: Product<'_, T>) {
    let mut products = nest.packed::<M, N, P>();
    while let Some((a, b, out)) = products.next() {
        // all sums side by side, stored at the end: their chains of additions overlap
        let terms = (0..N).map(|j| (array(|i| a[i][j]), b[j]));
        write(&mut out.each_mut(), sums::<T, M, P>(terms, false));
    }
}

/// The sum of the products of two rows. With several rows at a time, the compiler gathers their terms instead of loading
/// them side by side (2x slower).
#[inline(always)]
fn dot<T: LinalgScalar>([mut a, mut b]: [&[T]; 2]) -> T {
    let mut parts = [T::zero(); PARTS];
    while let (Some((x, rest_a)), Some((y, rest_b))) =
        (a.split_first_chunk::<PARTS>(), b.split_first_chunk::<PARTS>())
    {
        parts = array(|k| parts[k] + x[k] * y[k]);
        (a, b) = (rest_a, rest_b);
    }
    // written out: with computed indices, the compiler keeps the parts in memory
    let [p0, p1, p2, p3, p4, p5, p6, p7] = parts;
    let mut sum = ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7));
    while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first()) {
        sum = sum + x * y;
        (a, b) = (rest_a, rest_b);
    }
    sum
}

/// Tiles of the result that stay in registers while their terms are added. They are several columns wide if these are
/// adjacent. Otherwise, long sums whose terms are adjacent in both matrices have several accumulators.
#[inline(always)]
fn tiles<T: LinalgScalar>(nest: Product<'_, T>, transposed: bool) {
    let mut products = nest.walk(3);
    while let Some(mut product) = products.next() {
        let [rows, terms, columns] = product.loops() else { unreachable!("three loops") };
        let mut column = 0;
        if are_adjacent(columns, 2) {
            column = tiles_from::<T, 8>(&mut product, column, transposed);
            column = tiles_from::<T, 4>(&mut product, column, transposed);
            column = tiles_from::<T, 2>(&mut product, column, transposed);
        } else if terms.len >= PARTS_FROM && terms.strides[1] == 1 && terms.strides[2] == 1 {
            while column < columns.len {
                for row in 0..rows.len {
                    let sum = dot(product.lanes_of(row, column));
                    write(&mut product.tile::<1, 1>(row, column).1, [[sum]]);
                }
                column += 1;
            }
        }
        tiles_from::<T, 1>(&mut product, column, transposed);
    }
}

/// Computes columns of the result, `C` at a time, from `column` on. Returns the first one that remains.
#[inline(always)]
fn tiles_from<T: LinalgScalar, const C: usize>(
    product: &mut Product<'_, T>,
    mut column: usize,
    transposed: bool,
) -> usize {
    let [rows, _, columns] = product.loops() else { unreachable!("three loops") };
    while column + C <= columns.len {
        let mut row = 0;
        while row + ROWS <= rows.len {
            tile::<T, ROWS, C>(product, row, column, transposed);
            row += ROWS;
        }
        while row < rows.len {
            tile::<T, 1, C>(product, row, column, transposed);
            row += 1;
        }
        column += C;
    }
    column
}

/// Computes `R` rows and `C` columns of the result, from `row` and `column` on.
#[inline(always)]
fn tile<T: LinalgScalar, const R: usize, const C: usize>(
    product: &mut Product<'_, T>,
    row: usize,
    column: usize,
    transposed: bool,
) {
    let (terms, mut slots) = product.tile::<R, C>(row, column);
    write(&mut slots, sums(terms, transposed));
}

/// For each row and column, the sum of the products of their factors.
#[inline(always)]
fn sums<T: LinalgScalar, const R: usize, const C: usize>(
    mut terms: impl Iterator<Item = ([T; R], [T; C])>,
    transposed: bool,
) -> [[T; C]; R] {
    let times = |x: T, y: T| if transposed { y * x } else { x * y };
    let Some((xs, ys)) = terms.next() else { return [[T::zero(); C]; R] };
    let mut sums = array(|r| array(|c| times(xs[r], ys[c])));
    for (xs, ys) in terms {
        for r in 0..R {
            for c in 0..C {
                sums[r][c] = sums[r][c] + times(xs[r], ys[c]);
            }
        }
    }
    sums
}

#[inline(always)]
fn write<T: Copy, const R: usize, const C: usize>(
    slots: &mut [&mut [WriteOnly<T>; C]; R],
    sums: [[T; C]; R],
) {
    for r in 0..R {
        for c in 0..C {
            slots[r][c].write(sums[r][c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::loops::stride_along;

    fn of(len: usize, strides: [isize; 3]) -> Loop {
        Loop::new(len, strides.map(|stride| stride_along(len, stride)))
    }

    #[test]
    fn the_library_takes_large_ones() {
        let square = |n: usize, step: isize| {
            let s = n.cast_signed();
            [of(n, [s, s, 0]), of(n, [0, step, s]), of(n, [1, 0, 1])]
        };
        assert!(suits_library::<f32>(&square(41, 1)) && suits_library::<f64>(&square(41, 1)));
        assert!(!suits_library::<f32>(&square(40, 1)), "too small");
        assert!(may_suit_library::<f32>(32 * 64, 32), "just enough");
        assert!(!may_suit_library::<f32>(32 * 64, 31) && !may_suit_library::<f32>(512 * 512, 7));
        assert!(!suits_library::<f32>(&square(41, -1)), "backwards");
        assert!(!suits_library::<i32>(&square(41, 1)), "no loop of its own");
        let thin = [of(1 << 10, [7, 1 << 10, 0]), of(1 << 10, [0, 1, 7]), of(7, [1, 0, 1])];
        assert!(!suits_library::<f64>(&thin));
        let [rows, terms, columns] =
            [of(1 << 10, [8, 8, 0]), of(LIBRARY_SIZE, [0, 1, 8]), of(LIBRARY_SIZE, [1, 0, 1])];
        assert!(suits_library::<f64>(&[rows, terms, columns]));
    }

    #[test]
    fn threads_share_batches_and_rows() {
        let loops = [2, 3, 4, 5, 6].map(|len| of(len, [1, 1, 1]));
        let task = Products::<f32, f32>(by_library);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|place| task.may_cut(place, &loops)),
            [true, true, true, false, false]
        );
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
