//! Text that is built in a constant, for panics.

/// A text of up to 500 bytes. A longer text is cut there.
pub(crate) struct ConstText {
    bytes: [u8; 500],
    len: usize,
}

impl ConstText {
    pub(crate) const fn new(text: &str) -> Self {
        Self { bytes: [0; 500], len: 0 }.then(text)
    }

    pub(crate) const fn then(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() && self.len < self.bytes.len() {
            // A byte that is not ASCII cannot be printed in a constant.
            self.bytes[self.len] = if text.as_bytes()[at].is_ascii() { text.as_bytes()[at] } else { b'?' };
            self.len += 1;
            at += 1;
        }
        self
    }

    pub(crate) const fn number(self, number: usize) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let text = if number > 9 { self.number(number / 10) } else { self };
        text.then(DIGITS[number % 10])
    }

    pub(crate) const fn shape(self, sizes: &[usize]) -> Self {
        let (mut text, mut axis) = (self.then("["), 0);
        while axis < sizes.len() {
            text = if axis > 0 { text.then(", ") } else { text }.number(sizes[axis]);
            axis += 1;
        }
        text.then("]")
    }

    pub(crate) const fn as_str(&self) -> &str {
        let Ok(text) = core::str::from_utf8(self.bytes.split_at(self.len).0) else { return "" };
        text
    }
}
