//! Styles by a list of what may stay: properties that only look, values in which nothing is loaded, run or escaped.

use memchr::{memchr, memmem};

/// Properties by name, and families whose members follow behind a hyphen.
const PROPERTIES: &str = "\
    align all animation appearance aspect-ratio backdrop-filter backface-visibility background baseline-shift \
    border bottom box break caption-side clear clip color column columns contain content counter cursor direction \
    display dominant-baseline empty-cells fill filter flex float flood font gap grid height hyphens \
    image-rendering inset isolation justify left letter-spacing lighting-color line list-style margin marker mask \
    max-height max-width min-height min-width mix-blend-mode object opacity order orphans outline overflow padding \
    page-break paint-order place pointer-events position quotes resize right row-gap scroll shape-rendering stop \
    stroke tab-size table-layout text top transform transition unicode-bidi user-select vector-effect \
    vertical-align visibility white-space widows width word writing-mode z-index -webkit-text -moz-tab-size \
    -webkit-font-smoothing -moz-osx-font-smoothing -webkit-user-select";

/// Functions of values that compute, colour, move or draw, and fetch nothing.
const FUNCTIONS: &str = "\
    rgb rgba hsl hsla hwb lab lch oklab oklch color-mix light-dark calc min max clamp var env translate translatex \
    translatey translate3d scale scalex scaley rotate rotatex rotatey skew skewx skewy matrix perspective \
    linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeat \
    minmax fit-content cubic-bezier steps rect inset circle ellipse polygon blur brightness contrast drop-shadow \
    grayscale hue-rotate invert opacity saturate sepia counter counters icc-color";

/// Groups of rules whose inside is read like the sheet itself.
const GROUPS: [&str; 8] =
    ["@media", "@supports", "@layer", "@container", "@keyframes", "@-webkit-keyframes", "@-moz-keyframes", "@scope"];
/// Groups within groups: honest sheets have two.
const DEEPEST: usize = 8;
/// Brackets within brackets of a value.
const BRACKETS: usize = 32;

/// The text without comments; what is in quotes is left alone. A comment is a blank: joined, its neighbours could be
/// the beginning of another.
fn uncommented(style: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(style.len());
    let mut quote = None;
    let mut rest = style;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (quote, byte) {
            (None, b'/') if after.first() == Some(&b'*') => {
                let inside = after.get(1..).unwrap_or_default();
                let end = memmem::find(inside, b"*/");
                rest = end.and_then(|end| inside.get(end.saturating_add(2)..)).unwrap_or_default();
                out.push(b' ');
                continue;
            }
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), _) if open == *byte => quote = None,
            // A string ends with its line (CSS Syntax 4.3.5).
            (_, b'\n' | b'\r' | 0x0c) => quote = None,
            _ => {}
        }
        out.push(*byte);
    }
    out
}

/// Where one of `ends` stands outside of quotes and round brackets.
fn outside(text: &[u8], ends: &[u8]) -> Option<usize> {
    let mut quote = None;
    let mut brackets = 0_usize;
    text.iter().position(|byte| {
        match (quote, byte) {
            (Some(open), _) if open == *byte => quote = None,
            (Some(_), b'\n' | b'\r' | 0x0c) => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(') => brackets = brackets.saturating_add(1),
            (None, b')') => brackets = brackets.saturating_sub(1),
            // A curly bracket ends whatever round ones were left open.
            (None, _) => return ends.contains(byte) && (brackets == 0 || matches!(byte, b'{' | b'}')),
        }
        false
    })
}

/// Words that run script wherever old programs find them.
fn is_tainted(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    [&b"script:"[..], b"expression", b"-moz-binding", b"behavior:", b"url(", b"/*", b"*/", b"]]"]
        .iter()
        .any(|word| memmem::find(&lower, word).is_some())
}

/// Whether a value draws, and nothing else. An address may only name a part of the same document.
pub(super) fn is_value(value: &[u8]) -> bool {
    let mut rest = value;
    let mut plain = Vec::with_capacity(value.len());
    // Parts of the document are put aside; what is left may hold no address at all.
    while let Some(at) = memmem::find(rest, b"url(") {
        plain.extend_from_slice(rest.get(..at).unwrap_or_default());
        let Some(length) = part_address(rest.get(at..).unwrap_or_default()) else { return false };
        // A name that ends in `url` is another function.
        if plain.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return false;
        }
        rest = rest.get(at.saturating_add(length)..).unwrap_or_default();
    }
    plain.extend_from_slice(rest);
    !is_tainted(&plain) && is_plain_value(&plain)
}

/// The length of `url(#part)` at the start.
fn part_address(text: &[u8]) -> Option<usize> {
    let inside = text.get(4..)?;
    let end = memchr(b')', inside)?;
    let name = inside.get(..end)?.trim_ascii();
    let name = match name {
        [b'"', name @ .., b'"'] | [b'\'', name @ .., b'\''] => name,
        name => name,
    };
    let name = name.strip_prefix(b"#")?;
    let is_name = !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'));
    is_name.then(|| end.saturating_add(5))
}

fn is_plain_value(value: &[u8]) -> bool {
    let mut quote = None;
    let mut brackets = 0_usize;
    for (at, byte) in value.iter().enumerate() {
        match (quote, byte) {
            (_, b'\\' | b'<' | b'&' | b'@' | 0..=8 | 0x0b | 0x0e..=0x1f | 0x7f) => return false,
            (Some(open), _) if open == *byte => quote = None,
            (Some(_), b'(' | b'\n' | b'\r' | 0x0c) => return false,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(') => {
                let before = value.get(..at).unwrap_or_default();
                let near = before.get(before.len().saturating_sub(40)..).unwrap_or_default();
                let of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..);
                let length = near.iter().rev().take_while(of_name).count();
                let name = near.get(near.len().saturating_sub(length)..).unwrap_or_default().to_ascii_lowercase();
                brackets = brackets.saturating_add(1);
                if brackets > BRACKETS
                    || !(name.is_empty() || FUNCTIONS.split(' ').any(|known| known.as_bytes() == name))
                {
                    return false;
                }
            }
            (None, b')') => match brackets.checked_sub(1) {
                Some(fewer) => brackets = fewer,
                None => return false,
            },
            (None, byte) => {
                let is_known = byte.is_ascii_alphanumeric()
                    || *byte >= 0x80
                    || matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
                    || matches!(byte, b'#' | b'%' | b'.' | b',' | b'+' | b'-' | b'*' | b'/' | b'!' | b'_');
                if !is_known {
                    return false;
                }
            }
        }
    }
    quote.is_none() && brackets == 0
}

fn is_property(name: &[u8]) -> bool {
    if let Some(own) = name.strip_prefix(b"--") {
        return !own.is_empty() && own.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    }
    PROPERTIES
        .split(' ')
        .any(|known| name.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-")))
        && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

/// The declarations that may stay, written in one way.
pub(super) fn declarations(style: &[u8]) -> Vec<u8> {
    list(&uncommented(style))
}

fn list(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = outside(rest, b";");
        let declaration = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        rest = end.and_then(|end| rest.get(end.saturating_add(1)..)).unwrap_or_default();
        let Some(colon) = memchr(b':', declaration) else { continue };
        let written = declaration.get(..colon).unwrap_or_default().trim_ascii();
        let value = declaration.get(colon.saturating_add(1)..).unwrap_or_default().trim_ascii();
        // Names of the author's own keep their case.
        let name = if written.starts_with(b"--") { written.to_vec() } else { written.to_ascii_lowercase() };
        // What stays where it is while the page moves covers the page around it.
        let is_over = name == b"position" && memmem::find(&value.to_ascii_lowercase(), b"fixed").is_some();
        if value.is_empty() || is_over || !is_property(&name) || !is_value(value) {
            continue;
        }
        if !out.is_empty() {
            out.extend_from_slice(b"; ");
        }
        out.extend_from_slice(&name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
    }
    out
}

/// Whether a selector or the condition of a group only chooses.
pub(super) fn is_choice(text: &[u8]) -> bool {
    let mut quote = None;
    let is_known = text.iter().all(|byte| match (quote, byte) {
        (_, b'\\' | b'<' | b'&' | b'@' | 0..=8 | 0x0b | 0x0e..=0x1f | 0x7f) => false,
        (Some(open), _) if open == *byte => {
            quote = None;
            true
        }
        (Some(_), byte) => !matches!(byte, b'\n' | b'\r' | 0x0c),
        (None, b'"' | b'\'') => {
            quote = Some(*byte);
            true
        }
        (None, byte) => !matches!(byte, b'{' | b'}' | b';'),
    });
    is_known && quote.is_none() && !text.trim_ascii().is_empty() && !is_tainted(text)
}

/// The rules of a sheet that may stay, one a line. What is imported, loaded as a letter or nested is left out.
pub(super) fn sheet(style: &[u8]) -> Vec<u8> {
    let text = uncommented(style);
    let mut rest: &[u8] = &text;
    let mut out = Vec::new();
    let mut open = 0_usize;
    loop {
        rest = rest.trim_ascii_start();
        // Brackets of comments of markup, in which old pages wrapped their sheets.
        rest = rest.strip_prefix(b"<!--").or_else(|| rest.strip_prefix(b"-->")).unwrap_or(rest).trim_ascii_start();
        let Some(first) = rest.first() else { break };
        if *first == b'}' {
            rest = rest.get(1..).unwrap_or_default();
            if let Some(fewer) = open.checked_sub(1) {
                open = fewer;
                out.extend_from_slice(b"}\n");
            }
            continue;
        }
        let Some(end) = outside(rest, b"{};") else { break };
        let choice = rest.get(..end).unwrap_or_default().trim_ascii();
        if rest.get(end) != Some(&b'{') {
            // A statement such as @import; a closing bracket is looked at again.
            rest = rest.get(end.saturating_add(usize::from(rest.get(end) == Some(&b';')))..).unwrap_or_default();
            continue;
        }
        rest = rest.get(end.saturating_add(1)..).unwrap_or_default();
        if let Some(condition) = group(choice) {
            if open < DEEPEST && (condition.is_empty() || is_choice(condition)) {
                open = open.saturating_add(1);
                out.extend_from_slice(choice);
                out.extend_from_slice(b" {\n");
            } else {
                rest = rest.get(block(rest)..).unwrap_or_default();
            }
            continue;
        }
        let length = block(rest);
        let body = rest.get(..length).unwrap_or_default();
        rest = rest.get(length..).unwrap_or_default();
        let body = body.strip_suffix(b"}").unwrap_or(body);
        let is_page = choice.eq_ignore_ascii_case(b"@page");
        if outside(body, b"{}").is_some() || !(is_page || is_choice(choice)) {
            continue;
        }
        let kept = list(body);
        if !kept.is_empty() {
            out.extend_from_slice(choice);
            out.extend_from_slice(b" { ");
            out.extend_from_slice(&kept);
            out.extend_from_slice(b" }\n");
        }
    }
    out.extend(std::iter::repeat_n(*b"}\n", open).flatten());
    out
}

/// What stands behind the name of a group.
fn group(choice: &[u8]) -> Option<&[u8]> {
    let length = choice.iter().take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'@' | b'-')).count();
    let name = choice.get(..length)?;
    let is_known = GROUPS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    is_known.then(|| choice.get(length..).unwrap_or_default().trim_ascii())
}

/// The length of a block whose opening bracket is behind, with its closing one.
fn block(text: &[u8]) -> usize {
    let mut at = 0_usize;
    let mut open = 1_usize;
    while let Some(found) = text.get(at..).and_then(|rest| outside(rest, b"{}")) {
        let here = at.saturating_add(found);
        at = here.saturating_add(1);
        open = if text.get(here) == Some(&b'{') { open.saturating_add(1) } else { open.saturating_sub(1) };
        if open == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(style: &str) -> String {
        String::from_utf8(declarations(style.as_bytes())).unwrap()
    }

    fn ruled(style: &str) -> String {
        String::from_utf8(sheet(style.as_bytes())).unwrap()
    }

    #[test]
    fn what_only_looks_stays() {
        for style in [
            "color: red; font-size: 12px",
            "fill: url(#p.1); stroke: #1f77b4; stroke-dasharray: 5.55,2.4; stroke-dashoffset: 0",
            "font: 12px 'DejaVu Sans', sans-serif; text-anchor: middle",
            "width: calc(100% - (2px + 1em)); background: linear-gradient(90deg, #fff 10%, rgba(0, 0, 0, 0.5))",
            "--jp-color: var(--x, #000); color: var(--jp-color) !important",
            "transform: translate(1px, 2px) rotate(-45deg)",
            "content: \"; } \"",
        ] {
            assert_eq!(declared(style), style);
        }
    }

    #[test]
    fn what_loads_runs_or_escapes_goes() {
        for style in [
            "background: url(http://x)",
            "background: URL(//x)",
            "background: u\\72l(//x)",
            "background: ur/**/l(//x)",
            "background: image-set('//x' 1x)",
            "background: image(//x)",
            "fill: xurl(#a)",
            "fill: url(#a b)",
            "fill: url('#a' , //x)",
            "width: expression(alert(1))",
            "-moz-binding: url(#a)",
            "behavior: url(#a)",
            "color: red/**/",
            "content: 'javascript:'",
            "content: '</style><script>'",
            "content: 'a",
            "color: red}body{x:y",
            "src: local(a)",
            "position: fixed",
            "position: FIXED !important",
            "filter: progid:DXImageTransform.Microsoft.Alpha(opacity=1)",
            "col\\or: red",
            "x: 1",
            "color",
            "color: ",
            "color: a(1)",
            "color: (1",
        ] {
            assert!(matches!(declared(style).as_str(), "" | "color: red"), "{style}: {}", declared(style));
        }
    }

    #[test]
    fn sheets_keep_their_rules_and_groups() {
        assert_eq!(
            ruled(
                "<!-- @import 'x'; @charset \"a\"; a > b, [x^=\"{\"] { color: red; x: 1 } /* } */ @media (max-width: 9px) { p{margin:0} @font-face{src:url(x)} } -->"
            ),
            "a > b, [x^=\"{\"] { color: red }\n@media (max-width: 9px) {\np { margin:0 }\n}\n"
                .replace("margin:0", "margin: 0")
        );
        assert_eq!(ruled("a{b{color:red}} c{color:red"), "c { color: red }\n");
        assert_eq!(ruled("}}a{color:red}@media x{b{color:red}"), "a { color: red }\n@media x {\nb { color: red }\n}\n");
        assert_eq!(ruled("a<b{color:red} a[href='javascript:']{color:red} a\\3a{color:red} &{color:red}"), "");
        assert_eq!(
            ruled("@page { margin: 1cm } @namespace x url(y); @unknown { a { color: red } }"),
            "@page { margin: 1cm }\n"
        );
    }

    #[test]
    fn groups_are_followed_to_their_limit() {
        let nested = |depth: usize| format!("{}a{{color:red}}{}", "@media x{".repeat(depth), "}".repeat(depth));
        assert!(ruled(&nested(DEEPEST)).contains("color"));
        assert_eq!(ruled(&nested(DEEPEST + 1)).matches("color").count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn nothing_gets_out_of_a_style(style in "[a-c{}()@:;\"'\\\\/*<>&!\\n -]{0,60}|(url\\(|color:|#a|@media|@import|/\\*|\\*/|;|\\{|\\}|'|\"|x|\\)| ){0,30}") {
            let once = sheet(style.as_bytes());
            proptest::prop_assert_eq!(&sheet(&once), &once);
            proptest::prop_assert!(!once.iter().any(|byte| matches!(byte, b'<' | b'&' | b'\\')));
            let acts = crate::format::markup::css::acts(&once);
            proptest::prop_assert!(!acts.loads && !acts.runs && acts.carried.is_empty());
            let once = declarations(style.as_bytes());
            proptest::prop_assert_eq!(&declarations(&once), &once);
        }
    }
}
