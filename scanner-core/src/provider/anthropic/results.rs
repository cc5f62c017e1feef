//! Results of the vendor's own tools: one object under `content`, told apart by its type (SHAPES 1.1).

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        rules::SHAPE,
        sheet::{Shape, Sheet},
    },
    finding::Reason,
    json::{Kind, NodeId},
};

use super::blocks;

const RESULTS: &[&str] = &[
    "code_execution_result",
    "encrypted_code_execution_result",
    "code_execution_tool_result_error",
    "bash_code_execution_result",
    "bash_code_execution_tool_result_error",
    "text_editor_code_execution_view_result",
    "text_editor_code_execution_create_result",
    "text_editor_code_execution_str_replace_result",
    "text_editor_code_execution_tool_result_error",
    "web_search_result",
    "web_fetch_result",
    "web_search_tool_result_error",
    "web_fetch_tool_result_error",
    "web_fetch_tool_error",
];
const OUTPUT: &[(&str, Shape)] = &[("type", Shape::Word(&["code_execution_output", "bash_code_execution_output"]))];
const ERROR_CODES: &[&str] = &[
    "invalid_tool_input",
    "unavailable",
    "too_many_requests",
    "execution_time_exceeded",
    "code_execution_exceeded",
    "output_file_too_large",
    "file_not_found",
    "container_expired",
    "string_not_found",
    "max_uses_exceeded",
    "query_too_long",
    "url_too_long",
    "url_not_allowed",
    "url_not_accessible",
    "unsupported_content_type",
    "request_too_large",
];
const TIMEOUTS: &[&str] = &["execution_time_exceeded", "code_execution_exceeded"];
const EDITOR: &[(&str, Shape)] = &[
    ("file_type", Shape::Word(&["text", "image", "pdf"])),
    ("is_file_update", Shape::Scalar),
    ("num_lines", Shape::Scalar),
    ("start_line", Shape::Scalar),
    ("total_lines", Shape::Scalar),
    ("old_start", Shape::Scalar),
    ("old_lines", Shape::Scalar),
    ("new_start", Shape::Scalar),
    ("new_lines", Shape::Scalar),
    ("abort_reason", Shape::Scalar),
    ("retrieved_at", Shape::Stamp),
    ("encrypted_content", Shape::Opaque),
];

/// A result block of a server tool.
pub(super) fn server_result(sheet: &Sheet, object: NodeId, kind: &str, draft: &mut Draft<'_>) {
    let tool = kind.strip_suffix("_tool_result").unwrap_or(kind);
    let call = blocks::result_call(sheet, object, &["tool_use_id"], Some(tool), draft);
    for content in sheet.take(object, "content") {
        if sheet.kind(content) == Kind::Text {
            draft.text(sheet, content, Origin::Log, Some(call));
            draft.state(call, Status::Unknown, "a string stands where a result is due");
            continue;
        }
        let listed = matches!(tool, "web_search" | "tool_search");
        if sheet.kind(content) == Kind::Array && !listed {
            draft.find(&SHAPE, "a list stands where one result is due: each was read", Some(sheet.pointer(content)));
        }
        for result in sheet.items(content) {
            if sheet.is_object(result) {
                read(sheet, result, call, draft);
            }
        }
        if listed && sheet.kind(content) == Kind::Array {
            draft.state(call, Status::Ok, "a list of results");
        }
    }
    draft.state_if_silent(call, Status::Unknown, "a result without anything in it");
}

fn read(sheet: &Sheet, result: NodeId, call: usize, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(result, "type").unwrap_or_default();
    sheet.take_word(result, "type", RESULTS);
    sheet.known(result, EDITOR);
    if kind.ends_with("_error") || sheet.has(result, "error_code") {
        error(sheet, result, call, draft);
        return;
    }
    draft.texts(sheet, result, "stdout", Origin::Stdout, Some(call));
    draft.texts(sheet, result, "stderr", Origin::Stderr, Some(call));
    for id in sheet.take(result, "encrypted_stdout") {
        sheet.known(result, &[("encrypted_stdout", Shape::Opaque)]);
        draft.gap(Reason::EncryptedStdout, "stdout is encrypted: only the vendor can read it", Some(sheet.pointer(id)));
    }
    draft.described(sheet, result, &["title", "url", "page_age"], Some(call));
    let code = sheet.take_integer(result, &["return_code"]);
    draft.exit(call, code);
    if kind.contains("view_result") {
        view(sheet, result, call, draft);
    } else {
        outputs(sheet, result, call, draft);
    }
    for lines in sheet.take(result, "lines") {
        draft.lines(sheet, lines, "\n", Origin::Result, Some(call));
    }
    if code.is_none() {
        let known = RESULTS.contains(&kind.as_str()) && !kind.contains("code_execution_result");
        let status = if known { Status::Ok } else { Status::Unknown };
        draft.state(call, status, if known { "a result that is no error" } else { "a result without return_code" });
    }
}

fn error(sheet: &Sheet, result: NodeId, call: usize, draft: &mut Draft<'_>) {
    draft.state(call, Status::Failed, "an error result");
    for id in sheet.take(result, "error_code") {
        let known = sheet.word(id, ERROR_CODES);
        let word = known.map_or_else(|| Draft::raw_word(sheet, id), str::to_owned);
        let timed_out = known.is_some_and(|code| TIMEOUTS.contains(&code));
        let status = if timed_out { Status::TimedOut } else { Status::Failed };
        draft.state(call, status, format!("error_code {word}"));
        if let Some(call) = draft.bundle.calls.get_mut(call)
            && call.status == Status::Failed
        {
            call.status_reason = format!("error_code {word}");
        }
    }
    draft.texts(sheet, result, "error_message", Origin::Error, Some(call));
}

/// What was viewed: text, or a picture or document in what is presumably base64 (SHAPES 1.1, unverified).
fn view(sheet: &Sheet, result: NodeId, call: usize, draft: &mut Draft<'_>) {
    let declared = match sheet.peek_word(result, "file_type").as_deref() {
        Some("image") => Some(Origin::Image),
        Some("pdf") => Some(Origin::File),
        _ => None,
    };
    for id in sheet.take(result, "content") {
        let made = declared.and_then(|origin| draft.bytes_if_base64(sheet, id, origin, None, Some(call)));
        if made.is_none() {
            draft.text(sheet, id, Origin::Result, Some(call));
        }
    }
}

/// Files that were produced, by reference. Web results keep their blocks here.
fn outputs(sheet: &Sheet, result: NodeId, call: usize, draft: &mut Draft<'_>) {
    for list in sheet.take(result, "content") {
        if sheet.kind(list) == Kind::Text {
            draft.text(sheet, list, Origin::Result, Some(call));
        }
        for item in sheet.items(list).into_iter().filter(|item| sheet.is_object(*item)) {
            if !sheet.has(item, "file_id") {
                blocks::block_of(sheet, item, call, draft);
                continue;
            }
            sheet.known(item, OUTPUT);
            for id in sheet.take(item, "file_id") {
                blocks::file_reference(sheet, id, None, Some(call), draft);
            }
        }
    }
}
