//! The bytes of a case, read as choices. What is past the end reads as 0, the plainest choice.

pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `n`, which is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Yes in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// The size of an axis.
    pub fn size(&mut self) -> usize {
        self.pick(&[1, 2, 3, 1, 2, 4, 0, 5])
    }

    /// A shape of at most `axes` axes and about `room` elements. One axis may be long.
    pub fn shape(&mut self, axes: usize, room: usize) -> Vec<usize> {
        let ndim = self.below(axes + 1);
        let mut shape = Vec::new();
        for _ in 0..ndim {
            let size = self.size();
            let fits = shape.iter().chain([&size]).filter(|&&size| size != 0).product::<usize>() <= room;
            shape.push(if fits { size } else { 1 });
        }
        if ndim > 0 && self.one_in(4) {
            let axis = self.below(ndim);
            shape[axis] = 1;
            let long = 6 + self.below(256) + self.below(2) * 45;
            let others = shape.iter().filter(|&&size| size != 0).product::<usize>();
            shape[axis] = long.min((room / others).max(1));
        }
        shape
    }

    /// A shape of one to four axes, with sizes up to `room` at which the kernel takes other loops; or of many axes.
    pub fn long_shape(&mut self, room: usize) -> Vec<usize> {
        if self.one_in(12) {
            return vec![2; 8];
        }
        let mut shape = vec![1; 1 + self.below(4)];
        for axis in self.order(shape.len()) {
            let size = self.pick(&[2, 3, 4, 8, 9, 17, 33, 65, 130, 260, 600, 1030, 2050, 4100, 9000, 40_000]);
            let others: usize = shape.iter().product();
            shape[axis] = size.min(room / others).max(1);
        }
        shape
    }

    /// A shape that goes to `target`: leading axes dropped, some of the others 1. Sometimes one that may not.
    pub fn operand_of(&mut self, target: &[usize]) -> Vec<usize> {
        let from = if self.one_in(3) { self.below(target.len() + 1) } else { 0 };
        let mut shape = Vec::new();
        for &size in &target[from..] {
            shape.push(if self.one_in(3) { 1 } else { size });
        }
        if !shape.is_empty() && self.one_in(8) {
            let axis = self.below(shape.len());
            shape[axis] = self.size();
        }
        shape
    }

    /// Some of `ndim` axes, each once. Sometimes one more, which may be named twice or out of bounds.
    pub fn axes(&mut self, ndim: usize) -> Vec<usize> {
        let chosen = self.byte();
        let mut axes: Vec<usize> = (0..ndim).filter(|&axis| names(chosen, axis)).collect();
        if self.one_in(3) {
            self.shuffle(&mut axes);
        }
        if self.one_in(8) {
            axes.push(self.below(ndim + 2));
        }
        axes
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }
}

/// Whether the bits of a [`byte`](Input::byte) name this axis. The ninth axis has the bit of the first one.
pub fn names(bits: u8, axis: usize) -> bool {
    bits >> (axis % 8) & 1 == 1
}
