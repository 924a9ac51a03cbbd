//! Gradients and sums against tables of MindSpore, PyTorch, JAX and nGraph.

use common::{Case, Layout, assert_elements, run, torch_array, variant, without_axes};
use ndarray::{Array, ArrayD, ArrayRef, Axis, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, reduction_axes};

/// What every gradient was recorded for: weights that count -3, -2, … 3 over the output in row-major order.
fn weights(shape: &[usize]) -> ArrayD<i64> {
    Layout::counted(shape).base().mapv(|k| k % 7 - 3)
}

/// Asserts that every form of the sum to a shape has these elements.
fn assert_sums(delta: &ArrayRef<i64, IxDyn>, shape: &[usize], expected: &[i64]) {
    let sum = delta.sum_to_shape(shape).expect("recorded as valid");
    assert_eq!(sum.shape(), shape);
    assert_elements(&sum, expected);
    assert_eq!(delta.sum_to_match(&Array::from_elem(shape, ())), Ok(sum.clone()));
    assert_eq!(delta.to_owned().into_sum_to_shape(shape), Ok(sum.clone()));
    let mut out = ArrayD::from_elem(shape, 77);
    assert_eq!(delta.sum_to_shape_into(&mut out), Ok(()));
    assert_eq!(out, sum);
    assert_eq!(delta.add_sum_to(&mut out), Ok(()));
    assert_eq!(out, sum.mapv(|s| 2 * s));
    assert_eq!(delta.scaled_add_sum_to(-5, &mut out), Ok(()));
    assert_eq!(out, sum.mapv(|s| -3 * s));
    // axis by axis, as the views tell it
    let axes = reduction_axes(shape, delta.shape()).expect("recorded as valid");
    let kept = delta.sum_axes_keepdims(&axes).expect("axes of the array");
    assert_elements(&kept, expected);
}

#[test]
fn mindspore_gradients() {
    let expected = [
        ("left out: refused, so without a gradient", 178),
        ("left out: valid, but too large to have recorded a gradient", 2),
        ("gradient", 210),
        ("gradient, where MindSpore's own is wrong: from the rule", 42),
    ];
    run("mindspore_broadcast_to", "cases", &expected, |case| {
        if !case.ok() {
            return "left out: refused, so without a gradient";
        }
        let field =
            ["grad", "grad_mathematically"].into_iter().find(|field| case.has(field) && case.is_known(field));
        let Some(field) = field else {
            return "left out: valid, but too large to have recorded a gradient";
        };
        let (shape, out) = (case.shape("input_shape"), case.shape("out_shape"));
        let weights = weights(&out);
        if case.has("weight") {
            assert_elements(&weights, &case.numbers("weight"));
        }
        assert_sums(&weights, &shape, &case.numbers(field));
        match field {
            "grad" => "gradient",
            _ => "gradient, where MindSpore's own is wrong: from the rule",
        }
    });
}

#[test]
fn torch_expand_gradients() {
    let expected = [
        ("left out: refused, so without a gradient", 69),
        ("gradient, C order", 125),
        ("gradient, another order", 46),
    ];
    run("torch_expand", "cases", &expected, |case| {
        if !case.ok() {
            return "left out: refused, so without a gradient";
        }
        let layout = torch_array(case);
        let source = layout.view();
        let view = source.broadcast_to(case.numbers::<i64>("target")).expect("recorded as valid");
        let weights = weights(view.shape());
        assert_sums(&weights, source.shape(), &case.numbers("grad"));
        // the weights laid out as the view itself would be
        let mut like_view = Array::zeros(weights.t().raw_dim()).reversed_axes();
        like_view.assign(&weights);
        assert_sums(&like_view, source.shape(), &case.numbers("grad"));
        if case.has("memory_order") { "gradient, another order" } else { "gradient, C order" }
    });
}

/// The adjoint of `broadcast_in_dim(shape, dims)`, as a user of the crate writes it: the axes that are new go
/// first, those of the array follow in its order, and the rest is aligned at the right.
fn in_dim_adjoint(delta: &ArrayRef<i64, IxDyn>, arg_shape: &[usize], dims: &[usize]) -> ArrayD<i64> {
    let order = [without_axes(delta.ndim(), dims), dims.to_vec()].concat();
    delta.view().permuted_axes(order).sum_to_shape(arg_shape).expect("the array's shape")
}

#[test]
fn jax_gradients() {
    let expected = [
        ("left out: JAX lets an equal shape pass without looking at dims", 1),
        ("left out: refused, so without a gradient", 50),
        ("gradient where JAX has none: the inverse permutation", 1),
        ("gradient of a stretched or transposed array", 14),
        ("gradient, also through sum_axes", 114),
    ];
    run("jax_broadcast_in_dim", "cases", &expected, |case| {
        if !case.ok() {
            return "left out: refused, so without a gradient";
        }
        if case.has("jax_shortcut") {
            return "left out: JAX lets an equal shape pass without looking at dims";
        }
        let (shape, dims) = (case.shape("shape"), case.shape("dims"));
        let weights = weights(&shape);
        let gradient = in_dim_adjoint(&weights, &case.shape("arg_shape"), &dims);
        assert_eq!(gradient.shape(), case.shape("arg_shape"));
        if case.get("grad").is_null() {
            // a transpose of two axes: the weights transposed back
            assert_eq!(dims, [1, 0]);
            assert_eq!(gradient, weights.t());
            return "gradient where JAX has none: the inverse permutation";
        }
        assert_elements(&gradient, &case.numbers("grad"));
        if case.get("ngraph_valid") != true {
            return "gradient of a stretched or transposed array";
        }
        let axes = case.shape("broadcast_axes");
        assert_eq!(weights.sum_axes(&axes), Ok(gradient));
        "gradient, also through sum_axes"
    });
}

#[test]
fn ngraph_sums() {
    let expected = [
        ("over nothing: the identity", 23),
        ("over one axis, as one too", 42),
        ("over several axes", 70),
        ("with an empty axis", 15),
    ];
    run("ngraph_broadcast", "backprop_sum", &expected, |case| {
        let (shape, listed) = (case.shape("delta_shape"), case.shape("broadcast_axes"));
        assert_eq!(case.text("delta"), "iota_from_1");
        let layout = Layout::new(&shape, false, 1, vec![]);
        let delta = layout.base();
        let sum = assert_axes(delta, &listed, case);
        let f_order = Layout::new(&shape, true, 1, vec![]);
        assert_eq!(assert_axes(f_order.base(), &listed, case), sum);
        if shape.contains(&0) {
            return "with an empty axis";
        }
        match listed[..] {
            [] => {
                assert_eq!(&sum, delta);
                "over nothing: the identity"
            }
            [axis] => {
                assert_eq!(delta.sum_axes(axis), Ok(sum.clone()));
                assert_eq!(delta.sum_axes(Axis(axis)), Ok(sum.clone()));
                assert_eq!(delta.sum_axes([axis]), Ok(sum));
                "over one axis, as one too"
            }
            _ => "over several axes",
        }
    });
}

/// Asserts that the sum over listed axes, in every way to list them, is as recorded, and gives it.
fn assert_axes(delta: &ArrayD<i64>, listed: &[usize], case: &Case) -> ArrayD<i64> {
    let sum = delta.sum_axes(listed).expect("recorded as valid");
    assert_eq!(sum.shape(), case.shape("sum_shape"));
    assert_elements(&sum, &case.numbers("sum"));
    let axes: Vec<Axis> = listed.iter().copied().map(Axis).collect();
    let backwards: Vec<usize> = listed.iter().rev().copied().collect();
    // a set may name an axis as often as it likes
    let set: AxisSet = listed.iter().chain(&backwards).copied().collect();
    for result in [
        delta.sum_axes(listed.to_vec()),
        delta.sum_axes(&backwards),
        delta.sum_axes(&axes[..]),
        delta.sum_axes(axes),
        delta.sum_axes(&set),
        delta.sum_axes(set.clone()),
    ] {
        assert_eq!(result.as_ref(), Ok(&sum));
    }
    if !listed.is_empty() {
        let twice = [listed, &listed[..1]].concat();
        assert_eq!(delta.sum_axes(twice).map_err(|error| variant(&error)), Err("DuplicateAxis".to_owned()));
    }
    sum
}

#[test]
fn torch_sum_to_size() {
    let expected = [
        ("refused: a size above the array's, or another", 58),
        ("refused: more axes than the array", 23),
        ("refused: negative size", 2),
        ("valid, C order", 99),
        ("valid, another order", 40),
    ];
    run("torch_sum_to_size", "cases", &expected, |case| {
        let layout = torch_array(case);
        let shape = case.shape("shape");
        let base = layout.base();
        // the layout holds positions in memory; the table's elements go by positions in logical order
        let mut values = ArrayD::zeros(base.raw_dim());
        let numbered = Layout::counted(&shape);
        layout.steps_from(values.view_mut()).assign(&numbered.base().mapv(|k| (7 * k + 3) % 11 - 5));
        let delta = layout.view_of(&values);
        assert_eq!(delta.shape(), shape);
        if case.has("input") {
            assert_elements(&delta, &case.numbers("input"));
        }
        let target: Vec<i64> = case.numbers("target");
        let result = delta.sum_to_shape(&target);
        if !case.ok() {
            let error = result.expect_err("recorded as refused");
            let (kind, name) = if target.iter().any(|&size| size < 0) {
                ("refused: negative size", "InvalidSize")
            } else if target.len() > shape.len() {
                ("refused: more axes than the array", "TooManyAxes")
            } else {
                ("refused: a size above the array's, or another", "Incompatible")
            };
            assert_eq!(variant(&error), name);
            return kind;
        }
        let target = case.shape("target");
        assert_eq!(result.map(|sum| sum.shape().to_vec()), Ok(case.shape("out_shape")));
        assert_sums(&delta, &target, &case.numbers("out"));
        // `reduction_axes` names an axis where the size changes, so the new ones of size 1 too
        let recorded: Vec<usize> = case.numbers("reduced_axes");
        assert_eq!(reduction_axes(&target, &shape), Ok(recorded));
        if case.has("memory_order") { "valid, another order" } else { "valid, C order" }
    });
}
