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
    let (mut in_trait, mut hidden, mut in_macro) = (false, false, None);
    for line in text.lines() {
        if line == "}" {
            (in_trait, in_macro) = (false, None);
        }
        in_trait |= line.starts_with("pub trait");
        in_macro = line.strip_prefix("macro_rules! ").map(word).or(in_macro);
        hidden |= line.contains("#[doc(hidden)]");
        let words = line.trim_start();
        let of_trait = words.strip_prefix("fn ").filter(|_| in_trait && line.starts_with("    fn"));
        let free = ["pub fn ", "pub const fn "].iter().find_map(|start| words.strip_prefix(start));
        if let Some(rest) = free.or(of_trait) {
            if !hidden {
                match rest.strip_prefix('$') {
                    Some(rest) => public.extend(of_macro(text, in_macro, word(rest))),
                    None => _ = public.insert(word(rest).into()),
                }
            }
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

/// What stands for `$variable` in the calls of a macro, which are lists of entries such as `add Add;`, a line each.
fn of_macro(text: &str, name: Option<&str>, variable: &str) -> Vec<String> {
    let name = name.unwrap_or_else(|| panic!("`fn ${variable}` is in no macro"));
    let rules = text.split(&format!("macro_rules! {name} ")).nth(1).unwrap();
    let before = rules.split(":ident").next().unwrap();
    assert!(before.ends_with(&format!("${variable}")), "entries of {name} do not begin with ${variable}");
    let calls: Vec<_> = text.split(&format!("\n{name}! {{\n")).skip(1).collect();
    let all = text.matches(&format!("{name}!")).count();
    assert!(!calls.is_empty() && calls.len() == all, "{} of {all} calls of {name} are read", calls.len());
    let lines = calls.iter().flat_map(|call| call.split("\n}").next().unwrap().lines().map(str::trim));
    let entries = lines.filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"));
    let named = |entry: &str| {
        assert!(entry.find(';') == Some(entry.len() - 1), "not an entry of {name} on a line: {entry}");
        word(entry).into()
    };
    entries.map(named).collect()
}
