//! Text of a document, with what hides it, and its fields (ECMA-376 part 1 §17). Texts inside drawings are read too.

use crate::format::{
    office::{
        Page, Sight, Walk, link,
        look::{Look, Styles},
        rules,
    },
    pull::{Name, Tag},
};

/// Fields whose instruction is followed to its end; the rest of a flood is text.
const LONGEST_FIELD: usize = 64 * 1024;

/// A field that is open.
#[derive(Debug, Default)]
struct Field {
    instruction: Vec<u8>,
    result: Vec<u8>,
    has_result: bool,
}

/// Walks the main document, headers, footers, notes and comments.
#[derive(Debug)]
pub(super) struct Word<'a> {
    styles: &'a Styles,
    /// How the whole part is seen, where that is not as usual: comments, notes, a shape beside the slide.
    pub(super) whole: Sight,
    paragraphs: u64,
    /// How the paragraph's style, the run and those around them look.
    paragraph: Look,
    run: Look,
    outer: Vec<(Look, Look, bool)>,
    in_run: bool,
    in_run_properties: bool,
    /// Character data of that element are text, an instruction, or nothing.
    inside: Inside,
    is_deleted: bool,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    Text,
    Instruction,
}

impl<'a> Word<'a> {
    pub(super) fn new(styles: &'a Styles, whole: Sight) -> Self {
        Self {
            styles,
            whole,
            paragraphs: 0,
            paragraph: Look::default(),
            run: Look::default(),
            outer: Vec::new(),
            in_run: false,
            in_run_properties: false,
            inside: Inside::Nothing,
            is_deleted: false,
            fields: Vec::new(),
        }
    }

    fn sight(&self) -> Sight {
        if self.whole != Sight::Seen {
            self.whole
        } else if self.is_deleted {
            Sight::Style
        } else {
            self.run.sight()
        }
    }

    fn instruct(&mut self, text: &[u8]) {
        let Some(field) = self.fields.last_mut() else { return };
        if field.instruction.len() < LONGEST_FIELD {
            field.instruction.extend_from_slice(text.get(..LONGEST_FIELD).unwrap_or(text));
        }
    }

    fn end_field(&mut self, page: &mut Page<'_, '_>) {
        let Some(field) = self.fields.pop() else { return };
        judge_field(&field.instruction, page);
        page.texts.part(Sight::Unseen, &field.instruction);
        // A field inside the instruction of another is replaced by its result.
        let written = quoted_codes(&field.instruction).unwrap_or(field.result);
        if self.fields.last().is_some_and(|outer| !outer.has_result) {
            self.instruct(&written);
        }
    }
}

impl Walk for Word<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        let value = |name: &[u8]| tag.value(name).unwrap_or_default();
        match tag.local() {
            b"p" => {
                self.outer.push((self.paragraph, self.run, self.in_run));
                (self.paragraph, self.run, self.in_run) = (Look::default(), Look::default(), false);
                self.paragraphs = self.paragraphs.saturating_add(1);
                page.texts.mark(self.paragraphs);
            }
            b"pStyle" => {
                self.paragraph = self.styles.look(&value(b"val"));
                self.run = self.paragraph;
            }
            b"r" => {
                self.in_run = true;
                self.run = self.paragraph;
            }
            b"rPr" => {
                self.in_run_properties = self.in_run;
                if let Some(size) = tag.value(b"sz").filter(|_| self.in_run) {
                    self.run.drawing_size(&size);
                }
            }
            b"rStyle" if self.in_run_properties => self.run = self.run.with(self.styles.look(&value(b"val"))),
            b"hlinkClick" | b"hlinkHover" | b"hlinkMouseOver" => super::slide::action(tag, page),
            b"blip" | b"imagedata" => picture(tag, page),
            name if self.in_run_properties => self.run.property(name, tag),
            b"t" => self.inside = Inside::Text,
            b"delText" => (self.inside, self.is_deleted) = (Inside::Text, true),
            b"instrText" | b"delInstrText" => self.inside = Inside::Instruction,
            b"fldChar" => match &*value(b"fldCharType") {
                b"begin" => self.fields.push(Field::default()),
                b"separate" => {
                    if let Some(field) = self.fields.last_mut() {
                        field.has_result = true;
                    }
                }
                b"end" => self.end_field(page),
                _ => {}
            },
            b"fldSimple" => {
                let instruction = value(b"instr");
                judge_field(&instruction, page);
            }
            b"tab" if self.in_run => page.texts.push(self.sight(), b"\t"),
            b"br" | b"cr" if self.in_run => page.texts.push(self.sight(), b"\n"),
            b"fill" | b"stroke" | b"audioFile" | b"videoFile" | b"wavAudioFile" => {
                picture(tag, page);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        match self.inside {
            Inside::Nothing => {
                if !text.trim_ascii().is_empty() {
                    page.texts.part(Sight::Unseen, text);
                }
            }
            Inside::Text => {
                page.texts.push(self.sight(), text);
                if let Some(field) = self.fields.last_mut()
                    && field.has_result
                    && field.result.len() < LONGEST_FIELD
                {
                    field.result.extend_from_slice(text.get(..LONGEST_FIELD).unwrap_or(text));
                }
            }
            Inside::Instruction => self.instruct(text),
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        match name.local() {
            b"p" => {
                page.texts.break_all(b'\n');
                if let Some((paragraph, run, in_run)) = self.outer.pop() {
                    (self.paragraph, self.run, self.in_run) = (paragraph, run, in_run);
                }
            }
            b"r" => {
                self.in_run = false;
                self.run = self.paragraph;
            }
            b"rPr" => self.in_run_properties = false,
            b"t" | b"instrText" | b"delInstrText" => self.inside = Inside::Nothing,
            b"delText" => (self.inside, self.is_deleted) = (Inside::Nothing, false),
            b"document" | b"hdr" | b"ftr" | b"comments" | b"footnotes" | b"endnotes" | b"glossaryDocument" => {
                // A field that does not end acts all the same.
                while !self.fields.is_empty() {
                    self.end_field(page);
                }
            }
            _ => {}
        }
    }
}

/// A picture whose address stands in the markup and not in a relationship (VML).
pub(super) fn picture(tag: &Tag<'_>, page: &mut Page<'_, '_>) {
    for name in [&b"src"[..], b"href"] {
        if let Some(target) = tag.value(name) {
            page.link(link::Use::Media, &target);
        }
    }
}

/// The instruction of a field: its first word says what it does (ECMA-376 part 1 §17.16.5).
pub(super) fn judge_field(instruction: &[u8], page: &mut Page<'_, '_>) {
    let mut words = Words(instruction);
    let Some(name) = words.next() else { return };
    match name.to_ascii_uppercase().as_slice() {
        b"DDE" | b"DDEAUTO" => page.say(&rules::DDE, "a field asks another program"),
        b"INCLUDEPICTURE" | b"IMPORT" => address(words, link::Use::Media, page),
        b"INCLUDETEXT" | b"INCLUDE" | b"RD" | b"DATABASE" => address(words, link::Use::Other, page),
        b"LINK" => {
            // LINK class "file" "item".
            words.next();
            address(words, link::Use::Object, page);
        }
        b"HYPERLINK" => address(words, link::Use::Link, page),
        _ => {}
    }
}

fn address(words: Words<'_>, used: link::Use, page: &mut Page<'_, '_>) {
    if let Some(target) = target(words) {
        page.link(used, target.as_bytes());
    }
}

/// The first word that is no switch.
fn target(words: Words<'_>) -> Option<String> {
    let mut is_switched_to_place = false;
    for word in words.take(16) {
        match word {
            [b'\\', b'l' | b'o' | b't' | b'c' | b'm', ..] => is_switched_to_place = true,
            [b'\\', letter, ..] if letter.is_ascii_alphabetic() && word.len() <= 3 => {}
            _ if std::mem::take(&mut is_switched_to_place) => {}
            target => {
                // A backslash is doubled in an instruction.
                let target = String::from_utf8_lossy(target).replace("\\\\", "\\");
                return Some(if target.starts_with('\\') { format!("\\{target}") } else { target });
            }
        }
    }
    None
}

/// The word that an instruction begins with, in upper case.
pub(super) fn field_name(instruction: &[u8]) -> Option<Vec<u8>> {
    Words(instruction).next().map(<[u8]>::to_ascii_uppercase)
}

/// Where the instruction of a link leads; nothing where it leads to a place in the document.
pub(super) fn link_of(instruction: &[u8]) -> Option<String> {
    let mut words = Words(instruction);
    words.next()?;
    target(words)
}

/// Words of an instruction; quotes keep one together.
#[derive(Clone, Copy, Debug)]
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.trim_ascii_start();
        let (word, behind) = match rest.first()? {
            b'"' => {
                let inside = rest.get(1..)?;
                let end = memchr::memchr(b'"', inside).unwrap_or(inside.len());
                (inside.get(..end)?, inside.get(end.saturating_add(1)..))
            }
            _ => {
                let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'"');
                let end = end.unwrap_or(rest.len());
                (rest.get(..end)?, rest.get(end..))
            }
        };
        self.0 = behind.unwrap_or_default();
        Some(word)
    }
}

/// `QUOTE 68 68 69`: characters by their codes, which is how commands are kept out of sight.
fn quoted_codes(instruction: &[u8]) -> Option<Vec<u8>> {
    let mut words = Words(instruction);
    words.next().filter(|name| name.eq_ignore_ascii_case(b"QUOTE"))?;
    let mut out = Vec::new();
    for word in words {
        out.push(std::str::from_utf8(word).ok()?.parse().ok()?);
    }
    (!out.is_empty()).then_some(out)
}
