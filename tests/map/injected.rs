//! Panics at every point of every operation that makes, adds, compares or drops elements: none is dropped twice, and none
//! is lost but where a new array is being filled; an element of an output is as it was, or has its result. No element is lost
//! either where operations lie, or call the crate again.
//!
//! One test, because the counts are those of the process: threads share them.
#![allow(clippy::cast_precision_loss, reason = "numbers are small")]

use common::forms::{Call, Destination, Element, Form, base_operations, forms};
use ndarray::{Array, Array2, Array3, ArrayD, ArrayView1, ArrayViewMut1, Ix1, ShapeBuilder, s};
use ndarray_broadcast::broadcast_map;
use ndarray_broadcast::prelude::*;
use num_traits::{FromPrimitive, One, Zero};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Sub};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// The numbers of the elements that are alive.
static ALIVE: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
static MADE: AtomicU64 = AtomicU64::new(0);
static DROPPED_TWICE: AtomicUsize = AtomicUsize::new(0);
/// After so many more points, one panics.
static FUSE: AtomicI64 = AtomicI64::new(i64::MAX);

/// What operations do but panic.
static MODE: AtomicU8 = AtomicU8::new(HONEST);
const HONEST: u8 = 0;
const LYING: u8 = 1;
const CALLING: u8 = 2;

/// A value, or another one if operations lie.
fn told(value: f64) -> f64 {
    static STATE: AtomicU64 = AtomicU64::new(1);
    if MODE.load(SeqCst) != LYING {
        return value;
    }
    let state = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, SeqCst).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, 3.0, 0.5, value][usize::try_from(state >> 61).unwrap()]
}

/// Calls the crate, unless it was called from here.
fn call_again() {
    if MODE.compare_exchange(CALLING, HONEST, SeqCst, SeqCst).is_ok() {
        let (a, row) = (counted((2, 9), true), counted((1, 9), false));
        assert!(a.sum_axes(1).unwrap().iter().map(|x| x.value).eq([81.0, 90.0]));
        assert!(a.par().max_axes(0).unwrap().iter().map(|x| x.value).eq((1..10).map(|x| f64::from(2 * x))));
        assert_eq!(broadcast_map((&a, &row).par(), times).unwrap().len(), 18);
        MODE.store(CALLING, SeqCst);
    }
}

/// A point where user code may panic. The panic hook stays silent.
fn point() {
    call_again();
    if FUSE.fetch_sub(1, SeqCst) == 0 {
        resume_unwind(Box::new("the fuse"));
    }
}

/// An element that is counted as long as it is alive.
struct Counted {
    number: u64,
    value: f64,
}

impl Counted {
    fn new(value: f64) -> Self {
        let number = MADE.fetch_add(1, SeqCst);
        ALIVE.lock().unwrap().insert(number);
        Self { number, value }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // not a panic: in a destructor it would end the process without words
        if !ALIVE.lock().unwrap().remove(&self.number) {
            DROPPED_TWICE.fetch_add(1, SeqCst);
        }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        point();
        Self::new(told(self.value))
    }
}

impl Default for Counted {
    fn default() -> Self {
        point();
        Self::new(0.0)
    }
}

macro_rules! operators {
    ($T:ident: $($Op:ident $op:ident)*) => {$(
        impl $Op for $T {
            type Output = Self;
            fn $op(self, other: Self) -> Self {
                point();
                Self::new(told(self.value.$op(other.value)))
            }
        }
    )*};
}
operators!(Counted: Add add Mul mul Div div);

impl Zero for Counted {
    fn zero() -> Self {
        point();
        Self::new(told(0.0))
    }
    fn is_zero(&self) -> bool {
        point();
        told(self.value) == 0.0
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        point();
        told(self.value) == told(other.value)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        point();
        told(self.value).partial_cmp(&told(other.value))
    }
}

impl FromPrimitive for Counted {
    fn from_i64(n: i64) -> Option<Self> {
        Self::from_f64(n as f64)
    }
    fn from_u64(n: u64) -> Option<Self> {
        Self::from_f64(n as f64)
    }
    fn from_f64(n: f64) -> Option<Self> {
        point();
        Some(Self::new(n))
    }
}

/// An element of products, whose types are `Copy`: there is nothing to drop, but its operations panic.
#[derive(Copy, Debug, Default, PartialEq, PartialOrd)]
struct Plain {
    value: f64,
}

#[allow(clippy::expl_impl_clone_on_copy, clippy::non_canonical_clone_impl, reason = "it panics")]
impl Clone for Plain {
    fn clone(&self) -> Self {
        point();
        *self
    }
}

impl Plain {
    fn new(value: f64) -> Self {
        Self { value }
    }
}

operators!(Plain: Add add Sub sub Mul mul Div div);

impl Zero for Plain {
    fn zero() -> Self {
        point();
        Self::new(0.0)
    }
    fn is_zero(&self) -> bool {
        self.value == 0.0
    }
}

impl One for Plain {
    fn one() -> Self {
        point();
        Self::new(1.0)
    }
}

fn alive() -> usize {
    ALIVE.lock().unwrap().len()
}

fn counted(shape: (usize, usize), f_order: bool) -> Array2<Counted> {
    numbers(shape, f_order)
}

/// 1, 2 and so on, in the order of memory.
fn numbers<A: Panicking>(shape: (usize, usize), f_order: bool) -> Array2<A> {
    let mut i = 0.0;
    Array::from_shape_simple_fn(shape.set_f(f_order), || {
        i += 1.0;
        A::of(i)
    })
}

/// What a panic leaves of the elements that were made.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    Nothing,
    /// Those in a new array whose elements are not all there yet.
    NewElements,
}

/// Has `work` panic at each of its points, until it comes to its end.
fn every_point<T>(name: &str, leaves: Leaves, make: impl Fn() -> T, work: impl Fn(&mut T)) {
    points(name, 1, leaves, make, work, |_| ());
}

/// Has `work` panic at each `step`-th of its points, until it comes to its end. `check` looks at what a panic left.
fn points<T>(
    name: &str,
    step: usize,
    leaves: Leaves,
    make: impl Fn() -> T,
    work: impl Fn(&mut T),
    check: impl Fn(&T),
) {
    let step = if common::is_thorough() { step } else { step * 7 };
    for fuse in (0_usize..).step_by(step) {
        assert!(fuse < 10_000 * step, "{name} comes to an end");
        let before = alive();
        let mut arrays = make();
        FUSE.store(i64::try_from(fuse).unwrap(), SeqCst);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut arrays))).is_ok();
        FUSE.store(i64::MAX, SeqCst);
        check(&arrays);
        drop(arrays);
        assert_eq!(DROPPED_TWICE.load(SeqCst), 0, "{name}, dropped twice after {fuse} points");
        let left = alive() - before;
        if done {
            assert!(fuse > 0, "{name} has points");
            assert_eq!(left, 0, "{name} without a panic");
            return;
        }
        let most = if leaves == Leaves::Nothing { 0 } else { fuse };
        assert!(left <= most, "{name}: {left} elements are left after {fuse} points");
    }
}

/// An array, a row, and an array to write.
type Arrays = (Array2<Counted>, Array2<Counted>, Array2<Counted>);
type Each<'f> = &'f dyn Fn(&str, &dyn Fn(&mut Arrays));

#[test]
fn at_every_point() {
    // the mean of a sum that overflows
    let large = Array2::from_shape_simple_fn((2, 3), || Counted::new(f64::MAX));
    assert!(large.mean_axes(1).unwrap().iter().all(|mean| (mean.value / f64::MAX - 1.0).abs() < 1e-15));
    for (shape, f_order) in [((2, 3), false), ((2, 3), true), ((9, 2), false), ((2, 17), true)] {
        let make = || (counted(shape, f_order), counted((1, shape.1), f_order), counted(shape, false));
        let nothing = |name: &str, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::Nothing, make, work);
        let new = |name: &str, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::NewElements, make, work);
        for form in forms::<Counted>() {
            of_form(&form, shape, f_order, 1);
        }
        by_value(&nothing, &new);
    }
    for mode in [LYING, CALLING] {
        for form in forms() {
            in_mode(&form, mode);
        }
    }
    base_operations_of_plain();
    let writes = |form: &Form<Plain>| !matches!(form.into, Destination::New | Destination::Filled);
    for form in forms().into_iter().filter(writes) {
        of_form(&form, (2, 17), true, 1);
        if form.name.starts_with("Reduce::") && form.call.0 == "fused of two" {
            // some points of a nest with several blocks
            of_form(&form, (5, 700), true, 3001);
        }
    }
}

/// An element whose operations panic.
trait Panicking: Element {
    fn of(value: f64) -> Self;
    fn value(&self) -> f64;
}

impl Panicking for Counted {
    fn of(value: f64) -> Self {
        Self::new(value)
    }
    fn value(&self) -> f64 {
        self.value
    }
}

impl Panicking for Plain {
    fn of(value: f64) -> Self {
        Self::new(value)
    }
    fn value(&self) -> f64 {
        self.value
    }
}

/// A form of the table, over sets of axes, with a panic at each `step`-th point.
fn of_form<A: Panicking>(form: &Form<A>, shape: (usize, usize), f_order: bool, step: usize) {
    let leaves = if form.into == Destination::Filled { Leaves::NewElements } else { Leaves::Nothing };
    // along the long axis of a long array, which has many points
    let sets: &[&[usize]] = match shape {
        (9, _) => &[&[0]],
        (_, 17) => &[&[1]],
        (5, _) => &[&[0], &[0, 1]],
        _ => &[&[], &[0], &[1], &[0, 1]],
    };
    for &axes in sets {
        let others: Vec<usize> = (0..2).rev().filter(|axis| !axes.contains(axis)).collect();
        let make = || {
            let arrays = [numbers(shape, f_order), numbers((1, shape.1), f_order)].map(Array::into_dyn);
            let call = Call::new(arrays[0].view(), arrays[1].view(), axes, &others);
            let out =
                ArrayD::from_shape_simple_fn(form.out_shape(&call).unwrap_or_default(), || A::of(START));
            (arrays, out)
        };
        let work = |([x, y], out): &mut ([ArrayD<A>; 2], ArrayD<A>)| {
            let call = Call::new(x.view(), y.view(), axes, &others);
            let _result = form.run(&call, &mut out.view_mut()).unwrap();
        };
        let mut arrays = make();
        work(&mut arrays);
        let (name, expected) = (format!("{form}, over {axes:?}"), arrays.1.map(A::value));
        points(&name, step, leaves, make, work, |(_, out)| as_before_or_done(&name, out, &expected));
        if !form.name.starts_with("Reduce::") {
            return;
        }
    }
}

/// The elements of outputs before a call.
const START: f64 = 1.0;

/// Checks that each element of an output is as it was before a call that panicked, or has its result.
fn as_before_or_done<A: Panicking>(name: &str, out: &ArrayD<A>, expected: &ArrayD<f64>) {
    for (index, x) in out.indexed_iter() {
        let (x, end) = (x.value(), expected[&index]);
        let is = |value: f64| x.to_bits() == value.to_bits();
        assert!(is(START) || is(end), "{name}: {x} is left at {index:?} between {START} and {end}");
    }
}

/// A form whose operations lie or call the crate again: no element is lost, and each result is alive.
fn in_mode(form: &Form<Counted>, mode: u8) {
    let before = alive();
    for (shape, f_order) in [((2, 17), false), ((9, 2), true)] {
        let arrays = [counted(shape, f_order), counted((1, shape.1), f_order)].map(Array::into_dyn);
        let call = Call::new(arrays[0].view(), arrays[1].view(), &[1], &[0]);
        let out_shape = form.out_shape(&call).unwrap_or_default();
        let mut out = ArrayD::from_shape_simple_fn(out_shape, || Counted::new(1.0));
        let honest = form.run(&call, &mut out.view_mut()).unwrap();
        MODE.store(mode, SeqCst);
        let result = form.run(&call, &mut out.view_mut());
        MODE.store(HONEST, SeqCst);
        let all_alive =
            |array: &ArrayD<Counted>| array.iter().all(|x| ALIVE.lock().unwrap().contains(&x.number));
        assert!(all_alive(&arrays[0]) && all_alive(&arrays[1]) && all_alive(&out), "{form}");
        match result {
            Ok(new) => {
                assert!(new.as_ref().is_none_or(all_alive), "{form}");
                let same_shape = new.as_ref().map(ArrayD::shape) == honest.as_ref().map(ArrayD::shape);
                let is_same = || {
                    new.iter()
                        .flatten()
                        .zip(honest.iter().flatten())
                        .all(|(a, b)| a.value.to_bits() == b.value.to_bits())
                };
                assert!(same_shape && (mode == LYING || is_same()), "{form}");
            }
            // means may be refused: two are zero, or 1/2 is
            Err(_) => assert!(mode == LYING && form.name.contains("mean"), "{form}"),
        }
    }
    assert_eq!((alive(), DROPPED_TWICE.load(SeqCst)), (before, 0), "{form}");
}

impl Element for Counted {
    fn times(&self, other: &Self) -> Self {
        times(self, other)
    }

    fn join(self, other: Self) -> Self {
        join(self, other)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "as `reduce_axes` calls it")]
fn join(a: Counted, b: Counted) -> Counted {
    point();
    Counted::new(a.value.hypot(b.value))
}

fn times(a: &Counted, b: &Counted) -> Counted {
    point();
    a.clone() * b.clone()
}

/// Calls with arrays by value, or with other types than those of the table.
fn by_value(each: Each<'_>, new: Each<'_>) {
    each("a part of an array", &|(a, _, out)| a.add_sum_to(&mut out.slice_mut(s![.., 1..2])).unwrap());
    each("an array with its axes reversed", &|(a, ..)| drop(a.t().sum_axes([0, 1]).unwrap()));
    each("array by value", &|(a, ..)| drop(std::mem::take(a).into_sum_to(1).unwrap()));
    each("array by value, as it is", &|(a, ..)| {
        point();
        let shape = a.raw_dim();
        drop(std::mem::take(a).into_sum_to(shape).unwrap());
    });
    new("broadcast_map of one", &|(a, ..)| drop(broadcast_map(&*a, Counted::clone).unwrap()));
    new("broadcast_map of three", &|(a, row, out)| {
        drop(broadcast_map((&a.t(), &row.t(), &out.t()), |a, b, c| join(times(a, b), c.clone())).unwrap());
    });
    each("into_broadcast_map", &|(a, row, _)| {
        drop(std::mem::take(a).into_broadcast_map(&*row, times));
    });
    new("into_broadcast_map of a smaller array", &|(a, row, _)| {
        drop(std::mem::take(row).into_broadcast_map(&*a, times));
    });
    each("into_broadcast_map of a smaller array and one by value", &|(a, row, _)| {
        drop(std::mem::take(row).into_broadcast_map(std::mem::take(a).into_shared(), times));
    });
    new("into_broadcast_map of a shared array", &|(a, row, _)| {
        let shared = std::mem::take(a).into_shared();
        drop(shared.clone().into_broadcast_map(&*row, times));
    });
    new("try_materialize, transposed", &|(a, ..)| drop(a.t().try_materialize().unwrap()));
    each("materialize_into, transposed", &|(a, _, out)| a.materialize_into(&mut out.view_mut()).unwrap());
    each("Batch::zip_map", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().zip_map((), a.ncols(), copy).unwrap()));
    each("Batch::sum_batch_to of a batch", &|(a, row, _)| {
        drop(a.batch::<Ix1>().unwrap().sum_batch_to(&row.batch::<Ix1>().unwrap()).unwrap());
    });
}

#[allow(clippy::needless_pass_by_value, reason = "as `Batch::map` calls it")]
fn copy(from: ArrayView1<'_, Counted>, mut to: ArrayViewMut1<'_, Counted>) {
    point();
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.clone());
}

/// The operations of [`base_op`], whose elements are `Copy`: a panic leaves the operands as they were.
fn base_operations_of_plain() {
    let number = |i: usize| Plain::new(i as f64 + START);
    let x = Array3::from_shape_fn((2, 3, 3), |(i, j, k)| number(9 * i + 3 * j + k)).into_dyn();
    let y = Array3::from_shape_fn((1, 3, 3), |(_, j, k)| number(3 * j + k)).into_dyn();
    let call = Call::new(x.view(), y.view(), &[2], &[0, 1]);
    for form in base_operations() {
        let out = || ArrayD::from_elem(form.out_shape(&call).unwrap_or_default(), number(0));
        let expected = form.result(&call, &number(0)).unwrap();
        let name = form.to_string();
        let work = |out: &mut ArrayD<Plain>| {
            form.run(&call, &mut out.view_mut()).unwrap();
        };
        let mut whole = out();
        work(&mut whole);
        let values = whole.map(Plain::value);
        points(&name, 1, Leaves::Nothing, out, work, |out| as_before_or_done(&name, out, &values));
        assert_eq!(form.result(&call, &number(0)).unwrap(), expected, "{form}");
    }
}

impl FromPrimitive for Plain {
    fn from_i64(n: i64) -> Option<Self> {
        f64::from_i64(n).map(Self::new)
    }
    fn from_u64(n: u64) -> Option<Self> {
        f64::from_u64(n).map(Self::new)
    }
}

impl Element for Plain {
    fn times(&self, other: &Self) -> Self {
        *self * *other
    }

    fn join(self, other: Self) -> Self {
        self + other
    }
}
