//! The calls that answer a recorded question, in every form that the crate has, and the comparison with the record.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use common::number::{apply, map, map_sum_to};
use common::{Strided, assert_elements, assert_strides, empty, in_dim_places, variant, without_axes};
use ndarray::{Array, ArrayD, ArrayRef, ArrayViewD, Axis, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, broadcast_arrays, broadcast_shapes, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views, reduction_axes, resolve_target,
};
use ndarray_broadcast::{
    keepdims,
    partial::{PartialShape, infer_axes, infer_in_dim, infer_shapes, infer_target},
};

pub(crate) type Views<'a, T> = Vec<ArrayViewD<'a, T>>;

/// What a system was asked.
pub(crate) enum Question {
    /// All arrays to their joint shape.
    Together(Vec<Strided<i64>>),
    /// The same of shapes alone, whose arrays may be too large.
    ShapesTogether(Vec<Vec<usize>>),
    /// An array to a target. With `keeps`, -1 keeps a size.
    To { array: Strided<i64>, target: Vec<i64>, keeps: bool },
    /// An array repeated along named axes. nGraph's axes are a set; a list refuses a repeated axis.
    Along { array: Strided<i64>, shape: Vec<i64>, axes: Vec<usize> },
    /// An array with each axis at its place.
    Placed { array: Strided<i64>, shape: Vec<i64>, places: Vec<usize> },
    /// An array summed to a shape.
    SumTo { array: ArrayD<i64>, target: Vec<i64> },
    /// An array summed over axes, in two layouts.
    SumOver { arrays: [Strided<i64>; 2], axes: Vec<usize> },
}

/// What is recorded of a valid question. What is not there was not recorded.
#[derive(Default)]
pub(crate) struct Valid {
    pub(crate) shape: Vec<usize>,
    /// The elements of each view.
    pub(crate) elements: Option<Vec<Vec<i64>>>,
    pub(crate) strides: Option<Vec<Vec<Option<i64>>>>,
    /// The distance of each view's first element from the first of its array.
    pub(crate) offsets: Option<Vec<Option<i64>>>,
    /// The sum of all views.
    pub(crate) sum: Option<Vec<i64>>,
    /// The gradient for [`weights`].
    pub(crate) gradient: Option<Vec<i64>>,
    /// The axes that a sum reduces.
    pub(crate) reduced: Option<Vec<usize>>,
}

pub(crate) enum Answer {
    Valid(Valid),
    /// Refused, with the names of the errors that say so; any if there is no name.
    Refused(Vec<&'static str>),
}

/// Asks the question in every form and compares with the answer. Returns what was compared.
pub(crate) fn compare(question: &Question, answer: &Answer) -> String {
    match question {
        Question::Together(layouts) => {
            let operands: Views<'_, i64> = layouts.iter().map(Strided::view).collect();
            let views = together(&operands);
            assert_fused(&operands, &views);
            assert_views(&views, answer, &layouts.iter().collect::<Vec<_>>())
        }
        Question::ShapesTogether(shapes) => {
            let arrays: Vec<_> = shapes.iter().map(|shape| empty(shape)).collect();
            let views = together(&arrays.iter().map(|array| array.view()).collect::<Vec<_>>());
            if let (Ok(views), Answer::Valid(valid)) = (&views, answer) {
                assert!(views.iter().all(|view| view.shape() == valid.shape));
            }
            assert_answered(&views, answer).unwrap_or_else(|| "shape".into())
        }
        Question::To { array, target, keeps } => {
            let source = array.view();
            let view = to(&source, target, *keeps);
            if let Answer::Valid(Valid { shape, gradient: Some(gradient), .. }) = answer {
                let weights = weights(shape);
                assert_sums(&weights, source.shape(), gradient);
                // laid out as the view itself is
                let mut like_view = Array::zeros(weights.t().raw_dim()).reversed_axes();
                like_view.assign(&weights);
                assert_sums(&like_view, source.shape(), gradient);
            }
            assert_views(&view.map(|view| vec![view]), answer, &[array])
        }
        Question::Along { array, shape, axes } => {
            if let Answer::Valid(Valid { shape, gradient: Some(gradient), .. }) = answer {
                let sum = weights(shape).sum_axes(axes).expect("axes of the view");
                assert_eq!(sum.shape(), array.shape());
                assert_elements(&sum, gradient);
            }
            assert_views(&along(&array.view(), shape, axes).map(|view| vec![view]), answer, &[array])
        }
        Question::Placed { array, shape, places } => {
            let source = &array.view();
            if let Answer::Valid(Valid { shape, gradient: Some(gradient), .. }) = answer {
                let sum = placed_adjoint(&weights(shape), source.shape(), places);
                assert_eq!(sum.shape(), source.shape());
                assert_elements(&sum, gradient);
            }
            assert_views(&placed(source, shape, places).map(|view| vec![view]), answer, &[array])
        }
        Question::SumTo { array, target } => {
            let result = array.sum_to(target);
            if let Some(refused) = assert_answered(&result, answer) {
                return refused;
            }
            let Answer::Valid(Valid { shape, elements: Some(elements), reduced: Some(reduced), .. }) = answer
            else {
                panic!("the elements and axes of a sum are recorded");
            };
            assert_sums(array, shape, &elements[0]);
            // it names an axis where the size changes, so the new ones of size 1 too
            assert_eq!(reduction_axes(shape, array.shape()).as_ref(), Ok(reduced));
            "elements, axes".into()
        }
        Question::SumOver { arrays, axes } => {
            let Answer::Valid(Valid { shape, elements: Some(elements), .. }) = answer else {
                panic!("the elements of a sum are recorded");
            };
            for array in arrays {
                assert_sums_over(&array.view(), axes, shape, &elements[0]);
            }
            format!(
                "elements, {} axes",
                if axes.len() > 1 { "several".into() } else { axes.len().to_string() }
            )
        }
    }
}

/// Compares whether there is a result. Returns the words for a refusal.
fn assert_answered<T>(result: &Result<T, BroadcastError>, answer: &Answer) -> Option<String> {
    match (result, answer) {
        (Ok(_), Answer::Valid(_)) => None,
        (Err(error), Answer::Refused(names)) => {
            let name = variant(error);
            assert!(names.is_empty() || names.contains(&&*name), "{error:?} is not one of {names:?}");
            Some(format!("refused: {name}"))
        }
        (Ok(_), Answer::Refused(_)) => panic!("recorded as refused"),
        (Err(error), Answer::Valid(_)) => panic!("recorded as valid: {error}"),
    }
}

/// Compares the views of all arrays with what is recorded of them.
fn assert_views(
    result: &Result<Views<'_, i64>, BroadcastError>,
    answer: &Answer,
    layouts: &[&Strided<i64>],
) -> String {
    if let Some(refused) = assert_answered(result, answer) {
        return refused;
    }
    let (Ok(views), Answer::Valid(valid)) = (result, answer) else { unreachable!("answered") };
    assert!(views.iter().all(|view| view.shape() == valid.shape));
    let mut compared = vec!["shape"];
    if let Some(strides) = &valid.strides {
        assert_eq!(views.len(), strides.len());
        views.iter().zip(strides).for_each(|(view, strides)| assert_strides(view, strides));
        compared.push("strides");
    }
    if let Some(offsets) = &valid.offsets {
        assert_eq!(views.len(), offsets.len());
        for ((view, layout), offset) in views.iter().zip(layouts).zip(offsets) {
            assert!(offset.is_none_or(|offset| layout.offset(view) == offset), "offset into the base array");
        }
        compared.push("offset");
    }
    if let Some(elements) = &valid.elements {
        assert_eq!(views.len(), elements.len());
        views.iter().zip(elements).for_each(|(view, elements)| assert_elements(view, elements));
        compared.push("elements");
    }
    if let Some(sum) = &valid.sum {
        let zero = ArrayD::zeros(&*valid.shape);
        assert_elements(&views.iter().fold(zero, |sum, view| sum + view), sum);
        compared.push("sum");
    }
    if valid.gradient.is_some() {
        compared.push("gradient");
    }
    compared.join(", ")
}

fn known(shape: &[usize]) -> PartialShape {
    shape.into()
}

/// The sizes of a target, if they are sizes.
fn sizes(target: &[i64]) -> Option<Vec<usize>> {
    target.iter().map(|&size| usize::try_from(size).ok()).collect()
}

/// Where the elements of views are.
fn layouts<T>(views: &[ArrayViewD<'_, T>]) -> Vec<(*const T, Vec<usize>, Vec<isize>)> {
    views.iter().map(|view| (view.as_ptr(), view.shape().to_vec(), view.strides().to_vec())).collect()
}

/// Views, of which only where the elements are is compared.
fn assert_same<'a, T>(
    one: Result<Views<'a, T>, BroadcastError>,
    other: &Result<Views<'a, T>, BroadcastError>,
) {
    assert_eq!(
        one.map(|views| layouts(&views)),
        other.as_ref().map(|views| layouts(views)).map_err(Clone::clone)
    );
}

/// The views of all arrays, in all forms.
fn together<'a, T>(operands: &[ArrayViewD<'a, T>]) -> Result<Views<'a, T>, BroadcastError> {
    macro_rules! tuple {
        ($($x:ident)+) => {{
            let [$($x),+] = operands else { unreachable!() };
            broadcast_arrays(($($x.clone(),)+)).map(|($($x,)+)| vec![$($x),+])
        }};
    }
    let views = broadcast_views(operands);
    match operands.len() {
        1 => assert_same(tuple!(a), &views),
        2 => assert_same(tuple!(a b), &views),
        3 => assert_same(tuple!(a b c), &views),
        4 => assert_same(tuple!(a b c d), &views),
        5 => assert_same(tuple!(a b c d e), &views),
        6 => assert_same(tuple!(a b c d e f), &views),
        _ => {}
    }
    let shapes: Vec<&[usize]> = operands.iter().map(ndarray::ArrayBase::shape).collect();
    let joint = broadcast_shapes(&shapes);
    match (&views, &joint) {
        (Ok(views), Ok(joint)) => assert!(views.iter().all(|view| view.shape() == joint)),
        (views, joint) => assert_eq!(views.as_ref().err(), joint.as_ref().err()),
    }
    if !operands.is_empty() {
        let inferred = infer_shapes(&shapes.iter().map(|&shape| known(shape)).collect::<Vec<_>>());
        assert_eq!(inferred.ok(), joint.ok().map(|joint| known(&joint)));
    }
    // in place: all of them change, or none
    let mut changed: Vec<_> = operands.to_vec();
    let in_place = match (operands, changed.as_mut_slice()) {
        ([a, b], [x, y]) => {
            assert_same(a.broadcast_to_match(b).map(|(a, b)| vec![a, b]), &views);
            assert_eq!(a.can_broadcast_to_match(b), views.is_ok());
            broadcast_to_match_in_place(x, y)
        }
        ([a, b, c], [x, y, z]) => {
            assert_same(a.broadcast_to_match3(b, c).map(|(a, b, c)| vec![a, b, c]), &views);
            broadcast_to_match3_in_place(x, y, z)
        }
        _ => return views,
    };
    assert_eq!(in_place.as_ref().err(), views.as_ref().err());
    assert_eq!(layouts(&changed), layouts(views.as_deref().unwrap_or(operands)));
    views
}

/// Up to six arrays at a time, element by element, in one pass.
fn assert_fused(operands: &[ArrayViewD<'_, i64>], views: &Result<Views<'_, i64>, BroadcastError>) {
    let Ok(views) = views else {
        if operands.len() <= 6 {
            assert_eq!(map(operands, |_| ()).err(), views.as_ref().err().cloned());
        }
        return;
    };
    let Some(first) = views.first() else { return };
    let expected =
        Array::from_shape_fn(first.raw_dim(), |at| views.iter().map(|view| view[&at]).collect::<Vec<_>>());
    let mut sum = ArrayD::<i64>::zeros(first.raw_dim());
    let mut each = ArrayD::<Vec<i64>>::default(first.raw_dim());
    for six in operands.chunks(6) {
        apply(&mut sum, six, |out, x| *out += x.iter().sum::<i64>()).expect("they go together");
        apply(&mut each, six, |out, x| out.extend(x)).expect("they go together");
    }
    assert_eq!(each, expected);
    assert_eq!(sum, expected.map(|x| x.iter().sum::<i64>()));
    if operands.len() <= 6 {
        assert_eq!(map(operands, <[i64]>::to_vec).expect("they go together"), expected);
        assert_eq!(map(operands, |x| x.iter().sum::<i64>()).expect("they go together"), sum);
        let total = map_sum_to(operands, &[] as &[usize], |x| x.iter().sum()).expect("to no axes");
        assert_eq!(total.sum(), sum.sum());
    }
}

fn to<'a>(
    source: &ArrayViewD<'a, i64>,
    target: &[i64],
    keeps: bool,
) -> Result<ArrayViewD<'a, i64>, BroadcastError> {
    let view = source.clone().into_broadcast_to(target);
    assert_same(source.broadcast_to(target).map(|view| vec![view]), &view.clone().map(|view| vec![view]));
    let mut changed = source.clone();
    let in_place = changed.broadcast_in_place(target);
    assert_eq!(in_place.err(), view.as_ref().err().cloned());
    assert_eq!(layouts(&[changed]), layouts(&[view.as_ref().unwrap_or(source).clone()]));
    let signed: Vec<isize> = target.iter().map(|&size| isize::try_from(size).expect("64 bits")).collect();
    let shape = view.as_ref().map(|view| view.shape().to_vec()).map_err(Clone::clone);
    assert_eq!(resolve_target(source.shape(), &signed), shape);
    assert_eq!(infer_target(&known(source.shape()), target).ok(), shape.ok().map(|shape| known(&shape)));
    let same_rule = source.broadcast_to_match_shape(target);
    if sizes(target).is_some() {
        // without -1 the two families have one rule
        assert_eq!(same_rule, view);
    } else {
        assert_eq!(same_rule.as_ref().map_err(variant).err().as_deref(), Some("InvalidSize"));
        if !keeps {
            return Err(same_rule.expect_err("a size that is none"));
        }
    }
    if let Ok(view) = &view {
        assert_eq!(view.as_ptr(), source.as_ptr());
    }
    view
}

fn along<'a>(
    array: &'a ArrayRef<i64, IxDyn>,
    shape: &[i64],
    axes: &[usize],
) -> Result<ArrayViewD<'a, i64>, BroadcastError> {
    let set: AxisSet = axes.iter().copied().collect();
    let view = array.broadcast_axes(shape, &set);
    let listed = array.broadcast_axes(shape, axes);
    if set.as_slice().len() == axes.len() {
        let name = |result: &Result<_, _>| result.as_ref().err().map(variant);
        assert_eq!((name(&listed), listed.as_ref().ok()), (name(&view), view.as_ref().ok()));
    } else if view.is_ok() {
        assert_eq!(listed.as_ref().map_err(variant).err().as_deref(), Some("DuplicateAxis"));
    } else {
        assert!(listed.is_err());
    }
    if let Some(sizes) = sizes(shape) {
        let like = Array::from_elem(IxDyn(&sizes), ());
        assert_eq!(array.broadcast_like(&like, &set), view);
        let inferred = infer_axes(&known(array.shape()), &known(&sizes), &set);
        assert_eq!(inferred.ok(), view.as_ref().ok().map(|view| known(view.shape())));
    }
    view
}

fn placed<'a>(
    array: &'a ArrayRef<i64, IxDyn>,
    shape: &[i64],
    places: &[usize],
) -> Result<ArrayViewD<'a, i64>, BroadcastError> {
    let view = array.broadcast_in_dim(shape, places);
    if let Some(sizes) = sizes(shape) {
        let inferred = infer_in_dim(&known(array.shape()), &known(&sizes), places);
        assert_eq!(inferred.ok(), view.as_ref().ok().map(|view| known(view.shape())));
        let signed: Vec<i64> = places.iter().map(|&place| i64::try_from(place).unwrap_or(-1)).collect();
        assert_eq!(in_dim_places(array.shape(), &sizes, &signed).is_some(), view.is_ok(), "the model");
    }
    view
}

/// The adjoint of `broadcast_in_dim(shape, places)`, as a user of the crate writes it: the axes that are new go
/// first, those of the array follow in its order, and the rest is aligned at the right.
fn placed_adjoint(delta: &ArrayRef<i64, IxDyn>, shape: &[usize], places: &[usize]) -> ArrayD<i64> {
    let order = [without_axes(delta.ndim(), places), places.to_vec()].concat();
    delta.view().permuted_axes(order).sum_to(shape).expect("the array's shape")
}

/// What every gradient was recorded for: weights that count -3, -2, … 3 over the output in row-major order.
pub(crate) fn weights(shape: &[usize]) -> ArrayD<i64> {
    Strided::counted(shape).map(|k| k % 7 - 3).into_array()
}

/// Asserts that every form of the sum to a shape has these elements.
fn assert_sums(delta: &ArrayRef<i64, IxDyn>, shape: &[usize], expected: &[i64]) {
    let sum = delta.sum_to(shape).expect("recorded as valid");
    assert_eq!(sum.shape(), shape);
    assert_elements(&sum, expected);
    assert_eq!(delta.sum_to(&Array::from_elem(shape, ())), Ok(sum.clone()));
    assert_eq!(delta.to_owned().into_sum_to(shape), Ok(sum.clone()));
    let mut out = ArrayD::from_elem(shape, 77);
    assert_eq!(delta.assign_sum_to(&mut out), Ok(()));
    assert_eq!(out, sum);
    assert_eq!(delta.add_sum_to(&mut out), Ok(()));
    assert_eq!(out, sum.mapv(|s| 2 * s));
    assert_eq!(delta.scaled_add_sum_to(-5, &mut out), Ok(()));
    assert_eq!(out, sum.mapv(|s| -3 * s));
    // axis by axis, as the views tell it
    let axes = reduction_axes(shape, delta.shape()).expect("recorded as valid");
    let kept = delta.sum_axes(keepdims(&axes)).expect("axes of the array");
    assert_elements(&kept, expected);
}

/// Asserts that the sum over listed axes, in every way to list them, is as recorded.
fn assert_sums_over(delta: &ArrayRef<i64, IxDyn>, listed: &[usize], shape: &[usize], expected: &[i64]) {
    let sum = delta.sum_axes(listed).expect("recorded as valid");
    assert_eq!(sum.shape(), shape);
    assert_elements(&sum, expected);
    let axes: Vec<Axis> = listed.iter().copied().map(Axis).collect();
    let backwards: Vec<usize> = listed.iter().rev().copied().collect();
    // a set may name an axis as often as it likes
    let set: AxisSet = listed.iter().chain(&backwards).copied().collect();
    let mut results = vec![
        delta.sum_axes(listed.to_vec()),
        delta.sum_axes(&backwards),
        delta.sum_axes(&axes[..]),
        delta.sum_axes(axes),
        delta.sum_axes(&set),
        delta.sum_axes(set.clone()),
    ];
    if let [axis] = *listed {
        results.extend([delta.sum_axes(axis), delta.sum_axes(Axis(axis)), delta.sum_axes([axis])]);
    }
    assert!(results.iter().all(|result| result.as_ref() == Ok(&sum)));
    match listed {
        [] => assert_eq!(&sum, delta, "the identity"),
        [first, ..] => {
            let twice = delta.sum_axes([listed, &[*first]].concat());
            assert_eq!(twice.map_err(|error| variant(&error)), Err("DuplicateAxis".to_owned()));
        }
    }
}

/// Asserts that arrays get as many axes as the one that has most.
pub(crate) fn assert_ranks(a: &ArrayD<()>, b: &ArrayD<()>, after: [&[usize]; 2], can: bool) {
    let (x, y) = a.expand_to_match_ranks(b);
    assert_eq!([x.shape(), y.shape()], after);
    assert_eq!(a.can_broadcast_to_match(b), can);
}
