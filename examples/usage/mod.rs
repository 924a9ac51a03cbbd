//! The command line of an example.

use std::ffi::OsString;
use std::{env, process};

/// The values of the `options`, and at most `most` other arguments. `--help` prints the usage; for an argument that the
/// program does not know, the usage is the error and the exit code 2.
pub(crate) fn arguments<const N: usize>(
    usage: &str,
    options: [&str; N],
    most: usize,
) -> ([Option<OsString>; N], Vec<OsString>) {
    let refuse = || -> ! {
        eprintln!("usage: {usage}");
        process::exit(2)
    };
    let (mut values, mut others) = ([const { None }; N], Vec::new());
    let mut arguments = env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--help" || argument == "-h" {
            println!("usage: {usage}");
            process::exit(0)
        } else if let Some(i) = options.iter().position(|option| argument == *option) {
            values[i] = Some(arguments.next().unwrap_or_else(|| refuse()));
        } else if argument.to_string_lossy().starts_with('-') || others.len() == most {
            refuse()
        } else {
            others.push(argument);
        }
    }
    (values, others)
}
