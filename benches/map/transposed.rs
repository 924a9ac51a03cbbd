//! Operands that lie across the output.

use crate::loops::{good, obvious};
use crate::plain::Number;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array, Array2, Zip};
use ndarray_broadcast::broadcast_apply;
use ndarray_broadcast::prelude::*;
use std::hint::black_box;

/// The side of a tile, whose rows and columns are in cache together.
const TILE: usize = 64;

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
plain!(add_transpose<T>(out: &mut [T], x: &[T], n: usize) {
    for i in (0..n).step_by(super::TILE) {
        for j in (0..n).step_by(super::TILE) {
            let end = n.min(j + super::TILE);
            for i in i..n.min(i + super::TILE) {
                let across = x[j * n + i..].iter().step_by(n);
                for ((out, &x), &y) in out[i * n..][j..end].iter_mut().zip(&x[i * n..][j..end]).zip(across) {
                    *out = x + y;
                }
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

fn sums<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str, sizes: &[usize]) {
    for &n in sizes {
        let (a, mut out) = (numbers::<T, _>((n, n)), Array2::<T>::zeros((n, n)));
        let expected = Array2::from_shape_fn((n, n), |(i, j)| a[[i, j]] + a[[j, i]]);
        let mut group = group(c, &format!("add_transposed{kind}/{n}"));
        way!(group, "fixed", out == expected => broadcast_apply(out, (&a, &a.t()), |out, &x, &y| *out = x + y));
        way!(group, "ndarray", out == expected => {
            Zip::from(out).and(&a).and(a.t()).for_each(|out, &x, &y| *out = x + y);
        });
        let x = flat(&a);
        way!(group, "plain", out == expected => add_transpose::plain(out.as_slice_mut().unwrap(), x, n));
        way!(group, "plain_avx2", out == expected => add_transpose::avx2(out.as_slice_mut().unwrap(), x, n));
        way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
        let (mut out, expected, a) = (out.into_dyn(), expected.into_dyn(), a.view().into_dyn());
        way!(group, "dynamic", out == expected => broadcast_apply(out, (&a, &a.t()), |out, &x, &y| *out = x + y));
        group.finish();
    }
}

/// Images with their channels first, as images with their channels last.
fn channels_last(c: &mut Criterion) {
    for images in [8, 32] {
        let (a, mut out) =
            (numbers::<f32, _>((images, 64, 56, 56)), Array::<f32, _>::zeros((images, 56, 56, 64)));
        let turned = a.view().permuted_axes([0, 2, 3, 1]);
        let expected = Array::from_shape_fn(out.raw_dim(), |(n, h, w, c)| a[[n, c, h, w]]);
        let mut group = group(c, &format!("copy_nchw_to_nhwc/{images}_64_56_56"));
        way!(group, "fixed", out == expected => turned.materialize_into(out));
        way!(group, "ndarray", out == expected => out.assign(&turned));
        let x = flat(&a);
        way!(group, "plain", out == expected => obvious::transpose::plain(out.as_slice_mut().unwrap(), x, 64, 56 * 56));
        way!(group, "plain_avx2", out == expected => obvious::transpose::avx2(out.as_slice_mut().unwrap(), x, 64, 56 * 56));
        way!(group, "good", out == expected => good::transpose::avx2(out.as_slice_mut().unwrap(), x, 64, 56 * 56));
        way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
        let (mut out, expected, turned) = (out.into_dyn(), expected.into_dyn(), turned.into_dyn());
        way!(group, "dynamic", out == expected => turned.materialize_into(out));
        group.finish();
    }
}

/// An image with its channels last, as one with its channels first, and back.
fn pixels<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    const SIDE: usize = 224;
    for (case, shape, order, [rows, columns]) in [
        ("hwc_to_chw", (SIDE, SIDE, 3), [2, 0, 1], [SIDE * SIDE, 3]),
        ("chw_to_hwc", (3, SIDE, SIDE), [1, 2, 0], [3, SIDE * SIDE]),
    ] {
        let a = numbers::<T, _>(shape);
        let turned = a.view().permuted_axes(order);
        let mut out = Array::<T, _>::zeros(turned.raw_dim());
        let expected = Array::from_shape_fn(out.raw_dim(), |index| turned[index]);
        let mut group = group(c, &format!("copy_{case}{kind}/3_{SIDE}_{SIDE}"));
        way!(group, "fixed", out == expected => turned.materialize_into(out));
        way!(group, "ndarray", out == expected => out.assign(&turned));
        let x = flat(&a);
        way!(group, "plain", out == expected => obvious::transpose::plain(out.as_slice_mut().unwrap(), x, rows, columns));
        way!(group, "plain_avx2", out == expected => obvious::transpose::avx2(out.as_slice_mut().unwrap(), x, rows, columns));
        way!(group, "good", out == expected => good::transpose::avx2(out.as_slice_mut().unwrap(), x, rows, columns));
        way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
        group.finish();
    }
}

pub(crate) fn all(c: &mut Criterion) {
    copies::<f32>(c, "", &[64, 256, 1000, 1024, 2048]);
    copies::<f64>(c, "_f64", &[256, 2048]);
    copies::<i32>(c, "_i32", &[256, 2048]);
    copies::<u8>(c, "_u8", &[256, 1000]);
    sums::<f32>(c, "", &[64, 256, 1000, 1024, 2048]);
    sums::<u8>(c, "_u8", &[256, 1000]);
    channels_last(c);
    pixels::<f32>(c, "");
    pixels::<u8>(c, "_u8");
}
