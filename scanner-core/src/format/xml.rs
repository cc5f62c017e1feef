//! XML: entities, style sheets that run, inclusions, and whether it is whole.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use super::markup::{
    address::Address,
    element::{Element, local},
    entity,
    judge::Judge,
    purpose::is_shifting,
    rules,
    token::{Attribute, Dialect, Tag, Token, Tokens},
    walk::{Walk, Watch, acts_in_utf7},
};
use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity, Stop},
    format::{
        Format, Out, Subject,
        cleaning::{Cleaning, Uncleanable, edited},
        ooxml,
        program::launcher,
        text,
    },
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format = Format {
    name: "xml",
    labels: &["xml"],
    inspect,
    clean: Some(clean),
    rules: &[&STRUCTURE, &CUT, &ENCODING, &launcher::XSLT_SCRIPT],
};

pub(super) static STRUCTURE: Rule = Rule::built_in(
    "xml/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Tags that do not fit each other",
        why: "A parser has to refuse such a file; a program that goes on sees other elements than the next one.",
        remedy: "Ask for the file to be written again.",
    },
);

pub(super) static CUT: Rule = Rule::built_in(
    "xml/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The file ends in the middle",
        why: "Elements are still open at its end: what should follow is missing, and nobody knows what it was.",
        remedy: "Ask for the whole file.",
    },
);

pub(super) static ENCODING: Rule = Rule::built_in(
    "xml/encoding",
    "malformed.encoding",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "An encoding in which harmless letters become markup",
        why: "Read as UTF-7 or with the shifts of ISO-2022 the same bytes are other characters, and elements may stand where none are seen.",
        remedy: "Write the file again as UTF-8.",
    },
);

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    // A document of an office program that is one XML and no zip.
    if ooxml::flat::inspect(subject.bytes, out, budget)? {
        return Ok(());
    }
    let decoded = text::inspect(subject, out, budget);
    let Some(view) = out.texts.pop() else { return decoded };
    // A document of an office program kept as one XML is read by who knows its parts.
    let is_office = ooxml::flat::inspect(subject.bytes, out, budget)?;
    let before = out.texts.len();
    let mut judge = Judge::of(&view);
    let mut document = Document::default();
    let mut walk = Walk::of(&view, Dialect::Xml);
    let walked = walk.run(&view, &mut judge, &mut document, out, budget);
    well_formed(&walk, &view, out);
    if is_office {
        out.texts.truncate(before);
    }
    walked.and(decoded)
}

/// Whether a declaration names an encoding in which markup is written in letters, as UTF-7 does.
fn is_shifted(declaration: &[u8]) -> bool {
    let named = memmem::find(declaration, b"encoding").and_then(|at| declaration.get(at..));
    let value = named.and_then(|rest| rest.get(memchr::memchr(b'=', rest)?.checked_add(1)?..));
    declaration.starts_with(b"xml") && value.is_some_and(is_shifting)
}

/// The document without its type and without orders to programs; every other byte stays.
fn clean(subject: &Subject<'_>, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
    if text::is_wide(subject.bytes) {
        return Err("XML in letters of more than one byte is not followed".into());
    }
    let bytes = subject.bytes;
    budget.spend(Resource::Steps, count(bytes.len()))?;
    if acts_in_utf7(bytes).is_some() {
        return Err("there is markup in it to who reads it as UTF-7".into());
    }
    let mut tokens = Tokens::of(bytes, Dialect::Xml);
    let mut edits = Vec::new();
    let mut start = 0_usize;
    while let Some(token) = tokens.next() {
        let whole = start..tokens.position();
        start = whole.end;
        let inside = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        match &token {
            Token::Doctype(range) if memmem::find(&inside(range).to_ascii_uppercase(), b"<!ENTITY").is_some() => {
                return Err("it declares entities, without which it says something else".into());
            }
            Token::Doctype(_) => {
                cleaning.did("removed a document type");
                edits.push((whole, Vec::new()));
            }
            Token::Instruction(range) if is_shifted(inside(range)) => {
                return Err("it is in an encoding whose letters stand for others".into());
            }
            Token::Instruction(range) if !inside(range).starts_with(b"xml ") => {
                cleaning.did("removed an instruction");
                edits.push((whole, Vec::new()));
            }
            Token::Open(tag) if tag.attributes > 0 => {
                let shows = |attribute: &Attribute| {
                    let space = entity::decoded(inside(&attribute.value));
                    let name = inside(&attribute.name);
                    // In any case of letters, as whoever looks at the file takes it: `xmlNs` names no space to XML.
                    name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"xmlns"))
                        && SHOWN.contains(&space.trim_ascii())
                };
                if tokens.attributes().iter().any(shows) {
                    return Err("it holds elements that a browser acts upon".into());
                }
            }
            _ => {}
        }
    }
    // Taken apart in the wrong place, what is left could be put together to something else.
    if tokens.cut_at.is_some() {
        return Err("it is no whole XML".into());
    }
    Ok(if edits.is_empty() { bytes.clone() } else { edited(bytes, edits, budget)?.into() })
}

/// Name spaces of elements that a browser shows and runs.
const SHOWN: [&[u8]; 2] = [b"http://www.w3.org/1999/xhtml", b"http://www.w3.org/2000/svg"];

/// What is remembered of the document.
#[derive(Debug, Default)]
struct Document {
    /// Elements of XHTML or SVG are among its own: a browser acts on them.
    is_shown: bool,
    /// It is a style sheet (XSLT).
    is_style_sheet: bool,
    /// Prefixes of name spaces whose elements are programs to a style sheet.
    programs: Vec<Vec<u8>>,
}

/// Name spaces in which XSLT processors run code.
const RUNS: [&str; 8] = [
    "urn:schemas-microsoft-com:xslt",
    "http://xml.apache.org/xalan",
    "http://xml.apache.org/xslt",
    "xalan://",
    "http://php.net/xsl",
    "http://saxon.sf.net",
    "http://icl.com/saxon",
    "java",
];

impl Watch for Document {
    fn open(&mut self, element: &Element<'_>, depth: usize, judge: &mut Judge<'_>, out: &mut Out<'_>) {
        for property in element.properties.iter().filter(|property| property.name.starts_with(b"xmlns")) {
            let value = property.value.trim_ascii();
            self.is_shown |= SHOWN.contains(&value);
            self.is_style_sheet |= value == b"http://www.w3.org/1999/XSL/Transform" && depth == 0;
            if RUNS.iter().any(|space| value.starts_with(space.as_bytes())) && self.programs.len() < 16 {
                self.programs.push(local(&property.name).to_vec());
            }
        }
        let at = || element.whole.clone();
        if self.is_style_sheet {
            if element.is(&[b"script", b"component"]) && !self.programs.is_empty() {
                judge.tell(&launcher::XSLT_SCRIPT, at(), "", out);
            }
            for property in &element.properties {
                let calls = |prefix: &Vec<u8>| {
                    memmem::find(&property.value, &[&**prefix, b":"].concat())
                        .is_some_and(|_| property.value.contains(&b'('))
                };
                if matches!(&*property.name, b"select" | b"test" | b"match") && self.programs.iter().any(calls) {
                    judge.tell(&launcher::XSLT_SCRIPT, at(), "an expression that calls a program", out);
                }
                let reads = memmem::find_iter(&property.value, b"document(").any(|at| {
                    let argument = property.value.get(at.saturating_add(9)..).unwrap_or_default().trim_ascii_start();
                    argument.split_first().is_some_and(|(quote, rest)| {
                        matches!(quote, b'\'' | b'"') && Address::of(rest) == Address::Elsewhere
                    })
                });
                if reads {
                    judge.tell(&rules::EXTERNAL, at(), "a style sheet reads from elsewhere", out);
                }
            }
        }
        let is_inclusion = element.is(&[b"include", b"import"])
            && (self.is_style_sheet || element.value(b"parse").is_some())
            || element.is(&[b"include"])
                && element.properties.iter().any(|property| {
                    property.name.starts_with(b"xmlns")
                        && property.value.starts_with(b"http://www.w3.org/2001/XInclude")
                });
        if is_inclusion && element.value(b"href").is_some_and(|address| Address::of(address) == Address::Elsewhere) {
            judge.tell(&rules::EXTERNAL, at(), "another document is included", out);
        }
    }

    fn instruction(&mut self, text: &[u8], at: Range<usize>, judge: &mut Judge<'_>, out: &mut Out<'_>) {
        instruction(text, at, judge, out);
    }

    fn is_shown(&self) -> bool {
        self.is_shown
    }
}

/// A declaration of XML, or an instruction to a program: `xml-stylesheet` is followed by browsers.
pub(super) fn instruction(text: &[u8], at: Range<usize>, judge: &mut Judge<'_>, out: &mut Out<'_>) {
    let inside = text.get(at.clone()).unwrap_or_default();
    let tag = [b"<", inside, b">"].concat();
    let mut tokens = Tokens::of(&tag, Dialect::Xml);
    let Some(Token::Open(Tag { name, .. })) = tokens.next() else { return };
    let value = |wanted: &[u8]| {
        tokens
            .attributes()
            .iter()
            .find(|attribute| tag.get(attribute.name.clone()).is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
            .and_then(|attribute| tag.get(attribute.value.clone()))
            .map(entity::decoded)
    };
    match tag.get(name) {
        Some(b"xml") if value(b"encoding").is_some_and(|name| is_shifting(&name)) => {
            judge.tell(&ENCODING, at, "", out);
        }
        Some(b"xml-stylesheet") => match value(b"href").map(|address| Address::of(&address)) {
            Some(Address::Elsewhere) => judge.tell(&rules::EXTERNAL, at, "a style sheet is loaded from elsewhere", out),
            Some(address) if address.runs() => judge.tell(&rules::SCRIPT_URL, at, "", out),
            _ => {}
        },
        _ => {}
    }
}

/// Says what keeps the walked text from being XML.
pub(super) fn well_formed(walk: &Walk<'_>, view: &TextView, out: &mut Out<'_>) {
    let place = |finding: Finding, at: usize| match view.map.as_ref() {
        Some(map) => {
            let span = map.span(count(at), count(at));
            finding.at(span.start, span.end)
        }
        None => finding,
    };
    if let Some(at) = walk.cut_at {
        out.find(place(Finding::built_in(&CUT), at));
    } else if walk.roots == 0 && walk.mismatched.is_none() {
        out.find(place(Finding::built_in(&CUT), view.text.len()).message("there is no element in it"));
    } else if walk.left_open > 0 && walk.mismatched.is_none() {
        let message = format!("{} elements are still open at the end", walk.left_open);
        out.find(place(Finding::built_in(&CUT), view.text.len()).message(message));
    }
    if let Some((at, times)) = walk.mismatched {
        out.find(place(Finding::built_in(&STRUCTURE), at).message(format!("{times} end tags do not fit what is open")));
    }
}
