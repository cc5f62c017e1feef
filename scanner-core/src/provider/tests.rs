use super::*;
use crate::{
    bundle::{Artifact, Origin, Trust},
    finding::Reason,
    limits::Limits,
};

mod samples;
mod shapes;

fn adapt_as(input: &str, hint: Option<&str>) -> Adapted {
    adapt_bytes(input.as_bytes(), hint, &[])
}

fn adapt_bytes(input: &[u8], hint: Option<&str>, attachments: &[Attachment]) -> Adapted {
    adapt(&Bytes::copy_from_slice(input), hint, attachments, &mut Budget::new(Limits::default()))
}

fn taken(input: &str) -> Taken {
    match adapt_as(input, None) {
        Adapted::Envelope(taken) => *taken,
        other => panic!("{other:?}"),
    }
}

fn texts(taken: &Taken) -> Vec<(Origin, Option<&str>, &str)> {
    let text = |artifact: &'_ Artifact| std::str::from_utf8(&artifact.source.packed).unwrap().to_owned().leak() as &str;
    taken.bundle.artifacts.iter().map(|it| (it.origin, it.at.as_deref(), text(it))).collect()
}

/// docs/providers.md, as the adapters say it.
fn guide() -> String {
    let mut page = String::from(
        "# Providers

What is read of each system's payloads, and how the status of a call is derived. Made from the adapters
(`scanner-core/src/provider/`) by the test that compares it with them; `UPDATE_WANT=1 cargo test -p scanner-core guide`
writes it anew.

The shape says whose payload it is; `--as NAME` says it instead. Where several may have sent it, `source.provider` is
null, `source.candidates` lists them, and it is read as each of them. Whatever no adapter claims — a new field, an
unknown event, a key — is read as text of origin `unclaimed`. When signals disagree the worst wins: timed_out, failed,
cancelled, truncated, unknown, pending, ok.

| `--as` | looks like | what is read | status |
|---|---|---|---|
",
    );
    let row = |provider: &Provider, cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| `{}` | {} |\n", provider.name, cells.join(" | "))
    };
    for provider in ALL {
        page.push_str(&row(provider, &[provider.expected, provider.reads, provider.status]));
    }
    page.push_str(
        "
## Their own signs of an error

What `failed` and `timed_out` are in each system's own words. A release leaves these fields as they came, so that
whoever reads it sees the same outcome: only text, bytes and names are taken out. `.ci/long sdks` proves it with the
vendors' own packages.

| `--as` | an error is |
|---|---|
",
    );
    for provider in ALL {
        page.push_str(&row(provider, &[provider.error]));
    }
    page
}

#[test]
fn the_guide_is_what_the_adapters_say() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/providers.md");
    if std::env::var_os("UPDATE_WANT").is_some() {
        std::fs::write(&path, guide()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), guide(), "UPDATE_WANT=1 writes it anew");
}

#[test]
fn every_sign_of_an_error_is_a_word_that_an_adapter_reads() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/provider")];
    let mut source = String::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                _ if path.ends_with("tests") || path.ends_with("tests.rs") => {}
                true => folders.push(path),
                false => source.push_str(&std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    // Not the sentences of the guide themselves.
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("error: \"")).collect();
    let code = code.join("\n");
    for provider in ALL {
        let quoted = provider.error.split('`').skip(1).step_by(2);
        let words = quoted.flat_map(|part| part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'));
        for word in words.filter(|word| word.len() > 3 && *word != "true" && *word != "false") {
            assert!(code.contains(word), "{}: nobody reads {word:?}", provider.name);
        }
    }
}

#[test]
fn every_provider_is_a_file_of_its_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/provider");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".rs")?.replace('_', "-")))
        .filter(|name| name != "tests")
        .collect();
    files.sort();
    let mut names: Vec<&str> = ALL.iter().map(|provider| provider.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn a_bundle_is_what_the_contract_says() {
    let taken = taken(
        r#"{"schema":"scanner.bundle/v1","calls":[
            {"id":"c1","tool":"bash","stdout":"o","stderr":"e","result":"r","code":"p","exit_code":3,"container":"k",
             "files":[{"name":"a.png","type":"image/png","base64":"AAEC"},{"name":"b.txt","text":"hi"},{"name":"c","path":"x/c"}]},
            {"status":"ok","exit_code":0,"stdout":"o"}],
          "messages":["m"],"watch":["canary"],"context":{"tenant":"t"},"surprise":"s"}"#,
    );
    assert_eq!(taken.provider, Some("bundle"));
    assert_eq!(
        texts(&taken),
        [
            (Origin::Code, Some("/calls/0/code"), "p"),
            (Origin::Stdout, Some("/calls/0/stdout"), "o"),
            (Origin::Stderr, Some("/calls/0/stderr"), "e"),
            (Origin::Result, Some("/calls/0/result"), "r"),
            (Origin::Metadata, Some("/calls/0/files/0/name"), "a.png"),
            (Origin::File, Some("/calls/0/files/0/base64"), "\0\u{1}\u{2}"),
            (Origin::Metadata, Some("/calls/0/files/1/name"), "b.txt"),
            (Origin::File, Some("/calls/0/files/1/text"), "hi"),
            (Origin::Metadata, Some("/calls/0/files/2/name"), "c"),
            (Origin::Metadata, Some("/calls/0/files/2/path"), "x/c"),
            (Origin::Stdout, Some("/calls/1/stdout"), "o"),
            (Origin::Message, Some("/messages/0"), "m"),
            (Origin::Unclaimed, Some("/surprise"), "surprise"),
            (Origin::Unclaimed, Some("/surprise"), "s"),
        ]
    );
    let calls = &taken.bundle.calls;
    assert_eq!((calls[0].status, calls[0].exit_code, calls[1].status), (Status::Failed, Some(3), Status::Ok));
    assert_eq!((calls[0].id.as_deref(), calls[0].tool.as_deref()), (Some("c1"), Some("bash")));
    assert_eq!(taken.bundle.artifacts[5].declared.as_deref(), Some("image/png"));
    assert_eq!(taken.watch, ["canary"]);
    assert_eq!(taken.context["tenant"], "t");
    assert_eq!(taken.bundle.references.len(), 1);
    assert_eq!(taken.gaps.iter().map(|gap| gap.reason).collect::<Vec<_>>(), [Reason::NotFetched]);
}

#[test]
fn runners_in_the_spellings_people_use() {
    for (input, status, code) in [
        (r#"{"stdout":"a","stderr":"","exit_code":0}"#, Status::Ok, Some(0)),
        (r#"{"stdout":"a","returncode":2}"#, Status::Failed, Some(2)),
        (r#"{"stdout":["a"],"exitCode":0,"timed_out":true}"#, Status::TimedOut, Some(0)),
        (r#"{"stdout":"a","exit_code":"1"}"#, Status::Unknown, None),
        (r#"{"stdout":"a","code":1}"#, Status::Failed, Some(1)),
        (r#"{"stdout":"a"}"#, Status::Unknown, None),
        (r#"{"stdout":"a","exit_code":0,"exit_code":1}"#, Status::Failed, Some(1)),
        (r#"{"stdout":"a","exit_code":1,"exit_code":0}"#, Status::Failed, Some(1)),
        (r#"{"stdout":"a","success":false}"#, Status::Failed, None),
    ] {
        let taken = match adapt_as(input, Some("runner")) {
            Adapted::Envelope(taken) => taken,
            other => panic!("{other:?}"),
        };
        let call = &taken.bundle.calls[0];
        assert_eq!((call.status, call.exit_code), (status, code), "{input}");
        assert_eq!(texts(&taken)[0].2, "a", "{input}");
    }
}

#[test]
fn what_is_no_envelope_is_a_file_and_a_wrong_hint_is_said() {
    for file in ["", "hello", "{\"foo\":1}", "[1,2]", "null", "data: nothing\n\n", "{"] {
        assert!(matches!(adapt_as(file, None), Adapted::NotAnEnvelope(_)), "{file}");
    }
    for (input, message) in [
        (
            "[1]",
            "not a bundle envelope: expected an object with \"schema\": \"scanner.bundle/v1\", found an array at line 1. Try --as auto.",
        ),
        (
            "\n\nhi",
            "not a bundle envelope: expected an object with \"schema\": \"scanner.bundle/v1\", found no JSON at line 3. Try --as auto.",
        ),
        (
            "",
            "not a bundle envelope: expected an object with \"schema\": \"scanner.bundle/v1\", found nothing: the input is empty. Try --as auto.",
        ),
    ] {
        match adapt_as(input, Some("bundle")) {
            Adapted::Wrong { message: said } => assert_eq!(said, message),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_finding_out_took_is_paid_and_a_limit_met_on_the_way_is_told() {
    let file = Bytes::from_static(b"{\"foo\":[1,2,3]}");
    let mut budget = Budget::new(Limits::default());
    assert!(matches!(adapt(&file, None, &[], &mut budget), Adapted::NotAnEnvelope(Ok(()))));
    assert_eq!(budget.spent().get(Resource::Objects), 5);
    // What is behind the limit may make it an envelope: nobody can say.
    let late = Bytes::from_static(b"{\"calls\":[],\"schema\":\"scanner.bundle/v1\"}");
    let mut poor = Budget::new(Limits::default().with(Resource::Objects, 2));
    let Adapted::NotAnEnvelope(told) = adapt(&late, None, &[], &mut poor) else { panic!() };
    assert_eq!(told, Err(Exhausted(Resource::Objects)));
}

#[test]
fn the_same_bytes_twice_are_one_artifact_at_two_places() {
    let taken = taken(
        r#"{"stdout":"a","exit_code":0,"files":[{"name":"x","base64":"AAEC"},{"name":"y","base64":"AA\u0045C"},{"name":"z","base64":"!"}]}"#,
    );
    let files: Vec<_> = taken.bundle.artifacts.iter().filter(|it| it.origin == Origin::File).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].also_at, ["/files/1/base64"]);
    assert_eq!(taken.gaps.iter().map(|gap| gap.reason).collect::<Vec<_>>(), [Reason::Malformed]);
    assert!(texts(&taken).contains(&(Origin::Unclaimed, Some("/files/2/base64"), "!")));
}

#[test]
fn oddities_are_findings_and_stops_are_gaps() {
    let said = |input: &[u8]| match adapt_bytes(input, Some("runner"), &[]) {
        Adapted::Envelope(taken) => (
            taken.findings.iter().map(|it| it.rule.id.to_string()).collect::<Vec<_>>(),
            taken.gaps.iter().map(|gap| (gap.reason.to_string(), gap.at.clone())).collect::<Vec<_>>(),
        ),
        other => panic!("{other:?}"),
    };
    let none: (Vec<String>, Vec<(String, Option<String>)>) = Default::default();
    assert_eq!(said(b"\xef\xbb\xbf{\"stdout\":\"a\"}"), none);
    assert_eq!(said(b"{\"stdout\":\"\\ud800\"}").0, ["envelope/encoding"]);
    assert_eq!(said(b"{\"stdout\":\"\xff\"}").0, ["envelope/encoding"]);
    assert_eq!(said(b"{\"stdout\":\"a\nb\"}").0, ["envelope/structure"]);
    assert_eq!(said(b"{\"stdout\":\"a\",\"stdout\":\"b\"}").0, ["envelope/duplicate-key"]);
    assert_eq!(said(b"{\"stdout\":\"a\"}{\"stdout\":\"b\"}").0, ["envelope/structure"]);
    assert_eq!(said(b"{\"stdout\":\"a\"}\n{\"stdout\":\"b\"}\n"), none);
    assert_eq!(said(b"{\"stdout\":\"a"), (vec![], vec![("malformed".to_owned(), Some("offset 12".to_owned()))]));
    let deep = format!("{{\"stdout\":{}", "[".repeat(600));
    assert_eq!(said(deep.as_bytes()).1[0].0, "limit:depth");
}

#[test]
fn what_follows_the_break_is_read_as_text() {
    let taken = match adapt_as("{\"stdout\":\"a\" oops \"hidden\"}", None) {
        Adapted::Envelope(taken) => taken,
        other => panic!("{other:?}"),
    };
    assert_eq!(texts(&taken).last(), Some(&(Origin::Unclaimed, Some("offset 14"), "oops \"hidden\"}")));
    assert_eq!(taken.bundle.status, None);
}

#[test]
fn attached_bytes_answer_their_reference() {
    let input = br#"{"stdout":"a","exit_code":0,"files":[{"name":"r.csv","path":"out/r.csv"}]}"#;
    let attachment = Attachment { reference: "out/r.csv".to_owned(), bytes: Bytes::from_static(b"1,2") };
    let Adapted::Envelope(taken) = adapt_bytes(input, None, &[attachment]) else { panic!() };
    let file = taken.bundle.artifacts.iter().find(|it| it.origin == Origin::File).unwrap();
    assert_eq!((file.reference, file.name.as_deref(), &file.source.packed[..]), (Some(0), Some("r.csv"), &b"1,2"[..]));
    assert_eq!(file.trust, Trust::Tool);
    assert!(taken.gaps.is_empty());
}

#[test]
fn a_flood_of_strings_ends_in_a_gap() {
    let input = Bytes::from(format!(
        "{{\"stdout\":\"a\",\"x\":[{}\"\"]}}",
        (0..50).map(|n| format!("\"s{n}\",")).collect::<String>()
    ));
    let mut budget = Budget::new(Limits::default().with(Resource::Artifacts, 10));
    let Adapted::Envelope(taken) = adapt(&input, None, &[], &mut budget) else { panic!() };
    assert_eq!(taken.bundle.artifacts.len(), 10);
    assert_eq!(taken.gaps.iter().map(|gap| gap.reason).collect::<Vec<_>>(), [Reason::Limit(Resource::Artifacts)]);
}
