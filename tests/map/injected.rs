//! Panics at every point of every operation that makes, adds or drops elements: none is dropped twice, and none is lost
//! but where a new array is being filled.
//!
//! One test, because the counts are those of the process: threads share them.

use ndarray::{Array, Array1, Array2, ArrayView1, ArrayViewMut1, Ix1, ShapeBuilder};
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};
use ndarray_broadcast::{keepdims, prelude::*};
use num_traits::Zero;
use std::collections::BTreeSet;
use std::ops::{Add, Mul};
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
    value: i64,
}

impl Counted {
    fn new(value: i64) -> Self {
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
        Self::new(0)
    }
}

impl Add for Counted {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        point();
        Self::new(self.value + other.value)
    }
}

impl Mul for Counted {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        point();
        Self::new(self.value * other.value)
    }
}

impl Zero for Counted {
    fn zero() -> Self {
        point();
        Self::new(0)
    }
    fn is_zero(&self) -> bool {
        self.value == 0
    }
}

fn alive() -> usize {
    ALIVE.lock().unwrap().len()
}

fn counted(shape: (usize, usize), f_order: bool) -> Array2<Counted> {
    let mut i = 0;
    Array::from_shape_simple_fn(shape.set_f(f_order), || {
        i += 1;
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

#[test]
fn at_every_point() {
    for (shape, f_order) in [((2, 3), false), ((2, 3), true), ((9, 2), false), ((2, 17), true)] {
        let make = || (counted(shape, f_order), counted((1, shape.1), f_order), counted(shape, false));
        let nothing = |name, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::Nothing, make, work);
        let new = |name, work: &dyn Fn(&mut Arrays)| every_point(name, Leaves::NewElements, make, work);
        sums(&nothing);
        closures(&nothing, &new);
        batches(&nothing);
        #[cfg(feature = "rayon")]
        threads(&nothing, &new);
    }
}

/// An array, a row, and an array to write.
type Arrays = (Array2<Counted>, Array2<Counted>, Array2<Counted>);
type Each<'f> = &'f dyn Fn(&'static str, &dyn Fn(&mut Arrays));

fn sums(each: Each<'_>) {
    each("sum_axes", &|(a, ..)| drop(a.sum_axes(0)));
    each("sum_axes", &|(a, ..)| drop(a.sum_axes([0, 1])));
    each("sum_axes of none", &|(a, ..)| drop(a.sum_axes([0_usize; 0])));
    each("sum_axes_keepdims", &|(a, ..)| drop(a.t().sum_axes(keepdims(0))));
    each("sum_to_shape", &|(a, ..)| drop(a.sum_to([a.nrows(), 1])));
    each("sum_to_match", &|(a, row, _)| drop(a.sum_to(&*row)));
    each("into_sum_to_shape", &|(a, ..)| drop(std::mem::take(a).into_sum_to(1)));
    each("sum_to_shape_into", &|(a, row, _)| a.assign_sum_to(row).unwrap());
    each("sum_to_shape_into", &|(a, _, out)| a.assign_sum_to(out).unwrap());
    each("add_sum_to", &|(a, row, _)| a.add_sum_to(row).unwrap());
    each("scaled_add_sum_to", &|(a, row, _)| a.scaled_add_sum_to(Counted::new(3), row).unwrap());
    each("fused", &|(a, row, _)| {
        let times = |a: &Counted, b: &Counted| a.clone() * b.clone();
        drop(fused((&*a, &*row), times).sum_to([1, a.ncols()]));
        drop(fused((&*a, &*row), times).sum_to([a.nrows(), 1]));
    });
}

fn closures(each: Each<'_>, new: Each<'_>) {
    new("broadcast_map", &|(a, row, _)| {
        drop(broadcast_map((&*a, &*row), |a, b| {
            point();
            Counted::new(a.value + b.value)
        }));
    });
    each("broadcast_apply", &|(a, row, out)| {
        broadcast_apply(out, (&*a, &*row), |out, a, b| *out = a.clone() + b.clone()).unwrap();
    });
    new("materialize", &|(a, ..)| drop(a.materialize()));
    new("materialize", &|(a, ..)| drop(a.t().materialize()));
    each("materialize_into", &|(_, row, out)| row.materialize_into(out).unwrap());
}

#[allow(clippy::needless_pass_by_value, reason = "as `Batch::map` calls it")]
fn copy(from: ArrayView1<'_, Counted>, mut to: ArrayViewMut1<'_, Counted>) {
    point();
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.clone());
}

fn batches(each: Each<'_>) {
    each("Batch::map", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().map(a.ncols(), copy)));
    each("Batch::zip_map", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.zip_map(&y, a.ncols(), |x, _, out| copy(x, out)));
    });
    each("Batch::zip_map3", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.zip_map3(&y, &x, a.ncols(), |x, _, _, out| copy(x, out)));
    });
    each("Batch::zip_map_into", &|(a, row, out)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        x.zip_map_into(&y, out, |x, _, out| copy(x, out)).unwrap();
    });
    each("Batch::sum_batch_to", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().sum_batch_to(())));
    each("Batch::sum_batch_to_match", &|(a, row, _)| {
        drop(a.batch::<Ix1>().unwrap().sum_batch_to(&row.batch::<Ix1>().unwrap()));
    });
    each("Batch::add_sum_batch_to", &|(a, ..)| {
        let mut sums = Array1::from_iter((0..2).map(Counted::new)).slice_move(ndarray::s![..0]);
        let batch = a.batch::<Ix1>().unwrap();
        assert!(batch.add_sum_batch_to(&mut sums).is_err());
        let mut sums = Array1::from_iter((0..).map(Counted::new).take(a.ncols()));
        batch.add_sum_batch_to(&mut sums).unwrap();
    });
}

#[cfg(feature = "rayon")]
fn threads(each: Each<'_>, new: Each<'_>) {
    use ndarray_broadcast::{par_broadcast_apply, par_broadcast_map};
    each("par_sum_axes", &|(a, ..)| drop(a.par().sum_axes(0)));
    each("par_sum_axes_keepdims", &|(a, ..)| drop(a.par().sum_axes(keepdims(1))));
    each("par_sum_to_shape", &|(a, ..)| drop(a.par().sum_to(1)));
    each("par_sum_to_shape_into", &|(a, row, _)| a.par().assign_sum_to(row).unwrap());
    each("par_add_sum_to", &|(a, row, _)| a.par().add_sum_to(row).unwrap());
    each("par_scaled_add_sum_to", &|(a, row, _)| a.par().scaled_add_sum_to(Counted::new(3), row).unwrap());
    new("par_broadcast_map", &|(a, row, _)| drop(par_broadcast_map((&*a, &*row), |a, _| a.clone())));
    each("par_broadcast_apply", &|(a, row, out)| {
        par_broadcast_apply(out, (&*a, &*row), |out, a, b| *out = a.clone() + b.clone()).unwrap();
    });
    each("Batch::par_zip_map", &|(a, row, _)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        drop(x.par().zip_map(&y, a.ncols(), |x, _, out| copy(x, out)));
    });
    each("Batch::par_zip_map_into", &|(a, row, out)| {
        let (x, y) = (a.batch::<Ix1>().unwrap(), row.batch::<Ix1>().unwrap());
        x.par().zip_map_into(&y, out, |x, _, out| copy(x, out)).unwrap();
    });
}
