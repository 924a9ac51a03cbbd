//! Texts of a megabyte, and shapes of 10,000 axes for signatures.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, all, spread};
use ndarray_broadcast::{
    BroadcastError, Signature, bounds::SignatureShapes, partial::Dim, partial::PartialShape,
};

pub(crate) fn rows(t: &mut Table) {
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
        ("n".repeat(LENGTH - 1) + "é", LENGTH - 1, "a letter but x, a digit or _"),
    ];
    for (text, at, expected) in &long {
        t.call(name, || text.parse::<PartialShape>()).holds(|result| needs(&result, *at, expected));
    }
    t.call(name, || "".parse::<PartialShape>())
        .refused(&format!("cannot read \"\": position 0 needs {A_DIM}"));
    t.call(name, || "18446744073709551616".parse::<PartialShape>())
        .refused("cannot read \"18446744073709551616\": position 0 needs a size that is not past usize::MAX");
    t.call(name, || "3x18446744073709551615".parse::<PartialShape>()).is(Ok([3, MAX].into()));
    t.call(name, || "1\0".parse::<PartialShape>())
        .refused("cannot read \"1\\0\": position 1 needs a digit, x or ..");
    t.call(name, || "....".parse::<PartialShape>()).refused("cannot read \"....\": position 2 needs a size");
    t.call(name, || "9..3".parse::<PartialShape>())
        .refused("cannot read \"9..3\": position 3 needs an end of the range that is not below its start");
    t.call(name, || "xx".parse::<PartialShape>())
        .refused(&format!("cannot read \"xx\": position 0 needs {A_DIM}"));
    t.call(name, || "((((".parse::<PartialShape>())
        .refused(&format!("cannot read \"((((\": position 0 needs {A_DIM}"));
    t.call(name, || "4xαx3".parse::<PartialShape>())
        .refused(&format!("cannot read \"4xαx3\": position 2 needs {A_DIM}"));
    let axes = vec!["?"; MANY];
    for text in [axes.join("x"), format!("[{}]", axes.join(", "))] {
        t.call(name, || text.parse::<PartialShape>()).gives(|shape| shape.ndim() == Some(MANY));
    }
    t.call("Dim::name", || Dim::name(&"n".repeat(1000))).gives(|dim| dim.admits(1));
    let open = "(".repeat(LENGTH);
    t.call("Dim::from_str", || open.parse::<Dim>()).holds(|result| needs(&result, 0, A_DIM));
    t.call("Dim::from_str", || "..".parse::<Dim>())
        .refused("cannot read \"..\": position 2 needs a size at one end of the range at least");
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
    t.call(name, || Signature::new("")).refused("cannot read \"\": position 0 needs (");
    t.call(name, || Signature::new(")->()")).refused("cannot read \")->()\": position 0 needs (");
    t.call(name, || Signature::new("(9223372036854775808)->()"))
        .refused("cannot read \"(9223372036854775808)->()\": position 1 needs a size up to isize::MAX");
    t.call(name, || Signature::new("(((n)))->()"))
        .refused("cannot read \"(((n)))->()\": position 1 needs a name or a size");
    t.call(name, || Signature::new("(ñ)->()"))
        .refused(&format!("cannot read \"(ñ)->()\": position 1 needs {A_TOKEN}"));
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
    t.call(name, || inner.resolve(&[]))
        .refused("cannot apply (n),(n)->() to none: the number of shapes is 0, expected 2");
    t.call(name, || inner.resolve(&[&[MAX], &[MAX]]).map(shape)).is(Ok(vec![vec![]]));
    t.call(name, || inner.resolve(&[&[MAX], &[LIMIT]])).refused(
        "cannot apply (n),(n)->() to (; 18446744073709551615) and (; 9223372036854775807): n is \
         18446744073709551615 at base axis 0 of operand 0 and 9223372036854775807 at base axis 0 of operand \
         1",
    );
    t.call(name, || inner.resolve(&[&[], &[]]))
        .refused("cannot apply (n),(n)->() to (;) and (;): the base of operand 0 has 0 axes, expected 1");
    let rest = spread();
    t.call(name, || inner.resolve(&[&rest, &rest]).map(shape)).is(Ok(vec![spread()[..MANY - 1].to_vec()]));
    let (two, three) = (all(2), all(3));
    t.call(name, || inner.resolve(&[&two, &three])).refused(&format!(
        "cannot apply (n),(n)->() to ({0}; 2) and ({1}; 3): n is 2 at base axis 0 of operand 0 and 3 at \
         base axis 0 of operand 1",
        vec!["2"; MANY - 1].join(", "),
        vec!["3"; MANY - 1].join(", ")
    ));
    t.call(name, || Signature::literal("(9223372036854775807)->()").resolve(&[&[MAX]])).refused(
        "cannot apply (9223372036854775807)->() to (; 18446744073709551615): base axis 0 of operand 0 has \
         size 18446744073709551615, expected 9223372036854775807",
    );
    t.call(name, || Signature::literal("()->(n)").resolve(&[&rest]).map(shape)).refused(&format!(
        "cannot apply ()->(n) to ({};): no operand has an axis n that says the size of the result's",
        spread().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    ));
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
