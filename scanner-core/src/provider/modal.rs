//! Modal: a captured `Sandbox.exec`, by the convention `{stdout, stderr, returncode}`. SHAPES 7.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "modal",
    expected: "an object with \"stdout\", \"stderr\" and \"returncode\"",
    recognise,
    adapt,
    reads: "stdout and stderr, whole or as a list of chunks",
    status: "returncode: 0 ok, -1 (exec) and 124 (sandbox) timed_out, null pending, else failed",
    error: "`returncode` ≠ 0; time: -1 of exec, 124 of a sandbox",
};

const CODE: &[&str] = &["returncode", "exit_code", "exitCode"];
const KNOWN: &[(&str, Shape)] = &[("sandbox_id", Shape::Id), ("object_id", Shape::Id), ("task_id", Shape::Id)];

fn recognise(envelope: &Envelope) -> Sure {
    let heads = envelope.heads();
    let own = |(sheet, object): &(&Sheet, NodeId)| sheet.has(*object, "returncode") && !sheet.has(*object, "type");
    if !heads.is_empty() && heads.iter().all(own) { Sure::Maybe } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("Sandbox.exec");
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        let call = draft.call(None, None);
        for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr)] {
            for id in sheet.take(object, key) {
                // Chunks are cut anywhere, not at line ends.
                draft.lines(sheet, id, "", origin, Some(call));
            }
        }
        let running = CODE.iter().filter_map(|key| sheet.peek(object, key)).any(|id| sheet.kind(id) == Kind::Null);
        let code = sheet.take_integer(object, CODE);
        draft.exit(call, code);
        match code {
            Some(Some(-1)) => draft.state(call, Status::TimedOut, "returncode -1: the exec deadline passed"),
            Some(Some(124)) => draft.state(call, Status::TimedOut, "returncode 124: the deadline passed"),
            None if running => draft.state(call, Status::Pending, "returncode null: it is running"),
            None => draft.state(call, Status::Unknown, "no returncode"),
            _ => {}
        }
        sheet.known(object, KNOWN);
    }
}
