//! Tape archives: ustar, GNU and PAX. Headers of 512 bytes, one after the other; what stands in two places is compared,
//! links and devices are named, members become children. Nothing is ever written by name.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;

use crate::{
    bundle::{Artifact, Origin, Source},
    finding::{Finding, Place, Rule, Severity, Stop},
    format::{Format, Out, Subject, names::Names, path, strings},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::TextView,
};

mod clean;
mod header;
mod pax;
mod rules;

use header::{Header, Kind};
use pax::Extended;

pub(crate) const FORMAT: Format = Format {
    name: "tar",
    labels: &["tar"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &rules::STRUCTURE,
        &rules::CHECKSUM,
        &rules::SIZES,
        &rules::TRAILING,
        &rules::SPARSE,
        &rules::DUPLICATE,
        &path::TRAVERSAL,
        &path::ABSOLUTE,
        &path::SPECIAL,
        &path::DISGUISED,
        &path::SYMLINK,
        &path::HARDLINK,
        &path::DEVICE,
        &path::SPECIAL_MODE,
    ],
};

/// The unit of everything in a tape archive.
const BLOCK_BYTES: u64 = 512;
/// Reading a header, and finding a place for its name in two sorted sets.
const STEPS_PER_HEADER: u64 = 150;
/// Headers that only describe the next one: one of each kind is honest.
const MOST_DESCRIPTIONS: u32 = 8;
/// Longest name that a description may give; programs that keep any length were brought down by it.
const LONGEST_DESCRIPTION_BYTES: u64 = 64 * 1024;
/// Bits of the mode.
const SETUID_OR_SETGID: u64 = 0o6000;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut tape = Tape::over(subject.bytes);
    let walked = tape.walk(out, budget);
    tape.names.read("names", out);
    walked
}

/// An archive being walked.
struct Tape<'a> {
    bytes: &'a Bytes,
    /// Names that no child carries.
    names: Names,
    /// Names so far, and those of symbolic links.
    seen: BTreeSet<String>,
    links: BTreeSet<String>,
    /// What holds for all that follow, and for the next one only.
    global: Extended,
    next: Extended,
    /// Descriptions since the last member.
    descriptions: u32,
    members: u64,
    /// The names of user and group that were read last: they are mostly those of every member.
    owner: Bytes,
    /// Where members go that are to be written again.
    kept: Option<Vec<clean::Kept>>,
}

/// One member, with what its descriptions say.
struct Member<'a> {
    header: &'a Header,
    name: String,
    target: String,
    /// Its bytes in the archive, and where they begin.
    data: Bytes,
    number: u64,
}

impl Member<'_> {
    fn finding(&self, rule: &'static Rule, message: impl Into<String>) -> Finding {
        let (from, to) = self.header.span();
        Finding::built_in(rule).at(from, to).place(self.place()).message(message)
    }

    /// Members are counted from one: a name may hold a secret, and is not repeated.
    fn place(&self) -> Place {
        Place::default().number("entry", self.number)
    }
}

impl<'a> Tape<'a> {
    fn over(bytes: &'a Bytes) -> Self {
        Self {
            bytes,
            names: Names::default(),
            seen: BTreeSet::new(),
            links: BTreeSet::new(),
            global: Extended::default(),
            next: Extended::default(),
            descriptions: 0,
            members: 0,
            owner: Bytes::new(),
            kept: None,
        }
    }

    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.bytes);
        loop {
            if reader.is_at_end() {
                return self.end(&reader, out);
            }
            budget.spend(Resource::Steps, STEPS_PER_HEADER)?;
            let at = reader.position();
            let Ok(block) = reader.take(BLOCK_BYTES) else {
                if reader.rest().iter().all(|byte| *byte == 0) {
                    return Ok(());
                }
                return Err(Stop::malformed("the archive ends in the middle of a header", count(at)));
            };
            if block.iter().all(|byte| *byte == 0) {
                return self.behind(&reader, out, budget);
            }
            budget.spend(Resource::Entries, 1)?;
            let header = Header::read(block, at)?;
            self.header(&header, &mut reader, out, budget)?;
        }
    }

    /// The archive ends without its two empty blocks, which many programs leave out.
    fn end(&self, reader: &Reader<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
        if self.descriptions > 0 {
            let at = count(reader.position());
            let message = "a description at the end that describes nothing";
            out.find(Finding::built_in(&rules::STRUCTURE).at(at.saturating_sub(BLOCK_BYTES), at).message(message));
        }
        Ok(())
    }

    /// What stands behind the empty block that ends an archive: more empty blocks, up to the length of a tape's record.
    fn behind(&self, reader: &Reader<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let rest = reader.rest();
        budget.spend(Resource::Steps, count(rest.len()).div_ceil(BLOCK_BYTES))?;
        let Some(blank) = rest.iter().position(|byte| *byte != 0) else { return self.end(reader, out) };
        // Headers begin at whole blocks.
        let skip = blank.saturating_sub(blank.checked_rem(512).unwrap_or(0));
        let from = reader.position().saturating_add(skip);
        let rest = self.bytes.slice(from..);
        let message = format!("{} bytes behind the end of the archive", rest.len());
        let finding = Finding::built_in(&rules::TRAILING).at(count(from), count(self.bytes.len()));
        out.find(finding.message(message));
        out.child(Source::stored(rest), None);
        Ok(())
    }

    fn header(
        &mut self,
        header: &Header,
        reader: &mut Reader<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (from, to) = header.span();
        let mut fault = |rule, what: &str| out.find(Finding::built_in(rule).at(from, to).message(what));
        if !header.is_sound {
            fault(&rules::CHECKSUM, "the checksum of a header does not match");
        }
        for what in &header.faults {
            fault(&rules::STRUCTURE, what);
        }
        self.words(header, out, budget)?;
        let mut fault = |rule, what: &str| out.find(Finding::built_in(rule).at(from, to).message(what));
        let mut size = header.size;
        if header.is_description() {
            self.descriptions = self.descriptions.saturating_add(1);
            if self.descriptions == MOST_DESCRIPTIONS {
                fault(&rules::STRUCTURE, "a row of descriptions that describe each other");
            }
        } else if let Some(told) = self.next.size.or(self.global.size) {
            if header.size != told && header.size > 0 {
                let what = "two sizes: a program that reads the other one takes the content for headers";
                fault(&rules::SIZES, what);
            }
            size = told;
        }
        if header.has_no_data() {
            // A link or a folder: the size, if there is one, is that of the file it names.
            size = 0;
        }
        if let Kind::GnuSparse = header.kind {
            self.sparse_blocks(header, reader, out)?;
        }
        let start = reader.position();
        let room = count(reader.left());
        let taken = reader.take(size.min(room))?;
        let data = self.bytes.slice_ref(taken);
        let is_cut = size > room;
        let padding = size.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(size).saturating_sub(size);
        // The last block is not always filled up. What fills it is nobody's, and not always zeros.
        let filling = reader.position();
        reader.take(padding.min(count(reader.left())))?;
        self.filling(filling..reader.position(), out, budget)?;
        if header.is_description() {
            self.describe(header, &data, start, out, budget)?;
        } else {
            self.descriptions = 0;
            self.member(header, data, out, budget)?;
        }
        if is_cut {
            let what = format!("a member says it has {size} bytes, {room} are left");
            return Err(Stop::malformed(what, count(start)));
        }
        Ok(())
    }

    /// What stands between the end of a member and the next header.
    fn filling(&self, range: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let filling = self.bytes.get(range.clone()).unwrap_or_default();
        if self.kept.is_some() || filling.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let finding = Finding::built_in(&rules::TRAILING).at(count(range.start), count(range.end));
        let message = "the last block of a member is filled up with something else than zeros";
        out.find(finding.severity(Severity::Low).message(message));
        Ok(strings::read(self.bytes, range, out, budget)?)
    }

    /// The names of user and group, and what stands where a link would have its target (ustar).
    fn words(&mut self, header: &Header, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let from = usize::try_from(header.span().0).unwrap_or(usize::MAX);
        let range = |field: Range<usize>| from.saturating_add(field.start)..from.saturating_add(field.end);
        if self.kept.is_some() || self.bytes.get(range(257..262)).is_none_or(|letters| letters != b"ustar") {
            return Ok(());
        }
        let owner = self.bytes.get(range(265..329)).map_or_else(Bytes::new, |owner| self.bytes.slice_ref(owner));
        if owner != self.owner {
            // A name of 32 letters ends without a zero.
            strings::read(self.bytes, range(265..297), out, budget)?;
            strings::read(self.bytes, range(297..329), out, budget)?;
            self.owner = owner;
        }
        if !matches!(header.kind, Kind::Symlink | Kind::Hardlink) && !header.target.is_empty() {
            strings::read(self.bytes, range(157..257), out, budget)?;
        }
        Ok(())
    }

    /// A header that says something of the next one: PAX records, or a long name of GNU.
    fn describe(
        &mut self,
        header: &Header,
        data: &Bytes,
        start: usize,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (from, to) = header.span();
        let fault = |out: &mut Out<'_>, what: &'static str| {
            out.find(Finding::built_in(&rules::STRUCTURE).at(from, to).message(what));
        };
        if count(data.len()) > LONGEST_DESCRIPTION_BYTES {
            fault(out, "a name or description longer than any that is needed");
        }
        budget.spend(Resource::Steps, count(data.len()))?;
        let words = || String::from_utf8_lossy(data.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
        match header.kind {
            Kind::LongName => self.next.path = Some(words()),
            Kind::LongLink => self.next.target = Some(words()),
            Kind::Extended | Kind::Global => {
                let into = if header.kind == Kind::Global { &mut self.global } else { &mut self.next };
                if !into.read(data, budget)? {
                    fault(out, "a record of a description is not built as it should be");
                }
            }
            _ => {}
        }
        // Comments and foreign keys are words like any other.
        out.read(TextView::at(data.clone(), count(start)).place(Place::default().name("part", "description")));
        Ok(())
    }

    fn member(&mut self, header: &Header, data: Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let next = std::mem::take(&mut self.next);
        let plain = header.name();
        let own = next.sparse_name.or(next.path).or_else(|| self.global.path.clone());
        let target = next.target.or_else(|| self.global.target.clone()).unwrap_or_else(|| header.target.clone());
        self.members = self.members.saturating_add(1);
        let is_renamed = own.is_some();
        let name = own.unwrap_or_else(|| plain.clone());
        if let Some(kept) = &mut self.kept {
            let is_sparse = header.kind == Kind::GnuSparse || next.real_size.is_some();
            kept.push(clean::Kept {
                name,
                kind: header.kind,
                data,
                is_sparse,
                is_sound: header.is_sound && header.faults.is_empty(),
            });
            return Ok(());
        }
        let member = Member { header, name, target, data, number: self.members };
        path::judge(&member.name, header.span(), &member.place(), out, budget)?;
        if is_renamed && plain != member.name {
            // Programs that know no descriptions go by this one.
            path::judge(&plain, header.span(), &member.place(), out, budget)?;
        }
        if let Some(real) = next.real_size.or(header.real_size) {
            sparse(&member, real, budget, out);
        }
        budget.spend(Resource::Steps, count(member.name.len()))?;
        self.unpacks(&member, out);
        self.child(member, out);
        Ok(())
    }

    /// What it becomes, and what of that is dangerous.
    fn unpacks(&mut self, member: &Member<'_>, out: &mut Out<'_>) {
        if path::goes_through(&member.name, &self.links) {
            let message = "it is written through a link of the same archive";
            out.find(member.finding(&path::SYMLINK, message).severity(Severity::High));
            // Where it lies is not where its name says: two dots may lead anywhere.
            if path::climbs(&member.target) {
                out.find(member.finding(&path::TRAVERSAL, "a link through a link that climbs"));
            }
        }
        let folded = path::plain(&member.name);
        match member.header.kind {
            Kind::Symlink => {
                self.link(member, &path::SYMLINK, out);
                self.links.insert(folded);
            }
            Kind::Hardlink => {
                let known = self.seen.contains(&path::plain(&member.target));
                // Programs that write a file with two names write the second one so.
                if !known || self.links.contains(&path::plain(&member.target)) {
                    self.link(member, &path::HARDLINK, out);
                }
                self.seen.insert(folded);
            }
            Kind::Device => out.find(member.finding(&path::DEVICE, path::DEVICE.title.clone())),
            Kind::Folder => {}
            Kind::File | Kind::GnuSparse | Kind::Other => {
                if member.header.mode & SETUID_OR_SETGID != 0 {
                    out.find(member.finding(&path::SPECIAL_MODE, path::SPECIAL_MODE.title.clone()));
                }
                if !self.seen.insert(folded) {
                    out.find(member.finding(&rules::DUPLICATE, rules::DUPLICATE.title.clone()));
                }
            }
            Kind::LongName | Kind::LongLink | Kind::Extended | Kind::Global => {}
        }
    }

    fn link(&self, member: &Member<'_>, rule: &'static Rule, out: &mut Out<'_>) {
        // A hard link counts from the root of the archive, a symbolic one from where it lies.
        let lies = if rule == &path::HARDLINK { "" } else { &member.name };
        for (fault, what) in path::link_faults(lies, &member.target) {
            out.find(member.finding(fault, what).severity(Severity::High));
        }
        let escapes = path::leaves(lies, &member.target);
        let severity = if escapes { Severity::High } else { rule.severity };
        let message = if escapes { "a link to what is not in the archive" } else { "a link inside the archive" };
        out.find(member.finding(rule, message).severity(severity));
    }

    fn child(&mut self, member: Member<'_>, out: &mut Out<'_>) {
        if member.data.is_empty() {
            for words in [&member.name, &member.target] {
                self.names.add(words.as_bytes(), member.header.at);
            }
            return;
        }
        let mut child = Artifact::new(Origin::Member, Source::stored(member.data));
        child.name = Some(member.name);
        out.children.push(child);
    }

    /// More blocks of the map of a sparse file, as long as each says that another follows (GNU tar, `sparse_header`).
    fn sparse_blocks(&self, header: &Header, reader: &mut Reader<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
        let mut is_extended = header.is_extended;
        while is_extended {
            let at = reader.position();
            let block = reader.take(BLOCK_BYTES)?;
            is_extended = block.get(504).is_some_and(|byte| *byte != 0);
            if is_extended && reader.is_at_end() {
                let span = (count(at), count(self.bytes.len()));
                let message = "the map of a sparse file does not end";
                out.find(Finding::built_in(&rules::STRUCTURE).at(span.0, span.1).message(message));
            }
        }
        Ok(())
    }
}

/// A file with holes: what it takes on disk, or in a program that fills them.
fn sparse(member: &Member<'_>, real: u64, budget: &Budget, out: &mut Out<'_>) {
    let most = count(member.data.len()).saturating_mul(budget.limits().get(Resource::Ratio));
    if real > most.max(budget.limits().get(Resource::ArtifactBytes)) {
        let message = format!("{} bytes that are to become {real}", member.data.len());
        out.find(member.finding(&rules::SPARSE, message));
    }
}

#[cfg(test)]
mod tests;
