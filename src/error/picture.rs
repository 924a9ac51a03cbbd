//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::shape::Cell;
use super::{BroadcastError, ErrorKind, HAS, Mark, Report, Request};
use alloc::{format, string::String, string::ToString, vec, vec::Vec};
use core::mem::ManuallyDrop;

/// A shape's sizes with their columns, in ascending order.
struct Row {
    cells: Vec<(usize, String)>,
    /// `[`, `(` for a shape with a batch, or `*` for any number of axes.
    open: &'static str,
    /// Whether the row stands in the columns of the base.
    is_base: bool,
}

/// The rows of a picture and their common columns.
struct Drawing {
    rows: Vec<Row>,
    /// The end of each column.
    ends: Vec<usize>,
    /// The number of columns before the bases or, for named and placed axes, of the target.
    batch: usize,
    /// The width of all sizes.
    sizes: usize,
}

/// The width of an indentation and a bracket.
const START: usize = 3;

impl Drawing {
    fn new(report: &Report) -> Self {
        let (rows, batch) = match report.operation.layout {
            Layout::Alone => (Vec::new(), 0),
            Layout::SummedToPlaced if report.operands > 1 => (Vec::new(), 0),
            Layout::Summed if report.operands > 1 => right(report),
            Layout::Along | Layout::Placed | Layout::Summed | Layout::SummedToPlaced => by_axis(report),
            Layout::Right | Layout::RightBases | Layout::TargetIsBase => right(report),
        };
        // the widths of the columns, then their ends
        let (mut ends, mut end, mut sizes) = (Vec::new(), START - 2, 0);
        for row in &rows {
            if batch == 0 && row.open == "(" {
                end = START;
            }
            for &(column, ref text) in &row.cells {
                if ends.len() <= column {
                    ends.resize(column + 1, 0);
                }
                ends[column] = text.len().max(ends[column]);
                sizes += text.len() + 2;
            }
        }
        for width in &mut ends {
            end += 2 + *width;
            *width = end;
        }
        Self { rows, ends, batch, sizes }
    }

    /// The rows, each after a line break, unless there are far more spaces than sizes. The last may be `below_rule`.
    fn text(&self, below_rule: bool) -> Option<String> {
        if self.rows.len().saturating_mul(self.end_of(self.ends.len())) > 8 * (100 + self.sizes) {
            return None;
        }
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let line = self.line(row);
            if below_rule && i + 1 == self.rows.len() {
                text += "\n  ";
                text += &"-".repeat(line.len() - 2);
            }
            text += "\n";
            text += &line;
        }
        Some(text)
    }

    /// The end of the first `columns` columns.
    fn end_of(&self, columns: usize) -> usize {
        if columns == 0 || columns > self.ends.len() { START } else { self.ends[columns - 1] }
    }

    fn line(&self, row: &Row) -> String {
        if row.open == "*" {
            return "  *".into();
        }
        let batch = self.end_of(self.batch);
        let mut line = String::new();
        put(&mut line, if row.is_base { batch + 1 } else { START - 1 }, row.open);
        let (mut before_base, close) = if row.open == "(" { (true, ")") } else { (false, "]") };
        for (i, &(column, ref text)) in row.cells.iter().enumerate() {
            if before_base && column >= self.batch {
                put(&mut line, batch, ";");
                before_base = false;
            } else if i > 0 {
                line += ",";
            }
            put(&mut line, self.ends[column] - text.len(), text);
        }
        if before_base {
            put(&mut line, batch, ";");
        } else if row.cells.is_empty() {
            put(&mut line, batch, "");
        }
        line + close
    }

    /// The position of a caret under an axis, if the picture has the axis.
    fn caret(&self, mark: Mark, layout: Layout) -> Option<usize> {
        let column = match mark {
            Mark::Result(axis) if layout == Layout::RightBases => self.batch + axis,
            Mark::Result(axis) => axis,
            Mark::Shape(_, axis) if layout == Layout::Placed => axis,
            Mark::Shape(..) if layout == Layout::SummedToPlaced => return None,
            Mark::Shape(shape, axis) => self.rows.get(shape)?.cells.get(axis)?.0,
        };
        Some(self.ends.get(column)? - 1)
    }
}

/// Adds `text` to a line, after spaces up to the position `at`.
fn put(line: &mut String, at: usize, text: &str) {
    while line.len() < at {
        line.push(' ');
    }
    line.push_str(text);
}

/// The rows of shapes aligned at the right, and the number of columns before the base.
fn right(report: &Report) -> (Vec<Row>, usize) {
    let layout = report.operation.layout;
    let (mut batch, mut bases, mut rows) = (0, 0, Vec::new());
    let is_base = |k: usize| layout == Layout::TargetIsBase && k >= report.operands;
    let own_base =
        |k| if is_base(k) { report.shapes[k].cells().len() } else { report.shapes[k].parts()[1].len() };
    for (k, shape) in report.shapes.iter().enumerate() {
        batch = batch.max(shape.cells().len() - own_base(k));
        bases = bases.max(own_base(k));
    }
    for (k, shape) in report.shapes.iter().enumerate() {
        let (sizes, base) = (shape.cells(), own_base(k));
        let own_batch = sizes.len() - base;
        let base_start = batch + if layout == Layout::RightBases { bases - base } else { 0 };
        let mut cells = Vec::with_capacity(sizes.len());
        for (i, size) in sizes.iter().enumerate() {
            let start = if i < own_batch { batch } else { base_start };
            cells.push((start + i - own_batch, size.to_string()));
        }
        rows.push(Row { cells, open: shape.open(), is_base: is_base(k) });
    }
    (rows, batch)
}

/// The rows of the target and, above it, the array's sizes at their axes, or `*` at the named axes. For a
/// sum, the rows of the array and, below it, `*` or the target's sizes.
fn by_axis(report: &Report) -> (Vec<Row>, usize) {
    let (layout, axes) = (report.operation.layout, &report.axes);
    let is_sum = matches!(layout, Layout::Summed | Layout::SummedToPlaced);
    let placed = matches!(layout, Layout::Placed | Layout::SummedToPlaced);
    // the shape with all axes, and the sizes that are written at some of them
    let (first, last) = (&report.shapes[0], &report.shapes[report.shapes.len() - 1]);
    let (whole, part) = if is_sum { (first, last) } else { (last, first) };
    let own = if layout == Layout::Summed { &[] } else { part.cells() };
    let ndim = whole.cells().len();
    let width = if layout == Layout::Along { ndim.max(own.len() + axes.len()) } else { ndim };
    let mut texts = vec![String::new(); width];
    // whether each size has a place of its own
    let mut fits = !placed || own.len() == axes.len();
    let mut own = own.iter().map(Cell::to_string);
    for &axis in axes {
        let position = usize::try_from(if axis < 0 { axis + ndim as i128 } else { axis });
        match position {
            Ok(position) if position < width && !placed => texts[position] = "*".into(),
            Ok(position) if position < width && texts[position].is_empty() => {
                texts[position] = own.next().unwrap_or_default();
            }
            _ => fits &= !placed,
        }
    }
    let mut cells = Vec::with_capacity(width);
    for (axis, mut text) in texts.into_iter().enumerate() {
        if text.is_empty() {
            text = own.next().unwrap_or_default();
        }
        if !text.is_empty() {
            cells.push((axis, text));
        }
    }
    let all = whole.cells().iter().map(Cell::to_string).enumerate().collect();
    let mut rows = vec![Row { cells: all, open: whole.open(), is_base: false }];
    if fits && (layout != Layout::Summed || !cells.is_empty()) {
        rows.insert(usize::from(is_sum), Row { cells, open: part.open(), is_base: false });
    }
    (rows, ndim)
}

impl BroadcastError {
    /// The lines that `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let Report { kind, operation, text, subject, detail, marks, .. } = &*self.0;
        let mut picture;
        let mut carets = Vec::new();
        if *kind == ErrorKind::InvalidText {
            let before: String = text.chars().take(self.position()?).collect();
            // a line of its own: programs print messages after a prefix
            picture = format!("\n  {text:?}");
            carets.push("  ".len() + format!("{before:?}").chars().count() - 1);
        } else {
            let drawing = Drawing::new(&self.0);
            picture = drawing.text(false)?;
            carets.extend(marks.iter().filter_map(|&mark| drawing.caret(mark, operation.layout)));
            if drawing.rows.len() + carets.len() < 2 {
                return None;
            }
        }
        picture += "\n";
        for at in 0..=carets.iter().copied().max().unwrap_or(0) {
            picture += if carets.contains(&at) { "^" } else { " " };
        }
        match detail.strip_prefix(HAS).filter(|_| !carets.is_empty()) {
            Some(sizes) => Some(format!("{picture} {subject}: {sizes}")),
            None => Some(format!("{picture} {subject}{detail}")),
        }
    }
}

impl Request {
    /// The operation, its shapes and the `result` below them.
    pub(crate) fn explained(self, result: &[usize]) -> String {
        let report = ManuallyDrop::into_inner(self.to(&result).0);
        let words = report.to_string();
        match Drawing::new(&report).text(true) {
            Some(picture) => words + &picture,
            None => format!("{words}: the result is {result:?}"),
        }
    }
}
