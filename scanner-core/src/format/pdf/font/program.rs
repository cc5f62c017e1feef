//! What an embedded font program knows of its own glyphs: its table of characters read backwards, or their names
//! (OpenType `cmap` and `post`; the head of a Type 1 program, Adobe Type 1 Font Format §2.2).
//!
//! A page may show glyphs by their numbers alone and give no map to Unicode. A reader who copies the text then asks the
//! font, and so does this.

use std::collections::BTreeMap;

use super::encoding;
use crate::format::pdf::lex::{Lexer, Token};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

/// Tables of one font. The largest honest ones have forty.
const MOST_TABLES: u16 = 64;
/// Maps of one font.
const MOST_MAPS: u16 = 32;
/// Segments and groups of a map may overlap: characters looked at in one font, all together. There are 65,535 glyphs at
/// most, and the fonts with the most characters to a glyph have two.
const MOST_CHARACTERS: u64 = 1 << 18;
/// The names that a font has when it does not write them down (`post`, version 2): the glyphs of the Macintosh.
const MACINTOSH: u16 = 258;
/// Bytes of a Type 1 program in which its encoding stands; what follows is enciphered.
const CLEAR_HEAD: usize = 16 * 1024;

/// Characters by glyph number.
pub(super) type Glyphs = BTreeMap<u16, char>;

/// The characters of the glyphs of a TrueType or OpenType program.
pub(super) fn glyphs(program: &[u8], budget: &mut Budget) -> Result<Glyphs, Stop> {
    let mut glyphs = Glyphs::new();
    let tables = tables(program).unwrap_or_default();
    let table = |name: &[u8; 4]| tables.iter().find(|(known, _)| known == name).map(|(_, table)| *table);
    let mut left = MOST_CHARACTERS;
    if let Some(map) = table(b"cmap") {
        for map in unicode_maps(map).unwrap_or_default() {
            read_map(map, &mut glyphs, &mut left, budget)?;
        }
    }
    if let Some(post) = table(b"post") {
        read_names(post, &mut glyphs, budget)?;
    }
    Ok(glyphs)
}

/// A table of a font, with its name.
type Table<'a> = ([u8; 4], &'a [u8]);

/// The tables of a font by name, those that lie within it.
fn tables(program: &[u8]) -> Result<Vec<Table<'_>>, Short> {
    let mut reader = Reader::new(program);
    reader.seek(4)?;
    let number = reader.u16_be()?.min(MOST_TABLES);
    reader.seek(12)?;
    let mut tables = Vec::new();
    for _ in 0..number {
        let name = reader.array::<4>()?;
        reader.u32_be()?;
        let (offset, length) = (reader.u32_be()?, reader.u32_be()?);
        let mut table = Reader::new(program);
        if table.seek(offset.into()).is_ok() {
            // Subsets are cut carelessly: a table may end with the program.
            let length = u64::from(length).min(count(table.left()));
            tables.push((name, table.take(length)?));
        }
    }
    Ok(tables)
}

/// The maps of `cmap` whose characters are Unicode: platform 0, and 3 with the encodings 1 and 10.
fn unicode_maps(map: &[u8]) -> Result<Vec<&[u8]>, Short> {
    let mut reader = Reader::new(map);
    reader.seek(2)?;
    let number = reader.u16_be()?.min(MOST_MAPS);
    let mut maps: Vec<&[u8]> = Vec::new();
    for _ in 0..number {
        let (platform, kind, offset) = (reader.u16_be()?, reader.u16_be()?, reader.u32_be()?);
        let found = usize::try_from(offset).ok().and_then(|offset| map.get(offset..)).filter(|_| {
            // Encoding 5 of platform 0 tells variants of characters.
            (platform == 0 && kind != 5) || (platform == 3 && matches!(kind, 1 | 10))
        });
        // Two records often name one map.
        maps.extend(found.filter(|found| maps.iter().all(|known| known.len() != found.len())));
    }
    Ok(maps)
}

/// Notes the first character of each glyph.
fn read_map(map: &[u8], glyphs: &mut Glyphs, left: &mut u64, budget: &mut Budget) -> Result<(), Stop> {
    // A segment takes eight bytes, a group twelve.
    budget.spend(Resource::Steps, count(map.len() / 2))?;
    let runs = match map {
        [0, 4, ..] => segments(map).unwrap_or_default(),
        [0, 6, ..] => trimmed(map).unwrap_or_default(),
        [0, 12, ..] => groups(map).unwrap_or_default(),
        _ => return Ok(()),
    };
    for run in runs {
        let characters = u64::from(run.last.saturating_sub(run.first)).saturating_add(1);
        if characters > *left {
            return Ok(());
        }
        *left = left.saturating_sub(characters);
        budget.spend(Resource::Steps, characters.saturating_mul(4))?;
        for character in run.first..=run.last {
            if let (Some(glyph), Some(character)) = (run.glyph(character), char::from_u32(character)) {
                glyphs.entry(glyph).or_insert(character);
            }
        }
    }
    Ok(())
}

/// Characters that follow each other.
struct CharacterRun<'a> {
    first: u32,
    last: u32,
    /// Added to the character, or to what the list has for it.
    delta: u32,
    list: Option<&'a [u8]>,
}

impl CharacterRun<'_> {
    /// The glyph of a character; glyph 0 stands for none.
    fn glyph(&self, character: u32) -> Option<u16> {
        let number = match self.list {
            None => character.wrapping_add(self.delta),
            Some(list) => {
                let at = usize::try_from(character.checked_sub(self.first)?).ok()?;
                let pair = list.as_chunks::<2>().0.get(at)?;
                match u16::from_be_bytes(*pair) {
                    0 => 0,
                    listed => u32::from(listed).wrapping_add(self.delta),
                }
            }
        };
        // Sums are taken modulo 65536.
        u16::try_from(number & 0xffff).ok().filter(|glyph| *glyph != 0)
    }
}

/// Format 4: segments of the first plane.
fn segments(map: &[u8]) -> Result<Vec<CharacterRun<'_>>, Short> {
    let mut reader = Reader::new(map);
    reader.seek(6)?;
    let doubled = u64::from(reader.u16_be()?) & !1;
    let part = |at: u64| -> Result<&[u8], Short> {
        let mut reader = Reader::new(map);
        reader.seek(at)?;
        reader.take(doubled)
    };
    // Ends, two spare bytes, starts, deltas, offsets.
    let ends = part(14)?;
    let starts = part(doubled.saturating_add(16))?;
    let deltas = part(doubled.saturating_mul(2).saturating_add(16))?;
    let offsets_at = doubled.saturating_mul(3).saturating_add(16);
    let offsets = part(offsets_at)?;
    let pairs = |part: &'_ [u8]| part.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    let (ends, starts, deltas, offsets): (Vec<u16>, Vec<u16>, Vec<u16>, Vec<u16>) =
        (pairs(ends), pairs(starts), pairs(deltas), pairs(offsets));
    let mut runs = Vec::new();
    for ((((end, start), delta), offset), index) in ends.iter().zip(&starts).zip(&deltas).zip(&offsets).zip(0_u64..) {
        // An offset counts from the place where it stands itself.
        let list = match offset {
            0 => None,
            offset => {
                let at = offsets_at.saturating_add(index.saturating_mul(2)).saturating_add((*offset).into());
                Some(usize::try_from(at).ok().and_then(|at| map.get(at..)).unwrap_or_default())
            }
        };
        if start <= end && *start != u16::MAX {
            runs.push(CharacterRun { first: (*start).into(), last: (*end).into(), delta: (*delta).into(), list });
        }
    }
    Ok(runs)
}

/// Format 6: one run with a list.
fn trimmed(map: &[u8]) -> Result<Vec<CharacterRun<'_>>, Short> {
    let mut reader = Reader::new(map);
    reader.seek(6)?;
    let (first, number) = (u32::from(reader.u16_be()?), u32::from(reader.u16_be()?));
    let list = Some(reader.rest());
    let last = number.checked_sub(1).map(|more| first.saturating_add(more));
    Ok(last.map(|last| CharacterRun { first, last, delta: 0, list }).into_iter().collect())
}

/// Format 12: groups of all planes.
fn groups(map: &[u8]) -> Result<Vec<CharacterRun<'_>>, Short> {
    let mut reader = Reader::new(map);
    reader.seek(16)?;
    let mut runs = Vec::new();
    for group in reader.rest().as_chunks::<12>().0 {
        let mut group = Reader::new(group);
        let (first, last, glyph) = (group.u32_be()?, group.u32_be()?, group.u32_be()?);
        if first <= last && last <= 0x10_ffff {
            runs.push(CharacterRun { first, last, delta: glyph.wrapping_sub(first), list: None });
        }
    }
    Ok(runs)
}

/// `post`, version 2: an index for each glyph, then names, each behind its length.
fn read_names(post: &[u8], glyphs: &mut Glyphs, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(post);
    if !post.starts_with(&[0, 2, 0, 0]) || reader.seek(32).is_err() {
        return Ok(());
    }
    let Ok(number) = reader.u16_be() else { return Ok(()) };
    budget.spend(Resource::Steps, count(post.len()).saturating_mul(2))?;
    let Ok(indices) = reader.take(u64::from(number).saturating_mul(2)) else { return Ok(()) };
    let mut names = Vec::new();
    while let Ok(length) = reader.u8() {
        let Ok(name) = reader.take(length.into()) else { break };
        names.push(name);
    }
    let macintosh = encoding::table(b"MacRomanEncoding");
    for (glyph, index) in (0..=u16::MAX).zip(indices.as_chunks::<2>().0) {
        let index = u16::from_be_bytes(*index);
        let character = match index.checked_sub(MACINTOSH) {
            Some(own) => names.get(usize::from(own)).and_then(|name| encoding::character(name)),
            // The order of the list is that of the encoding, after three glyphs without a code, without DEL.
            None => match index {
                3..=97 => macintosh.get(usize::from(index).saturating_add(29)).copied().flatten(),
                98..=225 => macintosh.get(usize::from(index).saturating_add(30)).copied().flatten(),
                _ => None,
            },
        };
        if let Some(character) = character {
            glyphs.entry(glyph).or_insert(character);
        }
    }
    Ok(())
}

/// The encoding that a Type 1 program brings along: `dup 65 /A put`, again and again. Nothing where it names the
/// standard one or has none.
pub(super) fn built_in_encoding(program: &[u8], budget: &mut Budget) -> Result<Option<Box<[Option<char>; 256]>>, Stop> {
    let head = program.get(..CLEAR_HEAD).unwrap_or(program);
    budget.spend(Resource::Steps, count(head.len()))?;
    let mut lexer = Lexer::new(head, 0);
    let mut table = Box::new([None; 256]);
    let mut has_any = false;
    loop {
        match lexer.next() {
            Token::End | Token::Endless | Token::Word(b"eexec") => break,
            Token::Word(b"dup") => {
                let mut ahead = lexer.clone();
                let (Token::Int(code), Token::Name(glyph), Token::Word(b"put")) =
                    (ahead.next(), ahead.next(), ahead.next())
                else {
                    continue;
                };
                lexer = ahead;
                if let Some(slot) = usize::try_from(code).ok().and_then(|code| table.get_mut(code)) {
                    *slot = encoding::character(&glyph.text);
                    has_any = true;
                }
            }
            _ => {}
        }
    }
    Ok(has_any.then_some(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn budget() -> Budget {
        Budget::new(Limits::default())
    }

    /// A font of these tables.
    pub(super) fn font(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
        let mut out = vec![0, 1, 0, 0, 0, tables.len() as u8, 0, 0, 0, 0, 0, 0];
        let mut at = 12 + 16 * tables.len();
        for (name, table) in tables {
            out.extend_from_slice(*name);
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&(at as u32).to_be_bytes());
            out.extend_from_slice(&(table.len() as u32).to_be_bytes());
            at += table.len();
        }
        tables.iter().for_each(|(_, table)| out.extend_from_slice(table));
        out
    }

    fn words(values: &[u16]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_be_bytes()).collect()
    }

    /// A table of one map.
    fn cmap(platform: u16, kind: u16, map: &[u8]) -> Vec<u8> {
        [words(&[0, 1, platform, kind, 0, 12]), map.to_vec()].concat()
    }

    fn read(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<(u16, char)> {
        glyphs(&font(tables), &mut budget()).unwrap().into_iter().collect()
    }

    #[test]
    fn maps_of_each_format_are_read_backwards() {
        // Two segments: one by a delta (a-c are glyphs 5-7), one by a list (x, y are glyphs 9 and 0), and the last.
        let four = words(&[
            4,
            0,
            0,
            6,
            0,
            0,
            0,
            0x63,
            0x79,
            0xffff,
            0,
            0x61,
            0x78,
            0xffff,
            5_u16.wrapping_sub(0x61),
            0,
            1,
            0,
            4,
            0,
            9,
            0,
        ]);
        let expected = [(5, 'a'), (6, 'b'), (7, 'c'), (9, 'x')];
        assert_eq!(read(&[(b"cmap", cmap(3, 1, &four))]), expected);
        let six = words(&[6, 0, 0, 0x61, 3, 3, 0, 4]);
        assert_eq!(read(&[(b"cmap", cmap(0, 3, &six))]), [(3, 'a'), (4, 'c')]);
        let twelve = words(&[12, 0, 0, 0, 0, 0, 0, 1, 1, 0xf600, 1, 0xf601, 0, 8]);
        assert_eq!(read(&[(b"cmap", cmap(3, 10, &twelve))]), [(8, '\u{1f600}'), (9, '\u{1f601}')]);
        // Symbols and scripts of one system are no Unicode.
        assert_eq!(read(&[(b"cmap", cmap(3, 0, &six))]), []);
        assert_eq!(read(&[(b"cmap", cmap(1, 0, &six))]), []);
    }

    #[test]
    fn names_of_glyphs_are_read() {
        let mut post = vec![0, 2, 0, 0];
        post.resize(32, 0);
        post.extend_from_slice(&words(&[5, 0, 36, 258, 259, 98]));
        post.extend_from_slice(b"\x06eacute\x07uni0411");
        assert_eq!(read(&[(b"post", post)]), [(1, 'A'), (2, 'é'), (3, 'Б'), (4, 'Ä')]);
    }

    #[test]
    fn maps_that_overlap_without_end_are_left() {
        let group = words(&[0, 0, 0x10, 0xffff, 0, 1]);
        let twelve = [words(&[12, 0, 0, 0, 0, 0, 0, 0]), group.repeat(1000)].concat();
        let mut budget = budget();
        let table = font(&[(b"cmap", cmap(3, 10, &twelve))]);
        assert_eq!(glyphs(&table, &mut budget).unwrap().len(), 0, "one group alone is more than there are glyphs");
        let group = words(&[0, 0, 0, 0xffff, 0, 1]);
        let twelve = [words(&[12, 0, 0, 0, 0, 0, 0, 0]), group.repeat(1000)].concat();
        let table = font(&[(b"cmap", cmap(3, 10, &twelve))]);
        glyphs(&table, &mut budget).unwrap();
        assert!(budget.spent().get(Resource::Steps) <= MOST_CHARACTERS * 4 + count(table.len()));
    }

    #[test]
    fn encodings_of_type_1_are_read() {
        let program = b"%!PS-AdobeFont-1.0: X\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
                        dup 1 /A put\ndup 2 /nosuch put\nreadonly def\ncurrentfile eexec dup 3 /B put";
        let table = built_in_encoding(program, &mut budget()).unwrap().unwrap();
        assert_eq!(table[..4], [None, Some('A'), None, None]);
        assert!(built_in_encoding(b"/Encoding StandardEncoding def eexec", &mut budget()).unwrap().is_none());
    }

    #[test]
    fn a_cut_or_a_lie_anywhere_is_survived() {
        let four = words(&[4, 0, 0, 4, 0, 0, 0, 0x63, 0xffff, 0, 0x61, 0xffff, 4, 1, 2, 0]);
        let whole = font(&[(b"cmap", cmap(3, 1, &four)), (b"post", vec![0, 2, 0, 0])]);
        for at in 0..whole.len() {
            glyphs(&whole[..at], &mut budget()).unwrap();
            for lie in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = lie;
                glyphs(&bytes, &mut budget()).unwrap();
            }
        }
    }
}
