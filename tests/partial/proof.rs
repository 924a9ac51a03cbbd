//! Proofs by enumeration: what is inferred and decided is what some and all assignments say, of shapes and of graphs whose
//! names stand for one size in all nodes.

use super::names::dims;
use common::oracle::{
    Outcomes, agrees, assert_inferred, assert_smallest, covers_all, instances, joint, joint_shape, language,
    product, worlds,
};
use ndarray::{ArrayD, IxDyn};
use ndarray_broadcast::partial::{
    Decision, Dim, Names as Bound, PartialShape, Plan, ResultRule, decide, decide_result, infer_dim,
    infer_shapes, infer_sum, infer_target, verify,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, Signature, broadcast_map};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::mem::discriminant;

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
        let (decision, inferred) =
            (decide(operands), infer_shapes(operands).map(|joint| joint.dims().unwrap()[0].clone()));
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
            assert_eq!(discriminant(&decide(&other)), discriminant(&decision), "{operands:?} {order:?}");
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
        let inferred = infer_shapes(&operands);
        let outcomes: Vec<_> =
            joints.iter().filter_map(|(names, joint)| Some((*names, joint.clone()?))).collect();
        assert_inferred(&inferred, &outcomes, (&all, top), &operands);
        if inferred.is_err() {
            assert!(matches!(decision, Decision::Never(_)), "{operands:?}");
            continue;
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
            let expected: Vec<_> = worlds
                .iter()
                .map(|(names, shapes)| {
                    joint_shape(shapes).filter(|joint| agrees(&operands, &result, *names, joint))
                })
                .collect();
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

const TOP_SIZE: usize = 3;
const MATMUL: Signature<'_> = Signature::literal("(m,n),(n,p)->(m,p)");

#[derive(Clone, Copy, Debug)]
enum Op {
    Input,
    Add,
    Sum,
    Expand,
    MatMul,
}

/// An operation on the two values before it, and its declared shape.
type Node = (Op, PartialShape);

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let shape = |most| vec(dims(), 0..=most).prop_map(PartialShape::from);
    let op = prop_oneof![Just(Op::Add), Just(Op::Sum), Just(Op::Expand), Just(Op::MatMul)];
    let declared = prop_oneof![1 => Just(PartialShape::unranked()), 2 => shape(2)];
    let inputs = vec(shape(2).prop_map(|shape| (Op::Input, shape)), 2);
    (inputs, vec((op, declared), 1..3)).prop_map(|(inputs, nodes)| inputs.into_iter().chain(nodes).collect())
}

/// The shapes of all nodes, declared and inferred, and what they say of names.
fn build(nodes: &[Node]) -> Result<(Vec<PartialShape>, Bound), BroadcastError> {
    let (mut names, mut shapes) = (Bound::new(), Vec::<PartialShape>::new());
    for (i, (op, declared)) in nodes.iter().enumerate() {
        let before = |back| names.resolve(&shapes[i - back]);
        let inferred = match op {
            Op::Input => PartialShape::unranked(),
            Op::Add => infer_shapes(&[before(2), before(1)])?,
            Op::Sum => infer_sum(&before(1), [0])?,
            Op::Expand => infer_target(&before(1), [2, -1])?,
            Op::MatMul => MATMUL.infer(&[before(2), before(1)])?.results.swap_remove(0),
        };
        shapes.push(names.merge("node", declared, &inferred)?);
    }
    Ok((shapes, names))
}

/// The real shapes of all nodes.
fn run(nodes: &[Node], inputs: &[Vec<usize>]) -> Result<Vec<Vec<usize>>, BroadcastError> {
    let mut values: Vec<ArrayD<f32>> = Vec::new();
    for (i, (op, _)) in nodes.iter().enumerate() {
        let before = |back| &values[i - back];
        let value = match op {
            Op::Input => ArrayD::zeros(IxDyn(&inputs[i])),
            Op::Add => broadcast_map((before(2), before(1)), |a, b| a + b)?,
            Op::Sum => before(1).sum_axes([0])?.into_dyn(),
            Op::Expand => before(1).broadcast_to([2, -1])?.to_owned().into_dyn(),
            Op::MatMul => before(2).batch_dyn(2)?.matmul(&before(1).batch_dyn(2)?)?.into_dyn(),
        };
        values.push(value);
    }
    Ok(values.iter().map(|value| value.shape().to_vec()).collect())
}

/// Whether one size for each name makes all shapes as declared.
fn is_as_declared(nodes: &[Node], shapes: &[Vec<usize>]) -> bool {
    let fits =
        |names| nodes.iter().zip(shapes).all(|((_, declared), shape)| covers_all(declared, names, shape));
    (0..=TOP_SIZE + 3).any(|n| (0..=TOP_SIZE + 3).any(|m| fits([n, m])))
}

proptest! {
    #![proptest_config(common::cases(1000))]

    #[test]
    fn one_size_for_each_name(nodes in nodes()) {
        let built = build(&nodes);
        let inputs: Vec<Vec<Vec<usize>>> = nodes[..2]
            .iter()
            .map(|(_, declared)| {
                let mut shapes: Vec<_> = (0..=TOP_SIZE)
                    .flat_map(|n| (0..=TOP_SIZE).flat_map(move |m| instances(declared, [n, m], TOP_SIZE)))
                    .collect();
                shapes.sort();
                shapes.dedup();
                shapes
            })
            .collect();
        for inputs in product(&inputs) {
            let Ok(shapes) = run(&nodes, &inputs) else { continue };
            let fits = is_as_declared(&nodes, &shapes);
            match &built {
                Err(error) => prop_assert!(!fits, "{} refuses {:?}", error, inputs),
                Ok((merged, names)) => {
                    let mut names = names.clone();
                    let mut bound = merged.iter().zip(&shapes).map(|(shape, sizes)| names.bind("node", shape, sizes));
                    let result = bound.try_for_each(|bound| bound);
                    prop_assert_eq!(result.is_ok(), fits, "{:?} of {:?}: {:?}", inputs, merged, result);
                }
            }
        }
    }
}
