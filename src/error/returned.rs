//! An error that gives back an array passed by value.

use super::BroadcastError;
use core::error::Error;
use core::fmt;
use ndarray::ShapeError;

/// A [`BroadcastError`] with the array that the call took by value, unchanged.
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
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// `std::sync::mpsc::SendError`, which gives back the value that was not sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Returned<T> {
    inner: T,
    error: BroadcastError,
}

impl<T> Returned<T> {
    pub(crate) fn new(inner: T, error: BroadcastError) -> Self {
        Self { inner, error }
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
}

impl<T> From<Returned<T>> for BroadcastError {
    fn from(returned: Returned<T>) -> Self {
        returned.error
    }
}

/// The nearest of ndarray's error kinds; the message and the array are lost.
impl<T> From<Returned<T>> for ShapeError {
    fn from(returned: Returned<T>) -> Self {
        returned.error.into()
    }
}

impl<T> fmt::Display for Returned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T> fmt::Debug for Returned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<T> Error for Returned<T> {}
