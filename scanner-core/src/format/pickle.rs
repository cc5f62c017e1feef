//! Pickles: programs for a small machine that may call any function of Python. They are walked, never run: what they
//! name is held against what honest data needs, and everything else is told.

use std::{collections::VecDeque, ops::Range};

use bytes::Bytes;
use data_encoding::BASE64;

use crate::{
    bundle::{Codec, Source},
    finding::{Finding, Place, Rule, Severity, Stop},
    format::{Format, Out, Subject},
    limits::{Budget, Exhausted, Resource},
    reader::count,
    sniff,
};

mod array;
mod facts;
mod globals;
mod opcode;
mod rules;
mod text;
mod thing;
mod walk;

pub(super) use array::{Element, element_size};
use facts::{Facts, Name, Wrong};
use text::Texts;
use walk::walk;

pub(crate) const FORMAT: Format = Format { name: "pickle", labels: &["pickle"], inspect, clean: None, rules: RULES };

/// Every rule about it.
pub(super) const RULES: &[&Rule] = &[
    &rules::PRESENT,
    &rules::DANGEROUS,
    &rules::UNKNOWN,
    &rules::NESTED,
    &rules::STRUCTURE,
    &rules::TRUNCATED,
    &rules::RECURSION,
    &rules::EXPANSION,
    &rules::MEMO,
    &rules::TRAILING,
];

/// A line end or a few zero bytes behind the end hide nothing.
const HARMLESS_PADDING: usize = 16;
/// Pickles inside pickles are followed so deep; deeper ones are told by those around them.
const MOST_LEVELS: u32 = 4;
/// Operands that become children at most.
const MOST_CHILDREN: usize = 100;
/// An old file of torch: its number, its protocol, its system, its object, the names of its storages.
const TORCH_PICKLES: u32 = 5;
/// Longest name that is repeated.
const LONGEST_REPEATED: usize = 100;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let end = stream(subject.bytes, 0, out, budget)?;
    behind(subject.bytes, end, out);
    Ok(())
}

/// Reads pickle after pickle from an offset on; tells where the last one ended.
pub(super) fn stream(bytes: &Bytes, start: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<usize, Stop> {
    let mut texts = Texts::default();
    let walked = pickles(bytes, start, &mut texts, out, budget);
    texts.into_view().into_iter().for_each(|view| out.read(view));
    walked
}

fn pickles(
    bytes: &Bytes,
    start: usize,
    texts: &mut Texts,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<usize, Stop> {
    let (mut at, mut number, mut is_torch, mut is_first) = (start, 0_u32, false, true);
    loop {
        let (facts, end, stop) = walk(bytes, at, bytes.len(), texts, budget);
        is_torch |= facts.is_torch_magic && is_first;
        tell(bytes, &facts, "", out);
        if is_first {
            let place = Place::default().number("offset", count(at));
            out.find(Finding::built_in(&rules::PRESENT).at(count(at), count(end)).place(place));
        }
        is_first = false;
        inner(bytes, &facts, out, budget)?;
        if let Some(stop) = stop {
            return Err(stop);
        }
        if !facts.is_whole {
            return Ok(bytes.len());
        }
        number = number.saturating_add(1);
        let rest = bytes.get(end..).unwrap_or_default();
        if is_torch && number >= TORCH_PICKLES {
            // The numbers of the tensors follow: nothing to read.
            return Ok(bytes.len());
        }
        if !sniff::begins_pickle(rest) || end <= at {
            return Ok(end);
        }
        at = end;
    }
}

/// What stands behind the last pickle.
fn behind(bytes: &Bytes, end: usize, out: &mut Out<'_>) {
    let rest = bytes.slice(end.min(bytes.len())..);
    if rest.is_empty() {
        return;
    }
    let finding = Finding::built_in(&rules::TRAILING)
        .at(count(end), count(bytes.len()))
        .message(format!("{} bytes behind the end of the pickle", rest.len()));
    if rest.len() <= HARMLESS_PADDING && rest.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
        out.find(finding.severity(Severity::Info));
        return;
    }
    out.find(finding);
    out.child(Source::stored(rest), None);
}

/// Says what a walk found; `prefix` says where.
fn tell(bytes: &Bytes, facts: &Facts, prefix: &str, out: &mut Out<'_>) {
    let say = |out: &mut Out<'_>, rule: &'static Rule, range: Range<usize>, message: String| {
        let place = Place::default().number("offset", count(range.start));
        let end = range.end.max(range.start).min(bytes.len());
        out.find(
            Finding::built_in(rule)
                .at(count(range.start), count(end))
                .place(place)
                .message(format!("{prefix}{message}")),
        );
    };
    for name in &facts.names {
        let range = name.at..name.at.saturating_add(1);
        let words = spelled(name);
        if name.is_dangerous() {
            let does = if name.is_changed {
                "is changed while loading"
            } else if name.is_called {
                "is called while loading"
            } else {
                "is loaded"
            };
            say(out, &rules::DANGEROUS, range, format!("{words} {does}"));
        } else if matches!(name.reach, globals::Reach::Unknown | globals::Reach::Function) {
            let does = if name.is_called { "is called while loading" } else { "is loaded" };
            say(out, &rules::UNKNOWN, range, format!("{words}, which nobody here knows, {does}"));
        }
    }
    for (wrong, (range, what)) in &facts.wrong {
        let rule = match wrong {
            Wrong::Structure => &rules::STRUCTURE,
            Wrong::Truncated => &rules::TRUNCATED,
            Wrong::Memo => &rules::MEMO,
            Wrong::Depth => &rules::RECURSION,
            Wrong::Expansion => &rules::EXPANSION,
            Wrong::MadeName => &rules::DANGEROUS,
            Wrong::Call | Wrong::Extension | Wrong::Persistent => &rules::UNKNOWN,
        };
        say(out, rule, range.clone(), (*what).to_owned());
    }
}

/// A name in a message: as it is when it is one.
fn spelled(name: &Name) -> String {
    let is_name = |word: &str| {
        word.len() <= LONGEST_REPEATED && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    };
    if is_name(&name.module) && is_name(&name.name) {
        format!("{}.{}", name.module, name.name)
    } else {
        "something under a strange name".to_owned()
    }
}

/// An operand that is, or may be, a pickle.
struct Inner {
    range: Range<usize>,
    level: u32,
    /// It is loaded as a file of torch; else it only begins like a pickle.
    is_loaded: bool,
}

/// The operands of a pickle that are looked into.
fn operands(facts: &Facts, level: u32) -> impl Iterator<Item = Inner> + '_ {
    let chance = facts.inner.iter().filter(|range| !facts.loaded.contains_key(&range.start));
    let chance = chance.map(move |range| Inner { range: range.clone(), level, is_loaded: false });
    chance.chain(facts.loaded.values().map(move |range| Inner { range: range.clone(), level, is_loaded: true }))
}

/// Looks into operands: pickles in bytes, packed ones where something unpacks them, and bytes that are loaded.
fn inner(bytes: &Bytes, facts: &Facts, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut waiting: VecDeque<Inner> = operands(facts, 1).collect();
    let mut can_unpack = facts.names.iter().any(unpacks);
    let loads = can_unpack || facts.names.iter().any(Name::is_dangerous);
    let mut is_told = false;
    let mut packed = facts.packed.clone();
    let mut encoded = facts.encoded.clone();
    while let Some(Inner { range, level, is_loaded }) = waiting.pop_front() {
        if is_loaded && bytes.get(range.clone()).is_some_and(|operand| operand.starts_with(b"PK")) {
            out.child(Source::stored(bytes.slice(range)), None);
            continue;
        }
        let mut texts = Texts::default();
        let (mut at, mut number, mut is_torch) = (range.start, 0_u32, false);
        loop {
            let (inside, end, stop) = walk(bytes, at, range.end, &mut texts, budget);
            is_torch |= inside.is_torch_magic && number == 0;
            number = number.saturating_add(1);
            let calls = inside.calls && !inside.names.is_empty();
            // Bytes may begin like a pickle by chance; one that ends as one, or that calls, is one.
            let is_pickle = is_loaded || (inside.is_whole && bytes.get(range.start) == Some(&0x80)) || calls;
            if is_pickle {
                if number == 1 && !is_loaded {
                    let place = Place::default().number("offset", count(range.start));
                    let finding =
                        Finding::built_in(&rules::NESTED).at(count(range.start), count(range.end)).place(place);
                    out.find(if loads { finding.severity(Severity::Medium) } else { finding });
                    is_told = true;
                }
                tell(bytes, &inside, "in a pickle inside: ", out);
                can_unpack |= inside.names.iter().any(unpacks);
                if level < MOST_LEVELS {
                    waiting.extend(operands(&inside, level.saturating_add(1)));
                } else if !inside.loaded.is_empty() {
                    return Err(Exhausted(Resource::Depth).into());
                }
                packed.extend_from_slice(&inside.packed);
                encoded.extend_from_slice(&inside.encoded);
            }
            if let Some(stop) = stop {
                return Err(stop);
            }
            // Behind an old file of torch stand its numbers.
            let is_over = !is_loaded || !inside.is_whole || (is_torch && number >= TORCH_PICKLES);
            if is_over || end <= at || end >= range.end {
                if is_pickle {
                    texts.into_view().into_iter().for_each(|view| out.read(view));
                }
                break;
            }
            at = end;
        }
    }
    if !can_unpack {
        return Ok(());
    }
    for range in packed.into_iter().take(MOST_CHILDREN) {
        let packed = bytes.slice(range);
        if let Some(codec) = packing(&packed) {
            out.child(Source { packed, codec }, None);
        }
    }
    for range in encoded.into_iter().take(MOST_CHILDREN) {
        budget.spend(Resource::DecodedBytes, count(range.len()))?;
        let digits: Vec<u8> =
            bytes.get(range).unwrap_or_default().iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let Some(decoded) =
            BASE64.decode(&digits).ok().or_else(|| data_encoding::HEXLOWER_PERMISSIVE.decode(&digits).ok())
        else {
            continue;
        };
        let decoded = Bytes::from(decoded);
        match packing(&decoded) {
            Some(codec) => out.child(Source { packed: decoded, codec }, None),
            None if sniff::begins_pickle(&decoded) => out.child(Source::stored(decoded), None),
            None => continue,
        }
    }
    // That one pickle loads another is told once, wherever the other may be.
    if !is_told && let Some(name) = facts.names.iter().find(|name| is_loader(name)) {
        let message = format!("{} loads another pickle", spelled(name));
        let place = Place::default().number("offset", count(name.at));
        let finding = Finding::built_in(&rules::NESTED).at(count(name.at), count(name.at.saturating_add(1)));
        out.find(finding.place(place).severity(Severity::Medium).message(message));
    }
    Ok(())
}

/// Whether that name makes a program of bytes or text.
fn unpacks(name: &Name) -> bool {
    name.is_dangerous() && globals::unpacks(&name.module, &name.name)
}

/// Whether that name loads a pickle.
fn is_loader(name: &Name) -> bool {
    let module = name.module.split('.').next().unwrap_or_default();
    name.is_dangerous()
        && matches!(name.name.as_str(), "loads" | "load" | "Unpickler" | "read_pickle" | "_loads" | "_load")
        && matches!(
            module,
            "pickle" | "_pickle" | "cPickle" | "dill" | "cloudpickle" | "joblib" | "torch" | "pandas" | "shelve"
        )
}

/// How bytes are packed, by what they begin with.
fn packing(bytes: &[u8]) -> Option<Codec> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some(Codec::Gzip),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Some(Codec::Zlib),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] => Some(Codec::Bzip2),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Codec::Xz),
        [0x5d, 0, 0, ..] => Some(Codec::Lzma),
        _ => None,
    }
}

/// Whether a text may be bytes in base64 or hexadecimal.
fn looks_encoded(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\n\r".contains(byte))
}

#[cfg(test)]
mod tests;
