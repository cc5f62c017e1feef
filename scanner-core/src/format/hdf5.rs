//! HDF5: the superblock, the headers of groups and data sets, links out of the file, and every text that stands there
//! unpacked.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, keras, strings},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

mod message;

use message::{Found, Header};

pub(crate) const FORMAT: Format = Format {
    name: "hdf5",
    labels: &["hdf5"],
    inspect,
    clean: None,
    rules: &[&STRUCTURE, &TRUNCATED, &TRAILING, &ELSEWHERE, &EXPANSION, &keras::LAMBDA],
};

const fn medium(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

static STRUCTURE: Rule = medium(
    "hdf/structure",
    "malformed.structure",
    RuleText {
        title: "Parts of the file are not built as the format asks",
        why: "The library is large and written in C: files like this are how it was made to read and write out of bounds.",
        remedy: "Have the file written again.",
    },
);

static TRUNCATED: Rule = medium(
    "hdf/truncated",
    "malformed.truncated",
    RuleText {
        title: "The file is shorter than it says",
        why: "A part of it is missing; the library refuses to open it.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

static TRAILING: Rule = medium(
    "hdf/trailing-data",
    "type.trailing_data",
    RuleText {
        title: "Something stands behind the end that the file gives itself",
        why: "The library never looks there: a place to carry data out, or a second file in.",
        remedy: "Cut the file at its own end before it is passed on.",
    },
);

static ELSEWHERE: Rule = medium(
    "hdf/elsewhere",
    "net.external_ref",
    RuleText {
        title: "A part of the file stands in another file",
        why: "Whoever reads it opens the path that the file names, with the rights of the reader: a file of theirs is read as if it \
              were data of this one.",
        remedy: "Have everything written into one file.",
    },
);

static EXPANSION: Rule = medium(
    "hdf/expansion",
    "bomb.ratio",
    RuleText {
        title: "A small file that unpacks to hundreds of megabytes",
        why: "Whoever loads the data set needs that much memory at once; a few such files stop a server.",
        remedy: "Load it in parts, or ask for the data without the repetition.",
    },
);

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// Nothing is there (an address of all ones).
const NOWHERE: u64 = u64::MAX;
/// A data set that unpacks to less is no bomb, however dense it is packed.
const EXPANSION_FROM: u64 = 64 * 1024 * 1024;
/// Honest data of one value reach a few hundred.
const EXPANSION_TIMES: u64 = 500;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    strings::read(bytes, 0..bytes.len(), out, budget)?;
    keras::look(bytes, Some(0), out);
    let start = superblock(bytes).ok_or_else(|| Stop::malformed("there is no superblock", 0))?;
    let mut reader = Reader::new(bytes);
    reader.seek(count(start).saturating_add(8))?;
    let version = reader.u8()?;
    let (base, end, root) = match version {
        0 | 1 => {
            reader.take(4)?;
            let sizes = [reader.u8()?, reader.u8()?];
            reader.take(if version == 0 { 9 } else { 13 })?;
            if sizes != [8, 8] {
                out.unsupported("nothing here reads addresses of another size than eight bytes");
                return Ok(());
            }
            let base = reader.u64_le()?;
            reader.u64_le()?;
            let end = reader.u64_le()?;
            reader.take(16)?;
            (base, end, reader.u64_le()?)
        }
        2 | 3 => {
            let sizes = [reader.u8()?, reader.u8()?];
            reader.u8()?;
            if sizes != [8, 8] {
                out.unsupported("nothing here reads addresses of another size than eight bytes");
                return Ok(());
            }
            let base = reader.u64_le()?;
            reader.u64_le()?;
            (base, reader.u64_le()?, reader.u64_le()?)
        }
        _ => {
            say(out, &STRUCTURE, start.saturating_add(8), "a version that the format does not know");
            return Ok(());
        }
    };
    let there = count(bytes.len());
    if end.saturating_add(base) > there && end > there {
        say(out, &TRUNCATED, start, format!("{end} bytes are announced, {there} are there"));
    }
    // Everything else stands behind the superblock, which takes 48 bytes at least.
    if end < 48 {
        say(out, &STRUCTURE, start, "the end of the file stands in its head");
    } else if let Ok(from) = usize::try_from(end.max(end.saturating_add(base)))
        && bytes.get(from..).is_some_and(|rest| rest.iter().any(|byte| *byte != 0))
    {
        let rest = bytes.slice(from..);
        say(out, &TRAILING, from, format!("{} bytes behind the end", rest.len()));
        out.child(Source::stored(rest), None);
    }
    let mut walk = Walk { bytes, base, seen: BTreeSet::new(), waiting: VecDeque::new(), found: Found::default() };
    walk.waiting.push_back(root);
    let walked = walk.run(budget);
    let Walk { found, .. } = walk;
    if let Some((at, what)) = found.elsewhere {
        say(out, &ELSEWHERE, at, what);
    }
    if let Some((at, what)) = found.odd {
        say(out, &STRUCTURE, at, what);
    }
    if found.packed > EXPANSION_FROM && found.packed.checked_div(EXPANSION_TIMES).is_some_and(|least| least > there) {
        say(out, &EXPANSION, start, format!("{there} bytes unpack to {}", found.packed));
    }
    if found.packed > 0 {
        out.unsupported("nothing here unpacks the data in it");
    }
    if found.dense {
        out.unsupported("nothing here looks into groups of many links");
    }
    walked
}

/// Where the superblock is: at 0, 512, 1024, 2048 and so on.
fn superblock(bytes: &[u8]) -> Option<usize> {
    let places = std::iter::successors(Some(0_usize), |at| if *at == 0 { Some(512) } else { at.checked_mul(2) });
    places
        .take_while(|at| *at < bytes.len())
        .find(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(SIGNATURE)))
}

fn say(out: &mut Out<'_>, rule: &'static Rule, at: usize, message: impl Into<String>) {
    let place = Place::default().number("offset", count(at));
    out.find(Finding::built_in(rule).at(count(at), count(at.saturating_add(8))).place(place).message(message));
}

/// Objects being walked, from the root on.
struct Walk<'a> {
    bytes: &'a Bytes,
    base: u64,
    seen: BTreeSet<u64>,
    /// Addresses of headers of objects.
    waiting: VecDeque<u64>,
    found: Found,
}

impl Walk<'_> {
    fn run(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        while let Some(address) = self.waiting.pop_front() {
            if address == NOWHERE || !self.seen.insert(address) {
                continue;
            }
            budget.spend(Resource::Objects, 1)?;
            let mut header = Header::default();
            if self.object(address, &mut header, budget)?.is_err() {
                self.odd(address, "the header of an object leads out of the file");
            }
            for tree in std::mem::take(&mut header.groups) {
                if self.tree(tree, budget)?.is_err() {
                    self.odd(tree, "the list of a group leads out of the file");
                }
            }
            self.waiting.extend(header.links.drain(..));
            self.found.take(&header);
        }
        Ok(())
    }

    fn odd(&mut self, address: u64, what: &'static str) {
        let at = usize::try_from(address.saturating_add(self.base)).unwrap_or(usize::MAX).min(self.bytes.len());
        self.found.odd.get_or_insert((at, what));
    }

    fn at(&self, address: u64) -> Result<Reader<'_>, Short> {
        let mut reader = Reader::new(self.bytes);
        reader.seek(address.saturating_add(self.base))?;
        Ok(reader)
    }

    /// The messages of one object, in its header and where that goes on.
    fn object(&mut self, address: u64, header: &mut Header, budget: &mut Budget) -> Result<Result<(), Short>, Stop> {
        let mut blocks = VecDeque::new();
        let first = self.at(address).and_then(|reader| message::first_block(reader));
        match first {
            Ok(block) => blocks.push_back(block),
            Err(short) => return Ok(Err(short)),
        }
        let mut seen = BTreeSet::new();
        while let Some(block) = blocks.pop_front() {
            if !seen.insert(block.range.start) {
                continue;
            }
            let Some(body) = self.bytes.get(block.range.clone()) else {
                return Ok(Err(Short { at: count(block.range.start), wanted: 0 }));
            };
            budget.spend(Resource::Steps, count(body.len()))?;
            let mut reader = Reader::new(body);
            while let Some(message) = message::next(&mut reader, block.style) {
                budget.spend(Resource::Objects, 1)?;
                let at = block.range.start.saturating_add(reader.position());
                match header.read(&message, at) {
                    Ok(Some((address, length))) => {
                        if let Some(next) = block.follow(self.bytes, address.saturating_add(self.base), length) {
                            blocks.push_back(next);
                        } else {
                            return Ok(Err(Short { at: address, wanted: length }));
                        }
                    }
                    Ok(None) => {}
                    Err(short) => return Ok(Err(short)),
                }
            }
        }
        Ok(Ok(()))
    }

    /// A group of the old kind: a tree whose leaves list links (format specification, III.A.1 and III.B).
    fn tree(&mut self, root: u64, budget: &mut Budget) -> Result<Result<(), Short>, Stop> {
        let mut waiting = VecDeque::from([root]);
        while let Some(address) = waiting.pop_front() {
            if address == NOWHERE || !self.seen.insert(address) {
                continue;
            }
            budget.spend(Resource::Objects, 1)?;
            let children = match self.node(address) {
                Ok(children) => children,
                Err(short) => return Ok(Err(short)),
            };
            budget.spend(Resource::Steps, count(children.0.len()).saturating_mul(10))?;
            waiting.extend(children.0);
            self.waiting.extend(children.1);
        }
        Ok(Ok(()))
    }

    /// Nodes below a node of a tree, and the objects that a leaf links to.
    fn node(&self, address: u64) -> Result<(Vec<u64>, Vec<u64>), Short> {
        let mut reader = self.at(address)?;
        let signature = reader.array::<4>()?;
        let mut nodes = Vec::new();
        let mut objects = Vec::new();
        if &signature == b"TREE" {
            reader.take(2)?;
            let entries = reader.u16_le()?;
            reader.take(16)?;
            for _ in 0..entries {
                reader.u64_le()?;
                nodes.push(reader.u64_le()?);
            }
        } else if &signature == b"SNOD" {
            reader.take(2)?;
            let entries = reader.u16_le()?;
            for _ in 0..entries {
                reader.u64_le()?;
                objects.push(reader.u64_le()?);
                // Kind of cache, reserved, scratch.
                reader.take(24)?;
            }
        } else {
            return Err(Short { at: address, wanted: 4 });
        }
        Ok((nodes, objects))
    }
}

#[cfg(test)]
mod tests;
