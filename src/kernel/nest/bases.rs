//! The last axes of arrays: the layout that all their bases share.

#![forbid(unsafe_code)]

use super::{Elements, Inputs, Output, RawInputs, StridedAxes};
use core::array::from_fn;
use core::ptr::NonNull;
use ndarray::{ArrayBase, ArrayRef, Axis, Dimension, Ix2, RawData, ShapeBuilder, StrideShape};

/// The sizes and strides of a base. Strides may be negative, but `from_shape_ptr` refuses such: the view starts at the other end
/// of these axes, and then they are inverted.
pub(crate) struct Form<B: Dimension> {
    /// The strides without their signs.
    layout: StrideShape<B>,
    /// The strides, as the bits of `isize`.
    strides: B,
    /// The offset from the first element to the start of the layout.
    start: isize,
    is_empty: bool,
}

impl<B: Dimension> Form<B> {
    /// The form of these axes. Their number is that of `B`, if `B` has a fixed one. An array without elements may have any
    /// strides, but a mutable view may not: the form of an empty array has stride 0.
    pub(super) fn new(axes: StridedAxes<'_>) -> Self {
        let (mut shape, mut strides) = (B::zeros(axes.sizes.len()), B::zeros(axes.sizes.len()));
        for (axis, (&size, &stride)) in axes.sizes.iter().zip(axes.strides).enumerate() {
            (shape[axis], strides[axis]) = (size, if size > 1 { stride } else { 0 }.cast_unsigned());
        }
        let is_empty = axes.sizes.contains(&0);
        let (mut unsigned, mut start) = (strides.clone(), 0);
        for axis in 0..axes.sizes.len() {
            let stride = strides[axis].cast_signed();
            unsigned[axis] = stride.unsigned_abs();
            if stride.is_negative() {
                start += stride * (shape[axis] - 1).cast_signed();
            }
        }
        if is_empty {
            return Self { layout: shape.into(), strides: B::zeros(axes.sizes.len()), start: 0, is_empty };
        }
        Self { layout: shape.strides(unsigned), strides, start, is_empty }
    }

    pub(super) fn layout(&self) -> &StrideShape<B> {
        &self.layout
    }

    /// The start of the layout of a view whose first element is at `at`. An empty view does not use `at`.
    #[inline(always)]
    pub(super) fn start<T>(&self, at: *mut T) -> *mut T {
        if self.is_empty { NonNull::dangling().as_ptr() } else { at.wrapping_offset(self.start) }
    }

    /// The view of this form, made from a view of its layout.
    #[inline(always)]
    pub(super) fn inverted<S: RawData>(&self, mut view: ArrayBase<S, B>) -> ArrayBase<S, B> {
        if self.start != 0 {
            for axis in 0..self.strides.ndim() {
                if self.strides[axis].cast_signed().is_negative() {
                    view.invert_axis(Axis(axis));
                }
            }
        }
        view
    }
}

/// One to three arrays whose bases are read together.
pub(crate) struct BaseInputs<'a, E: Elements, F> {
    pub(super) inputs: Inputs<'a, E>,
    /// The forms of the inputs' last axes.
    pub(super) forms: F,
    /// How many axes each base has.
    pub(super) bases: [usize; 3],
}

macro_rules! base_inputs {
    ($of:ident: $($T:ident $D:ident $B:ident $a:ident $k:literal),+) => {
        impl<'a, $($T, $B: Dimension),+> BaseInputs<'a, ($($T,)+), ($(Form<$B>,)+)> {
            /// Arrays, each with its number of base axes, which is that of its form if that is fixed.
            pub(crate) fn $of<$($D: Dimension),+>($($a: (&'a ArrayRef<$T, $D>, usize)),+) -> Self {
                let mut bases = [0; 3];
                $(bases[$k] = $a.1;)+
                let forms = ($(Form::new(StridedAxes { sizes: $a.0.shape(), strides: $a.0.strides() }.split($a.1).1),)+);
                Self { inputs: Inputs::from(($($a.0,)+)), forms, bases }
            }
        }
    };
}
base_inputs!(one: T D A a 0);
base_inputs!(two: T D A a 0, U E B b 1);
base_inputs!(three: T D A a 0, U E B b 1, V F C c 2);

/// An array to whose bases a pass writes.
pub(crate) struct BaseOutput<'a, T, B: Dimension> {
    /// The batch axes.
    pub(super) batch: Output<'a, T>,
    /// The form of the other axes.
    pub(super) form: Form<B>,
}

impl<'a, T, B: Dimension> BaseOutput<'a, T, B> {
    /// An array with its number of base axes, which is that of `B` if that is fixed.
    pub(crate) fn of(out: Output<'a, T>, base: usize) -> Self {
        let (batch, base) = out.axes.split(base);
        Self { batch: Output { axes: batch, ..out }, form: Form::new(base) }
    }
}

type Two<'a, T> = BaseInputs<'a, (T, T), (Form<Ix2>, Form<Ix2>)>;

/// The bases of two arrays of matrices or vectors, and of the array of their products. `axes` are the numbers of base axes of
/// `out`, of the first and of the second input. Vectors of the first input are rows, those of the second one columns. If one
/// matrix is multiplied with all others, these become the rows of one matrix. Also returns whether the factors were swapped for
/// that.
pub(crate) fn matrices<'a, T>(
    out: Output<'a, T>,
    inputs: Inputs<'a, (T, T)>,
    axes: [usize; 3],
) -> (Two<'a, T>, BaseOutput<'a, T, Ix2>, bool) {
    let all = |k: usize| StridedAxes { sizes: inputs.sizes[k], strides: inputs.strides[k] };
    let last = |k: usize| all(k).split(axes[k + 1]).1;
    let is_one = |k: usize| all(k).split(axes[k + 1]).0.sizes.iter().all(|&size| size == 1);
    // one second matrix: the first matrices are the rows of one; or one first matrix and vectors, which are the rows
    let swapped = !is_one(1) && axes == [1, 2, 1];
    let (one, many) = if swapped { (0, 1) } else { (1, 0) };
    let columns = usize::from(swapped || axes[2] == 2);
    if let (true, Some(rows), Some(to)) = (is_one(one), all(many).as_rows(1), out.axes.as_rows(columns)) {
        if rows.sizes[0] == to.sizes[0] {
            let own = |k: usize| if swapped { 1 - k.min(1) } else { k };
            let raw = RawInputs {
                at: from_fn(|k| inputs.at[own(k)]),
                sizes: from_fn(|k| inputs.sizes[own(k)]),
                strides: from_fn(|k| inputs.strides[own(k)]),
                ..inputs.raw
            };
            let factor = match (last(one).sizes, last(one).strides) {
                (&[m, n], &[down, along]) if swapped => {
                    Form::new(StridedAxes { sizes: &[n, m], strides: &[along, down] })
                }
                _ => matrix(last(one), false),
            };
            let bases = [inputs.sizes[many].len(), inputs.sizes[one].len(), 0];
            let (inputs, forms) = (Inputs { raw, ..inputs }, (Form::new(rows.strided()), factor));
            return (BaseInputs { inputs, forms, bases }, out.into_one_base(&to), swapped);
        }
    }
    let forms = (matrix(last(0), true), matrix(last(1), false));
    let (batch, base) = out.axes.split(axes[0]);
    let out = BaseOutput { batch: Output { axes: batch, ..out }, form: matrix(base, axes[1] == 1) };
    (BaseInputs { inputs, forms, bases: [axes[1], axes[2], 0] }, out, false)
}

/// All axes of an array, merged to two.
struct RowAxes {
    sizes: [usize; 2],
    strides: [isize; 2],
}

impl RowAxes {
    fn strided(&self) -> StridedAxes<'_> {
        StridedAxes { sizes: &self.sizes, strides: &self.strides }
    }
}

impl StridedAxes<'_> {
    /// The last `columns` axes, none or one, and the others merged to one, if they can be.
    fn as_rows(self, columns: usize) -> Option<RowAxes> {
        let (outer, last) = self.split(columns);
        let (mut len, mut stride, mut is_one) = (1_usize, 0_isize, true);
        for (&size, &own) in outer.sizes.iter().zip(outer.strides).rev() {
            if size != 1 {
                is_one &= len == 1 || own == stride.wrapping_mul(len.cast_signed());
                stride = if len == 1 { own } else { stride };
                len *= size;
            }
        }
        let (size, along) =
            (last.sizes.first().copied().unwrap_or(1), last.strides.first().copied().unwrap_or(0));
        is_one.then_some(RowAxes { sizes: [len, size], strides: [stride, along] })
    }
}

impl<'a, T> Output<'a, T> {
    /// The whole array as one base.
    fn into_one_base(self, axes: &RowAxes) -> BaseOutput<'a, T, Ix2> {
        let none = StridedAxes { sizes: &[], strides: &[] };
        BaseOutput { batch: Output { axes: none, ..self }, form: Form::new(axes.strided()) }
    }
}

/// The form of a matrix; of a vector as a row or a column; or of one element as a matrix.
fn matrix(axes: StridedAxes<'_>, is_row: bool) -> Form<Ix2> {
    match (axes.sizes, axes.strides) {
        ([], []) => Form::new(StridedAxes { sizes: &[1, 1], strides: &[0, 0] }),
        (&[n], &[s]) if is_row => Form::new(StridedAxes { sizes: &[1, n], strides: &[0, s] }),
        (&[n], &[s]) => Form::new(StridedAxes { sizes: &[n, 1], strides: &[s, 0] }),
        _ => Form::new(axes),
    }
}
