//! EPUB: a zip of web pages (W3C EPUB 3.3). Pages, pictures and styles are children; the container, the package and
//! the list of what is encrypted are read here.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::{
    finding::{Gap, Place, Reason, Severity, Span, Stop},
    format::{
        Format, Out, Subject,
        names::Names,
        office::{self, Page, Sight, Spot, Tell, Waiting, Walk, link, rules},
        pull::{self, Name, Tag},
        zip::{self, Archive, Entry, Kind},
    },
    limits::Budget,
};

pub(crate) const FORMAT: Format =
    Format { name: "epub", labels: &["epub"], inspect, clean: None, rules: &rules::WITH_ZIP };

/// Ways to scramble fonts that need no key: EPUB 3.3 §4.2.6.3.1 and Adobe's.
const SCRAMBLED: [&[u8]; 2] = [b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC"];

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let archive = zip::open(subject, out, budget);
    let mut book = Book { archive: &archive, lock: Lock::default(), tell: Tell::default(), names: Vec::new() };
    let read = book.read(out, budget);
    book.finish(out);
    let closed = archive.finish(out);
    read.and(closed)
}

struct Book<'a> {
    archive: &'a Archive<'a>,
    lock: Lock,
    tell: Tell,
    /// Names of parts that do not become children, and where they stand.
    names: Vec<(usize, Bytes)>,
}

impl Book<'_> {
    fn read(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let archive = self.archive;
        let is_lock = |name: &str| name == "meta-inf/encryption.xml";
        for turn in [true, false] {
            for entry in archive.entries() {
                let name = entry.name.replace('\\', "/").to_ascii_lowercase();
                if is_lock(&name) != turn {
                    continue;
                }
                let is_closed = self.lock.locked.contains(&name) || self.lock.scrambled.contains(&name);
                if is_closed || entry.kind != Kind::File || entry.is_empty() || name == "mimetype" {
                    self.names.push((entry.name_start(), entry.raw.clone()));
                } else if name.starts_with("meta-inf/") || name.ends_with(".opf") || name.ends_with(".ncx") {
                    self.part(entry, out, budget)?;
                } else {
                    archive.child(entry, out);
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, entry: &Entry, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        self.names.push((entry.name_start(), entry.raw.clone()));
        let Some(bytes) = self.archive.read(entry, out, budget) else { return Ok(()) };
        let text = pull::utf8(&bytes, budget)?;
        if office::root_of(&text, budget)?.is_none() {
            self.archive.child(entry, out);
            return Ok(());
        }
        let place = match office::part_name(&entry.name) {
            Some(name) => Place::default().name("entry", name),
            None => entry.place(),
        };
        let spot = Spot { place, span: office::span_of(entry.data.clone(), entry.at) };
        let mut page = Page::new(spot.clone(), &mut self.tell, out);
        office::walk(&text, &mut self.lock, &mut page, budget)?;
        let texts = page.texts;
        Waiting::default().read(texts, "text", &spot, out, budget);
        Ok(())
    }

    fn finish(mut self, out: &mut Out<'_>) {
        let mut names = Names::default();
        self.names.sort_unstable();
        for (at, name) in &self.names {
            names.add(name, *at);
        }
        names.read("names", out);
        if !self.lock.locked.is_empty() {
            let detail = format!("{} files of the book need a key", self.lock.locked.len());
            out.gap(Gap::new(Reason::Encrypted, detail));
        }
        if self.archive.find("META-INF/container.xml").is_none() {
            let whole = Spot { place: Place::default(), span: Span { start: 0, end: 0 } };
            self.tell.say_as(&rules::STRUCTURE, Severity::Medium, &whole, "the container file is missing", out);
        }
        self.tell.finish(out);
    }
}

/// Walks the container, the package and the list of what is encrypted.
#[derive(Debug, Default)]
struct Lock {
    /// Files that need a key, in lower case.
    locked: BTreeSet<String>,
    /// Fonts that are scrambled without one.
    scrambled: BTreeSet<String>,
    in_data: bool,
    is_scrambled: bool,
    has_text: bool,
}

impl Walk for Lock {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        match tag.local() {
            b"EncryptedData" => (self.in_data, self.is_scrambled) = (true, false),
            b"EncryptionMethod" if self.in_data => {
                let method = tag.value(b"Algorithm").unwrap_or_default();
                self.is_scrambled |= SCRAMBLED.contains(&&*method);
            }
            b"CipherReference" if self.in_data => {
                let target = tag.value(b"URI").unwrap_or_default();
                let name = String::from_utf8_lossy(&target).trim_start_matches('/').to_ascii_lowercase();
                let files = if self.is_scrambled { &mut self.scrambled } else { &mut self.locked };
                files.insert(name);
            }
            // A resource of the book that is not in it.
            b"item" => {
                let target = tag.value(b"href").unwrap_or_default();
                if !matches!(link::reach(&target), link::Reach::Beside | link::Reach::Inside) {
                    page.link(link::Use::Media, &target);
                }
            }
            b"link" => page.link(link::Use::Link, &tag.value(b"href").unwrap_or_default()),
            b"text" | b"docTitle" | b"navLabel" => self.has_text = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        if !text.trim_ascii().is_empty() {
            page.texts.part(if self.has_text { Sight::Seen } else { Sight::Unseen }, text);
        }
    }

    fn end(&mut self, name: Name<'_>, _: &mut Page<'_, '_>) {
        match name.local() {
            b"EncryptedData" => self.in_data = false,
            b"text" | b"docTitle" | b"navLabel" => self.has_text = false,
            _ => {}
        }
    }
}
