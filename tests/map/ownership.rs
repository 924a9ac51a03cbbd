//! Elements that own something: none is lost, none is dropped twice, also where the closure panics. Maps of an array by
//! value: the memory that is reused, the storage that stays, and errors that give it back.

use common::probe::{self, Owned, alive, with_hook};
use common::{Choices, Layout, Random, Said, Strided, scrambled, signed, view_of_rank};
use ndarray::{
    ArcArray, Array, Array0, Array1, Array2, Array3, ArrayD, ArrayViewD, Dimension, ShapeBuilder, array, s,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, ErrorKind, broadcast_apply2, broadcast_map, fused};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Each element is cloned once, none is lost, and results have the values of the model.
#[test]
fn nothing_is_lost_or_cloned_twice() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    let _turn = probe::turn();
    let numbered = |shape: (usize, usize), f_order| {
        let mut i = 0.0;
        Array2::from_shape_simple_fn(shape.set_f(f_order), || {
            i += 1.0;
            Owned::new(i)
        })
    };
    let values = |array: &Array2<Owned>| array.map(Owned::value);
    let counted = |work: &mut dyn FnMut()| {
        CLONES.store(0, Relaxed);
        let count = |x, is_clone| {
            CLONES.fetch_add(usize::from(is_clone), Relaxed);
            x
        };
        with_hook(count, work);
        CLONES.load(Relaxed)
    };
    for f_order in [false, true] {
        let (a, row) = (numbered((5, 9), f_order), numbered((1, 9), f_order));
        let before = alive();
        let mut out = broadcast_map((&a, &row), |a, b| a.clone() + b.clone()).unwrap();
        assert_eq!((values(&out), alive()), (&values(&a) + &values(&row), before + 45));
        assert_eq!(counted(&mut || row.materialize_into(&mut out).unwrap()), 45);
        assert_eq!((values(&out.slice_move(s![..1, ..])), alive()), (values(&row), before + 45));
        let view = row.broadcast_to((5, 9)).unwrap();
        assert_eq!(counted(&mut || drop(view.materialize())), 45);
        // results that own memory over lanes of numbers, which are read side by side
        let numbers = Array2::from_shape_fn((300, 3), |(i, j)| f64::from(u16::try_from(i * 3 + j).unwrap()));
        let sums =
            fused((&numbers, &array![1.0, 10.0, 100.0]), |x, y| Owned::new(x * y)).sum_to((300, 1)).unwrap();
        assert_eq!(values(&sums), numbers.dot(&array![[1.0], [10.0], [100.0]]));
        drop(sums);
        assert!([before, before + 45].contains(&alive()));
    }
}

#[test]
fn threads_share_what_owns_memory() {
    use ndarray::Axis;
    let words = Array1::from_shape_fn(800, |i| i.to_string());
    let column = Array1::from_shape_fn(700, |i| "x".repeat(i % 7)).insert_axis(Axis(1));
    let join = |a: &String, b: &String| format!("{a}{b}");
    let one = broadcast_map((&words, &column), join).unwrap();
    let mut many = ndarray_broadcast::broadcast_map((&words, &column).par(), join).unwrap();
    assert_eq!(many, one);
    ndarray_broadcast::broadcast_apply(&mut many, words.par(), |out, x| out.push_str(x)).unwrap();
    assert_eq!(many[[699, 799]], format!("{}799", one[[699, 799]]));
    let panicked = catch_unwind(|| {
        ndarray_broadcast::broadcast_map((&words, &column).par(), |a, b| {
            assert!(a != "799" || b.len() < 5, "half-way");
            a.len()
        })
    });
    assert!(panicked.is_err());
}

#[test]
fn threads_visit_every_element_once() {
    let numbers = |i: usize, j: usize| (i * 1000 + j) as u64;
    for f_order in [false, true] {
        let a = Array2::from_shape_fn((700, 800).set_f(f_order), |(i, j)| numbers(i, j));
        let row = Array1::from_shape_fn(800, |j| numbers(j, 1));
        let mut out = Array2::<u64>::ones((800, 700).set_f(f_order)).reversed_axes();
        let (mut alone, mut visits) = (out.clone(), Array2::<u64>::zeros((700, 800)));
        ndarray_broadcast::broadcast_apply(&mut alone, (&a, &row).par(), |out, a, r| *out += a + r).unwrap();
        let count = |out: &mut u64, n: &mut u64, a: &u64, r: &u64| *out += a + r + std::mem::replace(n, 1);
        broadcast_apply2(&mut out, &mut visits, (&a, &row).par(), count).unwrap();
        assert!(visits.iter().all(|&n| n == 1));
        assert_eq!(alone, out);
        let expected = |((i, j), x): ((usize, usize), &u64)| *x == 1 + numbers(i, j) + numbers(j, 1);
        assert!(out.indexed_iter().all(expected));
        let mapped = ndarray_broadcast::broadcast_map((&a, &row).par(), |a, r| a + r + 1).unwrap();
        assert_eq!((mapped.strides(), &mapped), (a.strides(), &out));
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as a closure over operands takes them")]
fn f(a: &i64, b: &i64) -> i64 {
    3 * a - b
}

/// An array of any layout, and an operand that may go to its shape or may have more axes.
#[test]
fn as_a_new_array() {
    for case in 0..200 {
        let mut random = Random::of_case(7, case);
        let joint = random.small_shape(5, 600);
        let other = random.operand(&joint);
        let (own, other) = if random.one_in(2) { (other, joint) } else { (joint, other) };
        let own = Layout::to_write(&mut random, &own).for_copies();
        let other = Strided::numbered(Layout::to_read(&mut random, &other), 0);
        assert_as_a_new_array(&Strided::new(own, |place| scrambled(signed(place))), &other.view());
    }
}

fn assert_as_a_new_array(own: &Strided<i64>, other: &ArrayViewD<'_, i64>) {
    let before = own.clone().into_array();
    let expected = broadcast_map((&before, other), f);
    let (place, strides) = (before.as_ptr(), before.strides().to_vec());
    let reused = expected.as_ref().is_ok_and(|new| new.shape() == before.shape());
    let copy = before.clone();
    match before.into_broadcast_map(other, f) {
        Ok(result) => {
            assert_eq!(Ok(&result), expected.as_ref());
            assert!(result.is_empty() || (result.as_ptr() == place) == reused);
            assert!(!reused || result.strides() == strides);
        }
        Err(returned) => {
            assert_eq!(returned.error(), &expected.clone().unwrap_err());
            let before = returned.into_inner();
            assert_eq!((before.as_ptr(), &before), (place, &copy));
        }
    }
    let arc = copy.clone().into_shared().into_broadcast_map(other, f);
    assert_eq!(arc.map(ArcArray::into_owned).map_err(BroadcastError::from), expected.clone());
    let fixed: Result<ArrayD<i64>, BroadcastError> =
        view_of_rank!(copy.view(), own => sum_of(own.to_owned(), other));
    assert_eq!(fixed, expected);
}

fn sum_of<D, E>(own: Array<i64, D>, other: &ndarray::ArrayRef<i64, E>) -> Result<ArrayD<i64>, BroadcastError>
where
    D: Dimension + ndarray::DimMax<E>,
    E: Dimension,
{
    Ok(own.into_broadcast_map(other, f)?.into_dyn())
}

#[test]
fn one_to_five_operands() {
    let (a, row, cell) = (Array2::<i64>::ones((2, 3)), array![1, 2, 3], Array0::from_elem((), 10));
    let deep: Array3<u8> = Array3::ones((1, 1, 1));
    let place = a.as_ptr();
    let a = a.into_broadcast_map((&row,), |a, r| a + r).unwrap();
    let a = a.into_broadcast_map((&row, &cell), |a, r, c| a + r + c).unwrap();
    let a = a.into_broadcast_map((&row, &cell, row.view()), |a, r, c, d| a + r + c - d).unwrap();
    let a = a.into_broadcast_map((&row, &cell, &row, &cell), |a, r, c, d, e| a + r + c - d - e).unwrap();
    assert_eq!((a.as_ptr(), a.row(1).to_vec()), (place, vec![23, 25, 27]));
    let more = a.into_broadcast_map((&row, &cell, &row, &cell, &deep), |a, r, c, d, e, f| {
        a + r + c - d - e + i64::from(*f)
    });
    assert_eq!(more.unwrap(), array![[[24, 26, 28], [24, 26, 28]]]);
    let dynamic: ArrayD<i64> =
        array![1, 2].into_broadcast_map(&array![1, 2].into_dyn(), |a, b| a + b).unwrap();
    assert_eq!(dynamic, array![2, 4].into_dyn());
}

/// Elements that own memory: each is dropped once, whether overwritten or not.
#[test]
fn elements_that_own_memory() {
    let words = array!["a".to_string(), "b".to_string()];
    let place = words.as_ptr();
    let words = words.into_broadcast_map(&array!["x"], |a, b| a.clone() + b).unwrap();
    assert_eq!((words.as_ptr(), &words), (place, &array!["ax", "bx"].mapv(String::from)));
    let wide = words.into_broadcast_map(&array![["1"], ["2"]], |a, b| a.clone() + b).unwrap();
    assert_eq!(wide, array![["ax1", "bx1"], ["ax2", "bx2"]].mapv(String::from));
    let calls = std::cell::Cell::new(0);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wide.into_broadcast_map(&array!["!"], |a, b| {
            assert!(calls.replace(calls.get() + 1) < 2, "on purpose");
            a.clone() + b
        })
    }));
    assert!(caught.is_err());
}

#[test]
fn shared_memory() {
    let shared = Array2::<f64>::ones((2, 2)).into_shared();
    let (other, place) = (shared.clone(), shared.as_ptr());
    // outputs that share their memory, also with an operand
    let (mut first, mut second) = (shared.clone(), shared.clone().into_dyn());
    broadcast_apply2(&mut first, &mut second, shared.clone(), |a, b, x| (*a, *b) = (*a + x, *b - x)).unwrap();
    assert_eq!((first.sum(), second.sum(), shared.sum()), (8.0, 0.0, 4.0));
    let sum: ArcArray<f64, _> = shared.into_broadcast_map(&array![1.0, 2.0], |s, r| s + r).unwrap();
    assert_eq!((sum.as_ptr() == place, &other), (false, &Array2::ones((2, 2)).into_shared()));
    let alone = other.into_broadcast_map(&array![1.0, 2.0], |s, r| s - r).unwrap();
    assert_eq!((alone.as_ptr(), alone), (place, array![[0.0, -1.0], [0.0, -1.0]].into_shared()));
    // a part of what nobody shares
    let part = sum.slice_move(ndarray::s![.., 1..]);
    let place = part.as_ptr();
    let part = part.into_broadcast_map(&array![3.0], |s, r| s * r).unwrap();
    assert_eq!((part.as_ptr(), part), (place, array![[9.0], [9.0]].into_shared()));
    let returned = Array1::<f64>::ones(3).into_shared().into_broadcast_map(&array![1.0, 2.0], |s, r| s + r);
    assert_eq!(returned.unwrap_err().into_inner().len(), 3);
}

/// Further operands by value, and arrays that the caller keeps: neither is changed.
#[test]
fn further_operands_by_value() {
    let (small, large) = (array![1.0, 2.0], array![[1.0, 2.0], [3.0, 4.0]]);
    let (ratios, ratio) = (array![[1.0, 1.0], [1.0 / 3.0, 0.5]], |s: &f64, l: &f64| s / l);
    let of_array: Array2<f64> = small.clone().into_broadcast_map(large.clone(), ratio).unwrap();
    let (shared, kept) = (large.to_shared(), large.to_shared());
    let first = kept.clone();
    let of_arc: Array2<f64> = small.into_broadcast_map(shared, ratio).unwrap();
    assert_eq!((of_array, of_arc), (ratios.clone(), ratios));
    let ones: ArcArray<f64, _> = first.into_broadcast_map(kept.clone(), ratio).unwrap();
    assert_eq!((ones.into_owned(), kept.into_owned()), (Array2::ones((2, 2)), large));
}

#[test]
fn words() {
    let returned = array![1, 2, 3].into_broadcast_map((&array![[1]], &array![1, 2]), |a, _, _| *a);
    let error = returned.as_ref().unwrap_err();
    let forms = [error.to_string(), format!("{error:?}"), format!("{error:#}")];
    let boxed: Box<dyn std::error::Error> = Box::new(error.clone());
    let message = boxed.to_string();
    let error = Said::by("map: words").error(ErrorKind::Incompatible, returned.map_err(BroadcastError::from));
    assert_eq!(forms, [error.to_string(), format!("{error:?}"), format!("{error:#}")]);
    assert_eq!(message, error.to_string());
}
