use super::{build::Build, *};
use crate::{
    format::{
        Format,
        testing::{Seen, look},
    },
    limits::Limits,
};

fn open(bytes: &[u8]) -> Compound {
    let bytes = Bytes::copy_from_slice(bytes);
    let kind = crate::sniff::type_of("ole").unwrap();
    let subject = crate::format::Subject { bytes: &bytes, kind };
    let mut findings = crate::finding::Findings::keeping(100);
    let mut gaps = Vec::new();
    let mut out = Out::new(crate::bundle::ArtifactId(0), &subject, &mut findings, &mut gaps);
    Compound::open(&bytes, None, &Place::default(), &mut out, &mut Budget::new(Limits::default())).unwrap()
}

fn read(compound: &Compound, at: usize) -> Vec<u8> {
    compound.stream(at, &mut Budget::new(Limits::default())).unwrap().bytes.to_vec()
}

/// The walk alone, for what it reports.
static WALK: Format = Format {
    name: "walk",
    labels: &[],
    inspect: |subject, out, budget| Compound::open(subject.bytes, None, &Place::default(), out, budget).map(drop),
    clean: None,
    rules: &[],
};

fn facts(bytes: &[u8]) -> Vec<String> {
    look(&WALK, "ole", bytes)
        .facts()
        .into_iter()
        .map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect()
}

fn sample() -> Build {
    Build::new()
        .stream("small", b"a few bytes")
        .stream("folder/large", &[7; 9000])
        .stream("folder/inner/more", &[9; 200])
        .storage("empty")
}

#[test]
fn everything_is_found_where_it_is() {
    let bytes = sample().bytes();
    assert_eq!(facts(&bytes), [""; 0]);
    let compound = open(&bytes);
    let root = compound.find(0, "SMALL").unwrap();
    assert_eq!(read(&compound, root), b"a few bytes");
    let names: Vec<String> = (1..compound.entries().len()).map(|at| compound.path(at)).collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sorted, ["empty", "folder", "folder/inner", "folder/inner/more", "folder/large", "small"]);
    let at = |path: &str| 1 + names.iter().position(|name| name == path).unwrap();
    assert_eq!(read(&compound, at("folder/large")), [7; 9000]);
    assert_eq!(read(&compound, at("folder/inner/more")), [9; 200]);
    assert_eq!(compound.find(at("folder"), "large"), Some(at("folder/large")));
    assert_eq!(compound.find(0, "large"), None);
    let stream = compound.stream(root, &mut Budget::new(Limits::default())).unwrap();
    let span = stream.span(2..5);
    assert_eq!(&bytes[span.start as usize..span.end as usize], b"few");
    assert!(compound.tail().is_empty());
}

#[test]
fn each_lie_is_told() {
    let whole = sample().bytes();
    let directory = 512 + 512 * u32::from_le_bytes(whole[48..52].try_into().unwrap()) as usize;
    let table = 512 + 512 * u32::from_le_bytes(whole[76..80].try_into().unwrap()) as usize;
    let with = |at: usize, value: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        facts(&bytes)
    };
    let slot = |path: &str, at: usize| directory + sample().slot(path) * 128 + at;
    assert_eq!(with(0, b"x"), ["gap malformed"]);
    assert_eq!(with(30, &[0xff, 0xff]), ["medium malformed.structure", "gap malformed"]);
    assert_eq!(with(26, &[4, 0]), ["medium malformed.structure"]);
    assert_eq!(with(28, &[0, 0]), ["medium malformed.structure"]);
    assert_eq!(with(32, &[7, 0]), ["medium malformed.structure"]);
    assert_eq!(with(48, &[0xf0, 0xff, 0, 0]), ["medium malformed.truncated", "gap malformed"]);
    let rootless = ["medium malformed.structure", "medium malformed.truncated", "low malformed.structure"];
    assert_eq!(with(directory + 66, &[1]), rootless);
    assert_eq!(with(directory + 76, &[0; 4]), ["medium bomb.recursion", "low malformed.structure"]);
    assert_eq!(with(slot("small", 72), &[1, 0, 0, 0]), ["medium bomb.recursion", "low malformed.structure"]);
    assert_eq!(with(slot("small", 72), &[99, 0, 0, 0]), ["medium malformed.structure", "low malformed.structure"]);
    assert_eq!(with(slot("folder", 76), &[2, 0, 0, 0])[0], "medium bomb.recursion");
    assert_eq!(with(slot("folder/large", 120), &[0, 0, 0, 0x7f]), ["medium malformed.truncated"]);
    assert_eq!(with(slot("small", 116), &[0xff, 0, 0, 0]), ["medium malformed.truncated"]);
    assert_eq!(with(slot("small", 116), &[1, 0, 0, 0]), ["medium bomb.overlap"]);
    assert_eq!(with(slot("folder/large", 116), &[1, 0, 0, 0]), ["medium malformed.truncated"]);
    // The large stream begins in sector 0: back to itself, to a table, to nothing.
    assert_eq!(with(table, &[0, 0, 0, 0]), ["medium bomb.recursion"]);
    assert_eq!(with(table, &[0xff; 4]), ["medium malformed.structure"]);
    assert_eq!(with(table, &[0, 0, 0xff, 0]), ["medium malformed.truncated"]);
    assert_eq!(with(44, &[0xff; 4]), ["medium malformed.structure"]);
    // A list of tables that is its own next one, though none is needed.
    let mut looped = whole.clone();
    looped[68..76].copy_from_slice(&[1, 0, 0, 0, 1, 0, 0, 0]);
    looped[512 + 512 + 508..][..4].copy_from_slice(&[1, 0, 0, 0]);
    assert_eq!(facts(&looped), ["medium bomb.recursion", "medium bomb.overlap"]);
    // One table listed twice is one table.
    assert_eq!(with(80, &whole[76..80]), [""; 0], "no more tables are read than the file has room for");
}

#[test]
fn a_cut_anywhere_is_never_clean() {
    let whole = sample().bytes();
    for length in (0..whole.len()).step_by(61) {
        assert!(!facts(&whole[..length]).is_empty(), "{length}");
    }
}

#[test]
fn work_is_linear_when_everything_is_named_again_and_again() {
    // Every entry says that its stream is the same chain: the chain is followed once.
    let cost = |streams: usize| {
        let mut build = Build::new().stream("first", &vec![1; 200 * streams + 4096]);
        for at in 0..streams {
            build = build.stream(&format!("s{at}"), &[2; 4096]);
        }
        let mut bytes = build.bytes();
        let directory = 512 + 512 * u32::from_le_bytes(bytes[48..52].try_into().unwrap()) as usize;
        for at in 1..=streams {
            bytes[directory + at * 128 + 116..][..4].copy_from_slice(&[0; 4]);
            bytes[directory + at * 128 + 120..][..4].copy_from_slice(&[0xff, 0xff, 0xff, 0]);
        }
        let seen = Seen::limited(&WALK, "ole", &bytes, Limits::default());
        seen.spent(Resource::Steps) as f64
    };
    assert!(cost(200) / cost(100) < 2.3);
}

proptest::proptest! {
    #[test]
    fn noise_in_the_tables_never_panics(at in 24_usize..6000, noise in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..64)) {
        let mut bytes = sample().bytes();
        let at = at.min(bytes.len() - noise.len());
        bytes[at..at + noise.len()].copy_from_slice(&noise);
        let _ = facts(&bytes);
    }
}
