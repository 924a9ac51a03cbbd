//! The table of messages, `tests/messages.txt`. With `BLESS=1` the tests write it from what the crate prints.

use ndarray::ShapeError;
use ndarray_broadcast::{BroadcastError, ErrorKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, thread};

/// What the crate says, below a call or the name of a test. An empty line ends a block.
pub type Blocks = BTreeMap<String, String>;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../messages.txt")
}

/// The blocks of the table, in any order.
///
/// # Panics
/// If there is no table.
pub fn blocks() -> Blocks {
    read(&path())
}

fn read(path: &Path) -> Blocks {
    let text = fs::read_to_string(path).expect("a table");
    let blocks = text.split("\n\n").map(str::trim_end).filter(|block| !block.is_empty());
    let blocks = blocks.map(|block| block.split_once('\n').unwrap_or((block, "")));
    blocks.map(|(first, rest)| (first.into(), rest.into())).collect()
}

fn joined(blocks: &Blocks) -> String {
    blocks.iter().map(|(first, rest)| format!("{first}\n{rest}\n")).collect::<Vec<_>>().join("\n")
}

/// Asserts that the table is as `BLESS=1` writes it: its blocks are in ascending order of their first lines. Only one test asks,
/// so that a block in a wrong place is one failure.
///
/// # Panics
/// With the first line that differs, and the one that belongs there.
pub fn assert_sorted() {
    let (text, sorted) = (fs::read_to_string(path()).expect("a table"), joined(&blocks()));
    let wrong = text.lines().zip(sorted.lines()).find(|(line, sorted)| line != sorted);
    let rule = "sorted by the first lines of its blocks, with an empty line between two, as `BLESS=1` does";
    assert!(text == sorted || env::var_os("BLESS").is_some(), "messages.txt is not {rule}: {wrong:?}");
}

/// Asserts that the table has these blocks, or writes them with `BLESS=1`.
///
/// # Panics
/// With all lines that differ.
pub fn assert_blocks(found: &Blocks) {
    if env::var_os("BLESS").is_some() {
        return bless(&path(), found);
    }
    let (mut faults, expected) = (String::new(), blocks());
    for (first, rest) in found {
        let before = expected.get(first).map_or("", String::as_str);
        let only = |mark: &str, lines: &str, others: &str| {
            let lines = lines.lines().filter(|line| others.lines().all(|other| other != *line));
            lines.flat_map(|line| [mark, line, "\n"]).collect::<String>()
        };
        if before != rest {
            let lines = only("- ", before, rest) + &only("+ ", rest, before);
            let lines = if lines.is_empty() { "the same lines in another order\n" } else { &lines };
            faults.extend([first, "\n", lines]);
        }
    }
    assert!(faults.is_empty(), "not as in tests/messages.txt, which `BLESS=1` writes:\n{faults}");
}

/// Writes these blocks over those of a table. One thread of one process writes at a time, as long as it has the file beside the
/// table, and others always read a whole table.
///
/// # Panics
/// If a file cannot be written, or another process has been writing for 10 seconds.
pub fn bless(table: &Path, found: &Blocks) {
    let own = table.with_extension("new");
    let waits = (0..1000).take_while(|_| fs::File::create_new(&own).is_err());
    let waited = waits.inspect(|_| thread::sleep(Duration::from_millis(10))).count();
    assert!(waited < 1000, "a process is writing {}, or has left it behind: then remove it", own.display());
    let mut blocks = read(table);
    blocks.extend(found.clone());
    fs::write(&own, joined(&blocks)).expect("the table can be written");
    fs::rename(&own, table).expect("the table can be replaced");
}

/// What an error says: its kind and its message, and below them the shapes that `{:#}` draws.
///
/// # Panics
/// If its forms contradict each other.
#[track_caller]
pub fn said(error: &BroadcastError) -> String {
    let (line, picture) = (format!("{error:?}"), format!("{error:#}"));
    assert_eq!(line, format!("{:?}: {error}", error.kind()));
    assert_eq!(line, format!("{error:#?}"));
    assert_eq!(ShapeError::from(error.clone()).kind(), in_ndarray(error.kind()), "{line}");
    assert_wrong_operand(error);
    let Some((first, drawn)) = picture.split_once('\n') else {
        assert_eq!(picture, error.to_string());
        return line;
    };
    assert_eq!(first, format!("cannot {}", error.operation()));
    format!("{line}\n{drawn}")
}

fn in_ndarray(kind: ErrorKind) -> ndarray::ErrorKind {
    match kind {
        ErrorKind::Overflow | ErrorKind::TooLarge => ndarray::ErrorKind::Overflow,
        ErrorKind::InvalidSize => ndarray::ErrorKind::RangeLimited,
        ErrorKind::AxisOutOfBounds => ndarray::ErrorKind::OutOfBounds,
        ErrorKind::DuplicateAxis | ErrorKind::InvalidText => ndarray::ErrorKind::Unsupported,
        _ => ndarray::ErrorKind::IncompatibleShape,
    }
}

/// Asserts that the operands at fault have the sizes that clash, unless the message says where else a name got its size.
#[track_caller]
fn assert_wrong_operand(error: &BroadcastError) {
    if error.to_string().contains(", and ") {
        return;
    }
    let (Some(operands), shapes, sizes) = (error.operands(), error.shapes(), error.sizes()) else { return };
    assert!(operands[0] != operands[1] && sizes.len() == 2, "{operands:?} with sizes {sizes:?}: {error}");
    for (operand, size) in operands.into_iter().zip(sizes) {
        let mut found = shapes[operand].split(|c: char| "[](), ;x".contains(c));
        // a missing axis has size 1
        assert!(size == "1" || found.any(|it| it == size), "{size} is not in {}: {error}", shapes[operand]);
    }
}

/// The errors of one test, whose block of the table has them in this order.
pub struct Said {
    test: &'static str,
    lines: Vec<String>,
}

impl Said {
    /// Nothing yet. The name is that of the program and the test, as in `"batch: incompatible"`.
    pub const fn by(test: &'static str) -> Self {
        Self { test, lines: Vec::new() }
    }

    /// Notes an error of this kind.
    ///
    /// # Panics
    /// If it is none.
    #[track_caller]
    pub fn error<T>(&mut self, kind: ErrorKind, result: Result<T, BroadcastError>) -> BroadcastError {
        let error = crate::refused(result);
        assert_eq!(error.kind(), kind, "{error}");
        self.line(&said(&error));
        error
    }

    /// Notes a text, whose long lists of equal sizes are one.
    pub fn line(&mut self, text: &str) {
        self.lines.push(short(text));
    }
}

impl Drop for Said {
    fn drop(&mut self) {
        if !thread::panicking() && !self.lines.is_empty() {
            assert_blocks(&Blocks::from([(self.test.to_owned(), self.lines.join("\n"))]));
        }
    }
}

/// A text in which a size that is repeated often stands once, and of what is long still the ends.
fn short(text: &str) -> String {
    let mut items: Vec<(&str, usize)> = Vec::new();
    for item in text.split_inclusive(", ") {
        match items.last_mut() {
            Some((last, count)) if *last == item => *count += 1,
            _ => items.push((item, 1)),
        }
    }
    let all = items.into_iter().map(|(item, count)| match count {
        1..=5 => item.repeat(count),
        _ => format!("{item}… {count} in all, "),
    });
    let (text, end) = (all.collect::<String>(), 300);
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= 4 * end {
        return text;
    }
    let [first, last] = [&characters[..end], &characters[characters.len() - end..]].map(String::from_iter);
    format!("{first} … {last} ({} characters)", characters.len())
}
