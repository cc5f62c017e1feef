//! XML with things taken out: edits by span over what is written, so that everything else keeps its bytes. No tree.
//! Comments and instructions go always: no format keeps anything in them.

use std::{borrow::Cow, ops::Range};

use crate::{
    finding::Stop,
    format::{
        cleaning::{Cleaning, Uncleanable},
        pull::{Event, Name, Pull, Tag},
    },
    limits::{Budget, Resource},
    reader::count,
};

/// Shorter texts hold nothing that has to go.
const SHORTEST: usize = 6;
/// Digits of the shortest number that is somebody's: of a card.
const DIGITS_OF_CARD: usize = 12;
/// Elements whose texts are read together, and those in them that hold the texts: a word may change its look in the
/// middle.
const PARAGRAPHS: [&[u8]; 4] = [b"p", b"h", b"si", b"is"];
const TEXTS: [&[u8]; 6] = [b"t", b"delText", b"p", b"h", b"span", b"a"];
/// Bytes of a paragraph that are read together.
const LONGEST_PARAGRAPH: usize = 1 << 20;

/// What becomes of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    /// It goes, and all that is in it.
    Drop,
    /// Its tags go, what is in it stays.
    Unwrap,
    /// The nearest element of that name around it goes; where there is none, it goes itself.
    DropAround(&'static [u8]),
    /// Attributes, by their whole names, get another value or go.
    Change(Vec<(Vec<u8>, Option<Vec<u8>>)>),
}

/// Decides what goes from one part.
pub(crate) trait Editor {
    /// An element begins.
    fn start(&mut self, tag: &Tag<'_>) -> Fate;
    /// Characters, references undone.
    fn text(&mut self, text: &[u8]);
    /// An element ends that stood there. More may go now.
    fn end(&mut self, name: Name<'_>, span: Range<usize>, edits: &mut Edits);
    /// Whether a text may be replaced by another.
    fn is_text(&self) -> bool {
        true
    }
}

/// What is to be replaced by what.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, Vec<u8>)>);

impl Edits {
    pub(crate) fn drop(&mut self, span: Range<usize>) {
        self.0.push((span, Vec::new()));
    }

    fn put(&mut self, span: Range<usize>, text: Vec<u8>) {
        self.0.push((span, text));
    }

    /// The text with all edits made. Of two that overlap the one that begins first, or is longer, is made.
    fn apply(mut self, source: &[u8]) -> Vec<u8> {
        self.0.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let mut out = Vec::with_capacity(source.len());
        let mut at = 0;
        for (span, text) in self.0 {
            if span.start < at {
                continue;
            }
            out.extend_from_slice(source.get(at..span.start).unwrap_or_default());
            out.extend_from_slice(&text);
            at = span.end;
        }
        out.extend_from_slice(source.get(at..).unwrap_or_default());
        out
    }
}

/// An element that is open.
struct Open {
    name: Vec<u8>,
    start: usize,
    is_dropped: bool,
    is_unwrapped: bool,
}

/// Texts that are read together.
#[derive(Default)]
struct Paragraph {
    depth: usize,
    nodes: Vec<(Range<usize>, Range<usize>)>,
    text: Vec<u8>,
}

/// Edits one part; `None` where nothing changes.
///
/// # Errors
/// When it is no XML, or its texts may not be kept.
pub(crate) fn edit(
    source: &[u8],
    editor: &mut dyn Editor,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Uncleanable> {
    let mut work = Work { source, edits: Edits::default(), open: Vec::new(), dropped: 0, paragraphs: Vec::new() };
    let mut pull = Pull::new(source);
    loop {
        let start = pull.position();
        let Some(event) = pull.next(budget).map_err(Stop::from)? else { break };
        let span = start..pull.position();
        match event {
            Event::Start(tag) => work.start(&tag, span, editor, cleaning, budget)?,
            Event::End(name) => work.end(name, span, editor, cleaning, budget)?,
            Event::Text(text) if work.dropped == 0 => {
                let value = text.value();
                editor.text(&value);
                work.text(&value, span, editor, cleaning, budget)?;
            }
            Event::Text(_) => {}
            Event::Instruction(inside) if inside.starts_with(b"xml ") => {}
            Event::Comment(_) | Event::Instruction(_) => work.edits.drop(span),
            Event::Doctype(_) => return Err("a part of it has a document type".into()),
        }
    }
    if work.edits.0.is_empty() {
        return Ok(None);
    }
    budget
        .spend(Resource::Steps, count(source.len() / 8).saturating_add(count(work.edits.0.len()).saturating_mul(20)))?;
    Ok(Some(work.edits.apply(source)))
}

struct Work<'a> {
    source: &'a [u8],
    edits: Edits,
    open: Vec<Open>,
    /// Elements that are open and go.
    dropped: usize,
    paragraphs: Vec<Paragraph>,
}

impl Work<'_> {
    fn start(
        &mut self,
        tag: &Tag<'_>,
        span: Range<usize>,
        editor: &mut dyn Editor,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let fate = if self.dropped > 0 { Fate::Keep } else { editor.start(tag) };
        let mut open = Open { name: tag.local().to_vec(), start: span.start, is_dropped: false, is_unwrapped: false };
        match fate {
            Fate::Keep => {}
            Fate::Drop => open.is_dropped = true,
            Fate::Unwrap => {
                open.is_unwrapped = true;
                self.edits.drop(span.clone());
            }
            Fate::DropAround(name) => match self.open.iter_mut().rev().find(|open| open.name == name) {
                Some(around) => {
                    self.dropped = self.dropped.saturating_add(usize::from(!around.is_dropped));
                    around.is_dropped = true;
                }
                None => open.is_dropped = true,
            },
            Fate::Change(changes) => return self.change(tag, span, open, changes, cleaning, budget),
        }
        if self.dropped == 0 && !open.is_dropped && !open.is_unwrapped {
            return self.change(tag, span, open, Vec::new(), cleaning, budget);
        }
        self.push(open);
        Ok(())
    }

    fn push(&mut self, open: Open) {
        self.dropped = self.dropped.saturating_add(usize::from(open.is_dropped));
        let depth = self.open.len();
        if self.dropped == 0 && PARAGRAPHS.contains(&open.name.as_slice()) {
            self.paragraphs.push(Paragraph { depth, ..Paragraph::default() });
        }
        self.open.push(open);
    }

    /// Attributes that change, by decision or because of what they say.
    fn change(
        &mut self,
        tag: &Tag<'_>,
        span: Range<usize>,
        open: Open,
        mut changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        for attribute in tag.attributes().filter(super::is_words) {
            let value = attribute.value();
            if let Cow::Owned(washed) = cleaning.text(&value, budget)? {
                changes.push((attribute.name.0.to_vec(), Some(washed)));
            }
        }
        self.push(open);
        if changes.is_empty() {
            return Ok(());
        }
        // Each attribute is looked for among the changes.
        let attributes = count(tag.attributes().count());
        budget.spend(Resource::Steps, attributes.saturating_mul(count(changes.len())))?;
        let mut out = vec![b'<'];
        out.extend_from_slice(tag.name.0);
        for attribute in tag.attributes() {
            let change = changes.iter().find(|(name, _)| *name == attribute.name.0).map(|(_, value)| value);
            let value = match change {
                Some(None) => continue,
                Some(Some(value)) => escaped(value),
                None => attribute.raw.to_vec(),
            };
            let quote = if value.contains(&b'"') { b'\'' } else { b'"' };
            out.push(b' ');
            out.extend_from_slice(attribute.name.0);
            out.extend_from_slice(&[b'=', quote]);
            out.extend_from_slice(&value);
            out.push(quote);
        }
        let is_empty = self.source.get(span.clone()).is_some_and(|tag| tag.ends_with(b"/>"));
        out.extend_from_slice(if is_empty { b"/>" } else { b">" });
        self.edits.put(span, out);
        Ok(())
    }

    fn end(
        &mut self,
        name: Name<'_>,
        span: Range<usize>,
        editor: &mut dyn Editor,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        if self.paragraphs.last().is_some_and(|paragraph| paragraph.depth == self.open.len())
            && let Some(paragraph) = self.paragraphs.pop()
            && self.dropped == 0
        {
            self.wash(paragraph, cleaning, budget)?;
        }
        if open.is_dropped {
            self.dropped = self.dropped.saturating_sub(1);
            self.edits.drop(open.start..span.end);
        } else if open.is_unwrapped {
            self.edits.drop(span.clone());
        }
        if self.dropped == 0 && !open.is_dropped {
            editor.end(name, open.start..span.end, &mut self.edits);
        }
        Ok(())
    }

    fn text(
        &mut self,
        value: &[u8],
        span: Range<usize>,
        editor: &dyn Editor,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let is_of_paragraph = self.open.last().is_some_and(|open| TEXTS.contains(&open.name.as_slice()));
        if let Some(paragraph) = self.paragraphs.last_mut().filter(|_| is_of_paragraph)
            && paragraph.text.len().saturating_add(value.len()) <= LONGEST_PARAGRAPH
        {
            let from = paragraph.text.len();
            paragraph.text.extend_from_slice(value);
            paragraph.nodes.push((span, from..paragraph.text.len()));
            return Ok(());
        }
        if !is_worth_reading(value) {
            return Ok(());
        }
        if let Cow::Owned(washed) = cleaning.text(value, budget)? {
            if !editor.is_text() {
                return Err("a number or formula that must not leave cannot be replaced by words".into());
            }
            self.edits.put(span, escaped(&washed));
        }
        Ok(())
    }

    /// Texts read together: what changes is put where it begins, and is taken out of the texts behind.
    fn wash(
        &mut self,
        paragraph: Paragraph,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let old = paragraph.text.as_slice();
        if !is_worth_reading(old) {
            return Ok(());
        }
        let Cow::Owned(new) = cleaning.text(old, budget)? else { return Ok(()) };
        let is_inside = |at: usize| old.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let mut before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        while is_inside(before) {
            before = before.saturating_sub(1);
        }
        let most = old.len().min(new.len()).saturating_sub(before);
        let mut behind = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        while is_inside(old.len().saturating_sub(behind)) {
            behind = behind.saturating_sub(1);
        }
        let changed = before..old.len().saturating_sub(behind);
        let mut middle = Some(new.get(before..new.len().saturating_sub(behind)).unwrap_or_default());
        for (span, piece) in paragraph.nodes {
            // What is only put in between belongs to the text that it stands behind.
            let is_touched = if changed.is_empty() {
                middle.is_some() && piece.start <= changed.start && changed.start <= piece.end
            } else {
                piece.start < changed.end && piece.end > changed.start
            };
            if !is_touched {
                continue;
            }
            let head = old.get(piece.start..changed.start.max(piece.start)).unwrap_or_default();
            let tail = old.get(changed.end.min(piece.end).max(piece.start)..piece.end).unwrap_or_default();
            let text = [head, middle.take().unwrap_or_default(), tail].concat();
            self.edits.put(span, escaped(&text));
        }
        Ok(())
    }
}

/// Whether a text may hold anything that has to go: words, or a number as long as that of a card.
fn is_worth_reading(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.len() >= SHORTEST
        && (text.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
            || text.iter().filter(|byte| byte.is_ascii_digit()).count() >= DIGITS_OF_CARD)
}

/// Written so that it is read as these characters.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            other => out.push(*other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{format::cleaning::testing::Plain, limits::Limits};

    /// Drops `gone`, unwraps `link`, takes attribute `act`, and `row` where `bad` stands in it.
    struct Sample;

    impl Editor for Sample {
        fn start(&mut self, tag: &Tag<'_>) -> Fate {
            match tag.local() {
                b"gone" => Fate::Drop,
                b"link" => Fate::Unwrap,
                b"bad" => Fate::DropAround(b"row"),
                _ if tag.attribute(b"act").is_some() => Fate::Change(vec![(b"act".to_vec(), None)]),
                _ => Fate::Keep,
            }
        }

        fn text(&mut self, _: &[u8]) {}

        fn end(&mut self, name: Name<'_>, span: Range<usize>, edits: &mut Edits) {
            if name.local() == b"late" {
                edits.drop(span);
            }
        }

        fn is_text(&self) -> bool {
            true
        }
    }

    fn edited(source: &str) -> String {
        let mut washer = Plain;
        let mut cleaning = Cleaning::new(&mut washer, &[]);
        let mut budget = Budget::new(Limits::default());
        let new = edit(source.as_bytes(), &mut Sample, &mut cleaning, &mut budget).unwrap();
        new.map_or_else(|| source.to_owned(), |new| String::from_utf8(new).unwrap())
    }

    #[test]
    fn what_goes_goes_and_the_rest_keeps_its_bytes() {
        for (source, expected) in [
            ("<?xml version='1.0'?><a  b = 'c' >x &amp; y</a >", "<?xml version='1.0'?><a  b = 'c' >x &amp; y</a >"),
            ("<a>1<gone>2<b/></gone>3<gone/></a>", "<a>13</a>"),
            ("<a><link x='1'>in</link><link/></a>", "<a>in</a>"),
            ("<a><row><b/>x<bad/><gone/></row><row/><bad/></a>", "<a><row/></a>"),
            ("<a><late>x<gone/></late></a>", "<a></a>"),
            ("<a><!-- c --><?mso x?></a>", "<a></a>"),
            ("<a act='x' b='\"'>t</a>", "<a b='\"'>t</a>"),
            ("<a b='it is SECRET &amp; \"'/>", "<a b=\"it is [secret] &amp; &quot;\"/>"),
            ("<a>a SECRET &lt;</a>", "<a>a [secret] &lt;</a>"),
        ] {
            assert_eq!(edited(source), expected, "{source}");
            assert_eq!(edited(expected), expected, "twice: {source}");
        }
    }

    #[test]
    fn texts_of_a_paragraph_are_read_together() {
        for (source, expected) in [
            ("<p><t>a SEC</t><x/><t>R</t><t>ET b</t></p>", "<p><t>a [secret]</t><x/><t></t><t> b</t></p>"),
            ("<p><t>one </t><t>SECRET</t><t> two</t></p>", "<p><t>one </t><t>[secret]</t><t> two</t></p>"),
            (
                "<p><t>ü SEC</t><p><t>other</t></p><t>RET ü</t></p>",
                "<p><t>ü [secret]</t><p><t>other</t></p><t> ü</t></p>",
            ),
            ("<a><p><t>SEC</t></p><p><t>RET</t></p></a>", "<a><p><t>SEC</t></p><p><t>RET</t></p></a>"),
            ("<p><t>SEC</t><gone>xx</gone><t>RET</t></p>", "<p><t>[secret]</t><t></t></p>"),
        ] {
            assert_eq!(edited(source), expected, "{source}");
        }
    }

    #[test]
    fn a_document_type_is_refused() {
        let mut washer = Plain;
        let mut cleaning = Cleaning::new(&mut washer, &[]);
        let source = b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>";
        assert!(edit(source, &mut Sample, &mut cleaning, &mut Budget::new(Limits::default())).is_err());
        assert!(edit(b"<a>", &mut Sample, &mut cleaning, &mut Budget::new(Limits::default())).is_err());
    }
}
