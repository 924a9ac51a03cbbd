//! Memory that is written once, and the proof that it was.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

/// Memory for one element of the array or buffer with the brand `'s`.
#[repr(transparent)]
pub(crate) struct Slot<'s, A>(MaybeUninit<A>, PhantomData<fn(&'s ()) -> &'s ()>);

/// Contiguous slots, to be filled once. They cannot be reborrowed, so no slot is written and counted twice.
pub(crate) struct Slots<'m, 's, A>(&'m mut [Slot<'s, A>]);

impl<'m, 's, A> Slots<'m, 's, A> {
    /// # Safety
    /// There are `len` contiguous slots at `at`, borrowed exclusively, and no other slots have this brand.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut Slot<'s, A>, len: usize) -> Self {
        // SAFETY: As the caller promises.
        Self(unsafe { slice::from_raw_parts_mut(at, len) })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub(crate) fn start(&mut self) -> *mut Slot<'s, A> {
        self.0.as_mut_ptr()
    }

    /// The bytes of the slots.
    #[inline(always)]
    pub(crate) fn into_bytes(self) -> &'m mut [MaybeUninit<u8>] {
        // SAFETY: The bytes of a slot may be uninitialised, and any bytes may be written to it.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of_val(&*self.0)) }
    }

    /// The memory of the slots.
    #[inline(always)]
    pub(super) fn into_memory(self) -> &'m mut [MaybeUninit<A>] {
        // SAFETY: A slot is transparent over `MaybeUninit<A>`.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) }
    }
}

/// The number of slots with the brand `'s` that have been written.
pub(crate) struct Written<'s>(usize, PhantomData<fn(&'s ()) -> &'s ()>);

impl Written<'_> {
    /// # Safety
    /// As many slots of the brand were written, and are counted here alone.
    #[inline(always)]
    pub(crate) unsafe fn new(count: usize) -> Self {
        Self(count, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self(0, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    pub(crate) fn count(&self) -> usize {
        self.0
    }
}
