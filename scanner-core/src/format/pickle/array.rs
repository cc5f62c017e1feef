//! Arrays whose bytes stand between the opcodes: how joblib writes them (`joblib.numpy_pickle`), and what the type of
//! their elements says.

use crate::reader::Reader;

/// What was said about an array before its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// How many elements.
    pub(super) elements: Option<u32>,
    /// The type of the elements: a letter and a number of bytes.
    pub(super) element: Option<String>,
    /// A length of padding stands before the bytes, and so much padding.
    pub(super) is_aligned: bool,
}

/// What was done with the bytes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// They are numbers and were stepped over.
    Skipped,
    /// A pickle of the elements follows.
    Objects,
    /// There are fewer than announced.
    Short,
    /// Nobody knows how many there are.
    Unknown,
}

/// Steps over the bytes of an array.
pub(super) fn skip(reader: &mut Reader<'_>, layout: &Layout) -> Data {
    let (Some(elements), Some(element)) = (layout.elements, layout.element.as_deref()) else { return Data::Unknown };
    let size = match element_size(element) {
        Element::Bytes(size) => size,
        Element::Objects => return Data::Objects,
        Element::Unknown => return Data::Unknown,
    };
    let padding = if layout.is_aligned { reader.u8().map(u64::from) } else { Ok(0) };
    let length = u64::from(elements).saturating_mul(size);
    if padding.and_then(|padding| reader.take(padding)).is_err() || reader.take(length).is_err() {
        return Data::Short;
    }
    Data::Skipped
}

/// What one element of an array takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Element {
    Bytes(u64),
    /// Any Python object: pickled.
    Objects,
    Unknown,
}

/// An element by the word for its type: byte order, letter, bytes, a unit of time.
pub(in crate::format) fn element_size(word: &str) -> Element {
    let word = word.trim_start_matches(['<', '>', '=', '|']);
    let word = word.split('[').next().unwrap_or(word);
    let mut letters = word.chars();
    let Some(letter) = letters.next() else { return Element::Unknown };
    let size: Option<u64> = letters.as_str().parse().ok();
    match (letter, size) {
        ('O', _) => Element::Objects,
        // Characters of four bytes.
        ('U', Some(size)) => Element::Bytes(size.saturating_mul(4)),
        ('b' | 'i' | 'u' | 'f' | 'c' | 'm' | 'M' | 'S' | 'a' | 'V' | 'B' | 't', Some(size)) => Element::Bytes(size),
        ('?' | 'b' | 'B' | 'c', None) if word.len() == 1 => Element::Bytes(1),
        ('h' | 'H' | 'e', None) if word.len() == 1 => Element::Bytes(2),
        ('i' | 'I' | 'f', None) if word.len() == 1 => Element::Bytes(4),
        ('l' | 'L' | 'q' | 'Q' | 'd' | 'F' | 'm' | 'M', None) if word.len() == 1 => Element::Bytes(8),
        _ => Element::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_sizes() {
        for (word, want) in [
            ("<f8", Element::Bytes(8)),
            ("f4", Element::Bytes(4)),
            ("|b1", Element::Bytes(1)),
            ("<U10", Element::Bytes(40)),
            ("|S3", Element::Bytes(3)),
            ("<M8[ns]", Element::Bytes(8)),
            ("V12", Element::Bytes(12)),
            ("|O", Element::Objects),
            ("O8", Element::Objects),
            ("?", Element::Bytes(1)),
            ("", Element::Unknown),
            ("x8", Element::Unknown),
            ("f-8", Element::Unknown),
        ] {
            assert_eq!(element_size(word), want, "{word}");
        }
    }
}
