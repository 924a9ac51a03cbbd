//! Elements whose operations are a client's code: they call the crate again, or lie.

use common::forms::{Call, Element, Form, base_operations, forms};
use ndarray::{Array1, Array2, Array3, ArrayD, Ix2};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_map, fused};
use num_traits::{FromPrimitive, One, Zero};
use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};

/// A number whose operations call a hook. What is no such number in memory is noticed.
#[derive(Debug)]
pub(crate) struct Hooked {
    value: f32,
    /// The bits of the value, inverted.
    check: u32,
}

/// A function of the result, and of whether it is a clone.
type Hook = fn(f32, bool) -> f32;

static HOOK: RwLock<Hook> = RwLock::new(plain);

pub(crate) fn plain(x: f32, _: bool) -> f32 {
    x
}

/// Runs `work` while each operation on [`Hooked`] returns what `hook` makes of its result.
pub(crate) fn with_hook<R>(hook: Hook, work: impl FnOnce() -> R) -> R {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    *HOOK.write().expect("not poisoned") = hook;
    let result = work();
    *HOOK.write().expect("not poisoned") = plain;
    result
}

impl Hooked {
    pub(crate) fn new(value: f32) -> Self {
        Self { value, check: !value.to_bits() }
    }

    fn of(value: f32) -> Self {
        let hook = *HOOK.read().expect("not poisoned");
        Self::new(hook(value, false))
    }

    fn value(self) -> f32 {
        assert_eq!(self.check, !self.value.to_bits(), "a number");
        self.value
    }
}

impl Copy for Hooked {}

#[allow(clippy::expl_impl_clone_on_copy, clippy::non_canonical_clone_impl, reason = "it may lie")]
impl Clone for Hooked {
    fn clone(&self) -> Self {
        let hook = *HOOK.read().expect("not poisoned");
        Self::new(hook(self.value(), true))
    }
}

impl Default for Hooked {
    fn default() -> Self {
        Self::of(0.0)
    }
}

macro_rules! operators {
    ($($Op:ident $op:ident)*) => {$(
        impl $Op for Hooked {
            type Output = Self;
            fn $op(self, other: Self) -> Self {
                Self::of(self.value().$op(other.value()))
            }
        }
    )*};
}
operators!(Add add Sub sub Mul mul Div div);

impl Zero for Hooked {
    fn zero() -> Self {
        Self::of(0.0)
    }
    fn is_zero(&self) -> bool {
        Self::of(self.value()).value == 0.0
    }
}

impl One for Hooked {
    fn one() -> Self {
        Self::of(1.0)
    }
}

impl FromPrimitive for Hooked {
    fn from_i64(n: i64) -> Option<Self> {
        f32::from_i64(n).map(Self::of)
    }
    fn from_u64(n: u64) -> Option<Self> {
        f32::from_u64(n).map(Self::of)
    }
    fn from_f64(n: f64) -> Option<Self> {
        f32::from_f64(n).map(Self::of)
    }
}

impl PartialEq for Hooked {
    fn eq(&self, other: &Self) -> bool {
        Self::of(self.value()).value == Self::of(other.value()).value
    }
}

impl PartialOrd for Hooked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Self::of(self.value()).value.partial_cmp(&Self::of(other.value()).value)
    }
}

impl Element for Hooked {
    fn times(&self, other: &Self) -> Self {
        *self * *other
    }

    fn join(self, other: Self) -> Self {
        self + other
    }
}

/// The bits of each form's result, or nothing where there is an error.
fn results(shape: [usize; 3], is_tried: impl Fn(&Form<Hooked>) -> bool) -> Vec<(String, Option<Vec<u32>>)> {
    let number = |i: usize| Hooked::new(f32::from(u8::try_from(i % 5).expect("small")) - 2.0);
    let reversed = [shape[2], shape[1], shape[0]];
    let x = Array3::from_shape_fn(shape, |(i, j, k)| number(i + j * 7 + k)).into_dyn();
    let turned = Array3::from_shape_fn(reversed, |(k, j, i)| number(i + j * 7 + k)).into_dyn();
    let y = ArrayD::from_shape_fn(&[1, 1, shape[2]][..], |index| number(index[2]));
    let mut all = Vec::new();
    for form in forms().into_iter().chain(base_operations()).filter(is_tried) {
        for (x, axes, others) in [(x.view(), [0, 2], [1]), (turned.t(), [0, 1], [2])] {
            let call = Call::new(x, y.view(), &axes, &others);
            let result = form.result(&call, &Hooked::new(1.0)).ok();
            all.push((
                form.to_string(),
                result.map(|result| result.iter().map(|x| x.value().to_bits()).collect()),
            ));
        }
    }
    all
}

/// Calls the crate from within one of its calls, on the thread of that call and on others: once in `N` operations.
fn call_again<const N: u64>(x: f32, _: bool) -> f32 {
    thread_local! {
        static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    static CALLS: AtomicU64 = AtomicU64::new(0);
    if IS_INSIDE.get() || !CALLS.fetch_add(1, Relaxed).is_multiple_of(N) {
        return x;
    }
    IS_INSIDE.set(true);
    let (a, row) = (Array2::from_elem((9, 40), Hooked::new(1.0)), Array1::from_elem(40, 2_i64));
    let sums = Array1::from_elem(9, Hooked::new(40.0));
    assert_eq!(a.sum_axes(1), Ok(sums.clone()));
    assert_eq!(a.par().sum_axes(1), Ok(sums.clone()));
    assert_eq!(fused((&a, &row), |&a, _| a).par().sum_axes(1), Ok(sums));
    assert_eq!(broadcast_map((&a, &row).par(), |&a, _| a), Ok(a.clone()));
    let (x2, y2) = (a.batch::<Ix2>().expect("a matrix"), a.t());
    let product = x2.par().matmul(&y2.batch::<Ix2>().expect("a matrix"));
    assert_eq!(product, Ok(Array2::from_elem((9, 9), Hooked::new(40.0))));
    // large enough for several threads
    if CALLS.load(Relaxed) < 1000 {
        let long = Array1::from_elem(1 << 19, 1_i32);
        assert_eq!(long.par().sum_axes(..).map(|sum| sum[()]), Ok(1 << 19));
    }
    IS_INSIDE.set(false);
    x
}

#[test]
fn operations_that_call_the_crate() {
    let shape = [2, 9, 3];
    let expected = with_hook(plain, || results(shape, |_| true));
    let again = if common::is_thorough() { call_again::<41> } else { call_again::<401> };
    assert_eq!(with_hook(again, || results(shape, |_| true)), expected);
    // large enough for several threads, where there are any
    if !cfg!(feature = "rayon") {
        return;
    }
    let shape = [64, 128, 64];
    let is_tried = |form: &Form<Hooked>| {
        form.is_par
            && (["broadcast_map", "Batch::zip_map"].contains(&form.name)
                || form.name == "Reduce::max_axes" && form.call.0 == "fused of two")
    };
    let expected = with_hook(plain, || results(shape, is_tried));
    assert_eq!(with_hook(call_again::<20_011>, || results(shape, is_tried)), expected);
}

/// Some number: sums depend on their order and clones differ, no zero is one, and comparisons contradict each other.
fn lie(_: f32, _: bool) -> f32 {
    static STATE: AtomicU64 = AtomicU64::new(1);
    let state = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed);
    [0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, 3.0, 1.0, 0.5]
        [(state.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 61) as usize]
}

#[test]
fn operations_that_lie() {
    for shape in [[2, 9, 3], [3, 40, 33], [17, 5, 8]] {
        let expected = with_hook(plain, || results(shape, |_| true));
        let found = with_hook(lie, || results(shape, |_| true));
        for ((name, expected), (_, found)) in expected.iter().zip(&found) {
            // means may be refused: two are zero, or 1/2 is
            let is_result = found.as_ref().map(Vec::len) == expected.as_ref().map(Vec::len);
            assert!(is_result || name.contains("mean") && found.is_none(), "{name} of {shape:?}");
        }
    }
}
