//! What goes to and fro while a worker scans: it shows pictures, the front tells what engines said of the input and read
//! in the pictures. What a worker shows is as untrusted as what it answers.

use std::{collections::BTreeSet, io};

use scanner_core::{Answers, EngineAnswer, Letters, Picture, sha256_hex};
use serde::{Deserialize, Serialize};

use crate::{
    job::{Engine, ReadPicture, split},
    wire::Frame,
};

/// A picture that a worker shows.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// A portable graymap.
    pub(crate) graymap: Vec<u8>,
    /// SHA-256 of that. It is made here: a worker's word for it would be about another picture.
    pub(crate) sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShownHead {
    /// The number of the job.
    number: u64,
    /// Width and height of each picture; the body is their pixels, a byte each.
    sizes: Vec<(u32, u32)>,
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Shown {
    /// Pictures as this very process decoded them.
    pub(crate) fn all(pictures: &[Picture]) -> Vec<Self> {
        let shown = distinct(pictures).into_iter();
        shown.map(|picture| Self { graymap: picture.graymap(), sha256: picture.sha256.clone() }).collect()
    }

    /// The frame of a worker that shows these pictures for that job.
    pub(crate) fn to_frame(pictures: &[Picture], number: u64) -> (Vec<u8>, Vec<&[u8]>) {
        let pictures = distinct(pictures);
        let sizes = pictures.iter().map(|picture| (picture.width, picture.height)).collect();
        let parts = pictures.iter().map(|picture| &*picture.shades).collect();
        // Numbers only: this cannot fail.
        (serde_json::to_vec(&ShownHead { number, sizes }).unwrap_or_default(), parts)
    }

    /// Checks what a worker shows for that job; of all pictures it may be so many pixels.
    pub(crate) fn from_frame(frame: Frame, number: u64, most_pixels: u64) -> io::Result<Vec<Self>> {
        let head: ShownHead = serde_json::from_slice(&frame.head)?;
        if head.number != number {
            return Err(wrong("the pictures of another job"));
        }
        let mut pixels = 0_u64;
        let mut lengths = Vec::with_capacity(head.sizes.len());
        for (width, height) in &head.sizes {
            let area = u64::from(*width) * u64::from(*height);
            pixels = pixels.saturating_add(area);
            if area == 0 || pixels > most_pixels {
                return Err(wrong("a picture without pixels, or more of them than were asked for"));
            }
            lengths.push(usize::try_from(area).map_err(|_| wrong("a picture larger than memory"))?);
        }
        let parts = split(frame.body, &lengths)?;
        let pictures = head.sizes.into_iter().zip(parts).map(|((width, height), shades)| {
            let graymap = Picture::graymap_of(width, height, &shades);
            Self { sha256: sha256_hex(&graymap), graymap }
        });
        Ok(pictures.collect())
    }
}

/// Each picture once.
fn distinct(pictures: &[Picture]) -> Vec<&Picture> {
    let mut seen = BTreeSet::new();
    pictures.iter().filter(|picture| seen.insert(picture.sha256.as_str())).collect()
}

/// What was said beside a scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) engines: Vec<Engine>,
    pub(crate) letters: Vec<ReadPicture>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SaidHead {
    engines: Vec<Engine>,
    letters: Vec<ReadPicture>,
    parts: Vec<usize>,
}

impl Said {
    pub(crate) fn to_frame(&self) -> (Vec<u8>, Vec<&[u8]>) {
        let parts: Vec<&[u8]> = self.letters.iter().map(|read| &*read.text).collect();
        let head = SaidHead {
            engines: self.engines.clone(),
            letters: self.letters.clone(),
            parts: parts.iter().map(|part| part.len()).collect(),
        };
        // Strings and numbers only: this cannot fail.
        (serde_json::to_vec(&head).unwrap_or_default(), parts)
    }

    pub(crate) fn from_frame(frame: Frame) -> io::Result<Self> {
        let SaidHead { engines, mut letters, parts } = serde_json::from_slice(&frame.head)?;
        let texts = split(frame.body, &parts)?;
        if texts.len() != letters.len() {
            return Err(wrong("not a text for each picture"));
        }
        letters.iter_mut().zip(texts).for_each(|(read, text)| read.text = text);
        Ok(Self { engines, letters })
    }

    pub(crate) fn into_answers(self) -> Answers {
        Answers {
            engines: self.engines.into_iter().map(EngineAnswer::from).collect(),
            letters: self.letters.into_iter().map(Letters::from).collect(),
        }
    }
}

impl From<ReadPicture> for Letters {
    fn from(ReadPicture { picture, text }: ReadPicture) -> Self {
        Self { picture, text }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn shown(head: &str, body: &[u8], most: u64) -> io::Result<Vec<Shown>> {
        Shown::from_frame(Frame { head: head.as_bytes().to_vec(), body: body.to_vec() }, 3, most)
    }

    #[test]
    fn what_is_shown_is_checked() {
        let good = shown(r#"{"number":3,"sizes":[[2,1],[1,2]]}"#, &[1, 2, 3, 4], 4).unwrap();
        assert_eq!(good[1].graymap, b"P5\n1 2\n255\n\x03\x04");
        assert_eq!(good[1].sha256, sha256_hex(&good[1].graymap));
        assert!(shown(r#"{"number":3,"sizes":[]}"#, b"", 4).unwrap().is_empty());
        for (head, body) in [
            (r#"{"number":4,"sizes":[[2,1]]}"#, &[1, 2][..]),
            (r#"{"number":3,"sizes":[[2,1]]}"#, &[1]),
            (r#"{"number":3,"sizes":[[2,1]]}"#, &[1, 2, 3]),
            (r#"{"number":3,"sizes":[[2,2],[1,1]]}"#, &[1, 2, 3, 4, 5]),
            (r#"{"number":3,"sizes":[[0,4]]}"#, &[]),
            (r#"{"number":3,"sizes":[[4294967295,4294967295]]}"#, &[]),
            (r#"{"number":3,"sizes":[[-1,1]]}"#, &[]),
            (r#"{"number":3,"sizes":[[1,1]],"sha256":["00"]}"#, &[1]),
            (r#"{"number":3}"#, &[]),
            ("{", &[]),
            ("", &[]),
        ] {
            assert!(shown(head, body, 4).is_err(), "{head}");
        }
    }

    #[test]
    fn what_was_said_comes_back() {
        let read = |picture: &str, text: &'static str| ReadPicture { picture: picture.to_owned(), text: text.into() };
        let engine = Engine { name: "av".to_owned(), answer: "clean".to_owned(), ..Engine::default() };
        let said = Said { engines: vec![engine.clone()], letters: vec![read("a", "one"), read("b", "")] };
        let (head, parts) = said.to_frame();
        let back = Said::from_frame(Frame { head: head.clone(), body: parts.concat() }).unwrap();
        assert_eq!((back.engines, back.letters), (vec![engine], said.letters.clone()));
        assert!(Said::from_frame(Frame { head, body: b"on".to_vec() }).is_err());
    }

    #[test]
    fn an_empty_text_is_a_text() {
        let read = ReadPicture { picture: "a".to_owned(), text: Bytes::new() };
        assert_eq!(Letters::from(read).text, Bytes::new());
    }
}
