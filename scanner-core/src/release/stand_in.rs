//! What stands where something was taken out: a placeholder that says so, in the shape of what was there, so that the
//! reader of the envelope still finds a text, a picture or a file.

use data_encoding::BASE64;

use crate::bundle::Origin;

/// One grey pixel in each format that model interfaces take: they refuse a whole message when a picture in it does not
/// decode.
const PICTURES: [(&str, &str); 4] = [
    ("image/gif", "R0lGODdhAQABAIEAAICAgAAAAAAAAAAAACwAAAAAAQABAAAIBAABBAQAOw=="),
    (
        "image/jpeg",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP////////////////////////////////////////////////////////////////////////////\
         //////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z",
    ),
    ("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="),
    ("image/webp", "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAdQwAIWsP+BiOh/AAA="),
];

/// The words that stand where a text, or a part of one, was. Plain ASCII without quotes, commas or angle brackets: it
/// may stand in JSON, CSV, HTML, Markdown and on a terminal.
pub(super) fn words(category: &str, origin: Origin) -> String {
    format!("[removed from {}: {category}]", origin.name())
}

/// The bytes that stand where a file of that media type was: a picture for a picture, words for anything else.
pub(super) fn bytes(mime: &str, category: &str, origin: Origin) -> Vec<u8> {
    let picture = PICTURES.iter().find(|(known, _)| *known == mime);
    let picture = picture.and_then(|(_, text)| BASE64.decode(text.as_bytes()).ok());
    picture.unwrap_or_else(|| format!("{}\n", words(category, origin)).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sniff::sniff;

    #[test]
    fn a_picture_is_replaced_by_one_of_its_kind() {
        for (mime, _) in PICTURES {
            assert_eq!(sniff(&bytes(mime, "exec.program", Origin::Image)).kind.mime, mime);
        }
        assert_eq!(bytes("application/pdf", "script.pdf_js", Origin::File), b"[removed from file: script.pdf_js]\n");
    }
}
