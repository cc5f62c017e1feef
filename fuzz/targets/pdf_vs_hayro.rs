//! Two readers of one PDF: what `hayro-syntax`, a reader that was written to show what browsers show, finds in a document,
//! the scanner must have found too, or have said that the document is odd or was not seen to its end.
#![no_main]

use hayro_syntax::{
    Pdf,
    object::{Array, Dict, MaybeRef, Name, Object, Stream, String},
};
use libfuzzer_sys::fuzz_target;
use scanner_fuzz::acts::{Acts, held_to};

fn acts(pdf: &Pdf) -> Acts {
    let mut acts = Acts::default();
    let mut waiting: Vec<Object<'_>> = pdf.objects().into_iter().collect();
    let mut left = 20_000;
    while let Some(object) = waiting.pop() {
        left -= 1;
        if left == 0 {
            break;
        }
        let dict = match object {
            Object::Array(values) => {
                waiting.extend(direct(&values));
                continue;
            }
            Object::Dict(dict) => dict,
            Object::Stream(stream) => {
                let dict = stream.dict().clone();
                acts.file |= has(&dict, b"Type", b"EmbeddedFile");
                dict
            }
            _ => continue,
        };
        // A structure element has a kind of the same key, of its writer's choosing.
        let is_structure = dict.contains_key(b"K") && dict.contains_key(b"P") || has(&dict, b"Type", b"StructElem");
        acts.script |= has(&dict, b"S", b"JavaScript") && !is_structure;
        acts.script |= dict.get::<String<'_>>(b"JS").is_some() || dict.get::<Stream<'_>>(b"JS").is_some();
        acts.launch |= has(&dict, b"S", b"Launch") && !is_structure;
        waiting.extend(dict.entries().filter_map(|(_, value)| match value {
            MaybeRef::NotRef(value) => Some(value),
            // What is referred to is among the objects.
            MaybeRef::Ref(_) => None,
        }));
    }
    acts
}

fn direct<'a>(values: &Array<'a>) -> Vec<Object<'a>> {
    values.raw_iter().filter_map(|value| if let MaybeRef::NotRef(value) = value { Some(value) } else { None }).collect()
}

fn has(dict: &Dict<'_>, key: &[u8], name: &[u8]) -> bool {
    dict.get::<Name<'_>>(key).is_some_and(|found| AsRef::<[u8]>::as_ref(&found) == name)
}

fuzz_target!(|data: &[u8]| {
    let Ok(theirs) = Pdf::new(data.to_vec()) else { return };
    held_to(data, || acts(&theirs), || theirs.pages().len());
});
