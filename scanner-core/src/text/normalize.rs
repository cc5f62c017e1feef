//! Text that is not ASCII, folded: compatibility forms (full-width, mathematical, circled letters, ligatures) to plain
//! ones, capitals to small letters, accents, strokes and invisible characters dropped; and its skeleton, in which
//! letters that look like Latin ones are Latin.

use std::ops::Range;

use icu_normalizer::DecomposingNormalizerBorrowed;

use super::{
    check::is_invisible,
    confusable::ascii_twin,
    derive::{Builder, Derived},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
};

/// A character that folds to more characters than this is a ligature of a whole phrase (U+FDFA is 18): it hides no
/// instruction, and text made of it would grow elevenfold.
const GROWTH: usize = 6;

/// The folded view of all lines that are not ASCII, and the skeleton if a word mixes scripts.
pub(super) fn views(text: &[u8], budget: &mut Budget) -> Result<Vec<Derived>, Stop> {
    if text.is_ascii() {
        return Ok(Vec::new());
    }
    let mut folded = Builder::paying(Resource::NormalizedBytes);
    let mut skeleton = Builder::paying(Resource::NormalizedBytes);
    let mut start = 0_usize;
    let mut previous_ascii = true;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let range = start..start.saturating_add(line.len());
        start = range.end;
        if line.is_ascii() {
            previous_ascii = true;
            continue;
        }
        if previous_ascii {
            folded.cut(range.start, budget)?;
            skeleton.cut(range.start, budget)?;
        }
        previous_ascii = false;
        fold(line, range.start, &mut folded, budget)?;
        if mixes(line) {
            twins(line, range.start, &mut skeleton, budget)?;
        }
    }
    let mut views = Vec::new();
    views.extend(folded.done(text.len(), "normalized", true, budget)?);
    views.extend(skeleton.done(text.len(), "homoglyphs", true, budget)?);
    Ok(views)
}

/// Compatibility decomposition, small letters, no marks, nothing invisible.
fn fold(line: &[u8], start: usize, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let normalizer = DecomposingNormalizerBorrowed::new_nfkd();
    let mut at = start;
    let mut mapped = String::new();
    for chunk in line.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(character) = rest.chars().next() {
            if character.is_ascii() {
                // Plain text in between is copied as a whole.
                let plain = rest.bytes().position(|byte| byte >= 0x80).unwrap_or(rest.len());
                let (ascii, after) = rest.split_at(plain);
                let end = at.saturating_add(plain);
                out.push(ascii.to_ascii_lowercase().as_bytes(), at..end, budget)?;
                at = end;
                rest = after;
                continue;
            }
            let source = at..at.saturating_add(character.len_utf8());
            at = source.end;
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            if !is_dropped(character) {
                mapped.clear();
                match special(character) {
                    Some(plain) => mapped.push(plain),
                    // Kana, ideographs and Hangul stay as they are written.
                    None if matches!(character, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') =>
                    {
                        mapped.push(character);
                    }
                    None => {
                        for part in normalizer.normalize_iter(std::iter::once(character)) {
                            if !is_dropped(part) {
                                mapped.extend(part.to_lowercase().filter(|part| !is_dropped(*part)));
                            }
                        }
                    }
                }
                if mapped.chars().count() > GROWTH {
                    mapped.clear();
                    mapped.push(' ');
                }
                push_each(&mapped, source, out, budget)?;
            }
        }
        at = push_invalid(chunk.invalid(), at, out, budget)?;
    }
    Ok(())
}

/// As [`fold`], with look-alikes as the letters they look like.
fn twins(line: &[u8], start: usize, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let mut at = start;
    let mut buffer = [0_u8; 4];
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            let source = at..at.saturating_add(character.len_utf8());
            at = source.end;
            match ascii_twin(character) {
                Some(twin) => out.push(&[twin], source, budget)?,
                None if is_dropped(character) => {}
                None => {
                    let lower = character.to_ascii_lowercase();
                    out.push(lower.encode_utf8(&mut buffer).as_bytes(), source, budget)?;
                }
            }
        }
        at = push_invalid(chunk.invalid(), at, out, budget)?;
    }
    Ok(())
}

fn push_each(mapped: &str, source: Range<usize>, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let mut buffer = [0_u8; 4];
    for part in mapped.chars() {
        out.push(part.encode_utf8(&mut buffer).as_bytes(), source.clone(), budget)?;
    }
    Ok(())
}

fn push_invalid(bytes: &[u8], at: usize, out: &mut Builder, budget: &mut Budget) -> Result<usize, Stop> {
    let end = at.saturating_add(bytes.len());
    if !bytes.is_empty() {
        out.push(bytes, at..end, budget)?;
    }
    Ok(end)
}

/// Whether a line holds a word of ASCII letters and look-alikes of other scripts.
fn mixes(line: &[u8]) -> bool {
    for chunk in line.utf8_chunks() {
        let (mut ascii, mut twin) = (false, false);
        for character in chunk.valid().chars() {
            if character.is_ascii_alphabetic() {
                ascii = true;
            } else if ascii_twin(character).is_some() {
                twin = true;
            } else if !character.is_alphabetic() && !is_invisible(character) {
                if ascii && twin {
                    return true;
                }
                (ascii, twin) = (false, false);
            }
        }
        if ascii && twin {
            return true;
        }
    }
    // A line of look-alikes alone, none of them a letter that the script would need beside them.
    false
}

/// Marks over letters, and what nobody sees. Marks that are letters of their own (Indic, Thai) stay.
fn is_dropped(character: char) -> bool {
    is_invisible(character)
        || matches!(character,
            '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}' | '\u{670}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Letters that NFKD leaves as they are.
fn special(character: char) -> Option<char> {
    Some(match character {
        '\u{1f1e6}'..='\u{1f1ff}' => return letter(character, 0x1f1e6),
        '\u{1f150}'..='\u{1f169}' => return letter(character, 0x1f150),
        '\u{1f170}'..='\u{1f189}' => return letter(character, 0x1f170),
        'ı' => 'i',
        'ł' | 'Ł' => 'l',
        'ø' | 'Ø' => 'o',
        'đ' | 'Đ' => 'd',
        'ħ' | 'Ħ' => 'h',
        'ŧ' | 'Ŧ' => 't',
        'ƀ' => 'b',
        'ɨ' => 'i',
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        '‘' | '’' | 'ʼ' | '‛' | '′' => '\'',
        '“' | '”' | '«' | '»' | '„' => '"',
        '–' | '—' | '−' | '‐' | '‑' => '-',
        _ => return None,
    })
}

fn letter(character: char, first: u32) -> Option<char> {
    char::from_u32(u32::from(character).wrapping_sub(first).wrapping_add(0x61))
}
