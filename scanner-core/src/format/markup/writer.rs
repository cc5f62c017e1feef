//! Writes markup that every parser reads alike: names from a list, values in double quotes, no bracket and no reference
//! that is not meant as one (HTML 13.3). What is written is paid for.

use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// No text of markup may hold controls (XML 1.0, 2.2), and some programs skip over them: they are not written.
pub(super) fn is_left_out(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\0'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

/// Markup as it is written.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// Bytes that are markup already.
    pub(super) fn raw(&mut self, bytes: &[u8], budget: &mut Budget) -> Result<(), Exhausted> {
        budget.spend(Resource::DecodedBytes, count(bytes.len()))?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Characters, in which whatever could be read as markup is escaped; in a value its quotes too.
    pub(super) fn escaped(&mut self, text: &str, is_value: bool, budget: &mut Budget) -> Result<(), Exhausted> {
        let mut written = 0_usize;
        for (at, character) in text.char_indices() {
            let stands: &[u8] = match character {
                '&' => b"&amp;",
                '<' => b"&lt;",
                '>' => b"&gt;",
                '"' if is_value => b"&quot;",
                '\u{a0}' => b"&#160;",
                // UTF-7, in which `+ADw-` is a bracket.
                '+' if text.get(at.saturating_add(1)..).is_some_and(|rest| rest.starts_with("ADw")) => b"&#43;",
                _ if is_left_out(character) => b"",
                _ => continue,
            };
            self.raw(text.get(written..at).unwrap_or_default().as_bytes(), budget)?;
            self.raw(stands, budget)?;
            written = at.saturating_add(character.len_utf8());
        }
        self.raw(text.get(written..).unwrap_or_default().as_bytes(), budget)
    }

    /// An attribute.
    pub(super) fn attribute(&mut self, name: &str, value: &[u8], budget: &mut Budget) -> Result<(), Exhausted> {
        self.raw(b" ", budget)?;
        self.raw(name.as_bytes(), budget)?;
        self.raw(b"=\"", budget)?;
        self.escaped(&String::from_utf8_lossy(value), true, budget)?;
        self.raw(b"\"", budget)
    }

    /// The end tag of an element.
    pub(super) fn close(&mut self, name: &str, budget: &mut Budget) -> Result<(), Exhausted> {
        self.raw(b"</", budget)?;
        self.raw(name.as_bytes(), budget)?;
        self.raw(b">", budget)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}
