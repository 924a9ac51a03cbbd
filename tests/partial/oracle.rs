//! The rule by enumeration: every assignment of sizes to what is not known, one after the other. What is inferred and
//! decided is what some and all assignments say.

use ndarray_broadcast::partial::{
    Decision, Dim, PartialShape, Plan, ResultRule, decide, decide_result, infer_dim, infer_dims,
    infer_shapes, verify,
};
use std::collections::BTreeSet;

/// Sizes that names stand for: `n`, then `m`.
pub(crate) type Names = [usize; 2];

/// The joint size: all that are not 1 are equal.
pub(crate) fn joint(sizes: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut stretching: Vec<usize> = sizes.into_iter().filter(|&size| size != 1).collect();
    stretching.dedup();
    match stretching[..] {
        [] => Some(1),
        [size] => Some(size),
        _ => None,
    }
}

/// The joint shape, aligned at the right.
pub(crate) fn joint_shape(shapes: &[Vec<usize>]) -> Option<Vec<usize>> {
    let ndim = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let at = |shape: &Vec<usize>, from_end: usize| shape.iter().rev().nth(from_end).copied().unwrap_or(1);
    (0..ndim).rev().map(|from_end| joint(shapes.iter().map(|shape| at(shape, from_end)))).collect()
}

/// Whether an axis of size `size` is as `dim` says when names stand for `names`.
pub(crate) fn covers(dim: &Dim, names: Names, size: usize) -> bool {
    match dim {
        Dim::Known(known) => *known == size,
        Dim::Unknown => true,
        Dim::Range(range) => range.min() <= size && range.max().is_none_or(|max| size <= max),
        Dim::Name(name) => {
            let within = name.range().is_none_or(|range| covers(&Dim::Range(range), names, size));
            within && names[usize::from(name.as_str() != "n")] == size
        }
        other => panic!("{other} is not enumerated"),
    }
}

/// All assignments of sizes up to `top` to the names that stand in `shapes`; 0 to the others.
pub(crate) fn assignments(shapes: &[PartialShape], top: usize) -> Vec<Names> {
    let stands = |name: &str| {
        let is_name = |dim: &Dim| matches!(dim, Dim::Name(other) if other.as_str() == name);
        shapes.iter().any(|shape| shape.dims().is_some_and(|dims| dims.iter().any(is_name)))
    };
    let sizes = |name| if stands(name) { 0..=top } else { 0..=0 };
    sizes("n").flat_map(|n| sizes("m").map(move |m| [n, m])).collect()
}

/// All shapes with sizes up to `top` that `shape` can be when names stand for `names`.
pub(crate) fn instances(shape: &PartialShape, names: Names, top: usize) -> Vec<Vec<usize>> {
    shape.dims().unwrap().iter().fold(vec![vec![]], |shapes, dim| {
        let sizes: Vec<usize> = (0..=top).filter(|&size| covers(dim, names, size)).collect();
        shapes.iter().flat_map(|shape| sizes.iter().map(|&size| [&shape[..], &[size]].concat())).collect()
    })
}

/// All ways to pick one of each.
pub(crate) fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![vec![]], |picked, choices| {
        picked
            .iter()
            .flat_map(|picked| choices.iter().map(|it| [picked, std::slice::from_ref(it)].concat()))
            .collect()
    })
}

/// Every way that the operands can be, with what the names stand for then.
pub(crate) fn worlds(operands: &[PartialShape], top: usize) -> Vec<(Names, Vec<Vec<usize>>)> {
    let of = |names: Names| {
        let shapes: Vec<_> = operands.iter().map(|operand| instances(operand, names, top)).collect();
        product(&shapes).into_iter().map(move |shapes| (names, shapes))
    };
    assignments(operands, top).into_iter().flat_map(of).collect()
}

/// Every `Dim` over sizes up to `named`, with two names.
pub(crate) fn language(named: usize) -> Vec<Dim> {
    let mut dims: Vec<Dim> = (0..=named).map(Dim::Known).collect();
    for lo in 0..=named {
        dims.extend((lo + 1..=named).map(|hi| Dim::range(lo..=hi).unwrap()));
        dims.push(Dim::range(lo..).unwrap());
    }
    dims.extend([Dim::name("n").unwrap(), Dim::name("m").unwrap()]);
    dims
}

/// What can come out at an axis: what the names stand for, and the joint size.
pub(crate) type Outcomes = BTreeSet<(Names, usize)>;

/// Checks that `inferred` is sound, and that no smaller `Dim` is.
pub(crate) fn assert_smallest(
    inferred: &Dim,
    outcomes: &Outcomes,
    (language, top): (&[Dim], usize),
    of: &dyn std::fmt::Debug,
) {
    for &(names, size) in outcomes {
        assert!(covers(inferred, names, size), "{of:?}: {inferred} excludes {size} for {names:?}");
    }
    let admissible: BTreeSet<Names> = outcomes.iter().map(|(names, _)| *names).collect();
    let covered = |dim: &Dim| -> Outcomes {
        let sizes = |&names: &Names| {
            (0..=top).filter(move |&size| covers(dim, names, size)).map(move |size| (names, size))
        };
        admissible.iter().flat_map(sizes).collect()
    };
    let ours = covered(inferred);
    if ours == *outcomes {
        return;
    }
    for other in language.iter().filter(|dim| outcomes.iter().all(|&(names, size)| covers(dim, names, size)))
    {
        let theirs = covered(other);
        assert!(
            theirs.len() >= ours.len() || !theirs.is_subset(&ours),
            "{of:?}: {other} is within {inferred}"
        );
    }
}

/// The largest size that a `Dim` names here, and the largest that is enumerated: beyond the former
/// there have to be two, so that what has no end differs from what ends.
const NAMED: usize = 4;
const TOP: usize = 6;

/// The pairs and triples of `dims` as shapes of one axis, each set once.
fn pairs_and_triples(dims: &[Dim]) -> Vec<Vec<PartialShape>> {
    let shape = |i: usize| PartialShape::ranked([dims[i].clone()]);
    let mut operands = Vec::new();
    for i in 0..dims.len() {
        for j in i..dims.len() {
            operands.push(vec![shape(i), shape(j)]);
            operands.extend((j..dims.len()).map(|k| vec![shape(i), shape(j), shape(k)]));
        }
    }
    operands
}

/// One axis: the sizes of the inferred `Dim` are those that come out, not one more or less; the answer is
/// what the enumeration says; and the checks hold exactly where the sizes go together.
#[test]
fn one_axis() {
    let language = language(NAMED);
    let operands = pairs_and_triples(&language);
    for operands in &operands {
        let dims: Vec<Dim> = operands.iter().map(|shape| shape.dims().unwrap()[0].clone()).collect();
        let worlds = worlds(operands, TOP);
        let outcomes: Outcomes = worlds
            .iter()
            .filter_map(|(names, shapes)| Some((*names, joint(shapes.iter().map(|shape| shape[0]))?)))
            .collect();
        let (decision, inferred) = (decide(operands), infer_dims(&dims));
        assert_eq!(infer_shapes(operands).is_ok(), inferred.is_ok(), "{operands:?}");
        if let [a, b] = &dims[..] {
            assert_eq!(infer_dim(a.clone(), b.clone()), inferred, "{operands:?}");
        }
        if outcomes.is_empty() {
            assert!(matches!((&inferred, &decision), (Err(a), Decision::Never(b)) if a == b), "{operands:?}");
            continue;
        }
        let inferred = inferred.unwrap();
        assert_smallest(&inferred, &outcomes, (&language, TOP), operands);
        let reached: BTreeSet<usize> = outcomes.iter().map(|&(_, size)| size).collect();
        let said: BTreeSet<usize> = (0..=TOP).filter(|&size| inferred.admits(size)).collect();
        assert_eq!(said, reached, "{operands:?}");
        let fits = |shapes: &[Vec<usize>]| joint_shape(shapes).is_some();
        let always = worlds.iter().all(|(_, shapes)| fits(shapes));
        assert_eq!(always, decision == Decision::Always, "{operands:?}");
        let checks = decision.checks().unwrap();
        for (_, shapes) in &worlds {
            let hold = checks.iter().all(|check| check.holds(shapes));
            assert_eq!(hold, fits(shapes), "{operands:?} of {shapes:?}: {checks:?}");
        }
    }
    assert_eq!((language.len(), operands.len()), (22, 253 + 2024));
}

/// No order of operands changes what is inferred or decided: `[0]`, `[?]`, `[3]` among them.
#[test]
fn order() {
    for operands in pairs_and_triples(&language(NAMED)).into_iter().filter(|operands| operands.len() == 3) {
        let (inferred, decision) = (infer_shapes(&operands), decide(&operands));
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let other = order.map(|i| operands[i].clone());
            assert_eq!(infer_shapes(&other).ok(), inferred.clone().ok(), "{operands:?} {order:?}");
            let answer = |decision: &Decision| match decision {
                Decision::Always => 0,
                Decision::Never(_) => 1,
                Decision::Depends(_) => 2,
            };
            assert_eq!(answer(&decide(&other)), answer(&decision), "{operands:?} {order:?}");
        }
    }
}

/// Two axes, on which a name is one and the same size: no axis of the inferred shape admits an outcome
/// that a smaller `Dim` would exclude, the answers and the checks are what the enumeration says.
#[test]
fn two_axes() {
    let text = ["0", "1", "3", "?", "0..1", "2..3", "n", "m"];
    let dims = text.map(|dim| dim.parse::<Dim>().unwrap());
    let all = language(3);
    let pair = |i: usize| PartialShape::ranked([dims[i / dims.len()].clone(), dims[i % dims.len()].clone()]);
    let (count, top) = (dims.len() * dims.len(), 5);
    for (i, j) in (0..count).flat_map(|i| (i..count).map(move |j| (i, j))) {
        let operands = [pair(i), pair(j)];
        let worlds = worlds(&operands, top);
        let joints: Vec<_> = worlds.iter().map(|(names, shapes)| (*names, joint_shape(shapes))).collect();
        let decision = decide(&operands);
        let Ok(inferred) = infer_shapes(&operands) else {
            assert!(joints.iter().all(|(_, joint)| joint.is_none()), "{operands:?}");
            assert!(matches!(decision, Decision::Never(_)), "{operands:?}");
            continue;
        };
        for (axis, dim) in inferred.dims().unwrap().iter().enumerate() {
            let outcomes =
                joints.iter().filter_map(|(names, joint)| Some((*names, joint.as_ref()?[axis]))).collect();
            assert_smallest(dim, &outcomes, (&all, top), &operands);
        }
        assert_eq!(joints.iter().all(|(_, joint)| joint.is_some()), decision == Decision::Always);
        let checks = decision.checks().unwrap();
        for ((_, shapes), (_, joint)) in worlds.iter().zip(&joints) {
            let hold = checks.iter().all(|check| check.holds(shapes));
            assert_eq!(hold, joint.is_some(), "{operands:?} of {shapes:?}: {checks:?}");
        }
    }
}

/// A declared result: the answers are certain, the checks exact, and a plan gives the joint shape
/// exactly where there is one that the result accepts.
#[test]
fn declared_result() {
    let dims = language(NAMED);
    let singles = || dims.iter().map(|dim| vec![PartialShape::ranked([dim.clone()])]);
    let pairs = pairs_and_triples(&dims).into_iter().filter(|operands| operands.len() == 2);
    let mut counts = [0; 3];
    for operands in singles().chain(pairs) {
        let worlds = worlds(&operands, TOP);
        for dim in &dims {
            let result = PartialShape::ranked([dim.clone()]);
            // A name that no operand has is free.
            let named = operands.iter().any(|shape| shape.dims().unwrap().contains(dim));
            let free = matches!(dim, Dim::Name(_)) && !named;
            let agrees = |names: Names, shapes: &[Vec<usize>]| {
                let accepted = |joint: &Vec<usize>| free || covers(dim, names, joint[0]);
                joint_shape(shapes).filter(accepted)
            };
            let expected: Vec<_> = worlds.iter().map(|(names, shapes)| agrees(*names, shapes)).collect();
            let all = worlds
                .iter()
                .zip(&expected)
                .all(|((_, shapes), expected)| joint_shape(shapes).is_none() || expected.is_some());
            if infer_shapes(&operands).is_ok() {
                let exact = verify(&operands, &result, ResultRule::Exact).is_ok();
                assert_eq!(exact, all, "{operands:?} to {result:?}");
                let some = expected.iter().any(Option::is_some);
                let possible = verify(&operands, &result, ResultRule::AllowCast).is_ok();
                assert_eq!(possible, some, "{operands:?} to {result:?}");
            }
            let decision = decide_result(&operands, &result);
            let plan = Plan::new(operands.clone()).and_then(|plan| plan.with_result(result.clone()));
            let checks = match &decision {
                Decision::Always => {
                    counts[0] += 1;
                    assert!(expected.iter().all(Option::is_some), "{operands:?} to {result:?}");
                    Vec::new()
                }
                Decision::Never(_) => {
                    counts[1] += 1;
                    assert!(expected.iter().all(Option::is_none), "{operands:?} to {result:?}");
                    assert!(plan.is_err(), "{operands:?} to {result:?}");
                    continue;
                }
                Decision::Depends(checks) => {
                    counts[2] += 1;
                    assert!(expected.iter().any(Option::is_some), "{operands:?} to {result:?}");
                    assert!(expected.iter().any(Option::is_none), "{operands:?} to {result:?}: {checks:?}");
                    checks.clone()
                }
            };
            let plan = plan.unwrap();
            for ((_, shapes), expected) in worlds.iter().zip(expected) {
                let hold = checks.iter().all(|check| check.holds(shapes));
                assert_eq!(hold, expected.is_some(), "{operands:?} to {result:?} of {shapes:?}: {checks:?}");
                assert_eq!(plan.joint_shape(shapes).ok(), expected, "{operands:?} to {result:?}");
            }
        }
    }
    assert_eq!(counts.iter().sum::<usize>(), (22 + 253) * 22);
}
