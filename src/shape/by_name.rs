//! Small maps of names. A `BTreeMap` takes ten times as long to compile, for each type of its values.

use alloc::{string::String, vec, vec::Vec};

/// A value for each name.
#[derive(Clone, Default)]
pub(crate) struct ByName<K, T> {
    /// The names with their values, in the order in which they were added.
    entries: Vec<(K, T)>,
    runs: Runs,
}

impl<K: AsRef<str>, T> ByName<K, T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), runs: Runs(Vec::new()) }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The name that was added at a position.
    pub(crate) fn name(&self, position: usize) -> &str {
        self.entries[position].0.as_ref()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        Some(&self.entries[self.runs.find(name, &|at| self.name(at))?].1)
    }

    /// The value for `name`, which is set to `first` if the name is new.
    pub(crate) fn or_insert(&mut self, name: K, first: T) -> &mut T {
        let Self { entries, runs } = self;
        let position = runs.find(name.as_ref(), &|at| entries[at].0.as_ref()).unwrap_or(entries.len());
        if position == entries.len() {
            entries.push((name, first));
            runs.add(position, &|at| entries[at].0.as_ref());
        }
        &mut entries[position].1
    }

    /// Adds a name, and returns whether it was new.
    pub(crate) fn insert(&mut self, name: K, value: T) -> bool {
        let before = self.len();
        self.or_insert(name, value);
        self.len() > before
    }

    /// The names in order, each after `separator`.
    pub(crate) fn joined(&self, separator: &str) -> String {
        let mut text = String::new();
        for position in self.runs.sorted(&|at| self.name(at)) {
            text += separator;
            text += self.name(position);
        }
        text
    }
}

/// Positions of names in sorted runs, each at least twice as long as the next, so that adding `n` names takes `n log n`
/// steps. `names` gives the name at a position; it is called through a pointer, so that this is compiled once.
#[derive(Clone, Default)]
struct Runs(Vec<Vec<usize>>);

type NameAt<'n> = &'n dyn Fn(usize) -> &'n str;

impl Runs {
    fn find(&self, name: &str, names: NameAt<'_>) -> Option<usize> {
        for run in &self.0 {
            if let Ok(at) = run.binary_search_by(|&own| names(own).cmp(name)) {
                return Some(run[at]);
            }
        }
        None
    }

    fn add(&mut self, position: usize, names: NameAt<'_>) {
        let mut last = vec![position];
        while let Some(before) = self.0.pop_if(|before| before.len() < 2 * last.len()) {
            last = merged(&before, &last, names);
        }
        self.0.push(last);
    }

    fn sorted(&self, names: NameAt<'_>) -> Vec<usize> {
        let mut sorted = Vec::new();
        for run in self.0.iter().rev() {
            sorted = merged(run, &sorted, names);
        }
        sorted
    }
}

fn merged(a: &[usize], b: &[usize], names: NameAt<'_>) -> Vec<usize> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut b = b.iter().peekable();
    for &position in a {
        while let Some(&before) = b.next_if(|&&other| names(other) < names(position)) {
            merged.push(before);
        }
        merged.push(position);
    }
    merged.extend(b);
    merged
}
