//! Names with ranges, and names that are bound across operations, against all assignments.

use super::p;
use common::Said;
use common::oracle::{Names as Assigned, covers, covers_all, instances, joint_shape, product, worlds};
use ndarray::Array3;
use ndarray_broadcast::partial::{
    Decision, Dim, Names, PartialShape, Plan, ShapeOp, decide, infer_shapes, infer_target,
};
use ndarray_broadcast::{BroadcastError, BroadcastTo, ErrorKind, Signature};
use proptest::collection::vec;
use proptest::prelude::*;

/// The largest size that is enumerated; ranges end below it.
const TOP: usize = 6;

pub(crate) fn dims() -> impl Strategy<Value = Dim> {
    let range = || (0..4_usize, 0..3_usize, any::<bool>());
    let name = || prop_oneof![Just("n"), Just("m")];
    prop_oneof![
        3 => (0..5_usize).prop_map(Dim::Known),
        1 => Just(Dim::Known(1)),
        1 => Just(Dim::Unknown),
        2 => range().prop_map(|(lo, len, open)| between(lo, len, open)),
        3 => name().prop_map(|name| Dim::name(name).unwrap()),
        3 => (name(), range()).prop_map(|(name, (lo, len, open))| named(name, &between(lo, len, open))),
    ]
}

/// Of one size, too.
fn named(name: &str, range: &Dim) -> Dim {
    if *range == Dim::Unknown { Dim::name(name).unwrap() } else { format!("{name}:{range}").parse().unwrap() }
}

fn between(lo: usize, len: usize, open: bool) -> Dim {
    if open { Dim::range(lo..) } else { Dim::range(lo..=lo + len) }.unwrap()
}

fn shapes(axes: usize) -> impl Strategy<Value = PartialShape> {
    vec(dims(), 0..=axes).prop_map(PartialShape::from)
}

/// What is learned of names.
#[derive(Clone, Debug)]
enum Step {
    Merge(Vec<(Dim, Dim)>),
    Bind(Vec<(Dim, usize)>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let merge = vec((dims(), dims()), 0..3).prop_map(Step::Merge);
    let bind = vec((dims(), 0..5_usize), 0..3).prop_map(Step::Bind);
    vec(prop_oneof![merge, bind], 0..5)
}

impl Step {
    /// Whether the step can be true for an assignment.
    fn holds(&self, names: Assigned) -> bool {
        let meet =
            |(a, b): &(Dim, Dim)| (0..=TOP).any(|size| covers(a, names, size) && covers(b, names, size));
        match self {
            Self::Merge(axes) => axes.iter().all(meet),
            Self::Bind(axes) => axes.iter().all(|(dim, size)| covers(dim, names, *size)),
        }
    }

    fn take(&self, names: &mut Names) -> Result<Option<PartialShape>, BroadcastError> {
        match self {
            Self::Merge(axes) => {
                let (a, b): (Vec<_>, Vec<_>) = axes.iter().cloned().unzip();
                names.merge("step", &a.into(), &b.into()).map(Some)
            }
            Self::Bind(axes) => {
                let (dims, sizes): (Vec<_>, Vec<_>) = axes.iter().cloned().unzip();
                names.bind("step", &dims.into(), &sizes).map(|()| None)
            }
        }
    }
}

/// All assignments for which the steps can be true.
fn assignments(steps: &[Step]) -> Vec<Assigned> {
    let all = (0..=TOP).flat_map(|n| (0..=TOP).map(move |m| [n, m]));
    all.filter(|&names| steps.iter().all(|step| step.holds(names))).collect()
}

/// Takes the steps that can be taken. The others are errors and change nothing.
fn taken(steps: Vec<Step>) -> Result<(Names, Vec<Step>), TestCaseError> {
    let (mut names, mut taken) = (Names::new(), Vec::new());
    let known = |names: &Names| ["n", "m"].map(|name| names.get(name));
    for step in steps {
        taken.push(step);
        let before = known(&names);
        let result = taken[taken.len() - 1].take(&mut names);
        let possible = assignments(&taken);
        prop_assert_eq!(result.is_ok(), !possible.is_empty(), "{:?}", &taken);
        match result {
            Ok(merged) => {
                let Some((merged, Step::Merge(axes))) = merged.zip(taken.last()) else { continue };
                for (dim, (a, b)) in merged.dims().unwrap().iter().zip(axes) {
                    for &names in &possible {
                        for size in (0..=TOP).filter(|&size| covers(a, names, size) && covers(b, names, size))
                        {
                            prop_assert!(covers(dim, names, size), "{}: {} of {} and {}", size, dim, a, b);
                        }
                    }
                }
            }
            Err(error) => {
                let picture = format!("{error:#}");
                prop_assert!(!picture.is_empty());
                prop_assert_eq!(known(&names), before);
                taken.pop();
            }
        }
    }
    Ok((names, taken))
}

proptest! {
    #![proptest_config(common::cases(600))]

    /// Names with ranges, without any bindings. Of two names with ranges that are equal, the first one is inferred.
    #[test]
    fn with_ranges(operands in vec(shapes(2), 1..4)) {
        let has_range = |dim: &Dim| matches!(dim, Dim::Name(name) if name.range().is_some());
        if !operands.iter().flat_map(|shape| shape.dims().unwrap()).any(has_range) {
            let reversed: Vec<_> = operands.iter().rev().cloned().collect();
            prop_assert_eq!(infer_shapes(&operands).ok(), infer_shapes(&reversed).ok());
        }
        let worlds = worlds(&operands, TOP);
        prop_assume!(worlds.len() < 20_000);
        assert_answers(&operands, &operands, &worlds)?;
    }

    /// A name has exactly the sizes that all that was learned leaves it, and equal names are one.
    #[test]
    fn bound(steps in steps()) {
        let (names, taken) = taken(steps)?;
        let possible = assignments(&taken);
        for (i, name) in ["n", "m"].into_iter().enumerate() {
            let dim = names.get(name).unwrap_or(Dim::Unknown);
            for size in 0..=TOP {
                let reached = possible.iter().any(|names| names[i] == size);
                prop_assert_eq!(dim.admits(size), reached, "{} = {} after {:?}", name, size, &taken);
            }
        }
        // ranges alone make no two names equal
        if names.get("n").is_some() && names.get("n") == names.get("m") {
            prop_assert!(possible.iter().all(|[n, m]| n == m));
        }
    }

    /// Inference and decisions on resolved shapes, in all ways that the bindings leave.
    #[test]
    fn resolved(steps in steps(), operands in vec(shapes(2), 1..4)) {
        // what the operands say of their names is learned like the rest
        let own = |shape: &PartialShape| shape.dims().unwrap().iter().map(|dim| (dim.clone(), dim.clone())).collect();
        let count = steps.len() + operands.len();
        let steps: Vec<_> = steps.into_iter().chain(operands.iter().map(|shape| Step::Merge(own(shape)))).collect();
        let (names, taken) = taken(steps)?;
        if taken.len() < count {
            return Ok(());
        }
        let resolved: Vec<_> = operands.iter().map(|shape| names.resolve(shape)).collect();
        let worlds: Vec<_> = assignments(&taken)
            .into_iter()
            .flat_map(|names| {
                let shapes: Vec<_> = operands.iter().map(|shape| instances(shape, names, TOP)).collect();
                product(&shapes).into_iter().map(move |shapes| (names, shapes))
            })
            .collect();
        prop_assume!(worlds.len() < 20_000);
        assert_answers(&resolved, &operands, &worlds)?;
    }

    /// Two plans in one scope run exactly where each name has one size.
    #[test]
    fn plans(a in vec(shapes(1), 1..3), b in vec(shapes(1), 1..3)) {
        let both: Vec<_> = a.iter().chain(&b).cloned().collect();
        let (Ok(first), Ok(second)) = (Plan::new(a.clone()), Plan::new(b.clone())) else { return Ok(()) };
        let fits = worlds(&both, 4);
        let sizes: Vec<Vec<Vec<usize>>> =
            both.iter().map(|shape| (0..5).map(|size| vec![size; shape.ndim().unwrap()]).collect()).collect();
        for shapes in product(&sizes) {
            let mut names = Names::new();
            let (of_a, of_b) = shapes.split_at(a.len());
            let joint = names
                .joint_shape("a", &first, of_a)
                .and_then(|a| Ok((a, names.joint_shape("b", &second, of_b)?)));
            let world = fits.iter().any(|(_, world)| *world == shapes);
            let expected = joint_shape(of_a).zip(joint_shape(of_b)).filter(|_| world);
            prop_assert_eq!(joint.ok(), expected, "{:?} as {:?}", shapes, &both);
        }
    }
}

/// What is inferred and decided of `operands` is what all `worlds` say; `declared` are the operands without bindings.
fn assert_answers(
    operands: &[PartialShape],
    declared: &[PartialShape],
    worlds: &[(Assigned, Vec<Vec<usize>>)],
) -> Result<(), TestCaseError> {
    let joints: Vec<_> = worlds.iter().map(|(names, shapes)| (*names, joint_shape(shapes))).collect();
    let fits = joints.iter().filter(|(_, joint)| joint.is_some()).count();
    match infer_shapes(operands) {
        Err(error) => prop_assert_eq!(fits, 0, "{}", error),
        Ok(inferred) => {
            prop_assert!(fits > 0, "{:?} gives {}", operands, inferred);
            for (names, joint) in &joints {
                let Some(joint) = joint else { continue };
                prop_assert!(
                    covers_all(&inferred, *names, joint),
                    "{:?} gives {}, not {:?} for {:?}",
                    operands,
                    inferred,
                    joint,
                    names
                );
            }
        }
    }
    match decide(operands) {
        Decision::Always => prop_assert_eq!(fits, worlds.len(), "{:?}", operands),
        Decision::Never(_) => prop_assert_eq!(fits, 0, "{:?}", operands),
        Decision::Depends(checks) => {
            prop_assert!(fits > 0 && fits < worlds.len(), "{:?}: {:?}", operands, checks);
            for ((_, shapes), (_, joint)) in worlds.iter().zip(&joints) {
                let hold = checks.iter().all(|check| check.holds(shapes));
                prop_assert_eq!(hold, joint.is_some(), "{:?} of {:?}: {:?}", operands, shapes, checks);
            }
        }
    }
    if let Ok(plan) = Plan::new(declared.to_vec()) {
        for ((_, shapes), (_, joint)) in worlds.iter().zip(joints) {
            prop_assert_eq!(plan.joint_shape(shapes).ok(), joint);
        }
    }
    Ok(())
}

/// Errors name both places where a name got its sizes, and a name that is equal by the name that stands there.
#[test]
fn both_places() {
    let (mut names, mut said) = (Names::new(), Said::by("partial: both places"));
    names.bind("x", &p("nx4"), &[2, 4]).unwrap();
    names.merge("y", &p("kx?"), &p("nxm")).unwrap();
    names.merge("z", &p("m"), &p("3..7")).unwrap();
    said.error(ErrorKind::DeclaredName, names.bind("w", &p("4xn"), &[4, 3]));
    said.error(ErrorKind::DeclaredName, names.bind("w", &p("k"), &[3]));
    said.error(ErrorKind::DeclaredName, names.merge("w", &p("1xm"), &p("?x2..2")));
    said.error(ErrorKind::DeclaredName, names.merge("w", &p("?xm"), &p("?xn")));
    said.error(ErrorKind::DeclaredName, names.merge("w", &p("ixi"), &p("3x4")));
    let plan = Plan::new([p("n"), p("m")]).unwrap().with_result(p("i")).unwrap();
    said.error(ErrorKind::DeclaredName, names.joint_shape("sum", &plan, &[[3], [3]]));
    let shapes = [p("n:2..3"), p("n:5..")];
    said.error(ErrorKind::DeclaredName, infer_shapes(&shapes));
    assert_eq!(decide(&shapes).checks().map(drop), infer_shapes(&shapes).map(drop));
    assert_eq!(format!("{names:?}"), r#"{"n": 2, "k": 2, "m": m:3..7}"#);
    assert_eq!((names.get("i"), names.get("m")), (None, Some("m:3..7".parse().unwrap())));
}

/// Each end of a range comes from the size that has it.
#[test]
fn ends() {
    let mut names = Names::new();
    names.infer("x", &ShapeOp::Together, [&p("n:2.."), &p("3..9"), &p("2..5")]).unwrap();
    for (size, operand) in [(2, 1), (6, 2)] {
        let message = names.bind("w", &p("n"), &[size]).unwrap_err().to_string();
        assert!(message.contains(&format!(" 3..5 at axis 0 of operand {operand} of x ")), "{message}");
    }
}

#[test]
fn places_in_pictures() {
    let (mut names, mut said) = (Names::new(), Said::by("partial: places in pictures"));
    names.bind("x", &p("nx4"), &[2, 4]).unwrap();
    said.error(ErrorKind::DeclaredName, names.bind("w", &p("4xn"), &[4, 3]));
    said.error(ErrorKind::DeclaredName, p("ixix2..5").check(&[7, 8, 6]));
    said.error(ErrorKind::DeclaredSize, p("ixix2..5").check(&[7, 7, 6]));
}

/// An axis of a target is counted as for an array: those that keep their size count too.
#[test]
fn axes_of_targets() {
    let mut said = Said::by("partial: axes of targets");
    let infer = |array: &str, target: [Option<&str>; 3]| {
        let target = target.map(|size| size.map(|size| size.parse().unwrap()));
        Names::new().infer("x", &ShapeOp::Target(target.into()), [&p(array)])
    };
    said.error(ErrorKind::DeclaredName, infer("?x?x?", [None, Some("n:2..3"), Some("n:4..5")]));
    said.error(ErrorKind::Incompatible, infer("4xnx?", [None, Some("3"), Some("n:4")]));
    said.error(ErrorKind::InvalidSize, Array3::<f64>::zeros((4, 5, 1)).broadcast_to([-1, -2, -1]));
}

/// A name of an operation cannot be taken for words of the message.
#[test]
fn odd_names() {
    let (mut names, mut said) = (Names::new(), Said::by("partial: odd names"));
    names.bind("an axis has size 7", &p("n"), &[7]).unwrap();
    said.error(ErrorKind::DeclaredName, names.bind("{targets} has sizes", &p("n"), &[3]));
}

/// What cannot be said of one name by itself.
#[test]
fn never_across_axes() {
    assert!(infer_shapes(&[p("n:2..xn"), p("3x4")]).is_err());
    assert_eq!(infer_shapes(&[p("n:2..xn:..9"), p("m:3..x1")]), Ok(p("n:3..9xn:3..9")));
    assert!(infer_shapes(&[p("n:2..x1xn"), p("m:2..xmx1"), p("1x3x4")]).is_err());
    assert_eq!(infer_shapes(&[p("n:0..3xn"), p("2x?")]), Ok(p("2x?")));
    assert_eq!(decide(&[p("n:0..1"), p("0")]), Decision::Always);
    assert_eq!(decide(&[p("n:2..3xn:3..4"), p("3x1")]), Decision::Always);
}

const MATMUL: Signature<'_> = Signature::literal("(m,n),(n,p)->(m,p)");

/// What an operation forces is learned, and what contradicts it is an error that names both operations.
#[test]
fn learned() {
    let (mut names, mut said) = (Names::new(), Said::by("partial: learned"));
    let matmul = ShapeOp::Signature(MATMUL);
    assert_eq!(names.infer("first", &matmul, [&p("2xk"), &p("3x4")]).unwrap().results, [p("2x4")]);
    assert_eq!(names.get("k"), Some(Dim::Known(3)));
    said.error(ErrorKind::DeclaredName, names.infer("second", &matmul, [&p("2xk"), &p("5x4")]));
    // sizes that cannot be 1 are equal
    let sum = names.infer("sum", &ShapeOp::Together, [&p("n:2.."), &p("m:2..")]).unwrap();
    assert_eq!((sum.results[0].to_string(), sum.checks.len()), ("n:2..".into(), 1));
    assert_eq!(names.get("n"), names.get("m"));
    names.infer("three", &ShapeOp::Together, [&p("n"), &p("3")]).unwrap();
    assert_eq!((names.get("n"), names.get("m")), (Some(Dim::Known(3)), Some(Dim::Known(3))));
    said.error(ErrorKind::DeclaredName, names.infer("four", &ShapeOp::Axes(vec![1]), [&p("m"), &p("4x9")]));
    // a name that can only be 1, and one that need not be
    names.infer("ones", &ShapeOp::InDim(vec![0, 1]), [&p("ix1"), &p("1xi")]).unwrap();
    names.infer("some", &ShapeOp::Together, [&p("j"), &p("3")]).unwrap();
    assert_eq!((names.get("i"), names.get("j")), (Some(Dim::Known(1)), None));
    said.error(ErrorKind::DeclaredName, names.bind("w", &p("i"), &[2]));
    // of two names with sizes of earlier operations
    names.bind("x", &p("a"), &[2]).unwrap();
    names.bind("y", &p("b"), &[5]).unwrap();
    said.error(ErrorKind::DeclaredName, names.infer("both", &ShapeOp::Together, [&p("a"), &p("b")]));
    // one axis makes two names equal, so that a name at an axis before it can only be 1
    let sizes = ["f", "f"].map(|size| Some(size.parse().unwrap()));
    names.infer("view", &ShapeOp::Target(sizes.into()), [&p("d:..3xe:4..")]).unwrap();
    assert_eq!(names.get("d"), Some(Dim::Known(1)));
    // after an error, nothing is learned
    assert!(names.infer("bad", &ShapeOp::Together, [&p("c:2..x2"), &p("3x3")]).is_err());
    assert_eq!(names.get("c"), None);
}

/// The same mistake has the same words when a graph is built and when it runs.
#[test]
fn origins() {
    let (mut names, mut said) = (Names::new(), Said::by("partial: origins"));
    names.merge("labels", &p("batch"), &p("2")).unwrap();
    said.error(
        ErrorKind::DeclaredName,
        names.infer("add_3", &ShapeOp::Together, [&p("batchx768"), &p("3x768")]),
    );
    said.error(
        ErrorKind::DeclaredName,
        names.infer("add_3", &ShapeOp::Together, [&p("3x768"), &p("batchx768")]),
    );
    let row = ShapeOp::Signature(Signature::literal("(3)->()"));
    said.error(ErrorKind::DeclaredName, names.infer("norm", &row, [&p("batch")]));
    let plan = Plan::new([p("batchx768"), p("?x768")]).unwrap();
    said.error(ErrorKind::DeclaredName, names.joint_shape("add_3", &plan, &[[3, 768], [3, 768]]));
    // a size from another axis of the same operation
    said.error(ErrorKind::Incompatible, infer_shapes(&[p("n:2..xn"), p("3x4")]));
    said.error(ErrorKind::Incompatible, infer_target(&p("n:2..xn"), [2, 3]));
    said.error(ErrorKind::Incompatible, names.infer("sub", &ShapeOp::Together, [&p("2"), &p("3")]));
    let odd = Names::new().infer("pad", &ShapeOp::Together, [&p("\"past + 1\":2..x\"past + 1\""), &p("3x4")]);
    assert!(odd.unwrap_err().to_string().ends_with("and \"past + 1\" is 3 at axis 0 of operand 1 of pad"));
}

/// No fresh name is one that was met before.
#[test]
fn fresh() {
    let mut names = Names::new();
    names.merge("x", &p("?1x?3"), &p("*")).unwrap();
    let fresh = [names.fresh(), names.fresh(), names.fresh()];
    assert_eq!(fresh.map(|dim| dim.to_string()), ["?2", "?4", "?5"]);
    assert_eq!(names.get("?2"), None);
}

/// A hundred thousand names in as many steps.
#[test]
fn many_names() {
    let mut names = Names::new();
    let name = |i: usize| p(&format!("n{i}"));
    for i in 0..100_000 {
        names.merge("step", &name(i), &name(i / 2)).unwrap();
    }
    assert_eq!(names.get("n77777"), names.get("n0"));
    names.bind("last", &name(99_999), &[5]).unwrap();
    assert_eq!(names.get("n0"), Some(Dim::Known(5)));
}
