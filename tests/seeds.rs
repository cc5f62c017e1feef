//! Seeds of the fuzz targets: for each target that reads bytes as they come, those cases of the corpus that it can use,
//! with the byte in front that says how. `cargo run -p scanner-tests --bin seeds FOLDER`; `.ci/fuzz` calls it.
#![allow(clippy::unwrap_used, reason = "a folder that cannot be written ends it")]

use std::{fs, path::PathBuf};

use scanner_core::{Kind, Limits, inspected_types, sniff};
use scanner_tests::{cases, decide, how, scanner};

/// What no target takes: they read at most so many bytes.
const LONGEST: usize = 64 << 10;

struct Seeds(PathBuf);

impl Seeds {
    fn put(&self, target: &str, name: &str, first: Option<u8>, bytes: &[u8]) {
        if bytes.len() < LONGEST {
            let folder = self.0.join(target);
            fs::create_dir_all(&folder).unwrap();
            let seed: Vec<u8> = first.into_iter().chain(bytes.iter().copied()).collect();
            fs::write(folder.join(name.replace(['/', '.'], "-")), seed).unwrap();
        }
    }
}

fn main() {
    let seeds = Seeds(std::env::args_os().nth(1).map(PathBuf::from).unwrap());
    let types = inspected_types();
    let scanner = scanner(Limits::default());
    for case in cases() {
        let (name, bytes) = (&*case.name, &*case.bytes);
        let label = sniff(bytes).kind.label;
        let number = types.iter().position(|known| *known == label).and_then(|at| u8::try_from(at).ok());
        let as_given = match how(&case.area) {
            Kind::Text => 1,
            Kind::File => 0,
            _ => 2,
        };
        seeds.put("scan", name, Some(as_given), bytes);
        // Patterns stand at the start.
        seeds.put("browser_vs_standard", name, None, bytes.get(..96).unwrap_or(bytes));
        if let Some(number) = number {
            seeds.put("inspect", name, Some(number), bytes);
            seeds.put("clean", name, Some(number), bytes);
        }
        if std::str::from_utf8(bytes).is_ok() {
            seeds.put("text", name, None, bytes);
        }
        if bytes.starts_with(b"PK") || case.area == "zip" {
            seeds.put("zip_vs_others", name, None, bytes);
        }
        if label == "pdf" || case.area == "pdf" {
            seeds.put("pdf_vs_lopdf", name, None, bytes);
            seeds.put("pdf_vs_hayro", name, None, bytes);
        }
        if bytes.starts_with(b"{") || bytes.starts_with(b"[") {
            seeds.put("json_vs_serde", name, None, bytes);
        }
        let packed = ["gz", "zlib", "deflate", "bz2", "xz", "zst", "deflate64", "lzma", "lz4"];
        if let Some(number) = packed.iter().position(|end| case.file_name.ends_with(&format!(".{end}"))) {
            seeds.put("inflate", name, u8::try_from(number).ok(), bytes);
        }
        // A receipt is long and says little that another does not.
        if case.area == "e2b" || case.area == "stream" {
            let receipt = decide(&scanner.scan(case.input()), "default").receipt();
            seeds.put("receipt", name, Some(0), receipt.as_str().as_bytes());
            seeds.put("receipt", &format!("{name}-signed"), Some(2), receipt.as_str().as_bytes());
        }
    }
    for (name, text) in scanner_rules::FILES {
        seeds.put("rules", name, None, text.as_bytes());
    }
    for (name, text) in scanner_rules::POLICIES {
        seeds.put("policy", name, None, text.as_bytes());
        // Each clause as a policy of its own: what is short is changed at the right place sooner.
        for (at, clause) in text.split("[[when]]").skip(1).enumerate() {
            let alone = format!("schema = \"scanner.policy/v1\"\nname = \"a\"\n\n[[when]]{clause}");
            seeds.put("policy", &format!("{name}-{at}"), None, alone.as_bytes());
        }
    }
}
