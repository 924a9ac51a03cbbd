//! The generalised ufuncs of NumPy.
#![allow(clippy::many_single_char_names, reason = "x, y, w are operands and s the result")]

use super::array;
use common::{Case, kind, refused, variant};
use ndarray::{
    ArrayD, ArrayView0, ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2, Ix0, Ix1, Ix2,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, Signature};
use serde_json::Value;
use std::collections::BTreeMap;

/// Asserts that a closure and the fused operation give the same, or both an error.
#[track_caller]
fn same(a: &Result<ArrayD<f64>, BroadcastError>, b: &Result<ArrayD<f64>, BroadcastError>) {
    assert_eq!(a.as_ref().ok(), b.as_ref().ok());
    assert_eq!(a.as_ref().map_err(variant).err(), b.as_ref().map_err(variant).err());
}

/// A closure for each of the table's operations that a signature without optional axes says.
fn ufunc(func: &str, signature: &str, operands: &[ArrayD<f64>]) -> Result<ArrayD<f64>, BroadcastError> {
    let signature = Signature::new(signature)?;
    let dot = |x: ArrayView1<f64>, y: ArrayView1<f64>, mut s: ArrayViewMut0<f64>| {
        s[()] = (0..x.len()).map(|i| x[i] * y[i]).sum();
    };
    match func {
        "inner1d" | "vecdot" => {
            let [x, y] = operands else { panic!("two operands") };
            let inner = x.batch::<Ix1>()?.zip_map(&y.batch::<Ix1>()?, signature, dot);
            same(&inner, &x.batch::<Ix1>()?.inner(&y.batch::<Ix1>()?));
            inner
        }
        "innerwt" => {
            let [x, y, w] = operands else { panic!("three operands") };
            let dot =
                |x: ArrayView1<f64>, y: ArrayView1<f64>, w: ArrayView1<f64>, mut s: ArrayViewMut0<f64>| {
                    s[()] = (0..x.len()).map(|i| x[i] * y[i] * w[i]).sum();
                };
            x.batch::<Ix1>()?.zip_map((&y.batch::<Ix1>()?, &w.batch::<Ix1>()?), signature, dot)
        }
        "matrix_multiply" => {
            let [x, y] = operands else { panic!("two operands") };
            let times =
                |x: ArrayView2<f64>, y: ArrayView2<f64>, mut s: ArrayViewMut2<f64>| s.assign(&x.dot(&y));
            let product = x.batch::<Ix2>()?.zip_map(&y.batch::<Ix2>()?, signature, times);
            same(&product, &x.batch::<Ix2>()?.matmul(&y.batch::<Ix2>()?));
            product
        }
        "matvec" => {
            let [x, y] = operands else { panic!("two operands") };
            let times =
                |x: ArrayView2<f64>, y: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| s.assign(&x.dot(&y));
            let product = x.batch::<Ix2>()?.zip_map(&y.batch::<Ix1>()?, signature, times);
            same(&product, &x.batch::<Ix2>()?.matvec(&y.batch::<Ix1>()?));
            product
        }
        "vecmat" => {
            let [x, y] = operands else { panic!("two operands") };
            let times =
                |x: ArrayView1<f64>, y: ArrayView2<f64>, mut s: ArrayViewMut1<f64>| s.assign(&x.dot(&y));
            let product = x.batch::<Ix1>()?.zip_map(&y.batch::<Ix2>()?, signature, times);
            same(&product, &x.batch::<Ix1>()?.vecmat(&y.batch::<Ix2>()?));
            product
        }
        "outer_inner" => {
            let [x, y] = operands else { panic!("two operands") };
            let times =
                |x: ArrayView2<f64>, y: ArrayView2<f64>, mut s: ArrayViewMut2<f64>| s.assign(&x.dot(&y.t()));
            x.batch::<Ix2>()?.zip_map(&y.batch::<Ix2>()?, signature, times)
        }
        "cross1d" => {
            let [x, y] = operands else { panic!("two operands") };
            let cross = |x: ArrayView1<f64>, y: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| {
                for i in 0..3 {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    s[i] = x[j] * y[k] - x[k] * y[j];
                }
            };
            x.batch::<Ix1>()?.zip_map(&y.batch::<Ix1>()?, signature, cross)
        }
        "np.add" => {
            let [x, y] = operands else { panic!("two operands") };
            let add =
                |x: ArrayView0<f64>, y: ArrayView0<f64>, mut s: ArrayViewMut0<f64>| s[()] = x[()] + y[()];
            let sum = x.batch::<Ix0>()?.zip_map(&y.batch::<Ix0>()?, signature, add);
            same(&sum, &x.batch::<Ix0>()?.add(&y.batch::<Ix0>()?));
            sum
        }
        "np.clip" => {
            let [x, y, w] = operands else { panic!("three operands") };
            let clip =
                |x: ArrayView0<f64>, y: ArrayView0<f64>, w: ArrayView0<f64>, mut s: ArrayViewMut0<f64>| {
                    s[()] = x[()].max(y[()]).min(w[()]);
                };
            x.batch::<Ix0>()?.zip_map((&y.batch::<Ix0>()?, &w.batch::<Ix0>()?), signature, clip)
        }
        "cumsum" => {
            let sums = |x: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| {
                let mut sum = 0.0;
                for (s, x) in s.iter_mut().zip(x) {
                    sum += x;
                    *s = sum;
                }
            };
            operands[0].batch::<Ix1>()?.zip_map((), signature, sums)
        }
        "matmul" | "np.matmul" => {
            let [x, y] = operands else { panic!("two operands") };
            match [x.ndim(), y.ndim()] {
                [1, 1] => x.batch::<Ix1>()?.inner(&y.batch::<Ix1>()?),
                [1, _] => x.batch::<Ix1>()?.vecmat(&y.batch::<Ix2>()?),
                [_, 1] => x.batch::<Ix2>()?.matvec(&y.batch::<Ix1>()?),
                _ => x.batch::<Ix2>()?.matmul(&y.batch::<Ix2>()?),
            }
        }
        func => panic!("unknown function {func}"),
    }
}

/// The convolution, whose result has a size that no operand says.
fn convolution(x: &ArrayD<f64>, y: &ArrayD<f64>) -> Result<ArrayD<f64>, BroadcastError> {
    let size = x.shape()[x.ndim() - 1] + y.shape()[y.ndim() - 1] - 1;
    x.batch::<Ix1>()?.zip_map(&y.batch::<Ix1>()?, [size], |x: ArrayView1<f64>, y: ArrayView1<f64>, mut s| {
        for (i, x) in x.iter().enumerate() {
            for (j, y) in y.iter().enumerate() {
                s[i + j] += x * y;
            }
        }
    })
}

pub(crate) fn of_last_axes(case: &Case) -> &'static str {
    let (func, text) = (case.text("func"), case.text("signature"));
    let shapes: Vec<Vec<usize>> = case.rows("in_shapes");
    let slices: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let signature = Signature::new(text).expect("a signature");
    let resolved = signature.resolve(&slices);
    let own_size = ["conv1d_full", "euclidean_pdist"].contains(&func);
    if !case.ok() {
        if own_size {
            // the function itself refuses these sizes
            assert_eq!(kind(resolved), "UnknownSymbol");
            return "refused by the function";
        }
        let error = refused(resolved);
        let zeros: Vec<ArrayD<f64>> = slices.iter().map(|&shape| ArrayD::zeros(shape)).collect();
        assert!(ufunc(func, text, &zeros).is_err());
        return match variant(&error).as_str() {
            "BaseAxes" => "too few axes",
            "BaseSize" => "another fixed size",
            "BaseSymbol" => "two sizes for a name",
            "Incompatible" => "refused batches",
            name => panic!("{name}"),
        };
    }
    let recorded: BTreeMap<String, usize> = case
        .get("core_dims")
        .as_object()
        .expect("sizes")
        .iter()
        .map(|(name, size)| (name.clone(), usize::try_from(size.as_u64().expect("a size")).expect("a size")))
        .collect();
    let out_shapes: Vec<Vec<usize>> = case.rows("out_shapes");
    let of_operands = if own_size {
        assert_eq!(kind(resolved), "UnknownSymbol");
        Signature::new("(m),(n)->()").expect("a signature").resolve(&slices).expect("what it comes to")
    } else {
        resolved.expect("what the signature comes to")
    };
    assert_eq!(of_operands.batch, case.shape("loop_shape"));
    let named = of_operands.sizes.iter().map(|&(name, size)| (name.to_owned(), size));
    assert_eq!(
        named.collect::<BTreeMap<_, _>>(),
        recorded.into_iter().filter(|(name, _)| !name.starts_with(|c: char| c.is_ascii_digit())).collect()
    );
    if !own_size {
        assert_eq!(of_operands.results, out_shapes);
    }
    if case.get("inputs").is_null() || case.get("out").is_null() {
        return "shapes only";
    }
    let inputs: Vec<Vec<f64>> = case.rows("inputs");
    let operands: Vec<ArrayD<f64>> =
        shapes.iter().zip(inputs).map(|(shape, elements)| array(shape, elements)).collect();
    let found = if own_size { convolution(&operands[0], &operands[1]) } else { ufunc(func, text, &operands) };
    assert_eq!(found.expect("the operation"), array(&out_shapes[0], case.rows("out").swap_remove(0)));
    "values"
}

/// The operand with the axes that `axes` names as its last.
fn axes_last(operand: &ArrayD<f64>, axes: &[i64]) -> ArrayD<f64> {
    let ndim = operand.ndim();
    let place = |&axis: &i64| {
        let from_end = usize::try_from(-axis);
        if axis < 0 { ndim - from_end.expect("small") } else { usize::try_from(axis).expect("an axis") }
    };
    let last: Vec<usize> = axes.iter().map(place).collect();
    let order: Vec<usize> =
        (0..ndim).filter(|axis| !last.contains(axis)).chain(last.iter().copied()).collect();
    operand.view().permuted_axes(order).to_owned()
}

/// Which axes of operand `k` (the result after the operands) NumPy was told to use.
fn named_axes(kwargs: &Value, k: usize) -> Vec<i64> {
    let list = |value: &Value| match value {
        Value::Array(axes) => axes.iter().filter_map(Value::as_i64).collect(),
        axis => vec![axis.as_i64().expect("an axis")],
    };
    match (kwargs.get("axis"), kwargs.get("axes")) {
        (Some(axis), _) => list(axis),
        (_, Some(axes)) => axes.as_array().expect("a list").get(k).map(list).unwrap_or_default(),
        _ => vec![],
    }
}

/// Other axes than the last are brought there first, as one would with these views.
pub(crate) fn of_other_axes(case: &Case) -> &'static str {
    let (func, text, kwargs) = (case.text("func"), case.text("signature"), case.get("kwargs"));
    let shapes: Vec<Vec<usize>> = case.rows("in_shapes");
    if !case.ok() && func != "matrix_multiply" || kwargs.get("axis").is_none() && kwargs.get("axes").is_none()
    {
        // `axes` too short, an axis that does not exist, `keepdims` where there is nothing to keep
        return "not a question here";
    }
    let operands = shapes.iter().enumerate().map(|(k, shape)| {
        let elements =
            if case.ok() { case.rows("inputs").swap_remove(k) } else { vec![0.0; shape.iter().product()] };
        axes_last(&array(shape, elements), &named_axes(kwargs, k))
    });
    let operands: Vec<ArrayD<f64>> = operands.collect();
    let found = ufunc(func, text, &operands);
    if !case.ok() {
        assert_eq!(kind(found), "BaseSymbol");
        return "refused";
    }
    let (out_shapes, mut out): (Vec<Vec<usize>>, Vec<Vec<f64>>) = (case.rows("out_shapes"), case.rows("out"));
    let expected = array(&out_shapes[0], out.swap_remove(0));
    if kwargs.get("keepdims").is_some() {
        // the axis that is kept has size 1
        assert_eq!(found.expect("the operation").into_flat(), expected.into_flat());
    } else {
        let named = named_axes(kwargs, operands.len());
        let expected = if text.ends_with("()") { expected } else { axes_last(&expected, &named) };
        assert_eq!(found.expect("the operation"), expected);
    }
    "values"
}
