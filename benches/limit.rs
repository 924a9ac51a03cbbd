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
    const LANES: usize = 16;
    let quarter = x.len() / 4;
    let stream = |i: usize| x[i * quarter..][..quarter].chunks_exact(LANES);
    // An array for each stream: in one array of arrays they would stay in memory.
    let [mut s, mut t, mut u, mut v] = [[T::zero(); LANES]; 4];
    for (((a, b), c), d) in stream(0).zip(stream(1)).zip(stream(2)).zip(stream(3)) {
        for i in 0..LANES {
            s[i] += a[i];
        }
        for i in 0..LANES {
            t[i] += b[i];
        }
        for i in 0..LANES {
            u[i] += c[i];
        }
        for i in 0..LANES {
            v[i] += d[i];
        }
    }
    std::hint::black_box(&(s, t, u, v));
});
