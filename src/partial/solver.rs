//! The sizes that shapes can have together: one condition for each axis, solved for all axes at once.
//!
//! Every operation states the same condition. An axis has one size. A *fixed* size of a shape there equals it; a size that
//! *stretches* is 1 or equals it. A size that cannot be 1 counts as fixed. These are the forced sizes. If they satisfy all conditions,
//! so do all sizes together, because the others can be 1.
//!
//! If a name is not 1, it forces the sizes at all its axes, and no other name. So its sizes are 1 and one span.

use super::dim::{Dim, Span};
use super::place::{Clash, Entry, OwnAxis, Owner, Side, Var, compact};
use super::vars::Vars;
use alloc::{format, string::String, vec::Vec};

/// The axis at which a size has its condition, and whether it is fixed there; `None` if it has none.
pub(super) type At = Option<(usize, bool)>;

/// The sizes that have a condition.
pub(super) struct Conditions<'s> {
    /// In the order of their axes once they have variables.
    pub(super) entries: Vec<Entry<'s>>,
    /// How many axes there are.
    pub(super) count: usize,
    /// The sizes of the first axes, as far as a signature has them as numbers.
    pub(super) numbers: Vec<Dim>,
    /// The axes whose clashes come first.
    pub(super) first: Vec<usize>,
}

impl<'s> Conditions<'s> {
    /// Conditions at `count` axes, with memory for `entries` sizes.
    pub(super) fn new(count: usize, entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries), count, numbers: Vec::new(), first: Vec::new() }
    }

    /// Adds the sizes of a shape. A size without a condition follows at an axis of its own.
    pub(super) fn add(&mut self, owner: Owner, dims: &'s [Dim], at: &dyn Fn(usize) -> At) {
        for (own, dim) in dims.iter().enumerate() {
            let (axis, is_fixed) = at(own).unwrap_or((self.count, true));
            self.count = self.count.max(axis + 1);
            self.entries.push(Entry::new(dim, OwnAxis::new(owner, own), axis, is_fixed));
        }
    }

    /// The sizes at an axis.
    pub(super) fn at(&self, axis: usize) -> &[Entry<'s>] {
        let from = self.entries.partition_point(|entry| (entry.axis as usize) < axis);
        let at_axis = self.entries[from..].iter().take_while(|entry| entry.axis as usize == axis);
        &self.entries[from..][..at_axis.count()]
    }

    /// The size of an axis, as far as it is known without its entries.
    pub(super) fn number(&self, axis: usize) -> Span {
        self.numbers.get(axis).map_or(Span::ANY, Dim::span)
    }
}

/// Sizes with their conditions.
pub(super) struct System<'n> {
    pub(super) axes: Conditions<'n>,
    pub(super) vars: Vars<'n>,
}

impl<'n> System<'n> {
    /// The sizes of the conditions, with the variables of their names.
    ///
    /// # Errors
    /// The clash of a name whose ranges have no size in common.
    pub(super) fn new(axes: Conditions<'n>, vars: Vars<'n>) -> Result<Self, Clash> {
        let mut system = Self { axes, vars };
        system.bind()?;
        Ok(system)
    }

    /// Finds the variables of all names.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    fn bind(&mut self) -> Result<(), Clash> {
        // in the order in which they were added, without the memory of a stable sort
        for (position, entry) in (0..).zip(&mut self.axes.entries) {
            entry.var = Some(position);
        }
        self.axes.entries.sort_unstable_by_key(|entry| (entry.axis, entry.var));
        for entry in &mut self.axes.entries {
            entry.var = self.vars.at(entry.dim, entry.dim.span(), entry.place)?;
        }
        Ok(())
    }

    /// Adds the declared sizes of the result, aligned at the right, and solves again. With `all`, no operand has other sizes
    /// than these, so that each size comes from one of them.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`solve`](Self::solve).
    pub(super) fn declare(&mut self, declared: &'n [Dim], all: bool) -> Result<(), Clash> {
        self.vars.restore([0, self.vars.origins]);
        for entry in &mut self.axes.entries {
            entry.axis += compact(declared.len() - self.axes.count);
        }
        self.axes.count = declared.len();
        self.axes.add(Owner::Result, declared, &|axis| Some((axis, true)));
        self.bind()?;
        self.solve()?;
        if all { self.search(&mut 1000) } else { Ok(()) }
    }

    /// The remaining sizes of an entry.
    pub(super) fn span_of(&self, entry: &Entry<'_>) -> Span {
        entry.var.map_or_else(|| entry.dim.span(), |var| self.vars.class(var).span)
    }

    /// Whether a size can be 1 where others are not.
    fn stretches(&self, entry: &Entry<'_>) -> bool {
        !entry.is_fixed && self.span_of(entry).contains(1)
    }

    /// Forces sizes until nothing changes.
    ///
    /// # Errors
    /// The clash at the first axis where forced sizes exclude each other.
    pub(super) fn solve(&mut self) -> Result<(), Clash> {
        let (count, mut backward) = (self.axes.count, false);
        for i in 0..self.axes.first.len() {
            self.step(self.axes.first[i])?;
        }
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
    fn step(&mut self, axis: usize) -> Result<bool, Clash> {
        let (mut class, mut size) = (None, self.axes.number(axis));
        let (mut is_open, mut changed) = (false, false);
        for entry in self.axes.at(axis) {
            if self.stretches(entry) {
                is_open |= entry.var.is_some();
                continue;
            }
            let fits = match entry.var {
                Some(var) => self.vars.unite(*class.get_or_insert(var), var).map(|united| changed |= united),
                None => size.intersect(entry.dim.span()).map(|both| size = both),
            };
            if fits.is_none() {
                return Err(self.clash(axis));
            }
        }
        if let Some(var) = class {
            let before = self.vars.class(var).span;
            if !size.covers(before) && !self.narrow_to(var, size, axis) {
                return Err(self.clash(axis));
            }
            changed |= self.vars.class(var).span != before;
        }
        if is_open && (class.is_some() || size != Span::ANY) {
            let allowed = class.map_or(size, |var| self.vars.sizes_not_one(var));
            for entry in self.axes.at(axis) {
                if let Some(var) = entry.var.filter(|_| self.stretches(entry)) {
                    changed |= self.vars.narrow_not_one(var, allowed);
                }
            }
        }
        Ok(changed)
    }

    /// Restricts a name to the sizes of an axis. Each end comes from the size there that has it.
    fn narrow_to(&mut self, var: Var, size: Span, axis: usize) -> bool {
        let entries = self.axes.at(axis);
        let place = |end: usize| {
            let has_end =
                |entry: &&Entry<'_>| entry.var.is_none() && entry.dim.span().end(end) == size.end(end);
            entries.iter().find(has_end).unwrap_or(&entries[0]).place
        };
        let (lo, hi) = (place(0), place(1));
        self.vars.narrow(var, Span { hi: usize::MAX, ..size }, lo)
            && self.vars.narrow(var, Span { lo: 0, ..size }, hi)
    }

    /// The clash at an axis where forced sizes exclude each other.
    #[cold]
    fn clash(&self, axis: usize) -> Clash {
        let entries = self.axes.at(axis);
        let number = self.axes.numbers.get(axis).filter(|dim| **dim != Dim::Unknown);
        let in_entries = number.map(|dim| Entry::new(dim, entries[0].place, axis, true));
        let own = entries.iter().filter(|entry| !self.stretches(entry));
        let forced: Vec<_> =
            in_entries.iter().chain(own).map(|entry| (*entry, self.span_of(entry))).collect();
        // from the sizes as written at the axis, else from all known sizes, else a size that no other can be
        let (written, known) = (first_clash(&forced, true), first_clash(&forced, false));
        let [mut a, b] = written.or(known).unwrap_or([forced[0]; 2]);
        // a number stands where it excludes a size
        if number.is_some_and(|number| core::ptr::eq(number, a.0.dim)) {
            a.0.place = b.0.place;
        }
        let places = [a.0.place, b.0.place];
        if written.is_some() || known.is_none() {
            let dims = [a.0.dim.clone(), b.0.dim.clone()];
            return Clash::Sizes { axis, places, dims, note: String::new() };
        }
        // of a single shape, a size that excludes those of a name is one of the name, not of the axis
        let is_single = a.0.place.owner == Owner::Shape;
        if is_single || self.vars.is_earlier(a, b.1) || self.vars.is_earlier(b, a.1) {
            let sides = if a.0.var.is_some() { [a, b] } else { [b, a] };
            return self.vars.conflict(sides, sides[1].0.place);
        }
        // where a name got sizes that exclude others, unless at the axis itself
        let note = |side: Side<'_>, other| {
            let (name, words, place) = self.vars.origin(side.0, other);
            let is_here = |place| self.axes.at(axis).iter().any(|entry| entry.place == place);
            if place.is_none_or(is_here) {
                return String::new();
            }
            format!(", and {name} is {} at {words}", Dim::from(side.1))
        };
        let note = note(a, b.1) + &note(b, a.1);
        Clash::Sizes { axis, places, dims: [a.1.into(), b.1.into()], note }
    }

    /// Checks that each size that cannot be 1 comes from a size that stretches to it. After a number of `attempts`, it
    /// accepts without proof.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    fn search(&mut self, attempts: &mut usize) -> Result<(), Clash> {
        let mut open = None;
        for axis in 0..self.axes.count {
            let Some(names) = self.candidates(axis) else { continue };
            match names[..] {
                [] => return Err(self.clash(axis)),
                // the only candidate
                [name] => {
                    self.assign(axis, name)?;
                    return self.search(attempts);
                }
                _ => open = open.or(Some((axis, names))),
            }
        }
        let Some((axis, names)) = open else { return Ok(()) };
        let mut result = Ok(());
        for name in names {
            let Some(left) = attempts.checked_sub(1) else { return Ok(()) };
            *attempts = left;
            let saved = self.vars.state();
            result = self.assign(axis, name).and_then(|()| self.search(attempts));
            if result.is_ok() {
                break;
            }
            self.vars.restore(saved);
        }
        result
    }

    /// The names that can have the size of an axis, if that size cannot be 1 and nothing else has it.
    fn candidates(&self, axis: usize) -> Option<Vec<Var>> {
        let (_, size) = self.forced(axis).filter(|(_, size)| !size.contains(1))?;
        let mut names = Vec::new();
        for entry in self.axes.at(axis).iter().filter(|entry| !entry.is_fixed) {
            let span = self.span_of(entry);
            match entry.var {
                // nothing else depends on a size without a name
                None if span.intersect(size).is_some() => return None,
                Some(_) if !span.contains(1) => return None,
                Some(var) if self.vars.sizes_not_one(var).intersect(size).is_some() => names.push(var),
                _ => {}
            }
        }
        Some(names)
    }

    /// Forces a name to the size of an axis.
    fn assign(&mut self, axis: usize, name: Var) -> Result<(), Clash> {
        let fits = match self.forced(axis) {
            Some((Some(class), _)) => self.vars.unite(class, name).is_some(),
            Some((None, size)) => self.vars.narrow(name, size, self.axes.at(axis)[0].place),
            None => true,
        };
        if fits { self.solve() } else { Err(self.clash(axis)) }
    }

    /// The size that all fixed and forced sizes at an axis have, if there are any: a name, and the sizes.
    fn forced(&self, axis: usize) -> Option<(Option<Var>, Span)> {
        let (mut class, mut size) = (None, self.axes.number(axis));
        let mut is_forced = size != Span::ANY;
        for entry in self.axes.at(axis).iter().filter(|entry| !self.stretches(entry)) {
            (is_forced, class) = (true, class.or(entry.var));
            size = size.intersect(entry.dim.span()).unwrap_or(size);
        }
        let span = class.map_or(size, |var| self.vars.hull(var));
        is_forced.then_some((class, span))
    }

    /// The size at an axis, and the sizes that it can have, without gaps.
    pub(super) fn size(&self, axis: usize) -> (Dim, Span) {
        match self.forced(axis) {
            Some((Some(var), span)) => return (self.vars.dim(var, false), span),
            Some((None, span)) => return (span.into(), span),
            None if self.axes.at(axis).is_empty() => return (Dim::Unknown, Span::ANY),
            None => {}
        }
        let (mut size, mut hull, mut name) = (Dim::Known(1), Span::ONE, None);
        for entry in self.axes.at(axis) {
            let span = entry.var.map_or(entry.dim.span(), |var| self.vars.hull(var));
            let root = entry.var.map(|var| self.vars.root(var));
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

    /// The size of the target at an axis where it stretches. It is unknown if the target has no size there.
    pub(super) fn of_target(&self, axis: usize) -> Dim {
        let entry = self.axes.at(axis).iter().find(|entry| entry.place.owner == Owner::Target);
        let own = entry.map_or(Span::ANY, |entry| entry.dim.span());
        if let Some(var) = entry.and_then(|entry| entry.var) {
            return self.vars.dim(var, true);
        }
        match self.forced(axis) {
            None => own.into(),
            Some((name, span)) if own.contains(1) => {
                let others = name.map_or(span, |var| self.vars.sizes_not_one(var));
                own.intersect(others).unwrap_or(Span::ONE).hull(Span::ONE).into()
            }
            Some(_) => self.size(axis).0,
        }
    }
}

/// The first size that excludes an earlier one, and the earlier one. Compares sizes as written at the axis, or all known
/// sizes.
fn first_clash<'s>(forced: &[Side<'s>], written: bool) -> Option<[Side<'s>; 2]> {
    let span = |side: &Side<'_>| if written { side.0.dim.span() } else { side.1 };
    let mut all = Some(Span::ANY);
    let second = forced.iter().find(|side| {
        all = all.and_then(|all| all.intersect(span(side)));
        all.is_none()
    })?;
    // spans that have no size in common: two of them have none
    let first = forced.iter().find(|first| span(first).intersect(span(second)).is_none())?;
    Some([*first, *second])
}
