//! Positions of names.

use alloc::{boxed::Box, collections::BTreeMap};

/// A position for each name, in the order of addition. One type of tree, because each takes long to compile: values are in a
/// list beside it.
#[derive(Clone, Default)]
pub(crate) struct ByName(BTreeMap<Box<str>, usize>);

impl ByName {
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// The position of `name`, which is added if it is new.
    pub(crate) fn position(&mut self, name: &str) -> usize {
        let end = self.0.len();
        self.get(name).unwrap_or_else(|| {
            self.0.insert(name.into(), end);
            end
        })
    }

    /// Adds a name, and returns whether it was new.
    #[cfg(feature = "partial")]
    pub(crate) fn insert(&mut self, name: &str) -> bool {
        let end = self.0.len();
        self.position(name) == end
    }
}
