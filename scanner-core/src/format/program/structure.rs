//! Headers of programs that say what the file cannot hold. A program is blocked in any case; that its header lies says
//! that somebody made it so, to crash or to slip past whoever looks into it.

use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity, Stop},
    format::{Out, Subject},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

pub(super) static BROKEN: Rule = Rule::built_in(
    "program/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The header of a program says what the file cannot hold",
        why: "The file is cut, or its header was made to crash or mislead the programs that look into it.",
        remedy: "Fetch the file again; if it comes back the same, do not run it.",
    },
);

pub(super) fn look(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let fault = match subject.kind.label {
        "pe" => windows(bytes),
        "elf" => elf(bytes),
        "wasm" => return wasm(bytes, out, budget),
        _ => None,
    };
    if let Some((what, at)) = fault {
        out.find(Finding::built_in(&BROKEN).at(at, count(bytes.len())).message(what));
    }
    Ok(())
}

/// What is wrong, and where that is said.
type Fault = (&'static str, u64);

/// PE: the offset of the second header at 0x3c, and its table of sections.
fn windows(bytes: &[u8]) -> Option<Fault> {
    let at = |offset: u64| {
        let mut reader = Reader::new(bytes);
        reader.seek(offset).ok()?;
        Some(reader)
    };
    let header = u64::from(at(0x3c)?.u32_le().ok()?);
    if header == 0 {
        // A program for DOS has no second header.
        return None;
    }
    let Some(mut reader) = at(header).filter(|reader| reader.left() >= 24) else {
        return Some(("the second header would lie behind the end", 0x3c));
    };
    if reader.take(4).ok()? != b"PE\0\0" {
        return None;
    }
    reader.u16_le().ok()?;
    let sections = u64::from(reader.u16_le().ok()?);
    reader.take(12).ok()?;
    let optional = u64::from(reader.u16_le().ok()?);
    let end = header.saturating_add(24).saturating_add(optional).saturating_add(sections.saturating_mul(40));
    (end > count(bytes.len())).then_some(("the table of sections would run past the end", header))
}

/// ELF: the tables of segments and of sections (gABI chapter 4).
fn elf(bytes: &[u8]) -> Option<Fault> {
    let (is_wide, is_little) = (*bytes.get(4)? == 2, *bytes.get(5)? != 2);
    let field = |at: u64, width: u64| {
        let mut reader = Reader::new(bytes);
        reader.seek(at).ok()?;
        match (width, is_little) {
            (2, true) => reader.u16_le().ok().map(u64::from),
            (2, false) => reader.u16_be().ok().map(u64::from),
            (4, true) => reader.u32_le().ok().map(u64::from),
            (4, false) => reader.u32_be().ok().map(u64::from),
            (_, true) => reader.u64_le().ok(),
            (_, false) => reader.u64_be().ok(),
        }
    };
    let (word, segments, sections, sizes) = if is_wide { (8, 32, 40, 54) } else { (4, 28, 32, 42) };
    for (table, sizes) in [(segments, sizes), (sections, u64::checked_add(sizes, 4)?)] {
        let (start, size, entries) = (field(table, word)?, field(sizes, 2)?, field(u64::checked_add(sizes, 2)?, 2)?);
        let end = start.saturating_add(size.saturating_mul(entries));
        if entries > 0 && end > count(bytes.len()) {
            return Some(("a table would run past the end", table));
        }
    }
    None
}

/// WebAssembly: sections of a number, a length, and that many bytes (core specification 5.5.2).
fn wasm(bytes: &[u8], out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    while !reader.is_at_end() {
        budget.spend(Resource::Objects, 1)?;
        let at = count(reader.position());
        reader.u8()?;
        let (mut length, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = reader.u8()?;
            length |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(u64::MAX);
            shift = shift.saturating_add(7);
            if byte & 0x80 == 0 || shift > 35 {
                break;
            }
        }
        if reader.take(length).is_err() {
            let message = "a section would run past the end";
            out.find(Finding::built_in(&BROKEN).at(at, count(bytes.len())).message(message));
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::format::{program::FORMAT, testing::look};

    fn faults(label: &'static str, bytes: &[u8]) -> usize {
        look(&FORMAT, label, bytes).facts().iter().filter(|fact| fact.contains("malformed")).count()
    }

    #[test]
    fn tables_must_lie_in_the_file() {
        let mut pe = vec![0; 512];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c] = 0x40;
        pe[0x40..0x44].copy_from_slice(b"PE\0\0");
        pe[0x46] = 2;
        pe[0x54] = 0xf0;
        assert_eq!(faults("pe", &pe), 0);
        pe[0x46] = 200;
        assert_eq!(faults("pe", &pe), 1);
        pe[0x3f] = 0x7f;
        assert_eq!(faults("pe", &pe), 1);
        let mut elf = vec![0; 256];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[40] = 64;
        (elf[58], elf[60]) = (64, 3);
        assert_eq!(faults("elf", &elf), 0);
        elf[60] = 4;
        assert_eq!(faults("elf", &elf), 1);
        assert_eq!(faults("wasm", b"\0asm\x01\0\0\0\x01\x02ab"), 0);
        assert_eq!(faults("wasm", b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f"), 1);
        assert_eq!(faults("wasm", b"\0asm\x01\0\0\0\x01"), 1, "a gap");
    }

    #[test]
    fn short_files_are_survived() {
        for label in ["pe", "elf", "wasm"] {
            for length in 0..70 {
                look(&FORMAT, label, &vec![0xff; length]);
            }
        }
    }
}
