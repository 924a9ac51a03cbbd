//! Uninitialised memory: new arrays and buffers.
//!
//! # Invariant
//! Memory is read as elements only after elements were written to it. Slots have a [`Count`] of those that were written, each of them
//! once; it is checked once, where they become elements. The strides of a new array are those that `strides` has for its shape,
//! which [`Reserved::new`] checked.

mod buffer;
mod reserved;

pub(crate) use buffer::{Buffer, Count, Scratch, SliceVec, Slots};
pub(crate) use reserved::{AxisOrder, Reserved, StridedSlots, signed, strides};

/// A list on the stack, or on the heap once it has more than `N` items.
pub(crate) type List<T, const N: usize> = smallvec::SmallVec<[T; N]>;

/// The most bytes of a block of a reduction.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;
/// The bytes of scratch on the stack.
pub(crate) const STACK_BYTES: usize = 4 << 10;
/// The most bytes of copies that a part of a nest has.
pub(crate) const COPIES_BYTES: usize = 4 * BLOCK_BYTES;
/// The bytes of a cache line.
pub(crate) const CACHE_LINE: usize =
    if cfg!(all(target_vendor = "apple", target_arch = "aarch64")) { 128 } else { 64 };
