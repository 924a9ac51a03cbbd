//! A sum has the same bits, wherever it is stored: the order in which elements are combined does not depend on the output.

use common::{Choices, Layout, Random, Strided};
use ndarray::{ArrayD, ArrayRef, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{fused, keepdims};

/// A shape of few elements, of one block, or of several halves.
fn shape(random: &mut Random) -> Vec<usize> {
    let most = random.pick(&[60, 600, 4_500, 10_000, 60_000]);
    let mut shape = vec![1; 1 + random.below(4)];
    for axis in random.order(shape.len()) {
        let others: usize = shape.iter().product();
        shape[axis] = 1 + random.below((most / others).clamp(1, 70));
    }
    shape
}

/// A number whose sum with others depends on the order.
fn number(random: &mut Random) -> f32 {
    (random.below(2_000_001) as f32 - 1e6) * 1.1e-3
}

fn bits(sums: &ArrayRef<f32, IxDyn>) -> Vec<u32> {
    // `-0.0` is added to 0
    sums.iter().map(|sum| (sum + 0.0).to_bits()).collect()
}

/// Asserts that sums of a source over some of its axes have the bits of the new array in all other forms.
fn assert_same<R: Reduce<f32, IxDyn>>(source: &R, shape: &[usize], over: &[usize], random: &mut Random) {
    let to: Vec<usize> =
        (0..shape.len()).map(|axis| if over.contains(&axis) { 1 } else { shape[axis] }).collect();
    let expected = bits(&source.sum_to(to.as_slice()).unwrap());
    assert_eq!(bits(&source.sum_axes(keepdims(over)).unwrap()), expected, "{shape:?} over {over:?}");
    assert_eq!(bits(&source.sum_axes(over).unwrap()), expected, "{shape:?} over {over:?}");
    for layout in [Layout::plain(&to), Layout::to_write(random, &to), Layout::to_write(random, &to)] {
        for form in ["assign", "add", "scaled"] {
            let mut out = Strided::filled(layout.clone(), 0.0);
            match form {
                "assign" => source.assign_sum_to(&mut out.view_mut()),
                "add" => source.add_sum_to(&mut out.view_mut()),
                _ => source.scaled_add_sum_to(1.0, &mut out.view_mut()),
            }
            .unwrap();
            assert_eq!(bits(&out.view()), expected, "{form} {shape:?} over {over:?} to {layout:?}");
        }
    }
}

#[test]
fn sums_have_the_same_bits_in_existing_arrays() {
    let random = &mut Random::new(91);
    for _ in 0..if common::is_thorough() { 2_000 } else { 250 } {
        let shape = shape(random);
        let x = Strided::new(Layout::to_write(random, &shape), |_| number(random));
        let x = x.view();
        let over: Vec<usize> = (0..shape.len()).filter(|_| random.one_in(2)).collect();
        assert_same(&x, &shape, &over, random);
        let row = ArrayD::from_shape_simple_fn(&shape[shape.len() - 1..], || number(random));
        let product = fused((&x, &row), |x: &f32, r: &f32| x * r);
        assert_same(&product, &shape, &over, random);
        let all = product.sum_axes(..).unwrap().into_scalar();
        assert_eq!(product.sum().unwrap().to_bits(), all.to_bits(), "{shape:?}");
        #[cfg(feature = "rayon")]
        {
            assert_same(&x.par(), &shape, &over, random);
            assert_same(&product.par(), &shape, &over, random);
        }
    }
}
