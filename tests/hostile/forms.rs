//! The table of forms on hostile arrays: each has a result or an error. Which it is stands in the other tables.

use crate::table::Table;
use crate::{LIMIT, many};
use common::forms::{Call, Form, base_operations, forms, roots};
use ndarray::{ArrayD, ArrayView, ArrayViewD, ShapeBuilder, arr0};
use std::collections::BTreeSet;

/// Public names of `Batch` and `Reduce` that are no operations on elements.
const OTHERS: [&str; 7] = [
    "Batch::base_shape",
    "Batch::batch_shape",
    "Batch::expand_batch",
    "Batch::into_view",
    "Batch::par",
    "Batch::transpose",
    "Reduce::par",
];

pub(crate) fn rows(table: &mut Table) {
    let all_forms: Vec<_> = forms().into_iter().chain(roots()).collect();
    let many = many().mapv(|x| f64::from(i32::try_from(x).unwrap()));
    let (one, empty) = (arr0(1.0).into_dyn(), ArrayD::zeros(&[0; 4][..]));
    let hollow = ArrayView::from_shape([0, LIMIT].strides([isize::MIN.cast_unsigned(), 0]), &[]).unwrap();
    let every: Vec<usize> = (0..many.ndim()).collect();
    let calls = [
        same(&many.view(), &every, &[]),
        same(&many.view(), &[], &every),
        same(&hollow.into_dyn(), &[0], &[1]),
        same(&hollow.into_dyn(), &[1], &[0]),
        same(&empty.view(), &[0, 2], &[3, 1]),
    ];
    for form in &all_forms {
        for call in &calls {
            row(table, form, call);
        }
        if !form.name.starts_with("Batch::") {
            row(table, form, &same(&one.view(), &[], &[]));
        }
    }
    for form in base_operations() {
        row(table, &form, &calls[0]);
    }
}

fn same<'a>(x: &ArrayViewD<'a, f64>, axes: &[usize], others: &[usize]) -> Call<'a, f64> {
    Call::new(x.clone(), x.clone(), axes, others)
}

/// One call, unless no array has the shape of the result.
fn row(table: &mut Table, form: &Form<f64>, call: &Call<'_, f64>) {
    let shape = form.out_shape(call).unwrap_or_default();
    if shape.contains(&LIMIT) && !shape.contains(&0) {
        return;
    }
    let mut out = ArrayD::ones(shape);
    table.call(form.name, || form.run(call, &mut out.view_mut())).holds(|result| match result {
        Ok(new) => new.is_none_or(|new| new.len() <= 16),
        Err(error) => error.to_string().starts_with("cannot "),
    });
}

/// The operations of the table. `strides.rs` calls all of them, too.
pub(crate) fn names() -> BTreeSet<&'static str> {
    forms::<f64>().iter().chain(&roots()).chain(&base_operations()).map(|form| form.name).collect()
}

/// Each operation on elements stands in the table, by which it is tried with panics, on threads and for its allocations.
pub(crate) fn assert_complete(public: &str) {
    let families = ["Batch::", "Products::", "Reduce::", "Totals::", "Materialize::", "IntoBroadcastMap::"];
    let functions = ["broadcast_map", "broadcast_apply"];
    let is_operation = |name: &&str| {
        functions.iter().any(|function| name.starts_with(function))
            || families.iter().any(|family| name.starts_with(family)) && !OTHERS.contains(name)
    };
    let operations: BTreeSet<&str> = public.lines().filter(is_operation).collect();
    assert_eq!(names(), operations, "the table in tests/common/forms.rs");
    assert!(OTHERS.iter().all(|name| public.lines().any(|public| public == *name)), "names that there are");
}
