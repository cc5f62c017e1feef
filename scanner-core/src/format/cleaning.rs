//! What a cleaner is given, and what it may do with what is inside. A cleaner makes a version of an artifact that keeps
//! what the format is for and nothing that acts: it writes what is on its list and leaves out the rest, so cleaning
//! twice changes nothing. It knows no policy: what texts and files inside become is asked of a [`Washer`].

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::Range};

use bytes::Bytes;

use crate::{
    bundle::ArtifactId,
    finding::{Finding, Findings, Severity, Stop},
    format::{Inspect, Out, Subject},
    limits::{Budget, Exhausted, Resource},
    reader::count,
    sniff::Type,
};

/// Makes the safe version of an artifact. What cannot be followed to its end is not cleaned.
pub(crate) type Clean = fn(&Subject<'_>, &mut Cleaning<'_>, &mut Budget) -> Result<Bytes, Uncleanable>;

/// The cleaner of what has no structure in which anything could act: the texts in it were looked at as they stand.
#[expect(clippy::unnecessary_wraps, reason = "it is one of many cleaners")]
pub(crate) fn same(subject: &Subject<'_>, _: &mut Cleaning<'_>, _: &mut Budget) -> Result<Bytes, Uncleanable> {
    Ok(subject.bytes.clone())
}

/// A text with some ranges replaced, in the order in which they stand; one that lies in an earlier one is dropped. What
/// is written is paid for.
pub(crate) fn edited(
    text: &[u8],
    mut edits: Vec<(Range<usize>, Vec<u8>)>,
    budget: &mut Budget,
) -> Result<Vec<u8>, Exhausted> {
    edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let added = edits.iter().fold(0_u64, |sum, (_, new)| sum.saturating_add(count(new.len())));
    budget.spend(Resource::DecodedBytes, count(text.len()).saturating_add(added))?;
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0_usize;
    for (range, new) in edits {
        if range.start < done {
            continue;
        }
        out.extend_from_slice(text.get(done..range.start).unwrap_or_default());
        out.extend_from_slice(&new);
        done = range.end;
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    Ok(out)
}

/// Why something has no safe version: for the person who has to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uncleanable(pub(crate) Cow<'static, str>);

impl From<Exhausted> for Uncleanable {
    fn from(exhausted: Exhausted) -> Self {
        Self(format!("the limit on {} was reached while cleaning", exhausted.0).into())
    }
}

impl From<Stop> for Uncleanable {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Limit(exhausted) => exhausted.into(),
            Stop::Malformed { what, at } => Self(format!("{what}, at offset {at}").into()),
        }
    }
}

impl From<String> for Uncleanable {
    fn from(why: String) -> Self {
        Self(why.into())
    }
}

impl From<&'static str> for Uncleanable {
    fn from(why: &'static str) -> Self {
        Self(why.into())
    }
}

/// Copying runs at several bytes a nanosecond.
const COPIED_PER_STEP: u64 = 16;

/// Pays for bytes that a cleaner copies, all at once.
pub(crate) fn pay_to_copy(length: usize, budget: &mut Budget) -> Result<(), Exhausted> {
    budget.spend(Resource::Steps, count(length).div_ceil(COPIED_PER_STEP))
}

/// What becomes of a file inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It may stay as it is.
    Keep,
    /// This takes its place.
    Changed(Bytes),
    /// It must go, and why.
    Gone(Cow<'static, str>),
}

/// Who knows what may be shown: texts and files inside an artifact are given to it. It is the release; a cleaner
/// knows no policy.
pub(crate) trait Washer: fmt::Debug {
    /// A text as a reader would read it (unescaped): secrets replaced, orders to a model and hidden characters taken
    /// out where the audience needs that. `None` when it may stay as it is.
    fn text(&mut self, text: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable>;

    /// A whole file inside, under the name it has there.
    fn part(&mut self, bytes: &Bytes, name: Option<&str>, budget: &mut Budget) -> Result<Part, Uncleanable>;
}

/// The safe version, if the format's own inspector has nothing against it: for formats of which the cleaner copies what
/// only the inspector follows.
pub(crate) fn proved(
    inspect: Inspect,
    kind: &'static Type,
    bytes: Bytes,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let (mut findings, mut gaps) = (Findings::keeping(1), Vec::new());
    let subject = Subject { bytes: &bytes, kind };
    let mut out = Out::new(ArtifactId(0), &subject, &mut findings, &mut gaps);
    inspect(&subject, &mut out, budget)?;
    let worst = findings.finish().0.into_iter().find(|finding| finding.severity > Severity::Low);
    let what = worst.map(|finding| finding.message).or_else(|| gaps.pop().map(|gap| gap.detail));
    match what {
        Some(what) => Err(format!("what is left of it is not as it should be: {what}").into()),
        None => Ok(bytes),
    }
}

/// Lets everything inside stay as it is: a cleaner looked at alone.
#[derive(Debug)]
pub(crate) struct KeepAll;

impl Washer for KeepAll {
    fn text(&mut self, _: &[u8], _: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable> {
        Ok(None)
    }

    fn part(&mut self, _: &Bytes, _: Option<&str>, _: &mut Budget) -> Result<Part, Uncleanable> {
        Ok(Part::Keep)
    }
}

/// The cleaning of one artifact.
#[derive(Debug)]
pub(crate) struct Cleaning<'a> {
    washer: &'a mut dyn Washer,
    findings: &'a [Finding],
    actions: BTreeMap<&'static str, u64>,
}

impl<'a> Cleaning<'a> {
    /// A cleaning that asks this washer. `findings` are those of the artifact itself that have to go.
    pub(crate) fn new(washer: &'a mut dyn Washer, findings: &'a [Finding]) -> Self {
        Self { washer, findings, actions: BTreeMap::new() }
    }

    /// Whether something of that category, or family (`script.`), has to go from the artifact itself. Only for what a
    /// format keeps unless it must go; what acts is taken out whether it was found or not.
    pub(crate) fn must_go(&self, category: &str) -> bool {
        self.findings.iter().any(|finding| finding.rule.category.starts_with(category))
    }

    /// Notes that something was done, in a few fixed words: `removed text chunk`. Counted.
    pub(crate) fn did(&mut self, action: &'static str) {
        let count = self.actions.entry(action).or_default();
        *count = count.saturating_add(1);
    }

    /// A text inside, unescaped, as it may stay. See [`Washer::text`].
    pub(crate) fn text<'t>(&mut self, text: &'t [u8], budget: &mut Budget) -> Result<Cow<'t, [u8]>, Uncleanable> {
        Ok(match self.washer.text(text, budget)? {
            Some(changed) => {
                self.did("redacted text");
                Cow::Owned(changed)
            }
            None => Cow::Borrowed(text),
        })
    }

    /// A file inside, as it may stay. See [`Washer::part`]. What goes is noted.
    pub(crate) fn part(&mut self, bytes: &Bytes, name: Option<&str>, budget: &mut Budget) -> Result<Part, Uncleanable> {
        let part = self.washer.part(bytes, name, budget)?;
        match &part {
            Part::Keep => {}
            Part::Changed(_) => self.did("cleaned a file inside"),
            Part::Gone(_) => self.did("removed a file inside"),
        }
        Ok(part)
    }

    /// What was done, with how often.
    pub(crate) fn into_actions(self) -> BTreeMap<&'static str, u64> {
        self.actions
    }
}

/// A cleaner looked at on its own.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::{
        format::{Format, testing::look},
        limits::Limits,
        sniff,
    };

    /// A washer that replaces `SECRET` by `[secret]`, lets go of files whose name ends in `.exe`, and changes files
    /// that are `dirty` into `clean`.
    #[derive(Debug, Default)]
    pub(crate) struct Plain;

    impl Washer for Plain {
        fn text(&mut self, text: &[u8], _: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable> {
            let words = String::from_utf8_lossy(text);
            Ok(words.contains("SECRET").then(|| words.replace("SECRET", "[secret]").into_bytes()))
        }

        fn part(&mut self, bytes: &Bytes, name: Option<&str>, _: &mut Budget) -> Result<Part, Uncleanable> {
            Ok(match &bytes[..] {
                _ if name.is_some_and(|name| name.ends_with(".exe")) => Part::Gone("a program".into()),
                b"dirty" => Part::Changed(Bytes::from_static(b"clean")),
                _ => Part::Keep,
            })
        }
    }

    /// The clean version under default limits, and what was done. Holds the cleaner to changing nothing the second
    /// time, and to an output that is not out of all proportion.
    #[track_caller]
    pub(crate) fn clean(
        format: &'static Format,
        label: &'static str,
        bytes: &[u8],
    ) -> Result<(Bytes, BTreeMap<&'static str, u64>), Uncleanable> {
        let once = clean_once(format, label, bytes, Limits::default())?;
        let twice = clean_once(format, label, &once.0, Limits::default()).expect("what is clean can be cleaned");
        assert_eq!(once.0, twice.0, "cleaning twice changes something");
        Ok(once)
    }

    pub(crate) fn clean_once(
        format: &'static Format,
        label: &'static str,
        bytes: &[u8],
        limits: Limits,
    ) -> Result<(Bytes, BTreeMap<&'static str, u64>), Uncleanable> {
        let bytes = Bytes::copy_from_slice(bytes);
        let subject = Subject { bytes: &bytes, kind: sniff::type_of(label).expect("a known label") };
        let mut washer = Plain;
        let mut cleaning = Cleaning::new(&mut washer, &[]);
        let clean = format.clean.expect("the format has a cleaner");
        let cleaned = clean(&subject, &mut cleaning, &mut Budget::new(limits))?;
        Ok((cleaned, cleaning.into_actions()))
    }

    /// Holds the cleaner to the version it makes and to what it says it did; nothing is left for the inspector to say.
    #[track_caller]
    pub(crate) fn becomes(
        format: &'static Format,
        label: &'static str,
        bytes: &[u8],
        expected: &[u8],
        done: &[(&'static str, u64)],
    ) {
        let (clean, actions) = clean(format, label, bytes).expect("it has a safe version");
        assert_eq!(clean.escape_ascii().to_string(), expected.escape_ascii().to_string());
        assert_eq!(actions.into_iter().collect::<Vec<_>>(), done);
        let seen = look(format, label, &clean);
        assert_eq!(seen.facts(), [""; 0]);
        assert!(seen.texts().is_empty() && seen.children.is_empty());
    }

    /// Holds the cleaner to refusing these bytes, and to why.
    #[track_caller]
    pub(crate) fn refused(format: &'static Format, label: &'static str, bytes: &[u8], why: &'static str) {
        assert_eq!(clean(format, label, bytes).expect_err("it has no safe version"), Uncleanable(why.into()));
    }
}
