//! Maps and fused sums of three to six operands, with every set of operands that move along the rows.

use ndarray::{Array1, Array2, Axis};
use ndarray_broadcast::{broadcast_apply, fused, prelude::*};

/// A number that is not plain.
#[derive(Clone, Copy)]
struct Wrapped(i64);

/// An element of each of six types, from a number below 100.
trait Number: Copy {
    fn of(number: u8) -> Self;
    fn number(self) -> i64;
}

macro_rules! numbers {
    ($($A:ident)*) => {
        $(impl Number for $A {
            fn of(number: u8) -> Self {
                number.into()
            }

            #[allow(clippy::cast_possible_truncation, clippy::cast_lossless, trivial_numeric_casts, reason = "small numbers")]
            fn number(self) -> i64 {
                self as i64
            }
        })*
    };
}
numbers!(u8 i16 f32 i64 i128 f64);

impl Number for Wrapped {
    fn of(number: u8) -> Self {
        Self(number.into())
    }

    fn number(self) -> i64 {
        self.0
    }
}

/// Operand `k`: a matrix, a row or a column, or one element.
fn operand<A: Number>(moving: usize, k: usize, [rows, len]: [usize; 2]) -> Array2<A> {
    let rows = if (k + moving).is_multiple_of(3) { 1 } else { rows };
    let len = if moving >> k & 1 == 1 { len } else { 1 };
    Array2::from_shape_fn((rows, len), |(i, j)| {
        A::of(u8::try_from((i * 31 + j * 7 + k * 13) % 97).expect("small"))
    })
}

macro_rules! check {
    ($count:literal $name:ident: $($A:ident $a:ident $k:literal $weight:literal),*) => {
        #[test]
        fn $name() {
            for len in [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 50, 63, 70, 129] {
                for moving in 0..1 << $count {
                    let shape = [5, len];
                    $(let $a = operand::<$A>(moving, $k, shape);)*
                    let whole = Array2::<i64>::zeros(shape);
                    let mut expected = whole.clone();
                    $(expected += &($a.mapv(|a| a.number() * $weight));)*
                    let mut out = whole.clone();
                    broadcast_apply(&mut out, ($(&$a,)*), |out, $($a),*| *out += 0 $(+ $a.number() * $weight)*).unwrap();
                    assert_eq!(out, expected, "{moving:b} {len}");
                    let whole = Array2::<u8>::zeros(shape);
                    let sums = fused((&whole, $(&$a,)*), |_: &u8, $($a: &$A),*| 0 $(+ $a.number() * $weight)*);
                    for axis in 0..2 {
                        let sum: Array1<i64> = sums.sum_axes(axis).unwrap();
                        assert_eq!(sum, expected.sum_axis(Axis(axis)), "{moving:b} {len} {axis}");
                    }
                }
            }
        }
    };
}
check!(3 sets_of_three: f32 a 0 1, f64 b 1 3, i64 c 2 5);
check!(4 sets_of_four: u8 a 0 1, i128 b 1 3, f32 c 2 5, i16 d 3 7);
check!(5 sets_of_five: f64 a 0 1, f32 b 1 3, i64 c 2 5, u8 d 3 7, i128 e 4 9);
check!(3 sets_with_others: Wrapped a 0 1, f64 b 1 3, Wrapped c 2 5);
check!(5 sets_of_five_with_another: f64 a 0 1, f32 b 1 3, Wrapped c 2 5, u8 d 3 7, i128 e 4 9);

/// Six operands: the map alone.
#[test]
fn sets_of_six() {
    for len in [1, 8, 15, 16, 17, 32, 49, 70] {
        for moving in 0..1 << 6 {
            let shape = [5, len];
            let (a, b, c) = (
                operand::<u8>(moving, 0, shape),
                operand::<f64>(moving, 1, shape),
                operand::<i16>(moving, 2, shape),
            );
            let (d, e, g) = (
                operand::<i128>(moving, 3, shape),
                operand::<f32>(moving, 4, shape),
                operand::<i64>(moving, 5, shape),
            );
            let mut out = Array2::<i64>::zeros(shape);
            let expected = &out
                + &a.mapv(Number::number)
                + b.mapv(|b| b.number() * 3)
                + c.mapv(|c| c.number() * 5)
                + d.mapv(|d| d.number() * 7)
                + e.mapv(|e| e.number() * 9)
                + g.mapv(|g| g.number() * 11);
            broadcast_apply(&mut out, (&a, &b, &c, &d, &e, &g), |out, a, b, c, d, e, g| {
                *out += a.number()
                    + b.number() * 3
                    + c.number() * 5
                    + d.number() * 7
                    + e.number() * 9
                    + g.number() * 11;
            })
            .unwrap();
            assert_eq!(out, expected, "{moving:b} {len}");
        }
    }
}

/// Repeated views stay along all axes; what is no plain number stays beside them.
#[test]
fn operands_that_all_stay() {
    let (one, wrapped) = (Array1::from_elem(1, 3_i64), Array1::from_elem(1, Wrapped(5)));
    let rows = Array2::from_shape_vec((31, 1), (0..31).collect()).unwrap();
    for len in [8, 11, 40] {
        let repeated = one.broadcast_to((31, len)).unwrap();
        let expected = rows.broadcast((31, len)).unwrap().mapv(|row: i64| row + 8);
        let three = fused((&repeated, &rows, &wrapped), |x, y, w: &Wrapped| x + y + w.0);
        let five =
            fused((&repeated, &rows, &one, &one, &wrapped), |x, y, a, b, w: &Wrapped| x + y + w.0 + (a - b));
        assert_eq!(three.reduce_axes([], 0, i64::max).unwrap(), expected);
        assert_eq!(five.reduce_axes([], 0, i64::max).unwrap(), expected);
        assert_eq!(five.sum_axes(1).unwrap(), expected.sum_axis(Axis(1)));
    }
}
