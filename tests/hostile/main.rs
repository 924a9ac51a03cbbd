//! Every public function on shapes and texts that mean harm: an error word for word or the right answer, at once and
//! without memory for what was asked.
//!
//! The tests run one after the other, as time and memory are those of the process. Only the calls are counted, not what makes
//! their arguments or looks at their answers; making the message of an error is part of the call.
#![allow(clippy::unwrap_used, reason = "tests")]

mod batches;
mod clients;
mod forms;
mod limits;
mod partial;
mod shapes;
mod strides;
mod sums;
mod table;
mod views;

use ndarray::{Array, ArrayD, ArrayView, ArrayView1, ArrayView2, IxDyn, ShapeBuilder, aview0};
use ndarray_broadcast::prelude::*;
use num_traits::Zero;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::time::Duration;
use table::Table;

/// The largest number that there is, and the largest that a size can be.
const MAX: usize = usize::MAX;
const LIMIT: usize = isize::MAX.unsigned_abs();
/// More axes than anyone needs.
const MANY: usize = 10_000;

/// As many sizes or axes, all alike.
fn all<T: Clone>(size: T) -> Vec<T> {
    vec![size; MANY]
}

/// 10,000 sizes, of which four are 2 and the others 1.
fn spread() -> Vec<usize> {
    (0..MANY).map(|axis| if axis % 2500 == 0 { 2 } else { 1 }).collect()
}

/// 1 to 16 in an array of shape `spread()`, whose axes of size 1 have the longest stride that an owned array can have.
fn many() -> ArrayD<i64> {
    let (mut strides, mut step) = (spread(), 1);
    for stride in strides.iter_mut().rev() {
        let size = *stride;
        *stride = if size == 1 { (-isize::MAX).cast_unsigned() } else { step };
        step *= size;
    }
    Array::from_shape_vec(IxDyn(&spread()).strides(IxDyn(&strides)), (1..=16).collect()).unwrap()
}

/// `isize::MAX` elements of no size.
fn long() -> ArrayView1<'static, Nothing> {
    aview0(&Nothing).into_broadcast_to([LIMIT]).unwrap()
}

/// 2^62 times the number 1, in its 8 bytes.
fn huge() -> ArrayView2<'static, i64> {
    aview0(&1).into_broadcast_to([1_usize << 31; 2]).unwrap()
}

/// No element, and an axis as long as can be. The other one has a stride that cannot be negated.
fn hollow() -> ArrayView<'static, i64, ndarray::Ix2> {
    ArrayView::from_shape([0, LIMIT].strides([isize::MIN.cast_unsigned(), 0]), &[]).unwrap()
}

/// An element without size, of which all sums and products are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Nothing;

macro_rules! same {
    ($($Op:ident $op:ident)*) => {$(
        impl $Op for Nothing {
            type Output = Self;
            fn $op(self, _: Self) -> Self {
                self
            }
        }
    )*};
}
same!(Add add Sub sub Mul mul Div div);

impl Zero for Nothing {
    fn zero() -> Self {
        Nothing
    }
    fn is_zero(&self) -> bool {
        true
    }
}

impl num_traits::One for Nothing {
    fn one() -> Self {
        Nothing
    }
}

/// Held by the test that runs.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs the debug profile: cargo test --test hostile")]
fn every_function_answers_at_once() {
    let _alone = ALONE.lock();
    assert!(catch_unwind(|| debug_assert!(black_box(false))).is_err(), "debug assertions are off");
    assert!(catch_unwind(|| black_box(usize::MAX) + black_box(1)).is_err(), "overflow is not checked");
    let mut table = Table::new();
    views::rows(&mut table);
    sums::rows(&mut table);
    sums::of_maps(&mut table);
    clients::rows(&mut table);
    batches::rows(&mut table);
    let of_arrays: Vec<_> = table.names().collect();
    let mut odd = Table::new();
    strides::rows(&mut odd);
    let odd_names: Vec<_> = odd.names().collect();
    let missing: Vec<_> = of_arrays.iter().filter(|name| !odd_names.contains(name)).collect();
    assert!(missing.is_empty(), "without arrays whose strides mean harm: {missing:?}");
    shapes::rows(&mut table);
    partial::rows(&mut table);
    shapes::of_texts(&mut table);
    // unoptimised, about 1 s on an idle machine; what is quadratic takes minutes
    let time = Duration::from_secs(10);
    table.check(time, 1 << 20);
    odd.check(time, 1 << 20);
    let mut products = Table::new();
    batches::repeated_products(&mut products);
    // a matrix that repeats a vector of 16 kB, and would take 32 MB
    products.check(time, 1 << 22);
    let mut limits = Table::new();
    limits::rows(&mut limits);
    // results of 64,000 views, and shapes of half a million axes
    limits.check(time, 1 << 26);
    let mut all_forms = Table::new();
    forms::rows(&mut all_forms);
    all_forms.check(time, 1 << 20);
    forms::assert_complete(include_str!("public.txt"));
    let called: BTreeSet<&str> = table.names().collect();
    let missing: Vec<_> = include_str!("public.txt").lines().filter(|name| !called.contains(name)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}

#[test]
fn every_function_needs_little_stack() {
    let _alone = ALONE.lock();
    let mut small = Table::small();
    views::rows(&mut small);
    sums::rows(&mut small);
    sums::of_maps(&mut small);
    clients::rows(&mut small);
    batches::rows(&mut small);
    shapes::rows(&mut small);
    partial::rows(&mut small);
    shapes::of_texts(&mut small);
    forms::rows(&mut small);
    strides::rows(&mut small);
    small.check(Duration::MAX, usize::MAX);
}
