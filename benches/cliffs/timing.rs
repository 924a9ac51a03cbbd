//! The time of two forms of one computation, measured alternately, and the verdict.

use crate::turns::{Form, calibrate, fastest};
use std::time::Duration;

/// Time for both forms of a case, before it is suspicious.
const BUDGET: Duration = Duration::from_millis(2);
/// How often a suspicious case is measured again.
const AGAIN: usize = 6;
/// A call that takes less than `SHORT` ns may take `ALLOWANCE` ns more.
const SHORT: f64 = 1000.0;
const ALLOWANCE: f64 = 30.0;

/// The time of one call, and of the form that it is held to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Nanoseconds of one call.
    pub(crate) one: f64,
    /// Nanoseconds of the other form, for as many elements.
    pub(crate) other: f64,
    /// Whether the results of the two differ: one of them is wrong.
    pub(crate) differ: bool,
}

impl Times {
    pub(crate) fn ratio(self) -> f64 {
        self.one / self.other
    }

    /// The ratio without the time that a short call is allowed: what is compared with the limit.
    pub(crate) fn counted(self) -> f64 {
        let allowance = if self.one < SHORT { ALLOWANCE } else { 0.0 };
        (self.one - allowance) / self.other
    }
}

/// Measures `one` and `other` alternately, each by its fastest stretch; again several times while the ratio is above `limit`.
/// `scale` is the number of elements of `one` over that of `other`.
pub(crate) fn measure(one: &mut dyn FnMut(), other: &mut dyn FnMut(), scale: f64, limit: f64) -> Times {
    let mut forms: [Form<()>; 2] = [&mut |()| one(), &mut |()| other()];
    let repeats = calibrate(&mut (), &mut forms);
    let mut times = Times { one: f64::INFINITY, other: f64::INFINITY, differ: false };
    for attempt in 0..=AGAIN {
        if attempt > 0 && times.counted() <= limit {
            break;
        }
        let budget = if attempt == 0 { BUDGET } else { 4 * BUDGET };
        let [one, other] = fastest(&mut (), &mut forms, repeats, budget);
        times.one = times.one.min(one);
        times.other = times.other.min(other * scale);
    }
    times
}
