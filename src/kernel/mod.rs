//! Loops over strided elements. The kernel knows shapes, strides and pointers. It checks no shapes for users: inputs are aligned at
//! the right, and stay along axes of size 1.
//!
//! Two rules:
//! 1. A new case is brought to an existing loop. It does not get a loop of its own.
//! 2. Types stop at the row. The compiler instantiates three things for each closure: loops that write or visit rows (`Rows`),
//!    panels that are combined in registers, and a single element (both `ElementLoops`). Everything else is compiled once: maps, and
//!    the code that cuts and arranges loops, in this crate; reductions for each element type, and folds for each operation on it.
//!    This crate has compiled reductions and folds of `+` for `f32` and `f64`.
//!
//! Layers, the highest first. A part uses those below it alone:
//!
//! | part | owns | depends on |
//! |---|---|---|
//! | [`product`] | products of matrices at each index, by the library where that is faster | the element type |
//! | [`reduce`] | halves of a nest down to blocks, pairwise sums of their results, folds of lanes | the element type |
//! | [`map`] | one pass over an output and operands: the two innermost loops, or tiles whose operands are copied to L1 | no types, but for new arrays |
//! | [`nest`] | loops, a pointer for each operand, and the object that knows their types: closures over rows, sources of reductions, views of the last axes. The parts above run the passes that it makes | types, from its file `elements` on |
//! | [`memory`] | new arrays and buffers, the count that shows that they were filled, and the order of a new array's axes | the element type |
//! | [`simd`], [`threads`], [`operation`] | AVX2, detected at run time; two halves on two threads, which only parallel calls name; operations that combine elements | |
//!
//! # Stages
//! Maps and reductions have the same stages. Each is a function that calls the next one, or itself for halves and for copies:
//!
//! ```text
//! stage    maps (`map`)                               reductions (`reduce`)
//! few      visit(pass):                               reduce(job):
//!              pass.visit_few()                           job.visit_few(), fold_slice(job) or reduce_in_order(job);
//!                                                         to existing elements: store_few(job), by slots
//!              else visit_nest(pass)                      else reduce_nest(job)
//! nest     visit_nest(pass):                          reduce_nest(job):
//!              nest = pass.nest()                         nest = job.nest()
//!              few: nest.visit_whole()
//!              nest.arrange(0)                            nest.arrange(1)
//!              visit_halves(nest)                         store_halves(nest)
//! halves   visit_halves(nest):                        store_halves(nest): until the results fit into a block
//!              while threads save time,                   both halves: store_halves; then store_block(nest)
//!              or copies do not fit:                  reduce_halves(nest): until the elements fit, too
//!                  both halves: visit_halves              both halves: reduce_halves, whose results are joined or added
//! copied   visit_copied(nest):                        reduce_copied(nest):
//!              copy inputs that are read again            copy inputs that are read again; then the halves of the copies
//! block    visit_block(nest), not cut further:        reduce_block(nest):
//!              nest.copy(), .visit_tiles()                elements in place, nest.combine_to() or .map_to()
//!              or .visit_rows()                           fold(elements)
//! ```
//!
//! # Five ways through the kernel
//! **A sum of an array** starts in `Reduce::source`, which makes a [`Source`](nest::Source) of the array and
//! [`Plus`](operation::Plus). [`reduce::to_new`] fills a result whose memory is reserved. `reduce::run` looks up whether this crate
//! has compiled the reductions of the element type. `reduce::reduce` chooses the way (see the table below). A nest is arranged by
//! the strides of the input. `store_halves` halves its kept loops until the results fit into a block, and `store_block` stores
//! them. `reduce_halves` halves the loop of `block::place_to_halve` until the elements fit (in place, eight blocks of them), a sum
//! has at most `most_steps` rows, and each half would have fewer than `GRAIN` elements. `reduce_block` combines the elements in the
//! nest's [`BlockWay`](nest::BlockWay), and `fold` reduces the rest. The results of two halves of a reduced loop are added, and
//! `Nest::store_results` writes them to the outputs.
//!
//! **A fused sum** takes the same way. One operand decides the order of the loops: that whose nearest loop has the fewest operands
//! with gaps. The source has the closure as `ElementLoops`, whose panels read the operands and combine the results in registers.
//! Operands with gaps that are read again are copied once for each part of the nest (`Nest::with_copies`); a nest is halved until
//! these copies have at most `COPIES_BYTES`. Short lanes are turned into rows where possible (`turn_short_lanes`). Where gaps are
//! left, a map fills the buffer of the block.
//!
//! **A map** makes a nest of its output and operands ([`ShapePass`](nest::ShapePass)), which is arranged by the strides of the
//! output. Operands with gaps that are read again are copied, as above. Then `visit_block` visits rows: those of the two innermost
//! loops (`Nest::visit_rows`), or those of tiles, for which the other operands with gaps are copied to L1 (`Nest::visit_tiles`).
//! Further outputs are inputs whose elements are borrowed exclusively ([`Further`](nest::Further)), which a pass may do because it
//! visits each index once.
//!
//! **Few elements** of maps and of reductions are one block without a nest, made from shapes and strides (`Block::set_small`): two
//! kept and two reduced loops, at each index of further ones. The total of few elements in standard layout, and that of up to
//! `SMALL_NEST` stored ones that fit into a block, needs no job either (`Source::few`): it adds them in the same order. Results of
//! up to `SMALL_NEST` elements that are stored in an existing array are first written to slots in the order of a new array, so that
//! they have its bits.
//!
//! **A copy** is a map of one operand, whose closure clones. Plain numbers are copied by the loops of `gather`, straight to the
//! output: at once, or in the tiles of a map where the orders differ and the output is large. Squares are transposed in registers.
//! Tiles are copied to L1 first only where lines share sets of L1 in both orders. Storing results is a map by rows, too. New copies
//! of arrays in standard layout, and of elements with drop glue, are collected into a `Vec`.
//!
//! **A product** takes one of the ways in the table of [`product`]: contiguous operands in one call, sums of a closure's results,
//! the library, or tiles in registers. Products of pairs of vectors are dot products or fused sums, or one product of matrices
//! where many pairs share vectors.
//!
//! # The way of a reduction
//! The first line that holds decides. `reduce::to_new` asks the first one, `reduce::reduce` those down to the nest, and
//! `ErasedNest::way` the others, for each part of a nest.
//!
//! | elements | the way |
//! |---|---|
//! | with drop glue, without bytes, or large ones | one after the other, `reduce_owned` |
//! | at most 64, or 512 that are computed or have gaps, in lanes of at most 256; or up to 4,096 in rows with a row loop, of at most 64 steps | blocks without a nest, `visit_few` |
//! | one for each result, on one thread | a map |
//! | a slice of at most 4,096 and 64 KiB, in the order of new results | in place: one fold |
//! | at most 4 KiB, or 4,096 of contiguous inputs, in that order | in order: one block of a nest that is not arranged |
//! | others | a nest, arranged and halved, each part in one of the following ways |
//! | stored and contiguous in the order of the loops, in lanes, or in rows of up to 2 KiB | in place |
//! | other rows of [`NARROW`](nest::NARROW) or more, and lanes of a cache line or more, with a row loop; stored elements of up to 16 bytes, others of up to 64 | along panels |
//! | everything else | in place if it can be, or through a buffer |
//!
//! Panels and folds are two systems. Along the innermost loop, a panel reads operands that are contiguous or stay; along others,
//! their strides are any. It is compiled for each closure. A fold reads one slice and is compiled for each operation on a type, so
//! that it can afford loops for short lanes and narrow rows.
//!
//! # Rules for all parts
//! The order in which elements are combined depends only on shapes, strides, the number and element types of the operands (only
//! plain numbers are copied to become rows), and on whether elements are stored or computed. It does not depend on the number of
//! threads, which run the same halves, or on the CPU: without AVX2, panels and rows are visited element by element in the same
//! order. Products by the library are the exception: it chooses its instructions by the CPU, and FMA rounds once instead of twice.
//! A sum starts from its first element: no identity is combined. [`Scratch`](memory::Scratch) is on the stack for few bytes and on
//! the heap for more, and its size has bounds that do not depend on the arrays. Products alone copy whole factors.
//!
//! On several threads, a pass is the same: its loops know the threads that may share them ([`Threads`](nest::Threads)), and
//! the halves of a reduction run there. A map is halved for threads, and until its copies fit.
//!
//! `unsafe` stands in [`nest`] (pointers), [`memory`] (uninitialised memory) and [`simd`] (CPU features, types), and outside the
//! kernel in `view::raw`. Each opens with its invariant.

#![deny(unsafe_op_in_unsafe_fn)]
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

pub(crate) mod map;
pub(crate) mod memory;
pub(crate) mod nest;
pub(crate) mod operation;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod simd;
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
