//! Every case of the corpus gives what its golden says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;

use scanner_tests::{cases, golden, scanner};

#[test]
fn every_case_gives_what_its_golden_says() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let got = golden(&scanner(case.limits()).scan(case.input()));
        if bless {
            fs::write(&case.want, got).unwrap();
            continue;
        }
        let want = fs::read_to_string(&case.want).unwrap_or_default();
        if got != want {
            wrong.push(format!("--- {}\n{}", case.name, difference(&want, &got)));
        }
    }
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
    let wants: Vec<_> = cases().into_iter().map(|case| case.want).collect();
    for area in fs::read_dir(scanner_tests::root().join("corpus")).unwrap() {
        let area = area.unwrap().path();
        if area.is_dir() {
            for file in fs::read_dir(area).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "want") {
                    assert!(
                        wants.iter().any(|want| want.file_name() == path.file_name()),
                        "{} has no case",
                        path.display()
                    );
                }
            }
        }
    }
}
