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
    let copy = |count: usize, size| match size {
        1 => arr0(1_u8).broadcast_to([count]).and_then(|all| all.try_materialize().map(drop)),
        _ => arr0(1.0).broadcast_to([count]).and_then(|all| all.try_materialize().map(drop)),
    };
    let errors = [copy(1 << 61, 8), copy(1 << 62, 1)];
    let mut messages = errors.map(|error| error.expect_err("an error").to_string()).to_vec();
    // Functions that also run in constants name the rule.
    messages.extend([
        "cannot broadcast the shapes together: an axis has two sizes, expected equal sizes or 1".into(),
        "cannot broadcast the shapes together: the non-zero sizes of the result multiply past isize::MAX"
            .into(),
        "cannot read the signature: `Signature::new` has the position in its error".into(),
    ]);
    for ((file, message), expected) in seen.iter().zip(&messages) {
        assert!(file.ends_with("panics.rs"), "{file}: {message}");
        assert_eq!(message, expected);
    }
    assert_eq!(seen.len(), messages.len());
}
