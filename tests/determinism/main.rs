//! Every reduction of random shapes is equal to the last bit on 1, 2, 3 and 8 threads, and of a small array also for a newtype of
//! the numbers: the crate has compiled loops for the numbers, but not for the newtype. Of several operands, plain numbers with gaps
//! are copied, which changes the order. Products have the same bits on any number of threads, too, and those of two matrices for a
//! newtype, unless they are ndarray's own.
//!
//! The program prints a digest of all bits, which `.ci/determinism` compares with that of a build without AVX2, and `.ci/platforms`
//! with those of other platforms. Products that ndarray computes are left out, because they round as the CPU's instructions do: the
//! digest has those of the newtype, which are the crate's own. The argument is the number of cases.

use common::forms::{self, Call, Element, Form};
use common::{Choices, Layout, Random, Spacing};
use ndarray::{Array, ArrayViewD, Dimension, Ix1, Ix2, LinalgScalar};
use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::prelude::*;
use num_traits::{Float, FromPrimitive};
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

/// A number that the crate does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
struct Own<A>(A);

common::number_traits! {
    [A: Number] Own<A>, A: Self, |x| x.0;
    Add Sub Mul Div Zero One FromPrimitive
}

impl<A: Number> Element for Own<A> {
    fn times(&self, other: &Self) -> Self {
        *self * *other
    }

    fn join(self, other: Self) -> Self {
        Self(self.0.join(other.0))
    }
}

/// Numbers, and the same as a newtype.
struct Numbers<A> {
    numbers: Vec<A>,
    own: Vec<Own<A>>,
}

impl<A: Number> Numbers<A> {
    fn random(random: &mut Random) -> Self {
        let numbers: Vec<A> = (0..2 * MOST).map(|_| A::random(random)).collect();
        Self { own: numbers.iter().map(|&number| Own(number)).collect(), numbers }
    }

    fn of(&self, layout: &Layout) -> Operand<'_, A> {
        Operand { numbers: layout.view_of(&self.numbers), own: layout.view_of(&self.own) }
    }
}

/// A view of numbers, and one of the newtype.
struct Operand<'a, A> {
    numbers: ArrayViewD<'a, A>,
    own: ArrayViewD<'a, Own<A>>,
}

/// The most elements of an array: one and a half times as many as are worth several threads.
const MOST: usize = 3 << 18;

/// The numbers of threads.
const THREADS: &[usize] = if cfg!(target_family = "wasm") { &[] } else { &[1, 2, 3, 8] };

/// The most elements of a small array: more than a block has.
const SMALL: usize = 1 << 14;

/// A shape; one in four is large enough for several threads, and the others are small.
fn shape(random: &mut Random) -> Vec<usize> {
    let ndim = 1 + random.below(5);
    let mut left = if random.one_in(4) { MOST } else { SMALL >> random.below(15) };
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

/// A layout of that shape whose axes lie in some order, some of them reversed or with gaps.
fn lying(random: &mut Random, shape: &[usize]) -> Layout {
    let order = if random.one_in(2) { random.order(shape.len()) } else { (0..shape.len()).collect() };
    let gap = random.one_in(4).then(|| random.below(shape.len()));
    Layout::spaced(shape, &order, |axis| {
        let gap = usize::from(Some(axis) == gap);
        Spacing { step: 1 + gap, after: gap, reversed: random.one_in(4), ..Spacing::DENSE }
    })
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

fn own_bits<A: Number, D: Dimension>(result: Result<Array<Own<A>, D>, BroadcastError>) -> Vec<u64> {
    bits(result.map(|array| array.mapv(|x| x.0)))
}

/// The pools of threads, and a digest of all bits so far.
struct Check {
    pools: Vec<ThreadPool>,
    digest: u64,
}

impl Check {
    fn new() -> Self {
        let pool = |&threads| {
            ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of so many threads")
        };
        Self { pools: THREADS.iter().map(pool).collect(), digest: 0xCBF2_9CE4_8422_2325 }
    }

    /// The bits, after it is asserted that the parallel form has the same ones, with any number of threads.
    fn same(
        &self,
        case: &dyn Debug,
        plain: impl Fn() -> Vec<u64>,
        parallel: impl Fn() -> Vec<u64> + Sync,
    ) -> Vec<u64> {
        let expected = plain();
        for pool in &self.pools {
            let threads = pool.current_num_threads();
            assert!(pool.install(&parallel) == expected, "{case:?} with {threads} threads");
        }
        expected
    }

    /// FNV-1a, a word at a time.
    fn digest(&mut self, bits: &[u64]) {
        let step = |digest: u64, word: &u64| (digest ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        self.digest = bits.iter().fold(self.digest, step);
    }
}

/// Every reduction of an array, and of the results of closures with one to three operands.
fn reductions<A: Number>(check: &mut Check, random: &mut Random, numbers: &Numbers<A>, case: &Case) {
    let x = numbers.of(&lying(random, &case.shape));
    let narrowed: Vec<usize> =
        case.shape.iter().map(|&size| if random.one_in(3) { 1 } else { size }).collect();
    let y = numbers.of(&lying(random, &narrowed));
    let start = <A as FromPrimitive>::from_f32(0.7).expect("a float");
    let call = Call::new(x.numbers.view(), y.numbers, &case.axes, &case.others);
    let of_own = Call::new(x.own.view(), y.own, &case.axes, &case.others);
    let (par, serial): (Vec<_>, Vec<_>) = forms::reductions::<A>().into_iter().partition(|form| form.is_par);
    let own_forms = forms::array_reductions::<Own<A>>();
    let is_small = case.shape.iter().product::<usize>() <= SMALL;
    for form in &serial {
        let is_same = |par: &&Form<A>| (par.name, par.call) == (form.name, form.call);
        let par = par.iter().find(is_same).expect("a parallel form");
        let is_own = |own: &&Form<Own<A>>| (own.name, own.call) == (form.name, form.call);
        let name = (form.to_string(), &call.axes, call.x.shape(), call.x.strides(), call.y.strides());
        let parallel = || bits(par.result(&call, &start));
        let sums = check.same(&name, || bits(form.result(&call, &start)), parallel);
        if let Some(own) = own_forms.iter().find(is_own).filter(|_| is_small) {
            assert!(own_bits(own.result(&of_own, &Own(start))) == sums, "{name:?} of a newtype");
        }
        check.digest(&sums);
    }
    for base in 0..=case.shape.len() {
        let batch = call.x.batch_dyn(base).expect("no more axes than there are");
        let own = of_own.x.batch_dyn(base).expect("no more axes than there are");
        let to = &case.kept[..case.shape.len() - base];
        let name = ("a batch", base, case, call.x.strides());
        let sum = || bits(batch.sum_batch_to(to));
        let sums = check.same(&name, sum, sum);
        assert!(!is_small || own_bits(own.sum_batch_to(to)) == sums, "{name:?} of a newtype");
        check.digest(&sums);
    }
}

/// Products of batches, which sum over base axes.
#[allow(clippy::many_single_char_names, reason = "matrices and vectors")]
fn products<A: Number>(check: &mut Check, random: &mut Random, numbers: &Numbers<A>) {
    let most = if random.one_in(4) { 100 } else { 20 };
    let [m, k, n] = [(); 3].map(|()| 1 + random.below(most));
    let batch: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(5)).collect();
    let mut operand = |base: &[usize]| {
        let stretched = batch.iter().map(|&size| if random.one_in(3) { 1 } else { size });
        let shape: Vec<usize> = stretched.chain(base.iter().copied()).collect();
        numbers.of(&lying(random, &shape))
    };
    let (a, b, u, v) = (operand(&[m, k]), operand(&[k, n]), operand(&[k]), operand(&[k]));
    let name = format!("{:?} of {:?} and {:?}", [m, k, n], a.numbers.shape(), b.numbers.shape());
    // vectors of a batch may become the rows of one matrix
    let all = batch.iter().product::<usize>();
    macro_rules! check {
        ($($x:ident $product:ident $y:ident, $B:ident $C:ident, $sides:expr;)*) => {$(
            let (x, y) = ($x.numbers.batch::<$B>().expect("a base"), $y.numbers.batch::<$C>().expect("a base"));
            let own = ($x.own.batch::<$B>().expect("a base"), $y.own.batch::<$C>().expect("a base"));
            let name = (stringify!($product), &name);
            let product = check.same(&name, || bits(x.$product(&y)), || bits(x.par().$product(&y)));
            // contiguous rows by few others are ndarray's, too, if a side below 8 counts as 8
            let is_by_ndarray = $sides.iter().all(|&side| side > 1)
                && $sides.iter().map(|&side: &usize| side.max(8)).product::<usize>() >= 1 << 12;
            // products with a vector may be fused sums, whose operands are copied if they are plain numbers
            let is_fused = !is_by_ndarray && (stringify!($product) != "matmul" || m == 1 || n == 1);
            let of_own = if is_fused { product.clone() } else { own_bits(own.0.$product(&own.1)) };
            assert!(is_by_ndarray || of_own == product, "{name:?} of a newtype");
            check.digest(&of_own);
        )*};
    }
    check! {
        a matmul b, Ix2 Ix2, [all * m, k, all * n];
        a matvec v, Ix2 Ix1, [all * m, k, all];
        u vecmat b, Ix1 Ix2, [all, k, all * n];
        u inner v, Ix1 Ix1, [1, k, 1];
    }
}

fn main() {
    let cases: usize =
        std::env::args().nth(1).and_then(|count| count.parse().ok()).expect("a number of cases");
    let (mut check, mut random) = (Check::new(), Random::new(49));
    let (single, double) = (Numbers::<f32>::random(&mut random), Numbers::<f64>::random(&mut random));
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
    println!("{:016x}", check.digest);
}
