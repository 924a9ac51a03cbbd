//! Shapes that are known in part.
#![allow(clippy::unwrap_used, reason = "tests")]

mod golden;
mod oracle;
mod proof;

use ndarray_broadcast::partial::PartialShape;

/// The shape that `text` stands for.
fn p(text: &str) -> PartialShape {
    text.parse().unwrap()
}
