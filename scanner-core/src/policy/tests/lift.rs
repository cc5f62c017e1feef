//! What a person decided, over what a policy did.

use super::*;

/// Everything that can be found is for a person, but programs are not.
fn for_a_person() -> Policy {
    policy(
        "[[when]]\ncategory = \"exec.*\"\nthen = \"block\"\n\n[[when]]\ncategory = \"secret.*\"\nthen = \"sanitize\"\n\n\
         [[when]]\ncategory = \"*\"\nthen = \"review\"\n\n[[when]]\ngap = \"*\"\nthen = \"review\"\n",
    )
}

fn approved(case: &Case, audiences: &[&str]) -> Case {
    let audiences: Vec<String> = audiences.iter().map(|audience| (*audience).to_owned()).collect();
    let approval = Approval::of(case, &audiences);
    Case { by_person: Some(Override::Approved(approval)), ..case.clone() }
}

fn for_page(case: &Case) -> (Decision, Deliver) {
    let got = decide_for(&for_a_person(), case, &Audience::PAGE);
    (got.decision, got.deliver)
}

const HELD: (Decision, Deliver) = (Decision::Review, Deliver::Nothing);
const PASSES: (Decision, Deliver) = (Decision::Allow, Deliver::Original);

fn pdf(id: &str) -> CaseFinding {
    finding(id, Some(0), "pdf.incremental", Severity::High)
}

#[test]
fn an_approval_lifts_review_for_its_audiences() {
    let case = case(vec![artifact(0)], vec![pdf("f0")], vec![gap("g0", Some(0), "encrypted")]);
    assert_eq!(for_page(&case), HELD);
    assert_eq!(for_page(&approved(&case, &["page"])), PASSES);
    assert_eq!(for_page(&approved(&case, &["model", "page"])), PASSES);
    assert_eq!(for_page(&approved(&case, &["model"])), HELD);
    let got = decide_for(&for_a_person(), &approved(&case, &["page"]), &Audience::PAGE);
    assert_eq!(got.because, [of_finding("approved", "f0"), of_gap("approved", "g0")]);
    assert_eq!((got.findings, got.gaps), (vec![Decision::Allow], vec![Decision::Allow]));
}

#[test]
fn an_approval_never_lifts_block_nor_what_is_beside_it() {
    let findings = vec![pdf("f0"), finding("f1", Some(1), "exec.elf", Severity::High)];
    let case = case(vec![artifact(0), artifact(1)], findings, vec![]);
    let got = decide_for(&for_a_person(), &approved(&case, &["page"]), &Audience::PAGE);
    assert_eq!(got.decision, Decision::Block);
    assert_eq!(
        got.artifacts.iter().map(|answer| answer.decision).collect::<Vec<_>>(),
        [Decision::Review, Decision::Block]
    );
}

#[test]
fn what_is_sanitize_stays_so() {
    let findings = vec![pdf("f0"), finding("f1", Some(1), "secret.aws", Severity::High)];
    let case = case(vec![artifact(0), artifact(1)], findings, vec![]);
    assert_eq!(for_page(&approved(&case, &["page"])), (Decision::Sanitize, Deliver::Release));
}

#[test]
fn what_nobody_saw_is_not_lifted() {
    let seen = case(vec![artifact(0)], vec![pdf("f0")], vec![]);
    let later = case(vec![artifact(0)], vec![CaseFinding { fingerprint: "other".to_owned(), ..pdf("f0") }], vec![]);
    let by_person = approved(&seen, &["page"]).by_person;
    assert_eq!(for_page(&Case { by_person: by_person.clone(), ..later }), HELD, "another finding of the rule");
    let more = case(vec![artifact(0)], vec![pdf("f0")], vec![gap("g0", None, "encrypted")]);
    assert_eq!(for_page(&Case { by_person, ..more }), HELD, "another gap");
    let counted = case(vec![artifact(0)], vec![CaseFinding { fingerprint: String::new(), ..pdf("") }], vec![]);
    assert_eq!(for_page(&approved(&counted, &["page"])), PASSES, "counted ones were seen as such");
}

#[test]
fn the_floor_is_not_lifted() {
    for reason in ["worker_died", "timeout", "limit:depth"] {
        let case = case(vec![artifact(0)], vec![], vec![gap("g0", Some(0), reason)]);
        assert_eq!(for_page(&approved(&case, &["page"])), HELD, "{reason}");
    }
}

#[test]
fn what_was_not_seen_whole_can_be_approved_as_such() {
    let unseen = Case { complete: false, ..case(vec![artifact(0)], vec![], vec![]) };
    let decide = |case: &Case| decide_for(&named("strict"), case, &Audience::PAGE).decision;
    assert_eq!(decide(&unseen), Decision::Review);
    assert_eq!(decide(&approved(&unseen, &["page"])), Decision::Allow);
    let by_person = approved(&Case { complete: true, ..unseen.clone() }, &["page"]).by_person;
    assert_eq!(decide(&Case { by_person, ..unseen }), Decision::Review, "when it was approved, all of it was seen");
}

#[test]
fn a_rejection_blocks_and_says_so_first() {
    let case = case(vec![artifact(0)], vec![pdf("f0")], vec![]);
    let rejected = Case { by_person: Some(Override::Rejected), ..case };
    let got = decide_for(&for_a_person(), &rejected, &Audience::PAGE);
    let blocked = Answer { decision: Decision::Block, deliver: Deliver::Nothing };
    assert_eq!((got.decision, got.deliver, &got.artifacts[..]), (Decision::Block, Deliver::Nothing, &[blocked][..]));
    assert_eq!(got.because[0], because("rejected", Cause::Unlisted));
    let reported = decide_for(&named("report-only"), &rejected, &Audience::PAGE);
    assert_eq!((reported.decision, reported.would_be), (Decision::Allow, Some(Decision::Block)));
}
