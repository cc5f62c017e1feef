//! Every file of the shared corpora, whole and cut: nothing panics, and the answers stay within the table.

use std::{
    fs,
    path::{Path, PathBuf},
};

use scanner_core::{declared_type, mismatch, sniff, type_of};

/// Larger files say nothing more about bounds and cost a debug build seconds.
const LARGEST_BYTES: u64 = 32_000;
/// Places at which each file is cut.
const CUTS: usize = 64;

#[test]
fn no_file_and_no_prefix_of_one_panics() {
    let shared = std::env::var_os("SCANNER_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let types = shared.join("corpora/types/files");
    if !types.is_dir() {
        // The corpora are not part of the project.
        return;
    }
    let mut files = Vec::new();
    collect(&types, &mut files);
    collect(&shared.join("corpora/files"), &mut files);
    assert!(!files.is_empty());
    for path in files {
        let Ok(bytes) = fs::read(&path) else { continue };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        for cut in 0..=CUTS {
            // Near the start every byte is a field: half of the cuts lie there.
            let share = bytes.len() * cut / CUTS;
            let end = if cut < CUTS / 2 { share.min(cut * 2) } else { share };
            let sniffed = sniff(&bytes[..end]);
            assert!(type_of(sniffed.kind.label).is_some());
            assert!(sniffed.also.iter().all(|kind| kind.label != sniffed.kind.label), "{}", path.display());
            assert!(sniffed.trailing.is_none_or(|at| at < end as u64), "{}", path.display());
            let _ = mismatch(&sniffed, name.as_deref(), Some("image/png"));
        }
        let whole = sniff(&bytes);
        let promised = declared_type(name.as_deref().unwrap_or_default());
        assert!(promised.is_empty() || promised.contains('/'), "{} {}", path.display(), whole.kind.label);
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            collect(&entry.path(), files);
        } else if meta.len() <= LARGEST_BYTES {
            files.push(entry.path());
        }
    }
}
