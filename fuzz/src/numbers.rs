//! Element types: numbers of which every sum here is exact, and one that counts how many there are.

use num_traits::Zero;
use std::cell::Cell;
use std::fmt::Debug;
use std::ops::{Add, Mul};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// A number type that the model's small whole numbers can be turned into, and back.
pub trait Number: Clone + Zero + Mul<Output = Self> + PartialEq + Debug + Send + Sync + 'static {
    fn of(number: i64) -> Self;

    fn number(&self) -> i64;
}

macro_rules! numbers {
    ($($T:ty)*) => { $(impl Number for $T {
        fn of(number: i64) -> Self {
            number as $T
        }

        fn number(&self) -> i64 {
            *self as i64
        }
    })* };
}
numbers!(i64 i32 i128 f32 f64);

/// How many [`Counted`] there are.
static ALIVE: AtomicI64 = AtomicI64::new(0);

const HERE: u64 = 0x5AFE_5AFE_5AFE_5AFE;

/// A number with a `Drop`: it sees when it is used or dropped where there is none, and counts how many there are.
///
/// It is not on the heap, so that one may be forgotten where a panic is passed on.
#[derive(Debug)]
pub struct Counted {
    number: i64,
    here: u64,
}

impl Number for Counted {
    fn of(number: i64) -> Self {
        ALIVE.fetch_add(1, SeqCst);
        Self { number, here: HERE }
    }

    fn number(&self) -> i64 {
        assert_eq!(self.here, HERE, "an element that is not there");
        self.number
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        tick();
        Self::of(self.number())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert_eq!(self.here, HERE, "an element that is not there is dropped");
        self.here = 0;
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl Default for Counted {
    fn default() -> Self {
        Self::of(0)
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of(self.number() + other.number())
    }
}

impl Mul for Counted {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::of(self.number() * other.number())
    }
}

impl Zero for Counted {
    fn zero() -> Self {
        Self::of(0)
    }

    fn is_zero(&self) -> bool {
        self.number() == 0
    }
}

/// Runs `f`, after which there are as many [`Counted`] as before: none was lost, none dropped twice.
pub fn balanced(f: impl FnOnce()) {
    assert_eq!(change(f), 0, "elements that are lost, or dropped twice");
}

/// How many more [`Counted`] there are after `f`.
pub fn change(f: impl FnOnce()) -> i64 {
    let before = ALIVE.load(SeqCst);
    f();
    ALIVE.load(SeqCst) - before
}

thread_local!(static TICKS: Cell<Option<usize>> = const { Cell::new(None) });

/// Runs `f`, in which the `count`th [`tick`] of this thread unwinds; whether it got there.
pub fn unwinding(count: usize, f: impl FnOnce()) -> bool {
    TICKS.set(Some(count));
    let result = catch_unwind(AssertUnwindSafe(f));
    TICKS.set(None);
    match result {
        Ok(()) => false,
        Err(payload) if payload.is::<Tick>() => true,
        Err(payload) => resume_unwind(payload),
    }
}

struct Tick;

/// A call of foreign code: of a closure or of `clone`.
pub fn tick() {
    match TICKS.get() {
        // without the panic hook, which a fuzzer takes for a crash
        Some(0) => {
            TICKS.set(None);
            resume_unwind(Box::new(Tick));
        }
        Some(left) => TICKS.set(Some(left - 1)),
        None => {}
    }
}
