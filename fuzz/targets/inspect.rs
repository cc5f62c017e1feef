//! Every inspector, reached directly: the first byte picks the type, whatever the sniffer would say. It must come to its
//! end within its budget, point only at what is there, and place every byte of a text inside the artifact.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Resource, inspect_alone};
use scanner_fuzz::{held, inside, labelled, limits, within};

fuzz_target!(|data: &[u8]| {
    let Some((label, bytes)) = labelled(data) else { return };
    let bytes = Bytes::copy_from_slice(bytes);
    let Some(seen) = held(|| {
        let seen = inspect_alone(label, &bytes, limits());
        let spent = seen.as_ref().map_or(limits(), |seen| seen.spent);
        (seen, spent)
    }) else {
        return;
    };
    let size = bytes.len() as u64;
    within(&seen.spent, &limits());
    seen.findings.iter().for_each(|finding| inside(finding, size));
    for text in &seen.texts {
        let Some(map) = &text.map else { continue };
        let length = text.text.len() as u64;
        for (start, end) in [(0, length), (0, length.min(1)), (length / 2, length), (length, length)] {
            let span = map.span(start, end);
            assert!(span.start <= span.end && span.end <= size, "{label}: {span:?} of {size}, for {start}..{end}");
        }
    }
    // The same with exactly what it spent; texts are paid for when they are read, which nobody does here.
    let again = seen.spent.with(Resource::TextBytes, limits().get(Resource::TextBytes));
    let again = inspect_alone(label, &bytes, again).expect("the same inspector");
    assert_eq!(seen.gaps, again.gaps, "{label}: what it spent is not what it needs");
    assert_eq!(seen.texts.len(), again.texts.len(), "{label}");
    assert_eq!(seen.children.len(), again.children.len(), "{label}");
});
