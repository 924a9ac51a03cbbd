//! Every case of NumPy with several operands, through the fused operations.

use crate::number::{apply, map, map_sum_to};
use common::{Case, Layout, assert_elements, operands_in, run_kind, variant};
use ndarray::{ArrayD, ArrayViewD};

/// Compares what the elements are at every index, and their sum, with the record; more than six operands are
/// added up six at a time.
fn assert_outs(case: &Case, views: &[ArrayViewD<'_, i64>]) {
    let shape = case.shape("out_shape");
    let mut sum = ArrayD::<i64>::zeros(&*shape);
    let mut each = ArrayD::<Vec<i64>>::default(&*shape);
    for six in views.chunks(6) {
        apply(&mut sum, six, |out, x| *out += x.iter().sum::<i64>()).unwrap();
        apply(&mut each, six, |out, x| out.extend(x)).unwrap();
    }
    let outs: Vec<Vec<i64>> = case.rows("outs");
    let expected: Vec<Vec<i64>> = (0..sum.len()).map(|i| outs.iter().map(|out| out[i]).collect()).collect();
    assert_eq!(each.iter().cloned().collect::<Vec<_>>(), expected);
    if case.has("sum_all") {
        assert_elements(&sum, &case.numbers("sum_all"));
    }
    if views.len() <= 6 {
        let mapped = map(views, <[i64]>::to_vec).unwrap();
        assert_eq!((mapped.shape(), &mapped), (&*shape, &each));
        assert_eq!(map(views, |x| x.iter().sum::<i64>()).unwrap(), sum);
        let total = map_sum_to(views, &[] as &[usize], |x| x.iter().sum()).unwrap();
        assert_eq!(total.sum(), sum.sum());
    }
}

#[test]
fn shapes() {
    let expected = [
        ("refused", 88),
        ("refused, more than 6 operands", 4),
        ("valid, elements", 128),
        ("valid, elements, more than 6 operands", 9),
        ("without elements: too large, no operands or beyond NumPy", 21),
    ];
    run_kind(("numpy_broadcast", "cases"), ("kind", "shapes"), 200, &expected, |case| {
        if case.has("numpy_limit") || case.ok() && !case.has("outs") {
            return "without elements: too large, no operands or beyond NumPy";
        }
        let layouts = operands_in(case);
        let views: Vec<_> = layouts.iter().map(Layout::view).collect();
        if case.ok() {
            assert_outs(case, &views);
            return if views.len() > 6 { "valid, elements, more than 6 operands" } else { "valid, elements" };
        }
        if views.len() > 6 {
            return "refused, more than 6 operands";
        }
        let error = map(&views, |_| ()).expect_err("recorded as refused");
        assert_eq!(variant(&error), "Incompatible");
        "refused"
    });
}

#[test]
fn arrays() {
    let expected = [("refused", 19), ("valid, elements", 43), ("valid, shape only", 3)];
    run_kind(("numpy_broadcast", "cases"), ("kind", "arrays"), 385, &expected, |case| {
        let layouts = operands_in(case);
        let views: Vec<_> = layouts.iter().map(Layout::view).collect();
        if !case.ok() {
            assert_eq!(variant(&map(&views, |_| ()).expect_err("recorded as refused")), "Incompatible");
            return "refused";
        }
        if !case.has("outs") {
            return "valid, shape only";
        }
        assert_outs(case, &views);
        "valid, elements"
    });
}
