//! What docs/policy.md says holds.

use super::*;

const GUIDE: &str = include_str!("../../../../docs/policy.md");

/// The TOML examples, in order.
fn examples() -> Vec<&'static str> {
    GUIDE.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

fn example(of: &str) -> Policy {
    let text = examples().into_iter().find(|text| text.contains(of)).unwrap();
    Policy::parse("docs/policy.md", text, &shipped).unwrap()
}

fn decide(policy: &Policy, host: CaseArtifact, category: &str, severity: Severity, audience: &str) -> Decision {
    let case = case(vec![host], vec![finding("f0", Some(0), category, severity)], vec![]);
    decide_for(policy, &case, &policy.audience(audience).unwrap()).decision
}

#[test]
fn every_example_is_a_policy() {
    assert_eq!(examples().len(), 8);
    for text in examples() {
        Policy::parse("docs/policy.md", text, &shipped).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn every_key_is_in_the_reference() {
    for key in parse::every_key() {
        assert!(GUIDE.contains(&format!("| `{key}` |")), "{key} is not in docs/policy.md");
    }
}

#[test]
fn the_recipes_do_what_they_say() {
    use Decision::{Allow, Block, Review, Sanitize};

    let pii = example("no_personal_data");
    assert_eq!(decide(&pii, artifact(0), "pii.email", Severity::Info, "model"), Sanitize);
    assert_eq!(decide(&pii, artifact(0), "pii.email", Severity::Info, "download"), Allow);

    let trial = example("trial");
    let case_of = |found| case(vec![artifact(0)], vec![found], vec![]);
    let elf = case_of(finding("f0", Some(0), "exec.elf", Severity::High));
    let answer = decide_for(&trial, &elf, &Audience::PAGE);
    assert_eq!((answer.decision, answer.would_be), (Allow, Some(Block)));

    let except = example("SEC-1182");
    let mut found = finding("f0", Some(0), "secret.key", Severity::High);
    found.fingerprint = "0f3c9a55d2b14e6f8a7b6c5d4e3f2a1b".to_owned();
    let case = case_of(found);
    let on = |day: &str| except.decide(&case, &[Audience::PAGE], Some(day.parse().unwrap())).decision;
    assert_eq!((on("2027-01-31"), on("2027-02-01")), (Allow, Sanitize));

    assert_eq!(
        decide(
            &example("personal_data\"\ncategory = \"pii.*\"\nevidence"),
            artifact(0),
            "pii.email",
            Severity::Info,
            "page"
        ),
        Review
    );

    let store = example("no_secrets_in_store");
    assert_eq!(decide(&store, artifact(0), "secret.key", Severity::High, "store"), Block);
    assert_eq!(decide(&store, artifact(0), "secret.key", Severity::High, "download"), Sanitize);
    assert_eq!(decide(&store, artifact(0), "injection.override", Severity::Medium, "store"), Allow);

    let notebooks = example("\"notebooks\"");
    let ipynb = || CaseArtifact { label: "ipynb".into(), ..artifact(0) };
    assert_eq!(decide(&notebooks, ipynb(), "script.notebook", Severity::Medium, "page"), Allow);
    assert_eq!(decide(&notebooks, ipynb(), "script.notebook", Severity::High, "page"), Block);
    assert_eq!(decide(&notebooks, artifact(0), "html.script", Severity::Medium, "page"), Sanitize);

    let locked = example("locked_downloads");
    let zip = CaseArtifact { risk: Risk::Container, ..artifact(0) };
    let case = super::case(vec![zip], vec![], vec![gap("g0", Some(0), "encrypted")]);
    let on = |audience: &Audience| decide_for(&locked, &case, audience).decision;
    assert_eq!((on(&Audience::DOWNLOAD), on(&Audience::PAGE)), (Allow, Review));
}
