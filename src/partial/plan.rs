//! A broadcast planned before the sizes are known, and checked at run time.

use super::partial_shape::list;
use super::place::{Owner, compact};
use super::result::result_checks;
use super::statement::Operation;
use super::vars::Vars;
use super::{Check, Names, PartialShape, ShapeOp};
use crate::error::{ErrorBuilder, Result, caller};
use crate::shape::{broadcast_shapes, check_operands, joint_error_of};
use alloc::vec::Vec;

/// A broadcast planned from partial shapes, and applied to real shapes later.
///
/// A plan is made only if it can succeed. At run time, it checks the shapes against their partial shapes, the sizes of each
/// name, and all questions that planning left open, so that nothing is undefined.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::Plan;
///
/// let plan = Plan::new(["batchx1".parse()?, "batchx?".parse()?])?.with_result("batchx2..".parse()?)?;
/// assert_eq!(plan.joint_shape(&[[8, 1], [8, 5]])?, [8, 5]);
/// assert_eq!(
///     plan.joint_shape(&[[8, 1], [7, 5]]).unwrap_err().to_string(),
///     "cannot broadcast shapes [8, 1] and [7, 5] as planned for batchx1 and batchx?: \
///      batch is 8 at axis 0 of operand 0 and 7 at axis 0 of operand 1",
/// );
/// assert_eq!(
///     plan.joint_shape(&[[8, 1], [8, 1]]).unwrap_err().to_string(),
///     "cannot broadcast shapes [8, 1] and [8, 1] as planned for batchx1 and batchx?: \
///      axis 1 of the result has size 1, expected 2..",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// MLIR leaves this to `shape.cstr_broadcastable` and to undefined behaviour; the shape assertions
/// that JAX puts into exported programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    operands: Vec<PartialShape>,
    result: Option<PartialShape>,
    inferred: PartialShape,
    checks: Vec<Check>,
}

impl Plan {
    /// Plans a broadcast of operands of these shapes.
    ///
    /// # Shapes
    /// As [`decide`](super::decide()); any number, `*` too.
    ///
    /// # Errors
    /// The error of [`Decision::Never`](super::Decision::Never): there is no plan that cannot succeed.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Plan;
    ///
    /// let plan = Plan::new(["?x3".parse()?, "4x1".parse()?])?;
    /// assert_eq!(plan.inferred().to_string(), "4x3");
    /// assert_eq!(plan.checks()[0].to_string(), "axis 0 of operand 0 is 1 or 4");
    /// assert!(Plan::new(["2".parse()?, "3".parse()?]).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`Plan`]; a graph compiler does this when it traces.
    pub fn new(operands: impl IntoIterator<Item = PartialShape>) -> Result<Self> {
        let operands: Vec<_> = operands.into_iter().collect();
        let shapes = list(operands.len(), &mut |operand| &operands[operand]);
        let mut found = ShapeOp::Together.infer(&mut Names::new(), Operation::on(&shapes))?;
        Ok(Self { operands, result: None, inferred: found.results.swap_remove(0), checks: found.checks })
    }

    /// Adds a declared shape for the result, which is checked too.
    ///
    /// # Shapes
    /// As [`decide_result`](super::decide_result).
    ///
    /// # Errors
    /// The error of [`Decision::Never`](super::Decision::Never).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Plan;
    ///
    /// let plan = Plan::new(["?".parse()?, "?".parse()?])?.with_result("4".parse()?)?;
    /// assert_eq!(plan.joint_shape(&[[4], [1]])?, [4]);
    /// assert!(plan.joint_shape(&[[3], [1]]).is_err());
    /// assert!(Plan::new(["3".parse()?])?.with_result("4".parse()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The result type of an operation in MLIR, `tensor<4xf32>`.
    pub fn with_result(self, result: PartialShape) -> Result<Self> {
        let operands = list(self.operands.len(), &mut |operand| &self.operands[operand]);
        let checks = result_checks(&operands, &result, None)?;
        Ok(Self { checks, result: Some(result), ..self })
    }

    /// The shapes of the operands, as planned.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::Plan;
    ///
    /// let plan = Plan::new(["?x3".parse()?, "4x1".parse()?])?;
    /// assert_eq!(plan.operands(), ["?x3".parse()?, "4x1".parse()?]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    #[must_use]
    pub fn operands(&self) -> &[PartialShape] {
        &self.operands
    }

    /// The joint shape inferred from the operands alone; see the example of [`new`](Self::new).
    #[must_use]
    pub fn inferred(&self) -> &PartialShape {
        &self.inferred
    }

    /// The checks that remain for run time, if any. See the example of [`new`](Self::new).
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The joint shape of operands that have these shapes.
    ///
    /// # Shapes
    /// One for each operand, which its partial shape [accepts](PartialShape::accepts). A name stands for
    /// the same size in all operands and in the result, and the declared result accepts the joint shape.
    ///
    /// # Errors
    /// In this order:
    /// [`OperandCount`](crate::ErrorKind::OperandCount) for another number of shapes;
    /// [`DeclaredAxes`](crate::ErrorKind::DeclaredAxes) and [`DeclaredSize`](crate::ErrorKind::DeclaredSize)
    /// for an operand that is not as planned, [`DeclaredName`](crate::ErrorKind::DeclaredName) for two
    /// sizes of one name;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) as in
    /// [`broadcast_shapes`];
    /// `DeclaredAxes`, `DeclaredSize` and `DeclaredName` for a result that is not as declared.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::{partial::Plan, ErrorKind};
    ///
    /// let plan = Plan::new(["?x3".parse()?, "?".parse()?])?;
    /// assert_eq!(plan.joint_shape(&[&[2, 3][..], &[1]])?, [2, 3]);
    /// assert_eq!(
    ///     plan.joint_shape(&[&[2, 3][..], &[2]]).unwrap_err().to_string(),
    ///     "cannot broadcast shapes [2, 3] and [2] as planned for ?x3 and ?: \
    ///      axis 1 has sizes 3 and 2 (operands 0 and 1), expected equal sizes or 1",
    /// );
    /// let error = plan.joint_shape(&[&[2, 4][..], &[1]]).unwrap_err();
    /// assert_eq!((error.kind(), error.sizes()), (ErrorKind::DeclaredSize, &["4".into(), "3".into()][..]));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// [`broadcast_shapes`] with a declaration of the shapes.
    pub fn joint_shape<S: AsRef<[usize]>>(&self, shapes: &[S]) -> Result<Vec<usize>> {
        let shapes: Vec<&[usize]> = shapes.iter().map(AsRef::as_ref).collect();
        self.run(&shapes, Vars::new(&mut Names::new(), None))
    }

    /// [`joint_shape`](Self::joint_shape) in an operation called `label`, with names that may be bound already.
    pub(super) fn run(&self, shapes: &[&[usize]], mut vars: Vars<'_>) -> Result<Vec<usize>> {
        let label = vars.label;
        let builder = || {
            let builder = ErrorBuilder::new(&caller::PLANNED, shapes).label(label);
            self.operands.iter().fold(builder, ErrorBuilder::to)
        };
        check_operands(self.operands.len(), shapes.len(), "shapes", &builder)?;
        for (operand, planned) in self.operands.iter().enumerate() {
            vars.accept(planned, shapes[operand], Owner::Operand(compact(operand)), &builder)?;
        }
        let joint = broadcast_shapes(shapes).map_err(|_| joint_error_of(builder(), shapes))?;
        if let Some(result) = &self.result {
            vars.accept(result, &joint, Owner::Result, &builder)?;
        }
        vars.keep();
        Ok(joint)
    }
}
