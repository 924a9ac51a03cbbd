//! Shapes of all sorts, as messages and pictures write them.

use alloc::{boxed::Box, format, string::String, string::ToString, vec::Vec};

/// Where a picture has the sizes of a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// At the right: the whole shape, or its batch. Bases start in one column.
    Right,
    /// At the right: both batch and base.
    RightBase,
    /// In the columns of the bases.
    Base,
    /// Each at the axis that the caller named for it.
    AtAxes,
    /// At the axes that the caller did not name, with `*` at the others.
    AroundAxes,
    /// As a shape without axes of its own: `*` at the named ones. No target has it, so the row is for no shape.
    Stars,
    /// Nowhere: the error has no picture of shapes.
    Hidden,
}

impl Align {
    /// Whether the axes that the caller named say where the sizes are.
    pub(super) fn is_by_axis(self) -> bool {
        matches!(self, Self::AtAxes | Self::AroundAxes | Self::Stars)
    }
}

/// A shape: its sizes, how they are written, and where a picture has them.
#[derive(Clone)]
pub(crate) struct Shape {
    /// The sizes, unless the number of axes is unknown.
    sizes: Option<Vec<Box<str>>>,
    /// Whether it is written `2x3`, or `2x3 (base 1)` with a base; else `[2, 3]`, or `(2; 3)` with a base.
    is_crossed: bool,
    /// The number of base axes of a shape with a batch.
    base: Option<usize>,
    pub(super) align: Align,
}

/// The shape of a row that shows only named axes.
pub(super) static STARS: Shape =
    Shape { sizes: Some(Vec::new()), is_crossed: false, base: None, align: Align::Stars };

impl Shape {
    /// A shape as a list of sizes, the last of which may be its base: `[2, n]`, `(2; n)`.
    pub(crate) fn list(sizes: Vec<Box<str>>, base: Option<usize>) -> Self {
        Self { sizes: Some(sizes), is_crossed: false, base, align: Align::Right }
    }

    /// A shape whose last `base` axes are its base: `(2; 3)`.
    pub(crate) fn with_base(sizes: &[usize], base: usize) -> Self {
        Self::list(sizes.iter().map(|&size| signed(size as i128).into()).collect(), Some(base))
    }

    /// A partially known shape: `2x?`, `2x? (base 1)`, `*` without any sizes.
    #[cfg(feature = "partial")]
    pub(crate) fn partial(sizes: Option<Vec<Box<str>>>, base: Option<usize>) -> Self {
        Self { sizes, is_crossed: true, base, align: Align::Right }
    }

    /// The sizes; none where the number of axes is unknown.
    pub(super) fn sizes(&self) -> &[Box<str>] {
        self.sizes.as_deref().unwrap_or_default()
    }

    /// The batch and the base.
    pub(super) fn parts(&self) -> [&[Box<str>]; 2] {
        let sizes = self.sizes();
        let base = if self.align == Align::Base { usize::MAX } else { self.base.unwrap_or(0) };
        let (batch, base) = sizes.split_at(sizes.len().saturating_sub(base));
        [batch, base]
    }

    /// Leaves the batch only.
    pub(super) fn drop_base(&mut self) {
        let batch = self.parts()[0].len();
        self.sizes.iter_mut().for_each(|sizes| sizes.truncate(batch));
        self.base = None;
    }

    /// The shape as messages have it.
    pub(super) fn text(&self) -> String {
        let [batch, base] = self.parts().map(|part| part.join(", "));
        let crossed = match &self.sizes {
            None => "*".into(),
            Some(sizes) if sizes.is_empty() => "[]".into(),
            Some(sizes) => sizes.join("x"),
        };
        match self.base {
            None if self.is_crossed => crossed,
            None => format!("[{}]", self.sizes().join(", ")),
            Some(axes) if self.is_crossed => format!("{crossed} (base {axes})"),
            Some(_) if base.is_empty() => format!("({batch};)"),
            Some(_) => format!("({batch}; {base})"),
        }
    }

    /// The first character of the shape in a picture: `*` stands for an unknown number of axes.
    pub(super) fn open(&self) -> &'static str {
        match (&self.sizes, self.base) {
            (None, _) => "*",
            (_, None) => "[",
            (_, Some(_)) => "(",
        }
    }
}

/// A number of at most 64 bits and a sign, as text. Printing an `i128` adds 2 kB to a program.
pub(crate) fn signed(number: i128) -> String {
    match u64::try_from(number) {
        Ok(number) => number.to_string(),
        Err(_) => format!("-{}", u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX)),
    }
}

impl From<&Vec<i128>> for Shape {
    fn from(sizes: &Vec<i128>) -> Self {
        Self::list(sizes.iter().copied().map(|size| signed(size).into()).collect(), None)
    }
}

impl From<&&[usize]> for Shape {
    fn from(sizes: &&[usize]) -> Self {
        Self { base: None, ..Self::with_base(sizes, 0) }
    }
}

/// Not inlined: an inlined `push_str` adds 60 bytes to each call.
#[inline(never)]
pub(super) fn push(text: &mut String, more: &str) {
    text.push_str(more);
}
