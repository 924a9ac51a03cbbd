//! The recorded cases of each system, as questions of this crate.

use crate::calls::{Answer, Question, Valid, assert_ranks, compare, weights};
use common::{
    Case, Layout, Lie, Strided, array_in, assert_elements, empty, operands_in, resolved, signed, torch_array,
};
use half::f16;
use ndarray::{Array, IxDyn};
use ndarray_broadcast::prelude::*;
use serde_json::Value;
use std::fmt::Debug;

/// A case with its answer, if it is valid, and else the names of the errors that may refuse it.
fn answered(case: &Case, question: &Question, names: &[&'static str], valid: Valid) -> String {
    let answer = if case.ok() { Answer::Valid(valid) } else { Answer::Refused(names.to_vec()) };
    compare(question, &answer)
}

/// A field, if it is recorded.
fn recorded<T>(case: &Case, field: &str, read: impl Fn(&Case, &str) -> T) -> Option<T> {
    case.has(field).then(|| read(case, field))
}

/// The numbers of `out`, if they are recorded: the elements of the one view.
fn out(case: &Case) -> Option<Vec<Vec<i64>>> {
    recorded(case, "out", Case::numbers).map(|out| vec![out])
}

fn out_shape(case: &Case) -> Vec<usize> {
    if case.ok() { case.shape("out_shape") } else { vec![] }
}

/// An array of 1, 2, 3 and so on.
fn from_one(shape: &[usize]) -> Strided<i64> {
    Strided::numbered(Layout::plain(shape), 1)
}

pub(crate) fn poplibs(case: &Case) -> String {
    let shape = |name: &str| case.shape(name);
    let operands =
        |names: &[&str]| Question::Together(names.iter().map(|name| from_one(&shape(name))).collect());
    let question = match case.text("op") {
        "expand_ranks" => {
            let (a, b, can) = (empty(&shape("a")), empty(&shape("b")), case.get("can") == true);
            assert_ranks(&a, &b, [&shape("a_after"), &shape("b_after")], can);
            return "ranks".into();
        }
        "match1" => {
            Question::To { array: from_one(&shape("a")), target: case.numbers("shape"), keeps: false }
        }
        "match2" => {
            assert_eq!(case.get("can"), case.ok());
            operands(&["a", "b"])
        }
        "match3" => operands(&["a", "b", "c"]),
        op => panic!("unknown operation {op}"),
    };
    // Poplar changes some arrays of a call that it refuses; this crate changes none
    let after = ["a_after", "b_after", "c_after"].map(|name| recorded(case, name, Case::shape));
    assert!(!case.ok() || after.iter().flatten().all(|shape| after[0].as_ref() == Some(shape)));
    let valid = Valid { shape: shape("a_after"), ..Valid::default() };
    format!("{}: {}", case.text("op"), answered(case, &question, &["Incompatible", "TooFewAxes"], valid))
}

pub(crate) fn mindspore(case: &Case) -> String {
    let target: Vec<i64> = case.numbers("target");
    let names: &[&str] = if case.ok() {
        &[]
    } else {
        match case.text("error_kind") {
            "minus_one_in_new_dim" => &["PlaceholderOnNewAxis"],
            "negative_dim" => &["InvalidSize"],
            "rank_too_small" => &["TooFewAxes"],
            // here it comes first that a size below -1 is none
            "dim_mismatch" if target.iter().any(|&size| size < -1) => &["InvalidSize"],
            "dim_mismatch" => &["Incompatible"],
            kind => panic!("unknown kind {kind}"),
        }
    };
    // where MindSpore's own gradient is wrong, it follows from the rule
    let gradient =
        ["grad", "grad_mathematically"].into_iter().find(|field| case.has(field) && case.is_known(field));
    let shape = out_shape(case);
    if case.has("weight") && gradient.is_some() {
        assert_elements(&weights(&shape), &case.numbers("weight"));
    }
    let gradient = gradient.map(|field| case.numbers(field));
    let valid = Valid { shape, elements: out(case), gradient, ..Valid::default() };
    let question = Question::To { array: Strided::counted(&case.shape("input_shape")), target, keeps: true };
    answered(case, &question, names, valid)
}

pub(crate) fn numpy(case: &Case) -> String {
    let valid = Valid {
        elements: recorded(case, "outs", Case::rows),
        strides: recorded(case, "strides_cmp", |case, field| {
            if case.text("kind") == "to" { vec![case.numbers(field)] } else { case.rows(field) }
        }),
        sum: recorded(case, "sum_all", Case::numbers),
        ..Valid::default()
    };
    let kind = case.text("kind");
    let result = match kind {
        "shapes" => {
            let shapes: Vec<Vec<usize>> = case.rows("shapes");
            if case.has("numpy_limit") {
                let shape = common::joint(&shapes).expect("there is no such limit here");
                let answer = Answer::Valid(Valid { shape, ..Valid::default() });
                compare(&Question::ShapesTogether(shapes), &answer);
                return "shapes: more axes than NumPy has".into();
            }
            let valid = Valid { shape: out_shape(case), ..valid };
            // without elements, some would be too large
            let is_small = !case.ok() || case.has("outs");
            let question = if is_small {
                Question::Together(operands_in(case))
            } else {
                Question::ShapesTogether(shapes)
            };
            answered(case, &question, &["Incompatible"], valid)
        }
        "arrays" => {
            let offsets = recorded(case, "out_offsets", Case::numbers);
            let valid = Valid { shape: out_shape(case), offsets, ..valid };
            answered(case, &Question::Together(operands_in(case)), &["Incompatible"], valid)
        }
        "to" => {
            let target: Vec<i64> = case.numbers("target");
            let names: &[&str] = if target.iter().any(|&size| size < 0) {
                &["InvalidSize"]
            } else {
                &["TooFewAxes", "Incompatible"]
            };
            let offsets = recorded(case, "out_offset", |case, field| vec![case.get(field).as_i64()]);
            let valid = Valid { shape: out_shape(case), elements: out(case), offsets, ..valid };
            let question = Question::To { array: array_in(case), target, keeps: false };
            answered(case, &question, names, valid)
        }
        kind => panic!("unknown kind {kind}"),
    };
    format!("{kind}: {result}")
}

pub(crate) fn torch_expand(case: &Case) -> String {
    let (array, target) = (torch_array(case), case.numbers::<i64>("target"));
    assert_eq!(array.shape(), case.shape("shape"));
    let refused = resolved(&case.shape("shape"), &target, true).err();
    // recorded are positions in logical order; the layout holds those in memory
    let by_position: Vec<i64> = array.view().iter().copied().collect();
    let elements = recorded(case, "out", Case::shape)
        .map(|positions| vec![positions.iter().map(|&position| by_position[position]).collect()]);
    let valid = Valid {
        shape: out_shape(case),
        elements,
        strides: recorded(case, "strides_cmp", |case, field| vec![case.numbers(field)]),
        gradient: recorded(case, "grad", Case::numbers),
        ..Valid::default()
    };
    let question = Question::To { array, target, keeps: true };
    in_order(case, answered(case, &question, refused.as_slice(), valid))
}

fn in_order(case: &Case, result: String) -> String {
    if case.has("memory_order") { format!("another order: {result}") } else { result }
}

pub(crate) fn torch_sum_to_size(case: &Case) -> String {
    let (in_memory, shape) = (torch_array(case), case.shape("shape"));
    // the table's elements go by positions in logical order
    let array = in_memory
        .with_elements((0..in_memory.elements().count()).map(|k| (7 * signed(k) + 3) % 11 - 5))
        .into_array();
    assert_eq!(array.shape(), shape);
    if case.has("input") {
        assert_elements(&array, &case.numbers("input"));
    }
    let target: Vec<i64> = case.numbers("target");
    let names: &[&str] = if target.iter().any(|&size| size < 0) {
        &["InvalidSize"]
    } else if target.len() > shape.len() {
        &["TooManyAxes"]
    } else {
        &["Incompatible"]
    };
    let valid = Valid {
        shape: out_shape(case),
        elements: out(case),
        reduced: recorded(case, "reduced_axes", Case::shape),
        ..Valid::default()
    };
    in_order(case, answered(case, &Question::SumTo { array, target }, names, valid))
}

/// The places of each axis. A negative one cannot be named here; no target has the axis that stands for it.
fn places(case: &Case, field: &str) -> Vec<usize> {
    case.numbers::<i64>(field).into_iter().map(|place| usize::try_from(place).unwrap_or(usize::MAX)).collect()
}

pub(crate) fn jax_in_dim(case: &Case) -> String {
    let places = places(case, "dims");
    let target: Vec<i64> = case.numbers("shape");
    let array = Strided::counted(&case.shape("arg_shape"));
    let question = Question::Placed { array, shape: target, places: places.clone() };
    if case.has("jax_shortcut") {
        let refused = compare(&question, &Answer::Refused(vec!["AxisCount"]));
        return format!("JAX lets an equal shape pass without looking at the axes: {refused}");
    }
    let mut valid = Valid { elements: out(case), ..Valid::default() };
    if case.ok() {
        valid.shape = case.shape("shape");
        valid.gradient = Some(if case.get("grad").is_null() {
            // JAX has none: of a transpose of two axes, it is the weights transposed back
            assert_eq!(places, [1, 0]);
            weights(&valid.shape).t().iter().copied().collect()
        } else {
            case.numbers("grad")
        });
    }
    answered(case, &question, &[], valid)
}

/// The cases that a set of axes says too.
pub(crate) fn jax_along(case: &Case) -> String {
    if case.get("ngraph_form") == false {
        return "no set: out of order, or no axes".into();
    }
    let array = Strided::counted(&case.shape("arg_shape"));
    let (shape, axes) = (case.numbers("shape"), case.shape("broadcast_axes"));
    let answer = if case.get("ngraph_valid") == true {
        Answer::Valid(Valid {
            shape: case.shape("shape"),
            elements: out(case),
            gradient: if case.get("grad").is_null() { None } else { Some(case.numbers("grad")) },
            ..Valid::default()
        })
    } else {
        Answer::Refused(vec![])
    };
    compare(&Question::Along { array, shape, axes }, &answer)
}

pub(crate) fn xla_in_dim(case: &Case) -> String {
    let places = places(case, "broadcast_dimensions");
    let array = from_one(&case.shape("operand_shape"));
    let valid = Valid { shape: out_shape(case), elements: out(case), ..Valid::default() };
    answered(case, &Question::Placed { array, shape: case.numbers("out_shape"), places }, &[], valid)
}

pub(crate) fn ngraph(case: &Case) -> String {
    if !case.is_known("arg_shape") {
        return "unknown sizes, which no array has".into();
    }
    let shape = case.shape("arg_shape");
    // 1, 2, 3 and so on, or elements in a list that count up too
    let array = if !case.ok() || case.get("arg") == "iota_from_1" {
        from_one(&shape)
    } else {
        let elements: Vec<i64> = case.numbers("arg");
        let array = Strided::numbered(Layout::plain(&shape), elements[0]);
        assert_elements(&array.view(), &elements);
        array
    };
    let axes = case.shape("broadcast_axes");
    let names: &[&str] = if case.ok() || case.text("error_kind") == "incompatible_shapes" {
        &["AxisCount", "Incompatible"]
    } else {
        assert_eq!(case.text("error_kind"), "axis_out_of_range");
        &["AxisOutOfBounds"]
    };
    let repeated = (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
    let valid = Valid { shape: out_shape(case), elements: out(case), ..Valid::default() };
    let question = Question::Along { array, shape: case.numbers("out_shape"), axes };
    let result = answered(case, &question, names, valid);
    if repeated { format!("an axis twice: {result}") } else { result }
}

pub(crate) fn ngraph_sums(case: &Case) -> String {
    let shape = case.shape("delta_shape");
    assert_eq!(case.text("delta"), "iota_from_1");
    let arrays = [Lie::C, Lie::F].map(|order| Strided::numbered(order.layout(&shape), 1));
    let elements = Some(vec![case.numbers("sum")]);
    let answer = Answer::Valid(Valid { shape: case.shape("sum_shape"), elements, ..Valid::default() });
    let result = compare(&Question::SumOver { arrays, axes: case.shape("broadcast_axes") }, &answer);
    if shape.contains(&0) { format!("empty: {result}") } else { result }
}

/// ONNX's `Expand` and the bidirectional mode of OpenVINO's `Broadcast` stretch the array and the target
/// alike: the result has their joint shape. Compares the view of the array.
fn both_ways(case: &Case, shape: &[usize], target: &[usize], ok: bool) -> String {
    let question = Question::Together(vec![from_one(shape), Strided::counted(target)]);
    if !ok {
        return compare(&question, &Answer::Refused(vec!["Incompatible"]));
    }
    let out_shape = case.shape("out_shape");
    let elements = out(case).map(|mut elements| {
        // of the target's array only its own shape is known
        let other = Strided::counted(target);
        let other = other.view().broadcast(&*out_shape).expect("their joint shape").iter().copied().collect();
        elements.push(other);
        elements
    });
    let valid = Valid { shape: out_shape, elements, ..Valid::default() };
    compare(&question, &Answer::Valid(valid))
}

pub(crate) fn onnx_expand(case: &Case) -> String {
    let shape = case.shape("a");
    if case.has("note") {
        // in our terms -1 is no placeholder where arrays match a shape
        let question = Question::To { array: from_one(&shape), target: case.numbers("b"), keeps: false };
        return compare(&question, &Answer::Refused(vec!["InvalidSize"]));
    }
    both_ways(case, &shape, &case.shape("b"), case.get("out_shape") != "error")
}

pub(crate) fn openvino(case: &Case) -> String {
    let mode = case.text("mode");
    if !(case.is_known("arg_shape") && case.is_known("target_shape")) {
        return format!("{mode}: unknown sizes, which no array has");
    }
    let shape = case.shape("arg_shape");
    let result = match mode {
        "bidirectional" => both_ways(case, &shape, &case.shape("target_shape"), case.ok()),
        "numpy" => {
            let valid = Valid { shape: out_shape(case), elements: out(case), ..Valid::default() };
            let target = case.numbers("target_shape");
            answered(case, &Question::To { array: from_one(&shape), target, keeps: false }, &[], valid)
        }
        mode => panic!("unknown mode {mode}"),
    };
    format!("{mode}: {result}")
}

/// Compares one case for one element type: how to make element `i`, and how to read a recorded one.
fn assert_dtype<T: PartialEq + Debug>(
    case: &Case,
    make: impl Fn(usize) -> T,
    read: impl Fn(&Value) -> Option<T>,
) {
    let shape = case.shape("input_shape");
    let count = shape.iter().product();
    let input =
        Array::from_shape_vec(IxDyn(&shape), (0..count).map(make).collect()).expect("as many elements");
    let view = input.broadcast_to(case.numbers::<i64>("target")).expect("recorded as valid");
    assert_eq!(view.shape(), case.shape("out_shape"));
    let recorded: Vec<T> = case.list("out").iter().map(|value| read(value).expect("an element")).collect();
    assert!(view.iter().eq(recorded.iter()));
}

/// The real part of a number written `2j` or `(1+2j)`, of which the imaginary part is 0.
fn real(value: &Value) -> Option<f64> {
    let text = value.as_str()?;
    if text == "0j" { Some(0.0) } else { text.strip_prefix('(')?.strip_suffix("+0j)")?.parse().ok() }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "elements are 0, 1 and 2")]
pub(crate) fn element_types(case: &Case) -> String {
    macro_rules! integer {
        ($T:ty, $case:ident) => {
            assert_dtype(
                $case,
                |i| <$T>::try_from(i).expect("small"),
                |value| value.as_u64()?.try_into().ok(),
            )
        };
    }
    match case.text("dtype") {
        "bool" => assert_dtype(case, |i| i != 0, Value::as_bool),
        "int8" => integer!(i8, case),
        "int16" => integer!(i16, case),
        "int32" => integer!(i32, case),
        "int64" => integer!(i64, case),
        "uint8" => integer!(u8, case),
        "uint16" => integer!(u16, case),
        "uint32" => integer!(u32, case),
        "uint64" => integer!(u64, case),
        "float16" => {
            assert_dtype(case, |i| f16::from_f64(i as f64), |value| value.as_f64().map(f16::from_f64));
        }
        "float32" => assert_dtype(case, |i| i as f32, |value| value.as_f64().map(|x| x as f32)),
        "float64" => assert_dtype(case, |i| i as f64, Value::as_f64),
        "complex64" => {
            assert_dtype(case, |i| (i as f32, 0.0), |value| real(value).map(|x| (x as f32, 0.0)));
        }
        "complex128" => assert_dtype(case, |i| (i as f64, 0.0), |value| real(value).map(|x| (x, 0.0))),
        dtype => panic!("unknown element type {dtype}"),
    }
    case.text("dtype").into()
}
