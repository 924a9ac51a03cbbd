//! The base axes of a signature, for operands with certain numbers of axes.

use super::tokens::{Token, token};
use crate::shape::{BatchShape, ByName};
use alloc::{vec, vec::Vec};
use core::mem::take;

/// A name or a number in a signature.
pub(super) struct Symbol<'s> {
    pub(super) text: &'s str,
    pub(super) is_number: bool,
    /// The number, or the size of the name where an operand has it first.
    pub(super) size: Option<usize>,
    /// The operand and base axis where it occurs first.
    pub(super) first: Option<(usize, usize)>,
}

/// One base axis: the index of its symbol, and whether it may be missing.
pub(super) struct CoreAxis {
    symbol: usize,
    optional: bool,
}

/// The base axes of all operands, then of all results, and the symbols in the order in which they occur first.
pub(super) struct Cores<'s> {
    pub(super) bases: Vec<Vec<CoreAxis>>,
    symbols: Vec<Symbol<'s>>,
}

impl<'s> Cores<'s> {
    /// The axes in the text of a valid signature.
    pub(super) fn of(text: &'s str) -> Self {
        let (mut bases, mut base, mut at) = (Vec::new(), Vec::new(), 0);
        let (mut symbols, mut indices) = (Vec::new(), ByName::new());
        while let Ok((token, from, after)) = token(text.as_bytes(), at) {
            at = after;
            match token {
                Token::Dim(end) => {
                    let text = &text[from..end];
                    let symbol = *indices.or_insert(text, symbols.len());
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

    /// The symbol of a base axis of an operand; results are counted after the operands.
    pub(super) fn symbol(&mut self, operand: usize, axis: usize) -> &mut Symbol<'s> {
        &mut self.symbols[self.bases[operand][axis].symbol]
    }

    /// The names with their sizes, in the order of the signature.
    pub(super) fn into_sizes(self) -> Vec<(&'s str, usize)> {
        let mut sizes = Vec::new();
        for symbol in self.symbols {
            if let (false, Some(size)) = (symbol.is_number, symbol.size) {
                sizes.push((symbol.text, size));
            }
        }
        sizes
    }

    /// Leaves out optional names, the first ones first, until the operands have enough base axes. A name that is
    /// missing somewhere is missing everywhere.
    pub(super) fn leave_out_missing(&mut self, parts: &[BatchShape<'_>]) {
        let (mut missing, mut times) = (vec![false; self.symbols.len()], vec![0; self.symbols.len()]);
        for (base, part) in self.bases.iter_mut().zip(parts) {
            leave_out(base, &missing);
            for axis in &*base {
                times[axis.symbol] += 1;
            }
            let mut left = base.len();
            for axis in &*base {
                if axis.optional && left > part.base().len() {
                    missing[axis.symbol] = true;
                    left -= take(&mut times[axis.symbol]);
                }
            }
            for axis in &*base {
                times[axis.symbol] = 0;
            }
        }
        for base in &mut self.bases {
            leave_out(base, &missing);
        }
    }
}

fn leave_out(base: &mut Vec<CoreAxis>, missing: &[bool]) {
    base.retain(|axis| !missing[axis.symbol]);
}
