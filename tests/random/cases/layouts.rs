//! Random shapes, and arrays of them in every layout.

use crate::cases::Input;
use crate::cases::elements::Element;
use common::{Choices, Layout, Strided};
use ndarray::ArrayViewD;

impl Input<'_> {
    /// The most elements of a case: mostly few, sometimes so many that threads share them, unless they are large.
    pub(crate) fn elements<A>(&mut self) -> usize {
        match self.below(1000) {
            199.. if size_of::<A>() > 64 => 200,
            999 => 600_000,
            919..999 => 20_000,
            599..919 => 2000,
            _ => 200,
        }
    }

    /// A shape of up to `axes` axes and `most` elements.
    pub(crate) fn shape(&mut self, axes: usize, most: usize) -> Vec<usize> {
        const SIZES: [usize; 22] =
            [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 31, 33, 64, 65, 100, 127, 129, 256, 257, 0];
        const LONG: [usize; 8] = [511, 513, 1025, 2048, 4097, 10_007, 65_537, 262_145];
        let (mut shape, mut left) = (Vec::new(), most.max(1));
        for _ in 0..self.below(axes + 1) {
            let size = match self.pick(&SIZES) {
                0 if self.one_in(4) => 0,
                0 => self.pick(&LONG),
                size => size,
            };
            let size = size.min(left);
            left /= size.max(1);
            shape.push(size);
        }
        self.shuffle(&mut shape);
        shape
    }

    /// Some of the axes, in any order.
    pub(crate) fn distinct_axes(&mut self, ndim: usize) -> Vec<usize> {
        let order = self.order(ndim);
        let count = self.below(ndim + 1);
        order[..count].to_vec()
    }

    /// An array of this shape in any layout, whose element at place `i` of its memory has the code `of(i, times)` and stands
    /// for `times` elements.
    pub(crate) fn array<A: Element>(
        &mut self,
        shape: &[usize],
        is_repeated: bool,
        of: impl Fn(usize, usize) -> i64,
    ) -> Strided<A> {
        let layout = Layout::any(self, shape, is_repeated);
        self.array_in(layout, of)
    }

    /// As [`array`](Self::array), in this layout.
    pub(crate) fn array_in<A: Element>(
        &mut self,
        layout: Layout,
        of: impl Fn(usize, usize) -> i64,
    ) -> Strided<A> {
        self.note(format_args!("{:?} by {:?}", layout.shape, layout.strides()));
        let times = layout.times();
        Strided::new(layout, |place| A::of(of(place, times)))
    }
}

/// An array to write to, whose elements and those between them had the code 1.
pub(crate) trait Output {
    /// Checks its elements, and that nothing between them was written.
    fn check(self, what: &str, expected: &[i64]);
}

impl<A: Element> Output for Strided<A> {
    fn check(mut self, what: &str, expected: &[i64]) {
        check::<A>(what, &self.view(), expected);
        self.view_mut().fill(A::of(1));
        assert!(
            self.cells.iter().all(|x| x.code() == A::of(1).code()),
            "{what}: an element beside the output"
        );
    }
}

/// The codes of the elements, in row-major order.
pub(crate) fn codes<A: Element>(view: &ArrayViewD<'_, A>) -> Vec<i64> {
    view.iter().map(Element::code).collect()
}

/// Checks the codes of all elements, in row-major order.
pub(crate) fn check<A: Element>(what: &str, array: &ArrayViewD<'_, A>, expected: &[i64]) {
    assert_eq!(array.len(), expected.len(), "{what}: the number of elements");
    for (number, (x, &code)) in array.iter().zip(expected).enumerate() {
        let (found, code) = (x.code(), A::of(code).code());
        assert!(found == code, "{what}: element {number} of {:?} is {found}, not {code}", array.shape());
    }
}

/// A code for each place, in no order.
pub(crate) fn scrambled(place: usize, _: usize) -> i64 {
    let x = (place as u64 ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x >> 20).cast_signed()
}
