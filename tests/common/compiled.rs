//! Calls for the numbers that most programs use. The code of generic functions that is compiled here is not compiled
//! again in the programs, which saves a quarter of their build.

use ndarray::{Array1, Array2, Array3, Ix1, Ix2, LinalgScalar};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_map, fused};

pub fn sums() {
    sums_of_one::<u8>();
    sums_of_one::<u64>();
    sums_and_products_of::<f32>();
    sums_and_products_of::<f64>();
    sums_and_products_of::<i32>();
    sums_and_products_of::<i64>();
}

fn sums_of_one<A: LinalgScalar>() {
    let array = Array2::<A>::ones((2, 3));
    let sum = array.sum_axes(0).expect("an axis");
    assert_eq!(sum.len(), fused(&array, |&x| x).sum_to(3).expect("the size of rows").len());
}

fn sums_and_products_of<A: LinalgScalar>() {
    sums_of_one::<A>();
    let (array, mut row) = (Array2::<A>::ones((2, 3)), Array1::ones(3));
    array.add_sum_to(&mut row).expect("the size of rows");
    array.scaled_add_sum_to(A::one(), &mut row).expect("the size of rows");
    let products = broadcast_map((&array, &row), |&x, &y| x * y).expect("the size of rows");
    let sums = fused((&products, &row), |&x, &y| x * y).sum_to(3).expect("the size of rows");
    assert_eq!(sums.len(), row.len());
    let (matrices, vectors) = (Array3::<A>::ones((2, 3, 3)), Array2::ones((2, 3)));
    let (matrices, vectors) =
        (matrices.batch::<Ix2>().expect("two axes"), vectors.batch::<Ix1>().expect("an axis"));
    assert_eq!(matrices.matvec(&vectors).expect("three terms").shape(), [2, 3]);
}
