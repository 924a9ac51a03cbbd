//! Fuzz targets for `ndarray-broadcast`: each makes arrays of random shape and layout of some bytes, and compares
//! what the crate does with them with a naive model, index by index.

mod check;
mod input;
mod numbers;
mod ranks;

pub mod batch;
pub mod copies;
pub mod exact;
pub mod kernel;
pub mod maps;
pub mod parsers;
pub mod partial;
pub mod shapes;
pub mod sums;
pub mod views;

/// A name, and what runs the bytes of one case.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("views", views::run),
    ("shapes", shapes::run),
    ("sums", sums::run),
    ("maps", maps::run),
    ("copies", copies::run),
    ("batch", batch::run),
    ("partial", partial::run),
    ("parsers", parsers::run),
    ("exact", exact::run),
    ("kernel", kernel::run),
];
