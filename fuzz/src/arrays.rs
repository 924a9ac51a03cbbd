//! Arrays of any shape in any layout, with a model that knows where each element is.

use crate::input::{Input, names};
use crate::model::{element, indices};
use ndarray::{ArrayBase, ArrayViewD, ArrayViewMutD, Axis, IxDyn, RawData, ShapeBuilder};

/// How the elements of an array lie in a buffer.
#[derive(Clone, Debug)]
pub struct Layout {
    pub shape: Vec<usize>,
    /// How far a step goes, counted in elements, and whether it goes backwards.
    steps: Vec<(usize, bool)>,
    lead: usize,
    len: usize,
}

impl Layout {
    /// Row-major.
    pub fn plain(shape: &[usize]) -> Self {
        Self::nested(shape, &(0..shape.len()).collect::<Vec<_>>(), |_| (1, 0, false), 0)
    }

    /// One in which elements may be repeated or overlap: to be read.
    pub fn to_read(input: &mut Input<'_>, shape: &[usize]) -> Self {
        let mut layout = Self::to_write(input, shape);
        match input.below(6) {
            // repeated along some axes
            4 => {
                let repeated = input.byte();
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
                    step.0 = input.below(5);
                }
                layout.fit();
            }
            _ => {}
        }
        layout
    }

    /// One in which each element stands once: in C order, in F order, permuted, with gaps, reversed.
    pub fn to_write(input: &mut Input<'_>, shape: &[usize]) -> Self {
        let kind = input.below(6);
        let forward: Vec<usize> = (0..shape.len()).collect();
        let order = match kind {
            0 | 1 => forward,
            2 => forward.into_iter().rev().collect(),
            _ => input.order(shape.len()),
        };
        let gaps = kind >= 4;
        let reversed = if kind == 1 || kind == 5 { input.byte() } else { 0 };
        let lead = if kind == 0 { 0 } else { input.below(3) };
        let small = shape.iter().product::<usize>() <= 600;
        Self::nested(
            shape,
            &order,
            |axis| {
                let (step, pad) = if gaps && small { (1 + input.below(3), input.below(3)) } else { (1, 0) };
                (step, pad, names(reversed, axis))
            },
            lead,
        )
    }

    /// One of many elements: permuted, with gaps between those of one axis and at the ends of another, reversed.
    pub fn long(input: &mut Input<'_>, shape: &[usize]) -> Self {
        let order = if input.one_in(2) { input.order(shape.len()) } else { (0..shape.len()).collect() };
        let [spaced, padded] = [input.below(10), input.below(10)];
        let reversed = if input.one_in(6) { input.byte() } else { 0 };
        let gaps =
            |axis| (1 + usize::from(axis == spaced), usize::from(axis == padded), names(reversed, axis));
        Self::nested(shape, &order, gaps, 0)
    }

    /// Axis `order[0]` is the outermost; each has a step, counted in turns of the next inner one, and a pad.
    fn nested(
        shape: &[usize],
        order: &[usize],
        mut axis: impl FnMut(usize) -> (usize, usize, bool),
        lead: usize,
    ) -> Self {
        let mut steps = vec![(0, false); shape.len()];
        let mut turn = 1;
        for &i in order.iter().rev() {
            let (step, pad, reversed) = axis(i);
            steps[i] = (turn * step, reversed);
            turn = turn * step * shape[i].max(1) + pad;
        }
        let mut layout = Self { shape: shape.to_vec(), steps, lead, len: 0 };
        layout.fit();
        layout
    }

    /// The buffer ends with the last element, so that a step too far leaves it.
    fn fit(&mut self) {
        let empty = self.shape.contains(&0);
        let reach: usize =
            self.shape.iter().zip(&self.steps).map(|(&size, step)| size.saturating_sub(1) * step.0).sum();
        // ndarray asks for the reach of an empty array too
        self.len = self.lead + reach + usize::from(!empty);
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

    fn strided(&self) -> ndarray::StrideShape<IxDyn> {
        let steps: Vec<usize> = self.steps.iter().map(|step| step.0).collect();
        IxDyn(&self.shape).strides(IxDyn(&steps))
    }
}

/// An array: a layout and a buffer that is as long as the layout needs.
#[derive(Clone, Debug)]
pub struct Laid<A> {
    pub layout: Layout,
    pub cells: Box<[A]>,
}

impl<A> Laid<A> {
    /// The cell at place `k` of the buffer has the value `value(k)`.
    pub fn new(layout: Layout, value: impl FnMut(usize) -> A) -> Self {
        let cells = (0..layout.len).map(value).collect();
        Self { layout, cells }
    }

    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub fn ndim(&self) -> usize {
        self.layout.shape.len()
    }

    pub fn view(&self) -> ArrayViewD<'_, A> {
        let view = ArrayViewD::from_shape(self.layout.strided(), &self.cells[self.layout.lead..]);
        self.layout.turned(view.expect("a layout of the buffer"))
    }

    pub fn view_mut(&mut self) -> ArrayViewMutD<'_, A> {
        let view = ArrayViewMutD::from_shape(self.layout.strided(), &mut self.cells[self.layout.lead..]);
        self.layout.turned(view.expect("a layout of the buffer in which each element stands once"))
    }

    pub fn at(&self, index: &[usize]) -> &A {
        &self.cells[self.layout.place(index)]
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> impl Iterator<Item = &A> {
        self.layout.places().into_iter().map(|place| &self.cells[place])
    }

    /// Asserts that `after` is this array with its elements replaced by `expected`, and that nothing between them
    /// changed.
    pub fn assert_became<I>(&self, after: &Self, expected: I)
    where
        A: Clone + PartialEq + std::fmt::Debug,
        I: IntoIterator<Item = A>,
    {
        let mut cells = self.cells.clone();
        let mut expected = expected.into_iter();
        for place in self.layout.places() {
            cells[place] = expected.next().expect("a value for each element");
        }
        assert!(expected.next().is_none(), "an element for each value");
        assert_eq!(after.cells, cells, "in layout {:?}", self.layout);
    }
}

/// The row-major elements of an array of shape `to` that reads one of `source` at the places of the axes.
pub fn spread<A: Clone>(source: &[A], shape: &[usize], to: &[usize], places: &[usize]) -> Vec<A> {
    let read =
        |index: &Vec<usize>| source[element(&crate::model::read_at(index, shape, places), shape)].clone();
    indices(to).iter().map(read).collect()
}
