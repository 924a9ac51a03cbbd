//! Axes named one by one, against tables of nGraph, JAX and XLA.

use common::{Case, Layout, assert_elements, in_dim_places, run, variant};
use ndarray::{Array, IxDyn};
use ndarray_broadcast::AxisSet;
use ndarray_broadcast::prelude::*;

/// The argument of an nGraph case: 1, 2, 3 and so on, or elements in a list that count up too.
fn ngraph_arg(case: &Case) -> Layout {
    let shape = case.shape("arg_shape");
    if !case.ok() || case.get("arg") == "iota_from_1" {
        return Layout::new(&shape, false, 1, vec![]);
    }
    let elements: Vec<i64> = case.numbers("arg");
    let layout = Layout::new(&shape, false, elements[0], vec![]);
    assert_elements(layout.base(), &elements);
    layout
}

#[test]
fn ngraph() {
    let expected = [
        ("left out: unknown sizes or axes, which no array has", 19),
        ("refused: another shape", 95),
        ("refused: axis out of bounds", 30),
        ("valid, axes repeated in the list", 13),
        ("valid", 167),
    ];
    run("ngraph_broadcast", "broadcast", &expected, |case| {
        if !case.is_known("arg_shape") {
            return "left out: unknown sizes or axes, which no array has";
        }
        let layout = ngraph_arg(case);
        let (arg, shape, axes) = (layout.base(), case.shape("out_shape"), case.shape("broadcast_axes"));
        let set: AxisSet = axes.iter().copied().collect();
        let result = arg.broadcast_axes(&shape, &set);
        let like = Array::from_elem(IxDyn(&shape), ());
        assert_eq!(arg.broadcast_like(&like, &set), result);
        let listed = arg.broadcast_axes(&shape, &axes);
        if !case.ok() {
            let error = result.expect_err("recorded as refused");
            return match case.text("error_kind") {
                "axis_out_of_range" => {
                    assert_eq!(variant(&error), "AxisOutOfBounds");
                    "refused: axis out of bounds"
                }
                kind => {
                    assert_eq!(kind, "incompatible_shapes");
                    assert!(["AxisCount", "Incompatible"].contains(&&*variant(&error)), "{error}");
                    "refused: another shape"
                }
            };
        }
        let view = result.expect("recorded as valid");
        assert_eq!(view.shape(), shape);
        assert_elements(&view, &case.numbers("out"));
        if set.len() < axes.len() {
            // nGraph's axes are always a set; here a list with a repeated axis is refused.
            assert_eq!(listed.map_err(|error| variant(&error)), Err("DuplicateAxis".to_owned()));
            return "valid, axes repeated in the list";
        }
        assert_eq!(listed, Ok(view));
        "valid"
    });
}

/// Runs `broadcast_in_dim`, or says that an axis number is no position: `None`.
fn in_dim(case: &Case, layout: &Layout, shape: &str, dims: &str) -> Option<Result<Vec<i64>, String>> {
    let dims =
        case.numbers::<i64>(dims).into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>().ok()?;
    let target = case.numbers::<i64>(shape);
    let view = layout.base().broadcast_in_dim(&target, &dims);
    Some(view.map_err(|error| variant(&error)).map(|view| {
        assert_eq!(view.shape(), case.shape(shape));
        if case.has("out") { view.iter().copied().collect() } else { vec![] }
    }))
}

/// The recorded elements, if there are any.
fn recorded(case: &Case) -> Vec<i64> {
    if case.has("out") { case.numbers("out") } else { vec![] }
}

#[test]
fn jax_in_dim() {
    let expected = [
        ("left out: JAX lets an equal shape pass without looking at dims", 1),
        ("refused", 49),
        ("refused: negative axis, which the type excludes", 1),
        ("valid, elements", 119),
        ("valid, shape only", 10),
    ];
    run("jax_broadcast_in_dim", "cases", &expected, |case| {
        let layout = Layout::counted(&case.shape("arg_shape"));
        let Some(result) = in_dim(case, &layout, "shape", "dims") else {
            assert!(!case.ok());
            return "refused: negative axis, which the type excludes";
        };
        if case.has("jax_shortcut") {
            assert_eq!(result, Err("AxisCount".to_owned()));
            return "left out: JAX lets an equal shape pass without looking at dims";
        }
        if !case.ok() {
            assert!(result.is_err());
            return "refused";
        }
        assert_eq!(result, Ok(recorded(case)));
        if case.has("out") { "valid, elements" } else { "valid, shape only" }
    });
}

#[test]
fn jax_as_axis_set() {
    let expected = [
        ("left out: dims that are out of order or no axes, which no set can express", 26),
        ("refused", 40),
        ("valid, elements", 105),
        ("valid, shape only", 9),
    ];
    run("jax_broadcast_in_dim", "cases", &expected, |case| {
        if case.get("ngraph_form") == false {
            return "left out: dims that are out of order or no axes, which no set can express";
        }
        let layout = Layout::counted(&case.shape("arg_shape"));
        let shape: Vec<i64> = case.numbers("shape");
        let result = layout.base().broadcast_axes(&shape, case.shape("broadcast_axes"));
        let valid = case.get("ngraph_valid").as_bool().expect("a truth value");
        assert_eq!(result.is_ok(), valid);
        let Ok(view) = result else { return "refused" };
        assert_eq!(view.shape(), case.shape("shape"));
        if !case.has("out") {
            return "valid, shape only";
        }
        assert_elements(&view, &case.numbers("out"));
        "valid, elements"
    });
}

#[test]
fn xla_in_dim() {
    let expected =
        [("refused", 22), ("refused: negative axis, which the type excludes", 2), ("valid, elements", 116)];
    run("successor", "xla_broadcast_in_dim", &expected, |case| {
        let layout = Layout::new(&case.shape("operand_shape"), false, 1, vec![]);
        let dims: Vec<i64> = case.numbers("broadcast_dimensions");
        let places = in_dim_places(layout.base().shape(), &case.shape("out_shape"), &dims);
        assert_eq!(places.is_some(), case.ok(), "the model");
        let Some(result) = in_dim(case, &layout, "out_shape", "broadcast_dimensions") else {
            assert!(!case.ok());
            return "refused: negative axis, which the type excludes";
        };
        if !case.ok() {
            assert!(result.is_err());
            return "refused";
        }
        assert_eq!(result, Ok(recorded(case)));
        "valid, elements"
    });
}
