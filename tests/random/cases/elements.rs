//! Elements of every size and kind. Each stands for a whole number, its code, with which the model computes.

use crate::cases::Input;
use common::Choices;
use num_complex::Complex;
use num_traits::Zero;
use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::Mul;
use std::sync::Arc;

pub(crate) trait Element:
    Clone + Debug + Default + Zero + Mul<Output = Self> + Send + Sync + 'static
{
    /// Codes from 0 to this one are told apart.
    const MOST: i64;

    /// The element of this code modulo `MOST + 1`.
    fn of(code: i64) -> Self;

    fn code(&self) -> i64;

    /// The code of a product.
    fn multiplied(code: i64, other: i64) -> i64 {
        code * other
    }

    fn name() -> &'static str {
        core::any::type_name::<Self>()
    }
}

macro_rules! numbers {
    ($($T:ident $most:expr;)*) => {$(
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
        #[allow(clippy::cast_sign_loss, clippy::cast_precision_loss)]
        impl Element for $T {
            const MOST: i64 = $most;

            fn of(code: i64) -> Self {
                code.rem_euclid(Self::MOST.saturating_add(1)) as $T
            }

            fn code(&self) -> i64 {
                *self as i64
            }
        }
    )*};
}
numbers! {
    u8 0xFF;
    u16 0xFFFF;
    u32 0xFFFF_FFFF;
    u64 1 << 60;
    u128 1 << 60;
    i8 0x7F;
    i16 0x7FFF;
    i32 0x7FFF_FFFF;
    i64 1 << 60;
    f32 (1 << 24) - 1;
    f64 1 << 50;
}

macro_rules! complex {
    ($($T:ident $most:expr;)*) => {$(
        impl Element for Complex<$T> {
            const MOST: i64 = $most;

            fn of(code: i64) -> Self {
                Self::new(<$T as Element>::of(code.rem_euclid(Self::MOST + 1)), 0.0)
            }

            fn code(&self) -> i64 {
                assert!(self.im == 0.0, "a product of real numbers is real");
                self.re.code()
            }
        }
    )*};
}
complex! {
    f32 1 << 20;
    f64 1 << 20;
}

/// Elements of a type of their own, which are added and multiplied by their codes.
macro_rules! own_types {
    ($($(#[$attribute:meta])* $T:ident($A:ty): $most:expr, $of:expr, $code:expr;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, PartialOrd)]
        pub(crate) struct $T($A);

        impl Element for $T {
            const MOST: i64 = $most;

            fn of(code: i64) -> Self {
                Self(($of)(code.rem_euclid(Self::MOST + 1)))
            }

            fn code(&self) -> i64 {
                ($code)(&self.0)
            }
        }

        impl Default for $T {
            fn default() -> Self {
                Self::of(0)
            }
        }

        common::number_traits! {
            [] $T, i64: Self::of, |x| x.code();
            Add Mul Zero
        }
    )*};
}
own_types! {
    /// As large as `f32`, and no plain number for the crate.
    #[derive(Copy)]
    Newtype(f32): <f32 as Element>::MOST, <f32 as Element>::of, |x: &f32| x.code();
    /// Three bytes.
    #[derive(Copy)]
    Three([u8; 3]): 0xFF_FFFF, three, |x: &[u8; 3]| i64::from(u32::from_be_bytes([0, x[0], x[1], x[2]]));
    /// 32 bytes, all of which must agree.
    #[derive(Copy)]
    Wide([i64; 4]): 1 << 60, |code: i64| [code, !code, code ^ 1, -code], wide;
    /// No byte.
    #[derive(Copy)]
    Nothing(()): 0, |_: i64| (), |(): &()| 0;
    /// As aligned as a cache line.
    #[repr(align(64))]
    #[derive(Copy)]
    Aligned(u32): <u32 as Element>::MOST, <u32 as Element>::of, |x: &u32| x.code();
    /// 2.8 kB, all of which must agree, and more aligned than the crate's scratch.
    #[repr(align(128))]
    #[derive(Copy)]
    #[cfg_attr(not(feature = "rayon"), allow(dead_code, reason = "drawn with all features only"))]
    Large([i64; 352]): 1 << 60, |code: i64| [code; 352], |x: &[i64; 352]| {
        assert_eq!(*x, [x[0]; 352], "an element in one piece");
        x[0]
    };
    /// 65 bytes, all of which must agree: one more than a block reduces.
    #[derive(Copy)]
    #[cfg_attr(not(feature = "rayon"), allow(dead_code, reason = "drawn with all features only"))]
    Odd([u8; 65]): 0xFF, |code: i64| [code.to_le_bytes()[0]; 65], |x: &[u8; 65]| {
        assert_eq!(*x, [x[0]; 65], "an element in one piece");
        i64::from(x[0])
    };
    /// It owns memory, and is counted.
    Boxed(Counted): 1 << 60, Counted::new, |x: &Counted| *x.0;
}

fn three(code: i64) -> [u8; 3] {
    let [.., a, b, c] = code.to_be_bytes();
    [a, b, c]
}

fn wide(x: &[i64; 4]) -> i64 {
    assert_eq!(*x, [x[0], !x[0], x[0] ^ 1, -x[0]], "an element in one piece");
    x[0]
}

/// Calls a generic function for the element type of this number. Without all features it is compiled for some.
macro_rules! of_type {
    ($number:expr, $call:ident($($argument:expr),*)) => {
        match $number {
            0 => $call::<u8>($($argument),*),
            #[cfg(feature = "rayon")]
            1 => $call::<u16>($($argument),*),
            #[cfg(feature = "rayon")]
            2 => $call::<u32>($($argument),*),
            3 => $call::<f64>($($argument),*),
            #[cfg(feature = "rayon")]
            4 => $call::<u128>($($argument),*),
            5 => $call::<Newtype>($($argument),*),
            6 => $call::<Three>($($argument),*),
            7 => $call::<Wide>($($argument),*),
            8 => $call::<Nothing>($($argument),*),
            #[cfg(feature = "rayon")]
            9 => $call::<crate::cases::elements::Aligned>($($argument),*),
            10 => $call::<Boxed>($($argument),*),
            #[cfg(feature = "rayon")]
            12 => $call::<crate::cases::elements::Large>($($argument),*),
            #[cfg(feature = "rayon")]
            15 => $call::<crate::cases::elements::Odd>($($argument),*),
            _ => $call::<f32>($($argument),*),
        }
    };
}
pub(crate) use of_type;

/// Numbers of types for some cases only.
pub(crate) const COMPLEX: usize = 13;
pub(crate) const NAN: usize = 14;

impl Input<'_> {
    /// The number of an element type; those without a type of their own are `f32`.
    pub(crate) fn element_type(&mut self) -> usize {
        match self.below(13) {
            12 => 11 + self.below(5),
            number => number,
        }
    }
}

thread_local!(static ALIVE: RefCell<Arc<()>> = RefCell::default());

/// A number on the heap. [`balanced`] counts those that its thread made, and their clones.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) struct Counted(Box<i64>, Arc<()>);

impl Counted {
    fn new(code: i64) -> Self {
        Self(Box::new(code), ALIVE.with_borrow(Arc::clone))
    }
}

/// Runs `f`, after which no [`Counted`] is left.
pub(crate) fn balanced(f: impl FnOnce()) {
    f();
    ALIVE.with_borrow(|alive| assert_eq!(Arc::strong_count(alive), 1, "elements that are lost"));
}
