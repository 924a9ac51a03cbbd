//! Fused evaluation, fused sums and copies, on one thread: the crate with a fixed and with a dynamic number of axes, next to
//! the obvious loop for that case (`plain` as it is compiled, `plain_avx2` as the crate is at run time), to a good one where
//! something is gained by it, to ndarray's own way, and to what memory allows (`limit`).
//!
//! All ways of a group read the same memory, and those that write into an existing output write to the same one. Each
//! result that does not depend on earlier calls is compared with the expected one; the numbers are small integers, so the
//! order of additions does not matter.
#![allow(
    clippy::unwrap_used,
    clippy::many_single_char_names,
    reason = "arrays made in standard layout, a and b"
)]

#[macro_use]
#[path = "../plain.rs"]
mod plain;
#[path = "../limit.rs"]
mod limit;
#[path = "../loops/mod.rs"]
mod loops;
#[path = "../progress.rs"]
mod progress;

/// One way into the existing `out`, which is opaque to the optimiser so that every write stays.
macro_rules! way {
    ($group:ident, $name:literal, $out:ident $(== $expected:expr)? => $call:expr) => {
        $group.bench_function($name, |b| {
            $($crate::forget(&mut $out, &$expected);)?
            b.iter(|| {
                let $out = black_box(&mut $out);
                $call
            });
            $(assert!($out == $expected, "{} gives something else", $name);)?
        });
    };
}

/// One way to a new array.
macro_rules! new_way {
    ($group:ident, $name:literal, $expected:expr, $call:expr) => {
        $group.bench_function($name, |b| {
            b.iter(|| $call);
            assert!(flat(&$call) == flat(&$expected), "{} gives something else", $name);
        });
    };
}

mod copies;
mod evaluation;
mod fused_sums;
mod transposed;

use crate::plain::Number;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use ndarray::{Array, Dimension, ShapeBuilder};
use std::time::Duration;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Small integers, neither equal nor periodic in the length of a row.
fn numbers<T: From<u8>, D: Dimension>(shape: impl ShapeBuilder<Dim = D>) -> Array<T, D> {
    let mut i = 0_u16;
    Array::from_shape_simple_fn(shape, || {
        i = (i + 7919) % 10_007;
        T::from((i % 13) as u8)
    })
}

fn flat<T, D: Dimension>(array: &Array<T, D>) -> &[T] {
    array.as_slice().expect("in standard layout")
}

/// Overwrites what the previous way wrote with something else than expected.
fn forget<T: Number, D: Dimension>(out: &mut Array<T, D>, expected: &Array<T, D>) {
    out.zip_mut_with(expected, |out, &x| *out = x + T::one());
}

fn group<'a>(c: &'a mut Criterion, name: &str) -> Group<'a> {
    c.benchmark_group(format!("map/{name}"))
}

fn main() {
    let config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(100));
    progress::run(
        config.measurement_time(Duration::from_millis(400)),
        &[
            ("evaluation", evaluation::all),
            ("copies", copies::all),
            ("transposed", transposed::all),
            ("fused sums", fused_sums::all),
        ],
    );
}
