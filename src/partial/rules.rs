//! Where the sizes of each operation meet: maps from the axes of its operands to axes with one condition each.

use super::dim::Dim;
use super::layout::{Layout, dims, list, shapes, unranked};
use super::shape_op::{Part, ShapeOp};
use crate::error::{BroadcastError, ErrorBuilder, fail, signed};
use crate::sealed::Sealed;
use crate::shape::{
    Axes, AxisMask, ByName, FOR_ARRAY, FOR_TARGET, OF_TARGET, Placeholder, check_axis_count, check_target,
    leading_target_axes, too_many_axes,
};
use alloc::{vec, vec::Vec};
use ndarray::IxDyn;

/// Where the sizes of an operation meet, and its result.
pub(super) struct Rule<'p> {
    pub(super) layout: Layout<'p>,
    /// How many axes have a condition.
    pub(super) count: usize,
    /// The sizes of the result, unless it is `*`.
    pub(super) result: Option<Picks>,
}

/// The sizes of a result.
pub(super) enum Picks {
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

/// The axes of a caller, by their numbers.
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
pub(super) struct OperandParts<'a, 'p> {
    pub(super) parts: &'a [Part<'p>],
    pub(super) request: &'a dyn Fn() -> ErrorBuilder,
}

type Found<'p> = Result<Rule<'p>, BroadcastError>;

impl<'p> OperandParts<'_, 'p> {
    /// Where the sizes meet. `target` are the known sizes of a [`ShapeOp::Target`].
    ///
    /// # Errors
    /// Those about numbers of axes, in the order of the operation's function.
    pub(super) fn rule(self, operation: &ShapeOp<'_>, target: &'p [Dim]) -> Found<'p> {
        match operation {
            ShapeOp::Target(sizes) => self.broadcast_to(sizes, target),
            ShapeOp::Axes(axes) => self.broadcast_axes(axes),
            ShapeOp::InDim(axes) => self.broadcast_in_dim(axes),
            ShapeOp::SumInDim(axes) => self.sum_in_dim(axes),
            ShapeOp::Sum { axes, keepdims } => self.sum(axes, *keepdims),
            ShapeOp::SumTo | ShapeOp::SumBatchTo(_) => self.sum_to(),
            ShapeOp::Batch(_) => Ok(self.batches(0)),
            ShapeOp::BatchMap(_) => Ok(self.batches(self.base_axes())),
            ShapeOp::Together | ShapeOp::Ranks | ShapeOp::Branches | ShapeOp::Signature(_) => {
                let (layout, count) = Layout::aligned(self.shapes());
                Ok(Rule { layout, count, result: self.ranked().then_some(Picks::Axes) })
            }
        }
    }

    fn shapes(self) -> Vec<&'p [Dim]> {
        shapes(self.parts)
    }

    fn ndim(self, operand: usize) -> Option<usize> {
        self.parts[operand].shape.ndim()
    }

    fn ranked(self) -> bool {
        unranked(self.parts).is_empty()
    }

    /// The most base axes of an operand.
    pub(super) fn base_axes(self) -> usize {
        let mut most = 0;
        for part in self.parts {
            most = most.max(part.split().1.len());
        }
        most
    }

    fn broadcast_to(self, sizes: &[Option<Dim>], target: &'p [Dim]) -> Found<'p> {
        let array = dims(self.parts[0].shape);
        // a size that is not known could be any
        let numbers: Vec<_> = sizes.iter().map(|size| number(size.as_ref()).unwrap_or(0)).collect();
        check_target(&numbers, Placeholder::Keeps, self.request)?;
        // all axes of the target may be axes of `*`
        let ndim = self.ndim(0).unwrap_or(sizes.len());
        leading_target_axes(ndim, &numbers, self.request)?;
        let new = sizes.len() - array.len();
        let axes: Vec<_> = (0..sizes.len()).filter(|&axis| sizes[axis].is_some()).collect();
        // a size that is kept stands alone
        let at = |shape: usize, axis: usize| {
            Some(if shape == 0 { (new + axis, false) } else { (axes[axis], true) })
        };
        let (layout, count) = (Layout::new(vec![array, target], sizes.len(), &at), sizes.len());
        Ok(Rule { layout, count, result: Some(Picks::Axes) })
    }

    fn broadcast_axes(self, numbers: &[i128]) -> Found<'p> {
        let count = self.ndim(1).or(self.ndim(0).map(|own| own + numbers.len()));
        let places = self.positions(numbers, count)?;
        let (known, count) = (count.is_some(), count.unwrap_or(0));
        let mut others = Vec::new();
        for (axis, named) in flags(&places, count).iter().enumerate() {
            if !named {
                others.push(axis);
            }
        }
        if known {
            let expected = self.ndim(0).unwrap_or(others.len()) + numbers.len();
            check_axis_count(expected, count, OF_TARGET, self.request)?;
        }
        Ok(self.small_in_fixed(0, &others, true, count, known.then_some(Picks::Axes)))
    }

    fn broadcast_in_dim(self, numbers: &[i128]) -> Found<'p> {
        check_axis_count(self.ndim(0).unwrap_or(numbers.len()), numbers.len(), FOR_ARRAY, self.request)?;
        let (places, ndim) = (self.positions(numbers, self.ndim(1))?, self.ndim(1));
        Ok(self.small_in_fixed(0, &places, false, ndim.unwrap_or(0), ndim.map(|_| Picks::Axes)))
    }

    fn sum_in_dim(self, numbers: &[i128]) -> Found<'p> {
        check_axis_count(self.ndim(1).unwrap_or(numbers.len()), numbers.len(), FOR_TARGET, self.request)?;
        let (places, count) = (self.positions(numbers, self.ndim(0))?, numbers.len());
        let mut axes = vec![None; self.ndim(0).unwrap_or(0)];
        for (axis, &place) in places.iter().enumerate() {
            axes[place] = Some((axis, true));
        }
        // the axes of the target, in its order
        let at = |shape: usize, axis: usize| if shape == 0 { axes[axis] } else { Some((axis, false)) };
        let result = self.ndim(0).or(self.ndim(1)).map(|_| Picks::List(list(count, &mut Pick::Target)));
        Ok(Rule { layout: Layout::new(self.shapes(), count, &at), count, result })
    }

    /// The rule where axis `i` of the shape `small` meets axis `places[i]` of the other shape, whose sizes are fixed.
    fn small_in_fixed(
        self,
        small: usize,
        places: &[usize],
        fixed: bool,
        count: usize,
        result: Option<Picks>,
    ) -> Rule<'p> {
        let at = |shape: usize, axis: usize| {
            if shape == small { places.get(axis).map(|&place| (place, fixed)) } else { Some((axis, true)) }
        };
        Rule { layout: Layout::new(self.shapes(), count, &at), count, result }
    }

    fn sum(self, numbers: &[i128], keepdims: bool) -> Found<'p> {
        let places = self.positions(numbers, self.ndim(0))?;
        let count = self.ndim(0).unwrap_or(0);
        let layout = Layout::new(self.shapes(), count, &|_, axis| Some((axis, true)));
        let mut result = Vec::new();
        for (axis, reduced) in flags(&places, count).iter().enumerate() {
            if !reduced {
                result.push(Pick::Axis(axis));
            } else if keepdims {
                result.push(Pick::One);
            }
        }
        Ok(Rule { layout, count: 0, result: self.ndim(0).map(|_| Picks::List(result)) })
    }

    fn sum_to(self) -> Found<'p> {
        let ((batch, base), target) = (self.parts[0].split(), dims(self.parts[1].shape));
        let (ranked, whole) = (self.ranked(), batch.len() + base.len());
        let new = if ranked { batch.len().checked_sub(target.len()) } else { Some(0) };
        let Some(new) = new else {
            return Err(too_many_axes((self.request)(), batch.len(), target.len()));
        };
        let places = if ranked { list(target.len(), &mut |axis| new + axis) } else { Vec::new() };
        let mut pick = |axis| if ranked { Pick::Target(new + axis) } else { Pick::Axis(whole + axis) };
        let mut result = list(target.len(), &mut pick);
        let mut base = list(base.len(), &mut |axis| Pick::Axis(batch.len() + axis));
        match self.parts[0].base.filter(|_| self.ndim(0).is_none()) {
            // the base of an array without a number of axes, unless it is absurdly long
            Some(base) if base > 1 << 16 => return Ok(self.small_in_fixed(1, &places, false, 0, None)),
            Some(unknown) => base = list(unknown, &mut |_| Pick::Unknown),
            None => {}
        }
        result.append(&mut base);
        Ok(self.small_in_fixed(1, &places, false, whole, self.ndim(1).map(|_| Picks::List(result))))
    }

    /// Batches together, after `bases` axes of the bases together, whose errors come first.
    fn batches(self, bases: usize) -> Rule<'p> {
        let splits = list(self.parts.len(), &mut |operand| self.parts[operand].split());
        let mut batches = 0;
        for (batch, _) in &splits {
            batches = batches.max(batch.len());
        }
        let at = |shape: usize, axis: usize| {
            let (batch, base) = splits[shape];
            match axis.checked_sub(batch.len()) {
                None => Some((bases + batches - batch.len() + axis, false)),
                Some(axis) => (bases > 0).then(|| (bases - base.len() + axis, false)),
            }
        };
        let (layout, count) = (Layout::new(self.shapes(), bases + batches, &at), bases + batches);
        // the batches are the first axes of the result
        let mut pick = |axis| Pick::Axis(if axis < batches { bases + axis } else { axis - batches });
        Rule { layout, count, result: self.ranked().then(|| Picks::List(list(count, &mut pick))) }
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

    /// The positions of axes, or none if their number is unknown. Even then, no number may be repeated.
    ///
    /// # Errors
    /// `AxisOutOfBounds`, then `DuplicateAxis`.
    fn positions(self, numbers: &[i128], ndim: Option<usize>) -> Result<Vec<usize>, BroadcastError> {
        if let Some(ndim) = ndim {
            let axes = Numbers(numbers);
            AxisMask::new(&axes, ndim, self.request)?;
            return Ok(list(numbers.len(), &mut |i| axes.axis(i, ndim)));
        }
        let mut distinct = ByName::new();
        for &number in numbers {
            if !distinct.insert(&signed(number), ()) {
                return Err((self.request)().duplicate_axis(number));
            }
        }
        Ok(Vec::new())
    }
}

/// The number of a size in a target, as for an array, if it is known: -1 keeps a size.
pub(super) fn number(size: Option<&Dim>) -> Option<i128> {
    match size {
        Some(Dim::Known(size)) => Some(*size as i128),
        Some(_) => None,
        None => Some(-1),
    }
}

/// Which of `count` axes are among some.
fn flags(axes: &[usize], count: usize) -> Vec<bool> {
    let mut flags = vec![false; count];
    for &axis in axes {
        flags[axis] = true;
    }
    flags
}
