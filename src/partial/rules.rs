//! The conditions of each operation: at which axis each size of its operands has one.

use super::dim::Dim;
use super::place::{Entry, OwnAxis, Owner};
use super::solver::At;
use super::statement::{Arguments, Operation, Size, Statement};
use crate::error::caller::{self, Caller};
use crate::error::{Result, fail, signed};
use crate::shape::{
    Axes, AxisMask, ByName, FOR_ARRAY, FOR_TARGET, Numbers, OF_TARGET, Placeholder, check_axis_count,
    check_target, leading_target_axes, too_many_axes,
};
use alloc::vec::Vec;

type Stated<'a> = Result<Statement<'a>>;

/// The rules of the operations. Their errors about numbers of axes are in the order of the operation's function.
impl<'a> Operation<'a> {
    /// All shapes, aligned at the right.
    pub(super) fn together(self) -> Statement<'a> {
        let ndim = self.most(&|operand| self.dims(operand).len());
        let at = |operand, axis| Some((ndim - self.dims(operand).len() + axis, false));
        Statement::new(self, ndim, &at)
    }

    pub(super) fn broadcast_to(self, sizes: &'a [Option<Dim>]) -> Stated<'a> {
        let arguments = Arguments::Sizes(sizes);
        let operation = Operation { arguments, ..self.with(&caller::TO_TARGET, &[], 1)? };
        // as for an array: -1 keeps a size, and one that is not known could be any
        let number = |size: &Option<Dim>| match size {
            Some(Dim::Known(size)) => *size as i128,
            Some(_) => 0,
            None => -1,
        };
        let numbers: Vec<_> = sizes.iter().map(number).collect();
        check_target(&numbers, Placeholder::Keeps, &|| operation.builder())?;
        // all axes of the target may be axes of `*`
        leading_target_axes(operation.ndim(0).unwrap_or(sizes.len()), &numbers, &|| operation.builder())?;
        let new = sizes.len() - operation.dims(0).len();
        let mut statement = Statement::new(operation, sizes.len(), &|_, axis| Some((new + axis, false)));
        // a size that is kept stands alone
        for (axis, dim) in sizes.iter().enumerate() {
            if let Some(dim) = dim {
                let place = OwnAxis::new(Owner::Target, axis);
                statement.conditions.entries.push(Entry::new(dim, place, axis, true));
            }
        }
        Ok(Statement { is_ranked: true, ..statement })
    }

    pub(super) fn broadcast_axes(self, numbers: &'a [i128]) -> Stated<'a> {
        let operation = self.with(&caller::ALONG_AXES, &[], 2)?.with_target(numbers);
        let ndim = operation.ndim(1).or(operation.ndim(0).map(|own| own + numbers.len()));
        let others: Vec<_> = operation.named(numbers, ndim)?.1.unnamed().collect();
        if let Some(ndim) = ndim {
            let expected = operation.ndim(0).unwrap_or(others.len()) + numbers.len();
            check_axis_count(expected, ndim, OF_TARGET, || operation.builder())?;
        }
        Ok(operation.placed(0, &others, true, ndim))
    }

    pub(super) fn broadcast_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let operation = self.with(&caller::IN_DIM, &[], 2)?.with_target(numbers);
        let (own, ndim) = (operation.ndim(0).unwrap_or(numbers.len()), operation.ndim(1));
        check_axis_count(own, numbers.len(), FOR_ARRAY, || operation.builder())?;
        let (positions, _) = operation.named(numbers, ndim)?;
        let mut statement = operation.placed(0, &positions, false, ndim);
        // in the order of the array, as for arrays
        statement.conditions.first = positions;
        Ok(statement)
    }

    pub(super) fn sum(self, numbers: &'a [i128], keepdims: bool) -> Stated<'a> {
        let arguments = Arguments::Axes(numbers);
        let operation = Operation { arguments, ..self.with(&caller::SUM_AXES, &[], 1)? };
        let (_, reduced) = operation.named(numbers, operation.ndim(0))?;
        let ndim = operation.dims(0).len();
        let statement = Statement::new(operation, ndim, &|_, axis| Some((axis, true)));
        let left = (0..ndim).filter(|&axis| keepdims || !reduced.contains(axis));
        let result =
            left.map(|axis| if reduced.contains(axis) { Size::One } else { Size::At(axis) }).collect();
        Ok(Statement { result, ..statement })
    }

    pub(super) fn sum_to(self, words: &'static Caller, bases: &'a [usize]) -> Stated<'a> {
        let operation = self.with(words, bases, 2)?.with_target(&[]);
        operation.check_bases()?;
        let is_ranked = self.is_ranked();
        let (batch, target) = (operation.split(0).0.len(), operation.dims(1).len());
        let Some(new) = (if is_ranked { batch.checked_sub(target) } else { Some(0) }) else {
            return Err(too_many_axes(operation.builder(), batch, target));
        };
        // the target and the base of an array without a number of axes, unless the base is absurdly long
        let base = operation.base(0).unwrap_or(0);
        let whole = operation.ndim(0).or((base <= 1 << 16).then_some(target + base));
        let count = whole.unwrap_or(target);
        let at = |operand, axis| Some(if operand == 0 { (axis, true) } else { (new + axis, !is_ranked) });
        let statement = Statement::new(operation, count, &at);
        let targets = (new..new + target).map(Size::OfTarget);
        let result = targets.chain((new + target..count).map(Size::At)).collect();
        Ok(Statement { result, is_ranked: operation.ndim(1).and(whole).is_some(), ..statement })
    }

    pub(super) fn sum_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let operation = self.with(&caller::SUM_IN_DIM, &[], 2)?.with_target(numbers);
        let (count, ndim) = (numbers.len(), operation.ndim(0));
        check_axis_count(operation.ndim(1).unwrap_or(count), count, FOR_TARGET, || operation.builder())?;
        let (positions, _) = operation.named(numbers, ndim)?;
        let mut statement = operation.placed(1, &positions, false, ndim);
        // in the order of the target
        statement.conditions.first = match ndim {
            Some(_) => positions,
            None => (0..operation.dims(1).len()).collect(),
        };
        statement.result = statement.conditions.first.iter().map(|&axis| Size::OfTarget(axis)).collect();
        Ok(Statement { is_ranked: ndim.or(operation.ndim(1)).is_some(), ..statement })
    }

    /// The batches together and, if `joins_bases`, the bases by themselves.
    pub(super) fn batches(self, bases: &'a [usize], joins_bases: bool) -> Stated<'a> {
        let operation = self.with(&caller::PARTIAL_BATCHES, bases, bases.len())?;
        operation.check_bases()?;
        let base = |operand| operation.split(operand).1.len();
        let most = if joins_bases { operation.most(&base) } else { 0 };
        let at = |operand, axis| joins_bases.then(|| (most - base(operand) + axis, false));
        Ok(operation.batches_after(most, &at))
    }

    /// The second shape is the target, and the caller named these axes.
    fn with_target(self, axes: &'a [i128]) -> Self {
        Self { has_target: true, arguments: Arguments::Axes(axes), ..self }
    }

    /// Axis `i` of one of two shapes has its condition at axis `axes[i]` of the other, which has `ndim` axes.
    fn placed(self, shape: usize, axes: &[usize], is_fixed: bool, ndim: Option<usize>) -> Statement<'a> {
        let at = |operand, axis: usize| {
            if operand == shape { axes.get(axis).map(|&axis| (axis, is_fixed)) } else { Some((axis, true)) }
        };
        Statement { is_ranked: ndim.is_some(), ..Statement::new(self, ndim.unwrap_or(0), &at) }
    }

    /// Batches together, after `bases` axes of the bases, whose errors come first. `at` takes an operand and one of its base
    /// axes. The result has the bases last.
    pub(super) fn batches_after(self, bases: usize, at: &dyn Fn(usize, usize) -> At) -> Statement<'a> {
        let count = bases + self.batch_axes();
        let at = |operand: usize, axis: usize| {
            let batch = self.split(operand).0.len();
            match axis.checked_sub(batch) {
                None => Some((count - batch + axis, false)),
                Some(axis) => at(operand, axis),
            }
        };
        let result = (bases..count).chain(0..bases).map(Size::At).collect();
        Statement { result, bases, ..Statement::new(self, count, &at) }
    }

    /// The most batch axes of an operand.
    pub(super) fn batch_axes(&self) -> usize {
        self.most(&|operand| self.split(operand).0.len())
    }

    /// Checks that operands have as many axes as their bases.
    ///
    /// # Errors
    /// `DeclaredAxes`.
    fn check_bases(&self) -> Result<()> {
        for (operand, &base) in self.bases.iter().enumerate() {
            if let Some(found) = self.ndim(operand).filter(|&found| found < base) {
                return Err(fail!(
                    self.builder(),
                    DeclaredAxes,
                    "the number of axes of operand {operand} is {found}, expected {base} at least"
                ));
            }
        }
        Ok(())
    }

    /// The axes with these numbers, in their order and as a set; none if the number of axes is unknown. Even then, no number may be
    /// repeated.
    ///
    /// # Errors
    /// `AxisOutOfBounds`, then `DuplicateAxis`.
    fn named(&self, numbers: &[i128], ndim: Option<usize>) -> Result<(Vec<usize>, AxisMask)> {
        if let Some(ndim) = ndim {
            let axes = Numbers(numbers);
            let named = AxisMask::new(&axes, ndim, || self.builder())?;
            return Ok(((0..numbers.len()).map(|i| axes.axis(i, ndim)).collect(), named));
        }
        let mut distinct = ByName::default();
        match numbers.iter().find(|&&number| !distinct.insert(&signed(number))) {
            Some(&number) => Err(self.builder().duplicate_axis(number)),
            None => Ok((Vec::new(), AxisMask::all(0))),
        }
    }
}
