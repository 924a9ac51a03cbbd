//! One accumulator, axes in the order in which they are said.

plain!(sum_over_0<T>(out: &mut [T], x: &[T]) {
    out.fill(T::zero());
    for x in x.chunks_exact(out.len()) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out += x;
        }
    }
});
plain!(sum_over_1<T>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = x.iter().fold(T::zero(), |sum, &x| sum + x);
    }
});
plain!(max_over_0<T: Real>(out: &mut [T], x: &[T]) {
    out.fill(T::neg_infinity());
    for x in x.chunks_exact(out.len()) {
        for (out, &x) in out.iter_mut().zip(x) {
            if x > *out {
                *out = x;
            }
        }
    }
});
plain!(max_over_1<T: Real>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = x.iter().fold(T::neg_infinity(), |top, &x| if x > top { x } else { top });
    }
});
plain!(magnitude_over_1<T: Real>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = x.iter().fold(T::zero(), |top, x| if x.abs() > top { x.abs() } else { top });
    }
});
plain!(products_over_0<T>(out: &mut [T], a: &[T], b: &[T]) {
    let width = out.len();
    out.fill(T::zero());
    for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out += a * b;
        }
    }
});
plain!(products_over_1<T>(out: &mut [T], a: &[T], b: &[T]) {
    let width = a.len() / out.len();
    for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(width)).zip(b.chunks_exact(width)) {
        *out = a.iter().zip(b).fold(T::zero(), |sum, (&a, &b)| sum + a * b);
    }
});
plain!(squares_about<T>(out: &mut [T], x: &[T], means: &[T]) {
    let width = x.len() / out.len();
    for ((out, x), &m) in out.iter_mut().zip(x.chunks_exact(width)).zip(means) {
        *out = x.iter().fold(T::zero(), |sum, &x| sum + (x - m) * (x - m));
    }
});
plain!(row_over_0<T>(out: &mut [T], x: &[T], row: &[T]) {
    out.fill(T::zero());
    for x in x.chunks_exact(row.len()) {
        for ((out, &x), &r) in out.iter_mut().zip(x).zip(row) {
            *out += x * r;
        }
    }
});
plain!(row_over_1<T>(out: &mut [T], x: &[T], row: &[T]) {
    for (out, x) in out.iter_mut().zip(x.chunks_exact(row.len())) {
        *out = x.iter().zip(row).fold(T::zero(), |sum, (&x, &r)| sum + x * r);
    }
});
plain!(row_over_all<T>(out: &mut [T], x: &[T], row: &[T]) {
    let mut sum = T::zero();
    for x in x.chunks_exact(row.len()) {
        for (&x, &r) in x.iter().zip(row) {
            sum += x * r;
        }
    }
    out[0] = sum;
});
plain!(column_over_1<T>(out: &mut [T], x: &[T], column: &[T]) {
    let width = x.len() / out.len();
    for ((out, x), &c) in out.iter_mut().zip(x.chunks_exact(width)).zip(column) {
        *out = x.iter().fold(T::zero(), |sum, &x| sum + x * c);
    }
});
plain!(distances<T>(out: &mut [T], x: &[T], y: &[T], len: usize) {
    let count = y.len() / len;
    for (out, x) in out.chunks_exact_mut(count).zip(x.chunks_exact(len)) {
        for (out, y) in out.iter_mut().zip(y.chunks_exact(len)) {
            *out = x.iter().zip(y).fold(T::zero(), |sum, (&x, &y)| sum + (x - y) * (x - y));
        }
    }
});
plain!(channel_sums<T>(out: &mut [T], x: &[T], plane: usize) {
    out.fill(T::zero());
    for image in x.chunks_exact(out.len() * plane) {
        for (out, x) in out.iter_mut().zip(image.chunks_exact(plane)) {
            for &x in x {
                *out += x;
            }
        }
    }
});
plain!(channels<T>(out: &mut [T], x: &[T], plane: usize) {
    out.fill(T::zero());
    for image in x.chunks_exact(out.len() * plane) {
        for (out, x) in out.iter_mut().zip(image.chunks_exact(plane)) {
            for &x in x {
                *out += x * x;
            }
        }
    }
});
plain!(layer_norm<T: Real>(out: &mut [T], x: &[T], gain: &[T], bias: &[T], epsilon: T, count: T) {
    let width = gain.len();
    for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        let mean = x.iter().fold(T::zero(), |sum, &x| sum + x) / count;
        let variance = x.iter().fold(T::zero(), |sum, &x| sum + (x - mean) * (x - mean)) / count;
        let scale = (variance + epsilon).sqrt().recip();
        for (((out, &x), &g), &b) in out.iter_mut().zip(x).zip(gain).zip(bias) {
            *out = (x - mean) * scale * g + b;
        }
    }
});
plain!(softmax<T: Real>(out: &mut [T], x: &[T], width: usize) {
    for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        let top = x.iter().fold(T::neg_infinity(), |top, &x| if x > top { x } else { top });
        let mut sum = T::zero();
        for (out, &x) in out.iter_mut().zip(x) {
            *out = (x - top).exp();
            sum += *out;
        }
        for out in out {
            *out /= sum;
        }
    }
});
plain!(windows<T>(out: &mut [T], x: &[T], weights: &[T]) {
    for (out, x) in out.iter_mut().zip(x.windows(weights.len())) {
        *out = x.iter().zip(weights).fold(T::zero(), |sum, (&x, &w)| sum + x * w);
    }
});
plain!(gram<T>(out: &mut [T], x: &[T], weights: &[T]) {
    let width = x.len() / weights.len();
    out.fill(T::zero());
    for (x, &w) in x.chunks_exact(width).zip(weights) {
        for (out, &a) in out.chunks_exact_mut(width).zip(x) {
            for (out, &b) in out.iter_mut().zip(x) {
                *out += a * b * w;
            }
        }
    }
});
plain!(count_over_0(out: &mut [usize], x: &[bool]) {
    out.fill(0);
    for x in x.chunks_exact(out.len()) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out += usize::from(x);
        }
    }
});
plain!(count_over_1(out: &mut [usize], x: &[bool]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = x.iter().map(|&x| usize::from(x)).sum();
    }
});
plain!(above<T: Real>(out: &mut [usize], x: &[T], edges: &[T]) {
    out.fill(0);
    for &x in x {
        for (out, &edge) in out.iter_mut().zip(edges) {
            *out += usize::from(x > edge);
        }
    }
});
plain!(multiply_add<T>(out: &mut [T], a: &[T], row: &[T], column: &[T]) {
    let width = row.len();
    for ((out, a), &c) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)).zip(column) {
        for ((out, &a), &r) in out.iter_mut().zip(a).zip(row) {
            *out = a * r + c;
        }
    }
});
plain!(add_row<T>(out: &mut [T], a: &[T], row: &[T]) {
    let width = row.len();
    for (out, a) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)) {
        for ((out, &a), &r) in out.iter_mut().zip(a).zip(row) {
            *out = a + r;
        }
    }
});
plain!(decay_to_row<T>(out: &mut [T], row: &[T], half: T) {
    for out in out.chunks_exact_mut(row.len()) {
        for (out, &r) in out.iter_mut().zip(row) {
            *out = *out * half + r;
        }
    }
});
plain!(decay_to_column<T>(out: &mut [T], column: &[T], half: T) {
    let width = out.len() / column.len();
    for (out, &c) in out.chunks_exact_mut(width).zip(column) {
        for out in out {
            *out = *out * half + c;
        }
    }
});
plain!(copy_row<T>(out: &mut [T], row: &[T]) {
    for out in out.chunks_exact_mut(row.len()) {
        out.copy_from_slice(row);
    }
});
plain!(copy_column<T>(out: &mut [T], column: &[T]) {
    let width = out.len() / column.len();
    for (out, &c) in out.chunks_exact_mut(width).zip(column) {
        out.fill(c);
    }
});
// Of one or more matrices.
plain!(transpose<T>(out: &mut [T], x: &[T], rows: usize, columns: usize) {
    for (out, x) in out.chunks_exact_mut(rows * columns).zip(x.chunks_exact(rows * columns)) {
        for (j, out) in out.chunks_exact_mut(rows).enumerate() {
            for (i, out) in out.iter_mut().enumerate() {
                *out = x[i * columns + j];
            }
        }
    }
});

pub(crate) use distances as turned_distances;
