//! Signatures on partially known shapes.

use super::dim::Dim;
use super::operation::{InferredShapes, Part};
use super::system::{Clash, Entry, Layout, System, checked, dims, incompatible};
use super::{Check, Names, PartialShape};
use crate::error::{BroadcastError, Mark, Request, operation};
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
        let ndims: Vec<_> = shapes.iter().map(|shape| shape.ndim().unwrap_or(usize::MAX)).collect();
        cores.leave_out_missing(&ndims);
        let (operands, results) = cores.bases.split_at(self.operands());
        let mut parts = Vec::with_capacity(shapes.len());
        for (operand, shape) in shapes.iter().enumerate() {
            let base = operands.get(operand).map_or(0, Vec::len);
            parts.push(Part { shape, base: Some(base.min(shape.ndim().unwrap_or(base))) });
        }
        let apply = || Request::new(&operation::SIGNATURE, &parts).text(self).label(of);
        if shapes.len() != self.operands() {
            return Err(self.operand_count(apply(), shapes.len()));
        }
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        for (operand, (&found, base)) in ndims.iter().zip(operands).enumerate() {
            if found < base.len() {
                return Err(base_axes(apply(), Some(operand), base.len(), found));
            }
            lacks_axes |= found == usize::MAX && base.iter().any(|axis| axis.optional);
            lacks_sizes |= found == usize::MAX && !base.is_empty();
        }
        let applies = || vec![Check::Applies { signature: self.text().into() }];
        if lacks_axes {
            let any = vec![PartialShape::unranked(); self.results()];
            let (batch, sizes, checks) = (PartialShape::unranked(), Vec::new(), applies());
            return Ok(InferredShapes { batch, sizes, bases: any.clone(), results: any, checks });
        }
        // the axes of the numbers, of the other symbols and of the batch
        let symbols = cores.symbols.len();
        let mut order: Vec<_> = (0..symbols).filter(|&symbol| cores.symbols[symbol].is_number).collect();
        order.extend((0..symbols).filter(|&symbol| !cores.symbols[symbol].is_number));
        let mut places = vec![0; symbols];
        for (axis, &symbol) in order.iter().enumerate() {
            places[symbol] = axis;
        }
        let own_batch = |shape: usize| dims(shapes[shape]).len().saturating_sub(operands[shape].len());
        let batches = (0..shapes.len()).map(own_batch).max().unwrap_or(0);
        let at = |shape: usize, axis: usize| match axis.checked_sub(own_batch(shape)) {
            Some(axis) => Some((places[operands[shape][axis].symbol], true)),
            None => Some((symbols + batches - own_batch(shape) + axis, false)),
        };
        let mut occurs = vec![false; symbols];
        for core in operands.iter().flatten() {
            occurs[core.symbol] = true;
        }
        let is_unknown = |axis: &&CoreAxis| !occurs[axis.symbol] && !cores.symbols[axis.symbol].is_number;
        let unknown = results.iter().flatten().find(is_unknown);
        let unknown = || unknown.map(|axis| unknown_symbol(apply(), cores.symbols[axis.symbol].text));
        let of_batches = || Request::new(&operation::PARTIAL_BATCHES, &parts).label(of);
        let blame = |request, clash: Clash<'_>| match clash.axis.checked_sub(symbols) {
            None => {
                let place = |entry: Entry| (entry.shape(), entry.axis() - own_batch(entry.shape()));
                let mark = |entry: Entry| Mark::Shape(entry.shape(), entry.axis());
                let (symbol, [a, b]) = (&cores.symbols[order[clash.axis]], clash.entries);
                if symbol.is_number {
                    let (at, axis) = place(b);
                    return base_size(request, Some(at), axis, [&clash.dims[1], &symbol.text], mark(b));
                }
                two_sizes(
                    request,
                    symbol.text,
                    [place(a), place(b)],
                    clash.dims.map(|dim| dim as _),
                    [mark(a), mark(b)],
                )
            }
            Some(axis) => unknown().unwrap_or_else(|| incompatible(of_batches(), Clash { axis, ..clash })),
        };
        let sizes = shapes.iter().map(|shape| dims(shape)).collect();
        let numbers = order.iter().map_while(|&symbol| cores.symbols[symbol].size.map(Dim::Known));
        let layout = Layout::new(sizes, symbols + batches, &at);
        let mut system = System::new(layout, names, of, &apply, &blame)?.given(numbers);
        let mut checks = system.checks(symbols + batches);
        system.solve()?;
        if let Some(error) = unknown() {
            return Err(error);
        }
        checks = system.with_unranked(checks, &parts, symbols..symbols + batches);
        // other checks speak of whole operands, or of axes that `*` does not have yet
        if lacks_sizes || (ndims.contains(&usize::MAX) && !checks.is_empty()) {
            checks = applies();
        }
        let batch = (symbols..symbols + batches).map(|axis| system.size(axis).0).collect();
        let batch = checked(batch, &of_batches)?;
        let batch = if ndims.contains(&usize::MAX) { PartialShape::unranked() } else { batch.into() };
        let found: Vec<_> = places.iter().map(|&axis| system.size(axis).0).collect();
        system.vars.keep();
        let base = |base: &Vec<CoreAxis>| {
            base.iter().map(|axis| found[axis.symbol].clone()).collect::<Vec<_>>().into()
        };
        let bases: Vec<PartialShape> = results.iter().map(base).collect();
        let results = bases.iter().map(|base| batch.with_base(base)).collect();
        let with_name = |(symbol, size): (usize, Dim)| {
            let is_named = occurs[symbol] && !cores.symbols[symbol].is_number;
            is_named.then(|| (cores.symbols[symbol].text, size))
        };
        let sizes = found.iter().cloned().enumerate().filter_map(with_name).collect();
        Ok(InferredShapes { batch, sizes, bases, results, checks })
    }
}
