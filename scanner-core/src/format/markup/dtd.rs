//! Document type declarations (XML 1.0, 2.8 and 4.2): entities that reach outside, hold markup, or grow. Nothing is
//! expanded: how much each would become is computed.

use std::{collections::HashMap, ops::Range};

use memchr::{memchr, memchr_iter, memmem};

use super::{address::Address, element, entity, judge::Judge, rules, token::is_space};
use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    format::{Out, xml},
    reader::count,
};

pub(in crate::format) static EXTERNAL_ENTITY: Rule = Rule::built_in(
    "markup/external-entity",
    "xml.external_entity",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An entity that is read from elsewhere",
        why: "A parser that follows it puts a file of its own machine, or the answer of a host it can reach, into the document (XXE).",
        remedy: "Do not parse the file with external entities switched on; ask for it without a document type.",
    },
);
pub(in crate::format) static INTERNAL_ENTITY: Rule = Rule::built_in(
    "markup/internal-entity",
    "xml.internal_entity",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An entity that holds markup",
        why: "The elements come into being only when the entity is expanded: a filter that does not expand it does not see them.",
        remedy: "Ask for the file without a document type.",
    },
);
pub(in crate::format) static ENTITIES: Rule = Rule::built_in(
    "markup/entities",
    "bomb.xml_entities",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Entities that grow without measure",
        why: "A few bytes name each other so often that a parser which expands them runs out of memory or time.",
        remedy: "Do not open the file.",
    },
);

/// Expanded text beyond that, and beyond [`RATIO`] times the file, is a bomb.
const GROWN: u64 = 8 * 1024 * 1024;
const RATIO: u64 = 16;

/// One declared entity.
#[derive(Debug)]
struct Entity {
    /// Bytes of its own.
    own: u64,
    /// Entities it names, by position.
    names: Vec<usize>,
    /// What it becomes: computed once.
    size: Option<u64>,
}

/// Judges a document type and what the rest of the text makes of its entities.
pub(in crate::format) fn judge(text: &[u8], doctype: &Range<usize>, judge: &mut Judge<'_>, out: &mut Out<'_>) {
    let inside = text.get(doctype.clone()).unwrap_or_default();
    let subset = memchr(b'[', inside).unwrap_or(inside.len());
    let head = inside.get(..subset).unwrap_or_default();
    external_subset(head, doctype.start..doctype.start.saturating_add(subset), judge, out);
    let mut declared: Vec<(Vec<u8>, Range<usize>)> = Vec::new();
    let mut at = subset;
    while let Some(found) = inside.get(at..).and_then(|rest| memmem::find(rest, b"<!")) {
        let start = at.saturating_add(found);
        let rest = inside.get(start..).unwrap_or_default();
        if rest.starts_with(b"<!--") {
            let Some(end) = memmem::find(rest, b"-->") else { break };
            at = start.saturating_add(end).saturating_add(3);
        } else if rest.get(2..8).is_some_and(|word| word.eq_ignore_ascii_case(b"ENTITY")) {
            let length = declaration(rest, doctype.start.saturating_add(start), &mut declared, judge, out);
            at = start.saturating_add(length.max(8));
        } else {
            at = start.saturating_add(2);
        }
    }
    if !declared.is_empty() {
        grow(text, doctype, &declared, judge, out);
    }
}

/// `SYSTEM "…"` or `PUBLIC "…" "…"` before the internal subset.
fn external_subset(head: &[u8], at: Range<usize>, judge: &mut Judge<'_>, out: &mut Out<'_>) {
    let mut quoted = head.split(|byte| matches!(byte, b'"' | b'\'')).skip(1).step_by(2);
    let lower = head.to_ascii_lowercase();
    let address = if memmem::find(&lower, b"public").is_some() {
        // What has a public name is known to parsers; its address is rarely followed.
        let _ = quoted.next();
        quoted.next().filter(|address| {
            !address.to_ascii_lowercase().starts_with(b"http")
        })
    } else if memmem::find(&lower, b"system").is_some() {
        quoted.next()
    } else {
        None
    };
    let Some(address) = address else { return };
    let lower = address.to_ascii_lowercase();
    let is_known = [&b"http://www.w3.org/"[..], b"https://www.w3.org/", b"http://www.apple.com/dtds/", b"about:legacy-compat"]
        .iter()
        .any(|known| lower.starts_with(known));
    if Address::of(address) == Address::Elsewhere && !is_known {
        judge.tell(&EXTERNAL_ENTITY, at.clone(), "the document type is read from elsewhere", out);
        judge.tell(&rules::EXTERNAL, at, "a document type is read from elsewhere", out);
    }
}

/// Reads `<!ENTITY …>` at the start: how long it is.
fn declaration(
    rest: &[u8],
    start: usize,
    declared: &mut Vec<(Vec<u8>, Range<usize>)>,
    judge: &mut Judge<'_>,
    out: &mut Out<'_>,
) -> usize {
    let mut at = 8_usize;
    let skip = |at: &mut usize| {
        let blanks = rest.get(*at..).unwrap_or_default().iter().take_while(|byte| is_space(**byte)).count();
        *at = at.saturating_add(blanks);
    };
    let word = |at: &mut usize| {
        let from = rest.get(*at..).unwrap_or_default();
        let length = from.iter().take_while(|byte| !is_space(**byte) && !matches!(byte, b'>' | b'"' | b'\'')).count();
        *at = at.saturating_add(length);
        from.get(..length).unwrap_or_default()
    };
    let quoted = |at: &mut usize| {
        let quote = rest.get(*at).copied().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let inside = at.saturating_add(1);
        let length = memchr(quote, rest.get(inside..)?)?;
        *at = inside.saturating_add(length).saturating_add(1);
        Some(inside..inside.saturating_add(length))
    };
    skip(&mut at);
    let mut name = word(&mut at).to_vec();
    if name == b"%" {
        skip(&mut at);
        name = [b"%", word(&mut at)].concat();
    }
    skip(&mut at);
    if let Some(value) = quoted(&mut at) {
        let bytes = rest.get(value.clone()).unwrap_or_default();
        let range = start..start.saturating_add(at);
        let decoded = entity::decoded(bytes);
        if memchr(b'<', &decoded).is_some() {
            judge.tell(&INTERNAL_ENTITY, range.clone(), "", out);
            if element::acts(&decoded) || element::acts(&entity::decoded(&decoded)) {
                judge.tell(&rules::SCRIPT, range, "a script inside of an entity", out);
            }
        }
        declared.push((name, start.saturating_add(value.start)..start.saturating_add(value.end)));
        return at;
    }
    let kind = word(&mut at).to_ascii_uppercase();
    if !matches!(&*kind, b"SYSTEM" | b"PUBLIC") {
        return at;
    }
    let mut address = None;
    for _ in 0..2 {
        skip(&mut at);
        address = quoted(&mut at).and_then(|range| rest.get(range)).or(address);
    }
    skip(&mut at);
    let is_data = rest.get(at..).is_some_and(|rest| rest.starts_with(b"NDATA"));
    let range = start..start.saturating_add(at);
    let severity = if is_data { Severity::Low } else { Severity::High };
    judge.tell_as(&EXTERNAL_ENTITY, severity, range.clone(), "", out);
    if !is_data && address.is_some_and(|address| Address::of(address) == Address::Elsewhere) {
        judge.tell(&rules::EXTERNAL, range, "an entity is read from elsewhere", out);
    }
    at
}

/// References by name in a text: `&a;`, and `%a;` where those count.
fn references<'t>(text: &'t [u8], with_parameters: bool) -> impl Iterator<Item = Vec<u8>> + 't {
    let marks = memchr_iter(b'&', text).chain(memchr_iter(b'%', text).filter(move |_| with_parameters));
    marks.filter_map(move |at| {
        let rest = text.get(at.saturating_add(1)..)?;
        // Names are short; what is longer names nothing that was declared.
        let window = rest.get(..128).unwrap_or(rest);
        let name = window.get(..memchr(b';', window)?)?;
        Some(if text.get(at) == Some(&b'%') { [b"%", name].concat() } else { name.to_vec() })
    })
}

/// How much the entities would become.
fn grow(
    text: &[u8],
    doctype: &Range<usize>,
    declared: &[(Vec<u8>, Range<usize>)],
    judge: &mut Judge<'_>,
    out: &mut Out<'_>,
) {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for (index, (name, _)) in declared.iter().enumerate() {
        // The first declaration counts.
        places.entry(name).or_insert(index);
    }
    let mut entities: Vec<Entity> = declared
        .iter()
        .map(|(_, range)| {
            let value = text.get(range.clone()).unwrap_or_default();
            let names = references(value, true).filter_map(|name| places.get(&*name).copied()).collect();
            Entity { own: count(value.len()), names, size: None }
        })
        .collect();
    let is_loop = sizes(&mut entities);
    let of = |index: usize| entities.get(index).and_then(|entity| entity.size).unwrap_or(0);
    let largest = (0..entities.len()).map(of).max().unwrap_or(0);
    let content = text.get(doctype.end..).unwrap_or_default();
    let used = references(content, false)
        .filter_map(|name| places.get(&*name).copied())
        .fold(0_u64, |total, index| total.saturating_add(of(index)));
    let becomes = used.max(largest);
    if is_loop {
        judge.tell(&ENTITIES, doctype.clone(), "entities name each other in a circle", out);
        judge.tell(&xml::STRUCTURE, doctype.clone(), "no parser may accept entities that name each other in a circle", out);
    } else if becomes > GROWN && becomes > count(text.len()).saturating_mul(RATIO) {
        let message = format!("the entities would become {becomes} bytes");
        judge.tell(&ENTITIES, doctype.clone(), &message, out);
    }
}

/// Computes what each entity becomes, without recursion; whether some name each other in a circle.
fn sizes(entities: &mut [Entity]) -> bool {
    let mut is_loop = false;
    let mut is_open = vec![false; entities.len()];
    for first in 0..entities.len() {
        let mut path = vec![(first, 0_usize)];
        while let Some((index, next)) = path.last_mut() {
            let index = *index;
            let Some(entity) = entities.get(index) else { break };
            if entity.size.is_some() {
                path.pop();
                continue;
            }
            if let Some(child) = entity.names.get(*next).copied() {
                *next = next.saturating_add(1);
                if let Some(open) = is_open.get_mut(index) {
                    *open = true;
                }
                if is_open.get(child).copied().unwrap_or(false) {
                    is_loop = true;
                } else {
                    path.push((child, 0));
                }
                continue;
            }
            let size = entity.names.iter().fold(entity.own, |size, child| {
                size.saturating_add(entities.get(*child).and_then(|child| child.size).unwrap_or(0))
            });
            if let Some(entity) = entities.get_mut(index) {
                entity.size = Some(size);
            }
            if let Some(open) = is_open.get_mut(index) {
                *open = false;
            }
            path.pop();
        }
    }
    is_loop
}
