//! Copies of arrays that lie across the output.

use crate::loops::{good, obvious};
use crate::plain::Number;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::Array2;
use ndarray_broadcast::prelude::*;
use std::hint::black_box;

// A copy of squares of whole cache lines to where their transposes would go, but not transposed: what memory allows for a
// transposed copy. In the cache, this takes 2 to 3 times as long as a copy of adjacent lines. Incomplete squares are left out.
plain!(squares<T>(out: &mut [T], x: &[T], n: usize) {
    let width = 64 / size_of::<T>();
    for i in (0..=n - width).step_by(width) {
        for j in (0..=n - width).step_by(width) {
            for k in 0..width {
                out[(i + k) * n + j..][..width].copy_from_slice(&x[(j + k) * n + i..][..width]);
            }
        }
    }
});
fn copies<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str, sizes: &[usize]) {
    for &n in sizes {
        let (a, mut out) = (numbers::<T, _>((n, n)), Array2::<T>::zeros((n, n)));
        let expected = Array2::from_shape_fn((n, n), |(i, j)| a[[j, i]]);
        let mut group = group(c, &format!("copy_transposed{kind}/{n}"));
        way!(group, "fixed", out == expected => a.t().materialize_into(out));
        way!(group, "ndarray", out == expected => out.assign(&a.t()));
        let x = flat(&a);
        way!(group, "plain", out == expected => obvious::transpose::plain(out.as_slice_mut().unwrap(), x, n, n));
        way!(group, "plain_avx2", out == expected => obvious::transpose::avx2(out.as_slice_mut().unwrap(), x, n, n));
        way!(group, "good", out == expected => good::transpose::avx2(out.as_slice_mut().unwrap(), x, n, n));
        way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
        way!(group, "limit_squares", out => squares::plain(out.as_slice_mut().unwrap(), x, n));
        group.finish();
    }
}

pub(crate) fn all(c: &mut Criterion) {
    copies::<f32>(c, "", &[64, 256, 1000, 1024, 2048]);
    copies::<f64>(c, "_f64", &[256, 2048]);
    copies::<i32>(c, "_i32", &[256, 2048]);
    copies::<u8>(c, "_u8", &[256, 1000]);
}
