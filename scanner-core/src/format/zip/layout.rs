//! Where the members lie: each local header against its record, the descriptor behind the data, and which bytes of the
//! file belong to two members or to none.

use std::ops::Range;

use memchr::memmem;

use super::{
    Archive, Entry,
    end::{self, End},
    entry::{self, DESCRIPTOR, ENCRYPTED, Local},
    rules,
};
use crate::{
    finding::{Finding, Stop},
    format::Out,
    inflate::MOST_PER_BYTE,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// A line end or a few zero bytes hide nothing.
const HARMLESS_BYTES: usize = 16;
/// Searching runs at several bytes a nanosecond; here for two signatures.
const BYTES_PER_STEP: u64 = 16;
/// The block of signatures of an Android app ends so, right before the directory (APK Signature Scheme v2).
const APK_SIGNATURES: &[u8] = b"APK Sig Block 42";

/// The bytes of one member: from its local header to the end of its descriptor.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: usize,
    end: usize,
    /// End of the data: a descriptor may be shared with nothing, and hide nothing.
    data: usize,
    entry: usize,
}

impl Archive<'_> {
    /// Finds the data of each entry, and says what does not fit.
    pub(super) fn layout(
        &mut self,
        directory: usize,
        end: &End,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let mut stretches = Vec::with_capacity(self.entries.len());
        let mut entries = std::mem::take(&mut self.entries);
        for entry in &mut entries {
            stretches.extend(self.place(entry, directory, end, out));
        }
        stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end, stretch.entry));
        overlaps(&stretches, &mut entries, out);
        self.entries = entries;
        self.between(&stretches, directory, end, out, budget)
    }

    /// The local header of an entry, and where its data lie.
    fn place(&self, entry: &mut Entry, directory: usize, end: &End, out: &mut Out<'_>) -> Option<Stretch> {
        let told = usize::try_from(entry.offset).ok();
        let moved = told.and_then(|told| told.checked_add(end.shift));
        let found =
            [moved, told].into_iter().flatten().find_map(|at| entry::local(self.bytes, at).map(|local| (at, local)));
        let Some((start, local)) = found else {
            out.find(entry.finding(&rules::STRUCTURE, "there is no member where its offset says"));
            return None;
        };
        let room = self.bytes.len().saturating_sub(local.data);
        let packed = usize::try_from(entry.packed).ok().filter(|packed| *packed <= room);
        let data = local.data..local.data.saturating_add(packed.unwrap_or(room));
        if packed.is_none() {
            // What is cut cannot be what was promised; that it is cut is said.
            entry.is_unclaimed = true;
            entry.faults.push("the data of a member would run past the end of the file");
        } else if data.end > directory && start < directory {
            entry.faults.push("the data of a member run into the directory");
        }
        if !local.is_sound {
            entry.faults.push("the extra fields of a local header do not fit their room");
        }
        if entry.method == 0 && !entry.is_encrypted() && entry.packed != entry.size {
            entry.faults.push("a member that is not packed has two sizes");
        }
        let most = if entry.method == 0 { 1 } else { MOST_PER_BYTE };
        if entry.method <= 8 && entry.size > count(data.len()).saturating_mul(most).saturating_add(1024) {
            let message = format!("{} packed bytes cannot become {} bytes", data.len(), entry.size);
            out.find(entry.finding(&rules::SIZE_LIE, message));
        }
        let mut stretch = Stretch { start, end: data.end, data: data.end, entry: entry.number };
        if let Some(what) = disagreement(entry, &local) {
            out.find(entry.finding(&rules::MISMATCH, what).at(count(start), count(local.data)));
        }
        if local.flags & DESCRIPTOR != 0 {
            match descriptor(entry, &local, self.bytes.get(data.end..).unwrap_or_default()) {
                Ok(length) => stretch.end = data.end.saturating_add(length),
                Err(length) => {
                    stretch.end = data.end.saturating_add(length).min(self.bytes.len());
                    let at = (count(data.end), count(stretch.end));
                    let message = "the sizes behind a member are not those of the directory";
                    out.find(entry.finding(&rules::MISMATCH, message).at(at.0, at.1));
                }
            }
        }
        // A program that reads from the front goes by this header: where it says no key is needed, none is.
        if entry.flags & ENCRYPTED != local.flags & ENCRYPTED {
            entry.flags &= local.flags | !ENCRYPTED;
        }
        if local.raw != entry.raw {
            entry.other_name = Some(entry::decode(&local.raw, local.flags));
        } else if let Some(other) = local.other_name.filter(|other| *other != entry.name) {
            entry.other_name.get_or_insert(other);
        }
        entry.data = Some(data);
        Some(stretch)
    }

    /// What belongs to no member: before, between and behind them.
    fn between(
        &mut self,
        stretches: &[Stretch],
        directory: usize,
        end: &End,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let mut free: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        for stretch in stretches.iter().filter(|stretch| stretch.start < directory) {
            if stretch.start > at {
                free.push(at..stretch.start);
            }
            at = at.max(stretch.end);
        }
        if directory > at {
            free.push(at..directory);
        }
        let behind = (end.end < self.bytes.len()).then_some(end.end..self.bytes.len());
        for range in free.into_iter().chain(behind.clone()) {
            budget.spend(Resource::Steps, count(range.len()).div_ceil(BYTES_PER_STEP))?;
            let rest = self.bytes.slice(range.clone());
            let is_behind = behind.as_ref() == Some(&range);
            let is_blank = rest.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace());
            if is_blank && (rest.len() <= HARMLESS_BYTES || !is_behind) || rest.ends_with(APK_SIGNATURES) {
                continue;
            }
            let say = |rule| {
                Finding::built_in(rule)
                    .at(count(range.start), count(range.end))
                    .message(format!("{} bytes that belong to no member", range.len()))
            };
            if memmem::find(&rest, end::END).is_some() {
                out.find(say(&rules::SECOND));
            }
            if memmem::find(&rest, end::LOCAL).is_some() {
                out.find(say(&rules::HIDDEN));
            } else if is_behind {
                out.find(say(&rules::TRAILING));
            } else if range.start > 0 {
                out.find(say(&rules::UNLISTED));
            }
            // Where no archive begins, the sniffer said what stands before it.
            if range.start == 0 && self.bytes.starts_with(b"PK") {
                out.find(say(&rules::PREFIX));
            }
            // Nothing of a file is in itself once more.
            if rest.len() < self.bytes.len() {
                self.unlisted.push(rest);
            }
        }
        // A comment is read as text; as an archive it is one more end.
        if self.bytes.get(end.comment.clone()).is_some_and(|comment| memmem::find(comment, end::END).is_some()) {
            let span = (count(end.comment.start), count(end.comment.end));
            out.find(Finding::built_in(&rules::SECOND).at(span.0, span.1).message("an end record in the comment"));
        }
        Ok(())
    }
}

/// What the local header says otherwise than the record (APPNOTE 4.3.7): a program that reads from the front goes by it.
fn disagreement(entry: &Entry, local: &Local) -> Option<&'static str> {
    let is_later = local.flags & DESCRIPTOR != 0;
    let differs = |here: u64, there: u64| here != there && !(is_later && here == 0);
    if local.raw != entry.raw {
        Some("the header before a member gives it another name")
    } else if local.method != entry.method {
        Some("the header before a member names another method")
    } else if local.flags & ENCRYPTED != entry.flags & ENCRYPTED {
        Some("the directory and the header before a member disagree on whether it is encrypted")
    } else if differs(local.crc.into(), entry.crc.into()) {
        Some("the header before a member gives it another checksum")
    } else if differs(local.packed, entry.packed) || differs(local.size, entry.size) {
        Some("the header before a member gives it another size")
    } else if entry.is_renamed || local.other_name.as_ref().is_some_and(|other| entry::is_rename(&local.raw, other)) {
        Some("an extra field gives a member another name")
    } else {
        None
    }
}

/// How long the descriptor behind the data is (APPNOTE 4.3.9): with or without a signature, with sizes of four or eight
/// bytes. `Err` when there is one that says something else.
fn descriptor(entry: &Entry, local: &Local, behind: &[u8]) -> Result<usize, usize> {
    const SIGNATURE: &[u8] = b"PK\x07\x08";
    let is_signed = behind.starts_with(SIGNATURE);
    let wanted = (u64::from(entry.crc), entry.packed, entry.size);
    let read = |skip: usize, large: bool| {
        let mut reader = Reader::new(behind.get(skip..)?);
        let crc = reader.u32_le().ok()?;
        let mut size = || if large { reader.u64_le().ok() } else { reader.u32_le().ok().map(u64::from) };
        let (packed, size) = (size()?, size()?);
        ((u64::from(crc), packed, size) == wanted).then_some(skip.saturating_add(if large { 20 } else { 12 }))
    };
    let skips: &[usize] = if is_signed { &[4, 0] } else { &[0] };
    let fits = skips.iter().find_map(|skip| read(*skip, false).or_else(|| read(*skip, true)));
    match fits {
        Some(length) => Ok(length),
        None if is_signed => Err(16),
        // Some writers announce a descriptor and fill the header after all.
        None if (u64::from(local.crc), local.packed, local.size) == wanted => Ok(0),
        None if behind.starts_with(end::LOCAL) || behind.starts_with(end::CENTRAL) => Err(0),
        None => Err(12),
    }
}

/// Members that share bytes: the first is read, the others are not.
fn overlaps(stretches: &[Stretch], entries: &mut [Entry], out: &mut Out<'_>) {
    let (mut reach, mut shared, mut first) = (0, 0_u64, None);
    for stretch in stretches {
        // Entries without data that share a header write nothing twice.
        if stretch.start < reach {
            shared = shared.saturating_add(1);
            first.get_or_insert(*stretch);
            if let Some(entry) = entries.get_mut(stretch.entry) {
                entry.is_shared = true;
            }
        }
        reach = reach.max(stretch.data);
    }
    if let Some(first) = first {
        let message = format!("{shared} of {} members lie in the bytes of others", entries.len());
        out.find(Finding::built_in(&rules::OVERLAP).at(count(first.start), count(first.data)).message(message));
    }
}
