//! Text: which bytes are text at all, and what kind. Everything is decided on a bounded head, decoded to UTF-8 where a
//! byte order mark or the pattern of NULs says UTF-16; legacy charsets pass as they are, since only ASCII tells kinds.

use std::borrow::Cow;

use super::peek::{Peek, has_binary, is_binary};

mod code;
mod config;
mod delimited;
mod json;
mod mail;
mod markup;
mod notes;

/// How much of a text is looked at.
pub(super) const HEAD_BYTES: usize = 16 * 1024;

/// The decoded head of a text.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// UTF-8 or a superset of ASCII, without byte order mark.
    pub(super) head: Cow<'a, [u8]>,
    /// Whether the head is all there is.
    pub(super) whole: bool,
    /// The undecoded bytes.
    pub(super) raw: &'a [u8],
}

/// The bytes as text, when that is what they are.
pub(super) fn decode(bytes: &[u8]) -> Option<Text<'_>> {
    let peek = Peek(bytes);
    let whole = bytes.len() <= HEAD_BYTES;
    let utf16 = |start: usize, unit: fn([u8; 2]) -> u16| {
        let head = peek.from(start);
        let head = head.get(..2 * HEAD_BYTES).unwrap_or(head);
        let (text, wrong) = decode_utf16(head, unit);
        let whole = bytes.len() <= 2 * HEAD_BYTES;
        // Two bytes that look like a mark before random ones.
        let is_text = wrong <= text.len() / 32 && !text.bytes().any(|byte| byte == 0);
        is_text.then_some(Text { head: Cow::Owned(text.into_bytes()), whole, raw: bytes })
    };
    if peek.has(0, b"\xff\xfe\0\0") || peek.has(0, b"\0\0\xfe\xff") {
        return decode_utf32(peek, whole);
    }
    if peek.has(0, b"\xff\xfe") && bytes.len() > 2 {
        return utf16(2, u16::from_le_bytes);
    }
    if peek.has(0, b"\xfe\xff") && bytes.len() > 2 {
        return utf16(2, u16::from_be_bytes);
    }
    match nul_pattern(peek.head(512)) {
        Some(Order::Little) => return utf16(0, u16::from_le_bytes),
        Some(Order::Big) => return utf16(0, u16::from_be_bytes),
        None => {}
    }
    let start = if peek.has(0, b"\xef\xbb\xbf") { 3 } else { 0 };
    let head = peek.from(start);
    let head = head.get(..HEAD_BYTES).unwrap_or(head);
    is_text(head).then_some(Text { head: Cow::Borrowed(head), whole, raw: bytes })
}

/// The kind of bytes that would be text were it not for a few binary ones: browsers drop a NUL inside a tag, and a
/// table with a stray control character is still a table.
pub(super) fn decode_soiled(bytes: &[u8]) -> Option<&'static str> {
    let head = Peek(bytes).head(HEAD_BYTES);
    let clean: Vec<u8> = head.iter().copied().filter(|byte| !is_binary(*byte)).collect();
    let soiled = head.len().saturating_sub(clean.len());
    if soiled.saturating_mul(8) > head.len() || clean.len() < 8 || std::str::from_utf8(&clean).is_err() {
        return None;
    }
    let found = kind(&Text { head: Cow::Owned(clean), whole: bytes.len() <= HEAD_BYTES, raw: bytes });
    let few = soiled.saturating_mul(64) <= head.len();
    (few || matches!(found, "html" | "svg" | "xml" | "php" | "csv")).then_some(found)
}

/// What kind of text.
pub(super) fn kind(text: &Text<'_>) -> &'static str {
    let head = &*text.head;
    let start = head.trim_ascii_start();
    if start.is_empty() {
        return "txt";
    }
    code::by_shebang(start)
        .or_else(|| by_first_line(start))
        .or_else(|| markup::kind(start, text))
        .or_else(|| json::kind(text))
        .or_else(|| mail::kind(start))
        .or_else(|| notes::patch(start))
        .or_else(|| notes::log(start))
        .or_else(|| delimited::strong(head, text.whole))
        .or_else(|| config::strong(head))
        .or_else(|| code::kind(start))
        .or_else(|| config::kind(head))
        .or_else(|| notes::kind(head))
        .or_else(|| delimited::weak(head, text.whole))
        .unwrap_or("txt")
}

/// Texts that open with a magic line.
fn by_first_line(start: &[u8]) -> Option<&'static str> {
    // What a line opens with, and what must follow there: a sentence about a format is none of it.
    const OPENINGS: &[(&[u8], &[u8], &str)] = &[
        (b"%!PS", b"-\r\n", "ps"),
        (b"%!", b"\r\n", "ps"),
        (b"%PDF-", b"0123456789", "pdf"),
        (b"BEGIN:VCALENDAR", b"\r\n", "ics"),
        (b"BEGIN:VCARD", b"\r\n", "vcard"),
        (b"Windows Registry Editor Version ", b"0123456789", "regfile"),
        (b"REGEDIT4", b"\r\n", "regfile"),
        (b"ssh-rsa ", b"A", "pem"),
        (b"ssh-ed25519 ", b"A", "pem"),
        (b"ecdsa-sha2-nistp", b"0123456789", "pem"),
        (b"---- BEGIN SSH2", b" ", "pem"),
    ];
    // Behind blanks it is still one to some readers; at the very start its signature was seen already.
    if start.starts_with(b"{\\rtf") {
        return Some("rtf");
    }
    for (opening, next, label) in OPENINGS {
        let opens = start.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening));
        if opens && start.get(opening.len()).is_none_or(|byte| next.contains(byte)) {
            return Some(label);
        }
    }
    let line_ends = start.get(6).is_none_or(|byte| matches!(byte, b'\r' | b'\n'));
    if start.starts_with(b"WEBVTT") && (line_ends || memchr::memmem::find(start, b"-->").is_some()) {
        return Some("vtt");
    }
    // RFC 7468: text may come before, as `openssl` writes it.
    let begin = memchr::memmem::find(start.get(..4096).unwrap_or(start), b"-----BEGIN ")?;
    let line = start.get(begin..)?.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    let at_line = begin == 0 || begin.checked_sub(1).and_then(|at| start.get(at)) == Some(&b'\n');
    let label = line.get(11..)?.strip_suffix(b"-----")?;
    let before = start.get(..begin)?;
    let is_dump = before.is_empty()
        || before.starts_with(b"Certificate:")
        || before.starts_with(b"Bag Attributes")
        || before.starts_with(b"subject=")
        || before.starts_with(b"#");
    let is_label =
        !label.is_empty() && label.iter().all(|byte| byte.is_ascii_uppercase() || b" 0123456789-".contains(byte));
    (at_line && is_dump && is_label && !label.starts_with(b"PGP SIGNED")).then_some("pem")
}

enum Order {
    Little,
    Big,
}

/// UTF-16 without a mark: ASCII in one place of each pair, NUL in the other, nearly always.
fn nul_pattern(head: &[u8]) -> Option<Order> {
    let pairs = head.len() / 2;
    if pairs < 4 || memchr::memchr(0, head).is_none() {
        return None;
    }
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let (mut little, mut big) = (0_usize, 0_usize);
    for pair in head.chunks_exact(2) {
        match pair {
            [low, 0] if is_plain(*low) => little = little.saturating_add(1),
            [0, low] if is_plain(*low) => big = big.saturating_add(1),
            _ => {}
        }
    }
    let most = pairs.saturating_mul(4) / 5;
    if little > most {
        Some(Order::Little)
    } else if big > most {
        Some(Order::Big)
    } else {
        None
    }
}

/// The decoded text and how many units were no text.
fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (String, usize) {
    let units = bytes.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok()).map(unit);
    let mut wrong = 0_usize;
    let text = char::decode_utf16(units)
        .map(|decoded| {
            let unassigned = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}' | '\0'..='\x08' | '\x0e'..='\x1a');
            let decoded = decoded.ok().filter(|c| !unassigned(*c));
            wrong = wrong.saturating_add(usize::from(decoded.is_none()));
            decoded.unwrap_or('\u{fffd}')
        })
        .collect();
    (text, wrong)
}

fn decode_utf32(peek: Peek<'_>, whole: bool) -> Option<Text<'_>> {
    let unit = if peek.u8(0) == Some(0xff) { u32::from_le_bytes } else { u32::from_be_bytes };
    let head = peek.head(4 * HEAD_BYTES);
    let units = head.chunks_exact(4).skip(1).filter_map(|unit| <[u8; 4]>::try_from(unit).ok());
    let text: Option<String> = units.map(|bytes| char::from_u32(unit(bytes))).collect();
    let text = text.filter(|text| !text.is_empty() && !text.contains('\0'))?;
    Some(Text { head: Cow::Owned(text.into_bytes()), whole, raw: peek.0 })
}

/// Whether bytes without NUL patterns are text: no binary bytes but the few that terminals use, and high bytes that
/// are UTF-8 or follow one another as in a legacy charset.
fn is_text(head: &[u8]) -> bool {
    let is_odd = |byte: &&u8| is_binary(**byte) && !matches!(byte, 0x07 | 0x08 | 0x0b);
    let binary = if has_binary(head) { head.iter().filter(is_odd).count() } else { 0 };
    // A DOS end-of-file mark, a stray form feed or escape; a NUL is no text.
    if memchr::memchr(0, head).is_some() || binary > head.len() / 256 {
        let dos_end = binary == 1 && head.last() == Some(&0x1a) && head.len() > 1;
        if !dos_end {
            return false;
        }
    }
    match std::str::from_utf8(head) {
        Ok(_) => true,
        // The head may end inside a character.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 && head.len() > 8 => true,
        Err(_) => is_legacy(head),
    }
}

fn is_legacy(head: &[u8]) -> bool {
    let high = head.iter().filter(|byte| **byte >= 0x80).count();
    let letters = head.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    // A few bytes are no statistics.
    if head.len() < 8 {
        return false;
    }
    // Western: mostly ASCII letters, few of the C1 range.
    let c1 = head.iter().filter(|byte| (0x80..0xa0).contains(*byte)).count();
    let (most_high, least_letters) = if head.len() < 24 { (3, 6) } else { (4, 6) };
    let rare = high.saturating_mul(10) <= head.len().saturating_mul(most_high);
    if rare && letters.saturating_mul(10) >= head.len().saturating_sub(high).saturating_mul(least_letters) {
        return true;
    }
    // Tables of numbers with a name here and there: random bytes of that length would hold a control character.
    if head.len() >= 32 && high.saturating_mul(5) <= head.len() {
        return true;
    }
    // One byte per letter, in other alphabets: nearly all in the upper half of the upper half.
    let spaced = head.iter().any(|byte| matches!(byte, b' ' | b'\n'));
    let upper = head.iter().filter(|byte| **byte >= 0xc0).count();
    if spaced && c1.saturating_mul(20) <= high && upper.saturating_mul(10) >= high.saturating_mul(9) {
        return true;
    }
    // Two bytes per letter.
    let punctuated = head.iter().any(|byte| matches!(byte, b' ' | b'\n' | b',' | b'.' | b':'));
    head.len() >= 12
        && punctuated
        && (is_paired(
            head,
            |lead| matches!(lead, 0x81..=0x9f | 0xe0..=0xfc),
            |trail| matches!(trail, 0x40..=0x7e | 0x80..=0xfc),
            true,
        ) || is_paired(head, |lead| (0xa1..=0xfe).contains(&lead), |trail| (0xa1..=0xfe).contains(&trail), false)
            || is_paired(
                head,
                |lead| (0x81..=0xfe).contains(&lead),
                |trail| matches!(trail, 0x40..=0x7e | 0x80..=0xfe),
                false,
            ))
}

/// Whether every high byte leads a pair (or is half-width kana, in Shift JIS), and pairs stand together as in words.
fn is_paired(head: &[u8], is_lead: fn(u8) -> bool, is_trail: fn(u8) -> bool, kana: bool) -> bool {
    let mut rest = head;
    let (mut pairs, mut runs, mut in_run) = (0_usize, 0_usize, false);
    while let Some((&first, after)) = rest.split_first() {
        if first < 0x80 {
            in_run = false;
            rest = after;
            continue;
        }
        if kana && (0xa1..=0xdf).contains(&first) {
            rest = after;
            continue;
        }
        match after.split_first() {
            Some((&trail, after)) if is_lead(first) && is_trail(trail) => {
                pairs = pairs.saturating_add(1);
                runs = runs.saturating_add(usize::from(!in_run));
                in_run = true;
                rest = after;
            }
            // The head may end inside a pair.
            None if is_lead(first) => break,
            _ => return false,
        }
    }
    pairs >= 4 && pairs >= runs.saturating_mul(2)
}

/// The lines of a head, without their ends; a lone CR ends one too, as progress bars write it.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], want: &str) {
        let got = decode(bytes).map_or("none", |text| kind(&text));
        assert_eq!(got, want, "{}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn bytes_that_are_no_text() {
        check(b"\x8e\x3a", "none");
        check(b"\xa9\xff\x8a", "none");
        check(&[0xff; 64], "none");
        check(b"abc\0def", "none");
    }

    #[test]
    fn charsets() {
        check(b"\xef\xbb\xbfhello", "txt");
        check(b"\xff\xfeh\0i\0", "txt");
        check(b"<\0h\0t\0m\0l\0>\0<\0b\0>\0", "html");
        check("Gr\u{fc}\u{df}e aus Berlin".chars().map(|c| c as u8).collect::<Vec<_>>().as_slice(), "txt");
        check(b"\x82\xb1\x82\xea\x82\xcd\x83e\x83L\x83X\x83g\x82\xc5\x82\xb7\x81B\x93\xfa\x96{\x8c\xea\n", "txt");
    }

    #[test]
    fn first_lines() {
        check(b"WEBVTT\n\n00:00.000 --> 00:01.000\nx\n", "vtt");
        check(b"WEBVTTs are files\n", "txt");
        check(b"BEGIN:VCARD is how one starts\n", "txt");
        check(b"%!PS is how another starts\n", "txt");
        check(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "pem");
        check(b"-----BEGIN HERE-----", "pem");
        check(b"%PDF is how a pdf starts\n", "txt");
    }
}
