//! Reading a text with rules of gitleaks files: a regex over the whole text, asked when one of its keywords is there.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use regex_automata::{Anchored, Input};

use super::{
    Layer, Reading,
    hits::{self, Hit, Hits, Source},
    offset,
    rules::Gitleaks,
};
use crate::{
    finding::{Secret, Severity, Stop},
    limits::{Budget, Resource},
};

/// A search reads at most that far, so that a regex that reads on behind its match costs so much and no more.
const WINDOW: usize = 64 * 1024;
/// A match that begins in the last part of a window is found in the next one: as long as a private key may be.
const OVERLAP: usize = 16 * 1024;
/// Matches of one rule told in one text. Beyond that it is a flood, and has been told. What an allowlist lets pass does not
/// count: a flood of that must not hide the one behind it.
const MATCHES_MOST: usize = 256;
/// Bytes that one step of ten nanoseconds reads: these regexes are slower than the anchors.
const BYTES_PER_STEP: u64 = 2;

/// The rules of gitleaks files in a set, and their keywords.
#[derive(Debug)]
pub(crate) struct Keywords {
    matcher: AhoCorasick,
    /// For each keyword its rules, by number in the set.
    rules: Vec<Vec<usize>>,
    /// Rules without one.
    always: Vec<usize>,
    /// Rules about names alone.
    names: Vec<usize>,
}

impl Keywords {
    /// For the rules of a set, in its order; `None` where no rule is one of these.
    pub(crate) fn of<'a>(rules: impl Iterator<Item = Option<&'a Gitleaks>>) -> Option<Self> {
        let mut words: std::collections::BTreeMap<&str, Vec<usize>> = std::collections::BTreeMap::new();
        let (mut always, mut names) = (Vec::new(), Vec::new());
        for (index, rule) in rules.enumerate() {
            let Some(rule) = rule else { continue };
            if rule.regex.is_none() {
                names.push(index);
                continue;
            }
            if rule.keywords.is_empty() {
                always.push(index);
            }
            for word in &rule.keywords {
                words.entry(word).or_default().push(index);
            }
        }
        let matcher = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(words.keys())
            .ok()?;
        let is_empty = words.is_empty() && always.is_empty() && names.is_empty();
        (!is_empty).then(|| Self { matcher, rules: words.into_values().collect(), always, names })
    }

    /// The rules to ask, in order.
    fn asked(&self, text: &[u8]) -> Vec<usize> {
        let mut seen = vec![false; self.rules.len()];
        let mut left = seen.len();
        for found in self.matcher.find_overlapping_iter(text) {
            if let Some(slot) = seen.get_mut(found.pattern().as_usize())
                && !std::mem::replace(slot, true)
            {
                left = left.saturating_sub(1);
                if left == 0 {
                    break;
                }
            }
        }
        let mut asked: Vec<usize> = self.always.clone();
        asked.extend(self.rules.iter().zip(&seen).filter(|(_, seen)| **seen).flat_map(|(rules, _)| rules));
        asked.sort_unstable();
        asked.dedup();
        asked
    }
}

impl Reading<'_> {
    /// Reads one layer with the rules of gitleaks files.
    pub(super) fn gitleaks(&self, layer: &Layer<'_>, budget: &mut Budget, hits: &mut Hits) -> Result<(), Stop> {
        let Some(keywords) = self.rules.keywords() else { return Ok(()) };
        budget.spend(Resource::Steps, offset(layer.text.len()) / BYTES_PER_STEP)?;
        for index in keywords.asked(layer.text) {
            let Some(rule) = self.rules.rule(index).and_then(|rule| rule.gitleaks.as_deref()) else { continue };
            let is_named = |path: &regex_automata::meta::Regex| self.name.is_some_and(|name| path.is_match(name));
            if rule.path.as_ref().is_none_or(is_named) {
                self.search(rule, index, layer, budget, hits)?;
            }
        }
        // The name of an artifact is one of its texts.
        if layer.decoded.is_empty() && self.name.map(str::as_bytes) == Some(layer.text) {
            for index in &keywords.names {
                let Some(rule) = self.rules.rule(*index) else { continue };
                let path = rule.gitleaks.as_deref().and_then(|rule| rule.path.as_ref());
                if path.is_some_and(|path| path.is_match(layer.text)) {
                    hits.add(Source::Loaded(*index), rule.severity(), 0..layer.text.len(), || {
                        Hit::of(&rule.rule, layer.text)
                    });
                }
            }
        }
        Ok(())
    }

    /// Every match of one rule.
    fn search(
        &self,
        rule: &Gitleaks,
        index: usize,
        layer: &Layer<'_>,
        budget: &mut Budget,
        hits: &mut Hits,
    ) -> Result<(), Stop> {
        let Some(regex) = &rule.regex else { return Ok(()) };
        let mut captures = regex.create_captures();
        let (mut at, mut window) = (0_usize, 0..0_usize);
        let mut matches = 0_usize;
        while at < layer.text.len() && matches < MATCHES_MOST {
            if at >= window.end.saturating_sub(OVERLAP) || window.is_empty() {
                window = at..at.saturating_add(WINDOW).min(layer.text.len());
            }
            let is_last = window.end == layer.text.len();
            budget.spend(Resource::Steps, offset(window.end.saturating_sub(at)) / BYTES_PER_STEP)?;
            regex.search_captures(&Input::new(layer.text).span(at..window.end).anchored(Anchored::No), &mut captures);
            let Some(found) = captures.get_match().map(|found| found.range()) else {
                // Nothing begins before the overlap; what begins in it is looked for again, with more behind it.
                at = if is_last { window.end } else { window.end.saturating_sub(OVERLAP).max(at.saturating_add(1)) };
                window = 0..0;
                continue;
            };
            if !is_last && found.start >= window.end.saturating_sub(OVERLAP) && found.start > at {
                at = found.start;
                window = 0..0;
                continue;
            }
            let group = |group: usize| captures.get_group(group).map(|span| span.range());
            let secret = if rule.group > 0 {
                group(rule.group)
            } else {
                (1..captures.group_len()).find_map(group).filter(|range| !range.is_empty())
            };
            if self.weigh(rule, index, (found.clone(), secret.unwrap_or_else(|| found.clone())), layer, hits) {
                matches = matches.saturating_add(1);
            }
            at = found.end.max(at.saturating_add(1));
        }
        Ok(())
    }

    /// Makes a hit of a match, and says so, unless it is no secret after all.
    fn weigh(
        &self,
        rule: &Gitleaks,
        index: usize,
        (found, part): (Range<usize>, Range<usize>),
        layer: &Layer<'_>,
        hits: &mut Hits,
    ) -> bool {
        let text = |range: Range<usize>| layer.text.get(range).unwrap_or_default();
        let secret = text(part.clone());
        if rule.entropy_hundredths > 0 && hits::entropy_hundredths(secret) <= rule.entropy_hundredths {
            return false;
        }
        let line_start = memchr::memrchr(b'\n', text(0..found.start)).map_or(0, |at| at.saturating_add(1));
        let line_end = memchr::memchr(b'\n', text(found.end..layer.text.len()))
            .map_or(layer.text.len(), |at| found.end.saturating_add(at));
        let line = text(line_start..line_end);
        if rule.allowed.iter().any(|list| list.allows(secret, text(found.clone()), line)) {
            return false;
        }
        let Some(told) = self.rules.rule(index) else { return false };
        let severity = if hits::is_placeholder(secret) { Severity::Info } else { told.severity() };
        hits.hide(Secret { range: layer.in_base(&part), public_prefix: 0 });
        let pass = hits.passes;
        hits.add(Source::Loaded(index), severity, layer.in_base(&found), || Hit {
            seen: (pass, found.clone()),
            decoded: layer.decoded.clone(),
            ..Hit::of(&told.rule, secret)
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RuleSet, Watch, bundle::ArtifactId, finding::Findings, limits::Limits, view::TextView};

    /// Rule, text under the span and severity of what a file finds in a text of that name.
    fn found(file: &str, name: Option<&str>, text: &str) -> Vec<(String, String, Severity)> {
        let rules = RuleSet::parse(&[("own.toml", file)]).unwrap();
        let (watch, mut findings) = (Watch::default(), Findings::keeping(1000));
        let reading = Reading { rules: &rules, watch: &watch, label: "text", name, artifact: ArtifactId(0) };
        let view = TextView::at(bytes::Bytes::copy_from_slice(text.as_bytes()), 0);
        reading.read(&view, &mut Budget::new(Limits::default()), &mut findings).unwrap();
        let told = |finding: &crate::Finding| {
            let span = finding.span.unwrap();
            let under = &text[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()];
            (finding.rule.id.to_string(), under.to_owned(), finding.severity)
        };
        findings.finish().0.iter().filter(|finding| finding.rule.id.starts_with("gitleaks/")).map(told).collect()
    }

    fn words(file: &str, text: &str) -> Vec<String> {
        found(file, None, text).into_iter().map(|(_, under, _)| under).collect()
    }

    const TOKEN: &str = r#"
        [[rules]]
        id = "own-token"
        description = "A token of ours"
        regex = '''(?i)own[_-]key\s*=\s*['"]?([a-z0-9]{12})\b'''
        secretGroup = 1
        entropy = 2.5
        keywords = ["own_key", "OWN-KEY"]
    "#;

    #[test]
    fn keyword_group_and_entropy_decide() {
        assert_eq!(words(TOKEN, "x\nOWN_KEY = 'a8f3k2m9q1z7'\n"), ["OWN_KEY = 'a8f3k2m9q1z7"]);
        assert!(words(TOKEN, "own_key = 'aaaaaaaaaaaa'").is_empty(), "too even");
        assert!(words(TOKEN, "key = 'a8f3k2m9q1z7'").is_empty(), "no keyword");
    }

    #[test]
    fn allowlists_let_pass() {
        let with = |list: &str| format!("{TOKEN}\n[[rules.allowlists]]\n{list}\n");
        let text = "own_key = a8f3k2m9q1z7 # of the tests";
        for list in [
            "regexes = ['^a8f3']",
            "stopwords = ['k2m9']",
            "regexTarget = 'line'\nregexes = ['of the tests$']",
            "regexTarget = 'match'\nregexes = ['^own_key']",
            "condition = 'AND'\nregexes = ['^a8f3']\nstopwords = ['k2m9']",
        ] {
            assert!(words(&with(list), text).is_empty(), "{list}");
        }
        for list in [
            "regexes = ['^b']",
            "condition = 'AND'\nregexes = ['^a8f3']\nstopwords = ['nothing']",
            "condition = 'AND'\npaths = ['x']\nregexes = ['^a8f3']",
            "paths = ['.*']",
        ] {
            assert_eq!(words(&with(list), text).len(), 1, "{list}");
        }
        let global = format!("[allowlist]\nstopwords = ['k2m9']\n{TOKEN}");
        assert!(words(&global, text).is_empty());
        let other = format!("[[allowlists]]\ntargetRules = ['other']\nstopwords = ['k2m9']\n{TOKEN}");
        assert_eq!(words(&other, text).len(), 1);
    }

    #[test]
    fn a_path_asks_for_a_name() {
        let file = format!("{TOKEN}\npath = '''\\.env$'''\n[[rules]]\nid = 'bundle'\npath = '''\\.p12$'''\n");
        let text = "own_key = a8f3k2m9q1z7";
        assert_eq!(found(&file, Some("a/.env"), text).len(), 1);
        assert!(found(&file, Some("a/env.txt"), text).is_empty());
        assert!(found(&file, None, text).is_empty());
        assert_eq!(found(&file, Some("a/store.p12"), "a/store.p12").len(), 1);
    }

    #[test]
    fn what_is_not_supported_is_told_with_its_place() {
        let error = |file: &str| RuleSet::parse(&[("own.toml", file)]).unwrap_err().to_string();
        assert!(error("[extend]\npath = 'base.toml'\n").starts_with("own.toml:2:8: \"extend.path\" is not followed"));
        assert!(error("[[rules]]\nid = 'a'\nregex = '(?<=a)b'\n").starts_with("own.toml:3:9:"));
        assert!(error("[[rules]]\nid = 'a'\n").contains("a \"regex\", a \"path\" or both"));
        assert!(error("[[rules]]\nid = 'a'\nregexp = 'b'\n").contains("did you mean \"regex\"?"));
        let twice = "[[rules]]\nid = 'a'\nregex = 'b'\n[[rules]]\nid = 'A'\nregex = 'b'\n";
        assert!(error(twice).contains("is taken by a rule"));
    }

    #[test]
    fn rules_of_other_files_are_switched_off_by_name() {
        let base = ("base.toml", TOKEN);
        let own = ("own.toml", "[extend]\nuseDefault = true\ndisabledRules = ['own-token']\n");
        assert_eq!(RuleSet::parse(&[base, own]).unwrap().rules().count(), 0);
    }

    #[test]
    fn a_flood_is_told_up_to_its_limit_and_what_passes_does_not_count() {
        let secret = "own_key = a8f3k2m9q1z7\n";
        let told = |text: &str| {
            let rules = RuleSet::parse(&[("own.toml", &format!("[allowlist]\nstopwords = ['zzz']\n{TOKEN}"))]).unwrap();
            rules
                .read_text(text.as_bytes())
                .iter()
                .filter(|finding| finding.span.is_some())
                .map(|finding| finding.span.unwrap().end)
                .max()
        };
        let passed = "own_key = a8f3kzzzq1z7\n".repeat(MATCHES_MOST + 1);
        assert_eq!(told(&passed), None);
        assert!(told(&format!("{passed}{secret}")).is_some());
    }

    #[test]
    fn a_match_over_the_border_of_a_window_is_found_once() {
        let secret = "own_key = a8f3k2m9q1z7";
        for before in [WINDOW - 30, WINDOW - 11, WINDOW, WINDOW - OVERLAP - 5, 3 * WINDOW] {
            let text = format!("{}{secret} {}", " ".repeat(before), " ".repeat(2 * WINDOW));
            assert_eq!(words(TOKEN, &text), [secret], "{before}");
        }
    }
}
