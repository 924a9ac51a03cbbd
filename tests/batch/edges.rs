//! Batches at their edges, every error, and what costs no memory.
#![allow(clippy::many_single_char_names, reason = "operands, and views of them")]
#![allow(clippy::needless_pass_by_value, reason = "what the crate calls closures with")]
#![allow(clippy::float_cmp, reason = "sums of small whole numbers are exact")]

use common::{Said, Strided, refused};
use ndarray::{
    Array, Array0, Array1, Array2, Array3, ArrayD, ArrayView0, ArrayView1, ArrayView2, ArrayViewD,
    ArrayViewMut0, ArrayViewMut1, ArrayViewMutD, Ix0, Ix1, Ix2, Ix3, array,
};
use ndarray_broadcast::ErrorKind::{
    BaseAxes, BaseSize, BaseSymbol, Incompatible, InvalidSize, InvalidText, OperandCount, Overflow,
    PlaceholderOnNewAxis, ResultCount, TooFewAxes, TooLarge, TooManyAxes, UnknownSymbol,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Batch, Signature, base_op, batch_broadcast};

fn zeros(shape: &[usize]) -> ArrayD<f64> {
    ArrayD::zeros(shape)
}

fn dynamic(array: &ArrayD<f64>, base: usize) -> Batch<'_, f64, ndarray::IxDyn, ndarray::IxDyn> {
    array.batch_dyn(base).expect("a base")
}

fn add_to(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, mut out: ArrayViewMut1<'_, f64>) {
    for i in 0..out.len() {
        out[i] = a[i] + b[i];
    }
}

/// For closures with a result of one axis that are never called.
fn never_two(_: ArrayViewD<'_, f64>, _: ArrayViewD<'_, f64>, _: ArrayViewMut1<'_, f64>) {
    panic!("a closure of a refused call");
}

#[test]
fn incompatible() {
    let mut said = Said::by("batch: incompatible");
    let (c, e, s) = (zeros(&[2, 6, 6]), zeros(&[3, 6]), zeros(&[5, 1]));
    let (x, y, z) = (dynamic(&c, 2), dynamic(&e, 1), dynamic(&s, 0));
    let together = said.error(Incompatible, batch_broadcast(&x, &y));
    for other in [
        x.zip_map(&y, [6], never_two).map(drop),
        x.zip_map_into(&y, &mut zeros(&[3, 6]), never_two),
        x.matvec(&y).map(drop),
        x.apply_into(base_op::MatVec, &y, &mut zeros(&[3, 6])),
        x.par().apply(base_op::MatVec, &y).map(drop),
        x.par().zip_map(&y, [6], never_two).map(drop),
    ] {
        assert_eq!(other, Err(together.clone()));
    }
    said.error(Incompatible, z.zip_map((&x, &y), [6], |_, _, _, _: ArrayViewMut1<'_, f64>| ()));
    said.error(Incompatible, x.add(&dynamic(&zeros(&[2, 5]), 1)));
    said.error(Incompatible, x.expand_batch([4, 3]));
    let vector = zeros(&[6]);
    said.error(Incompatible, x.apply_into(base_op::MatVec, &dynamic(&vector, 1), &mut zeros(&[4, 6])));
    // the first operand goes to that output
    let one = zeros(&[1, 6, 6]);
    let error = refused(dynamic(&one, 2).apply_into(base_op::MatVec, &y, &mut zeros(&[4, 6])));
    assert_eq!((error.axis(), error.operands()), (Some(0), Some([1, 2])));
    assert_eq!((error.sizes().concat(), error.shapes().pop()), ("34".into(), Some("(4; 6)".into())));
    said.error(Incompatible, x.sum_batch_to([3]));
}

#[test]
fn numbers_of_axes() {
    let mut said = Said::by("batch: numbers of axes");
    let c = zeros(&[2, 6, 6]);
    let x = dynamic(&c, 2);
    said.error(TooFewAxes, c.batch_dyn(4));
    said.error(TooFewAxes, zeros(&[]).batch::<Ix1>());
    said.error(TooFewAxes, dynamic(&zeros(&[4, 2, 6]), 1).expand_batch(2));
    said.error(TooFewAxes, x.zip_map_into(&x, &mut zeros(&[6]), never_two));
    said.error(TooManyAxes, x.sum_batch_to([1, 2]));
    said.error(PlaceholderOnNewAxis, x.expand_batch([-1, 2]));
    said.error(BaseAxes, x.inner(&x));
    let matmul = Signature::literal("(m,n),(n,p)->(m,p)");
    said.error(BaseAxes, x.zip_map(&x, matmul, never_two));
    said.error(
        OperandCount,
        x.zip_map((), Signature::literal("(m,n),(n)->(m)"), |_, _: ArrayViewMut1<'_, f64>| ()),
    );
}

#[test]
fn a_closure_writes_one_result() {
    let mut said = Said::by("batch: a closure writes one result");
    let (x, y) = (zeros(&[7, 4]), zeros(&[3]));
    let (x, y) = (dynamic(&x, 1), dynamic(&y, 1));
    said.error(
        ResultCount,
        x.zip_map((), Signature::literal("(n)->(n),()"), |_, _: ArrayViewMut1<'_, f64>| ()),
    );
    // a result that no operand gives the size of
    let two = Signature::literal("(n),(n)->(n),(m)");
    let error = said.error(ResultCount, x.zip_map(&x, two, never_two));
    assert_eq!(refused(x.par().zip_map(&x, two, never_two)), error);
    let three = Signature::literal("(n),(n),(m)->(n),(m),()");
    said.error(ResultCount, x.zip_map((&x, &y), three, |_, _, _, _: ArrayViewMut1<'_, f64>| ()));
    // after the number of operands, before the bases and the batches
    said.error(OperandCount, x.zip_map((), two, |_, _: ArrayViewMut1<'_, f64>| ()));
    said.error(ResultCount, x.zip_map(&y, two, never_two));
    said.error(UnknownSymbol, two.resolve(&[&[7, 4], &[7, 4]]));
}

#[test]
fn sizes_of_bases() {
    let mut said = Said::by("batch: sizes of bases");
    let (x, y) = (zeros(&[7, 4]), zeros(&[3]));
    let (x, y) = (dynamic(&x, 1), dynamic(&y, 1));
    said.error(BaseSize, x.zip_map(&y, Signature::literal("(3),(3)->(3)"), never_two));
    said.error(BaseSymbol, x.inner(&y));
    let (rows, columns) = (zeros(&[2, 3]), zeros(&[2, 5]));
    let rows = dynamic(&rows, 2);
    assert_eq!(said.error(BaseSymbol, rows.matmul(&dynamic(&columns, 2))).axis(), Some(1));
    said.error(UnknownSymbol, x.zip_map(&y, Signature::literal("(m),(n)->(p)"), never_two));
    let (vector, mut fives) = (zeros(&[4]), zeros(&[7, 5]));
    said.error(BaseSize, x.apply_into(base_op::Add, &dynamic(&vector, 1), &mut fives));
    said.error(BaseSize, rows.apply_into(base_op::Add, &rows, &mut zeros(&[7, 2, 5])));
    said.error(BaseSize, x.apply_into(base_op::Add, &x, &mut fives));
    said.error(BaseSize, x.add_sum_batch_to(&mut zeros(&[1])));
    said.error(InvalidSize, x.zip_map((), (3, -1), |_, _: ndarray::ArrayViewMut2<'_, f64>| ()));
}

#[test]
fn huge_shapes() {
    const HUGE: usize = 1 << 40;
    let mut said = Said::by("batch: huge shapes");
    let (one, none) = (array![0_u8], Array1::<u8>::zeros(0));
    let (x, y) = (one.broadcast((HUGE, 1)).expect("a view"), none.broadcast((1, HUGE, 0)).expect("a view"));
    let (x, y) = (x.batch::<Ix0>().expect("a base"), y.batch::<Ix1>().expect("a base"));
    said.error(Overflow, batch_broadcast(&x, &y));
    said.error(Overflow, x.expand_batch([-1, 1 << 30]));
    said.error(TooLarge, x.zip_map((), [1 << 20], |_, _: ArrayViewMut1<'_, u64>| ()));
}

#[test]
fn texts_of_signatures() {
    let mut said = Said::by("batch: texts of signatures");
    for (text, position) in [
        ("", 0),
        ("m->n", 0),
        ("(m", 2),
        ("(m,)->()", 3),
        ("(,m)->()", 1),
        ("(m n)->()", 3),
        ("(m)", 3),
        ("(m)->", 5),
        ("(m)->(m)->(m)", 8),
        ("(m)(n)->()", 3),
        ("(m)->(m),", 9),
        ("(0)->()", 1),
        ("(3x)->()", 2),
        ("(99999999999999999999)->()", 1),
        ("(m+n)->()", 2),
        ("(µ)->()", 1),
        ("(m)-(n)", 3),
    ] {
        assert_eq!(said.error(InvalidText, Signature::new(text)).position(), Some(position));
    }
    for (text, operands, results) in [
        ("()->()", 1, 1),
        (" ( m , n ) , (n) -> (m) ", 2, 1),
        ("(m?,3),(_a1)->(),(m?)", 2, 2),
        ("(9223372036854775807)->()", 1, 1),
    ] {
        let signature = Signature::new(text).expect("a signature");
        assert_eq!(
            (signature.operands(), signature.results(), signature.to_string()),
            (operands, results, text.into())
        );
    }
    let two = Signature::literal("(m,n)->(m),(n)").resolve(&[&[5, 2, 3]]).expect("shapes");
    assert_eq!(two.results, [[5, 2], [5, 3]]);
}

#[test]
fn names_of_signatures() {
    let resolve = |text, shapes: &[&[usize]]| Signature::literal(text).resolve(shapes).expect("shapes");
    // numbers are no names, and each name comes once, where it stands first
    assert_eq!(resolve("(3,n),(n),(m,n)->()", &[&[3, 4], &[4], &[2, 4]]).sizes, [("n", 4), ("m", 2)]);
    // no more names are missing than axes, the first ones first, and then everywhere
    assert_eq!(resolve("(a?,b?,c?),(b?)->(a?,c?)", &[&[5, 6], &[5]]).results, [[6]]);
    assert_eq!(resolve("(a?,b?,c?),(b?)->(a?,c?)", &[&[6], &[7]]).sizes, [("c", 6)]);
    assert_eq!(resolve("(a?,b?,c?),(b?)->(a?,c?)", &[&[6], &[7]]).batch, [7]);
    // a name that stands twice counts twice
    assert_eq!(resolve("(n?,n?,m?)->(m?)", &[&[8]]).results, [[8]]);
}

#[test]
fn bases_that_run_backwards() {
    let a = Array::from_shape_fn((2, 3, 4), |(i, j, k)| i * 12 + j * 4 + k);
    let turned = a.slice(ndarray::s![.., ..;-2, ..;-1]);
    let copy = turned.batch::<ndarray::Ix2>().expect("a base").zip_map(
        (),
        turned.dim().1 * 4,
        |base, mut out: ArrayViewMut1<'_, usize>| {
            for (out, x) in out.iter_mut().zip(base.iter()) {
                *out = *x;
            }
        },
    );
    assert_eq!(copy.expect("a result").row(1), ndarray::array![23, 22, 21, 20, 15, 14, 13, 12]);
}

#[test]
fn nothing_and_one() {
    // no batch axes, no base axes
    let (a, b) = (array![1.0, 2.0], array![10.0, 20.0]);
    let whole: Array1<f64> =
        a.batch::<Ix1>().expect("a base").add(&b.batch::<Ix1>().expect("a base")).expect("a sum");
    let each: Array1<f64> =
        a.batch::<Ix0>().expect("a base").add(&b.batch::<Ix0>().expect("a base")).expect("a sum");
    assert_eq!((&whole, &each), (&array![11.0, 22.0], &array![11.0, 22.0]));
    let inner: Array0<f64> =
        a.batch::<Ix1>().expect("a base").inner(&b.batch::<Ix1>().expect("a base")).expect("a sum");
    assert_eq!(inner[()], 50.0);
    let scalar = ndarray::arr0(3.0);
    let scaled: Array1<f64> =
        scalar.batch::<Ix0>().expect("a base").mul(&b.batch::<Ix1>().expect("a base")).expect("a product");
    assert_eq!(scaled, array![30.0, 60.0]);
    // no batch elements: the closure is not called
    let (none, two) = (Array3::<f64>::zeros((0, 1, 2)), Array2::<f64>::zeros((4, 2)));
    let (x, y) = (none.batch::<Ix1>().expect("a base"), two.batch::<Ix1>().expect("a base"));
    let sums =
        x.zip_map(&y, 2, |_, _, _: ArrayViewMut1<'_, f64>| panic!("there is nothing")).expect("nothing");
    assert_eq!(sums.dim(), (0, 4, 2));
    assert_eq!(x.add(&y).expect("nothing").dim(), (0, 4, 2));
    assert_eq!(x.inner(&y).expect("nothing").dim(), (0, 4));
    // the sum over nothing is zero
    assert_eq!(x.sum_batch_to([1, 1]).expect("a sum"), Array3::<f64>::zeros((1, 1, 2)));
    // 0 with 5 is refused, 0 with 1 is not
    let five = Array2::<f64>::zeros((5, 2));
    let zero = Array2::<f64>::zeros((0, 2));
    let (five, zero) = (five.batch::<Ix1>().expect("a base"), zero.batch::<Ix1>().expect("a base"));
    assert_eq!(refused(five.add(&zero)).kind(), Incompatible);
    // empty bases: a call for each batch element; sums of no terms
    let (m, v) = (Array3::<f64>::zeros((3, 2, 0)), Array2::<f64>::zeros((3, 0)));
    let (m, v) = (m.batch::<Ix2>().expect("a base"), v.batch::<Ix1>().expect("a base"));
    assert_eq!(m.matvec(&v).expect("zeros"), Array2::<f64>::zeros((3, 2)));
    let mut calls = 0;
    let count = |a: ArrayView2<'_, f64>, b: ArrayView1<'_, f64>, mut out: ArrayViewMut0<'_, usize>| {
        calls += 1;
        out[()] = a.len() + b.len() + 1;
    };
    assert_eq!(m.zip_map(&v, (), count).expect("numbers"), array![1, 1, 1]);
    assert_eq!(calls, 3);
    let nothing =
        m.zip_map(&v, (2, 0), |_, _, out: ndarray::ArrayViewMut2<'_, f64>| assert_eq!(out.dim(), (2, 0)));
    assert_eq!(nothing.expect("empty bases").dim(), (3, 2, 0));
}

#[test]
fn bases_are_not_aligned_with_batches() {
    // (6; 6, 6) and (6; 6): whole shapes go together too, and mean something else
    let c = Strided::counted(&[6, 6, 6]).view().mapv(|x| x % 7 - 3);
    let e = Strided::counted(&[6, 6]).view().mapv(|x| x % 5 - 2);
    let (x, y) = (c.batch::<Ix2>().expect("a base"), e.batch::<Ix1>().expect("a base"));
    let sums = x.add(&y).expect("sums");
    for (index, &sum) in sums.indexed_iter() {
        assert_eq!(sum, c[[index[0], index[1], index[2]]] + e[[index[0], index[2]]]);
    }
    assert_ne!(sums, &c + &e);
    let three = array![[1, 2, 3]];
    assert!(x.matvec(&three.batch::<Ix1>().expect("a base")).is_err());
}

#[test]
fn an_error_leaves_the_result_alone() {
    let (a, b) = (array![[1.0, 2.0]], array![[1.0, 2.0, 3.0]]);
    let (x, y) = (a.batch::<Ix1>().expect("a base"), b.batch::<Ix1>().expect("a base"));
    let mut out = array![[7.0, 7.0]];
    assert!(x.apply_into(base_op::Mul, &y, &mut out).is_err());
    let mut few = array![7.0, 7.0];
    assert!(x.zip_map_into(&y, &mut few, add_to).is_err());
    assert_eq!(few, array![7.0, 7.0]);
    assert!(y.add_sum_batch_to(&mut out).is_err());
    assert_eq!(out, array![[7.0, 7.0]]);
    // more batch axes in the array than in the operands are fine
    let mut many = Array3::<f64>::zeros((2, 3, 2));
    x.zip_map_into(&x, &mut many, add_to).expect("sums");
    assert_eq!(many.sum(), 36.0);
    x.apply_into(base_op::Mul, &x, &mut many).expect("products");
    assert_eq!(many.sum(), 30.0);
}

#[test]
fn kinds_of_arrays_and_elements() {
    let words = array![["a", "b"], ["c", "d"]].mapv(String::from).into_shared();
    let batch = words.batch::<Ix1>().expect("a base");
    let joined: Array1<String> =
        batch.zip_map((), (), |x: ArrayView1<'_, String>, mut s| s[()] = x.to_vec().concat()).expect("words");
    assert_eq!(joined, array!["ab", "cd"]);
    let flags: Array2<bool> = batch
        .zip_map(&batch.expand_batch([2]).expect("the same"), [2], |x, y, mut out| {
            out.assign(&x.eq(&y).then(|| array![true, true]).expect("equal"));
        })
        .expect("flags");
    assert!(flags.iter().all(|&flag| flag));
    let mixed =
        array![2_u32, 3]
            .batch::<Ix0>()
            .expect("a base")
            .zip_map((), (), |x: ArrayView0<'_, u32>, mut y| y[()] = f64::from(x[()]));
    assert_eq!(mixed.expect("numbers"), array![2.0, 3.0]);
    // a reference, a slice of an array, more than 6 axes in all
    let deep = Array::<f32, _>::ones((1, 2, 1, 2, 1, 2));
    let (x, y) = (deep.batch::<Ix3>().expect("a base"), deep.batch::<Ix1>().expect("a base"));
    let (p, q) = batch_broadcast(&x, &y).expect("batches");
    assert_eq!((p.into_view().ndim(), q.into_view().ndim()), (8, 6));
    let sums = x.zip_map(&y, (1, 1, 1), |x, y, mut out| out[[0, 0, 0]] = x.sum() + y.sum()).expect("sums");
    assert_eq!(sums.into_dyn(), ArrayD::from_elem(vec![1, 2, 1, 2, 1, 1, 1, 1], 6.0_f32));
    let many = (0..7).fold(ArrayD::<i32>::ones(vec![]), |array, _| array.insert_axis(ndarray::Axis(0)));
    let copied = many.batch_dyn(6).expect("a base").zip_map(
        (),
        vec![1; 6],
        |x: ArrayViewD<'_, i32>, mut out: ArrayViewMutD<'_, i32>| out.assign(&x),
    );
    assert_eq!(copied.expect("a copy"), many);
}

#[test]
#[should_panic(expected = "cannot transpose a base of less than two axes")]
fn a_vector_has_no_transpose() {
    let _ = zeros(&[2, 3]).batch_dyn(1).expect("a base").transpose();
}
