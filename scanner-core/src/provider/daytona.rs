//! Daytona: code-run, execute, sessions, interpreter frames. SHAPES 6.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    finding::{Confidence, Rule, RuleText, Severity},
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "daytona",
    expected: "an object with \"exitCode\" and \"result\", \"cmdId\", or interpreter frames",
    recognise,
    adapt,
    reads: "result, output, stdout, stderr, charts and their pictures, frames, error bodies",
    status: "exitCode: 0 ok, else failed; no exitCode is pending; HTTP 408 and PROCESS_EXECUTION_TIMEOUT timed_out",
    error: "`exitCode` ≠ 0 (-1: it could not start); time: HTTP 408 or `PROCESS_EXECUTION_TIMEOUT`; frames: type `error`, control `interrupted`",
};

/// The daemon makes charts of lines of stdout that begin with this.
const MARKER: &[u8] = b"dtn_artifact_k39fd2:";
static FORGEABLE: Rule = Rule::built_in(
    "daytona/forged-chart",
    "malformed.structure",
    Severity::Info,
    Confidence::Medium,
    RuleText {
        title: "a chart that the program can forge",
        why: "Charts are cut out of stdout at a marker that any program can print: title and picture are the program's own words.",
        remedy: "Trust a chart no more than stdout.",
    },
);
/// Rules of this provider.
pub(super) const RULES: &[&Rule] = &[&FORGEABLE];

const FRAMES: &[&str] = &["stdout", "stderr", "error", "control"];
const KNOWN: &[(&str, Shape)] = &[
    ("cmdId", Shape::Id),
    ("statusCode", Shape::Scalar),
    ("timestamp", Shape::Stamp),
    ("method", Shape::Word(&["GET", "POST", "PUT", "DELETE"])),
    ("id", Shape::Id),
    ("sandboxId", Shape::Id),
];

fn recognise(envelope: &Envelope) -> Sure {
    envelope.heads().into_iter().map(|(sheet, object)| of_object(sheet, object)).max().unwrap_or(Sure::No)
}

fn of_object(sheet: &Sheet, object: NodeId) -> Sure {
    let has = |key| sheet.has(object, key);
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let frame = FRAMES.contains(&kind.as_str()) && has("text") && (has("traceback") || kind == "control");
    let code = sheet.peek_word(object, "code").unwrap_or_default();
    let path = sheet.peek_word(object, "path").unwrap_or_default();
    if frame
        || has("cmdId")
        || has("exitCode") && has("result") && !has("stdout") && !has("executionTimeMs")
        || has("exit_code") && has("result") && has("artifacts")
        || code.starts_with("PROCESS_") && has("message")
        || has("statusCode") && path.starts_with("/process")
        || sheet.peek_path(object, &["artifacts", "charts"]).is_some()
    {
        return Sure::Yes;
    }
    if has("output") && (has("stdout") || has("exitCode")) && kind.is_empty() { Sure::Maybe } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    let objects: Vec<_> = envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)).collect();
    if objects
        .iter()
        .any(|(sheet, object)| FRAMES.contains(&sheet.peek_word(*object, "type").unwrap_or_default().as_str()))
    {
        draft.surface = Some("interpreter frames");
        let mut frames = Frames::default();
        let call = draft.call(None, Some("code_interpreter"));
        for (sheet, object) in objects {
            frames.read(sheet, object, call, draft);
        }
        frames.joiner.finish(draft);
        draft.state_if_silent(call, Status::Truncated, "no control frame says that it ended");
        return;
    }
    draft.surface = Some("toolbox process");
    for (sheet, object) in objects {
        result(sheet, object, draft);
    }
}

fn result(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let id = sheet.take_id(object, "cmdId");
    let call = draft.call(id, None);
    for (key, origin) in [
        ("result", Origin::Log),
        ("output", Origin::Log),
        ("stdout", Origin::Stdout),
        ("stderr", Origin::Stderr),
        ("message", Origin::Error),
        ("path", Origin::Metadata),
    ] {
        for id in sheet.take(object, key) {
            let made = draft.text(sheet, id, origin, Some(call));
            let text = made.and_then(|index| draft.bundle.artifacts.get(index)).map(|it| it.source.packed.clone());
            if text.is_some_and(|text| memchr::memmem::find(&text, MARKER).is_some()) {
                draft.find(&FORGEABLE, "the marker of charts stands in the output", Some(sheet.pointer(id)));
            }
        }
    }
    let code = sheet.take_integer(object, &["exitCode", "exit_code"]);
    draft.exit(call, code);
    let http = sheet.peek(object, "statusCode").and_then(|id| sheet.doc.integer(id));
    let word = sheet.peek_word(object, "code").unwrap_or_default();
    sheet.known(object, &[("code", Shape::Name)]);
    if http == Some(408) || word == "PROCESS_EXECUTION_TIMEOUT" {
        draft.state(call, Status::TimedOut, "HTTP 408: the command timed out");
    } else if http.is_some_and(|status| status >= 400) || word.starts_with("PROCESS_") {
        draft.state(call, Status::Failed, "an error body");
    }
    for artifacts in sheet.take(object, "artifacts").filter(|id| sheet.is_object(*id)) {
        draft.texts(sheet, artifacts, "stdout", Origin::Stdout, Some(call));
        for charts in sheet.take(artifacts, "charts") {
            let list: Vec<_> = sheet.items(charts).into_iter().filter(|id| sheet.is_object(*id)).collect();
            if !list.is_empty() {
                draft.find(&FORGEABLE, "a chart was cut out of stdout", Some(sheet.pointer(charts)));
            }
            for one in list {
                chart(sheet, one, call, draft);
            }
        }
    }
    sheet.known(object, KNOWN);
    let reason = "no exitCode: it is still running";
    draft.state_if_silent(call, Status::Pending, reason);
}

/// A chart: a picture, and words of the program.
pub(super) fn chart(sheet: &Sheet, chart: NodeId, call: usize, draft: &mut Draft<'_>) {
    const CHART: &[(&str, Shape)] = &[
        (
            "type",
            Shape::Word(&[
                "line",
                "scatter",
                "bar",
                "pie",
                "box_and_whisker",
                "composite_chart",
                "superchart",
                "unknown",
            ]),
        ),
        ("title", Shape::Scalar),
        (
            "elements",
            Shape::Inside(&[
                ("label", Shape::Scalar),
                ("points", Shape::Scalar),
                ("group", Shape::Scalar),
                ("value", Shape::Scalar),
            ]),
        ),
        ("x_label", Shape::Scalar),
        ("y_label", Shape::Scalar),
        ("x_unit", Shape::Scalar),
        ("y_unit", Shape::Scalar),
        ("x_ticks", Shape::Scalar),
        ("y_ticks", Shape::Scalar),
        ("x_tick_labels", Shape::Scalar),
        ("y_tick_labels", Shape::Scalar),
        ("x_scale", Shape::Word(&["linear", "log", "symlog", "logit", "datetime", "categorical", "function"])),
        ("y_scale", Shape::Word(&["linear", "log", "symlog", "logit", "datetime", "categorical", "function"])),
    ];
    // A chart of charts has a picture for each of them.
    let elements = sheet.peek(chart, "elements").map(|list| sheet.items(list)).unwrap_or_default();
    for holder in std::iter::once(chart).chain(elements).filter(|holder| sheet.is_object(*holder)) {
        for id in sheet.take(holder, "png") {
            draft.bytes(sheet, id, Origin::Image, Some("image/png".to_owned()), Some(call));
        }
    }
    sheet.known(chart, CHART);
    draft.tree(sheet, chart, Origin::Metadata, Some(call));
}

#[derive(Default)]
struct Frames {
    joiner: crate::envelope::joiner::Joiner,
}

impl Frames {
    fn read(&mut self, sheet: &Sheet, frame: NodeId, call: usize, draft: &mut Draft<'_>) {
        use crate::envelope::joiner::Role;
        let kind = sheet.take_word(frame, "type", FRAMES).unwrap_or_default();
        match kind {
            "stdout" | "stderr" => {
                let origin = if kind == "stdout" { Origin::Stdout } else { Origin::Stderr };
                for id in sheet.take(frame, "text") {
                    self.joiner.push(draft, sheet, id, kind.to_owned(), Role::Text(origin), Some(call));
                }
            }
            "control" => {
                for id in sheet.take(frame, "text") {
                    match sheet.word(id, &["completed", "interrupted", "timeout"]) {
                        Some("completed") => draft.state(call, Status::Ok, "control completed"),
                        Some("interrupted") => draft.state(call, Status::Cancelled, "control interrupted"),
                        Some(_) => draft.state(call, Status::TimedOut, "control timeout"),
                        None => drop(draft.text(sheet, id, Origin::Metadata, Some(call))),
                    }
                }
            }
            "error" => draft.state(call, Status::Failed, "an error frame"),
            _ => {}
        }
        for key in ["text", "name", "value", "traceback"] {
            for id in sheet.take(frame, key).filter(|id| sheet.kind(*id) != Kind::Null && !sheet.is_claimed(*id)) {
                draft.text(sheet, id, Origin::Error, Some(call));
            }
        }
    }
}
