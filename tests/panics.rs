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
    let clash = || {
        let _: [usize; 1] = const_broadcast_shape([3], [4]);
    };
    let signature = || {
        let _ = Signature::literal("(3),(3)");
    };
    let seen = panics(&[&huge, &clash, &signature]);
    let messages = [
        "cannot broadcast shape [2305843009213693952] to [2305843009213693952]: the result [2305843009213693952] \
         with elements of 8 bytes is larger than isize::MAX bytes",
        "cannot broadcast the shapes together: an axis has two sizes that are not 1",
        "not a signature such as (m,n),(n)->(m)",
    ];
    for ((file, message), expected) in seen.iter().zip(messages) {
        assert!(file.ends_with("panics.rs"), "{file}: {message}");
        assert_eq!(message, expected);
    }
    assert_eq!(seen.len(), messages.len());
}
