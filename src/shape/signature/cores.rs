//! The base axes of a signature, for operands with certain numbers of axes.

use super::tokens::{Token, token};
use crate::shape::ByName;
use alloc::{vec, vec::Vec};
use core::mem::take;

/// A name or a number in a signature.
pub(crate) struct Symbol<'s> {
    pub(crate) text: &'s str,
    pub(crate) is_number: bool,
    /// The number, or the size of the name where an operand has it first.
    pub(crate) size: Option<usize>,
    /// The operand and base axis where it occurs first.
    pub(crate) first: Option<(usize, usize)>,
}

/// One base axis: the index of its symbol, and whether it may be missing.
pub(crate) struct CoreAxis {
    pub(crate) symbol: usize,
    pub(crate) optional: bool,
}

/// The base axes of all operands, then of all results, and the symbols in the order in which they occur first.
pub(crate) struct Cores<'s> {
    pub(crate) bases: Vec<Vec<CoreAxis>>,
    pub(crate) symbols: Vec<Symbol<'s>>,
}

impl<'s> Cores<'s> {
    /// The axes in the text of a valid signature.
    pub(crate) fn of(text: &'s str) -> Self {
        let (mut bases, mut base, mut at) = (Vec::new(), Vec::new(), 0);
        let (mut symbols, mut indices) = (Vec::new(), ByName::default());
        while let Ok((token, from, after)) = token(text.as_bytes(), at) {
            at = after;
            match token {
                Token::Dim(end) => {
                    let text = &text[from..end];
                    let symbol = indices.position(text);
                    if symbol == symbols.len() {
                        let size = text.parse().ok();
                        symbols.push(Symbol { text, is_number: size.is_some(), size, first: None });
                    }
                    base.push(CoreAxis { symbol, optional: end < after });
                }
                Token::Close => bases.push(take(&mut base)),
                Token::End => break,
                Token::Open | Token::Comma | Token::Arrow => {}
            }
        }
        Self { bases, symbols }
    }

    /// The names with their sizes, in the order of the signature.
    pub(crate) fn into_sizes(self) -> Vec<(&'s str, usize)> {
        let names = self.symbols.into_iter().filter(|symbol| !symbol.is_number);
        names.filter_map(|symbol| Some((symbol.text, symbol.size?))).collect()
    }

    /// Leaves out optional names, the first ones first, until operands with these numbers of axes have enough. A name that
    /// is missing somewhere is missing everywhere.
    pub(crate) fn leave_out_missing(&mut self, ndims: &[usize]) {
        let (mut missing, mut times) = (vec![false; self.symbols.len()], vec![0; self.symbols.len()]);
        for (base, &ndim) in self.bases.iter_mut().zip(ndims) {
            base.retain(|axis| !missing[axis.symbol]);
            for axis in &*base {
                times[axis.symbol] += 1;
            }
            let mut left = base.len();
            for axis in &*base {
                if axis.optional && left > ndim {
                    missing[axis.symbol] = true;
                    left -= take(&mut times[axis.symbol]);
                }
            }
            for axis in &*base {
                times[axis.symbol] = 0;
            }
        }
        for base in &mut self.bases {
            base.retain(|axis| !missing[axis.symbol]);
        }
    }
}
