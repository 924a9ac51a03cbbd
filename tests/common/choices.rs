//! Where random cases come from: pseudo-random numbers, or the bytes of a fuzzer.

/// A source of choices. A case that is made of one can be made of any other.
pub trait Choices {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize;

    /// Yes in one of `n` cases.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).expect("a number below 256")
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    /// The numbers below `n` in any order.
    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// The size of an axis.
    fn size(&mut self) -> usize {
        self.pick(&[1, 2, 3, 1, 2, 4, 0, 5])
    }

    /// A shape of at most `axes` axes and about `most` elements. One axis may be long.
    fn small_shape(&mut self, axes: usize, most: usize) -> Vec<usize> {
        let ndim = self.below(axes + 1);
        let mut shape = Vec::new();
        for _ in 0..ndim {
            let size = self.size();
            let fits = shape.iter().chain([&size]).filter(|&&size| size != 0).product::<usize>() <= most;
            shape.push(if fits { size } else { 1 });
        }
        if ndim > 0 && self.one_in(4) {
            let axis = self.below(ndim);
            shape[axis] = 1;
            let long = 6 + self.below(256) + self.below(2) * 45;
            let others = shape.iter().filter(|&&size| size != 0).product::<usize>();
            shape[axis] = long.min((most / others).max(1));
        }
        shape
    }

    /// A shape that stretches to `target`: leading axes dropped, some of the others 1.
    fn operand_of(&mut self, target: &[usize]) -> Vec<usize> {
        let from = if self.one_in(3) { self.below(target.len() + 1) } else { 0 };
        target[from..].iter().map(|&size| if self.one_in(3) { 1 } else { size }).collect()
    }

    /// As [`operand_of`](Self::operand_of), but sometimes one that does not stretch.
    fn operand(&mut self, target: &[usize]) -> Vec<usize> {
        let mut shape = self.operand_of(target);
        if !shape.is_empty() && self.one_in(8) {
            let axis = self.below(shape.len());
            shape[axis] = self.size();
        }
        shape
    }

    /// Some of `ndim` axes, each once. Sometimes one more, which may be named twice or out of bounds.
    fn axes(&mut self, ndim: usize) -> Vec<usize> {
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
}

/// Pseudo-random numbers (splitmix64): a seed gives the same ones on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The numbers of a case, which are other ones for each.
    pub fn of_case(seed: u64, case: usize) -> Self {
        Self(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ (case as u64).wrapping_mul(0x9E37_79B9))
    }

    /// Another generator, to be cloned where the same choices are made twice.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.word())
    }
}

impl Choices for Random {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.word() % n as u64).expect("a number below n")
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Whether the bits of a [`byte`](Choices::byte) name this axis. The ninth axis has the bit of the first one.
pub fn names(bits: u8, axis: usize) -> bool {
    bits >> (axis % 8) & 1 == 1
}
