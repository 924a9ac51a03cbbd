//! Which types cross threads, what elements may be, and how large results are.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::many_single_char_names, reason = "m and n are matrices, v, w, x and y vectors and views")]

use ndarray::{
    Array, Array1, Array2, ArrayRef, ArrayView, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut,
    ArrayViewMut1, Dimension, Ix0, Ix1, Ix2, Ix3, Ix6, IxDyn, LinalgScalar, array, aview2,
};
use ndarray_broadcast::partial::{
    Check, Decision, Dim, Name, PartialShape, Place, Plan, ResultRule, SizeRange,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, Batch, BroadcastError, ErrorKind, Signature, base_op, batch_broadcast, bounds::SignatureShapes,
    broadcast_apply, broadcast_arrays, broadcast_map, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views, fused,
};
use num_complex::Complex;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::{Arc, MutexGuard};

/// Whether a type has a trait: the constant of the first `impl` hides that of the trait, where it applies.
macro_rules! has {
    ($T:ty: $($Trait:tt)+) => {{
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "where the type has not the trait")]
        impl<T: ?Sized + $($Trait)+> Probe<T> {
            const HAS: bool = true;
        }
        #[allow(dead_code, reason = "where the type has the trait")]
        trait Else {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Else for Probe<T> {}
        <Probe<$T>>::HAS
    }};
}

/// Whether a type may be sent, shared, and seen after a panic.
macro_rules! traits {
    ($T:ty) => {
        [has!($T: Send), has!($T: Sync), has!($T: UnwindSafe), has!($T: RefUnwindSafe), has!($T: Unpin)]
    };
}

#[test]
fn the_probe_tells_types_apart() {
    assert_eq!(traits!(u8), [true; 5]);
    assert_eq!(traits!(Rc<u8>), [false, false, true, true, true]);
    assert_eq!(traits!(Cell<u8>), [true, false, true, false, true]);
    assert_eq!(traits!(MutexGuard<'static, u8>), [false, true, true, true, true]);
    assert_eq!(traits!(*mut Cell<u8>), [false, false, false, false, true]);
}

#[test]
fn views_and_batches_cross_threads_where_those_of_ndarray_do() {
    macro_rules! as_ndarray {
        ($($A:ty)*) => {$(
            type View<D> = ArrayView<'static, $A, D>;
            assert_eq!(traits!(Batch<'static, $A, Ix3, Ix1>), traits!(View<Ix3>));
            assert_eq!(traits!(Batch<'static, $A, IxDyn, IxDyn>), traits!(View<IxDyn>));
            assert_eq!(traits!(Vec<Batch<'static, $A, Ix2, Ix0>>), traits!(Vec<View<Ix2>>));
        )*};
    }
    macro_rules! each_apart {
        ($($A:ty)*) => { $({ as_ndarray!($A); })* };
    }
    each_apart!(f64 bool [f32; 0] String Arc<u8> Rc<u8> Cell<u8> RefCell<u8> *const u8 MutexGuard<'static, u8>);
    // what that comes to: a view is a shared reference
    assert!(has!(Batch<'static, f64, Ix3, Ix1>: Send + Sync + Copy));
    assert!(!has!(Batch<'static, Rc<u8>, Ix3, Ix1>: Send) && !has!(Batch<'static, Rc<u8>, Ix3, Ix1>: Sync));
    assert!(
        !has!(Batch<'static, Cell<u8>, Ix3, Ix1>: Send) && !has!(Batch<'static, Cell<u8>, Ix3, Ix1>: Sync)
    );
    assert!(
        has!(Batch<'static, Rc<u8>, IxDyn, Ix1>: Clone) && !has!(Batch<'static, Rc<u8>, IxDyn, Ix1>: Copy)
    );
}

/// Compiles only where `Batch` is covariant, as `ArrayView` is.
#[test]
fn batches_may_live_shorter_than_they_could() {
    fn shorter<'a, A, D, B>(batch: Batch<'static, A, D, B>, _: &'a str) -> Batch<'a, A, D, B> {
        batch
    }
    fn borrowed<'a>(
        batch: Batch<'static, &'static str, Ix2, Ix1>,
        _: &'a str,
    ) -> Batch<'a, &'a str, Ix2, Ix1> {
        batch
    }
    let words = aview2(&[["a", "b"]]);
    let here = String::from("here");
    let batch = words.into_batch::<Ix1>().unwrap();
    assert_eq!(shorter(batch, &here).base_shape(), borrowed(batch, &here).base_shape());
}

#[test]
fn all_other_types_cross_threads() {
    macro_rules! free {
        ($($T:ty)*) => { $(assert_eq!(traits!($T), [true; 5], stringify!($T));)* };
    }
    free!(BroadcastError ErrorKind AxisSet Signature<'static> SignatureShapes<'static>);
    free!(Dim SizeRange Name PartialShape Check Place Decision Plan ResultRule);
    free!(base_op::Add base_op::Sub base_op::Mul base_op::Div);
    free!(base_op::MatVec base_op::VecMat base_op::MatMul base_op::Inner);
}

#[test]
fn threads_take_only_what_may_cross() {
    use ndarray_broadcast::bounds::{ApplyOperands, MapOperands};
    use ndarray_broadcast::{Fused, Par};
    type To<A, R> = fn(&A) -> R;
    type Onto<A, T> = fn(&mut T, &A);
    type Results<O, F> = Par<Fused<O, F>>;
    type Pair = (&'static Array1<String>, ArrayView1<'static, u8>);
    assert!(has!(Results<&'static Array1<f64>, To<f64, f64>>: Reduce<f64, Ix1>));
    assert!(has!(Results<Pair, fn(&String, &u8) -> u8>: Reduce<u8, Ix1>));
    assert!(has!(Fused<&'static Array1<Rc<u8>>, To<Rc<u8>, u8>>: Reduce<u8, Ix1>));
    assert!(!has!(Results<&'static Array1<Rc<u8>>, To<Rc<u8>, u8>>: Reduce<u8, Ix1>));
    assert!(!has!(Results<&'static Array1<Cell<u8>>, To<Cell<u8>, u8>>: Reduce<u8, Ix1>));
    assert!(!has!(Results<&'static Array1<u8>, To<u8, Rc<u8>>>: Reduce<Rc<u8>, Ix1>));
    assert!(!has!(Par<&'static ndarray::ArrayRef<Rc<u8>, Ix1>>: Reduce<Rc<u8>, Ix1>));
    assert!(has!(Par<&'static Array1<u8>>: MapOperands<To<u8, Cell<u8>>, Cell<u8>>));
    assert!(!has!(Par<&'static Array1<u8>>: MapOperands<To<u8, Rc<u8>>, Rc<u8>>));
    assert!(!has!(Par<&'static Array1<Rc<u8>>>: MapOperands<To<Rc<u8>, u8>, u8>));
    // an element that is written has to be sent, but not shared
    assert!(has!(Par<&'static Array1<u8>>: ApplyOperands<Cell<u8>, Onto<u8, Cell<u8>>>));
    assert!(!has!(Par<&'static Array1<u8>>: ApplyOperands<Rc<u8>, Onto<u8, Rc<u8>>>));
    assert!(!has!(Par<&'static Array1<Rc<u8>>>: ApplyOperands<u8, Onto<Rc<u8>, u8>>));
}

/// Asserts that the elements in logical order are `of` these.
#[track_caller]
fn assert_is<A: PartialEq + Debug, D: Dimension>(
    array: &ArrayRef<A, D>,
    of: &impl Fn(u8) -> A,
    expected: &[u8],
) {
    let expected: Vec<A> = expected.iter().map(|&n| of(n)).collect();
    assert!(array.iter().eq(&expected), "{array:?} is not {expected:?}");
}

/// All views, which ask nothing of elements.
fn assert_views<A: PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let row = Array1::from_iter([1, 2, 3].map(of));
    let column = Array2::from_shape_vec((2, 1), vec![of(4), of(5)]).unwrap();
    let (rows, columns) = ([1, 2, 3, 1, 2, 3], [4, 4, 4, 5, 5, 5]);
    assert_is(&row.broadcast_to([2, -1]).unwrap(), of, &rows);
    assert_is(&row.view().into_broadcast_to([2, -1]).unwrap(), of, &rows);
    assert_is(&column.broadcast_to_match_shape((2, 3)).unwrap(), of, &columns);
    assert_is(&row.broadcast_axes((2, 3), 0).unwrap(), of, &rows);
    assert_is(&row.broadcast_like(&Array2::<u8>::zeros((2, 3)), 0).unwrap(), of, &rows);
    assert_is(&column.broadcast_in_dim((3, 2), [1, 0]).unwrap(), of, &[4, 5, 4, 5, 4, 5]);
    assert!(row.can_broadcast_to_match(&column));
    let (x, y) = row.expand_to_match_ranks(&column);
    assert_is(&x, of, &[1, 2, 3]);
    assert_is(&y, of, &[4, 5]);
    let (x, y) = row.broadcast_to_match(&column).unwrap();
    assert_is(&x, of, &rows);
    assert_is(&y, of, &columns);
    let (x, y, z) = column.broadcast_to_match3(&row, &column).unwrap();
    assert_is(&x, of, &columns);
    assert_is(&y, of, &rows);
    assert_is(&z, of, &columns);
    let (x, y) = broadcast_arrays((&column, row.view())).unwrap();
    assert_is(&x, of, &columns);
    assert_is(&y, of, &rows);
    let (mut x, mut y, mut z) = (row.view().into_dyn(), column.view().into_dyn(), row.view().into_dyn());
    broadcast_to_match_in_place(&mut x, &mut y).unwrap();
    assert_is(&x, of, &rows);
    broadcast_to_match3_in_place(&mut x, &mut y, &mut z).unwrap();
    assert_is(&z, of, &rows);
    let views = broadcast_views(&[row.view().into_dyn(), y]).unwrap();
    assert_is(&views[1], of, &columns);
    x.broadcast_in_place([2, 2, 3]).unwrap();
    assert_eq!(x.len(), 12);
    let refused = row.broadcast_to([2]).unwrap_err();
    assert!(refused.to_string().starts_with("cannot broadcast shape [3] to [2]"));
}

/// All forms of batches that ask nothing of elements.
fn assert_batches<A: PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let bases = Array2::from_shape_vec((2, 2), [1, 2, 3, 4].map(of).into()).unwrap();
    let one = Array1::from_iter([5, 6].map(of));
    let (x, y) = (bases.batch::<Ix1>().unwrap(), one.batch::<Ix1>().unwrap());
    assert_is(&y.expand_batch(2).unwrap().into_view(), of, &[5, 6, 5, 6]);
    assert_is(&batch_broadcast(&x, &y).unwrap().1.into_view(), of, &[5, 6, 5, 6]);
    let same = |p: &A, q: &A| u8::from(p == q) + 2 * u8::from(*p == of(1));
    let compare = |p: ArrayView1<'_, A>, q: ArrayView1<'_, A>, mut out: ArrayViewMut1<'_, u8>| {
        out.indexed_iter_mut().for_each(|(i, out)| *out = same(&p[i], &q[i]));
    };
    let first = same(&of(1), &of(5));
    let found = x.zip_map(&y, 2, compare).unwrap();
    assert_eq!(found[[0, 0]], first);
    assert_eq!(x.zip_map((&y, &x), 2, |p, q, _, out| compare(p, q, out)), Ok(found.clone()));
    let mut out = Array2::zeros((2, 2));
    x.zip_map_into(&y, &mut out, compare).unwrap();
    assert_eq!(out, found);
    let alike =
        x.zip_map((), 2, |p: ArrayView1<'_, A>, out: ArrayViewMut1<'_, u8>| compare(p, p, out)).unwrap();
    assert!(alike.iter().all(|n| n % 2 == 1), "each element is itself");
}

/// Passes over elements that can be cloned.
fn assert_passes<A: Clone + PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let (row, column) = (Array1::from_iter([1, 2, 3].map(of)), array![[4], [5]].mapv(of));
    let rows = [1, 2, 3, 1, 2, 3];
    assert_is(&broadcast_map((&row, &column), |x, _| x.clone()).unwrap(), of, &rows);
    let count = fused((&row, &column), |x, _| u8::from(*x == of(1))).sum_to(3_usize).unwrap();
    assert_eq!(count[0], 2);
    let mut out = Array2::from_elem((2, 3), of(9));
    broadcast_apply(&mut out, (&row, &column), |out, _, y| *out = y.clone()).unwrap();
    assert_is(&out, of, &[4, 4, 4, 5, 5, 5]);
    assert_is(&row.broadcast_to((2, 3)).unwrap().t().materialize(), of, &[1, 1, 2, 2, 3, 3]);
    let bases = array![[1, 2], [3, 4]].mapv(of);
    let (x, y) = (bases.batch::<Ix1>().unwrap(), bases.t());
    let y = y.batch::<Ix1>().unwrap();
    let last = |_: ArrayView1<'_, A>, q: ArrayView1<'_, A>, mut out: ArrayViewMut<'_, Option<A>, Ix0>| {
        out[()] = q.last().cloned();
    };
    assert_eq!(x.zip_map(&y, (), last), Ok(array![Some(of(3)), Some(of(4))]));
}

/// Copies into arrays that are there already.
fn assert_copies<A: Clone + PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let (row, column) = (Array1::from_iter([1, 2, 3].map(of)), array![[4], [5]].mapv(of));
    let mut out = Array2::from_elem((2, 3), of(9));
    row.materialize_into(&mut out).unwrap();
    assert_is(&out, of, &[1, 2, 3, 1, 2, 3]);
    column.materialize_into(&mut out).unwrap();
    assert_is(&out, of, &[4, 4, 4, 5, 5, 5]);
}

/// The same on several threads.
fn assert_parallel<A: Clone + PartialEq + Debug + Send + Sync>(of: &(impl Fn(u8) -> A + Sync)) {
    let (row, column) = (Array1::from_iter([1, 2, 3].map(of)), array![[4], [5]].mapv(of));
    assert_is(&broadcast_map((&row, &column).par(), |x, _| x.clone()).unwrap(), of, &[1, 2, 3, 1, 2, 3]);
    let mut out = Array2::from_elem((2, 3), of(9));
    broadcast_apply(&mut out, (&row, &column).par(), |out, _, y| *out = y.clone()).unwrap();
    assert_is(&out, of, &[4, 4, 4, 5, 5, 5]);
    let bases = array![[1, 2], [3, 4]].mapv(of);
    let x = bases.batch::<Ix1>().unwrap();
    let first = |p: ArrayView1<'_, A>, _: ArrayView1<'_, A>, mut out: ArrayViewMut<'_, Option<A>, Ix0>| {
        out[()] = p.first().cloned();
    };
    assert_eq!(x.par().zip_map(&x, (), first), Ok(array![Some(of(1)), Some(of(3))]));
}

/// Operations on bases and sums over batches, of numbers. `elements.rs` has the other sums.
fn assert_arithmetic<A: LinalgScalar + PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let (m, v) = (array![[2, 3], [1, 4]].mapv(of), array![[1, 2], [3, 0]].mapv(of));
    let (x, y) = (m.batch::<Ix2>().unwrap(), v.batch::<Ix1>().unwrap());
    assert_eq!(x.matvec(&y), Ok(array![[8, 9], [6, 3]].mapv(of)));
    assert_eq!(y.vecmat(&x), Ok(array![[4, 11], [6, 9]].mapv(of)));
    assert_eq!(x.matmul(&x), Ok(array![[7, 18], [6, 19]].mapv(of)));
    assert_eq!(y.inner(&y), Ok(array![5, 9].mapv(of)));
    let (p, q) = (m.batch::<Ix1>().unwrap(), array![2, 1].mapv(of));
    let q = q.batch::<Ix1>().unwrap();
    assert_eq!(p.mul(&q), Ok(array![[4, 3], [2, 4]].mapv(of)));
    assert_eq!(p.sum_batch_to(()), Ok(array![3, 7].mapv(of)));
    assert_eq!(p.sum_batch_to(&q), Ok(array![3, 7].mapv(of)));
    let mut sum = array![1, 1].mapv(of);
    assert_eq!(p.add_sum_batch_to(&mut sum), Ok(()));
    assert_eq!(sum, array![4, 8].mapv(of));
    let products = fused((&m, &sum), |&a, &b| a * b).sum_to(());
    assert_eq!(products.map(Array::into_scalar), Ok(of(8 + 24 + 4 + 32)));
}

/// The other operations, element by element.
fn assert_elementwise<A: LinalgScalar + PartialEq + Debug>(of: &impl Fn(u8) -> A) {
    let (m, q) = (array![[2, 3], [1, 4]].mapv(of), array![2, 1].mapv(of));
    let (p, q) = (m.batch::<Ix1>().unwrap(), q.batch::<Ix1>().unwrap());
    let (sums, products) = (p.add(&q).unwrap(), p.mul(&q).unwrap());
    assert_eq!(sums, array![[4, 4], [3, 5]].mapv(of));
    assert_eq!(sums.batch::<Ix1>().unwrap().sub(&q), Ok(m.clone()));
    assert_eq!(products.batch::<Ix1>().unwrap().div(&q), Ok(m.clone()));
}

/// All that holds for elements that can be cloned, and more. Each type takes a while to compile, so of those that are
/// alike to the crate there is one, and one of each kind that has `more`.
macro_rules! assert_all {
    ($of:expr $(, $more:ident)*) => {{
        let of = $of;
        assert_views(&of);
        assert_batches(&of);
        assert_passes(&of);
        $($more(&of);)*
    }};
}

#[test]
fn numbers_of_every_type() {
    macro_rules! each {
        ($($T:ty)*) => {$( assert_arithmetic(&|n: u8| num_traits::cast::<u8, $T>(n).unwrap()); )*};
    }
    each!(i64 u8);
    #[cfg(feature = "rayon")]
    each!(i8 i16 i32 u16 u32 u64);
    // what asks less of elements asks for their size alone
    assert_all!(u8::from);
    #[cfg(feature = "rayon")]
    assert_all!(u16::from);
    #[cfg(feature = "rayon")]
    assert_all!(f32::from, assert_arithmetic);
    assert_elementwise(&i32::from);
    assert_elementwise(&u8::from);
    assert_all!(f64::from, assert_arithmetic, assert_elementwise, assert_copies, assert_parallel);
    assert_all!(|n: u8| Complex::new(f64::from(n), 0.0), assert_arithmetic, assert_elementwise);
    let i = array![[Complex::new(0.0, 1.0)]];
    let i = i.batch::<Ix2>().unwrap();
    assert_eq!(i.matmul(&i), Ok(array![[Complex::new(-1.0, 0.0)]]), "nothing is conjugated");
}

#[test]
fn elements_that_are_no_numbers() {
    /// Of any size, with padding.
    #[derive(Clone, Debug, PartialEq)]
    enum Odd {
        Small(u8),
        Large([u64; 9]),
    }
    assert_all!(|n: u8| n > 2);
    assert_all!(|n: u8| n.to_string(), assert_copies, assert_parallel);
    assert_all!(|n: u8| if n < 3 { Odd::Small(n) } else { Odd::Large([n.into(); 9]) });
    assert_all!(Rc::new);
    assert_views(&Cell::new);
    assert_batches(&Cell::new);
}

#[test]
fn elements_without_size() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(64))]
    struct Wide;
    assert_all!(|_: u8| (), assert_copies, assert_parallel);
    assert_all!(|_: u8| Wide);
}

#[test]
fn elements_that_cannot_be_cloned() {
    #[derive(Debug, PartialEq)]
    struct Alone(u8);
    assert_views(&Alone);
    assert_batches(&Alone);
    let shared = Rc::new(Cell::new(1));
    let cells = array![shared.clone()];
    cells.broadcast_to([3]).unwrap()[2].set(7);
    assert_eq!((shared.get(), Rc::strong_count(&shared)), (7, 2), "a view copies nothing");
}

/// In bytes, on 64-bit machines: what a call returns by value. An error takes no room of its own.
#[cfg(target_pointer_width = "64")]
#[test]
fn results_are_small() {
    macro_rules! sizes {
        ($($T:ty = $size:literal)*) => {$(
            assert!(size_of::<$T>() <= $size, "{} has {} bytes", stringify!($T), size_of::<$T>());
        )*};
    }
    type Of<T> = Result<T, BroadcastError>;
    sizes! {
        BroadcastError = 8
        Option<BroadcastError> = 8
        Of<()> = 8
        Of<Vec<usize>> = 24
        Of<ArrayView<'static, f64, Ix0>> = 16
        Of<ArrayView1<'static, f64>> = 32
        Of<ArrayView2<'static, f64>> = 48
        Of<ArrayView<'static, f64, Ix6>> = 112
        Of<ArrayViewD<'static, f64>> = 96
        Of<(ArrayView2<'static, f64>, ArrayView2<'static, f64>)> = 80
        Of<Array2<f64>> = 80
        Batch<'static, f64, Ix3, Ix1> = 64
        Option<Batch<'static, f64, Ix3, Ix1>> = 64
        Of<Batch<'static, f64, Ix3, Ix1>> = 64
        Batch<'static, f64, IxDyn, IxDyn> = 96
        Signature<'static> = 32
        Option<Signature<'static>> = 32
        AxisSet = 24
        Option<AxisSet> = 24
        Of<AxisSet> = 24
        Dim = 24
        Of<Dim> = 24
        PartialShape = 24
        Option<PartialShape> = 24
        Of<PartialShape> = 24
        Check = 56
        Decision = 24
        Plan = 96
        Of<Plan> = 96
    }
}
