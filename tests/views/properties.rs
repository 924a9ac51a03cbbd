//! Views of random shapes and layouts against the naive model, which goes from index to index.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use common::{
    Strided, aligned_right, array_and_target, empty, family, in_dim_places, indices, joint, layout, read_at,
    resolved, shape, signed, variant, view_of_rank, without_axes,
};
use ndarray::{ArrayRef, ArrayView, ArrayViewD, DimMax, Dimension, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, bounds::TargetShape, broadcast_arrays, broadcast_shapes,
    broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views, reduction_axes,
    resolve_target,
};
use proptest::prelude::*;
use proptest::sample::subsequence;

/// Where a view starts, its shape and its strides: all that it is.
type Look = (*const i64, Vec<usize>, Vec<isize>);

fn look<D: Dimension>(view: &ArrayRef<i64, D>) -> Look {
    (view.as_ptr(), view.shape().to_vec(), view.strides().to_vec())
}

/// The looks of a result's views, or its error.
type Looks = Result<Vec<Look>, BroadcastError>;

macro_rules! looks {
    ($result:expr, $($view:pat),+ => $($x:expr),+) => { $result.map(|($($view),+)| vec![$(look(&$x)),+]) };
}

/// One view's look, or the error.
fn look_of<D: Dimension>(result: Result<ArrayView<'_, i64, D>, BroadcastError>) -> Looks {
    result.map(|view| vec![look(&view)])
}

/// Asserts that a view is a layout's array broadcast to `shape` with axis `i` at `places[i]`: the shape, the
/// first element's address, the strides and every element.
fn assert_view<D: Dimension>(
    view: &ArrayRef<i64, D>,
    layout: &Strided<i64>,
    shape: &[usize],
    places: &[usize],
) {
    let source = layout.view();
    assert_eq!(view.shape(), shape);
    assert_eq!(view.as_ptr(), source.as_ptr(), "the first element");
    for axis in (0..shape.len()).filter(|&axis| shape[axis] > 1) {
        let own = places.iter().position(|&place| place == axis).filter(|&own| source.shape()[own] != 1);
        match own {
            None => assert_eq!(view.strides()[axis], 0, "axis {axis} is repeated"),
            // the strides of an array without elements say nothing
            Some(own) if !view.is_empty() => assert_eq!(view.strides()[axis], source.strides()[own]),
            Some(_) => {}
        }
    }
    let expected = |index: &Vec<usize>| *layout.at(&read_at(index, source.shape(), places));
    let view = view.view().into_dyn();
    assert!(
        indices(shape).iter().all(|index| view[index.as_slice()] == expected(index)),
        "elements by index"
    );
    assert!(view.iter().copied().eq(indices(shape).iter().map(expected)), "elements in order");
}

/// Asserts that views are those of layouts broadcast to the joint shape, or that the error is the model's.
fn assert_joint(views: &Result<Vec<ArrayViewD<i64>>, BroadcastError>, layouts: &[Strided<i64>]) {
    let shapes: Vec<Vec<usize>> = layouts.iter().map(|array| array.shape().to_vec()).collect();
    let model = joint(&shapes);
    assert_eq!(
        broadcast_shapes(&shapes).map_err(|error| variant(&error)),
        model.clone().map_err(str::to_owned)
    );
    match (views, model) {
        (Ok(views), Ok(joint)) => {
            assert_eq!(views.len(), layouts.len());
            for (view, layout) in views.iter().zip(layouts) {
                assert_view(view, layout, &joint, &aligned_right(layout.shape().len(), joint.len()));
            }
        }
        (Err(error), Err(name)) => assert_eq!(variant(error), name),
        (result, model) => panic!("{result:?} where the model has {model:?}"),
    }
}

/// Runs `$body` with `$name` the sizes in an array of their number, 0 to 6.
macro_rules! target_of_rank {
    ($target:expr, $name:ident => $body:expr) => {{
        macro_rules! fixed {
            ($n:literal) => {{
                let $name: [i64; $n] = $target.try_into().expect("as many sizes");
                $body
            }};
        }
        match $target.len() {
            0 => fixed!(0),
            1 => fixed!(1),
            2 => fixed!(2),
            3 => fixed!(3),
            4 => fixed!(4),
            5 => fixed!(5),
            6 => fixed!(6),
            ndim => panic!("{ndim} axes are not a fixed number"),
        }
    }};
}

/// The views toward a target of an array with a fixed number of axes, the target's fixed or not.
fn looks_toward<D: Dimension>(array: &ArrayView<'_, i64, D>, target: &[i64]) -> Vec<Looks> {
    let mut looks =
        vec![look_of(array.broadcast_to(target)), look_of(array.view().into_broadcast_to(target))];
    if target.len() <= 6 {
        target_of_rank!(target, target => {
            looks.push(look_of(array.broadcast_to(target)));
            looks.push(look_of(array.clone().into_broadcast_to(&target)));
        });
    }
    looks
}

/// As `looks_toward`, where -1 is no size.
fn looks_matching<D: Dimension>(array: &ArrayView<'_, i64, D>, target: &[i64]) -> Vec<Looks> {
    let mut looks = vec![look_of(array.broadcast_to_match_shape(target))];
    if target.len() <= 6 {
        target_of_rank!(target, target => looks.push(look_of(array.broadcast_to_match_shape(target))));
    }
    looks
}

/// Changes a view in place with any way to do so, and gives its look, or the error if nothing was changed.
fn in_place<D: Dimension>(
    mut view: ArrayView<'_, i64, D>,
    change: impl FnOnce(&mut ArrayView<'_, i64, D>) -> Result<(), BroadcastError>,
) -> Looks {
    let before = look(&view);
    let result = change(&mut view);
    if result.is_err() {
        assert_eq!(look(&view), before, "an error changes nothing");
    }
    result.map(|()| vec![look(&view)])
}

/// Asserts that the views of two arrays are those that the same arrays have with dynamic numbers of axes.
fn assert_match_agrees<D, E>(a: &ArrayView<'_, i64, D>, b: &ArrayView<'_, i64, E>, dynamic: &Looks)
where
    D: Dimension + DimMax<E>,
    E: Dimension,
    <D as DimMax<E>>::Output: DimMax<D>,
{
    assert_eq!(&looks!(a.broadcast_to_match(b), x, y => x, y), dynamic);
    assert_eq!(&looks!(broadcast_arrays((a, b.clone())), x, y => x, y), dynamic);
    let three = looks!(a.broadcast_to_match3(b, a), x, y, z => x, y, z);
    let again = |looks: Vec<Look>| vec![looks[0].clone(), looks[1].clone(), looks[0].clone()];
    match (three, dynamic.clone().map(again)) {
        (Ok(three), Ok(again)) => assert_eq!(three, again),
        (three, again) => assert!(three.is_err() && again.is_err()),
    }
    assert_eq!(a.can_broadcast_to_match(b), dynamic.is_ok());
    let (x, y) = a.expand_to_match_ranks(b);
    let (of_dynamic_a, of_dynamic_b) = (a.view().into_dyn(), b.view().into_dyn());
    let (p, q) = of_dynamic_a.expand_to_match_ranks(&of_dynamic_b);
    assert_eq!([look(&x), look(&y)], [look(&p), look(&q)]);
}

/// Asserts that views of one fixed number of axes change in place to what they are with a dynamic one, or
/// stay as they were.
fn assert_in_place_agrees<D>(a: &ArrayView<'_, i64, D>, b: &ArrayView<'_, i64, D>, dynamic: &Looks)
where
    D: Dimension + TargetShape<Dim = D> + DimMax<D, Output = D>,
{
    let (mut x, mut y) = (a.clone(), b.clone());
    let changed = broadcast_to_match_in_place(&mut x, &mut y);
    assert_eq!(&changed.map(|()| vec![look(&x), look(&y)]), dynamic);
    let (mut p, mut q, mut r) = (a.clone(), b.clone(), a.clone());
    let changed = broadcast_to_match3_in_place(&mut p, &mut q, &mut r);
    assert_eq!((look(&p), look(&q), look(&r)), (look(&x), look(&y), look(&x)));
    assert_eq!(changed.is_ok(), dynamic.is_ok());
    let to_the_other = in_place(a.clone(), |view| view.broadcast_in_place(y.raw_dim()));
    assert_eq!(to_the_other, look_of(a.broadcast_to(y.raw_dim())));
    if dynamic.is_err() {
        assert_eq!((look(&x), look(&y)), (look(a), look(b)));
    }
}

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn to_a_target((layout, target) in array_and_target()) {
        let (source, shape) = (layout.view(), layout.shape());
        let model = resolved(shape, &target, true);
        let result = source.broadcast_to(&target);
        let looks = look_of(result.clone());
        match (&result, &model) {
            (Ok(view), Ok(to)) => assert_view(view, &layout, to, &aligned_right(shape.len(), to.len())),
            (result, model) => prop_assert_eq!(result.as_ref().map_err(variant).err(), model.clone().map_err(str::to_owned).err()),
        }
        let sizes: Vec<isize> = target.iter().map(|&size| isize::try_from(size).expect("small")).collect();
        prop_assert_eq!(resolve_target(shape, &sizes).map_err(|e| variant(&e)), model.map_err(str::to_owned));
        prop_assert_eq!(source.can_broadcast_to(&target), result.is_ok());
        // -1 as a `usize` is a size that no array has
        let plain: Vec<usize> = sizes.iter().map(|size| size.cast_unsigned()).collect();
        prop_assert_eq!(source.can_broadcast_to(&plain), source.broadcast_to(&plain).is_ok());
        prop_assert_eq!(in_place(source.clone(), |view| view.broadcast_in_place(&target)), looks.clone());
        if source.ndim() <= 6 {
            let all = view_of_rank!(source.clone(), array => looks_toward(&array, &target));
            prop_assert!(all.iter().all(|of_rank| *of_rank == looks), "{:?} and {:?}", all, looks);
        }
    }

    #[test]
    fn to_a_shape((layout, target) in array_and_target()) {
        let (source, shape) = (layout.view(), layout.shape());
        let model = resolved(shape, &target, false);
        let result = source.broadcast_to_match_shape(&target);
        let looks = look_of(result.clone());
        match (&result, &model) {
            (Ok(view), Ok(to)) => assert_view(view, &layout, to, &aligned_right(shape.len(), to.len())),
            (result, model) => prop_assert_eq!(result.as_ref().map_err(variant).err(), model.clone().map_err(str::to_owned).err()),
        }
        if source.ndim() <= 6 {
            let all = view_of_rank!(source.clone(), array => looks_matching(&array, &target));
            prop_assert!(all.iter().all(|of_rank| *of_rank == looks), "{:?} and {:?}", all, looks);
        }
        if let Ok(to) = model {
            let new = to.len() - shape.len();
            let repeated = |&axis: &usize| axis < new || shape[axis - new] != to[axis];
            let expected: Vec<usize> = (0..to.len()).filter(repeated).collect();
            prop_assert_eq!(reduction_axes(shape, &to), Ok(expected));
        }
    }

    #[test]
    fn two_arrays_match(layouts in family(7, 2)) {
        let (a, b) = (layouts[0].view(), layouts[1].view());
        let result = a.broadcast_to_match(&b);
        prop_assert_eq!(a.can_broadcast_to_match(&b), result.is_ok());
        let looks = looks!(result.clone(), x, y => x, y);
        assert_joint(&result.map(|(x, y)| vec![x, y]), &layouts);
        let (mut x, mut y) = (a.clone(), b.clone());
        let changed = broadcast_to_match_in_place(&mut x, &mut y);
        if changed.is_err() {
            prop_assert_eq!((look(&x), look(&y)), (look(&a), look(&b)));
        }
        prop_assert_eq!(changed.map(|()| vec![look(&x), look(&y)]), looks);
    }

    #[test]
    fn two_arrays_with_as_many_axes(layouts in family(7, 2)) {
        let (a, b) = (layouts[0].view(), layouts[1].view());
        let ndim = a.ndim().max(b.ndim());
        let (x, y) = a.expand_to_match_ranks(&b);
        for (view, layout) in [(x, &layouts[0]), (y, &layouts[1])] {
            let own = layout.shape();
            let expanded = [vec![1; ndim - own.len()], own.to_vec()].concat();
            assert_view(&view, layout, &expanded, &aligned_right(own.len(), ndim));
        }
    }

    #[test]
    fn two_arrays_of_fixed_numbers_of_axes(layouts in family(6, 2)) {
        let (a, b) = (layouts[0].view(), layouts[1].view());
        let dynamic = looks!(a.broadcast_to_match(&b), x, y => x, y);
        if a.ndim() == b.ndim() {
            view_of_rank!(a.clone(), x => {
                let y = b.clone().into_dimensionality().expect("the same number of axes");
                assert_in_place_agrees(&x, &y, &dynamic);
            });
        }
        view_of_rank!(a.clone(), x => {
            assert_match_agrees(&x, &b, &dynamic);
            view_of_rank!(b.clone(), y => assert_match_agrees(&x, &y, &dynamic));
        });
        view_of_rank!(b.clone(), y => assert_match_agrees(&a, &y, &dynamic));
    }

    #[test]
    fn three_arrays_match(layouts in family(7, 3)) {
        let (a, b, c) = (layouts[0].view(), layouts[1].view(), layouts[2].view());
        let result = a.broadcast_to_match3(&b, &c);
        let looks = looks!(result.clone(), x, y, z => x, y, z);
        assert_joint(&result.map(|(x, y, z)| vec![x, y, z]), &layouts);
        let (mut x, mut y, mut z) = (a.clone(), b.clone(), c.clone());
        let changed = broadcast_to_match3_in_place(&mut x, &mut y, &mut z);
        if changed.is_err() {
            prop_assert_eq!([look(&x), look(&y), look(&z)], [look(&a), look(&b), look(&c)]);
        }
        prop_assert_eq!(changed.map(|()| vec![look(&x), look(&y), look(&z)]), looks.clone());
        if layouts.iter().all(|layout| layout.shape().len() <= 6) {
            let mixed = view_of_rank!(b.clone(), y => looks!(a.broadcast_to_match3(&y, &c), p, q, r => p, q, r));
            prop_assert_eq!(mixed, looks.clone());
            let mixed = view_of_rank!(c.clone(), z => looks!(a.broadcast_to_match3(&b, &z), p, q, r => p, q, r));
            prop_assert_eq!(mixed, looks);
        }
    }

    #[test]
    fn one_to_six_arrays(layouts in family(6, 1..=6)) {
        let operands: Vec<_> = layouts.iter().map(Strided::view).collect();
        let views = broadcast_views(&operands);
        let looks = views.clone().map(|views| views.iter().map(|view| look(view)).collect::<Vec<_>>());
        assert_joint(&views, &layouts);
        // references and views by value in turn, one of a fixed number of axes among them
        macro_rules! tuple {
            ($($x:ident)+; $($operand:expr),+) => {{
                let [$($x),+] = operands.as_slice() else { unreachable!() };
                broadcast_arrays(($($operand,)+)).map(|($($x,)+)| vec![$(look(&$x)),+])
            }};
        }
        let arrays = match operands.len() {
            1 => tuple!(a; a),
            2 => tuple!(a b; a.clone(), b),
            3 => tuple!(a b c; a, b.clone(), c),
            4 => tuple!(a b c d; &**a, b, c.clone(), d),
            5 => tuple!(a b c d e; a.clone(), b, c, &**d, e.clone()),
            _ => tuple!(a b c d e f; a, b.clone(), c, d.clone(), e, f.clone()),
        };
        prop_assert_eq!(arrays, looks.clone());
        if let [a, rest @ ..] = operands.as_slice() {
            let fixed = view_of_rank!(a.clone(), x => match rest {
                [] => broadcast_arrays((x,)).map(|(x,)| vec![look(&x)]),
                [b] => looks!(broadcast_arrays((&x, b)), p, q => p, q),
                [b, c] => looks!(broadcast_arrays((x, b, c.clone())), p, q, r => p, q, r),
                _ => looks.clone(),
            });
            prop_assert_eq!(fixed, looks);
        }
    }

    #[test]
    fn along_named_axes(
        (layout, to, axes) in (shape(7), prop::bool::weighted(0.25)).prop_flat_map(|(to, clash)| {
            let axes = subsequence((0..to.len()).collect::<Vec<_>>(), 0..=to.len()).prop_shuffle();
            (Just(to), axes, Just(clash), 0..8_usize, 0..3_usize)
        }).prop_flat_map(|(to, axes, clash, at, size)| {
            let mut own: Vec<usize> = without_axes(to.len(), &axes).iter().map(|&axis| to[axis]).collect();
            if clash && at < own.len() {
                own[at] = size;
            } else if clash {
                own.push(size);
            }
            (layout(own), Just(to), Just(axes))
        })
    ) {
        let source = layout.view();
        let places = without_axes(to.len(), &axes);
        let kept: Vec<usize> = places.iter().map(|&axis| to[axis]).collect();
        let result = source.broadcast_axes(&to, &axes);
        let looks = look_of(result.clone());
        match &result {
            Ok(view) => {
                prop_assert_eq!(&kept, &layout.shape(), "the rest of the shape is the array's");
                assert_view(view, &layout, &to, &places);
            }
            Err(error) => {
                let name = if kept.len() == source.ndim() { "Incompatible" } else { "AxisCount" };
                prop_assert_eq!(variant(error), name);
                prop_assert_ne!(&kept, &layout.shape());
            }
        }
        let set: AxisSet = axes.iter().copied().collect();
        let like = empty(&to);
        let in_set = look_of(source.broadcast_axes(&to, &set));
        prop_assert_eq!(look_of(source.broadcast_like(&like, &set)), in_set.clone());
        prop_assert_eq!(in_set.ok(), looks.clone().ok());
        if source.ndim() <= 6 && to.len() <= 6 {
            let sizes: Vec<i64> = to.iter().copied().map(signed).collect();
            let fixed = view_of_rank!(source.clone(), array => {
                target_of_rank!(sizes.as_slice(), sizes => look_of(array.broadcast_axes(sizes, &axes)))
            });
            prop_assert_eq!(fixed, looks);
        }
    }

    #[test]
    fn with_a_place_for_each_axis(
        (layout, to, places) in (shape(7), prop::bool::weighted(0.25)).prop_flat_map(|(to, clash)| {
            let places = subsequence((0..to.len()).collect::<Vec<_>>(), 0..=to.len()).prop_shuffle();
            let ones = prop::collection::vec(prop::bool::weighted(0.3), to.len());
            (Just(to), places, ones, Just(clash), 0..8_usize, 0..4_usize)
        }).prop_flat_map(|(to, mut places, ones, clash, at, odd)| {
            let mut own: Vec<usize> = places.iter().map(|&axis| if ones[axis] { 1 } else { to[axis] }).collect();
            if clash && at < own.len() {
                match odd {
                    3 => places[at] = places[0],
                    size => own[at] = size,
                }
            } else if clash {
                places.push(at);
                if odd > 1 {
                    own.push(1);
                }
            }
            (layout(own), Just(to), Just(places))
        })
    ) {
        let source = layout.view();
        let result = source.broadcast_in_dim(&to, &places);
        let looks = look_of(result.clone());
        let dims: Vec<i64> = places.iter().copied().map(signed).collect();
        prop_assert_eq!(result.is_ok(), in_dim_places(layout.shape(), &to, &dims).is_some());
        if let Ok(view) = result {
            assert_view(&view, &layout, &to, &places);
        }
        if source.ndim() <= 6 && to.len() <= 6 {
            let sizes: Vec<i64> = to.iter().copied().map(signed).collect();
            let fixed = view_of_rank!(source.clone(), array => {
                target_of_rank!(sizes.as_slice(), sizes => look_of(array.broadcast_in_dim(sizes, &places)))
            });
            prop_assert_eq!(fixed, looks);
        }
    }

    /// A view of a view is a view: what is broadcast can be broadcast on.
    #[test]
    fn views_of_views(layouts in family(5, 3)) {
        let shapes: Vec<_> = layouts.iter().map(|array| array.shape().to_vec()).collect();
        if let (Ok(two), Ok(three)) = (joint(&shapes[..2]), joint(&shapes)) {
            let source = layouts[0].view();
            let once = source.broadcast_to(&three).expect("the joint shape");
            let twice = source.broadcast_to(&two).expect("the joint shape");
            let twice = twice.broadcast_to(&three).expect("the joint shape");
            assert_view(&once, &layouts[0], &three, &aligned_right(shapes[0].len(), three.len()));
            assert_view(&twice, &layouts[0], &three, &aligned_right(shapes[0].len(), three.len()));
        }
    }

    /// ndarray's own `broadcast` knows the rule for sizes that are not 0.
    #[test]
    fn as_ndarray_where_it_can((layout, target) in array_and_target()) {
        let (source, to) = (layout.view(), target.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>());
        if let Ok(to) = to {
            let ours = source.broadcast_to(&to);
            if let Some(theirs) = source.broadcast(IxDyn(&to)) {
                prop_assert_eq!(ours, Ok(theirs));
            } else {
                prop_assert!(ours.is_err());
            }
        }
    }
}
