//! The figures of the guide show what the crate does today.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "it has a `main` of its own")]
#[path = "../../examples/figures/main.rs"]
mod example;

#[test]
fn the_files_are_what_the_example_draws() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/guide");
    let images = ("images.md", example::images(&guide).unwrap());
    for (name, figure) in example::figures().unwrap().into_iter().chain([images]) {
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
