//! Arrays with hostile strides at axes of size 0 or 1: ndarray accepts any, `isize::MIN` too.
//!
//! ndarray's own functions panic on many of these arrays in debug builds, so what comes of a call is looked at element
//! by element.

use crate::table::Table;
use common::forms::{Call, base_operations, forms};
use ndarray::{
    ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Data, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn, RawData,
    ShapeBuilder, array,
};
use ndarray_broadcast::{
    AxisSet, Batch, BroadcastError, base_op, batch_broadcast, broadcast_arrays, broadcast_map,
    broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views, fused, keepdims,
    partial::PartialShape, prelude::*,
};

/// The strides of axes along which nobody steps.
const HARM: [isize; 6] = [isize::MIN, isize::MIN + 1, isize::MAX, -1, 7, 0];

/// Sizes of axes, of which some are 0 or 1.
const SHAPES: [[usize; 3]; 12] = [
    [2, 1, 3],
    [1, 2, 3],
    [2, 3, 1],
    [1, 1, 3],
    [1, 3, 1],
    [3, 1, 1],
    [1, 1, 1],
    [0, 1, 3],
    [1, 0, 2],
    [2, 1, 0],
    [3, 3, 1],
    [1, 3, 3],
];

/// The least stride of arrays that own their elements or write them: ndarray takes the absolute value of those.
const MIN_TO_OWN: isize = isize::MIN + 1;

/// A stride for each axis: in C order, or `harm` where there are fewer than two elements.
fn strides<const N: usize>(mut shape: [usize; N], harm: isize) -> [usize; N] {
    put_strides(&mut shape, harm);
    shape
}

/// Puts strides in the place of sizes.
fn put_strides(sizes: &mut [usize], harm: isize) {
    let mut step = 1;
    for stride in sizes.iter_mut().rev() {
        let size = *stride;
        *stride = if size > 1 { step } else { harm.cast_unsigned() };
        step *= size.max(1);
    }
}

/// The shape and the elements.
type Seen = (Vec<usize>, Vec<i64>);

fn seen<S: RawData<Elem = i64> + Data, D: Dimension>(array: &ArrayBase<S, D>) -> Seen {
    (array.shape().to_vec(), array.iter().copied().collect())
}

/// What comes of calls, in words where it is an error.
trait Look {
    fn look(self) -> Vec<Seen>;
}

impl<S: Data<Elem = i64>, D: Dimension> Look for ArrayBase<S, D> {
    fn look(self) -> Vec<Seen> {
        vec![seen(&self)]
    }
}

impl Look for bool {
    fn look(self) -> Vec<Seen> {
        vec![(vec![], vec![self.into()])]
    }
}

impl<D: Dimension, B: Dimension> Look for Batch<'_, i64, D, B> {
    fn look(self) -> Vec<Seen> {
        let mut looks = self.clone().into_view().look();
        looks.push((self.batch_shape().to_vec(), vec![]));
        looks.push((self.base_shape().to_vec(), vec![]));
        looks
    }
}

impl<T: Look> Look for Vec<T> {
    fn look(self) -> Vec<Seen> {
        self.into_iter().flat_map(Look::look).collect()
    }
}

macro_rules! tuples {
    ($($T:ident $t:ident),+) => {
        impl<$($T: Look),+> Look for ($($T,)+) {
            fn look(self) -> Vec<Seen> {
                let ($($t,)+) = self;
                [$($t.look()),+].concat()
            }
        }
    };
}
tuples!(A a);
tuples!(A a, B b);
tuples!(A a, B b, C c);

type Outcome = Result<Vec<Seen>, Words>;

/// The message of an error.
#[derive(Debug, PartialEq)]
struct Words(String);

impl From<BroadcastError> for Words {
    fn from(error: BroadcastError) -> Self {
        Self(error.to_string())
    }
}

fn outcome<T: Look>(result: Result<T, BroadcastError>) -> Outcome {
    Ok(result?.look())
}

/// The operands of one case, and arrays to write.
struct Case<'a> {
    /// Of three axes; the others are its two last axes, its last one and its first one.
    a: ArrayView<'a, i64, Ix3>,
    matrix: ArrayView<'a, i64, Ix2>,
    row: ArrayView<'a, i64, Ix1>,
    column: ArrayView<'a, i64, Ix1>,
    /// The stride of the arrays to write along axes without steps.
    harm: isize,
}

/// Calls `work` with an array with hostile strides, and with one in C order: the results are equal.
fn both(t: &mut Table, name: &'static str, work: impl Fn(&Case<'_>) -> Outcome + Sync) {
    both_of(t, name, &work);
}

/// [`both`], compiled once.
fn both_of(t: &mut Table, name: &'static str, work: &(dyn Fn(&Case<'_>) -> Outcome + Sync)) {
    for shape in SHAPES {
        let [l, m, n] = shape;
        let data: Vec<i64> = (3..).take(l * m * n + 9).collect();
        for harm in HARM {
            fn view<D, const N: usize>(data: &[i64], shape: [usize; N], harm: isize) -> ArrayView<'_, i64, D>
            where
                D: Dimension,
                [usize; N]: ndarray::IntoDimension<Dim = D>,
            {
                ArrayView::from_shape(shape.strides(strides(shape, harm)), data).unwrap()
            }
            let odd = Case {
                a: view(&data, shape, harm),
                matrix: view(&data, [m, n], harm),
                row: view(&data, [n], harm),
                column: view(&data, [l], harm),
                harm,
            };
            let plain = Case {
                a: ArrayView::from_shape(shape, &data[..l * m * n]).unwrap(),
                matrix: ArrayView::from_shape([m, n], &data[..m * n]).unwrap(),
                row: ArrayView::from_shape([n], &data[..n]).unwrap(),
                column: ArrayView::from_shape([l], &data[..l]).unwrap(),
                harm: 0,
            };
            let expected = work(&plain);
            t.call(name, || work(&odd)).is(expected);
        }
    }
}

pub(crate) fn rows(t: &mut Table) {
    views(t);
    several(t);
    batches(t);
    others(t);
    all_forms(t);
}

fn views(t: &mut Table) {
    both(t, "BroadcastTo::broadcast_to", |c| outcome(c.a.broadcast_to([2, -1, -1, -1])));
    both(t, "BroadcastTo::broadcast_to", |c| outcome(c.a.broadcast_to([3, 3, 3])));
    both(t, "BroadcastTo::broadcast_to", |c| outcome(c.row.broadcast_to([2, 3])));
    both(t, "BroadcastView::into_broadcast_to", |c| outcome(c.a.into_broadcast_to([2, -1, -1, -1])));
    both(t, "BroadcastView::broadcast_in_place", |c| {
        let mut a = c.a;
        outcome(a.broadcast_in_place([3, 3, 3]).map(|()| a))
    });
    let name = "BroadcastAxes::broadcast_axes";
    both(t, name, |c| outcome(c.a.broadcast_axes(c.a.shape(), AxisSet::default())));
    both(t, name, |c| outcome(c.row.broadcast_axes(&c.a.shape()[1..], 0)));
    both(t, name, |c| outcome(c.column.broadcast_axes([c.column.len(), 2, 0], [1, 2])));
    both(t, "BroadcastAxes::broadcast_like", |c| outcome(c.row.broadcast_like(&c.a, [0, 1])));
    both(t, "BroadcastAxes::broadcast_like", |c| outcome(c.column.broadcast_like(&c.a, [1, 2])));
    let name = "BroadcastInDim::broadcast_in_dim";
    both(t, name, |c| outcome(c.a.broadcast_in_dim(c.a.shape(), [0, 1, 2])));
    both(t, name, |c| outcome(c.a.broadcast_in_dim([3, 3, 3, 2], [2, 0, 1])));
    both(t, name, |c| outcome(c.row.broadcast_in_dim([3, 2], 0)));
    let name = "BroadcastView::into_broadcast_axes";
    both(t, name, |c| outcome(c.row.into_broadcast_axes(&c.a.shape()[1..], 0)));
    both(t, "BroadcastView::into_broadcast_axes", |c| outcome(c.row.into_broadcast_axes(&c.a, [0, -2])));
    let name = "BroadcastView::into_broadcast_in_dim";
    both(t, name, |c| outcome(c.a.into_broadcast_in_dim([3, 3, 3, 2], [2, 0, 1])));
    both(t, "PartialShape::of", |c| {
        let shape = PartialShape::of(&c.a);
        assert_eq!(shape, PartialShape::from(c.a.shape().to_vec()));
        Ok(vec![])
    });
}

fn several(t: &mut Table) {
    let name = "BroadcastToMatch::expand_to_match_ranks";
    both(t, name, |c| Ok(c.a.expand_to_match_ranks(&c.row).look()));
    let name = "BroadcastToMatch::broadcast_to_match_shape";
    both(t, name, |c| outcome(c.a.broadcast_to_match_shape([2, 3, 3, 3])));
    let name = "BroadcastToMatch::broadcast_to_match";
    both(t, name, |c| outcome(c.a.broadcast_to_match(&c.matrix)));
    both(t, name, |c| outcome(c.row.broadcast_to_match(&c.a.t())));
    let name = "BroadcastToMatch::broadcast_to_match3";
    both(t, name, |c| outcome(c.a.broadcast_to_match3(&c.matrix, &c.row)));
    let name = "BroadcastToMatch::can_broadcast_to_match";
    both(t, name, |c| Ok(c.a.can_broadcast_to_match(&c.column).look()));
    both(t, "broadcast_to_match_in_place", |c| {
        let (mut x, mut y) = (c.a.into_dyn(), c.row.into_dyn());
        outcome(broadcast_to_match_in_place(&mut x, &mut y).map(|()| (x, y)))
    });
    both(t, "broadcast_to_match3_in_place", |c| {
        let (mut x, mut y, mut z) = (c.a.into_dyn(), c.row.into_dyn(), c.matrix.into_dyn());
        outcome(broadcast_to_match3_in_place(&mut x, &mut y, &mut z).map(|()| (x, y, z)))
    });
    both(t, "broadcast_arrays", |c| outcome(broadcast_arrays((&c.a, c.row, &c.matrix))));
    both(t, "broadcast_views", |c| outcome(broadcast_views(&[c.a.into_dyn(), c.column.into_dyn()])));
}

fn batches(t: &mut Table) {
    both(t, "BatchAxes::batch", |c| outcome(c.a.batch::<Ix2>()));
    both(t, "BatchAxes::batch_dyn", |c| outcome(c.a.batch_dyn(1)));
    both(t, "IntoBatch::into_batch", |c| outcome(c.a.into_batch::<Ix1>()));
    both(t, "IntoBatch::into_batch_dyn", |c| outcome(c.a.into_batch_dyn(0)));
    both(t, "Batch::batch_shape", |c| outcome(c.a.batch::<Ix2>()));
    both(t, "Batch::base_shape", |c| outcome(c.a.batch::<Ix0>()));
    both(t, "Batch::into_view", |c| outcome(c.row.batch::<Ix1>().map(Batch::into_view)));
    #[allow(clippy::clone_on_copy, reason = "this is the function that is called")]
    both(t, "Batch::clone", |c| outcome(Ok(c.row.batch::<Ix1>()?.clone())));
    both(t, "Batch::fmt", |c| {
        let text = format!("{:?}", c.a.batch::<Ix2>()?);
        assert!(text.starts_with("Batch { batch_shape: ["), "{text}");
        Ok(vec![])
    });
    both(t, "Batch::expand_batch", |c| outcome(c.a.batch::<Ix2>()?.expand_batch([2, -1])));
    both(t, "batch_broadcast", |c| outcome(batch_broadcast(&c.a.batch::<Ix1>()?, &c.matrix.batch::<Ix1>()?)));
    both(t, "Batch::transpose", |c| outcome(Ok(c.a.batch::<Ix2>()?.transpose())));
    both(t, "Batch::par", |c| {
        outcome(c.a.batch::<Ix2>()?.par().apply(base_op::MatVec, &c.row.batch::<Ix1>()?))
    });
}

/// What is no row of the table of forms, or a part of one.
fn others(t: &mut Table) {
    both(t, "BroadcastTo::can_broadcast_to", |c| Ok(c.a.can_broadcast_to([3, 3, 3]).look()));
    both(t, "keepdims", |c| outcome(c.a.sum_axes(keepdims([0, 2]))));
    both(t, "Reduce::par", |c| outcome(c.a.par().sum_axes([0, 1])));
    both(t, "fused", |c| outcome(fused((&c.a, &c.row), |a, b| a * b).sum_to(c.row.len())));
    both(t, "fused", |c| outcome(fused((&c.a, &c.matrix), |a, b| a * b).sum_to([1, 1])));
    both(t, "Fused::par", |c| outcome(fused((&c.a, &c.row), |a, b| a * b).par().sum_in_dim(1, 2)));
    both(t, "ParOperands::par", |c| outcome(broadcast_map((c.a.t(), &c.row).par(), |a, b| a - b)));
    let owned = |c: &Case<'_>| {
        let shape = [c.row.len(), 1];
        let strides = strides(shape, c.harm.max(MIN_TO_OWN));
        ndarray::Array::from_shape_vec(shape.strides(strides), c.row.to_vec()).unwrap()
    };
    both(t, "Reduce::into_sum_to", |c| {
        let same = owned(c).into_sum_to([c.row.len(), 1])?;
        outcome(Ok((same, owned(c).into_sum_to(1)?, owned(c).into_sum_to(&array![0_u8])?)))
    });
    both(t, "IntoBroadcastMap::into_broadcast_map", |c| {
        let map = |other: ArrayView<'_, i64, Ix1>| {
            owned(c).into_broadcast_map(other, |a: &i64, b: &i64| a - b).map_err(BroadcastError::from)
        };
        outcome(map(ArrayView::from(&[2])).and_then(|narrow| Ok((narrow, map(c.row)?))))
    });
    for name in ["Returned::error", "Returned::into_inner"] {
        both(t, name, |c| {
            let of_five = ArrayView::from_shape([5, 1], &[0; 5]).unwrap();
            let strides = strides([3, 1], c.harm.max(MIN_TO_OWN));
            let three = ndarray::Array::from_shape_vec([3, 1].strides(strides), vec![1, 2, 3]);
            let returned = three.unwrap().into_broadcast_map(of_five, |a, _| *a).unwrap_err();
            assert_eq!(returned.error().to_string(), BroadcastError::from(returned.clone()).to_string());
            Ok(returned.into_inner().look())
        });
    }
}

/// The table of forms: operands and outputs with hostile strides, against ordinary ones.
fn all_forms(t: &mut Table) {
    const AXES: [&[usize]; 5] = [&[], &[0], &[1, 2], &[0, 2], &[0, 1, 2]];
    let data: Vec<f64> = (1..40).map(f64::from).collect();
    let of_shapes = |form| SHAPES.map(|shape| (form, shape));
    let (every, of_bases) = (forms(), base_operations());
    let of_bases = of_bases.iter().flat_map(of_shapes).filter(|(_, shape)| !shape.contains(&0));
    for (turn, (form, shape)) in every.iter().flat_map(of_shapes).chain(of_bases).enumerate() {
        let (narrow, axes) = (AXES[turn % 5], AXES[turn / 5 % 5]);
        let of_y = [0, 1, 2].map(|axis| if narrow.contains(&axis) { 1 } else { shape[axis] });
        let others: Vec<usize> = (0..3).rev().filter(|axis| !axes.contains(axis)).collect();
        let run = |harm: isize| {
            let view = |shape: [usize; 3]| {
                ArrayView::from_shape(shape.strides(strides(shape, harm)), &data).unwrap().into_dyn()
            };
            let call = Call::new(view(shape), view(of_y), axes, &others);
            let (shape, mut ones) = (form.out_shape(&call).unwrap_or_default(), [1.0; 40]);
            let mut own = shape.clone();
            put_strides(&mut own, harm.max(MIN_TO_OWN));
            let mut out = ArrayViewMut::from_shape(IxDyn(&shape).strides(IxDyn(&own)), &mut ones).unwrap();
            let new = form.run(&call, &mut out).map_err(|error| error.to_string())?;
            let found = new.as_deref().map_or(out.view(), ArrayRef::view);
            Ok::<_, String>((found.shape().to_vec(), found.iter().map(|x| x.to_bits()).collect::<Vec<_>>()))
        };
        let expected = run(1);
        for harm in HARM {
            t.call(form.name, || run(harm)).is(expected.clone());
        }
    }
}
