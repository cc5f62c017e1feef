//! Addresses that may stay in what is cleaned: links that a reader follows, parts of the document, and pictures that an
//! address carries in itself.

use bytes::Bytes;

use super::address::Address;
use crate::{
    envelope::encoded,
    format::cleaning::{Cleaning, Part, Uncleanable},
    limits::{Budget, Resource},
    reader::count,
};

/// Media types of pictures that may be carried, and the name each is looked at under.
const PICTURES: [(&str, &str); 7] = [
    ("image/png", "picture.png"),
    ("image/jpeg", "picture.jpg"),
    ("image/gif", "picture.gif"),
    ("image/webp", "picture.webp"),
    ("image/bmp", "picture.bmp"),
    // Drawn as a picture it runs no script (SVG Integration, "secure static mode"), and it is cleaned like any file.
    ("image/svg+xml", "picture.svg"),
    ("image/x-icon", "picture.ico"),
];

/// The address of a link that may stay: of the web, of mail, or beside the page. Everything else, and everything that
/// two programs would read as two addresses, is none.
pub(in crate::format) fn link(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let is_clear = value.iter().all(|byte| *byte >= b' ' && !matches!(byte, 0x7f | b'\\' | b'<' | b'>' | b'"' | b'`'));
    let end = value.iter().position(|byte| matches!(byte, b':' | b'/' | b'?' | b'#'));
    let scheme = end.filter(|end| value.get(*end) == Some(&b':')).and_then(|end| value.get(..end));
    let is_known = match scheme {
        Some(scheme) => [&b"http"[..], b"https", b"mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)),
        // Letters of other scripts before a colon have been blanks to some programs.
        None => value.first().is_some_and(|byte| byte.is_ascii_graphic()) && !value.starts_with(b"//"),
    };
    let is_followed = matches!(Address::of(value), Address::Here | Address::Elsewhere | Address::Other);
    (is_clear && is_known && is_followed).then_some(value)
}

/// The name of a part of the same document.
pub(super) fn part(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let name = value.strip_prefix(b"#")?;
    name.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\' || *byte >= 0x80).then_some(value)
}

/// The picture an address carries, as it may stay.
pub(in crate::format) fn picture(
    value: &[u8],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Uncleanable> {
    let Some(carried) = encoded::data_url(value, budget)? else { return Ok(None) };
    let declared = carried.declared.unwrap_or_default().to_ascii_lowercase();
    let declared = if declared == "image/jpg" { "image/jpeg" } else { &declared };
    let Some((kind, name)) = PICTURES.iter().find(|(kind, _)| *kind == declared) else { return Ok(None) };
    let kept = match cleaning.part(&carried.bytes, Some(name), budget)? {
        Part::Keep => carried.bytes,
        Part::Changed(bytes) => bytes,
        Part::Gone(_) => return Ok(None),
    };
    let coded = base64(&kept, budget)?;
    Ok(Some([b"data:", kind.as_bytes(), b";base64,", coded.as_bytes()].concat()))
}

/// Bytes in base64, paid for.
pub(in crate::format) fn base64(bytes: &Bytes, budget: &mut Budget) -> Result<String, Uncleanable> {
    budget.spend(Resource::DecodedBytes, count(bytes.len()).saturating_mul(2))?;
    Ok(data_encoding::BASE64.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_web_and_of_mail_stay() {
        for value in
            ["http://a.example/b?c=d&e#f", " HTTPS://a.example ", "mailto:a@b.example", "#a", "a/b.html", "/a", "?q"]
        {
            assert_eq!(link(value.as_bytes()), Some(value.trim().as_bytes()), "{value}");
        }
        for value in [
            "",
            "//a.example",
            "javascript:1",
            "java\nscript:1",
            "\u{1}javascript:1",
            "JavaScript:1",
            "data:text/html,x",
            "data:image/png;base64,AA",
            "vbscript:1",
            "ms-msdt:/id",
            "file:///etc/passwd",
            "\\\\host\\a",
            "/\\host",
            "\u{a0}javascript:1",
            "view-source:javascript:1",
            "blob:x",
            "http://a\u{0}b",
            "x:y",
            "feed:javascript:1",
        ] {
            assert_eq!(link(value.as_bytes()), None, "{value:?}");
        }
    }

    #[test]
    fn parts_are_of_the_same_document() {
        assert_eq!(part(b" #a "), Some(&b"#a"[..]));
        for value in ["", "a#b", "#a b", "http://x#a"] {
            assert_eq!(part(value.as_bytes()), None, "{value}");
        }
    }
}
