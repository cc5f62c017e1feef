//! Text as it may stay: what cleaners of texts begin with.

use bytes::Bytes;

use super::{Encoding, begins_with_heading, is_wide, utf16, utf32};
use crate::{
    format::{
        Subject,
        cleaning::{Cleaning, Uncleanable},
        markdown,
    },
    limits::{Budget, Resource},
    reader::count,
    sniff::Risk,
};

/// Text stays as it is, but for zero bytes. What is shown as Markdown is cleaned as Markdown.
pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    if is_wide(subject.bytes) {
        return Ok(subject.bytes.clone());
    }
    let bytes = without_zeros(subject.bytes, cleaning, budget)?;
    if subject.kind.risk == Risk::Inert && begins_with_heading(&bytes) {
        return Ok(markdown::washed(&bytes, cleaning, budget)?.into());
    }
    Ok(bytes)
}

/// The bytes without zeros, at which some programs end a text.
pub(in crate::format) fn without_zeros(
    bytes: &Bytes,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    budget.spend(Resource::Steps, count(bytes.len()).div_euclid(8))?;
    if memchr::memchr(0, bytes).is_none() {
        return Ok(bytes.clone());
    }
    budget.spend(Resource::DecodedBytes, count(bytes.len()))?;
    cleaning.did("removed zero bytes");
    narrow(bytes.iter().copied().filter(|byte| *byte != 0).collect())
}

/// What is left of a text of single bytes: `ff 00 fe` without its zero is a mark that makes it another text.
pub(in crate::format) fn narrow(bytes: Bytes) -> Result<Bytes, Uncleanable> {
    if is_wide(&bytes) { Err("without its zero bytes it is a text in another encoding".into()) } else { Ok(bytes) }
}

/// The same text in UTF-8, with its mark, where it is of wider units: for cleaners, which write what every program reads.
pub(in crate::format) fn narrowed(
    bytes: &Bytes,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let (encoding, mark) = Encoding::of(bytes);
    let units = bytes.get(mark..).unwrap_or_default();
    let is_two = match encoding {
        Encoding::Bytes | Encoding::Utf8 => return Ok(bytes.clone()),
        Encoding::Utf16 { .. } => true,
        Encoding::Utf32 { .. } => false,
    };
    // Two bytes become three at most, four become four.
    budget.spend(Resource::DecodedBytes, count(units.len()).saturating_mul(2).saturating_add(3))?;
    let text = match encoding {
        Encoding::Utf32 { big } => utf32(units, big).0,
        Encoding::Utf16 { big } => utf16(units, big, true).0,
        Encoding::Bytes | Encoding::Utf8 => String::new(),
    };
    cleaning.did(if is_two { "wrote UTF-16 as UTF-8" } else { "wrote UTF-32 as UTF-8" });
    Ok(["\u{feff}", &text].concat().into())
}

#[cfg(test)]
mod tests {
    use crate::format::{cleaning::testing::clean, text::FORMAT};

    #[test]
    fn text_stays_but_for_zeros() {
        let (bytes, actions) = clean(&FORMAT, "txt", b"a <b>\x1b[31m\r\n\xff").unwrap();
        assert_eq!((&bytes[..], actions.len()), (&b"a <b>\x1b[31m\r\n\xff"[..], 0));
        assert_eq!(clean(&FORMAT, "txt", b"a\0b").unwrap().0, &b"ab"[..]);
        assert_eq!(clean(&FORMAT, "txt", b"\xff\xfea\0").unwrap().0, &b"\xff\xfea\0"[..]);
        assert!(clean(&FORMAT, "txt", b"\xff\0\xfeab").is_err(), "without its zero it begins with a mark of UTF-16");
        assert_eq!(clean(&FORMAT, "txt", b"# A\n\n<script>").unwrap().0, &b"# A\n\n&lt;script>"[..]);
    }
}
