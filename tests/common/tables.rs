//! Tables recorded from other systems, as JSON.

use crate::model::signed;
use crate::strided::{Layout, Strided};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// One case of a table.
pub struct Case(Value);

/// Prints the case that was running when a test failed.
impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in case {}", self.0);
        }
    }
}

impl From<Value> for Case {
    fn from(value: Value) -> Self {
        Case(value)
    }
}

impl Case {
    pub fn get(&self, field: &str) -> &Value {
        self.0.get(field).unwrap_or_else(|| panic!("no field {field}"))
    }

    pub fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some()
    }

    pub fn ok(&self) -> bool {
        self.get("ok").as_bool().expect("a truth value")
    }

    pub fn text(&self, field: &str) -> &str {
        self.get(field).as_str().expect("a text")
    }

    /// The numbers of a field: a shape, a target, elements.
    pub fn numbers<N: Number>(&self, field: &str) -> Vec<N> {
        numbers(self.get(field))
    }

    /// The sizes of a field.
    pub fn shape(&self, field: &str) -> Vec<usize> {
        self.numbers(field)
    }

    /// A field that is one number.
    pub fn size(&self, field: &str) -> usize {
        usize::read(self.get(field)).expect("a size")
    }

    /// The values of a field that is a list.
    pub fn list(&self, field: &str) -> &[Value] {
        list(self.get(field))
    }

    /// Whether a field is a shape with known sizes only.
    pub fn is_known(&self, field: &str) -> bool {
        self.get(field).as_array().is_some_and(|sizes| sizes.iter().all(Value::is_number))
    }

    /// The entries of a field that is a list of objects.
    pub fn cases(&self, field: &str) -> Vec<Case> {
        list(self.get(field)).iter().cloned().map(Case).collect()
    }

    /// The entries of a field that is a list of lists of numbers.
    pub fn rows<N: Number>(&self, field: &str) -> Vec<Vec<N>> {
        list(self.get(field)).iter().map(numbers).collect()
    }
}

/// A type for the numbers of a table; `Option` reads `null`.
pub trait Number: Sized {
    fn read(value: &Value) -> Option<Self>;
}

impl Number for usize {
    fn read(value: &Value) -> Option<Self> {
        i64::read(value)?.try_into().ok()
    }
}
impl Number for i64 {
    /// Whole numbers may be written `1.0`.
    #[allow(clippy::cast_possible_truncation, reason = "of whole numbers in the tables, all small")]
    fn read(value: &Value) -> Option<Self> {
        let whole = |x: &f64| x.fract() == 0.0 && x.abs() < 1e15;
        value.as_i64().or_else(|| value.as_f64().filter(whole).map(|x| x as i64))
    }
}
impl Number for isize {
    fn read(value: &Value) -> Option<Self> {
        i64::read(value)?.try_into().ok()
    }
}
impl Number for f64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}
impl<N: Number> Number for Option<N> {
    fn read(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { N::read(value).map(Some) }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn numbers<N: Number>(value: &Value) -> Vec<N> {
    let number = |value| N::read(value).unwrap_or_else(|| panic!("not such a number: {value}"));
    list(value).iter().map(number).collect()
}

/// Runs every case of a table's list. `check` returns the kind of the case. The number of cases of each
/// kind must be as expected, so that no case is lost.
pub fn run<K: Into<String>>(table: &str, name: &str, expected: &[(&str, usize)], check: impl Fn(&Case) -> K) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden").join(table).with_extension("json");
    let text = std::fs::read_to_string(&path).expect("the table is there");
    let table_value: Value = serde_json::from_str(&text).expect("the table is JSON");
    let mut tally = BTreeMap::<String, usize>::new();
    for value in list(&table_value[name]) {
        *tally.entry(check(&Case(value.clone())).into()).or_default() += 1;
    }
    println!("{table}/{name}: {} cases: {tally:?}", tally.values().sum::<usize>());
    let expected = expected.iter().map(|&(kind, count)| (kind.to_owned(), count)).collect();
    assert_eq!(tally, expected, "cases of {table}/{name}");
}

/// The operands of a NumPy case. If the case has shapes only, they are arrays that count from 0, 100 and so on.
pub fn operands_in(case: &Case) -> Vec<Strided<i64>> {
    if case.has("operands") {
        return case.cases("operands").iter().map(array_in).collect();
    }
    let operand = |(k, shape): (usize, &Vec<usize>)| Strided::numbered(Layout::plain(shape), 100 * signed(k));
    case.rows("shapes").iter().enumerate().map(operand).collect()
}

/// The array that a NumPy case describes: one in C or F order, stretched, and the steps to a view of it.
pub fn array_in(case: &Case) -> Strided<i64> {
    let shape = case.shape("base_shape");
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if case.text("order") == "F" {
        order.reverse();
    }
    let start = if case.has("start") { signed(case.size("start")) } else { 0 };
    let Strided { mut layout, cells } = Strided::numbered(Layout::ordered(&shape, &order), start);
    if case.has("repeated") {
        layout = layout.stretched(&case.shape("repeated"));
    }
    for op in case.cases("ops") {
        layout = match op.text("op") {
            "permute" => layout.permuted(&op.shape("axes")),
            "invert" => layout.inverted(op.size("axis")),
            "slice" => layout.sliced(op.size("axis"), op.size("start"), op.size("end"), op.size("step")),
            op => panic!("unknown step {op}"),
        };
    }
    Strided { layout, cells }
}

/// The array of a PyTorch case: permuted to `memory_order`, made contiguous, and permuted back. It counts in memory.
pub fn torch_array(case: &Case) -> Strided<i64> {
    let shape = case.shape("shape");
    let order =
        if case.has("memory_order") { case.shape("memory_order") } else { (0..shape.len()).collect() };
    Strided::new(Layout::ordered(&shape, &order).for_copies(), signed)
}
