//! The crate against NumPy and PyTorch on random cases: `tests/numpy/run` and `tests/torch/run` make a file of them, which is the
//! argument.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::many_single_char_names, reason = "operands have the names that the tables give them")]
#![allow(clippy::float_cmp, reason = "infinities are equal")]
#![allow(clippy::needless_pass_by_value, reason = "closures over bases get views by value")]

/// Evaluates an expression and notes that this case runs it: a row of the tables may have it on its right.
macro_rules! here {
    ($expression:expr) => {{
        $crate::note(stringify!($expression));
        $expression
    }};
}

mod operations;
#[allow(dead_code, reason = "one recipe has a test alone")]
mod recipes;
mod sums;
mod views;

use common::{Case, Number, Strided, array_in, assert_strides};
use ndarray::{ArrayD, ArrayRef, ArrayView, Dimension};
use ndarray_broadcast::BroadcastError;
use serde_json::Value;
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::str::FromStr;

type Outcome<T> = Result<T, BroadcastError>;

fn main() {
    let path = std::env::args_os().nth(1).expect("a file of cases: run tests/numpy/run or tests/torch/run");
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
        forget();
        match catch_unwind(AssertUnwindSafe(|| compare(&case))) {
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

fn compare(case: &Case) {
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
        "special_numbers" => sums::special_numbers(case),
        "recipes" => recipes::check(case),
        "statistics" => recipes::statistics(case),
        "axis_sets" => sums::axis_sets(case),
        "maps" => operations::passes(case),
        "sum_of_products" => operations::sum_of_products(case),
        "copies" => operations::copies(case),
        "product" => operations::product(case),
        "outer" => operations::outer(case),
        "transposed" => operations::transposed(case),
        "vectorized" => operations::vectorized(case),
        "vmap" => operations::mapped(case),
        "elementwise" => operations::elementwise(case),
        "batch_views" => operations::views(case),
        "gradient_of_view" => sums::of_view(case),
        "gradient_of_product" => sums::of_product(case),
        "gradient_of_batches" => sums::of_batches(case),
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

/// Compares a result with the recorded one of this name, or that there is none.
#[track_caller]
fn check<T, A, D>(case: &Case, field: &str, result: Outcome<T>)
where
    T: Deref<Target = ArrayRef<A, D>>,
    A: Number + Clone + PartialEq + Debug,
    D: Dimension,
{
    if let Some(result) = agreed(case, result) {
        assert_result(&result, &recorded(case, field));
    }
}

/// As [`check`], and the strides.
#[track_caller]
fn check_view<D: Dimension>(case: &Case, field: &str, result: Outcome<ArrayView<'_, i64, D>>) {
    if let Some(result) = agreed(case, result) {
        assert_view(&result, &recorded(case, field));
    }
}

/// As [`assert_result`], and the strides.
#[track_caller]
fn assert_view<D: Dimension>(array: &ArrayRef<i64, D>, expected: &Case) {
    assert_result(array, expected);
    assert_strides(array, &expected.numbers::<Option<i64>>("strides"));
}

/// The arrays of a list of descriptions.
fn layouts(case: &Case) -> Vec<Strided<i64>> {
    case.cases("operands").iter().map(array_in).collect()
}

/// A recorded list of texts, which have NaN and infinities.
fn texts<A: FromStr<Err: Debug>>(of: &Case, field: &str) -> Vec<A> {
    of.list(field).iter().map(|text| text.as_str().unwrap().parse().unwrap()).collect()
}

/// Asserts that numbers are equal but for rounding; NaN equals NaN.
#[track_caller]
fn assert_near<'a>(found: impl ExactSizeIterator<Item = &'a f64>, expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (&found, &expected) in found.zip(expected) {
        let near = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
        assert!(
            found == expected || near || (found.is_nan() && expected.is_nan()),
            "{what}: {found}, there {expected}"
        );
    }
}

/// The array of a description.
fn described(case: &Case, field: &str) -> Strided<i64> {
    array_in(&Case::from(case.get(field).clone()))
}

fn source(case: &Case) -> Strided<i64> {
    described(case, "source")
}

/// The array to write to.
fn onto(case: &Case) -> ArrayD<i64> {
    described(case, "onto").into_array()
}

/// The recorded result of this name, which is a list of one.
fn recorded(case: &Case, field: &str) -> Case {
    case.cases(field).swap_remove(0)
}

thread_local! {
    /// The expressions that the current case has run.
    static RUN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Forgets the expressions of the last case.
fn forget() {
    RUN.take();
}

/// Notes an expression.
fn note(expression: &str) {
    RUN.with_borrow_mut(|run| run.insert(normal(expression)));
}

/// An expression without spaces, trailing commas and a `?` at its end.
fn normal(expression: &str) -> String {
    let text: String = expression.chars().filter(|c| !c.is_whitespace()).collect();
    text.replace(",)", ")").trim_end_matches('?').to_owned()
}

/// A row: its calls in the other system, and its expressions of this crate.
struct Row {
    at: String,
    calls: Vec<String>,
    here: Vec<String>,
}

/// All rows, and how many cases ran each call together with each expression.
struct Rows {
    rows: Vec<Row>,
    run: BTreeMap<(String, String), usize>,
}

impl From<&Case> for Rows {
    fn from(head: &Case) -> Self {
        let texts = |row: &Case, field: &str| row.list(field).iter().map(text).collect();
        let row = |row: Case| Row {
            at: row.text("at").to_owned(),
            calls: texts(&row, "calls"),
            here: texts(&row, "here"),
        };
        Self { rows: head.cases("rows").into_iter().map(row).collect(), run: BTreeMap::new() }
    }
}

impl Rows {
    /// Counts the expressions of this case with the calls that gave its result.
    fn count(&mut self, calls: &[Value]) {
        RUN.with_borrow(|run| {
            for call in calls {
                for expression in run {
                    *self.run.entry((text(call), expression.clone())).or_default() += 1;
                }
            }
        });
    }

    /// A line for each row, with the number of cases that ran each of its calls and expressions at least; and those
    /// that no case ran.
    fn report(&self) -> (String, Vec<String>) {
        let (mut lines, mut missing) = (String::new(), vec![]);
        for Row { at, calls, here } in &self.rows {
            let count = |call: &dyn Fn(&str) -> bool, part: &dyn Fn(&str) -> bool| -> usize {
                self.run.iter().filter(|((c, e), _)| call(c) && part(e)).map(|(_, count)| count).sum()
            };
            let any = |expression: &str| here.iter().any(|span| is_run(span, expression));
            let mine = |call: &str| calls.iter().any(|it| it == call);
            let of_calls = calls.iter().map(|call| (call, count(&|it| it == call, &any)));
            let of_here = here.iter().map(|span| (span, count(&mine, &|it| is_run(span, it))));
            let counts: Vec<(&String, usize)> = of_calls.chain(of_here).collect();
            let least = counts.iter().map(|(_, count)| *count).min().unwrap_or(0);
            writeln!(lines, "    {at}: {least} cases of {}", calls.join(", ")).expect("a text has room");
            missing.extend(counts.iter().filter(|(_, n)| *n == 0).map(|(part, _)| format!("{at}: {part}")));
        }
        (lines, missing)
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Whether an expression is what a table says: `…` stands for anything, a receiver may be left out, and a name alone for
/// every expression that has it.
fn is_run(span: &str, expression: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if span.chars().all(is_name) {
        return expression.split(|c| !is_name(c)).any(|word| word == span);
    }
    let span = normal(span);
    let parts: Vec<&str> = span.split('…').collect();
    let starts = expression.match_indices(parts[0]).map(|(at, _)| at);
    starts.filter(|&at| at == 0 || expression[..at].ends_with('.')).any(|at| {
        let mut rest = &expression[at + parts[0].len()..];
        for (i, part) in parts.iter().enumerate().skip(1) {
            let found = if i + 1 == parts.len() { rest.rfind(part) } else { rest.find(part) };
            let Some(found) = found else { return false };
            rest = &rest[found + part.len()..];
        }
        rest.is_empty()
    })
}

#[test]
fn rows_are_found_in_expressions() {
    for (span, expression) in [
        ("x.sum_axes([0, 2])?", "x.sum_axes([0, 2])"),
        ("broadcast_map((&a, &b, &c), …)?", "broadcast_map((&a, &b, &c), |a, b, c| a * b + c)"),
        ("broadcast_arrays((&x, &y, …))", "broadcast_arrays((&x, &y, &z,))"),
        ("sum_axes(keepdims(axes))", "delta.sum_axes(keepdims(axes))?"),
        ("sum_in_dim(shape, axes)", "delta.sum_in_dim(shape, axes)"),
    ] {
        assert!(is_run(span, &normal(expression)), "{span}");
    }
    for (span, expression) in [
        ("x.sum_axes([0, 2])?", "x.sum_axes([0, 1])"),
        ("broadcast_map((&a, &b, &c), …)?", "broadcast_map((&a, &b), |a, b| a * b)"),
        ("x.sum_axes(axes)", "x.sum_axes(axes)?.view()"),
        ("sum_in_dim(shape, axes)", "delta.add_sum_in_dim(shape, axes)"),
    ] {
        assert!(!is_run(span, &normal(expression)), "{span}");
    }
}
