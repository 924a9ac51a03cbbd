//! What panics by contract says so at the line of the caller, and in words that explain.

use ndarray::arr0;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Signature, const_broadcast_shape};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Mutex};

/// The file and the message of each panic.
fn panics(calls: &[&dyn Fn()]) -> Vec<(String, String)> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let file = info.location().map(|at| at.file().to_string()).unwrap_or_default();
        let words = info.payload().downcast_ref::<&str>().map(ToString::to_string);
        let message = words.or_else(|| info.payload().downcast_ref().cloned()).unwrap_or_default();
        record.lock().expect("not poisoned").push((file, message));
    }));
    for call in calls {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "the call panics");
    }
    drop(take_hook());
    seen.lock().expect("not poisoned").clone()
}

#[test]
fn the_caller_is_named() {
    let huge = || {
        let one = arr0(1_u64);
        let all = one.broadcast_to([1_usize << 61]).expect("a view costs nothing");
        let _ = all.materialize();
    };
    let unavailable = || {
        let one = arr0(1_u8);
        let all = one.broadcast_to([1_usize << 62]).expect("a view costs nothing");
        let _ = all.materialize();
    };
    let clash = || {
        let _: [usize; 2] = const_broadcast_shape([2, 3], [10]);
    };
    let overflow = || {
        let _: [usize; 2] = const_broadcast_shape([1 << 62, 1], [4]);
    };
    let signature = || {
        let _ = Signature::literal("(3),(3)");
    };
    let seen = panics(&[&huge, &unavailable, &clash, &overflow, &signature]);
    let messages = [
        "cannot materialize shape [2305843009213693952]: the result [2305843009213693952] \
         with elements of 8 bytes is larger than isize::MAX bytes",
        "cannot materialize shape [4611686018427387904]: the result [4611686018427387904] \
         takes 4611686018427387904 bytes, which cannot be allocated",
        "cannot broadcast shapes [2, 3] and [10] together: axis 1 has sizes 3 and 10, expected equal sizes or 1",
        "cannot broadcast shapes [4611686018427387904, 1] and [4] together: \
         the non-zero sizes of the result [4611686018427387904, 4] multiply past isize::MAX",
        "cannot read \"(3),(3)\": position 7 needs a comma or ->",
    ];
    for ((file, message), expected) in seen.iter().zip(messages) {
        assert!(file.ends_with("panics.rs"), "{file}: {message}");
        assert_eq!(message, expected);
    }
    assert_eq!(seen.len(), messages.len());
}
