//! Base64 and base32.

use std::ops::Range;

use super::{LOOK, RUN_LONGEST, RUN_SHORTEST, SEXTET, builder, is, is_text, next_run};
use crate::{
    finding::Stop,
    limits::Budget,
    text::derive::{Builder, Derived},
};

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte.wrapping_sub(b'A'),
        b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

fn is_sextet(byte: u8) -> bool {
    is(byte, SEXTET)
}

pub(super) fn base64(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut out = builder();
    let mut from = 0_usize;
    while let Some(run) = next_run(text, from, RUN_SHORTEST, SEXTET) {
        let run = continued(text, run);
        from = run.end;
        let symbols = text.get(run.clone()).unwrap_or_default();
        if let Some(skip) = alignment(symbols) {
            out.cut(run.start, budget)?;
            let before = out.len();
            let start = run.start.saturating_add(skip);
            write_base64(text, start..run.end.min(start.saturating_add(RUN_LONGEST)), &mut out, budget)?;
            if out.len() == before {
                out.truncate(before);
            }
        } else if let Some(plain) = base32(symbols) {
            out.cut(run.start, budget)?;
            out.push(&plain, run.clone(), budget)?;
        }
    }
    out.done(text.len(), "base64", false, budget)
}

/// A run that goes on in the next line, as mail and PEM wrap it.
fn continued(text: &[u8], first: Range<usize>) -> Range<usize> {
    let mut run = first.clone();
    if first.len() < 32 {
        return run;
    }
    loop {
        let rest = text.get(run.end..).unwrap_or_default();
        let skip = if rest.starts_with(b"\r\n") {
            2
        } else if rest.starts_with(b"\n") {
            1
        } else if rest.starts_with(b"\\n") {
            2
        } else {
            return run;
        };
        let next = rest.get(skip..).unwrap_or_default();
        let blank = next.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let next = next.get(blank..).unwrap_or_default();
        let length = next.iter().position(|byte| !is_sextet(*byte)).unwrap_or(next.len());
        // The last line may be short, and nothing but padding follows it.
        let after = next.get(length).copied().unwrap_or(b'\n');
        if length < 4 || (length < first.len() && !matches!(after, b'=' | b'\n' | b'\r' | b'"' | b'\'' | b'\\')) {
            return run;
        }
        run.end = run.end.saturating_add(skip).saturating_add(blank).saturating_add(length);
        if length < first.len() || run.len() > RUN_LONGEST {
            return run;
        }
    }
}

/// How many symbols to skip so that a run decodes to text; `None` when it never does. Text in base64 has capitals and
/// small letters among its first symbols, paths and names have few of one kind.
fn alignment(symbols: &[u8]) -> Option<usize> {
    let head = symbols.get(..symbols.len().min(LOOK)).unwrap_or_default();
    let capitals = head.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let small = head.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    if capitals.saturating_mul(8) < head.len() || small.saturating_mul(8) < head.len() {
        return None;
    }
    // Something glued in front shifts the groups; short runs are taken as they begin.
    let shifts = if symbols.len() >= LOOK / 2 { 4 } else { 1 };
    (0..shifts).find(|skip| {
        let piece = head.get(*skip..).unwrap_or_default();
        let begins = plain_base64(piece.get(..piece.len().min(12)).unwrap_or_default());
        let plain_enough = begins.iter().filter(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | 0x80..)).count();
        if plain_enough < begins.len() {
            return false;
        }
        let plain = plain_base64(piece);
        plain.len() >= RUN_SHORTEST / 2 && is_text(&plain)
    })
}

fn plain_base64(symbols: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(symbols.len());
    let mut packed = 0_u32;
    let mut held = 0_u32;
    for symbol in symbols.iter().filter_map(|byte| sextet(*byte)) {
        packed = packed << 6 | symbol;
        held = held.wrapping_add(6);
        if held >= 8 {
            held = held.wrapping_sub(8);
            let [byte, ..] = (packed >> held).to_le_bytes();
            plain.push(byte);
        }
    }
    plain
}

fn write_base64(text: &[u8], run: Range<usize>, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    // Long runs are placed by groups of 64 symbols, short ones by groups of four: a run of the map costs 16 bytes.
    let group = if run.len() > 16 * 1024 { 64 } else { 4 };
    let mut start = run.start;
    let mut count = 0_usize;
    let mut at = run.start;
    let symbols = text.get(run.clone()).unwrap_or_default();
    for byte in symbols {
        at = at.saturating_add(1);
        count = count.saturating_add(usize::from(is_sextet(*byte)));
        if count == group {
            let plain = plain_base64(text.get(start..at).unwrap_or_default());
            out.push(&plain, start..at, budget)?;
            (start, count) = (at, 0);
        }
    }
    let plain = plain_base64(text.get(start..run.end).unwrap_or_default());
    out.push(&plain, start..run.end, budget)
}

/// Base32, if a run is that and decodes to text.
fn base32(symbols: &[u8]) -> Option<Vec<u8>> {
    if symbols.len() > RUN_LONGEST || symbols.len() < 24 {
        return None;
    }
    let upper = symbols.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'));
    let lower = symbols.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
    if !(upper || lower) || !symbols.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let mut plain = Vec::with_capacity(symbols.len());
    let (mut packed, mut held) = (0_u32, 0_u32);
    for byte in symbols {
        let value = match byte.to_ascii_uppercase() {
            letter @ b'A'..=b'Z' => letter.wrapping_sub(b'A'),
            digit => digit.wrapping_sub(b'2').wrapping_add(26),
        };
        packed = packed << 5 | u32::from(value);
        held = held.wrapping_add(5);
        if held >= 8 {
            held = held.wrapping_sub(8);
            let [byte, ..] = (packed >> held).to_le_bytes();
            plain.push(byte);
        }
    }
    is_text(&plain).then_some(plain)
}
