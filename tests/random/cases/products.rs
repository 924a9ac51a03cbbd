//! Products of matrices and vectors, and element-wise operations of batches.

use crate::cases::Input;
use crate::cases::copies::stretched;
use crate::cases::elements::{Element, Newtype, Three, Wide};
use crate::cases::layouts::{Output, check, codes, scrambled};
use common::{Choices, Layout, Strided, aligned_right, numbers_read};
use ndarray::{Array, Dimension, LinalgScalar};
use ndarray_broadcast::base_op;
use ndarray_broadcast::prelude::*;
use num_complex::Complex;
use num_traits::One;
use std::ops::{Div, Sub};

impl One for Newtype {
    fn one() -> Self {
        Self::of(1)
    }
}

impl Sub for Newtype {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::of(self.code() - other.code())
    }
}

impl Div for Newtype {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::of(self.code() / other.code())
    }
}

/// The operations, with the numbers of base axes of the result and of each operand.
const OPERATIONS: [(&str, [usize; 3]); 5] = [
    ("matmul", [2, 2, 2]),
    ("matvec", [1, 2, 1]),
    ("vecmat", [1, 1, 2]),
    ("inner", [0, 1, 1]),
    ("outer", [2, 1, 1]),
];

/// A product: two arrays of matrices or vectors, and the array of their products.
struct Product<A> {
    operation: usize,
    a: Strided<A>,
    b: Strided<A>,
    shape: Vec<usize>,
    expected: Vec<i64>,
}

/// Random sides: rows, terms and columns.
fn sides(input: &mut Input<'_>, most: usize) -> [usize; 3] {
    const SIDES: [usize; 18] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 17, 33, 65];
    let mut left = most;
    let mut sides = [0; 3].map(|_| {
        let side = if input.one_in(60) { input.pick(&[127, 257, 1025]) } else { input.pick(&SIDES) };
        let side = if side == 0 && !input.one_in(4) { 2 } else { side.min(left.max(1)) };
        left /= side.max(1);
        side
    });
    if input.one_in(3) {
        sides = [sides[0].min(8); 3];
    }
    sides
}

/// The batch of an operand that is repeated, as a whole or along some axes.
fn repeated_batch(input: &mut Input<'_>, batch: &[usize]) -> Vec<usize> {
    if input.one_in(2) { batch[input.below(batch.len() + 1)..].to_vec() } else { input.operand_of(batch) }
}

impl<A: Element + Copy> Product<A> {
    fn random(input: &mut Input<'_>) -> Self {
        let operation = input.below(OPERATIONS.len());
        let (name, [_, of_a, of_b]) = OPERATIONS[operation];
        input.note(format_args!("{name} of {}", A::name()));
        let most = input.elements::<A>().min(100_000);
        let [rows, terms, columns] = sides(input, most);
        let [base_a, base_b, base] = match operation {
            0 => [vec![rows, terms], vec![terms, columns], vec![rows, columns]],
            1 => [vec![rows, terms], vec![terms], vec![rows]],
            2 => [vec![terms], vec![terms, columns], vec![columns]],
            3 => [vec![terms], vec![terms], vec![]],
            _ => [vec![rows], vec![columns], vec![rows, columns]],
        };
        let terms = if operation == 4 { 1 } else { terms };
        // without terms, the results are the most; without columns, the elements of the first operand
        let multiplications = base.iter().product::<usize>() * terms;
        let lens = [&base_a, &base_b, &base].map(|sizes| sizes.iter().product());
        let batch = input.shape(3, most / lens.into_iter().fold(multiplications.max(1), usize::max));
        let other = repeated_batch(input, &batch);
        // one of the operands has the joint batch
        let [batch_a, batch_b] =
            if input.one_in(2) { [batch.clone(), other] } else { [other, batch.clone()] };
        let joined = |batch: &[usize], base: &[usize]| [batch, base].concat();
        let few = |place, times| {
            if terms <= 60 {
                scrambled(place, times) % 3
            } else {
                scrambled(place, times) % 2 * i64::from(A::MOST > 1025)
            }
        };
        let is_plain = input.one_in(2);
        let [a, b] = [joined(&batch_a, &base_a), joined(&batch_b, &base_b)].map(|shape| {
            let layout = if is_plain { Layout::plain(&shape) } else { Layout::any(input, &shape, true) };
            input.array_in::<A>(layout, few)
        });
        let (first, second) = (codes(&a.view()), codes(&b.view()));
        let numbers = |own: &[usize]| -> Vec<usize> {
            numbers_read(&batch, own, &aligned_right(own.len(), batch.len())).collect()
        };
        let sizes = [base_a.iter().product::<usize>(), base_b.iter().product::<usize>()];
        // as matrices: one row, one column
        let rows = if of_a == 2 || operation == 4 { rows } else { 1 };
        let columns = if of_b == 2 || operation == 4 { columns } else { 1 };
        let mut expected = vec![];
        for (number_a, number_b) in numbers(&batch_a).into_iter().zip(numbers(&batch_b)) {
            let (first, second) = (&first[number_a * sizes[0]..], &second[number_b * sizes[1]..]);
            for row in 0..rows {
                for column in 0..columns {
                    expected.push(
                        (0..terms).map(|k| first[row * terms + k] * second[k * columns + column]).sum(),
                    );
                }
            }
        }
        Self { operation, a, b, shape: joined(&batch, &base), expected }
    }

    fn check<R: Element, D: Dimension>(&self, what: &str, array: &Array<R, D>) {
        assert_eq!(array.shape(), self.shape, "{what}: the shape of the result");
        check(what, &array.view().into_dyn(), &self.expected);
    }
}

/// Calls an operation in every way: as a new array, into an array, and both on several threads.
macro_rules! check_operation {
    ($input:expr, $product:expr, $name:literal, $Op:ident, $method:ident) => {{
        let (product, input) = ($product, &mut *$input);
        let (a, b) = (product.a.view(), product.b.view());
        let [_, of_a, of_b] = OPERATIONS[product.operation].1;
        product.check(concat!("arrays, ", $name), &a.$method(&b).expect("a product"));
        product.check(concat!("arrays, par().", $name), &a.par().$method(&b).expect("a product"));
        let (a, b) = (a.batch_dyn(of_a).expect("a base"), b.batch_dyn(of_b).expect("a base"));
        product.check($name, &a.$method(&b).expect("a product"));
        product.check(concat!("par().", $name), &a.par().$method(&b).expect("a product"));
        let mut out = input.array(&product.shape, false, |_, _| 1);
        a.apply_into(base_op::$Op, &b, &mut out.view_mut()).expect("a product");
        out.check(concat!($name, " into"), &product.expected);
        let mut out = input.array(&product.shape, false, |_, _| 1);
        a.par().apply_into(base_op::$Op, &b, &mut out.view_mut()).expect("a product");
        out.check(concat!("par().", $name, " into"), &product.expected);
    }};
}

fn product_of<A: Element + LinalgScalar>(input: &mut Input<'_>) {
    let product = Product::<A>::random(input);
    match product.operation {
        0 => check_operation!(input, &product, "matmul", MatMul, matmul),
        1 => check_operation!(input, &product, "matvec", MatVec, matvec),
        2 => check_operation!(input, &product, "vecmat", VecMat, vecmat),
        3 => check_operation!(input, &product, "inner", Inner, inner),
        _ => check_operation!(input, &product, "outer", Outer, outer),
    }
}

pub(crate) fn product(input: &mut Input<'_>) {
    match input.below(8) {
        0 => product_of::<u8>(input),
        1 => product_of::<u16>(input),
        2 => product_of::<f64>(input),
        3 => product_of::<u128>(input),
        4 => product_of::<Newtype>(input),
        5 => product_of::<Complex<f32>>(input),
        _ => product_of::<f32>(input),
    }
}

/// Element by element: the base of a product is the product of scalars.
pub(crate) fn elementwise(input: &mut Input<'_>) {
    match input.below(3) {
        0 => elementwise_of::<Three>(input),
        1 => elementwise_of::<Wide>(input),
        _ => elementwise_of::<f32>(input),
    }
}

fn elementwise_of<A: Element + Copy>(input: &mut Input<'_>) {
    input.note(format_args!("element-wise product of {}", A::name()));
    let most = input.elements::<A>();
    let shape = input.shape(5, most);
    let few = |place, times| scrambled(place, times) % 100;
    let own = input.operand_of(&shape);
    let (a, b) = (input.array::<A>(&shape, true, few), input.array::<A>(&own, true, few));
    let expected =
        codes(&a.view()).iter().zip(stretched(&b.view(), &shape)).map(|(a, b)| a * b).collect::<Vec<_>>();
    let base = input.below(own.len() + 1);
    let (first, second) = (a.view(), b.view());
    let (a, b) = (first.batch_dyn(base).expect("a base"), second.batch_dyn(base).expect("a base"));
    check("mul", &a.mul(&b).expect("a result").view(), &expected);
    let mut out = input.array(&shape, false, |_, _| 1);
    a.par().apply_into(base_op::Mul, &b, &mut out.view_mut()).expect("a result");
    out.check("mul into", &expected);
}
