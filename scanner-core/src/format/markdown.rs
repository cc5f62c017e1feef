//! Markdown: what its raw HTML, its links and its pictures do once it is shown, with code left out, and what is not shown.

use std::ops::Range;

use bytes::Bytes;

use super::markup::{
    address::Address,
    judge::Judge,
    pieces::Pieces,
    rules,
    token::Dialect,
    walk::{Nobody, Walk},
};
use crate::{
    finding::Stop,
    format::{Format, Out, Subject, text},
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod code;
mod inert;
mod target;
#[cfg(test)]
mod tests;

pub(super) use inert::washed;
use target::{Target, targets};

pub(crate) const FORMAT: Format =
    Format { name: "markdown", labels: &["markdown"], inspect, clean: Some(inert::clean), rules: &rules::ALL };

/// Bytes walked in one step.
const BYTES_PER_STEP: u64 = 2;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let decoded = text::inspect(subject, out, budget);
    let Some(view) = out.texts.pop() else { return decoded };
    read(&view, out, budget).map(drop).and(decoded)
}

/// Reads a text as Markdown: whether something in it runs when it is shown.
pub(super) fn read(view: &TextView, out: &mut Out<'_>, budget: &mut Budget) -> Result<bool, Stop> {
    budget.spend(Resource::Steps, count(view.text.len()).div_ceil(BYTES_PER_STEP))?;
    budget.spend(Resource::DecodedBytes, count(view.text.len()))?;
    // Code is shown as it stands: to what follows it is blank.
    let mut shown = view.text.to_vec();
    for range in code::ranges(&view.text) {
        blank(&mut shown, range);
    }
    let shown = TextView { text: Bytes::from(shown), ..view.clone() };
    let mut judge = Judge::of(&shown);
    let mut unseen = Vec::new();
    for target in targets(&shown.text, &mut unseen) {
        follow(&shown.text, &target, &mut judge, out);
    }
    let before = out.texts.len();
    let walked = Walk::of(&shown, Dialect::Html).run(&shown, &mut judge, &mut Nobody, out, budget);
    // The text is read as it stands, code and all, but for what is not shown, which is read as such.
    let parts = out.texts.split_off(before);
    let hidden: Vec<TextView> = parts.into_iter().filter(|part| part.hidden.is_some()).collect();
    let mut words = view.text.clone();
    let ranges: Vec<Range<usize>> =
        hidden.iter().flat_map(|part| origins(part, view)).chain(unseen.iter().cloned()).collect();
    if !ranges.is_empty() {
        let mut copy = words.to_vec();
        ranges.iter().for_each(|range| blank(&mut copy, range.clone()));
        words = Bytes::from(copy);
    }
    out.read(TextView { text: words, ..view.clone() }.judged());
    out.texts.extend(hidden);
    let mut comments = Pieces::default();
    for range in unseen {
        comments.part(b'\n');
        comments.push(&view.text, range, budget)?;
    }
    out.texts.extend(comments.into_view(view, "comments").map(|part| part.hidden(&rules::HIDDEN_COMMENT)));
    walked.map(|()| judge.is_active)
}

/// Where the pieces of a part stand in the text it was cut from.
fn origins(part: &TextView, base: &TextView) -> Vec<Range<usize>> {
    let (Some(OffsetMap::Runs(runs)), Some(OffsetMap::Shifted(by))) = (&part.map, &base.map) else { return Vec::new() };
    let index = |at: u64| usize::try_from(at.saturating_sub(*by)).unwrap_or(usize::MAX);
    runs.iter()
        .zip(runs.iter().skip(1))
        .map(|((text, at), (next, limit))| index(*at)..index(at.saturating_add(next.saturating_sub(*text)).min(*limit)))
        .collect()
}

fn blank(text: &mut [u8], range: Range<usize>) {
    for byte in text.get_mut(range).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn follow(text: &[u8], target: &Target, judge: &mut Judge<'_>, out: &mut Out<'_>) {
    let range = target.address.clone();
    let is_picture = target.is_picture();
    match Address::of(&target.plain(text)) {
        Address::Script => judge.tell(&rules::SCRIPT_URL, range, "", out),
        Address::ActiveData if !is_picture => judge.tell(&rules::SCRIPT_URL, range, "a document in an address", out),
        Address::Program => judge.tell(&rules::PROTOCOL, range, "", out),
        Address::Elsewhere if is_picture => {
            judge.tell(&rules::EXTERNAL, range, "a picture is loaded from elsewhere", out)
        }
        Address::Elsewhere => judge.tell(&rules::LINK, range, "", out),
        _ => {}
    }
}
