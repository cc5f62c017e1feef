//! Text that two readers take for two texts.

use bytes::Bytes;

use super::MIXED;
use crate::{finding::Finding, format::Out, reader::count, view::TextView};

/// Letters of ASCII in a row that no text of wider units has by chance.
const ASCII_RUN: usize = 24;

/// Text of single bytes under the mark of a wider encoding: by the mark two letters are one ideograph, and whoever does
/// not know the mark, a terminal or a program that takes every output for UTF-8, shows the letters. Both are read.
pub(super) fn read_by_both(bytes: &Bytes, mark: usize, out: &mut Out<'_>) {
    let mut at = mark;
    let body = bytes.get(mark..).unwrap_or_default();
    for run in body.split(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)) {
        let end = at.saturating_add(run.len());
        if run.len() >= ASCII_RUN {
            let message = "text of single bytes under the mark of a wider encoding: readers differ on what it says";
            out.find(Finding::built_in(&MIXED).at(count(at), count(end)).message(message));
            out.read(TextView::at(bytes.slice(mark..), count(mark)));
            return;
        }
        at = end.saturating_add(1);
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
}
