//! Header fields of a part (RFC 2045, 2047, 2183, 2231): what it is, how it is packed, what it is called.

use memchr::{memchr, memmem};

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    None,
    Base64,
    Quoted,
    Uuencode,
}

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Bytes of the header with the blank line that ends it.
    pub(super) length: usize,
    /// Media type in lower case.
    pub(super) kind: String,
    pub(super) charset: String,
    pub(super) boundary: Option<Vec<u8>>,
    pub(super) name: Option<String>,
    pub(super) is_attached: bool,
    pub(super) transfer: Transfer,
}

/// Longest field whose parameters are read.
const LONGEST: usize = 16 * 1024;
/// Header bytes looked at.
const HEADER: usize = 256 * 1024;

impl Header {
    pub(super) fn read(part: &[u8], is_digest: bool) -> Self {
        let length = end(part.get(..HEADER).unwrap_or(part));
        let kind = if is_digest { "message/rfc822" } else { "text/plain" };
        let mut header = Self {
            length,
            kind: kind.to_owned(),
            charset: String::new(),
            boundary: None,
            name: None,
            is_attached: false,
            transfer: Transfer::None,
        };
        let text = part.get(..length).unwrap_or_default();
        let mut fields: Vec<(&[u8], Vec<u8>)> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if matches!(line.first(), Some(b' ' | b'\t')) {
                if let Some((_, value)) = fields.last_mut().filter(|(_, value)| value.len() < LONGEST) {
                    value.push(b' ');
                    value.extend_from_slice(line.trim_ascii());
                }
            } else if let Some(colon) = memchr(b':', line) {
                let (name, value) = line.split_at(colon);
                fields.push((name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii().to_vec()));
            }
        }
        let is = |name: &[u8], known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        for (name, value) in &fields {
            let value = value.get(..LONGEST).unwrap_or(value);
            if is(name, "content-type") {
                let kind = value.split(|byte| *byte == b';').next().unwrap_or_default();
                header.kind = String::from_utf8_lossy(kind.trim_ascii()).to_ascii_lowercase();
                header.boundary = parameter(value, "boundary").filter(|boundary| !boundary.is_empty() && boundary.len() <= 1024);
                header.charset = parameter(value, "charset").map(|charset| lossy(&charset)).unwrap_or_default();
                header.name = parameter(value, "name").map(|name| named(&name)).or(header.name);
            } else if is(name, "content-disposition") {
                header.is_attached = value.trim_ascii_start().get(..10).is_some_and(|word| word.eq_ignore_ascii_case(b"attachment"));
                header.name = parameter(value, "filename").map(|name| named(&name)).or(header.name);
            } else if is(name, "content-transfer-encoding") {
                let value = value.to_ascii_lowercase();
                header.transfer = if value.starts_with(b"base64") {
                    Transfer::Base64
                } else if value.starts_with(b"quoted-printable") {
                    Transfer::Quoted
                } else if value.starts_with(b"x-uu") || value.starts_with(b"uu") {
                    Transfer::Uuencode
                } else {
                    Transfer::None
                };
            }
        }
        header
    }
}

/// Where the body begins: behind the first blank line, or at once where no field is.
fn end(part: &[u8]) -> usize {
    let mut at = 0_usize;
    while let Some(rest) = part.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr(b'\n', rest).map_or(rest.len(), |length| length.saturating_add(1));
        let line = rest.get(..length).unwrap_or_default().trim_ascii_end();
        let next = at.saturating_add(length);
        if line.is_empty() {
            return next;
        }
        let is_folded = matches!(line.first(), Some(b' ' | b'\t')) && at > 0;
        let is_field = memchr(b':', line).is_some_and(|colon| {
            line.get(..colon).is_some_and(|name| !name.is_empty() && name.trim_ascii_end().iter().all(u8::is_ascii_graphic))
        });
        if !is_folded && !is_field && !line.starts_with(b"From ") && !line.starts_with(b">From ") {
            return at;
        }
        at = next;
    }
    part.len()
}

/// The value of a parameter, put together from its continuations (RFC 2231), percent signs undone.
fn parameter(field: &[u8], wanted: &str) -> Option<Vec<u8>> {
    let mut whole: Option<Vec<u8>> = None;
    let mut rest = field;
    while let Some(semicolon) = separator(rest) {
        rest = rest.get(semicolon.saturating_add(1)..).unwrap_or_default();
        let equals = memchr(b'=', rest)?;
        let name = rest.get(..equals).unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let value = rest.get(equals.saturating_add(1)..).unwrap_or_default().trim_ascii_start();
        let Some(suffix) = name.strip_prefix(wanted.as_bytes()) else { continue };
        let is_own = suffix.is_empty() || suffix.starts_with(b"*");
        if !is_own {
            continue;
        }
        let mut value = unquoted(value);
        if suffix.ends_with(b"*") {
            // The first piece names a character set and a language.
            if suffix == b"*" || suffix == b"*0*" {
                let marks: Vec<usize> = memchr::memchr_iter(b'\'', &value).take(2).collect();
                if let [_, last] = marks.as_slice() {
                    value = value.get(last.saturating_add(1)..).unwrap_or_default().to_vec();
                }
            }
            value = percent(&value);
        }
        let known = whole.get_or_insert_default();
        if known.len() < LONGEST {
            known.extend_from_slice(&value);
        }
    }
    whole
}

/// The next semicolon outside of quotes.
fn separator(text: &[u8]) -> Option<usize> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.iter().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            b';' => return !is_quoted,
            _ => {}
        }
        false
    })
}

fn unquoted(value: &[u8]) -> Vec<u8> {
    let Some(inside) = value.strip_prefix(b"\"") else {
        let end = value.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t')).unwrap_or(value.len());
        return value.get(..end).unwrap_or_default().to_vec();
    };
    let mut out = Vec::new();
    let mut bytes = inside.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => out.extend(bytes.next()),
            byte => out.push(*byte),
        }
    }
    out
}

/// `%41` and, where `equals` is the mark, `=41`.
fn coded(text: &[u8], mark: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (*byte == mark, digit(0), digit(1)) {
            (true, Some(high), Some(low)) => {
                out.push(u8::try_from(high.saturating_mul(16).saturating_add(low)).unwrap_or(b'?'));
                rest = after.get(2..).unwrap_or_default();
            }
            _ => out.push(*byte),
        }
    }
    out
}

fn percent(text: &[u8]) -> Vec<u8> {
    coded(text, b'%')
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A name, with its encoded words undone.
fn named(name: &[u8]) -> String {
    let words = encoded_words(name);
    if words.is_empty() { lossy(name) } else { lossy(&words) }
}

/// What the encoded words of a text say (RFC 2047), one after the other; nothing where there are none.
pub(super) fn encoded_words(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0_usize;
    while let Some(found) = text.get(at..).and_then(|rest| memmem::find(rest, b"=?")) {
        let start = at.saturating_add(found).saturating_add(2);
        at = start;
        let window = text.get(start..).unwrap_or_default();
        let window = window.get(..1024).unwrap_or(window);
        let Some(end) = memmem::find(window, b"?=").filter(|end| *end > 0) else { continue };
        // `?Q?=41?=`: the mark before the last is part of the text.
        let mut parts = window.splitn(3, |byte| *byte == b'?');
        let (Some(_), Some(kind), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let Some(stop) = memmem::find(rest, b"?=") else { continue };
        let body = rest.get(..stop).unwrap_or_default();
        let piece = match kind {
            b"b" | b"B" => Transfer::Base64.undo(body),
            b"q" | b"Q" => coded(&body.iter().map(|byte| if *byte == b'_' { b' ' } else { *byte }).collect::<Vec<u8>>(), b'='),
            _ => continue,
        };
        out.extend_from_slice(&piece);
        at = start.saturating_add(end.max(window.len().saturating_sub(rest.len()).saturating_add(stop)));
    }
    out
}

impl Transfer {
    /// The name of the layer that is undone.
    pub(super) const fn layer(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Base64 => Some("base64"),
            Self::Quoted => Some("quoted-printable"),
            Self::Uuencode => Some("uuencode"),
        }
    }

    /// The body undone, as far as it goes: what is no digit is skipped, as mail programs do. Never longer than it was.
    pub(super) fn undo(self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::None => body.to_vec(),
            Self::Base64 => base64(body),
            Self::Quoted => quoted(body),
            Self::Uuencode => uuencoded(body),
        }
    }
}

fn base64(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len().div_euclid(4).saturating_mul(3));
    let (mut held, mut bits) = (0_u32, 0_u32);
    for byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                // Padding ends a run; some senders join several.
                (held, bits) = (0, 0);
                continue;
            }
            _ => continue,
        };
        held = held << 6 | u32::from(value);
        bits = bits.saturating_add(6);
        if bits >= 8 {
            bits = bits.saturating_sub(8);
            out.push(u8::try_from(held.checked_shr(bits).unwrap_or(0) & 0xff).unwrap_or(0));
            held &= 0xff;
        }
    }
    out
}

fn quoted(body: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(body.len());
    let mut rest = body;
    // A mark at the end of a line joins it with the next.
    while let Some(at) = memchr(b'=', rest) {
        joined.extend_from_slice(rest.get(..at).unwrap_or_default());
        let behind = rest.get(at.saturating_add(1)..).unwrap_or_default();
        let blanks = behind.iter().take(80).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        if behind.get(blanks) == Some(&b'\n') {
            rest = behind.get(blanks.saturating_add(1)..).unwrap_or_default();
        } else {
            joined.push(b'=');
            rest = behind;
        }
    }
    joined.extend_from_slice(rest);
    coded(&joined, b'=')
}

fn uuencoded(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if line.starts_with(b"begin ") || line.starts_with(b"end") {
            continue;
        }
        let value = |byte: u8| byte.wrapping_sub(32) & 0x3f;
        let Some((length, digits)) = line.split_first() else { continue };
        let wanted = usize::from(value(*length));
        let before = out.len();
        for group in digits.chunks(4) {
            let digit = |at: usize| group.get(at).map_or(0, |byte| u32::from(value(*byte)));
            let all = digit(0) << 18 | digit(1) << 12 | digit(2) << 6 | digit(3);
            out.extend_from_slice(all.to_be_bytes().get(1..).unwrap_or_default());
        }
        out.truncate(before.saturating_add(wanted).min(out.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_every_spelling() {
        let field = b"attachment; x=\"a;b\"; FileName*0=\"in\"; filename*1*=%76oice.pdf";
        assert_eq!(parameter(field, "filename").unwrap(), b"invoice.pdf");
        assert_eq!(parameter(b"a; filename*=UTF-8''%e2%82%ac.exe", "filename").unwrap(), "€.exe".as_bytes());
        assert_eq!(parameter(b"a; boundary=b; name = \"c\\\"d\"", "name").unwrap(), b"c\"d");
        assert_eq!(named(b"=?utf-8?B?YS5leGU=?="), "a.exe");
        assert_eq!(named(b"=?utf-8?Q?a=5fb_c?="), "a_b c");
    }

    #[test]
    fn transfers_are_undone() {
        assert_eq!(Transfer::Base64.undo(b"aGVs\r\nbG8="), b"hello");
        assert_eq!(Transfer::Quoted.undo(b"a=3Db =\r\nc=E2=82=AC=x"), "a=b c€=x".as_bytes());
        assert_eq!(Transfer::Uuencode.undo(b"begin 644 a\n%:&5L;&\\\n`\nend\n"), b"hello");
    }
}
