//! Safetensors: the length of a JSON object, the object, and the tensors it describes, one after the other.

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject},
    json::{Doc, Kind, NodeId},
    limits::Budget,
    reader::{Reader, count},
    view::TextView,
};

pub(crate) const FORMAT: Format = Format {
    name: "safetensors",
    labels: &["safetensors"],
    inspect,
    clean: None,
    rules: &[&HEADER, &TRUNCATED, &OFFSETS, &TRAILING],
};

const fn malformed(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

static HEADER: Rule = malformed(
    "safetensors/header",
    "malformed.structure",
    RuleText {
        title: "The header of the tensors is not what the format asks for",
        why: "The format is safe because its header is a small JSON object and nothing else; readers that take more of it were \
              misled.",
        remedy: "Have the file written again by the library that made it.",
    },
);

static TRUNCATED: Rule = malformed(
    "safetensors/truncated",
    "malformed.truncated",
    RuleText {
        title: "The file is shorter than its header says",
        why: "A part of the tensors is missing, or a length lies to make a reader set memory aside.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

static OFFSETS: Rule = malformed(
    "safetensors/offsets",
    "malformed.structure",
    RuleText {
        title: "Tensors that overlap, leave holes or do not fit their shape",
        why: "The format asks that tensors fill the file without a hole, so that nothing can be hidden between them and no \
              byte belongs to two.",
        remedy: "Have the file written again by the library that made it.",
    },
);

static TRAILING: Rule = malformed(
    "safetensors/trailing-data",
    "type.trailing_data",
    RuleText {
        title: "Something stands behind the last tensor",
        why: "Readers never look there: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the last tensor before it is passed on.",
    },
);

/// The library reads no longer header (`MAX_HEADER_SIZE`).
const LONGEST_HEADER: u64 = 100_000_000;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut reader = Reader::new(bytes);
    let length = reader.u64_le()?;
    let place = || Place::default().number("offset", 8);
    if length > LONGEST_HEADER {
        out.find(Finding::built_in(&HEADER).at(0, 8).place(place()).message("a header longer than the library reads"));
    }
    if reader.take(length).is_err() {
        let message = format!("the header says that it has {length} bytes");
        out.find(Finding::built_in(&TRUNCATED).at(0, 8).place(place()).message(message));
        return Err(Stop::malformed("the header is cut", 8));
    }
    let start = reader.position();
    let text = bytes.slice(8..start);
    out.read(TextView::at(text.clone(), 8).place(place()));
    let doc = Doc::parse(&text, budget);
    let root = doc.root().filter(|root| doc.kind(*root) == Kind::Object);
    let Some(root) = root.filter(|_| doc.stop.is_none()) else {
        let message = "the header is no JSON object";
        out.find(Finding::built_in(&HEADER).at(8, count(start)).place(place()).message(message));
        return doc.stop.map_or(Ok(()), Err);
    };
    if let Some(twice) = doc.duplicates.first() {
        let span = doc.span(*twice);
        let at = Finding::built_in(&HEADER).at(span.start.saturating_add(8), span.end.saturating_add(8));
        out.find(at.place(place()).message("a tensor is described twice: which one counts depends on the reader"));
    }
    let there = count(reader.left());
    let mut ranges = Vec::new();
    for id in doc.children(root) {
        if doc.has_key(id, "__metadata__") {
            continue;
        }
        match tensor(&doc, id) {
            Ok(range) => ranges.push(range),
            Err(what) => {
                let span = doc.span(id);
                let at = Finding::built_in(&OFFSETS).at(span.start.saturating_add(8), span.end.saturating_add(8));
                out.find(at.place(place()).message(what));
                return Ok(());
            }
        }
    }
    ranges.sort_unstable();
    let mut end = 0_u64;
    for (from, to) in ranges {
        if from != end {
            let what =
                if from < end { "a tensor shares bytes with another" } else { "there is a hole before a tensor" };
            out.find(Finding::built_in(&OFFSETS).at(8, count(start)).place(place()).message(what));
            end = end.max(to);
            break;
        }
        end = to;
    }
    if end > there {
        let message = format!("{end} bytes of tensors are announced, {there} are there");
        out.find(Finding::built_in(&TRUNCATED).at(8, count(bytes.len())).place(place()).message(message));
    } else if end < there {
        let from = count(start).saturating_add(end);
        let message = format!("{} bytes behind the last tensor", there.saturating_sub(end));
        out.find(Finding::built_in(&TRAILING).at(from, count(bytes.len())).message(message));
        let from = usize::try_from(from).unwrap_or(bytes.len()).min(bytes.len());
        out.child(Source::stored(bytes.slice(from..)), None);
    }
    Ok(())
}

/// Where a tensor stands, behind the header: it must have a known type, a shape, and as many bytes as both ask for.
fn tensor(doc: &Doc, id: NodeId) -> Result<(u64, u64), &'static str> {
    let (mut bits, mut elements, mut offsets) = (None, None, Vec::new());
    for part in doc.children(id) {
        let numbers = || doc.children(part).map(|side| doc.integer(side).and_then(|side| u64::try_from(side).ok()));
        if doc.has_key(part, "dtype") {
            bits = doc.word(part).and_then(|word| bits_of(&word));
        } else if doc.has_key(part, "shape") {
            elements = numbers().try_fold(1_u64, |product, side| product.checked_mul(side?));
        } else if doc.has_key(part, "data_offsets") {
            offsets = numbers().map_while(|offset| offset).take(3).collect();
        }
    }
    let &[from, to] = offsets.as_slice() else { return Err("a tensor does not say where it begins and ends") };
    let bits = bits.ok_or("a tensor is of no known type")?;
    let elements = elements.ok_or("a tensor has no shape, or one larger than any machine")?;
    let size = elements.checked_mul(bits).map(|bits| bits.div_ceil(8));
    match to.checked_sub(from) {
        None => Err("a tensor ends before it begins"),
        Some(length) if Some(length) != size => Err("a tensor has another number of bytes than its shape and type"),
        Some(_) => Ok((from, to)),
    }
}

/// Bits of one element.
fn bits_of(word: &str) -> Option<u64> {
    Some(match word {
        "F4" | "I4" | "U4" => 4,
        "F6_E2M3" | "F6_E3M2" => 6,
        "BOOL" | "U8" | "I8" | "F8_E5M2" | "F8_E4M3" | "F8_E8M0" | "F8_E4M3FNUZ" | "F8_E5M2FNUZ" => 8,
        "I16" | "U16" | "F16" | "BF16" => 16,
        "I32" | "U32" | "F32" => 32,
        "I64" | "U64" | "F64" | "C64" => 64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    #[track_caller]
    fn check(header: &str, data: usize, want: &[&str]) {
        let mut bytes = count(header.len()).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend(std::iter::repeat_n(0, data));
        let facts = look(&FORMAT, "safetensors", &bytes).facts();
        let facts: Vec<String> =
            facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(facts, want, "{header}");
    }

    #[test]
    fn tensors_fill_the_file() {
        let two = r#"{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}"#;
        check(two, 16, &[]);
        check("{}  ", 0, &[]);
        check(two, 15, &["medium malformed.truncated"]);
        check(two, 20, &["medium type.trailing_data"]);
        for wrong in [
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#,
            r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"X","shape":[2],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
            r#"{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2]}}"#,
            r#"{"a":1}"#,
        ] {
            check(wrong, 12, &["medium malformed.structure"]);
        }
        check("[]", 0, &["medium malformed.structure"]);
        let overlap = r#"{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}}"#;
        check(overlap, 12, &["medium malformed.structure"]);
        assert_eq!(look(&FORMAT, "safetensors", &[255; 9]).facts().len(), 3);
    }
}
