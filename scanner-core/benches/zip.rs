//! Time to list a zip of twenty members in this process, with everything held against everything, beside the `zip`
//! crate listing the same bytes; and how cost grows with size on honest and on hostile archives:
//! `cargo bench -p scanner-core --bench zip`.
//!
//! The name of a shape and a number as arguments run that shape once, so large: for a tool that counts instructions,
//! whose figures a busy machine does not move. Zero is the cost of the start.
//!
//! glibc gives memory of a few megabytes back after each scan, and the next one pays for its pages again: with
//! `MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000` growth is that of the work alone.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench reports to a terminal")]

use std::{
    hint,
    io::{Cursor, Write as _},
    time::{Duration, Instant},
};

use bytes::Bytes;
use scanner_core::{Limits, Resource, inspect_alone};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Calls timed together; the clock is coarser than one.
const CALLS: u32 = 50;

fn main() {
    if let Some((name, size)) = asked() {
        let shape = SHAPES.iter().find(|(known, _)| *known == name).filter(|_| size > 0);
        return shape.into_iter().for_each(|(_, make)| inspect(&make(4_000 * size)));
    }
    let twenty = honest(20);
    let ours = fastest(CALLS, || inspect(&twenty));
    let theirs = fastest(CALLS, || {
        let mut archive = ZipArchive::new(Cursor::new(&twenty[..])).expect("it is sound");
        let sizes: u64 = (0..archive.len()).filter_map(|at| archive.by_index(at).ok().map(|file| file.size())).sum();
        hint::black_box((sizes, archive.has_overlapping_entries()).0);
    });
    println!("20 members, {} bytes: scanner {ours:?}, zip {theirs:?}", twenty.len());
    for (name, make) in SHAPES {
        let (once, twice) = (make(4_000), make(8_000));
        let (once, twice) = (fastest(1, || inspect(&once)).as_secs_f64(), fastest(1, || inspect(&twice)).as_secs_f64());
        println!("{name}: {:.2} ms, twice as much {:.2} ms: {:.2}", once * 1e3, twice * 1e3, twice / once);
    }
}

/// The name of a shape and how large it is to be, from the command line.
fn asked() -> Option<(String, usize)> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    Some((arguments.next()?, arguments.next()?.parse().ok()?))
}

fn inspect(bytes: &Bytes) {
    // Nothing stops it early: what is measured is the growth.
    let limits = Limits::default().with(Resource::Entries, 1 << 40).with(Resource::Steps, 1 << 40);
    hint::black_box(inspect_alone("zip", bytes, limits));
}

fn fastest(calls: u32, mut call: impl FnMut()) -> Duration {
    let times = (0..9).map(|_| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().checked_div(calls).unwrap_or_default()
    });
    times.min().unwrap_or_default()
}

/// An archive of that shape and size.
type Shape = (&'static str, fn(usize) -> Bytes);

const SHAPES: &[Shape] = &[
    ("honest", honest),
    ("long names", |n| archive((0..n).map(|n| format!("{}{n}.txt", "a/".repeat(500))))),
    ("names of one shape", |n| archive((0..n).map(|n| format!("{n}{}", "é".repeat(100))))),
    ("only ends", |n| b"PK\x05\x06\0\0\0\0\x01\0\x01\0".repeat(n).into()),
    ("only headers", |n| b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a".repeat(n).into()),
    ("only letters of signatures", |n| [b"PK\x03\x04\x14\0\x08\0\x08".to_vec(), b"PK".repeat(n)].concat().into()),
];

fn honest(members: usize) -> Bytes {
    archive((0..members).map(|number| format!("results/run {number}/table.csv")))
}

fn archive(names: impl Iterator<Item = String>) -> Bytes {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names {
        writer.start_file(name, SimpleFileOptions::default()).expect("memory is enough");
        writer.write_all(b"a,b\n1,2\n").expect("memory is enough");
    }
    writer.finish().expect("memory is enough").into_inner().into()
}
