//! Positions in sources that are searched in several parts.

use ndarray::{Array3, ArrayView3, s};
use ndarray_broadcast::{fused, prelude::*};

/// The position of the first NaN of each lane, or of the first of its largest elements.
fn positions(x: &ArrayView3<'_, f32>, axes: &[usize]) -> Vec<usize> {
    let (mut lanes, shape) = (Vec::<Vec<f32>>::new(), [x.dim().0, x.dim().1, x.dim().2]);
    for ((i, j, k), &item) in x.indexed_iter() {
        let kept = (0..3).filter(|axis| !axes.contains(axis));
        let lane = kept.fold(0, |lane, axis| lane * shape[axis] + [i, j, k][axis]);
        lanes.resize(lanes.len().max(lane + 1), Vec::new());
        lanes[lane].push(item);
    }
    let position = |lane: &Vec<f32>| {
        let largest = lane.iter().copied().fold(f32::MIN, f32::max);
        let nan = lane.iter().position(|item| item.is_nan());
        nan.or_else(|| lane.iter().position(|&item| item == largest)).unwrap()
    };
    lanes.iter().map(position).collect()
}

/// Lanes and rows that are longer than a part, in every order of the axes, dense and with gaps.
#[test]
fn parts_of_every_layout() {
    for shape in [(3, 2, 20_001), (2, 9_003, 5), (90, 3, 170)] {
        let mut at = 0_u32;
        let all = Array3::from_shape_simple_fn(shape, || {
            at = at.wrapping_mul(0x9E37_79B9).wrapping_add(12345);
            if at >> 17 == 0 { f32::NAN } else { (at >> 20) as f32 }
        });
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let x = all.view().permuted_axes(order);
            for x in [x, x.slice(s![.., .., ..;2]), x.slice(s![..;-1, 1.., ..])] {
                for axes in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                    let expected = positions(&x, axes);
                    let found = x.argmax_axes(axes).unwrap();
                    assert!(found.iter().eq(&expected), "{:?} over {axes:?}", x.shape());
                    let negative = fused(&x, |x| -x);
                    assert!(negative.argmin_axes(axes).unwrap().iter().eq(&expected));
                }
            }
        }
    }
}
