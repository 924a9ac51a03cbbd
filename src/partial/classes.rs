//! Names with the sizes that they can have, and which of them are equal.

use super::{Dim, PartialShape, Place, Span};
use crate::shape::ByName;
use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};
use core::mem::take;

/// Names in classes of equal ones.
///
/// All conditions are ranges of names and equalities of names, so that they can all hold exactly where no class has an
/// empty range.
#[derive(Clone, Default)]
pub(super) struct Classes {
    ids: ByName<usize>,
    names: Vec<Box<str>>,
    nodes: Vec<Node>,
    origins: Vec<Origin>,
    /// The nodes that have changed since the last [`keep`](Self::keep), as they were.
    changed: BTreeMap<usize, Node>,
    /// The number of origins then.
    kept: usize,
}

/// A name. The fields of a class are those of its root.
#[derive(Clone, Copy)]
struct Node {
    /// Another name of the class that is nearer to the root, or the name itself.
    parent: usize,
    /// The number of names in the class. The smaller class is added to the larger one, so that paths are short.
    size: usize,
    span: Span,
    /// The positions of the origins of the span's start and end, unless it has none.
    ends: [usize; 2],
}

/// Where a name got its sizes.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// The position of the name.
    pub(super) name: usize,
    pub(super) site: Site,
}

/// An axis in one of several operations.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// The position of the operation.
    pub(super) step: usize,
    pub(super) spot: Spot,
}

/// An axis in an operation.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    /// An axis of the only shape.
    Axis(usize),
    Place(Place),
}

/// Why two axes cannot have the same size.
pub(super) enum Fault {
    /// The sizes exclude each other.
    Sizes,
    /// The name with this id has none of these sizes.
    Name(usize, Span),
    /// The names with these ids have no size in common.
    Names([usize; 2]),
}

impl Site {
    /// An axis where nobody asks for its origin.
    pub(super) const UNNAMED: Self = Self { step: 0, spot: Spot::Axis(0) };
}

impl Classes {
    /// The position of a name, which is added if it is new.
    pub(super) fn id(&mut self, name: &str) -> usize {
        let id = *self.ids.or_insert(name, self.nodes.len());
        if id < self.nodes.len() {
            return id;
        }
        self.names.push(name.into());
        self.nodes.push(Node { parent: id, size: 1, span: Span::ANY, ends: [usize::MAX; 2] });
        id
    }

    /// The name at a position.
    pub(super) fn name(&self, id: usize) -> &str {
        &self.names[id]
    }

    fn root(&self, mut id: usize) -> usize {
        while self.nodes[id].parent != id {
            id = self.nodes[id].parent;
        }
        id
    }

    /// The class of a name, if anything is known of it: the name that stands for it, and its sizes.
    pub(super) fn class(&self, name: &str) -> Option<(usize, Span)> {
        let root = self.root(*self.ids.get(name)?);
        let Node { size, span, .. } = self.nodes[root];
        (size > 1 || span != Span::ANY).then_some((root, span))
    }

    /// All bound names, each with its size.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, Dim)> {
        (0..self.nodes.len()).filter_map(|id| Some((self.name(id), self.get(self.name(id))?)))
    }

    /// The size of a name, if anything is known of it.
    pub(super) fn get(&self, name: &str) -> Option<Dim> {
        let (root, span) = self.class(name)?;
        Some(Dim::named(self.name(root), span))
    }

    /// A size with all that is known of its name.
    pub(super) fn known(&self, dim: &Dim) -> Dim {
        let class = dim.as_name().and_then(|name| self.class(name));
        // the size may have a range that the class does not have
        let named =
            |(root, span): (_, Span)| Dim::named(self.name(root), span.intersect(dim.span()).unwrap_or(span));
        class.map_or_else(|| dim.clone(), named)
    }

    /// A shape with all that is known of its names.
    pub(super) fn resolve(&self, shape: &PartialShape) -> PartialShape {
        let Some(dims) = shape.dims() else { return PartialShape::unranked() };
        PartialShape::ranked(dims.iter().map(|dim| self.known(dim)))
    }

    /// The sizes of a name.
    pub(super) fn span_of(&self, id: usize) -> Span {
        self.nodes[self.root(id)].span
    }

    /// All possible sizes of `dim`.
    pub(super) fn span(&self, dim: &Dim) -> Span {
        let class = dim.as_name().and_then(|name| self.class(name));
        class.map_or(dim.span(), |(_, span)| span)
    }

    /// Makes the sizes of two axes equal.
    pub(super) fn meet(&mut self, a: &Dim, b: &Dim, site: Site) -> Result<(), Fault> {
        let span = a.span().intersect(b.span()).ok_or(Fault::Sizes)?;
        let ids = [a, b].map(|dim| dim.as_name().map(|name| self.id(name)));
        for id in ids.into_iter().flatten() {
            self.narrow(id, span, site).ok_or(Fault::Name(id, span))?;
        }
        if let [Some(a), Some(b)] = ids {
            self.unite(a, b).ok_or(Fault::Names([a, b]))?;
        }
        Ok(())
    }

    /// Makes two names equal. `None` if they cannot be.
    pub(super) fn unite(&mut self, a: usize, b: usize) -> Option<()> {
        let (a, b) = (self.root(a), self.root(b));
        let (small, large) = if self.nodes[a].size < self.nodes[b].size { (a, b) } else { (b, a) };
        if small == large {
            return Some(());
        }
        let (added, own) = (self.nodes[small], self.nodes[large]);
        let span = own.span.intersect(added.span)?;
        let low = if span.lo == own.span.lo { own.ends[0] } else { added.ends[0] };
        let high = if span.hi == own.span.hi { own.ends[1] } else { added.ends[1] };
        self.set(small, Node { parent: large, ..added });
        self.set(large, Node { size: own.size + added.size, span, ends: [low, high], ..own });
        Some(())
    }

    /// Restricts a name to a range. `None` if it has no size there.
    pub(super) fn narrow(&mut self, id: usize, to: Span, site: Site) -> Option<()> {
        let root = self.root(id);
        let node = self.nodes[root];
        let span = node.span.intersect(to)?;
        if span != node.span {
            let here = self.origins.len();
            self.origins.push(Origin { name: id, site });
            let low = if span.lo == node.span.lo { node.ends[0] } else { here };
            let high = if span.hi == node.span.hi { node.ends[1] } else { here };
            self.set(root, Node { span, ends: [low, high], ..node });
        }
        Some(())
    }

    /// Where a name got the end of its sizes that excludes those in `other`.
    pub(super) fn origin(&self, id: usize, other: Span) -> Option<Origin> {
        let node = &self.nodes[self.root(id)];
        self.origins.get(node.ends[usize::from(other.hi >= node.span.lo)]).copied()
    }

    fn set(&mut self, id: usize, node: Node) {
        self.changed.entry(id).or_insert(self.nodes[id]);
        self.nodes[id] = node;
    }

    /// Keeps the changes, and returns whether there were any.
    pub(super) fn keep(&mut self) -> bool {
        self.kept = self.origins.len();
        !take(&mut self.changed).is_empty()
    }

    /// Takes back the changes.
    pub(super) fn undo(&mut self) {
        for (id, node) in take(&mut self.changed) {
            self.nodes[id] = node;
        }
        self.origins.truncate(self.kept);
    }
}
