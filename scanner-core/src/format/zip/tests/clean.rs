//! What the safe version of an archive keeps, and what it does not.

use super::*;
use crate::format::cleaning::{
    Uncleanable,
    testing::{clean, clean_once},
};

/// Names and contents as a reader that is not ours sees them.
fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ::zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut content).unwrap();
            (file.name().unwrap().into_owned(), content)
        })
        .collect()
}

/// The members of the safe version, in which nothing is wrong any more, and what was done.
#[track_caller]
fn becomes(bytes: &[u8], expected: &[(&str, &str)], done: &[(&'static str, u64)]) {
    let (clean, actions) = clean(&FORMAT, "zip", bytes).unwrap();
    let expected: Vec<_> = expected.iter().map(|(name, data)| ((*name).to_owned(), data.as_bytes().to_vec())).collect();
    assert_eq!(members(&clean), expected);
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), done);
    assert_eq!(look(&FORMAT, "zip", &clean).facts(), [""; 0]);
}

#[track_caller]
fn refused(label: &'static str, bytes: &[u8], why: &'static str) {
    assert_eq!(clean(&FORMAT, label, bytes).unwrap_err(), Uncleanable(why.into()));
}

#[test]
fn honest_members_stay_in_their_order() {
    let long = "word ".repeat(100);
    let deflated = deflated("b/long.txt", long.as_bytes());
    let folder = Made { mode: 0o040_755, ..member("b/", "") };
    let bytes = build(&[member("mimetype", "application/x"), folder, deflated, member("empty", "")]).bytes;
    becomes(&bytes, &[("mimetype", "application/x"), ("b/", ""), ("b/long.txt", &long), ("empty", "")], &[]);
}

#[test]
fn members_are_washed() {
    becomes(
        &build(&[member("a", "dirty"), member("b.exe", "MZ"), member("c", "c")]).bytes,
        &[("a", "clean"), ("c", "c")],
        &[("cleaned a file inside", 1), ("removed a file inside", 1)],
    );
    refused("zip", &build(&[member("b.exe", "MZ")]).bytes, "nothing in the archive may stay");
    let link = Made { mode: 0o120_777, ..member("link", "/etc/passwd") };
    refused("zip", &build(&[link]).bytes, "nothing in the archive may stay");
    let folder = Made { mode: 0o040_755, ..member("b/", "") };
    becomes(&build(&[folder]).bytes, &[("b/", "")], &[]);
    becomes(&build(&[]).bytes, &[], &[]);
}

#[test]
fn names_are_made_safe() {
    becomes(
        &build(&[
            member("../../a", "1"),
            member("A", "2"),
            member("nul", "3"),
            member("x.pdf.exe", "4"),
            member("../", ""),
        ])
        .bytes,
        &[("a", "1"), ("A (2)", "2"), ("_nul", "3")],
        &[("removed a program under a document's name", 1), ("renamed a file inside", 3)],
    );
}

#[test]
fn links_and_devices_go() {
    let link = Made { mode: 0o120_777, ..member("link", "/etc/passwd") };
    let device = Made { mode: 0o060_666, ..member("disk", "") };
    let setuid = Made { mode: 0o104_755, ..member("tool", "t") };
    becomes(&build(&[link, device, setuid]).bytes, &[("tool", "t")], &[("removed a device", 1), ("removed a link", 1)]);
}

#[test]
fn comments_extra_fields_and_what_belongs_to_no_member_go() {
    let dressed = Made { comment: b"note".to_vec(), extra: b"\xfe\xca\x03\0abc".to_vec(), ..member("a", "1") };
    let bytes = build(&[dressed, member("b", "2")]).bytes;
    let bytes = [&bytes[..], b"behind the end of it"].concat();
    let done = [("removed a comment", 1), ("removed data that belong to no member", 1)];
    becomes(&bytes, &[("a", "1"), ("b", "2")], &done);
    let clean = clean(&FORMAT, "zip", &bytes).unwrap().0;
    for gone in [&b"note"[..], b"abc", b"behind"] {
        assert_eq!(memchr::memmem::find(&clean, gone), None);
    }
}

#[test]
fn the_directory_says_what_a_member_is() {
    let two_names = Made { local_name: Some(b"other.exe".to_vec()), ..member("a.txt", "1") };
    becomes(&build(&[two_names]).bytes, &[("a.txt", "1")], &[]);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let encrypted = Made { flags: 1, method: 8, ..member("a", "0123456789abcdef") };
    refused("zip", &build(&[encrypted]).bytes, "a file in the archive needs a key");
    let odd = Made { method: 97, ..member("a", "0123456789abcdef") };
    refused("zip", &build(&[odd]).bytes, "a file in the archive is packed by method 97, which nothing here unpacks");
    let damaged = Made { crc: Some(1), ..member("a", "abc") };
    refused("zip", &build(&[damaged]).bytes, "a file in the archive does not match its checksum");
    let twice = Made { offset: Some(0), ..member("b", "abc") };
    refused("zip", &build(&[member("a", "abc"), twice]).bytes, "files in the archive share the same packed bytes");
    let good = build(&[member("a", "abc")]);
    assert!(clean(&FORMAT, "zip", &good.bytes[..good.end]).is_err());
    for label in ["jar", "apk", "whl"] {
        refused(label, &good.bytes, "a package that installs software has no safe version");
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let bytes = build(&[deflated("zeros", &vec![0; 4 << 20])]).bytes;
    let limit = "the limit on ratio was reached while cleaning";
    assert_eq!(clean(&FORMAT, "zip", &bytes).unwrap_err(), Uncleanable(limit.into()));
}

#[test]
fn limits_at_the_limit_and_past_it() {
    let bytes = build(&[deflated("a", &[b'x'; 1000]), member("b", "")]).bytes;
    for (resource, needed) in [(Resource::Entries, 2), (Resource::UnpackedBytes, 1000)] {
        let with = |limit| clean_once(&FORMAT, "zip", &bytes, Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(clean(&FORMAT, "zip", &bytes));
    }

    #[test]
    fn archives_cut_and_changed(cut in any::<prop::sample::Index>(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut bytes = build(&[member("mimetype", "a"), deflated("b", &[b'x'; 90]), member("../c", "dirty")]).bytes;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        drop(clean(&FORMAT, "zip", &bytes));
        drop(clean(&FORMAT, "zip", &bytes[..cut.index(bytes.len())]));
    }
}
