//! The sides of a product: its rows, terms and columns. The sizes from which on the library computes it.

#![forbid(unsafe_code)]

use core::any::TypeId;

/// The fewest multiplications for which the library is as fast or faster. Measured on Zen 4 with 16x16 matrices of f32.
pub(super) const LIBRARY_MULTIPLICATIONS: usize = 1 << 12;
/// The fewest rows, terms and columns for which the library is as fast or faster.
pub(super) const LIBRARY_SIDE: usize = 8;
/// The most terms of a tile that are added one after the other, and the fewest terms of a dot product that are added pairwise.
/// The order of fewer terms costs no accuracy.
pub(super) const TERMS: usize = 64;
/// The axes of products of two vectors.
pub(super) const VECTORS: [usize; 3] = [0, 1, 1];

/// The sides of a product, by the shapes of its operands.
#[inline]
pub(super) fn sides(shapes: [&[usize]; 2], axes: [usize; 3]) -> [usize; 3] {
    let size = |k: usize, from_end: usize| shapes[k].iter().rev().nth(from_end).copied().unwrap_or(0);
    [if axes[1] == 2 { size(0, 1) } else { 1 }, size(0, 0), if axes[2] == 2 { size(1, 0) } else { 1 }]
}

/// The multiplications of a product.
#[inline]
pub(super) fn multiplications(sides: [usize; 3]) -> usize {
    sides.into_iter().fold(1, usize::saturating_mul)
}

/// Whether tiles of such matrices take less time than what comes before and after them for each product.
#[inline]
pub(super) fn is_small<T: 'static>(sides: [usize; 3]) -> bool {
    let [rows, terms, columns] = sides;
    (1..=LIBRARY_MULTIPLICATIONS).contains(&multiplications(sides))
        && !suits_library::<T>(sides)
        && !(terms >= TERMS && (columns == 1 || rows == 1 && columns < LIBRARY_SIDE))
}

/// Whether the library has loops for the type and may be faster.
#[inline]
pub(super) fn suits_library<T: 'static>(sides: [usize; 3]) -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>())
        && sides.iter().all(|&side| side >= LIBRARY_SIDE)
        && multiplications(sides) >= LIBRARY_MULTIPLICATIONS
}
