//! What a PNG can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn malformed(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

pub(super) static SIGNATURE: Rule = malformed(
    "png/signature",
    "malformed.structure",
    RuleText {
        title: "The first eight bytes of the picture are damaged",
        why: "Those bytes are there to reveal a transfer that rewrote line ends or dropped a bit: the rest may be damaged too.",
        remedy: "Fetch the file again, as binary.",
    },
);

pub(super) static HEADER: Rule = malformed(
    "png/header",
    "malformed.structure",
    RuleText {
        title: "The picture's header says something that cannot be",
        why: "Viewers treat such a header each in their own way; some were broken by it.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(super) static ORDER: Rule = malformed(
    "png/chunk-order",
    "malformed.structure",
    RuleText {
        title: "The parts of the picture are missing, doubled or out of order",
        why: "Which of them counts depends on the viewer, so two people may see two pictures.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(super) static CRITICAL: Rule = malformed(
    "png/unknown-critical",
    "malformed.structure",
    RuleText {
        title: "A part that says it is essential and that no standard knows",
        why: "A viewer must refuse such a picture; one that does not may skip data that was put there for another program.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(super) static PALETTE: Rule = malformed(
    "png/palette",
    "malformed.structure",
    RuleText {
        title: "The colour table does not fit the picture",
        why: "Indices into a missing or short table read past its end in careless viewers.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(super) static CRC: Rule = malformed(
    "png/crc",
    "malformed.crc",
    RuleText {
        title: "A part of the picture does not match its checksum",
        why: "It was changed after it was written: by damage, or by a hand that did not care.",
        remedy: "Fetch the file again; if it comes back the same, find out who changed it.",
    },
);

pub(super) static ADLER: Rule = malformed(
    "png/pixel-checksum",
    "malformed.crc",
    RuleText {
        title: "The pixels do not match their checksum",
        why: "They were changed after they were packed: by damage, or by a hand that did not care.",
        remedy: "Fetch the file again; if it comes back the same, find out who changed it.",
    },
);

pub(super) static FILTER: Rule = malformed(
    "png/filter",
    "malformed.structure",
    RuleText {
        title: "A row of pixels is coded in a way that does not exist",
        why: "The pixels cannot be what an encoder wrote: damaged, or another kind of data in a picture's clothes.",
        remedy: "Write the picture again with an ordinary program.",
    },
);

pub(super) static ANIMATION: Rule = malformed(
    "png/animation",
    "malformed.structure",
    RuleText {
        title: "The frames of the animation contradict each other",
        why: "Programs that show one frame, all frames or none disagree on what is in the picture.",
        remedy: "Write the animation again with an ordinary program.",
    },
);
