//! Formats: one file each, one line in [`ALL`]. An inspector states facts: findings, texts to read, children.

use bytes::Bytes;

use crate::{
    bundle::{Artifact, ArtifactId, Origin, Source},
    finding::{Finding, Findings, Gap, Reason, Rule, Stop, fingerprint},
    limits::Budget,
    reader::count,
    sniff::Type,
    view::TextView,
};

/// One format the scanner looks into.
#[derive(Debug)]
pub(crate) struct Format {
    /// Name of the file it lives in.
    pub(crate) name: &'static str,
    /// Labels of the types it takes, as in the sniffer's table.
    pub(crate) labels: &'static [&'static str],
    /// States what is in the bytes. An early stop becomes a gap; what was written stays.
    pub(crate) inspect: Inspect,
    /// Makes the safe version of the bytes; `None` where there is no way to make one.
    pub(crate) clean: Option<Clean>,
    /// Every rule it can find.
    pub(crate) rules: &'static [&'static Rule],
}

/// States facts of the bytes.
pub(crate) type Inspect = fn(&Subject<'_>, &mut Out<'_>, &mut Budget) -> Result<(), Stop>;

/// Every format. The first that lists a label takes it; a text that none lists is [`text`].
pub(crate) const ALL: &[&Format] = &[
    &bmp::FORMAT,
    &columns::FORMAT,
    &compressed::FORMAT,
    &csv::FORMAT,
    &epub::FORMAT,
    &gguf::FORMAT,
    &gif::FORMAT,
    &hdf5::FORMAT,
    &heif::FORMAT,
    &html::FORMAT,
    &ico::FORMAT,
    &jpeg::FORMAT,
    &json::FORMAT,
    &jxl::FORMAT,
    &mail::FORMAT,
    &markdown::FORMAT,
    &notebook::FORMAT,
    &npy::FORMAT,
    &odf::FORMAT,
    &ole::FORMAT,
    &onenote::FORMAT,
    &ooxml::FORMAT,
    &pdf::FORMAT,
    &pickle::FORMAT,
    &png::FORMAT,
    &program::FORMAT,
    &rtf::FORMAT,
    &safetensors::FORMAT,
    &sevenz::FORMAT,
    &sqlite::FORMAT,
    &svg::FORMAT,
    &tar::FORMAT,
    &text::FORMAT,
    &tiff::FORMAT,
    &webp::FORMAT,
    &xml::FORMAT,
    &zip::FORMAT,
];

mod bmp;
mod columns;
mod compressed;
mod csv;
mod epub;
mod gguf;
mod gif;
mod hdf5;
mod heif;
mod html;
mod ico;
mod jpeg;
mod json;
mod jxl;
mod mail;
mod markdown;
mod notebook;
mod npy;
mod odf;
mod ole;
mod onenote;
mod ooxml;
pub(crate) mod pdf;
mod pickle;
mod png;
mod program;
mod rtf;
mod safetensors;
mod sevenz;
mod sqlite;
mod svg;
mod tar;
mod text;
mod tiff;
mod webp;
mod xml;
pub(crate) mod zip;

pub(crate) use cleaning::Clean;
pub(crate) use letters::Plane;
pub(crate) use text::inspect_broken;

/// Parts that several formats have.
mod boxes;
mod cfb;
mod charset;
pub(crate) mod claim;
pub(crate) mod cleaning;
mod dib;
mod embedded;
mod exif;
mod fields;
mod ifd;
mod keras;
pub(crate) mod letters;
mod markup;
mod names;
mod office;
mod pack;
pub(crate) mod path;
mod picture;
pub(crate) mod pull;
mod qr;
mod strings;
mod vba;

/// The format that looks into a type, if there is one.
pub(crate) fn of(kind: &Type) -> Option<&'static Format> {
    let listed = ALL.iter().copied().find(|format| format.labels.contains(&kind.label));
    listed.or_else(|| kind.is_text.then_some(&text::FORMAT))
}

/// What an inspector is given.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    /// The unpacked bytes.
    pub(crate) bytes: &'a Bytes,
    /// What the sniffer says they are.
    pub(crate) kind: &'static Type,
}

/// Bytes of a finding's span that its fingerprint is made from: enough to tell findings apart, little enough to make
/// one for each of a flood.
const MARKED_BYTES: usize = 256;

/// What an inspector writes into. It is the artifact's own: nothing written can name another artifact.
#[derive(Debug)]
pub(crate) struct Out<'a> {
    artifact: ArtifactId,
    subject: &'a Subject<'a>,
    findings: &'a mut Findings,
    gaps: &'a mut Vec<Gap>,
    /// Texts to read.
    pub(crate) texts: Vec<TextView>,
    /// Things inside, looked at when their turn comes.
    pub(crate) children: Vec<Artifact>,
    /// Pictures whose letters are to be read.
    pub(crate) pictures: Vec<Plane>,
    /// Its pixels were looked at, or it is told what of them was not.
    pub(crate) is_looked_at: bool,
}

impl<'a> Out<'a> {
    pub(crate) fn new(
        artifact: ArtifactId,
        subject: &'a Subject<'a>,
        findings: &'a mut Findings,
        gaps: &'a mut Vec<Gap>,
    ) -> Self {
        Self {
            artifact,
            subject,
            findings,
            gaps,
            texts: Vec::new(),
            children: Vec::new(),
            pictures: Vec::new(),
            is_looked_at: false,
        }
    }

    /// Something seen. Its fingerprint is made from the bytes under its span, or from its words where it has none.
    pub(crate) fn find(&mut self, mut finding: Finding) {
        finding.artifact = Some(self.artifact);
        if let Some(span) = &mut finding.span {
            // What leads out of the bytes, an offset that lies, is shown where they end.
            span.end = span.end.min(count(self.subject.bytes.len()));
            span.start = span.start.min(span.end);
        }
        let under = finding.span.and_then(|span| {
            let (start, end) = (usize::try_from(span.start).ok()?, usize::try_from(span.end).ok()?);
            self.subject.bytes.get(start..end.min(start.saturating_add(MARKED_BYTES)))
        });
        let marked = under.filter(|bytes| !bytes.is_empty()).unwrap_or(finding.message.as_bytes());
        finding.fingerprint = fingerprint(&finding.rule.id, self.subject.kind.label, marked);
        self.findings.add(finding);
    }

    /// Something not seen.
    pub(crate) fn gap(&mut self, mut gap: Gap) {
        gap.artifact = Some(self.artifact);
        // A limit that every part meets again is one gap.
        if self.gaps.last() != Some(&gap) {
            self.gaps.push(gap);
        }
    }

    /// How many gaps there are beyond the first so many.
    pub(crate) fn gaps_since(&self, before: usize) -> usize {
        self.gaps.len().saturating_sub(before)
    }

    /// A part that nothing here can look into.
    pub(crate) fn unsupported(&mut self, what: impl Into<String>) {
        self.gap(Gap::new(Reason::Unsupported, what));
    }

    /// A text to read.
    pub(crate) fn read(&mut self, text: TextView) {
        self.texts.push(text);
    }

    /// The pixels of a picture, which are to be shown to who knows letters; `None` where there are none to read.
    pub(crate) fn show(&mut self, picture: Option<Plane>) {
        self.pictures.extend(picture);
        self.is_looked_at = true;
    }

    /// Something inside, with the name it has there.
    pub(crate) fn child(&mut self, source: Source, name: Option<String>) {
        let mut child = Artifact::new(Origin::Member, source);
        child.name = name;
        self.children.push(child);
    }
}

/// One inspector looked at on its own.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::{
        limits::{Limits, Resource},
        sniff::{self, Risk},
    };

    /// What an inspector wrote about some bytes.
    #[derive(Debug)]
    pub(crate) struct Seen {
        pub(crate) findings: Vec<Finding>,
        pub(crate) gaps: Vec<Gap>,
        pub(crate) texts: Vec<TextView>,
        pub(crate) children: Vec<Artifact>,
        pub(crate) pictures: Vec<Plane>,
        budget: Budget,
    }

    /// The format over the bytes as that label, with default limits.
    pub(crate) fn look(format: &'static Format, label: &'static str, bytes: &[u8]) -> Seen {
        Seen::limited(format, label, bytes, Limits::default())
    }

    /// Holds the format to what it says of the bytes: severity and category of each finding, then gaps, without offsets.
    #[track_caller]
    pub(crate) fn says(format: &'static Format, label: &'static str, bytes: &[u8], expected: &[&str]) -> Seen {
        let seen = look(format, label, bytes);
        let facts: Vec<String> =
            seen.facts().iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(facts, expected);
        seen
    }

    impl Seen {
        /// With one limit changed.
        pub(crate) fn with(
            format: &'static Format,
            label: &'static str,
            bytes: &[u8],
            resource: Resource,
            limit: u64,
        ) -> Self {
            Self::limited(format, label, bytes, Limits::default().with(resource, limit))
        }

        /// As the type that the sniffer has.
        pub(crate) fn of(format: &'static Format, kind: &'static Type, bytes: &[u8]) -> Self {
            Self::typed(format, kind, bytes, Limits::default())
        }

        pub(crate) fn limited(format: &'static Format, label: &'static str, bytes: &[u8], limits: Limits) -> Self {
            let kind: &'static Type = Box::leak(Box::new(Type {
                label,
                mime: "",
                aliases: &[],
                extensions: &[],
                risk: Risk::Unknown,
                // Parts that several formats have are looked at under a name that is no type.
                is_text: sniff::type_of(label).is_none_or(|known| known.is_text),
            }));
            Self::typed(format, kind, bytes, limits)
        }

        fn typed(format: &'static Format, kind: &'static Type, bytes: &[u8], limits: Limits) -> Self {
            let bytes = Bytes::copy_from_slice(bytes);
            let mut budget = Budget::new(limits);
            let mut findings = Findings::keeping(1000);
            let mut gaps = Vec::new();
            let subject = Subject { bytes: &bytes, kind };
            let mut out = Out::new(ArtifactId(0), &subject, &mut findings, &mut gaps);
            let stop = (format.inspect)(&subject, &mut out, &mut budget).err();
            let Out { texts, children, pictures, .. } = out;
            gaps.extend(stop.map(Stop::into_gap));
            Self { findings: findings.finish().0, gaps, texts, children, pictures, budget }
        }

        /// Findings, worst first, then gaps, one line each: `medium malformed.crc 29..33`, `gap malformed offset 8`.
        pub(crate) fn facts(&self) -> Vec<String> {
            let findings = self.findings.iter().map(|finding| {
                let span = finding.span.map_or_else(String::new, |span| format!(" {}..{}", span.start, span.end));
                format!("{} {}{span}", finding.severity.name(), finding.rule.category)
            });
            let gaps = self.gaps.iter().map(|gap| {
                let at = gap.at.as_ref().map_or_else(String::new, |at| format!(" {at}"));
                format!("gap {}{at}", gap.reason)
            });
            findings.chain(gaps).collect()
        }

        /// The texts to read, lossily.
        pub(crate) fn texts(&self) -> Vec<String> {
            self.texts.iter().map(|view| String::from_utf8_lossy(&view.text).into_owned()).collect()
        }

        /// Where a range of a text stands in the artifact.
        pub(crate) fn span(&self, text: usize, start: u64, end: u64) -> (u64, u64) {
            let span = self.texts[text].map.as_ref().expect("it is in the bytes").span(start, end);
            (span.start, span.end)
        }

        pub(crate) fn spent(&self, resource: Resource) -> u64 {
            self.budget.spent().get(resource)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{finding::is_category, sniff::Risk};

    fn kind(label: &'static str, is_text: bool) -> Type {
        Type { label, mime: "", aliases: &[], extensions: &[], risk: Risk::Unknown, is_text }
    }

    #[test]
    fn a_text_without_a_format_of_its_own_is_text() {
        let name = |label, is_text| of(&kind(label, is_text)).map(|format| format.name);
        assert_eq!(name("csv", true), Some("csv"));
        assert_eq!(name("rust", true), Some("text"));
        assert_eq!(name("empty", false), Some("text"));
        assert_eq!(name("elf", false), Some("program"));
        assert_eq!(name("rar", false), None);
    }

    #[test]
    fn a_label_has_one_format_and_a_rule_one_id() {
        let mut labels = BTreeMap::new();
        let mut rules: BTreeMap<&str, &Rule> = BTreeMap::new();
        for format in ALL {
            for label in format.labels {
                assert_eq!(labels.insert(label, format.name), None, "{label}");
            }
            for rule in format.rules {
                assert!(is_category(&rule.category), "{}", rule.id);
                let (family, name) = rule.id.split_once('/').expect("format/what-is-wrong");
                assert!(
                    [family, name]
                        .iter()
                        .all(|part| part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')),
                    "{}",
                    rule.id
                );
                for words in [&rule.why, &rule.remedy] {
                    assert!(words.ends_with('.'), "{}: whole sentences", rule.id);
                }
                // Parts that several formats have bring the same rule.
                let first = *rules.entry(&rule.id).or_insert(rule);
                assert!(std::ptr::eq(first, *rule), "{}", rule.id);
            }
        }
    }

    #[test]
    fn formats_are_in_the_order_of_their_names() {
        assert!(ALL.is_sorted_by_key(|format| format.name));
    }
}
