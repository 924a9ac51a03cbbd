#![cfg_attr(fuzzing, no_main)]
include!("../src/target.rs");
