//! Whether the text of a cell is a formula, or only looks like one: negative numbers, handles, dashes and arrows are
//! ordinary data.

/// What a spreadsheet program would make of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    /// It computes.
    Computed,
    /// It starts a program: dynamic data exchange.
    Command,
}

/// A formula may not be longer (Excel: 8,192 characters).
const LONGEST: usize = 8 * 1024;

/// Functions that reach outside the table, whatever is before them and whatever they are given.
const REACHING: [&[u8]; 17] = [
    b"HYPERLINK",
    b"WEBSERVICE",
    b"FILTERXML",
    b"IMPORTXML",
    b"IMPORTDATA",
    b"IMPORTHTML",
    b"IMPORTFEED",
    b"IMPORTRANGE",
    b"IMAGE",
    b"RTD",
    b"CALL",
    b"REGISTER",
    b"REGISTER.ID",
    b"EXEC",
    b"INDIRECT",
    b"SQL.REQUEST",
    b"DDE",
];

/// Functions by which an old `@` formula is told from a handle or an annotation.
const COMMON: [&[u8]; 22] = [
    b"SUM",
    b"AVERAGE",
    b"AVG",
    b"COUNT",
    b"COUNTA",
    b"MIN",
    b"MAX",
    b"ABS",
    b"INT",
    b"ROUND",
    b"IF",
    b"IFERROR",
    b"NOW",
    b"TODAY",
    b"RAND",
    b"CHAR",
    b"CONCAT",
    b"CONCATENATE",
    b"TEXT",
    b"VLOOKUP",
    b"INDEX",
    b"CELL",
];

/// What the cell is, if it is a formula. `separator` is the table's own; a reader with another may split elsewhere.
pub(super) fn judge(value: &[u8], separator: u8) -> Option<Formula> {
    if let Some(found) = begin(value).and_then(|(sign, rest)| formula(sign, rest.get(..LONGEST).unwrap_or(rest))) {
        return Some(found);
    }
    elsewhere(value, separator).next().map(|(_, found)| found)
}

/// Offsets in a cell at which a formula begins, to this reader or to one with another separator.
pub(super) fn places(value: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let own = begin(value).and_then(|(sign, rest)| formula(sign, rest.get(..LONGEST).unwrap_or(rest)));
    own.map(|_| 0).into_iter().chain(elsewhere(value, separator).map(|(at, _)| at))
}

/// Formulas behind what another program may read as the table's separators: semicolons or tabs.
fn elsewhere(value: &[u8], separator: u8) -> impl Iterator<Item = (usize, Formula)> {
    let mut next = 0_usize;
    let parts = value.split(move |byte| matches!(byte, b',' | b';' | b'\t') && *byte != separator).map(move |part| {
        let at = next;
        next = at.saturating_add(part.len()).saturating_add(1);
        (at, part)
    });
    parts.skip(1).filter_map(|(at, part)| {
        let (_, rest) = begin(part)?;
        strong(rest.get(..LONGEST).unwrap_or(rest)).map(|found| (at, found))
    })
}

/// The sign that begins a formula, and what follows. Blanks, tabs, line ends and a left-over quote before it do not
/// hinder; full-width forms count.
fn begin(value: &[u8]) -> Option<(u8, &[u8])> {
    let value = match value.first()? {
        b'=' | b'+' | b'-' | b'@' => value,
        b' ' | b'\t' | b'\r' | b'\n' | b'"' | 0xef => {
            let value = value.trim_ascii_start();
            let value = value.strip_prefix(b"\xef\xbb\xbf").or_else(|| value.strip_prefix(b"\"")).unwrap_or(value);
            value.trim_ascii_start()
        }
        _ => return None,
    };
    match value {
        [sign @ (b'=' | b'+' | b'-' | b'@'), rest @ ..] => Some((*sign, rest)),
        [0xef, 0xbc, 0x9d, rest @ ..] => Some((b'=', rest)),
        [0xef, 0xbc, 0x8b, rest @ ..] => Some((b'+', rest)),
        [0xef, 0xbc, 0x8d, rest @ ..] => Some((b'-', rest)),
        [0xef, 0xbc, 0xa0, rest @ ..] => Some((b'@', rest)),
        _ => None,
    }
}

fn formula(sign: u8, rest: &[u8]) -> Option<Formula> {
    strong(rest).or_else(|| {
        let is_formula = match sign {
            b'=' => is_expression(rest),
            b'@' => calls(rest).next().is_some_and(|(name, start, _)| start == 0 && COMMON.contains(&name)),
            _ => is_sum(rest) || calls(rest).any(|(name, _, given)| is_function(name) && begins_operand(given)),
        };
        is_formula.then_some(Formula::Computed)
    })
}

/// What is a formula under any sign.
fn strong(rest: &[u8]) -> Option<Formula> {
    if is_command(rest) {
        return Some(Formula::Command);
    }
    let mut found = None;
    for (name, _, _) in calls(rest) {
        let name = name.to_ascii_uppercase();
        if name == b"DDE" || name == b"DDEAUTO" {
            return Some(Formula::Command);
        }
        if REACHING.contains(&&*name) {
            found = Some(Formula::Computed);
        }
    }
    found
}

/// `program|'what'!item`: a name, a bar, and behind it a quoted text or an exclamation mark.
fn is_command(rest: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', rest) else { return false };
    let before = rest.get(..bar).and_then(<[u8]>::last);
    let behind = rest.get(bar..).unwrap_or_default();
    before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'\'' | b'"' | b'_' | b' '))
        && (behind.starts_with(b"|'") || memchr::memchr(b'!', behind).is_some())
}

/// Names directly before an opening bracket, where they begin, and what is behind the bracket.
fn calls(rest: &[u8]) -> impl Iterator<Item = (&[u8], usize, &[u8])> {
    memchr::memchr_iter(b'(', rest).filter_map(|bracket| {
        let before = rest.get(..bracket)?;
        // No function has a longer name.
        let nearest = before.len().saturating_sub(32);
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
        let near = before.get(nearest..)?;
        let length = near.iter().rev().take_while(|byte| is_of_name(byte)).count();
        let start = before.len().checked_sub(length)?;
        let name = before.get(start..)?;
        name.first()?.is_ascii_alphabetic().then_some(())?;
        Some((name, start, rest.get(bracket.checked_add(1)?..)?))
    })
}

/// Behind `=`: something to compute, and not prose that begins with the sign (`= equal to`, `=>`, `=====`, `=)`).
fn is_expression(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii();
    let Some(first) = rest.first() else { return false };
    let begins = first.is_ascii_alphanumeric()
        || *first >= 0x80
        || matches!(first, b'"' | b'\'' | b'(' | b'+' | b'-' | b'@' | b'$' | b'.' | b'{' | b'\\' | b'_');
    let is_prose = rest.contains(&b' ')
        && !rest.iter().any(|byte| matches!(byte, b'(' | b'|' | b'!' | b'+' | b'*' | b'/' | b'^' | b'&' | b'"'));
    let says_something = rest.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    begins && says_something && !is_prose
}

/// Behind `+` or `-`: numbers and cells joined by signs of arithmetic, with something to compute. A number, a phone
/// number, a date, a range or a complex number is none.
fn is_sum(rest: &[u8]) -> bool {
    let mut parts = rest.split(|byte| matches!(byte, b'+' | b'*' | b'^')).peekable();
    let is_operand = |part: &[u8]| !part.is_empty() && (is_cell(part) || part.iter().all(u8::is_ascii_digit));
    // A single cell or number behind the sign is a code or a number.
    parts.next().is_some_and(is_operand) && parts.peek().is_some() && parts.all(is_operand)
}

/// A1 to XFD1048576.
fn is_cell(part: &[u8]) -> bool {
    let letters = part.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let digits = part.get(letters..).unwrap_or_default();
    (1..=3).contains(&letters) && (1..=7).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// Written as functions are: in capitals. `-log10(p)` is a heading.
fn is_function(name: &[u8]) -> bool {
    name.len() > 1 && !name.iter().any(u8::is_ascii_lowercase)
}

/// Something a function can be given: a number, a cell, a text, another function.
fn begins_operand(given: &[u8]) -> bool {
    let given = given.trim_ascii_start();
    match given.first() {
        Some(b'"' | b')' | b'$') => true,
        Some(byte) if byte.is_ascii_digit() => true,
        Some(_) => {
            let name = given.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            is_cell(given.get(..name).unwrap_or_default()) || given.get(name) == Some(&b'(')
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_formula() {
        for value in [
            "=1+1",
            " =1+1",
            "\t=1+1",
            "\r=1+1",
            "\"=1+1",
            "＝1+1",
            "=A1",
            "=SUM(A1:A9)",
            "=-A1",
            "=(1)",
            "=\"x\"&A1",
            "='S 1'!A1",
            "= SUM(A1 A2)",
            "+SUM(A1)",
            "-1+SUM(A1)",
            "-SUM(A1:A2)*3",
            "+A1+B2",
            "+1+1",
            "@SUM(1+1)",
            "＠SUM(1+1)",
            "＋A1*2",
            "+HYPERLINK(B2)",
            "-2+3+webservice(A1)",
            "=IMPORTXML(\"http://x\",\"//a\")",
            "=cos(0)",
        ] {
            assert_eq!(judge(value.as_bytes(), b','), Some(Formula::Computed), "{value}");
        }
    }

    #[test]
    fn every_spelling_of_a_command() {
        for value in [
            "=cmd|'/C calc'!A0",
            "+cmd|'/C calc'!A0",
            "-2+3+cmd|'/C calc'!A0",
            "@SUM(1+1)*cmd|'/C calc'!A0",
            "=MSEXCEL|'\\..\\cmd.exe /c calc'!''",
            "=DDE(\"cmd\";\"/c\";\"a\")",
            "\t=cmd|' /C calc'!A0",
            "\r=cmd|'/C x'!A0",
            "=10+20+cmd|'/C calc'!A0",
            "＝cmd|'/C x'!A0",
        ] {
            assert_eq!(judge(value.as_bytes(), b','), Some(Formula::Command), "{value}");
        }
    }

    #[test]
    fn behind_another_separator_only_what_is_certain() {
        assert_eq!(judge(b"x;=cmd|'/C x'!A0", b','), Some(Formula::Command));
        assert_eq!(judge(b"x,=HYPERLINK(A1)", b';'), Some(Formula::Computed));
        assert_eq!(judge(b"a; =b; -c", b','), None);
    }

    #[test]
    fn ordinary_data() {
        for value in [
            "-5",
            "+1.5e10",
            "-3E-7",
            "-$5.00",
            "+€3",
            "-2024",
            "2024-01-01",
            "-",
            "--",
            "---",
            "- item one",
            "-5%",
            "-1,234.5",
            "+49 30 1234-5678",
            "+1 (555) 123-4567",
            "+1-555-123-4567",
            "-inf",
            "-NaN",
            "-0x1f",
            "+0b1",
            "-1+2j",
            "(-1+2j)",
            "+01:00",
            "-5 to 5",
            "-5 ± 0.2",
            "-log10(p)",
            "-log10(pvalue)",
            "-f(x)",
            "--help",
            "-v",
            "-x, -y",
            "+1",
            "+A",
            "-B12",
            "@alice",
            "@bob (admin)",
            "@media (max-width: 1px)",
            "@Test(timeout=1)",
            "@",
            "a@b.example",
            "=",
            "==",
            "=====",
            "=> next",
            "=>",
            "=)",
            "= equal to",
            "= 5 items",
            "=?utf-8?Q?x?=",
            "a=b",
            "x = 1+1",
            "'=1+1",
            "a+b",
            "x-1",
            "a|b!",
            "- see a|b",
            "+ added (new)",
            "- removed (old)",
            "-40 °C (−40 °F)",
            "",
        ] {
            assert_eq!(judge(value.as_bytes(), b','), None, "{value}");
        }
    }
}
