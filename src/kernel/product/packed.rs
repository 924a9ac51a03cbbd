//! Products of contiguous matrices and vectors that lie one after the other, in one call for all.

#![forbid(unsafe_code)]

use super::sides::{TERMS, sides};
use super::tiles::Matrices;
use crate::kernel::memory::List;
use crate::kernel::simd::{Work, dispatch_or};
use core::marker::PhantomData;
use ndarray::{ArrayRef, Dimension, LinalgScalar};

/// A way to compute packed products.
pub(super) type PackedWay<T> = for<'m> fn(Packed<'m, T>);

/// Computes products of contiguous operands.
pub(super) fn packed_into<T: LinalgScalar, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    factors: Option<(&[T], &[T])>,
    shapes: [&[usize]; 2],
    axes: [usize; 3],
    way: PackedWay<T>,
) {
    let sides = sides(shapes, axes);
    let mut batch = Batch::new();
    let mut steps = [sides[0] * sides[1], sides[1] * sides[2]];
    for (i, &len) in out.shape().iter().rev().skip(axes[0]).enumerate() {
        let own = [0, 1].map(|k| shapes[k].iter().rev().nth(axes[k + 1] + i).copied().unwrap_or(1));
        let moved = [0, 1].map(|k| if own[k] == 1 { 0 } else { steps[k] });
        match batch.last_mut() {
            _ if len == 1 => {}
            Some((inner, by)) if [0, 1].map(|k| by[k] * *inner) == moved => *inner *= len,
            _ => batch.push((len, moved)),
        }
        steps = [0, 1].map(|k| steps[k] * own[k]);
    }
    if let (Some((a, b)), Some(out)) = (factors, out.as_slice_mut()) {
        way(Packed { a, b, out, sides, batch: &batch });
    }
}

/// The way for contiguous matrices of these sides, without pairwise sums of more than 64 terms.
pub(super) fn way_for<T: LinalgScalar>(sides: [usize; 3]) -> PackedWay<T> {
    let [_, terms, columns] = sides;
    let is_narrow = terms < TERMS && columns == 1;
    fixed(sides).unwrap_or(if is_narrow {
        each_product::<T, Narrow>
    } else {
        each_product::<T, Tiles<false>>
    })
}

/// The way for matrices of a size that the compiler knows.
#[inline]
pub(super) fn fixed<T: LinalgScalar>(sides: [usize; 3]) -> Option<PackedWay<T>> {
    macro_rules! ways {
        ($($n:literal)*) => {
            match sides {
                // not 8 times 8: it has too many accumulators for registers, and tiles take 0.7 of its time
                $([1, $n, $n] => each_product::<T, Fixed<1, $n, $n>>,
                [$n, $n, 1] => each_product::<T, Fixed<$n, $n, 1>>,
                [$n, $n, $n] => each_product::<T, Fixed<$n, $n, $n>>,)*
                [8, 8, 1] => each_product::<T, Fixed<8, 8, 1>>,
                _ => return None,
            }
        };
    }
    Some(ways!(2 3 4 5 6 7))
}

/// The axes along which there are products, innermost first: their lengths, and the elements that each operand moves. Where an
/// operand is shared, it moves by none.
type Batch = List<(usize, [usize; 2]), 4>;

/// Contiguous matrices.
pub(super) struct Packed<'m, T> {
    pub(super) a: &'m [T],
    pub(super) b: &'m [T],
    pub(super) out: &'m mut [T],
    /// The rows, terms and columns of each product.
    pub(super) sides: [usize; 3],
    /// As in [`Batch`].
    pub(super) batch: &'m [(usize, [usize; 2])],
}

/// A way to multiply two contiguous matrices.
pub(super) trait Multiply<T> {
    /// Whether the loop is compiled for the CPU.
    const IS_WIDE: bool = true;

    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn multiply(sides: [usize; 3], a: &[T], b: &[T], out: &mut [T]);
}

pub(super) fn each_product<T, M: Multiply<T>>(matrices: Packed<'_, T>) {
    struct Each<'m, T, M>(Packed<'m, T>, PhantomData<M>);
    impl<T, M: Multiply<T>> Work for Each<'_, T, M> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let Packed { a, b, out, sides, batch } = self.0;
            let [rows, terms, columns] = sides;
            let [size_a, size_b, size] = [rows * terms, terms * columns, rows * columns];
            let axis = |i: usize| batch.get(i).copied().unwrap_or((1, [0; 2]));
            let [(len, by), (rows, to_row)] = [axis(0), axis(1)];
            for (mut rest, out) in out.chunks_exact_mut(rows * len * size).enumerate() {
                let mut at = [0; 2];
                for &(len, by) in batch.iter().skip(2) {
                    at = [0, 1].map(|k| at[k] + rest % len * by[k]);
                    rest /= len;
                }
                for out in out.chunks_exact_mut(len * size) {
                    let [mut at_a, mut at_b] = at;
                    for out in out.chunks_exact_mut(size) {
                        M::multiply(sides, &a[at_a..][..size_a], &b[at_b..][..size_b], out);
                        (at_a, at_b) = (at_a + by[0], at_b + by[1]);
                    }
                    at = [0, 1].map(|k| at[k] + to_row[k]);
                }
            }
        }
    }
    let each = Each::<T, M>(matrices, PhantomData);
    if M::IS_WIDE { dispatch_or(each, Work::run) } else { each.run() }
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

/// Any rows times a column, by the obvious loop. Wider vectors take longer for so few elements.
struct Narrow;

impl<T: LinalgScalar> Multiply<T> for Narrow {
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn multiply([_, terms, _]: [usize; 3], a: &[T], b: &[T], out: &mut [T]) {
        for (out, row) in out.iter_mut().zip(a.chunks_exact(terms)) {
            *out = row[1..].iter().zip(&b[1..]).fold(row[0] * b[0], |sum, (&x, &y)| sum + x * y);
        }
    }
}

/// Any rows, terms and columns, in tiles. Whether the right matrix has the left factors of multiplications.
pub(super) struct Tiles<const TURNED: bool>;

impl<T: LinalgScalar, const TURNED: bool> Multiply<T> for Tiles<TURNED> {
    #[inline(always)]
    fn multiply([_, terms, columns]: [usize; 3], a: &[T], b: &[T], out: &mut [T]) {
        let matrices = Matrices { a, b, out, sides: [terms, columns] };
        matrices.tiles(|x, y| if TURNED { y * x } else { x * y });
    }
}

/// A row times a column.
pub(super) struct Dots;

impl<T: LinalgScalar> Multiply<T> for Dots {
    #[inline(always)]
    fn multiply(_: [usize; 3], x: &[T], y: &[T], out: &mut [T]) {
        out[0] = dot(x, &y[..x.len()]);
    }
}

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
            sums = joined(&more);
        }
        rest = add_products(&mut sums, rest);
        let [a, b, c, d, e, f, g, h] = sums;
        sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
    rest.0.iter().zip(rest.1).fold(sum, |sum, (&x, &y)| sum + x * y)
}

/// Not inlined: joined in the loop's function, LLVM keeps the 32 accumulators in registers of two.
#[inline(never)]
fn joined<T: LinalgScalar>(sums: &[T; 32]) -> [T; 8] {
    core::array::from_fn(|i| (sums[i] + sums[i + 8]) + (sums[i + 16] + sums[i + 24]))
}

/// Adds the products of chunks of `N` factors to `N` accumulators. Returns the rest of the factors.
#[inline(always)]
fn add_products<'f, T: LinalgScalar, const N: usize>(
    sums: &mut [T; N],
    (x, y): (&'f [T], &'f [T]),
) -> (&'f [T], &'f [T]) {
    let (mut x, mut y, mut local) = (x.chunks_exact(N), y.chunks_exact(N), *sums);
    for (x, y) in x.by_ref().zip(y.by_ref()) {
        let (Some(x), Some(y)) = (x.first_chunk::<N>(), y.first_chunk::<N>()) else { continue };
        for i in 0..N {
            local[i] = local[i] + x[i] * y[i];
        }
    }
    *sums = local;
    (x.remainder(), y.remainder())
}
