//! HTML: what a page does when it is opened, and the texts that a person sees and does not see in it.

use super::markup::{
    judge::Judge,
    rules,
    token::Dialect,
    walk::{Nobody, Walk},
};
use crate::{
    finding::Stop,
    format::{Format, Out, Subject, text},
    limits::Budget,
    view::TextView,
};

pub(crate) const FORMAT: Format = Format { name: "html", labels: &["html"], inspect, clean: None, rules: &rules::ALL };

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

#[cfg(test)]
mod tests;
