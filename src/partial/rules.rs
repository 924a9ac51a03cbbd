//! Where the sizes of each operation meet: maps from the axes of its operands to axes with one condition each.

use super::dim::Dim;
use super::operation::{Operation, Part};
use super::system::{Layout, dims};
use crate::error::{BroadcastError, Cell, Count, Request, fail};
use crate::sealed::Sealed;
use crate::shape::{Axes, AxisMask, ByName};
use alloc::{string::ToString, vec, vec::Vec};
use ndarray::IxDyn;

/// Where the sizes of an operation meet, and its result.
pub(super) struct Rule<'p> {
    pub(super) layout: Layout<'p>,
    /// How many axes have a condition.
    pub(super) count: usize,
    pub(super) result: Picks,
}

/// The sizes of a result.
pub(super) enum Picks {
    /// None: the result is `*`.
    Any,
    /// Those of the axes that have a condition.
    Axes,
    List(Vec<Pick>),
}

/// A size of a result.
pub(super) enum Pick {
    /// That of an axis.
    Axis(usize),
    /// That of the second shape at an axis where it stretches.
    Target(usize),
    One,
    Unknown,
}

impl Picks {
    /// The sizes, if the result has a number of axes.
    fn only_if(self, ranked: bool) -> Self {
        if ranked { self } else { Self::Any }
    }
}

/// Axes by the numbers that a caller gave.
pub(super) struct Numbers<'a>(pub(super) &'a [i128]);

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

/// The operands of a rule, and the request for its errors.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, 'p> {
    pub(super) parts: &'a [Part<'p>],
    pub(super) request: &'a dyn Fn() -> Request,
}

type Found<'p> = Result<Rule<'p>, BroadcastError>;

impl<'p> Operands<'_, 'p> {
    /// Where the sizes meet. `target` are the known sizes of a [`Operation::Target`].
    ///
    /// # Errors
    /// Those about numbers of axes, in the order of the operation's function.
    pub(super) fn rule(self, operation: &Operation<'_>, target: &'p [Dim]) -> Found<'p> {
        match operation {
            Operation::Target(sizes) => self.to_target(sizes, target),
            Operation::Axes(axes) => self.along(axes),
            Operation::InDim(axes) => self.in_dim(axes),
            Operation::SumInDim(axes) => self.sum_in_dim(axes),
            Operation::Sum { axes, keepdims } => self.sum(axes, *keepdims),
            Operation::SumTo | Operation::SumBatchTo(_) => self.sum_to(),
            Operation::Batch(_) => Ok(self.batches(0)),
            Operation::BatchMap(_) => Ok(self.batches(self.base_axes())),
            Operation::Together | Operation::Ranks | Operation::Branches | Operation::Signature(_) => {
                let (layout, count) = Layout::aligned(self.shapes());
                Ok(Rule { layout, count, result: Picks::Axes.only_if(self.ranked()) })
            }
        }
    }

    fn shapes(self) -> Vec<&'p [Dim]> {
        self.parts.iter().map(|part| dims(part.shape)).collect()
    }

    fn ndim(self, operand: usize) -> Option<usize> {
        self.parts[operand].shape.ndim()
    }

    fn ranked(self) -> bool {
        self.parts.iter().all(|part| part.shape.ndim().is_some())
    }

    /// The most base axes of an operand.
    pub(super) fn base_axes(self) -> usize {
        self.parts.iter().map(|part| part.split().1.len()).max().unwrap_or(0)
    }

    fn to_target(self, sizes: &[Option<Dim>], target: &'p [Dim]) -> Found<'p> {
        let array = dims(self.parts[0].shape);
        for (axis, size) in sizes.iter().enumerate() {
            match *size {
                Some(Dim::Known(size)) if isize::try_from(size).is_err() => {
                    return Err((self.request)().invalid_size(axis, size as i128, true));
                }
                _ => {}
            }
        }
        let Some(new) = sizes.len().checked_sub(array.len()) else {
            return Err((self.request)().too_few_axes("target", array.len(), sizes.len()));
        };
        if let Some(axis) = sizes[..new].iter().position(Option::is_none).filter(|_| self.ranked()) {
            return Err((self.request)().placeholder_on_new_axis(axis, self.parts[0].shape.into()));
        }
        // a size that is kept stands alone
        let axes: Vec<_> = (0..sizes.len()).filter(|&axis| sizes[axis].is_some()).collect();
        let at = |shape: usize, axis: usize| {
            Some(if shape == 0 { (new + axis, false) } else { (axes[axis], true) })
        };
        let layout = Layout::new(vec![array, target], sizes.len(), &at);
        Ok(Rule { layout, count: sizes.len(), result: Picks::Axes })
    }

    fn along(self, numbers: &[i128]) -> Found<'p> {
        let count = self.ndim(1).or(self.ndim(0).map(|own| own + numbers.len()));
        let places = self.placed(numbers, count)?;
        let (known, count) = (count.is_some(), count.unwrap_or(0));
        let mut named = vec![false; count];
        for place in places.into_iter().flatten() {
            named[place] = true;
        }
        let others: Vec<_> = (0..count).filter(|&axis| !named[axis]).collect();
        let expected = self.ndim(0).unwrap_or(others.len()) + numbers.len();
        if known && expected != count {
            return Err((self.request)().axis_count(expected, count));
        }
        let at = |shape: usize, axis: usize| Some((if shape == 0 { others[axis] } else { axis }, true));
        let layout = Layout::new(self.shapes(), count, &at);
        Ok(Rule { layout, count, result: Picks::Axes.only_if(known) })
    }

    fn in_dim(self, numbers: &[i128]) -> Found<'p> {
        self.one_for_each(0, numbers)?;
        let places = self.placed(numbers, self.ndim(1))?;
        let (known, count, places) =
            (places.is_some(), self.ndim(1).unwrap_or(0), places.unwrap_or_default());
        let at = |shape: usize, axis: usize| match shape {
            0 => places.get(axis).map(|&place| (place, false)),
            _ => Some((axis, true)),
        };
        Ok(Rule { layout: Layout::new(self.shapes(), count, &at), count, result: Picks::Axes.only_if(known) })
    }

    fn sum_in_dim(self, numbers: &[i128]) -> Found<'p> {
        self.one_for_each(1, numbers)?;
        let places = self.placed(numbers, self.ndim(0))?;
        let known = places.is_some() || self.ndim(1).is_some();
        let mut axes = vec![None; self.ndim(0).unwrap_or(0)];
        for (axis, place) in places.into_iter().flatten().enumerate() {
            axes[place] = Some((axis, true));
        }
        // the axes of the target, in its order
        let at = |shape: usize, axis: usize| if shape == 0 { axes[axis] } else { Some((axis, false)) };
        let layout = Layout::new(self.shapes(), numbers.len(), &at);
        let result = (0..numbers.len()).map(Pick::Target).collect();
        Ok(Rule { layout, count: numbers.len(), result: Picks::List(result).only_if(known) })
    }

    fn sum(self, numbers: &[i128], keepdims: bool) -> Found<'p> {
        let places = self.placed(numbers, self.ndim(0))?;
        let count = self.ndim(0).unwrap_or(0);
        let layout = Layout::new(self.shapes(), count, &|_, axis| Some((axis, true)));
        let (known, mut reduced) = (places.is_some(), vec![false; count]);
        for place in places.into_iter().flatten() {
            reduced[place] = true;
        }
        let pick = |axis: usize| if reduced[axis] { Pick::One } else { Pick::Axis(axis) };
        let left = (0..count).filter(|&axis| keepdims || !reduced[axis]).map(pick);
        Ok(Rule { layout, count: 0, result: Picks::List(left.collect()).only_if(known) })
    }

    fn sum_to(self) -> Found<'p> {
        let ((batch, base), target) = (self.parts[0].split(), dims(self.parts[1].shape));
        let (ranked, whole) = (self.ranked(), batch.len() + base.len());
        let new = if ranked { batch.len().checked_sub(target.len()) } else { Some(0) };
        let Some(new) = new else {
            let (request, found, expected) = ((self.request)(), Count(target.len()), batch.len());
            return Err(fail!(request, TooManyAxes, "the target has {found}, expected at most {expected}"));
        };
        let at = |shape: usize, axis: usize| match shape {
            0 => Some((axis, true)),
            _ => ranked.then_some((new + axis, false)),
        };
        let layout = Layout::new(self.shapes(), whole, &at);
        let to = |axis| if ranked { Pick::Target(new + axis) } else { Pick::Axis(whole + axis) };
        let mut result: Vec<_> = (0..target.len()).map(to).collect();
        match self.parts[0].base.filter(|_| self.ndim(0).is_none()) {
            // the base of an array without a number of axes, unless it is absurdly long
            Some(base) if base > 1 << 16 => return Ok(Rule { layout, count: 0, result: Picks::Any }),
            Some(base) => result.extend((0..base).map(|_| Pick::Unknown)),
            None => result.extend((batch.len()..whole).map(Pick::Axis)),
        }
        let result = Picks::List(result).only_if(self.ndim(1).is_some());
        Ok(Rule { layout, count: batch.len(), result })
    }

    /// Batches together, and before them `bases` axes of the bases together: their errors are the first.
    fn batches(self, bases: usize) -> Rule<'p> {
        let splits: Vec<_> = self.parts.iter().map(|part| part.split()).collect();
        let batches = splits.iter().map(|(batch, _)| batch.len()).max().unwrap_or(0);
        let at = |shape: usize, axis: usize| {
            let (batch, base) = splits[shape];
            match axis.checked_sub(batch.len()) {
                None => Some((bases + batches - batch.len() + axis, false)),
                Some(axis) => (bases > 0).then(|| (bases - base.len() + axis, false)),
            }
        };
        let count = bases + batches;
        let layout = Layout::new(self.shapes(), count, &at);
        let result = (bases..count).chain(0..bases).map(Pick::Axis).collect();
        Rule { layout, count, result: Picks::List(result).only_if(self.ranked()) }
    }

    /// Checks that operands have as many axes as their bases.
    ///
    /// # Errors
    /// `DeclaredAxes`.
    pub(super) fn check_bases(self) -> Result<(), BroadcastError> {
        for (operand, part) in self.parts.iter().enumerate() {
            let (Some(found), Some(base)) = (part.shape.ndim(), part.base) else { continue };
            if found < base {
                return Err(fail!(
                    (self.request)(),
                    DeclaredAxes,
                    "the number of axes of operand {operand} is {found}, expected {base} at least"
                ));
            }
        }
        Ok(())
    }

    /// Checks that there is an axis for each axis of an operand.
    ///
    /// # Errors
    /// `AxisCount`.
    fn one_for_each(self, operand: usize, numbers: &[i128]) -> Result<(), BroadcastError> {
        match self.ndim(operand) {
            Some(ndim) if ndim != numbers.len() => Err((self.request)().axis_count(ndim, numbers.len())),
            _ => Ok(()),
        }
    }

    /// The positions of axes, if the number of all axes is known. If not, no axis may be named twice all the same.
    ///
    /// # Errors
    /// `AxisOutOfBounds`, then `DuplicateAxis`.
    fn placed(self, numbers: &[i128], ndim: Option<usize>) -> Result<Option<Vec<usize>>, BroadcastError> {
        if let Some(ndim) = ndim {
            let axes = Numbers(numbers);
            AxisMask::new(&axes, ndim, self.request)?;
            return Ok(Some((0..numbers.len()).map(|i| axes.axis(i, ndim)).collect()));
        }
        let mut seen = ByName::new();
        for &number in numbers {
            if !seen.insert(&Cell::from(number).to_string(), ()) {
                return Err((self.request)().duplicate_axis(number));
            }
        }
        Ok(None)
    }
}
