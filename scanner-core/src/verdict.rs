//! A report judged by a policy.

use std::borrow::Cow;

use bytes::Bytes;

use crate::{
    bundle::ArtifactId,
    finding::Finding,
    policy::{
        Answer, Audience, Case, CaseArtifact, CaseFinding, CaseGap, Date, Decided, Decision, Deliver, ForAudience,
        Policy,
    },
    scan::{Report, Scan},
};

/// What may happen with everything that was scanned, for each audience, and why.
#[derive(Clone, Debug)]
pub struct Verdict {
    report: Report,
    policy_name: String,
    policy_digest: String,
    decided: Decided,
    decided_on: Option<Date>,
}

/// What may leave of one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The bytes as they came.
    Original(Bytes),
    /// The cleaned bytes, and the headers to serve them with.
    Release(Bytes, Vec<(String, String)>),
    /// Nothing, and why.
    Nothing(String),
}

/// The id of a finding by its position: `f0`, `f1`, ….
pub(crate) fn finding_id(position: usize) -> String {
    format!("f{position}")
}

/// The id of a gap by its position: `g0`, `g1`, ….
pub(crate) fn gap_id(position: usize) -> String {
    format!("g{position}")
}

impl Report {
    /// Judges the report. `now` is the day on which exceptions of the policy are looked at; without it those that end
    /// do not count.
    ///
    /// ```
    /// use scanner_core::{Audience, Decision, Input, Limits, Policy, RuleSet, Scanner};
    /// let scanner = Scanner::new(RuleSet::built_in(scanner_rules::FILES)?, Limits::default());
    /// let text = scanner_rules::POLICIES.iter().find(|(name, _)| *name == "default").unwrap().1;
    /// let policy = Policy::parse("default", text, &|_| None)?;
    ///
    /// let report = scanner.scan(Input::text("rows: 3\nmean: 4.2\n"));
    /// let verdict = report.decide(&policy, &[Audience::MODEL], None);
    /// assert_eq!(verdict.decision(), Decision::Allow);
    /// # Ok::<(), scanner_core::SettingsError>(())
    /// ```
    pub fn decide(&self, policy: &Policy, audiences: &[Audience], now: Option<Date>) -> Verdict {
        let mut decided = policy.decide(&case_of(self), audiences, now);
        for audience in &mut decided.audiences {
            // A release of the whole is made by cleaning, and nothing cleans yet: what is fit to leave by itself is said
            // artifact by artifact.
            if audience.deliver == Deliver::Release {
                audience.deliver = Deliver::Nothing;
            }
        }
        Verdict {
            report: self.clone(),
            policy_name: policy.name().to_owned(),
            policy_digest: policy.digest().to_owned(),
            decided_on: now.filter(|_| decided.uses_date),
            decided,
        }
    }
}

/// The report as a policy sees it: every kind of finding, listed or only counted.
fn case_of(scan: &Scan) -> Case {
    let listed = scan.findings.iter().enumerate().map(|(position, finding)| case_finding(position, finding));
    let counted = scan.counted.iter().map(|tally| CaseFinding {
        id: String::new(),
        artifact: tally.artifact,
        rule: tally.rule.clone(),
        category: tally.category.clone(),
        severity: tally.severity,
        confidence: tally.confidence,
        evidence: tally.evidence,
        fingerprint: String::new(),
    });
    Case {
        artifacts: scan
            .artifacts
            .iter()
            .map(|artifact| CaseArtifact {
                id: artifact.id,
                parent: artifact.parent,
                label: Cow::Borrowed(artifact.kind.label),
                mime: Cow::Borrowed(artifact.kind.mime),
                risk: artifact.kind.risk,
                trust: artifact.trust,
                sha256: artifact.sha256.clone(),
                is_text: artifact.kind.is_text,
                opaque: artifact.kind.is_opaque(),
                cleanable: false,
            })
            .collect(),
        findings: listed.chain(counted).collect(),
        gaps: scan
            .gaps
            .iter()
            .enumerate()
            .map(|(position, gap)| CaseGap {
                id: gap_id(position),
                artifact: gap.artifact,
                reason: Cow::Owned(gap.reason.to_string()),
            })
            .collect(),
        complete: scan.is_complete(),
    }
}

fn case_finding(position: usize, finding: &Finding) -> CaseFinding {
    CaseFinding {
        id: finding_id(position),
        artifact: finding.artifact,
        rule: finding.rule.id.clone(),
        category: finding.rule.category.clone(),
        severity: finding.severity,
        confidence: finding.confidence,
        evidence: finding.evidence,
        fingerprint: finding.fingerprint.clone(),
    }
}

impl Verdict {
    /// What was scanned and seen.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The worst decision over the audiences asked.
    pub fn decision(&self) -> Decision {
        self.decided.decision
    }

    /// The decision for each audience, in the order asked.
    pub fn audiences(&self) -> &[ForAudience] {
        &self.decided.audiences
    }

    /// Name of the policy.
    pub fn policy_name(&self) -> &str {
        &self.policy_name
    }

    /// Digest of the policy.
    pub fn policy_digest(&self) -> &str {
        &self.policy_digest
    }

    /// Whether the policy is enforced, or only reports what it would do.
    pub fn is_enforced(&self) -> bool {
        self.decided.enforced
    }

    /// The day that counted, when some exception of the policy ends.
    pub fn decided_on(&self) -> Option<Date> {
        self.decided_on
    }

    /// What is decided about one artifact for one audience.
    pub fn answer(&self, audience: &Audience, artifact: ArtifactId) -> Option<Answer> {
        let position = usize::try_from(artifact.0).ok()?;
        self.decided.audiences.iter().find(|asked| asked.audience == *audience)?.artifacts.get(position).copied()
    }

    /// What may leave of one artifact, for one audience that was asked. The only way to bytes.
    ///
    /// ```
    /// # use scanner_core::{ArtifactId, Audience, Delivery, Input, Limits, Policy, RuleSet, Scanner};
    /// # let scanner = Scanner::new(RuleSet::built_in(scanner_rules::FILES)?, Limits::default());
    /// # let text = scanner_rules::POLICIES.iter().find(|(name, _)| *name == "default").unwrap().1;
    /// # let policy = Policy::parse("default", text, &|_| None)?;
    /// let verdict = scanner.scan(Input::text("mean: 4.2")).decide(&policy, &[Audience::MODEL], None);
    /// let Delivery::Original(bytes) = verdict.delivery(&Audience::MODEL, ArtifactId(0)) else { panic!() };
    /// assert_eq!(&*bytes, b"mean: 4.2");
    /// assert!(matches!(verdict.delivery(&Audience::PAGE, ArtifactId(0)), Delivery::Nothing(_)), "page was not asked");
    /// # Ok::<(), scanner_core::SettingsError>(())
    /// ```
    pub fn delivery(&self, audience: &Audience, artifact: ArtifactId) -> Delivery {
        let Some(answer) = self.answer(audience, artifact) else {
            return Delivery::Nothing(format!("nothing was decided about {artifact} for {audience}"));
        };
        match answer.deliver {
            Deliver::Original => match self.report.bytes_of(artifact) {
                Some(bytes) => Delivery::Original(bytes),
                None => Delivery::Nothing(format!("{artifact} cannot be unpacked again")),
            },
            Deliver::Release => Delivery::Nothing(format!("{artifact} was not released")),
            Deliver::Nothing => Delivery::Nothing(format!("the decision on {artifact} is {}", answer.decision.name())),
        }
    }
}
