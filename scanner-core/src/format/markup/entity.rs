//! Character references in markup: numbers, and the names that matter (HTML 13.5 has two thousand; these are what text
//! is written with and what addresses are hidden behind).

use std::borrow::Cow;

use memchr::memchr;

/// Sorted by name. The second column stands for what is read in its place.
const NAMES: &[(&str, &str)] = &[
    ("AElig", "Æ"), ("AMP", "&"), ("Aacute", "Á"), ("Agrave", "À"), ("Auml", "Ä"), ("Ccedil", "Ç"), ("Eacute", "É"),
    ("GT", ">"), ("Hat", "^"), ("LT", "<"), ("NewLine", "\n"), ("NoBreak", "\u{2060}"),
    ("NonBreakingSpace", "\u{a0}"), ("Ntilde", "Ñ"), ("Ouml", "Ö"), ("QUOT", "\""), ("Tab", "\t"), ("Uuml", "Ü"),
    ("Vert", "‖"), ("VerticalLine", "|"), ("ZeroWidthSpace", "\u{200b}"), ("aacute", "á"), ("acirc", "â"),
    ("aelig", "æ"), ("agrave", "à"), ("alpha", "α"), ("amp", "&"), ("apos", "'"), ("aring", "å"), ("ast", "*"),
    ("atilde", "ã"), ("auml", "ä"), ("beta", "β"), ("bsol", "\\"), ("bull", "•"), ("ccedil", "ç"), ("cent", "¢"),
    ("colon", ":"), ("comma", ","), ("commat", "@"), ("copy", "©"), ("darr", "↓"), ("deg", "°"), ("delta", "δ"),
    ("divide", "÷"), ("dollar", "$"), ("eacute", "é"), ("ecirc", "ê"), ("egrave", "è"), ("emsp", "\u{2003}"),
    ("ensp", "\u{2002}"), ("equals", "="), ("euml", "ë"), ("euro", "€"), ("excl", "!"), ("frac12", "½"), ("ge", "≥"),
    ("grave", "`"), ("gt", ">"), ("hellip", "…"), ("iacute", "í"), ("icirc", "î"), ("iexcl", "¡"), ("igrave", "ì"),
    ("infin", "∞"), ("iquest", "¿"), ("iuml", "ï"), ("lambda", "λ"), ("laquo", "«"), ("larr", "←"), ("lbrace", "{"),
    ("lbrack", "["), ("lcub", "{"), ("ldquo", "“"), ("le", "≤"), ("lowbar", "_"), ("lpar", "("), ("lrm", "\u{200e}"),
    ("lsqb", "["), ("lsquo", "‘"), ("lt", "<"), ("mdash", "—"), ("micro", "µ"), ("middot", "·"), ("minus", "−"),
    ("mu", "μ"), ("nbsp", "\u{a0}"), ("ndash", "–"), ("ne", "≠"), ("ntilde", "ñ"), ("num", "#"), ("oacute", "ó"),
    ("ocirc", "ô"), ("ograve", "ò"), ("omega", "ω"), ("oslash", "ø"), ("otilde", "õ"), ("ouml", "ö"), ("para", "¶"),
    ("percnt", "%"), ("period", "."), ("pi", "π"), ("plus", "+"), ("plusmn", "±"), ("pound", "£"), ("quest", "?"),
    ("quot", "\""), ("raquo", "»"), ("rarr", "→"), ("rbrace", "}"), ("rbrack", "]"), ("rcub", "}"), ("rdquo", "”"),
    ("reg", "®"), ("rlm", "\u{200f}"), ("rpar", ")"), ("rsqb", "]"), ("rsquo", "’"), ("sect", "§"), ("semi", ";"),
    ("shy", "\u{ad}"), ("sigma", "σ"), ("sol", "/"), ("szlig", "ß"), ("thinsp", "\u{2009}"), ("times", "×"),
    ("trade", "™"), ("uacute", "ú"), ("uarr", "↑"), ("ucirc", "û"), ("ugrave", "ù"), ("uuml", "ü"), ("verbar", "|"),
    ("vert", "|"), ("yen", "¥"), ("zwj", "\u{200d}"), ("zwnj", "\u{200c}"),
];

/// Names that count without their semicolon.
const OLD: [&str; 10] = ["amp", "lt", "gt", "quot", "AMP", "LT", "GT", "QUOT", "nbsp", "copy"];
/// No name that is known is longer.
const LONGEST_NAME: usize = 16;
/// What the numbers 128 to 159 stand for (windows-1252).
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The reference that begins with the `&` at the start: what it stands for, and its length.
pub(in crate::format) fn first(text: &[u8]) -> Option<(Cow<'static, str>, usize)> {
    let rest = text.strip_prefix(b"&")?;
    if let Some(number) = rest.strip_prefix(b"#") {
        return numbered(number).map(|(character, length)| (Cow::Owned(character.to_string()), length.saturating_add(2)));
    }
    let window = rest.get(..LONGEST_NAME).unwrap_or(rest);
    let length = window.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = std::str::from_utf8(window.get(..length)?).ok()?;
    let length = length.saturating_add(1);
    let known = |name: &str| {
        let at = NAMES.binary_search_by_key(&name, |(known, _)| known).ok()?;
        NAMES.get(at).map(|(_, stands)| Cow::Borrowed(*stands))
    };
    if rest.get(length.saturating_sub(1)) == Some(&b';') {
        return known(name).map(|stands| (stands, length.saturating_add(1)));
    }
    OLD.iter()
        .find(|old| name.starts_with(**old))
        .and_then(|old| known(old).map(|stands| (stands, old.len().saturating_add(1))))
}

/// Behind `&#`: the character and how many bytes it took.
fn numbered(number: &[u8]) -> Option<(char, usize)> {
    let (digits, radix, before) = match number {
        [b'x' | b'X', digits @ ..] => (digits, 16_u32, 1_usize),
        digits => (digits, 10, 0),
    };
    let mut value = 0_u32;
    let mut length = 0_usize;
    for digit in digits.iter().map_while(|byte| char::from(*byte).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        length = length.saturating_add(1);
    }
    if length == 0 {
        return None;
    }
    let semicolon = usize::from(digits.get(length) == Some(&b';'));
    let old = value.checked_sub(128).and_then(|at| usize::try_from(at).ok()).and_then(|at| WINDOWS.chars().nth(at));
    let character = old.or_else(|| char::from_u32(value)).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((character, before.saturating_add(length).saturating_add(semicolon)))
}

/// A text with its references undone.
pub(in crate::format) fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'&', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let used = match first(rest) {
            Some((stands, length)) => {
                out.extend_from_slice(stands.as_bytes());
                length
            }
            None => {
                out.push(b'&');
                1
            }
        };
        rest = rest.get(used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| name));
        assert!(NAMES.iter().all(|(name, _)| name.len() <= LONGEST_NAME));
    }

    #[test]
    fn references_as_browsers_read_them() {
        for (text, expected) in [
            ("java&#x73;cript&colon;a", "javascript:a"),
            ("&#106&#97;&#0000118;a", "java"),
            ("&Tab;&NewLine;", "\t\n"),
            ("&lt;b&gt; &amp;amp; &ampx &unknown; & &; &#; &#x;", "<b> &amp; &x &unknown; & &; &#; &#x;"),
            ("&#150;&#x110000;", "–\u{fffd}"),
            ("&ltscript&gt", "<script>"),
        ] {
            assert_eq!(String::from_utf8_lossy(&decoded(text.as_bytes())), expected, "{text}");
        }
    }
}
