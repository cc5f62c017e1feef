//! What the parts of a multipart scan are, and the bundle that is made of them where none of them is the input.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    ops::Range,
};

use axum::{body::Body, http::HeaderMap};
use bytes::Bytes;
use data_encoding::BASE64;
use scanner_core::{Resource, Status, too_large};
use scanner_worker::{Attachment, ScanJob};
use serde::{Deserialize, Serialize};

use crate::{
    body::{Chunks, Spool, Spooled},
    error::{ApiError, Code},
    multipart::{Head, Multipart},
    state::State,
};

/// Most bytes of `meta`.
const META_BYTES: u64 = 64 * 1024;
/// Most bytes of `watch`.
const WATCH_BYTES: u64 = 1024 * 1024;
/// The parts there are, for messages and for the test of /openapi.json.
pub(crate) const PARTS: [&str; 7] = ["input", "stdout", "stderr", "meta", "file", "attach:REF", "watch"];

/// Every part of a request, its bytes one behind the other.
#[derive(Debug)]
pub(crate) struct Parts {
    spooled: Spooled,
    parts: Vec<Part>,
    meta: Meta,
    /// Bytes of everything but attachments.
    pub(crate) bytes: u64,
    most: u64,
    too_large: String,
}

#[derive(Debug)]
struct Part {
    role: Role,
    file_name: Option<String>,
    declared: Option<String>,
    range: Range<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Input,
    Stdout,
    Stderr,
    Meta,
    File,
    Attach(String),
    Watch,
}

/// What the caller says about the run: the only part that is read, and the caller's own words.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl Role {
    fn of(name: &str) -> Result<Self, ApiError> {
        Ok(match name {
            "input" => Self::Input,
            "stdout" => Self::Stdout,
            "stderr" => Self::Stderr,
            "meta" => Self::Meta,
            "file" => Self::File,
            "watch" => Self::Watch,
            other => match other.strip_prefix("attach:").filter(|reference| !reference.is_empty()) {
                Some(reference) => Self::Attach(reference.to_owned()),
                None => {
                    let other: String = scanner_core::visible(other).chars().take(60).collect();
                    return Err(ApiError::bad(format!(
                        "unknown part \"{other}\", expected one of: {}",
                        PARTS.join(", ")
                    )));
                }
            },
        })
    }

    /// Whether the part tells of a run, and so goes into a bundle.
    const fn is_of_run(&self) -> bool {
        matches!(self, Self::Stdout | Self::Stderr | Self::Meta | Self::File)
    }
}

/// What is left of each kind of part.
struct Left {
    input: u64,
    attached: u64,
    meta: u64,
    watch: u64,
}

impl Left {
    /// Takes a chunk of a part.
    fn take(&mut self, role: &Role, chunk: usize, state: &State) -> Result<(), ApiError> {
        let (left, what) = match role {
            Role::Input | Role::Stdout | Role::Stderr | Role::File => (&mut self.input, too_large(&state.limits)),
            Role::Attach(_) => {
                let most = state.config.body.attached.0;
                (
                    &mut self.attached,
                    format!("attach parts are larger than body.attached ({most} bytes): nothing was scanned"),
                )
            }
            Role::Meta => (&mut self.meta, format!("meta is larger than {META_BYTES} bytes: nothing was scanned")),
            Role::Watch => (&mut self.watch, format!("watch is larger than {WATCH_BYTES} bytes: nothing was scanned")),
        };
        *left = left.checked_sub(chunk as u64).ok_or_else(|| ApiError::new(Code::TooLarge, what))?;
        Ok(())
    }
}

impl Parts {
    /// Takes the parts of a body.
    pub(crate) async fn take(state: &State, headers: &HeaderMap, body: Body) -> Result<Self, ApiError> {
        let settings = &state.config.body;
        let most = state.limits.get(Resource::EnvelopeBytes);
        let mut left = Left { input: most, attached: settings.attached.0, meta: META_BYTES, watch: WATCH_BYTES };
        // Parts are counted one by one; this only bounds what is between them.
        let heads = (settings.parts as u64).saturating_mul(16 * 1024);
        let whole =
            most.saturating_add(settings.attached.0).saturating_add(META_BYTES + WATCH_BYTES).saturating_add(heads);
        let chunks = Chunks::new(headers, body, settings, (whole, too_large(&state.limits)))?;
        let mut multipart = Multipart::new(headers, chunks, settings.parts)?;
        let mut spool = Spool::new(settings);
        let mut parts: Vec<Part> = Vec::new();
        let mut meta = Vec::new();
        while let Some(Head { name, file_name, declared }) = multipart.part().await? {
            let role = Role::of(&name)?;
            if role != Role::File && parts.iter().any(|part| part.role == role) {
                return Err(ApiError::bad(format!("part \"{}\" is given twice", scanner_core::visible(&name))));
            }
            let start = spool.length();
            while let Some(chunk) = multipart.bytes().await? {
                left.take(&role, chunk.len(), state)?;
                if role == Role::Meta {
                    meta.extend_from_slice(&chunk);
                } else {
                    spool.write(&chunk).await?;
                }
            }
            parts.push(Part { role, file_name, declared, range: start..spool.length() });
        }
        let has_input = parts.iter().any(|part| part.role == Role::Input);
        if has_input == parts.iter().any(|part| part.role.is_of_run()) {
            return Err(ApiError::bad(
                "a multipart body has either the part input, or some of stdout, stderr, meta and file",
            ));
        }
        Ok(Self {
            spooled: spool.finish().await?,
            meta: read_meta(&parts, &meta)?,
            parts,
            bytes: most.saturating_sub(left.input),
            most,
            too_large: too_large(&state.limits),
        })
    }

    /// Whether they make a bundle, or one of them is the input.
    pub(crate) fn make_bundle(&self) -> bool {
        self.parts.iter().all(|part| part.role != Role::Input)
    }

    /// Puts them into the job; those that other engines are shown, each by itself. Blocks: for the thread that scans.
    pub(crate) fn fill(self, job: &mut ScanJob) -> Result<Vec<Bytes>, ApiError> {
        let make_bundle = self.make_bundle();
        let all = self
            .spooled
            .read()
            .map_err(|error| ApiError::internal(format!("the body could not be read back: {error}")))?;
        let bytes = |part: &Part| {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(all.len());
            all.slice(place(part.range.start)..place(part.range.end))
        };
        for part in &self.parts {
            match &part.role {
                Role::Input => {
                    job.bytes = bytes(part);
                    job.name = job.name.take().or_else(|| part.file_name.as_deref().map(base_name));
                }
                Role::Attach(reference) => {
                    job.attachments.push(Attachment { reference: reference.clone(), bytes: bytes(part) });
                }
                Role::Watch => {
                    let text = bytes(part);
                    let text = std::str::from_utf8(&text).map_err(|_| ApiError::bad("watch is not UTF-8 text"))?;
                    job.watch = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
                }
                Role::Stdout | Role::Stderr | Role::Meta | Role::File => {}
            }
        }
        if make_bundle {
            let run: Vec<(&Part, Bytes)> = self.parts.iter().map(|part| (part, bytes(part))).collect();
            let mut out = Capped { bytes: Vec::new(), most: self.most };
            write_bundle(&mut out, &self.meta, &run).map_err(|_| ApiError::new(Code::TooLarge, self.too_large))?;
            job.bytes = out.bytes.into();
            job.kind = "bundle".to_owned();
        }
        let is_shown = |part: &&Part| !matches!(part.role, Role::Meta | Role::Watch);
        Ok(self.parts.iter().filter(is_shown).map(bytes).collect())
    }
}

/// As the command does for a path: never more than the last name of it.
fn base_name(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn read_meta(parts: &[Part], meta: &[u8]) -> Result<Meta, ApiError> {
    if parts.iter().all(|part| part.role != Role::Meta) {
        return Ok(Meta::default());
    }
    let meta: Meta = serde_json::from_slice(meta).map_err(|error| {
        ApiError::bad(format!("meta: {}", scanner_core::visible(&error.to_string().replace('`', "\""))))
    })?;
    if let Some(status) = meta.status.as_deref().filter(|status| Status::named(status).is_none()) {
        let names: Vec<&str> = Status::ALL.into_iter().map(Status::name).collect();
        let status: String = scanner_core::visible(status).chars().take(60).collect();
        return Err(ApiError::bad(format!("meta: unknown status \"{status}\", expected one of: {}", names.join(", "))));
    }
    Ok(meta)
}

/// A buffer of bounded length.
struct Capped {
    bytes: Vec<u8>,
    most: u64,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() as u64).saturating_add(bytes.len() as u64) > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `scanner.bundle/v1` of one call. Nothing is read of the parts but whether they are text.
fn write_bundle(out: &mut Capped, meta: &Meta, run: &[(&Part, Bytes)]) -> io::Result<()> {
    out.write_all(b"{\"schema\":\"scanner.bundle/v1\",\"calls\":[")?;
    // An object with what the caller said; the rest goes in before its end.
    let mut call = serde_json::to_vec(meta)?;
    call.pop();
    out.write_all(&call)?;
    let mut separator = if call.len() > 1 { "," } else { "" };
    let mut files: Vec<(Option<&str>, Option<&str>, &Bytes)> = Vec::new();
    let mut streams = BTreeSet::new();
    for (part, bytes) in run {
        let key = match part.role {
            Role::Stdout => "stdout",
            Role::Stderr => "stderr",
            Role::File => {
                files.push((part.file_name.as_deref(), part.declared.as_deref(), bytes));
                continue;
            }
            _ => continue,
        };
        streams.insert(key);
        write!(out, "{separator}\"{key}\":")?;
        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(bytes))?;
        separator = ",";
        if std::str::from_utf8(bytes).is_err() {
            // JSON holds only text: the bytes as they are go along, so that nothing in them goes unseen.
            files.push((Some(key), None, bytes));
        }
    }
    write!(out, "{separator}\"files\":[")?;
    for (position, (name, declared, bytes)) in files.into_iter().enumerate() {
        out.write_all(if position > 0 { b",{" } else { b"{" })?;
        for (key, value) in [("name", name), ("type", declared)] {
            if let Some(value) = value {
                write!(out, "\"{key}\":")?;
                serde_json::to_writer(&mut *out, value)?;
                out.write_all(b",")?;
            }
        }
        out.write_all(b"\"base64\":\"")?;
        // Whole groups of three, so that pieces join.
        for piece in bytes.chunks(48 * 1024) {
            out.write_all(BASE64.encode(piece).as_bytes())?;
        }
        out.write_all(b"\"}")?;
    }
    out.write_all(b"]}]}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(role: Role, file_name: Option<&str>) -> Part {
        Part { role, file_name: file_name.map(str::to_owned), declared: None, range: 0..0 }
    }

    #[track_caller]
    fn check(meta: &str, run: &[(Role, Option<&str>, &[u8])], expect: &str) {
        let parts: Vec<Part> = run.iter().map(|(role, name, _)| part(role.clone(), *name)).collect();
        let run: Vec<(&Part, Bytes)> =
            parts.iter().zip(run).map(|(part, (_, _, bytes))| (part, Bytes::copy_from_slice(bytes))).collect();
        let mut out = Capped { bytes: Vec::new(), most: expect.len() as u64 };
        let meta = serde_json::from_str(meta).unwrap();
        write_bundle(&mut out, &meta, &run).unwrap();
        assert_eq!(String::from_utf8(out.bytes).unwrap(), expect);
        let mut out = Capped { bytes: Vec::new(), most: expect.len() as u64 - 1 };
        assert!(write_bundle(&mut out, &meta, &run).is_err(), "one byte less is too little");
    }

    #[test]
    fn parts_become_a_bundle_by_writing_only() {
        check(
            "{}",
            &[(Role::Stdout, None, b"a\"\n\x1b")],
            r#"{"schema":"scanner.bundle/v1","calls":[{"stdout":"a\"\n\u001b","files":[]}]}"#,
        );
        check(
            r#"{"exit_code":1,"status":"failed"}"#,
            &[(Role::File, Some("a\"],.txt"), b"abcd"), (Role::Stderr, None, b"no"), (Role::File, None, b"")],
            "{\"schema\":\"scanner.bundle/v1\",\"calls\":[{\"status\":\"failed\",\"exit_code\":1,\"stderr\":\"no\",\
             \"files\":[{\"name\":\"a\\\"],.txt\",\"base64\":\"YWJjZA==\"},{\"base64\":\"\"}]}]}",
        );
        check("{}", &[], r#"{"schema":"scanner.bundle/v1","calls":[{"files":[]}]}"#);
    }

    #[test]
    fn bytes_that_are_no_text_go_along_as_they_are() {
        check(
            "{}",
            &[(Role::Stdout, None, b"\x9bA")],
            "{\"schema\":\"scanner.bundle/v1\",\"calls\":[{\"stdout\":\"\u{fffd}A\",\"files\":[{\"name\":\"stdout\",\"base64\":\"m0E=\"}]}]}",
        );
    }

    #[test]
    fn meta_is_strict() {
        let check = |meta: &str| read_meta(&[part(Role::Meta, None)], meta.as_bytes()).is_ok();
        assert!(check(r#"{"exit_code":-1,"status":"timed_out","id":"x"}"#));
        assert!(!check(r#"{"exit":1}"#) && !check(r#"{"status":"okay"}"#) && !check("") && !check("[]"));
        assert!(!check(r#"{"exit_code":1,"exit_code":0}"#), "one of two");
    }

    #[test]
    fn roles_are_a_closed_list() {
        assert_eq!(Role::of("attach:cfile_1").unwrap(), Role::Attach("cfile_1".to_owned()));
        assert!(Role::of("attach:").is_err() && Role::of("Input").is_err() && Role::of("").is_err());
    }
}
