//! Whether the headers of a program say what can be. Loaders are lenient where analysers give up: lies are told there.

use crate::{
    finding::{Confidence, Rule, RuleText, Severity, Stop},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

pub(super) static STRUCTURE: Rule = Rule::built_in(
    "program/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The headers of the program say something that cannot be",
        why: "The system may run it all the same, while programs that analyse it give up: that is what such headers are for.",
        remedy: "Do not deliver it.",
    },
);

/// Sections that the loader of Windows takes (PE format, "COFF File Header").
const MOST_SECTIONS: u16 = 96;
/// Steps of one section.
const STEPS_PER_SECTION: u64 = 4;

/// What is wrong with the headers, and where; `None` where nothing is, or nothing is known of the type.
pub(super) fn broken(label: &str, bytes: &[u8], budget: &mut Budget) -> Result<Option<(&'static str, u64)>, Stop> {
    let found = match label {
        "pe" => pe(bytes),
        "elf" => elf(bytes),
        "macho" => macho(bytes),
        "dex" => dex(bytes),
        "wasm" => return wasm(bytes, budget),
        _ => Ok(None),
    };
    Ok(found.unwrap_or_else(|short| Some(("the file ends in its headers", short.at))))
}

type Broken = Result<Option<(&'static str, u64)>, Short>;

/// A range that must lie in the file.
fn reaches(bytes: &[u8], offset: u64, length: u64) -> bool {
    offset.checked_add(length).is_some_and(|end| end <= count(bytes.len()))
}

/// The offset of the new header, the sections it counts and the table of them.
fn pe(bytes: &[u8]) -> Broken {
    let mut reader = Reader::new(bytes);
    reader.seek(0x3c)?;
    let header = reader.u32_le()?.into();
    // A program for DOS has no other header.
    if header == 0 {
        return Ok(None);
    }
    if reader.seek(header).is_err() {
        return Ok(Some(("the offset of the header leaves the file", 0x3c)));
    }
    if reader.take(4).ok() != Some(b"PE\0\0") {
        return Ok(None);
    }
    let at = header.saturating_add(6);
    reader.u16_le()?;
    let sections = reader.u16_le()?;
    reader.take(12)?;
    let optional = reader.u16_le()?;
    if sections > MOST_SECTIONS {
        return Ok(Some(("more sections than the loader takes", at)));
    }
    let table = header.saturating_add(24).saturating_add(optional.into());
    if !reaches(bytes, table, u64::from(sections).saturating_mul(40)) {
        return Ok(Some(("the table of sections leaves the file", at)));
    }
    Ok(None)
}

/// The tables of segments and sections.
fn elf(bytes: &[u8]) -> Broken {
    let mut reader = Reader::new(bytes);
    reader.seek(4)?;
    let (class, order) = (reader.u8()?, reader.u8()?);
    let is_wide = class == 2;
    let is_big = order == 2;
    let short = |reader: &mut Reader<'_>| if is_big { reader.u16_be() } else { reader.u16_le() };
    let word = |reader: &mut Reader<'_>| match (is_wide, is_big) {
        (true, true) => reader.u64_be(),
        (true, false) => reader.u64_le(),
        (false, true) => reader.u32_be().map(u64::from),
        (false, false) => reader.u32_le().map(u64::from),
    };
    reader.seek(if is_wide { 0x20 } else { 0x1c })?;
    let at = count(reader.position());
    let (segments, sections) = (word(&mut reader)?, word(&mut reader)?);
    reader.take(6)?;
    let [segment, segment_count, section, section_count] = [(); 4].map(|()| short(&mut reader));
    let size = |one: u16, many: u16| u64::from(one).saturating_mul(many.into());
    if segments != 0 && !reaches(bytes, segments, size(segment?, segment_count?)) {
        return Ok(Some(("the table of segments leaves the file", at)));
    }
    if sections != 0 && !reaches(bytes, sections, size(section?, section_count?)) {
        return Ok(Some(("the table of sections leaves the file", at.saturating_add(if is_wide { 8 } else { 4 }))));
    }
    Ok(None)
}

/// The load commands of a thin file; the parts of a fat one.
fn macho(bytes: &[u8]) -> Broken {
    let mut reader = Reader::new(bytes);
    let magic = reader.u32_be()?;
    match magic {
        0xcafe_babe => {
            let parts = reader.u32_be()?;
            for _ in 0..parts {
                reader.take(8)?;
                let at = count(reader.position());
                let (offset, length) = (reader.u32_be()?, reader.u32_be()?);
                reader.u32_be()?;
                if !reaches(bytes, offset.into(), length.into()) {
                    return Ok(Some(("a part leaves the file", at)));
                }
            }
        }
        0xcffa_edfe | 0xcefa_edfe => {
            reader.seek(0x14)?;
            let head = if magic == 0xcffa_edfe { 0x20 } else { 0x1c };
            if !reaches(bytes, head, reader.u32_le()?.into()) {
                return Ok(Some(("the load commands leave the file", 0x14)));
            }
        }
        _ => {}
    }
    Ok(None)
}

fn dex(bytes: &[u8]) -> Broken {
    let mut reader = Reader::new(bytes);
    reader.seek(0x20)?;
    let length = u64::from(reader.u32_le()?);
    Ok((length > count(bytes.len())).then_some(("the file is shorter than it says", 0x20)))
}

/// Sections: a number, a length, that many bytes (WebAssembly 5.5.2).
fn wasm(bytes: &[u8], budget: &mut Budget) -> Result<Option<(&'static str, u64)>, Stop> {
    let mut reader = Reader::new(bytes);
    if reader.seek(8).is_err() {
        return Ok(Some(("the file ends in its headers", 4)));
    }
    while !reader.is_at_end() {
        budget.spend(Resource::Steps, STEPS_PER_SECTION)?;
        let at = count(reader.position());
        reader.u8()?;
        let Some(length) = leb(&mut reader) else {
            return Ok(Some(("the length of a section is no number", at)));
        };
        if reader.take(length).is_err() {
            return Ok(Some(("a section leaves the file", at)));
        }
    }
    Ok(None)
}

/// A number of 32 bits in groups of seven.
fn leb(reader: &mut Reader<'_>) -> Option<u64> {
    let mut value = 0_u64;
    for group in 0..5_u32 {
        let byte = reader.u8().ok()?;
        value |= u64::from(byte & 0x7f).checked_shl(group.checked_mul(7)?)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn says(label: &str, bytes: &[u8]) -> Option<(&'static str, u64)> {
        broken(label, bytes, &mut Budget::new(Limits::default())).unwrap()
    }

    fn windows(header: u32, sections: u16) -> Vec<u8> {
        let mut bytes = vec![0; 1024];
        bytes[..2].copy_from_slice(b"MZ");
        bytes[0x3c..0x40].copy_from_slice(&header.to_le_bytes());
        bytes[0x40..0x44].copy_from_slice(b"PE\0\0");
        bytes[0x46..0x48].copy_from_slice(&sections.to_le_bytes());
        bytes[0x54] = 0xf0;
        bytes
    }

    #[test]
    fn headers_of_windows() {
        assert_eq!(says("pe", &windows(0x40, 3)), None);
        assert_eq!(says("pe", &windows(0, 0)), None);
        assert_eq!(says("pe", &windows(0x7fff_ffff, 1)), Some(("the offset of the header leaves the file", 0x3c)));
        assert_eq!(says("pe", &windows(0x40, 0xffff)), Some(("more sections than the loader takes", 0x46)));
        assert_eq!(says("pe", &windows(0x40, 90)), Some(("the table of sections leaves the file", 0x46)));
        assert_eq!(says("pe", b"MZ"), Some(("the file ends in its headers", 0x3c)));
    }

    #[test]
    fn tables_of_other_systems() {
        let mut elf = vec![0; 200];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(says("elf", &elf), None);
        elf[0x28..0x30].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(says("elf", &elf), Some(("the table of sections leaves the file", 0x28)));
        elf[0x20..0x28].copy_from_slice(&400_u64.to_le_bytes());
        assert_eq!(says("elf", &elf), Some(("the table of segments leaves the file", 0x20)));
        let fat =
            [&b"\xca\xfe\xba\xbe\0\0\0\x01\0\0\0\x07\0\0\0\x03"[..], &[0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0]].concat();
        assert_eq!(says("macho", &fat), Some(("a part leaves the file", 16)));
        let thin = [&b"\xcf\xfa\xed\xfe"[..], &[0; 16], &[9, 0, 0, 0], &[0; 8]].concat();
        assert_eq!(says("macho", &thin), Some(("the load commands leave the file", 0x14)));
    }

    #[test]
    fn sections_of_web_assembly() {
        assert_eq!(says("wasm", b"\0asm\x01\0\0\0\x01\x01\x00"), None);
        assert_eq!(says("wasm", b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f"), Some(("a section leaves the file", 8)));
        assert_eq!(
            says("wasm", b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\xff\x0f"),
            Some(("the length of a section is no number", 8))
        );
    }
}
