//! What other engines said about the same input: a hit is a finding, no answer is a gap.

use super::{EngineAnswer, Run, letters};
use crate::{
    bundle::ArtifactId,
    finding::{Confidence, Finding, Gap, Reason, Rule, RuleText, Severity, fingerprint, visible},
};

static SIGNATURE: Rule = Rule::built_in(
    "engine/signature",
    "malware.signature",
    Severity::Critical,
    Confidence::High,
    RuleText {
        title: "An engine knows this as malware",
        why: "Somebody has seen these very bytes do harm.",
        remedy: "Do not pass it on. Ask how it came about: an honest run does not make malware.",
    },
);

/// The rules of this file.
pub(super) const RULES: &[&Rule] = &[&SIGNATURE];

/// Longest name of a signature, or reason, that is repeated. An engine is another program: its words are bounded.
const LONGEST: usize = 128;

fn bounded(words: &str) -> String {
    visible(&words.chars().take(LONGEST).collect::<String>())
}

impl Run<'_> {
    /// Takes down what the engines said. Only what says `clean` is clean.
    pub(super) fn hear(&mut self, engines: &[EngineAnswer]) {
        // A file by itself is its only outermost artifact; what was found in an envelope may be in any of several.
        let mut outermost = self.records.iter().filter(|record| record.parent.is_none()).map(|record| record.id);
        let only: Option<ArtifactId> = outermost.next().filter(|_| outermost.next().is_none());
        for engine in engines {
            let name = bounded(&engine.name);
            if let Some(found) = engine.answer.strip_prefix("found: ") {
                let found = bounded(found);
                let mut finding = Finding::built_in(&SIGNATURE).message(format!("{name} calls it {found}"));
                finding.fingerprint = fingerprint(&SIGNATURE.id, &name, found.as_bytes());
                finding.artifact = only;
                self.findings.add(finding);
            } else if letters::is_answer(engine) {
                // Whether it is about these pictures is seen when they are read.
            } else if engine.answer != "clean" || engine.name == letters::ENGINE {
                let why = engine.answer.strip_prefix("unavailable: ").unwrap_or("it gave no answer that can be read");
                self.gaps.push(Gap::new(Reason::EngineUnavailable, format!("{name} did not look: {}", bounded(why))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Limits, Report, RuleSet, Scanner};

    fn scan(input: Input, answer: &str) -> Report {
        let scanner = Scanner::new(RuleSet::built_in(&[]).unwrap(), Limits::default());
        scanner.scan_beside(input, |_| vec![EngineAnswer::of("clamav", answer)].into())
    }

    #[test]
    fn a_hit_is_a_finding_in_the_file() {
        let report = scan(Input::file("a.txt", &b"hello"[..]), "found: Win.Test.\u{202e}EICAR\n1");
        assert_eq!(report.findings.len(), 1);
        let found = &report.findings[0];
        assert_eq!((&*found.rule.category, found.artifact), ("malware.signature", Some(ArtifactId(0))));
        assert_eq!(found.message, format!("clamav calls it {}", visible("Win.Test.\u{202e}EICAR\n1")));
        assert!(report.is_complete());
        assert_eq!(report.facts.engines[0].answer, "found: Win.Test.\u{202e}EICAR\n1");
    }

    #[test]
    fn only_clean_is_clean() {
        assert!(scan(Input::text(&b"hello"[..]), "clean").is_complete());
        for answer in ["unavailable: silent for 5 s", "Clean", "clean ", "", "OK"] {
            let report = scan(Input::text(&b"hello"[..]), answer);
            assert_eq!(report.gaps[0].reason, Reason::EngineUnavailable, "{answer:?}");
            assert!(report.findings.is_empty());
        }
        let long = scan(Input::text(&b"a"[..]), &format!("unavailable: {}", "é".repeat(500)));
        assert_eq!(long.gaps[0].detail.chars().filter(|c| *c == 'é').count(), LONGEST);
    }

    #[test]
    fn recorded_answers_give_the_same_report() {
        let beside = scan(Input::text(&b"hello"[..]), "found: A");
        let mut input = Input::text(&b"hello"[..]);
        input.facts.engines = beside.facts.engines.clone();
        let scanner = Scanner::new(RuleSet::built_in(&[]).unwrap(), Limits::default());
        let again = scanner.scan(input);
        assert_eq!(again.findings[0].fingerprint, beside.findings[0].fingerprint);
        assert_eq!(again.facts, beside.facts);
    }
}
