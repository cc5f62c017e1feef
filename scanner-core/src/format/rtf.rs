//! RTF: groups without going down into them, objects through their disguises, text as a person sees it and as not.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Finding, Place, Rule, Severity, Span, Stop},
    format::{Format, Out, Subject, charset, embedded, fields, office},
    limits::{Budget, Resource},
    reader::count,
};

mod control;
mod object;
mod rules;
mod token;
mod words;

use token::{Token, Tokens};
use words::{Destination, Texts};

pub(crate) const FORMAT: Format = Format {
    name: "rtf",
    labels: &["rtf"],
    inspect,
    clean: None,
    rules: &[
        &embedded::EXECUTABLE,
        &embedded::EXPLOITED,
        &embedded::LINK,
        &embedded::OBJECT,
        &office::rules::ACTIVEX,
        &office::rules::DDE,
        &office::rules::HIDDEN_STYLE,
        &office::rules::LINK,
        &office::rules::REMOTE,
        &office::rules::REMOTE_TEMPLATE,
        &rules::NESTING,
        &rules::SHAPE,
        &rules::STRUCTURE,
        &rules::TRAILING,
        &rules::TRUNCATED,
        &rules::UPDATES,
    ],
};

/// Groups in each other that are followed: word processors write less than a hundred.
const DEEPEST: usize = 1_000;
/// Letters of a field's code or a name that are kept.
const LONGEST_NOTE: usize = 4_096;
/// Bytes between two payments.
const BLOCK: usize = 4_096;
/// Steps of one token.
const STEPS_PER_TOKEN: u64 = 3;
/// A line end or a few zero bytes behind the document hide nothing.
const HARMLESS_PADDING: usize = 16;

/// What holds inside a group, and again behind the groups in it.
#[derive(Clone, Copy, Debug)]
struct State {
    destination: Destination,
    /// `\*` was read: the next word is a destination that may be left out.
    is_optional: bool,
    is_hidden: bool,
    is_white: bool,
    is_tiny: bool,
    /// Characters that stand for those who know no Unicode, behind each `\u`.
    skipped: u32,
    page: u16,
    /// The group began a note that ends with it.
    has_note: bool,
    /// It stands apart from the text around it.
    is_apart: bool,
}

impl State {
    fn is_seen(&self) -> bool {
        !self.is_hidden && !self.is_white && !self.is_tiny
    }
}

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut walk = Walk::of(subject.bytes);
    let walked = walk.walk(out, budget);
    walk.finish(out);
    walked
}

/// The document while its tokens are read.
struct Walk<'a> {
    bytes: &'a Bytes,
    state: State,
    groups: Vec<State>,
    /// Groups beyond those that are followed.
    deeper: usize,
    told: BTreeSet<&'static str>,
    texts: Texts,
    /// Codes of fields and names that are being read, outermost first.
    notes: Vec<String>,
    judge: fields::Judge,
    /// Fonts and the code pages of their letters.
    fonts: BTreeMap<i64, u16>,
    font: i64,
    page: u16,
    /// The table of colours: which are white.
    colours: Vec<bool>,
    colour: [i64; 3],
    /// Letters still to be skipped behind a `\u`.
    to_skip: u32,
    half: Option<u16>,
    /// Digits of the object that is being read.
    digits: Vec<u8>,
    digit: Option<u8>,
    object_from: usize,
    class: String,
}

impl<'a> Walk<'a> {
    fn of(bytes: &'a Bytes) -> Self {
        let state = State {
            destination: Destination::Text,
            is_optional: false,
            is_hidden: false,
            is_white: false,
            is_tiny: false,
            skipped: 1,
            page: charset::WESTERN,
            has_note: false,
            is_apart: false,
        };
        Self {
            bytes,
            state,
            groups: Vec::new(),
            deeper: 0,
            told: BTreeSet::new(),
            texts: Texts::default(),
            notes: Vec::new(),
            judge: fields::Judge::default(),
            fonts: BTreeMap::new(),
            font: 0,
            page: charset::WESTERN,
            colours: Vec::new(),
            colour: [0; 3],
            to_skip: 0,
            half: None,
            digits: Vec::new(),
            digit: None,
            object_from: 0,
            class: String::new(),
        }
    }

    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let bytes: &'a [u8] = self.bytes;
        let mut tokens = Tokens::of(bytes);
        let mut paid = 0_usize;
        if !bytes.starts_with(b"{\\rtf1") && !bytes.starts_with(b"{\\rtf\\") && !bytes.starts_with(b"{\\rtf0") {
            self.say(&rules::STRUCTURE, "the head of the document is not the one that programs write", 0, out);
        }
        loop {
            let at = tokens.position();
            if at >= paid {
                paid = at.saturating_add(BLOCK);
                budget.spend(Resource::Steps, count(BLOCK))?;
            }
            budget.spend(Resource::Steps, STEPS_PER_TOKEN)?;
            let Some(token) = tokens.next() else { break };
            match token {
                Token::Open => self.open(at, out),
                Token::Close => {
                    let was_last = self.groups.len() == 1 && self.deeper == 0;
                    self.close(at, out, budget)?;
                    if was_last {
                        self.behind(tokens.position(), out);
                        return Ok(());
                    }
                }
                Token::Word { name: b"bin", number } => {
                    let length = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
                    match tokens.raw(length) {
                        Some(raw) if self.state.destination == Destination::Object => {
                            self.digit = None;
                            self.digits.extend_from_slice(raw);
                        }
                        Some(_) => {}
                        None => self.say(&rules::STRUCTURE, "raw data are longer than what is left", at, out),
                    }
                }
                Token::Word { name, number } => self.word(name, number, at, out, budget)?,
                Token::TooLong => {
                    self.say(&rules::STRUCTURE, "a control word is longer than any reader takes", at, out);
                }
                Token::Symbol(symbol) => self.symbol(symbol, at, budget)?,
                Token::Byte(byte) => self.letters(&[byte], at, budget)?,
                Token::Text(text) => self.letters(text, at, budget)?,
            }
        }
        let end = self.bytes.len();
        if !self.groups.is_empty() {
            self.say(&rules::TRUNCATED, "the document ends inside a group", end, out);
            while !self.groups.is_empty() {
                self.close(end, out, budget)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, at: usize, out: &mut Out<'_>) {
        if self.groups.len() >= DEEPEST {
            self.deeper = self.deeper.saturating_add(1);
            self.say(&rules::NESTING, "groups stand in each other without end", at, out);
            return;
        }
        self.to_skip = 0;
        self.groups.push(self.state);
        self.state.is_optional = false;
        self.state.has_note = false;
        self.state.is_apart = false;
    }

    fn close(&mut self, at: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        if self.deeper > 0 {
            self.deeper = self.deeper.saturating_sub(1);
            return Ok(());
        }
        self.texts.flush(&self.state, budget)?;
        self.to_skip = 0;
        let ended = self.state;
        let Some(outer) = self.groups.pop() else {
            self.say(&rules::STRUCTURE, "a group ends that never began", at, out);
            return Ok(());
        };
        self.state = outer;
        if ended.is_apart || ended.destination == Destination::Info {
            self.texts.part(&ended);
        }
        if ended.has_note {
            self.note(ended.destination, at, out);
        }
        if ended.destination == Destination::Object && outer.destination != Destination::Object {
            self.object(at, out, budget)?;
        }
        Ok(())
    }

    /// A note is complete: the code of a field, a template, a class, a property of a shape.
    fn note(&mut self, destination: Destination, at: usize, out: &mut Out<'_>) {
        let Some(note) = self.notes.pop() else { return };
        let span = self.span(at);
        match destination {
            // What a field in it comes to is part of a code; the code of that field is its own.
            Destination::Field => self.judge.field(&note, span, &Place::default(), out),
            Destination::Template if fields::is_remote(&note) => {
                out.find(Finding::built_in(&office::rules::REMOTE_TEMPLATE).at(span.start, span.end));
            }
            Destination::Class => self.class.clone_from(&note),
            Destination::Property => {
                if note.trim().eq_ignore_ascii_case("pfragments") {
                    self.say(&rules::SHAPE, "a shape has the property pFragments", at, out);
                }
                if fields::is_remote(&note) {
                    self.say(&office::rules::REMOTE, "a picture or link of a shape is elsewhere", at, out);
                }
            }
            _ => {}
        }
        self.texts.notes.push_str(&note);
        self.texts.notes.push('\n');
    }

    /// The digits of an object are complete.
    fn object(&mut self, at: usize, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let bytes = Bytes::from(std::mem::take(&mut self.digits));
        self.digit = None;
        let span = Span { start: count(self.object_from), end: count(at) };
        let class = std::mem::take(&mut self.class);
        budget.spend(Resource::Steps, count(bytes.len()) / 8)?;
        object::tell(bytes, &class, span, &Place::default(), out, budget)
    }

    fn symbol(&mut self, symbol: u8, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        match symbol {
            b'*' => {
                self.state.is_optional = true;
                Ok(())
            }
            b'\\' | b'{' | b'}' => self.letters(&[symbol], at, budget),
            b'~' => self.letters(b" ", at, budget),
            b'_' => self.letters(b"-", at, budget),
            b'\r' | b'\n' => self.letters(b"\n", at, budget),
            b'\t' => self.letters(b"\t", at, budget),
            _ => Ok(()),
        }
    }

    /// A unit of UTF-16, written as a number that may be negative.
    fn unicode(&mut self, value: i64, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        self.to_skip = self.state.skipped;
        let unit = u16::try_from(value.rem_euclid(0x1_0000)).unwrap_or(0);
        let half = self.half.take();
        let character = match (half, unit) {
            (_, 0xd800..=0xdbff) => {
                self.half = Some(unit);
                return Ok(());
            }
            (Some(high), 0xdc00..=0xdfff) => char::decode_utf16([high, unit]).next().and_then(Result::ok),
            _ => char::from_u32(unit.into()),
        };
        self.texts.flush(&self.state, budget)?;
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        match self.state.destination {
            destination if destination.is_note() => self.write_note(&String::from(character)),
            destination => self.texts.push(character, destination, self.state.is_seen(), at),
        }
        Ok(())
    }

    fn write_note(&mut self, text: &str) {
        if let Some(note) = self.notes.last_mut().filter(|note| note.len() < LONGEST_NOTE) {
            note.push_str(text);
        }
    }

    /// Bytes of text, in whatever the group is for.
    fn letters(&mut self, mut bytes: &[u8], at: usize, budget: &mut Budget) -> Result<(), Stop> {
        if self.to_skip > 0 {
            let skipped = usize::try_from(self.to_skip).unwrap_or(0).min(bytes.len());
            bytes = bytes.get(skipped..).unwrap_or_default();
            self.to_skip = self.to_skip.saturating_sub(u32::try_from(skipped).unwrap_or(u32::MAX));
        }
        match self.state.destination {
            Destination::Object => self.hexadecimal(bytes),
            Destination::Colours => {
                for _ in bytes.iter().filter(|byte| **byte == b';') {
                    if self.colours.len() < MOST_COLOURS {
                        self.colours.push(self.colour == [0xff; 3]);
                    }
                    self.colour = [0; 3];
                }
            }
            Destination::Fonts | Destination::Data => {}
            destination if destination.is_note() => {
                let text = charset::decode(bytes, self.state.page, budget)?;
                self.write_note(&text);
            }
            _ => self.texts.write(bytes, &self.state, at, budget)?,
        }
        Ok(())
    }

    /// Digits of an object; whatever is none is passed over, as Word does.
    fn hexadecimal(&mut self, bytes: &[u8]) {
        for digit in bytes.iter().filter_map(|byte| char::from(*byte).to_digit(16)) {
            let digit = u8::try_from(digit).unwrap_or(0);
            match self.digit.take() {
                Some(high) => self.digits.push(high << 4 | digit),
                None => self.digit = Some(digit),
            }
        }
    }

    /// What stands behind the last group.
    fn behind(&mut self, end: usize, out: &mut Out<'_>) {
        let rest = self.bytes.slice(end..);
        if rest.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace() || *byte == b'}') {
            return;
        }
        let message = format!("{} bytes behind the end of the document", rest.len());
        let severity = if rest.len() <= HARMLESS_PADDING { Severity::Low } else { Severity::Medium };
        let finding = Finding::built_in(&rules::TRAILING).severity(severity);
        out.find(finding.at(count(end), count(self.bytes.len())).message(message));
        out.child(Source::stored(rest), None);
    }

    fn span(&self, at: usize) -> Span {
        let at = at.min(self.bytes.len());
        Span { start: count(at), end: count(at.saturating_add(8).min(self.bytes.len())) }
    }

    /// Each thing once.
    fn say(&mut self, rule: &'static Rule, message: &'static str, at: usize, out: &mut Out<'_>) {
        if self.told.insert(message) {
            let span = self.span(at);
            out.find(Finding::built_in(rule).at(span.start, span.end).message(message));
        }
    }

    fn finish(self, out: &mut Out<'_>) {
        self.judge.finish(&Place::default(), out);
        self.texts.read(self.bytes.len(), out);
    }
}

/// More colours than any document has.
const MOST_COLOURS: usize = 4_096;

#[cfg(test)]
mod tests;
