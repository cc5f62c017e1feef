//! Every cell of the tables of the contract, for every shipped policy.

use super::*;
use crate::finding::{CATEGORIES, Reason};

/// What a category is decided as for page, terminal, model, download: `.` allow, `s` sanitize, `r` review, `b` block,
/// and `t`: block, but as text allow. Written from the contract's table, independently of the policy files.
fn row(category: &str, severity: Severity) -> &'static str {
    let (family, _) = category.split_once('.').unwrap();
    let high = severity >= Severity::High;
    match family {
        _ if severity <= Severity::Low => "....",
        "bomb" | "exec" | "macro" | "path" | "embed" | "net" | "pickle" | "script" | "type" | "zip" if high => "bbtb",
        "malware" | "xml" => "bbtb",
        "injection" if high => "rrsr",
        "injection" => "..s.",
        "hidden" | "terminal" => "sssr",
        "html" | "active" => "s..s",
        "secret" | "privacy" => "ssss",
        "bomb" | "exec" | "path" | "embed" | "pickle" | "zip" | "malformed" | "pdf" | "office" => "rrrr",
        _ => match category {
            "script.notebook" => "s..s",
            "pii.card" | "pii.iban" | "pii.national_id" => "ssss",
            "url.exfiltration" | "url.internal" | "url.credentials" => "ssss",
            "script.pdf_js" | "script.xfa" | "script.formula" | "script.server" => "s..s",
            "net.external_ref" | "net.auto_open" | "net.external_template" => "s..s",
            "type.trailing_data" | "macro.dde" => "s..s",
            "net.link" | "url.lookalike" | "policy.reference" => "....",
            "pii.email" | "pii.phone" | "pii.ip" => "rrrr",
            _ => match family {
                "macro" | "type" | "script" => "rrrr",
                _ => panic!("the table has no row for {category}"),
            },
        },
    }
}

fn cell(row: &str, audience: &Audience, is_text: bool) -> Decision {
    let at = Audience::BUILT_IN.iter().position(|built_in| built_in == audience).unwrap();
    match row.as_bytes()[at] {
        b'.' => Decision::Allow,
        b's' => Decision::Sanitize,
        b'r' => Decision::Review,
        b't' if is_text => Decision::Allow,
        b'b' | b't' => Decision::Block,
        other => panic!("{other}"),
    }
}

fn stricter(decision: Decision) -> Decision {
    Decision::ALL.into_iter().find(|other| *other > decision).unwrap_or(Decision::Block)
}

/// The front door: one finding in one artifact, one audience.
#[track_caller]
fn check(policy: &Policy, category: &str, severity: Severity, is_text: bool, audience: &Audience, expect: Decision) {
    let mut host = artifact(0);
    host.is_text = is_text;
    let case = case(vec![host], vec![finding("f0", Some(0), category, severity)], vec![]);
    let answer = decide_for(policy, &case, audience);
    let name = policy.name();
    assert_eq!(
        answer.would_be.unwrap_or(answer.decision),
        expect,
        "{name}: {category} {severity:?} text={is_text} for {audience}"
    );
    assert_eq!(answer.because.is_empty(), expect == Decision::Allow, "{name}: {category}");
}

#[test]
fn every_category_severity_and_audience_of_every_policy() {
    let policies = ["default", "strict", "permissive", "report-only"].map(named);
    for (family, members) in CATEGORIES {
        for category in members.iter().map(|member| format!("{family}.{member}")) {
            for severity in Severity::ALL {
                for is_text in [false, true] {
                    for audience in Audience::BUILT_IN {
                        let expect = cell(row(&category, severity), &audience, is_text);
                        let strict = if severity <= Severity::Low { Decision::Allow } else { stricter(expect) };
                        let permissive = if severity <= Severity::Medium { Decision::Allow } else { expect };
                        for (policy, expect) in policies.iter().zip([expect, strict, permissive, expect]) {
                            check(policy, &category, severity, is_text, &audience, expect);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn mentions_and_the_callers_own_words_pass() {
    for name in ["default", "strict", "permissive", "report-only"] {
        let policy = named(name);
        for category in ["malware.eicar", "injection.override", "secret.key", "exec.elf"] {
            let mut mention = finding("f0", Some(0), category, Severity::Critical);
            mention.evidence = Evidence::Mention;
            let mut by_caller = artifact(0);
            by_caller.trust = Trust::Caller;
            let used = finding("f0", Some(0), category, Severity::Critical);
            for case in
                [case(vec![artifact(0)], vec![mention], vec![]), case(vec![by_caller], vec![used.clone()], vec![])]
            {
                assert_eq!(
                    policy.decide(&case, &Audience::BUILT_IN, None).decision,
                    Decision::Allow,
                    "{name} {category}"
                );
            }
            let mut by_model = artifact(0);
            by_model.trust = Trust::Model;
            let case = case(vec![by_model], vec![used], vec![]);
            let decided = policy.decide(&case, &Audience::BUILT_IN, None);
            assert!(decided.audiences.iter().all(|answer| !answer.because.is_empty()), "{name} {category}");
        }
    }
}

/// The second table: for each reason, inert or not, what page, terminal, model and download get.
fn gap_row(reason: &str, inert: bool) -> &'static str {
    match reason {
        "timeout" | "worker_died" => "bbbb",
        _ if reason.starts_with("limit:") => "bbbb",
        "unsupported" if inert => "nnn.",
        "malformed" | "encrypted" | "unsupported" | "unknown_type" | "engine_unavailable" => "rrrr",
        "encrypted_stdout" => "rr.r",
        "not_fetched" | "not_included" => "....",
        other => panic!("the table has no row for {other}"),
    }
}

#[test]
fn every_gap_of_every_policy() {
    let policies = ["default", "strict", "permissive", "report-only"].map(named);
    for reason in Reason::all().map(|reason| reason.to_string()) {
        for risk in Risk::ALL {
            for (at, audience) in Audience::BUILT_IN.iter().enumerate() {
                let (decision, deliver) = match gap_row(&reason, risk == Risk::Inert).as_bytes()[at] {
                    b'.' => (Decision::Allow, Deliver::Original),
                    b'n' => (Decision::Allow, Deliver::Nothing),
                    b'r' => (Decision::Review, Deliver::Nothing),
                    _ => (Decision::Block, Deliver::Nothing),
                };
                let host = CaseArtifact { risk, ..artifact(0) };
                let case = case(vec![host], vec![], vec![gap("g0", Some(0), &reason)]);
                for policy in &policies {
                    let what = format!("{}: {reason} {risk:?} for {audience}", policy.name());
                    let answer = decide_for(policy, &case, audience);
                    let got = (answer.would_be.unwrap_or(answer.decision), answer.deliver);
                    match policy.name() {
                        "strict" if decision == Decision::Allow => {
                            assert_eq!(got, (Decision::Review, Deliver::Nothing), "{what}");
                        }
                        "strict" => assert_eq!(got, (Decision::Block, Deliver::Nothing), "{what}"),
                        "report-only" => assert_eq!(got, (decision, Deliver::Original), "{what}"),
                        _ => {
                            assert_eq!(got, (decision, deliver), "{what}");
                            assert_eq!(answer.artifacts, [Answer { decision, deliver }], "{what}");
                            assert_eq!(answer.gaps, [decision], "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn incomplete_alone_is_review_in_strict_only() {
    let case = Case { complete: false, ..case(vec![artifact(0)], vec![], vec![]) };
    for (name, expect) in
        [("default", Decision::Allow), ("permissive", Decision::Allow), ("report-only", Decision::Allow)]
    {
        let answer = decide_for(&named(name), &case, &Audience::PAGE);
        assert_eq!((answer.decision, answer.because), (expect, vec![]), "{name}");
    }
    let answer = decide_for(&named("strict"), &case, &Audience::PAGE);
    assert_eq!((answer.decision, answer.deliver), (Decision::Review, Deliver::Nothing));
    assert_eq!(answer.because, [because("incomplete", Cause::Unlisted)]);
    // What was there was seen: the artifact itself is as good as it was.
    assert_eq!(answer.artifacts, [Answer { decision: Decision::Allow, deliver: Deliver::Original }]);
}

#[test]
fn an_audience_of_ones_own_gets_nothing_that_nobody_listed() {
    let own = policy("extends = \"default\"\n[audiences.store]\n");
    let store = own.audience("store").unwrap();
    for (family, members) in CATEGORIES {
        for category in members.iter().map(|member| format!("{family}.{member}")) {
            let case = case(vec![artifact(0)], vec![finding("f0", Some(0), &category, Severity::High)], vec![]);
            let strictest = Audience::BUILT_IN.iter().map(|audience| decide_for(&own, &case, audience).decision).max();
            let got = decide_for(&own, &case, &store).decision;
            assert!(Some(got) >= strictest, "{category}");
        }
    }
}

/// One artifact for each thing a table speaks of.
fn everything() -> Case {
    let mut all = Case { complete: true, ..Case::default() };
    let mut host = |host: CaseArtifact| {
        let id = u32::try_from(all.artifacts.len()).unwrap();
        all.artifacts.push(CaseArtifact { id: ArtifactId(id), ..host });
        id
    };
    for (family, members) in CATEGORIES {
        for category in members.iter().map(|member| format!("{family}.{member}")) {
            for severity in Severity::ALL {
                for (is_text, trust) in [(false, Trust::Tool), (true, Trust::Tool), (false, Trust::Caller)] {
                    let at = host(CaseArtifact { is_text, trust, ..artifact(0) });
                    all.findings.push(finding("f", Some(at), &category, severity));
                }
                let at = host(artifact(0));
                let mention = finding("f", Some(at), &category, severity);
                all.findings.push(CaseFinding { evidence: Evidence::Mention, ..mention });
            }
        }
    }
    for reason in Reason::all().map(|reason| reason.to_string()) {
        for risk in Risk::ALL {
            let at = host(CaseArtifact { risk, ..artifact(0) });
            all.gaps.push(gap("g", Some(at), &reason));
        }
    }
    all
}

#[test]
fn every_clause_decides_something() {
    let case = everything();
    for name in ["default", "strict"] {
        let plain = named(name);
        let before = plain.decide(&case, &Audience::BUILT_IN, None).audiences;
        for nth in 0..plain.clauses.len() {
            let mut mutant = plain.clone();
            let clause = &mut mutant.clauses[nth];
            clause.then = if clause.then == Decision::Block { Decision::Review } else { Decision::Block };
            let after = mutant.decide(&case, &Audience::BUILT_IN, None).audiences;
            assert!(
                before.iter().zip(&after).any(|(a, b)| a.artifacts != b.artifacts),
                "{name}: {:?}",
                mutant.clauses[nth]
            );
        }
    }
}
