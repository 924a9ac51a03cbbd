//! Shapes and sizes as text: `4x?x3`, `[4, ?, 3]`, `*`, `[]`, `2..5`, `n`, `n:2..5`.

use super::dim::Name;
use super::{Dim, PartialShape, Span};
use crate::error::{BroadcastError, TextFault};
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeBounds;
use core::str::FromStr;

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";

/// The separator of sizes, and the words for what can follow the digits of a size and of the end of a range.
type Notation = (char, [&'static str; 2]);

const CROSSED: Notation = ('x', ["a digit, x or ..", "a digit or x"]);
const LISTED: Notation = (',', ["a digit, a comma, ] or ..", "a digit, a comma or ]"]);

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
        let (trimmed, at) = trim(text, 0);
        let dims = match trimmed.strip_prefix('[') {
            _ if trimmed == "*" => return Ok(Self::unranked()),
            Some(list) => listed(list, at + 1),
            None => dims(trimmed, at, CROSSED),
        };
        dims.map(Self::from).map_err(|fault| invalid(text, fault))
    }
}

/// Reads a list of sizes after its opening bracket. Here and below, `at` is the position of `text` in the whole.
fn listed(text: &str, at: usize) -> Result<Vec<Dim>, TextFault> {
    let end = text.find(']');
    let list = &text[..end.unwrap_or(text.len())];
    let no_axes = end.is_some() && trim(list, at).0.is_empty();
    let dims = if no_axes { Vec::new() } else { dims(list, at, LISTED)? };
    let Some(end) = end else { return Err((at + text.len(), "a comma or ]")) };
    let (rest, at) = trim(&text[end + 1..], at + end + 1);
    if rest.is_empty() { Ok(dims) } else { Err((at, "the end")) }
}

/// Reads sizes that are separated as in `notation`.
fn dims(text: &str, mut at: usize, notation: Notation) -> Result<Vec<Dim>, TextFault> {
    let parts = || text.split(notation.0);
    // counted first: a vector that grows takes up to three times the memory
    let mut dims = Vec::with_capacity(parts().count());
    for part in parts() {
        let (trimmed, start) = trim(part, at);
        dims.push(dim(trimmed, start, notation)?);
        at += part.len() + 1;
    }
    Ok(dims)
}

/// The text without the spaces around it, and its position.
fn trim(text: &str, at: usize) -> (&str, usize) {
    let from_start = text.trim_start_matches(' ');
    (from_start.trim_end_matches(' '), at + text.len() - from_start.len())
}

/// Reads `3`, `?`, `2..5`, `2..`, `..5`, a name or a name with a range, `n:2..5`, with or without spaces around it.
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
/// assert_eq!("n:2..5".parse::<Dim>()?, Dim::name_in("n", 2..=5)?);
/// assert!("5..2".parse::<Dim>().is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for Dim {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self, BroadcastError> {
        let (trimmed, at) = trim(text, 0);
        dim(trimmed, at, CROSSED).map_err(|fault| invalid(text, fault))
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
                for dim in rest {
                    write!(f, "x{dim}")?;
                }
                Ok(())
            }
        }
    }
}

impl Dim {
    /// A named size.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) unless the name has ASCII letters, digits and `_`
    /// only and does not begin with a digit. A name has no `x`, which separates sizes in the text of a
    /// shape.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// assert_eq!(Dim::name("seq_len")?.to_string(), "seq_len");
    /// assert_eq!(
    ///     Dim::name("max").unwrap_err().to_string(),
    ///     "cannot read \"max\": position 2 needs a letter but x, a digit or _",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ONNX `dim_param`, `jax.export.symbolic_shape`.
    pub fn name(name: &str) -> Result<Self, BroadcastError> {
        match word(name, 0) {
            Ok(word) => Ok(Self::Name(word)),
            Err(fault) => Err(invalid(name, fault)),
        }
    }

    /// A named size from a Rust range.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) as [`name`](Self::name) and [`range`](Self::range).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// assert_eq!(Dim::name_in("batch", 2..)?.to_string(), "batch:2..");
    /// assert_eq!(Dim::name_in("batch", ..)?, Dim::name("batch")?);
    /// assert_eq!(Dim::name_in("batch", 2..=2)?, Dim::Known(2));
    /// assert!(Dim::name_in("batch", 2..2).is_err() && Dim::name_in("2", 2..).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.export.Dim("batch", min=2)`.
    pub fn name_in(name: &str, sizes: impl RangeBounds<usize>) -> Result<Self, BroadcastError> {
        Self::name(name)?;
        Ok(Self::named(name, Self::range(sizes)?.span()))
    }
}

fn invalid(text: &str, (at, expected): TextFault) -> BroadcastError {
    BroadcastError::invalid_text(text, text[..at].chars().count(), expected)
}

fn dim(text: &str, at: usize, notation: Notation) -> Result<Dim, TextFault> {
    let (_, [after_size, after_range]) = notation;
    if let (Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'), Some((name, range))) =
        (text.bytes().next(), text.split_once(':'))
    {
        let named = word(name, at)?;
        let start = at + name.len() + 1;
        let is_range = matches!(range.as_bytes(), [b'0'..=b'9' | b'.', ..]);
        let sizes = if is_range {
            dim(range, start, notation)?
        } else {
            return Err((start, "a range such as 2..5"));
        };
        return Ok(Dim::named(named.as_str(), sizes.span()));
    }
    let range = text.split_once('.').and_then(|(lo, rest)| Some((lo, rest.strip_prefix('.')?)));
    if let Some((lo, hi)) = range {
        let end = at + lo.len() + "..".len();
        let span = match (lo, hi) {
            ("", "") => return Err((end, "a size at one end of the range at least")),
            (_, "") => Span { lo: size(lo, at, after_size)?, hi: usize::MAX },
            ("", _) => Span { lo: 0, hi: size(hi, end, after_range)? },
            _ => Span { lo: size(lo, at, after_size)?, hi: size(hi, end, after_range)? },
        };
        let fault = (end, "an end of the range that is not below its start");
        return if span.lo <= span.hi { Ok(span.into()) } else { Err(fault) };
    }
    match text.as_bytes() {
        b"?" => Ok(Dim::Unknown),
        [b'0'..=b'9', ..] => size(text, at, after_size).map(Dim::Known),
        [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => word(text, at).map(Dim::Name),
        _ => Err((at, A_DIM)),
    }
}

/// Reads digits as a number. `next` names the characters that may follow, for the error.
fn size(digits: &str, at: usize, next: &'static str) -> Result<usize, TextFault> {
    for (i, byte) in digits.bytes().enumerate() {
        if !byte.is_ascii_digit() {
            return Err((at + i, if i == 0 { "a size" } else { next }));
        }
    }
    digits.parse().map_err(|_| (at, "a size that is not past usize::MAX"))
}

fn word(text: &str, at: usize) -> Result<Name, TextFault> {
    let first = (at, "a letter but x, or _");
    for (i, byte) in text.bytes().enumerate() {
        let is_letter = byte == b'_' || (byte.is_ascii_alphabetic() && byte != b'x');
        if !is_letter && (i == 0 || !byte.is_ascii_digit()) {
            return Err(if i == 0 { first } else { (at + i, "a letter but x, a digit or _") });
        }
    }
    if text.is_empty() { Err(first) } else { Ok(Name(text.into())) }
}
