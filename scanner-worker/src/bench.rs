//! The bench: rules and policies ready, where jobs are done, in whichever process.

use std::{borrow::Cow, collections::BTreeMap, sync::OnceLock};

use bytes::Bytes;
use scanner_core::{
    Attachment, Audience, Date, Facts, Input, Kind, Picture, Policy, Resource, Review, RuleSet, Scanner, SettingsError,
    Verdict, human, packet, sarif, sniff_human, sniff_json, sniff_tsv, text_line, verdict_json_with,
};

use crate::{
    answer::{Answer, Counts},
    job::{Death, Job, ScanFormat, ScanJob, SniffFormat, SniffJob, TextJob},
    released::Released,
    setup::{Setup, SetupError},
    shown::Said,
};

/// Rules and policies, read and ready.
#[derive(Debug)]
pub struct Bench {
    scanner: Scanner,
    policies: Vec<(String, Policy)>,
    /// Those that ship, read when they are first asked for: reading one takes longer than many a scan.
    built_in: Vec<(&'static str, OnceLock<Policy>)>,
}

/// The built-in rules and those of the operator.
pub(crate) fn rule_set(extra: &[(String, String)]) -> Result<RuleSet, SettingsError> {
    let extra: Vec<(&str, &str)> = extra.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    RuleSet::built_in(scanner_rules::FILES)?.with(&extra)
}

pub(crate) fn read_policy(name: &str, text: &str) -> Result<Policy, SettingsError> {
    Policy::parse(name, text, &|name| built_in_policy(name).map(Cow::Borrowed))
}

/// The text of a policy that ships with the scanner.
pub(crate) fn built_in_policy(name: &str) -> Option<&'static str> {
    scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The audiences of these names, if the policy knows them all.
fn audiences(policy: &Policy, names: &[String]) -> Result<Vec<Audience>, Box<Answer>> {
    names
        .iter()
        .map(|name| policy.audience(name).map_err(|unknown| Answer::boxed("unknown_audience", unknown.to_string())))
        .collect()
}

impl Bench {
    /// Reads rules and policies.
    ///
    /// # Errors
    /// The first mistake of the operator's files, with line and column.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        let policies = setup
            .policies
            .iter()
            .map(|policy| Ok((policy.name.clone(), read_policy(&policy.name, &policy.text)?)))
            .collect::<Result<_, SettingsError>>()?;
        let built_in = scanner_rules::POLICIES.iter().map(|(name, _)| (*name, OnceLock::new())).collect();
        let scanner = Scanner::new(rule_set(&setup.rules)?, setup.limits).bound_by(setup.binding.clone());
        Ok(Self { scanner, policies, built_in })
    }

    /// A hold on the rules.
    pub(crate) fn rules(&self) -> RuleSet {
        self.scanner.rules().clone()
    }

    /// CPU seconds that one job may use.
    pub(crate) fn cpu_seconds(&self) -> u64 {
        self.scanner.limits().get(Resource::Cpu)
    }

    /// Does a job. A scan asks `engines` for their answers once its own looking is done.
    pub(crate) fn run(&self, job: &Job, engines: impl FnOnce(&[Picture]) -> Said) -> Answer {
        let answer = match job {
            Job::Scan(job) => self.scan(job, engines),
            Job::Sniff(job) => Ok(sniff(job)),
            Job::Text(job) => self.texts(job, None),
        };
        answer.unwrap_or_else(|refused| *refused)
    }

    fn policy(&self, name: &str) -> Result<&Policy, Box<Answer>> {
        if let Some((_, policy)) = self.policies.iter().find(|(known, _)| known == name) {
            return Ok(policy);
        }
        let known = self.built_in.iter().find(|(known, _)| *known == name);
        let (Some((_, read)), Some(text)) = (known, built_in_policy(name)) else {
            return Err(Answer::boxed("unknown_policy", format!("there is no policy \"{name}\"")));
        };
        if let Some(policy) = read.get() {
            return Ok(policy);
        }
        let policy = read_policy(name, text).map_err(|error| Answer::boxed("bad_policy", error.to_string()))?;
        Ok(read.get_or_init(|| policy))
    }

    /// Scans and decides. With a death in the job nothing is parsed.
    fn scan(&self, job: &ScanJob, engines: impl FnOnce(&[Picture]) -> Said) -> Result<Answer, Box<Answer>> {
        let policy = self.policy(&job.policy)?;
        let audiences = audiences(policy, &job.audiences)?;
        let mut input = Input::auto(job.bytes.clone());
        input.kind = Kind::named(&job.kind);
        input.name.clone_from(&job.name);
        input.declared.clone_from(&job.declared);
        input.attachments = job
            .attachments
            .iter()
            .map(|attached| Attachment { reference: attached.reference.clone(), bytes: attached.bytes.clone() })
            .collect();
        input.watch.clone_from(&job.watch);
        input.context.clone_from(&job.context);
        input.facts = job.facts();
        input.facts.reviews = reviews(&job.reviews)?;
        let report = self.scanner.scan_beside(input, |pictures| engines(pictures).into_answers());
        let now = today(job.now.as_deref());
        let verdict = report.decide(policy, &audiences, now);
        let receipt = verdict.receipt();
        Ok(Answer {
            decision: Some(verdict.decision()),
            complete: report.is_complete(),
            refusal: report.refusal.as_ref().map(|refusal| (refusal.code.to_owned(), refusal.message.clone())),
            wants: report
                .references
                .iter()
                .filter(|(reference, artifact)| reference.kind == "file" && artifact.is_none())
                .map(|(reference, _)| reference.id.clone())
                .collect(),
            output: match job.format {
                ScanFormat::Json => verdict_json_with(&verdict, &receipt),
                ScanFormat::Human { color } => human(&verdict, color),
                ScanFormat::Sarif => sarif(&verdict),
                ScanFormat::Packet => packet(&verdict, &report.if_approved(policy, &audiences, now), &receipt),
            },
            receipt: receipt.as_str().to_owned(),
            counts: counts(&verdict),
            releases: Released::of(&verdict, &audiences, &job.release),
            death: job.death.clone(),
        })
    }

    /// One answer for each line that is not blank. With a death nothing is parsed.
    pub(crate) fn texts(&self, job: &TextJob, death: Option<&Death>) -> Result<Answer, Box<Answer>> {
        let policy = self.policy(&job.policy)?;
        let audiences = audiences(policy, &job.audiences)?;
        let now = today(job.now.as_deref());
        let facts = death.map_or_else(Facts::default, Death::to_facts);
        let mut answer = Answer { complete: true, ..Answer::default() };
        for (number, line) in (job.first..).zip(lines(&job.lines)) {
            if let Some(line) = text_line(&self.scanner, policy, &audiences, now, (number, &line), facts.clone()) {
                answer.decision = answer.decision.max(line.decision);
                answer.complete &= line.complete;
                answer.output.push_str(&line.json);
                answer.output.push('\n');
            }
        }
        Ok(answer)
    }
}

fn counts(verdict: &Verdict) -> Counts {
    let report = verdict.report();
    let mut findings = BTreeMap::<(&str, &str), u64>::new();
    for finding in &report.findings {
        *findings.entry((&finding.rule.category, finding.severity.name())).or_default() += 1;
    }
    let mut gaps = BTreeMap::<String, u64>::new();
    for gap in &report.gaps {
        *gaps.entry(gap.reason.to_string()).or_default() += 1;
    }
    let would_be = verdict.audiences().iter().filter_map(|audience| audience.would_be).max();
    Counts {
        provider: report.source.provider.map(str::to_owned),
        would_be: would_be.map(|decision| decision.name().to_owned()),
        findings: findings
            .into_iter()
            .map(|((category, severity), count)| (category.to_owned(), severity.to_owned(), count))
            .collect(),
        gaps: gaps.into_iter().collect(),
        engines: report
            .facts
            .engines
            .iter()
            .map(|engine| {
                let word = engine.answer.split(':').next().unwrap_or_default();
                (engine.name.clone(), word.to_owned(), 1)
            })
            .collect(),
    }
}

fn today(date: Option<&str>) -> Option<Date> {
    date?.parse().ok()
}

/// Reviews as the front read them.
fn reviews(given: &[(String, String)]) -> Result<Vec<Review>, Box<Answer>> {
    let read = |(key, json): &(String, String)| Review::from_json(&serde_json::from_str(json).ok()?, key);
    let reviews: Option<_> = given.iter().map(read).collect();
    reviews.ok_or_else(|| Answer::boxed("bad_review", "a review is not whole"))
}

fn sniff(job: &SniffJob) -> Answer {
    let row = match job.format {
        SniffFormat::Human => sniff_human,
        SniffFormat::Tsv => sniff_tsv,
        SniffFormat::Json => sniff_json,
    };
    Answer { complete: true, output: row(&job.name, &job.bytes), ..Answer::default() }
}

/// Lines with their ends, as counted slices.
pub(crate) fn lines(bytes: &Bytes) -> impl Iterator<Item = Bytes> {
    let mut rest = bytes.clone();
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |newline| newline + 1);
        (end > 0).then(|| rest.split_to(end))
    })
}
