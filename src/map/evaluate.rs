//! Passes over operands, and the checks before them. Nothing here is compiled for each closure.

use super::fused_operands::ApplyOperands;
use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::map::{to_new, visit};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Behind, Elements, FillsOf, Further, Inputs, Output, RowsOf};
use crate::reserved::reserved;
use crate::shape::{all_stretch_to, checked_joint_dim, output_error};
use ndarray::{Array, ArrayRef, Dimension};

/// A new array of the joint shape.
#[inline(never)]
pub(super) fn mapped<R, E: Elements, D: Dimension>(
    inputs: &Inputs<'_, E>,
    rows: &dyn FillsOf<R, E>,
) -> Result<Array<R, D>> {
    Ok(to_new(memory(inputs)?, inputs, rows))
}

/// Memory for a new array of the joint shape.
pub(super) fn memory<R, E, D: Dimension>(inputs: &Inputs<'_, E>) -> Result<Reserved<R, D>> {
    let shapes = inputs.shapes();
    reserved(checked_joint_dim(shapes)?, || ErrorBuilder::new(&caller::TOGETHER, shapes))
}

/// Calls a closure with each element of the outputs, which have one shape.
pub(super) fn applied<T, D: Dimension, O: ApplyOperands<T, F, M>, F, M>(
    out: &mut ArrayRef<T, D>,
    further: Further<'_, M>,
    operands: O,
    f: F,
) -> Result<()> {
    if operands.applied(out, further, f) {
        return Ok(());
    }
    Err(output_error(operands.inputs().shapes(), out.shape()))
}

/// Visits the elements of outputs of one shape. Returns `false` if the operands do not stretch to it.
pub(super) fn visited<T, D: Dimension, M, E: Behind<M>>(
    out: &mut ArrayRef<T, D>,
    further: Further<'_, M>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<T, E::All>,
) -> bool {
    let fits = all_stretch_to(inputs.shapes(), out.shape());
    if fits {
        further.visit(Output::of(out), inputs, rows, visit);
    }
    fits
}
