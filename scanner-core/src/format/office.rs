//! What office formats have in common: how their XML is walked, how their texts are put together, what links and
//! formulas reach.

use std::collections::BTreeMap;

use crate::{
    bundle::Source,
    finding::{Finding, Gap, Place, Reason, Rule, Severity, Span, Stop},
    format::{
        Out,
        pull::{Attribute, Event, Fault, Name, Pull, Tag, Text, doctype},
    },
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

pub(crate) mod edit;
pub(crate) mod formula;
pub(crate) mod link;
pub(crate) mod look;
pub(crate) mod parts;
pub(crate) mod rules;
mod texts;

pub(crate) use texts::{Sight, Texts};

/// Findings of one rule and severity that are listed; the rest of a flood is one number.
const LISTED: u64 = 50;
/// Shorter values of attributes are words of the format.
const SHORTEST_WORDS: usize = 16;

/// Where the part that is being read stands.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// For a person.
    pub(crate) place: Place,
    /// In the artifact's bytes.
    pub(crate) span: Span,
}

/// Findings of a document: each kind listed some times, then counted.
#[derive(Debug, Default)]
pub(crate) struct Tell {
    told: BTreeMap<(&'static str, Severity), (&'static Rule, u64)>,
}

impl Tell {
    /// A finding with a severity of its own.
    pub(crate) fn say_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        spot: &Spot,
        message: &str,
        out: &mut Out<'_>,
    ) {
        let (_, told) = self.told.entry((&rule.id, severity)).or_insert((rule, 0));
        *told = told.saturating_add(1);
        if *told <= LISTED {
            let finding = Finding::built_in(rule).severity(severity).message(message);
            out.find(finding.at(spot.span.start, spot.span.end).place(spot.place.clone()));
        }
    }

    /// How often a rule was told, whatever its severity.
    pub(crate) fn has(&self, rule: &'static Rule) -> bool {
        self.told.keys().any(|(id, _)| *id == rule.id)
    }

    /// Says how many were not listed.
    pub(crate) fn finish(self, out: &mut Out<'_>) {
        for ((_, severity), (rule, told)) in self.told {
            if let Some(more @ 1..) = told.checked_sub(LISTED) {
                let message = format!("{more} more like the {LISTED} listed");
                out.find(Finding::built_in(rule).severity(severity).message(message));
            }
        }
    }
}

/// What a walk through one part writes to.
#[derive(Debug)]
pub(crate) struct Page<'p, 'o> {
    pub(crate) out: &'p mut Out<'o>,
    pub(crate) tell: &'p mut Tell,
    pub(crate) texts: Texts,
    pub(crate) spot: Spot,
    /// Programs write it as HTML is written, and read it so: drawings of old (VML).
    pub(crate) is_lenient: bool,
    /// Base64 being gathered: a file inside a flat document.
    packed: Vec<u8>,
}

impl<'p, 'o> Page<'p, 'o> {
    pub(crate) fn new(spot: Spot, tell: &'p mut Tell, out: &'p mut Out<'o>) -> Self {
        Self { out, tell, texts: Texts::default(), spot, is_lenient: false, packed: Vec::new() }
    }

    /// A finding with the rule's own severity.
    pub(crate) fn say(&mut self, rule: &'static Rule, message: &str) {
        self.tell.say_as(rule, rule.severity, &self.spot, message, self.out);
    }

    /// A finding with another.
    pub(crate) fn say_as(&mut self, rule: &'static Rule, severity: Severity, message: &str) {
        self.tell.say_as(rule, severity, &self.spot, message, self.out);
    }

    /// What a link of that use reaches.
    pub(crate) fn link(&mut self, used: link::Use, target: &[u8]) {
        for (rule, severity, message) in link::judge(used, target) {
            self.say_as(rule, severity, message);
        }
    }

    /// A piece of a file in base64.
    pub(crate) fn binary(&mut self, text: &[u8]) {
        self.packed.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }

    /// The file is complete: it becomes a child.
    pub(crate) fn end_binary(&mut self) {
        if let Some(file) = self.take_binary() {
            self.out.child(Source::stored(file), None);
        }
    }

    /// The file that was gathered. What is no base64 is read as text.
    pub(crate) fn take_binary(&mut self) -> Option<Vec<u8>> {
        let packed = std::mem::take(&mut self.packed);
        match data_encoding::BASE64.decode(&packed) {
            Ok(file) if !file.is_empty() => Some(file),
            Ok(_) => None,
            Err(_) => {
                self.texts.part(Sight::Unseen, &packed);
                self.out.gap(Gap::new(Reason::Malformed, "a file inside is no base64").at_offset(self.spot.span.start));
                None
            }
        }
    }

    /// What a formula of a cell reaches.
    pub(crate) fn formula(&mut self, formula: &[u8]) {
        let found = formula::judge(formula);
        if found.is_command {
            self.say(&rules::DDE, "a formula names a program and what it should do");
        }
        if found.is_native {
            self.say_as(&rules::FORMULA, Severity::High, "a formula calls code outside the document");
        }
        if found.is_web {
            self.say(&rules::REMOTE, "a formula asks an address");
            self.say(&rules::FORMULA, "a formula asks an address");
        }
        match found.link {
            formula::Link::None => {}
            formula::Link::Fixed => self.say(&rules::LINK, "a formula is a link"),
            formula::Link::Computed => {
                self.say(&rules::LINK, "a formula is a link");
                self.say(&rules::FORMULA, "a formula puts cells into the address of a link");
            }
        }
    }
}

/// Follows one part.
pub(crate) trait Walk {
    /// An element begins.
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>);
    /// Characters, references undone.
    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>);
    /// An element ends.
    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>);
    /// Whether values of attributes may be worded. Those of lists of parts are names.
    fn has_words(&self) -> bool {
        true
    }
}

/// A part that cannot be followed does not keep the others from being seen.
///
/// # Errors
/// When the budget is used up.
pub(crate) fn carry_on(read: Result<(), Stop>, spot: &Spot, out: &mut Out<'_>) -> Result<(), Stop> {
    match read {
        Err(Stop::Malformed { what, .. }) => {
            out.gap(Gap::new(Reason::Malformed, what).at_offset(spot.span.start));
            Ok(())
        }
        other => other,
    }
}

/// Drives a walk through the XML of one part. What is wrong with the XML is said here.
///
/// # Errors
/// [`Exhausted`] when the budget is used up; everything else is written into the page.
pub(crate) fn walk(
    bytes: &[u8],
    walker: &mut dyn Walk,
    page: &mut Page<'_, '_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let mut pull = Pull::new(bytes);
    let mut driver = Driver::default();
    let fault = loop {
        match pull.next(budget) {
            Ok(Some(event)) => driver.event(event, walker, page, budget)?,
            Ok(None) => break None,
            Err(Fault::Limit(exhausted)) => return Err(exhausted),
            Err(fault) => break Some(fault),
        }
    };
    driver.finish(page);
    let Some(fault) = fault else { return Ok(()) };
    if matches!(fault, Fault::Deep { .. }) {
        page.say(&rules::DEEP, "elements are nested deeper than readers go");
    } else if let Stop::Malformed { what, at } = fault.into()
        && !page.is_lenient
    {
        let gap = Gap::new(Reason::Malformed, format!("a part of it is no XML at {at}: {what}"));
        page.out.gap(gap.at_offset(page.spot.span.start));
    }
    // Nothing understands the rest; it is read as it stands.
    page.texts.part(Sight::Unseen, bytes.get(pull.position()..).unwrap_or_default());
    Ok(())
}

/// What every walk does beside following its format.
#[derive(Debug, Default)]
struct Driver<'a> {
    growth: Option<doctype::Growth<'a>>,
    grown: u64,
}

impl<'a> Driver<'a> {
    fn event(
        &mut self,
        event: Event<'a>,
        walker: &mut dyn Walk,
        page: &mut Page<'_, '_>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        match event {
            Event::Start(tag) => {
                for attribute in tag.attributes() {
                    self.count(attribute.raw);
                    if walker.has_words() && is_words(&attribute) {
                        page.texts.part(Sight::Unseen, &attribute.value());
                    }
                }
                walker.start(&tag, page);
            }
            Event::End(name) => walker.end(name, page),
            Event::Text(text) => {
                self.count_text(&text);
                walker.text(&text.value(), page);
            }
            Event::Comment(inside) => page.texts.part(Sight::Unseen, inside),
            Event::Instruction(inside) if inside.starts_with(b"xml ") => {}
            Event::Instruction(inside) => page.texts.part(Sight::Unseen, inside),
            Event::Doctype(doctype) => {
                let (growth, findings) = doctype.judge(budget)?;
                self.growth = Some(growth);
                for finding in findings {
                    // Offsets in the part are none in the artifact.
                    let (span, place) = (page.spot.span, page.spot.place.clone());
                    page.out.find(finding.at(span.start, span.end).place(place));
                }
            }
        }
        Ok(())
    }

    fn count_text(&mut self, text: &Text<'a>) {
        if !text.is_literal {
            self.count(text.raw);
        }
    }

    fn count(&mut self, raw: &[u8]) {
        if let Some(growth) = &self.growth {
            self.grown = self.grown.saturating_add(growth.in_text(raw));
        }
    }

    fn finish(&self, page: &mut Page<'_, '_>) {
        if self.grown > doctype::GROWTH_FROM {
            page.say(&doctype::GROWTH, "references in the text grow to more than a mebibyte");
        }
    }
}

/// Whether an attribute holds something that may be worded: long, or of several words. Declarations of namespaces and
/// numbers are not.
fn is_words(attribute: &Attribute<'_>) -> bool {
    let raw = attribute.raw;
    let is_long = raw.len() >= SHORTEST_WORDS || memchr::memchr(b' ', raw).is_some();
    let is_namespace = || attribute.name.0.starts_with(b"xmlns") || attribute.name.local() == b"schemaLocation";
    is_long && raw.iter().any(u8::is_ascii_alphabetic) && !is_namespace()
}

/// The local name of the first element; `None` where this does not begin as XML does.
pub(crate) fn root_of(text: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Stop> {
    let head = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if !head.trim_ascii_start().starts_with(b"<") {
        return Ok(None);
    }
    let mut pull = Pull::new(text);
    loop {
        match pull.next(budget) {
            Ok(Some(Event::Start(tag))) => return Ok(Some(tag.local().to_vec())),
            Ok(Some(_)) => {}
            Err(Fault::Limit(exhausted)) => return Err(exhausted.into()),
            // It began as XML: the walk says what is wrong.
            Ok(None) | Err(_) => return Ok(Some(Vec::new())),
        }
    }
}

/// Follows nothing: every text is read.
#[derive(Debug, Default)]
pub(crate) struct Plain;

impl Walk for Plain {
    fn start(&mut self, _: &Tag<'_>, _: &mut Page<'_, '_>) {}

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        if !text.trim_ascii().is_empty() {
            page.texts.part(Sight::Unseen, text);
        }
    }

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}
}

/// Texts of all parts together: what would not be read any more is not kept.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    bytes: u64,
    is_full: bool,
}

impl Waiting {
    /// Hands over the texts of a page, or says that they will not be read.
    pub(crate) fn read(&mut self, texts: Texts, key: &'static str, spot: &Spot, out: &mut Out<'_>, budget: &Budget) {
        self.bytes = self.bytes.saturating_add(texts.length());
        if self.bytes > budget.left(Resource::TextBytes) {
            if !std::mem::replace(&mut self.is_full, true) {
                out.gap(Stop::from(Exhausted(Resource::TextBytes)).into_gap());
            }
            return;
        }
        texts.read(key, spot, out);
    }
}

/// A name of a part or sheet that can be repeated: one that is long may hold a secret.
pub(crate) fn short_name(name: &str) -> Option<&str> {
    const LONGEST: usize = 15;
    (name.len() <= LONGEST && !name.is_empty()).then_some(name)
}

/// A part's name where it is one that programs give: words with a number behind them. Others may hold a secret.
pub(crate) fn part_name(name: &str) -> Option<&str> {
    let is_word = |word: &str| {
        let digits = word.len().saturating_sub(word.trim_end_matches(|byte: char| byte.is_ascii_digit()).len());
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'[' | b']' | b'-');
        word.len() <= 28
            && digits <= 4
            && word.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
            && word.bytes().take(word.len().saturating_sub(digits)).all(is_letter)
    };
    (name.len() <= 128 && name.split(['/', '.']).all(is_word)).then_some(name)
}

/// The span of a packed part.
pub(crate) fn span_of(data: Option<std::ops::Range<usize>>, at: usize) -> Span {
    let data = data.unwrap_or(at..at);
    Span { start: count(data.start), end: count(data.end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_programs_give_are_repeated_and_others_are_not() {
        for name in ["word/document.xml", "xl/worksheets/_rels/sheet12.xml.rels", "[Content_Types].xml", "_rels/.rels"]
        {
            assert_eq!(part_name(name), Some(name));
        }
        for name in ["word/AKIA0S0FODNN7EX.xml", "word/a b.xml", "word/123456789.xml", "word/sk-abcd0ef.xml"] {
            assert_eq!(part_name(name), None, "{name}");
        }
    }
}
