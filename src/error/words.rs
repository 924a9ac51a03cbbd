//! Shapes, lists and numbers as messages write them.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// A number of axes in words.
pub(super) fn count(axes: usize) -> String {
    if axes == 1 { "1 axis".into() } else { format!("{axes} axes") }
}

/// A shape as `[2, 3]`.
pub(super) struct Bracketed<'a>(pub(super) &'a Vec<usize>);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

/// `broadcast shapes a, b and c together`.
pub(super) fn together<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    shapes: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    match shapes.len() {
        0 => f.write_str("broadcast no shapes"),
        1 => {
            f.write_str("broadcast shape ")?;
            listed(f, shapes)
        }
        _ => {
            f.write_str("broadcast shapes ")?;
            listed(f, shapes)?;
            f.write_str(" together")
        }
    }
}

/// `a, b and c`.
pub(super) fn listed<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    let count = items.len();
    if count == 0 {
        return f.write_str("none");
    }
    for (i, item) in items.enumerate() {
        match i {
            0 => write!(f, "{item}")?,
            _ if i + 1 == count => write!(f, " and {item}")?,
            _ => write!(f, ", {item}")?,
        }
    }
    Ok(())
}

/// A shape as `(2; 6, 6)`: batch, then base.
pub(super) struct Split<'a>(pub(super) &'a (Vec<usize>, usize));

impl fmt::Display for Split<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, base) = self.0;
        let (batch, base) = shape.split_at(shape.len() - base);
        let comma = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let space = if base.is_empty() { "" } else { " " };
        write!(f, "({};{space}{})", comma(batch), comma(base))
    }
}

/// A part of a shape as `batch shape [2] of (2; 6, 6)`.
pub(super) struct Region<'a> {
    word: &'static str,
    sizes: &'a [usize],
    whole: &'a (Vec<usize>, usize),
}

impl<'a> Region<'a> {
    pub(super) fn of(word: &'static str, whole: &'a (Vec<usize>, usize)) -> Self {
        let (batch, base) = whole.0.split_at(whole.0.len() - whole.1);
        Self { word, sizes: if word == "base" { base } else { batch }, whole }
    }
}

impl fmt::Display for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shape {:?} of {}", self.word, self.sizes, Split(self.whole))
    }
}

/// `broadcast batch shapes [2] of (2; 6, 6) and [3] of (3; 6) together`.
pub(super) fn regions_together(
    f: &mut fmt::Formatter<'_>,
    word: &'static str,
    shapes: &[(Vec<usize>, usize)],
) -> fmt::Result {
    write!(f, "broadcast {word} shape{} ", if shapes.len() == 1 { "" } else { "s" })?;
    let region = |shape| {
        let region = Region::of(word, shape);
        format!("{:?} of {}", region.sizes, Split(region.whole))
    };
    listed(f, shapes.iter().map(region))?;
    f.write_str(if shapes.len() == 1 { "" } else { " together" })
}
