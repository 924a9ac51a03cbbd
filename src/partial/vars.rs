//! The names in one call. Those that are equal are classes: a union-find whose changes can be undone.

use super::dim::{Dim, Span};
use super::names::{Class, Note, Origin};
use super::place::{Clash, Entry, OwnAxis, Owner, Place, Side, Var, compact};
use super::text::Quoted;
use super::{Names, PartialShape};
use crate::error::{NewBuilder, Result, fail};
use alloc::{format, string::String, string::ToString};

/// The names in a call. Everything that the call forces is undone unless it is [kept](Self::keep).
pub(super) struct Vars<'n> {
    names: &'n mut Names,
    /// The label of the call.
    pub(super) label: Option<&'n str>,
    /// How many origins there were before.
    pub(super) origins: usize,
    /// How many changes there were when the last state was asked for.
    mark: usize,
}

impl Drop for Vars<'_> {
    fn drop(&mut self) {
        self.restore([0, self.origins]);
    }
}

impl<'n> Vars<'n> {
    pub(super) fn new(names: &'n mut Names, label: Option<&'n str>) -> Self {
        let origins = names.origins.len();
        names.calls += 1;
        Self { names, label, origins, mark: 0 }
    }

    /// The numbers of changes and origins so far.
    pub(super) fn state(&mut self) -> [usize; 2] {
        self.mark = self.names.changes.len();
        [self.mark, self.names.origins.len()]
    }

    /// Undoes everything forced since the names were in this state.
    pub(super) fn restore(&mut self, [changes, origins]: [usize; 2]) {
        let names = &mut *self.names;
        for (id, class) in names.changes.drain(changes..).rev() {
            names.classes[id as usize] = class;
        }
        names.origins.truncate(origins);
    }

    pub(super) fn root(&self, var: Var) -> Var {
        compact(self.names.root(var as usize))
    }

    pub(super) fn class(&self, var: Var) -> &Class {
        &self.names.classes[self.names.root(var as usize)]
    }

    fn note(&self, var: Var) -> &Note {
        &self.names.notes[self.names.root(var as usize)]
    }

    /// The class to change it. It is saved once after each state.
    fn change(&mut self, var: Var) -> &mut Class {
        let root = self.names.root(var as usize);
        let Names { classes, changes, notes, .. } = &mut *self.names;
        let last = notes[root].change;
        if last < self.mark || changes.get(last).is_none_or(|(id, _)| *id as usize != root) {
            notes[root].change = changes.len();
            changes.push((compact(root), classes[root]));
        }
        &mut classes[root]
    }

    /// The sizes that a name can have, without gaps.
    pub(super) fn hull(&self, var: Var) -> Span {
        let Class { span, not_one, .. } = *self.class(var);
        if span.contains(1) { not_one.hull(Span::ONE) } else { span }
    }

    /// The sizes other than 1 that a name can have, in a span that may have 1 too.
    pub(super) fn sizes_not_one(&self, var: Var) -> Span {
        let Class { span, not_one, .. } = *self.class(var);
        if span.contains(1) { not_one } else { span }
    }

    /// Whether an axis is the first with its name, for axes that are asked for in order.
    pub(super) fn is_first_at(&mut self, root: Var, axis: usize) -> bool {
        core::mem::replace(&mut self.names.notes[root as usize].last_axis, axis) != axis
    }

    /// The size of a name as a `Dim`, or, `with_one`, with a range of all sizes that it can have, 1 among them.
    pub(super) fn dim(&self, var: Var, with_one: bool) -> Dim {
        let hull = self.hull(var);
        let span = if with_one || hull.single().is_some() { hull } else { self.class(var).span };
        self.names.dim(self.names.root(var as usize), span)
    }

    /// The size of a name of the call, and the first axis that has it.
    pub(super) fn first(&self, name: &str) -> Option<(Dim, Place)> {
        let var = compact(self.names.ids.get(name)?);
        let note = self.note(var);
        (note.call == self.names.calls).then(|| (self.dim(var, false), note.first.into()))
    }

    /// The name of a size, if it has one, whose sizes at this place are in `span`.
    ///
    /// # Errors
    /// The clash of a name that has other sizes elsewhere.
    pub(super) fn at(&mut self, dim: &Dim, span: Span, place: OwnAxis) -> Result<Option<Var>, Clash> {
        let Some(name) = dim.as_name() else { return Ok(None) };
        let var = compact(self.names.id(name));
        if self.note(var).call != self.names.calls {
            let (root, call) = (self.names.root(var as usize), self.names.calls);
            self.names.notes[root] = Note::new(call, place);
            self.names.classes[root].not_one = self.names.classes[root].span;
        }
        if self.narrow(var, span, place) {
            return Ok(Some(var));
        }
        let own = Entry::new(dim, place, 0, true);
        Err(self.conflict([(Entry { var: Some(var), ..own }, self.class(var).span), (own, span)], place))
    }

    /// Restricts a name to the sizes at an axis. Returns `false` if it has none of them.
    pub(super) fn narrow(&mut self, var: Var, to: Span, place: OwnAxis) -> bool {
        let Class { span: before, mut ends, .. } = *self.class(var);
        self.narrow_not_one(var, to);
        let Some(span) = before.intersect(to) else { return false };
        for (end, own) in ends.iter_mut().enumerate() {
            if span.end(end) != before.end(end) {
                *own = compact(self.names.origins.len());
                let origin = Origin { name: self.root(var), call: compact(self.names.labels.len()), place };
                self.names.origins.push(origin);
            }
        }
        if span != before {
            let class = self.change(var);
            (class.span, class.ends) = (span, ends);
        }
        true
    }

    /// Restricts the sizes of a name other than 1. Returns whether they change.
    pub(super) fn narrow_not_one(&mut self, var: Var, to: Span) -> bool {
        let before = self.class(var).not_one;
        let not_one = before.intersect(to).unwrap_or(Span::ONE);
        if not_one != before {
            self.change(var).not_one = not_one;
        }
        not_one != before
    }

    /// Makes two names equal. Returns `None` if they cannot be, else whether they were not.
    pub(super) fn unite(&mut self, a: Var, b: Var) -> Option<bool> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Some(false);
        }
        // Between classes of equal size, the earlier name stays the root.
        let (first, second) = (a.min(b), a.max(b));
        let is_larger = self.class(second).count > self.class(first).count;
        let (small, large) = if is_larger { (first, second) } else { (second, first) };
        let (added, own) = (*self.class(small), *self.class(large));
        let span = own.span.intersect(added.span)?;
        self.change(small).parent = large;
        let class = self.change(large);
        class.count += added.count;
        for end in 0..2 {
            if span.end(end) != own.span.end(end) {
                class.ends[end] = added.ends[end];
            }
        }
        class.span = span;
        class.not_one = own.not_one.intersect(added.not_one).unwrap_or(Span::ONE);
        Some(true)
    }

    /// Keeps the forced sizes of this call for later calls.
    pub(super) fn keep(mut self) {
        for i in 0..self.names.changes.len() {
            let var = self.names.changes[i].0;
            if self.hull(var) == Span::ONE {
                self.narrow(var, Span::ONE, self.note(var).first);
            }
        }
        self.names.changes.clear();
        if self.names.origins.len() > self.origins {
            self.names.labels.push(self.label.unwrap_or_default().into());
        }
        self.origins = self.names.origins.len();
    }

    /// Checks a shape against the declared one, and binds the names to its sizes.
    ///
    /// # Errors
    /// In this order: `DeclaredAxes`; `DeclaredSize` or `DeclaredName` with the first axis at fault.
    pub(super) fn accept(
        &mut self,
        declared: &PartialShape,
        shape: &[usize],
        owner: Owner,
        builder: NewBuilder<'_>,
    ) -> Result<()> {
        let Some(dims) = declared.dims() else { return Ok(()) };
        if dims.len() != shape.len() {
            let (of, found, ndim) = (owner.words(), shape.len(), dims.len());
            return Err(fail!(builder(), DeclaredAxes, "the number of axes{of} is {found}, expected {ndim}"));
        }
        for (axis, dim) in dims.iter().enumerate() {
            let (size, place) = (shape[axis], OwnAxis::new(owner, axis));
            if !dim.admits(size) {
                let builder = builder().at(axis as i128, &[place.mark()], &[&size, dim]);
                let builder = builder.subject(&place.words(self.label));
                return Err(fail!(builder, DeclaredSize, "size {size}, expected {dim}"));
            }
            self.at(dim, Span::of(size), place).map_err(|clash| clash.error(builder()))?;
        }
        Ok(())
    }

    /// Where an entry's name got sizes that exclude those in `other`: the name and the place in words, and the place if it is
    /// in this call.
    pub(super) fn origin(&self, entry: Entry<'_>, other: Span) -> (String, String, Option<OwnAxis>) {
        let origin = entry.var.and_then(|var| {
            let Class { span, ends, .. } = self.class(var);
            self.names.origins.get(ends[usize::from(other.hi >= span.lo)] as usize)
        });
        let name = Quoted(entry.dim.as_name().unwrap_or_default()).to_string();
        match origin {
            None => (name, entry.place.words(self.label), None),
            Some(&Origin { name, call, place }) if (call as usize) < self.names.labels.len() => {
                let label = &self.names.labels[call as usize];
                (Quoted(self.names.text(name as usize)).to_string(), place.words(Some(label)), None)
            }
            Some(&Origin { place, .. }) => (name, place.words(self.label), Some(place)),
        }
    }

    /// Whether a name got the sizes that exclude those in `other` before this call.
    pub(super) fn is_earlier(&self, side: Side<'_>, other: Span) -> bool {
        side.0.var.is_some() && self.origin(side.0, other).2.is_none()
    }

    /// The clash of a name whose sizes exclude those of another size, which may have a name too, at `place`.
    #[cold]
    pub(super) fn conflict(&self, [a, b]: [Side<'_>; 2], place: OwnAxis) -> Clash {
        let (first, first_at, here) = self.origin(a.0, b.1);
        let (second, second_at, there) = self.origin(b.0, a.1);
        let (was, now, at) = (Dim::from(a.1), Dim::from(b.1), place.words(self.label));
        let name = Quoted(a.0.dim.as_name().unwrap_or_default()).to_string();
        let rest = match b.0.var {
            Some(_) => format!("{second} is {now} at {second_at}, but {at} makes them equal"),
            None if first == name => format!("{now} at {at}"),
            None => format!("equals {name}, which is {now} at {at}"),
        };
        let marks = [here, there, Some(place)].into_iter().flatten().map(OwnAxis::mark).collect();
        let text = format!("{first} is {was} at {first_at} and {rest}");
        Clash::Name { place, marks, dims: [was, now], text }
    }
}
