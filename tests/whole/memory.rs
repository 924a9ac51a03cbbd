//! Results that memory cannot be had for: an error, at once, and the operands as they were.
//!
//! Each result takes 2^62 bytes: fewer than `isize::MAX`, more than any machine has addresses for.
#![allow(clippy::unwrap_used, reason = "tests")]

use common::{Said, probe::Owned};
use ndarray::{Array, Array1, ArrayView1, ArrayView2, ArrayViewMut0, Axis, Ix0, Ix1, Ix2, arr0, aview0};
use ndarray_broadcast::{ErrorKind, broadcast_map, fused, keepdims, prelude::*};

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

#[test]
fn results_that_no_memory_is_for() {
    if is_sanitized() {
        return;
    }
    let mut refused = Said::by("whole: results that no memory is for");
    let (rows, many, scalar) = (rows(), many(), arr0(1.0));
    refused.error(ErrorKind::TooLarge, rows.sum_axes(1));
    refused.error(ErrorKind::TooLarge, rows.sum_axes(keepdims(1)));
    refused.error(ErrorKind::TooLarge, many.sum_axes([]));
    refused.error(ErrorKind::TooLarge, rows.sum_to((MANY, 1)));
    refused.error(ErrorKind::TooLarge, many.sum_to(&many));
    refused.error(ErrorKind::TooLarge, rows.sum_in_dim(MANY, 0));
    refused.error(ErrorKind::TooLarge, rows.batch::<Ix0>().unwrap().sum_batch_to((MANY, 1)));
    refused.error(ErrorKind::TooLarge, rows.mean_axes(1));
    refused.error(ErrorKind::TooLarge, rows.reduce_axes(keepdims(1), 0.0, f64::max));
    refused.error(ErrorKind::TooLarge, fused(rows, |a| a + 1.0).sum_to((MANY, 1)));
    refused.error(ErrorKind::TooLarge, fused(rows, |&a| a).reduce_to((MANY, 1), 0.0, f64::max));
    refused.error(ErrorKind::TooLarge, broadcast_map((&many, &scalar), |a, b| a + b));
    refused.error(ErrorKind::TooLarge, many.try_materialize());
    // elements that are dropped have sums of their own
    let one = arr0(Owned::new(1.0));
    refused.error(ErrorKind::TooLarge, one.broadcast_to((MANY / 8, 4)).unwrap().sum_axes(1));
    let all = arr0(String::from("a")).into_dyn();
    refused.error(ErrorKind::TooLarge, all.broadcast_to(&[1_usize << 62][..]).unwrap().try_materialize());
    let x = rows.batch::<Ix1>().unwrap();
    let first = |_: ArrayView1<'_, f64>, mut out: ArrayViewMut0<'_, f64>| out[()] = 1.0;
    refused.error(ErrorKind::TooLarge, x.zip_map((), (), first));
    refused.error(ErrorKind::TooLarge, x.zip_map(&x, (), |a, _, out| first(a, out)));
    refused.error(ErrorKind::TooLarge, x.zip_map((&x, &x), (), |a, _, _, out| first(a, out)));
    refused.error(ErrorKind::TooLarge, x.inner(&x));
    refused.error(ErrorKind::TooLarge, many.batch::<Ix0>().unwrap().add(&scalar.batch::<Ix0>().unwrap()));
    // large enough for the library's products
    let one = aview0(&1.0);
    let tall = one.into_broadcast_to((1_usize << 30, 8)).unwrap();
    let flat = one.into_broadcast_to((8, 1_usize << 29)).unwrap();
    refused.error(ErrorKind::TooLarge, tall.batch::<Ix2>().unwrap().matmul(&flat.batch::<Ix2>().unwrap()));
    let (u, v) = (tall.index_axis(Axis(1), 0), flat.index_axis(Axis(0), 0));
    refused.error(ErrorKind::TooLarge, u.batch::<Ix1>().unwrap().outer(&v.batch::<Ix1>().unwrap()));
    // an array that is given back
    let own = Array1::from_elem(1, 7.0);
    let place = own.as_ptr();
    let returned = own.into_broadcast_map(&many, |a, b| a + b).unwrap_err();
    refused.error::<()>(ErrorKind::TooLarge, Err(returned.error().clone()));
    let own = returned.into_inner();
    assert_eq!((own.as_ptr(), own[0]), (place, 7.0));
}

/// Elements without size need no memory, however many there are.
#[test]
fn elements_without_size() {
    let none = Array::from_elem((), ());
    let all = none.broadcast_to(1000).unwrap();
    assert_eq!(all.try_materialize().unwrap().len(), 1000);
    assert_eq!(broadcast_map(&all, |()| ()).unwrap().len(), 1000);
}
