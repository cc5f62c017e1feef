//! Names of elements: which end themselves, which stand within a line, and by which small key each is known.

use memchr::memchr;

/// Names are told apart by a small key; two that share one only make the nesting a little wrong.
pub(super) const KEYS: usize = 4096;

/// Text with the shifted parts of UTF-7 (RFC 2152) undone.
pub(super) fn seven_bit(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(plus) = memchr(b'+', rest) {
        out.extend_from_slice(rest.get(..plus).unwrap_or_default());
        let behind = rest.get(plus.saturating_add(1)..).unwrap_or_default();
        let length =
            behind.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).count();
        let (mut held, mut bits) = (0_u32, 0_u32);
        for byte in behind.get(..length).unwrap_or_default() {
            let value = match byte {
                b'A'..=b'Z' => byte.wrapping_sub(b'A'),
                b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
                b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
                b'+' => 62,
                _ => 63,
            };
            held = (held << 6 | u32::from(value)) & 0x00ff_ffff;
            bits = bits.saturating_add(6);
            if bits >= 16 {
                bits = bits.saturating_sub(16);
                let unit = held.checked_shr(bits).unwrap_or(0) & 0xffff;
                let mut buffer = [0; 4];
                out.extend_from_slice(char::from_u32(unit).unwrap_or('?').encode_utf8(&mut buffer).as_bytes());
            }
        }
        rest = behind.get(length..).unwrap_or_default();
        rest = rest.strip_prefix(b"-").unwrap_or(rest);
    }
    out.extend_from_slice(rest);
    out
}

/// FNV-1a, folded.
pub(super) fn key(name: &[u8]) -> usize {
    let hash = name.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    usize::try_from((hash ^ (hash >> 16)) & 0xfff).unwrap_or(0)
}

pub(super) fn is_void(name: &[u8]) -> bool {
    const VOID: [&[u8]; 18] = [
        b"area",
        b"base",
        b"br",
        b"col",
        b"embed",
        b"hr",
        b"img",
        b"input",
        b"link",
        b"meta",
        b"source",
        b"track",
        b"wbr",
        b"param",
        b"basefont",
        b"bgsound",
        b"frame",
        b"keygen",
    ];
    VOID.contains(&name)
}

pub(super) fn is_inline(name: &[u8]) -> bool {
    const INLINE: [&[u8]; 37] = [
        b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn", b"em",
        b"font", b"i", b"ins", b"kbd", b"label", b"mark", b"nobr", b"q", b"ruby", b"s", b"samp", b"small", b"span",
        b"strike", b"strong", b"sub", b"sup", b"time", b"tspan", b"tt", b"u", b"var", b"wbr", b"img",
    ];
    INLINE.contains(&name)
}

/// What a start tag of that name ends without saying so (HTML 13.1.2.4).
pub(super) fn implied_ends(name: &[u8]) -> &'static [&'static [u8]] {
    match name {
        b"li" => &[b"p", b"li"],
        b"dt" | b"dd" => &[b"p", b"dt", b"dd"],
        b"td" | b"th" => &[b"p", b"td", b"th"],
        b"tr" => &[b"p", b"td", b"th", b"tr"],
        b"tbody" | b"tfoot" | b"thead" => &[b"td", b"th", b"tr", b"tbody", b"thead", b"tfoot", b"colgroup", b"caption"],
        b"option" | b"optgroup" => &[b"option"],
        b"rt" | b"rp" => &[b"rt", b"rp"],
        name if !is_inline(name) => &[b"p"],
        _ => &[],
    }
}

/// Names that say more than an element's: somebody may have written a sentence between brackets.
pub(super) fn is_unknown(name: &[u8]) -> bool {
    name.len() > 24 || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf7_is_undone() {
        assert_eq!(seven_bit(b"a+ADw-script+AD4-b"), b"a<script>b");
        assert_eq!(seven_bit(b"1+-2"), b"12");
    }

    #[test]
    fn names_that_matter_have_keys_of_their_own() {
        let names: [&[u8]; 16] = [
            b"p",
            b"li",
            b"td",
            b"th",
            b"tr",
            b"div",
            b"span",
            b"dt",
            b"dd",
            b"option",
            b"table",
            b"script",
            b"style",
            b"svg",
            b"a",
            b"foreignobject",
        ];
        let keys: std::collections::BTreeSet<usize> = names.iter().map(|name| key(name)).collect();
        assert_eq!(keys.len(), names.len());
    }
}
