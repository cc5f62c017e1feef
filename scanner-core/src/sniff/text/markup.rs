//! HTML, SVG, XML and PHP: by the first element, behind comments, declarations and processing instructions.

use super::Text;
use crate::sniff::peek::find;

/// Elements of HTML that begin a document or a fragment.
const ELEMENTS: &[&str] = &[
    "html",
    "head",
    "body",
    "script",
    "style",
    "title",
    "meta",
    "link",
    "base",
    "iframe",
    "frameset",
    "noscript",
    "div",
    "span",
    "p",
    "a",
    "b",
    "i",
    "u",
    "s",
    "em",
    "strong",
    "small",
    "big",
    "font",
    "center",
    "br",
    "hr",
    "img",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "form",
    "input",
    "button",
    "select",
    "option",
    "textarea",
    "label",
    "fieldset",
    "pre",
    "code",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "nav",
    "main",
    "aside",
    "figure",
    "video",
    "audio",
    "source",
    "canvas",
    "object",
    "embed",
    "applet",
    "param",
    "marquee",
    "template",
    "details",
    "summary",
    "picture",
    "dialog",
    "math",
    "map",
    "area",
    "slot",
    "sup",
    "sub",
    "mark",
    "time",
    "kbd",
    "var",
    "abbr",
    "cite",
    "q",
    "tt",
    "isindex",
    "bgsound",
    "image",
    "keygen",
    "frame",
    "noframes",
    "noembed",
    "plaintext",
    "xmp",
    "hta:application",
];

/// Elements that only a document has: text that holds one in angle brackets is no mere mention.
const OF_DOCUMENTS: &[&str] = &[
    "html", "head", "body", "script", "style", "iframe", "frameset", "title", "meta", "link", "base", "object",
    "embed", "applet",
];

pub(super) fn kind(start: &[u8], text: &Text<'_>) -> Option<&'static str> {
    if is_php(start) {
        return Some("php");
    }
    let mut prolog = Prolog::read(start);
    // A template language, then HTML.
    if prolog.rest.starts_with(b"{%") || prolog.rest.starts_with(b"{{") || prolog.rest.starts_with(b"<%") {
        prolog.rest = after_templates(prolog.rest);
    }
    if prolog.rest.is_empty() {
        // Declarations and nothing else, or cut inside one.
        return prolog.kind_of_declarations();
    }
    if !prolog.rest.starts_with(b"<") {
        let html = prolog.html_doctype || (prolog.comments && mentions_document(prolog.rest));
        return html.then_some("html").or_else(|| prolog.declared.then_some("xml"));
    }
    let (name, self_closed) = element(prolog.rest)?;
    let lower = name.to_ascii_lowercase();
    let local = lower.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    let is = |names: &[&str]| names.iter().any(|known| known.as_bytes() == lower.as_slice());
    if prolog.html_doctype || local == b"html" {
        return Some(if has_php(text) { "php" } else { "html" });
    }
    if local == b"svg" || prolog.svg_doctype {
        return Some("svg");
    }
    if prolog.declared {
        return Some("xml");
    }
    if is(ELEMENTS) {
        let whole_element =
            self_closed && prolog.rest.trim_ascii_end().iter().filter(|byte| **byte == b'<').count() == 1;
        if whole_element && !prolog.rest.contains(&b'=') && lower.len() < 3 {
            return Some("xml");
        }
        if has_php(text) {
            return Some("php");
        }
        if lower == b"a" && !prolog.rest.contains(&b'=') && prolog.rest.trim_ascii_end().ends_with(b"</a>") {
            return Some("xml");
        }
        if !is(OF_DOCUMENTS) && is_markdown_behind(prolog.rest) {
            return None;
        }
        // "<b and <i are tags" is a sentence: a tag ends.
        return find(prolog.rest, b">").or(find(prolog.rest, b"=")).map(|_| "html").or((!text.whole).then_some("html"));
    }
    if find(&lower, b"-").is_some()
        && memchr::memmem::find(prolog.rest, b"</").is_some()
        && mentions_document(prolog.rest)
    {
        return Some("html");
    }
    is_element(prolog.rest, name, self_closed, text).then_some("xml")
}

/// Whether text that begins otherwise carries a document: `<script` and its kind, as tags.
fn mentions_document(rest: &[u8]) -> bool {
    let mut from = 0_usize;
    while let Some(at) = memchr::memchr(b'<', rest.get(from..).unwrap_or_default()) {
        from = from.saturating_add(at);
        if let Some((name, _)) = element(rest.get(from..).unwrap_or_default())
            && OF_DOCUMENTS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
        {
            return true;
        }
        from = from.saturating_add(1);
    }
    false
}

fn is_php(start: &[u8]) -> bool {
    let opens = |tag: &[u8]| start.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
    opens(b"<?php")
        || start.starts_with(b"<?=")
        || start.starts_with(b"<?\n")
        || start.starts_with(b"<?\r\n")
        || start.starts_with(b"<? ")
}

fn has_php(text: &Text<'_>) -> bool {
    find(&text.head, b"<?php").is_some() || find(&text.head, b"<?=").is_some()
}

/// What stands before the first element.
#[derive(Debug, Default)]
struct Prolog<'a> {
    rest: &'a [u8],
    /// `<?xml`
    declared: bool,
    comments: bool,
    html_doctype: bool,
    svg_doctype: bool,
    /// Another document type, or declarations of one.
    other_doctype: bool,
}

impl<'a> Prolog<'a> {
    fn read(start: &'a [u8]) -> Self {
        let mut prolog = Self { rest: start, ..Self::default() };
        // Each turn consumes something: no more turns than bytes.
        loop {
            let rest = prolog.rest.trim_ascii_start();
            prolog.rest = rest;
            let upto =
                |end: &[u8]| find(rest, end).and_then(|at| rest.get(at.checked_add(end.len())?..)).unwrap_or_default();
            if rest.starts_with(b"<!--") {
                prolog.comments = true;
                prolog.rest = upto(b"-->");
            } else if rest.starts_with(b"<?") && !is_php(rest) {
                prolog.declared |= rest.get(2..5).is_some_and(|name| name.eq_ignore_ascii_case(b"xml"));
                prolog.rest = upto(b">");
            } else if rest.get(..9).is_some_and(|head| head.eq_ignore_ascii_case(b"<!doctype")) {
                prolog.doctype(rest.get(9..).unwrap_or_default());
            } else if [&b"<!ELEMENT"[..], b"<!ENTITY", b"<!ATTLIST", b"<!NOTATION"]
                .iter()
                .any(|word| rest.starts_with(word))
            {
                prolog.other_doctype = true;
                prolog.rest = upto(b">");
            } else {
                return prolog;
            }
        }
    }

    fn doctype(&mut self, rest: &'a [u8]) {
        let name = rest.trim_ascii_start();
        let name = name
            .get(..name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b":-_.".contains(byte)).count())
            .unwrap_or_default();
        let cut = !name.is_empty() && name.len() < 4 && rest.trim_ascii().len() == name.len();
        if name.eq_ignore_ascii_case(b"html")
            || (cut && name.eq_ignore_ascii_case(b"html".get(..name.len()).unwrap_or_default()))
        {
            self.html_doctype = true;
        } else if name.eq_ignore_ascii_case(b"svg") {
            self.svg_doctype = true;
        } else {
            self.other_doctype = true;
        }
        // An internal subset holds further `>`.
        let end = memchr::memchr2(b'>', b'[', rest);
        let end = match end.and_then(|at| rest.get(at)) {
            Some(b'[') => find(rest, b"]>").or_else(|| find(rest, b"]\n>")).and_then(|at| at.checked_add(2)),
            _ => end.and_then(|at| at.checked_add(1)),
        };
        self.rest = end.and_then(|end| rest.get(end..)).unwrap_or_default();
    }

    fn kind_of_declarations(&self) -> Option<&'static str> {
        if self.html_doctype {
            Some("html")
        } else if self.svg_doctype {
            Some("svg")
        } else if self.declared || self.other_doctype {
            Some("xml")
        } else {
            self.comments.then_some("html")
        }
    }
}

/// Behind template tags, each followed by white space or another.
fn after_templates(mut rest: &[u8]) -> &[u8] {
    for _ in 0..32 {
        rest = rest.trim_ascii_start();
        let end: &[u8] = match rest {
            [b'{', b'%', ..] => b"%}",
            [b'{', b'{', ..] => b"}}",
            [b'{', b'#', ..] => b"#}",
            [b'<', b'%', ..] => b"%>",
            _ => break,
        };
        let Some(after) = find(rest, end).and_then(|at| rest.get(at.checked_add(2)?..)) else { break };
        rest = after;
    }
    rest
}

/// The name of the element with which the bytes begin and whether its tag closes itself.
fn element(rest: &[u8]) -> Option<(&[u8], bool)> {
    let rest = rest.strip_prefix(b"<")?;
    let length =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b":-_.".contains(byte) || **byte >= 0x80).count();
    let name = rest.get(..length)?;
    let ended = rest.get(length).is_none_or(|end| end.is_ascii_whitespace() || b">/".contains(end));
    let closes = memchr::memchr(b'>', rest.get(..1024).unwrap_or(rest)).and_then(|at| rest.get(at.checked_sub(1)?))
        == Some(&b'/');
    (name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') && ended).then_some((name, closes))
}

/// Whether an element of no known name is one: closed at the end, or, past the head, holding others.
fn is_element(rest: &[u8], name: &[u8], self_closed: bool, text: &Text<'_>) -> bool {
    let Some(tag_end) = memchr::memchr(b'>', rest) else { return false };
    // Attributes have values; words without are a sentence.
    let tag = rest.get(name.len().saturating_add(1)..tag_end).unwrap_or_default();
    let tag = tag.strip_suffix(b"/").unwrap_or(tag).trim_ascii();
    if !(tag.is_empty() || (tag.contains(&b'=') && tag.iter().any(|byte| matches!(byte, b'"' | b'\'')))) {
        return false;
    }
    let closing = [b"</", name, b">"].concat();
    let tail = text.raw.get(text.raw.len().saturating_sub(256)..).unwrap_or(text.raw);
    if text.whole {
        rest.trim_ascii_end().ends_with(&closing)
            || (self_closed && rest.get(tag_end.saturating_add(1)..).unwrap_or_default().trim_ascii().is_empty())
            || (find(rest, b"</").is_some() && rest.trim_ascii_end().ends_with(b">") && find(rest, b"xmlns").is_some())
            || (tag.len() > 6 && find(tag, b"xmlns").is_some())
            || find(rest, &closing).is_some_and(|at| {
                rest.get(at.saturating_add(closing.len())..).unwrap_or_default().trim_ascii().starts_with(b"<")
            })
    } else {
        find(tail, &closing).is_some() || find(rest, b"</").is_some()
    }
}

/// READMEs open with a centred picture and go on in Markdown.
fn is_markdown_behind(rest: &[u8]) -> bool {
    let mut marks = 0_u32;
    for line in super::lines(rest).skip(1).take(200) {
        let heading =
            line.strip_prefix(b"#").is_some_and(|after| after.trim_start_matches_hash().first() == Some(&b' '));
        let fence = line.starts_with(b"```");
        let item = (line.starts_with(b"- ") || line.starts_with(b"* ")) && line.len() > 4;
        let link = line.starts_with(b"[![")
            || line.starts_with(b"![")
            || (line.starts_with(b"[") && find(line, b"](").is_some());
        marks = marks.saturating_add(if heading || fence { 2 } else { u32::from(item || link) });
    }
    marks >= 3
}

trait TrimHashes {
    fn trim_start_matches_hash(&self) -> &[u8];
}

impl TrimHashes for [u8] {
    fn trim_start_matches_hash(&self) -> &[u8] {
        let hashes = self.iter().take_while(|byte| **byte == b'#').count();
        self.get(hashes..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let head = Text { head: Cow::Borrowed(text.as_bytes()), whole: true, raw: text.as_bytes() };
        assert_eq!(kind(text.trim_ascii_start().as_bytes(), &head), want, "{text:?}");
    }

    #[test]
    fn angle_brackets_in_prose() {
        check("<3 you all\n<- see left\n", None);
        check("<name> is required\n", None);
        check("<b and <i are tags", None);
        check("<user@example.com> wrote:\n", None);
    }

    #[test]
    fn what_browsers_run() {
        check("<script/x>alert(1)</script>", Some("html"));
        check("<a href=\"javascript:alert(1)\">x</a>", Some("html"));
        check("<!-- saved -->\n<html>", Some("html"));
        check("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC \"x\">\n<html xmlns='y'/>", Some("html"));
        check("<!DOCTYPE ht", Some("html"));
        check("<!doctype html><p>hi", Some("html"));
        check("{% extends 'a' %}\n<div>x</div>", Some("html"));
        check("<x:html xmlns:x=\"http://www.w3.org/1999/xhtml\"><x:script>1</x:script></x:html>", Some("html"));
    }

    #[test]
    fn pictures_and_data() {
        check("<!DOCTYPE svg>\n<svg/>", Some("svg"));
        check("<svg:svg xmlns:svg=\"http://www.w3.org/2000/svg\"/>", Some("svg"));
        check("<a/>", Some("xml"));
        check("<rows>\n<row id=\"0\"/>\n</rows>\n", Some("xml"));
        check("<?xml version=\"1.0\"?><a/>", Some("xml"));
    }

    #[test]
    fn a_readme_with_a_centred_logo() {
        check("<p align=\"center\"><img src=\"x\"></p>\n\n## Install\n\n```sh\nx\n```\n", None);
    }
}
