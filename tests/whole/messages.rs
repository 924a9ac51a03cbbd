//! Every message, word for word: a block of `tests/messages.txt` begins with a call in words, and below it stands what its error
//! prints. Each call is made in every form that the crate has. Other blocks are written by tests of this and other programs.

use common::narrow::Half;
use common::{Blocks, blocks, empty, refused};
use ndarray::{Array0, ArrayD, ArrayViewD, Axis, arr0};
use ndarray_broadcast::partial::{
    PartialShape, Plan, ResultRule, decide_result, infer_axes, infer_batch, infer_in_dim, infer_result_shape,
    infer_shapes, infer_sum, infer_sum_in_dim, infer_sum_to, infer_target, verify,
};
use ndarray_broadcast::{
    AxisSet, BroadcastError, ErrorKind, Signature, broadcast_apply, broadcast_apply2, broadcast_apply3,
    broadcast_arrays, broadcast_map, broadcast_shapes, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views, fused, reduction_axes, resolve_target,
};
use ndarray_broadcast::{keepdims, prelude::*};
use std::path::Path;
use std::{fs, thread};

type Outcome = Result<(), BroadcastError>;

/// Evaluates `$call` with `$target`, a list of numbers that may be negative or larger than `i64`.
macro_rules! with_sizes {
    ($numbers:expr, $target:ident => $call:expr) => {
        if $numbers.iter().all(|&size| i64::try_from(size).is_ok()) {
            let $target: Vec<i64> = all_as($numbers).expect("checked");
            $call.map(drop)
        } else {
            let $target: Vec<u64> = all_as($numbers).expect("sizes of 64 bits");
            $call.map(drop)
        }
    };
}

/// The numbers in another type, if they all fit.
fn all_as<T: TryFrom<i128>>(numbers: &[i128]) -> Option<Vec<T>> {
    numbers.iter().map(|&number| T::try_from(number).ok()).collect()
}

fn numbers(text: &str) -> Vec<i128> {
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).expect("a list in brackets");
    list.split(", ").filter(|item| !item.is_empty()).map(|item| item.parse().expect("a number")).collect()
}

fn sizes(text: &str) -> Vec<usize> {
    all_as(&numbers(text)).expect("sizes")
}

/// As many elements as the shape says, in the memory of one, unless the shape cannot be one of an array.
fn view<'a, A>(one: &'a Array0<A>, shape: &[usize]) -> Option<ArrayViewD<'a, A>> {
    one.broadcast_to(shape).ok()
}

fn repeated<'a, A>(one: &'a Array0<A>, shape: &[usize]) -> ArrayViewD<'a, A> {
    view(one, shape).expect("a shape of an array")
}

/// The results of a call in all its forms.
fn outcomes(call: &str) -> Vec<Outcome> {
    let unit = arr0(());
    let (name, arguments) = call.split_once(' ').expect("a name and arguments");
    let arguments: Vec<&str> = arguments.split(" | ").collect();
    match (name, &*arguments) {
        ("together", shapes) => together(&shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>()),
        ("to", [shape, target]) => to(&sizes(shape), &numbers(target)),
        ("to_shape", [shape, target]) => {
            let (shape, target) = (sizes(shape), numbers(target));
            let mut outcomes = vec![
                with_sizes!(&target, target => repeated(&unit, &shape).broadcast_to_match_shape(&*target)),
            ];
            let targets: Option<Vec<usize>> = all_as(&target);
            outcomes.extend(targets.map(|target| reduction_axes(&shape, &target).map(drop)));
            outcomes
        }
        ("along", [shape, axes, target]) => {
            let (array, axes, target) = (repeated(&unit, &sizes(shape)), sizes(axes), numbers(target));
            let mut outcomes = vec![with_sizes!(&target, target => array.broadcast_axes(&*target, &*axes))];
            let like = all_as::<usize>(&target);
            if let Some(like) = like.and_then(|like| view(&unit, &like)) {
                outcomes.push(array.broadcast_like(&like, &*axes).map(drop));
            }
            outcomes
        }
        ("placed", [shape, places, target]) => {
            let (array, places, target) = (repeated(&unit, &sizes(shape)), sizes(places), numbers(target));
            vec![with_sizes!(&target, target => array.broadcast_in_dim(&*target, &*places))]
        }
        ("sum_placed", [shape, places, target]) => {
            let (one, places, target) = (arr0(1_i64), sizes(places), numbers(target));
            let array = repeated(&one, &sizes(shape));
            vec![with_sizes!(&target, target => array.sum_in_dim(&*target, &*places))]
        }
        ("resolve", [signature, shapes @ ..]) => {
            let shapes: Vec<_> = shapes.iter().map(|shape| sizes(shape)).collect();
            let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
            vec![Signature::new(signature).and_then(|signature| signature.resolve(&shapes)).map(drop)]
        }
        ("axis_set", [axes, ndim]) => {
            let axes: Vec<isize> = all_as(&numbers(axes)).expect("signed numbers");
            vec![AxisSet::from_signed(&axes, ndim.parse().expect("a number")).map(drop)]
        }
        ("sum_over" | "sum_over_keepdims" | "sum_over_set", [shape, axes]) => {
            sum_over(name, &sizes(shape), &sizes(axes))
        }
        ("sum_to", [shape, target]) => sum_to(&sizes(shape), &numbers(target)),
        ("map", shapes) => map(&shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>()),
        ("apply", [out, shapes @ ..]) => {
            apply(&sizes(out), &shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>())
        }
        ("outputs", shapes) => outputs(&shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>()),
        ("map_sum_to", [target, shapes @ ..]) => {
            map_sum_to(&numbers(target), &shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>())
        }
        (
            "max_over" | "min_over" | "mean_over_keepdims" | "integer_mean_over" | "narrow_mean_over",
            [shape, axes],
        ) => {
            vec![reduction(name, &sizes(shape), &all_as(&numbers(axes)).expect("signed numbers"))]
        }
        ("reduce_to", [target, shape]) => {
            let one = arr0(1_i64);
            vec![repeated(&one, &sizes(shape)).reduce_to(sizes(target), 0, |a, b| a + b).map(drop)]
        }
        ("max_to" | "min_to" | "mean_to" | "integer_mean_to", [target, shape]) => {
            vec![reduction_to(name, &all_as(&numbers(target)).expect("signed numbers"), &sizes(shape))]
        }
        ("map_sum_over" | "map_max_over", [axes, shapes @ ..]) => {
            let axes: Vec<isize> = all_as(&numbers(axes)).expect("signed numbers");
            vec![map_over(name, &axes, &shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>())]
        }
        ("map_sum_placed", [places, target, a, b]) => {
            let one = arr0(1_i64);
            let (a, b) = (repeated(&one, &sizes(a)), repeated(&one, &sizes(b)));
            vec![fused((&a, &b), |a, b| a * b).sum_in_dim(sizes(target), sizes(places)).map(drop)]
        }
        _ => vec![partial(name, &arguments)],
    }
}

fn together(shapes: &[Vec<usize>]) -> Vec<Outcome> {
    let mut outcomes = vec![broadcast_shapes(shapes).map(drop)];
    let unit = arr0(());
    let arrays: Option<Vec<_>> = shapes.iter().map(|shape| view(&unit, shape)).collect();
    let Some(arrays) = arrays else { return outcomes };
    outcomes.push(broadcast_views(&arrays).map(drop));
    match &*arrays {
        [a] => outcomes.push(broadcast_arrays((a,)).map(drop)),
        [a, b] => outcomes.extend([
            broadcast_arrays((a, b)).map(drop),
            a.broadcast_to_match(b).map(drop),
            broadcast_to_match_in_place(&mut a.view(), &mut b.view()),
        ]),
        [a, b, c] => outcomes.extend([
            broadcast_arrays((a, b, c)).map(drop),
            a.broadcast_to_match3(b, c).map(drop),
            broadcast_to_match3_in_place(&mut a.view(), &mut b.view(), &mut c.view()),
        ]),
        _ => {}
    }
    outcomes
}

fn to(shape: &[usize], target: &[i128]) -> Vec<Outcome> {
    let unit = arr0(());
    let array = repeated(&unit, shape);
    let mut outcomes = vec![
        with_sizes!(target, target => array.broadcast_to(&*target)),
        with_sizes!(target, target => array.view().into_broadcast_to(&*target)),
        with_sizes!(target, target => array.view().broadcast_in_place(&*target)),
    ];
    let signed: Option<Vec<isize>> = all_as(target);
    outcomes.extend(signed.map(|target| resolve_target(shape, &target).map(drop)));
    outcomes
}

fn sum_over(name: &str, shape: &[usize], axes: &[usize]) -> Vec<Outcome> {
    let one = arr0(1_i64);
    let delta = repeated(&one, shape);
    let fixed = || {
        let delta = delta.clone().into_dimensionality::<ndarray::Ix3>().ok()?;
        let axes: [usize; 3] = axes.try_into().ok()?;
        Some(match name {
            "sum_over_keepdims" => vec![delta.sum_axes(keepdims(axes)).map(drop)],
            _ => vec![delta.sum_axes(axes).map(drop), delta.sum_axes(axes.map(Axis)).map(drop)],
        })
    };
    let mut outcomes = match name {
        "sum_over_set" => {
            let set: AxisSet = axes.iter().copied().collect();
            return vec![delta.sum_axes(&set).map(drop), delta.sum_axes(set).map(drop)];
        }
        "sum_over_keepdims" => vec![],
        _ => vec![
            delta.sum_axes(axes).map(drop),
            delta.sum_axes(axes.to_vec()).map(drop),
            delta.sum_axes(axes.iter().copied().map(Axis).collect::<Vec<_>>()).map(drop),
        ],
    };
    // where the result with its axes is another, its message is too
    if name == "sum_over_keepdims" || refused(outcomes[0].clone()).kind() != ErrorKind::TooLarge {
        outcomes.push(delta.sum_axes(keepdims(axes)).map(drop));
    }
    outcomes.extend(fixed().into_iter().flatten());
    outcomes
}

fn sum_to(shape: &[usize], target: &[i128]) -> Vec<Outcome> {
    let one = arr0(1_i64);
    let delta = repeated(&one, shape);
    let mut outcomes = vec![with_sizes!(target, target => delta.sum_to(&*target))];
    let is_small = delta.len() < 1000;
    if is_small {
        outcomes.push(with_sizes!(target, target => delta.to_owned().into_sum_to(&*target)));
    }
    let Some(target): Option<Vec<usize>> = all_as(target) else { return outcomes };
    let unit = arr0(());
    let Some(like) = view(&unit, &target) else { return outcomes };
    outcomes.push(delta.sum_to(&like).map(drop));
    if is_small {
        let mut out = ArrayD::from_elem(target, 7);
        let before = out.clone();
        outcomes.extend([
            delta.sum_to(&before).map(drop),
            delta.assign_sum_to(&mut out),
            delta.add_sum_to(&mut out),
            delta.scaled_add_sum_to(2, &mut out),
        ]);
        assert_eq!(out, before, "an error changes nothing");
    }
    outcomes
}

/// Into elements of 4 bytes.
fn map(shapes: &[Vec<usize>]) -> Vec<Outcome> {
    let unit = arr0(());
    let arrays: Vec<_> = shapes.iter().map(|shape| repeated(&unit, shape)).collect();
    match &*arrays {
        [a] => vec![broadcast_map(a, |()| 0_i32).map(drop), broadcast_map((a,), |()| 0_i32).map(drop)],
        [a, b] => vec![broadcast_map((a, b), |(), ()| 0_i32).map(drop)],
        [a, b, c] => vec![broadcast_map((a, b, c), |(), (), ()| 0_i32).map(drop)],
        _ => panic!("1 to 3 operands"),
    }
}

fn apply(out: &[usize], shapes: &[Vec<usize>]) -> Vec<Outcome> {
    let unit = arr0(());
    let arrays: Vec<_> = shapes.iter().map(|shape| repeated(&unit, shape)).collect();
    let mut out = empty(out);
    match &*arrays {
        [a] => vec![
            broadcast_apply(&mut out, a, |(), ()| ()),
            broadcast_apply(&mut out, (a,), |(), ()| ()),
            a.materialize_into(&mut out),
        ],
        [a, b] => vec![
            broadcast_apply(&mut out, (a, b), |(), (), ()| ()),
            broadcast_apply2(&mut out.clone(), &mut out, (a, b), |(), (), (), ()| ()),
            broadcast_apply3(&mut out.clone(), &mut out.clone(), &mut out, (a, b), |(), (), (), (), ()| ()),
        ],
        _ => panic!("1 or 2 operands"),
    }
}

/// Several outputs.
fn outputs(shapes: &[Vec<usize>]) -> Vec<Outcome> {
    let unit = arr0(());
    let mut all: Vec<_> = shapes.iter().map(|shape| empty(shape)).collect();
    match &mut *all {
        [a, b] => vec![broadcast_apply2(a, b, &unit, |(), (), ()| ())],
        [a, b, c] => vec![broadcast_apply3(a, b, c, &unit, |(), (), (), ()| ())],
        _ => panic!("2 or 3 outputs"),
    }
}

/// Sums of elements of 8 bytes.
fn map_sum_to(target: &[i128], shapes: &[Vec<usize>]) -> Vec<Outcome> {
    let one = arr0(1_i64);
    let views: Vec<_> = shapes.iter().map(|shape| repeated(&one, shape)).collect();
    vec![match &*views {
        [a] => with_sizes!(target, target => fused(a, |&a| a + 1).sum_to(&*target)),
        [a, b] => with_sizes!(target, target => fused((a, b), |a, b| a * b).sum_to(&*target)),
        _ => panic!("1 or 2 operands"),
    }]
}

fn reduction(name: &str, shape: &[usize], axes: &[isize]) -> Outcome {
    let (one, small) = (arr0(1.0), arr0(1_u8));
    let x = repeated(&one, shape);
    match name {
        "max_over" => x.max_axes(axes).map(drop),
        "min_over" => x.min_axes(axes).map(drop),
        "mean_over_keepdims" => x.mean_axes(keepdims(axes)).map(drop),
        "narrow_mean_over" => repeated(&arr0(Half::new(1.0)), shape).mean_axes(axes).map(drop),
        _ => repeated(&small, shape).mean_axes(axes).map(drop),
    }
}

fn reduction_to(name: &str, target: &[isize], shape: &[usize]) -> Outcome {
    let (one, small) = (arr0(1.0), arr0(1_u8));
    let x = repeated(&one, shape);
    match name {
        "max_to" => x.max_to(target).map(drop),
        "min_to" => x.min_to(target).map(drop),
        "mean_to" => x.mean_to(target).map(drop),
        _ => repeated(&small, shape).mean_to(target).map(drop),
    }
}

fn map_over(name: &str, axes: &[isize], shapes: &[Vec<usize>]) -> Outcome {
    let one = arr0(1_i64);
    let views: Vec<_> = shapes.iter().map(|shape| repeated(&one, shape)).collect();
    match (name, &*views) {
        ("map_sum_over", [a]) => fused(a, |a| a + 1).sum_axes(axes).map(drop),
        ("map_sum_over", [a, b]) => fused((a, b), |a, b| a * b).sum_axes(axes).map(drop),
        (_, [a]) => fused(a, |a| a + 1).max_axes(axes).map(drop),
        (_, [a, b]) => fused((a, b), |a, b| a * b).max_axes(axes).map(drop),
        _ => panic!("1 or 2 operands"),
    }
}

/// Calls on shapes that are known in part.
fn partial(name: &str, arguments: &[&str]) -> Outcome {
    let p = |text: &str| text.parse::<PartialShape>().expect("a shape");
    let all = |texts: &[&str]| texts.iter().map(|text| p(text)).collect::<Vec<_>>();
    match (name, arguments) {
        ("read", [text]) => text.parse::<PartialShape>().map(drop),
        ("infer", operands) => infer_shapes(&all(operands)).map(drop),
        ("infer_result", operands) => infer_result_shape(&all(operands)).map(drop),
        ("merge", [a, b]) => p(a).merge(&p(b)).map(drop),
        ("verify_cast", [result, operands @ ..]) => verify(&all(operands), &p(result), ResultRule::AllowCast),
        ("verify_exact", [result, operands @ ..]) => verify(&all(operands), &p(result), ResultRule::Exact),
        ("decide_result", [result, operands @ ..]) => {
            decide_result(&all(operands), &p(result)).checks().map(drop)
        }
        ("infer_target", [shape, target]) => {
            infer_target(&p(shape), all_as::<i64>(&numbers(target)).expect("sizes")).map(drop)
        }
        ("infer_in_dim", [shape, axes, target]) => infer_in_dim(&p(shape), &p(target), sizes(axes)).map(drop),
        ("infer_sum_in_dim", [shape, axes, target]) => {
            infer_sum_in_dim(&p(shape), &p(target), sizes(axes)).map(drop)
        }
        ("infer_axes", [shape, axes, target]) => infer_axes(&p(shape), &p(target), sizes(axes)).map(drop),
        ("infer_batch", [base, operands @ ..]) => {
            let base = base.parse().expect("a number of axes");
            let operands: Vec<_> = all(operands).into_iter().map(|operand| (operand, base)).collect();
            infer_batch(&operands).map(drop)
        }
        ("infer_sum", [shape, axes]) => infer_sum(&p(shape), sizes(axes)).map(drop),
        ("planned", [plan, shapes @ ..]) => {
            let (operands, result) = plan.split_once(" -> ").expect("operands and a result");
            let plan = Plan::new(operands.split(' ').map(p)).expect("they go together");
            let plan = plan.with_result(p(result)).expect("it may be the result");
            plan.joint_shape(&shapes.iter().map(|shape| sizes(shape)).collect::<Vec<_>>()).map(drop)
        }
        _ => panic!("not a call: {name} {arguments:?}"),
    }
}

/// The same call on shapes of which all sizes are known, in the notation of partial shapes, if there is one.
fn as_partial(call: &str) -> Option<Outcome> {
    let (name, arguments) = call.split_once(' ')?;
    let arguments: Vec<&str> = arguments.split(" | ").collect();
    let known = |text: &str| Some(PartialShape::from(all_as::<usize>(&numbers(text))?));
    let all = |texts: &[&str]| texts.iter().map(|text| known(text)).collect::<Option<Vec<_>>>();
    Some(match (name, &*arguments) {
        ("together", shapes) => infer_shapes(&all(shapes)?).map(drop),
        ("to", [shape, target]) => {
            let (shape, target) = (known(shape)?, numbers(target));
            with_sizes!(&target, target => infer_target(&shape, &*target))
        }
        ("along", [shape, axes, target]) => {
            infer_axes(&known(shape)?, &known(target)?, sizes(axes)).map(drop)
        }
        ("placed", [shape, axes, target]) => {
            infer_in_dim(&known(shape)?, &known(target)?, sizes(axes)).map(drop)
        }
        ("sum_over" | "sum_over_set", [shape, axes]) => infer_sum(&known(shape)?, sizes(axes)).map(drop),
        ("sum_to", [shape, target]) => infer_sum_to(&known(shape)?, &known(target)?).map(drop),
        ("resolve", [signature, shapes @ ..]) => {
            let shapes = all(shapes)?;
            Signature::new(signature).and_then(|signature| signature.infer(&shapes)).map(drop)
        }
        ("sum_placed", [shape, axes, target]) => {
            infer_sum_in_dim(&known(shape)?, &known(target)?, sizes(axes)).map(drop)
        }
        ("map_sum_placed", [places, target, a, b]) if a == b => {
            infer_sum_in_dim(&known(a)?, &known(target)?, sizes(places)).map(drop)
        }
        _ => return None,
    })
}

/// What an error knows, and the end of its message without the notation of shapes: `(shapes 0 and 1)` stands beside three
/// arrays or more, `(operands 0 and 1)` beside any partial shapes, and only arrays have a `batch axis`.
fn facts(error: &BroadcastError) -> String {
    let reason = error.to_string().split_once(": ").expect("a reason").1.to_owned();
    let reason = match reason.split_once(" (").filter(|(_, rest)| rest.starts_with(['s', 'o'])) {
        Some((before, rest)) => before.to_owned() + rest.split_once(')').expect("two brackets").1,
        None => reason,
    };
    let reason = reason.replace("batch axis", "axis");
    let its = |shape: &String| format!("shape {shape} has");
    let reason =
        error.shapes().iter().fold(reason, |reason, shape| reason.replace(&its(shape), "its shape has"));
    format!("{:?} {:?} {:?} {:?} {reason}", error.kind(), error.axis(), error.sizes(), error.operands())
}

/// Asserts that an error of arrays is that of partial shapes with the same sizes. Beside a size that no axis has, or memory that
/// no array has, a partial shape may be right.
fn assert_same(error: &BroadcastError, partial: Outcome, call: &str) {
    match partial {
        Ok(()) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{call}: partial shapes succeed"),
        Err(partial) if partial.kind() == error.kind() => assert_eq!(facts(error), facts(&partial), "{call}"),
        Err(_) => {
            assert!(matches!(error.kind(), ErrorKind::InvalidSize | ErrorKind::TooLarge), "{call}: {error}");
        }
    }
}

/// The blocks below calls. The other blocks belong to tests, whose names have a colon.
fn calls() -> Blocks {
    blocks().into_iter().filter(|(first, _)| !is_test(first)).collect()
}

fn is_test(first: &str) -> bool {
    first.split(' ').next().is_some_and(|word| word.ends_with(':'))
}

#[test]
fn every_message() {
    let (mut found, mut compared) = (Blocks::new(), 0);
    for call in calls().into_keys() {
        let errors: Vec<_> = outcomes(&call).into_iter().map(refused).collect();
        if let Some(partial) = as_partial(&call) {
            compared += 1;
            assert_same(&errors[0], partial, &call);
        }
        let said: Vec<_> = errors.iter().map(common::said).collect();
        assert!(said.iter().all(|form| *form == said[0]), "{call}\n{}", said.join("\n"));
        found.extend(said.into_iter().next().map(|said| (call, said)));
    }
    assert!(compared > 0);
    common::assert_blocks(&found);
}

#[test]
fn the_table_is_sorted() {
    common::assert_sorted();
}

#[test]
fn writers_of_a_table_lose_no_block() {
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("blocks-{}.txt", std::process::id()));
    fs::write(&table, "").expect("an empty table");
    let blocks = [0, 1, 2, 3].map(|i| Blocks::from([(format!("to {i}"), "its message".into())]));
    thread::scope(|scope| blocks.iter().for_each(|block| drop(scope.spawn(|| common::bless(&table, block)))));
    let text = fs::read_to_string(&table).expect("a table");
    assert_eq!((text.matches("to ").count(), text.matches("its message").count()), (4, 4), "{text}");
    fs::remove_file(&table).expect("the table can be removed");
}

/// A block of a test that is gone would stay in the table.
#[test]
fn every_block_belongs_to_a_test() {
    let folders = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder of the tests");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let files = folders.flat_map(|path| match fs::read_dir(&path) {
        Ok(inner) => inner.map(|entry| entry.expect("an entry").path()).collect(),
        Err(_) => vec![path],
    });
    let sources = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let sources: String = sources.map(|path| fs::read_to_string(path).expect("a text")).collect();
    let is_dead = |first: &String| is_test(first) && !sources.contains(&format!("\"{first}\""));
    let dead: Vec<_> = blocks().into_keys().filter(is_dead).collect();
    assert!(dead.is_empty(), "no test writes these blocks of tests/messages.txt: {dead:?}");
}

/// Forms of one call have equal errors, although other functions make them.
#[test]
fn errors_are_equal_if_they_print_the_same() {
    let errors: Vec<_> = calls().keys().flat_map(|call| outcomes(call)).filter_map(Result::err).collect();
    let printed: Vec<_> = errors.iter().map(|error| format!("{error:?} {error:#}")).collect();
    let mut equal = 0;
    for (i, error) in errors.iter().enumerate() {
        for (k, other) in errors.iter().enumerate() {
            assert_eq!(error == other, printed[i] == printed[k], "{error:#}\n{other:#}");
            equal += usize::from(error == other);
        }
    }
    assert!(equal > errors.len(), "each error is equal to itself and to those of other forms");
}
