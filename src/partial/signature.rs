//! Signatures on partially known shapes.

use super::bindings::{consistent, merged};
use super::classes::{Classes, Site};
use super::infer::infer_joint;
use super::{Dim, PartialShape};
use crate::error::{BroadcastError, Mark, Request, operation};
use crate::shape::{CoreAxis, Cores, Signature, Symbol, base_axes, base_size, two_sizes, unknown_symbol};
use alloc::{vec, vec::Vec};

/// The shapes that [`Signature::infer`] finds; see the example there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferredShapes {
    /// The joint batch shape.
    pub batch: PartialShape,
    /// The base shape of each result.
    pub bases: Vec<PartialShape>,
    /// The shape of each result: the joint batch shape, then its base shape.
    pub results: Vec<PartialShape>,
}

impl Signature<'_> {
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
    pub fn infer(&self, shapes: &[PartialShape]) -> Result<InferredShapes, BroadcastError> {
        let mut cores = Cores::of(self.text());
        let ndims: Vec<_> = shapes.iter().map(|shape| shape.ndim().unwrap_or(usize::MAX)).collect();
        cores.leave_out_missing(&ndims);
        let request = |operation| {
            let mut parts = Vec::with_capacity(shapes.len());
            for (operand, shape) in shapes.iter().enumerate() {
                let base = cores.bases[..self.operands()].get(operand).map_or(0, Vec::len);
                parts.push((shape.clone(), base.min(shape.ndim().unwrap_or(base))));
            }
            Request::new(operation, &parts).text(self)
        };
        let apply = || request(&operation::SIGNATURE);
        if shapes.len() != self.operands() {
            return Err(self.operand_count(apply(), shapes.len()));
        }
        let mut lacks_axes = false;
        for (operand, (&found, base)) in ndims.iter().zip(&cores.bases).enumerate() {
            if found < base.len() {
                return Err(base_axes(apply(), Some(operand), base.len(), found));
            }
            lacks_axes |= found == usize::MAX && base.iter().any(|axis| axis.optional);
        }
        if lacks_axes {
            let any = vec![PartialShape::unranked(); self.results()];
            return Ok(InferredShapes { batch: PartialShape::unranked(), bases: any.clone(), results: any });
        }
        let consistent = consistent(shapes, &apply)?;
        let operands = Operands { shapes: &consistent, cores: &cores, request: &apply };
        let (symbols, names) = operands.meet()?;
        let bases = operands.results(&symbols, &names)?;
        let batch = |(shape, base): (&PartialShape, &Vec<_>)| {
            names.resolve(&shape.batch(base.len()).unwrap_or(PartialShape::unranked()))
        };
        let batches: Vec<_> = consistent.iter().zip(&cores.bases).map(batch).collect();
        let batch = infer_joint(&batches, &|| request(&operation::PARTIAL_BATCHES))?;
        let results = bases.iter().map(|base| batch.with_base(base)).collect();
        Ok(InferredShapes { batch, bases, results })
    }
}

/// Operands whose numbers of axes fit their base axes.
struct Operands<'p> {
    shapes: &'p [PartialShape],
    cores: &'p Cores<'p>,
    request: &'p dyn Fn() -> Request,
}

/// An operand and one of its base axes.
type At = (usize, usize);

impl Operands<'_> {
    /// The base axes whose sizes are known or named, each with the position of its symbol.
    fn axes(&self) -> impl Iterator<Item = (usize, At, &Dim)> {
        self.shapes.iter().zip(&self.cores.bases).enumerate().flat_map(|(operand, (shape, base))| {
            let dims = shape.dims().map_or(&[][..], |dims| &dims[dims.len() - base.len()..]);
            let axes = base.iter().zip(dims).enumerate();
            axes.map(move |(axis, (core, dim))| (core.symbol, (operand, axis), dim))
        })
    }

    /// The sizes of the symbols, and the names made equal at all axes of each symbol.
    ///
    /// # Errors
    /// `BaseSize`, then `BaseSymbol`.
    fn meet(&self) -> Result<(Vec<Dim>, Classes), BroadcastError> {
        let number = |symbol: &Symbol<'_>| symbol.size.map_or(Dim::Unknown, Dim::Known);
        let mut symbols: Vec<_> = self.cores.symbols.iter().map(number).collect();
        let mut names = Classes::default();
        for numbers in [true, false] {
            for (symbol, at, dim) in self.axes() {
                if self.cores.symbols[symbol].is_number == numbers {
                    let size = &mut symbols[symbol];
                    if names.meet(size, dim, Site::UNNAMED).is_err() {
                        return Err(self.clash(&names, symbol, at, dim));
                    }
                    *size = merged(&names, size, dim);
                }
            }
        }
        Ok((symbols, names))
    }

    /// The error of a size that cannot be that of its symbol.
    #[cold]
    fn clash(&self, names: &Classes, symbol: usize, at: At, dim: &Dim) -> BroadcastError {
        let mark = |(operand, axis): At| {
            let (ndim, base) = (self.shapes[operand].ndim(), self.cores.bases[operand].len());
            Mark::Shape(operand, ndim.map_or(0, |ndim| ndim - base) + axis)
        };
        let text = self.cores.symbols[symbol].text;
        if self.cores.symbols[symbol].is_number {
            return base_size((self.request)(), Some(at.0), at.1, [dim, &text], mark(at));
        }
        // the first axis that excludes this one by itself, else the first one of all
        let excludes = |other: &Dim| names.span(other).intersect(names.span(dim)).is_none();
        let others = || self.axes().filter(|axis| axis.0 == symbol).take_while(|axis| axis.1 != at);
        let other = others().find(|axis| excludes(axis.2)).or_else(|| others().next());
        let (_, place, other) = other.unwrap_or((symbol, at, dim));
        two_sizes((self.request)(), text, [place, at], [other, dim], [mark(place), mark(at)])
    }

    /// The bases of the results.
    ///
    /// # Errors
    /// `UnknownSymbol`.
    fn results(&self, symbols: &[Dim], names: &Classes) -> Result<Vec<PartialShape>, BroadcastError> {
        let (operands, bases) = self.cores.bases.split_at(self.shapes.len());
        let mut is_known: Vec<bool> = self.cores.symbols.iter().map(|symbol| symbol.is_number).collect();
        for axis in operands.iter().flatten() {
            is_known[axis.symbol] = true;
        }
        if let Some(axis) = bases.iter().flatten().find(|axis| !is_known[axis.symbol]) {
            return Err(unknown_symbol((self.request)(), self.cores.symbols[axis.symbol].text));
        }
        let size = |axis: &CoreAxis| names.known(&symbols[axis.symbol]);
        Ok(bases.iter().map(|base| PartialShape::ranked(base.iter().map(size))).collect())
    }
}
