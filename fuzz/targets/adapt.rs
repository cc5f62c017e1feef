//! The adapters: envelopes of every provider, changed and valid all the same, read as that provider's and as whoever's
//! they look like. Nothing in one is unread: an order that stands in it as a string is found, wherever it stands.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, adapt_alone};
use scanner_fuzz::{held, limits, made::envelope::Envelope, scan, tells, within};

fuzz_target!(|made: Envelope<'_>| {
    let (provider, bytes, has_order) = made.write();
    if bytes.len() > 64 << 10 {
        return;
    }
    let bytes = Bytes::from(bytes);
    for system in [Some(provider), None] {
        let adapted = held(|| {
            let adapted = adapt_alone(&bytes, system, limits());
            let spent = adapted.spent;
            (adapted, spent)
        });
        within(&adapted.spent, &limits());
        let Some(bundle) = adapted.bundle else { continue };
        assert!(system.is_none_or(|system| adapted.candidates == [system]), "{:?}", adapted.candidates);
        for artifact in &bundle.artifacts {
            assert!(artifact.call.is_none_or(|call| call < bundle.calls.len()), "{artifact:?} is of no call");
            assert!(artifact.reference.is_none_or(|at| at < bundle.references.len()), "{artifact:?}");
        }
        assert!(bundle.references.iter().all(|reference| reference.call.is_none_or(|call| call < bundle.calls.len())));
    }
    if has_order {
        let report = scan(&Input::auto(bytes.clone()));
        assert!(tells(&report, "injection.") || !report.gaps.is_empty(), "{}", String::from_utf8_lossy(&bytes));
    }
});
