//! Where a stream is cut does not matter: a text that comes in one piece or in many, cut anywhere, gives the same
//! findings; lines given in one job or in several give the same answers.
#![no_main]

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Audience, Facts, Input, Report, Scanner, text_line};
use scanner_fuzz::{ORDER, POLICY, RULES, limits};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    form: u8,
    before: &'a str,
    has_order: bool,
    after: &'a str,
    cuts: Vec<u16>,
}

/// The events of a stream of which one text is the pieces.
fn stream(form: u8, pieces: &[&str]) -> String {
    let data = |event: Value| format!("data: {event}\n\n");
    let line = |event: Value| format!("{event}\n");
    match form % 6 {
        0 => {
            let delta = |piece: &&str| {
                data(
                    json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": piece } }),
                )
            };
            let start = json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant", "content": [] } });
            let block =
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
            let stop = json!({ "type": "content_block_stop", "index": 0 });
            let end = json!({ "type": "message_stop" });
            [data(start), data(block), pieces.iter().map(delta).collect(), data(stop), data(end)].concat()
        }
        1 => {
            let delta = |piece: &&str| {
                data(
                    json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": piece }),
                )
            };
            pieces.iter().map(delta).collect()
        }
        2 => pieces
            .iter()
            .map(|piece| line(json!({ "type": "stdout", "text": piece, "timestamp": "2026-11-29T12:05:12Z" })))
            .collect(),
        3 => pieces
            .iter()
            .map(|piece| line(json!({ "serverContent": { "outputTranscription": { "text": piece } } })))
            .collect(),
        4 => {
            let delta = |piece: &&str| data(json!({ "type": "text-delta", "id": "t1", "delta": piece }));
            let start = [json!({ "type": "start", "messageId": "m1" }), json!({ "type": "text-start", "id": "t1" })];
            let end = [json!({ "type": "text-end", "id": "t1" }), json!({ "type": "finish" })];
            [start.map(data).concat(), pieces.iter().map(delta).collect(), end.map(data).concat()].concat()
        }
        _ => {
            let delta = |piece: &&str| {
                let output = json!({ "index": 0, "type": "logs", "logs": piece });
                let call =
                    json!({ "index": 0, "type": "code_interpreter", "code_interpreter": { "outputs": [output] } });
                let details = json!({ "type": "tool_calls", "tool_calls": [call] });
                data(json!({ "id": "step_1", "object": "thread.run.step.delta", "delta": { "step_details": details } }))
            };
            pieces.iter().map(delta).collect()
        }
    }
}

/// What was found, whatever the number of the artifact and the place in the input.
fn found(report: &Report) -> Vec<String> {
    let mut found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| format!("{} {} {}", finding.rule.id, finding.severity.name(), finding.fingerprint))
        .collect();
    found.sort();
    found
}

fuzz_target!(|made: Made<'_>| {
    if made.before.len() + made.after.len() > 8 << 10 {
        return;
    }
    let order = if made.has_order { format!("\n{ORDER}\n") } else { String::new() };
    let text = format!("{}{order}{}", made.before, made.after);
    let mut cuts: Vec<usize> =
        made.cuts.iter().take(64).map(|cut| text.floor_char_boundary(usize::from(*cut) % (text.len() + 1))).collect();
    cuts.push(text.len());
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces = Vec::new();
    let mut from = 0;
    for cut in cuts {
        if cut > from {
            pieces.push(&text[from..cut]);
            from = cut;
        }
    }
    if pieces.is_empty() {
        return;
    }
    let scanner = Scanner::new(RULES.clone(), limits());
    let whole = scanner.scan(Input::auto(stream(made.form, &[&text])));
    let cut = scanner.scan(Input::auto(stream(made.form, &pieces)));
    assert_eq!(whole.source.candidates, cut.source.candidates);
    if whole.gaps.is_empty() && cut.gaps.is_empty() {
        assert_eq!(found(&whole), found(&cut), "{pieces:?}");
    }
    // JSON lines: each line is answered for itself.
    let lines: Vec<Bytes> =
        pieces.iter().map(|piece| Bytes::from(json!({ "id": 1, "text": piece }).to_string())).collect();
    let answer = |number: u64, line: &Bytes| {
        text_line(&scanner, &POLICY, &Audience::BUILT_IN, None, (number, line), Facts::default())
            .expect("no blank line")
    };
    for (number, line) in (1..).zip(&lines) {
        let answered = answer(number, line);
        assert_eq!(
            answered,
            answer(number + 1, &Bytes::from([line, &b"\r\n"[..]].concat())),
            "the end of a line counts"
        );
        assert!(!answered.json.contains('\n') && serde_json::from_str::<Value>(&answered.json).is_ok());
    }
});
