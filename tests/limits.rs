//! What a case spent is exactly what it needs.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;

use scanner_core::{Limits, Reason, Resource};
use scanner_tests::{cases, each, scanner, seen};

/// What the worker process is held to is not spent by the core.
fn of_the_core() -> impl Iterator<Item = Resource> {
    Resource::ALL.into_iter().filter(|resource| !resource.is_of_process())
}

#[test]
fn what_a_case_spent_is_enough_for_the_same_report() {
    let wrong = Mutex::new(Vec::new());
    each(&cases(), |case| {
        let first = scanner(case.limits()).scan(case.input());
        let again = scanner(first.spent).scan(case.input());
        if seen(&again) != seen(&first) {
            wrong.lock().unwrap().push(case.name.clone());
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "what they spent is not enough for: {}", wrong.join(", "));
}

#[test]
fn one_less_of_anything_is_a_gap_that_names_it() {
    let wrong = Mutex::new(Vec::new());
    each(&cases(), |case| {
        let first = scanner(case.limits()).scan(case.input());
        for resource in of_the_core().filter(|resource| *resource != Resource::Findings) {
            let Some(less) = first.spent.get(resource).checked_sub(1) else { continue };
            let poor = scanner(first.limits.with(resource, less)).scan(case.input());
            if !poor.gaps.iter().any(|gap| gap.reason == Reason::Limit(resource)) {
                wrong.lock().unwrap().push(format!("{}: {resource}: {:?}", case.name, poor.gaps));
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "one less is not told:\n{}", wrong.join("\n"));
}

#[test]
fn one_finding_less_is_counted_and_decides_all_the_same() {
    each(&cases(), |case| {
        let first = scanner(case.limits()).scan(case.input());
        let Some(less) = first.spent.get(Resource::Findings).checked_sub(1) else { return };
        let poor = scanner(first.limits.with(Resource::Findings, less)).scan(case.input());
        assert_eq!(poor.totals, first.totals, "{}", case.name);
        assert_eq!(poor.findings.len() as u64, less, "{}", case.name);
        for policy in ["default", "strict", "permissive"] {
            let decisions = |report| {
                let verdict = scanner_tests::decide(report, policy);
                verdict.audiences().iter().map(|audience| audience.decision).collect::<Vec<_>>()
            };
            assert_eq!(decisions(&poor), decisions(&first), "{} under {policy}", case.name);
        }
    });
}

#[test]
fn the_door_takes_its_limit_and_not_one_byte_more() {
    let scanner = scanner(Limits::default().with(Resource::EnvelopeBytes, 10));
    let at = scanner.scan(scanner_core::Input::text("0123456789"));
    assert!(at.gaps.is_empty() && at.refusal.is_none(), "{:?}", at.gaps);
    let past = scanner.scan(scanner_core::Input::text("0123456789a"));
    assert_eq!(past.refusal.as_ref().unwrap().code, "too_large");
    assert_eq!(past.gaps.first().unwrap().reason, Reason::Limit(Resource::EnvelopeBytes));
    assert!(past.artifacts.is_empty());
}
