//! Time of a scan and of a cleaning of charts in this process, beside a decode with the `png` crate in the same run, over
//! the shared corpus of files: `cargo bench -p scanner-core --bench png`. Says nothing and succeeds where there is no
//! corpus.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to a terminal, and may stop")]

use std::{
    fs, hint,
    path::PathBuf,
    time::{Duration, Instant},
};

use bytes::Bytes;
use scanner_core::{Input, Limits, Resource, RuleSet, Scanner, clean_alone};

/// Rounds over all charts; the best counts.
const ROUNDS: u32 = 15;

fn main() {
    let shared = std::env::var_os("SCANNER_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let Ok(folder) = fs::read_dir(shared.join("corpora/files/png_honest")) else { return };
    let mut charts: Vec<Vec<u8>> = folder
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("mpl_"))
        .flat_map(|entry| fs::read(entry.path()))
        .collect();
    charts.sort_unstable();
    let rules = RuleSet::built_in(scanner_rules::FILES).unwrap();
    let scanner = Scanner::new(rules.clone(), Limits::default());
    // With QR codes looked for, as who asks for it gets them.
    let looking = Scanner::new(rules, Limits::default().with(Resource::CodePixels, 1 << 24));
    let [mut decoded, mut scanned, mut looked, mut cleaned] = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        decoded = decoded.min(time(&charts, |chart| {
            let mut reader = png::Decoder::new(std::io::Cursor::new(chart)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            hint::black_box(reader.next_frame(&mut pixels).unwrap());
        }));
        scanned = scanned.min(time(&charts, |chart| {
            hint::black_box(scanner.scan(Input::file("chart.png", chart.to_vec())));
        }));
        looked = looked.min(time(&charts, |chart| {
            hint::black_box(looking.scan(Input::file("chart.png", chart.to_vec())));
        }));
        cleaned = cleaned.min(time(&charts, |chart| {
            hint::black_box(clean_alone("png", &Bytes::copy_from_slice(chart), Limits::default()));
        }));
    }
    let share = |of: Duration| of.as_secs_f64() / decoded.as_secs_f64();
    let (scan, look, clean) = (share(scanned), share(looked), share(cleaned));
    println!("{} charts: decode {decoded:?}", charts.len());
    println!("scan {scanned:?}: {scan:.2} of a decode");
    println!("scan for codes too {looked:?}: {look:.2} of a decode");
    println!("clean {cleaned:?}: {clean:.2} of a decode");
    let before: usize = charts.iter().map(Vec::len).sum();
    let cleaned =
        |chart: &Vec<u8>| clean_alone("png", &chart.clone().into(), Limits::default()).unwrap().unwrap().len();
    println!("{before} bytes become {}", charts.iter().map(cleaned).sum::<usize>());
}

fn time(charts: &[Vec<u8>], call: impl Fn(&[u8])) -> Duration {
    let start = Instant::now();
    charts.iter().for_each(|chart| call(chart));
    start.elapsed()
}
