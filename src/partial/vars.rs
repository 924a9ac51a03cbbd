//! The names in one call: variables for their classes, which start with what is known from earlier calls.

use super::check::{Spot, compact};
use super::dim::{Dim, Span};
use super::text::Quoted;
use super::{Names, PartialShape};
use crate::error::{BroadcastError, Request, fail};
use alloc::{format, string::String, vec::Vec};

/// The position of a variable.
pub(super) type Var = u32;

/// Variables for the names of a call. [`Names`] learn from it when it [succeeds](Self::keep).
pub(super) struct Vars<'n> {
    pub(super) names: &'n mut Names,
    /// The label of the call.
    pub(super) of: Option<&'n str>,
    pub(super) request: &'n dyn Fn() -> Request,
    all: Vec<Class>,
}

/// A class of names that are equal in a call. Except for `parent` and `name`, the fields are those of its root.
#[derive(Clone, Copy)]
struct Class {
    parent: Var,
    /// The root of the names that it stands for in [`Names`].
    name: u32,
    /// The first axis that has one of its names.
    first: Spot,
    span: Span,
    /// The sizes other than 1 are in this span; if it is 1 alone, there are none.
    beside_one: Span,
    /// Where the start and the end of the span come from.
    ends: [Spot; 2],
}

/// One of two sizes of an axis that exclude each other.
#[derive(Clone, Copy)]
pub(super) struct Side<'s> {
    pub(super) dim: &'s Dim,
    pub(super) spot: Spot,
    /// The variable of a name.
    pub(super) var: Option<Var>,
    /// What is known of the size.
    pub(super) span: Span,
}

impl<'n> Vars<'n> {
    pub(super) fn new(names: &'n mut Names, of: Option<&'n str>, request: &'n dyn Fn() -> Request) -> Self {
        Self { names, of, request, all: Vec::new() }
    }

    /// The state of all variables.
    pub(super) fn saved(&self) -> Saved {
        Saved(self.all.clone())
    }

    pub(super) fn restore(&mut self, saved: Saved) {
        self.all = saved.0;
    }

    pub(super) fn root(&mut self, mut var: Var) -> Var {
        loop {
            let parent = self.all[var as usize].parent;
            if parent == var {
                return var;
            }
            let above = self.all[parent as usize].parent;
            self.all[var as usize].parent = above;
            var = above;
        }
    }

    fn class(&mut self, var: Var) -> &mut Class {
        let root = self.root(var);
        &mut self.all[root as usize]
    }

    /// The sizes that a name can have, for all that has been forced so far.
    pub(super) fn span(&mut self, var: Var) -> Span {
        self.class(var).span
    }

    /// The sizes that a name can have, without gaps.
    pub(super) fn hull(&mut self, var: Var) -> Span {
        let Class { span, beside_one, .. } = *self.class(var);
        if span.contains(1) { beside_one.hull(Span::ONE) } else { span }
    }

    /// The sizes other than 1 that a name can have, in a span that may have 1 too.
    pub(super) fn beside_one(&mut self, var: Var) -> Span {
        let Class { span, beside_one, .. } = *self.class(var);
        if span.contains(1) { beside_one } else { span }
    }

    /// How many variables there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The size of a name as a `Dim`.
    pub(super) fn dim(&mut self, var: Var) -> Dim {
        let hull = self.hull(var);
        let Class { span, name, .. } = *self.class(var);
        self.names.dim(name as usize, if hull.single().is_some() { hull } else { span })
    }

    /// [`dim`](Self::dim) with a range of all sizes that the name can have, 1 among them.
    pub(super) fn dim_with_one(&mut self, var: Var) -> Dim {
        let hull = self.hull(var);
        let name = self.class(var).name;
        self.names.dim(name as usize, hull)
    }

    /// The size of a name of the call.
    pub(super) fn dim_of(&mut self, name: &str) -> Option<Dim> {
        let (root, _, var) = self.names.class(name);
        let (root, var) = (compact(root), *var);
        self.all.get(var as usize).filter(|class| class.name == root)?;
        Some(self.dim(var))
    }

    /// The variable of the name that stands at an axis, if one does.
    ///
    /// # Errors
    /// `DeclaredName` if the name has other sizes elsewhere.
    pub(super) fn at(&mut self, dim: &Dim, spot: Spot) -> Result<Option<Var>, BroadcastError> {
        let Some(name) = dim.as_name() else { return Ok(None) };
        let count = compact(self.all.len());
        let (root, span, var) = self.names.class(name);
        let root = compact(root);
        if self.all.get(*var as usize).is_none_or(|class| class.name != root) {
            *var = count;
            let (name, ends) = (root, [Spot::EARLIER; 2]);
            let class = Class { parent: count, name, first: spot, span, beside_one: span, ends };
            self.all.push(class);
        }
        let var = *var;
        if !self.narrow(var, dim.span(), spot) {
            let now = dim.span();
            return Err(self.two_sizes(Side { dim, spot, var: Some(var), span: now }, now, spot));
        }
        Ok(Some(var))
    }

    /// Restricts a name to the sizes at an axis. Returns `false` if it has none of them.
    pub(super) fn narrow(&mut self, var: Var, to: Span, spot: Spot) -> bool {
        let class = self.class(var);
        class.beside_one = class.beside_one.intersect(to).unwrap_or(Span::ONE);
        let Class { mut ends, .. } = *class;
        let narrowed = class.span.narrow(to, &mut ends, [spot; 2]);
        class.ends = ends;
        narrowed
    }

    /// Restricts the sizes of a name other than 1. Returns whether that is news.
    pub(super) fn narrow_beside_one(&mut self, var: Var, to: Span) -> bool {
        let class = self.class(var);
        let before = class.beside_one;
        class.beside_one = before.intersect(to).unwrap_or(Span::ONE);
        class.beside_one != before
    }

    /// Makes two names equal. Returns `None` if they cannot be, else whether they were not.
    pub(super) fn unite(&mut self, a: Var, b: Var) -> Option<bool> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Some(false);
        }
        // the name that came first stays
        let (first, second) = (a.min(b), a.max(b));
        let added = self.all[second as usize];
        let class = &mut self.all[first as usize];
        let Class { mut ends, .. } = *class;
        if !class.span.narrow(added.span, &mut ends, added.ends) {
            return None;
        }
        class.ends = ends;
        class.beside_one = class.beside_one.intersect(added.beside_one).unwrap_or(Span::ONE);
        self.all[second as usize].parent = first;
        Some(true)
    }

    /// Teaches [`Names`] what is forced in this call.
    pub(super) fn keep(mut self) {
        let (mut is_news, count) = (false, compact(self.all.len()));
        for var in 0..count {
            let [name, equal] = [self.all[var as usize].name, self.class(var).name];
            is_news |= self.names.unite(equal as usize, name as usize);
        }
        for var in 0..count {
            if self.all[var as usize].parent != var {
                continue;
            }
            let hull = self.hull(var);
            let Class { name, span, ends, first, .. } = self.all[var as usize];
            let (span, ends) = if hull == Span::ONE { (hull, [first; 2]) } else { (span, ends) };
            is_news |= self.names.narrow(name as usize, span, ends);
        }
        if is_news {
            self.names.keep(self.of);
        }
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
        spot: &dyn Fn(usize) -> Spot,
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
        for (axis, (dim, &size)) in dims.iter().zip(shape).enumerate() {
            let spot = spot(axis);
            if !dim.admits(size) {
                let request = (self.request)().at(axis as i128, &[spot.mark()], &[&size, dim]);
                let request = request.subject(&spot.words(self.of));
                return Err(fail!(request, DeclaredSize, " has size {size}, expected {dim}"));
            }
            if let Some(var) = self.at(dim, spot)? {
                let now = Span::of(size);
                if !self.narrow(var, now, spot) {
                    let span = self.span(var);
                    return Err(self.two_sizes(Side { dim, spot, var: Some(var), span }, now, spot));
                }
            }
        }
        Ok(())
    }

    /// Which end of a name's sizes excludes the sizes in `other`: 0 or 1.
    fn end(&mut self, var: Var, other: Span) -> usize {
        usize::from(other.hi >= self.span(var).lo)
    }

    /// Where the end of a name's sizes comes from that excludes those in `other`, unless from an earlier call.
    pub(super) fn end_spot(&mut self, var: Var, other: Span) -> Option<Spot> {
        let end = self.end(var, other);
        Some(self.class(var).ends[end]).filter(|spot| *spot != Spot::EARLIER)
    }

    /// The name that got the sizes that exclude those in `other`, and the place, in words. For a name that stands at an axis.
    pub(super) fn origin(&mut self, side: Side<'_>, other: Span) -> (String, String) {
        let (Some(var), name) = (side.var, side.dim.as_name().unwrap_or_default()) else {
            return (String::new(), side.spot.words(self.of));
        };
        if let Some(spot) = self.end_spot(var, other) {
            return (format!("{}", Quoted(name)), spot.words(self.of));
        }
        let (end, root, span) = (self.end(var, other), self.root(var), self.span(var));
        for equal in 0..compact(self.all.len()) {
            let id = self.all[equal as usize].name as usize;
            // an equal name may have brought the sizes
            if self.root(equal) == root && self.names.span(id).end(end) == span.end(end) {
                if let Some((name, place)) = self.names.origin(id, end) {
                    return (format!("{}", Quoted(name)), place);
                }
            }
        }
        (format!("{}", Quoted(name)), side.spot.words(self.of))
    }

    /// The error of a name that has other sizes elsewhere than at `spot`.
    #[cold]
    pub(super) fn two_sizes(&mut self, side: Side<'_>, now: Span, spot: Spot) -> BroadcastError {
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
    pub(super) fn unequal(&mut self, sides: [Side<'_>; 2], spot: Spot) -> BroadcastError {
        let [a, b] = sides;
        let (first, first_at) = self.origin(a, b.span);
        let (second, second_at) = self.origin(b, a.span);
        let here = [(a, b.span), (b, a.span)].map(|(side, other)| self.end_spot(side.var?, other));
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
    fn at_fault(&self, places: &[Option<Spot>], spot: Spot, sizes: [&Dim; 2]) -> Request {
        let marks: Vec<_> = places.iter().flatten().map(|place| place.mark()).collect();
        (self.request)().at(i128::from(spot.axis), &marks, &[sizes[0], sizes[1]])
    }
}

/// The state of all variables at some time.
pub(super) struct Saved(Vec<Class>);
