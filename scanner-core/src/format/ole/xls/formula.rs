//! Formulas as Excel stores them (MS-XLS 2.5.198): tokens, of which only calls and texts matter here.

use std::collections::BTreeSet;

use super::rules;
use crate::{
    finding::Rule,
    reader::{Reader, Short},
};

/// Functions that run, load or write: their numbers in every version.
const RUNS: &[(u16, &str)] = &[
    (0x11, "a formula calls RUN"),
    (0x6e, "a formula calls EXEC"),
    (0x84, "a formula calls FOPEN"),
    (0x85, "a formula calls FCLOSE"),
    (0x89, "a formula calls FWRITELN"),
    (0x8a, "a formula calls FWRITE"),
    (0x95, "a formula calls REGISTER"),
    (0x96, "a formula calls CALL"),
    (0x10b, "a formula calls REGISTER.ID"),
];

/// What formulas call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    found: BTreeSet<&'static str>,
}

impl Calls {
    /// Findings to be told.
    pub(super) fn told(&self) -> Vec<(&'static Rule, &'static str)> {
        self.found.iter().map(|message| (&rules::XLM_RUNS, *message)).collect()
    }

    /// Reads the tokens of one formula as far as they are understood; texts in it with whether they are wide.
    pub(super) fn read<'a>(&mut self, code: &'a [u8], is_new: bool, texts: &mut Vec<(&'a [u8], bool)>) {
        let mut reader = Reader::new(code);
        while !reader.is_at_end() {
            if !matches!(self.token(&mut reader, is_new, texts), Ok(true)) {
                return;
            }
        }
    }

    /// Whether the next token was understood.
    fn token<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        is_new: bool,
        texts: &mut Vec<(&'a [u8], bool)>,
    ) -> Result<bool, Short> {
        let token = reader.u8()?;
        // Tokens of operands come in three classes.
        let base = if token >= 0x40 { token & 0x1f | 0x20 } else { token };
        let skip: u64 = match base {
            0x01 | 0x02 => 4,
            0x03..=0x16 => 0,
            0x17 => {
                let length = reader.u8()?;
                let is_wide = is_new && reader.u8()? & 1 != 0;
                let length = u64::from(length).saturating_mul(if is_wide { 2 } else { 1 });
                texts.push((reader.take(length)?, is_wide));
                0
            }
            0x18 => {
                // Extended: natural language and column tokens; rare, and not followed.
                return Ok(false);
            }
            0x19 => {
                let kind = reader.u8()?;
                let amount = reader.u16_le()?;
                // A choice has a table of jumps behind it.
                if kind & 0x04 != 0 { u64::from(amount).saturating_add(1).saturating_mul(2) } else { 0 }
            }
            0x1c | 0x1d => 1,
            0x1e => 2,
            0x1f => 8,
            0x20 => 7,
            0x21 => {
                self.call(reader.u16_le()?);
                0
            }
            0x22 => {
                reader.u8()?;
                self.call(reader.u16_le()? & 0x7fff);
                0
            }
            0x23 => {
                if is_new {
                    4
                } else {
                    14
                }
            }
            0x24 | 0x2a | 0x2c => {
                if is_new {
                    4
                } else {
                    3
                }
            }
            0x25 | 0x2b | 0x2d => {
                if is_new {
                    8
                } else {
                    6
                }
            }
            0x26..=0x28 => 6,
            0x29 => 2,
            0x39 => {
                if is_new {
                    6
                } else {
                    24
                }
            }
            0x3a | 0x3c => {
                if is_new {
                    6
                } else {
                    17
                }
            }
            0x3b | 0x3d => {
                if is_new {
                    10
                } else {
                    20
                }
            }
            _ => return Ok(false),
        };
        reader.take(skip)?;
        Ok(true)
    }

    fn call(&mut self, function: u16) {
        self.found.extend(RUNS.iter().find(|(number, _)| *number == function).map(|(_, message)| *message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_texts_are_found_among_other_tokens() {
        let mut calls = Calls::default();
        let mut texts = Vec::new();
        // EXEC("calc"), a jump table before it.
        let code = [&b"\x19\x04\x01\0AABB\x17\x04\0calc\x1e\x05\0"[..], b"\x42\x01\x6e\x80"].concat();
        calls.read(&code, true, &mut texts);
        assert_eq!(texts, [(&b"calc"[..], false)]);
        assert_eq!(calls.found.iter().copied().collect::<Vec<_>>(), ["a formula calls EXEC"]);
        let mut honest = Calls::default();
        honest.read(b"\x24\0\0\0\xc0\x22\x01\x04\0", true, &mut texts);
        assert!(honest.found.is_empty());
    }

    #[test]
    fn what_is_not_understood_ends_it() {
        let mut calls = Calls::default();
        for code in [&b"\x18\x01"[..], b"\x17\xff\0ab", b"\x7f", b"\x19", b"\x40"] {
            calls.read(code, true, &mut Vec::new());
        }
        assert!(calls.found.is_empty());
    }
}
