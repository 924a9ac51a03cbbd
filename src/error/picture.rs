//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::{BroadcastError, ErrorKind, Mark, Request, Shape};
use alloc::{format, string::String, string::ToString, vec, vec::Vec};
use core::fmt;
use core::iter::repeat_n;

/// A shape's sizes with their columns.
struct Row {
    cells: Vec<(usize, String)>,
    frame: Frame,
}

/// What stands around the sizes of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `[2, 3]`
    Shape,
    /// `(2; 3)`
    Batch,
    /// `[3]`, at the base.
    Base,
    /// Nothing.
    Bare,
}

/// Rows under each other.
struct Grid {
    rows: Vec<Row>,
    /// Where the columns start and end.
    columns: Vec<(usize, usize)>,
    /// The number of columns of the target, or before the base.
    batch: usize,
}

/// The columns of text before the first size: an indentation and a bracket.
const START: usize = 3;

impl Grid {
    fn new(request: &Request) -> Self {
        let layout = request.operation.layout;
        let (mut rows, batch) = match layout {
            Layout::Along => along(request),
            Layout::Placed => placed(request),
            Layout::Alone => (Vec::new(), 0),
            Layout::Summed | Layout::Right | Layout::RightBases | Layout::TargetIsBase => right(request),
        };
        if layout == Layout::Summed {
            let axes = rows.iter().map(|row| row.cells.len()).sum();
            let mut cells = stars(request, axes);
            cells.dedup();
            if !cells.is_empty() {
                rows.push(Row { cells, frame: Frame::Bare });
            }
        }
        let mut grid = Self { columns: Vec::new(), rows, batch };
        grid.lay_out();
        grid
    }

    /// Finds the columns, each as wide as its widest size.
    fn lay_out(&mut self) {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let mut widths = vec![0; cells().map(|&(column, _)| column + 1).max().unwrap_or(0)];
        for (column, text) in cells() {
            widths[*column] = text.len().max(widths[*column]);
        }
        let split = self.rows.iter().any(|row| row.frame == Frame::Batch);
        let mut start = if split && self.batch == 0 { START + 2 } else { START };
        for width in widths {
            self.columns.push((start, start + width));
            start += width + 2;
        }
    }

    /// Whether there is something to see, and not far more of it than there are sizes.
    fn is_worth_it(&self) -> bool {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let sizes: usize = cells.map(|(_, text)| text.len() + 2).sum();
        let rows = self.rows.len();
        rows > 1 && rows.saturating_mul(self.width()) <= 8 * (sizes + 100)
    }

    fn width(&self) -> usize {
        self.end_of(self.columns.len())
    }

    /// Where the first `columns` end.
    fn end_of(&self, columns: usize) -> usize {
        columns.checked_sub(1).and_then(|last| self.columns.get(last)).map_or(START, |column| column.1)
    }

    fn line(&self, row: &Row) -> String {
        let mut line = vec![b' '; self.width() + 4];
        let mut put = |at: usize, text: &str| line[at..at + text.len()].copy_from_slice(text.as_bytes());
        let (mut end, open) = (START, START - 1);
        for (i, (column, text)) in row.cells.iter().enumerate() {
            end = self.columns[*column].1;
            put(end - text.len(), text);
            let last_of_batch = row.frame == Frame::Batch && column + 1 == self.batch;
            if i + 1 < row.cells.len() && row.frame != Frame::Bare && !last_of_batch {
                put(end, ",");
            }
        }
        let batch = self.end_of(self.batch);
        match row.frame {
            Frame::Shape => {
                put(open, "[");
                put(if row.cells.is_empty() { batch } else { end }, "]");
            }
            Frame::Batch => {
                put(open, "(");
                put(batch, ";");
                put(if end > batch { end } else { batch + 1 }, ")");
            }
            Frame::Base => {
                let start = self.columns.get(self.batch).map_or(START, |column| column.0);
                put(start - 1, "[");
                put(if row.cells.is_empty() { start } else { end }, "]");
            }
            Frame::Bare if row.cells.is_empty() => put(open, "*"),
            Frame::Bare => {}
        }
        String::from_utf8_lossy(&line).trim_end().into()
    }

    /// Where a caret under an axis stands, if the axis is in the picture.
    fn caret(&self, mark: Mark, layout: Layout) -> Option<usize> {
        let column = match mark {
            Mark::Result(axis) if layout == Layout::RightBases => self.batch + axis,
            Mark::Result(axis) => axis,
            Mark::Shape(_, axis) if matches!(layout, Layout::Along | Layout::Placed) => axis,
            Mark::Shape(shape, axis) => self.rows.get(shape)?.cells.get(axis)?.0,
        };
        self.columns.get(column).map(|&(_, end)| end - 1)
    }
}

/// The shapes, aligned at the right, and the number of columns before the base.
fn right(request: &Request) -> (Vec<Row>, usize) {
    let layout = request.operation.layout;
    let shapes: Vec<_> = request.shapes.iter().map(|shape| (shape, shape.cells())).collect();
    let target = request.operands().len();
    let parts = |k: usize, shape: &Shape, ndim: usize| {
        let is_base = layout == Layout::TargetIsBase && k >= target;
        let base = if is_base { ndim } else { shape.base.unwrap_or(0).min(ndim) };
        (ndim - base, base)
    };
    let (mut batch, mut base) = (0, 0);
    for (k, (shape, cells)) in shapes.iter().enumerate() {
        let own = parts(k, shape, cells.as_ref().map_or(0, Vec::len));
        (batch, base) = (batch.max(own.0), base.max(own.1));
    }
    let row = |(k, (shape, cells)): (usize, (&Shape, Option<Vec<String>>))| {
        let Some(cells) = cells else { return Row { cells: Vec::new(), frame: Frame::Bare } };
        let (own, own_base) = parts(k, shape, cells.len());
        let base_from = batch + if layout == Layout::RightBases { base - own_base } else { 0 };
        let columns = (batch - own..batch).chain(base_from..);
        let frame = match shape.base {
            Some(_) => Frame::Batch,
            None if own_base > 0 => Frame::Base,
            None => Frame::Shape,
        };
        Row { cells: columns.zip(cells).collect(), frame }
    };
    (shapes.into_iter().enumerate().map(row).collect(), batch)
}

/// `*` at the named axes that are below `ndim`, in ascending order.
fn stars(request: &Request, ndim: usize) -> Vec<(usize, String)> {
    let positions = request.axes.iter().filter_map(|&axis| usize::try_from(axis).ok());
    let mut positions: Vec<usize> = positions.filter(|&axis| axis < ndim).collect();
    positions.sort_unstable();
    positions.into_iter().map(|axis| (axis, "*".to_string())).collect()
}

/// A row whose sizes are at columns of their own, from the first.
fn row_of(cells: Option<Vec<String>>) -> Row {
    match cells {
        Some(cells) => Row { cells: cells.into_iter().enumerate().collect(), frame: Frame::Shape },
        None => Row { cells: Vec::new(), frame: Frame::Bare },
    }
}

/// The array with `*` at the named axes, above the target.
fn along(request: &Request) -> (Vec<Row>, usize) {
    let mut shapes = request.shapes.iter().map(Shape::cells);
    let (own, target) = (shapes.next().flatten(), row_of(shapes.next().flatten()));
    let array = match own {
        None => row_of(None),
        Some(own) => {
            let ndim = target.cells.len().max(own.len() + request.axes.len());
            let mut cells = stars(request, ndim);
            cells.dedup();
            let named: Vec<usize> = cells.iter().map(|&(axis, _)| axis).collect();
            let free = (0..).filter(|axis| named.binary_search(axis).is_err());
            cells.extend(free.zip(own));
            cells.sort_unstable();
            Row { cells, frame: Frame::Shape }
        }
    };
    let ndim = target.cells.len();
    (vec![array, target], ndim)
}

/// Each size of the array at its axis, above the target; no rows where an axis has no place.
fn placed(request: &Request) -> (Vec<Row>, usize) {
    let mut shapes = request.shapes.iter().map(Shape::cells);
    let (own, target) = (shapes.next().flatten(), row_of(shapes.next().flatten()));
    let ndim = target.cells.len();
    let Some(own) = own else { return (vec![row_of(None), target], ndim) };
    let axes: Vec<usize> = stars(request, ndim).into_iter().map(|(axis, _)| axis).collect();
    if axes.len() != own.len() || axes.len() != request.axes.len() {
        return (Vec::new(), 0);
    }
    let mut heights = vec![0; ndim];
    let mut rows = Vec::new();
    for (&axis, size) in request.axes.iter().zip(own) {
        let Ok(column) = usize::try_from(axis) else { continue };
        if heights[column] == rows.len() {
            rows.push(Row { cells: Vec::new(), frame: Frame::Shape });
        }
        rows[heights[column]].cells.push((column, size));
        heights[column] += 1;
    }
    if rows.is_empty() {
        rows.push(row_of(Some(Vec::new())));
    }
    for row in &mut rows {
        row.cells.sort_unstable();
    }
    rows.push(target);
    (rows, ndim)
}

impl BroadcastError {
    /// What `{:#}` prints below the operation.
    pub(super) fn picture(&self) -> Option<String> {
        let report = &*self.0;
        if report.kind == ErrorKind::InvalidText {
            return self.text_picture();
        }
        let grid = Grid::new(&report.request);
        if !grid.is_worth_it() {
            return None;
        }
        let mut lines: Vec<String> = grid.rows.iter().map(|row| grid.line(row)).collect();
        let layout = report.request.operation.layout;
        let mut carets: Vec<usize> =
            report.marks.iter().filter_map(|&mark| grid.caret(mark, layout)).collect();
        carets.sort_unstable();
        carets.dedup();
        lines.push(below(&carets, &report.detail));
        Some(lines.join("\n"))
    }

    /// A caret under the character of the text in the line above.
    fn text_picture(&self) -> Option<String> {
        let before: String = self.0.request.text.chars().take(self.position()?).collect();
        let quoted = format!("{before:?}").chars().count() - 1;
        Some(below(&["cannot read ".len() + quoted], &self.0.detail))
    }
}

/// Carets at these places, and what is wrong after the last.
fn below(carets: &[usize], detail: &str) -> String {
    let Some(last) = carets.last() else { return format!("  {detail}") };
    let mut line: String = repeat_n(' ', last + 1).collect();
    for &at in carets {
        line.replace_range(at..=at, "^");
    }
    // The caret says which axis has the sizes.
    match detail.split_once(" has ") {
        Some((axis, sizes)) if axis.contains("axis") => format!("{line} {axis}: {sizes}"),
        _ => format!("{line} {detail}"),
    }
}

/// Shapes that go together, with their joint shape, or why they do not.
#[derive(Clone)]
pub(crate) enum Explanation {
    Fits { request: Request, result: Shape },
    Fails(BroadcastError),
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, result) = match self {
            Self::Fails(error) => return write!(f, "{error:#}"),
            Self::Fits { request, result } => (request, result),
        };
        let grid = Grid::new(&request.clone().to(result.clone()));
        if !grid.is_worth_it() {
            return write!(f, "{request}: the result is {result}");
        }
        writeln!(f, "{request}")?;
        let mut lines: Vec<String> = grid.rows.iter().map(|row| grid.line(row)).collect();
        let result = lines.pop().unwrap_or_default();
        lines.push(format!("  {}", "-".repeat(result.len() - 2)));
        lines.push(result);
        f.write_str(&lines.join("\n"))
    }
}
