//! The whole scan: any bytes, as a file, a text or an envelope. It must return, within its budget, and say the same
//! when it is asked again with exactly what it spent; what it writes about it must be what it is called.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, Kind};
use scanner_fuzz::{decide, scan};

fuzz_target!(|data: &[u8]| {
    let Some((how, bytes)) = data.split_first() else { return };
    let mut input = Input::file("a.bin", bytes.to_vec());
    input.kind = match how % 3 {
        0 => Kind::File,
        1 => Kind::Text,
        _ => Kind::Auto,
    };
    decide(&scan(&input), &input);
});
