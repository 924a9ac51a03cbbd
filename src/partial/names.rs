//! Names that stand for the same sizes in several operations.

use super::bindings::{Step, merged};
use super::classes::{Classes, Spot};
use super::partial_shape::aligned;
use super::{Dim, PartialShape, Plan};
use crate::error::{BroadcastError, Request, operation};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;

/// The sizes of names, across all operations of a program.
///
/// Within one call, equal names are equal sizes. `Names` extends that to several calls:
/// - It learns sizes from [merged shapes](Self::merge), [real shapes](Self::bind) and [plans that
///   run](Self::joint_shape). Each of these calls has a label, so that an error says at which two places a name got
///   different sizes. An error leaves all names as they were.
/// - It [writes](Self::resolve) the known sizes and ranges into a shape. Pass the result to the functions for inference
///   and decisions, to [`Plan::new`] and to [`Signature::infer`](crate::Signature::infer).
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_shapes, Names, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let mut names = Names::new();
/// names.bind("x", &p("nx4"), &[2, 4])?;
/// assert_eq!(infer_shapes(&[names.resolve(&p("nx1")), p("?")])?, p("2x?"));
/// assert_eq!(
///     names.bind("y", &p("nxm"), &[3, 5]).unwrap_err().to_string(),
///     "cannot accept shape [3, 5] of y as nxm: n is 2 at axis 0 of x and 3 at axis 0 of y",
/// );
/// assert_eq!(names.get("m"), None); // nothing was bound
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The environment of symbolic sizes of a graph: `ShapeEnv` in PyTorch, `SymbolTable` in ONNX's shape inference.
#[derive(Clone, Default)]
pub struct Names {
    pub(super) classes: Classes,
    /// The labels of the calls that have bound names.
    pub(super) steps: Vec<Box<str>>,
}

/// Prints each bound name with its size: `{"n": 2, "m": m:3..}`.
impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, size) in self.classes.all() {
            map.entry(&name, &format_args!("{size}"));
        }
        map.finish()
    }
}

impl Names {
    /// No names; see the example of the [type](Self).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of a name, if anything is known of it: a number, or a name with the range of its sizes. Equal names have
    /// the same name as their size.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Dim, Names, PartialShape};
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// let mut names = Names::new();
    /// names.merge("x", &p("nxkxl"), &p("2x3..xm"))?;
    /// assert_eq!(names.get("n"), Some(Dim::Known(2)));
    /// assert_eq!(names.get("k"), Some(Dim::name_in("k", 3..)?));
    /// assert_eq!(names.get("l"), names.get("m"));
    /// assert_eq!(names.get("i"), None);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `ShapeEnv.replacements` and `ShapeEnv.var_to_range` in PyTorch.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Dim> {
        self.classes.get(name)
    }

    /// The shape with the known sizes and ranges of its names, and one name for all equal ones.
    ///
    /// # Shapes
    /// Any, with as many axes. A range that the shape itself gives a name counts for that axis only, until it is
    /// [merged](Self::merge).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{decide, infer_shapes, Decision, Names, PartialShape};
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// let mut names = Names::new();
    /// names.merge("x", &p("nxkxl"), &p("2x3..xm"))?;
    /// let shape = names.resolve(&p("nxkx?xi"));
    /// assert_eq!(shape, p("2xk:3..x?xi"));
    /// // k is not 1, so that ? is 1 or k
    /// assert_eq!(infer_shapes(&[shape, p("?x1x1")])?, p("2xk:3..x?xi"));
    /// assert_eq!(decide(&[names.resolve(&p("l")), names.resolve(&p("m"))]), Decision::Always);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `ShapeEnv.replace` in PyTorch, on each size.
    #[must_use]
    pub fn resolve(&self, shape: &PartialShape) -> PartialShape {
        self.classes.resolve(shape)
    }

    /// Combines two descriptions of the shape of `of`, and binds the names in them.
    ///
    /// # Shapes
    /// As [`PartialShape::merge`]; `*` as the second shape learns the ranges of the names in the first. The result is
    /// [resolved](Self::resolve), with names as they were given.
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
    pub fn merge(
        &mut self,
        of: &str,
        a: &PartialShape,
        b: &PartialShape,
    ) -> Result<PartialShape, BroadcastError> {
        let request = || Request::new(&operation::MERGE_OF, &[a.clone(), b.clone()]).text(&of);
        let step = Step { of: Some(of), request: &request };
        let [own, other] = match [a.dims(), b.dims()] {
            [Some(own), Some(other)] => [own, other],
            [Some(dims), None] | [None, Some(dims)] => [dims, dims],
            [None, None] => return Ok(PartialShape::unranked()),
        };
        aligned(own, other, &request)?;
        self.step(of, |names| {
            for (axis, (a, b)) in own.iter().zip(other).enumerate() {
                names.meet(axis, [a, b], step)?;
            }
            Ok(PartialShape::ranked(own.iter().zip(other).map(|(a, b)| merged(&names.classes, a, b))))
        })
    }

    /// Checks the real shape of `of` against its declared one, and binds the names to its sizes.
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
    pub fn bind(&mut self, of: &str, declared: &PartialShape, sizes: &[usize]) -> Result<(), BroadcastError> {
        let request = || Request::new(&operation::ACCEPT_OF, &[sizes]).to(declared).text(&of);
        let step = Step { of: Some(of), request: &request };
        self.step(of, |names| names.accept(declared, sizes, "", &Spot::Axis, step))
    }

    /// The joint shape of a plan's operands with these shapes, in an operation called `of`. Binds the names of the plan
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
        of: &str,
        plan: &Plan,
        shapes: &[S],
    ) -> Result<Vec<usize>, BroadcastError> {
        let shapes: Vec<&[usize]> = shapes.iter().map(AsRef::as_ref).collect();
        self.step(of, |names| plan.joint_of(&shapes, names, Some(of)))
    }
}
