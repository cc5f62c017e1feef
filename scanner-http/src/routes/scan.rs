//! `POST /v1/scan`: an input in, a verdict out.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    body::Body,
    extract::{Request, State as Shared},
    http::{Extensions, HeaderMap, HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use scanner_core::{Date, Decision, Resource, too_large};
use scanner_worker::{Answer, ScanJob};

use super::release::beside;
use crate::{
    auth::Caller,
    body::{Chunks, Spool, Spooled},
    error::{ApiError, Code},
    multipart::is_multipart,
    observe::{RequestId, Scanned},
    parts::Parts,
    pool::Work,
    state::State,
};

/// The query of a scan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    kind: Option<String>,
    name: Option<String>,
    declared: Option<String>,
    pub(super) audiences: Vec<String>,
    policy: Option<String>,
    context: BTreeMap<String, String>,
    receipt: bool,
    pub(super) release: Option<String>,
}

/// The parameters there are, for messages and for the test of /openapi.json.
pub(crate) const PARAMETERS: [&str; 8] =
    ["as", "name", "type", "audience", "policy", "context.KEY", "receipt", "release"];

const AUDIENCE: &str = "audience is required: page, terminal, model or download";

impl Asked {
    pub(super) fn of(query: &str) -> Result<Self, ApiError> {
        let mut asked = Self::default();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.into_owned();
            let once = |slot: &mut Option<String>, value| match slot.replace(value) {
                None => Ok(()),
                Some(_) => Err(ApiError::bad(format!("\"{key}\" is given twice"))),
            };
            match &*key {
                "as" => once(&mut asked.kind, value)?,
                "name" => once(&mut asked.name, value)?,
                "type" => once(&mut asked.declared, value)?,
                "policy" => once(&mut asked.policy, value)?,
                "release" => once(&mut asked.release, value)?,
                "audience" => {
                    for name in value.split(',').filter(|name| !name.is_empty()) {
                        if !asked.audiences.iter().any(|known| known == name) {
                            asked.audiences.push(name.to_owned());
                        }
                    }
                }
                "receipt" => {
                    asked.receipt = match &*value {
                        "1" | "true" => true,
                        "0" | "false" => false,
                        _ => return Err(ApiError::bad("receipt is 1 or 0")),
                    };
                }
                other => match other.strip_prefix("context.").filter(|name| !name.is_empty()) {
                    Some(name) if !asked.context.contains_key(name) => {
                        asked.context.insert(name.to_owned(), value);
                    }
                    Some(_) => return Err(ApiError::bad("a context key is given twice")),
                    None => {
                        let other: String = scanner_core::visible(other).chars().take(60).collect();
                        let known = PARAMETERS.join(", ");
                        return Err(ApiError::bad(format!("unknown parameter \"{other}\", expected one of: {known}")));
                    }
                },
            }
        }
        if asked.audiences.is_empty() {
            return Err(ApiError::bad(AUDIENCE));
        }
        Ok(asked)
    }
}

pub(crate) async fn scan(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    let asked = Asked::of(request.uri().query().unwrap_or_default());
    let (receipt, is_released) =
        asked.as_ref().map_or((false, false), |asked| (asked.receipt, asked.release.is_some()));
    let mut told = tell(&state, request, asked).await?;
    let answer = &mut told.answer;
    let output = std::mem::take(&mut answer.output);
    let verdict = if receipt { with_receipt(output, &answer.receipt)? } else { output };
    if is_released { beside(told, verdict) } else { respond(&told, verdict) }
}

/// What was told about one request.
pub(super) struct Told {
    pub(super) answer: Answer,
    bytes: u64,
    tenant: Option<String>,
}

impl Told {
    /// For the log.
    pub(super) fn scanned(&self) -> Scanned {
        Scanned {
            decision: self.answer.decision.map_or("none", Decision::name),
            complete: self.answer.complete,
            bytes: self.bytes,
            tenant: self.tenant.clone(),
        }
    }
}

/// Takes a body, has it judged, and writes the receipt down. Who may ask comes before what is asked.
pub(super) async fn tell(
    state: &Arc<State>,
    request: Request,
    asked: Result<Asked, ApiError>,
) -> Result<Told, ApiError> {
    let (parts, body) = request.into_parts();
    let loaded = state.loaded();
    let caller = loaded.callers.of(&parts.headers)?;
    caller.spend()?;
    let asked = asked?;
    let policy = caller.policy(asked.policy.as_deref())?.to_owned();
    if let Some(known) = loaded.policies.named(&policy) {
        for audience in asked.audiences.iter().chain(&asked.release) {
            known.audience(audience).map_err(|unknown| ApiError::bad(unknown.to_string()))?;
        }
    }
    let mut job = ScanJob::new(Vec::new());
    job.kind = asked.kind.unwrap_or_else(|| "auto".to_owned());
    job.name = asked.name;
    job.declared = asked.declared;
    job.audiences = asked.audiences;
    if let Some(audience) = asked.release {
        if !job.audiences.contains(&audience) {
            job.audiences.push(audience.clone());
        }
        job.release.push(audience);
    }
    job.context = asked.context;
    job.policy = policy;
    job.now = Some(today().to_string());

    let upload = state.upload()?;
    let taken = Taken::take(state, &parts.headers, body).await?;
    if taken.makes_bundle() && !matches!(job.kind.as_str(), "auto" | "bundle" | "runner") {
        return Err(ApiError::bad("as goes with the part input, not with stdout, stderr, meta and file"));
    }
    let bytes = taken.bytes();
    // A body is here, so its memory is counted by the pool's places from now on.
    let place = state.pool.place()?;
    drop(upload);
    let started = Instant::now();
    let answer = state
        .pool
        .scan(place, caller.tenant(), move || {
            let files = taken.fill(&mut job)?;
            Ok(Work { job, files })
        })
        .await?;
    if let Some((code, message)) = &answer.refusal {
        return Err(refused(code, message));
    }
    state.metrics.scan(&answer, bytes, started.elapsed());
    keep(state, &answer, &caller, &parts.extensions).await?;
    Ok(Told { answer, bytes, tenant: caller.tenant.clone() })
}

/// Writes the receipt down, where there is a journal. Without that there is no verdict to answer.
async fn keep(
    state: &Arc<State>,
    answer: &Answer,
    caller: &Arc<Caller>,
    extensions: &Extensions,
) -> Result<(), ApiError> {
    if state.journal.is_none() {
        return Ok(());
    }
    let id = extensions.get::<RequestId>().cloned().unwrap_or_default();
    let (state, caller, receipt) = (state.clone(), caller.clone(), answer.receipt.clone());
    let written = tokio::task::spawn_blocking(move || {
        let written = state
            .journal
            .as_ref()
            .map(|journal| journal.write(&receipt, caller.tenant.as_deref(), &id.0, unix_seconds()));
        written.unwrap_or(Ok(()))
    });
    let written = written.await.map_err(|error| ApiError::internal(error.to_string()))?;
    written.map_err(|error| {
        ApiError::new(Code::NoSpace, "the receipt could not be kept, so there is no verdict: try again")
            .inside(format!("journal: {error}"))
    })
}

/// A body that is here.
enum Taken {
    /// The input, as it is.
    Raw(Spooled, u64),
    Parts(Box<Parts>),
}

impl Taken {
    async fn take(state: &State, headers: &HeaderMap, body: Body) -> Result<Self, ApiError> {
        if is_multipart(headers) {
            return Ok(Self::Parts(Box::new(Parts::take(state, headers, body).await?)));
        }
        let most = (state.limits.get(Resource::EnvelopeBytes), too_large(&state.limits));
        let mut chunks = Chunks::new(headers, body, &state.config.body, most)?;
        let mut spool = Spool::new(&state.config.body);
        while let Some(chunk) = chunks.next().await? {
            spool.write(&chunk).await?;
        }
        let bytes = spool.length();
        Ok(Self::Raw(spool.finish().await?, bytes))
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Raw(_, bytes) => *bytes,
            Self::Parts(parts) => parts.bytes,
        }
    }

    fn makes_bundle(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.make_bundle())
    }

    /// Puts it into the job; the files of it that other engines are shown. Blocks: for the thread that scans.
    fn fill(self, job: &mut ScanJob) -> Result<Vec<Bytes>, ApiError> {
        match self {
            Self::Raw(spooled, _) => {
                job.bytes = spooled
                    .read()
                    .map_err(|error| ApiError::internal(format!("the body could not be read back: {error}")))?;
                Ok(vec![job.bytes.clone()])
            }
            Self::Parts(parts) => parts.fill(job),
        }
    }
}

/// What the worker says when it scanned nothing. Its code is checked, its message is about the request.
fn refused(code: &str, message: &str) -> ApiError {
    let code = match code {
        "too_large" => Code::TooLarge,
        "not_an_envelope" => Code::NotAnEnvelope,
        "unknown_audience" => Code::BadRequest,
        // It was there when the request came: the operator's files have changed meanwhile.
        "unknown_policy" => {
            return ApiError::new(Code::Overloaded, "the policies have just changed: nothing was scanned, try again");
        }
        _ => return ApiError::internal(format!("the worker refused: {code}: {message}")),
    };
    ApiError::new(code, message)
}

fn respond(told: &Told, verdict: String) -> Result<Response, ApiError> {
    let decision = told.answer.decision.map_or("none", Decision::name);
    let mut response = Response::new(Body::from(verdict));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("x-scan-decision", HeaderValue::from_static(decision));
    response.extensions_mut().insert(told.scanned());
    Ok(response)
}

/// The verdict with the receipt in it: `receipt.canonical`, the very text that `receipt.sha256` is of. The verdict is
/// not read: its last member is the receipt, and one more goes into that.
fn with_receipt(verdict: String, receipt: &str) -> Result<String, ApiError> {
    let Some(open) = verdict.strip_suffix("\"}}") else {
        return Err(ApiError::internal("a verdict that does not end in its receipt"));
    };
    let canonical = serde_json::Value::String(receipt.to_owned());
    Ok(format!("{open}\",\"canonical\":{canonical}}}}}"))
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

pub(crate) fn today() -> Date {
    Date::from_unix_seconds(unix_seconds())
}
