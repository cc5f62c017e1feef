//! Tables: Parquet, Arrow and Feather, Avro, ORC, netCDF, and those of Stata, SPSS and SAS. The descriptions of the first
//! two are followed; of all every text that stands there unpacked is read; packed columns are numbers and words that
//! nothing acts on, and count as data only.

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, strings},
    limits::Budget,
    reader::count,
};

mod arrow;
mod parquet;
mod thrift;

pub(crate) const FORMAT: Format = Format {
    name: "columns",
    labels: &["parquet", "arrow", "arrowstream", "feather1", "avro", "orc", "netcdf", "stata", "spss", "xport"],
    inspect,
    clean: None,
    rules: &[&STRUCTURE, &TRUNCATED, &EXPANSION, &ELSEWHERE],
};

static STRUCTURE: Rule = Rule::built_in(
    "columns/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The table describes itself in a way that cannot be",
        why: "Readers set memory aside for what a count says and follow offsets without looking.",
        remedy: "Have the table written again.",
    },
);

static TRUNCATED: Rule = Rule::built_in(
    "columns/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The table ends before its end",
        why: "The description of the columns stands at the end of the file; without it nothing can be read.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

static EXPANSION: Rule = Rule::built_in(
    "columns/expansion",
    "bomb.ratio",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A small file that unpacks to a table of hundreds of megabytes",
        why: "Whoever loads it needs that much memory at once; a few such files stop a server.",
        remedy: "Load it in parts, or ask for the table without the repetition.",
    },
);

static ELSEWHERE: Rule = Rule::built_in(
    "columns/elsewhere",
    "net.external_ref",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A column that stands in another file",
        why: "The reader opens the path that the table names: a file of the person who loads it, or one on a network share.",
        remedy: "Have the table written in one file.",
    },
);

/// A table that unpacks to less is no bomb, however dense it is packed.
const EXPANSION_FROM: u64 = 64 * 1024 * 1024;
/// Honest columns of one value reach a few hundred.
const EXPANSION_TIMES: u64 = 500;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let walked = match subject.kind.label {
        "parquet" => parquet::inspect(subject, out, budget),
        "arrow" => arrow::file(subject, out),
        "arrowstream" => arrow::stream(subject, out, budget),
        _ => Ok(()),
    };
    strings::read(subject.bytes, 0..subject.bytes.len(), out, budget)?;
    walked
}

/// Something that is wrong with a table.
fn say(out: &mut Out<'_>, rule: &'static Rule, at: usize, message: impl Into<String>) {
    let place = Place::default().number("offset", count(at));
    out.find(Finding::built_in(rule).at(count(at), count(at.saturating_add(1))).place(place).message(message));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    #[track_caller]
    fn check(label: &'static str, bytes: &[u8], want: &[&str]) {
        let facts = look(&FORMAT, label, bytes).facts();
        let facts: Vec<String> =
            facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(facts, want);
    }

    /// A Parquet file of that footer.
    fn parquet(footer: &[u8]) -> Vec<u8> {
        let length = u32::try_from(footer.len()).expect("short").to_le_bytes();
        [b"PAR1".as_slice(), footer, &length, b"PAR1"].concat()
    }

    #[test]
    fn footers_of_parquet() {
        // Version 1, one row, created by "me".
        check("parquet", &parquet(b"\x15\x02\x26\x02\x38\x02me\0"), &[]);
        check("parquet", b"PAR1\0\0\0\0\0\0\0\0", &["medium malformed.truncated"]);
        check("parquet", b"PAR1\x15\x02\0\xff\xff\0\0PAR1", &["medium malformed.structure"]);
        check("parquet", &parquet(b"\x15\x02\x38\xff\xff\xff\xff\x0fme\0"), &["medium malformed.structure"]);
        check("parquet", b"PAR1\x15\x02\0\x03\0\0\0PARE", &["gap encrypted"]);
        // A row group whose column stands in another file.
        check("parquet", &parquet(b"\x49\x1c\x19\x1c\x18\x09other.bin\0\0\0"), &["medium net.external_ref"]);
        // Twenty million numbers of eight bytes.
        check("parquet", &parquet(b"\x49\x1c\x19\x1c\x3c\x15\x04\x46\x80\xda\xc4\x13\0\0\0\0"), &["medium bomb.ratio"]);
        // A list of a billion structures; structures in structures without end.
        check("parquet", &parquet(b"\x29\xfc\xff\xff\xff\xff\x0f\0"), &["medium malformed.structure"]);
        check("parquet", &parquet(&[0x1c; 500]), &["medium malformed.structure"]);
    }

    #[test]
    fn a_footer_cut_anywhere_is_told() {
        let footer = b"\x15\x02\x26\x02\x38\x02me\0";
        for end in 0..footer.len() {
            assert_eq!(look(&FORMAT, "parquet", &parquet(&footer[..end])).findings.len(), 1, "cut at {end}");
        }
    }

    #[test]
    fn footers_of_arrow() {
        check("arrow", b"ARROW1\0\0\xff\xff\xff\xff", &["medium malformed.truncated"]);
        let footer = b"\x04\0\0\0\x04\0\x04\0\x04\0\0\0";
        check(
            "arrow",
            &[b"ARROW1\0\0".as_slice(), footer, b"\x0c\0\0\0ARROW1"].concat(),
            &["medium malformed.structure"],
        );
        check("arrow", b"ARROW1\0\0\xff\xff\0\0ARROW1", &["medium malformed.structure"]);
        // The root at 8, its table of one field: none is set.
        let footer = b"\x08\0\0\0\x04\0\x04\0\x04\0\0\0";
        check("arrow", &[b"ARROW1\0\0".as_slice(), footer, b"\x0c\0\0\0ARROW1"].concat(), &[]);
    }
}
