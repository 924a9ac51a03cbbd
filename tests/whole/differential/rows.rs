//! The rows of the tables, and which of them the cases run.

use common::Case;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

thread_local! {
    /// The expressions that the current case has run.
    static RUN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Forgets the expressions of the last case.
pub(super) fn forget() {
    RUN.take();
}

/// Notes an expression.
pub(super) fn note(expression: &str) {
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
pub(super) struct Rows {
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
    pub(super) fn count(&mut self, calls: &[Value]) {
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
    pub(super) fn report(&self) -> (String, Vec<String>) {
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
        ("sum_axes_keepdims", "delta.sum_axes(keepdims(axes))?"),
        ("sum_in_dim(shape, axes)", "delta.sum_in_dim(shape, axes)"),
    ] {
        assert!(is_run(span, &normal(expression)), "{span}");
    }
    for (span, expression) in [
        ("x.sum_axes([0, 2])?", "x.sum_axes([0, 1])"),
        ("broadcast_map((&a, &b, &c), …)?", "broadcast_map((&a, &b), |a, b| a * b)"),
        ("sum_axes", "delta.sum_axes(keepdims(axes))?"),
        ("x.sum_axes(axes)", "x.sum_axes(axes)?.view()"),
        ("sum_in_dim(shape, axes)", "delta.add_sum_in_dim(shape, axes)"),
    ] {
        assert!(!is_run(span, &normal(expression)), "{span}");
    }
}
