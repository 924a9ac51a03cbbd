//! Maps of an array by value: the memory that is reused, the storage that stays, and errors that give it back.

use common::{Layout, assert_words, layout, layout_to_write, operand_of, scrambled, shape, view_of_rank};
use ndarray::{ArcArray, Array, Array0, Array1, Array2, Array3, ArrayD, Dimension, ErrorKind, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, broadcast_map};
use proptest::prelude::*;

/// An array of any layout, and an operand that may go to its shape or may have more axes.
fn array_and_operand() -> impl Strategy<Value = (Layout, Layout)> {
    (shape(5), prop::bool::weighted(0.2), any::<bool>()).prop_flat_map(|(joint, clash, swap)| {
        let other = operand_of(joint.clone(), clash);
        other.prop_flat_map(move |other| {
            let (own, other) = if swap { (other, joint.clone()) } else { (joint.clone(), other) };
            (layout_to_write(own), layout(other))
        })
    })
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as a closure over operands takes them")]
fn f(a: &i64, b: &i64) -> i64 {
    3 * a - b
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn as_a_new_array((own, other) in array_and_operand()) {
        let owned = || own.steps_from(own.base().mapv(scrambled));
        let (other, before) = (other.view(), owned());
        let expected = broadcast_map((&before, &other), f);
        let (place, strides) = (before.as_ptr(), before.strides().to_vec());
        let reused = expected.as_ref().is_ok_and(|new| new.shape() == before.shape());
        let copy = before.clone();
        match before.into_broadcast_map(&other, f) {
            Ok(result) => {
                prop_assert_eq!(Ok(&result), expected.as_ref());
                prop_assert!(result.is_empty() || (result.as_ptr() == place) == reused);
                prop_assert!(!reused || result.strides() == strides);
            }
            Err(returned) => {
                prop_assert_eq!(returned.error(), &expected.clone().unwrap_err());
                let before = returned.into_inner();
                prop_assert_eq!((before.as_ptr(), &before), (place, &copy));
            }
        }
        let arc = |shared: &ArrayD<i64>| shared.clone().into_shared().into_broadcast_map(&other, f);
        prop_assert_eq!(arc(&copy).map(ArcArray::into_owned).map_err(BroadcastError::from), expected.clone());
        let fixed: Result<ArrayD<i64>, BroadcastError> = view_of_rank!(copy.view(), own => {
            view_of_rank!(other.clone(), other => sum_of(own.to_owned(), &other))
        });
        prop_assert_eq!(fixed, expected);
    }
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

#[test]
fn words() {
    let returned = array![1, 2, 3].into_broadcast_map((&array![[1]], &array![1, 2]), |a, _, _| *a);
    let message = "cannot broadcast shapes [3], [1, 1] and [2] together: \
        axis 1 has sizes 3 and 2 (shapes 0 and 2), expected equal sizes or 1";
    let error = returned.as_ref().unwrap_err();
    assert_eq!(
        (error.to_string(), format!("{error:?}")),
        (message.into(), format!("Incompatible: {message}"))
    );
    assert_eq!(format!("{error:#}"), format!("{:#}", error.error()));
    let boxed: Box<dyn std::error::Error> = Box::new(error.clone());
    assert_eq!(boxed.to_string(), message);
    assert_words(
        returned.map_err(BroadcastError::from),
        "Incompatible",
        message,
        ErrorKind::IncompatibleShape,
    );
}
