//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::{BroadcastError, ErrorKind, Mark, Report, Request, Shape};
use alloc::{format, string::String, string::ToString, vec, vec::Vec};
use core::mem::ManuallyDrop;

/// A shape's sizes with their columns, in ascending order.
struct Row<'a> {
    cells: Vec<(usize, &'a str)>,
    /// `[`, `(` for a shape with a batch, or `*` for any number of axes.
    open: &'static str,
    /// Whether the row stands in the columns of the base.
    is_base: bool,
}

/// The rows of a picture and their common columns.
struct Drawing<'a> {
    rows: Vec<Row<'a>>,
    /// The end of each column.
    ends: Vec<usize>,
    /// The number of columns before the bases or, for named and placed axes, of the target.
    batch: usize,
    /// The width of all sizes.
    sizes: usize,
}

/// The words between an axis and its sizes.
const HAS_SIZE: &str = " has size";
/// The width of an indentation and a bracket.
const START: usize = 3;

impl<'a> Drawing<'a> {
    fn new(report: &'a Report) -> Self {
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
            for &(column, text) in &row.cells {
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

    fn line(&self, row: &Row<'_>) -> String {
        if row.open == "*" {
            return "  *".into();
        }
        let batch = self.end_of(self.batch);
        let mut line = String::new();
        put(&mut line, if row.is_base { batch + 1 } else { START - 1 }, row.open);
        let (mut before_base, close) = if row.open == "(" { (true, ")") } else { (false, "]") };
        for (i, &(column, text)) in row.cells.iter().enumerate() {
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
fn right(report: &Report) -> (Vec<Row<'_>>, usize) {
    let layout = report.operation.layout;
    let (mut batch, mut bases, mut shapes, mut rows) = (0, 0, Vec::new(), Vec::new());
    for (k, shape) in report.shapes.iter().enumerate() {
        let cells = shape.cells();
        let is_base = layout == Layout::TargetIsBase && k >= report.operands;
        let base = if is_base { cells.len() } else { shape.base.unwrap_or(0).min(cells.len()) };
        batch = batch.max(cells.len() - base);
        bases = bases.max(base);
        let open = if shape.base.is_some() { "(" } else { "[" };
        shapes.push((cells, base, if shape.text.starts_with('*') { "*" } else { open }, is_base));
    }
    for (sizes, base, open, is_base) in shapes {
        let own_batch = sizes.len() - base;
        let base_start = batch + if layout == Layout::RightBases { bases - base } else { 0 };
        let mut cells = Vec::with_capacity(sizes.len());
        for (i, size) in sizes.into_iter().enumerate() {
            let start = if i < own_batch { batch } else { base_start };
            cells.push((start + i - own_batch, size));
        }
        rows.push(Row { cells, open, is_base });
    }
    (rows, batch)
}

/// The rows of the target and, above it, the array's sizes at their axes, or `*` at the named axes. For a
/// sum, the rows of the array and, below it, `*` or the target's sizes.
fn by_axis(report: &Report) -> (Vec<Row<'_>>, usize) {
    let (layout, axes) = (report.operation.layout, &report.axes);
    let is_sum = matches!(layout, Layout::Summed | Layout::SummedToPlaced);
    let placed = matches!(layout, Layout::Placed | Layout::SummedToPlaced);
    // the shape with all axes, and the sizes that are written at some of them
    let (first, last) = (&report.shapes[0], &report.shapes[report.shapes.len() - 1]);
    let (whole, part) = if is_sum { (first, last) } else { (last, first) };
    let own = if layout == Layout::Summed { Vec::new() } else { part.cells() };
    let all = whole.cells();
    let ndim = all.len();
    let width = if layout == Layout::Along { ndim.max(own.len() + axes.len()) } else { ndim };
    let mut texts = vec![""; width];
    // whether each size has a place of its own
    let mut fits = !placed || own.len() == axes.len();
    let mut own = own.into_iter();
    for &axis in axes {
        let position = usize::try_from(if axis < 0 { axis + ndim as i128 } else { axis });
        match position {
            Ok(position) if position < width && !placed => texts[position] = "*",
            Ok(position) if position < width && texts[position].is_empty() => {
                texts[position] = own.next().unwrap_or_default();
            }
            _ => fits &= !placed,
        }
    }
    let (mut cells, mut all_cells) = (Vec::with_capacity(width), Vec::with_capacity(ndim));
    for (axis, mut text) in texts.into_iter().enumerate() {
        if text.is_empty() {
            text = own.next().unwrap_or_default();
        }
        if !text.is_empty() {
            cells.push((axis, text));
        }
    }
    for (axis, size) in all.into_iter().enumerate() {
        all_cells.push((axis, size));
    }
    let open = |shape: &Shape| if shape.text.starts_with('*') { "*" } else { "[" };
    let mut rows = vec![Row { cells: all_cells, open: open(whole), is_base: false }];
    if fits && (layout != Layout::Summed || !cells.is_empty()) {
        rows.insert(usize::from(is_sum), Row { cells, open: open(part), is_base: false });
    }
    (rows, ndim)
}

impl BroadcastError {
    /// The lines that `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let Report { kind, operation, text, detail, marks, .. } = &*self.0;
        let mut picture;
        let mut carets = Vec::new();
        if *kind == ErrorKind::InvalidText {
            let mut before = String::new();
            for c in text.chars().take(self.position()?) {
                before.push(c);
            }
            // a line of its own: programs print messages after a prefix
            picture = format!("\n  {text:?}");
            carets.push("  ".len() + format!("{before:?}").chars().count() - 1);
        } else {
            let drawing = Drawing::new(&self.0);
            picture = drawing.text(false)?;
            for &mark in marks {
                if let Some(caret) = drawing.caret(mark, operation.layout) {
                    carets.push(caret);
                }
            }
            if drawing.rows.len() + carets.len() < 2 {
                return None;
            }
        }
        picture += "\n";
        let mut last = 0;
        for &caret in &carets {
            last = last.max(caret);
        }
        for at in 0..=last {
            picture += if carets.contains(&at) { "^" } else { " " };
        }
        // "axis 1: sizes" after a caret, else "axis 1 has sizes"
        let has = detail.as_bytes().windows(HAS_SIZE.len()).position(|part| part == HAS_SIZE.as_bytes());
        match has.filter(|_| !carets.is_empty()) {
            Some(at) => Some(format!("{picture} {}: size{}", &detail[..at], &detail[at + HAS_SIZE.len()..])),
            None => Some(format!("{picture} {detail}")),
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
