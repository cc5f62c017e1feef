//! Markup written anew from what may stay of it: every token of the output comes from a list and is escaped, every element
//! is closed, so a parser that reads it again, in whatever state, finds no other elements than these.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::{
    css::Sheet,
    declared,
    element::{Element, local},
    entity,
    names::{implied_ends, is_void},
    permitted::{self, Fate},
    sight::{self, Sight},
    token::{Attribute, Dialect, Tag, Token, Tokens},
    writer::Writer,
};
use crate::{
    format::cleaning::{Cleaning, Uncleanable},
    limits::{Budget, Resource},
    reader::count,
};

mod attributes;
#[cfg(test)]
mod tests;

/// Steps for a tag or an attribute: the lists are looked through.
const STEPS_PER_NAME: u64 = 20;
/// Elements within elements; browsers stop at 512 and put the rest beside.
const DEEPEST: usize = 256;
/// How often what is left is looked at again.
const ROUNDS: usize = 2;
/// The longest name of a character (HTML 13.5).
const RAREST_NAME: usize = 32;
/// Style sheets of one document, all together.
const STYLES_BYTES: usize = 4 * 1024 * 1024;
/// Names that pictures of SVG are written with.
const NAME_SPACES: &[u8] = b" xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";
/// Elements out of which no end tag of what stands around them reaches (HTML 13.2.4.2, "has an element in scope").
const WALLS: [&str; 4] = ["td", "th", "caption", "table"];
const OF_TABLES: [&str; 8] = ["td", "th", "tr", "tbody", "thead", "tfoot", "table", "caption"];

/// An element that is open and stays.
#[derive(Clone, Copy, Debug)]
struct Open {
    name: &'static str,
    is_svg: bool,
    sight: Sight,
}

/// A style element that is read.
#[derive(Debug, Default)]
struct Style {
    media: Vec<u8>,
    text: Vec<u8>,
}

/// The washing of one text.
#[derive(Debug)]
struct Wash<'t> {
    text: &'t [u8],
    dialect: Dialect,
    out: Writer,
    stack: Vec<Open>,
    /// The element that goes with what is in it, and how many of its name are open.
    going: Option<(Vec<u8>, u64)>,
    style: Option<Style>,
    styles: usize,
    sheet: Sheet,
    /// Text that nobody sees goes.
    is_shown_only: bool,
    /// The last start tag has characters in it in which references count: a title.
    is_decoded: bool,
    /// The prefix of elements of SVG in XML.
    prefix: Vec<u8>,
    /// The picture has ended: what follows is none of it.
    is_over: bool,
    has_type: bool,
    /// It says that its letters are UTF-8.
    has_letters: bool,
}

/// The clean version of a text in UTF-8. Where text that nobody sees has to go, what is left is looked at again: it may
/// have been seen only for a style that went.
pub(in crate::format) fn settled(
    text: &[u8],
    dialect: Dialect,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Vec<u8>, Uncleanable> {
    let mut clean = washed(text, dialect, cleaning, budget)?;
    for _ in 0..ROUNDS {
        if !cleaning.must_go("hidden.") {
            break;
        }
        clean = washed(&clean, dialect, cleaning, budget)?;
    }
    Ok(clean)
}

fn washed(
    text: &[u8],
    dialect: Dialect,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Vec<u8>, Uncleanable> {
    budget.spend(Resource::Steps, count(text.len()))?;
    let mut wash = Wash {
        text,
        dialect,
        out: Writer::default(),
        stack: Vec::new(),
        going: None,
        style: None,
        styles: 0,
        sheet: Sheet::default(),
        is_shown_only: cleaning.must_go("hidden."),
        is_decoded: false,
        prefix: Vec::new(),
        is_over: false,
        has_type: false,
        has_letters: false,
    };
    if wash.is_shown_only {
        wash.sheet = sight::sheet(text);
    }
    let mut tokens = Tokens::of(text, dialect);
    while let Some(token) = tokens.next() {
        wash.token(token, &tokens, cleaning, budget)?;
        tokens.is_foreign = wash.is_in_svg() && dialect == Dialect::Html;
    }
    wash.end_style(cleaning, budget)?;
    while !wash.stack.is_empty() {
        wash.pop(budget)?;
    }
    Ok(wash.out.into_bytes())
}

impl Wash<'_> {
    fn is_in_svg(&self) -> bool {
        self.stack.last().is_some_and(|open| open.is_svg)
    }

    fn bytes(&self, range: &std::ops::Range<usize>) -> &[u8] {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn token(
        &mut self,
        token: Token,
        tokens: &Tokens<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        match token {
            Token::Text(range) => self.words(range, true, cleaning, budget),
            Token::Raw(range) => {
                let is_decoded = self.is_decoded && self.dialect == Dialect::Html;
                self.words(range, is_decoded, cleaning, budget)
            }
            Token::Open(tag) => {
                let names = count(tag.attributes).saturating_add(1);
                budget.spend(Resource::Steps, names.saturating_mul(STEPS_PER_NAME))?;
                self.opened(&tag, tokens, cleaning, budget)
            }
            Token::Close(name) => self.closed(&name, cleaning, budget),
            Token::Doctype(_) => {
                if self.dialect == Dialect::Html && self.out.is_empty() && !self.has_type {
                    self.has_type = true;
                    self.out.raw(b"<!DOCTYPE html>", budget)?;
                } else if self.dialect == Dialect::Xml {
                    cleaning.did("removed a document type");
                }
                Ok(())
            }
            Token::Instruction(range) => {
                let is_declaration =
                    matches!(self.bytes(&range), [b'x', b'm', b'l', blank, ..] if blank.is_ascii_whitespace());
                if is_declaration && self.out.is_empty() {
                    self.out.raw(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", budget)?;
                } else {
                    cleaning.did("removed an instruction");
                }
                Ok(())
            }
            Token::Comment(_) => {
                cleaning.did("removed a comment");
                Ok(())
            }
        }
    }

    fn words(
        &mut self,
        range: std::ops::Range<usize>,
        is_decoded: bool,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let text = self.text;
        let bytes = text.get(range).unwrap_or_default();
        if self.going.is_some() || (self.dialect == Dialect::Xml && self.stack.is_empty()) {
            return Ok(());
        }
        let is_in_svg = self.is_in_svg();
        if let Some(style) = &mut self.style {
            self.styles = self.styles.saturating_add(bytes.len());
            if self.styles > STYLES_BYTES {
                return Err("its style sheets are longer than is followed".into());
            }
            let is_coded = is_decoded && (self.dialect == Dialect::Xml || is_in_svg);
            style.text.extend_from_slice(&if is_coded { entity::decoded(bytes) } else { Cow::Borrowed(bytes) });
            return Ok(());
        }
        let is_unseen = self.stack.last().is_some_and(|open| open.sight.unseen.is_some());
        if self.is_shown_only && is_unseen && !bytes.trim_ascii().is_empty() {
            cleaning.did("removed text that is not shown");
            return Ok(());
        }
        let mut rest = bytes;
        while is_decoded
            && self.dialect == Dialect::Html
            && let Some((at, length)) = unknown(rest)
        {
            self.say(rest.get(..at).unwrap_or_default(), true, cleaning, budget)?;
            let end = at.saturating_add(length);
            self.out.raw(rest.get(at..end).unwrap_or_default(), budget)?;
            rest = rest.get(end..).unwrap_or_default();
        }
        self.say(rest, is_decoded, cleaning, budget)
    }

    fn say(
        &mut self,
        bytes: &[u8],
        is_decoded: bool,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let plain = if is_decoded { entity::decoded(bytes) } else { Cow::Borrowed(bytes) };
        let plain = said(&plain, bytes, cleaning, budget)?;
        Ok(self.out.escaped(&String::from_utf8_lossy(&plain), false, budget)?)
    }

    fn opened(
        &mut self,
        tag: &Tag,
        tokens: &Tokens<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let text = self.text;
        let written = text.get(tag.name.clone()).unwrap_or_default();
        if let Some((going, times)) = &mut self.going {
            if !tag.closes_itself && written.eq_ignore_ascii_case(going) {
                *times = times.saturating_add(1);
            }
            return Ok(());
        }
        // Characters are what a style holds; an element in it is none of it. A tag cut by the end says nothing.
        if self.style.is_some() || tag.is_cut || self.is_over {
            return Ok(());
        }
        let Some(name) = self.own_name(written, tokens.attributes()) else {
            self.goes(written, tag, cleaning);
            return Ok(());
        };
        let lower = name.to_ascii_lowercase();
        let is_html = self.dialect == Dialect::Html;
        let mut is_svg = self.is_in_svg() || lower == b"svg";
        if is_html && is_svg && lower != b"svg" && permitted::of_svg(&lower) == Fate::Goes {
            // An element of a page ends the picture (HTML 13.2.6.5).
            if matches!(permitted::of_html(&lower), Fate::Stays(_)) {
                while self.is_in_svg() {
                    self.pop(budget)?;
                }
                is_svg = false;
            }
        }
        self.is_decoded = matches!(&*lower, b"title" | b"textarea") && !is_svg;
        if lower == b"style" {
            if !tag.closes_itself || !is_svg {
                self.style = Some(Style { media: self.media(tokens.attributes()), text: Vec::new() });
            }
            return Ok(());
        }
        if lower == b"meta" && !is_svg {
            return self.meta(tag, tokens, cleaning, budget);
        }
        let fate = if is_svg { permitted::of_svg(&lower) } else { permitted::of_html(&lower) };
        let Fate::Stays(name) = fate else {
            if fate == Fate::Goes {
                self.goes(written, tag, cleaning);
            } else {
                cleaning.did("removed the tags of an element");
            }
            return Ok(());
        };
        if is_html && !is_svg {
            self.implied(&lower, budget)?;
        }
        self.write(name, is_svg, tag, tokens, cleaning, budget)
    }

    /// Writes the start tag of an element that stays.
    fn write(
        &mut self,
        name: &'static str,
        is_svg: bool,
        tag: &Tag,
        tokens: &Tokens<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        if self.stack.len() >= DEEPEST {
            return Err("its elements are nested deeper than is followed".into());
        }
        self.out.raw(b"<", budget)?;
        self.out.raw(name.as_bytes(), budget)?;
        if name == "svg" && !self.is_in_svg() {
            self.out.raw(NAME_SPACES, budget)?;
        }
        self.attributes(name, is_svg, tokens.attributes(), cleaning, budget)?;
        self.out.raw(b">", budget)?;
        if name == "head" {
            self.say_letters(budget)?;
        }
        if !is_svg && is_void(name.as_bytes()) {
            return Ok(());
        }
        let is_whole = tag.closes_itself && (is_svg || self.dialect == Dialect::Xml);
        let mut sight = self.stack.last().map_or(Sight::default(), |open| open.sight);
        if self.is_shown_only {
            let element = Element::read(self.text, tag, tokens);
            sight = sight.within(sight::look(&self.sheet, self.dialect, &element));
        }
        self.stack.push(Open { name, is_svg, sight });
        if is_whole { self.pop(budget) } else { Ok(()) }
    }

    /// The name of an element without the prefix under which SVG stands in this document.
    fn own_name<'n>(&mut self, name: &'n [u8], attributes: &[Attribute]) -> Option<&'n [u8]> {
        if self.dialect == Dialect::Html {
            return Some(name);
        }
        if self.stack.is_empty() {
            // One picture, and nothing beside it.
            if !local(name).eq_ignore_ascii_case(b"svg") {
                return None;
            }
            let prefix = name.get(..name.len().saturating_sub(local(name).len())).unwrap_or_default();
            let declares = |attribute: &Attribute| {
                self.bytes(&attribute.name).strip_prefix(b"xmlns:") == prefix.strip_suffix(b":")
                    && entity::decoded(self.bytes(&attribute.value)).trim_ascii() == b"http://www.w3.org/2000/svg"
            };
            if !prefix.is_empty() && !attributes.iter().any(declares) {
                return None;
            }
            self.prefix = prefix.to_vec();
        }
        if self.prefix.is_empty() {
            return (!name.contains(&b':')).then_some(name);
        }
        name.strip_prefix(&*self.prefix)
    }

    fn goes(&mut self, written: &[u8], tag: &Tag, cleaning: &mut Cleaning<'_>) {
        cleaning.did("removed an element");
        let is_foreign = self.dialect == Dialect::Xml || self.is_in_svg();
        let has_content = if is_foreign { !tag.closes_itself } else { !is_void(&written.to_ascii_lowercase()) };
        if has_content {
            self.going = Some((written.to_vec(), 1));
        }
    }

    fn closed(
        &mut self,
        name: &std::ops::Range<usize>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let text = self.text;
        let written = text.get(name.clone()).unwrap_or_default();
        if let Some((going, times)) = &mut self.going {
            if written.eq_ignore_ascii_case(going) {
                *times = times.saturating_sub(1);
                if *times == 0 {
                    self.going = None;
                }
            }
            return Ok(());
        }
        let own = match self.dialect {
            Dialect::Html => written,
            Dialect::Xml => written.strip_prefix(&*self.prefix).unwrap_or(written),
        };
        if self.style.is_some() {
            if own.eq_ignore_ascii_case(b"style") {
                self.end_style(cleaning, budget)?;
            }
            return Ok(());
        }
        let is_of_table = OF_TABLES.iter().any(|known| own.eq_ignore_ascii_case(known.as_bytes()));
        for (at, open) in self.stack.iter().enumerate().rev() {
            if own.eq_ignore_ascii_case(open.name.as_bytes()) {
                while self.stack.len() > at {
                    self.pop(budget)?;
                }
                break;
            }
            if WALLS.contains(&open.name) && !is_of_table {
                break;
            }
        }
        Ok(())
    }

    /// Writes the style that has been read, if anything of it may stay.
    fn end_style(&mut self, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let Some(style) = self.style.take() else { return Ok(()) };
        if self.dialect == Dialect::Xml && self.stack.is_empty() {
            return Ok(());
        }
        // Each letter is looked at a few times.
        budget.spend(Resource::Steps, count(style.text.len()).saturating_mul(4))?;
        let text = String::from_utf8_lossy(&style.text);
        let kept = declared::sheet(text.as_bytes());
        // It is written anew: blanks and semicolons may be others.
        let letters = |style: &[u8]| style.iter().filter(|byte| !matches!(byte, b' ' | b'\t'..=b'\r' | b';')).count();
        if letters(&kept) < letters(text.as_bytes()) {
            cleaning.did("removed a part of a style");
        }
        let kept = said(&kept, &kept, cleaning, budget)?;
        if kept.is_empty() {
            return Ok(());
        }
        self.out.raw(b"<style", budget)?;
        if !style.media.is_empty() {
            self.out.attribute("media", &style.media, budget)?;
        }
        self.out.raw(b">\n", budget)?;
        self.out.raw(&kept, budget)?;
        Ok(self.out.raw(b"</style>", budget)?)
    }

    /// Ends what a start tag of that name ends without saying so.
    fn implied(&mut self, name: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
        let ends = implied_ends(name);
        // A paragraph, a cell, its row and their group.
        for _ in 0..4 {
            let Some(last) = self.stack.last() else { break };
            if !ends.contains(&last.name.as_bytes()) {
                break;
            }
            self.pop(budget)?;
        }
        Ok(())
    }

    fn pop(&mut self, budget: &mut Budget) -> Result<(), Uncleanable> {
        if let Some(last) = self.stack.pop() {
            self.out.close(last.name, budget)?;
        }
        self.is_over |= self.dialect == Dialect::Xml && self.stack.is_empty();
        Ok(())
    }
}

/// Where a reference to a character of a rare name stands, and its length. Browsers know two thousand of them; as text
/// none of them begins an element, so it may stay as it is.
fn unknown(text: &[u8]) -> Option<(usize, usize)> {
    memchr_iter(b'&', text).find_map(|at| {
        let rest = text.get(at..)?;
        let name = rest.iter().skip(1).take(RAREST_NAME).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let is_name = name > 1 && rest.get(1).is_some_and(u8::is_ascii_alphabetic);
        let length = name.saturating_add(2);
        let is_whole = rest.get(length.saturating_sub(1)) == Some(&b';');
        (is_name && is_whole && entity::first(rest).is_none()).then_some((at, length))
    })
}

/// A text as it may stay: one that was escaped is asked for, what stood there plainly was looked at before.
fn said<'t>(
    plain: &'t [u8],
    written: &[u8],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Cow<'t, [u8]>, Uncleanable> {
    if plain == written {
        return Ok(Cow::Borrowed(plain));
    }
    budget.spend(Resource::DecodedBytes, count(plain.len()))?;
    cleaning.text(plain, budget)
}
