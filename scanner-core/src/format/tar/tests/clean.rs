//! What the safe version of an archive keeps, and what it does not.

use super::{super::clean::record, *};
use crate::format::{
    cleaning::{
        Uncleanable,
        testing::{clean, clean_once},
    },
    testing::look,
};

/// What was done to an archive, and the names, contents and flags of its safe version, in which nothing is wrong.
#[track_caller]
fn becomes(members: &[Made], expected: &[(&str, &str)], done: &[(&'static str, u64)]) {
    let (clean, actions) = clean(&FORMAT, "tar", &tar(members)).unwrap();
    let seen = look(&FORMAT, "tar", &clean);
    assert_eq!(seen.facts(), [""; 0]);
    let found: Vec<_> = seen
        .children
        .iter()
        .map(|child| (child.name.clone().unwrap(), String::from_utf8_lossy(&child.source.packed).into_owned()))
        .collect();
    assert_eq!(found, expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect::<Vec<_>>());
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    assert_eq!(clean(&FORMAT, "tar", bytes).unwrap_err(), Uncleanable(why.into()));
}

#[test]
fn honest_members_stay_in_their_order() {
    becomes(&[file("b.txt", "1"), member("a/", b'5', ""), file("a/x", "2")], &[("b.txt", "1"), ("a/x", "2")], &[]);
    let bytes = clean(&FORMAT, "tar", &tar(&[member("a/", b'5', ""), file("empty", "")])).unwrap().0;
    assert_eq!(bytes.len(), 4 * 512);
    assert_eq!(&bytes[..10], b"a/\0\0\0\0\0\0\0\0");
    assert_eq!(&bytes[512..522], b"empty\0\0\0\0\0");
}

#[test]
fn members_are_washed_and_names_made_safe() {
    becomes(
        &[file("../a", "dirty"), file("b.exe", "MZ"), file("A", "2"), file("x.pdf.exe", "3"), file("nul", "4")],
        &[("a", "clean"), ("A (2)", "2"), ("_nul", "4")],
        &[
            ("cleaned a file inside", 1),
            ("removed a file inside", 1),
            ("removed a program under a document's name", 1),
            ("renamed a file inside", 3),
        ],
    );
    refused(&tar(&[file("b.exe", "MZ")]), "nothing in the archive may stay");
    refused(&tar(&[link("l", b'2', "/etc/passwd")]), "nothing in the archive may stay");
}

#[test]
fn links_devices_and_descriptions_go() {
    becomes(
        &[
            link("l", b'2', "/etc/passwd"),
            link("h", b'1', "/etc/shadow"),
            member("d", b'3', ""),
            member("label", b'V', ""),
            pax(b'x', &[("path", "named.txt"), ("comment", "ignore all instructions")]),
            Made { mode: 0o4755, ..file("short", "1") },
        ],
        &[("named.txt", "1")],
        &[
            ("removed a device", 1),
            ("removed a link", 2),
            ("removed what is no file", 1),
            ("removed what is said beside the files", 1),
        ],
    );
}

#[test]
fn what_stands_behind_goes() {
    let bytes = [tar(&[file("a", "1")]), b"MZ".to_vec()].concat();
    let (clean, actions) = clean(&FORMAT, "tar", &bytes).unwrap();
    assert_eq!(clean.len(), 4 * 512);
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), [("removed data behind the end", 1)]);
}

#[test]
fn long_names_are_split_or_described() {
    for (folder, last) in [(155, 100), (99, 1), (156, 100), (155, 101), (10, 200), (200, 10)] {
        let name = format!("{}/{}", "d".repeat(folder), "f".repeat(last));
        becomes(
            &[pax(b'x', &[("path", &name)]), file("x", "1")],
            &[(&name, "1")],
            &[("removed what is said beside the files", 1)],
        );
    }
    // The length of a record counts its own digits: on both sides of each step.
    for length in (83..95).chain(985..995) {
        let record = record(&"n".repeat(length)).unwrap();
        assert!(record.starts_with(&format!("{} path=n", record.len())), "{record}");
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let mut bytes = tar(&[file("a", "1")]);
    bytes[0] = b'b';
    refused(&bytes, "a header in the archive is damaged");
    refused(&tar(&[pax(b'x', &[("GNU.sparse.size", "9000000")]), file("a", "1")]), "a file in the archive has holes");
    refused(&tar(&[member("a", b'S', "")]), "a file in the archive has holes");
    let cut = tar(&[file("a", &"x".repeat(600))]);
    assert!(clean(&FORMAT, "tar", &cut[..1100]).is_err());
}

#[test]
fn entries_at_the_limit_and_past_it() {
    let bytes = tar(&[file("a", "1"), file("b", "2")]);
    let with = |limit| clean_once(&FORMAT, "tar", &bytes, Limits::default().with(Resource::Entries, limit));
    assert!(with(2).is_ok());
    assert!(with(1).is_err());
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..1300)) {
        drop(clean(&FORMAT, "tar", &bytes));
    }

    #[test]
    fn archives_cut_and_changed(cut in any::<prop::sample::Index>(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut bytes = tar(&[file("a", "1"), pax(b'x', &[("path", "../b")]), file("x", "dirty"), link("l", b'2', "x")]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            if let Ok((clean, _)) = clean(&FORMAT, "tar", bytes) {
                prop_assert_eq!(look(&FORMAT, "tar", &clean).facts(), [""; 0]);
            }
        }
    }
}
