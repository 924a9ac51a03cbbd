//! Shapes that are known in part, held against every way in which they can be completed.

mod families;

use crate::cases::Input;
use crate::cases::check::{agreed, assert_refused};
use common::oracle::{Names, agrees, assignments, covers_all, instances, joint_shape, worlds};
use common::{Choices, joint as joint_of_sizes};
use ndarray::{ArrayD, IxDyn};
use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::partial::{
    Decision, Dim, PartialShape, Plan, ResultRule, decide, decide_result, infer_dim, infer_result_shape,
    infer_shape, infer_shapes, verify,
};
use std::mem::discriminant;

/// The largest size that a shape names, and the largest that is enumerated: there are two beyond, so that what has
/// no end differs from what ends.
const NAMED: usize = 3;
const TOP: usize = 5;

pub fn run(input: &mut Input<'_>) {
    match input.below(8) {
        0..4 => together(input),
        4 => declared(input),
        5 => families::families(input),
        6 => two(input),
        _ => any(input),
    }
}

fn dim(input: &mut Input<'_>) -> Dim {
    let range = |sizes: std::ops::RangeInclusive<usize>| Dim::range(sizes).expect("a range");
    match input.below(8) {
        0 | 1 => Dim::Known(input.below(NAMED + 1)),
        2 | 3 => Dim::Unknown,
        4 => {
            let lo = input.below(NAMED + 1);
            range(lo..=lo + input.below(NAMED + 1 - lo))
        }
        5 => Dim::range(input.below(NAMED + 1)..).expect("a range"),
        6 => Dim::name("n").expect("a name"),
        _ => Dim::name("m").expect("a name"),
    }
}

/// A ranked shape of at most `axes` axes.
fn shape(input: &mut Input<'_>, axes: usize) -> PartialShape {
    let ndim = input.below(axes + 1);
    PartialShape::ranked((0..ndim).map(|_| dim(input)).collect::<Vec<_>>())
}

/// Few enough axes in all, so that the ways to complete them can be counted.
fn few(input: &mut Input<'_>) -> Vec<PartialShape> {
    let axes = input.pick(&[&[1, 1][..], &[2, 1], &[2, 2], &[1, 1, 1], &[2], &[3, 1], &[1, 2, 1], &[]]);
    axes.iter().map(|&axes| shape(input, axes)).collect()
}

/// Sizes of the names, the shapes of all operands with these sizes, and the joint shape.
type Outcome = (Names, Vec<Vec<usize>>, Option<Vec<usize>>);

/// The outcomes of all sizes.
fn outcomes(operands: &[PartialShape]) -> Vec<Outcome> {
    worlds(operands, TOP)
        .into_iter()
        .map(|(names, shapes)| {
            let joint = joint_shape(&shapes);
            (names, shapes, joint)
        })
        .collect()
}

fn together(input: &mut Input<'_>) {
    let mut operands = few(input);
    let outcomes = outcomes(&operands);
    let decision = decide(&operands);
    let inferred = infer_shapes(&operands);
    let some = outcomes.iter().any(|outcome| outcome.2.is_some());
    let all = outcomes.iter().all(|outcome| outcome.2.is_some());
    assert_eq!(inferred.is_ok(), some, "{operands:?}");
    match &decision {
        Decision::Always => assert!(all, "{operands:?}"),
        Decision::Never(error) => {
            assert!(!some, "{operands:?}");
            let kind = common::variant(error);
            assert!(["Incompatible", "DeclaredName"].contains(&&kind[..]), "{error}");
            assert_refused(error, &kind);
            assert_eq!(Err(error.clone()), inferred);
            assert_eq!(Err(error.clone()), Plan::new(operands.clone()));
        }
        Decision::Depends(checks) => {
            assert!(some && !all && !checks.is_empty(), "{operands:?}");
            for (_, shapes, joint) in &outcomes {
                let hold = checks.iter().all(|check| check.holds(shapes));
                assert_eq!(hold, joint.is_some(), "{operands:?} of {shapes:?}: {checks:?}");
            }
            assert!(checks.iter().all(|check| !check.to_string().is_empty()));
        }
    }
    if let Ok(inferred) = &inferred {
        for (names, shapes, joint) in &outcomes {
            let Some(joint) = joint else { continue };
            assert_eq!(inferred.ndim(), Some(joint.len()));
            assert!(covers_all(inferred, *names, joint), "{operands:?} of {shapes:?}: {inferred}");
        }
        tight(&operands, inferred, &outcomes);
        let plan = Plan::new(operands.clone()).expect("what can succeed is planned");
        assert_eq!((plan.operands(), plan.inferred()), (&operands[..], inferred));
        assert_eq!(plan.checks(), decision.clone().checks().expect("not never"));
        for (_, shapes, joint) in &outcomes {
            assert_eq!(&plan.joint_shape(shapes).ok(), joint, "{operands:?} of {shapes:?}");
        }
        odd(input, &plan);
    }
    // no order changes an answer
    input.shuffle(&mut operands);
    assert_eq!(infer_shapes(&operands).ok(), inferred.ok());
    assert_eq!(discriminant(&decide(&operands)), discriminant(&decision));
}

/// No size that is inferred is one that does not come out; of names a `Dim` cannot say more.
fn tight(operands: &[PartialShape], inferred: &PartialShape, outcomes: &[Outcome]) {
    let names = operands
        .iter()
        .flat_map(|shape| shape.dims().unwrap_or_default())
        .any(|dim| matches!(dim, Dim::Name(_)));
    for (axis, dim) in inferred.dims().unwrap_or_default().iter().enumerate() {
        if matches!(dim, Dim::Name(_)) {
            continue;
        }
        let comes_out = |size: usize| {
            outcomes.iter().any(|outcome| outcome.2.as_ref().is_some_and(|joint| joint[axis] == size))
        };
        // the ends of a span, even where a name leaves holes in it
        let sizes: Vec<usize> = (0..=TOP).filter(|&size| dim.admits(size)).collect();
        let ends = [sizes.first(), sizes.last()];
        let must = if names { ends.into_iter().flatten().copied().collect() } else { sizes.clone() };
        assert!(must.iter().all(|&size| comes_out(size)), "{operands:?}: axis {axis} of {inferred}");
    }
}

/// Shapes that may not be as planned.
fn odd(input: &mut Input<'_>, plan: &Plan) {
    let count = if input.one_in(6) { input.below(4) } else { plan.operands().len() };
    let shapes: Vec<Vec<usize>> = (0..count)
        .map(|i| {
            let ndim = plan.operands().get(i).and_then(PartialShape::ndim).unwrap_or(1);
            let ndim = if input.one_in(8) { input.below(4) } else { ndim };
            (0..ndim).map(|_| input.below(TOP + 1)).collect()
        })
        .collect();
    let planned = plan.operands();
    let name = |error: &BroadcastError| common::variant(error);
    match plan.joint_shape(&shapes) {
        Ok(joint) => {
            assert_eq!(Ok(joint), joint_of_sizes(&shapes));
            assert!(planned.iter().zip(&shapes).all(|(planned, shape)| planned.accepts(shape)));
        }
        Err(error) if count != planned.len() => assert_refused(&error, "OperandCount"),
        Err(error) => {
            assert_refused(&error, &name(&error));
            let accepted = planned.iter().zip(&shapes).all(|(planned, shape)| planned.accepts(shape));
            match name(&error).as_str() {
                "DeclaredAxes" | "DeclaredSize" => assert!(!accepted),
                "DeclaredName" => {}
                "Incompatible" => assert_eq!(joint_of_sizes(&shapes), Err("Incompatible")),
                name => panic!("{name}"),
            }
        }
    }
}

/// With a declared result.
fn declared(input: &mut Input<'_>) {
    let operands = few(input);
    let result = if input.one_in(8) { PartialShape::unranked() } else { shape(input, 2) };
    let outcomes = outcomes(&operands);
    let expected: Vec<Option<&Vec<usize>>> = outcomes
        .iter()
        .map(|(names, _, joint)| joint.as_ref().filter(|joint| agrees(&operands, &result, *names, joint)))
        .collect();
    let decision = decide_result(&operands, &result);
    let plan = Plan::new(operands.clone()).and_then(|plan| plan.with_result(result.clone()));
    assert_eq!(plan.is_ok(), !matches!(decision, Decision::Never(_)));
    let error = |found: Result<(), BroadcastError>| {
        if let Err(error) = found {
            assert_refused(&error, &common::variant(&error));
        }
    };
    error(verify(&operands, &result, ResultRule::AllowCast));
    let exact = verify(&operands, &result, ResultRule::Exact);
    if exact.is_ok() {
        // what goes together has such a result
        for ((_, shapes, joint), expected) in outcomes.iter().zip(&expected) {
            assert_eq!(joint.as_ref(), *expected, "{operands:?} to {result} of {shapes:?}");
        }
        assert_eq!(verify(&operands, &result, ResultRule::AllowCast), Ok(()));
    }
    error(exact);
    match decision {
        Decision::Always => {
            assert!(operands.is_empty() || expected.iter().all(Option::is_some), "{operands:?} to {result}")
        }
        Decision::Never(reason) => {
            assert!(
                operands.is_empty() || expected.iter().all(Option::is_none),
                "{operands:?} to {result}: {reason}"
            );
            error(Err(reason));
        }
        Decision::Depends(checks) => {
            for ((_, shapes, _), expected) in outcomes.iter().zip(&expected) {
                let hold = checks.iter().all(|check| check.holds(shapes));
                assert_eq!(hold, expected.is_some(), "{operands:?} to {result} of {shapes:?}: {checks:?}");
            }
        }
    }
    if let Ok(plan) = plan {
        for ((_, shapes, _), expected) in outcomes.iter().zip(&expected) {
            assert_eq!(
                plan.joint_shape(shapes).ok().as_ref(),
                *expected,
                "{operands:?} to {result} of {shapes:?}"
            );
        }
    }
}

/// Two shapes: what merges them, and what relaxes what.
fn two(input: &mut Input<'_>) {
    let (a, b) = (shape(input, 3), shape(input, 3));
    let all = |shape: &PartialShape| -> Vec<Vec<usize>> {
        assignments(std::slice::from_ref(shape), TOP)
            .into_iter()
            .flat_map(|names| instances(shape, names, TOP))
            .collect()
    };
    let (own, others) = (all(&a), all(&b));
    assert!(own.iter().all(|shape| a.accepts(shape)));
    assert!(others.iter().all(|shape| a.accepts(shape) == own.contains(shape)));
    if a.relaxes(&b) && a.dims().unwrap_or_default().iter().all(|dim| !matches!(dim, Dim::Name(_))) {
        assert!(others.iter().all(|shape| a.accepts(shape)), "{a} relaxes {b}");
    }
    assert!(a.relaxes(&a) && PartialShape::unranked().relaxes(&a) && !a.relaxes(&PartialShape::unranked()));
    // what both say of one shape, a name being one size in both
    let common: Vec<Vec<usize>> = assignments(&[a.clone(), b.clone()], TOP)
        .into_iter()
        .flat_map(|names| {
            let others = instances(&b, names, TOP);
            instances(&a, names, TOP)
                .into_iter()
                .filter(move |shape| others.contains(shape))
                .collect::<Vec<_>>()
        })
        .collect();
    match a.merge(&b) {
        Ok(merged) => {
            let admits = |shape: &Vec<usize>| {
                let dims = merged.dims().expect("ranked");
                dims.len() == shape.len() && dims.iter().zip(shape).all(|(dim, &size)| dim.admits(size))
            };
            assert!(common.iter().all(admits), "{a} and {b}: {merged}");
        }
        Err(error) => {
            let kind = common::variant(&error);
            let kinds =
                if a.ndim() == b.ndim() { &["Incompatible", "DeclaredName"][..] } else { &["AxisCount"] };
            assert!(kinds.contains(&&kind[..]), "{error}");
            assert_refused(&error, &kind);
            assert!(common.is_empty(), "{a} and {b}");
        }
    }
    if let (Some([a]), Some([b])) = (a.dims(), b.dims()) {
        let joint = infer_shape(&vec![a.clone()].into(), &vec![b.clone()].into());
        assert_eq!(infer_dim(a.clone(), b.clone()), joint.map(|joint| joint.dims().unwrap()[0].clone()));
    }
    if let Some(sizes) = a.sizes() {
        let array = ArrayD::<()>::default(IxDyn(&sizes));
        assert_eq!(PartialShape::of(&array), a);
        assert!(a.accepts(&sizes) && PartialShape::from(sizes) == a);
    }
}

/// Any operands, `*` and huge sizes among them, too many to count: nothing panics, and what is true of some of the
/// ways to complete them is not denied.
fn any(input: &mut Input<'_>) {
    let count = input.below(5);
    let whole = input.small_shape(6, 100_000);
    let mut names: std::collections::BTreeMap<usize, usize> = Default::default();
    let (mut operands, mut shapes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let shape = input.operand(&whole);
        let dims: Vec<Dim> = shape
            .iter()
            .map(|&size| match input.below(6) {
                0 => Dim::Known(size),
                1 => Dim::Unknown,
                2 => {
                    Dim::range(size.saturating_sub(input.below(3))..=size + input.below(3)).expect("a range")
                }
                3 => Dim::range(size / 2..).expect("a range"),
                _ => {
                    let name = input.below(6);
                    if *names.entry(name).or_insert(size) == size {
                        Dim::name(&format!("n{name}")).expect("a name")
                    } else {
                        Dim::Unknown
                    }
                }
            })
            .collect();
        operands.push(if input.one_in(8) { PartialShape::unranked() } else { PartialShape::ranked(dims) });
        shapes.push(shape);
    }
    let joint = joint_of_sizes(&shapes);
    let (inferred, decision, plan) =
        (infer_shapes(&operands), decide(&operands), Plan::new(operands.clone()));
    assert_eq!(inferred.is_ok(), plan.is_ok());
    let shape = infer_result_shape(&operands);
    if let Ok(Some(shape)) = &shape
        && operands.iter().all(|operand| operand.dims().is_some())
    {
        assert_eq!(Ok(shape), inferred.as_ref());
    }
    match (&decision, &joint) {
        (Decision::Always, _) => assert!(joint.is_ok(), "{operands:?} of {shapes:?}"),
        (Decision::Never(_), _) => assert!(joint.is_err(), "{operands:?} of {shapes:?}"),
        (Decision::Depends(checks), _) => {
            let hold = checks.iter().all(|check| check.holds(&shapes));
            assert_eq!(hold, joint.is_ok(), "{operands:?} of {shapes:?}: {checks:?}");
        }
    }
    if let Ok(plan) = &plan {
        let found = agreed(plan.joint_shape(&shapes), &joint);
        found.into_iter().for_each(|(found, joint)| {
            assert_eq!(&found, joint);
            let inferred = plan.inferred();
            assert!(
                inferred.dims().is_none_or(|dims| dims.len() == found.len()
                    && dims.iter().zip(&found).all(|(dim, &size)| dim.admits(size))),
                "{inferred}"
            );
        });
    }
    // a result needs something that gives it
    if operands.is_empty() {
        return;
    }
    if let (Ok(joint), Ok(plan)) = (&joint, plan) {
        let dims = joint.iter().map(|&size| match input.below(4) {
            0 => Dim::Known(size),
            1 => Dim::range(size / 2..=size * 2 + 1).expect("a range"),
            _ => Dim::Unknown,
        });
        let result = PartialShape::ranked(dims.collect::<Vec<_>>());
        let plan = plan.with_result(result.clone()).expect("a result that can be");
        assert_eq!(plan.joint_shape(&shapes).as_ref(), Ok(joint));
        let decided = decide_result(&operands, &result).checks().expect("a result that can be");
        assert!(
            decided.iter().all(|check| check.holds(&shapes)),
            "{operands:?} to {result} of {shapes:?}: {decided:?}"
        );
    }
}
