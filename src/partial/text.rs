//! Shapes and sizes as text: `4x?x3`, `[4, ?, 3]`, `*`, `[]`, `2..5`, `n`, `n:2..5`, `"past + 1"`.

use super::dim::{Name, Span};
use super::{Dim, PartialShape};
use crate::error::{BroadcastError, Result};
use alloc::{string::String, vec::Vec};
use core::fmt;
use core::ops::RangeBounds;
use core::str::FromStr;

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";
const END: &str = "a digit or the end of the size";

/// The end of a text from the first character that does not fit, and a description of one that would.
type Fault<'t> = (&'t str, &'static str);

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
        let trimmed = trim(text);
        let dims = match trimmed.strip_prefix('[') {
            _ if trimmed == "*" => return Ok(Self::unranked()),
            Some(list) => listed(list),
            None => dims(trimmed, b'x'),
        };
        dims.map(Self::from).map_err(|fault| invalid(text, fault))
    }
}

/// Reads a list of sizes after its opening bracket.
fn listed(text: &str) -> Result<Vec<Dim>, Fault<'_>> {
    let (list, end) = text.split_at(until(text, b']'));
    let has_none = !end.is_empty() && trim(list).is_empty();
    let dims = if has_none { Vec::new() } else { dims(list, b',')? };
    let rest = end.strip_prefix(']').ok_or((end, "a comma or ]"))?;
    if trim(rest).is_empty() { Ok(dims) } else { Err((trim(rest), "the end")) }
}

/// Reads sizes between separators.
fn dims(mut text: &str, separator: u8) -> Result<Vec<Dim>, Fault<'_>> {
    // counted first: a vector that grows takes up to three times the memory
    let mut dims: Vec<Dim> = Vec::with_capacity(1 + text.bytes().filter(|&byte| byte == separator).count());
    loop {
        let (own, rest) = text.split_at(until(text, separator));
        let read = dim(trim(own))?;
        // names that are equal share their memory, if they are near
        let near = dims[dims.len().saturating_sub(8)..].iter().find(|near| **near == read).cloned();
        dims.push(near.unwrap_or(read));
        match rest.get(1..) {
            Some(next) => text = next,
            None => return Ok(dims),
        }
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

/// The text without the spaces around it. Of spaces alone, their end is left, where an error counts from.
fn trim(text: &str) -> &str {
    text.trim_start_matches(' ').trim_end_matches(' ')
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
/// assert_eq!("max_len".parse::<Dim>()?, Dim::name("max_len")?);
/// assert!("5..2".parse::<Dim>().is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
impl FromStr for Dim {
    type Err = BroadcastError;

    fn from_str(text: &str) -> Result<Self> {
        dim(trim(text)).map_err(|fault| invalid(text, fault))
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
        if word(self.0).is_ok() && !self.0.contains('x') {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', r"\\").replace('"', r#"\""#))
    }
}

impl Dim {
    /// A named size.
    ///
    /// Any text can be a name. A shape's text has it in quotes if it would be read as something else: a name without quotes
    /// has only ASCII letters other than `x`, digits and `_`, and does not begin with a digit.
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
            return Err(invalid(name, (name, "a name")));
        }
        Ok(Self::declared(name, Self::range(sizes)?.span()))
    }
}

/// The error of a text with a fault.
fn invalid(text: &str, (rest, expected): Fault<'_>) -> BroadcastError {
    let before = &text[..rest.as_ptr().addr() - text.as_ptr().addr()];
    BroadcastError::invalid_text(text, before.chars().count(), expected)
}

fn dim(text: &str) -> Result<Dim, Fault<'_>> {
    let (name, rest) = match text.as_bytes() {
        b"?" => return Ok(Dim::Unknown),
        [b'"', ..] => unquoted(text)?,
        [b'?', b'0'..=b'9', ..] | [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
            let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
            word(name)?;
            (name.into(), rest)
        }
        _ => return span(text).map(Dim::from),
    };
    match rest.as_bytes() {
        [] => Ok(Dim::declared(&name, Span::ANY)),
        [b':', b'0'..=b'9' | b'.', ..] => Ok(Dim::declared(&name, span(&rest[1..])?)),
        [b':', ..] => Err((&rest[1..], "a range such as 2..5")),
        _ => Err((rest, "a colon or the end of the size")),
    }
}

/// Reads a size or a range.
fn span(text: &str) -> Result<Span, Fault<'_>> {
    match text.split_once("..").filter(|(lo, _)| !lo.contains('.')) {
        Some(("", "")) => Err((&text[2..], "a size at one end of the range at least")),
        Some((lo, hi)) => {
            let lo = if lo.is_empty() { 0 } else { size(lo, "a digit or ..")? };
            let end = if hi.is_empty() { usize::MAX } else { size(hi, END)? };
            let fault = (hi, "an end of the range that is not below its start");
            if lo <= end { Ok(Span { lo, hi: end }) } else { Err(fault) }
        }
        None if text.starts_with(|first: char| first.is_ascii_digit()) => {
            size(text, "a digit, .. or the end of the size").map(Span::of)
        }
        None => Err((text, A_DIM)),
    }
}

/// Reads a name in quotes. Returns it with what follows the closing quote.
fn unquoted(text: &str) -> Result<(String, &str), Fault<'_>> {
    let (mut name, mut chars) = (String::new(), text[1..].chars());
    loop {
        let rest = chars.as_str();
        match chars.next() {
            Some('"') if name.is_empty() => return Err((rest, "a name")),
            Some('"') => return Ok((name, chars.as_str())),
            Some('\\') => match chars.next() {
                Some(escaped @ ('"' | '\\')) => name.push(escaped),
                _ => return Err((&rest[1..], "\" or \\")),
            },
            Some(char) => name.push(char),
            None => return Err((rest, "\"")),
        }
    }
}

/// Reads digits as a number. `next` names the characters that may follow, for the error.
fn size<'t>(digits: &'t str, next: &'static str) -> Result<usize, Fault<'t>> {
    let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
    if !rest.is_empty() {
        return Err((rest, if rest.len() == digits.len() { "a size" } else { next }));
    }
    digits.parse().map_err(|_| (digits, "a size that is not past usize::MAX"))
}

/// Checks that a name can stand without quotes. `?` and digits are a name of [`Names::fresh`](super::Names::fresh).
fn word(text: &str) -> Result<(), Fault<'_>> {
    let digits_only = matches!(text.as_bytes(), [b'?', b'0'..=b'9', ..]);
    let next = if digits_only { END } else { "a letter, a digit or _" };
    for (i, byte) in text.bytes().enumerate().skip(usize::from(digits_only)) {
        let is_letter = byte == b'_' || byte.is_ascii_alphabetic();
        if !(byte.is_ascii_digit() && i > 0 || is_letter && !digits_only) {
            return Err((&text[i..], next));
        }
    }
    if text.is_empty() { Err((text, next)) } else { Ok(()) }
}
