//! The traits of numbers that are made of other numbers.

/// Implements traits of numbers, by name, for a type: `$of` makes one of the `$A` that an operation gives, and `$value` is the `$A` that
/// one is made of.
#[macro_export]
macro_rules! number_traits {
    (@Add $($type:tt)*) => { $crate::number_traits! { @operator Add add $($type)* } };
    (@Sub $($type:tt)*) => { $crate::number_traits! { @operator Sub sub $($type)* } };
    (@Mul $($type:tt)*) => { $crate::number_traits! { @operator Mul mul $($type)* } };
    (@Div $($type:tt)*) => { $crate::number_traits! { @operator Div div $($type)* } };
    (@operator $Op:ident $op:ident
        [$($generics:tt)*] $T:ty, $A:ty: $of:expr, |$x:ident| $value:expr) => {
        impl<$($generics)*> std::ops::$Op for $T {
            type Output = Self;
            fn $op(self, other: Self) -> Self {
                let value = |$x: &Self| -> $A { $value };
                $of(std::ops::$Op::$op(value(&self), value(&other)))
            }
        }
    };
    (@Zero [$($generics:tt)*] $T:ty, $A:ty: $of:expr, |$x:ident| $value:expr) => {
        impl<$($generics)*> num_traits::Zero for $T {
            fn zero() -> Self {
                $of(num_traits::Zero::zero())
            }
            fn is_zero(&self) -> bool {
                let value = |$x: &Self| -> $A { $value };
                num_traits::Zero::is_zero(&value(self))
            }
        }
    };
    (@One [$($generics:tt)*] $T:ty, $A:ty: $of:expr, |$x:ident| $value:expr) => {
        impl<$($generics)*> num_traits::One for $T {
            fn one() -> Self {
                $of(num_traits::One::one())
            }
        }
    };
    (@FromPrimitive [$($generics:tt)*] $T:ty, $A:ty: $of:expr, |$x:ident| $value:expr) => {
        impl<$($generics)*> num_traits::FromPrimitive for $T {
            fn from_i64(n: i64) -> Option<Self> {
                <$A as num_traits::FromPrimitive>::from_i64(n).map($of)
            }
            fn from_u64(n: u64) -> Option<Self> {
                <$A as num_traits::FromPrimitive>::from_u64(n).map($of)
            }
            fn from_f64(n: f64) -> Option<Self> {
                <$A as num_traits::FromPrimitive>::from_f64(n).map($of)
            }
        }
    };
    ($generics:tt $T:ty, $A:ty: $of:expr, |$x:ident| $value:expr; $($Trait:ident)*) => {
        $($crate::number_traits! { @$Trait $generics $T, $A: $of, |$x| $value })*
    };
}
