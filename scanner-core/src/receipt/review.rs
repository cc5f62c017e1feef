//! A review as JSON: in statements, in receipts, and on the way to a worker.

use serde_json::{Value, json};

use super::{canonical_json, statement::held};
use crate::{
    binding::Digest,
    finding::sha256_hex,
    scan::{About, Review, Ruling},
};

/// The schema of the reviews written here.
pub const REVIEW_SCHEMA: &str = "scanner.review/v1";

/// Longest name of a person, and longest reason, in bytes: both stand in every verdict that honours the review.
const LONGEST_NAME: usize = 256;
const LONGEST_REASON: usize = 2_048;

impl Review {
    /// A decision about a receipt, to be signed.
    ///
    /// # Errors
    /// In words: the receipt is not whole, there is nothing to approve, or a name or a reason is missing or too long.
    pub fn of_receipt(receipt: &Value, ruling: Ruling, by: &str, reason: &str, at: &str) -> Result<Self, &'static str> {
        let about = About::of_receipt(receipt).ok_or("the receipt is not whole")?;
        let audiences = held(receipt, ruling);
        if audiences.is_empty() {
            return Err("no audience has the decision review: there is nothing to approve");
        }
        let review = Self {
            ruling,
            by: by.to_owned(),
            reason: reason.to_owned(),
            at: at.to_owned(),
            key: String::new(),
            receipt: sha256_hex(canonical_json(receipt).as_bytes()),
            audiences,
            about,
        };
        if review.is_sound() { Ok(review) } else { Err("who and why must be said, in 256 and 2,048 bytes at most") }
    }

    /// The review that a receipt was made under: what a replay is given.
    pub fn recorded_in(receipt: &Value) -> Option<Self> {
        let fact = receipt.pointer("/facts/review")?;
        let key = fact.get("key")?.as_str()?;
        Self::from_parts(fact, About::of_receipt(receipt)?, key)
    }

    /// What is signed.
    pub fn to_json(&self) -> Value {
        let about = &self.about;
        json!({
            "schema": REVIEW_SCHEMA,
            "decision": self.ruling.name(),
            "by": self.by,
            "reason": self.reason,
            "at": self.at,
            "receipt": self.receipt,
            "audiences": self.audiences,
            "input": about.input.to_json(),
            "as": about.asked,
            "attachments": attachments_json(&about.attachments),
            "watch": about.watch,
            "policy": about.policy,
            "rules": about.rules,
        })
    }

    /// Reads what was signed, with the id of the key that did. `None` when something is missing or of another version.
    pub fn from_json(json: &Value, key: &str) -> Option<Self> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_owned);
        if text("schema")? != REVIEW_SCHEMA {
            return None;
        }
        let about = About {
            input: Digest::of_member(json.get("input")?)?,
            asked: text("as")?,
            attachments: attachments(json.get("attachments")?)?,
            watch: nullable(json.get("watch")?)?,
            policy: text("policy")?,
            rules: text("rules")?,
        };
        Self::from_parts(json, about, key)
    }

    /// The fact as receipts record it. What it is about is the receipt's own.
    pub(super) fn to_fact(&self) -> Value {
        json!({
            "decision": self.ruling.name(),
            "by": self.by,
            "reason": self.reason,
            "at": self.at,
            "key": self.key,
            "receipt": self.receipt,
            "audiences": self.audiences,
        })
    }

    fn from_parts(json: &Value, about: About, key: &str) -> Option<Self> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_owned);
        let audiences = json.get("audiences")?.as_array()?;
        let review = Self {
            ruling: Ruling::named(&text("decision")?)?,
            by: text("by")?,
            reason: text("reason")?,
            at: text("at")?,
            key: key.to_owned(),
            receipt: text("receipt")?,
            audiences: audiences.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            about,
        };
        review.is_sound().then_some(review)
    }

    fn is_sound(&self) -> bool {
        let said = |text: &str, most: usize| !text.trim().is_empty() && text.len() <= most;
        said(&self.by, LONGEST_NAME) && said(&self.reason, LONGEST_REASON)
    }
}

impl About {
    /// What a review of that receipt is about; `None` when it is not whole.
    pub fn of_receipt(receipt: &Value) -> Option<Self> {
        let text = |pointer: &str| receipt.pointer(pointer)?.as_str().map(str::to_owned);
        Some(Self {
            input: Digest::of_member(receipt.get("source")?)?,
            asked: text("/source/as")?,
            attachments: attachments(receipt.get("attachments")?)?,
            watch: nullable(receipt.get("watch")?)?,
            policy: text("/policy/digest")?,
            rules: text("/scanner/rules")?,
        })
    }
}

pub(super) fn attachments_json(attachments: &[(String, Digest)]) -> Vec<Value> {
    attachments.iter().map(|(reference, digest)| digest.put(json!({ "reference": reference }))).collect()
}

fn attachments(list: &Value) -> Option<Vec<(String, Digest)>> {
    let one = |item: &Value| Some((item.get("reference")?.as_str()?.to_owned(), Digest::of_member(item)?));
    list.as_array()?.iter().map(one).collect()
}

/// A string, or null.
fn nullable(value: &Value) -> Option<Option<String>> {
    if value.is_null() { Some(None) } else { Some(Some(value.as_str()?.to_owned())) }
}
