//! Zip, and what is built on it: the directory and the headers before the members are read both, and held against
//! each other. Nothing is ever written by name; members become children.
//!
//! Other formats that are zips inside call [`open`], which says everything that is wrong with the container itself, and
//! then read the parts they know.

use std::{
    cell::{Cell, OnceCell},
    collections::BTreeMap,
    fmt,
};

use bytes::Bytes;

use crate::{
    bundle::{Artifact, Claim, Codec, Origin, Source},
    finding::{Finding, Gap, Place, Reason, Rule, Stop},
    format::{Format, Out, Subject, claim, keras, names::Names, path, program},
    inflate,
    limits::{Budget, Resource},
    reader::count,
    sniff,
};

mod check;
mod clean;
mod end;
mod entry;
mod layout;
mod package;
mod repack;
mod rules;
mod walk;

pub(crate) use entry::{Entry, Kind};
pub(crate) use repack::{Packing, Repack};

pub(crate) const FORMAT: Format = Format {
    name: "zip",
    labels: &["zip", "jar", "apk", "whl", "npz", "pytorch", "keras"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &rules::STRUCTURE,
        &rules::MISMATCH,
        &rules::HIDDEN,
        &rules::UNLISTED,
        &rules::PREFIX,
        &rules::TRAILING,
        &rules::SECOND,
        &rules::DUPLICATE,
        &rules::OVERLAP,
        &rules::SIZE_LIE,
        &claim::SIZE,
        &claim::CRC,
        &path::TRAVERSAL,
        &path::ABSOLUTE,
        &path::SPECIAL,
        &path::DISGUISED,
        &path::SYMLINK,
        &path::DEVICE,
        &path::SPECIAL_MODE,
        &package::PACKAGE,
        &program::JAR,
        &program::APK,
        &keras::LAMBDA,
    ],
};

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    program::named(subject, out);
    let archive = open(subject, out, budget);
    archive.installs(subject.kind.label, out, budget);
    if subject.kind.label == "keras"
        && let Some(config) = archive.find("config.json")
        && let Some(text) = archive.read(config, out, budget)
    {
        keras::look(&text, None, out);
    }
    let is_model = subject.kind.label == "pytorch";
    archive.members_but(out, |entry| is_model && archive.is_tensor(entry, budget));
    archive.finish(out)
}

/// A zip that was walked. What is wrong with it as a container is said already.
pub(crate) struct Archive<'a> {
    bytes: &'a Bytes,
    entries: Vec<Entry>,
    /// Entries by name, in ASCII lower case, sorted; of several with one name the last comes last.
    index: OnceCell<Vec<(Vec<u8>, usize)>>,
    /// Members that were asked for and cannot be read, by reason: how many, and where the first is.
    closed: Cell<BTreeMap<Closed, (u64, usize)>>,
    /// Ranges that belong to no member.
    unlisted: Vec<Bytes>,
    /// Why the walk ended early.
    stop: Option<Stop>,
}

/// Why the bytes of an entry cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closed {
    /// A key is needed.
    Encrypted,
    /// Nothing here unpacks that method.
    Unsupported(u16),
    /// There is no header where its offset says.
    Nowhere,
    /// Its bytes are those of another member, which is read.
    Shared,
}

/// Walks a zip: directory and local headers. Says what is wrong with it; its comments are read. Cannot fail: what ended
/// the walk early comes out of [`Archive::finish`], after the entries that were found have been looked at.
pub(crate) fn open<'a>(subject: &Subject<'a>, out: &mut Out<'_>, budget: &mut Budget) -> Archive<'a> {
    let mut archive = Archive::over(subject.bytes);
    archive.stop = archive.walk(out, budget).err();
    let judged = archive.judge(out, budget).err();
    archive.stop = archive.stop.take().or(judged);
    archive
}

impl<'a> Archive<'a> {
    /// Nothing walked yet.
    fn over(bytes: &'a Bytes) -> Self {
        Self {
            bytes,
            entries: Vec::new(),
            index: OnceCell::new(),
            closed: Cell::default(),
            unlisted: Vec::new(),
            stop: None,
        }
    }

    /// Every entry, in the order of the directory.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of that name; the case of ASCII letters does not count. Of several, the last.
    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        let name = name.to_ascii_lowercase().into_bytes();
        let index = self.index.get_or_init(|| {
            let names = self.entries.iter().enumerate().map(|(at, entry)| (entry.raw.to_ascii_lowercase(), at));
            let mut index: Vec<_> = names.collect();
            index.sort_unstable();
            index
        });
        let after = index.partition_point(|(known, _)| *known <= name);
        let (known, at) = index.get(after.checked_sub(1)?)?;
        (*known == name).then(|| self.entries.get(*at)).flatten()
    }

    /// The packed bytes of an entry.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn source(&self, entry: &Entry) -> Result<Source, Closed> {
        // What a key hides is twelve bytes longer (APPNOTE 6.1.3): a flag that lies keeps scanners out, and no reader.
        let is_plain = entry.method == 0 && entry.data.as_ref().is_some_and(|data| count(data.len()) == entry.size);
        if entry.is_encrypted() && !is_plain {
            return Err(Closed::Encrypted);
        }
        let codec = match entry.method {
            0 => Codec::Stored,
            8 => Codec::Deflate,
            9 => Codec::Deflate64,
            12 => Codec::Bzip2,
            14 => Codec::ZipLzma { size: if entry.flags & entry::ENDS_BY_MARK == 0 { entry.size } else { u64::MAX } },
            20 | 93 => Codec::Zstd,
            95 => Codec::Xz,
            other => return Err(Closed::Unsupported(other)),
        };
        let Some(data) = entry.data.clone() else { return Err(Closed::Nowhere) };
        if entry.is_shared {
            return Err(Closed::Shared);
        }
        Ok(Source { packed: self.bytes.slice(data), codec })
    }

    /// The unpacked bytes of an entry, held against the size and the checksum that the directory gives. What does not
    /// fit is said; why something could not be read becomes a gap. What came out until then is returned.
    pub(crate) fn read(&self, entry: &Entry, out: &mut Out<'_>, budget: &mut Budget) -> Option<Bytes> {
        let source = match self.source(entry) {
            Ok(source) => source,
            Err(closed) => {
                self.close(closed, entry.at);
                return None;
            }
        };
        self.not_for_all(entry);
        let unpacked = inflate::unpack(&source, budget);
        let checked = claim::check(entry.claim(), &unpacked, &entry.place(), out, budget);
        if let Some(stop) = unpacked.stop.or(checked.err().map(Stop::from)) {
            out.gap(match stop {
                Stop::Malformed { what, .. } => Gap::new(Reason::Malformed, what).at_offset(count(entry.at)),
                limit @ Stop::Limit(_) => limit.into_gap(),
            });
        }
        Some(unpacked.bytes)
    }

    /// Makes an entry a child, to be looked at when its turn comes.
    pub(crate) fn child(&self, entry: &Entry, out: &mut Out<'_>) {
        match self.source(entry) {
            Ok(source) => {
                self.not_for_all(entry);
                let mut child = Artifact::new(Origin::Member, source).named(entry.name.clone());
                child.claim = Some(entry.claim());
                out.children.push(child);
            }
            Err(closed) => self.close(closed, entry.at),
        }
    }

    /// Makes every entry a child, but for those that are numbers and nothing else. The names of those that hold nothing
    /// are read here.
    fn members_but(&self, out: &mut Out<'_>, mut is_numbers: impl FnMut(&Entry) -> bool) {
        let mut names = Names::default();
        for entry in &self.entries {
            if entry.is_empty() || entry.kind == Kind::Symlink || self.source(entry).is_err() {
                names.add(&entry.raw, entry.name_at.start);
            }
            // Readers that know no devices write a file with what stands there.
            let has_content = entry.kind != Kind::Symlink && !entry.is_empty();
            if has_content && !is_numbers(entry) {
                self.child(entry, out);
            }
        }
        names.read("names", out);
    }

    /// The numbers of a tensor of torch: a member that is itself named by a number, `model/data/0`, and whose bytes are no
    /// type that anybody knows.
    fn is_tensor(&self, entry: &Entry, budget: &mut Budget) -> bool {
        let mut segments = entry.name.rsplit('/');
        let is_number =
            segments.next().is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()));
        is_number
            && matches!(segments.next(), Some("data" | "constants" | "storages"))
            && budget.spend(Resource::Steps, sniff::STEPS).is_ok()
            && self
                .source(entry)
                .is_ok_and(|source| source.codec == Codec::Stored && sniff(&source.packed).kind == sniff::unknown())
    }

    /// A plain member under a flag that says it needs a key is read here, and by no reader that believes the flag.
    fn not_for_all(&self, entry: &Entry) {
        if entry.is_encrypted() {
            self.close(Closed::Encrypted, entry.at);
        }
    }

    fn close(&self, closed: Closed, at: usize) {
        let mut known = self.closed.take();
        let (times, _) = known.entry(closed).or_insert((0, at));
        *times = times.saturating_add(1);
        self.closed.set(known);
    }

    /// Ends it: what could not be read becomes gaps, what belongs to no member becomes children.
    ///
    /// # Errors
    /// Why the walk ended early.
    pub(crate) fn finish(self, out: &mut Out<'_>) -> Result<(), Stop> {
        for (closed, (times, at)) in self.closed.take() {
            let (reason, what) = match closed {
                Closed::Encrypted => (Reason::Encrypted, "needs a key".to_owned()),
                Closed::Unsupported(method) => {
                    (Reason::Unsupported, format!("is packed by method {method}, which nothing here unpacks"))
                }
                Closed::Nowhere => (Reason::Malformed, "is not where the directory says".to_owned()),
                Closed::Shared => (Reason::Malformed, "shares its bytes with another and was not unpacked".to_owned()),
            };
            let others = if times > 1 { format!("; so do {} more", times.saturating_sub(1)) } else { String::new() };
            out.gap(Gap::new(reason, format!("a member {what}{others}")).at_offset(count(at)));
        }
        for rest in self.unlisted {
            out.child(Source::stored(rest), None);
        }
        self.stop.map_or(Ok(()), Err)
    }
}

impl fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("entries", &self.entries).field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Entry {
    /// What the archive says of what comes out.
    pub(crate) fn claim(&self) -> Claim {
        if self.is_unclaimed { Claim::default() } else { Claim { size: Some(self.size), crc32: Some(self.crc) } }
    }

    /// Where a person looks. Entries are counted from one: a name may hold a secret, and is not repeated.
    pub(crate) fn place(&self) -> Place {
        Place::default().number("entry", count(self.number).saturating_add(1))
    }

    /// Where its record begins and its name ends.
    fn span(&self) -> (u64, u64) {
        (count(self.at), count(self.name_at.end.max(self.at)))
    }

    /// A finding about it.
    fn finding(&self, rule: &'static Rule, message: impl Into<String>) -> Finding {
        let (from, to) = self.span();
        Finding::built_in(rule).at(from, to).place(self.place()).message(message)
    }
}

#[cfg(test)]
mod tests;
