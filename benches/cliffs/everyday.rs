//! Fused sums as they occur: norms, losses, attention, distances, gradients.

use crate::adapter::Calls;
use crate::cases::{Outcome, fused_or_map, one_or_two};
use crate::random;
use crate::timing::Times;
use common::Strided;

/// A name, the shapes of the operands, the target, and the closure's length.
type Everyday = (&'static str, &'static [&'static [usize]], &'static [usize], usize);

#[rustfmt::skip]
const EVERYDAY: [Everyday; 40] = [
    ("matrix and row, total", &[&[400, 300], &[1, 300]], &[1, 1], 1),
    ("matrix and row, total", &[&[512, 512], &[1, 512]], &[1, 1], 1),
    ("rows of 257, total", &[&[512, 257], &[1, 257]], &[1, 1], 1),
    ("rows of 10, total", &[&[5000, 10], &[1, 10]], &[1, 1], 1),
    ("outer sum, total", &[&[300, 1], &[1, 300]], &[1, 1], 1),
    ("three outer vectors, total", &[&[60, 1, 1], &[1, 60, 1], &[1, 1, 60]], &[1, 1, 1], 2),
    ("batch of rows by head", &[&[16, 128, 300], &[1, 1, 300]], &[16, 1, 1], 1),
    ("(256, 64, 16) by channel", &[&[256, 64, 16], &[256, 64, 16]], &[1, 64, 1], 1),
    ("exp along rows", &[&[512, 768], &[512, 1]], &[512, 1], 20),
    ("gelu along rows", &[&[256, 768]], &[256, 1], 40),
    ("softmax denominator", &[&[8, 128, 128], &[8, 128, 1]], &[8, 128, 1], 20),
    ("softmax gradient", &[&[8, 128, 128], &[8, 128, 128]], &[8, 128, 1], 1),
    ("layer norm, variance", &[&[128, 768], &[128, 1]], &[128, 1], 2),
    ("layer norm, variance of 3 axes", &[&[8, 64, 256], &[8, 64, 1]], &[8, 64, 1], 2),
    ("layer norm, gradient of gamma", &[&[128, 768], &[128, 768], &[128, 1], &[128, 1]], &[1, 768], 4),
    ("layer norm, gradient of gamma, 3 axes", &[&[8, 64, 256], &[8, 64, 256], &[8, 64, 1]], &[1, 1, 256], 2),
    ("layer norm, gradient of x", &[&[128, 768], &[128, 768], &[1, 768]], &[128, 1], 2),
    ("batch norm, variance", &[&[32, 64, 8, 8], &[1, 64, 1, 1]], &[1, 64, 1, 1], 2),
    ("batch norm, variance of 14x14", &[&[16, 32, 14, 14], &[1, 32, 1, 1]], &[1, 32, 1, 1], 2),
    ("batch norm, gradient", &[&[32, 32, 8, 8], &[32, 32, 8, 8], &[1, 32, 1, 1], &[1, 32, 1, 1]], &[1, 32, 1, 1], 4),
    ("batch norm, channels last", &[&[32, 14, 14, 32], &[1, 1, 1, 32]], &[1, 1, 1, 32], 2),
    ("batch norm, flat", &[&[256, 128], &[1, 128]], &[1, 128], 2),
    ("group norm", &[&[8, 8, 4, 256], &[8, 8, 1, 1]], &[8, 8, 1, 1], 2),
    ("instance norm", &[&[16, 32, 15, 15], &[16, 32, 1, 1]], &[16, 32, 1, 1], 2),
    ("squared loss", &[&[128, 100], &[128, 100]], &[1, 1], 2),
    ("squared loss, weights of classes", &[&[256, 10], &[256, 10], &[1, 10]], &[1, 1], 2),
    ("squared loss, weights of samples", &[&[256, 100], &[256, 100], &[256, 1]], &[1, 1], 2),
    ("cross entropy", &[&[64, 1000], &[64, 1000], &[64, 1]], &[64, 1], 20),
    ("cross entropy of a batch", &[&[128, 100], &[128, 100], &[128, 1]], &[1, 1], 20),
    ("masked loss of images", &[&[8, 3, 33, 33], &[8, 3, 33, 33], &[8, 1, 33, 33]], &[1, 1, 1, 1], 2),
    ("attention bias, by head", &[&[4, 8, 48, 48], &[1, 8, 48, 48]], &[1, 8, 1, 1], 1),
    ("attention bias, gradient", &[&[4, 8, 48, 48], &[4, 8, 48, 48]], &[1, 8, 48, 48], 1),
    ("attention bias, of keys", &[&[4, 8, 48, 48], &[4, 1, 1, 48]], &[4, 1, 1, 48], 1),
    ("attention, weighted values", &[&[8, 32, 32, 1], &[8, 1, 32, 24]], &[8, 32, 1, 24], 1),
    ("distances of points", &[&[200, 1, 3], &[1, 200, 3]], &[200, 200, 1], 2),
    ("distances of vectors", &[&[60, 1, 64], &[1, 60, 64]], &[60, 60, 1], 2),
    ("distances to centres, total", &[&[1000, 1, 8], &[1, 10, 8]], &[1, 1, 1], 2),
    ("distances to centres, weighted", &[&[500, 1, 16], &[1, 10, 16], &[500, 10, 1]], &[1, 10, 16], 2),
    ("gradient of a bias", &[&[256, 300], &[256, 300]], &[1, 300], 1),
    ("matrix product as a sum", &[&[60, 60, 1], &[1, 60, 60]], &[60, 1, 60], 1),
];

/// The number of everyday cases: each entry, with dense operands and with the first one transposed.
pub(crate) const CASES: usize = 2 * EVERYDAY.len();

/// One call against the map and the sum, and against the sum in two calls by each summed axis that is left for the second.
pub(crate) fn everyday_case(number: usize, limit: f64) -> Outcome {
    let (name, shapes, target, ops) = EVERYDAY[number / 2];
    let calls = Calls::<f32>::with_length(ops);
    let transposed = number % 2 == 1;
    let make = |(at, shape): (usize, &&[usize])| {
        if at == 0 && transposed { random::transposed(shape) } else { random::dense(shape) }
    };
    let operands: Vec<Strided<f32>> = shapes.iter().enumerate().map(make).collect();
    let size = |axis: usize| shapes.iter().map(|shape| shape[axis]).max().unwrap_or(1);
    let shape: Vec<usize> = (0..target.len()).map(size).collect();
    let summed: Vec<usize> = (0..target.len()).filter(|axis| shape[*axis] != target[*axis]).collect();
    let first = fused_or_map(calls, &operands, &shape, target, limit);
    let mut worst: (String, Times) = (format!("fused sum to {target:?} / map and sum"), first);
    for axis in summed.iter().filter(|_| summed.len() > 1) {
        let mut middle = target.to_vec();
        middle[*axis] = shape[*axis];
        let next = one_or_two(calls, &operands, target, &middle, limit);
        if next.1.counted() > worst.1.counted() {
            worst = next;
        }
    }
    let what = format!("{name}, f32 {ops} ops: {}", worst.0);
    crate::cases::outcome(number, what, &operands, worst.1)
}
