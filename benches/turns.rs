//! The times of several forms of one computation, measured alternately: of each form the fastest stretch counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long a form is repeated between two looks at the clock.
const STRETCH: Duration = Duration::from_micros(20);
/// How often each form has its turn at least.
const ROUNDS: u32 = 3;

/// One form of a computation, on what all forms share: the output, or nothing.
pub(crate) type Form<'a, C> = &'a mut dyn FnMut(&mut C);

/// How many calls of each form fill a stretch. Warms up, too.
pub(crate) fn calibrate<C, const N: usize>(shared: &mut C, forms: &mut [Form<C>; N]) -> [u32; N] {
    std::array::from_fn(|form| {
        let mut repeats = 1;
        while stretch(shared, forms[form], repeats) * f64::from(repeats) < STRETCH.as_secs_f64() * 1e9 {
            repeats *= 2;
        }
        repeats
    })
}

/// Nanoseconds of a call of each form. The turns go on until `budget` is spent.
pub(crate) fn fastest<C, const N: usize>(
    shared: &mut C,
    forms: &mut [Form<C>; N],
    repeats: [u32; N],
    budget: Duration,
) -> [f64; N] {
    let (begun, mut times, mut rounds) = (Instant::now(), [f64::INFINITY; N], 0);
    while rounds < ROUNDS || begun.elapsed() < budget {
        for ((form, repeats), time) in forms.iter_mut().zip(repeats).zip(&mut times) {
            *time = time.min(stretch(shared, form, repeats));
        }
        rounds += 1;
    }
    times
}

/// Nanoseconds of one of some calls in a row.
fn stretch<C>(shared: &mut C, form: Form<C>, repeats: u32) -> f64 {
    let begun = Instant::now();
    for _ in 0..repeats {
        form(black_box(shared));
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(repeats)
}
