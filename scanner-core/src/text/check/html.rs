//! Active markup inside plain text: tags and attributes that a browser acts on.
//!
//! Only `<` followed by a letter is looked at, so `a<b` costs nothing; only what would act is a finding, so `Vec<String>`,
//! `<script>` as the name of an argument, tables and XML printed as code stay silent.

use memchr::memmem;

use super::{About, Check, Said, Sink, saying};
use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(super) const CHECK: Check = Check {
    rules: &[&BASE, &FOREIGN_OBJECT, &FORM, &FRAME, &HANDLER, &META, &OBJECT, &SCRIPT, &STYLE, &URL],
    about: About::Markup,
    run,
};

const REMEDY: &str = "Show the text escaped, or clean the markup, before it reaches a page.";

static BASE: Rule = rule(
    "html/base",
    "html.base",
    Severity::Medium,
    "Redirects every relative link of a page",
    "A <base> element makes the links and scripts of the page that shows the text load from another host.",
);
static FOREIGN_OBJECT: Rule = rule(
    "html/foreign-object",
    "html.foreign_object",
    Severity::Medium,
    "HTML inside of a picture",
    "A foreignObject in SVG brings a whole HTML document into what looks like a picture.",
);
static FORM: Rule = rule(
    "html/form",
    "html.form",
    Severity::Medium,
    "A form that sends input elsewhere",
    "Shown in a page, it asks the person for input and sends it to an address of the sender's choice.",
);
static FRAME: Rule = rule(
    "html/frame",
    "html.frame",
    Severity::Medium,
    "Embeds another page",
    "A frame shows a page of the sender's choice inside of a page that the person trusts, or runs a document of its own.",
);
static HANDLER: Rule = rule(
    "html/handler",
    "html.handler",
    Severity::High,
    "An event handler that runs script",
    "An attribute such as onerror runs script as soon as the text is shown as markup, without a click.",
);
static META: Rule = rule(
    "html/meta-refresh",
    "html.meta",
    Severity::Medium,
    "Sends the page elsewhere",
    "A refresh makes the page that shows the text navigate to an address of the sender's choice.",
);
static OBJECT: Rule = rule(
    "html/object",
    "html.object",
    Severity::Medium,
    "Embeds a plug-in or document",
    "An object or embed element loads foreign content into the page that shows the text.",
);
static SCRIPT: Rule = rule(
    "html/script",
    "html.script",
    Severity::High,
    "A script element",
    "Shown as markup, the script runs with the rights of the page: it can read what the person sees and act for them.",
);
static STYLE: Rule = rule(
    "html/style",
    "html.style",
    Severity::Medium,
    "A style that runs script or loads from elsewhere",
    "Styles can load foreign resources that carry page content in their address, and in old browsers run script.",
);
static URL: Rule = rule(
    "html/script-url",
    "html.url",
    Severity::High,
    "A link that runs script",
    "An address that begins with javascript:, vbscript: or data:text/html runs script of the sender's choice.",
);

const fn rule(
    id: &'static str,
    category: &'static str,
    severity: Severity,
    title: &'static str,
    why: &'static str,
) -> Rule {
    Rule::built_in(id, category, severity, Confidence::High, RuleText { title, why, remedy: REMEDY })
}

/// A tag is read at most that far: longer ones are no honest markup and would make `<a <a <a …` quadratic.
const TAG_LONGEST: usize = 4096;
/// Attributes of one tag that are read.
const ATTRIBUTES_MOST: usize = 64;

fn run(text: &[u8], sink: &mut Sink<'_>) {
    // Where the next end tag of a script stands; found at most once for each place.
    let mut next_end: Option<usize> = None;
    let mut looked_to = 0_usize;
    let mut read_to = 0_usize;
    for start in memchr::memchr_iter(b'<', text) {
        if start < read_to || !text.get(start.saturating_add(1)).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let tag = Tag::read(text, start);
        read_to = tag.end.max(start.saturating_add(1));
        if tag.is("script") {
            if next_end.is_none_or(|at| at < start) && looked_to <= start {
                next_end = script_end(text, start);
                looked_to = next_end.unwrap_or(text.len()).max(start.saturating_add(1));
            }
            let loads = ["src", "href", "xlink:href"].iter().any(|name| tag.value(name).is_some());
            if next_end.is_some_and(|at| at >= start) || loads {
                sink.find(&SCRIPT, text, start..tag.end, Said::default());
            }
        }
        judge(text, &tag, sink);
    }
}

/// Where the next end tag of a script begins.
fn script_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at = at.saturating_add(memmem::find(text.get(at..)?, b"</")?);
        let name = at.saturating_add(2);
        if text.get(name..name.saturating_add(6)).is_some_and(|name| name.eq_ignore_ascii_case(b"script")) {
            return Some(at);
        }
        at = name;
    }
}

fn judge(text: &[u8], tag: &Tag<'_>, sink: &mut Sink<'_>) {
    let range = tag.start..tag.end;
    let has_attributes = tag.attributes.iter().any(|attribute| attribute.value.is_some());
    for attribute in &tag.attributes {
        let Some(value) = attribute.value else { continue };
        if is_handler(attribute.name) && !value.is_empty() {
            // onClick={…} in capitals and braces is how components are written in source code.
            let component = attribute.name.get(2).is_some_and(u8::is_ascii_uppercase) && value.starts_with(b"{");
            let said =
                if component { Said { severity: Some(Severity::Low), ..Said::default() } } else { Said::default() };
            sink.find(&HANDLER, text, range.clone(), said);
        } else if attribute.is("attributename") && is_handler(value) {
            sink.find(&HANDLER, text, range.clone(), saying("an animation that sets an event handler"));
        } else if attribute.is("srcdoc") {
            sink.find(&FRAME, text, range.clone(), saying("a frame with a document of its own"));
        } else if attribute.is("style") && is_active_style(value) {
            sink.find(&STYLE, text, range.clone(), Said::default());
        } else if attribute.is("formaction") {
            sink.find(&FORM, text, range.clone(), Said::default());
        }
        if is_address(attribute.name) && runs_script(value) {
            sink.find(&URL, text, range.clone(), Said::default());
        }
    }
    if !has_attributes {
        if tag.is("style") {
            style_element(text, tag, sink);
        }
        return;
    }
    if ["iframe", "frame", "portal", "fencedframe"].iter().any(|name| tag.is(name)) {
        if tag.value("src").is_some() {
            sink.find(&FRAME, text, range, Said::default());
        }
    } else if ["object", "embed", "applet"].iter().any(|name| tag.is(name)) {
        if ["data", "src", "code", "classid", "archive", "type"].iter().any(|name| tag.value(name).is_some()) {
            sink.find(&OBJECT, text, range, Said::default());
        }
    } else if tag.is("form") && tag.value("action").is_some() {
        sink.find(&FORM, text, range, Said::default());
    } else if tag.is("base") && tag.value("href").is_some() {
        sink.find(&BASE, text, range, Said::default());
    } else if tag.is("meta") {
        let refresh = tag.value("http-equiv").is_some_and(|value| value.eq_ignore_ascii_case(b"refresh"));
        if refresh {
            sink.find(&META, text, range, Said::default());
        }
    } else if tag.is("foreignobject") {
        sink.find(&FOREIGN_OBJECT, text, range, Said::default());
    } else if tag.is("style") {
        style_element(text, tag, sink);
    } else if tag.is("link") && tag.value("rel").is_some_and(|value| value.eq_ignore_ascii_case(b"import")) {
        sink.find(&SCRIPT, text, range, saying("imports a foreign document"));
    }
}

/// A style element whose rules load or run something.
fn style_element(text: &[u8], tag: &Tag<'_>, sink: &mut Sink<'_>) {
    let body = text.get(tag.end..tag.end.saturating_add(TAG_LONGEST).min(text.len())).unwrap_or_default();
    let Some(end) = memmem::find(body, b"</") else { return };
    if is_active_style(body.get(..end).unwrap_or_default()) {
        sink.find(&STYLE, text, tag.start..tag.end.saturating_add(end), Said::default());
    }
}

/// CSS that runs script, or loads by what the page contains.
fn is_active_style(style: &[u8]) -> bool {
    let lower: Vec<u8> = style
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace() && **byte != b'\\')
        .map(u8::to_ascii_lowercase)
        .collect();
    let has = |word: &str| memmem::find(&lower, word.as_bytes()).is_some();
    has("expression(")
        || has("javascript:")
        || has("-moz-binding")
        || has("behavior:url")
        || has("@importurl(http")
        || has("@import'http")
        || has("@import\"http")
        || has("@import'//")
        || (has("[value^=") && has("url("))
}

fn is_address(name: &[u8]) -> bool {
    const NAMES: &[&str] = &[
        "href",
        "src",
        "action",
        "formaction",
        "xlink:href",
        "data",
        "to",
        "from",
        "values",
        "poster",
        "background",
        "srcset",
        "dynsrc",
        "lowsrc",
        "code",
        "codebase",
        "content",
        "url",
        "ping",
        "folder",
        "by",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a browser would run an address: what it skips (white space, controls) and decodes (entities) is undone.
fn runs_script(value: &[u8]) -> bool {
    let mut scheme = Vec::with_capacity(32);
    let mut rest = value;
    while let (Some((first, after)), true) = (rest.split_first(), scheme.len() < 28) {
        let (byte, next) = match first {
            b'&' => entity(rest).unwrap_or((*first, after)),
            _ => (*first, after),
        };
        if byte > b' ' && byte != 0x7f {
            scheme.push(byte.to_ascii_lowercase());
        }
        rest = next;
    }
    // A refresh carries its address behind "0;url=".
    let address = memmem::find(&scheme, b"url=").and_then(|at| scheme.get(at.saturating_add(4)..)).unwrap_or(&scheme);
    let address = address.strip_prefix(b"view-source:").unwrap_or(address);
    let address = address.trim_ascii_start();
    [
        "javascript:",
        "vbscript:",
        "livescript:",
        "data:text/html",
        "data:text/xml",
        "data:application/xhtml",
        "data:image/svg",
    ]
    .iter()
    .any(|active| address.starts_with(active.as_bytes()))
}

/// One character reference at the start: its ASCII character and what follows.
fn entity(text: &[u8]) -> Option<(u8, &[u8])> {
    for (name, byte) in [("&colon;", b':'), ("&tab;", b'\t'), ("&newline;", b'\n'), ("&lpar;", b'('), ("&sol;", b'/')] {
        if text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes())) {
            return Some((byte, text.get(name.len()..)?));
        }
    }
    let body = text.strip_prefix(b"&#")?;
    let (digits, radix) = match body.strip_prefix(b"x").or_else(|| body.strip_prefix(b"X")) {
        Some(hex) => (hex, 16),
        None => (body, 10),
    };
    let length = digits.iter().take(9).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let number = std::str::from_utf8(digits.get(..length)?).ok()?;
    let value = u8::try_from(u32::from_str_radix(number, radix).ok()?).ok()?;
    let rest = digits.get(length..)?;
    Some((value, rest.strip_prefix(b";").unwrap_or(rest)))
}

/// Beginnings of the names of events, without "on". The plain words only, once, one, ongoing are none.
const EVENTS: &[&str] = &[
    "abort",
    "activate",
    "after",
    "animation",
    "appinstalled",
    "auxclick",
    "before",
    "begin",
    "blur",
    "bounce",
    "cached",
    "cancel",
    "canplay",
    "cellchange",
    "change",
    "check",
    "click",
    "close",
    "command",
    "complete",
    "content",
    "context",
    "control",
    "copy",
    "cue",
    "cut",
    "dataavailable",
    "dataset",
    "dblclick",
    "deactivate",
    "device",
    "down",
    "drag",
    "drop",
    "durationchange",
    "emptied",
    "encrypted",
    "end",
    "enter",
    "error",
    "exit",
    "fetch",
    "filter",
    "finish",
    "focus",
    "form",
    "fullscreen",
    "gamepad",
    "gesture",
    "got",
    "hash",
    "help",
    "hover",
    "input",
    "install",
    "invalid",
    "key",
    "language",
    "layout",
    "lose",
    "lost",
    "load",
    "message",
    "mouse",
    "move",
    "moz",
    "navig",
    "noupdate",
    "obsolete",
    "offline",
    "online",
    "open",
    "orientation",
    "outofsync",
    "overscroll",
    "page",
    "paste",
    "pause",
    "play",
    "pointer",
    "popstate",
    "popover",
    "process",
    "progress",
    "property",
    "rate",
    "ready",
    "redo",
    "rejection",
    "reset",
    "resize",
    "resume",
    "reverse",
    "row",
    "scroll",
    "search",
    "security",
    "seek",
    "select",
    "show",
    "slot",
    "stalled",
    "start",
    "stop",
    "storage",
    "submit",
    "suspend",
    "syncrestored",
    "time",
    "toggle",
    "touch",
    "track",
    "transition",
    "undo",
    "unhandled",
    "unload",
    "update",
    "url",
    "vis",
    "volume",
    "vr",
    "waiting",
    "webkit",
    "wheel",
    "zoom",
];

fn is_handler(name: &[u8]) -> bool {
    let Some(prefix) = name.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case(b"on")) else { return false };
    let event = name.get(prefix.len()..).unwrap_or_default();
    event.iter().all(u8::is_ascii_alphanumeric)
        && EVENTS
            .iter()
            .any(|known| event.get(..known.len()).is_some_and(|head| head.eq_ignore_ascii_case(known.as_bytes())))
}

#[derive(Debug)]
struct Attribute<'a> {
    name: &'a [u8],
    value: Option<&'a [u8]>,
}

impl Attribute<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

#[derive(Debug)]
struct Tag<'a> {
    start: usize,
    end: usize,
    name: &'a [u8],
    attributes: Vec<Attribute<'a>>,
}

impl<'a> Tag<'a> {
    /// Reads a start tag as browsers do, and as it looks inside of JSON, with its quotes escaped.
    fn read(text: &'a [u8], start: usize) -> Self {
        let window = text.get(start..start.saturating_add(TAG_LONGEST).min(text.len())).unwrap_or_default();
        let mut cursor = Cursor { window, at: 1 };
        let name = cursor.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_'));
        let mut attributes = Vec::new();
        // A name that runs into something else is no tag: Vec<String, Global>.
        let is_tag = matches!(cursor.peek(), Some(b'>' | b'/' | b'+' | b'\\' | b'%' | b'"' | b'\''))
            || cursor.peek().is_some_and(is_space);
        let mut closed = false;
        while is_tag && attributes.len() < ATTRIBUTES_MOST {
            cursor.take_while(|byte| is_space(byte) || matches!(byte, b'/' | b'"' | b'\'' | b'+'));
            match cursor.peek() {
                None | Some(b'<') => break,
                Some(b'>') => {
                    cursor.at = cursor.at.saturating_add(1);
                    closed = true;
                    break;
                }
                Some(_) => {}
            }
            let before = cursor.at;
            let attribute = cursor.take_while(|byte| {
                !is_space(byte) && !matches!(byte, b'=' | b'>' | b'/' | b'<' | b'"' | b'\'' | b'\\')
            });
            if cursor.at == before {
                // A backslash or a stray byte: what JSON escapes as \n or \t separates attributes too.
                cursor.at = cursor.at.saturating_add(
                    if matches!(cursor.peek(), Some(b'\\'))
                        && matches!(cursor.window.get(before.saturating_add(1)), Some(b'n' | b't' | b'r'))
                    {
                        2
                    } else {
                        1
                    },
                );
                continue;
            }
            let mark = cursor.at;
            cursor.take_while(is_space);
            let value = if cursor.peek() == Some(b'=') {
                cursor.at = cursor.at.saturating_add(1);
                cursor.take_while(is_space);
                Some(cursor.value())
            } else {
                cursor.at = mark;
                None
            };
            attributes.push(Attribute { name: attribute, value });
        }
        // Without its end a tag acts only through what stands in it: it still counts, as far as it goes.
        let end = if closed || attributes.iter().any(|attribute| attribute.value.is_some()) { cursor.at } else { 1 };
        Self { start, end: start.saturating_add(end), name, attributes }
    }

    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    fn value(&self, name: &str) -> Option<&'a [u8]> {
        self.attributes.iter().find(|attribute| attribute.is(name)).and_then(|attribute| attribute.value)
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b || byte == 0
}

struct Cursor<'a> {
    window: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.window.get(self.at).copied()
    }

    fn take_while(&mut self, test: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.window.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !test(*byte)).unwrap_or(rest.len());
        self.at = self.at.saturating_add(length);
        rest.get(..length).unwrap_or_default()
    }

    /// An attribute's value, quoted (also as \" inside of JSON, or "" inside of CSV) or not.
    fn value(&mut self) -> &'a [u8] {
        if self.peek() == Some(b'\\') && matches!(self.window.get(self.at.saturating_add(1)), Some(b'"' | b'\'')) {
            self.at = self.at.saturating_add(1);
        }
        match self.peek() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.at = self.at.saturating_add(1);
                if quote == b'"' && self.peek() == Some(b'"') {
                    self.at = self.at.saturating_add(1);
                }
                let value = self.take_while(|byte| byte != quote);
                self.at = self.at.saturating_add(1).min(self.window.len());
                value.strip_suffix(b"\\").unwrap_or(value)
            }
            _ => self.take_while(|byte| !is_space(byte) && byte != b'>'),
        }
    }
}
