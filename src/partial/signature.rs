//! Signatures on partially known shapes.

use super::partial_shape::list;
use super::place::{Clash, OwnAxis};
use super::statement::{Arguments, Operation, Statement, check_overflow};
use super::{Check, Dim, InferredShapes, Names, PartialShape};
use crate::error::{BroadcastError, Result, caller};
use crate::shape::{
    BaseAxis, CoreAxis, Cores, Signature, base_axes, base_size, check_operands, two_sizes, unknown_symbol,
};
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
    /// as [`resolve`](Self::resolve); [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible batch shape
    /// overflows. Before `BaseSize`, [`DeclaredName`](crate::ErrorKind::DeclaredName) where the ranges of a name
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
    ) -> Result<InferredShapes<'s>> {
        self.infer_in(&mut Names::new(), Operation::on(&shapes.into_iter().collect::<Vec<_>>()))
    }

    /// [`infer`](Self::infer) with names that may be known, and learn their forced sizes.
    pub(super) fn infer_in(&self, names: &mut Names, call: Operation<'_>) -> Result<InferredShapes<'s>> {
        let shapes = call.shapes;
        let mut cores = Cores::of(self.text);
        let ndims = list(shapes.len(), &mut |operand| shapes[operand].ndim().unwrap_or(usize::MAX));
        cores.leave_out_missing(&ndims);
        let own = list(shapes.len(), &mut |operand| match cores.bases.get(operand) {
            Some(base) if operand < self.operands() => base.len().min(ndims[operand]),
            _ => 0,
        });
        let arguments = Arguments::Signature(self.text);
        let operation = Operation { words: &caller::SIGNATURE, bases: &own, arguments, ..call };
        check_operands(self.operands(), shapes.len(), "shapes", &|| operation.builder())?;
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        let Cores { bases, symbols } = &mut cores;
        for (operand, (base, &found)) in bases.iter().zip(&ndims).enumerate() {
            if found < base.len() {
                return Err(base_axes(operation.builder(), Some(operand), [base.len(), found]));
            }
            lacks_axes |= found == usize::MAX && base.iter().any(|axis| axis.optional);
            lacks_sizes |= found == usize::MAX && !base.is_empty();
            for (axis, CoreAxis { symbol, .. }) in base.iter().enumerate() {
                symbols[*symbol].first.get_or_insert((operand, axis));
            }
        }
        let applies = || vec![Check::Applies { signature: self.text.into() }];
        if lacks_axes {
            let any = vec![PartialShape::unranked(); self.results()];
            return Ok(InferredShapes { bases: any.clone(), ..InferredShapes::of(any, applies()) });
        }
        let mut found = infer(&cores, operation, names)?;
        // other checks speak of whole operands, or of axes that `*` does not have yet
        if lacks_sizes || !call.is_ranked() && !found.checks.is_empty() {
            found.checks = applies();
        }
        Ok(found)
    }
}

/// The batch, the sizes and the results of a signature, whose symbols are the first axes of the conditions.
fn infer<'s>(cores: &Cores<'s>, operation: Operation<'_>, names: &mut Names) -> Result<InferredShapes<'s>> {
    let Cores { bases, symbols } = cores;
    let (count, operands) = (symbols.len(), operation.shapes.len());
    let at = |operand: usize, axis: usize| Some((bases[operand][axis].symbol, true));
    let Statement { mut conditions, .. } = operation.batches_after(count, &at);
    conditions.numbers = list(count, &mut |symbol| symbols[symbol].size.map_or(Dim::Unknown, Dim::Known));
    conditions.first = (0..count).filter(|&symbol| symbols[symbol].is_number).collect();
    let (system, checks) =
        operation.solve(conditions, names).map_err(|clash| clash_error(cores, operation, clash))?;
    check_results(cores, operation)?;
    let mut sizes = list(count + operation.batch_axes(), &mut |axis| system.size(axis).0);
    let batch = sizes.split_off(count);
    let checks = operation.with_unranked(checks, &batch);
    check_overflow(&batch, &|| operation.builder_of(&caller::PARTIAL_BATCHES))?;
    system.vars.keep();
    let batch = if operation.is_ranked() { batch.into() } else { PartialShape::unranked() };
    let mut found = InferredShapes { batch, ..InferredShapes::of(Vec::new(), checks) };
    for base in &bases[operands..] {
        let base = list(base.len(), &mut |axis| sizes[base[axis].symbol].clone()).into();
        found.results.push(found.batch.with_base(&base));
        found.bases.push(base);
    }
    for (size, symbol) in sizes.into_iter().zip(symbols) {
        if symbol.first.is_some() && !symbol.is_number {
            found.sizes.push((symbol.text, size));
        }
    }
    Ok(found)
}

/// # Errors
/// `UnknownSymbol` where a size of a result is none of the operands'.
fn check_results(cores: &Cores<'_>, operation: Operation<'_>) -> Result<()> {
    let results = cores.bases[operation.shapes.len()..].iter().flatten();
    let mut symbols = results.map(|axis| &cores.symbols[axis.symbol]);
    match symbols.find(|symbol| symbol.first.is_none() && !symbol.is_number) {
        Some(symbol) => Err(unknown_symbol(operation.builder(), symbol.text)),
        None => Ok(()),
    }
}

/// The error of a clash at one of the axes, or in the batch.
fn clash_error(cores: &Cores<'_>, operation: Operation<'_>, mut clash: Clash) -> BroadcastError {
    let Clash::Sizes { axis, places, dims: [dim, other], .. } = &mut clash else {
        return clash.error(operation.builder());
    };
    if let Some(in_batch) = axis.checked_sub(cores.symbols.len()) {
        *axis = in_batch;
        let error = || clash.error(operation.builder_of(&caller::PARTIAL_BATCHES));
        return check_results(cores, operation).map_or_else(|error| error, |()| error());
    }
    let base_axis = |place: OwnAxis| {
        let (operand, mark) = (place.shape(), place.mark());
        let axis = place.axis as usize - operation.split(operand).0.len();
        BaseAxis { operand: Some(operand), axis, mark }
    };
    let (builder, symbol, [a, b]) = (operation.builder(), &cores.symbols[*axis], *places);
    match symbol.size {
        // the number is the first size of the axis
        Some(size) => base_size(builder, base_axis(b), [other, &size]),
        None => two_sizes(builder, symbol.text, [base_axis(a), base_axis(b)], [dim, other]),
    }
}
