//! The sums over batch axes.

use super::{Expected, base, check, operands};
use crate::cases::Input;
use crate::cases::check::agreed;
use common::{Choices, Layout, Strided, sums};

pub(super) fn back(input: &mut Input<'_>) {
    let base = base(input);
    let all = operands(input, vec![base.clone(), vec![]]);
    let [delta, like] = &all[..] else { unreachable!() };
    let own = &delta.parts.batch;
    let mut target: Vec<i64> = input.operand(own).iter().map(|&size| size as i64).collect();
    if input.one_in(8) {
        target.insert(0, input.pick(&[1, 2, -1, 1 << 50]));
    }
    let expected = |target: &[i64]| -> Expected {
        let sizes: Result<Vec<usize>, _> = target.iter().map(|&size| usize::try_from(size)).collect();
        let sizes = sizes.map_err(|_| "InvalidSize")?;
        let new = own.len().checked_sub(sizes.len()).ok_or("TooManyAxes")?;
        if sizes.iter().zip(&own[new..]).any(|(&size, &own)| size != 1 && size != own) {
            return Err("Incompatible");
        }
        let whole = [&sizes[..], &base].concat();
        let places: Vec<usize> = (new..own.len() + base.len()).collect();
        let sums = sums(delta.array.shape(), delta.numbers.elements().copied(), &whole, &places);
        Ok((whole, sums.into_iter().map(|sum| sum as f64).collect()))
    };
    let batch = delta.batch();
    check(batch.sum_batch_to(&target[..]), &expected(&target));
    let other: Vec<i64> = like.parts.batch.iter().map(|&size| size as i64).collect();
    check(batch.sum_batch_to(like.batch().batch_shape()), &expected(&other));
    // into an array
    let mut to = base.clone();
    if !to.is_empty() && input.one_in(6) {
        to[0] = input.size();
    }
    let shape: Vec<usize> =
        target.iter().map(|&size| size.clamp(0, 9) as usize).chain(to.iter().copied()).collect();
    let cut = if input.one_in(10) { input.below(shape.len() + 1) } else { 0 };
    let shape = &shape[cut..];
    let out = Strided::new(Layout::to_write(input, shape), |place| place as f64);
    let split = shape.len().checked_sub(base.len()).ok_or("TooFewAxes");
    let expected = split.and_then(|split| {
        let target: Vec<i64> = shape[..split].iter().map(|&size| size as i64).collect();
        let (_, sums) = expected(&target)?;
        if shape[split..] == base { Ok(sums) } else { Err("BaseSize") }
    });
    let mut after = out.clone();
    match agreed(batch.add_sum_batch_to(&mut after.view_mut()), &expected) {
        Some(((), sums)) => out.assert_became(&after, out.elements().zip(sums).map(|(old, sum)| old + sum)),
        None => out.assert_became(&after, out.elements().copied()),
    }
}
