//! `OpenAI` Agents SDK: run items, each with the Responses item it wraps.

use crate::{
    bundle::Origin,
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure, openai, openai::Dialect};

pub(crate) static PROVIDER: Provider = Provider {
    name: "openai-agents",
    expected: "run items with \"raw_item\", or an object with \"new_items\"",
    recognise,
    adapt,
    reads: "raw items as those of openai, output, final_output, agent names",
    status: "as for openai",
    error: "as for openai, of the raw item",
};

const ITEM: &[(&str, Shape)] = &[("type", Shape::Name), ("tool_origin", Shape::Scalar)];
const LISTS: &[&str] = &["new_items", "items", "input_guardrail_results", "output_guardrail_results"];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        sheet.has(object, "raw_item")
            || LISTS
                .iter()
                .filter_map(|key| sheet.peek(object, key))
                .any(|list| sheet.doc.children(list).take(32).any(|item| sheet.has(item, "raw_item")))
    });
    if own { Sure::Yes } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("run items");
    let mut reading = openai::Reading::new(Dialect::OpenAi, false);
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        item(sheet, object, &mut reading, draft);
        for list in sheet.take_any(object, LISTS) {
            for inner in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                item(sheet, inner, &mut reading, draft);
            }
        }
        for list in sheet.take_any(object, &["raw_responses", "input"]) {
            for inner in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                openai::read(sheet, inner, &mut reading, draft);
            }
        }
        for output in sheet.take(object, "final_output") {
            draft.tree(sheet, output, Origin::Message, None);
        }
    }
    draft.surface = Some("run items");
    reading.finish(false, draft);
}

fn item(sheet: &Sheet, object: NodeId, reading: &mut openai::Reading, draft: &mut Draft<'_>) {
    for raw in sheet.take(object, "raw_item").filter(|id| sheet.is_object(*id)) {
        openai::read(sheet, raw, reading, draft);
        sheet.known(object, ITEM);
        // The output again, as the tool's own function gave it.
        for output in sheet.take(object, "output") {
            match sheet.kind(output) {
                Kind::Text => drop(draft.text(sheet, output, Origin::Log, None)),
                _ => draft.tree(sheet, output, Origin::Log, None),
            }
        }
    }
    for agent in sheet.take_any(object, &["agent", "source_agent", "target_agent", "last_agent"]) {
        draft.tree(sheet, agent, Origin::Metadata, None);
    }
}
