//! Results that memory cannot be had for: an error, at once, and the operands as they were.
//!
//! Each result takes 2^62 bytes: fewer than `isize::MAX`, more than any machine has addresses for.
#![allow(clippy::unwrap_used, reason = "tests")]

use common::assert_words;
use ndarray::{
    Array, Array1, ArrayD, ArrayView1, ArrayView2, ArrayViewMut0, ErrorKind, Ix0, Ix1, Ix2, arr0, aview0,
};
use ndarray_broadcast::{BroadcastError, broadcast_map, fused};
use ndarray_broadcast::{keepdims, prelude::*};

/// So many `f64`.
const MANY: usize = 1 << 59;

/// An allocator that looks for errors may end the program instead of refusing.
fn is_sanitized() -> bool {
    option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer"))
}

/// One number in every place: `MANY` rows of 4.
fn rows() -> ArrayView2<'static, f64> {
    aview0(&1.0).into_broadcast_to((MANY, 4)).unwrap()
}

fn many() -> ArrayView1<'static, f64> {
    aview0(&1.0).into_broadcast_to(MANY).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T, BroadcastError>, operation: &str, shape: &[usize]) {
    let message = format!(
        "cannot {operation}: the result {shape:?} takes 4611686018427387904 bytes, which cannot be allocated"
    );
    assert_words(result, "TooLarge", &message, ErrorKind::Overflow);
}

#[test]
fn sums() {
    if is_sanitized() {
        return;
    }
    let rows = rows();
    let over = "sum shape [576460752303423488, 4] over axes [1]";
    refused(rows.sum_axes(1), over, &[MANY]);
    refused(rows.sum_axes(keepdims(1)), over, &[MANY, 1]);
    refused(many().sum_axes([]), "sum shape [576460752303423488] over axes []", &[MANY]);
    let to = "sum shape [576460752303423488, 4] to [576460752303423488, 1]";
    refused(rows.sum_to((MANY, 1)), to, &[MANY, 1]);
    refused(many().sum_to(&many()), "sum shape [576460752303423488] to [576460752303423488]", &[MANY]);
    let placed = "sum shape [576460752303423488, 4] with its axes [0] to [576460752303423488]";
    refused(rows.sum_in_dim(MANY, 0), placed, &[MANY]);
    refused(rows.sum_in_dim(&many(), 0), placed, &[MANY]);
    let bases = rows.batch::<Ix0>().unwrap();
    refused(
        bases.sum_batch_to((MANY, 1)),
        "sum batch shape [576460752303423488, 4] of (576460752303423488, 4;) to [576460752303423488, 1]",
        &[MANY, 1],
    );
}

/// Elements that own memory have sums of their own.
#[test]
fn sums_of_other_elements() {
    #[derive(Clone, PartialEq, Debug)]
    struct Boxed(Box<u8>);
    impl std::ops::Add for Boxed {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            Self(Box::new(*self.0 + *other.0))
        }
    }
    impl num_traits::Zero for Boxed {
        fn zero() -> Self {
            Self(Box::new(0))
        }
        fn is_zero(&self) -> bool {
            *self.0 == 0
        }
    }
    if is_sanitized() {
        return;
    }
    let one = arr0(Boxed(Box::new(1)));
    let rows = one.broadcast_to((MANY, 4)).unwrap();
    refused(rows.sum_axes(1), "sum shape [576460752303423488, 4] over axes [1]", &[MANY]);
    assert_eq!(one.into_scalar(), Boxed(Box::new(1)));
}

#[test]
fn means_and_reductions() {
    if is_sanitized() {
        return;
    }
    let rows = rows();
    let mean = "take the mean of shape [576460752303423488, 4] over axes [1]";
    refused(rows.mean_axes(1), mean, &[MANY]);
    refused(rows.mean_axes(keepdims(1)), mean, &[MANY, 1]);
    let reduce = "reduce shape [576460752303423488, 4] over axes [1]";
    refused(rows.reduce_axes(1, 0.0, f64::max), reduce, &[MANY]);
    refused(rows.reduce_axes(keepdims(1), 0.0, f64::max), reduce, &[MANY, 1]);
}

#[test]
fn maps() {
    if is_sanitized() {
        return;
    }
    let (rows, many) = (rows(), many());
    let together = "broadcast shapes [576460752303423488] and [] together";
    refused(broadcast_map((&many, &arr0(1.0)), |a, b| a + b), together, &[MANY]);
    let own = Array1::from_elem(1, 7.0);
    let place = own.as_ptr();
    let returned = own.into_broadcast_map(&many, |a, b| a + b).unwrap_err();
    refused::<()>(
        Err(returned.error().clone()),
        "broadcast shapes [1] and [576460752303423488] together",
        &[MANY],
    );
    let own = returned.into_inner();
    assert_eq!((own.as_ptr(), own[0]), (place, 7.0));
    let sum = "sum shape [576460752303423488, 4] to [576460752303423488, 1]";
    refused(fused(rows, |a| a + 1.0).sum_to((MANY, 1)), sum, &[MANY, 1]);
    refused(
        fused(rows, |&a| a).reduce_to((MANY, 1), 0.0, f64::max),
        "reduce shape [576460752303423488, 4] to [576460752303423488, 1]",
        &[MANY, 1],
    );
}

#[test]
fn copies() {
    if is_sanitized() {
        return;
    }
    refused(many().try_materialize(), "materialize shape [576460752303423488]", &[MANY]);
    let one = arr0(String::from("a")).into_dyn();
    let all = one.broadcast_to(&[1_usize << 62][..]).unwrap();
    let error = all.try_materialize().unwrap_err().to_string();
    assert!(error.ends_with("with elements of 24 bytes is larger than isize::MAX bytes"), "{error}");
    let copy: ArrayD<String> = one.try_materialize().unwrap();
    assert_eq!(copy, one);
}

#[test]
fn batches() {
    if is_sanitized() {
        return;
    }
    let rows = rows();
    let x = rows.batch::<Ix1>().unwrap();
    let first = |_: ArrayView1<'_, f64>, mut out: ArrayViewMut0<'_, f64>| out[()] = 1.0;
    refused(
        x.zip_map((), (), first),
        "make base shape [] of each batch element of (576460752303423488; 4)",
        &[MANY],
    );
    let two =
        "make base shape [] of each batch element of (576460752303423488; 4) and (576460752303423488; 4)";
    refused(x.zip_map(&x, (), |a, _, out| first(a, out)), two, &[MANY]);
    refused(
        x.zip_map((&x, &x), (), |a, _, _, out| first(a, out)),
        "make base shape [] of each batch element of (576460752303423488; 4), (576460752303423488; 4) and \
         (576460752303423488; 4)",
        &[MANY],
    );
    refused(x.inner(&x), two, &[MANY]);
    let scalar = arr0(1.0);
    let scalar = scalar.batch::<Ix0>().unwrap();
    let wide = many();
    let wide = wide.batch::<Ix0>().unwrap();
    let each = "make base shape [] of each batch element of (576460752303423488;) and (;)";
    refused(wide.add(&scalar), each, &[MANY]);
    // large enough for the library's products
    let (tall, flat) = (
        aview0(&1.0).into_broadcast_to((1_usize << 30, 8)).unwrap(),
        aview0(&1.0).into_broadcast_to((8, 1_usize << 29)).unwrap(),
    );
    refused(
        tall.batch::<Ix2>().unwrap().matmul(&flat.batch::<Ix2>().unwrap()),
        "make base shape [1073741824, 536870912] of each batch element of (; 1073741824, 8) and (; 8, 536870912)",
        &[1 << 30, 1 << 29],
    );
    let (u, v) = (tall.index_axis(ndarray::Axis(1), 0), flat.index_axis(ndarray::Axis(0), 0));
    refused(
        u.batch::<Ix1>().unwrap().outer(&v.batch::<Ix1>().unwrap()),
        "make base shape [1073741824, 536870912] of each batch element of (; 1073741824) and (; 536870912)",
        &[1 << 30, 1 << 29],
    );
}

/// Elements without size need no memory, however many there are.
#[test]
fn elements_without_size() {
    let none = Array::from_elem((), ());
    let all = none.broadcast_to(1000).unwrap();
    assert_eq!(all.try_materialize().unwrap().len(), 1000);
    assert_eq!(broadcast_map(&all, |()| ()).unwrap().len(), 1000);
}
