//! Shapes and sizes as text: `4x?x3`, `*`, `[]`, `2..5`, `n`.

use super::{Dim, PartialShape};
use crate::error::{BroadcastError, TextFault};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";

/// Reads `4x?x3`, `*` for a shape with an unknown number of axes, and `[]` for no axes.
///
/// # Errors
/// [`InvalidText`](crate::ErrorKind::InvalidText) with the position of the first character that does
/// not fit. Spaces are none of the text.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{Dim, PartialShape};
///
/// let shape: PartialShape = "4x?x2..5xn".parse()?;
/// assert_eq!(shape.dims().unwrap()[..2], [Dim::Known(4), Dim::Unknown]);
/// assert_eq!(shape.to_string(), "4x?x2..5xn");
/// assert_eq!(
///     "2xx3".parse::<PartialShape>().unwrap_err().to_string(),
///     "cannot read \"2xx3\": position 2 needs a size, ?, a range such as 2..5 or a name",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for PartialShape {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self, BroadcastError> {
        match text {
            "*" => return Ok(Self::unranked()),
            "[]" => return Ok(Self::ranked([])),
            _ => {}
        }
        // as many as there are: a vector that grows takes up to three times as much
        let axes = text.bytes().filter(|&byte| byte == b'x').count() + 1;
        let (mut dims, mut start) = (Vec::with_capacity(axes), 0);
        for part in text.split('x') {
            let dim = dim(part).map_err(|(at, expected)| invalid(text, start + at, expected))?;
            dims.push(dim);
            start += part.len() + 1;
        }
        Ok(Self::ranked(dims))
    }
}

/// Reads `3`, `?`, `2..5`, `2..`, `..5` or a name.
///
/// # Errors
/// [`InvalidText`](crate::ErrorKind::InvalidText) with the position of the first character that does
/// not fit.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::Dim;
///
/// assert_eq!("2..5".parse::<Dim>()?, Dim::range(2..=5)?);
/// assert!("5..2".parse::<Dim>().is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for Dim {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self, BroadcastError> {
        dim(text).map_err(|(at, expected)| invalid(text, at, expected))
    }
}

/// Prints as `4x?x3`, `*` for an unknown number of axes, `[]` for none. The text reads back as the same shape.
impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dims() {
            None => f.write_str("*"),
            Some([]) => f.write_str("[]"),
            Some([first, rest @ ..]) => {
                first.fmt(f)?;
                rest.iter().try_for_each(|dim| write!(f, "x{dim}"))
            }
        }
    }
}

/// Whether `text` is a name.
pub(super) fn name(text: &str) -> Result<(), BroadcastError> {
    word(text).map_err(|(at, expected)| invalid(text, at, expected))
}

fn invalid(text: &str, byte: usize, expected: &'static str) -> BroadcastError {
    let position = text.char_indices().take_while(|&(at, _)| at < byte).count();
    BroadcastError::invalid_text(text, position, expected)
}

fn dim(text: &str) -> Result<Dim, TextFault> {
    if text == "?" {
        return Ok(Dim::Unknown);
    }
    if let Some((lo, hi)) = text.split_once("..") {
        return range(lo, hi);
    }
    match text.as_bytes().first() {
        Some(byte) if byte.is_ascii_digit() => size(text, "a digit, x or ..").map(Dim::Known),
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
            word(text)?;
            Dim::name(text).map_err(|_| (0, A_DIM))
        }
        _ => Err((0, A_DIM)),
    }
}

fn range(lo: &str, hi: &str) -> Result<Dim, TextFault> {
    let end = lo.len() + "..".len();
    if lo.is_empty() && hi.is_empty() {
        return Err((end, "a size at one end of the range at least"));
    }
    let from = if lo.is_empty() { 0 } else { size(lo, "a digit, x or ..")? };
    if hi.is_empty() {
        return Dim::range(from..).map_err(|_| (0, A_DIM));
    }
    let to = size(hi, "a digit or x").map_err(|(at, expected)| (end + at, expected))?;
    Dim::range(from..=to).map_err(|_| (end, "an end of the range that is not below its start"))
}

/// Reads digits as a number; `next` may follow them.
fn size(digits: &str, next: &'static str) -> Result<usize, TextFault> {
    let wrong = digits.bytes().position(|byte| !byte.is_ascii_digit());
    if let Some(at) = wrong.or(digits.is_empty().then_some(0)) {
        return Err((at, if at == 0 { "a size" } else { next }));
    }
    digits.parse().map_err(|_| (0, "a size that is not past usize::MAX"))
}

fn word(text: &str) -> Result<(), TextFault> {
    let fits = |at: usize, byte: u8| {
        (byte.is_ascii_alphabetic() && byte != b'x') || byte == b'_' || (at > 0 && byte.is_ascii_digit())
    };
    let wrong = text.bytes().enumerate().find(|&(at, byte)| !fits(at, byte)).map(|(at, _)| at);
    match wrong.or(text.is_empty().then_some(0)) {
        None => Ok(()),
        Some(0) => Err((0, "a letter but x, or _")),
        Some(at) => Err((at, "a letter but x, a digit or _")),
    }
}
