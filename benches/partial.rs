//! Inference through `Names` for graphs like those of transformers: the time of a node, in graphs of three lengths.
//!
//! `cargo bench --bench partial` prints it. On 2026-11-26, with other work on both cores: 1.26 µs of 1,000 nodes, 2.9 µs of
//! 10,000 and 4.0 to 4.8 µs of 100,000, whose shapes no longer fit into the caches. Without checks and learning, resolving
//! names before each call: 1.38, 3.4 and 4.0 µs.

use ndarray_broadcast::partial::{Names, PartialShape, ShapeOp};
use ndarray_broadcast::{BroadcastError, Signature};
use std::hint::black_box;
use std::time::{Duration, Instant};

const MATMUL: Signature<'static> = Signature::literal("(m?,n),(n,p?)->(m?,p?)");

/// The shapes of a graph of `labels.len()` nodes: products, biases, residuals, norms and masked scores in turns.
fn infer(labels: &[String]) -> Result<(Names, Vec<PartialShape>), BroadcastError> {
    let [weights, bias] = ["64x64".parse()?, "64".parse()?];
    let [heads, mask] = ["batchxheadsxseqx64".parse()?, "batchx1x1xseq".parse()?];
    let together = ShapeOp::Together;
    let (matmul, sum) = (ShapeOp::Signature(MATMUL), ShapeOp::Sum { axes: vec![-1], keepdims: true });
    let (mut names, mut shapes) = (Names::new(), vec!["batchxseqx64".parse::<PartialShape>()?]);
    for (i, of) in labels.iter().enumerate() {
        let before = |count: usize| &shapes[shapes.len() - count];
        let found = match i % 8 {
            0 => names.infer(of, &matmul, [before(1), &weights]),
            1 => names.infer(of, &together, [before(1), &bias]),
            2 => names.infer(of, &together, [before(1), before(2)]),
            3 => names.infer(of, &sum, [before(1)]),
            4 => names.infer(of, &together, [before(2), before(1)]),
            5 => names.infer(of, &together, [&heads, &mask]),
            6 => names.infer(of, &together, [before(2), before(5)]),
            _ => names.infer(of, &together, [before(7), &bias]),
        }?;
        shapes.push(names.merge(of, &PartialShape::unranked(), &found.results[0])?);
    }
    Ok((names, shapes))
}

fn main() -> Result<(), BroadcastError> {
    for count in [1000, 10_000, 100_000] {
        let labels: Vec<_> = (0..count).map(|i| format!("node_{i}")).collect();
        let mut least = Duration::MAX;
        for _ in 0..200_000 / count {
            let start = Instant::now();
            black_box(infer(&labels)?);
            least = least.min(start.elapsed());
        }
        println!("{count} nodes: {least:?}, {:?} a node", least / count);
    }
    Ok(())
}
