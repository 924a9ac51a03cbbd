//! Pictures: shapes in rows, each size in the column of its axis.

use super::operation::Layout;
use super::{BroadcastError, ErrorKind, Mark, Request, Shape};
use alloc::{format, string::String, vec, vec::Vec};

/// A shape's sizes with their columns, in ascending order.
struct Row {
    cells: Vec<(usize, String)>,
    frame: Frame,
}

/// What stands around the sizes of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `[2, 3]`, from a column on.
    Shape(usize),
    /// `(2; 3)`
    Batch,
    /// `2  3`
    None,
    /// `*`, a shape without a number of axes.
    Unranked,
}

/// Rows under each other.
struct Grid {
    rows: Vec<Row>,
    /// Where the columns start and end.
    columns: Vec<(usize, usize)>,
    /// The number of columns of the target, or before the base.
    batch: usize,
}

/// The width of an indentation and a bracket.
const START: usize = 3;

impl Grid {
    fn new(request: &Request) -> Self {
        let (rows, batch) = match request.operation.layout {
            Layout::Along | Layout::Placed => placed(request),
            Layout::Alone => (Vec::new(), 0),
            _ => right(request),
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

    /// Where the first `columns` end.
    fn end_of(&self, columns: usize) -> usize {
        columns.checked_sub(1).and_then(|last| self.columns.get(last)).map_or(START, |column| column.1)
    }

    fn line(&self, row: &Row) -> String {
        let mut line = vec![b' '; self.end_of(self.columns.len()) + 4];
        let mut put = |at: usize, text: &str| line[at..at + text.len()].copy_from_slice(text.as_bytes());
        let batch = self.end_of(self.batch);
        let mut end = batch;
        for (i, (column, text)) in row.cells.iter().enumerate() {
            if i > 0 && row.frame != Frame::None {
                put(end, ",");
            }
            end = self.columns[*column].1;
            put(end - text.len(), text);
        }
        match row.frame {
            Frame::Shape(from) => {
                let open = if from == 0 { START - 1 } else { self.end_of(from) + 1 };
                put(open, "[");
                put(end.max(open + 1), "]");
            }
            Frame::Batch => {
                put(START - 1, "(");
                put(batch, ";");
                put(end.max(batch + 1), ")");
            }
            Frame::Unranked => put(START - 1, "*"),
            Frame::None => {}
        }
        String::from_utf8_lossy(&line).trim_end().into()
    }

    /// Where a caret under an axis stands, if the picture has the axis.
    fn caret(&self, mark: Mark, layout: Layout) -> Option<usize> {
        let column = match mark {
            Mark::Result(axis) if layout == Layout::RightBases => self.batch + axis,
            Mark::Result(axis) => axis,
            Mark::Shape(_, axis) if layout == Layout::Placed => axis,
            Mark::Shape(shape, axis) => self.rows.get(shape)?.cells.get(axis)?.0,
        };
        self.columns.get(column).map(|&(_, end)| end - 1)
    }
}

/// The shapes, aligned at the right, and the number of columns before the base.
fn right(request: &Request) -> (Vec<Row>, usize) {
    let layout = request.operation.layout;
    let targets = request.shapes.len() - request.targets().len();
    // Each shape's sizes, and how many of them are its batch and its base.
    let parts = request.shapes.iter().enumerate().map(|(k, shape)| {
        let cells = shape.cells();
        let ndim = cells.as_ref().map_or(0, Vec::len);
        let is_base = layout == Layout::TargetIsBase && k >= targets;
        let base = if is_base { ndim } else { shape.base.unwrap_or(0).min(ndim) };
        (cells, ndim - base, base)
    });
    let parts: Vec<_> = parts.collect();
    let batch = parts.iter().map(|part| part.1).max().unwrap_or(0);
    let base = parts.iter().map(|part| part.2).max().unwrap_or(0);
    let row = |(shape, (cells, own, own_base)): (&Shape, (Option<Vec<String>>, usize, usize))| {
        let from = batch + if layout == Layout::RightBases { base - own_base } else { 0 };
        let frame = match (&cells, shape.base) {
            (None, _) => Frame::Unranked,
            (_, Some(_)) => Frame::Batch,
            (_, None) => Frame::Shape(if layout == Layout::TargetIsBase { batch } else { 0 }),
        };
        let columns = (batch - own..batch).chain(from..);
        Row { cells: columns.zip(cells.unwrap_or_default()).collect(), frame }
    };
    let mut rows: Vec<Row> = request.shapes.iter().zip(parts).map(row).collect();
    if layout == Layout::Summed {
        let cells = stars(request, batch);
        rows.extend((!cells.is_empty()).then_some(Row { cells, frame: Frame::None }));
    }
    (rows, batch)
}

/// `*` at the named axes that are below `ndim`, each once.
fn stars(request: &Request, ndim: usize) -> Vec<(usize, String)> {
    let mut axes: Vec<usize> = request.axes.iter().copied().filter(|&axis| axis < ndim).collect();
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| (axis, "*".into())).collect()
}

/// The array's sizes at their axes of the target, or `*` at those it is repeated along, and the target.
fn placed(request: &Request) -> (Vec<Row>, usize) {
    let mut shapes = request.shapes.iter().map(Shape::cells);
    let (own, target) = (shapes.next().flatten(), shapes.next().flatten());
    let ndim = target.as_ref().map_or(0, Vec::len);
    let row = |cells: Option<Vec<(usize, String)>>| match cells {
        Some(cells) => Row { cells, frame: Frame::Shape(0) },
        None => Row { cells: Vec::new(), frame: Frame::Unranked },
    };
    let target = row(target.map(|cells| cells.into_iter().enumerate().collect()));
    let own_ndim = own.as_ref().map_or(0, Vec::len);
    let named = stars(request, ndim.max(own_ndim + request.axes.len()));
    let is_along = request.operation.layout == Layout::Along;
    if !is_along && (named.len() != own_ndim || stars(request, ndim).len() != own_ndim) {
        // an axis of the array has no place of its own
        return (vec![target], ndim);
    }
    let array = own.map(|own| {
        let mut cells: Vec<_> = if is_along {
            let free = (0..).filter(|axis| named.binary_search_by_key(axis, |star| star.0).is_err());
            free.zip(own).chain(named.iter().cloned()).collect()
        } else {
            request.axes.iter().copied().zip(own).collect()
        };
        cells.sort_unstable();
        cells
    });
    (vec![row(array), target], ndim)
}

impl BroadcastError {
    /// What `{:#}` prints below the operation, if there is something to align.
    pub(super) fn picture(&self) -> Option<String> {
        let report = &*self.0;
        if report.kind == ErrorKind::InvalidText {
            let before: String = report.request.text.chars().take(self.position()?).collect();
            let quoted = format!("{before:?}").chars().count() - 1;
            return Some(below(vec!["cannot read ".len() + quoted], &report.detail));
        }
        let grid = Grid::new(&report.request);
        let layout = report.request.operation.layout;
        let carets: Vec<_> = report.marks.iter().filter_map(|&mark| grid.caret(mark, layout)).collect();
        let mut lines = grid.lines().filter(|lines| lines.len() > usize::from(carets.is_empty()))?;
        lines.push(below(carets, &report.detail));
        Some(lines.join("\n"))
    }
}

/// Carets at these places, and what is wrong after the last.
fn below(mut carets: Vec<usize>, detail: &str) -> String {
    carets.sort_unstable();
    let Some(last) = carets.last() else { return format!("  {detail}") };
    let mut line = " ".repeat(last + 1);
    for &at in &carets {
        line.replace_range(at..=at, "^");
    }
    match detail.split_once(" has ") {
        Some((axis, sizes)) if axis.contains("axis") => format!("{line} {axis}: {sizes}"),
        _ => format!("{line} {detail}"),
    }
}

impl Request {
    /// The operation, its shapes and the `result` below them.
    pub(crate) fn explained(self, result: &[usize]) -> String {
        let words = format!("{self}");
        let Some(mut lines) = Grid::new(&self.to(result)).lines() else {
            return format!("{words}: the result is {result:?}");
        };
        let width = lines.last().map_or(0, String::len).saturating_sub(2);
        lines.insert(lines.len() - 1, format!("  {}", "-".repeat(width)));
        lines.insert(0, words);
        lines.join("\n")
    }
}
