//! `scanner scan`: one verdict per input.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use data_encoding::BASE64;
use scanner_core::{
    Binding, Date, Decision, Digest, Limits, Resource, SigningKey, sha256_hex, sign_receipt, too_large, utc, visible,
};
use scanner_worker::{
    Answer, Attachment, LetterReader, LettersSettings, NamedPolicy, ScanFormat, ScanJob, Setup, Worker,
};
use serde_json::{Value, json};

use crate::{
    Exit, Failure,
    args::{Format, ScanArgs, SetupArgs},
    inputs::{self, Place},
    keys,
    problem::{Problem, Usage, say},
    release::Releases,
    reviews::Reviews,
};

/// How long the work may take before progress is shown.
const PATIENCE: Duration = Duration::from_millis(700);

pub(crate) fn run(args: &ScanArgs) -> Result<Exit, Failure> {
    let limits = args.setup.limits_of(args.letters.is_some());
    let template = template(args, &limits)?;
    let key = args.sign.as_deref().map(keys::signing).transpose()?;
    let binding = keys::binding(args.bind.as_deref())?;
    let reviews = Reviews::load(args.reviews.as_deref(), &args.reviewer)?;
    let mut worker = worker(&args.setup, binding.clone(), letters(args, &limits)?)?;
    // After the reviews were read: it may be the very file they stand in.
    let mut receipts = args.receipt.as_ref().map(File::create).transpose()?;
    let human = matches!(template.format, ScanFormat::Human { .. });
    let sarif = template.format == ScanFormat::Sarif;
    let mut logs = Vec::new();
    let as_runner = args.kind == "runner";
    let mut places = Vec::new();
    for path in &args.paths {
        // A folder under `--as runner` is one tool result, not many files.
        if as_runner && path.is_dir() {
            places.push(Ok(Source::Runner(path.clone())));
        } else {
            places.extend(inputs::places(std::slice::from_ref(path)).into_iter().map(|place| place.map(Source::One)));
        }
    }
    let single = places.len() == 1;
    let mut releases = Releases::new(&args.release, &args.audience, !single)?;
    let mut out = io::stdout().lock();
    let mut sum = Summary::default();
    let mut progress = Progress::new(places.len());
    for source in places {
        let answer = source.and_then(|source| {
            progress.at(source.shown());
            let mut job = source.job(&template, &limits)?;
            if single {
                job.name = args.name.clone().or(job.name);
                job.declared.clone_from(&args.declared);
            }
            job.reviews = reviews.about(&job.bytes, binding.as_ref());
            let bytes = job.bytes.clone();
            let mut answer = answer(&mut worker, job, &source, &limits)?;
            reviews.tell(&answer.receipt);
            if let Some(key) = &key {
                answer.receipt = signed(&answer.receipt, &bytes, binding.as_ref(), key)
                    .ok_or_else(|| source.problem("not_scanned", "the worker answered about another input"))?;
            }
            Ok(answer)
        });
        progress.clear();
        match &answer {
            Ok(answer) => {
                if human && sum.inputs > 0 {
                    writeln!(out)?;
                }
                if sarif {
                    logs.push(answer.output.clone());
                } else {
                    writeln!(out, "{}", answer.output.trim_end_matches('\n'))?;
                }
                releases.write(answer)?;
                if let Some(receipts) = &mut receipts {
                    writeln!(receipts, "{}", answer.receipt)?;
                }
            }
            Err(problem) if human || sarif => say(&format!("scanner: {problem}")),
            Err(problem) => writeln!(out, "{}", problem.json())?,
        }
        sum.add(args, answer.ok().as_ref());
    }
    if human && sum.inputs > 1 {
        writeln!(out, "\n{}", sum.in_words())?;
    }
    if sarif {
        writeln!(out, "{}", scanner_core::sarif_of_all(logs.iter().map(String::as_str)))?;
    }
    out.flush()?;
    releases.finish()?;
    Ok(sum.exit)
}

/// A worker for these options, after their files were checked.
pub(crate) fn worker(
    args: &SetupArgs,
    binding: Option<Binding>,
    letters: Option<LetterReader>,
) -> Result<Worker, Failure> {
    let mut setup = Setup { limits: args.limits_of(letters.is_some()), binding, letters, ..Setup::default() };
    setup.rules = rule_files(&args.rules)?;
    if !is_built_in(&args.policy) {
        let text = inputs::read_text(Path::new(&args.policy)).map_err(|problem| {
            Usage(format!("{problem}\nA policy is default, strict, permissive, report-only, or the path of a file."))
        })?;
        setup.policies.push(NamedPolicy { name: args.policy.clone(), text });
    }
    setup.check().map_err(|error| Usage(error.to_string()))?;
    if args.no_isolation {
        say("scanner: hostile bytes are parsed in this very process (--no-isolation): for tests only");
        return Ok(Worker::without_isolation(setup));
    }
    Ok(Worker::new(setup))
}

/// Who reads letters, where that is asked for. It has the time that a scan has.
fn letters(args: &ScanArgs, limits: &Limits) -> Result<Option<LetterReader>, Usage> {
    let Some(program) = &args.letters else { return Ok(None) };
    let settings = LettersSettings {
        program: program.clone(),
        languages: args.languages.clone(),
        total: Duration::from_secs(limits.get(Resource::Wall)),
        kept: args.keep_letters.clone(),
        ..LettersSettings::default()
    };
    LetterReader::new(settings).map(Some).map_err(|why| Usage(format!("--letters: {why}")))
}

pub(crate) fn is_built_in(policy: &str) -> bool {
    scanner_rules::POLICIES.iter().any(|(name, _)| *name == policy)
}

/// Rule files, and the `*.toml` files of folders, by name.
pub(crate) fn rule_files(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Usage> {
    let mut files = Vec::new();
    for path in paths {
        let below = if path.is_dir() { inputs::files_below(path) } else { inputs::places(std::slice::from_ref(path)) };
        for place in below {
            let place = place.map_err(|problem| Usage(problem.to_string()))?;
            if path.is_dir() && !place.shown.ends_with(".toml") {
                continue;
            }
            let text = inputs::read_text(Path::new(&place.shown)).map_err(|problem| Usage(problem.to_string()))?;
            files.push((place.shown, text));
        }
    }
    Ok(files)
}

/// Everything that is the same for all inputs.
fn template(args: &ScanArgs, limits: &Limits) -> Result<ScanJob, Failure> {
    let mut job = ScanJob::new(Vec::new());
    job.kind.clone_from(&args.kind);
    job.policy.clone_from(&args.setup.policy);
    job.audiences.clone_from(&args.audience);
    job.context = args.context.iter().cloned().collect::<BTreeMap<_, _>>();
    job.now = Some(today().to_string());
    job.format = match args.format {
        Some(Format::Json) => ScanFormat::Json,
        Some(Format::Sarif) => ScanFormat::Sarif,
        None if !io::stdout().is_terminal() => ScanFormat::Json,
        Some(Format::Human) | None => ScanFormat::Human { color: wants_color() },
    };
    job.release = args.release.iter().map(|(audience, _)| audience.clone()).collect();
    job.attachments = attachments(&args.attach, limits)?;
    if let Some(path) = &args.watch {
        job.watch = watch_list(path)?;
    }
    Ok(job)
}

pub(crate) fn attachments(attach: &[(String, String)], limits: &Limits) -> Result<Vec<Attachment>, Usage> {
    attach
        .iter()
        .map(|(reference, path)| {
            let bytes = inputs::read_named(Path::new(path), limits).map_err(|problem| Usage(problem.to_string()))?;
            Ok(Attachment { reference: reference.clone(), bytes: bytes.into() })
        })
        .collect()
}

pub(crate) fn watch_list(path: &Path) -> Result<Vec<String>, Usage> {
    let text = inputs::read_text(path).map_err(|problem| Usage(problem.to_string()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

pub(crate) fn today() -> Date {
    Date::from_unix_seconds(seconds())
}

/// The time, as statements write it.
pub(crate) fn now() -> String {
    utc(seconds())
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The receipt, signed; `None` when it is not about these bytes. The worker that wrote it held hostile bytes, and the key
/// was never there.
fn signed(receipt: &str, bytes: &[u8], binding: Option<&Binding>, key: &SigningKey) -> Option<String> {
    let receipt: Value = serde_json::from_str(receipt).ok()?;
    let is_about = Digest::of_member(&receipt["source"])?.is_of(&sha256_hex(bytes), binding);
    is_about.then(|| sign_receipt(&receipt, &now(), None, key).ok()).flatten()
}

fn wants_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Where the bytes of one input come from.
enum Source {
    One(Place),
    Runner(PathBuf),
}

impl Source {
    fn shown(&self) -> String {
        match self {
            Self::One(place) => place.shown.clone(),
            Self::Runner(folder) => folder.to_string_lossy().into_owned(),
        }
    }

    fn problem(&self, code: &'static str, message: impl Into<String>) -> Problem {
        Problem { input: self.shown(), code, message: message.into() }
    }

    fn job(&self, template: &ScanJob, limits: &Limits) -> Result<ScanJob, Problem> {
        let mut job = template.clone();
        match self {
            Self::One(place) => {
                job.bytes = place.read(limits)?.into();
                job.name.clone_from(&place.name);
            }
            Self::Runner(folder) => {
                job.bytes = runner_bundle(folder, limits)?.into();
                job.kind = "bundle".to_owned();
                job.name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            }
        }
        Ok(job)
    }
}

/// The answer to one input. A bundle may name files beside it: they are attached, and it is scanned again.
fn answer(worker: &mut Worker, mut job: ScanJob, source: &Source, limits: &Limits) -> Result<Answer, Problem> {
    let mut answer = worker.scan(job.clone());
    if let (Source::One(place), false) = (source, answer.wants.is_empty()) {
        let before = job.attachments.len();
        for name in std::mem::take(&mut answer.wants) {
            if let Some(bytes) = inputs::read_beside(place, &name, limits) {
                job.attachments.push(Attachment { reference: name, bytes: bytes.into() });
            }
        }
        if job.attachments.len() > before {
            answer = worker.scan(job);
        }
    }
    match answer.refusal {
        // Codes come from the worker; only the words known here go on.
        Some((code, message)) => {
            let code = ["too_large", "not_an_envelope", "unknown_audience"].into_iter().find(|known| *known == code);
            Err(source.problem(code.unwrap_or("not_scanned"), message))
        }
        None => Ok(answer),
    }
}

/// A runner's folder as a bundle: `stdout.txt`, `stderr.txt`, `exit_code.txt` if they are there, all else is a file.
fn runner_bundle(folder: &Path, limits: &Limits) -> Result<Vec<u8>, Problem> {
    let mut call = json!({ "id": "run", "tool": "runner" });
    let mut files = Vec::new();
    let mut left = limits.get(Resource::EnvelopeBytes);
    for place in inputs::files_below(folder) {
        let place = place?;
        let bytes = place.read(limits)?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| Problem {
            input: place.shown.clone(),
            code: "too_large",
            message: too_large(limits),
        })?;
        let name = place.name.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        match name.as_str() {
            "stdout.txt" | "stderr.txt" => call[name.trim_end_matches(".txt")] = text.into(),
            "exit_code.txt" => {
                if let Ok(code) = text.trim().parse::<i64>() {
                    call["exit_code"] = code.into();
                } else {
                    files.push(json!({ "name": name, "text": text }));
                }
            }
            _ => files.push(json!({ "name": name, "base64": BASE64.encode(&bytes) })),
        }
    }
    call["files"] = files.into();
    Ok(json!({ "schema": "scanner.bundle/v1", "calls": [call] }).to_string().into_bytes())
}

/// What came of all inputs together.
#[derive(Debug)]
struct Summary {
    inputs: usize,
    decisions: BTreeMap<Decision, usize>,
    unreadable: usize,
    incomplete: usize,
    exit: Exit,
}

impl Default for Summary {
    fn default() -> Self {
        Self { inputs: 0, decisions: BTreeMap::new(), unreadable: 0, incomplete: 0, exit: Exit::Good }
    }
}

impl Summary {
    fn add(&mut self, args: &ScanArgs, answer: Option<&Answer>) {
        self.inputs += 1;
        let Some(answer) = answer else {
            self.unreadable += 1;
            self.exit = self.exit.max(Exit::Unreadable);
            return;
        };
        if let Some(decision) = answer.decision {
            *self.decisions.entry(decision).or_default() += 1;
        }
        self.incomplete += usize::from(!answer.complete);
        if args.fail_on.is_met_by(answer.decision) || (args.require_complete && !answer.complete) {
            self.exit = self.exit.max(Exit::Found);
        }
    }

    fn in_words(&self) -> String {
        let mut parts: Vec<String> =
            self.decisions.iter().rev().map(|(decision, count)| format!("{count} {}", decision.name())).collect();
        if self.unreadable > 0 {
            parts.push(format!("{} could not be read", self.unreadable));
        }
        let seen = if self.incomplete > 0 { format!("; {} not seen whole", self.incomplete) } else { String::new() };
        format!("{} inputs: {}{seen}", self.inputs, parts.join(", "))
    }
}

/// One line on the terminal that says where the work is, once it takes long enough.
struct Progress {
    total: usize,
    done: usize,
    since: Instant,
    on: bool,
    drawn: bool,
}

impl Progress {
    fn new(total: usize) -> Self {
        Self { total, done: 0, since: Instant::now(), on: io::stderr().is_terminal(), drawn: false }
    }

    fn at(&mut self, shown: String) {
        self.done += 1;
        if self.on && self.since.elapsed() > PATIENCE {
            let name: String = visible(&shown).chars().take(60).collect();
            let _ = write!(io::stderr(), "\r\x1b[K[{}/{}] {name}", self.done, self.total);
            self.drawn = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
