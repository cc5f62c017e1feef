//! Whether the packed data yield exactly the picture: rows counted as they come, never kept.

use std::ops::Range;

use crate::{
    bundle::Source,
    finding::{Finding, Place, Rule, Stop},
    format::{Out, picture, qr},
    inflate::{Block, Inflate, Output},
    limits::{Budget, Exhausted},
    reader::{Reader, count},
};

use super::{
    Picture,
    header::{Header, Pass},
    rules,
    shades::Shades,
};

impl Picture<'_> {
    /// Compares the size of a picture or a frame with what its packed pixels yield.
    pub(super) fn judge(
        &mut self,
        header: &Header,
        at: &Range<usize>,
        pieces: &[Range<usize>],
        is_cut: bool,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) {
        let packed = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(count(piece.len())));
        let find = |rule: &'static Rule, from: u64, to: u64, message: String| {
            Finding::built_in(rule).at(from, to).place(Place::default().number("offset", from)).message(message)
        };
        // A size that the bytes cannot back is a lie, whatever the limits: nothing is spent on it.
        if !header.fits_in(packed) {
            let size = format!("{} × {} pixels from {packed} packed bytes", header.width, header.height);
            let (from, to) = (count(at.start), count(at.end));
            if header.size().is_gigantic() {
                out.find(find(&picture::DIMENSIONS, from, to, format!("the header promises {size}")));
            }
            if !is_cut {
                out.find(find(&picture::TRUNCATED, from, to, format!("{size}: most of the picture is missing")));
            }
            return;
        }
        // What was refused for one frame is not tried for the next.
        if self.is_refused {
            return;
        }
        let looked = header.size().pay(budget).and_then(|()| {
            let colours = self.bytes.get(self.colours.clone()).unwrap_or_default();
            let shades = Shades::of(header, colours, budget);
            let mut shades = shades.unwrap_or_else(|exhausted| {
                self.account.not_looked_through(exhausted);
                None
            });
            let outcome = check(header, self.bytes, pieces, shades.as_mut(), budget)?;
            let from = pieces.first().map_or(outcome.at, |piece| piece.start);
            let read = shades.map(|shades| qr::read(shades.into_grey(), from..outcome.at.max(from), out, budget));
            if let Some(Err(exhausted)) = read {
                self.account.not_looked_through(exhausted);
            }
            Ok(outcome)
        });
        let outcome = match looked {
            Ok(outcome) => outcome,
            Err(Exhausted(resource)) => {
                self.is_refused = true;
                let size = format!("{} × {} pixels", header.width, header.height);
                return self.account.refused(resource, format!("{size} are more than the limit on {resource} leaves"));
            }
        };
        let last = pieces.last().map_or(outcome.at, |piece| piece.end);
        let (from, to) = (count(outcome.at), count(last));
        if let Some(offset) = outcome.bad_filter {
            let from = pieces.first().map_or(from, |piece| count(piece.start));
            out.find(find(&rules::FILTER, from, to, format!("no such filter, {offset} bytes into the unpacked rows")));
        }
        match outcome.end {
            End::Complete | End::Excess(None) => self.left_over(outcome.at, pieces, out),
            End::Short(_) | End::Checksum | End::Corrupt if is_cut => {}
            End::Checksum => {
                out.find(find(&rules::ADLER, from, to, "the packed pixels do not end with their checksum".to_owned()));
            }
            End::Short(rows) => {
                let message = format!("{rows} of {} bytes of rows are there", header.unpacked_bytes());
                out.find(find(&picture::TRUNCATED, from, to, message));
            }
            End::Corrupt => self.account.not_read(Stop::malformed("the packed pixels are damaged", from)),
            End::Excess(Some(stop)) => self.account.not_read(stop),
        }
        if !outcome.excess.is_empty() {
            let message = format!("the packed data go on for {} bytes behind the last row", outcome.excess.len());
            let from = pieces.first().map_or(from, |piece| count(piece.start));
            out.find(find(&picture::EXCESS, from, to, message));
            out.child(Source::stored(outcome.excess), None);
        }
    }

    /// Bytes of the pixel chunks behind the end of the packed stream.
    fn left_over(&self, end: usize, pieces: &[Range<usize>], out: &mut Out<'_>) {
        for piece in pieces {
            let rest = piece.start.max(end)..piece.end;
            if !rest.is_empty() {
                let message = format!("{} bytes behind the packed pixels", rest.len());
                let finding = Finding::built_in(&picture::AFTER_PIXELS).at(count(rest.start), count(rest.end));
                out.find(finding.place(Place::default().name("chunk", "IDAT")).message(message));
                out.child(Source::stored(self.bytes.slice(rest)), None);
            }
        }
    }
}

/// What the packed data of a picture turned out to be.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The first row whose filter byte is none of the five, counted from zero.
    pub(super) bad_filter: Option<u64>,
    /// How the stream compares with the picture.
    pub(super) end: End,
    /// Where in the file the stream ended or broke.
    pub(super) at: usize,
    /// What came out behind the last row.
    excess: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum End {
    /// Exactly the rows, and the checksum is right.
    Complete,
    /// All the rows, but then no proper end.
    Checksum,
    /// The data ended before the last row; with the bytes that came.
    Short(u64),
    /// The stream breaks off.
    Corrupt,
    /// Something is left over when the rows are complete; a stop, if keeping it was stopped.
    Excess(Option<Stop>),
}

/// Unpacks the pieces of a stream and counts rows, for `shades` to look at if anybody wants them. Needs no memory but a
/// window; pays steps, and for excess only unpacked bytes.
pub(super) fn check(
    header: &Header,
    bytes: &[u8],
    pieces: &[Range<usize>],
    shades: Option<&mut Shades>,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let packed = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(count(piece.len())));
    let needed = header.unpacked_bytes();
    let mut rows = Rows::of(header.passes(), shades);
    let mut engine = Inflate::zlib();
    let mut excess = Output::of(packed);
    let mut at = pieces.first().map_or(0, |piece| piece.start);
    let mut end = End::Short(0);
    'pieces: for piece in pieces {
        let mut reader = Reader::new(bytes.get(piece.clone()).unwrap_or_default());
        loop {
            let block = engine.block(&mut reader, budget)?;
            at = piece.start.saturating_add(reader.position());
            match block {
                Block::Output(block) => {
                    let beyond = rows.take(block);
                    if !beyond.is_empty()
                        && let Err(stop) = excess.keep(beyond, budget)
                    {
                        end = End::Excess(Some(stop));
                        break 'pieces;
                    }
                }
                Block::Short => break,
                Block::End => {
                    end = if rows.seen < needed { End::Short(rows.seen) } else { End::Complete };
                    break 'pieces;
                }
                Block::Corrupt => {
                    end = if rows.seen < needed { End::Corrupt } else { End::Checksum };
                    break 'pieces;
                }
            }
        }
        // A stream that stops right behind the last row lacks its end and its checksum.
        end = if rows.seen < needed { End::Short(rows.seen) } else { End::Checksum };
    }
    let excess = excess.into_bytes();
    if !excess.is_empty() && !matches!(end, End::Excess(_)) {
        end = End::Excess(None);
    }
    Ok(Outcome { bad_filter: rows.bad_filter, end, at, excess })
}

/// Rows going by.
struct Rows<'a, P> {
    passes: P,
    pass: Pass,
    /// Bytes left of the current row, and its filter.
    left: u64,
    filter: u8,
    /// Rows begun in the pass.
    begun: u64,
    seen: u64,
    bad_filter: Option<u64>,
    shades: Option<&'a mut Shades>,
}

impl<'a, P: Iterator<Item = Pass>> Rows<'a, P> {
    fn of(passes: P, shades: Option<&'a mut Shades>) -> Self {
        Self { passes, pass: Pass::default(), left: 0, filter: 0, begun: 0, seen: 0, bad_filter: None, shades }
    }

    /// Counts a block; returns what is behind the last row.
    fn take<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let mut reader = Reader::new(block);
        loop {
            if self.left == 0 {
                if self.begun == self.pass.rows {
                    match self.passes.next() {
                        Some(pass) => (self.pass, self.begun) = (pass, 0),
                        None => return reader.rest(),
                    }
                    self.shades.iter_mut().for_each(|shades| shades.pass());
                }
                let Ok(filter) = reader.u8() else { return &[] };
                if filter > 4 && self.bad_filter.is_none() {
                    self.bad_filter = Some(self.seen);
                }
                self.filter = filter;
                self.begun = self.begun.saturating_add(1);
                self.left = self.pass.row_bytes;
                self.seen = self.seen.saturating_add(1);
            }
            let taken = self.left.min(count(reader.left()));
            let Ok(bytes) = reader.take(taken) else { return &[] };
            if bytes.is_empty() {
                return &[];
            }
            self.left = self.left.saturating_sub(taken);
            self.seen = self.seen.saturating_add(taken);
            if let Some(shades) = &mut self.shades {
                shades.take(bytes);
                if self.left == 0 {
                    shades.end(self.filter, &self.pass, self.begun.saturating_sub(1));
                }
            }
        }
    }
}
