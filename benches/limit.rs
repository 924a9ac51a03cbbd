//! What memory allows: no operation on as many bytes is faster.

use crate::plain::Number;

/// Reads a slice in four streams, which memory serves faster than one.
pub(crate) fn read<T: Number>(x: &[T]) {
    four_streams::avx2(x);
}

/// Writes all of `out`, and reads `x` if it is as long.
#[allow(dead_code, reason = "sums only read")]
pub(crate) fn write<T: Number>(out: &mut [T], x: &[T]) {
    if out.len() == x.len() {
        out.copy_from_slice(x);
    } else {
        out.fill(x[0]);
    }
}

plain!(four_streams<T>(x: &[T]) {
    let mut sums = [[T::zero(); 16]; 4];
    let mut streams = x.chunks_exact((x.len() / 4).max(1)).map(|stream| stream.chunks_exact(16));
    if let (Some(a), Some(b), Some(c), Some(d)) =
        (streams.next(), streams.next(), streams.next(), streams.next())
    {
        for (((a, b), c), d) in a.zip(b).zip(c).zip(d) {
            for (sums, x) in sums.iter_mut().zip([a, b, c, d]) {
                for (sum, &x) in sums.iter_mut().zip(x) {
                    *sum += x;
                }
            }
        }
    }
    std::hint::black_box(&sums);
});
