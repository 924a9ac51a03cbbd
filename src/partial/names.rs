//! Names that stand for the same sizes in several operations: the only place that knows their sizes.

use super::dim::{Dim, Span};
use super::place::{Clash, PackedPlace, Var};
use super::shape_op::{InferredShapes, ShapeOp};
use super::solver::{Conditions, System};
use super::statement::list;
use super::vars::{Class, Note, Origin, Vars};
use super::{PartialShape, Plan};
use crate::error::{Count, ErrorBuilder, Result, caller, fail};
use crate::shape::ByName;
use alloc::{boxed::Box, format, vec::Vec};
use core::fmt;

/// The sizes of names, across all operations of a program.
///
/// Within one call, equal names are equal sizes. `Names` extends that to several calls:
/// - It learns sizes and equal names from [inference](Self::infer), [merged shapes](Self::merge), [real
///   shapes](Self::bind) and [plans that run](Self::joint_shape): all that an operation forces, whether it decides or checks.
///   Each of these calls has a label, so that an error says at which two places a name got different sizes. An error leaves
///   all names as they were.
/// - It [writes](Self::resolve) the known sizes and ranges into a shape, for the functions that take no `Names`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{Names, ShapeOp, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let mut names = Names::new();
/// names.bind("x", &p("nx4"), &[2, 4])?;
/// assert_eq!(names.infer("add", &ShapeOp::Together, [&p("nx1"), &p("?")])?.results, [p("2x?")]);
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
    pub(super) ids: ByName<usize>,
    /// The names, without ranges.
    dims: Vec<Dim>,
    pub(super) classes: Vec<Class>,
    pub(super) origins: Vec<Origin>,
    /// The labels of the calls that have learned something.
    pub(super) labels: Vec<Box<str>>,
    /// The classes as they were before each change in the current call.
    pub(super) changes: Vec<(Var, Class)>,
    pub(super) notes: Vec<Note>,
    /// How many calls there were.
    pub(super) calls: usize,
    /// How many names [`fresh`](Self::fresh) has tried.
    fresh: usize,
}

/// Prints each bound name with its size: `{"n": 2, "m": m:3..}`.
impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for id in 0..self.dims.len() {
            let name = self.text(id);
            if let Some(size) = self.get(name) {
                map.entry(&name, &format_args!("{size}"));
            }
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
        let root = self.root(*self.ids.get(name)?);
        let Class { count, span, .. } = self.classes[root];
        (count > 1 || span != Span::ANY).then(|| self.dim(root, span))
    }

    /// A new name: `?1`, `?2` and so on.
    ///
    /// Give each unknown size of a file a name of its own. Inference then knows that the size is the same wherever it
    /// goes, where `?` with `?` is another `?`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{decide, Decision, Names, PartialShape};
    ///
    /// let mut names = Names::new();
    /// let x = PartialShape::ranked([names.fresh(), 3.into()]);
    /// assert_eq!(x.to_string(), "?1x3");
    /// assert_eq!(decide([&x, &x]), Decision::Always);
    /// assert_ne!(names.fresh(), names.fresh());
    /// assert_ne!(decide(&["?x3".parse()?, "?x3".parse()?]), Decision::Always);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ONNX's `unk__0` and JAX's fresh symbols.
    #[must_use]
    pub fn fresh(&mut self) -> Dim {
        loop {
            self.fresh += 1;
            let name = format!("?{}", self.fresh);
            if self.ids.get(&name).is_none() {
                let id = self.id(&name);
                return self.dims[id].clone();
            }
        }
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
        let Some(dims) = shape.dims() else { return PartialShape::unranked() };
        let mut resolve = |axis: usize| match dims[axis].as_name().and_then(|name| self.ids.get(name)) {
            Some(&id) => {
                let root = self.root(id);
                let span = self.classes[root].span;
                self.dim(root, span.intersect(dims[axis].span()).unwrap_or(span))
            }
            None => dims[axis].clone(),
        };
        list(dims.len(), &mut resolve).into()
    }

    /// Infers the results of an operation called `of`, and learns what it forces.
    ///
    /// # Shapes
    /// As the operation's own function: see [`ShapeOp`]. The results are [resolved](Self::resolve). What the operation
    /// forces is learned: sizes and ranges of names, and names that are equal.
    ///
    /// # Errors
    /// As the operation's own function. [`DeclaredName`](crate::ErrorKind::DeclaredName) also where a name has another
    /// size elsewhere.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::{Decision, Dim, Names, ShapeOp, PartialShape};
    /// use ndarray_broadcast::Signature;
    ///
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// let (mut names, matmul) = (Names::new(), ShapeOp::Signature(Signature::literal("(m,n),(n,p)->(m,p)")));
    /// let found = names.infer("first", &matmul, [&p("2xk"), &p("3x4")])?;
    /// assert_eq!((&found.results[..], found.checks[0].to_string()), (&[p("2x4")][..], "axis 1 of operand 0 is 3".into()));
    /// assert_eq!(names.get("k"), Some(Dim::Known(3)));
    /// assert_eq!(
    ///     names.infer("second", &matmul, [&p("2xk"), &p("5x4")]).unwrap_err().to_string(),
    ///     "cannot apply (m,n),(n,p)->(m,p) to 2xk (base 2) and 5x4 (base 2) of second: \
    ///      k is 3 at axis 0 of operand 1 of first and 5 at axis 0 of operand 1 of second",
    /// );
    /// // a learned size is not checked again
    /// assert_eq!(Decision::from(names.infer("third", &ShapeOp::Together, [&p("k"), &p("3")])), Decision::Always);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// A node of ONNX's shape inference with data propagation, which keeps no ranges.
    pub fn infer<'s, 'p>(
        &mut self,
        of: &str,
        operation: &ShapeOp<'s>,
        operands: impl IntoIterator<Item = &'p PartialShape>,
    ) -> Result<InferredShapes<'s>> {
        operation.infer(self, Some(of), &operands.into_iter().collect::<Vec<_>>(), true)
    }

    /// Combines two descriptions of the shape of `of`, and binds the names in them.
    ///
    /// # Shapes
    /// As [`PartialShape::merge`]; `*` as the second shape learns the ranges of the names in the first. The result is
    /// [resolved](Self::resolve), with their own names.
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
    pub fn merge(&mut self, of: &str, a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
        merge_shapes(self, Some(of), a, b)
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
    pub fn bind(&mut self, of: &str, declared: &PartialShape, sizes: &[usize]) -> Result<()> {
        self.bind_as(Some(of), declared, sizes)
    }

    /// [`bind`](Self::bind), with or without a label.
    pub(super) fn bind_as(&mut self, of: Option<&str>, shape: &PartialShape, sizes: &[usize]) -> Result<()> {
        let builder = || ErrorBuilder::new(&caller::ACCEPT, &[sizes]).to(shape).label(of);
        let mut vars = Vars::new(self, of);
        vars.accept(shape, sizes, "", &|axis| PackedPlace::at(PackedPlace::SHAPE, axis), &builder)?;
        vars.keep();
        Ok(())
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
    ) -> Result<Vec<usize>> {
        let shapes: Vec<&[usize]> = shapes.iter().map(AsRef::as_ref).collect();
        plan.run(&shapes, self, Some(of))
    }

    /// The position of a name, which is added if it is new.
    pub(super) fn id(&mut self, name: &str) -> usize {
        let id = *self.ids.or_insert(name, self.dims.len());
        if id == self.dims.len() {
            self.dims.push(Dim::named(name, Span::ANY));
            self.classes.push(Class::of(id));
            self.notes.push(Note::NONE);
        }
        id
    }

    /// The position of the name that stands for all that are equal.
    pub(super) fn root(&self, mut id: usize) -> usize {
        while self.classes[id].parent as usize != id {
            id = self.classes[id].parent as usize;
        }
        id
    }

    /// The `Dim` of a name with sizes in `span`.
    pub(super) fn dim(&self, id: usize, span: Span) -> Dim {
        let dim = &self.dims[id];
        if span == Span::ANY { dim.clone() } else { Dim::named(self.text(id), span) }
    }

    /// The text of a name.
    pub(super) fn text(&self, id: usize) -> &str {
        self.dims[id].as_name().unwrap_or_default()
    }
}

/// One shape that two descriptions give.
///
/// # Errors
/// `AxisCount`; then, with the first axis at fault, `Incompatible` or `DeclaredName`.
pub(super) fn merge_shapes(
    names: &mut Names,
    of: Option<&str>,
    a: &PartialShape,
    b: &PartialShape,
) -> Result<PartialShape> {
    let builder = || ErrorBuilder::new(&caller::MERGE, &[(a, None), (b, None)]).label(of);
    let Some(ndim) = a.ndim().or(b.ndim()) else { return Ok(PartialShape::unranked()) };
    if let Some(found) = b.ndim().filter(|&found| found != ndim) {
        let found = Count(found);
        return Err(fail!(builder(), AxisCount, "the second shape has {found}, expected {ndim}"));
    }
    let mut conditions = Conditions::new(ndim, ndim);
    for shape in [a, b] {
        conditions.add(PackedPlace::SHAPE, shape.dims().unwrap_or_default(), &|axis| Some((axis, true)));
    }
    let error = |clash: Clash| clash.error(builder());
    let mut system = System::new(conditions, Vars::new(names, of)).map_err(error)?;
    system.solve().map_err(error)?;
    let sizes = list(ndim, &mut |axis| system.size(axis).0);
    system.vars.keep();
    Ok(sizes.into())
}
