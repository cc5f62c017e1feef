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

/// The bytes that stand where a file of that media type was: a picture for a picture, nothing for anything else. Words
/// under the name of a document would be another lie.
pub(super) fn bytes(mime: &str) -> Vec<u8> {
    let picture = PICTURES.iter().find(|(known, _)| *known == mime);
    picture.and_then(|(_, text)| BASE64.decode(text.as_bytes()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sniff::sniff;

    #[test]
    fn a_picture_is_replaced_by_one_of_its_kind() {
        for (mime, _) in PICTURES {
            assert_eq!(sniff(&bytes(mime)).kind.mime, mime);
        }
        assert!(bytes("application/pdf").is_empty());
    }
}
