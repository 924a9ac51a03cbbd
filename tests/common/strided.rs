//! Arrays of any shape in any layout, with a model that knows where each element is.

use crate::choices::{Choices, names};
use crate::model::{element, indices, read_at, signed};
use ndarray::{
    ArrayBase, ArrayD, ArrayRef, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, RawData, ShapeBuilder,
};
use std::fmt::Debug;

/// How the elements along an axis lie, counted in turns of the next inner axis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spacing {
    /// From one element to the next; 0 if one element is repeated.
    pub step: usize,
    pub reversed: bool,
    pub before: usize,
    pub after: usize,
    /// After a turn of this axis, counted in elements.
    pub pad: usize,
}

impl Spacing {
    /// Without gaps.
    pub const DENSE: Self = Self { step: 1, reversed: false, before: 0, after: 0, pad: 0 };

    /// The turns of the next inner axis that an axis of this size takes.
    pub fn turns(&self, size: usize) -> usize {
        self.before + size.saturating_sub(1) * self.step + 1 + self.after
    }
}

/// How the elements of an array lie in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub shape: Vec<usize>,
    /// The distance of neighbours along each axis, in elements, and whether it goes backwards.
    steps: Vec<(usize, bool)>,
    lead: usize,
    len: usize,
}

impl Layout {
    /// Row-major.
    pub fn plain(shape: &[usize]) -> Self {
        Self::spaced(shape, &(0..shape.len()).collect::<Vec<_>>(), |_| Spacing::DENSE)
    }

    /// Without gaps, with axis `order[0]` outermost.
    pub fn ordered(shape: &[usize], order: &[usize]) -> Self {
        Self::spaced(shape, order, |_| Spacing::DENSE)
    }

    /// Axis `order[0]` is the outermost.
    pub fn spaced(shape: &[usize], order: &[usize], mut axis: impl FnMut(usize) -> Spacing) -> Self {
        let mut steps = vec![(0, false); shape.len()];
        let (mut turn, mut lead) = (1, 0);
        for &i in order.iter().rev() {
            let spacing = axis(i);
            steps[i] = (turn * spacing.step, spacing.reversed);
            lead += turn * spacing.before;
            turn = turn * spacing.turns(shape[i]) + spacing.pad;
        }
        let mut layout = Self { shape: shape.to_vec(), steps, lead, len: 0 };
        layout.fit();
        layout
    }

    /// One in which elements may be repeated or overlap: to be read.
    pub fn to_read(choices: &mut impl Choices, shape: &[usize]) -> Self {
        let mut layout = Self::to_write(choices, shape);
        match choices.below(6) {
            // repeated along some axes
            4 => {
                let repeated = choices.byte();
                for (axis, step) in layout.steps.iter_mut().enumerate() {
                    if names(repeated, axis) {
                        step.0 = 0;
                    }
                }
                layout.fit();
            }
            // any steps, so that elements are reached in several ways
            5 => {
                for step in &mut layout.steps {
                    step.0 = choices.below(5);
                }
                layout.fit();
            }
            _ => {}
        }
        layout
    }

    /// One in which each element stands once: in C order, in F order, permuted, with gaps, reversed.
    pub fn to_write(choices: &mut impl Choices, shape: &[usize]) -> Self {
        let kind = choices.below(6);
        let forward: Vec<usize> = (0..shape.len()).collect();
        let order = match kind {
            0 | 1 => forward,
            2 => forward.into_iter().rev().collect(),
            _ => choices.order(shape.len()),
        };
        let gaps = kind >= 4;
        let reversed = if kind == 1 || kind == 5 { choices.byte() } else { 0 };
        let lead = if kind == 0 { 0 } else { choices.below(3) };
        let small = shape.iter().product::<usize>() <= 600;
        let mut layout = Self::spaced(shape, &order, |axis| {
            let reversed = names(reversed, axis);
            if gaps && small {
                let step = 1 + choices.below(3);
                return Spacing { step, reversed, after: step - 1, pad: choices.below(3), before: 0 };
            }
            Spacing { reversed, ..Spacing::DENSE }
        });
        layout.lead += lead;
        layout.fit();
        layout
    }

    /// One of many elements: permuted, with gaps between those of one axis and at the ends of another, reversed.
    pub fn long(choices: &mut impl Choices, shape: &[usize]) -> Self {
        let order = if choices.one_in(2) { choices.order(shape.len()) } else { (0..shape.len()).collect() };
        let [spaced, padded] = [choices.below(10), choices.below(10)];
        let reversed = if choices.one_in(6) { choices.byte() } else { 0 };
        Self::spaced(shape, &order, |axis| {
            let gap = usize::from(axis == spaced);
            let pad = usize::from(axis == padded);
            Spacing { step: 1 + gap, after: gap, pad, reversed: names(reversed, axis), before: 0 }
        })
    }

    /// One of any number of elements: in C order, in F order, permuted, with gaps, reversed, and repeated if it is `to_read`.
    /// The gaps take at most three times the memory of the elements.
    pub fn any(choices: &mut impl Choices, shape: &[usize], to_read: bool) -> Self {
        let order = match choices.below(4) {
            0 => (0..shape.len()).collect(),
            1 => (0..shape.len()).rev().collect(),
            _ => choices.order(shape.len()),
        };
        let (has_gaps, repeats) = (choices.one_in(2), to_read && choices.one_in(3));
        // empty arrays have gaps as well
        let mut len: usize = shape.iter().map(|&size| size.max(1)).product();
        let most = 4 * len + 1000;
        Self::spaced(shape, &order, |axis| {
            let others = len / shape[axis].max(1);
            let mut spacing = if repeats && choices.one_in(3) {
                Spacing { step: 0, ..Spacing::DENSE }
            } else if has_gaps && choices.one_in(2) {
                let [step, before, after] = [choices.pick(&[1, 2, 2, 3]), choices.below(3), choices.below(3)];
                Spacing { step, before, after, ..Spacing::DENSE }
            } else {
                Spacing::DENSE
            };
            if others * spacing.turns(shape[axis]) > most {
                spacing = Spacing::DENSE;
            }
            spacing.reversed = choices.one_in(5);
            len = others * spacing.turns(shape[axis]);
            spacing
        })
    }

    /// The buffer ends with the last element, so that a step too far leaves it.
    fn fit(&mut self) {
        let empty = self.shape.contains(&0);
        let reach: usize =
            self.shape.iter().zip(&self.steps).map(|(&size, step)| size.saturating_sub(1) * step.0).sum();
        // ndarray asks for the reach of an empty array too
        self.len = self.lead + reach + usize::from(!empty);
    }

    /// As ndarray's slices are: a step along no elements is 0. An empty array that seems contiguous fails in `to_owned`.
    #[must_use]
    pub fn for_copies(mut self) -> Self {
        for (step, &size) in self.steps.iter_mut().zip(&self.shape) {
            if size == 0 {
                step.0 = 0;
            }
        }
        self
    }

    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// How many elements of the array one element of the buffer stands for, unless they overlap.
    pub fn times(&self) -> usize {
        self.shape.iter().zip(&self.steps).filter(|(_, step)| step.0 == 0).map(|(&size, _)| size).product()
    }

    /// Axis `i` becomes the one that was `axes[i]`.
    #[must_use]
    pub fn permuted(mut self, axes: &[usize]) -> Self {
        self.shape = axes.iter().map(|&axis| self.shape[axis]).collect();
        self.steps = axes.iter().map(|&axis| self.steps[axis]).collect();
        self
    }

    #[must_use]
    pub fn inverted(mut self, axis: usize) -> Self {
        self.steps[axis].1 ^= true;
        self
    }

    /// Every `by`th index of an axis, from `start` to before `end`.
    #[must_use]
    pub fn sliced(mut self, axis: usize, start: usize, end: usize, by: usize) -> Self {
        let (size, (step, reversed)) = (self.shape[axis], self.steps[axis]);
        let left = (end - start).div_ceil(by);
        if left > 0 {
            let last = start + (left - 1) * by;
            self.lead += step * if reversed { size - 1 - last } else { start };
        }
        // as ndarray does: its own `to_owned` fails, in debug builds, for other strides of an empty axis
        (self.shape[axis], self.steps[axis].0) = (left, if left < 2 { 0 } else { step * by });
        self
    }

    /// Stretched to a shape, aligned at the right, as ndarray's own `broadcast` does.
    #[must_use]
    pub fn stretched(mut self, shape: &[usize]) -> Self {
        let new = shape.len() - self.ndim();
        let step = |axis: usize| {
            let own = axis.checked_sub(new).map(|axis| (self.shape[axis], self.steps[axis]));
            own.filter(|&(size, _)| size == shape[axis]).map_or((0, false), |(_, step)| step)
        };
        self.steps = (0..shape.len()).map(step).collect();
        self.shape = shape.to_vec();
        self
    }

    /// The place in the buffer of the element at `index`.
    pub fn place(&self, index: &[usize]) -> usize {
        assert_eq!(index.len(), self.shape.len());
        let along = |((&k, &size), &(step, reversed)): ((&usize, &usize), &(usize, bool))| {
            assert!(k < size, "an index of the array");
            if reversed { (size - 1 - k) * step } else { k * step }
        };
        self.lead + index.iter().zip(&self.shape).zip(&self.steps).map(along).sum::<usize>()
    }

    /// The places of all elements in row-major order.
    pub fn places(&self) -> Vec<usize> {
        indices(&self.shape).iter().map(|index| self.place(index)).collect()
    }

    fn turned<S: RawData>(&self, mut array: ArrayBase<S, IxDyn>) -> ArrayBase<S, IxDyn> {
        for (axis, step) in self.steps.iter().enumerate() {
            if step.1 {
                array.invert_axis(Axis(axis));
            }
        }
        array
    }

    /// A view of a buffer that is at least as long as the layout needs.
    pub fn view_of<'a, A>(&self, cells: &'a [A]) -> ArrayViewD<'a, A> {
        let view = ArrayViewD::from_shape(self.strided(), &cells[self.lead..]);
        self.turned(view.expect("a layout of the buffer"))
    }

    /// The strides as ndarray has them.
    pub fn strides(&self) -> Vec<isize> {
        let signed = |&(step, reversed): &(usize, bool)| {
            if reversed { -step.cast_signed() } else { step.cast_signed() }
        };
        self.steps.iter().map(signed).collect()
    }

    fn strided(&self) -> ndarray::StrideShape<IxDyn> {
        let steps: Vec<usize> = self.steps.iter().map(|step| step.0).collect();
        IxDyn(&self.shape).strides(IxDyn(&steps))
    }
}

/// An array: a layout, and a buffer of at least as many elements as the layout needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Strided<A> {
    pub layout: Layout,
    pub cells: Box<[A]>,
}

impl Strided<i64> {
    /// The elements count from `start`, in row-major order.
    pub fn numbered(layout: Layout, start: i64) -> Self {
        let elements = start..start + signed(layout.shape.iter().product());
        Self::new(layout.for_copies(), |_| 0).with_elements(elements)
    }

    /// The numbers from 0 on, in C order.
    pub fn counted(shape: &[usize]) -> Self {
        Self::numbered(Layout::plain(shape), 0)
    }
}

impl<A> Strided<A> {
    /// The cell at place `k` of the buffer has the value `value(k)`.
    pub fn new(layout: Layout, value: impl FnMut(usize) -> A) -> Self {
        let cells = (0..layout.len).map(value).collect();
        Self { layout, cells }
    }

    /// All cells of the buffer have this value.
    pub fn filled(layout: Layout, value: A) -> Self
    where
        A: Clone,
    {
        let cells = vec![value; layout.len].into();
        Self { layout, cells }
    }

    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// Other elements at the same places.
    pub fn map<B>(&self, value: impl FnMut(&A) -> B) -> Strided<B> {
        Strided { layout: self.layout.clone(), cells: self.cells.iter().map(value).collect() }
    }

    pub fn view(&self) -> ArrayViewD<'_, A> {
        self.layout.view_of(&self.cells)
    }

    pub fn view_mut(&mut self) -> ArrayViewMutD<'_, A> {
        let view = ArrayViewMutD::from_shape(self.layout.strided(), &mut self.cells[self.layout.lead..]);
        self.layout.turned(view.expect("a layout of the buffer in which each element stands once"))
    }

    /// An array that owns the buffer, which begins with the element of the lowest address.
    pub fn into_array(self) -> ArrayD<A> {
        let cells = self.cells.into_vec().into_iter().skip(self.layout.lead).collect();
        let array = ArrayD::from_shape_vec(self.layout.strided(), cells);
        self.layout.turned(array.expect("a layout of the buffer in which each element stands once"))
    }

    pub fn at(&self, index: &[usize]) -> &A {
        &self.cells[self.layout.place(index)]
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> impl Iterator<Item = &A> {
        self.layout.places().into_iter().map(|place| &self.cells[place])
    }

    /// The distance in memory, in elements, from the buffer to the first element of a view of it.
    pub fn offset<D: Dimension>(&self, view: &ArrayRef<A, D>) -> i64 {
        let (from, to) = (self.cells.as_ptr() as i64, view.as_ptr() as i64);
        (to - from) / signed(size_of::<A>())
    }

    /// This array with its elements replaced by `elements`, in row-major order. What is between them stays.
    #[must_use]
    pub fn with_elements(&self, elements: impl IntoIterator<Item = A>) -> Self
    where
        A: Clone,
    {
        let mut after = self.clone();
        let mut elements = elements.into_iter();
        for place in self.layout.places() {
            after.cells[place] = elements.next().expect("a value for each element");
        }
        assert!(elements.next().is_none(), "an element for each value");
        after
    }

    /// Asserts that `after` is this array with its elements replaced by `expected`, and that nothing between them
    /// changed.
    pub fn assert_became(&self, after: &Self, expected: impl IntoIterator<Item = A>)
    where
        A: Clone + PartialEq + Debug,
    {
        assert_eq!(after.cells, self.with_elements(expected).cells, "in layout {:?}", self.layout);
    }
}

/// The row-major elements of an array of shape `to` that reads one of `source` at the places of the axes.
pub fn spread<A: Clone>(source: &[A], shape: &[usize], to: &[usize], places: &[usize]) -> Vec<A> {
    let read = |index: &Vec<usize>| source[element(&read_at(index, shape, places), shape)].clone();
    indices(to).iter().map(read).collect()
}
