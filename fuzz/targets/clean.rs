//! Every cleaner, reached directly: the first byte picks the type. What it makes is of the same type, cleaning it again
//! changes nothing, and its inspector has nothing against it that a cleaner claims to take out.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Limits, Resource, Severity, clean_alone, inspect_alone};
use scanner_fuzz::{held, labelled, limits};

/// What acts and what cleaners take out by themselves. Files inside stay as they are here, and so do the texts: shell
/// words in a cell of a notebook are the washer's.
const GONE: [&str; 11] = [
    "active.",
    "exec.pdf_launch",
    "html.",
    "macro.",
    "net.auto_open",
    "net.external_template",
    "script.formula",
    "script.notebook",
    "script.pdf_js",
    "script.xfa",
    "type.trailing_data",
];

fuzz_target!(|data: &[u8]| {
    let Some((label, bytes)) = labelled(data) else { return };
    let bytes = Bytes::copy_from_slice(bytes);
    let limits = limits();
    let cleaned = held(|| (clean_alone(label, &bytes, limits), Limits::NOTHING.with(Resource::Steps, 5_000_000)));
    let Some(Ok(cleaned)) = cleaned else { return };
    let again = clean_alone(label, &cleaned, limits).expect("the same cleaner");
    // Of a file at its limits, cleaning may grow what is in it past them.
    match again {
        Ok(again) => assert_eq!(again, cleaned, "{label}: cleaned again it is another"),
        Err(why) if why.contains("the limit on") => {}
        Err(why) => panic!("{label}: what was cleaned cannot be cleaned: {why}"),
    }
    let seen = inspect_alone(label, &cleaned, limits).expect("what has a cleaner has an inspector");
    for finding in seen.findings {
        let is_odd = finding.severity >= Severity::Medium;
        let is_of = |family: &&str| finding.rule.category.starts_with(*family);
        assert!(!(is_odd && GONE.iter().any(|family| is_of(&family))), "{label}: it is left: {finding:?}");
    }
});
