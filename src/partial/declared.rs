//! Declared shapes, compared with each other and with real ones.

use super::partial_shape::list;
use super::place::{Clash, Owner};
use super::solver::{Conditions, System};
use super::vars::Vars;
use super::{Names, PartialShape, Plan};
use crate::error::{Count, ErrorBuilder, Result, caller, fail};
use alloc::vec::Vec;

impl PartialShape {
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
        bind(Vars::new(&mut Names::new(), None), self, shape)
    }

    /// Combines two descriptions of the same shape.
    ///
    /// Nothing is broadcast: 1 and 3 are two different sizes.
    ///
    /// # Shapes
    /// The same number of axes in both, or `*`. A name keeps the range of its sizes: `n` and `2..5` give `n:2..5`. Of two
    /// names, the first is kept; [`Names`] remembers that they are equal.
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
        merge(Vars::new(&mut Names::new(), None), self, other)
    }
}

impl Names {
    /// Combines two descriptions of the shape of `label`, and binds the names in them.
    ///
    /// # Shapes
    /// As [`PartialShape::merge`]; with `*` as the second shape, it learns the ranges of the names in the first. The result
    /// is [resolved](Self::resolve).
    ///
    /// # Errors
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where the numbers of axes differ; then, with the first axis at fault,
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where no size is possible in both, or
    /// [`DeclaredName`](crate::ErrorKind::DeclaredName) where a name stands for other sizes.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Names, PartialShape};
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// let mut names = Names::new();
    /// assert_eq!(names.merge("x", &p("nx?"), &p("2..5xm"))?, p("n:2..5xm"));
    /// assert_eq!(names.merge("y", &p("nxm"), &p("4xn"))?, p("4x4"));
    /// assert_eq!(
    ///     names.merge("z", &p("?xm"), &p("3x7")).unwrap_err().to_string(),
    ///     "cannot merge shapes ?xm and 3x7 of z: n is 4 at axis 0 of y and equals m, which is 7 at axis 1 of z",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Merging the inferred shape into a `value_info` of ONNX.
    pub fn merge(&mut self, label: &str, a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
        merge(Vars::new(self, Some(label)), a, b)
    }

    /// Checks the real shape of `label` against its declared one, and binds the names to its sizes.
    ///
    /// # Shapes
    /// As [`PartialShape::check`].
    ///
    /// # Errors
    /// As [`PartialShape::check`]. [`DeclaredName`](crate::ErrorKind::DeclaredName) also where a name has
    /// another size elsewhere.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Dim, Names};
    ///
    /// let mut names = Names::new();
    /// names.bind("image", &"batchx?".parse()?, &[32, 784])?;
    /// assert_eq!(names.get("batch"), Some(Dim::Known(32)));
    /// assert!(names.bind("label", &"batch".parse()?, &[31]).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The symbolic sizes that ONNX Runtime checks for the inputs of a session.
    pub fn bind(&mut self, label: &str, declared: &PartialShape, sizes: &[usize]) -> Result<()> {
        bind(Vars::new(self, Some(label)), declared, sizes)
    }

    /// The joint shape of a plan's operands with these shapes, in an operation called `label`. Binds the names of the plan
    /// to their sizes.
    ///
    /// # Shapes
    /// As [`Plan::joint_shape`].
    ///
    /// # Errors
    /// As [`Plan::joint_shape`]. [`DeclaredName`](crate::ErrorKind::DeclaredName) also where a name has
    /// another size elsewhere.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Names, Plan};
    ///
    /// let (add, scale) = (Plan::new(["nx3".parse()?, "3".parse()?])?, Plan::new(["n".parse()?, "1".parse()?])?);
    /// let mut names = Names::new();
    /// assert_eq!(names.joint_shape("add", &add, &[&[2, 3][..], &[3]])?, [2, 3]);
    /// assert_eq!(names.joint_shape("scale", &scale, &[[2], [1]])?, [2]);
    /// assert_eq!(
    ///     names.joint_shape("scale", &scale, &[[4], [1]]).unwrap_err().to_string(),
    ///     "cannot broadcast shapes [4] and [1] of scale as planned for n and 1: \
    ///      n is 2 at axis 0 of operand 0 of add and 4 at axis 0 of operand 0 of scale",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`Plan::joint_shape`].
    pub fn joint_shape<S: AsRef<[usize]>>(
        &mut self,
        label: &str,
        plan: &Plan,
        shapes: &[S],
    ) -> Result<Vec<usize>> {
        let shapes: Vec<&[usize]> = shapes.iter().map(AsRef::as_ref).collect();
        plan.run(&shapes, Vars::new(self, Some(label)))
    }
}

/// [`Names::bind`], with or without a label.
fn bind(mut vars: Vars<'_>, declared: &PartialShape, sizes: &[usize]) -> Result<()> {
    let label = vars.label;
    let builder = || ErrorBuilder::new(&caller::ACCEPT, &[sizes]).to(declared).label(label);
    vars.accept(declared, sizes, Owner::Shape, &builder)?;
    vars.keep();
    Ok(())
}

/// One shape that two descriptions give.
///
/// # Errors
/// `AxisCount`; then, with the first axis at fault, `Incompatible` or `DeclaredName`.
fn merge(vars: Vars<'_>, a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
    let label = vars.label;
    let builder = || ErrorBuilder::new(&caller::MERGE, &[(a, None), (b, None)]).label(label);
    let Some(ndim) = a.ndim().or(b.ndim()) else { return Ok(PartialShape::unranked()) };
    if let Some(found) = b.ndim().filter(|&found| found != ndim) {
        let found = Count(found);
        return Err(fail!(builder(), AxisCount, "the second shape has {found}, expected {ndim}"));
    }
    let mut conditions = Conditions::new(ndim, ndim);
    for shape in [a, b] {
        conditions.add(Owner::Shape, shape.dims().unwrap_or_default(), &|axis| Some((axis, true)));
    }
    let error = |clash: Clash| clash.error(builder());
    let mut system = System::new(conditions, vars).map_err(error)?;
    system.solve().map_err(error)?;
    let sizes = list(ndim, &mut |axis| system.size(axis).0);
    system.vars.keep();
    Ok(sizes.into())
}
