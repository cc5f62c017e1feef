//! `OneNote` sections (MS-ONESTORE), down to the files they carry: each stands behind a mark of its own.

use memchr::memmem;

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span, Stop},
    format::{Format, Out, Subject, embedded, strings},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::{OffsetMap, TextView},
};

pub(crate) const FORMAT: Format =
    Format { name: "onenote", labels: &["onenote"], inspect, clean: None, rules: &[&SECTION, &embedded::EXECUTABLE] };

static SECTION: Rule = Rule::built_in(
    "onenote/section",
    "embed.file",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "A section of OneNote, whose pages may carry files",
        why: "A file behind a picture of a button runs at a double click, without the questions that are asked for macros. \
              Nothing else in such a section is looked into.",
        remedy: "Deliver the page as PDF, and files as files.",
    },
);

/// What stands before a file (MS-ONESTORE 2.6.13).
const FILE: &[u8] = b"\xe7\x16\xe3\xbd\x65\x26\x11\x45\xa4\xc4\x8d\x4d\x0b\x7a\x9e\xac";
/// Bytes of the section looked at in one step.
const BYTES_PER_STEP: u64 = 2;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP))?;
    out.find(Finding::built_in(&SECTION).at(0, count(bytes.len().min(FILE.len()))));
    let mut at = 0_usize;
    let mut files: u64 = 0;
    let mut between = Vec::new();
    while let Some(found) = bytes.get(at..).and_then(|rest| memmem::find(rest, FILE)) {
        let start = at.saturating_add(found);
        between.push(at..start);
        let mut reader = Reader::new(bytes);
        reader.seek(count(start.saturating_add(FILE.len())))?;
        let length = reader.u64_le()?;
        reader.take(12)?;
        let Ok(file) = reader.take(length) else {
            return Err(Stop::malformed("a file in the section is longer than what is left", count(start)));
        };
        files = files.saturating_add(1);
        let span = Span { start: count(start), end: count(reader.position()) };
        let place = Place::default().name("entry", format!("file {files}"));
        embedded::carry(bytes.slice_ref(file), None, span, &place, out, budget)?;
        at = reader.position();
    }
    between.push(at..bytes.len());
    // Words of the pages stand in UTF-16, in records that are not followed.
    let text: Vec<String> =
        between.into_iter().map(|range| strings::runs(bytes.get(range).unwrap_or_default())).collect();
    let text = text.join("\n");
    if !text.trim().is_empty() {
        let map = OffsetMap::Within(Span { start: 0, end: count(bytes.len()) });
        out.read(TextView::decoded(text.into(), map, vec!["strings"]));
    }
    out.unsupported("the pages of a section are not looked into");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    fn section(files: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3".to_vec();
        for file in files {
            bytes.extend(FILE);
            bytes.extend((file.len() as u64).to_le_bytes());
            bytes.extend([0; 12]);
            bytes.extend(*file);
        }
        bytes
    }

    #[test]
    fn files_are_handed_on() {
        let seen =
            look(&FORMAT, "onenote", &section(&[b"a text", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0"]));
        assert_eq!(seen.facts()[..2], ["high embed.executable 58..114", "medium embed.file 0..16"]);
        assert_eq!(seen.children.len(), 2);
        assert_eq!(look(&FORMAT, "onenote", &section(&[])).facts(), ["medium embed.file 0..16", "gap unsupported"]);
    }

    #[test]
    fn a_length_that_lies_is_a_gap() {
        let mut bytes = section(&[b"a text"]);
        bytes[32] = 200;
        assert_eq!(look(&FORMAT, "onenote", &bytes).facts(), ["medium embed.file 0..16", "gap malformed offset 16"]);
        assert!(look(&FORMAT, "onenote", &bytes[..40]).facts().len() > 1);
    }
}
