//! Passes over operands, and the checks before them. Nothing here is compiled for each closure.

use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::map::{each, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Elements, FillsOf, Inputs, RowsOf};
use crate::reserved::reserved;
use crate::shape::{all_stretch_to, checked_joint_dim, output_error};
use ndarray::{Array, ArrayRef, Dimension};

/// Checks that each operand stretches to the shape of the output.
#[inline(always)]
pub(super) fn check_stretch_to(shapes: &[&[usize]], output: &[usize]) -> Result<()> {
    if all_stretch_to(shapes, output) { Ok(()) } else { Err(output_error(shapes, output)) }
}

/// Memory for a result of the joint shape.
#[inline(always)]
fn joint_result<R, D: Dimension>(shapes: &[&[usize]]) -> Result<Reserved<R, D>> {
    reserved(checked_joint_dim(shapes)?, || ErrorBuilder::new(&caller::TOGETHER, shapes))
}

/// A new array of the joint shape.
#[inline(never)]
pub(super) fn mapped<R, E: Elements, D: Dimension>(
    inputs: &Inputs<'_, E>,
    rows: &dyn FillsOf<R, E>,
) -> Result<Array<R, D>> {
    Ok(to_new(joint_result(inputs.shapes())?, inputs, rows))
}

/// Visits the elements of an array. Returns `false` if the operands do not stretch to its shape.
pub(super) fn visited<T, D: Dimension, E: Elements>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<T, E>,
) -> bool {
    let fits = all_stretch_to(inputs.shapes(), out.shape());
    if fits {
        each(out, inputs, rows);
    }
    fits
}
