//! Products of contiguous matrices and vectors that lie one after the other, in one call for all.

#![forbid(unsafe_code)]

use super::tiles::{Matrices, TERMS};
use super::{LIBRARY_MULTIPLICATIONS, LIBRARY_SIDE, VECTORS, suits_library};
use crate::kernel::memory::List;
use crate::kernel::nest::{ROUNDS, WIDE};
use crate::kernel::simd::{Work, dispatch_or};
use crate::kernel::threads::{GRAIN, in_two};
use core::marker::PhantomData;
use core::mem::take;
use ndarray::{ArrayRef, Dimension, LinalgScalar};

/// Multiplies many small matrices or pairs of vectors. Returns `false` if the operands are not packed: contiguous, and of a size
/// with a way of its own.
pub(super) fn packed_into<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
    run: impl FnOnce(Packed<'_, T>, fn(Packed<'_, T>)),
) -> bool {
    let shapes = &[a.shape(), b.shape()];
    let sides = sides(shapes, axes);
    let way = match fixed(sides) {
        _ if axes == VECTORS => each_product::<T, Dots<false>>,
        None if !is_small::<T>(sides) => return false,
        way => way.unwrap_or(in_order(sides)),
    };
    let (Some(a), Some(b)) = (elements(a), elements(b)) else { return false };
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
    let Some(out) = out.as_slice_mut() else { return false };
    if !out.is_empty() {
        run(Packed { a, b, out, sides, batch: &batch, first: 0 }, way);
    }
    true
}

/// The elements of an array in standard layout, if there are some.
#[inline]
pub(super) fn elements<T, D: Dimension>(array: &ArrayRef<T, D>) -> Option<&[T]> {
    array.as_slice().filter(|elements| !elements.is_empty())
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

/// Whether batch axes along which one factor stays make the matrices larger, as [`matrices`](super::matrices) has them. One vector
/// for all matrices is read from L1 either way. Few multiplications are not worth the question.
pub(super) fn are_joined<T: LinalgScalar>(results: usize, shapes: [&[usize]; 2], axes: [usize; 3]) -> bool {
    let terms = shapes[0].last().copied().unwrap_or(0);
    if results.saturating_mul(terms) <= LIBRARY_MULTIPLICATIONS {
        return false;
    }
    let len = |k: usize, i: usize| shapes[k].iter().rev().nth(axes[k + 1] + i).copied().unwrap_or(1);
    let most = shapes[0].len().max(shapes[1].len());
    let along = |k: usize| (0..most).filter(|&i| len(1 - k, i) == 1).map(|i| len(k, i)).product();
    let (a, b, [rows, _, columns]): (usize, usize, _) = (along(0), along(1), sides(&shapes, axes));
    // columns of several products are neighbours if there is one of each
    let has_columns = columns == 1 || columns < LIBRARY_SIDE && suits_library::<T>([rows, terms, b]);
    let is_larger = a > 1 && (axes[2] == 2 || b > 1) || b > 1 && rows > 1 && has_columns;
    is_larger && fixed::<T>([rows, terms, columns]).is_none()
}

/// The way for matrices of any size, without pairwise sums of more than 64 terms.
pub(super) fn in_order<T: LinalgScalar>([_, terms, columns]: [usize; 3]) -> fn(Packed<'_, T>) {
    if terms < TERMS && columns == 1 { each_product::<T, Narrow> } else { each_product::<T, Tiles<false>> }
}

/// The way for matrices of a size that the compiler knows.
#[inline]
pub(super) fn fixed<T: LinalgScalar>(sides: [usize; 3]) -> Option<fn(Packed<'_, T>)> {
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

/// Computes the products, or one product of long vectors, in halves on several threads.
pub(super) fn packed_in_halves<T: LinalgScalar + Send + Sync>(packed: Packed<'_, T>, way: fn(Packed<'_, T>)) {
    let sizes = packed.sizes();
    let count = packed.out.len() / sizes[2];
    if count.saturating_mul(sizes.iter().sum()) < 2 * GRAIN {
        return way(packed);
    }
    let ([at_a, at_b], _) = packed.place();
    let Packed { a, b, out, sides, batch, first } = packed;
    if count > 1 {
        let (lower, upper) = out.split_at_mut(count / 2 * sizes[2]);
        in_two(
            || packed_in_halves(Packed { a, b, out: lower, sides, batch, first }, way),
            || packed_in_halves(Packed { a, b, out: upper, sides, batch, first: first + count / 2 }, way),
        );
        return;
    }
    out[0] = pairwise(&a[at_a..][..sizes[0]], &b[at_b..][..sizes[1]], |[lower, upper]| {
        in_two(|| packed_in_halves(lower, way), || packed_in_halves(upper, way));
    });
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
    /// The number of products before those of `out`.
    pub(super) first: usize,
}

impl<T> Packed<'_, T> {
    /// The elements of a matrix of `a`, of `b` and of `out`.
    #[inline(always)]
    fn sizes(&self) -> [usize; 3] {
        let [rows, terms, columns] = self.sides;
        [rows * terms, terms * columns, rows * columns]
    }

    /// Where the operands of the first product begin, and its indices along the two innermost axes.
    #[inline]
    fn place(&self) -> ([usize; 2], [usize; 2]) {
        let (mut at, mut indices, mut rest) = ([0; 2], [0; 2], self.first);
        for (axis, &(len, by)) in self.batch.iter().enumerate() {
            let index = rest % len;
            rest /= len;
            at = [0, 1].map(|k| at[k] + index * by[k]);
            if axis < 2 {
                indices[axis] = index;
            }
        }
        (at, indices)
    }
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
        fn run(mut self) {
            let [size_a, size_b, size] = self.0.sizes();
            let axis = |i: usize| self.0.batch.get(i).copied().unwrap_or((1, [0; 2]));
            let [(len, by), (rows, to_row)] = [axis(0), axis(1)];
            while !self.0.out.is_empty() {
                let (at, [mut index, mut row]) = self.0.place();
                let mut start = [0, 1].map(|k| at[k] - index * by[k]);
                let Packed { a, b, ref mut out, sides, ref mut first, .. } = self.0;
                while row < rows && !out.is_empty() {
                    let count = ((len - index) * size).min(out.len());
                    let (products, rest) = take(out).split_at_mut(count);
                    let [mut at_a, mut at_b] = [0, 1].map(|k| start[k] + index * by[k]);
                    for out in products.chunks_exact_mut(size) {
                        M::multiply(sides, &a[at_a..][..size_a], &b[at_b..][..size_b], out);
                        (at_a, at_b) = (at_a + by[0], at_b + by[1]);
                    }
                    (*out, *first) = (rest, *first + len - index);
                    (index, row, start) = (0, row + 1, [0, 1].map(|k| start[k] + to_row[k]));
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

/// Any rows, terms and columns, in tiles. Whether the factors are swapped.
pub(super) struct Tiles<const SWAPPED: bool>;

impl<T: LinalgScalar, const SWAPPED: bool> Multiply<T> for Tiles<SWAPPED> {
    #[inline(always)]
    fn multiply([_, terms, columns]: [usize; 3], a: &[T], b: &[T], out: &mut [T]) {
        let matrices = Matrices { a, b, out, sides: [terms, columns] };
        matrices.tiles(|x, y| if SWAPPED { y * x } else { x * y });
    }
}

/// A row times a column. Whether the factors are swapped.
struct Dots<const SWAPPED: bool>;

impl<T: LinalgScalar, const SWAPPED: bool> Multiply<T> for Dots<SWAPPED> {
    #[inline(always)]
    fn multiply(_: [usize; 3], x: &[T], y: &[T], out: &mut [T]) {
        let (x, y) = if SWAPPED { (y, &x[..y.len()]) } else { (x, &y[..x.len()]) };
        out[0] = if x.len() > ROUNDS * WIDE {
            pairwise(x, y, |halves| halves.into_iter().for_each(each_product::<T, Dots<false>>))
        } else {
            dot(x, y)
        };
    }
}

/// Dot products of the rows of two matrices.
pub(super) fn each_dot<T: LinalgScalar, const SWAPPED: bool>(packed: Packed<'_, T>) {
    let [rows, terms, columns] = packed.sides;
    let batch = [(columns, [0, terms]), (rows, [terms, 0])];
    let batch = &batch[usize::from(columns == 1)..];
    each_product::<T, Dots<SWAPPED>>(Packed { sides: [1, terms, 1], batch, ..packed });
}

/// The product of long vectors: the sum of the products of their halves, which `multiply_both` computes.
#[inline(never)]
fn pairwise<T: LinalgScalar>(x: &[T], y: &[T], multiply_both: impl FnOnce([Packed<'_, T>; 2])) -> T {
    let middle = middle(x.len());
    let ((low_x, high_x), (low_y, high_y)) = (x.split_at(middle), y.split_at(middle));
    let (mut low, mut high) = ([T::zero()], [T::zero()]);
    let one = |a, b, out| Packed { a, b, out, sides: [1, a.len(), 1], batch: &[], first: 0 };
    multiply_both([one(low_x, low_y, &mut low), one(high_x, high_y, &mut high)]);
    low[0] + high[0]
}

/// Where a dot product is halved that has more terms than are added in registers.
fn middle(terms: usize) -> usize {
    (terms / 2).next_multiple_of(ROUNDS * WIDE)
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
