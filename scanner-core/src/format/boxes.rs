//! Boxes of the ISO base media format (ISO 14496-12 §4.2): length, name, content.

use std::ops::Range;

use crate::{
    finding::{Place, Stop},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// Beside its bytes, a box costs its turn.
const STEPS_PER_BOX: u64 = 10;

/// One box.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: [u8; 4],
    /// Where it begins.
    pub(super) at: usize,
    /// Its content.
    pub(super) range: Range<usize>,
    /// It says that it is longer than what it stands in.
    pub(super) is_cut: bool,
}

impl Part {
    /// The name in letters.
    pub(super) fn name(&self) -> String {
        self.name.iter().copied().map(char::from).collect()
    }

    pub(super) fn place(&self) -> Place {
        Place::default().name("chunk", self.name().trim_end()).number("offset", count(self.at))
    }

    /// The content from an offset on.
    pub(super) fn from(&self, offset: usize) -> Range<usize> {
        self.range.start.saturating_add(offset).min(self.range.end)..self.range.end
    }

    /// Whether the name is one that a box could have.
    pub(super) fn is_named(&self) -> bool {
        self.name.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_\xa9".contains(byte))
    }

    /// The reason to stop, of a box that is cut.
    pub(super) fn cut(&self) -> Stop {
        let what = format!("box {} is longer than what it stands in", self.name().escape_default());
        Stop::malformed(what, count(self.at))
    }
}

/// The box at the start of a range of the bytes; `None` when the range is empty.
pub(super) fn next(bytes: &[u8], range: &Range<usize>, budget: &mut Budget) -> Result<Option<Part>, Stop> {
    let inside = bytes.get(..range.end).unwrap_or(bytes);
    let mut reader = Reader::new(inside);
    reader.seek(count(range.start))?;
    if reader.is_at_end() {
        return Ok(None);
    }
    budget.spend(Resource::Objects, 1)?;
    budget.spend(Resource::Steps, STEPS_PER_BOX)?;
    let at = range.start;
    let cut = |_| Stop::malformed("the file ends in the head of a box", count(at));
    let short = reader.u32_be().map_err(cut)?;
    let name: [u8; 4] = reader.array().map_err(cut)?;
    let length = match short {
        0 => count(inside.len().saturating_sub(at)),
        1 => reader.u64_be().map_err(cut)?,
        length => length.into(),
    };
    let start = reader.position();
    let Some(left) = length.checked_sub(count(start.saturating_sub(at))) else {
        return Err(Stop::malformed("a box says that it is shorter than its own head", count(at)));
    };
    let is_cut = reader.take(left).is_err();
    let end = if is_cut { inside.len() } else { reader.position() };
    Ok(Some(Part { name, at, range: start..end, is_cut }))
}
/// Where camera data begin in their box or item: four bytes in front give the distance to the header of the data
/// (ISO 23008-12 A.2.1, ISO 18181-2 §9.7). One that leads out is the end.
pub(super) fn behind_distance(bytes: &[u8], range: &Range<usize>) -> usize {
    let skip = bytes.get(range.clone()).and_then(|data| data.first_chunk::<4>()).map(|skip| u32::from_be_bytes(*skip));
    let start = skip.and_then(|skip| range.start.checked_add(4)?.checked_add(usize::try_from(skip).ok()?));
    start.unwrap_or(range.end).min(range.end)
}
