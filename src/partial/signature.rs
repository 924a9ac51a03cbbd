//! Signatures on partially known shapes.

use super::statement::{Call, SymbolAxes, list};
use super::{Check, InferredShapes, Names, PartialShape};
use crate::error::{BroadcastError, caller};
use crate::shape::{Cores, Signature, base_axes};
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
            return Err(self.operand_count(call.builder(), shapes.len()));
        }
        let [mut lacks_axes, mut lacks_sizes] = [false; 2];
        for (operand, &found) in ndims.iter().enumerate() {
            let base = &cores.bases[operand];
            if found < base.len() {
                return Err(base_axes(call.builder(), Some(operand), base.len(), found));
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
