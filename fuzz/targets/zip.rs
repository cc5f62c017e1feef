//! Zips whose headers and directory agree, but for the lies that are told: what stands in a member is found, or the
//! report says that the archive is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, made::zip::Zip, scan, tells};

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    zip: Zip<'a>,
    /// The member that holds the order.
    planted: Option<u8>,
}

fuzz_target!(|made: Made<'_>| {
    let mut zip = made.zip;
    zip.members.truncate(12);
    let planted = made.planted.and_then(|at| zip.members.get_mut(usize::from(at) % 12));
    let is_planted = planted.map(|member| member.bytes = ORDER.as_bytes()).is_some();
    let bytes = zip.write();
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.zip", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!is_planted || tells(&report, "injection.") || is_warned(&report), "{zip:?}");
});
