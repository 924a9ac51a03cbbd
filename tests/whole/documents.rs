//! README's first example prints what README says, the documents name files that exist, and the figures of the guide show
//! what the crate does today.
#![allow(clippy::unwrap_used, reason = "tests")]

use ndarray::array;
use ndarray_broadcast::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_first_example_prints_what_is_below_it() {
    let (x, y) = (array![[2], [3], [5]], array![1, 10, 100, 1000]);
    let (xs, ys) = x.broadcast_to_match(&y).unwrap();
    let product = &xs * &ys;
    let sum = product.sum_to(&y).unwrap();
    let error = x.broadcast_to_match(&array![[1, 2], [3, 4]]).unwrap_err();
    let printed = format!("prints\n\n```text\n{product}\n{sum}\n{error:#}\n```\n");
    assert!(include_str!("../../README.md").contains(&printed), "README lacks:\n{printed}");
}

/// A script that is not committed is missing in a fresh clone.
#[test]
fn the_files_that_documents_name_exist() {
    const FOLDERS: [&str; 7] = [".cargo/", ".ci/", "benches/", "examples/", "fuzz/", "src/", "tests/"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = [
        include_str!("../../README.md"),
        include_str!("../../CONTRIBUTING.md"),
        include_str!("../../fuzz/README.md"),
    ];
    let words =
        documents.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "`()[],;".contains(c)));
    let mut found = 0;
    // a word in capitals stands for any name
    for path in words.filter(|word| !word.contains("NAME") && !word.contains("TARGET")) {
        if FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            assert!(root.join(path.trim_end_matches(['.', ':'])).exists(), "{path} does not exist");
            found += 1;
        }
    }
    assert!(found > 20, "{found} paths");
}

/// On a page 1,200 pixels wide, a longer line of code has to be scrolled.
#[test]
fn code_fits_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let chapters = fs::read_dir(root.join("src/guide")).unwrap().map(|file| file.unwrap().path());
    let chapters = chapters.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    for path in chapters.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&path).unwrap();
        // what stands between two fences is code
        let code = text.split("```").skip(1).step_by(2).flat_map(str::lines);
        let long: Vec<_> = code.filter(|line| line.chars().count() > 95).collect();
        assert!(long.is_empty(), "{}: {long:#?}", path.display());
    }
}

/// The documentation of a module: its lines that begin with `//!`.
fn module_documentation(text: &str) -> String {
    text.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n")
}

/// The first page repeats two figures of README's table, which a script writes.
#[test]
fn the_first_page_has_figures_of_the_table() {
    let readme = include_str!("../../README.md");
    let row = readme.lines().find(|line| line.contains("a · row + column, 256×256")).unwrap();
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let sentence = format!(
        "{} with [`broadcast_apply`](broadcast_apply()) and {} with ndarray's `Zip`",
        cells[2], cells[3]
    );
    let page = module_documentation(include_str!("../../src/lib.rs"));
    assert!(page.contains(&sentence), "the first page lacks: {sentence}");
}

/// A public item that neither the first page, nor that of `partial`, nor the guide names is found by nobody.
#[test]
fn every_public_name_stands_in_an_overview() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/guide");
    let chapters = fs::read_dir(guide).unwrap().map(|file| file.unwrap().path());
    let chapters = chapters.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut texts: Vec<String> = chapters.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(texts.len() > 5, "the guide has chapters");
    texts.push(module_documentation(include_str!("../../src/lib.rs")));
    texts.push(module_documentation(include_str!("../../src/partial/mod.rs")));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split(|c| !is_word(c))).collect();
    let public = include_str!("../hostile/public.txt").lines();
    let missing: Vec<_> = public.filter(|name| !words.contains(name.rsplit("::").next().unwrap())).collect();
    assert!(missing.is_empty(), "in no overview (src/lib.rs, src/partial/mod.rs, src/guide): {missing:?}");
}

/// CONTRIBUTING follows a sum through the kernel.
#[test]
fn functions_on_the_path_of_a_sum_exist() {
    let (_, path) = include_str!("../../CONTRIBUTING.md").split_once("A sum of an array passes").unwrap();
    let folders = ["reduce", "kernel/reduce", "kernel/nest"].map(|folder| format!("../src/{folder}"));
    let files =
        folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let source: String =
        files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect();
    for name in path.split("\n\n").next().unwrap().split('`').skip(1).step_by(2) {
        let own = name.rsplit("::").next().unwrap();
        let exists = source.contains(&format!("fn {own}(")) || source.contains(&format!("fn {own}<"));
        assert!(exists, "{name} does not exist");
    }
}

#[allow(dead_code, reason = "it has a `main` of its own")]
#[path = "../../examples/figures/main.rs"]
mod example;

#[test]
fn the_files_are_what_the_example_draws() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/guide");
    for (name, figure) in example::figures().unwrap() {
        let file = fs::read_to_string(guide.join(name)).unwrap();
        assert!(file == figure, "{name} is stale: `cargo run --example figures` writes it anew");
    }
}

/// Together they must leave room in the package.
#[test]
fn figures_are_small() {
    for (name, figure) in example::figures().unwrap() {
        assert!(figure.len() < 9000, "{name} has {} bytes", figure.len());
    }
}
