//! Choices that may be wrong, so that errors are compared too.

use common::{Bytes, Choices, names};

pub trait Faults: Choices {
    /// A shape that goes to `target`. Sometimes one that may not.
    fn operand(&mut self, target: &[usize]) -> Vec<usize> {
        let mut shape = self.operand_of(target);
        if !shape.is_empty() && self.one_in(8) {
            let axis = self.below(shape.len());
            shape[axis] = self.size();
        }
        shape
    }

    /// Some of `ndim` axes, each once. Sometimes one more, which may be named twice or out of bounds.
    fn axes(&mut self, ndim: usize) -> Vec<usize> {
        let chosen = self.byte();
        let mut axes: Vec<usize> = (0..ndim).filter(|&axis| names(chosen, axis)).collect();
        if self.one_in(3) {
            self.shuffle(&mut axes);
        }
        if self.one_in(8) {
            axes.push(self.below(ndim + 2));
        }
        axes
    }
}

impl Faults for Bytes<'_> {}
