//! Python pickles: a walk over the opcodes with the depth of the stack, as `pickletools` documents them. Nothing is
//! built and nothing runs; protocols 0 and 1 have no signature, so the whole walk must make sense.

use super::peek::Peek;

/// Opcodes walked. A program longer than that has proved itself.
const OPCODES: u32 = 4096;
/// Bytes that one line of protocol 0 may have: a long text, or a number so long that Python refuses it, hides what
/// follows from whoever gives up here.
const LINE_BYTES: usize = 1 << 20;

/// A pickle at the start of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Behind STOP, when the walk came that far.
    pub(super) end: Option<usize>,
}

/// The pickle with which the bytes begin.
pub(super) fn find_pickle(bytes: &[u8]) -> Option<Found> {
    let peek = Peek(bytes);
    let has_protocol = peek.u8(0) == Some(0x80) && peek.u8(1).is_some_and(|protocol| (1..=5).contains(&protocol));
    if !has_protocol && !peek.u8(0).is_some_and(|first| b"(]}clIPFSVNLiX)U\x88\x89KJMTG\x95\x8c".contains(&first)) {
        return None;
    }
    let mut walk = Walk {
        peek,
        at: 0,
        depth: 0,
        marks: Vec::new(),
        named: false,
        called: false,
        memoized: false,
        impossible: false,
    };
    let mut count = 0_u32;
    let (first, mut is_mixed) = (peek.u8(0), false);
    let ending = loop {
        if count >= OPCODES {
            // A run of one opcode is what a line of brackets looks like: what follows it tells.
            let rest = peek.from(walk.at);
            let run = rest.iter().take_while(|byte| Some(**byte) == first).count();
            if is_mixed || run == 0 {
                break Ending::Bound;
            }
            (walk.at, count) = (walk.at.saturating_add(run), 0);
            if walk.at >= bytes.len() {
                break Ending::Bound;
            }
        }
        is_mixed |= peek.u8(walk.at) != first;
        match walk.step() {
            Some(true) => break Ending::Stop,
            Some(false) => count = count.saturating_add(1),
            None if walk.at >= bytes.len() => break Ending::Cut,
            None => break Ending::Wrong,
        }
    };
    let end = (ending == Ending::Stop).then_some(walk.at);
    let proved = if has_protocol {
        match ending {
            Ending::Stop | Ending::Bound => true,
            // Raw arrays between the opcodes are how joblib writes.
            // A length beyond the end, a stack that underflows: broken pickles are still loaded up to there.
            Ending::Cut => count >= 1 && bytes.len() > 2,
            Ending::Wrong => count >= 3 || (count >= 1 && walk.impossible),
        }
    } else {
        // A gadget runs before the walk goes wrong.
        let gadget = walk.named && walk.called;
        let tail = Peek(bytes).from(walk.at).trim_ascii();
        match ending {
            Ending::Stop => {
                gadget
                    || (bytes.get(..walk.at) == Some(bytes)
                        && bytes.ends_with(b"\n.")
                        && (bytes.starts_with(b"I") || bytes.starts_with(b"P")))
                    || (count >= 2 && tail.is_empty() && walk.memoized)
                    || (count >= 3 && tail.is_empty() && bytes.iter().take(64).any(|byte| *byte >= 0x80 || *byte < 9))
            }
            // No prose is thousands of opcodes.
            Ending::Bound => is_mixed || walk.memoized || gadget,
            Ending::Cut | Ending::Wrong => gadget,
        }
    };
    proved.then_some(Found { end })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Stop,
    Bound,
    Cut,
    Wrong,
}

struct Walk<'a> {
    peek: Peek<'a>,
    at: usize,
    /// Items on the stack above the innermost mark.
    depth: usize,
    /// Depths below the open marks; never longer than the opcodes walked.
    marks: Vec<usize>,
    named: bool,
    called: bool,
    memoized: bool,
    /// Whether the walk ended because the stack held too little.
    impossible: bool,
}

impl<'a> Walk<'a> {
    /// One opcode: whether it was STOP, or `None` when it is none, or wants more of the stack than there is.
    fn step(&mut self) -> Option<bool> {
        let opcode = self.peek.u8(self.at)?;
        self.skip(1)?;
        match opcode {
            b'.' => {
                self.pop(1)?;
                return (self.depth == 0 && self.marks.is_empty()).then_some(true);
            }
            0x80 => self.skip(1)?,
            0x95 => self.skip(8)?,
            // Pushes with an argument of fixed length.
            b'K' => self.push_after(1)?,
            b'M' => self.push_after(2)?,
            b'J' => self.push_after(4)?,
            b'G' => self.push_after(8)?,
            // Pushes with a counted argument.
            b'U' | b'C' | 0x8c | 0x8a => self.push_counted(1)?,
            b'T' | b'X' | b'B' | 0x8b => self.push_counted(4)?,
            0x8d | 0x8e | 0x96 => self.push_counted(8)?,
            // Pushes with a line.
            b'I' | b'L' => {
                let line = self.line()?;
                is_number(line.strip_suffix(b"L").unwrap_or(line)).then(|| self.push())?;
            }
            b'F' => self.push_line(|line| {
                !line.is_empty()
                    && line.len() < 40
                    && line.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
            })?,
            b'S' => self.push_line(|line| {
                line.len() >= 2
                    && matches!((line.first(), line.last()), (Some(b'\''), Some(b'\'')) | (Some(b'"'), Some(b'"')))
            })?,
            b'V' => self.push_line(|_| true)?,
            b'g' => self.push_line(is_number)?,
            b'P' => self.push_line(|line| !line.is_empty())?,
            b'h' => self.push_after(1)?,
            b'j' => self.push_after(4)?,
            b'N' | 0x88 | 0x89 | b']' | b')' | b'}' | 0x8f | 0x97 => self.push(),
            // Names of things to call.
            b'c' => {
                self.name_line()?;
                self.name_line()?;
                self.named = true;
                self.push();
            }
            0x93 => {
                self.pop(2)?;
                self.named = true;
                self.push();
            }
            b'i' => {
                self.name_line()?;
                self.name_line()?;
                self.close()?;
                (self.named, self.called) = (true, true);
                self.push();
            }
            0x82 => self.push_after(1)?,
            0x83 => self.push_after(2)?,
            0x84 => self.push_after(4)?,
            // Calls.
            b'R' | 0x81 | b'b' => {
                self.pop(2)?;
                self.called = true;
                self.push();
            }
            0x92 => {
                self.pop(3)?;
                self.called = true;
                self.push();
            }
            b'o' => {
                self.close()?;
                self.called = true;
                self.push();
            }
            // Marks and what closes them.
            b'(' => {
                self.marks.push(self.depth);
                self.depth = 0;
            }
            b't' | b'l' | b'd' | 0x91 => {
                self.close()?;
                self.push();
            }
            b'e' | b'u' | 0x90 => {
                self.close()?;
                self.need(1)?;
            }
            b'1' => self.close()?,
            b'a' => {
                self.pop(1)?;
                self.need(1)?;
            }
            b's' => {
                self.pop(2)?;
                self.need(1)?;
            }
            b'0' => self.pop(1)?,
            b'2' => {
                self.need(1)?;
                self.push();
            }
            0x85 => self.pop(1).map(|()| self.push())?,
            0x86 => self.pop(2).map(|()| self.push())?,
            0x87 => self.pop(3).map(|()| self.push())?,
            b'Q' | 0x98 => self.need(1)?,
            // The memo.
            b'p' => {
                let line = self.line()?;
                is_number(line).then_some(())?;
                self.remember()?;
            }
            b'q' => {
                self.skip(1)?;
                self.remember()?;
            }
            b'r' => {
                self.skip(4)?;
                self.remember()?;
            }
            0x94 => self.remember()?,
            _ => return None,
        }
        Some(false)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count)?;
        (self.at <= self.peek.len()).then_some(())
    }

    fn push(&mut self) {
        self.depth = self.depth.saturating_add(1);
    }

    fn push_after(&mut self, count: usize) -> Option<()> {
        self.skip(count)?;
        self.push();
        Some(())
    }

    fn push_counted(&mut self, width: usize) -> Option<()> {
        let count = match width {
            1 => usize::from(self.peek.u8(self.at)?),
            4 => self.peek.index_le(self.at)?,
            _ => usize::try_from(self.peek.u64_le(self.at)?).ok()?,
        };
        self.skip(width)?;
        self.push_after(count)
    }

    fn push_line(&mut self, test: fn(&[u8]) -> bool) -> Option<()> {
        let line = self.line()?;
        test(line).then(|| self.push())
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.peek.from(self.at);
        let bounded = rest.get(..LINE_BYTES).unwrap_or(rest);
        let Some(end) = memchr::memchr(b'\n', bounded) else {
            // Cut in the middle of a line.
            self.at = if bounded.len() == rest.len() { self.peek.len() } else { self.at };
            return None;
        };
        self.skip(end.checked_add(1)?)?;
        rest.get(..end)
    }

    /// A module or a name: an identifier, with dots.
    fn name_line(&mut self) -> Option<()> {
        let line = self.line()?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (!line.is_empty() && line.len() < 200 && line.iter().all(|b| b.is_ascii_alphanumeric() || b"_.<>".contains(b)))
            .then_some(())
    }

    fn need(&mut self, count: usize) -> Option<()> {
        self.impossible = self.depth < count;
        (!self.impossible).then_some(())
    }

    fn pop(&mut self, count: usize) -> Option<()> {
        self.need(count)?;
        self.depth = self.depth.saturating_sub(count);
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        self.depth = self.marks.pop()?;
        Some(())
    }

    fn remember(&mut self) -> Option<()> {
        self.memoized = true;
        self.need(1)
    }
}

fn is_number(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let digits = line.strip_prefix(b"-").unwrap_or(line);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], want: bool) {
        assert_eq!(find_pickle(bytes).is_some(), want, "{bytes:?}");
    }

    #[test]
    fn prose_is_no_pickle() {
        for prose in
            [&b"I am.\n"[..], b"N.", b"(1, 2)\n", b"Sit.", b"cats\nand dogs\n.", b"]\n", b"{}\n", b"Finally.\n"]
        {
            check(prose, false);
        }
    }

    #[test]
    fn protocol_0_has_no_signature() {
        check(b"cos\nsystem\n(S'id'\ntR.", true);
        check(b"(dp0\nS'a'\np1\nI1\ns.", true);
        check(b"cos\nsystem\n(S'id'\ntRwhatever", true);
    }

    #[test]
    fn a_cut_pickle_is_one() {
        check(b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x01a", true);
        check(b"\x80\x04\xff\xff", false);
    }

    #[test]
    fn padding_hides_nothing() {
        let evil = b"cos\nsystem\n(S'id'\ntR.";
        check(&[b"N0".repeat(5000).as_slice(), evil].concat(), true);
        check(&[b"N".repeat(50_000).as_slice(), evil].concat(), true);
        check(&[b"V", b"x".repeat(50_000).as_slice(), b"\n0", evil].concat(), true);
        check(&b")".repeat(50_000), false);
        check(&b"N".repeat(5000), false);
    }

    #[test]
    fn stop_is_the_end() {
        assert_eq!(find_pickle(b"\x80\x04K\x01.PK\x03\x04"), Some(Found { end: Some(5) }));
    }
}
