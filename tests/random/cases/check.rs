//! What a result is held against.

use common::{Strided, indices, overflows, read_at, variant};
use ndarray::{ArrayRef, ArrayView, Dimension};
use ndarray_broadcast::BroadcastError;

/// What the model says: a value, or the name of the error.
pub(crate) type Verdict<T> = Result<T, &'static str>;

/// The value, if the model has one too; both agree that there is one, or on the error.
#[track_caller]
pub(crate) fn agreed<T, U>(result: Result<T, BroadcastError>, expected: &Verdict<U>) -> Option<(T, &U)> {
    match (result, expected) {
        (Ok(value), Ok(expected)) => Some((value, expected)),
        (Err(error), Err(name)) => {
            assert_refused(&error, name);
            None
        }
        (Ok(_), Err(name)) => panic!("succeeded, expected {name}"),
        (Err(error), Ok(_)) => panic!("refused: {error:?}"),
    }
}

/// An error of this name, which can be printed, compared and turned into ndarray's.
#[track_caller]
pub(crate) fn assert_refused(error: &BroadcastError, name: &str) {
    assert_eq!(variant(error), name, "{error}");
    let message = error.to_string();
    assert!(message.starts_with("cannot "), "{message}");
    assert_eq!(format!("{error:?}"), format!("{name}: {message}"));
    assert_eq!(error, &error.clone());
    let _: ndarray::ShapeError = error.clone().into();
}

/// Some indices of a shape: all of them where they are few, else the corners and what lies between.
pub(crate) fn probes(shape: &[usize]) -> Vec<Vec<usize>> {
    if shape.contains(&0) {
        return vec![];
    }
    let len = shape.iter().try_fold(1_usize, |len, &size| len.checked_mul(size));
    if len.is_some_and(|len| len <= 5000) {
        return indices(shape);
    }
    let at = |k: usize| shape.iter().map(|&size| (size - 1) / 3 * k).collect();
    let last = shape.iter().map(|&size| size - 1).collect();
    vec![at(0), at(1), at(2), last]
}

/// Asserts that a view has the shape `shape` and at each index the very element that the source has at the index
/// read at `places`.
#[track_caller]
pub(crate) fn assert_view<A, D: Dimension>(
    view: &ArrayView<'_, A, D>,
    shape: &[usize],
    source: &Strided<A>,
    places: &[usize],
) {
    assert_eq!(view.shape(), shape);
    assert!(!overflows(shape));
    let view = view.view().into_dyn();
    for index in probes(shape) {
        let expected = source.at(&read_at(&index, source.shape(), places));
        assert!(
            std::ptr::eq(&raw const view[index.as_slice()], expected),
            "at {index:?} of {:?}",
            source.layout
        );
    }
}

/// Asserts the elements in row-major order.
#[track_caller]
pub(crate) fn assert_array<A, D>(array: &ArrayRef<A, D>, shape: &[usize], expected: &[A])
where
    A: PartialEq + std::fmt::Debug,
    D: Dimension,
{
    assert_eq!(array.shape(), shape);
    assert!(array.iter().eq(expected), "{:?}, expected {expected:?}", array.iter().collect::<Vec<_>>());
}

/// Whether each of these sizes is 1 or that of its place in `shape`.
pub(crate) fn stretches(sizes: &[usize], places: &[usize], shape: &[usize]) -> bool {
    sizes.iter().zip(places).all(|(&size, &axis)| size == 1 || size == shape[axis])
}

/// Whether `f` panics. The message is not printed, and a fuzzer does not take it for a crash.
pub(crate) fn panics(f: impl FnOnce()) -> bool {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    use std::sync::Once;
    thread_local!(static EXPECTED: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                hook(info);
            }
        }));
    });
    EXPECTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    EXPECTED.set(false);
    result.is_err()
}
