//! Copies of plain numbers to contiguous memory, such as tiles of a transposed array.
//!
//! | the elements | the copy |
//! |---|---|
//! | a row: contiguous, every second one, one element, or with gaps | [`copy_row`] |
//! | rows that repeat | one of them, and copies of this copy |
//! | columns: the outermost axis is nearer in memory than the innermost, or its inner axes are short | [`copy_columns`]: each column, or squares that are transposed in registers |
//! | others | row after row |
//!
//! # Invariant
//! A function that needs AVX2 is called only on a CPU that has it. The elements are copied as numbers of their size: all bytes of plain
//! numbers are initialised and may be copied. They may be less aligned than such a number.

use super::erased::ErasedNest;
use super::loops::{Gather, steps};
use crate::kernel::ensure;
use crate::kernel::memory::{CACHE_LINE, List};
#[cfg(target_arch = "x86_64")]
use crate::kernel::simd::has_avx2;
use core::mem::MaybeUninit;
use core::{ptr, slice};

/// The bytes of all copies of a tile. Measured on 2026-11-26 with `cliffs`: half as many take up to twice as long for five operands.
const TILE_COPIES_BYTES: usize = 12 << 10;
/// The most elements at an index of the outermost axis of which columns are copied, not rows. Measured on 2026-11-26 on a Xeon with
/// 4 bytes: columns of 9 elements take a quarter of the time of rows, and of 16 half.
const SHORT_COLUMNS: usize = 16;

/// The bytes of one of `count` copies.
pub(crate) fn copy_share(count: usize) -> usize {
    (TILE_COPIES_BYTES / count.max(1)) & !(CACHE_LINE - 1)
}

/// Copies the elements of input `k` to contiguous memory, in the order of the loops.
///
/// # Safety
/// The inputs are borrowed: the nest is one that a pass lends. `to` is as aligned as the elements.
///
/// # Panics
/// If the elements are not plain numbers, or do not fit.
pub(super) unsafe fn gather(nest: &ErasedNest, k: usize, to: &mut [MaybeUninit<u8>]) {
    let ErasedNest { loops, operands } = nest;
    ensure(k > 0 && nest.is_plain(k), "a copy of elements that are no plain numbers");
    ensure(steps(loops).saturating_mul(operands.sizes[k]) <= to.len(), "no room for the copy");
    // adjacent loops that continue each other are merged
    let mut axes = List::<(usize, isize), 8>::new();
    for l in &**loops {
        match axes.last_mut() {
            Some((len, stride)) if *stride == l.strides[k].wrapping_mul(l.len.cast_signed()) => {
                (*len, *stride) = (*len * l.len, l.strides[k]);
            }
            _ => axes.push((l.len, l.strides[k])),
        }
    }
    // SAFETY: By the invariant of nests, there is an element at every index. All fit into `to`, as was just checked.
    unsafe { operands.info.gathers[k - 1](&axes, operands.at[k], to.as_mut_ptr().cast()) };
}

macro_rules! gathers {
    ($($N:ident $size:pat)*) => {
        /// The function for plain numbers of this size. None of them has size 0.
        pub(super) const fn gather_of(size: usize) -> Gather {
            // not generic, so that it is compiled in this crate
            $(unsafe fn $N(axes: &[(usize, isize)], from: *const u8, to: *mut u8) {
                // SAFETY: As for `gather`.
                unsafe { gather_axes::<core::primitive::$N>(axes, from, to.cast()) }
            })*
            match size {
                $($size => $N,)*
            }
        }
    };
}
gathers!(u8 0..=1 u16 2 u32 4 u64 8 u128 _);

/// [`gather`] for elements of the size of `N`, along axes of a length and a stride in bytes.
///
/// # Safety
/// As for [`gather`].
unsafe fn gather_axes<N: Copy>(axes: &[(usize, isize)], from: *const u8, to: *mut N) {
    // SAFETY: The caller promises the elements and the memory, and every part is within them.
    unsafe {
        match *axes {
            [] => ptr::copy_nonoverlapping(from.cast(), to, 1),
            [(len, stride)] => copy_row(from, stride, to, len),
            [(len, 0), ref inner @ ..] => {
                gather_axes(inner, from, to);
                let (width, mut done) = (count(inner), 1);
                while done < len {
                    let more = done.min(len - done);
                    ptr::copy_nonoverlapping(to, to.add(done * width), more * width);
                    done += more;
                }
            }
            [column, ref inner @ ..] if are_columns(axes) => copy_columns(column, inner, from, to),
            [(len, stride), ref inner @ ..] => {
                let width = count(inner);
                for i in 0..len {
                    gather_axes(inner, from.wrapping_offset(stride * i.cast_signed()), to.add(i * width));
                }
            }
        }
    }
}

/// Copies `len` elements, `stride` bytes apart, to a row.
///
/// # Safety
/// As for [`gather`].
#[inline]
unsafe fn copy_row<N: Copy>(from: *const u8, stride: isize, to: *mut N, len: usize) {
    let size = size_of::<N>().cast_signed();
    // SAFETY: The caller promises the elements and the memory.
    unsafe {
        if stride == size {
            ptr::copy_nonoverlapping(from.cast(), to, len);
        } else if stride == 2 * size {
            // a stride that the compiler knows: it shuffles vectors, and memory has more reads in flight
            for i in 0..len {
                to.add(i).write_unaligned(from.cast::<N>().add(2 * i).read_unaligned());
            }
        } else if stride == 0 {
            // not by a copy of copies: most rows are too short for calls to copy memory
            let element = from.cast::<N>().read_unaligned();
            slice::from_raw_parts_mut(to.cast::<MaybeUninit<N>>(), len).fill(MaybeUninit::new(element));
        } else {
            copy_column(from, stride, to, 1, len);
        }
    }
}

/// Copies a column at each index of the inner axes; or, if the column is contiguous, transposes it and the last axis.
///
/// # Safety
/// As for [`gather`].
unsafe fn copy_columns<N: Copy>(
    (rows, down): (usize, isize),
    inner: &[(usize, isize)],
    from: *const u8,
    to: *mut N,
) {
    let (others, len, along) = match *inner {
        [ref others @ .., (len, along)] if down == size_of::<N>().cast_signed() && along != 0 && len > 3 => {
            (others, len, along)
        }
        _ => (inner, 1, 0),
    };
    let width = len * count(others);
    for at in 0..width / len {
        let (mut offset, mut rest) = (0, at);
        for &(len, stride) in others.iter().rev() {
            offset += stride * (rest % len).cast_signed();
            rest /= len;
        }
        // SAFETY: The caller promises the elements and the memory.
        unsafe {
            let (from, to) = (from.wrapping_offset(offset), to.add(at * len));
            if len > 1 {
                transpose::<N>(from, along, to.cast(), width * size_of::<N>(), [rows, len]);
            } else {
                copy_column(from, down, to, width, rows);
            }
        }
    }
}

/// Copies `len` elements, `stride` bytes apart, to places `width` elements apart.
///
/// # Safety
/// As for [`gather`].
#[inline(always)]
unsafe fn copy_column<N: Copy>(from: *const u8, stride: isize, to: *mut N, width: usize, len: usize) {
    for i in 0..len {
        // SAFETY: The caller promises the elements and the memory.
        unsafe {
            let element = from.wrapping_offset(stride * i.cast_signed()).cast::<N>().read_unaligned();
            to.add(i * width).write_unaligned(element);
        }
    }
}

/// Whether columns are copied, not rows: the stride of the first axis is smaller than that of the last one, or there are few
/// elements at an index of the first axis.
fn are_columns(axes: &[(usize, isize)]) -> bool {
    let [(rows, down), ref inner @ ..] = *axes else { return false };
    let is_nearer = inner.last().is_some_and(|last| rows > 3 && down != 0 && down.abs() < last.1.abs());
    is_nearer || count(inner) <= SHORT_COLUMNS && count(inner) < rows
}

/// The number of elements along axes.
fn count(axes: &[(usize, isize)]) -> usize {
    axes.iter().map(|axis| axis.0).product()
}

/// Copies the transpose of a matrix. Row `i` of the output has `len` contiguous elements and is column `i` of the input. The rows
/// of the input are contiguous and `along` bytes apart; those of the output are `down` bytes apart.
///
/// # Safety
/// The input has these elements, which are plain numbers of the size of `N`, and the output has memory for them.
unsafe fn transpose<N: Copy>(
    from: *const u8,
    along: isize,
    to: *mut u8,
    down: usize,
    [rows, len]: [usize; 2],
) {
    let (size, side) = (size_of::<N>(), side::<N>());
    let square: unsafe fn(*const u8, isize, *mut u8, usize) = match size {
        #[cfg(target_arch = "x86_64")]
        4 if has_avx2() => square_by_avx2,
        _ => square::<N>,
    };
    let (full_rows, full_len) = (rows / side * side, len / side * side);
    // SAFETY: The caller promises the elements and the memory, and every square is within them. `square` needs AVX2 only where
    // the CPU has it.
    unsafe {
        for j in (0..full_len).step_by(side) {
            for i in (0..full_rows).step_by(side) {
                let from = from.add(i * size).wrapping_offset(along * j.cast_signed());
                square(from, along, to.add(i * down + j * size), down);
            }
        }
        for i in 0..rows {
            for j in if i < full_rows { full_len } else { 0 }..len {
                let element =
                    from.add(i * size).wrapping_offset(along * j.cast_signed()).cast::<N>().read_unaligned();
                to.add(i * down + j * size).cast::<N>().write_unaligned(element);
            }
        }
    }
}

/// The rows and columns of a square.
const fn side<N>() -> usize {
    if size_of::<N>() > 4 { 32 / size_of::<N>() } else { 8 }
}

/// # Safety
/// As for [`transpose`], with [`side`] rows and columns.
unsafe fn square<N: Copy>(from: *const u8, along: isize, to: *mut u8, down: usize) {
    for i in 0..side::<N>() {
        for j in 0..side::<N>() {
            // SAFETY: The caller promises the elements and the memory.
            unsafe {
                let element =
                    from.wrapping_offset(along * j.cast_signed()).cast::<N>().add(i).read_unaligned();
                to.add(i * down).cast::<N>().add(j).write_unaligned(element);
            }
        }
    }
}

/// [`square`] of 8 rows and columns of 4 bytes. Measured on 2026-11-27 on a Xeon: half the time of the loops for 64², and for 2048².
/// For 8 bytes, loops take 1.06 of such a function's time.
///
/// # Safety
/// As for [`square`]; and the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn square_by_avx2(from: *const u8, along: isize, to: *mut u8, down: usize) {
    use core::arch::x86_64 as x86;

    // SAFETY: The caller promises the elements and the memory.
    unsafe {
        // each half of a vector is half of a column: four rows of columns j and j + 4
        let half = |j: isize, i: usize| {
            from.wrapping_offset(along * j).add(4 * i).cast::<x86::__m128i>().read_unaligned()
        };
        let columns = |j: isize, i: usize| x86::_mm256_set_m128i(half(j + 4, i), half(j, i));
        for upper in 0..2 {
            let i = 4 * upper;
            let [a, b, c, d] = [columns(0, i), columns(1, i), columns(2, i), columns(3, i)];
            let [ac, ac_high] = [x86::_mm256_unpacklo_epi32(a, c), x86::_mm256_unpackhi_epi32(a, c)];
            let [bd, bd_high] = [x86::_mm256_unpacklo_epi32(b, d), x86::_mm256_unpackhi_epi32(b, d)];
            let rows = [
                x86::_mm256_unpacklo_epi32(ac, bd),
                x86::_mm256_unpackhi_epi32(ac, bd),
                x86::_mm256_unpacklo_epi32(ac_high, bd_high),
                x86::_mm256_unpackhi_epi32(ac_high, bd_high),
            ];
            for (row, vector) in rows.into_iter().enumerate() {
                to.add((i + row) * down).cast::<x86::__m256i>().write_unaligned(vector);
            }
        }
    }
}
