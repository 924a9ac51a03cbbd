//! An element whose operations are the test's: they count, panic, give wrong results or call the crate again.

use crate::forms::{Element, Form, base_operations, forms};
use num_traits::Zero;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

/// The result of an operation on probes, from the honest result and whether it is a clone.
pub type Hook = fn(f64, bool) -> f64;

pub fn honest(x: f64, _: bool) -> f64 {
    x
}

static HOOK: RwLock<Hook> = RwLock::new(honest);

/// To be held by a test with a hook, or one that counts elements: both are the process's.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` while operations give what `hook` makes of their results.
pub fn with_hook<R>(hook: Hook, work: impl FnOnce() -> R) -> R {
    *HOOK.write().expect("not poisoned") = hook;
    let result = catch_unwind(AssertUnwindSafe(work));
    *HOOK.write().expect("not poisoned") = honest;
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Calls the hook. Closures of a test call it where they may panic.
pub fn hooked(x: f64, is_clone: bool) -> f64 {
    let hook = *HOOK.read().expect("not poisoned");
    hook(x, is_clone)
}

/// Runs `work` with a panic after so many operations, of which the panic hook says nothing. Whether it came to its end.
pub fn interrupted(after: usize, work: impl FnOnce()) -> bool {
    static FUSE: AtomicI64 = AtomicI64::new(0);
    fn burn(x: f64, _: bool) -> f64 {
        if FUSE.fetch_sub(1, SeqCst) == 0 {
            resume_unwind(Box::new("the fuse"));
        }
        x
    }
    FUSE.store(i64::try_from(after).expect("few"), SeqCst);
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| with_hook(burn, work))) else { return true };
    assert!(FUSE.load(SeqCst) < 0 && panic.is::<&str>(), "another panic than that of the fuse");
    false
}

/// A hook of numbers in no order: clones differ, no zero is one, and comparisons contradict each other.
pub fn lie(_: f64, _: bool) -> f64 {
    static STATE: AtomicU64 = AtomicU64::new(1);
    let state = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, SeqCst).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, 3.0, 1.0, 0.5][(state >> 61) as usize]
}

/// What a probe has beside its value: nothing, or [`Alive`].
pub trait Token: Default + Debug + Send + Sync + 'static {
    fn check(&self) {}
}

impl Token for () {}

/// So many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bulk<const N: usize>([u8; N]);

impl<const N: usize> Default for Bulk<N> {
    fn default() -> Self {
        Self([N.to_le_bytes()[0]; N])
    }
}

impl<const N: usize> Token for Bulk<N> {
    fn check(&self) {
        assert_eq!([self.0[0], self.0[N - 1]], [N.to_le_bytes()[0]; 2], "an element in one piece");
    }
}

static ALIVE: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
static DROPPED_TWICE: AtomicUsize = AtomicUsize::new(0);

/// The number of an element in a list, as long as that is not dropped. It has no memory of its own, so that leak checkers do not mind
/// what a panic leaves.
#[derive(Debug)]
pub struct Alive(u64);

impl Default for Alive {
    fn default() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, SeqCst);
        ALIVE.lock().expect("not poisoned").insert(number);
        Self(number)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // not a panic: in a destructor it would end the process without words
        if !ALIVE.lock().expect("not poisoned").remove(&self.0) {
            DROPPED_TWICE.fetch_add(1, SeqCst);
        }
    }
}

impl Token for Alive {
    fn check(&self) {
        assert!(ALIVE.lock().expect("not poisoned").contains(&self.0), "an element that is alive");
    }
}

/// How many elements are alive, none of which was dropped twice.
pub fn alive() -> usize {
    assert_eq!(DROPPED_TWICE.load(SeqCst), 0, "dropped twice");
    ALIVE.lock().expect("not poisoned").len()
}

/// A number that is copied in one piece and that no loop adds in registers. What is no such number in memory is noticed.
#[derive(Debug)]
pub struct Probe<T> {
    value: f64,
    /// The bits of the value, inverted.
    check: [u64; 3],
    token: T,
}

/// Elements that are copied.
pub type Copied = Probe<()>;
/// Elements of 8,224 bytes: the kernel's copies have no room for two of them.
pub type Bulky = Probe<Bulk<8192>>;
/// Elements that are dropped, and counted.
pub type Owned = Probe<Alive>;

/// The forms for copied elements, compiled once for all programs.
pub fn forms_of_copied() -> Vec<Form<Copied>> {
    forms()
}

pub fn base_operations_of_copied() -> Vec<Form<Copied>> {
    base_operations()
}

/// The forms for elements that are dropped.
pub fn forms_of_owned() -> Vec<Form<Owned>> {
    forms()
}

impl<T: Token> Probe<T> {
    pub fn new(value: f64) -> Self {
        Self { value, check: [!value.to_bits(); 3], token: T::default() }
    }

    fn of(value: f64) -> Self {
        Self::new(hooked(value, false))
    }

    pub fn value(&self) -> f64 {
        assert_eq!(self.check, [!self.value.to_bits(); 3], "a number");
        self.token.check();
        self.value
    }
}

impl Copy for Copied {}
impl Copy for Bulky {}

#[allow(clippy::expl_impl_clone_on_copy, clippy::non_canonical_clone_impl, reason = "it calls the hook")]
impl<T: Token> Clone for Probe<T> {
    fn clone(&self) -> Self {
        Self::new(hooked(self.value(), true))
    }
}

impl<T: Token> Default for Probe<T> {
    fn default() -> Self {
        Self::of(0.0)
    }
}

crate::number_traits! {
    [T: Token] Probe<T>, f64: Self::of, |x| x.value();
    Add Sub Mul Div One FromPrimitive
}

impl<T: Token> Zero for Probe<T> {
    fn zero() -> Self {
        Self::of(0.0)
    }
    fn is_zero(&self) -> bool {
        hooked(self.value(), false) == 0.0
    }
}

impl<T: Token> PartialEq for Probe<T> {
    fn eq(&self, other: &Self) -> bool {
        hooked(self.value(), false) == hooked(other.value(), false)
    }
}

impl<T: Token> PartialOrd for Probe<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        hooked(self.value(), false).partial_cmp(&hooked(other.value(), false))
    }
}

impl<T: Token> Element for Probe<T> {
    fn times(&self, other: &Self) -> Self {
        self.clone() * other.clone()
    }

    fn join(self, other: Self) -> Self {
        Self::of(self.value().join(other.value()))
    }
}
