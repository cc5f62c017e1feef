use proptest::prelude::*;

use super::*;
use crate::{format::testing::Seen, limits::Limits};

/// The words of `WORDS` packed by LZMA2 with a dictionary of 4 KiB.
const LZMA2: &str = "e0002d00175d003a1a08ce76d976d393cee06c5c75e42bf800eb32ed800000";
/// The same by LZMA.
const LZMA1: &str = "003a1a08ce76d976d393cee06c5c75e42bf800eb3e67b1fffffa9d5000";
const WORDS: &[u8] = b"the same words, the same words, the same words";

fn hex(text: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap()
}

fn sum(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

/// Both headers around the packed bytes.
fn archive(packed: &[u8], header: &[u8]) -> Vec<u8> {
    let mut fields = (packed.len() as u64).to_le_bytes().to_vec();
    fields.extend((header.len() as u64).to_le_bytes());
    fields.extend(sum(header));
    [b"7z\xbc\xaf\x27\x1c\0\x04", &sum(&fields)[..], &fields, packed, header].concat()
}

/// Streams of one folder with these coders (as they stand in a header) that holds members of these sizes.
fn streams(packed: usize, coders: &[u8], unpacked: &[u8], sizes: &[u8], crc: Option<&[u8]>) -> Vec<u8> {
    let mut out = vec![0x06, 0, 1, 0x09, packed as u8, 0, 0x07, 0x0b, 1, 0];
    out.extend(coders);
    out.push(0x0c);
    out.extend(unpacked);
    if let Some(content) = crc {
        out.extend([0x0a, 1]);
        out.extend(sum(content));
    }
    out.push(0);
    if sizes.len() > 1 {
        out.extend([0x08, 0x0d, sizes.len() as u8, 0x09]);
        out.extend(&sizes[..sizes.len() - 1]);
        out.push(0);
    }
    out.push(0);
    out
}

fn names_of(names: &[&str]) -> Vec<u8> {
    let units: Vec<u8> =
        names.iter().flat_map(|name| name.encode_utf16().chain([0])).flat_map(u16::to_le_bytes).collect();
    [&[0x11, units.len() as u8 + 1, 0][..], &units].concat()
}

fn files(names: &[&str], more: &[u8]) -> Vec<u8> {
    [&[0x05, names.len() as u8][..], more, &names_of(names), &[0]].concat()
}

/// One stored member.
fn stored(name: &str, more: &[u8]) -> Vec<u8> {
    let header =
        [&[1, 4][..], &streams(5, &[1, 1, 0], &[5], &[5], Some(b"words")), &files(&[name], more), &[0]].concat();
    archive(b"words", &header)
}

fn seen(bytes: &[u8]) -> Seen {
    Seen::limited(&FORMAT, "7z", bytes, Limits::default())
}

fn said(bytes: &[u8]) -> Vec<String> {
    seen(bytes).facts().iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

fn children(seen: &Seen) -> Vec<(String, Vec<u8>)> {
    seen.children.iter().map(|child| (child.name.clone().unwrap_or_default(), child.source.packed.to_vec())).collect()
}

fn packed_by(coders: &[u8], packed: &[u8]) -> Vec<u8> {
    let sizes = [&[WORDS.len() as u8][..]; 2].concat();
    let unpacked = &sizes[..usize::from(coders[0])];
    let header =
        [&[1, 4][..], &streams(packed.len(), coders, unpacked, &[10, 36], None), &files(&["a", "b"], &[]), &[0]]
            .concat();
    archive(packed, &header)
}

#[test]
fn members_are_children() {
    let seen = seen(&stored("a.txt", &[]));
    assert_eq!((seen.facts(), children(&seen)), (vec![], vec![("a.txt".to_owned(), b"words".to_vec())]));
    assert_eq!(seen.children[0].claim.unwrap().crc32, Some(u32::from_le_bytes(sum(b"words"))));
}

#[test]
fn folders_are_unpacked() {
    let lzma2 = [1, 0x21, 0x21, 1, 0];
    let lzma1 = [1, 0x23, 3, 1, 1, 5, 0x5d, 0, 0x10, 0, 0];
    // A filter of deltas, fed by LZMA2: input 0 comes from output 1.
    let delta = [2, 0x21, 3, 1, 0, 0x21, 0x21, 1, 0, 0, 1];
    for (coders, packed) in [(&lzma2[..], hex(LZMA2)), (&lzma1, hex(LZMA1))] {
        let seen = seen(&packed_by(coders, &packed));
        assert_eq!(seen.facts(), [""; 0]);
        let (first, second) = WORDS.split_at(10);
        assert_eq!(children(&seen), [("a".to_owned(), first.to_vec()), ("b".to_owned(), second.to_vec())]);
    }
    let filtered = seen(&packed_by(&delta, &hex(LZMA2)));
    assert_eq!((filtered.facts(), filtered.children.len()), (vec![], 2));
    assert_eq!(filtered.children[0].source.packed[..2], [b't', b't'.wrapping_add(b'h')]);
}

#[test]
fn a_packed_header_is_unpacked() {
    let inner = [&[1, 4][..], &streams(5, &[1, 1, 0], &[5], &[5], None), &files(&["../a"], &[]), &[0]].concat();
    let size = inner.len() as u8;
    // The header lies behind the content: five bytes into the packed streams.
    let mut outer = vec![0x17];
    let mut packed_at = streams(inner.len(), &[1, 1, 0], &[size], &[size], Some(&inner));
    packed_at[1] = 5;
    outer.extend(packed_at);
    let bytes = archive(&[&b"words"[..], &inner].concat(), &outer);
    assert_eq!(said(&bytes), ["high path.traversal"]);
    assert_eq!(children(&seen(&bytes)).len(), 1);
}

#[test]
fn names_links_and_rights() {
    assert_eq!(said(&stored("..\\x", &[])), ["high path.traversal", "medium path.special_name"]);
    assert_eq!(said(&stored("/x", &[])), ["high path.absolute"]);
    let mode = |mode: u32| {
        let attributes = ((mode << 16) | 0x8000).to_le_bytes();
        said(&stored("x", &[&[0x15, 6, 1, 0][..], &attributes].concat()))
    };
    assert_eq!(mode(0o120_777), ["high path.symlink"]);
    assert_eq!(mode(0o020_644), ["high path.device"]);
    assert_eq!(mode(0o104_755), ["medium path.special_mode"]);
    assert_eq!(mode(0o100_644), [""; 0]);
}

#[test]
fn what_needs_a_key_or_another_program_is_a_gap() {
    let aes = [1, 0x24, 6, 0xf1, 7, 1, 2, 0, 0];
    assert_eq!(said(&packed_by(&aes, b"secret")), ["gap encrypted"]);
    let ppmd = [1, 0x23, 3, 4, 1, 5, 6, 0, 0, 0, 1];
    let seen = seen(&packed_by(&ppmd, b"packed"));
    assert_eq!(seen.facts(), ["gap unsupported"]);
    assert_eq!(seen.texts(), ["a\nb\n"], "their names are read");
    let header = [&[0x17][..], &streams(6, &aes, &[9], &[9], None)].concat();
    assert_eq!(said(&archive(b"secret", &header)), ["gap encrypted"]);
}

#[test]
fn damage_is_said() {
    let good = stored("a.txt", &[]);
    let mut bytes = good.clone();
    bytes[8] ^= 1;
    assert_eq!(said(&bytes), ["medium malformed.crc"]);
    let mut bytes = good.clone();
    let last = bytes.len() - 1;
    bytes[last] = 0x77;
    assert!(said(&bytes).contains(&"medium malformed.crc".to_owned()));
    let mut bytes = good.clone();
    bytes[15] = 0x7f;
    assert!(said(&bytes).contains(&"medium malformed.structure".to_owned()));
    assert_eq!(said(&[&good[..], b"behind"].concat()), ["medium type.trailing_data"]);
    for length in 1..good.len() {
        assert!(!seen(&good[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn counts_are_not_believed() {
    // Members, folders and streams by the thousand million, and no bytes for them.
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    for header in
        [[&[1, 5][..], &huge].concat(), [&[1, 4, 6, 0][..], &huge].concat(), [&[1, 4, 7, 0x0b][..], &huge].concat()]
    {
        assert!(said(&archive(b"", &header))[0].starts_with("gap "));
    }
}

proptest! {
    #[test]
    fn any_damage_is_survived(damage in proptest::collection::vec((32_usize..150, any::<u8>()), 1..6)) {
        for whole in [stored("a.txt", &[]), packed_by(&[1, 0x21, 0x21, 1, 0], &hex(LZMA2))] {
            let mut bytes = whole;
            for (at, value) in &damage {
                if let Some(byte) = bytes.get_mut(*at) {
                    *byte = *value;
                }
            }
            seen(&bytes);
        }
    }
}
