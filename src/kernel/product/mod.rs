//! Products of many small matrices: rows of the first with columns of the second.
//!
//! Sums of up to 15 terms, and those of which neighbours in memory are different sums, are added in the order of
//! their terms; the others in eight parts. It does not depend on the CPU or on the number of threads.

mod dots;
mod fixed;
mod tiles;

use super::bases::{Outer, advance, innermost, nest};
use super::plan::{Loop, Nest, Walk};
use super::raw::{Source, Target};
use super::simd::{self, Work};
use super::slots::{Filled, Slots};
use core::mem::MaybeUninit;
use ndarray::{ArrayRef, Dimension, LinalgScalar};

/// A matrix: its sizes and strides. Rows first.
#[derive(Clone, Copy)]
struct Matrix {
    sizes: [usize; 2],
    strides: [isize; 2],
}

/// How a vector is a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vector {
    Row,
    Column,
}

impl Matrix {
    fn of(sizes: &[usize], strides: &[isize], vector: Vector) -> Self {
        match (sizes, strides) {
            (&[], _) => Self { sizes: [1, 1], strides: [0, 0] },
            (&[n], &[s]) if vector == Vector::Row => Self { sizes: [1, n], strides: [0, s] },
            (&[n], &[s]) => Self { sizes: [n, 1], strides: [s, 0] },
            (&[m, n], &[r, s]) => Self { sizes: [m, n], strides: [r, s] },
            _ => panic!("a matrix has up to two axes"),
        }
    }

    fn transposed(self) -> Self {
        let ([m, n], [r, s]) = (self.sizes, self.strides);
        Self { sizes: [n, m], strides: [s, r] }
    }

    /// Whether the elements lie one after the other, row by row. Strides along axes of size 1 do not count.
    fn is_packed(self) -> bool {
        let ([m, n], [r, s]) = (self.sizes, self.strides);
        (n <= 1 || s == 1) && (m <= 1 || r == n.cast_signed())
    }
}

/// A product of matrices.
///
/// Invariant: the sizes go together, checked in `plan`.
#[derive(Clone, Copy)]
struct Product {
    a: Matrix,
    b: Matrix,
    out: Matrix,
}

impl Product {
    /// The sizes: rows, terms of each sum, columns.
    fn sizes(&self) -> [usize; 3] {
        [self.a.sizes[0], self.a.sizes[1], self.b.sizes[1]]
    }

    fn transposed(self) -> Self {
        Self { a: self.b.transposed(), b: self.a.transposed(), out: self.out.transposed() }
    }
}

/// A way to multiply the matrices at some places.
trait Multiply<T>: Copy + Sync {
    /// # Safety
    /// The elements of the matrices at these places belong to their arrays; nothing else refers to those of the
    /// result meanwhile.
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>);
}

/// Multiplies the last axes of two arrays, for each index of the others: `axes` of `a`, `b` and `out`, two for
/// matrices and one for vectors, columns but for the only one of `a` and its products with matrices.
///
/// # Panics
/// Where the sizes do not go together, or the outer axes not to those of `out`.
pub(crate) fn products<'s, T: LinalgScalar, D: Dimension, E: Dimension, O: Dimension>(
    a: &ArrayRef<T, D>,
    b: &ArrayRef<T, E>,
    mut out: Slots<'s, T, O>,
    axes: [usize; 3],
) -> Filled<'s> {
    let (nest, product, at) = plan(a, b, &mut out, axes);
    if !nest.is_empty() {
        product.choose(Serial { at, loops: nest.loops(), start: nest.offsets() });
    }
    out.written()
}

/// [`products`] on several threads.
#[cfg(feature = "rayon")]
pub(crate) fn par_products<'s, T, D: Dimension, E: Dimension, O: Dimension>(
    a: &ArrayRef<T, D>,
    b: &ArrayRef<T, E>,
    mut out: Slots<'s, T, O>,
    axes: [usize; 3],
) -> Filled<'s>
where
    T: LinalgScalar + Send + Sync,
{
    let (nest, product, at) = plan(a, b, &mut out, axes);
    if !nest.is_empty() {
        product.choose(Parallel { at, loops: nest.loops(), start: nest.offsets(), product });
    }
    out.written()
}

/// The first places of the operands and the result.
#[derive(Clone, Copy)]
struct Places<'s, T> {
    a: Source<'s, T>,
    b: Source<'s, T>,
    out: Target<'s, MaybeUninit<T>>,
}

#[allow(clippy::many_single_char_names, reason = "m, n and p are the sizes of a and b")]
fn plan<'s, T: Copy, D: Dimension, E: Dimension, O: Dimension>(
    a: &'s ArrayRef<T, D>,
    b: &'s ArrayRef<T, E>,
    out: &'s mut Slots<'_, T, O>,
    axes: [usize; 3],
) -> (Nest<3>, Product, Places<'s, T>) {
    let (to, sizes, strides) = out.targets();
    let at = Places { a: Source::new(a), b: Source::new(b), out: to };
    let last = |sizes: &[usize], strides: &[isize], axes: usize, vector| {
        Matrix::of(&sizes[sizes.len() - axes..], &strides[strides.len() - axes..], vector)
    };
    let product = Product {
        a: last(a.shape(), a.strides(), axes[0], Vector::Row),
        b: last(b.shape(), b.strides(), axes[1], Vector::Column),
        out: last(sizes, strides, axes[2], if axes[0] == 1 { Vector::Row } else { Vector::Column }),
    };
    let [m, n, p] = product.sizes();
    assert!(product.b.sizes[0] == n && product.out.sizes == [m, p], "matrices whose sizes go together");
    let nest = nest([
        Outer::of(sizes, strides, axes[2]),
        Outer::of(a.shape(), a.strides(), axes[0]),
        Outer::of(b.shape(), b.strides(), axes[1]),
    ]);
    (nest, product, at)
}

/// What is done once it is known how to multiply.
trait Run<T> {
    fn run(self, multiply: impl Multiply<T>);
}

struct Serial<'s, T> {
    at: Places<'s, T>,
    loops: &'s [Loop<3>],
    start: [isize; 3],
}

impl<T: LinalgScalar> Run<T> for Serial<'_, T> {
    #[inline(always)]
    fn run(self, multiply: impl Multiply<T>) {
        simd::dispatch(Each { how: multiply, at: self.at, loops: self.loops, start: self.start });
    }
}

#[cfg(feature = "rayon")]
struct Parallel<'s, T> {
    at: Places<'s, T>,
    loops: &'s [Loop<3>],
    start: [isize; 3],
    product: Product,
}

#[cfg(feature = "rayon")]
impl<T: LinalgScalar + Send + Sync> Run<T> for Parallel<'_, T> {
    fn run(self, multiply: impl Multiply<T>) {
        /// The least multiplications to hand to another thread.
        const GRAIN: usize = 1 << 15;
        let each = self.product.sizes().iter().fold(1, |n: usize, &size| n.saturating_mul(size)).max(1);
        super::par::split(self.loops, self.start, GRAIN.div_ceil(each), &|loops, start| {
            simd::dispatch(Each { how: multiply, at: self.at, loops, start });
        });
    }
}

/// The loops over the outer axes, or a part of them.
struct Each<'s, T, M> {
    how: M,
    at: Places<'s, T>,
    loops: &'s [Loop<3>],
    start: [isize; 3],
}

impl<T: LinalgScalar, M: Multiply<T>> Work for Each<'_, T, M> {
    #[inline(always)]
    fn run(self) {
        let (outer, inner) = innermost(self.loops);
        let Places { a, b, out } = self.at;
        for mut at in Walk::new(outer, self.start) {
            for _ in 0..inner.len {
                // SAFETY: The loops are over the outer axes of the result, with the operands' strides there or 0: each
                // step is an index of all three, at which the matrices are. The result is borrowed exclusively, apart
                // from the operands, and no index comes twice. (Where a matrix is empty it is not moved, nor looked
                // at.)
                unsafe { self.how.multiply(a.moved(at[1]), b.moved(at[2]), out.moved(at[0])) };
                advance(&mut at, &inner);
            }
        }
    }
}

impl Product {
    /// Has `then` use the quickest way to multiply.
    #[inline(always)]
    fn choose<T: LinalgScalar>(self, then: impl Run<T>) {
        let [m, n, p] = self.sizes();
        if self.a.is_packed() && self.b.is_packed() && self.out.is_packed() {
            match [m, n, p] {
                [2, 2, 1] => return then.run(fixed::Fixed::<2, 2, 1>),
                [3, 3, 1] => return then.run(fixed::Fixed::<3, 3, 1>),
                [4, 4, 1] => return then.run(fixed::Fixed::<4, 4, 1>),
                [6, 6, 1] => return then.run(fixed::Fixed::<6, 6, 1>),
                [2, 2, 2] => return then.run(fixed::Fixed::<2, 2, 2>),
                [3, 3, 3] => return then.run(fixed::Fixed::<3, 3, 3>),
                [4, 4, 4] => return then.run(fixed::Fixed::<4, 4, 4>),
                [6, 6, 6] => return then.run(fixed::Fixed::<6, 6, 6>),
                [1, 3, 1] => return then.run(fixed::Fixed::<1, 3, 1>),
                [1, 6, 1] => return then.run(fixed::Fixed::<1, 6, 1>),
                _ => {}
            }
        }
        let turned = self.transposed();
        if self.b.strides[1] == 1 && self.out.strides[1] == 1 && p > 1 {
            then.run(tiles::Tiles::<false>(self));
        } else if turned.b.strides[1] == 1 && turned.out.strides[1] == 1 && m > 1 {
            then.run(tiles::Tiles::<true>(turned));
        } else if n >= dots::WORTH_IT && self.a.strides[1] == 1 && self.b.strides[0] == 1 {
            then.run(dots::Dots(self));
        } else {
            then.run(tiles::Columns(self));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};
    use core::any::type_name;

    /// Names the way that is chosen.
    struct Way<'s>(&'s mut String);

    impl Run<f64> for Way<'_> {
        fn run(self, multiply: impl Multiply<f64>) {
            fn name<M>(_: M) -> &'static str {
                type_name::<M>()
            }
            self.0.push_str(name(multiply).rsplit("::").next().expect("a name"));
        }
    }

    /// The way for matrices of these sizes and strides, and for products in a dense result.
    fn way([rows, terms, columns]: [usize; 3], a: [isize; 2], b: [isize; 2]) -> String {
        let mut name = String::new();
        let product = Product {
            a: Matrix { sizes: [rows, terms], strides: a },
            b: Matrix { sizes: [terms, columns], strides: b },
            out: Matrix { sizes: [rows, columns], strides: [columns.cast_signed(), 1] },
        };
        product.choose(Way(&mut name));
        name
    }

    #[test]
    fn matrices_without_gaps() {
        let packed = |sizes, strides| Matrix { sizes, strides }.is_packed();
        assert!(
            packed([2, 3], [3, 1])
                && packed([1, 3], [9, 1])
                && packed([3, 1], [1, 9])
                && packed([0, 0], [7, 7])
        );
        assert!(!packed([2, 3], [4, 1]) && !packed([2, 3], [1, 2]) && !packed([2, 3], [3, 2]));
        assert!(!packed([3, 1], [2, 1]) && !packed([1, 3], [3, 2]));
    }

    #[test]
    fn the_quickest_way() {
        for n in [2_usize, 3, 4, 6] {
            let s = n.cast_signed();
            assert_eq!(way([n, n, n], [s, 1], [s, 1]), format!("Fixed<{n}, {n}, {n}>"));
            assert_eq!(way([n, n, 1], [s, 1], [1, 1]), format!("Fixed<{n}, {n}, 1>"));
        }
        assert_eq!(way([1, 3, 1], [3, 1], [1, 1]), "Fixed<1, 3, 1>");
        assert_eq!(way([1, 6, 1], [6, 1], [1, 1]), "Fixed<1, 6, 1>");
        assert_eq!(way([5, 5, 5], [5, 1], [5, 1]), "Tiles<false>");
        assert_eq!(way([3, 3, 3], [4, 1], [3, 1]), "Tiles<false>");
        // the columns of the first matrix, and of a result that is a column
        assert_eq!(way([5, 20, 1], [1, 5], [1, 1]), "Tiles<true>");
        assert_eq!(way([5, 20, 1], [20, 1], [1, 1]), "Dots");
        assert_eq!(way([5, 15, 1], [15, 1], [1, 1]), "Columns");
        assert_eq!(way([5, 20, 4], [20, 1], [1, 20]), "Dots");
        assert_eq!(way([5, 20, 4], [40, 2], [1, 20]), "Columns");
        assert_eq!(way([5, 20, 1], [20, 1], [2, 1]), "Columns");
    }
}
