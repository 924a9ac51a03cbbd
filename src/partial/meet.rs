//! The sizes that shapes can have together: one condition for each axis, solved for all axes at once.
//!
//! Every operation states the same condition. An axis has one size. A *fixed* size of a shape there equals it; a size that
//! *stretches* is 1 or equals it. A size that cannot be 1 counts as fixed. These are the forced sizes. If they meet all conditions,
//! so do all sizes together, because the others can be 1.
//!
//! If a name is not 1, it forces the sizes at all its axes, and no other name. So its sizes are 1 and one span.

use super::dim::{Dim, Span};
use super::place::{PackedPlace, compact};
use super::vars::{Entry, Side, Var, Vars};
use crate::error::{BroadcastError, ErrorBuilder};
use alloc::{format, string::String, vec, vec::Vec};
use core::iter::successors;
use core::ops::Range;

/// The axis at which a size has its condition, and whether it is fixed there; `None` if it has none.
pub(super) type At = Option<(usize, bool)>;

/// The sizes that have a condition: in one list, in which those of an axis are linked, because most axes have one or two.
pub(super) struct Conditions<'s> {
    entries: Vec<Entry<'s>>,
    /// The positions of the first and the last size at each axis.
    ends: Vec<[u32; 2]>,
    /// The size of each axis, as far as it is known without names.
    pub(super) sizes: Vec<Span>,
}

const NO_ENTRY: u32 = u32::MAX;

impl<'s> Conditions<'s> {
    /// Conditions at `count` axes, with room for `entries` sizes.
    pub(super) fn new(count: usize, entries: usize) -> Self {
        Self {
            entries: Vec::with_capacity(entries),
            ends: vec![[NO_ENTRY; 2]; count],
            sizes: vec![Span::ANY; count],
        }
    }

    /// Adds the sizes of a shape. A size without a condition follows at an axis of its own.
    pub(super) fn add(&mut self, owner: u32, dims: &'s [Dim], at: &dyn Fn(usize) -> At) {
        for (own, dim) in dims.iter().enumerate() {
            let (axis, is_fixed) = at(own).unwrap_or((self.count(), true));
            if axis == self.count() {
                self.ends.push([NO_ENTRY; 2]);
                self.sizes.push(Span::ANY);
            }
            self.push(axis, dim, PackedPlace::at(owner, own), is_fixed);
        }
    }

    /// Adds one size at an axis.
    pub(super) fn push(&mut self, axis: usize, dim: &'s Dim, place: PackedPlace, is_fixed: bool) {
        let (position, [first, last]) = (compact(self.entries.len()), &mut self.ends[axis]);
        match self.entries.get_mut(*last as usize) {
            Some(last) => last.next = position,
            None => *first = position,
        }
        *last = position;
        self.entries.push(Entry::new(dim, place, is_fixed));
    }

    fn count(&self) -> usize {
        self.ends.len()
    }

    /// The sizes at an axis.
    pub(super) fn at(&self, axis: usize) -> impl Iterator<Item = &Entry<'s>> + use<'_, 's> {
        let entry = |position: u32| self.entries.get(position as usize);
        successors(entry(self.ends[axis][0]), move |last| entry(last.next))
    }
}

/// Sizes that exclude each other.
pub(super) enum Clash {
    /// Two sizes of one axis.
    Sizes { axis: usize, places: [PackedPlace; 2], dims: [Dim; 2], note: String },
    /// Two sizes of one name.
    Name(BroadcastError),
}

impl From<BroadcastError> for Clash {
    fn from(error: BroadcastError) -> Self {
        Self::Name(error)
    }
}

impl Clash {
    /// The clash, with another number for its axis.
    pub(super) fn at(mut self, at: usize) -> Self {
        if let Self::Sizes { axis, .. } = &mut self {
            *axis = at;
        }
        self
    }

    /// The error of sizes that do not go together, by the positions of their shapes.
    pub(super) fn incompatible(self, builder: ErrorBuilder) -> BroadcastError {
        match self {
            Self::Name(error) => error,
            Self::Sizes { axis, places: [a, b], dims: [first, second], note } => {
                let shapes = if a.operand == b.operand { [0, 1] } else { [a.shape(), b.shape()] };
                builder.clash(axis, [&first, &second], shapes, &note)
            }
        }
    }
}

/// Sizes with their conditions.
pub(super) struct System<'s, 'n> {
    pub(super) axes: Conditions<'s>,
    pub(super) vars: Vars<'n>,
}

impl<'s, 'n> System<'s, 'n> {
    /// The sizes of the conditions, with the variables of their names.
    ///
    /// # Errors
    /// `DeclaredName` where the ranges of a name have no size in common.
    pub(super) fn new(conditions: Conditions<'s>, vars: Vars<'n>) -> Result<Self, BroadcastError> {
        let mut system = Self { axes: conditions, vars };
        system.bind()?;
        Ok(system)
    }

    /// Finds the variables of all names.
    ///
    /// # Errors
    /// `DeclaredName` where the ranges of a name have no size in common.
    fn bind(&mut self) -> Result<(), BroadcastError> {
        for [mut position, _] in self.axes.ends.iter().copied() {
            while let Some(entry) = self.axes.entries.get_mut(position as usize) {
                *entry = entry.with_var(self.vars.at(entry.dim, entry.place)?);
                position = entry.next;
            }
        }
        Ok(())
    }

    /// Adds the declared sizes of the result, aligned at the right, and solves again. With `all`, no operand has other sizes
    /// than these, so that each size comes from one of them.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`solve`](Self::solve).
    pub(super) fn declare(&mut self, declared: &'s [Dim], all: bool) -> Result<(), Clash> {
        self.vars.undo();
        let new = declared.len() - self.axes.count();
        self.axes.ends.splice(0..0, vec![[NO_ENTRY; 2]; new]);
        self.axes.sizes = vec![Span::ANY; declared.len()];
        self.axes.add(PackedPlace::RESULT, declared, &|axis| Some((axis, true)));
        self.bind()?;
        self.solve()?;
        if all { self.search(&mut 1000) } else { Ok(()) }
    }

    pub(super) fn span_at(&self, entry: Entry<'_>) -> Span {
        entry.var().map_or_else(|| entry.dim.span(), |var| self.vars.span(var))
    }

    /// Forces sizes until nothing changes.
    ///
    /// # Errors
    /// The error of the first axis where forced sizes exclude each other.
    pub(super) fn solve(&mut self) -> Result<(), Clash> {
        let (count, mut backward) = (self.axes.count(), false);
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
        let (mut class, mut named, mut changed, mut fits) = (None, false, false, true);
        let mut size = self.axes.sizes[axis];
        for &entry in self.axes.at(axis) {
            let span = entry.var().map_or_else(|| entry.dim.span(), |var| self.vars.span(var));
            if !entry.is_fixed() && span.contains(1) {
                named |= entry.var().is_some();
                continue;
            }
            if let Some(var) = entry.var() {
                let united = self.vars.unite(*class.get_or_insert(var), var);
                changed |= united == Some(true);
                fits = united.is_some();
            } else {
                let both = size.intersect(span);
                (size, fits) = (both.unwrap_or(size), both.is_some());
            }
            if !fits {
                break;
            }
        }
        self.axes.sizes[axis] = size;
        if !fits {
            return Err(self.clash(axis));
        }
        if let Some(var) = class {
            let before = self.vars.span(var);
            if !size.covers(before) && !self.narrow_to(var, size, axis) {
                return Err(self.clash(axis));
            }
            changed |= self.vars.span(var) != before;
        }
        if named && (class.is_some() || size != Span::ANY) {
            let allowed = class.map_or(size, |var| self.vars.sizes_not_one(var));
            for &entry in self.axes.at(axis) {
                let Some(var) = entry.var().filter(|_| !entry.is_fixed()) else { continue };
                if self.vars.span(var).contains(1)
                    && class.is_none_or(|class| !self.vars.are_equal(class, var))
                {
                    changed |= self.vars.narrow_not_one(var, allowed);
                }
            }
        }
        Ok(changed)
    }

    /// Restricts a name to the sizes of an axis. Each end comes from the size there that has it.
    fn narrow_to(&mut self, var: Var, size: Span, axis: usize) -> bool {
        let mut places = [None; 2];
        for &entry in self.axes.at(axis).filter(|entry| entry.var().is_none()) {
            for (end, place) in places.iter_mut().enumerate() {
                if place.is_none() && entry.dim.span().end(end) == size.end(end) {
                    *place = Some(entry.place);
                }
            }
        }
        let [lo, hi] = places.map(|place| place.unwrap_or(self.first_place(axis)));
        self.vars.narrow(var, Span { lo: size.lo, hi: usize::MAX }, lo)
            && self.vars.narrow(var, Span { lo: 0, hi: size.hi }, hi)
    }

    fn first_place(&self, axis: usize) -> PackedPlace {
        self.axes.entries[self.axes.ends[axis][0] as usize].place
    }

    /// The clash at an axis where forced sizes exclude each other.
    #[cold]
    fn clash(&self, axis: usize) -> Clash {
        let mut forced = Vec::new();
        for &entry in self.axes.at(axis) {
            let span = self.span_at(entry);
            if entry.is_fixed() || !span.contains(1) {
                forced.push((entry, span));
            }
        }
        // from the sizes as written at the axis, else from all known sizes
        let (written, known) = (first_clash(&forced, true), first_clash(&forced, false));
        let Some([a, b]) = written.or(known) else { return self.clash_with_number(axis, &forced) };
        let places = [a.0.place, b.0.place];
        if written.is_some() {
            let dims = [a.0.dim.clone(), b.0.dim.clone()];
            return Clash::Sizes { axis, places, dims, note: String::new() };
        }
        // of a single shape, a size that excludes those of a name is one of the name, not of the axis
        let is_single = a.0.place.operand == PackedPlace::SHAPE;
        if is_single || self.vars.is_earlier(a, b.1) || self.vars.is_earlier(b, a.1) {
            let sides = if a.0.var().is_some() { [a, b] } else { [b, a] };
            return Clash::Name(self.vars.conflict(sides, sides[1].0.place));
        }
        let note = self.note(axis, a, b.1) + &self.note(axis, b, a.1);
        Clash::Sizes { axis, places, dims: [a.1.into(), b.1.into()], note }
    }

    /// The clash of a size with the size of the axis, a number of a signature.
    #[cold]
    fn clash_with_number(&self, axis: usize, forced: &[Side<'s>]) -> Clash {
        let number = self.axes.sizes[axis];
        let excluded = forced.iter().find(|side| side.1.intersect(number).is_none());
        let side = *excluded.unwrap_or(&forced[0]);
        let (entry, span) = side;
        if self.vars.is_earlier(side, number) {
            return Clash::Name(self.vars.conflict([side, (entry.with_var(None), number)], entry.place));
        }
        let is_elsewhere = entry.dim.span().intersect(number).is_some();
        let own = if is_elsewhere { span.into() } else { entry.dim.clone() };
        Clash::Sizes { axis, places: [entry.place; 2], dims: [number.into(), own], note: String::new() }
    }

    /// Where a name got sizes that exclude others, unless at the axis itself.
    fn note(&self, axis: usize, side: Side<'_>, other: Span) -> String {
        let (name, words, place) = self.vars.origin(side.0, other);
        match place {
            Some(place) if self.axes.at(axis).all(|entry| entry.place != place) => {
                format!(", and {name} is {} at {words}", Dim::from(side.1))
            }
            _ => String::new(),
        }
    }

    /// Checks that each size that cannot be 1 comes from a size that stretches to it, with a limit of `attempts`. After them,
    /// it accepts without proof.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    fn search(&mut self, attempts: &mut usize) -> Result<(), Clash> {
        let mut open = None;
        for axis in 0..self.axes.count() {
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
            let saved = (self.vars.state(), self.axes.sizes.clone());
            result = self.assign(axis, name).and_then(|()| self.search(attempts));
            if result.is_ok() {
                break;
            }
            self.vars.restore(saved.0);
            self.axes.sizes = saved.1;
        }
        result
    }

    /// The names that can have the size of an axis, if that size cannot be 1 and nothing else has it.
    fn candidates(&self, axis: usize) -> Option<Vec<Var>> {
        let (class, size) = self.forced(axis)?;
        if size.contains(1) {
            return None;
        }
        let mut names = Vec::new();
        for &entry in self.axes.at(axis).filter(|entry| !entry.is_fixed()) {
            let span = self.span_at(entry);
            let Some(var) = entry.var() else {
                // nothing else depends on a size without a name
                if span.intersect(size).is_some() {
                    return None;
                }
                continue;
            };
            if !span.contains(1) || class.is_some_and(|class| self.vars.are_equal(class, var)) {
                return None;
            }
            if self.vars.sizes_not_one(var).intersect(size).is_some_and(|both| both != Span::ONE) {
                names.push(var);
            }
        }
        Some(names)
    }

    /// Forces a name to the size of an axis.
    fn assign(&mut self, axis: usize, name: Var) -> Result<(), Clash> {
        let fits = match self.forced(axis) {
            Some((Some(class), _)) => self.vars.unite(class, name).is_some(),
            Some((None, size)) => self.vars.narrow(name, size, self.first_place(axis)),
            None => true,
        };
        if fits { self.solve() } else { Err(self.clash(axis)) }
    }

    /// The size that all fixed and forced sizes at an axis have, if there are any: a name, and the sizes.
    fn forced(&self, axis: usize) -> Option<(Option<Var>, Span)> {
        let (mut found, mut class) = (self.axes.sizes[axis] != Span::ANY, None);
        for &entry in self.axes.at(axis) {
            if entry.is_fixed() || !self.span_at(entry).contains(1) {
                (found, class) = (true, class.or(entry.var()));
            }
        }
        let span = class.map_or(self.axes.sizes[axis], |var| self.vars.hull(var));
        found.then_some((class, span))
    }

    /// The size at an axis, and the sizes that it can have, without gaps.
    pub(super) fn size(&self, axis: usize) -> (Dim, Span) {
        match self.forced(axis) {
            Some((Some(var), span)) => return (self.vars.dim(var, false), span),
            Some((None, span)) => return (span.into(), span),
            None if self.axes.at(axis).next().is_none() => return (Dim::Unknown, Span::ANY),
            None => {}
        }
        let (mut size, mut hull, mut name) = (Dim::Known(1), Span::ONE, None);
        for &entry in self.axes.at(axis) {
            let span = entry.var().map_or(entry.dim.span(), |var| self.vars.hull(var));
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

    /// The size of the target at an axis where it stretches. It is unknown if the target has no size there.
    pub(super) fn of_target(&self, axis: usize) -> Dim {
        let entry = self.axes.at(axis).find(|entry| entry.place.operand == PackedPlace::TARGET);
        let own = entry.map_or(Span::ANY, |entry| entry.dim.span());
        if let Some(var) = entry.and_then(Entry::var) {
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

    /// The sizes at some axes.
    pub(super) fn joint_sizes(&self, axes: Range<usize>) -> Vec<Dim> {
        axes.map(|axis| self.size(axis).0).collect()
    }
}

/// The first size that excludes an earlier one, and the earlier one. Compares sizes as written at the axis, or all known
/// sizes.
fn first_clash<'s>(forced: &[Side<'s>], written: bool) -> Option<[Side<'s>; 2]> {
    let span = |side: &Side<'_>| if written { side.0.dim.span() } else { side.1 };
    let mut all = Span::ANY;
    for second in forced {
        let Some(both) = all.intersect(span(second)) else {
            // spans that have no size in common: two of them have none
            let first = forced.iter().find(|first| span(first).intersect(span(second)).is_none())?;
            return Some([*first, *second]);
        };
        all = both;
    }
    None
}
