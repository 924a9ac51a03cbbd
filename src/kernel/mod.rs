//! Loops over strided elements. The kernel knows shapes, strides and pointers, but no broadcasting rules.
//!
//! Two rules:
//! 1. A case is brought to a loop that there is, not given a loop of its own.
//! 2. Types stop at the row. What is compiled for a closure are rows that are written or visited (`Rows`), panels that
//!    are combined in registers, and a single element ([`ElementLoops`](nest::ElementLoops)). All else is compiled once: maps and what cuts and
//!    arranges loops in this crate, reductions for each type of elements, in this crate for common ones.
//!
//! | part | owns | knows of types |
//! |---|---|---|
//! | [`nest`] | loops, a pointer for each operand, and the object that knows their types, set together by checked constructors; then only cut and reordered | its file `rows` alone |
//! | `nest::panels` | which neighbours are combined in registers, and along which loop | nothing |
//! | [`memory`] | new arrays, buffers and the proof that they were filled; copies of plain numbers to adjacent places | the size of an element |
//! | [`map`] | one pass over an output and operands: the two innermost loops, or tiles for which operands are copied to L1 | nothing |
//! | [`source`] | what is reduced and by which operation: an array, or the results of a closure | the element |
//! | [`reduce`] | halves of a large nest, blocks in L1, sums of their results in levels, folds of lanes | the element |
//! | [`bases`] | views of the last axes, at each index of the others | the element |
//! | [`product`] | products of matrices at each index, by the library where that is faster | the element |
//! | [`threads`] | whether two halves run on one thread or on two; only what runs on several names them | nothing |
//! | [`operation`], [`order`], [`simd`] | addition or a closure; the order of a new array's axes; AVX2, asked at run time | |
//!
//! # Five ways through the kernel
//! **A sum of an array** comes from `Reduce::source`, which makes a [`Source`](source::Source) of the array and [`Plus`](operation::Plus).
//! [`reduce::to_new`] takes memory for the result, and `reduce::run` finds out whether the elements have a type whose reductions this
//! crate has compiled. `Job::large` makes a nest and arranges it by the input's strides, `halved` halves it while it is large, and
//! `block::reduce` plans blocks. `block::elements_of` gives a block's elements: where they lie, if lanes lie without gaps; combined in
//! registers along one loop (`Nest::sum`), if rows do; or copied to a buffer. `fold` reduces what is left of the block, `Levels` adds
//! the results of blocks, and `Nest::store_results` visits the outputs with them.
//!
//! **A fused sum** takes the same way. Its source has the closure as [`ElementLoops`](nest::ElementLoops), whose panels read the operands and combine
//! the results in registers. Where an operand has gaps, a map fills the block's buffer.
//!
//! **A map** makes a nest of its output and operands ([`nest::fill`], [`nest::visit`]), `map::arranged` orders it by strides, and
//! `map::run` visits rows: of the two innermost loops (`Nest::run_rows`), or of tiles for which operands with gaps are copied to L1
//! (`Nest::run_tiles`). Few elements along up to two axes are one block without a nest (`cut::small_block`), in reductions too.
//!
//! **A copy** is a map of one operand, whose closure clones. So is storing results.
//!
//! **A product** takes one of the ways that open [`product`]: whole batches without gaps, dot products, the library, or tiles in
//! registers; pairs of vectors are fused sums.
//!
//! # What holds throughout
//! The order in which elements are combined depends on shapes, strides and the number of operands only: not on threads, which run
//! the same halves, nor on the CPU: where it is asked and has no AVX2, panels and rows are visited element by element in the same
//! order. No element is combined with an identity. Buffers have a constant size: a thread with
//! 48 KiB of stack suffices for every operation.
//!
//! `unsafe` stands in `nest::rows` (pointers), [`memory`] (uninitialised memory) and [`simd`] (CPU features, types), and outside the
//! kernel in `view::raw`. Each opens with its invariant.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::inline_always,
    reason = "a function under a SIMD dispatch is compiled for the CPU if it is inlined"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a handle is consumed by what gives access to its elements"
)]
#![allow(
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::too_many_arguments,
    reason = "operands and the places of a group are alike"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over operands and places, of which several arrays have one each"
)]

pub(crate) mod bases;
pub(crate) mod map;
pub(crate) mod memory;
pub(crate) mod nest;
pub(crate) mod operation;
mod order;
pub(crate) mod product;
pub(crate) mod reduce;
mod simd;
pub(crate) mod source;
#[cfg(test)]
mod tests;
pub(crate) mod threads;

/// Panics with `fault` unless `holds`. Like `assert!` without a location: each `assert!` adds 48 bytes to a program, and more where
/// it is inlined.
#[inline(always)]
fn ensure(holds: bool, fault: &'static str) {
    if !holds {
        fail(fault);
    }
}

#[cold]
#[inline(never)]
fn fail(fault: &'static str) -> ! {
    panic!("{fault}")
}
