//! Counters, as Prometheus reads them. Every label comes from a closed list: no caller and no input makes a new one.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use scanner_core::{Decision, Reason, Severity, is_category, provider_names};
use scanner_worker::{Answer, LETTERS_ENGINE};

use crate::clamav;

/// Upper ends of the buckets of durations, in seconds: from a small text to the clock limit of a scan.
const BUCKETS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 5.0, 10.0];

/// Every counter: name, help, labels.
const COUNTERS: &[(&str, &str)] = &[
    ("scanner_requests_total", "Requests answered, by route, status and the code of errors."),
    ("scanner_scans_total", "Scans, by decision and by the system the input came from."),
    ("scanner_scan_bytes_total", "Bytes of inputs scanned."),
    ("scanner_findings_total", "Findings, by category and severity."),
    ("scanner_gaps_total", "Things not seen, by reason."),
    ("scanner_limits_hit_total", "Limits hit, by name."),
    ("scanner_worker_deaths_total", "Workers that died or were killed, by what the scan then says."),
    ("scanner_engine_answers_total", "What other engines said: clean, found, read or unavailable."),
    ("scanner_reloads_total", "Rules and policies read again: changed, unchanged or refused."),
    ("scanner_would_be_total", "Decisions that a policy in force would have made, by decision."),
];

/// What was counted since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By name and rendered labels.
    counters: BTreeMap<&'static str, BTreeMap<String, u64>>,
    buckets: [u64; BUCKETS.len()],
    scans: u64,
    seconds: f64,
}

impl Inner {
    fn add(&mut self, name: &'static str, labels: String, amount: u64) {
        debug_assert!(COUNTERS.iter().any(|(known, _)| *known == name), "{name} has no help");
        let counter = self.counters.entry(name).or_default().entry(labels).or_default();
        *counter = counter.saturating_add(amount);
    }
}

/// The word of a closed list, or `other`.
fn known(word: &str, is_known: impl FnOnce(&str) -> bool) -> &str {
    if is_known(word) { word } else { "other" }
}

impl Metrics {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        // A panic elsewhere leaves at worst one count undone.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was answered. Route and code are of this program, the status is one of its own.
    pub(crate) fn request(&self, route: &str, status: u16, code: &str) {
        let labels = format!("route=\"{route}\",status=\"{status}\",code=\"{code}\"");
        self.inner().add("scanner_requests_total", labels, 1);
    }

    /// The operator's files were read again. The word is of this program.
    pub(crate) fn reload(&self, outcome: &str) {
        self.inner().add("scanner_reloads_total", format!("outcome=\"{outcome}\""), 1);
    }

    /// An input was scanned.
    pub(crate) fn scan(&self, answer: &Answer, bytes: u64, took: Duration) {
        let mut inner = self.inner();
        let decision = answer.decision.map_or("none", Decision::name);
        let counts = &answer.counts;
        let provider = counts
            .provider
            .as_deref()
            .map_or("none", |name| known(name, |name| provider_names().any(|known| known == name)));
        inner.add("scanner_scans_total", format!("decision=\"{decision}\",provider=\"{provider}\""), 1);
        inner.add("scanner_scan_bytes_total", String::new(), bytes);
        for (category, severity, count) in &counts.findings {
            let category = known(category, is_category);
            let severity = known(severity, |word| Severity::named(word).is_some());
            inner.add("scanner_findings_total", format!("category=\"{category}\",severity=\"{severity}\""), *count);
        }
        for (reason, count) in &counts.gaps {
            let reason = known(reason, |word| Reason::named(word).is_some());
            inner.add("scanner_gaps_total", format!("reason=\"{reason}\""), *count);
            if let Some(limit) = reason.strip_prefix("limit:") {
                inner.add("scanner_limits_hit_total", format!("limit=\"{limit}\""), *count);
            }
        }
        if let Some(death) = &answer.death {
            let reason = known(&death.reason, |word| Reason::named(word).is_some());
            inner.add("scanner_worker_deaths_total", format!("reason=\"{reason}\""), 1);
        }
        for (name, answer, count) in &counts.engines {
            let name = known(name, |name| [clamav::NAME, LETTERS_ENGINE].contains(&name));
            let answer = known(answer, |word| matches!(word, "clean" | "found" | "read" | "unavailable"));
            inner.add("scanner_engine_answers_total", format!("engine=\"{name}\",answer=\"{answer}\""), *count);
        }
        if let Some(would_be) = counts.would_be.as_deref() {
            let would_be = known(would_be, |word| Decision::named(word).is_some());
            inner.add("scanner_would_be_total", format!("decision=\"{would_be}\""), 1);
        }
        let seconds = took.as_secs_f64();
        for (bucket, end) in inner.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= end);
        }
        inner.scans += 1;
        inner.seconds += seconds;
    }

    /// Everything, and the gauges given: name, help, value.
    pub(crate) fn render(&self, gauges: &[(&str, &str, f64)]) -> String {
        let inner = self.inner();
        let mut out = String::new();
        // Writing to a string does not fail.
        for (name, help) in COUNTERS {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
            for (labels, value) in inner.counters.get(name).into_iter().flatten() {
                let _ = if labels.is_empty() {
                    writeln!(out, "{name} {value}")
                } else {
                    writeln!(out, "{name}{{{labels}}} {value}")
                };
            }
        }
        let name = "scanner_scan_duration_seconds";
        let _ = writeln!(
            out,
            "# HELP {name} From the end of the body to the verdict, waiting included.\n# TYPE {name} histogram"
        );
        for (count, end) in inner.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(out, "{name}_bucket{{le=\"{end}\"}} {count}");
        }
        let _ = writeln!(
            out,
            "{name}_bucket{{le=\"+Inf\"}} {}\n{name}_sum {}\n{name}_count {}",
            inner.scans, inner.seconds, inner.scans
        );
        for (name, help, value) in gauges {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        let _ = writeln!(
            out,
            "# HELP scanner_info The version.\n# TYPE scanner_info gauge\nscanner_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_bounded_whatever_a_worker_says() {
        let metrics = Metrics::default();
        for number in 0..100 {
            let mut answer = Answer::refused("x", "y");
            let hostile = format!("\"}}\n{number}");
            answer.counts.provider = Some(hostile.clone());
            answer.counts.would_be = Some(hostile.clone());
            answer.counts.findings = vec![(hostile.clone(), hostile.clone(), 1)];
            answer.counts.engines = vec![(hostile.clone(), hostile.clone(), 1)];
            answer.counts.gaps = vec![(hostile, 1)];
            metrics.scan(&answer, 1, Duration::from_millis(3));
        }
        let text = metrics.render(&[]);
        assert!(text.contains("scanner_scans_total{decision=\"none\",provider=\"other\"} 100\n"), "{text}");
        assert!(text.contains("scanner_findings_total{category=\"other\",severity=\"other\"} 100\n"), "{text}");
        assert!(text.contains("scanner_gaps_total{reason=\"other\"} 100\n"), "{text}");
        assert!(text.contains("scanner_scan_bytes_total 100\n"), "{text}");
        assert!(text.contains("_bucket{le=\"0.005\"} 100\n") && text.contains("_bucket{le=\"0.0025\"} 0\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("# ") || line.split_once(' ').is_some()));
    }
}
