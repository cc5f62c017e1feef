//! Walks the shared samples when they are there: status, bytes, provider and planted text, as the scorer does, at the
//! level of the bundle. `SCANNER_SHARED` names the folder; `cargo test -- --nocapture samples` prints what was missed.

use std::{collections::HashSet, env, fs, path::PathBuf};

use serde_json::Value;

use super::*;

/// Written as `\u` escapes, so that only what was parsed can hold it.
const MARK: &str = "Zq9 planted";
/// Keys whose strings are identifiers, enumerations, digests or bytes.
const NOT_TEXT: &str = "type role id status object model signature thoughtSignature thought_signature encrypted_stdout encrypted_content usage event_type tool_use_id call_id item_id response_id container_id file_id finishReason finish_reason stop_reason outcome language mimeType mime_type media_type created created_at timestamp service_tier responseId modelVersion createTime schema execution_state msg_id msg_type session version date username fileUri uri url partial_json doc_url object_type error_code code_type sandbox_id execution_id identifier executionType taskId taskStatus resultType jsonrpc method format file_type container agent_id processed_at expires_at toolUseId toolUseID sha256 key custom_id request_id trace_id nbformat kernelspec output_type cell_type display_id parent_header header pygments_lexer file_extension mimetype stdout_path verbosity effort truncation phase obfuscation";
const BYTES: &str = "data blob png jpeg pdf base64_data file_data image/png image/jpeg";

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
    Inner,
}

fn folder() -> Option<PathBuf> {
    let shared = env::var_os("SCANNER_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = shared.join("samples");
    folder.join("INDEX.tsv").exists().then_some(folder)
}

fn is_base64(text: &str) -> bool {
    text.len() >= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-=\n\r ".contains(&byte))
}

fn leaves(node: &Value, key: &str, path: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    let mut go = |step: Step, node: &Value, key: &str| {
        path.push(step);
        leaves(node, key, path, out);
        path.pop();
    };
    match node {
        Value::Object(members) => members.iter().for_each(|(name, value)| go(Step::Key(name.clone()), value, name)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| go(Step::Item(index), value, key)),
        Value::String(text) => {
            if NOT_TEXT.split(' ').any(|word| word == key)
                || BYTES.split(' ').any(|word| word == key) && is_base64(text)
                || text.trim().is_empty()
                || is_base64(text)
                || text.starts_with("data:")
            {
                return;
            }
            match serde_json::from_str::<Value>(text) {
                Ok(inner @ Value::Object(_)) => go(Step::Inner, &inner, ""),
                _ => out.push(path.clone()),
            }
        }
        _ => {}
    }
}

fn hidden(value: &Value) -> String {
    let escaped: String = MARK.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    value.to_string().replace(MARK, &escaped)
}

fn plant(node: &mut Value, path: &[Step]) {
    match path {
        [] => *node = Value::String(format!("{}\n{MARK}\n", node.as_str().unwrap())),
        [Step::Key(key), rest @ ..] => plant(node.get_mut(key).unwrap(), rest),
        [Step::Item(index), rest @ ..] => plant(node.get_mut(index).unwrap(), rest),
        [Step::Inner, rest @ ..] => {
            let mut inner: Value = serde_json::from_str(node.as_str().unwrap()).unwrap();
            plant(&mut inner, rest);
            *node = Value::String(hidden(&inner));
        }
    }
}

fn embedded(node: &Value, key: &str, out: &mut HashSet<Vec<u8>>) {
    match node {
        Value::Object(members) => members.iter().for_each(|(name, value)| embedded(value, name, out)),
        Value::Array(items) => items.iter().for_each(|value| embedded(value, key, out)),
        Value::String(text) => {
            let body = match text.split_once(";base64,") {
                Some((head, body)) if head.starts_with("data:") => body,
                _ if BYTES.split(' ').any(|word| word == key) => text,
                _ => return,
            };
            if is_base64(body) {
                let plain: String = body
                    .chars()
                    .filter(|c| !c.is_whitespace() && *c != '=')
                    .map(|c| match c {
                        '-' => '+',
                        '_' => '/',
                        c => c,
                    })
                    .collect();
                out.extend(data_encoding::BASE64_NOPAD.decode(plain.as_bytes()).ok());
            }
        }
        _ => {}
    }
}

type Documents = (Vec<Value>, Vec<(usize, usize)>);

/// The documents of a payload, and the payload with one of them changed.
fn documents(text: &str, name: &str) -> Option<Documents> {
    let mut places = Vec::new();
    let mut at = 0;
    if name.ends_with(".json") {
        places.push((0, text.len()));
    } else {
        for line in text.split_inclusive('\n') {
            let body = line.trim_end();
            let start = if name.ends_with(".sse") {
                body.find('{').filter(|_| body.starts_with("data:"))
            } else {
                (!body.is_empty()).then_some(0)
            };
            if let Some(start) = start {
                places.push((at + start, at + body.len()));
            }
            at += line.len();
        }
    }
    let docs = places.iter().map(|(start, end)| serde_json::from_str(&text[*start..*end])).collect::<Result<_, _>>();
    Some((docs.ok()?, places))
}

fn worst(taken: &Taken) -> Option<Status> {
    taken.bundle.calls.iter().map(|call| call.status).chain(taken.bundle.status).max()
}

fn holds_mark(taken: &Taken) -> bool {
    taken.bundle.artifacts.iter().any(|artifact| {
        let bytes = &artifact.source.packed;
        let text = String::from_utf8_lossy(bytes);
        // JSON that the program printed is read as JSON by the format, not by the adapter.
        text.contains(MARK)
            || serde_json::from_str::<Value>(&text).is_ok_and(|value| {
                let mut inside = Vec::new();
                strings(&value, &mut inside);
                inside.iter().any(|text| text.contains(MARK))
            })
    })
}

fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|value| strings(value, out)),
        Value::Array(items) => items.iter().for_each(|value| strings(value, out)),
        Value::String(text) => out.push(text.clone()),
        _ => {}
    }
}

#[derive(Default)]
struct Score {
    counts: BTreeMap<&'static str, (usize, usize)>,
    missed: Vec<String>,
}

impl Score {
    fn count(&mut self, what: &'static str, good: bool, note: String) {
        let (ok, all) = self.counts.entry(what).or_default();
        *all += 1;
        *ok += usize::from(good);
        if !good {
            self.missed.push(format!("{what}\t{note}"));
        }
    }
}

#[test]
fn shared_samples() {
    let Some(folder) = folder() else { return };
    let index = fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let mut score = Score::default();
    let systems: Vec<&str> = ALL.iter().map(|provider| provider.name).collect();
    for row in index.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').chain(std::iter::repeat("")).take(9).collect();
        let (file, system, kind) = (cells[0], cells[1], cells[3]);
        let edge = file.starts_with("edge/");
        let raw = fs::read(folder.join(file)).unwrap();
        let adapted = adapt_bytes(&raw, None, &[]);
        if edge {
            // Named after the system they need, where they need one.
            let needs = file.trim_start_matches("edge/").split('_').next().unwrap_or_default();
            if !["e2b", "mcp", "daytona", "jupyter"].contains(&needs) || systems.contains(&needs) {
                check_edge(&mut score, file, cells[7], &adapted);
            }
            continue;
        }
        if !systems.contains(&system) {
            continue;
        }
        let Adapted::Envelope(taken) = adapted else {
            score.count("provider", false, format!("{file}: {adapted:?}"));
            continue;
        };
        let is_it = taken.provider == Some(system) || taken.provider.is_none() && taken.candidates.contains(&system);
        score.count("provider", is_it, format!("{file}: {:?} {:?}", taken.provider, taken.candidates));
        let want = if cells[7].is_empty() { kind.replace("timeout", "timed_out") } else { cells[7].to_owned() };
        if !["image", "file", "stream", "edge"].contains(&want.as_str()) {
            let got = worst(&taken).map_or("none", Status::name);
            let silent = taken.bundle.calls.iter().map(|call| &*call.status_reason).collect::<Vec<_>>();
            score.count(
                "status",
                want.split(',').any(|word| word == got),
                format!("{file}: want {want}, got {got} {silent:?} {:?}", taken.bundle.status),
            );
        }
        if let Some(reason) = cells[8].strip_prefix("gap:") {
            score.count(
                "edge",
                taken.gaps.iter().any(|gap| gap.reason.to_string().starts_with(reason)),
                format!("{file}: no gap {reason}"),
            );
        }
        let unclaimed: Vec<_> = texts_lossy(&taken)
            .into_iter()
            .filter(|(origin, ..)| *origin == Origin::Unclaimed)
            .map(|(_, at, text)| format!("{} {:?}", at.unwrap_or_default(), text.chars().take(40).collect::<String>()))
            .collect();
        if !unclaimed.is_empty() {
            println!("unclaimed {file}: {unclaimed:?}");
        }
        let odd: Vec<_> = taken.findings.iter().map(|it| format!("{} {:?}", it.message, it.place)).collect();
        if !odd.is_empty() {
            println!("findings {file}: {odd:?}");
        }
        let Some((docs, places)) = std::str::from_utf8(&raw).ok().and_then(|text| documents(text, file)) else {
            continue;
        };
        let mut blobs = HashSet::new();
        docs.iter().for_each(|doc| embedded(doc, "", &mut blobs));
        for blob in blobs {
            score.count(
                "bytes",
                taken.bundle.artifacts.iter().any(|it| it.source.packed == blob),
                format!("{file}: {}", blob.len()),
            );
        }
        for (doc, (start, end)) in docs.iter().zip(&places) {
            let mut paths = Vec::new();
            leaves(doc, "", &mut Vec::new(), &mut paths);
            for path in paths {
                let mut changed = doc.clone();
                plant(&mut changed, &path);
                let mut payload = raw[..*start].to_vec();
                payload.extend(hidden(&changed).bytes());
                payload.extend(&raw[*end..]);
                let found = matches!(adapt_bytes(&payload, None, &[]), Adapted::Envelope(taken) if holds_mark(&taken));
                score.count("planted", found, format!("{file}: {path:?}"));
            }
        }
    }
    for (what, (ok, all)) in &score.counts {
        println!("{what} {ok} of {all}");
    }
    for missed in &score.missed {
        println!("missed {missed}");
    }
    assert!(score.missed.is_empty(), "run with --nocapture to see what was missed");
}

fn texts_lossy(taken: &Taken) -> Vec<(Origin, Option<&str>, String)> {
    taken
        .bundle
        .artifacts
        .iter()
        .map(|it| (it.origin, it.at.as_deref(), String::from_utf8_lossy(&it.source.packed).into_owned()))
        .collect()
}

/// What can be said of an edge case without the scan: its status, its gaps, its own findings.
fn check_edge(score: &mut Score, file: &str, statuses: &str, adapted: &Adapted) {
    let Adapted::Envelope(taken) = adapted else {
        println!("edge {file}: a file");
        if !statuses.is_empty() {
            score.count("edge", false, format!("{file}: a file"));
        }
        return;
    };
    let got = worst(taken).map_or("none", Status::name);
    let gaps: Vec<_> = taken.gaps.iter().map(|gap| gap.reason.to_string()).collect();
    let found: Vec<_> = taken.findings.iter().map(|it| it.rule.category.to_string()).collect();
    let artifacts = taken.bundle.artifacts.len();
    println!("edge {file}: {:?} {got} gaps {gaps:?} findings {found:?} artifacts {artifacts}", taken.candidates);
    if !statuses.is_empty() {
        let good = statuses.split(',').any(|word| word == got);
        score.count("edge", good, format!("{file}: want {statuses}, got {got}"));
    }
}
