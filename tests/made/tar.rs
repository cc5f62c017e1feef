//! Tar archives.

use super::{
    Cases,
    build::{
        Build,
        Means::{Kind as Choice, Length, Sum},
        Style,
    },
    defect::{Kind, ORDER},
};

const TAR: Kind = Kind::new("tar", "tar", archive).chain().paths(&["name", "link name"]);

pub(super) fn make(cases: &mut Cases) {
    TAR.make(cases);
    entries(cases);
    descriptions(cases);
}

/// Writes a text into a field of that width.
fn field(b: &mut Build, text: &[u8], width: usize) {
    let end = b.at() + width;
    b.raw(&text[..text.len().min(width)]);
    b.bytes.resize(end, 0);
}

/// Where the sum of a head stands.
const SUM: std::ops::Range<usize> = 148..156;

fn sum_of(head: &[u8]) -> usize {
    head.iter().enumerate().map(|(at, byte)| if SUM.contains(&at) { 32 } else { usize::from(*byte) }).sum()
}

fn archive(b: &mut Build) {
    let from = b.at();
    b.part("head");
    let name = b.says("name", "words.txt");
    field(b, &name, 100);
    octal(b, "mode", Choice, 8, 0o644);
    octal(b, "owner", Choice, 8, 1000);
    octal(b, "group", Choice, 8, 1000);
    let content = b.says("member", "the same words\n");
    octal(b, "size", Length, 12, content.len());
    octal(b, "time", Choice, 12, 1_700_000_000);
    b.raw(b"        ");
    b.be("type", Choice, 1, usize::from(b'0'));
    let link = b.says("link name", "");
    field(b, &link, 100);
    b.raw(b"ustar\x0000");
    let user = b.says("user name", "somebody");
    field(b, &user, 32);
    let group = b.says("group name", "users");
    field(b, &group, 32);
    b.zeros(16);
    b.zeros(155 + 12);
    let sum = sum_of(&b.bytes[from..]);
    let rest = b.bytes.split_off(from + SUM.start);
    octal(b, "sum", Sum, 7, sum);
    b.raw(b" ");
    b.raw(&rest[8..]);
    b.part("member");
    b.raw(content);
    b.align(512);
    b.part("end");
    b.zeros(1024);
}

fn octal(b: &mut Build, name: &'static str, means: super::build::Means, width: usize, value: usize) {
    let hole = b.hole(name, means, width, Style::Octal);
    b.fill(hole, value);
}

/// A head of an entry and its content, as every writer makes them.
fn entry(name: &[u8], kind: u8, mode: &str, link: &[u8], content: &[u8]) -> Vec<u8> {
    let mut b = Build::default();
    field(&mut b, name, 100);
    field(&mut b, mode.as_bytes(), 8);
    b.raw(b"0001750\x000001750\0");
    b.raw(format!("{:011o}\0", content.len()));
    b.raw(b"14524765000\0        ");
    b.raw([kind]);
    field(&mut b, link, 100);
    b.raw(b"ustar\x0000");
    b.zeros(512 - 265);
    let sum = sum_of(&b.bytes);
    b.bytes.splice(SUM, format!("{sum:06o}\0 ").into_bytes());
    b.raw(content);
    b.align(512);
    b.bytes
}

fn whole(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat(), vec![0; 1024]].concat()
}

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    entry(name.as_bytes(), b'0', "0000644", b"", content)
}

fn entries(cases: &mut Cases) {
    let named = |name: &str| whole(&[file(name, b"words\n")]);
    let kind = |kind: u8, link: &str| whole(&[entry(b"thing", kind, "0000644", link.as_bytes(), b"")]);
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("name-climbs-by-backslash", "a name leads out by the strokes of Windows", named("..\\..\\start.bat")),
        ("name-of-a-drive", "a name begins with a drive", named("C:\\start.bat")),
        ("name-of-a-device", "a name is a device of Windows", named("con.txt")),
        ("name-with-escape", "a name has an order to the terminal", named("a\x1b[2J.txt")),
        ("name-turned-around", "a name reads backwards after a sign that nobody sees", named("a\u{202e}txt.exe")),
        ("name-of-no-letters", "a name has no letters", named("")),
        (
            "name-twice",
            "two entries have one name, and the last one wins",
            whole(&[file("a.txt", b"1"), file("a.txt", b"2")]),
        ),
        ("fifo", "an entry is a pipe", kind(b'6', "")),
        ("block-device", "an entry is a device of blocks", kind(b'4', "")),
        ("kind-of-no-meaning", "an entry of a kind that nobody knows", kind(b'Z', "")),
        ("continued-volume", "an entry goes on from another volume", kind(b'M', "")),
        ("link-to-itself", "a link leads to itself", kind(b'2', "thing")),
        ("link-to-root", "a link leads to the root", kind(b'2', "/")),
        ("link-of-nothing", "a link leads nowhere", kind(b'2', "")),
        ("hard-link-to-itself", "a hard link to itself", kind(b'1', "thing")),
        ("world-may-write", "everybody may write the file", whole(&[entry(b"a", b'0', "0000666", b"", b"w")])),
        ("mode-is-no-number", "the mode is a word", whole(&[entry(b"a", b'0', "rwxr-x", b"", b"w")])),
        ("folder-with-content", "a folder has content", whole(&[entry(b"folder/", b'5', "0000755", b"", b"words")])),
        (
            "program-called-text",
            "a program under the name of a text",
            whole(&[file("notes.txt", b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0")]),
        ),
        ("without-end", "there are no zeros at the end, which is allowed", file("a.txt", b"words\n")),
        (
            "zeros-in-the-middle",
            "two blocks of zeros, then another entry",
            whole(&[file("a.txt", b"1"), vec![0; 1024], file("b.txt", ORDER.as_bytes())]),
        ),
        ("padding-holds-an-order", "what fills the last block up is an order", {
            let mut bytes = whole(&[file("a.txt", b"words\n")]);
            bytes.splice(600..600 + ORDER.len(), ORDER.bytes());
            bytes
        }),
        ("honest-old-form", "a head without the word of the standard", {
            let mut head = file("a.txt", b"words\n");
            head.splice(257..265, [0; 8]);
            let sum = sum_of(&head[..512]);
            head.splice(SUM, format!("{sum:06o}\0 ").into_bytes());
            whole(&[head])
        }),
        (
            "honest-folder",
            "a folder and two files",
            whole(&[entry(b"d/", b'5', "0000755", b"", b""), file("d/a.txt", b"1\n"), file("d/b.txt", b"2\n")]),
        ),
    ];
    for (name, why, bytes) in rows {
        TAR.add(cases, name, why, &bytes, &[]);
    }
}

/// Records of a pax header: each begins with its own length.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let length = (rest.len() + 1..).find(|length| length.to_string().len() + rest.len() == *length).unwrap_or_default();
    format!("{length}{rest}")
}

fn descriptions(cases: &mut Cases) {
    let pax = |records: &str| {
        whole(&[entry(b"PaxHeaders/a", b'x', "0000644", b"", records.as_bytes()), file("a.txt", b"words\n")])
    };
    let long = |kind: u8, name: &[u8]| {
        whole(&[entry(b"././@LongLink", kind, "0000644", b"", name), file("a.txt", b"words\n")])
    };
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("honest-described", "a description gives the time of a file", pax(&record("mtime", "1700000000.5"))),
        ("description-gives-a-size", "a description says another size than the head", pax(&record("size", "2"))),
        ("description-size-is-no-number", "a description says a size that is a word", pax(&record("size", "many"))),
        ("description-size-huge", "a description says a size of exabytes", pax(&record("size", "9223372036854775807"))),
        ("description-link-out", "a description says where a link leads: out", pax(&record("linkpath", "/etc/passwd"))),
        ("description-record-length-lies", "a record says it is longer than all records", pax("99 path=b.txt\n")),
        ("description-record-length-zero", "a record of no length", pax("0 path=b.txt\n")),
        ("description-record-without-value", "a record has no value", pax("8 path\n\n")),
        ("description-record-no-number", "a record does not begin with its length", pax("path=b.txt\n")),
        (
            "description-key-twice",
            "a description says the name twice",
            pax(&[record("path", "b.txt"), record("path", "../c.txt")].concat()),
        ),
        ("attack-in-description", "a comment in a description is an order", pax(&record("comment", ORDER))),
        (
            "key-in-description",
            "an extended attribute holds a key",
            pax(&record("SCHILY.xattr.user.key", super::defect::KEY)),
        ),
        ("description-of-nothing", "a description of no records", pax("")),
        (
            "description-alone",
            "a description and no file behind it",
            whole(&[entry(b"x", b'x', "0000644", b"", record("path", "b").as_bytes())]),
        ),
        (
            "global-description-names-all",
            "a description for all files gives a name",
            whole(&[entry(b"g", b'g', "0000644", b"", record("path", "../all").as_bytes()), file("a.txt", b"words\n")]),
        ),
        ("long-name-climbs-out", "a long name leads out of its folder", long(b'L', b"../../etc/cron.d/job\0")),
        ("long-name-of-nothing", "a long name has no letters", long(b'L', b"\0")),
        (
            "long-name-twice",
            "two long names for one file",
            whole(&[
                entry(b"l", b'L', "0000644", b"", b"b.txt\0"),
                entry(b"l", b'L', "0000644", b"", b"c.txt\0"),
                file("a.txt", b"w"),
            ]),
        ),
        (
            "long-link-out",
            "a long name of a link leads out",
            whole(&[entry(b"l", b'K', "0000644", b"", b"/etc/shadow\0"), entry(b"thing", b'2', "0000644", b"x", b"")]),
        ),
        (
            "long-name-alone",
            "a long name and no file behind it",
            whole(&[entry(b"l", b'L', "0000644", b"", b"b.txt\0")]),
        ),
    ];
    for (name, why, bytes) in rows {
        TAR.add(cases, name, why, &bytes, &[]);
    }
}
