//! As many axes, operands and characters as anyone may come with: 64 axes, 64,000 operands, texts of 1 MiB, and views of
//! 2^62 elements.

use crate::table::Table;
use common::is_thorough;
use ndarray::{ArrayD, ArrayView1, ArrayViewD, Axis, IxDyn, aview0};
use ndarray_broadcast::partial::{
    Decision, PartialShape, Plan, decide, infer_batch, infer_ranks, infer_shape, infer_shapes,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, ErrorKind, Signature, broadcast_apply, broadcast_map, broadcast_shapes, broadcast_views, fused,
    keepdims, reduction_axes,
};

const AXES: usize = 64;
const OPERANDS: usize = 64_000;
/// Elements of [`array`].
const ELEMENTS: i64 = 1 << 10;

pub(crate) fn rows(t: &mut Table) {
    axes(t);
    huge_views(t);
    operands(t);
    signatures(t);
    partial_operands(t);
    texts(t);
}

/// 64 sizes: 2 at every seventh axis, else 1; the same backwards.
fn sizes() -> Vec<usize> {
    (0..AXES).map(|axis| if axis % 7 == 0 { 2 } else { 1 }).collect()
}

/// 0, 1, 2 and so on in an array of shape `sizes()`, whose longer axes lie in memory in an order in which no two merge.
fn array() -> ArrayD<i64> {
    let long: Vec<usize> = (0..AXES).step_by(7).collect();
    let (even, odd): (Vec<usize>, Vec<usize>) = long.into_iter().partition(|axis| axis % 2 == 0);
    let mut order: Vec<usize> = (0..AXES).filter(|axis| axis % 7 != 0).collect();
    order.extend(odd.into_iter().chain(even.into_iter().rev()));
    let mut places = vec![0; AXES];
    order.iter().enumerate().for_each(|(i, &axis)| places[axis] = i);
    let in_memory: Vec<usize> = order.iter().map(|&axis| sizes()[axis]).collect();
    let numbers = ArrayD::from_shape_vec(in_memory, (0..ELEMENTS).collect()).unwrap();
    numbers.permuted_axes(places)
}

fn axes(t: &mut Table) {
    let (x, total) = (array(), ELEMENTS * (ELEMENTS - 1) / 2);
    assert_eq!((x.ndim(), x.len()), (AXES, 1 << 10));
    let every: AxisSet = (0..AXES).collect();
    let halves: Vec<usize> = (0..AXES).step_by(14).collect();
    // by ndarray, an axis at a time
    let expected = halves.iter().rev().fold(x.clone(), |sum, axis| sum.sum_axis(Axis(*axis)));
    let mut kept = sizes();
    for axis in &halves {
        kept[*axis] = 1;
    }
    t.call("sum_axes", || x.sum_axes(&every)).gives(|sum| sum.ndim() == 0 && sum.sum() == total);
    t.call("sum_axes", || x.sum_axes(&halves)).is(Ok(expected.clone()));
    t.call("sum_to", || x.sum_to(&*kept)).gives(|sum| sum.iter().eq(expected.iter()));
    t.call("sum_in_dim", || x.t().sum_in_dim(&*sizes(), (0..AXES).rev().collect::<Vec<_>>()))
        .is(Ok(x.clone()));
    t.call("max_axes", || x.max_axes(keepdims(&every)))
        .gives(|max| max.len() == 1 && max.sum() == ELEMENTS - 1);
    t.call("fused", || fused((&x, &x.t()), |x, y| x - y).sum_to(&*vec![1; AXES])).gives(|sum| sum.sum() == 0);
    t.call("broadcast_map", || broadcast_map((&x, &x.t()), |x, y| x * 2 + y))
        .gives(|map| map.indexed_iter().all(|(index, value)| *value == x[&index] * 2 + x.t()[&index]));
    let mut out = ArrayD::zeros(sizes());
    t.call("broadcast_apply", || broadcast_apply(&mut out, &x, |out, x| *out = *x)).is(Ok(()));
    t.call("materialize", || x.materialize()).is(out);
    t.call("broadcast_axes", || aview0(&7).broadcast_axes(sizes(), &every).map(|view| view.len()))
        .is(Ok(1 << 10));
    t.call("batch_dyn", || x.batch_dyn(AXES).unwrap().sum_batch_to(&[] as &[usize])).is(Ok(x.clone()));
    t.call("reduction_axes", || reduction_axes(&[1; AXES], &sizes())).gives(|axes| axes.len() == 10);
    let text = (0..AXES).map(|axis| format!("n{axis}")).collect::<Vec<_>>().join("x");
    let named: PartialShape = text.parse().unwrap();
    t.call("infer_shape", || infer_shape(&named, &PartialShape::from(sizes())).unwrap().ndim())
        .is(Some(AXES));
}

/// Views cost nothing, whatever their size; what memory cannot hold is an error.
fn huge_views(t: &mut Table) {
    let (one, twos) = (aview0(&1_i64).into_dyn(), [2_usize; 62]);
    let huge = one.broadcast_to(&twos[..]).unwrap();
    assert_eq!(huge.len(), 1 << 62);
    t.call("broadcast_to", || one.broadcast_to(&[2_usize; 64][..]).map(|_| ())).refused(ErrorKind::Overflow);
    t.call("broadcast_in_dim", || huge.broadcast_in_dim(&twos[..], (0..62).rev().collect::<Vec<_>>()))
        .gives(|view| view.len() == 1 << 62);
    t.call("try_materialize", || huge.try_materialize().map(|_| ())).refused(ErrorKind::TooLarge);
    t.call("broadcast_map", || broadcast_map((&huge, &one), |&a, &b| a + b).map(|_| ()))
        .refused(ErrorKind::TooLarge);
    t.call("sum_axes", || huge.sum_axes([0_usize; 0]).map(|_| ())).refused(ErrorKind::TooLarge);
}

fn operands(t: &mut Table) {
    let (cells, mut shapes) = ([7_u8, 8, 9], vec![vec![1_usize, 3]; OPERANDS]);
    let (row, cell) = (ArrayView1::from(&cells[..]), ArrayView1::from(&cells[..1]));
    let views: Vec<ArrayView1<'_, u8>> = (0..OPERANDS).map(|i| if i % 2 == 0 { row } else { cell }).collect();
    t.call("broadcast_views", || broadcast_views(&views)).gives(|views| {
        views.len() == OPERANDS && views.iter().all(|view| view.len() == 3) && views[1][2] == 7
    });
    let dynamic: Vec<ArrayViewD<'_, u8>> = views.iter().map(|view| view.into_dyn()).collect();
    t.call("broadcast_views", || broadcast_views(&dynamic))
        .gives(|views| views[OPERANDS - 1].raw_dim() == IxDyn(&[3]));
    shapes[OPERANDS - 2] = vec![4, 1, 1];
    t.call("broadcast_shapes", || broadcast_shapes(&shapes)).is(Ok(vec![4, 1, 3]));
    shapes[OPERANDS - 1] = vec![2];
    t.call("broadcast_shapes", || broadcast_shapes(&shapes)).refused(ErrorKind::Incompatible);
}

fn signatures(t: &mut Table) {
    let text = format!("{}->(n)", vec!["(n)"; OPERANDS].join(","));
    let shapes = vec![&[5_usize][..]; OPERANDS];
    let signature = Signature::new(&text).unwrap();
    t.call("Signature::new", || Signature::new(&text)).gives(|signature| signature.operands() == OPERANDS);
    t.call("Signature::resolve", || signature.resolve(&shapes).map(|shapes| shapes.results))
        .is(Ok(vec![vec![5]]));
    let names = (0..OPERANDS).map(|i| format!("n{i}")).collect::<Vec<_>>().join(",");
    let text = format!("({names})->(n9)");
    let many = Signature::new(&text).unwrap();
    t.call("Signature::resolve", || many.resolve(&[&vec![3; OPERANDS]]).map(|shapes| shapes.results))
        .is(Ok(vec![vec![3]]));
    let open: PartialShape = "m".parse().unwrap();
    t.call("Signature::infer", || signature.infer(&vec![open.clone(); OPERANDS]))
        .gives(|shapes| shapes.checks.is_empty());
}

fn partial_operands(t: &mut Table) {
    let shapes: Vec<PartialShape> = vec!["nx?".parse().unwrap(); OPERANDS];
    let joint: PartialShape = "nx?".parse().unwrap();
    t.call("infer_shapes", || infer_shapes(&shapes)).is(Ok(joint));
    t.call("infer_ranks", || infer_ranks(&shapes).len()).is(OPERANDS);
    let parts: Vec<_> = shapes.iter().map(|shape| (shape.clone(), 1)).collect();
    t.call("infer_batch", || infer_batch(&parts)).is(Ok("n".parse().unwrap()));
    t.call("decide", || decide(&shapes))
        .holds(|decision| matches!(decision, Decision::Depends(checks) if checks.len() == 1));
    let sizes = vec![[2, 3]; OPERANDS];
    t.call("Plan::new", || Plan::new(shapes.iter().cloned()).and_then(|plan| plan.joint_shape(&sizes)))
        .is(Ok(vec![2, 3]));
}

fn texts(t: &mut Table) {
    // characters of a text
    let length = if is_thorough() { 1 << 20 } else { 1 << 17 };
    for size in ["1", "?", "n"] {
        let count = length / 2;
        let text = vec![size; count].join("x");
        assert_eq!(text.len(), length - 1);
        t.call("PartialShape::from_str", || text.parse::<PartialShape>())
            .gives(|shape| shape.ndim() == Some(count));
        let shape: PartialShape = text.parse().unwrap();
        t.call("PartialShape::fmt", || shape.to_string()).is(text);
        t.call("infer_shape", || infer_shape(&shape, &shape)).is(Ok(shape.clone()));
        let checks = if size == "?" { count } else { 0 };
        t.call("decide", || decide(&[shape.clone(), shape.clone()]).checks())
            .gives(|all| all.len() == checks);
    }
    let sizes = vec!["1"; length / 2].join(",");
    let signature = format!("({sizes})->()");
    t.call("Signature::new", || Signature::new(&signature)).gives(|signature| signature.operands() == 1);
}
