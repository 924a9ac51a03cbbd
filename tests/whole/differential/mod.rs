//! The crate against NumPy and PyTorch on random cases, which `tests/numpy/run` and `tests/torch/run` make and have
//! checked here.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::many_single_char_names, reason = "operands have the names that the tables give them")]
#![allow(clippy::needless_pass_by_value, reason = "closures over bases get views by value")]

/// Evaluates an expression and notes that this case runs it: a row of the tables may have it on its right.
macro_rules! here {
    ($expression:expr) => {{
        $crate::differential::rows::note(stringify!($expression));
        $expression
    }};
}

mod batches;
mod gradients;
mod maps;
mod rows;
mod sums;
mod views;

use common::{Case, Layout, Number, assert_strides, layout_in};
use ndarray::{ArrayD, ArrayRef, Dimension};
use ndarray_broadcast::BroadcastError;
use rows::Rows;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

type Outcome<T> = Result<T, BroadcastError>;

#[test]
#[ignore = "needs the cases that tests/numpy/run and tests/torch/run make; run one of them"]
fn agrees_with_another_system() {
    let path = std::env::var_os("CASES").expect("CASES is a file: run tests/numpy/run or tests/torch/run");
    let mut lines = BufReader::new(File::open(path).unwrap()).lines();
    let mut next = || lines.next().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let head = Case::from(next().expect("a first line"));
    let mut rows = Rows::from(&head);
    let (mut tally, mut wrong) = (BTreeMap::<String, [usize; 2]>::new(), vec![]);
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    for value in std::iter::from_fn(&mut next) {
        let case = Case::from(value.clone());
        tally.entry(case.text("op").to_owned()).or_default()[usize::from(case.ok())] += 1;
        rows::forget();
        match catch_unwind(AssertUnwindSafe(|| check(&case))) {
            Ok(()) if case.ok() => rows.count(case.list("calls")),
            Ok(()) => {}
            Err(panic) => wrong.push((value, words(&*panic))),
        }
    }
    set_hook(hook);
    let count: usize = tally.values().flatten().sum();
    println!("{count} cases, seed {}, {} {}", head.get("seed"), head.text("system"), head.text("version"));
    for (op, [refused, accepted]) in &tally {
        println!("    {op}: {accepted} with results, {refused} refused");
    }
    let (lines, missing) = rows.report();
    println!("{lines}{} mismatches", wrong.len());
    for (case, what) in wrong.iter().take(5) {
        println!("\n{what}\nin case {case}");
    }
    let (cases, kinds) = (head.size("cases"), head.size("kinds"));
    drop(head);
    assert_eq!(cases, count, "the file is whole");
    assert_eq!(kinds, tally.len());
    assert!(tally.values().all(|[_, accepted]| *accepted > 0), "each kind of case has results");
    assert!(wrong.is_empty(), "{} of {count} cases differ", wrong.len());
    assert!(missing.is_empty(), "no case with a result runs:\n{}", missing.join("\n"));
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn check(case: &Case) {
    match case.text("op") {
        "broadcast_to" => views::to_target(case),
        "to_three_columns" => views::to_three_columns(case),
        "expand_as" => views::to_anothers_shape(case),
        "broadcast_arrays" => views::together(case),
        "broadcast_shapes" => views::shapes(case),
        "symbolic_shapes" => views::symbolic_shapes(case),
        "broadcast_axes" => views::along(case),
        "new_axis" => views::new_axis(case),
        "broadcast_in_dim" => views::placed(case),
        "sum_axes" => sums::over_axes(case),
        "sums_as_written" => sums::as_written(case),
        "sum_to" => sums::back(case),
        "sum_into" => sums::into_existing(case),
        "means" => sums::means(case),
        "reductions" => sums::reductions(case),
        "counts" => sums::counts(case),
        "axis_sets" => sums::axis_sets(case),
        "maps" => maps::passes(case),
        "sum_of_products" => maps::sum_of_products(case),
        "copies" => maps::copies(case),
        "product" => batches::product(case),
        "outer" => batches::outer(case),
        "transposed" => batches::transposed(case),
        "vectorized" => batches::vectorized(case),
        "vmap" => batches::mapped(case),
        "elementwise" => batches::elementwise(case),
        "batch_views" => batches::views(case),
        "gradient_of_view" => gradients::of_view(case),
        "gradient_of_product" => gradients::of_product(case),
        "gradient_of_batches" => gradients::of_batches(case),
        op => panic!("unknown operation {op}"),
    }
}

/// The result, if the other system has one too; else neither has.
#[track_caller]
fn agreed<T>(case: &Case, result: Outcome<T>) -> Option<T> {
    match result {
        Ok(value) => {
            assert!(case.ok(), "the other system says {}", case.text("error"));
            Some(value)
        }
        Err(error) => {
            assert!(!case.ok(), "the other system has a result, here it is {error:?}");
            None
        }
    }
}

/// Compares an array with one of the recorded results.
#[track_caller]
fn assert_result<A: Number + Clone + PartialEq + Debug, D: Dimension>(
    array: &ArrayRef<A, D>,
    expected: &Case,
) {
    assert_eq!(array.shape(), expected.shape("shape"));
    assert_eq!(array.iter().cloned().collect::<Vec<A>>(), expected.numbers("out"));
}

/// As [`assert_result`], and the strides.
#[track_caller]
fn assert_view<D: Dimension>(array: &ArrayRef<i64, D>, expected: &Case) {
    assert_result(array, expected);
    assert_strides(array, &expected.numbers::<Option<i64>>("strides"));
}

/// The arrays of a list of descriptions.
fn layouts(case: &Case) -> Vec<Layout> {
    case.cases("operands").iter().map(layout_in).collect()
}

/// The array of a description.
fn described(case: &Case, field: &str) -> Layout {
    layout_in(&Case::from(case.get(field).clone()))
}

fn source(case: &Case) -> Layout {
    described(case, "source")
}

/// The array to write to.
fn onto(case: &Case) -> ArrayD<i64> {
    let layout = described(case, "onto");
    layout.steps_from(layout.base().clone())
}

/// The recorded result of this name, which is a list of one.
fn recorded(case: &Case, field: &str) -> Case {
    case.cases(field).swap_remove(0)
}
