//! Markdown: what its raw HTML, its links and its pictures do once it is shown, with code left out, and what is not shown.

use std::{collections::HashSet, ops::Range};

use bytes::Bytes;
use memchr::{memchr, memmem};

use super::markup::{
    address::Address,
    entity,
    judge::Judge,
    pieces::Pieces,
    rules,
    token::Dialect,
    walk::{Nobody, Walk},
};
use crate::{
    finding::Stop,
    format::{Format, Out, Subject, text},
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod code;
#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format =
    Format { name: "markdown", labels: &["markdown"], inspect, clean: None, rules: &rules::ALL };

/// Longest address or label that is followed.
const LONGEST: usize = 4096;
/// Names of pictures that are remembered.
const NAMES: usize = 10_000;
/// Bytes walked in one step.
const BYTES_PER_STEP: u64 = 2;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let decoded = text::inspect(subject, out, budget);
    let Some(view) = out.texts.pop() else { return decoded };
    read(&view, out, budget).map(drop).and(decoded)
}

/// Reads a text as Markdown: whether something in it runs when it is shown.
pub(super) fn read(view: &TextView, out: &mut Out<'_>, budget: &mut Budget) -> Result<bool, Stop> {
    budget.spend(Resource::Steps, count(view.text.len()).div_ceil(BYTES_PER_STEP))?;
    budget.spend(Resource::DecodedBytes, count(view.text.len()))?;
    // Code is shown as it stands: to what follows it is blank.
    let mut shown = view.text.to_vec();
    for range in code::ranges(&view.text) {
        blank(&mut shown, range);
    }
    let shown = TextView { text: Bytes::from(shown), ..view.clone() };
    let mut judge = Judge::of(&shown);
    let mut unseen = Vec::new();
    links(&shown.text, &mut judge, &mut unseen, out);
    let before = out.texts.len();
    let walked = Walk::of(&shown, Dialect::Html).run(&shown, &mut judge, &mut Nobody, out, budget);
    // The text is read as it stands, code and all, but for what is not shown, which is read as such.
    let parts = out.texts.split_off(before);
    let hidden: Vec<TextView> = parts.into_iter().filter(|part| part.hidden.is_some()).collect();
    let mut words = view.text.clone();
    let ranges: Vec<Range<usize>> =
        hidden.iter().flat_map(|part| origins(part, view)).chain(unseen.iter().cloned()).collect();
    if !ranges.is_empty() {
        let mut copy = words.to_vec();
        ranges.iter().for_each(|range| blank(&mut copy, range.clone()));
        words = Bytes::from(copy);
    }
    out.read(TextView { text: words, ..view.clone() }.judged());
    out.texts.extend(hidden);
    let mut comments = Pieces::default();
    for range in unseen {
        comments.part(b'\n');
        comments.push(&view.text, range, budget)?;
    }
    out.texts.extend(comments.into_view(view, "comments").map(|part| part.hidden(&rules::HIDDEN_COMMENT)));
    walked.map(|()| judge.is_active)
}

/// Where the pieces of a part stand in the text it was cut from.
fn origins(part: &TextView, base: &TextView) -> Vec<Range<usize>> {
    let (Some(OffsetMap::Runs(runs)), Some(OffsetMap::Shifted(by))) = (&part.map, &base.map) else { return Vec::new() };
    let index = |at: u64| usize::try_from(at.saturating_sub(*by)).unwrap_or(usize::MAX);
    runs.iter()
        .zip(runs.iter().skip(1))
        .map(|((text, at), (next, limit))| index(*at)..index(at.saturating_add(next.saturating_sub(*text)).min(*limit)))
        .collect()
}

fn blank(text: &mut [u8], range: Range<usize>) {
    for byte in text.get_mut(range).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Links, pictures and definitions. What a definition says beside its address is not shown: it goes to `unseen`.
fn links(text: &[u8], judge: &mut Judge<'_>, unseen: &mut Vec<Range<usize>>, out: &mut Out<'_>) {
    let mut pictures: HashSet<Vec<u8>> = HashSet::new();
    let mut defined: Vec<(Vec<u8>, Range<usize>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0_usize;
    while let Some(found) =
        text.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'[' | b']' | b'<' | b'\n')))
    {
        let here = at.saturating_add(found);
        at = here.saturating_add(1);
        match text.get(here) {
            Some(b'\n') => {
                if text
                    .get(at..)
                    .is_some_and(|rest| rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n'))
                {
                    open.clear();
                }
                if let Some((name, address, title)) = definition(text, at) {
                    defined.push((name, address));
                    if !title.is_empty() && title.end > title.start {
                        unseen.push(title.clone());
                    }
                    at = title.end.max(at);
                }
            }
            Some(b'[') => {
                if here == 0
                    && let Some((name, address, title)) = definition(text, 0)
                {
                    defined.push((name, address));
                    if title.end > title.start {
                        unseen.push(title.clone());
                    }
                }
                if open.len() < LONGEST {
                    open.push(here);
                }
            }
            Some(b']') => {
                let Some(start) = open.pop() else { continue };
                let is_picture = start.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'!');
                let rest = text.get(at..).unwrap_or_default();
                if rest.first() == Some(&b'(') {
                    let address = destination(text, at.saturating_add(1));
                    at = address.end.max(at);
                    follow(text, address, is_picture, judge, out);
                } else if is_picture && pictures.len() < NAMES {
                    let label = rest
                        .strip_prefix(b"[")
                        .and_then(|rest| rest.get(..memchr(b']', rest.get(..200).unwrap_or(rest))?));
                    let own = text.get(start.saturating_add(1)..here).unwrap_or_default();
                    let name = label.filter(|label| !label.is_empty()).unwrap_or(own);
                    pictures.insert(name.get(..200).unwrap_or(name).to_ascii_lowercase());
                }
            }
            _ => {
                // An address in angle brackets.
                let rest = text.get(at..).unwrap_or_default();
                let window = rest.get(..LONGEST.min(512)).unwrap_or(rest);
                let end = window.iter().position(|byte| matches!(byte, b'>' | b'<' | b' ' | b'\n'));
                if let Some(end) = end.filter(|end| window.get(*end) == Some(&b'>'))
                    && window.get(..end).is_some_and(|address| memchr(b':', address).is_some())
                {
                    follow(text, at..at.saturating_add(end), false, judge, out);
                }
            }
        }
    }
    for (name, address) in defined {
        follow(text, address, pictures.contains(&name), judge, out);
    }
}

/// `[name]: address "title"` at the start of a line: the name, the address, and what stands behind it on the line.
fn definition(text: &[u8], at: usize) -> Option<(Vec<u8>, Range<usize>, Range<usize>)> {
    let rest = text.get(at..)?;
    let indent = rest.iter().take(4).take_while(|byte| **byte == b' ').count();
    let label = rest.get(indent..)?.strip_prefix(b"[")?;
    let window = label.get(..512).unwrap_or(label);
    let close = memmem::find(window, b"]:")?;
    let name = window.get(..close).filter(|name| memchr(b'\n', name).is_none())?.to_ascii_lowercase();
    let from = at.saturating_add(indent).saturating_add(close).saturating_add(3);
    let address = destination(text, from);
    let line = memchr(b'\n', text.get(address.end..)?).map_or(text.len(), |length| address.end.saturating_add(length));
    Some((name, address.clone(), address.end.saturating_add(1).min(line)..line))
}

/// The address that begins there, in angle brackets or up to a blank or the closing bracket.
fn destination(text: &[u8], from: usize) -> Range<usize> {
    let rest = text.get(from..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let start = from.saturating_add(blanks);
    let rest = text.get(start..).unwrap_or_default();
    let window = rest.get(..LONGEST).unwrap_or(rest);
    if window.first() == Some(&b'<') {
        let end = window.iter().position(|byte| matches!(byte, b'>' | b'\n')).unwrap_or(window.len());
        return start.saturating_add(1)..start.saturating_add(end.max(1));
    }
    let mut depth = 0_u32;
    let end = window.iter().position(|byte| match byte {
        b'(' => {
            depth = depth.saturating_add(1);
            false
        }
        b')' if depth > 0 => {
            depth = depth.saturating_sub(1);
            false
        }
        b')' => true,
        byte => byte.is_ascii_whitespace(),
    });
    start..start.saturating_add(end.unwrap_or(window.len()))
}

fn follow(text: &[u8], range: Range<usize>, is_picture: bool, judge: &mut Judge<'_>, out: &mut Out<'_>) {
    let value = text.get(range.clone()).unwrap_or_default();
    let mut plain = entity::decoded(value).into_owned();
    plain.retain(|byte| *byte != b'\\' || value.starts_with(b"\\\\"));
    match Address::of(&plain) {
        Address::Script => judge.tell(&rules::SCRIPT_URL, range, "", out),
        Address::ActiveData if !is_picture => judge.tell(&rules::SCRIPT_URL, range, "a document in an address", out),
        Address::Program => judge.tell(&rules::PROTOCOL, range, "", out),
        Address::Elsewhere if is_picture => {
            judge.tell(&rules::EXTERNAL, range, "a picture is loaded from elsewhere", out)
        }
        Address::Elsewhere => judge.tell(&rules::LINK, range, "", out),
        _ => {}
    }
}
