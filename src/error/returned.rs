//! An error that gives back an array passed by value.

use super::BroadcastError;
use core::error::Error;
use core::fmt;
use ndarray::ShapeError;

/// A [`BroadcastError`] with the array that the call took by value, unchanged, and the operand if that was passed by value too.
///
/// `?` converts it into a [`BroadcastError`] or a [`ShapeError`]. It prints like the former.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1};
/// use ndarray_broadcast::{prelude::*, BroadcastError};
///
/// fn sum(x: Array1<f64>, y: &Array1<f64>) -> Result<Array1<f64>, BroadcastError> {
///     Ok(x.into_broadcast_map(y, |x, y| x + y)?)
/// }
/// assert!(sum(array![1.0, 2.0], &array![1.0, 2.0, 3.0]).is_err());
///
/// let x = array![1.0, 2.0];
/// let place = x.as_ptr();
/// let returned = x.into_broadcast_map(&array![1.0, 2.0, 3.0], |x, y| x + y).unwrap_err();
/// assert_eq!(returned.error().to_string(), returned.to_string());
/// assert_eq!(returned.into_inner().as_ptr(), place);
///
/// let (x, y) = (array![1.0, 2.0], array![1.0, 2.0, 3.0]);
/// let places = (x.as_ptr(), y.as_ptr());
/// let (x, y) = x.into_broadcast_map(y, |x, y| x + y).unwrap_err().into_operands();
/// assert_eq!((x.as_ptr(), y.as_ptr()), places);
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// `std::sync::mpsc::SendError`, which gives back the value that was not sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Returned<T, O = ()> {
    inner: T,
    operands: O,
    error: BroadcastError,
}

impl<T, O> Returned<T, O> {
    pub(crate) fn new(inner: T, operands: O, error: BroadcastError) -> Self {
        Self { inner, operands, error }
    }

    /// The error; see the example of the [type](Self). [`BroadcastError::from`] takes it out.
    #[must_use]
    pub fn error(&self) -> &BroadcastError {
        &self.error
    }

    /// The array that the call took; see the example of the [type](Self).
    #[must_use]
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// The array and the operand that the call took; see the example of the [type](Self).
    #[must_use]
    pub fn into_operands(self) -> (T, O) {
        (self.inner, self.operands)
    }
}

impl<T, O> From<Returned<T, O>> for BroadcastError {
    fn from(returned: Returned<T, O>) -> Self {
        returned.error
    }
}

/// The nearest of ndarray's error kinds; the message and the array are lost.
impl<T, O> From<Returned<T, O>> for ShapeError {
    fn from(returned: Returned<T, O>) -> Self {
        returned.error.into()
    }
}

impl<T, O> fmt::Display for Returned<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T, O> fmt::Debug for Returned<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<T, O> Error for Returned<T, O> {}
