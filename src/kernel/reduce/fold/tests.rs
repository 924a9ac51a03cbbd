//! Folds against models that go element by element.

use super::*;
use crate::kernel::memory::Buffer;
use crate::kernel::nest::Cloned;
use crate::kernel::operation::Plus;
use crate::kernel::tests::Random;
use alloc::vec::Vec;

/// The results of a block, element by element.
fn model<A: Copy>(op: &impl Fn(A, A) -> A, axes: &[(usize, bool)], elements: &[A]) -> Vec<A> {
    let Some((&(len, is_kept), inner)) = axes.split_first() else { return elements.to_vec() };
    let parts = elements.chunks(elements.len() / len).map(|part| model(op, inner, part));
    if is_kept {
        return parts.flatten().collect();
    }
    let add = |a: Vec<A>, b: Vec<A>| a.into_iter().zip(b).map(|(a, b)| op(a, b)).collect();
    parts.reduce(add).expect("a step")
}

/// Folds a block of random elements, whose results fit.
fn check<A: Copy + PartialEq + core::fmt::Debug, O: Operation<A>>(
    random: &mut Random,
    op: O,
    element: impl Fn(u64) -> A,
    axes: &[(usize, bool)],
) {
    let len = axes.iter().map(|side| side.0).product::<usize>();
    let elements: Vec<A> = (0..len).map(|_| element(random.next())).collect();
    let mut memory = Buffer::<8>::new();
    // what is there before stays
    let before = [element(1), element(2)];
    let mut to = memory.vec(len + 2);
    to.extend(&before);
    fold(&FoldLoops::new(Cloned, op), axes, &elements, &mut to, &mut Buffer::<8>::new().vec(len));
    let expected = model(&|a, b| op.apply(a, b), axes, &elements);
    assert_eq!((&to[..2], &to[2..]), (&before[..], &expected[..]), "{axes:?}");
}

/// Folds blocks of numbers of one byte and of eight bytes.
fn check_both(random: &mut Random, axes: &[(usize, bool)]) {
    check(random, Plus, |i| (i >> 20).cast_signed(), axes);
    let op = &u8::wrapping_add;
    check(random, op, |i| i.to_le_bytes()[3], axes);
}

#[test]
fn lanes_and_rows_of_each_length() {
    let random = &mut Random(8);
    for len in 2..=300 {
        let (few, many) = (2 + random.below(3), 2 + random.below(20));
        check_both(random, &[(len, false)]);
        check_both(random, &[(len, true)]);
        check_both(random, &[(few, true), (len, false)]);
        check_both(random, &[(many, false), (len, true)]);
        check_both(random, &[(len, false), (many, true)]);
        check_both(random, &[(few, true), (len, false), (3, true)]);
        check_both(random, &[(few, false), (2, true), (len, false)]);
        check_both(random, &[(len, false), (few, true), (few, false)]);
        check_both(random, &[(few, true), (2, false), (3, true), (len, false)]);
    }
}

#[test]
fn narrow_rows_of_each_width() {
    let random = &mut Random(9);
    for width in 2..=40 {
        for rows in [2, 3, 7, 8, 9, 25, 100, 500] {
            check_both(random, &[(rows, false), (width, true)]);
            check_both(random, &[(3, true), (rows, false), (width, true)]);
        }
    }
}

#[test]
fn one_lane_of_any_length() {
    fn result<A: Clone, O: Operation<A>>(op: O, lane: &[A]) -> A {
        let mut memory = Buffer::<8>::new();
        let mut to = memory.vec(1);
        fold(
            &FoldLoops::new(Cloned, op),
            &[(lane.len(), false)],
            lane,
            &mut to,
            &mut Buffer::<8>::new().vec(0),
        );
        to[0].clone()
    }
    let random = &mut Random(10);
    let lens = (2..=300).chain([1023, 1024, 2047, 2048, 2049, 8191, 8192, 8193, 16_384 + 77, 100_003]);
    for len in lens {
        let elements: Vec<u32> = (0..len).map(|_| random.next().to_le_bytes()[0].into()).collect();
        assert_eq!(result(Plus, &elements), elements.iter().sum(), "{len}");
        // an operation that finds each place
        let op = &|a: u32, b: u32| a.max(b);
        let mut lane = alloc::vec![1; len];
        lane[random.below(len)] = 2;
        assert_eq!(result(op, &lane), 2, "{len}");
    }
}

#[test]
fn groups_have_any_number_of_rows() {
    let random = &mut Random(11);
    for width in 1..=70 {
        for len in [1_usize, 2, 3, 4, 5, 8, 9, 11]
            .map(|rows| (rows * width).saturating_sub(random.below(width)).max(width))
        {
            let elements: Vec<i64> = (0..2 * len).map(|_| (random.next() >> 20).cast_signed()).collect();
            let mut memory = Buffer::<32>::new();
            let mut sums = memory.vec(2 * width);
            FoldLoops::new(Cloned, Plus).sum_rows(&elements, len, width, &mut sums);
            let sum = |group: &[i64], i: usize| {
                group[..len / width * width].iter().skip(i).step_by(width).sum::<i64>()
            };
            let expected = elements.chunks(len).flat_map(|group| (0..width).map(move |i| sum(group, i)));
            assert!(sums.iter().copied().eq(expected), "{len} {width}");
        }
    }
}
