//! From the end record through the directory to each local header.

use memchr::memmem;

use super::{Archive, Entry, end, entry, rules};
use crate::{
    finding::{Finding, Gap, Place, Reason, Stop},
    format::{Out, zip::entry::Local},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::TextView,
};

/// Searching runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 32;
/// Reading a record, its local header, and finding a place for it in three sorted lists.
const STEPS_PER_ENTRY: u64 = 150;

impl Archive<'_> {
    /// Reads the directory, or what there is when it is lost.
    pub(super) fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Steps, count(self.bytes.len()).div_ceil(BYTES_PER_STEP))?;
        let Some(end) = end::find(self.bytes) else {
            self.locals(budget)?;
            let at = count(self.bytes.len());
            return Err(Stop::malformed("the archive ends before its directory is complete", at));
        };
        let span = (count(end.at), count(end.end));
        for fault in &end.faults {
            out.find(Finding::built_in(&rules::STRUCTURE).at(span.0, span.1).message(*fault));
        }
        let comment = self.bytes.slice(end.comment.start.min(end.end)..end.end);
        if !comment.is_empty() {
            let view = TextView::at(comment, count(end.comment.start));
            out.read(view.place(Place::default().name("part", "comment")));
        }
        let Some(directory) = end.directory else {
            if end.is_masked {
                out.gap(Gap::new(Reason::Encrypted, "the directory is encrypted").at_offset(span.0));
            }
            self.locals(budget)?;
            return Err(Stop::malformed("the directory of the archive is not there", span.0));
        };
        let walked = self.directory(directory, &end, out, budget);
        self.layout(directory, &end, out, budget)?;
        walked
    }

    fn directory(
        &mut self,
        directory: usize,
        end: &end::End,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let Some(area) = self.bytes.get(..end.tail) else { return Ok(()) };
        let mut reader = Reader::new(area);
        reader.seek(count(directory))?;
        loop {
            if reader.is_at_end() {
                break;
            }
            budget.spend(Resource::Entries, 1)?;
            budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
            match entry::central(self.bytes, &mut reader)? {
                Some(entry) => self.entries.push(Entry { number: self.entries.len(), ..entry }),
                None => break,
            }
        }
        let (at, found) = (reader.position(), count(self.entries.len()));
        let rest = reader.rest();
        if !rest.is_empty() && !end::is_signature(rest) {
            let message = format!("{} bytes between the directory and its end record", rest.len());
            out.find(Finding::built_in(&rules::STRUCTURE).at(count(at), count(end.tail)).message(message));
        }
        // A small count that wrapped is how some writers did without the record for large archives.
        if found != end.total && found & 0xffff != end.total {
            let message = format!("the end record counts {} entries, {found} are there", end.total);
            out.find(Finding::built_in(&rules::STRUCTURE).at(count(end.at), count(end.end)).message(message));
        }
        Ok(())
    }

    /// Entries by their local headers alone.
    fn locals(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let bytes = self.bytes;
        budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP))?;
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let Some(skip) = memmem::find(rest, end::LOCAL) else { break };
            let start = at.saturating_add(skip);
            budget.spend(Resource::Entries, 1)?;
            budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
            let Some(local) = entry::local(bytes, start) else {
                return Err(Stop::malformed("the archive ends in the header of a member", count(start)));
            };
            let packed = packed_size(bytes, &local);
            let told = usize::try_from(packed).ok().and_then(|packed| local.data.checked_add(packed));
            let to = told.unwrap_or(usize::MAX).min(bytes.len());
            let mut found = entry::of_local(start, &local, packed);
            found.data = Some(local.data.min(to)..to);
            found.is_unclaimed |= told.is_none_or(|told| told > bytes.len());
            found.number = self.entries.len();
            self.entries.push(found);
            at = to.max(start.saturating_add(4));
        }
        Ok(())
    }
}

/// The packed size that a local header gives, or where the next signature shows that the data end.
fn packed_size(bytes: &[u8], local: &Local) -> u64 {
    if local.flags & entry::DESCRIPTOR == 0 || local.packed > 0 {
        return local.packed;
    }
    let Some(rest) = bytes.get(local.data..) else { return 0 };
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|rest| memmem::find(rest, b"PK")) {
        let at = from.saturating_add(at);
        let behind = rest.get(at..).unwrap_or_default();
        if behind.starts_with(b"PK\x07\x08") {
            return count(at);
        }
        if behind.starts_with(end::LOCAL) || behind.starts_with(end::CENTRAL) {
            // A descriptor without a signature.
            return count(at.saturating_sub(12));
        }
        from = at.saturating_add(2);
    }
    count(rest.len())
}
