//! Parts of binary workbooks: records of BIFF12 (MS-XLSB). Texts, names, states of sheets and links; the formulas of
//! cells stay packed.

use bytes::Bytes;

use crate::{
    finding::{Severity, Stop},
    format::{
        Out,
        office::{self, Page, Sight, rules},
        strings,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::Marks,
};

use super::{
    Document, Part,
    sheet::{self, Listed, State},
};

/// MS-XLSB 2.3.2.
const ROW: u16 = 0;
const CELL_TEXT: u16 = 6;
const CELL_SHARED: u16 = 7;
const FORMULA_TEXT: u16 = 8;
const SHARED_ITEM: u16 = 19;
const NAME: u16 = 39;
const SHEET: u16 = 156;
const BEGIN_SHEET: u16 = 129;
const BEGIN_BOOK: u16 = 131;
const BEGIN_SHARED: u16 = 159;
const BEGIN_STYLES: u16 = 278;
const SUPPORTING: u16 = 360;
const COMMENT_TEXT: u16 = 637;
/// Steps of one record beside its bytes.
const STEPS_PER_RECORD: u64 = 4;
const BYTES_PER_STEP: u64 = 8;

/// Whether a part is made of records: by its type, or its name and its first record.
pub(super) fn is_record_part(bytes: &[u8], name: &str, kind: &str) -> bool {
    const KINDS: [&str; 8] = [
        "vnd.ms-excel.sheet.binary.macroenabled.main",
        "vnd.ms-excel.worksheet",
        "vnd.ms-excel.macrosheet",
        "vnd.ms-excel.sharedstrings",
        "vnd.ms-excel.styles",
        "vnd.ms-excel.comments",
        "vnd.ms-excel.externallink",
        "vnd.ms-excel.connections",
    ];
    const BEGINNINGS: [u16; 4] = [BEGIN_SHEET, BEGIN_BOOK, BEGIN_SHARED, BEGIN_STYLES];
    let is_named = name.starts_with("xl/") && name.ends_with(".bin");
    let first = Reader::new(bytes);
    kind.starts_with("application/") && KINDS.iter().any(|known| kind.ends_with(known))
        || is_named
            && Records(first).next().is_ok_and(|record| record.is_some_and(|(kind, _)| BEGINNINGS.contains(&kind)))
}

/// Records one after the other: a kind of one or two bytes, a size of one to four (MS-XLSB 2.1.4).
struct Records<'a>(Reader<'a>);

impl<'a> Records<'a> {
    fn next(&mut self) -> Result<Option<(u16, &'a [u8])>, Stop> {
        if self.0.is_at_end() {
            return Ok(None);
        }
        let first = self.0.u8()?;
        let mut kind = u16::from(first & 0x7f);
        if first & 0x80 != 0 {
            kind |= u16::from(self.0.u8()? & 0x7f) << 7;
        }
        let mut size = 0_u64;
        for shift in [0, 7, 14, 21] {
            let byte = self.0.u8()?;
            size |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(Some((kind, self.0.take(size)?)))
    }
}

/// A text: its length in characters, then UTF-16 (MS-XLSB 2.5.168).
fn wide(reader: &mut Reader<'_>) -> Option<String> {
    let length = reader.u32_le().ok()?;
    if length == u32::MAX {
        return Some(String::new());
    }
    let bytes = reader.take(u64::from(length).saturating_mul(2)).ok()?;
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
    Some(char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

impl Document<'_> {
    /// A part made of records.
    pub(super) fn records(
        &mut self,
        part: &Part<'_>,
        bytes: &Bytes,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let number = self.sheets.get(&part.name).copied();
        let listed = number.and_then(|number| self.workbook.sheets.get(number)).cloned();
        let spot = self.spot_of(part);
        let mut page = Page::new(spot.clone(), &mut self.tell, out);
        let is_macro = part.kind.contains("macrosheet") || part.relation.contains("macrosheet");
        if is_macro {
            page.say(&rules::XL4, "a sheet of Excel 4 macros");
        }
        let state = listed.map_or(State::Visible, |listed| listed.state);
        sheet::hidden(state, is_macro, &mut page);
        let whole = if state == State::Visible { Sight::Seen } else { Sight::Style };
        let (mut row, mut sight) = (0_u64, whole);
        let mut records = Records(Reader::new(bytes));
        let mut is_shared = false;
        let broken = loop {
            budget.spend(Resource::Steps, STEPS_PER_RECORD)?;
            let (kind, data) = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break None,
                Err(stop) => break Some(stop),
            };
            budget.spend(Resource::Steps, count(data.len()).div_ceil(BYTES_PER_STEP))?;
            let mut reader = Reader::new(data);
            match kind {
                BEGIN_SHARED => is_shared = true,
                SHARED_ITEM if is_shared => {
                    let text = reader.u8().ok().and_then(|_| wide(&mut reader)).unwrap_or_default();
                    self.shared.push(text.as_bytes());
                    self.shared_spot.get_or_insert_with(|| spot.clone());
                }
                ROW => {
                    page.texts.break_all(b'\n');
                    row = u64::from(reader.u32_le().unwrap_or(0));
                    // Row, format, height, then flags: hidden is the fourth of the second byte (MS-XLSB 2.4.733).
                    let is_hidden = data.get(11).is_some_and(|flags| flags & 0x10 != 0);
                    sight = if is_hidden { Sight::Style } else { whole };
                }
                CELL_TEXT | FORMULA_TEXT | CELL_SHARED => {
                    let column = u64::from(reader.u32_le().unwrap_or(0));
                    page.texts.mark(Marks::cell(row, column));
                    let _format = reader.u32_le();
                    if kind == CELL_SHARED {
                        let index = reader.u32_le().ok().and_then(|index| usize::try_from(index).ok());
                        if let Some(text) = index.and_then(|index| self.shared.take(index, sight == Sight::Seen)) {
                            page.texts.push(sight, text);
                        }
                    } else if let Some(text) = wide(&mut reader) {
                        page.texts.push(sight, text.as_bytes());
                    }
                    page.texts.break_off(sight, b'\t');
                }
                SHEET => {
                    let state = match reader.u32_le() {
                        Ok(1) => State::Hidden,
                        Ok(2) => State::VeryHidden,
                        _ => State::Visible,
                    };
                    let _id = reader.u32_le();
                    let id = wide(&mut reader).unwrap_or_default();
                    let name = wide(&mut reader).unwrap_or_default();
                    self.workbook.sheets.push(Listed { name, state, id: id.into_bytes() });
                }
                NAME => {
                    // Flags, shortcut, sheet, name (MS-XLSB 2.4.711).
                    let name = reader.take(9).ok().and_then(|_| wide(&mut reader)).unwrap_or_default();
                    self.workbook.has_start |= sheet::is_start(&name);
                    page.formula(format!("{name}(").as_bytes());
                    page.texts.part(Sight::Unseen, name.as_bytes());
                }
                SUPPORTING => {
                    // What kind of link, then its texts (MS-XLSB 2.4.814).
                    let link = reader.u16_le().unwrap_or(0);
                    match link {
                        1 => page.say(&rules::DDE, "the workbook is linked to another program"),
                        2 => page.say_as(&rules::LINKED_OBJECT, Severity::Low, "the workbook is linked to an object"),
                        _ => {}
                    }
                    page.texts.part(Sight::Unseen, strings::runs(data).as_bytes());
                }
                COMMENT_TEXT => {
                    let text = reader.u8().ok().and_then(|_| wide(&mut reader)).unwrap_or_default();
                    page.texts.part(Sight::Unseen, text.as_bytes());
                }
                // What is not understood may hold texts all the same.
                _ if data.len() > 16 && kind > 16 => {
                    page.texts.part(Sight::Unseen, strings::runs(data).as_bytes());
                }
                _ => {}
            }
        };
        let texts = page.texts;
        self.waiting.read(texts, "cell", &spot, out, budget);
        office::carry_on(broken.map_or(Ok(()), Err), &spot, out)
    }
}
