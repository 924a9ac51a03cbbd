//! Runs every target over its corpus, and then over changes of it, with a stable toolchain: `replay [SECONDS] [TARGET…]`.
//! Files given with `replay FILE TARGET` are run once. The changes are the same in every run.

use common::{Choices, Random};
use ndarray_broadcast_fuzz::targets;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (first, names) =
        arguments.split_first().map_or(("60", &[][..]), |(first, names)| (first.as_str(), names));
    let unknown = names.iter().find(|name| targets().all(|target| target != **name));
    assert!(unknown.is_none(), "no target {unknown:?}");
    let is_named = |target: &&str| names.is_empty() || names.iter().any(|name| name == target);
    let targets: Vec<&str> = targets().filter(is_named).collect();
    let Ok(seconds) = first.parse::<f64>() else {
        let data = fs::read(first).expect("a number of seconds, or a file");
        return targets.into_iter().for_each(|target| run(target, &data));
    };
    let budget = Duration::from_secs_f64(seconds / targets.len() as f64);
    println!("{:<13} {:>6} {:>12} {:>8}", "target", "files", "executions", "seconds");
    let all = targets.len();
    for (target, number) in targets.into_iter().zip(1..) {
        eprintln!("== {target}: {number} of {all}, {:.0} seconds", budget.as_secs_f64());
        let (start, corpus) = (Instant::now(), corpus(target));
        corpus.iter().for_each(|data| run(target, data));
        let (mut executions, mut random) = (corpus.len(), Random::new(1));
        while start.elapsed() < budget {
            run(target, &changed(&mut random, &corpus));
            executions += 1;
        }
        let (files, seconds) = (corpus.len(), start.elapsed().as_secs_f64());
        println!("{target:<13} {files:>6} {executions:>12} {seconds:>8.1}");
    }
}

/// Runs a target; where it fails the bytes are kept.
fn run(target: &str, data: &[u8]) {
    if catch_unwind(|| ndarray_broadcast_fuzz::run(target, data)).is_err() {
        let folder = folder("artifacts").join(target);
        let file = folder.join(format!("replay-{:016x}", hash(data)));
        let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, data));
        eprintln!("{target} failed on {data:?}; {} {kept:?}", file.display());
        std::process::exit(1);
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files of a target's corpus, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder("corpus").join(target))
        .expect("the target has a corpus")
        .map(|entry| entry.expect("a file of the corpus").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus of {target} has files");
    files.iter().map(|file| fs::read(file).expect("a file of the corpus")).collect()
}

fn hash(data: &[u8]) -> u64 {
    data.iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// A file of the corpus with some bytes changed, put in, taken out or replaced by those of another file.
fn changed(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut data = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() + 1);
        match random.below(5) {
            0 => data.insert(at, random.byte()),
            1 if at < data.len() => drop(data.remove(at)),
            2 => {
                let other = &corpus[random.below(corpus.len())];
                data.truncate(at);
                data.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
            _ if at < data.len() => data[at] = random.byte(),
            _ => data.push(random.byte()),
        }
    }
    data
}
