//! Whether the table has all public functions of the crate, which the sources tell.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Asserts that each public function or method in the sources is the last part of a name.
pub(crate) fn assert_all_public_functions(names: impl Iterator<Item = &'static str>) {
    let called: BTreeSet<&str> = names.map(|name| name.rsplit("::").next().unwrap()).collect();
    let mut public = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &mut public);
    assert!(public.len() > 80, "the sources are read: {public:?}");
    let missing: Vec<_> = public.iter().filter(|name| !called.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}

fn collect(folder: &Path, public: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, public);
        } else {
            of_file(&fs::read_to_string(path).unwrap(), public);
        }
    }
}

/// Functions that are `pub`, and those of `pub` traits, if they are not hidden.
fn of_file(text: &str, public: &mut BTreeSet<String>) {
    let (mut in_trait, mut hidden) = (false, false);
    for line in text.lines() {
        if line == "}" {
            in_trait = false;
        }
        in_trait |= line.starts_with("pub trait");
        hidden |= line.contains("#[doc(hidden)]");
        let words = line.trim_start();
        let of_trait = words.strip_prefix("fn ").filter(|_| in_trait && line.starts_with("    fn"));
        let free = ["pub fn ", "pub const fn "].iter().find_map(|start| words.strip_prefix(start));
        // A macro that writes functions is called with lines such as `pub fn add => Add;`.
        if let Some(rest) = free.or(of_trait).filter(|rest| !hidden && !rest.starts_with('$')) {
            public.insert(word(rest).into());
        }
        hidden &= words.is_empty() || words.starts_with('#') || words.starts_with("//");
    }
}

/// The name that a text starts with.
fn word(text: &str) -> &str {
    let name = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
    assert!(!name.is_empty(), "no name at {text:?}");
    name
}
