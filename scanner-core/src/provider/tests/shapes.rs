//! Cases of the corpus as the adapters see them: `cases/AREA/FILE.want` holds what must come of `corpus/AREA/FILE`.
//! `UPDATE_WANT=1` writes what comes now: read the difference before you commit it. An empty golden adds a case.

use std::{env, fs, path::PathBuf};

use super::*;

/// One line per call, artifact, reference, gap and finding.
fn summary(input: &[u8]) -> String {
    summary_of(adapt_bytes(input, None, &[]))
}

fn summary_of(adapted: Adapted) -> String {
    let taken = match adapted {
        Adapted::Envelope(taken) => taken,
        Adapted::NotAnEnvelope(_) => return "a file\n".to_owned(),
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

/// Every case, with its golden.
fn all() -> Vec<(PathBuf, PathBuf)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut goldens = Vec::new();
    for area in fs::read_dir(root.join("src/provider/tests/cases")).unwrap() {
        goldens.extend(fs::read_dir(area.unwrap().path()).unwrap().map(|entry| entry.unwrap().path()));
    }
    goldens.sort();
    let case = |golden: &PathBuf| {
        let area = golden.parent().and_then(|area| area.file_name()).unwrap();
        root.join("../corpus").join(area).join(golden.file_stem().unwrap())
    };
    goldens.into_iter().map(|golden| (case(&golden), golden)).collect()
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    for (case, golden) in all() {
        let got = summary(&fs::read(&case).unwrap());
        if env::var_os("UPDATE_WANT").is_some() {
            fs::write(golden, got).unwrap();
        } else if fs::read_to_string(golden).unwrap() != got {
            wrong.push(format!("{}:\n{got}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_case_spent_is_what_it_needs() {
    for (case, _) in all() {
        let input = Bytes::from(fs::read(&case).unwrap());
        let under = |limits: Limits| {
            let mut budget = Budget::new(limits);
            let adapted = adapt(&input, None, &[], &mut budget);
            (summary_of(adapted), *budget.spent())
        };
        let (want, spent) = under(Limits::default());
        for resource in [Resource::Objects, Resource::Steps, Resource::DecodedBytes, Resource::UnpackedBytes] {
            let needed = spent.get(resource);
            assert_eq!(under(Limits::default().with(resource, needed)).0, want, "{} {resource}", case.display());
            if let Some(less) = needed.checked_sub(1) {
                let (got, _) = under(Limits::default().with(resource, less));
                // A first line that is not paid for cannot be recognised: a file, which has its own limits.
                let said = got.contains(&format!("gap limit:{resource}")) || got == "a file\n";
                assert!(said, "{} {resource}:\n{got}", case.display());
            }
        }
    }
}

#[test]
fn cut_or_soiled_cases_never_panic_and_always_give_the_same() {
    for (case, _) in all() {
        let whole = fs::read(&case).unwrap();
        let step = (whole.len() / 40).max(1);
        for at in (0..whole.len()).step_by(step) {
            let cut = &whole[..at];
            assert_eq!(summary(cut), summary(cut));
            for byte in [b'"', b'\\', b'{', b']', 0, 0xff] {
                let mut soiled = whole.clone();
                soiled[at] = byte;
                summary(&soiled);
            }
        }
    }
}
