//! `scanner.verdict/v1` (CONTRACT §4). Fields may be added, never renamed or removed; all are always present.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap};

mod audience;

use audience::AudienceV1;

use crate::{
    bundle::{ArtifactId, Status},
    finding::{Coordinate, Finding, Gap, Severity},
    limits::{Limits, Resource},
    policy::{ForAudience, finding_id, gap_id},
    receipt::Receipt,
    scan::{ArtifactRecord, Scan},
    verdict::Verdict,
};

/// The schema of the verdicts written here.
const VERDICT_SCHEMA: &str = "scanner.verdict/v1";

/// The verdict as one line of JSON, without a line end.
pub fn verdict_json(verdict: &Verdict) -> String {
    verdict_json_with(verdict, &verdict.receipt())
}

/// The same, where its receipt is at hand: making one costs as much as a small scan.
pub fn verdict_json_with(verdict: &Verdict, receipt: &Receipt) -> String {
    // Keys are strings and nothing here fails to serialize.
    serde_json::to_string(&VerdictV1::of(verdict, receipt)).unwrap_or_default()
}

#[derive(Serialize)]
struct VerdictV1<'a> {
    schema: &'static str,
    scanner: ScannerV1<'a>,
    decision: &'static str,
    complete: bool,
    audiences: InOrder<AudienceV1<'a>>,
    source: SourceV1<'a>,
    calls: Vec<CallV1<'a>>,
    artifacts: Vec<ArtifactV1<'a>>,
    references: Vec<ReferenceV1<'a>>,
    findings: Vec<FindingV1<'a>>,
    gaps: Vec<GapV1<'a>>,
    totals: TotalsV1,
    engines: Vec<EngineV1<'a>>,
    limits: NumbersV1,
    spent: NumbersV1,
    context: &'a BTreeMap<String, String>,
    review: Option<ReviewV1<'a>>,
    receipt: ReceiptV1,
}

#[derive(Serialize)]
struct ScannerV1<'a> {
    version: &'static str,
    rules: &'a str,
    policy: PolicyV1<'a>,
}

#[derive(Serialize)]
struct PolicyV1<'a> {
    name: &'a str,
    digest: &'a str,
    enforced: bool,
}

#[derive(Serialize)]
struct SourceV1<'a> {
    kind: &'static str,
    name: Option<&'a str>,
    provider: Option<&'static str>,
    candidates: &'a [&'static str],
    surface: Option<&'a str>,
    status: Option<&'static str>,
    sha256: &'a str,
    size: u64,
}

#[derive(Serialize)]
struct CallV1<'a> {
    id: Option<&'a str>,
    tool: Option<&'a str>,
    status: &'static str,
    status_reason: &'a str,
    exit_code: Option<i64>,
    container: Option<&'a str>,
    caller: Option<&'a str>,
    code: Option<String>,
    artifacts: Vec<String>,
}

#[derive(Serialize)]
struct ArtifactV1<'a> {
    id: String,
    parent: Option<String>,
    call: Option<&'a str>,
    path: &'a str,
    at: Option<&'a str>,
    origin: &'static str,
    trust: &'static str,
    name: Option<&'a str>,
    declared: Option<&'a str>,
    r#type: &'static str,
    mime: &'static str,
    risk: &'static str,
    browser_type: &'static str,
    also: Vec<&'static str>,
    size: u64,
    sha256: &'a str,
    decision: InOrder<&'static str>,
    deliver: InOrder<&'static str>,
}

#[derive(Serialize)]
struct ReferenceV1<'a> {
    id: &'a str,
    kind: &'static str,
    call: Option<&'a str>,
    name: Option<&'a str>,
    request: Option<RequestV1<'a>>,
    artifact: Option<String>,
    decision: InOrder<&'static str>,
    deliver: InOrder<&'static str>,
}

#[derive(Serialize)]
struct RequestV1<'a> {
    method: &'static str,
    url: &'a str,
    auth: &'a str,
}

/// A finding, as verdicts and `scanner text` write it.
#[derive(Serialize)]
pub(crate) struct FindingV1<'a> {
    id: String,
    rule: &'a str,
    title: &'a str,
    category: &'a str,
    severity: &'static str,
    confidence: &'static str,
    evidence: &'static str,
    artifact: Option<String>,
    span: Option<SpanV1>,
    place: Option<BTreeMap<&'static str, CoordinateV1<'a>>>,
    decoded: &'a [&'static str],
    message: &'a str,
    remedy: &'a str,
    excerpt: Option<&'a str>,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct SpanV1 {
    start: u64,
    end: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CoordinateV1<'a> {
    Number(u64),
    Name(&'a str),
}

/// A gap, as verdicts and `scanner text` write it.
#[derive(Serialize)]
pub(crate) struct GapV1<'a> {
    id: String,
    artifact: Option<String>,
    reason: String,
    detail: &'a str,
    at: Option<&'a str>,
}

#[derive(Serialize)]
struct TotalsV1 {
    findings: InOrder<u64>,
    gaps: usize,
}

#[derive(Serialize)]
struct EngineV1<'a> {
    name: &'a str,
    version: &'a str,
    database: &'a str,
    database_time: &'a str,
    answer: &'a str,
}

/// What a person said, where that counted.
#[derive(Serialize)]
struct ReviewV1<'a> {
    decision: &'static str,
    by: &'a str,
    reason: &'a str,
    at: &'a str,
    key: &'a str,
    receipt: &'a str,
}

#[derive(Serialize)]
struct ReceiptV1 {
    sha256: String,
}

/// An object whose members keep the order they were given in.
struct InOrder<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for InOrder<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Limits, or what was spent: there the worker's own are null, since they are not repeatable.
struct NumbersV1 {
    numbers: Limits,
    of_process: bool,
}

impl Serialize for NumbersV1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Resource::ALL.len()))?;
        for resource in Resource::ALL {
            let number = (self.of_process || !resource.is_of_process()).then(|| self.numbers.get(resource));
            map.serialize_entry(resource.name(), &number)?;
        }
        map.end()
    }
}

/// For each audience, in the order asked.
fn by_audience<V>(verdict: &Verdict, value: impl Fn(&ForAudience) -> V) -> InOrder<V> {
    InOrder(verdict.audiences().iter().map(|audience| (audience.audience.name().to_owned(), value(audience))).collect())
}

impl<'a> VerdictV1<'a> {
    fn of(verdict: &'a Verdict, receipt: &Receipt) -> Self {
        let scan: &Scan = verdict.report();
        let source = &scan.source;
        Self {
            schema: VERDICT_SCHEMA,
            scanner: ScannerV1 {
                version: env!("CARGO_PKG_VERSION"),
                rules: &scan.rules,
                policy: PolicyV1 {
                    name: verdict.policy_name(),
                    digest: verdict.policy_digest(),
                    enforced: verdict.is_enforced(),
                },
            },
            decision: verdict.decision().name(),
            complete: scan.is_complete(),
            audiences: InOrder(
                verdict
                    .audiences()
                    .iter()
                    .map(|audience| (audience.audience.name().to_owned(), AudienceV1::of(verdict, audience)))
                    .collect(),
            ),
            source: SourceV1 {
                kind: source.kind,
                name: source.name.as_deref(),
                provider: source.provider,
                candidates: &source.candidates,
                surface: source.surface,
                status: source.status.map(Status::name),
                sha256: &source.sha256,
                size: source.size,
            },
            calls: (0..scan.calls.len()).filter_map(|position| CallV1::of(scan, position)).collect(),
            artifacts: scan.artifacts.iter().map(|artifact| ArtifactV1::of(verdict, scan, artifact)).collect(),
            references: references(verdict, scan),
            findings: findings_v1(&scan.findings),
            gaps: gaps_v1(&scan.gaps),
            totals: TotalsV1 {
                findings: InOrder(
                    Severity::ALL
                        .into_iter()
                        .rev()
                        .map(|severity| (severity.name().to_owned(), scan.totals.get(&severity).copied().unwrap_or(0)))
                        .collect(),
                ),
                gaps: scan.gaps.len(),
            },
            engines: scan
                .facts
                .engines
                .iter()
                .map(|engine| EngineV1 {
                    name: &engine.name,
                    version: &engine.version,
                    database: &engine.database,
                    database_time: &engine.database_time,
                    answer: &engine.answer,
                })
                .collect(),
            limits: NumbersV1 { numbers: scan.limits, of_process: true },
            spent: NumbersV1 { numbers: scan.spent, of_process: false },
            context: &scan.context,
            review: verdict.review().map(|review| ReviewV1 {
                decision: review.ruling.name(),
                by: &review.by,
                reason: &review.reason,
                at: &review.at,
                key: &review.key,
                receipt: &review.receipt,
            }),
            receipt: ReceiptV1 { sha256: receipt.sha256() },
        }
    }
}

/// The id of a call: the provider's, or none.
fn call_id(scan: &Scan, call: Option<usize>) -> Option<&str> {
    scan.calls.get(call?)?.id.as_deref()
}

impl<'a> CallV1<'a> {
    fn of(scan: &'a Scan, position: usize) -> Option<Self> {
        let call = scan.calls.get(position)?;
        let own = || scan.artifacts.iter().filter(|artifact| artifact.call == Some(position));
        Some(Self {
            id: call.id.as_deref(),
            tool: call.tool.as_deref(),
            status: call.status.name(),
            status_reason: &call.status_reason,
            exit_code: call.exit_code,
            container: call.container.as_deref(),
            caller: call.caller.as_deref(),
            code: own().find(|artifact| artifact.origin.name() == "code").map(|artifact| artifact.id.to_string()),
            artifacts: own().map(|artifact| artifact.id.to_string()).collect(),
        })
    }
}

impl<'a> ArtifactV1<'a> {
    fn of(verdict: &Verdict, scan: &'a Scan, artifact: &'a ArtifactRecord) -> Self {
        let answer = |audience: &ForAudience| verdict.answer(&audience.audience, artifact.id);
        Self {
            id: artifact.id.to_string(),
            parent: artifact.parent.map(|id| id.to_string()),
            call: call_id(scan, artifact.call),
            path: &artifact.path,
            at: artifact.at.as_deref(),
            origin: artifact.origin.name(),
            trust: artifact.trust.name(),
            name: artifact.name.as_deref(),
            declared: artifact.declared.as_deref(),
            r#type: artifact.kind.label,
            mime: artifact.kind.mime,
            risk: artifact.kind.risk.name(),
            browser_type: artifact.browser,
            also: artifact.also.iter().map(|kind| kind.mime).collect(),
            size: artifact.size,
            sha256: &artifact.sha256,
            decision: by_audience(verdict, |audience| {
                answer(audience).map_or("block", |answer| answer.decision.name())
            }),
            deliver: by_audience(verdict, |audience| {
                answer(audience).map_or("nothing", |answer| answer.deliver.name())
            }),
        }
    }
}

/// References, with the answers of the artifacts that were attached. What was not fetched is not delivered.
fn references<'a>(verdict: &Verdict, scan: &'a Scan) -> Vec<ReferenceV1<'a>> {
    scan.references
        .iter()
        .map(|(reference, artifact)| {
            let answer =
                |audience: &ForAudience| artifact.and_then(|id: ArtifactId| verdict.answer(&audience.audience, id));
            ReferenceV1 {
                id: &reference.id,
                kind: reference.kind,
                call: call_id(scan, reference.call),
                name: reference.name.as_deref(),
                request: reference.request.as_ref().map(|request| RequestV1 {
                    method: request.method,
                    url: &request.url,
                    auth: &request.auth,
                }),
                artifact: artifact.map(|id| id.to_string()),
                decision: by_audience(verdict, |audience| {
                    answer(audience).map_or("allow", |answer| answer.decision.name())
                }),
                deliver: by_audience(verdict, |audience| {
                    answer(audience).map_or("nothing", |answer| answer.deliver.name())
                }),
            }
        })
        .collect()
}

pub(crate) fn findings_v1(findings: &[Finding]) -> Vec<FindingV1<'_>> {
    findings
        .iter()
        .enumerate()
        .map(|(position, finding)| FindingV1 {
            id: finding_id(position),
            rule: &finding.rule.id,
            title: &finding.rule.title,
            category: &finding.rule.category,
            severity: finding.severity.name(),
            confidence: finding.confidence.name(),
            evidence: finding.evidence.name(),
            artifact: finding.artifact.map(|id| id.to_string()),
            span: finding.span.map(|span| SpanV1 { start: span.start, end: span.end }),
            place: place(finding),
            decoded: &finding.decoded,
            message: &finding.message,
            remedy: &finding.rule.remedy,
            excerpt: finding.excerpt.as_ref().map(|excerpt| excerpt.as_str()),
            fingerprint: &finding.fingerprint,
        })
        .collect()
}

fn place(finding: &Finding) -> Option<BTreeMap<&'static str, CoordinateV1<'_>>> {
    let coordinates = &finding.place.0;
    (!coordinates.is_empty()).then(|| {
        coordinates
            .iter()
            .map(|(key, coordinate)| {
                let coordinate = match coordinate {
                    Coordinate::Number(number) => CoordinateV1::Number(*number),
                    Coordinate::Name(name) => CoordinateV1::Name(name),
                };
                (*key, coordinate)
            })
            .collect()
    })
}

pub(crate) fn gaps_v1(gaps: &[Gap]) -> Vec<GapV1<'_>> {
    gaps.iter()
        .enumerate()
        .map(|(position, gap)| GapV1 {
            id: gap_id(position),
            artifact: gap.artifact.map(|id| id.to_string()),
            reason: gap.reason.to_string(),
            detail: &gap.detail,
            at: gap.at.as_deref(),
        })
        .collect()
}
