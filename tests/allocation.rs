//! A view costs no memory: nothing is allocated for up to 4 axes, nor for up to 6 fixed ones.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use ndarray::{
    Array, Array1, ArrayRef, ArrayView, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut1, Axis, DimMax,
    Dimension, Ix1, Ix2, IxDyn,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, TargetShape, base_op, batch_broadcast, broadcast_arrays, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

// SAFETY: Every call goes to `System` unchanged, which keeps the contract; counting does not allocate,
// as the counter is a constant without a destructor.
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: The caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
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

/// Asserts that `work` succeeds and that nothing is allocated meanwhile.
#[track_caller]
fn assert_free<T, E>(work: impl FnOnce() -> Result<T, E>) {
    let mut succeeded = false;
    let count = allocations(|| work().inspect(|_| succeeded = true));
    assert!(succeeded, "a valid broadcast");
    assert_eq!(count, 0, "allocations");
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new(1)), 1);
    assert_eq!(allocations(|| vec![1, 2]), 1);
    assert_eq!(allocations(|| ()), 0);
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

/// All forms for one number of axes, `sizes` being as many threes.
fn all_forms_are_free<D>(shape: &D)
where
    D: Dimension + TargetShape<Dim = D> + DimMax<D, Output = D>,
{
    let (mut even, mut odd) = (shape.clone(), shape.clone());
    for axis in 0..shape.ndim() {
        if axis % 2 == 0 { even[axis] = 1 } else { odd[axis] = 1 }
    }
    let (a, b) = (Array::zeros(even), Array::zeros(odd));
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
