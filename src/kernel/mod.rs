//! Loops over strided elements: plans, inner loops, run-time SIMD.
//!
//! The kernel knows shapes, strides and pointers, but no broadcasting rules. A pass goes through these steps:
//!
//! 1. [`strided`] turns axes into [`loops`], and [`loop_plan`] plans in which order they visit all indices. They know no
//!    element types.
//! 2. [`nest`] joins the loops with a pointer for each operand and keeps them sound. All other modules ask it for nests
//!    of fewer loops, for rows and for elements.
//! 3. [`threads`] runs the whole nest, or parts of it.
//! 4. A strategy is chosen by the loops. No strategy has unsafe code:
//!
//! | strategy | for | its nest |
//! |---|---|---|
//! | [`each`]: small | up to two axes and 2048 elements | the axes themselves, not planned |
//! | [`each`]: direct | long rows, in which each operand moves by one element or stays | one or two loops; all are kept |
//! | [`each`]: copied rows | short rows and strided rows of plain numbers | the same, with operands copied to L1 |
//! | [`each`]: transposed blocks | operands that are contiguous across the output's rows | the same, of a block of cache lines |
//! | [`each`]: tiles | copies of plain numbers that are contiguous across the output's rows | outer loops, and two loops that [`memory`] copies in blocks |
//! | [`each`]: repeated rows | copies of a row of plain numbers to adjacent rows | outer loops, and two loops |
//! | [`each`]: side by side | sums over one innermost loop of up to 15 elements | this loop, and some outputs as the innermost one |
//! | [`each`]: one by one | other elements, and outputs with strides | one or two loops |
//! | [`reduce`]: small | up to two axes and 2048 elements: adjacent lanes, up to 64 rows, or 64 elements | the axes themselves, not planned |
//! | [`reduce`]: lanes | one reduced loop, the innermost one; strided lanes are copied | kept loops, and a lane |
//! | [`reduce`]: long lanes | the same, for lanes of more than 65,536 adjacent elements | kept loops, parts of a lane, a part |
//! | [`reduce`]: channels | 8 to 1024 rows of two to four elements without gaps | kept loops, rows, channels |
//! | [`reduce`]: rows | up to 128 rows of up to 4096 elements; narrow rows are merged | kept loops, a reduced one, a row |
//! | [`reduce`]: nested lanes | lanes inside other reduced loops, if long or if tiles would be narrow, for 16 outputs or more | kept loops, reduced ones, rows of lanes |
//! | [`reduce`]: tiles | every other reduction of one array | kept loops, reduced loops, a tile of both |
//! | [`reduce`]: plain | elements that own memory, or are large, and short rows that are not reduced | kept loops, reduced loops |
//! | [`fused`]: small | up to two axes and 2048 elements: in the outputs, or in a buffer of all results | the axes themselves, not planned |
//! | [`fused`]: direct | sums of a closure's results over a short innermost loop, or up to 64 rows | the same: the output of [`each`] |
//! | [`fused`]: lanes | the same along adjacent elements, and few loops around these | kept and reduced loops, then lanes by two loops |
//! | [`fused`]: chunks | lanes of 2048 to 131,072 elements | the same, for chunks and for what remains of each lane |
//! | [`fused`]: blocks | other sums, if all reduced loops fit into L1 | kept loops, and the output of [`each`]: a block |
//! | [`fused`]: tiles | every other sum of a closure's results | as rows in tiles; each tile is the output of [`each`] |
//! | [`product`]: library | large products of `f32` and `f64` | batches, rows, terms, columns; shared matrices make one product |
//! | [`product`]: the others | many small products | batches, and three loops: rows, terms, columns |
//!
//! 5. [`simd`] runs the innermost loops, compiled for the CPU at run time: [`lane`]s, [`combine`], rows of [`each`].
//!
//! `unsafe` stands in [`nest`] (pointers), [`memory`] (uninitialised memory) and [`simd`] (CPU features), and outside
//! the kernel in `view::raw`. Each of these modules opens with its invariant.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::inline_always,
    reason = "a function under a SIMD dispatch is compiled for the CPU only if it is inlined"
)]

pub(crate) mod combine;
pub(crate) mod each;
pub(crate) mod fused;
mod lane;
mod levels;
pub(crate) mod loop_plan;
pub(crate) mod loops;
pub(crate) mod memory;
pub(crate) mod nest;
pub(crate) mod operation;
mod order;
pub(crate) mod product;
pub(crate) mod reduce;
mod simd;
pub(crate) mod strided;
pub(crate) mod threads;
mod tiles;

/// Panics unless what a caller has promised `holds`: an `assert!` whose panic names no line, of which each takes 48 bytes of
/// a program, and more where it is inlined.
#[inline(always)]
fn ensure(holds: bool, promise: &'static str) {
    if !holds {
        broken(promise);
    }
}

#[cold]
#[inline(never)]
fn broken(promise: &'static str) -> ! {
    panic!("{promise}")
}
