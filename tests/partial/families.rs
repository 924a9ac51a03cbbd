//! Targets with -1, axis sets, batches and sums, against the same on known shapes.

use super::{all, p};
use common::oracle::{assert_inferred, joint_shape, language, stands, worlds};
use ndarray_broadcast::partial::{
    Decision, PartialShape, ResultRule, decide, infer_axes, infer_batch, infer_in_dim, infer_shapes,
    infer_sum, infer_sum_to, infer_target, verify,
};
use ndarray_broadcast::{AxisSet, BroadcastError, ErrorKind, keepdims, resolve_target};

const TOP: usize = 5;
const DIMS: [&str; 8] = ["0", "1", "3", "?", "0..1", "2..3", "n", "m"];

/// All shapes of up to two axes over `dims`.
fn shapes(dims: &[&str]) -> Vec<PartialShape> {
    let mut shapes = vec![p("[]")];
    shapes.extend(dims.iter().map(|dim| p(dim)));
    shapes.extend(dims.iter().flat_map(|a| dims.iter().map(move |b| p(&format!("{a}x{b}")))));
    shapes
}

/// A target with -1: refused where all sizes would be, else of the sizes that come out and no others.
#[test]
fn target() {
    let sizes = [-1, 0, 1, 3, 4];
    let mut targets: Vec<Vec<isize>> = vec![vec![]];
    targets.extend(sizes.map(|size| vec![size]));
    targets.extend(sizes.iter().flat_map(|&a| sizes.map(|b| vec![a, b])));
    let (language, mut cases) = (language(3), 0);
    for shape in shapes(&DIMS) {
        for target in &targets {
            cases += 1;
            let outcomes: Vec<_> = worlds(std::slice::from_ref(&shape), TOP)
                .into_iter()
                .filter_map(|(names, shapes)| Some((names, resolve_target(&shapes[0], target).ok()?)))
                .collect();
            let of = format!("{shape} to {target:?}");
            assert_inferred(&infer_target(&shape, target), &outcomes, (&language, TOP), &of);
        }
    }
    assert_eq!(cases, 73 * 31);
}

#[test]
fn target_in_order() {
    let variant = |shape: &str, target: &[isize]| {
        let error = infer_target(&p(shape), target).unwrap_err();
        format!("{error:?}").split(':').next().unwrap().to_string()
    };
    assert_eq!(variant("2x3", &[-2]), "InvalidSize");
    assert_eq!(variant("2x3", &[3]), "TooFewAxes");
    assert_eq!(variant("2x3", &[-1, 2, 4]), "PlaceholderOnNewAxis");
    assert_eq!(variant("2x3", &[isize::MAX, isize::MAX, 4]), "Incompatible");
    assert_eq!(variant("?x3", &[isize::MAX, isize::MAX, 3]), "Overflow");
    assert_eq!(variant("*", &[isize::MAX, isize::MAX]), "Overflow");
    assert_eq!(infer_target(&p("*"), [-1, 0, -1]), Ok(p("?x0x?")));
    assert_eq!(infer_target(&p("?xn"), ()).map_err(|error| error.kind()), Err(ErrorKind::TooFewAxes));
    assert_eq!(infer_target(&p("?xn"), (2_u8, 4_i64, -1)), Ok(p("2x4xn")));
    assert_eq!(infer_target(&p("?xn"), vec![2, 4, -1]), Ok(p("2x4xn")));
    assert_eq!(infer_target(&p("?"), ndarray::Ix2(2, 4)), Ok(p("2x4")));
    assert_eq!(infer_target(&p("?"), 4), Ok(p("4")));
    for target in [usize::MAX, 1 << 63] {
        assert_eq!(infer_target(&p("?"), target).unwrap_err().kind(), ErrorKind::InvalidSize);
    }
}

/// An axis set: the array equals the target without the axes, and both tell what the result is.
#[test]
fn axes() {
    let targets = shapes(&["1", "3", "?", "2..3", "n"]);
    let (language, mut cases) = (language(3), 0);
    for array in shapes(&["1", "3", "?", "0..2", "n", "m"]) {
        for target in targets.iter().filter(|target| target.ndim() >= array.ndim()) {
            for axis in 0..target.ndim().unwrap() + 1 - array.ndim().unwrap() {
                let new: Vec<usize> = (axis..axis + target.ndim().unwrap() - array.ndim().unwrap()).collect();
                cases += 1;
                let outcomes: Vec<_> = worlds(&[array.clone(), target.clone()], TOP)
                    .into_iter()
                    .filter(|(_, shapes)| {
                        let others = shapes[1].iter().enumerate().filter(|(axis, _)| !new.contains(axis));
                        others.map(|(_, size)| *size).collect::<Vec<_>>() == shapes[0]
                    })
                    .map(|(names, mut shapes)| (names, shapes.swap_remove(1)))
                    .collect();
                let of = format!("{array} along {new:?} to {target}");
                assert_inferred(&infer_axes(&array, target, &new), &outcomes, (&language, TOP), &of);
            }
        }
    }
    assert_eq!(cases, 1316);
}

#[test]
fn axes_unranked_and_wrong() {
    assert_eq!(infer_axes(&p("*"), &p("2x3"), [0]), Ok(p("2x3")));
    assert_eq!(infer_axes(&p("nx3"), &p("*"), AxisSet::from([2, 0])), Ok(p("?xnx?x3")));
    assert_eq!(infer_axes(&p("*"), &p("*"), [7]), Ok(p("*")));
    let variant = |result: Result<PartialShape, BroadcastError>| {
        format!("{:?}", result.unwrap_err()).split(':').next().unwrap().to_string()
    };
    assert_eq!(infer_axes(&p("*"), &p("*"), [7, 0]), Ok(p("*")));
    assert_eq!(variant(infer_axes(&p("*"), &p("*"), [7, 7])), "DuplicateAxis");
    let twice = infer_axes(&p("*"), &p("*"), [7, 0, 3, 7]).unwrap_err();
    assert_eq!((twice.kind(), twice.axis()), (ErrorKind::DuplicateAxis, Some(7)));
    assert_eq!(variant(infer_axes(&p("3"), &p("*"), [usize::MAX])), "AxisOutOfBounds");
    assert_eq!(variant(infer_axes(&p("3"), &p("2x3"), [2])), "AxisOutOfBounds");
    assert_eq!(variant(infer_axes(&p("3"), &p("2x2x3"), [0, 0])), "DuplicateAxis");
    assert_eq!(variant(infer_axes(&p("3"), &p("2x2x3"), [0])), "AxisCount");
    assert_eq!(variant(infer_axes(&p("1"), &p("2x3"), [0])), "Incompatible");
    assert_eq!(variant(infer_axes(&p("nxn"), &p("2x3"), AxisSet::default())), "Incompatible");
}

/// Placed axes: those that are not 1 are the target's, and tell of it.
#[test]
fn in_dim() {
    let pairs = |dims: &[&str]| shapes(dims).into_iter().filter(|shape| shape.ndim() == Some(2));
    let (language, mut cases) = (language(4), 0);
    for array in pairs(&["1", "3", "?", "2..3", "n"]) {
        for target in pairs(&["1", "3", "?", "2..4", "m"]) {
            for axes in [[0, 1], [1, 0]] {
                cases += 1;
                let placed = |shapes: &[Vec<usize>]| {
                    let stretches = |i: usize| [1, shapes[1][axes[i]]].contains(&shapes[0][i]);
                    stretches(0) && stretches(1)
                };
                let outcomes: Vec<_> = worlds(&[array.clone(), target.clone()], TOP)
                    .into_iter()
                    .filter(|(_, shapes)| placed(shapes))
                    .map(|(names, mut shapes)| (names, shapes.swap_remove(1)))
                    .collect();
                let of = format!("{array} at {axes:?} of {target}");
                assert_inferred(&infer_in_dim(&array, &target, axes), &outcomes, (&language, TOP + 1), &of);
            }
        }
    }
    assert_eq!(cases, 25 * 25 * 2);
    assert_eq!(infer_in_dim(&p("*"), &p("2x3"), [1]), Ok(p("2x3")));
    assert_eq!(infer_in_dim(&p("4"), &p("*"), [9]), Ok(p("*")));
    assert_eq!(infer_in_dim(&p("*"), &p("*"), [9, 2]), Ok(p("*")));
    assert!(
        infer_in_dim(&p("4"), &p("*"), [0, 1]).is_err() && infer_in_dim(&p("*"), &p("*"), [1, 1]).is_err()
    );
    assert!(
        infer_in_dim(&p("*"), &p("2x3"), [2]).is_err() && infer_in_dim(&p("2x3"), &p("nxn"), [0, 1]).is_err()
    );
}

/// Sums to a shape: no size is left out, and no smaller `Dim` would do where there are no names.
#[test]
fn sum_to() {
    let shapes = shapes(&["0", "1", "3", "?", "0..1", "2..3", "n"]);
    let (language, mut cases) = (language(4), 0);
    for (shape, target) in shapes.iter().flat_map(|shape| shapes.iter().map(move |target| (shape, target))) {
        let fits = |shapes: &[Vec<usize>]| {
            let mut pairs = shapes[1].iter().rev().zip(shapes[0].iter().rev());
            shapes[1].len() <= shapes[0].len() && pairs.all(|(to, from)| to == from || *to == 1)
        };
        let operands = [shape.clone(), target.clone()];
        let outcomes: Vec<_> = worlds(&operands, TOP)
            .into_iter()
            .filter(|(_, shapes)| fits(shapes))
            .map(|(names, mut shapes)| (names, shapes.swap_remove(1)))
            .collect();
        let inferred = infer_sum_to(shape, target);
        let language = if stands("n", &operands) { &[] } else { &language[..] };
        assert_inferred(&inferred, &outcomes, (language, TOP), &format!("{shape} to {target}"));
        cases += usize::from(inferred.is_ok());
    }
    assert!(cases > 1000, "{cases}");
}

/// Batches join, bases are left alone: the same as on the batches by themselves.
#[test]
fn batch() {
    let batches = shapes(&["0", "3", "?", "2..3", "n"]);
    for (a, b) in batches.iter().flat_map(|a| batches.iter().map(move |b| (a, b))) {
        let based = [(a.with_base(&p("6x7")), 2), (b.with_base(&p("8")), 1)];
        let found = infer_batch(&based);
        let outcomes: Vec<_> = worlds(&[a.clone(), b.clone()], TOP)
            .into_iter()
            .filter_map(|(names, shapes)| Some((names, joint_shape(&shapes)?)))
            .collect();
        assert_inferred(&found, &outcomes, (&[], TOP), &format!("{a} and {b}"));
    }
    assert_eq!(infer_batch(&[(p("*"), 1), (p("3x2"), 1)]), Ok(p("*")));
    assert_eq!(infer_batch::<PartialShape>(&[]), Ok(p("[]")));
    assert!(infer_batch(&[(p("*"), 1), (p("3x2"), 1), (p("2x2"), 1)]).is_err());
}

#[test]
fn sum() {
    assert_eq!(infer_sum(&p("2x?xnx0..4"), AxisSet::from([1, 3])), Ok(p("2xn")));
    assert_eq!(infer_sum(&p("2x?"), AxisSet::default()), Ok(p("2x?")));
    assert_eq!(infer_sum(&p("[]"), [0_usize; 0]), Ok(p("[]")));
    assert_eq!(infer_sum(&p("*"), [3, 0]), Ok(p("*")));
    assert_eq!(infer_sum(&p("2x?xnx0..4"), keepdims([1, -1])), Ok(p("2x1xnx1")));
    assert_eq!(infer_sum(&p("n"), keepdims(AxisSet::default())), Ok(p("n")));
    assert_eq!(infer_sum(&p("*"), keepdims([3, 0])), Ok(p("*")));
    // all axes, of which none are left, known or not
    assert_eq!([infer_sum(&p("2x?"), ..), infer_sum(&p("*"), ..)], [Ok(p("[]")), Ok(p("[]"))]);
    assert_eq!(infer_sum(&p("*"), keepdims(..)), Ok(p("*")));
    assert!(infer_sum(&p("2"), keepdims(1)).is_err());
    assert!(infer_sum(&p("2"), [0, 0]).is_err() && infer_sum(&p("*"), [3, 3]).is_err());
    let (array, target) = (p("?x3"), p("4xnx?"));
    let broadcast = infer_axes(&array, &target, [0]).unwrap();
    assert_eq!(infer_sum(&broadcast, [0]), Ok(p("nx3")));
}

#[test]
fn names_relax_themselves_only() {
    let relaxes = |own: &str, other: &str| p(own).relaxes(&p(other));
    assert!(relaxes("nx2", "nx2") && relaxes("?x2", "nx2"));
    assert!(relaxes("n", "n:2..5") && relaxes("n:2..", "n:2..5") && relaxes("1..", "n:2..5"));
    assert!(!relaxes("n:2..5", "n") && !relaxes("n:2..5", "3") && !relaxes("3..", "n:2..5"));
    assert!(!relaxes("n", "m") && !relaxes("n", "?") && !relaxes("n", "3"));
}

/// The tables of the module's documentation page.
#[test]
fn documented_tables() {
    let infer = |operands: &[&str]| {
        infer_shapes(&all(operands)).map_or_else(|_| "error".to_string(), |joint| joint.to_string())
    };
    for (operands, joint) in [
        (&["?", "3"][..], "3"),
        (&["?", "1"], "?"),
        (&["?", "0"], "0"),
        (&["0", "?", "3"], "error"),
        (&["2..5", "4..9"], "4..5"),
        (&["0..4", "3..5"], "3..5"),
        (&["0..2", "1..3"], "0..3"),
        (&["n", "n"], "n"),
        (&["n", "1"], "n"),
        (&["n", "3"], "3"),
        (&["n", "m"], "?"),
        (&["n:2..", "m"], "n:2.."),
        (&["n:2..", "m:3.."], "n:3.."),
        (&["nx?x0..1", "5x1xn"], "5x?x0..5"),
        (&["nxn", "3x1"], "3xn"),
        (&["2..", "0..0"], "error"),
    ] {
        assert_eq!(infer(operands), joint, "{operands:?}");
    }
    for operands in [["?x1", "3"], ["n", "n"], ["0..1", "0"]] {
        assert_eq!(decide(&operands.map(p)), Decision::Always, "{operands:?}");
    }
    for (inferred, declared, cast, exact) in [
        ("4", "4", true, true),
        ("4", "?", true, true),
        ("?", "4", true, false),
        ("?", "?", true, true),
        ("*", "?", true, true),
        ("3", "4", false, false),
        ("2..5", "3..9", true, false),
        ("3", "1x3", false, false),
    ] {
        let verdict = |rule| verify(&[p(inferred)], &p(declared), rule).is_ok();
        assert_eq!(
            [verdict(ResultRule::AllowCast), verdict(ResultRule::Exact)],
            [cast, exact],
            "{inferred} {declared}"
        );
    }
}
