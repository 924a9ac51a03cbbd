//! Signatures as text: `(m,n),(n)->(m)`.

use crate::error::TextFault;

#[derive(Clone, Copy)]
pub(super) enum Token {
    Open,
    Close,
    /// A name or a size, and its end. `?` follows if it is optional.
    Dim(usize),
    Comma,
    Arrow,
    End,
}

/// The token at or after byte `at`, where it is, and the byte after it.
pub(super) const fn token(text: &[u8], mut at: usize) -> Result<(Token, usize, usize), TextFault> {
    while at < text.len() && text[at] == b' ' {
        at += 1;
    }
    if at == text.len() {
        return Ok((Token::End, at, at));
    }
    Ok(match text[at] {
        b'(' => (Token::Open, at, at + 1),
        b')' => (Token::Close, at, at + 1),
        b',' => (Token::Comma, at, at + 1),
        b'-' if at + 1 < text.len() && text[at + 1] == b'>' => (Token::Arrow, at, at + 2),
        byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
            let mut end = at + 1;
            while end < text.len() && (text[end].is_ascii_alphanumeric() || text[end] == b'_') {
                end += 1;
            }
            if byte.is_ascii_digit() {
                if let Err(fault) = check_size(text, at, end) {
                    return Err(fault);
                }
            }
            let optional = end < text.len() && text[end] == b'?';
            (Token::Dim(end), at, if optional { end + 1 } else { end })
        }
        _ => return Err((at, "(, ), a name, a size, a comma or ->")),
    })
}

/// Checks that a word is a size from 1 to `isize::MAX`.
const fn check_size(text: &[u8], from: usize, end: usize) -> Result<(), TextFault> {
    let (mut size, mut at) = (0_usize, from);
    while at < end {
        if !text[at].is_ascii_digit() {
            return Err((at, "a digit"));
        }
        let digit = (text[at] - b'0') as usize;
        match size.checked_mul(10) {
            Some(tens) if tens <= isize::MAX as usize - digit => size = tens + digit,
            _ => return Err((from, "a size up to isize::MAX")),
        }
        at += 1;
    }
    if size == 0 { Err((from, "a size other than 0")) } else { Ok(()) }
}

/// The next expected part of a signature.
#[derive(Clone, Copy)]
enum Next {
    Base,
    FirstDim,
    Dim,
    AfterDim,
    AfterBase,
}

/// The numbers of operands and of results of a signature.
pub(super) const fn check(text: &[u8]) -> Result<[usize; 2], TextFault> {
    let (mut counts, mut side, mut next, mut at) = ([0, 0], 0, Next::Base, 0);
    loop {
        let (token, start, after) = match token(text, at) {
            Ok(token) => token,
            Err(fault) => return Err(fault),
        };
        at = after;
        next = match (next, token) {
            (Next::Base, Token::Open) => Next::FirstDim,
            (Next::FirstDim | Next::Dim, Token::Dim(_)) => Next::AfterDim,
            (Next::AfterDim, Token::Comma) => Next::Dim,
            (Next::FirstDim | Next::AfterDim, Token::Close) => {
                counts[side] += 1;
                Next::AfterBase
            }
            (Next::AfterBase, Token::Comma) => Next::Base,
            (Next::AfterBase, Token::Arrow) if side == 0 => {
                side = 1;
                Next::Base
            }
            (Next::AfterBase, Token::End) if side == 1 => return Ok(counts),
            (Next::Base, _) => return Err((start, "(")),
            (Next::FirstDim | Next::Dim, _) => return Err((start, "a name or a size")),
            (Next::AfterDim, _) => return Err((start, "a comma or )")),
            (Next::AfterBase, _) if side == 0 => return Err((start, "a comma or ->")),
            (Next::AfterBase, _) => return Err((start, "a comma or the end")),
        };
    }
}
