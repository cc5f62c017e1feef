//! Style sheets: declarations of known properties in braces.

use super::Scores;
use crate::sniff::peek::find;

/// CSS: `property: value` of known properties inside braces, and the rules that begin with `@`.
pub(super) fn style_sheet(head: &[u8], scores: &mut Scores) {
    const PROPERTIES: &[&[u8]] = &[
        b"color",
        b"background",
        b"background-color",
        b"margin",
        b"padding",
        b"border",
        b"width",
        b"height",
        b"display",
        b"font",
        b"font-size",
        b"font-family",
        b"font-weight",
        b"position",
        b"top",
        b"left",
        b"right",
        b"bottom",
        b"float",
        b"clear",
        b"overflow",
        b"text-align",
        b"text-decoration",
        b"line-height",
        b"box-sizing",
        b"content",
        b"z-index",
        b"cursor",
        b"opacity",
        b"transform",
        b"transition",
        b"animation",
        b"flex",
        b"align-items",
        b"justify-content",
        b"src",
        b"max-width",
        b"min-width",
        b"max-height",
        b"min-height",
        b"visibility",
        b"vertical-align",
        b"white-space",
        b"list-style",
        b"outline",
        b"fill",
        b"stroke",
        b"grid-template-columns",
        b"border-radius",
        b"box-shadow",
        b"margin-top",
        b"margin-left",
        b"margin-right",
        b"margin-bottom",
        b"padding-top",
        b"padding-left",
        b"padding-right",
        b"padding-bottom",
        b"gap",
        b"border-bottom",
        b"border-top",
        b"border-left",
        b"border-right",
        b"border-color",
        b"background-image",
        b"background-position",
        b"flex-direction",
        b"flex-wrap",
        b"letter-spacing",
        b"zoom",
        b"filter",
        b"clip",
        b"quotes",
        b"size",
        b"page-break-after",
        b"pointer-events",
        b"user-select",
        b"text-transform",
        b"font-style",
        b"border-collapse",
        b"grid-area",
        b"object-fit",
    ];
    let first = head.split(|byte| *byte == b'{').next().unwrap_or_default();
    // Programs have parentheses and assignments before their first brace; selectors hardly do.
    let before = first.rsplit(|byte| matches!(byte, b'}' | b';' | b'/')).next().unwrap_or_default();
    if before.len() == head.len() || before.contains(&b'=') && !before.contains(&b'[') || before.contains(&b'$') {
        return;
    }
    // Neither is there a tag in a selector, nor a colon before a blank, as in what is printed around a page.
    if before.contains(&b'<') || find(before, b": ").is_some() && !before.trim_ascii_start().starts_with(b"@") {
        return;
    }
    let (mut known, mut nested, mut depth) = (0_u32, 0_u32, 0_u32);
    let mut comment = false;
    for part in head.split_inclusive(|byte| matches!(byte, b'{' | b'}' | b';')) {
        let mut text = part.get(..part.len().saturating_sub(1)).unwrap_or_default().trim_ascii();
        if comment || text.starts_with(b"/*") {
            match find(text, b"*/") {
                Some(at) => {
                    comment = false;
                    text = text.get(at.saturating_add(2)..).unwrap_or_default().trim_ascii();
                }
                None => {
                    comment = true;
                    continue;
                }
            }
        }
        let declares = depth > 0 && !part.ends_with(b"{");
        if let (true, Some(colon)) = (declares, memchr::memchr(b':', text)) {
            let property = text.get(..colon).unwrap_or_default().trim_ascii();
            let plain =
                property.strip_prefix(b"-webkit-").or_else(|| property.strip_prefix(b"-moz-")).unwrap_or(property);
            let quoted = text.get(colon.saturating_add(1)..).unwrap_or_default().trim_ascii();
            let is_known = PROPERTIES.iter().any(|name| name.eq_ignore_ascii_case(plain))
                || property.starts_with(b"--")
                || property.starts_with(b"-webkit-");
            known = known.saturating_add(u32::from(is_known && !quoted.is_empty() && !quoted.starts_with(b"function")));
        }
        match part.last() {
            Some(b'{') => {
                nested = nested.saturating_add(u32::from(depth > 0 && text.starts_with(b"&")));
                depth = depth.saturating_add(1);
            }
            Some(b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let rules = [
        &b"@import url("[..],
        b"@import \"",
        b"@import '",
        b"@media ",
        b"@font-face",
        b"@charset ",
        b"@keyframes",
        b"@supports",
        b"@page",
        b"@tailwind ",
        b"@layer ",
    ];
    let starts = rules.iter().any(|rule| head.trim_ascii_start().starts_with(rule));
    scores.add("css", u32::from(starts).saturating_mul(4).saturating_add(known.saturating_mul(4).min(40)));
    scores.add("various", nested.saturating_mul(8).min(48));
}
