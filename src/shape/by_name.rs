//! Maps of names.

use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};

/// A value for each name.
#[derive(Clone, Default)]
pub(crate) struct ByName<T> {
    /// The names and their positions: one type of tree, because each takes long to compile.
    positions: BTreeMap<Box<str>, usize>,
    /// The values, in the order in which they were added.
    values: Vec<T>,
}

impl<T> ByName<T> {
    pub(crate) const fn new() -> Self {
        Self { positions: BTreeMap::new(), values: Vec::new() }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    #[cfg(feature = "partial")]
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        Some(&self.values[*self.positions.get(name)?])
    }

    /// The value for `name`, which is set to `first` if the name is new.
    pub(crate) fn or_insert(&mut self, name: &str, first: T) -> &mut T {
        let position = self.positions.get(name).copied().unwrap_or(self.len());
        if position == self.len() {
            self.positions.insert(name.into(), position);
            self.values.push(first);
        }
        &mut self.values[position]
    }

    /// Adds a name, and returns whether it was new.
    #[cfg(feature = "partial")]
    pub(crate) fn insert(&mut self, name: &str, value: T) -> bool {
        let before = self.len();
        self.or_insert(name, value);
        self.len() > before
    }
}
