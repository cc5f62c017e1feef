//! What attributes are for: which are loaded, run, followed or sent to.

use memchr::memmem;

use super::element::{Element, is_handler};

/// What following an attribute's address does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is loaded and shown.
    Load,
    /// It is loaded as a part that may run script.
    Part,
    /// It is loaded as a page in the page.
    Frame,
    /// It is loaded for another program.
    Object,
    /// It is loaded and run.
    Script,
    /// It is followed when somebody chooses to.
    Link,
    /// Input goes there.
    Submit,
    /// What every other address is relative to.
    Base,
    /// It may become an address.
    Maybe,
}

/// Encodings in which letters are shifted to other meanings.
pub(in crate::format) fn is_shifting(charset: &[u8]) -> bool {
    let charset = charset.trim_ascii();
    let charset = charset.strip_prefix(b"\"").or_else(|| charset.strip_prefix(b"'")).unwrap_or(charset);
    [&b"utf-7"[..], b"utf7", b"unicode-1-1-utf-7", b"csunicode11utf7", b"iso-2022", b"csiso2022", b"hz-gb", b"utf-32"]
        .iter()
        .any(|name| charset.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)))
}

/// Whether a script element is run, and not a block of data for others.
pub(in crate::format) fn is_run(element: &Element<'_>) -> bool {
    let kind = element.value(b"type").unwrap_or_default().trim_ascii().to_ascii_lowercase();
    let has = |word: &str| memmem::find(&kind, word.as_bytes()).is_some();
    kind.is_empty()
        || matches!(&*kind, b"module" | b"importmap" | b"importmap-shim" | b"module-shim" | b"speculationrules")
        || ["javascript", "ecmascript", "jscript", "vbscript", "babel", "jsx", "livescript"]
            .iter()
            .any(|word| has(word))
}

/// `src=x/onerror=…`: one value to a browser, an attribute more to some other programs.
pub(super) fn has_slashed_handler(value: &[u8]) -> bool {
    memmem::find_iter(value, b"/on").any(|at| {
        let name = value.get(at.saturating_add(1)..).unwrap_or_default();
        let length = name.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic()).count();
        name.get(length) == Some(&b'=') && is_handler(&name.get(..length).unwrap_or_default().to_ascii_lowercase())
    })
}

/// What an attribute of that element is for, if it holds an address.
pub(super) fn purpose(element: &Element<'_>, name: &[u8]) -> Option<Purpose> {
    let is = |names: &[&[u8]]| element.is(names);
    Some(match name {
        b"src" if is(&[b"script"]) => Purpose::Script,
        b"src" if is(&[b"iframe", b"frame", b"portal", b"fencedframe"]) => Purpose::Frame,
        b"src" if is(&[b"embed", b"xml", b"layer", b"ilayer"]) => Purpose::Object,
        b"src" if is(&[b"img", b"image", b"video", b"audio", b"source", b"track", b"input", b"bgsound"]) => {
            Purpose::Load
        }
        b"srcset" | b"imagesrcset" | b"poster" | b"background" | b"lowsrc" | b"dynsrc" => Purpose::Load,
        b"manifest" if is(&[b"html"]) => Purpose::Load,
        b"data" if is(&[b"object"]) => Purpose::Object,
        b"code" | b"archive" | b"classid" | b"codebase" if is(&[b"applet", b"object", b"embed"]) => Purpose::Object,
        b"href" if is(&[b"a", b"area"]) => Purpose::Link,
        b"href" if is(&[b"base"]) => Purpose::Base,
        b"href" if is(&[b"script"]) => Purpose::Script,
        b"href" if is(&[b"link"]) => relation(element),
        b"href" if is(&[b"image", b"feimage"]) => Purpose::Load,
        b"href"
            if is(&[
                b"use",
                b"pattern",
                b"lineargradient",
                b"radialgradient",
                b"filter",
                b"tref",
                b"textpath",
                b"mpath",
                b"cursor",
                b"color-profile",
                b"font-face-uri",
                b"glyphref",
                b"altglyph",
                b"set",
                b"animate",
                b"animatemotion",
            ]) =>
        {
            Purpose::Part
        }
        b"action" if is(&[b"form", b"isindex"]) => Purpose::Submit,
        b"formaction" => Purpose::Submit,
        b"ping" => Purpose::Link,
        _ if matches!(
            name,
            b"src"
                | b"href"
                | b"action"
                | b"data"
                | b"to"
                | b"from"
                | b"by"
                | b"values"
                | b"folder"
                | b"value"
                | b"url"
        ) =>
        {
            Purpose::Maybe
        }
        _ => return None,
    })
}

/// A link element: what its relation makes a browser do.
fn relation(element: &Element<'_>) -> Purpose {
    const LOADED: [&[u8]; 15] = [
        b"stylesheet",
        b"preload",
        b"prefetch",
        b"modulepreload",
        b"icon",
        b"apple-touch-icon",
        b"mask-icon",
        b"manifest",
        b"dns-prefetch",
        b"preconnect",
        b"prerender",
        b"subresource",
        b"import",
        b"fluid-icon",
        b"apple-touch-startup-image",
    ];
    let relation = element.value(b"rel").unwrap_or_default().to_ascii_lowercase();
    let mut words = relation.split(u8::is_ascii_whitespace);
    match words.find(|word| LOADED.contains(word)) {
        Some(b"import") => Purpose::Script,
        Some(_) => Purpose::Part,
        None => Purpose::Link,
    }
}
