//! Known and partially known sizes.

use crate::error::{BroadcastError, Result};
use alloc::{boxed::Box, string::String, string::ToString, sync::Arc};
use core::fmt;
use core::ops::{Bound, RangeBounds};

/// A known or partially known size of one axis.
///
/// Every `Dim` has one form: a range of one size is [`Known`](Self::Known), and `0..` is
/// [`Unknown`](Self::Unknown), so that `==` compares the possible sizes. A name with a range of one size, `n:3..3`, remains a
/// name, because every other `n` is 3, too.
///
/// | text | [`Dim`] | sizes |
/// |---|---|---|
/// | `3` | `Known(3)` | 3 |
/// | `?` | `Unknown` | any |
/// | `2..5`, `2..`, `..5` | `Range` | 2 to 5, from 2 on, up to 5 (both ends included) |
/// | `n` | `Name` | any, but the same wherever `n` stands |
/// | `n:2..5` | `Name` | the same, from 2 to 5 |
/// | `"past + 1"` | `Name` | as `n`: any text in quotes is a name |
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::Dim;
///
/// assert_eq!(Dim::range(2..=5)?.to_string(), "2..5");
/// assert_eq!("3..3".parse::<Dim>()?, Dim::Known(3));
/// assert_ne!(Dim::name("n")?, Dim::name("m")?);
/// assert!(Dim::range(5..=2).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// MLIR's `ShapedType::kDynamic`, nGraph's `Dimension`, OpenVINO's `Dimension(2, 5)`, the bounds of
/// StableHLO, ONNX's `dim_param` and JAX's symbolic dimensions without their arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dim {
    /// A known size. 0 is a known size other than 1.
    Known(usize),
    /// Any size.
    Unknown,
    /// A size from a range; made by [`Dim::range`].
    Range(SizeRange),
    /// An unknown size, the same wherever the name stands; made by [`Dim::name`] and [`Dim::name_in`].
    Name(Name),
}

impl Dim {
    /// A size from a Rust range.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) for an empty range.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// assert_eq!(Dim::range(2..6)?, Dim::range(2..=5)?);
    /// assert_eq!(Dim::range(4..=4)?, Dim::Known(4));
    /// assert_eq!(Dim::range(..)?, Dim::Unknown);
    /// assert!(Dim::range(2..2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// OpenVINO `Dimension(2, 5)`.
    pub fn range(sizes: impl RangeBounds<usize>) -> Result<Self> {
        let (start, end) = (sizes.start_bound(), sizes.end_bound());
        let number = |bound: Bound<&usize>| match bound {
            Bound::Included(&size) | Bound::Excluded(&size) => Some(size),
            Bound::Unbounded => None,
        };
        let (from, to) = (number(start), number(end));
        let lo = from.unwrap_or(0).checked_add(usize::from(matches!(start, Bound::Excluded(_))));
        let hi = to.unwrap_or(usize::MAX).checked_sub(usize::from(matches!(end, Bound::Excluded(_))));
        if let Some((lo, hi)) = lo.zip(hi).filter(|(lo, hi)| lo <= hi) {
            return Ok(Span { lo, hi }.into());
        }
        let words = |size: Option<usize>| size.map_or_else(String::new, |size| size.to_string());
        let dots = if matches!(end, Bound::Included(_)) { "..=" } else { ".." };
        let text = words(from) + dots + &words(to);
        Err(BroadcastError::invalid_text(&text, 0, "a range that has a size in it"))
    }

    /// Whether `size` is possible, ignoring names.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// assert!(Dim::range(2..)?.admits(2) && Dim::name("n")?.admits(7));
    /// assert!(!Dim::range(2..)?.admits(1));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `Dimension::compatible` with a static dimension.
    #[must_use]
    pub fn admits(&self, size: usize) -> bool {
        self.span().contains(size)
    }

    /// All possible sizes, ignoring names.
    pub(super) fn span(&self) -> Span {
        match *self {
            Self::Known(size) => Span::of(size),
            Self::Range(SizeRange(span)) => span,
            Self::Unknown => Span::ANY,
            Self::Name(ref name) => name.span(),
        }
    }

    /// The size `name`, restricted to `span`, where the other places of the name are known.
    pub(super) fn named(name: &str, span: Span) -> Self {
        span.single().map_or_else(|| Self::declared(name, span), Self::Known)
    }

    /// The size `name`, restricted to `span`, in a shape that a user states.
    pub(super) fn declared(name: &str, span: Span) -> Self {
        Self::Name(Name(Arc::new((name.into(), span))))
    }

    /// The text of a name, without its range.
    pub(super) fn as_name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name.as_str()) } else { None }
    }
}

impl From<usize> for Dim {
    fn from(size: usize) -> Self {
        Self::Known(size)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(size) => size.fmt(f),
            Self::Unknown => f.write_str("?"),
            Self::Range(range) => range.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// A range of sizes, but not of all: at least two, or those of a name.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::Dim;
///
/// let Dim::Range(range) = Dim::range(2..=5)? else { unreachable!() };
/// assert_eq!((range.min(), range.max()), (2, Some(5)));
/// let Dim::Range(open) = Dim::range(2..)? else { unreachable!() };
/// assert_eq!(open.max(), None);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// OpenVINO's `Dimension(2, 5)`; a `Dim` of `torch.export` with `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SizeRange(Span);

impl SizeRange {
    /// The smallest size. There is an example at the [type](Self).
    #[must_use]
    pub fn min(self) -> usize {
        self.0.lo
    }

    /// The largest size, or `None` if the range has no end. There is an example at the [type](Self).
    #[must_use]
    pub fn max(self) -> Option<usize> {
        (self.0.hi != usize::MAX).then_some(self.0.hi)
    }
}

/// Prints as `2..5`, both ends included, or `2..`.
impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.min())?;
        self.max().map_or(Ok(()), |max| max.fmt(f))
    }
}

/// The name of a size, which may be bounded.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::Dim;
///
/// let Dim::Name(name) = Dim::name("past + 1")? else { unreachable!() };
/// assert_eq!((name.as_str(), name.to_string()), ("past + 1", "\"past + 1\"".to_string()));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// ONNX `dim_param`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Name(Arc<(Box<str>, Span)>);

impl Name {
    /// The name itself, without quotes and range. There is an example at the [type](Self).
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.0
    }

    /// The sizes that the name can stand for, if they are bounded.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Dim;
    ///
    /// let Dim::Name(name) = "batch:2..".parse()? else { unreachable!() };
    /// assert_eq!(name.range().map(|range| (range.min(), range.max())), Some((2, None)));
    /// let Dim::Name(any) = Dim::name("batch")? else { unreachable!() };
    /// assert_eq!(any.range(), None);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    #[must_use]
    pub fn range(&self) -> Option<SizeRange> {
        (self.span() != Span::ANY).then(|| SizeRange(self.span()))
    }

    fn span(&self) -> Span {
        self.0.1
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The sizes from `lo` to `hi`, at least one. `usize::MAX` means no upper end: no axis is that long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub(super) lo: usize,
    pub(super) hi: usize,
}

impl Span {
    pub(super) const ANY: Self = Self { lo: 0, hi: usize::MAX };
    pub(super) const ONE: Self = Self::of(1);

    pub(super) const fn of(size: usize) -> Self {
        Self { lo: size, hi: size }
    }

    pub(super) fn contains(self, size: usize) -> bool {
        self.lo <= size && size <= self.hi
    }

    pub(super) fn covers(self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    pub(super) fn intersect(self, other: Self) -> Option<Self> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// The start (0) or the end (1).
    pub(super) fn end(self, end: usize) -> usize {
        [self.lo, self.hi][end]
    }

    /// The smallest span that covers both.
    pub(super) fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The size, if the span has only one.
    pub(super) fn single(self) -> Option<usize> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// The size, if the span has only one, or only one that is not 1.
    pub(super) fn single_not_one(self) -> Option<usize> {
        match (self.lo, self.hi) {
            (0, 1) => Some(0),
            (1, 2) => Some(2),
            _ => self.single(),
        }
    }
}

impl From<Span> for Dim {
    fn from(span: Span) -> Self {
        match span.single() {
            Some(size) => Self::Known(size),
            None if span == Span::ANY => Self::Unknown,
            None => Self::Range(SizeRange(span)),
        }
    }
}
