//! Words torn apart: by markup, quotes, line breaks, cells and underscores, or by typing errors.

use std::ops::Range;

use super::{Marks, builder, words, words::correct};
use crate::{
    finding::Stop,
    limits::Budget,
    text::derive::{Builder, Derived},
};

/// Words beside which a text is tidied up, each by what is left of it after a typing error: rare enough on honest
/// text, and hardly an instruction to a model does without two of them.
pub(super) const TELLING: &[&[&str]] = &[
    &["instru", "tructi", "uctions"],
    &["previ", "vious"],
    &["ignor", "gnore"],
    &["disre", "regard"],
    &["forge"],
    &["prompt"],
    &["assist", "sistan"],
    &["revea"],
    &["language model"],
    &["onversation"],
    &["onfirm"],
    &["ermissi"],
    &["redenti"],
    &["assword"],
    &["pretend"],
    &["overri"],
    &["restric"],
    &["rememb"],
    &["system"],
    &["secret"],
    &[" ai ", " llm", "claude"],
    &["approv"],
];

/// So many different ones of them make a stretch worth a look.
const TELLS_FEWEST: u32 = 2;

/// Half of the stretch that is tidied around a telling word.
const AROUND: usize = 160;

/// Around telling words: markup and quotes taken off, words joined over line breaks, cells and underscores, typing
/// errors in the words that matter put right.
pub(super) fn tidied(text: &[u8], marks: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    // A stretch, and a bit for each telling word in it.
    let mut stretches: Vec<(Range<usize>, u32)> = Vec::new();
    for (at, word) in &marks.tells {
        let range = at.saturating_sub(AROUND)..at.saturating_add(AROUND).min(text.len());
        let bit = 1_u32.checked_shl(u32::try_from(*word).unwrap_or(u32::MAX)).unwrap_or(0);
        match stretches.last_mut() {
            Some((last, words)) if range.start <= last.end => {
                last.end = range.end;
                *words |= bit;
            }
            _ => stretches.push((range, bit)),
        }
    }
    let mut out = builder();
    for (stretch, _) in stretches.into_iter().filter(|(_, words)| words.count_ones() >= TELLS_FEWEST) {
        let bytes = text.get(stretch.clone()).unwrap_or_default();
        if !is_untidy(bytes) {
            continue;
        }
        out.cut(stretch.start, budget)?;
        tidy(bytes, stretch.start, &mut out, budget)?;
    }
    views.extend(out.done(text.len(), "tidied", true, budget)?);
    Ok(())
}

/// Whether tidying would change more than nothing: a word with a typing error, or words apart.
fn is_untidy(bytes: &[u8]) -> bool {
    let mut short_lines = 0_usize;
    let mut separators = 0_usize;
    for line in bytes.split(|byte| *byte == b'\n') {
        let words = line.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).count();
        short_lines = if words <= 2 && words > 0 { short_lines.saturating_add(1) } else { 0 };
        if short_lines >= 3 {
            return true;
        }
        separators = separators.max(
            line.iter()
                .filter(|byte| {
                    matches!(byte, b'|' | b'_' | b'*' | b'\t' | b'+' | b'<' | b',' | b';' | b'"' | b'`' | b'\\')
                })
                .count(),
        );
    }
    separators >= 3 || words::has_typo(bytes)
}

fn tidy(bytes: &[u8], base: usize, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let mut at = 0_usize;
    while let Some(byte) = bytes.get(at).copied() {
        let here = base.saturating_add(at);
        if byte == b'<' {
            // A tag inside of a word or between words.
            let rest = bytes.get(at..).unwrap_or_default();
            let end = rest.iter().take(80).position(|byte| *byte == b'>');
            if let Some(end) = end
                && rest.get(1).is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!'))
            {
                at = at.saturating_add(end).saturating_add(1);
                continue;
            }
        }
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            let rest = bytes.get(at..).unwrap_or_default();
            let length =
                rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte >= 0x80)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            for part in words::humps(word) {
                let piece = word.get(part.clone()).unwrap_or_default();
                let source = here.saturating_add(part.start)..here.saturating_add(part.end);
                if part.start > 0 {
                    out.push(b" ", source.start..source.start, budget)?;
                }
                match correct(piece) {
                    Some(right) => out.push(right.as_bytes(), source, budget)?,
                    None => out.push(piece, source, budget)?,
                }
            }
            at = at.saturating_add(length);
            continue;
        }
        match byte {
            b'*' | b'`' | b'"' | b'+' | b'\\' => {}
            b' ' | b'\t' | b'\n' | b'\r' | b'|' | b'_' | b',' | b';' | b'>' | b'#' => {
                if out.last().is_some_and(|last| last != b' ') {
                    out.push(b" ", here..here.saturating_add(1), budget)?;
                }
            }
            _ => out.push(&[byte], here..here.saturating_add(1), budget)?,
        }
        at = at.saturating_add(1);
    }
    Ok(())
}
