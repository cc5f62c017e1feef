//! Payloads written by hand after the vendors' documentation, one file each under `cases/`, and beside each what must
//! come of it. `UPDATE_WANT=1` writes what comes now: read the difference before you commit it.

use std::{env, fs, path::PathBuf};

use super::*;

/// One line per call, artifact, reference, gap and finding.
fn summary(input: &[u8]) -> String {
    let taken = match adapt_bytes(input, None, &[]) {
        Adapted::Envelope(taken) => taken,
        Adapted::NotAnEnvelope => return "a file\n".to_owned(),
        Adapted::Wrong { message } => return message,
    };
    let mut lines = Vec::new();
    let status = taken.bundle.status.map_or("-", Status::name);
    lines.push(format!("{} {status}: {}", taken.candidates.join("|"), taken.surface.unwrap_or("-")));
    for (index, call) in taken.bundle.calls.iter().enumerate() {
        let id = call.id.as_deref().unwrap_or("-");
        let tool = call.tool.as_deref().unwrap_or("-");
        lines.push(format!("call {index} {id} {tool} {} ({})", call.status.name(), call.status_reason));
        let more = [("container", &call.container), ("caller", &call.caller)];
        lines.extend(more.iter().filter_map(|(what, id)| Some(format!("     {what} {}", id.as_deref()?))));
    }
    for artifact in &taken.bundle.artifacts {
        let call = artifact.call.map_or("-".to_owned(), |call| call.to_string());
        let at = artifact.at.as_deref().unwrap_or("-");
        let text = String::from_utf8_lossy(&artifact.source.packed);
        let text: String = text.chars().take(100).collect();
        lines.push(format!("{} {} {call} {at} {text:?}", artifact.origin.name(), artifact.trust.name()));
        lines.extend(artifact.also_at.iter().map(|at| format!("     and {at}")));
        lines.extend(artifact.name.iter().map(|name| format!("     name {name}")));
        lines.extend(artifact.declared.iter().map(|declared| format!("     declared {declared}")));
    }
    for reference in &taken.bundle.references {
        let url = reference.request.as_ref().map_or("no request", |request| &request.url);
        let name = reference.name.as_deref().unwrap_or("-");
        lines.push(format!("{} {} {name} {url}", reference.kind, reference.id));
    }
    lines.extend(
        taken.gaps.iter().map(|gap| format!("gap {} {}: {}", gap.reason, gap.at.as_deref().unwrap_or("-"), gap.detail)),
    );
    lines.extend(taken.findings.iter().map(|it| format!("finding {}: {} {:?}", it.rule.id, it.message, it.place.0)));
    lines.join("\n") + "\n"
}

#[test]
fn cases() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/provider/tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension != "want")) {
        let got = summary(&fs::read(file).unwrap());
        let want = file.with_extension("want");
        if env::var_os("UPDATE_WANT").is_some() {
            fs::write(want, got).unwrap();
        } else if fs::read_to_string(want).unwrap_or_default() != got {
            wrong.push(format!("{}:\n{got}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
