//! Every operation on a thread with little stack: the crate promises that 64 KiB suffice, on optimised code.
//!
//! A call that needs more ends the whole test program; the message has the name of the thread, which is that of the call.
#![allow(clippy::many_single_char_names, reason = "a to f are operands")]
#![allow(clippy::float_cmp, reason = "zero is exact")]
#![allow(clippy::result_large_err, reason = "an array that is given back")]

use crate::hooked::{Hooked, plain, with_hook};
use common::forms::{Call, Element, base_operations, forms};
use ndarray::{Array1, Array2, ArrayD, Axis, Ix1, Ix2, IxDyn, LinalgScalar, Slice};
use ndarray_broadcast::partial::{Names, PartialShape, Plan, ShapeOp, decide, infer_shapes};
use ndarray_broadcast::{
    broadcast_apply, broadcast_arrays, broadcast_map, broadcast_shapes, explain, fused, prelude::*,
};
use num_traits::{FromPrimitive, One, Zero};
use std::fmt::Debug;
use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};
use std::thread;

/// The stack of a thread. Code that is not optimised has frames several times as large, because no variables share a place.
const STACK: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// Runs a call on a small thread.
fn small<R>(name: &str, call: impl FnOnce() -> R + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name.into()).stack_size(STACK);
        let run = || drop(black_box(call()));
        thread.spawn_scoped(scope, run).expect("a thread").join().expect("no panic");
    });
}

/// An element that is copied in one piece, and that no loop adds in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Wide([f64; 4]);

macro_rules! by_parts {
    ($($Op:ident $op:ident)*) => {$(
        impl $Op for Wide {
            type Output = Self;

            fn $op(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i].$op(other.0[i])))
            }
        }
    )*};
}
by_parts!(Add add Sub sub Mul mul Div div);

impl Zero for Wide {
    fn zero() -> Self {
        Self([0.0; 4])
    }

    fn is_zero(&self) -> bool {
        self.0 == [0.0; 4]
    }
}

impl One for Wide {
    fn one() -> Self {
        Self([1.0; 4])
    }
}

impl FromPrimitive for Wide {
    fn from_i64(n: i64) -> Option<Self> {
        f64::from_i64(n).map(|n| Self([n; 4]))
    }

    fn from_u64(n: u64) -> Option<Self> {
        f64::from_u64(n).map(|n| Self([n; 4]))
    }

    fn from_f64(n: f64) -> Option<Self> {
        Some(Self([n; 4]))
    }
}

impl Element for Wide {
    fn times(&self, other: &Self) -> Self {
        *self * *other
    }

    fn join(self, other: Self) -> Self {
        self + other
    }
}

trait Number: Element + LinalgScalar + Debug {}

impl<A: Element + LinalgScalar + Debug> Number for A {}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Contiguous,
    Transposed,
    /// In another order of axes, and with gaps along the first and the last one.
    Gaps,
}

/// The sizes of `ndim` axes, of about `len` elements; axes that are left have size 1, some between the others.
fn shape(ndim: usize, len: usize) -> Vec<usize> {
    let (mut sizes, mut left) = (vec![], len);
    for axis in 0..ndim {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let even = (left as f64).powf(1.0 / (ndim - axis) as f64).round() as usize;
        let size = if even > 1 || axis % 2 == 1 { even.max(2).min(left) } else { 1 };
        left /= size;
        sizes.push(size);
    }
    sizes
}

fn laid_out<A: Number>(shape: &[usize], layout: Layout) -> ArrayD<A> {
    let one = |size: usize| ArrayD::from_elem(IxDyn(&[size]), A::one());
    if shape.is_empty() {
        return one(1).remove_axis(Axis(0));
    }
    match layout {
        Layout::Contiguous => ArrayD::from_elem(IxDyn(shape), A::one()),
        Layout::Transposed => {
            let turned: Vec<usize> = shape.iter().rev().copied().collect();
            ArrayD::from_elem(IxDyn(&turned), A::one()).reversed_axes()
        }
        Layout::Gaps => {
            let ndim = shape.len();
            // even axes, then odd ones
            let order: Vec<usize> = (0..ndim).step_by(2).chain((1..ndim).step_by(2)).collect();
            let mut stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
            stored[0] *= 2;
            if ndim > 1 {
                stored[ndim - 1] *= 2;
            }
            let mut array = ArrayD::from_elem(IxDyn(&stored), A::one());
            array.slice_axis_inplace(Axis(0), Slice::new(0, None, 2));
            if ndim > 1 {
                array.slice_axis_inplace(Axis(ndim - 1), Slice::new(0, None, -2));
            }
            let mut places = vec![0; ndim];
            for (place, &axis) in order.iter().enumerate() {
                places[axis] = place;
            }
            array.permuted_axes(places)
        }
    }
}

/// An array, and what goes with it.
struct Case<A> {
    x: ArrayD<A>,
    /// The axes that are reduced, and the others.
    axes: [Vec<usize>; 2],
    /// Size 1 along the axes.
    kept: ArrayD<A>,
    /// The last axes.
    row: ArrayD<A>,
    /// All axes, in another layout.
    other: ArrayD<A>,
}

impl<A: Number> Case<A> {
    fn new(sizes: &[usize], is_reduced: impl Fn(&usize) -> bool, layout: Layout) -> Self {
        let axes: (Vec<usize>, Vec<usize>) = (0..sizes.len()).partition(is_reduced);
        let kept: Vec<usize> = sizes
            .iter()
            .enumerate()
            .map(|(axis, &size)| if axes.0.contains(&axis) { 1 } else { size })
            .collect();
        let other = if layout == Layout::Transposed { Layout::Contiguous } else { Layout::Transposed };
        Self {
            x: laid_out(sizes, layout),
            axes: axes.into(),
            kept: laid_out(&kept, layout),
            row: laid_out(&sizes[sizes.len() / 2..], layout),
            other: laid_out(sizes, other),
        }
    }

    /// The table of forms, with the operands' bases where they have at least two axes.
    fn forms(&self) {
        let Self { x, axes: [axes, others], other, .. } = self;
        let mut last = other.view();
        (0..x.ndim() - 1).for_each(|axis| last.slice_axis_inplace(Axis(axis), (..1).into()));
        for y in [last, other.view()] {
            let call = Call::new(x.view(), y, axes, others);
            let of_bases = if x.ndim() < 2 { vec![] } else { base_operations() };
            for form in forms().into_iter().chain(of_bases) {
                let sizes = form.out_shape(&call).unwrap_or_default();
                // all pairs of many elements
                if sizes.iter().product::<usize>() > 1 << 22 {
                    continue;
                }
                let mut out = ArrayD::ones(sizes);
                small(&form.to_string(), || form.run(&call, &mut out.view_mut()).expect("a result"));
            }
        }
    }

    fn maps(&self) {
        let Self { x, kept, row, other, .. } = self;
        small("map of 1", || broadcast_map(x, |&a| a + a));
        small("map of 2", || broadcast_map((x, row), |&a, &b| a + b));
        small("map of 3", || broadcast_map((x, row, kept), |&a, &b, &c| a + b + c));
        small("map of 4", || broadcast_map((other, row, kept, x), |&a, &b, &c, &d| a + b + c + d));
        small("map of 5", || broadcast_map((x, row, kept, other, x), |&a, &b, &c, &d, &e| a + b + c + d + e));
        small("map of 6", || {
            broadcast_map((row, x, kept, other, x, row), |&a, &b, &c, &d, &e, &f| a + b + c + d + e + f)
        });
        small("fused of 6", || {
            fused((row, x, kept, other, x, row), |&a, &b, &c, &d, &e, &f| a + b + c + d + e + f)
                .sum_to(kept.shape())
        });
        let mut out = x.clone();
        small("apply of 1", || broadcast_apply(&mut out, (row,), |out, &a| *out = a));
        small("apply of 2", || broadcast_apply(&mut out, (row, other), |out, &a, &b| *out = a + b));
        small("apply of 5", || {
            broadcast_apply(&mut out, (kept, row, other, x, row), |out, &a, &b, &c, &d, &e| {
                *out = a + b + c + d + e;
            })
        });
        small("into_broadcast_map", || out.into_broadcast_map((other, row), |&a, &b, &c| a + b + c));
        small("into_broadcast_map to a new array", || kept.clone().into_broadcast_map(x, |&a, &b| a + b));
        small("into_broadcast_map of shared arrays", || {
            kept.to_shared().into_broadcast_map(other.to_shared(), |&a, &b| a + b)
        });
    }

    fn views(&self) {
        let Self { x, kept, row, .. } = self;
        let mut longer = vec![1; x.ndim() + 1];
        longer[1..].copy_from_slice(x.shape());
        small("broadcast_to", || kept.broadcast_to(x.shape()).map(|view| view.len()));
        small("broadcast_to_match", || kept.broadcast_to_match(row).map(|(x, _)| x.len()));
        small("broadcast_arrays", || broadcast_arrays((x, kept, row)).map(|(x, _, _)| x.len()));
        small("broadcast_axes", || x.broadcast_axes(&longer[..], 0).map(|view| view.len()));
        small("broadcast_like", || row.broadcast_like(x, &(0..x.ndim() / 2).collect::<Vec<_>>()[..]).is_ok());
        let places: Vec<usize> = (0..x.ndim()).rev().collect();
        let turned: Vec<usize> = x.shape().iter().rev().copied().collect();
        small("broadcast_in_dim", || x.broadcast_in_dim(&turned[..], &places[..]).map(|view| view.len()));
        small("broadcast_shapes", || broadcast_shapes(&[x.shape(), row.shape()]));
        small("explain", || explain(&[x.shape(), row.shape()]).to_string());
        small("an error", || {
            let odd: Vec<usize> = x.shape().iter().map(|size| size + 1).collect();
            let error = x.broadcast_to(&odd[..]).expect_err("other sizes");
            (format!("{error}"), format!("{error:#}"), format!("{error:?}"))
        });
    }
}

const LAYOUTS: [Layout; 3] = [Layout::Contiguous, Layout::Transposed, Layout::Gaps];

/// Every form on arrays of up to 20 axes, and operations that are not in the table: for each number of axes in one layout and along
/// one set of axes, which nine numbers that follow each other go through.
fn cases<A: Number>(ndims: impl IntoIterator<Item = usize>, len: usize) {
    let every = if common::is_thorough() { 1 } else { 2 };
    for ndim in ndims.into_iter().step_by(every) {
        let (layout, set) = (LAYOUTS[ndim / 3 % 3], ndim % 3);
        let is_reduced = |&axis: &usize| if set < 2 { axis % 2 == set } else { axis >= ndim / 2 };
        let case = Case::<A>::new(&shape(ndim, len), is_reduced, layout);
        case.forms();
        if set == 0 {
            case.maps();
            case.views();
        }
    }
}

#[test]
fn few_elements() {
    for len in [60, 3000] {
        cases::<f32>(1..=20, len);
        #[cfg(feature = "rayon")]
        cases::<f64>([1, 3, 9, 20], len);
        cases::<Wide>([1, 3, 9, 20], len);
    }
    with_hook(plain, || cases::<Hooked>(1..=20, 600));
}

/// Reductions that are halved.
#[test]
fn many_elements() {
    let len = 600_000;
    if cfg!(debug_assertions) {
        return;
    }
    cases::<f32>([1, 2, 3, 9, 20], len);
    #[cfg(feature = "rayon")]
    cases::<f64>([3, 20], len);
    cases::<Wide>([3, 20], len);
}

#[test]
fn products() {
    fn of<A: Number>(sides: &[usize]) {
        for (layout, &side) in LAYOUTS.iter().flat_map(|layout| sides.iter().map(move |side| (layout, side)))
        {
            let [a, b] = [[2, side, side], [2, side, side + 1]].map(|shape| laid_out::<A>(&shape, *layout));
            let v = laid_out::<A>(&[side], *layout);
            let [a, b] = [&a, &b].map(|x| x.batch::<Ix2>().expect("a base"));
            let v = v.batch::<Ix1>().expect("a base");
            small("matmul", || a.matmul(&b));
            small("matvec", || a.matvec(&v));
            small("outer", || v.outer(&v));
        }
    }
    of::<f32>(&[2, 8, 33, 200]);
    of::<f64>(&[2, 8, 33, 200]);
    of::<Wide>(&[2, 8, 33]);
}

#[test]
fn fixed_numbers_of_axes() {
    let (x, row) = (Array2::<f32>::ones((300, 40)), Array1::<f32>::ones(40));
    small("fixed sum_axes", || x.sum_axes(0));
    small("fixed mean_axes", || x.mean_axes(1));
    small("fixed sum_to", || fused((&x, &row), |x, row| x * row).sum_to(&row));
    small("fixed map", || broadcast_map((&x, &row), |x, row| x * row));
    small("fixed views", || x.broadcast_to_match(&row).map(|(x, row)| (x.len(), row.len())));
}

/// Sums of views that repeat elements are halved more often than memory would allow.
#[test]
fn repeated_elements() {
    let one = ArrayD::<f32>::ones(IxDyn(&[1]));
    let sizes = [2; if cfg!(debug_assertions) { 20 } else { 26 }];
    let view = one.broadcast_to(&sizes[..]).expect("repeated elements");
    small("sum of a view", || view.sum_axes(..));
    small("mean of a view", || view.mean_axes(..));
    let axes: Vec<usize> = (0..sizes.len()).step_by(2).collect();
    small("sums of a view", || view.sum_axes(&axes[..]));
    small("product of a view", || view.reduce_axes(&axes[..], 1.0, |a, b| a * b));
}

#[test]
fn partial_shapes() {
    let dims = |offset: usize| -> PartialShape {
        let text: Vec<String> = (0..20)
            .map(|axis| match (axis + offset) % 5 {
                0 => "?".into(),
                1 => format!("n{axis}"),
                2 => "1".into(),
                3 => format!("m{axis}:2..9"),
                _ => "4..".into(),
            })
            .collect();
        text.join("x").parse().expect("a partial shape")
    };
    let shapes = [dims(0), dims(1), dims(2)];
    small("infer_shapes", || infer_shapes(&shapes));
    small("decide", || decide(&shapes));
    small("Plan::new", || Plan::new(shapes.clone()).map(|plan| plan.checks().len()));
    small("a graph", || {
        let mut names = Names::new();
        let together = names.infer("sum", &ShapeOp::Together, &shapes)?.results;
        let sum = ShapeOp::Sum { axes: vec![0, -1], keepdims: true };
        let summed = names.infer("mean", &sum, &together)?.results;
        let all = names.infer("out", &ShapeOp::Together, [&summed[0], &shapes[1]])?.results;
        names.infer("gradient", &ShapeOp::SumTo, [&all[0], &summed[0]]).map(|found| found.results)
    });
}
