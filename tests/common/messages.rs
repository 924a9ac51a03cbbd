//! The tables of messages and pictures. With `BLESS=1` the tests write them from what the crate prints.

use ndarray::{ErrorKind, ShapeError};
use ndarray_broadcast::BroadcastError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{env, fs};

/// A file of blocks with an empty line after each, sorted by their first lines.
pub struct Table {
    path: PathBuf,
    /// The other lines of each block, by its first line.
    pub blocks: BTreeMap<String, String>,
}

/// Whether the tables are written rather than compared.
pub fn is_blessing() -> bool {
    env::var_os("BLESS").is_some()
}

impl Table {
    /// Reads a table in the folder of the tests.
    pub fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let blocks = text.split("\n\n").map(str::trim_end).filter(|block| !block.is_empty());
        let blocks = blocks.map(|block| block.split_once('\n').unwrap_or((block, "")));
        Self { path, blocks: blocks.map(|(first, rest)| (first.into(), rest.into())).collect() }
    }

    fn text(&self) -> String {
        let line = |(first, rest): (&String, &String)| match &**rest {
            "" => format!("{first}\n"),
            rest => format!("{first}\n{rest}\n"),
        };
        self.blocks.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Writes the table with `BLESS=1`. Otherwise, a file that is not as it would be written is one more fault.
    ///
    /// # Panics
    /// With all faults, if there are any.
    pub fn finish(&self, mut faults: Vec<String>) {
        let text = self.text();
        if is_blessing() {
            fs::write(&self.path, text).expect("the table can be written");
        } else if fs::read_to_string(&self.path).ok() != Some(text) {
            faults.push(format!("{} is not sorted", self.path.display()));
        }
        let count = faults.len();
        assert!(faults.is_empty(), "{}\n{count} faults; `BLESS=1` writes the tables anew", faults.join("\n"));
    }
}

/// All that is wrong with an error: its variant, message, picture, operands and kind in ndarray.
pub fn faults(error: &BroadcastError, name: &str, message: &str, kind: ErrorKind) -> Vec<String> {
    let mut faults = Vec::new();
    let mut compare = |found: String, expected: String| {
        if found != expected {
            faults.push(format!("expected: {expected}\n   found: {found}"));
        }
    };
    compare(format!("{error:?}"), format!("{name}: {message}"));
    compare(format!("{}: {error}", crate::variant(error)), format!("{error:?}"));
    compare(format!("{error:#?}"), format!("{error:?}"));
    compare(format!("{error:#}"), picture(error));
    compare(format!("{:?}", ShapeError::from(error.clone()).kind()), format!("{kind:?}"));
    faults.extend(wrong_operand(error));
    faults
}

/// The picture of an error by the table, whose blocks begin with a message. One that is not a picture is left out there.
fn picture(error: &BroadcastError) -> String {
    static PICTURES: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::read("pictures.txt")));
    let (message, picture) = (error.to_string(), format!("{error:#}"));
    let mut table = PICTURES.lock().expect("no test panics here");
    if is_blessing() {
        let rest = if picture == message { String::new() } else { picture };
        table.blocks.insert(message.clone(), rest);
        table.finish(Vec::new());
    }
    match table.blocks.get(&message).map(String::as_str) {
        Some("") => message,
        Some(picture) => picture.into(),
        None => "a picture in tests/pictures.txt".into(),
    }
}

/// The first operand at fault that does not have the size which clashes with the other's.
fn wrong_operand(error: &BroadcastError) -> Option<String> {
    let (operands, shapes, sizes) = (error.operands()?, error.shapes(), error.sizes());
    if operands[0] == operands[1] || sizes.len() != 2 {
        return Some(format!("not two operands: {operands:?} with sizes {sizes:?}: {error}"));
    }
    let is_wrong = |&(operand, size): &(usize, &String)| {
        let mut found = shapes[operand].split(|c: char| "[](), ;x".contains(c));
        // a missing axis has size 1
        size != "1" && found.all(|it| it != size)
    };
    let (operand, size) = operands.into_iter().zip(sizes).find(is_wrong)?;
    Some(format!("{size} is not in {}: {error}", shapes[operand]))
}

/// The errors of calls, one after the other, to be compared with a block of `tests/refusals.txt`.
#[derive(Default)]
pub struct Refusals(Vec<String>);

impl Refusals {
    /// Adds the error of a call: its variant and message. Its picture is compared here.
    #[track_caller]
    pub fn add<T>(&mut self, result: Result<T, BroadcastError>) {
        let error = crate::refused(result);
        assert_eq!(format!("{error:#}"), picture(&error));
        assert_eq!(wrong_operand(&error), None);
        self.0.push(format!("{error:?}"));
    }

    /// Asserts that the errors are those of the block, which `BLESS=1` writes.
    ///
    /// # Panics
    /// If they are others.
    pub fn finish(self, block: &str) {
        static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::read("refusals.txt")));
        let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let said = self.0.join("\n");
        if is_blessing() {
            table.blocks.insert(block.into(), said);
            return table.finish(vec![]);
        }
        assert_eq!(table.blocks.get(block), Some(&said), "`BLESS=1` writes tests/refusals.txt anew");
    }
}

/// Asserts an error's variant, message, `Debug`, picture and kind in ndarray.
#[track_caller]
pub fn assert_words<T>(result: Result<T, BroadcastError>, name: &str, message: &str, kind: ErrorKind) {
    let faults = faults(&crate::refused(result), name, message, kind);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
