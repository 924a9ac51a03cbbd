//! Signatures as text: `(m,n),(n)->(m)`.

use crate::error::TextFault;

/// A token of a signature's text.
#[derive(Clone, Copy)]
pub(super) enum Token {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A name or a number, from one byte to another, and whether `?` follows.
    Dim {
        from: usize,
        to: usize,
        optional: bool,
    },
    /// `,`
    Comma,
    /// `->`
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
            let mut to = at + 1;
            while to < text.len() && (text[to].is_ascii_alphanumeric() || text[to] == b'_') {
                to += 1;
            }
            if byte.is_ascii_digit() {
                if let Err(fault) = number(text, at, to) {
                    return Err(fault);
                }
            }
            let optional = to < text.len() && text[to] == b'?';
            (Token::Dim { from: at, to, optional }, at, if optional { to + 1 } else { to })
        }
        _ => return Err((at, "(, ), a name, a size, a comma or ->")),
    })
}

/// Parses a number.
pub(super) const fn number(text: &[u8], from: usize, to: usize) -> Result<usize, TextFault> {
    let (mut number, mut at) = (0_usize, from);
    while at < to {
        if !text[at].is_ascii_digit() {
            return Err((at, "a digit"));
        }
        let digit = (text[at] - b'0') as usize;
        match number.checked_mul(10) {
            Some(tens) if tens <= isize::MAX as usize - digit => number = tens + digit,
            _ => return Err((from, "a size up to isize::MAX")),
        }
        at += 1;
    }
    if number == 0 { Err((from, "a size other than 0")) } else { Ok(number) }
}

/// Reads a whole signature and returns its numbers of operands and results.
pub(super) const fn check(text: &[u8]) -> Result<[usize; 2], TextFault> {
    let (mut counts, mut side, mut at) = ([0, 0], 0, 0);
    loop {
        // a base
        let (mut next, mut after) = match token(text, at) {
            Ok((Token::Open, _, after)) => match token(text, after) {
                Ok((next, place, end)) => ((next, place), end),
                Err(fault) => return Err(fault),
            },
            Ok((_, place, _)) => return Err((place, "(")),
            Err(fault) => return Err(fault),
        };
        if !matches!(next.0, Token::Close) {
            loop {
                if !matches!(next.0, Token::Dim { .. }) {
                    return Err((next.1, "a name or a size"));
                }
                let (separator, place, end) = match token(text, after) {
                    Ok(token) => token,
                    Err(fault) => return Err(fault),
                };
                match separator {
                    Token::Close => {
                        after = end;
                        break;
                    }
                    Token::Comma => match token(text, end) {
                        Ok((token, place, end)) => {
                            next = (token, place);
                            after = end;
                        }
                        Err(fault) => return Err(fault),
                    },
                    _ => return Err((place, "a comma or )")),
                }
            }
        }
        counts[side] += 1;
        // Between two bases.
        match token(text, after) {
            Ok((Token::Comma, _, end)) => at = end,
            Ok((Token::Arrow, _, end)) if side == 0 => {
                side = 1;
                at = end;
            }
            Ok((Token::End, _, _)) if side == 1 => return Ok(counts),
            Ok((_, place, _)) => {
                return Err((place, if side == 0 { "a comma or ->" } else { "a comma or the end" }));
            }
            Err(fault) => return Err(fault),
        }
    }
}
