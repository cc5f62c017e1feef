use super::*;
use crate::format::{
    Format,
    cfb::build::Build,
    testing::{Seen, look},
};

/// A bare project.
static BARE: Format = Format {
    name: "bare",
    labels: &[],
    inspect: |subject, out, budget| inspect(subject.bytes, None, &Place::default(), out, budget),
    clean: None,
    rules: &[],
};

fn seen(build: Build) -> Seen {
    look(&BARE, "ole", &build.bytes())
}

fn facts(seen: &Seen) -> Vec<String> {
    let messages = seen.findings.iter().map(|finding| format!("{}: {}", finding.rule.id, finding.message));
    messages.chain(seen.gaps.iter().map(|gap| gap.reason.to_string())).collect()
}

const HEAD: &str = "Attribute VB_Name = \"Module1\"\r\n";

fn with(source: &str, compiled: usize) -> Build {
    build::project(Build::new(), "VBA", &[("Module1", &format!("{HEAD}{source}"), compiled)])
}

#[test]
fn a_project_is_named_and_its_source_is_read() {
    let seen = seen(with("Sub Helper()\r\nMsgBox \"hello\"\r\nEnd Sub\r\n", 0));
    assert_eq!(facts(&seen), ["vba/project: The document holds macros"]);
    assert_eq!(seen.texts(), [format!("{HEAD}Sub Helper()\r\nMsgBox \"hello\"\r\nEnd Sub\r\n")]);
    assert_eq!(seen.texts[0].place, Place::default().name("entry", "VBA/Module1"));
}

#[test]
fn what_runs_by_itself_and_what_it_calls() {
    let seen = seen(with("Sub Document_Open()\r\nCreateObject(\"WScript.Shell\").Run \"calc\"\r\nEnd Sub", 700));
    let found = facts(&seen);
    assert!(found.contains(&"vba/autoexec: the procedure document_open runs by itself".to_owned()), "{found:?}");
    assert!(found.contains(&"vba/calls-out: the macro uses createobject, wscript".to_owned()), "{found:?}");
    assert_eq!(found.len(), 3);
}

#[test]
fn a_source_that_was_taken_away_is_told() {
    let empty = build::project(Build::new(), "VBA", &[("Module1", "", 900)]);
    assert_eq!(facts(&seen(empty)).iter().filter(|fact| fact.starts_with("vba/stomped")).count(), 1);
    let mut names = b"\xcc\x61\xff\xff\0\0\0".to_vec();
    names.extend(b"\0\x08AutoOpen\x01\x02\0");
    let replaced = Build::new()
        .stream("VBA/_VBA_PROJECT", &names)
        .stream("VBA/dir", &build::pack(&build::listing(&[("Module1", 0)])))
        .stream("VBA/Module1", &build::pack(HEAD.as_bytes()));
    let found = facts(&seen(replaced));
    assert!(
        found.contains(&"vba/stomped: the compiled code names autoopen, and no source does".to_owned()),
        "{found:?}"
    );
    let kept = with("Sub AutoOpen()\r\nEnd Sub", 0);
    assert!(!facts(&seen(kept)).iter().any(|fact| fact.starts_with("vba/stomped")));
}

#[test]
fn source_is_found_where_the_list_lies() {
    let source = format!("{HEAD}Sub AutoOpen()\r\nEnd Sub");
    let lying = Build::new()
        .stream("VBA/_VBA_PROJECT", b"\xcc\x61")
        .stream("VBA/dir", &build::pack(&build::listing(&[("Module1", 77)])))
        .stream("VBA/Module1", &[&[0xcc; 300][..], &build::pack(source.as_bytes())].concat())
        .stream("VBA/Unlisted", &build::pack(source.as_bytes()));
    let seen = seen(lying);
    assert_eq!(seen.texts(), [&*source, &*source]);
}

#[test]
fn a_broken_list_is_told_and_sources_are_read_all_the_same() {
    let broken = Build::new()
        .stream("VBA/dir", &build::pack(&build::listing(&[("Module1", 0)])[..40]))
        .stream("VBA/Module1", &build::pack(b"Attribute VB_Name\r\nSub AutoOpen()"));
    let seen = seen(broken);
    assert!(facts(&seen).contains(&"vba/structure: the list of modules ends too early".to_owned()));
    assert_eq!(seen.texts().len(), 1);
}

#[test]
fn a_part_that_is_no_project_is_macros_and_a_gap() {
    assert_eq!(
        look(&BARE, "ole", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").facts(),
        ["high macro.vba 0..8", "gap malformed offset 8"]
    );
    assert_eq!(look(&BARE, "ole", b"junk").facts()[0], "high macro.vba 0..4");
}

#[test]
fn forms_are_read() {
    let form = with("", 0).stream("UserForm1/o", b"\0\0\x02powershell -e AAAA\0").stream("UserForm1/f", b"\0");
    assert!(seen(form).texts().contains(&"powershell -e AAAA".to_owned()));
}
