//! The verdict is the one of the library, byte for byte.

use scanner_core::{Audience, Date, Input, Kind, Limits};

use crate::service::Service;

/// What the library says.
fn library(body: &[u8], kind: &str, name: Option<&str>, policy: &str, audiences: &[Audience]) -> (String, String) {
    let mut input = Input::auto(body.to_vec());
    input.kind = Kind::named(kind);
    input.name = name.map(str::to_owned);
    let report = scanner_tests::scanner(Limits::default()).scan(input);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let verdict = report.decide(&scanner_tests::policy(policy), audiences, Some(Date::from_unix_seconds(now)));
    (scanner_core::verdict_json(&verdict), verdict.receipt().as_str().to_owned())
}

#[test]
fn verdicts_and_receipts_are_those_of_the_library() {
    let service = Service::start("[body]\nmemory = \"1KiB\"\n");
    let examples = [
        &include_bytes!("../../../examples/poisoned.json")[..],
        include_bytes!("../../../examples/honest.json"),
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04 not really",
    ];
    for body in examples {
        for policy in ["default", "strict", "permissive", "report-only"] {
            for kind in ["auto", "file", "text"] {
                let (verdict, receipt) = library(body, kind, Some("a.bin"), policy, &Audience::BUILT_IN);
                let query = format!("audience=page,terminal,model,download&as={kind}&policy={policy}&name=a.bin");
                assert_eq!(service.scan(&query, body).text(), verdict, "{kind} {policy}");
                let with_receipt = service.scan(&(query + "&receipt=1"), body).is_verdict();
                assert_eq!(with_receipt["receipt"]["canonical"], receipt);
                assert_eq!(with_receipt["receipt"]["sha256"], scanner_core::sha256_hex(receipt.as_bytes()));
            }
        }
    }
}

/// Every sample of a provider that this machine has.
#[test]
fn samples_give_the_verdict_of_the_library() {
    let Some(shared) = scanner_tests::shared() else { return };
    let service = Service::start("");
    let mut folders = vec![shared.join("samples")];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let body = std::fs::read(&path).unwrap();
            let (verdict, _) = library(&body, "auto", None, "default", &Audience::BUILT_IN);
            let answer = service.scan("audience=page,terminal,model,download", &body);
            assert_eq!(answer.text(), verdict, "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 0);
}
