//! What a container says of a member, held against what came out of it.

use flate2::Crc;

use crate::{
    bundle::Claim,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity},
    format::Out,
    inflate::Unpacked,
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// The checksum runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;

pub(crate) static SIZE: Rule = Rule::built_in(
    "member/size",
    "zip.size_lie",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A member does not have the size its archive gives it",
        why: "A program that trusts the size reserves too little or too much, or stops before the end of what is there.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(crate) static CRC: Rule = Rule::built_in(
    "member/crc",
    "malformed.crc",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A member does not match its checksum",
        why: "It was changed after it was packed: by damage, or by a hand that did not care.",
        remedy: "Fetch the archive again; if it comes back the same, find out who changed it.",
    },
);

/// Says what does not fit. Of a member that could be read in part only, whether too much came out already.
pub(crate) fn check(
    claim: Claim,
    unpacked: &Unpacked,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let size = count(unpacked.bytes.len());
    let is_whole = unpacked.stop.is_none();
    if let Some(told) = claim.size.filter(|told| if is_whole { *told != size } else { *told < size }) {
        let message = format!("its archive says {told} bytes, {size} came out");
        out.find(Finding::built_in(&SIZE).place(place.clone()).message(message));
    }
    if let Some(told) = claim.crc32.filter(|_| is_whole) {
        budget.spend(Resource::Steps, size.div_ceil(BYTES_PER_STEP))?;
        let mut crc = Crc::new();
        crc.update(&unpacked.bytes);
        if crc.sum() != told {
            out.find(Finding::built_in(&CRC).place(place.clone()));
        }
    }
    Ok(())
}
