//! Every target: its name is that of the program.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ndarray_broadcast_fuzz::run(env!("CARGO_BIN_NAME"), data));

#[cfg(not(fuzzing))]
fn main() {}
