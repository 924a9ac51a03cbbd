//! Only passes that are worth it leave the calling thread.

use ndarray::{Array2, ArrayView1, ArrayViewMut0, Ix1};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map};
use num_traits::Zero;
use std::collections::BTreeSet;
use std::ops::Add;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The threads that called [`note`].
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn note() {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(format!("{:?}", thread::current().id()));
}

/// Whether `pass` notes the calling thread, and whether it notes others.
fn seen(pass: impl FnOnce()) -> [bool; 2] {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
    pass();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(!seen.is_empty(), "something was computed");
    let is_there = seen.contains(&format!("{:?}", thread::current().id()));
    [is_there, seen.len() > usize::from(is_there)]
}

/// Whether `pass` notes the calling thread alone, or only others.
fn stays(pass: impl FnOnce()) -> bool {
    let [is_there, others] = seen(pass);
    assert!(!is_there || !others, "the calling thread waits for the others");
    is_there
}

/// A number that notes where it is added.
#[derive(Clone, Debug, PartialEq)]
struct Noted(u64);

impl Add for Noted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        note();
        Self(self.0 + other.0)
    }
}

impl Zero for Noted {
    fn zero() -> Self {
        Self(0)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

/// Whether each parallel pass over an array of this shape stays on the calling thread.
fn passes(shape: [usize; 2]) -> [bool; 5] {
    let (x, row) = (Array2::from_elem(shape, 1_u8), Array2::from_elem([1, shape[1]], 1_u8));
    let (mut out, noted) = (x.clone(), Array2::from_elem(shape, Noted(1)));
    let add = |x: &u8, y: &u8| {
        note();
        x + y
    };
    let inner = |x: ArrayView1<'_, u8>, y: ArrayView1<'_, u8>, mut out: ArrayViewMut0<'_, u8>| {
        note();
        out[()] = x[0] + y[0];
    };
    [
        stays(|| drop(broadcast_map((&x, &row).par(), add).expect("shapes that go together"))),
        stays(|| broadcast_apply(&mut out, (&row,).par(), |x, y| *x = add(x, y)).expect("a smaller shape")),
        stays(|| drop(noted.par().sum_axes(1).expect("an axis"))),
        // the calling thread stores the sums of columns that others have added up
        !seen(|| drop(noted.par().sum_axes(0).expect("an axis")))[1],
        stays(|| {
            let [a, b] = [&x, &row].map(|x| x.batch::<Ix1>().expect("a base"));
            drop(a.par().zip_map(&b, (), inner).expect("bases"));
        }),
    ]
}

#[test]
fn only_large_passes_leave_the_calling_thread() {
    // what a closure costs that sees whole bases is unknown
    assert_eq!(passes([2, 3]), [true, true, true, true, false]);
    // two halves of 2^18 elements, and one element less
    assert_eq!(passes([1 << 12, 1 << 7]), [false; 5]);
    assert_eq!(passes([(1 << 12) - 1, 1 << 7]), [true, true, true, true, false]);
}
