//! Character references: the five that every XML has, and numbers. Others mean what a document type says, and stay.

use std::borrow::Cow;

use memchr::memchr;

/// The longest reference that is undone: `&#x0010FFFF;`, and zeros to spare.
const LONGEST: usize = 24;

/// The text with references undone. Those that are none stay as they are.
pub(crate) fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'&', raw) else { return Cow::Borrowed(raw) };
    let mut out = Vec::with_capacity(raw.len());
    out.extend_from_slice(raw.get(..first).unwrap_or_default());
    let mut rest = raw.get(first..).unwrap_or_default();
    while let Some(next) = memchr(b'&', rest) {
        out.extend_from_slice(rest.get(..next).unwrap_or_default());
        let (before, behind) = rest.split_at_checked(next).unwrap_or((rest, b""));
        debug_assert_eq!(before.len(), next, "the mark is within");
        match character(behind) {
            Some((character, length)) => {
                let mut buffer = [0; 4];
                out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                rest = behind.get(length..).unwrap_or_default();
            }
            None => {
                out.push(b'&');
                rest = behind.get(1..).unwrap_or_default();
            }
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// The character that a reference at the start stands for, and the reference's length.
fn character(bytes: &[u8]) -> Option<(char, usize)> {
    let near = bytes.get(..LONGEST).unwrap_or(bytes);
    let end = memchr(b';', near)?;
    let name = std::str::from_utf8(near.get(1..end)?).ok()?;
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    };
    Some((character, end.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_undone_once() {
        let decoded = |raw: &str| String::from_utf8(decode(raw.as_bytes()).into_owned()).unwrap();
        assert_eq!(decoded("a"), "a");
        assert_eq!(decoded("&lt;b&gt; &amp;amp; &quot;&apos;"), "<b> &amp; \"'");
        assert_eq!(decoded("&#65;&#x42;&#X43;&#x1F600;"), "ABC\u{1f600}");
        assert_eq!(decoded("&#000000065;"), "A");
        assert_eq!(decoded("a & b &nbsp; &#xD800; &#; &#x110000; &"), "a & b &nbsp; &#xD800; &#; &#x110000; &");
        assert_eq!(decoded("&&amp;x"), "&&x");
    }
}
