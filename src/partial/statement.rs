//! An operation's statement about sizes: its words, its operands, where their sizes have conditions, and its result.

use super::dim::Dim;
use super::place::{Clash, PackedPlace, compact};
use super::solver::{At, Conditions, System};
use super::vars::Vars;
use super::{Check, Names, PartialShape};
use crate::error::caller::Caller;
use crate::error::{ErrorBuilder, NewBuilder, Result, Shape, caller, fail};
use crate::shape::checked_len;
use alloc::{string::ToString, vec::Vec};
use core::ops::Range;

/// An operand, and the number of its base axes if it has a batch.
pub(super) type Part<'p> = (&'p PartialShape, Option<usize>);

impl From<&Part<'_>> for Shape {
    fn from((shape, base): &Part<'_>) -> Self {
        let cells = |dims: &[Dim]| list(dims.len(), &mut |axis| dims[axis].to_string().into());
        Shape::partial(shape.dims().map(cells), *base)
    }
}

/// An operation with its operands, as errors describe it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) words: &'static Caller,
    /// The label of the call.
    pub(super) of: Option<&'a str>,
    pub(super) shapes: &'a [&'a PartialShape],
    /// The numbers of base axes of the first operands, if they have any.
    pub(super) bases: &'a [usize],
    /// Whether the second operand is the target.
    pub(super) has_target: bool,
    /// The axes that the caller named.
    pub(super) axes: &'a [i128],
    /// The sizes of a target with placeholders.
    pub(super) sizes: Option<&'a [Option<Dim>]>,
    /// The text of a signature.
    pub(super) text: &'a str,
    /// Whether checks are asked for.
    pub(super) has_checks: bool,
}

impl<'a> Call<'a> {
    /// Broadcasts all operands together.
    pub(super) fn new(of: Option<&'a str>, shapes: &'a [&'a PartialShape]) -> Self {
        let (words, has_target, has_checks) = (&caller::PARTIAL_TOGETHER, false, true);
        Self { words, of, shapes, bases: &[], has_target, axes: &[], sizes: None, text: "", has_checks }
    }

    /// The call of another operation, on `expected` operands with these numbers of base axes.
    ///
    /// # Errors
    /// `OperandCount`.
    pub(super) fn with_words(
        self,
        words: &'static Caller,
        bases: &'a [usize],
        expected: usize,
    ) -> Result<Self> {
        let (call, found) = (Self { words, bases, ..self }, self.shapes.len());
        if expected == found {
            return Ok(call);
        }
        let builder = call.builder_of(&caller::OPERATE);
        Err(fail!(builder, OperandCount, "the number of operands is {found}, expected {expected}"))
    }

    /// The second operand is the target, and the caller named these axes.
    pub(super) fn with_target(self, axes: &'a [i128]) -> Self {
        Self { has_target: true, axes, ..self }
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

    /// The most of what the operands have.
    pub(super) fn most(&self, count: &dyn Fn(usize) -> usize) -> usize {
        (0..self.shapes.len()).map(count).max().unwrap_or(0)
    }

    /// The builder of the operation's errors.
    #[cold]
    pub(super) fn builder(&self) -> ErrorBuilder {
        let parts = list(self.shapes.len(), &mut |operand| (self.shapes[operand], self.base(operand)));
        let (operands, targets) = parts.split_at(parts.len() - usize::from(self.has_target));
        let builder = ErrorBuilder::new(self.words, operands).label(self.of).text(&self.text);
        let mut builder = targets.iter().fold(builder, ErrorBuilder::to);
        if let Some(sizes) = self.sizes {
            let size = |size: &Option<Dim>| size.as_ref().map_or("-1".into(), |size| size.to_string().into());
            builder = builder.to(Shape::listed(sizes.iter().map(size).collect()));
        }
        builder.axes(self.axes.to_vec())
    }

    /// The builder of errors of a part of the operation.
    #[cold]
    pub(super) fn builder_of(&self, words: &'static Caller) -> ErrorBuilder {
        Self { words, ..*self }.builder()
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
        let mut system = System::new(conditions, Vars::new(names, self.of))?;
        let checks = if self.has_checks { system.checks() } else { Vec::new() };
        system.solve()?;
        Ok((system, checks))
    }

    /// Adds the checks of operands `*` to those of the others, with which they broadcast together. `sizes` are the joint sizes
    /// of the others.
    pub(super) fn with_unranked(&self, mut checks: Vec<Check>, sizes: &[Dim]) -> Vec<Check> {
        // if all known sizes are 1, one operand `*` goes together with them, whatever its shape
        let ones = sizes.iter().all(|size| *size == Dim::Known(1));
        let unranked = (0..self.shapes.len()).filter(|&operand| self.ndim(operand).is_none());
        let mut unranked = unranked.skip(usize::from(ones));
        match (unranked.next(), unranked.next()) {
            (None, _) => {}
            (Some(operand), None) => checks.push(Check::GoesTogether { operand }),
            // one check for each of them would compare every pair of operands
            _ => checks.push(Check::AllGoTogether),
        }
        checks
    }
}

/// What an operation states.
pub(super) struct Statement<'a> {
    pub(super) call: Call<'a>,
    pub(super) conditions: Conditions<'a>,
    /// How many of the first axes are axes of the bases, whose clashes come first. The result has them last.
    pub(super) bases: usize,
    /// The other axes of the result.
    pub(super) result: Range<usize>,
    /// Which axes the result does not have, or with size 1 if it `keepdims`.
    pub(super) reduced: Vec<bool>,
    pub(super) keepdims: bool,
    /// The axes where the result is a target that stretches.
    pub(super) targets: Range<usize>,
    /// What errors call the first axes, if they have other numbers.
    pub(super) numbers: Vec<usize>,
    /// Whether all sizes of the result are here. If not, the known ones may overflow all the same.
    pub(super) is_ranked: bool,
}

impl<'a> Statement<'a> {
    /// A statement about sizes at `count` axes, which are those of the result. `at` takes an operand and one of its axes.
    pub(super) fn new(call: Call<'a>, count: usize, at: &dyn Fn(usize, usize) -> At) -> Self {
        let entries = (0..call.shapes.len()).map(|operand| call.dims(operand).len());
        let mut conditions = Conditions::new(count, entries.sum());
        for operand in 0..call.shapes.len() {
            let is_target = call.has_target && operand == 1;
            let owner = if is_target { PackedPlace::TARGET } else { compact(operand) };
            conditions.add(owner, call.dims(operand), &|axis| at(operand, axis));
        }
        let (reduced, numbers, is_ranked) = (Vec::new(), Vec::new(), call.is_ranked());
        let (result, targets, keepdims) = (0..count, 0..0, false);
        Self { call, conditions, bases: 0, result, reduced, keepdims, targets, numbers, is_ranked }
    }

    /// The result and the checks. The names keep what is forced.
    ///
    /// # Errors
    /// `DeclaredName` where a name has no size; `Incompatible` with the first axis at fault; `Overflow`.
    pub(super) fn solve(self, names: &mut Names) -> Result<(PartialShape, Vec<Check>)> {
        let Self { call, conditions, bases, result, reduced, keepdims, targets, numbers, is_ranked } = self;
        let (system, checks) = call.solve(conditions, names).map_err(|mut clash| {
            let mut words = call.words;
            match &mut clash {
                Clash::Sizes { axis, .. } if *axis < bases => words = &caller::PARTIAL_BASES,
                Clash::Sizes { axis, .. } => *axis = numbers.get(*axis).copied().unwrap_or(*axis - bases),
                Clash::Name { .. } => {}
            }
            clash.error(call.builder_of(words))
        })?;
        let mut sizes = Vec::with_capacity(result.len() + bases);
        for axis in result.chain(0..bases) {
            match reduced.get(axis) {
                Some(true) if keepdims => sizes.push(Dim::Known(1)),
                Some(true) => {}
                _ if targets.contains(&axis) => sizes.push(system.of_target(axis)),
                _ => sizes.push(system.size(axis).0),
            }
        }
        let checks = call.with_unranked(checks, &sizes);
        // before a list of the smallest sizes takes memory
        drop(system.axes);
        check_overflow(&sizes, &|| call.builder())?;
        system.vars.keep();
        Ok((if is_ranked { sizes.into() } else { PartialShape::unranked() }, checks))
    }
}

/// # Errors
/// `Overflow` where the smallest shape that the sizes allow is one.
pub(super) fn check_overflow(sizes: &[Dim], builder: NewBuilder<'_>) -> Result<()> {
    let least = list(sizes.len(), &mut |axis| sizes[axis].span().lo);
    if checked_len(&least).is_some() { Ok(()) } else { Err(builder().overflow(&least)) }
}

/// The values for the numbers below `count`. Compiled once for each type, where a chain of iterators is for each call.
#[inline(never)]
pub(super) fn list<T>(count: usize, value: &mut dyn FnMut(usize) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    for i in 0..count {
        values.push(value(i));
    }
    values
}
