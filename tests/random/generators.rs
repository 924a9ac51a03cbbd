//! What the random cases are made of reaches every layout and every outcome.

use crate::cases::Input;
use crate::cases::views::target_of;
use common::{Choices, Layout, Strided, resolved};
use std::collections::BTreeMap;

/// What one generated array shows of the layouts that there are.
fn traits_of(layout: &Strided<i64>) -> Vec<&'static str> {
    let view = layout.view();
    let longer = |test: fn(isize) -> bool| {
        view.shape().iter().zip(view.strides()).any(|(&size, &stride)| size > 1 && test(stride))
    };
    let in_order = view.is_standard_layout();
    let facts = [
        ("no axes", view.ndim() == 0),
        ("7 axes", view.ndim() == 7),
        ("empty", view.is_empty()),
        ("C order", in_order && view.len() > 3),
        ("F order", !in_order && view.t().is_standard_layout()),
        ("another order", !in_order && !view.t().is_standard_layout() && !view.is_empty()),
        ("reversed", !view.is_empty() && longer(|stride| stride < 0)),
        ("reversed and empty", view.is_empty() && longer(|stride| stride < 0)),
        ("repeated", !view.is_empty() && longer(|stride| stride == 0)),
    ];
    facts.into_iter().filter(|fact| fact.1).map(|fact| fact.0).collect()
}

/// The random cases would hold for generators that only make easy ones, too: so these are looked at.
#[test]
fn the_generators_reach_every_layout_and_outcome() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for case in 0..2000 {
        let mut input = Input::case(1, case);
        let whole = input.small_shape(7, 2000);
        let shape = input.operand(&whole);
        let target = target_of(&mut input, &whole, &shape);
        let outcome = resolved(&shape, &target, true).map_or_else(|name| name, |_| "Ok");
        *seen.entry(outcome).or_default() += 1;
        *seen.entry(if common::joint(&[&shape, &whole]).is_ok() { "match" } else { "clash" }).or_default() +=
            1;
        for shape in [shape, whole] {
            let layout = Layout::to_read(&mut input, &shape);
            for name in traits_of(&Strided::numbered(layout, 0)) {
                *seen.entry(name).or_default() += 1;
            }
        }
    }
    println!("{seen:?}");
    let all = [
        ("Ok", 800),
        ("InvalidSize", 10),
        ("TooFewAxes", 10),
        ("PlaceholderOnNewAxis", 20),
        ("Incompatible", 50),
        ("match", 800),
        ("clash", 100),
        ("no axes", 100),
        ("7 axes", 20),
        ("empty", 100),
        ("C order", 100),
        ("F order", 20),
        ("another order", 300),
        ("reversed", 200),
        ("reversed and empty", 20),
        ("repeated", 100),
    ];
    for (name, least) in all {
        assert!(seen.get(name).is_some_and(|&count| count >= least), "{name}: {seen:?}");
    }
}
