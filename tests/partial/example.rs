//! What `examples/shape_check.rs` reports.

#[path = "../../examples/shape_check.rs"]
#[allow(dead_code, reason = "its main is not run here")]
mod shape_check;

use shape_check::check;

/// As in the example, whose manifest is in the folder above.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/shape_check.txt");

#[test]
fn shipped_file() {
    let (report, good) = check(&std::fs::read_to_string(SHIPPED).unwrap());
    assert!(good, "{report}");
    assert!(report.starts_with("line 6: bias: verified\n"), "{report}");
    assert!(report.contains("\nline 17: cast: to check: axis 0 of operand 0 is 4\n"), "{report}");
    assert!(report.ends_with("7 verified, 4 to check, 5 refused, 4 broken\n"), "{report}");
}

#[test]
fn a_broken_line_stops_nothing() {
    let (report, good) = check("\u{feff}a: 2 -> 2\r\nb: 2xx -> 2\r\n\r\n# c\r\n? -> n # d\r\n");
    assert!(!good);
    assert_eq!(
        report,
        "line 1: a: verified\n\
         line 2: b: broken: cannot read \"2xx\": position 2 needs a size, ?, a range such as 2..5 or a name\n\
         line 5: ? -> n: verified\n\
         2 verified, 0 to check, 0 refused, 1 broken\n",
    );
}

#[test]
fn what_should_fail_and_does_not() {
    assert!(!check("2, 3 -> 3").1 && check("! 2, 3 -> 3").1 && check("").1);
    let (report, good) = check("! 3 -> 3");
    assert!(!good && report.contains("line 1: should have been refused or broken\n"), "{report}");
}
