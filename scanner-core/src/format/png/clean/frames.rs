//! APNG: frames stay as they are, under numbers of their own.

use crate::{
    format::{
        cleaning::{Cleaning, Uncleanable},
        png::{
            chunk::{Checksum, Chunk},
            range_of,
        },
    },
    limits::{Budget, Resource},
    reader::Reader,
};

use super::Rewrite;

/// Frames, counted as they come in and as they go out.
pub(super) struct Animation {
    pub(super) declared: u32,
    pub(super) frames: u32,
    came: u32,
    pub(super) went: u32,
}

impl Rewrite<'_> {
    /// The animation is announced (APNG: number of frames, number of plays).
    pub(super) fn animation(&mut self, chunk: &Chunk<'_>) -> Result<(), Uncleanable> {
        match chunk.data {
            [d0, d1, d2, d3, _, _, _, _] if chunk.checksum == Checksum::Right => {
                let declared = u32::from_be_bytes([*d0, *d1, *d2, *d3]);
                self.animation = Some(Animation { declared, frames: 0, came: 0, went: 0 });
                self.copy(chunk)
            }
            _ => Err("the animation is not announced as it should be".into()),
        }
    }

    /// A frame begins (APNG: sequence, width, height, x, y, delay, two operations).
    pub(super) fn frame(
        &mut self,
        chunk: &Chunk<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        const ODD: &str = "a frame is out of order, outside the picture, or not a frame";
        if self.has_pixels {
            self.flush(cleaning, budget)?;
        }
        budget.spend(Resource::Frames, 1)?;
        let full = self.header;
        let Some(animation) = &mut self.animation else { return Ok(()) };
        let mut reader = Reader::new(chunk.data);
        let sequence = reader.u32_be().map_err(|_| ODD)?;
        let rest = reader.rest();
        let mut side = || reader.u32_be().map_err(|_| ODD);
        let (width, height, x, y) = (side()?, side()?, side()?, side()?);
        let ([_, _, _, _, dispose, blend], true) = (reader.array().map_err(|_| ODD)?, reader.is_at_end()) else {
            return Err(ODD.into());
        };
        let is_inside = x.checked_add(width).is_some_and(|end| end <= full.width)
            && y.checked_add(height).is_some_and(|end| end <= full.height)
            && width > 0
            && height > 0;
        // The pixels of a frame before them are the picture itself; there is one.
        let is_placed = self.has_pixels || animation.frames == 0 && (width, height) == (full.width, full.height);
        let is_next = sequence == animation.came && chunk.checksum == Checksum::Right;
        if !is_inside || !is_placed || !is_next || dispose > 2 || blend > 1 {
            return Err(ODD.into());
        }
        animation.came = animation.came.saturating_add(1);
        animation.frames = animation.frames.saturating_add(1);
        let number = animation.went.to_be_bytes();
        animation.went = animation.went.saturating_add(1);
        self.frame = self.has_pixels.then(|| full.sized(width, height));
        self.write(*b"fcTL", &[&number, rest])
    }

    /// Pixels of a frame, behind their sequence number.
    pub(super) fn frame_data(&mut self, chunk: &Chunk<'_>) -> Result<(), Uncleanable> {
        let (Some(animation), Some(_)) = (&mut self.animation, &self.frame) else {
            return Err("there are pixels of no frame".into());
        };
        let is_next = chunk.data.first_chunk().is_some_and(|number| u32::from_be_bytes(*number) == animation.came);
        if !is_next || chunk.checksum != Checksum::Right {
            return Err("the pixels of a frame are out of order or damaged".into());
        }
        animation.came = animation.came.saturating_add(1);
        let range = range_of(chunk);
        self.pieces.push(range.start.saturating_add(4).min(range.end)..range.end);
        Ok(())
    }
}
