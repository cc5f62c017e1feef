//! A release has the shape of what came: that of a valid envelope is a valid envelope, which the same adapter reads as
//! the same calls, ended in the same way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, Release, Scanner};
use scanner_fuzz::{RULES, decide, limits, made::envelope::Envelope, scan};

fuzz_target!(|made: Envelope<'_>| {
    let (_, bytes, _) = made.write();
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::auto(bytes);
    let report = scan(&input);
    let verdict = decide(&report, &input);
    for answer in verdict.audiences() {
        let Some(Release::Cleaned(released)) = verdict.release(&answer.audience) else { continue };
        let documents = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(body(line)).is_ok());
            (serde_json::from_str::<serde_json::Value>(&text).is_ok(), lines.count())
        };
        assert_eq!(documents(&input.bytes), documents(&released.bytes), "{}: no JSON any more", answer.audience);
        let second = Scanner::new(RULES.clone(), limits()).scan(Input::auto(released.bytes.clone()));
        let told = |report: &scanner_core::Report| {
            let calls: Vec<_> = report.calls.iter().map(|call| (call.status, call.exit_code)).collect();
            (report.source.kind, report.source.candidates.clone(), report.source.status, calls)
        };
        let came = String::from_utf8_lossy(&input.bytes);
        assert_eq!(told(&report), told(&second), "{}: {came}", answer.audience);
    }
});

/// The document on a line of a stream.
fn body(line: &str) -> &str {
    line.find('{').and_then(|start| line.get(start..)).unwrap_or("-").trim_end()
}
