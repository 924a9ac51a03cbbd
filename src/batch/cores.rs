//! The base axes of a signature, for operands with certain numbers of axes.

use super::tokens::{Token, number, token};
use crate::shape::Split;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// One base axis.
#[derive(Clone, Copy)]
pub(super) struct CoreAxis<'s> {
    pub(super) symbol: &'s str,
    /// The size of a number.
    pub(super) size: Option<usize>,
    optional: bool,
    /// The operand that it belongs to, results counted on.
    operand: usize,
}

/// The base axes of all operands and results, in the order of the text.
pub(super) struct Cores<'s>(Vec<CoreAxis<'s>>);

impl<'s> Cores<'s> {
    /// All that a signature's text has, which was checked.
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

    /// The base of an operand, results counted on.
    pub(super) fn base(&self, operand: usize) -> &[CoreAxis<'s>] {
        let before = self.0.partition_point(|axis| axis.operand < operand);
        let axes = &self.0[before..];
        &axes[..axes.partition_point(|axis| axis.operand == operand)]
    }

    /// Leaves out the optional names, the first ones first, that the operands have too few base axes for. A name that
    /// is missing somewhere is missing everywhere.
    pub(super) fn leave_out_missing(&mut self, found: impl Iterator<Item = usize>) {
        let mut missing = BTreeSet::new();
        for (operand, found) in found.enumerate() {
            let base = || self.base(operand).iter().filter(|axis| !missing.contains(axis.symbol));
            let mut left = base().count();
            if left <= found {
                continue;
            }
            let mut times = BTreeMap::new();
            for axis in base() {
                *times.entry(axis.symbol).or_insert(0) += 1;
            }
            let mut dropped = Vec::new();
            for axis in base().filter(|axis| axis.optional) {
                if left <= found {
                    break;
                }
                left -= times.remove(axis.symbol).unwrap_or(0);
                dropped.push(axis.symbol);
            }
            missing.extend(dropped);
        }
        self.0.retain(|axis| !missing.contains(axis.symbol));
    }
}

/// An operand and one of its base axes.
type Place = (usize, usize);

/// The names of a signature: the place of each among the operands where it stands first, and the size there.
pub(super) struct Places<'s> {
    first: BTreeMap<&'s str, (Place, usize)>,
    in_order: Vec<(&'s str, usize)>,
}

impl<'s> Places<'s> {
    /// # Errors
    /// A name that has two sizes, the places and the sizes.
    pub(super) fn of(
        cores: &Cores<'s>,
        parts: &[Split<'_>],
    ) -> Result<Self, (&'s str, [Place; 2], [usize; 2])> {
        let mut places = Self { first: BTreeMap::new(), in_order: Vec::new() };
        for (operand, part) in parts.iter().enumerate() {
            for (i, (axis, &size)) in cores.base(operand).iter().zip(part.base()).enumerate() {
                let here = (operand, i);
                let &mut (first, own) = places.first.entry(axis.symbol).or_insert((here, size));
                if own != size {
                    return Err((axis.symbol, [first, here], [own, size]));
                }
                if first == here && axis.size.is_none() {
                    places.in_order.push((axis.symbol, size));
                }
            }
        }
        Ok(places)
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
