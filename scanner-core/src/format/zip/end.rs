//! The end of a zip: its end record, the one for large archives, and where the directory lies (APPNOTE 4.3.14–4.3.16).

use std::ops::Range;

use memchr::memmem;

use crate::reader::Reader;

pub(super) const END: &[u8] = b"PK\x05\x06";
pub(super) const CENTRAL: &[u8] = b"PK\x01\x02";
pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
const LOCATOR: &[u8] = b"PK\x06\x07";
const LARGE: &[u8] = b"PK\x06\x06";
const SIGNATURE: &[u8] = b"PK\x05\x05";

/// Fixed size of the end record.
const END_BYTES: usize = 22;
const LOCATOR_BYTES: usize = 20;
/// End records looked at: the false ones before the true one are few in any honest file.
const CANDIDATES: usize = 64;

/// What the end of an archive says, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Where the end record begins, and where the archive ends.
    pub(super) at: usize,
    pub(super) end: usize,
    /// Where the first of the records behind the directory begins.
    pub(super) tail: usize,
    pub(super) comment: Range<usize>,
    /// Entries it counts.
    pub(super) total: u64,
    /// Where the directory begins, if it is anywhere.
    pub(super) directory: Option<usize>,
    /// What offsets have to be moved by: bytes that were put before the archive afterwards.
    pub(super) shift: usize,
    /// What is not as it should be.
    pub(super) faults: Vec<&'static str>,
    /// The directory is encrypted.
    pub(super) is_masked: bool,
}

/// The end record that most readers take: the last one behind which its directory can be found.
pub(super) fn find(bytes: &[u8]) -> Option<End> {
    let mut until = bytes.len();
    let mut last = None;
    for _ in 0..CANDIDATES {
        let Some(at) = memmem::rfind(bytes.get(..until)?, END) else { break };
        // A signature may overlap the cut: the next search goes on right before it.
        until = at.saturating_add(3).min(until.saturating_sub(1));
        if let Some(end) = read(bytes, at) {
            if end.directory.is_some() {
                return Some(end);
            }
            last.get_or_insert(end);
        }
    }
    last
}

fn read(bytes: &[u8], at: usize) -> Option<End> {
    let mut reader = Reader::new(bytes.get(at..)?);
    reader.take(4).ok()?;
    let disks = (reader.u16_le().ok()?, reader.u16_le().ok()?);
    let (here, total) = (reader.u16_le().ok()?, reader.u16_le().ok()?);
    let (size, offset) = (reader.u32_le().ok()?, reader.u32_le().ok()?);
    let comment = usize::from(reader.u16_le().ok()?);
    let from = at.checked_add(END_BYTES)?;
    let told = from.checked_add(comment)?;
    let to = told.min(bytes.len());
    let mut end = End { at, end: to, tail: at, comment: from..to, total: total.into(), ..End::default() };
    if told > bytes.len() {
        end.faults.push("the comment is longer than what is left of the file");
    }
    if disks != (0, 0) && disks != (0xffff, 0xffff) || here != total {
        end.faults.push("it says to be one of several parts");
    }
    let (mut size, mut offset) = (u64::from(size), u64::from(offset));
    let is_large = total == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff;
    if told < bytes.len() {
        end.faults.push("the comment does not reach the end of the file");
    }
    match large(bytes, at) {
        Some(large) => {
            if !is_large && (large.total, large.size, large.offset) != (total.into(), size, offset) {
                end.faults.push("its two end records contradict each other");
            }
            (end.tail, end.total, size, offset) = (large.at, large.total, large.size, large.offset);
        }
        None if is_large || has_locator(bytes, at) => {
            end.faults.push("the end record for large archives is missing");
        }
        None => {}
    }
    locate(bytes, &mut end, size, offset);
    Some(end)
}

struct Large {
    at: usize,
    total: u64,
    size: u64,
    offset: u64,
}

fn has_locator(bytes: &[u8], end: usize) -> bool {
    end.checked_sub(LOCATOR_BYTES).and_then(|at| bytes.get(at..)).is_some_and(|rest| rest.starts_with(LOCATOR))
}

/// The record for large archives, by its locator before the end record (APPNOTE 4.3.14, 4.3.15).
fn large(bytes: &[u8], end: usize) -> Option<Large> {
    let locator = end.checked_sub(LOCATOR_BYTES)?;
    let mut reader = Reader::new(bytes.get(locator..)?);
    if reader.take(4).ok()? != LOCATOR {
        return None;
    }
    reader.u32_le().ok()?;
    let told = usize::try_from(reader.u64_le().ok()?).ok();
    let is_there = |at: &usize| bytes.get(*at..).is_some_and(|rest| rest.starts_with(LARGE));
    // The usual record has 56 bytes and ends where the locator begins: found so when something was put before it.
    let at = told.filter(is_there).or_else(|| locator.checked_sub(56).filter(is_there))?;
    let mut reader = Reader::new(bytes.get(at..)?);
    reader.take(4 + 8 + 2 + 2 + 4 + 4 + 8).ok()?;
    let (total, size, offset) = (reader.u64_le().ok()?, reader.u64_le().ok()?, reader.u64_le().ok()?);
    Some(Large { at, total, size, offset })
}

/// Finds the directory: it ends where the end records begin, and begins where its offset says.
fn locate(bytes: &[u8], end: &mut End, size: u64, offset: u64) {
    let is_there = |at: &usize| bytes.get(*at..).is_some_and(|rest| rest.starts_with(CENTRAL));
    let told = usize::try_from(offset).ok();
    let by_size = usize::try_from(size).ok().and_then(|size| end.tail.checked_sub(size));
    if size == 0 && end.total == 0 {
        end.directory = Some(end.tail);
        match told.and_then(|told| end.tail.checked_sub(told)) {
            Some(shift) => end.shift = shift,
            None => end.faults.push("the directory lies behind the end"),
        }
    } else if let Some(at) = by_size.filter(|at| is_there(at) || Some(*at) == told) {
        end.directory = Some(at);
        match told.and_then(|told| at.checked_sub(told)) {
            Some(shift) => end.shift = shift,
            None => end.faults.push("the directory does not lie where its offset says"),
        }
    } else if let Some(at) = told.filter(|at| *at < end.tail && is_there(at)) {
        end.directory = Some(at);
        end.faults.push("the directory does not have the size it says");
    } else {
        end.faults.push("the directory is not where the end record says");
    }
    if end.shift > 0 {
        end.faults.push("its offsets do not count what stands before it");
    }
    // APPNOTE 7.3.4: an encrypted directory has no records to be seen.
    if let Some(at) = end.directory.filter(|at| end.total > 0 && !is_there(at)) {
        end.directory = None;
        end.faults.push("the directory does not begin with a record");
        end.is_masked = bytes.get(at..end.tail).is_some_and(|area| !area.is_empty());
    }
}

/// Whether bytes between the directory and the end records are a signature of the directory (APPNOTE 4.3.13).
pub(super) fn is_signature(between: &[u8]) -> bool {
    between.starts_with(SIGNATURE)
}
