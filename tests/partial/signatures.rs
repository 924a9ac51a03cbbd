//! Signatures on partial shapes, against `resolve` on all real shapes.

use super::names::dims;
use super::oracle::{covers, worlds};
use super::p;
use ndarray_broadcast::Signature;
use ndarray_broadcast::partial::{Decision, Dim, PartialShape};
use proptest::collection::vec;
use proptest::prelude::*;

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

fn covered(shape: &PartialShape, names: [usize; 2], sizes: &[usize]) -> bool {
    let dims = shape.dims().unwrap();
    dims.len() == sizes.len() && dims.iter().zip(sizes).all(|(dim, &size)| covers(dim, names, size))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

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
        match signature.decide(&operands) {
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
            prop_assert!(covered(&inferred.batch, *names, &resolved.batch), "{} of {:?}: {}", text, shapes, &inferred.batch);
            for (shape, sizes) in inferred.results.iter().zip(&resolved.results) {
                prop_assert!(covered(shape, *names, sizes), "{} of {:?}: {}", text, shapes, shape);
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
    assert_eq!(scale.decide(&[p("*"), p("1xn")]), Decision::Always);
    assert_eq!(Signature::literal("()->()").decide(&[p("*")]), Decision::Always);
    let checks = scale.decide(&[p("*"), p("2xn")]).checks().unwrap();
    assert!(
        checks.iter().all(|check| check.holds(&[&[5, 1][..], &[2, 7]]) && !check.holds(&[&[3][..], &[2, 7]]))
    );
    let words = |shapes: &[PartialShape]| scale.infer(shapes).unwrap_err().to_string();
    assert_eq!(
        words(&[p("*"), p("3"), p("2x4")]),
        "cannot apply (),(n)->(n) to * (base 0), 3 (base 1) and 2x4 (base 0): the number of shapes is 3, expected 2",
    );
    assert!(matches!(matmul.decide(&[p("*"), p("3")]), Decision::Never(_)));
    assert!(matches!(matmul.decide(&[p("*")]), Decision::Never(_)));
    assert!(matches!(
        Signature::literal("(n),(n),(n)->()").decide(&[p("3"), p("*"), p("4")]),
        Decision::Never(_)
    ));
}

#[test]
fn messages() {
    let matmul = Signature::literal("(m,n),(n,p)->(m,p)");
    let words = |signature: &Signature<'_>, shapes: &[&str]| {
        signature.infer(&shapes.iter().map(|text| p(text)).collect::<Vec<_>>()).unwrap_err().to_string()
    };
    assert_eq!(
        words(&matmul, &["nx?x3"]),
        "cannot apply (m,n),(n,p)->(m,p) to nx?x3 (base 2): the number of shapes is 1, expected 2",
    );
    assert_eq!(
        words(&matmul, &["nx?x3", "3"]),
        "cannot apply (m,n),(n,p)->(m,p) to nx?x3 (base 2) and 3 (base 1): the base of operand 1 has 1 axis, expected 2",
    );
    assert_eq!(
        words(&Signature::literal("(3),(n)->(n)"), &["?x4..5", "2"]),
        "cannot apply (3),(n)->(n) to ?x4..5 (base 1) and 2 (base 1): \
         base axis 0 of operand 0 has size 4..5, expected 3",
    );
    assert_eq!(
        words(&matmul, &["2x?x3", "4x3x?"]),
        "cannot broadcast the batches of 2x?x3 (base 2) and 4x3x? (base 2): \
         axis 0 has sizes 2 and 4 (operands 0 and 1), expected equal sizes or 1",
    );
    // a name of the bases has a size that the batches contradict
    assert_eq!(
        words(&matmul, &["kx?xk", "4x3x?"]),
        "cannot broadcast the batches of kx?xk (base 2) and 4x3x? (base 2): \
         axis 0 has sizes 3 and 4 (operands 0 and 1), expected equal sizes or 1",
    );
    assert_eq!(
        format!("{:#}", matmul.infer(&[p("nx?x3"), p("4x?")]).unwrap_err()),
        "\
cannot apply (m,n),(n,p)->(m,p) to nx?x3 (base 2) and 4x? (base 2)
  (n; ?, 3)
  ( ; 4, ?)
      ^  ^ n is 3 at base axis 1 of operand 0 and 4 at base axis 0 of operand 1",
    );
}
