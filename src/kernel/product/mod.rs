//! Products of many matrices.
//!
//! They are what these loops compute, in another order of additions:
//!
//! ```text
//! at each index of the batch axes:
//!     for each row and column of the result:
//!         out = the sum of a[row, term] * b[term, column] over all terms
//! ```
//!
//! The deviations, and what products take without them:
//! 1. Contiguous operands are multiplied in one call for all matrices (*packed*): pairs of vectors 1.6 to 4.5 times as long, matrices
//!    with fewer than 64 terms and a vector 1.3 to 4 times without a loop of their own.
//! 2. Few multiplications with gaps are sums, without copies: 1.2 to 1.4 times.
//! 3. Batch axes along which one factor stays become rows or columns (*joined*): products of one matrix and many with 2 to 7 columns
//!    1.3 to 7 times.
//! 4. Large ones are the library's, others are computed by tiles in registers.
//!
//! [`Way::of`] names the way of a call:
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | packed | contiguous operands of small matrices, in one call for all: of 2 to 7 rows and columns, and such with a vector; *narrow*, a column of fewer than 64 terms; *tiles* of each; *dots*, pairs of vectors | in the order of the terms; as tiles; dots of up to 2^12 terms in 32 sums |
//! | sums | one term, for vectors with gaps or that broadcast; few multiplications with gaps; other pairs of vectors; matrices of 64 terms or more with vectors; one matrix with gaps and a vector: sums of a closure's results, which need no copies | that of sums: pairwise |
//! | copied | small matrices with gaps: some at a time are packed in copies | as packed |
//! | joined | everything else: the largest matrices that strides allow, one after the other | see below |
//!
//! [`Product::compute`] takes the first of these for a joined matrix:
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | equal terms | both factors have stride 0 along the terms | in pairs |
//! | library | `f32` and `f64`, from 2^12 multiplications on, no side below 8, or contiguous rows with others: `ndarray::linalg` | the library's |
//! | sums | a matrix with gaps and a vector; from 64 terms on, a matrix and a vector, or contiguous rows with up to 4 others | that of sums: pairwise |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers | 64 terms in their order, and these sums pairwise |
//!
//! *Tiles* read contiguous rows and write contiguous results: the smaller factor with gaps is copied whole, the other one and the
//! result some rows at a time. Results are finished before they are stored, whatever panics.
//! The layout of the result does not change the order of addition, but for the library's: where a shared matrix makes the products
//! rows of one, it is one product or several.
//! From 2^12 multiplications on, batch axes along which only one factor moves become rows or columns of larger products, where strides
//! allow: of one matrix for all others, of some for several, and of pairs of vectors that broadcast on both sides. Where only a few
//! columns of each product are neighbours, the library computes those of all products with gaps. A matrix of a size that the compiler
//! knows stays *packed*.

#![forbid(unsafe_code)]

mod one;
mod packed;
mod sides;
mod tiles;

use super::map::copy_into;
use super::nest::{BaseInputs, MapReduce, Threads, for_each_base};
use super::operation::Plus;
use super::threads::{GRAIN, count, in_two};
use ndarray::{
    Array, ArrayBase, ArrayRef, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, LinalgScalar, RawData,
};
use one::{Product, Terms, Times, contiguous, sum};
use packed::{Dots, PackedWay, each_product, fixed, packed_into, way_for};
use sides::{LIBRARY_MULTIPLICATIONS, LIBRARY_SIDE, TERMS, VECTORS, is_small, sides, suits_library};

/// The most multiplications of operands with gaps for which sums take less time than copies. Measured on Emerald Rapids with
/// products of 24 to 512 multiplications.
const FEW: usize = 256;

/// Multiplies the last axes of two arrays into `out`, for each index of the outer axes.
///
/// `axes` are the numbers of last axes of `out`, `a` and `b`: two for a matrix, one for a vector. The vector of `a` is a
/// row, that of `b` a column. The vector of `out` is a row if `a` has a vector, else a column.
///
/// # Panics
/// If the sizes do not go together, or the outer axes do not broadcast to those of `out`.
pub(crate) fn products_into<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
    workers: &Workers<T>,
) {
    let (shapes, factors) = ([a.shape(), b.shape()], a.as_slice().zip(b.as_slice()));
    let way = Way::of(out, (a, b), axes, factors.is_some());
    match way {
        Way::Packed(multiply) if !workers.share(out.len(), shapes[0]) => {
            packed_into(out, factors, shapes, axes, multiply);
        }
        // a vector without a batch is aligned with the terms
        Way::Sums if axes == VECTORS || axes[2] == 1 && b.ndim() == 1 => sum(out, (a, b), &workers.terms),
        Way::Sums if axes == [1, 1, 2] && a.ndim() == 1 => sum(out, (a, &turned(b.view())), &workers.terms),
        _ => {
            let (a, b) = (a.view().into_dyn(), b.view().into_dyn());
            Batched { out: out.view_mut().into_dyn(), a, b, axes, is_turned: false }.compute(way, workers);
        }
    }
}

/// How products are computed.
#[derive(Clone, Copy)]
enum Way<T> {
    /// All in one call, from contiguous operands.
    Packed(PackedWay<T>),
    /// As sums of a closure's results.
    Sums,
    /// In one call for some of them, from copies.
    Copied(PackedWay<T>),
    /// As products of the largest matrices that the strides allow.
    Joined,
    /// As products of matrices, in up to so many parts.
    Each(usize),
}

impl<T: LinalgScalar> Way<T> {
    /// The first way whose condition holds.
    fn of<D: Dimension, D2: Dimension, E: Dimension>(
        out: &ArrayRef<T, E>,
        (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        axes: [usize; 3],
        are_contiguous: bool,
    ) -> Self {
        let (shapes, are_vectors) = ([a.shape(), b.shape()], axes == VECTORS);
        let sides @ [_, terms, _] = sides(shapes, axes);
        let count = out.len().saturating_mul(terms);
        let are_joined = count > LIBRARY_MULTIPLICATIONS && are_joined::<T>(shapes, axes, sides);
        let are_contiguous = are_contiguous && count > 0 && out.is_standard_layout();
        let are_repeated = || a.strides().last() == Some(&0) && b.strides().last() == Some(&0);
        let is_packed = if are_vectors { terms < LIBRARY_MULTIPLICATIONS } else { is_small::<T>(sides) };
        // columns of a matrix with gaps are summed as they lie
        let is_packed = is_packed && !are_joined && (are_contiguous || terms < TERMS || axes[1] == 2);
        // one matrix is read as it lies
        let are_read = terms >= TERMS || out.ndim() == 1 && !are_contiguous;
        let are_sums = are_vectors || axes[2] == 1 && are_read;
        let way = if are_vectors { each_product::<T, Dots> } else { way_for(sides) };
        if is_packed && are_contiguous {
            Self::Packed(way)
        } else if terms == 1 && axes[0] < 2 || count <= FEW || are_sums && !are_joined && !are_repeated() {
            Self::Sums
        } else if is_packed && !are_vectors {
            Self::Copied(way)
        } else {
            Self::Joined
        }
    }
}

/// Whether batch axes along which one factor stays make the matrices larger. One vector for all matrices is read from L1 either way.
fn are_joined<T: LinalgScalar>(shapes: [&[usize]; 2], axes: [usize; 3], sides: [usize; 3]) -> bool {
    let len = |k: usize, i: usize| shapes[k].iter().rev().nth(axes[k + 1] + i).copied().unwrap_or(1);
    let most = shapes[0].len().max(shapes[1].len());
    let along = |k: usize| (0..most).filter(|&i| len(1 - k, i) == 1).map(|i| len(k, i)).product();
    let (a, b, [rows, terms, columns]): (usize, usize, _) = (along(0), along(1), sides);
    // columns of several products are neighbours if there is one of each
    let has_columns = columns == 1 || columns < LIBRARY_SIDE && suits_library::<T>([rows, terms, b]);
    let is_larger = a > 1 && (axes[2] == 2 || b > 1) || b > 1 && rows > 1 && has_columns;
    is_larger && fixed::<T>(sides).is_none()
}

/// The threads that compute parts of products: the calling one, or several.
///
/// Not exported; public because a hidden method of a public trait returns it.
pub struct Workers<T> {
    both: for<'m> fn([Batched<'m, T>; 2], Way<T>, &Self),
    count: usize,
    terms: Terms<T>,
}

impl<T: LinalgScalar> Workers<T> {
    /// The calling thread.
    pub(crate) fn serial() -> Self {
        let both = |[first, second]: [Batched<'_, T>; 2], way, workers: &Self| {
            first.compute(way, workers);
            second.compute(way, workers);
        };
        Self { both, count: 1, terms: MapReduce::new(Times, Plus) }
    }

    /// Several threads.
    pub(crate) fn parallel() -> Self
    where
        T: Send + Sync,
    {
        let both = |[first, second]: [Batched<'_, T>; 2], way, workers: &Self| {
            in_two(|| first.compute(way, workers), || second.compute(way, workers));
        };
        Self { both, count: count(), terms: MapReduce::new(Times, Plus).on(Threads::new()) }
    }

    /// Whether several threads take less time for so many results, each of the terms of a left factor of this shape.
    fn share(&self, results: usize, left: &[usize]) -> bool {
        self.count > 1 && left.last().is_some_and(|terms| results.saturating_mul(*terms) >= 2 * GRAIN)
    }
}

/// An output and its two operands, with the numbers of their base axes.
struct Batched<'m, T> {
    out: ArrayViewMutD<'m, T>,
    a: ArrayViewD<'m, T>,
    b: ArrayViewD<'m, T>,
    axes: [usize; 3],
    /// Whether all matrices are transposed, so that `b` has the left factors of multiplications.
    is_turned: bool,
}

impl<'m, T: LinalgScalar> Batched<'m, T> {
    /// Computes them by this way, or as halves that take it.
    fn compute(mut self, way: Way<T>, workers: &Workers<T>) {
        match way {
            Way::Sums => {
                let [a, b] = self.terms_last();
                sum(&mut self.out, (&a, &b), &workers.terms);
            }
            Way::Packed(multiply) if !workers.share(self.out.len(), self.a.shape()) => {
                self.packed(multiply);
            }
            Way::Copied(multiply)
                if self.a.len() + self.b.len() + self.out.len() <= 8 * LIBRARY_MULTIPLICATIONS =>
            {
                let (a, b) = (contiguous(&self.a), contiguous(&self.b));
                let of = |out| Batched { out, a: a.view(), b: b.view(), ..self };
                if self.out.is_standard_layout() {
                    return of(self.out).packed(multiply);
                }
                let mut products = Array::zeros(self.out.raw_dim());
                of(products.view_mut()).packed(multiply);
                copy_into(&mut self.out, &products);
            }
            // one small product has fewer elements, so there are several
            Way::Packed(_) | Way::Copied(_) => (workers.both)(self.halves(), way, workers),
            Way::Joined => self.joined().each(8 * workers.count, workers),
            Way::Each(parts) => self.each(parts, workers),
        }
    }

    /// Computes products of contiguous operands.
    fn packed(mut self, multiply: PackedWay<T>) {
        let (factors, shapes) = (self.a.as_slice().zip(self.b.as_slice()), [self.a.shape(), self.b.shape()]);
        packed_into(&mut self.out, factors, shapes, self.axes, multiply);
    }

    /// The factors with their terms along an axis after those of the result.
    fn terms_last(&self) -> [ArrayViewD<'m, T>; 2] {
        let (mut a, mut b, [_, of_a, of_b]) = (self.a.clone(), self.b.clone(), self.axes);
        if of_b == 2 {
            (a, b) = (with_axis(a, 1), turned(b));
        }
        if of_a == 2 && b.ndim() > of_b {
            b = with_axis(b, of_b);
        }
        [a, b]
    }

    /// The halves along the outermost axis along which there are several products, or along the rows of one product.
    fn halves(self) -> [Self; 2] {
        let Self { out, a, b, axes, is_turned } = self;
        let batch = out.ndim() - axes[0];
        let axis = (0..batch).find(|&axis| out.shape()[axis] > 1).unwrap_or(batch);
        let size = out.shape()[axis];
        let split = |factor: ArrayViewD<'m, T>, base| match (factor.ndim() + axis).checked_sub(batch + base) {
            Some(axis) if factor.shape()[axis] == size => factor.split_at(Axis(axis), size / 2),
            _ => (factor.clone(), factor),
        };
        let (b, d) = if axis < batch { split(b, axes[2]) } else { (b.clone(), b) };
        let ((a, c), (out, other)) = (split(a, axes[1]), out.split_at(Axis(axis), size / 2));
        [(out, a, b), (other, c, d)].map(|(out, a, b)| Self { out, a, b, axes, is_turned })
    }

    /// The same products as those of the largest matrices that the strides allow: vectors become rows or columns, and batch axes along
    /// which one factor stays become rows or columns of the other.
    fn joined(mut self) -> Self {
        if self.axes[1] == 1 {
            (self.a, self.out) = (with_axis(self.a, 1), with_axis(self.out, self.axes[2] - 1));
        }
        if self.axes[2] == 1 {
            (self.b, self.out) = (with_axis(self.b, 0), with_axis(self.out, 0));
        }
        self.axes = [2; 3];
        let batch = self.out.ndim() - 2;
        for factor in [&mut self.a, &mut self.b] {
            while factor.ndim() < batch + 2 {
                factor.insert_axis_inplace(Axis(0));
            }
        }
        let columns = self.out.shape()[batch + 1];
        (0..batch).rev().for_each(|axis| self.join(axis, batch));
        // threads divide rows
        if self.out.shape()[batch + 1] > columns.max(self.out.shape()[batch]) {
            (self.a, self.b) = (turned(self.b), turned(self.a));
            (self.out, self.is_turned) = (turned(self.out), true);
        }
        self
    }

    /// Makes a batch axis along which one factor stays a part of the rows or columns of the other, if strides allow it.
    fn join(&mut self, axis: usize, batch: usize) {
        let [rows, columns] = [batch, batch + 1];
        let (factor, side) = match (self.a.shape()[axis], self.b.shape()[axis]) {
            (2.., 1) => (&mut self.a, rows),
            (1, 2..) => (&mut self.b, columns),
            _ => return,
        };
        let (mut joined, len) = (factor.clone(), factor.shape()[axis]);
        if joined.merge_axes(Axis(axis), Axis(side)) && self.out.merge_axes(Axis(axis), Axis(side)) {
            *factor = joined;
        } else if side == columns
            && self.out.shape()[columns] < LIBRARY_SIDE
            && suits_library::<T>([self.out.shape()[rows], self.a.shape()[columns], len])
        {
            // columns of the library may have gaps, if these are more
            self.b.swap_axes(axis, columns);
            self.out.swap_axes(axis, columns);
        }
    }

    /// Computes products of matrices, in up to `parts` parts of several products, or of rows of one, that take the way of the whole.
    fn each(self, parts: usize, workers: &Workers<T>) {
        let batch = self.out.ndim() - 2;
        let batches: usize = self.out.shape()[..batch].iter().product();
        let (columns, terms) = (self.out.shape()[batch + 1], self.a.shape()[batch + 1]);
        let are_sums = terms >= TERMS || columns == 1 && !self.a.is_standard_layout();
        // for fewer rows, the library spends too much time on packing the other matrix
        let are_rows = self.out.shape()[batch] >= 64 && !(are_sums && columns <= LIBRARY_SIDE / 2);
        if parts > 1 && workers.share(self.out.len() / 4, self.a.shape()) && (batches > 1 || are_rows) {
            return (workers.both)(self.halves(), Way::Each(parts / 2), workers);
        }
        let (Self { mut out, a, b, is_turned, .. }, loops) = (self, &workers.terms);
        if batch == 0 {
            let [a, b] = [a, b].map(|factor| factor.into_dimensionality().expect("two axes"));
            let out = out.into_dimensionality().expect("two axes");
            return Product { a, b, out, is_turned, loops }.compute();
        }
        let factors = BaseInputs::two((&a, 2), (&b, 2));
        for_each_base(
            &factors,
            &mut out,
            2,
            |(a, b), out| Product { a, b, out, is_turned, loops }.compute(),
            |nest, f| nest.for_each(f),
        );
    }
}

/// The array with a new axis before the last `count` axes.
fn with_axis<S: RawData>(array: ArrayBase<S, IxDyn>, count: usize) -> ArrayBase<S, IxDyn> {
    let axis = array.ndim() - count;
    array.insert_axis(Axis(axis))
}

/// The array with its last two axes swapped.
fn turned<S: RawData, D: Dimension>(mut array: ArrayBase<S, D>) -> ArrayBase<S, D> {
    let last = array.ndim() - 1;
    array.swap_axes(last - 1, last);
    array
}
