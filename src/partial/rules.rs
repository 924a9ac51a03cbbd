//! The conditions of each operation: at which axis each size of its operands has one.

use super::dim::Dim;
use super::place::{Entry, PackedPlace};
use super::solver::At;
use super::statement::{Call, Statement, list};
use crate::error::caller::{self, Caller};
use crate::error::{Result, fail, signed};
use crate::sealed::Sealed;
use crate::shape::{
    Axes, AxisMask, ByName, FOR_ARRAY, FOR_TARGET, OF_TARGET, Placeholder, check_axis_count, check_target,
    leading_target_axes, too_many_axes,
};
use alloc::{vec, vec::Vec};
use ndarray::IxDyn;

type Stated<'a> = Result<Statement<'a>>;

/// The rules of the operations. Their errors about numbers of axes are in the order of the operation's function.
impl<'a> Call<'a> {
    /// All shapes, aligned at the right.
    pub(super) fn together(self) -> Statement<'a> {
        let ndim = self.most(&|operand| self.dims(operand).len());
        Statement::new(self, ndim, &|operand, axis| Some((ndim - self.dims(operand).len() + axis, false)))
    }

    pub(super) fn broadcast_to(self, sizes: &'a [Option<Dim>]) -> Stated<'a> {
        let call = Call { sizes: Some(sizes), ..self.with_words(&caller::TO_TARGET, &[], 1)? };
        // as for an array: -1 keeps a size, and one that is not known could be any
        let number = |size: &Option<Dim>| match size {
            Some(Dim::Known(size)) => *size as i128,
            Some(_) => 0,
            None => -1,
        };
        let numbers: Vec<_> = sizes.iter().map(number).collect();
        check_target(&numbers, Placeholder::Keeps, &|| call.builder())?;
        // all axes of the target may be axes of `*`
        leading_target_axes(call.ndim(0).unwrap_or(sizes.len()), &numbers, &|| call.builder())?;
        let new = sizes.len() - call.dims(0).len();
        let mut statement = Statement::new(call, sizes.len(), &|_, axis| Some((new + axis, false)));
        // a size that is kept stands alone
        for (axis, dim) in sizes.iter().enumerate() {
            if let Some(dim) = dim {
                let place = PackedPlace::at(PackedPlace::TARGET, axis);
                statement.conditions.entries.push(Entry::new(dim, place, axis, true));
            }
        }
        Ok(Statement { is_ranked: true, ..statement })
    }

    pub(super) fn broadcast_axes(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_words(&caller::ALONG_AXES, &[], 2)?.with_target(numbers);
        let ndim = call.ndim(1).or(call.ndim(0).map(|own| own + numbers.len()));
        let named = call.flags(numbers, ndim)?;
        let others: Vec<_> = (0..named.len()).filter(|&axis| !named[axis]).collect();
        if let Some(ndim) = ndim {
            let expected = call.ndim(0).unwrap_or(others.len()) + numbers.len();
            check_axis_count(expected, ndim, OF_TARGET, || call.builder())?;
        }
        Ok(call.placed(&others, true, ndim))
    }

    pub(super) fn broadcast_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_words(&caller::IN_DIM, &[], 2)?.with_target(numbers);
        check_axis_count(call.ndim(0).unwrap_or(numbers.len()), numbers.len(), FOR_ARRAY, || call.builder())?;
        let positions = call.positions(numbers, call.ndim(1))?;
        let mut statement = call.placed(&positions, false, call.ndim(1));
        // in the order of the array, as for arrays
        statement.conditions.first = positions;
        Ok(statement)
    }

    /// Axis `i` of the array has its condition at axis `axes[i]` of the target, which has `ndim` axes.
    fn placed(self, axes: &[usize], is_fixed: bool, ndim: Option<usize>) -> Statement<'a> {
        let at = |operand, axis: usize| {
            if operand == 0 { axes.get(axis).map(|&axis| (axis, is_fixed)) } else { Some((axis, true)) }
        };
        Statement { is_ranked: ndim.is_some(), ..Statement::new(self, ndim.unwrap_or(0), &at) }
    }

    pub(super) fn sum(self, numbers: &'a [i128], keepdims: bool) -> Stated<'a> {
        let call = Call { axes: numbers, ..self.with_words(&caller::SUM_AXES, &[], 1)? };
        let reduced = call.flags(numbers, call.ndim(0))?;
        let statement = Statement::new(call, reduced.len(), &|_, axis| Some((axis, true)));
        Ok(Statement { reduced, keepdims, ..statement })
    }

    pub(super) fn sum_to(self, words: &'static Caller, bases: &'a [usize]) -> Stated<'a> {
        let call = self.with_words(words, bases, 2)?.with_target(&[]);
        call.check_bases()?;
        let (batch, target, is_ranked) = (call.split(0).0.len(), call.dims(1).len(), call.is_ranked());
        let Some(new) = (if is_ranked { batch.checked_sub(target) } else { Some(0) }) else {
            return Err(too_many_axes(call.builder(), batch, target));
        };
        // the target and the base of an array without a number of axes, unless the base is absurdly long
        let base = call.base(0).unwrap_or(0);
        let whole = call.ndim(0).or((base <= 1 << 16).then_some(target + base));
        let count = whole.unwrap_or(target);
        let at = |operand, axis| Some(if operand == 0 { (axis, true) } else { (new + axis, !is_ranked) });
        let (result, targets) = (new..count, new..new + target);
        let is_ranked = call.ndim(1).and(whole).is_some();
        Ok(Statement { result, targets, is_ranked, ..Statement::new(call, count, &at) })
    }

    pub(super) fn sum_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_words(&caller::SUM_IN_DIM, &[], 2)?.with_target(numbers);
        let count = numbers.len();
        check_axis_count(call.ndim(1).unwrap_or(count), count, FOR_TARGET, || call.builder())?;
        let positions = call.positions(numbers, call.ndim(0))?;
        let mut axes = vec![None; call.dims(0).len()];
        for (axis, &position) in positions.iter().enumerate() {
            axes[position] = Some((axis, true));
        }
        // the axes of the target, in its order
        let at = |operand, axis: usize| if operand == 0 { axes[axis] } else { Some((axis, false)) };
        let is_ranked = call.ndim(0).or(call.ndim(1)).is_some();
        Ok(Statement { targets: 0..count, numbers: positions, is_ranked, ..Statement::new(call, count, &at) })
    }

    /// The batches together.
    pub(super) fn batches(self, bases: &'a [usize]) -> Stated<'a> {
        let call = self.with_words(&caller::PARTIAL_BATCHES, bases, bases.len())?;
        call.check_bases()?;
        Ok(call.batches_after(0, &|_, _| None))
    }

    /// The batches and, by themselves, the bases together.
    pub(super) fn batches_and_bases(self, bases: &'a [usize]) -> Stated<'a> {
        let call = self.with_words(&caller::PARTIAL_BATCHES, bases, bases.len())?;
        call.check_bases()?;
        let bases = call.most(&|operand| call.split(operand).1.len());
        Ok(call
            .batches_after(bases, &|operand, axis| Some((bases - call.split(operand).1.len() + axis, false))))
    }

    /// Batches together, after `bases` axes of the bases, whose errors come first. `at` takes an operand and one of its base
    /// axes.
    pub(super) fn batches_after(self, bases: usize, at: &dyn Fn(usize, usize) -> At) -> Statement<'a> {
        let count = bases + self.batch_axes();
        let at = |operand: usize, axis: usize| {
            let batch = self.split(operand).0.len();
            match axis.checked_sub(batch) {
                None => Some((count - batch + axis, false)),
                Some(axis) => at(operand, axis),
            }
        };
        Statement { bases, result: bases..count, ..Statement::new(self, count, &at) }
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

    /// The positions of axes, or none if their number is unknown. Even then, no number may be repeated.
    ///
    /// # Errors
    /// `AxisOutOfBounds`, then `DuplicateAxis`.
    fn positions(&self, numbers: &[i128], ndim: Option<usize>) -> Result<Vec<usize>> {
        if let Some(ndim) = ndim {
            let axes = Numbers(numbers);
            AxisMask::new(&axes, ndim, || self.builder())?;
            return Ok(list(numbers.len(), &mut |i| axes.axis(i, ndim)));
        }
        let mut distinct = ByName::new();
        for &number in numbers {
            if !distinct.insert(&signed(number), ()) {
                return Err(self.builder().duplicate_axis(number));
            }
        }
        Ok(Vec::new())
    }

    /// Which axes are among some; none if their number is unknown.
    ///
    /// # Errors
    /// As [`positions`](Self::positions).
    fn flags(&self, numbers: &[i128], ndim: Option<usize>) -> Result<Vec<bool>> {
        let mut flags = vec![false; ndim.unwrap_or(0)];
        for axis in self.positions(numbers, ndim)? {
            flags[axis] = true;
        }
        Ok(flags)
    }
}

/// The axes of a caller, by their numbers.
struct Numbers<'a>(&'a [i128]);

impl Sealed for Numbers<'_> {}
impl Axes for Numbers<'_> {
    type Count = IxDyn;

    fn axis_count(&self) -> usize {
        self.0.len()
    }

    fn nth(&self, i: usize) -> i128 {
        self.0[i]
    }
}
