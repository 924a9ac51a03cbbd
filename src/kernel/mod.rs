//! Loops over strided elements. The kernel knows shapes, strides and pointers, but no broadcasting rules.
//!
//! Two rules. A case is brought to a loop that there is, not given a loop of its own. And types stop at the elements: what visits
//! the rows of a closure ([`Rows`](nest::Rows)) and what adds elements ([`Fold`](reduce::Fold)) are objects, whose methods are
//! whole loops; everything else is compiled once, reductions once for each type of elements. A pass goes through these parts:
//!
//! | part | owns |
//! |---|---|
//! | [`nest`] | loops, a pointer for each operand, and what knows their types: made together by checked constructors, then only cut and reordered. Its `Rows` are the only code that is compiled for each closure |
//! | [`memory`] | new arrays, buffers and the proof that they were filled; copies of plain numbers to adjacent places |
//! | [`map`] | one pass over an output and operands: the two innermost loops, or tiles for which operands are copied to L1. A copy is a map of one operand |
//! | [`source`] | what is reduced: an array, or the results of a closure, which a map writes block by block |
//! | [`reduce`] | halves of a large nest, blocks in L1, sums of rows, folds of lanes: compiled in this crate for common types |
//! | [`bases`] | views of the last axes, at each index of the others |
//! | [`product`] | products of matrices at each index, by the library where that is faster |
//! | [`threads`] | whether two halves run on one thread or on two |
//! | [`operation`], [`order`], [`simd`] | addition or a closure; the order of a new array's axes; AVX2, asked at run time |
//!
//! A sum along axes 0 and 2 of an array takes this way: [`reduce::to_new`] takes memory; `reduce::known` finds out whether the
//! elements have a type for which all that follows is compiled in this crate; `reduce::large` makes a nest and arranges it by the
//! input's strides; `reduce::halved` halves it while it is large; `block::reduce` cuts it into blocks that fit into L1, reads each
//! where it lies or through a copy, adds them up in levels and folds them; the results are put into the outputs by a map of one
//! operand. A sum of a closure's results differs in one step: the block is filled by a map. Few elements, in the order of the
//! shape, are folded at once.
//!
//! The order in which elements are combined depends on the shape and the strides only: not on threads, which run the same
//! halves, nor on the CPU, for which the same loops are compiled. An identity is the result where there is no element, and is
//! never combined with one.
//!
//! `unsafe` stands in `nest::rows` (pointers), [`memory`] (uninitialised memory) and [`simd`] (CPU features, types), and outside the
//! kernel in `view::raw`.

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
#![allow(clippy::type_complexity, reason = "the types of functions that are generic over a brand")]
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
