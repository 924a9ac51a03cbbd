//! The names in one call, and the classes of those that are equal: a union-find whose changes can be undone.

use super::check::{PackedPlace, compact};
use super::dim::{Dim, Span};
use super::text::Quoted;
use super::{Names, PartialShape};
use crate::error::{BroadcastError, ErrorBuilder, fail};
use alloc::{format, string::String, string::ToString, vec::Vec};

/// The position of a name in [`Names`].
pub(super) type Var = u32;

/// Names that are equal. Except for `parent`, the fields are those of its root.
#[derive(Clone, Copy)]
pub(super) struct Class {
    /// Another name of the class that is nearer to the root, or the name itself.
    pub(super) parent: Var,
    /// The number of names. The smaller class is added to the larger one, so that paths are short.
    pub(super) count: u32,
    pub(super) span: Span,
    /// The positions of the origins of the span's start and end, unless it has none.
    ends: [u32; 2],
    /// The first axis in the current call that has one of the names, or `EARLIER`.
    first: PackedPlace,
    /// In this call, the sizes other than 1 are in this span; if it is 1 alone, there are none.
    beside_one: Span,
}

/// Notes of a call about a class. They are not undone.
#[derive(Clone, Copy)]
pub(super) struct Note {
    /// The last axis of this call that was [met](Vars::meets).
    met: u32,
    /// The position of the last of its changes in this call.
    saved: u32,
}

impl Note {
    pub(super) const NONE: Self = Self { met: u32::MAX, saved: 0 };
}

/// Where a name got its sizes: the name, the call and the axis.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    name: Var,
    call: u32,
    spot: PackedPlace,
}

/// The names in a call. Everything that the call forces is undone unless it is [kept](Self::keep).
pub(super) struct Vars<'n> {
    names: &'n mut Names,
    /// The label of the call.
    pub(super) of: Option<&'n str>,
    pub(super) request: &'n dyn Fn() -> ErrorBuilder,
    start: Savepoint,
    /// How many changes there were when the last state was asked for.
    mark: usize,
}

/// The numbers of changes and origins at some time.
#[derive(Clone, Copy)]
pub(super) struct Savepoint(usize, usize);

/// One of two sizes of an axis that exclude each other.
#[derive(Clone, Copy)]
pub(super) struct ForcedSize<'s> {
    pub(super) dim: &'s Dim,
    pub(super) spot: PackedPlace,
    /// The variable of a name.
    pub(super) var: Option<Var>,
    /// The sizes that it can have.
    pub(super) span: Span,
}

impl Class {
    pub(super) fn of(id: usize) -> Self {
        Self {
            parent: compact(id),
            count: 1,
            span: Span::ANY,
            ends: [u32::MAX; 2],
            first: PackedPlace::EARLIER,
            beside_one: Span::ANY,
        }
    }
}

impl Drop for Vars<'_> {
    fn drop(&mut self) {
        self.restore(self.start);
    }
}

impl<'n> Vars<'n> {
    pub(super) fn new(
        names: &'n mut Names,
        of: Option<&'n str>,
        request: &'n dyn Fn() -> ErrorBuilder,
    ) -> Self {
        let start = Savepoint(0, names.origins.len());
        Self { names, of, request, start, mark: 0 }
    }

    /// A savepoint of everything forced so far.
    pub(super) fn state(&mut self) -> Savepoint {
        self.mark = self.names.changes.len();
        Savepoint(self.names.changes.len(), self.names.origins.len())
    }

    /// Undoes everything forced since the savepoint.
    pub(super) fn restore(&mut self, Savepoint(changes, origins): Savepoint) {
        while self.names.changes.len() > changes {
            if let Some((id, class)) = self.names.changes.pop() {
                self.names.classes[id as usize] = class;
            }
        }
        self.names.origins.truncate(origins);
    }

    pub(super) fn root(&self, var: Var) -> Var {
        compact(self.names.root(var as usize))
    }

    pub(super) fn are_equal(&self, a: Var, b: Var) -> bool {
        a == b || self.root(a) == self.root(b)
    }

    fn class(&self, var: Var) -> &Class {
        &self.names.classes[self.names.root(var as usize)]
    }

    /// The class to change it. It is saved once after each state.
    fn change(&mut self, var: Var) -> &mut Class {
        let root = self.names.root(var as usize);
        let class = &mut self.names.classes[root];
        let saved = &mut self.names.notes[root].saved;
        let (last, changes) = (*saved as usize, &mut self.names.changes);
        if last < self.mark || changes.get(last).is_none_or(|(id, _)| *id as usize != root) {
            *saved = compact(changes.len());
            changes.push((compact(root), *class));
        }
        class
    }

    /// The sizes that a name can have, for all that has been forced so far.
    pub(super) fn span(&self, var: Var) -> Span {
        self.class(var).span
    }

    /// The sizes that a name can have, without gaps.
    pub(super) fn hull(&self, var: Var) -> Span {
        let Class { span, beside_one, .. } = *self.class(var);
        if span.contains(1) { beside_one.hull(Span::ONE) } else { span }
    }

    /// The sizes other than 1 that a name can have, in a span that may have 1 too.
    pub(super) fn beside_one(&self, var: Var) -> Span {
        let Class { span, beside_one, .. } = *self.class(var);
        if span.contains(1) { beside_one } else { span }
    }

    /// Whether a name meets others at an axis for the first time.
    pub(super) fn meets(&mut self, root: Var, axis: usize) -> bool {
        let met = &mut self.names.notes[root as usize].met;
        core::mem::replace(met, compact(axis)) != compact(axis)
    }

    /// The size of a name as a `Dim`, or, `with_one`, with a range of all sizes that it can have, 1 among them.
    pub(super) fn dim(&self, var: Var, with_one: bool) -> Dim {
        let hull = self.hull(var);
        let span = if with_one || hull.single().is_some() { hull } else { self.span(var) };
        self.names.dim(self.names.root(var as usize), span)
    }

    /// The size of a name of the call.
    pub(super) fn dim_of(&self, name: &str) -> Option<Dim> {
        let var = compact(self.names.known(name)?);
        (self.class(var).first != PackedPlace::EARLIER).then(|| self.dim(var, false))
    }

    /// The name at an axis, if it has one.
    ///
    /// # Errors
    /// `DeclaredName` if the name has other sizes elsewhere.
    pub(super) fn at(&mut self, dim: &Dim, spot: PackedPlace) -> Result<Option<Var>, BroadcastError> {
        let Some(name) = dim.as_name() else { return Ok(None) };
        let var = compact(self.names.id(name));
        if self.class(var).first == PackedPlace::EARLIER {
            let class = self.change(var);
            (class.first, class.beside_one) = (spot, class.span);
            let root = self.names.root(var as usize);
            self.names.notes[root].met = u32::MAX;
        }
        if !self.narrow(var, dim.span(), spot) {
            let now = dim.span();
            return Err(self.two_sizes(ForcedSize { dim, spot, var: Some(var), span: now }, now, spot));
        }
        Ok(Some(var))
    }

    /// Restricts a name to the sizes at an axis. Returns `false` if it has none of them.
    pub(super) fn narrow(&mut self, var: Var, to: Span, spot: PackedPlace) -> bool {
        let Class { span: before, mut ends, .. } = *self.class(var);
        self.narrow_beside_one(var, to);
        let Some(span) = before.intersect(to) else { return false };
        for (end, own) in ends.iter_mut().enumerate() {
            if span.end(end) != before.end(end) {
                *own = compact(self.names.origins.len());
                let origin = Origin { name: self.root(var), call: compact(self.names.labels.len()), spot };
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
    pub(super) fn narrow_beside_one(&mut self, var: Var, to: Span) -> bool {
        let before = self.class(var).beside_one;
        let beside_one = before.intersect(to).unwrap_or(Span::ONE);
        if beside_one != before {
            self.change(var).beside_one = beside_one;
        }
        beside_one != before
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
        class.beside_one = own.beside_one.intersect(added.beside_one).unwrap_or(Span::ONE);
        Some(true)
    }

    /// Keeps the forced sizes of this call for later calls.
    pub(super) fn keep(mut self) {
        for i in 0..self.names.changes.len() {
            let var = self.names.changes[i].0;
            if self.hull(var) == Span::ONE {
                self.narrow(var, Span::ONE, self.class(var).first);
            }
        }
        while let Some((id, _)) = self.names.changes.pop() {
            self.names.classes[id as usize].first = PackedPlace::EARLIER;
        }
        if self.names.origins.len() > self.start.1 {
            self.names.labels.push(self.of.unwrap_or_default().into());
        }
        self.start = self.state();
    }

    /// Checks a shape against the declared one, and binds the names to its sizes.
    ///
    /// # Errors
    /// In this order: `DeclaredAxes`; `DeclaredSize` or `DeclaredName` with the first axis at fault.
    pub(super) fn accept(
        &mut self,
        declared: &PartialShape,
        shape: &[usize],
        owner: &str,
        spot: &dyn Fn(usize) -> PackedPlace,
    ) -> Result<(), BroadcastError> {
        let Some(dims) = declared.dims() else { return Ok(()) };
        if dims.len() != shape.len() {
            let (request, found, expected) = ((self.request)(), shape.len(), dims.len());
            return Err(fail!(
                request,
                DeclaredAxes,
                "the number of axes{owner} is {found}, expected {expected}"
            ));
        }
        for (axis, dim) in dims.iter().enumerate() {
            let (size, spot) = (shape[axis], spot(axis));
            if !dim.admits(size) {
                let request = (self.request)().at(axis as i128).marks(&[spot.mark()]).sizes(&[&size, dim]);
                let request = request.subject(&spot.words(self.of));
                return Err(fail!(request, DeclaredSize, "size {size}, expected {dim}"));
            }
            if let Some(var) = self.at(dim, spot)? {
                let now = Span::of(size);
                if !self.narrow(var, now, spot) {
                    let span = self.span(var);
                    return Err(self.two_sizes(ForcedSize { dim, spot, var: Some(var), span }, now, spot));
                }
            }
        }
        Ok(())
    }

    /// The origin of the end of a name's sizes that excludes those in `other`.
    fn end(&self, var: Var, other: Span) -> Option<Origin> {
        let class = self.class(var);
        let end = usize::from(other.hi >= class.span.lo);
        self.names.origins.get(class.ends[end] as usize).copied()
    }

    /// [`end`](Self::end) in this call.
    pub(super) fn end_spot(&self, var: Var, other: Span) -> Option<PackedPlace> {
        let origin = self.end(var, other)?;
        (origin.call as usize == self.names.labels.len()).then_some(origin.spot)
    }

    /// The name that got the sizes that exclude those in `other`, and the place, in words. For a name that stands at an axis.
    pub(super) fn origin(&self, side: ForcedSize<'_>, other: Span) -> (String, String) {
        let (Some(var), Some(name)) = (side.var, side.dim.as_name()) else {
            return (String::new(), side.spot.words(self.of));
        };
        let here = |spot: PackedPlace| (Quoted(name).to_string(), spot.words(self.of));
        match (self.end(var, other), self.end_spot(var, other)) {
            (_, Some(spot)) => here(spot),
            (None, None) => here(side.spot),
            (Some(origin), None) => {
                let label = &self.names.labels[origin.call as usize];
                (Quoted(self.names.text(origin.name as usize)).to_string(), origin.spot.words(Some(label)))
            }
        }
    }

    /// The error of a name that has other sizes elsewhere than at `spot`.
    #[cold]
    pub(super) fn two_sizes(&self, side: ForcedSize<'_>, now: Span, spot: PackedPlace) -> BroadcastError {
        let Some(var) = side.var else { unreachable!() };
        let (was, now_dim) = (Dim::from(self.span(var)), Dim::from(now));
        let (first, at) = self.origin(side, now);
        let place = spot.words(self.of);
        let name = format!("{}", Quoted(side.dim.as_name().unwrap_or_default()));
        let here = self.end_spot(var, now);
        let request = self.at_fault(&[here, Some(spot)], spot, [&was, &now_dim]);
        if first == name {
            return fail!(request, DeclaredName, "{name} is {was} at {at} and {now_dim} at {place}");
        }
        fail!(
            request,
            DeclaredName,
            "{first} is {was} at {at} and equals {name}, which is {now_dim} at {place}"
        )
    }

    /// The error of two names that meet at `spot` and are not equal elsewhere.
    #[cold]
    pub(super) fn unequal(&self, sides: [ForcedSize<'_>; 2], spot: PackedPlace) -> BroadcastError {
        let [a, b] = sides;
        let (first, first_at) = self.origin(a, b.span);
        let (second, second_at) = self.origin(b, a.span);
        let here = |side: ForcedSize<'_>, other| self.end_spot(side.var?, other);
        let here = [here(a, b.span), here(b, a.span)];
        let (a, b) = (Dim::from(a.span), Dim::from(b.span));
        let (request, place) =
            (self.at_fault(&[here[0], here[1], Some(spot)], spot, [&a, &b]), spot.words(self.of));
        fail!(
            request,
            DeclaredName,
            "{first} is {a} at {first_at} and {second} is {b} at {second_at}, but {place} makes them equal"
        )
    }

    /// The request with the places of this call that are at fault.
    fn at_fault(&self, places: &[Option<PackedPlace>], spot: PackedPlace, sizes: [&Dim; 2]) -> ErrorBuilder {
        let mut marks = Vec::new();
        for place in places.iter().flatten() {
            marks.push(place.mark());
        }
        (self.request)().at(spot.axis.into()).marks(&marks).sizes(&[sizes[0], sizes[1]])
    }
}
