//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::{BroadcastError, ErrorKind, Line, Mark, Report, Request, Shape};
use alloc::{format, string::String, vec, vec::Vec};

/// A shape's sizes with their columns, in ascending order.
struct Row {
    cells: Vec<(usize, String)>,
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
struct Drawing {
    rows: Vec<Row>,
    /// The start and end of each column.
    columns: Vec<(usize, usize)>,
    /// The number of columns before the bases or, for named and placed axes, of the target.
    batch: usize,
}

/// The width of an indentation and a bracket.
const START: usize = 3;

impl Drawing {
    fn new(request: &Request) -> Self {
        let (rows, batch) = match request.operation.layout {
            Layout::Alone => (Vec::new(), 0),
            Layout::Along | Layout::Placed | Layout::Summed | Layout::SummedToPlaced => by_axis(request),
            Layout::Right | Layout::RightBases | Layout::TargetIsBase => right(request),
        };
        let cells = || rows.iter().flat_map(|row| &row.cells);
        let mut widths = vec![0; cells().map(|&(column, _)| column + 1).max().unwrap_or(0)];
        for (column, text) in cells() {
            widths[*column] = text.len().max(widths[*column]);
        }
        let only_base = batch == 0 && rows.iter().any(|row| row.frame == Frame::Batch);
        let mut next = if only_base { START + 2 } else { START };
        let column = |width| {
            let start = next;
            next += width + 2;
            (start, start + width)
        };
        Self { columns: widths.into_iter().map(column).collect(), rows, batch }
    }

    /// The rows as text, unless there are far more spaces than sizes.
    fn lines(&self) -> Option<Vec<String>> {
        let sizes: usize = self.rows.iter().flat_map(|row| &row.cells).map(|(_, text)| text.len() + 2).sum();
        let area = self.rows.len().saturating_mul(self.end_of(self.columns.len()));
        (area <= 8 * (sizes + 100)).then(|| self.rows.iter().map(|row| self.line(row)).collect())
    }

    /// The end of the first `columns` columns.
    fn end_of(&self, columns: usize) -> usize {
        columns.checked_sub(1).and_then(|last| self.columns.get(last)).map_or(START, |column| column.1)
    }

    fn line(&self, row: &Row) -> String {
        let (open, start, close) = match row.frame {
            Frame::Shape => ("[", START, "]"),
            Frame::Base => ("[", self.end_of(self.batch) + 2, "]"),
            Frame::Batch => ("(", START, ")"),
            Frame::Unranked => return "  *".into(),
        };
        let (mut line, batch) = (" ".repeat(start - 1) + open, self.end_of(self.batch));
        let mut before_base = row.frame == Frame::Batch;
        for (i, (column, text)) in row.cells.iter().enumerate() {
            if before_base && *column >= self.batch {
                pad(&mut line, batch);
                line.push(';');
                before_base = false;
            } else if i > 0 {
                line.push(',');
            }
            pad(&mut line, self.columns[*column].1 - text.len());
            line.push_str(text);
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
        self.columns.get(column).map(|&(_, end)| end - 1)
    }
}

/// Pads a line with spaces to `width`.
fn pad(line: &mut String, width: usize) {
    while line.len() < width {
        line.push(' ');
    }
}

/// The rows of shapes aligned at the right, and the number of columns before the base.
fn right(request: &Request) -> (Vec<Row>, usize) {
    let (layout, operands) = (request.operation.layout, request.operands().len());
    let frame = |(k, shape): (usize, &Shape)| match shape.base {
        _ if shape.is_unranked() => Frame::Unranked,
        Some(_) => Frame::Batch,
        None if layout == Layout::TargetIsBase && k >= operands => Frame::Base,
        None => Frame::Shape,
    };
    let rows = request.shapes.iter().enumerate().map(|(k, shape)| {
        let (cells, frame) = (shape.cells(), frame((k, shape)));
        let base = if frame == Frame::Base { cells.len() } else { shape.base.unwrap_or(0).min(cells.len()) };
        (cells, frame, base)
    });
    let rows: Vec<_> = rows.collect();
    let batch = rows.iter().map(|(cells, _, base)| cells.len() - base).max().unwrap_or(0);
    let bases = rows.iter().map(|&(_, _, base)| base).max().unwrap_or(0);
    let row = |(cells, frame, base): (Vec<String>, Frame, usize)| {
        let from = batch + if layout == Layout::RightBases { bases - base } else { 0 };
        let columns = (batch + base - cells.len()..batch).chain(from..);
        Row { cells: columns.zip(cells).collect(), frame }
    };
    (rows.into_iter().map(row).collect(), batch)
}

/// The rows of the target and, above it, the array's sizes at their axes, or `*` at the named axes. For a
/// sum, the rows of the array and, below it, `*` or the target's sizes.
fn by_axis(request: &Request) -> (Vec<Row>, usize) {
    let (layout, axes) = (request.operation.layout, &request.axes);
    let (mut array, mut target) = (&request.shapes[0], &request.shapes[request.shapes.len() - 1]);
    let placed = matches!(layout, Layout::Placed | Layout::SummedToPlaced);
    if layout == Layout::SummedToPlaced {
        (array, target) = (target, array);
    }
    let own = if layout == Layout::Summed { Vec::new() } else { array.cells() };
    let ndim = target.cells().len();
    let width = if layout == Layout::Along { ndim.max(own.len() + axes.len()) } else { ndim };
    let mut cells = vec![None; width];
    // whether each axis of the array has its own place
    let mut fits = !placed || own.len() == axes.len();
    let mut own = own.into_iter();
    for &axis in axes {
        let position = usize::try_from(if axis < 0 { axis + ndim as i128 } else { axis });
        match (position.ok().and_then(|position| cells.get_mut(position)), placed) {
            (Some(cell @ None), true) => *cell = own.next(),
            (_, true) => fits = false,
            (Some(cell), _) => *cell = Some("*".into()),
            (None, _) => {}
        }
    }
    for (cell, size) in cells.iter_mut().filter(|cell| cell.is_none()).zip(own) {
        *cell = Some(size);
    }
    let frame = |shape: &Shape| if shape.is_unranked() { Frame::Unranked } else { Frame::Shape };
    let mut rows =
        vec![Row { cells: target.cells().into_iter().enumerate().collect(), frame: frame(target) }];
    let cells = cells.into_iter().enumerate().filter_map(|(axis, text)| Some((axis, text?)));
    let row = Row { cells: cells.collect(), frame: frame(array) };
    if fits && (layout != Layout::Summed || !row.cells.is_empty()) {
        let is_below = matches!(layout, Layout::Summed | Layout::SummedToPlaced);
        rows.insert(usize::from(is_below), row);
    }
    (rows, ndim)
}

impl BroadcastError {
    /// The lines that `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let report = &*self.0;
        let (mut lines, carets): (_, Vec<usize>) = if report.kind == ErrorKind::InvalidText {
            let before: String = report.request.text.chars().take(self.position()?).collect();
            let quoted = format!("{before:?}").chars().count() - 1;
            (Vec::new(), vec!["cannot read ".len() + quoted])
        } else {
            let grid = Drawing::new(&report.request);
            let layout = report.request.operation.layout;
            let carets = report.marks.iter().filter_map(|&mark| grid.caret(mark, layout)).collect();
            (grid.lines()?, carets)
        };
        if lines.len() + carets.len() < 2 && report.kind != ErrorKind::InvalidText {
            return None;
        }
        let Report { place, detail, .. } = report;
        let mut last: String = (0..carets.iter().max().map_or(1, |last| last + 1))
            .map(|at| if carets.contains(&at) { '^' } else { ' ' })
            .collect();
        last += " ";
        if carets.is_empty() || place.is_empty() {
            last += &Line(self).detail();
        } else {
            last.extend([place.as_str(), ": ", detail]);
        }
        lines.push(last);
        Some(lines.join("\n"))
    }
}

impl Request {
    /// The operation, its shapes and the `result` below them.
    pub(crate) fn explained(self, result: &[usize]) -> String {
        let words = format!("{self}");
        let Some(mut lines) = Drawing::new(&self.to(result)).lines() else {
            return format!("{words}: the result is {result:?}");
        };
        if let Some(sizes) = lines.pop() {
            lines.extend([format!("  {}", "-".repeat(sizes.len().saturating_sub(2))), sizes]);
        }
        lines.insert(0, words);
        lines.join("\n")
    }
}
