//! Graphs whose names stand for one size in all nodes, against all inputs and all assignments of names.

use super::names::dims;
use super::oracle::{covers, instances, product};
use ndarray::{ArrayD, IxDyn};
use ndarray_broadcast::partial::{Names, PartialShape, infer_shapes, infer_sum, infer_target};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, Signature, broadcast_map};
use proptest::collection::vec;
use proptest::prelude::*;

const TOP: usize = 3;
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
fn build(nodes: &[Node]) -> Result<(Vec<PartialShape>, Names), BroadcastError> {
    let (mut names, mut shapes) = (Names::new(), Vec::<PartialShape>::new());
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
    let fits = |names| {
        nodes.iter().zip(shapes).all(|((_, declared), shape)| {
            declared.dims().is_none_or(|dims| {
                dims.len() == shape.len()
                    && dims.iter().zip(shape).all(|(dim, &size)| covers(dim, names, size))
            })
        })
    };
    (0..=TOP + 3).any(|n| (0..=TOP + 3).any(|m| fits([n, m])))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn one_size_for_each_name(nodes in nodes()) {
        let built = build(&nodes);
        let inputs: Vec<Vec<Vec<usize>>> = nodes[..2]
            .iter()
            .map(|(_, declared)| {
                let mut shapes: Vec<_> = (0..=TOP)
                    .flat_map(|n| (0..=TOP).flat_map(move |m| instances(declared, [n, m], TOP)))
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
