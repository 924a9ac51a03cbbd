//! Models, generators and random numbers: the naive model, arrays of every layout, choices from random numbers or from bytes,
//! strategies for proptest, and the recorded tables.
#![allow(missing_docs, reason = "nothing but tests, benches and fuzz targets uses this")]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "as above"
)]

mod choices;
pub mod forms;
mod lie;
#[cfg(feature = "tests")]
mod messages;
mod model;
pub mod narrow;
mod newtype;
pub mod number;
pub mod oracle;
#[cfg(feature = "tests")]
pub mod probe;
#[cfg(feature = "tests")]
mod strategies;
mod strided;
#[cfg(feature = "tests")]
mod tables;

pub use choices::{Choices, Random, names};
pub use lie::Lie;
#[cfg(feature = "tests")]
pub use messages::{Blocks, Said, assert_blocks, assert_sorted, bless, blocks, said};
pub use model::{
    aligned_right, assert_elements, assert_strides, element, empty, extreme_at, in_dim_places, indices,
    joint, kind, lanes, numbers_read, overflows, products, read_at, refused, resolved, scrambled, signed,
    sums, variant, without_axes,
};
#[cfg(feature = "tests")]
pub use strategies::cases;
pub use strided::{Layout, Spacing, Strided, spread};
#[cfg(feature = "tests")]
pub use tables::{Case, Number, array_in, operands_in, run, torch_array};

/// Whether the tests that take long run all of their cases: in optimised code, and with `THOROUGH=1`, as in `.ci/run`.
pub fn is_thorough() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("THOROUGH").is_some()
}

/// All cases where the tests are thorough, else the first of every `n`.
pub fn sample<T>(n: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if is_thorough() { 1 } else { n })
}

/// Runs `$body` with `$name`, a view with a fixed number of axes, 0 to 6, made from a view of dynamic rank.
#[macro_export]
macro_rules! view_of_rank {
    ($view:expr, $name:ident => $body:expr) => {{
        macro_rules! fixed {
            ($Ix:ident) => {{
                let $name = $view.into_dimensionality::<ndarray::$Ix>().expect("the matched number of axes");
                $body
            }};
        }
        match $view.ndim() {
            0 => fixed!(Ix0),
            1 => fixed!(Ix1),
            2 => fixed!(Ix2),
            3 => fixed!(Ix3),
            4 => fixed!(Ix4),
            5 => fixed!(Ix5),
            6 => fixed!(Ix6),
            ndim => panic!("{ndim} axes are not a fixed number"),
        }
    }};
}

/// Calls for the numbers that most programs use. The code of generic functions that is compiled here is not compiled
/// again in the programs, which saves a quarter of their build. In optimised code it is.
#[cfg(feature = "tests")]
pub mod compiled {
    use ndarray::{Array1, Array2, Array3, Ix1, Ix2, LinalgScalar};
    use ndarray_broadcast::prelude::*;
    use ndarray_broadcast::{broadcast_map, fused};

    /// The forms for the numbers that several programs try them with.
    pub fn forms() -> usize {
        crate::forms::forms::<f64>().len() + crate::forms::base_operations::<f64>().len()
    }

    pub fn sums() {
        sums_of_one::<u8>();
        sums_of_one::<u64>();
        sums_and_products_of::<f32>();
        sums_and_products_of::<f64>();
        sums_and_products_of::<i32>();
        sums_and_products_of::<i64>();
    }

    fn sums_of_one<A: LinalgScalar>() {
        let array = Array2::<A>::ones((2, 3));
        let sum = array.sum_axes(0).expect("an axis");
        assert_eq!(sum.len(), fused(&array, |&x| x).sum_to(3).expect("the size of rows").len());
    }

    fn sums_and_products_of<A: LinalgScalar>() {
        sums_of_one::<A>();
        let (array, mut row) = (Array2::<A>::ones((2, 3)), Array1::ones(3));
        array.add_sum_to(&mut row).expect("the size of rows");
        array.scaled_add_sum_to(A::one(), &mut row).expect("the size of rows");
        let products = broadcast_map((&array, &row), |&x, &y| x * y).expect("the size of rows");
        let sums = fused((&products, &row), |&x, &y| x * y).sum_to(3).expect("the size of rows");
        assert_eq!(sums.len(), row.len());
        let (matrices, vectors) = (Array3::<A>::ones((2, 3, 3)), Array2::ones((2, 3)));
        let (matrices, vectors) =
            (matrices.batch::<Ix2>().expect("two axes"), vectors.batch::<Ix1>().expect("an axis"));
        assert_eq!(matrices.matvec(&vectors).expect("three terms").shape(), [2, 3]);
    }
}
