//! Products of matrices and vectors, and element-wise operations of batches.

use crate::cases::Input;
use crate::cases::copies::stretched;
use crate::cases::elements::{Element, Newtype, Three, Wide};
use crate::cases::layouts::{Output, check, codes, scrambled};
use common::{Choices, Layout, Strided, is_thorough, products, sample};
use ndarray::{Array, Array2, Array3, Dimension, LinalgScalar};
use ndarray_broadcast::base_op;
use ndarray_broadcast::prelude::*;
use num_complex::Complex;
use std::ops::{Div, Mul};

common::number_traits! {
    [] Newtype, i64: Self::of, |x| x.code();
    Sub Div One
}

/// A number whose products are their first factors.
#[derive(Clone, Copy, Debug, Default)]
struct First(f64);

impl Element for First {
    const MOST: i64 = <f64 as Element>::MOST;

    fn of(code: i64) -> Self {
        Self(<f64 as Element>::of(code))
    }

    fn code(&self) -> i64 {
        self.0.code()
    }

    fn multiplied(code: i64, _: i64) -> i64 {
        code
    }
}

macro_rules! first {
    ($($Op:ident $op:ident)*) => {$(
        impl $Op for First {
            type Output = Self;
            fn $op(self, _: Self) -> Self {
                self
            }
        }
    )*};
}
first!(Mul mul Div div);

common::number_traits! {
    [] First, f64: Self, |x| x.0;
    Add Sub Zero One
}

/// The operations, with the numbers of base axes of each operand, and whether rows, terms and columns can be more than one.
const OPERATIONS: [(&str, [usize; 2], [bool; 3]); 5] = [
    ("matmul", [2, 2], [true; 3]),
    ("matvec", [2, 1], [true, true, false]),
    ("vecmat", [1, 2], [false, true, true]),
    ("inner", [1, 1], [false, true, false]),
    ("outer", [1, 1], [true, false, true]),
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
        let most = input.elements::<A>().min(100_000);
        let (mut sides, (_, _, own)) = (sides(input, most), OPERATIONS[operation]);
        for (side, own) in sides.iter_mut().zip(own) {
            *side = if own { *side } else { 1 };
        }
        let [rows, terms, columns] = sides;
        // without terms, the results are the most; without columns, the elements of the first operand
        let lens = [rows * terms * columns, rows * terms, terms * columns, rows * columns];
        let batch = input.shape(3, most / lens.into_iter().fold(1, usize::max));
        let other = repeated_batch(input, &batch);
        // one of the operands has the joint batch
        let batches = if input.one_in(2) { [&batch[..], &other] } else { [&other, &batch[..]] };
        Self::of(input, operation, batches, sides)
    }

    /// `sides` are 1 where the operands are vectors.
    fn of(input: &mut Input<'_>, operation: usize, batches: [&[usize]; 2], sides: [usize; 3]) -> Self {
        let (name, _, own) = OPERATIONS[operation];
        input.log.clear();
        input.note(format_args!("{name} of {}, {batches:?} {sides:?}", A::name()));
        let terms = sides[1];
        let few = |place, times| {
            if terms <= 60 {
                scrambled(place, times) % 3
            } else {
                scrambled(place, times) % 2 * i64::from(A::MOST > 1025)
            }
        };
        let is_plain = input.one_in(2);
        // the axes that are no axes of vectors
        let base =
            |axes: [usize; 2]| axes.into_iter().filter(|&axis| own[axis]).map(|axis| sides[axis]).collect();
        let [a, b] = [(batches[0], [0, 1]), (batches[1], [1, 2])].map(|(batch, axes)| {
            let shape = [batch, &Vec::from_iter(base(axes))].concat();
            let layout = if is_plain { Layout::plain(&shape) } else { Layout::any(input, &shape, true) };
            input.array_in::<A>(layout, few)
        });
        let (first, second) = (codes(&a.view()), codes(&b.view()));
        let (batch, expected) = products([(batches[0], &first), (batches[1], &second)], sides, A::multiplied);
        Self { operation, a, b, shape: [batch, base([0, 2])].concat(), expected }
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
        let [of_a, of_b] = OPERATIONS[product.operation].1;
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

fn random_product<A: Element + LinalgScalar>(input: &mut Input<'_>) {
    let product = Product::<A>::random(input);
    check_product(input, &product);
}

fn check_product<A: Element + LinalgScalar>(input: &mut Input<'_>, product: &Product<A>) {
    match product.operation {
        0 => check_operation!(input, product, "matmul", MatMul, matmul),
        1 => check_operation!(input, product, "matvec", MatVec, matvec),
        2 => check_operation!(input, product, "vecmat", VecMat, vecmat),
        3 => check_operation!(input, product, "inner", Inner, inner),
        _ => check_operation!(input, product, "outer", Outer, outer),
    }
}

pub(crate) fn product(input: &mut Input<'_>) {
    match input.below(8) {
        0 => random_product::<u8>(input),
        1 => random_product::<u16>(input),
        2 => random_product::<f64>(input),
        3 => random_product::<u128>(input),
        4 => random_product::<Newtype>(input),
        5 => random_product::<Complex<f32>>(input),
        _ => random_product::<f32>(input),
    }
}

/// Matrices, and vectors where there is one row or one column, as products of each kind.
fn products_of<A: Element + LinalgScalar>(input: &mut Input<'_>, batches: [&[usize]; 2], sides: [usize; 3]) {
    for (operation, (_, _, own)) in OPERATIONS.iter().enumerate() {
        if sides.iter().zip(own).all(|(&side, &own)| own || side == 1) {
            let product = Product::<A>::of(input, operation, batches, sides);
            check_product(input, &product);
        }
    }
}

/// Products that are large enough for `ndarray::linalg`; many vectors and small matrices, of which one operand has fewer or one
/// for all; vectors of each length; batch axes along which one operand or each of two has one element; elements of 16 bytes, of
/// which a block has fewer bytes than terms that are added in registers; and factors whose order counts.
pub(crate) fn of_each_size(input: &mut Input<'_>) {
    let many = if is_thorough() { 20_001 } else { 301 };
    for (batches, sides) in [
        ([&[][..], &[][..]], [41, 41, 41]),
        ([&[], &[]], [9, 47, 160]),
        // fewer rows than parts, and terms and columns that must not become parts
        ([&[], &[]], [8, 257, 256]),
        ([&[2, 1], &[2]], [40, 42, 41]),
        // a matrix that all share
        ([&[5], &[]], [20, 40, 24]),
        ([&[], &[5]], [40, 24, 20]),
        // few columns of each product, so that those of all products are columns with gaps
        ([&[], &[20]], [16, 16, 3]),
        ([&[], &[90]], [40, 24, 1]),
        ([&[5], &[many, 1]], [2, 2, 1]),
        ([&[1, 300], &[300]], [4, 4, 4]),
        ([&[many / 2, 7], &[7]], [1, 9, 1]),
    ] {
        for _ in 0..3 {
            products_of::<f32>(input, batches, sides);
            products_of::<f64>(input, batches, sides);
        }
    }
    for terms in sample(6, (1..=70).chain([1023, 1024, 1025, 2048, 3100])) {
        for batches in [[&[3, 2][..], &[2]], [&[1], &[5]], [&[3, 1], &[2]], [&[], &[1]], [&[6, 1], &[1, 7]]] {
            products_of::<f32>(input, batches, [1, terms, 1]);
            products_of::<f64>(input, batches, [1, terms, 1]);
        }
    }
    for n in [1, 2, 3, 5, 8, 12] {
        for (m, [a, b]) in [(n, [&[1][..], &[20]]), (n + 1, [&[9, 1], &[9, 3]]), (2, [&[1, 3], &[9, 3]])] {
            for (batches, sides) in [[a, b], [b, a]]
                .into_iter()
                .flat_map(|batches| [([m, n, m]), [m, n, 1], [1, n, m]].map(|sides| (batches, sides)))
            {
                products_of::<f32>(input, batches, sides);
            }
        }
    }
    let sizes = [[3, 5, 2], [9, 17, 10], [1, 20, 3], [4, 70, 1], [5, 0, 4], [6, 6, 6], [9, 5, 9], [9, 70, 9]];
    for sides in sizes {
        for batches in
            [[&[4, 1][..], &[1, 3]], [&[2], &[3, 2]], [&[], &[3, 2]], [&[3, 2], &[]], [&[2, 1, 3], &[4, 1]]]
        {
            for _ in sample(2, 0..4) {
                products_of::<f32>(input, batches, sides);
                products_of::<u16>(input, batches, sides);
            }
        }
    }
    for (terms, columns) in [(600, 8), (900, 5), (1030, 8), (2100, 3), (300, 20)] {
        products_of::<u128>(input, [&[], &[]], [1, terms, columns]);
        products_of::<u128>(input, [&[], &[]], [columns, terms, 1]);
    }
    for sides in [[2, 2, 2], [3, 5, 1], [9, 4, 3], [3, 70, 5], [1, 70, 3], [3, 70, 1], [2, 70, 1], [1, 70, 1]]
    {
        for batches in [[&[3][..], &[3]], [&[3], &[]], [&[], &[3]]] {
            for _ in 0..2 {
                products_of::<First>(input, batches, sides);
            }
        }
    }
    // of equal terms, with a matrix that all share: the products are rows of one that is transposed
    let (rows, columns) = (Array2::from_elem((9, 1), First(2.0)), Array3::from_elem((40, 1, 1), First(7.0)));
    let a = rows.broadcast((9, 30)).expect("30 equal columns");
    let product = a.matmul(&columns.broadcast((40, 30, 1)).expect("30 equal rows")).expect("a product");
    assert!(product.dim() == (40, 9, 1) && product.iter().all(|sum| sum.code() == 60), "{product:?}");
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
