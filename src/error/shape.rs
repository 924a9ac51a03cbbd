//! Shapes of all sorts, as messages and pictures write them.

use super::caller::Align;
use alloc::{format, string::String, string::ToString, vec::Vec};
use core::fmt::{self, Display};

/// A shape: its sizes, how they are written, and where a picture has them.
#[derive(Clone)]
pub(crate) struct Shape {
    /// The sizes, unless the number of axes is unknown.
    sizes: Option<Vec<String>>,
    /// Whether it is written `2x3`, or `2x3 (base 1)` with a base; else `[2, 3]`, or `(2; 3)` with a base.
    is_crossed: bool,
    /// The number of base axes of a shape with a batch.
    base: Option<usize>,
    pub(super) align: Align,
}

/// The shape of a row that is for named axes only.
pub(super) static STARS: Shape =
    Shape { sizes: Some(Vec::new()), is_crossed: false, base: None, align: Align::Stars };

impl Shape {
    fn list(sizes: Vec<String>, base: Option<usize>) -> Self {
        Self { sizes: Some(sizes), is_crossed: false, base, align: Align::Right }
    }

    /// A shape with its last `base` axes apart: `(2; 3)`.
    pub(crate) fn with_base(sizes: &[usize], base: usize) -> Self {
        Self::list(sizes.iter().map(usize::to_string).collect(), Some(base))
    }

    /// A target with names: `[2, n]`.
    pub(crate) fn listed(sizes: Vec<String>) -> Self {
        Self::list(sizes, None)
    }

    /// A partially known shape: `2x?`, `2x? (base 1)`, `*` without any sizes.
    pub(crate) fn partial(sizes: Option<Vec<String>>, base: Option<usize>) -> Self {
        Self { sizes, is_crossed: true, base, align: Align::Right }
    }

    /// The sizes; none where the number of axes is unknown.
    pub(super) fn sizes(&self) -> &[String] {
        self.sizes.as_deref().unwrap_or_default()
    }

    /// The batch and the base.
    pub(super) fn parts(&self) -> [&[String]; 2] {
        let sizes = self.sizes();
        let base = if self.align == Align::Base { usize::MAX } else { self.base.unwrap_or(0) };
        let (batch, base) = sizes.split_at(sizes.len().saturating_sub(base));
        [batch, base]
    }

    /// The batch of a shape, by itself.
    pub(super) fn without_base(&self) -> Self {
        let sizes = self.sizes.as_ref().map(|_| self.parts()[0].to_vec());
        Self { sizes, base: None, ..*self }
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
        Self::list(sizes.iter().copied().map(signed).collect(), None)
    }
}

impl From<&&[usize]> for Shape {
    fn from(sizes: &&[usize]) -> Self {
        Self { base: None, ..Self::with_base(sizes, 0) }
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [batch, base] = self.parts();
        match (self.base, &self.sizes) {
            (None, _) if !self.is_crossed => write!(f, "[{}]", self.sizes().join(", ")),
            (Some(_), _) if !self.is_crossed => {
                let space = if base.is_empty() { "" } else { " " };
                write!(f, "({};{space}{})", batch.join(", "), base.join(", "))
            }
            (Some(base), _) => write!(f, "{} (base {base})", Self { base: None, ..self.clone() }),
            (None, None) => f.write_str("*"),
            (None, Some(sizes)) if sizes.is_empty() => f.write_str("[]"),
            (None, Some(sizes)) => f.write_str(&sizes.join("x")),
        }
    }
}
