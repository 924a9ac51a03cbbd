//! Calls, what they cost and what comes of them.

use common::Said;
use ndarray_broadcast::{BroadcastError, ErrorKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The system's allocator, which remembers the largest allocation.
struct Watching;

/// In bytes, of all threads. What the system refused, as it does `isize::MAX` truth values, is none.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: Every call goes to `System` unchanged, which keeps the contract; remembering does not allocate.
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the contract of `alloc`, which is that of `System`.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            LARGEST.fetch_max(layout.size(), Relaxed);
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The pointer comes from `alloc`, so from `System`, with the same layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

/// How long all threads of the process have run: what other processes do does not count.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[allow(unsafe_code, reason = "the standard library does not ask for this time")]
fn now() -> Duration {
    use std::ffi::{c_int, c_long};
    #[repr(C)]
    struct Time {
        seconds: c_long,
        nanoseconds: c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
    }
    const PROCESS: c_int = 2;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: This is the function of the C library, and `Time` its `timespec` where `long` has 64 bits.
    assert_eq!(unsafe { clock_gettime(PROCESS, &raw mut time) }, 0);
    Duration::new(time.seconds.try_into().unwrap(), time.nanoseconds.try_into().unwrap())
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// The stack of a small thread, as in `tests/whole/small_threads.rs`.
const STACK: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// The CPU time that no call may take. The slowest one takes a second without optimisation. With `THOROUGH=1`, one that is
/// quadratic in half a million axes takes minutes.
const LONGEST: Duration = Duration::from_secs(100);

/// What the calls so far took, and what was wrong with them.
#[derive(Default)]
pub(crate) struct Table {
    /// The messages of the errors. Without it, each call runs on a thread with little stack: one that needs more ends the test
    /// program.
    said: Option<Said>,
    calls: usize,
    slowest: (Duration, &'static str),
    largest: (usize, &'static str),
    faults: Vec<String>,
}

/// What came of a call, to be compared with what should come of it: nothing if it panicked.
#[must_use]
pub(crate) struct Outcome<'t, T> {
    table: &'t mut Table,
    name: &'static str,
    value: Option<T>,
}

impl Table {
    /// The table of this name in `tests/messages.txt`.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { said: Some(Said::by(name)), ..Self::default() }
    }

    /// A table whose calls run on threads with little stack.
    pub(crate) fn small() -> Self {
        Self::default()
    }

    /// Calls the function `name`.
    pub(crate) fn call<T: Send>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> T + Send,
    ) -> Outcome<'_, T> {
        self.calls += 1;
        let value = self.measured(name, work);
        Outcome { table: self, name, value }
    }

    fn measured<T: Send>(&mut self, name: &'static str, work: impl FnOnce() -> T + Send) -> Option<T> {
        let (mut work, mut value) = (Some(work), None);
        self.measure(name, &mut || value = work.take().map(|work| work()));
        value
    }

    /// [`measured`](Self::measured), compiled once.
    fn measure(&mut self, name: &'static str, work: &mut (dyn FnMut() + Send)) {
        LARGEST.store(0, Relaxed);
        let start = now();
        let done = if self.said.is_none() {
            let small = thread::Builder::new().name(name.into()).stack_size(STACK);
            thread::scope(|scope| small.spawn_scoped(scope, work).expect("a thread").join())
        } else {
            catch_unwind(AssertUnwindSafe(work))
        };
        let took = now().saturating_sub(start);
        let largest = LARGEST.load(Relaxed);
        self.slowest = self.slowest.max((took, name));
        self.largest = self.largest.max((largest, name));
        if let Err(panic) = done {
            self.fault(name, &format!("panicked: {}", words(&*panic)));
        }
    }

    fn fault(&mut self, name: &str, what: &str) {
        self.faults.push(format!("{name}, call {}: {what}", self.calls));
    }

    /// Asserts that all came out as it should, and that no call took long or allocated more bytes at once.
    pub(crate) fn check(&self, bytes: usize) {
        println!("{} calls, slowest {:?}, largest allocation {:?}", self.calls, self.slowest, self.largest);
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        assert!(self.slowest.0 <= LONGEST, "a call of {:?}", self.slowest);
        assert!(self.largest.0 <= bytes, "an allocation of {:?}", self.largest);
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// A text, or the ends of a long one.
fn shown(text: &str) -> String {
    let (count, end) = (text.chars().count(), |text: String| text.chars().rev().collect::<String>());
    if count <= 600 {
        return text.into();
    }
    let first: String = text.chars().take(300).collect();
    format!("{first} … {} ({count} characters)", end(text.chars().rev().take(300).collect()))
}

impl<T> Outcome<'_, T> {
    /// Says that the value has a property.
    #[track_caller]
    pub(crate) fn holds(self, property: impl FnOnce(T) -> bool) {
        let line = std::panic::Location::caller();
        if self.value.is_some_and(|value| !property(value)) {
            self.table.fault(self.name, &format!("not so at {line}"));
        }
    }

    /// Says what the value is.
    #[track_caller]
    pub(crate) fn is<U>(self, expected: U)
    where
        T: PartialEq<U> + Debug,
        U: Debug,
    {
        let line = std::panic::Location::caller();
        if let Some(value) = self.value.filter(|value| *value != expected) {
            let what = format!("at {line} {value:?} is not {expected:?}");
            self.table.fault(self.name, &shown(&what));
        }
    }
}

impl<T> Outcome<'_, Result<T, BroadcastError>> {
    /// Says what the value is like, which is no error.
    #[track_caller]
    pub(crate) fn gives(self, property: impl FnOnce(T) -> bool) {
        let line = std::panic::Location::caller();
        match self.value.map(|result| result.map(property)) {
            Some(Ok(false)) => self.table.fault(self.name, &format!("not so at {line}")),
            Some(Err(error)) => self.table.fault(self.name, &shown(&format!("at {line} {error:?}"))),
            _ => {}
        }
    }

    /// Says of which kind the error is.
    #[track_caller]
    pub(crate) fn refused(self, kind: ErrorKind) {
        let line = std::panic::Location::caller();
        let error = match self.value {
            Some(Err(error)) => error,
            Some(Ok(_)) => return self.table.fault(self.name, &format!("no error at {line}")),
            None => return,
        };
        let Some(message) = self.table.measured(self.name, || error.to_string()) else { return };
        if error.kind() != kind {
            let what = format!("at {line} the error is no {kind:?}: {message}");
            self.table.fault(self.name, &shown(&what));
        }
        if let Some(said) = &mut self.table.said {
            said.line(&message);
        }
    }
}
