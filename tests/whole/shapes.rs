//! Rounded sums of large arrays. Those of whole numbers are in `tests/random/cases/reductions.rs`.

use approx::assert_relative_eq;
use ndarray::{Array1, Array3, Axis, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_map, fused};

#[test]
fn threads_do_not_change_the_bits() {
    #[allow(clippy::cast_precision_loss, reason = "some digits")]
    let x = Array1::from_iter((0..16 * 64 * 600).map(|i| 1.0 / (1.0 + i as f32)));
    let x = x.into_shape_with_order((16, 64, 600)).expect("as many elements");
    let serial = x.sum_axes([0, 2]).expect("axes");
    assert_eq!(x.par().sum_axes([0, 2]).expect("axes"), serial);
}

/// Asserts that arrays are equal but for rounding.
macro_rules! assert_close {
    ($found:expr, $expected:expr) => {
        assert_relative_eq!($found, $expected, epsilon = 0.0, max_relative = 1e-12)
    };
}

/// Arrays of at least 16 MiB, most of which are repeated, so that they need little memory.
#[test]
fn short_rows_beyond_the_cache() {
    #[allow(clippy::cast_precision_loss, reason = "some digits")]
    let number = |(i, j, k): (usize, usize, usize)| 1.0 / (1.0 + (i + 3 * j + 7 * k) as f64);
    for (images, rows, width) in [(1100, 60, 40), (4200, 8, 64), (600, 9, 400)] {
        let base = Array3::from_shape_fn((1, rows, width), number);
        let x = base.broadcast((images, rows, width)).expect("a shape that the array stretches to");
        let (sums, expected) = (x.sum_axes(1).expect("axes"), base.sum_axis(Axis(1)));
        assert_close!(sums, expected.broadcast(sums.raw_dim()).expect("a sum for each image"));
        assert_eq!(x.par().sum_axes(1).expect("axes"), sums, "{images} {rows} {width}");
        let weights = Array1::from_shape_fn(width, |k| number((0, 0, k)));
        let fused = fused((&x, &weights), |x, w| x * w).sum_to((images, 1, width)).expect("shapes");
        let expected = broadcast_map((&expected, &weights), |sum, w| sum * w).expect("shapes");
        let expected = expected.insert_axis(Axis(1));
        assert_close!(fused, expected.broadcast(fused.raw_dim()).expect("a sum for each image"));
        let largest = x.reduce_axes(1, 0.0, |a, b| if a > b { a } else { b }).expect("axes");
        assert!(largest.iter().eq(base.slice(s![0, 0, ..]).iter().cycle().take(images * width)));
    }
}
