//! Every reduction of random shapes is equal to the last bit on 1, 2, 3 and 8 threads.
//!
//! The program prints a digest of all bits, which `.ci/determinism` compares with that of a build without AVX2.
//! `DETERMINISM_CASES` sets the number of cases.

use common::forms::{Call, Element, Form, forms};
use common::{Choices, Layout, Random, Spacing};
use ndarray::{Array, ArrayViewD, Dimension, Ix1, Ix2, LinalgScalar};
use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::prelude::*;
use num_traits::Float;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt::Debug;

/// A number whose bits are compared.
trait Number: Float + LinalgScalar + Element + Debug {
    fn bits(self) -> u64;

    /// Of both signs, over many powers of two: another order of addition gives other last bits.
    fn random(random: &mut Random) -> Self {
        let bits = random.word();
        let fraction =
            Self::from_u64(bits >> 11).expect("a float") / Self::from_u64(1 << 53).expect("a float");
        let quarter = Self::from_f64(0.25).expect("a float");
        (fraction - quarter) * Self::from_u32(1 << (bits % 20)).expect("a float")
    }
}

impl Number for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Number for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// The most elements of an array: one and a half times as many as are worth several threads.
const MOST: usize = 3 << 18;

/// A shape; one in four is large enough for several threads, and the others have at most 2^14 elements.
fn shape(random: &mut Random) -> Vec<usize> {
    let ndim = 1 + random.below(5);
    let mut left = if random.one_in(4) { MOST } else { 1 << random.below(15) };
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
fn lying<'a, A>(random: &mut Random, shape: &[usize], numbers: &'a [A]) -> ArrayViewD<'a, A> {
    let order = if random.one_in(2) { random.order(shape.len()) } else { (0..shape.len()).collect() };
    let gap = random.one_in(4).then(|| random.below(shape.len()));
    let layout = Layout::spaced(shape, &order, |axis| {
        let gap = usize::from(Some(axis) == gap);
        Spacing { step: 1 + gap, after: gap, reversed: random.one_in(4), ..Spacing::DENSE }
    });
    layout.view_of(numbers)
}

/// What a case reduces over.
#[derive(Debug)]
struct Case {
    shape: Vec<usize>,
    axes: Vec<usize>,
    /// The shape with size 1 at these axes.
    kept: Vec<usize>,
    /// The other axes in some order.
    others: Vec<usize>,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let shape = shape(random);
        let (axes, mut others): (Vec<_>, Vec<_>) = (0..shape.len()).partition(|_| random.one_in(2));
        random.shuffle(&mut others);
        let mut kept = shape.clone();
        for &axis in &axes {
            kept[axis] = 1;
        }
        Self { shape, axes, kept, others }
    }
}

fn bits<A: Number, D: Dimension>(result: Result<Array<A, D>, BroadcastError>) -> Vec<u64> {
    result.expect("a reduction").iter().map(|x| x.bits()).collect()
}

/// The pools of threads, and a digest of all bits so far.
struct Check {
    pools: [ThreadPool; 4],
    digest: u64,
}

impl Check {
    fn new() -> Self {
        let pool = |threads| {
            ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of so many threads")
        };
        Self { pools: [1, 2, 3, 8].map(pool), digest: 0xCBF2_9CE4_8422_2325 }
    }

    /// Asserts that the parallel form has the same bits as the other one, with any number of threads.
    fn same(
        &mut self,
        case: &dyn Debug,
        plain: impl Fn() -> Vec<u64>,
        parallel: impl Fn() -> Vec<u64> + Sync,
    ) {
        let expected = plain();
        for pool in &self.pools {
            let threads = pool.current_num_threads();
            assert!(pool.install(&parallel) == expected, "{case:?} with {threads} threads");
        }
        // FNV-1a, a word at a time
        let step = |digest: u64, word: &u64| (digest ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        self.digest = expected.iter().fold(self.digest, step);
    }
}

/// Every reduction of an array, and of the results of closures with one to three operands.
fn reductions<A: Number>(check: &mut Check, random: &mut Random, numbers: &[A], case: &Case) {
    let x = lying(random, &case.shape, numbers);
    let narrowed: Vec<usize> =
        case.shape.iter().map(|&size| if random.one_in(3) { 1 } else { size }).collect();
    let y = lying(random, &narrowed, numbers);
    let (start, call) =
        (A::from_f32(0.7).expect("a float"), Call::new(x.view(), y, &case.axes, &case.others));
    let (par, serial): (Vec<_>, Vec<_>) = forms::<A>().into_iter().partition(|form| form.is_par);
    let is_reduction = |form: &&Form<A>| form.name.starts_with("Reduce::");
    for form in serial.iter().filter(is_reduction) {
        let is_same = |par: &&Form<A>| (par.name, par.call) == (form.name, form.call);
        let par = par.iter().find(is_same).expect("a parallel form");
        let name = (form.to_string(), &call.axes, x.shape(), x.strides(), call.y.strides());
        check.same(&name, || bits(form.result(&call, &start)), || bits(par.result(&call, &start)));
    }
    for base in 0..=case.shape.len() {
        let batch = x.batch_dyn(base).expect("no more axes than there are");
        let to = &case.kept[..case.shape.len() - base];
        let name = ("a batch", base, case, x.strides());
        check.same(&name, || bits(batch.sum_batch_to(to)), || bits(batch.sum_batch_to(to)));
    }
}

/// Products of batches, which sum over base axes.
#[allow(clippy::many_single_char_names, reason = "matrices and vectors")]
fn products<A: Number>(check: &mut Check, random: &mut Random, numbers: &[A]) {
    let most = if random.one_in(4) { 100 } else { 20 };
    let [m, k, n] = [(); 3].map(|()| 1 + random.below(most));
    let batch: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(5)).collect();
    let mut operand = |base: &[usize]| {
        let stretched = batch.iter().map(|&size| if random.one_in(3) { 1 } else { size });
        let shape: Vec<usize> = stretched.chain(base.iter().copied()).collect();
        lying(random, &shape, numbers)
    };
    let (a, b, u, v) = (operand(&[m, k]), operand(&[k, n]), operand(&[k]), operand(&[k]));
    let name = |product: &'static str| (product, [m, k, n], a.shape(), a.strides(), b.shape(), b.strides());
    let of_matrices = (a.batch::<Ix2>().expect("a matrix"), b.batch::<Ix2>().expect("a matrix"));
    let of_vectors = (u.batch::<Ix1>().expect("a vector"), v.batch::<Ix1>().expect("a vector"));
    let ((a, b), (u, v)) = (of_matrices, of_vectors);
    check.same(&name("matmul"), || bits(a.matmul(&b)), || bits(a.par().matmul(&b)));
    check.same(&name("matvec"), || bits(a.matvec(&v)), || bits(a.par().matvec(&v)));
    check.same(&name("vecmat"), || bits(u.vecmat(&b)), || bits(u.par().vecmat(&b)));
    check.same(&name("inner"), || bits(u.inner(&v)), || bits(u.par().inner(&v)));
}

#[test]
fn threads_do_not_change_a_bit() {
    let cases =
        std::env::var("DETERMINISM_CASES").map_or(4, |count| count.parse().expect("a number of cases"));
    let (mut check, mut random) = (Check::new(), Random::new(49));
    let single: Vec<f32> = (0..2 * MOST).map(|_| f32::random(&mut random)).collect();
    let double: Vec<f64> = (0..2 * MOST).map(|_| f64::random(&mut random)).collect();
    for _ in 0..cases {
        let case = Case::random(&mut random);
        if random.one_in(3) {
            reductions(&mut check, &mut random, &double, &case);
            products(&mut check, &mut random, &double);
        } else {
            reductions(&mut check, &mut random, &single, &case);
            products(&mut check, &mut random, &single);
        }
    }
    println!("digest of {cases} cases: {:016x}", check.digest);
}
