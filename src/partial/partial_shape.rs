//! Partially known shapes.

use super::Dim;
use crate::error::Shape;
use alloc::{string::ToString, vec::Vec};
use core::fmt;
use ndarray::{ArrayRef, Dimension};

/// A shape whose sizes, or even number of axes, may be unknown.
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndarray_broadcast::partial::{Dim, PartialShape};
///
/// let shape = PartialShape::ranked([Dim::Known(4), Dim::Unknown]);
/// assert_eq!(shape, "4x?".parse()?);
/// assert_eq!(PartialShape::from([2, 3]), PartialShape::of(&Array2::<f32>::zeros((2, 3))));
/// assert!(shape.accepts(&[4, 9]) && !shape.accepts(&[5, 9]));
/// assert_eq!(PartialShape::unranked().to_string(), "*");
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// MLIR's `tensor<4x?xf32>` and `tensor<*xf32>`, nGraph's `PartialShape`, TensorFlow's `TensorShape`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PartialShape {
    dims: Option<Vec<Dim>>,
}

impl PartialShape {
    /// A shape with a known number of axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Dim, PartialShape};
    ///
    /// assert_eq!(PartialShape::ranked([Dim::Known(2), Dim::Unknown]).to_string(), "2x?");
    /// assert_eq!(PartialShape::ranked([]).to_string(), "[]");
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape{2, Dimension::dynamic()}`, TensorFlow `TensorShape([2, None])`.
    #[must_use]
    pub fn ranked(dims: impl IntoIterator<Item = Dim>) -> Self {
        Self { dims: Some(dims.into_iter().collect()) }
    }

    /// A shape with an unknown number of axes and unknown sizes: `*`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let any = PartialShape::unranked();
    /// assert_eq!((any.dims(), any.ndim()), (None, None));
    /// assert!(any.accepts(&[]) && any.accepts(&[0, 3]));
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape::dynamic()`, TensorFlow `TensorShape(None)`, MLIR `tensor<*xf32>`.
    #[must_use]
    #[doc(alias = "dynamic")]
    pub const fn unranked() -> Self {
        Self { dims: None }
    }

    /// The shape of an array, with all sizes known.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// assert_eq!(PartialShape::of(&array![[1, 2, 3]]).to_string(), "1x3");
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape(shape)`, TensorFlow `x.shape`.
    #[must_use]
    pub fn of<A, D: Dimension>(array: &ArrayRef<A, D>) -> Self {
        array.shape().into()
    }

    /// The sizes, if the number of axes is known.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Dim, PartialShape};
    ///
    /// let shape: PartialShape = "4x?".parse()?;
    /// assert_eq!(shape.dims(), Some(&[Dim::Known(4), Dim::Unknown][..]));
    /// assert_eq!(PartialShape::ranked([]).dims(), Some(&[][..]));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `getShape()` of MLIR's `RankedTensorType`, TensorFlow `TensorShape.dims`.
    #[must_use]
    pub fn dims(&self) -> Option<&[Dim]> {
        self.dims.as_deref()
    }

    /// The number of axes, if it is known.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// assert_eq!("4x?".parse::<PartialShape>()?.ndim(), Some(2));
    /// assert_eq!("*".parse::<PartialShape>()?.ndim(), None);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape::rank()`, TensorFlow `TensorShape.rank`.
    #[must_use]
    pub fn ndim(&self) -> Option<usize> {
        self.dims().map(<[Dim]>::len)
    }

    /// The shape, if every size is known.
    ///
    /// # Shapes
    /// `2x3` gives `[2, 3]` and `[]` gives `[]`; a shape with a range, a name or `?`, and `*`, give `None`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// assert_eq!("2x3".parse::<PartialShape>()?.sizes(), Some(vec![2, 3]));
    /// assert_eq!("2x?".parse::<PartialShape>()?.sizes(), None);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape::to_shape`, which throws instead; `is_static` is `sizes().is_some()`.
    #[must_use]
    #[doc(alias = "is_static")]
    pub fn sizes(&self) -> Option<Vec<usize>> {
        let known = |dim: &Dim| if let Dim::Known(size) = *dim { Some(size) } else { None };
        self.dims()?.iter().map(known).collect()
    }

    /// The shape with the axes of `base` appended, such as the whole of a batch and a base.
    ///
    /// # Shapes
    /// Any two; if one is `*`, the result is `*`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// assert_eq!(p("2x?").with_base(&p("6x6")), p("2x?x6x6"));
    /// assert_eq!(p("*").with_base(&p("6")), p("*"));
    /// ```
    ///
    /// # Equivalents
    /// TensorFlow `TensorShape.concatenate`.
    #[must_use]
    pub fn with_base(&self, base: &Self) -> Self {
        let (Some(batch), Some(base)) = (self.dims(), base.dims()) else { return Self::unranked() };
        [batch, base].concat().into()
    }

    /// Whether this shape is at most as specific as `other`: it accepts every shape that `other` accepts,
    /// judged axis by axis.
    ///
    /// # Shapes
    /// The same number of axes in both, or `*` on this side. A name is relaxed by itself, by `?` and by ranges that cover its
    /// own.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// assert!(p("*").relaxes(&p("2x?")) && p("2x?").relaxes(&p("2x3")) && p("1..").relaxes(&p("2..5")));
    /// assert!(!p("2x3").relaxes(&p("2x?")) && !p("?").relaxes(&p("2x3")));
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape::relaxes`; its `refines` is the same with the sides changed, its
    /// `same_scheme` is `==`.
    #[must_use]
    #[doc(alias = "refines")]
    pub fn relaxes(&self, other: &Self) -> bool {
        let Some(own) = self.dims() else { return true };
        let Some(dims) = other.dims().filter(|dims| dims.len() == own.len()) else { return false };
        own.iter().zip(dims).all(|(own, other)| {
            own.span().covers(other.span()) && (own.as_name().is_none() || own.as_name() == other.as_name())
        })
    }
}

/// An operand, and the number of its base axes if it has a batch.
pub(super) type Part<'p> = (&'p PartialShape, Option<usize>);

impl From<&Part<'_>> for Shape {
    fn from((shape, base): &Part<'_>) -> Self {
        let cells = |dims: &[Dim]| list(dims.len(), &mut |axis| dims[axis].to_string().into());
        Shape::partial(shape.dims().map(cells), *base)
    }
}

impl From<&PartialShape> for Shape {
    fn from(shape: &PartialShape) -> Self {
        Shape::from(&(shape, None))
    }
}

impl fmt::Debug for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartialShape({self})")
    }
}

impl From<&[usize]> for PartialShape {
    fn from(shape: &[usize]) -> Self {
        list(shape.len(), &mut |axis| Dim::Known(shape[axis])).into()
    }
}

macro_rules! from_sizes {
    ($([$($generics:tt)*] $T:ty;)*) => {$(
        impl<$($generics)*> From<$T> for PartialShape {
            fn from(shape: $T) -> Self {
                shape[..].into()
            }
        }
    )*};
}
from_sizes!([const N: usize] [usize; N]; [const N: usize] &[usize; N]; [] Vec<usize>;);

impl From<Vec<Dim>> for PartialShape {
    fn from(dims: Vec<Dim>) -> Self {
        Self { dims: Some(dims) }
    }
}

/// The values for the numbers below `count`. Compiled once for each type, where a chain of iterators is for each call.
#[inline(never)]
pub(super) fn list<T>(count: usize, value: &mut dyn FnMut(usize) -> T) -> Vec<T> {
    (0..count).map(value).collect()
}
