//! SQLite databases: the header, the list of free pages, the rows, and every text that stands in none of them: rows that
//! were deleted.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span, Stop},
    format::{Format, Out, Subject, strings},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::{OffsetMap, TextView},
};

mod rows;

use rows::{Rows, Walk};

pub(crate) const FORMAT: Format = Format {
    name: "sqlite",
    labels: &["sqlite"],
    inspect,
    clean: None,
    rules: &[&HEADER, &TRUNCATED, &PAGES, &CODE, &TRAILING],
};

const fn medium(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

static HEADER: Rule = medium(
    "sqlite/header",
    "malformed.structure",
    RuleText {
        title: "The header of the database says what cannot be",
        why: "SQLite refuses such a file; other readers follow its numbers past the end of a page.",
        remedy: "Have the database written again.",
    },
);

static TRUNCATED: Rule = medium(
    "sqlite/truncated",
    "malformed.truncated",
    RuleText {
        title: "The database is shorter than its header says",
        why: "Pages are missing: tables end early or cannot be read.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

static PAGES: Rule = medium(
    "sqlite/pages",
    "malformed.structure",
    RuleText {
        title: "Pages of the database that lead nowhere or in a circle",
        why: "A reader that follows them never ends, or reads what was never a page.",
        remedy: "Have the database written again.",
    },
);

static CODE: Rule = medium(
    "sqlite/code-in-schema",
    "script.sql",
    RuleText {
        title: "A view or trigger that reaches out of the database",
        why: "It calls a function that loads code or touches files, and runs when somebody reads or changes a table.",
        remedy: "Open it with `trusted_schema` off, or ask for the tables as plain text.",
    },
);

static TRAILING: Rule = medium(
    "sqlite/trailing-data",
    "type.trailing_data",
    RuleText {
        title: "Something stands behind the last page of the database",
        why: "SQLite never looks there: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the last page before it is passed on.",
    },
);

/// Functions that load code or touch files (sqlite.org, "Run-time loadable extensions", the shell's own functions, and
/// "Using SQLite securely").
const REACHING: [&str; 5] = ["load_extension", "writefile", "readfile", "fts3_tokenizer", "edit("];

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let total = count(bytes.len());
    let header = Header::read(&mut Reader::new(bytes))?;
    let odd = |out: &mut Out<'_>, rule: &'static Rule, at: u64, message: &str| {
        let place = Place::default().number("offset", at);
        out.find(Finding::built_in(rule).at(at, at.saturating_add(4)).place(place).message(message));
    };
    let page = match header.page {
        1 => 65_536,
        size if size >= 512 && size.is_power_of_two() => u64::from(size),
        size => {
            odd(out, &HEADER, 16, &format!("pages of {size} bytes"));
            strings::read(bytes, 0..bytes.len(), out, budget)?;
            return Ok(());
        }
    };
    if !header.is_sound() {
        odd(out, &HEADER, 18, "a field of the header has a value that the format does not know");
    }
    // The number of pages counts only when the file was last written by a program that keeps it.
    let pages = if header.is_counted() { u64::from(header.pages) } else { total.div_ceil(page) };
    let size = pages.saturating_mul(page);
    if total < size {
        let message = format!("{pages} pages of {page} bytes are announced, {total} bytes are there");
        odd(out, &TRUNCATED, 28, &message);
    }
    let first = bytes.get(100).copied();
    if first.is_some_and(|kind| !matches!(kind, 2 | 5 | 10 | 13)) && pages > 0 {
        odd(out, &PAGES, 100, "the first page is no page of a table");
    }
    if let Err(what) = free_pages(bytes, &header, page, pages, budget)? {
        odd(out, &PAGES, 32, what);
    }
    let end = usize::try_from(size).unwrap_or(usize::MAX).min(bytes.len());
    let has_code = texts(&bytes.slice(..end), &header, page, out, budget)?;
    if has_code || out.texts.iter().any(|view| String::from_utf8_lossy(&view.text).lines().any(reaches_out)) {
        odd(out, &CODE, 100, &CODE.title);
    }
    let rest = bytes.slice(end..);
    // Some writers set space aside.
    if rest.iter().any(|byte| *byte != 0) {
        let message = format!("{} bytes behind the last page", rest.len());
        out.find(Finding::built_in(&TRAILING).at(size, total).message(message));
        out.child(Source::stored(rest), None);
    }
    Ok(())
}

/// Pages whose rows are read together: a finding in them has no closer place.
const BLOCK: usize = 64 * 1024;

/// Reads the rows of every page, then what stands between them. Whether a statement in a row reaches out.
fn texts(bytes: &Bytes, header: &Header, page: u64, out: &mut Out<'_>, budget: &mut Budget) -> Result<bool, Stop> {
    let step = usize::try_from(page).unwrap_or(usize::MAX);
    let mut walk = Walk::of(bytes, header, page);
    let mut rest = bytes.to_vec();
    let mut rows = Rows::default();
    let mut outcome = Ok(());
    let (mut from, mut start) = (0, 0_usize);
    while outcome.is_ok() && start < bytes.len() {
        outcome = budget.spend(Resource::Steps, 2).and_then(|()| walk.read(start, &mut rest, &mut rows, budget));
        start = start.saturating_add(step);
        if start.saturating_sub(from) >= BLOCK || start >= bytes.len() || outcome.is_err() {
            let text = std::mem::take(&mut rows.text);
            if !text.is_empty() {
                let map = OffsetMap::Within(Span { start: count(from), end: count(start.min(bytes.len())) });
                let place = Place::default().number("offset", count(from));
                out.read(TextView::decoded(text.into(), map, Vec::new()).place(place));
            }
            from = start;
        }
    }
    outcome?;
    strings::read(&rest.into(), 0..bytes.len(), out, budget)?;
    Ok(rows.has_code)
}

/// Whether the statement of a view or trigger calls what it should not.
fn reaches_out(statement: &str) -> bool {
    let begin = ["CREATE TRIGGER", "CREATE VIEW", "CREATE TEMP"].iter().find_map(|word| statement.find(word));
    begin
        .and_then(|at| statement.get(at..))
        .is_some_and(|statement| REACHING.iter().any(|word| statement.contains(word)))
}

/// What the header says (sqlite.org, "Database file format", section 1.3).
struct Header {
    page: u16,
    versions: [u8; 2],
    fractions: [u8; 3],
    changes: u32,
    pages: u32,
    free_trunk: u32,
    free_pages: u32,
    schema_format: u32,
    encoding: u32,
    valid_for: u32,
}

impl Header {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Stop> {
        reader.seek(16)?;
        let page = reader.u16_be()?;
        let versions = reader.array()?;
        reader.u8()?;
        let fractions = reader.array()?;
        let (changes, pages, free_trunk, free_pages) =
            (reader.u32_be()?, reader.u32_be()?, reader.u32_be()?, reader.u32_be()?);
        reader.seek(44)?;
        let schema_format = reader.u32_be()?;
        reader.seek(56)?;
        let encoding = reader.u32_be()?;
        reader.seek(92)?;
        let valid_for = reader.u32_be()?;
        Ok(Self {
            page,
            versions,
            fractions,
            changes,
            pages,
            free_trunk,
            free_pages,
            schema_format,
            encoding,
            valid_for,
        })
    }

    fn is_sound(&self) -> bool {
        self.versions.iter().all(|version| matches!(version, 1 | 2))
            && self.fractions == [64, 32, 32]
            && self.schema_format <= 4
            && self.encoding <= 3
    }

    fn is_counted(&self) -> bool {
        self.pages > 0 && self.changes == self.valid_for
    }
}

/// Follows the list of free pages: each of its pages names the next, and free ones.
fn free_pages(
    bytes: &[u8],
    header: &Header,
    page: u64,
    pages: u64,
    budget: &mut Budget,
) -> Result<Result<(), &'static str>, Stop> {
    if u64::from(header.free_pages) > pages {
        return Ok(Err("more free pages than there are pages"));
    }
    let mut seen = BTreeSet::new();
    let mut next = header.free_trunk;
    while next != 0 {
        budget.spend(Resource::Steps, 20)?;
        if u64::from(next) > pages {
            return Ok(Err("a free page that is not there"));
        }
        if !seen.insert(next) {
            return Ok(Err("the list of free pages runs in a circle"));
        }
        let mut reader = Reader::new(bytes);
        let at = u64::from(next).saturating_sub(1).saturating_mul(page);
        // Where the file is cut that is told already.
        if reader.seek(at).is_err() {
            break;
        }
        let (Ok(following), Ok(leaves)) = (reader.u32_be(), reader.u32_be()) else { break };
        if u64::from(leaves) > page.div_euclid(4) {
            return Ok(Err("a page of the list names more pages than it has room for"));
        }
        next = following;
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    /// A database of empty pages.
    fn database(page: u16, pages: u32) -> Vec<u8> {
        let mut bytes = vec![0; usize::from(page) * usize::try_from(pages).expect("few")];
        bytes[..16].copy_from_slice(b"SQLite format 3\0");
        bytes[16..18].copy_from_slice(&page.to_be_bytes());
        bytes[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
        bytes[27] = 2;
        bytes[28..32].copy_from_slice(&pages.to_be_bytes());
        bytes[47] = 4;
        bytes[59] = 1;
        bytes[95] = 2;
        bytes[100] = 13;
        bytes
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Vec<u8>), want: &[&str]) {
        let mut bytes = database(512, 3);
        change(&mut bytes);
        let facts = look(&FORMAT, "sqlite", &bytes).facts();
        let facts: Vec<String> =
            facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(facts, want);
    }

    #[test]
    fn headers_and_pages() {
        check(|_| {}, &[]);
        check(|bytes| bytes[17] = 3, &["medium malformed.structure"]);
        check(|bytes| bytes[18] = 9, &["medium malformed.structure"]);
        check(|bytes| bytes.truncate(1000), &["medium malformed.truncated"]);
        check(|bytes| bytes.truncate(50), &["gap malformed"]);
        check(|bytes| bytes[100] = 0, &["medium malformed.structure"]);
        check(|bytes| bytes.extend([0; 512]), &[]);
        check(|bytes| bytes.extend(b"MZ"), &["medium type.trailing_data"]);
        check(|bytes| bytes[35] = 9, &["medium malformed.structure"]);
        check(|bytes| bytes[39] = 9, &["medium malformed.structure"]);
        // The list of free pages begins at page two, which names itself.
        check(|bytes| (bytes[35], bytes[515]) = (2, 2), &["medium malformed.structure"]);
        check(|bytes| (bytes[35], bytes[518]) = (2, 2), &["medium malformed.structure"]);
    }

    #[test]
    fn texts_are_read_and_code_in_the_schema_is_told() {
        check(|bytes| bytes[300..330].copy_from_slice(b"CREATE VIEW v AS SELECT 1 FROM"), &[]);
        check(
            |bytes| bytes[300..343].copy_from_slice(b"CREATE VIEW v AS SELECT load_extension('x')"),
            &["medium script.sql"],
        );
        let mut bytes = database(512, 2);
        bytes[900..911].copy_from_slice(b"hidden here");
        assert_eq!(look(&FORMAT, "sqlite", &bytes).texts(), ["SQLite format 3\nhidden here"]);
    }
}
