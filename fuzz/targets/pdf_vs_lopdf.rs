//! Two readers of one PDF: what `lopdf`, a lenient reader that repairs, finds in a document, the scanner must have found
//! too, or have said that the document is odd or was not seen to its end. A document that shows one thing to the scanner
//! and another to a reader is how filters are passed by.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lopdf::{Document, LoadOptions, Object};
use scanner_fuzz::acts::{Acts, held_to};

/// Of every object that the reader loaded, whether anything leads to it or not.
fn acts(document: &Document) -> Acts {
    let mut acts = Acts::default();
    let mut waiting: Vec<&Object> = document.objects.values().collect();
    while let Some(object) = waiting.pop() {
        let dict = match object {
            Object::Array(values) => {
                waiting.extend(values);
                continue;
            }
            Object::Dictionary(dict) => dict,
            Object::Stream(stream) => {
                acts.file |= stream.dict.has_type(b"EmbeddedFile");
                &stream.dict
            }
            _ => continue,
        };
        // A structure element has a kind of the same key, of its writer's choosing.
        let is_structure = dict.has(b"K") && dict.has(b"P") || dict.has_type(b"StructElem");
        let kind = dict.get_deref(b"S", document).and_then(Object::as_name).unwrap_or_default();
        acts.script |= kind == b"JavaScript" && !is_structure;
        acts.script |= dict.get_deref(b"JS", document).is_ok_and(|script| script.as_str().is_ok());
        acts.launch |= kind == b"Launch" && !is_structure;
        waiting.extend(dict.iter().map(|(_, value)| value));
    }
    acts
}

fuzz_target!(|data: &[u8]| {
    let options = LoadOptions { max_decompressed_size: Some(1 << 20), ..LoadOptions::default() };
    let Ok(theirs) = Document::load_mem_with_options(data, options) else { return };
    held_to(data, || acts(&theirs), || theirs.get_pages().len());
});
