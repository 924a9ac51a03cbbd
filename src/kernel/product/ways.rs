//! The ways to multiply matrices, each in one call for all products.

#![forbid(unsafe_code)]

use super::COPIED;
use super::axes::{A, B, Loop, OUT, Plan, Sides};
use super::tiles::{ROWS, TERMS, Tiles};
use crate::kernel::memory::List;
use crate::kernel::nest::{ROUNDS, WIDE};
use crate::kernel::simd::{Work, dispatch};
use alloc::vec::Vec;
use core::any::TypeId;
use core::marker::PhantomData;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Ix2, LinalgScalar, ShapeBuilder, StrideShape};

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster.
pub(super) const LIBRARY_SIDE: usize = 8;
/// The terms of a dot product that are added in registers.
pub(super) const CHUNK: usize = ROUNDS * WIDE;

/// What decides the order of additions.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    Library,
    Dots,
    Tiles,
}

impl Way {
    #[inline]
    pub(super) fn of<T: 'static>(sides: &Sides) -> Self {
        let [rows, terms, columns] = sides.lens();
        if suits_library::<T>(sides.lens()) {
            Self::Library
        } else if rows < ROWS && sides.has_near_terms() && (terms >= TERMS || rows * columns == 1) {
            Self::Dots
        } else {
            Self::Tiles
        }
    }
}

/// Whether the library has loops for the type.
pub(super) fn has_library<T: 'static>() -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>())
}

/// Whether the library has loops for the type and may be faster.
pub(super) fn suits_library<T: 'static>(sides: [usize; 3]) -> bool {
    has_library::<T>()
        && sides.iter().all(|&side| side >= LIBRARY_SIDE)
        && sides.into_iter().fold(1, usize::saturating_mul) >= LIBRARY_MULTIPLICATIONS
}

/// Computes all products of a plan. Returns `false` if copies of factors would be too large, or if the library would read in reverse.
#[inline]
pub(super) fn multiply<T: LinalgScalar>(
    out: &mut [T],
    [a, b]: [&[T]; 2],
    mut plan: Plan,
    way: Way,
) -> bool {
    let is_near = plan.sides.has_near_terms();
    // few terms are added in the same order by each of these
    let are_few = way == Way::Tiles && is_near && plan.sides.terms.len < TERMS && plan.sides.rows.len < ROWS;
    let fixed = fixed(&plan.sides).filter(|_| way == Way::Tiles);
    let Sides { rows, terms, columns } = &mut plan.sides;
    let (copies, each): (_, EachProduct<T>) = if way == Way::Library {
        let sides = [rows, terms, columns];
        if sides.into_iter().flat_map(|l| l.by).any(|by| by.cast_signed() < 0) {
            return false;
        }
        ([None, None], each_product::<T, Library>)
    } else if let Some(each) = fixed {
        ([None, None], each)
    } else if are_few || way == Way::Dots {
        let copies = [Copied::new(A, rows, terms), Copied::new(B, columns, terms)];
        (copies, if are_few { each_product::<T, Dots<true>> } else { each_product::<T, Dots<false>> })
    } else {
        ([Copied::new(A, rows, terms), Copied::new(B, terms, columns)], each_product::<T, Tiles>)
    };
    let are_small = copies.iter().flatten().all(|copy| copy.len() <= COPIED);
    if are_small {
        each(out, if plan.are_swapped { [b, a] } else { [a, b] }, &plan, copies);
    }
    are_small
}

/// Computes all products of a plan, with copies of factors.
type EachProduct<T> = fn(&mut [T], [&[T]; 2], &Plan, [Option<Copied<T>>; 2]);

/// The way for matrices of a size that the compiler knows.
#[inline]
fn fixed<T: LinalgScalar>(sides: &Sides) -> Option<EachProduct<T>> {
    let ([rows, terms, n], Sides { rows: row, terms: term, columns: column }) = (sides.lens(), sides);
    let is_square = [rows, terms, row.by[OUT], row.by[A], term.by[B]] == [n; 5]
        && [column.by[OUT], term.by[A], column.by[B]] == [1; 3];
    let is_column =
        [terms, column.by[B]] == [n; 2] && [rows, column.by[OUT], term.by[A], term.by[B]] == [1; 4];
    macro_rules! ways {
        ($($n:literal)*) => {
            match n {
                // not 8 times 8: it has too many accumulators for registers, and tiles take 0.7 of its time
                $($n if is_square => each_product::<T, Fixed<$n, $n>>,
                $n if is_column => each_product::<T, Fixed<$n, 1>>,)*
                8 if is_column => each_product::<T, Fixed<8, 1>>,
                _ => return None,
            }
        };
    }
    Some(ways!(2 3 4 5 6 7))
}

/// One product.
pub(super) struct Matrices<'m, T> {
    pub(super) out: &'m mut [T],
    pub(super) a: &'m [T],
    pub(super) b: &'m [T],
    pub(super) sides: &'m Sides,
    /// Where the operands begin.
    pub(super) at: [usize; 3],
    pub(super) are_swapped: bool,
}

/// The product of an element of the first factor and one of the second.
#[inline(always)]
pub(super) fn times<T: LinalgScalar>(x: T, y: T, are_swapped: bool) -> T {
    if are_swapped { y * x } else { x * y }
}

/// A way to multiply two matrices.
pub(super) trait Multiply<T> {
    /// Whether the loop is compiled for the CPU.
    const IS_WIDE: bool = true;

    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn multiply(matrices: Matrices<'_, T>);
}

fn each_product<T: LinalgScalar, M: Multiply<T>>(
    out: &mut [T],
    factors: [&[T]; 2],
    plan: &Plan,
    copies: [Option<Copied<T>>; 2],
) {
    struct Each<'m, T, M>(&'m mut [T], [&'m [T]; 2], &'m Plan, [Option<Copied<T>>; 2], PhantomData<M>);
    impl<T: LinalgScalar, M: Multiply<T>> Work for Each<'_, T, M> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let Self(out, [a, b], &Plan { ref sides, ref loops, at, are_swapped }, [mut of_a, mut of_b], _) = self;
            let (inner, outer) = loops.split_first().unwrap_or((&Loop::ONE, &[]));
            for i in 0..outer.iter().map(|l| l.len).product() {
                let mut at = place(at, outer, i);
                for _ in 0..inner.len {
                    let (a, at_a) = of_a.as_mut().map_or((a, at[A]), |copy| copy.read(a, at[A]));
                    let (b, at_b) = of_b.as_mut().map_or((b, at[B]), |copy| copy.read(b, at[B]));
                    M::multiply(Matrices { out, a, b, sides, at: [at[OUT], at_a, at_b], are_swapped });
                    at = [OUT, A, B].map(|k| at[k].wrapping_add(inner.by[k]));
                }
            }
        }
    }
    let each = Each::<T, M>(out, factors, plan, copies, PhantomData);
    if M::IS_WIDE { dispatch(each) } else { each.run() }
}

/// Where the operands of a product are, whose number is `i`.
#[inline(always)]
fn place(mut at: [usize; 3], loops: &[Loop], mut i: usize) -> [usize; 3] {
    for l in loops {
        at = [OUT, A, B].map(|k| at[k].wrapping_add((i % l.len).wrapping_mul(l.by[k])));
        i /= l.len;
    }
    at
}

/// A contiguous copy of a factor.
struct Copied<T> {
    elements: Vec<T>,
    /// Where the copied factor begins.
    from: Option<usize>,
    /// The lengths and steps of its loops.
    loops: [(usize, usize); 2],
}

impl<T: Copy> Copied<T> {
    /// A copy of factor `k`, if its elements along `inner` are not contiguous. The loops become those of the copy.
    fn new(k: usize, outer: &mut Loop, inner: &mut Loop) -> Option<Self> {
        if inner.len == 1 || inner.by[k] == 1 {
            return None;
        }
        let loops = [&*outer, &*inner].map(|l| (l.len, l.by[k]));
        (outer.by[k], inner.by[k]) = (inner.len, 1);
        Some(Self { elements: Vec::new(), from: None, loops })
    }

    fn len(&self) -> usize {
        self.loops[0].0.saturating_mul(self.loops[1].0)
    }

    /// The copy of the factor that begins there.
    #[inline]
    fn read(&mut self, elements: &[T], at: usize) -> (&[T], usize) {
        let [(rows, by_row), (len, by)] = self.loops;
        if self.from.replace(at) != Some(at) {
            self.elements.clear();
            for row in 0..rows {
                let row = at.wrapping_add(row.wrapping_mul(by_row));
                self.elements.extend((0..len).map(|i| elements[row.wrapping_add(i.wrapping_mul(by))]));
            }
        }
        (&self.elements, 0)
    }
}

/// `N` rows, terms and columns; or, if `P` is 1, a row of `N` terms and `N` columns, whose terms are contiguous.
struct Fixed<const N: usize, const P: usize>;

impl<T: LinalgScalar, const N: usize, const P: usize> Multiply<T> for Fixed<N, P> {
    #[inline(always)]
    fn multiply(Matrices { out, mut a, mut b, mut at, mut are_swapped, .. }: Matrices<'_, T>) {
        if P == 1 {
            (a, b, at, are_swapped) = (b, a, [at[OUT], at[B], at[A]], !are_swapped);
        }
        // slices of known lengths
        let (a, b, out) = (&a[at[A]..][..N * N], &b[at[B]..][..N * P], &mut out[at[OUT]..][..N * P]);
        // all accumulators side by side, stored at the end: their chains of additions overlap
        let mut sums = [[T::zero(); P]; N];
        for k in 0..N {
            for r in 0..N {
                for c in 0..P {
                    let product = times(a[r * N + k], b[k * P + c], are_swapped);
                    sums[r][c] = if k == 0 { product } else { sums[r][c] + product };
                }
            }
        }
        out.copy_from_slice(sums.as_flattened());
    }
}

/// Matrices of any layout, by `ndarray::linalg`.
struct Library;

impl<T: LinalgScalar> Multiply<T> for Library {
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides: Sides { rows, terms, columns }, at, .. }: Matrices<'_, T>) {
        let shape = |k: usize, [rows, columns]: [&Loop; 2]| -> StrideShape<Ix2> {
            (rows.len, columns.len).strides((rows.by[k], columns.by[k]))
        };
        let a = ArrayView2::from_shape(shape(A, [rows, terms]), &a[at[A]..]).expect("a matrix");
        let b = ArrayView2::from_shape(shape(B, [terms, columns]), &b[at[B]..]).expect("a matrix");
        let to = ArrayViewMut2::from_shape(shape(OUT, [rows, columns]), &mut out[at[OUT]..]);
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut to.expect("a matrix"));
    }
}

/// Rows by columns of contiguous terms. Those of short ones are added in their order: wider vectors take longer for so few.
struct Dots<const ARE_SHORT: bool>;

impl<T: LinalgScalar, const ARE_SHORT: bool> Multiply<T> for Dots<ARE_SHORT> {
    const IS_WIDE: bool = !ARE_SHORT;

    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides, at: [to, at_a, at_b], are_swapped }: Matrices<'_, T>) {
        let Sides { rows, terms, columns } = sides;
        let product = |(&x, &y): (&T, &T)| times(x, y, are_swapped);
        for row in 0..rows.len {
            let x = &a[at_a.wrapping_add(row.wrapping_mul(rows.by[A]))..][..terms.len];
            let to = to.wrapping_add(row.wrapping_mul(rows.by[OUT]));
            for column in 0..columns.len {
                let y = &b[at_b.wrapping_add(column.wrapping_mul(columns.by[B]))..][..terms.len];
                out[to.wrapping_add(column.wrapping_mul(columns.by[OUT]))] = if ARE_SHORT {
                    let first = times(x[0], y[0], are_swapped);
                    x[1..].iter().zip(&y[1..]).map(product).fold(first, |sum, product| sum + product)
                } else {
                    dot(x, y, are_swapped)
                };
            }
        }
    }
}

/// The sum of products: of chunks, and these sums pairwise.
#[inline(always)]
fn dot<T: LinalgScalar>(x: &[T], y: &[T], are_swapped: bool) -> T {
    // sums of 2^n chunks, joined like the carries of a binary counter
    let mut before = List::<T, 8>::new();
    let mut chunks = x.chunks(CHUNK).zip(y.chunks(CHUNK)).zip(1_usize..).peekable();
    let mut sum = T::zero();
    while let Some(((x, y), chunk)) = chunks.next() {
        let joined = if chunks.peek().is_none() { before.len() } else { chunk.trailing_zeros() as usize };
        let left = before.len() - joined;
        let of_chunk = dot_of_chunk(x, y, are_swapped);
        sum = before[left..].iter().rev().fold(of_chunk, |sum, &former| former + sum);
        before.truncate(left);
        before.push(sum);
    }
    sum
}

/// The sum of few products.
#[inline(always)]
fn dot_of_chunk<T: LinalgScalar>(x: &[T], y: &[T], are_swapped: bool) -> T {
    let (mut sum, mut rest) = (T::zero(), (x, y));
    // in a shorter product, joining the accumulators would take longer than the additions
    if x.len() >= 8 {
        let mut sums = [T::zero(); 8];
        if x.len() >= 32 {
            let mut more = [T::zero(); 32];
            rest = add_products(&mut more, rest, are_swapped);
            for i in 0..8 {
                sums[i] = (more[i] + more[i + 8]) + (more[i + 16] + more[i + 24]);
            }
        }
        rest = add_products(&mut sums, rest, are_swapped);
        let [a, b, c, d, e, f, g, h] = sums;
        sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
    rest.0.iter().zip(rest.1).fold(sum, |sum, (&x, &y)| sum + times(x, y, are_swapped))
}

/// Adds the products of chunks of `N` factors to `N` accumulators. Returns the rest of the factors.
#[inline(always)]
fn add_products<'f, T: LinalgScalar, const N: usize>(
    sums: &mut [T; N],
    (x, y): (&'f [T], &'f [T]),
    are_swapped: bool,
) -> (&'f [T], &'f [T]) {
    let (mut x, mut y) = (x.chunks_exact(N), y.chunks_exact(N));
    for (x, y) in x.by_ref().zip(y.by_ref()) {
        for i in 0..N {
            sums[i] = sums[i] + times(x[i], y[i], are_swapped);
        }
    }
    (x.remainder(), y.remainder())
}
