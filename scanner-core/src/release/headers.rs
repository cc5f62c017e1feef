//! How bytes are served: a name that is none of an attacker's, a media type from a fixed table, and headers that keep a
//! browser from doing more than showing or saving.

use crate::{
    format::path::is_device,
    policy::Audience,
    sniff::{Risk, Type},
};

/// Longest file name handed on, in bytes: what file systems take (255), less what a browser adds to tell two apart.
const NAME_BYTES: usize = 200;

/// Types that a browser may show in place: pictures it decodes itself, and text. All others are saved.
const INLINE: [&str; 8] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "text/plain", "text/csv"];

/// Types that a page may show in place although they are markup: only cleaned, and only in a sandbox.
const SANDBOXED: [&str; 2] = ["image/svg+xml", "text/html"];

/// In which version an artifact is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Served {
    /// As it came.
    Original,
    /// Cleaned: nothing in it acts.
    Cleaned,
    /// As it came, and a policy wants what acts in it to act, in a sandbox that reaches nothing.
    Sandboxed,
}

/// The headers to serve an artifact with: `(name, value)`, each value printable ASCII.
///
/// The media type is that of the bytes, never the declared one. Content is opened in a sandbox without an origin of its
/// own (`Content-Security-Policy: sandbox`, CSP3 §6.4), loads nothing, is not sniffed (`nosniff`, Fetch §3.6), is not
/// read from other sites (`Cross-Origin-Resource-Policy`) and tells nobody where it came from (`Referrer-Policy`).
/// Shown in place is only what is on a short list, and markup only when it was cleaned or a policy wants it sandboxed.
///
/// ```
/// use scanner_core::{Audience, Served, serving_headers, type_of};
/// let html = type_of("html").unwrap();
/// let headers = serving_headers(html, Some("../../naïve.html"), &Audience::DOWNLOAD, Served::Original);
/// let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap();
/// assert_eq!(value("Content-Type"), "text/html; charset=utf-8");
/// assert_eq!(value("Content-Disposition"), "attachment; filename=\"na_ve.html\"; filename*=UTF-8''na%C3%AFve.html");
/// assert!(value("Content-Security-Policy").starts_with("sandbox;"));
/// ```
pub fn serving_headers(kind: &Type, name: Option<&str>, audience: &Audience, served: Served) -> Vec<(String, String)> {
    let name = safe_name(name, kind);
    let is_shown = *audience != Audience::DOWNLOAD;
    let is_inline = is_shown
        && (INLINE.contains(&kind.mime)
            || served != Served::Original && SANDBOXED.contains(&kind.mime)
            || kind.is_text && kind.risk == Risk::Inert);
    let media_type = match kind.mime {
        // Text that a browser has no other use for is plain text; what it does not know it saves.
        mime if SANDBOXED.contains(&mime) => format!("{mime}; charset=utf-8"),
        mime if kind.is_text && is_inline && !INLINE.contains(&mime) => "text/plain; charset=utf-8".to_owned(),
        mime if kind.is_text => format!("{mime}; charset=utf-8"),
        "" => "application/octet-stream".to_owned(),
        _ if matches!(kind.risk, Risk::Executable | Risk::Unknown) => "application/octet-stream".to_owned(),
        mime => mime.to_owned(),
    };
    let csp = match served {
        // A report of a plotting library draws itself: its own scripts run, in an origin of their own, and reach nothing.
        Served::Sandboxed if is_inline => {
            "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' data: blob:; \
             style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:; form-action 'none'; \
             base-uri 'none'"
        }
        _ if SANDBOXED.contains(&kind.mime) => {
            "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
        }
        _ => "sandbox; default-src 'none'",
    };
    let disposition = if is_inline { "inline" } else { "attachment" };
    [
        ("Content-Type", media_type),
        ("Content-Disposition", format!("{disposition}; {}", named(&name))),
        ("X-Content-Type-Options", "nosniff".to_owned()),
        ("Content-Security-Policy", csp.to_owned()),
        ("Cross-Origin-Resource-Policy", "same-origin".to_owned()),
        ("Cross-Origin-Opener-Policy", "same-origin".to_owned()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("Cache-Control", "no-store".to_owned()),
    ]
    .map(|(header, value)| (header.to_owned(), value))
    .into()
}

/// The parameters `filename` (RFC 6266 §4.3, ASCII) and `filename*` (RFC 8187 §3.2, UTF-8).
fn named(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| {
            if character.is_ascii_graphic() && !"\"\\%".contains(character) || character == ' ' {
                character
            } else {
                '_'
            }
        })
        .collect();
    if plain == name {
        return format!("filename=\"{plain}\"");
    }
    let mut encoded = String::new();
    for byte in name.bytes() {
        // attr-char of RFC 8187 §3.2.1.
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

/// A name that is fit to be saved under: the last part of a path, without control or invisible characters, without
/// direction marks, never a device, never hidden, never empty, at most 200 bytes, and with an extension of its type.
///
/// ```
/// use scanner_core::{safe_name, type_of};
/// let png = type_of("png").unwrap();
/// assert_eq!(safe_name(Some("charts/Q3.png"), png), "Q3.png");
/// assert_eq!(safe_name(Some("..\\..\\con"), png), "_con.png");
/// assert_eq!(safe_name(Some("invoice\u{202e}gnp.exe"), png), "invoicegnp.exe.png");
/// assert_eq!(safe_name(None, png), "file.png");
/// ```
pub fn safe_name(name: Option<&str>, kind: &Type) -> String {
    let last = name.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
    let mut clean: String = last
        .chars()
        .filter(|character| {
            !character.is_control() && !crate::text::is_invisible(*character) && *character != '\u{feff}'
        })
        .map(|character| {
            if matches!(character, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\u{2028}' | '\u{2029}') {
                '_'
            } else {
                character
            }
        })
        .collect();
    clean = clean.trim_matches(|character: char| character == '.' || character.is_whitespace()).to_owned();
    if is_device(clean.as_bytes()) {
        clean.insert(0, '_');
    }
    if clean.is_empty() {
        return plain_name(kind);
    }
    let extension = clean.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    let fits = kind.extensions.is_empty() || extension.is_some_and(|own| kind.extensions.contains(&own.as_str()));
    let ending =
        if fits { String::new() } else { kind.extensions.first().map(|own| format!(".{own}")).unwrap_or_default() };
    let room = NAME_BYTES.saturating_sub(ending.len());
    if clean.len() > room {
        // The end says what it is: it stays.
        let tail = clean
            .rsplit_once('.')
            .map(|(_, tail)| format!(".{tail}"))
            .filter(|tail| tail.len() < 20)
            .unwrap_or_default();
        let cut = clean.floor_char_boundary(room.saturating_sub(tail.len()));
        clean.truncate(cut);
        clean.push_str(&tail);
    }
    clean + &ending
}

/// The name of a file whose own cannot be used.
pub(super) fn plain_name(kind: &Type) -> String {
    match kind.extensions.first() {
        Some(extension) => format!("file.{extension}"),
        None => "file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sniff::type_of;
    use proptest::prelude::*;

    fn value<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap()
    }

    #[test]
    fn only_what_is_on_the_list_is_shown_in_place() {
        for (label, audience, served, shown) in [
            ("png", Audience::PAGE, Served::Original, true),
            ("png", Audience::DOWNLOAD, Served::Original, false),
            ("svg", Audience::PAGE, Served::Original, false),
            ("svg", Audience::PAGE, Served::Cleaned, true),
            ("html", Audience::DOWNLOAD, Served::Cleaned, false),
            ("pdf", Audience::PAGE, Served::Cleaned, false),
            ("elf", Audience::PAGE, Served::Original, false),
        ] {
            let headers = serving_headers(type_of(label).unwrap(), Some("a"), &audience, served);
            assert_eq!(value(&headers, "Content-Disposition").starts_with("inline;"), shown, "{label} {audience}");
            assert!(value(&headers, "Content-Security-Policy").starts_with("sandbox; default-src 'none'"));
            assert!(!value(&headers, "Content-Security-Policy").contains("allow-"));
        }
    }

    #[test]
    fn the_media_type_is_that_of_the_bytes_as_far_as_a_browser_may_know_it() {
        const ALONE: &str = "sandbox; default-src 'none'";
        const MARKUP: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";
        for (label, audience, served, mime, policy) in [
            ("png", Audience::PAGE, Served::Original, "image/png", ALONE),
            ("zip", Audience::PAGE, Served::Original, "application/zip", ALONE),
            ("csv", Audience::PAGE, Served::Original, "text/csv; charset=utf-8", ALONE),
            ("csv", Audience::DOWNLOAD, Served::Original, "text/csv; charset=utf-8", ALONE),
            // Shown in place it is letters; saved it is what it is.
            ("json", Audience::PAGE, Served::Original, "text/plain; charset=utf-8", ALONE),
            ("json", Audience::DOWNLOAD, Served::Original, "application/json; charset=utf-8", ALONE),
            ("json", Audience::PAGE, Served::Sandboxed, "text/plain; charset=utf-8", "sandbox allow-scripts"),
            ("html", Audience::PAGE, Served::Original, "text/html; charset=utf-8", MARKUP),
            ("html", Audience::PAGE, Served::Cleaned, "text/html; charset=utf-8", MARKUP),
            ("svg", Audience::DOWNLOAD, Served::Cleaned, "image/svg+xml; charset=utf-8", MARKUP),
            ("elf", Audience::DOWNLOAD, Served::Original, "application/octet-stream", ALONE),
            ("unknown", Audience::PAGE, Served::Original, "application/octet-stream", ALONE),
            ("python", Audience::PAGE, Served::Original, "text/x-python; charset=utf-8", ALONE),
        ] {
            let headers = serving_headers(type_of(label).unwrap(), None, &audience, served);
            assert_eq!(value(&headers, "Content-Type"), mime, "{label} {audience} {served:?}");
            let given = value(&headers, "Content-Security-Policy");
            let is_that = if served == Served::Sandboxed { given.starts_with(policy) } else { given == policy };
            assert!(is_that, "{label} {audience} {served:?}: {given}");
        }
    }

    #[test]
    fn a_name_is_quoted_and_told_in_full() {
        for (name, parameters) in [
            ("a b-1.png", "filename=\"a b-1.png\""),
            ("a\"b%\\.x", "filename=\"a_b__.x\"; filename*=UTF-8''a%22b%25%5C.x"),
            ("\u{e9} ~'(", "filename=\"_ ~'(\"; filename*=UTF-8''%C3%A9%20~%27%28"),
        ] {
            assert_eq!(named(name), parameters);
        }
    }

    #[test]
    fn a_sandboxed_report_runs_its_scripts_and_reaches_nothing() {
        let headers = serving_headers(type_of("html").unwrap(), Some("plot"), &Audience::PAGE, Served::Sandboxed);
        let policy = value(&headers, "Content-Security-Policy");
        assert!(value(&headers, "Content-Disposition").starts_with("inline;"));
        assert!(policy.starts_with("sandbox allow-scripts; default-src 'none';"));
        assert!(
            !["allow-same-origin", "http", "*", "connect-src"].iter().any(|word| policy.contains(word)),
            "{policy}"
        );
        // Saved, it is a file like any other.
        let saved = serving_headers(type_of("html").unwrap(), Some("plot"), &Audience::DOWNLOAD, Served::Sandboxed);
        assert!(!value(&saved, "Content-Security-Policy").contains("allow-"));
    }

    #[test]
    fn names_are_names() {
        let zip = type_of("zip").unwrap();
        for (name, safe) in [
            ("a.zip", "a.zip"),
            ("/etc/passwd", "passwd.zip"),
            ("C:\\x\\NUL.zip", "_NUL.zip"),
            ("com¹.zip", "_com¹.zip"),
            (".bashrc", "bashrc.zip"),
            ("a\r\nSet-Cookie: x.zip", "aSet-Cookie_ x.zip"),
            ("...", "file.zip"),
            ("a.zip/", "file.zip"),
            ("report.zip. . .", "report.zip"),
        ] {
            assert_eq!(safe_name(Some(name), zip), safe, "{name:?}");
        }
    }

    #[test]
    fn a_name_is_so_long_and_no_longer() {
        let png = type_of("png").unwrap();
        let name = |bytes: usize| format!("{}.png", "a".repeat(bytes - 4));
        assert_eq!(safe_name(Some(&name(NAME_BYTES)), png), name(NAME_BYTES));
        assert_eq!(safe_name(Some(&name(NAME_BYTES + 1)), png), name(NAME_BYTES));
        // An ending that is an extension stays; a longer one is a word like any other.
        let zip = type_of("zip").unwrap();
        let ending = |letters: usize| format!(".{}", "e".repeat(letters));
        let long = "a".repeat(NAME_BYTES);
        assert!(safe_name(Some(&format!("{long}{}", ending(18))), zip).ends_with(&format!("a{}.zip", ending(18))));
        assert!(safe_name(Some(&format!("{long}{}", ending(19))), zip).ends_with("aa.zip"));
    }

    proptest! {
        #[test]
        fn whatever_the_name_headers_are_one_printable_line(name in any::<String>(), audience in 0usize..4) {
            let kind = type_of("svg").unwrap();
            let safe = safe_name(Some(&name), kind);
            prop_assert!(!safe.is_empty() && safe.len() <= NAME_BYTES && !safe.contains(['/', '\\']) && !safe.starts_with('.'));
            prop_assert_eq!(safe_name(Some(&safe), kind), safe.clone());
            for (name, value) in serving_headers(kind, Some(&name), &Audience::BUILT_IN[audience], Served::Cleaned) {
                prop_assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{}: {:?}", name, value);
            }
        }
    }
}
