//! The pixels of a picture that does not move, in shades of grey.

use std::io::Cursor;

use image_webp::WebPDecoder;

use crate::{
    format::{
        picture::{Size, luma},
        qr::Grey,
    },
    limits::{Budget, Exhausted, Resource},
};

/// Larger pictures are not looked at: the decoder has all of one in memory.
pub(super) const MOST_PIXELS: u64 = 16 * 1024 * 1024;
/// The decoder predicts, transforms and smooths.
const STEPS_PER_PIXEL: u64 = 4;

/// Draws a whole file into a blank of its size; `None` where it cannot be decoded.
pub(super) fn drawn(file: &[u8], size: Size, blank: Grey, budget: &mut Budget) -> Result<Option<Grey>, Exhausted> {
    budget.spend(Resource::Steps, size.area().saturating_mul(STEPS_PER_PIXEL))?;
    Ok(decoded(file, size, blank))
}

fn decoded(file: &[u8], size: Size, mut grey: Grey) -> Option<Grey> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).ok()?;
    decoder.set_memory_limit(usize::try_from(MOST_PIXELS).ok()?);
    if decoder.is_animated() || decoder.dimensions() != (size.width, size.height) {
        return None;
    }
    let mut pixels = vec![255; decoder.output_buffer_size()?];
    decoder.read_image(&mut pixels).ok()?;
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let row = usize::try_from(size.width).ok()?.checked_mul(channels)?;
    for (y, row) in pixels.chunks(row.max(1)).enumerate() {
        grey.row(
            y,
            row.chunks(channels).map(|pixel| match pixel {
                // What cannot be seen is as white as a page.
                [_, _, _, 0] => 255,
                [red, green, blue, ..] => luma(*red, *green, *blue),
                _ => 255,
            }),
        );
    }
    Some(grey)
}
