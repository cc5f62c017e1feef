//! Word documents (MS-DOC): the header says what they are, a table of pieces where the text stands.

use crate::{
    finding::{Finding, Gap, Place, Reason, Stop},
    format::{Out, cfb::Stream, charset, fields, office, strings},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
    view::TextView,
};

mod style;

/// The mark of Word 97 and later; Word 6 and 95 have others (MS-DOC 2.5.2).
const WORD_97: u16 = 0xa5ec;
const WORD_OLD: [u16; 3] = [0xa5dc, 0xa59b, 0xa697];
const IS_ENCRYPTED: u16 = 0x100;
const TABLE_ONE: u16 = 0x200;

/// Where the header says where things stand: pairs of offset and length (MS-DOC 2.5.5).
const PAIRS: u64 = 0x9a;
const CHARACTER_STYLES: u64 = 12;
const ASSOCIATED: u64 = 32;
const PIECES: u64 = 33;

/// Steps of one piece.
const STEPS_PER_PIECE: u64 = 10;
/// Steps of one field.
const STEPS_PER_FIELD: u64 = 20;
/// The character that begins one.
const FIELD: u8 = 0x13;
/// Fields in each other that are followed.
const DEEPEST_FIELD: usize = 32;
/// Letters of a field's code that are kept.
const LONGEST_CODE: usize = 4096;

/// The streams of one document.
pub(super) struct Document<'a> {
    pub(super) main: &'a Stream,
    /// `0Table` and `1Table`.
    pub(super) tables: [Option<&'a Stream>; 2],
}

/// A run of text as it stands in the main stream.
struct Piece {
    /// First character of it in the text.
    start: u32,
    end: u32,
    /// Offset in the stream.
    at: u64,
    is_wide: bool,
}

/// Reads the header, the text and its fields.
pub(super) fn read(document: &Document<'_>, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let main = document.main;
    let short = |short: Short| Stop::malformed("the header of the document is cut", stands(main, short.at));
    let mut reader = Reader::new(&main.bytes);
    let mark = reader.u16_le().map_err(short)?;
    if mark != WORD_97 && !WORD_OLD.contains(&mark) {
        loose(main, place, out, budget)?;
        return Err(Stop::malformed("the main stream does not begin like a document of Word", stands(main, 0)));
    }
    reader.seek(10).map_err(short)?;
    let flags = reader.u16_le().map_err(short)?;
    if flags & IS_ENCRYPTED != 0 {
        out.gap(Gap::new(Reason::Encrypted, "the document needs a password").at_offset(stands(main, 10)));
        return Ok(());
    }
    if mark != WORD_97 {
        return old(main, place, out, budget);
    }
    let table = document.tables.get(usize::from(flags & TABLE_ONE != 0)).copied().flatten();
    let Some(table) = table else {
        loose(main, place, out, budget)?;
        return Err(Stop::malformed("the tables of the document are missing", stands(main, 10)));
    };
    associated(main, table, place, out, budget)?;
    let pieces = match pieces(main, table, budget) {
        Ok(pieces) => pieces,
        Err(stop) => {
            loose(main, place, out, budget)?;
            return Err(stop);
        }
    };
    let unseen = style::unseen(main, table, budget).unwrap_or_default();
    text(main, &pieces, &unseen, place, out, budget)
}

fn stands(stream: &Stream, at: u64) -> u64 {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    stream.span(at..at.saturating_add(1)).start
}

/// A pair of the header: what it points at in the table stream.
fn pair<'a>(main: &Stream, table: &'a Stream, nth: u64) -> Result<&'a [u8], Short> {
    let mut reader = Reader::new(&main.bytes);
    reader.seek(PAIRS.saturating_add(nth.saturating_mul(8)))?;
    let (offset, length) = (reader.u32_le()?, reader.u32_le()?);
    let mut reader = Reader::new(&table.bytes);
    reader.seek(offset.into())?;
    reader.take(length.into())
}

/// The table of pieces, behind changes that are not followed (MS-DOC 2.9.38). Honest pieces do not share bytes: no more
/// text is taken than the stream has.
fn pieces(main: &Stream, table: &Stream, budget: &mut Budget) -> Result<Vec<Piece>, Stop> {
    let bad = |_| Stop::malformed("the table of pieces cannot be read", stands(main, PAIRS.saturating_add(PIECES * 8)));
    let mut reader = Reader::new(pair(main, table, PIECES).map_err(bad)?);
    while reader.rest().first() == Some(&1) {
        budget.spend(Resource::Steps, STEPS_PER_PIECE)?;
        reader.u8().map_err(bad)?;
        let length = reader.u16_le().map_err(bad)?;
        reader.take(length.into()).map_err(bad)?;
    }
    if reader.u8() != Ok(2) {
        return Err(bad(Short { at: 0, wanted: 0 }));
    }
    let length = reader.u32_le().map_err(bad)?;
    let plain = reader.take(length.into()).map_err(bad)?;
    let amount = plain.len().saturating_sub(4) / 12;
    let (starts, descriptions) = plain.split_at_checked(amount.saturating_add(1).saturating_mul(4)).unwrap_or_default();
    let starts: Vec<u32> = starts.as_chunks::<4>().0.iter().map(|start| u32::from_le_bytes(*start)).collect();
    let mut pieces = Vec::new();
    let mut left = count(main.bytes.len());
    for (range, description) in starts.windows(2).zip(descriptions.as_chunks::<8>().0) {
        budget.spend(Resource::Steps, STEPS_PER_PIECE)?;
        let ([start, end], [_, _, fc @ .., _, _]) = (range, description) else { continue };
        let fc = u32::from_le_bytes(*fc);
        let is_wide = fc & 0x4000_0000 == 0;
        let fc = u64::from(fc & 0x3fff_ffff);
        let at = if is_wide { fc } else { fc / 2 };
        let length = u64::from(end.saturating_sub(*start)).saturating_mul(if is_wide { 2 } else { 1 });
        let Some(rest) = left.checked_sub(length) else {
            return Err(Stop::malformed("the pieces are longer than the document", stands(main, 0)));
        };
        left = rest;
        pieces.push(Piece { start: *start, end: *end, at, is_wide });
    }
    Ok(pieces)
}

/// The text, its hidden parts apart, and what its fields do.
fn text(
    main: &Stream,
    pieces: &[Piece],
    unseen: &style::Unseen,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let mut reading = Reading::default();
    let mut result = Ok(());
    for piece in pieces {
        let length = u64::from(piece.end.saturating_sub(piece.start)).saturating_mul(if piece.is_wide { 2 } else { 1 });
        let mut reader = Reader::new(&main.bytes);
        let bytes = reader.seek(piece.at).and_then(|()| reader.take(length));
        let Ok(bytes) = bytes else {
            result = Err(Stop::malformed("a piece of the text is not in the document", stands(main, 0)));
            break;
        };
        for (from, to, is_hidden) in unseen.split(piece.at, piece.at.saturating_add(length)) {
            let index = |at: u64| usize::try_from(at.saturating_sub(piece.at)).unwrap_or(usize::MAX);
            let part = bytes.get(index(from)..index(to)).unwrap_or_default();
            // A field may be two characters long.
            let fields = memchr::memchr_iter(FIELD, part).count();
            budget.spend(
                Resource::Steps,
                STEPS_PER_FIELD.saturating_mul(count(fields)).saturating_add(STEPS_PER_PIECE),
            )?;
            let part = match piece.is_wide {
                true => charset::utf16(part, budget)?,
                false => charset::decode(part, charset::WESTERN, budget)?,
            };
            reading.push(&part, is_hidden);
        }
    }
    reading.finish(main, place, out);
    result
}

/// The text while it is put together: fields are taken out of it.
#[derive(Default)]
struct Reading {
    shown: String,
    hidden: String,
    /// Codes of fields that are open, outermost first; `None` once the result of the field has begun.
    fields: Vec<Option<String>>,
    /// Fields in fields beyond those that are followed.
    deeper: usize,
    /// Codes of fields, one a line.
    codes: String,
}

impl Reading {
    fn push(&mut self, part: &str, is_hidden: bool) {
        for character in part.chars() {
            match character {
                '\u{13}' if self.fields.len() < DEEPEST_FIELD => self.fields.push(Some(String::new())),
                '\u{13}' => self.deeper = self.deeper.saturating_add(1),
                '\u{14}' if self.deeper == 0 => self.close_code(),
                '\u{15}' if self.deeper > 0 => self.deeper = self.deeper.saturating_sub(1),
                '\u{15}' => {
                    self.close_code();
                    self.fields.pop();
                }
                _ => {
                    // What stands in the code of a field belongs to it, and what a field in it comes to.
                    match self.fields.iter_mut().flatten().next_back() {
                        Some(code) if code.len() < LONGEST_CODE => code.push(character),
                        Some(_) => {}
                        None => self.letter(character, is_hidden),
                    }
                }
            }
        }
    }

    fn letter(&mut self, character: char, is_hidden: bool) {
        let character = match character {
            '\r' | '\u{b}' | '\u{c}' | '\u{7}' => '\n',
            '\u{0}'..='\u{8}' => return,
            other => other,
        };
        if is_hidden { self.hidden.push(character) } else { self.shown.push(character) }
    }

    /// The code of the innermost field is complete. What the field comes to is part of the code around it, its own code
    /// is not.
    fn close_code(&mut self) {
        if let Some(code) = self.fields.last_mut().and_then(Option::take).filter(|code| !code.is_empty()) {
            self.codes.push_str(&code);
            self.codes.push('\n');
        }
    }

    fn finish(mut self, main: &Stream, place: &Place, out: &mut Out<'_>) {
        while !self.fields.is_empty() {
            self.close_code();
            self.fields.pop();
        }
        let mut judge = fields::Judge::default();
        for code in self.codes.lines() {
            judge.field(code, main.whole(), place, out);
        }
        judge.finish(place, out);
        for (text, layer) in [(self.shown, "doc"), (self.codes, "field")] {
            if !text.trim().is_empty() {
                out.read(TextView::decoded(text.into(), main.map(), vec![layer]).place(place.clone()));
            }
        }
        if !self.hidden.trim().is_empty() {
            let view = TextView::decoded(self.hidden.into(), main.map(), vec!["doc"]).place(place.clone());
            out.read(view.hidden(&office::rules::HIDDEN_STYLE));
        }
    }
}

/// Strings of a document that are not in its text: among them the template it is attached to (MS-DOC 2.7.2).
fn associated(
    main: &Stream,
    table: &Stream,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let Ok(bytes) = pair(main, table, ASSOCIATED) else { return Ok(()) };
    let mut reader = Reader::new(bytes);
    let (Ok(0xffff), Ok(amount), Ok(_)) = (reader.u16_le(), reader.u16_le(), reader.u16_le()) else { return Ok(()) };
    let mut texts = Vec::new();
    for nth in 0..amount {
        let Ok(length) = reader.u16_le() else { break };
        let Ok(letters) = reader.take(u64::from(length).saturating_mul(2)) else { break };
        let text = charset::utf16(letters, budget)?;
        if nth == 1 && fields::is_remote(&text) {
            let span = main.whole();
            out.find(Finding::built_in(&office::rules::REMOTE_TEMPLATE).at(span.start, span.end).place(place.clone()));
        }
        if !text.is_empty() {
            texts.push(text);
        }
    }
    if !texts.is_empty() {
        let view = TextView::decoded(texts.join("\n").into(), table.map(), vec!["utf-16"]);
        out.read(view.place(place.clone().name("part", "properties")));
    }
    Ok(())
}

/// Word 6 and 95: the text stands in one piece of single bytes, unless it was saved in a hurry.
fn old(main: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(&main.bytes);
    reader.seek(0x18)?;
    let (start, end) = (reader.u32_le()?, reader.u32_le()?);
    let mut reader = Reader::new(&main.bytes);
    let bytes = reader.seek(start.into()).and_then(|()| reader.take(end.saturating_sub(start).into()));
    let Ok(bytes) = bytes else {
        loose(main, place, out, budget)?;
        return Err(Stop::malformed("the text of the document is not where it should be", stands(main, 0x18)));
    };
    let mut reading = Reading::default();
    reading.push(&charset::decode(bytes, charset::WESTERN, budget)?, false);
    reading.finish(main, place, out);
    Ok(())
}

/// Whatever reads like text, where the tables do not say.
fn loose(main: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    budget.spend(Resource::Steps, count(main.bytes.len()))?;
    let text = strings::runs(&main.bytes);
    if !text.is_empty() {
        out.read(TextView::decoded(text.into(), main.map(), vec!["strings"]).place(place.clone()));
    }
    Ok(())
}
