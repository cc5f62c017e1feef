//! The letters of a document as UTF-8, by what it says they are.

use std::borrow::Cow;

use encoding_rs::Encoding;
use memchr::memmem;

use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// Bytes in which a document says how it is written (HTML 13.2.3.2).
const PRESCAN: usize = 1024;
/// The mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The mark at the start, and what follows it.
pub(in crate::format) fn mark(bytes: &[u8]) -> (&'static [u8], &[u8]) {
    bytes.strip_prefix(MARK).map_or((&[], bytes), |rest| (MARK, rest))
}

/// The text in UTF-8. What is UTF-8 already stays, whatever it says of itself.
pub(in crate::format) fn utf8<'t>(text: &'t [u8], budget: &mut Budget) -> Result<Cow<'t, [u8]>, Exhausted> {
    budget.spend(Resource::Steps, count(text.len()))?;
    if std::str::from_utf8(text).is_ok() {
        return Ok(Cow::Borrowed(text));
    }
    // One byte becomes three at most.
    budget.spend(Resource::DecodedBytes, count(text.len()).saturating_mul(3))?;
    let declared = declared(text).filter(|encoding| encoding.is_ascii_compatible());
    let encoding = declared.unwrap_or_else(|| {
        // Letters of UTF-8 among bytes that are none: one encoding, broken. Otherwise an old one of single bytes.
        let is_broken = text.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
        if is_broken { encoding_rs::UTF_8 } else { encoding_rs::WINDOWS_1252 }
    });
    Ok(Cow::Owned(encoding.decode_without_bom_handling(text).0.into_owned().into_bytes()))
}

/// The encoding that is named behind `charset=` or `encoding=` in the beginning.
fn declared(text: &[u8]) -> Option<&'static Encoding> {
    let head = text.get(..PRESCAN).unwrap_or(text).to_ascii_lowercase();
    let at = [&b"charset="[..], b"encoding="]
        .iter()
        .filter_map(|word| memmem::find(&head, word).map(|at| at.saturating_add(word.len())))
        .min()?;
    let rest = head.get(at..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let length =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':')).count();
    Encoding::for_label(rest.get(..length)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn read(text: &[u8]) -> String {
        String::from_utf8(utf8(text, &mut Budget::new(Limits::default())).unwrap().into_owned()).unwrap()
    }

    #[test]
    fn letters_are_what_the_document_says_they_are() {
        assert_eq!(read("é charset=shift_jis".as_bytes()), "é charset=shift_jis");
        assert_eq!(read(b"<meta charset=\"windows-1251\">\xcf"), "<meta charset=\"windows-1251\">П");
        assert_eq!(read(b"<?xml encoding='Shift_JIS'?>\x83\x5c<"), "<?xml encoding='Shift_JIS'?>ソ<");
        assert_eq!(read(b"\xe9 <b>"), "é <b>");
        assert_eq!(read(b"\xc3\xa9 \xe9"), "é \u{fffd}");
        // An encoding with shifts would make brackets of letters.
        assert_eq!(read(b"charset=utf-7 +ADw- \xe9"), "charset=utf-7 +ADw- é");
    }

    #[test]
    fn marks_are_told_from_text() {
        assert_eq!(mark(b"\xef\xbb\xbfa"), (MARK, &b"a"[..]));
        assert_eq!(mark(b"a"), (&b""[..], &b"a"[..]));
    }
}
