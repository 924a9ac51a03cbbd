//! The table of forms, against its model.

use crate::cases::Input;
use crate::cases::layouts::scrambled;
use common::forms::{Call, Form, base_operations, forms, roots};
use common::{Choices, without_axes};
use ndarray::ArrayViewD;
use std::sync::OnceLock;

/// Some of the forms, on random operands and outputs.
pub(crate) fn run(input: &mut Input<'_>) {
    static FORMS: OnceLock<[Vec<Form<f64>>; 2]> = OnceLock::new();
    let [every, of_matrices] = FORMS.get_or_init(|| {
        let any_shape = |form: &Form<f64>| !form.name.starts_with("Batch::");
        let (every, batches): (Vec<_>, Vec<_>) = forms().into_iter().chain(roots()).partition(any_shape);
        [every, batches.into_iter().chain(base_operations()).collect()]
    });
    let most = input.elements::<f64>().min(20_000);
    let shape = input.shape(5, most);
    let axes = input.distinct_axes(shape.len());
    let mut others = without_axes(shape.len(), &axes);
    input.shuffle(&mut others);
    let narrow: Vec<usize> = shape.iter().map(|&size| if input.one_in(3) { 1 } else { size }).collect();
    // whole numbers whose sums are exact, and none is zero, by which some forms divide
    let [x, y] = [&shape, &narrow].map(|shape| {
        input.array::<f64>(shape, true, |place, times| 1 + scrambled(place, times).rem_euclid(9))
    });
    let call = Call::new(x.view(), y.view(), &axes, &others);
    let has_bases =
        shape.len() > 1 && !shape.contains(&0) && shape[shape.len() - 2..].iter().all(|&size| size < 100);
    for _ in 0..8 {
        let form = match input.below(if has_bases { 3 } else { 2 }) {
            2 => &of_matrices[input.below(of_matrices.len())],
            _ => &every[input.below(every.len())],
        };
        check(input, form, &call);
    }
}

fn check<'a>(input: &mut Input<'_>, form: &Form<f64>, call: &'a Call<'a, f64>) {
    input.note(format_args!("{form} over {:?}", call.axes));
    let mut out = input.array::<f64>(&form.out_shape(call).unwrap_or_default(), false, |_, _| 1);
    let result = form.run(call, &mut out.view_mut());
    let Some(expected) = form.expected(call, 1.0) else {
        assert!(result.is_err(), "{form}: there is no result");
        assert!(
            out.cells.iter().all(|x| x.to_bits() == 1f64.to_bits()),
            "{form}: a refused call changes nothing"
        );
        return;
    };
    let is_near = |found: ArrayViewD<'_, f64>| {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
        found.shape() == expected.shape() && found.iter().zip(&expected).all(near)
    };
    match result.unwrap_or_else(|error| panic!("{form}: {error}")) {
        Some(new) => assert!(is_near(new.view()), "{form}: {new:?}, not {expected:?}"),
        None => assert!(is_near(out.view()), "{form}: {:?}, not {expected:?}", out.view()),
    }
    out.view_mut().fill(1.0);
    assert!(out.cells.iter().all(|x| x.to_bits() == 1f64.to_bits()), "{form}: an element beside the output");
}
