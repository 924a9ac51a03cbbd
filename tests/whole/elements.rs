//! Sums of complex numbers, of elements without a size and of large ones. Every other type of elements is in `tests/random`; panics at each point,
//! and what is dropped then, are in `tests/map/injected.rs`.
#![allow(clippy::unwrap_used, reason = "tests")]

#[cfg(feature = "rayon")]
use common::{
    Lie,
    forms::{Call, Form, base_operations, forms},
    probe::{self, Bulky},
};
use ndarray::{Array1, array, s};
#[cfg(feature = "rayon")]
use ndarray::{ArrayD, Axis};
use ndarray_broadcast::{broadcast_map, fused, prelude::*};
use num_complex::Complex;
#[cfg(feature = "rayon")]
use std::thread;

#[test]
fn complex_numbers() {
    let delta = array![[Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)]];
    assert_eq!(delta.sum_axes(1), Ok(array![Complex::new(1.5, 1.0)]));
    let mut out = array![[Complex::new(0.0, 1.0)]];
    assert_eq!(delta.scaled_add_sum_to(Complex::i(), &mut out), Ok(()));
    assert_eq!(out, array![[Complex::new(-1.0, 2.5)]]);
}

#[test]
fn more_than_memory_holds_of_nothing() {
    let many = array![0_u8];
    let many = many.broadcast_to((isize::MAX, 0)).expect("no element");
    assert_eq!(many.sum_to((1, 0)).map(|sum| sum.len()), Ok(0));
}

/// Elements of which a copy in L1 holds at most one, for as many operands, in maps of more elements than are visited at once.
#[allow(clippy::large_stack_arrays, reason = "they are elements")]
#[test]
fn elements_of_many_bytes() {
    let (x, mut out) = (Array1::from_elem(1, [7_u8; 1 << 16]), Array1::from_elem(4097, [0_u8; 8193]));
    assert_eq!(array![[7_u8; 8193]].materialize_into(&mut out), Ok(()));
    assert!(out.iter().all(|x| *x == [7; 8193]));
    let few = array![7_u8];
    let few = few.broadcast_to(4097).unwrap();
    let mapped = broadcast_map((&few, &few, &few, &few, &few, &few), |x, _, _, _, _, _| [*x; 1345]).unwrap();
    assert!(mapped.iter().all(|x| *x == [7; 1345]));
    let many = x.broadcast_to((70, 70)).unwrap();
    assert_eq!(fused(&many.slice(s![.., ..;2]), |x| *x == [7; 1 << 16]).all(), Ok(true));
    assert_eq!(many.max_axes(1).unwrap(), many.column(0));
    assert_eq!(many.slice(s![..3, ..3]).argmin_axes(..).unwrap().into_scalar(), 0);
}

/// Every form, and those that visit many elements at once on more than one block. In code that is not optimised, each operation has
/// a place of its own for its result.
#[cfg(feature = "rayon")]
#[test]
fn forms_of_large_elements() {
    let _turn = probe::turn();
    let compared = || {
        let (all, of_bases) = (forms::<Bulky>(), base_operations::<Bulky>());
        let (numbers, numbers_of_bases) = (forms::<f64>(), base_operations::<f64>());
        for (form, number) in all.iter().zip(&numbers).chain(of_bases.iter().zip(&numbers_of_bases)) {
            compare(form, number, &[3, 5]);
            let is_one_by_one =
                ["Reduce", "Totals", "Products", "Batch"].iter().any(|name| form.name.starts_with(name));
            if !is_one_by_one || form.is("any_axes") || form.is("add") {
                compare(form, number, &[65, 64]);
            }
        }
    };
    thread::Builder::new().stack_size(32 << 20).spawn(compared).expect("a thread").join().expect("no panic");
}

#[cfg(feature = "rayon")]
fn compare(form: &Form<Bulky>, number: &Form<f64>, shape: &[usize]) {
    for (lies, axis) in [([Lie::C, Lie::C], 1), ([Lie::F, Lie::Second], 0)] {
        // whole numbers, whose sums are exact
        let number_of = |i: usize| f64::from(u32::try_from(i * 7 % 9).unwrap() + 1);
        let [a, b] = lies.map(|lie| lie.array(shape, number_of));
        let [x, y] = lies.map(|lie| lie.array(shape, |i| Bulky::new(number_of(i))));
        let (mut b, mut y) = (b.view(), y.view());
        b.slice_axis_inplace(Axis(axis), (..1).into());
        y.slice_axis_inplace(Axis(axis), (..1).into());
        let call = Call::new(a.view(), b, &[axis], &[1 - axis]);
        let expected = number.expected(&call, 1.0).expect("a result");
        let call = Call::new(x.view(), y, &[axis], &[1 - axis]);
        let found: ArrayD<Bulky> = form.result(&call, &Bulky::new(1.0)).expect("a result");
        let is_near = |(a, b): (&Bulky, &f64)| (a.value() - b).abs() <= 1e-12 * b.abs();
        assert!(
            found.shape() == expected.shape() && found.iter().zip(&expected).all(is_near),
            "{form}: {lies:?}, {shape:?}"
        );
    }
}
