//! The texts that the crate reads: signatures, partial shapes and sizes. Nothing panics; what is read is printed as
//! it was; what is not read has its position.

use crate::cases::Input;
use crate::cases::check::{assert_refused, panics};
use common::{Choices, joint};
use ndarray_broadcast::partial::{Dim, PartialShape};
use ndarray_broadcast::{BroadcastError, Signature};
use std::collections::BTreeMap;

pub fn run(input: &mut Input<'_>) {
    let text = match input.below(6) {
        0 => {
            let bytes: Vec<u8> = (0..input.below(40)).map(|_| input.byte()).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1..4 => words(input, "( ) , -> m n 3 ? m? (m,n) p 12 x é 18446744073709551616 _a1 -"),
        _ => words(
            input,
            "x 4 ? * [] n .. 2..5 2.. ..5 0 é 18446744073709551615 9223372036854775808 _b 1x , [ ] -1",
        ),
    };
    signature(input, &text);
    partial(&text);
    dim(&text);
    name(&text);
}

/// A text of such words, and of spaces.
fn words(input: &mut Input<'_>, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').chain([" "]).collect();
    let count = input.below(24);
    (0..count).map(|_| input.pick(&words)).collect()
}

/// That the position is one of the text, or its end.
fn assert_position(error: &BroadcastError, text: &str) {
    assert_refused(error, "InvalidText");
    assert_eq!(error.operation(), format!("read {text:?}"));
    assert!(error.position().unwrap() <= text.chars().count(), "{error}");
}

fn partial(text: &str) {
    match text.parse::<PartialShape>() {
        Ok(shape) => {
            let printed = shape.to_string();
            assert_eq!(printed.parse::<PartialShape>().as_ref(), Ok(&shape), "{text} printed as {printed}");
            assert_eq!(format!("{shape:?}"), format!("PartialShape({printed})"));
            if let Some(dims) = shape.dims() {
                let separator = if text.contains('[') { ',' } else { 'x' };
                let sizes = text.split(separator).count();
                let quoted = text.contains('"');
                assert!(quoted || dims.len() == sizes || dims.is_empty() && text.replace(' ', "") == "[]");
            }
        }
        Err(error) => {
            assert_position(&error, text);
            prefix(&error, text);
        }
    }
}

/// What stands before the position is not at fault: some text that goes on otherwise is read.
fn prefix(error: &BroadcastError, text: &str) {
    let before: String = text.chars().take(error.position().unwrap()).collect();
    let ends = "1 ? n x1 .5 ..5 .. ..18446744073709551615 18446744073709551615 [] * ] ]] ,1] 1] ..5] \
        ..18446744073709551615] n] \" \"\" n\" \"] \"\"] n\"] 1..]";
    // a number that is past `usize::MAX`, or an end below its start, is told after what follows the digits
    let last = before.rsplit(['x', ',']).next().unwrap_or_default();
    if last.contains("..") || last.len() > 18 {
        return;
    }
    let read = |end: &str| format!("{before}{end}").parse::<PartialShape>().is_ok();
    assert!(read("") || ends.split_whitespace().any(read), "{error}: nothing goes on after {before:?}");
}

fn dim(text: &str) {
    match text.parse::<Dim>() {
        Ok(dim) => {
            let printed = dim.to_string();
            assert_eq!(printed.parse::<Dim>().as_ref(), Ok(&dim), "{text} printed as {printed}");
            let shape = Ok(PartialShape::ranked([dim.clone()]));
            assert_eq!(format!("[{text}]").parse::<PartialShape>(), shape);
            // outside of a list, an `x` without quotes separates
            assert!(text.contains('x') || text.parse::<PartialShape>() == shape, "{text}");
            if let Dim::Range(range) = dim {
                assert!(range.max().is_none_or(|max| range.min() < max));
            }
        }
        Err(error) => {
            assert_position(&error, text);
            assert!(text.contains(['x', '[']) || text.trim() == "*" || text.parse::<PartialShape>().is_err());
        }
    }
}

/// Any text but the empty one is a name, which is read as it is printed.
fn name(text: &str) {
    match Dim::name(text) {
        Ok(dim) => {
            assert!(matches!(&dim, Dim::Name(name) if name.as_str() == text));
            assert_eq!(dim.to_string().parse::<Dim>(), Ok(dim.clone()));
            let shape = PartialShape::ranked([dim.clone(), Dim::Unknown, dim]);
            assert_eq!(shape.to_string().parse::<PartialShape>(), Ok(shape));
        }
        Err(error) => {
            assert_position(&error, text);
            assert!(text.is_empty());
        }
    }
}

/// One base axis: a name or a size, and whether it may be missing.
type Axis = (String, bool);

/// A signature, read without the crate: the bases of operands and results.
fn read(text: &str) -> Option<[Vec<Vec<Axis>>; 2]> {
    let tokens = tokens(text)?;
    let mut tokens = tokens.iter().map(String::as_str).peekable();
    let mut sides = [vec![], vec![]];
    let mut side = 0;
    loop {
        if tokens.next()? != "(" {
            return None;
        }
        let mut base = vec![];
        if tokens.peek() == Some(&")") {
            tokens.next();
        } else {
            loop {
                let word = tokens.next()?;
                let name = word.trim_end_matches('?');
                if matches!(word, "(" | ")" | "," | "->") || name.is_empty() {
                    return None;
                }
                base.push((name.to_owned(), name != word));
                match tokens.next()? {
                    ")" => break,
                    "," => {}
                    _ => return None,
                }
            }
        }
        sides[side].push(base);
        match tokens.next() {
            Some(",") => {}
            Some("->") if side == 0 => side = 1,
            None if side == 1 => return Some(sides),
            _ => return None,
        }
    }
}

fn tokens(text: &str) -> Option<Vec<String>> {
    let mut tokens = vec![];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => {}
            '(' | ')' | ',' => tokens.push(c.to_string()),
            '-' => {
                chars.next_if_eq(&'>')?;
                tokens.push("->".to_owned());
            }
            c if c.is_ascii_alphanumeric() || c == '_' => {
                let mut word = c.to_string();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                if c.is_ascii_digit() {
                    word.parse::<usize>().ok().filter(|&size| size > 0 && isize::try_from(size).is_ok())?;
                }
                if chars.next_if_eq(&'?').is_some() {
                    word.push('?');
                }
                tokens.push(word);
            }
            _ => return None,
        }
    }
    Some(tokens)
}

fn signature(input: &mut Input<'_>, text: &str) {
    let expected = read(text);
    let found = Signature::new(text);
    assert_eq!(found.is_ok(), expected.is_some(), "{text:?}: {found:?}");
    assert_eq!(panics(|| _ = Signature::literal(text)), expected.is_none());
    let (signature, [operands, results]) = match (found, expected) {
        (Ok(signature), Some(sides)) => (signature, sides),
        (Err(error), _) => return assert_position(&error, text),
        _ => unreachable!(),
    };
    assert_eq!(signature.to_string(), text);
    assert_eq!((signature.operands(), signature.results()), (operands.len(), results.len()));
    assert_eq!(signature, Signature::literal(text));
    if operands.len() < 8 {
        resolve(input, &signature, &operands, &results);
    }
}

/// Shapes for the operands: mostly some that fit.
fn resolve(input: &mut Input<'_>, signature: &Signature<'_>, operands: &[Vec<Axis>], results: &[Vec<Axis>]) {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    let batch = input.small_shape(2, 100);
    let fits = |name: &str| name.parse::<usize>().ok();
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    for base in operands {
        let mut shape = input.operand(&batch);
        for (name, _) in base {
            let size = fits(name).unwrap_or_else(|| *sizes.entry(name).or_insert_with(|| input.size()));
            shape.push(if input.one_in(12) { input.size() } else { size });
        }
        if input.one_in(12) {
            let cut = input.below(shape.len() + 1);
            shape.drain(..cut);
        }
        shapes.push(shape);
    }
    if input.one_in(20) {
        shapes.push(vec![1]);
    }
    let given: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
    let found = signature.resolve(&given);
    if shapes.len() != operands.len() {
        return assert_refused(&found.expect_err("too many shapes"), "OperandCount");
    }
    let optional = operands.iter().chain(results).flatten().any(|axis| axis.1);
    match (expected(&shapes, operands, results), found) {
        // what is missing is the crate's to say
        (_, Err(error)) if optional => assert_refused(&error, &common::variant(&error)),
        (_, Ok(found)) if optional => assert_eq!(found.results.len(), results.len()),
        (Ok((batch, all)), Ok(found)) => {
            assert_eq!((&found.batch, &found.results), (&batch, &all));
            for (name, size) in &found.sizes {
                assert!(operands.iter().flatten().any(|axis| axis.0 == *name), "{name} is {size}");
            }
        }
        (Err(name), Err(error)) => assert_refused(&error, name),
        (expected, found) => panic!("{signature} of {shapes:?}: {found:?}, expected {expected:?}"),
    }
}

/// The joint batch and the shapes of the results, without missing axes.
fn expected(
    shapes: &[Vec<usize>],
    operands: &[Vec<Axis>],
    results: &[Vec<Axis>],
) -> Result<(Vec<usize>, Vec<Vec<usize>>), &'static str> {
    if shapes.iter().zip(operands).any(|(shape, base)| shape.len() < base.len()) {
        return Err("BaseAxes");
    }
    let split = |(shape, base): (&Vec<usize>, &Vec<Axis>)| {
        let (batch, own) = shape.split_at(shape.len() - base.len());
        (batch.to_vec(), own.to_vec())
    };
    let parts: Vec<(Vec<usize>, Vec<usize>)> = shapes.iter().zip(operands).map(split).collect();
    let axes: Vec<(&str, usize)> = operands
        .iter()
        .zip(&parts)
        .flat_map(|(base, (_, own))| base.iter().map(|axis| &axis.0[..]).zip(own.iter().copied()))
        .collect();
    if axes.iter().any(|(name, size)| name.parse().is_ok_and(|number: usize| number != *size)) {
        return Err("BaseSize");
    }
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for &(name, size) in &axes {
        if *sizes.entry(name).or_insert(size) != size {
            return Err("BaseSymbol");
        }
    }
    let mut bases = vec![];
    for base in results {
        let size = |axis: &Axis| {
            axis.0.parse().ok().or_else(|| sizes.get(&axis.0[..]).copied()).ok_or("UnknownSymbol")
        };
        bases.push(base.iter().map(size).collect::<Result<Vec<usize>, _>>()?);
    }
    let batch = joint(&parts.iter().map(|part| &part.0[..]).collect::<Vec<_>>())?;
    Ok((batch.clone(), bases.into_iter().map(|base| [&batch[..], &base].concat()).collect()))
}
