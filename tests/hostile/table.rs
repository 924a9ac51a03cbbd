//! Calls, what they cost and what comes of them.

use common::{Table as Messages, is_blessing};
use ndarray_broadcast::BroadcastError;
use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The system's allocator, which remembers the largest allocation.
struct Watching;

/// In bytes, of all threads.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: Every call goes to `System` unchanged, which keeps the contract; remembering does not allocate.
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: The caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
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

/// What the calls so far took, and what was wrong with them.
#[derive(Default)]
pub(crate) struct Table {
    /// Whether each call runs on a thread with little stack. One that needs more ends the test program.
    is_small: bool,
    /// How long the calls of each function took.
    functions: BTreeMap<&'static str, Duration>,
    calls: usize,
    largest: (usize, &'static str),
    faults: Vec<String>,
    /// The messages of each function's errors, in the order of the calls.
    messages: BTreeMap<&'static str, Vec<String>>,
}

/// What came of a call, to be compared with what should come of it: nothing if it panicked.
#[must_use]
pub(crate) struct Outcome<'t, T> {
    table: &'t mut Table,
    name: &'static str,
    value: Option<T>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let mut table = Self::default();
        table.call("the table itself", || vec![0_u8; 12_345]).holds(|vec| vec.len() == 12_345);
        assert_eq!(table.largest, (12_345, "the table itself"), "the allocator watches");
        table
    }

    /// A table whose calls run on threads with little stack.
    pub(crate) fn small() -> Self {
        Self { is_small: true, ..Self::default() }
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
        let done = if self.is_small {
            let small = thread::Builder::new().name(name.into()).stack_size(STACK);
            thread::scope(|scope| small.spawn_scoped(scope, work).expect("a thread").join())
        } else {
            catch_unwind(AssertUnwindSafe(work))
        };
        let took = now().saturating_sub(start);
        let largest = LARGEST.load(Relaxed);
        *self.functions.entry(name).or_default() += took;
        self.largest = self.largest.max((largest, name));
        if let Err(panic) = done {
            self.fault(name, &format!("panicked: {}", words(&*panic)));
        }
    }

    fn fault(&mut self, name: &str, what: &str) {
        self.faults.push(format!("{name}, call {}: {what}", self.calls));
    }

    /// The functions that were called.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.functions.keys().copied()
    }

    pub(crate) fn took(&self) -> Duration {
        self.functions.values().sum()
    }

    /// Asserts that all came out as it should, within a time, without an allocation of more bytes; and that messages are those of
    /// `tests/hostile/messages.txt`.
    pub(crate) fn check(&self, time: Duration, bytes: usize) {
        let mut recorded = Messages::read("hostile/messages.txt");
        let mut faults = self.faults.clone();
        for (name, messages) in &self.messages {
            let text = messages.join("\n");
            if is_blessing() {
                recorded.blocks.insert((*name).into(), text);
            } else if recorded.blocks.get(*name) != Some(&text) {
                faults.push(format!("other messages of {name}:\n{text}"));
            }
        }
        let total = self.took();
        let mut slowest: Vec<_> = self.functions.iter().map(|(name, took)| (took, name)).collect();
        slowest.sort_unstable_by(|a, b| b.cmp(a));
        slowest.truncate(5);
        println!("{} calls of {} functions in {total:?}", self.calls, self.functions.len());
        println!("slowest {slowest:?}, largest allocation {:?}", self.largest);
        recorded.finish(faults);
        assert!(total <= time, "all calls took {total:?}, above all {slowest:?}");
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

    /// Says that it is an error, whose words are in the table of messages.
    #[track_caller]
    pub(crate) fn refused(self) {
        let line = std::panic::Location::caller();
        match self.value {
            Some(Err(error)) => {
                let said = self.table.measured(self.name, || error.to_string());
                self.table.messages.entry(self.name).or_default().extend(said);
            }
            Some(Ok(_)) => self.table.fault(self.name, &format!("no error at {line}")),
            None => {}
        }
    }

    /// Says which error it is, word for word, where the message is too long for the table.
    #[track_caller]
    pub(crate) fn refused_as(self, message: &str) {
        let line = std::panic::Location::caller();
        let error = match self.value {
            Some(Err(error)) => error,
            Some(Ok(_)) => return self.table.fault(self.name, &format!("no error at {line}")),
            None => return,
        };
        match self.table.measured(self.name, || error.to_string()) {
            Some(said) if said != message => {
                let what = format!("at {line} the message is\n    {}\nnot {}", shown(&said), shown(message));
                self.table.fault(self.name, &what);
            }
            _ => {}
        }
    }
}
