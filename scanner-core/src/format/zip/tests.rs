use proptest::prelude::*;

use super::*;
use crate::{
    format::testing::{Seen, look},
    limits::{Limits, Resource},
};

mod clean;

/// One member, as the builder writes it twice: before its data and in the directory.
#[derive(Clone)]
struct Made {
    name: Vec<u8>,
    data: Vec<u8>,
    method: u16,
    flags: u16,
    mode: u32,
    size: Option<u32>,
    crc: Option<u32>,
    extra: Vec<u8>,
    local_name: Option<Vec<u8>>,
    local_extra: Vec<u8>,
    comment: Vec<u8>,
    descriptor: Vec<u8>,
    offset: Option<u32>,
}

fn member(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Made {
    Made {
        name: name.as_ref().to_vec(),
        data: data.as_ref().to_vec(),
        method: 0,
        flags: 0,
        mode: 0o100_644,
        size: None,
        crc: None,
        extra: Vec::new(),
        local_name: None,
        local_extra: Vec::new(),
        comment: Vec::new(),
        descriptor: Vec::new(),
        offset: None,
    }
}

/// A member that is packed.
fn deflated(name: &str, data: &[u8]) -> Made {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, data).unwrap();
    let (size, crc) = (Some(data.len() as u32), Some(crc_of(data)));
    Made { method: 8, size, crc, ..member(name, encoder.finish().unwrap()) }
}

fn crc_of(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

/// An archive, and where each local header, each record and the end begin.
struct Built {
    bytes: Vec<u8>,
    locals: Vec<usize>,
    records: Vec<usize>,
    end: usize,
}

fn build(members: &[Made]) -> Built {
    let (mut bytes, mut directory, mut locals, mut records) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let fields = |made: &Made, in_local: bool| {
        let later = in_local && made.flags & 8 != 0;
        let size = made.size.unwrap_or(made.data.len() as u32);
        let packed = made.data.len() as u32;
        let crc = made.crc.unwrap_or_else(|| crc_of(&made.data));
        let name = made.local_name.as_ref().filter(|_| in_local).unwrap_or(&made.name);
        let extra = if in_local { &made.local_extra } else { &made.extra };
        let mut out = vec![20, 0];
        out.extend(made.flags.to_le_bytes());
        out.extend(made.method.to_le_bytes());
        out.extend([0; 4]);
        for value in [crc, packed, size] {
            out.extend(if later { 0 } else { value }.to_le_bytes());
        }
        out.extend((name.len() as u16).to_le_bytes());
        out.extend((extra.len() as u16).to_le_bytes());
        (out, name.clone(), extra.clone())
    };
    for made in members {
        let at = bytes.len() as u32;
        locals.push(bytes.len());
        let (head, name, extra) = fields(made, true);
        for part in [&b"PK\x03\x04"[..], &head, &name, &extra, &made.data, &made.descriptor] {
            bytes.extend(part);
        }
        let (head, name, extra) = fields(made, false);
        records.push(directory.len());
        for part in [&b"PK\x01\x02\x14\x03"[..], &head] {
            directory.extend(part);
        }
        directory.extend((made.comment.len() as u16).to_le_bytes());
        directory.extend([0; 4]);
        directory.extend((made.mode << 16).to_le_bytes());
        directory.extend(made.offset.unwrap_or(at).to_le_bytes());
        for part in [&name, &extra, &made.comment] {
            directory.extend(part);
        }
    }
    let start = bytes.len();
    records.iter_mut().for_each(|at| *at += start);
    bytes.extend(&directory);
    let end = bytes.len();
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        bytes.extend((members.len() as u16).to_le_bytes());
    }
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend((start as u32).to_le_bytes());
    bytes.extend([0, 0]);
    Built { bytes, locals, records, end }
}

fn zip(members: &[Made]) -> Vec<u8> {
    build(members).bytes
}

fn seen(bytes: &[u8]) -> Seen {
    Seen::limited(&FORMAT, "zip", bytes, Limits::default())
}

/// What is said, without the places.
fn said(bytes: &[u8]) -> Vec<String> {
    let facts = seen(bytes).facts();
    facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[track_caller]
fn says(bytes: &[u8], want: &[&str]) {
    assert_eq!(said(bytes), want);
}

#[track_caller]
fn name_says(name: &str, want: &[&str]) {
    says(&zip(&[member(name, "x")]), want);
}

fn names(seen: &Seen) -> Vec<String> {
    seen.children.iter().map(|child| child.name.clone().unwrap_or_default()).collect()
}

/// An archive with something of everything, and no fault.
fn everything() -> Built {
    let packed = b"\x4b\x4c\x4a\x06\0"; // deflate of "abc"
    let mut deflated = member("out/a.txt", packed);
    (deflated.method, deflated.size, deflated.crc) = (8, Some(3), Some(crc_of(b"abc")));
    deflated.comment = b"first".to_vec();
    let mut streamed = member("b.txt", "streamed");
    streamed.flags = 8;
    streamed.descriptor = b"PK\x07\x08".to_vec();
    streamed.descriptor.extend(crc_of(b"streamed").to_le_bytes());
    streamed.descriptor.extend([8, 0, 0, 0, 8, 0, 0, 0]);
    let mut folder = member("out/", "");
    folder.mode = 0o40_755;
    build(&[folder, deflated, streamed, member("empty", "")])
}

#[test]
fn an_honest_archive_is_silent_and_its_members_are_children() {
    let seen = seen(&everything().bytes);
    assert_eq!(seen.facts(), [""; 0]);
    assert_eq!(names(&seen), ["out/a.txt", "b.txt"]);
    assert_eq!(seen.texts(), ["first\n", "out/\nempty\n"]);
    assert_eq!(seen.children[0].claim, Some(Claim { size: Some(3), crc32: Some(crc_of(b"abc")) }));
    assert_eq!(seen.children[0].source.codec, Codec::Deflate);
    assert_eq!(seen.spent(Resource::Entries), 4);
}

#[test]
fn names_in_every_spelling() {
    for climbs in ["../a", "a/../../b", "..\\a", "a\\..\\..\\b", "..", "a/.. /b"] {
        assert!(said(&zip(&[member(climbs, "x")])).contains(&"high path.traversal".to_owned()), "{climbs}");
    }
    for absolute in ["/a", "\\a", "C:\\a", "c:a", "\\\\host\\share", "//host/a", "\\\\?\\C:\\a", "\\\\.\\COM1"] {
        assert!(said(&zip(&[member(absolute, "x")])).contains(&"high path.absolute".to_owned()), "{absolute}");
    }
    for special in [
        "a\0b",
        "a\x1b[2Jb",
        "aux",
        "dir/NUL.txt",
        "com1",
        "lpt9.log",
        "CONOUT$",
        "a. ",
        "a.",
        "...",
        "a/.../b",
        ".",
        "~/.bashrc",
        "~root/x",
        "file.txt:evil",
        "xy::$DATA",
        "a\\b",
        "\u{2025}/a",
        "\u{ff0e}\u{ff0e}/a",
        "%2e%2e/a",
        "%2e%2e%2fa",
        "..%5ca",
        "%252e%252e%252fa",
        "a\u{202e}b",
        "a\u{200b}b",
    ] {
        name_says(special, &["medium path.special_name"]);
    }
    name_says(&"a".repeat(300), &["medium path.special_name"]);
    for honest in [
        "a..b/c..txt",
        ".bashrc",
        "..a",
        "a/.hidden",
        "console.log",
        "auxiliary",
        "communication.txt",
        "2024-01-01T10:30:00.png",
        "Title: words.txt",
        "~$document.docx",
        "a~1.txt",
        "50%.txt",
        "100%2.txt",
        "ünïcode/é.txt",
        "日本語.txt",
        "index.html.js",
        "data.tar.gz",
        "my file (1).pdf",
        "a/./b",
    ] {
        name_says(honest, &[]);
    }
}

#[test]
fn programs_under_the_names_of_documents() {
    for name in [
        "invoice.pdf.exe",
        "a/photo.jpg.scr",
        "report.docx          .exe",
        "evil.exe.",
        "evil.exe ",
        "x\u{202e}fdp.exe",
    ] {
        assert!(said(&zip(&[member(name, "x")])).contains(&"high exec.name".to_owned()), "{name}");
    }
    for honest in ["setup.exe", "v1.2.exe", "a.min.js", "deploy.sh", "app.txt"] {
        name_says(honest, &[]);
    }
}

#[test]
fn names_in_other_encodings() {
    let mut overlong = member(b"\xc0\xae\xc0\xae/evil", "x");
    says(&zip(&[overlong.clone()]), &["medium path.special_name"]);
    overlong.flags = 0x800;
    says(&zip(&[overlong]), &["medium path.special_name"]);
    let seen = seen(&zip(&[member(b"caf\x82.txt", "x")]));
    assert_eq!((seen.facts(), names(&seen)), (vec![], vec!["café.txt".to_owned()]));
}

/// Info-ZIP's extra field for a name in UTF-8.
fn unicode_path(raw: &[u8], path: &str) -> Vec<u8> {
    let mut extra = b"\x75\x70".to_vec();
    extra.extend((path.len() as u16 + 5).to_le_bytes());
    extra.push(1);
    extra.extend(crc_of(raw).to_le_bytes());
    extra.extend(path.as_bytes());
    extra
}

#[test]
fn a_name_of_an_extra_field() {
    let mut lies = member("a.txt", "x");
    lies.extra = unicode_path(b"a.txt", "../b.txt");
    says(&zip(&[lies]), &["high path.traversal", "medium zip.header_mismatch"]);
    let mut honest = member(b"caf\x82.txt", "x");
    honest.extra = unicode_path(b"caf\x82.txt", "café.txt");
    says(&zip(&[honest]), &[]);
    let mut chinese = member(b"\xd6\xd0\xce\xc4/a.txt", "x");
    chinese.extra = unicode_path(&chinese.name, "中文/a.txt");
    let seen = seen(&zip(&[chinese]));
    assert_eq!((seen.facts(), names(&seen)), (vec![], vec!["中文/a.txt".to_owned()]));
    let mut local = member("a.txt", "x");
    local.local_extra = unicode_path(b"a.txt", "b.txt");
    says(&zip(&[local]), &["medium zip.header_mismatch"]);
}

#[test]
fn links_devices_and_rights() {
    let with = |name: &str, mode: u32, data: &str| Made { mode, ..member(name, data) };
    says(&zip(&[with("a/l", 0o120_777, "b.txt")]), &["medium path.symlink"]);
    says(&zip(&[with("a/l", 0o120_777, "../b.txt")]), &["medium path.symlink"]);
    says(&zip(&[with("l", 0o120_777, "../b.txt")]), &["high path.symlink", "high path.traversal"]);
    says(&zip(&[with("l", 0o120_777, "/etc/passwd")]), &["high path.absolute", "high path.symlink"]);
    let through = [with("d", 0o120_777, "e"), member("d/evil", "x")];
    says(&zip(&through), &["high path.symlink", "medium path.symlink"]);
    let chain = [with("a", 0o120_777, "."), with("a/b", 0o120_777, "..")];
    assert!(said(&zip(&chain)).contains(&"high path.traversal".to_owned()));
    for mode in [0o020_666, 0o060_660, 0o010_644, 0o140_755] {
        says(&zip(&[with("dev", mode, "")]), &["high path.device"]);
    }
    says(&zip(&[with("x", 0o104_755, "x")]), &["medium path.special_mode"]);
    says(&zip(&[with("x", 0o100_755, "x"), with("d/", 0o042_755, "")]), &[]);
}

#[test]
fn names_that_are_one() {
    let twice = |one: &str, other: &str| said(&zip(&[member(one, "x"), member(other, "y")]));
    for (one, other) in
        [("a", "a"), ("a", "A"), ("é", "e\u{301}"), ("a/b", "a//b"), ("a/b", "./a/b"), ("Straße", "straße")]
    {
        assert_eq!(twice(one, other), ["medium zip.duplicate_name"], "{one} {other}");
    }
    assert_eq!(twice("a.class", "A.class"), ["low zip.duplicate_name"]);
    assert_eq!(twice("a", "b"), [""; 0]);
    says(&zip(&[member("d/", ""), member("d/", "")]), &[]);
}

#[test]
fn the_header_before_a_member_disagrees() {
    let built = everything();
    // Name, method, encryption, checksum, sizes of the deflated member.
    for (at, bit) in [(30, 1), (8, 1), (6, 1), (14, 1), (18, 1), (22, 1)] {
        let mut bytes = built.bytes.clone();
        bytes[built.locals[1] + at] ^= bit;
        assert!(said(&bytes).contains(&"medium zip.header_mismatch".to_owned()), "field {at}: {:?}", said(&bytes));
    }
    let descriptor = built.locals[3] - 12;
    let mut bytes = built.bytes.clone();
    bytes[descriptor] ^= 1;
    says(&bytes, &["medium zip.header_mismatch"]);
}

#[test]
fn encrypted_and_unknown_methods_are_gaps() {
    let with = |flags, method| {
        let secret = Made { flags, method, ..member("a", "secret bytes") };
        said(&zip(&[secret.clone(), Made { name: b"b".to_vec(), ..secret }]))
    };
    assert_eq!(with(1, 0), ["gap encrypted"]);
    assert_eq!(with(0x41, 8), ["gap encrypted"]);
    assert_eq!(with(1, 99), ["gap encrypted"]);
    assert_eq!(with(0, 97), ["gap unsupported"]);
    // Only the directory says that a key is needed: what reads from the front needs none.
    let built = build(&[member("a", "open")]);
    let mut bytes = built.bytes.clone();
    bytes[built.records[0] + 8] = 1;
    let seen = seen(&bytes);
    assert_eq!(names(&seen), ["a"]);
}

#[test]
fn members_that_share_bytes() {
    let shared = [member("a", "x"), Made { offset: Some(0), ..member("a", "x") }];
    let bytes = zip(&shared);
    let facts = said(&bytes);
    assert!(facts.contains(&"high bomb.overlap".to_owned()), "{facts:?}");
    let named = names(&seen(&bytes)).into_iter().filter(|name| !name.is_empty());
    assert_eq!(named.collect::<Vec<_>>(), ["a"], "read once");
}

#[test]
fn what_belongs_to_no_member() {
    let built = build(&[member("a", "x"), member("b", "y")]);
    let archive = &built.bytes;
    let moved = |at: usize, insert: &[u8], by: &[usize]| {
        let mut bytes = archive.clone();
        for field in by {
            let value = u32::from_le_bytes(bytes[*field..field + 4].try_into().unwrap()) + insert.len() as u32;
            bytes[*field..field + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes.splice(at..at, insert.iter().copied());
        bytes
    };
    let (second, directory) = (built.records[1] + 42, built.end + 16);
    let between = moved(built.locals[1], b"some hidden bytes here", &[second, directory]);
    says(&between, &["medium malformed.structure"]);
    assert_eq!(&seen(&between).children[2].source.packed[..], b"some hidden bytes here");
    let local = zip(&[member("c", "z")])[..32].to_vec();
    says(&moved(built.locals[1], &local, &[second, directory]), &["medium zip.hidden_entry"]);
    says(&moved(built.locals[1], &[0; 40], &[second, directory]), &[]);
    let before = moved(0, b"junk", &[]);
    says(&before, &["medium malformed.structure"]);
    says(
        &[archive, &b"behind the end, and more"[..]].concat(),
        &["medium malformed.structure", "medium type.trailing_data"],
    );
    let two = [&zip(&[member("c", "z")]), &archive[..]].concat();
    let facts = said(&two);
    for want in ["medium type.polyglot", "medium type.prefix_data", "medium zip.hidden_entry"] {
        assert!(facts.contains(&want.to_owned()), "{want}: {facts:?}");
    }
}

#[test]
fn a_far_end_record_is_found() {
    let bytes = [zip(&[member("a", "x")]), vec![b'z'; 70_000]].concat();
    says(&bytes, &["medium malformed.structure", "medium type.trailing_data"]);
}

#[test]
fn large_archives() {
    let large = |count: u64, size: u64, offset: u64, at: u64| {
        let built = build(&[member("a", "x")]);
        let mut bytes = built.bytes[..built.end].to_vec();
        let here = bytes.len() as u64;
        bytes.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
        for value in [count, count, size, offset] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend((here + at).to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        bytes
    };
    says(&large(1, 47, 32, 0), &[]);
    says(&large(1 << 62, 47, 32, 0), &["medium malformed.structure"]);
    says(&large(1, 1 << 62, 32, 0), &["medium malformed.structure"]);
    assert!(!said(&large(1, 47, 1 << 62, 0)).is_empty());
    assert!(!said(&large(1, 47, 33, 0)).is_empty());
}

#[test]
fn sizes_that_cannot_be() {
    let built = build(&[member("a", "xyz")]);
    let mut bytes = built.bytes.clone();
    for at in [built.locals[0] + 22, built.records[0] + 24] {
        bytes[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    }
    says(&bytes, &["medium zip.size_lie", "medium malformed.structure"]);
}

#[test]
fn without_a_directory_the_headers_before_the_members_are_read() {
    let built = everything();
    let cut = &built.bytes[..built.records[0]];
    let seen = seen(cut);
    assert_eq!(seen.facts(), [format!("gap malformed offset {}", cut.len())]);
    assert_eq!(names(&seen), ["out/a.txt", "b.txt"]);
    assert_eq!(&seen.children[1].source.packed[..], b"streamed");
}

#[test]
fn packages_are_named() {
    says(&zip(&[member("manifest.json", "{\"manifest_version\": 3}")]), &["medium exec.package"]);
    says(&zip(&[member("manifest.json", "{\"name\": \"a page\"}")]), &[]);
    says(&zip(&[member("extension.vsixmanifest", "x")]), &["medium exec.package"]);
    let java = Seen::limited(&FORMAT, "jar", &zip(&[member("META-INF/MANIFEST.MF", "x")]), Limits::default());
    assert_eq!(java.facts(), ["high exec.jar 0..16"]);
}

#[test]
fn parts_are_found_and_read_by_name() {
    let bytes = everything().bytes.into();
    let kind = sniff::type_of("zip").unwrap();
    let subject = Subject { bytes: &bytes, kind };
    let (mut findings, mut gaps) = (crate::finding::Findings::keeping(10), Vec::new());
    let mut out = Out::new(crate::bundle::ArtifactId(0), &subject, &mut findings, &mut gaps);
    let mut budget = Budget::new(Limits::default());
    let archive = open(&subject, &mut out, &mut budget);
    assert_eq!(archive.entries().len(), 4);
    let entry = archive.find("OUT/A.txt").unwrap();
    assert_eq!(&archive.read(entry, &mut out, &mut budget).unwrap()[..], b"abc");
    assert!(archive.find("out/a.tx").is_none());
    assert_eq!(archive.finish(&mut out), Ok(()));
    assert_eq!((findings.finish().0.len(), gaps.len()), (0, 0));
}

#[test]
fn a_cut_at_every_byte_is_noticed() {
    let whole = everything().bytes;
    for length in 1..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn a_lie_in_every_length_and_offset_is_noticed() {
    let built = everything();
    let mut fields: Vec<(usize, usize)> = Vec::new();
    for local in &built.locals[1..2] {
        fields.extend([(local + 18, 4), (local + 22, 4), (local + 26, 2), (local + 28, 2)]);
    }
    for record in &built.records {
        fields.extend([(record + 20, 4), (record + 28, 2), (record + 30, 2), (record + 32, 2), (record + 42, 4)]);
    }
    fields.extend([
        (built.end + 8, 2),
        (built.end + 10, 2),
        (built.end + 12, 4),
        (built.end + 16, 4),
        (built.end + 20, 2),
    ]);
    for (at, width) in fields {
        for lie in [1_u32, 0x7fff, 0x7fff_ffff, u32::MAX] {
            let mut bytes = built.bytes.clone();
            let mut field = [0; 4];
            field[..width].copy_from_slice(&bytes[at..at + width]);
            let told = u32::from_le_bytes(field).wrapping_add(lie).to_le_bytes();
            bytes[at..at + width].copy_from_slice(&told[..width]);
            if bytes != built.bytes {
                assert!(!seen(&bytes).facts().is_empty(), "{width} bytes at {at} plus {lie}");
            }
        }
    }
}

#[test]
fn what_it_spent_is_exactly_what_it_needs() {
    let bytes = everything().bytes;
    let first = seen(&bytes);
    let mut limits = Limits::NOTHING;
    for resource in Resource::ALL {
        limits = limits.with(resource, first.spent(resource));
    }
    assert_eq!(Seen::limited(&FORMAT, "zip", &bytes, limits).facts(), [""; 0]);
    for resource in Resource::ALL {
        if first.spent(resource) > 0 {
            let tight = limits.with(resource, first.spent(resource) - 1);
            let facts = Seen::limited(&FORMAT, "zip", &bytes, tight).facts();
            assert!(facts.contains(&format!("gap limit:{resource}")), "{resource}: {facts:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_entries_stop_at_the_limit() {
    let members: Vec<Made> = (0..20_000).map(|number| member(format!("{number}"), "")).collect();
    let seen = seen(&zip(&members));
    assert!(seen.facts().contains(&"gap limit:entries".to_owned()));
    assert_eq!(seen.spent(Resource::Entries), 10_000);
}

/// Time must grow with the input and not with its square, on honest and on hostile archives:
/// `cargo test -p scanner-core --lib format::zip -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn cost_is_linear() {
    type Make = fn(usize) -> Vec<u8>;
    let shapes: [(&str, Make); 7] = [
        ("honest", |n| zip(&(0..n).map(|n| member(format!("folder/file {n}.txt"), "some words")).collect::<Vec<_>>())),
        ("one name", |n| zip(&vec![member("same", "x"); n])),
        ("one header", |n| zip(&vec![Made { offset: Some(0), ..member("same", "x") }; n])),
        ("deep names", |n| zip(&(0..n).map(|n| member(format!("{}{n}", "a/".repeat(500)), "x")).collect::<Vec<_>>())),
        ("links", |n| {
            zip(&(0..n)
                .map(|n| Made { mode: 0o120_777, ..member(format!("{}{n}", "a/".repeat(50)), "b") })
                .collect::<Vec<_>>())
        }),
        ("false ends", |n| b"PK\x05\x06\0\0\0\0\x01\0\x01\0".repeat(n * 10)),
        ("headers only", |n| b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a".repeat(n)),
    ];
    let limits = Limits::default().with(Resource::Entries, 1 << 40).with(Resource::Steps, 1 << 40);
    let cost = |bytes: &[u8]| {
        let run = || {
            let start = std::time::Instant::now();
            std::hint::black_box(Seen::limited(&FORMAT, "zip", bytes, limits));
            start.elapsed()
        };
        (0..5).map(|_| run()).min().unwrap_or_default().as_secs_f64()
    };
    for (name, make) in shapes {
        let (one, two) = (make(4_000), make(8_000));
        let (one, two) = (cost(&one), cost(&two));
        println!("{name}: {:.2} ms, twice {:.2} ms, ratio {:.2}", one * 1e3, two * 1e3, two / one);
    }
}

proptest! {
    #[test]
    fn any_damage_is_survived(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = everything().bytes;
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        for finding in &seen(&bytes).findings {
            if let Some(span) = finding.span {
                prop_assert!(span.start <= span.end && span.end <= bytes.len() as u64);
            }
        }
    }
}
