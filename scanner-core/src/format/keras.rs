//! Layers of Keras that carry code, in the description of a model: as JSON in a file, in a zip or in HDF5.

use memchr::memmem;

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity},
    format::Out,
    reader::count,
};

pub(super) static LAMBDA: Rule = Rule::built_in(
    "keras/lambda",
    "pickle.keras_lambda",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A model with a layer that is code",
        why: "The description of a Lambda layer holds compiled Python, which runs when the model is loaded or used, with all \
              rights of the person who does so.",
        remedy: "Load it with `safe_mode` on, or ask for a model of ordinary layers.",
    },
);

/// Says it when the description of a model has such a layer: one finding for all of them. `base` is where the text
/// stands in the artifact, if it does.
pub(super) fn look(text: &[u8], base: Option<usize>, out: &mut Out<'_>) {
    let layer = memmem::find_iter(text, b"\"class_name\"").find(|at| is_lambda(text.get(*at..).unwrap_or_default()));
    // A marshalled function stands in the description even where the layer goes by another name.
    let found = layer.or_else(|| memmem::find(text, b"\"__lambda__\""));
    let Some(at) = found else { return };
    let mut finding = Finding::built_in(&LAMBDA);
    if let Some(base) = base {
        let from = count(base.saturating_add(at));
        finding = finding.at(from, from.saturating_add(12)).place(Place::default().number("offset", from));
    }
    out.find(finding);
}

/// `"class_name": "Lambda"`, blanks aside, in JSON or in JSON inside a text.
fn is_lambda(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"\"class_name\"").unwrap_or_default();
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start).unwrap_or_default();
    [&b"\"Lambda\""[..], b"\"Custom>Lambda\""].iter().any(|name| rest.starts_with(name))
}
