//! Every public function on hostile shapes and texts: an error or the right answer, at once and without memory for
//! what was asked. The words of the errors stand in `tests/messages.txt`.
//!
//! The tests run one after the other, as time and memory are those of the process. Only the calls are counted, not what makes
//! their arguments or looks at their answers; making the message of an error is part of the call.
#![allow(clippy::unwrap_used, reason = "tests")]

mod batches;
mod clients;
mod forms;
mod limits;
mod partial;
mod shapes;
mod strides;
mod sums;
mod table;
mod views;

use ndarray::{Array, ArrayD, ArrayView, ArrayView1, ArrayView2, IxDyn, ShapeBuilder, aview0};
use ndarray_broadcast::prelude::*;
use num_traits::Zero;
use std::fs;
use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use table::Table;

/// The largest number that there is, and the largest that a size can be.
const MAX: usize = usize::MAX;
const LIMIT: usize = isize::MAX.unsigned_abs();
/// More axes than anyone needs.
const MANY: usize = 10_000;

/// As many sizes or axes, all alike.
fn all<T: Clone>(size: T) -> Vec<T> {
    vec![size; MANY]
}

/// 10,000 sizes, of which four are 2 and the others 1.
fn spread() -> Vec<usize> {
    (0..MANY).map(|axis| if axis % 2500 == 0 { 2 } else { 1 }).collect()
}

/// 1 to 16 in an array of shape `spread()`, whose axes of size 1 have the longest stride that an owned array can have.
fn many() -> ArrayD<i64> {
    let (mut strides, mut step) = (spread(), 1);
    for stride in strides.iter_mut().rev() {
        let size = *stride;
        *stride = if size == 1 { (-isize::MAX).cast_unsigned() } else { step };
        step *= size;
    }
    Array::from_shape_vec(IxDyn(&spread()).strides(IxDyn(&strides)), (1..=16).collect()).unwrap()
}

/// `isize::MAX` elements of no size.
fn long() -> ArrayView1<'static, Nothing> {
    aview0(&Nothing).into_broadcast_to([LIMIT]).unwrap()
}

/// 2^62 times the number 1, in its 8 bytes.
fn huge() -> ArrayView2<'static, i64> {
    aview0(&1).into_broadcast_to([1_usize << 31; 2]).unwrap()
}

/// No element, and an axis as long as can be. The other one has a stride that cannot be negated.
fn hollow() -> ArrayView<'static, i64, ndarray::Ix2> {
    ArrayView::from_shape([0, LIMIT].strides([isize::MIN.cast_unsigned(), 0]), &[]).unwrap()
}

/// An element without size, of which all sums and products are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Nothing;

macro_rules! same {
    ($($Op:ident $op:ident)*) => {$(
        impl $Op for Nothing {
            type Output = Self;
            fn $op(self, _: Self) -> Self {
                self
            }
        }
    )*};
}
same!(Add add Sub sub Mul mul Div div);

impl Zero for Nothing {
    fn zero() -> Self {
        Nothing
    }
    fn is_zero(&self) -> bool {
        true
    }
}

impl num_traits::One for Nothing {
    fn one() -> Self {
        Nothing
    }
}

/// Held by the test that runs: its allocations are counted, and another's would be, even those of a message.
static ALONE: Mutex<()> = Mutex::new(());

/// Two tests of each table. In optimised code, overflow is not checked.
macro_rules! tables {
    ($($name:ident $said:literal $module:ident::$rows:ident, $bytes:expr;)*) => {
        mod answers_at_once {
            $(
                #[test]
                #[cfg_attr(not(debug_assertions), ignore = "needs the debug profile")]
                fn $name() {
                    let _alone = super::ALONE.lock();
                    let mut table = super::Table::new($said);
                    super::$module::$rows(&mut table);
                    table.check($bytes);
                }
            )*
        }

        mod needs_little_stack {
            $(
                #[test]
                fn $name() {
                    let _alone = super::ALONE.lock();
                    let mut table = super::Table::small();
                    super::$module::$rows(&mut table);
                    table.check(usize::MAX);
                }
            )*
        }
    };
}

// The last column has the bytes of the largest allocation. Shapes in part known have some 90 bytes for each of 10,000 symbols.
tables! {
    views "hostile: views" views::rows, 1 << 20;
    sums "hostile: sums" sums::rows, 1 << 20;
    maps "hostile: maps" sums::of_maps, 1 << 20;
    clients "hostile: clients" clients::rows, 1 << 20;
    batches "hostile: batches" batches::rows, 1 << 20;
    shapes "hostile: shapes" shapes::rows, 1 << 20;
    partial "hostile: partial" partial::rows, 1 << 21;
    texts "hostile: texts" shapes::of_texts, 1 << 21;
    strides "hostile: strides" strides::rows, 1 << 20;
    forms "hostile: forms" forms::rows, 1 << 20;
    // a matrix that repeats a vector of 16 kB, and would take 32 MB
    products "hostile: products" batches::repeated_products, 1 << 22;
    // results of 64,000 views, and shapes of half a million axes
    limits "hostile: limits" limits::rows, 1 << 26;
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs the debug profile")]
fn overflow_is_checked() {
    let _alone = ALONE.lock();
    assert!(catch_unwind(|| debug_assert!(black_box(false))).is_err(), "debug assertions are off");
    assert!(catch_unwind(|| black_box(usize::MAX) + black_box(1)).is_err(), "overflow is not checked");
}

#[test]
fn the_allocator_watches() {
    let _alone = ALONE.lock();
    let mut table = Table::small();
    table.call("a vector", || vec![0_u8; 12_345]).holds(|vec| vec.len() == 12_345);
    assert!(catch_unwind(AssertUnwindSafe(|| table.check(12_344))).is_err(), "12,345 bytes are more");
    table.check(12_345);
}

/// The rows that are about arrays, and all.
const ARRAYS: &str = concat!(
    include_str!("views.rs"),
    include_str!("sums.rs"),
    include_str!("clients.rs"),
    include_str!("batches.rs")
);
const ALL: [&str; 3] = [ARRAYS, include_str!("shapes.rs"), include_str!("partial.rs")];

fn public_names() -> impl Iterator<Item = (&'static str, String)> {
    include_str!("public.txt").lines().map(|name| (name, format!("\"{name}\"")))
}

#[test]
fn every_function_has_a_row() {
    let _alone = ALONE.lock();
    let is_missing = |quoted: &str| ALL.iter().all(|rows| !rows.contains(quoted));
    let missing: Vec<_> = public_names().filter(|(_, quoted)| is_missing(quoted)).collect();
    assert!(missing.is_empty(), "not in the tables: {missing:?}");
}

/// As the code has them, because only a nightly writes the list: `public` writes it anew.
#[test]
fn the_list_has_every_function_of_the_code() {
    let _alone = ALONE.lock();
    let (root, mut declared) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), Vec::new());
    functions(&root, &mut declared);
    assert!(declared.len() > 100, "{} functions", declared.len());
    let is_listed =
        |name: &String| include_str!("public.txt").lines().any(|line| line.rsplit("::").next() == Some(name));
    let missing: Vec<_> = declared.iter().filter(|name| !is_listed(name)).collect();
    assert!(missing.is_empty(), "not in tests/hostile/public.txt: {missing:?}");
}

/// Adds the names of public functions and of methods of public traits, unless they are hidden, in a folder outside of the kernel.
fn functions(folder: &Path, names: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("kernel") {
            functions(&path, names);
        }
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let (text, mut is_hidden, mut is_in_trait) = (fs::read_to_string(&path).unwrap(), false, false);
        for line in text.lines() {
            is_in_trait = line.starts_with("pub trait ") || is_in_trait && line != "}";
            let declared =
                line.trim_start().strip_prefix("pub ").or(line.strip_prefix("    ").filter(|_| is_in_trait));
            let name = declared.and_then(|rest| rest.trim_start_matches("const ").strip_prefix("fn "));
            let name = name.and_then(|rest| rest.split(['(', '<']).next());
            names.extend(name.filter(|name| !is_hidden && !name.starts_with('$')).map(String::from));
            let is_attribute = line.trim_start().starts_with(['#', '/']);
            is_hidden = line.contains("#[doc(hidden)]") || is_hidden && is_attribute;
        }
    }
}

#[test]
fn every_function_of_arrays_has_a_row_with_odd_strides() {
    let _alone = ALONE.lock();
    let (odd, forms) = (include_str!("strides.rs"), forms::names());
    let is_there = |name: &str, quoted: &str| odd.contains(quoted) || forms.contains(name);
    let of_arrays = public_names().filter(|(_, quoted)| ARRAYS.contains(quoted));
    let missing: Vec<_> = of_arrays.filter(|(name, quoted)| !is_there(name, quoted)).collect();
    assert!(missing.is_empty(), "without arrays of hostile strides: {missing:?}");
}

#[test]
fn every_operation_on_elements_is_a_form() {
    let _alone = ALONE.lock();
    forms::assert_complete(include_str!("public.txt"));
}
