//! Texts of a workbook: those of cells in a shared table, and all others.

use bytes::Bytes;

use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

/// Texts, one a line.
#[derive(Debug, Default)]
pub(super) struct Words(String);

impl Words {
    pub(super) fn push(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.0.push_str(text);
            self.0.push('\n');
        }
    }

    pub(super) fn into_text(self) -> Bytes {
        self.0.into()
    }
}

/// The shared texts: all of them, and which are used where.
#[derive(Debug, Default)]
pub(super) struct Shared {
    text: String,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// For each: used on a sheet that is shown, used on one that is not.
    uses: Vec<(bool, bool)>,
}

/// Flags of a string: two bytes a letter, phonetics follow, runs of fonts follow (MS-XLS 2.5.293).
const WIDE: u8 = 1;
const PHONETIC: u8 = 4;
const RICH: u8 = 8;

impl Shared {
    /// Reads the table: strings until the bytes end, however many are announced. A string that goes on in the next record
    /// says again there how wide it is.
    pub(super) fn read(&mut self, parts: &[&[u8]], budget: &mut Budget) -> Result<(), Exhausted> {
        let mut parts = Parts { parts: parts.iter(), reader: Reader::new(&[]) };
        parts.next();
        if parts.skip(8).is_none() {
            return Ok(());
        }
        while let Some((units, is_whole)) = parts.string() {
            budget.spend(Resource::Steps, 8_u64.saturating_add(count(units.len())))?;
            let before = self.text.len();
            self.text.extend(
                char::decode_utf16(units.iter().copied()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
            budget.spend(Resource::DecodedBytes, count(self.text.len().saturating_sub(before)))?;
            self.ends.push(self.text.len());
            if !is_whole {
                break;
            }
        }
        self.uses.resize(self.ends.len(), (false, false));
        Ok(())
    }

    /// A cell uses a text.
    pub(super) fn used(&mut self, index: u32, is_hidden: bool) {
        if let Some((shown, hidden)) = usize::try_from(index).ok().and_then(|at| self.uses.get_mut(at)) {
            *shown |= !is_hidden;
            *hidden |= is_hidden;
        }
    }

    /// Texts that are shown somewhere or used nowhere, and those that are only on sheets that are not shown.
    pub(super) fn into_words(mut self) -> (Words, Words) {
        self.uses.resize(self.ends.len(), (false, false));
        let (mut seen, mut unseen) = (Words::default(), Words::default());
        let mut start = 0_usize;
        for (end, (shown, hidden)) in self.ends.iter().zip(self.uses) {
            let text = self.text.get(start..*end).unwrap_or_default();
            start = *end;
            if hidden && !shown { unseen.push(text) } else { seen.push(text) }
        }
        (seen, unseen)
    }
}

/// One record and those that continue it.
struct Parts<'a> {
    parts: std::slice::Iter<'a, &'a [u8]>,
    reader: Reader<'a>,
}

impl<'a> Parts<'a> {
    /// Goes to the next record.
    fn next(&mut self) -> Option<()> {
        self.reader = Reader::new(self.parts.next()?);
        Some(())
    }

    fn skip(&mut self, mut bytes: u64) -> Option<()> {
        while bytes > 0 {
            let here = bytes.min(count(self.reader.left()));
            self.reader.take(here).ok()?;
            bytes = bytes.saturating_sub(here);
            if bytes > 0 {
                self.next()?;
            }
        }
        Some(())
    }

    /// The next string, and whether all of it was there.
    fn string(&mut self) -> Option<(Vec<u16>, bool)> {
        while self.reader.is_at_end() {
            self.next()?;
        }
        let mut left = self.reader.u16_le().ok()?;
        let mut flags = self.reader.u8().ok()?;
        let runs = if flags & RICH == 0 { 0 } else { u64::from(self.reader.u16_le().ok()?).saturating_mul(4) };
        let phonetic = if flags & PHONETIC == 0 { 0 } else { u64::from(self.reader.u32_le().ok()?) };
        let mut units = Vec::new();
        while left > 0 {
            if self.reader.is_at_end() {
                if self.next().is_none() {
                    return Some((units, false));
                }
                flags = self.reader.u8().ok()?;
                continue;
            }
            let unit = if flags & WIDE == 0 { self.reader.u8().map(u16::from) } else { self.reader.u16_le() };
            let Ok(unit) = unit else { return Some((units, false)) };
            units.push(unit);
            left = left.saturating_sub(1);
        }
        let is_whole = self.skip(runs.saturating_add(phonetic)).is_some();
        Some((units, is_whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn read(parts: &[&[u8]]) -> Vec<String> {
        let mut shared = Shared::default();
        shared.read(parts, &mut Budget::new(Limits::default())).unwrap();
        let words = shared.into_words().0.into_text();
        String::from_utf8(words.to_vec()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn strings_go_on_in_the_next_record() {
        let head = [0_u8; 8];
        let one = [&head[..], b"\x03\0\0abc\x05\0\0de"].concat();
        assert_eq!(read(&[&one, b"\x01f\0g\0h\0\x01\0\0z"]), ["abc", "defgh", "z"]);
        let rich = [&head[..], b"\x02\0\x0d\x01\0\x02\0\0\0h\0i\0RRRRPP\x01\0\0x"].concat();
        assert_eq!(read(&[&rich]), ["hi", "x"]);
        assert_eq!(read(&[&[&head[..], b"\x09\0\0cut"].concat()]), ["cut"]);
        assert_eq!(read(&[b"\0\0"]), [""; 0]);
    }
}
