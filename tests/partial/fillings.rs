//! Every operation against all fillings: each way to give names and unknown sizes a number.
//!
//! For operands of up to 3 axes, with names at several axes, ranges and unknown sizes:
//! - an error says that no filling succeeds, and only then;
//! - no filling that succeeds gives a result that is not as inferred;
//! - a size on which all such fillings agree is known, in the results and of each name;
//! - the checks hold exactly for the fillings that succeed.
//!
//! An operand may be a shape without a known number of axes. Not all of its fillings are tried, so that those that are tried may
//! agree by chance: nothing follows from it, but all else holds.

use super::names::dims;
use super::p;
use common::indices;
use common::oracle::{Names as Filled, covers, covers_all, joint, joint_shape, stands, worlds};
use ndarray_broadcast::partial::{
    Decision, Dim, Names, PartialShape, Plan, ResultRule, ShapeOp, decide_result, infer_axes, infer_batch,
    infer_branches, infer_in_dim, infer_ranks, infer_result_shape, infer_shapes, infer_sum, infer_sum_in_dim,
    infer_sum_to, infer_target, verify,
};
use ndarray_broadcast::{BroadcastError, Signature, keepdims};
use proptest::collection::vec;
use proptest::prelude::*;

/// The largest size that is tried; all sizes and ranges of shapes start at least 2 below.
const TOP: usize = 5;

/// More fillings than these are too many for a test.
const MOST: usize = 15_000;

const SIGNATURES: [&str; 9] = [
    "(m,n),(n,p)->(m,p)",
    "(m?,n),(n,p?)->(m?,p?)",
    "(n),(n)->()",
    "(),(i)->(i)",
    "(),(3)->()",
    "(n,n),(n)->(n),(n)",
    "(3),(3)->(3)",
    "(i),(j)->(j,i)",
    "(),()->()",
];

/// A size that names its own number at most 3, so that what has no end differs from what ends.
fn small() -> impl Strategy<Value = Dim> {
    dims().prop_filter("a small size", |dim| {
        (0..4).any(|size| dim.admits(size)) && dim.admits(TOP) != ends(dim)
    })
}

fn ends(dim: &Dim) -> bool {
    (0..=TOP + 9).all(|size| !dim.admits(size) || size < TOP)
}

fn shape(most: usize) -> impl Strategy<Value = PartialShape> {
    vec(small(), 0..=most).prop_map(PartialShape::from)
}

/// A shape; one in eight has no known number of axes.
fn any_shape(most: usize) -> impl Strategy<Value = PartialShape> {
    prop_oneof![7 => shape(most), 1 => Just(PartialShape::unranked())]
}

fn are_ranked(operands: &[PartialShape]) -> bool {
    operands.iter().all(|operand| operand.ndim().is_some())
}

/// The results for known shapes.
type Model<'m> = &'m dyn Fn(&[Vec<usize>]) -> Option<Vec<Vec<usize>>>;

fn stretches(from: &[usize], to: &[usize]) -> bool {
    from.len() == to.len() && from.iter().zip(to).all(|(from, to)| *from == 1 || from == to)
}

fn wide(axes: &[i64]) -> Vec<i128> {
    axes.iter().copied().map(i128::from).collect()
}

/// The position of axis `number` among `ndim`, if there is such an axis.
fn position(number: i64, ndim: usize) -> Option<usize> {
    let end = if number < 0 { i64::try_from(ndim).unwrap() } else { 0 };
    usize::try_from(number + end).ok().filter(|&axis| axis < ndim)
}

#[allow(clippy::unnecessary_wraps, reason = "what a model gives")]
fn one(shape: Vec<usize>) -> Option<Vec<Vec<usize>>> {
    Some(vec![shape])
}

/// Holds an operation against all fillings. `alone` is what the operation's own function says.
fn hold(
    operation: &ShapeOp<'_>,
    operands: &[PartialShape],
    alone: Option<Result<PartialShape, BroadcastError>>,
    model: Model<'_>,
) -> Result<(), TestCaseError> {
    let worlds = worlds(operands, TOP);
    prop_assume!(worlds.len() <= MOST);
    let real: Vec<_> = worlds.iter().map(|(_, shapes)| model(shapes)).collect();
    let mut names = Names::new();
    let found = names.infer("it", operation, operands);
    let of = || format!("{operation:?} of {operands:?}");
    match (&found, alone) {
        (Ok(found), Some(alone)) => prop_assert_eq!(Ok(&found.results[0]), alone.as_ref(), "{}", of()),
        (Err(error), Some(alone)) => prop_assert_eq!(error.kind(), alone.unwrap_err().kind(), "{}", of()),
        _ => {}
    }
    let Ok(found) = found else {
        prop_assert!(real.iter().all(Option::is_none), "{}: {:?}", of(), found);
        for name in ["n", "m"] {
            prop_assert_eq!(names.get(name), None);
        }
        return Ok(());
    };
    let succeed: Vec<_> =
        worlds.iter().zip(&real).filter_map(|(world, real)| Some((world.0, real.as_ref()?))).collect();
    let are_all = are_ranked(operands);
    prop_assert!(!(are_all && succeed.is_empty()), "{}: {:?} is impossible", of(), found.results);
    for (result, inferred) in found.results.iter().enumerate() {
        prop_assert!(!are_all || inferred.ndim().is_some(), "{}: {}", of(), inferred);
        let Some(dims) = inferred.dims() else { continue };
        for (names, shapes) in &succeed {
            let fits = covers_all(inferred, *names, &shapes[result]);
            prop_assert!(fits, "{}: {} is not {:?} for {:?}", of(), inferred, shapes[result], names);
        }
        for (axis, dim) in dims.iter().enumerate().filter(|_| are_all) {
            let size = succeed[0].1[result][axis];
            if succeed.iter().all(|(_, shapes)| shapes[result][axis] == size) {
                prop_assert_eq!(dim, &Dim::Known(size), "{}: axis {} of {}", of(), axis, inferred);
            }
        }
    }
    for (i, name) in ["n", "m"].into_iter().enumerate() {
        let learned = names.get(name).unwrap_or(Dim::Unknown);
        prop_assert!(
            succeed.iter().all(|(names, _)| learned.admits(names[i])),
            "{}: {} is {}",
            of(),
            name,
            learned
        );
        if are_all && stands(name, operands) && succeed.iter().all(|(names, _)| names[i] == succeed[0].0[i]) {
            prop_assert_eq!(learned, Dim::Known(succeed[0].0[i]), "{}: {}", of(), name);
        }
    }
    if succeed.iter().any(|(names, _)| names[0] != names[1]) {
        prop_assert!(names.get("n").is_none() || names.get("n") != names.get("m"), "{}: n is m", of());
    }
    for ((_, shapes), real) in worlds.iter().zip(&real) {
        let holds = found.checks.iter().all(|check| check.holds(shapes));
        prop_assert_eq!(holds, real.is_some(), "{} as {:?}: {:?}", of(), shapes, &found.checks);
    }
    let always = real.iter().all(Option::is_some);
    let is_said = Decision::from(Ok(found)) == Decision::Always;
    prop_assert!(if are_all { always == is_said } else { always || !is_said }, "{}", of());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..common::cases(1500) })]

    #[test]
    fn together(operands in vec(any_shape(3), 1..4)) {
        hold(&ShapeOp::Together, &operands, Some(infer_shapes(&operands)), &|shapes| one(joint_shape(shapes)?))?;
        if are_ranked(&operands) {
            prop_assert_eq!(infer_result_shape(&operands).ok().flatten(), infer_shapes(&operands).ok());
        }
        let ranks = Names::new().infer("it", &ShapeOp::Ranks, &operands).unwrap();
        prop_assert_eq!((ranks.results, ranks.checks), (infer_ranks(&operands), vec![]));
    }

    /// -1 and sizes, by the function; names and ranges beside -1, by the operation.
    #[test]
    fn target(array in any_shape(3), sizes in vec(-1..4_isize, 0..4), named in vec(proptest::option::of(small()), 0..4)) {
        let resolve = |shape: &[usize], target: &[Option<usize>]| {
            let new = target.len().checked_sub(shape.len())?;
            let of = |(axis, size): (usize, &Option<usize>)| match (axis.checked_sub(new).map(|axis| shape[axis]), *size) {
                (own, Some(size)) => own.is_none_or(|own| own == 1 || own == size).then_some(size),
                (own, None) => own,
            };
            target.iter().enumerate().map(of).collect::<Option<Vec<_>>>()
        };
        let plain: Vec<_> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
        let operation = ShapeOp::Target(plain.iter().map(|size| size.map(Dim::Known)).collect());
        let alone = infer_target(&array, &sizes);
        hold(&operation, std::slice::from_ref(&array), Some(alone), &|shapes| one(resolve(&shapes[0], &plain)?))?;
        // the sizes of the target as a shape of its own, so that they are filled too
        let known: Vec<_> = named.iter().flatten().cloned().collect();
        let operands = [array, known.into()];
        let worlds = worlds(&operands, TOP);
        prop_assume!(worlds.len() <= MOST && are_ranked(&operands));
        let mut results = Vec::new();
        for (names, shapes) in &worlds {
            let mut sizes = shapes[1].iter();
            let target: Vec<_> = named.iter().map(|size| size.as_ref().and_then(|_| sizes.next().copied())).collect();
            results.extend(resolve(&shapes[0], &target).map(|result| (*names, result)));
        }
        let found = Names::new().infer("it", &ShapeOp::Target(named.clone()), &operands[..1]);
        prop_assert_eq!(found.is_ok(), !results.is_empty(), "{:?} to {:?}: {:?}", operands[0], named, found);
        assert_exact(found.ok().map(|found| found.results[0].clone()), &results)?;
    }

    #[test]
    fn axes(array in any_shape(2), target in any_shape(3), axes in vec(0..3_i64, 0..3)) {
        let own = |shape: &[usize]| -> Option<Vec<usize>> {
            let named: Vec<_> = axes.iter().map(|&axis| position(axis, shape.len())).collect::<Option<_>>()?;
            let distinct = named.iter().enumerate().all(|(i, axis)| !named[..i].contains(axis));
            let others = shape.iter().enumerate().filter(|(axis, _)| !named.contains(axis));
            distinct.then(|| others.map(|(_, size)| *size).collect())
        };
        let model = |shapes: &[Vec<usize>]| one(shapes[1].clone()).filter(|_| own(&shapes[1]).as_ref() == Some(&shapes[0]));
        let alone = infer_axes(&array, &target, &axes);
        hold(&ShapeOp::Axes(wide(&axes)), &[array.clone(), target.clone()], Some(alone), &model)?;
        let sum = |shapes: &[Vec<usize>]| one(own(&shapes[0])?);
        let reduced = ShapeOp::Sum { axes: wide(&axes), keepdims: false };
        hold(&reduced, std::slice::from_ref(&target), Some(infer_sum(&target, &axes)), &sum)?;
        let kept = |shapes: &[Vec<usize>]| {
            own(&shapes[0])?;
            one((0..shapes[0].len()).map(|axis| if axes.iter().any(|&named| position(named, shapes[0].len()) == Some(axis)) { 1 } else { shapes[0][axis] }).collect())
        };
        let reduced = ShapeOp::Sum { axes: wide(&axes), keepdims: true };
        hold(&reduced, std::slice::from_ref(&target), Some(infer_sum(&target, keepdims(&axes))), &kept)?;
    }

    #[test]
    fn in_dim(array in any_shape(3), target in any_shape(3), axes in vec(-3..3_i64, 0..4)) {
        let placed = |whole: &[usize]| -> Option<Vec<usize>> {
            let places: Vec<_> =
                axes.iter().map(|&axis| position(axis, whole.len())).collect::<Option<_>>()?;
            let distinct = places.iter().enumerate().all(|(i, place)| !places[..i].contains(place));
            distinct.then(|| places.iter().map(|&place| whole[place]).collect())
        };
        let goes = |shapes: &[Vec<usize>]| one(shapes[1].clone()).filter(|_| {
            placed(&shapes[1]).is_some_and(|to| stretches(&shapes[0], &to))
        });
        let both = [array.clone(), target.clone()];
        hold(&ShapeOp::InDim(wide(&axes)), &both, Some(infer_in_dim(&array, &target, &axes)), &goes)?;
        let sums = |shapes: &[Vec<usize>]| one(shapes[1].clone()).filter(|_| {
            placed(&shapes[0]).is_some_and(|from| stretches(&shapes[1], &from))
        });
        hold(&ShapeOp::SumInDim(wide(&axes)), &both, Some(infer_sum_in_dim(&array, &target, &axes)), &sums)?;
    }

    #[test]
    fn sum_to(array in any_shape(3), target in any_shape(3), base in 0..3_usize) {
        let sums = |array: &[usize], target: &[usize]| {
            array.len().checked_sub(target.len()).is_some_and(|new| stretches(target, &array[new..]))
        };
        let to = |shapes: &[Vec<usize>]| one(shapes[1].clone()).filter(|_| sums(&shapes[0], &shapes[1]));
        let both = [array.clone(), target.clone()];
        hold(&ShapeOp::SumTo, &both, Some(infer_sum_to(&array, &target)), &to)?;
        let batch = |shapes: &[Vec<usize>]| {
            let (batch, own) = shapes[0].split_at(shapes[0].len().checked_sub(base)?);
            sums(batch, &shapes[1]).then(|| vec![[&shapes[1], own].concat()])
        };
        hold(&ShapeOp::SumBatchTo(base), &both, None, &batch)?;
    }

    #[test]
    fn batches(operands in vec((any_shape(3), 0..3_usize), 1..4)) {
        let (shapes, bases): (Vec<_>, Vec<_>) = operands.iter().cloned().unzip();
        let split = |shapes: &[Vec<usize>]| -> Option<[Vec<Vec<usize>>; 2]> {
            let split = |(shape, base): (&Vec<usize>, &usize)| {
                let (batch, base) = shape.split_at(shape.len().checked_sub(*base)?);
                Some((batch.to_vec(), base.to_vec()))
            };
            let (batches, bases) = shapes.iter().zip(&bases).map(split).collect::<Option<_>>()?;
            Some([batches, bases])
        };
        let batch = |shapes: &[Vec<usize>]| one(joint_shape(&split(shapes)?[0])?);
        hold(&ShapeOp::Batch(bases.clone()), &shapes, Some(infer_batch(&operands)), &batch)?;
        let map = |shapes: &[Vec<usize>]| {
            let [batches, bases] = split(shapes)?;
            one([joint_shape(&batches)?, joint_shape(&bases)?].concat())
        };
        hold(&ShapeOp::BatchMap(bases.clone()), &shapes, None, &map)?;
    }

    #[test]
    fn signature(text in proptest::sample::select(&SIGNATURES[..]), operands in vec(any_shape(3), 2)) {
        let signature = Signature::new(text).unwrap();
        let model = |shapes: &[Vec<usize>]| {
            let shapes: Vec<_> = shapes.iter().map(Vec::as_slice).collect();
            signature.resolve(&shapes).ok().map(|found| found.results)
        };
        hold(&ShapeOp::Signature(signature), &operands, None, &model)?;
        let (in_names, alone) =
            (Names::new().infer("it", &ShapeOp::Signature(signature), &operands), signature.infer(&operands));
        prop_assert_eq!(in_names.ok(), alone.ok());
    }

    /// One of several shapes: the smallest `Dim` that covers all of them.
    #[test]
    fn branches(operands in vec(vec(small(), 2).prop_map(PartialShape::from), 1..4)) {
        let found = infer_branches(&operands).unwrap();
        for (axis, dim) in found.dims().unwrap().iter().enumerate() {
            let all: Vec<_> = operands.iter().map(|shape| &shape.dims().unwrap()[axis]).collect();
            prop_assert!(operands.iter().all(|shape| found.relaxes(shape)));
            for size in 0..=TOP + 9 {
                let least = all.iter().filter_map(|dim| (0..=TOP + 9).find(|&size| dim.admits(size))).min().unwrap();
                let most = all.iter().filter_map(|dim| (0..=TOP + 9).rfind(|&size| dim.admits(size))).max().unwrap();
                prop_assert_eq!(dim.admits(size), least <= size && size <= most);
            }
            let name = |dim: &Dim| if let Dim::Name(name) = dim { Some(name.as_str().to_string()) } else { None };
            let same = all.iter().all(|other| name(other).is_some() && name(other) == name(all[0]));
            prop_assert_eq!(name(dim), name(all[0]).filter(|_| same));
        }
        let longer = PartialShape::from(vec![Dim::Unknown; 3]);
        prop_assert_eq!(infer_branches(operands.iter().chain([&longer])), Ok(PartialShape::unranked()));
        let in_names = Names::new().infer("it", &ShapeOp::Branches, &operands).unwrap();
        prop_assert_eq!((in_names.results, in_names.checks), (vec![found], vec![]));
    }

    /// A declared result is possible exactly where some filling of operands and result agrees, and a plan gives it there.
    #[test]
    fn declared(operands in vec(shape(2), 1..4), result in shape(3)) {
        let everything: Vec<_> = operands.iter().chain([&result]).cloned().collect();
        let worlds = worlds(&everything, TOP);
        prop_assume!(worlds.len() <= MOST);
        let agree: Vec<_> = worlds
            .iter()
            .filter_map(|(_, shapes)| shapes.split_last())
            .filter(|(result, operands)| joint_shape(operands).as_ref() == Some(*result))
            .collect();
        let is_possible = !agree.is_empty();
        let verified = verify(&operands, &result, ResultRule::AllowCast);
        prop_assert_eq!(verified.is_ok(), is_possible, "{:?} to {}: {:?}", operands, result, verified);
        prop_assert_eq!(decide_result(&operands, &result).checks().is_ok(), is_possible, "{:?} to {}", operands, result);
        prop_assert!(is_possible || verify(&operands, &result, ResultRule::Exact).is_err());
        let Ok(plan) = Plan::new(operands).and_then(|plan| plan.with_result(result)) else { return Ok(()) };
        for (result, operands) in agree {
            prop_assert_eq!(plan.joint_shape(operands), Ok(result.clone()));
            prop_assert!(plan.checks().iter().all(|check| check.holds(operands)), "{:?}", plan.checks());
        }
    }

    /// Several names can bring a declared size. A choice that leads nowhere is taken back, with everything that followed from it.
    #[test]
    fn names_that_bring_sizes(operands in vec(vec(0..5_usize, 3), 3), result in vec(0..3_usize, 3)) {
        let shape = |axes: &[usize], texts: &[&str]| p(&axes.iter().map(|&axis| texts[axis]).collect::<Vec<_>>().join("x"));
        let partial: Vec<_> = operands.iter().map(|axes| shape(axes, &["1", "a", "b", "c", "d"])).collect();
        let declared = shape(&result, &["?", "3", "4"]);
        let is_possible = indices(&[3; 4]).iter().any(|sizes| {
            let size_of = |dim: usize| if dim == 0 { 1 } else { [1, 3, 4][sizes[dim - 1]] };
            let joint = |axis: usize| joint(operands.iter().map(|axes| size_of(axes[axis])));
            (0..3).all(|axis| joint(axis).is_some_and(|size| declared.dims().unwrap()[axis].admits(size)))
        });
        let verified = verify(&partial, &declared, ResultRule::AllowCast);
        prop_assert_eq!(verified.is_ok(), is_possible, "{:?} to {}: {:?}", partial, declared, verified);
    }

    /// Two operations through the same names: what the first one teaches leaves out no filling of both.
    #[test]
    fn one_after_the_other(a in vec(shape(2), 2), b in vec(shape(2), 2), second in any::<bool>()) {
        let everything: Vec<_> = a.iter().chain(&b).cloned().collect();
        let worlds = worlds(&everything, TOP);
        prop_assume!(worlds.len() <= MOST);
        let to = |shapes: &[Vec<usize>]| {
            let new = shapes[0].len().checked_sub(shapes[1].len())?;
            stretches(&shapes[1], &shapes[0][new..]).then(|| shapes[1].clone())
        };
        let both = |shapes: &[Vec<usize>]| {
            Some([joint_shape(&shapes[..2])?, if second { to(&shapes[2..])? } else { joint_shape(&shapes[2..])? }])
        };
        let succeed: Vec<_> = worlds.iter().filter_map(|(names, shapes)| Some((*names, both(shapes)?))).collect();
        let mut names = Names::new();
        let operation = if second { ShapeOp::SumTo } else { ShapeOp::Together };
        let found = names.infer("a", &ShapeOp::Together, &a).and_then(|a| Ok([a, names.infer("b", &operation, &b)?]));
        match found {
            Err(error) => prop_assert!(succeed.is_empty(), "{:?}, {:?}: {}", a, b, error),
            Ok(found) => {
                for (filled, shapes) in &succeed {
                    for (found, shape) in found.iter().zip(shapes) {
                        prop_assert!(covers_all(&found.results[0], *filled, shape), "{:?}, {:?}", a, b);
                    }
                    for (i, name) in ["n", "m"].into_iter().enumerate() {
                        prop_assert!(names.get(name).is_none_or(|dim| dim.admits(filled[i])));
                    }
                }
            }
        }
    }

    /// Two descriptions of one shape.
    #[test]
    fn merged(sizes in vec((small(), small()), 0..4)) {
        let (a, b): (Vec<_>, Vec<_>) = sizes.into_iter().unzip();
        let operands: [PartialShape; 2] = [a.into(), b.into()];
        let worlds = worlds(&operands, TOP);
        prop_assume!(worlds.len() <= MOST);
        let equal = worlds.into_iter().filter(|(_, shapes)| shapes[0] == shapes[1]);
        let equal: Vec<_> = equal.map(|(names, mut shapes)| (names, shapes.swap_remove(0))).collect();
        let found = operands[0].merge(&operands[1]);
        prop_assert_eq!(found.is_ok(), !equal.is_empty(), "{:?}: {:?}", operands, found);
        prop_assert_eq!(Names::new().merge("it", &operands[0], &operands[1]).ok(), found.clone().ok());
        assert_exact(found.ok(), &equal)?;
    }
}

/// Checks that no filling's result is left out, and that a size on which all agree is known.
fn assert_exact(found: Option<PartialShape>, results: &[(Filled, Vec<usize>)]) -> Result<(), TestCaseError> {
    let Some(found) = found else { return Ok(()) };
    for (axis, dim) in found.dims().unwrap().iter().enumerate() {
        let size = results[0].1[axis];
        prop_assert!(results.iter().all(|(names, sizes)| covers(dim, *names, sizes[axis])), "{}", found);
        if results.iter().all(|(_, sizes)| sizes[axis] == size) {
            prop_assert_eq!(dim, &Dim::Known(size), "axis {} of {}", axis, found);
        }
    }
    Ok(())
}

/// The cases that a function which looks at one axis alone gets wrong.
#[test]
fn across_axes() {
    let words =
        |found: Result<PartialShape, BroadcastError>| found.map_or("error".into(), |shape| shape.to_string());
    assert_eq!(words(infer_in_dim(&p("5"), &p("nxn"), [1])), "5x5");
    assert_eq!(words(infer_axes(&p("5"), &p("nxn"), [0])), "5x5");
    assert_eq!(words(infer_target(&p("n:2..xn:2.."), [5, -1])), "5x5");
    assert_eq!(words(infer_in_dim(&p("nx1"), &p("1xn"), [0, 1])), "1x1");
    assert_eq!(words(infer_target(&p("n:2..xn:2.."), [2, 3])), "error");
    assert_eq!(words(infer_in_dim(&p("5xn"), &p("nx3"), [0, 1])), "error");
    assert_eq!(words(infer_target(&p("n:2..xn:4.."), [2, 2])), "error");
    let found = Signature::literal("(),(i)->(i)").infer(&[p("2x3"), p("mxmxm")]).unwrap();
    assert_eq!(found.results, [p("2x3x1")]); // the batches force m to be 1
    assert_eq!(joint([1, 3, 1]), Some(3));
}

#[test]
fn every_operation_is_filled() {
    let (_, variants) = include_str!("../../src/partial/shape_op.rs").split_once("pub enum ShapeOp").unwrap();
    let (variants, _) = variants.split_once("\n}\n").unwrap();
    // the doc comments of a field are further in
    let lines = variants.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let word = |text: &'static str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap();
    let cases: Vec<&str> = include_str!("fillings.rs").split("ShapeOp::").map(word).collect();
    let names: Vec<&str> = lines.map(word).collect();
    assert!(names.len() > 10, "operations: {names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !cases.contains(name)).collect();
    assert!(missing.is_empty(), "no case here for `ShapeOp` of {missing:?}");
}
