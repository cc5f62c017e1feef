//! The codes of a frame (`GIF89a` appendix F), counted: how many pixels they stand for, and which where somebody asks.

/// A reader of codes between two pieces of them.
#[derive(Debug)]
pub(super) struct Codes {
    /// Bits of a pixel.
    least: u8,
    /// Bits of the next code.
    width: u8,
    /// The code that the next string gets.
    next: u16,
    /// The length of each string known so far.
    lengths: Vec<u16>,
    /// The length of the string before.
    previous: Option<u16>,
    /// Bits not used yet, and how many.
    bits: u32,
    held: u8,
    pixels: u64,
    state: State,
    kept: Option<Kept>,
}

/// The pixels themselves. Each string is the one before it and a pixel more: it stands among them already.
#[derive(Debug)]
struct Kept {
    pixels: Vec<u8>,
    /// More are not kept.
    most: usize,
    /// Where each string begins.
    starts: Vec<usize>,
    /// Where the string before begins.
    previous: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Ended,
    Broken,
}

/// Codes of twelve bits are the longest.
const MOST_CODES: u16 = 4096;

impl Codes {
    /// A reader for pixels of so many bits; `None` when no decoder takes them.
    pub(super) fn of(least: u8) -> Option<Self> {
        (1..=8).contains(&least).then(|| {
            let mut codes = Self {
                least,
                width: 0,
                next: 0,
                lengths: vec![1; usize::from(MOST_CODES)],
                previous: None,
                bits: 0,
                held: 0,
                pixels: 0,
                state: State::Open,
                kept: None,
            };
            codes.clear();
            codes
        })
    }

    /// Keeps the pixels to come, as far as a frame has room for them.
    pub(super) fn keep(&mut self, most: usize) {
        self.kept = Some(Kept { pixels: Vec::new(), most, starts: vec![0; usize::from(MOST_CODES)], previous: 0 });
    }

    /// The pixels that were kept.
    pub(super) fn kept(&self) -> &[u8] {
        self.kept.as_ref().map_or(&[], |kept| kept.pixels.as_slice())
    }

    pub(super) fn pixels(&self) -> u64 {
        self.pixels
    }

    /// Whether no code can follow.
    pub(super) fn is_over(&self) -> bool {
        self.state != State::Open
    }

    /// Whether that is because a code has no meaning.
    pub(super) fn is_broken(&self) -> bool {
        self.state == State::Broken
    }

    /// Reads codes; returns how many bytes were used when they end within.
    pub(super) fn feed(&mut self, piece: &[u8]) -> usize {
        for (at, byte) in piece.iter().enumerate() {
            self.bits |= u32::from(*byte) << self.held;
            self.held = self.held.saturating_add(8);
            while self.held >= self.width {
                let mask = (1_u32 << self.width).saturating_sub(1);
                let code = u16::try_from(self.bits & mask).unwrap_or(u16::MAX);
                self.bits >>= self.width;
                self.held = self.held.saturating_sub(self.width);
                self.code(code);
                if self.is_over() {
                    return at.saturating_add(1);
                }
            }
        }
        piece.len()
    }

    fn clear(&mut self) {
        self.width = self.least.saturating_add(1);
        self.next = (1_u16 << self.least).saturating_add(2);
        self.previous = None;
    }

    fn code(&mut self, code: u16) {
        let clear = 1_u16 << self.least;
        if code == clear {
            return self.clear();
        }
        if code == clear.saturating_add(1) {
            self.state = State::Ended;
            return;
        }
        let known = self.lengths.get(usize::from(code)).copied();
        let length = match (self.previous, known) {
            (None, _) if code < clear => 1,
            (Some(_), Some(length)) if code < self.next => length,
            // The string before and its first pixel again.
            (Some(previous), _) if code == self.next && code < MOST_CODES => previous.saturating_add(1),
            _ => {
                self.state = State::Broken;
                return;
            }
        };
        self.pixels = self.pixels.saturating_add(length.into());
        if let Some(kept) = &mut self.kept {
            kept.string(code, length, code < clear, self.previous.map(|_| self.next));
        }
        if let (Some(previous), Some(slot)) = (self.previous, self.lengths.get_mut(usize::from(self.next))) {
            *slot = previous.saturating_add(1);
            self.next = self.next.saturating_add(1);
            if self.next == 1 << self.width && self.width < 12 {
                self.width = self.width.saturating_add(1);
            }
        }
        self.previous = Some(length);
    }
}

impl Kept {
    /// Writes the string of a code; `next` is the code that the string before, and a pixel more, gets.
    fn string(&mut self, code: u16, length: u16, is_pixel: bool, next: Option<u16>) {
        let here = self.pixels.len();
        if let Some(slot) = next.and_then(|next| self.starts.get_mut(usize::from(next))) {
            *slot = self.previous;
        }
        self.previous = here;
        let length = usize::from(length);
        if here.saturating_add(length) > self.most {
            return;
        }
        if is_pixel {
            return self.pixels.push(u8::try_from(code).unwrap_or(u8::MAX));
        }
        // A string may reach into itself: it is copied pixel by pixel where it does.
        let start = self.starts.get(usize::from(code)).copied().unwrap_or(0);
        for at in start..start.saturating_add(length) {
            let pixel = self.pixels.get(at).copied().unwrap_or(0);
            self.pixels.push(pixel);
        }
    }
}
