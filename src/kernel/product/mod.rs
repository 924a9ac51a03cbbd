//! Products of many matrices.
//!
//! One rule brings a product to the largest matrices that its strides allow ([`axes`]): a batch axis along which one factor and the
//! result move is rows or columns. So a matrix that batches share, `matvec`, `inner` and `matmul` are one operation. The result is
//! transposed where its rows are nearer than its columns, and terms are reversed where the factor that is read by terms has
//! them in reverse.
//!
//! | way | for | order of addition |
//! |---|---|---|
//! | library | `f32` and `f64`, from 2^12 multiplications on, no side below 8: `ndarray::linalg` | the library's |
//! | dots | up to 3 rows, and columns of near terms: 16 of them, or vectors | pairwise |
//! | tiles | everything else: 4 rows and 8 columns of the result in registers, and loops for few terms | 64 terms in their order, and these sums pairwise |
//!
//! A factor that a way cannot read in place is copied, matrix by matrix, and once where it is read again. Arrays with gaps are cut
//! until copies are small; the library reads its own in place, or from one copy. Elements that strides of 0 repeat are computed
//! once. Neither cuts nor threads change the way, and with it the order of addition.

#![forbid(unsafe_code)]

mod axes;
mod tiles;
mod ways;

use axes::{Layout, Plan};
use ways::{LIBRARY_MULTIPLICATIONS, LIBRARY_SIDE, Way, has_library, multiply, suits_library};

use super::bases::{for_each_base, on_this_thread};
use super::fail;
use super::map::{copy, copy_into};
use super::memory::Reserved;
use super::nest::BaseInputs;
use super::threads::{GRAIN, in_two};
use ndarray::linalg::general_mat_mul;
use ndarray::{
    Array, ArrayRef, ArrayView2, ArrayViewD, ArrayViewMut2, ArrayViewMutD, Axis, CowArray, Dimension, IxDyn,
    LinalgScalar,
};

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
) {
    if !in_place(out, (a, b), axes, None) {
        once(Products::new(out, (a, b), axes), in_parts);
    }
}

/// [`products_into`] on several threads.
pub(crate) fn par_products_into<T: LinalgScalar + Send + Sync, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
) {
    if !are_many([out.len(), a.len(), b.len()], a.shape().last()) {
        return products_into(out, (a, b), axes);
    }
    once(Products::new(out, (a, b), axes), on_threads);
}

/// Whether products are worth two threads.
fn are_many(lens: [usize; 3], terms: Option<&usize>) -> bool {
    let multiplications = lens[0].saturating_mul(terms.copied().unwrap_or(0));
    lens.into_iter().fold(multiplications / 4, usize::saturating_add) >= 2 * GRAIN
}

/// Computes products without gaps. Returns `false` if there are gaps, or too much to copy.
#[inline]
fn in_place<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    axes: [usize; 3],
    way: Option<Way>,
) -> bool {
    if out.is_empty() || a.is_empty() {
        out.fill(T::zero());
        return true;
    }
    let layouts = [Layout::of(out, axes[0]), Layout::of(a, axes[1]), Layout::of(b, axes[2])];
    let ([Some(a), Some(b)], is_standard) = ([elements(a), elements(b)], out.is_standard_layout()) else {
        return false;
    };
    let mut plan = Plan::new(&layouts, has_library::<T>());
    let way = way.unwrap_or_else(|| Way::of::<T>(&plan.sides));
    let out = if is_standard { out.as_slice_mut() } else { out.as_slice_memory_order_mut() };
    out.is_some_and(|out| multiply(out, [a, b], &mut plan, way))
}

/// The elements in the order of memory, if there are no gaps.
#[inline(always)]
fn elements<T, D: Dimension>(array: &ArrayRef<T, D>) -> Option<&[T]> {
    array.as_slice().or_else(|| array.as_slice_memory_order())
}

/// Products as those of matrices, whose arrays have the same number of axes.
struct Products<'m, T> {
    out: ArrayViewMutD<'m, T>,
    a: ArrayViewD<'m, T>,
    b: ArrayViewD<'m, T>,
}

impl<'m, T: LinalgScalar> Products<'m, T> {
    /// The products. Vectors are rows and columns, and batch axes along which a factor is repeated have size 1.
    fn new<D: Dimension, D2: Dimension, E: Dimension>(
        out: &'m mut ArrayRef<T, E>,
        (a, b): (&'m ArrayRef<T, D>, &'m ArrayRef<T, D2>),
        axes: [usize; 3],
    ) -> Self {
        let (mut out, mut a, mut b) = (out.view_mut().into_dyn(), a.view().into_dyn(), b.view().into_dyn());
        if axes[2] == 1 {
            b.insert_axis_inplace(Axis(b.ndim()));
            out.insert_axis_inplace(Axis(out.ndim()));
        }
        if axes[1] == 1 {
            a.insert_axis_inplace(Axis(a.ndim() - 1));
            out.insert_axis_inplace(Axis(out.ndim() - 1));
        }
        for factor in [&mut a, &mut b] {
            while factor.ndim() < out.ndim() {
                factor.insert_axis_inplace(Axis(0));
            }
            for axis in (0..out.ndim() - 2).map(Axis) {
                if factor.len_of(axis) > 1 && factor.stride_of(axis) == 0 {
                    factor.collapse_axis(axis, 0);
                }
            }
        }
        Self { out, a, b }
    }

    /// The way for all products, however they are cut.
    fn way(&self) -> Way {
        let layouts = [Layout::of(&self.out, 2), Layout::of(&self.a, 2), Layout::of(&self.b, 2)];
        Way::of::<T>(&Plan::new(&layouts, has_library::<T>()).sides)
    }

    /// The same products, borrowed for one call.
    fn reborrowed(&mut self) -> Products<'_, T> {
        Products { out: self.out.view_mut(), a: self.a.view(), b: self.b.view() }
    }

    /// The axes of rows and columns. The terms are columns of `a` and rows of `b`.
    fn sides(&self) -> [Axis; 2] {
        [self.out.ndim() - 2, self.out.ndim() - 1].map(Axis)
    }

    /// The products before and after a place along an axis of the result.
    fn split(self, axis: Axis, at: usize) -> [Self; 2] {
        let sides = self.sides();
        let split = |factor: ArrayViewD<'m, T>, other: Axis| match factor.len_of(axis) {
            2.. if axis != other => factor.split_at(axis, at),
            _ => (factor.clone(), factor),
        };
        let ((a, c), (b, d)) = (split(self.a, sides[1]), split(self.b, sides[0]));
        let (out, other) = self.out.split_at(axis, at);
        [Self { out, a, b }, Self { out: other, a: c, b: d }]
    }

    /// Halves the products, and passes both parts to `multiply_both`: along the longest axis along which there are several, then along
    /// the rows and columns, if these are more than `uncut`, and along terms. Returns the products if they cannot be cut.
    fn halved(
        mut self,
        way: Way,
        uncut: usize,
        multiply_both: impl FnOnce([Products<'_, T>; 2]),
    ) -> Option<Self> {
        let [rows, columns] = self.sides();
        let longest = if self.out.len_of(rows) < self.out.len_of(columns) { columns } else { rows };
        let outer = (0..rows.index()).map(Axis).max_by_key(|&axis| self.out.len_of(axis));
        if let Some(axis) = outer.filter(|&axis| self.out.len_of(axis) > 1) {
            let middle = self.out.len_of(axis) / 2;
            multiply_both(self.split(axis, middle));
        } else if self.out.len_of(longest) > uncut {
            let middle = (self.out.len_of(longest) / 2).next_multiple_of(LIBRARY_SIDE);
            multiply_both(self.split(longest, middle));
        } else {
            let chunk = way.chunk();
            let chunks = self.a.len_of(columns).div_ceil(chunk);
            if chunks == 1 || way == Way::Library {
                return Some(self);
            }
            // as sums of chunks are joined
            let middle = chunks.next_power_of_two() / 2 * chunk;
            let ((a, c), (b, d)) = (self.a.split_at(columns, middle), self.b.split_at(rows, middle));
            let mut sums = Array::zeros(self.out.raw_dim());
            multiply_both([
                Products { out: self.out.view_mut(), a, b },
                Products { out: sums.view_mut(), a: c, b: d },
            ]);
            self.out.zip_mut_with(&sums, |low, &high| *low = *low + high);
        }
        None
    }
}

/// Calls `multiply` with products whose rows, columns and terms are not repeated by strides of 0, and repeats the results.
fn once<T: LinalgScalar>(mut products: Products<'_, T>, multiply: impl FnOnce(Products<'_, T>, Way)) {
    let [rows, columns] = products.sides();
    for axis in [rows, columns] {
        let factor = if axis == rows { &products.a } else { &products.b };
        if factor.len_of(axis) > 1 && factor.stride_of(axis) == 0 {
            let [mut first, mut others] = products.split(axis, 1);
            once(first.reborrowed(), multiply);
            return others.out.assign(&first.out);
        }
    }
    let (way, terms) = (products.way(), products.a.len_of(columns));
    if terms > 1 && products.a.stride_of(columns) == 0 && products.b.stride_of(rows) == 0 {
        products.a.collapse_axis(columns, 0);
        products.b.collapse_axis(rows, 0);
        multiply(products.reborrowed(), way);
        return products.out.map_inplace(|sum| *sum = repeated_sum(*sum, terms));
    }
    multiply(products, way);
}

/// Computes products on several threads, in halves.
fn on_threads<T: LinalgScalar + Send + Sync>(products: Products<'_, T>, way: Way) {
    let (lens, axis) = ([products.out.len(), products.a.len(), products.b.len()], products.sides()[1]);
    if !are_many(lens, Some(&products.a.len_of(axis))) {
        return in_parts(products, way);
    }
    // for fewer rows, the library spends too much time on packing the other matrix
    let whole = products.halved(way, 8 * LIBRARY_SIDE - 1, |[first, second]| {
        in_two(|| on_threads(first, way), || on_threads(second, way));
    });
    if let Some(products) = whole {
        in_parts(products, way);
    }
}

/// Computes products of any strides on one thread: the library's in place, and others in parts, from copies.
fn in_parts<T: LinalgScalar>(products: Products<'_, T>, way: Way) {
    let [rows, columns] = products.sides();
    let terms = products.a.len_of(columns);
    let Products { mut out, a, b } = products;
    if in_place(&mut out, (&a, &b), [2; 3], Some(way)) {
        return;
    }
    if suits_library::<T>([out.len_of(rows), terms, out.len_of(columns)]) {
        let factors = BaseInputs::two((&a, 2), (&b, 2));
        return for_each_base(
            &factors,
            &mut out,
            2,
            |(a, b): (ArrayView2<'_, T>, ArrayView2<'_, T>), mut out| {
                let _: &ArrayViewMut2<'_, T> = &out;
                general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
            },
            on_this_thread,
        );
    }
    let mut products = Products { out, a, b };
    if way != Way::Library
        && products.out.len() + products.a.len() + products.b.len() > 3 * LIBRARY_MULTIPLICATIONS
    {
        match products.halved(way, LIBRARY_SIDE, |both| both.into_iter().for_each(|part| in_parts(part, way)))
        {
            Some(whole) => products = whole,
            None => return,
        }
    }
    let Products { mut out, a, b } = products;
    let (a, b) = (contiguous(&a), contiguous(&b));
    if !in_place(&mut out, (&a, &b), [2; 3], Some(way)) {
        let mut copied = Array::zeros(out.raw_dim());
        in_place(&mut copied, (&a, &b), [2; 3], Some(way));
        copy_into(&mut out, &copied);
    }
}

/// The array, or a copy in standard layout.
fn contiguous<'m, T: LinalgScalar>(array: &'m ArrayViewD<'_, T>) -> CowArray<'m, T, IxDyn> {
    if array.is_standard_layout() {
        return array.view().into();
    }
    let Ok(memory) = Reserved::new(array.raw_dim()) else { fail("no memory for few elements") };
    copy(memory, array).into()
}

/// The sum of `count` equal terms, added in pairs.
fn repeated_sum<T: LinalgScalar>(term: T, count: usize) -> T {
    if count == 1 {
        return term;
    }
    let half = repeated_sum(term, count / 2);
    if count & 1 == 0 { half + half } else { half + half + term }
}
