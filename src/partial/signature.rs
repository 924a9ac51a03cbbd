//! Signatures on partially known shapes.

use super::bindings::consistent;
use super::classes::{Classes, Site};
use super::decide::operand_checks;
use super::infer::AlignedAxes;
use super::{Check, Decision, Dim, PartialShape, Place, Span};
use crate::error::{BroadcastError, Mark, Request, operation};
use crate::shape::{CoreAxis, Cores, Signature, base_axes, base_size, two_sizes, unknown_symbol};
use alloc::{vec, vec::Vec};

/// The shapes and sizes that [`Signature::infer`] finds; see the example there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferredShapes<'s> {
    /// The joint batch shape.
    pub batch: PartialShape,
    /// The size of each name that is not missing, in the order of the signature.
    pub sizes: Vec<(&'s str, Dim)>,
    /// The base shape of each result.
    pub bases: Vec<PartialShape>,
    /// The shape of each result: the joint batch shape, then its base shape.
    pub results: Vec<PartialShape>,
    /// The checks that remain for real shapes. Without any, the signature applies to all shapes that the operands accept.
    pub checks: Vec<Check>,
}

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
    pub fn infer(&self, shapes: &[PartialShape]) -> Result<InferredShapes<'s>, BroadcastError> {
        let mut cores = Cores::of(self.text());
        let ndims: Vec<_> = shapes.iter().map(|shape| shape.ndim().unwrap_or(usize::MAX)).collect();
        cores.leave_out_missing(&ndims);
        let parts = Parts { signature: self, shapes, cores: &cores };
        if shapes.len() != self.operands() {
            return Err(self.operand_count(parts.request(&operation::SIGNATURE), shapes.len()));
        }
        for (operand, (&found, base)) in ndims.iter().zip(&cores.bases).enumerate() {
            if found < base.len() {
                let request = parts.request(&operation::SIGNATURE);
                return Err(base_axes(request, Some(operand), base.len(), found));
            }
        }
        let unranked = ndims.iter().zip(&cores.bases).filter(|(ndim, _)| **ndim == usize::MAX);
        // the base axes that operands `*` may lack
        let open: Vec<&CoreAxis> = unranked.flat_map(|(_, base)| base).collect();
        let applies = || vec![Check::Applies { signature: self.text().into() }];
        if open.iter().any(|axis| axis.optional) {
            let any = vec![PartialShape::unranked(); self.results()];
            let (batch, sizes, checks) = (PartialShape::unranked(), Vec::new(), applies());
            return Ok(InferredShapes { batch, sizes, bases: any.clone(), results: any, checks });
        }
        let consistent = consistent(shapes, &|| parts.request(&operation::SIGNATURE))?;
        let mut symbols = Symbols::new(&parts, &consistent);
        symbols.meet(true)?;
        symbols.meet(false)?;
        let bases = symbols.results()?;
        let mut batches = Vec::with_capacity(shapes.len());
        for (operand, shape) in consistent.iter().enumerate() {
            let batch = shape.dims().map(|dims| dims[..dims.len() - cores.bases[operand].len()].to_vec());
            batches.push(symbols.names.resolve(&batch.map_or(PartialShape::unranked(), Into::into)));
        }
        let joint = AlignedAxes::new(&batches).infer(&|| parts.request(&operation::PARTIAL_BATCHES))?;
        let sizes = symbols.sizes();
        let mut checks = symbols.checks;
        checks.extend(operand_checks(&joint));
        // other checks speak of whole operands, or of axes that `*` does not have yet
        if !open.is_empty() || (ndims.contains(&usize::MAX) && !checks.is_empty()) {
            checks = applies();
        }
        let batch = joint.shape();
        let results = bases.iter().map(|base| batch.with_base(base)).collect();
        Ok(InferredShapes { batch, sizes, bases, results, checks })
    }

    /// Whether the signature applies to operands of these shapes: always, never, or where checks hold.
    ///
    /// # Shapes
    /// As [`infer`](Self::infer), which has the checks too.
    ///
    /// # Errors
    /// None; [`Decision::Never`] has the errors of [`infer`](Self::infer).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::{partial::Decision, Signature};
    ///
    /// let dot = Signature::new("(n),(n)->()")?;
    /// assert_eq!(dot.decide(&["2xk".parse()?, "k".parse()?]), Decision::Always);
    /// assert!(matches!(dot.decide(&["2x3".parse()?, "4".parse()?]), Decision::Never(_)));
    /// let Decision::Depends(checks) = dot.decide(&["k".parse()?, "?".parse()?]) else { unreachable!() };
    /// assert_eq!(checks[0].to_string(), "axis 0 of operand 1 equals axis 0 of operand 0");
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`decide`](crate::partial::decide()), for operations on bases.
    pub fn decide(&self, shapes: &[PartialShape]) -> Decision {
        self.infer(shapes).map_or_else(Decision::Never, |shapes| Decision::from_checks(shapes.checks))
    }
}

/// Operands with their base axes.
struct Parts<'p, 's> {
    signature: &'p Signature<'s>,
    shapes: &'p [PartialShape],
    cores: &'p Cores<'s>,
}

impl Parts<'_, '_> {
    #[cold]
    fn request(&self, operation: &'static operation::Operation) -> Request {
        let mut parts = Vec::with_capacity(self.shapes.len());
        for (operand, shape) in self.shapes.iter().enumerate() {
            let base = self.cores.bases[..self.signature.operands()].get(operand).map_or(0, Vec::len);
            parts.push((shape.clone(), base.min(shape.ndim().unwrap_or(base))));
        }
        Request::new(operation, &parts).text(self.signature)
    }
}

/// The sizes of the signature's names and numbers, as the operands say.
struct Symbols<'p, 't, 's> {
    parts: &'p Parts<'p, 's>,
    shapes: &'t [PartialShape],
    names: Classes,
    met: Vec<Met<'t>>,
    checks: Vec<Check>,
}

/// The sizes of all axes of one symbol.
struct Met<'t> {
    /// The first name of a size among them.
    name: Option<&'t str>,
    /// The sizes, unless there is a name.
    span: Span,
    /// The operand and base axis where the symbol occurs first.
    first: Option<(usize, usize)>,
    /// Whether an operand has it, perhaps one of unknown sizes.
    is_known: bool,
}

impl<'p, 't, 's> Symbols<'p, 't, 's> {
    fn new(parts: &'p Parts<'p, 's>, shapes: &'t [PartialShape]) -> Self {
        let mut met = Vec::with_capacity(parts.cores.symbols.len());
        for symbol in &parts.cores.symbols {
            let span = symbol.size.map_or(Span::ANY, Span::of);
            met.push(Met { name: None, span, first: None, is_known: symbol.is_number });
        }
        for base in &parts.cores.bases[..shapes.len()] {
            for axis in base {
                met[axis.symbol].is_known = true;
            }
        }
        Self { parts, shapes, names: Classes::new(), met, checks: Vec::new() }
    }

    /// Makes the sizes at all axes of each symbol equal: of the numbers or of the names.
    ///
    /// # Errors
    /// `BaseSize` or `BaseSymbol`.
    fn meet(&mut self, numbers: bool) -> Result<(), BroadcastError> {
        for (operand, shape) in self.shapes.iter().enumerate() {
            let Some(dims) = shape.dims() else { continue };
            let base = &self.parts.cores.bases[operand];
            for (axis, (core, dim)) in base.iter().zip(&dims[dims.len() - base.len()..]).enumerate() {
                if self.parts.cores.symbols[core.symbol].is_number != numbers {
                    continue;
                }
                self.check(core.symbol, (operand, axis), dim);
                if self.equal(core.symbol, dim).is_none() {
                    return Err(self.clash(core.symbol, (operand, axis), dim));
                }
                self.met[core.symbol].first.get_or_insert((operand, axis));
            }
        }
        Ok(())
    }

    /// Makes a size equal to that of a symbol. `None` if it cannot be.
    fn equal(&mut self, symbol: usize, dim: &'t Dim) -> Option<()> {
        let met = &mut self.met[symbol];
        let Some(name) = dim.as_name() else {
            let Some(name) = met.name else {
                met.span = met.span.intersect(dim.span())?;
                return Some(());
            };
            let id = self.names.id(name);
            return self.names.narrow(id, dim.span(), Site::UNNAMED);
        };
        let id = self.names.id(name);
        self.names.narrow(id, dim.span(), Site::UNNAMED)?;
        let Some(other) = met.name else {
            met.name = Some(name);
            return self.names.narrow(id, met.span, Site::UNNAMED);
        };
        let other = self.names.id(other);
        self.names.unite(other, id)
    }

    /// Adds the check that a size equals that of a symbol, unless it follows from the shapes and the other checks.
    fn check(&mut self, symbol: usize, at: (usize, usize), dim: &Dim) {
        let (before, now) = (self.size(symbol), self.names.known(dim));
        let Met { first, .. } = self.met[symbol];
        let place = self.place(at);
        let check = match (before, now, first.map(|first| self.place(first))) {
            (Dim::Known(size), Dim::Known(other), _) if size == other => return,
            (Dim::Name(name), Dim::Name(other), _) if name.as_str() == other.as_str() => return,
            (dim @ Dim::Known(_), ..) => Check::Is { place, dim, or_one: false },
            (_, dim @ Dim::Known(_), Some(first)) => Check::Is { place: first, dim, or_one: false },
            (.., Some(other)) => Check::Equals { place, other, or_one: false },
            (.., None) => return,
        };
        self.checks.push(check);
    }

    /// All that is known of the size of a symbol.
    fn size(&self, symbol: usize) -> Dim {
        let Met { name, span, .. } = self.met[symbol];
        name.map_or(span.into(), |name| self.names.get(name).unwrap_or_else(|| Dim::named(name, Span::ANY)))
    }

    fn place(&self, (operand, axis): (usize, usize)) -> Place {
        Place::Operand { operand, axis: self.batch_ndim(operand) + axis }
    }

    fn batch_ndim(&self, operand: usize) -> usize {
        self.shapes[operand].ndim().map_or(0, |ndim| ndim - self.parts.cores.bases[operand].len())
    }

    /// The error of a size that cannot be that of its symbol.
    #[cold]
    fn clash(&self, symbol: usize, at: (usize, usize), dim: &Dim) -> BroadcastError {
        let request = self.parts.request(&operation::SIGNATURE);
        let mark = |(operand, axis)| Mark::Shape(operand, self.batch_ndim(operand) + axis);
        let text = self.parts.cores.symbols[symbol].text;
        if self.parts.cores.symbols[symbol].is_number {
            return base_size(request, Some(at.0), at.1, [dim, &text], mark(at));
        }
        // the first axis that excludes this one by itself, else the first one of all
        let excludes = |other: &Dim| self.names.span(other).intersect(self.names.span(dim)).is_none();
        let others = || self.axes(symbol).take_while(|&(place, _)| place != at);
        let other = others().find(|(_, other)| excludes(other)).or_else(|| others().next());
        let (place, other) = other.unwrap_or((at, dim));
        two_sizes(request, text, [place, at], [other, dim], [mark(place), mark(at)])
    }

    /// The operands' base axes with a symbol, and their sizes.
    fn axes(&self, symbol: usize) -> impl Iterator<Item = ((usize, usize), &Dim)> {
        self.shapes.iter().enumerate().flat_map(move |(operand, shape)| {
            let base = &self.parts.cores.bases[operand];
            let dims = shape.dims().map_or(&[][..], |dims| &dims[dims.len() - base.len()..]);
            let axes = base.iter().zip(dims).enumerate();
            axes.filter_map(move |(axis, (core, dim))| {
                (core.symbol == symbol).then_some(((operand, axis), dim))
            })
        })
    }

    /// The bases of the results.
    ///
    /// # Errors
    /// `UnknownSymbol`.
    fn results(&self) -> Result<Vec<PartialShape>, BroadcastError> {
        let mut results = Vec::new();
        for base in &self.parts.cores.bases[self.shapes.len()..] {
            let mut dims = Vec::with_capacity(base.len());
            for axis in base {
                if !self.met[axis.symbol].is_known {
                    let request = self.parts.request(&operation::SIGNATURE);
                    return Err(unknown_symbol(request, self.parts.cores.symbols[axis.symbol].text));
                }
                dims.push(self.size(axis.symbol));
            }
            results.push(dims.into());
        }
        Ok(results)
    }

    /// The sizes of the names.
    fn sizes(&self) -> Vec<(&'s str, Dim)> {
        let mut sizes = Vec::new();
        for (symbol, found) in self.parts.cores.symbols.iter().enumerate() {
            if !found.is_number && self.met[symbol].is_known {
                sizes.push((found.text, self.size(symbol)));
            }
        }
        sizes
    }
}
