//! Products of contiguous matrices and vectors that lie one after the other, in one call for all.

#![forbid(unsafe_code)]

use super::tiles::{Matrices, TERMS};
use super::{LIBRARY_MULTIPLICATIONS, VECTORS, suits_library};
use crate::kernel::nest::Inputs;
use crate::kernel::simd::{Work, dispatch};
use crate::kernel::threads::{GRAIN, in_two};
use core::marker::PhantomData;
use ndarray::{ArrayRef, Dimension, LinalgScalar};

/// Multiplies many small matrices or pairs of vectors. Returns `false` if the operands are not packed: contiguous, and of a size
/// with a way of its own.
pub(super) fn packed_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, (T, T)>,
    axes: [usize; 3],
    run: impl FnOnce(Packed<'_, T>, fn(Packed<'_, T>)),
) -> bool {
    let sides = sides(inputs.shapes(), axes);
    let way = match fixed(sides) {
        _ if axes == VECTORS && sides[1] > 0 => each_product::<T, Dots>,
        Some(way) => way,
        None if is_small::<T>(sides) && !has_one(inputs.shapes(), axes) => each_product::<T, Tiles<false>>,
        None => return false,
    };
    // an operand whose batch shape ends that of the result is repeated as a whole
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
    if !out.is_empty() {
        run(Packed::new(a, b, out, sides), way);
    }
    true
}

/// The rows, terms and columns of a product, by the shapes of its operands.
pub(super) fn sides(shapes: &[&[usize]], axes: [usize; 3]) -> [usize; 3] {
    let size = |k: usize, from_end: usize| shapes[k].iter().rev().nth(from_end).copied().unwrap_or(0);
    [if axes[1] == 2 { size(0, 1) } else { 1 }, size(0, 0), if axes[2] == 2 { size(1, 0) } else { 1 }]
}

/// The multiplications of a product.
pub(super) fn multiplications(sides: [usize; 3]) -> usize {
    sides.into_iter().fold(1, usize::saturating_mul)
}

/// Whether tiles of such matrices take less time than what comes before and after them for each product.
pub(super) fn is_small<T: 'static>(sides: [usize; 3]) -> bool {
    let [rows, terms, columns] = sides;
    (1..=LIBRARY_MULTIPLICATIONS).contains(&multiplications(sides))
        && !suits_library::<T>(sides)
        && !(terms >= TERMS && (rows == 1 || columns == 1))
}

/// Whether one matrix is multiplied with all others, which then become the rows of one product.
fn has_one(shapes: &[&[usize]], axes: [usize; 3]) -> bool {
    let is_one = |k: usize| shapes[k].iter().rev().skip(axes[k + 1]).all(|&size| size == 1);
    is_one(0) != is_one(1)
}

/// The way for matrices of a size that the compiler knows.
#[inline]
pub(super) fn fixed<T: LinalgScalar>(sides: [usize; 3]) -> Option<fn(Packed<'_, T>)> {
    macro_rules! ways {
        ($($n:literal)*) => {
            match sides {
                // not 8 times 8: it has too many accumulators for registers, and tiles take 0.7 of its time
                $([$n, $n, 1] => each_product::<T, Fixed<$n, $n, 1>>,
                [$n, $n, $n] => each_product::<T, Fixed<$n, $n, $n>>,)*
                [8, 8, 1] => each_product::<T, Fixed<8, 8, 1>>,
                _ => return None,
            }
        };
    }
    Some(ways!(2 3 4 5 6 7))
}

/// Computes the products, or one product of long vectors, in halves on several threads.
pub(super) fn packed_in_halves<T: LinalgScalar + Send + Sync>(packed: Packed<'_, T>, way: fn(Packed<'_, T>)) {
    let sizes = packed.sizes();
    let Packed { a, b, out, sides, first } = packed;
    let count = out.len() / sizes[2];
    if count.saturating_mul(sizes.iter().sum()) < 2 * GRAIN {
        return way(Packed { a, b, out, sides, first });
    }
    if count > 1 {
        let (lower, upper) = out.split_at_mut(count / 2 * sizes[2]);
        in_two(
            || packed_in_halves(Packed { a, b, out: lower, sides, first }, way),
            || packed_in_halves(Packed { a, b, out: upper, sides, first: first + count / 2 }, way),
        );
        return;
    }
    let [x, y] = [(a, sizes[0]), (b, sizes[1])].map(|(all, size)| &all[first * size % all.len()..][..size]);
    out[0] = pairwise(x, y, |[lower, upper]| {
        in_two(|| packed_in_halves(lower, way), || packed_in_halves(upper, way));
    });
}

/// Contiguous matrices, one after the other. An operand with fewer matrices is repeated.
pub(super) struct Packed<'m, T> {
    a: &'m [T],
    b: &'m [T],
    out: &'m mut [T],
    /// The rows, terms and columns of each product.
    sides: [usize; 3],
    /// The number of products before those of `out`.
    first: usize,
}

impl<'m, T> Packed<'m, T> {
    pub(super) fn new(a: &'m [T], b: &'m [T], out: &'m mut [T], sides: [usize; 3]) -> Self {
        Self { a, b, out, sides, first: 0 }
    }

    /// The elements of a matrix of `a`, of `b` and of `out`.
    #[inline(always)]
    fn sizes(&self) -> [usize; 3] {
        let [rows, terms, columns] = self.sides;
        [rows * terms, terms * columns, rows * columns]
    }
}

/// A way to multiply two contiguous matrices.
pub(super) trait Multiply<T> {
    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn multiply(sides: [usize; 3], a: &[T], b: &[T], out: &mut [T]);
}

pub(super) fn each_product<T, M: Multiply<T>>(matrices: Packed<'_, T>) {
    struct Each<'m, T, M>(Packed<'m, T>, PhantomData<M>);
    impl<T, M: Multiply<T>> Work for Each<'_, T, M> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let [size_a, size_b, size] = self.0.sizes();
            let Packed { a, b, out, sides, first } = self.0;
            let (mut next_a, mut next_b) = (first * size_a % a.len(), first * size_b % b.len());
            for out in out.chunks_exact_mut(size) {
                M::multiply(sides, &a[next_a..][..size_a], &b[next_b..][..size_b], out);
                next_a = if next_a + size_a == a.len() { 0 } else { next_a + size_a };
                next_b = if next_b + size_b == b.len() { 0 } else { next_b + size_b };
            }
        }
    }
    dispatch(Each::<T, M>(matrices, PhantomData));
}

/// `M` rows and `N` terms times `P` columns.
struct Fixed<const M: usize, const N: usize, const P: usize>;

impl<T: LinalgScalar, const M: usize, const N: usize, const P: usize> Multiply<T> for Fixed<M, N, P> {
    #[inline(always)]
    fn multiply(_: [usize; 3], a: &[T], b: &[T], out: &mut [T]) {
        // slices of known lengths
        let (a, b, out) = (&a[..M * N], &b[..N * P], &mut out[..M * P]);
        // all accumulators side by side, stored at the end: their chains of additions overlap
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
    }
}

/// Any rows, terms and columns, in tiles. Whether the factors are swapped.
pub(super) struct Tiles<const SWAPPED: bool>;

impl<T: LinalgScalar, const SWAPPED: bool> Multiply<T> for Tiles<SWAPPED> {
    #[inline(always)]
    fn multiply([_, terms, columns]: [usize; 3], a: &[T], b: &[T], out: &mut [T]) {
        let matrices = Matrices { a, b, out, sides: [terms, columns] };
        matrices.tiles(|x, y| if SWAPPED { y * x } else { x * y });
    }
}

/// A row times a column.
pub(super) struct Dots;

impl<T: LinalgScalar> Multiply<T> for Dots {
    #[inline(always)]
    fn multiply(_: [usize; 3], x: &[T], y: &[T], out: &mut [T]) {
        let y = &y[..x.len()];
        out[0] = if x.len() > CHUNK {
            pairwise(x, y, |halves| halves.into_iter().for_each(each_product::<T, Self>))
        } else {
            dot(x, y)
        };
    }
}

/// The product of long vectors: the sum of the products of their halves, which `multiply_both` computes.
#[inline(never)]
fn pairwise<T: LinalgScalar>(x: &[T], y: &[T], multiply_both: impl FnOnce([Packed<'_, T>; 2])) -> T {
    let middle = (x.len() / 2).next_multiple_of(CHUNK);
    let ((low_x, high_x), (low_y, high_y)) = (x.split_at(middle), y.split_at(middle));
    let (mut low, mut high) = ([T::zero()], [T::zero()]);
    multiply_both([
        Packed::new(low_x, low_y, &mut low, [1, low_x.len(), 1]),
        Packed::new(high_x, high_y, &mut high, [1, high_x.len(), 1]),
    ]);
    low[0] + high[0]
}

/// The most terms of a dot product that are added in registers.
const CHUNK: usize = 1024;

/// The sum of products.
#[inline(always)]
fn dot<T: LinalgScalar>(x: &[T], y: &[T]) -> T {
    let (mut sum, mut rest) = (T::zero(), (x, y));
    // in a shorter product, joining the accumulators would take longer than the additions
    if x.len() >= 8 {
        let mut sums = [T::zero(); 8];
        if x.len() >= 32 {
            let mut more = [T::zero(); 32];
            rest = add_products(&mut more, rest);
            for i in 0..8 {
                sums[i] = (more[i] + more[i + 8]) + (more[i + 16] + more[i + 24]);
            }
        }
        rest = add_products(&mut sums, rest);
        let [a, b, c, d, e, f, g, h] = sums;
        sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
    rest.0.iter().zip(rest.1).fold(sum, |sum, (&x, &y)| sum + x * y)
}

/// Adds the products of chunks of `N` factors to `N` accumulators. Returns the rest of the factors.
#[inline(always)]
fn add_products<'f, T: LinalgScalar, const N: usize>(
    sums: &mut [T; N],
    (x, y): (&'f [T], &'f [T]),
) -> (&'f [T], &'f [T]) {
    let (mut x, mut y) = (x.chunks_exact(N), y.chunks_exact(N));
    for (x, y) in x.by_ref().zip(y.by_ref()) {
        for i in 0..N {
            sums[i] = sums[i] + x[i] * y[i];
        }
    }
    (x.remainder(), y.remainder())
}
