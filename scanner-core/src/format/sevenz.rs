//! 7z: its headers are read here; folders that are packed by what [`inflate`](crate::inflate) unpacks become children,
//! the others are gaps. The names are read in any case, unless they need a key.

use std::collections::BTreeMap;

use bytes::Bytes;
use flate2::Crc;

use crate::{
    bundle::{Artifact, Claim, Origin, Source},
    finding::{Finding, Gap, Place, Reason, Rule, Severity, Stop},
    format::{Format, Out, Subject, claim, names::Names, path},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

mod folder;
mod header;
mod rules;

use folder::{Chain, Closed};
use header::{Contents, Member, Streams};

pub(crate) const FORMAT: Format = Format {
    name: "sevenz",
    labels: &["7z"],
    inspect,
    clean: None,
    rules: &[
        &rules::STRUCTURE,
        &rules::CHECKSUM,
        &rules::TRAILING,
        &rules::DUPLICATE,
        &claim::SIZE,
        &claim::CRC,
        &path::TRAVERSAL,
        &path::ABSOLUTE,
        &path::SPECIAL,
        &path::DISGUISED,
        &path::SYMLINK,
        &path::DEVICE,
        &path::SPECIAL_MODE,
    ],
};

/// Fixed size of the first header.
const START_BYTES: usize = 32;
/// The checksum runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;
/// Names, rights and a place among the children.
const STEPS_PER_MEMBER: u64 = 100;
/// A header may be packed, and what comes out may be packed once more.
const MOST_LAYERS: u32 = 4;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let Some(mut header) = start(bytes, out, budget)? else { return Ok(()) };
    for _ in 0..MOST_LAYERS {
        match header::read(&header, budget)? {
            header::Layer::Contents(contents) => return Archive { bytes, contents }.look(out, budget),
            header::Layer::Packed(streams) => match unpack_header(bytes, &streams, out, budget)? {
                Some(inner) => header = inner,
                None => return Ok(()),
            },
        }
    }
    Err(Stop::malformed("the header is packed again and again", 0))
}

/// The first header, which says where the other one lies, and that one's bytes.
fn start(bytes: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<Option<Bytes>, Stop> {
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    let stored = reader.u32_le()?;
    let at = count(reader.position());
    let fields = reader.array::<20>()?;
    if crc(&fields, budget)? != stored {
        let message = "the first header does not match its checksum";
        out.find(Finding::built_in(&rules::CHECKSUM).at(8, count(START_BYTES)).message(message));
    }
    let mut fields = Reader::new(&fields);
    let (offset, size, stored) = (fields.u64_le()?, fields.u64_le()?, fields.u32_le()?);
    if size == 0 {
        // An archive of nothing.
        behind(bytes, START_BYTES, out);
        return Ok(None);
    }
    let from = count(START_BYTES).checked_add(offset);
    let header = from.and_then(|from| {
        let mut reader = Reader::new(bytes);
        reader.seek(from).ok()?;
        reader.take(size).ok()
    });
    let Some(header) = header else {
        let message = format!("the header is said to be {size} bytes at {offset}: the file is shorter");
        out.find(Finding::built_in(&rules::STRUCTURE).at(at, count(START_BYTES)).message(message));
        return Err(Stop::malformed("the file ends before its header", count(bytes.len())));
    };
    let header = bytes.slice_ref(header);
    if crc(&header, budget)? != stored {
        let from = from.unwrap_or(0);
        let message = "the header does not match its checksum";
        out.find(Finding::built_in(&rules::CHECKSUM).at(from, from.saturating_add(size)).message(message));
    }
    let end = from.and_then(|from| usize::try_from(from.saturating_add(size)).ok()).unwrap_or(bytes.len());
    behind(bytes, end, out);
    Ok(Some(header))
}

/// What stands behind the last header.
fn behind(bytes: &Bytes, end: usize, out: &mut Out<'_>) {
    let rest = bytes.slice(end.min(bytes.len())..);
    if rest.iter().any(|byte| *byte != 0) {
        let message = format!("{} bytes behind the end of the archive", rest.len());
        out.find(Finding::built_in(&rules::TRAILING).at(count(end), count(bytes.len())).message(message));
        out.child(Source::stored(rest), None);
    }
}

fn crc(bytes: &[u8], budget: &mut Budget) -> Result<u32, Stop> {
    budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP))?;
    let mut crc = Crc::new();
    crc.update(bytes);
    Ok(crc.sum())
}

/// A header that is itself packed. `None` when it cannot be read and that is said.
fn unpack_header(
    bytes: &Bytes,
    streams: &Streams,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<Option<Bytes>, Stop> {
    let Some(folder) = streams.folders.first() else {
        return Err(Stop::malformed("a packed header without a folder", count(START_BYTES)));
    };
    let packed = streams.packed(bytes, folder)?;
    match Chain::of(folder) {
        Ok(chain) => {
            let unpacked = chain.unpack(packed, budget);
            if let Some(stop) = unpacked.stop {
                return Err(stop.of("the packed header"));
            }
            if folder.crc.is_some_and(|told| crc(&unpacked.bytes, budget).is_ok_and(|sum| sum != told)) {
                let message = "the unpacked header does not match its checksum";
                out.find(Finding::built_in(&rules::CHECKSUM).message(message));
            }
            Ok(Some(unpacked.bytes))
        }
        Err(Closed::Encrypted) => {
            out.gap(
                Gap::new(Reason::Encrypted, "even the names of the members need a key").at_offset(count(START_BYTES)),
            );
            Ok(None)
        }
        Err(Closed::Unsupported(method)) => {
            let detail = format!("the header is packed by method {method:x}, which nothing here unpacks");
            out.gap(Gap::new(Reason::Unsupported, detail).at_offset(count(START_BYTES)));
            Ok(None)
        }
    }
}

/// An archive whose headers were read.
struct Archive<'a> {
    bytes: &'a Bytes,
    contents: Contents,
}

impl Archive<'_> {
    fn look(&self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut names = Names::default();
        let mut closed: BTreeMap<Closed, u64> = BTreeMap::new();
        let mut folded = Vec::new();
        for (number, member) in self.contents.members.iter().enumerate() {
            budget.spend(Resource::Steps, STEPS_PER_MEMBER)?;
            let place = Place::default().number("entry", count(number).saturating_add(1));
            // The names stand in a header that may be packed: they have no place in the file.
            path::judge(&member.name, (0, 0), &place, out, budget)?;
            judge_mode(member, &place, out);
            if !member.is_folder {
                folded.push(path::folded(&member.name));
            }
            if member.stream.is_none() {
                names.add(member.name.as_bytes(), 0);
            }
        }
        folded.sort_unstable();
        if folded.windows(2).any(|pair| matches!(pair, [first, second] if first == second)) {
            out.find(Finding::built_in(&rules::DUPLICATE));
        }
        let unpacked = self.folders(&mut names, &mut closed, out, budget);
        names.read("names", out);
        for (closed, times) in closed {
            let (reason, what) = match closed {
                Closed::Encrypted => (Reason::Encrypted, "need a key".to_owned()),
                Closed::Unsupported(method) => {
                    (Reason::Unsupported, format!("are packed by method {method:x}, which nothing here unpacks"))
                }
            };
            out.gap(Gap::new(reason, format!("{times} members {what}")));
        }
        unpacked
    }

    /// Unpacks folder by folder; the members of one stand one after the other in what comes out.
    fn folders(
        &self,
        names: &mut Names,
        closed: &mut BTreeMap<Closed, u64>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let streams = &self.contents.streams;
        let mut members = self.contents.members.iter().filter(|member| member.stream.is_some()).peekable();
        for (number, folder) in streams.folders.iter().enumerate() {
            let mut inside = Vec::new();
            while let Some(member) =
                members.next_if(|member| member.stream.is_some_and(|stream| stream.folder == number))
            {
                inside.push(member);
            }
            if inside.is_empty() && folder.is_empty() {
                continue;
            }
            let chain = match Chain::of(folder) {
                Ok(chain) => chain,
                Err(why) => {
                    let times = closed.entry(why).or_default();
                    *times = times.saturating_add(count(inside.len()).max(1));
                    inside.iter().for_each(|member| names.add(member.name.as_bytes(), 0));
                    continue;
                }
            };
            let unpacked = chain.unpack(streams.packed(self.bytes, folder)?, budget);
            let mut reader = Reader::new(&unpacked.bytes);
            for member in inside {
                let Some(stream) = member.stream else { continue };
                let left = count(reader.left());
                let taken = reader.take(stream.size.min(left))?;
                let is_whole = stream.size <= left;
                let mut child =
                    Artifact::new(Origin::Member, Source::stored(unpacked.bytes.slice_ref(taken))).named(&member.name);
                child.claim = is_whole.then_some(Claim { size: None, crc32: stream.crc });
                out.children.push(child);
            }
            let rest = reader.rest();
            if !rest.is_empty() {
                let message = format!("{} bytes of a folder that belong to no member", rest.len());
                out.find(Finding::built_in(&rules::STRUCTURE).message(message));
                out.child(Source::stored(unpacked.bytes.slice_ref(rest)), None);
            }
            if let Some(stop) = unpacked.stop {
                return Err(stop);
            }
            if unpacked.used < folder.size {
                let what = format!("a folder says it has {} bytes, {} came out", folder.size, unpacked.used);
                return Err(Stop::malformed(what, count(START_BYTES)));
            }
        }
        Ok(())
    }
}

/// Links, devices and rights, where the archive was written on Unix: the upper half of the attributes is the mode.
fn judge_mode(member: &Member, place: &Place, out: &mut Out<'_>) {
    const HAS_MODE: u32 = 0x8000;
    const SETUID_OR_SETGID: u32 = 0o6000;
    const REPARSE_POINT: u32 = 0x400;
    let mode = if member.attributes & HAS_MODE == 0 { 0 } else { member.attributes >> 16 };
    let find = |rule: &'static Rule| Finding::built_in(rule).place(place.clone());
    match mode & 0o170_000 {
        // Its target is its content, which may not be at hand yet: where it leads is not known here.
        0o120_000 => out.find(find(&path::SYMLINK).severity(Severity::High)),
        0o020_000 | 0o060_000 | 0o010_000 | 0o140_000 => out.find(find(&path::DEVICE)),
        0o040_000 => {}
        _ if mode & SETUID_OR_SETGID != 0 => out.find(find(&path::SPECIAL_MODE)),
        _ if member.attributes & REPARSE_POINT != 0 => out.find(find(&path::SYMLINK).severity(Severity::High)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
