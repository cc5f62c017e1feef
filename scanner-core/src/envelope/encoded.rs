//! Bytes carried in text: base64 as senders write it, and data URLs.

use bytes::Bytes;

use crate::limits::{Budget, Exhausted, Resource};

/// Longest header of a data URL; browsers allow more, no sender uses it.
const HEADER_BYTES: usize = 1_024;

/// Bytes that were carried in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The bytes.
    pub(crate) bytes: Bytes,
    /// The media type a data URL declares.
    pub(crate) declared: Option<String>,
    /// What two decoders would not agree on.
    pub(crate) odd: Option<&'static str>,
}

/// Reads base64: either alphabet, white space anywhere, padding or none. `None` when it is not base64. The bytes are
/// paid for before they are made.
///
/// White space, the URL-safe alphabet and missing padding are honest (Jupyter wraps, google-genai dumps URL-safe:
/// SHAPES 4.1, 9). Both alphabets in one string, and a last character that carries nothing, are odd.
pub(crate) fn base64(text: &[u8], budget: &mut Budget) -> Result<Option<Carried>, Exhausted> {
    let most = text.len().div_euclid(4).saturating_add(1).saturating_mul(3);
    budget.spend(Resource::UnpackedBytes, u64::try_from(most).unwrap_or(u64::MAX))?;
    // `data_encoding` goes on after padding inside the text; others stop there.
    let early = memchr::memchr(b'=', text).is_some_and(|at| at.saturating_add(2) < text.len());
    if let (false, Ok(bytes)) = (early, data_encoding::BASE64.decode(text)) {
        return Ok(Some(Carried { bytes: bytes.into(), declared: None, odd: None }));
    }
    Ok(lenient(text, most))
}

fn lenient(text: &[u8], most: usize) -> Option<Carried> {
    let mut bytes = Vec::with_capacity(most);
    let (mut standard, mut url_safe) = (false, false);
    let (mut group, mut held, mut padding) = (0u32, 0u8, 0u8);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' | b'/' => {
                standard = true;
                if *byte == b'+' { 62 } else { 63 }
            }
            b'-' | b'_' => {
                url_safe = true;
                if *byte == b'-' { 62 } else { 63 }
            }
            b'=' => {
                padding = padding.saturating_add(1);
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        if padding > 0 {
            // Text after the padding: some decoders stop here, some go on.
            return None;
        }
        group = group << 6 | u32::from(value);
        held = held.wrapping_add(1);
        if held == 4 {
            bytes.extend_from_slice(group.to_be_bytes().get(1..).unwrap_or_default());
            (group, held) = (0, 0);
        }
    }
    let mut odd = (standard && url_safe).then_some("both base64 alphabets in one string");
    let whole: &[u8] = match held {
        2 => &(group << 12).to_be_bytes(),
        3 => &(group << 6).to_be_bytes(),
        _ => &[],
    };
    let length = usize::from(held.saturating_sub(1));
    bytes.extend(whole.iter().skip(1).take(length));
    if held == 1 {
        odd = Some("the last base64 character carries nothing");
    }
    if padding > 2 {
        odd = Some("more base64 padding than there can be");
    }
    Some(Carried { bytes: bytes.into(), declared: None, odd })
}

/// Whether a text is a data URL.
pub(crate) fn is_data_url(text: &[u8]) -> bool {
    let start = text.iter().position(|byte| *byte > b' ').unwrap_or(0);
    text.get(start..).and_then(|text| text.get(..5)).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:"))
}

/// Reads a data URL (RFC 2397), base64 or percent-encoded. `None` when it is none or cannot be decoded.
pub(crate) fn data_url(text: &[u8], budget: &mut Budget) -> Result<Option<Carried>, Exhausted> {
    if !is_data_url(text) {
        return Ok(None);
    }
    let start = text.iter().position(|byte| *byte == b':').unwrap_or(0).saturating_add(1);
    let rest = text.get(start..).unwrap_or_default();
    let Some(comma) = rest.iter().take(HEADER_BYTES).position(|byte| *byte == b',') else { return Ok(None) };
    let header = String::from_utf8_lossy(rest.get(..comma).unwrap_or_default()).into_owned();
    let body = rest.get(comma.saturating_add(1)..).unwrap_or_default();
    let in_base64 = header.split(';').skip(1).any(|parameter| parameter.trim().eq_ignore_ascii_case("base64"));
    let media_type = header.split(';').next().unwrap_or_default().trim();
    // RFC 2397: without a media type it is text/plain.
    let declared = Some(if media_type.is_empty() { "text/plain".to_owned() } else { media_type.to_owned() });
    let plain = if body.contains(&b'%') {
        budget.spend(Resource::UnpackedBytes, u64::try_from(body.len()).unwrap_or(u64::MAX))?;
        unescaped(body)
    } else if in_base64 {
        return Ok(base64(body, budget)?.map(|carried| Carried { declared, ..carried }));
    } else {
        budget.spend(Resource::UnpackedBytes, u64::try_from(body.len()).unwrap_or(u64::MAX))?;
        body.to_vec()
    };
    if in_base64 {
        return Ok(base64(&plain, budget)?.map(|carried| Carried { declared, ..carried }));
    }
    Ok(Some(Carried { bytes: plain.into(), declared, odd: None }))
}

/// Percent-decoding; a `%` before something else stands for itself.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let high = char::from(*digits.first()?).to_digit(16)?;
            let low = char::from(*digits.get(1)?).to_digit(16)?;
            u8::try_from(high.wrapping_mul(16).wrapping_add(low)).ok()
        });
        match digits {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use proptest::prelude::*;

    fn budget() -> Budget {
        Budget::new(Limits::default())
    }

    fn read(text: &str) -> Option<(Vec<u8>, Option<&'static str>)> {
        base64(text.as_bytes(), &mut budget()).unwrap().map(|carried| (carried.bytes.to_vec(), carried.odd))
    }

    #[test]
    fn base64_as_senders_write_it() {
        for text in ["+/+/AA==", "-_-_AA==", "+/+/AA", "+/+/\r\nAA==\n", " -_-_AA "] {
            assert_eq!(read(text), Some((vec![0xfb, 0xff, 0xbf, 0], None)), "{text:?}");
        }
        assert!(read("+/-_AA==").is_some_and(|(_, odd)| odd.is_some()));
        assert_eq!(read("AAAAA").map(|(bytes, odd)| (bytes.len(), odd.is_some())), Some((3, true)));
        for text in ["AA==AA==", "iVBOR***AAAA", "<svg>"] {
            assert_eq!(read(text), None, "{text:?}");
        }
        assert_eq!(read(""), Some((Vec::new(), None)));
    }

    #[test]
    fn data_urls_in_both_encodings() {
        let read = |text: &str| {
            data_url(text.as_bytes(), &mut budget()).unwrap().map(|it| (it.declared.unwrap(), it.bytes.to_vec()))
        };
        let svg = ("image/svg+xml".to_owned(), b"<svg/>".to_vec());
        assert_eq!(read("data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+"), Some(svg.clone()));
        assert_eq!(read(" DATA:image/svg+xml;BASE64,PHN2Zy8%2B"), Some(svg.clone()));
        assert_eq!(read("data:image/svg+xml,%3Csvg/%3e"), Some(svg));
        assert_eq!(read("data:,100%"), Some(("text/plain".to_owned(), b"100%".to_vec())));
        assert_eq!(read("data:image/png;base64"), None);
        assert_eq!(read("https://example.com/"), None);
    }

    #[test]
    fn bytes_are_paid_for_first() {
        let mut budget = Budget::new(Limits::default().with(Resource::UnpackedBytes, 2));
        assert_eq!(base64(b"AAAA", &mut budget), Err(Exhausted(Resource::UnpackedBytes)));
        assert_eq!(budget.spent().get(Resource::UnpackedBytes), 0);
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..100), cut in any::<bool>(), wrap in 1usize..40) {
            for encoding in [data_encoding::BASE64, data_encoding::BASE64URL] {
                let mut text = encoding.encode(&bytes);
                if cut {
                    text = text.trim_end_matches('=').to_owned();
                }
                let wrapped: String = text.as_bytes().chunks(wrap).map(|line| format!("{}\n", std::str::from_utf8(line).unwrap())).collect();
                prop_assert_eq!(read(&wrapped), Some((bytes.clone(), None)));
            }
        }
    }
}
