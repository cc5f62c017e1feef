//! Time of one call of `sniff` in this process, beside `infer` and `file-format` in the same run, over the shared
//! corpus of types: `cargo bench -p scanner-core --bench sniff`. Says nothing and succeeds where there is no corpus.
#![expect(clippy::print_stdout, reason = "a bench reports to a terminal")]

use std::{
    fs, hint,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Calls timed together; the clock is coarser than one.
const CALLS: u32 = 20;

fn main() {
    let shared = std::env::var_os("SCANNER_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let mut files = Vec::new();
    collect(&shared.join("corpora/types/files"), &mut files);
    // The size that the target is about.
    let near_10_kb: Vec<&Vec<u8>> = files.iter().filter(|bytes| (5_000..20_000).contains(&bytes.len())).collect();
    for (name, set) in [("all", files.iter().collect()), ("5 to 20 kB", near_10_kb)] {
        report(name, "scanner", &set, |bytes| {
            hint::black_box(scanner_core::sniff(bytes));
        });
        report(name, "infer", &set, |bytes| {
            hint::black_box(infer::get(bytes));
        });
        report(name, "file-format", &set, |bytes| {
            hint::black_box(file_format::FileFormat::from_bytes(bytes));
        });
    }
}

fn report(set: &str, what: &str, files: &[&Vec<u8>], call: impl Fn(&[u8])) {
    let mut times: Vec<Duration> = files
        .iter()
        .map(|bytes| {
            let start = Instant::now();
            for _ in 0..CALLS {
                call(bytes);
            }
            start.elapsed() / CALLS
        })
        .collect();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("{set}: {what}: {} files, median {:?}, 99 % below {:?}", files.len(), at(50), at(99));
}

fn collect(folder: &Path, files: &mut Vec<Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.extend(fs::read(&path));
        }
    }
}
