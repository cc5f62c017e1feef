//! Doors for benches and fuzz targets: parts of the core on their own. They are no part of the interface and may change
//! with any version.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::{
    bundle::{Artifact, ArtifactId, Bundle, Source},
    finding::{Finding, Findings, Gap, Stop},
    format::{self, Out, Subject, cleaning},
    inflate,
    json::{Doc, Kind, NodeId},
    limits::{Budget, Limits, Resource},
    provider::{self, Adapted},
    sniff,
    view::TextView,
};

/// What one inspector wrote.
#[derive(Debug)]
pub struct Inspected {
    /// Findings kept, worst first.
    pub findings: Vec<Finding>,
    /// Gaps; why it stopped is the last.
    pub gaps: Vec<Gap>,
    /// Texts to read.
    pub texts: Vec<TextView>,
    /// Things inside.
    pub children: Vec<Artifact>,
    /// What it spent.
    pub spent: Limits,
}

/// The types that some inspector takes by name, sorted: a number stands for one in the inputs of fuzz targets.
pub fn inspected_types() -> Vec<&'static str> {
    let mut labels: Vec<_> = format::ALL.iter().flat_map(|format| format.labels).copied().collect();
    labels.sort_unstable();
    labels
}

/// One inspector on its own, of the bytes as that type. `None` where no inspector takes the type.
pub fn inspect_alone(label: &str, bytes: &Bytes, limits: Limits) -> Option<Inspected> {
    let kind = sniff::type_of(label)?;
    let format = format::of(kind)?;
    let (mut findings, mut gaps) = (Findings::keeping(limits.get(Resource::Findings)), Vec::new());
    let subject = Subject { bytes, kind };
    let mut budget = Budget::new(limits);
    let mut out = Out::new(ArtifactId(0), &subject, &mut findings, &mut gaps);
    let stop = (format.inspect)(&subject, &mut out, &mut budget).err();
    let (texts, children) = (std::mem::take(&mut out.texts), std::mem::take(&mut out.children));
    gaps.extend(stop.map(Stop::into_gap));
    Some(Inspected { findings: findings.finish().0, gaps, texts, children, spent: *budget.spent() })
}

/// One cleaner on its own: the safe version of the bytes as that type, every file inside kept as it is, or why there is
/// none. `None` where no cleaner takes the type.
pub fn clean_alone(label: &str, bytes: &Bytes, limits: Limits) -> Option<Result<Bytes, String>> {
    let kind = sniff::type_of(label)?;
    let clean = format::of(kind)?.clean?;
    let mut washer = cleaning::KeepAll;
    let mut cleaning = cleaning::Cleaning::new(&mut washer, &[]);
    let cleaned = clean(&Subject { bytes, kind }, &mut cleaning, &mut Budget::new(limits));
    Some(cleaned.map_err(|cleaning::Uncleanable(why)| why.into_owned()))
}

/// How many pages a PDF shows by the walk of its inspector, for a comparison with another reader. `None` where the
/// inspector would have stopped.
pub fn pdf_pages(bytes: &Bytes, limits: Limits) -> Option<usize> {
    format::pdf::pages_of(&Subject { bytes, kind: sniff::type_of("pdf")? }, &mut Budget::new(limits))
}

/// What came of unpacking a handle.
#[derive(Debug)]
pub struct UnpackedAlone {
    /// The output, up to where it ended or broke.
    pub bytes: Bytes,
    /// How many packed bytes belong to it.
    pub used: u64,
    /// Why it ended before its end.
    pub gap: Option<Gap>,
    /// What it spent.
    pub spent: Limits,
}

/// A handle unpacked on its own.
pub fn unpack_alone(source: &Source, limits: Limits) -> UnpackedAlone {
    let mut budget = Budget::new(limits);
    let unpacked = inflate::unpack(source, &mut budget);
    let gap = unpacked.stop.map(Stop::into_gap);
    UnpackedAlone { bytes: unpacked.bytes, used: unpacked.used, gap, spent: *budget.spent() }
}

/// What the reader of JSON made of some bytes.
#[derive(Debug)]
pub struct JsonAlone {
    /// The document, last of several members with one key; numbers as they are spelled.
    pub value: Value,
    /// Whether it was read to its end and nothing about it is odd.
    pub is_plain: bool,
    /// Whether it was read to its end.
    pub is_whole: bool,
    /// What it spent.
    pub spent: Limits,
}

/// The reader of JSON on its own.
pub fn json_alone(bytes: &Bytes, limits: Limits) -> JsonAlone {
    let mut budget = Budget::new(limits);
    let doc = Doc::parse(bytes, &mut budget);
    let is_whole = doc.stop.is_none() && doc.end == bytes.len() && doc.root().is_some();
    let is_plain = is_whole && crate::json::Quirks::ALL.iter().all(|quirk| doc.quirks.of(*quirk).is_none());
    // Values come after the containers they are in: from the last to the first, each finds what is in it ready.
    let mut made: Vec<Value> = vec![Value::Null; doc.len()];
    for id in doc.ids().collect::<Vec<NodeId>>().into_iter().rev() {
        let mut take = |child: NodeId| made.get_mut(child.index()).map(Value::take).unwrap_or_default();
        let value = match doc.kind(id) {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Number => Value::from(String::from_utf8_lossy(doc.raw(id)).into_owned()),
            Kind::Text => {
                let text = doc.string(id, &mut budget).ok().flatten().unwrap_or_default();
                Value::from(String::from_utf8_lossy(&text).into_owned())
            }
            Kind::Array => doc.children(id).map(take).collect(),
            Kind::Object => {
                let members =
                    doc.children(id).map(|child| (doc.key(child).unwrap_or_default().into_owned(), take(child)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        };
        if let Some(slot) = made.get_mut(id.index()) {
            *slot = value;
        }
    }
    let value = made.into_iter().next().unwrap_or_default();
    JsonAlone { value, is_plain, is_whole, spent: *budget.spent() }
}

/// What an adapter made of an envelope.
#[derive(Debug)]
pub struct AdaptedAlone {
    /// The neutral form; `None` where it is no envelope.
    pub bundle: Option<Bundle>,
    /// Whose it is.
    pub candidates: Vec<&'static str>,
    /// Found in the envelope itself.
    pub findings: Vec<Finding>,
    /// What it spent.
    pub spent: Limits,
}

/// The adapters on their own: an envelope of that system, or of whoever its shape says.
pub fn adapt_alone(input: &Bytes, system: Option<&str>, limits: Limits) -> AdaptedAlone {
    let mut budget = Budget::new(limits);
    let adapted = provider::adapt(input, system, &[], &mut budget);
    let spent = *budget.spent();
    match adapted {
        Adapted::Envelope(taken) => {
            AdaptedAlone { bundle: Some(taken.bundle), candidates: taken.candidates, findings: taken.findings, spent }
        }
        Adapted::NotAnEnvelope(_) | Adapted::Wrong { .. } => {
            AdaptedAlone { bundle: None, candidates: Vec::new(), findings: Vec::new(), spent }
        }
    }
}
