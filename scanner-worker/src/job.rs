//! What a worker is given and what it answers.

use std::{collections::BTreeMap, io};

use bytes::Bytes;
use scanner_core::{Audience, Decision};
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
            reviews: Vec::new(),
        }
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

/// The head of a job's frame: the job without its bytes, and how long each of its parts is.
#[derive(Debug, Serialize, Deserialize)]
struct JobHead<J> {
    job: J,
    parts: Vec<usize>,
}

impl Job {
    pub(crate) fn to_frame(&self) -> (Vec<u8>, Vec<&[u8]>) {
        let parts: Vec<&[u8]> = match self {
            Self::Scan(job) => std::iter::once(&job.bytes)
                .chain(job.attachments.iter().map(|attached| &attached.bytes))
                .map(|bytes| &**bytes)
                .collect(),
            Self::Sniff(job) => vec![&job.bytes],
            Self::Text(job) => vec![&job.lines],
        };
        let head = JobHead { job: self, parts: parts.iter().map(|part| part.len()).collect() };
        // Strings and numbers only: this cannot fail.
        (serde_json::to_vec(&head).unwrap_or_default(), parts)
    }

    pub(crate) fn from_frame(frame: Frame) -> io::Result<Self> {
        let mut head: JobHead<Self> = serde_json::from_slice(&frame.head)?;
        let mut parts = split(frame.body, &head.parts)?.into_iter();
        let mut next = || parts.next().unwrap_or_default();
        match &mut head.job {
            Self::Scan(job) => {
                job.bytes = next();
                job.attachments.iter_mut().for_each(|attached| attached.bytes = next());
            }
            Self::Sniff(job) => job.bytes = next(),
            Self::Text(job) => job.lines = next(),
        }
        Ok(head.job)
    }
}

/// The parts of a body, by their lengths.
fn split(body: Vec<u8>, lengths: &[usize]) -> io::Result<Vec<Bytes>> {
    let mut rest = Bytes::from(body);
    let parts = lengths
        .iter()
        .map(|length| (*length <= rest.len()).then(|| rest.split_to(*length)))
        .collect::<Option<Vec<Bytes>>>();
    parts
        .filter(|_| rest.is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "parts and body differ in length"))
}

/// What comes of a job.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Answer {
    /// The decision over all audiences asked; `None` where there is none to make.
    pub decision: Option<Decision>,
    /// Whether everything was seen.
    pub complete: bool,
    /// Why nothing was scanned: a stable code and a message.
    pub refusal: Option<(String, String)>,
    /// Files that the input names beside itself, which a front with a file system may attach.
    pub wants: Vec<String>,
    /// The document: a verdict, rows, or text for people.
    pub output: String,
    /// The receipt, in canonical form.
    pub receipt: String,
    /// What was seen, in numbers.
    pub counts: Counts,
    /// What may leave, for each audience that was asked for.
    pub releases: Vec<Released>,
}

/// What may leave for one audience.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Released {
    /// The audience.
    pub audience: String,
    /// `scanner.release/v1`, one line.
    pub manifest: String,
    /// The input in its own shape, when it may leave.
    pub whole: Option<Kept>,
    /// Files that may leave by themselves.
    pub files: Vec<Kept>,
}

/// Bytes that may leave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// Where they are kept below the folder of a release.
    pub path: String,
    /// The headers to serve them with.
    pub headers: Vec<(String, String)>,
    /// The bytes.
    #[serde(skip)]
    pub bytes: Bytes,
}

impl Kept {
    pub(crate) fn of(leaving: scanner_core::Leaving) -> Self {
        Self { path: leaving.path, headers: leaving.headers, bytes: leaving.bytes }
    }

    /// Whether the path is one that a release has, and says what the bytes are. It comes from a worker.
    fn is_sound(&self) -> bool {
        let plain = |word: &str| {
            word.len() <= 16 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if let Some(extension) = self.path.strip_prefix("envelope.") {
            return plain(extension);
        }
        let Some(name) = self.path.strip_prefix("files/") else { return false };
        let (digest, extension) = name.split_once('.').unwrap_or((name, ""));
        plain(extension) && digest == scanner_core::sha256_hex(&self.bytes)
    }
}

/// What was seen, in numbers: for metrics, so that no front has to read a verdict. The words are those of verdicts, but
/// they come from a worker: a front that makes labels of them checks them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// The system the input came from.
    pub provider: Option<String>,
    /// The worst decision there would be, were the policy enforced.
    pub would_be: Option<String>,
    /// Category, severity, how many.
    pub findings: Vec<(String, String, u64)>,
    /// Reason, how many.
    pub gaps: Vec<(String, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct AnswerHead {
    decision: Option<String>,
    complete: bool,
    refusal: Option<(String, String)>,
    wants: Vec<String>,
    counts: Counts,
    releases: Vec<Released>,
    parts: Vec<usize>,
}

impl Answer {
    /// Nothing was scanned.
    pub fn refused(code: &str, message: impl Into<String>) -> Self {
        Self { refusal: Some((code.to_owned(), message.into())), ..Self::default() }
    }

    /// The same, as the error of what could not even begin.
    pub(crate) fn boxed(code: &str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self::refused(code, message))
    }

    pub(crate) fn to_frame(&self) -> (Vec<u8>, Vec<&[u8]>) {
        let kept = self.releases.iter().flat_map(|release| release.whole.iter().chain(&release.files));
        let texts = [self.output.as_bytes(), self.receipt.as_bytes()];
        let parts: Vec<&[u8]> = texts.into_iter().chain(kept.map(|kept| &*kept.bytes)).collect();
        let head = AnswerHead {
            decision: self.decision.map(|decision| decision.name().to_owned()),
            complete: self.complete,
            refusal: self.refusal.clone(),
            wants: self.wants.clone(),
            counts: self.counts.clone(),
            releases: self.releases.clone(),
            parts: parts.iter().map(|part| part.len()).collect(),
        };
        (serde_json::to_vec(&head).unwrap_or_default(), parts)
    }

    /// Checks an answer as the untrusted thing it is.
    pub(crate) fn from_frame(frame: Frame) -> io::Result<Self> {
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let head: AnswerHead = serde_json::from_slice(&frame.head)?;
        let decision = match head.decision {
            None => None,
            Some(name) => Some(Decision::named(&name).ok_or_else(|| wrong("not a decision"))?),
        };
        let mut parts = split(frame.body, &head.parts)?.into_iter();
        let (Some(output), Some(receipt)) = (parts.next(), parts.next()) else { return Err(wrong("not two parts")) };
        let mut releases = head.releases;
        for kept in releases.iter_mut().flat_map(|release| release.whole.iter_mut().chain(&mut release.files)) {
            kept.bytes = parts.next().ok_or_else(|| wrong("too few parts"))?;
            if !kept.is_sound() {
                return Err(wrong("a release that is not where it says"));
            }
        }
        if parts.next().is_some() {
            return Err(wrong("too many parts"));
        }
        let text = |bytes: Bytes| String::from_utf8(bytes.into()).map_err(|_| wrong("not UTF-8"));
        Ok(Self {
            decision,
            complete: head.complete,
            refusal: head.refusal,
            wants: head.wants,
            counts: head.counts,
            releases,
            output: text(output)?,
            receipt: text(receipt)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_comes_back_with_its_attachments() {
        let mut job = ScanJob::new(&b"input"[..]);
        job.attachments = vec![Attachment { reference: "cfile_1".to_owned(), bytes: Bytes::from_static(b"fetched") }];
        let job = Job::Scan(Box::new(job));
        let (head, parts) = job.to_frame();
        let Job::Scan(back) = Job::from_frame(Frame { head, body: parts.concat() }).unwrap() else {
            panic!("another job")
        };
        assert_eq!((&*back.bytes, &*back.attachments[0].bytes), (&b"input"[..], &b"fetched"[..]));
    }

    #[test]
    fn a_release_that_lies_about_its_place_is_refused() {
        let bytes = Bytes::from_static(b"clean");
        let digest = scanner_core::sha256_hex(&bytes);
        for (path, sound) in [
            (format!("files/{digest}.png"), true),
            (format!("files/{digest}"), true),
            ("envelope.json".to_owned(), true),
            (format!("files/{}.png", "0".repeat(64)), false),
            (format!("files/{digest}.p/../x"), false),
            ("envelope./../../x".to_owned(), false),
            ("../envelope.json".to_owned(), false),
        ] {
            let kept = Kept { path: path.clone(), headers: Vec::new(), bytes: bytes.clone() };
            let release = Released { audience: "page".to_owned(), files: vec![kept], ..Released::default() };
            let answer = Answer { releases: vec![release], ..Answer::default() };
            let (head, parts) = answer.to_frame();
            let back = Answer::from_frame(Frame { head, body: parts.concat() });
            assert_eq!(back.is_ok_and(|back| back.releases[0].files[0].bytes == bytes), sound, "{path}");
        }
    }

    #[test]
    fn an_answer_with_lies_is_refused() {
        let answer = Answer { output: "{}".to_owned(), decision: Some(Decision::Block), ..Answer::default() };
        let (head, parts) = answer.to_frame();
        let body = parts.concat();
        assert_eq!(Answer::from_frame(Frame { head: head.clone(), body: body.clone() }).unwrap().output, "{}");
        let lies = |from: &str, to: &str| String::from_utf8(head.clone()).unwrap().replace(from, to).into_bytes();
        assert!(Answer::from_frame(Frame { head: lies("block", "alow"), body: body.clone() }).is_err());
        assert!(Answer::from_frame(Frame { head: lies("[2,0]", "[3,0]"), body: body.clone() }).is_err());
        assert!(Answer::from_frame(Frame { head: lies("[2,0]", "[1,0]"), body: body.clone() }).is_err());
        assert!(Answer::from_frame(Frame { head: lies("[2,0]", "[2]"), body }).is_err());
        assert!(Answer::from_frame(Frame { head, body: b"\xff\xff".to_vec() }).is_err());
    }
}
