//! The safe version of a JPEG: the segments that make the picture, and its packed pixels as they are.

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{Cleaning, Uncleanable},
        exif,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{
    BYTES_PER_STEP, EOI, FREE_SCANS, MOST_SCANS, SOI, SOS, STEPS_PER_SEGMENT, TEM,
    coding::{self, Frame, Tables},
    entropy,
};

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let mut reader = Reader::new(subject.bytes);
    if reader.take(2) != Ok(&[0xff, SOI]) {
        return Err("the picture does not begin as it must".into());
    }
    // What is copied is paid at once.
    budget.spend(Resource::Steps, count(subject.bytes.len()).div_ceil(BYTES_PER_STEP))?;
    let mut picture =
        Rewrite { out: vec![0xff, SOI], frame: None, tables: Tables::default(), scans: 0, once: [false; 3] };
    loop {
        let marker = marker(&mut reader, cleaning, budget)?;
        match marker {
            EOI => break,
            SOI | TEM | 0xd0..=0xd7 => cleaning.did("removed a mark between the parts"),
            _ => picture.segment(marker, &mut reader, cleaning, budget)?,
        }
    }
    if !reader.is_at_end() {
        cleaning.did("removed data behind the end");
    }
    if picture.scans == 0 {
        return Err("there are no pixels in the picture".into());
    }
    picture.out.extend([0xff, EOI]);
    Ok(picture.out.into())
}

/// The next marker; what stands before it goes.
fn marker(reader: &mut Reader<'_>, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<u8, Uncleanable> {
    budget.spend(Resource::Objects, 1)?;
    let mut is_clear = true;
    loop {
        budget.spend(Resource::Steps, STEPS_PER_SEGMENT)?;
        let passed = reader.until(0xff).ok_or("the end of the picture is missing")?;
        is_clear &= passed.is_empty();
        match reader.rest().first() {
            // Fill bytes.
            Some(0xff) => {}
            Some(0) => is_clear = false,
            _ => break,
        }
    }
    if !is_clear {
        cleaning.did("removed data between the parts");
    }
    Ok(reader.u8().map_err(|_| "the end of the picture is missing")?)
}

/// A picture being written again.
struct Rewrite {
    out: Vec<u8>,
    frame: Option<Frame>,
    tables: Tables,
    scans: u64,
    /// Whether the heads of JFIF, of Adobe, and the camera's data were there.
    once: [bool; 3],
}

/// What is kept beside the pixels, each once.
#[derive(Clone, Copy, Debug)]
enum Head {
    Jfif,
    Adobe,
    Camera,
}

impl Rewrite {
    fn segment(
        &mut self,
        marker: u8,
        reader: &mut Reader<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let length = reader.u16_be().ok().and_then(|length| length.checked_sub(2));
        let length = length.ok_or("a part of the picture is shorter than its own length")?;
        let content = reader.take(length.into()).map_err(|_| "the picture is cut off")?;
        match marker {
            // Baseline, extended and progressive; no viewer of today reads the others (ITU T.81 table B.1).
            0xc0..=0xc2 if self.frame.is_some() => return Err("the picture has two sizes".into()),
            0xc0..=0xc2 => {
                let frame = Frame::read(marker, 0..0, content)?;
                if frame.size.height == 0 {
                    return Err("the picture says too late how high it is".into());
                }
                frame.size.pay(budget)?;
                self.frame = Some(frame);
            }
            0xc4 => self.tables.huffman(content)?,
            0xc3 | 0xc5..=0xcf | 0xde | 0xdf => return Err("the picture is packed as no viewer expects it".into()),
            0xdb => coding::quantization(content)?,
            0xdd => self.tables.restarts(content)?,
            SOS => return self.scan(content, reader, budget),
            _ => return self.note(marker, content, cleaning, budget),
        }
        self.write(marker, content)
    }

    /// A scan: its header, and the packed pixels up to the next marker that is none of theirs.
    fn scan(&mut self, content: &[u8], reader: &mut Reader<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        self.scans = self.scans.saturating_add(1);
        let frame = self.frame.as_ref().ok_or("the pixels come before the size of the picture")?;
        frame.scan(content, &self.tables)?;
        if self.scans > MOST_SCANS {
            return Err("the picture is drawn in too many passes".into());
        }
        if self.scans > FREE_SCANS {
            frame.size.pay(budget)?;
        }
        let data = reader.rest();
        let start = reader.position();
        if let Some(wrong) = entropy(reader, budget)? {
            return Err(wrong.into());
        }
        let data = data.get(..reader.position().saturating_sub(start)).unwrap_or_default();
        if self.scans == 1 && frame.most_pixels(content, &self.tables, count(data.len())).is_some() {
            return Err("most of the picture is missing".into());
        }
        self.write(SOS, content)?;
        self.out.extend_from_slice(data);
        Ok(())
    }

    /// Application data and comments. Of three of them something stays, written anew.
    fn note(
        &mut self,
        marker: u8,
        content: &[u8],
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        match (marker, content) {
            // Version, unit and density; a thumbnail follows.
            (0xe0, [b'J', b'F', b'I', b'F', 0, 1, minor, unit @ 0..=2, x0, x1, y0, y1, rest @ ..])
                if *minor <= 2 && self.first(Head::Jfif) =>
            {
                if rest != [0, 0] {
                    cleaning.did("removed a thumbnail");
                }
                let head = [b'J', b'F', b'I', b'F', 0, 1, *minor, *unit, *x0, *x1, *y0, *y1, 0, 0];
                return self.write(marker, &head);
            }
            // The last byte says how colours are meant (Adobe Technical Note 5116, section 18).
            (0xee, [b'A', b'd', b'o', b'b', b'e', 0, _, _, _, _, _, transform @ 0..=2]) if self.first(Head::Adobe) => {
                return self.write(marker, &[b'A', b'd', b'o', b'b', b'e', 0, 100, 0, 0, 0, 0, *transform]);
            }
            (0xe1, [b'E', b'x', b'i', b'f', 0, _, data @ ..]) => {
                let turned = exif::orientation(data, budget)?.filter(|_| self.first(Head::Camera)).map(exif::turned);
                if turned.is_none_or(|turned| data != turned) {
                    cleaning.did("removed camera data");
                }
                if let Some(turned) = turned {
                    return self.write(marker, &[b"Exif\0\0", &turned[..]].concat());
                }
            }
            (0xe2, _) if content.starts_with(b"ICC_PROFILE\0") => cleaning.did("removed a colour profile"),
            (0xfe, _) => cleaning.did("removed a comment"),
            (0xe0..=0xef, _) => cleaning.did("removed data of a program"),
            _ => cleaning.did("removed a part that no viewer needs"),
        }
        Ok(())
    }

    /// Whether it is the first of its kind.
    fn first(&mut self, head: Head) -> bool {
        let slot = match head {
            Head::Jfif => 0_usize,
            Head::Adobe => 1,
            Head::Camera => 2,
        };
        self.once.get_mut(slot).is_some_and(|seen| !std::mem::replace(seen, true))
    }

    fn write(&mut self, marker: u8, content: &[u8]) -> Result<(), Uncleanable> {
        let length = u16::try_from(content.len()).ok().and_then(|length| length.checked_add(2));
        let length = length.ok_or("a part of the picture is too long")?;
        self.out.extend([0xff, marker]);
        self.out.extend(length.to_be_bytes());
        self.out.extend_from_slice(content);
        Ok(())
    }
}
