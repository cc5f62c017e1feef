//! Content blocks, and the managed-agent events that wrap them.

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        draft::Draft,
        link,
        rules::REFERENCE,
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{VENDOR, results};

/// Block types that nobody else sends.
const SURE: &[&str] = &[
    "server_tool_use",
    "tool_use",
    "mcp_tool_use",
    "tool_result",
    "mcp_tool_result",
    "container_upload",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
];
/// Names of the vendor's own tools, and those that the docs give client tools (SHAPES 1.1, 1.3).
const TOOLS: &[&str] = &[
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "web_search",
    "web_fetch",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
    "advisor",
    "bash",
    "str_replace_based_edit_tool",
    "str_replace_editor",
    "computer",
    "memory",
];
const BLOCKS: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "tool_reference",
    "browser_state",
    "compaction",
];
const CALLERS: &[(&str, Shape)] = &[
    ("type", Shape::Word(&["direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"])),
    ("tool_id", Shape::Id),
];
const SOURCE: &[(&str, Shape)] =
    &[("type", Shape::Word(&["base64", "url", "text", "content", "file"])), ("media_type", Shape::Name)];
const CITATION: &[(&str, Shape)] = &[
    ("type", Shape::Name),
    ("cited_text", Shape::Scalar),
    ("title", Shape::Scalar),
    ("url", Shape::Scalar),
    ("source", Shape::Scalar),
    ("document_title", Shape::Scalar),
    ("document_index", Shape::Scalar),
    ("search_result_index", Shape::Scalar),
    ("start_char_index", Shape::Scalar),
    ("end_char_index", Shape::Scalar),
    ("start_page_number", Shape::Scalar),
    ("end_page_number", Shape::Scalar),
    ("start_block_index", Shape::Scalar),
    ("end_block_index", Shape::Scalar),
    ("encrypted_index", Shape::Opaque),
    ("file_id", Shape::Id),
];
const MANAGED: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("processed_at", Shape::Stamp),
    ("created_at", Shape::Stamp),
    ("session_id", Shape::Id),
    ("evaluated_permission", Shape::Word(&["allow", "ask", "deny"])),
];
const CACHE_CONTROL: &[(&str, Shape)] =
    &[("cache_control", Shape::Inside(&[("type", Shape::Word(&["ephemeral"])), ("ttl", Shape::Word(&["5m", "1h"]))]))];

pub(super) fn is_sure(kind: &str) -> bool {
    SURE.contains(&kind)
}

/// `agent.tool_result`, `user.message`, `session.error` …
pub(super) fn is_managed(kind: &str) -> bool {
    kind.split_once('.')
        .is_some_and(|(whose, what)| matches!(whose, "agent" | "user" | "session" | "span") && is_name(what))
}

/// The content of a message or of a tool result: a string, or blocks.
pub(super) fn content(sheet: &Sheet, id: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    match sheet.kind(id) {
        Kind::Text => drop(draft.text(sheet, id, origin, call)),
        _ => {
            for item in sheet.items(id) {
                if sheet.is_object(item) {
                    in_role(sheet, item, origin, call, draft);
                } else {
                    draft.text(sheet, item, origin, call);
                }
            }
        }
    }
}

/// A block of a message, or one that stands alone.
pub(super) fn block(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    in_role(sheet, object, Origin::Message, None, draft);
}

/// A block inside the result of a call.
pub(super) fn block_of(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    in_role(sheet, object, Origin::Log, Some(call), draft);
}

fn in_role(sheet: &Sheet, object: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    for id in sheet.take(object, "type") {
        let _ = sheet.word(id, SURE).or_else(|| sheet.word(id, BLOCKS));
    }
    sheet.known(object, CACHE_CONTROL);
    match kind.as_str() {
        "text" => {
            draft.texts(sheet, object, "text", origin, call);
            for id in sheet.take(object, "citations") {
                citation(sheet, id, call, draft);
            }
        }
        "thinking" => {
            draft.texts(sheet, object, "thinking", Origin::Message, call);
            sheet.known(object, &[("signature", Shape::Opaque)]);
        }
        "redacted_thinking" => sheet.known(object, &[("data", Shape::Opaque)]),
        "server_tool_use" | "tool_use" | "mcp_tool_use" => tool_use(sheet, object, draft),
        "tool_result" | "mcp_tool_result" => client_result(sheet, object, &["tool_use_id"], draft),
        "container_upload" => {
            for id in sheet.take(object, "file_id") {
                file_reference(sheet, id, None, call, draft);
            }
        }
        "image" | "document" => media(sheet, object, &kind, call, draft),
        "search_result" => {
            draft.described(sheet, object, &["title", "source"], call);
            for id in sheet.take(object, "content") {
                content(sheet, id, origin, call, draft);
            }
        }
        kind if kind.ends_with("_tool_result") => results::server_result(sheet, object, kind, draft),
        _ => {}
    }
}

/// What a text cites: titles and words of documents and pages.
pub(super) fn citation(sheet: &Sheet, id: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    for item in sheet.items(id) {
        sheet.known(item, CITATION);
    }
    draft.tree(sheet, id, Origin::Metadata, call);
}

/// A call, the vendor's or the client's. Its input is worded by the model.
fn tool_use(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let mut tool: Option<String> = None;
    let mut own_name = None;
    for id in sheet.take(object, "name") {
        // A client's tool has whatever name the client gave it: read as text unless it is one of the vendor's.
        let known = sheet.word(id, TOOLS).map(str::to_owned);
        own_name = own_name.or(known.is_none().then_some(id));
        let name = known.or_else(|| sheet.doc.word(id).filter(|word| is_name(word)).map(std::borrow::Cow::into_owned));
        tool = tool.or(name);
    }
    let id = sheet.take_id(object, "id");
    let call = draft.call(id, tool.as_deref());
    if let Some(name) = own_name {
        draft.text(sheet, name, Origin::Metadata, Some(call));
    }
    draft.described(sheet, object, &["server_name", "mcp_server_name"], Some(call));
    for input in sheet.take(object, "input") {
        draft.arguments(sheet, input, Some(call));
    }
    for caller in sheet.take(object, "caller") {
        sheet.known(caller, CALLERS);
        let name = sheet.peek_word(caller, "tool_id").or_else(|| sheet.peek_word(caller, "type"));
        draft.caller(call, name.filter(|name| name != "direct" && is_name(name)));
    }
}

/// The result of a tool that ran at the client: content without exit code or streams, and `is_error`.
fn client_result(sheet: &Sheet, object: NodeId, keys: &[&str], draft: &mut Draft<'_>) {
    let call = result_call(sheet, object, keys, None, draft);
    for id in sheet.take(object, "content") {
        content(sheet, id, Origin::Log, Some(call), draft);
    }
    draft.described(sheet, object, &["toolset_name"], Some(call));
    match sheet.take_flag(object, &["is_error"]) {
        Some(true) => draft.state(call, Status::Failed, "is_error"),
        _ => draft.state(call, Status::Ok, "no is_error"),
    }
}

/// The call a result belongs to: by id, else the first that has none yet.
pub(super) fn result_call(
    sheet: &Sheet,
    object: NodeId,
    keys: &[&str],
    tool: Option<&str>,
    draft: &mut Draft<'_>,
) -> usize {
    let mut id = None;
    for key in keys {
        id = id.or(sheet.take_id(object, key));
    }
    match id {
        Some(id) => draft.call(Some(id), tool),
        None => draft.first_silent().unwrap_or_else(|| draft.call(None, tool)),
    }
}

/// An image or a document: base64, text, blocks, a URL or a file.
fn media(sheet: &Sheet, object: NodeId, kind: &str, call: Option<usize>, draft: &mut Draft<'_>) {
    let origin = if kind == "image" { Origin::Image } else { Origin::File };
    let title = sheet.peek(object, "title").and_then(|id| sheet.doc.word(id)).map(std::borrow::Cow::into_owned);
    draft.described(sheet, object, &["title", "context"], call);
    sheet.known(object, &[("citations", Shape::Inside(&[("enabled", Shape::Scalar)]))]);
    for source in sheet.take(object, "source") {
        let declared = sheet.peek_word(source, "media_type");
        let how = sheet.peek_word(source, "type").unwrap_or_default();
        sheet.known(source, SOURCE);
        for id in sheet.take(source, "data") {
            let made = if how == "text" {
                draft.text(sheet, id, origin, call)
            } else {
                draft.bytes(sheet, id, origin, declared.clone(), call)
            };
            draft.describe(made, title.clone(), declared.clone());
        }
        for id in sheet.take(source, "content") {
            content(sheet, id, Origin::Log, call, draft);
        }
        for id in sheet.take(source, "url") {
            draft.url(sheet, id, origin, call);
        }
        for id in sheet.take(source, "file_id") {
            file_reference(sheet, id, title.clone(), call, draft);
        }
    }
}

/// A file the vendor keeps.
pub(super) fn file_reference(
    sheet: &Sheet,
    id: NodeId,
    name: Option<String>,
    call: Option<usize>,
    draft: &mut Draft<'_>,
) {
    let Some(file) = sheet.doc.word(id).map(std::borrow::Cow::into_owned) else { return };
    let at = sheet.pointer(id);
    let request = link::request(VENDOR.auth, &["/v1/files/", "/content"], &[&file]);
    if request.is_none() {
        draft.find(&REFERENCE, "a file id outside the vendor's alphabet", Some(at.clone()));
    } else {
        sheet.claim(id);
    }
    draft.refer("file_id", file, name, request, at, call);
}

/// An event of a managed agent's session.
pub(super) fn managed(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    for id in sheet.take(object, "type") {
        sheet.claim(id);
    }
    let what = kind.split_once('.').map_or("", |(_, what)| what);
    if what.ends_with("tool_use") {
        tool_use(sheet, object, draft);
    } else if what.ends_with("tool_result") {
        client_result(sheet, object, &["tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"], draft);
    } else {
        let before = draft.trust;
        if kind.starts_with("user.") {
            draft.trust = Trust::Caller;
        }
        for id in sheet.take(object, "content") {
            content(sheet, id, Origin::Message, None, draft);
        }
        draft.trust = before;
        for id in sheet.take(object, "error") {
            super::error(sheet, id, draft);
        }
    }
    sheet.known(object, MANAGED);
}
