//! Elements of each type that MindSpore has.

use common::Case;
use ndarray::{Array, IxDyn};
use ndarray_broadcast::prelude::*;
use serde_json::Value;
use std::fmt::Debug;

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

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "elements are 0, 1 and 2")]
pub(crate) fn mindspore(case: &Case) -> String {
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
        "float16" => assert_dtype(case, |i| Half::of(i as f64), |value| value.as_f64().map(Half::of)),
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
