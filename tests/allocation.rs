//! A view costs no memory, and a sum none but its result: nothing more is allocated for up to 6 fixed axes, nor
//! by a pass into an array that is there.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use common::forms::{Call, Destination, base_operations, forms};
use ndarray::{
    Array, Array1, ArrayRef, ArrayView, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut1, Axis, DimMax,
    Dimension, Ix1, Ix2, IxDyn, ShapeBuilder, Slice,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, ErrorKind, base_op, batch_broadcast, bounds::TargetShape, broadcast_apply, broadcast_arrays,
    broadcast_map, broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views,
};
use ndarray_broadcast::{
    keepdims,
    partial::{Check, PartialShape, Plan, decide, infer_shape, infer_shapes},
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::process::Command;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// Bytes that are allocated now, and the most that there were.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    /// The most bytes that may be allocated at once.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

// SAFETY: Every call that is not refused goes to `System` unchanged, which keeps the contract; counting does not allocate,
// as the counter is a constant without a destructor.
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LIMIT.get() {
            return std::ptr::null_mut();
        }
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BYTES.set(BYTES.get() + layout.size());
        LIVE.set(LIVE.get() + layout.size().cast_signed());
        PEAK.set(PEAK.get().max(LIVE.get()));
        // SAFETY: The caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size().cast_signed());
        // SAFETY: The pointer comes from `alloc`, so from `System`, with the same layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often `work` allocates.
fn allocations<T>(work: impl FnOnce() -> T) -> usize {
    let before = ALLOCATIONS.get();
    let result = work();
    let during = ALLOCATIONS.get() - before;
    drop(black_box(result));
    during
}

/// How many bytes `work` allocates, all in all.
fn bytes<T>(work: impl FnOnce() -> T) -> usize {
    let before = BYTES.get();
    let result = work();
    let during = BYTES.get() - before;
    drop(black_box(result));
    during
}

/// How many bytes there are at most at once while `work` runs, beside those that were there before.
fn peak<T>(work: impl FnOnce() -> T) -> usize {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    let most = PEAK.get() - before;
    drop(black_box(result));
    most.cast_unsigned()
}

/// Asserts that `work` succeeds and that nothing is allocated meanwhile.
#[track_caller]
fn assert_free<T, E>(work: impl FnOnce() -> Result<T, E>) {
    let mut succeeded = false;
    let count = allocations(|| work().inspect(|_| succeeded = true));
    assert!(succeeded, "a valid broadcast");
    assert_eq!(count, 0, "allocations");
}

/// The most elements for which scratch is on the stack, whatever their layout.
const FEW: usize = 500;
/// The most bytes of scratch.
const SCRATCH: usize = 1 << 19;

/// Asserts that `work`, on this many elements, succeeds and allocates nothing if they are few, else no more than scratch.
#[track_caller]
fn assert_scratch<T, E>(elements: usize, work: impl FnOnce() -> Result<T, E>) {
    if elements <= FEW {
        return assert_free(work);
    }
    let mut succeeded = false;
    let most = peak(|| work().inspect(|_| succeeded = true));
    assert!(succeeded, "a valid broadcast");
    assert!(most <= SCRATCH, "{most} bytes of scratch");
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new(1)), 1);
    assert_eq!(allocations(|| vec![1, 2]), 1);
    assert_eq!(allocations(|| ()), 0);
    assert_eq!(bytes(|| [vec![0_u8; 100], vec![1; 20]]), 120);
    let one_by_one = || [100, 120, 80].map(|len| drop(black_box(vec![0_u8; len])));
    assert_eq!((peak(one_by_one), bytes(one_by_one)), (120, 300));
    // a dynamic shape of more than 4 axes is stored elsewhere, so this file would notice
    let array = Array1::<f64>::zeros(1).into_dyn();
    assert_ne!(allocations(|| array.broadcast_to(&[1, 1, 1, 1, 1][..])), 0);
}

/// Every form that makes one view: an array with axes of size 1 and 3 by turns, all stretched to 3.
fn one_view_is_free<D>(array: &ArrayRef<f64, D>, shape: &D)
where
    D: Dimension + TargetShape<Dim = D> + DimMax<D, Output = D>,
{
    let ndim = array.ndim();
    let (kept, in_order): (Vec<isize>, Vec<usize>) = (vec![-1; ndim], (0..ndim).collect());
    let reversed: Vec<usize> = (0..ndim).rev().collect();
    let sizes = shape.as_array_view().to_vec();
    let (turned, none) = (array.t(), AxisSet::default());
    assert_free(|| array.broadcast_to(shape));
    assert_free(|| array.broadcast_to_match_shape(shape));
    assert_free(|| array.view().into_broadcast_to(shape));
    assert_free(|| array.broadcast_axes(array.raw_dim(), [0_usize; 0]));
    assert_free(|| array.broadcast_axes(array.raw_dim(), &none));
    assert_free(|| array.broadcast_like(array, &none));
    assert_free(|| array.broadcast_in_dim(shape, &in_order));
    assert_free(|| turned.broadcast_in_dim(shape, &reversed));
    let mut changed = array.view();
    assert_free(|| changed.broadcast_in_place(shape));
    assert_eq!(changed.shape(), sizes);
    if ndim <= 4 {
        // the result has a dynamic number of axes
        assert_free(|| array.broadcast_to(&kept));
        assert_free(|| array.broadcast_to_match_shape(sizes.as_slice()));
        assert_free(|| array.broadcast_in_dim(&sizes, in_order.as_slice()));
    }
}

/// Every form that makes several views, of arrays that stretch by turns.
fn several_views_are_free<D>(a: &ArrayRef<f64, D>, b: &ArrayRef<f64, D>)
where
    D: Dimension + DimMax<D, Output = D>,
{
    let (x, y) = (a.view(), b.view());
    assert_free(|| Ok::<_, ()>(a.expand_to_match_ranks(b)));
    assert_free(|| a.broadcast_to_match(b));
    assert_free(|| a.broadcast_to_match3(b, &x));
    assert_free(|| if a.can_broadcast_to_match(b) { Ok(()) } else { Err(()) });
    assert_free(|| broadcast_arrays((a,)));
    assert_free(|| broadcast_arrays((a, b)));
    assert_free(|| broadcast_arrays((a, &y, a, &x, b, a)));
    let (mut p, mut q, mut r) = (a.view(), b.view(), a.view());
    assert_free(|| broadcast_to_match_in_place(&mut p, &mut q));
    let (mut p, mut q) = (a.view(), b.view());
    assert_free(|| broadcast_to_match3_in_place(&mut p, &mut q, &mut r));
    assert_free(|| broadcast_arrays((x, y)));
    // the list of views has to go somewhere, and while it is made the list of shapes
    let views = [a.view(), b.view()];
    assert!(allocations(|| broadcast_views(&views)) <= 2);
}

/// Two arrays that stretch to a shape together: at each axis, one of them has size 1.
fn by_turns<D: Dimension>(shape: &D) -> [Array<f64, D>; 2] {
    [0, 1].map(|turn| {
        let mut own = shape.clone();
        (turn..own.ndim()).step_by(2).for_each(|axis| own[axis] = 1);
        Array::ones(own)
    })
}

/// All forms for one number of axes, `shape` being as many threes.
fn all_forms_are_free<D>(shape: &D)
where
    D: Dimension + TargetShape<Dim = D> + DimMax<D, Output = D>,
{
    let [a, b] = by_turns(shape);
    one_view_is_free(&a, shape);
    one_view_is_free(&b, shape);
    several_views_are_free(&a, &b);
    // negative strides take another way
    let (mut a, mut b): (ArrayView<_, _>, ArrayView<_, _>) = (a.view(), b.view());
    for axis in 0..shape.ndim() {
        a.invert_axis(Axis(axis));
        b.invert_axis(Axis(axis));
    }
    one_view_is_free(&a, shape);
    several_views_are_free(&a, &b);
}

#[test]
fn up_to_6_fixed_axes_allocate_nothing() {
    all_forms_are_free(&ndarray::Ix0());
    all_forms_are_free(&ndarray::Ix1(3));
    all_forms_are_free(&ndarray::Ix2(3, 3));
    all_forms_are_free(&ndarray::Ix3(3, 3, 3));
    all_forms_are_free(&ndarray::Ix4(3, 3, 3, 3));
    all_forms_are_free(&ndarray::Ix5(3, 3, 3, 3, 3));
    all_forms_are_free(&ndarray::Ix6(3, 3, 3, 3, 3, 3));
}

#[test]
fn up_to_4_dynamic_axes_allocate_nothing() {
    for ndim in 0..=4 {
        all_forms_are_free(&IxDyn(&vec![3; ndim]));
    }
}

#[test]
fn new_axes_allocate_nothing() {
    let array = Array1::<f64>::zeros(3);
    let dynamic: ArrayViewD<f64> = array.view().into_dyn();
    let set = AxisSet::from([0, 2, 3]);
    assert_free(|| array.broadcast_to([2, 2, 2, 2, 2, -1]));
    assert_free(|| array.broadcast_to((2, 2, 2, 2, 2, -1)));
    assert_free(|| dynamic.broadcast_to(&[2, 2, 2, -1][..]));
    assert_free(|| array.broadcast_to_match_shape((2, 2, 2, 2, 2, 3)));
    assert_free(|| array.broadcast_axes((2, 3, 2, 2, 2, 2), [0, 2, 3, 4, 5]));
    assert_free(|| array.broadcast_axes((2, 3, 2, 2), &set));
    assert_free(|| dynamic.broadcast_axes(&[2, 3, 2, 2][..], &set));
    assert_free(|| dynamic.broadcast_in_dim((2, 3, 2, 2, 2, 2), 1));
    assert_free(|| dynamic.broadcast_in_dim(&[2, 3, 2, 2][..], &[1][..]));
    assert_free(|| array.view().into_broadcast_to([2, 2, 2, 2, 2, -1]));
    let four = Array::<u8, _>::zeros((1, 1, 1, 1));
    assert_free(|| Ok::<_, ()>(dynamic.expand_to_match_ranks(&four)));
}

/// Every sum into arrays that exist: of `delta`, over no axes, every other one and all.
fn sums_into_are_free<D: Dimension>(delta: &ArrayRef<f64, D>) {
    for keep in [|_| true, |axis| axis % 2 == 0, |axis| axis % 2 == 1, |_| false] {
        let mut shape = delta.raw_dim();
        (0..delta.ndim()).filter(|&axis| !keep(axis)).for_each(|axis| shape[axis] = 1);
        let mut ordered = Array::<f64, D>::zeros(shape.clone());
        assert_sums_free(delta, &mut ordered);
        let mut turned = Array::<f64, D>::zeros(shape.clone().f());
        (0..delta.ndim()).last().into_iter().for_each(|axis| turned.invert_axis(Axis(axis)));
        assert_sums_free(delta, &mut turned);
        let mut wide = shape;
        (0..wide.ndim()).for_each(|axis| wide[axis] *= 2);
        let mut sliced = Array::<f64, D>::zeros(wide);
        assert_sums_free(delta, &mut sliced.slice_each_axis_mut(|_| Slice::from(..).step_by(-2)));
    }
    // with fewer axes, and none
    assert_sums_free(delta, &mut ndarray::arr0(0.0));
    let last = delta.shape().last().copied();
    if let Some(size) = last {
        assert_sums_free(delta, &mut Array1::zeros(size));
    }
}

fn assert_sums_free<D: Dimension, E: Dimension>(delta: &ArrayRef<f64, D>, out: &mut ArrayRef<f64, E>) {
    assert_scratch(delta.len(), || delta.assign_sum_to(out));
    assert_scratch(delta.len(), || delta.add_sum_to(out));
    assert_scratch(delta.len(), || delta.scaled_add_sum_to(2.0, out));
}

/// Sums of one fixed number of axes in several layouts, of axes of 3 and of one that is longer than any block.
fn sums_are_free<D: Dimension>(shape: &D, long: &D) {
    for shape in [shape, long] {
        let c_order = Array::<f64, D>::ones(shape.clone());
        let f_order = Array::<f64, D>::ones(shape.clone().f());
        let mut wide = shape.clone();
        (0..wide.ndim()).for_each(|axis| wide[axis] *= 2);
        let wide = Array::<f64, D>::ones(wide);
        let repeated = ndarray::arr0(1.0);
        let repeated = repeated.broadcast(shape.clone()).expect("any shape");
        sums_into_are_free(&c_order);
        sums_into_are_free(&f_order);
        sums_into_are_free(&wide.slice_each_axis(|_| Slice::from(..).step_by(-2)));
        sums_into_are_free(&repeated);
        let mut ones = shape.clone();
        (0..ones.ndim()).for_each(|axis| ones[axis] = 1);
        let like = Array::<f64, D>::zeros(ones);
        let (of_c, of_f) = (c_order.len() * 8, f_order.sum_to(&like).map(|sum| sum.len() * 8));
        assert_eq!(of_f, Ok(8));
        assert_eq!(bytes(|| c_order.sum_to(&c_order)), of_c, "the copy alone");
        if c_order.len() <= FEW {
            assert_eq!(allocations(|| c_order.sum_to(&like)), 1);
            assert_eq!(allocations(|| f_order.sum_to(&repeated)), 1);
            assert_eq!(bytes(|| f_order.sum_to(&like)), 8, "no temporary");
        }
    }
}

#[test]
fn sums_of_up_to_6_axes_allocate_the_result_and_scratch_alone() {
    use ndarray::{Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};
    sums_are_free(&Ix0(), &Ix0());
    sums_are_free(&Ix1(3), &Ix1(20_000));
    sums_are_free(&Ix2(3, 3), &Ix2(130, 70));
    sums_are_free(&Ix3(3, 3, 3), &Ix3(3, 2000, 2));
    sums_are_free(&Ix4(3, 3, 3, 3), &Ix4(2, 33, 2, 33));
    sums_are_free(&Ix5(3, 3, 3, 3, 3), &Ix5(2, 2, 130, 2, 2));
    sums_are_free(&Ix6(3, 3, 3, 3, 3, 3), &Ix6(2, 9, 2, 9, 2, 9));
}

/// The memory of products beside the result is that of copies of what is stored, whatever the layout of the result. Of an operand that
/// is stretched along its terms, one row is copied.
#[test]
fn products_need_little_memory() {
    fn product_into<D: Dimension>([a, b]: [&ArrayView2<'_, u8>; 2], out: &mut ArrayRef<u8, D>) {
        let terms = a.ncols();
        let (a, b) = (a.batch::<Ix2>().expect("a base"), b.batch::<Ix2>().expect("a base"));
        let used = peak(|| a.apply_into(base_op::MatMul, &b, out).expect("a product"));
        // a copy of three rows, and one of a row
        assert!(used <= (3 << 16) + if terms > 1 { 4 * terms } else { 0 }, "{used} bytes");
    }
    let n = 1 << 10;
    let (a, b) = (Array::<u8, _>::ones((n, 1)), Array::<u8, _>::ones((1, n)));
    product_into([&a.view(), &b.view()], &mut Array::<u8, _>::zeros((n, n)));
    product_into([&a.view(), &b.view()], &mut Array::<u8, _>::zeros((n, n).f()));
    let mut gaps = Array::<u8, _>::zeros((n, 2 * n));
    product_into([&a.view(), &b.view()], &mut *gaps.slice_mut(ndarray::s![..;-1, ..;2]));
    assert_eq!(gaps.iter().filter(|&&x| x == 1).count(), n * n);
    let n = 1 << 18;
    let column = Array::<u8, _>::ones((8, 1));
    let (stretched, ones) = (column.broadcast((8, n)).expect("a shape"), Array::<u8, _>::zeros((n, 3)));
    product_into([&stretched, &ones.view()], &mut Array::<u8, _>::zeros((8, 3)));
    product_into([&ones.t(), &stretched.t()], &mut Array::<u8, _>::zeros((3, 8).f()));
    // many small matrices
    let (many, turned) = (Array::<u8, _>::ones((n, 3, 3)), Array::<u8, _>::ones((n, 3, 3)));
    let (x, y) = (many.view().reversed_axes(), turned.slice(ndarray::s![.., ..;-1, ..]));
    let x = x.permuted_axes([2, 0, 1]);
    let (x, y) = (x.batch::<Ix2>().expect("a base"), y.batch::<Ix2>().expect("a base"));
    let mut out = Array::<u8, _>::zeros((n, 3, 3).f());
    let used = peak(|| x.apply_into(base_op::MatMul, &y, &mut out).expect("a product"));
    assert!(used <= 3 << 16 && out.iter().all(|&x| x == 3), "{used} bytes");
}

#[test]
fn sums_of_half_a_million_elements_into_arrays_allocate_scratch_alone() {
    for shape in common::sample(2, [(1, 500_000), (500_000, 1), (700, 700), (2, 250_000), (250_000, 2)]) {
        sums_into_are_free(&Array::<f64, _>::ones(shape));
        sums_into_are_free(&Array::<f64, _>::ones(shape.f()));
    }
    // rows and lanes that are reduced in one block
    let (delta, mut out) = (Array::<f64, _>::ones((4, 512, 2, 16)), Array::zeros((512, 1, 16)));
    assert_scratch(delta.len(), || delta.add_sum_to(&mut out));
    // rows that are longer than a buffer, with gaps between them
    sums_into_are_free(&Array::<f64, _>::ones((200, 3000)).slice(ndarray::s![.., ..2500]));
}

#[test]
fn sums_of_dynamic_numbers_of_axes_into_arrays_allocate_scratch_alone() {
    for ndim in 0..=6 {
        // the views of more than 4 axes allocate their own shapes, the sums do not
        let delta = Array::<f64, _>::ones(IxDyn(&vec![3; ndim]));
        let f_order = Array::<f64, _>::ones(IxDyn(&vec![3; ndim]).f());
        sums_into_are_free(&delta);
        sums_into_are_free(&f_order);
    }
}

#[test]
fn sums_of_fixed_numbers_of_axes_allocate_once() {
    let delta = Array::<f64, _>::ones((4, 5, 6));
    assert_eq!(allocations(|| delta.sum_to((5, 1))), 1);
    assert_eq!(allocations(|| delta.sum_to([1, 1, 6])), 1);
    assert_eq!(allocations(|| delta.sum_axes(1)), 1);
    assert_eq!(allocations(|| delta.sum_axes([2, 0])), 1);
    assert_eq!(allocations(|| delta.sum_axes(keepdims([1]))), 1);
    assert_eq!(allocations(|| delta.sum_axes(keepdims(&[1, 2][..]))), 1);
    assert_eq!(allocations(|| delta.t().sum_axes([0])), 1);
    assert_eq!(allocations(|| delta.view().into_dyn().sum_axes(&[0, 2][..])), 1);
    // nothing to sum: the array itself
    let mut owned = Some(delta.clone());
    assert_free(|| owned.take().expect("once").into_sum_to((4, 5, 6)));
    let mut owned = Some(delta.clone().into_dyn());
    assert_free(|| owned.take().expect("once").into_sum_to((4, 5, 6)));
    let mut owned = Some(delta.clone().reversed_axes());
    assert_free(|| owned.take().expect("once").into_sum_to(&[6, 5, 4][..]));
    let mut owned = Some(delta);
    assert_eq!(allocations(|| owned.take().expect("once").into_sum_to(6)), 1);
}

#[test]
fn refused_sums_allocate_for_the_message_alone() {
    let one = Array1::<u64>::zeros(1);
    let half = one.broadcast_to((3, 1_usize << 40)).expect("2^40 elements in 8 bytes");
    assert!(bytes(|| assert!(half.sum_to((2, 1_usize << 40)).is_err())) < 1000);
    assert!(bytes(|| assert!(half.sum_axes([2, 2]).is_err())) < 1000);
}

/// Each form where no more than 1 MiB is to be had at once: a result or an error, however often what is stored is repeated, and
/// nothing but the result and scratch. What the largest operand is reduced to is computed for the smaller one.
#[test]
fn repeated_elements_take_no_memory() {
    let one = Array::<f64, _>::ones(());
    let y = one.broadcast((1, 1, 1)).expect("a shape");
    let mut refused = 0;
    for (shape, axes, others) in
        [([514, 2, 128], &[0, 2][..], &[1][..]), ([1 << 22, 1, 1 << 23], &[], &[0, 1, 2])]
    {
        let (x, is_huge) = (one.broadcast(shape).expect("a shape"), axes.is_empty());
        let call = Call::new(x.into_dyn(), y.into_dyn(), axes, others);
        for form in forms().iter().chain(&base_operations()) {
            let (arguments, out) = (form.call.1, form.out_shape(&call));
            // the first is made by the form, and the second panics by its contract
            let is_made = arguments == "x by value" || form.name.ends_with(['2', '3']);
            let is_none = is_made || form.name == "Materialize::materialize";
            // those that read every element of a huge shape
            let is_total = arguments.contains("..") || form.name.starts_with("Totals::");
            if is_none || is_huge && (is_total || out.is_some()) {
                continue;
            }
            let (mut out, mut result) = (Array::<f64, IxDyn>::zeros(out.unwrap_or_default()), Ok(None));
            LIMIT.set(1 << 20);
            let most = peak(|| result = form.run(&call, &mut out.view_mut()));
            LIMIT.set(usize::MAX);
            let allowed = match &result {
                Ok(new) => SCRATCH + new.as_ref().map_or(0, |new| 8 * new.len()),
                Err(error) => {
                    assert!(
                        [ErrorKind::TooLarge, ErrorKind::Overflow].contains(&error.kind()),
                        "{form}: {error}"
                    );
                    refused += 1;
                    1000
                }
            };
            assert!(most <= allowed && is_huge <= result.is_err(), "{form} of {shape:?}: {most} bytes");
        }
    }
    assert!(refused >= 225, "{refused} refused");
}

/// The elements of a closure's results are computed part by part, in memory of a constant size. No panic unwinds where there is none.
#[test]
fn without_memory_for_a_part_the_program_ends() {
    const CHILD: &str = "WITHOUT_MEMORY_FOR_A_PART";
    if std::env::var_os(CHILD).is_some() {
        let x = Array::<f64, _>::ones((64, 64));
        // a panic's message would need memory
        std::panic::set_hook(Box::new(|_| std::process::exit(1)));
        LIMIT.set(1 << 10);
        drop(ndarray_broadcast::fused((&x, &x), |x, y| x * y).argmax_axes(1));
        LIMIT.set(usize::MAX);
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let arguments = ["without_memory_for_a_part_the_program_ends", "--exact", "--nocapture"];
    let ended = Command::new(program).args(arguments).env(CHILD, "1").output().expect("the program runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("memory allocation of 32768 bytes failed"), "{}: {said}", ended.status);
}

#[test]
fn applies_and_copies_allocate_scratch_alone() {
    fn free<D>(shape: D)
    where
        D: Dimension + TargetShape<Dim = D> + DimMax<D, Output = D>,
    {
        let [a, b] = by_turns(&shape);
        let mut out = Array::<f64, _>::zeros(shape);
        let len = out.len();
        assert_scratch(len, || broadcast_apply(&mut out, (&a, &b), |out, a, b| *out += a * b));
        // seven operands
        assert_scratch(7 * len, || {
            broadcast_apply(&mut out, (&a, &b, &a, &b, &a, &b), |out, a, _, _, _, _, _| *out += a)
        });
        assert_scratch(len, || a.materialize_into(&mut out));
    }
    for ndim in 0..=6 {
        free(IxDyn(&vec![3; ndim]));
    }
    free(ndarray::Ix2(3, 3));
    free(ndarray::Ix6(3, 3, 3, 3, 3, 3));
    let (column, row) = (Array::<f64, _>::ones((300, 1)), Array1::<f64>::ones(200));
    // the result, and nothing else
    assert_eq!(allocations(|| broadcast_map((&column, &row), |a, b| a * b)), 1);
    assert_eq!(allocations(|| column.broadcast_to((300, 200)).map(|view| view.materialize())), 1);
}

/// Of up to 4 axes, whatever their layout; tiles of some are copied to scratch. Four kinds allocate more.
#[test]
fn forms_allocate_their_result_and_scratch_alone() {
    // matrices that are not contiguous are copied; placed axes are lists; an array by value is made by the form, and so are numbers of
    // positions, which need the elements in order, and of truth values; variances have means
    let of_products = ["matmul", "matvec", "vecmat"];
    let of_lists = ["sum_in_dim", "add_sum_in_dim_to", "into_broadcast_map", "argmax_axes", "argmin_axes"];
    let of_arrays =
        ["var_axes", "std_axes", "any_axes", "all_axes", "count_axes", "::var", "::std", "::count"];
    let of_several = ["x by value", "_apply2", "_apply3", "_map2", "_map3"];
    let allocates = [&of_products[..], &of_lists, &of_arrays, &of_several].concat();
    let (x, y) = (Array::<f64, _>::ones((4, 6, 5)), Array::<f64, _>::ones((1, 6, 1)));
    for (x, y) in [(x.view(), y.view()), (x.slice(ndarray::s![.., ..;-1, ..]), y.view())] {
        for axes in [&[][..], &[0], &[1], &[2], &[0, 2], &[0, 1, 2]] {
            let others: Vec<usize> = (0..3).filter(|axis| !axes.contains(axis)).collect();
            let call = Call::new(x.into_dyn(), y.into_dyn(), axes, &others);
            for form in forms().iter().chain(&base_operations()) {
                let mut out = Array::<f64, IxDyn>::zeros(form.out_shape(&call).unwrap_or_default());
                let mut view = out.view_mut();
                let count = allocations(|| form.run(&call, &mut view).expect("shapes that go together"));
                let is_new = matches!(form.into, Destination::New | Destination::Filled);
                let is_free =
                    count <= usize::from(is_new) + 1 || allocates.iter().any(|method| form.is(method));
                assert!(form.is_par || is_free, "{form}, over {axes:?}: {count} allocations");
            }
        }
    }
}

#[test]
fn batches_allocate_nothing_but_the_result() {
    let (c, e) = (Array::<f64, _>::ones((2, 6, 6)), Array::<f64, _>::ones((1000, 2, 6)));
    let (x, y) = (c.batch::<Ix2>().expect("a base"), e.batch::<Ix1>().expect("a base"));
    let first = |c: ArrayView2<'_, f64>, e: ArrayView1<'_, f64>, mut s: ArrayViewMut1<'_, f64>| {
        s[0] = c[[0, 0]] * e[0];
    };
    let mut out = Array::<f64, _>::zeros((1000, 2, 6));
    assert_free(|| c.batch::<Ix2>());
    assert_free(|| x.expand_batch([1000, -1]));
    assert_free(|| batch_broadcast(&x, &y));
    assert_free(|| x.zip_map_into(&y, &mut out, first));
    assert_free(|| x.apply_into(base_op::MatVec, &y, &mut out));
    assert_free(|| y.apply_into(base_op::Add, &y, &mut out));
    assert_eq!(allocations(|| x.zip_map(&y, 6, first)), 1);
    assert_eq!(allocations(|| x.matvec(&y)), 1);
    assert_eq!(allocations(|| y.inner(&y)), 1);
    assert_eq!(allocations(|| y.mul(&y)), 1);
    // up to 4 axes of a dynamic number
    let (c, e, mut out) = (c.into_dyn(), e.into_dyn(), out.into_dyn());
    let (x, y) = (c.batch_dyn(2).expect("a base"), e.batch_dyn(1).expect("a base"));
    assert_free(|| x.zip_map_into(&y, &mut out, |_, _, _: ArrayViewMut1<'_, f64>| ()));
    assert_free(|| x.apply_into(base_op::MatVec, &y, &mut out));
    assert_eq!(allocations(|| x.matvec(&y)), 1);
}

/// From reading long texts to printing the answer, there is never more memory in use than 60 times the texts, or 100 times
/// where the answer has a check for each axis.
#[test]
fn texts_of_many_sizes_take_a_multiple_of_their_length() {
    for size in ["?", "1", "n", "0..5"] {
        // one more than a power of two, where a vector that grows has twice the room that it needs
        let text = vec![size; (1 << 13) + 1].join("x");
        let read = || text.parse::<PartialShape>().expect("a shape");
        let words = |shape: Result<PartialShape, _>| shape.expect("no clash").to_string();
        let all_words = |checks: &[Check]| checks.iter().map(|check| check.to_string().len()).sum::<usize>();
        let plan = |operands: Vec<PartialShape>| {
            let plan = Plan::new(operands).expect("no clash");
            plan.inferred().to_string().len() + all_words(plan.checks())
        };
        let clash = || {
            let read = |end: &str| [&text, end].concat().parse::<PartialShape>().expect("a shape");
            infer_shapes(&[read("x2"), read("x3")]).expect_err("a clash").to_string()
        };
        let declared = || {
            let (operand, result) = (read(), read());
            let plan =
                Plan::new([operand]).and_then(|plan| plan.with_result(result)).expect("what is inferred");
            all_words(plan.checks())
        };
        let wrong = || {
            let error = format!("{text}x!").parse::<PartialShape>().expect_err("no size");
            error.to_string()
        };
        // how many texts, how many times their length
        let measured = [
            ("read and printed", 1, 20, peak(|| read().to_string())),
            ("not read", 1, 20, peak(wrong)),
            ("joined", 1, 60, peak(|| words(infer_shapes(&[read()])))),
            ("two joined", 2, 60, peak(|| words(infer_shape(&read(), &read())))),
            ("a clash of two", 2, 40, peak(clash)),
            ("decided", 1, 60, peak(|| decide(&[read()]))),
            ("planned", 1, 60, peak(|| plan(vec![read()]))),
            ("planned with its result", 2, 60, peak(declared)),
            // a check for each axis, with two places
            ("two planned", 2, 100, peak(|| plan(vec![read(), read()]))),
        ];
        for (what, texts, factor, most) in measured {
            let length = texts * text.len();
            assert!(most <= factor * length, "{size}…, {what}: {} times the text", most.div_ceil(length));
        }
    }
}

/// An error that is made and not returned would leak: what describes it is only freed with it.
#[test]
fn clashes_leak_nothing() {
    let dims = ["1", "3", "?", "2..", "1..4", "a", "b", "0"];
    let shapes: Vec<PartialShape> = (0..512)
        .map(|i| [dims[i % 8], dims[i / 8 % 8], dims[i / 64]].join("x").parse().expect("a shape"))
        .collect();
    let mut errors = 0;
    for (i, a) in shapes.iter().enumerate() {
        for b in common::sample(4, &shapes[i..]) {
            let before = LIVE.get();
            errors += usize::from(black_box(a.merge(b)).is_err());
            errors += usize::from(black_box(infer_shape(a, b)).is_err());
            drop(black_box(decide([a, b])));
            assert_eq!(LIVE.get(), before, "{a} and {b}");
        }
    }
    assert!(errors > 5_000, "{errors}");
}
