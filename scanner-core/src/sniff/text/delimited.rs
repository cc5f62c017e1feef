//! CSV and TSV (RFC 4180 and what programs really write): records of fields, quoted or not, of a steady number.

/// Records looked at.
const RECORDS: usize = 200;

/// What the records of one delimiter look like.
#[derive(Debug, Default)]
struct Shape {
    records: usize,
    /// Records with as many fields as most have.
    steady: usize,
    fields: usize,
    cells: usize,
    numbers: usize,
    /// Cells of several words.
    wordy: usize,
    /// Cells that begin with a space, behind a delimiter.
    spaced: usize,
    /// Cells that end with a space.
    padded: usize,
    empty_first: usize,
    empty_last: usize,
    odd: usize,
}

/// Tables that are steady over several records: asked before programs are.
pub(super) fn strong(head: &[u8], whole: bool) -> Option<&'static str> {
    candidates(head, whole).find_map(|(label, shape)| {
        let enough = shape.records >= 3 && shape.fields >= 2 && shape.steady == shape.records;
        let plain = shape.numbers.saturating_mul(8) >= shape.cells || shape.fields >= 4;
        (enough && plain && shape.is_table() && shape.odd == 0).then_some(label)
    })
}

/// Tables that are short or ragged: asked when nothing else knows.
pub(super) fn weak(head: &[u8], whole: bool) -> Option<&'static str> {
    candidates(head, whole).find_map(|(label, shape)| {
        let steady = shape.records >= 2 && shape.steady.saturating_mul(10) >= shape.records.saturating_mul(9);
        // Ragged ones must hold numbers mostly, and no sentences.
        let ragged = shape.records >= 3
            && shape.numbers.saturating_mul(3) >= shape.cells
            && shape.wordy.saturating_mul(8) <= shape.cells
            && shape.spaced == 0;
        (shape.fields >= 2 && (steady || ragged) && shape.is_table()).then_some(label)
    })
}

fn candidates(head: &[u8], whole: bool) -> impl Iterator<Item = (&'static str, Shape)> {
    [(b'\t', "tsv"), (b',', "csv"), (b';', "csv"), (b'|', "csv")]
        .into_iter()
        .filter(|(delimiter, _)| memchr::memchr(*delimiter, head).is_some())
        .map(move |(delimiter, label)| (delimiter, label, measure(head, whole, delimiter)))
        // Bars with spaces around are drawn: tables for people, and progress.
        .filter(|(delimiter, _, shape)| *delimiter != b'|' || shape.padded == 0)
        .map(|(_, label, shape)| (label, shape))
}

impl Shape {
    fn is_table(&self) -> bool {
        let share = |part: usize, of: usize| part.saturating_mul(2) > of;
        // Sentences with commas, code that ends in semicolons, code indented by tabs.
        let spaced = share(self.spaced, self.cells.saturating_sub(self.records));
        let sentences = spaced && (self.numbers == 0 || share(self.wordy, self.cells));
        let statements = self.fields == 2 && share(self.empty_last, self.records);
        let indented = share(self.empty_first, self.records);
        let code = self.odd.saturating_mul(10) > self.records;
        !(sentences || statements || indented || code)
    }
}

fn measure(head: &[u8], whole: bool, delimiter: u8) -> Shape {
    let mut shape = Shape::default();
    let mut counts: Vec<usize> = Vec::new();
    let mut rest = head;
    while !rest.is_empty() && counts.len() < RECORDS {
        if rest.starts_with(b"#") && counts.is_empty() {
            rest = after_line(rest);
            continue;
        }
        let mut record = Record::default();
        let Some(after) = record.read(rest, delimiter, &mut shape) else {
            // The head ends inside the record.
            if whole {
                shape.odd = shape.odd.saturating_add(1);
            }
            break;
        };
        rest = after;
        if record.blank {
            continue;
        }
        counts.push(record.fields);
        shape.empty_first = shape.empty_first.saturating_add(usize::from(record.empty_first));
        shape.empty_last = shape.empty_last.saturating_add(usize::from(record.empty_last));
    }
    if !whole && counts.len() > 2 && counts.len() < RECORDS {
        counts.pop();
    }
    shape.records = counts.len();
    let mut sorted = counts.clone();
    sorted.sort_unstable();
    shape.fields = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    shape.steady = counts.iter().filter(|count| **count == shape.fields).count();
    shape
}

fn after_line(rest: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', rest).and_then(|end| rest.get(end.checked_add(1)?..)).unwrap_or_default()
}

#[derive(Debug, Default)]
struct Record {
    fields: usize,
    blank: bool,
    empty_first: bool,
    empty_last: bool,
}

impl Record {
    /// Reads one record; what follows it, or `None` inside quotes that do not end.
    fn read<'a>(&mut self, mut rest: &'a [u8], delimiter: u8, shape: &mut Shape) -> Option<&'a [u8]> {
        loop {
            let (cell, after) = cell(rest, delimiter)?;
            let (end, next) = match after.split_first() {
                Some((&byte, next)) if byte == delimiter => (false, next),
                Some((b'\r', next)) => (true, next.strip_prefix(b"\n").unwrap_or(next)),
                Some((_, next)) => (true, next),
                None => (true, after),
            };
            let first = self.fields == 0;
            self.fields = self.fields.saturating_add(1);
            let trimmed = cell.trim_ascii();
            if first && end && trimmed.is_empty() {
                self.blank = true;
                return Some(next);
            }
            self.empty_first |= first && trimmed.is_empty();
            self.empty_last = trimmed.is_empty();
            shape.cells = shape.cells.saturating_add(1);
            shape.numbers = shape.numbers.saturating_add(usize::from(is_number(trimmed)));
            let words = trimmed.iter().filter(|byte| **byte == b' ').count();
            shape.wordy = shape.wordy.saturating_add(usize::from(words >= 3));
            shape.spaced = shape.spaced.saturating_add(usize::from(!first && cell.first() == Some(&b' ')));
            shape.padded = shape.padded.saturating_add(usize::from(cell.last() == Some(&b' ')));
            // Braces at the end of a record are code.
            let code = end && matches!(trimmed.last(), Some(b'{' | b'}' | b'(')) && !trimmed.starts_with(b"{");
            shape.odd = shape.odd.saturating_add(usize::from(code));
            if end {
                return Some(next);
            }
            rest = next;
        }
    }
}

/// One field and what follows it.
fn cell(rest: &[u8], delimiter: u8) -> Option<(&[u8], &[u8])> {
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        let mut from = 0_usize;
        while let Some(quote) = memchr::memchr(b'"', quoted.get(from..)?) {
            let at = from.checked_add(quote)?;
            let after = quoted.get(at.checked_add(1)?..)?;
            match after.first() {
                Some(b'"') => from = at.checked_add(2)?,
                None | Some(b'\r' | b'\n') => return Some((quoted.get(..at)?, after)),
                Some(byte) if *byte == delimiter => return Some((quoted.get(..at)?, after)),
                Some(_) => break,
            }
        }
    }
    let end = rest.iter().position(|byte| *byte == delimiter || matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    rest.split_at_checked(end)
}

/// Numbers, dates, percentages, prices.
fn is_number(cell: &[u8]) -> bool {
    let digits = cell.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits > 0
        && digits.saturating_mul(2) >= cell.len()
        && cell.iter().all(|byte| byte.is_ascii_digit() || b"+-.,:/%eETZ $ ".contains(byte) || *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let got = strong(text.as_bytes(), true).or_else(|| weak(text.as_bytes(), true));
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn sentences_with_commas() {
        check("a,b are two letters, and c, d as well\n", None);
        check("Roses are red, violets are blue,\nSugar is sweet, and so are you.\n", None);
        check("Dear all,\n\nplease note, as always, the date.\n", None);
    }

    #[test]
    fn tables() {
        check("a,b\n1,2\n", Some("csv"));
        check("a,b,c\n1,2\n3,4,5,6\n", Some("csv"));
        check("# generated\nx,y\n1,2\n", Some("csv"));
        check("\"a\",\"b, c\"\n\"1\",\"3\n4\"\n", Some("csv"));
        check("id\tname\n1\ta\n", Some("tsv"));
        check("id;naam;bedrag\n1;a;3,5\n2;b;4,5\n", Some("csv"));
    }

    #[test]
    fn code_is_no_table() {
        check("all:\n\tcc -o a a.c\n\tstrip a\n", None);
        check("int a;\nint b;\nint c;\n", None);
    }
}
