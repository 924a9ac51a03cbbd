//! 16-bit floats, rounded after each operation.
#![allow(clippy::cast_possible_truncation, reason = "exponents are small")]

use std::str::FromStr;

/// A number that keeps `BITS` significant bits, up to `2^(LIMIT + 1)` as 16-bit floats do: more is infinite. Below
/// `2^(1 - LIMIT)` it keeps fewer.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Narrow<const BITS: i32, const LIMIT: i32>(pub f64);

impl<const BITS: i32, const LIMIT: i32> Narrow<BITS, LIMIT> {
    pub fn new(x: f64) -> Self {
        if x == 0.0 || !x.is_finite() {
            return Self(x);
        }
        let exponent = (x.abs().log2().floor() as i32).max(1 - LIMIT);
        let unit = 2_f64.powi(exponent + 1 - BITS);
        let rounded = (x / unit).round_ties_even() * unit;
        Self(if rounded.abs() >= 2_f64.powi(LIMIT + 1) { rounded.signum() * f64::INFINITY } else { rounded })
    }
}

crate::number_traits! {
    [const BITS: i32, const LIMIT: i32] Narrow<BITS, LIMIT>, f64: Self::new, |x| x.0;
    Add Mul Div Zero FromPrimitive
}

impl<const BITS: i32, const LIMIT: i32> FromStr for Narrow<BITS, LIMIT> {
    type Err = <f64 as FromStr>::Err;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::new)
    }
}

/// IEEE's 16-bit float.
pub type Half = Narrow<11, 15>;
/// The 16-bit float with the exponents of `f32`.
pub type Brain = Narrow<8, 127>;
