//! `scanner.bundle/v1`: the neutral form, given by the caller.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "bundle",
    expected: "an object with \"schema\": \"scanner.bundle/v1\"",
    recognise,
    adapt,
    reads: "calls with stdout, stderr, result, code and files (text or base64), messages",
    status: "status; without one the exit code: 0 is ok, anything else failed",
    error: "`status: \"failed\"` of the call; without it an `exit_code` that is not 0",
};

const SCHEMA: &str = "scanner.bundle/v1";
/// The words of [`Status`].
pub(super) const STATUSES: &[&str] = &["ok", "failed", "timed_out", "truncated", "cancelled", "pending", "unknown"];
const NAME: &[&str] = &["name", "filename", "file_name", "fileName"];
const TYPE: &[&str] = &["type", "mime_type", "mimeType", "media_type", "content_type", "contentType"];
const BASE64: &[&str] = &["base64", "data", "content_base64", "b64"];
const TEXT: &[&str] = &["text", "content"];

fn recognise(envelope: &Envelope) -> Sure {
    let is_bundle =
        envelope.first().is_some_and(|(sheet, root)| sheet.peek_word(root, "schema").as_deref() == Some(SCHEMA));
    if is_bundle { Sure::Yes } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some(SCHEMA);
    for (sheet, root) in envelope.objects() {
        sheet.take_word(root, "schema", &[SCHEMA]);
        for list in sheet.take(root, "calls") {
            for call in sheet.items(list) {
                read_call(sheet, call, draft);
            }
        }
        for list in sheet.take(root, "messages") {
            for message in sheet.items(list) {
                draft.text(sheet, message, Origin::Message, None);
            }
        }
        for list in sheet.take(root, "watch") {
            for text in sheet.items(list) {
                // Never an artifact: a watched string would find itself.
                match sheet.doc.string(text, draft.budget) {
                    Ok(Some(text)) => draft.watch.push(text),
                    Ok(None) => draft.odd_shape(sheet, text, "a string"),
                    Err(exhausted) => draft.limit(exhausted, Some(sheet.pointer(text))),
                }
                sheet.claim(text);
            }
        }
        for object in sheet.take(root, "context") {
            read_context(sheet, object, draft);
        }
    }
}

fn read_call(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let id = sheet.take_id(object, "id");
    let mut tool = None;
    for name in sheet.take(object, "tool") {
        // The caller's own word: any name that looks like one.
        if let Some(word) = sheet.doc.word(name).filter(|word| is_name(word)) {
            sheet.claim(name);
            tool = Some(word.into_owned());
        }
    }
    let call = draft.call(id, tool.as_deref());
    draft.container(call, sheet.take_id(object, "container"));
    for (key, origin) in
        [("code", Origin::Code), ("stdout", Origin::Stdout), ("stderr", Origin::Stderr), ("result", Origin::Result)]
    {
        draft.texts(sheet, object, key, origin, Some(call));
    }
    for list in sheet.take(object, "files") {
        files(sheet, list, call, draft);
    }
    for word in sheet.take(object, "status") {
        match sheet.word(word, STATUSES).and_then(Status::named) {
            Some(status) => draft.state(call, status, "given by the caller"),
            None if sheet.kind(word) == Kind::Null => {}
            None => draft.state(call, Status::Unknown, "a status that is none"),
        }
    }
    let code = sheet.take_integer(object, &["exit_code"]);
    if !draft.is_stated(call) {
        draft.exit(call, code);
    } else if let (Some(Some(code)), Some(call)) = (code, draft.bundle.calls.get_mut(call)) {
        // The caller's status counts; the code is only reported.
        call.exit_code = Some(code);
    }
}

/// A list of files: `{"name", "type"?, "base64" | "text" | "path"}`, or a map from name to text.
pub(super) fn files(sheet: &Sheet, list: NodeId, call: usize, draft: &mut Draft<'_>) {
    let has = |object, keys: &[&str]| keys.iter().any(|key| sheet.has(object, key));
    if sheet.is_object(list) && !has(list, NAME) && !has(list, BASE64) && !has(list, TEXT) && !sheet.has(list, "path") {
        // {"report.csv": "a,b"}: the keys are names, and stay unclaimed to be read.
        for content in sheet.doc.children(list) {
            let name = sheet.doc.key(content).map(std::borrow::Cow::into_owned);
            let made = draft.text(sheet, content, Origin::File, Some(call));
            draft.describe(made, name, None);
        }
        return;
    }
    for file in sheet.items(list).into_iter().filter(|file| sheet.is_object(*file)) {
        read_file(sheet, file, call, draft);
    }
}

fn read_file(sheet: &Sheet, file: NodeId, call: usize, draft: &mut Draft<'_>) {
    let mut name = None;
    for id in sheet.take_any(file, NAME) {
        name = name.or(sheet.doc.word(id).map(std::borrow::Cow::into_owned));
        draft.text(sheet, id, Origin::Metadata, Some(call));
    }
    let declared = sheet.take_type(file, TYPE);
    let mut has_bytes = false;
    for id in sheet.take_any(file, BASE64) {
        has_bytes = true;
        let made = draft.bytes(sheet, id, Origin::File, declared.clone(), Some(call));
        draft.describe(made, name.clone(), None);
    }
    for id in sheet.take_any(file, TEXT) {
        has_bytes = true;
        let made = draft.text(sheet, id, Origin::File, Some(call));
        draft.describe(made, name.clone(), declared.clone());
    }
    for id in sheet.take(file, "path") {
        draft.text(sheet, id, Origin::Metadata, Some(call));
        // The command reads paths before; here a path is something that was not fetched. It is never opened.
        if let Some(path) = sheet.doc.word(id).filter(|_| !has_bytes) {
            draft.refer("file", path.into_owned(), name.clone(), None, sheet.pointer(id), Some(call));
        }
    }
}

fn read_context(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    for id in sheet.doc.children(object) {
        let (Some(key), Some(value)) = (sheet.doc.key(id), sheet.doc.word(id)) else { continue };
        // Bound into the receipt and never interpreted: the caller's own, no output.
        draft.context.insert(key.into_owned(), value.into_owned());
        sheet.claim_key(id);
        sheet.claim(id);
    }
}
