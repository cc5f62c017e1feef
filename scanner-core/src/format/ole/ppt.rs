//! `PowerPoint` presentations (MS-PPT): one stream of records in records, walked without going down: what stands in a
//! container follows its head.

use bytes::Bytes;

use super::rules;
use crate::{
    bundle::{Codec, Source},
    finding::{Finding, Gap, Place, Reason, Stop},
    format::{Out, cfb::Stream, charset, embedded, office},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::TextView,
};

/// The low four bits of the first field: what follows are records.
const CONTAINER: u16 = 0x0f;
const TEXT_WIDE: u16 = 0x0fa0;
const TEXT_NARROW: u16 = 0x0fa8;
const STRING: u16 = 0x0fba;
const HYPERLINK: u16 = 0x0fd7;
const CONTROL: u16 = 0x0fee;
const OBJECT_LINK: u16 = 0x0fce;
const OBJECT: u16 = 0x0fcc;
const ACTION: u16 = 0x0ff3;
/// The storage of an object or of the project of macros, packed or not.
const STORAGE: u16 = 0x1011;
const ENCRYPTED: u16 = 0x2f14;

/// Steps of one record.
const STEPS_PER_RECORD: u64 = 6;
/// An action that starts a program, and one that starts a macro (MS-PPT 2.13.1).
const RUNS_MACRO: u8 = 1;
const RUNS_PROGRAM: u8 = 2;

/// Reads the records of the stream `PowerPoint Document`.
pub(super) fn read(stream: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut slides = Slides::default();
    let walked = slides.walk(stream, place, out, budget);
    slides.finish(stream, place, out);
    walked
}

#[derive(Default)]
struct Slides {
    text: String,
    links: u64,
    told: Vec<&'static str>,
}

impl Slides {
    fn walk(&mut self, stream: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(&stream.bytes);
        while reader.left() >= 8 {
            let start = reader.position();
            let (version, kind, length) = (reader.u16_le()?, reader.u16_le()?, reader.u32_le()?);
            budget.spend(Resource::Steps, STEPS_PER_RECORD)?;
            if (version, kind, length) == (0, 0, 0) && reader.rest().iter().all(|byte| *byte == 0) {
                break;
            }
            let is_container = version & CONTAINER == CONTAINER;
            if count(reader.left()) < u64::from(length) {
                let at = stream.span(start..start).start;
                return Err(Stop::malformed("a record of the presentation is longer than what is left", at));
            }
            if is_container {
                self.container(kind, stream.span(start..start.saturating_add(8)), place, out);
                continue;
            }
            let data = reader.take(length.into())?;
            match kind {
                TEXT_WIDE | STRING => self.push(&charset::utf16(data, budget)?),
                TEXT_NARROW => self.push(&charset::decode(data, 28591, budget)?),
                STORAGE => {
                    budget.spend(Resource::Objects, 1)?;
                    budget.spend(Resource::Steps, count(data.len()) / 32)?;
                    let source = storage(stream.bytes.slice_ref(data), version >> 4 == 1);
                    out.child(source, None);
                }
                ENCRYPTED => {
                    let at = stream.span(start..start).start;
                    out.gap(Gap::new(Reason::Encrypted, "the presentation needs a password").at_offset(at));
                    return Ok(());
                }
                ACTION => {
                    let span = stream.span(start..reader.position());
                    let rule = match data.get(8) {
                        Some(&RUNS_PROGRAM) => &rules::RUNS_PROGRAM,
                        Some(&RUNS_MACRO) => &rules::RUNS_MACRO,
                        _ => continue,
                    };
                    if !self.told.contains(&&*rule.id) {
                        self.told.push(&rule.id);
                        out.find(Finding::built_in(rule).at(span.start, span.end).place(place.clone()));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn container(&mut self, kind: u16, span: crate::finding::Span, place: &Place, out: &mut Out<'_>) {
        let rule = match kind {
            HYPERLINK => {
                self.links = self.links.saturating_add(1);
                return;
            }
            CONTROL => &office::rules::ACTIVEX,
            OBJECT => &embedded::OBJECT,
            OBJECT_LINK => &embedded::LINK,
            _ => return,
        };
        if !self.told.contains(&&*rule.id) {
            self.told.push(&rule.id);
            // A link to a file of the same computer is how charts follow their tables.
            let severity = if kind == OBJECT_LINK { crate::finding::Severity::Medium } else { rule.severity };
            out.find(Finding::built_in(rule).severity(severity).at(span.start, span.end).place(place.clone()));
        }
    }

    fn push(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\r' | '\u{b}' => self.text.push('\n'),
                other => self.text.push(other),
            }
        }
        self.text.push('\n');
    }

    fn finish(self, stream: &Stream, place: &Place, out: &mut Out<'_>) {
        if self.links > 0 {
            let message = format!("{} links to other places", self.links);
            out.find(Finding::built_in(&office::rules::LINK).place(place.clone()).message(message));
        }
        if !self.text.trim().is_empty() {
            out.read(TextView::decoded(self.text.into(), stream.map(), vec!["ppt"]).place(place.clone()));
        }
    }
}

/// The storage of an object: as it stands, or packed behind its length. `PowerPoint` does not end the packed stream: it
/// stops after a block of nothing, and the end is added here.
fn storage(data: Bytes, is_packed: bool) -> Source {
    const UNENDED: &[u8] = b"\0\0\xff\xff";
    const END: &[u8] = b"\x03\0";
    if !is_packed {
        return Source::stored(data);
    }
    let packed = data.slice(4.min(data.len())..);
    match packed.get(2..).filter(|deflated| deflated.ends_with(UNENDED)) {
        Some(deflated) => Source { packed: [deflated, END].concat().into(), codec: Codec::Deflate },
        None => Source { packed, codec: Codec::Zlib },
    }
}
