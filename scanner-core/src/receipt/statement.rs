//! What is signed: statements in the form of in-toto, version 1. One about a receipt says when and for which request it
//! was made, since the receipt itself has no clock; one about a review is the review.

use serde_json::{Value, json};

use super::{
    RECEIPT_SCHEMA, canonical_json,
    dsse::{DsseError, Envelope},
    keys::SigningKey,
};
use crate::{
    binding::Digest,
    policy::Date,
    scan::{Review, Ruling},
};

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const RECEIPT_TYPE: &str = "urn:scanner:receipt:v1";
pub(super) const REVIEW_TYPE: &str = "urn:scanner:review:v1";

/// What a signed line says. Read from an envelope before or after its signature is checked: this tells what it says, not
/// whether it is true.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Statement {
    /// A receipt.
    Receipt {
        /// The receipt.
        receipt: Value,
        /// When it was signed.
        signed_at: String,
        /// For which request.
        request_id: Option<String>,
    },
    /// A decision of a person.
    Review(Box<Review>),
}

impl Statement {
    /// Reads what an envelope carries.
    ///
    /// # Errors
    /// It is another kind of statement, or not written as those here are: canonical, and about what it holds.
    pub fn read(envelope: &Envelope) -> Result<Self, DsseError> {
        let wrong = DsseError::NotAStatement;
        let text = std::str::from_utf8(envelope.payload()).map_err(|_| wrong("not UTF-8"))?;
        let statement: Value = serde_json::from_str(text).map_err(|_| wrong("not JSON"))?;
        // With one way to write it, no member stands twice and no reader sees another document than this one.
        if canonical_json(&statement) != text {
            return Err(wrong("not canonical"));
        }
        let word = |key| statement.get(key).and_then(Value::as_str).unwrap_or_default();
        if word("_type") != STATEMENT {
            return Err(DsseError::OtherType(word("_type").to_owned()));
        }
        let predicate = statement.get("predicate").unwrap_or(&Value::Null);
        let (read, subject) = match word("predicateType") {
            RECEIPT_TYPE => Self::receipt(predicate)?,
            REVIEW_TYPE => {
                let review = Review::from_json(predicate, envelope.key_ids().next().unwrap_or_default());
                let review = review.ok_or(wrong("the review is not whole"))?;
                let subject = subject("input", &review.about.input);
                (Self::Review(Box::new(review)), vec![subject])
            }
            other => return Err(DsseError::OtherType(other.to_owned())),
        };
        if statement.get("subject") != Some(&Value::Array(subject)) {
            return Err(wrong("its subject is not what it holds"));
        }
        Ok(read)
    }

    fn receipt(predicate: &Value) -> Result<(Self, Vec<Value>), DsseError> {
        let wrong = DsseError::NotAStatement;
        let receipt = predicate.get("receipt").ok_or(wrong("no receipt"))?;
        if receipt.get("schema").and_then(Value::as_str) != Some(RECEIPT_SCHEMA) {
            return Err(DsseError::OtherType("a receipt of another version".to_owned()));
        }
        let text = |key| predicate.get(key).and_then(Value::as_str).map(str::to_owned);
        let read = Self::Receipt {
            receipt: receipt.clone(),
            signed_at: text("signed_at").ok_or(wrong("no time"))?,
            request_id: text("request_id"),
        };
        Ok((read, subjects(receipt).ok_or(wrong("the receipt is not whole"))?))
    }
}

/// Signs a receipt: one line, without a line end. The time and the request are the front's; see [`utc`].
///
/// # Errors
/// It is no receipt.
pub fn sign_receipt(
    receipt: &Value,
    signed_at: &str,
    request_id: Option<&str>,
    key: &SigningKey,
) -> Result<String, DsseError> {
    let subject = subjects(receipt).ok_or(DsseError::NotAStatement("the receipt is not whole"))?;
    let predicate = json!({ "receipt": receipt, "signed_at": signed_at, "request_id": request_id });
    Ok(sealed(RECEIPT_TYPE, &subject, &predicate, key))
}

/// Signs a review: one line, without a line end.
pub fn sign_review(review: &Review, key: &SigningKey) -> String {
    sealed(REVIEW_TYPE, &[subject("input", &review.about.input)], &review.to_json(), key)
}

fn sealed(kind: &str, subject: &[Value], predicate: &Value, key: &SigningKey) -> String {
    let statement = json!({ "_type": STATEMENT, "predicateType": kind, "subject": subject, "predicate": predicate });
    Envelope::seal(&canonical_json(&statement), key)
}

fn subject(name: &str, digest: &Digest) -> Value {
    json!({ "name": name, "digest": digest.to_json() })
}

/// What a receipt is about: the input, and what left for each audience.
fn subjects(receipt: &Value) -> Option<Vec<Value>> {
    let input = subject("input", &Digest::of_member(receipt.get("source")?)?);
    let mut subjects = vec![input];
    for release in receipt.get("releases")?.as_array()? {
        if release.get("state")?.as_str()? != "withheld" {
            let name = format!("release:{}", release.get("audience")?.as_str()?);
            subjects.push(subject(&name, &Digest::of_member(release)?));
        }
    }
    Some(subjects)
}

/// A time in UTC as statements write it (RFC 3339), from seconds since 1970.
///
/// ```
/// assert_eq!(scanner_core::utc(1_801_400_461), "2027-01-31T13:01:01Z");
/// ```
pub fn utc(unix_seconds: u64) -> String {
    let (hours, minutes, seconds) = (unix_seconds / 3_600 % 24, unix_seconds / 60 % 60, unix_seconds % 60);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}Z", Date::from_unix_seconds(unix_seconds))
}

/// The audiences that a receipt held for a person.
pub(super) fn held(receipt: &Value, ruling: Ruling) -> Vec<String> {
    let audiences = receipt.get("audiences").and_then(Value::as_object);
    let is_held =
        |answer: &Value| ruling == Ruling::Reject || answer.get("decision").and_then(Value::as_str) == Some("review");
    let held = audiences.into_iter().flatten().filter(|(_, answer)| is_held(answer));
    held.map(|(audience, _)| audience.clone()).collect()
}
