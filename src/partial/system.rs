//! The sizes that shapes can have together: one condition for each axis, solved for all axes at once.
//!
//! Every operation states the same condition. An axis has one size. A *fixed* size of a shape there equals it; a size that
//! *stretches* is 1 or equals it. A size that cannot be 1 counts as fixed. These are the forced sizes. If they meet all conditions,
//! so do all sizes together, because the others can be 1.
//!
//! If a name is not 1, it forces the sizes at all its axes, and no other name. So its sizes are 1 and one span.

use super::Names;
use super::dim::{Dim, Span};
use super::layout::{Entry, Layout, list};
use super::vars::{ForcedSize, Var, Vars};
use crate::error::{BroadcastError, ErrorBuilder};
use crate::shape::checked_len;
use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

/// Two sizes that meet at an axis and exclude each other.
pub(super) struct Clash<'c> {
    pub(super) axis: usize,
    pub(super) entries: [Entry; 2],
    pub(super) dims: [&'c Dim; 2],
    /// Where a size comes from that does not stand at the axis: ", and n is 3 at axis 0 of operand 1".
    pub(super) note: &'c str,
}

/// The error of a clash in a certain operation.
pub(super) type Blame<'b> = &'b dyn Fn(ErrorBuilder, Clash<'_>) -> BroadcastError;

/// The error of sizes that do not go together, by the positions of their shapes.
pub(super) fn incompatible(
    request: ErrorBuilder,
    Clash { axis, entries, dims: [a, b], note }: Clash<'_>,
) -> BroadcastError {
    let [first, second] = [entries[0].shape(), entries[1].shape()];
    if first < second {
        return request.clash(axis, [a, b], [first, second], note);
    }
    request.clash(axis, [b, a], [second, first], note)
}

/// Sizes with their conditions.
pub(super) struct System<'s, 'n> {
    pub(super) layout: Layout<'s>,
    pub(super) vars: Vars<'n>,
    /// The sizes at each axis, known from sizes without a name and from the numbers of a signature.
    pub(super) sizes: Vec<Dim>,
    blame: Blame<'n>,
    /// Whether each name is declared at its axes: then sizes that exclude those of a name are those of the name, not of the axis.
    declares: bool,
}

impl<'s, 'n> System<'s, 'n> {
    /// Adds the names, with their known sizes.
    ///
    /// # Errors
    /// `DeclaredName` where the ranges of a name have no size in common.
    pub(super) fn new(
        mut layout: Layout<'s>,
        names: &'n mut Names,
        of: Option<&'n str>,
        request: &'n dyn Fn() -> ErrorBuilder,
        blame: Blame<'n>,
    ) -> Result<Self, BroadcastError> {
        let mut vars = Vars::new(names, of, request);
        for i in 0..layout.entries.len() {
            let entry = layout.entries[i];
            if let Some(var) = vars.at(layout.dim(entry), layout.spot(entry))? {
                layout.entries[i].var = var;
            }
        }
        let sizes = vec![Dim::Unknown; layout.axes()];
        Ok(Self { layout, vars, sizes, blame, declares: false })
    }

    /// Says that names are declared at their axes.
    pub(super) fn declares(mut self) -> Self {
        self.declares = true;
        self
    }

    pub(super) fn span_at(&self, entry: Entry) -> Span {
        match entry.var() {
            Some(var) => self.vars.span(var),
            None => self.layout.dim(entry).span(),
        }
    }

    /// Forces sizes until nothing changes.
    ///
    /// # Errors
    /// The error of the first axis where forced sizes exclude each other.
    pub(super) fn solve(&mut self) -> Result<(), BroadcastError> {
        let (count, mut backward) = (self.layout.axes(), false);
        loop {
            let mut changed = false;
            for axis in 0..count {
                changed |= self.step(if backward { count - 1 - axis } else { axis })?;
            }
            if !changed {
                return Ok(());
            }
            // a name may force the one before it: in turns, no order of the axes takes many rounds
            backward = !backward;
        }
    }

    /// Forces the sizes at one axis. Returns whether that may force more elsewhere.
    fn step(&mut self, axis: usize) -> Result<bool, BroadcastError> {
        let (range, mut changed) = (self.layout.range(axis), false);
        let (mut class, mut named) = (None, false);
        for i in range.clone() {
            let entry = self.layout.entries[i];
            let span = self.span_at(entry);
            if !entry.is_fixed() && span.contains(1) {
                named |= entry.var().is_some();
                continue;
            }
            let fits = match entry.var() {
                None => {
                    let both = self.sizes[axis].span().intersect(span);
                    both.map(|both| self.sizes[axis] = both.into()).is_some()
                }
                Some(var) => {
                    let united = self.vars.unite(*class.get_or_insert(var), var);
                    changed |= united == Some(true);
                    united.is_some()
                }
            };
            if !fits {
                return Err(self.clash(axis));
            }
        }
        let size = self.sizes[axis].span();
        if let Some(var) = class {
            let before = self.vars.span(var);
            if !size.covers(before) && !self.narrow_to(var, size, axis) {
                return Err(self.clash(axis));
            }
            changed |= self.vars.span(var) != before;
        }
        if named && (class.is_some() || size != Span::ANY) {
            let allowed = class.map_or(size, |var| self.vars.beside_one(var));
            for i in range {
                let entry = self.layout.entries[i];
                let Some(var) = entry.var().filter(|_| !entry.is_fixed()) else { continue };
                if self.vars.span(var).contains(1)
                    && class.is_none_or(|class| !self.vars.are_equal(class, var))
                {
                    changed |= self.vars.narrow_beside_one(var, allowed);
                }
            }
        }
        Ok(changed)
    }

    /// Restricts a name to the sizes of an axis. Each end comes from the size there that has it.
    fn narrow_to(&mut self, var: Var, size: Span, axis: usize) -> bool {
        let entries = self.layout.at(axis);
        let mut spots = [self.layout.spot(entries[0]); 2];
        for &entry in entries.iter().rev().filter(|entry| entry.var().is_none()) {
            for (end, spot) in spots.iter_mut().enumerate() {
                if self.layout.dim(entry).span().end(end) == size.end(end) {
                    *spot = self.layout.spot(entry);
                }
            }
        }
        let [lo, hi] = spots;
        self.vars.narrow(var, Span { lo: size.lo, hi: usize::MAX }, lo)
            && self.vars.narrow(var, Span { lo: 0, hi: size.hi }, hi)
    }

    /// The error at an axis where forced sizes exclude each other.
    #[cold]
    fn clash(&self, axis: usize) -> BroadcastError {
        let mut forced = Vec::new();
        for &entry in self.layout.at(axis) {
            let span = self.span_at(entry);
            if entry.is_fixed() || !span.contains(1) {
                let (dim, spot) = (self.layout.dim(entry), self.layout.spot(entry));
                forced.push((entry, ForcedSize { dim, spot, var: entry.var(), span }));
            }
        }
        let (request, axis_sizes) = (self.vars.request, self.sizes[axis].span());
        // from the sizes as declared at the axis, else from all known sizes
        let (declared, known) = (first_clash(&forced, true), first_clash(&forced, false));
        let Some([(first, a), (second, b)]) = declared.or(known) else {
            // a number of a signature is none of the sizes
            let mut found = forced[0];
            for &other in forced.iter().rev() {
                if other.1.span.intersect(axis_sizes).is_none() {
                    found = other;
                }
            }
            let (entry, side) = found;
            if side.var.is_some_and(|var| self.vars.end_spot(var, axis_sizes).is_none()) {
                return self.vars.two_sizes(side, axis_sizes, side.spot);
            }
            let is_far = side.dim.span().intersect(axis_sizes).is_some();
            let own = if is_far { side.span.into() } else { side.dim.clone() };
            let dims = [&self.sizes[axis], &own];
            return (self.blame)(request(), Clash { axis, entries: [entry; 2], dims, note: "" });
        };
        let entries = [first, second];
        if declared.is_some() {
            return (self.blame)(request(), Clash { axis, entries, dims: [a.dim, b.dim], note: "" });
        }
        let early = |side: ForcedSize<'_>, other| {
            side.var.is_some_and(|var| self.vars.end_spot(var, other).is_none())
        };
        match (a.var, b.var) {
            _ if !self.declares && !early(a, b.span) && !early(b, a.span) => {}
            (Some(_), Some(_)) => return self.vars.unequal([a, b], b.spot),
            (Some(_), None) => return self.vars.two_sizes(a, b.span, b.spot),
            (None, Some(_)) => return self.vars.two_sizes(b, a.span, a.spot),
            (None, None) => {}
        }
        let note = self.note(axis, a, b.span) + &self.note(axis, b, a.span);
        let dims = [&a.span.into(), &b.span.into()];
        (self.blame)(request(), Clash { axis, entries, dims, note: &note })
    }

    /// Where a name got sizes that exclude others, unless at the axis itself.
    fn note(&self, axis: usize, side: ForcedSize<'_>, other: Span) -> String {
        let Some(spot) = side.var.and_then(|var| self.vars.end_spot(var, other)) else {
            return String::new();
        };
        if self.layout.at(axis).iter().any(|entry| self.layout.spot(*entry) == spot) {
            return String::new();
        }
        let (name, place) = self.vars.origin(side, other);
        format!(", and {name} is {} at {place}", Dim::from(side.span))
    }

    /// Checks the first `count` axes: if the size of one cannot be 1, a size that stretches there must be able to equal it.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub(super) fn support(&mut self, count: usize) -> Result<(), BroadcastError> {
        self.search(count, &mut 1000)
    }

    /// [`support`](Self::support) with a limit of `attempts`. After them, it accepts without proof.
    fn search(&mut self, count: usize, attempts: &mut usize) -> Result<(), BroadcastError> {
        let mut open = None;
        for axis in 0..count {
            let Some(names) = self.bringing(axis) else { continue };
            match names[..] {
                [] => return Err(self.clash(axis)),
                // the only candidate
                [name] => {
                    self.bring(axis, name)?;
                    return self.search(count, attempts);
                }
                _ => open = open.or(Some((axis, names))),
            }
        }
        let Some((axis, names)) = open else { return Ok(()) };
        let mut result = Ok(());
        for name in names {
            let Some(left) = attempts.checked_sub(1) else { return Ok(()) };
            *attempts = left;
            let saved = (self.vars.state(), self.sizes.clone());
            result = self.bring(axis, name).and_then(|()| self.search(count, attempts));
            if result.is_ok() {
                break;
            }
            self.vars.restore(saved.0);
            self.sizes = saved.1;
        }
        result
    }

    /// The names that can have the size of an axis, if that size cannot be 1 and nothing else has it.
    fn bringing(&self, axis: usize) -> Option<Vec<Var>> {
        let (class, size) = self.forced(axis)?;
        if size.contains(1) {
            return None;
        }
        let mut names = Vec::new();
        for &entry in self.layout.at(axis) {
            if entry.is_fixed() {
                continue;
            }
            let span = self.span_at(entry);
            let can = match entry.var() {
                Some(var) if class.is_some_and(|class| self.vars.are_equal(class, var)) => return None,
                Some(var) => self.vars.beside_one(var).intersect(size).is_some_and(|both| both != Span::ONE),
                None => span.intersect(size).is_some(),
            };
            match entry.var() {
                // nothing else depends on a size without a name
                None if can => return None,
                Some(_) if !span.contains(1) => return None,
                Some(var) if can => names.push(var),
                _ => {}
            }
        }
        Some(names)
    }

    /// Forces a name to the size of an axis.
    fn bring(&mut self, axis: usize, name: Var) -> Result<(), BroadcastError> {
        let fits = match self.forced(axis) {
            Some((Some(class), _)) => self.vars.unite(class, name).is_some(),
            Some((None, size)) => self.vars.narrow(name, size, self.layout.spot(self.layout.at(axis)[0])),
            None => true,
        };
        if fits { self.solve() } else { Err(self.clash(axis)) }
    }

    /// The size that all fixed and forced sizes at an axis have, if there are any: a name, and the sizes.
    fn forced(&self, axis: usize) -> Option<(Option<Var>, Span)> {
        let (mut found, mut class) = (self.sizes[axis] != Dim::Unknown, None);
        for &entry in self.layout.at(axis) {
            if entry.is_fixed() || !self.span_at(entry).contains(1) {
                (found, class) = (true, class.or(entry.var()));
            }
        }
        let span = class.map_or(self.sizes[axis].span(), |var| self.vars.hull(var));
        found.then_some((class, span))
    }

    /// The size at an axis, and the sizes that it can have, without gaps.
    pub(super) fn size(&self, axis: usize) -> (Dim, Span) {
        match self.forced(axis) {
            Some((Some(var), span)) => return (self.vars.dim(var, false), span),
            Some((None, span)) => return (span.into(), span),
            None if self.layout.at(axis).is_empty() => return (Dim::Unknown, Span::ANY),
            None => {}
        }
        let (mut size, mut hull, mut name) = (Dim::Known(1), Span::ONE, None);
        for &entry in self.layout.at(axis) {
            let span = entry.var().map_or(self.layout.dim(entry).span(), |var| self.vars.hull(var));
            let root = entry.var().map(|var| self.vars.root(var));
            if span == Span::ONE || (root.is_some() && root == name) {
                continue;
            }
            // each size can be 1, so only names leave gaps in the hull
            hull = hull.hull(span);
            (size, name) = match root {
                Some(root) if size == Dim::Known(1) => (self.vars.dim(root, false), Some(root)),
                _ => (hull.into(), None),
            };
        }
        (size, hull)
    }

    /// The size of a shape at an axis where it stretches. It is unknown if the shape has no size there.
    pub(super) fn own(&self, axis: usize, shape: usize) -> Dim {
        let entry = self.layout.at(axis).iter().copied().find(|entry| entry.shape() == shape);
        let own = entry.map_or(Span::ANY, |entry| self.layout.dim(entry).span());
        if let Some(var) = entry.and_then(Entry::var) {
            return self.vars.dim(var, true);
        }
        match self.forced(axis) {
            None => own.into(),
            Some((name, span)) if own.contains(1) => {
                let others = name.map_or(span, |var| self.vars.beside_one(var));
                own.intersect(others).unwrap_or(Span::ONE).hull(Span::ONE).into()
            }
            Some(_) => self.size(axis).0,
        }
    }

    /// The sizes at the first axes, in the memory of the system, which has no sizes any more.
    pub(super) fn take_sizes(&mut self, count: usize) -> Vec<Dim> {
        for axis in 0..count {
            self.sizes[axis] = self.size(axis).0;
        }
        self.sizes.truncate(count);
        core::mem::take(&mut self.sizes)
    }

    /// The sizes at some axes.
    pub(super) fn joint_sizes(&self, axes: Range<usize>) -> Vec<Dim> {
        list(axes.len(), &mut |axis| self.size(axes.start + axis).0)
    }
}

/// The first size that excludes an earlier one, and the earlier one. Compares sizes as declared at the axis, or all known
/// sizes.
fn first_clash<'s>(
    forced: &[(Entry, ForcedSize<'s>)],
    declared: bool,
) -> Option<[(Entry, ForcedSize<'s>); 2]> {
    let span = |side: &ForcedSize<'_>| if declared { side.dim.span() } else { side.span };
    let mut all = Span::ANY;
    for second in forced {
        match all.intersect(span(&second.1)) {
            Some(both) => all = both,
            // spans that have no size in common: two of them have none
            None => {
                for first in forced {
                    if span(&first.1).intersect(span(&second.1)).is_none() {
                        return Some([*first, *second]);
                    }
                }
            }
        }
    }
    None
}

/// The sizes of a result, unless the smallest shape that they allow overflows.
///
/// # Errors
/// `Overflow`.
pub(super) fn checked(
    dims: Vec<Dim>,
    request: &dyn Fn() -> ErrorBuilder,
) -> Result<Vec<Dim>, BroadcastError> {
    let least = list(dims.len(), &mut |axis| dims[axis].span().lo);
    if checked_len(&least).is_some() { Ok(dims) } else { Err(request().overflow(&least)) }
}
