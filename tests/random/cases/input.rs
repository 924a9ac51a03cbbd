//! Where the choices of a case come from.

use common::{Choices, Random};
use std::fmt::Write;

/// What a case is made of: the numbers of a seed, or the bytes of a fuzzer.
pub(crate) struct Input<'a> {
    source: Source<'a>,
    /// The case, for the message of a failure.
    pub(crate) log: String,
}

enum Source<'a> {
    Numbers(Random),
    /// Past the end stands 0, the plainest choice.
    Bytes(&'a [u8]),
}

impl<'a> Input<'a> {
    pub(crate) fn bytes(bytes: &'a [u8]) -> Self {
        Self { source: Source::Bytes(bytes), log: String::new() }
    }

    pub(crate) fn case(seed: u64, case: usize) -> Self {
        Self { source: Source::Numbers(Random::of_case(seed, case)), log: String::new() }
    }

    pub(crate) fn note(&mut self, text: impl std::fmt::Display) {
        write!(self.log, "{text}; ").expect("text");
    }
}

impl Choices for Input<'_> {
    /// Among more than 256 choices, two bytes decide.
    fn below(&mut self, n: usize) -> usize {
        match &mut self.source {
            Source::Numbers(numbers) => numbers.below(n),
            Source::Bytes(bytes) => {
                let (taken, rest) = bytes.split_at(bytes.len().min(if n > 256 { 2 } else { 1 }));
                *bytes = rest;
                taken.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)) % n
            }
        }
    }
}
