//! Partially known shapes.

use super::names::merge_shapes;
use super::statement::list;
use super::{Dim, Names};
use crate::error::{Result, Shape};
use alloc::vec::Vec;
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
        let mut dims = batch.to_vec();
        dims.extend_from_slice(base);
        dims.into()
    }

    /// Whether `shape` matches: the same number of axes, a possible size at each, and one size for each
    /// name.
    ///
    /// # Shapes
    /// Any. Nothing is broadcast: `3` does not accept `[1]`, and `[]` accepts `[]` only.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let square: PartialShape = "nxnx2..5".parse()?;
    /// assert!(square.accepts(&[7, 7, 2]));
    /// assert!(!square.accepts(&[7, 8, 2]) && !square.accepts(&[7, 7, 6]) && !square.accepts(&[7, 7]));
    /// assert!(PartialShape::unranked().accepts(&[]));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// TensorFlow `TensorShape.is_compatible_with`, nGraph `PartialShape::compatible` with a static shape.
    #[must_use]
    pub fn accepts(&self, shape: &[usize]) -> bool {
        self.check(shape).is_ok()
    }

    /// Says why [`accepts`](Self::accepts) is false.
    ///
    /// # Shapes
    /// As [`accepts`](Self::accepts).
    ///
    /// # Errors
    /// [`DeclaredAxes`](crate::ErrorKind::DeclaredAxes) for another number of axes; then, with the first axis at fault,
    /// [`DeclaredSize`](crate::ErrorKind::DeclaredSize) for a size that is not possible, or
    /// [`DeclaredName`](crate::ErrorKind::DeclaredName) for two sizes of one name. To check a name across several shapes,
    /// use [`Names::bind`](super::Names::bind).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let square: PartialShape = "nxnx2..5".parse()?;
    /// square.check(&[7, 7, 2])?;
    /// let words = |sizes: &[usize]| square.check(sizes).unwrap_err().to_string();
    /// assert_eq!(
    ///     words(&[7, 8, 2]),
    ///     "cannot accept shape [7, 8, 2] as nxnx2..5: n is 7 at axis 0 and 8 at axis 1",
    /// );
    /// assert_eq!(
    ///     words(&[7, 7, 6]),
    ///     "cannot accept shape [7, 7, 6] as nxnx2..5: axis 2 has size 6, expected 2..5",
    /// );
    /// assert_eq!(
    ///     words(&[7, 7]),
    ///     "cannot accept shape [7, 7] as nxnx2..5: the number of axes is 2, expected 3",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// TensorFlow `TensorShape.assert_is_compatible_with`.
    pub fn check(&self, shape: &[usize]) -> Result<()> {
        Names::new().bind_as(None, self, shape)
    }

    /// Whether this shape is at most as specific as `other`: it accepts every shape that `other` accepts,
    /// judged axis by axis.
    ///
    /// # Shapes
    /// As many axes in both, or `*` on this side. A name is relaxed by itself, by `?` and by ranges that cover its own.
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

    /// Combines two descriptions of the same shape.
    ///
    /// Nothing is broadcast: 1 and 3 are two different sizes.
    ///
    /// # Shapes
    /// As many axes in both, or `*`. A name keeps the range of its sizes: `n` and `2..5` give `n:2..5`. Of two names, the
    /// first is kept; [`Names`] remembers that they are equal.
    ///
    /// # Errors
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where the numbers of axes differ;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where no size is possible in both.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::PartialShape;
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// assert_eq!(p("2x?x1..5").merge(&p("?xnx3.."))?, p("2xnx3..5"));
    /// assert_eq!(
    ///     p("2x1").merge(&p("2x3")).unwrap_err().to_string(),
    ///     "cannot merge shapes 2x1 and 2x3: axis 1 has sizes 1 and 3, expected equal sizes",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `PartialShape::merge_into`, TensorFlow `TensorShape.merge_with`.
    pub fn merge(&self, other: &Self) -> Result<Self> {
        merge_shapes(&mut Names::new(), None, self, other)
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
