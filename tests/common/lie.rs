//! The ways in which an array of some shape lies in memory.

use ndarray::{ArrayBase, ArrayD, ArrayViewD, Axis, IxDyn, RawData, Slice};

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
