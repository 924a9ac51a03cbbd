//! Loops over strided elements. The kernel knows shapes, strides and pointers, but no broadcasting rules.
//!
//! Two rules:
//! 1. A new case is brought to an existing loop. It does not get a loop of its own.
//! 2. Types stop at the row. The compiler instantiates three things for each closure: loops that write or visit rows (`Rows`),
//!    panels that are combined in registers, and a single element (both [`ElementLoops`](nest::ElementLoops)). Everything else is
//!    compiled once: maps, and the code that cuts and arranges loops, in this crate; reductions for each element type, and in
//!    this crate for common ones.
//!
//! | part | owns | depends on |
//! |---|---|---|
//! | [`nest`] | loops, a pointer for each operand, and the object that knows their types. Checked constructors set them together; other functions only cut and reorder the loops | types in its file `rows` alone |
//! | `nest::panels` | which neighbours are combined in registers, and along which loop | no types |
//! | [`memory`] | new arrays, buffers, and the proof that they were filled; copies of plain numbers to contiguous memory | the size of an element |
//! | [`map`] | one pass over an output and operands: the two innermost loops, or tiles whose operands are copied to L1 | no types |
//! | [`source`] | the elements of a reduction (an array, or the results of a closure) and its operation | the element type |
//! | [`reduce`] | halves of a nest down to blocks, pairwise sums of their results, folds of lanes | the element type |
//! | [`bases`] | views of the last axes, at each index of the others | the element type |
//! | [`product`] | products of matrices at each index, by the library where that is faster | the element type |
//! | [`threads`] | whether two halves run on one thread or on two. Only parallel calls name it | no types |
//! | [`operation`], [`order`], [`simd`] | addition or a closure; the order of a new array's axes; AVX2, detected at run time | |
//!
//! # Five ways through the kernel
//! **A sum of an array** starts in `Reduce::source`, which makes a [`Source`](source::Source) of the array and
//! [`Plus`](operation::Plus). [`reduce::to_new`] allocates the result, and `reduce::run` looks up whether this crate has compiled
//! the reductions of the element type. `Job::run_large` makes a nest and arranges it by the input's strides, and `reduce_halves`
//! halves it until `block::place_to_halve` finds that it is one block. `block::results` has a block's elements in place, where
//! they are contiguous; combined in registers along one loop (`Nest::sum_along`), where rows or lanes are; otherwise copied to a
//! buffer. `fold` reduces the rest of the block. The results of two halves of a reduced loop are added, and `Nest::store_results`
//! writes them to the outputs.
//!
//! **A fused sum** takes the same way. Its source has the closure as [`ElementLoops`](nest::ElementLoops), whose panels read the
//! operands and combine the results in registers. Operands with gaps that are read again are copied first, whole, once for each
//! part of the nest (`Nest::with_copies`); a nest is halved until these copies fit into scratch. Short lanes that can become rows
//! do (`turn_short_lanes`). Where gaps are left, a map fills the block's buffer.
//!
//! **A map** makes a nest of its output and operands ([`nest::fill`], [`nest::visit`]), arranges it by the output's strides, and
//! `map::run` copies operands with gaps that are read again, as above. Then it visits rows: those of the two innermost
//! loops (`Nest::run_rows`), or those of tiles, for which the other operands with gaps are copied to L1 (`Nest::run_tiles`).
//!
//! **Few elements** of maps and of reductions are one block without a nest, made from shapes and strides (`Block::set_small`): up
//! to two kept and two reduced loops. Results that are not written to a new array are stored by a second block.
//!
//! **A copy** is a map of one operand, whose closure clones. Storing results is one too.
//!
//! **A product** takes one of the ways in the table of [`product`]: whole contiguous batches, dot products, the library, or
//! tiles in registers. Products of pairs of vectors are fused sums.
//!
//! # Rules for all parts
//! The order in which elements are combined depends only on shapes, strides, and the number and element types of the operands (only
//! plain numbers are copied to become rows). It does not depend on the number of threads, which run the same halves, or on the
//! CPU: without AVX2, panels and rows are visited element by element in the same order. A sum starts from its first element: no
//! identity is combined. [`Scratch`](memory::Scratch) is on the stack for few bytes and on the heap for more, and its size has
//! bounds that do not depend on the arrays.
//!
//! `unsafe` stands in `nest::rows` (pointers), [`memory`] (uninitialised memory) and [`simd`] (CPU features, types), and outside
//! the kernel in `view::raw`. Each opens with its invariant.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::inline_always,
    reason = "a function under a SIMD dispatch is compiled for the CPU if it is inlined"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "methods that give access to a handle's elements consume it"
)]
#![allow(
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::too_many_arguments,
    reason = "operands are alike, and so are the elements of a group"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "an index of an operand or a neighbour is used in several arrays"
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
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod threads;

/// Panics with `fault` unless `holds`. Like `assert!` without a location: each `assert!` adds 48 bytes to a program, and more
/// where it is inlined.
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
