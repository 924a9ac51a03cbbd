//! An operation's statement about sizes: its words, its operands, where their sizes have conditions, and its result.

use super::dim::Dim;
use super::partial_shape::list;
use super::place::{Clash, Owner, compact};
use super::solver::{At, Conditions, System};
use super::vars::Vars;
use super::{Check, Names, PartialShape, ShapeOp};
use crate::error::caller::Caller;
use crate::error::{ErrorBuilder, NewBuilder, Result, Shape, caller};
use crate::shape::{check_operands, checked_len};
use alloc::{string::ToString, vec::Vec};

/// An operation with its shapes, as errors describe it.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    /// The label of the call in a program, if it has one.
    pub(super) label: Option<&'a str>,
    pub(super) shapes: &'a [&'a PartialShape],
    /// Whether checks are asked for.
    pub(super) has_checks: bool,
    pub(super) words: &'static Caller,
    /// The numbers of base axes of the first shapes, if they have any.
    pub(super) bases: &'a [usize],
    /// Whether the second shape is the target.
    pub(super) has_target: bool,
    pub(super) arguments: Arguments<'a>,
}

/// A caller's statements in addition to shapes.
#[derive(Clone, Copy)]
pub(super) enum Arguments<'a> {
    None,
    /// The numbers of axes.
    Axes(&'a [i128]),
    /// The sizes of a target with placeholders.
    Sizes(&'a [Option<Dim>]),
    /// The text of a signature.
    Signature(&'a str),
}

impl<'a> Operation<'a> {
    /// A call without a label, for its checks: with the words of shapes that broadcast together, until it has others.
    pub(super) fn on(shapes: &'a [&'a PartialShape]) -> Self {
        let (words, arguments) = (&caller::PARTIAL_TOGETHER, Arguments::None);
        Self { label: None, shapes, has_checks: true, words, bases: &[], has_target: false, arguments }
    }

    /// The operation with these words on `expected` shapes, the first of which have these numbers of base axes.
    ///
    /// # Errors
    /// `OperandCount`.
    pub(super) fn with(self, words: &'static Caller, bases: &'a [usize], expected: usize) -> Result<Self> {
        let operation = Self { words, bases, ..self };
        let builder = || operation.builder_of(&caller::OPERATE);
        check_operands(expected, self.shapes.len(), "operands", &builder)?;
        Ok(operation)
    }

    /// Whether all numbers of axes are known.
    pub(super) fn is_ranked(&self) -> bool {
        self.shapes.iter().all(|shape| shape.ndim().is_some())
    }

    pub(super) fn ndim(&self, operand: usize) -> Option<usize> {
        self.shapes[operand].ndim()
    }

    /// The sizes of an operand; none for `*`.
    pub(super) fn dims(&self, operand: usize) -> &'a [Dim] {
        self.shapes[operand].dims().unwrap_or_default()
    }

    pub(super) fn base(&self, operand: usize) -> Option<usize> {
        self.bases.get(operand).copied()
    }

    /// The sizes of an operand's batch and base; none for `*`.
    pub(super) fn split(&self, operand: usize) -> (&'a [Dim], &'a [Dim]) {
        let dims = self.dims(operand);
        dims.split_at(dims.len().saturating_sub(self.base(operand).unwrap_or(0)))
    }

    /// The largest count of an operand.
    pub(super) fn most(&self, count: &dyn Fn(usize) -> usize) -> usize {
        (0..self.shapes.len()).map(count).max().unwrap_or(0)
    }

    /// The builder of the operation's errors.
    pub(super) fn builder(&self) -> ErrorBuilder {
        self.builder_of(self.words)
    }

    /// The builder of errors of a part of the operation.
    pub(super) fn builder_of(&self, words: &'static Caller) -> ErrorBuilder {
        let Self { label, shapes, .. } = *self;
        let parts = list(shapes.len(), &mut |operand| (shapes[operand], self.base(operand)));
        let (operands, targets) = parts.split_at(parts.len() - usize::from(self.has_target));
        let builder = ErrorBuilder::new(words, operands).label(label);
        let builder = targets.iter().fold(builder, ErrorBuilder::to);
        let size = |size: &Option<Dim>| size.as_ref().map_or("-1".into(), |size| size.to_string().into());
        match self.arguments {
            Arguments::None => builder,
            Arguments::Axes(axes) => builder.axes(axes.to_vec()),
            Arguments::Sizes(sizes) => builder.to(Shape::list(sizes.iter().map(size).collect(), None)),
            Arguments::Signature(text) => builder.text(&text),
        }
    }

    /// The solved conditions, and the checks that sizes go together.
    ///
    /// # Errors
    /// The first clash.
    pub(super) fn solve(
        &self,
        conditions: Conditions<'a>,
        names: &'a mut Names,
    ) -> Result<(System<'a>, Vec<Check>), Clash> {
        let mut system = System::new(conditions, Vars::new(names, self.label))?;
        let checks = if self.has_checks { system.checks() } else { Vec::new() };
        system.solve()?;
        Ok((system, checks))
    }

    /// Adds the check of operands `*` to those of the others, with which they broadcast together. `sizes` are the joint sizes
    /// of the others.
    pub(super) fn with_unranked(&self, mut checks: Vec<Check>, sizes: &[Dim]) -> Vec<Check> {
        let unranked = self.shapes.iter().filter(|shape| shape.ndim().is_none()).count();
        // if all known sizes are 1, one operand `*` goes together with them, whatever its shape
        if unranked > usize::from(sizes.iter().all(|size| *size == Dim::Known(1))) {
            checks.push(Check::Succeeds { operation: ShapeOp::Together });
        }
        checks
    }
}

/// A size of a result.
#[derive(Clone, Copy)]
pub(super) enum Size {
    /// The size at an axis of the conditions.
    At(usize),
    /// The size of the target at an axis of the conditions, which stretches to that of the array.
    OfTarget(usize),
    One,
}

/// The statement of an operation.
pub(super) struct Statement<'a> {
    pub(super) operation: Operation<'a>,
    pub(super) conditions: Conditions<'a>,
    pub(super) result: Vec<Size>,
    /// How many of the first axes are axes of the bases, whose clashes come first.
    pub(super) bases: usize,
    /// Whether all sizes of the result are known to be here. If not, those that are here may overflow all the same.
    pub(super) is_ranked: bool,
}

impl<'a> Statement<'a> {
    /// A statement about sizes at `count` axes, which are those of the result. `at` takes a shape and one of its axes.
    pub(super) fn new(operation: Operation<'a>, count: usize, at: &dyn Fn(usize, usize) -> At) -> Self {
        let shapes = operation.shapes.len();
        let entries = (0..shapes).map(|operand| operation.dims(operand).len());
        let mut conditions = Conditions::new(count, entries.sum());
        for operand in 0..shapes {
            let is_target = operation.has_target && operand == 1;
            let owner = if is_target { Owner::Target } else { Owner::Operand(compact(operand)) };
            conditions.add(owner, operation.dims(operand), &|axis| at(operand, axis));
        }
        let (result, is_ranked) = ((0..count).map(Size::At).collect(), operation.is_ranked());
        Self { operation, conditions, result, bases: 0, is_ranked }
    }

    /// The result and the checks. The names keep what is forced.
    ///
    /// # Errors
    /// `DeclaredName` where a name has no size; `Incompatible` with the first axis at fault; `Overflow`.
    pub(super) fn solve(self, names: &mut Names) -> Result<(PartialShape, Vec<Check>)> {
        let Self { operation, conditions, result, bases, is_ranked } = self;
        let (system, checks) = operation.solve(conditions, names).map_err(|mut clash| {
            let mut words = operation.words;
            match &mut clash {
                Clash::Sizes { axis, .. } if *axis < bases => words = &caller::PARTIAL_BASES,
                Clash::Sizes { axis, .. } => *axis -= bases,
                Clash::Name { .. } => {}
            }
            clash.error(operation.builder_of(words))
        })?;
        let sizes = list(result.len(), &mut |axis| match result[axis] {
            Size::At(axis) => system.size(axis).0,
            Size::OfTarget(axis) => system.of_target(axis),
            Size::One => Dim::Known(1),
        });
        let checks = operation.with_unranked(checks, &sizes);
        // before a list of the smallest sizes takes memory
        drop((system.axes, result));
        check_overflow(&sizes, &|| operation.builder())?;
        system.vars.keep();
        Ok((if is_ranked { sizes.into() } else { PartialShape::unranked() }, checks))
    }
}

/// # Errors
/// `Overflow` where the smallest shape that the sizes allow overflows.
pub(super) fn check_overflow(sizes: &[Dim], builder: NewBuilder<'_>) -> Result<()> {
    let least = list(sizes.len(), &mut |axis| sizes[axis].span().lo);
    if checked_len(&least).is_some() { Ok(()) } else { Err(builder().overflow(&least)) }
}
