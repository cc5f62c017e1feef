//! What groups are for, and the texts that come out of them.

use super::State;
use crate::{
    finding::{Place, Span, Stop},
    format::{Out, charset, office},
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

/// What a group is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Text of the document, of headers, notes, comments.
    Text,
    /// Title, author and the like.
    Info,
    /// The code of a field.
    Field,
    /// Where the template is.
    Template,
    /// The class of an object.
    Class,
    /// Name or value of a property of a shape.
    Property,
    /// The digits of an object.
    Object,
    Fonts,
    Colours,
    /// Pictures, styles, settings: numbers and names that are not text.
    Data,
    /// Nothing that a reader knows: it is skipped, and shown by nobody.
    Unknown,
}

impl Destination {
    /// Whether it is short and wanted as a whole.
    pub(super) fn is_note(self) -> bool {
        matches!(self, Self::Field | Self::Template | Self::Class | Self::Property)
    }
}

/// Whether what a word begins is no part of the sentence around it.
pub(super) fn stands_apart(word: &[u8]) -> bool {
    word.starts_with(b"header")
        || word.starts_with(b"footer")
        || matches!(word, b"footnote" | b"annotation" | b"atnid" | b"atnauthor" | b"shptxt" | b"dptxbxtext")
}

/// What the group is for that begins with a word; `None` for words that are no destination.
pub(super) fn destination(word: &[u8]) -> Option<Destination> {
    Some(match word {
        b"fldinst" => Destination::Field,
        b"fldrslt" | b"shptxt" | b"footnote" | b"annotation" | b"header" | b"headerl" | b"headerr" | b"headerf"
        | b"footer" | b"footerl" | b"footerr" | b"footerf" | b"result" | b"listtext" | b"pntext" | b"pntxta"
        | b"pntxtb" | b"upr" | b"ud" | b"nonshppict" | b"shpinst" | b"shpgrp" | b"do" | b"dptxbxtext" | b"atnid"
        | b"atnauthor" | b"sp" | b"xe" | b"tc" => Destination::Text,
        b"info" | b"title" | b"subject" | b"author" | b"manager" | b"company" | b"operator" | b"category"
        | b"keywords" | b"comment" | b"doccomm" | b"hlinkbase" | b"userprops" | b"propname" | b"staticval"
        | b"docvar" | b"htmltag" | b"mhtmltag" | b"bkmkstart" | b"bkmkend" => Destination::Info,
        b"template" => Destination::Template,
        b"objclass" | b"objname" => Destination::Class,
        b"sn" | b"sv" => Destination::Property,
        b"objdata" => Destination::Object,
        b"fonttbl" => Destination::Fonts,
        b"colortbl" => Destination::Colours,
        b"stylesheet"
        | b"pict"
        | b"themedata"
        | b"colorschememapping"
        | b"datastore"
        | b"latentstyles"
        | b"listtable"
        | b"listoverridetable"
        | b"revtbl"
        | b"rsidtbl"
        | b"generator"
        | b"xmlnstbl"
        | b"filetbl"
        | b"pgptbl"
        | b"panose"
        | b"falt"
        | b"fontemb"
        | b"blipuid"
        | b"picprop"
        | b"wgrffmtfilter"
        | b"mmathPr"
        | b"objalias"
        | b"objsect"
        | b"passwordhash"
        | b"protusertbl"
        | b"ftnsep"
        | b"ftnsepc"
        | b"aftnsep"
        | b"aftnsepc"
        | b"defchp"
        | b"defpap"
        | b"expandedcolortbl"
        | b"cxnum"
        | b"pnseclvl"
        | b"atndate"
        | b"atnref"
        | b"atrfstart"
        | b"atrfend"
        | b"fldtype"
        | b"formfield"
        | b"ffname"
        | b"datafield"
        | b"writereservation"
        | b"creatim"
        | b"revtim"
        | b"printim"
        | b"buptim" => Destination::Data,
        _ => return None,
    })
}

/// The code page of a font's letters (RTF 1.9.1, `\fcharset`).
pub(super) fn page_of_charset(charset: i64) -> Option<u16> {
    Some(match charset {
        0 => 1252,
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// More runs than that are not kept for one text: its place is the document then.
const MOST_RUNS: usize = 50_000;
/// Bytes that wait for their code page at most.
const BLOCK: usize = 4_096;

/// A text, and where its runs come from.
#[derive(Debug, Default)]
struct Text {
    text: String,
    runs: Vec<(u64, u64)>,
}

impl Text {
    fn mark(&mut self, at: usize) {
        let (here, at) = (count(self.text.len()), count(at));
        let goes_on = self
            .runs
            .last()
            .is_some_and(|(text, from)| here.checked_sub(*text).and_then(|more| from.checked_add(more)) == Some(at));
        if !goes_on && self.runs.len() <= MOST_RUNS {
            self.runs.push((here, at));
        }
    }

    fn view(mut self, length: usize) -> Option<TextView> {
        if self.text.trim().is_empty() {
            return None;
        }
        let map = if self.runs.len() > MOST_RUNS || self.runs.is_empty() {
            OffsetMap::Within(Span { start: 0, end: count(length) })
        } else {
            self.runs.push((count(self.text.len()), count(length)));
            OffsetMap::Runs(self.runs)
        };
        Some(TextView::decoded(self.text.into(), map, vec!["rtf"]))
    }
}

/// The texts of a document.
#[derive(Debug, Default)]
pub(super) struct Texts {
    seen: Text,
    unseen: Text,
    info: Text,
    /// Codes of fields, names and values.
    pub(super) notes: String,
    /// Bytes that wait for the code page to be known that they are in: two may be one letter.
    raw: Vec<u8>,
    raw_at: usize,
}

impl Texts {
    fn of(&mut self, destination: Destination, is_seen: bool) -> &mut Text {
        match destination {
            Destination::Info => &mut self.info,
            Destination::Unknown => &mut self.unseen,
            _ if is_seen => &mut self.seen,
            _ => &mut self.unseen,
        }
    }

    /// What follows is no part of the words before.
    pub(super) fn part(&mut self, state: &State) {
        let text = self.of(state.destination, state.is_seen());
        if !matches!(text.text.as_bytes().last(), None | Some(b'\n')) {
            text.text.push('\n');
        }
    }

    /// Bytes as they stand at an offset.
    pub(super) fn write(&mut self, bytes: &[u8], state: &State, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        if self.raw.is_empty() && bytes.is_ascii() {
            budget.spend(Resource::DecodedBytes, count(bytes.len()))?;
            let text = self.of(state.destination, state.is_seen());
            text.mark(at);
            // Borrowed as it is: these bytes are ASCII.
            text.text.push_str(&String::from_utf8_lossy(bytes));
            return Ok(());
        }
        if self.raw.is_empty() {
            self.raw_at = at;
        }
        self.raw.extend_from_slice(bytes);
        if self.raw.len() >= BLOCK { self.flush(state, budget) } else { Ok(()) }
    }

    /// Decodes what waits.
    pub(super) fn flush(&mut self, state: &State, budget: &mut Budget) -> Result<(), Stop> {
        if self.raw.is_empty() {
            return Ok(());
        }
        budget.spend(Resource::Steps, 10)?;
        let decoded = charset::decode(&self.raw, state.page, budget)?;
        self.raw.clear();
        let at = self.raw_at;
        let text = self.of(state.destination, state.is_seen());
        text.mark(at);
        text.text.push_str(&decoded);
        Ok(())
    }

    /// One character.
    pub(super) fn push(&mut self, character: char, destination: Destination, is_seen: bool, at: usize) {
        if matches!(destination, Destination::Fonts | Destination::Colours | Destination::Data | Destination::Object) {
            return;
        }
        let text = self.of(destination, is_seen);
        text.mark(at);
        text.text.push(character);
    }

    /// Hands all texts on.
    pub(super) fn read(self, length: usize, out: &mut Out<'_>) {
        let notes = Text { text: self.notes, runs: Vec::new() };
        for (text, part) in [(self.seen, None), (self.info, Some("properties")), (notes, Some("fields"))] {
            if let Some(view) = text.view(length) {
                out.read(match part {
                    Some(part) => view.place(Place::default().name("part", part)),
                    None => view,
                });
            }
        }
        if let Some(view) = self.unseen.view(length) {
            out.read(view.hidden(&office::rules::HIDDEN_STYLE));
        }
    }
}
