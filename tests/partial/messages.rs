//! Every message, word for word.

use super::p;
use common::assert_picture;
use ndarray::{ErrorKind, ShapeError};
use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::partial::{
    Decision, Plan, ResultRule, decide, decide_result, infer_axes, infer_batch, infer_result_shape,
    infer_shapes, infer_sum, infer_target, verify,
};

fn message<T: std::fmt::Debug>(result: Result<T, BroadcastError>) -> String {
    let error = result.unwrap_err();
    assert_picture(&error);
    format!("{error:?}")
}

#[test]
fn inferring() {
    assert_eq!(
        message(infer_shapes(&[p("4x?x3"), p("2x3"), p("5..x1")])),
        "Incompatible: cannot broadcast shapes 4x?x3, 2x3 and 5..x1 together: \
         axis 1 has sizes 2 and 5.. (operands 1 and 2), expected equal sizes or 1",
    );
    assert_eq!(
        message(infer_result_shape(&[p("*"), p("2"), p("3")])),
        "Incompatible: cannot broadcast shapes *, 2 and 3 together: \
         axis 0 has sizes 2 and 3 (operands 1 and 2), expected equal sizes or 1",
    );
    let half = 1_usize << (usize::BITS / 2);
    assert_eq!(
        message(infer_shapes(&[[half, 1].into(), [1, half].into()])),
        format!(
            "Overflow: cannot broadcast shapes {half}x1 and 1x{half} together: \
             the non-zero sizes of the result [{half}, {half}] multiply past isize::MAX"
        ),
    );
    assert_eq!(
        message(p("2x3").merge(&p("3"))),
        "AxisCount: cannot merge shapes 2x3 and 3: the second shape has 1 axis, expected 2",
    );
    assert_eq!(
        message(p("[]").merge(&p("3"))),
        "AxisCount: cannot merge shapes [] and 3: the second shape has 1 axis, expected 0",
    );
    assert_eq!(
        message(p("2x3").merge(&p("2x4"))),
        "Incompatible: cannot merge shapes 2x3 and 2x4: axis 1 has sizes 3 and 4, expected equal sizes",
    );
}

/// Of operands that clash alike, the first is named.
#[test]
fn ties() {
    let named = |operands: &[&str]| {
        let shapes: Vec<_> = operands.iter().map(|text| p(text)).collect();
        let message = infer_shapes(&shapes).unwrap_err().to_string();
        message.split_once(": ").expect("the axis after the shapes").1.to_string()
    };
    let words = |sizes: &str, operands: &str| {
        format!("axis 0 has sizes {sizes} (operands {operands}), expected equal sizes or 1")
    };
    assert_eq!(named(&["2", "2", "3"]), words("2 and 3", "0 and 2"));
    assert_eq!(named(&["3", "2", "2"]), words("3 and 2", "0 and 1"));
    assert_eq!(named(&["2", "3", "3"]), words("2 and 3", "0 and 1"));
    assert_eq!(named(&["2", "3", "2", "3"]), words("2 and 3", "0 and 1"));
    assert_eq!(named(&["?", "1", "3", "n", "3", "2", "2"]), words("3 and 2", "2 and 5"));
    assert_eq!(named(&["5..7", "2..3", "..3", "2..3", "5.."]), words("5..7 and 2..3", "0 and 1"));
}

#[test]
fn verifying() {
    assert_eq!(
        message(verify(&[], &p("*"), ResultRule::AllowCast)),
        "NoOperands: cannot verify result * of no operands: there are no operands, expected at least 1",
    );
    assert_eq!(
        message(verify(&[p("?")], &p("4"), ResultRule::Exact)),
        "ResultSize: cannot verify result 4 of operand ?: axis 0 is inferred as ? and declared as 4, \
         expected all sizes that the inferred one can be",
    );
    assert_eq!(
        message(verify(&[p("2"), p("3"), p("*")], &p("4"), ResultRule::AllowCast)),
        "Incompatible: cannot verify result 4 of operands 2, 3 and *: \
         axis 0 has sizes 2 and 3 (operands 0 and 1), expected equal sizes or 1",
    );
    assert_eq!(
        message(decide_result(&[p("2x3"), p("*")], &p("3")).checks()),
        "TooFewAxes: cannot verify result 3 of operands 2x3 and *: \
         the result has 1 axis, expected at least 2",
    );
}

#[test]
fn families() {
    assert_eq!(
        message(infer_target(&p("nx3x2..5"), [7, 3, 6])),
        "Incompatible: cannot broadcast shape nx3x2..5 to [7, 3, 6]: \
         axis 2 has sizes 2..5 and 6, expected equal sizes or 1 in the array",
    );
    assert_eq!(
        message(infer_target(&p("?x3"), [-1, 2, 3])),
        "PlaceholderOnNewAxis: cannot resolve -1 at axis 0 of target [-1, 2, 3]: shape ?x3 has no such axis",
    );
    assert_eq!(
        message(infer_target(&p("?x3"), [-2, 3])),
        "InvalidSize: cannot broadcast shape ?x3 to [-2, 3]: \
         axis 0 of the target is -2, expected -1 or a size from 0 to isize::MAX",
    );
    assert_eq!(
        message(infer_target(&p("?x3"), [3])),
        "TooFewAxes: cannot broadcast shape ?x3 to [3]: the target has 1 axis, expected at least 2",
    );
    assert_eq!(
        message(infer_axes(&p("3"), &p("2x?x3"), [0])),
        "AxisCount: cannot broadcast shape 3 along axes [0] to 2x?x3: \
         the target has 3 axes, expected 2, those of the array and those named",
    );
    assert_eq!(
        message(infer_axes(&p("?x3"), &p("2x?x4"), [0])),
        "Incompatible: cannot broadcast shape ?x3 along axes [0] to 2x?x4: \
         axis 2 has sizes 3 and 4, expected equal sizes",
    );
    assert_eq!(
        message(infer_batch(&[(p("2x3x3"), 2), (p("3"), 2)])),
        "DeclaredAxes: cannot broadcast the batches of 2x3x3 (base 2) and 3 (base 2): \
         the number of axes of operand 1 is 1, expected 2 at least",
    );
    assert_eq!(
        message(infer_sum(&p("*"), [1, 1])),
        "DuplicateAxis: cannot sum shape * over axes [1, 1]: axis 1 is named more than once"
    );
}

#[test]
fn planned() {
    let plan = Plan::new([p("nx?"), p("?")]).unwrap().with_result(p("nx4")).unwrap();
    let of = |shapes: &[&[usize]]| message(plan.joint_shape(shapes));
    assert_eq!(
        of(&[&[2, 4]]),
        "OperandCount: cannot broadcast shapes [2, 4] as planned for nx? and ?: \
         the number of shapes is 1, expected 2",
    );
    assert_eq!(
        of(&[&[4], &[4]]),
        "DeclaredAxes: cannot broadcast shapes [4] and [4] as planned for nx? and ?: \
         the number of axes of operand 0 is 1, expected 2",
    );
    assert_eq!(
        of(&[&[2, 4], &[3]]),
        "Incompatible: cannot broadcast shapes [2, 4] and [3] as planned for nx? and ?: \
         axis 1 has sizes 4 and 3 (operands 0 and 1), expected equal sizes or 1",
    );
    assert_eq!(
        of(&[&[2, 3], &[3]]),
        "DeclaredSize: cannot broadcast shapes [2, 3] and [3] as planned for nx? and ?: \
         axis 1 of the result has size 3, expected 4",
    );
    let square = Plan::new([p("nxn")]).unwrap();
    assert_eq!(
        message(square.joint_shape(&[[2, 3]])),
        "DeclaredName: cannot broadcast shapes [2, 3] as planned for nxn: \
         n is 2 at axis 0 of operand 0 and 3 at axis 1 of operand 0",
    );
}

#[test]
fn checks() {
    let words = |operands: &[&str]| -> Vec<String> {
        let operands: Vec<_> = operands.iter().map(|text| p(text)).collect();
        decide(&operands).checks().unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(words(&["?x4", "3x1"]), ["axis 0 of operand 0 is 1 or 3"]);
    assert_eq!(words(&["2..4", "3"]), ["axis 0 of operand 0 is 3"]);
    assert_eq!(words(&["2..4", "3.."]), ["axis 0 of operand 1 equals axis 0 of operand 0"]);
    assert_eq!(words(&["4x?", "1", "2.."]), ["axis 1 of operand 0 is 1 or equals axis 0 of operand 2"]);
    assert_eq!(words(&["?", "n"]), ["axis 0 of operand 0 is 1, axis 0 of operand 1 is 1, or they are equal"]);
    // Said once, it holds wherever the names stand.
    assert_eq!(words(&["nxn", "mxm"]).len(), 1);
    assert_eq!(words(&["nxn", "3x3"]), ["axis 0 of operand 0 is 1 or 3"]);
    let result = |operands: &[&str], result: &str| -> Vec<String> {
        let operands: Vec<_> = operands.iter().map(|text| p(text)).collect();
        decide_result(&operands, &p(result)).checks().unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        result(&["?x?"], "2..5x3.."),
        ["axis 0 of operand 0 is from 2 to 5", "axis 1 of operand 0 is 3 or more"]
    );
    assert_eq!(result(&["?xn"], "nxn"), ["axis 0 of operand 0 equals axis 1 of operand 0"]);
    assert_eq!(result(&["?x?"], "kxk"), ["axis 1 of operand 0 equals axis 0 of the result"]);
    assert_eq!(result(&["*"], "4"), ["the result has 1 axis", "axis 0 of the result is 4"]);
}

/// The tables of the module's documentation page.
#[test]
fn documented_tables() {
    let infer = |operands: &[&str]| {
        let operands: Vec<_> = operands.iter().map(|text| p(text)).collect();
        infer_shapes(&operands).map_or_else(|_| "error".to_string(), |joint| joint.to_string())
    };
    for (operands, joint) in [
        (&["?", "3"][..], "3"),
        (&["?", "1"], "?"),
        (&["?", "0"], "0"),
        (&["0", "?", "3"], "error"),
        (&["2..5", "4..9"], "4..5"),
        (&["0..4", "3..5"], "3..5"),
        (&["0..2", "1..3"], "0..3"),
        (&["n", "n"], "n"),
        (&["n", "1"], "n"),
        (&["n", "3"], "3"),
        (&["n", "m"], "?"),
        (&["n:2..", "m"], "n:2.."),
        (&["n:2..", "m:3.."], "n:3.."),
        (&["nx?x0..1", "5x1xn"], "5x?x0..5"),
        (&["nxn", "3x1"], "3xn"),
        (&["2..", "0..0"], "error"),
    ] {
        assert_eq!(infer(operands), joint, "{operands:?}");
    }
    for operands in [["?x1", "3"], ["n", "n"], ["0..1", "0"]] {
        assert_eq!(decide(&operands.map(p)), Decision::Always, "{operands:?}");
    }
    for (inferred, declared, cast, exact) in [
        ("4", "4", true, true),
        ("4", "?", true, true),
        ("?", "4", true, false),
        ("?", "?", true, true),
        ("*", "?", true, true),
        ("3", "4", false, false),
        ("2..5", "3..9", true, false),
        ("3", "1x3", false, false),
    ] {
        let verdict = |rule| verify(&[p(inferred)], &p(declared), rule).is_ok();
        assert_eq!(
            [verdict(ResultRule::AllowCast), verdict(ResultRule::Exact)],
            [cast, exact],
            "{inferred} {declared}"
        );
    }
}

#[test]
fn kinds() {
    let kind = |error: BroadcastError| ShapeError::from(error).kind();
    assert_eq!(kind(infer_shapes(&[p("2"), p("3")]).unwrap_err()), ErrorKind::IncompatibleShape);
    assert_eq!(
        kind("2xx".parse::<ndarray_broadcast::partial::PartialShape>().unwrap_err()),
        ErrorKind::Unsupported
    );
    assert_eq!(size_of::<BroadcastError>(), size_of::<usize>());
}
