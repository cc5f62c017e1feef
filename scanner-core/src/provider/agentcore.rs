//! AWS Bedrock `AgentCore` `InvokeCodeInterpreter`: events of its stream as JSON. SHAPES 10.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::{Draft, Vendor},
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure, mcp};

pub(crate) static PROVIDER: Provider = Provider {
    name: "agentcore",
    expected: "an object with \"result\" holding \"content\", or a list of such events",
    recognise,
    adapt,
    reads: "content blocks, structuredContent with stdout, stderr and exitCode, exception events",
    status: "isError, exitCode and taskStatus; a stream that ends in an exception is truncated",
    error: "`isError: true`; `exitCode` ≠ 0; `taskStatus`: `failed`, `canceled`; an exception event",
};

const STRUCTURED: &[(&str, Shape)] =
    &[("executionTime", Shape::Scalar), ("taskId", Shape::Id), ("exitCode", Shape::Scalar)];
const TASKS: &[&str] = &["submitted", "working", "completed", "canceled", "failed"];

fn recognise(envelope: &Envelope) -> Sure {
    let heads = envelope.heads();
    let of = |(sheet, object): &(&Sheet, NodeId)| {
        if sheet.has(*object, "jsonrpc") {
            return Sure::No;
        }
        let result = sheet.peek(*object, "result").or(sheet.peek_path(*object, &["stream", "result"]));
        let has = |key| result.is_some_and(|result| sheet.has(result, key));
        if has("content") || has("structuredContent") {
            Sure::Yes
        } else {
            exception(sheet, *object).map_or(Sure::No, |_| Sure::Maybe)
        }
    };
    heads.iter().map(of).max().unwrap_or(Sure::No)
}

/// The member of an event that is an exception.
fn exception(sheet: &Sheet, object: NodeId) -> Option<NodeId> {
    sheet
        .doc
        .children(object)
        .find(|id| sheet.is_object(*id) && sheet.doc.key(*id).is_some_and(|key| key.ends_with("Exception")))
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.vendor = Vendor { auth: "aws", hosts: &[] };
    draft.surface = Some("InvokeCodeInterpreter");
    let call = draft.call(None, Some("code_interpreter"));
    let mut results = false;
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        for event in [object].into_iter().chain(sheet.take(object, "stream")).flat_map(|id| sheet.items(id)) {
            for result in sheet.take(event, "result").filter(|id| sheet.is_object(*id)) {
                results = true;
                read(sheet, result, call, draft);
            }
            if let Some(id) = exception(sheet, event) {
                sheet.claim_key(id);
                sheet.known(id, &[("message", Shape::Scalar)]);
                draft.tree(sheet, id, Origin::Error, Some(call));
                let status = if results { Status::Truncated } else { Status::Failed };
                draft.state(call, status, "the stream ended in an exception");
            }
        }
        sheet.known(object, &[("sessionId", Shape::Id), ("codeInterpreterIdentifier", Shape::Id)]);
    }
    if !draft.is_under_way(call) {
        draft.state_if_silent(call, Status::Ok, "no error");
    }
}

fn read(sheet: &Sheet, result: NodeId, call: usize, draft: &mut Draft<'_>) {
    for list in sheet.take(result, "content") {
        mcp::blocks(sheet, list, call, draft);
    }
    for structured in sheet.take(result, "structuredContent") {
        if sheet.kind(structured) != Kind::Object {
            draft.tree(sheet, structured, Origin::Result, Some(call));
            continue;
        }
        let code = sheet.take_integer(structured, &["exitCode"]);
        draft.exit(call, code);
        for id in sheet.take(structured, "taskStatus") {
            match sheet.word(id, TASKS) {
                Some("submitted" | "working") => draft.progress(call),
                Some("completed") => draft.state(call, Status::Ok, "taskStatus completed"),
                Some("canceled") => draft.state(call, Status::Cancelled, "taskStatus canceled"),
                Some(_) => draft.state(call, Status::Failed, "taskStatus failed"),
                None if sheet.kind(id) == Kind::Null => {}
                None => draft.state(call, Status::Unknown, format!("taskStatus {}", Draft::raw_word(sheet, id))),
            }
        }
        sheet.known(structured, STRUCTURED);
        mcp::structured(sheet, structured, call, draft);
    }
    match sheet.take_flag(result, &["isError"]) {
        Some(true) => draft.state(call, Status::Failed, "isError"),
        Some(false) if !draft.is_under_way(call) => draft.state(call, Status::Ok, "isError false"),
        _ => {}
    }
}
