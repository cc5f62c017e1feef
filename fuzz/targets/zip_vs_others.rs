//! Three readers of one zip: every member that the crates `zip` or `rawzip` read whole, with its checksum, the scanner
//! has looked at too, or has said that the archive is odd or was not seen to its end. An archive that shows one thing to
//! the scanner and another to whoever unpacks it is how filters are passed by.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, Report, sha256_hex};
use scanner_fuzz::{is_warned, scan, tells};

/// Bytes of a member that are read; more of it is a bomb to us.
const MOST: u64 = 1 << 20;
/// Types that are zips and nothing more: parts of a document are read as what they are, and are no artifacts.
const ZIPS: [&str; 7] = ["zip", "jar", "apk", "whl", "npz", "pytorch", "keras"];

fn whole(reader: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MOST).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty() && (bytes.len() as u64) < MOST).then_some(bytes)
}

fn by_zip(data: &[u8]) -> Vec<Vec<u8>> {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(data)) else { return Vec::new() };
    let files = (0..archive.len().min(64)).filter_map(|at| {
        let member = archive.by_index(at).ok()?;
        if is_plain(member.unix_mode().unwrap_or(0)) { whole(member) } else { None }
    });
    files.collect()
}

/// What leads elsewhere or is a device is told by its mode.
fn is_plain(mode: u32) -> bool {
    matches!(mode & 0o170_000, 0 | 0o100_000 | 0o040_000)
}

/// What it reads, and whether the data of two members share bytes.
fn by_rawzip(data: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut found = Vec::new();
    let mut ranges = Vec::new();
    let Ok(archive) = rawzip::ZipArchive::from_slice(data) else { return (found, false) };
    let mut entries = archive.entries();
    while let Ok(Some(entry)) = entries.next_entry() {
        if found.len() == 64 {
            break;
        }
        let Ok(member) = archive.get_entry(entry.wayfinder()) else { continue };
        if !is_plain(entry.mode().value()) {
            continue;
        }
        let range = member.compressed_data_range();
        ranges.extend((range.0 < range.1).then_some(range));
        found.extend(match entry.compression_method() {
            rawzip::CompressionMethod::STORE => whole(member.verifying_reader(member.data())),
            rawzip::CompressionMethod::DEFLATE => {
                whole(member.verifying_reader(flate2::read::DeflateDecoder::new(member.data())))
            }
            _ => None,
        });
    }
    ranges.sort_unstable();
    let shares = ranges.windows(2).any(|pair| pair[1].0 < pair[0].1);
    (found, shares)
}

fn has(report: &Report, bytes: &[u8]) -> bool {
    let digest = sha256_hex(bytes);
    report.artifacts.iter().any(|artifact| artifact.sha256 == digest)
}

fuzz_target!(|data: &[u8]| {
    let report = scan(&Input::file("a.zip", data.to_vec()));
    let (by_rawzip, shares) = by_rawzip(data);
    let is_zip = report.artifacts.first().is_some_and(|first| ZIPS.contains(&first.kind.label));
    let is_told = tells(&report, "bomb.overlap") || !report.gaps.is_empty();
    assert!(!shares || !is_zip || is_told, "members share bytes, and nothing is said of it");
    if is_warned(&report) {
        return;
    }
    let Some(first) = report.artifacts.first() else { return };
    // What is a zip inside and read as something else; where the sniffer sees no zip at all, readers that do are told.
    let is_document = data.starts_with(b"PK") && !ZIPS.contains(&first.kind.label);
    if is_document {
        return;
    }
    for (reader, members) in [("zip", by_zip(data)), ("rawzip", by_rawzip)] {
        for member in members {
            // Readers that do not believe the mode of another system take the target of a link for a file.
            let is_target = tells(&report, "path.symlink") && !member.iter().any(u8::is_ascii_control);
            assert!(is_target || has(&report, &member), "{reader} reads {:?} in a {}", member, first.kind.label);
        }
    }
});
