//! Shapes of all sorts, as messages and pictures write them.

use super::caller::Align;
use alloc::{boxed::Box, vec::Vec};
use core::fmt::{self, Display};

/// A shape: its sizes, how they are written, and where a picture has them.
#[derive(Clone)]
pub(crate) struct Shape {
    /// The sizes, unless the number of axes is unknown.
    cells: Option<Vec<Cell>>,
    notation: Notation,
    /// The number of base axes of a shape with a batch.
    base: Option<usize>,
    pub(super) align: Align,
}

/// One size, as far as it is known.
#[derive(Clone)]
pub(crate) enum Cell {
    Size(usize),
    /// A number below 0, by its magnitude.
    Negative(u64),
    Unknown,
    /// A size from the first to the second, if that has an end.
    Range(usize, Option<usize>),
    /// A named size, with its range as text.
    Name(Box<str>),
}

#[derive(Clone, Copy)]
enum Notation {
    /// `[2, 3]`, or `(2; 3)` with a base.
    List,
    /// `2x3`, or `2x3 (base 1)` with a base.
    Crossed,
}

impl Shape {
    fn list(cells: Vec<Cell>, base: Option<usize>) -> Self {
        Self { cells: Some(cells), notation: Notation::List, base, align: Align::Right }
    }

    /// A shape with its last `base` axes apart: `(2; 3)`.
    pub(crate) fn with_base(sizes: &[usize], base: usize) -> Self {
        Self::list(sizes.iter().copied().map(Cell::Size).collect(), Some(base))
    }

    /// A target with names: `[2, n]`.
    pub(crate) fn listed(cells: Vec<Cell>) -> Self {
        Self::list(cells, None)
    }

    /// A partially known shape: `2x?`, `2x? (base 1)`, `*` without any sizes.
    pub(crate) fn partial(cells: Option<Vec<Cell>>, base: Option<usize>) -> Self {
        Self { cells, notation: Notation::Crossed, base, align: Align::Right }
    }

    /// The sizes; none where the number of axes is unknown.
    pub(super) fn cells(&self) -> &[Cell] {
        self.cells.as_deref().unwrap_or_default()
    }

    /// The batch and the base.
    pub(super) fn parts(&self) -> [&[Cell]; 2] {
        let cells = self.cells();
        let base = if self.align == Align::Base { usize::MAX } else { self.base.unwrap_or(0) };
        let (batch, base) = cells.split_at(cells.len().saturating_sub(base));
        [batch, base]
    }

    /// The batch of a shape, by itself.
    pub(super) fn without_base(&self) -> Self {
        let cells = self.cells.as_ref().map(|_| self.parts()[0].to_vec());
        Self { cells, base: None, ..*self }
    }

    /// The first character of the shape in a picture: `*` stands for an unknown number of axes.
    pub(super) fn open(&self) -> &'static str {
        match (&self.cells, self.base) {
            (None, _) => "*",
            (_, None) => "[",
            (_, Some(_)) => "(",
        }
    }
}

/// A number of at most 64 bits and a sign. Printing an `i128` adds 2 kB to a program.
impl From<i128> for Cell {
    fn from(number: i128) -> Self {
        match usize::try_from(number) {
            Ok(size) => Self::Size(size),
            Err(_) => Self::Negative(u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX)),
        }
    }
}

impl From<&Vec<i128>> for Shape {
    fn from(sizes: &Vec<i128>) -> Self {
        Self::list(sizes.iter().copied().map(Cell::from).collect(), None)
    }
}

impl From<&&[usize]> for Shape {
    fn from(sizes: &&[usize]) -> Self {
        Self { base: None, ..Self::with_base(sizes, 0) }
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.notation, self.base) {
            (Notation::List, None) => Listed(self.cells()).fmt(f),
            (Notation::List, Some(_)) => {
                let [batch, base] = self.parts();
                f.write_str("(")?;
                separated(f, batch, ", ")?;
                f.write_str(if base.is_empty() { ";" } else { "; " })?;
                separated(f, base, ", ")?;
                f.write_str(")")
            }
            (Notation::Crossed, base) => {
                match self.cells.as_deref() {
                    None => f.write_str("*")?,
                    Some([]) => f.write_str("[]")?,
                    Some(cells) => separated(f, cells, "x")?,
                }
                base.map_or(Ok(()), |base| write!(f, " (base {base})"))
            }
        }
    }
}

/// Sizes that print as `[2, 3]`.
pub(super) struct Listed<'a>(pub(super) &'a [Cell]);

impl Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        separated(f, self.0, ", ")?;
        f.write_str("]")
    }
}

fn separated(f: &mut fmt::Formatter<'_>, cells: &[Cell], separator: &str) -> fmt::Result {
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        Display::fmt(cell, f)?;
    }
    Ok(())
}

impl Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => Display::fmt(size, f),
            Self::Negative(magnitude) => write!(f, "-{magnitude}"),
            Self::Unknown => f.write_str("?"),
            Self::Range(min, None) => write!(f, "{min}.."),
            Self::Range(min, Some(max)) => write!(f, "{min}..{max}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}
