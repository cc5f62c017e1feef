//! The whole scan: any bytes, as a file, a text or an envelope. It must return, within its budget, and say the same
//! when it is asked again with exactly what it spent.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scanner_core::{Audience, Input, Kind, Limits, Policy, Resource, RuleSet, Scanner, verdict_json};

static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::built_in(scanner_rules::FILES).unwrap());
static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let text = scanner_rules::POLICIES.iter().find(|(name, _)| *name == "default").unwrap().1;
    Policy::parse("default", text, &|_| None).unwrap()
});

/// Small enough that a run stays far below a second.
fn limits() -> Limits {
    Limits::default()
        .with(Resource::UnpackedBytes, 4 << 20)
        .with(Resource::Pixels, 1 << 20)
        .with(Resource::Steps, 5_000_000)
        .with(Resource::Artifacts, 200)
}

fuzz_target!(|data: &[u8]| {
    let Some((how, bytes)) = data.split_first() else { return };
    let mut input = Input::file("a.bin", bytes.to_vec());
    input.kind = match how % 3 {
        0 => Kind::File,
        1 => Kind::Text,
        _ => Kind::Auto,
    };
    let report = Scanner::new(RULES.clone(), limits()).scan(input.clone());
    for resource in Resource::ALL {
        assert!(report.spent.get(resource) <= report.limits.get(resource), "{resource}");
    }
    for finding in &report.findings {
        let artifact = finding.artifact.map(|id| &report.artifacts[id.0 as usize]);
        if let (Some(span), Some(artifact)) = (finding.span, artifact) {
            assert!(span.start <= span.end && span.end <= artifact.size, "{finding:?} is not in {artifact:?}");
        }
    }
    let verdict = report.decide(&POLICY, &Audience::BUILT_IN, None);
    let first = verdict_json(&verdict);
    let again = Scanner::new(RULES.clone(), report.spent).scan(input);
    assert_eq!(report.findings.len(), again.findings.len());
    assert_eq!(report.gaps, again.gaps);
    assert!(first.len() < 64 << 20);
});
