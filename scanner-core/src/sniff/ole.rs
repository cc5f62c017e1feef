//! OLE compound files (MS-CFB): told apart by the class of the root entry and the names of its streams.

use super::peek::Peek;

/// Directory sectors followed; the telling streams come early.
const SECTORS: usize = 64;
const ENTRY_BYTES: usize = 128;

/// Root classes, as stored: (first bytes, label). MS-OSHARED, MS-OXMSG and the Windows Installer define them.
const CLASSES: &[(&[u8], &str)] = &[
    (b"\x06\x09\x02\0\0\0\0\0\xc0", "doc"),
    (b"\x00\x09\x02\0\0\0\0\0\xc0", "doc"),
    (b"\x10\x08\x02\0\0\0\0\0\xc0", "xls"),
    (b"\x20\x08\x02\0\0\0\0\0\xc0", "xls"),
    (b"\x10\x8d\x81\x64\x9b\x4f\xcf\x11", "ppt"),
    (b"\x0b\x0d\x02\0\0\0\0\0\xc0", "msg"),
    (b"\x84\x10\x0c\0\0\0\0\0\xc0", "msi"),
    (b"\x82\x10\x0c\0\0\0\0\0\xc0", "msi"),
    (b"\x86\x10\x0c\0\0\0\0\0\xc0", "msi"),
];

/// Streams, in the order in which they decide: a document may embed another, never the other way round.
const STREAMS: &[(&str, &str)] = &[
    ("__properties_version1.0", "msg"),
    ("__nameid_version1.0", "msg"),
    ("PowerPoint Document", "ppt"),
    ("PP40", "ppt"),
    ("PP97_DUALSTORAGE", "ppt"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("EncryptedPackage", "ole"),
    ("Contents", "ole"),
];

/// The kind of compound file; `None` when it is none.
pub(super) fn kind(bytes: &[u8]) -> Option<&'static str> {
    let peek = Peek(bytes);
    if !peek.has(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return None;
    }
    Some(inside(peek).unwrap_or("ole"))
}

fn inside(peek: Peek<'_>) -> Option<&'static str> {
    let sector_bytes = match peek.u16_le(0x1e)? {
        12 => 4096,
        _ => 512_usize,
    };
    let mut sector = peek.index_le(0x30)?;
    let mut by_class = None;
    let mut best = STREAMS.len();
    for step in 0..SECTORS {
        let at = sector.checked_add(1)?.checked_mul(sector_bytes)?;
        let entries = peek.from(at);
        let entries = entries.get(..sector_bytes).unwrap_or(entries);
        for (nth, entry) in entries.chunks_exact(ENTRY_BYTES).enumerate() {
            let entry = Peek(entry);
            if step == 0 && nth == 0 {
                let class = entry.slice(80, 16)?;
                by_class = CLASSES.iter().find(|(start, _)| class.starts_with(start)).map(|(_, label)| *label);
            }
            if let Some(found) = STREAMS.iter().position(|(name, _)| is_named(entry, name)) {
                best = best.min(found);
            }
            // The installer packs two characters into one of the range from U+3800; its tables begin with U+4840.
            if entry.u16_le(0) == Some(0x4840) {
                return Some("msi");
            }
        }
        let Some(next) = next_sector(peek, sector, sector_bytes) else { break };
        sector = next;
    }
    by_class.or_else(|| STREAMS.get(best).map(|(_, label)| *label))
}

/// MS-CFB 2.3: the next sector of a chain, by the table whose sectors the header lists.
fn next_sector(peek: Peek<'_>, sector: usize, sector_bytes: usize) -> Option<usize> {
    let per_sector = sector_bytes / 4;
    let table = sector.checked_div(per_sector)?;
    if table >= 109 {
        return None;
    }
    let table_sector = peek.index_le(table.checked_mul(4)?.checked_add(0x4c)?)?;
    let slot = sector.checked_rem(per_sector)?.checked_mul(4)?;
    let next = peek.index_le(table_sector.checked_add(1)?.checked_mul(sector_bytes)?.checked_add(slot)?)?;
    (next < 0xffff_fffa).then_some(next)
}

/// Names are UTF-16 and matched without regard to case.
fn is_named(entry: Peek<'_>, name: &str) -> bool {
    let wanted = name.len().checked_add(1).and_then(|units| units.checked_mul(2));
    entry.u16_le(64).map(usize::from) == wanted
        && entry
            .0
            .chunks_exact(2)
            .zip(name.bytes())
            .all(|(unit, want)| matches!(unit, [low, 0] if low.eq_ignore_ascii_case(&want)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compound(stream: &str) -> Vec<u8> {
        let mut bytes = vec![0_u8; 1536];
        bytes[..8].copy_from_slice(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
        bytes[0x1e] = 9;
        for (at, byte) in stream.bytes().enumerate() {
            bytes[512 + 128 + at * 2] = byte;
        }
        bytes[512 + 128 + 64] = (stream.len() as u8 + 1) * 2;
        bytes
    }

    #[test]
    fn streams_tell() {
        assert_eq!(kind(&compound("WordDocument")), Some("doc"));
        assert_eq!(kind(&compound("WORKBOOK")), Some("xls"));
        assert_eq!(kind(&compound("__nameid_version1.0")), Some("msg"));
        assert_eq!(kind(&compound("Other")), Some("ole"));
        assert_eq!(kind(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), Some("ole"));
    }
}
