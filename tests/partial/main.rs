//! Shapes that are known in part.
#![allow(clippy::unwrap_used, reason = "tests")]

mod families;
mod fillings;
mod names;
mod one_size;
mod plan;
mod proof;
mod run;
mod text;

use ndarray_broadcast::partial::PartialShape;

/// The shape that `text` stands for.
fn p(text: &str) -> PartialShape {
    text.parse().unwrap()
}

fn all(texts: &[&str]) -> Vec<PartialShape> {
    texts.iter().map(|text| p(text)).collect()
}
