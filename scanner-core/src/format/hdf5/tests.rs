use proptest::prelude::*;

use super::*;
use crate::format::{ALL, testing::look};

/// A file of the second kind: a superblock, and a root object of these messages.
fn file(messages: &[(u8, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, data) in messages {
        body.push(*kind);
        body.extend(u16::try_from(data.len()).expect("short").to_le_bytes());
        body.push(0);
        body.extend_from_slice(data);
    }
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend([2, 8, 8, 0]);
    bytes.extend([0; 8]);
    bytes.extend(NOWHERE.to_le_bytes());
    let end = bytes.len() + 8 + 8 + 4 + 4 + 2 + 2 + body.len() + 4;
    bytes.extend(count(end).to_le_bytes());
    bytes.extend(48_u64.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(b"OHDR\x02\x01");
    bytes.extend(u16::try_from(body.len()).expect("short").to_le_bytes());
    bytes.extend(body);
    bytes.extend([0; 4]);
    bytes
}

#[track_caller]
fn check(messages: &[(u8, &[u8])], want: &[&str]) {
    let facts = look(&FORMAT, "hdf5", &file(messages)).facts();
    let facts: Vec<String> = facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(facts, want);
}

#[test]
fn objects_and_links() {
    check(&[], &[]);
    check(&[(6, b"\x01\x08\x40\x01a\x0a\0\0other\0/x\0")], &["medium net.external_ref"]);
    check(&[(7, b"\x01\0\0\0")], &["medium net.external_ref"]);
    check(&[(8, b"\x04\x03")], &["medium net.external_ref"]);
    // A soft link, and a hard one back to the root.
    check(&[(6, b"\x01\x08\x01\x01a\x02\0/x"), (6, b"\x01\0\x01a\x30\0\0\0\0\0\0\0")], &[]);
    // One into nowhere.
    check(&[(6, b"\x01\0\x01a\xff\xff\xff\xff\0\0\0\0")], &["medium malformed.structure"]);
    check(&[(6, b"\x01\0\x09a")], &["medium malformed.structure"]);
    check(&[(16, b"\xff\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0")], &["medium malformed.structure"]);
    check(&[(17, b"\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0")], &["medium malformed.structure"]);
}

#[test]
fn packed_data() {
    let space: &[u8] = b"\x02\x01\0\x01\x80\x96\x98\0\0\0\0\0";
    check(&[(1, space), (3, b"\x11\0\0\0\x08\0\0\0"), (11, b"\x02\x01")], &["medium bomb.ratio", "gap unsupported"]);
    let space: &[u8] = b"\x02\x01\0\x01\x80\0\0\0\0\0\0\0";
    check(&[(1, space), (3, b"\x11\0\0\0\x08\0\0\0"), (11, b"\x02\x01")], &["gap unsupported"]);
}

#[test]
fn models_with_code() {
    check(&[(12, b"model_config {\"class_name\": \"Lambda\", \"config\": {}}")], &["high pickle.keras_lambda"]);
    check(&[(12, b"model_config {\"class_name\": \"Dense\", \"config\": {}}")], &[]);
}

#[test]
fn a_cut_anywhere_is_told() {
    let whole = file(&[(6, b"\x01\x08\x01\x01a\x02\0/x")]);
    for end in 8..whole.len() {
        assert!(!look(&FORMAT, "hdf5", &whole[..end]).facts().is_empty(), "cut at {end}");
    }
    assert_eq!(look(&FORMAT, "hdf5", b"\x89HDF\r\n\x1a\n\x09").facts().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn damaged_files_never_panic(
        place in any::<prop::sample::Index>(),
        value in any::<u8>(),
        noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = file(&[(6, b"\x01\0\x01a\x30\0\0\0\0\0\0\0"), (16, b"\x30\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"), (17, b"\x30\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0")]);
        let at = place.index(bytes.len());
        bytes[at] = value;
        bytes.extend(&noise);
        let _ = look(&FORMAT, "hdf5", &bytes);
        // The other formats of data, behind their signatures.
        for (label, start) in [
            ("npy", &b"\x93NUMPY\x01\0\x10\0"[..]),
            ("gguf", b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"),
            ("safetensors", b"\x10\0\0\0\0\0\0\0{"),
            ("sqlite", b"SQLite format 3\0\x02\0\x01\x01\0@  "),
            ("arrow", b"ARROW1\0\0"),
            ("arrowstream", b"\xff\xff\xff\xff\x10\0\0\0"),
            ("parquet", b"PAR1"),
        ] {
            let format = ALL.iter().find(|format| format.labels.contains(&label)).expect(label);
            let end: &[u8] = match label {
                "arrow" => b"\x20\0\0\0ARROW1",
                "parquet" => b"\x20\0\0\0PAR1",
                _ => b"",
            };
            let _ = look(format, label, &[start, &noise, end].concat());
        }
    }
}
