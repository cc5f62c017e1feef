//! How answers are gathered: containers, delivery, reasons, exceptions, the floor.

use super::*;

const ALLOWED: Answer = Answer { decision: Decision::Allow, deliver: Deliver::Original };

fn answer(decision: Decision, deliver: Deliver) -> Answer {
    Answer { decision, deliver }
}

#[test]
fn the_worst_of_everything_inside_counts_for_the_container_only() {
    let artifacts = vec![artifact(0), inside(1, 0), inside(2, 1), inside(3, 0), artifact(4)];
    let case = case(artifacts, vec![finding("f0", Some(2), "exec.elf", Severity::High)], vec![]);
    let got = decide_for(&named("default"), &case, &Audience::PAGE);
    let blocked = answer(Decision::Block, Deliver::Nothing);
    assert_eq!(got.artifacts, [blocked, blocked, blocked, ALLOWED, ALLOWED]);
    assert_eq!((got.decision, got.deliver), (Decision::Block, Deliver::Nothing));
    assert_eq!(got.because, [of_finding("acts", "f0")]);
}

#[test]
fn what_is_in_no_artifact_counts_for_the_whole_only() {
    for nowhere in [None, Some(77)] {
        let case = case(
            vec![artifact(0)],
            vec![finding("f0", nowhere, "malformed.duplicate_key", Severity::Medium)],
            vec![gap("g0", nowhere, "limit:depth")],
        );
        let got = decide_for(&named("default"), &case, &Audience::PAGE);
        assert_eq!((got.decision, got.deliver), (Decision::Block, Deliver::Nothing));
        assert_eq!(got.artifacts, [ALLOWED]);
        assert_eq!(got.because, [of_gap("stopped", "g0"), of_finding("odd", "f0")]);
    }
}

#[test]
fn what_is_in_no_artifact_is_judged_like_words_of_the_tool_of_no_known_type() {
    for (condition, fits) in [
        ("trust = 'tool'", true),
        ("trust = 'caller'", false),
        ("risk = 'unknown'", true),
        ("risk = 'inert'", false),
        ("text = false", true),
        ("text = true", false),
        ("type = '*'", true),
        ("type = 'text/*'", false),
    ] {
        let policy = policy(&format!("[[when]]\n{condition}\nthen = 'block'\n"));
        let case = case(vec![], vec![finding("f0", None, "url.lookalike", Severity::High)], vec![]);
        let expect = if fits { Decision::Block } else { Decision::Review };
        assert_eq!(decide_for(&policy, &case, &Audience::PAGE).decision, expect, "{condition}");
    }
}

#[test]
fn sanitize_without_a_cleaner_delivers_nothing_and_says_so() {
    let secret = |cleanable: bool| {
        let host = CaseArtifact { cleanable, ..artifact(0) };
        case(vec![host, artifact(1)], vec![finding("f0", Some(0), "secret.key", Severity::High)], vec![])
    };
    let policy = named("default");
    let got = decide_for(&policy, &secret(true), &Audience::DOWNLOAD);
    assert_eq!(got.artifacts, [answer(Decision::Sanitize, Deliver::Release), ALLOWED]);
    assert_eq!((got.decision, got.deliver), (Decision::Sanitize, Deliver::Release));
    assert_eq!(got.because, [of_finding("private", "f0")]);

    let got = decide_for(&policy, &secret(false), &Audience::DOWNLOAD);
    assert_eq!(got.artifacts, [answer(Decision::Sanitize, Deliver::Nothing), ALLOWED]);
    // The rest may still leave, without it.
    assert_eq!((got.decision, got.deliver), (Decision::Sanitize, Deliver::Release));
    assert_eq!(got.because, [of_finding("private", "f0"), of_finding("no_cleaner", "f0")]);

    let mut alone = secret(false);
    alone.artifacts.pop();
    assert_eq!(decide_for(&policy, &alone, &Audience::DOWNLOAD).deliver, Deliver::Nothing);
}

#[test]
fn a_container_that_cannot_be_rewritten_is_not_released() {
    let zip = CaseArtifact { cleanable: false, ..artifact(0) };
    let found = vec![finding("f0", Some(1), "secret.key", Severity::High)];
    let got = decide_for(&named("default"), &case(vec![zip, inside(1, 0)], found.clone(), vec![]), &Audience::PAGE);
    assert_eq!(
        got.artifacts,
        [answer(Decision::Sanitize, Deliver::Nothing), answer(Decision::Sanitize, Deliver::Release)]
    );
    assert_eq!(got.because, [of_finding("private", "f0"), of_finding("no_cleaner", "f0")]);
    assert_eq!(got.deliver, Deliver::Nothing);

    // And one that can be is not, when what is inside cannot.
    let member = CaseArtifact { cleanable: false, ..inside(1, 0) };
    let got = decide_for(&named("default"), &case(vec![artifact(0), member], found, vec![]), &Audience::PAGE);
    assert!(got.artifacts.iter().all(|artifact| artifact.deliver == Deliver::Nothing));
    assert_eq!(got.deliver, Deliver::Nothing);
}

#[test]
fn the_reason_for_no_cleaner_is_the_first_that_asked_for_one() {
    let host = CaseArtifact { cleanable: false, ..artifact(0) };
    let found = ["f0", "f1"].map(|id| finding(id, Some(0), "secret.key", Severity::High));
    let got = decide_for(&named("default"), &case(vec![host], found.into(), vec![]), &Audience::PAGE);
    let expect = [of_finding("private", "f0"), of_finding("no_cleaner", "f0"), of_finding("private", "f1")];
    assert_eq!(got.because, expect);
}

#[test]
fn held_back_once_is_held_back() {
    let policy = policy(
        "[[when]]\ncategory = 'pii.*'\nthen = 'allow'\ndeliver = 'nothing'\n\
         [[when]]\ncategory = 'net.*'\nthen = 'allow'\n",
    );
    for categories in [["pii.ip", "net.link"], ["net.link", "pii.ip"]] {
        let found = categories.map(|category| finding("f0", Some(0), category, Severity::Info));
        let got = decide_for(&policy, &case(vec![artifact(0)], found.into(), vec![]), &Audience::PAGE);
        assert_eq!((got.decision, got.deliver), (Decision::Allow, Deliver::Nothing));
    }
}

#[test]
fn nobody_cleans_the_envelope() {
    let case = case(vec![artifact(0)], vec![finding("f0", None, "secret.key", Severity::High)], vec![]);
    let got = decide_for(&named("default"), &case, &Audience::PAGE);
    assert_eq!((got.decision, got.deliver), (Decision::Sanitize, Deliver::Nothing));
    assert_eq!(got.because, [of_finding("private", "f0"), of_finding("no_cleaner", "f0")]);
}

#[test]
fn held_back_without_being_worse() {
    let host = |id| CaseArtifact { risk: Risk::Inert, ..artifact(id) };
    let member = CaseArtifact { parent: Some(ArtifactId(0)), ..host(1) };
    let case = case(vec![artifact(0), member, artifact(2)], vec![], vec![gap("g0", Some(1), "unsupported")]);
    let policy = named("default");
    let got = decide_for(&policy, &case, &Audience::PAGE);
    let held = answer(Decision::Allow, Deliver::Nothing);
    assert_eq!(got.artifacts, [held, held, ALLOWED]);
    assert_eq!((got.decision, got.deliver), (Decision::Allow, Deliver::Release));
    assert_eq!(got.because, [of_gap("inert_not_shown", "g0")]);

    let got = decide_for(&policy, &case, &Audience::DOWNLOAD);
    assert_eq!(got.artifacts, [ALLOWED; 3]);
    assert_eq!((got.decision, got.deliver, got.because), (Decision::Allow, Deliver::Original, vec![]));
}

#[test]
fn what_is_not_there_is_not_held_against_the_rest() {
    let case = case(vec![artifact(0)], vec![], vec![gap("g0", None, "not_fetched"), gap("g1", None, "not_included")]);
    for answer in named("default").decide(&case, &Audience::BUILT_IN, None).audiences {
        assert_eq!((answer.decision, answer.deliver, answer.because), (Decision::Allow, Deliver::Original, vec![]));
    }
}

#[test]
fn text_is_text_only_where_it_is_delivered_as_text() {
    let text = |id| CaseArtifact { is_text: true, ..artifact(id) };
    let script = |parent: CaseArtifact| {
        let member = CaseArtifact { parent: Some(parent.id), ..text(1) };
        case(vec![parent, member], vec![finding("f0", Some(1), "exec.script", Severity::High)], vec![])
    };
    let policy = named("default");
    for (parent, expect) in [(text(0), Decision::Allow), (artifact(0), Decision::Block)] {
        let case = script(parent);
        assert_eq!(decide_for(&policy, &case, &Audience::MODEL).decision, expect);
        for audience in [Audience::PAGE, Audience::TERMINAL, Audience::DOWNLOAD] {
            assert_eq!(decide_for(&policy, &case, &audience).decision, Decision::Block);
        }
    }
}

#[test]
fn reasons_are_bounded_and_a_flood_hides_none() {
    let mut findings: Vec<_> =
        (0..50).map(|nth| finding(&format!("f{nth}"), Some(0), "exec.elf", Severity::High)).collect();
    findings.push(finding("f50", Some(0), "secret.key", Severity::High));
    findings.push(finding("f51", Some(0), "malware.eicar", Severity::Critical));
    // Two that were only counted: one entry.
    findings.push(finding("", Some(0), "office.hidden_sheet", Severity::Medium));
    findings.push(finding("", Some(0), "office.hidden_sheet", Severity::Medium));
    let case = case(vec![artifact(0)], findings, vec![gap("g0", None, "timeout"), gap("g1", None, "encrypted")]);
    let because_of = |case: &Case| decide_for(&named("default"), case, &Audience::PAGE).because;
    let reasons = because_of(&case);
    assert_eq!(reasons.len(), 20);
    assert_eq!(
        reasons[..4],
        [of_finding("acts", "f0"), of_finding("malware", "f51"), of_gap("stopped", "g0"), of_finding("acts", "f1")]
    );

    let mut few = case;
    few.findings.drain(2..50);
    let expect = [
        of_finding("acts", "f0"),
        of_finding("malware", "f51"),
        of_gap("stopped", "g0"),
        of_finding("acts", "f1"),
        because("odd", Cause::Unlisted),
        of_gap("not_seen", "g1"),
        of_finding("private", "f50"),
    ];
    assert_eq!(because_of(&few), expect);
}

#[test]
fn the_first_clause_that_fits_decides_and_the_rest_is_for_otherwise() {
    let policy = policy(
        "otherwise = 'block'\n[[when]]\nname = 'one'\ncategory = 'secret.key'\nthen = 'allow'\n\
         [[when]]\ncategory = 'secret.*'\nthen = 'sanitize'\n",
    );
    let decide = |category: &str| {
        let case = case(vec![artifact(0)], vec![finding("f0", Some(0), category, Severity::Info)], vec![]);
        let got = decide_for(&policy, &case, &Audience::PAGE);
        (got.decision, got.because)
    };
    assert_eq!(decide("secret.key"), (Decision::Allow, vec![]));
    assert_eq!(decide("secret.ai"), (Decision::Sanitize, vec![of_finding("test/2", "f0")]));
    assert_eq!(decide("pii.ip"), (Decision::Block, vec![of_finding("otherwise", "f0")]));
}

#[test]
fn every_condition_counts() {
    let base = || (artifact(0), finding("f0", Some(0), "net.link", Severity::Medium));
    let decide = |policy: &Policy, host: CaseArtifact, found: CaseFinding| {
        decide_for(policy, &case(vec![host], vec![found], vec![]), &Audience::PAGE).decision
    };
    for (condition, fits) in [
        ("category = 'net.link'", true),
        ("category = ['html.*', 'net.*']", true),
        ("category = 'net.auto_open'", false),
        ("rule = 'test/*'", true),
        ("rule = 'test/net'", false),
        ("severity = 'medium'", true),
        ("severity = '>=medium'", true),
        ("severity = '<=medium'", true),
        ("severity = '>=high'", false),
        ("severity = '<=low'", false),
        ("severity = ['high', 'medium']", true),
        ("severity = 'high'", false),
        ("confidence = 'high'", true),
        ("confidence = '>=low'", true),
        ("confidence = '<=medium'", false),
        ("evidence = 'use'", true),
        ("evidence = 'mention'", false),
        ("trust = ['model', 'tool']", true),
        ("trust = 'model'", false),
        ("risk = 'active'", true),
        ("risk = 'inert'", false),
        ("type = 'png'", true),
        ("type = 'image/*'", true),
        ("type = 'text/*'", false),
        ("text = false", true),
        ("text = true", false),
        ("audience = 'page'", true),
        ("audience = ['model', '*']", true),
        ("audience = ['model', 'download']", false),
        ("gap = '*'", false),
        ("category = 'net.*'\nrisk = 'inert'", false),
        ("category = 'net.*'\nrisk = 'active'", true),
    ] {
        let policy = policy(&format!("[[when]]\n{condition}\nthen = 'block'\n"));
        let (host, found) = base();
        let expect = if fits { Decision::Block } else { Decision::Review };
        assert_eq!(decide(&policy, host, found), expect, "{condition}");
    }
}

#[test]
fn the_floor_holds_against_patterns_and_otherwise() {
    for body in ["[[when]]\ngap = '*'\nthen = 'allow'\n", "otherwise = 'sanitize'\n"] {
        let policy = policy(body);
        for reason in ["worker_died", "timeout", "limit:depth", "limit:of_tomorrow"] {
            let case = case(vec![artifact(0)], vec![], vec![gap("g0", Some(0), reason)]);
            let got = decide_for(&policy, &case, &Audience::MODEL);
            assert_eq!((got.decision, got.deliver), (Decision::Review, Deliver::Nothing), "{reason}");
            assert_eq!((got.because, got.gaps), (vec![of_gap("floor", "g0")], vec![Decision::Review]));
        }
        let case = case(vec![artifact(0)], vec![], vec![gap("g0", Some(0), "encrypted")]);
        assert!(decide_for(&policy, &case, &Audience::MODEL).decision < Decision::Review);
    }
    // A clause that says so itself is the reason that is told.
    let own = policy("[[when]]\nname = 'own'\ngap = 'timeout'\nthen = 'review'\n");
    let case = case(vec![artifact(0)], vec![], vec![gap("g0", Some(0), "timeout")]);
    assert_eq!(decide_for(&own, &case, &Audience::MODEL).because, vec![of_gap("own", "g0")]);
}

#[test]
fn a_policy_that_only_reports_allows_and_says_what_would_be() {
    let mut found = vec![finding("f0", Some(0), "exec.elf", Severity::High)];
    let bad = case(vec![artifact(0)], found.clone(), vec![gap("g0", None, "worker_died")]);
    let decided = named("report-only").decide(&bad, &Audience::BUILT_IN, None);
    assert_eq!((decided.decision, decided.enforced), (Decision::Allow, false));
    for answer in decided.audiences {
        assert_eq!((answer.decision, answer.deliver), (Decision::Allow, Deliver::Original));
        assert_eq!(answer.would_be, Some(Decision::Block));
        assert_eq!((answer.artifacts, answer.gaps), (vec![ALLOWED], vec![Decision::Allow]));
        assert_eq!(answer.because, [of_finding("acts", "f0"), of_gap("stopped", "g0")]);
    }
    found.clear();
    let good = case(vec![artifact(0)], found, vec![]);
    assert_eq!(decide_for(&named("report-only"), &good, &Audience::PAGE).would_be, Some(Decision::Allow));
    let enforced = named("default").decide(&good, &Audience::BUILT_IN, None);
    assert!(enforced.enforced && enforced.audiences.iter().all(|answer| answer.would_be.is_none()));
}

#[test]
fn an_unknown_audience_gets_nothing() {
    let policy = named("default");
    let case = case(vec![artifact(0)], vec![], vec![gap("g0", None, "not_fetched")]);
    let decided = policy.decide(&case, &[Audience::PAGE, Audience::named("modle")], None);
    assert_eq!(decided.decision, Decision::Block);
    assert_eq!(decided.audiences[0].decision, Decision::Allow);
    let got = &decided.audiences[1];
    assert_eq!((got.decision, got.deliver), (Decision::Block, Deliver::Nothing));
    assert_eq!(got.artifacts, [answer(Decision::Block, Deliver::Nothing)]);
    assert_eq!(got.gaps, [Decision::Block]);
    assert_eq!(got.because, [because("unknown_audience", Cause::Unlisted)]);
    assert_eq!(policy.decide(&case, &[], None).decision, Decision::Block);

    let told = policy.audience("modle").unwrap_err().to_string();
    assert_eq!(told, "unknown audience \"modle\", did you mean \"model\"?");
    assert_eq!(policy.audience("model"), Ok(Audience::MODEL));
}

#[test]
fn exceptions_take_findings_out_by_rule_by_fingerprint_and_by_bytes() {
    let outer = format!("{:064x}", 0);
    let member = format!("{:064x}", 1);
    let mark = format!("{:032x}", 0xf);
    for (condition, fits) in [
        ("rule = 'test/exec.elf'".to_owned(), true),
        ("rule = 'test/exec'".to_owned(), false),
        (format!("fingerprint = '{mark}'"), true),
        (format!("fingerprint = '{:032x}'", 1), false),
        (format!("sha256 = '{member}'"), true),
        (format!("sha256 = '{outer}'"), true),
        (format!("sha256 = '{:064x}'", 2), false),
        (format!("rule = 'test/exec.elf'\nsha256 = '{member}'"), true),
        (format!("rule = 'test/exec.elf'\nsha256 = '{:064x}'", 2), false),
        (format!("rule = 'other'\nsha256 = '{member}'"), false),
    ] {
        let policy = policy(&format!("extends = 'default'\n[[except]]\n{condition}\nreason = 'known'\n"));
        let found = finding("f0", Some(1), "exec.elf", Severity::High);
        let case = case(vec![artifact(0), inside(1, 0), artifact(2)], vec![found], vec![]);
        let expect = if fits { Decision::Allow } else { Decision::Block };
        let decided = policy.decide(&case, &Audience::BUILT_IN, None);
        assert_eq!(decided.decision, expect, "{condition}");
        assert!(!decided.uses_date);
    }
}

#[test]
fn exceptions_are_for_findings_only() {
    let policy = policy(&format!("extends = 'default'\n[[except]]\nsha256 = '{:064x}'\nreason = 'known'\n", 0));
    let case = case(vec![artifact(0)], vec![], vec![gap("g0", Some(0), "encrypted")]);
    assert_eq!(decide_for(&policy, &case, &Audience::PAGE).decision, Decision::Review);
}

#[test]
fn an_exception_counts_up_to_its_last_day() {
    let policy =
        policy("extends = 'default'\n[[except]]\nrule = 'test/exec.elf'\nreason = 'known'\nexpires = 2027-01-31\n");
    let case = case(vec![artifact(0)], vec![finding("f0", Some(0), "exec.elf", Severity::High)], vec![]);
    for (now, expect) in [
        (Some("2027-01-30"), Decision::Allow),
        (Some("2027-01-31"), Decision::Allow),
        (Some("2027-02-01"), Decision::Block),
        (None, Decision::Block),
    ] {
        let decided = policy.decide(&case, &[Audience::PAGE], now.map(|now| now.parse().unwrap()));
        assert_eq!((decided.decision, decided.uses_date), (expect, true), "{now:?}");
    }
    assert!(policy.uses_date() && !named("default").uses_date());
}

#[test]
fn an_audience_of_ones_own_may_be_like_another() {
    let own = policy(
        "extends = 'default'\n[audiences.store]\nlike = 'download'\n[audiences.vault]\n\
         [[when]]\ncategory = 'pii.*'\naudience = 'store'\nthen = 'block'\n",
    );
    let decide = |category: &str, audience: &str| {
        let case = case(vec![artifact(0)], vec![finding("f0", Some(0), category, Severity::Medium)], vec![]);
        decide_for(&own, &case, &own.audience(audience).unwrap()).decision
    };
    assert_eq!(decide("injection.override", "store"), Decision::Allow);
    assert_eq!(decide("injection.override", "vault"), Decision::Review);
    assert_eq!(decide("pii.card", "store"), Decision::Block);
    assert_eq!(decide("pii.card", "download"), Decision::Sanitize);
}

#[test]
fn what_is_opaque_is_served_as_a_file_and_not_shown_in_place() {
    let song = CaseArtifact { opaque: true, ..artifact(0) };
    let case = Case { artifacts: vec![song], complete: true, ..Case::default() };
    let decided = named("default").decide(&case, &Audience::BUILT_IN, None);
    let delivers: Vec<_> = decided.audiences.iter().map(|answer| (answer.decision, answer.deliver)).collect();
    let (held, whole) = ((Decision::Allow, Deliver::Nothing), (Decision::Allow, Deliver::Original));
    assert_eq!(delivers, [held, held, held, whole]);
    assert_eq!(decided.audiences[0].because[0].clause, "inline");
    assert_eq!(decided.audiences[3].because, []);
}

#[test]
fn a_list_of_types_to_deliver_holds_back_the_others() {
    let text = "schema = \"scanner.policy/v1\"\nname = \"own\"\nextends = \"default\"\n[audiences.page]\ninline = [\"image/*\"]\n";
    let policy = Policy::parse("own.toml", text, &shipped).unwrap();
    let of = |mime: &'static str| {
        let case = Case {
            artifacts: vec![CaseArtifact { mime: mime.into(), ..artifact(0) }],
            complete: true,
            ..Case::default()
        };
        policy.decide(&case, &[Audience::PAGE], None).audiences[0].deliver
    };
    assert_eq!((of("image/png"), of("text/plain")), (Deliver::Original, Deliver::Nothing));
}
