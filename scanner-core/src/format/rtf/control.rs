//! Control words: what they begin, and what they change for the text behind them.

use super::{
    State, Walk, rules,
    words::{self, Destination},
};
use crate::{
    finding::{Finding, Severity, Stop},
    format::{Out, charset, embedded, office},
    limits::Budget,
};

/// Half points: smaller letters are not read.
const SMALLEST: i64 = 3;
/// More fonts than any document has.
const MOST_FONTS: usize = 4_096;

impl Walk<'_> {
    pub(super) fn word(
        &mut self,
        name: &[u8],
        number: Option<i64>,
        at: usize,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if self.to_skip > 0 && name != b"u" {
            // A control word counts as one of the characters that stand for another.
            self.to_skip = self.to_skip.saturating_sub(1);
        }
        let is_on = number != Some(0);
        let value = number.unwrap_or(0);
        if let Some(destination) = words::destination(name) {
            self.enter(destination, at, budget)?;
            if words::stands_apart(name) {
                self.state.is_apart = true;
                self.texts.part(&self.state);
            }
            return Ok(());
        }
        if std::mem::take(&mut self.state.is_optional) {
            // Nothing that this knows: what is in it is shown by nobody.
            return self.enter(Destination::Unknown, at, budget);
        }
        match name {
            b"u" => self.unicode(value, at, budget)?,
            b"par" | b"line" | b"row" | b"page" | b"sect" => self.letters(b"\n", at, budget)?,
            b"tab" | b"cell" | b"nestcell" => self.letters(b"\t", at, budget)?,
            b"emdash" | b"endash" => self.letters(b"-", at, budget)?,
            b"lquote" | b"rquote" => self.letters(b"'", at, budget)?,
            b"ldblquote" | b"rdblquote" => self.letters(b"\"", at, budget)?,
            b"bullet" => self.letters(b"*", at, budget)?,
            b"uc" => self.state.skipped = u32::try_from(value.clamp(0, 100)).unwrap_or(1),
            b"ansicpg" => {
                self.page = u16::try_from(value).unwrap_or(charset::WESTERN);
                self.set_page(self.page, budget)?;
            }
            b"mac" => self.set_page(10000, budget)?,
            b"f" if self.state.destination == Destination::Fonts => self.font = value,
            b"f" => self.set_page(self.fonts.get(&value).copied().unwrap_or(self.page), budget)?,
            b"fcharset" => {
                if let Some(page) = words::page_of_charset(value)
                    && self.fonts.len() < MOST_FONTS
                {
                    self.fonts.insert(self.font, page);
                }
            }
            b"red" | b"green" | b"blue" => {
                let [red, green, blue] = &mut self.colour;
                match name {
                    b"red" => *red = value,
                    b"green" => *green = value,
                    _ => *blue = value,
                }
            }
            b"v" => self.change(|state| state.is_hidden = is_on, budget)?,
            b"fs" => self.change(|state| state.is_tiny = number.is_some_and(|size| size <= SMALLEST), budget)?,
            b"cf" => {
                let is_white = usize::try_from(value).ok().and_then(|at| self.colours.get(at)) == Some(&true);
                self.change(|state| state.is_white = is_white, budget)?;
            }
            b"plain" => {
                self.change(|state| (state.is_hidden, state.is_white, state.is_tiny) = (false, false, false), budget)?
            }
            b"objautlink" => self.linked(Severity::High, at, out),
            b"objlink" => self.linked(Severity::Medium, at, out),
            b"objupdate" => self.say(&rules::UPDATES, "an object is loaded as soon as the document is opened", at, out),
            b"objocx" | b"objhtml" => self.say(&office::rules::ACTIVEX, "the document holds a control", at, out),
            _ => {}
        }
        Ok(())
    }

    fn linked(&mut self, severity: Severity, at: usize, out: &mut Out<'_>) {
        if self.told.insert("link") {
            let span = self.span(at);
            out.find(Finding::built_in(&embedded::LINK).severity(severity).at(span.start, span.end));
        }
    }

    /// The group is for something else than text.
    fn enter(&mut self, destination: Destination, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        self.texts.flush(&self.state, budget)?;
        self.state.is_optional = false;
        let around = self.state.destination;
        // What stands in an object belongs to it; the result of a field in a code belongs to the code.
        let is_kept = around == Destination::Object || around == Destination::Field && destination == Destination::Text;
        let is_data = matches!(around, Destination::Data | Destination::Fonts | Destination::Colours);
        if is_kept && destination != Destination::Unknown || is_data && destination == Destination::Unknown {
            return Ok(());
        }
        if destination == Destination::Object {
            self.object_from = at;
            self.digits.clear();
            self.digit = None;
        }
        self.state.destination = destination;
        if destination.is_note() && !self.state.has_note {
            self.state.has_note = true;
            self.notes.push(String::new());
        }
        Ok(())
    }

    fn change(&mut self, change: impl FnOnce(&mut State), budget: &mut Budget) -> Result<(), Stop> {
        let was_seen = self.state.is_seen();
        let mut state = self.state;
        change(&mut state);
        if state.is_seen() != was_seen {
            self.texts.flush(&self.state, budget)?;
        }
        self.state = state;
        Ok(())
    }

    fn set_page(&mut self, page: u16, budget: &mut Budget) -> Result<(), Stop> {
        if page != self.state.page {
            self.texts.flush(&self.state, budget)?;
            self.state.page = page;
        }
        Ok(())
    }
}
