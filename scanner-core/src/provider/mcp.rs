//! MCP: results of `tools/call`, JSON-RPC errors, notifications; 2025 and 2026 revisions. SHAPES 8.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope, Form,
        draft::{Draft, Vendor},
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "mcp",
    expected: "a JSON-RPC message, or an object with \"content\" or \"structuredContent\"",
    recognise,
    adapt,
    reads: "content blocks (text, image, audio, resource, resource_link), structuredContent, errors, notifications",
    status: "isError; a JSON-RPC error is failed; a resultType that is not complete is pending",
    error: "`isError: true`; a JSON-RPC `error`",
};

const MESSAGE: &[(&str, Shape)] = &[("jsonrpc", Shape::Word(&["2.0"])), ("id", Shape::Id), ("method", Shape::Name)];
const RESULT: &[(&str, Shape)] = &[("ttlMs", Shape::Scalar), ("cacheScope", Shape::Name), ("taskId", Shape::Id)];
const BLOCKS: &[&str] = &["text", "image", "audio", "resource", "resource_link"];
const BLOCK: &[(&str, Shape)] =
    &[("type", Shape::Word(BLOCKS)), ("size", Shape::Scalar), ("annotations", Shape::Inside(ANNOTATIONS))];
const ANNOTATIONS: &[(&str, Shape)] =
    &[("audience", Shape::Word(&["user", "assistant"])), ("priority", Shape::Scalar), ("lastModified", Shape::Stamp)];
const MIME: &[&str] = &["mimeType", "mime_type"];
const PARAMS: &[(&str, Shape)] = &[
    ("progressToken", Shape::Id),
    ("progress", Shape::Scalar),
    ("total", Shape::Scalar),
    ("level", Shape::Name),
    ("logger", Shape::Name),
    ("name", Shape::Name),
];

fn recognise(envelope: &Envelope) -> Sure {
    envelope.heads().into_iter().map(|(sheet, object)| of_object(sheet, object)).max().unwrap_or(Sure::No)
}

fn of_object(sheet: &Sheet, object: NodeId) -> Sure {
    let has = |keys: &[&str]| keys.iter().any(|key| sheet.has(object, key));
    if sheet.peek_word(object, "jsonrpc").is_some() {
        return Sure::Yes;
    }
    let own = has(&["structuredContent", "structured_content", "resultType", "result_type", "isError"]);
    let content = sheet.peek(object, "content");
    let blocks = content.is_some_and(|list| {
        sheet
            .doc
            .children(list)
            .take(16)
            .any(|block| sheet.peek_word(block, "type").is_some_and(|kind| BLOCKS.contains(&kind.as_str())))
    });
    match (own, content.is_some(), blocks) {
        (true, true, _) if !sheet.has(object, "type") => Sure::Yes,
        (true, false, _) if !sheet.has(object, "type") => Sure::Maybe,
        (false, _, true) if !has(&["type", "role", "output"]) => Sure::Maybe,
        _ => Sure::No,
    }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.vendor = Vendor { auth: "mcp", hosts: &[] };
    draft.surface = Some(if envelope.form == Form::Events { "Streamable HTTP" } else { "tools/call" });
    let mut answered = false;
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        answered |= message(sheet, object, draft);
    }
    if envelope.form == Form::Events && !answered {
        draft.overall(Status::Truncated);
    }
}

/// A JSON-RPC message, or a result alone. Whether it is an answer.
fn message(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) -> bool {
    if !sheet.has(object, "jsonrpc") {
        let call = draft.call(None, None);
        result(sheet, object, call, draft);
        return true;
    }
    // An id is a number or a string.
    let id = sheet.peek(object, "id").map(|id| String::from_utf8_lossy(sheet.doc.raw(id)).into_owned());
    sheet.known(object, MESSAGE);
    let id = id.filter(|id| crate::envelope::sheet::is_id(id));
    let mut answer = false;
    for inner in sheet.take(object, "result") {
        answer = true;
        let call = draft.call(id.clone(), None);
        if sheet.is_object(inner) {
            result(sheet, inner, call, draft);
        } else {
            draft.tree(sheet, inner, Origin::Result, Some(call));
            draft.state(call, Status::Unknown, "a result of an unknown shape");
        }
    }
    for inner in sheet.take(object, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
        answer = true;
        let call = draft.call(id.clone(), None);
        draft.state(call, Status::Failed, "a JSON-RPC error");
        sheet.known(inner, &[("code", Shape::Scalar), ("data", Shape::Scalar), ("message", Shape::Scalar)]);
        draft.tree(sheet, inner, Origin::Error, Some(call));
    }
    for params in sheet.take(object, "params") {
        sheet.known(params, PARAMS);
        for arguments in sheet.take(params, "arguments") {
            // A request: what the model asked for.
            let call = draft.call(id.clone(), None);
            draft.arguments(sheet, arguments, Some(call));
            draft.progress(call);
        }
        for id in sheet.take_any(params, &["message", "data"]) {
            draft.tree(sheet, id, Origin::Log, None);
        }
    }
    answer
}

/// A tool's result.
fn result(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    sheet.known(object, RESULT);
    for list in sheet.take(object, "content") {
        blocks(sheet, list, call, draft);
    }
    for id in sheet.take_any(object, &["structuredContent", "structured_content"]) {
        structured(sheet, id, call, draft);
    }
    for id in sheet.take_any(object, &["_meta", "meta"]) {
        draft.tree(sheet, id, Origin::Metadata, Some(call));
    }
    if sheet.take_flag(object, &["isError", "is_error"]) == Some(true) {
        draft.state(call, Status::Failed, "isError");
    }
    for id in sheet.take_any(object, &["resultType", "result_type"]) {
        match sheet.word(id, &["complete", "input_required", "task"]) {
            Some("complete") | None if sheet.is_claimed(id) => draft.state(call, Status::Ok, "resultType complete"),
            Some(_) => draft.state(call, Status::Pending, "resultType says it is not complete"),
            None => draft.state(call, Status::Unknown, format!("resultType {}", Draft::raw_word(sheet, id))),
        }
    }
    draft.state_if_silent(call, Status::Ok, "no isError");
}

/// Any JSON. Streams and an exit code in it are what they are called; they never make a failure better.
pub(super) fn structured(sheet: &Sheet, id: NodeId, call: usize, draft: &mut Draft<'_>) {
    if sheet.is_object(id) {
        for (keys, origin) in [(&["stdout", "stdOut"], Origin::Stdout), (&["stderr", "stdErr"], Origin::Stderr)] {
            for text in sheet.take_any(id, keys).filter(|id| sheet.kind(*id) == Kind::Text) {
                draft.text(sheet, text, origin, Some(call));
            }
        }
        if let Some(code) = sheet.take_integer(id, &["exitCode", "exit_code"])
            && code != Some(0)
        {
            draft.exit(call, Some(code));
        }
    }
    draft.tree(sheet, id, Origin::Result, Some(call));
}

/// Content blocks; a string where a list is due is read as text.
pub(super) fn blocks(sheet: &Sheet, list: NodeId, call: usize, draft: &mut Draft<'_>) {
    for item in sheet.items(list) {
        if sheet.is_object(item) {
            block(sheet, item, call, draft);
        } else {
            draft.text(sheet, item, Origin::Log, Some(call));
        }
    }
}

fn block(sheet: &Sheet, block: NodeId, call: usize, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(block, "type").unwrap_or_default();
    sheet.known(block, BLOCK);
    draft.texts(sheet, block, "text", Origin::Log, Some(call));
    let declared = sheet.take_type(block, MIME);
    let name = sheet.peek_word(block, "name");
    draft.described(sheet, block, &["name", "title", "description"], Some(call));
    let origin = if kind == "image" { Origin::Image } else { Origin::File };
    for id in sheet.take(block, "data") {
        let made = draft.bytes(sheet, id, origin, declared.clone(), Some(call));
        draft.describe(made, name.clone(), None);
    }
    for id in sheet.take(block, "uri") {
        draft.url(sheet, id, Origin::File, Some(call));
    }
    for resource in sheet.take(block, "resource").filter(|id| sheet.is_object(*id)) {
        sheet.known(resource, &[("type", Shape::Word(&["text", "blob"]))]);
        let declared = sheet.take_type(resource, MIME);
        let name = sheet.peek_word(resource, "uri");
        draft.described(sheet, resource, &["uri", "name", "title"], Some(call));
        for id in sheet.take(resource, "text") {
            let made = draft.text(sheet, id, Origin::File, Some(call));
            draft.describe(made, name.clone(), declared.clone());
        }
        for id in sheet.take(resource, "blob") {
            let made = draft.bytes(sheet, id, Origin::File, declared.clone(), Some(call));
            draft.describe(made, name.clone(), None);
        }
    }
    for id in sheet.take_any(block, &["_meta", "meta"]) {
        draft.tree(sheet, id, Origin::Metadata, Some(call));
    }
}
