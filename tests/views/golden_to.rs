//! Arrays stretched to a target shape, against tables of MindSpore, NumPy, PyTorch and OpenVINO.

use common::{
    Case, Layout, assert_elements, assert_strides, layout_in, resolved, run, run_kind, torch_array, variant,
};
use ndarray::{Array, ArrayRef, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::resolve_target;
use serde_json::Value;
use std::fmt::Debug;

#[test]
fn mindspore() {
    let expected = [
        ("refused: -1 on a new axis", 35),
        ("refused: below -1", 22),
        ("refused: below -1, where MindSpore names the mismatch first", 9),
        ("refused: mismatch", 77),
        ("refused: too few axes", 35),
        ("valid, elements", 221),
        ("valid, shape only", 33),
    ];
    run("mindspore_broadcast_to", "cases", &expected, |case| {
        let (shape, target) = (case.shape("input_shape"), case.numbers::<i64>("target"));
        let input = Layout::counted(&shape);
        let result = input.base().broadcast_to(&target);
        let sizes: Vec<isize> = case.numbers("target");
        let resolved_shape = resolve_target(&shape, &sizes);
        if case.ok() {
            let view = result.expect("recorded as valid");
            assert_eq!(
                (view.shape(), resolved_shape),
                (&*case.shape("out_shape"), Ok(case.shape("out_shape")))
            );
            return assert_out(case, &view);
        }
        let error = result.expect_err("recorded as refused");
        assert_eq!(resolved_shape, Err(error.clone()));
        let (kind, name) = match case.text("error_kind") {
            "minus_one_in_new_dim" => ("refused: -1 on a new axis", "PlaceholderOnNewAxis"),
            "negative_dim" => ("refused: below -1", "InvalidSize"),
            "rank_too_small" => ("refused: too few axes", "TooFewAxes"),
            "dim_mismatch" if target.iter().any(|&size| size < -1) => {
                ("refused: below -1, where MindSpore names the mismatch first", "InvalidSize")
            }
            "dim_mismatch" => ("refused: mismatch", "Incompatible"),
            kind => panic!("unknown kind {kind}"),
        };
        assert_eq!(variant(&error), name);
        kind
    });
}

/// Compares the elements where they are recorded; there are too many of them elsewhere.
fn assert_out(case: &Case, view: &ArrayRef<i64, IxDyn>) -> &'static str {
    if !case.has("out") {
        return "valid, shape only";
    }
    assert_elements(view, &case.numbers("out"));
    "valid, elements"
}

/// A 16-bit float, by its bits: an element type that this crate knows nothing of.
#[derive(Debug, PartialEq)]
struct Half(u16);

impl Half {
    fn of(value: f64) -> Self {
        Half(match value {
            0.0 => 0,
            1.0 => 0x3c00,
            2.0 => 0x4000,
            _ => panic!("{value} is not in the table"),
        })
    }
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

#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "elements are 0, 1 and 2")]
fn mindspore_element_types() {
    macro_rules! integer {
        ($T:ty, $case:ident) => {
            assert_dtype(
                $case,
                |i| <$T>::try_from(i).expect("small"),
                |value| value.as_u64()?.try_into().ok(),
            )
        };
    }
    run("mindspore_broadcast_to", "dtypes", &[("element type", 56)], |case| {
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
            "float16" => assert_dtype(case, |i| Half::of(i as f64), |value| value.as_f64().map(Half::of)),
            "float32" => assert_dtype(case, |i| i as f32, |value| value.as_f64().map(|x| x as f32)),
            "float64" => assert_dtype(case, |i| i as f64, Value::as_f64),
            "complex64" => {
                assert_dtype(case, |i| (i as f32, 0.0), |value| real(value).map(|x| (x as f32, 0.0)));
            }
            "complex128" => assert_dtype(case, |i| (i as f64, 0.0), |value| real(value).map(|x| (x, 0.0))),
            dtype => panic!("unknown element type {dtype}"),
        }
        "element type"
    });
}

#[test]
fn numpy_to() {
    let expected =
        [("refused", 31), ("refused: negative size", 8), ("valid, elements", 92), ("valid, shape only", 4)];
    run_kind(("numpy_broadcast", "cases"), ("kind", "to"), 315, &expected, |case| {
        let layout = layout_in(case);
        let (source, target) = (layout.view(), case.numbers::<i64>("target"));
        let result = source.broadcast_to_match_shape(&target);
        if !case.ok() {
            let error = result.expect_err("recorded as refused");
            if target.iter().any(|&size| size < 0) {
                assert_eq!(variant(&error), "InvalidSize");
                return "refused: negative size";
            }
            assert!(["TooFewAxes", "Incompatible"].contains(&&*variant(&error)), "{error}");
            return "refused";
        }
        let view = result.expect("recorded as valid");
        // Without -1 the two families have one rule.
        assert_eq!(source.broadcast_to(&target).as_ref(), Ok(&view));
        assert_eq!(view.shape(), case.shape("out_shape"));
        assert_strides(&view, &case.numbers::<Option<i64>>("strides_cmp"));
        assert_eq!(view.as_ptr(), source.as_ptr());
        let offset = case.get("out_offset").as_i64();
        assert!(offset.is_none_or(|offset| layout.offset(&view) == offset), "offset into the base array");
        assert_out(case, &view)
    });
}

#[test]
fn torch_expand() {
    let expected = [
        ("refused, C order", 47),
        ("refused, another order", 22),
        ("valid, C order", 125),
        ("valid, another order", 46),
    ];
    run("torch_expand", "cases", &expected, |case| {
        let layout = torch_array(case);
        let source = layout.view();
        assert_eq!(source.shape(), case.shape("shape"));
        let target: Vec<i64> = case.numbers("target");
        let result = source.broadcast_to(&target);
        let ordered = case.has("memory_order");
        if !case.ok() {
            let error = result.expect_err("recorded as refused");
            assert_eq!(Err(&*variant(&error)), resolved(&case.shape("shape"), &target, true), "{error}");
            return if ordered { "refused, another order" } else { "refused, C order" };
        }
        let view = result.expect("recorded as valid");
        assert_eq!(view.shape(), case.shape("out_shape"));
        assert_strides(&view, &case.numbers::<Option<i64>>("strides_cmp"));
        if case.has("out") {
            // Recorded are positions in logical order; the layout holds those in memory.
            let by_position: Vec<i64> = source.iter().copied().collect();
            let expected: Vec<i64> = case.shape("out").iter().map(|&k| by_position[k]).collect();
            assert_elements(&view, &expected);
        }
        if ordered { "valid, another order" } else { "valid, C order" }
    });
}

#[test]
fn openvino_numpy_mode() {
    // The mode `bidirectional` is in `golden_match.rs`; shapes with unknown sizes are no arrays.
    let expected = [
        ("left out: unknown sizes", 15),
        ("refused", 20),
        ("valid, elements", 67),
        ("valid, shape only", 12),
    ];
    run_kind(("successor", "ov_broadcast"), ("mode", "numpy"), 112, &expected, |case| {
        if !(case.is_known("arg_shape") && case.is_known("target_shape")) {
            return "left out: unknown sizes";
        }
        let array = Layout::new(&case.shape("arg_shape"), false, 1, vec![]);
        let result = array.base().broadcast_to_match_shape(case.shape("target_shape"));
        assert_eq!(result.is_ok(), case.ok());
        let Ok(view) = result else { return "refused" };
        assert_eq!(view.shape(), case.shape("out_shape"));
        assert_out(case, &view)
    });
}
