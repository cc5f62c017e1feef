//! Text that two readers take for two texts.

use bytes::Bytes;

use super::MIXED;
use crate::{
    finding::Finding,
    format::Out,
    reader::count,
    sequence::{introduced, is_done_at_once},
    view::TextView,
};

/// Letters of ASCII in a row that no text of wider units has by chance.
const ASCII_RUN: usize = 24;

/// Text of single bytes under the mark of a wider encoding, or with its zeros: by the mark two letters are one
/// ideograph, and whoever does not know the mark, a terminal or a program that takes every output for UTF-8, shows the
/// letters and does what the controls among them say. Both are read.
pub(super) fn read_by_both(bytes: &Bytes, mark: usize, unit: Unit, out: &mut Out<'_>) {
    let body = bytes.get(mark..).unwrap_or_default();
    let Some((at, length, message)) = letters(body).or_else(|| order(body, unit)) else { return };
    let at = mark.saturating_add(at);
    out.find(Finding::built_in(&MIXED).at(count(at), count(at.saturating_add(length))).message(message));
    out.read(TextView::at(bytes.slice(mark..), count(mark)));
}

/// Where something stands, how long it is, and what that means.
type Seen = (usize, usize, &'static str);

fn letters(body: &[u8]) -> Option<Seen> {
    let mut at = 0_usize;
    for run in body.split(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)) {
        if run.len() >= ASCII_RUN {
            let message = "text of single bytes under the mark of a wider encoding: readers differ on what it says";
            return Some((at, run.len(), message));
        }
        at = at.saturating_add(run.len()).saturating_add(1);
    }
    None
}

/// ESC, or a control of C1 in UTF-8, that begins a sequence to a terminal, and another or none to whoever reads the wider units.
fn order(body: &[u8], unit: Unit) -> Option<Seen> {
    memchr::memchr2_iter(0x1b, 0xc2, body).find_map(|at| {
        let about = body.get(introduced(body, at.checked_add(1)?))?;
        let begins = match body.get(at)? {
            0x1b => matches!(about, b'[' | b']' | b'P' | b'X' | b'^' | b'_' | b'c'),
            _ => matches!(about, 0x90 | 0x98 | 0x9b | 0x9d..=0x9f),
        };
        let message = "an order to a terminal in the bytes of a wider encoding: readers differ on what it says";
        let start = at.checked_sub(at.checked_rem(unit.bytes)?)?;
        (begins && !unit.reads_the_same(body.get(start..)?)).then_some((at, 2, message))
    })
}

/// How a wider encoding writes a letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) bytes: usize,
    pub(super) is_big: bool,
}

impl Unit {
    /// A letter of ASCII; `None` where the unit is another.
    fn ascii(self, unit: &[u8]) -> Option<u8> {
        let (letter, rest) = if self.is_big { unit.split_last()? } else { unit.split_first()? };
        (letter.is_ascii() && rest.iter().all(|byte| *byte == 0)).then_some(*letter)
    }

    /// Whether a sequence that begins with the first unit is the same to both readers: its letters are ASCII to its end, or
    /// to that of the text.
    fn reads_the_same(self, units: &[u8]) -> bool {
        let mut letters = units.chunks(self.bytes.max(1)).map(|unit| self.ascii(unit));
        if letters.next() != Some(Some(0x1b)) {
            return false;
        }
        let kind = letters.find(|letter| letter.is_none_or(|byte| !is_done_at_once(byte)));
        let Some(Some(about)) = kind else { return false };
        let is_end = |letter: u8| match about {
            b'[' => matches!(letter, 0x40..=0x7e | 0x1b),
            b']' | b'P' | b'X' | b'^' | b'_' => matches!(letter, 0x07 | 0x1b),
            _ => true,
        };
        letters.find(|letter| letter.is_none_or(is_end)).is_none_or(|letter| letter.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{testing::look, text::FORMAT};

    #[test]
    fn so_many_letters_in_a_row_are_read_twice_and_one_less_is_not() {
        let mixed = |letters: usize| {
            let text = [b"\xff\xfe".to_vec(), b"a".repeat(letters), b"\x00\x4e".to_vec()].concat();
            look(&FORMAT, "txt", &text).texts().len()
        };
        assert_eq!((mixed(ASCII_RUN), mixed(ASCII_RUN - 2)), (2, 1));
        assert_eq!((mixed(ASCII_RUN + 1), mixed(ASCII_RUN - 1)), (2, 1));
    }

    #[test]
    fn orders_to_a_terminal_are_read_as_one_reads_them() {
        let readings = |bytes: &[u8]| look(&FORMAT, "txt", bytes).texts().len();
        // U+5D1B and eleven letters less; the same with zeros, which make it a text of wide units without a mark.
        assert_eq!(readings(b"\xff\xfe\x1b]52;c;bHM=\x07"), 2);
        assert_eq!(readings(b"\x1b]\x005\x002\x00;\0c\0;\0b\0H\0M\0=\0\x07"), 2);
        assert_eq!(readings(b"\xff\xfe\xc2\x9b2J"), 2);
        // A letter of its own is read where it stands; one that begins nothing is no order.
        assert_eq!(readings(b"\xff\xfe\x1b\0[\x003\x001\0m\0"), 1);
        assert_eq!(readings(b"\xff\xfe\x1b\x4e\x1b\x66"), 1);
        // ESC is a letter of its own, what follows is half of another: behind it, or farther on.
        assert_eq!(readings(b"\0n\0q\0\x1bP\x07"), 2);
        assert_eq!(readings(b"\xff\xfe\x1b\0[\x001\0\x31J"), 2);
        assert_eq!(readings(b"\xff\xfe\x1b\0]\x000\0;\0t\0"), 1);
        assert_eq!(readings(b"\xff\xfe\x1b\0]\x000\0;\0t\x1b[A"), 2);
        // Any control is passed over, not zeros alone.
        assert_eq!(readings(b"\xff\xfe\x1b\x0a[\x4e2J"), 2);
        assert_eq!(readings(b"\xff\xfe\x1b\0\x0a\0[\x001J"), 2);
    }
}
