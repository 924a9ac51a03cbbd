//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::{BroadcastError, ErrorKind, Mark, Report, Request, Shape};
use alloc::{format, string::String, vec, vec::Vec};

/// A shape's sizes with their columns, in ascending order.
struct Row<'a> {
    cells: Vec<(usize, &'a str)>,
    frame: Frame,
}

/// The brackets of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `[2, 3]`
    Shape,
    /// `[2, 3]` in the columns of the base
    Base,
    /// `(2; 3)`
    Batch,
    /// `*`: the number of axes is unknown
    Unranked,
}

/// The rows of a picture and their common columns.
struct Drawing<'a> {
    rows: Vec<Row<'a>>,
    /// The end of each column.
    ends: Vec<usize>,
    /// The number of columns before the bases or, for named and placed axes, of the target.
    batch: usize,
}

/// The width of an indentation and a bracket.
const START: usize = 3;

impl<'a> Drawing<'a> {
    fn new(request: &'a Request) -> Self {
        let (rows, batch) = match request.operation.layout {
            Layout::Alone => (Vec::new(), 0),
            Layout::Along | Layout::Placed | Layout::Summed | Layout::SummedToPlaced => by_axis(request),
            Layout::Right | Layout::RightBases | Layout::TargetIsBase => right(request),
        };
        // the widths of the columns, then their ends
        let mut ends = Vec::new();
        let mut next = START;
        for row in &rows {
            if batch == 0 && row.frame == Frame::Batch {
                next = START + 2;
            }
            for (column, text) in &row.cells {
                if ends.len() <= *column {
                    ends.resize(column + 1, 0);
                }
                ends[*column] = text.len().max(ends[*column]);
            }
        }
        for end in &mut ends {
            *end += next;
            next = *end + 2;
        }
        Self { rows, ends, batch }
    }

    /// The rows as text, unless there are far more spaces than sizes.
    fn lines(&self) -> Option<Vec<String>> {
        let (mut sizes, mut lines) = (100, Vec::new());
        for row in &self.rows {
            for (_, text) in &row.cells {
                sizes += text.len() + 2;
            }
        }
        if self.rows.len().saturating_mul(self.end_of(self.ends.len())) > 8 * sizes {
            return None;
        }
        for row in &self.rows {
            lines.push(self.line(row));
        }
        Some(lines)
    }

    /// The end of the first `columns` columns.
    fn end_of(&self, columns: usize) -> usize {
        if columns == 0 || columns > self.ends.len() { START } else { self.ends[columns - 1] }
    }

    fn line(&self, row: &Row<'_>) -> String {
        let batch = self.end_of(self.batch);
        let (open, start, close) = match row.frame {
            Frame::Shape => ("[", START, "]"),
            Frame::Base => ("[", batch + 2, "]"),
            Frame::Batch => ("(", START, ")"),
            Frame::Unranked => return "  *".into(),
        };
        let mut line = " ".repeat(start - 1) + open;
        let mut before_base = row.frame == Frame::Batch;
        for (i, (column, text)) in row.cells.iter().enumerate() {
            if before_base && *column >= self.batch {
                pad(&mut line, batch);
                line += ";";
                before_base = false;
            } else if i > 0 {
                line += ",";
            }
            pad(&mut line, self.ends[*column] - text.len());
            line += text;
        }
        if before_base || row.cells.is_empty() {
            pad(&mut line, batch);
        }
        line + if before_base { ";" } else { "" } + close
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

/// Pads a line with spaces to `width`.
fn pad(line: &mut String, width: usize) {
    while line.len() < width {
        line.push(' ');
    }
}

/// The rows of shapes aligned at the right, and the number of columns before the base.
fn right(request: &Request) -> (Vec<Row<'_>>, usize) {
    let layout = request.operation.layout;
    let (mut batch, mut bases, mut shapes, mut rows) = (0, 0, Vec::new(), Vec::new());
    for (k, shape) in request.shapes.iter().enumerate() {
        let cells = shape.cells();
        let (frame, base) = match shape.base {
            _ if shape.text.starts_with('*') => (Frame::Unranked, 0),
            Some(base) => (Frame::Batch, base.min(cells.len())),
            None if layout == Layout::TargetIsBase && k >= request.operands => (Frame::Base, cells.len()),
            None => (Frame::Shape, 0),
        };
        batch = batch.max(cells.len() - base);
        bases = bases.max(base);
        shapes.push((cells, frame, base));
    }
    for (cells, frame, base) in shapes {
        let own_batch = cells.len() - base;
        let base_start = batch + if layout == Layout::RightBases { bases - base } else { 0 };
        let columns = (batch - own_batch..batch).chain(base_start..);
        rows.push(Row { cells: columns.zip(cells).collect(), frame });
    }
    (rows, batch)
}

/// The rows of the target and, above it, the array's sizes at their axes, or `*` at the named axes. For a
/// sum, the rows of the array and, below it, `*` or the target's sizes.
fn by_axis(request: &Request) -> (Vec<Row<'_>>, usize) {
    let (layout, axes) = (request.operation.layout, &request.axes);
    let is_sum = matches!(layout, Layout::Summed | Layout::SummedToPlaced);
    let placed = matches!(layout, Layout::Placed | Layout::SummedToPlaced);
    // the shape with all axes, and the sizes that are written at some of them
    let (first, last) = (&request.shapes[0], &request.shapes[request.shapes.len() - 1]);
    let (whole, part) = if is_sum { (first, last) } else { (last, first) };
    let own = if layout == Layout::Summed { Vec::new() } else { part.cells() };
    let all = whole.cells();
    let ndim = all.len();
    let width = if layout == Layout::Along { ndim.max(own.len() + axes.len()) } else { ndim };
    let mut texts = vec![None; width];
    // whether each size has a place of its own
    let mut fits = !placed || own.len() == axes.len();
    let mut own = own.into_iter();
    for &axis in axes {
        let position = usize::try_from(if axis < 0 { axis + ndim as i128 } else { axis });
        match (position.ok().and_then(|position| texts.get_mut(position)), placed) {
            (Some(text @ None), true) => *text = own.next(),
            (_, true) => fits = false,
            (Some(text), false) => *text = Some("*"),
            (None, false) => {}
        }
    }
    let mut cells = Vec::with_capacity(width);
    for (axis, text) in texts.into_iter().enumerate() {
        if let Some(text) = text.or_else(|| own.next()) {
            cells.push((axis, text));
        }
    }
    let frame = |shape: &Shape| if shape.text.starts_with('*') { Frame::Unranked } else { Frame::Shape };
    let mut rows = vec![Row { cells: all.into_iter().enumerate().collect(), frame: frame(whole) }];
    if fits && (layout != Layout::Summed || !cells.is_empty()) {
        rows.insert(usize::from(is_sum), Row { cells, frame: frame(part) });
    }
    (rows, ndim)
}

impl BroadcastError {
    /// The lines that `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let Report { kind, request, marks, .. } = &*self.0;
        let (mut lines, mut carets) = (Vec::new(), Vec::new());
        if *kind == ErrorKind::InvalidText {
            let before: String = request.text.chars().take(self.position()?).collect();
            carets.push("cannot read ".len() + format!("{before:?}").chars().count() - 1);
        } else {
            let drawing = Drawing::new(request);
            lines = drawing.lines()?;
            for &mark in marks {
                carets.extend(drawing.caret(mark, request.operation.layout));
            }
            if lines.len() + carets.len() < 2 {
                return None;
            }
        }
        let mut last = String::new();
        for at in 0..=carets.iter().copied().max().unwrap_or(0) {
            last.push(if carets.contains(&at) { '^' } else { ' ' });
        }
        last += " ";
        last += &self.0.detail(if carets.is_empty() { " has " } else { ": " });
        lines.push(last);
        Some(lines.join("\n"))
    }
}

impl Request {
    /// The operation, its shapes and the `result` below them.
    pub(crate) fn explained(self, result: &[usize]) -> String {
        let words = format!("{self}");
        let request = self.to(result);
        let Some(mut lines) = Drawing::new(&request).lines() else {
            return format!("{words}: the result is {result:?}");
        };
        if let Some(sizes) = lines.pop() {
            lines.extend([format!("  {}", "-".repeat(sizes.len().saturating_sub(2))), sizes]);
        }
        lines.insert(0, words);
        lines.join("\n")
    }
}
