//! Shapes and sizes as text: `4x?x3`, `[4, ?, 3]`, `*`, `[]`, `2..5`, `n`.

use super::dim::Name;
use super::{Dim, PartialShape};
use crate::error::{BroadcastError, TextFault};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";

/// A notation for the sizes of a shape.
struct Notation {
    separator: char,
    /// The words for what can follow the digits of a size.
    after_size: &'static str,
    /// The words for what can follow the digits at the end of a range.
    after_range: &'static str,
}

const CROSSED: Notation =
    Notation { separator: 'x', after_size: "a digit, x or ..", after_range: "a digit or x" };
const LISTED: Notation = Notation {
    separator: ',',
    after_size: "a digit, a comma, ] or ..",
    after_range: "a digit, a comma or ]",
};

/// Reads `4x?x3` or `[4, ?, 3]`, `*` for a shape with an unknown number of axes, and `[]` for no axes.
///
/// Spaces may stand around each size and around the whole.
///
/// # Errors
/// [`InvalidText`](crate::ErrorKind::InvalidText) with the position of the first character that does
/// not fit.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{Dim, PartialShape};
///
/// let shape: PartialShape = "4x?x2..5xn".parse()?;
/// assert_eq!(shape.dims().unwrap()[..2], [Dim::Known(4), Dim::Unknown]);
/// assert_eq!(shape.to_string(), "4x?x2..5xn");
/// assert_eq!("[4, ?, 2..5, n]".parse::<PartialShape>()?, shape);
/// assert_eq!("4 x ? x 2..5 x n".parse::<PartialShape>()?, shape);
/// assert_eq!(
///     "2xx3".parse::<PartialShape>().unwrap_err().to_string(),
///     "cannot read \"2xx3\": position 2 needs a size, ?, a range such as 2..5 or a name",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for PartialShape {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self, BroadcastError> {
        let (start, trimmed) = trim(text);
        let shape = match trimmed.strip_prefix('[') {
            _ if trimmed == "*" => Ok(Self::unranked()),
            Some(list) => listed(list).map_err(|(at, expected)| (1 + at, expected)),
            None => dims(trimmed, &CROSSED).map(Self::from),
        };
        shape.map_err(|(at, expected)| invalid(text, start + at, expected))
    }
}

/// Reads a list of sizes after its opening bracket.
fn listed(text: &str) -> Result<PartialShape, TextFault> {
    let (list, after) = text.split_once(']').map_or((text, None), |(list, after)| (list, Some(after)));
    let no_axes = after.is_some() && trim(list).1.is_empty();
    let shape = if no_axes { Vec::new() } else { dims(list, &LISTED)? };
    let Some(after) = after else { return Err((text.len(), "a comma or ]")) };
    let (at, rest) = trim(after);
    if rest.is_empty() { Ok(shape.into()) } else { Err((list.len() + 1 + at, "the end")) }
}

/// Reads sizes that are separated as in `notation`.
fn dims(text: &str, notation: &Notation) -> Result<Vec<Dim>, TextFault> {
    // counted first: a vector that grows takes up to three times the memory
    let axes = text.matches(notation.separator).count() + 1;
    let (mut dims, mut start) = (Vec::with_capacity(axes), 0);
    for part in text.split(notation.separator) {
        let (before, trimmed) = trim(part);
        dims.push(dim(trimmed, notation).map_err(|(at, expected)| (start + before + at, expected))?);
        start += part.len() + 1;
    }
    Ok(dims)
}

/// The number of spaces before the text, and the text without the spaces around it.
fn trim(text: &str) -> (usize, &str) {
    let from_start = text.trim_start_matches(' ');
    (text.len() - from_start.len(), from_start.trim_end_matches(' '))
}

/// Reads `3`, `?`, `2..5`, `2..`, `..5` or a name, with or without spaces around it.
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
        let (start, trimmed) = trim(text);
        dim(trimmed, &CROSSED).map_err(|(at, expected)| invalid(text, start + at, expected))
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

/// Checks that `text` is a name.
pub(super) fn name(text: &str) -> Result<(), BroadcastError> {
    word(text).map_err(|(at, expected)| invalid(text, at, expected))
}

fn invalid(text: &str, byte: usize, expected: &'static str) -> BroadcastError {
    let position = text.char_indices().take_while(|&(at, _)| at < byte).count();
    BroadcastError::invalid_text(text, position, expected)
}

fn dim(text: &str, notation: &Notation) -> Result<Dim, TextFault> {
    if text == "?" {
        return Ok(Dim::Unknown);
    }
    if let Some((lo, hi)) = text.split_once("..") {
        return range(lo, hi, notation);
    }
    match text.as_bytes().first() {
        Some(byte) if byte.is_ascii_digit() => size(text, notation.after_size).map(Dim::Known),
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
            word(text).map(|()| Dim::Name(Name(text.into())))
        }
        _ => Err((0, A_DIM)),
    }
}

fn range(lo: &str, hi: &str, notation: &Notation) -> Result<Dim, TextFault> {
    let end = lo.len() + "..".len();
    if lo.is_empty() && hi.is_empty() {
        return Err((end, "a size at one end of the range at least"));
    }
    let from = if lo.is_empty() { 0 } else { size(lo, notation.after_size)? };
    let to = match hi {
        "" => usize::MAX,
        _ => size(hi, notation.after_range).map_err(|(at, expected)| (end + at, expected))?,
    };
    Dim::range(from..=to).map_err(|_| (end, "an end of the range that is not below its start"))
}

/// Reads digits as a number. `next` names the characters that may follow, for the error.
fn size(digits: &str, next: &'static str) -> Result<usize, TextFault> {
    if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
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
