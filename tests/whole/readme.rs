//! README's first example prints what README says.
#![allow(clippy::unwrap_used, reason = "tests")]

use ndarray::array;
use ndarray_broadcast::prelude::*;

#[test]
fn the_first_example_prints_what_is_below_it() {
    let (x, y) = (array![[2], [3], [5]], array![1, 10, 100, 1000]);
    let (xs, ys) = x.broadcast_to_match(&y).unwrap();
    let product = &xs * &ys;
    let sum = product.sum_to_match(&y).unwrap();
    let error = x.broadcast_to_match(&array![[1, 2], [3, 4]]).unwrap_err();
    let printed = format!("prints\n\n```text\n{product}\n{sum}\n{error:#}\n```\n");
    assert!(include_str!("../../README.md").contains(&printed), "README lacks:\n{printed}");
}
