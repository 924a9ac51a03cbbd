//! Products of matrices without gaps between them, in one call for all.

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
use ndarray::{
    ArrayBase, ArrayView2, ArrayViewMut2, Axis, Ix2, LinalgScalar, RawData, ShapeBuilder,
    StrideShape,
};

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
        && multiplications(sides) >= LIBRARY_MULTIPLICATIONS
}

/// The multiplications of a product.
pub(super) fn multiplications(sides: [usize; 3]) -> usize {
    sides.into_iter().fold(1, usize::saturating_mul)
}

/// The elements of a result and its factors in the order of memory.
struct Operands<'m, T> {
    out: &'m mut [T],
    factors: [&'m [T]; 2],
}

/// Computes all products of a plan. Returns `false` if copies of factors would be too large.
#[inline]
pub(super) fn multiply<T: LinalgScalar>(
    out: &mut [T],
    mut factors: [&[T]; 2],
    mut plan: Plan,
    way: Way,
) -> bool {
    if plan.are_swapped {
        factors.swap(0, 1);
    }
    // sums of few terms have one order
    let are_few = way == Way::Tiles && plan.sides.terms.len < TERMS && plan.sides.has_near_terms();
    if way == Way::Dots || are_few && plan.sides.rows.len < ROWS {
        plan.split_rows();
    }
    let are_rows = plan.sides.rows.len == 1 && plan.sides.terms.by[A..] == [1; 2];
    let each = match way {
        Way::Library => each_product::<T, Library>,
        Way::Dots => each_product::<T, Dots>,
        Way::Tiles => match fixed(&plan.sides) {
            Some(each) => each,
            None if are_few && are_rows => each_product::<T, ShortDots>,
            None => each_product::<T, Tiles>,
        },
    };
    each(Operands { out, factors }, &plan)
}

type EachProduct<T> = for<'m> fn(Operands<'m, T>, &Plan) -> bool;

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
                $($n if is_square => each_product::<T, Square<$n>>,
                $n if is_column => each_product::<T, Column<$n>>,)*
                8 if is_column => each_product::<T, Column<8>>,
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
    /// Whether factors are copied where the terms of the first one are not contiguous, and those of the second or its columns.
    const COPIES: Option<Contiguous> = None;

    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn multiply(matrices: Matrices<'_, T>);
}

/// The axis of the second factor whose neighbours a way reads.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Contiguous {
    Terms,
    Columns,
}

fn each_product<T: LinalgScalar, M: Multiply<T>>(operands: Operands<'_, T>, plan: &Plan) -> bool {
    struct Each<'m, T, M>(Operands<'m, T>, &'m Plan, PhantomData<M>);
    impl<T: LinalgScalar, M: Multiply<T>> Work for Each<'_, T, M> {
        type Output = bool;

        #[inline(always)]
        fn run(self) -> bool {
            let Self(Operands { out, factors: [a, b] }, plan, _) = self;
            let (mut sides, are_swapped) = (plan.sides, plan.are_swapped);
            let (mut copy_of_a, mut copy_of_b) = (None, None);
            if let Some(contiguous) = M::COPIES {
                let Sides { rows, terms, columns } = &mut sides;
                copy_of_a = Copied::of(A, rows, terms);
                copy_of_b = match contiguous {
                    Contiguous::Terms => Copied::of(B, columns, terms),
                    Contiguous::Columns => Copied::of(B, terms, columns),
                };
            }
            if [&copy_of_a, &copy_of_b].into_iter().flatten().any(|copy| copy.is_large()) {
                return false;
            }
            let (inner, outer) = match plan.loops.split_first() {
                Some((inner, outer)) => (*inner, outer),
                None => (Loop::ONE, &[][..]),
            };
            for i in 0..outer.iter().map(|l| l.len).product() {
                let mut at = place(plan.at, outer, i);
                for _ in 0..inner.len {
                    let (a, at_a) = copy_of_a.as_mut().map_or((a, at[A]), |copy| copy.read(a, at[A]));
                    let (b, at_b) = copy_of_b.as_mut().map_or((b, at[B]), |copy| copy.read(b, at[B]));
                    let at_all = [at[OUT], at_a, at_b];
                    M::multiply(Matrices { out, a, b, sides: &sides, at: at_all, are_swapped });
                    at = [OUT, A, B].map(|k| at[k].wrapping_add(inner.by[k]));
                }
            }
            true
        }
    }
    let each = Each::<T, M>(operands, plan, PhantomData);
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
    /// The numbers of rows and of their elements, and their steps.
    loops: [(usize, usize); 2],
}

impl<T: Copy> Copied<T> {
    /// A copy of operand `k`, if its elements along `inner` are not contiguous. The loops become those of the copy.
    fn of(k: usize, outer: &mut Loop, inner: &mut Loop) -> Option<Self> {
        let loops = [&*outer, &*inner].map(|l| (l.len, l.by[k]));
        if inner.len == 1 || inner.by[k] == 1 {
            return None;
        }
        (outer.by[k], inner.by[k]) = (inner.len, 1);
        Some(Self { elements: Vec::new(), from: None, loops })
    }

    fn is_large(&self) -> bool {
        let [(rows, _), (len, _)] = self.loops;
        rows.saturating_mul(len) > COPIED
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

/// `N` rows, terms and columns.
struct Square<const N: usize>;

impl<T: LinalgScalar, const N: usize> Multiply<T> for Square<N> {
    #[inline(always)]
    fn multiply(Matrices { out, a, b, at, are_swapped, .. }: Matrices<'_, T>) {
        // slices of known lengths
        let (a, b, out) = (&a[at[A]..][..N * N], &b[at[B]..][..N * N], &mut out[at[OUT]..][..N * N]);
        // all accumulators side by side, stored at the end: their chains of additions overlap
        let mut sums = [[T::zero(); N]; N];
        for k in 0..N {
            for r in 0..N {
                for c in 0..N {
                    let product = times(a[r * N + k], b[k * N + c], are_swapped);
                    sums[r][c] = if k == 0 { product } else { sums[r][c] + product };
                }
            }
        }
        out.copy_from_slice(sums.as_flattened());
    }
}

/// A row and a matrix of `N` columns, each with `N` contiguous terms.
struct Column<const N: usize>;

impl<T: LinalgScalar, const N: usize> Multiply<T> for Column<N> {
    #[inline(always)]
    fn multiply(Matrices { out, a, b, at, are_swapped, .. }: Matrices<'_, T>) {
        let (a, b, out) = (&a[at[A]..][..N], &b[at[B]..][..N * N], &mut out[at[OUT]..][..N]);
        let mut sums = [T::zero(); N];
        for k in 0..N {
            for c in 0..N {
                let product = times(a[k], b[c * N + k], are_swapped);
                sums[c] = if k == 0 { product } else { sums[c] + product };
            }
        }
        out.copy_from_slice(&sums);
    }
}

/// Matrices of any layout, by `ndarray::linalg`.
struct Library;

impl<T: LinalgScalar> Multiply<T> for Library {
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides: Sides { rows, terms, columns }, at, .. }: Matrices<'_, T>) {
        let (of_a, of_b) = (Matrix::new(A, at, [rows, terms]), Matrix::new(B, at, [terms, columns]));
        let to = Matrix::new(OUT, at, [rows, columns]);
        let (a, b) = (of_a.of(a), of_b.of(b));
        let mut to = to.inverted(ArrayViewMut2::from_shape(to.shape(), &mut out[to.start..]).expect("a matrix"));
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut to);
    }
}

/// The place of a matrix among elements.
struct Matrix {
    start: usize,
    sides: [(usize, isize); 2],
}

impl Matrix {
    fn new(k: usize, at: [usize; 3], sides: [&Loop; 2]) -> Self {
        let sides = sides.map(|l| (l.len, l.by[k].cast_signed()));
        let start = sides.into_iter().fold(at[k], |at, (len, by)| at.wrapping_add_signed(by.min(0).wrapping_mul((len - 1).cast_signed())));
        Self { start, sides }
    }

    /// The sizes and strides without their signs.
    fn shape(&self) -> StrideShape<Ix2> {
        let [(rows, by_row), (columns, by_column)] = self.sides;
        (rows, columns).strides((by_row.unsigned_abs(), by_column.unsigned_abs()))
    }

    /// A matrix of this shape, inverted along axes with negative strides.
    fn inverted<S: RawData>(&self, mut matrix: ArrayBase<S, Ix2>) -> ArrayBase<S, Ix2> {
        for (axis, (_, by)) in self.sides.into_iter().enumerate() {
            if by < 0 {
                matrix.invert_axis(Axis(axis));
            }
        }
        matrix
    }

    fn of<'m, T>(&self, elements: &'m [T]) -> ArrayView2<'m, T> {
        self.inverted(ArrayView2::from_shape(self.shape(), &elements[self.start..]).expect("a matrix"))
    }
}

/// One row, and columns of contiguous terms. The terms are added pairwise.
struct Dots;

impl<T: LinalgScalar> Multiply<T> for Dots {
    const COPIES: Option<Contiguous> = Some(Contiguous::Terms);

    #[inline(always)]
    fn multiply(matrices: Matrices<'_, T>) {
        each_dot(matrices, dot);
    }
}

/// [`Dots`] of few terms, added in their order. Wider vectors take longer for so few.
struct ShortDots;

impl<T: LinalgScalar> Multiply<T> for ShortDots {
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn multiply(matrices: Matrices<'_, T>) {
        each_dot(matrices, |x, y, are_swapped| {
            let product = |(&x, &y): (&T, &T)| times(x, y, are_swapped);
            x.iter().zip(y).map(product).reduce(|sum, product| sum + product).unwrap_or(T::zero())
        });
    }
}

#[inline(always)]
fn each_dot<T>(
    Matrices { out, a, b, sides, at: [mut to, at_a, mut at_b], are_swapped }: Matrices<'_, T>,
    dot: impl Fn(&[T], &[T], bool) -> T,
) {
    let Sides { terms, columns, .. } = sides;
    let x = &a[at_a..][..terms.len];
    for _ in 0..columns.len {
        out[to] = dot(x, &b[at_b..][..terms.len], are_swapped);
        (to, at_b) = (to.wrapping_add(columns.by[OUT]), at_b.wrapping_add(columns.by[B]));
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
        sum = dot_of_chunk(x, y, are_swapped);
        let joined = if chunks.peek().is_none() { before.len() } else { chunk.trailing_zeros() as usize };
        let left = before.len() - joined;
        sum = before[left..].iter().rev().fold(sum, |sum, &former| former + sum);
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
