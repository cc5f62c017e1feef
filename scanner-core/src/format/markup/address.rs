//! What an address in markup does when it is followed, as a browser reads it (WHATWG URL 4.4): blanks and controls around
//! it are dropped, tabs and line ends inside of it too.

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Address {
    /// Within the document or beside it, or nowhere.
    Here,
    /// It is script: `javascript:`, `vbscript:`.
    Script,
    /// It is a document of its own that may hold script: `data:text/html`.
    ActiveData,
    /// It carries its content.
    Data,
    /// Another machine, or a file of this one.
    Elsewhere,
    /// Starts a program of the reader's machine: `ms-msdt:`, `search-ms:`.
    Program,
    /// Mail, telephone, or a scheme that nobody acts upon by itself.
    Other,
}

/// Bytes that are looked at: schemes are short.
const LOOKED_AT: usize = 96;

/// Schemes that hand over to programs which were taught to run what the address says.
const PROGRAMS: [&[u8]; 19] = [
    b"ms-msdt:",
    b"search-ms:",
    b"search:",
    b"ms-officecmd:",
    b"ms-appinstaller:",
    b"ms-word:",
    b"ms-excel:",
    b"ms-powerpoint:",
    b"ms-publisher:",
    b"ms-access:",
    b"ms-visio:",
    b"ms-cxh-full:",
    b"ms-settings:",
    b"shell:",
    b"hcp:",
    b"mhtml:",
    b"ms-its:",
    b"its:",
    b"mk:@msitstore:",
];

impl Address {
    /// The kind of an address whose character references are undone.
    pub(in crate::format) fn of(value: &[u8]) -> Self {
        let head = normalised(value);
        let head = head.strip_prefix(b"view-source:").unwrap_or(&head);
        let head = head.strip_prefix(b"feed:").filter(|rest| rest.contains(&b':')).unwrap_or(head);
        let begins = |words: &[&[u8]]| words.iter().any(|word| head.starts_with(word));
        if begins(&[b"javascript:", b"vbscript:", b"livescript:", b"mocha:", b"jscript:"]) {
            Self::Script
        } else if let Some(kind) = head.strip_prefix(b"data:") {
            let active = [&b"text/html"[..], b"text/xml", b"application/x", b"application/xml", b"image/svg", b"text/xsl",
                b"application/javascript", b"text/javascript", b"application/ecmascript", b"text/ecmascript"];
            // application/x… is xhtml and xml alike, but not a zip.
            let is_active = active.iter().any(|word| kind.starts_with(word))
                && (!kind.starts_with(b"application/x") || kind.starts_with(b"application/xml") || kind.starts_with(b"application/xhtml"));
            if is_active { Self::ActiveData } else { Self::Data }
        } else if begins(&PROGRAMS) {
            Self::Program
        } else if begins(&[
            b"http:", b"https:", b"ftp:", b"ftps:", b"file:", b"ws:", b"wss:", b"smb:", b"gopher:", b"ldap:", b"ldaps:", b"dav:", b"jar:", b"//", b"\\\\", b"/\\", b"\\/",
        ]) {
            Self::Elsewhere
        } else if scheme(head).is_some_and(|name| name.len() > 1) {
            Self::Other
        } else {
            Self::Here
        }
    }

    /// Whether following it runs script.
    pub(in crate::format) const fn runs(self) -> bool {
        matches!(self, Self::Script | Self::ActiveData)
    }
}

/// The beginning without what browsers drop, in lower case.
fn normalised(value: &[u8]) -> Vec<u8> {
    let start = value.iter().position(|byte| *byte > b' ' && *byte != 0x7f).unwrap_or(value.len());
    let value = value.get(start..).unwrap_or_default();
    // A no-break space or a mark without width in front is dropped by some.
    let value = [&b"\xc2\xa0"[..], b"\xe2\x80\x8b", b"\xef\xbb\xbf"]
        .iter()
        .find_map(|blank| value.strip_prefix(*blank))
        .unwrap_or(value);
    let dropped = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0);
    value.iter().filter(|byte| !dropped(byte)).take(LOOKED_AT).map(u8::to_ascii_lowercase).collect()
}

/// The name before the colon, where it is one.
fn scheme(head: &[u8]) -> Option<&[u8]> {
    let end = head.iter().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-' | b'.'))?;
    let name = head.get(..end)?;
    (head.get(end) == Some(&b':') && name.first()?.is_ascii_alphabetic()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind() {
        for (value, kind) in [
            ("", Address::Here),
            ("#a", Address::Here),
            ("a/b.png", Address::Here),
            ("C:\\a", Address::Here),
            ("\u{1}java\nscript:alert(1)", Address::Script),
            (" JaVaScRiPt:alert(1)", Address::Script),
            ("view-source:javascript:1", Address::Script),
            ("\u{a0}javascript:1", Address::Script),
            ("data:text/html,<script>", Address::ActiveData),
            ("data:image/svg+xml;base64,AA", Address::ActiveData),
            ("data:application/zip;base64,AA", Address::Data),
            ("data:application/x-zip;base64,AA", Address::Data),
            ("data:image/png;base64,AA", Address::Data),
            ("//host/a", Address::Elsewhere),
            ("\\\\host\\a", Address::Elsewhere),
            ("HTTPS://host", Address::Elsewhere),
            ("file:///etc/passwd", Address::Elsewhere),
            ("ms-msdt:/id", Address::Program),
            ("mailto:a@b.example", Address::Other),
            ("a: b", Address::Here),
        ] {
            assert_eq!(Address::of(value.as_bytes()), kind, "{value}");
        }
    }
}
