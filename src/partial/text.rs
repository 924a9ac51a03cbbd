//! Shapes and sizes as text: `4x?x3`, `[4, ?, 3]`, `*`, `[]`, `2..5`, `n`, `n:2..5`, `"past + 1"`.

use super::dim::{Name, Span};
use super::{Dim, PartialShape};
use crate::error::{BroadcastError, Result, TextFault};
use alloc::{string::String, vec::Vec};
use core::fmt::{self, Write};
use core::ops::RangeBounds;
use core::str::FromStr;

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";

/// The separator of sizes, and descriptions of the characters that can follow a size, final digits, a name in quotes and
/// letters.
type Notation = (char, [&'static str; 4]);

const CROSSED: Notation =
    ('x', ["a digit, x or ..", "a digit or x", "a colon or x", "a letter but x, a digit or _"]);
const LISTED: Notation = (
    ',',
    ["a digit, a comma, ] or ..", "a digit, a comma or ]", "a colon, a comma or ]", "a letter, a digit or _"],
);

/// Reads `4x?x3` or `[4, ?, 3]`, `*` for a shape with an unknown number of axes, and `[]` for no axes.
///
/// Spaces may stand around each size and around the whole. In a list, a name without quotes may have an `x`.
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
/// assert_eq!("[max_len, past + 1]".parse::<PartialShape>().unwrap_err().position(), Some(14));
/// assert_eq!("[max_len, \"past + 1\"]".parse::<PartialShape>()?.to_string(), "\"max_len\"x\"past + 1\"");
/// assert_eq!(
///     "2xx3".parse::<PartialShape>().unwrap_err().to_string(),
///     "cannot read \"2xx3\": position 2 needs a size, ?, a range such as 2..5 or a name",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for PartialShape {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self> {
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
    let end = until(text, b']');
    let list = &text[..end];
    let no_axes = end < text.len() && trim(list, at).0.is_empty();
    let dims = if no_axes { Vec::new() } else { dims(list, at, LISTED)? };
    if end == text.len() {
        return Err((at + end, "a comma or ]"));
    }
    let (rest, at) = trim(&text[end + 1..], at + end + 1);
    if rest.is_empty() { Ok(dims) } else { Err((at, "the end")) }
}

/// Reads sizes that are separated as in `notation`.
fn dims(mut text: &str, mut at: usize, notation: Notation) -> Result<Vec<Dim>, TextFault> {
    let separator = notation.0 as u8;
    // counted first: a vector that grows takes up to three times the memory
    let mut dims: Vec<Dim> = Vec::with_capacity(1 + text.bytes().filter(|&byte| byte == separator).count());
    loop {
        let end = until(text, separator);
        let (trimmed, start) = trim(&text[..end], at);
        let read = dim(trimmed, start, notation)?;
        // names that are equal share their memory, if they are near
        let near = dims[dims.len().saturating_sub(8)..].iter().find(|near| **near == read).cloned();
        dims.push(near.unwrap_or(read));
        if end == text.len() {
            return Ok(dims);
        }
        (text, at) = (&text[end + 1..], at + end + 1);
    }
}

/// The position of the first `stop` outside of quotes, or the length of the text.
fn until(text: &str, stop: u8) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if byte == stop && !quoted {
            return at;
        }
        quoted ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && quoted && !escaped;
    }
    text.len()
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

    fn from_str(text: &str) -> Result<Self> {
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
                rest.iter().try_for_each(|dim| write!(f, "x{dim}"))
            }
        }
    }
}

/// Prints the name and its range, if it has one: `n:2..5`. A name that would be read as something else stands in quotes.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(self.as_str()).fmt(f)?;
        self.range().map_or(Ok(()), |range| write!(f, ":{range}"))
    }
}

/// A name that prints in quotes if it would be read as something else without.
pub(super) struct Quoted<'n>(pub(super) &'n str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if word(self.0, 0, CROSSED).is_ok() {
            return f.write_str(self.0);
        }
        f.write_str("\"")?;
        for char in self.0.chars() {
            if matches!(char, '"' | '\\') {
                f.write_str("\\")?;
            }
            f.write_char(char)?;
        }
        f.write_str("\"")
    }
}

impl Dim {
    /// A named size.
    ///
    /// Any text is a name. The text of a shape has it in quotes where it would be read as something else: a name that is
    /// bare there has ASCII letters other than `x`, digits and `_`, and does not begin with a digit.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) for the empty text: in ONNX, it stands for a size without a name.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// assert_eq!(Dim::name("seq_len")?.to_string(), "seq_len");
    /// assert_eq!(Dim::name("floor(height/2)")?.to_string(), "\"floor(height/2)\"");
    /// assert_eq!("\"max_len\"".parse::<Dim>()?, Dim::name("max_len")?);
    /// assert!(Dim::name("").is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ONNX `dim_param`, `jax.export.symbolic_shape`.
    pub fn name(name: &str) -> Result<Self> {
        Self::name_in(name, ..)
    }

    /// A named size from a Rust range. `2..` says that the size is never 1, so that it never stretches.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) as [`name`](Self::name) and [`range`](Self::range).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{infer_dim, Dim};
    ///
    /// let batch = Dim::name_in("batch", 2..)?;
    /// assert_eq!(batch.to_string(), "batch:2..");
    /// assert_eq!(infer_dim(batch.clone(), Dim::Unknown)?, batch); // ? is 1 or the batch
    /// assert_eq!(Dim::name_in("batch", ..)?, Dim::name("batch")?);
    /// assert_eq!(Dim::name_in("batch", 2..=2)?.to_string(), "batch:2..2"); // every `batch` is 2
    /// assert!(Dim::name_in("batch", 2..2).is_err() && Dim::name_in("", 2..).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.export.Dim("batch", min=2)`.
    pub fn name_in(name: &str, sizes: impl RangeBounds<usize>) -> Result<Self> {
        if name.is_empty() {
            return Err(invalid(name, (0, "a name")));
        }
        Ok(Self::declared(name, Self::range(sizes)?.span()))
    }
}

fn invalid(text: &str, (at, expected): TextFault) -> BroadcastError {
    BroadcastError::invalid_text(text, text[..at].chars().count(), expected)
}

fn dim(text: &str, at: usize, notation: Notation) -> Result<Dim, TextFault> {
    let (name, end) = match text.as_bytes() {
        b"?" => return Ok(Dim::Unknown),
        [b'"', ..] => unquoted(text, at)?,
        [b'?', b'0'..=b'9', ..] | [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
            let end = text.find(':').unwrap_or(text.len());
            word(&text[..end], at, notation)?;
            (text[..end].into(), end)
        }
        _ => return span(text, at, notation).map(Dim::from),
    };
    match text.as_bytes()[end..] {
        [] => Ok(Dim::declared(&name, Span::ANY)),
        [b':', b'0'..=b'9' | b'.', ..] => {
            Ok(Dim::declared(&name, span(&text[end + 1..], at + end + 1, notation)?))
        }
        [b':', ..] => Err((at + end + 1, "a range such as 2..5")),
        _ => Err((at + end, notation.1[2])),
    }
}

/// Reads a size or a range.
fn span(text: &str, at: usize, (_, [after_size, after_range, ..]): Notation) -> Result<Span, TextFault> {
    let Some((lo, hi)) = text.split_once("..").filter(|(lo, _)| !lo.contains('.')) else {
        let is_size = text.starts_with(|first: char| first.is_ascii_digit());
        return if is_size { size(text, at, after_size).map(Span::of) } else { Err((at, A_DIM)) };
    };
    let end = at + lo.len() + "..".len();
    if lo.is_empty() && hi.is_empty() {
        return Err((end, "a size at one end of the range at least"));
    }
    let lo = if lo.is_empty() { 0 } else { size(lo, at, after_size)? };
    let hi = if hi.is_empty() { usize::MAX } else { size(hi, end, after_range)? };
    let fault = (end, "an end of the range that is not below its start");
    if lo <= hi { Ok(Span { lo, hi }) } else { Err(fault) }
}

/// Reads a name in quotes. Returns it with the position after the closing quote.
fn unquoted(text: &str, at: usize) -> Result<(String, usize), TextFault> {
    let (mut name, mut chars) = (String::new(), text.char_indices().skip(1));
    while let Some((i, char)) = chars.next() {
        match char {
            '"' if name.is_empty() => return Err((at + i, "a name")),
            '"' => return Ok((name, i + 1)),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => name.push(escaped),
                _ => return Err((at + i + 1, "\" or \\")),
            },
            _ => name.push(char),
        }
    }
    Err((at + text.len(), "\""))
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

/// Checks that a name can stand without quotes. `?` and digits are a name of [`Names::fresh`](super::Names::fresh).
fn word(text: &str, at: usize, notation: Notation) -> Result<(), TextFault> {
    let (separator, [_, after_digits, _, after_letters]) = notation;
    let digits_only = matches!(text.as_bytes(), [b'?', b'0'..=b'9', ..]);
    let next = if digits_only { after_digits } else { after_letters };
    for (i, byte) in text.bytes().enumerate().skip(usize::from(digits_only)) {
        let is_letter = byte == b'_' || byte.is_ascii_alphabetic() && byte != separator as u8;
        if !(byte.is_ascii_digit() && i > 0 || is_letter && !digits_only) {
            return Err((at + i, next));
        }
    }
    if text.is_empty() { Err((at, next)) } else { Ok(()) }
}
