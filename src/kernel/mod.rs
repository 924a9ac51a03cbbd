//! Loops over strided elements: plans, inner loops, run-time SIMD.
//!
//! Knows shapes, strides and pointers, nothing of broadcasting rules. A pass goes down once:
//!
//! 1. [`loops`] plans: which loops visit all indices, in which order. It knows no element types.
//! 2. [`nest`] joins the loops with a pointer for each operand, and owns what makes that sound. All else asks it for
//!    nests of fewer loops, for rows and for elements.
//! 3. [`threads`] has the nest carried out whole, or in parts.
//! 4. A strategy is chosen by the loops. None of them has unsafe code:
//!
//! | strategy | for | its nest |
//! |---|---|---|
//! | [`each`]: small | up to two axes and 512 elements | the axes themselves, not planned |
//! | [`each`]: rows as they lie | long rows, in which each operand moves by one element or stays | one or two loops; all are kept |
//! | [`each`]: copied rows | short rows and strides, of plain numbers | the same, after operands were copied to L1 |
//! | [`each`]: transposed blocks | operands that lie across the output | the same, of a block of cache lines |
//! | [`each`]: one by one | other elements, and outputs with strides | one or two loops |
//! | [`sum`]: small | up to two axes and 64 elements | the axes themselves, not planned |
//! | [`sum`]: lanes | no reduced loop but one of the two innermost | kept loops, and a lane or some rows |
//! | [`sum`]: streams | up to 128 rows that are added up, many times | kept loops, a reduced one, a kept one |
//! | [`sum`]: rows in tiles | every other sum | kept loops, reduced loops, a tile of both |
//! | [`sum`]: plain | elements that own memory, or are large | kept loops, reduced loops |
//! | [`fused`]: reduced lanes | reductions of one array over adjacent lanes | kept loops, a lane |
//! | [`fused`]: lanes | sums of what a closure makes, over one short innermost loop | kept loops, a reduced one |
//! | [`fused`]: blocks | the same, where all reduced loops fit into L1 | kept loops, and the output of [`each`]: a block |
//! | [`fused`]: tiles | the same, anything else | as rows in tiles; each tile is the output of [`each`] |
//! | [`product`]: library | large products of `f32` and `f64` | batches, rows, terms, columns; shared matrices make one product |
//! | [`product`]: the others | many small products | batches, and three loops: rows, terms, columns |
//!
//! 5. [`simd`] runs the innermost loops as compiled for the CPU at hand: [`lane`]s, [`combine`], rows of [`each`].
//!
//! `unsafe` stands in [`nest`] (pointers), [`memory`] (what is not initialised yet) and [`simd`] (CPU features), each of
//! which opens with the invariant that it owns; and outside the kernel in `view::raw`.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::inline_always,
    reason = "what a SIMD dispatch calls is compiled for the CPU only if inlined"
)]

pub(crate) mod combine;
pub(crate) mod each;
pub(crate) mod fused;
mod lane;
mod levels;
pub(crate) mod loops;
pub(crate) mod memory;
pub(crate) mod nest;
mod order;
pub(crate) mod product;
mod simd;
pub(crate) mod store;
pub(crate) mod sum;
pub(crate) mod threads;
mod tiles;
