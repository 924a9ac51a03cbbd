// Every target: its name is that of the program.

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ndarray_broadcast_fuzz::run(env!("CARGO_BIN_NAME"), data));

#[cfg(not(fuzzing))]
fn main() {}
