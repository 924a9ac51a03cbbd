#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ndarray_broadcast_fuzz::kernel::run(data));

#[cfg(not(fuzzing))]
fn main() {}
