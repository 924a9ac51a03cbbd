//! Pictures: shapes in rows, each size in the column of its axis.

use super::shape::{Align, STARS, Shape};
use super::{BroadcastError, ErrorBuilder, ErrorKind, Mark, Report};
use alloc::{boxed::Box, collections::BinaryHeap, format, string::String, vec, vec::Vec};
use core::mem::{ManuallyDrop, replace};

/// A shape in a picture.
struct Row<'r> {
    shape: &'r Shape,
    /// Its sizes with their columns, then `*` at named axes.
    cells: Vec<(usize, &'r str)>,
}

/// The rows of a picture and their common columns.
#[derive(Default)]
struct Drawing<'r> {
    /// A row for each shape, unless the named axes leave no columns for its sizes.
    rows: Vec<Option<Row<'r>>>,
    /// The end of each column.
    ends: Vec<usize>,
    /// The number of columns before the bases.
    batch: usize,
    /// The number of columns of the bases.
    base: usize,
    /// The width of all sizes.
    sizes: usize,
}

/// The width of an indentation and a bracket.
const START: usize = 3;

impl<'r> Drawing<'r> {
    fn new(report: &'r Report) -> Self {
        let (mut drawing, target) = (Self::default(), report.caller.target);
        if target == Align::Hidden || (target == Align::AtAxes && report.operands > 1) {
            return drawing;
        }
        for shape in report.shapes.iter().filter(|shape| !shape.align.is_by_axis()) {
            let [batch, base] = shape.parts();
            drawing.batch = drawing.batch.max(batch.len());
            drawing.base = drawing.base.max(base.len());
        }
        drawing.rows.reserve_exact(report.shapes.len() + 1);
        for shape in &report.shapes {
            drawing.rows.push(drawing.row(shape, &report.axes));
        }
        if target == Align::Stars && report.operands == 1 {
            drawing.rows.push(drawing.row(&STARS, &report.axes).filter(|row| !row.cells.is_empty()));
        }
        drawing.set_ends();
        drawing
    }

    /// The row of a shape, if there is a column for each of its sizes.
    fn row(&self, shape: &'r Shape, axes: &[i128]) -> Option<Row<'r>> {
        let (align, sizes, [batch, base]) =
            (shape.align, shape.sizes(), shape.parts().map(<[Box<str>]>::len));
        let (mut columns, mut stars) = (Vec::with_capacity(sizes.len()), Vec::new());
        if align.is_by_axis() {
            let most = if align == Align::AroundAxes { sizes.len() + axes.len() } else { 0 };
            let mut is_named = vec![false; self.batch.max(most)];
            for column in axes.iter().map(|&axis| self.column(axis)) {
                if column < is_named.len() && !replace(&mut is_named[column], true) {
                    stars.push(column);
                }
            }
            if align == Align::AtAxes {
                columns.append(&mut stars);
                if columns.len() != axes.len() || axes.len() != sizes.len() {
                    return None;
                }
            }
            let others = (0..is_named.len()).filter(|&column| !is_named[column]);
            columns.extend(others.take(sizes.len() - columns.len()));
        } else {
            let indent = if align == Align::RightBase { self.base - base } else { 0 };
            columns.extend(self.batch - batch..self.batch);
            columns.extend(self.batch + indent..self.batch + indent + base);
        }
        let sizes = columns.into_iter().zip(sizes.iter().map(|size| &**size));
        Some(Row { shape, cells: sizes.chain(stars.into_iter().map(|column| (column, "*"))).collect() })
    }

    /// The column of an axis that the caller named.
    fn column(&self, axis: i128) -> usize {
        let from_start = if axis < 0 { axis + self.batch as i128 } else { axis };
        usize::try_from(from_start).unwrap_or(usize::MAX)
    }

    /// Sets the ends of the columns, each as wide as its widest size.
    fn set_ends(&mut self) {
        let mut end = START - 2;
        for row in self.rows.iter().flatten() {
            if self.batch == 0 && row.shape.open() == "(" {
                end = START;
            }
            for &(column, text) in &row.cells {
                if self.ends.len() <= column {
                    self.ends.resize(column + 1, 0);
                }
                self.ends[column] = text.len().max(self.ends[column]);
                self.sizes += text.len() + 2;
            }
        }
        for width in &mut self.ends {
            end += 2 + *width;
            *width = end;
        }
    }

    /// The rows, each after a line break, unless there are far more spaces than sizes. The last may be `below_rule`.
    fn text(&self, below_rule: bool) -> Option<String> {
        let count = self.rows.iter().flatten().count();
        if count.saturating_mul(self.end_of(self.ends.len())) > 8 * (100 + self.sizes) {
            return None;
        }
        let mut text = String::new();
        for (i, row) in self.rows.iter().flatten().enumerate() {
            let line = self.line(row);
            if below_rule && i + 1 == count {
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
        let (open, is_base) = (row.shape.open(), row.shape.align == Align::Base);
        if open == "*" {
            return "  *".into();
        }
        let batch = self.end_of(self.batch);
        let mut line = String::new();
        put(&mut line, if is_base { batch + 1 } else { START - 1 }, open);
        let (mut before_base, close) = if open == "(" { (true, ")") } else { (false, "]") };
        for (i, (column, text)) in
            BinaryHeap::from(row.cells.clone()).into_sorted_vec().into_iter().enumerate()
        {
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
    fn caret(&self, mark: Mark, operands: Align) -> Option<usize> {
        let column = match mark {
            Mark::Result(axis) if operands == Align::RightBase => self.batch + axis,
            Mark::Result(axis) => axis,
            Mark::Shape(shape, axis) => self.rows.get(shape)?.as_ref()?.cells.get(axis)?.0,
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

impl BroadcastError {
    /// The lines that `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let Report { kind, caller, text, marks, .. } = &*self.0;
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
            carets.extend(marks.iter().filter_map(|&mark| drawing.caret(mark, caller.operands)));
            if drawing.rows.iter().flatten().count() + carets.len() < 2 {
                return None;
            }
        }
        picture += "\n";
        for at in 0..=carets.iter().copied().max().unwrap_or(0) {
            picture += if carets.contains(&at) { "^" } else { " " };
        }
        picture += " ";
        Some(picture + &self.0.reason(if carets.is_empty() { " has " } else { ": " }))
    }
}

impl ErrorBuilder {
    /// The operation, its shapes and the `result` below them.
    pub(crate) fn explained(self, result: &[usize]) -> String {
        let report = ManuallyDrop::into_inner(self.to(&result).0);
        let words = report.words();
        match Drawing::new(&report).text(true) {
            Some(picture) => words + &picture,
            None => format!("{words}: the result is {result:?}"),
        }
    }
}
