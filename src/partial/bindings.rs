//! Names bound by one operation or several, with the places where they got their sizes.

use super::classes::{Classes, Fault, Origin, Site, Spot};
use super::{Dim, Names, PartialShape, Place, Span};
use crate::error::{BroadcastError, Mark, Request, fail};
use alloc::{borrow::Cow, format, string::String, string::ToString, vec::Vec};

/// An operation that binds names: its name, if it has one, and its request.
#[derive(Clone, Copy)]
pub(super) struct Step<'r> {
    pub(super) of: Option<&'r str>,
    pub(super) request: &'r dyn Fn() -> Request,
}

impl Names {
    /// Binds names in an operation called `of`. After an error, they are bound as before.
    pub(super) fn step<T>(
        &mut self,
        of: &str,
        bind: impl FnOnce(&mut Self) -> Result<T, BroadcastError>,
    ) -> Result<T, BroadcastError> {
        let result = bind(self);
        if result.is_err() {
            self.classes.undo();
        } else if self.classes.keep() {
            self.steps.push(of.into());
        }
        result
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
        step: Step<'_>,
    ) -> Result<(), BroadcastError> {
        let Some(dims) = declared.dims() else { return Ok(()) };
        if dims.len() != shape.len() {
            let (request, found, expected) = ((step.request)(), shape.len(), dims.len());
            return Err(fail!(
                request,
                DeclaredAxes,
                "the number of axes{owner} is {found}, expected {expected}"
            ));
        }
        for (axis, (dim, &size)) in dims.iter().zip(shape).enumerate() {
            let site = Site { step: self.steps.len(), spot: spot(axis) };
            if !dim.admits(size) {
                let request = (step.request)().at(axis as i128, &[site.spot.into()], &[&size, dim]);
                let request = request.subject(&self.words(site, step.of));
                return Err(fail!(request, DeclaredSize, " has size {size}, expected {dim}"));
            }
            if let Some(name) = dim.as_name() {
                self.narrow(name, Span::of(size), site, step)?;
            }
        }
        Ok(())
    }

    /// Makes two sizes of the same axis equal.
    ///
    /// # Errors
    /// `Incompatible` where they exclude each other; `DeclaredName` where the names exclude it.
    pub(super) fn meet(
        &mut self,
        axis: usize,
        [a, b]: [&Dim; 2],
        step: Step<'_>,
    ) -> Result<(), BroadcastError> {
        let site = Site { step: self.steps.len(), spot: Spot::Axis(axis) };
        let met = self.classes.meet(a, b, site);
        met.map_err(|fault| match fault {
            Fault::Sizes => (step.request)().clash(axis, [a, b], [0, 1]),
            Fault::Name(id, span) => self.conflict(id, span, site, step),
            Fault::Names(ids) => self.unequal(ids, site, step),
        })
    }

    fn narrow(&mut self, name: &str, to: Span, site: Site, step: Step<'_>) -> Result<(), BroadcastError> {
        let id = self.classes.id(name);
        match self.classes.narrow(id, to, site) {
            Some(()) => Ok(()),
            None => Err(self.conflict(id, to, site, step)),
        }
    }

    /// The error of a name that has other sizes elsewhere than those at `here`.
    #[cold]
    fn conflict(&self, id: usize, now: Span, here: Site, step: Step<'_>) -> BroadcastError {
        let (name, was, now) = (self.classes.name(id), Dim::from(self.classes.span_of(id)), Dim::from(now));
        let (first, at) = self.origin(id, now.span(), step.of);
        let place = self.words(here, step.of);
        let request = at_fault(&[first.site, here], [&was, &now], here, step);
        if first.name == id {
            return fail!(request, DeclaredName, "{name} is {was} at {at} and {now} at {place}");
        }
        let other = self.classes.name(first.name);
        fail!(request, DeclaredName, "{other} is {was} at {at} and equals {name}, which is {now} at {place}")
    }

    /// The error of two names at one place that are not equal elsewhere.
    #[cold]
    fn unequal(&self, ids: [usize; 2], here: Site, step: Step<'_>) -> BroadcastError {
        let [a, b] = ids.map(|id| self.classes.span_of(id));
        let (first, first_at) = self.origin(ids[0], b, step.of);
        let (second, second_at) = self.origin(ids[1], a, step.of);
        let (a, b) = (Dim::from(a), Dim::from(b));
        let place = self.words(here, step.of);
        let request = at_fault(&[first.site, second.site, here], [&a, &b], here, step);
        let [first, second] = [first, second].map(|origin| self.classes.name(origin.name));
        fail!(
            request,
            DeclaredName,
            "{first} is {a} at {first_at} and {second} is {b} at {second_at}, but {place} makes them equal"
        )
    }

    /// Where a name got sizes other than those in `other`, also in words.
    fn origin(&self, id: usize, other: Span, of: Option<&str>) -> (Origin, String) {
        let here = Origin { name: id, site: Site::UNNAMED };
        let origin = self.classes.origin(id, other).unwrap_or(here);
        (origin, self.words(origin.site, of))
    }

    fn words(&self, site: Site, of: Option<&str>) -> String {
        let spot = match site.spot {
            Spot::Axis(axis) => format!("axis {axis}"),
            Spot::Place(place) => place.to_string(),
        };
        match self.steps.get(site.step).map(AsRef::as_ref).or(of) {
            Some(of) => format!("{spot} of {of}"),
            None => spot,
        }
    }
}

/// The request with the places of its step that are at fault.
fn at_fault(places: &[Site], sizes: [&Dim; 2], here: Site, step: Step<'_>) -> Request {
    let here_too = places.iter().filter(|place| place.step == here.step);
    let marks: Vec<_> = here_too.map(|place| place.spot.into()).collect();
    (step.request)().at(here.spot.axis() as i128, &marks, &[sizes[0], sizes[1]])
}

/// The shapes with the same range at all places of each name.
///
/// # Errors
/// `DeclaredName` where the ranges of a name have no size in common.
pub(super) fn consistent<'s>(
    shapes: &'s [PartialShape],
    request: &dyn Fn() -> Request,
) -> Result<Cow<'s, [PartialShape]>, BroadcastError> {
    if named(shapes).all(|(_, dim, _)| dim.span() == Span::ANY) {
        return Ok(Cow::Borrowed(shapes));
    }
    let (mut names, step) = (Names::new(), Step { of: None, request });
    for (place, dim, name) in named(shapes) {
        names.narrow(name, dim.span(), Site { step: 0, spot: Spot::Place(place) }, step)?;
    }
    Ok(Cow::Owned(shapes.iter().map(|shape| names.classes.resolve(shape)).collect()))
}

/// The named axes of operands, with their sizes and names.
pub(super) fn named(shapes: &[PartialShape]) -> impl Iterator<Item = (Place, &Dim, &str)> {
    shapes.iter().enumerate().flat_map(|(operand, shape)| {
        let dims = shape.dims().unwrap_or_default().iter().enumerate();
        dims.filter_map(move |(axis, dim)| Some((Place::Operand { operand, axis }, dim, dim.as_name()?)))
    })
}

/// One `Dim` for two sizes that have met.
pub(super) fn merged(classes: &Classes, a: &Dim, b: &Dim) -> Dim {
    let span = classes.span(a).intersect(classes.span(b)).unwrap_or(a.span());
    a.as_name().or(b.as_name()).map_or(span.into(), |name| Dim::named(name, span))
}

impl Spot {
    fn axis(self) -> usize {
        match self {
            Self::Axis(axis) | Self::Place(Place::Operand { axis, .. } | Place::Result { axis }) => axis,
        }
    }
}

impl From<Spot> for Mark {
    fn from(spot: Spot) -> Self {
        match spot {
            Spot::Axis(axis) | Spot::Place(Place::Result { axis }) => Self::Result(axis),
            Spot::Place(Place::Operand { operand, axis }) => Self::Shape(operand, axis),
        }
    }
}
