//! The codes of a frame (`GIF89a` appendix F), counted: how many pixels they stand for, never which.

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
            };
            codes.clear();
            codes
        })
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
