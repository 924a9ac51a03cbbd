//! Panics at every point of every operation that makes, adds, compares or drops elements: none is dropped twice, and none
//! is lost but where a new array is being filled.
//!
//! One test, because the counts are those of the process: threads share them.
#![allow(clippy::cast_precision_loss, reason = "numbers are small")]

use ndarray::{Array, Array2, Array3, ArrayView1, ArrayViewMut1, Ix1, Ix2, ShapeBuilder, s};
use ndarray_broadcast::{base_op, broadcast_apply, broadcast_map, fused};
use ndarray_broadcast::{keepdims, prelude::*};
use num_traits::{FromPrimitive, One, Zero};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Sub};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// The numbers of the elements that are alive.
static ALIVE: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
static MADE: AtomicU64 = AtomicU64::new(0);
static DROPPED_TWICE: AtomicUsize = AtomicUsize::new(0);
/// After so many more points, one panics.
static FUSE: AtomicI64 = AtomicI64::new(i64::MAX);

/// A point where user code may panic. The panic hook stays silent.
fn point() {
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
        Self::new(self.value)
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
                Self::new(self.value.$op(other.value))
            }
        }
    )*};
}
operators!(Counted: Add add Mul mul Div div);

impl Zero for Counted {
    fn zero() -> Self {
        point();
        Self::new(0.0)
    }
    fn is_zero(&self) -> bool {
        point();
        self.value == 0.0
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        point();
        self.value == other.value
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        point();
        self.value.partial_cmp(&other.value)
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
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plain {
    value: f64,
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
    let mut i = 0.0;
    Array::from_shape_simple_fn(shape.set_f(f_order), || {
        i += 1.0;
        Counted::new(i)
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
    for fuse in 0_usize.. {
        assert!(fuse < 10_000, "{name} comes to an end");
        let before = alive();
        let mut arrays = make();
        FUSE.store(i64::try_from(fuse).unwrap(), SeqCst);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut arrays))).is_ok();
        FUSE.store(i64::MAX, SeqCst);
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
    for (shape, f_order) in [((2, 3), false), ((2, 3), true), ((9, 2), false), ((2, 17), true)] {
        let make = || (counted(shape, f_order), counted((1, shape.1), f_order), counted(shape, false));
        let nothing = |name: &str, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::Nothing, make, work);
        let new = |name: &str, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::NewElements, make, work);
        reductions(&nothing);
        maps(&nothing, &new);
        batches(&nothing);
        threads(&nothing, &new);
    }
    products();
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

/// Every method of [`Reduce`], for a source made of an array and a row. `out` has the shape of the array.
macro_rules! reductions_of {
    ($each:expr, $name:literal, |$a:ident, $row:ident, $out:ident| $source:expr) => {
        reductions_of! { $each, $name, ($a, $row, $out) $source;
            sum_axes(0).unwrap();
            sum_axes([0, 1]).unwrap();
            sum_axes([0_usize; 0]).unwrap();
            sum_axes(keepdims(1)).unwrap();
            sum_axes(..).unwrap();
            sum_to([$out.nrows(), 1]).unwrap();
            sum_to(1).unwrap();
            sum_to(&$out.slice(s![..1, ..])).unwrap();
            into_sum_to([1, $out.ncols()]).unwrap();
            sum_in_dim([$out.ncols(), 1], [1, 0]).unwrap();
            mean_axes(0).unwrap();
            mean_axes(keepdims([0, 1])).unwrap();
            mean_axes(..).unwrap();
            mean_to([$out.nrows(), 1]).unwrap();
            max_axes(1).unwrap();
            max_axes(keepdims(..)).unwrap();
            max_to(1).unwrap();
            min_to(&$out.slice(s![..1, ..])).unwrap();
            min_axes(keepdims(0)).unwrap();
            reduce_axes(0, Counted::default(), join).unwrap();
            reduce_axes(keepdims(1), Counted::default(), join).unwrap();
            reduce_to(1, Counted::default(), join).unwrap();
            assign_sum_to($out).unwrap();
            assign_sum_to(&mut $out.slice_mut(s![..1, ..])).unwrap();
            add_sum_to($out).unwrap();
            add_sum_to(&mut $out.slice_mut(s![.., 1..2])).unwrap();
            scaled_add_sum_to(Counted::new(3.0), $out).unwrap();
            scaled_add_sum_to(Counted::new(3.0), &mut $out.slice_mut(s![..1, ..])).unwrap();
            add_sum_in_dim_to(&mut $out.slice_mut(s![..1, ..]).reversed_axes(), [1, 0]).unwrap();
        }
    };
    ($each:expr, $name:literal, ($a:ident, $row:ident, $out:ident) $source:expr;
        $($call:ident $arguments:tt . unwrap();)*) => {$(
        $each(concat!($name, ".", stringify!($call $arguments)), &|($a, $row, $out)| {
            let _ = (&$row, &$out);
            let _result = $source.$call $arguments.unwrap();
        });
    )*};
}

fn reductions(each: Each<'_>) {
    reductions_of!(each, "array", |a, row, out| a.view());
    reductions_of!(each, "transposed array", |a, row, out| a.t().reversed_axes());
    reductions_of!(each, "fused", |a, row, out| fused((&*a, &*row), times));
    reductions_of!(each, "fused of one", |a, row, out| fused(&*a, Counted::clone));
    each("array by value", &|(a, ..)| drop(std::mem::take(a).into_sum_to(1).unwrap()));
    each("array by value, as it is", &|(a, ..)| {
        point();
        let shape = a.raw_dim();
        drop(std::mem::take(a).into_sum_to(shape).unwrap());
    });
}

fn maps(each: Each<'_>, new: Each<'_>) {
    new("broadcast_map of one", &|(a, ..)| drop(broadcast_map(&*a, Counted::clone).unwrap()));
    new("broadcast_map", &|(a, row, _)| drop(broadcast_map((&*a, &*row), times).unwrap()));
    new("broadcast_map of three", &|(a, row, out)| {
        drop(broadcast_map((&a.t(), &row.t(), &out.t()), |a, b, c| join(times(a, b), c.clone())).unwrap());
    });
    each("broadcast_apply", &|(a, row, out)| {
        broadcast_apply(out, (&*a, &*row), |out, a, b| *out = times(a, b)).unwrap();
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
    new("materialize", &|(a, ..)| drop(a.materialize()));
    new("try_materialize", &|(a, ..)| drop(a.t().try_materialize().unwrap()));
    each("materialize_into", &|(_, row, out)| row.materialize_into(out).unwrap());
    each("materialize_into, transposed", &|(a, _, out)| a.materialize_into(&mut out.view_mut()).unwrap());
}

#[allow(clippy::needless_pass_by_value, reason = "as `Batch::map` calls it")]
fn copy(from: ArrayView1<'_, Counted>, mut to: ArrayViewMut1<'_, Counted>) {
    point();
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.clone());
}

fn batches(each: Each<'_>) {
    each("Batch::map", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().map(a.ncols(), copy).unwrap()));
    each("Batch::zip_map", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.zip_map(&y, a.ncols(), |x, _, out| copy(x, out)).unwrap());
    });
    each("Batch::zip_map of three", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.zip_map((&y, &x), a.ncols(), |x, _, _, out| copy(x, out)).unwrap());
    });
    each("Batch::zip_map_into", &|(a, row, out)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        x.zip_map_into(&y, out, |x, _, out| copy(x, out)).unwrap();
    });
    each("Batch::sum_batch_to", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().sum_batch_to(()).unwrap()));
    each("Batch::sum_batch_to of a batch", &|(a, row, _)| {
        drop(a.batch::<Ix1>().unwrap().sum_batch_to(&row.batch::<Ix1>().unwrap()).unwrap());
    });
    each("Batch::add_sum_batch_to", &|(a, row, _)| {
        a.batch::<Ix1>().unwrap().add_sum_batch_to(&mut row.row_mut(0)).unwrap();
    });
}

/// The same on several threads, or with their bounds on one.
fn threads(each: Each<'_>, new: Each<'_>) {
    reductions_of!(each, "array.par()", |a, row, out| a.par());
    reductions_of!(each, "fused.par()", |a, row, out| fused((&*a, &*row), times).par());
    new("broadcast_map of par", &|(a, row, _)| drop(broadcast_map((&*a, &*row).par(), times).unwrap()));
    each("broadcast_apply of par", &|(a, row, out)| {
        broadcast_apply(out, (&*a, &*row).par(), |out, a, b| *out = times(a, b)).unwrap();
    });
    each("Batch::par map", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().par().map(a.ncols(), copy).unwrap()));
    each("Batch::par zip_map", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.par().zip_map(&y, a.ncols(), |x, _, out| copy(x, out)).unwrap());
    });
    each("Batch::par zip_map of three", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.par().zip_map((&y, &x), a.ncols(), |x, _, _, out| copy(x, out)).unwrap());
    });
    each("Batch::par zip_map_into", &|(a, row, out)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        x.par().zip_map_into(&y, out, |x, _, out| copy(x, out)).unwrap();
    });
}

/// The operations of [`base_op`], whose elements are `Copy`: a panic leaves the operands as they were.
fn products() {
    let number = |i: usize| Plain::new(i as f64 + 1.0);
    let matrices = Array3::from_shape_fn((2, 3, 3), |(i, j, k)| number(9 * i + 3 * j + k));
    let vectors = Array2::from_shape_fn((2, 3), |(i, j)| number(3 * i + j));
    let ([m, n], [u, v]) = (
        [matrices.batch::<Ix2>().unwrap(), matrices.batch::<Ix2>().unwrap()],
        [vectors.batch::<Ix1>().unwrap(), vectors.batch::<Ix1>().unwrap()],
    );
    macro_rules! products {
        ($($left:ident $Op:ident $right:ident;)*) => {$(
            let result = $left.apply(base_op::$Op, &$right).unwrap();
            let name = |how: &str| format!("{} {how}", stringify!($Op));
            let none = || ();
            every_point(&name(""), Leaves::Nothing, none, |()| drop($left.apply(base_op::$Op, &$right)));
            every_point(&name("par"), Leaves::Nothing, none, |()| drop($left.par().apply(base_op::$Op, &$right)));
            let out = || result.clone();
            every_point(&name("into"), Leaves::Nothing, out, |out| {
                $left.apply_into(base_op::$Op, &$right, out).unwrap();
            });
            every_point(&name("par into"), Leaves::Nothing, out, |out| {
                $left.par().apply_into(base_op::$Op, &$right, out).unwrap();
            });
            assert_eq!($left.apply(base_op::$Op, &$right).unwrap(), result);
        )*};
    }
    products! {
        u Add v; u Sub v; m Mul n; m Div n;
        u Inner v; u Outer v; m MatVec v; u VecMat m; m MatMul n;
    }
}
