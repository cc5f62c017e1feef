//! Whose Responses envelope it is: the shapes are shared with xAI, little tells them apart (SHAPES 3.1).

use crate::{
    envelope::{Envelope, sheet::Sheet},
    json::{Kind, NodeId},
    provider::Sure,
};

use super::{items, stream};

/// What speaks for either.
#[derive(Clone, Copy, Default)]
struct Signs {
    responses: bool,
    openai: bool,
    xai: bool,
}

/// How sure the shape makes it to be OpenAI's and xAI's.
pub(crate) fn recognise(envelope: &Envelope) -> (Sure, Sure) {
    let mut signs = Signs::default();
    for (sheet, object) in envelope.heads() {
        look(sheet, object, &mut signs);
    }
    if envelope
        .sheets
        .iter()
        .take(32)
        .any(|sheet| sheet.event.as_deref().is_some_and(|event| event.starts_with("thread.run")))
    {
        signs.openai = true;
        signs.responses = true;
    }
    match (signs.responses, signs.openai, signs.xai) {
        (false, ..) => (Sure::No, Sure::No),
        (_, true, false) => (Sure::Yes, Sure::No),
        (_, false, true) => (Sure::No, Sure::Yes),
        _ => (Sure::Maybe, Sure::Maybe),
    }
}

/// Whether an object is of the Responses API at all.
pub(crate) fn is_responses(sheet: &Sheet, object: NodeId) -> bool {
    let mut signs = Signs::default();
    look(sheet, object, &mut signs);
    signs.responses
}

fn look(sheet: &Sheet, object: NodeId, signs: &mut Signs) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let what = sheet.peek_word(object, "object").unwrap_or_default();
    if what.starts_with("thread.")
        || matches!(what.as_str(), "container" | "container.file")
        || what == "file" && sheet.has(object, "purpose")
    {
        *signs = Signs { responses: true, openai: true, ..*signs };
        return;
    }
    if stream::is_event(&kind) && (kind.starts_with("response.") || sheet.has(object, "sequence_number")) {
        signs.responses = true;
        signs.xai |= kind.contains("code_execution_call");
        for key in ["response", "item"] {
            if let Some(inner) = sheet.peek(object, key) {
                whole(sheet, inner, signs);
                item(sheet, inner, signs);
            }
        }
        return;
    }
    if what == "list" {
        let list = sheet.peek(object, "data");
        list.into_iter().flat_map(|list| sheet.doc.children(list).take(16)).for_each(|inner| look(sheet, inner, signs));
        return;
    }
    if sheet.has(object, "custom_id") {
        let body = sheet.peek_path(object, &["response", "body"]);
        if let Some(body) = body {
            signs.responses |= sheet.has(body, "output") || sheet.has(body, "choices");
            whole(sheet, body, signs);
        }
        signs.responses |= sheet.has(object, "response") && sheet.has(object, "error");
        // xAI has no batch of this shape.
        signs.openai |= signs.responses && !signs.xai;
        return;
    }
    if what == "response" || what.starts_with("chat.completion") {
        signs.responses = true;
        whole(sheet, object, signs);
        return;
    }
    for key in ["output", "input"] {
        if let Some(list) = sheet.peek(object, key).filter(|list| sheet.kind(*list) == Kind::Array && kind.is_empty()) {
            let known = sheet.doc.children(list).take(64).any(|item| is_item(sheet, item));
            if known {
                signs.responses = true;
                whole(sheet, object, signs);
            }
        }
    }
    if is_item(sheet, object) {
        signs.responses = true;
        item(sheet, object, signs);
    }
}

fn is_item(sheet: &Sheet, object: NodeId) -> bool {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    items::is_sure(&kind)
        || kind == "message"
            && sheet.peek(object, "content").is_some_and(|content| {
                sheet.doc.children(content).take(8).any(|part| {
                    sheet
                        .peek_word(part, "type")
                        .is_some_and(|kind| matches!(kind.as_str(), "output_text" | "input_text" | "refusal"))
                })
            })
}

/// A response or a request: its model says most.
fn whole(sheet: &Sheet, object: NodeId, signs: &mut Signs) {
    if let Some(model) = sheet.peek_word(object, "model") {
        if model.starts_with("grok") {
            signs.xai = true;
        } else if !model.is_empty() {
            signs.openai = true;
        }
        return;
    }
    for key in ["output", "input"] {
        let list = sheet.peek(object, key);
        list.into_iter().flat_map(|list| sheet.doc.children(list).take(64)).for_each(|inner| item(sheet, inner, signs));
    }
}

fn item(sheet: &Sheet, object: NodeId, signs: &mut Signs) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let has = |key| sheet.has(object, key);
    match kind.as_str() {
        "code_execution_call" => signs.xai = true,
        "code_interpreter_call" if has("container_id") => signs.openai = true,
        "code_interpreter_call" => {
            let own = has("arguments")
                || has("name")
                || has("results")
                || sheet.peek(object, "outputs").is_some_and(|list| {
                    sheet.items(list).into_iter().take(8).any(|output| {
                        let logs = sheet.peek(output, "logs").map(|id| sheet.doc.raw(id)).unwrap_or_default();
                        logs.starts_with(b"{") && memchr::memmem::find(logs, b"exit_code").is_some()
                    })
                });
            signs.xai |= own;
        }
        "local_shell_call"
        | "local_shell_call_output"
        | "apply_patch_call"
        | "apply_patch_call_output"
        | "program"
        | "program_output" => {
            signs.openai = true;
        }
        "shell_call" if sheet.peek_path(object, &["environment", "container_id"]).is_some() => signs.openai = true,
        _ => {}
    }
}
