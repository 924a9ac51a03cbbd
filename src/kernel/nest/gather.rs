//! Copies of plain numbers, to an output or, such as tiles of a transposed array, to contiguous memory.
//!
//! A copy computes what this loop computes, in another order:
//!
//! ```text
//! at each index of the loops:
//!     output = input
//! ```
//!
//! The deviations, and what a copy takes without them:
//! 1. Loops that continue each other are merged, and all are ordered by the nearer of both strides: 1.1 times, for random permutations
//!    of five and more axes.
//! 2. Squares are transposed in registers: twice as long for `f64`, 3 times for `f32`, 6 times for `u8`.
//! 3. Rows are copied by the loop for their stride, which the compiler vectorises. Rows that repeat are copied from the first one.
//!
//! | the elements | the copy |
//! |---|---|
//! | a row: contiguous, every second one, one element, or with gaps | [`copy_rows`] |
//! | rows that repeat | one of them, and copies of this copy |
//! | rows and columns, contiguous in the output and in the input | squares that are transposed in registers, if the CPU has AVX2 |
//! | the shortest rows, and those whose lines share sets of L1 | column after column |
//! | others | row after row |
//!
//! The axes are ordered by the nearer of both strides, so that rows and columns are the last two.
//!
//! # Invariant
//! A function that needs AVX2 is called only on a CPU that has it. The elements are copied as numbers of their size: all bytes of plain
//! numbers are initialised and may be copied. They may be less aligned than such a number: it is read and written unaligned.

use super::loops::{ElementInfo, Gather, Loop, Loops, NARROW, indices, is_dense, sort_by};
use crate::kernel::ensure;
use crate::kernel::memory::CACHE_LINE;
#[cfg(target_arch = "x86_64")]
use crate::kernel::simd::has_avx2;
use core::cmp::Reverse;
use core::mem::MaybeUninit;
use core::ptr;

/// The bytes of all copies of a tile. Measured on 2026-11-26 with `cliffs`: half as many take up to twice as long for five operands. On
/// 2026-11-28 on a Xeon, three quarters took 1.5 times as long for a sum of two arrays of three axes each in six.
const TILE_COPIES_BYTES: usize = 16 << 10;

/// The bytes of one of `count` copies.
pub(crate) fn copy_share(count: usize) -> usize {
    (TILE_COPIES_BYTES / count.max(1)) & !(CACHE_LINE - 1)
}

/// Where elements are copied to.
pub(super) enum To<'m> {
    /// Contiguous memory, in the order of the loops.
    Memory(&'m mut [MaybeUninit<u8>]),
    /// The output, along its strides.
    Output(*mut u8),
}

/// Copies the elements of input `k`, from the first one at `from` on.
///
/// # Safety
/// There is a borrowed element at every index of the loops, and memory for one at every index of an output. Both have the type that
/// `info` has, and memory is as aligned as this type.
///
/// # Panics
/// If the elements are not plain numbers, or do not fit.
pub(super) unsafe fn copy_elements(
    loops: &[Loop],
    from: *const u8,
    k: usize,
    info: &ElementInfo,
    to: To<'_>,
) {
    ensure(k > 0 && (info.plain)().contains(k), "a copy of elements that are no plain numbers");
    let (mut axes, mut width) = (Loops::new(), info.sizes[k].cast_signed());
    let (start, is_output) = match to {
        To::Memory(bytes) => {
            ensure(indices(loops).saturating_mul(info.sizes[k]) <= bytes.len(), "no room for the copy");
            (bytes.as_mut_ptr().cast(), false)
        }
        To::Output(start) => (start, true),
    };
    for l in loops.iter().rev() {
        let mut axis = Loop { len: l.len, ..Loop::ONE_STEP };
        axis.strides[..2].copy_from_slice(&[if is_output { l.strides[0] } else { width }, l.strides[k]]);
        width = width.wrapping_mul(l.len.cast_signed());
        match axes.last_mut() {
            // adjacent loops that continue each other are merged
            Some(inner) if axis.continues(inner, 2) => inner.len *= l.len,
            _ => axes.push(axis),
        }
    }
    sort_by(&mut axes, nearer_stride);
    // SAFETY: The caller promises the elements and the output. All fit into other memory, as was just checked.
    unsafe { info.gathers[k - 1](&axes, from, start) };
}

/// Orders loops by the nearer of the output's and the first input's strides, the farthest outermost: what shares a line or a page is
/// copied soon.
pub(super) fn nearer_stride(l: &Loop) -> Reverse<(usize, usize)> {
    let [out, input] = [0, 1].map(|k| l.strides[k].unsigned_abs());
    Reverse((if input == 0 { out } else { out.min(input) }, out))
}

macro_rules! gathers {
    ($($N:ident $size:pat)*) => {
        /// The function for plain numbers of this size. None of them has size 0.
        pub(super) const fn gather_of(size: usize) -> Gather {
            // not generic, so that it is compiled in this crate
            $(unsafe fn $N(axes: &[Loop], from: *const u8, to: *mut u8) {
                // SAFETY: As for `gather_axes`.
                unsafe { gather_axes::<core::primitive::$N>(axes, from, to) }
            })*
            match size {
                $($size => $N,)*
            }
        }
    };
}
gathers!(u8 0..=1 u16 2 u32 4 u64 8 u128 _);

/// Copies elements of the size of `N` along axes.
///
/// # Safety
/// As for [`copy_elements`].
unsafe fn gather_axes<N: Copy>(axes: &[Loop], from: *const u8, to: *mut u8) {
    // SAFETY: The caller promises the elements and the memory, and every part is within them. The CPU has AVX2 where it is needed.
    unsafe {
        match *axes {
            [] => copy_every::<N, 1>(from.cast(), to.cast(), 1),
            [row] => copy_rows::<N>(Loop::ONE_STEP, row, from, to),
            [Loop { len, strides: [width, 0, ..], .. }, ref inner @ ..]
                if is_dense(axes, 0, size_of::<N>()) =>
            {
                gather_axes::<N>(inner, from, to);
                let (width, mut done) = (width.unsigned_abs(), 1);
                while done < len {
                    let more = done.min(len - done);
                    ptr::copy_nonoverlapping(to, to.add(done * width), more * width);
                    done += more;
                }
            }
            #[cfg(target_arch = "x86_64")]
            [column, row] if has_squares(&column, &row, size_of::<N>()) && has_avx2() => {
                transpose::<N>(column, row, from, to);
            }
            // the shortest rows, and those whose lines share sets of L1: each line is read once
            [column, row]
                if row.len < column.len.min(4)
                    || share_sets(row.strides[1])
                        && (1..row.strides[1].unsigned_abs()).contains(&column.strides[1].unsigned_abs()) =>
            {
                copy_rows::<N>(row, column, from, to);
            }
            [outer, row] => copy_rows::<N>(outer, row, from, to),
            [outer, ref inner @ ..] => {
                for i in 0..outer.len.cast_signed() {
                    let (from, to) = moved(&outer, i, from, to);
                    gather_axes::<N>(inner, from, to);
                }
            }
        }
    }
}

/// The pointers after `i` steps along an axis.
fn moved(axis: &Loop, i: isize, from: *const u8, to: *mut u8) -> (*const u8, *mut u8) {
    (from.wrapping_offset(axis.strides[1] * i), to.wrapping_offset(axis.strides[0] * i))
}

/// Copies the elements of a row at each index of the outer axis.
///
/// # Safety
/// As for [`gather_axes`].
unsafe fn copy_rows<N: Copy>(outer: Loop, row: Loop, from: *const u8, to: *mut u8) {
    let (Loop { len, strides: [step, stride, ..], .. }, size) = (row, size_of::<N>().cast_signed());
    for i in 0..outer.len.cast_signed() {
        let (from, to) = moved(&outer, i, from, to);
        // SAFETY: The caller promises the elements and the memory.
        unsafe {
            let (first, row) = (from.cast::<N>(), to.cast::<N>());
            match stride {
                _ if step != size => copy_column::<N>(from, stride, to, step, len),
                // not by a copy of copies: most rows are too short for calls to copy memory
                0 => copy_every::<N, 0>(first, row, len),
                _ if stride == size && len > NARROW => {
                    ptr::copy_nonoverlapping(from, to, len * size_of::<N>());
                }
                _ if stride == size => copy_every::<N, 1>(first, row, len),
                // bytes one by one: LLVM shuffles them in 1.6 times the time
                _ if stride == 2 * size && size > 1 => copy_every::<N, 2>(first, row, len),
                _ if stride == -size => copy_every::<N, -1>(first, row, len),
                _ => copy_column::<N>(from, stride, to, size, len),
            }
        }
    }
}

/// Copies a row of elements, `STEP` elements apart. The compiler shuffles vectors, where indices count elements, not bytes.
///
/// # Safety
/// As for [`gather_axes`].
#[inline(always)]
unsafe fn copy_every<N: Copy, const STEP: isize>(from: *const N, to: *mut N, len: usize) {
    for i in 0..len {
        // SAFETY: The caller promises the elements and the memory.
        unsafe { to.add(i).write_unaligned(from.offset(STEP * i.cast_signed()).read_unaligned()) };
    }
}

/// Copies `len` elements, `stride` bytes apart, to places `step` bytes apart.
///
/// # Safety
/// As for [`gather_axes`].
#[inline(always)]
unsafe fn copy_column<N: Copy>(mut from: *const u8, stride: isize, mut to: *mut u8, step: isize, len: usize) {
    for _ in 0..len {
        // SAFETY: The caller promises the elements and the memory.
        unsafe { to.cast::<N>().write_unaligned(from.cast::<N>().read_unaligned()) };
        // not multiplied by an index: LLVM leaves the products in the loop, which takes twice as long
        (from, to) = (from.wrapping_offset(stride), to.wrapping_offset(step));
    }
}

/// Whether rows are contiguous in the output and columns in the input, and as long as a square or longer.
#[cfg(target_arch = "x86_64")]
fn has_squares(column: &Loop, row: &Loop, size: usize) -> bool {
    let ends = [row.strides[0], column.strides[1]];
    let is_far = ![0, size.cast_signed()].contains(&row.strides[1]);
    size < 16 && ends == [size.cast_signed(); 2] && is_far && row.len.min(column.len) >= 16 / size
}

/// Transposes squares in registers, two at once: each has as many rows and columns as there are elements in 16 bytes. Measured on
/// 2026-11-29 on Zen 4: half the time of loops for f64, a third for f32 and a sixth for u8, from 33x33 to 600x600.
///
/// # Safety
/// As for [`gather_axes`]. There [are squares](has_squares), and the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn transpose<N>(column: Loop, row: Loop, from: *const u8, to: *mut u8) {
    use core::arch::x86_64 as x86;

    let (size, side) = (size_of::<N>(), 16 / size_of::<N>());
    // short rows of the output have one square
    let step = if row.len < 2 * side { side } else { 2 * side };
    let [mut outer, mut inner] = [(column, side), (row, step)];
    // squares along rows of the output, unless these are short, or those of the input share sets of L1: lines are read whole then
    if step == side || share_sets(row.strides[1]) {
        (outer, inner) = (inner, outer);
    }
    for i in starts(outer) {
        let (from, to) = moved(&outer.0, i, from, to);
        for i in starts(inner) {
            let (from, to) = moved(&inner.0, i, from, to);
            // the rows of the input, a square in each half, then those of the output
            let mut vectors = [x86::_mm256_setzero_si256(); 16];
            // SAFETY: The caller promises the elements and the memory, and every square is within them.
            unsafe {
                let half = |k: usize| {
                    let from = from.wrapping_offset(row.strides[1] * k.cast_signed());
                    from.cast::<x86::__m128i>().read_unaligned()
                };
                for k in 0..side {
                    vectors[k] = x86::_mm256_set_m128i(half(k + step - side), half(k));
                }
                // elements of rows that are half a square apart become neighbours, until those of a column are
                for _ in 0..side.ilog2() {
                    let v = vectors;
                    for k in 0..side / 2 {
                        let (a, b) = (v[k], v[k + side / 2]);
                        [vectors[2 * k], vectors[2 * k + 1]] = match size {
                            1 => [x86::_mm256_unpacklo_epi8(a, b), x86::_mm256_unpackhi_epi8(a, b)],
                            2 => [x86::_mm256_unpacklo_epi16(a, b), x86::_mm256_unpackhi_epi16(a, b)],
                            4 => [x86::_mm256_unpacklo_epi32(a, b), x86::_mm256_unpackhi_epi32(a, b)],
                            _ => [x86::_mm256_unpacklo_epi64(a, b), x86::_mm256_unpackhi_epi64(a, b)],
                        };
                    }
                }
                for k in 0..side {
                    let to = to.wrapping_offset(column.strides[0] * k.cast_signed());
                    if step > side {
                        to.cast::<x86::__m256i>().write_unaligned(vectors[k]);
                    } else {
                        to.cast::<x86::__m128i>().write_unaligned(x86::_mm256_castsi256_si128(vectors[k]));
                    }
                }
            }
        }
    }
}

/// The first steps of parts of `side` steps of a loop. The last part overlaps with the one before.
#[cfg(target_arch = "x86_64")]
fn starts((l, side): (Loop, usize)) -> impl Iterator<Item = isize> {
    (0..l.len.div_ceil(side)).map(move |part| (part * side).min(l.len - side).cast_signed())
}

/// Whether lines that are so many bytes apart share few sets of L1.
pub(super) fn share_sets(stride: isize) -> bool {
    stride.unsigned_abs().is_multiple_of(32 * CACHE_LINE)
}
