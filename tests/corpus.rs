//! Every case of the corpus gives what its golden says; what a program made is what the program makes; and the table in
//! `corpus/README.md` counts them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::Mutex,
};

use scanner_core::Severity;
use scanner_tests::{Case, cases, each, golden, made, root, scanner};

/// Whether goldens and counts are written anew.
fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn every_case_gives_what_its_golden_says() {
    let wrong = Mutex::new(Vec::new());
    each(&cases(), |case| {
        let report = scanner(case.limits()).scan(case.input());
        let got = golden(&report);
        // What is honest stays silent: facts that anybody may see, and what is told to be fetched, aside.
        let is_loud = report.findings.iter().any(|finding| finding.severity > Severity::Info);
        if case.name.split('/').nth(1).unwrap().starts_with("honest") && is_loud {
            wrong.lock().unwrap().push(format!("--- {} is loud\n{got}", case.name));
        }
        if bless() {
            fs::write(&case.want, got).unwrap();
            return;
        }
        let want = fs::read_to_string(&case.want).unwrap_or_default();
        if got != want {
            wrong.lock().unwrap().push(format!("--- {}\n{}", case.name, difference(&want, &got)));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Lines that are only in one of the two.
fn difference(want: &str, got: &str) -> String {
    let gone = want.lines().filter(|line| !got.lines().any(|other| other == *line)).map(|line| format!("- {line}\n"));
    let come = got.lines().filter(|line| !want.lines().any(|other| other == *line)).map(|line| format!("+ {line}\n"));
    gone.chain(come).collect()
}

#[test]
fn damaged_pictures_of_codes_are_survived() {
    for case in cases().into_iter().filter(|case| case.area == "qr") {
        let scanner = scanner(case.limits());
        let mut seed = 1_u64;
        for _ in 0..100 {
            let mut broken = case.clone();
            for _ in 0..3 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(seed >> 33).unwrap() % broken.bytes.len();
                broken.bytes[at] ^= u8::try_from(seed >> 24 & 0xff).unwrap();
            }
            let report = scanner.scan(broken.input());
            assert_eq!(report.artifacts.first().unwrap().size, broken.bytes.len() as u64, "{}", case.name);
        }
    }
}

#[test]
fn every_golden_has_its_case() {
    let wants: BTreeSet<_> = cases().into_iter().map(|case| case.want).collect();
    for area in fs::read_dir(root().join("corpus")).unwrap() {
        let area = area.unwrap().path();
        if area.is_dir() {
            for file in fs::read_dir(area).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "want") {
                    assert!(wants.contains(&path), "{} has no case", path.display());
                }
            }
        }
    }
}

#[test]
fn no_two_cases_of_an_area_are_the_same() {
    let mut seen: BTreeMap<(String, Vec<u8>), String> = BTreeMap::new();
    for Case { name, area, file_name, bytes, .. } in cases() {
        // The name is part of what is scanned: by its ending above all.
        let ending = file_name.rsplit('.').next().unwrap().to_owned();
        if let Some(twin) = seen.insert((format!("{area}/{ending}"), bytes), name.clone()) {
            panic!("{name} is {twin} again");
        }
    }
}

/// Making it again gives the same bytes; nothing stays that is no longer made, and nothing made is missing.
#[test]
fn what_is_made_is_what_the_program_makes() {
    const AGAIN: &str = "cargo run -p scanner-tests --bin make-corpus";
    let made = made::all();
    assert_eq!(fs::read_to_string(root().join(made::LIST)).unwrap(), made::list(&made), "{AGAIN}");
    for case in made {
        let file = fs::read(root().join("corpus").join(&case.name)).unwrap_or_default();
        assert!(file == case.file, "{} is not as it is made: {AGAIN}", case.name);
        assert!(file.len() < 20_000, "{}: {} bytes", case.name, file.len());
    }
}

/// Rows of the table begin with the area, how many of its cases were written by hand, and how many a program made.
#[test]
fn the_table_counts_every_area() {
    let path = root().join("corpus/README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let list = fs::read_to_string(root().join(made::LIST)).unwrap();
    let made: BTreeSet<&str> = list.lines().filter_map(|line| line.split('\t').next()).collect();
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for case in cases() {
        let is_made = usize::from(made.contains(case.name.as_str()));
        for area in [case.area, "all".to_owned()] {
            let count = counts.entry(area).or_default();
            count[is_made] += 1;
        }
    }
    let mut rewritten = String::new();
    for line in readme.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.get(1).and_then(|area| counts.remove(*area)) {
            Some([hand, program]) => {
                let proves = cells.get(4).copied().unwrap_or_default();
                rewritten.push_str(&format!("| {} | {hand} | {program} | {proves} |\n", cells[1]));
            }
            None => rewritten.push_str(&format!("{line}\n")),
        }
    }
    assert!(counts.is_empty(), "the table has no row for {:?}", counts.keys());
    if bless() {
        fs::write(path, rewritten).unwrap();
        return;
    }
    assert!(readme == rewritten, "corpus/README.md counts otherwise: BLESS=1 counts anew");
}
