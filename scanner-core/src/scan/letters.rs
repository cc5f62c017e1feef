//! Letters in pictures: an engine outside reads them, the rules read what it says.
//!
//! A person sees these letters, so nothing is hidden in them; a model that is shown the picture reads them as it reads
//! any text. The words themselves are in no record: of them the engine's answer has a digest alone.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use super::{EngineAnswer, Facts, Run, Scanner};
use crate::{
    binding::Binding,
    bundle::ArtifactId,
    finding::{Gap, Place, Reason, Span, Stop, sha256_hex},
    format::Plane,
    limits::Resource,
    text::Reading,
    view::{OffsetMap, TextView},
};

/// The engine that reads letters, as verdicts call it.
pub(super) const ENGINE: &str = "tesseract";
/// How its answer begins where it has read something.
const READ: &str = "read: ";
/// What stands before the digest in it, and in receipts that a key goes into.
const PLAIN: &str = " sha256:";
const KEYED: &str = " hmac_sha256:";

/// A picture to be shown to an engine that reads letters: as a person sees it, in shades of grey.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Picture {
    /// The artifact it is of.
    pub artifact: ArtifactId,
    /// Where its pixels are packed.
    pub place: Place,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Row by row from the top, a byte for each pixel: zero is black.
    pub shades: Bytes,
    /// SHA-256 over the picture as a portable graymap: it says which picture letters are of.
    pub sha256: String,
    span: Span,
}

/// What an engine read in one picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letters {
    /// Which: [`Picture::sha256`].
    pub picture: String,
    /// The words.
    pub text: Bytes,
}

/// What engines said beside a scan.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Their answers, which are recorded.
    pub engines: Vec<EngineAnswer>,
    /// What one of them read in pictures, which is not.
    pub letters: Vec<Letters>,
}

impl From<Vec<EngineAnswer>> for Answers {
    fn from(engines: Vec<EngineAnswer>) -> Self {
        Self { engines, letters: Vec::new() }
    }
}

/// What is known of pictures, by their digests.
pub(super) type Known = Arc<BTreeMap<String, Bytes>>;

impl Picture {
    pub(super) fn of(artifact: ArtifactId, plane: Plane) -> Self {
        let Plane { width, height, shades, at } = plane;
        Self {
            artifact,
            place: Place::default().number("offset", at.start),
            width,
            height,
            sha256: sha256_hex(&Self::graymap_of(width, height, &shades)),
            shades,
            span: at,
        }
    }

    /// The picture as a portable graymap (PGM, `P5`): what an engine is given.
    pub fn graymap(&self) -> Vec<u8> {
        Self::graymap_of(self.width, self.height, &self.shades)
    }

    /// Shades of that size as a portable graymap: its SHA-256 is [`Picture::sha256`].
    ///
    /// ```
    /// assert_eq!(scanner_core::Picture::graymap_of(2, 1, &[0, 255]), b"P5\n2 1\n255\n\x00\xff");
    /// ```
    pub fn graymap_of(width: u32, height: u32, shades: &[u8]) -> Vec<u8> {
        [format!("P5\n{width} {height}\n255\n").as_bytes(), shades].concat()
    }
}

/// The answer of an engine that has read these letters: how many pictures there were, and a digest over what each says.
/// The digest of a picture goes into it, so that few words cannot be guessed back by who has not seen the picture.
///
/// ```
/// use scanner_core::{Letters, letters_answer};
/// let letters = [Letters { picture: "ab".repeat(32), text: "Figure 1".into() }];
/// assert!(letters_answer(&letters).starts_with("read: 1 pictures, sha256:"));
/// ```
pub fn letters_answer(letters: &[Letters]) -> String {
    answer(&letters.iter().map(|letters| (letters.picture.as_str(), &letters.text)).collect())
}

fn answer(texts: &BTreeMap<&str, &Bytes>) -> String {
    let lines: String = texts.iter().map(|(picture, text)| format!("{picture} {}\n", sha256_hex(text))).collect();
    format!("{READ}{} pictures,{PLAIN}{}", texts.len(), sha256_hex(lines.as_bytes()))
}

/// The answer as receipts write it: with a key, the digest over what pictures say is keyed, as that of a picture with a
/// secret in it is.
pub(crate) fn answer_in_receipt(engine: &EngineAnswer, binding: Option<&Binding>) -> String {
    match (binding, engine.answer.split_once(PLAIN)) {
        (Some(binding), Some((pictures, digest))) if is_answer(engine) => {
            format!("{pictures}{KEYED}{}", binding.of(digest))
        }
        _ => engine.answer.clone(),
    }
}

/// Whether that is the answer of an engine that has read pictures.
pub(super) fn is_answer(engine: &EngineAnswer) -> bool {
    engine.name == ENGINE && engine.answer.starts_with(READ)
}

impl Run<'_> {
    /// Reads what pictures say, and tells which nobody has read. What is known then, for scans of what is released.
    pub(super) fn read_letters(&mut self, facts: &Facts, scanner: &Scanner) -> Option<Known> {
        // Where the worker died no picture was seen; that is gap enough.
        if facts.death.is_some() {
            return None;
        }
        let pictures = std::mem::take(&mut self.pictures);
        let known = scanner.known.as_ref();
        let texts = match known {
            Some(known) => Some(known.clone()),
            None => self.believed(facts, &pictures, scanner.binding()),
        };
        let mut unread: u64 = 0;
        for picture in &pictures {
            match texts.as_ref().and_then(|texts| texts.get(&picture.sha256)) {
                Some(text) => self.read_picture(picture, text),
                None => unread = unread.saturating_add(1),
            }
        }
        // Why the engine did not look is told already, where it said so.
        let is_told = known.is_none()
            && facts.engines.iter().any(|engine| engine.name == ENGINE && !engine.answer.starts_with("found: "));
        if unread > 0 && !is_told {
            let detail = format!("the letters of {unread} pictures were not read: no engine was shown them");
            self.gaps.push(Gap::new(Reason::EngineUnavailable, detail));
        }
        texts
    }

    /// The letters, where an engine's answer is about them and about all of these pictures; nothing else is believed.
    fn believed(&mut self, facts: &Facts, pictures: &[Picture], binding: Option<&Binding>) -> Option<Known> {
        let said = facts.engines.iter().find(|engine| is_answer(engine))?;
        let given: BTreeMap<&str, &Bytes> =
            facts.letters.iter().map(|letters| (letters.picture.as_str(), &letters.text)).collect();
        let mut texts = BTreeMap::new();
        for picture in pictures {
            let Some(text) = given.get(picture.sha256.as_str()) else { break };
            texts.insert(picture.sha256.as_str(), *text);
        }
        let plain = EngineAnswer::of(ENGINE, answer(&texts));
        let fits = said.answer == plain.answer || said.answer == answer_in_receipt(&plain, binding);
        if fits && pictures.iter().all(|picture| texts.contains_key(picture.sha256.as_str())) {
            return Some(Arc::new(
                texts.into_iter().map(|(picture, text)| (picture.to_owned(), text.clone())).collect(),
            ));
        }
        let detail = format!("{ENGINE} did not look: its answer is not about these pictures and what they say");
        self.gaps.push(Gap::new(Reason::EngineUnavailable, detail));
        None
    }

    /// Reads what one picture says.
    fn read_picture(&mut self, picture: &Picture, text: &Bytes) {
        let record = usize::try_from(picture.artifact.0).ok().and_then(|at| self.records.get(at));
        let Some(record) = record else { return };
        let reading = Reading {
            rules: self.rules,
            watch: &self.watch,
            label: record.kind.label,
            name: record.name.as_deref(),
            artifact: picture.artifact,
        };
        let place = picture.place.clone().name("part", "letters");
        // Letters that spell a tag are letters: nobody reads a picture as markup.
        let view = TextView::decoded(text.clone(), OffsetMap::Within(picture.span), vec!["ocr"]).place(place).judged();
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let paid = self.budget.spend(Resource::DecodedBytes, length).map_err(Stop::from);
        let read = paid.and_then(|()| reading.read(&view, &mut self.budget, &mut self.findings));
        if let Err(stop) = read {
            let mut gap = stop.into_gap();
            gap.artifact = Some(picture.artifact);
            if !self.gaps.contains(&gap) {
                self.gaps.push(gap);
            }
        }
    }
}

#[cfg(test)]
mod tests;
