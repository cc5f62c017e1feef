//! Second types: the same bytes valid as something else, and data behind the end.

use super::{
    Risk, magic, named, ole,
    peek::{Peek, find},
    pickle, text, zip,
};

/// How much of each end of a picture, sound or film is searched for markup. Attackers put it where a parser that
/// looks for text meets it first: in a comment near the start, or behind the end.
const ENDS_BYTES: usize = 4096;
/// Chunks or boxes walked to find the end.
const CHUNKS: usize = 4096;

/// The labels of second types.
pub(super) fn types(
    bytes: &[u8],
    label: &'static str,
    archive: Option<zip::Found>,
    trailing: Option<usize>,
) -> Vec<&'static str> {
    let peek = Peek(bytes);
    let kind = named(label);
    let media = is_media(kind.mime) && !kind.is_text;
    let starts_zip = peek.has(0, b"PK");
    let mut also = Vec::new();
    if let Some(archive) = archive.filter(|archive| archive.prefix > 0 && !starts_zip) {
        // An archive inside another file's data is not one of the file's types unless it ends the file.
        let ends_file = archive.end == bytes.len();
        let inside = zip::kind(bytes, Some(archive));
        if (media || ends_file) && named(inside).mime != kind.mime {
            also.push(inside);
        }
    }
    if starts_zip && archive.is_some_and(|archive| archive.prefix > 30) {
        // Members before the archive that counts: readers of streams and of directories see different files.
        also.extend(prefix_of_zip(bytes, archive));
    }
    let holds_files = kind.risk == Risk::Container || starts_zip;
    if label != "pdf" && !kind.is_text {
        let at = if holds_files { peek.has(0, b"%PDF-").then_some(0) } else { find(peek.head(1024), b"%PDF-") };
        if at.is_some_and(|at| at == 0 || find(peek.head(4096), b"obj").is_some()) {
            also.push("pdf");
        }
    }
    if media || matches!(label, "pe" | "elf") {
        let tail = peek.tail(ENDS_BYTES);
        if find(tail, b"%PDF-").and_then(|at| find(tail.get(at..)?, b" obj")).is_some() {
            also.push("pdf");
        }
        for window in [peek.head(ENDS_BYTES), peek.tail(ENDS_BYTES)] {
            also.extend(markup(window));
        }
    }
    if media && opens_comment(peek, label) {
        also.push("javascript");
    }
    if let Some(trailing) = trailing {
        also.extend(behind_end(bytes, label, trailing));
    }
    match label {
        "svg" => also.extend(html_in_svg(bytes)),
        "shell" => also.extend(python_in_shell(bytes)),
        "pdf" => also.extend(before_pdf(peek)),
        "ps" => also.extend(pdf_in_ps(peek)),
        _ => {}
    }
    also
}

fn is_media(mime: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|class| mime.starts_with(class))
}

/// Markup that a browser or a PHP interpreter would find in any bytes.
fn markup(window: &[u8]) -> Option<&'static str> {
    const TAGS: &[&[u8]] = &[b"html", b"script", b"!doctype html", b"body", b"iframe", b"svg"];
    if find(window, b"<?php").is_some() {
        return Some("php");
    }
    memchr::memchr_iter(b'<', window).find_map(|at| {
        let rest = window.get(at.checked_add(1)?..)?;
        TAGS.iter().find_map(|tag| {
            let is_tag = rest.get(..tag.len())?.eq_ignore_ascii_case(tag)
                && rest.get(tag.len()).is_some_and(|end| matches!(end, b'>' | b' ' | b'\n' | b'\r' | b'\t' | b'/'));
            is_tag.then_some("html")
        })
    })
}

/// The trick of a picture that is also a script: the bytes after the signature open a comment, or an assignment, of
/// which the signature is the name.
fn opens_comment(peek: Peek<'_>, label: &str) -> bool {
    let at = match label {
        "gif" => 6,
        "bmp" => 2,
        "wav" | "webp" | "avi" => 4,
        "jpeg" => return peek.has(4, b"/*") && find(peek.from(6), b"*/").is_some(),
        _ => return false,
    };
    let close = || {
        let rest = peek.from(at);
        find(rest.get(..ENDS_BYTES).unwrap_or(rest), b"*/").is_some() || find(peek.tail(ENDS_BYTES), b"*/").is_some()
    };
    let assigned = peek.has(at, b"=") && peek.has(at.saturating_add(2), b"/*");
    ((peek.has(at, b"/*") || assigned) && close())
        || (peek.has(at, b"=") && label == "gif" && peek.has(at.saturating_add(1), b"1;"))
}

/// What stands behind the end of the format.
fn behind_end(bytes: &[u8], label: &str, trailing: usize) -> Option<&'static str> {
    let rest = bytes.get(trailing..)?.trim_ascii_start();
    if rest.len() < 8 {
        return None;
    }
    let kind = named(label);
    if let Some(found) = magic::signed(rest).filter(|found| rest.len() >= 32 && named(found).mime != kind.mime) {
        return Some(found);
    }
    if rest.starts_with(b"%PDF-") {
        return Some("pdf");
    }
    if rest.starts_with(b"\xd0\xcf\x11\xe0") {
        return ole::kind(rest);
    }
    if label != "pickle"
        && rest.starts_with(b"\x80")
        && pickle::find_pickle(rest).is_some_and(|found| found.end.is_some())
    {
        return Some("pickle");
    }
    if label == "pickle" {
        return None;
    }
    let found = text::decode(rest).map(|text| text::kind(&text))?;
    matches!(named(found).risk, Risk::Active | Risk::Executable)
        .then_some(found)
        .filter(|_| label != "pdf" || found == "html" || found == "php")
}

/// What an archive that starts late has before it, when the file nevertheless begins with a member.
fn prefix_of_zip(bytes: &[u8], archive: Option<zip::Found>) -> Option<&'static str> {
    let before = bytes.get(..archive?.prefix)?;
    let inner = zip::find_archive(before)?;
    Some(zip::kind(before, Some(inner)))
}

/// HTML in a foreign object: the picture is a page too.
fn html_in_svg(bytes: &[u8]) -> Option<&'static str> {
    let head = Peek(bytes).head(text::HEAD_BYTES);
    let at = find(head, b"<foreignObject").or_else(|| find(head, b":foreignObject"))?;
    let rest = head.get(at..)?;
    [&b"<body"[..], b"<html", b"<script", b"<iframe"].iter().any(|tag| find(rest, tag).is_some()).then_some("html")
}

/// `'''exec' python …`: a shell runs the second line, Python takes it for a string.
fn python_in_shell(bytes: &[u8]) -> Option<&'static str> {
    let head = Peek(bytes).head(512);
    let second = head.split(|byte| *byte == b'\n').nth(1)?;
    let quotes = second.starts_with(b"'''")
        || second.starts_with(b"\"\"\"")
        || second.starts_with(b"\"exec\"")
        || second.starts_with(b"''''");
    (quotes && find(head, b"python").is_some()).then_some("python")
}

/// A page or a script before the first object of a PDF: behind late headers, in comments.
fn before_pdf(peek: Peek<'_>) -> Option<&'static str> {
    let head = peek.head(2048);
    markup(head.get(..find(head, b"obj")?)?)
}

/// `%!PS-Adobe-N.n PDF-M.m` is a header that PDF readers take (ISO 32000-1 annex H, implementation note 14).
fn pdf_in_ps(peek: Peek<'_>) -> Option<&'static str> {
    let line = peek.head(128).split(|byte| *byte == b'\n').next()?;
    (find(line, b" PDF-").is_some() && find(peek.head(4096), b"obj").is_some()).then_some("pdf")
}

/// Where data behind the end begins.
pub(super) fn trailing(bytes: &[u8], label: &str, archive: Option<zip::Found>) -> Option<usize> {
    let peek = Peek(bytes);
    let end = match label {
        "png" => png_end(peek),
        "wav" | "webp" | "avi" => peek.index_le(4).and_then(|size| size.checked_add(size & 1)?.checked_add(8)),
        "bmp" => peek.index_le(2).filter(|size| *size >= 26),
        "mp4" | "mov" | "m4a" | "3gp" | "heic" | "avif" => boxes_end(peek),
        "pickle" => pickle::find_pickle(bytes).and_then(|found| found.end),
        "jpeg" => jpeg_end(peek),
        "gif" => gif_end(peek),
        "pdf" => pdf_end(peek),
        _ if peek.has(0, b"PK") => archive.map(|archive| archive.end),
        _ => None,
    }?;
    (end < bytes.len()).then_some(end)
}

/// PNG specification section 5.3: length, type, data, checksum; IEND is the last.
fn png_end(peek: Peek<'_>) -> Option<usize> {
    let mut at = 8_usize;
    for _ in 0..CHUNKS {
        let length = peek.index_be(at)?;
        let next = at.checked_add(12)?.checked_add(length)?;
        if peek.has(at.checked_add(4)?, b"IEND") {
            return Some(next);
        }
        at = next;
    }
    None
}

/// ISO 14496-12: boxes one after the other; what does not look like one is behind the end.
fn boxes_end(peek: Peek<'_>) -> Option<usize> {
    let mut at = 0_usize;
    for _ in 0..CHUNKS {
        let name = peek.slice(at.checked_add(4)?, 4);
        let size = match peek.index_be(at) {
            Some(0) => return None,
            Some(1) => usize::try_from(
                u64::from(peek.u32_be(at.checked_add(8)?)?) << 32 | u64::from(peek.u32_be(at.checked_add(12)?)?),
            )
            .ok()?,
            Some(size) => size,
            None => break,
        };
        let is_box = size >= 8
            && name
                .is_some_and(|name| name.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_\xa9".contains(byte)));
        let is_cut = is_box && at.checked_add(size)? > peek.len();
        if is_cut && name.is_some_and(|name| [&b"mdat"[..], b"meta", b"moov", b"moof"].contains(&name)) {
            // The file ends in it: nothing is behind.
            return None;
        }
        if !is_box || is_cut && at > 0 {
            break;
        }
        at = at.checked_add(size)?;
    }
    Some(at)
}

/// ITU T.81: the end marker of the last scan. Only the tail is searched: the marker cannot occur in scan data, where
/// 0xff is followed by 0 or a restart marker, but a thumbnail has its own.
fn jpeg_end(peek: Peek<'_>) -> Option<usize> {
    let tail = peek.tail(0x1_0000);
    let start = peek.len().saturating_sub(tail.len());
    let at = memchr::memmem::rfind(tail, b"\xff\xd9")?;
    start.checked_add(at)?.checked_add(2)
}

/// `GIF89a` section 27: blocks up to the trailer.
fn gif_end(peek: Peek<'_>) -> Option<usize> {
    let colours = |flags: u8| if flags & 0x80 == 0 { 0_usize } else { 6_usize.wrapping_shl(u32::from(flags & 7)) };
    let mut at = 13_usize.checked_add(colours(peek.u8(10)?))?;
    let mut steps = 0_u32;
    loop {
        match peek.u8(at)? {
            0x3b => return at.checked_add(1),
            0x2c => at = at.checked_add(11)?.checked_add(colours(peek.u8(at.checked_add(9)?)?))?,
            0x21 => at = at.checked_add(2)?,
            _ => return None,
        }
        // Sub-blocks up to an empty one.
        loop {
            let size = usize::from(peek.u8(at)?);
            at = at.checked_add(1)?.checked_add(size)?;
            steps = steps.saturating_add(1);
            if size == 0 {
                break;
            }
            if steps > 0x2_0000 {
                return None;
            }
        }
    }
}

/// The last end-of-file mark and the line end that may follow.
fn pdf_end(peek: Peek<'_>) -> Option<usize> {
    let tail = peek.tail(0x1_0000);
    let start = peek.len().saturating_sub(tail.len());
    let at = memchr::memmem::rfind(tail, b"%%EOF")?;
    let rest = tail.get(at.checked_add(5)?..)?;
    let white = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
    start.checked_add(at)?.checked_add(5)?.checked_add(white)
}

#[cfg(test)]
mod tests {
    use crate::sniff;

    #[track_caller]
    fn check(bytes: &[u8], want: &str, also: &[&str]) {
        let sniffed = sniff(bytes);
        let second: Vec<&str> = sniffed.also.iter().map(|kind| kind.label).collect();
        assert_eq!((sniffed.kind.label, second.as_slice()), (want, also));
    }

    const PNG: &[u8] =
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\0IEND\xaeB`\x82";
    const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0aAPK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x20\0\0\0\0\0";

    #[test]
    fn an_archive_behind_a_picture() {
        check(PNG, "png", &[]);
        check(&[PNG, ZIP].concat(), "png", &["zip"]);
        assert_eq!(sniff(&[PNG, ZIP].concat()).trailing, Some(PNG.len() as u64));
        check(ZIP, "zip", &[]);
    }

    #[test]
    fn scripts_in_pictures() {
        check(&[PNG, b"<script>alert(1)</script>"].concat(), "png", &["html"]);
        check(b"GIF89a/*\0\0\0\0\0\x2c\0\0*/=1;alert(1)", "gif", &["javascript"]);
        check(b"GIF89a\x01\0\x01\0\0\0\0\x21\xfe\x12<?php phpinfo();?>\0\x3b", "gif", &["php"]);
    }

    #[test]
    fn what_stands_before_an_archive() {
        check(&[b"#!/bin/sh\nexit 0\n", ZIP].concat(), "shell", &["zip"]);
        check(&[b"<html><script>1</script></html>", ZIP].concat(), "html", &["zip"]);
        check(&[b"just words\n", ZIP].concat(), "zip", &[]);
        assert_eq!(sniff(&[b"just words\n", ZIP].concat()).prefix, 11);
    }

    #[test]
    fn two_languages() {
        check(b"#!/bin/sh\n''':'\nexec python3 \"$0\"\n'''\nprint(1)\n", "shell", &["python"]);
        check(b"<svg xmlns=\"x\"><foreignObject><body>x</body></foreignObject></svg>", "svg", &["html"]);
    }
}
