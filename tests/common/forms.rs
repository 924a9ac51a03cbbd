//! One table of the operations on elements, each with how to call it and what the naive model says. Tests that hold for any
//! operation run it: random cases, panics at every point, threads, stacks, strides, bits, allocations, and hostile shapes.

use crate::model::{extreme_at, lanes, without_axes};
use ndarray::{
    Array, Array0, ArrayD, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, LinalgScalar, Slice, arr0,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    BroadcastError, base_op, broadcast_apply, broadcast_apply2, broadcast_apply3, broadcast_map,
    broadcast_map2, broadcast_map3, fused, keepdims,
};
use num_traits::{Float, FromPrimitive, Zero};
use std::fmt;
use std::ops::{Add, Div, Mul, Sub};

/// Elements of every form but the operations of [`base_op`].
pub trait Element:
    Clone
    + Default
    + Zero
    + Mul<Output = Self>
    + Div<Output = Self>
    + Sub<Output = Self>
    + PartialOrd
    + FromPrimitive
    + Send
    + Sync
    + 'static
{
    /// What closures over two operands compute.
    #[must_use]
    fn times(&self, other: &Self) -> Self;

    /// What a reduction by a closure joins elements with.
    #[must_use]
    fn join(self, other: Self) -> Self;
}

macro_rules! floats {
    ($($T:ty)*) => {$(
        impl Element for $T {
            fn times(&self, other: &Self) -> Self {
                self * other
            }

            /// It rounds at each step, in the same way everywhere: `hypot` does not.
            fn join(self, other: Self) -> Self {
                (self * self + other * other).sqrt()
            }
        }
    )*};
}
floats!(f32 f64);

/// What a form is called with.
#[derive(Clone, Debug)]
pub struct Call<'a, A> {
    pub x: ArrayViewD<'a, A>,
    /// Stretches to the shape of `x`, and has as many axes.
    pub y: ArrayViewD<'a, A>,
    /// The axes that are reduced.
    pub axes: Vec<usize>,
    /// The shape of `x` with size 1 at these axes.
    pub kept: Vec<usize>,
    /// The other axes in the order in which they are placed, and their sizes.
    pub others: Vec<usize>,
    pub sizes: Vec<usize>,
}

impl<'a, A> Call<'a, A> {
    /// `others` are the axes that are not in `axes`, in any order.
    pub fn new(x: ArrayViewD<'a, A>, y: ArrayViewD<'a, A>, axes: &[usize], others: &[usize]) -> Self {
        assert!(x.ndim() == y.ndim() && axes.len() + others.len() == x.ndim());
        let mut kept = x.shape().to_vec();
        for &axis in axes {
            kept[axis] = 1;
        }
        let sizes = others.iter().map(|&axis| kept[axis]).collect();
        Self { x, y, axes: axes.to_vec(), kept, others: others.to_vec(), sizes }
    }

    /// The last axis.
    fn base(&self) -> IxDyn {
        IxDyn(&self.x.shape()[self.x.ndim() - 1..])
    }

    /// The first index of an axis, counted from the end: vectors of matrices.
    fn without(&self, from_end: usize) -> ArrayViewD<'a, A> {
        let axis = Axis(self.x.ndim() - from_end);
        self.x.clone().index_axis_move(axis, 0)
    }

    /// The matrices of the last two axes, transposed.
    fn transposed(&self) -> ArrayViewD<'a, A> {
        let mut transposed = self.x.clone();
        let ndim = transposed.ndim();
        transposed.swap_axes(ndim - 2, ndim - 1);
        transposed
    }
}

/// Where the result of a form goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A new array, once its elements are all there.
    New,
    /// A new array, element by element: a panic leaves those that are there.
    Filled,
    /// An array with the shape of `kept`.
    Kept,
    /// An array with the shape of `sizes`.
    Placed,
    /// An array with the shape of `x`.
    Whole,
    /// An array with the batch axes of `kept`, and the last axis of `x`.
    Batch,
    /// An array of square matrices, of as many rows as those of `x`.
    Squares,
    /// An array with the shape of `x` without its last axis.
    Rows,
    /// An array with the shape of `x` without the axis before its last.
    Columns,
}

/// An operation, and how it is called.
pub struct Form<A> {
    /// As `tests/hostile/public.txt` has it.
    pub name: &'static str,
    /// The source or the executor, and the arguments.
    pub call: (&'static str, &'static str),
    /// Whether it may run on several threads. The other form with these arguments runs on one.
    pub is_par: bool,
    pub into: Destination,
    model: Model,
    run: Run<A>,
}

/// The result for whole numbers, if there is one: from the operands, and from what each element of the output was before.
type Model = fn(&Operands<'_>, f64) -> Option<ArrayD<f64>>;

/// The operands of the model in standard layout, and the call that they are from.
struct Operands<'a> {
    x: ArrayD<f64>,
    y: ArrayD<f64>,
    call: &'a Call<'a, f64>,
}

type Run<A> = fn(&Call<'_, A>, &mut ArrayViewMutD<'_, A>) -> Outcome<A>;
type Outcome<A> = Result<Option<ArrayD<A>>, BroadcastError>;

impl<A> fmt::Display for Form<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((source, arguments), par) = (self.call, if self.is_par { ".par()" } else { "" });
        write!(f, "{} of {source}{par}, {arguments}", self.name)
    }
}

impl Form<f64> {
    /// The result for whole numbers by the naive model, or nothing where there is none.
    pub fn expected<'a>(&self, call: &'a Call<'a, f64>, start: f64) -> Option<ArrayD<f64>> {
        (self.model)(&Operands { x: owned(&call.x), y: owned(&call.y), call }, start)
    }
}

impl<A: Element> Form<A> {
    /// Whether it is this method, or the operation of [`base_op`] that the method is.
    pub fn is(&self, method: &str) -> bool {
        [self.name, self.call.1].iter().any(|name| name.ends_with(method))
    }

    /// The shape of the array that it writes to.
    pub fn out_shape(&self, call: &Call<'_, A>) -> Option<Vec<usize>> {
        let shape = call.x.shape();
        let last = shape.len().saturating_sub(1);
        match self.into {
            Destination::New | Destination::Filled => None,
            Destination::Kept => Some(call.kept.clone()),
            Destination::Placed => Some(call.sizes.clone()),
            Destination::Whole => Some(shape.to_vec()),
            Destination::Batch => Some([&call.kept[..last], &shape[last..]].concat()),
            Destination::Squares => Some([&shape[..last], &shape[last - 1..last]].concat()),
            Destination::Rows => Some(shape[..last].to_vec()),
            Destination::Columns => Some([&shape[..last - 1], &shape[last..]].concat()),
        }
    }

    /// Calls it. It writes to `out`, or returns a new array.
    pub fn run(&self, call: &Call<'_, A>, out: &mut ArrayViewMutD<'_, A>) -> Outcome<A> {
        (self.run)(call, out)
    }

    /// The result, where the array that it writes to has the element `start` everywhere.
    pub fn result(&self, call: &Call<'_, A>, start: &A) -> Result<ArrayD<A>, BroadcastError> {
        let shape = self.out_shape(call).unwrap_or_default();
        let mut out = ArrayD::from_elem(IxDyn(&shape), start.clone());
        let new = self.run(call, &mut out.view_mut())?;
        Ok(new.unwrap_or(out))
    }
}

/// A new array, or nothing where the result was written.
trait Done<A> {
    fn done(self) -> Option<ArrayD<A>>;
}

impl<A, D: Dimension> Done<A> for Array<A, D> {
    fn done(self) -> Option<ArrayD<A>> {
        Some(self.into_dyn())
    }
}

impl<A> Done<A> for () {
    fn done(self) -> Option<ArrayD<A>> {
        None
    }
}

/// Adds forms: the name, whether it is parallel, where its result goes, the call, and the model.
macro_rules! forms {
    ($all:ident, |$call:ident, $out:ident|
        $($name:literal $is_par:literal $into:ident $text:literal: $result:expr => $model:expr;)*) => {$(
        $all.push(Form {
            name: $name,
            call: ("", $text),
            is_par: $is_par,
            into: Destination::$into,
            model: |of, start| {
                let model: fn(&Operands<'_>, f64) -> ArrayD<f64> = $model;
                Some(model(of, start))
            },
            run: |$call, $out| {
                let _ = &$out;
                Ok($result?.done())
            },
        });
    )*};
}

/// Adds every method of [`Reduce`] for a source whose elements are `$of`: where the result goes, the call, how it combines elements,
/// and which axes the result has.
macro_rules! reductions {
    ($all:ident, $source_name:literal $is_par:literal $of:ident |$c:ident, $out:ident| $source:expr) => {
        reductions! { @forms $all, "Reduce::" $source_name $is_par $of, ($c, $out) $source;
            New sum_axes(&$c.axes) = Sum Left;
            New sum_axes(keepdims(&$c.axes)) = Sum Kept;
            New sum_axes(..) = Sum None;
            New sum_to(&$c.kept) = Sum Kept;
            New sum_to(&ArrayD::from_elem(&$c.kept[..], ())) = Sum Kept;
            New into_sum_to(&$c.kept) = Sum Kept;
            New sum_in_dim(&$c.sizes, &$c.others) = Sum Placed;
            New mean_axes(&$c.axes) = Mean Left;
            New mean_axes(keepdims(..)) = Mean Ones;
            New mean_to(&$c.kept) = Mean Kept;
            New max_axes(&$c.axes) = Max Left;
            New max_axes(keepdims(..)) = Max Ones;
            New max_to(&$c.kept) = Max Kept;
            New min_axes(keepdims(&$c.axes)) = Min Kept;
            New min_to(&ArrayD::from_elem(&$c.kept[..], ())) = Min Kept;
            New reduce_axes(&$c.axes, A::default(), A::join) = Join Left;
            New reduce_to(&$c.kept, A::default(), A::join) = Join Kept;
            Kept assign_sum_to($out) = Sum Kept;
            Kept add_sum_to($out) = Add Kept;
            Kept scaled_add_sum_to(third(), $out) = AddThird Kept;
            Placed add_sum_in_dim_to($out, &$c.others) = Add Placed;
            New argmax_axes(&$c.axes).map(numbers) = ArgMax Left;
            New argmin_axes(keepdims(&$c.axes)).map(numbers) = ArgMin Kept;
            New var_axes(&$c.axes, A::default()) = Var Left;
            New var_axes(keepdims(..), third()) = VarThird Ones;
            New mean_var_axes(&$c.axes, A::default()).map(of_second) = Var Left;
            New mean_var_axes(keepdims(&$c.axes), A::default()).map(of_first) = Mean Kept;
        }
    };
    (@totals $all:ident, $source_name:literal $is_par:literal $of:ident |$c:ident, $out:ident| $source:expr) => {
        reductions! { @forms $all, "Totals::" $source_name $is_par $of, ($c, $out) $source;
            New sum().map(arr0) = Sum None;
            New mean().map(arr0) = Mean None;
            New var(third()).map(arr0) = VarThird None;
            New max().map(arr0) = Max None;
            New min().map(arr0) = Min None;
            New reduce(A::default(), A::join).map(arr0) = Join None;
        }
    };
    (@roots $all:ident, $source_name:literal $is_par:literal $of:ident |$c:ident, $out:ident| $source:expr) => {
        reductions! { @forms $all, "Reduce::" $source_name $is_par $of, ($c, $out) $source;
            New std_axes(&$c.axes, A::default()) = Std Left;
            New std_axes(keepdims(..), A::default()) = Std Ones;
        }
    };
    (@root $all:ident, $source_name:literal $is_par:literal $of:ident |$c:ident, $out:ident| $source:expr) => {
        reductions! { @forms $all, "Totals::" $source_name $is_par $of, ($c, $out) $source;
            New std(A::default()).map(arr0) = Std None;
        }
    };
    // of elements that are small or not: ones, which many tests have, decide nothing
    (@truths $all:ident, $source_name:literal $is_par:literal $of:ident |$c:ident, $out:ident| $small:expr, $large:expr) => {
        reductions! { @forms $all, "Reduce::" $source_name $is_par $of, ($c, $out) $large;
            New any_axes(&$c.axes).map(as_elements) = AnyLarge Left;
            New any_axes(keepdims(&$c.axes)).map(as_elements) = AnyLarge Kept;
            New count_axes(&$c.axes).map(numbers) = CountLarge Left;
            New count_axes(keepdims(..)).map(numbers) = CountLarge Ones;
        }
        reductions! { @forms $all, "Reduce::" $source_name $is_par $of, ($c, $out) $small;
            New all_axes(keepdims(..)).map(as_elements) = AllSmall Ones;
            New all_axes(&$c.axes).map(as_elements) = AllSmall Left;
        }
        reductions! { @forms $all, "Totals::" $source_name $is_par $of, ($c, $out) $large;
            New any().map(as_element) = AnyLarge None;
            New count().map(arr0).map(numbers) = CountLarge None;
        }
        reductions! { @forms $all, "Totals::" $source_name $is_par $of, ($c, $out) $small;
            New all().map(as_element) = AllSmall None;
        }
    };
    (@forms $all:ident, $family:literal $source_name:literal $is_par:literal $of:ident, ($c:ident, $out:ident) $source:expr;
        $($into:ident $method:ident ($($argument:tt)*) $(.map($numbers:ident))* = $how:ident $axes:ident;)*) => {$(
        $all.push(Form {
            name: concat!($family, stringify!($method)),
            call: ($source_name, stringify!($method($($argument)*))),
            is_par: $is_par,
            into: Destination::$into,
            model: |of, start| reduced(&$of(of, start), How::$how, Axes::$axes.of(of.call), start),
            run: |$c, $out| {
                let _ = &$out;
                Ok($source.$method($($argument)*)$(.map($numbers))*?.done())
            },
        });
    )*};
}

/// Positions as elements.
#[allow(clippy::needless_pass_by_value, reason = "a function for `map`")]
fn numbers<A: Element, D: Dimension>(positions: Array<usize, D>) -> Array<A, D> {
    positions.mapv(|position| A::from_usize(position).expect("a small number"))
}

fn of_first<A>((first, _): (A, A)) -> A {
    first
}

fn of_second<A>((_, second): (A, A)) -> A {
    second
}

/// Truth values as elements.
fn as_element<A: Element>(holds: bool) -> Array0<A> {
    arr0(A::from_u8(u8::from(holds)).expect("0 or 1"))
}

#[allow(clippy::needless_pass_by_value, reason = "a function for `map`")]
fn as_elements<A: Element, D: Dimension>(hold: Array<bool, D>) -> Array<A, D> {
    hold.mapv(|holds| as_element::<A>(holds).into_scalar())
}

fn is_large<A: Element>(x: &A) -> bool {
    *x > A::from_u8(5).expect("a small number")
}

fn is_small<A: Element>(x: &A) -> bool {
    !is_large(x)
}

fn three<A: Element>(a: &A, b: &A, c: &A) -> A {
    a.times(b) + c.clone()
}

/// How a reduction combines elements. `AddThird` adds a third of the sum, and a third is the `ddof` of `VarThird`.
#[derive(Clone, Copy)]
enum How {
    Sum,
    Add,
    AddThird,
    Mean,
    Max,
    Min,
    Join,
    ArgMax,
    ArgMin,
    Var,
    VarThird,
    Std,
    AnyLarge,
    AllSmall,
    CountLarge,
}

/// The axes of a result: those that are not reduced, all with size 1 where they are reduced, none, all with size 1, or placed ones.
enum Axes {
    Left,
    Kept,
    None,
    Ones,
    Placed,
}

impl Axes {
    /// The sizes of the result, and the axis of the operand for each.
    fn of(self, call: &Call<'_, f64>) -> (Vec<usize>, Vec<usize>) {
        let all: Vec<usize> = (0..call.x.ndim()).collect();
        let places = match self {
            Axes::Left => without_axes(all.len(), &call.axes),
            Axes::Kept => all,
            Axes::None => vec![],
            Axes::Ones => return (vec![1; all.len()], all),
            Axes::Placed => call.others.clone(),
        };
        (places.iter().map(|&axis| call.kept[axis]).collect(), places)
    }
}

fn number(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Combines the elements of each lane one after the other.
fn reduced(
    of: &ArrayD<f64>,
    how: How,
    (sizes, places): (Vec<usize>, Vec<usize>),
    start: f64,
) -> Option<ArrayD<f64>> {
    #[allow(clippy::cast_precision_loss, reason = "few elements")]
    let result = |lane: Vec<f64>| {
        let fold = |op: fn(f64, f64) -> f64| lane.iter().copied().reduce(op);
        let position = |exceeds: fn(f64, f64) -> bool| Some(extreme_at(&lane, exceeds)? as f64);
        let (sum, len) = (fold(f64::add).unwrap_or(0.0), lane.len() as f64);
        // the sum of squared differences from the mean, divided
        let variance = |ddof: f64| {
            let squares: f64 = lane.iter().map(|x| (x - sum / len).powi(2)).sum();
            (!lane.is_empty()).then_some(squares / (len - ddof))
        };
        match how {
            How::Sum => Some(sum),
            How::Add => Some(start + sum),
            How::AddThird => Some(start + third::<f64>() * sum),
            How::Mean => (!lane.is_empty()).then_some(sum / len),
            How::Max => fold(f64::max),
            How::Min => fold(f64::min),
            How::Join => fold(f64::join).or(Some(0.0)),
            How::ArgMax => position(|x, best| x > best),
            How::ArgMin => position(|x, best| x < best),
            How::Var => variance(0.0),
            How::VarThird => variance(third()),
            How::Std => variance(0.0).map(f64::sqrt),
            How::AnyLarge => Some(number(lane.iter().any(is_large))),
            How::CountLarge => Some(lane.iter().filter(|x| is_large(*x)).count() as f64),
            How::AllSmall => Some(number(!lane.iter().any(is_large))),
        }
    };
    let lanes = lanes(of.shape(), of.iter().copied(), &sizes, &places);
    let results: Option<Vec<f64>> = lanes.into_iter().map(result).collect();
    Some(ArrayD::from_shape_vec(sizes, results?).expect("as many results"))
}

/// The elements of a source or of a map.
fn one(of: &Operands<'_>, _: f64) -> ArrayD<f64> {
    of.x.clone()
}

fn two(of: &Operands<'_>, _: f64) -> ArrayD<f64> {
    &of.x * &of.y
}

fn three_of(of: &Operands<'_>, _: f64) -> ArrayD<f64> {
    &of.y * &of.x + &of.y
}

/// The second operand, stretched to the first one.
fn stretched(of: &Operands<'_>, _: f64) -> ArrayD<f64> {
    of.y.broadcast(of.x.raw_dim()).expect("it stretches").to_owned()
}

fn square(of: &Operands<'_>, _: f64) -> ArrayD<f64> {
    &of.x * &of.x
}

/// The sum over batch axes, of which the last axis is none.
fn batch_sum(of: &Operands<'_>, start: f64) -> ArrayD<f64> {
    let (mut sizes, places) = Axes::Kept.of(of.call);
    let last = sizes.len() - 1;
    sizes[last] = of.x.shape()[last];
    reduced(&of.x, How::Add, (sizes, places), start).expect("a sum")
}

/// The forms for every element type.
pub fn forms<A: Element>() -> Vec<Form<A>> {
    let mut all = reductions();
    maps(&mut all);
    batches(&mut all);
    all
}

/// The reductions.
pub fn reductions<A: Element>() -> Vec<Form<A>> {
    let mut all = array_reductions();
    reductions!(all, "array" true one |c, out| c.x.par());
    reductions!(all, "fused of one" false one |c, out| fused(&c.x, A::clone));
    reductions!(all, "fused of one" true one |c, out| fused(&c.x, A::clone).par());
    reductions!(all, "fused of two" false two |c, out| fused((&c.x, &c.y), A::times));
    reductions!(all, "fused of two" true two |c, out| fused((&c.x, &c.y), A::times).par());
    reductions!(all, "fused of three" false three_of |c, out| fused((&c.y, &c.x, &c.y), three));
    reductions!(all, "fused of three" true three_of |c, out| fused((&c.y, &c.x, &c.y), three).par());
    reductions!(@totals all, "fused of one" false one |c, out| fused(&c.x, A::clone));
    reductions!(@totals all, "fused of one" true one |c, out| fused(&c.x, A::clone).par());
    reductions!(@totals all, "fused of two" false two |c, out| fused((&c.x, &c.y), A::times));
    reductions!(@totals all, "fused of two" true two |c, out| fused((&c.x, &c.y), A::times).par());
    truths(&mut all);
    all
}

/// The reductions of an array on one thread.
pub fn array_reductions<A: Element>() -> Vec<Form<A>> {
    let mut all = Vec::new();
    reductions!(all, "array" false one |c, out| c.x.view());
    all
}

/// Whether any or all elements hold.
fn truths<A: Element>(all: &mut Vec<Form<A>>) {
    reductions!(@truths all, "fused of one" false one |c, out| fused(&c.x, is_small), fused(&c.x, is_large));
    reductions!(@truths all, "fused of one" true one |c, out| fused(&c.x, is_small).par(), fused(&c.x, is_large).par());
    reductions!(@truths all, "fused of two" false two |c, out|
        fused((&c.x, &c.y), |x: &A, y: &A| is_small(&x.times(y))),
        fused((&c.x, &c.y), |x: &A, y: &A| is_large(&x.times(y))));
    reductions!(@truths all, "fused of two" true two |c, out|
        fused((&c.x, &c.y), |x: &A, y: &A| is_small(&x.times(y))).par(),
        fused((&c.x, &c.y), |x: &A, y: &A| is_large(&x.times(y))).par());
}

/// The forms for elements that have roots.
pub fn roots<A: Element + Float>() -> Vec<Form<A>> {
    let mut all = Vec::new();
    reductions!(@roots all, "array" false one |c, out| c.x.view());
    reductions!(@roots all, "array" true one |c, out| c.x.par());
    reductions!(@roots all, "fused of two" false two |c, out| fused((&c.x, &c.y), A::times));
    reductions!(@roots all, "fused of two" true two |c, out| fused((&c.x, &c.y), A::times).par());
    reductions!(@root all, "fused of two" false two |c, out| fused((&c.x, &c.y), A::times));
    reductions!(@root all, "fused of two" true two |c, out| fused((&c.x, &c.y), A::times).par());
    all
}

/// A factor that rounds.
fn third<A: Element>() -> A {
    let number = |n| A::from_u8(n).expect("a small number");
    number(1) / number(3)
}

/// Not by `to_owned`, which negates strides that have no negative.
fn owned<A: Clone>(view: &ArrayViewD<'_, A>) -> ArrayD<A> {
    let elements = view.iter().cloned().collect();
    ArrayD::from_shape_vec(view.raw_dim(), elements).expect("as many elements")
}

/// An array of the shape of `x` whose elements take no memory.
fn units<A>(call: &Call<'_, A>) -> ArrayD<()> {
    ArrayD::from_elem(call.x.raw_dim(), ())
}

fn maps<A: Element>(all: &mut Vec<Form<A>>) {
    forms!(all, |c, out|
        "broadcast_map" false Filled "two": broadcast_map((&c.x, &c.y), A::times) => two;
        "broadcast_map" true Filled "two": broadcast_map((&c.x, &c.y).par(), A::times) => two;
        "broadcast_map" false Filled "three": broadcast_map((&c.y, &c.x, &c.y), three) => three_of;
        "broadcast_map" true Filled "three": broadcast_map((&c.y, &c.x, &c.y).par(), three) => three_of;
        "broadcast_apply" false Whole "two": broadcast_apply(out, (&c.x, &c.y), |out, a, b| *out = a.times(b)) => two;
        "broadcast_apply" true Whole "two":
            broadcast_apply(out, (&c.x, &c.y).par(), |out: &mut A, a, b| *out = a.times(b)) => two;
        "broadcast_apply" false Whole "x by value": broadcast_apply(out, (owned(&c.x), c.y.view()), |out, a, b| *out = a.times(b)) => two;
        "broadcast_apply2" false Whole "the first":
            broadcast_apply2(out, &mut owned(&c.x), &c.y, |out, a, b| *out = a.times(b)) => two;
        "broadcast_apply2" false Whole "the second":
            broadcast_apply2(&mut owned(&c.x), out, [&c.y, &c.y], |a, out, b, _| *out = a.times(b)) => two;
        "broadcast_apply2" true Whole "the second":
            broadcast_apply2(&mut owned(&c.x), out, [&c.y, &c.y].par(), |a: &mut A, out: &mut A, b, _| *out = a.times(b)) => two;
        "broadcast_apply3" false Whole "the third":
            broadcast_apply3(&mut units(c), &mut owned(&c.x), out, (&c.y,), |(), a, out, b| *out = a.times(b)) => two;
        "broadcast_apply3" true Whole "the second":
            broadcast_apply3(&mut owned(&c.x), out, &mut units(c), (&c.y,).par(), |a: &mut A, out: &mut A, (), b| *out = a.times(b)) => two;
        "broadcast_map2" false Filled "the first":
            broadcast_map2((&c.x, &c.y), |a: &A, b| (a.times(b), b.clone())).map(|results| results.0) => two;
        "broadcast_map2" true Filled "the second":
            broadcast_map2((&c.x, &c.y).par(), |a: &A, b| (b.clone(), a.times(b))).map(|results| results.1) => two;
        "broadcast_map3" false Filled "the third":
            broadcast_map3((&c.y, &c.x, &c.y), |a: &A, b, c| ((), b.clone(), three(a, b, c))).map(|results| results.2) => three_of;
        "broadcast_map3" true Filled "the second":
            broadcast_map3((&c.y, &c.x, &c.y).par(), |a: &A, b, c| ((), three(a, b, c), 0)).map(|results| results.1) => three_of;
        "IntoBroadcastMap::into_broadcast_map" false Filled "x by value":
            owned(&c.x).into_broadcast_map(&c.y, A::times).map_err(BroadcastError::from) => two;
        "IntoBroadcastMap::into_broadcast_map" false Filled "y by value":
            owned(&c.y).into_broadcast_map(&c.x, A::times).map_err(BroadcastError::from) => two;
        "Materialize::materialize" false Filled "": Ok::<_, BroadcastError>(c.x.materialize()) => one;
        "Materialize::try_materialize" false Filled "": c.x.try_materialize() => one;
        "Materialize::materialize_into" false Whole "": c.y.materialize_into(out) => stretched;
    );
}

/// The result's base is the last axis of `x`, on which the closure writes the products of two bases.
#[allow(clippy::needless_pass_by_value, reason = "as `zip_map` calls it")]
fn zip<A: Element>(a: ArrayViewD<'_, A>, b: ArrayViewD<'_, A>, mut out: ArrayViewMutD<'_, A>) {
    let b = b.broadcast(out.raw_dim()).expect("a base of size 1 or of that of the result");
    out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = a.times(b));
}

fn batches<A: Element>(all: &mut Vec<Form<A>>) {
    forms!(all, |c, out|
        "Batch::zip_map" false New "one": c.x.batch_dyn(1)?.zip_map((), c.base(), |a, out| zip(a.clone(), a, out)) => square;
        "Batch::zip_map" true New "one": c.x.batch_dyn(1)?.par().zip_map((), c.base(), |a, out| zip(a.clone(), a, out)) => square;
        "Batch::zip_map" false New "two": c.x.batch_dyn(1)?.zip_map(&c.y.batch_dyn(1)?, c.base(), zip) => two;
        "Batch::zip_map" true New "two": c.x.batch_dyn(1)?.par().zip_map(&c.y.batch_dyn(1)?, c.base(), zip) => two;
        "Batch::zip_map" false New "three": c.x.batch_dyn(1)?
            .zip_map((&c.y.batch_dyn(1)?, &c.x.batch_dyn(1)?), c.base(), |a, b, _, out| zip(a, b, out)) => two;
        "Batch::zip_map" true New "three": c.x.batch_dyn(1)?.par()
            .zip_map((&c.y.batch_dyn(1)?, &c.x.batch_dyn(1)?), c.base(), |a, b, _, out| zip(a, b, out)) => two;
        "Batch::zip_map_into" false Whole "two": c.x.batch_dyn(1)?.zip_map_into(&c.y.batch_dyn(1)?, out, zip) => two;
        "Batch::zip_map_into" true Whole "two": c.x.batch_dyn(1)?.par().zip_map_into(&c.y.batch_dyn(1)?, out, zip) => two;
        "Batch::zip_map_into" false Whole "three": c.x.batch_dyn(1)?
            .zip_map_into((&c.y.batch_dyn(1)?, &c.x.batch_dyn(1)?), out, |a, b, _, out| zip(a, b, out)) => two;
        "Batch::zip_map_into" true Whole "three": c.x.batch_dyn(1)?.par()
            .zip_map_into((&c.y.batch_dyn(1)?, &c.x.batch_dyn(1)?), out, |a, b, _, out| zip(a, b, out)) => two;
        "Batch::sum_batch_to" false New "": c.x.batch_dyn(1)?.sum_batch_to(&c.kept[..c.x.ndim() - 1])
            => |of, _| batch_sum(of, 0.0);
        "Batch::add_sum_batch_to" false Batch "": c.x.batch_dyn(1)?.add_sum_batch_to(out) => batch_sum;
    );
}

/// Adds an operation of [`base_op`]: its method and its value, on one thread and on several, as a new array and into one, and the model.
macro_rules! base_operations {
    ($all:ident, |$c:ident| $($name:literal $method:ident $Op:ident $into:tt: $left:expr, $right:expr => $model:expr;)*) => {$(
        forms!($all, |$c, out|
            $name false New "": $left.$method(&$right) => $model;
            $name true New "": $left.par().$method(&$right) => $model;
            "Batch::apply" false New $name: $left.apply(base_op::$Op, &$right) => $model;
            "Batch::apply" true New $name: $left.par().apply(base_op::$Op, &$right) => $model;
        );
        base_operations!(@$into $all, |$c| $name $Op: $left, $right => $model);
    )*};
    (@New $all:ident, |$c:ident| $name:literal $Op:ident: $left:expr, $right:expr => $model:expr) => {};
    (@$into:ident $all:ident, |$c:ident| $name:literal $Op:ident: $left:expr, $right:expr => $model:expr) => {
        forms!($all, |$c, out|
            "Batch::apply_into" false $into $name: $left.apply_into(base_op::$Op, &$right, out) => $model;
            "Batch::apply_into" true $into $name: $left.par().apply_into(base_op::$Op, &$right, out) => $model;
        );
    };
}

/// The sums over the last axis of products.
fn dot(x: &ArrayD<f64>, y: &ArrayD<f64>) -> ArrayD<f64> {
    (x * y).sum_axis(Axis(x.ndim() - 1))
}

/// With one more axis, counted from the end.
fn with_axis(x: &ArrayD<f64>, from_end: usize) -> ArrayD<f64> {
    x.clone().insert_axis(Axis(x.ndim() - from_end))
}

/// The first index of an axis, counted from the end, which stays.
fn first(x: &ArrayD<f64>, from_end: usize) -> ArrayD<f64> {
    x.slice_axis(Axis(x.ndim() - from_end), Slice::from(..1)).to_owned()
}

/// Adds a product of arrays, on one thread and on several.
macro_rules! products {
    ($all:ident, |$c:ident| $($name:literal $method:ident: $left:expr, $right:expr => $model:expr;)*) => {
        forms!($all, |$c, out| $(
            $name false New "": $left.$method(&$right) => $model;
            $name true New "": $left.par().$method(&$right) => $model;
        )*);
    };
}

/// The operations of [`base_op`], and products of arrays, for `x` of at least two axes that are not empty.
pub fn base_operations<A: Element + LinalgScalar>() -> Vec<Form<A>> {
    let mut all = Vec::new();
    base_operations!(all, |c|
        "Batch::add" add Add Whole: c.x.batch_dyn(1)?, c.y.batch_dyn(1)?
            => |of, _| &of.x + &of.y;
        "Batch::sub" sub Sub Whole: c.x.batch_dyn(1)?, c.y.batch_dyn(1)?
            => |of, _| &of.x - &of.y;
        "Batch::mul" mul Mul Whole: c.x.batch_dyn(1)?, c.y.batch_dyn(1)?
            => |of, _| &of.x * &of.y;
        "Batch::div" div Div Whole: c.x.batch_dyn(1)?, c.y.batch_dyn(1)?
            => |of, _| &of.x / &of.y;
        "Batch::inner" inner Inner Rows: c.x.batch_dyn(1)?, c.x.batch_dyn(1)?
            => |of, _| dot(&of.x, &of.x);
        "Batch::outer" outer Outer New: c.x.batch_dyn(1)?, c.x.batch_dyn(1)?
            => |of, _| with_axis(&of.x, 0) * with_axis(&of.x, 1);
        "Batch::matvec" matvec MatVec Rows: c.x.batch_dyn(2)?, c.without(2).batch_dyn(1)?
            => |of, _| dot(&of.x, &first(&of.x, 2));
        "Batch::vecmat" vecmat VecMat Columns: c.without(1).batch_dyn(1)?, c.x.batch_dyn(2)?
            => |of, _| (&of.x * first(&of.x, 1)).sum_axis(Axis(of.x.ndim() - 2));
        "Batch::matmul" matmul MatMul Squares: c.x.batch_dyn(2)?, c.x.batch_dyn(2)?.transpose()
            => |of, _| dot(&with_axis(&of.x, 1), &with_axis(&of.x, 2));
    );
    products!(all, |c|
        "Products::matmul" matmul: c.x, c.transposed() => |of, _| dot(&with_axis(&of.x, 1), &with_axis(&of.x, 2));
        "Products::matvec" matvec: c.x, c.without(2) => |of, _| dot(&of.x, &first(&of.x, 2));
        "Products::vecmat" vecmat: c.without(1), c.x
            => |of, _| (&of.x * first(&of.x, 1)).sum_axis(Axis(of.x.ndim() - 2));
        "Products::inner" inner: c.x, c.x => |of, _| dot(&of.x, &of.x);
        "Products::outer" outer: c.x, c.x => |of, _| with_axis(&of.x, 0) * with_axis(&of.x, 1);
    );
    all
}
