//! Small maps and sets, mostly of names, as sorted vectors. A `BTreeMap` takes ten times as long to compile, for each
//! type of its values.

use alloc::vec::Vec;

/// A value for each name.
pub(crate) struct ByName<'a, T> {
    /// The names in order, each with the position of its value.
    names: Vec<(&'a str, usize)>,
    values: Vec<T>,
}

impl<'a, T> ByName<'a, T> {
    pub(crate) const fn new() -> Self {
        Self { names: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        Some(&self.values[self.names[find(&self.names, name).ok()?].1])
    }

    /// The value for `name`, which is set to `first` if the name is new.
    pub(crate) fn or_insert(&mut self, name: &'a str, first: T) -> &mut T {
        let place = place(&mut self.names, name, self.values.len());
        if place == self.values.len() {
            self.values.push(first);
        }
        &mut self.values[place]
    }
}

fn find(names: &[(&str, usize)], name: &str) -> Result<usize, usize> {
    names.binary_search_by(|&(own, _)| own.cmp(name))
}

/// The position of the value for `name`, which is `next` if the name is new.
fn place<'a>(names: &mut Vec<(&'a str, usize)>, name: &'a str, next: usize) -> usize {
    match find(names, name) {
        Ok(at) => names[at].1,
        Err(at) => {
            names.insert(at, (name, next));
            next
        }
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
