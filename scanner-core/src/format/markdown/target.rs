//! Where Markdown leads: its links, its pictures and their definitions.

use std::{collections::HashSet, ops::Range};

use memchr::{memchr, memmem};

use crate::format::markup::entity;

/// Longest address or label that is followed.
const LONGEST: usize = 4096;
/// Names of pictures that are remembered.
const NAMES: usize = 10_000;

/// What an address is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `[words](address)`.
    Link,
    /// `![words](address)`: where its exclamation mark stands.
    Picture(usize),
    /// `<address>`.
    Bare,
    /// `[name]: address`, and whether a picture asks for that name.
    Defined { is_picture: bool },
}

/// An address in the text.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: Range<usize>,
    pub(super) role: Role,
}

impl Target {
    pub(super) fn is_picture(&self) -> bool {
        matches!(self.role, Role::Picture(_) | Role::Defined { is_picture: true })
    }

    /// Where the exclamation mark of a picture stands.
    pub(super) fn mark(&self) -> Option<usize> {
        if let Role::Picture(mark) = self.role { Some(mark) } else { None }
    }

    /// The address as it is followed: references and escapes undone.
    pub(super) fn plain(&self, text: &[u8]) -> Vec<u8> {
        let value = text.get(self.address.clone()).unwrap_or_default();
        let mut plain = entity::decoded(value).into_owned();
        plain.retain(|byte| *byte != b'\\' || value.starts_with(b"\\\\"));
        plain
    }
}

/// Links, pictures and definitions. What a definition says beside its address is not shown: it goes to `unseen`.
pub(super) fn targets(text: &[u8], unseen: &mut Vec<Range<usize>>) -> Vec<Target> {
    let mut targets = Vec::new();
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
                    let role = if is_picture { Role::Picture(start.saturating_sub(1)) } else { Role::Link };
                    targets.push(Target { address, role });
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
                    targets.push(Target { address: at..at.saturating_add(end), role: Role::Bare });
                }
            }
        }
    }
    for (name, address) in defined {
        let is_picture = pictures.contains(&name);
        targets.push(Target { address, role: Role::Defined { is_picture } });
    }
    targets
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
