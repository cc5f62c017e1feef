//! The reader of JSON against `serde_json`: whatever the strict reader reads, the scanner's reads as the same value; and
//! what the scanner's calls plain JSON, the strict one reads.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::json_alone;
use scanner_fuzz::{held, limits, within};
use serde_json::Value;

/// The strict value with every number as what it is worth, so that `1e2` and `100.0` are one.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::String(spelled), Value::Number(number)) => {
            spelled.parse::<f64>().ok().zip(number.as_f64()).is_some_and(|(ours, theirs)| {
                // Both round to the nearest, unless one is read by a shorter way.
                ours == theirs || (ours - theirs).abs() <= ours.abs() * 1e-15
            })
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && theirs.iter().all(|(key, theirs)| ours.get(key).is_some_and(|ours| same(ours, theirs)))
        }
        (ours, theirs) => ours == theirs,
    }
}

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    let ours = held(|| {
        let ours = json_alone(&bytes, limits());
        let spent = ours.spent;
        (ours, spent)
    });
    within(&ours.spent, &limits());
    match serde_json::from_slice::<Value>(data) {
        Ok(theirs) => {
            assert!(ours.is_whole, "read by the strict reader, and not by ours");
            assert!(same(&ours.value, &theirs), "{} is not {theirs}", ours.value);
        }
        // The strict reader stops at 128 levels and at numbers that no float holds.
        Err(error) => {
            let said = error.to_string();
            let is_its_own = said.starts_with("recursion limit") || said.starts_with("number out of range");
            assert!(!ours.is_plain || is_its_own, "plain JSON to the scanner: {said}");
        }
    }
});
