//! Documents that are OLE compound files: Word, Excel, `PowerPoint` and Outlook, whatever stands in them and in documents
//! inside them. Every storage is looked at for what it holds, in one pass over the directory.

use bytes::Bytes;
use memchr::memmem;

use crate::{
    bundle::Source,
    finding::{Finding, Gap, Place, Reason, Severity, Stop},
    format::{
        Format, Out, Subject,
        cfb::{self, Compound, Stream},
        embedded, fields, office, strings, vba,
    },
    limits::{Budget, Resource},
    reader::count,
    sniff::{self, sniff},
    view::TextView,
};

mod class;
mod doc;
mod msg;
mod ppt;
mod rules;
mod summary;
mod xls;

pub(crate) const FORMAT: Format = Format {
    name: "ole",
    labels: &["doc", "msg", "ole", "ppt", "xls"],
    inspect,
    clean: None,
    rules: &[
        &cfb::LOOP,
        &cfb::OVERLAP,
        &cfb::STRUCTURE,
        &cfb::TRUNCATED,
        &embedded::EXECUTABLE,
        &embedded::EXPLOITED,
        &embedded::LINK,
        &embedded::OBJECT,
        &office::rules::ACTIVEX,
        &office::rules::AUTOEXEC,
        &office::rules::DDE,
        &office::rules::HIDDEN_SHEET,
        &office::rules::HIDDEN_STYLE,
        &office::rules::LINK,
        &office::rules::REMOTE,
        &office::rules::REMOTE_TEMPLATE,
        &office::rules::XL4,
        &rules::OTHER_BOOK,
        &rules::QUERY,
        &rules::RUNS_MACRO,
        &rules::RUNS_PROGRAM,
        &rules::TRAILING,
        &rules::XLM_RUNS,
        &vba::AUTOEXEC,
        &vba::CALLS_OUT,
        &vba::PROJECT,
        &vba::STOMPED,
        &vba::STRUCTURE,
    ],
};

/// The address of a link to an object begins with this class: a moniker of a URL (MS-OLEDS 2.3.7.6).
const URL_MONIKER: &[u8] = b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b";
/// The same for a path (MS-OLEDS 2.3.7.4).
const FILE_MONIKER: &[u8] = b"\x03\x03\0\0\0\0\0\0\xc0\0\0\0\0\0\0\x46";

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let compound = Compound::open(subject.bytes, None, &Place::default(), out, budget)?;
    let mut document = Document { compound: &compound, is_known: false };
    let mut result = Ok(());
    for storage in compound.storages() {
        // What stops in one storage does not keep the others from being seen.
        if let Err(stop) = document.storage(storage, out, budget) {
            let is_limit = matches!(stop, Stop::Limit(_));
            result = result.and(Err(stop));
            if is_limit {
                break;
            }
        }
    }
    if !document.is_known && result.is_ok() {
        out.unsupported("nothing here knows what this compound file is for");
        result = document.loose(out, budget);
    }
    result.and(tail(&compound, subject.bytes, out, budget))
}

/// The document while its storages are looked at.
struct Document<'a> {
    compound: &'a Compound,
    /// Whether any storage holds what is understood here.
    is_known: bool,
}

impl Document<'_> {
    fn place(&self, at: usize) -> Place {
        Place::default().name("entry", self.compound.path(at))
    }

    fn storage(&mut self, storage: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let compound = self.compound;
        self.class(storage, out);
        let mut result = Ok(());
        if vba::is_project(compound, storage) {
            self.is_known = true;
            vba::project(compound, storage, &Place::default(), out, budget)?;
        }
        if msg::is_part(compound, storage) {
            self.is_known = true;
            let place = if storage == 0 { Place::default() } else { self.place(storage) };
            result = msg::read(compound, storage, &place, out, budget);
        }
        let streams: Vec<usize> = compound.inside(storage).collect();
        for at in streams {
            if let Err(stop) = self.stream(storage, at, out, budget) {
                let is_limit = matches!(stop, Stop::Limit(_));
                result = result.and(Err(stop));
                if is_limit {
                    break;
                }
            }
        }
        result
    }

    /// Classes whose programs were broken before.
    fn class(&self, storage: usize, out: &mut Out<'_>) {
        let Some(entry) = self.compound.entries().get(storage) else { return };
        if let Some(name) = class::exploited(&entry.class) {
            let place = if storage == 0 { Place::default() } else { self.place(storage) };
            out.find(Finding::built_in(&embedded::EXPLOITED).place(place).message(format!("an object of {name}")));
        }
    }

    fn stream(&mut self, storage: usize, at: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let compound = self.compound;
        let Some(entry) = compound.entries().get(at).filter(|entry| !entry.is_storage()) else { return Ok(()) };
        let place = self.place(at);
        let name = cfb::readable(&entry.name).to_ascii_lowercase();
        let is_inner = storage != 0;
        if matches!(&*name, "worddocument" | "workbook" | "book" | "powerpoint document") {
            self.is_known = true;
            if is_inner {
                // It is looked into right here, so it is less than a thing that nobody sees.
                let finding = Finding::built_in(&embedded::OBJECT).severity(Severity::Low).place(place.clone());
                out.find(finding.message("a document of Office inside the document"));
            }
        }
        match &*name {
            "worddocument" => {
                let main = compound.stream(at, budget)?;
                let mut tables = Vec::new();
                for name in ["0Table", "1Table"] {
                    tables.push(compound.find(storage, name).map(|at| compound.stream(at, budget)).transpose()?);
                }
                let [zero, one] = [tables.first(), tables.get(1)].map(|table| table.and_then(Option::as_ref));
                doc::read(&doc::Document { main: &main, tables: [zero, one] }, &place, out, budget)
            }
            "workbook" | "book" => xls::read(&compound.stream(at, budget)?, &place, out, budget),
            "powerpoint document" => ppt::read(&compound.stream(at, budget)?, &place, out, budget),
            "summaryinformation" | "documentsummaryinformation" => {
                summary::read(&compound.stream(at, budget)?, &place, out, budget)
            }
            "encryptedpackage" => {
                self.is_known = true;
                out.gap(Gap::new(Reason::Encrypted, "the document needs a password"));
                Ok(())
            }
            "ole10native" => {
                self.is_known = true;
                native(&compound.stream(at, budget)?, &place, out, budget)
            }
            "ole" => {
                let stream = compound.stream(at, budget)?;
                budget.spend(Resource::Steps, count(stream.bytes.len()))?;
                if is_linked(&stream.bytes) {
                    let span = stream.whole();
                    out.find(Finding::built_in(&embedded::LINK).at(span.start, span.end).place(place));
                }
                Ok(())
            }
            "package" | "contents" => {
                let stream = compound.stream(at, budget)?;
                budget.spend(Resource::Steps, sniff::STEPS)?;
                let kind = sniff(&stream.bytes).kind;
                if kind != sniff::unknown() && !kind.is_text {
                    self.is_known = true;
                    object(&stream, &place, out);
                    embedded::carry(stream.bytes.clone(), None, stream.whole(), &place, out, budget)?;
                }
                Ok(())
            }
            "equation native" => {
                let span = compound.stream(at, budget)?.whole();
                let finding = Finding::built_in(&embedded::EXPLOITED).at(span.start, span.end).place(place);
                out.find(finding.message("an object of the equation editor"));
                Ok(())
            }
            "ctls" | "ocxname" | "ocxdata" => {
                let span = compound.stream(at, budget)?.whole();
                out.find(Finding::built_in(&office::rules::ACTIVEX).at(span.start, span.end).place(place));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whatever reads like text, where nothing is understood.
    fn loose(&self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        for (at, entry) in self.compound.entries().iter().enumerate() {
            if entry.is_storage() {
                continue;
            }
            let stream = self.compound.stream(at, budget)?;
            budget.spend(Resource::Steps, count(stream.bytes.len()))?;
            let text = strings::runs(&stream.bytes);
            if !text.is_empty() {
                out.read(TextView::decoded(text.into(), stream.map(), vec!["strings"]).place(self.place(at)));
            }
        }
        Ok(())
    }
}

fn object(stream: &Stream, place: &Place, out: &mut Out<'_>) {
    let span = stream.whole();
    out.find(Finding::built_in(&embedded::OBJECT).at(span.start, span.end).place(place.clone()));
}

/// The native data of an object: mostly a package, behind its length (MS-OLEDS 2.3.6).
fn native(stream: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    object(stream, place, out);
    let data: Bytes = stream.bytes.slice(4.min(stream.bytes.len())..);
    let Ok(package) = embedded::package(&data) else {
        return Ok(embedded::carry(data, None, stream.whole(), place, out, budget)?);
    };
    embedded::told(&package, stream.whole(), place, out, budget)?;
    Ok(())
}

/// Whether the stream `Ole` of an object says that it is elsewhere: under an address, or on another machine.
fn is_linked(bytes: &[u8]) -> bool {
    memmem::find(bytes, URL_MONIKER).is_some()
        || memmem::find(bytes, FILE_MONIKER).is_some() && strings::runs(bytes).lines().any(fields::is_remote)
}

/// Bytes behind everything that the tables know: a program opens the document and never sees them.
fn tail(compound: &Compound, whole: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let tail = compound.tail();
    if tail.iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    let kind = sniff(&tail).kind;
    let (start, end) = (compound.tail_at(), compound.tail_at().saturating_add(tail.len()));
    // Programs leave old sectors behind; what begins like a file was put there.
    if kind == sniff::unknown() || kind.is_text && kind.label == "txt" {
        strings::read(whole, start..end, out, budget)?;
    } else {
        let message = format!("{} bytes of another type behind the end of the compound file", tail.len());
        out.find(Finding::built_in(&rules::TRAILING).at(count(start), count(end)).message(message));
        out.child(Source::stored(tail), None);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
