//! An operation's statement about sizes: its words, its operands, where their sizes have conditions, and its result.

use super::dim::{Dim, Span};
use super::meet::{At, Clash, Conditions, System};
use super::place::{PackedPlace, compact};
use super::vars::Vars;
use super::{Check, InferredShapes, Names, PartialShape, ShapeOp};
use crate::error::caller::Caller;
use crate::error::{BroadcastError, ErrorBuilder, Shape, caller, fail};
use crate::sealed::Sealed;
use crate::shape::{Axes, Cores, base_size, checked_len, two_sizes, unknown_symbol};
use alloc::{string::ToString, vec, vec::Vec};
use ndarray::IxDyn;

/// An operand, with the number of its base axes if it has a batch.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) shape: &'p PartialShape,
    pub(super) base: Option<usize>,
}

impl<'p> Part<'p> {
    pub(super) fn whole(shape: &'p PartialShape) -> Self {
        Self { shape, base: None }
    }

    /// The sizes of batch and base; none for `*`.
    pub(super) fn split(self) -> (&'p [Dim], &'p [Dim]) {
        let dims = dims(self.shape);
        dims.split_at(dims.len().saturating_sub(self.base.unwrap_or(0)))
    }
}

impl From<&Part<'_>> for Shape {
    fn from(part: &Part<'_>) -> Self {
        let cells = |dims: &[Dim]| list(dims.len(), &mut |axis| dims[axis].to_string().into());
        Shape::partial(part.shape.dims().map(cells), part.base)
    }
}

/// An operation with its operands, as errors describe it.
pub(super) struct Call<'a> {
    pub(super) words: &'static Caller,
    /// The label of the call.
    pub(super) of: Option<&'a str>,
    pub(super) parts: Vec<Part<'a>>,
    /// Whether the second operand is the target.
    pub(super) has_target: bool,
    /// The axes that the caller named.
    pub(super) axes: &'a [i128],
    /// The sizes of a target with placeholders.
    pub(super) sizes: Option<&'a [Option<Dim>]>,
    /// The text of a signature.
    pub(super) text: &'a str,
    /// If some operands are `*`, the check that stands for all others, and whether it remains without them too.
    pub(super) check: Option<(Check, bool)>,
}

impl<'a> Call<'a> {
    /// The numbers of base axes are `bases`, of the operands that have any.
    pub(super) fn new(
        words: &'static Caller,
        of: Option<&'a str>,
        shapes: &[&'a PartialShape],
        bases: &[usize],
    ) -> Self {
        let mut part = |operand| Part { shape: shapes[operand], base: bases.get(operand).copied() };
        let parts = list(shapes.len(), &mut part);
        Self { words, of, parts, has_target: false, axes: &[], sizes: None, text: "", check: None }
    }

    /// The second operand is the target, and the caller named these axes.
    pub(super) fn with_target(self, axes: &'a [i128]) -> Self {
        Self { has_target: true, axes, ..self }
    }

    /// The call, if it has as many operands as it takes. If some of them are `*`, the only check is that `this` operation
    /// succeeds.
    ///
    /// # Errors
    /// `OperandCount`.
    pub(super) fn expect(
        mut self,
        expected: usize,
        this: &dyn Fn() -> ShapeOp<'static>,
    ) -> Result<Self, BroadcastError> {
        let found = self.parts.len();
        if expected != found {
            let builder = self.builder_of(&caller::OPERATE);
            let error =
                fail!(builder, OperandCount, "the number of operands is {found}, expected {expected}");
            return Err(error);
        }
        if !self.is_ranked() {
            self.check = Some((Check::Succeeds { operation: this() }, true));
        }
        Ok(self)
    }

    /// Whether all numbers of axes are known.
    pub(super) fn is_ranked(&self) -> bool {
        self.parts.iter().all(|part| part.shape.ndim().is_some())
    }

    pub(super) fn dims(&self, operand: usize) -> &'a [Dim] {
        dims(self.parts[operand].shape)
    }

    pub(super) fn ndim(&self, operand: usize) -> Option<usize> {
        self.parts[operand].shape.ndim()
    }

    /// The builder of the operation's errors.
    #[cold]
    pub(super) fn builder(&self) -> ErrorBuilder {
        let (operands, targets) = self.parts.split_at(self.parts.len() - usize::from(self.has_target));
        let mut builder = ErrorBuilder::new(self.words, operands).label(self.of).text(&self.text);
        for target in targets {
            builder = builder.to(target);
        }
        if let Some(sizes) = self.sizes {
            let size = |size: &Option<Dim>| size.as_ref().map_or("-1".into(), |size| size.to_string().into());
            builder = builder.to(Shape::listed(sizes.iter().map(size).collect()));
        }
        builder.axes(self.axes.to_vec())
    }

    /// The builder of errors of a part of the operation.
    #[cold]
    pub(super) fn builder_of(&self, words: &'static Caller) -> ErrorBuilder {
        ErrorBuilder::new(words, &self.parts).label(self.of)
    }

    /// The owner of an operand's axes, in places.
    pub(super) fn owner(&self, operand: usize) -> u32 {
        if self.has_target && operand == 1 { PackedPlace::TARGET } else { compact(operand) }
    }
}

/// A size of a result.
pub(super) enum ResultSize {
    /// That of an axis.
    Joint(usize),
    /// That of the target at an axis where it stretches.
    OfTarget(usize),
    One,
    Unknown,
}

/// What errors call the axes where sizes have conditions.
pub(super) enum AxisWords<'a> {
    /// So many axes of the bases, then those of the operation.
    Bases(usize),
    /// The axes of an array with so many axes, by those of the target.
    Placed(usize),
    /// The symbols of a signature, then the axes of the batch.
    Symbols(&'a SymbolAxes<'a>),
}

/// What an operation states.
pub(super) struct Statement<'a> {
    pub(super) call: Call<'a>,
    pub(super) conditions: Conditions<'a>,
    /// How many of the first axes may leave checks.
    pub(super) checked: usize,
    pub(super) words: AxisWords<'a>,
    /// The sizes of the result. If they are not all, for `*`, the known ones may overflow all the same.
    pub(super) result: Vec<ResultSize>,
    pub(super) is_ranked: bool,
}

/// What follows from a statement.
pub(super) struct Solution {
    pub(super) result: PartialShape,
    /// The sizes of the symbols of a signature.
    pub(super) symbols: Vec<Dim>,
    pub(super) checks: Vec<Check>,
}

impl<'a> Statement<'a> {
    /// A statement about sizes at `count` axes, which are those of the result. `at` takes an operand, by its
    /// position and itself, and one of its axes.
    pub(super) fn new(call: Call<'a>, count: usize, at: &dyn Fn(usize, Part<'a>, usize) -> At) -> Self {
        let mut entries = 0;
        for part in &call.parts {
            entries += dims(part.shape).len();
        }
        let mut conditions = Conditions::new(count, entries);
        for (operand, &part) in call.parts.iter().enumerate() {
            conditions.add(call.owner(operand), dims(part.shape), &|axis| at(operand, part, axis));
        }
        let (words, result, is_ranked) = (AxisWords::Bases(0), every(0..count), call.is_ranked());
        Self { call, conditions, checked: count, words, result, is_ranked }
    }

    /// The statement with another result; if there is none, it is `*`.
    pub(super) fn with_result(self, result: Option<Vec<ResultSize>>) -> Self {
        match result {
            Some(result) => Self { result, is_ranked: true, ..self },
            None => Self { is_ranked: false, ..self },
        }
    }

    /// Solves the conditions for all sizes. The names keep what they force.
    ///
    /// # Errors
    /// `DeclaredName` where a name has no size; `Incompatible`, or those of a signature, with the first axis at fault;
    /// `Overflow`.
    pub(super) fn solve(self, names: &mut Names) -> Result<Solution, BroadcastError> {
        let Self { call, conditions, checked, words, result, is_ranked } = self;
        let builder = || call.builder();
        let mut system = System::new(conditions, Vars::new(names, call.of, &builder))?;
        let mut checks = system.checks(checked);
        system.solve().map_err(|clash| words.error(&call, clash))?;
        let mut size = |i: usize| match result[i] {
            ResultSize::Joint(axis) => system.size(axis).0,
            ResultSize::OfTarget(axis) => system.of_target(axis),
            ResultSize::One => Dim::Known(1),
            ResultSize::Unknown => Dim::Unknown,
        };
        let sizes = list(result.len(), &mut size);
        let (mut symbols, mut overflow) = (Vec::new(), call.words);
        if let AxisWords::Symbols(axes) = words {
            axes.check_results(&call)?;
            symbols = list(axes.order.len(), &mut |axis| system.size(axis).0);
            overflow = &caller::PARTIAL_BATCHES;
        }
        let is_whole = call.check.as_ref().map(|(_, always)| *always);
        if is_whole != Some(true) {
            checks = with_unranked(checks, &call.parts, &sizes);
        }
        if let Some((check, _)) = call.check.clone().filter(|(_, always)| *always || !checks.is_empty()) {
            checks = vec![check];
        }
        check_overflow(&sizes, &|| {
            if symbols.is_empty() { call.builder() } else { call.builder_of(overflow) }
        })?;
        system.vars.keep();
        let result = if is_ranked { sizes.into() } else { PartialShape::unranked() };
        Ok(Solution { result, symbols, checks })
    }
}

impl AxisWords<'_> {
    /// The error of a clash.
    #[cold]
    fn error(&self, call: &Call<'_>, clash: Clash) -> BroadcastError {
        let Clash::Sizes { axis, .. } = clash else { return clash.incompatible(call.builder()) };
        match self {
            Self::Bases(bases) if axis < *bases => {
                clash.incompatible(call.builder_of(&caller::PARTIAL_BASES))
            }
            Self::Bases(bases) => clash.at(axis - bases).incompatible(call.builder()),
            Self::Placed(ndim) => clash.at(Numbers(call.axes).axis(axis, *ndim)).incompatible(call.builder()),
            Self::Symbols(axes) => axes.error(call, clash),
        }
    }
}

/// The axes of a signature's symbols: first those of its numbers, then those of the others.
pub(super) struct SymbolAxes<'s> {
    cores: Cores<'s>,
    operands: usize,
    /// The symbol of each axis.
    order: Vec<usize>,
    /// The axis of each symbol.
    axes: Vec<usize>,
    /// Whether each symbol occurs in an operand.
    occurs: Vec<bool>,
}

impl<'s> SymbolAxes<'s> {
    pub(super) fn of(cores: Cores<'s>, operands: usize) -> Self {
        let count = cores.symbols.len();
        let (mut order, mut axes, mut occurs) = (Vec::new(), vec![0; count], vec![false; count]);
        for is_number in [true, false] {
            for (symbol, own) in cores.symbols.iter().enumerate() {
                if own.is_number == is_number {
                    axes[symbol] = order.len();
                    order.push(symbol);
                }
            }
        }
        for axis in cores.bases[..operands].iter().flatten() {
            occurs[axis.symbol] = true;
        }
        Self { cores, operands, order, axes, occurs }
    }

    /// The bases by their symbols, and the batches together.
    pub(super) fn statement<'a>(&'a self, call: Call<'a>) -> Statement<'a> {
        let symbols = self.order.len();
        let count = symbols + call.batch_axes();
        let at = |operand: usize, part: Part<'_>, axis: usize| {
            let batch = part.split().0.len();
            match axis.checked_sub(batch) {
                Some(axis) => Some((self.axes[self.cores.bases[operand][axis].symbol], true)),
                None => Some((count - batch + axis, false)),
            }
        };
        let mut statement = Statement { result: every(symbols..count), ..Statement::new(call, count, &at) };
        for (axis, &symbol) in self.order.iter().enumerate() {
            if let Some(size) = self.cores.symbols[symbol].size {
                statement.conditions.sizes[axis] = Span::of(size);
            }
        }
        Statement { words: AxisWords::Symbols(self), ..statement }
    }

    /// # Errors
    /// `UnknownSymbol` where a size of a result is none of the operands'.
    fn check_results(&self, call: &Call<'_>) -> Result<(), BroadcastError> {
        for axis in self.cores.bases[self.operands..].iter().flatten() {
            let symbol = &self.cores.symbols[axis.symbol];
            if !self.occurs[axis.symbol] && !symbol.is_number {
                return Err(unknown_symbol(call.builder(), symbol.text));
            }
        }
        Ok(())
    }

    /// The error of a clash at one of the axes, or in the batch.
    fn error(&self, call: &Call<'_>, clash: Clash) -> BroadcastError {
        let Clash::Sizes { axis, places, dims: [dim, other], .. } = &clash else {
            return clash.incompatible(call.builder());
        };
        if let Some(axis) = axis.checked_sub(self.order.len()) {
            let builder = || call.builder_of(&caller::PARTIAL_BATCHES);
            return self
                .check_results(call)
                .map_or_else(|error| error, |()| clash.at(axis).incompatible(builder()));
        }
        let position = |place: PackedPlace| {
            let (operand, axis) = (place.shape(), place.axis as usize);
            (operand, axis - call.parts[operand].split().0.len())
        };
        let (symbol, [a, b]) = (&self.cores.symbols[self.order[*axis]], *places);
        if let Some(size) = symbol.size {
            let (place, dim) = if dim.admits(size) { (b, other) } else { (a, dim) };
            let (operand, axis) = position(place);
            return base_size(call.builder(), Some(operand), axis, [dim, &size], place.mark());
        }
        two_sizes(call.builder(), symbol.text, [position(a), position(b)], [dim, other], [a.mark(), b.mark()])
    }

    /// The batch, the sizes and the results of the signature.
    pub(super) fn results(
        &self,
        Solution { result: batch, symbols, checks }: Solution,
    ) -> InferredShapes<'s> {
        let size = |symbol: usize| symbols[self.axes[symbol]].clone();
        let mut bases: Vec<PartialShape> = Vec::new();
        for base in &self.cores.bases[self.operands..] {
            bases.push(list(base.len(), &mut |axis| size(base[axis].symbol)).into());
        }
        let results = list(bases.len(), &mut |result| batch.with_base(&bases[result]));
        let mut sizes = Vec::new();
        for (symbol, own) in self.cores.symbols.iter().enumerate() {
            if self.occurs[symbol] && !own.is_number {
                sizes.push((own.text, size(symbol)));
            }
        }
        InferredShapes { batch, sizes, bases, results, checks }
    }
}

/// Adds the checks of operands `*` to those of the others, with which they broadcast together. `sizes` are the joint sizes of the
/// others.
pub(super) fn with_unranked(mut checks: Vec<Check>, parts: &[Part<'_>], sizes: &[Dim]) -> Vec<Check> {
    // if all known sizes are 1, one operand `*` goes together with them, whatever its shape
    let ones = sizes.iter().all(|size| *size == Dim::Known(1));
    let unranked: Vec<_> =
        (0..parts.len()).filter(|&operand| parts[operand].shape.ndim().is_none()).collect();
    match unranked[..] {
        [] => {}
        [_] if ones => {}
        [operand] => checks.push(Check::GoesTogether { operand }),
        [_, operand] if ones => checks.push(Check::GoesTogether { operand }),
        // one check for each of them would compare every pair of operands
        _ => checks.push(Check::AllGoTogether),
    }
    checks
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

/// The sizes of axes that have a condition.
pub(super) fn every(axes: core::ops::Range<usize>) -> Vec<ResultSize> {
    list(axes.len(), &mut |axis| ResultSize::Joint(axes.start + axis))
}

/// # Errors
/// `Overflow` where the smallest shape that the sizes allow is one.
pub(super) fn check_overflow(
    sizes: &[Dim],
    builder: &dyn Fn() -> ErrorBuilder,
) -> Result<(), BroadcastError> {
    let least = list(sizes.len(), &mut |axis| sizes[axis].span().lo);
    if checked_len(&least).is_some() { Ok(()) } else { Err(builder().overflow(&least)) }
}

/// A whole shape's sizes, or none for `*`.
pub(super) fn dims(shape: &PartialShape) -> &[Dim] {
    shape.dims().unwrap_or_default()
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
