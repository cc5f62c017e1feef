//! The text engine: rules and coded checks over one text and over what is hidden in it.
//!
//! A text is read as it stands (the base), then in views derived from it: decoded, normalised, undone. Everything
//! found is placed back in the base, told once, and shown only through excerpts in which every secret of the text,
//! whichever rule or view found it, is masked.

use std::ops::Range;

use crate::{
    bundle::ArtifactId,
    finding::{Evidence, Excerpt, Finding, Findings, Rule, RuleRef, Secret, Severity, Stop, fingerprint, masked},
    limits::{Budget, Limits, Resource},
    view::{OffsetMap, TextView},
};

mod anchors;
mod check;
mod confusable;
mod decode;
mod derive;
mod gitleaks;
mod hits;
mod lines;
mod looks;
mod mention;
mod normalize;
mod proof;
mod rules;
mod undo;
mod watch;

pub use proof::Proof;
pub use rules::{RuleSet, RuleTestFailure, TextRule};
pub use watch::Watch;

pub(crate) use check::is_invisible;
use check::{About, Sink};
use hits::{Hit, Hits, Source};
use lines::Lines;
use looks::{DENSE_BYTES, Look, reach};
use rules::SPAN_CAP;
use undo::Marks;

/// Steps (about ten nanoseconds each) for looking at one anchor with one rule, as measured.
const STEPS_PER_ANCHOR: u64 = 12;
/// Forms within forms that are written out.
const LAYERS: u8 = 2;
/// Types whose texts are letters on a page.
const DOCUMENTS: [&str; 11] = ["doc", "docx", "odp", "ods", "odt", "pdf", "ppt", "pptx", "rtf", "xls", "xlsx"];
/// Hits before and behind one that may be of the same words.
const NEIGHBOURS: usize = 8;
/// Bytes of a plain pass for one step: the matcher reads about 0.4 bytes a nanosecond.
const BYTES_PER_STEP: u64 = 4;
/// Places of a window that are passed over in one step.
const STARTS_PER_STEP: u64 = 8;

/// One artifact's texts being read.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The rules.
    pub(crate) rules: &'a RuleSet,
    /// Strings that must not appear.
    pub(crate) watch: &'a Watch,
    /// The artifact's type.
    pub(crate) label: &'a str,
    /// Its name, which is untrusted.
    pub(crate) name: Option<&'a str>,
    /// The artifact.
    pub(crate) artifact: ArtifactId,
}

impl Reading<'_> {
    /// Reads one text. What was found before a stop is told.
    pub(crate) fn read(&self, view: &TextView, budget: &mut Budget, findings: &mut Findings) -> Result<(), Stop> {
        let whole: &[u8] = &view.text;
        let length = u64::try_from(whole.len()).unwrap_or(u64::MAX);
        let covered = length.min(budget.left(Resource::TextBytes));
        budget.spend(Resource::TextBytes, covered)?;
        let text = usize::try_from(covered).ok().and_then(|end| whole.get(..end)).unwrap_or(whole);
        let mut hits = Hits::default();
        // Letters of a document that spell a tag are letters: no viewer of documents reads them as markup.
        let is_judged = view.is_judged || DOCUMENTS.contains(&self.label);
        let outcome = self.gather(text, is_judged, budget, &mut hits);
        self.tell(text, view, hits, findings);
        outcome?;
        // The part that is not covered is asked for, so that the gap names the limit.
        budget.spend(Resource::TextBytes, length.saturating_sub(covered))?;
        Ok(())
    }

    /// Untrusted words that a report repeats, with every secret in them masked; `None` where there is none.
    pub(crate) fn masked(&self, words: &str) -> Option<String> {
        let mut hits = Hits::default();
        // Words are cut short before; what this costs is not the scan's to count.
        self.gather(words.as_bytes(), false, &mut Budget::new(Limits::default()), &mut hits).ok()?;
        let (_, _, hidden) = hits.settle(words.as_bytes());
        let secrets = hidden.near(&(0..words.len()));
        (!secrets.is_empty()).then(|| masked(words, secrets))
    }

    fn gather(&self, text: &[u8], is_judged: bool, budget: &mut Budget, hits: &mut Hits) -> Result<(), Stop> {
        let base = Layer { text, maps: Vec::new(), decoded: Vec::new(), scope: Scope::All };
        let marks = self.scan(&base, budget, hits)?;
        hits.names_subject = marks.names_subject();
        for check in self.rules.checks().filter(|check| !(is_judged && check.about == About::Markup)) {
            budget.spend(Resource::Steps, u64::try_from(text.len()).unwrap_or(u64::MAX) / BYTES_PER_STEP / 4)?;
            (check.run)(text, &mut Sink::new(hits));
        }
        self.derived(&base, &marks, 1, budget, hits)
    }

    /// Reads what is written in another form in a layer, and again in that: two forms deep.
    fn derived(
        &self,
        layer: &Layer<'_>,
        marks: &Marks,
        depth: u8,
        budget: &mut Budget,
        hits: &mut Hits,
    ) -> Result<(), Stop> {
        let mut views = decode::views(layer.text, budget)?;
        views.extend(normalize::views(layer.text, budget)?);
        if depth == 1 || layer.scope == Scope::All {
            views.extend(undo::views(layer.text, marks, budget)?);
        }
        for view in &views {
            let mut maps = vec![&view.map];
            maps.extend(&layer.maps);
            let mut decoded = layer.decoded.clone();
            decoded.push(view.layer);
            let scope = if view.only_injection { Scope::Injection } else { layer.scope };
            let inner = Layer { text: &view.text, maps, decoded, scope };
            let marks = self.scan(&inner, budget, hits)?;
            if depth < LAYERS {
                self.derived(&inner, &marks, depth.saturating_add(1), budget, hits)?;
            }
        }
        Ok(())
    }

    /// Reads one layer with the rules and the watch list.
    fn scan(&self, layer: &Layer<'_>, budget: &mut Budget, hits: &mut Hits) -> Result<Marks, Stop> {
        let bytes = u64::try_from(layer.text.len()).unwrap_or(u64::MAX);
        budget.spend(Resource::Steps, bytes / BYTES_PER_STEP)?;
        for range in self.watch.find(layer.text) {
            let matched = layer.text.get(range.clone()).unwrap_or_default();
            let hidden = Secret { range: layer.in_base(&range), public_prefix: 0 };
            hits.add(Source::BuiltIn(&watch::LITERAL), watch::LITERAL.severity, hidden.range.clone(), || Hit {
                decoded: layer.decoded.clone(),
                ..Hit::of(&watch::LITERAL, matched)
            });
            hits.hide(hidden);
        }
        let mut marks = Marks::default();
        let rules = self.rules.rules().len();
        let mut looks = std::mem::take(&mut hits.looks);
        looks.begin(rules);
        hits.passes = hits.passes.saturating_add(1);
        let outcome = self.rules.anchors().each(layer.text, |index, anchor| {
            let (Some(rule), Some(look)) = (self.rules.rule(index), looks.of(index)) else {
                marks.note(index.saturating_sub(rules), anchor.start);
                return Ok(());
            };
            if anchor.start < look.read_to || !self.reads(rule, layer.scope) {
                return Ok(());
            }
            self.look(rule, index, anchor, layer, look, budget, hits)
        });
        hits.looks = looks;
        outcome?;
        if layer.scope == Scope::All {
            self.gitleaks(layer, budget, hits)?;
            if !layer.decoded.is_empty() {
                for check in self.rules.checks().filter(|check| check.about == About::Data) {
                    budget.spend(Resource::Steps, bytes / BYTES_PER_STEP / 4)?;
                    (check.run)(layer.text, &mut Sink::within(hits, layer));
                }
            }
        }
        Ok(marks)
    }

    fn reads(&self, rule: &TextRule, scope: Scope) -> bool {
        (scope == Scope::All || rule.is_injection())
            && (rule.applies_to.is_empty() || rule.applies_to.iter().any(|label| label == self.label))
    }

    /// Looks with one rule at one anchor: at every place in front of it where a match that holds it may begin, and none
    /// of them twice.
    #[expect(clippy::too_many_arguments, reason = "one step of scan, taken out to be readable")]
    fn look(
        &self,
        rule: &TextRule,
        index: usize,
        anchor: Range<usize>,
        layer: &Layer<'_>,
        look: &mut Look,
        budget: &mut Budget,
        hits: &mut Hits,
    ) -> Result<(), Stop> {
        let end = layer.text.len();
        let from = reach(layer.text, anchor.start, rule.before).max(look.read_to);
        let mut starts = from..anchor.start.saturating_add(1);
        budget.spend(Resource::Steps, STEPS_PER_ANCHOR.saturating_add(offset(starts.len()) / STARTS_PER_STEP))?;
        if look.is_dense(anchor.start) && anchor.start >= look.sure_to {
            // One pass over the stretch ahead says whether any match ends in it, and where the first one does.
            let stretch = DENSE_BYTES.saturating_add(SPAN_CAP);
            budget.spend(Resource::Steps, offset(stretch) / BYTES_PER_STEP)?;
            let ahead = from..anchor.start.saturating_add(stretch).min(end);
            match rule.pattern.ends_in(layer.text, ahead) {
                Some(at) => look.sure_to = at.max(anchor.end),
                None => {
                    look.read_to = anchor.start.saturating_add(DENSE_BYTES);
                    return Ok(());
                }
            }
        }
        look.read_to = look.read_to.max(starts.end);
        let mut tried = 0_u32;
        while let Some(found) = rule.pattern.begins_in(layer.text, starts.clone(), &mut tried) {
            if found.is_empty() {
                return Ok(());
            }
            look.read_to = look.read_to.max(found.end);
            starts.start = found.end;
            self.hit(rule, index, found, layer, hits);
            tried = 0;
        }
        if tried > 0 {
            look.missed(anchor.start, tried);
        }
        Ok(())
    }

    fn hit(&self, rule: &TextRule, index: usize, found: Range<usize>, layer: &Layer<'_>, hits: &mut Hits) {
        let (mut severity, mut confidence) = (rule.severity(), rule.rule.confidence);
        let mut marked = found.clone();
        let mut secret_at = None;
        if rule.is_secret() {
            let part = rule.pattern.group(layer.text, found.clone()).unwrap_or_else(|| found.clone());
            let secret = layer.text.get(part.clone()).unwrap_or_default();
            if hits::entropy_tenths(secret) < rule.entropy_tenths {
                return;
            }
            match rule.proof.map_or(Some(confidence), |proof| proof.weigh(secret, confidence)) {
                Some(weighed) => confidence = weighed,
                None => return,
            }
            if hits::is_placeholder(secret) {
                severity = Severity::Info;
            }
            let range = layer.in_base(&part);
            secret_at = Some(range.clone());
            marked = part;
            hits.hide(Secret { range, public_prefix: rule.public_prefix });
        }
        let matched = layer.text.get(marked).unwrap_or_default();
        let pass = hits.passes;
        hits.add(Source::Loaded(index), severity, layer.in_base(&found), || Hit {
            confidence,
            weak: !rule.stands_alone(),
            same_line: rule.same_line,
            seen: (pass, found.clone()),
            injection: rule.is_injection(),
            secret: secret_at,
            decoded: layer.decoded.clone(),
            ..Hit::of(&rule.rule, matched)
        });
    }

    /// Tells what was found: placed, masked, the first of each rule whole and the rest counted.
    fn tell(&self, text: &[u8], view: &TextView, hits: Hits, findings: &mut Findings) {
        let names_subject = hits.names_subject;
        let (kept, counted, hidden) = hits.settle(text);
        let mut lines = Lines::of(text);
        let discusses = names_subject && kept.iter().any(|hit| hit.injection) && mention::discusses(text);
        let mut speaks: Option<Finding> = None;
        let told_better: Vec<bool> = (0..kept.len()).map(|at| self.is_told_better(&kept, at)).collect();
        for (mut hit, told_better) in kept.into_iter().zip(told_better) {
            if told_better {
                continue;
            }
            if discusses && hit.injection {
                hit.severity = hit.severity.min(Severity::Medium);
                if mention::is_quoted(text, &hit.range) {
                    hit.evidence = Evidence::Mention;
                }
            }
            let kind = hit.kind();
            let Some(rule) = self.rule_of(&hit.source) else { continue };
            // The test file is one only where it begins something: within a sentence it is words about it.
            if rule.category == "malware.eicar" && mention::is_in_sentence(text, &hit.range) {
                hit.evidence = Evidence::Mention;
            }
            // The same secret in a log, a table and an address is one incident: one mark, wherever it is.
            let is_private = rule.category.starts_with("secret.") || rule.category.starts_with("pii.");
            let label = if is_private { "secret" } else { self.label };
            let fingerprint = fingerprint(&rule.id, label, &hit.matched);
            let mut finding = Finding::of(rule).severity(hit.severity);
            finding.confidence = hit.confidence;
            finding.evidence = hit.evidence;
            finding.artifact = Some(self.artifact);
            finding.span = view.map.as_ref().map(|map| map.span(offset(hit.range.start), offset(hit.range.end)));
            finding.secret = view
                .map
                .as_ref()
                .zip(hit.secret)
                .map(|(map, secret)| map.span(offset(secret.start), offset(secret.end)));
            finding.place = view.place_at(offset(hit.range.start));
            if finding.place.0.is_empty() {
                let (line, column) = lines.place(hit.range.start);
                finding.place = finding.place.number("line", line).number("column", column);
            }
            finding.decoded = view.decoded.iter().copied().chain(hit.decoded.iter().copied()).collect();
            if let Some(message) = hit.message {
                finding.message = message;
            }
            finding.excerpt = Some(Excerpt::redacted(text, hit.range.clone(), hidden.near(&hit.range)));
            finding.fingerprint = fingerprint;
            let more = counted.get(&kind).filter(|(first, _)| *first == hit.range).map_or(0, |(_, more)| *more);
            findings.add_uncounted(&finding, more);
            if view.hidden.is_some() && speaks.is_none() && is_spoken(&finding) {
                speaks = Some(finding.clone());
            }
            findings.add(finding);
        }
        if let (Some(rule), Some(spoken)) = (view.hidden, speaks) {
            let hidden = Finding::built_in(rule);
            findings.add(Finding {
                rule: hidden.rule,
                severity: hidden.severity,
                confidence: hidden.confidence,
                message: hidden.message,
                fingerprint: fingerprint(&rule.id, self.label, text),
                ..spoken
            });
        }
    }

    /// Whether a rule beside says the same of the same words, and says it louder: one thing is told once.
    fn is_told_better(&self, kept: &[Hit], at: usize) -> bool {
        let Some((hit, rule)) = kept.get(at).and_then(|hit| Some((hit, self.rule_of(&hit.source)?))) else {
            return false;
        };
        // Hits are in order of position, so those of the same words stand close.
        let near = at.saturating_sub(NEIGHBOURS)..at.saturating_add(NEIGHBOURS).min(kept.len());
        let neighbours = kept.get(near).unwrap_or_default().iter();
        hit.injection
            && neighbours.filter(|other| other.injection && other.source != hit.source).any(|other| {
                other.severity > hit.severity
                    && other.range.start < hit.range.end
                    && hit.range.start < other.range.end
                    && self.rule_of(&other.source).is_some_and(|other| other.category == rule.category)
            })
    }

    fn rule_of(&self, source: &Source) -> Option<RuleRef> {
        match source {
            Source::BuiltIn(rule) => Some(RuleRef::BuiltIn(rule)),
            Source::Loaded(index) => self.rules.rule(*index).map(|rule| RuleRef::Loaded(rule.rule.clone())),
        }
    }
}

/// Whether a finding makes the text it is in a message: an instruction, or data carried.
fn is_spoken(finding: &Finding) -> bool {
    let category = &finding.rule.category;
    finding.evidence == Evidence::Use
        && finding.severity >= Severity::Medium
        && (category.starts_with("injection.") || category.starts_with("secret."))
}

/// Which rules read a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All of them.
    All,
    /// Those about instructions to a model: for views in which honest text turns to noise.
    Injection,
}

/// A text as one pass reads it, and the way back to the base.
#[derive(Debug)]
struct Layer<'a> {
    text: &'a [u8],
    /// From this text to its parent, from there to the next, and so on to the base.
    maps: Vec<&'a OffsetMap>,
    decoded: Vec<&'static str>,
    scope: Scope,
}

impl Layer<'_> {
    fn in_base(&self, range: &Range<usize>) -> Range<usize> {
        let mut at = (offset(range.start), offset(range.end));
        for map in &self.maps {
            let span = map.span(at.0, at.1);
            at = (span.start, span.end);
        }
        index(at.0)..index(at.1)
    }
}

fn offset(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// One text, by itself, under default limits.
fn read_alone(rules: &RuleSet, text: &[u8]) -> Vec<Finding> {
    let limits = Limits::default();
    let mut findings = Findings::keeping(limits.get(Resource::Findings));
    let mut budget = Budget::new(limits);
    let watch = Watch::default();
    let reading = Reading { rules, watch: &watch, label: "text", name: None, artifact: ArtifactId(0) };
    let view = TextView::at(bytes::Bytes::copy_from_slice(text), 0);
    // A text under default limits stops only where a scan would note a gap; what was found stays.
    let _ = reading.read(&view, &mut budget, &mut findings);
    let (mut found, _, _) = findings.finish();
    found.sort_by_key(|finding| finding.span);
    found
}

/// Whether a rule finds something in a text, by itself or beside others.
fn found_by(rules: &RuleSet, rule: &TextRule, text: &[u8]) -> bool {
    let watch = Watch::default();
    let label = rule.applies_to.first().map_or("text", String::as_str);
    let reading = Reading { rules, watch: &watch, label, name: None, artifact: ArtifactId(0) };
    let mut hits = Hits::default();
    let _ = reading.gather(text, false, &mut Budget::new(Limits::default()), &mut hits);
    hits.any(|hit| {
        hit.severity >= Severity::Low && reading.rule_of(&hit.source).is_some_and(|found| found.id == rule.rule.id)
    })
}

/// A hit of a rule in code is made from the rule alone.
impl Hit {
    fn of(rule: &Rule, matched: &[u8]) -> Self {
        Self::new(rule.severity, rule.confidence, matched)
    }
}

#[cfg(test)]
mod tests;
