//! The rules of shapes at the edges of `usize`, whose width is that of the machine.

use crate::layouts::Random;
use common::{Choices, joint, overflows, resolved, variant};
use ndarray::{IxDyn, arr0};
use ndarray_broadcast::{BroadcastError, broadcast_shapes, prelude::*, resolve_target};

/// Half of the bits of a size: the square of this one has one bit too many.
const HALF: u32 = usize::BITS / 2;
const MOST: usize = isize::MAX.unsigned_abs();

/// Mostly a small size, else one at the edge of what fits.
fn size(random: &mut Random) -> usize {
    const EDGES: [usize; 10] = [
        MOST,
        MOST + 1,
        usize::MAX,
        MOST / 2,
        MOST / 3 + 1,
        1 << HALF,
        (1 << HALF) - 1,
        1 << (HALF - 1),
        1 << (HALF / 2),
        1 << (usize::BITS - 2),
    ];
    if random.one_in(3) { random.pick(&EDGES) } else { random.size() }
}

fn named<T>(result: Result<T, BroadcastError>) -> Result<T, String> {
    result.map_err(|error| variant(&error))
}

/// Shapes together, a shape and a target, views of a shape, and their copies.
pub(crate) fn shapes(random: &mut Random) {
    let whole: Vec<usize> = (0..random.below(5)).map(|_| size(random)).collect();
    let (mut from, other) = (random.operand_of(&whole), random.operand_of(&whole));
    if !from.is_empty() && random.one_in(6) {
        let axis = random.below(from.len());
        from[axis] = size(random);
    }
    random.note(format_args!("{from:?} and {other:?} of {whole:?}"));
    let together = [&from, &other, &whole];
    assert_eq!(named(broadcast_shapes(&together)), joint(&together).map_err(String::from));
    let mut target: Vec<isize> = whole.iter().map(|size| size.cast_signed()).collect();
    if !target.is_empty() && random.one_in(3) {
        let axis = random.below(target.len());
        target[axis] = -1;
    }
    let given: Vec<i64> = target.iter().map(|&size| size as i64).collect();
    let expected = resolved(&from, &given, true).map_err(String::from);
    assert_eq!(named(resolve_target(&from, &target)), expected);
    let (nothing, number) = (arr0(()), arr0(1_u64));
    let view = nothing.broadcast(IxDyn(&from));
    assert_eq!(view.is_none(), overflows(&from));
    let Some(view) = view else { return };
    assert_eq!(named(view.broadcast_to(&target).map(|view| view.shape().to_vec())), expected);
    let numbers = number.broadcast(IxDyn(&from)).expect("as many as of no size");
    let bytes = from.iter().map(|&size| size as u128).product::<u128>() * 8;
    if bytes > MOST as u128 {
        assert_eq!(named(numbers.try_materialize()), Err("TooLarge".into()));
        assert_eq!(named(numbers.sum_axes(&[0_usize; 0][..])), Err("TooLarge".into()));
    } else if bytes < 1000 {
        assert_eq!(named(numbers.try_materialize()), Ok(numbers.to_owned()));
    }
}
