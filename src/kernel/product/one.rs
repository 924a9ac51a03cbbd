//! One product of two matrices of any layout.

#![forbid(unsafe_code)]

use super::packed::{Packed, PackedWay, Tiles, each_product, way_for};
use super::sides::{LIBRARY_MULTIPLICATIONS, LIBRARY_SIDE, TERMS, suits_library};
use crate::kernel::ensure;
use crate::kernel::map::copy_into;
use crate::kernel::memory::List;
use crate::kernel::nest::{AxisSelection, Cloned, FoldLoops, Inputs, MapElement, MapReduce, Source};
use crate::kernel::operation::Plus;
use crate::kernel::reduce::{fold_of, into};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array, ArrayRef, ArrayView2, ArrayViewMut2, Axis, CowArray, Dimension, LinalgScalar};

/// Two matrices and their product.
pub(super) struct Product<'m, T> {
    pub(super) a: ArrayView2<'m, T>,
    pub(super) b: ArrayView2<'m, T>,
    pub(super) out: ArrayViewMut2<'m, T>,
    /// Whether all are transposed, so that `b` has the left factors of multiplications.
    pub(super) is_turned: bool,
    pub(super) loops: &'m Terms<T>,
}

impl<T: LinalgScalar> Product<'_, T> {
    /// Computes it by the first way whose condition holds.
    pub(super) fn compute(mut self) {
        let [rows, terms, columns] = self.sides();
        let fits = self.b.nrows() == terms && self.out.dim() == (rows, columns);
        ensure(fits, "matrices whose sizes do not go together");
        if terms == 0 || self.out.is_empty() {
            self.out.fill(T::zero());
        } else if terms > 1 && self.a.strides()[1] == 0 && self.b.strides()[0] == 0 {
            self.equal_terms();
        } else if suits_library::<T>([rows, terms, columns]) {
            self.by_library();
        } else if columns > rows && (rows == 1 && columns >= LIBRARY_SIDE || !self.b.is_standard_layout()) {
            // of the left factor, some rows at a time are copied, and columns are summed
            self.turned().by_layout();
        } else {
            self.by_layout();
        }
    }

    /// Computes it by a way that depends on the layout of its factors.
    fn by_layout(mut self) {
        let sides @ [_, terms, columns] = self.sides();
        // in both factors, terms are neighbours
        let are_rows = self.a.strides()[1] == 1 && self.b.strides()[0] == 1;
        if columns == 1 && (terms >= TERMS || !self.a.is_standard_layout()) {
            self.sum();
        } else if terms >= TERMS && are_rows && columns <= LIBRARY_SIDE / 2 {
            let vectors = self.b.axis_chunks_iter(Axis(1), 1);
            for (b, out) in vectors.zip(self.out.axis_chunks_iter_mut(Axis(1), 1)) {
                Product { b, out, ..self }.sum();
            }
        } else if columns > 1 && are_rows && suits_library::<T>(sides.map(|side| side.max(LIBRARY_SIDE))) {
            // the library packs rows, which tiles copy
            self.by_library();
        } else {
            let way = if self.is_turned { each_product::<T, Tiles<true>> } else { way_for(sides) };
            self.contiguously(way);
        }
    }

    fn sides(&self) -> [usize; 3] {
        [self.a.nrows(), self.a.ncols(), self.b.ncols()]
    }

    /// The same product, transposed.
    fn turned(self) -> Self {
        let (a, b) = (self.b.reversed_axes(), self.a.reversed_axes());
        Self { a, b, out: self.out.reversed_axes(), is_turned: !self.is_turned, ..self }
    }

    fn equal_terms(mut self) {
        for ((i, j), out) in self.out.indexed_iter_mut() {
            let (x, y) = (self.a[(i, 0)], self.b[(0, j)]);
            *out = repeated_sum(if self.is_turned { y * x } else { x * y }, self.a.ncols());
        }
    }

    fn by_library(mut self) {
        general_mat_mul(T::one(), &self.a, &self.b, T::zero(), &mut self.out);
    }

    fn sum(self) {
        let (vector, mut out) = (self.b.reversed_axes(), self.out.remove_axis(Axis(1)));
        let (x, y) = if self.is_turned { (&vector, &self.a) } else { (&self.a, &vector) };
        sum(&mut out, (x, y), self.loops);
    }

    /// Computes it by a way that reads and writes contiguous matrices. The right factor is copied whole if it is not contiguous, the
    /// left one and the result some rows at a time.
    fn contiguously(mut self, way: PackedWay<T>) {
        let [rows, terms, columns] = self.sides();
        let are_whole = self.a.is_standard_layout() && self.out.is_standard_layout();
        let few = (LIBRARY_MULTIPLICATIONS / terms.max(columns)).max(LIBRARY_SIDE / 2);
        let most = if are_whole { rows } else { few };
        let b = contiguous(&self.b);
        let parts = self.a.axis_chunks_iter(Axis(0), most);
        for (mut out, a) in self.out.axis_chunks_iter_mut(Axis(0), most).zip(parts) {
            let (a, rows) = (contiguous(&a), out.nrows());
            let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else { return };
            let multiply =
                |out: &mut [T]| way(Packed { a, b, out, sides: [rows, terms, columns], batch: &[] });
            if let Some(out) = out.as_slice_mut() {
                multiply(out);
            } else {
                let mut copy = Array::zeros(out.raw_dim());
                copy.as_slice_mut().into_iter().for_each(multiply);
                copy_into(&mut out, &copy);
            }
        }
    }
}

/// The array, or a contiguous copy of few elements.
pub(super) fn contiguous<T: LinalgScalar, D: Dimension>(array: &ArrayRef<T, D>) -> CowArray<'_, T, D> {
    if array.is_standard_layout() {
        return array.view().into();
    }
    let mut copy = Array::zeros(array.raw_dim());
    copy_into(&mut copy, array);
    copy.into()
}

/// The sum of `count` equal terms, added in pairs.
fn repeated_sum<T: LinalgScalar>(term: T, count: usize) -> T {
    if count == 1 {
        return term;
    }
    let half = repeated_sum(term, count / 2);
    if count & 1 == 0 { half + half } else { half + half + term }
}

/// The loops over the terms of products, on one thread or on several.
pub(super) type Terms<T> = MapReduce<Times, T, (T, T), Plus>;

/// Writes sums over the last axis of two factors.
pub(super) fn sum<T: LinalgScalar, D: Dimension, D2: Dimension, E: Dimension>(
    out: &mut ArrayRef<T, E>,
    (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
    terms: &Terms<T>,
) {
    let (inputs, loops, last) = (Inputs::from((a, b)), FoldLoops::new(Cloned, Plus), SingleAxis(out.ndim()));
    let mut shape = List::<usize, 8>::new();
    out.shape().iter().chain(a.shape().last()).for_each(|&size| shape.push(size));
    into(&Source::fused(&inputs, terms, fold_of(&loops)), &shape, out, Some(&last), &T::zero(), Cloned);
}

/// The product of two factors.
#[derive(Clone, Copy)]
pub(super) struct Times;

impl<T: LinalgScalar> MapElement<T, (T, T)> for Times {
    #[inline(always)]
    fn map(&mut self, (&a, &b): (&T, &T)) -> T {
        a * b
    }
}

/// One axis.
struct SingleAxis(usize);

impl AxisSelection for SingleAxis {
    fn contains(&self, axis: usize) -> bool {
        axis == self.0
    }
}
