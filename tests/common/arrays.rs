//! Arrays of every layout, with known elements at each index.

use super::Case;
use super::model::{aligned_right, element, read_at, signed};
use ndarray::{
    ArrayBase, ArrayD, ArrayRef, ArrayViewD, Axis, Dimension, IxDyn, RawData, ShapeBuilder, Slice,
};
use proptest::prelude::*;

/// A step from one view to another.
#[derive(Clone, Debug)]
pub enum Op {
    /// Axis `i` of the result is axis `0[i]` of the source.
    Permute(Vec<usize>),
    Slice {
        axis: usize,
        start: usize,
        end: usize,
        step: usize,
    },
    Invert(usize),
}

impl Op {
    fn apply<S: RawData>(&self, mut view: ArrayBase<S, IxDyn>) -> ArrayBase<S, IxDyn> {
        match self {
            Op::Permute(axes) => return view.permuted_axes(axes.as_slice()),
            &Op::Slice { axis, start, end, step } => {
                view.slice_axis_inplace(Axis(axis), Slice::from(start..end).step_by(step.cast_signed()));
            }
            &Op::Invert(axis) => view.invert_axis(Axis(axis)),
        }
        view
    }

    fn shape(&self, shape: &[usize]) -> Vec<usize> {
        let mut shape = shape.to_vec();
        match self {
            Op::Permute(axes) => return axes.iter().map(|&axis| shape[axis]).collect(),
            &Op::Slice { axis, start, end, step } => shape[axis] = (end - start).div_ceil(step),
            Op::Invert(_) => {}
        }
        shape
    }

    /// The index into the source for an index into the result; `shape` is the source's.
    fn back(&self, shape: &[usize], index: &[usize]) -> Vec<usize> {
        let mut source = index.to_vec();
        match self {
            Op::Permute(axes) => axes.iter().zip(index).for_each(|(&axis, &k)| source[axis] = k),
            &Op::Slice { axis, start, step, .. } => source[axis] = start + step * index[axis],
            &Op::Invert(axis) => source[axis] = shape[axis] - 1 - index[axis],
        }
        source
    }
}

/// An owned array and the steps to a view of it. Element `i` of the array, in row-major order, is `start + i`.
#[derive(Clone, Debug)]
pub struct Layout {
    base: ArrayD<i64>,
    start: i64,
    /// The shape to which ndarray's own `broadcast` stretches the array before the steps.
    repeated: Vec<usize>,
    steps: Vec<Op>,
}

impl Layout {
    /// An array in C order, or in F order, and steps from it.
    pub fn new(shape: &[usize], f_order: bool, start: i64, steps: Vec<Op>) -> Self {
        let number = |index: IxDyn| {
            start + signed(element(index.as_array_view().to_slice().expect("in one piece"), shape))
        };
        let base = ArrayD::from_shape_fn(IxDyn(shape).set_f(f_order), number);
        Layout { base, start, repeated: shape.to_vec(), steps }
    }

    /// An array in C order of 0, 1, 2 and so on.
    pub fn counted(shape: &[usize]) -> Self {
        Self::new(shape, false, 0, vec![])
    }

    pub fn base(&self) -> &ArrayD<i64> {
        &self.base
    }

    pub fn view(&self) -> ArrayViewD<'_, i64> {
        self.view_of(&self.base)
    }

    /// The view of another array with the base array's shape, after the same steps.
    pub fn view_of<'a, A>(&self, base: &'a ArrayRef<A, IxDyn>) -> ArrayViewD<'a, A> {
        self.steps_from(
            base.broadcast(self.repeated.as_slice()).expect("a shape to which the base stretches"),
        )
    }

    /// An array after the steps. It already has the repeated shape.
    pub fn steps_from<S: RawData>(&self, base: ArrayBase<S, IxDyn>) -> ArrayBase<S, IxDyn> {
        assert_eq!(base.shape(), self.repeated);
        self.steps.iter().fold(base, |view, step| step.apply(view))
    }

    /// The distance in memory, in elements, from the base array's first element to the view's.
    pub fn offset<D: Dimension>(&self, view: &ArrayRef<i64, D>) -> i64 {
        let (from, to) = (self.base.as_ptr() as i64, view.as_ptr() as i64);
        (to - from) / signed(size_of::<i64>())
    }

    pub fn shape(&self) -> Vec<usize> {
        self.steps.iter().fold(self.repeated.clone(), |shape, step| step.shape(&shape))
    }

    /// The index in the base array of the view's element at `index`, without ndarray.
    pub fn place(&self, index: &[usize]) -> Vec<usize> {
        let mut shapes = vec![self.repeated.clone()];
        for step in &self.steps {
            shapes.push(step.shape(&shapes[shapes.len() - 1]));
        }
        let steps = self.steps.iter().zip(&shapes).rev();
        let index = steps.fold(index.to_vec(), |index, (step, shape)| step.back(shape, &index));
        let base = self.base.shape();
        read_at(&index, base, &aligned_right(base.len(), index.len()))
    }

    /// The view's element at `index`, without ndarray.
    pub fn element(&self, index: &[usize]) -> i64 {
        self.start + signed(element(&self.place(index), self.base.shape()))
    }
}

/// The operands of a NumPy case. If the case has shapes only, they are arrays that count from 0, 100 and so on.
pub fn operands_in(case: &Case) -> Vec<Layout> {
    if case.has("operands") {
        return case.cases("operands").iter().map(layout_in).collect();
    }
    let operand = |(k, shape): (usize, &Vec<usize>)| Layout::new(shape, false, 100 * signed(k), vec![]);
    case.rows("shapes").iter().enumerate().map(operand).collect()
}

/// The array that a NumPy case describes.
pub fn layout_in(case: &Case) -> Layout {
    let steps = case.cases("ops").into_iter().map(|op| match op.text("op") {
        "permute" => Op::Permute(op.shape("axes")),
        "invert" => Op::Invert(op.size("axis")),
        "slice" => Op::Slice {
            axis: op.size("axis"),
            start: op.size("start"),
            end: op.size("end"),
            step: op.size("step"),
        },
        op => panic!("unknown step {op}"),
    });
    let start = if case.has("start") { signed(case.size("start")) } else { 0 };
    let layout = Layout::new(&case.shape("base_shape"), case.text("order") == "F", start, steps.collect());
    if case.has("repeated") { Layout { repeated: case.shape("repeated"), ..layout } } else { layout }
}

/// The array of a PyTorch case: permuted to `memory_order`, made contiguous, and permuted back.
pub fn torch_array(case: &Case) -> Layout {
    let shape = case.shape("shape");
    if !case.has("memory_order") {
        return Layout::counted(&shape);
    }
    let order = case.shape("memory_order");
    let mut places = vec![0; order.len()];
    for (i, &axis) in order.iter().enumerate() {
        places[axis] = i;
    }
    let in_memory: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    Layout::new(&in_memory, false, 0, vec![Op::Permute(places)])
}

/// The layout of one axis: its rank in the permutation, whether it is reversed, whether it is repeated, and its start, step
/// and padding.
type AxisPlan = (u8, bool, bool, [usize; 3]);

/// A layout of shape `shape`: any combination of C or F order, a permutation, slices with steps, reversed
/// axes, and axes repeated with stride 0.
pub fn layout(shape: Vec<usize>) -> impl Strategy<Value = Layout> {
    layout_within(shape, 300, 0.15)
}

/// As `layout`, without repeated elements, so that it can be written to.
pub fn layout_to_write(shape: Vec<usize>) -> impl Strategy<Value = Layout> {
    layout_within(shape, 300, 0.0)
}

/// As `layout`. Axes are sliced while the base has fewer than `room` elements, and repeated with probability `repeated`.
pub fn layout_within(shape: Vec<usize>, room: usize, repeated: f64) -> impl Strategy<Value = Layout> {
    let pads = [0..3_usize, 1..4, 0..2];
    let axis = (any::<u8>(), prop::bool::weighted(0.5), prop::bool::weighted(repeated), pads);
    let plan = prop::collection::vec(axis, shape.len());
    let half = || any::<bool>();
    (plan, half(), half(), half(), half()).prop_map(move |(mut plan, f_order, sliced, reversed, permuted)| {
        for axis in &mut plan {
            axis.1 &= reversed;
        }
        planned(&shape, &plan, room, [f_order, sliced, permuted])
    })
}

fn planned(
    shape: &[usize],
    plan: &[AxisPlan],
    room: usize,
    [f_order, sliced, permuted]: [bool; 3],
) -> Layout {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if permuted {
        order.sort_by_key(|&axis| plan[axis].0);
    }
    // Axis `order[i]` of the result is axis `i` before the permutation.
    let (mut base, mut repeated, mut steps) = (vec![], vec![], vec![]);
    for (i, &axis) in order.iter().enumerate() {
        let (_, reversed, stretched, [start, step, pad]) = plan[axis];
        let size = shape[axis];
        let fits = base.iter().product::<usize>() < room;
        let (start, step, pad) = if sliced && fits { (start, step, pad) } else { (0, 1, 0) };
        let end = if size == 0 { start } else { start + (size - 1) * step + 1 };
        base.push(if stretched { 1 } else { end + pad });
        repeated.push(end + pad);
        steps.push(Op::Slice { axis: i, start, end, step });
        if reversed {
            steps.push(Op::Invert(i));
        }
    }
    let mut places = vec![0; order.len()];
    for (i, &axis) in order.iter().enumerate() {
        places[axis] = i;
    }
    steps.push(Op::Permute(places));
    Layout { repeated, ..Layout::new(&base, f_order, 0, steps) }
}

/// A shape of at most `max_axes` axes, with at most 600 elements.
pub fn shape(max_axes: usize) -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![2 => Just(0_usize), 12 => Just(1), 12 => Just(2), 8 => Just(3), 2 => Just(5)];
    let small = |shape: &Vec<usize>| shape.iter().product::<usize>() <= 600;
    prop::collection::vec(size, 0..=max_axes).prop_filter("too many elements", small)
}

/// A shape that stretches to `target`: leading axes are dropped, and some of the others are 1. With `clash`,
/// one of its sizes is replaced and may not fit.
pub fn operand_of(target: Vec<usize>, clash: bool) -> impl Strategy<Value = Vec<usize>> {
    let ndim = target.len();
    let ones = prop::collection::vec(prop::bool::weighted(0.35), ndim);
    (0..=ndim, prop::bool::weighted(0.6), ones, 0..ndim.max(1), 0..4_usize).prop_map(
        move |(from, all, ones, at, size)| {
            let from = if all { 0 } else { from };
            let mut shape: Vec<usize> =
                (from..ndim).map(|axis| if ones[axis] { 1 } else { target[axis] }).collect();
            if clash && at < shape.len() {
                shape[at] = size;
            }
            shape
        },
    )
}

/// Several operands, each in its own layout, with a joint shape of at most `max_axes` axes. In half of the
/// cases, their shapes may clash.
pub fn family(
    max_axes: usize,
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Layout>> {
    let count = count.into();
    (shape(max_axes), any::<bool>()).prop_flat_map(move |(joint, clash)| {
        let operand = operand_of(joint, clash).prop_flat_map(layout);
        prop::collection::vec(operand, count.clone())
    })
}

/// A target of 0 to 7 axes, some of them -1, and an array that may stretch to it. In half of the cases,
/// one thing may be wrong: a size of either, a -1 on a new axis, or too few axes.
pub fn array_and_target() -> impl Strategy<Value = (Layout, Vec<i64>)> {
    let wrong = prop_oneof![4 => Just(0), 1 => Just(1), 1 => Just(2), 1 => Just(3), 1 => Just(4)];
    (shape(7), wrong).prop_flat_map(|(target, wrong)| {
        let ndim = target.len();
        let array = operand_of(target.clone(), wrong == 1).prop_flat_map(layout);
        let kept = prop::collection::vec(prop::bool::weighted(0.3), ndim);
        (array, kept, 0..ndim.max(1), -3..5_i64).prop_map(move |(array, kept, at, odd)| {
            let new = ndim - array.shape().len();
            let keep = |axis: usize| kept[axis] && (axis >= new || wrong == 2);
            let size = |axis: usize| signed(target[axis]);
            let mut target: Vec<i64> =
                (0..ndim).map(|axis| if keep(axis) { -1 } else { size(axis) }).collect();
            match wrong {
                3 if at < ndim => target[at] = odd,
                4 => target.truncate(ndim.saturating_sub(new + 1)),
                _ => {}
            }
            (array, target)
        })
    })
}

/// Runs `$body` with `$name`, a view with a fixed number of axes, 0 to 6, made from a view of dynamic rank.
#[macro_export]
macro_rules! view_of_rank {
    ($view:expr, $name:ident => $body:expr) => {{
        macro_rules! fixed {
            ($Ix:ident) => {{
                let $name = $view.into_dimensionality::<ndarray::$Ix>().expect("the matched number of axes");
                $body
            }};
        }
        match $view.ndim() {
            0 => fixed!(Ix0),
            1 => fixed!(Ix1),
            2 => fixed!(Ix2),
            3 => fixed!(Ix3),
            4 => fixed!(Ix4),
            5 => fixed!(Ix5),
            6 => fixed!(Ix6),
            ndim => panic!("{ndim} axes are not a fixed number"),
        }
    }};
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Without gaps, the last axis innermost.
    C,
    /// Without gaps, the first axis innermost.
    F,
    /// Without gaps, the first axis innermost and the others in C order.
    Turned,
    /// Gaps after every turn of the last axis.
    Rows,
    /// Gaps after every turn of the last axis, and the first axis backwards.
    Gap,
    /// Every second element of the last axis.
    Second,
    /// Every third of each axis, all backwards.
    ThirdReversed,
    /// The last axis backwards alone.
    Reversed,
    /// The first axis repeated.
    Repeated,
}

impl Lie {
    /// The shape of the array of which a view of this shape is made.
    pub fn base(self, shape: &[usize]) -> Vec<usize> {
        let mut base = shape.to_vec();
        let last = shape.len() - 1;
        match self {
            Lie::C | Lie::Reversed => {}
            Lie::F => base.reverse(),
            Lie::Turned => base.rotate_left(1),
            Lie::Rows | Lie::Gap => base[last] += 1,
            Lie::Second => base[last] *= 2,
            Lie::ThirdReversed => base.iter_mut().for_each(|size| *size *= 3),
            Lie::Repeated => base[0] = 1,
        }
        base
    }

    /// The part of a base that has this layout.
    fn part<S: RawData>(self, mut base: ArrayBase<S, IxDyn>) -> ArrayBase<S, IxDyn> {
        let last = base.ndim() - 1;
        match self {
            Lie::C | Lie::Repeated => {}
            Lie::F => return base.reversed_axes(),
            Lie::Turned => {
                let turned: Vec<_> = (0..=last).map(|axis| (axis + last) % (last + 1)).collect();
                return base.permuted_axes(turned);
            }
            Lie::Rows => base.slice_axis_inplace(Axis(last), Slice::from(1..)),
            Lie::Gap => {
                base.slice_axis_inplace(Axis(last), Slice::from(..-1));
                base.invert_axis(Axis(0));
            }
            Lie::Second => base.slice_axis_inplace(Axis(last), Slice::from(..).step_by(2)),
            Lie::ThirdReversed => {
                (0..=last).for_each(|axis| base.slice_axis_inplace(Axis(axis), Slice::from(..).step_by(-3)));
            }
            Lie::Reversed => base.invert_axis(Axis(last)),
        }
        base
    }

    /// A view of this shape, of an array of the [`base`](Self::base) shape.
    pub fn view<'a, A>(self, base: &'a ArrayD<A>, shape: &[usize]) -> ArrayViewD<'a, A> {
        let view = match self {
            Lie::Repeated => base.broadcast(shape).expect("a first axis of size 1"),
            _ => self.part(base.view()),
        };
        assert_eq!(view.shape(), shape);
        view
    }

    /// An array of this shape that lies in this way but is not repeated. `of(i)` is the element at place `i` in memory, from
    /// 1 on.
    pub fn array<A>(self, shape: &[usize], of: impl Fn(usize) -> A) -> ArrayD<A> {
        assert_ne!(self, Lie::Repeated, "an array of its own");
        let mut i = 0;
        let base = ArrayD::from_shape_simple_fn(self.base(shape), || {
            i += 1;
            of(i)
        });
        self.part(base)
    }
}
