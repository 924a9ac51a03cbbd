//! Arrays whose axes of size 0 or 1 have strides that mean harm: ndarray accepts any, `isize::MIN` too.
//!
//! ndarray's own functions panic on many of these arrays in debug builds, so what comes of a call is looked at element
//! by element.

use crate::table::Table;
use ndarray::{
    Array, ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Axis, Data, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn,
    RawData, ShapeBuilder, array,
};
use ndarray_broadcast::{
    AxisSet, Batch, BroadcastError, base_op, batch_broadcast, bounds::ReducedAxes, broadcast_apply,
    broadcast_arrays, broadcast_map, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views, fused, partial::PartialShape,
};
use ndarray_broadcast::{keepdims, prelude::*};

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

/// A stride for each axis: in C order, or `harm` where there are fewer than two elements.
fn strides<const N: usize>(shape: [usize; N], harm: isize) -> [usize; N] {
    let mut step = 1;
    let mut strides = shape;
    for stride in strides.iter_mut().rev() {
        let size = *stride;
        *stride = if size > 1 { step } else { harm.cast_unsigned() };
        step *= size.max(1);
    }
    strides
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

impl Case<'_> {
    /// The stride for arrays that own their elements or write them: ndarray takes the absolute value of those.
    fn harm_to_own(&self) -> isize {
        self.harm.max(isize::MIN + 1)
    }

    /// Has `write` write an array of ones.
    fn written<D: Dimension, const N: usize>(
        &self,
        shape: [usize; N],
        write: impl FnOnce(&mut ArrayRef<i64, D>) -> Result<(), BroadcastError>,
    ) -> Outcome
    where
        [usize; N]: ndarray::IntoDimension<Dim = D>,
    {
        let mut ones = vec![1; shape.iter().product::<usize>() + 9];
        let mut out =
            ArrayViewMut::from_shape(shape.strides(strides(shape, self.harm_to_own())), &mut ones).unwrap();
        outcome(write(&mut out).map(|()| out))
    }
}

/// Calls `work` with an array whose strides mean harm, and with one in C order: the same comes of both.
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
    sums(t);
    maps(t);
    batches(t);
    closures(t);
    products(t);
    clients(t);
    outer_products(t);
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

/// A sum into an array.
type Into<'f> =
    &'f (dyn Fn(&ArrayRef<i64, Ix3>, &mut ArrayRef<i64, Ix2>) -> Result<(), BroadcastError> + Sync);

fn sums(t: &mut Table) {
    let name = "Reduce::sum_axes";
    both(t, name, |c| outcome(c.a.sum_axes(AxisSet::default())));
    both(t, name, |c| outcome(c.a.sum_axes(0)));
    both(t, name, |c| outcome(c.a.sum_axes([1, 2])));
    both(t, name, |c| outcome(c.row.sum_axes(0)));
    both(t, "keepdims", |c| outcome(c.a.sum_axes(keepdims([0, 2]))));
    both(t, "Reduce::sum_to", |c| outcome(c.a.sum_to(1)));
    both(t, "Reduce::sum_to", |c| outcome(c.a.t().sum_to((c.matrix.len_of(Axis(0)), 1))));
    both(t, "Reduce::sum_to", |c| outcome(c.a.sum_to(&c.matrix)));
    both(t, "Reduce::sum_to", |c| outcome(c.a.sum_to(&c.row)));
    both(t, "Reduce::into_sum_to", |c| {
        let strides = strides([c.row.len(), 1], c.harm_to_own());
        let owned =
            || ndarray::Array::from_shape_vec([c.row.len(), 1].strides(strides), c.row.to_vec()).unwrap();
        outcome(owned().into_sum_to([c.row.len(), 1]).and_then(|same| Ok((same, owned().into_sum_to(1)?))))
    });
    both(t, "Reduce::into_sum_to", |c| {
        let strides = strides([c.row.len(), 1], c.harm_to_own());
        let owned =
            || ndarray::Array::from_shape_vec([c.row.len(), 1].strides(strides), c.row.to_vec()).unwrap();
        let column = c.row.view().insert_axis(Axis(1));
        outcome(owned().into_sum_to(&column).and_then(|same| Ok((same, owned().into_sum_to(&array![0_u8])?))))
    });
    let mut into = |name, sum: Into<'_>| {
        both(t, name, |c| c.written([c.matrix.len_of(Axis(0)), c.row.len()], |out| sum(&c.a, out)));
        both(t, name, |c| c.written([1, 1], |out| sum(&c.a, out)));
    };
    into("Reduce::assign_sum_to", &|a, out| a.assign_sum_to(out));
    into("Reduce::add_sum_to", &|a, out| a.add_sum_to(out));
    into("Reduce::scaled_add_sum_to", &|a, out| a.scaled_add_sum_to(-1, out));
    into("Reduce::par", &|a, out| a.par().assign_sum_to(out));
    into("Reduce::par", &|a, out| a.par().add_sum_to(out));
    into("Reduce::par", &|a, out| a.par().scaled_add_sum_to(-1, out));
    both(t, "Reduce::assign_sum_to", |c| c.written([1], |out| c.a.assign_sum_to(out)));
    both(t, "Reduce::par", |c| outcome(c.a.par().sum_axes([0, 1])));
    both(t, "Reduce::par", |c| outcome(c.a.par().sum_axes(keepdims(1))));
    both(t, "Reduce::par", |c| outcome(c.a.par().sum_to((1, 1))));
}

fn maps(t: &mut Table) {
    let name = "broadcast_map";
    both(t, name, |c| outcome(broadcast_map(&c.a, |a| a + 1)));
    both(t, name, |c| outcome(broadcast_map((&c.a, &c.row), |a, b| a - b)));
    both(t, name, |c| outcome(broadcast_map((&c.row, &c.row), |a, b| a * b)));
    both(t, name, |c| outcome(broadcast_map((&c.matrix, &c.row, &c.a), |a, b, c| a * b - c)));
    both(t, name, |c| outcome(broadcast_map((c.a.t(), &c.a), |a, b| a - b)));
    both(t, "broadcast_apply", |c| {
        c.written([c.row.len()], |out| broadcast_apply(out, &c.row, |out, a| *out = *out * 9 + a))
    });
    both(t, "broadcast_apply", |c| {
        let (m, n) = c.matrix.dim();
        let operands = (&c.row, &c.matrix);
        c.written([m, n], |out| broadcast_apply(out, operands, |out, a, b| *out = *out * 9 + a - b))
    });
    let name = "fused";
    both(t, name, |c| outcome(fused((&c.a, &c.row), |a, b| a * b).sum_to(())));
    both(t, name, |c| outcome(fused((&c.a, &c.matrix), |a, b| a * b).sum_to([1, 1])));
    both(t, name, |c| outcome(fused((&c.a, &c.row), |a, b| a * b).sum_to(c.row.len())));
    let name = "fused";
    both(t, name, |c| outcome(fused((&c.a, &c.row), |a, b| a * b).sum_to(&c.row)));
    both(t, name, |c| outcome(fused((&c.a, &c.matrix), |a, b| a * b).sum_to(&c.matrix)));
    both(t, "Materialize::materialize", |c| Ok((c.a.materialize(), c.a.t().materialize()).look()));
    both(t, "Materialize::materialize", |c| Ok((c.row.materialize(), c.matrix.materialize()).look()));
    both(t, "Materialize::try_materialize", |c| outcome(c.a.t().try_materialize()));
    both(t, "Materialize::try_materialize", |c| outcome(c.column.try_materialize()));
    both(t, "Materialize::materialize_into", |c| {
        let (m, n) = c.matrix.dim();
        c.written([m, n], |out| c.row.materialize_into(out))
    });
    both(t, "Materialize::materialize_into", |c| {
        c.written(c.a.dim().into(), |out| c.a.materialize_into(out))
    });
    both(t, "ParOperands::par", |c| outcome(broadcast_map((&c.a, &c.row).par(), |a, b| a - b)));
    both(t, "ParOperands::par", |c| {
        c.written(c.a.dim().into(), |out| broadcast_apply(out, c.row.par(), |out, a| *out += a))
    });
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
    both(t, "Batch::sum_batch_to", |c| outcome(c.a.batch::<Ix1>()?.sum_batch_to(1)));
    both(t, "Batch::sum_batch_to", |c| outcome(c.a.batch::<Ix1>()?.sum_batch_to(&c.matrix.batch::<Ix1>()?)));
    both(t, "Batch::add_sum_batch_to", |c| {
        let batch = c.a.batch::<Ix1>()?;
        c.written([c.matrix.len_of(Axis(0)), c.row.len()], |out| batch.add_sum_batch_to(out))
    });
}

/// Writes each element of a base as a closure sees it.
fn copy<D: Dimension>(from: &ArrayView<'_, i64, D>, to: &mut ArrayViewMut<'_, i64, D>) {
    assert_eq!(from.shape(), to.shape());
    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *to * 2 + from);
}

fn closures(t: &mut Table) {
    let name = "Batch::zip_map";
    both(t, name, |c| {
        let batch = c.a.batch::<Ix2>()?;
        outcome(batch.zip_map((), batch.base_shape(), |x, mut out| copy(&x.into_dyn(), &mut out)))
    });
    both(t, name, |c| {
        let (a, n) = (c.a, c.row.len());
        outcome(a.batch::<Ix1>()?.zip_map((), n, |x, mut out: ArrayViewMut<'_, i64, Ix1>| copy(&x, &mut out)))
    });
    both(t, name, |c| {
        let (a, all) = (c.a.into_dyn(), c.a.shape());
        outcome(
            a.batch_dyn(3)?.zip_map((), all, |x, mut out: ArrayViewMut<'_, i64, IxDyn>| copy(&x, &mut out)),
        )
    });
    both(t, "Batch::zip_map", |c| {
        let (x, y) = (c.a.batch::<Ix1>()?, c.column.batch::<Ix1>()?);
        outcome(x.zip_map(&y, c.row.len(), |x, y, mut out: ArrayViewMut<'_, i64, Ix1>| {
            copy(&x, &mut out);
            out.iter_mut().for_each(|out| *out += y.iter().sum::<i64>());
        }))
    });
    both(t, "Batch::zip_map", |c| {
        let (x, y, z) = (c.a.batch::<Ix1>()?, c.column.batch::<Ix1>()?, c.matrix.batch::<Ix2>()?);
        outcome(x.zip_map((&y, &z), c.row.len(), |x, y, z, mut out: ArrayViewMut<'_, i64, Ix1>| {
            copy(&x, &mut out);
            out.iter_mut().for_each(|out| *out += y.iter().chain(z.iter()).sum::<i64>());
        }))
    });
    both(t, "Batch::zip_map_into", |c| {
        let (x, y) = (c.a.batch::<Ix2>()?, c.matrix.batch::<Ix2>()?);
        c.written(c.a.dim().into(), |out| {
            x.zip_map_into(&y, out, |x, _, mut out: ArrayViewMut<'_, i64, Ix2>| copy(&x, &mut out))
        })
    });
    both(t, "Batch::par", |c| {
        let (x, y) = (c.a.batch::<Ix1>()?, c.row.batch::<Ix1>()?);
        outcome(x.par().zip_map(&y, c.row.len(), |x, _, mut out: ArrayViewMut<'_, i64, Ix1>| {
            copy(&x, &mut out);
        }))
    });
    both(t, "Batch::par", |c| {
        let (x, y) = (c.a.batch::<Ix2>()?, c.matrix.batch::<Ix2>()?);
        c.written(c.a.dim().into(), |out| {
            x.par().zip_map_into(&y, out, |x, _, mut out: ArrayViewMut<'_, i64, Ix2>| copy(&x, &mut out))
        })
    });
}

fn products(t: &mut Table) {
    macro_rules! elementwise {
        ($($method:ident $name:literal)*) => {$(
            both(t, $name, |c| outcome(c.a.batch::<Ix1>()?.$method(&c.matrix.batch::<Ix1>()?)));
            both(t, $name, |c| outcome(c.a.batch::<Ix3>()?.$method(&c.a.batch::<Ix3>()?)));
            both(t, $name, |c| outcome(c.row.batch::<Ix0>()?.$method(&c.row.batch::<Ix1>()?)));
        )*};
    }
    elementwise!(add "Batch::add" sub "Batch::sub" mul "Batch::mul" div "Batch::div");
    both(t, "Batch::matvec", |c| outcome(c.a.batch::<Ix2>()?.matvec(&c.row.batch::<Ix1>()?)));
    both(t, "Batch::vecmat", |c| outcome(c.a.t().batch::<Ix1>()?.vecmat(&c.a.t().batch::<Ix2>()?)));
    both(t, "Batch::vecmat", |c| outcome(c.row.batch::<Ix1>()?.vecmat(&c.matrix.t().batch::<Ix2>()?)));
    both(t, "Batch::matmul", |c| outcome(c.a.batch::<Ix2>()?.matmul(&c.matrix.t().batch::<Ix2>()?)));
    both(t, "Batch::matmul", |c| outcome(c.matrix.t().batch::<Ix2>()?.matmul(&c.a.batch::<Ix2>()?)));
    both(t, "Batch::inner", |c| outcome(c.a.batch::<Ix1>()?.inner(&c.row.batch::<Ix1>()?)));
    let name = "Batch::apply";
    both(t, name, |c| outcome(c.a.batch::<Ix1>()?.apply(base_op::Inner, &c.row.batch::<Ix1>()?)));
    both(t, "Batch::apply_into", |c| {
        let (x, y) = (c.a.batch::<Ix2>()?, c.row.batch::<Ix1>()?);
        c.written([c.column.len(), c.matrix.len_of(Axis(0))], |out| x.apply_into(base_op::MatVec, &y, out))
    });
    both(t, "Batch::apply_into", |c| {
        let (x, y) = (c.a.batch::<Ix2>()?, c.matrix.batch::<Ix2>()?);
        c.written(c.a.dim().into(), |out| x.apply_into(base_op::Add, &y, out))
    });
    let name = "Batch::par";
    both(t, name, |c| outcome(c.a.batch::<Ix2>()?.par().apply(base_op::MatVec, &c.row.batch::<Ix1>()?)));
    both(t, name, |c| outcome(c.a.batch::<Ix2>()?.par().apply(base_op::Mul, &c.row.batch::<Ix1>()?)));
    both(t, "Batch::par", |c| {
        let (x, y) = (c.a.batch::<Ix2>()?, c.matrix.t().materialize());
        let m = c.matrix.len_of(Axis(0));
        c.written([c.column.len(), m, m], |out| x.par().apply_into(base_op::MatMul, &y.batch::<Ix2>()?, out))
    });
}

/// The bits of means.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn means<X: ReducedAxes<Ix3>>(
    a: &ArrayRef<i64, Ix3>,
    axes: X,
) -> Result<Array<i64, X::Left>, BroadcastError> {
    Ok(fused(a, |&a| a as f64).mean_axes(axes)?.mapv(|mean| mean.to_bits().cast_signed()))
}

fn clients(t: &mut Table) {
    both(t, "BroadcastTo::can_broadcast_to", |c| Ok(c.a.can_broadcast_to([3, 3, 3]).look()));
    let name = "BroadcastView::into_broadcast_axes";
    both(t, name, |c| outcome(c.row.into_broadcast_axes(&c.a.shape()[1..], 0)));
    both(t, "BroadcastView::into_broadcast_axes", |c| outcome(c.row.into_broadcast_axes(&c.a, [0, -2])));
    let name = "BroadcastView::into_broadcast_in_dim";
    both(t, name, |c| outcome(c.a.into_broadcast_in_dim([3, 3, 3, 2], [2, 0, 1])));
    let name = "Reduce::sum_in_dim";
    both(t, name, |c| outcome(c.a.sum_in_dim([c.row.len(), 1], [2, 0])));
    both(t, "Reduce::sum_in_dim", |c| outcome(c.a.sum_in_dim(&c.matrix, [1, 2])));
    let mut into = |name, sum: Into<'_>| {
        both(t, name, |c| c.written([c.matrix.len_of(Axis(0)), c.row.len()], |out| sum(&c.a, out)));
    };
    into("Reduce::add_sum_in_dim_to", &|a, out| a.add_sum_in_dim_to(out, [1, 2]));
    both(t, "Reduce::reduce_axes", |c| outcome(c.a.reduce_axes([0, -1], 0, i64::max)));
    both(t, "Reduce::reduce_axes", |c| outcome(c.a.reduce_axes(keepdims(1), 0, i64::max)));
    both(t, "Reduce::max_axes", |c| outcome(c.a.max_axes([0, -1])));
    both(t, "Reduce::min_axes", |c| outcome(c.a.min_axes(keepdims(1))));
    both(t, "Reduce::max_axes", |c| outcome(c.a.max_axes(..)));
    let numbers = |at: usize| i64::try_from(at).unwrap();
    both(t, "Reduce::argmax_axes", |c| outcome(c.a.argmax_axes([0, -1]).map(|at| at.mapv(numbers))));
    both(t, "Reduce::argmin_axes", |c| outcome(c.a.argmin_axes(keepdims(1)).map(|at| at.mapv(numbers))));
    both(t, "Products::inner", |c| outcome(c.a.inner(&c.row)));
    both(t, "Products::outer", |c| outcome(c.a.outer(&c.matrix)));
    both(t, "Products::matvec", |c| outcome(c.a.matvec(&c.row)));
    both(t, "Products::vecmat", |c| outcome(c.row.vecmat(&c.a.view().permuted_axes([0, 2, 1]))));
    both(t, "Products::matmul", |c| outcome(c.a.matmul(&c.a.view().permuted_axes([0, 2, 1]))));
    both(t, "Reduce::max_to", |c| outcome(c.a.max_to(&c.row)));
    both(t, "Reduce::min_to", |c| outcome(c.a.par().min_to(())));
    both(t, "fused", |c| outcome(fused((&c.a, &c.row), |a, b| a * b).max_axes(0)));
    both(t, "Fused::par", |c| outcome(fused((&c.a, &c.row), |a, b| a * b).par().sum_in_dim(1, 2)));
    both(t, "Reduce::mean_axes", |c| outcome(means(&c.a, [0, 1])));
    both(t, "Reduce::mean_axes", |c| outcome(means(&c.a, keepdims(2))));
    both(t, "Reduce::mean_to", |c| {
        let floats = fused(&c.a, |&a| f64::from(i32::try_from(a).unwrap()));
        outcome(floats.mean_to(&c.row).map(|means| means.mapv(|mean| mean.to_bits().cast_signed())))
    });
    both(t, "Reduce::reduce_to", |c| {
        outcome(fused((&c.a, &c.row), |a, b| a * b).reduce_to(c.row.len(), 0, i64::max))
    });
    let owned = |c: &Case<'_>| {
        let shape = [c.row.len(), 1];
        let strides = strides(shape, c.harm_to_own());
        ndarray::Array::from_shape_vec(shape.strides(strides), c.row.to_vec()).unwrap()
    };
    both(t, "IntoBroadcastMap::into_broadcast_map", |c| {
        let map = |other: ArrayView<'_, i64, Ix1>| {
            owned(c).into_broadcast_map(other, |a: &i64, b: &i64| a - b).map_err(BroadcastError::from)
        };
        outcome(map(ArrayView::from(&[2])).and_then(|narrow| Ok((narrow, map(c.row)?))))
    });
    for name in ["Returned::error", "Returned::into_inner", "Returned::into_operands"] {
        both(t, name, |c| {
            let of_five = ArrayView::from_shape([5, 1], &[0; 5]).unwrap();
            let three = ndarray::Array::from_shape_vec(
                [3, 1].strides(strides([3, 1], c.harm_to_own())),
                vec![1, 2, 3],
            );
            let returned = three.unwrap().into_broadcast_map(of_five, |a, _| *a).unwrap_err();
            assert_eq!(returned.error().to_string(), BroadcastError::from(returned.clone()).to_string());
            Ok(returned.into_inner().look())
        });
    }
}

#[allow(clippy::many_single_char_names, reason = "sizes and operands")]
fn outer_products(t: &mut Table) {
    both(t, "Batch::outer", |c| outcome(c.a.batch::<Ix1>()?.outer(&c.matrix.batch::<Ix1>()?)));
    both(t, "Batch::transpose", |c| outcome(Ok(c.a.batch::<Ix2>()?.transpose())));
    both(t, "Batch::apply_into", |c| {
        let (l, m, n) = c.a.dim();
        let (x, y) = (c.a.batch::<Ix1>()?, c.row.batch::<Ix1>()?);
        c.written([l, m, n, n], |out| x.apply_into(base_op::Outer, &y, out))
    });
    both(t, "Batch::apply_into", |c| {
        let (l, m, _) = c.a.dim();
        let (x, y) = (c.a.batch::<Ix1>()?, c.row.batch::<Ix1>()?);
        c.written([l, m], |out| x.apply_into(base_op::Inner, &y, out))
    });
    both(t, "Batch::apply_into", |c| {
        let (l, m, _) = c.a.dim();
        let (x, y) = (c.a.batch::<Ix2>()?, c.row.batch::<Ix1>()?);
        c.written([l, m], |out| x.apply_into(base_op::MatVec, &y, out))
    });
    both(t, "Batch::apply_into", |c| {
        let m = c.matrix.len_of(Axis(0));
        let turned = c.matrix.t();
        let (x, y) = (c.row.batch::<Ix1>()?, turned.batch::<Ix2>()?);
        c.written([m], |out| x.apply_into(base_op::VecMat, &y, out))
    });
    both(t, "Batch::apply_into", |c| {
        let (l, m, _) = c.a.dim();
        let turned = c.matrix.t();
        let (x, y) = (c.a.batch::<Ix2>()?, turned.batch::<Ix2>()?);
        c.written([l, m, m], |out| x.apply_into(base_op::MatMul, &y, out))
    });
}
