//! Inference and decisions of operations: both come from [`ShapeOp::infer`].

use super::choices::{infer_branches, infer_ranks};
use super::partial_shape::list;
use super::statement::Operation;
use super::{Check, Decision, InferredShapes, Names, PartialShape, Place, ShapeOp};
use crate::error::{Result, caller};
use crate::shape::{Signature, join, joint_ndim, joint_size};
use alloc::{vec, vec::Vec};
use core::slice::from_ref;

impl<'s> ShapeOp<'s> {
    /// The results of the operation, and the checks that remain. Here each operation says its number of operands and its
    /// statement.
    ///
    /// # Errors
    /// Those of the operation's function.
    pub(super) fn infer(&self, names: &mut Names, call: Operation<'_>) -> Result<InferredShapes<'s>> {
        let shapes = call.shapes;
        let chosen = |results| Ok(InferredShapes::of(results, Vec::new()));
        let resolved = |names: &Names| list(shapes.len(), &mut |operand| names.resolve(shapes[operand]));
        let (statement, operation) = match self {
            Self::Together => (call.together(), ShapeOp::Together),
            Self::Ranks => return chosen(infer_ranks(&resolved(names))),
            Self::Branches => return chosen(vec![infer_branches(&resolved(names))?]),
            Self::Target(sizes) => (call.broadcast_to(sizes)?, ShapeOp::Target(sizes.clone())),
            Self::Axes(axes) => (call.broadcast_axes(axes)?, ShapeOp::Axes(axes.clone())),
            Self::InDim(axes) => (call.broadcast_in_dim(axes)?, ShapeOp::InDim(axes.clone())),
            Self::Batch(bases) => (call.batches(bases, false)?, ShapeOp::Batch(bases.clone())),
            Self::BatchMap(bases) => (call.batches(bases, true)?, ShapeOp::BatchMap(bases.clone())),
            &Self::Sum { ref axes, keepdims } => {
                (call.sum(axes, keepdims)?, ShapeOp::Sum { axes: axes.clone(), keepdims })
            }
            Self::SumTo => (call.sum_to(&caller::SUM_TO, &[])?, ShapeOp::SumTo),
            Self::SumInDim(axes) => (call.sum_in_dim(axes)?, ShapeOp::SumInDim(axes.clone())),
            Self::SumBatchTo(base) => {
                (call.sum_to(&caller::PARTIAL_BATCH_SUM, from_ref(base))?, ShapeOp::SumBatchTo(*base))
            }
            Self::Signature(signature) => return signature.infer_in(names, call),
        };
        let (result, mut checks) = statement.solve(names)?;
        // other checks speak of axes that `*` does not have yet
        if !call.is_ranked() && !matches!(operation, ShapeOp::Together) {
            checks = vec![Check::Succeeds { operation }];
        }
        Ok(InferredShapes::of(vec![result], checks))
    }
}

impl Names {
    /// Infers the results of an operation called `label`, and learns the sizes that it forces.
    ///
    /// # Shapes
    /// As the operation's own function: see [`ShapeOp`]. The results are [resolved](Self::resolve). The operation may force
    /// sizes and ranges of names, and names to be equal; these are learned.
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
        label: &str,
        operation: &ShapeOp<'s>,
        operands: impl IntoIterator<Item = &'p PartialShape>,
    ) -> Result<InferredShapes<'s>> {
        let operands: Vec<_> = operands.into_iter().collect();
        operation.infer(self, Operation { label: Some(label), ..Operation::on(&operands) })
    }
}

/// Whether operands go together: always, never, or where certain checks hold.
///
/// # Shapes
/// Aligned at the right, as in [`infer_shapes`](super::infer_shapes). `Always` and `Never` are certain:
/// of all shapes that the operands [accept](PartialShape::accepts), with one size for each name, all go
/// together or none do. The answer is about the sizes of axes. A result that is too large as a whole is
/// `Never` only if the smallest possible result is too large; otherwise, [`Plan`](super::Plan) finds it at
/// run time. The order of the operands does not change the answer. Without operands, it is `Always`.
///
/// # Errors
/// None; [`Decision::Never`] has the error of [`infer_shapes`](super::infer_shapes).
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{decide, Decision, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let words = |operands: &[PartialShape]| -> Vec<String> {
///     decide(operands).checks().unwrap().iter().map(ToString::to_string).collect()
/// };
/// assert_eq!(words(&[p("4x?"), p("1"), p("2..")]), ["axis 1 of operand 0 is 1 or equals axis 0 of operand 2"]);
/// assert_eq!(
///     words(&[p("?"), p("n"), p("1x?")]),
///     ["the sizes other than 1 of axis 0 of operand 0, axis 0 of operand 1 and axis 1 of operand 2 are equal"],
/// );
/// assert_eq!(words(&[p("*"), p("3")]), ["all operands go together"]);
/// assert_eq!(decide(&[p("nx1"), p("nx0..1"), p("0")]), Decision::Always);
/// assert!(matches!(decide(&[p("0"), p("?"), p("3")]), Decision::Never(_)));
/// ```
///
/// # Equivalents
/// `shape.cstr_broadcastable` in MLIR, which answers always or unknown; nGraph's
/// `broadcast_merge_into` refuses where it is sure.
pub fn decide<'p>(operands: impl IntoIterator<Item = &'p PartialShape>) -> Decision {
    let operands: Vec<_> = operands.into_iter().collect();
    ShapeOp::Together.infer(&mut Names::new(), Operation::on(&operands)).into()
}

impl Check {
    /// Whether the check holds for operands of these shapes.
    ///
    /// # Shapes
    /// One for each operand of the decision, which its partial shape accepts. If the shape or the axis
    /// of the check is missing, the check does not hold.
    ///
    /// # Errors
    /// None: shapes that do not go together give `false`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::decide;
    ///
    /// let checks = decide(&["?".parse()?, "?".parse()?]).checks()?;
    /// assert!(checks.iter().all(|check| check.holds(&[[4], [1]]) && check.holds(&[[0], [0]])));
    /// assert!(!checks[0].holds(&[[4], [0]]) && !checks[0].holds(&[[4]]));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// A guard of `torch.export`, a shape assertion of `jax.export`.
    #[must_use]
    pub fn holds<S: AsRef<[usize]>>(&self, operands: &[S]) -> bool {
        let size = |place: &Place| place.size(operands);
        match self {
            Self::Is { place, dim, or_one } => {
                size(place).is_some_and(|size| dim.admits(size) || (*or_one && size == 1))
            }
            Self::Equals { place, other, or_one } => {
                size(place).is_some_and(|it| size(other) == Some(it) || (*or_one && it == 1))
            }
            Self::Agree { places } => {
                places.iter().try_fold(1, |joint, place| joint_size(joint, size(place)?)).is_some()
            }
            Self::Applies { signature } => {
                let shapes: Vec<_> = operands.iter().map(AsRef::as_ref).collect();
                Signature::new(signature).and_then(|signature| signature.resolve(&shapes)).is_ok()
            }
            // without a check for overflow
            Self::Succeeds { operation: ShapeOp::Together } => {
                join(operands, &mut vec![0; joint_ndim(operands)])
            }
            Self::Succeeds { operation } => {
                let shapes: Vec<PartialShape> = operands.iter().map(|shape| shape.as_ref().into()).collect();
                Names::new().infer("", operation, &shapes).is_ok()
            }
            Self::ResultAxes { ndim } => joint_ndim(operands) == *ndim,
        }
    }
}
