//! The verdict for people: the decision first, then what is bad, then, apart from it, what was not seen.

use std::fmt::Write;

use crate::{
    bundle::ArtifactId,
    finding::{Coordinate, Evidence, Finding, Gap, Reason, Severity, visible},
    policy::{Decision, Deliver},
    scan::{Ruling, Scan},
    verdict::Verdict,
};

/// Findings and gaps shown of each kind; the rest is counted. The JSON form has them all.
const SHOWN: usize = 20;

/// The verdict as text, with line ends. Nothing untrusted in it acts on a terminal.
pub fn human(verdict: &Verdict, color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    head(&mut out, verdict, paint);
    bad(&mut out, verdict.report(), paint);
    unseen(&mut out, verdict.report(), paint);
    out
}

#[derive(Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn decision(self, decision: Decision, text: &str) -> String {
        let code = match decision {
            Decision::Allow => "1;32",
            Decision::Sanitize => "1;36",
            Decision::Review => "1;33",
            Decision::Block => "1;31",
        };
        self.with(code, text)
    }

    fn severity(self, severity: Severity) -> String {
        let code = match severity {
            Severity::Critical | Severity::High => "31",
            Severity::Medium => "33",
            Severity::Low | Severity::Info => "2",
        };
        self.with(code, &format!("{:<8}", severity.name()))
    }

    fn heading(self, text: &str) -> String {
        self.with("1", text)
    }
}

/// Writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($what:tt)*) => {{ let _ = writeln!($out, $($what)*); }};
}

fn head(out: &mut String, verdict: &Verdict, paint: Paint) {
    let scan = verdict.report();
    let source = &scan.source;
    let decision = verdict.decision();
    let name = source.name.as_deref().map_or_else(|| format!("this {}", source.kind), visible);
    let mut about = vec![match source.provider {
        Some(provider) if provider != source.kind => format!("{provider} {}", source.kind),
        _ => source.kind.to_owned(),
    }];
    if let [only] = scan.artifacts.as_slice()
        && only.name == source.name
        && only.parent.is_none()
    {
        about = vec![only.kind.mime.to_owned()];
    }
    if let Some(status) = source.status {
        about.push(format!("status {}", status.name()));
    }
    about.push(size(source.size));
    line!(out, "{}  {name}  ({})", paint.decision(decision, &decision.name().to_uppercase()), about.join(", "));
    let audiences: Vec<String> = verdict
        .audiences()
        .iter()
        .map(|audience| {
            let would_be = audience.would_be.map_or_else(String::new, |would| format!(" (would be {})", would.name()));
            let nothing = match (audience.decision, audience.deliver) {
                (Decision::Allow | Decision::Sanitize, Deliver::Nothing) => ", deliver nothing",
                (_, Deliver::Release) => ", cleaned",
                _ => "",
            };
            format!(
                "{} {}{nothing}{would_be}",
                audience.audience,
                paint.decision(audience.decision, audience.decision.name())
            )
        })
        .collect();
    line!(out, "  {}", audiences.join(" · "));
    if let Some(review) = verdict.review() {
        let did = match review.ruling {
            Ruling::Approve => "Approved",
            Ruling::Reject => "Rejected",
        };
        line!(out, "  {did} by {} on {}: {}", visible(&review.by), visible(&review.at), visible(&review.reason));
    }
    if !verdict.is_enforced() {
        line!(out, "  The policy \"{}\" only reports: nothing is held back.", visible(verdict.policy_name()));
    }
}

fn bad(out: &mut String, scan: &Scan, paint: Paint) {
    let is_bad = |finding: &&Finding| finding.severity >= Severity::Medium && finding.evidence == Evidence::Use;
    let worth: Vec<&Finding> = scan.findings.iter().filter(is_bad).collect();
    let total: u64 = scan.totals.values().sum();
    if worth.is_empty() {
        let minor = match total {
            0 => String::new(),
            1 => " (one remark, in the JSON form)".to_owned(),
            _ => format!(" ({total} remarks, in the JSON form)"),
        };
        if scan.refusal.is_none() && scan.facts.death.is_none() {
            line!(out, "\n  Nothing bad was found{minor}.");
        }
        return;
    }
    line!(out, "\n{}", paint.heading("What is bad"));
    // One of a kind in one artifact; the others of its kind are counted with it.
    let mut kinds: Vec<(&Finding, u64)> = Vec::new();
    for finding in worth {
        let same =
            |(first, _): &&mut (&Finding, u64)| first.rule.id == finding.rule.id && first.artifact == finding.artifact;
        match kinds.iter_mut().find(same) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => kinds.push((finding, 1)),
        }
    }
    let mut told: u64 = 0;
    for (finding, count) in kinds.iter().take(SHOWN) {
        told = told.saturating_add(*count);
        line!(out, "  {} {}", paint.severity(finding.severity), title(finding));
        let more = match count.saturating_sub(1) {
            0 => String::new(),
            1 => ", and once more".to_owned(),
            more => format!(", and {more} more of the kind"),
        };
        line!(out, "           in {}{more}", position(scan, finding));
        if let Some(excerpt) = &finding.excerpt {
            line!(out, "           > {}", excerpt.as_str());
        }
        line!(out, "           {} [{}]", finding.rule.remedy, finding.rule.id);
    }
    if total > told {
        line!(out, "  and {} more, in the JSON form", total.saturating_sub(told));
    }
}

/// The title, and what was found here where that says more.
fn title(finding: &Finding) -> String {
    if finding.message == finding.rule.title {
        finding.message.clone()
    } else {
        format!("{}: {}", finding.rule.title, visible(&finding.message))
    }
}

/// The artifact and the place in it: `report.zip!data/chart.png, chunk tEXt, offset 812`.
pub(super) fn position(scan: &Scan, finding: &Finding) -> String {
    let mut parts = vec![of_artifact(scan, finding.artifact)];
    let coordinates = &finding.place.0;
    for (key, coordinate) in coordinates {
        match (*key, coordinate) {
            // Told together with the line.
            ("column", _) if coordinates.contains_key("line") => {}
            ("line", Coordinate::Number(line)) => match coordinates.get("column") {
                Some(Coordinate::Number(column)) => parts.push(format!("line {line}, column {column}")),
                _ => parts.push(format!("line {line}")),
            },
            (key, Coordinate::Number(number)) => parts.push(format!("{key} {number}")),
            (key, Coordinate::Name(name)) => parts.push(format!("{key} {}", visible(name))),
        }
    }
    if coordinates.is_empty()
        && let Some(span) = finding.span
    {
        parts.push(format!("offset {}", span.start));
    }
    if !finding.decoded.is_empty() {
        parts.push(format!("after undoing {}", finding.decoded.join(", ")));
    }
    parts.join(", ")
}

fn of_artifact(scan: &Scan, artifact: Option<ArtifactId>) -> String {
    let record = artifact.and_then(|id| scan.artifacts.get(usize::try_from(id.0).ok()?));
    record.map_or_else(|| "the input as a whole".to_owned(), |record| visible(&record.path))
}

fn unseen(out: &mut String, scan: &Scan, paint: Paint) {
    let unfetched: Vec<_> = scan.references.iter().filter(|(_, artifact)| artifact.is_none()).collect();
    let gaps: Vec<&Gap> = scan.gaps.iter().filter(|gap| gap.reason != Reason::NotFetched).collect();
    if gaps.is_empty() && unfetched.is_empty() {
        line!(out, "  Everything was seen.");
        return;
    }
    line!(out, "\n{}", paint.heading("What was not seen"));
    for gap in gaps.iter().take(SHOWN) {
        let at = gap.at.as_ref().map_or_else(String::new, |at| format!(" at {}", visible(at)));
        let reason = paint.with("35", &gap.reason.to_string());
        line!(out, "  {reason}  {}{at}: {}", of_artifact(scan, gap.artifact), visible(&gap.detail));
        if let Some(advice) = advice(gap.reason) {
            line!(out, "           {advice}");
        }
    }
    if gaps.len() > SHOWN {
        line!(out, "  and {} more, in the JSON form", gaps.len().saturating_sub(SHOWN));
    }
    let files = if unfetched.len() == 1 { "1 file was" } else { "files were" };
    for (position, (reference, _)) in unfetched.iter().take(SHOWN).enumerate() {
        let count = match (position, unfetched.len()) {
            (0, 1) => format!("{files} not seen: "),
            (0, many) => format!("{many} {files} not seen: "),
            _ => String::new(),
        };
        let name = reference.name.as_ref().map_or_else(String::new, |name| format!(" ({})", visible(name)));
        let id = visible(&reference.id);
        let fetch = reference.request.as_ref().map_or_else(
            || "Fetch it".to_owned(),
            |request| format!("Fetch {} {}", request.method, visible(&request.url)),
        );
        line!(out, "  {count}{id}{name}. {fetch} and pass --attach {id}=PATH");
    }
}

/// How to get it seen.
pub(super) fn advice(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Limit(_) => "If the input is honest, raise the limit with --limit.",
        Reason::Malformed => "Ask the producer for a file that is whole.",
        Reason::Encrypted => "Ask for the content without encryption.",
        Reason::EncryptedStdout => "It goes back to its vendor, who can read it; nothing here can.",
        Reason::Unsupported | Reason::UnknownType => {
            "Ask for it in a format that can be looked into, or have a person look."
        }
        Reason::Timeout | Reason::WorkerDied => "Treat the input as hostile; keep it, and tell us about it.",
        Reason::NotIncluded => "Ask the provider to include it.",
        Reason::EngineUnavailable => "Scan again when the engine answers.",
        Reason::NotFetched => return None,
    })
}

/// Bytes as people say them.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 2] = [("MiB", 1024 * 1024), ("KiB", 1024)];
    for (unit, factor) in UNITS {
        if let (Some(whole), Some(rest)) = (bytes.checked_div(factor), bytes.checked_rem(factor))
            && whole > 0
        {
            let tenth = rest.saturating_mul(10).checked_div(factor).unwrap_or(0);
            return format!("{whole}.{tenth} {unit}");
        }
    }
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}
