//! What `receipt verify` and `--reviews` read: receipts, envelopes of signatures, statements and reviews, all from files
//! that anybody may have written. Nothing is taken for signed that the key did not sign.
#![no_main]

use std::sync::LazyLock;

use data_encoding::BASE64;
use libfuzzer_sys::fuzz_target;
use scanner_core::{
    About, Envelope, Limits, Review, Ruling, SigningKey, Statement, canonical_json, sign_receipt, sign_review,
};
use scanner_fuzz::held;
use serde_json::{Value, json};

static KEY: LazyLock<SigningKey> = LazyLock::new(|| {
    let der = [&b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"[..], &[7; 32]].concat();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", BASE64.encode(&der));
    SigningKey::from_pem(&pem).expect("a key")
});

fuzz_target!(|data: &[u8]| {
    let Some((how, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    match how % 4 {
        // A line as it stands in a file.
        0 => held(|| (line(text), Limits::default())),
        // The payload of an envelope that is well formed and signed by nobody.
        1 => {
            let envelope = json!({
                "payload": BASE64.encode(data),
                "payloadType": "application/vnd.in-toto+json",
                "signatures": [{ "sig": BASE64.encode(&[0; 64]) }],
            });
            held(|| (line(&envelope.to_string()), Limits::default()));
        }
        // What stands in a receipt, signed as a front signs it: it comes back as it was.
        2 => {
            let Ok(receipt) = serde_json::from_str::<Value>(text) else { return };
            let Ok(signed) = sign_receipt(&receipt, "2027-01-31T13:01:01Z", None, &KEY) else { return };
            let envelope = Envelope::read(&signed).expect("what was sealed");
            assert_eq!(envelope.verify(&[KEY.public()]), Ok(&KEY.public()));
            // One of another version, or with numbers that no receipt has, is signed and not read.
            if let Ok(Statement::Receipt { receipt: read, .. }) = Statement::read(&envelope) {
                assert_eq!(read, receipt);
            }
        }
        // A key file.
        _ => drop(SigningKey::from_pem(text)),
    }
});

fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_u64() && !number.is_i64(),
        Value::Array(items) => items.iter().any(has_fractions),
        Value::Object(members) => members.values().any(has_fractions),
        _ => false,
    }
}

fn line(text: &str) {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let canonical = canonical_json(&value);
        let again: Value = serde_json::from_str(&canonical).expect("canonical JSON is JSON");
        // Numbers of receipts are whole: only those have one spelling here, and a line with others is not canonical.
        assert!(canonical_json(&again) == canonical || has_fractions(&value));
        let _ = (About::of_receipt(&value), Review::recorded_in(&value));
        if let Some(review) = Review::from_json(&value, "key") {
            let json = review.to_json();
            assert_eq!(Review::from_json(&json, "key").map(|again| again.to_json()), Some(json));
            let signed = Envelope::read(&sign_review(&review, &KEY)).expect("what was sealed");
            assert!(matches!(Statement::read(&signed), Ok(Statement::Review(_))));
        }
        if let Ok(review) = Review::of_receipt(&value, Ruling::Approve, "me", "because", "2027-01-31T13:01:01Z") {
            assert!(!review.audiences.is_empty());
        }
    }
    let Ok(envelope) = Envelope::read(text) else { return };
    // Only this process has the key, and it signs what `sign_receipt` and `sign_review` make: whatever verifies is
    // canonical and read as a statement.
    assert!(envelope.verify(&[KEY.public()]).is_err() || Statement::read(&envelope).is_ok());
    if let Ok(Statement::Review(review)) = Statement::read(&envelope) {
        assert!(!review.by.trim().is_empty() && !review.reason.trim().is_empty());
    }
}
