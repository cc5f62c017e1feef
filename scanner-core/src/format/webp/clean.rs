//! The safe version of a `WebP`: the chunks that make the picture or its frames, and a first chunk that says just that.

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        exif,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{Chunk, next};

/// Flags of the first chunk (`WebP` container, extended file format).
const ALPHA: u8 = 0x10;
const CAMERA: u8 = 0x08;
const ANIMATED: u8 = 0x02;
const CUT: &str = "the picture is cut off";

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    cleaning::pay_to_copy(subject.bytes.len(), budget)?;
    let mut head = Reader::new(subject.bytes);
    let (Ok(b"RIFF"), Ok(length), Ok(b"WEBP")) = (head.take(4), head.u32_le(), head.take(4)) else {
        return Err("the picture does not begin as it must".into());
    };
    let whole = usize::try_from(length).ok().and_then(|length| length.checked_add(8));
    let inside = whole.and_then(|whole| subject.bytes.get(..whole)).ok_or(CUT)?;
    // The last chunk may be one byte longer than the file says: the padding.
    if subject.bytes.len() > inside.len().saturating_add(inside.len() % 2) {
        cleaning.did("removed data behind the end");
    }
    let mut reader = Reader::new(inside);
    reader.take(count(super::HEAD)).map_err(|_| CUT)?;
    let mut picture = Rewrite::default();
    while !reader.is_at_end() {
        let chunk = next(&mut reader, budget)?;
        picture.chunk(&chunk, inside, cleaning, budget)?;
    }
    cleaning::proved(super::inspect, subject.kind, picture.finish()?, budget)
}

/// A picture being written again.
#[derive(Debug, Default)]
struct Rewrite {
    /// The first chunk: flags, and the size of the canvas.
    canvas: Option<(u8, [u8; 6])>,
    /// Background and repeats.
    animation: Option<[u8; 6]>,
    alpha: Option<Vec<u8>>,
    image: Option<Vec<u8>>,
    frames: Vec<u8>,
    turned: Option<u8>,
}

impl Rewrite {
    fn chunk(
        &mut self,
        chunk: &Chunk,
        bytes: &[u8],
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let content = bytes.get(chunk.range.clone()).unwrap_or_default();
        match (&chunk.name, content) {
            (b"VP8X", &[flags, _, _, _, w0, w1, w2, h0, h1, h2]) if self.canvas.is_none() => {
                self.canvas = Some((flags, [w0, w1, w2, h0, h1, h2]));
            }
            (b"ANIM", _) if self.animation.is_none() && content.len() == 6 => {
                self.animation = content.first_chunk().copied();
            }
            (b"ALPH", _) if self.alpha.is_none() && self.image.is_none() => {
                let mut alpha = Vec::new();
                put(&mut alpha, *b"ALPH", content)?;
                self.alpha = Some(alpha);
            }
            (b"VP8 " | b"VP8L", _) if self.image.is_none() => {
                let mut image = Vec::new();
                put(&mut image, chunk.name, content)?;
                self.image = Some(image);
            }
            (b"VP8X" | b"VP8 " | b"VP8L", _) => return Err("there are two pictures in one".into()),
            (b"ANMF", _) => self.frame(content, cleaning, budget)?,
            (b"EXIF", _) => {
                let turned = exif::orientation(content, budget)?;
                if turned.is_none_or(|turned| content != exif::turned(turned)) {
                    cleaning.did("removed camera data");
                }
                self.turned = self.turned.or(turned);
            }
            (b"XMP ", _) => cleaning.did("removed a text"),
            (b"ICCP", _) => cleaning.did("removed a colour profile"),
            _ => cleaning.did("removed a part that no viewer needs"),
        }
        Ok(())
    }

    /// A frame: place, size, time, two flags, and chunks of its own.
    fn frame(&mut self, content: &[u8], cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        budget.spend(Resource::Frames, 1)?;
        let mut reader = Reader::new(content);
        let head = reader.take(15).map_err(|_| CUT)?;
        let flags = reader.u8().map_err(|_| CUT)?;
        let mut frame = head.to_vec();
        frame.push(flags & 3);
        while !reader.is_at_end() {
            let inner = next(&mut reader, budget)?;
            match &inner.name {
                b"ALPH" | b"VP8 " | b"VP8L" => {
                    put(&mut frame, inner.name, content.get(inner.range).unwrap_or_default())?;
                }
                _ => cleaning.did("removed a part that no viewer needs"),
            }
        }
        put(&mut self.frames, *b"ANMF", &frame)
    }

    fn finish(self) -> Result<Bytes, Uncleanable> {
        let mut body = b"WEBP".to_vec();
        let is_animated = !self.frames.is_empty();
        let alpha = if self.image.as_ref().is_some_and(|image| image.starts_with(b"VP8 ")) { self.alpha } else { None };
        // A lone picture needs no first chunk, unless it is turned or its transparency stands apart.
        match self.canvas {
            Some((flags, size)) => {
                let mut flags = flags & ALPHA;
                if is_animated {
                    flags |= ANIMATED;
                }
                if self.turned.is_some() {
                    flags |= CAMERA;
                }
                put(&mut body, *b"VP8X", &[&[flags, 0, 0, 0], &size[..]].concat())?;
                if let Some(animation) = self.animation.filter(|_| is_animated) {
                    put(&mut body, *b"ANIM", &animation)?;
                }
                body.extend(self.frames);
                if !is_animated {
                    body.extend(alpha.into_iter().flatten());
                    body.extend(self.image.ok_or("there are no pixels in the picture")?);
                }
                if let Some(turned) = self.turned {
                    put(&mut body, *b"EXIF", &exif::turned(turned))?;
                }
            }
            None => body.extend(self.image.ok_or("there are no pixels in the picture")?),
        }
        let mut out = Vec::with_capacity(body.len().saturating_add(8));
        put(&mut out, *b"RIFF", &body)?;
        Ok(out.into())
    }
}

/// A chunk: name, length, content, and a byte more where that is odd.
fn put(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) -> Result<(), Uncleanable> {
    let length = u32::try_from(content.len()).map_err(|_| "a part of the picture is too long")?;
    out.extend(name);
    out.extend(length.to_le_bytes());
    out.extend_from_slice(content);
    if content.len() % 2 == 1 {
        out.push(0);
    }
    Ok(())
}
