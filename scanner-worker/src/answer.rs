//! What a worker answers, and the doubt it meets: it held hostile bytes, so its words are untrusted too.

use std::io;

use bytes::Bytes;
use scanner_core::Decision;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use crate::{
    job::{Death, Job, ScanFormat, split},
    released::Released,
    wire::Frame,
};

/// The schema of the verdicts that are passed on.
const VERDICT_SCHEMA: &str = "scanner.verdict/v1";

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
    /// What may leave, for each audience whose release was asked for.
    pub releases: Vec<Released>,
    /// How the worker ended, where the front had to make this answer itself.
    pub death: Option<Death>,
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
    /// Engine, the first word of its answer, how many.
    pub engines: Vec<(String, String, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct AnswerHead {
    /// The number of the job: an answer that was written before its job came is none.
    number: u64,
    decision: Option<String>,
    complete: bool,
    refusal: Option<(String, String)>,
    wants: Vec<String>,
    counts: Counts,
    releases: Vec<Released>,
    parts: Vec<usize>,
}

/// What a front has to know of a verdict it passes on.
#[derive(Debug, Deserialize)]
struct VerdictSeen {
    schema: String,
    decision: String,
    source: SourceSeen,
}

#[derive(Debug, Deserialize)]
struct SourceSeen {
    size: u64,
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

    pub(crate) fn to_frame(&self, number: u64) -> (Vec<u8>, Vec<&[u8]>) {
        let texts = [self.output.as_bytes(), self.receipt.as_bytes()];
        let kept = self.releases.iter().flat_map(Released::kept).map(|kept| &*kept.bytes);
        let parts: Vec<&[u8]> = texts.into_iter().chain(kept).collect();
        let head = AnswerHead {
            number,
            decision: self.decision.map(|decision| decision.name().to_owned()),
            complete: self.complete,
            refusal: self.refusal.clone(),
            wants: self.wants.clone(),
            counts: self.counts.clone(),
            releases: self.releases.clone(),
            parts: parts.iter().map(|part| part.len()).collect(),
        };
        // Strings and numbers only: this cannot fail.
        (serde_json::to_vec(&head).unwrap_or_default(), parts)
    }

    /// Checks an answer to that job as the untrusted thing it is.
    pub(crate) fn from_frame(frame: Frame, number: u64, job: &Job) -> io::Result<Self> {
        let head: AnswerHead = serde_json::from_slice(&frame.head)?;
        if head.number != number {
            return Err(wrong("the answer to another job"));
        }
        let decision = match head.decision {
            None => None,
            Some(name) => Some(Decision::named(&name).ok_or_else(|| wrong("not a decision"))?),
        };
        let mut parts = split(frame.body, &head.parts)?.into_iter();
        let (Some(output), Some(receipt)) = (parts.next(), parts.next()) else { return Err(wrong("not two parts")) };
        let mut releases = head.releases;
        let wanted: &[String] = if let Job::Scan(job) = job { &job.release } else { &[] };
        Released::fill(&mut releases, &mut parts, wanted)?;
        let text = |bytes: Bytes| String::from_utf8(bytes.into()).map_err(|_| wrong("not UTF-8"));
        let answer = Self {
            decision,
            complete: head.complete,
            refusal: head.refusal,
            wants: head.wants,
            counts: head.counts,
            output: text(output)?,
            receipt: text(receipt)?,
            releases,
            death: None,
        };
        answer.check(job)?;
        Ok(answer)
    }

    /// That the documents are what they are passed on as: one line of JSON each, and a verdict about this input that
    /// says the same as the head. A line end in one would be a second document to whoever reads lines.
    fn check(&self, job: &Job) -> io::Result<()> {
        match job {
            _ if self.refusal.is_some() && self.output.is_empty() => Ok(()),
            Job::Scan(job) => {
                one_line::<IgnoredAny>(&self.receipt)?;
                let decision = self.decision.ok_or_else(|| wrong("a scan without a decision"))?;
                match job.format {
                    ScanFormat::Json => {
                        let seen: VerdictSeen = one_line(&self.output)?;
                        let is_ours = seen.schema == VERDICT_SCHEMA
                            && seen.decision == decision.name()
                            && seen.source.size == job.bytes.len() as u64;
                        if is_ours { Ok(()) } else { Err(wrong("a verdict about something else")) }
                    }
                    ScanFormat::Sarif => one_line::<IgnoredAny>(&self.output).map(drop),
                    ScanFormat::Human { .. } | ScanFormat::Packet => Ok(()),
                }
            }
            Job::Text(_) => self.output.lines().try_for_each(|line| one_line::<IgnoredAny>(line).map(drop)),
            Job::Sniff(_) => Ok(()),
        }
    }
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// One line of JSON, read as far as it is asked for; the rest is only skipped, without recursion.
fn one_line<T: DeserializeOwned>(text: &str) -> io::Result<T> {
    if text.trim_end_matches('\n').contains(['\n', '\r']) {
        return Err(wrong("more than a line"));
    }
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::ScanJob;

    fn verdict(decision: &str, size: usize) -> String {
        format!(r#"{{"schema":"scanner.verdict/v1","decision":"{decision}","source":{{"size":{size}}},"more":[1]}}"#)
    }

    fn answer(output: String) -> Answer {
        Answer { output, receipt: "{}".to_owned(), decision: Some(Decision::Block), ..Answer::default() }
    }

    fn back(answer: &Answer, change: impl FnOnce(String) -> String) -> io::Result<Answer> {
        let (head, parts) = answer.to_frame(3);
        let frame = Frame { head: change(String::from_utf8(head).unwrap()).into_bytes(), body: parts.concat() };
        Answer::from_frame(frame, 3, &Job::Scan(Box::new(ScanJob::new(&b"hello"[..]))))
    }

    #[test]
    fn an_honest_answer_passes() {
        let honest = answer(verdict("block", 5));
        assert_eq!(back(&honest, |head| head).unwrap().output, honest.output);
        let refused = Answer::refused("too_large", "so large");
        assert!(back(&refused, |head| head).unwrap().refusal.is_some());
    }

    #[test]
    fn an_answer_with_lies_is_refused() {
        let honest = answer(verdict("block", 5));
        let length = honest.output.len();
        let lie = |from: &str, to: &str| back(&honest, |head| head.replace(from, to)).is_err();
        assert!(lie("block", "alow"));
        assert!(lie("block", "allow"), "the head says something else than the verdict");
        assert!(lie("\"decision\":\"block\"", "\"decision\":null"));
        assert!(lie("\"number\":3", "\"number\":4"), "an answer from before");
        assert!(lie(&format!("[{length},2]"), &format!("[{},2]", length + 1)));
        assert!(lie(&format!("[{length},2]"), &format!("[{},2]", length - 1)));
        assert!(lie(&format!("[{length},2]"), &format!("[{length}]")));
        let bad = |output: String| back(&answer(output), |head| head).is_err();
        assert!(bad(verdict("allow", 5)));
        assert!(bad(verdict("block", 6)), "another input");
        assert!(bad(verdict("block", 5).replace("verdict/v1", "verdict/v2")));
        assert!(bad(format!("{}\n{}", verdict("block", 5), verdict("allow", 5))));
        assert!(bad(verdict("block", 5) + "x"));
        assert!(bad(String::new()));
        let mut two_receipts = honest.clone();
        two_receipts.receipt = "{}\n{}".to_owned();
        assert!(back(&two_receipts, |head| head).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let honest = answer(verdict("block", 5));
        let (head, parts) = honest.to_frame(3);
        let mut body = parts.concat();
        body[0] = 0xff;
        assert!(
            Answer::from_frame(Frame { head, body }, 3, &Job::Scan(Box::new(ScanJob::new(&b"hello"[..])))).is_err()
        );
    }
}
