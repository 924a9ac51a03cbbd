//! Partially known shapes: broadcasting before all sizes are known.
//!
//! Nothing here needs an array. The feature `partial` adds this module, for programs that infer or check shapes before they
//! have arrays, such as the compiler of a graph. A [`PartialShape`] has a [`Dim`] for each axis: a size, `?`, a range or a
//! name. Or it is `*`, with any number of axes. From such shapes the module
//! - infers the result ([`infer_shape`], [`infer_shapes`], [`infer_result_shape`]),
//! - verifies a declared result ([`verify`](verify())),
//! - decides if the operands go together always, never, or only if checks hold ([`decide`](decide()),
//!   [`decide_result`], [`Signature::infer`](crate::Signature::infer)),
//! - makes a [`Plan`], which checks the real shapes later,
//! - and keeps the sizes of names across the operations of a graph ([`Names`], [`ShapeOp`]).
//!
//! ```
//! use ndarray_broadcast::partial::{infer_shapes, Decision, PartialShape, Plan, decide};
//!
//! let operands: [PartialShape; 2] = ["batchx1x?".parse()?, "8x1".parse()?];
//! assert_eq!(infer_shapes(&operands)?, "batchx8x?".parse()?);
//! assert_eq!(decide(&operands), Decision::Always);
//!
//! let plan = Plan::new(operands)?.with_result("batchx8x16".parse()?)?;
//! assert_eq!(plan.checks()[0].to_string(), "axis 2 of operand 0 is 16");
//! assert_eq!(plan.joint_shape(&[&[32, 1, 16][..], &[8, 1]])?, [32, 8, 16]);
//! assert!(plan.joint_shape(&[&[32, 1, 9][..], &[8, 1]]).is_err());
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```
//!
//! # Text
//!
//! | text | shape |
//! |---|---|
//! | `4x?x3` | three axes, of sizes 4, any and 3 |
//! | `[4, ?, 3]`, `4 x ? x 3` | the same three axes |
//! | `2..5xn` | two axes, of a size from 2 to 5, and of the size `n` |
//! | `2..`, `..5` | one axis, of size 2 or more, or of size 5 or less |
//! | `n:2..5` | one axis, of the size `n`, which is from 2 to 5 |
//! | `n:2..` | one axis, of the size `n`, which is never 1 |
//! | `"max_len"x"past + 1"` | two axes with names that are in quotes |
//! | `?1` | one axis, with a name from [`Names::fresh`] |
//! | `[]` | no axes |
//! | `*` | any number of axes |
//!
//! Any text can be a name. Without quotes, a name has ASCII letters, digits and `_` only, does not begin with a digit, and
//! has an `x` only in a list, because `x` separates sizes. In quotes, `\"` and `\\` stand for `"` and `\`. Spaces may stand
//! around sizes. Shapes are printed with `x` and without spaces, and read back as the same shape; an error names the position
//! in the text.
//!
//! # Inference
//!
//! The rule is that of [`broadcast_shapes`](crate::broadcast_shapes): the joint size of an axis is
//! the one size that is not 1, else 1. For partially known sizes that gives, axis by axis:
//!
//! | operands | result | because |
//! |---|---|---|
//! | `?`, `3` | `3` | the unknown size is 1 or 3 |
//! | `?`, `1` | `?` | 1 stretches to any size |
//! | `?`, `0` | `0` | 0 is a size that is not 1 |
//! | `0`, `?`, `3` | error | 0 and 3 never go together, in whatever order |
//! | `2..5`, `4..9` | `4..5` | neither can be 1, so they are equal |
//! | `0..4`, `3..5` | `3..5` | the second is not 1 |
//! | `0..2`, `1..3` | `0..3` | each can be 1 |
//! | `n`, `n` | `n` | equal names are equal sizes |
//! | `n`, `1` | `n` | |
//! | `n`, `3` | `3` | `n` is 1 or 3, and stays `n` wherever else it stands |
//! | `n`, `m` | `?` | one of them may be 1 |
//! | `n:2..`, `m` | `n:2..` | `m` is 1 or `n` |
//! | `n:2..`, `m:3..` | `n:3..` | neither can be 1, so they are equal |
//!
//! Inference is *sound*: it excludes no outcome. It is also *tight*: for a single axis the result has
//! exactly the sizes that some assignment gives, and for whole shapes each `Dim` is the smallest that
//! covers them. It considers all operands at once, and all axes of a name, in every function of this module: a target
//! `nxn` has one size. A `Dim` cannot express:
//! - sets with holes: `nx?x0..1` with `5x1xn` has 0, 1 or 5 on its last axis, which becomes `0..5`;
//! - the sizes other than 1 of a name: `nxn` with `3x1` has `n` on its last axis, not that `n` is 1 or 3.
//!
//! The tests prove it with all assignments for all pairs and triples of sizes, ranges and names up to 4. Every operation is
//! tested with all assignments for random shapes of up to three axes: impossible shapes are errors, and a size is known if all
//! assignments agree on it.
//!
//! # Names across calls
//!
//! Within a call, equal names are equal sizes. [`Names`] does the same for a whole program.
//!
//! | | learns | |
//! |---|---|---|
//! | [`infer`](Names::infer) | `n` = 3, `n` in `2..5`, `n` = `m` | from sizes that an operation forces, decided or checked |
//! | [`merge`](Names::merge) | sizes, ranges and equal names | from a declared and an inferred shape |
//! | [`bind`](Names::bind) | `n` = 3 | from a real shape |
//! | [`joint_shape`](Names::joint_shape) | `n` = 3 | from a plan that runs |
//! | [`resolve`](Names::resolve) | nothing | writes the known sizes and ranges into a shape, for all functions here |
//!
//! ```
//! use ndarray_broadcast::partial::{decide, Decision, Names, ShapeOp, PartialShape};
//!
//! let p = |text: &str| text.parse::<PartialShape>().unwrap();
//! let mut names = Names::new();
//! names.merge("x", &p("nxm"), &p("2..xn"))?;
//! assert_eq!(names.infer("add", &ShapeOp::Together, [&p("n"), &p("m")])?.checks, []);
//! assert!(matches!(decide(&[p("n"), p("m")]), Decision::Depends(_)));
//! assert_eq!(decide(&[names.resolve(&p("n")), names.resolve(&p("m"))]), Decision::Always);
//! assert!(names.bind("y", &p("n"), &[1]).is_err());
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```
//!
//! # Verification
//!
//! MLIR's rule has two readings, named by [`ResultRule`]:
//!
//! | inferred | declared | `AllowCast` | `Exact` |
//! |---|---|---|---|
//! | `4` | `4`, `?` | yes | yes |
//! | `?` | `4` | yes | no |
//! | `?`, `*` | `?` | yes | yes |
//! | `3` | `4` | no | no |
//! | one axis | two axes | no | no |
//!
//! # Decisions
//!
//! | operands | answer | check |
//! |---|---|---|
//! | `?x1`, `3` | [`Always`](Decision::Always) | |
//! | `n`, `n` | `Always` | |
//! | `0..1`, `0` | `Always` | |
//! | `2..`, `0..0` | [`Never`](Decision::Never) | |
//! | `?`, `3` | [`Depends`](Decision::Depends) | `axis 0 of operand 0 is 1 or 3` |
//! | `4x?`, `2..` | `Depends` | `axis 1 of operand 0 is 1 or equals axis 0 of operand 1` |
//! | `?`, `n` | `Depends` | `axis 0 of operand 0 is 1, axis 0 of operand 1 is 1, or they are equal` |
//! | `*`, `3` | `Depends` | `all operands go together` |
//!
//! `Always` and `Never` are certain. They do not cover the size of the whole result: it is an error here
//! only if the smallest possible result is an [`Overflow`](crate::ErrorKind::Overflow), and
//! [`Plan::joint_shape`] checks it for real sizes.
//!
//! # Operations
//!
//! | on arrays | on partial shapes |
//! |---|---|
//! | `broadcast_arrays`, `broadcast_map`, `broadcast_to_match` | [`infer_shapes`] |
//! | `expand_to_match_ranks` | [`infer_ranks`] |
//! | `broadcast_to`, with -1 | [`infer_target`] |
//! | `broadcast_apply`, `materialize_into` | [`ShapeOp::Target`] of each operand, with the sizes of the output |
//! | `broadcast_axes` | [`infer_axes`] |
//! | `broadcast_in_dim` | [`infer_in_dim`] |
//! | a sum, a mean or another reduction over axes | [`infer_sum`] |
//! | the same to a shape | [`infer_sum_to`] |
//! | the same to placed axes | [`infer_sum_in_dim`] |
//! | `batch_broadcast` | [`infer_batch`] |
//! | sums, differences, products and quotients of batches | [`ShapeOp::BatchMap`] |
//! | `matvec`, `matmul`, … and `zip_map`, by their signature | [`Signature::infer`](crate::Signature::infer) |
//! | `sum_batch_to` | [`ShapeOp::SumBatchTo`] |
//! | `If`, `case`, `select` of values | [`infer_branches`] |
//! | a reduction of a closure over several arrays | the same, after [`infer_shapes`] |
//!
//! [`Names::infer`] takes each as a [`ShapeOp`], and also returns the checks that remain.

// A file uses only files of earlier lines:
// - data: `dim`; `partial_shape`, `place`, `shape_op`; `text`, `check`, `choices`;
// - tables of names: `names`, and `vars` for one call;
// - conditions: `solver`; `open`, the checks that they leave; `statement`, with all of an operation; `rules`, `signature`;
// - what infers and decides: `operation`; `infer`, `result`; `plan`; `declared`.
mod check;
mod choices;
mod declared;
mod dim;
mod infer;
mod names;
mod open;
mod operation;
mod partial_shape;
mod place;
mod plan;
mod result;
mod rules;
mod shape_op;
mod signature;
mod solver;
mod statement;
mod text;
mod vars;

pub use check::{Check, Decision, InferredShapes};
pub use choices::{infer_branches, infer_ranks};
pub use dim::{Dim, Name, SizeRange};
pub use infer::{
    infer_axes, infer_batch, infer_dim, infer_in_dim, infer_result_shape, infer_shape, infer_shapes,
    infer_sum, infer_sum_in_dim, infer_sum_to, infer_target,
};
pub use names::Names;
pub use operation::decide;
pub use partial_shape::PartialShape;
pub use place::Place;
pub use plan::Plan;
pub use result::{ResultRule, decide_result, verify};
pub use shape_op::ShapeOp;
