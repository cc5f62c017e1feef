//! Every object of the file, reachable or not, of every revision: found by reading the file from front to end, not by
//! trusting its tables. What the tables point at elsewhere is read too.

use std::ops::Range;

use memchr::memmem::{self, Finder};

use super::{
    lex::{Lexer, Token, is_white},
    notes::Notes,
    object::{self, Broken, Dict, Object, Oddities},
    rules,
    xref::{Spot, Xref},
};
use crate::{
    finding::{Severity, Stop},
    limits::{Budget, Resource},
    reader::count,
};

mod elsewhere;
mod packed;

pub(super) use elsewhere::elsewhere;
pub(super) use packed::unpack;

/// Values of arrays and dictionaries for one unit of [`Resource::Objects`].
pub(super) const VALUES_PER_OBJECT: u64 = 16;
/// Bytes read for one step.
const BYTES_PER_STEP: usize = 2;
/// Bytes between objects that belong to nothing and that hide nothing.
const HARMLESS_STRAY: usize = 256;
/// Objects nobody names that are read again from other offsets may cost as much as the file, and this.
const SPARE_WASTE: usize = 1 << 20;

/// Number of what has none: object 0 is always free (§7.5.4).
pub(super) const UNNUMBERED: u32 = 0;

/// One numbered object.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) number: u32,
    pub(super) generation: i64,
    /// Where it stands in the file; of an object in a stream, where the stream stands.
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) object: Object<'a>,
    /// The bytes of its stream, packed.
    pub(super) stream: Option<Range<usize>>,
    /// It came out of an object stream.
    pub(super) is_packed: bool,
}

impl<'a> Item<'a> {
    pub(super) fn dict(&self) -> Option<&Dict<'a>> {
        self.object.dict()
    }
}

/// A file being read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) bytes: &'a [u8],
    /// Where `%PDF-` stands.
    pub(super) header: usize,
    pub(super) notes: Notes,
    pub(super) odd: Oddities,
    /// Bytes read more than once so far.
    pub(super) waste: usize,
    /// What is read came out of a stream that stands there: places in it are places of the stream.
    within: Option<Range<usize>>,
    /// No `endstream` stands from there on.
    no_stream_ends_from: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn of(bytes: &'a [u8], header: usize) -> Self {
        Self {
            bytes,
            header,
            notes: Notes::default(),
            odd: Oddities::default(),
            waste: 0,
            within: None,
            no_stream_ends_from: usize::MAX,
        }
    }

    /// Pays for bytes that are read a second time. There is an end to it, so that cost stays linear.
    pub(super) fn wasted(&mut self, bytes: usize, at: usize) -> Result<(), Stop> {
        self.waste = self.waste.saturating_add(bytes);
        if self.waste > self.bytes.len().saturating_mul(2).saturating_add(SPARE_WASTE) {
            return Err(Stop::malformed("too many damaged or overlapping objects to follow", count(at)));
        }
        Ok(())
    }
}

/// `n g obj` at that offset: number, generation, and where its value begins.
pub(super) fn header_at(bytes: &[u8], at: usize) -> Option<(u32, i64, usize)> {
    let mut lexer = Lexer::new(bytes, at);
    let (Token::Int(number), Token::Int(generation), Token::Word(word)) = (lexer.next(), lexer.next(), lexer.next())
    else {
        return None;
    };
    let number = u32::try_from(number).ok()?;
    // What follows may touch it.
    let glued = word.strip_prefix(b"obj")?;
    Some((number, generation, lexer.position().saturating_sub(glued.len())))
}

/// The numbers before a word `obj`, read backwards: where they begin.
fn numbers_before(bytes: &[u8], word: usize, floor: usize) -> Option<usize> {
    let before = bytes.get(floor..word)?;
    let white = |bytes: &[u8]| bytes.iter().rev().take_while(|byte| is_white(**byte)).count();
    let digits = |bytes: &[u8]| bytes.iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let mut left = before;
    for step in 0..2 {
        let blank = white(left);
        if blank == 0 && step == 1 {
            return None;
        }
        left = left.get(..left.len().saturating_sub(blank))?;
        let number = digits(left);
        if number == 0 {
            return None;
        }
        left = left.get(..left.len().saturating_sub(number))?;
    }
    Some(floor.saturating_add(left.len()))
}

/// One value where the lexer stands; oddities are noted.
pub(super) fn value<'a>(
    reading: &mut Reading<'a>,
    lexer: &mut Lexer<'a>,
    budget: &mut Budget,
) -> Result<Object<'a>, Stop> {
    let start = lexer.position();
    reading.odd.most = budget
        .left(Resource::Objects)
        .saturating_mul(VALUES_PER_OBJECT)
        .saturating_add(VALUES_PER_OBJECT.saturating_sub(1));
    reading.odd.values = 0;
    let (object, broken) = object::parse(lexer, &mut reading.odd);
    let span = reading.within.clone().unwrap_or(start..lexer.position());
    budget.spend(Resource::Objects, reading.odd.values.checked_div(VALUES_PER_OBJECT).unwrap_or(0))?;
    let odd = &mut reading.odd;
    if std::mem::take(&mut odd.has_ambiguous_dict) {
        reading.notes.add(&rules::STRUCTURE, span.clone(), "a dictionary has one key with two values");
    }
    if std::mem::take(&mut odd.has_zero_in_name) {
        reading.notes.add(&rules::STRUCTURE, span.clone(), "a name has a zero byte in it");
    }
    if std::mem::take(&mut odd.has_wrong_bracket) {
        reading.notes.add(&rules::STRUCTURE, span.clone(), "brackets do not pair up");
    }
    for name in std::mem::take(&mut odd.disguised) {
        let severity = if rules::ACTIVE_NAMES.contains(&&*name) { Severity::Medium } else { Severity::Info };
        let message = match severity {
            Severity::Info => "letters of a name are written as numbers",
            _ => "letters of a name that acts are written as numbers",
        };
        reading.notes.add_as(&rules::NAME_ESCAPE, severity, span.clone(), message);
    }
    match broken {
        None => {}
        Some(Broken::Many) => return Err(crate::limits::Exhausted(Resource::Objects).into()),
        Some(Broken::Deep) => {
            reading.notes.add(&rules::DEEP, span, "arrays or dictionaries are nested without end");
        }
        Some(Broken::Endless) => reading.notes.add(&rules::STRUCTURE, span, "a string has no end"),
        Some(Broken::Cut) => reading.notes.add(&rules::TRUNCATED, span, "the file ends in the middle of an object"),
        Some(Broken::Odd) => reading.notes.add(&rules::STRUCTURE, span, "an object is not closed"),
    }
    Ok(object)
}

/// An object whose header stands at that offset.
pub(super) fn item_at<'a>(
    reading: &mut Reading<'a>,
    start: usize,
    budget: &mut Budget,
) -> Result<Option<Item<'a>>, Stop> {
    let Some((number, generation, body)) = header_at(reading.bytes, start) else { return Ok(None) };
    item(reading, (number, generation), start..body, None, budget).map(Some)
}

fn item<'a>(
    reading: &mut Reading<'a>,
    (number, generation): (u32, i64),
    header: Range<usize>,
    xref: Option<&Xref<'_>>,
    budget: &mut Budget,
) -> Result<Item<'a>, Stop> {
    budget.spend(Resource::Objects, 1)?;
    let mut lexer = Lexer::new(reading.bytes, header.end);
    let object = value(reading, &mut lexer, budget)?;
    let mut item =
        Item { number, generation, at: header.start, end: lexer.position(), object, stream: None, is_packed: false };
    lexer.skip_white();
    if item.dict().is_some() && lexer.rest().starts_with(b"stream") {
        lexer.seek(lexer.position().saturating_add(6));
        let (stream, end) = stream(reading, &item, lexer.position(), xref);
        item.stream = Some(stream);
        lexer.seek(end);
        item.end = end;
        lexer.skip_white();
    }
    if lexer.rest().starts_with(b"endobj") {
        item.end = lexer.position().saturating_add(6);
    } else if lexer.rest().is_empty() {
        reading.notes.add(&rules::TRUNCATED, item.at..item.end, "the file ends in the middle of an object");
    } else {
        let message = "an object does not say where it ends";
        reading.notes.add_as(&rules::STRUCTURE, Severity::Low, item.at..item.end, message);
    }
    Ok(item)
}

/// The bytes of a stream, by its length if `endstream` stands there, else up to that word; and where it ends.
fn stream(
    reading: &mut Reading<'_>,
    item: &Item<'_>,
    keyword_end: usize,
    xref: Option<&Xref<'_>>,
) -> (Range<usize>, usize) {
    const END: &[u8] = b"endstream";
    let bytes = reading.bytes;
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    let line_end = match rest(keyword_end) {
        [b'\r', b'\n', ..] => 2,
        [b'\n' | b'\r', ..] => 1,
        _ => 0,
    };
    let start = keyword_end.saturating_add(line_end).min(bytes.len());
    let declared = item.dict().and_then(|dict| dict.get("Length"));
    let length = match declared {
        Some(Object::Ref(number)) => indirect_length(reading, *number, xref),
        Some(value) => value.int(),
        None => None,
    };
    if let Some(end) = length.and_then(|length| usize::try_from(length).ok()?.checked_add(start))
        && end <= bytes.len()
    {
        let window = bytes.get(..end.saturating_add(32)).unwrap_or(bytes);
        let mut lexer = Lexer::new(window, end);
        lexer.skip_blanks();
        if lexer.rest().starts_with(END) {
            return (start..end, lexer.position().saturating_add(END.len()));
        }
    }
    let is_known_endless = start >= reading.no_stream_ends_from;
    let found = if is_known_endless { None } else { memmem::find(rest(start), END) };
    let Some(found) = found else {
        reading.no_stream_ends_from = reading.no_stream_ends_from.min(start);
        reading.notes.add(&rules::TRUNCATED, item.at..start, "a stream has no end");
        // The first may have the rest of the file; what follows may still be objects.
        let end = if is_known_endless { start } else { bytes.len() };
        return (start..end, start);
    };
    // The length of an indirect object may come in an object stream: nothing is said about those.
    let is_lie = length.is_some() || !matches!(declared, Some(Object::Ref(_)));
    let end = start.saturating_add(found);
    if is_lie {
        reading.notes.add(&rules::STRUCTURE, item.at..start, "a stream is not as long as it says");
    }
    let data = bytes.get(start..end).unwrap_or_default();
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let data = data.strip_suffix(b"\r").unwrap_or(data);
    (start..start.saturating_add(data.len()), end.saturating_add(END.len()))
}

/// A length in an object of its own. Looked at in a short window: a long one is no length.
fn indirect_length(reading: &Reading<'_>, number: u32, xref: Option<&Xref<'_>>) -> Option<i64> {
    let Some(Spot::At(offset, _)) = xref?.spot(number) else { return None };
    [reading.header, 0].into_iter().find_map(|base| {
        let at = base.checked_add(offset)?;
        let window = reading.bytes.get(at..)?;
        let window = window.get(..64).unwrap_or(window);
        let (found, _, body) = header_at(window, 0)?;
        match (found == number, Lexer::new(window, body).next()) {
            (true, Token::Int(length)) => Some(length),
            _ => None,
        }
    })
}

/// What stands between objects.
#[derive(Debug, Default)]
pub(super) struct Between<'a> {
    /// Comments, where they stand.
    pub(super) comments: Vec<Range<usize>>,
    /// Trailers that stand there, in the order of the file. They have no number, but may hold anything.
    pub(super) trailers: Vec<Item<'a>>,
    /// The longest stretch that belongs to nothing.
    pub(super) stray: Range<usize>,
}

/// Reads all objects from front to end.
pub(super) fn scan<'a>(
    reading: &mut Reading<'a>,
    xref: &Xref<'a>,
    budget: &mut Budget,
) -> Result<(Vec<Item<'a>>, Between<'a>, Option<Stop>), Stop> {
    let bytes = reading.bytes;
    budget.spend(Resource::Steps, count(bytes.len().div_ceil(BYTES_PER_STEP)))?;
    let finder = Finder::new(b"obj");
    let mut items = Vec::new();
    let mut between = Between::default();
    // The header is a comment, but what follows it on its line is read by some.
    let header = reading.header.saturating_add(5).min(bytes.len());
    let (mut at, mut done) = (header, header);
    while let Some(found) = bytes.get(at..).and_then(|rest| finder.find(rest)) {
        let word = at.saturating_add(found);
        at = word.saturating_add(3);
        let Some(start) = numbers_before(bytes, word, done) else { continue };
        let Some((number, generation, body)) = header_at(bytes, start).filter(|(.., body)| *body == at) else {
            continue;
        };
        if let Err(stop) = aside(reading, done..start, &mut between, budget) {
            return Ok((items, between, Some(stop)));
        }
        let item = match item(reading, (number, generation), start..body, Some(xref), budget) {
            Ok(item) => item,
            Err(stop) => return Ok((items, between, Some(stop))),
        };
        // An object that ran to the end for want of a bracket may have swallowed others: they are looked for.
        let is_swallowing = item.end >= bytes.len();
        done = if is_swallowing { at } else { item.end.max(at) };
        if is_swallowing && let Err(stop) = reading.wasted(item.end.saturating_sub(at), start) {
            items.push(item);
            return Ok((items, between, Some(stop)));
        }
        at = done;
        items.push(item);
    }
    let rest = aside(reading, done..bytes.len(), &mut between, budget);
    Ok((items, between, rest.err()))
}

/// Looks through what stands between two objects.
fn aside<'a>(
    reading: &mut Reading<'a>,
    range: Range<usize>,
    between: &mut Between<'a>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    // Up to the end of the file's last part; what is behind that is looked at on its own.
    let Some(window) = reading.bytes.get(..range.end) else { return Ok(()) };
    let mut lexer = Lexer::new(window, range.start);
    let mut stray: Option<Range<usize>> = None;
    let mut strayed = 0_usize;
    loop {
        lexer.skip_blanks();
        let start = lexer.position();
        if lexer.rest().first() == Some(&b'%') {
            let line = memchr::memchr2(b'\n', b'\r', lexer.rest()).unwrap_or(lexer.rest().len());
            lexer.seek(start.saturating_add(line));
            if line > 8 {
                between.comments.push(start.saturating_add(1)..lexer.position());
            }
            continue;
        }
        match lexer.next() {
            Token::End => break,
            Token::Int(_) | Token::Real(_) | Token::Word(b"xref" | b"startxref" | b"n" | b"f" | b"endobj") => {}
            Token::Word(b"trailer") => {
                let object = value(reading, &mut lexer, budget)?;
                between.trailers.push(Item {
                    number: UNNUMBERED,
                    generation: 0,
                    at: start,
                    end: lexer.position(),
                    object,
                    stream: None,
                    is_packed: false,
                });
            }
            Token::Endless => {
                strayed = strayed.saturating_add(range.end.saturating_sub(start));
                stray.get_or_insert(start..start).end = range.end;
                break;
            }
            _ => {
                strayed = strayed.saturating_add(lexer.position().saturating_sub(start));
                stray.get_or_insert(start..start).end = lexer.position();
            }
        }
    }
    if let Some(stray) = stray.filter(|stray| strayed > HARMLESS_STRAY && stray.len() > between.stray.len()) {
        between.stray = stray;
    }
    Ok(())
}
