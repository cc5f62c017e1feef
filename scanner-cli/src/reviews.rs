//! `scanner scan --reviews FILE --reviewer PUB`: decisions of people, and which of them are about an input.

use std::path::{Path, PathBuf};

use scanner_core::{About, Binding, DsseError, Review, sha256_hex, visible};
use serde_json::Value;

use crate::{
    keys,
    problem::{Usage, say},
    receipt::{Line, read},
};

/// The decisions of those whose key was given.
#[derive(Debug, Default)]
pub(crate) struct Reviews(Vec<Review>);

impl Reviews {
    /// Reads a file of statements. One of somebody else is told and passed over; one that was changed, or that cannot be
    /// read, stops everything: it may have been a rejection.
    pub(crate) fn load(file: Option<&Path>, reviewers: &[PathBuf]) -> Result<Self, Usage> {
        let Some(file) = file else { return Ok(Self::default()) };
        let keys = reviewers.iter().map(|path| keys::public(path)).collect::<Result<Vec<_>, _>>()?;
        let shown = visible(&file.to_string_lossy());
        let mut reviews = Vec::new();
        for line in read(file).map_err(Usage)? {
            match line {
                Line::Receipt { .. } => {}
                Line::Foreign(why) => return Err(Usage(format!("{shown}: {why}"))),
                Line::Review(envelope, mut review) => match envelope.verify(&keys) {
                    Ok(key) => {
                        review.key = key.id();
                        reviews.push(*review);
                    }
                    Err(why @ DsseError::OtherKey) => {
                        say(&format!("scanner: {shown}: {}: {why}: it does not count", in_words(&review)));
                    }
                    Err(why) => return Err(Usage(format!("{shown}: {}: {why}", in_words(&review)))),
                },
            }
        }
        Ok(Self(reviews))
    }

    /// Those about an input, as a job takes them.
    pub(crate) fn about(&self, bytes: &[u8], binding: Option<&Binding>) -> Vec<(String, String)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let digest = sha256_hex(bytes);
        let about = self.0.iter().filter(|review| review.about.input.is_of(&digest, binding));
        about.map(|review| (review.key.clone(), review.to_json().to_string())).collect()
    }

    /// Says of each review about the input of a receipt that it does not count there, and why.
    pub(crate) fn tell(&self, receipt: &str) {
        if self.0.is_empty() {
            return;
        }
        let receipt: Value = serde_json::from_str(receipt).unwrap_or_default();
        let Some(here) = About::of_receipt(&receipt) else { return };
        for review in self.0.iter().filter(|review| review.about.input == here.input) {
            if let Some(other) = review.about.difference(&here) {
                say(&format!("scanner: {} does not count: it is about {other}", in_words(review)));
            }
        }
    }
}

fn in_words(review: &Review) -> String {
    format!("the decision {} by {} on {}", review.ruling.name(), visible(&review.by), visible(&review.at))
}
