//! Shapes, checks and the operands that a message names, as text.

use super::{all, p};
use ndarray_broadcast::ErrorKind;
use ndarray_broadcast::partial::{Dim, PartialShape, decide, decide_result, infer_shapes};
use proptest::prelude::*;
use std::ops::Bound;

#[test]
fn reads_and_prints() {
    let same = ["*", "[]", "4x?x3", "0", "1x1", "?", "2..5", "2..x0..1xn", "seq_lenx_2xB", "n:2..5xm:2.."];
    for text in same {
        assert_eq!(p(text).to_string(), text);
    }
    for (text, other) in [
        ("n:..5xn:0..xn:3..3xn:3", "n:0..5xnxn:3..3xn:3..3"),
        ("3..3x0..", "3x?"),
        ("..5x1", "0..5x1"),
        ("007x0", "7x0"),
        ("0..0", "0"),
    ] {
        assert_eq!(p(text).to_string(), other);
    }
    assert_eq!(p(&usize::MAX.to_string()), PartialShape::from([usize::MAX]));
    assert_eq!(p("[]").ndim(), Some(0));
    let lists =
        ["[4, ?, 2..5, n]", "[4,?,2..5,n]", " [ 4 , ? ,2..5 , n ] ", "4 x ? x 2..5 x n", "  4x?x2..5 xn "];
    for text in lists {
        assert_eq!(p(text).to_string(), "4x?x2..5xn", "{text:?}");
    }
    assert_eq!(
        [p("[ ]"), p(" [] "), p(" * "), p(" 2 "), p("[2]")].map(|shape| shape.to_string()),
        ["[]", "[]", "*", "2", "2"]
    );
    assert_eq!(" 2..5 ".parse::<Dim>(), Dim::range(2..=5));
    assert_eq!(format!("{:?}", p("2x?")), "PartialShape(2x?)");
}

#[test]
fn refuses_with_the_position() {
    let cases = [
        ("", 0, "a size, ?, a range such as 2..5 or a name"),
        ("2xx3", 2, "a size, ?, a range such as 2..5 or a name"),
        ("2x", 2, "a size, ?, a range such as 2..5 or a name"),
        ("x", 0, "a size, ?, a range such as 2..5 or a name"),
        ("-1x2", 0, "a size, ?, a range such as 2..5 or a name"),
        ("+1", 0, "a size, ?, a range such as 2..5 or a name"),
        ("2x*", 2, "a size, ?, a range such as 2..5 or a name"),
        ("   ", 3, "a size, ?, a range such as 2..5 or a name"),
        (" 2 x", 4, "a size, ?, a range such as 2..5 or a name"),
        ("2 3", 1, "a digit, .. or the end of the size"),
        ("2 .. 3", 1, "a digit or .."),
        ("2\tx3", 1, "a digit, .. or the end of the size"),
        (" é", 1, "a size, ?, a range such as 2..5 or a name"),
        ("n mx2", 1, "a letter, a digit or _"),
        ("2, 3", 1, "a digit, .. or the end of the size"),
        ("[", 1, "a size, ?, a range such as 2..5 or a name"),
        ("[ ", 1, "a size, ?, a range such as 2..5 or a name"),
        ("[,]", 1, "a size, ?, a range such as 2..5 or a name"),
        ("[2,]", 3, "a size, ?, a range such as 2..5 or a name"),
        ("[2, ]", 4, "a size, ?, a range such as 2..5 or a name"),
        ("[2, *]", 4, "a size, ?, a range such as 2..5 or a name"),
        ("[[2]]", 1, "a size, ?, a range such as 2..5 or a name"),
        ("[2, 3", 5, "a comma or ]"),
        (" [2, 3 ", 6, "a comma or ]"),
        ("[2x3]", 2, "a digit, .. or the end of the size"),
        ("[2 3]", 2, "a digit, .. or the end of the size"),
        ("[1..2x]", 5, "a digit or the end of the size"),
        ("[2, é]", 4, "a size, ?, a range such as 2..5 or a name"),
        ("[é, 2", 1, "a size, ?, a range such as 2..5 or a name"),
        ("[2] x 3", 4, "the end"),
        ("[]]", 2, "the end"),
        ("* *", 0, "a size, ?, a range such as 2..5 or a name"),
        ("4x2n", 3, "a digit, .. or the end of the size"),
        ("99999999999999999999x2", 0, "a size that is not past usize::MAX"),
        ("2x3..99999999999999999999", 5, "a size that is not past usize::MAX"),
        ("2x5..2", 5, "an end of the range that is not below its start"),
        ("2x..", 4, "a size at one end of the range at least"),
        ("1..2..3", 4, "a digit or the end of the size"),
        ("1...3", 3, "a size"),
        ("..n", 2, "a size"),
        ("2xn-m", 3, "a letter, a digit or _"),
        ("2xné", 3, "a letter, a digit or _"),
        ("éx2", 0, "a size, ?, a range such as 2..5 or a name"),
        ("nxéx", 2, "a size, ?, a range such as 2..5 or a name"),
        ("n:", 2, "a range such as 2..5"),
        ("2xn:m", 4, "a range such as 2..5"),
        ("n:?", 2, "a range such as 2..5"),
        ("n: 2..5", 2, "a range such as 2..5"),
        ("n:2..5:3", 6, "a digit or the end of the size"),
        ("[n:5..2]", 6, "an end of the range that is not below its start"),
        ("n-:2..", 1, "a letter, a digit or _"),
        ("3:2..", 1, "a digit or .."),
        ("?1n", 2, "a digit or the end of the size"),
        ("[?1n]", 3, "a digit or the end of the size"),
        ("[n-]", 2, "a letter, a digit or _"),
        ("\"", 1, "\""),
        ("2x\"n", 4, "\""),
        ("\"\"", 1, "a name"),
        ("\"a\\n\"", 3, "\" or \\"),
        ("\"n\"m", 3, "a colon or the end of the size"),
        ("[\"n\" 2]", 4, "a colon or the end of the size"),
        ("\"n\":n", 4, "a range such as 2..5"),
        ("??", 0, "a size, ?, a range such as 2..5 or a name"),
    ];
    for (text, position, expected) in cases {
        let error = text.parse::<PartialShape>().unwrap_err();
        assert_eq!(error.position(), Some(position), "{text}");
        assert!(error.to_string().ends_with(&format!(" {expected}")), "{error}");
    }
    assert!("2x3".parse::<Dim>().is_err() && "*".parse::<Dim>().is_err() && "".parse::<Dim>().is_err());
    assert_eq!(Dim::name("").unwrap_err().position(), Some(0));
}

/// Names of real models, bare or in quotes, in both notations.
#[test]
fn names_of_files() {
    let names = [
        ("batch_size", true),
        ("unk__0", true),
        ("max_len", false),
        ("text", false),
        ("p2o.DynamicDimension.0", false),
        ("past + 1", false),
        ("floor(height/2)", false),
        ("2*n", false),
        ("2n", false),
        ("n:2..", false),
        ("3", false),
        ("?", false),
        ("*", false),
        ("\"", false),
        ("a\\", false),
        (" ", false),
    ];
    for (name, bare) in names {
        let dim = Dim::name(name).unwrap();
        assert!(matches!(&dim, Dim::Name(own) if own.as_str() == name && own.range().is_none()));
        assert_eq!(dim.to_string() == name, bare, "{name}");
        let shape =
            PartialShape::ranked([dim.clone(), Dim::Known(2), Dim::name_in(name, 2..5).unwrap(), dim]);
        let list = format!(
            "[{}]",
            shape.dims().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        );
        assert_eq!((shape.to_string().parse(), list.parse()), (Ok(shape.clone()), Ok(shape)));
    }
    assert_eq!(p("[max_len, x]").to_string(), "\"max_len\"x\"x\"");
    assert_eq!("max_len".parse(), Dim::name("max_len"));
    assert_eq!(p("?1x?23:2..").to_string(), "?1x?23:2..");
}

#[test]
fn many_axes() {
    let text = "1x".repeat(5000) + "1";
    assert_eq!(p(&text).ndim(), Some(5001));
    assert!("x".repeat(5000).parse::<PartialShape>().is_err());
}

#[test]
fn ranges() {
    assert_eq!(Dim::range(2..3), Ok(Dim::Known(2)));
    assert_eq!(Dim::range(0..), Ok(Dim::Unknown));
    assert_eq!(Dim::range(..=usize::MAX), Ok(Dim::Unknown));
    assert_eq!(Dim::range(usize::MAX..), Ok(Dim::Known(usize::MAX)));
    let after = |lo| (Bound::Excluded(lo), Bound::Included(5));
    assert_eq!(Dim::range(after(1)), Dim::range(2..=5));
    assert_eq!(Dim::range(after(4)), Ok(Dim::Known(5)));
    assert!(Dim::range(after(5)).is_err() && Dim::range(after(usize::MAX)).is_err());
    let empty = Dim::range(..0).unwrap_err();
    assert_eq!((empty.kind(), empty.position()), (ErrorKind::InvalidText, Some(0)));
    let Ok(Dim::Range(range)) = Dim::range(2..) else { panic!("no range") };
    assert_eq!((range.min(), range.max(), range.to_string()), (2, None, "2..".to_string()));
}

pub(crate) fn dims() -> impl Strategy<Value = Dim> {
    prop_oneof![
        (0..6_usize).prop_map(Dim::Known),
        any::<usize>().prop_map(Dim::Known),
        Just(Dim::Unknown),
        (0..6_usize, 0..6_usize).prop_map(|(lo, len)| Dim::range(lo..=lo + len).unwrap()),
        any::<usize>().prop_map(|lo| Dim::range(lo..).unwrap()),
        "[a-wyz_][a-wyzA-Z0-9_]{0,5}".prop_map(|name| Dim::name(&name).unwrap()),
        any::<String>()
            .prop_filter("a name", |name| !name.is_empty())
            .prop_map(|name| Dim::name(&name).unwrap()),
        "[x?\"\\\\:., *\\[\\]0-9a]{1,6}".prop_map(|name| Dim::name(&name).unwrap()),
        ("[a-wyz_]{1,3}", 0..6_usize, 0..6_usize).prop_map(|(name, lo, len)| Dim::name_in(
            &name,
            lo..=lo + len
        )
        .unwrap()),
    ]
}

proptest! {
    #![proptest_config(common::cases(256))]

    #[test]
    fn round_trip(dims in proptest::collection::vec(dims(), 0..5)) {
        let shape = PartialShape::ranked(dims.clone());
        prop_assert_eq!(shape.to_string().parse(), Ok(shape));
        for dim in dims {
            prop_assert_eq!(dim.to_string().parse(), Ok(dim));
        }
    }

    #[test]
    fn lists_read_as_printed(dims in proptest::collection::vec(dims(), 0..5), space in 0..3_usize) {
        let space = " ".repeat(space);
        let text = |separator: &str| dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator);
        let shape = PartialShape::ranked(dims.clone());
        let list = format!("{space}[{space}{}{space}]{space}", text(&format!("{space},{space}")));
        prop_assert_eq!(list.parse(), Ok(shape.clone()));
        if !dims.is_empty() {
            let crossed = format!("{space}{}{space}", text(&format!("{space}x{space}")));
            prop_assert_eq!(crossed.parse(), Ok(shape));
        }
    }

    #[test]
    fn no_text_panics(text in "[0-9x?.*n:, \\[\\]é_\"\\\\-]{0,12}") {
        if let Ok(shape) = text.parse::<PartialShape>() {
            prop_assert_eq!(shape.to_string().parse(), Ok(shape));
        }
    }
}

/// Of operands that clash alike, the first is named.
#[test]
fn ties() {
    let named = |operands: &[&str]| {
        let error = infer_shapes(&all(operands)).unwrap_err();
        (error.sizes().concat(), error.operands().expect("two operands"))
    };
    let words = |sizes: &str, operands: [usize; 2]| (sizes.to_owned(), operands);
    assert_eq!(named(&["2", "2", "3"]), words("23", [0, 2]));
    assert_eq!(named(&["3", "2", "2"]), words("32", [0, 1]));
    assert_eq!(named(&["2", "3", "3"]), words("23", [0, 1]));
    assert_eq!(named(&["2", "3", "2", "3"]), words("23", [0, 1]));
    assert_eq!(named(&["?", "1", "3", "n", "3", "2", "2"]), words("32", [2, 5]));
    assert_eq!(named(&["5..7", "2..3", "..3", "2..3", "5.."]), words("5..72..3", [0, 1]));
}

#[test]
fn checks() {
    let words = |operands: &[&str]| -> Vec<String> {
        decide(&all(operands)).checks().unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(words(&["?x4", "3x1"]), ["axis 0 of operand 0 is 1 or 3"]);
    assert_eq!(words(&["2..4", "3"]), ["axis 0 of operand 0 is 3"]);
    assert_eq!(words(&["2..4", "3.."]), ["axis 0 of operand 1 equals axis 0 of operand 0"]);
    assert_eq!(words(&["4x?", "1", "2.."]), ["axis 1 of operand 0 is 1 or equals axis 0 of operand 2"]);
    assert_eq!(words(&["?", "n"]), ["axis 0 of operand 0 is 1, axis 0 of operand 1 is 1, or they are equal"]);
    // Said once, it holds wherever the names stand.
    assert_eq!(words(&["nxn", "mxm"]).len(), 1);
    assert_eq!(words(&["nxn", "3x3"]), ["axis 0 of operand 0 is 1 or 3"]);
    let result = |operands: &[&str], result: &str| -> Vec<String> {
        decide_result(&all(operands), &p(result)).checks().unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        result(&["?x?"], "2..5x3.."),
        ["axis 0 of operand 0 is from 2 to 5", "axis 1 of operand 0 is 3 or more"]
    );
    assert_eq!(result(&["?xn"], "nxn"), ["axis 0 of operand 0 equals axis 1 of operand 0"]);
    assert_eq!(result(&["n", "4"], "n"), ["axis 0 of operand 0 is 4"]);
    assert_eq!(result(&["nxn", "4x1"], "nxn"), ["axis 0 of operand 0 is 4"]);
    assert_eq!(result(&["?x?"], "kxk"), ["axis 1 of operand 0 equals axis 0 of the result"]);
    assert_eq!(result(&["*"], "4"), ["the result has 1 axis", "axis 0 of the result is 4"]);
    assert_eq!(
        result(&["*"], "n:3..4xn:3..4"),
        [
            "the result has 2 axes",
            "axis 0 of the result is from 3 to 4",
            "axis 1 of the result is from 3 to 4",
            "axis 1 of the result equals axis 0 of the result",
        ]
    );
}
