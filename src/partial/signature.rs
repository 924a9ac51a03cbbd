//! Signatures on partially known shapes.

use super::dim::Span;
use super::meet::Clash;
use super::place::PackedPlace;
use super::shape_op::InferredShapes;
use super::statement::{AxisWords, Call, Part, Solution, Statement, every, list};
use super::{Check, Names, PartialShape};
use crate::error::{BroadcastError, caller};
use crate::shape::{Cores, Signature, base_axes, base_size, two_sizes, unknown_symbol};
use alloc::{vec, vec::Vec};

impl<'s> Signature<'s> {
    /// [`resolve`](Self::resolve) for partially known shapes.
    ///
    /// # Shapes
    /// As [`resolve`](Self::resolve). A name of the signature has the sizes that all its axes can have, and a name of the
    /// shapes is one size in batches and bases. An operand `*` leaves the batch shape open, and the bases too if it
    /// may lack optional axes.
    ///
    /// # Errors
    /// Where no shapes that the operands accept fit; in this order:
    /// [`OperandCount`](crate::ErrorKind::OperandCount), [`BaseAxes`](crate::ErrorKind::BaseAxes),
    /// [`BaseSize`](crate::ErrorKind::BaseSize), [`BaseSymbol`](crate::ErrorKind::BaseSymbol),
    /// [`UnknownSymbol`](crate::ErrorKind::UnknownSymbol) and [`Incompatible`](crate::ErrorKind::Incompatible)
    /// as [`resolve`](Self::resolve); [`Overflow`](crate::ErrorKind::Overflow) where the smallest batch shape possible is
    /// one. Before `BaseSize`, [`DeclaredName`](crate::ErrorKind::DeclaredName) where the ranges of a name
    /// have no size in common.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::{partial::PartialShape, Signature};
    ///
    /// const MATMUL: Signature = Signature::literal("(m,n),(n,p)->(m,p)");
    /// let p = |text: &str| text.parse::<PartialShape>().unwrap();
    /// let shapes = MATMUL.infer(&[p("nx?x3"), p("3x4")])?;
    /// assert_eq!((&shapes.batch, &shapes.bases[0], &shapes.results[0]), (&p("n"), &p("?x4"), &p("nx?x4")));
    /// assert_eq!(shapes.checks, []); // it always applies
    ///
    /// let checks = MATMUL.infer(&[p("2x?xk"), p("3x4")])?.checks;
    /// assert_eq!(checks[0].to_string(), "axis 2 of operand 0 is 3");
    /// assert_eq!(
    ///     MATMUL.infer(&[p("nx?x3"), p("4x?")]).unwrap_err().to_string(),
    ///     "cannot apply (m,n),(n,p)->(m,p) to nx?x3 (base 2) and 4x? (base 2): \
    ///      n is 3 at base axis 1 of operand 0 and 4 at base axis 0 of operand 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Type inference of MLIR's `linalg.batch_matmul` and of ONNX `MatMul`, for any signature.
    pub fn infer<'p>(
        &self,
        shapes: impl IntoIterator<Item = &'p PartialShape>,
    ) -> Result<InferredShapes<'s>, BroadcastError> {
        self.infer_in(&mut Names::new(), None, &shapes.into_iter().collect::<Vec<_>>())
    }

    /// [`infer`](Self::infer) with names that may be known, which learn what is forced.
    pub(super) fn infer_in(
        &self,
        names: &mut Names,
        of: Option<&str>,
        shapes: &[&PartialShape],
    ) -> Result<InferredShapes<'s>, BroadcastError> {
        let mut cores = Cores::of(self.text());
        let ndims = list(shapes.len(), &mut |operand| shapes[operand].ndim().unwrap_or(usize::MAX));
        cores.leave_out_missing(&ndims);
        let own = list(shapes.len(), &mut |operand| match cores.bases.get(operand) {
            Some(base) if operand < self.operands() => base.len().min(ndims[operand]),
            _ => 0,
        });
        let mut call = Call { text: self.text(), ..Call::new(&caller::SIGNATURE, of, shapes, &own) };
        if shapes.len() != self.operands() {
            return Err(self.operand_count(call.request(), shapes.len()));
        }
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        for (operand, &found) in ndims.iter().enumerate() {
            let base = &cores.bases[operand];
            if found < base.len() {
                return Err(base_axes(call.request(), Some(operand), base.len(), found));
            }
            lacks_axes |= found == usize::MAX && base.iter().any(|axis| axis.optional);
            lacks_sizes |= found == usize::MAX && !base.is_empty();
        }
        if !call.is_ranked() {
            // other checks speak of whole operands, or of axes that `*` does not have yet
            call.check = Some((Check::Applies { signature: self.text().into() }, lacks_sizes));
        }
        if lacks_axes {
            let any = vec![PartialShape::unranked(); self.results()];
            let checks = call.check.map(|(check, _)| check).into_iter().collect();
            return Ok(InferredShapes { bases: any.clone(), ..InferredShapes::of(any, checks) });
        }
        let axes = SymbolAxes::of(cores, self.operands());
        Ok(axes.results(axes.statement(call).solve(names)?))
    }
}

/// The axes of a signature's symbols: first those of its numbers, then those of the others.
pub(super) struct SymbolAxes<'s> {
    cores: Cores<'s>,
    operands: usize,
    /// The symbol of each axis.
    pub(super) order: Vec<usize>,
    /// The axis of each symbol.
    axes: Vec<usize>,
    /// Whether each symbol occurs in an operand.
    occurs: Vec<bool>,
}

impl<'s> SymbolAxes<'s> {
    fn of(cores: Cores<'s>, operands: usize) -> Self {
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
    fn statement<'a>(&'a self, call: Call<'a>) -> Statement<'a> {
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
    pub(super) fn check_results(&self, call: &Call<'_>) -> Result<(), BroadcastError> {
        for axis in self.cores.bases[self.operands..].iter().flatten() {
            let symbol = &self.cores.symbols[axis.symbol];
            if !self.occurs[axis.symbol] && !symbol.is_number {
                return Err(unknown_symbol(call.request(), symbol.text));
            }
        }
        Ok(())
    }

    /// The error of a clash at one of the axes, or in the batch.
    pub(super) fn error(&self, call: &Call<'_>, clash: Clash) -> BroadcastError {
        let Clash::Sizes { axis, places, dims: [dim, other], .. } = &clash else {
            return clash.incompatible(call.request());
        };
        if let Some(axis) = axis.checked_sub(self.order.len()) {
            let request = || call.request_of(&caller::PARTIAL_BATCHES);
            return self
                .check_results(call)
                .map_or_else(|error| error, |()| clash.at(axis).incompatible(request()));
        }
        let position = |place: PackedPlace| {
            let (operand, axis) = (place.shape(), place.axis as usize);
            (operand, axis - call.parts[operand].split().0.len())
        };
        let (symbol, [a, b]) = (&self.cores.symbols[self.order[*axis]], *places);
        if let Some(size) = symbol.size {
            let (place, dim) = if dim.admits(size) { (b, other) } else { (a, dim) };
            let (operand, axis) = position(place);
            return base_size(call.request(), Some(operand), axis, [dim, &size], place.mark());
        }
        two_sizes(call.request(), symbol.text, [position(a), position(b)], [dim, other], [a.mark(), b.mark()])
    }

    /// The batch, the sizes and the results of the signature.
    fn results(&self, Solution { result: batch, symbols, checks }: Solution) -> InferredShapes<'s> {
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
