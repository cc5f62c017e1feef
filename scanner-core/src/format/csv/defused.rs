//! A table in which no cell is computed: an apostrophe before each formula (OWASP, "CSV Injection"), zero bytes and orders
//! to a terminal taken out. Every other byte stays.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::{memchr, memchr_iter};

use super::{Cells, formula, is_colour, separator};
use crate::{
    format::{
        Subject,
        cleaning::{Cleaning, Uncleanable},
        text,
    },
    limits::{Budget, Resource},
    reader::count,
};

/// Bytes walked in one step.
const BYTES_PER_STEP: u64 = 1;
/// An apostrophe near the beginning may change which separator is told by it; more often than that no table does.
const ROUNDS: usize = 4;
/// An order to a terminal is looked for its end that far; what is longer is left as the letters it is.
const ORDER_LONGEST: usize = 4096;

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let bytes = text::narrowed(subject.bytes, cleaning, budget)?;
    let mut table = calmed(&bytes, cleaning, budget)?;
    for _ in 0..ROUNDS {
        let Some(defused) = defused(subject.kind.label, &table, cleaning, budget)? else {
            return Ok(match table {
                Cow::Borrowed(_) => bytes.clone(),
                Cow::Owned(table) => table.into(),
            });
        };
        table = Cow::Owned(defused);
    }
    Err("which byte separates the cells cannot be told".into())
}

/// The table without zero bytes and orders to a terminal; colours stay.
fn calmed<'t>(table: &'t [u8], cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Cow<'t, [u8]>, Uncleanable> {
    budget.spend(Resource::Steps, count(table.len()).div_ceil(BYTES_PER_STEP))?;
    if super::escape(table).is_none() && memchr(0, table).is_none() {
        return Ok(Cow::Borrowed(table));
    }
    budget.spend(Resource::DecodedBytes, count(table.len()))?;
    let mut plain = Vec::with_capacity(table.len());
    // Zero bytes first: one in the middle of an order would hide it.
    plain.extend(table.iter().copied().filter(|byte| *byte != 0));
    if plain.len() < table.len() {
        cleaning.did("removed zero bytes");
    }
    let plain = text::narrow(plain.into())?;
    let mut calm = Vec::with_capacity(plain.len());
    let mut rest: &[u8] = &plain;
    while let Some(at) = memchr(0x1b, rest) {
        calm.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        if is_colour(rest) {
            calm.push(0x1b);
        } else {
            cleaning.did("removed an order to a terminal");
            rest = rest.get(order(rest)..).unwrap_or_default();
        }
    }
    calm.extend_from_slice(rest);
    // What stood behind an order may begin the file now.
    Ok(Cow::Owned(text::narrow(calm.into())?.into()))
}

/// How long the order is that follows an escape (ECMA-48, 5.4 and 5.6), within its line.
fn order(rest: &[u8]) -> usize {
    let line = memchr(b'\n', rest).unwrap_or(rest.len()).min(ORDER_LONGEST);
    let line = rest.get(..line).unwrap_or_default();
    match line.first() {
        Some(b'[') => {
            let inside = line.iter().skip(1).take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            let is_ended = line.get(inside.saturating_add(1)).is_some_and(|byte| matches!(byte, 0x40..=0x7e));
            inside.saturating_add(1).saturating_add(usize::from(is_ended))
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let bell = memchr(7, line).map(|at| at.saturating_add(1));
            let closed = memchr_iter(0x1b, line)
                .find(|at| line.get(at.saturating_add(1)) == Some(&b'\\'))
                .map(|at| at.saturating_add(2));
            bell.into_iter().chain(closed).min().unwrap_or(1)
        }
        Some(0x40..=0x7e) => 1,
        _ => 0,
    }
}

/// The table with an apostrophe where a formula begins; `None` when there is none.
fn defused(
    label: &str,
    table: &[u8],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Uncleanable> {
    budget.spend(Resource::Steps, count(table.len()).div_ceil(BYTES_PER_STEP))?;
    let mark = if table.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let cells = table.get(mark..).unwrap_or_default();
    let separator = separator(label, cells);
    let mut out = Vec::new();
    let mut done = 0_usize;
    for cell in Cells::of(cells, separator) {
        let start = usize::try_from(cell.start).unwrap_or(usize::MAX).saturating_add(mark);
        for place in formula::places(cell.value, separator) {
            let at = start.saturating_add(place);
            let passed = table.get(done..at).unwrap_or_default();
            budget.spend(Resource::DecodedBytes, count(passed.len()).saturating_add(1))?;
            out.extend_from_slice(passed);
            out.push(b'\'');
            cleaning.did("defused a formula");
            done = at;
        }
    }
    if out.is_empty() {
        return Ok(None);
    }
    let rest = table.get(done..).unwrap_or_default();
    budget.spend(Resource::DecodedBytes, count(rest.len()))?;
    out.extend_from_slice(rest);
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::{
            cleaning::testing::{self, clean_once},
            csv::FORMAT,
            testing::look,
        },
        limits::Limits,
    };

    #[track_caller]
    fn cleaned(label: &'static str, table: &str) -> String {
        let (bytes, _) = testing::clean(&FORMAT, label, table.as_bytes()).unwrap();
        assert_eq!(look(&FORMAT, label, &bytes).facts(), Vec::<String>::new(), "{table}");
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn formulas_are_marked_where_they_begin() {
        for (table, expected) in [
            ("a,b\n=1+1,x\n", "a,b\n'=1+1,x\n"),
            ("a,b\r\nx,\"=HYPERLINK(\"\"http://x\"\")\"\r\n", "a,b\r\nx,\"'=HYPERLINK(\"\"http://x\"\")\"\r\n"),
            ("a;b\n1;@SUM(1+1)*cmd|' /C x'!A0\n", "a;b\n1;'@SUM(1+1)*cmd|' /C x'!A0\n"),
            ("a,b\nx;=cmd|'/C x'!A0,1\n", "a,b\nx;'=cmd|'/C x'!A0,1\n"),
            ("\u{feff}=1+1,b\n", "\u{feff}'=1+1,b\n"),
            ("a,\"b\n=1+1\n", "a,\"b\n'=1+1\n"),
            ("\"=1+1", "\"'=1+1"),
            ("a,b\n1, =1+1\n", "a,b\n1,' =1+1\n"),
        ] {
            assert_eq!(cleaned("csv", table), expected);
        }
        assert_eq!(cleaned("tsv", "a\tb\n1\t=1+1\n"), "a\tb\n1\t'=1+1\n");
    }

    #[test]
    fn data_stays_byte_for_byte() {
        let table =
            "\u{feff}a;b;c\r\n-1.5;+3;-1e-9\r\n+49 30 1234-5678;@alice;\"- item \"\"one\"\"\"\r\n\u{1b}[31mred;-;=>\r";
        let (bytes, actions) = testing::clean(&FORMAT, "csv", table.as_bytes()).unwrap();
        assert_eq!(bytes, table.as_bytes());
        assert!(actions.is_empty());
    }

    #[test]
    fn zeros_and_orders_go() {
        assert_eq!(cleaned("csv", "a,b\n1,\0=1\0+1\n"), "a,b\n1,'=1+1\n");
        assert_eq!(
            cleaned("csv", "a,b\n\u{1b}]8;;http://x\u{7}y\u{1b}[2J\u{1b}[31mz,\u{1b}\u{1b}]0;q\n"),
            "a,b\ny\u{1b}[31mz,0;q\n"
        );
        assert_eq!(cleaned("csv", "a,b\n\u{1b}\0[2J,1\n"), "a,b\n,1\n");
        // What is left would be read as UTF-16.
        assert!(clean_once(&FORMAT, "csv", b"\x1b[2J\xfe\xffa,b\n1,2\n", Limits::default()).is_err());
    }

    #[test]
    fn wide_letters_are_written_again() {
        let bytes: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("\u{e9},=1+1\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let (bytes, _) = testing::clean(&FORMAT, "csv", &bytes).unwrap();
        assert_eq!(bytes, "\u{feff}\u{e9},'=1+1\n".as_bytes());
    }

    #[test]
    fn the_limit_holds() {
        let table = b"a,b\n=1+1,2\n";
        let limits = |steps| Limits::default().with(Resource::Steps, steps);
        assert!(clean_once(&FORMAT, "csv", table, limits(34)).is_ok());
        assert_eq!(
            clean_once(&FORMAT, "csv", table, limits(33)).unwrap_err().0,
            "the limit on steps was reached while cleaning"
        );
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_table_nothing_is_left_to_compute(table in "[=+@\\-a-zA-Z0-9\"',;\t|!()\\n\r \\x1b\\x00\\[\\]]{0,80}") {
            let Ok((bytes, _)) = testing::clean(&FORMAT, "csv", table.as_bytes()) else { return Ok(()) };
            assert_eq!(
                look(&FORMAT, "csv", &bytes).facts().iter().filter(|fact| !fact.starts_with("info ")).collect::<Vec<_>>(),
                Vec::<&String>::new(),
                "{table:?}"
            );
        }
    }
}
