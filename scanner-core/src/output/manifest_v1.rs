//! `scanner.release/v1`: what may leave for one audience, file by file, with the headers to serve each with. The bytes
//! stand beside it, under their digests: an untrusted name is a value here and never a path.

use bytes::Bytes;
use serde::Serialize;

use crate::{
    bundle::Origin,
    finding::sha256_hex,
    policy::Audience,
    release::{Served, safe_name},
    scan::ArtifactRecord,
    verdict::{Delivery, Release, Verdict},
};

/// The schema of the manifests written here.
const MANIFEST_SCHEMA: &str = "scanner.release/v1";

/// What may leave for one audience: a document that describes it, and the bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Manifest {
    /// The document, one line of JSON without a line end.
    pub json: String,
    /// The input in its own shape, when it may leave.
    pub whole: Option<Leaving>,
    /// Files that may leave by themselves.
    pub files: Vec<Leaving>,
}

/// Bytes that may leave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Leaving {
    /// The bytes.
    pub bytes: Bytes,
    /// Where they are kept, below the folder of the release: `files/<sha256>.<ext>`, `envelope.json`.
    pub path: String,
    /// The headers to serve them with.
    pub headers: Vec<(String, String)>,
}

#[derive(Serialize)]
struct ManifestV1<'a> {
    schema: &'static str,
    audience: &'a str,
    decision: &'static str,
    deliver: &'static str,
    source: SourceV1<'a>,
    envelope: Option<EnvelopeV1<'a>>,
    files: Vec<FileV1<'a>>,
    withheld: Option<&'a str>,
    receipt: String,
}

#[derive(Serialize)]
struct SourceV1<'a> {
    name: Option<&'a str>,
    sha256: &'a str,
    size: u64,
}

#[derive(Serialize)]
struct EnvelopeV1<'a> {
    path: &'a str,
    state: &'static str,
    sha256: String,
    size: usize,
    headers: &'a [(String, String)],
}

#[derive(Serialize)]
struct FileV1<'a> {
    artifact: String,
    name: Option<&'a str>,
    safe_name: String,
    r#type: &'static str,
    mime: &'static str,
    decision: &'static str,
    deliver: &'static str,
    path: Option<String>,
    sha256: Option<String>,
    size: Option<usize>,
    headers: Vec<(String, String)>,
    why: Option<String>,
}

/// What may leave of a verdict for one audience; `None` for one that was not asked.
pub fn manifest(verdict: &Verdict, audience: &Audience) -> Option<Manifest> {
    let scan = verdict.report();
    let answer = verdict.audiences().iter().find(|answer| answer.audience == *audience)?;
    let release = verdict.release(audience)?;
    let is_envelope = !matches!(scan.source.kind, "file" | "text");
    let (whole, withheld) = match release {
        Release::Unchanged(bytes) => (Some(bytes), None),
        Release::Cleaned(released) => (Some(&released.bytes), None),
        Release::Withheld(why) => (None, Some(why)),
    };
    let mut files = Vec::new();
    let mut listed = Vec::new();
    for record in scan.artifacts.iter().filter(|record| record.parent.is_none()) {
        // What stands in the envelope as text leaves with it.
        if is_envelope && !matches!(record.origin, Origin::Image | Origin::File) {
            continue;
        }
        listed.push(file(verdict, audience, record, &mut files));
    }
    let whole = whole.map(|bytes| whole_of(verdict, audience, bytes.clone(), is_envelope));
    let document = ManifestV1 {
        schema: MANIFEST_SCHEMA,
        audience: audience.name(),
        decision: answer.decision.name(),
        deliver: answer.deliver.name(),
        source: SourceV1 { name: scan.source.name.as_deref(), sha256: &scan.source.sha256, size: scan.source.size },
        envelope: whole.as_ref().filter(|_| is_envelope).map(|leaving| EnvelopeV1 {
            path: &leaving.path,
            state: release.state(),
            sha256: sha256_hex(&leaving.bytes),
            size: leaving.bytes.len(),
            headers: &leaving.headers,
        }),
        files: listed,
        withheld,
        receipt: verdict.receipt().sha256(),
    };
    let json = serde_json::to_string(&document).unwrap_or_default();
    Some(Manifest { json, whole, files })
}

fn file<'a>(
    verdict: &Verdict,
    audience: &Audience,
    record: &'a ArtifactRecord,
    files: &mut Vec<Leaving>,
) -> FileV1<'a> {
    let answer = verdict.answer(audience, record.id);
    let (leaving, why) = match verdict.delivery(audience, record.id) {
        Delivery::Original(bytes) => (Some((bytes, verdict.headers(audience, record, Served::Original))), None),
        Delivery::Release(bytes, headers) => (Some((bytes, headers)), None),
        Delivery::Nothing(why) => (None, Some(why)),
    };
    let (mut path, mut sha256, mut size, mut headers) = (None, None, None, Vec::new());
    if let Some((bytes, own)) = leaving {
        let digest = sha256_hex(&bytes);
        let at = kept_at(&digest, record.kind.extensions.first().copied());
        size = Some(bytes.len());
        path = Some(at.clone());
        headers.clone_from(&own);
        sha256 = Some(digest);
        files.push(Leaving { bytes, path: at, headers: own });
    }
    FileV1 {
        artifact: record.id.to_string(),
        name: record.name.as_deref(),
        safe_name: safe_name(record.name.as_deref(), record.kind),
        r#type: record.kind.label,
        mime: record.kind.mime,
        decision: answer.map_or("block", |answer| answer.decision.name()),
        deliver: answer.map_or("nothing", |answer| answer.deliver.name()),
        path,
        sha256,
        size,
        headers,
        why,
    }
}

fn kept_at(digest: &str, extension: Option<&str>) -> String {
    match extension {
        Some(extension) => format!("files/{digest}.{extension}"),
        None => format!("files/{digest}"),
    }
}

/// The input in its own shape.
fn whole_of(verdict: &Verdict, audience: &Audience, bytes: Bytes, is_envelope: bool) -> Leaving {
    let scan = verdict.report();
    let first = scan.artifacts.first().filter(|_| !is_envelope);
    let is_cleaned = matches!(verdict.release(audience), Some(Release::Cleaned(_)));
    match first {
        Some(record) => {
            let path = kept_at(&sha256_hex(&bytes), record.kind.extensions.first().copied());
            let served = if is_cleaned { Served::Cleaned } else { Served::Original };
            let headers = verdict.headers(audience, record, served);
            Leaving { bytes, path, headers }
        }
        None => {
            let (extension, media_type) = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[') if is_lines(&bytes) => ("ndjson", "application/x-ndjson"),
                Some(b'{' | b'[') | None => ("json", "application/json"),
                Some(_) => ("sse", "text/event-stream"),
            };
            let headers = [
                ("Content-Type", media_type),
                ("X-Content-Type-Options", "nosniff"),
                ("Content-Security-Policy", "sandbox; default-src 'none'"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
                ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-store"),
            ];
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            Leaving { bytes, path: format!("envelope.{extension}"), headers }
        }
    }
}

/// Whether a second document begins on a line of its own.
fn is_lines(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next().is_some_and(|line| line.starts_with(b"{") && line.ends_with(b"}"));
    first && lines.next().is_some_and(|line| line.starts_with(b"{"))
}
