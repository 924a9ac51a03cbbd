//! Names that stand for the same sizes in several operations: the only place that knows their sizes.

use super::PartialShape;
use super::dim::{Dim, Span};
use super::partial_shape::list;
use super::place::{OwnAxis, Owner, Var, compact};
use crate::shape::ByName;
use alloc::{boxed::Box, format, vec::Vec};
use core::fmt;

/// The sizes of names, across all operations of a program.
///
/// Within one call, equal names are equal sizes. `Names` extends that to several calls:
/// - It learns sizes and equal names from [inference](Self::infer), [merged shapes](Self::merge), [real
///   shapes](Self::bind) and [plans that run](Self::joint_shape): all sizes that an operation forces, decided or checked.
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
    pub(super) ids: ByName,
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

/// Names that are equal. Except for `parent`, the fields are those of its root.
#[derive(Clone, Copy)]
pub(super) struct Class {
    /// Another name of the class that is nearer to the root, or the name itself.
    pub(super) parent: Var,
    /// The number of names. The smaller class is added to the larger one, so that paths are short.
    pub(super) count: u32,
    pub(super) span: Span,
    /// The positions of the origins of the span's start and end, unless it has none.
    pub(super) ends: [u32; 2],
    /// In the last call that had one of the names, the sizes other than 1 are in this span; if it is 1 alone, there are none.
    pub(super) not_one: Span,
}

/// The last call that had a name of a class, the first axis there, the last axis that `Vars::is_first_at` was
/// asked for, and the position of the last change. It is not undone.
#[derive(Clone, Copy)]
pub(super) struct Note {
    pub(super) call: usize,
    pub(super) first: OwnAxis,
    pub(super) last_axis: usize,
    pub(super) change: usize,
}

impl Note {
    /// A note of a name's first axis in a call. No call has the number 0.
    pub(super) fn new(call: usize, first: OwnAxis) -> Self {
        Self { call, first, last_axis: usize::MAX, change: usize::MAX }
    }
}

/// Where a name got its sizes: the name, the call and the axis.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) name: Var,
    pub(super) call: u32,
    pub(super) place: OwnAxis,
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
        let root = self.root(self.ids.get(name)?);
        let Class { count, span, .. } = self.classes[root];
        (count > 1 || span != Span::ANY).then(|| self.dim(root, span))
    }

    /// A new name: `?1`, `?2` and so on.
    ///
    /// Give each unknown size of a file a name of its own. Inference then knows that the size is the same wherever it goes,
    /// while `?` with `?` is another `?`.
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
            Some(id) => {
                let root = self.root(id);
                let span = self.classes[root].span;
                self.dim(root, span.intersect(dims[axis].span()).unwrap_or(span))
            }
            None => dims[axis].clone(),
        };
        list(dims.len(), &mut resolve).into()
    }

    /// The position of a name, which is added if it is new.
    pub(super) fn id(&mut self, name: &str) -> usize {
        let id = self.ids.position(name);
        if id == self.dims.len() {
            self.dims.push(Dim::named(name, Span::ANY));
            let (parent, span) = (compact(id), Span::ANY);
            self.classes.push(Class { parent, count: 1, span, ends: [u32::MAX; 2], not_one: span });
            self.notes.push(Note::new(0, OwnAxis::new(Owner::Shape, 0)));
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
