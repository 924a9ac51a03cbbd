//! The rule by enumeration: every assignment of sizes to what is not known, one after the other.

use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::partial::{Dim, PartialShape};
use std::collections::BTreeSet;

/// Sizes that names stand for: `n`, then `m`.
pub type Names = [usize; 2];

/// The joint size: all that are not 1 are equal.
pub fn joint(sizes: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut stretching: Vec<usize> = sizes.into_iter().filter(|&size| size != 1).collect();
    stretching.dedup();
    match stretching[..] {
        [] => Some(1),
        [size] => Some(size),
        _ => None,
    }
}

/// The joint shape, aligned at the right.
pub fn joint_shape(shapes: &[Vec<usize>]) -> Option<Vec<usize>> {
    let ndim = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let at = |shape: &Vec<usize>, from_end: usize| shape.iter().rev().nth(from_end).copied().unwrap_or(1);
    (0..ndim).rev().map(|from_end| joint(shapes.iter().map(|shape| at(shape, from_end)))).collect()
}

/// Whether an axis of size `size` is as `dim` says when names stand for `names`.
pub fn covers(dim: &Dim, names: Names, size: usize) -> bool {
    match dim {
        Dim::Known(known) => *known == size,
        Dim::Unknown => true,
        Dim::Range(range) => range.min() <= size && range.max().is_none_or(|max| size <= max),
        Dim::Name(name) => {
            let within = name.range().is_none_or(|range| covers(&Dim::Range(range), names, size));
            within && names[usize::from(name.as_str() != "n")] == size
        }
        other => panic!("{other} is not enumerated"),
    }
}

/// Whether a shape of `sizes` is as `shape` says when names stand for `names`.
pub fn covers_all(shape: &PartialShape, names: Names, sizes: &[usize]) -> bool {
    shape.dims().is_none_or(|dims| {
        dims.len() == sizes.len() && dims.iter().zip(sizes).all(|(dim, &size)| covers(dim, names, size))
    })
}

/// Whether a joint shape is as `result` says, whose names that no operand has stand for their first size.
pub fn agrees(operands: &[PartialShape], result: &PartialShape, mut names: Names, joint: &[usize]) -> bool {
    for (i, name) in ["n", "m"].into_iter().enumerate().filter(|(_, name)| !stands(name, operands)) {
        let first = result.dims().unwrap_or_default().iter().position(|dim| is_name(dim, name));
        names[i] = *first.and_then(|axis| joint.get(axis)).unwrap_or(&names[i]);
    }
    covers_all(result, names, joint)
}

fn is_name(dim: &Dim, name: &str) -> bool {
    matches!(dim, Dim::Name(own) if own.as_str() == name)
}

/// Whether a name stands at an axis of some shape.
pub fn stands(name: &str, shapes: &[PartialShape]) -> bool {
    shapes.iter().flat_map(|shape| shape.dims().unwrap_or_default()).any(|dim| is_name(dim, name))
}

/// All assignments of sizes up to `top` to the names that stand in `shapes`; 0 to the others.
pub fn assignments(shapes: &[PartialShape], top: usize) -> Vec<Names> {
    let sizes = |name| if stands(name, shapes) { 0..=top } else { 0..=0 };
    sizes("n").flat_map(|n| sizes("m").map(move |m| [n, m])).collect()
}

/// All shapes with sizes up to `top` that `shape` can be when names stand for `names`. Without a known number of axes: those of up
/// to 2 axes and sizes up to 3, and some of 3 and 4 axes.
pub fn instances(shape: &PartialShape, names: Names, top: usize) -> Vec<Vec<usize>> {
    let Some(dims) = shape.dims() else {
        let sizes: [&[usize]; 5] = [&[], &[0, 1, 2, 3], &[0, 1, 2, 3], &[0, 1, 3], &[1, 3]];
        return sizes
            .iter()
            .enumerate()
            .flat_map(|(ndim, sizes)| product(&vec![sizes.to_vec(); ndim]))
            .collect();
    };
    dims.iter().fold(vec![vec![]], |shapes, dim| {
        let sizes: Vec<usize> = (0..=top).filter(|&size| covers(dim, names, size)).collect();
        shapes.iter().flat_map(|shape| sizes.iter().map(|&size| [&shape[..], &[size]].concat())).collect()
    })
}

/// All ways to pick one of each.
pub fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![vec![]], |picked, choices| {
        picked
            .iter()
            .flat_map(|picked| choices.iter().map(|it| [picked, std::slice::from_ref(it)].concat()))
            .collect()
    })
}

/// Every way that the operands can be, with what the names stand for then.
pub fn worlds(operands: &[PartialShape], top: usize) -> Vec<(Names, Vec<Vec<usize>>)> {
    let of = |names: Names| {
        let shapes: Vec<_> = operands.iter().map(|operand| instances(operand, names, top)).collect();
        product(&shapes).into_iter().map(move |shapes| (names, shapes))
    };
    assignments(operands, top).into_iter().flat_map(of).collect()
}

/// Every `Dim` over sizes up to `named`, with two names.
pub fn language(named: usize) -> Vec<Dim> {
    let mut dims: Vec<Dim> = (0..=named).map(Dim::Known).collect();
    for lo in 0..=named {
        dims.extend((lo + 1..=named).map(|hi| Dim::range(lo..=hi).expect("a range")));
        dims.push(Dim::range(lo..).expect("a range"));
    }
    dims.extend(["n", "m"].map(|name| Dim::name(name).expect("a name")));
    dims
}

/// What can come out at an axis: what the names stand for, and the joint size.
pub type Outcomes = BTreeSet<(Names, usize)>;

/// Checks that `inferred` is sound, and that no smaller `Dim` is.
pub fn assert_smallest(
    inferred: &Dim,
    outcomes: &Outcomes,
    (language, top): (&[Dim], usize),
    of: &dyn std::fmt::Debug,
) {
    for &(names, size) in outcomes {
        assert!(covers(inferred, names, size), "{of:?}: {inferred} excludes {size} for {names:?}");
    }
    let admissible: BTreeSet<Names> = outcomes.iter().map(|(names, _)| *names).collect();
    let covered = |dim: &Dim| -> Outcomes {
        let sizes = |&names: &Names| {
            (0..=top).filter(move |&size| covers(dim, names, size)).map(move |size| (names, size))
        };
        admissible.iter().flat_map(sizes).collect()
    };
    let ours = covered(inferred);
    if ours == *outcomes {
        return;
    }
    for other in language.iter().filter(|dim| outcomes.iter().all(|&(names, size)| covers(dim, names, size)))
    {
        let theirs = covered(other);
        assert!(
            theirs.len() >= ours.len() || !theirs.is_subset(&ours),
            "{of:?}: {other} is within {inferred}"
        );
    }
}

/// Checks that a shape is inferred exactly where something comes out, and that each of its sizes is [the smallest](assert_smallest).
pub fn assert_inferred(
    inferred: &Result<PartialShape, BroadcastError>,
    outcomes: &[(Names, Vec<usize>)],
    within: (&[Dim], usize),
    of: &dyn std::fmt::Debug,
) {
    assert_eq!(inferred.is_ok(), !outcomes.is_empty(), "{of:?}: {inferred:?}");
    let Ok(inferred) = inferred else { return };
    for (axis, dim) in inferred.dims().expect("a number of axes").iter().enumerate() {
        let at_axis = outcomes.iter().map(|(names, sizes)| (*names, sizes[axis])).collect();
        assert_smallest(dim, &at_axis, within, of);
    }
}
