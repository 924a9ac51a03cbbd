//! Only passes that are worth it leave the calling thread, and those run on several.

use common::forms::{Call, Form};
use common::probe::{self, Copied, base_operations_of_copied, forms_of_copied, with_hook};
use ndarray::{Array2, ArrayD, ArrayView1, ArrayViewMut0, Ix1};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The threads that called [`note`].
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn note() {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(format!("{:?}", thread::current().id()));
}

/// Whether `pass` notes the calling thread, and whether it notes others.
fn seen(pass: impl FnOnce()) -> [bool; 2] {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
    pass();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(!seen.is_empty(), "something was computed");
    let is_there = seen.contains(&format!("{:?}", thread::current().id()));
    [is_there, seen.len() > usize::from(is_there)]
}

/// Whether `pass` notes the calling thread alone, or only others.
fn stays(pass: impl FnOnce()) -> bool {
    let [is_there, others] = seen(pass);
    assert!(!is_there || !others, "the calling thread waits for the others");
    is_there
}

/// Whether each parallel pass over an array of this shape stays on the calling thread.
fn passes(shape: [usize; 2]) -> [bool; 5] {
    let (x, row) = (Array2::from_elem(shape, 1_u8), Array2::from_elem([1, shape[1]], 1_u8));
    let (mut out, noted) = (x.clone(), Array2::from_elem(shape, Copied::new(1.0)));
    let add = |x: &u8, y: &u8| {
        note();
        x + y
    };
    let inner = |x: ArrayView1<'_, u8>, y: ArrayView1<'_, u8>, mut out: ArrayViewMut0<'_, u8>| {
        note();
        out[()] = x[0] + y[0];
    };
    // of ones: zeros and clones are less
    let note_sums = |x, is_clone: bool| {
        if x > 1.0 && !is_clone {
            note();
        }
        x
    };
    let sums = |axis| with_hook(note_sums, || drop(noted.par().sum_axes(axis).expect("an axis")));
    [
        stays(|| drop(broadcast_map((&x, &row).par(), add).expect("shapes that go together"))),
        stays(|| broadcast_apply(&mut out, (&row,).par(), |x, y| *x = add(x, y)).expect("a smaller shape")),
        stays(|| sums(1)),
        // the calling thread stores the sums of columns that others have added up
        !seen(|| sums(0))[1],
        stays(|| {
            let [a, b] = [&x, &row].map(|x| x.batch::<Ix1>().expect("a base"));
            drop(a.par().zip_map(&b, (), inner).expect("bases"));
        }),
    ]
}

#[test]
fn only_large_passes_leave_the_calling_thread() {
    let _turn = probe::turn();
    // what a closure costs that sees whole bases is unknown
    assert_eq!(passes([2, 3]), [true, true, true, true, false]);
    // two halves of 2^18 elements, and one element less
    assert_eq!(passes([1 << 12, 1 << 7]), [false; 5]);
    assert_eq!(passes([(1 << 12) - 1, 1 << 7]), [true, true, true, true, false]);
}

/// Where a thread waits for another one.
struct Meeting {
    first: Mutex<Option<ThreadId>>,
    came: Condvar,
    /// How often the first thread waits for 5 ms, before it goes on alone. A thread comes within one wait on an idle machine.
    patience: AtomicUsize,
    took_place: AtomicBool,
}

static MEETING: Meeting = Meeting {
    first: Mutex::new(None),
    came: Condvar::new(),
    patience: AtomicUsize::new(0),
    took_place: AtomicBool::new(false),
};

impl Meeting {
    /// Waits for another thread, only for a while: what comes before a pass splits is done by one thread. Once it came, the pass is
    /// of no more use and ends.
    fn attend(&self) {
        if self.took_place.load(SeqCst) {
            resume_unwind(Box::new("the threads met"));
        }
        if self.patience.load(SeqCst) == 0 {
            return;
        }
        let mut first = self.first.lock().expect("not poisoned");
        if *first.get_or_insert(thread::current().id()) != thread::current().id() {
            self.took_place.store(true, SeqCst);
            return self.came.notify_all();
        }
        let is_open = |_: &mut Option<ThreadId>| !self.took_place.load(SeqCst);
        let wait = self.came.wait_timeout_while(first, Duration::from_millis(5), is_open);
        let (_first, wait) = wait.expect("not poisoned");
        if wait.timed_out() {
            self.patience.fetch_sub(1, SeqCst);
        }
    }

    /// Whether two threads attend while `work` runs.
    fn takes_place(&self, patience: usize, work: impl FnOnce()) -> bool {
        let attend = |x, is_clone: bool| {
            if !is_clone {
                MEETING.attend();
            }
            x
        };
        *self.first.lock().expect("not poisoned") = None;
        self.took_place.store(false, SeqCst);
        self.patience.store(patience, SeqCst);
        let _ended = catch_unwind(AssertUnwindSafe(|| with_hook(attend, work)));
        self.took_place.load(SeqCst)
    }
}

/// Whether two threads are at work at the same time, on a pass that is worth it.
fn meet(pool: &ThreadPool, form: &Form<Copied>, patience: usize) -> bool {
    let shape = match () {
        () if form.is("matmul") || form.is("outer") => [64, 64, 32],
        () if form.is("matvec") || form.is("vecmat") => [64, 256, 256],
        () => [32, 256, 64],
    };
    let x = ArrayD::from_elem(&shape[..], Copied::new(1.0));
    let y = ArrayD::from_elem(&[1, 1, shape[2]][..], Copied::new(1.0));
    let call = Call::new(x.view(), y.view(), &[0, 2], &[1]);
    let run = || form.result(&call, &Copied::new(1.0)).expect("shapes that go together");
    MEETING.takes_place(patience, || drop(pool.install(run)))
}

#[test]
fn parallel_forms_run_on_several_threads() {
    let _turn = probe::turn();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let (par, serial): (Vec<_>, Vec<_>) =
        forms_of_copied().into_iter().chain(base_operations_of_copied()).partition(|form| form.is_par);
    // positions are searched on the calling thread
    let is_search = |form: &Form<Copied>| form.is("argmax_axes") || form.is("argmin_axes");
    let (searches, par): (Vec<_>, Vec<_>) = par.into_iter().partition(is_search);
    assert!(!searches.is_empty(), "no positions");
    let alone: Vec<_> = par.iter().filter(|form| !meet(&pool, form, 2000)).map(Form::to_string).collect();
    assert!(alone.is_empty(), "on one thread: {alone:#?}");
    assert!(!meet(&pool, &serial[0], 40), "a pass on one thread is noticed");
}
