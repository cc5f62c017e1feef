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
