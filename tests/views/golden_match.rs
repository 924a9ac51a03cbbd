//! Arrays brought to match each other, against tables of Poplar, NumPy, ONNX and OpenVINO.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use common::{
    Case, Layout, assert_elements, assert_strides, empty, joint, operands_in, run, run_kind, variant,
};
use ndarray::{ArrayD, ArrayViewD};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    BroadcastError, broadcast_arrays, broadcast_shapes, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views,
};

type Views<'a> = Vec<ArrayViewD<'a, i64>>;

#[test]
fn poplibs() {
    let expected = [
        ("expand_ranks", 28),
        ("match1 refused", 4),
        ("match1 valid", 19),
        ("match2 refused", 8),
        ("match2 valid", 44),
        ("match3 refused", 14),
        ("match3 valid", 33),
    ];
    run("poplibs", "cases", &expected, |case| {
        let operand = |name| empty(&case.shape(name));
        match case.text("op") {
            "expand_ranks" => poplibs_expand_ranks(case, &operand("a"), &operand("b")),
            "match1" => poplibs_match1(case, &operand("a")),
            "match2" => poplibs_match2(case, &operand("a"), &operand("b")),
            "match3" => poplibs_match3(case, &operand("a"), &operand("b"), &operand("c")),
            op => panic!("unknown operation {op}"),
        }
    });
}

fn poplibs_expand_ranks(case: &Case, a: &ArrayD<()>, b: &ArrayD<()>) -> &'static str {
    let (x, y) = a.expand_to_match_ranks(b);
    assert_eq!((x.shape().to_vec(), y.shape().to_vec()), (case.shape("a_after"), case.shape("b_after")));
    assert_eq!(a.can_broadcast_to_match(b), case.get("can").as_bool().expect("a truth value"));
    "expand_ranks"
}

fn poplibs_match1(case: &Case, a: &ArrayD<()>) -> &'static str {
    let shape = case.shape("shape");
    let mut changed = a.view();
    let (view, in_place) = (a.broadcast_to_match_shape(&shape), changed.broadcast_in_place(&shape));
    assert_eq!((view.is_ok(), in_place.is_ok()), (case.ok(), case.ok()));
    let Ok(view) = view else {
        assert_eq!(changed.shape(), a.shape());
        return "match1 refused";
    };
    assert_eq!((view.shape(), changed.shape()), (&*case.shape("a_after"), &*case.shape("a_after")));
    "match1 valid"
}

fn poplibs_match2(case: &Case, a: &ArrayD<()>, b: &ArrayD<()>) -> &'static str {
    let (mut x, mut y) = (a.view(), b.view());
    let (views, in_place) = (a.broadcast_to_match(b), broadcast_to_match_in_place(&mut x, &mut y));
    assert_eq!((views.is_ok(), in_place.is_ok()), (case.ok(), case.ok()));
    assert_eq!(a.can_broadcast_to_match(b), case.ok());
    let Ok(views) = views else {
        assert_eq!((x.shape(), y.shape()), (a.shape(), b.shape()));
        return "match2 refused";
    };
    let after = (case.shape("a_after"), case.shape("b_after"));
    assert_eq!((views.0.shape(), views.1.shape()), (&*after.0, &*after.1));
    assert_eq!((x.shape(), y.shape()), (&*after.0, &*after.1));
    "match2 valid"
}

fn poplibs_match3(case: &Case, a: &ArrayD<()>, b: &ArrayD<()>, c: &ArrayD<()>) -> &'static str {
    let (mut x, mut y, mut z) = (a.view(), b.view(), c.view());
    let (views, in_place) =
        (a.broadcast_to_match3(b, c), broadcast_to_match3_in_place(&mut x, &mut y, &mut z));
    assert_eq!((views.is_ok(), in_place.is_ok()), (case.ok(), case.ok()));
    let Ok((p, q, r)) = views else {
        assert_eq!([x.shape(), y.shape(), z.shape()], [a.shape(), b.shape(), c.shape()]);
        return "match3 refused";
    };
    let after = ["a_after", "b_after", "c_after"].map(|name| case.shape(name));
    assert_eq!([p.shape(), q.shape(), r.shape()].map(<[usize]>::to_vec), after);
    assert_eq!([x.shape(), y.shape(), z.shape()].map(<[usize]>::to_vec), after);
    "match3 valid"
}

/// The views of all operands through `broadcast_views`, and the same through `broadcast_arrays` where
/// there are 1 to 6 of them.
fn all_views<'a>(operands: &[ArrayViewD<'a, i64>]) -> (Result<Views<'a>, BroadcastError>, bool) {
    macro_rules! tuple {
        ($($x:ident)+) => {{
            let [$($x),+] = operands else { unreachable!() };
            broadcast_arrays(($($x.clone(),)+)).map(|($($x,)+)| vec![$($x),+])
        }};
    }
    let views = broadcast_views(operands);
    let arrays = match operands.len() {
        1 => tuple!(a),
        2 => tuple!(a b),
        3 => tuple!(a b c),
        4 => tuple!(a b c d),
        5 => tuple!(a b c d e),
        6 => tuple!(a b c d e f),
        _ => return (views, false),
    };
    assert_eq!(arrays, views);
    if let (Ok(arrays), Ok(views)) = (&arrays, &views) {
        let layout =
            |views: &Views| views.iter().map(|v| (v.as_ptr(), v.strides().to_vec())).collect::<Vec<_>>();
        assert_eq!(layout(arrays), layout(views));
    }
    (views, true)
}

#[test]
fn numpy_shapes() {
    let expected = [
        ("left out: numpy_limit, more axes than NumPy has", 1),
        ("refused, as a tuple too", 88),
        ("refused, as views", 4),
        ("valid, elements, as a tuple too", 128),
        ("valid, elements, as views", 9),
        ("valid, shape only", 20),
    ];
    run_kind(("numpy_broadcast", "cases"), ("kind", "shapes"), 200, &expected, |case| {
        let shapes: Vec<Vec<usize>> = case.rows("shapes");
        let result = broadcast_shapes(&shapes);
        if case.has("numpy_limit") {
            assert!(result.is_ok(), "there is no such limit here");
            return "left out: numpy_limit, more axes than NumPy has";
        }
        if case.ok() && !case.has("outs") {
            // Some of these would be too large to allocate.
            assert_eq!(result, Ok(case.shape("out_shape")));
            return "valid, shape only";
        }
        let layouts = operands_in(case);
        let (views, in_tuple) = all_views(&layouts.iter().map(Layout::view).collect::<Vec<_>>());
        assert_eq!(result.is_ok(), case.ok());
        if !case.ok() {
            assert_eq!(views.map_err(|error| variant(&error)), Err("Incompatible".to_owned()));
            return if in_tuple { "refused, as a tuple too" } else { "refused, as views" };
        }
        assert_eq!(result, Ok(case.shape("out_shape")));
        assert_outs(case, &views.expect("recorded as valid"));
        if in_tuple { "valid, elements, as a tuple too" } else { "valid, elements, as views" }
    });
}

/// Compares each view's shape, strides and elements with the record.
fn assert_outs(case: &Case, views: &Views) {
    let strides: Vec<Vec<Option<i64>>> = case.rows("strides_cmp");
    assert_eq!(views.len(), strides.len());
    for (view, strides) in views.iter().zip(&strides) {
        assert_eq!(view.shape(), case.shape("out_shape"));
        assert_strides(view, strides);
    }
    if case.has("outs") {
        let elements: Vec<Vec<i64>> = views.iter().map(|view| view.iter().copied().collect()).collect();
        assert_eq!(elements, case.rows::<i64>("outs"));
    }
    if case.has("sum_all") {
        let zero = ArrayD::zeros(case.shape("out_shape"));
        assert_elements(&views.iter().fold(zero, |sum, view| sum + view).view(), &case.numbers("sum_all"));
    }
}

#[test]
fn numpy_arrays() {
    let expected = [("refused", 19), ("valid, elements", 43), ("valid, shape only", 3)];
    run_kind(("numpy_broadcast", "cases"), ("kind", "arrays"), 385, &expected, |case| {
        let layouts = operands_in(case);
        let operands: Views = layouts.iter().map(Layout::view).collect();
        let (views, in_tuple) = all_views(&operands);
        assert!(in_tuple, "2 to 4 operands");
        assert_eq!(views.is_ok(), case.ok());
        let Ok(views) = views else { return "refused" };
        assert_outs(case, &views);
        let offsets: Vec<Option<i64>> = case.numbers("out_offsets");
        for (((view, operand), layout), offset) in views.iter().zip(&operands).zip(&layouts).zip(offsets) {
            assert_eq!(view.as_ptr(), operand.as_ptr());
            assert!(offset.is_none_or(|offset| layout.offset(view) == offset), "offset into the base array");
        }
        if case.has("outs") { "valid, elements" } else { "valid, shape only" }
    });
}

/// ONNX's `Expand` and the bidirectional mode of OpenVINO's `Broadcast` stretch the array and the target
/// alike: the result has their joint shape.
fn assert_bidirectional(case: &Case, shape: &[usize], target: &[usize]) {
    let array = Layout::new(shape, false, 1, vec![]);
    let other = empty(target);
    let (view, _) = array.base().broadcast_to_match(&other).expect("recorded as valid");
    assert_eq!(view.shape(), case.shape("out_shape"));
    assert_eq!(joint(&[shape, target]), Ok(case.shape("out_shape")));
    if case.has("out") {
        assert_elements(&view, &case.numbers("out"));
    }
}

#[test]
fn onnx_expand() {
    let expected = [("-1 is no size", 4), ("refused", 3), ("valid, elements", 83)];
    run("successor", "onnx_expand_ort", &expected, |case| {
        let shape = case.shape("a");
        if case.has("note") {
            // In our terms -1 is no placeholder where arrays match a shape.
            let target: Vec<i64> = case.numbers("b");
            let error = empty(&shape).broadcast_to_match_shape(&target).expect_err("recorded as refused");
            assert_eq!(variant(&error), "InvalidSize");
            return "-1 is no size";
        }
        let target = case.shape("b");
        if case.get("out_shape") == "error" {
            assert!(!empty(&shape).can_broadcast_to_match(&empty(&target)));
            return "refused";
        }
        assert_bidirectional(case, &shape, &target);
        "valid, elements"
    });
}

#[test]
fn openvino_bidirectional() {
    // The mode `numpy`, toward a shape, is in `golden_to.rs`. Shapes with unknown sizes (`?`, `2..3`) are
    // no arrays, so there is no view of them.
    let expected =
        [("left out: unknown sizes", 14), ("refused", 13), ("valid, elements", 79), ("valid, shape only", 6)];
    run_kind(("successor", "ov_broadcast"), ("mode", "bidirectional"), 114, &expected, |case| {
        if !(case.is_known("arg_shape") && case.is_known("target_shape")) {
            return "left out: unknown sizes";
        }
        let (shape, target) = (case.shape("arg_shape"), case.shape("target_shape"));
        if !case.ok() {
            assert!(!empty(&shape).can_broadcast_to_match(&empty(&target)));
            return "refused";
        }
        assert_bidirectional(case, &shape, &target);
        if case.has("out") { "valid, elements" } else { "valid, shape only" }
    });
}
