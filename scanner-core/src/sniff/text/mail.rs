//! Mail: header fields (RFC 5322), mailboxes, and web pages saved as mail (RFC 2557).

/// Fields that only mail has, and fields that other texts have too.
const TELLING: &[&str] = &[
    "return-path",
    "received",
    "message-id",
    "mime-version",
    "delivered-to",
    "dkim-signature",
    "x-mailer",
    "reply-to",
    "content-transfer-encoding",
    "in-reply-to",
    "list-unsubscribe",
    "authentication-results",
    "x-received",
    "envelope-to",
    "snapshot-content-location",
    "newsgroups",
    "xref",
    "x-spam-status",
    "arc-seal",
    "user-agent",
    "thread-topic",
];
const COMMON: &[&str] =
    &["from", "to", "cc", "bcc", "subject", "date", "sender", "content-type", "references", "organization"];

/// Header bytes looked at.
const HEADER_BYTES: usize = 8192;

pub(super) fn kind(start: &[u8]) -> Option<&'static str> {
    let start = start.get(..HEADER_BYTES).unwrap_or(start);
    let (is_box, headers) = match start.strip_prefix(b"From ") {
        Some(rest) => (true, rest.get(memchr::memchr(b'\n', rest)?.checked_add(1)?..)?),
        None => (false, start),
    };
    let fields = Fields::read(headers)?;
    if is_box {
        // What `git format-patch` writes is a patch that happens to travel by mail.
        let patch = memchr::memmem::find(headers, b"\ndiff --git ").is_some()
            || memchr::memmem::find(headers, b"\n--- a/").is_some();
        return (fields.telling.saturating_add(fields.common) >= 2).then_some(if patch { "diff" } else { "mbox" });
    }
    let is_mail =
        (fields.telling >= 1 && fields.common >= 1) || fields.telling >= 2 || (fields.common >= 3 && fields.addressed);
    if !is_mail {
        return None;
    }
    Some(if fields.saved_page || (fields.related && !fields.travelled) { "mhtml" } else { "eml" })
}

#[derive(Debug, Default)]
struct Fields {
    telling: u32,
    common: u32,
    addressed: bool,
    saved_page: bool,
    related: bool,
    travelled: bool,
}

impl Fields {
    /// The header up to its empty line; `None` when a line is no field.
    fn read(headers: &[u8]) -> Option<Self> {
        let mut fields = Self::default();
        let mut name = Vec::new();
        for (at, line) in super::lines(headers).enumerate() {
            if line.is_empty() {
                return (at > 0).then_some(fields);
            }
            if matches!(line.first(), Some(b' ' | b'\t')) && at > 0 {
                fields.value(&name, line);
                continue;
            }
            let colon = memchr::memchr(b':', line).filter(|colon| (1..=60).contains(colon))?;
            name = line.get(..colon)?.to_ascii_lowercase();
            if !name.iter().all(|byte| byte.is_ascii_graphic()) {
                return None;
            }
            let is = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
            fields.telling = fields.telling.saturating_add(u32::from(is(TELLING)));
            fields.common = fields.common.saturating_add(u32::from(is(COMMON)));
            fields.value(&name, line.get(colon..)?);
        }
        // Cut inside the header, or a note of header fields only.
        (fields.telling >= 2 || fields.common >= 3).then_some(fields)
    }

    fn value(&mut self, name: &[u8], value: &[u8]) {
        let value = value.to_ascii_lowercase();
        let has = |word: &str| memchr::memmem::find(&value, word.as_bytes()).is_some();
        match name {
            b"from" => {
                self.addressed |= has("@");
                self.saved_page |= has("<saved by");
            }
            b"snapshot-content-location" => self.saved_page = true,
            b"content-type" => self.related |= has("multipart/related"),
            b"to" | b"received" | b"delivered-to" | b"return-path" => {
                self.travelled = true;
                self.addressed |= has("@");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(kind(text.as_bytes()), want, "{text}");
    }

    #[test]
    fn a_colon_is_not_mail() {
        check("Subject: matter expert\nwas hired\n", None);
        check("Note: this is important: do it now.\nReason: none.\n", None);
        check("From here on it is downhill\n", None);
        check("Metadata-Version: 2.1\nName: x\nVersion: 1\n\n", None);
    }

    #[test]
    fn kinds_of_mail() {
        check("Subject: only\nFrom: a@b.c\nTo: d@e.f\nContent-Type: text/html\n\n<html>", Some("eml"));
        check("Return-Path: <a@b.c>\nReceived: from x\n by y\nFrom: a\nSubject: s\n\nb\n", Some("eml"));
        check("From a@b Mon Jan  1 00:00:00 2024\nFrom: a\nSubject: x\n\nb\n", Some("mbox"));
        check(
            "From: <Saved by Blink>\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/related;\n\n",
            Some("mhtml"),
        );
        check(
            "From 04ab Mon Sep 17 00:00:00 2001\nFrom: A\nSubject: [PATCH] x\n\n---\n\ndiff --git a/f b/f\n",
            Some("diff"),
        );
    }
}
