//! Random cases against the naive model, each made of an [`Input`]: the tests run them on the numbers of seeds, the fuzz targets on
//! bytes.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::items_after_statements,
    clippy::many_single_char_names,
    reason = "the numbers of the models are small, and a to f are operands"
)]

pub(crate) mod batch;
pub(crate) mod check;
pub(crate) mod copies;
pub(crate) mod elements;
pub(crate) mod exact;
pub(crate) mod forms;
mod input;
mod layouts;
pub(crate) mod products;
mod ranks;
pub(crate) mod reductions;
pub(crate) mod several;
pub(crate) mod shapes;
pub(crate) mod sums;
pub(crate) mod views;

pub(crate) use input::Input;

/// A name, and what makes a case and compares it.
pub(crate) type Case = (&'static str, fn(&mut Input<'_>));

/// All of them, but those that only a fuzzer runs.
pub(crate) const CASES: &[Case] = &[
    ("views", views::run),
    ("shapes", shapes::run),
    ("sums", sums::run),
    ("exact", exact::run),
    ("forms", forms::run),
    ("batch", batch::run),
    ("copies", copies::copy),
    ("maps", copies::map),
    ("maps_by_value", copies::map_by_value),
    ("several", several::several),
    ("reductions", reductions::reduction),
    ("fused", reductions::fused_reduction),
    ("products", products::product),
    ("elementwise", products::elementwise),
];
