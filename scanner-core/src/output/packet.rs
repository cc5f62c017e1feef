//! The review packet: everything a person needs to decide about one input, on one page that does nothing. There is no
//! script, no link and no remote load in it; the one style is named by its digest in the page's own policy. Whatever is
//! untrusted goes through [`escaped`]: what a browser would act on, or nobody would see, is written out.

use std::fmt::Write;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use super::human::{advice, position, size};
use crate::{
    finding::{Finding, Gap, visible},
    policy::{Because, Cause, Decision, ForAudience, finding_id, gap_id},
    receipt::Receipt,
    verdict::{Release, Verdict},
};

mod preview;

use preview::Previews;

/// Findings, artifacts and gaps shown; the rest is counted, and stands in the verdict.
const SHOWN: usize = 200;

const STYLE: &str = "body{font:16px/1.5 sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}\
table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2rem .5rem;text-align:left;vertical-align:top}\
pre{background:#f3f3f3;padding:.5rem;white-space:pre-wrap;overflow-wrap:anywhere}\
code{overflow-wrap:anywhere}.block{color:#a00}.review{color:#850}.sanitize{color:#066}.allow{color:#060}";

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($what:tt)*) => {{ let _ = writeln!($out, $($what)*); }};
}

/// The page. `approved` is the same verdict as it would be if a person approved it for every audience.
pub fn packet(verdict: &Verdict, approved: &Verdict, receipt: &Receipt) -> String {
    let mut out = String::new();
    head(&mut out, verdict, receipt);
    audiences(&mut out, verdict);
    findings(&mut out, verdict);
    unseen(&mut out, verdict);
    artifacts(&mut out, verdict);
    releases(&mut out, verdict, approved);
    out.push_str("</body>\n</html>\n");
    out
}

/// Untrusted text as part of a page: neither markup, nor anything that acts, reorders or hides.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        push_escaped(&mut out, character);
    }
    out
}

fn push_escaped(out: &mut String, character: char) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        _ => out.push(character),
    }
}

fn colored(decision: Decision) -> String {
    format!("<b class=\"{0}\">{0}</b>", decision.name())
}

fn head(out: &mut String, verdict: &Verdict, receipt: &Receipt) {
    let scan = verdict.report();
    let source = &scan.source;
    let name = source.name.as_deref().map_or_else(|| format!("this {}", source.kind), escaped);
    let style = BASE64.encode(&Sha256::digest(STYLE));
    put!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
    put!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{style}'; \
         base-uri 'none'; form-action 'none'\">"
    );
    put!(out, "<meta name=\"referrer\" content=\"no-referrer\">\n<title>Review of {name}</title>");
    put!(out, "<style>{STYLE}</style>\n</head>\n<body>");
    put!(out, "<h1>{}: {name}</h1>", colored(verdict.decision()));
    put!(
        out,
        "<p>Nothing on this page acts. Secrets are left out; what could act or hide is written as an escape.</p>"
    );
    put!(out, "<table>");
    let mut row = |what: &str, value: String| put!(out, "<tr><th>{what}</th><td>{value}</td></tr>");
    let code = |text: &str| format!("<code>{}</code>", escaped(text));
    row("input", format!("{}, {}, sha256 {}", source.kind, size(source.size), code(&source.sha256)));
    row("read as", code(source.provider.unwrap_or(&source.asked)));
    row("policy", format!("{} {}", escaped(verdict.policy_name()), code(verdict.policy_digest())));
    row("rules", code(&scan.rules));
    row("scanner", env!("CARGO_PKG_VERSION").to_owned());
    row("receipt", format!("sha256 {}", code(&receipt.sha256())));
    row("seen whole", if scan.is_complete() { "yes" } else { "no: see below" }.to_owned());
    for (key, value) in &scan.context {
        row("context", format!("{} = {}", escaped(key), escaped(value)));
    }
    put!(out, "</table>");
}

fn audiences(out: &mut String, verdict: &Verdict) {
    put!(out, "<h2>What was decided, and by which clause</h2>\n<table>");
    put!(out, "<tr><th>for</th><th>decision</th><th>delivered now</th><th>because of</th></tr>");
    for answer in verdict.audiences() {
        let because: Vec<String> = answer.because.iter().map(reason).collect();
        let would_be = answer.would_be.map_or_else(String::new, |would| format!(" (would be {})", would.name()));
        put!(
            out,
            "<tr><td>{}</td><td>{}{would_be}</td><td>{}</td><td>{}</td></tr>",
            escaped(answer.audience.name()),
            colored(answer.decision),
            answer.deliver.name(),
            because.join("<br>")
        );
    }
    put!(out, "</table>");
}

fn reason(because: &Because) -> String {
    let clause = escaped(&because.clause);
    match &because.cause {
        Cause::Finding(id) => format!("{clause}: finding {}", escaped(id)),
        Cause::Gap(id) => format!("{clause}: {}", escaped(id)),
        Cause::Unlisted => clause,
    }
}

fn findings(out: &mut String, verdict: &Verdict) {
    let scan = verdict.report();
    put!(out, "<h2>What was found</h2>");
    if scan.findings.is_empty() {
        put!(out, "<p>Nothing.</p>");
    }
    for (at, finding) in scan.findings.iter().enumerate().take(SHOWN) {
        one_finding(out, verdict, at, finding);
    }
    let total = scan.totals.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let shown = u64::try_from(scan.findings.len().min(SHOWN)).unwrap_or(u64::MAX);
    if total > shown {
        put!(out, "<p>And {} more.</p>", total.saturating_sub(shown));
    }
}

fn one_finding(out: &mut String, verdict: &Verdict, at: usize, finding: &Finding) {
    let scan = verdict.report();
    let rule = &finding.rule;
    put!(out, "<h3>{}: {}</h3>", finding_id(at), escaped(&rule.title));
    put!(
        out,
        "<p>{}, confidence {}, {} [{}, {}]</p>",
        finding.severity.name(),
        finding.confidence.name(),
        finding.evidence.name(),
        escaped(&rule.category),
        escaped(&rule.id)
    );
    if finding.message != rule.title {
        put!(out, "<p>{}</p>", escaped(&finding.message));
    }
    // Escaped for a terminal already; what is left is markup.
    put!(out, "<p>In {}", escaped(&position(scan, finding)));
    let record = finding.artifact.and_then(|id| scan.artifacts.get(usize::try_from(id.0).ok()?));
    if let Some(record) = record {
        put!(out, "<br>{}, sha256 <code>{}</code>", record.id, escaped(&record.sha256));
    }
    put!(out, "</p>");
    if let Some(excerpt) = &finding.excerpt {
        put!(out, "<pre>{}</pre>", escaped(excerpt.as_str()));
    }
    put!(out, "<p>Why it matters: {}<br>What to do: {}</p>", escaped(&rule.why), escaped(&rule.remedy));
    let decision = |answer: &ForAudience| {
        answer.findings.get(at).map(|decision| format!("{} {}", escaped(answer.audience.name()), colored(*decision)))
    };
    let decisions: Vec<String> = verdict.audiences().iter().filter_map(decision).collect();
    put!(out, "<p>{}</p>", decisions.join(", "));
}

fn unseen(out: &mut String, verdict: &Verdict) {
    let scan = verdict.report();
    put!(out, "<h2>What was not seen</h2>");
    let unfetched: Vec<_> = scan.references.iter().filter(|(_, artifact)| artifact.is_none()).collect();
    if scan.gaps.is_empty() && unfetched.is_empty() {
        put!(out, "<p>Everything was seen.</p>");
        return;
    }
    put!(out, "<ul>");
    for (at, gap) in scan.gaps.iter().enumerate().take(SHOWN) {
        put!(out, "<li>{}: {}</li>", gap_id(at), one_gap(verdict, gap));
    }
    for (reference, _) in unfetched.iter().take(SHOWN) {
        let name = reference.name.as_ref().map_or_else(String::new, |name| format!(" ({})", escaped(name)));
        put!(out, "<li>not fetched: {}{name}</li>", escaped(&reference.id));
    }
    put!(out, "</ul>");
    let more = scan.gaps.len().saturating_sub(SHOWN).saturating_add(unfetched.len().saturating_sub(SHOWN));
    if more > 0 {
        put!(out, "<p>And {more} more.</p>");
    }
}

fn one_gap(verdict: &Verdict, gap: &Gap) -> String {
    let record = gap.artifact.and_then(|id| verdict.report().artifacts.get(usize::try_from(id.0).ok()?));
    let place = record.map_or_else(|| "the input as a whole".to_owned(), |record| escaped(&record.path));
    let at = gap.at.as_ref().map_or_else(String::new, |at| format!(" at {}", escaped(at)));
    let advice = advice(gap.reason).map_or_else(String::new, |advice| format!("<br>{}", escaped(advice)));
    format!("<b>{}</b> in {place}{at}: {}{advice}", gap.reason, escaped(&gap.detail))
}

fn artifacts(out: &mut String, verdict: &Verdict) {
    let all = &verdict.report().artifacts;
    put!(out, "<h2>The artifacts</h2>\n<table>");
    put!(out, "<tr><th>id</th><th>what</th><th>type</th><th>size</th><th>sha256</th></tr>");
    for record in all.iter().take(SHOWN) {
        put!(
            out,
            "<tr><td>{}</td><td>{} {}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
            record.id,
            record.origin.name(),
            escaped(&record.path),
            record.kind.mime,
            size(record.size),
            escaped(&record.sha256)
        );
    }
    put!(out, "</table>");
    if all.len() > SHOWN {
        put!(out, "<p>And {} more.</p>", all.len().saturating_sub(SHOWN));
    }
}

fn releases(out: &mut String, verdict: &Verdict, approved: &Verdict) {
    put!(out, "<h2>What would leave if you approve</h2>");
    let mut previews = Previews::default();
    for (now, then) in verdict.audiences().iter().zip(approved.audiences()) {
        let name = escaped(now.audience.name());
        put!(out, "<h3>{name}</h3>");
        match (now.decision, then.decision) {
            (Decision::Block, _) => {
                put!(out, "<p>Nothing: {}, and no approval changes that.</p>", colored(now.decision));
                continue;
            }
            (Decision::Review, _) => put!(out, "<p>{} becomes {}.</p>", colored(now.decision), colored(then.decision)),
            (same, _) => put!(out, "<p>{}, with and without an approval.</p>", colored(same)),
        }
        match approved.release(&then.audience) {
            Some(Release::Unchanged(bytes)) => put!(out, "<p>The input as it came, {} bytes.</p>", bytes.len()),
            Some(Release::Cleaned(released)) => {
                put!(
                    out,
                    "<p>A cleaned version, {} bytes, sha256 <code>{}</code>:</p>\n<ul>",
                    released.bytes.len(),
                    escaped(&released.sha256)
                );
                for action in &released.actions {
                    let of = action.artifact.map_or_else(|| "the envelope".to_owned(), |id| id.to_string());
                    put!(out, "<li>{of}: {}, {} times</li>", escaped(action.action), action.count);
                }
                put!(out, "</ul>");
            }
            Some(Release::Withheld(why)) => put!(out, "<p>The whole does not leave: {}.</p>", escaped(why)),
            None => {}
        }
        previews.of(out, approved, &then.audience);
    }
}
