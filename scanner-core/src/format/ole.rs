//! Documents that are OLE compound files: Word, Excel, PowerPoint and Outlook, whatever stands in them and in documents
//! inside them. Every storage is looked at for what it holds, in one pass over the directory.

use crate::{
    bundle::Source,
    finding::{Finding, Place, Stop},
    format::{Format, Out, Subject, cfb, cfb::Compound, embedded, vba},
    limits::Budget,
    reader::count,
    sniff,
};

mod rules;

pub(crate) const FORMAT: Format = Format {
    name: "ole",
    labels: &["doc", "msg", "ole", "ppt", "xls"],
    inspect,
    rules: &[
        &cfb::LOOP,
        &cfb::OVERLAP,
        &cfb::STRUCTURE,
        &cfb::TRUNCATED,
        &embedded::EXECUTABLE,
        &embedded::LINK,
        &embedded::OBJECT,
        &rules::TRAILING,
        &vba::AUTOEXEC,
        &vba::CALLS_OUT,
        &vba::PROJECT,
        &vba::STOMPED,
        &vba::STRUCTURE,
    ],
};

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
    }
    tail(&compound, out);
    result
}

/// The document while its storages are looked at.
struct Document<'a> {
    compound: &'a Compound,
    /// Whether any storage holds what is understood here.
    is_known: bool,
}

impl Document<'_> {
    fn storage(&mut self, storage: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        if vba::is_project(self.compound, storage) {
            self.is_known = true;
            vba::project(self.compound, storage, &Place::default(), out, budget)?;
        }
        Ok(())
    }
}

/// Bytes behind everything that the tables know: a program opens the document and never sees them.
fn tail(compound: &Compound, out: &mut Out<'_>) {
    let tail = compound.tail();
    if tail.iter().all(|byte| *byte == 0) {
        return;
    }
    let kind = sniff::sniff(&tail).kind;
    let (start, end) = (compound.tail_at(), compound.tail_at().saturating_add(tail.len()));
    // Programs leave old sectors behind; what begins like a file was put there.
    if kind != sniff::unknown() && !kind.is_text {
        let message = format!("{} bytes of another type behind the end of the compound file", tail.len());
        out.find(Finding::built_in(&rules::TRAILING).at(count(start), count(end)).message(message));
        out.child(Source::stored(tail), None);
    }
}
