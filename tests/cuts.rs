//! Every file of the shared data cut at 32 places, each piece scanned: no panic, a verdict within a second of CPU and
//! 256 MiB, and no piece of a file that was complete is clean and complete where the format can tell.
//!
//! `.ci/long cuts` runs it; without the shared data it does nothing. Figures go to the standard output.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints its figures")]

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use scanner_core::{Decision, Input, Limits, Severity};
use scanner_tests::{decide, scanner, shared};

/// Pieces of each file.
const PIECES: usize = 32;
/// What one scan may take of a processor, in a build for release.
const MOST_CPU: Duration = Duration::from_secs(1);
/// What the program may take of memory beside the file it has in hand, in KiB.
const MOST_MEMORY: u64 = 256 * 1024;

/// Formats that say of themselves how long they are, or where they end: a piece that is silent is a fault of ours. Not
/// tar, which may end between any two members.
const TELLING: &[&str] = &[
    "png",
    "jpeg",
    "gif",
    "bmp",
    "webp",
    "tiff",
    "ico",
    "avif",
    "heic",
    "jxl",
    "pdf",
    "zip",
    "docx",
    "xlsx",
    "pptx",
    "odt",
    "ods",
    "odp",
    "epub",
    "gzip",
    "bzip2",
    "xz",
    "zstd",
    "7z",
    "sqlite",
    "hdf5",
    "npy",
    "pickle",
    "safetensors",
    "gguf",
    "parquet",
    "doc",
    "xls",
    "ppt",
    "msg",
    "ole",
    "rtf",
    "ipynb",
    "json",
    "svg",
    "xml",
];

#[derive(Default)]
struct Figures {
    pieces: usize,
    silent: usize,
}

fn main() -> ExitCode {
    let Some(shared) = shared() else {
        println!("cuts: no shared data here");
        return ExitCode::SUCCESS;
    };
    let mut files = Vec::new();
    for folder in ["corpora/files", "corpora/types"] {
        below(&shared.join(folder), &mut files);
    }
    files.sort();
    let (next, figures, faults) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    cut(path, &figures, &faults);
                }
            });
        }
    });
    let (figures, faults) = (figures.into_inner().unwrap(), faults.into_inner().unwrap());
    let pieces: usize = figures.values().map(|figures: &Figures| figures.pieces).sum();
    for (label, figures) in &figures {
        println!("{label}\t{} pieces\t{} clean and complete", figures.pieces, figures.silent);
    }
    for fault in &faults {
        println!("FAULT {fault}");
    }
    println!("cuts: {} files, {pieces} pieces, peak {} MiB, {} faults", files.len(), peak() / 1024, faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}

/// The most memory that the program ever had, in KiB, as Linux tells it.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

/// What a scan says, in short: the type, whether anything is told, and the decision.
struct Told {
    label: &'static str,
    is_silent: bool,
}

fn scan(name: &str, bytes: &[u8]) -> Result<Told, String> {
    let from = cpu();
    let before = peak();
    let scanned = catch_unwind(AssertUnwindSafe(|| {
        let report = scanner(Limits::default()).scan(Input::file(name, bytes.to_vec()));
        let verdict = decide(&report, "default");
        let is_told = report.findings.iter().any(|finding| finding.severity > Severity::Info);
        let is_allowed = verdict.audiences().iter().all(|answer| answer.decision == Decision::Allow);
        let label = report.artifacts.first().map_or("none", |artifact| artifact.kind.label);
        (Told { label, is_silent: !is_told && report.gaps.is_empty() && is_allowed }, verdict.audiences().len())
    }));
    let (told, audiences) = scanned.map_err(|_| "a panic".to_owned())?;
    if audiences == 0 {
        return Err("no verdict".to_owned());
    }
    let took = cpu().saturating_sub(from);
    if took > MOST_CPU {
        return Err(format!("{} ms of CPU", took.as_millis()));
    }
    let grown = peak().saturating_sub(before);
    if grown > MOST_MEMORY {
        return Err(format!("{} MiB of memory", grown / 1024));
    }
    Ok(told)
}

fn cut(path: &Path, figures: &Mutex<BTreeMap<&'static str, Figures>>, faults: &Mutex<Vec<String>>) {
    let Ok(bytes) = fs::read(path) else { return };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fault = |at: usize, what: &str| {
        faults.lock().unwrap().push(format!("{} at {at} of {}: {what}", path.display(), bytes.len()));
    };
    let whole = match scan(&name, &bytes) {
        Ok(whole) => whole,
        Err(what) => return fault(bytes.len(), &what),
    };
    // Of a page of text nobody can tell that more was to come, nor of pixels of JPEG XL without boxes around them or in a
    // box that reaches to the end of the file, nor of JSON in letters of two bytes, which is read as text.
    let reaches_to_the_end = whole.label == "jxl" && bytes.windows(8).any(|window| window == b"\0\0\0\0jxlc");
    let is_bare = bytes.starts_with(b"\xff\x0a") || reaches_to_the_end || whole.label == "json" && bytes.contains(&0);
    let tells = whole.is_silent && TELLING.contains(&whole.label) && !is_bare;
    // What fills up the last row of a bitmap and the file behind it, or the last sector of a compound file, may go.
    let spare = match whole.label {
        "bmp" => 6,
        "doc" | "xls" | "ppt" | "msg" | "ole" => 512,
        _ => 0,
    };
    let mut ends: Vec<usize> = (0..PIECES).map(|piece| bytes.len() * (2 * piece + 1) / (2 * PIECES)).collect();
    // The last bytes are where formats have their end.
    ends.extend([1, 2, 4].iter().filter_map(|less| bytes.len().checked_sub(*less)));
    for end in ends {
        match scan(&name, &bytes[..end]) {
            Ok(piece) => {
                let is_lost = tells && piece.is_silent && piece.label == whole.label && end > 0;
                let mut figures = figures.lock().unwrap();
                let figures = figures.entry(whole.label).or_default();
                figures.pieces += 1;
                if is_lost {
                    figures.silent += 1;
                    // A line break or padding may go.
                    let is_more = bytes[end..].iter().any(|byte| !matches!(byte, 0 | b'\n' | b'\r' | b' '));
                    if is_more && bytes.len() - end > spare {
                        fault(end, "clean and complete, and it is not");
                    }
                }
            }
            Err(what) => fault(end, &what),
        }
    }
}
