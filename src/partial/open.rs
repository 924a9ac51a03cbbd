//! The checks for questions that sizes leave open.

use super::Check;
use super::dim::{Dim, Span};
use super::place::{Place, Var};
use super::solver::System;
use crate::shape::ByName;
use alloc::{collections::BinaryHeap, format, vec::Vec};

impl System<'_> {
    /// The checks that sizes go together, from the sizes before anything is forced.
    pub(super) fn checks(&mut self) -> Vec<Check> {
        let (mut checks, mut listed) = (Vec::new(), ByName::default());
        for axis in 0..self.axes.count {
            self.axis_checks(axis, &mut checks, &mut listed);
        }
        checks
    }

    /// Adds the checks of one axis. `listed` has the earlier checks of names as text: `2 3 true true` if variable 2 is 1 or 3,
    /// `1 2 false false` if variables 1 and 2 are equal, and `[1, 2]` if they agree.
    fn axis_checks(&mut self, axis: usize, checks: &mut Vec<Check>, listed: &mut ByName) {
        let (mut open, mut forced, mut known) = (Vec::new(), None, self.axes.number(axis).single());
        for entry in self.axes.at(axis) {
            let (span, root) = (self.span_of(entry), entry.var.map(|var| self.vars.root(var)));
            let is_one = span == Span::ONE && !entry.is_fixed;
            if is_one || root.is_some_and(|root| !self.vars.is_first_at(root, axis)) {
                continue;
            }
            let (place, or_one) = (Place::from(entry.place), !entry.is_fixed && span.contains(1));
            if !or_one {
                forced = forced.or(Some((place, root)));
                known = known.or(span.single());
            }
            open.push((place, span, root, or_one));
        }
        let Some((other, other_root)) = forced.or(known.map(|_| (Place::Result { axis }, None))) else {
            return checks.extend(agreement(&open, listed));
        };
        for (place, span, root, or_one) in open {
            let (is_certain, check) = if let Some(size) = known {
                let certain = if or_one { span.single_not_one() } else { span.single() };
                let or_one = or_one && size != 1;
                (certain == known, Check::Is { place, dim: Dim::Known(size), or_one })
            } else {
                let is_same = place == other || (root.is_some() && root == other_root);
                (is_same, Check::Equals { place, other, or_one })
            };
            if is_certain || span == Span::ONE {
                continue;
            }
            let pair = root.map(|root| root as usize).zip(known.or(other_root.map(|root| root as usize)));
            let is_new = pair.is_none_or(|(own, other)| {
                let is_ordered = or_one || known.is_some();
                let (a, b) = if is_ordered { (own, other) } else { (own.min(other), own.max(other)) };
                listed.insert(&format!("{a} {b} {or_one} {}", known.is_some()))
            });
            checks.extend(is_new.then_some(check));
        }
    }
}

/// A size that may leave a check: its place, its sizes, the root of its name, and whether it may be 1.
type OpenSize = (Place, Span, Option<Var>, bool);

/// The check of sizes that can all be 1, unless it is certain or listed.
fn agreement(open: &[OpenSize], listed: &mut ByName) -> Option<Check> {
    let size = open.get(1)?.1.single_not_one();
    let (mut same, mut places, mut roots) = (true, Vec::with_capacity(open.len()), BinaryHeap::new());
    for &(place, span, root, _) in open {
        places.push(place);
        same &= size.is_some() && span.single_not_one() == size;
        roots.extend(root);
    }
    let all_named = roots.len() == open.len();
    let is_new = !same && (!all_named || listed.insert(&format!("{:?}", roots.into_sorted_vec())));
    is_new.then_some(Check::Agree { places })
}
