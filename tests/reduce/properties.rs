//! Sums of random shapes, axes and layouts against the naive model, exactly, with integers.

use common::{
    Strided, layout, layout_to_write, operand_of, scrambled, shape, signed, sums, variant, view_of_rank,
    without_axes,
};
use ndarray::{
    Array, ArrayD, ArrayView, ArrayViewD, ArrayViewMut, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6,
    IxDyn, ShapeBuilder, s,
};
use ndarray_broadcast::{
    AxisSet, BroadcastError,
    bounds::{LessAxes, TargetShape},
};
use ndarray_broadcast::{keepdims, prelude::*};
use proptest::prelude::*;
use proptest::sample::subsequence;

/// An array of this layout whose elements do not follow from each other.
pub(crate) fn scrambled_elements(array: &Strided<i64>) -> Strided<i64> {
    array.map(|&k| scrambled(k))
}

/// The sum of the scrambled elements to `source`, axis `i` of which is at `places[i]`, without ndarray.
pub(crate) fn model(layout: &Strided<i64>, source: &[usize], places: &[usize]) -> ArrayD<i64> {
    let shape = layout.shape();
    let values = layout.elements().map(|&k| scrambled(k));
    ArrayD::from_shape_vec(source, sums(shape, values, source, places)).expect("as many sums")
}

/// An array of at most 7 axes, and some of its axes in any order.
pub(crate) fn array_and_axes() -> impl Strategy<Value = (Strided<i64>, Vec<usize>)> {
    shape(7).prop_flat_map(|shape| {
        let axes = subsequence((0..shape.len()).collect::<Vec<_>>(), 0..=shape.len()).prop_shuffle();
        (layout(shape), axes)
    })
}

/// The sums over axes of which the type does not say how many they are.
fn over_listed<D>(delta: &ArrayView<'_, i64, D>, axes: &[usize]) -> Vec<Result<ArrayD<i64>, BroadcastError>>
where
    D: LessAxes<IxDyn, Left = IxDyn>,
{
    let listed: Vec<Axis> = axes.iter().copied().map(Axis).collect();
    let set: AxisSet = axes.iter().chain(axes).copied().collect();
    let from_end: Vec<i64> = axes.iter().map(|&axis| signed(axis) - signed(delta.ndim())).collect();
    let mixed = |(i, &axis): (usize, &usize)| if i % 2 == 0 { from_end[i] } else { signed(axis) };
    let mixed: Vec<i64> = axes.iter().enumerate().map(mixed).collect();
    vec![
        delta.sum_axes(&from_end),
        delta.sum_axes(mixed),
        delta.sum_axes(axes),
        delta.sum_axes(&axes),
        delta.sum_axes(axes.to_vec()),
        delta.sum_axes(listed.as_slice()),
        delta.sum_axes(&listed),
        delta.sum_axes(&set),
        delta.sum_axes(set),
        delta.sum_axes(listed),
    ]
}

/// The sums over axes, with axes that stay, in every way to name the axes.
fn keeping<D: Dimension>(delta: &ArrayView<'_, i64, D>, axes: &[usize]) -> Vec<ArrayD<i64>> {
    let set: AxisSet = axes.iter().copied().collect();
    let listed: Vec<Axis> = axes.iter().copied().map(Axis).collect();
    let mut results = vec![
        delta.sum_axes(keepdims(axes)),
        delta.sum_axes(keepdims(set)),
        delta.sum_axes(keepdims(axes.to_vec())),
        delta.sum_axes(keepdims(listed)),
    ];
    match *axes {
        [] => results.push(delta.sum_axes(keepdims([0_usize; 0]))),
        [a] => results.extend([delta.sum_axes(keepdims(a)), delta.sum_axes(keepdims(Axis(a)))]),
        [a, b] => results.push(delta.sum_axes(keepdims([a, b]))),
        [a, b, c] => results.push(delta.sum_axes(keepdims([Axis(a), Axis(b), Axis(c)]))),
        _ => {}
    }
    results.into_iter().map(|result| result.expect("axes of the array").into_dyn()).collect()
}

/// The sums over axes of which the type says how many they are: `n` less `k` axes are left.
fn over_counted(delta: &ArrayViewD<'_, i64>, axes: &[usize]) -> Vec<ArrayD<i64>> {
    macro_rules! table {
        ($($n:literal $D:ident: $($k:literal $Left:ident)*;)*) => {
            match (delta.ndim(), axes.len()) {
                $($(($n, $k) => {
                    let delta = delta.view().into_dimensionality::<$D>().expect("that many axes");
                    let axes: [usize; $k] = axes.try_into().expect("that many axes");
                    let sums: [Result<Array<i64, $Left>, _>; 2] =
                        [delta.sum_axes(axes), delta.sum_axes(&axes)];
                    sums.into_iter().map(|sum| sum.expect("axes of the array").into_dyn()).collect()
                })*)*
                _ => vec![],
            }
        };
    }
    table! {
        0 Ix0: 0 Ix0;
        1 Ix1: 0 Ix1 1 Ix0;
        2 Ix2: 0 Ix2 1 Ix1 2 Ix0;
        3 Ix3: 0 Ix3 1 Ix2 2 Ix1 3 Ix0;
        4 Ix4: 0 Ix4 1 Ix3 2 Ix2 3 Ix1 4 Ix0;
        5 Ix5: 0 Ix5 1 Ix4 2 Ix3 3 Ix2 4 Ix1 5 Ix0;
        6 Ix6: 0 Ix6 1 Ix5 2 Ix4 3 Ix3 4 Ix2 5 Ix1 6 Ix0;
    }
}

/// The sums over a single axis, named as such.
fn over_one(delta: &ArrayViewD<'_, i64>, axis: usize) -> Vec<ArrayD<i64>> {
    macro_rules! both {
        ($delta:expr) => {
            [$delta.sum_axes(axis).map(Array::into_dyn), $delta.sum_axes(Axis(axis)).map(Array::into_dyn)]
        };
    }
    macro_rules! fixed {
        ($D:ident) => {
            both!(delta.view().into_dimensionality::<$D>().expect("that many axes"))
        };
    }
    let of_rank = match delta.ndim() {
        1 => fixed!(Ix1),
        2 => fixed!(Ix2),
        3 => fixed!(Ix3),
        4 => fixed!(Ix4),
        5 => fixed!(Ix5),
        6 => fixed!(Ix6),
        _ => both!(delta),
    };
    both!(delta).into_iter().chain(of_rank).map(|sum| sum.expect("an axis of the array")).collect()
}

/// A way to put a sum into an array that exists.
#[derive(Clone, Copy, Debug)]
enum Form {
    Overwrite,
    Add,
    Scaled(i64),
}

impl Form {
    const ALL: [Form; 4] = [Form::Overwrite, Form::Add, Form::Scaled(-1), Form::Scaled(7)];

    fn apply<D: Dimension, E: Dimension>(
        self,
        delta: &ArrayView<'_, i64, D>,
        out: &mut ArrayViewMut<'_, i64, E>,
    ) -> Result<(), BroadcastError> {
        match self {
            Form::Overwrite => delta.assign_sum_to(out),
            Form::Add => delta.add_sum_to(out),
            Form::Scaled(factor) => delta.scaled_add_sum_to(factor, out),
        }
    }

    /// What becomes of one element.
    fn element(self, old: i64, sum: i64) -> i64 {
        match self {
            Form::Overwrite => sum,
            Form::Add => old + sum,
            Form::Scaled(factor) => old + factor * sum,
        }
    }
}

/// What an output is after a sum: all but its elements as they were.
fn output_after(out: &Strided<i64>, form: Form, sum: &ArrayD<i64>) -> Strided<i64> {
    out.with_elements(out.elements().zip(sum).map(|(&old, &sum)| form.element(old, sum)))
}

/// The new arrays that an array is summed to, the target's number of axes fixed.
fn to_dim<D: Dimension, E: Dimension + TargetShape<Dim = E>>(
    delta: &ArrayView<'_, i64, D>,
    like: &ArrayView<'_, i64, E>,
) -> Vec<Result<ArrayD<i64>, BroadcastError>> {
    let like_text = like.map(i64::to_string);
    let sums = [
        delta.sum_to(like.raw_dim()),
        delta.sum_to(&like.raw_dim()),
        delta.sum_to(like),
        delta.sum_to(&like_text),
        delta.to_owned().into_sum_to(like.raw_dim()),
        delta.to_owned().into_sum_to(like),
        delta.to_owned().into_sum_to(&like_text),
    ];
    sums.map(|sum| sum.map(Array::into_dyn)).into()
}

/// Whether aligned at the right each size of `to` is that of `from` or 1, or which error there is.
fn sums_to(from: &[usize], to: &[usize]) -> Result<usize, &'static str> {
    let new = from.len().checked_sub(to.len()).ok_or("TooManyAxes")?;
    let fits = from[new..].iter().zip(to).all(|(own, &size)| size == *own || size == 1);
    if fits { Ok(new) } else { Err("Incompatible") }
}

/// An array, and another to which it can be summed; in some cases something may be wrong.
fn array_and_output() -> impl Strategy<Value = (Strided<i64>, Strided<i64>)> {
    (shape(7), prop::bool::weighted(0.2), prop::bool::weighted(0.05)).prop_flat_map(
        |(from, clash, longer)| {
            let to = operand_of(from.clone(), clash)
                .prop_map(move |to| if longer { [vec![1; 8], to].concat() } else { to });
            (layout(from), to.prop_flat_map(layout_to_write))
        },
    )
}

proptest! {
    #![proptest_config(common::cases(300))]

    #[test]
    fn over_axes((layout, axes) in array_and_axes()) {
        let (shape, array) = (layout.shape(), scrambled_elements(&layout));
        let delta = array.view();
        let left = without_axes(shape.len(), &axes);
        let sizes: Vec<usize> = left.iter().map(|&axis| shape[axis]).collect();
        let expected = model(&layout, &sizes, &left);
        for sum in over_listed(&delta, &axes) {
            prop_assert_eq!(sum.as_ref(), Ok(&expected));
        }
        if delta.ndim() <= 6 {
            let sums = view_of_rank!(delta.clone(), delta => over_listed(&delta, &axes));
            prop_assert!(sums.iter().all(|sum| sum.as_ref() == Ok(&expected)), "{:?}", sums);
            let sums = over_counted(&delta, &axes);
            prop_assert!(sums.len() == 2 && sums.iter().all(|sum| *sum == expected), "{:?}", sums);
        }
        if let [axis] = axes[..] {
            prop_assert!(over_one(&delta, axis).iter().all(|sum| *sum == expected));
        }
        let ones = (0..shape.len()).map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] });
        let ones: Vec<usize> = ones.collect();
        let expected = expected.into_shape_with_order(ones).expect("as many elements");
        let mut sums = keeping(&delta, &axes);
        if delta.ndim() <= 6 {
            sums.extend(view_of_rank!(delta.clone(), delta => keeping(&delta, &axes)));
        }
        prop_assert!(sums.iter().all(|sum| *sum == expected), "{:?}", sums);
    }

    #[test]
    fn to_a_shape((from, to) in array_and_output()) {
        let (array, sizes) = (scrambled_elements(&from), to.shape());
        let (delta, like) = (array.view(), to.view());
        let expected = sums_to(delta.shape(), sizes).map(|new| {
            model(&from, sizes, &(new..delta.ndim()).collect::<Vec<_>>())
        });
        let integers: Vec<i64> = sizes.iter().copied().map(signed).collect();
        let mut all = vec![
            delta.sum_to(sizes),
            delta.sum_to(&sizes.to_vec()),
            delta.sum_to(integers),
        ];
        all.extend(to_dim(&delta, &like));
        if delta.ndim() <= 6 {
            all.extend(view_of_rank!(delta.clone(), delta => to_dim(&delta, &like)));
        }
        if like.ndim() <= 6 {
            all.extend(view_of_rank!(like.clone(), like => to_dim(&delta, &like)));
        }
        if delta.ndim() <= 6 && like.ndim() <= 6 {
            all.extend(view_of_rank!(delta.clone(), delta => view_of_rank!(like.clone(), like => to_dim(&delta, &like))));
        }
        for result in all {
            prop_assert_eq!(result.as_ref().map_err(variant), expected.as_ref().map_err(|&name| name.to_owned()));
        }
    }

    #[test]
    fn into_what_exists((from, to) in array_and_output()) {
        let (array, sizes) = (scrambled_elements(&from), to.shape());
        let delta = array.view();
        let expected = sums_to(delta.shape(), sizes).map(|new| {
            model(&from, sizes, &(new..delta.ndim()).collect::<Vec<_>>())
        });
        let before = to.map(|k| scrambled(k + 5000));
        let assert_after = |form, result: Result<(), BroadcastError>, after: &Strided<i64>| match &expected {
            Ok(sum) => {
                assert_eq!(result, Ok(()));
                assert_eq!(*after, output_after(&before, form, sum), "{form:?}");
            }
            Err(name) => {
                assert_eq!(result.map_err(|error| variant(&error)), Err((*name).to_owned()));
                assert_eq!(*after, before, "an error changes nothing");
            }
        };
        for form in Form::ALL {
            let mut after = before.clone();
            let result = form.apply(&delta, &mut after.view_mut());
            assert_after(form, result, &after);
            if delta.ndim() <= 6 && sizes.len() <= 6 {
                let mut after = before.clone();
                let out = after.view_mut();
                let result = view_of_rank!(delta.clone(), delta => {
                    view_of_rank!(out, out => form.apply(&delta, &mut { out }))
                });
                assert_after(form, result, &after);
            }
        }
        prop_assert_eq!(scrambled_elements(&from), array, "the array is only read");
    }

    /// By value: the very array where there is nothing to sum, in whatever layout it is.
    #[test]
    fn by_value((from, to) in shape(6).prop_flat_map(|shape| (layout_to_write(shape.clone()), operand_of(shape, true)))) {
        let owned = || scrambled_elements(&from).into_array();
        let delta = owned();
        let (at, strides) = (delta.as_ptr(), delta.strides().to_vec());
        let same = delta.into_sum_to(from.shape()).expect("its own shape");
        prop_assert_eq!((same.as_ptr(), same.strides()), (at, strides.as_slice()));
        prop_assert_eq!(&same, &owned());
        let fixed = view_of_rank!(owned(), delta => delta.into_sum_to(from.shape())).expect("its own shape");
        prop_assert_eq!(&fixed, &same);
        let matched = owned();
        let at = matched.as_ptr();
        prop_assert_eq!(matched.into_sum_to(&from.view()).map(|same| same.as_ptr()), Ok(at));
        let sum = owned().into_sum_to(&to);
        prop_assert_eq!(sum, same.sum_to(&to));
    }
}

/// The axes of a new array lie in memory in the order of the array's that was summed.
#[test]
fn new_sums_lie_as_their_array() {
    let delta = Array::<i32, _>::ones((2, 3, 4, 5));
    for (order, sums_of_the_first, sums_of_the_last) in [
        ([0, 1, 2, 3], [20, 5, 1], [12, 4, 1]),
        ([3, 2, 1, 0], [1, 5, 20], [1, 4, 12]),
        ([2, 0, 3, 1], [5, 1, 20], [1, 12, 4]),
    ] {
        let turned = delta.view().permuted_axes(order);
        for (axis, strides) in [(0, sums_of_the_first), (3, sums_of_the_last)] {
            let place = order.iter().position(|&own| own == axis).expect("one of the axes");
            let sums = turned.sum_axes(place).expect("an axis of the array");
            assert_eq!(sums.strides(), strides, "{order:?} over {place}");
            assert_eq!(sums, Array::from_elem(sums.raw_dim(), [2, 3, 4, 5][axis]));
        }
        // an axis of size 1 says nothing about the others, whatever its stride was
        for axis in 0..4 {
            let sums = turned.sum_axes(axis).expect("an axis of the array");
            let kept = turned.sum_axes(keepdims(axis)).expect("an axis of the array");
            assert_eq!(kept.index_axis(Axis(axis), 0).strides(), sums.strides(), "{order:?} over {axis}");
        }
        let same = turned.sum_to(&turned).expect("its own shape");
        assert_eq!((same.strides(), &same), (turned.strides(), &turned.to_owned()), "{order:?}");
    }
    // two axes remain
    let turned = delta.index_axis(Axis(0), 0).reversed_axes();
    assert_eq!(turned.sum_axes(1).expect("an axis of the array").strides(), [1, 5]);
    // an axis that repeats says nothing about the others, and equal strides neither
    let matrix = delta.slice(s![0, 0, .., ..]);
    let repeated = matrix.broadcast((3, 4, 5)).expect("a shape that it stretches to");
    assert_eq!(repeated.sum_axes(2).expect("an axis of the array").strides(), [4, 1]);
    assert_eq!(
        repeated.permuted_axes([2, 1, 0]).sum_axes(0).expect("an axis of the array").strides(),
        [3, 1]
    );
    let windows = ArrayView::from_shape((2, 3, 4).strides((1, 1, 5)), delta.as_slice().expect("in order"));
    let windows = windows.expect("elements of the slice");
    assert_eq!(windows.sum_axes(2).expect("an axis of the array").strides(), [3, 1]);
}

/// Blocks of three lengths in turn, of which a shorter one comes where a new partial sum begins.
#[test]
fn blocks_of_several_lengths() {
    let x = ndarray::Array4::from_shape_fn((60, 251, 7, 5), |(i, j, k, l)| {
        i64::try_from(i * 31 + j * 7 + k * 3 + l * l).expect("a small number") % 101
    });
    let x = x.slice(ndarray::s![.., ..250, .., ..]);
    let mut expected = ndarray::Array1::<i64>::zeros(7);
    for ((.., k, _), &element) in x.indexed_iter() {
        expected[k] += element;
    }
    assert_eq!(x.sum_axes([0, 1, 3]).expect("a sum"), expected);
    let doubled = ndarray_broadcast::fused(&x, |&x| 2 * x);
    assert_eq!(doubled.sum_axes([0, 1, 3]).expect("a sum"), expected * 2);
}
