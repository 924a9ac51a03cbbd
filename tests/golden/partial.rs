//! Recorded answers on shapes that are known in part.

use common::{Case, variant};
use ndarray_broadcast::ErrorKind;
use ndarray_broadcast::partial::{
    Decision, Dim, PartialShape, ResultRule, decide, infer_result_shape, infer_shape, infer_shapes,
    infer_target, verify,
};
use serde_json::Value;

/// A recorded shape: `"*"`, or sizes, `"?"`, ranges and names.
fn read(value: &Value) -> PartialShape {
    let dim = |value: &Value| match value {
        Value::Number(size) => Dim::Known(usize::try_from(size.as_u64().expect("a size")).expect("a size")),
        text => text.as_str().expect("a size").parse().expect("a size"),
    };
    match value {
        Value::Array(dims) => PartialShape::ranked(dims.iter().map(dim)),
        text => text.as_str().expect("a shape").parse().expect("a shape"),
    }
}

fn shape(case: &Case, field: &str) -> PartialShape {
    read(case.get(field))
}

fn shapes(case: &Case, field: &str) -> Vec<PartialShape> {
    case.list(field).iter().map(read).collect()
}

/// What was recorded of joining two shapes: a shape, or `None` for a refusal.
fn recorded(case: &Case, field: &str) -> Option<PartialShape> {
    (case.get(field) != "error").then(|| shape(case, field))
}

/// MLIR's `Broadcastable`: inferred shape and verdict, under both readings of the document.
pub(crate) fn mlir_broadcastable(case: &Case) -> &'static str {
    let (operands, result) = (shapes(case, "operands"), shape(case, "result"));
    let kind = match (case.get("doc_inferred"), infer_result_shape(&operands)) {
        (Value::Null, inferred) => {
            assert_eq!(inferred, Ok(None));
            "no ranked operand"
        }
        (Value::String(_), inferred) => {
            assert!(inferred.is_err());
            "refused"
        }
        (expected, inferred) => {
            assert_eq!(inferred, Ok(Some(read(expected))));
            "inferred"
        }
    };
    for (rule, verdict) in [(ResultRule::AllowCast, "doc_table"), (ResultRule::Exact, "doc_pseudocode")] {
        let found = match verify(&operands, &result, rule) {
            Ok(()) => "ok".to_string(),
            Err(error) => match &*variant(&error) {
                "NoOperands" => "err:no_operands".to_string(),
                "Incompatible" => "err:incompatible_operands".to_string(),
                "AxisCount" => "err:rank_mismatch".to_string(),
                "ResultSize" => "err:result_dim".to_string(),
                other => other.to_string(),
            },
        };
        assert_eq!(found, case.text(verdict), "{rule:?}");
    }
    kind
}

/// MLIR's shape dialect: what is known to go together, and the joint shape.
pub(crate) fn mlir_shape_dialect(case: &Case) -> String {
    let operands = shapes(case, "shapes");
    let decision = decide(&operands);
    let known = decision == Decision::Always;
    assert_eq!(case.get("statically_known_broadcastable"), known);
    let joint = if !case.has("broadcast") {
        "not folded"
    } else if case.get("broadcast").is_string() {
        // "not_folded_incompatible": all sizes are there, and wrong
        assert!(matches!(decision, Decision::Never(_)));
        "refused"
    } else {
        assert_eq!(infer_shapes(&operands), Ok(shape(case, "broadcast")));
        "joined"
    };
    format!("{joint}{}", if known { ", certain" } else { "" })
}

/// nGraph's `PartialShape`: all relations, the merge, and the joint shape where it does not lose a 0.
pub(crate) fn ngraph_partial_shape(case: &Case) -> &'static str {
    let (a, b) = (shape(case, "a"), shape(case, "b"));
    let merged = a.merge(&b).ok();
    assert_eq!(merged, recorded(case, "merge"));
    assert_eq!(case.get("compatible"), merged.is_some());
    assert_eq!(case.get("same_scheme"), a == b);
    assert_eq!(case.get("a_relaxes_b"), a.relaxes(&b));
    assert_eq!(case.get("a_refines_b"), b.relaxes(&a));
    let (joint, theirs) = (infer_shape(&a, &b).ok(), recorded(case, "broadcast_merge_numpy"));
    if joint == theirs {
        return "equal";
    }
    // nGraph makes 1 of 0 and 1, and does not see that 0 with an unknown size is 0
    let (joint, theirs) = (joint.expect("a joint shape"), theirs.expect("a joint shape"));
    assert_differ(&joint, &theirs, |ours, _| *ours == Dim::Known(0));
    "with a 0 that nGraph loses"
}

/// Asserts that shapes have as many axes, and sizes that are equal but where `may` says so.
fn assert_differ(ours: &PartialShape, theirs: &PartialShape, may: impl Fn(&Dim, &Dim) -> bool) {
    assert_eq!(ours.ndim(), theirs.ndim());
    let dims = [ours, theirs].map(|shape| shape.dims().expect("a number of axes"));
    assert!(dims[0].iter().zip(dims[1]).all(|(ours, theirs)| ours == theirs || may(ours, theirs)));
}

/// OpenVINO's intervals: the joint shape and the merge, all of them.
pub(crate) fn openvino_intervals(case: &Case) -> &'static str {
    let (a, b) = (shape(case, "a"), shape(case, "b"));
    let joint = recorded(case, "broadcast_merge");
    assert_eq!(infer_shape(&a, &b).ok(), joint);
    assert_eq!(infer_shape(&b, &a).ok(), joint);
    assert_eq!(a.merge(&b).ok(), recorded(case, "merge"));
    if joint.is_some() { "joined" } else { "refused" }
}

/// OpenVINO's `Broadcast`: both shapes together (`bidirectional`) or toward the target (`numpy`). Left
/// out are those toward a target that a range can never be of, which OpenVINO does not see.
pub(crate) fn openvino_broadcast(case: &Case) -> String {
    let (arg, target, mode) = (shape(case, "arg_shape"), shape(case, "target_shape"), case.text("mode"));
    let found = if mode == "numpy" {
        let sizes = target.sizes().expect("known sizes");
        infer_target(&arg, &*sizes)
    } else {
        infer_shape(&arg, &target)
    };
    if let ("numpy", true, Err(error)) = (mode, case.ok(), &found) {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        let dims: Vec<Dim> = error.sizes().iter().map(|dim| dim.parse().expect("a size")).collect();
        assert!(matches!(dims[..], [Dim::Range(_), Dim::Known(_)]));
        return "numpy: refused, which OpenVINO does not see".into();
    }
    assert_eq!(found.ok(), case.ok().then(|| shape(case, "out_shape")));
    mode.into()
}

/// StableHLO's bounds. Where it is of another opinion:
/// - it reads a bound of 1 as the size 1, which is not sound: such an axis may be of size 0;
/// - it gives the type up (`*`) or the bound (`?`) where more is known, or refuses nothing.
///
/// `stablehlo_add` asks for equal shapes, and is our merge in all cases.
pub(crate) fn stablehlo_bounds(case: &Case) -> &'static str {
    let (a, b) = (shape(case, "a"), shape(case, "b"));
    assert_eq!(a.merge(&b).ok(), recorded(case, "stablehlo_add"));
    let theirs = shape(case, "chlo_broadcast_add");
    let Ok(joint) = infer_shape(&a, &b) else {
        assert_eq!(theirs, PartialShape::unranked());
        return "looser";
    };
    if joint == theirs {
        return "equal";
    }
    if theirs.relaxes(&joint) {
        return "looser";
    }
    let bound = Dim::range(..=1).expect("a range");
    assert_differ(&joint, &theirs, |ours, theirs| *ours == bound && *theirs == Dim::Known(1));
    "not sound"
}

/// ONNX shape inference over names, all of it. `*` stands where an operand is `*`.
pub(crate) fn onnx_names(case: &Case) -> &'static str {
    let joint = infer_shapes(&shapes(case, "shapes")).ok();
    assert_eq!(joint, recorded(case, "result"));
    if joint.is_some() { "joined" } else { "refused" }
}

/// JAX's symbolic sizes. An expression such as `2*n` is a name of its own here, which knows less than
/// JAX does: left out are the cases with an equation between names (`n == 2`), by which JAX rewrites
/// expressions. JAX takes only what is certain, and so do we.
pub(crate) fn jax_symbolic(case: &Case) -> &'static str {
    if case.get("constraints").to_string().contains("==") {
        return "left out: an equation between names";
    }
    let [a, b] = ["a", "b"].map(|field| expressions(case.get(field)));
    let certain = decide(&[a.clone(), b.clone()]) == Decision::Always;
    let joint = infer_shape(&a, &b).ok().filter(|_| certain);
    let theirs = |field: &str| (case.get(field) != "error").then(|| expressions(case.get(field)));
    assert_eq!(joint, theirs("result"));
    assert_eq!(joint.filter(|joint| *joint == b), theirs("broadcast_a_to_b"));
    if certain { "certain" } else { "refused" }
}

/// A shape of JAX expressions, each a size or a name: `m*n` is `m_times_n`.
fn expressions(value: &Value) -> PartialShape {
    let dim = |value: &Value| {
        let text = value.as_str().expect("an expression").replace(' ', "").replace("n*m", "m*n");
        let name = || format!("e_{}", text.replace('*', "_times_").replace('+', "_plus_"));
        text.parse().map_or_else(|_| Dim::name(&name()).expect("a name"), Dim::Known)
    };
    PartialShape::ranked(value.as_array().expect("a list").iter().map(dim))
}
