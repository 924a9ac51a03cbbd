//! Large stores on several threads: each thread writes elements that are its own, and the results have the bits of one thread.

use common::{Choices, Layout, Lie, Random, Spacing, Strided};
use ndarray::{Array1, Array2, ArrayD, ArrayViewMutD, IxDyn};
use ndarray_broadcast::{broadcast_apply, prelude::*};
use rayon::ThreadPoolBuilder;

const LAYOUTS: usize = 4;

/// An array of 7s, in one of several layouts. What is between its elements is 7 as well.
fn framed(shape: &[usize], layout: usize) -> Strided<f32> {
    let order: Vec<usize> = (0..shape.len()).collect();
    let layout = match layout {
        1 => Lie::F.layout(shape),
        2 => Layout::spaced(shape, &order, |_| Spacing {
            step: 2,
            before: 1,
            reversed: true,
            ..Spacing::DENSE
        }),
        3 => Layout::spaced(shape, &order, |axis| {
            let frame = usize::from(axis == 0);
            Spacing { before: frame, after: frame, ..Spacing::DENSE }
        }),
        _ => Layout::plain(shape),
    };
    Strided::filled(layout, 7.0)
}

/// Asserts that a call makes of the frame what the other one makes of it, on pools of several threads; on optimised code again
/// and again.
fn assert_same(
    shape: &[usize],
    serial: impl Fn(&mut ArrayViewMutD<'_, f32>),
    par: impl Fn(&mut ArrayViewMutD<'_, f32>) + Sync,
) {
    let repetitions = if cfg!(debug_assertions) { 1 } else { 25 };
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let pools = [1, 2, 3, 8].map(|threads| (threads, pool(threads)));
    for layout in 0..LAYOUTS {
        let mut expected = framed(shape, layout);
        serial(&mut expected.view_mut());
        for (threads, pool) in &pools {
            for repetition in 0..repetitions {
                let mut found = framed(shape, layout);
                pool.install(|| par(&mut found.view_mut()));
                let same = found.cells.iter().zip(&expected.cells).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{shape:?}, layout {layout}, {threads} threads, repetition {repetition}");
            }
        }
    }
}

/// A source of at least 2^19 elements, and the axes of it that its sums do not have.
fn source(random: &mut Random, shape: &[usize], layout: usize) -> ArrayD<f32> {
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let mut element = || random.below(1 << 20) as f32 / 1e3;
    let mut stored = shape.to_vec();
    if layout == 1 {
        stored.reverse();
    }
    let array = ArrayD::from_shape_fn(IxDyn(&stored), |_| element());
    if layout == 1 { array.reversed_axes() } else { array }
}

/// Stores sums of sources in the layout.
fn store_sums(layout: usize) {
    let mut random = Random::new(1);
    // many sums of few elements, fewer of more, and the sums along axes in the middle
    for (shape, kept) in [
        (&[4, 300_000][..], &[300_000][..]),
        (&[300_000, 3], &[300_000, 1]),
        (&[700, 2, 600], &[700, 1, 600]),
        (&[3, 400, 2, 500], &[400, 1, 500]),
        (&[1_000_000], &[1_000_000]),
    ] {
        let x = source(&mut random, shape, layout);
        let fits = "the shape of the sum";
        assert_same(kept, |out| x.add_sum_to(out).expect(fits), |out| x.par().add_sum_to(out).expect(fits));
        assert_same(
            kept,
            |out| x.assign_sum_to(out).expect(fits),
            |out| x.par().assign_sum_to(out).expect(fits),
        );
        assert_same(
            kept,
            |out| x.scaled_add_sum_to(0.3, out).expect(fits),
            |out| x.par().scaled_add_sum_to(0.3, out).expect(fits),
        );
    }
}

// Two tests, so that they run side by side.
#[test]
fn sums_stored_by_threads() {
    store_sums(0);
}

#[test]
fn sums_in_fortran_order_stored_by_threads() {
    store_sums(1);
}

#[test]
fn placed_sums_stored_by_threads() {
    let mut random = Random::new(2);
    for layout in 0..2 {
        let x = source(&mut random, &[700, 2, 600], layout);
        for (mut axes, mut shape) in [([0, 2], [700, 600]), ([1, 2], [2, 600])] {
            for _ in 0..2 {
                assert_same(
                    &shape,
                    |out| x.add_sum_in_dim_to(out, axes).expect("axes of the source"),
                    |out| x.par().add_sum_in_dim_to(out, axes).expect("axes of the source"),
                );
                axes.swap(0, 1);
                shape.swap(0, 1);
            }
        }
    }
}

#[test]
fn applies_by_threads() {
    let (row, column) = (Array1::<f32>::linspace(0.0, 1.0, 900), Array2::from_elem((1100, 1), 0.1_f32));
    let turned = Array2::from_shape_fn((900, 1100), |(i, j)| f32::from(u16::try_from(i ^ j).expect("small")));
    let operands = (&row, &column, &turned.t());
    let f = |out: &mut f32, &row: &f32, &column: &f32, &turned: &f32| *out = *out * row + column - turned;
    assert_same(
        &[1100, 900],
        |out| broadcast_apply(out, operands, f).expect("smaller shapes"),
        |out| broadcast_apply(out, operands.par(), f).expect("smaller shapes"),
    );
}
