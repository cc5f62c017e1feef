//! HTML: what a page does when it is opened, and the texts that a person sees and does not see in it.

use bytes::Bytes;

use super::markup::{
    judge::Judge,
    letters, rules,
    token::Dialect,
    walk::{Nobody, Walk},
    wash,
};
use crate::{
    finding::Stop,
    format::{
        Format, Out, Subject,
        cleaning::{Cleaning, Uncleanable},
        text,
    },
    limits::Budget,
    view::TextView,
};

pub(crate) const FORMAT: Format =
    Format { name: "html", labels: &["html"], inspect, clean: Some(clean), rules: &rules::ALL };

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let decoded = text::inspect(subject, out, budget);
    // The text is read in its parts below; a tag is no words.
    let Some(view) = out.texts.pop() else { return decoded };
    read(&view, out, budget).and(decoded)
}

/// Reads a text as HTML: its parts are read instead of it.
pub(super) fn read(view: &TextView, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut judge = Judge::of(view);
    Walk::of(view, Dialect::Html).run(view, &mut judge, &mut Nobody, out, budget)
}

fn clean(subject: &Subject<'_>, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
    let bytes = text::narrowed(subject.bytes, cleaning, budget)?;
    let (mark, rest) = letters::mark(&bytes);
    let page = washed(&letters::utf8(rest, budget)?, cleaning, budget)?;
    Ok(if mark.is_empty() { page.into() } else { [mark, &page].concat().into() })
}

/// The clean version of HTML in UTF-8: a page, or a part of one.
pub(super) fn washed(page: &[u8], cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    wash::settled(page, Dialect::Html, cleaning, budget)
}

#[cfg(test)]
mod tests;
