//! Cases of one family: compares the results of all forms, and measures them alternately.

use crate::turns::{Form, calibrate, fastest};
use ndarray::{Array, Dimension};
use num_traits::ToPrimitive;
use std::fmt;
use std::time::Duration;

/// How long a case is measured.
const BUDGET: Duration = Duration::from_millis(260);
const QUICK_BUDGET: Duration = Duration::from_millis(60);
/// The most elements of a case, where it is to be quick.
const QUICK: usize = 100_000;
/// The most in a test.
const TEST: usize = 20_000;
/// Nanoseconds that each call may take more.
const ALLOWANCE: f64 = 30.0;

/// What is measured.
pub(crate) struct Case {
    pub(crate) what: String,
    /// The type of the elements.
    pub(crate) kind: &'static str,
    /// How often the crate is called.
    pub(crate) calls: u32,
}

/// The times of a case, in nanoseconds.
pub(crate) struct Outcome {
    family: &'static str,
    case: Case,
    pub(crate) ours: f64,
    pub(crate) good: f64,
    pub(crate) obvious: f64,
    /// Whether a loop gives something else: one of the two is wrong.
    pub(crate) differ: bool,
}

impl Outcome {
    pub(crate) const HEADING: &str = "family                   case                         type         ns   good obvious  30 ns less: good obvious";

    /// The ratio to a loop's time, if each call may take a little more. No more than that is forgiven: a call that is not
    /// behind because of it is as fast as the loop.
    pub(crate) fn allowed(&self, other: f64) -> f64 {
        let less = self.ours - ALLOWANCE * f64::from(self.case.calls);
        less.max(self.ours.min(other)) / other
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, case: Case { what, kind, .. }, ours, good, obvious, .. } = self;
        write!(f, "{family:24} {what:28} {kind:4} {ours:10.0} {:6.2} {:7.2}", ours / good, ours / obvious)?;
        write!(f, "            {:6.2} {:7.2}", self.allowed(*good), self.allowed(*obvious))
    }
}

/// Measures the cases of one family.
pub(crate) struct Runner {
    family: &'static str,
    test: bool,
    quick: bool,
    pub(crate) outcomes: Vec<Outcome>,
    /// The number of the next case.
    next: usize,
}

impl Runner {
    pub(crate) fn new(family: &'static str, test: bool, quick: bool) -> Self {
        Self { family, test, quick, outcomes: Vec::new(), next: 0 }
    }

    /// From here on the cases come once more: the least times count.
    pub(crate) fn again(&mut self) {
        self.next = 0;
    }

    /// Whether a case of so many elements is measured.
    pub(crate) fn takes(&self, elements: usize) -> bool {
        elements <= if self.test { TEST } else { usize::MAX } && !(self.quick && elements > QUICK)
    }

    /// Ours, the obvious loop in two versions, and the good loop. All write to `out`, or put a new array in its place.
    pub(crate) fn compare<A: Copy + ToPrimitive, D: Dimension>(
        &mut self,
        case: Case,
        mut out: Array<A, D>,
        mut forms: [Form<Array<A, D>>; 4],
    ) {
        let number = self.next;
        self.next += 1;
        let (first, mut results) = (out.clone(), Vec::new());
        for form in &mut forms {
            out.clone_from(&first);
            form(&mut out);
            results.push(out.iter().filter_map(ToPrimitive::to_f64).collect::<Vec<f64>>());
        }
        let differ = results[1..].iter().any(|result| !are_close(&results[0], result));
        drop(results);
        let [ours, plain, avx2, good] = if self.test {
            [1.0; 4]
        } else {
            let repeats = calibrate(&mut out, &mut forms);
            fastest(&mut out, &mut forms, repeats, if self.quick { QUICK_BUDGET } else { BUDGET })
        };
        let obvious = plain.min(avx2);
        let good = good.min(obvious);
        if number == self.outcomes.len() {
            self.outcomes.push(Outcome { family: self.family, case, ours, good, obvious, differ });
        } else {
            let before = &mut self.outcomes[number];
            before.ours = before.ours.min(ours);
            before.good = before.good.min(good);
            before.obvious = before.obvious.min(obvious);
        }
    }
}

/// Whether numbers are the same but for the order of additions.
fn are_close(a: &[f64], b: &[f64]) -> bool {
    let largest = a.iter().fold(0.0, |top, x| f64::max(top, x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-3 * largest)
}

/// A new array that a loop fills, because the crate makes one too.
pub(crate) fn filled<A: Clone + num_traits::Zero, D: Dimension>(
    dim: D,
    fill: impl FnOnce(&mut [A]),
) -> Array<A, D> {
    let mut out = Array::zeros(dim);
    fill(out.as_slice_mut().expect("in standard layout"));
    out
}

/// Compares the crate with loops of one name, each for a `new` array or `into` the one that there is.
macro_rules! beside {
    ($run:ident, $case:expr, new $out:expr, $ours:expr, $name:ident($($arg:expr),*)) => {
        $run.compare($case, $out, [
            &mut |out| *out = $ours.unwrap(),
            &mut |out| *out = filled(out.raw_dim(), |out| obvious::$name::plain(out, $(black_box($arg)),*)),
            &mut |out| *out = filled(out.raw_dim(), |out| obvious::$name::avx2(out, $(black_box($arg)),*)),
            &mut |out| *out = filled(out.raw_dim(), |out| good::$name::avx2(out, $(black_box($arg)),*)),
        ])
    };
    ($run:ident, $case:expr, into $out:expr, |$o:ident| $ours:expr, $name:ident($($arg:expr),*)) => {
        $run.compare($case, $out, [
            &mut |$o| $ours.unwrap(),
            &mut |out| obvious::$name::plain(out.as_slice_mut().unwrap(), $(black_box($arg)),*),
            &mut |out| obvious::$name::avx2(out.as_slice_mut().unwrap(), $(black_box($arg)),*),
            &mut |out| good::$name::avx2(out.as_slice_mut().unwrap(), $(black_box($arg)),*),
        ])
    };
}
