//! Reductions over no axes, and identities.

use ndarray::{Array2, ArrayD, ShapeBuilder, arr0, array};
use ndarray_broadcast::fused;
use ndarray_broadcast::{keepdims, prelude::*};

/// `[]` names no axes and needs no annotation: each form gives the array itself.
#[test]
fn no_axes() {
    let x = array![[1, 5, 2], [3, 4, 6]];
    let same: Array2<i32> = x.sum_axes([]).unwrap();
    assert_eq!(same, x);
    assert_eq!(x.par().sum_axes([]), Ok(x.clone()));
    assert_eq!(x.sum_axes(keepdims([])), Ok(x.clone()));
    assert_eq!(x.par().sum_axes(keepdims([])), Ok(x.clone()));
    assert_eq!(x.reduce_axes([], 0, i32::max), Ok(x.clone()));
    assert_eq!(x.mapv(f64::from).mean_axes([]), Ok(x.mapv(f64::from)));
    assert_eq!(x.t().sum_axes([]), Ok(x.t().to_owned()));
    let wide = x.broadcast_to((2, 2, 3)).unwrap();
    assert_eq!(wide.sum_axes([]).unwrap(), wide);
    let dynamic = x.into_dyn();
    assert_eq!(dynamic.sum_axes([]).unwrap(), dynamic);
    assert_eq!(arr0(7).sum_axes([]), Ok(arr0(7)));
}

/// One that would change every result it is combined with.
#[test]
fn an_identity_is_the_result_where_there_is_no_element_and_else_unused() {
    let wrong = 1 << 40;
    for shape in
        [vec![3], vec![4, 5], vec![300, 7], vec![7, 300], vec![70, 60, 8], vec![2, 400_000], vec![3, 0, 2]]
    {
        let c_order = ArrayD::from_shape_fn(shape.clone(), |at| at[0] as i64 + 1);
        let f_order = ArrayD::from_shape_fn(shape.clone().f(), |at| at[0] as i64 + 1);
        for axes in [vec![], vec![0], vec![shape.len() - 1], (0..shape.len()).collect()] {
            let expected = c_order.sum_axes(&axes).unwrap();
            let reduced = axes.iter().any(|&axis| shape[axis] == 0);
            let expected = if reduced { expected.mapv(|_| wrong) } else { expected };
            for x in [&c_order, &f_order] {
                assert_eq!(
                    x.reduce_axes(&axes, wrong, |a, b| a + b).unwrap(),
                    expected,
                    "{shape:?} over {axes:?}"
                );
                assert_eq!(x.par().reduce_axes(&axes, wrong, |a, b| a + b).unwrap(), expected);
                let twice = fused((x, x), |x, y| x + y).reduce_axes(&axes, wrong, |a, b| a + b).unwrap();
                assert_eq!(twice, expected.mapv(|sum| if reduced { wrong } else { 2 * sum }));
            }
        }
    }
}
