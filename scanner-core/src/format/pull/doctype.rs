//! The document type: what it loads and what its entities would grow to. Nothing is loaded and nothing grows.

use std::collections::BTreeMap;

use memchr::{memchr, memchr3, memmem};

use super::Fault;
use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity},
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// Rules that every format made of XML brings.
pub(crate) const RULES: &[&Rule] = &[&EXTERNAL, &ELSEWHERE, &GROWTH];

static EXTERNAL: Rule = Rule::built_in(
    "xml/external-entity",
    "xml.external_entity",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The XML has a reader load something from elsewhere",
        why: "A reader that resolves entities puts the content of local files into the document or sends a request that \
              says where it is read (XXE).",
        remedy: "Do not pass it on; read it only with entities and document types switched off.",
    },
);

static ELSEWHERE: Rule = Rule::built_in(
    "xml/document-type-elsewhere",
    "xml.external_entity",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "The document type is kept elsewhere",
        why: "Readers know the common document types by their public names and load nothing; one that validates may.",
        remedy: "Nothing to do where the reader loads no document types.",
    },
);

pub(crate) static GROWTH: Rule = Rule::built_in(
    "xml/entity-growth",
    "bomb.xml_entities",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Entities of the XML grow without measure",
        why: "Entities that name each other become gigabytes of text in a reader that expands them (billion laughs).",
        remedy: "Do not pass it on; read it only with entities switched off.",
    },
);

/// Bytes of expanded entities below which nothing is a bomb.
pub(crate) const GROWTH_FROM: u64 = 1024 * 1024;

/// A document type as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doctype<'a> {
    /// Offset of its `<`.
    pub(crate) at: usize,
    /// Offset behind its `>`.
    pub(crate) end: usize,
    /// The address of a document type elsewhere.
    pub(crate) system: Option<&'a [u8]>,
    /// The public name of a document type elsewhere.
    pub(crate) public: Option<&'a [u8]>,
    /// What stands between its square brackets, and where that begins.
    subset: (&'a [u8], usize),
}

/// An entity that a document type declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entity<'a> {
    /// Its name.
    pub(crate) name: &'a [u8],
    /// For use in the document type itself: `%name;`.
    pub(crate) is_parameter: bool,
    /// What it stands for.
    pub(crate) value: Value<'a>,
    /// Offset of its declaration.
    pub(crate) at: usize,
}

/// What an entity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A text.
    Internal(&'a [u8]),
    /// What is found at an address.
    External(&'a [u8]),
    /// Something that is no XML, at an address: never put into the text.
    Data(&'a [u8]),
}

/// Reads a document type at the start of `rest`, which stands at `at`; also gives its length.
pub(super) fn read(rest: &[u8], at: usize) -> Result<(Doctype<'_>, usize), Fault> {
    let fault = || Fault::Malformed { what: "the document type does not end", at: count(at) };
    let mut here = b"<!DOCTYPE".len();
    let mut subset = (&b""[..], at);
    let mut outside: Vec<&[u8]> = Vec::new();
    loop {
        let ahead = rest.get(here..).ok_or_else(fault)?;
        match ahead.first().ok_or_else(fault)? {
            b'>' => break,
            quote @ (b'"' | b'\'') => {
                let inside = ahead.get(1..).unwrap_or_default();
                let length = memchr(*quote, inside).ok_or_else(fault)?;
                outside.push(inside.get(..length).unwrap_or_default());
                here = here.saturating_add(length).saturating_add(2);
                // The two identifiers; what a third would be, nobody says.
                if outside.len() > 2 {
                    return Err(fault());
                }
            }
            b'[' => {
                let from = here.saturating_add(1);
                let inside = rest.get(from..).unwrap_or_default();
                let length = subset_length(inside).ok_or_else(fault)?;
                subset = (inside.get(..length).unwrap_or_default(), at.saturating_add(from));
                here = from.saturating_add(length).saturating_add(1);
            }
            _ => {
                let next = ahead.iter().position(|byte| matches!(byte, b'>' | b'"' | b'\'' | b'['));
                here = here.saturating_add(next.ok_or_else(fault)?);
            }
        }
    }
    let length = here.saturating_add(1);
    let (public, system) = match outside.as_slice() {
        [system] => (None, Some(*system)),
        [public, system] => (Some(*public), Some(*system)),
        _ => (None, None),
    };
    Ok((Doctype { at, end: at.saturating_add(length), system, public, subset }, length))
}

/// Bytes up to the `]` that ends an internal subset.
fn subset_length(inside: &[u8]) -> Option<usize> {
    let mut here = 0_usize;
    loop {
        let ahead = inside.get(here..)?;
        let step = match ahead.first()? {
            b']' => return Some(here),
            b'<' => declaration_length(ahead)?,
            _ => 1,
        };
        here = here.checked_add(step)?;
    }
}

/// Bytes of the comment, instruction or declaration that begins here. Brackets and signs in quotes do not count.
fn declaration_length(ahead: &[u8]) -> Option<usize> {
    for (open, close) in [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>")] {
        if let Some(inside) = ahead.strip_prefix(open) {
            let length = memmem::find(inside, close)?;
            return length.checked_add(open.len())?.checked_add(close.len());
        }
    }
    let mut here = 1_usize;
    loop {
        let rest = ahead.get(here..)?;
        let next = memchr3(b'>', b'"', b'\'', rest)?;
        let found = *rest.get(next)?;
        here = here.checked_add(next)?.checked_add(1)?;
        if found == b'>' {
            return Some(here);
        }
        let length = memchr(found, ahead.get(here..)?)?;
        here = here.checked_add(length)?.checked_add(1)?;
    }
}

impl<'a> Doctype<'a> {
    /// What it loads and what its entities would grow to, and the findings about it, one of a kind. Spans are those of
    /// the XML: the caller whose XML is no artifact of its own places them anew.
    ///
    /// # Errors
    /// [`Exhausted`] when the budget does not cover it.
    pub(crate) fn judge(&self, budget: &mut Budget) -> Result<(Growth<'a>, Vec<Finding>), Exhausted> {
        budget.spend(Resource::Steps, count(self.end.saturating_sub(self.at)))?;
        let span = |finding: Finding, at: usize| finding.at(count(at), count(self.end));
        let mut findings = Vec::new();
        let loaded = self.entities().find(|entity| matches!(entity.value, Value::External(_)));
        if let Some(entity) = loaded {
            let what = if entity.is_parameter { "a parameter entity" } else { "an entity" };
            let message = format!("{what} is what is found at an address");
            findings.push(span(Finding::built_in(&EXTERNAL).message(message), entity.at));
        }
        if let Some(system) = self.system {
            let rule = if self.is_usual(system) { &ELSEWHERE } else { &EXTERNAL };
            findings.push(span(Finding::built_in(rule).message("the document type is found at an address"), self.at));
        }
        let growth = Growth::of(self);
        if growth.largest() > GROWTH_FROM {
            findings.push(span(Finding::built_in(&GROWTH), self.at));
        }
        Ok((growth, findings))
    }

    /// A document type that is known by its public name or stands beside the document.
    fn is_usual(&self, system: &[u8]) -> bool {
        let is_formal = |public: &[u8]| public.windows(5).any(|word| word == b"//DTD" || word == b"//dtd");
        let is_outside = memmem::find(system, b":").is_some()
            || system.starts_with(b"/")
            || system.starts_with(b"\\")
            || memmem::find(system, b"..").is_some()
            || memchr(b'%', system).is_some();
        let is_web = system.starts_with(b"http://") || system.starts_with(b"https://");
        let is_legacy = system == b"about:legacy-compat";
        is_legacy || !is_outside || is_web && self.public.is_some_and(is_formal)
    }

    /// The entities it declares, in order.
    pub(crate) fn entities(&self) -> impl Iterator<Item = Entity<'a>> + use<'a> {
        let (subset, start) = self.subset;
        let mut here = 0_usize;
        let declarations = std::iter::from_fn(move || {
            let ahead = subset.get(here..)?;
            let at = here.checked_add(memchr(b'<', ahead)?)?;
            let ahead = subset.get(at..)?;
            let length = declaration_length(ahead)?;
            here = at.checked_add(length)?;
            Some((ahead.get(..length)?, start.saturating_add(at)))
        });
        declarations.filter_map(|(declaration, at)| entity(declaration, at))
    }
}

/// `<!ENTITY % name "value">`, `<!ENTITY name SYSTEM "address" NDATA kind>`, `<!ENTITY name PUBLIC "name" "address">`.
fn entity(declaration: &[u8], at: usize) -> Option<Entity<'_>> {
    let rest = declaration.strip_prefix(b"<!ENTITY")?.trim_ascii_start();
    let (is_parameter, rest) = match rest.strip_prefix(b"%") {
        Some(rest) => (true, rest.trim_ascii_start()),
        None => (false, rest),
    };
    let (name, rest) = rest.split_at_checked(rest.iter().position(u8::is_ascii_whitespace)?)?;
    let rest = rest.trim_ascii_start();
    let value = if let Some(rest) = rest.strip_prefix(b"SYSTEM") {
        outside(quoted(rest)?)
    } else if let Some(rest) = rest.strip_prefix(b"PUBLIC") {
        outside(quoted(quoted(rest)?.1)?)
    } else {
        Value::Internal(quoted(rest)?.0)
    };
    Some(Entity { name, is_parameter, value, at })
}

fn outside<'a>((address, rest): (&'a [u8], &'a [u8])) -> Value<'a> {
    if memmem::find(rest, b"NDATA").is_some() { Value::Data(address) } else { Value::External(address) }
}

/// The quoted text that begins here, and what is behind it.
fn quoted(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = rest.trim_ascii_start();
    let quote @ (b'"' | b'\'') = rest.first()? else { return None };
    let inside = rest.get(1..)?;
    let end = memchr(*quote, inside)?;
    Some((inside.get(..end)?, inside.get(end.checked_add(1)?..)?))
}

/// What the entities of a document type grow to, where a reader expands them.
#[derive(Debug, Default)]
pub(crate) struct Growth<'a> {
    sizes: BTreeMap<&'a [u8], u64>,
}

impl<'a> Growth<'a> {
    /// Sizes of all internal entities that a text may name; linear in the document type.
    pub(crate) fn of(doctype: &Doctype<'a>) -> Self {
        let mut values: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
        for entity in doctype.entities() {
            if let (false, Value::Internal(value)) = (entity.is_parameter, entity.value) {
                // The first declaration counts (XML 1.0 §4.2).
                values.entry(entity.name).or_insert(value);
            }
        }
        let mut growth = Self::default();
        for name in values.keys().copied() {
            growth.resolve(name, &values);
        }
        growth
    }

    /// One entity and those it names, without recursion. One that names itself grows without end.
    fn resolve(&mut self, name: &'a [u8], values: &BTreeMap<&'a [u8], &'a [u8]>) {
        let mut path: Vec<&[u8]> = vec![name];
        while let Some(name) = path.last().copied() {
            let Some(value) = values.get(name).copied().filter(|_| self.sizes.get(name).is_none_or(|size| *size == 0))
            else {
                path.pop();
                continue;
            };
            // Being looked at: who names it again meets a zero.
            let is_second = self.sizes.insert(name, 0).is_some();
            let mut size = count(value.len()).max(1);
            let mut waiting = false;
            for reference in references(value) {
                match (self.sizes.get(reference), values.contains_key(reference)) {
                    (Some(0), _) => size = u64::MAX,
                    (Some(known), _) => size = size.saturating_add(*known),
                    (None, true) if !is_second => {
                        path.push(reference);
                        waiting = true;
                    }
                    (None, _) => {}
                }
            }
            if !waiting {
                self.sizes.insert(name, size);
                path.pop();
            }
        }
    }

    /// Bytes that the references in a text grow to.
    pub(crate) fn in_text(&self, raw: &[u8]) -> u64 {
        if self.sizes.is_empty() {
            return 0;
        }
        let sizes = references(raw).filter_map(|reference| self.sizes.get(reference));
        sizes.fold(0, |total, size| total.saturating_add(*size))
    }

    /// Bytes of the largest entity.
    pub(crate) fn largest(&self) -> u64 {
        self.sizes.values().copied().max().unwrap_or(0)
    }
}

/// Names between `&` and `;`, character references among them.
fn references(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let longest = 256;
    value.split(|byte| *byte == b'&').skip(1).filter_map(move |rest| {
        let near = rest.get(..longest).unwrap_or(rest);
        near.get(..memchr(b';', near)?)
    })
}
