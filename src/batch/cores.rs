//! The base axes of a signature, for operands with certain numbers of axes.

use super::tokens::{Token, number, token};
use crate::shape::{BatchShape, ByName, insert_sorted};
use alloc::vec::Vec;
use core::mem::take;

/// One base axis.
#[derive(Clone, Copy)]
pub(super) struct CoreAxis<'s> {
    pub(super) symbol: &'s str,
    /// The size, if the axis is given as a number.
    pub(super) size: Option<usize>,
    optional: bool,
    /// The operand that it belongs to; results are counted after the operands.
    operand: usize,
}

/// The base axes of all operands and results, in the order of the text.
pub(super) struct Cores<'s>(Vec<CoreAxis<'s>>);

impl<'s> Cores<'s> {
    /// The axes in the text of a valid signature.
    pub(super) fn of(text: &'s str) -> Self {
        let (mut axes, mut operand, mut at) = (Vec::new(), 0, 0);
        while let Ok((next, _, after)) = token(text.as_bytes(), at) {
            at = after;
            match next {
                Token::End => break,
                Token::Close => operand += 1,
                Token::Dim { from, to, optional } => {
                    let (symbol, size) = (&text[from..to], number(text.as_bytes(), from, to).ok());
                    axes.push(CoreAxis { symbol, size, optional, operand });
                }
                Token::Open | Token::Comma | Token::Arrow => {}
            }
        }
        Self(axes)
    }

    /// The base of an operand; results are counted after the operands.
    pub(super) fn base(&self, operand: usize) -> &[CoreAxis<'s>] {
        let before = self.0.partition_point(|axis| axis.operand < operand);
        let axes = &self.0[before..];
        &axes[..axes.partition_point(|axis| axis.operand == operand)]
    }

    /// Leaves out optional names, the first ones first, until the operands have enough base axes. A name that is
    /// missing somewhere is missing everywhere.
    pub(super) fn leave_out_missing(&mut self, found: impl Iterator<Item = usize>) {
        let mut missing = Vec::new();
        for (operand, found) in found.enumerate() {
            let base =
                || self.base(operand).iter().filter(|axis| missing.binary_search(&axis.symbol).is_err());
            let mut left = base().count();
            if left <= found {
                continue;
            }
            let mut times = ByName::new();
            for axis in base() {
                *times.or_insert(axis.symbol, 0) += 1;
            }
            let mut dropped = Vec::new();
            for axis in base().filter(|axis| axis.optional) {
                if left <= found {
                    break;
                }
                left -= take(times.or_insert(axis.symbol, 0));
                dropped.push(axis.symbol);
            }
            for symbol in dropped {
                insert_sorted(&mut missing, symbol);
            }
        }
        self.0.retain(|axis| missing.binary_search(&axis.symbol).is_err());
    }
}

/// An operand and one of its base axes.
type BaseAxis = (usize, usize);

/// The names of a signature: the operand and base axis where each occurs first, and the size there.
pub(super) struct SymbolSizes<'s> {
    first: ByName<'s, (BaseAxis, usize)>,
    in_order: Vec<(&'s str, usize)>,
}

impl<'s> SymbolSizes<'s> {
    /// # Errors
    /// A name that has two sizes: the name, where it occurs, and the sizes.
    pub(super) fn of(
        cores: &Cores<'s>,
        parts: &[BatchShape<'_>],
    ) -> Result<Self, (&'s str, [BaseAxis; 2], [usize; 2])> {
        let mut found = Self { first: ByName::new(), in_order: Vec::new() };
        for (operand, part) in parts.iter().enumerate() {
            for (i, (axis, &size)) in cores.base(operand).iter().zip(part.base()).enumerate() {
                let here = (operand, i);
                let &mut (first, own) = found.first.or_insert(axis.symbol, (here, size));
                if own != size {
                    return Err((axis.symbol, [first, here], [own, size]));
                }
                if first == here && axis.size.is_none() {
                    found.in_order.push((axis.symbol, size));
                }
            }
        }
        Ok(found)
    }

    /// The size of a name.
    pub(super) fn size(&self, symbol: &str) -> Option<usize> {
        self.first.get(symbol).map(|&(_, size)| size)
    }

    /// The names that are not numbers, with their sizes, in the order of the signature.
    pub(super) fn in_order(self) -> Vec<(&'s str, usize)> {
        self.in_order
    }
}
