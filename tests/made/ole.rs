//! Compound files, as old Office documents are: sectors, a table of them, a directory.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
    },
    defect::{Kind, ORDER},
};

const XLS: Kind = Kind::new("ole", "xls", workbook);
const OLE: Kind = Kind::new("ole", "ole", storage);

pub(super) fn make(cases: &mut Cases) {
    XLS.make(cases);
    storages(cases);
    records(cases);
}

const NONE: usize = 0xffff_ffff;
const END: usize = 0xffff_fffe;

/// An entry of the directory.
struct Entry<'a> {
    name: &'a str,
    kind: u8,
    child: usize,
    right: usize,
    start: usize,
    size: usize,
}

/// A file of one sector each: table, directory, table of small sectors, small sectors.
fn file(b: &mut Build, stream: &str, content: &[u8], entries: &[Entry<'_>]) {
    let small = content.len().div_ceil(64);
    b.part("head");
    b.raw([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    b.zeros(16);
    b.raw([0x3e, 0]);
    b.le("major version", Choice, 2, 3);
    b.le("order of bytes", Choice, 2, 0xfffe);
    b.le("sector shift", Choice, 2, 9);
    b.le("small sector shift", Choice, 2, 6);
    b.zeros(6 + 4);
    b.le("sectors of the table", Count, 4, 1);
    b.le("first sector of the directory", Offset, 4, 1);
    b.zeros(4);
    b.le("small streams end at", Length, 4, 4096);
    b.le("first sector of the small table", Offset, 4, 2);
    b.le("sectors of the small table", Count, 4, 1);
    b.le("first sector of the long table", Offset, 4, END);
    b.le("sectors of the long table", Count, 4, 0);
    b.le("sector of the table", Offset, 4, 0);
    b.raw([0xff; 108 * 4]);
    b.part("table");
    let from = b.at();
    b.le("entry of the table", Choice, 4, 0xffff_fffd);
    b.le("sector behind the directory", Offset, 4, END);
    b.le("sector behind the small table", Offset, 4, END);
    b.le("sector behind the small sectors", Offset, 4, END);
    b.raw(vec![0xff; 512 - (b.at() - from)]);
    b.part("directory");
    let from = b.at();
    let first = Entry { name: "Root Entry", kind: 5, child: 1, right: NONE, start: 3, size: small * 64 };
    let second = Entry {
        name: stream,
        kind: 2,
        child: NONE,
        right: if entries.is_empty() { NONE } else { 2 },
        start: 0,
        size: content.len(),
    };
    for (index, entry) in [first, second].iter().chain(entries).enumerate() {
        let name: Vec<u8> = entry.name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let end = b.at() + 64;
        b.raw(&name);
        b.bytes.resize(end, 0);
        let names = [
            ["name length of the root", "child of the root", "start of the small sectors", "size of the small sectors"],
            ["name length", "child", "start", "size"],
        ];
        match names.get(index) {
            Some([length, child, start, size]) => {
                b.le(length, Length, 2, name.len() + 2);
                b.raw([entry.kind, 1]);
                b.le("left of an entry", Offset, 4, NONE);
                b.le("right of an entry", Offset, 4, entry.right);
                b.le(child, Offset, 4, entry.child);
                b.zeros(36);
                b.le(start, Offset, 4, entry.start);
                b.le(size, Length, 4, entry.size);
            }
            None => {
                b.raw(u16::try_from(name.len() + 2).unwrap_or_default().to_le_bytes());
                b.raw([entry.kind, 1]);
                for value in [NONE, entry.right, entry.child] {
                    b.raw(u32::try_from(value).unwrap_or_default().to_le_bytes());
                }
                b.zeros(36);
                b.raw(u32::try_from(entry.start).unwrap_or_default().to_le_bytes());
                b.raw(u32::try_from(entry.size).unwrap_or_default().to_le_bytes());
            }
        }
        b.zeros(4);
    }
    b.bytes.resize(from + 512, 0);
    b.part("small table");
    let from = b.at();
    for sector in 0..small {
        let next = if sector + 1 < small { sector + 1 } else { END };
        b.raw(u32::try_from(next).unwrap_or_default().to_le_bytes());
    }
    b.raw(vec![0xff; 512 - (b.at() - from)]);
    b.part("small sectors");
    let from = b.at();
    b.raw(content);
    b.bytes.resize(from + 512, 0);
}

/// A record of a workbook.
fn record(id: u16, body: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &u16::try_from(body.len()).unwrap_or_default().to_le_bytes(), body].concat()
}

/// A sheet of the list of sheets.
fn sheet(hidden: u8, kind: u8, name: &str) -> Vec<u8> {
    record(
        0x85,
        &[&[0, 0, 0, 0, hidden, kind, u8::try_from(name.len()).unwrap_or_default(), 0], name.as_bytes()].concat(),
    )
}

fn begin(kind: u8) -> Vec<u8> {
    record(0x809, &[0, 6, kind, 0, 0xbb, 0x0d, 0xcc, 0x07, 0, 0, 0, 0, 6, 0, 0, 0])
}

fn workbook(b: &mut Build) {
    let name = b.says("sheet name", "Totals");
    let cell = b.says("cell", "the same words");
    let name = String::from_utf8_lossy(&name).into_owned();
    let text = [&u16::try_from(cell.len()).unwrap_or_default().to_le_bytes()[..], &[0], &cell].concat();
    let strings = record(0xfc, &[&[1, 0, 0, 0, 1, 0, 0, 0][..], &text].concat());
    let content = [begin(5), sheet(0, 0, &name), strings, record(0x0a, &[]), begin(0x10), record(0x0a, &[])].concat();
    file(b, "Workbook", &content, &[]);
}

fn storage(b: &mut Build) {
    file(b, "Contents", b"words in a stream of an unknown kind", &[]);
}

/// A storage whose second stream is what matters.
fn with(stream: &str, content: &[u8], entries: &[Entry<'_>]) -> Vec<u8> {
    let mut b = Build::default();
    file(&mut b, stream, content, entries);
    b.bytes
}

fn storages(cases: &mut Cases) {
    let entry = |name, kind, right| Entry { name, kind, child: NONE, right, start: 0, size: 8 };
    let native =
        |program: &[u8]| [&u32::try_from(program.len()).unwrap_or_default().to_le_bytes()[..], program].concat();
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("names-twice", "two streams have one name", with("Contents", b"words", &[entry("Contents", 2, NONE)])),
        ("kind-of-no-meaning", "an entry of a kind that there is not", with("Contents", b"words", &[entry("Other", 9, NONE)])),
        ("second-root", "there are two roots", with("Contents", b"words", &[entry("Root Entry", 5, NONE)])),
        ("entry-is-its-own-neighbour", "an entry is the right neighbour of itself", with("Contents", b"words", &[entry("Other", 2, 2)])),
        ("entry-past-the-directory", "an entry has a neighbour that is not there", with("Contents", b"words", &[entry("Other", 2, 900)])),
        ("folder-holds-itself", "a folder is its own child", with("Contents", b"words", &[Entry { name: "Folder", kind: 1, child: 2, right: NONE, start: 0, size: 0 }])),
        ("folder-holds-the-root", "a folder holds the root", with("Contents", b"words", &[Entry { name: "Folder", kind: 1, child: 0, right: NONE, start: 0, size: 0 }])),
        ("entry-nobody-leads-to", "a stream in the directory that nobody leads to", with("Contents", b"words", &[entry("Other", 2, NONE), entry("Hidden", 2, NONE)])),
        ("package-of-a-program", "an object is a program", with("\u{1}Ole10Native", &native(b"\x02\0a.exe\0C:\\a.exe\0\0\0\x03\0\x04\0\0\0a.e\0\x12\0\0\0MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\0\0"), &[])),
        ("package-longer-than-itself", "an object is longer than its stream", with("\u{1}Ole10Native", &[0xff, 0xff, 0xff, 0x7f, 2, 0, b'a', 0], &[])),
        ("package-of-nothing", "an object is empty", with("\u{1}Ole10Native", &[], &[])),
        ("attack-in-a-stream", "a stream of an unknown kind is an order", with("Contents", ORDER.as_bytes(), &[])),
        ("attack-in-a-stream-of-wide-letters", "a stream of wide letters is an order", with("Contents", &ORDER.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(), &[])),
        ("name-with-control", "the name of a stream has an order to the terminal", with("a\u{1b}[2J", b"words", &[])),
    ];
    for (name, why, bytes) in rows {
        OLE.add(cases, name, why, &bytes, &[]);
    }
}

fn records(cases: &mut Cases) {
    let book = |records: &[Vec<u8>]| with("Workbook", &[begin(5), records.concat()].concat(), &[]);
    let end = || record(0x0a, &[]);
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("record-longer-than-the-stream", "a record is longer than the stream", book(&[vec![0x85, 0, 0xff, 0xff, 0]])),
        ("record-cut", "the last record has half a head", book(&[end(), vec![0x85]])),
        ("records-without-end", "the list of records has no end", book(&[sheet(0, 0, "a")])),
        ("sheet-hidden", "a sheet is hidden", book(&[sheet(1, 0, "a"), end()])),
        ("sheet-of-macros", "a sheet is of macros", book(&[sheet(0, 1, "a"), end()])),
        ("sheet-of-basic", "a sheet is a module of Basic", book(&[sheet(0, 6, "a"), end()])),
        (
            "sheet-name-longer-than-its-record",
            "a sheet has a name longer than its record",
            book(&[record(0x85, &[0, 0, 0, 0, 0, 0, 200, 0, b'a']), end()]),
        ),
        (
            "strings-announced-by-millions",
            "a table of a million strings has one",
            book(&[record(0xfc, &[0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0, 1, 0, 0, b'a']), end()]),
        ),
        (
            "string-longer-than-its-record",
            "a string is longer than its record",
            book(&[record(0xfc, &[1, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0, b'a']), end()]),
        ),
        (
            "string-with-runs-of-nothing",
            "a string says it has styles and has none",
            book(&[record(0xfc, &[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 8, 0xff, 0xff, b'a']), end()]),
        ),
        (
            "password-of-no-method",
            "the workbook is locked in a way that nobody knows",
            book(&[record(0x2f, &[9, 0, 1, 2]), end()]),
        ),
        (
            "attack-in-a-note",
            "a note on a cell is an order",
            book(&[record(0x1b6, &[0; 18]), record(0x3c, &[&[0], ORDER.as_bytes()].concat()), end()]),
        ),
        (
            "attack-in-the-author-of-a-note",
            "the name of who wrote a note is an order",
            book(&[record(0x1c, &[&[0; 8], &[60, 0, 0][..], ORDER.as_bytes()].concat()), end()]),
        ),
        (
            "attack-in-writer",
            "the name of who wrote it is an order",
            book(&[record(0x5c, &[&[60, 0, 0], ORDER.as_bytes()].concat()), end()]),
        ),
        (
            "begins-in-the-middle",
            "the first record is no beginning",
            with("Workbook", &[sheet(0, 0, "a"), end()].concat(), &[]),
        ),
        (
            "version-of-no-meaning",
            "the beginning has a version that there is not",
            with("Workbook", &[record(0x809, &[0, 99, 5, 0, 0, 0, 0, 0]), end()].concat(), &[]),
        ),
    ];
    for (name, why, bytes) in rows {
        XLS.add(cases, name, why, &bytes, &[]);
    }
}
