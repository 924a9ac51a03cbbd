//! NEML2's batch and base axes, and its constitutive update.
#![allow(
    clippy::many_single_char_names,
    reason = "m, n, p are sizes, and x, y, w operands, as in the signatures"
)]

use super::array;
use approx::assert_relative_eq;
use common::{Case, kind, refused};
use ndarray::{Array, ArrayD, ArrayViewD, ArrayViewMutD, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    Batch, BroadcastError, base_op, batch_broadcast,
    bounds::{BaseOp, BaseRank, LessAxes},
};

/// Asserts that numbers, or whole arrays of them, are equal but for rounding.
macro_rules! assert_close {
    ($found:expr, $expected:expr) => {
        assert_relative_eq!($found, $expected, epsilon = 0.0, max_relative = 1e-13)
    };
}

/// An operation between numbers.
trait Numbers<B, B2>: BaseOp<f64, f64, B, B2, Output = f64> {}
impl<B, B2, P: BaseOp<f64, f64, B, B2, Output = f64>> Numbers<B, B2> for P {}

/// One operation in every form that the crate has.
fn every_form<P, B, B2>(
    op: P,
    a: &Batch<'_, f64, IxDyn, B>,
    b: &Batch<'_, f64, IxDyn, B2>,
) -> Result<ArrayD<f64>, BroadcastError>
where
    P: Numbers<B, B2>,
    IxDyn: ndarray::DimAdd<P::Base, Output = IxDyn> + LessAxes<B, Left = IxDyn> + LessAxes<B2, Left = IxDyn>,
    B: Dimension,
    B2: Dimension,
{
    let result = a.apply(op, b);
    assert_eq!(result, a.par().apply(op, b));
    if let Ok(expected) = &result {
        let mut into = Array::from_elem(expected.t().raw_dim(), f64::NAN).reversed_axes();
        a.apply_into(op, b, &mut into).expect("a result of this shape");
        assert_eq!(&into, expected);
        into.fill(f64::NAN);
        a.par().apply_into(op, b, &mut into).expect("a result of this shape");
        assert_eq!(&into, expected);
    }
    result
}

/// The operation with the base ranks in the types, where they are equal or one is 0, and without.
fn elementwise<P>(
    op: P,
    a: &ArrayD<f64>,
    b: &ArrayD<f64>,
    bases: [usize; 2],
) -> Result<ArrayD<f64>, BroadcastError>
where
    P: Numbers<IxDyn, IxDyn>
        + Numbers<Ix0, Ix0>
        + Numbers<Ix1, Ix1>
        + Numbers<Ix2, Ix2>
        + Numbers<Ix3, Ix3>
        + Numbers<Ix0, Ix1>
        + Numbers<Ix0, Ix2>
        + Numbers<Ix1, Ix0>
        + Numbers<Ix2, Ix1>,
{
    fn typed<P, B: BaseRank, B2: BaseRank>(
        op: P,
        a: &ArrayD<f64>,
        b: &ArrayD<f64>,
    ) -> Result<ArrayD<f64>, BroadcastError>
    where
        P: Numbers<B, B2>,
        IxDyn: LessAxes<B, Left = IxDyn> + LessAxes<B2, Left = IxDyn>,
    {
        every_form(op, &a.batch::<B>()?, &b.batch::<B2>()?)
    }
    let result = every_form(op, &a.batch_dyn(bases[0])?, &b.batch_dyn(bases[1])?);
    let typed = match bases {
        [0, 0] => typed::<P, Ix0, Ix0>(op, a, b),
        [1, 1] => typed::<P, Ix1, Ix1>(op, a, b),
        [2, 2] => typed::<P, Ix2, Ix2>(op, a, b),
        [3, 3] => typed::<P, Ix3, Ix3>(op, a, b),
        [0, 1] => typed::<P, Ix0, Ix1>(op, a, b),
        [0, 2] => typed::<P, Ix0, Ix2>(op, a, b),
        [1, 0] => typed::<P, Ix1, Ix0>(op, a, b),
        [2, 1] => typed::<P, Ix2, Ix1>(op, a, b),
        _ => return result,
    };
    assert_eq!(result, typed);
    result
}

fn product<P, B: BaseRank, B2: BaseRank>(
    op: P,
    a: &ArrayD<f64>,
    b: &ArrayD<f64>,
) -> Result<ArrayD<f64>, BroadcastError>
where
    P: Numbers<B, B2> + Numbers<IxDyn, IxDyn>,
    IxDyn: LessAxes<B, Left = IxDyn> + LessAxes<B2, Left = IxDyn>,
{
    let result = every_form(op, &a.batch::<B>()?, &b.batch::<B2>()?);
    assert_eq!(result, every_form(op, &a.batch_dyn(B::zeros_ndim())?, &b.batch_dyn(B2::zeros_ndim())?));
    result
}

trait Ndim {
    fn zeros_ndim() -> usize;
}
impl<B: BaseRank> Ndim for B {
    fn zeros_ndim() -> usize {
        B::NDIM.expect("a fixed number")
    }
}

/// `op` of the table, by name.
fn operate(case: &Case, a: &ArrayD<f64>, b: &ArrayD<f64>) -> Result<ArrayD<f64>, BroadcastError> {
    let bases = [case.shape("a_base").len(), case.shape("b_base").len()];
    match case.text("op") {
        "add" => elementwise(base_op::Add, a, b, bases),
        "sub" => elementwise(base_op::Sub, a, b, bases),
        "scale" => elementwise(base_op::Mul, a, b, bases),
        "div" => elementwise(base_op::Div, a, b, bases),
        "contract" => product::<_, Ix2, Ix1>(base_op::MatVec, a, b),
        "matmul" => product::<_, Ix2, Ix2>(base_op::MatMul, a, b),
        "inner" => product::<_, Ix1, Ix1>(base_op::Inner, a, b),
        op => panic!("unknown operation {op}"),
    }
}

/// `op` of the table on one pair of bases, index by index.
fn by_index(op: &str, a: &ArrayViewD<'_, f64>, b: &ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>) {
    let both = || {
        let (x, y) = a.broadcast_to_match(b).expect("bases that go together");
        x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>().into_iter()
    };
    let [m, n] = [a.shape().first(), a.shape().last()].map(|n| n.map_or(0, |&n| n));
    match op {
        "add" => out.iter_mut().zip(both()).for_each(|(o, (x, y))| *o = x + y),
        "sub" => out.iter_mut().zip(both()).for_each(|(o, (x, y))| *o = x - y),
        "scale" => out.iter_mut().zip(both()).for_each(|(o, (x, y))| *o = x * y),
        "div" => out.iter_mut().zip(both()).for_each(|(o, (x, y))| *o = x / y),
        "contract" => (0..m).for_each(|i| out[[i]] = (0..n).map(|j| a[[i, j]] * b[[j]]).sum()),
        "inner" => out[[]] = (0..n).map(|j| a[[j]] * b[[j]]).sum(),
        _ => out
            .indexed_iter_mut()
            .for_each(|(at, o)| *o = (0..n).map(|j| a[[at[0], j]] * b[[j, at[1]]]).sum()),
    }
}

/// The gradients with respect to the bases of one batch element.
fn gradient(
    op: &str,
    of: usize,
    cot: &ArrayViewD<'_, f64>,
    a: &ArrayViewD<'_, f64>,
    b: &ArrayViewD<'_, f64>,
) -> ArrayD<f64> {
    let like = if of == 0 { a } else { b };
    let matrix = |x: &ArrayViewD<'_, f64>| x.to_owned().into_dimensionality::<Ix2>().expect("two axes");
    let vector = |x: &ArrayViewD<'_, f64>| x.to_owned().into_dimensionality::<Ix1>().expect("one axis");
    let whole = match (op, of) {
        ("add", _) | ("sub", 0) => cot.to_owned(),
        ("sub", _) => -cot,
        ("scale" | "inner", 0) => cot * b,
        ("scale" | "inner", _) => cot * a,
        ("div", 0) => cot / b,
        ("div", _) => -(cot * a / (b * b)),
        ("contract", 0) => {
            let (cot, b) = (vector(cot).insert_axis(Axis(1)), vector(b).insert_axis(Axis(0)));
            (cot * b).into_dyn()
        }
        ("contract", _) => matrix(a).t().dot(&vector(cot)).into_dyn(),
        (_, 0) => matrix(cot).dot(&matrix(b).t()).into_dyn(),
        (_, _) => matrix(a).t().dot(&matrix(cot)).into_dyn(),
    };
    whole.sum_to(like.shape()).expect("what the base was broadcast from")
}

pub(crate) fn operation(case: &Case) -> &'static str {
    let [a_batch, a_base, b_batch, b_base] =
        ["a_batch", "a_base", "b_batch", "b_base"].map(|part| case.shape(part));
    let shapes = [[a_batch.as_slice(), &a_base].concat(), [b_batch.as_slice(), &b_base].concat()];
    if !case.ok() {
        let (a, b) = (ArrayD::zeros(shapes[0].as_slice()), ArrayD::zeros(shapes[1].as_slice()));
        assert_eq!(kind(operate(case, &a, &b)), "Incompatible");
        let (x, y) = (a.batch_dyn(a_base.len()), b.batch_dyn(b_base.len()));
        let (x, y) = (x.expect("enough axes"), y.expect("enough axes"));
        let batches = batch_broadcast(&x, &y).is_ok();
        let message = refused(operate(case, &a, &b)).to_string();
        let region = if batches { "base shapes " } else { "batch shapes " };
        assert!(message.starts_with(&format!("cannot broadcast {region}")), "{message}");
        return if batches { "refused bases" } else { "refused batches" };
    }
    let (a, b) = (array(&shapes[0], case.numbers("a")), array(&shapes[1], case.numbers("b")));
    let (out_batch, out_base) = (case.shape("out_batch"), case.shape("out_base"));
    let shape = [out_batch.as_slice(), &out_base].concat();
    let out = array(&shape, case.numbers("out"));
    assert_eq!(operate(case, &a, &b).expect("the operation"), out);

    let (x, y) = (a.batch_dyn(a_base.len()).expect("a base"), b.batch_dyn(b_base.len()).expect("a base"));
    let (p, q) = batch_broadcast(&x, &y).expect("batches that go together");
    assert_eq!([p.batch_shape(), q.batch_shape()], [out_batch.as_slice(); 2]);
    assert_eq!([p.base_shape(), q.base_shape()], [a_base.as_slice(), &b_base]);
    let op = case.text("op");
    let on_bases = |a: ArrayViewD<'_, f64>, b: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>| {
        by_index(op, &a, &b, out);
    };
    assert_eq!(x.zip_map(&y, out_base.as_slice(), on_bases).expect("each pair of bases"), out);
    assert_eq!(p.zip_map(&q, out_base.as_slice(), on_bases).expect("each pair of bases"), out);

    let cot = array(&shape, case.numbers("cot"));
    let cot = cot.batch_dyn(out_base.len()).expect("a base");
    // all numbers are whole, and stay so unless they are divided
    let check = |found: &ArrayD<f64>, expected: &ArrayD<f64>| {
        if op == "div" { assert_close!(found, expected) } else { assert_eq!(found, expected) }
    };
    for (of, (operand, base, field)) in
        [(&x, &a_base, "grad_a"), (&y, &b_base, "grad_b")].into_iter().enumerate()
    {
        let each = |cot: ArrayViewD<'_, f64>,
                    a: ArrayViewD<'_, f64>,
                    b: ArrayViewD<'_, f64>,
                    mut g: ArrayViewMutD<'_, f64>| {
            g.assign(&gradient(op, of, &cot, &a, &b));
        };
        let whole = cot.zip_map((&x, &y), base.as_slice(), each).expect("a gradient for each pair");
        let whole = whole.batch_dyn(base.len()).expect("a base");
        let expected = array(&shapes[of], case.numbers(field));
        check(&whole.sum_batch_to(operand).expect("what the batch was broadcast from"), &expected);
        check(&whole.sum_batch_to(operand.batch_shape()).expect("the same"), &expected);
        let mut added = &expected * 0.0 + 1.0;
        whole.add_sum_batch_to(&mut added).expect("the same");
        check(&added, &(&expected + 1.0));
    }

    // where the whole shapes are aligned instead, it is something else, or nothing
    let naive = match op {
        "add" => a.broadcast_to_match(&b).map(|(a, b)| &a + &b),
        "sub" => a.broadcast_to_match(&b).map(|(a, b)| &a - &b),
        "scale" => a.broadcast_to_match(&b).map(|(a, b)| &a * &b),
        "div" => a.broadcast_to_match(&b).map(|(a, b)| &a / &b),
        _ => return "products",
    };
    let same = naive.is_ok_and(|naive| naive == out);
    assert_eq!(same, case.get("naive_numpy_same").as_bool().expect("a truth value"));
    if same { "element-wise" } else { "element-wise, not as whole shapes" }
}

fn table(name: &str) -> serde_json::Value {
    let path = format!("{}/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the table is there")).expect("JSON")
}

fn flat(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

#[test]
fn constitutive_update() {
    let table = table("neml2_seed_example");
    let stiffness = array(&[2, 6, 6], flat(&table["C"]));
    let c = stiffness.batch::<Ix2>().expect("two axes and more");

    let small = &table["small"];
    let (strain, stress) =
        (array(&[3, 2, 6], flat(&small["strain"])), array(&[3, 2, 6], flat(&small["stress"])));
    assert_close!(c.matvec(&strain.batch::<Ix1>().expect("an axis")).expect("the update"), stress);

    let big = &table["big"];
    let number =
        |k: usize| f64::from(u32::try_from(k * 7919 % 10007).expect("small")) / 10007.0 * 2e-3 - 1e-3;
    let strain = array(&[1000, 2, 6], (0..12000).map(number).collect());
    let stress = c.matvec(&strain.batch::<Ix1>().expect("an axis")).expect("the update");
    let mut rows = 0;
    for (row, recorded) in big["rows"].as_object().expect("rows") {
        let row: usize = row.parse().expect("a number");
        let at = |array: &ArrayD<f64>| array.index_axis(Axis(0), row).to_owned();
        assert_close!(at(&strain), array(&[2, 6], flat(&recorded["strain"])));
        assert_close!(at(&stress), array(&[2, 6], flat(&recorded["stress"])));
        rows += 1;
    }
    assert_eq!(rows, big["rows"].as_object().expect("rows").len());
    assert!(rows >= 2, "{rows} rows");
    // of the sums the terms cancel: relative to the terms
    let of = |field: &str| big[field].as_f64().expect("a number");
    let squares: f64 = stress.iter().map(|x| x * x).sum();
    assert_close!(squares, of("sum_of_squares"));
    let size = stress.iter().map(|x| x.abs()).sum::<f64>();
    assert_close!(stress.sum() + size, of("sum") + size);
}
