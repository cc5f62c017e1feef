//! What holds for every case and every policy.

use std::sync::LazyLock;

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;
use crate::finding::{CATEGORIES, Reason};

fn categories() -> Vec<String> {
    let all = |(family, members): &(&str, &[&str])| -> Vec<String> {
        members.iter().map(|member| format!("{family}.{member}")).collect()
    };
    CATEGORIES.iter().flat_map(all).chain(["of.tomorrow".to_owned()]).collect()
}

/// Also parents that are later, themselves, or not there.
fn artifacts() -> impl Strategy<Value = Vec<CaseArtifact>> {
    let one = (
        0..8_u32,
        option::of(0..8_u32),
        select(vec!["text/plain", "image/png", ""]),
        select(Risk::ALL.to_vec()),
        select(Trust::ALL.to_vec()),
        any::<[bool; 2]>(),
    );
    vec(one, 0..7).prop_map(|rows| {
        rows.into_iter()
            .map(|(id, parent, mime, risk, (trust, _), [is_text, cleanable])| CaseArtifact {
                parent: parent.map(ArtifactId),
                mime: mime.into(),
                risk,
                trust,
                is_text,
                cleanable,
                ..artifact(id)
            })
            .collect()
    })
}

fn one_finding() -> impl Strategy<Value = CaseFinding> {
    (
        option::of(0..9_u32),
        select(categories()),
        select(Severity::ALL.to_vec()),
        select(Confidence::ALL.to_vec()),
        select(Evidence::ALL.to_vec()),
        any::<bool>(),
    )
        .prop_map(|(at, category, severity, confidence, evidence, listed)| CaseFinding {
            confidence,
            evidence,
            ..finding(if listed { "f0" } else { "" }, at, &category, severity)
        })
}

fn one_gap() -> impl Strategy<Value = CaseGap> {
    let reasons: Vec<String> =
        Reason::all().map(|reason| reason.to_string()).chain(["limit:new".into(), "new".into()]).collect();
    (option::of(0..9_u32), select(reasons)).prop_map(|(at, reason)| gap("g0", at, &reason))
}

fn cases() -> impl Strategy<Value = Case> {
    (artifacts(), vec(one_finding(), 0..6), vec(one_gap(), 0..4), any::<bool>()).prop_map(
        |(artifacts, findings, gaps, complete)| Case {
            artifacts,
            findings,
            gaps,
            complete,
            cleanable: true,
            by_person: None,
        },
    )
}

static SHIPPED: LazyLock<[Policy; 4]> = LazyLock::new(|| ["permissive", "default", "strict", "report-only"].map(named));

/// Shipped ones, a loose one and one with an audience of its own.
fn policies() -> impl Strategy<Value = Policy> {
    let loose = policy("otherwise = 'allow'\n[[when]]\ngap = '*'\nthen = 'allow'\n");
    let own = policy(
        "extends = 'strict'\notherwise = 'sanitize'\n[audiences.store]\nlike = 'page'\n\
         [[when]]\ncategory = 'pii.*'\nrisk = ['inert', 'active']\nthen = 'allow'\ndeliver = 'nothing'\n",
    );
    select([&SHIPPED[..], &[loose, own]].concat())
}

fn audiences() -> Vec<Audience> {
    Audience::BUILT_IN.into_iter().chain(["store", "nobody"].map(Audience::named)).collect()
}

/// What a policy says, enforced or not.
fn real(answer: &ForAudience) -> Decision {
    answer.would_be.unwrap_or(answer.decision)
}

/// At every place no milder and no more delivered.
fn no_milder(before: &Decided, after: &Decided) -> bool {
    before.audiences.iter().zip(&after.audiences).all(|(before, after)| {
        real(before) <= real(after)
            && before.deliver <= after.deliver
            && before
                .artifacts
                .iter()
                .zip(&after.artifacts)
                .all(|(before, after)| before.decision <= after.decision && before.deliver <= after.deliver)
    })
}

proptest! {
    #[test]
    fn every_case_is_decided_and_the_worst_wins(policy in policies(), case in cases()) {
        let decided = policy.decide(&case, &audiences(), None);
        prop_assert_eq!(&decided, &policy.decide(&case, &audiences(), None));
        prop_assert_eq!(Some(decided.decision), decided.audiences.iter().map(|answer| answer.decision).max());
        for answer in &decided.audiences {
            prop_assert_eq!(answer.artifacts.len(), case.artifacts.len());
            prop_assert_eq!(answer.gaps.len(), case.gaps.len());
            prop_assert!(answer.because.len() <= 20);
            prop_assert_eq!(answer.would_be.is_none(), decided.enforced);
            prop_assert!(answer.artifacts.iter().all(|artifact| artifact.decision <= answer.decision));
            prop_assert!(answer.gaps.iter().all(|gap| *gap <= answer.decision));
            prop_assert!(real(answer) == Decision::Allow || !answer.because.is_empty());
            prop_assert!(answer.decision < Decision::Review || answer.deliver == Deliver::Nothing);
            prop_assert!(answer.decision != Decision::Sanitize || answer.deliver != Deliver::Original);
            for artifact in &answer.artifacts {
                prop_assert!(artifact.decision < Decision::Review || artifact.deliver == Deliver::Nothing);
                prop_assert!(artifact.decision != Decision::Sanitize || artifact.deliver != Deliver::Original);
            }
            if case.gaps.iter().any(|gap| gap.reason.starts_with("limit:") || ["timeout", "worker_died"].contains(&&*gap.reason)) {
                prop_assert!(real(answer) >= Decision::Review);
            }
        }
    }

    #[test]
    fn one_more_finding_or_gap_makes_nothing_milder(
        policy in policies(), case in cases(), finding in one_finding(), gap in one_gap(),
    ) {
        let before = policy.decide(&case, &audiences(), None);
        let mut more = case.clone();
        more.findings.push(finding);
        prop_assert!(no_milder(&before, &policy.decide(&more, &audiences(), None)));
        let mut more = case.clone();
        more.gaps.push(gap);
        prop_assert!(no_milder(&before, &policy.decide(&more, &audiences(), None)));
        let unseen = Case { complete: false, ..case.clone() };
        let seen = Case { complete: true, ..case };
        prop_assert!(no_milder(&policy.decide(&seen, &audiences(), None), &policy.decide(&unseen, &audiences(), None)));
    }

    #[test]
    fn an_exception_makes_nothing_stricter(case in cases(), category in select(categories()), day in 1..28_u8) {
        let without = &SHIPPED[1];
        let mut with = without.clone();
        let rule = Some(format!("test/{category}"));
        with.exceptions.push(Exception { rule, fingerprint: None, sha256: None, expires: Date::new(2027, 1, 14) });
        let now = Date::new(2027, 1, day);
        let excepted = with.decide(&case, &audiences(), now);
        let plain = without.decide(&case, &audiences(), now);
        prop_assert!(no_milder(&excepted, &plain));
        if day > 14 {
            prop_assert_eq!(excepted.audiences, plain.audiences);
        }
    }

    #[test]
    fn the_shipped_policies_are_ordered(case in cases()) {
        let [permissive, default, strict, _] = SHIPPED.each_ref().map(|policy| policy.decide(&case, &audiences(), None));
        prop_assert!(no_milder(&permissive, &default));
        prop_assert!(no_milder(&default, &strict));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\[\\[?(when|except|audiences)?\\]?\\]?|[a-z]+ = |\"[a-z>=*.]*\"|\n|\\PC){0,40}") {
        let _ = Policy::parse("p", &text, &shipped);
    }
}
