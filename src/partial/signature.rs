//! Signatures on partially known shapes.

use super::bindings::{consistent, merged};
use super::classes::{Classes, Site};
use super::decide::examine;
use super::{Check, Decision, Dim, PartialShape, Place};
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
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        for (operand, (&found, base)) in ndims.iter().zip(&cores.bases).enumerate() {
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
        let consistent = consistent(shapes, &apply)?;
        let operands = Operands { shapes: &consistent, cores: &cores, request: &apply };
        let Met { sizes, names, mut checks } = operands.meet()?;
        let bases = operands.results(&sizes, &names)?;
        let batch = |(shape, base): (&PartialShape, &Vec<_>)| {
            names.resolve(&shape.batch(base.len()).unwrap_or(PartialShape::unranked()))
        };
        let batches: Vec<_> = consistent.iter().zip(&cores.bases).map(batch).collect();
        let (batch, open) = examine(&batches, &|| request(&operation::PARTIAL_BATCHES))?;
        checks.extend(open);
        // other checks speak of whole operands, or of axes that `*` does not have yet
        if lacks_sizes || (ndims.contains(&usize::MAX) && !checks.is_empty()) {
            checks = applies();
        }
        let results = bases.iter().map(|base| batch.with_base(base)).collect();
        let found = cores.symbols.iter().zip(&sizes).filter(|(symbol, _)| !symbol.is_number);
        let sizes = found.filter_map(|(symbol, size)| Some((symbol.text, names.known(size.as_ref()?))));
        Ok(InferredShapes { batch, sizes: sizes.collect(), bases, results, checks })
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

/// What the base axes of operands say.
struct Met {
    /// The size of each symbol that an operand has, and of each number.
    sizes: Vec<Option<Dim>>,
    /// The names made equal at all axes of each symbol.
    names: Classes,
    /// The checks that these sizes are equal.
    checks: Vec<Check>,
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

    /// Makes the sizes at all axes of each symbol equal.
    ///
    /// # Errors
    /// `BaseSize`, then `BaseSymbol`.
    fn meet(&self) -> Result<Met, BroadcastError> {
        let mut sizes: Vec<_> = self.cores.symbols.iter().map(|symbol| symbol.size.map(Dim::Known)).collect();
        for axis in self.cores.bases[..self.shapes.len()].iter().flatten() {
            sizes[axis.symbol].get_or_insert(Dim::Unknown);
        }
        let mut first = vec![None; sizes.len()];
        let (mut names, mut checks) = (Classes::default(), Vec::new());
        for numbers in [true, false] {
            for (symbol, at, dim) in self.axes() {
                if self.cores.symbols[symbol].is_number == numbers {
                    let size = sizes[symbol].get_or_insert(Dim::Unknown);
                    let place = Place::Operand { operand: at.0, axis: self.batch_ndim(at.0) + at.1 };
                    checks.extend(equality([names.known(size), names.known(dim)], first[symbol], place));
                    first[symbol].get_or_insert(place);
                    if names.meet(size, dim, Site::UNNAMED).is_err() {
                        return Err(self.clash(&names, symbol, at, dim));
                    }
                    *size = merged(&names, size, dim);
                }
            }
        }
        Ok(Met { sizes, names, checks })
    }

    fn batch_ndim(&self, operand: usize) -> usize {
        self.shapes[operand].ndim().map_or(0, |ndim| ndim - self.cores.bases[operand].len())
    }

    /// The error of a size that cannot be that of its symbol.
    #[cold]
    fn clash(&self, names: &Classes, symbol: usize, at: At, dim: &Dim) -> BroadcastError {
        let mark = |(operand, axis): At| Mark::Shape(operand, self.batch_ndim(operand) + axis);
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
    fn results(&self, sizes: &[Option<Dim>], names: &Classes) -> Result<Vec<PartialShape>, BroadcastError> {
        let size = |axis: &CoreAxis| {
            let unknown = || unknown_symbol((self.request)(), self.cores.symbols[axis.symbol].text);
            sizes[axis.symbol].as_ref().map(|size| names.known(size)).ok_or_else(unknown)
        };
        let base = |base: &Vec<_>| Ok(base.iter().map(size).collect::<Result<Vec<_>, _>>()?.into());
        self.cores.bases[self.shapes.len()..].iter().map(base).collect()
    }
}

/// The check that a size at `place` equals that of its symbol, which occurs at `first` before, unless it follows from what is
/// known of both.
fn equality([before, now]: [Dim; 2], first: Option<Place>, place: Place) -> Option<Check> {
    let (place, dim) = match (before, now) {
        (Dim::Known(size), Dim::Known(other)) if size == other => return None,
        (Dim::Name(name), Dim::Name(other)) if name.as_str() == other.as_str() => return None,
        (dim @ Dim::Known(_), _) => (place, dim),
        (_, dim @ Dim::Known(_)) => (first?, dim),
        _ => return Some(Check::Equals { place, other: first?, or_one: false }),
    };
    Some(Check::Is { place, dim, or_one: false })
}
