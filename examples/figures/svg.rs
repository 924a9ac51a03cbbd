//! Grids of cells, the sizes at their edges and the shapes beside them, as SVG.

use ndarray::{ArrayViewD, Axis, Dimension};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// The width of every figure, which is that of a page of documentation.
const WIDTH: i32 = 700;
const CELL: i32 = 30;
/// The space between blocks of cells.
const GAP: i32 = 14;

/// The figure has a ground of its own, because a page may be dark where the browser asks for light.
const STYLE: &str = "\
.fig-ground{fill:#fff;stroke:#d0d7de}.fig-text{fill:#1f2328;font:13px sans-serif}
.fig-code{font:13px monospace}.fig-cell{fill:#1f2328;font:12px sans-serif}.fig-own{stroke:#57606a;stroke-width:2;fill:none}
.fig-first{stroke:#0969da;stroke-width:4;fill:none}.fig-second{stroke:#1a7f37;stroke-width:4;fill:none}
.fig-new{stroke:#cf4a00;stroke-width:2;stroke-dasharray:5 3;fill:none}.fig-new-text{fill:#b34000}.fig-one{stroke:#1f2328;stroke-width:2.5;fill:none}
@media(prefers-color-scheme:dark){.fig-ground{fill:#0d1117;stroke:#3d444d}.fig-text{fill:#f0f6fc}
.fig-own{stroke:#9198a1}.fig-first{stroke:#4493f8}.fig-second{stroke:#3fb950}.fig-new{stroke:#ff9b50}.fig-new-text{fill:#ff9b50}.fig-one{stroke:#f0f6fc}}";

/// The line along an axis of a grid.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Line {
    Plain,
    /// Colours that show which axis of the array became which axis of the result.
    First,
    Second,
    /// Cells along this axis repeat one element.
    Repeats,
    /// Cells along this axis are added.
    Summed,
}

impl Line {
    fn class(self) -> &'static str {
        match self {
            Line::Plain => "fig-own",
            Line::First => "fig-first",
            Line::Second => "fig-second",
            Line::Repeats | Line::Summed => "fig-new",
        }
    }
}

/// An axis of a grid, as its edge shows it.
pub(crate) struct Edge {
    pub(crate) label: String,
    pub(crate) line: Line,
    /// Whether it goes from left to right.
    pub(crate) across: bool,
    /// Whether it puts blocks side by side, with space between them.
    pub(crate) blocks: bool,
}

/// What a cell shows: the colour of its element, and a text.
pub(crate) type Paint<'a> = &'a dyn Fn(usize) -> (String, String);

/// A figure that is being drawn.
pub(crate) struct Svg {
    title: &'static str,
    height: i32,
    body: String,
}

impl Svg {
    pub(crate) fn new(title: &'static str, height: i32) -> Self {
        Self { title, height, body: String::new() }
    }

    /// A text; `anchor` is start, middle or end.
    pub(crate) fn text(&mut self, kinds: &str, (x, y): (i32, i32), anchor: &str, text: impl Display) {
        let text = text.to_string().replace('&', "&amp;").replace('<', "&lt;");
        let anchor = if anchor == "start" { String::new() } else { format!(r#" text-anchor="{anchor}""#) };
        self.element(format_args!(r#"<text class="fig-text {kinds}" x="{x}" y="{y}"{anchor}>{text}</text>"#));
    }

    /// A line of code.
    pub(crate) fn code(&mut self, at: (i32, i32), text: impl Display) {
        self.text("fig-code", at, "start", text);
    }

    /// An arrow from left to right.
    pub(crate) fn arrow(&mut self, (x, y): (i32, i32), length: i32) {
        self.path("fig-own", format_args!("M{x} {y}h{length}m-7 -5l7 5l-7 5"));
    }

    /// The cells of an array with `edges`, from the left upper corner on: each is coloured by the element that it
    /// reads. A frame shows where the element stands, all other cells repeat it.
    pub(crate) fn grid(
        &mut self,
        (left, top): (i32, i32),
        cells: &ArrayViewD<'_, usize>,
        edges: &[Edge],
        paint: Paint<'_>,
    ) {
        // The distance from one cell to the next along each axis. Inner axes come first, outer ones step over them.
        let (mut extents, mut steps, mut lines) = ([CELL; 2], vec![0; cells.ndim()], Vec::new());
        for (axis, edge) in edges.iter().enumerate().rev() {
            let down = usize::from(!edge.across);
            steps[axis] = extents[down] + if edge.blocks { GAP } else { 0 };
            extents[down] += steps[axis] * count(cells.len_of(Axis(axis)) - 1);
            lines.push((edge, extents[down] - 2));
        }

        let (mut fills, mut frames, mut texts) =
            (BTreeMap::<usize, String>::new(), String::new(), String::new());
        for (index, &element) in cells.indexed_iter() {
            let (mut x, mut y, mut repeated) = (left, top, false);
            for ((edge, &step), &at) in edges.iter().zip(&steps).zip(index.slice()) {
                *(if edge.across { &mut x } else { &mut y }) += step * count(at);
                repeated |= edge.line == Line::Summed || edge.line == Line::Repeats && at > 0;
            }
            let side = CELL - 2;
            let _ = write!(fills.entry(element).or_default(), "M{x} {y}h{side}v{side}h-{side}z");
            if !repeated {
                let _ = write!(frames, "M{x} {y}h{side}v{side}h-{side}z");
            }
            let _ = write!(texts, r#"<text x="{}" y="{}">{}</text>"#, x + 14, y + 18, paint(element).1);
        }
        for (element, path) in &fills {
            self.element(format_args!(r#"<path fill="{}" d="{path}"/>"#, paint(*element).0));
        }
        self.path("fig-one", frames);
        self.element(format_args!(r#"<g class="fig-cell" text-anchor="middle">{texts}</g>"#));

        let (right, bottom) = (left + extents[0] - 2, top + extents[1] - 2);
        for (edge, length) in lines {
            self.edge(edge, length, [(left, top), (right, bottom)]);
        }
    }

    /// The line along one axis: above or at the left of the cells, for blocks below or at the right.
    fn edge(&mut self, edge: &Edge, length: i32, [(left, top), (right, bottom)]: [(i32, i32); 2]) {
        let class = edge.line.class();
        let arrow = class == "fig-new";
        let kinds = if arrow { "fig-new-text" } else { "" };
        if edge.across {
            let y = if edge.blocks { bottom + 9 } else { top - 9 };
            let (start, end) = if arrow { ("", "m-6 -4l6 4l-6 4") } else { ("m0 -4v8m0 -4", "m0 -4v8") };
            self.path(class, format_args!("M{left} {y}{start}h{length}{end}"));
            let below = if edge.blocks { y + 16 } else { y - 6 };
            self.text(kinds, (left + length / 2, below), "middle", &edge.label);
        } else {
            let x = if edge.blocks { right + 9 } else { left - 9 };
            let (start, end) = if arrow { ("", "m-4 -6l4 6l4 -6") } else { ("m-4 0h8m-4 0", "m-4 0h8") };
            self.path(class, format_args!("M{x} {top}{start}v{length}{end}"));
            let (beside, anchor) = if edge.blocks { (x + 8, "start") } else { (x - 8, "end") };
            self.text(kinds, (beside, top + length / 2 + 4), anchor, &edge.label);
        }
    }

    /// Shapes aligned at the right, each with its name. A missing axis is a dashed box; what does not stay as it is has
    /// the colour of repetition. The last shape is the result.
    pub(crate) fn shapes(&mut self, (left, top): (i32, i32), shapes: &[(&str, Vec<(String, bool)>)]) {
        let most = shapes.iter().map(|shape| shape.1.len()).max().unwrap_or(0);
        for (row, (name, sizes)) in shapes.iter().enumerate() {
            let y = top + 34 * count(row) + if row + 1 == shapes.len() { 12 } else { 0 };
            self.text("", (left, y + 18), "start", name);
            for column in 0..most {
                let x = left + 54 + 38 * count(column);
                let size = (column + sizes.len()).checked_sub(most).map(|axis| &sizes[axis]);
                let class = if size.is_none_or(|size| size.1) { "fig-new" } else { "fig-own" };
                self.path(class, format_args!("M{x} {y}h32v26h-32z"));
                if let Some((size, _)) = size {
                    self.text("", (x + 16, y + 18), "middle", size);
                }
            }
        }
        let (y, length) = (top + 34 * count(shapes.len() - 1) + 2, 54 + 38 * count(most) - 6);
        self.path("fig-own", format_args!("M{left} {y}h{length}"));
    }

    fn path(&mut self, class: &str, d: impl Display) {
        self.element(format_args!(r#"<path class="{class}" d="{d}"/>"#));
    }

    fn element(&mut self, element: impl Display) {
        let _ = writeln!(self.body, "{element}");
    }

    /// The file. It has no empty line, so that Markdown takes it as it is.
    pub(crate) fn finish(self) -> String {
        let Self { title, height, body } = self;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" style="max-width:100%" role="img">
<title>{title}</title>
<style>{STYLE}</style>
<rect class="fig-ground" x=".5" y=".5" width="{}" height="{}" rx="6"/>
{body}</svg>
"#,
            WIDTH - 1,
            height - 1
        )
    }
}

/// A number of cells as a factor of coordinates.
fn count(n: usize) -> i32 {
    i32::try_from(n).expect("a figure has few cells")
}
