//! One pass over a text of markup: each element judged, the nesting followed, what is seen and what is not told apart.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::{
    css::Sheet,
    dtd,
    element::{Element, acts},
    entity,
    judge::Judge,
    names::{KEYS, implied_ends, is_inline, is_unknown, is_void, key, seven_bit},
    pieces::Pieces,
    purpose::is_run,
    rules,
    sight::{self, Sight, Unseen},
    token::{Dialect, Tag, Token, Tokens},
};
use crate::{
    finding::{Rule, Severity, Stop},
    format::Out,
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

/// Bytes walked in one step, and those of a tag or a reference, which take longer.
const BYTES_PER_STEP: u64 = 2;
/// Nesting that browsers still follow; what is deeper is put beside.
const DEEP: usize = 512;
/// Nesting that breaks programs; what is deeper is not followed here either.
const DEEPEST: usize = 4096;

/// What looks on while a text is walked.
pub(in crate::format) trait Watch {
    /// A start tag, before it is pushed; `depth` elements are open.
    fn open(&mut self, _element: &Element<'_>, _depth: usize, _judge: &mut Judge<'_>, _out: &mut Out<'_>) {}
    /// The element that is now the innermost but `depth` is closed.
    fn close(&mut self, _depth: usize) {}
    /// A processing instruction.
    fn instruction(&mut self, _text: &[u8], _at: Range<usize>, _judge: &mut Judge<'_>, _out: &mut Out<'_>) {}
    /// Whether elements are those of a page or a picture, and not only data with brackets.
    fn is_shown(&self) -> bool {
        true
    }
}

/// Nobody looks on.
#[derive(Debug)]
pub(in crate::format) struct Nobody;

impl Watch for Nobody {}

/// What is told of a text that is not seen, and what it is called.
const UNSEEN: [(Unseen, &Rule, &str); 4] = [
    (Unseen::Style, &rules::HIDDEN_STYLE, "text not shown"),
    (Unseen::Size, &rules::HIDDEN_SIZE, "tiny text"),
    (Unseen::Away, &rules::HIDDEN_AWAY, "text outside of the page"),
    (Unseen::Colour, &rules::HIDDEN_COLOUR, "text in its background's colour"),
];

/// What the content of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Words.
    Words,
    /// A script that runs.
    Script,
    /// Data for a script.
    Data,
    Style,
    /// Characters that are markup to other programs.
    Characters,
}

/// An element that is open.
#[derive(Clone, Debug)]
struct Open {
    name: Range<usize>,
    key: usize,
    content: Content,
    is_foreign: bool,
    sight: Sight,
}

/// The walk over one text.
#[derive(Debug)]
pub(in crate::format) struct Walk<'a> {
    text: &'a [u8],
    dialect: Dialect,
    sheet: Sheet,
    stack: Vec<Open>,
    /// How many of each key are open.
    open: Vec<u32>,
    /// Elements beyond [`DEEPEST`].
    excess: u64,
    /// Where the nesting became too deep, first by a little, then by far.
    deep: [Option<usize>; 2],
    /// End tags that close nothing, or not the innermost: where the first is, and how many.
    pub(in crate::format) mismatched: Option<(usize, u64)>,
    /// Where the text ended in the middle of something.
    pub(in crate::format) cut_at: Option<usize>,
    /// Elements still open at the end.
    pub(in crate::format) left_open: usize,
    /// Elements at the top.
    pub(in crate::format) roots: u64,
    seen: Pieces,
    unseen: [Pieces; 4],
    comments: Pieces,
    markup: Pieces,
}

impl<'a> Walk<'a> {
    pub(in crate::format) fn of(view: &'a TextView, dialect: Dialect) -> Self {
        Self {
            text: &view.text,
            dialect,
            sheet: Sheet::default(),
            stack: Vec::new(),
            open: vec![0; KEYS],
            excess: 0,
            deep: [None, None],
            mismatched: None,
            cut_at: None,
            left_open: 0,
            roots: 0,
            seen: Pieces::default(),
            unseen: Default::default(),
            comments: Pieces::default(),
            markup: Pieces::default(),
        }
    }

    /// Walks to the end, then hands out the texts that were put together.
    pub(in crate::format) fn run(
        &mut self,
        view: &TextView,
        judge: &mut Judge<'_>,
        watch: &mut dyn Watch,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        budget.spend(Resource::Steps, count(self.text.len()).div_ceil(BYTES_PER_STEP))?;
        self.sheet = sight::sheet(self.text);
        let walked = self.walk(judge, watch, out, budget);
        self.left_open = self.stack.len();
        for (at, severity) in self.deep.into_iter().zip([Severity::Medium, Severity::High]).rev() {
            if let Some(at) = at {
                let message =
                    format!("elements nested deeper than {}", if severity == Severity::High { DEEPEST } else { DEEP });
                judge.tell_as(&rules::NESTING, severity, at..at, &message, out);
                break;
            }
        }
        self.encodings(judge, out);
        judge.finish(out);
        let part = |pieces: &mut Pieces, name| std::mem::take(pieces).into_view(view, name);
        out.texts.extend(part(&mut self.seen, "text"));
        for (pieces, (_, rule, name)) in self.unseen.iter_mut().zip(UNSEEN) {
            out.texts.extend(part(pieces, name).map(|view| view.hidden(rule)));
        }
        out.texts.extend(part(&mut self.comments, "comments").map(|view| view.hidden(&rules::HIDDEN_COMMENT)));
        out.texts.extend(part(&mut self.markup, "tags and scripts"));
        walked
    }

    fn walk(
        &mut self,
        judge: &mut Judge<'_>,
        watch: &mut dyn Watch,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let text = self.text;
        let mut tokens = Tokens::of(text, self.dialect);
        while let Some(token) = tokens.next() {
            match token {
                Token::Text(range) => self.words(range, true, judge, out, budget)?,
                Token::Raw(range) => self.words(range, false, judge, out, budget)?,
                Token::Open(tag) => {
                    let element = Element::read(text, &tag, &tokens);
                    if watch.is_shown() {
                        judge.element(&element, out, budget)?;
                    } else if element.attributes > 0 {
                        judge.data(&element, out);
                    }
                    watch.open(&element, self.stack.len(), judge, out);
                    self.opened(&tag, &element, watch, budget)?;
                }
                Token::Close(name) => self.closed(&name, watch),
                Token::Comment(range) => {
                    let inside = text.get(range.clone()).unwrap_or_default();
                    if inside.starts_with(b"[if") && acts(inside) {
                        judge.tell_as(
                            &rules::BURIED,
                            Severity::Low,
                            range.clone(),
                            "for browsers of the past alone",
                            out,
                        );
                    }
                    // To a program that takes the element before it for raw content, the comment never began.
                    let is_doubtful = tokens.is_foreign || tokens.cut_at.is_some() && self.dialect == Dialect::Html;
                    if is_doubtful && (acts(inside) || acts(&entity::decoded(inside))) {
                        judge.tell(&rules::BURIED, range.clone(), "active markup in what is no comment to others", out);
                    }
                    self.comments.part(b'\n');
                    self.comments.push(text, range, budget)?;
                }
                Token::Doctype(range) => {
                    dtd::judge(text, &range, judge, out);
                    self.markup.part(b'\n');
                    self.markup.push(text, range, budget)?;
                }
                Token::Instruction(range) => {
                    watch.instruction(text, range.clone(), judge, out);
                    self.markup.part(b'\n');
                    self.markup.push(text, range, budget)?;
                }
            }
            tokens.is_foreign = self.stack.last().is_some_and(|open| open.is_foreign);
        }
        self.cut_at = tokens.cut_at;
        Ok(())
    }

    /// Characters, by what the innermost element makes of them.
    fn words(
        &mut self,
        range: Range<usize>,
        is_decoded: bool,
        judge: &mut Judge<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let text = self.text;
        let bytes = text.get(range.clone()).unwrap_or_default();
        let (content, unseen, is_foreign) = self
            .stack
            .last()
            .map_or((Content::Words, None, false), |open| (open.content, open.sight.unseen, open.is_foreign));
        let is_coded = !matches!(content, Content::Words);
        if is_coded {
            match content {
                Content::Script => judge.script(bytes, range.clone(), out),
                Content::Style => judge.style(bytes, range.clone(), out, budget)?,
                _ => {}
            }
            // In SVG and MathML, and to programs that read no raw content, this is markup.
            let is_markup = matches!(content, Content::Style | Content::Characters) || is_foreign;
            if is_markup && !is_decoded && content != Content::Script && acts(bytes) {
                judge.tell(&rules::BURIED, range.clone(), "active markup where characters are expected", out);
            }
            self.markup.part(b'\n');
            return self.markup.push(text, range, budget);
        }
        let pieces = match unseen.and_then(|unseen| UNSEEN.iter().position(|(known, ..)| *known == unseen)) {
            Some(at) => self.unseen.get_mut(at),
            None => Some(&mut self.seen),
        };
        let Some(pieces) = pieces else { return Ok(()) };
        if bytes.trim_ascii().is_empty() {
            pieces.part(if memchr(b'\n', bytes).is_some() { b'\n' } else { b' ' });
            return Ok(());
        }
        if is_decoded { pieces.decode(text, range, budget) } else { pieces.push(text, range, budget) }
    }

    fn opened(
        &mut self,
        tag: &Tag,
        element: &Element<'_>,
        watch: &mut dyn Watch,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if tag.attributes > 0 || is_unknown(&element.name) {
            self.markup.part(b'\n');
            self.markup.push(self.text, tag.whole.clone(), budget)?;
        }
        let is_html = self.dialect == Dialect::Html;
        if is_html {
            self.implied(&element.name, watch);
        }
        // In a drawing a piece of a text goes on where the last one ended, but for what says its own place.
        let places: [&[u8]; 4] = [b"x", b"y", b"dx", b"dy"];
        let goes_on = || element.is(&[b"tspan"]) && places.iter().all(|name| element.value(name).is_none());
        if self.dialect == Dialect::Html && !is_inline(&element.name) || self.dialect == Dialect::Xml && !goes_on() {
            let separator = if element.is(&[b"td", b"th"]) { b'\t' } else { b'\n' };
            self.seen.part(separator);
            self.unseen.iter_mut().for_each(|pieces| pieces.part(separator));
        }
        let outer = self.stack.last();
        let is_foreign_outside = outer.is_some_and(|open| open.is_foreign && open.key != key(b"foreignobject"));
        if self.stack.is_empty() {
            self.roots = self.roots.saturating_add(1);
        }
        let ends_here = if is_html {
            is_void(&element.name) || (tag.closes_itself && is_foreign_outside)
        } else {
            tag.closes_itself
        };
        // An svg or math element that closes itself has no content to be foreign.
        let is_root = is_html && element.is(&[b"svg", b"math"]);
        if ends_here || (is_root && tag.closes_itself) {
            watch.close(self.stack.len());
            return Ok(());
        }
        if self.stack.len() >= DEEP {
            let slot = usize::from(self.stack.len() >= DEEPEST);
            if let Some(deep) = self.deep.get_mut(slot) {
                deep.get_or_insert(tag.whole.start);
            }
        }
        if self.stack.len() >= DEEPEST {
            self.excess = self.excess.saturating_add(1);
            return Ok(());
        }
        let outer = self.stack.last().map_or(Sight::default(), |open| open.sight);
        let sight = outer.within(sight::look(&self.sheet, self.dialect, element));
        let is_foreign = is_html && (is_root || is_foreign_outside);
        let content = match &*element.name {
            b"script" if is_run(element) && watch.is_shown() => Content::Script,
            b"script" if is_html => Content::Data,
            b"style" if watch.is_shown() => Content::Style,
            b"xmp" | b"iframe" | b"noembed" | b"noframes" if is_html => Content::Characters,
            _ => Content::Words,
        };
        let key = key(&element.name);
        if let Some(open) = self.open.get_mut(key) {
            *open = open.saturating_add(1);
        }
        self.stack.push(Open { name: tag.name.clone(), key, content, is_foreign, sight });
        Ok(())
    }

    /// Ends what a start tag of that name ends without saying so (HTML 13.1.2.4).
    fn implied(&mut self, name: &[u8], watch: &mut dyn Watch) {
        let ends = implied_ends(name);
        // A paragraph, a cell, its row and their group.
        for _ in 0..4 {
            let Some(last) = self.stack.last() else { return };
            if !ends.iter().any(|end| key(end) == last.key) {
                return;
            }
            self.pop(watch);
        }
    }

    fn closed(&mut self, name: &Range<usize>, watch: &mut dyn Watch) {
        let own = self.text.get(name.clone()).unwrap_or_default();
        let local = super::element::local(own).to_ascii_lowercase();
        if !is_inline(&local) {
            self.seen.part(b'\n');
        }
        if self.excess > 0 {
            self.excess = self.excess.saturating_sub(1);
            return;
        }
        let key = key(&local);
        let is_innermost = self.stack.last().is_some_and(|open| self.text.get(open.name.clone()) == Some(own));
        if !is_innermost {
            let (_, times) = self.mismatched.get_or_insert((name.start, 0));
            *times = times.saturating_add(1);
        }
        if self.open.get(key).copied().unwrap_or(0) == 0 {
            return;
        }
        while let Some(last) = self.stack.last().map(|open| open.key) {
            self.pop(watch);
            if last == key {
                return;
            }
        }
    }

    fn pop(&mut self, watch: &mut dyn Watch) {
        let Some(last) = self.stack.pop() else { return };
        if let Some(open) = self.open.get_mut(last.key) {
            *open = open.saturating_sub(1);
        }
        watch.close(self.stack.len());
    }

    /// UTF-7, in which `+ADw-` is a bracket, and the shifts of ISO-2022.
    fn encodings(&self, judge: &mut Judge<'_>, out: &mut Out<'_>) {
        if let Some(first) = acts_in_utf7(self.text) {
            let end = first.saturating_add(5).min(self.text.len());
            judge.tell(&rules::BURIED, first..end, "a script written in UTF-7", out);
        }
    }
}

/// Where the first bracket stands of what is active to who reads it as UTF-7.
pub(in crate::format) fn acts_in_utf7(text: &[u8]) -> Option<usize> {
    memmem::find(text, b"+ADw").filter(|first| acts(&seven_bit(text.get(*first..).unwrap_or_default())))
}
