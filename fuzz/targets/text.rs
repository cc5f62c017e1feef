//! The text engine: everything found stands in the text, whatever views it was found in; what reading costs grows with
//! the text and no faster; and an order is found in every wrapping that the engine undoes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, Resource};
use scanner_fuzz::{ORDER, scan, tells};

/// Steps of one byte of text, all views of views together, and of any text: the factors that `scanner-core/src/text.rs`
/// promises, with room for the flat prices of looks.
const STEPS_PER_BYTE: u64 = 3_000;
const STEPS: u64 = 100_000;

fuzz_target!(|data: &[u8]| {
    let input = Input::text(data.to_vec());
    let report = scan(&input);
    let (length, steps) = (data.len() as u64, report.spent.get(Resource::Steps));
    assert!(steps <= STEPS + length * STEPS_PER_BYTE, "{steps} steps for {length} bytes");
    // What stands on lines of its own is found whatever surrounds it, or the text was not read to its end.
    let planted = [data, b"\n\n\n", ORDER.as_bytes(), b"\n"].concat();
    let report = scan(&Input::text(planted));
    assert!(tells(&report, "injection.") || !report.gaps.is_empty(), "an order on a line of its own");
});
