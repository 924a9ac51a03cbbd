//! Passes over strided elements: loops, a pointer for each operand, and the object that knows the operands' types. Every pointer of a
//! pass is made, moved and followed in this folder. A file uses the types of those above it in this table:
//!
//! | file | owns |
//! |---|---|
//! | `loops` | a loop, a set of inputs, the facts about elements that code without types needs |
//! | `operands` | sizes, strides and pointers of arrays, without their types |
//! | `gather` | copies of plain numbers to contiguous memory |
//! | `erased` | the loops and pointers of a nest, without its types, and the questions about them |
//! | `arrange`, `cut` | loops made, ordered, merged and halved; blocks and tiles |
//! | `panels` | which neighbours are combined in registers, and along which loop |
//! | `elements` | the types of elements, with the loops for each closure; arrays of these types |
//! | `halves` | which passes two threads may share |
//! | `closures` | closures as loops over blocks |
//! | `passes` | a nest with its pass; maps: passes along the axes of an output |
//! | `further` | further outputs, which stand before the inputs |
//! | `source`, `reduction` | the elements of a reduction; where its results go |
//! | `bases` | views of the last axes, at each index of the others |
//!
//! # Invariant
//! A [`Nest`] has loops, a pointer for each operand, and an object that knows the operands' types. Operand 0 is the output, the
//! others are the inputs. At every index of the loops,
//! - the pointer of each input, moved by its strides, points to an element that is borrowed while the nest lives; that of a further
//!   output (see `further`) to one that is borrowed exclusively, at each index another one;
//! - the pointer of the output, moved by its strides, points to an element or a slot that the nest borrows exclusively, unless
//!   the nest has no output: there is none, or another handle has it;
//! - two indices that differ in a kept loop lead to different elements of the output. Along the other loops, the reduced ones,
//!   the output stays.
//!
//! The constructors set the pointers together with the object that knows their types, and check the rest. Every other function
//! keeps the invariant, because it visits all or some of the same indices, in another order or grouped into other loops. A nest is
//! neither `Copy` nor `Clone`, and methods that give access to an output consume it, so no element of an output is borrowed twice at
//! the same time. A pass or a job that has an output, but no nest yet, is consumed in the same way.
//!
//! This folder is the boundary of `unsafe` code: fields that the invariant is about are private to it, and its safe functions keep
//! the invariant. Those that could break it are private to the folder.

mod arrange;
mod bases;
mod closures;
mod cut;
mod elements;
mod erased;
mod further;
mod gather;
mod halves;
mod loops;
mod operands;
mod panels;
mod passes;
mod reduction;
mod source;

#[cfg(test)]
pub(crate) use bases::{BaseForm, BaseForms};
pub(crate) use bases::{BaseInputs, for_each_base, on_threads};
pub(crate) use closures::{
    Added, AddedScaled, Cloned, FillsOf, Fold, FoldLoops, MapReduce, RowsOf, SharedVisitor, Visitor, Write,
    can_leak,
};
pub(crate) use elements::{Elements, Inputs, MapElement, Output, Visit};
pub(crate) use erased::ErasedNest;
pub(crate) use further::{Behind, Further};
pub(crate) use gather::copy_share;
pub(crate) use halves::Threads;
pub(crate) use loops::{
    GROUP_ROWS, InputSet, Loop, NARROW, ONE_BY_ONE, ROUNDS, SMALL_NEST, Steps, WIDE, indices, is_dense,
    is_worth_halving,
};
pub(crate) use operands::{AxisSelection, DenseAxes, Dropped, RawInputs};
pub(crate) use panels::BlockWay;
pub(crate) use passes::{Nest, RowPass, ShapePass};
pub(crate) use reduction::{Compiled, Job, Reduction, RunHalf, Store, compiled_for, reduce_owned};
pub(crate) use source::Source;
