//! From partial shapes to real ones.

use super::p;
use common::Said;
use common::oracle::{agrees, joint_shape, product, worlds};
use ndarray_broadcast::partial::{
    Decision, Dim, PartialShape, Plan, ResultRule, decide, decide_result, infer_shapes, verify,
};
use ndarray_broadcast::{ErrorKind, broadcast_shapes};
use proptest::collection::vec;
use proptest::prelude::*;

fn small() -> impl Strategy<Value = Dim> {
    prop_oneof![
        4 => (0..4_usize).prop_map(Dim::Known),
        2 => Just(Dim::Known(1)),
        2 => Just(Dim::Unknown),
        2 => (0..4_usize, 1..4_usize).prop_map(|(lo, len)| Dim::range(lo..=lo + len).unwrap()),
        2 => prop_oneof![Just("n"), Just("m")].prop_map(|name| Dim::name(name).unwrap()),
    ]
}

fn partial(axes: usize) -> impl Strategy<Value = PartialShape> {
    vec(small(), 0..=axes).prop_map(PartialShape::from)
}

/// A result, whose names may have a range.
fn declared(axes: usize) -> impl Strategy<Value = PartialShape> {
    let ranged = (prop_oneof![Just("n"), Just("m")], 0..4_usize, 0..3_usize)
        .prop_map(|(name, lo, len)| Dim::name_in(name, lo..=lo + len).unwrap());
    vec(prop_oneof![3 => small(), 2 => ranged], 0..=axes).prop_map(PartialShape::from)
}

/// A shape, and what may be said of it: names stand for `n` = 3 and `m` = 4.
pub(crate) fn described() -> impl Strategy<Value = (Vec<usize>, PartialShape)> {
    let axis = (0..5_usize, 0..6_u8).prop_map(|(size, kind)| {
        let dim = match (kind, size) {
            (0, _) => Dim::Unknown,
            (1, _) => Dim::range(size.saturating_sub(1)..=size + 1).unwrap(),
            (2, _) => Dim::range(size..).unwrap(),
            (3, 3) => Dim::name("n").unwrap(),
            (3, 4) => Dim::name("m").unwrap(),
            _ => Dim::Known(size),
        };
        (size, dim)
    });
    (vec(axis, 0..4), any::<bool>()).prop_map(|(axes, unranked)| {
        let (sizes, dims): (Vec<usize>, Vec<Dim>) = axes.into_iter().unzip();
        (sizes, if unranked { PartialShape::unranked() } else { dims.into() })
    })
}

proptest! {
    #![proptest_config(common::cases(400))]

    /// A plan gives what `broadcast_shapes` gives of the shapes that it was made for, and an error
    /// where that has one.
    #[test]
    fn as_broadcast_shapes(operands in vec(described(), 0..4)) {
        let (shapes, partial): (Vec<_>, Vec<_>) = operands.into_iter().unzip();
        let joint = broadcast_shapes(&shapes);
        let inferred = infer_shapes(&partial);
        match Plan::new(partial.clone()) {
            Ok(plan) => {
                prop_assert_eq!(plan.joint_shape(&shapes).ok(), joint.clone().ok());
                let hold = plan.checks().iter().all(|check| check.holds(&shapes));
                prop_assert_eq!(hold, joint.is_ok());
                prop_assert_eq!(plan.checks().is_empty(), decide(&partial) == Decision::Always);
                if let Ok(joint) = joint {
                    prop_assert!(verify(&partial, &joint.clone().into(), ResultRule::AllowCast).is_ok()
                        || partial.is_empty() || partial.iter().any(|shape| shape.dims().is_none()));
                    let named = inferred.unwrap();
                    prop_assert!(named.accepts(&joint), "{} does not accept {:?}", named, joint);
                }
            }
            Err(error) => {
                prop_assert_eq!(inferred, Err(error));
                prop_assert!(joint.is_err());
            }
        }
    }

    /// A declared result of up to two axes, whatever names it shares with the operands.
    #[test]
    fn result_as_enumerated(operands in vec(partial(2), 1..4), result in declared(2)) {
        let worlds = worlds(&operands, 3);
        prop_assume!(worlds.len() < 20_000);
        let expected: Vec<_> = worlds
            .iter()
            .map(|(names, shapes)| joint_shape(shapes).filter(|joint| agrees(&operands, &result, *names, joint)))
            .collect();
        let decision = decide_result(&operands, &result);
        let exact = verify(&operands, &result, ResultRule::Exact);
        if exact.is_ok() {
            let checked = worlds.iter().zip(&expected);
            prop_assert!(checked.clone().all(|((_, shapes), it)| it.is_some() || joint_shape(shapes).is_none()));
        }
        let checks = match decision {
            Decision::Always => {
                prop_assert!(exact.is_ok() && expected.iter().all(Option::is_some));
                Vec::new()
            }
            Decision::Never(_) => {
                prop_assert!(expected.iter().all(Option::is_none));
                return Ok(());
            }
            Decision::Depends(checks) => checks,
        };
        let plan = Plan::new(operands).unwrap().with_result(result).unwrap();
        for ((_, shapes), expected) in worlds.iter().zip(expected) {
            prop_assert_eq!(checks.iter().all(|check| check.holds(shapes)), expected.is_some(), "{:?}", shapes);
            prop_assert_eq!(plan.joint_shape(shapes).ok(), expected);
        }
    }

    /// Of known shapes all is known.
    #[test]
    fn known_shapes(shapes in vec(vec(0..4_usize, 0..4), 0..4)) {
        let partial: Vec<PartialShape> = shapes.iter().cloned().map(PartialShape::from).collect();
        let joint = broadcast_shapes(&shapes).ok();
        prop_assert_eq!(infer_shapes(&partial).ok(), joint.clone().map(PartialShape::from));
        prop_assert_eq!(decide(&partial) == Decision::Always, joint.is_some());
        prop_assert_eq!(matches!(decide(&partial), Decision::Never(_)), joint.is_none());
        prop_assert_eq!(Plan::new(partial).ok().map(|plan| plan.joint_shape(&shapes).unwrap()), joint);
    }
}

/// A name is not renamed where it stretches from 1, and an input is not narrowed by the result.
#[test]
fn names_stay() {
    assert_eq!(infer_shapes(&[p("nxn"), p("3x1")]), Ok(p("3xn")));
    assert_eq!(infer_shapes(&[p("n"), p("1")]), Ok(p("n")));
    let plan = Plan::new([p("nxn"), p("3x1")]).unwrap();
    assert_eq!(plan.joint_shape(&[[1, 1], [3, 1]]), Ok(vec![3, 1]));
    assert_eq!(plan.joint_shape(&[[3, 3], [3, 1]]), Ok(vec![3, 3]));
    // The result says 4; the operand may still be 1 where another brings the 4.
    let plan = Plan::new([p("?"), p("?")]).unwrap().with_result(p("4")).unwrap();
    assert_eq!(plan.joint_shape(&[[1], [4]]), Ok(vec![4]));
    assert_eq!(plan.inferred(), &p("?"));
    let plan = Plan::new([p("nx1"), p("?x3")]).unwrap().with_result(p("nx3")).unwrap();
    assert_eq!(plan.joint_shape(&[[5, 1], [1, 3]]), Ok(vec![5, 3]));
    assert!(plan.joint_shape(&[[1, 1], [5, 3]]).is_err());
}

/// A name is one size on all axes, of all operands and of the result.
#[test]
fn names_across_axes() {
    // n is 3 or 1, and 4 or 1.
    assert_eq!(infer_shapes(&[p("nxnxn"), p("3x4x1")]), Ok(p("3x4x1")));
    assert_eq!(infer_shapes(&[p("nxnxn"), p("3x4xm")]), Ok(p("3x4xm")));
    assert_eq!(infer_shapes(&[p("nx0..5"), p("3xn")]), Ok(p("3x0..5")));
    assert_eq!(infer_shapes(&[p("nxmxn"), p("2x3xm")]), Ok(p("2x3x1..3")));
    let cast =
        |operands: &[PartialShape], result: &str| verify(operands, &p(result), ResultRule::AllowCast).is_ok();
    assert!(cast(&[p("nxn")], "3x3") && !cast(&[p("nxn")], "3x4") && cast(&[p("nxn")], "2..5x4"));
    assert!(cast(&[p("nxn"), p("3x1")], "3x1") && !cast(&[p("nxn"), p("3x1")], "3x2"));
    // if n brought the 3, q and r would be 1 or 3
    assert!(cast(&[p("nxnx1"), p("mxqxq"), p("1xrxr")], "3x?x4"));
    assert!(!cast(&[p("3x4")], "nxn") && cast(&[p("3x?")], "nxn") && cast(&[p("?x?")], "nxn"));
    assert_eq!(p("nxn").merge(&p("3x?")), Ok(p("3x3")));
    assert!(p("nxn").merge(&p("3x4")).is_err());
    assert!(p("nxn").accepts(&[3, 3]) && !p("nxn").accepts(&[3, 4]));
}

/// A size that no axis can have, and a result that no array can have.
#[test]
fn overflow() {
    let huge = isize::MAX.unsigned_abs();
    let big = PartialShape::from([huge, 1]);
    assert!(format!("{:?}", infer_shapes(&[big.clone(), p("2..")]).unwrap_err()).starts_with("Overflow: "));
    assert!(matches!(decide(&[big.clone(), p("2")]), Decision::Never(_)));
    assert_eq!(
        infer_shapes(&[big.clone(), p("?")]),
        Ok(PartialShape::ranked([Dim::Known(huge), Dim::Unknown]))
    );
    // 0 leaves the others to be multiplied, as in `broadcast_shapes`.
    assert!(infer_shapes(&[big.clone(), p("0x1x1"), p("2")]).is_err());
    assert!(infer_shapes(&[PartialShape::from([usize::MAX])]).is_err());
    let plan = Plan::new([big, p("?")]).unwrap();
    let over = plan.joint_shape(&[&[huge, 1][..], &[3]]);
    assert_eq!(over.unwrap_err().kind(), ErrorKind::Overflow);
}

/// `*` brings any number of axes.
#[test]
fn unranked() {
    let plan = Plan::new([p("*"), p("2x1")]).unwrap().with_result(p("2x3")).unwrap();
    assert_eq!(plan.joint_shape(&[&[3][..], &[2, 1]]), Ok(vec![2, 3]));
    assert!(plan.joint_shape(&[&[1, 1, 3][..], &[2, 1]]).is_err());
    assert!(plan.joint_shape(&[&[4][..], &[2, 1]]).is_err());
    let words: Vec<_> = plan.checks().iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        [
            "all operands go together",
            "the result has 2 axes",
            "axis 0 of the result is 2",
            "axis 1 of the result is 3",
        ],
    );
    // a result of fewer axes has no size there
    let hold =
        |shapes: &[&[usize]]| plan.checks().iter().map(|check| check.holds(shapes)).collect::<Vec<_>>();
    assert_eq!(hold(&[&[3], &[2, 1]]), [true; 4]);
    assert_eq!(hold(&[&[2], &[1]]), [true, false, true, false]);
    assert_eq!(hold(&[&[], &[]]), [true, false, false, false]);
    assert!(Plan::new([p("*"), p("2x3")]).unwrap().with_result(p("3")).is_err());
    assert!(Plan::new([p("*"), p("2x3")]).unwrap().with_result(p("2x4")).is_err());
    assert_eq!(decide(&[p("*")]), Decision::Always);
    assert_eq!(decide(&[p("*"), p("1x1")]), Decision::Always);
    assert_eq!(decide(&[]), Decision::Always);
}

/// A name of the result that no operand can have is an error of its axis.
#[test]
fn names_of_results() {
    let mut said = Said::by("partial: names of results");
    let verified = verify(&[p("?x1")], &p("0..1xn:2.."), ResultRule::AllowCast);
    said.error(ErrorKind::ResultSize, verified);
    said.error(ErrorKind::DeclaredName, p("nxn:0..1").check(&[3, 1]));
}

/// The checks of an operand `*` hold exactly where the joint shape is the result.
#[test]
fn results_of_unranked() {
    let sizes = || (0..6).collect::<Vec<usize>>();
    let shapes = [vec![vec![]], product(&[sizes()]), product(&[sizes(), sizes()])].concat();
    for text in ["n:3..4xn:3..4", "n:3..4xn", "nxn:3..4", "n:3..3xn", "nxm:3..4", "mxn:3..4", "n:2..3xn:3..4"]
    {
        let result = p(text);
        for operands in [vec![p("*")], vec![p("*"), p("m:..3")]] {
            let checks = decide_result(&operands, &result).checks().unwrap();
            let plan = Plan::new(operands.clone()).unwrap().with_result(result.clone()).unwrap();
            for (names, others) in worlds(&operands[1..], 3) {
                for shape in &shapes {
                    let shapes = [vec![shape.clone()], others.clone()].concat();
                    let expected =
                        joint_shape(&shapes).filter(|joint| agrees(&operands[1..], &result, names, joint));
                    let hold = checks.iter().all(|check| check.holds(&shapes));
                    assert_eq!(hold, expected.is_some(), "{operands:?} to {result}: {shapes:?}, {checks:?}");
                    assert_eq!(plan.joint_shape(&shapes).ok(), expected, "{operands:?} to {result}");
                }
            }
        }
    }
}
