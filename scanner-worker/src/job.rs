//! What a worker is given.

use std::{collections::BTreeMap, io};

use bytes::Bytes;
use scanner_core::{Audience, EngineAnswer, Facts, Letters, Reason};
use serde::{Deserialize, Serialize};

use crate::wire::Frame;

/// One thing to scan, and how to answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScanJob {
    /// The input.
    #[serde(skip)]
    pub bytes: Bytes,
    /// The word of `--as`.
    pub kind: String,
    /// Its untrusted name.
    pub name: Option<String>,
    /// Its declared media type.
    pub declared: Option<String>,
    /// What the caller fetched for references.
    pub attachments: Vec<Attachment>,
    /// Literal strings that must not appear.
    pub watch: Vec<String>,
    /// The caller's context.
    pub context: BTreeMap<String, String>,
    /// Name of a built-in policy or of one in the setup.
    pub policy: String,
    /// The audiences to decide for.
    pub audiences: Vec<String>,
    /// The day, as `2027-01-31`: which exceptions of the policy have expired.
    pub now: Option<String>,
    /// How to answer.
    pub format: ScanFormat,
    /// How the worker died that was to parse it: nothing is parsed then.
    pub death: Option<Death>,
    /// Audiences whose release is wanted, bytes and all.
    pub release: Vec<String>,
    /// What external engines said, where that is known before the scan: from a receipt, or with a death.
    pub engines: Vec<Engine>,
    /// What was read in pictures, given again for the replay of a scan whose engine had read it.
    pub letters: Vec<ReadPicture>,
    /// Reviews whose signatures were checked: the id of the key, and what was signed.
    pub reviews: Vec<(String, String)>,
}

/// How a verdict is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanFormat {
    /// A JSON document in a line.
    Json,
    /// Text for people, in colour or not.
    Human {
        /// Whether with colours.
        color: bool,
    },
    /// A SARIF log in a line.
    Sarif,
    /// The page for the person who decides.
    Packet,
}

/// How a worker ended that did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// The reason of the gap it becomes.
    pub reason: String,
    /// In words.
    pub detail: String,
}

impl Death {
    pub(crate) fn to_facts(&self) -> Facts {
        Facts::of_death(Reason::named(&self.reason).unwrap_or(Reason::WorkerDied), self.detail.clone())
    }
}

/// What an external engine said, on its way to the worker that makes the verdict. The fields are those of
/// [`EngineAnswer`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Version of its database.
    pub database: String,
    /// When its database was made.
    pub database_time: String,
    /// What it said: `clean`, `found: NAME` or `unavailable: WHY`.
    pub answer: String,
}

impl From<Engine> for EngineAnswer {
    fn from(engine: Engine) -> Self {
        let Engine { name, version, database, database_time, answer } = engine;
        let mut of = Self::of(name, answer);
        (of.version, of.database, of.database_time) = (version, database, database_time);
        of
    }
}

/// What an engine read in a picture, on its way to the worker that makes the verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPicture {
    /// Which picture: SHA-256 over it as a portable graymap.
    pub picture: String,
    /// The words.
    #[serde(skip)]
    pub text: Bytes,
}

/// The bytes of a reference.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Attachment {
    /// The reference's id.
    pub reference: String,
    /// Its bytes.
    #[serde(skip)]
    pub bytes: Bytes,
}

impl ScanJob {
    /// A scan under the default policy, for all four audiences, answered in JSON.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            kind: "auto".to_owned(),
            name: None,
            declared: None,
            attachments: Vec::new(),
            watch: Vec::new(),
            context: BTreeMap::new(),
            policy: "default".to_owned(),
            audiences: Audience::BUILT_IN.iter().map(|audience| audience.name().to_owned()).collect(),
            now: None,
            format: ScanFormat::Json,
            death: None,
            release: Vec::new(),
            engines: Vec::new(),
            letters: Vec::new(),
            reviews: Vec::new(),
        }
    }

    pub(crate) fn facts(&self) -> Facts {
        let mut facts = self.death.as_ref().map_or_else(Facts::default, Death::to_facts);
        facts.engines = self.engines.iter().cloned().map(EngineAnswer::from).collect();
        facts.letters = self.letters.iter().cloned().map(Letters::from).collect();
        facts
    }
}

/// Bytes of which only the type is wanted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SniffJob {
    /// The bytes.
    #[serde(skip)]
    pub bytes: Bytes,
    /// Their untrusted name.
    pub name: String,
    /// How to answer.
    pub format: SniffFormat,
}

/// How the type of some bytes is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SniffFormat {
    /// A line for people.
    Human,
    /// A row of cells between tabs.
    Tsv,
    /// A JSON document in a line.
    Json,
}

/// JSON lines of texts to read and decide on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TextJob {
    /// Whole lines.
    #[serde(skip)]
    pub lines: Bytes,
    /// Number of the first one, counted from one.
    pub first: u64,
    /// Name of the policy.
    pub policy: String,
    /// The audiences to decide for.
    pub audiences: Vec<String>,
    /// The day, as `2027-01-31`: which exceptions of the policy have expired.
    pub now: Option<String>,
}

/// One piece of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    Scan(Box<ScanJob>),
    Sniff(SniffJob),
    Text(TextJob),
}

/// What a worker waits for before it decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Awaits {
    /// Nothing: there is nobody to ask.
    #[default]
    Nothing,
    /// A frame with the answers of engines.
    Engines,
    /// The same, after it has sent a frame with the pictures that it found.
    Letters,
}

/// The head of a job's frame: the job without its bytes, how long each of its parts is, and what its answer must name.
#[derive(Debug, Serialize, Deserialize)]
struct JobHead<J> {
    number: u64,
    awaits: Awaits,
    job: J,
    parts: Vec<usize>,
}

/// A job as it came over the pipe.
#[derive(Debug)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) awaits: Awaits,
    pub(crate) job: Job,
}

impl Job {
    pub(crate) fn to_frame(&self, number: u64, awaits: Awaits) -> (Vec<u8>, Vec<&[u8]>) {
        let parts: Vec<&[u8]> = match self {
            Self::Scan(job) => std::iter::once(&job.bytes)
                .chain(job.attachments.iter().map(|attached| &attached.bytes))
                .chain(job.letters.iter().map(|read| &read.text))
                .map(|bytes| &**bytes)
                .collect(),
            Self::Sniff(job) => vec![&job.bytes],
            Self::Text(job) => vec![&job.lines],
        };
        let parts_bytes = parts.iter().map(|part| part.len()).collect();
        let head = JobHead { number, awaits, job: self, parts: parts_bytes };
        // Strings and numbers only: this cannot fail.
        (serde_json::to_vec(&head).unwrap_or_default(), parts)
    }

    pub(crate) fn from_frame(frame: Frame) -> io::Result<Numbered> {
        let mut head: JobHead<Self> = serde_json::from_slice(&frame.head)?;
        let mut parts = split(frame.body, &head.parts)?.into_iter();
        let mut next = || parts.next().unwrap_or_default();
        match &mut head.job {
            Self::Scan(job) => {
                job.bytes = next();
                job.attachments.iter_mut().for_each(|attached| attached.bytes = next());
                job.letters.iter_mut().for_each(|read| read.text = next());
            }
            Self::Sniff(job) => job.bytes = next(),
            Self::Text(job) => job.lines = next(),
        }
        Ok(Numbered { number: head.number, awaits: head.awaits, job: head.job })
    }
}

/// The parts of a body, by their lengths.
pub(crate) fn split(body: Vec<u8>, lengths: &[usize]) -> io::Result<Vec<Bytes>> {
    let mut rest = Bytes::from(body);
    let parts = lengths
        .iter()
        .map(|length| (*length <= rest.len()).then(|| rest.split_to(*length)))
        .collect::<Option<Vec<Bytes>>>();
    parts
        .filter(|_| rest.is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "parts and body differ in length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_comes_back_with_its_attachments() {
        let mut job = ScanJob::new(&b"input"[..]);
        job.attachments = vec![Attachment { reference: "cfile_1".to_owned(), bytes: Bytes::from_static(b"fetched") }];
        job.letters = vec![ReadPicture { picture: "ab".to_owned(), text: Bytes::from_static(b"read") }];
        let job = Job::Scan(Box::new(job));
        let (head, parts) = job.to_frame(7, Awaits::Engines);
        let back = Job::from_frame(Frame { head, body: parts.concat() }).unwrap();
        assert_eq!((back.number, back.awaits), (7, Awaits::Engines));
        let Job::Scan(back) = back.job else { panic!("another job") };
        assert_eq!((&*back.bytes, &*back.attachments[0].bytes), (&b"input"[..], &b"fetched"[..]));
        assert_eq!(&*back.letters[0].text, b"read");
    }
}
