//! What a browser takes bytes for when no type was declared: WHATWG MIME Sniffing, section 7.1, with the scriptable
//! types, over the resource header of section 5.2. Snapshot of 16 October 2024; its RAR signature was corrected that
//! year from `52 61 72 20` to `52 61 72 21`. Never overridden by our own opinion: this is what a victim's browser does.

use super::peek::{Peek, has_binary};

/// Section 5.2: the resource header.
const HEADER_BYTES: usize = 1445;

/// A pattern of section 7.1 that may be preceded by white space and must be followed by a space or `>`.
const TAGS: &[&[u8]] = &[
    b"<!DOCTYPE HTML",
    b"<HTML",
    b"<HEAD",
    b"<SCRIPT",
    b"<IFRAME",
    b"<H1",
    b"<DIV",
    b"<FONT",
    b"<TABLE",
    b"<A",
    b"<STYLE",
    b"<TITLE",
    b"<B",
    b"<BODY",
    b"<BR",
    b"<P",
    b"<!--",
];

/// Parts of a signature: offset and bytes.
type Parts = &'static [(usize, &'static [u8])];

/// Signatures without a mask: at an offset, the bytes, the type. Sections 6.1, 6.2, 6.4 and 7.1, in their order.
const SIGNATURES: &[(Parts, &str)] = &[
    (&[(0, b"%PDF-")], "application/pdf"),
    (&[(0, b"%!PS-Adobe-")], "application/postscript"),
    (&[(0, b"\x00\x00\x01\x00")], "image/x-icon"),
    (&[(0, b"\x00\x00\x02\x00")], "image/x-icon"),
    (&[(0, b"BM")], "image/bmp"),
    (&[(0, b"GIF87a")], "image/gif"),
    (&[(0, b"GIF89a")], "image/gif"),
    (&[(0, b"RIFF"), (8, b"WEBPVP")], "image/webp"),
    (&[(0, b"\x89PNG\r\n\x1a\n")], "image/png"),
    (&[(0, b"\xff\xd8\xff")], "image/jpeg"),
    (&[(0, b"FORM"), (8, b"AIFF")], "audio/aiff"),
    (&[(0, b"ID3")], "audio/mpeg"),
    (&[(0, b"OggS\x00")], "application/ogg"),
    (&[(0, b"MThd\x00\x00\x00\x06")], "audio/midi"),
    (&[(0, b"RIFF"), (8, b"AVI ")], "video/avi"),
    (&[(0, b"RIFF"), (8, b"WAVE")], "audio/wave"),
];

const ARCHIVES: &[(&[u8], &str)] = &[
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07\x00", "application/x-rar-compressed"),
];

/// The browser's answer. It always has one: `text/plain` or `application/octet-stream` when nothing matches.
pub(super) fn browser_type(bytes: &[u8]) -> &'static str {
    let header = Peek(bytes).head(HEADER_BYTES);
    if let Some(scriptable) = scriptable(header) {
        return scriptable;
    }
    let peek = Peek(header);
    let has = |parts: &[(usize, &[u8])]| parts.iter().all(|(at, want)| peek.has(*at, want));
    for (parts, mime) in SIGNATURES {
        if has(parts) {
            return mime;
        }
        // The byte order marks stand between PostScript and the pictures.
        if *mime == "application/postscript" && marked(header) {
            return "text/plain";
        }
    }
    if is_mp4(peek) {
        return "video/mp4";
    }
    if is_webm(peek) {
        return "video/webm";
    }
    // Section 6.2.3, MP3 without ID3, never matches as it is written: a frame is refused when it is longer than "s
    // minus length", which is negative. Nor do browsers sniff it.
    for (want, mime) in ARCHIVES {
        if header.starts_with(want) {
            return mime;
        }
    }
    if has_binary(header) { "application/octet-stream" } else { "text/plain" }
}

fn scriptable(header: &[u8]) -> Option<&'static str> {
    let start = header.iter().position(|byte| !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' '))?;
    let rest = header.get(start..)?;
    let is_tag = |tag: &&[u8]| {
        rest.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag))
            && rest.get(tag.len()).is_some_and(|end| matches!(end, b' ' | b'>'))
    };
    if TAGS.iter().any(is_tag) {
        return Some("text/html");
    }
    rest.starts_with(b"<?xml").then_some("text/xml")
}

/// The masks want four bytes, marks of two or three included.
fn marked(header: &[u8]) -> bool {
    header.len() >= 4 && [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf"].iter().any(|mark| header.starts_with(mark))
}

/// Section 6.2.1.
fn is_mp4(header: Peek<'_>) -> bool {
    let Some(size) = header.index_be(0) else { return false };
    if header.len() < 12 || header.len() < size || !size.is_multiple_of(4) || !header.has(4, b"ftyp") {
        return false;
    }
    header.has(8, b"mp4") || (16..size).step_by(4).any(|at| header.has(at, b"mp4"))
}

/// Section 6.2.2.
fn is_webm(header: Peek<'_>) -> bool {
    if !header.has(0, b"\x1a\x45\xdf\xa3") {
        return false;
    }
    let mut at = 4;
    while at < header.len().min(38) {
        if header.has(at, b"\x42\x82") {
            at = at.saturating_add(2);
            let Some(first) = header.u8(at) else { return false };
            at = at.saturating_add(usize::try_from(first.leading_zeros().saturating_add(1).min(8)).unwrap_or(8));
            // The name must not be the very end.
            if at >= header.len().saturating_sub(4) {
                return false;
            }
            let mut name = at;
            while header.u8(name) == Some(0) {
                name = name.saturating_add(1);
            }
            if header.has(name, b"webm") {
                return true;
            }
        }
        at = at.saturating_add(1);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], want: &str) {
        assert_eq!(browser_type(bytes), want, "{bytes:?}");
    }

    #[test]
    fn a_tag_needs_its_end() {
        check(b"  \n<sCrIpT>x", "text/html");
        check(b"<script", "text/plain");
        check(b"<script/x>", "text/plain");
        check(b"<!DOCTYPE html>", "text/html");
        check(b"<svg onload=alert(1)>", "text/plain");
        check(b"<?xml version", "text/xml");
    }

    #[test]
    fn a_byte_order_mark_hides_the_tag() {
        check(b"\xef\xbb\xbf<html>", "text/plain");
        check(b"\xff\xfe<\0", "text/plain");
        check(b"\xff\xfe<", "text/plain");
        check(b"\xff\xfe\0", "application/octet-stream");
    }

    #[test]
    fn a_name_of_webm_is_looked_for_as_the_standard_does() {
        check(b"\x1a\x45\xdf\xa3\x42\x82\x84webm!", "video/webm");
        check(b"\x1a\x45\xdf\xa3\x42\x82\x84webm", "application/octet-stream");
        check(b"\x1a\x45\xdf\xa3\x42\x82\x40\x00\x00\x00webm!", "video/webm");
        // The second mark lies in what the first one passes over.
        check(b"\x1a\x45\xdf\xa3\x42\x82\x21\x42\x82\x84webm!", "application/octet-stream");
    }

    #[test]
    fn signatures_are_not_preceded_by_space() {
        check(b" %PDF-1.4", "text/plain");
        check(b"%PDF-1.4", "application/pdf");
        check(b"BM or not", "image/bmp");
        check(b"Rar!\x1a\x07\x01\x00", "application/octet-stream");
        check(b"Rar!\x1a\x07\x00", "application/x-rar-compressed");
        check(b"", "text/plain");
    }
}
