//! Small maps and sets, mostly of names, as sorted vectors. A `BTreeMap` takes ten times as long to compile, for each
//! type of its values.

use alloc::vec::Vec;

/// A value for each name.
pub(crate) struct ByName<'a, T>(Vec<(&'a str, T)>);

impl<'a, T> ByName<'a, T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    /// The value for `name`, which is set to `first` if the name is new.
    pub(crate) fn or_insert(&mut self, name: &'a str, first: T) -> &mut T {
        let at = self.find(name).unwrap_or_else(|at| {
            self.0.insert(at, (name, first));
            at
        });
        &mut self.0[at].1
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|&(own, _)| own.cmp(name))
    }
}

/// Inserts `item` into a sorted set and returns whether it was new.
pub(crate) fn insert_sorted<T: Ord>(set: &mut Vec<T>, item: T) -> bool {
    match set.binary_search(&item) {
        Ok(_) => false,
        Err(at) => {
            set.insert(at, item);
            true
        }
    }
}
