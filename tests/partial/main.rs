//! Shapes that are known in part.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;
mod example;
mod families;
mod golden;
mod messages;
mod oracle;
mod plan;
mod proof;
mod text;

use ndarray_broadcast::partial::PartialShape;

/// The shape that `text` stands for.
fn p(text: &str) -> PartialShape {
    text.parse().unwrap()
}
