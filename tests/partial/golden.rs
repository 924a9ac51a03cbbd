//! The recorded tables of MLIR, nGraph and the systems after them.

use super::p;
use ndarray_broadcast::ErrorKind;
use ndarray_broadcast::partial::{
    Decision, Dim, PartialShape, ResultRule, decide, infer_in_dim, infer_result_shape, infer_shape,
    infer_shapes, infer_target, verify,
};
use serde_json::Value;

fn table(text: &str, list: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(text).unwrap();
    table[list].as_array().unwrap().clone()
}

macro_rules! golden {
    ($file:literal, $list:literal) => {
        table(include_str!(concat!("../golden/", $file, ".json")), $list)
    };
}

/// A recorded shape: `"*"`, or sizes, `"?"`, ranges and names.
fn shape(value: &Value) -> PartialShape {
    let dim = |value: &Value| match value {
        Value::Number(size) => Dim::Known(usize::try_from(size.as_u64().unwrap()).unwrap()),
        text => text.as_str().unwrap().parse().unwrap(),
    };
    match value {
        Value::Array(dims) => PartialShape::ranked(dims.iter().map(dim)),
        text => p(text.as_str().unwrap()),
    }
}

fn shapes(value: &Value) -> Vec<PartialShape> {
    value.as_array().unwrap().iter().map(shape).collect()
}

/// MLIR's `Broadcastable`: inferred shape and verdict, under both readings of the document.
#[test]
fn mlir_broadcastable() {
    let cases = golden!("mlir_broadcastable", "cases");
    for case in &cases {
        let (operands, result) = (shapes(&case["operands"]), shape(&case["result"]));
        match (&case["doc_inferred"], infer_result_shape(&operands)) {
            (Value::Null, inferred) => assert_eq!(inferred, Ok(None), "{case}"),
            (Value::String(_), inferred) => assert!(inferred.is_err(), "{case}"),
            (expected, inferred) => assert_eq!(inferred, Ok(Some(shape(expected))), "{case}"),
        }
        for (rule, verdict) in [(ResultRule::AllowCast, "doc_table"), (ResultRule::Exact, "doc_pseudocode")] {
            let expected = case[verdict].as_str().unwrap();
            let found = match verify(&operands, &result, rule) {
                Ok(()) => "ok".to_string(),
                Err(error) => match format!("{error:?}").split(':').next().unwrap() {
                    "NoOperands" => "err:no_operands".to_string(),
                    "Incompatible" => "err:incompatible_operands".to_string(),
                    "AxisCount" => "err:rank_mismatch".to_string(),
                    "ResultSize" => "err:result_dim".to_string(),
                    other => other.to_string(),
                },
            };
            assert_eq!(found, expected, "{rule:?} {case}");
        }
    }
    assert_eq!(cases.len(), 761);
}

/// MLIR's shape dialect: what is known to go together, and the joint shape.
#[test]
fn mlir_shape_dialect() {
    let cases = golden!("mlir_shape_dialect", "cases");
    let (mut known, mut joined) = (0, 0);
    for case in &cases {
        let operands = shapes(&case["shapes"]);
        let decision = decide(&operands);
        assert_eq!(case["statically_known_broadcastable"], decision == Decision::Always, "{case}");
        known += usize::from(decision == Decision::Always);
        match case.get("broadcast") {
            // "not_folded_incompatible": all sizes are there, and wrong.
            Some(Value::String(_)) => assert!(matches!(decision, Decision::Never(_)), "{case}"),
            Some(joint) => {
                assert_eq!(infer_shapes(&operands), Ok(shape(joint)), "{case}");
                joined += 1;
            }
            None => {}
        }
    }
    assert_eq!((cases.len(), known, joined), (360, 277, 234));
}

/// What was recorded of joining two shapes: a shape, or `None` for a refusal.
fn recorded(case: &Value, key: &str) -> Option<PartialShape> {
    (case[key] != "error").then(|| shape(&case[key]))
}

/// nGraph's `PartialShape`: all relations, the merge, and the joint shape where it does not lose a 0.
#[test]
fn ngraph_partial_shape() {
    let cases = golden!("ngraph_broadcast", "partial_shape");
    let mut left_out = 0;
    for case in &cases {
        let (a, b) = (shape(&case["a"]), shape(&case["b"]));
        let merged = a.merge(&b).ok();
        assert_eq!(merged, recorded(case, "merge"), "{case}");
        assert_eq!(case["compatible"], merged.is_some(), "{case}");
        assert_eq!(case["same_scheme"], a == b, "{case}");
        assert_eq!(case["a_relaxes_b"], a.relaxes(&b), "{case}");
        assert_eq!(case["a_refines_b"], b.relaxes(&a), "{case}");
        let (joint, theirs) = (infer_shape(&a, &b).ok(), recorded(case, "broadcast_merge_numpy"));
        if joint != theirs {
            // nGraph makes 1 of 0 and 1, and does not see that 0 with an unknown size is 0.
            let (joint, theirs) = (joint.unwrap(), theirs.unwrap());
            for (ours, theirs) in joint.dims().unwrap().iter().zip(theirs.dims().unwrap()) {
                assert!(ours == theirs || *ours == Dim::Known(0), "{case}");
            }
            assert_eq!(joint.ndim(), theirs.ndim(), "{case}");
            left_out += 1;
        }
    }
    assert_eq!((cases.len(), left_out), (180, 31));
}

/// OpenVINO's intervals: the joint shape and the merge, all of them.
#[test]
fn openvino_intervals() {
    let cases = golden!("successor", "ov_intervals");
    for case in &cases {
        let (a, b) = (shape(&case["a"]), shape(&case["b"]));
        assert_eq!(infer_shape(&a, &b).ok(), recorded(case, "broadcast_merge"), "{case}");
        assert_eq!(infer_shape(&b, &a).ok(), recorded(case, "broadcast_merge"), "{case}");
        assert_eq!(a.merge(&b).ok(), recorded(case, "merge"), "{case}");
    }
    assert_eq!(cases.len(), 240);
}

/// OpenVINO's `Broadcast`: both shapes together (`bidirectional`) or toward the target (`numpy`). Left
/// out are those toward a target that a range can never be of, which OpenVINO does not see.
#[test]
fn openvino_broadcast() {
    let cases = golden!("successor", "ov_broadcast");
    let (mut counts, mut left_out) = ([0, 0], 0);
    for case in &cases {
        let (arg, target) = (shape(&case["arg_shape"]), shape(&case["target_shape"]));
        let toward = case["mode"] == "numpy";
        let found = if toward {
            let sizes = target.sizes().unwrap();
            infer_target(&arg, &*sizes)
        } else {
            infer_shape(&arg, &target)
        };
        if let (true, true, Err(error)) = (toward, case["ok"] == true, &found) {
            assert_eq!(error.kind(), ErrorKind::Incompatible, "{case}");
            let dims: Vec<Dim> = error.sizes().iter().map(|dim| dim.parse().unwrap()).collect();
            assert!(matches!(dims[..], [Dim::Range(_), Dim::Known(_)]), "{case}");
            left_out += 1;
            continue;
        }
        let expected = (case["ok"] == true).then(|| shape(&case["out_shape"]));
        assert_eq!(found.ok(), expected, "{case}");
        counts[usize::from(toward)] += 1;
    }
    assert_eq!((counts, left_out), ([112, 110], 4));
}

/// StableHLO's bounds. Where it is of another opinion:
/// - it reads a bound of 1 as the size 1, which is not sound: such an axis may be of size 0;
/// - it gives the type up (`*`) or the bound (`?`) where more is known, or refuses nothing.
///
/// `stablehlo_add` asks for equal shapes, and is our merge in all cases.
#[test]
fn stablehlo_bounds() {
    let cases = golden!("successor", "stablehlo_bounds");
    let (mut equal, mut looser, mut unsound) = (0, 0, 0);
    for case in &cases {
        let (a, b) = (shape(&case["a"]), shape(&case["b"]));
        assert_eq!(a.merge(&b).ok(), recorded(case, "stablehlo_add"), "{case}");
        let (joint, theirs) = (infer_shape(&a, &b).ok(), shape(&case["chlo_broadcast_add"]));
        match joint {
            Some(joint) if joint == theirs => equal += 1,
            Some(joint) if !theirs.relaxes(&joint) => {
                let bound = Dim::range(..=1).unwrap();
                for (ours, theirs) in joint.dims().unwrap().iter().zip(theirs.dims().unwrap()) {
                    assert!(ours == theirs || (*ours == bound && *theirs == Dim::Known(1)), "{case}");
                }
                unsound += 1;
            }
            None => {
                assert_eq!(theirs, PartialShape::unranked(), "{case}");
                looser += 1;
            }
            Some(_) => looser += 1,
        }
    }
    assert_eq!((cases.len(), equal, looser, unsound), (130, 84, 41, 5));
}

/// ONNX shape inference over names, all of it. `*` stands where an operand is `*`.
#[test]
fn onnx_names() {
    let cases = golden!("successor", "onnx_symbolic");
    for case in &cases {
        let operands = shapes(&case["shapes"]);
        assert_eq!(infer_shapes(&operands).ok(), recorded(case, "result"), "{case}");
    }
    assert_eq!(cases.len(), 128);
}

/// ONNX `Expand` of known shapes in both directions. Left out are targets with -1, which is no size.
#[test]
fn onnx_expand() {
    let cases: Vec<_> = golden!("successor", "onnx_expand_ort")
        .into_iter()
        .filter(|case| !case["b"].to_string().contains("-1"))
        .collect();
    for case in &cases {
        let joint = infer_shape(&shape(&case["a"]), &shape(&case["b"])).ok();
        assert_eq!(joint, recorded(case, "out_shape"), "{case}");
    }
    assert_eq!(cases.len(), 86);
}

/// XLA's `broadcast_in_dim` of known shapes.
#[test]
fn xla_broadcast_in_dim() {
    let cases = golden!("successor", "xla_broadcast_in_dim");
    for case in &cases {
        // A negative axis cannot be named here; no target has the axis that stands for it.
        let place = |axis: &Value| axis.as_u64().map_or(usize::MAX, |axis| usize::try_from(axis).unwrap());
        let axes: Vec<usize> = case["broadcast_dimensions"].as_array().unwrap().iter().map(place).collect();
        let target = shape(&case["out_shape"]);
        let found = infer_in_dim(&shape(&case["operand_shape"]), &target, axes);
        assert_eq!(found.ok(), (case["ok"] == true).then_some(target), "{case}");
    }
    assert_eq!(cases.len(), 140);
}

/// JAX's symbolic sizes. An expression such as `2*n` is a name of its own here, which knows less than
/// JAX does: left out are the cases with an equation between names (`n == 2`), by which JAX rewrites
/// expressions. JAX takes only what is certain, and so do we.
#[test]
fn jax_symbolic() {
    let cases = golden!("successor", "jax_symbolic");
    let mut left_out = 0;
    for case in &cases {
        if case["constraints"].to_string().contains("==") {
            left_out += 1;
            continue;
        }
        let [a, b] = ["a", "b"].map(|key| expressions(&case[key]));
        let certain = decide(&[a.clone(), b.clone()]) == Decision::Always;
        let joint = infer_shape(&a, &b).ok().filter(|_| certain);
        let theirs = |key: &str| (case[key] != "error").then(|| expressions(&case[key]));
        assert_eq!(joint, theirs("result"), "{case}");
        assert_eq!(joint.filter(|joint| *joint == b), theirs("broadcast_a_to_b"), "{case}");
    }
    assert_eq!((cases.len(), left_out), (120, 37));
}

/// A shape of JAX expressions, each a size or a name: `m*n` is `m_times_n`.
fn expressions(value: &Value) -> PartialShape {
    let dim = |value: &Value| {
        let text = value.as_str().unwrap().replace(' ', "").replace("n*m", "m*n");
        match text.parse() {
            Ok(size) => Dim::Known(size),
            Err(_) => {
                Dim::name(&format!("e_{}", text.replace('*', "_times_").replace('+', "_plus_"))).unwrap()
            }
        }
    };
    PartialShape::ranked(value.as_array().unwrap().iter().map(dim))
}
