//! QR codes in the pixels of pictures (ISO/IEC 18004): what they say is a text to be read like any other.
//!
//! A person sees a pattern; a model that is shown the picture, and a camera, see what it says. Other readers follow
//! shapes as long as there are shapes to follow: here every step is paid for before it is done.

use std::ops::Range;

use crate::{
    finding::{Confidence, Finding, Gap, Place, Reason, Rule, RuleText, Severity, Span},
    format::{Out, markup::address::Address},
    limits::{Budget, Exhausted, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod correct;
mod finder;
mod grey;
mod grid;
mod plane;
mod segments;
mod symbol;

pub(super) use super::markup::rules::{PROTOCOL, SCRIPT_URL};
pub(super) use grey::{Grey, is_wanted};

pub(super) static CODE: Rule = Rule::built_in(
    "picture/code",
    "hidden.encoded",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A QR code in the picture speaks to whoever reads it",
        why: "A person sees a pattern. A model that is shown the picture, or a camera, sees an instruction or a secret.",
        remedy: "Do not pass the picture on until somebody has read what the code says.",
    },
);

/// Looks through a picture, whose pixels are packed in that range of the file: hands it on for its letters, and reads its
/// codes.
pub(super) fn read(grey: Grey, at: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Exhausted> {
    let plane = grey.plane(Span { start: count(at.start), end: count(at.end) });
    out.show(plane);
    grey.for_codes().map_or(Ok(()), |grey| codes(grey, at, out, budget))
}

fn codes(grey: Grey, at: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Exhausted> {
    let dark = grey.darkness();
    let centres = finder::find(&dark, budget)?;
    let found = grid::read(&dark, &centres, budget)?;
    let (start, end) = (count(at.start), count(at.end));
    for text in found.texts {
        budget.spend(Resource::DecodedBytes, count(text.len()))?;
        let map = OffsetMap::Within(Span { start, end });
        let place = Place::default().name("part", "QR code").number("offset", start);
        // A camera offers to follow it as it is.
        let rule = match Address::of(&text) {
            Address::Script | Address::ActiveData => Some(&SCRIPT_URL),
            Address::Program => Some(&PROTOCOL),
            _ => None,
        };
        if let Some(rule) = rule {
            let finding = Finding::built_in(rule).at(start, end).place(place.clone());
            out.find(finding.message("the address in a QR code does something on the machine that follows it"));
        }
        out.read(TextView::decoded(text.into(), map, vec!["qr"]).place(place).hidden(&CODE));
    }
    if found.unread > 0 {
        let what = format!("{} QR codes in the picture are too damaged to be read", found.unread);
        out.gap(Gap::new(Reason::Malformed, what).at_offset(start));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
