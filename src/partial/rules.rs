//! The conditions of each operation: at which axis each size of its operands has one.

use super::dim::Dim;
use super::place::PackedPlace;
use super::statement::{AxisWords, Call, Numbers, Part, ResultSize, Statement, dims, every, list};
use crate::error::{BroadcastError, fail, signed};
use crate::shape::{
    Axes, AxisMask, ByName, FOR_ARRAY, FOR_TARGET, OF_TARGET, Placeholder, check_axis_count, check_target,
    leading_target_axes, too_many_axes,
};
use alloc::{vec, vec::Vec};

type Stated<'a> = Result<Statement<'a>, BroadcastError>;

/// The rules of the operations. Their errors about numbers of axes are in the order of the operation's function.
impl<'a> Call<'a> {
    /// All shapes, aligned at the right.
    pub(super) fn together(self) -> Statement<'a> {
        let mut ndim = 0;
        for part in &self.parts {
            ndim = ndim.max(dims(part.shape).len());
        }
        Statement::new(self, ndim, &|_, own, axis| Some((ndim - dims(own.shape).len() + axis, false)))
    }

    pub(super) fn broadcast_to(mut self, sizes: &'a [Option<Dim>]) -> Stated<'a> {
        self.sizes = Some(sizes);
        // a size that is not known could be any
        let numbers: Vec<_> = sizes.iter().map(|size| number(size.as_ref()).unwrap_or(0)).collect();
        check_target(&numbers, Placeholder::Keeps, &|| self.builder())?;
        // all axes of the target may be axes of `*`
        leading_target_axes(self.ndim(0).unwrap_or(sizes.len()), &numbers, &|| self.builder())?;
        let new = sizes.len() - self.dims(0).len();
        let mut statement = Statement::new(self, sizes.len(), &|_, _, axis| Some((new + axis, false)));
        // a size that is kept stands alone
        for (axis, dim) in sizes.iter().enumerate() {
            if let Some(dim) = dim {
                statement.conditions.push(axis, dim, PackedPlace::at(PackedPlace::TARGET, axis), true);
            }
        }
        Ok(Statement { is_ranked: true, ..statement })
    }

    pub(super) fn broadcast_axes(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_target(numbers);
        let ndim = call.ndim(1).or(call.ndim(0).map(|own| own + numbers.len()));
        let named = call.flags(numbers, ndim)?;
        let others: Vec<_> = (0..named.len()).filter(|&axis| !named[axis]).collect();
        if let Some(ndim) = ndim {
            let expected = call.ndim(0).unwrap_or(others.len()) + numbers.len();
            check_axis_count(expected, ndim, OF_TARGET, || call.builder())?;
        }
        Ok(call.placed(0, &others, true, ndim))
    }

    pub(super) fn broadcast_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_target(numbers);
        check_axis_count(call.ndim(0).unwrap_or(numbers.len()), numbers.len(), FOR_ARRAY, || call.builder())?;
        let (axes, ndim) = (call.positions(numbers, call.ndim(1))?, call.ndim(1));
        Ok(call.placed(0, &axes, false, ndim))
    }

    pub(super) fn sum_in_dim(self, numbers: &'a [i128]) -> Stated<'a> {
        let call = self.with_target(numbers);
        check_axis_count(call.ndim(1).unwrap_or(numbers.len()), numbers.len(), FOR_TARGET, || {
            call.builder()
        })?;
        let (positions, count) = (call.positions(numbers, call.ndim(0))?, numbers.len());
        let ndim = call.dims(0).len();
        let mut axes = vec![None; ndim];
        for (axis, &position) in positions.iter().enumerate() {
            axes[position] = Some((axis, true));
        }
        // the axes of the target, in its order
        let at = |operand: usize, _: Part<'_>, axis: usize| {
            if operand == 0 { axes[axis] } else { Some((axis, false)) }
        };
        let result = call.ndim(0).or(call.ndim(1)).map(|_| list(count, &mut ResultSize::OfTarget));
        let statement = Statement::new(call, count, &at).with_result(result);
        Ok(Statement { words: AxisWords::Placed(ndim), ..statement })
    }

    /// Axis `i` of the operand `small` has its condition at axis `axes[i]` of the other operand, whose sizes are fixed and which
    /// has `ndim` axes.
    fn placed(self, small: usize, axes: &[usize], is_fixed: bool, ndim: Option<usize>) -> Statement<'a> {
        let at = |operand: usize, _: Part<'_>, axis: usize| {
            if operand == small { axes.get(axis).map(|&axis| (axis, is_fixed)) } else { Some((axis, true)) }
        };
        let statement = Statement::new(self, ndim.unwrap_or(0), &at);
        Statement { is_ranked: ndim.is_some(), ..statement }
    }

    pub(super) fn sum(mut self, numbers: &'a [i128], keepdims: bool) -> Stated<'a> {
        self.axes = numbers;
        let mut result = Vec::new();
        for (axis, is_reduced) in self.flags(numbers, self.ndim(0))?.into_iter().enumerate() {
            if !is_reduced {
                result.push(ResultSize::Joint(axis));
            } else if keepdims {
                result.push(ResultSize::One);
            }
        }
        let count = self.dims(0).len();
        Ok(Statement { checked: 0, result, ..Statement::new(self, count, &|_, _, axis| Some((axis, true))) })
    }

    pub(super) fn sum_to(self) -> Stated<'a> {
        let call = self.with_target(&[]);
        call.check_bases()?;
        let ((batch, base), target) = (call.parts[0].split(), call.dims(1));
        let (is_ranked, whole) = (call.is_ranked(), batch.len() + base.len());
        let new = if is_ranked { batch.len().checked_sub(target.len()) } else { Some(0) };
        let Some(new) = new else {
            return Err(too_many_axes(call.builder(), batch.len(), target.len()));
        };
        let axes = if is_ranked { list(target.len(), &mut |axis| new + axis) } else { Vec::new() };
        let mut size = |axis| {
            if is_ranked { ResultSize::OfTarget(new + axis) } else { ResultSize::Joint(whole + axis) }
        };
        let mut result = list(target.len(), &mut size);
        let mut base = every(batch.len()..whole);
        match call.parts[0].base.filter(|_| call.ndim(0).is_none()) {
            // the base of an array without a number of axes, unless it is absurdly long
            Some(base) if base > 1 << 16 => return Ok(call.placed(1, &axes, false, None)),
            Some(unknown) => base = list(unknown, &mut |_| ResultSize::Unknown),
            None => {}
        }
        result.append(&mut base);
        let result = call.ndim(1).map(|_| result);
        Ok(call.placed(1, &axes, false, Some(whole)).with_result(result))
    }

    /// The batches together.
    pub(super) fn batches(self) -> Stated<'a> {
        self.check_bases()?;
        Ok(self.batches_after(0))
    }

    /// The batches and, by themselves, the bases together.
    pub(super) fn batches_and_bases(self) -> Stated<'a> {
        self.check_bases()?;
        let mut bases = 0;
        for part in &self.parts {
            bases = bases.max(part.split().1.len());
        }
        Ok(self.batches_after(bases))
    }

    /// Batches together, after `bases` axes of the bases together, whose errors come first.
    fn batches_after(self, bases: usize) -> Statement<'a> {
        let (batches, count) = (self.batch_axes(), self.batch_axes() + bases);
        let at = |_: usize, part: Part<'_>, axis: usize| {
            let (batch, base) = part.split();
            match axis.checked_sub(batch.len()) {
                None => Some((bases + batches - batch.len() + axis, false)),
                Some(axis) => (bases > 0).then(|| (bases - base.len() + axis, false)),
            }
        };
        let mut result = every(bases..count);
        // the batches are the first axes of the result
        result.append(&mut every(0..bases));
        Statement { result, words: AxisWords::Bases(bases), ..Statement::new(self, count, &at) }
    }

    /// The most batch axes of an operand.
    pub(super) fn batch_axes(&self) -> usize {
        let mut most = 0;
        for part in &self.parts {
            most = most.max(part.split().0.len());
        }
        most
    }

    /// Checks that operands have as many axes as their bases.
    ///
    /// # Errors
    /// `DeclaredAxes`.
    fn check_bases(&self) -> Result<(), BroadcastError> {
        for (operand, part) in self.parts.iter().enumerate() {
            let (Some(found), Some(base)) = (part.shape.ndim(), part.base) else { continue };
            if found < base {
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
    fn positions(&self, numbers: &[i128], ndim: Option<usize>) -> Result<Vec<usize>, BroadcastError> {
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
    fn flags(&self, numbers: &[i128], ndim: Option<usize>) -> Result<Vec<bool>, BroadcastError> {
        let mut flags = vec![false; ndim.unwrap_or(0)];
        for axis in self.positions(numbers, ndim)? {
            flags[axis] = true;
        }
        Ok(flags)
    }
}

/// The number of a size in a target, as for an array, if it is known: -1 keeps a size.
fn number(size: Option<&Dim>) -> Option<i128> {
    match size {
        Some(Dim::Known(size)) => Some(*size as i128),
        Some(_) => None,
        None => Some(-1),
    }
}
