//! SVG: what a picture does when it is opened, what it loads, and how much it would take to draw.

use bytes::Bytes;
use memchr::memmem;

use super::markup::{
    element::Element,
    judge::Judge,
    letters,
    token::Dialect,
    walk::{Walk, Watch},
    wash,
};
use crate::{
    finding::{Confidence, Rule, RuleText, Severity, Stop},
    format::{
        Format, Out, Subject,
        cleaning::{Cleaning, Uncleanable},
        text, xml,
    },
    limits::Budget,
    view::TextView,
};

mod graph;
#[cfg(test)]
mod tests;

use graph::Graph;

pub(crate) const FORMAT: Format = Format {
    name: "svg",
    labels: &["svg"],
    inspect,
    clean: Some(clean),
    rules: &[&EXPANSION, &MEASURE, &xml::STRUCTURE, &xml::CUT, &xml::ENCODING],
};

static EXPANSION: Rule = Rule::built_in(
    "svg/expansion",
    "bomb.recursion",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Parts that repeat each other without measure",
        why: "A few elements use each other so often that drawing the picture never ends.",
        remedy: "Do not open the file.",
    },
);

static MEASURE: Rule = Rule::built_in(
    "svg/measure",
    "bomb.dimensions",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A size or a filter that no picture needs",
        why: "A program that draws the picture at its size takes the memory or the time it says.",
        remedy: "Ask for the picture at an ordinary size.",
    },
);

/// The longest side in pixels that a picture may say (as for other pictures).
const SIDE: f64 = 65_535.0;
/// Parts drawn; honest maps stay below a million.
const DRAWN: u64 = 5_000_000;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let decoded = text::inspect(subject, out, budget);
    let Some(view) = out.texts.pop() else { return decoded };
    read(&view, out, budget).and(decoded)
}

/// Reads a text as SVG: its parts are read instead of it.
pub(super) fn read(view: &TextView, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut judge = Judge::of(view);
    let mut picture = Picture::default();
    let mut walk = Walk::of(view, Dialect::Xml);
    let walked = walk.run(view, &mut judge, &mut picture, out, budget);
    xml::well_formed(&walk, view, out);
    picture.graph.settle(DRAWN, &mut judge, &EXPANSION, out);
    walked
}

fn clean(subject: &Subject<'_>, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
    let bytes = text::narrowed(subject.bytes, cleaning, budget)?;
    let (_, rest) = letters::mark(&bytes);
    Ok(washed(&letters::utf8(rest, budget)?, cleaning, budget)?.into())
}

/// The clean version of a picture in UTF-8.
pub(super) fn washed(picture: &[u8], cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    let washed = wash::settled(picture, Dialect::Xml, cleaning, budget)?;
    // Nothing but a declaration is left of a file without a picture.
    let Some(_) = memmem::find(&washed, b"<svg ") else { return Err("there is no picture in it".into()) };
    Ok(washed)
}

/// What is remembered of the picture.
#[derive(Debug, Default)]
struct Picture {
    graph: Graph,
}

impl Watch for Picture {
    fn open(&mut self, element: &Element<'_>, depth: usize, judge: &mut Judge<'_>, out: &mut Out<'_>) {
        self.graph.open(element, depth);
        if depth == 0 {
            for name in [&b"width"[..], b"height"] {
                if element.value(name).and_then(number).is_some_and(|side| side > SIDE) {
                    judge.tell(&MEASURE, element.whole.clone(), "the picture says a side beyond all screens", out);
                }
            }
        }
        let beyond = |name: &[u8], most: f64| element.value(name).and_then(number).is_some_and(|value| value > most);
        let is_heavy = match &*element.name {
            b"fegaussianblur" => beyond(b"stddeviation", 1000.0),
            b"femorphology" => beyond(b"radius", 1000.0),
            b"feturbulence" => beyond(b"numoctaves", 20.0),
            b"feconvolvematrix" => beyond(b"order", 50.0),
            b"filter" | b"pattern" | b"mask" => {
                [&b"width"[..], b"height", b"filterres"].iter().any(|name| beyond(name, 1e6))
            }
            _ => false,
        };
        if is_heavy {
            judge.tell(&MEASURE, element.whole.clone(), "a filter beyond all measure", out);
        }
    }

    fn close(&mut self, depth: usize) {
        self.graph.close(depth);
    }

    fn instruction(&mut self, text: &[u8], at: std::ops::Range<usize>, judge: &mut Judge<'_>, out: &mut Out<'_>) {
        xml::instruction(text, at, judge, out);
    }
}

/// The number a value begins with.
fn number(value: &[u8]) -> Option<f64> {
    let value = value.trim_ascii();
    let length =
        value.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+')).count();
    let digits = std::str::from_utf8(value.get(..length)?).ok()?;
    // `5em` is no power of ten.
    digits.parse().or_else(|_| digits.trim_end_matches(['e', 'E']).parse()).ok()
}
