//! Zip archives.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset, Sum},
    },
    defect::{Kind, ORDER},
    sums::{crc32, deflate},
};

const ZIP: Kind = Kind::new("zip", "zip", archive).paths(&["member name"]);

pub(super) fn make(cases: &mut Cases) {
    ZIP.make(cases);
    members(cases);
    structure(cases);
}

/// One member of an archive that is written by [`pack`].
#[derive(Clone, Default)]
pub(super) struct Member<'a> {
    pub(super) name: &'a [u8],
    pub(super) content: &'a [u8],
    pub(super) is_packed: bool,
    pub(super) extra: &'a [u8],
    pub(super) comment: &'a [u8],
    pub(super) flags: u16,
    /// Who made it, and its attributes: where Unix keeps the mode.
    pub(super) made_by: u16,
    pub(super) attributes: u32,
}

/// A file of that name, as it is.
pub(super) fn member<'a>(name: &'a str, content: &'a [u8]) -> Member<'a> {
    Member { name: name.as_bytes(), content, ..Member::default() }
}

/// An archive of those members.
pub(super) fn pack(members: &[Member<'_>]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let packed = if member.is_packed { deflate(member.content) } else { member.content.to_vec() };
        let method = if member.is_packed { 8_u16 } else { 0 };
        let mut shared = Vec::new();
        shared.extend_from_slice(&20_u16.to_le_bytes());
        shared.extend_from_slice(&member.flags.to_le_bytes());
        shared.extend_from_slice(&method.to_le_bytes());
        shared.extend_from_slice(&[0, 0, 0x21, 0x5a]);
        shared.extend_from_slice(&crc32(member.content).to_le_bytes());
        shared.extend_from_slice(&little(packed.len()));
        shared.extend_from_slice(&little(member.content.len()));
        shared.extend_from_slice(&little(member.name.len())[..2]);
        shared.extend_from_slice(&little(member.extra.len())[..2]);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend_from_slice(&member.made_by.to_le_bytes());
        directory.extend_from_slice(&shared);
        directory.extend_from_slice(&little(member.comment.len())[..2]);
        directory.extend_from_slice(&[0; 4]);
        directory.extend_from_slice(&member.attributes.to_le_bytes());
        directory.extend_from_slice(&little(bytes.len()));
        directory.extend_from_slice(&[member.name, member.extra, member.comment].concat());
        bytes.extend_from_slice(&[b"PK\x03\x04", &shared[..], member.name, member.extra, &packed].concat());
    }
    let end = end_of(members.len(), directory.len(), bytes.len());
    [bytes, directory, end].concat()
}

/// The record at the end of an archive.
fn end_of(members: usize, directory: usize, at: usize) -> Vec<u8> {
    let count = &little(members)[..2];
    [b"PK\x05\x06\0\0\0\0", count, count, &little(directory), &little(at), &[0, 0]].concat()
}

fn little(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// The smallest archive with something in it.
pub(super) fn small() -> Vec<u8> {
    pack(&[member("inside.txt", b"inside\n")])
}

fn archive(b: &mut Build) {
    let name = b.says("member name", "words.txt");
    let content = b.says("member", "the same words\n");
    let comment = b.says("comment of the member", "first");
    b.part("local head");
    b.raw(b"PK\x03\x04");
    b.le("local version", Choice, 2, 20);
    b.le("local flags", Choice, 2, 0);
    b.le("local method", Choice, 2, 0);
    b.raw([0, 0, 0x21, 0x5a]);
    b.le("local sum", Sum, 4, crc32(&content) as usize);
    b.le("local packed size", Length, 4, content.len());
    b.le("local size", Length, 4, content.len());
    b.le("local name length", Length, 2, name.len());
    b.le("local extra length", Length, 2, 0);
    b.raw(&name);
    b.part("member");
    b.raw(&content);
    let directory = b.at();
    b.part("directory entry");
    b.raw(b"PK\x01\x02");
    b.raw([20, 0]);
    b.le("version needed", Choice, 2, 20);
    b.le("flags", Choice, 2, 0);
    b.le("method", Choice, 2, 0);
    b.raw([0, 0, 0x21, 0x5a]);
    b.le("sum", Sum, 4, crc32(&content) as usize);
    b.le("packed size", Length, 4, content.len());
    b.le("size", Length, 4, content.len());
    b.le("name length", Length, 2, name.len());
    b.le("extra length", Length, 2, 0);
    b.le("comment length of the member", Length, 2, comment.len());
    b.le("disk of the member", Choice, 2, 0);
    b.zeros(6);
    b.le("local head offset", Offset, 4, 0);
    b.raw(&name);
    b.raw(&comment);
    let size = b.at() - directory;
    b.part("end record");
    b.raw(b"PK\x05\x06");
    b.le("disk", Choice, 2, 0);
    b.le("disk of the directory", Choice, 2, 0);
    b.le("members on this disk", Count, 2, 1);
    b.le("members", Count, 2, 1);
    b.le("directory size", Length, 4, size);
    b.le("directory offset", Offset, 4, directory);
    let comment = b.says("comment", "made for a test");
    b.le("comment length", Length, 2, comment.len());
    b.raw(comment);
}

fn members(cases: &mut Cases) {
    let one = |name: &str| pack(&[member(name, b"words\n")]);
    let unix = |name: &'static str, content: &'static [u8], mode: u32| {
        pack(&[Member { made_by: 0x031e, attributes: mode << 16, ..member(name, content) }])
    };
    let extra = |extra: &[u8]| pack(&[Member { extra, ..member("a.txt", b"words\n") }]);
    let flagged = |flags: u16| pack(&[Member { flags, ..member("a.txt", b"words\n") }]);
    let field = |id: u16, body: &[u8]| [&id.to_le_bytes()[..], &little(body.len())[..2], body].concat();
    let sum = crc32(b"a.txt").to_le_bytes();
    let nested = (0..6).fold(small(), |inner, _| pack(&[member("inner.zip", &inner)]));
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("name-climbs-by-backslash", "a name leads out by the strokes of Windows", one("..\\..\\start.bat")),
        ("name-climbs-in-its-middle", "a name leads out after a folder", one("a/../../out.txt")),
        ("name-of-a-share", "a name is a share on another machine", one("\\\\host\\share\\a.txt")),
        ("name-with-a-stream", "a name has a second stream of NTFS", one("a.txt:hidden.exe")),
        ("name-ends-in-a-dot", "a name ends in a dot, which Windows drops", one("a.txt.")),
        ("name-of-dots", "a name is two dots", one("..")),
        ("name-with-zero", "a name has a NUL, where C ends it", one("a.txt\0.exe")),
        ("name-with-line", "a name has a line break", one("a\nb.txt")),
        ("name-with-escape", "a name has an order to the terminal", one("a\x1b]0;t\x07.txt")),
        ("name-of-no-letters", "a name has no letters", one("")),
        ("name-of-a-job", "a name is where a system starts jobs from", one("etc/cron.d/job")),
        ("name-in-home", "a name begins at somebody's home", one("~/.ssh/authorized_keys")),
        (
            "name-not-utf8",
            "a name is no UTF-8 and says it is",
            pack(&[Member { name: b"a\xff\xfe.txt", content: b"w", flags: 0x800, ..Member::default() }]),
        ),
        (
            "names-differ-in-case",
            "two names differ in case alone",
            pack(&[member("A.txt", b"1"), member("a.txt", b"2")]),
        ),
        (
            "names-differ-in-form",
            "two names are one name to the file system of a Mac",
            pack(&[member("\u{e9}.txt", b"1"), member("e\u{301}.txt", b"2")]),
        ),
        ("file-is-also-a-folder", "a name is a file and a folder", pack(&[member("a", b"1"), member("a/b.txt", b"2")])),
        ("folder-with-content", "a folder has content", one("folder/")),
        ("fifo", "a member is a pipe", unix("pipe", b"", 0o010_644)),
        ("socket", "a member is a socket", unix("socket", b"", 0o140_644)),
        (
            "pipe-with-content",
            "a pipe has content, which some readers write to a file",
            unix("pipe", ORDER.as_bytes(), 0o010_644),
        ),
        (
            "link-with-a-program",
            "a link leads to a program, which some readers write to a file",
            unix("link", b"#!/bin/sh\nrm -rf ~\n", 0o120_777),
        ),
        ("link-to-itself", "a link leads to itself", unix("link", b"link", 0o120_777)),
        ("link-of-nothing", "a link leads nowhere", unix("link", b"", 0o120_777)),
        (
            "link-of-kilobytes",
            "a link leads to three thousand folders",
            pack(&[Member {
                made_by: 0x031e,
                attributes: 0o120_777 << 16,
                is_packed: true,
                ..member("link", "d/".repeat(3000).as_bytes())
            }]),
        ),
        (
            "encrypted-by-aes",
            "a member is locked by the method of WinZip",
            pack(&[Member {
                flags: 1,
                extra: &field(0x9901, b"\x02\0AE\x03\0\0"),
                ..member("a.txt", b"0123456789abcdef")
            }]),
        ),
        ("strong-encryption", "a member is locked by a method of PKWARE", flagged(0x41)),
        ("directory-is-masked", "the names are masked", flagged(0x2000)),
        ("patch-data", "a member is a patch to another", flagged(0x20)),
        ("sizes-follow", "says that the sizes follow, and they do not", flagged(8)),
        (
            "other-name-in-extra",
            "an extra field gives the member another name",
            extra(&field(0x7075, &[&[1], &sum[..], b"b.exe"].concat())),
        ),
        (
            "other-name-with-wrong-sum",
            "an extra field gives a name for another member",
            extra(&field(0x7075, b"\x01\0\0\0\0b.exe")),
        ),
        ("extra-longer-than-itself", "an extra field says it is longer than all of them", extra(b"\x75\x70\xff\xff")),
        ("extra-cut", "the head of an extra field is cut", extra(b"\x75\x70\x01")),
        ("extra-large-sizes-missing", "an extra field of large sizes is empty", extra(&field(1, b""))),
        (
            "extra-large-sizes-twice",
            "two extra fields of large sizes",
            extra(&[field(1, &[0; 16]), field(1, &[1; 16])].concat()),
        ),
        ("attack-in-extra", "an extra field of no known type is an order", extra(&field(0x4142, ORDER.as_bytes()))),
        (
            "attack-in-packed-member",
            "a packed member orders a model about",
            pack(&[Member { is_packed: true, ..member("a.txt", ORDER.as_bytes()) }]),
        ),
        (
            "bomb-of-a-kilobyte",
            "a member of a kilobyte unpacks to 300 KB",
            pack(&[Member { is_packed: true, ..member("a.bin", &[0; 300_000]) }]),
        ),
        ("archives-in-archives", "an archive in an archive in an archive", nested),
        ("many-members", "sixty members of nothing", pack(&vec![member("a.txt", b""); 60])),
        (
            "program-called-text",
            "a program under the name of a text",
            pack(&[member("notes.txt", b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0")]),
        ),
        ("script-in-member", "a script for a shell", pack(&[member("run.sh", b"#!/bin/sh\nrm -rf ~\n")])),
        (
            "picture-cut-in-member",
            "a picture in the archive is cut",
            pack(&[member("p.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0")]),
        ),
        (
            "honest-two-members",
            "a folder, a text and a packed text",
            pack(&[
                member("folder/", b""),
                member("folder/a.txt", b"words\n"),
                Member { is_packed: true, ..member("b.txt", b"words and words and words\n") },
            ]),
        ),
    ];
    for (name, why, bytes) in rows {
        ZIP.add(cases, name, why, &bytes, &[]);
    }
}

fn structure(cases: &mut Cases) {
    let honest = pack(&[member("a.txt", b"first\n"), member("b.txt", b"second\n")]);
    let one = small();
    let head = honest.windows(4).position(|four| four == b"PK\x01\x02").unwrap_or_default();
    let end = honest.len() - 22;
    let (local, directory) = (&honest[..head], &honest[head..end]);
    let entry = directory.len() / 2;
    let large = |at: u64, total: u32| {
        let record = [
            &b"PK\x06\x06"[..],
            &44_u64.to_le_bytes(),
            &[45, 0, 45, 0],
            &[0; 8],
            &2_u64.to_le_bytes(),
            &2_u64.to_le_bytes(),
            &(directory.len() as u64).to_le_bytes(),
            &(head as u64).to_le_bytes(),
        ]
        .concat();
        let locator = [&b"PK\x06\x07"[..], &[0; 4], &at.to_le_bytes(), &total.to_le_bytes()].concat();
        [local, directory, &record, &locator, b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0"]
            .concat()
    };
    let sound = end as u64;
    let mut packed = pack(&[Member { is_packed: true, ..member("a.txt", b"words words words") }]);
    if let Some(byte) = packed.get_mut(35) {
        *byte = 0x07;
    }
    let rows: [(&str, &str, Vec<u8>); 14] = [
        ("honest-large", "the end record is the one for large archives", large(sound, 1)),
        ("large-end-elsewhere", "the record for large archives is not where it should be", large(1, 1)),
        ("large-end-past-the-end", "the record for large archives is past the end", large(u64::MAX, 1)),
        ("large-end-on-other-disks", "the record for large archives is on one of nine disks", large(sound, 9)),
        (
            "two-on-one-head",
            "two entries lead to one local head",
            [local, &directory[..entry], &directory[..entry], &end_of(2, 2 * entry, head)].concat(),
        ),
        (
            "member-not-in-directory",
            "a member that the directory does not name",
            [local, &directory[..entry], &end_of(1, entry, head)].concat(),
        ),
        ("directory-of-nothing", "members without a directory", [local, &end_of(0, 0, head)].concat()),
        (
            "end-twice",
            "two end records, one in the comment of the other",
            [&one[..one.len() - 2], &[22, 0], &end_of(0, 0, 0)].concat(),
        ),
        (
            "end-alone-among-zeros",
            "an end record behind a kilobyte of zeros",
            [&[0; 64][..], &end_of(0, 0, 0)].concat(),
        ),
        (
            "directory-before-members",
            "the directory leads to members behind it",
            [&directory[..entry], local, &end_of(1, entry, 0)].concat(),
        ),
        ("without-end", "there is no end record", honest[..end].to_vec()),
        ("without-directory", "there are members and nothing else", local.to_vec()),
        ("codes-of-no-meaning", "the packed data use a block of a reserved type", packed),
        ("split-mark-in-front", "the mark of a split archive stands in front", [b"PK\x07\x08", &one[..]].concat()),
    ];
    for (name, why, bytes) in rows {
        ZIP.add(cases, name, why, &bytes, &[]);
    }
}
