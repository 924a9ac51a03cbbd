//! The ways to multiply matrices, each in one call for all products.

#![forbid(unsafe_code)]

use super::axes::{A, B, Loop, Plan, Sides};
use super::tiles::{ROWS, TERMS, Tiles};
use crate::kernel::memory::List;
use crate::kernel::nest::{ROUNDS, WIDE};
use crate::kernel::simd::{Work, dispatch};
use alloc::vec::Vec;
use core::any::TypeId;
use core::array::from_fn;
use core::marker::PhantomData;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Ix2, LinalgScalar, ShapeBuilder, StrideShape};

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
pub(super) const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster.
pub(super) const LIBRARY_SIDE: usize = 8;
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
        let [rows, _, columns] = sides.lens();
        if suits_library::<T>(sides.lens()) {
            Self::Library
        } else if rows < ROWS && sides.has_near_terms() && (!sides.has_few_terms() || rows * columns == 1) {
            Self::Dots
        } else {
            Self::Tiles
        }
    }

    /// The terms that are added in registers, before the sums of these are joined.
    pub(super) fn chunk(self) -> usize {
        if self == Self::Dots { ROUNDS * WIDE } else { TERMS }
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
pub(super) fn multiply<T: LinalgScalar>(out: &mut [T], [a, b]: [&[T]; 2], plan: &mut Plan, way: Way) -> bool {
    let reads_terms = way == Way::Dots || way == Way::Tiles && plan.sides.has_few_terms();
    let Sides { rows, terms, columns } = &mut plan.sides;
    let mut copies = [None, None];
    if way != Way::Library {
        let [outer, inner] = if reads_terms { [columns, &mut *terms] } else { [&mut *terms, columns] };
        copies[1] = Copied::new(B, outer, inner);
        copies[0] = Copied::new(A, rows, terms);
    } else if [rows, terms, columns].into_iter().flat_map(|l| l.by).any(|by| by.cast_signed() < 0) {
        return false;
    }
    let are_small = copies.iter().flatten().all(|copy| copy.len() <= 3 * LIBRARY_MULTIPLICATIONS);
    if are_small {
        let each = match way {
            Way::Library => each_product::<T, Library>,
            Way::Dots => each_product::<T, Dots<0>>,
            Way::Tiles => in_order(&plan.sides, reads_terms),
        };
        let factors = if plan.are_swapped { [b, a] } else { [a, b] };
        each(Products { out, factors, plan, copies: &mut copies });
    }
    are_small
}

/// All products of a plan, with copies of factors.
struct Products<'m, T> {
    out: &'m mut [T],
    factors: [&'m [T]; 2],
    plan: &'m Plan,
    copies: &'m mut [Option<Copied<T>>; 2],
}

/// The way for terms in their order, compiled for few terms.
#[inline]
fn in_order<T: LinalgScalar>(sides: &Sides, reads_terms: bool) -> fn(Products<'_, T>) {
    let n = sides.terms.len;
    let is_square = !reads_terms && sides.columns.len == n && sides.columns.by[0] == 1;
    macro_rules! ways {
        ($($n:literal)*) => {
            match n {
                $($n if is_square => each_product::<T, Square<$n>>,
                $n if reads_terms => each_product::<T, Dots<$n>>,)*
                8 if reads_terms => each_product::<T, Dots<8>>,
                _ if reads_terms => each_product::<T, Dots<1>>,
                _ => each_product::<T, Tiles>,
            }
        };
    }
    // not a square of 8: it has too many accumulators for registers, and tiles take 0.7 of its time
    ways!(2 3 4 5 6 7)
}

/// Products along one loop.
pub(super) struct Matrices<'m, T> {
    pub(super) out: &'m mut [T],
    pub(super) a: &'m [T],
    pub(super) b: &'m [T],
    pub(super) sides: &'m Sides,
    pub(super) inner: &'m Loop,
    /// Where the operands begin.
    pub(super) at: [usize; 3],
    pub(super) are_swapped: bool,
}

/// The product of an element of the first factor and one of the second.
#[inline(always)]
pub(super) fn times<T: LinalgScalar>(x: T, y: T, are_swapped: bool) -> T {
    if are_swapped { y * x } else { x * y }
}

/// A way to multiply matrices.
pub(super) trait Multiply<T> {
    /// Whether the loop is compiled for the CPU.
    const IS_WIDE: bool = true;

    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn multiply(matrices: Matrices<'_, T>);
}

fn each_product<T: LinalgScalar, M: Multiply<T>>(products: Products<'_, T>) {
    struct Each<'m, T, M>(Products<'m, T>, PhantomData<M>);
    impl<T: LinalgScalar, M: Multiply<T>> Work for Each<'_, T, M> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let Products { out, factors, plan, copies: [of_a, of_b] } = self.0;
            let Plan { sides, loops, are_swapped, .. } = plan;
            // copies are made for each product
            let most = usize::from(of_a.is_none() && of_b.is_none());
            let (inner, outer) = loops.split_at(loops.len().min(most));
            let inner = inner.first().unwrap_or(&Loop::ONE);
            for i in 0..outer.iter().map(|l| l.len).product() {
                let ([mut a, mut b], mut at) = (factors, place(plan.at, outer, i));
                if let Some(copy) = of_a {
                    (a, at[A]) = (copy.read(a, at[A]), 0);
                }
                if let Some(copy) = of_b {
                    (b, at[B]) = (copy.read(b, at[B]), 0);
                }
                M::multiply(Matrices { out, a, b, sides, inner, at, are_swapped: *are_swapped });
            }
        }
    }
    let each = Each::<T, M>(products, PhantomData);
    if M::IS_WIDE { dispatch(each) } else { each.run() }
}

/// Where the operands of a product are, whose number is `i`.
#[inline(always)]
fn place(mut at: [usize; 3], loops: &[Loop], mut i: usize) -> [usize; 3] {
    for l in loops {
        at = [0, A, B].map(|k| at[k].wrapping_add((i % l.len).wrapping_mul(l.by[k])));
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

impl<T: LinalgScalar> Copied<T> {
    /// A copy of factor `k`, if its elements along `inner` are not contiguous. The loops become those of the copy.
    #[inline]
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
    #[inline(never)]
    fn read(&mut self, elements: &[T], at: usize) -> &[T] {
        let [(_, by_row), (len, by)] = self.loops;
        if self.from.replace(at) != Some(at) {
            self.elements.resize(self.len(), T::zero());
            let mut row = at;
            for copies in self.elements.chunks_exact_mut(len) {
                let mut at = row;
                for copy in copies {
                    *copy = elements[at];
                    at = at.wrapping_add(by);
                }
                row = row.wrapping_add(by_row);
            }
        }
        &self.elements
    }
}

/// Any rows, of `N` terms, times `N` contiguous columns.
struct Square<const N: usize>;

impl<T: LinalgScalar, const N: usize> Multiply<T> for Square<N> {
    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides, inner, mut at, are_swapped }: Matrices<'_, T>) {
        let &Sides { rows, terms, .. } = sides;
        let is_packed = [rows.len, rows.by[0], rows.by[A], terms.by[B]] == [N; 4];
        for _ in 0..inner.len {
            let [mut to, mut at_a, at_b] = at;
            if is_packed {
                // slices of known lengths
                let (a, b) = (&a[at_a..][..N * N], &b[at_b..][..N * N]);
                let sums =
                    products::<T, N, N>(from_fn(|r| &a[r * N..][..N]), |k, c| b[k * N + c], are_swapped);
                out[to..][..N * N].copy_from_slice(sums.as_flattened());
            } else {
                let row = |k: usize| &b[at_b.wrapping_add(k.wrapping_mul(terms.by[B]))..][..N];
                let b: [&[T]; N] = from_fn(row);
                for _ in 0..rows.len {
                    let [sums] = products::<T, 1, N>([&a[at_a..][..N]], |k, c| b[k][c], are_swapped);
                    out[to..][..N].copy_from_slice(&sums);
                    (to, at_a) = (to.wrapping_add(rows.by[0]), at_a.wrapping_add(rows.by[A]));
                }
            }
            at = inner.next(at);
        }
    }
}

/// `R` rows of `N` terms times `N` columns.
#[inline(always)]
fn products<T: LinalgScalar, const R: usize, const N: usize>(
    a: [&[T]; R],
    b: impl Fn(usize, usize) -> T,
    are_swapped: bool,
) -> [[T; N]; R] {
    let mut sums = [[T::zero(); N]; R];
    for k in 0..N {
        for r in 0..R {
            for c in 0..N {
                let product = times(a[r][k], b(k, c), are_swapped);
                sums[r][c] = if k == 0 { product } else { sums[r][c] + product };
            }
        }
    }
    sums
}

/// Matrices of any layout, by `ndarray::linalg`.
struct Library;

impl<T: LinalgScalar> Multiply<T> for Library {
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides, inner, mut at, .. }: Matrices<'_, T>) {
        let &Sides { rows, terms, columns } = sides;
        let shape = |k: usize, [rows, columns]: [Loop; 2]| -> StrideShape<Ix2> {
            (rows.len, columns.len).strides((rows.by[k], columns.by[k]))
        };
        for _ in 0..inner.len {
            let a = ArrayView2::from_shape(shape(A, [rows, terms]), &a[at[A]..]).expect("a matrix");
            let b = ArrayView2::from_shape(shape(B, [terms, columns]), &b[at[B]..]).expect("a matrix");
            let to = ArrayViewMut2::from_shape(shape(0, [rows, columns]), &mut out[at[0]..]);
            general_mat_mul(T::one(), &a, &b, T::zero(), &mut to.expect("a matrix"));
            at = inner.next(at);
        }
    }
}

/// Rows by columns of `N` contiguous terms, which are added in their order. If `N` is 0, there are any number of terms, which are
/// added pairwise; if it is 1, in their order.
struct Dots<const N: usize>;

impl<const N: usize> Dots<N> {
    #[inline(always)]
    fn dot<T: LinalgScalar>(x: &[T], y: &[T], are_swapped: bool) -> T {
        match N {
            0 if x.len() > ROUNDS * WIDE => dot(x, y, are_swapped),
            0 => dot_of_chunk(x, y, are_swapped),
            _ => {
                let first = times(x[0], y[0], are_swapped);
                (1..x.len()).fold(first, |sum, i| sum + times(x[i], y[i], are_swapped))
            }
        }
    }
}

impl<T: LinalgScalar, const N: usize> Multiply<T> for Dots<N> {
    // wider vectors take longer for so few terms
    const IS_WIDE: bool = N != 1;

    #[inline(always)]
    fn multiply(Matrices { out, a, b, sides, inner, mut at, are_swapped }: Matrices<'_, T>) {
        let &Sides { rows, terms, columns } = sides;
        let len = if N > 1 { N } else { terms.len };
        let is_packed = [columns.len, columns.by[B]] == [N; 2] && [rows.len, columns.by[0]] == [1; 2];
        if is_packed {
            for _ in 0..inner.len {
                let (x, y) = (&a[at[A]..][..N], &b[at[B]..][..N * N]);
                let [sums] = products::<T, 1, N>([x], |k, c| y[c * N + k], are_swapped);
                out[at[0]..][..N].copy_from_slice(&sums);
                at = inner.next(at);
            }
            return;
        }
        if [rows.len, columns.len] == [1; 2] {
            // pairs of vectors
            for _ in 0..inner.len {
                out[at[0]] = Self::dot(&a[at[A]..][..len], &b[at[B]..][..len], are_swapped);
                at = inner.next(at);
            }
            return;
        }
        for _ in 0..inner.len {
            let mut at_row = at;
            for _ in 0..rows.len {
                let (x, mut at) = (&a[at_row[A]..][..len], at_row);
                if [columns.by[0], columns.by[B]] == [1, len] {
                    let columns = out[at[0]..][..columns.len].iter_mut().zip(b[at[B]..].chunks_exact(len));
                    columns.for_each(|(out, y)| *out = Self::dot(x, y, are_swapped));
                } else {
                    for _ in 0..columns.len {
                        out[at[0]] = Self::dot(x, &b[at[B]..][..len], are_swapped);
                        at = columns.next(at);
                    }
                }
                at_row = rows.next(at_row);
            }
            at = inner.next(at);
        }
    }
}

/// The sum of products: of chunks, and these sums pairwise.
#[inline(always)]
fn dot<T: LinalgScalar>(x: &[T], y: &[T], are_swapped: bool) -> T {
    // sums of 2^n chunks, joined like the carries of a binary counter
    let mut before = List::<T, 8>::new();
    let mut chunks = x.chunks(ROUNDS * WIDE).zip(y.chunks(ROUNDS * WIDE)).zip(1_usize..).peekable();
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
