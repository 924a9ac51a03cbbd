//! Shapes, lists and numbers as messages write them.

use alloc::vec::Vec;
use core::fmt;

/// A number of axes in words.
pub(super) struct Count(pub(super) usize);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { f.write_str("1 axis") } else { write!(f, "{} axes", self.0) }
    }
}

/// Whose number of axes it is: an operand's, or the result's.
pub(super) struct Owner(pub(super) Option<usize>);

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(operand) => write!(f, "operand {operand}"),
            None => f.write_str("the result"),
        }
    }
}

/// How [`listed`] writes an item.
pub(super) type Show<'a, T> = &'a dyn Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result;

/// `broadcast shapes a, b and c together`.
pub(super) fn together<T>(f: &mut fmt::Formatter<'_>, shapes: &[T], show: Show<T>) -> fmt::Result {
    f.write_str(match shapes.len() {
        0 => return f.write_str("broadcast no shapes"),
        1 => "broadcast shape ",
        _ => "broadcast shapes ",
    })?;
    listed(f, shapes, show)?;
    f.write_str(if shapes.len() == 1 { "" } else { " together" })
}

/// `a, b and c`.
pub(super) fn listed<T>(f: &mut fmt::Formatter<'_>, items: &[T], show: Show<T>) -> fmt::Result {
    if items.is_empty() {
        return f.write_str("none");
    }
    for (i, item) in items.iter().enumerate() {
        f.write_str(match i {
            0 => "",
            _ if i + 1 == items.len() => " and ",
            _ => ", ",
        })?;
        show(item, f)?;
    }
    Ok(())
}

/// A shape as `(2; 6, 6)`: batch, then base.
pub(super) struct Split<'a>(pub(super) &'a (Vec<usize>, usize));

impl fmt::Display for Split<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, size) in self.0.0.iter().enumerate() {
            let before = match axis {
                _ if axis == batch(self.0).len() => "; ",
                0 => "",
                _ => ", ",
            };
            write!(f, "{before}{size}")?;
        }
        f.write_str(if base(self.0).is_empty() { ";)" } else { ")" })
    }
}

/// The batch of a shape that has its last axes as base.
pub(super) fn batch((shape, base): &(Vec<usize>, usize)) -> &[usize] {
    &shape[..shape.len() - base]
}

/// The base of a shape that has its last axes as base.
pub(super) fn base((shape, base): &(Vec<usize>, usize)) -> &[usize] {
    &shape[shape.len() - base..]
}
