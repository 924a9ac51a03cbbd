//! Random numbers, shapes, and arrays in every layout.

use crate::elements::Element;
use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Axis, Slice};
use std::fmt::Write;

/// Pseudo-random numbers (splitmix64), and what was made of them.
pub(crate) struct Random {
    state: u64,
    /// The case, for the message of a failure.
    pub(crate) log: String,
}

impl Random {
    pub(crate) fn new(seed: u64, case: usize) -> Self {
        Self {
            state: seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ (case as u64).wrapping_mul(0x9E37_79B9),
            log: String::new(),
        }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n as u64).expect("a number below n")
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub(crate) fn note(&mut self, text: impl std::fmt::Display) {
        write!(self.log, "{text}; ").expect("text");
    }

    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let j = self.below(i + 1);
            order.swap(i, j);
        }
        order
    }

    /// The most elements of a case: mostly few, sometimes so many that threads share them.
    pub(crate) fn elements(&mut self) -> usize {
        match self.below(1000) {
            0 => 600_000,
            1..=80 => 20_000,
            81..=400 => 2000,
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
        let order = self.shuffled(shape.len());
        order.iter().map(|&axis| shape[axis]).collect()
    }

    /// The shape of an operand that stretches to `joint`.
    pub(crate) fn operand_of(&mut self, joint: &[usize]) -> Vec<usize> {
        let dropped = if self.one_in(3) { self.below(joint.len() + 1) } else { 0 };
        joint[dropped..].iter().map(|&size| if self.one_in(4) { 1 } else { size }).collect()
    }

    /// Some of the axes, in any order.
    pub(crate) fn axes(&mut self, ndim: usize) -> Vec<usize> {
        let order = self.shuffled(ndim);
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
        let ndim = shape.len();
        let order = match self.below(4) {
            0 => (0..ndim).collect(),
            1 => (0..ndim).rev().collect(),
            _ => self.shuffled(ndim),
        };
        let (has_gaps, repeats) = (self.one_in(2), is_repeated && self.one_in(3));
        let (mut parts, mut len) = (Vec::new(), shape.iter().product::<usize>().max(1));
        let most = 4 * len + 1000;
        for &size in shape {
            let mut part = Part { size, step: 1, before: 0, after: 0 };
            if repeats && self.one_in(3) {
                part.step = 0;
            } else if has_gaps && self.one_in(2) {
                (part.step, part.before, part.after) =
                    (self.pick(&[1, 2, 2, 3]), self.below(3), self.below(3));
            }
            if len / size.max(1) * part.stored() > most {
                (part.step, part.before, part.after) = (1, 0, 0);
            }
            if self.one_in(5) {
                part.step = -part.step;
            }
            len = len / size.max(1) * part.stored().max(1);
            parts.push(part);
        }
        let stored: Vec<usize> = order.iter().map(|&axis| parts[axis].stored()).collect();
        let mut inverse = vec![0; ndim];
        order.iter().enumerate().for_each(|(place, &axis)| inverse[axis] = place);
        let repeated = parts.iter().filter(|part| part.step == 0);
        let (mut place, times) = (0, repeated.map(|part| part.size).product());
        let memory = ArrayD::from_shape_simple_fn(stored, || {
            place += 1;
            A::of(of(place - 1, times))
        });
        let array = Strided { memory: memory.permuted_axes(inverse), parts };
        let view = array.view();
        write!(self.log, "{shape:?} by {:?}; ", view.strides()).expect("text");
        array
    }
}

/// The elements of an axis among those that are stored along it.
#[derive(Clone, Copy)]
struct Part {
    size: usize,
    /// 0 if one element is repeated.
    step: isize,
    before: usize,
    after: usize,
}

impl Part {
    fn stored(&self) -> usize {
        let reach =
            if self.step == 0 { 1 } else { self.size.saturating_sub(1) * self.step.unsigned_abs() + 1 };
        self.before + if self.size == 0 { 0 } else { reach } + self.after
    }

    fn slice(&self) -> Slice {
        let end = self.stored() - self.after;
        // the last element that a negative step begins with is the one at the end
        Slice::new(
            self.before.cast_signed(),
            Some(end.cast_signed()),
            if self.step == 0 { 1 } else { self.step },
        )
    }
}

/// An array in any layout, with the memory around it.
pub(crate) struct Strided<A> {
    memory: ArrayD<A>,
    parts: Vec<Part>,
}

impl<A: Element> Strided<A> {
    pub(crate) fn view(&self) -> ArrayViewD<'_, A> {
        let mut whole = self.memory.raw_dim();
        for (axis, part) in self.parts.iter().enumerate() {
            if part.step == 0 {
                whole[axis] = part.size;
            }
        }
        let mut view = self.memory.broadcast(whole).expect("sizes of 1 stretch");
        for (axis, part) in self.parts.iter().enumerate().filter(|(_, part)| part.step != 0) {
            view.slice_axis_inplace(Axis(axis), part.slice());
        }
        view
    }

    pub(crate) fn view_mut(&mut self) -> ArrayViewMutD<'_, A> {
        let mut view = self.memory.view_mut();
        for (axis, part) in self.parts.iter().enumerate() {
            view.slice_axis_inplace(Axis(axis), part.slice());
        }
        view
    }

    /// An array that has the memory.
    pub(crate) fn into_array(self) -> ArrayD<A> {
        let mut array = self.memory;
        for (axis, part) in self.parts.iter().enumerate() {
            array.slice_axis_inplace(Axis(axis), part.slice());
        }
        array
    }

    /// Checks the elements of an array that was made with the code 1 everywhere, and that nothing around them was written.
    pub(crate) fn check(mut self, what: &str, expected: &[i64]) {
        check::<A>(what, &self.view(), expected);
        self.view_mut().fill(A::of(1));
        assert!(
            self.memory.iter().all(|x| x.code() == A::of(1).code()),
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
