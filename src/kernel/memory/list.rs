//! Lists of few items.

use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::slice;

/// A list on the stack, or on the heap once it has more than `N` items.
pub(crate) struct List<T: Copy, const N: usize> {
    /// The first `len` items are initialised.
    stack: [MaybeUninit<T>; N],
    len: usize,
    /// All items, if the list has moved to the heap.
    heap: Vec<T>,
}

impl<T: Copy, const N: usize> List<T, N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self { stack: [const { MaybeUninit::uninit() }; N], len: 0, heap: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.heap.is_empty() && self.len < N {
            self.stack[self.len].write(item);
            self.len += 1;
        } else {
            self.push_to_heap(item);
        }
    }

    #[cold]
    fn push_to_heap(&mut self, item: T) {
        if self.heap.is_empty() {
            self.heap = self.to_vec();
        }
        self.heap.push(item);
    }

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.heap.truncate(len);
    }

    /// Removes the items for which `is_kept` does not hold.
    #[inline]
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        let mut to = 0;
        for from in 0..self.len() {
            if is_kept(&self[from]) {
                self[to] = self[from];
                to += 1;
            }
        }
        self.truncate(to);
    }

    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.stack[..other.len].copy_from_slice(&other.stack[..other.len]);
        self.len = other.len;
        self.heap.clone_from(&other.heap);
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for List<T, N> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        if !self.heap.is_empty() {
            return &self.heap;
        }
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts(self.stack.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> DerefMut for List<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        if !self.heap.is_empty() {
            return &mut self.heap;
        }
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts_mut(self.stack.as_mut_ptr().cast(), self.len) }
    }
}
