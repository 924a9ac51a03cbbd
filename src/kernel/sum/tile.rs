//! Nests with reduced loops outside kept ones.
//!
//! The innermost loops, kept and reduced alike, make a *tile*: a stretch of the input small enough to stay in L1.
//! The reduced loops outside it make *rows*, as wide as the tile; they are added up element by element, eight at a
//! time, whatever the tile's elements mean. Only then is the tile itself reduced: much less work.

use super::levels::{LEVELS, Levels, RADIX};
use super::{Element, Store, Sum, lane};
use crate::kernel::plan::{Loop, Stack, Walk};
use crate::kernel::raw::{Block, Every, Scratch, Source, Step};

/// How the loops are shared out.
pub(super) struct Tiling {
    /// The loops over the tiles: kept ones outside, then the cut one if it is kept. The third of the strides is how
    /// far into the cut one.
    pub(super) outside: Stack<Loop<3>>,
    /// Reduced loops outside the tile, but the last.
    rows: Stack<Loop<2>>,
    /// The last of them, and how much of the cut loop it leaves for a narrower row.
    last: (Loop<2>, usize),
    /// The tile's loops, with strides in the tile and in the output.
    tile: Stack<Loop<2>>,
    /// The outermost of them before it was cut, with its strides in the input and in the output.
    cut: Loop<2>,
    /// The tile's step in the input.
    step: isize,
    levels: usize,
}

impl Tiling {
    #[inline(always)]
    pub(super) fn of<T>(loops: &[Loop<2>]) -> Self {
        let mut levels = 1;
        loop {
            let tiling = Self::within(loops, Scratch::capacity::<T>() / levels, levels);
            let adds = tiling.adds();
            if levels == LEVELS || (0..levels).fold(1, |sums: usize, _| sums.saturating_mul(RADIX)) >= adds {
                return tiling;
            }
            levels += 1;
        }
    }

    fn within(loops: &[Loop<2>], room: usize, levels: usize) -> Self {
        let innermost = loops[loops.len() - 1];
        let step = innermost.strides[0];
        let mut rows_left: usize = loops.iter().filter(|l| l.strides[1] == 0).map(|l| l.len).product();
        let mut chain = innermost;
        let (mut width, mut start, mut take) = (1, loops.len(), 0);
        while start > 0 {
            let l = loops[start - 1];
            let chained = width == 1 || l.strides[0] == chain.strides[0].wrapping_mul(chain.len as isize);
            let mut limit = room / width;
            if l.strides[1] == 0 {
                let enough = if width < 32 { (rows_left / 8).min(64 / width) } else { 0 };
                let enough = enough.max(rows_left / 64);
                limit = limit.min(if start == loops.len() { enough.max(1) } else { enough });
            }
            if !chained || limit < 2 && start < loops.len() {
                break;
            }
            start -= 1;
            chain = l;
            take = l.len.div_ceil(l.len.div_ceil(limit));
            width *= take;
            if l.strides[1] == 0 {
                rows_left /= l.len;
            }
            if take < l.len {
                break;
            }
        }
        Self::cut(loops, start, take, step, levels)
    }

    fn cut(loops: &[Loop<2>], start: usize, take: usize, step: isize, levels: usize) -> Self {
        let mut t = Self {
            outside: Stack::new(Loop::ONE),
            rows: Stack::new(Loop::ONE),
            last: (Loop::ONE, 0),
            tile: Stack::new(Loop::ONE),
            cut: loops[start],
            step,
            levels,
        };
        for &l in &loops[..start] {
            match l.strides {
                [_, 0] => t.rows.push(l),
                [from, to] => t.outside.push(Loop { len: l.len, strides: [from, to, 0] }),
            }
        }
        t.tile.push(Loop { len: take, ..loops[start] });
        for &l in &loops[start + 1..] {
            t.tile.push(l);
        }
        let mut width = 1;
        for l in t.tile.iter_mut().rev() {
            l.strides[0] = width;
            width *= l.len as isize;
        }
        let [from, to] = t.cut.strides.map(|stride| stride * take as isize);
        if to == 0 {
            t.last = (Loop { len: t.cut.len / take, strides: [from, 0] }, t.cut.len % take);
            return t;
        }
        if take < t.cut.len {
            t.outside.push(Loop { len: t.cut.len.div_ceil(take), strides: [from, to, take as isize] });
        }
        if let Some(last) = t.rows.pop() {
            t.last.0 = last;
        }
        t
    }

    fn width(&self) -> usize {
        self.tile.iter().map(|l| l.len).product()
    }

    /// How often something is added to the tile.
    fn adds(&self) -> usize {
        let outer: usize = self.rows.iter().map(|l| l.len).product();
        let (last, rest) = self.last;
        outer * (last.len / 8 + last.len % 8 + usize::from(rest > 0))
    }

    /// How many tiles there are.
    #[cfg(feature = "rayon")]
    pub(super) fn tiles(&self) -> usize {
        self.outside.iter().map(|l| l.len).product()
    }

    /// All of the work.
    pub(super) fn whole(&self) -> Share<'_> {
        Share { tiling: self, outside: &self.outside, at: [0; 3] }
    }

    /// Adds all of the rows that start at `at`, in the columns from `first` on that `levels` has.
    #[inline(always)]
    fn add_all<T: Element>(
        &self,
        levels: &mut Levels<'_, T>,
        at: Source<'_, T>,
        first: usize,
        step: impl Step,
    ) {
        let (rows, rest) = self.last;
        let width = levels.width;
        let narrow = rest * self.tile[0].strides[0] as usize;
        let at = at.moved(step.offset(first));
        for [from, _] in Walk::new(&self.rows, [0, 0]) {
            let mut part = (from, rows, width);
            let mut last = rest == 0;
            loop {
                let (from, rows, width) = part;
                // SAFETY: a step of the outer reduced loops, and turns of the others, those in the tile adjacent.
                let x = unsafe { at.moved(from).block(rows.len, rows.strides[0], width, step) };
                add_rows(levels, x);
                if last {
                    break;
                }
                last = true;
                let from = from + rows.len as isize * rows.strides[0];
                part = (from, Loop::ONE, narrow.saturating_sub(first).min(width));
            }
        }
    }
}

/// Some of a tiling's tiles.
pub(super) struct Share<'a> {
    pub(super) tiling: &'a Tiling,
    /// Loops over the tiles, from where on.
    pub(super) outside: &'a [Loop<3>],
    pub(super) at: [isize; 3],
}

impl Share<'_> {
    #[inline(always)]
    pub(super) fn run<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>) {
        let mut scratch = Scratch::new();
        let room = scratch.filled(self.tiling.levels * self.tiling.width(), &T::zero());
        match self.tiling.step {
            1 => self.tiles(sum, room, Every::<1>),
            2 => self.tiles(sum, room, Every::<2>),
            step => self.tiles(sum, room, step),
        }
    }

    #[inline(always)]
    fn tiles<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>, room: &mut [T], step: impl Step) {
        for at in Walk::new(self.outside, self.at) {
            let piece = Piece::new(self.tiling, at);
            let mut levels = Levels::new(room, piece.width, self.tiling.levels);
            self.tiling.add_all(&mut levels, sum.input.moved(piece.at[0]), 0, step);
            piece.finish(sum, levels.finish());
        }
    }
}

/// One tile.
pub(super) struct Piece<'a> {
    tiling: &'a Tiling,
    at: [isize; 2],
    /// The kept ones of the tile's loops.
    kept: Stack<Loop<2>>,
    pub(super) width: usize,
}

impl<'a> Piece<'a> {
    #[inline(always)]
    pub(super) fn new(tiling: &'a Tiling, [from, to, first]: [isize; 3]) -> Self {
        let mut kept = Stack::new(Loop::ONE);
        for &l in tiling.tile.iter().filter(|l| l.strides[1] != 0) {
            kept.push(l);
        }
        let mut len = tiling.tile[0].len;
        if tiling.cut.strides[1] != 0 {
            len = len.min(tiling.cut.len - first as usize);
            kept[0].len = len;
        }
        Self { tiling, at: [from, to], kept, width: len * tiling.tile[0].strides[0] as usize }
    }

    /// The sums of some columns of the tile, from column `first` on.
    #[inline(always)]
    #[cfg(feature = "rayon")]
    pub(super) fn columns<T: Element>(&self, input: Source<'_, T>, first: usize, sums: &mut [T]) {
        let mut scratch = Scratch::new();
        let levels = self.tiling.levels;
        let room = scratch.filled(levels * sums.len(), &T::zero());
        let mut levels = Levels::new(room, sums.len(), levels);
        let at = input.moved(self.at[0]);
        match self.tiling.step {
            1 => self.tiling.add_all(&mut levels, at, first, Every::<1>),
            step => self.tiling.add_all(&mut levels, at, first, step),
        }
        sums.clone_from_slice(levels.finish());
    }

    /// Reduces the tile and stores what is left.
    #[inline(always)]
    pub(super) fn finish<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>, tile: &mut [T]) {
        fold(tile, &self.tiling.tile, &self.kept);
        store(sum, tile, &self.kept, self.at[1]);
    }
}

/// Adds the rows to the tile, or to its beginning if they are narrower.
#[inline(always)]
fn add_rows<T: Element, S: Step>(levels: &mut Levels<'_, T>, x: Block<'_, T, S>) {
    let add = |a: &mut T, s| *a = a.clone() + s;
    let mut row = 0;
    while row < x.rows() {
        let tile = &mut levels.first()[..x.width()];
        row += match x.rows() - row {
            8.. => {
                lane::across::<T, _, _, 8>(x, row, tile, add);
                8
            }
            4.. => {
                lane::across::<T, _, _, 4>(x, row, tile, add);
                4
            }
            _ => {
                lane::across::<T, _, _, 1>(x, row, tile, add);
                1
            }
        };
        levels.carry();
    }
}

/// Reduces the tile's reduced loops in place, by halves, outermost first: what is inside them is then adjacent.
#[inline(always)]
fn fold<T: Element>(tile: &mut [T], loops: &[Loop<2>], kept: &[Loop<2>]) {
    let mut outside = 0;
    for l in loops {
        if l.strides[1] != 0 {
            outside += 1;
            continue;
        }
        let inner = l.strides[0] as usize;
        for [from, _] in Walk::new(&kept[..outside], [0, 0]) {
            let part = &mut tile[from as usize..][..l.len * inner];
            if inner == 1 {
                part[0] = lane::sum((&*part).into());
                continue;
            }
            lane::fold(part, inner);
        }
    }
}

/// Stores the tile's sums, at its kept loops' steps.
#[inline(always)]
fn store<T: Element, S: Store<T>>(sum: &Sum<'_, T, S>, tile: &[T], kept: &[Loop<2>], to: isize) {
    let (inner, outer) = kept.split_last().map_or((Loop::ONE, kept), |(&l, rest)| (l, rest));
    for [from, to] in Walk::new(outer, [0, to]) {
        let from = &tile[from as usize..];
        if inner.strides == [1, 1] {
            // SAFETY: steps of the kept loops, whole turns of the innermost: elements that no other step reaches.
            let slots = unsafe { sum.out.moved(to).slice(inner.len) };
            for (slot, x) in slots.iter_mut().zip(from) {
                sum.store.store(slot, x.clone());
            }
        } else {
            for i in 0..inner.len as isize {
                // SAFETY: a step of the kept loops, so an element that no other step reaches.
                let slot = unsafe { sum.out.moved(to + i * inner.strides[1]).slot() };
                sum.store.store(slot, from[(i * inner.strides[0]) as usize].clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width of the tiles, how many there are, how often something is added to one, and the levels.
    fn tiling(loops: &[(usize, [isize; 2])]) -> [usize; 4] {
        let loops: alloc::vec::Vec<_> = loops.iter().map(|&(len, strides)| Loop { len, strides }).collect();
        let t = Tiling::of::<f32>(&loops);
        [t.width(), t.outside.iter().map(|l| l.len).product(), t.adds(), t.levels]
    }

    #[test]
    fn tiles_and_rows() {
        // ten rows of 40 make a tile, so that there are 70 of it: eight times eight, and six
        assert_eq!(tiling(&[(700, [40, 0]), (40, [1, 1])]), [400, 1, 14, 2]);
        // wide rows are cut into tiles that fit
        assert_eq!(tiling(&[(80, [13_000, 0]), (13_000, [1, 1])]), [4_334, 3, 10, 2]);
        // 65 times 46 narrow rows, and 11
        assert_eq!(tiling(&[(3_001, [7, 0]), (7, [1, 1])]), [322, 1, 10, 2]);
        // one long row, cut into 64 and a shorter one
        assert_eq!(tiling(&[(70_000, [1, 0])]), [1_077, 1, 9, 2]);
        // kept and reduced ones by turns
        assert_eq!(tiling(&[(300, [350, 0]), (5, [70, 1]), (70, [1, 0])]), [1_400, 1, 12, 2]);
        assert_eq!(tiling(&[(9, [5_200, 1]), (130, [40, 0]), (40, [1, 9])]), [80, 9, 9, 2]);
        assert_eq!(tiling(&[(6, [6_000, 0]), (30, [200, 20]), (10, [20, 0]), (20, [1, 1])]), [60, 30, 24, 2]);
    }
}
