//! Shapes that are known in part.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, all, hollow, many, spread};
use ndarray_broadcast::partial::{
    Check, Decision, Dim, Names, PartialShape, Place, Plan, ResultRule, ShapeOp, decide, decide_result,
    infer_axes, infer_batch, infer_branches, infer_dim, infer_in_dim, infer_ranks, infer_result_shape,
    infer_shape, infer_shapes, infer_sum, infer_sum_in_dim, infer_sum_to, infer_target, verify,
};
use ndarray_broadcast::{AxisSet, ErrorKind, Signature, keepdims};
use std::slice::from_ref;

pub(crate) fn rows(t: &mut Table) {
    dims(t);
    shapes(t);
    inferred(t);
    families(t);
    reductions(t);
    decided(t);
    planned(t);
    bound(t);
}

fn bound(t: &mut Table) {
    let (names, sizes) = (named(), all(MAX));
    t.call("PartialShape::check", || names.check(&sizes)).is(Ok(()));
    t.call("PartialShape::check", || shape("nxn").check(&[0, MAX])).refused(ErrorKind::DeclaredName);
    t.call("PartialShape::check", || names.check(&[])).refused(ErrorKind::DeclaredAxes);
    t.call("Names::new", Names::new).holds(|names| names.get("n").is_none());
    let mut scope = Names::new();
    t.call("Names::bind", || scope.bind("x", &names, &sizes)).is(Ok(()));
    t.call("Names::bind", || scope.bind("", &names, &all(0))).refused(ErrorKind::DeclaredName);
    t.call("Names::get", || scope.get("n9999")).is(Some(Dim::Known(MAX)));
    t.call("Names::resolve", || scope.resolve(&names)).is(PartialShape::from(all(MAX)));
    t.call("Names::merge", || scope.merge("y", &names, &unknown())).is(Ok(PartialShape::from(all(MAX))));
    let mut pairs = Names::new();
    t.call("Names::merge", || {
        let next = PartialShape::ranked((1..=MANY).map(|axis| Dim::name(&format!("n{axis}")).unwrap()));
        pairs.merge("z", &names, &next).map(|_| pairs.get("n0") == pairs.get("n10000"))
    })
    .is(Ok(true));
    // each name can only have the size at the next axis: from the last axis to the first
    let sizes = (1..MANY).map(|axis| Dim::name(&format!("n{axis}")).unwrap()).chain([Dim::Known(3)]);
    let (sizes, result): (Vec<_>, Vec<_>) = sizes.map(|size| (Some(size.clone()), size)).unzip();
    t.call("Names::infer", || {
        let found = Names::new().infer("x", &ShapeOp::Target(sizes), [&names]);
        found.map(|found| found.results[0].clone())
    })
    .is(Ok(PartialShape::from(result)));
    let list = (0..MANY).map(|axis| format!("s{axis}")).collect::<Vec<_>>().join(",");
    let text = format!("({list}),({list})->({list})");
    let signature = Signature::new(&text).expect("a signature");
    let (open, reversed) = (unknown(), PartialShape::ranked(names.dims().unwrap().iter().rev().cloned()));
    t.call("Signature::infer", || signature.infer(&[names.clone(), names.clone()]))
        .gives(|shapes| shapes.bases[0] == names && shapes.checks.is_empty());
    t.call("Signature::infer", || signature.infer(&[names.clone(), reversed]))
        .gives(|shapes| shapes.checks.len() == MANY / 2);
    t.call("Signature::infer", || signature.infer(&[names.clone(), open]))
        .gives(|shapes| shapes.checks.len() == MANY);
    t.call("Signature::infer", || signature.infer(&[[MAX].into(), [0].into()])).refused(ErrorKind::BaseAxes);
    let dot = Signature::literal("(n),(n)->()");
    t.call("Decision::from", || {
        Decision::from(dot.infer(&[[MAX].into(), shape("?")])).checks().map(|checks| checks.len())
    })
    .is(Ok(1));
    infer_in_names(t);
    let plan = Plan::new([names.clone()]).expect("a plan");
    t.call("Names::joint_shape", || Names::new().joint_shape("", &plan, &[all(1)])).is(Ok(all(1)));
}

fn infer_in_names(t: &mut Table) {
    let (names, open, ones, none) =
        (named(), unknown(), PartialShape::from(all(1)), PartialShape::ranked([]));
    let mut scope = Names::new();
    t.call("Names::fresh", || scope.fresh().to_string()).is("?1");
    t.call("Names::fresh", || (0..MANY).map(|_| scope.fresh()).last().unwrap().to_string()).is("?10001");
    let any = PartialShape::unranked();
    // each name forces the next one, from the last to the first
    let next = PartialShape::ranked((1..=MANY).map(|axis| Dim::name(&format!("n{axis}")).unwrap()));
    let mut forced = names.dims().unwrap().to_vec();
    forced[0] = Dim::Known(0);
    let forced = PartialShape::from(forced);
    let (every, back): (Vec<i128>, Vec<i128>) =
        ((0..MANY as i128).collect(), (0..MANY as i128).rev().collect());
    for axes in [every.clone(), back] {
        t.call("Names::infer", || Names::new().infer("", &ShapeOp::InDim(axes), [&names, &next]))
            .gives(|found| found.results[0].ndim() == Some(MANY));
    }
    t.call("Names::infer", || Names::new().infer("", &ShapeOp::InDim(every.clone()), [&forced, &next]))
        .gives(|found| found.results[0] == PartialShape::from(all(0)));
    let mut scope = Names::new();
    let mut infer = |operation: &ShapeOp<'_>, shapes: &[&PartialShape]| {
        let found = scope.infer("it", operation, shapes.iter().copied())?;
        Ok(found.results[0].clone())
    };
    t.call("Names::infer", || infer(&ShapeOp::Together, &[])).is(Ok(none.clone()));
    t.call("Names::infer", || infer(&ShapeOp::BatchMap(vec![5000, MANY]), &[&open, &ones]))
        .gives(|shape| shape.ndim() == Some(MANY + MANY / 2));
    t.call("Names::infer", || infer(&ShapeOp::BatchMap(vec![MAX]), &[&none]))
        .refused(ErrorKind::DeclaredAxes);
    t.call("Names::infer", || infer(&ShapeOp::BatchMap(vec![MAX]), &[&any])).is(Ok(any.clone()));
    t.call("Names::infer", || infer(&ShapeOp::SumBatchTo(MANY), &[&names, &none])).is(Ok(names.clone()));
    t.call("Names::infer", || infer(&ShapeOp::SumBatchTo(MAX), &[&any, &none])).is(Ok(any.clone()));
    t.call("Names::infer", || infer(&ShapeOp::SumBatchTo(MAX), &[&none, &none]))
        .refused(ErrorKind::DeclaredAxes);
    t.call("Names::infer", || infer(&ShapeOp::Target(all(Some(Dim::Known(MAX)))), &[&none]))
        .refused(ErrorKind::InvalidSize);
    t.call("Names::infer", || infer(&ShapeOp::Target(all(None)), &[&open])).is(Ok(open.clone()));
    t.call("Names::infer", || {
        infer(&ShapeOp::Sum { axes: vec![i128::from(i64::MIN)], keepdims: true }, &[&shape("?")])
    })
    .refused(ErrorKind::AxisOutOfBounds);
    t.call("Names::infer", || infer(&ShapeOp::SumTo, &[&shape("2")])).refused(ErrorKind::OperandCount);
    t.call("infer_branches", || infer_branches([&names, &open])).is(Ok(open.clone()));
    t.call("infer_branches", || infer_branches(&[])).refused(ErrorKind::NoOperands);
}

fn unknown() -> PartialShape {
    PartialShape::ranked(all(Dim::Unknown))
}

/// A name for each of 10,000 axes.
fn named() -> PartialShape {
    PartialShape::ranked((0..MANY).map(|axis| Dim::name(&format!("n{axis}")).unwrap()))
}

fn shape(text: &str) -> PartialShape {
    text.parse().unwrap()
}

fn dims(t: &mut Table) {
    t.call("Dim::range", || Dim::range(..)).is(Ok(Dim::Unknown));
    t.call("Dim::range", || Dim::range(MAX..=MAX)).is(Ok(Dim::Known(MAX)));
    t.call("Dim::range", || Dim::range(..0)).refused(ErrorKind::InvalidText);
    t.call("Dim::range", || Dim::range((std::ops::Bound::Excluded(MAX), std::ops::Bound::Unbounded)))
        .refused(ErrorKind::InvalidText);
    t.call("Dim::name", || Dim::name("")).refused(ErrorKind::InvalidText);
    let (range, name) = (Dim::range(1..MAX).unwrap(), Dim::name("n").unwrap());
    t.call("Dim::admits", || [range.admits(0), range.admits(MAX - 1), range.admits(MAX)])
        .is([false, true, false]);
    t.call("Dim::admits", || name.admits(MAX)).is(true);
    t.call("Dim::fmt", || Dim::Known(MAX).to_string()).is("18446744073709551615");
    t.call("Dim::from", || Dim::from(MAX)).is(Dim::Known(MAX));
    let Dim::Range(sizes) = range else { unreachable!() };
    let Ok(Dim::Range(open)) = Dim::range(MAX - 1..) else { unreachable!() };
    t.call("SizeRange::min", || (sizes.min(), open.min())).is((1, MAX - 1));
    t.call("SizeRange::max", || (sizes.max(), open.max())).is((Some(MAX - 1), None));
    t.call("SizeRange::fmt", || open.to_string()).is("18446744073709551614..");
    let Dim::Name(name) = name else { unreachable!() };
    t.call("Name::as_str", || name.as_str()).is("n");
    t.call("Name::range", || name.range()).is(None);
    t.call("Dim::name_in", || Dim::name_in("n", MAX..).map(|dim| dim.to_string()))
        .is(Ok("n:18446744073709551615..".into()));
    t.call("Dim::name_in", || Dim::name_in("n", MAX - 1..).map(|dim| dim.to_string()))
        .is(Ok("n:18446744073709551614..".into()));
    t.call("Dim::name_in", || Dim::name_in("n:2..", 3..).map(|dim| dim.to_string()))
        .is(Ok("\"n:2..\":3..".into()));
    let (quotes, slashes) = ("\"".repeat(MANY), "\\".repeat(MANY));
    t.call("Dim::name", || Dim::name(&quotes).map(|dim| dim.to_string().len())).is(Ok(2 * MANY + 2));
    t.call("Dim::name", || Dim::name(&slashes).map(|dim| dim.to_string().parse::<Dim>() == Ok(dim)))
        .is(Ok(true));
}

fn shapes(t: &mut Table) {
    let names = named();
    let (open, ones, none) = (unknown(), PartialShape::from(all(1)), PartialShape::ranked([]));
    t.call("PartialShape::ranked", || PartialShape::ranked(all(Dim::Known(1)))).is(ones.clone());
    t.call("PartialShape::unranked", PartialShape::unranked).is(shape("*"));
    t.call("PartialShape::of", || PartialShape::of(&many())).is(PartialShape::from(spread()));
    t.call("PartialShape::of", || PartialShape::of(&hollow())).is([0, LIMIT].into());
    t.call("PartialShape::from", || PartialShape::from([MAX; 3]).dims().map(<[Dim]>::len)).is(Some(3));
    t.call("PartialShape::dims", || open.dims()).is(Some(&all(Dim::Unknown)[..]));
    t.call("PartialShape::ndim", || [open.ndim(), none.ndim(), PartialShape::unranked().ndim()]).is([
        Some(MANY),
        Some(0),
        None,
    ]);
    t.call("PartialShape::sizes", || [open.sizes(), ones.sizes(), none.sizes()]).is([
        None,
        Some(all(1)),
        Some(vec![]),
    ]);
    t.call("PartialShape::with_base", || open.with_base(&ones).ndim()).is(Some(2 * MANY));
    t.call("PartialShape::with_base", || none.with_base(&none)).is(none.clone());
    t.call("PartialShape::accepts", || [open.accepts(&spread()), open.accepts(&[]), none.accepts(&[])])
        .is([true, false, true]);
    t.call("PartialShape::accepts", || names.accepts(&all(MAX))).is(true);
    t.call("PartialShape::relaxes", || [open.relaxes(&ones), ones.relaxes(&open), none.relaxes(&open)])
        .is([true, false, false]);
    t.call("PartialShape::merge", || open.merge(&ones)).is(Ok(ones.clone()));
    t.call("PartialShape::merge", || names.merge(&ones)).is(Ok(ones.clone()));
    t.call("PartialShape::merge", || none.merge(&ones)).refused(ErrorKind::AxisCount);
    t.call("PartialShape::merge", || PartialShape::from([MAX]).merge(&[0].into()))
        .refused(ErrorKind::Incompatible);
    t.call("PartialShape::fmt", || open.to_string()).is(vec!["?"; MANY].join("x"));
    t.call("PartialShape::fmt", || format!("{none:?}")).is("PartialShape([])");
}

fn inferred(t: &mut Table) {
    let names = named();
    let (open, ones, rest) = (unknown(), PartialShape::from(all(1)), PartialShape::from(spread()));
    t.call("infer_dim", || infer_dim(Dim::Known(MAX), Dim::Unknown)).refused(ErrorKind::Overflow);
    t.call("infer_dim", || infer_dim(Dim::Known(0), Dim::Unknown)).is(Ok(Dim::Known(0)));
    t.call("infer_dim", || infer_dim(Dim::Known(0), Dim::Known(LIMIT))).refused(ErrorKind::Incompatible);
    t.call("infer_shape", || infer_shape(&open, &rest).map(|joint| joint.ndim())).is(Ok(Some(MANY)));
    t.call("infer_shape", || infer_shape(&names, &names)).is(Ok(names.clone()));
    t.call("infer_shape", || infer_shape(&shape("*"), &open)).is(Ok(shape("*")));
    t.call("infer_shape", || infer_shape(&[LIMIT].into(), &[2, 1].into())).refused(ErrorKind::Overflow);
    t.call("infer_shapes", || infer_shapes(&[])).is(Ok(PartialShape::ranked([])));
    let each: Vec<PartialShape> = all(shape("nx1"));
    t.call("infer_shapes", || infer_shapes(&each)).is(Ok(shape("nx1")));
    let least: PartialShape = vec![Dim::range(2..).unwrap(); MANY].into();
    t.call("infer_shapes", || infer_shapes(&[ones.clone(), least.clone()])).refused(ErrorKind::Overflow);
    t.call("infer_result_shape", || infer_result_shape(&[])).is(Ok(None));
    t.call("infer_result_shape", || infer_result_shape(&[ones.clone(), rest.clone()]))
        .is(Ok(Some(rest.clone())));
    t.call("infer_result_shape", || infer_result_shape(&[[0].into(), [MAX].into()]))
        .refused(ErrorKind::Incompatible);
    let (rule, pair) = (ResultRule::AllowCast, [names.clone(), ones.clone()]);
    t.call("verify", || verify(&[], &ones, rule)).refused(ErrorKind::NoOperands);
    t.call("verify", || verify(&[open.clone(), ones.clone()], &rest, rule)).is(Ok(()));
    t.call("verify", || verify(&pair, &names, ResultRule::Exact)).is(Ok(()));
    t.call("verify", || verify(&[shape("?")], &ones, rule)).refused(ErrorKind::AxisCount);
    t.call("verify", || verify(&[[1].into()], &[MAX].into(), rule)).refused(ErrorKind::ResultSize);
}

fn reductions(t: &mut Table) {
    let (open, ones, names, none) =
        (unknown(), PartialShape::from(all(1)), named(), PartialShape::ranked([]));
    t.call("infer_ranks", || infer_ranks(&[none.clone(), ones.clone()])).is(vec![ones.clone(), ones.clone()]);
    t.call("infer_ranks", || infer_ranks(&all(none.clone())).len()).is(MANY);
    t.call("keepdims", || infer_sum(&open, keepdims(all(0)))).refused(ErrorKind::DuplicateAxis);
    t.call("keepdims", || infer_sum(&names, keepdims((0..MANY).collect::<AxisSet>()))).is(Ok(ones.clone()));
    t.call("infer_sum_to", || infer_sum_to(&open, &names)).is(Ok(names.clone()));
    t.call("infer_sum_to", || infer_sum_to(&[MAX].into(), &[MAX].into())).refused(ErrorKind::Overflow);
    t.call("infer_sum_to", || infer_sum_to(&none, &ones)).refused(ErrorKind::TooManyAxes);
    let every: Vec<usize> = (0..MANY).rev().collect();
    t.call("infer_sum_in_dim", || infer_sum_in_dim(&open, &names, &every)).is(Ok(names.clone()));
    t.call("infer_sum_in_dim", || infer_sum_in_dim(&none, &shape("?"), MAX))
        .refused(ErrorKind::AxisOutOfBounds);
}

fn families(t: &mut Table) {
    let (open, ones, every) = (unknown(), PartialShape::from(all(1)), (0..MANY).collect::<Vec<_>>());
    t.call("infer_target", || infer_target(&open, all(-1))).is(Ok(open.clone()));
    t.call("infer_target", || infer_target(&shape("*"), ())).is(Ok(PartialShape::ranked([])));
    t.call("infer_target", || infer_target(&shape("?"), [isize::MIN])).refused(ErrorKind::InvalidSize);
    t.call("infer_target", || infer_target(&shape("2"), [isize::MAX, -1])).refused(ErrorKind::Overflow);
    t.call("infer_target", || infer_target(&shape("?"), all(-1))).refused(ErrorKind::PlaceholderOnNewAxis);
    t.call("infer_axes", || infer_axes(&PartialShape::ranked([]), &open, &every)).is(Ok(open.clone()));
    t.call("infer_axes", || infer_axes(&shape("*"), &shape("*"), MAX)).is(Ok(shape("*")));
    t.call("infer_axes", || infer_axes(&open, &shape("*"), AxisSet::default())).is(Ok(open.clone()));
    t.call("infer_axes", || infer_axes(&shape("?"), &shape("?x?"), MAX)).refused(ErrorKind::AxisOutOfBounds);
    t.call("infer_axes", || infer_axes(&shape("*"), &shape("*"), all(MAX))).refused(ErrorKind::DuplicateAxis);
    t.call("infer_in_dim", || infer_in_dim(&ones, &open, &every)).is(Ok(open.clone()));
    t.call("infer_in_dim", || infer_in_dim(&shape("*"), &shape("?"), MAX))
        .refused(ErrorKind::AxisOutOfBounds);
    t.call("infer_in_dim", || infer_in_dim(&shape("?"), &shape("?"), &every)).refused(ErrorKind::AxisCount);
    t.call("infer_batch", || infer_batch::<PartialShape>(&[])).is(Ok(PartialShape::ranked([])));
    t.call("infer_batch", || infer_batch(&[(open.clone(), MANY), (ones.clone(), 0)])).is(Ok(ones.clone()));
    t.call("infer_batch", || infer_batch(&[(shape("?"), MAX)])).refused(ErrorKind::DeclaredAxes);
    t.call("infer_sum", || infer_sum(&open, &every)).is(Ok(PartialShape::ranked([])));
    t.call("infer_sum", || infer_sum(&shape("*"), MAX)).is(Ok(shape("*")));
    t.call("infer_sum", || infer_sum(&open, [0, MAX])).refused(ErrorKind::AxisOutOfBounds);
}

fn decided(t: &mut Table) {
    let (open, ones, rest) = (unknown(), PartialShape::from(all(1)), PartialShape::from(spread()));
    t.call("decide", || decide(&[])).is(Decision::Always);
    t.call("decide", || decide(&[open.clone(), ones.clone()])).is(Decision::Always);
    let Decision::Depends(checks) = decide(&[open.clone(), open.clone()]) else { unreachable!() };
    t.call("decide", || decide(&[open.clone(), open.clone()]).checks()).is(Ok(checks.clone()));
    assert_eq!(checks.len(), MANY);
    let units = all(shape("?"));
    t.call("decide", || decide(&units)).holds(|decision| {
        matches!(decision, Decision::Depends(checks) if matches!(&checks[..], [Check::Agree { places }] if places.len() == MANY))
    });
    let stars = all(shape("*"));
    t.call("decide", || decide(&stars))
        .holds(|decision| decision.checks() == Ok(vec![Check::Succeeds { operation: ShapeOp::Together }]));
    t.call("Decision::checks", || decide(&[[MAX].into(), [0].into()]).checks())
        .refused(ErrorKind::Incompatible);
    t.call("decide_result", || decide_result(from_ref(&ones), &ones)).is(Decision::Always);
    t.call("decide_result", || decide_result(from_ref(&open), &rest).checks().map(|checks| checks.len()))
        .is(Ok(MANY));
    t.call("decide_result", || decide_result(&[shape("*"), open.clone()], &shape("?")).checks())
        .refused(ErrorKind::TooFewAxes);
    let (last, sizes) = (checks.last().unwrap(), [all(1), spread()]);
    t.call("Check::holds", || last.holds(&sizes)).is(true);
    t.call("Check::holds", || last.holds(&[[MAX], [0]])).is(false);
    let far = Place::Operand { operand: MAX, axis: MAX };
    let check = Check::Equals { place: far, other: Place::Result { axis: MAX }, or_one: true };
    t.call("Check::holds", || check.holds(&[[1]])).is(false);
    t.call("Check::holds", || Check::ResultAxes { ndim: 0 }.holds::<[usize; 0]>(&[])).is(true);
    t.call("Check::holds", || Check::Succeeds { operation: ShapeOp::Together }.holds(&sizes)).is(true);
    // all checks of many operands, and of many axes
    let (stars, shapes) = (decide(&all(shape("*"))).checks().unwrap(), all([1]));
    t.call("Check::holds", || stars.iter().all(|check| check.holds(&shapes))).is(true);
    let axes = decide(&[open.clone(), open.clone()]).checks().unwrap();
    t.call("Check::holds", || axes.iter().all(|check| check.holds(&sizes))).is(true);
    let result = decide_result(&[shape("*")], &PartialShape::from(spread())).checks().unwrap();
    t.call("Check::holds", || result.iter().all(|check| check.holds(&sizes))).is(true);
    t.call("Check::fmt", || check.to_string()).is(
        "axis 18446744073709551615 of operand 18446744073709551615 is 1 or equals axis 18446744073709551615 \
         of the result",
    );
    t.call("Place::fmt", || far.to_string()).is("axis 18446744073709551615 of operand 18446744073709551615");
}

fn planned(t: &mut Table) {
    let open = unknown();
    t.call("Plan::new", || Plan::new([])).gives(|plan| plan.checks().is_empty());
    t.call("Plan::new", || Plan::new([[LIMIT, 2].into()])).refused(ErrorKind::Overflow);
    let plan = Plan::new([open.clone(), open.clone()]).unwrap();
    t.call("Plan::operands", || plan.operands().len()).is(2);
    t.call("Plan::inferred", || plan.inferred()).is(&open);
    t.call("Plan::checks", || plan.checks().len()).is(MANY);
    let alone = Plan::new([open.clone()]).unwrap();
    t.call("Plan::with_result", || alone.clone().with_result(PartialShape::from(spread())))
        .gives(|plan| plan.checks().len() == MANY);
    t.call("Plan::with_result", || plan.clone().with_result([MAX].into())).refused(ErrorKind::AxisCount);
    t.call("Plan::joint_shape", || plan.joint_shape(&[all(1), spread()])).is(Ok(spread()));
    t.call("Plan::joint_shape", || plan.joint_shape(&[[MAX]])).refused(ErrorKind::OperandCount);
    t.call("Plan::joint_shape", || plan.joint_shape(&[[], []])).refused(ErrorKind::DeclaredAxes);
    let pair = Plan::new([shape("?"), shape("?")]).unwrap();
    t.call("Plan::joint_shape", || pair.joint_shape(&[[MAX], [1]])).refused(ErrorKind::Overflow);
}
