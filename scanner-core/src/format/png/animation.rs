//! APNG: frames, their numbers, and their places in the picture.

use std::ops::Range;

use crate::{
    format::{Out, letters},
    limits::{Budget, Resource},
    reader::Reader,
};

use super::{Data, Picture, chunk::Chunk, header::Header, metadata, range_of, rules, say};

/// What the animation chunks said so far.
#[derive(Default)]
pub(super) struct Animation {
    /// Frames that the control chunk declares, and where it does.
    pub(super) declared: u32,
    pub(super) at: Range<usize>,
    /// Frames that were there.
    pub(super) frames: u32,
    /// The number that the next frame chunk must carry.
    sequence: u32,
    /// The frame whose pieces are being gathered, once it is not the picture itself.
    frame: Option<Frame>,
    is_odd: bool,
}

struct Frame {
    header: Option<Header>,
    at: Range<usize>,
    pieces: Vec<Range<usize>>,
}

impl Picture<'_> {
    /// The animation is announced (APNG: number of frames, number of plays).
    pub(super) fn animation(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        if !chunk.is_whole {
            return;
        }
        if self.animation.is_some() || self.data != Data::Before {
            say(out, &rules::ANIMATION, chunk, "the animation is announced twice, or behind the pixels");
            return;
        }
        let mut reader = Reader::new(chunk.data);
        match (reader.u32_be(), reader.u32_be(), reader.is_at_end()) {
            (Ok(declared @ 1..), Ok(_), true) => {
                self.animation = Some(Animation { declared, at: range_of(chunk), ..Animation::default() });
            }
            _ => say(out, &rules::ANIMATION, chunk, "the animation is announced with no frames"),
        }
    }

    /// A frame begins: its size and place (APNG: sequence, width, height, x, y, delay, two operations).
    pub(super) fn frame(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>, budget: &mut Budget) {
        self.end_frame(false, out, budget);
        let Some(animation) = &mut self.animation else { return self.stray(chunk, out) };
        if !chunk.is_whole {
            return;
        }
        if let Err(exhausted) = budget.spend(Resource::Frames, 1) {
            self.is_refused = true;
            self.account.not_read(exhausted.into());
        }
        animation.frames = animation.frames.saturating_add(1);
        let full = self.header.as_ref().map(|(header, _)| *header);
        let header = full.and_then(|full| {
            let mut reader = Reader::new(chunk.data);
            let in_order = reader.u32_be().ok()? == animation.sequence;
            let (width, height) = (reader.u32_be().ok()?, reader.u32_be().ok()?);
            let (x, y) = (reader.u32_be().ok()?, reader.u32_be().ok()?);
            let (_delay, dispose, blend) = (reader.u32_be().ok()?, reader.u8().ok()?, reader.u8().ok()?);
            let fits = width > 0
                && height > 0
                && x.checked_add(width)? <= full.width
                && y.checked_add(height)? <= full.height
                && (self.data != Data::Before || (width, height) == (full.width, full.height));
            let is_good = in_order && fits && dispose <= 2 && blend <= 1 && reader.is_at_end();
            is_good.then(|| full.sized(width, height))
        });
        animation.sequence = animation.sequence.saturating_add(1);
        if header.is_none() && full.is_some() && !animation.is_odd {
            animation.is_odd = true;
            say(out, &rules::ANIMATION, chunk, "a frame is out of order, outside the picture, or not a frame");
        }
        // The pixels of a frame before them are the picture itself.
        if self.data != Data::Before {
            animation.frame = Some(Frame { header, at: range_of(chunk), pieces: Vec::new() });
        }
    }

    /// Pixels of a frame, behind their sequence number.
    pub(super) fn frame_data(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        let Some(animation) = &mut self.animation else { return self.stray(chunk, out) };
        let mut reader = Reader::new(chunk.data);
        let is_next = reader.u32_be() == Ok(animation.sequence);
        animation.sequence = animation.sequence.saturating_add(1);
        if let Some(frame) = &mut animation.frame {
            let range = range_of(chunk);
            frame.pieces.push(range.start.saturating_add(4).min(range.end)..range.end);
        }
        if (animation.frame.is_none() || !is_next) && !animation.is_odd && chunk.is_whole {
            animation.is_odd = true;
            say(out, &rules::ANIMATION, chunk, "pixels of a frame out of order, or of no frame");
        }
    }

    /// Frames that no animation announces: viewers skip them.
    fn stray(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.is_stray_reported, true) {
            say(out, &rules::ANIMATION, chunk, "frames without an animation: no viewer shows them");
        }
        metadata::opaque(self.bytes, chunk, &mut self.account, out);
    }

    /// The frame being gathered is complete.
    pub(super) fn end_frame(&mut self, is_cut: bool, out: &mut Out<'_>, budget: &mut Budget) {
        if let Some(Frame { header: Some(header), at, pieces }) =
            self.animation.as_mut().and_then(|animation| animation.frame.take())
        {
            let full = self.header.as_ref().map(|(full, _)| full.size());
            if full != Some(header.size()) && letters::have_room(header.size()) && !self.is_unread {
                self.is_unread = true;
                letters::unread("frames that are drawn into another are not read for letters", out, budget);
            }
            self.judge(&header, &at, &pieces, is_cut, out, budget);
        }
    }
}
