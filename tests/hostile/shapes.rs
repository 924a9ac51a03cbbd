//! Shapes and axes without arrays, the errors themselves, texts of a megabyte, and shapes of 10,000 axes for signatures.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, all, spread};
use ndarray::{ArrayD, ShapeError};
use ndarray_broadcast::bounds::SignatureShapes;
use ndarray_broadcast::partial::{Dim, PartialShape};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, ErrorKind, Signature, broadcast_shapes, const_broadcast_shape, explain,
    reduction_axes, resolve_target,
};

pub(crate) fn rows(t: &mut Table) {
    joint(t);
    targets(t);
    sets(t);
    errors(t);
}

fn joint(t: &mut Table) {
    const NONE: &[[usize; 2]] = &[];
    t.call("broadcast_shapes", || broadcast_shapes(NONE)).is(Ok(vec![]));
    t.call("broadcast_shapes", || broadcast_shapes(&[[]])).is(Ok(vec![]));
    t.call("broadcast_shapes", || broadcast_shapes(&[[0, 1], [1, 0]])).is(Ok(vec![0, 0]));
    t.call("broadcast_shapes", || broadcast_shapes(&[[LIMIT, 1], [1, 1]])).is(Ok(vec![LIMIT, 1]));
    t.call("broadcast_shapes", || broadcast_shapes(&[[MAX], [1]])).refused(ErrorKind::Overflow);
    t.call("broadcast_shapes", || broadcast_shapes(&[[MAX], [MAX - 1]])).refused(ErrorKind::Incompatible);
    t.call("broadcast_shapes", || broadcast_shapes(&[[0, LIMIT, 1], [1, 1, 2]])).refused(ErrorKind::Overflow);
    t.call("broadcast_shapes", || broadcast_shapes(&[all(1), spread()])).is(Ok(spread()));
    let (twos, threes) = (all(2), all(3));
    t.call("broadcast_shapes", || broadcast_shapes(&[&twos, &threes])).refused(ErrorKind::Incompatible);
    t.call("broadcast_shapes", || broadcast_shapes(&[&twos])).refused(ErrorKind::Overflow);
    let units = all([1]);
    t.call("broadcast_shapes", || broadcast_shapes(&units)).is(Ok(vec![1]));
    t.call("const_broadcast_shape", || const_broadcast_shape([LIMIT, 1], [0, 1, 1])).is([0, LIMIT, 1]);
    t.call("const_broadcast_shape", || const_broadcast_shape([], [])).is([0_usize; 0]);
    t.call("const_broadcast_shape", || const_broadcast_shape([1; 1000], [1; 1])).is([1; 1000]);
}

fn targets(t: &mut Table) {
    t.call("resolve_target", || resolve_target(&[], &[])).is(Ok(vec![]));
    t.call("resolve_target", || resolve_target(&[1, 0], &[0, -1])).is(Ok(vec![0, 0]));
    t.call("resolve_target", || resolve_target(&[1], &[isize::MAX])).is(Ok(vec![LIMIT]));
    t.call("resolve_target", || resolve_target(&[1], &[isize::MIN])).refused(ErrorKind::InvalidSize);
    t.call("resolve_target", || resolve_target(&[MAX], &[-1])).refused(ErrorKind::Overflow);
    t.call("resolve_target", || resolve_target(&[LIMIT], &[2, 0, -1])).refused(ErrorKind::Overflow);
    t.call("resolve_target", || resolve_target(&spread(), &all(-1))).is(Ok(spread()));
    let kept = all(-1);
    t.call("resolve_target", || resolve_target(&[1], &kept)).refused(ErrorKind::PlaceholderOnNewAxis);
    t.call("resolve_target", || resolve_target(&all(1), &[1])).refused(ErrorKind::TooFewAxes);

    t.call("reduction_axes", || reduction_axes(&[], &[])).is(Ok(vec![]));
    t.call("reduction_axes", || reduction_axes(&[1, 1], &[0, LIMIT])).is(Ok(vec![0, 1]));
    t.call("reduction_axes", || reduction_axes(&[1], &all(1))).is(Ok((0..MANY - 1).collect()));
    t.call("reduction_axes", || reduction_axes(&all(1), &spread())).is(Ok(vec![0, 2500, 5000, 7500]));
    t.call("reduction_axes", || reduction_axes(&[1], &[MAX])).refused(ErrorKind::InvalidSize);
    t.call("reduction_axes", || reduction_axes(&[1], &[LIMIT, LIMIT])).refused(ErrorKind::Overflow);
    t.call("reduction_axes", || reduction_axes(&all(1), &[])).refused(ErrorKind::TooFewAxes);
}

fn sets(t: &mut Table) {
    t.call("AxisSet::from_signed", || AxisSet::from_signed(&[], 0)).is(Ok(AxisSet::default()));
    t.call("AxisSet::from_signed", || AxisSet::from_signed(&[-1, isize::MAX - 1], LIMIT))
        .is(Ok(AxisSet::from([LIMIT - 1])));
    t.call("AxisSet::from_signed", || AxisSet::from_signed(&[isize::MIN], MAX))
        .is(Ok(AxisSet::from([LIMIT])));
    t.call("AxisSet::from_signed", || AxisSet::from_signed(&[isize::MAX, isize::MIN], 3))
        .refused(ErrorKind::AxisOutOfBounds);
    t.call("AxisSet::from_signed", || AxisSet::from_signed(&all(-1), 1)).is(Ok(AxisSet::from([0])));
    t.call("AxisSet::from", || AxisSet::from(&*all(MAX))).is(AxisSet::from([MAX]));
    t.call("AxisSet::from", || AxisSet::from([MAX, 0])).is([0, MAX].into());
    let set: AxisSet = t_reversed();
    t.call("AxisSet::from_iter", t_reversed).is(set.clone());
    t.call("AxisSet::as_slice", || set.as_slice()).holds(|axes| axes.iter().copied().eq(0..MANY));
    t.call("AxisSet::as_slice", || AxisSet::default().as_slice().len()).is(0);
    t.call("AxisSet::fmt", || set.to_string()).is(format!("{:?}", set.as_slice()));
    t.call("AxisSet::fmt", || AxisSet::from([MAX]).to_string()).is("[18446744073709551615]");
}

fn t_reversed() -> AxisSet {
    (0..MANY).rev().collect()
}

fn errors(t: &mut Table) {
    let error = broadcast_shapes(&[all(2), all(3)]).unwrap_err();
    t.call("BroadcastError::clone", || error.clone()).is(error.clone());
    t.call("BroadcastError::fmt", || format!("{error:?}")).is(format!("Incompatible: {error}"));
    t.call("BroadcastError::into", || ShapeError::from(error.clone()).kind())
        .is(ndarray::ErrorKind::IncompatibleShape);
    t.call("BroadcastError::kind", || error.kind()).is(ErrorKind::Incompatible);
    t.call("BroadcastError::axis", || error.axis()).is(Some(0));
    t.call("BroadcastError::sizes", || error.sizes().join(" ")).is("2 3".to_string());
    t.call("BroadcastError::operands", || error.operands()).is(Some([0, 1]));
    t.call("BroadcastError::position", || error.position()).is(None);
    t.call("BroadcastError::shapes", || error.shapes())
        .is(vec![format!("{:?}", all(2)), format!("{:?}", all(3))]);
    t.call("BroadcastError::operation", || error.operation()).is(format!(
        "broadcast shapes {:?} and {:?} together",
        all(2),
        all(3)
    ));
    pictures(t);
}

/// Pictures stay in proportion to the message: 10,000 rows of 10,000 columns are one line.
fn pictures(t: &mut Table) {
    let picture = |error: &BroadcastError| format!("{error:#}");
    let error = broadcast_shapes(&[all(2), all(3)]).unwrap_err();
    t.call("BroadcastError::fmt", || picture(&error).lines().count()).is(4);
    t.call("explain", || explain(&[all(2), all(3)]).to_string()).is(picture(&error));
    let mut shapes = vec![vec![2]; MANY];
    shapes.push(all(1));
    t.call("explain", || explain(&shapes).to_string().lines().count()).is(1);
    shapes.push(vec![3]);
    let error = broadcast_shapes(&shapes).unwrap_err();
    t.call("BroadcastError::fmt", || picture(&error)).is(error.to_string());
    t.call("explain", || explain(&shapes).to_string()).is(error.to_string());
    t.call("explain", || explain(&vec![[2]; MANY]).to_string().lines().count()).is(MANY + 3);
    t.call("explain", || explain(&[[MAX], [1]]).to_string()).holds(|picture| picture.contains("isize::MAX"));
    // all at one place, and each at its own
    let error = ArrayD::<u8>::zeros(all(1)).broadcast_in_dim(all(1), all(7)).unwrap_err();
    t.call("BroadcastError::fmt", || picture(&error).lines().count()).is(3);
    let error = ArrayD::<u8>::zeros(all(1)).broadcast_axes(all(1), all(MAX)).unwrap_err();
    t.call("BroadcastError::fmt", || picture(&error).lines().count()).is(4);
}

pub(crate) fn of_texts(t: &mut Table) {
    shapes(t);
    signatures(t);
    resolved(t);
}

const LENGTH: usize = 1_000_000;

/// Whether a text is refused at a position for want of something.
fn needs<T>(result: &Result<T, BroadcastError>, position: usize, expected: &str) -> bool {
    let error = result.as_ref().err().expect("an error");
    error.position() == Some(position) && error.to_string().ends_with(&format!(" needs {expected}"))
}

const A_DIM: &str = "a size, ?, a range such as 2..5 or a name";

fn shapes(t: &mut Table) {
    let name = "PartialShape::from_str";
    let long: [(String, usize, &str); 7] = [
        ("[".repeat(LENGTH), 1, A_DIM),
        ("]".repeat(LENGTH), 0, A_DIM),
        (" ".repeat(LENGTH), LENGTH, A_DIM),
        (format!("[{}n", " ".repeat(LENGTH)), LENGTH + 2, "a comma or ]"),
        ("(".repeat(LENGTH), 0, A_DIM),
        ("9".repeat(LENGTH), 0, "a size that is not past usize::MAX"),
        ("n".repeat(LENGTH - 1) + "é", LENGTH - 1, "a letter, a digit or _"),
    ];
    for (text, at, expected) in &long {
        t.call(name, || text.parse::<PartialShape>()).holds(|result| needs(&result, *at, expected));
    }
    t.call(name, || "".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "18446744073709551616".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "3x18446744073709551615".parse::<PartialShape>()).is(Ok([3, MAX].into()));
    t.call(name, || "1\0".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "....".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "9..3".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "xx".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "((((".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    t.call(name, || "4xαx3".parse::<PartialShape>()).refused(ErrorKind::InvalidText);
    let axes = vec!["?"; MANY];
    for text in [axes.join("x"), format!("[{}]", axes.join(", "))] {
        t.call(name, || text.parse::<PartialShape>()).gives(|shape| shape.ndim() == Some(MANY));
    }
    t.call("Dim::name", || Dim::name(&"n".repeat(1000))).gives(|dim| dim.admits(1));
    let open = "(".repeat(LENGTH);
    t.call("Dim::from_str", || open.parse::<Dim>()).holds(|result| needs(&result, 0, A_DIM));
    t.call("Dim::from_str", || "..".parse::<Dim>()).refused(ErrorKind::InvalidText);
    t.call("Dim::from_str", || "0..18446744073709551615".parse::<Dim>()).is(Ok(Dim::Unknown));
}

fn signatures(t: &mut Table) {
    const A_TOKEN: &str = "(, ), a name, a size, a comma or ->";
    let name = "Signature::new";
    let long: [(String, usize, &str); 4] = [
        ("(".repeat(LENGTH), 1, "a name or a size"),
        (" ".repeat(LENGTH), LENGTH, "("),
        (format!("({})->(é)", "n".repeat(LENGTH - 10)), LENGTH - 5, A_TOKEN),
        ("()->".repeat(LENGTH / 4), 6, "a comma or the end"),
    ];
    for (text, at, expected) in &long {
        t.call(name, || Signature::new(text)).holds(|result| needs(&result, *at, expected));
    }
    t.call(name, || Signature::new("")).refused(ErrorKind::InvalidText);
    t.call(name, || Signature::new(")->()")).refused(ErrorKind::InvalidText);
    t.call(name, || Signature::new("(9223372036854775808)->()")).refused(ErrorKind::InvalidText);
    t.call(name, || Signature::new("(((n)))->()")).refused(ErrorKind::InvalidText);
    t.call(name, || Signature::new("(ñ)->()")).refused(ErrorKind::InvalidText);
    let text = format!("{}()->()", "(),".repeat(LENGTH / 3 - 3));
    t.call(name, || Signature::new(&text)).gives(|signature| signature.operands() == LENGTH / 3 - 2);
    let text = format!("({})->()", "n".repeat(1000));
    t.call("Signature::literal", || Signature::literal(&text)).is(Signature::new(&text).unwrap());
    let signature = Signature::literal("(9223372036854775807)->(),()");
    t.call("Signature::operands", || signature.operands()).is(1);
    t.call("Signature::results", || signature.results()).is(2);
    t.call("Signature::fmt", || signature.to_string()).is("(9223372036854775807)->(),()");
}

fn resolved(t: &mut Table) {
    let name = "Signature::resolve";
    let inner = Signature::literal("(n),(n)->()");
    let shape = |shapes: SignatureShapes<'_>| shapes.results;
    t.call(name, || inner.resolve(&[])).refused(ErrorKind::OperandCount);
    t.call(name, || inner.resolve(&[&[MAX], &[MAX]]).map(shape)).is(Ok(vec![vec![]]));
    t.call(name, || inner.resolve(&[&[MAX], &[LIMIT]])).refused(ErrorKind::BaseSymbol);
    t.call(name, || inner.resolve(&[&[], &[]])).refused(ErrorKind::BaseAxes);
    let rest = spread();
    t.call(name, || inner.resolve(&[&rest, &rest]).map(shape)).is(Ok(vec![spread()[..MANY - 1].to_vec()]));
    let (two, three) = (all(2), all(3));
    t.call(name, || inner.resolve(&[&two, &three])).refused(ErrorKind::BaseSymbol);
    t.call(name, || Signature::literal("(9223372036854775807)->()").resolve(&[&[MAX]]))
        .refused(ErrorKind::BaseSize);
    t.call(name, || Signature::literal("()->(n)").resolve(&[&rest]).map(shape))
        .refused(ErrorKind::UnknownSymbol);
    // each as many as can be: symbols that are missing, symbols, operands, results
    let symbols = |mark: &str| (0..MANY).map(|i| format!("a{i}{mark}")).collect::<Vec<_>>().join(",");
    let (optional, plain) = (format!("({})->()", symbols("?")), format!("({})->()", symbols("")));
    let (operands, results) =
        (format!("{}->()", vec!["(n)"; MANY].join(",")), format!("()->{}", vec!["()"; MANY].join(",")));
    let scalar = || Ok(vec![vec![]]);
    t.call(name, || Signature::literal(&optional).resolve(&[&[]]).map(shape)).is(scalar());
    t.call(name, || Signature::literal(&plain).resolve(&[&two]).map(|s| s.sizes[MANY - 1]))
        .is(Ok(("a9999", 2)));
    t.call(name, || Signature::literal(&operands).resolve(&vec![&[3][..]; MANY]).map(shape)).is(scalar());
    t.call(name, || Signature::literal(&results).resolve(&[&[]]).map(shape)).is(Ok(vec![vec![]; MANY]));
}
