//! `multipart/form-data` (RFC 7578), as it streams in. Only the framing is read; what is in the parts is nobody's
//! business here. Whatever could be read in two ways is refused.

use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use memchr::memmem;

use crate::{
    body::Chunks,
    error::{ApiError, Code},
};

/// Most bytes of the header of one part: a reference, a file name and a media type have ample room.
const HEAD_BYTES: usize = 8 * 1024;
/// Most header lines of one part.
const HEAD_LINES: usize = 16;
/// Longest boundary (RFC 2046, section 5.1.1).
const BOUNDARY_BYTES: usize = 70;

/// The parts of a body.
#[derive(Debug)]
pub(crate) struct Multipart<'a> {
    chunks: Chunks<'a>,
    buffer: BytesMut,
    /// Line end, two dashes and the boundary.
    delimiter: Vec<u8>,
    parts_left: usize,
    inside: bool,
}

/// What a part says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) file_name: Option<String>,
    pub(crate) declared: Option<String>,
}

fn bad<T>(why: &str) -> Result<T, ApiError> {
    Err(ApiError::bad(format!("not multipart/form-data as it should be: {why}")))
}

/// Whether the body is made of parts.
pub(crate) fn is_multipart(headers: &HeaderMap) -> bool {
    let is_form = |value: &axum::http::HeaderValue| {
        let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        essence.eq_ignore_ascii_case(b"multipart/form-data")
    };
    headers.get_all(header::CONTENT_TYPE).iter().any(is_form)
}

/// The one boundary of a content type.
fn boundary(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return bad("two content types") };
    let Ok(value) = value.to_str() else { return bad("a content type that is not text") };
    let mut boundary = None;
    for (key, value) in parameters(value)? {
        if key == "boundary" && boundary.replace(value).is_some() {
            return bad("two boundaries");
        }
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    match boundary {
        None => bad("no boundary"),
        Some(boundary)
            if (1..=BOUNDARY_BYTES).contains(&boundary.len())
                && boundary.bytes().all(allowed)
                && !boundary.ends_with(' ') =>
        {
            Ok(boundary)
        }
        Some(_) => bad("a boundary that is none"),
    }
}

/// The parameters behind the first semicolon: names in lower case, values without their quotes.
fn parameters(value: &str) -> Result<Vec<(String, String)>, ApiError> {
    let mut found = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest).trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else { return bad("a parameter without a value") };
        let key = key.trim().to_ascii_lowercase();
        let (value, after) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let (value, after) = after.split_at(after.find(';').unwrap_or(after.len()));
                (value.trim().to_owned(), after)
            }
        };
        found.push((key, value));
        rest = match after.trim_start() {
            "" => "",
            after => match after.strip_prefix(';') {
                Some(next) => next.trim_start(),
                None => return bad("something behind a quoted value"),
            },
        };
    }
    Ok(found)
}

/// A quoted value, from behind its first quote, and what follows it. A backslash is one but before a quote or another:
/// some senders put whole Windows paths there.
fn unquote(quoted: &str) -> Result<(String, &str), ApiError> {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, quoted.get(at.saturating_add(1)..).unwrap_or_default())),
            '\\' => match characters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            other => value.push(other),
        }
    }
    bad("a quote that does not end")
}

/// The three characters that browsers percent-encode in names, and no others.
fn decode_name(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

/// `UTF-8''percent%20encoded` (RFC 8187).
fn decode_extended(value: &str) -> Result<String, ApiError> {
    let mut pieces = value.splitn(3, '\'');
    let (Some(charset), Some(_), Some(encoded)) = (pieces.next(), pieces.next(), pieces.next()) else {
        return bad("a file name in an encoding that is none");
    };
    if !charset.eq_ignore_ascii_case("utf-8") {
        return bad("a file name that is not in UTF-8");
    }
    // A plus is a plus here, a space in a form.
    let form = format!("={}", encoded.replace('+', "%2B").replace('&', "%26"));
    Ok(form_urlencoded::parse(form.as_bytes()).map(|(_, value)| value.into_owned()).next().unwrap_or_default())
}

impl<'a> Multipart<'a> {
    /// The parts of a body with these headers.
    pub(crate) fn new(headers: &HeaderMap, chunks: Chunks<'a>, parts: usize) -> Result<Self, ApiError> {
        let delimiter = [b"\r\n--", boundary(headers)?.as_bytes()].concat();
        // The first delimiter has no line end of its own to begin with.
        Ok(Self { chunks, buffer: BytesMut::from(&b"\r\n"[..]), delimiter, parts_left: parts, inside: false })
    }

    /// More bytes in the buffer; false at the end of the body.
    async fn fill(&mut self) -> Result<bool, ApiError> {
        let Some(chunk) = self.chunks.next().await? else { return Ok(false) };
        self.buffer.extend_from_slice(&chunk);
        Ok(true)
    }

    /// The head of the next part; `None` behind the last. The part before must have been read to its end.
    pub(crate) async fn part(&mut self) -> Result<Option<Head>, ApiError> {
        debug_assert!(!self.inside, "a part was not read to its end");
        while self.buffer.len() < self.delimiter.len().saturating_add(2) {
            if !self.fill().await? {
                return bad("it ends before the last boundary");
            }
        }
        if !self.buffer.starts_with(&self.delimiter) {
            return bad("it does not begin with its boundary");
        }
        let _ = self.buffer.split_to(self.delimiter.len());
        if self.buffer.starts_with(b"--") {
            let _ = self.buffer.split_to(2);
            return self.end().await.map(|()| None);
        }
        let head = loop {
            // White space may stand behind a boundary; a part needs a head, so the line end is not the blank line.
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                break self.buffer.split_to(end.saturating_add(4));
            }
            if self.buffer.len() > HEAD_BYTES {
                return bad("the head of a part is too long");
            }
            if !self.fill().await? {
                return bad("it ends before the last boundary");
            }
        };
        if head.len() > HEAD_BYTES {
            return bad("the head of a part is too long");
        }
        match self.parts_left.checked_sub(1) {
            Some(left) => self.parts_left = left,
            None => return bad("too many parts"),
        }
        self.inside = true;
        read_head(&head).map(Some)
    }

    /// The next bytes of the part; `None` at its end.
    pub(crate) async fn bytes(&mut self) -> Result<Option<Bytes>, ApiError> {
        while self.inside {
            if let Some(end) = memmem::find(&self.buffer, &self.delimiter) {
                self.inside = false;
                if end > 0 {
                    return Ok(Some(self.buffer.split_to(end).freeze()));
                }
                break;
            }
            // A delimiter may have begun at the end of what is here.
            let sure = self.buffer.len().saturating_sub(self.delimiter.len().saturating_sub(1));
            if sure > 0 {
                return Ok(Some(self.buffer.split_to(sure).freeze()));
            }
            if !self.fill().await? {
                return bad("it ends before the last boundary");
            }
        }
        Ok(None)
    }

    /// Behind the last boundary there is a line end at most.
    async fn end(&mut self) -> Result<(), ApiError> {
        while self.fill().await? {
            if self.buffer.len() > 16 {
                break;
            }
        }
        if self.buffer.trim_ascii().is_empty() { Ok(()) } else { bad("something follows the last boundary") }
    }
}

/// Whether a coding changes nothing.
fn is_plain(coding: &str) -> bool {
    ["binary", "8bit", "7bit", "identity"].iter().any(|plain| coding.trim().eq_ignore_ascii_case(plain))
}

/// The head of a part, with the line end of its boundary before it.
fn read_head(head: &[u8]) -> Result<Head, ApiError> {
    let text = String::from_utf8_lossy(head);
    let Some((padding, lines)) = text.split_once("\r\n") else { return bad("a boundary without a line end") };
    if !padding.trim_matches([' ', '\t']).is_empty() {
        return bad("something behind a boundary");
    }
    let mut disposition = None;
    let mut declared = None;
    for (number, line) in lines.trim_end_matches("\r\n").split("\r\n").enumerate() {
        let Some((name, value)) = line.split_once(':').filter(|_| number < HEAD_LINES) else {
            return bad("a part without a head");
        };
        if name.is_empty() || name.contains([' ', '\t']) || value.contains(['\r', '\n', '\0']) {
            return bad("a header line that is none");
        }
        match name.to_ascii_lowercase().as_str() {
            "content-disposition" if disposition.replace(value.trim()).is_some() => {
                return bad("two Content-Disposition");
            }
            "content-type" if declared.replace(value.trim()).is_some() => return bad("two Content-Type in one part"),
            "content-encoding" | "content-transfer-encoding" if !is_plain(value) => {
                let said = "send each part as it is, without an encoding: nothing was scanned";
                return Err(ApiError::new(Code::EncodedBody, said));
            }
            _ => {}
        }
    }
    let Some(disposition) = disposition else { return bad("a part without a name") };
    let kind = disposition.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("form-data") {
        return bad("a part that is no form-data");
    }
    let (mut name, mut file_name) = (None, None);
    for (key, value) in parameters(disposition)? {
        let given_twice = match key.as_str() {
            "name" => name.replace(decode_name(&value)).is_some(),
            "filename" => file_name.replace(decode_name(&value)).is_some(),
            "filename*" => file_name.replace(decode_extended(&value)?).is_some(),
            _ => false,
        };
        if given_twice {
            return bad("a part with two names");
        }
    }
    let Some(name) = name else { return bad("a part without a name") };
    // What senders write when they do not know says nothing.
    let declared =
        declared.filter(|declared| !declared.eq_ignore_ascii_case("application/octet-stream") && !declared.is_empty());
    Ok(Head { name, file_name: file_name.filter(|name| !name.is_empty()), declared: declared.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::HeaderValue};
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;
    use crate::config;

    fn headers(content_type: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
        headers
    }

    type Parts = Vec<(Head, Vec<u8>)>;

    /// The parts of a body that comes in chunks of that size.
    fn read(body: &[u8], size: usize) -> Result<Parts, ApiError> {
        let settings = config::Body::default();
        let headers = headers("multipart/form-data; boundary=XX");
        let chunks: Vec<Result<Frame<Bytes>, std::io::Error>> =
            body.chunks(size).map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk)))).collect();
        let body = Body::new(StreamBody::new(Stream(chunks.into_iter())));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let chunks = Chunks::new(&HeaderMap::new(), body, &settings, (1 << 20, String::new()))?;
            let mut multipart = Multipart::new(&headers, chunks, 3)?;
            let mut parts = Vec::new();
            while let Some(head) = multipart.part().await? {
                let mut bytes = Vec::new();
                while let Some(chunk) = multipart.bytes().await? {
                    bytes.extend_from_slice(&chunk);
                }
                parts.push((head, bytes));
            }
            Ok(parts)
        })
    }

    struct Stream<I>(I);

    impl<I: Iterator + Unpin> futures_core::Stream for Stream<I> {
        type Item = I::Item;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<I::Item>> {
            std::task::Poll::Ready(self.0.next())
        }
    }

    fn part(disposition: &str, body: &str) -> String {
        format!("--XX\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{body}\r\n")
    }

    #[track_caller]
    fn check(body: &str, expect: &[(&str, Option<&str>, &str)]) {
        for size in [1, 2, 7, 4096] {
            let parts = read(body.as_bytes(), size).unwrap();
            let found: Vec<(&str, Option<&str>, &[u8])> = parts
                .iter()
                .map(|(head, bytes)| (head.name.as_str(), head.file_name.as_deref(), bytes.as_slice()))
                .collect();
            let expect: Vec<(&str, Option<&str>, &[u8])> =
                expect.iter().map(|(name, file, bytes)| (*name, *file, bytes.as_bytes())).collect();
            assert_eq!(found, expect, "in chunks of {size}");
        }
    }

    #[track_caller]
    fn refused(body: &str, why: &str) {
        for size in [1, 4096] {
            let error = format!("{:?}", read(body.as_bytes(), size).unwrap_err());
            assert!(error.contains(why), "in chunks of {size}: {error}");
        }
    }

    #[test]
    fn parts_come_whole_whatever_the_chunks() {
        let body = part("name=\"stdout\"", "a\r\n--X\r\n--XY\r\n")
            + &part("name=file; filename=\"a b.txt\"", "")
            + "--XX--\r\n";
        check(&body, &[("stdout", None, "a\r\n--X\r\n--XY\r\n"), ("file", Some("a b.txt"), "")]);
        check("--XX--", &[]);
    }

    #[test]
    fn names_of_all_senders_are_read() {
        let name =
            |disposition: &str| read((part(disposition, "x") + "--XX--").as_bytes(), 9).unwrap()[0].0.file_name.clone();
        assert_eq!(name(r#"name="a"; filename="a%22b.txt""#).unwrap(), "a\"b.txt");
        assert_eq!(name(r#"name="a"; filename="a\"b;c.txt""#).unwrap(), "a\"b;c.txt");
        assert_eq!(name(r#"name="a"; filename="C:\dir\a.txt""#).unwrap(), r"C:\dir\a.txt");
        assert_eq!(name("name=\"a\"; filename=\"é.txt\"").unwrap(), "é.txt");
        assert_eq!(name("name=\"a\"; filename*=utf-8''%C3%A9%20+.txt").unwrap(), "é +.txt");
        assert_eq!(name(r#"name="a"; filename="""#), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let end = "--XX--";
        refused(&(part("name=a; name=b", "") + end), "two names");
        refused(&(part("name=a; filename=a; filename*=utf-8''b", "") + end), "two names");
        refused(&(part("filename=a", "") + end), "without a name");
        refused(&("preamble\r\n".to_owned() + &part("name=a", "") + end), "does not begin with its boundary");
        refused(&(part("name=a", "") + end + "\r\nepilogue that goes on"), "follows the last boundary");
        refused(&(part("name=a", "") + &part("name=a", "x")), "ends before the last boundary");
        refused("--XX\r\nContent-Disposition: form-data; name=a", "ends before the last boundary");
        refused(&(part("name=a", "").replace("form-data", "attachment") + end), "no form-data");
        refused(&(part("name=\"a", "") + end), "a quote that does not end");
        refused("--XX junk\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--XX--", "something behind a boundary");
        refused("--XX\r\n\r\n\r\n--XX--", "a part without a");
        let twice = "--XX\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n\r\n--XX--";
        refused(twice, "two Content-Disposition");
        refused(
            "--XX\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--XX--",
            "EncodedBody",
        );
    }

    #[test]
    fn heads_and_parts_are_bounded() {
        refused(&(part(&format!("name=a; filename=\"{}\"", "x".repeat(HEAD_BYTES)), "") + "--XX--"), "too long");
        refused(&(part("name=a", "").repeat(4) + "--XX--"), "too many parts");
        let lines = "X: y\r\n".repeat(HEAD_LINES);
        refused(&format!("--XX\r\n{lines}Content-Disposition: form-data; name=a\r\n\r\n\r\n--XX--"), "without a head");
    }

    #[test]
    fn there_is_one_boundary() {
        let check = |content_type: &str| boundary(&headers(content_type)).ok();
        assert_eq!(check("multipart/form-data; boundary=abc").unwrap(), "abc");
        assert_eq!(check("multipart/form-data; charset=utf-8; Boundary=\"a b\"").unwrap(), "a b");
        assert_eq!(check("multipart/form-data; boundary=a; boundary=b"), None);
        assert_eq!(check("multipart/form-data"), None);
        assert_eq!(check("multipart/form-data; boundary="), None);
        assert_eq!(check("multipart/form-data; boundary=\"a\\\"b\""), None);
        assert_eq!(check(&format!("multipart/form-data; boundary={}", "a".repeat(71))), None);
    }
}
