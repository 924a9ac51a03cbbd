//! Signatures on partially known shapes.

use super::decide::with_unranked;
use super::dim::Dim;
use super::layout::{Entry, Layout, list, shapes};
use super::shape_op::{InferredShapes, Part};
use super::system::{Clash, System, checked, incompatible};
use super::{Check, Names, PartialShape};
use crate::error::{BroadcastError, ErrorBuilder, Mark, caller};
use crate::shape::{CoreAxis, Cores, Signature, base_axes, base_size, two_sizes, unknown_symbol};
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
        let (operands, results) = cores.bases.split_at(self.operands());
        let parts = list(shapes.len(), &mut |operand| {
            let base = operands.get(operand).map_or(0, Vec::len);
            Part { shape: shapes[operand], base: Some(base.min(ndims[operand])) }
        });
        let apply = || ErrorBuilder::new(&caller::SIGNATURE, &parts).text(self).label(of);
        if shapes.len() != self.operands() {
            return Err(self.operand_count(apply(), shapes.len()));
        }
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        for (operand, base) in operands.iter().enumerate() {
            let found = ndims[operand];
            if found < base.len() {
                return Err(base_axes(apply(), Some(operand), base.len(), found));
            }
            for axis in base {
                lacks_axes |= found == usize::MAX && axis.optional;
                lacks_sizes |= found == usize::MAX;
            }
        }
        let applies = || vec![Check::Applies { signature: self.text().into() }];
        if lacks_axes {
            let any = vec![PartialShape::unranked(); self.results()];
            let (batch, sizes, checks) = (PartialShape::unranked(), Vec::new(), applies());
            return Ok(InferredShapes { batch, sizes, bases: any.clone(), results: any, checks });
        }
        // the axes of the numbers, of the other symbols and of the batch
        let symbols = cores.symbols.len();
        let (order, mut places, mut occurs) = (numbers_first(&cores), vec![0; symbols], vec![false; symbols]);
        for (axis, &symbol) in order.iter().enumerate() {
            places[symbol] = axis;
        }
        for base in operands {
            for axis in base {
                occurs[axis.symbol] = true;
            }
        }
        let mut batches = 0;
        for part in &parts {
            batches = batches.max(part.split().0.len());
        }
        let own_batch = |shape: usize| parts[shape].split().0.len();
        let at = |shape: usize, axis: usize| match axis.checked_sub(own_batch(shape)) {
            Some(axis) => Some((places[operands[shape][axis].symbol], true)),
            None => Some((symbols + batches - own_batch(shape) + axis, false)),
        };
        let is_unknown = |axis: &&CoreAxis| !occurs[axis.symbol] && !cores.symbols[axis.symbol].is_number;
        let unknown = results.iter().flatten().find(is_unknown);
        let unknown = || unknown.map(|axis| unknown_symbol(apply(), cores.symbols[axis.symbol].text));
        let of_batches = || ErrorBuilder::new(&caller::PARTIAL_BATCHES, &parts).label(of);
        let blame = |request, clash: Clash<'_>| match clash.axis.checked_sub(symbols) {
            None => {
                let place = |entry: Entry| (entry.shape(), entry.axis() - own_batch(entry.shape()));
                let mark = |entry: Entry| Mark::Shape(entry.shape(), entry.axis());
                let (symbol, [a, b]) = (&cores.symbols[order[clash.axis]], clash.entries);
                let [dim, other] = clash.dims;
                if let Some(size) = symbol.size {
                    let (entry, dim) = if dim.admits(size) { (b, other) } else { (a, dim) };
                    let (operand, axis) = place(entry);
                    return base_size(request, Some(operand), axis, [dim, &size], mark(entry));
                }
                two_sizes(request, symbol.text, [place(a), place(b)], [dim, other], [mark(a), mark(b)])
            }
            Some(axis) => unknown().unwrap_or_else(|| incompatible(of_batches(), Clash { axis, ..clash })),
        };
        let layout = Layout::new(self::shapes(&parts), symbols + batches, &at);
        let mut system = System::new(layout, names, of, &apply, &blame)?;
        for (axis, &symbol) in order.iter().enumerate() {
            system.sizes[axis] = cores.symbols[symbol].size.map_or(Dim::Unknown, Dim::Known);
        }
        let mut checks = system.checks(symbols + batches);
        system.solve()?;
        if let Some(error) = unknown() {
            return Err(error);
        }
        let batch = system.joint_sizes(symbols..symbols + batches);
        checks = with_unranked(checks, &parts, &batch);
        // other checks speak of whole operands, or of axes that `*` does not have yet
        if lacks_sizes || (ndims.contains(&usize::MAX) && !checks.is_empty()) {
            checks = applies();
        }
        let batch = checked(batch, &of_batches)?;
        let batch = if ndims.contains(&usize::MAX) { PartialShape::unranked() } else { batch.into() };
        let found = list(symbols, &mut |symbol| system.size(places[symbol]).0);
        system.vars.keep();
        let base = |axes: &[CoreAxis]| list(axes.len(), &mut |axis| found[axes[axis].symbol].clone()).into();
        let bases = list(results.len(), &mut |result| base(&results[result]));
        let results = list(bases.len(), &mut |result| batch.with_base(&bases[result]));
        let mut sizes = Vec::new();
        for (symbol, size) in found.into_iter().enumerate() {
            if occurs[symbol] && !cores.symbols[symbol].is_number {
                sizes.push((cores.symbols[symbol].text, size));
            }
        }
        Ok(InferredShapes { batch, sizes, bases, results, checks })
    }
}

/// The symbols, numbers before the others.
fn numbers_first(cores: &Cores<'_>) -> Vec<usize> {
    let mut order = Vec::new();
    for is_number in [true, false] {
        for (symbol, own) in cores.symbols.iter().enumerate() {
            if own.is_number == is_number {
                order.push(symbol);
            }
        }
    }
    order
}
