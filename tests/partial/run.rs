//! Infer, then run: what an operation makes of arrays is what was inferred of their shapes.

use super::names::dims;
use super::plan::described;
use super::{all, p};
use common::Said;
use common::oracle::{covers, covers_all, worlds};
use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, IxDyn};
use ndarray_broadcast::partial::{
    Decision, Dim, Names, PartialShape, ShapeOp, infer_axes, infer_batch, infer_in_dim, infer_ranks,
    infer_shapes, infer_sum, infer_sum_in_dim, infer_sum_to, infer_target,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    BroadcastError, ErrorKind, Signature, batch_broadcast, broadcast_arrays, broadcast_map, fused, keepdims,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A shape, and a description of it.
type Described = (Vec<usize>, PartialShape);

fn zeros(shape: &Described) -> ArrayD<f32> {
    ArrayD::zeros(IxDyn(&shape.0))
}

/// Checks what is inferred of the described shapes and of the known ones against the result of the operation.
#[allow(clippy::needless_pass_by_value, reason = "calls stay on one line")]
fn agree(
    inferred: &dyn Fn(&[PartialShape]) -> Result<PartialShape, BroadcastError>,
    shapes: &[Described],
    ran: Result<Vec<usize>, BroadcastError>,
) -> Result<(), TestCaseError> {
    let described: Vec<_> = shapes.iter().map(|(_, shape)| shape.clone()).collect();
    let known: Vec<_> = shapes.iter().map(|(sizes, _)| PartialShape::from(sizes.clone())).collect();
    match (&ran, inferred(&known)) {
        (Ok(sizes), exact) => {
            prop_assert_eq!(exact, Ok(PartialShape::from(sizes.clone())));
            let inferred = inferred(&described);
            prop_assert!(inferred.is_ok(), "{:?}", inferred);
            let inferred = inferred.unwrap();
            // the names stand for 3 and 4 in all descriptions
            prop_assert!(covers_all(&inferred, [3, 4], sizes), "{} is not {:?}", inferred, sizes);
        }
        (Err(error), Err(exact)) => {
            prop_assert_eq!(error.kind(), exact.kind(), "{} and {}", error, exact);
            // of several placed axes, inference reports the first of the result, and the view the first of the array
            if !error.operation().contains(" with its axes at ") {
                prop_assert_eq!((error.axis(), error.sizes()), (exact.axis(), exact.sizes()));
            }
        }
        (Err(error), exact) => prop_assert!(false, "{} and {:?}", error, exact),
    }
    Ok(())
}

/// The only result of an operation.
fn single(operation: &ShapeOp<'_>, shapes: &[PartialShape]) -> Result<PartialShape, BroadcastError> {
    Ok(Names::new().infer("it", operation, shapes)?.results.swap_remove(0))
}

fn shape_of<T>(result: Result<ArrayD<T>, BroadcastError>) -> Result<Vec<usize>, BroadcastError> {
    result.map(|array| array.shape().to_vec())
}

fn view_of(result: Result<ArrayViewD<'_, f32>, BroadcastError>) -> Result<Vec<usize>, BroadcastError> {
    result.map(|view| view.shape().to_vec())
}

proptest! {
    #![proptest_config(common::cases(1500))]

    #[test]
    fn views(a in described(), b in described(), target in vec(-2..5_isize, 0..4), axes in vec(-4..4_isize, 0..4)) {
        let (x, y) = (zeros(&a), zeros(&b));
        let (x, y) = (&x, &y);
        let both = [a.clone(), b.clone()];
        agree(&|s| infer_target(&s[0], &target), &both[..1], view_of(x.broadcast_to(&target)))?;
        agree(&|s| infer_axes(&s[0], &s[1], &axes), &both, view_of(x.broadcast_axes(y.raw_dim(), &axes)))?;
        agree(&|s| infer_in_dim(&s[0], &s[1], &axes), &both, view_of(x.broadcast_in_dim(y.raw_dim(), &axes)))?;
        agree(&|s| infer_shapes(s), &both, broadcast_arrays([x, y]).map(|[x, _]| x.shape().to_vec()))?;
        agree(&|s| infer_shapes(s), &both, x.broadcast_to_match(y).map(|(x, _)| x.shape().to_vec()))?;
        agree(&|s| infer_shapes(s), &both, shape_of(broadcast_map((x, y), |x, y| x + y)))?;
        let (x, y) = x.expand_to_match_ranks(y);
        agree(&|s| Ok(infer_ranks(s).swap_remove(0)), &both, Ok(x.shape().to_vec()))?;
        agree(&|s| Ok(infer_ranks(s).swap_remove(1)), &both, Ok(y.shape().to_vec()))?;
    }

    #[test]
    fn reductions(a in described(), b in described(), c in described(), axes in vec(-4..4_isize, 0..4)) {
        let (x, y, to) = (zeros(&a), zeros(&b), zeros(&c).raw_dim());
        let (one, all) = ([a.clone(), c.clone()], [a, b, c]);
        agree(&|s| infer_sum(&s[0], &axes), &one[..1], shape_of(x.sum_axes(&axes)))?;
        agree(&|s| infer_sum(&s[0], &axes), &one[..1], shape_of(x.reduce_axes(&axes, 0.0, |x, y| x + y)))?;
        agree(&|s| infer_sum(&s[0], keepdims(&axes)), &one[..1], shape_of(x.sum_axes(keepdims(&axes))))?;
        if !x.is_empty() {
            agree(&|s| infer_sum(&s[0], &axes), &one[..1], shape_of(x.mean_axes(&axes)))?;
            agree(&|s| infer_sum(&s[0], &axes), &one[..1], shape_of(x.max_axes(&axes)))?;
            agree(&|s| infer_sum(&s[0], keepdims(&axes)), &one[..1], shape_of(x.min_axes(keepdims(&axes))))?;
        }
        agree(&|s| infer_sum_to(&s[0], &s[1]), &one, shape_of(x.sum_to(&to)))?;
        agree(&|s| infer_sum_in_dim(&s[0], &s[1], &axes), &one, shape_of(x.sum_in_dim(&to, &axes)))?;
        // the joint shape, then its sum: where that fails, the error is about one step
        let ran = shape_of(fused((&x, &y), |x, y| x * y).sum_to(&to));
        let inferred = |s: &[PartialShape]| infer_sum_to(&infer_shapes(&s[..2])?, &s[2]);
        match ran {
            Ok(_) => agree(&inferred, &all, ran)?,
            Err(_) => prop_assert!(inferred(&all.map(|(sizes, _)| sizes.into())).is_err()),
        }
    }

    #[test]
    fn batches(a in described(), b in described(), base in [0..3_usize, 0..3], to in described()) {
        let (x, y) = (zeros(&a), zeros(&b));
        let both = [a, b];
        let (Ok(x), Ok(y)) = (x.batch_dyn(base[0]), y.batch_dyn(base[1])) else {
            let known = both.map(|(sizes, _)| PartialShape::from(sizes));
            let [x, y] = known;
            prop_assert!(infer_batch(&[(x, base[0]), (y, base[1])]).is_err());
            return Ok(());
        };
        let with_base = |s: &[PartialShape]| [(s[0].clone(), base[0]), (s[1].clone(), base[1])];
        agree(
            &|s| infer_batch(&with_base(s)),
            &both,
            batch_broadcast(&x, &y).map(|(x, _)| x.batch_shape().to_vec()),
        )?;
        agree(&|s| single(&ShapeOp::BatchMap(base.to_vec()), s), &both, shape_of(x.add(&y)))?;
        for text in ["(m,n),(n)->(m)", "(n),(n)->()", "(m,n),(n,p)->(m,p)", "(),()->()"] {
            let signature = Signature::new(text).unwrap();
            let f = |_: ArrayViewD<'_, f32>, _: ArrayViewD<'_, f32>, _: ArrayViewMutD<'_, f32>| ();
            let counts: Vec<_> = text.split("->").next().unwrap().split("),").map(|base| {
                base.chars().filter(|c| c.is_alphabetic()).count()
            }).collect();
            if counts == base {
                let ran: Result<ArrayD<f32>, _> = x.zip_map(&y, signature, f);
                agree(&|s| Ok(signature.infer(s)?.results.swap_remove(0)), &both, shape_of(ran))?;
            }
        }
        let target = zeros(&to).raw_dim();
        let sums = [both[0].clone(), to];
        agree(
            &|s| single(&ShapeOp::SumBatchTo(base[0]), s),
            &sums,
            shape_of(x.sum_batch_to(&target)),
        )?;
    }
}

/// What one axis of the target says of a name holds at all its axes.
#[test]
fn sums_with_names() {
    assert_eq!(infer_sum_to(&p("5x0..3"), &p("nxn")).unwrap(), p("1x1")); // 5 is not in 0..3
    assert_eq!(infer_sum_to(&p("0..3x2..5"), &p("nxn")).unwrap(), p("n:1..3xn:1..3"));
    assert!(infer_sum_to(&p("2..3x4..5xn"), &p("nxnx2..5")).is_err());
    assert!(infer_sum_to(&p("0xn"), &p("nx3")).is_err());
    // the result is the target, whatever is known of the array
    assert_eq!(infer_sum_in_dim(&p("*"), &p("3x?"), [2, 0]), Ok(p("3x?")));
    let error = infer_sum_to(&p("n:2..3"), &p("n:5..")).unwrap_err();
    assert_eq!(error.kind(), ndarray_broadcast::ErrorKind::DeclaredName);
}

const TOP: usize = 5;

const SIGNATURES: [&str; 12] = [
    "(m,n),(n)->(m)",
    "(m,n),(n,p)->(m,p)",
    "(m?,n),(n,p?)->(m?,p?)",
    "(n),(n)->()",
    "(n,n),(n)->(n),(n)",
    "(3),(3)->(3)",
    "(n,3),(2)->(n,2)",
    "(),(n)->(n)",
    "(i),(j)->(j,i)",
    "(n),(m)->(n,m,4)",
    "(n?,m?),(m?)->(n?)",
    "(n),(n)->(n,q)",
];

fn operands(axes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<PartialShape>> {
    vec(vec(dims(), axes).prop_map(PartialShape::from), 2)
}

proptest! {
    #![proptest_config(common::cases(1500))]

    /// Never, always and the checks are what `resolve` says of all shapes; no result lies outside the inferred ones.
    #[test]
    fn as_resolved(text in proptest::sample::select(&SIGNATURES[..]), operands in operands(0..=3)) {
        let signature = Signature::new(text).unwrap();
        let worlds = worlds(&operands, TOP);
        prop_assume!(worlds.len() < 30_000);
        let resolved: Vec<_> = worlds
            .iter()
            .map(|(_, shapes)| signature.resolve(&shapes.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            .collect();
        let fits = resolved.iter().filter(|result| result.is_ok()).count();
        let inferred = signature.infer(&operands);
        match Decision::from(signature.infer(&operands)) {
            Decision::Never(error) => {
                prop_assert_eq!(fits, 0, "{}", &error);
                let picture = format!("{error:#}");
                prop_assert!(picture.starts_with("cannot "));
                prop_assert_eq!(inferred, Err(error));
                return Ok(());
            }
            Decision::Always => prop_assert_eq!(fits, worlds.len(), "{} of {:?}", text, &operands),
            Decision::Depends(checks) => {
                prop_assert!(fits > 0 && fits < worlds.len(), "{} of {:?}: {:?}", text, &operands, checks);
            }
        }
        let inferred = inferred.unwrap();
        for ((names, shapes), resolved) in worlds.iter().zip(resolved) {
            let hold = inferred.checks.iter().all(|check| check.holds(shapes));
            prop_assert_eq!(hold, resolved.is_ok(), "{} of {:?}: {:?}", text, shapes, &inferred.checks);
            let Ok(resolved) = resolved else { continue };
            prop_assert!(covers_all(&inferred.batch, *names, &resolved.batch), "{} of {:?}: {}", text, shapes, &inferred.batch);
            for (shape, sizes) in inferred.results.iter().zip(&resolved.results) {
                prop_assert!(covers_all(shape, *names, sizes), "{} of {:?}: {}", text, shapes, shape);
            }
            prop_assert_eq!(inferred.sizes.len(), resolved.sizes.len());
            for ((name, dim), (other, size)) in inferred.sizes.iter().zip(resolved.sizes) {
                prop_assert!(*name == other && covers(dim, *names, size), "{} {} {}", name, dim, size);
            }
        }
        for (base, result) in inferred.bases.iter().zip(&inferred.results) {
            prop_assert_eq!(&inferred.batch.with_base(base), result);
        }
    }

    /// On known shapes the results are those of `resolve`, and so are the errors, but for how shapes are written.
    #[test]
    fn known_shapes(text in proptest::sample::select(&SIGNATURES[..]), shapes in vec(vec(0..4_usize, 0..4), 1..4)) {
        let signature = Signature::new(text).unwrap();
        let real = signature.resolve(&shapes.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let partial: Vec<PartialShape> = shapes.into_iter().map(PartialShape::from).collect();
        match (real, signature.infer(&partial)) {
            (Ok(real), Ok(inferred)) => {
                prop_assert_eq!(inferred.batch, PartialShape::from(real.batch));
                let results: Vec<_> = real.results.into_iter().map(PartialShape::from).collect();
                prop_assert_eq!((inferred.results, inferred.checks), (results, vec![]));
                let sizes: Vec<_> = real.sizes.into_iter().map(|(name, size)| (name, Dim::Known(size))).collect();
                prop_assert_eq!(inferred.sizes, sizes);
            }
            (Err(real), Err(inferred)) => {
                prop_assert_eq!(real.kind(), inferred.kind());
                prop_assert_eq!((real.axis(), real.sizes()), (inferred.axis(), inferred.sizes()));
                if real.kind() != ndarray_broadcast::ErrorKind::Incompatible {
                    let tail = |error: &ndarray_broadcast::BroadcastError| {
                        error.to_string()["cannot ".len() + error.operation().len()..].to_string()
                    };
                    prop_assert_eq!(tail(&real), tail(&inferred));
                }
            }
            (real, inferred) => prop_assert!(false, "{:?} and {:?}", real, inferred),
        }
    }
}

/// `*` leaves open what it may bring, and the one check that remains says all.
#[test]
fn unranked() {
    let matmul = Signature::literal("(m,n),(n,p)->(m,p)");
    let shapes = matmul.infer(&[p("*"), p("3x4")]).unwrap();
    assert_eq!((shapes.batch, shapes.bases), (p("*"), vec![p("?x4")]));
    assert_eq!(shapes.sizes, [("m", Dim::Unknown), ("n", Dim::Known(3)), ("p", Dim::Known(4))]);
    assert_eq!(shapes.results, [p("*")]);
    let [check] = &shapes.checks[..] else { panic!("one check") };
    assert_eq!(check.to_string(), "(m,n),(n,p)->(m,p) applies to all operands");
    assert!(check.holds(&[&[7, 2, 3][..], &[3, 4]]) && !check.holds(&[&[2, 2][..], &[3, 4]]));
    assert!(!check.holds(&[[2, 3]]));
    let numpy = Signature::literal("(m?,n),(n,p?)->(m?,p?)");
    let shapes = numpy.infer(&[p("*"), p("3x4")]).unwrap();
    assert_eq!((shapes.bases, shapes.results), (vec![p("*")], vec![p("*")]));
    let shapes = numpy.infer(&[p("n"), p("*")]).unwrap();
    assert_eq!((shapes.bases, shapes.sizes.len(), shapes.checks.len()), (vec![p("*")], 0, 1));
    let scale = Signature::literal("(),(n)->(n)");
    assert_eq!(Decision::from(scale.infer(&[p("*"), p("1xn")])), Decision::Always);
    assert_eq!(Decision::from(Signature::literal("()->()").infer(&[p("*")])), Decision::Always);
    let checks = Decision::from(scale.infer(&[p("*"), p("2xn")])).checks().unwrap();
    assert!(
        checks.iter().all(|check| check.holds(&[&[5, 1][..], &[2, 7]]) && !check.holds(&[&[3][..], &[2, 7]]))
    );
    let too_many = scale.infer(&[p("*"), p("3"), p("2x4")]);
    assert_eq!(too_many.unwrap_err().kind(), ErrorKind::OperandCount);
    assert!(matches!(Decision::from(matmul.infer(&[p("*"), p("3")])), Decision::Never(_)));
    assert!(matches!(Decision::from(matmul.infer(&[p("*")])), Decision::Never(_)));
    assert!(matches!(
        Decision::from(Signature::literal("(n),(n),(n)->()").infer(&[p("3"), p("*"), p("4")])),
        Decision::Never(_)
    ));
}

/// The name of a size outlives that of the signature's axis; axes without a name get none.
#[test]
fn symbols_and_names() {
    let bases =
        |text: &'static str, shapes: &[&str]| Signature::literal(text).infer(&all(shapes)).unwrap().bases;
    assert_eq!(bases("(n),(n)->(n)", &["?", "2.."]), [p("2..")]);
    assert_eq!(bases("(n),(n)->(n)", &["2..5", "k"]), [p("k:2..5")]);
    assert_eq!(bases("(k),(m)->(k,m)", &["m", "k"]), [p("mxk")]);
    assert_eq!(bases("(n),(n),(m)->(n,m)", &["a", "b", "b:3.."]), [p("a:3..xa:3..")]);
    assert_eq!(bases("(3),(3)->(3)", &["a", "?"]), [p("3")]);
}

#[test]
fn messages() {
    let mut said = Said::by("partial: messages");
    let matmul = Signature::literal("(m,n),(n,p)->(m,p)");
    let three = Signature::literal("(3),(n)->(n)");
    for (kind, signature, shapes) in [
        (ErrorKind::OperandCount, matmul, &["nx?x3"][..]),
        (ErrorKind::BaseAxes, matmul, &["nx?x3", "3"]),
        (ErrorKind::BaseSize, three, &["?x4..5", "2"]),
        (ErrorKind::Incompatible, matmul, &["2x?x3", "4x3x?"]),
        // a name of the bases has a size that the batches contradict
        (ErrorKind::Incompatible, matmul, &["kx?xk", "4x3x?"]),
        (ErrorKind::BaseSymbol, matmul, &["nx?x3", "4x?"]),
    ] {
        said.error(kind, signature.infer(&all(shapes)));
    }
}
