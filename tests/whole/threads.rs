//! Only passes that are worth it leave the calling thread. Sums of many shapes are equal to the last bit on any number of
//! threads.

use ndarray::{
    Array, Array1, Array2, ArrayD, ArrayView, ArrayView1, ArrayViewD, ArrayViewMut0, Axis, Dimension, Ix1,
    IxDyn, Slice,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, fused, keepdims, par_broadcast_apply, par_broadcast_map};
use num_traits::Zero;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Add;
use std::sync::{Mutex, PoisonError};
use std::thread;

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

/// A number that notes where it is added.
#[derive(Clone, Debug, PartialEq)]
struct Noted(u64);

impl Add for Noted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        note();
        Self(self.0 + other.0)
    }
}

impl Zero for Noted {
    fn zero() -> Self {
        Self(0)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

/// Whether each parallel pass over an array of this shape stays on the calling thread.
fn passes(shape: [usize; 2]) -> [bool; 5] {
    let (x, row) = (Array2::from_elem(shape, 1_u8), Array2::from_elem([1, shape[1]], 1_u8));
    let (mut out, noted) = (x.clone(), Array2::from_elem(shape, Noted(1)));
    let add = |x: &u8, y: &u8| {
        note();
        x + y
    };
    let inner = |x: ArrayView1<'_, u8>, y: ArrayView1<'_, u8>, mut out: ArrayViewMut0<'_, u8>| {
        note();
        out[()] = x[0] + y[0];
    };
    [
        stays(|| drop(par_broadcast_map((&x, &row), add).expect("shapes that go together"))),
        stays(|| par_broadcast_apply(&mut out, (&row,), |x, y| *x = add(x, y)).expect("a smaller shape")),
        stays(|| drop(noted.par().sum_axes(1).expect("an axis"))),
        // the calling thread stores the sums of columns that others have added up
        !seen(|| drop(noted.par().sum_axes(0).expect("an axis")))[1],
        stays(|| {
            let [a, b] = [&x, &row].map(|x| x.batch::<Ix1>().expect("a base"));
            drop(a.par().zip_map(&b, (), inner).expect("bases"));
        }),
    ]
}

#[test]
fn only_large_passes_leave_the_calling_thread() {
    // what a closure costs that sees whole bases is unknown
    assert_eq!(passes([2, 3]), [true, true, true, true, false]);
    // two halves of 2^18 elements, and one element less
    assert_eq!(passes([1 << 12, 1 << 7]), [false; 5]);
    assert_eq!(passes([(1 << 12) - 1, 1 << 7]), [true, true, true, true, false]);
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below the end")
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Of both signs, over many powers of two: another order of addition gives other last bits.
    #[allow(clippy::cast_precision_loss, reason = "some digits are enough")]
    fn number(&mut self) -> f32 {
        let bits = self.next();
        ((bits >> 40) as f32 / (1_u32 << 24) as f32 - 0.25) * (1_u32 << (bits % 20)) as f32
    }
}

/// The most elements of an array: one and a half times as many as are worth several threads.
const MOST: usize = 3 << 18;

/// A shape with at most `MOST` elements; every other time with more than two thirds of them.
fn shape(random: &mut Random) -> Vec<usize> {
    let ndim = 1 + random.below(5);
    let mut left = if random.once_in(2) { MOST } else { 1 << random.below(20) };
    let mut shape = Vec::new();
    for axis in 0..ndim {
        let size = if axis + 1 == ndim {
            left
        } else {
            // from a few to almost all
            (1 << random.below(left.ilog2() as usize + 1)) + random.below(5)
        };
        let size = size.clamp(1, left);
        shape.push(size);
        left /= size;
    }
    // the long axis may be any
    shape.rotate_left(random.below(ndim));
    shape
}

/// A view of that shape whose axes lie in some order, some of them reversed or with gaps.
fn lying<'a>(random: &mut Random, shape: &[usize], numbers: &'a [f32]) -> ArrayViewD<'a, f32> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if random.once_in(2) {
        (1..order.len()).for_each(|i| order.swap(i, random.below(i + 1)));
    }
    let gap = random.once_in(4).then(|| random.below(shape.len()));
    let step = |axis| if Some(axis) == gap { 2_usize } else { 1 };
    let room: Vec<usize> = order.iter().map(|&axis| shape[axis] * step(axis)).collect();
    let len = room.iter().product();
    let mut view = ArrayView::from_shape(IxDyn(&room), &numbers[..len]).expect("as many");
    for (i, &axis) in order.iter().enumerate() {
        let step = step(axis).cast_signed() * if random.once_in(4) { -1 } else { 1 };
        view.slice_axis_inplace(Axis(i), Slice::new(0, None, step));
    }
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &axis)| places[axis] = i);
    let view = view.permuted_axes(places);
    assert_eq!(view.shape(), shape);
    view
}

fn bits<D: Dimension>(sum: Result<Array<f32, D>, BroadcastError>) -> Vec<u32> {
    sum.expect("a sum").iter().map(|x| x.to_bits()).collect()
}

/// Asserts that `sum` gives these bits, with any number of threads.
fn assert_bits(pools: &[ThreadPool], expected: &[u32], case: &dyn Debug, sum: impl Fn() -> Vec<u32> + Sync) {
    for pool in pools {
        let threads = pool.current_num_threads();
        assert!(pool.install(&sum) == expected, "{case:?} with {threads} threads");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let cases =
        std::env::var("DETERMINISM_CASES").map_or(8, |count| count.parse().expect("a number of cases"));
    let pools = [1, 2, 3, 8].map(|threads| {
        ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of so many threads")
    });
    let mut random = Random(16);
    let numbers: Vec<f32> = (0..2 * MOST).map(|_| random.number()).collect();
    for case in 0..cases {
        let shape = shape(&mut random);
        let x = lying(&mut random, &shape, &numbers);
        let axes: Vec<usize> = (0..shape.len()).filter(|_| random.once_in(2)).collect();
        let case = (case, &shape, x.strides(), &axes);
        let mut kept = shape.clone();
        for &axis in &axes {
            kept[axis] = 1;
        }

        let sums = bits(x.sum_axes(&axes));
        assert_bits(&pools, &sums, &("over axes, one thread", case), || bits(x.sum_axes(&axes)));
        assert_bits(&pools, &sums, &("over axes", case), || bits(x.par().sum_axes(&axes)));
        // one of the forms each time; where its output lies otherwise, the order of addition may differ
        let form = random.below(5);
        let into = |sum: fn(&ArrayViewD<f32>, &mut ArrayD<f32>) -> Result<(), BroadcastError>| {
            let mut out = ArrayD::from_elem(IxDyn(&kept), 0.7);
            bits(sum(&x, &mut out).map(|()| out))
        };
        let one = match form {
            0 => bits(x.sum_axes(keepdims(&axes))),
            1 => bits(x.sum_to(&*kept)),
            2 => into(|x, out| x.assign_sum_to(out)),
            3 => into(|x, out| x.add_sum_to(out)),
            _ => into(|x, out| x.scaled_add_sum_to(0.3, out)),
        };
        assert_bits(&pools, &one, &("form", form, case), || match form {
            0 => bits(x.par().sum_axes(keepdims(&axes))),
            1 => bits(x.par().sum_to(&*kept)),
            2 => into(|x, out| x.par().assign_sum_to(out)),
            3 => into(|x, out| x.par().add_sum_to(out)),
            _ => into(|x, out| x.par().scaled_add_sum_to(0.3, out)),
        });

        let row = Array1::from_iter(numbers[..shape[shape.len() - 1]].iter().copied());
        let products = || fused((&x, &row), |x, y| x * y);
        let expected = bits(products().sum_to(&*kept));
        assert_bits(&pools, &expected, &("fused", case), || bits(products().sum_to(&*kept)));
        assert_bits(&pools, &expected, &("fused, several threads", case), || {
            bits(products().par().sum_to(&*kept))
        });

        // other reductions, of arrays and of closures; the length of a vector is rounded at each step
        let length = |x: f32, y: f32| (x * x + y * y).sqrt();
        let reductions = [
            bits(x.max_axes(&axes)),
            bits(x.reduce_axes(&axes, 0.0, length)),
            bits(products().reduce_axes(&axes, 0.0, length)),
        ];
        let [largest, lengths, of_products] = &reductions;
        assert_bits(&pools, largest, &("maxima", case), || bits(x.par().max_axes(&axes)));
        assert_bits(&pools, lengths, &("lengths", case), || bits(x.par().reduce_axes(&axes, 0.0, length)));
        assert_bits(&pools, of_products, &("lengths of products", case), || {
            bits(products().par().reduce_axes(&axes, 0.0, length))
        });
    }
}
