use super::*;
use crate::format::testing::look;

mod clean;

/// The head of a gzip member with every optional field.
fn dressed(name: &[u8], comment: &[u8]) -> Vec<u8> {
    [&b"\x1f\x8b\x08\x1c\0\0\0\0\0\xff\x03\0abc"[..], name, b"\0", comment, b"\0", b"\x03\0\0\0\0\0\0\0\0\0"].concat()
}

#[test]
fn what_comes_out_is_a_child() {
    for (label, codec) in [
        ("gzip", Codec::Gzip),
        ("bzip2", Codec::Bzip2),
        ("xz", Codec::Xz),
        ("lzma", Codec::Lzma),
        ("zstd", Codec::Zstd),
    ] {
        let seen = look(&FORMAT, label, b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0");
        assert_eq!((seen.facts(), seen.children.len()), (vec![], 1), "{label}");
        assert_eq!(seen.children[0].source.codec, codec);
    }
}

#[test]
fn the_fields_of_gzip_are_read() {
    let seen = look(&FORMAT, "gzip", &dressed(b"a.txt", b"some words"));
    assert_eq!((seen.facts(), seen.texts()), (vec![], vec!["some words".to_owned()]));
    assert_eq!(seen.children[0].name.as_deref(), Some("a.txt"));
    assert_eq!(look(&FORMAT, "gzip", &dressed(b"../../a", b"")).facts(), ["high path.traversal 15..22"]);
    assert_eq!(look(&FORMAT, "gzip", &dressed(b"/a", b"")).facts(), ["high path.absolute 15..17"]);
    let latin = look(&FORMAT, "gzip", &dressed(b"caf\xe9", b""));
    assert_eq!(latin.children[0].name.as_deref(), Some("café"));
    for length in 2..30 {
        look(&FORMAT, "gzip", &dressed(b"a.txt", b"some words")[..length]);
    }
}

#[test]
fn thousands_of_members_that_hold_nothing() {
    let empty = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0";
    assert_eq!(look(&FORMAT, "gzip", &empty.repeat(50)).facts(), [""; 0]);
    assert_eq!(look(&FORMAT, "gzip", &empty.repeat(200)).facts(), ["medium bomb.entries 0..4000"]);
}

#[test]
fn windows_beyond_reason() {
    let frame = |window: u8| [&b"\x28\xb5\x2f\xfd\0"[..], &[window], b"\x01\0\0"].concat();
    assert_eq!(look(&FORMAT, "zstd", &frame(16 << 3)).facts(), [""; 0]);
    assert_eq!(look(&FORMAT, "zstd", &frame(17 << 3)).facts(), ["medium bomb.ratio 0..6"]);
    assert_eq!(look(&FORMAT, "zstd", &frame(0xff)).facts(), ["high bomb.ratio 0..6"]);
    let skipped = [&b"\x50\x2a\x4d\x18\x02\0\0\0ab"[..], &frame(0xff)].concat();
    assert_eq!(look(&FORMAT, "zstd", &skipped).facts(), ["high bomb.ratio 10..16"]);
    assert_eq!(look(&FORMAT, "zstd", b"\x50\x2a\x4d\x18\xff\xff\xff\xff").facts(), [""; 0], "unpacking says it");
}
