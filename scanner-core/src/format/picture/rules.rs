//! What pictures of several kinds can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn rule(id: &'static str, category: &'static str, severity: Severity, text: RuleText) -> Rule {
    Rule::built_in(id, category, severity, Confidence::High, text)
}

pub(crate) static STRUCTURE: Rule = rule(
    "picture/structure",
    "malformed.structure",
    Severity::Medium,
    RuleText {
        title: "The parts of the picture contradict each other or the format",
        why: "Viewers treat such a file each in their own way: two people may see two pictures, and careless viewers were \
              broken by it.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(crate) static TRUNCATED: Rule = rule(
    "picture/truncated",
    "malformed.truncated",
    Severity::Medium,
    RuleText {
        title: "The picture ends too early",
        why: "Part of it is missing: what a person sees is not what was made.",
        remedy: "Fetch the file again; raise the output limit of the tool if that cut it.",
    },
);

pub(crate) static DIMENSIONS: Rule = rule(
    "picture/dimensions",
    "bomb.dimensions",
    Severity::High,
    RuleText {
        title: "A tiny file that claims to be a gigantic picture",
        why: "A viewer that reserves the memory the header asks for is out of memory before it reads the first pixel.",
        remedy: "Do not open it. Make the picture again in a size that is needed.",
    },
);

pub(crate) static RATIO: Rule = rule(
    "picture/ratio",
    "bomb.ratio",
    Severity::High,
    RuleText {
        title: "A few packed bytes that unpack to a gigantic picture",
        why: "The bytes keep what the header promises: whoever unpacks them is out of memory or out of time.",
        remedy: "Do not open it. Make the picture again in a size that is needed.",
    },
);

pub(crate) static FRAMES: Rule = rule(
    "picture/frames",
    "bomb.frames",
    Severity::Medium,
    RuleText {
        title: "Very few bytes that make a viewer draw a large picture over and over",
        why: "Each frame or pass costs the whole canvas anew: a small file keeps a processor busy for minutes.",
        remedy: "Do not open it. Make the picture again with the frames that are needed.",
    },
);

pub(crate) static EXCESS: Rule = rule(
    "picture/pixel-excess",
    "malformed.structure",
    Severity::Medium,
    RuleText {
        title: "More pixel data than the picture has room for",
        why: "Viewers drop the rest unseen: a place to hide data, or a bomb for those that keep it.",
        remedy: "Write the picture again with an ordinary program: that drops the rest.",
    },
);

pub(crate) static AFTER_PIXELS: Rule = rule(
    "picture/after-pixels",
    "type.trailing_data",
    Severity::Medium,
    RuleText {
        title: "Data behind the packed pixels, inside their part of the file",
        why: "No viewer reads them: a place to hide data in a picture that looks complete.",
        remedy: "Write the picture again with an ordinary program: that drops them.",
    },
);

pub(crate) static TRAILING: Rule = rule(
    "picture/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    RuleText {
        title: "Data behind the end of the picture",
        why: "No viewer shows them, but other programs read them: a web server runs a script there, an archive tool opens an archive.",
        remedy: "Cut the file at the end of the picture; look at what was behind it.",
    },
);

pub(crate) static PROGRAM: Rule = rule(
    "picture/program",
    "embed.executable",
    Severity::High,
    RuleText {
        title: "A program hidden in the file of a picture",
        why: "The picture passes filters that would stop the program; whoever knows where it is cuts it out and runs it.",
        remedy: "Do not pass the file on. Find out who put the program there.",
    },
);

pub(crate) static DISGUISE: Rule = rule(
    "picture/disguise",
    "type.polyglot",
    Severity::High,
    RuleText {
        title: "A text that begins like a picture",
        why: "Filters that look at the first bytes let it pass as a picture; a browser or a server that looks further runs it \
              as the page or the script it is.",
        remedy: "Do not pass it on: there is no picture in it.",
    },
);

pub(crate) static METADATA: Rule = rule(
    "picture/metadata",
    "malformed.structure",
    Severity::Low,
    RuleText {
        title: "A note beside the pixels is not built as it should be",
        why: "The picture looks the same without it. Its content was read as far as it goes.",
        remedy: "Strip the metadata if it is not needed.",
    },
);

pub(crate) static NOTE: Rule = rule(
    "picture/hidden-note",
    "hidden.comment",
    Severity::Medium,
    RuleText {
        title: "A note beside the pixels speaks to whoever reads it",
        why: "No viewer shows it: a person sees the picture, a model or a program that is given the file sees an instruction \
              or a secret.",
        remedy: "Strip the metadata before the picture is passed on.",
    },
);
