//! Names whose range is one size: each place of the name has this size, in every text and operation.

use super::{all, p};
use ndarray_broadcast::partial::{
    Decision, Dim, Names, PartialShape, Plan, ResultRule, ShapeOp, decide, decide_result, infer_axes,
    infer_batch, infer_in_dim, infer_result_shape, infer_shape, infer_shapes, infer_sum_in_dim, infer_sum_to,
    infer_target, verify,
};
use ndarray_broadcast::{ErrorKind, Signature};

/// Shapes of two axes `n`, one of which says that it is 3.
fn shapes() -> Vec<PartialShape> {
    let texts = [
        "n:3..3xn",
        "nxn:3..3",
        "n:3xn",
        "n:3..3xn:3..3",
        "n:3..3xn:2..",
        "[n:3..3, n]",
        "[ n , n:3..3 ]",
        "\"n\":3..3xn",
        "nx\"n\":3",
    ];
    let mut shapes = all(&texts);
    shapes.push(PartialShape::ranked([Dim::name_in("n", 3..=3).unwrap(), Dim::name("n").unwrap()]));
    shapes.push(PartialShape::ranked([Dim::name("n").unwrap(), Dim::name_in("n", 3..4).unwrap()]));
    shapes
}

/// Operations that go on if the axes of a shape can have two sizes, neither of which is 1.
type Accepts = fn(&PartialShape, [usize; 2]) -> bool;

const OPERATIONS: &[(&str, Accepts)] = &[
    ("accepts", |shape, sizes| shape.accepts(&sizes)),
    ("check", |shape, sizes| shape.check(&sizes).is_ok()),
    ("bind", |shape, sizes| Names::new().bind("x", shape, &sizes).is_ok()),
    ("bind again", |shape, [a, b]| {
        let mut names = Names::new();
        names.merge("x", shape, &p("*")).unwrap();
        names.bind("y", &p("n"), &[a]).is_ok() && names.bind("z", &p("n"), &[b]).is_ok()
    }),
    ("merge", |shape, sizes| shape.merge(&sizes.into()).is_ok()),
    ("Names::merge", |shape, sizes| Names::new().merge("x", shape, &sizes.into()).is_ok()),
    ("infer_shape", |shape, sizes| infer_shape(shape, &sizes.into()).is_ok()),
    ("infer_shapes", |shape, [a, b]| infer_shapes([shape, &[a, 1].into(), &[b].into()]).is_ok()),
    ("infer_result_shape", |shape, sizes| infer_result_shape([shape, &sizes.into()]).is_ok()),
    ("verify", |shape, sizes| verify([shape], &sizes.into(), ResultRule::AllowCast).is_ok()),
    ("verify a result", |shape, sizes| verify([&sizes.into()], shape, ResultRule::AllowCast).is_ok()),
    ("decide", |shape, sizes| decide([shape, &sizes.into()]).checks().is_ok()),
    ("decide_result", |shape, sizes| decide_result([shape], &sizes.into()).checks().is_ok()),
    ("Plan::new", |shape, sizes| Plan::new([shape.clone(), sizes.into()]).is_ok()),
    ("with_result", |shape, sizes| {
        Plan::new([shape.clone()]).and_then(|plan| plan.with_result(sizes.into())).is_ok()
    }),
    ("Plan::joint_shape", |shape, sizes| {
        Plan::new([shape.clone(), p("?")]).unwrap().joint_shape(&[&sizes[..], &[sizes[1]]]).is_ok()
    }),
    ("Names::joint_shape", |shape, sizes| {
        let plan = Plan::new([shape.clone()]).unwrap();
        Names::new().joint_shape("x", &plan, &[sizes]).is_ok()
    }),
    ("infer_target", |shape, sizes| infer_target(shape, sizes).is_ok()),
    ("infer_axes", |shape, [a, b]| infer_axes(shape, &[2, a, b].into(), 0).is_ok()),
    ("infer_in_dim", |shape, sizes| infer_in_dim(shape, &sizes.into(), [0, 1]).is_ok()),
    ("infer_sum_to", |shape, sizes| infer_sum_to(shape, &sizes.into()).is_ok()),
    ("infer_sum_to the shape", |shape, sizes| infer_sum_to(&sizes.into(), shape).is_ok()),
    ("infer_sum_in_dim", |shape, sizes| infer_sum_in_dim(shape, &sizes.into(), [0, 1]).is_ok()),
    ("infer_batch", |shape, sizes| infer_batch(&[(shape, 0), (&sizes.into(), 0)]).is_ok()),
    ("signature", |shape, sizes| Signature::literal("(i,j),(i,j)->()").infer([shape, &sizes.into()]).is_ok()),
    ("Names::infer", |shape, sizes| {
        Names::new().infer("x", &ShapeOp::Together, [shape, &sizes.into()]).is_ok()
    }),
    ("Names::infer of a target", |shape, sizes| {
        let target = shape.dims().unwrap().iter().cloned().map(Some).collect();
        Names::new().infer("x", &ShapeOp::Target(target), [&sizes.into()]).is_ok()
    }),
];

/// The axes of `n` have size 3 and no other, as with `n:2..3`, which has no 5 either.
#[test]
fn in_every_operation() {
    for (name, accepts) in OPERATIONS {
        for shape in shapes().iter().chain([&p("n:2..3xn")]) {
            assert!(accepts(shape, [3, 3]), "{name} of {shape}");
            for sizes in [[3, 5], [5, 3], [5, 5], [0, 3]] {
                assert!(!accepts(shape, sizes), "{name} of {shape}, {sizes:?}");
            }
        }
    }
}

#[test]
fn in_other_operands() {
    for text in ["n:3..3", "n:3", "[n:3..3]"] {
        let operands = [p(text), p("nx1"), p("5x1")];
        assert!(infer_shapes(&operands).is_err() && decide(&operands).checks().is_err(), "{text}");
        let plan = Plan::new(operands[..2].to_vec()).unwrap();
        assert_eq!((plan.inferred(), plan.checks()), (&p("3x3"), &[][..]));
        assert_eq!(plan.joint_shape(&[&[3][..], &[3, 1]]).unwrap(), [3, 3]);
        let error = plan.joint_shape(&[&[3][..], &[5, 1]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeclaredName);
        assert!(error.to_string().ends_with(": n is 3 at axis 0 of operand 0 and 5 at axis 0 of operand 1"));
    }
}

/// What is inferred has the size itself.
#[test]
fn results_are_known() {
    for shape in shapes() {
        assert_eq!(infer_shapes([&shape, &p("?x?")]).unwrap(), p("3x3"), "{shape}");
        assert_eq!(infer_shapes([&shape, &p("?x?")]).unwrap().sizes(), Some(vec![3, 3]), "{shape}");
        assert_eq!(decide([&shape, &p("3x3")]), Decision::Always, "{shape}");
        assert_eq!(decide([&shape, &p("3x1")]), Decision::Always, "{shape}");
        let mut names = Names::new();
        names.merge("x", &shape, &p("*")).unwrap();
        assert_eq!(names.get("n"), Some(Dim::Known(3)), "{shape}");
        assert_eq!(names.resolve(&shape), p("3x3"), "{shape}");
    }
    assert_eq!(infer_shapes([&p("n:1..1xn"), &p("4x5")]).unwrap(), p("4x5"));
    assert_eq!(decide([&p("n:1..1xn"), &p("?x5")]), Decision::Always);
    assert_eq!(decide([&p("n:1..1xn"), &p("*")]), decide([&p("1x1"), &p("*")]));
    assert_eq!(infer_shapes([&p("n:0..0xn"), &p("1x?")]).unwrap(), p("0x0"));
}

#[test]
fn text() {
    for (text, printed) in [
        ("n:3..3", "n:3..3"),
        ("n:3", "n:3..3"),
        ("n:..0", "n:0..0"),
        ("\"past + 1\":2..2", "\"past + 1\":2..2"),
    ] {
        let dim: Dim = text.parse().unwrap();
        assert_eq!(dim.to_string(), printed);
        assert_eq!(printed.parse::<Dim>().unwrap(), dim);
        let Dim::Name(name) = &dim else { panic!("{dim} is a name") };
        let range = name.range().unwrap();
        assert_eq!(Some(range.min()), range.max());
        assert!(dim.admits(range.min()) && !dim.admits(range.min() + 1));
    }
    assert_ne!(p("n:3..3"), p("3"));
}
