//! XML, event by event: no tree, no expansion, no recursion. A document type is an event that the caller judges
//! ([`doctype`]); entities of its own stay as they are written.
//!
//! What an event costs is paid with it. What is not well formed is a [`Fault`] with its offset: XML 1.0 lets no reader
//! go on, and two that do read two documents.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use crate::{
    finding::Stop,
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

pub(crate) mod doctype;
mod entity;
mod wide;

pub(crate) use doctype::Doctype;
pub(crate) use entity::decode;
pub(crate) use wide::utf8;

/// Elements within elements; libxml2 goes no deeper either.
const DEEPEST: usize = 256;
/// Attributes of one element.
const MOST_ATTRIBUTES: usize = 1_000;
/// Bytes of one name.
const LONGEST_NAME: usize = 1_024;
/// Attributes that are compared pair by pair; more are sorted.
const FEW_ATTRIBUTES: usize = 8;
/// Bytes of one step of ten nanoseconds.
const BYTES_PER_STEP: u64 = 8;
/// Attributes of a tag are looked up by their names several times; each byte of a longer one is a step more.
const SHORT_TAG: u64 = 64;
/// Steps of an event beside its bytes.
const STEPS_PER_EVENT: u64 = 4;

/// Why reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The budget does not cover the next event.
    Limit(Exhausted),
    /// It is not well formed.
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Offset in the bytes.
        at: u64,
    },
    /// Deeper than readers go: made to overflow their stacks.
    Deep {
        /// Offset in the bytes.
        at: u64,
    },
}

impl From<Exhausted> for Fault {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(exhausted)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Limit(exhausted) => exhausted.into(),
            Fault::Malformed { what, at } => Self::malformed(what, at),
            Fault::Deep { at } => Self::malformed("elements are nested deeper than readers go", at),
        }
    }
}

/// A name as it is written: `prefix:local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a>(pub(crate) &'a [u8]);

impl<'a> Name<'a> {
    /// What is behind the prefix: writers choose prefixes as they like.
    pub(crate) fn local(self) -> &'a [u8] {
        match memchr(b':', self.0) {
            Some(colon) => self.0.get(colon.saturating_add(1)..).unwrap_or_default(),
            None => self.0,
        }
    }

    /// The prefix; empty where there is none.
    pub(crate) fn prefix(self) -> &'a [u8] {
        memchr(b':', self.0).and_then(|colon| self.0.get(..colon)).unwrap_or_default()
    }
}

/// The start of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag<'a> {
    /// Its name.
    pub(crate) name: Name<'a>,
    /// Everything between the name and `>`, known to be well formed.
    attributes: &'a [u8],
}

impl<'a> Tag<'a> {
    /// Name without its prefix.
    pub(crate) fn local(&self) -> &'a [u8] {
        self.name.local()
    }

    /// Its attributes in order, declarations of namespaces among them.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let mut cursor = Cursor { bytes: self.attributes, at: 0 };
        std::iter::from_fn(move || cursor.attribute().ok().flatten())
    }

    /// The first attribute of that name, whatever its prefix.
    pub(crate) fn attribute(&self, local: &[u8]) -> Option<Attribute<'a>> {
        self.attributes().find(|attribute| attribute.name.local() == local && attribute.name.prefix() != b"xmlns")
    }

    /// The decoded value of the first attribute of that name, whatever its prefix.
    pub(crate) fn value(&self, local: &[u8]) -> Option<Cow<'a, [u8]>> {
        self.attribute(local).map(|attribute| attribute.value())
    }
}

/// One attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    /// Its name.
    pub(crate) name: Name<'a>,
    /// The value as written, without its quotes.
    pub(crate) raw: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// The value with character references undone.
    pub(crate) fn value(&self) -> Cow<'a, [u8]> {
        decode(self.raw)
    }
}

/// Characters between tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// As written.
    pub(crate) raw: &'a [u8],
    /// From a CDATA section: what is written is meant.
    pub(crate) is_literal: bool,
}

impl<'a> Text<'a> {
    /// The characters with references undone.
    pub(crate) fn value(&self) -> Cow<'a, [u8]> {
        if self.is_literal { Cow::Borrowed(self.raw) } else { decode(self.raw) }
    }
}

/// One thing that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'a> {
    /// An element begins. An empty one begins and ends.
    Start(Tag<'a>),
    /// An element ends.
    End(Name<'a>),
    /// Characters, never empty.
    Text(Text<'a>),
    /// A comment: what is between its marks.
    Comment(&'a [u8]),
    /// A processing instruction or the XML declaration: what is between its marks.
    Instruction(&'a [u8]),
    /// The document type.
    Doctype(Doctype<'a>),
}

/// The reader.
#[derive(Debug)]
pub(crate) struct Pull<'a> {
    cursor: Cursor<'a>,
    open: Vec<&'a [u8]>,
    /// The element that was written as empty, and still has to end.
    empty: Option<Name<'a>>,
    has_root: bool,
    names: Vec<&'a [u8]>,
}

impl<'a> Pull<'a> {
    /// A reader of UTF-8; see [`utf8`] for what may be something else.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { cursor: Cursor { bytes, at }, open: Vec::new(), empty: None, has_root: false, names: Vec::new() }
    }

    /// Where the next event begins.
    pub(crate) fn position(&self) -> usize {
        self.cursor.at
    }

    /// The next event; `None` behind the end of the document.
    ///
    /// # Errors
    /// [`Fault`]; asking again yields nothing new.
    pub(crate) fn next(&mut self, budget: &mut Budget) -> Result<Option<Event<'a>>, Fault> {
        if let Some(name) = self.empty.take() {
            self.open.pop();
            return Ok(Some(Event::End(name)));
        }
        let at = self.cursor.at;
        budget.spend(Resource::Steps, STEPS_PER_EVENT)?;
        let event = self.event();
        // At most one event of work is done before it is paid.
        let bytes = count(self.cursor.at.saturating_sub(at));
        let looked_up = if matches!(event, Ok(Some(Event::Start(_)))) { bytes.saturating_sub(SHORT_TAG) } else { 0 };
        budget.spend(Resource::Steps, bytes.div_ceil(BYTES_PER_STEP).saturating_add(looked_up))?;
        event
    }

    fn event(&mut self) -> Result<Option<Event<'a>>, Fault> {
        let rest = self.cursor.rest();
        let Some(first) = rest.first() else { return self.end() };
        if *first != b'<' {
            return self.text().map(Some);
        }
        match rest.get(1) {
            Some(b'/') => self.close().map(Some),
            Some(b'?') => {
                let inside = self.cursor.between(b"<?", b"?>", "an instruction does not end")?;
                Ok(Some(Event::Instruction(inside)))
            }
            Some(b'!') if rest.starts_with(b"<!--") => {
                let inside = self.cursor.between(b"<!--", b"-->", "a comment does not end")?;
                Ok(Some(Event::Comment(inside)))
            }
            Some(b'!') if rest.starts_with(b"<![CDATA[") => self.literal(),
            Some(b'!') if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!DOCTYPE")) => {
                let (doctype, length) = doctype::read(rest, self.cursor.at)?;
                self.cursor.skip(length);
                Ok(Some(Event::Doctype(doctype)))
            }
            Some(b'!') => Err(self.cursor.fault("this declaration has no place here")),
            Some(_) => self.start().map(Some),
            None => Err(self.cursor.fault("the document ends in a tag")),
        }
    }

    fn end(&self) -> Result<Option<Event<'a>>, Fault> {
        if !self.open.is_empty() {
            return Err(self.cursor.fault("the document ends inside an element"));
        }
        if !self.has_root {
            return Err(self.cursor.fault("there is no element"));
        }
        Ok(None)
    }

    fn text(&mut self) -> Result<Event<'a>, Fault> {
        let rest = self.cursor.rest();
        let length = memchr(b'<', rest).unwrap_or(rest.len());
        let raw = rest.get(..length).unwrap_or_default();
        // Zero bytes behind the end are what some writers fill a block with.
        if self.open.is_empty() && !raw.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0 && self.has_root) {
            return Err(self.cursor.fault("characters stand outside the document's element"));
        }
        self.cursor.skip(length);
        Ok(Event::Text(Text { raw, is_literal: false }))
    }

    fn literal(&mut self) -> Result<Option<Event<'a>>, Fault> {
        if self.open.is_empty() {
            return Err(self.cursor.fault("characters stand outside the document's element"));
        }
        let raw = self.cursor.between(b"<![CDATA[", b"]]>", "a CDATA section does not end")?;
        Ok(Some(Event::Text(Text { raw, is_literal: true })))
    }

    fn start(&mut self) -> Result<Event<'a>, Fault> {
        let at = self.cursor.at;
        if self.open.is_empty() && self.has_root {
            return Err(self.cursor.fault("a second element stands behind the document's"));
        }
        if self.open.len() >= DEEPEST {
            return Err(Fault::Deep { at: count(at) });
        }
        self.cursor.skip(1);
        let name = self.cursor.name()?;
        let from = self.cursor.at;
        self.names.clear();
        while let Some(attribute) = self.cursor.attribute()? {
            if self.names.len() >= MOST_ATTRIBUTES {
                return Err(self.cursor.fault("an element has more attributes than any format knows"));
            }
            self.names.push(attribute.name.0);
        }
        if has_double(&mut self.names) {
            return Err(Fault::Malformed { what: "an attribute is given twice", at: count(at) });
        }
        let attributes = self.cursor.bytes.get(from..self.cursor.at).unwrap_or_default();
        let is_empty = self.cursor.rest().starts_with(b"/");
        self.cursor.skip(usize::from(is_empty));
        if !self.cursor.rest().starts_with(b">") {
            return Err(self.cursor.fault("a tag does not end"));
        }
        self.cursor.skip(1);
        self.has_root = true;
        self.open.push(name);
        let name = Name(name);
        self.empty = is_empty.then_some(name);
        Ok(Event::Start(Tag { name, attributes }))
    }

    fn close(&mut self) -> Result<Event<'a>, Fault> {
        let at = self.cursor.at;
        self.cursor.skip(2);
        let name = self.cursor.name()?;
        self.cursor.blanks();
        if !self.cursor.rest().starts_with(b">") {
            return Err(self.cursor.fault("a tag does not end"));
        }
        self.cursor.skip(1);
        if self.open.pop() != Some(name) {
            return Err(Fault::Malformed { what: "an element ends that is not open", at: count(at) });
        }
        Ok(Event::End(Name(name)))
    }
}

/// Whether a name is there twice. Reorders the names.
fn has_double(names: &mut [&[u8]]) -> bool {
    if names.len() <= FEW_ATTRIBUTES {
        return names.iter().enumerate().any(|(at, name)| names.iter().take(at).any(|earlier| earlier == name));
    }
    names.sort_unstable();
    names.windows(2).any(|pair| pair.first() == pair.get(1))
}

/// A place in the bytes.
#[derive(Debug)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, length: usize) {
        self.at = self.at.saturating_add(length);
    }

    fn fault(&self, what: &'static str) -> Fault {
        Fault::Malformed { what, at: count(self.at) }
    }

    fn blanks(&mut self) -> bool {
        let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.skip(blanks);
        blanks > 0
    }

    /// What stands between two marks; the cursor goes behind the second.
    fn between(&mut self, open: &[u8], close: &[u8], what: &'static str) -> Result<&'a [u8], Fault> {
        let from = self.at.saturating_add(open.len());
        let inside = self.bytes.get(from..).unwrap_or_default();
        let Some(length) = memmem::find(inside, close) else { return Err(self.fault(what)) };
        self.at = from.saturating_add(length).saturating_add(close.len());
        Ok(inside.get(..length).unwrap_or_default())
    }

    /// A name: everything but what ends one. Which characters XML allows in it decides nothing here.
    fn name(&mut self) -> Result<&'a [u8], Fault> {
        let rest = self.rest();
        let rest = rest.get(..LONGEST_NAME.saturating_add(1)).unwrap_or(rest);
        let is_end = |byte: &u8| matches!(byte, b'>' | b'/' | b'=' | b'<' | b'"' | b'\'') || byte.is_ascii_whitespace();
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.fault("a name is missing"));
        }
        if length > LONGEST_NAME {
            return Err(self.fault("a name is longer than any format's"));
        }
        self.skip(length);
        Ok(rest.get(..length).unwrap_or_default())
    }

    /// The next attribute of a tag; `None` where the tag ends.
    fn attribute(&mut self) -> Result<Option<Attribute<'a>>, Fault> {
        let has_blank = self.blanks();
        if matches!(self.rest().first(), None | Some(b'>' | b'/')) {
            return Ok(None);
        }
        if !has_blank {
            return Err(self.fault("a blank is missing between attributes"));
        }
        let name = Name(self.name()?);
        self.blanks();
        if !self.rest().starts_with(b"=") {
            return Err(self.fault("an attribute has no value"));
        }
        self.skip(1);
        self.blanks();
        let Some(quote @ (b'"' | b'\'')) = self.rest().first() else {
            return Err(self.fault("the value of an attribute has no quotes"));
        };
        self.skip(1);
        let rest = self.rest();
        let Some(length) = memchr(*quote, rest) else {
            return Err(self.fault("the value of an attribute does not end"));
        };
        let raw = rest.get(..length).unwrap_or_default();
        if memchr(b'<', raw).is_some() {
            return Err(self.fault("a tag begins in the value of an attribute"));
        }
        self.skip(length.saturating_add(1));
        Ok(Some(Attribute { name, raw }))
    }
}

#[cfg(test)]
mod tests;
