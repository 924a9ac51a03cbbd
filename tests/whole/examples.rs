//! The examples: `wine` and the same with ndarray alone; the gradients of `autodiff` against finite differences, its values,
//! and that it learns; what `shape_check` reports.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use approx::assert_relative_eq;
use autodiff::{Result, Tape, Tensor, Var, train};
use example::{Parameters, Prediction, with_crate};
use ndarray::{Array2, Axis, array};
use ndarray_broadcast::ErrorKind;
use shape_check::check;
use std::panic::catch_unwind;

#[allow(dead_code, reason = "it has a `main` of its own")]
#[path = "../../examples/wine/main.rs"]
mod example;

#[path = "with_ndarray.rs"]
mod with_ndarray;

/// Asserts that arrays are equal but for rounding.
macro_rules! assert_close {
    ($found:expr, $expected:expr) => {
        assert_relative_eq!($found, $expected, epsilon = 1e-14, max_relative = 1e-14)
    };
}

fn measured() -> Array2<f64> {
    Array2::from_shape_fn((7, 4), |(i, j)| if j == 3 { 5.0 } else { ((3 * i + 5 * j) as f64).sin() * 40.0 })
}

#[test]
fn both_texts_give_the_same() {
    let x = with_crate::standardise(&measured()).unwrap();
    assert_close!(&x, &with_ndarray::standardise(&measured()).unwrap());
    assert_close!(&with_crate::distances(&x).unwrap(), &with_ndarray::distances(&x));

    let own = Array2::from_shape_fn((7, 3), |(i, j)| f64::from(i % 3 == j));
    let mut parameters = Parameters::start(4);
    parameters.bias[1] = -0.5;
    parameters.scale[2] = 3.0;
    let (ours, plain) =
        (with_crate::predict(&x, &parameters).unwrap(), with_ndarray::predict(&x, &parameters));
    assert_close!(&ours.scaled, &plain.scaled);
    assert_close!(&ours.log_likely, &plain.log_likely);
    let (ours, plain) = (
        with_crate::gradient(&x, &own, &parameters, &ours).unwrap(),
        with_ndarray::gradient(&x, &own, &parameters, &plain),
    );
    assert_close!(&ours.scale, &plain.scale);
    assert_close!(&ours.weight, &plain.weight);
    assert_close!(&ours.bias, &plain.bias);
}

#[test]
fn a_shape_that_does_not_fit_is_an_error_in_one_and_a_panic_in_the_other() {
    let x = measured();
    let of_bias = |len| {
        let mut parameters = Parameters::start(4);
        parameters.bias = vec![0.5; len].into();
        parameters
    };
    let error = with_crate::predict(&x, &of_bias(2)).err().unwrap();
    assert_eq!((error.kind(), error.shapes().join(" ")), (ErrorKind::Incompatible, "[2] [7, 3]".into()));
    assert!(catch_unwind(|| with_ndarray::predict(&measured(), &of_bias(2))).is_err());
}

/// The gradient of a bias for all cultivars is a sum over both axes: one text has the axes from the shape, the other gives
/// an array of another shape.
#[test]
fn only_the_crates_text_takes_the_axes_from_the_shape() {
    let (x, own) = (measured(), Array2::from_shape_fn((7, 3), |(i, j)| f64::from(i % 3 == j)));
    let mut parameters = Parameters::start(4);
    parameters.bias = vec![0.5].into();
    let prediction = with_crate::predict(&x, &parameters).unwrap();
    let gradient = with_crate::gradient(&x, &own, &parameters, &prediction).unwrap();
    assert_eq!(gradient.bias.shape(), [1]);
    assert_eq!(with_ndarray::gradient(&x, &own, &parameters, &prediction).bias.shape(), [3]);
}

#[test]
fn the_picture_has_every_distance_and_the_whole_training() {
    let distances = ndarray::array![[0.0, 1.25], [1.25, 0.0]];
    let svg = example::chart::draw(&[[1.5, 0.25], [0.5, 0.75], [0.25, 1.0]], &distances);
    assert_eq!(svg.matches("1.25</text>").count(), 2);
    assert_eq!(svg.matches("<path class=\"line").count(), 2);
    assert_eq!(svg.matches('L').count(), 4);
    assert!(!svg.contains("NaN"));
    example::chart::draw(&[[f64::NAN, 0.0]], &Array2::zeros((0, 0)));
}

#[path = "../../examples/autodiff.rs"]
#[allow(dead_code, reason = "its main is not run here")]
mod autodiff;

/// Numbers from 0.5 to 1.9 without a pattern, others for each `seed`.
fn numbers(shape: &[usize], seed: usize) -> Tensor {
    let mut at = 0;
    Tensor::from_shape_simple_fn(shape, || {
        at += 1;
        1.2 + 0.7 * ((at * at + 3 * at + 11 * seed) as f64).sin()
    })
}

/// Records the operation on `values` and weighs its result, so that no two elements have the same delta.
fn weighed(op: impl Fn(&mut Tape, &[Var]) -> Result<Var>, values: &[Tensor]) -> (Tape, Vec<Var>, Var) {
    let mut tape = Tape::default();
    let leaves: Vec<Var> = values.iter().map(|value| tape.leaf(value.clone())).collect();
    let result = op(&mut tape, &leaves).unwrap();
    let weights = tape.leaf(numbers(tape.value(result).shape(), 7));
    let weighed = tape.mul(result, weights).unwrap();
    (tape, leaves, weighed)
}

/// Compares each element of each gradient with the slope of the weighed sum.
fn assert_slopes(name: &str, shapes: &[&[usize]], op: impl Fn(&mut Tape, &[Var]) -> Result<Var>) {
    const STEP: f64 = 1e-5;
    let mut values: Vec<Tensor> = shapes.iter().enumerate().map(|(i, shape)| numbers(shape, i)).collect();
    let (tape, leaves, result) = weighed(&op, &values);
    let mut gradients = tape.gradients(result).unwrap();
    for (operand, Var(leaf)) in leaves.into_iter().enumerate() {
        let gradient = gradients[leaf].take().unwrap();
        assert_eq!(gradient.shape(), shapes[operand], "{name} {shapes:?}: operand {operand}");
        let mut slopes = gradient.clone();
        for (i, slope) in slopes.iter_mut().enumerate() {
            let mut sum_after = |step: f64| {
                *values[operand].iter_mut().nth(i).unwrap() += step;
                let (tape, _, result) = weighed(&op, &values);
                *values[operand].iter_mut().nth(i).unwrap() -= step;
                tape.value(result).sum()
            };
            *slope = (sum_after(STEP) - sum_after(-STEP)) / (2.0 * STEP);
        }
        println!("{name} {shapes:?}: operand {operand}");
        // as exact as differences are
        assert_relative_eq!(gradient, slopes, epsilon = 1e-7, max_relative = 1e-7);
    }
}

#[test]
fn gradients_of_operators() {
    let pairs: [[&[usize]; 2]; 8] = [
        [&[3, 2], &[3, 2]],
        [&[3, 2], &[2]],
        [&[2], &[3, 2]],
        [&[3, 1], &[2]],
        [&[], &[2, 3]],
        [&[2, 1, 3], &[4, 1]],
        [&[0, 2], &[2]],
        [&[1], &[0]],
    ];
    for shapes in pairs {
        assert_slopes("add", &shapes, |tape, of| tape.add(of[0], of[1]));
        assert_slopes("sub", &shapes, |tape, of| tape.sub(of[0], of[1]));
        assert_slopes("mul", &shapes, |tape, of| tape.mul(of[0], of[1]));
        assert_slopes("div", &shapes, |tape, of| tape.div(of[0], of[1]));
    }
}

#[test]
fn gradients_of_a_value_used_more_than_once() {
    assert_slopes("square", &[&[2, 3]], |tape, of| tape.mul(of[0], of[0]));
    assert_slopes("x / (x + y) - x", &[&[2, 1], &[3]], |tape, of| {
        let sum = tape.add(of[0], of[1])?;
        let share = tape.div(of[0], sum)?;
        tape.sub(share, of[0])
    });
}

#[test]
fn gradients_of_means() {
    assert_slopes("mean", &[&[2, 3, 4]], |tape, of| tape.mean(of[0], 1));
    assert_slopes("mean", &[&[2, 3, 4]], |tape, of| tape.mean(of[0], [0, -1]));
    assert_slopes("mean", &[&[2, 3]], |tape, of| tape.mean(of[0], [0, 1]));
    assert_slopes("mean", &[&[]], |tape, of| tape.mean(of[0], []));
}

#[test]
fn gradients_of_linear_layers() {
    let layers: [[&[usize]; 3]; 5] = [
        [&[3, 4], &[4, 2], &[2]],
        [&[3, 4], &[4, 2], &[3, 1]],
        [&[5, 3, 4], &[4, 2], &[2]],
        [&[3, 4], &[5, 4, 2], &[5, 1, 2]],
        [&[2, 1, 3, 4], &[5, 4, 2], &[1]],
    ];
    for shapes in layers {
        assert_slopes("linear", &shapes, |tape, of| tape.linear(of[0], of[1], of[2]));
    }
}

#[test]
fn gradients_of_layer_norms() {
    let norms: [[&[usize]; 3]; 4] = [
        [&[3, 4], &[4], &[4]],
        [&[2, 3, 4], &[4], &[3, 1]],
        [&[4], &[2, 4], &[]],
        [&[3, 4], &[1], &[2, 1, 4]],
    ];
    for shapes in norms {
        assert_slopes("layer norm", &shapes, |tape, of| tape.layer_norm(of[0], of[1], of[2]));
    }
}

#[test]
fn gradients_of_softmax_cross_entropy() {
    let certain = array![[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]].into_dyn();
    let unsure = array![0.1, 0.2, 0.3, 0.4].into_dyn();
    for (shape, target) in [
        (&[3, 4][..], &certain),
        (&[2, 3, 4], &certain),
        (&[1, 4], &certain),
        (&[3, 4], &unsure),
        (&[4], &unsure),
    ] {
        assert_slopes("cross-entropy", &[shape], |tape, of| {
            tape.softmax_cross_entropy(of[0], target.clone())
        });
    }
}

#[test]
fn softmax_of_large_scores() {
    let mut tape = Tape::default();
    let scores = tape.leaf(array![[1000.0, 999.0, -1000.0], [-1e300, -1e300, -1e300]].into_dyn());
    let target = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].into_dyn();
    let losses = tape.softmax_cross_entropy(scores, target).unwrap();
    let expected = array![[(-1.0_f64).exp().ln_1p()], [3.0_f64.ln()]].into_dyn();
    assert_close!(tape.value(losses), &expected);
    let gradients = tape.gradients(losses).unwrap();
    let gradient = gradients[scores.0].as_ref().unwrap();
    assert_close!(gradient.sum_axis(Axis(1)), Tensor::zeros(vec![2]));
}

#[test]
fn values() {
    let mut tape = Tape::default();
    let x = tape.leaf(array![[1.0, 2.0], [3.0, 5.0]].into_dyn());
    let weight = tape.leaf(array![[5.0, 6.0], [7.0, 8.0]].into_dyn());
    let (bias, one) = (tape.leaf(array![1.0, -1.0].into_dyn()), tape.leaf(array![1.0].into_dyn()));
    let linear = tape.linear(x, weight, bias).unwrap();
    assert_eq!(tape.value(linear), &array![[20.0, 21.0], [51.0, 57.0]].into_dyn());
    let mean = tape.mean(linear, 0).unwrap();
    assert_eq!(tape.value(mean), &array![[35.5, 39.0]].into_dyn());
    let quotient = tape.div(x, bias).unwrap();
    assert_eq!(tape.value(quotient), &array![[1.0, -2.0], [3.0, -5.0]].into_dyn());
    let normal = tape.layer_norm(x, one, bias).unwrap();
    let row_of = |variance: f64| 1.0 - (variance / (variance + 1e-5)).sqrt();
    let expected = array![[row_of(0.25), -row_of(0.25)], [row_of(1.0), -row_of(1.0)]].into_dyn();
    assert_close!(tape.value(normal), &expected);
}

#[test]
fn shapes_that_do_not_fit() {
    let mut tape = Tape::default();
    let (x, y) = (tape.leaf(Tensor::ones(vec![2, 3])), tape.leaf(Tensor::ones(vec![2])));
    let error = tape.add(x, y).unwrap_err();
    assert_eq!((error.kind(), error.axis()), (ErrorKind::Incompatible, Some(1)));
    assert!(tape.layer_norm(x, y, x).is_err());
    assert!(tape.softmax_cross_entropy(x, Tensor::ones(vec![2])).is_err());
    assert!(tape.mean(x, 2).is_err());
    let (weight, bias) = (tape.leaf(Tensor::ones(vec![3, 1])), tape.leaf(Tensor::ones(vec![4])));
    assert!(tape.linear(x, y, bias).is_err());
    let error = tape.linear(x, weight, bias).unwrap_err();
    assert_eq!((error.kind(), error.shapes().join(" ")), (ErrorKind::Incompatible, "[4] [2, 1]".into()));
    assert_eq!(tape.leaf(Tensor::ones(vec![1])).0, 4, "an error records nothing");
}

#[test]
fn it_learns() {
    let (untaught, taught) = (train(1).unwrap(), train(60).unwrap());
    assert!(untaught < 0.9 && taught > 0.95, "{untaught} and {taught}");
}

#[path = "../../examples/shape_check.rs"]
#[allow(dead_code, reason = "its main is not run here")]
mod shape_check;

/// As in the example, whose manifest is in the folder above.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/shape_check.txt");

#[test]
fn shipped_file() {
    let (report, good) = check(&std::fs::read_to_string(SHIPPED).unwrap());
    assert!(good, "{report}");
    assert!(report.starts_with("line 6: bias: verified\n"), "{report}");
    assert!(report.contains("\nline 17: cast: to check: axis 0 of operand 0 is 4\n"), "{report}");
    assert!(report.ends_with("7 verified, 4 to check, 5 refused, 4 broken\n"), "{report}");
}

#[test]
fn a_broken_line_stops_nothing() {
    let (report, good) = check("\u{feff}a: 2 -> 2\r\nb: 2xx -> 2\r\n\r\n# c\r\n? -> n # d\r\n");
    assert!(!good);
    assert_eq!(
        report,
        "line 1: a: verified\n\
         line 2: b: broken: cannot read \"2xx\": position 2 needs a size, ?, a range such as 2..5 or a name\n\
         line 5: ? -> n: verified\n\
         2 verified, 0 to check, 0 refused, 1 broken\n",
    );
}

#[test]
fn what_should_fail_and_does_not() {
    assert!(!check("2, 3 -> 3").1 && check("! 2, 3 -> 3").1 && check("").1);
    let (report, good) = check("! 3 -> 3");
    assert!(!good && report.contains("line 1: should have been refused or broken\n"), "{report}");
}
