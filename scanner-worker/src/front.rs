//! The front's side: give a worker a job, and turn its death into an answer.

use std::time::{Duration, Instant};

use scanner_core::{Reason, Resource};

use crate::{
    answer::Answer,
    bench::lines,
    confine::Isolation,
    job::{Death, Engine, Job, ScanJob, SniffJob, TextJob},
    kit::Kit,
    process::{Beside, Process, StartError},
    setup::Setup,
    shown::{Said, Shown},
};

/// Asks engines for their answers, and waits for them.
type Asking<'a> = &'a mut dyn FnMut() -> Vec<Engine>;

/// Engines that are asked once: what they said is kept for the verdict about a death.
struct Heard<'a> {
    engines: Option<Asking<'a>>,
    said: Option<Vec<Engine>>,
}

impl Heard<'_> {
    fn hear(&mut self) -> Vec<Engine> {
        let engines = &mut self.engines;
        self.said.get_or_insert_with(|| engines.as_mut().map_or_else(Vec::new, |ask| ask())).clone()
    }
}

/// A worker process, started when the first job comes and again when it died.
#[derive(Debug)]
pub struct Worker {
    kit: Kit,
    process: Option<Process>,
    isolated: bool,
}

impl Worker {
    /// A worker with that setup. Nothing is started yet.
    pub fn new(setup: Setup) -> Self {
        Self::of(Kit::new(setup))
    }

    /// A worker with that kit, which other workers may share. Nothing is started yet.
    pub fn of(kit: Kit) -> Self {
        Self { kit, process: None, isolated: true }
    }

    /// The same jobs in this very process: for tests, and where no process can be started. Nothing contains a crash.
    pub fn without_isolation(setup: Setup) -> Self {
        Self { isolated: false, ..Self::new(setup) }
    }

    /// Starts the process now, if there is none, and tells what holds it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn start(&mut self) -> Result<Isolation, Death> {
        self.process().map(|process| process.isolation())
    }

    /// Whether its process is alive and waits for a job. False, too, before the first.
    pub fn is_alive(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_quiet)
    }

    /// The kit it works with.
    pub(crate) fn kit(&self) -> &Kit {
        &self.kit
    }

    /// Scans and decides. Whatever happens to the worker, there is a verdict.
    pub fn scan(&mut self, job: ScanJob) -> Answer {
        self.scan_with(job, None)
    }

    /// The same, beside engines that look at the same input meanwhile: `engines` is called once the worker has the job,
    /// and may wait for their answers.
    pub fn scan_beside(&mut self, job: ScanJob, engines: impl FnOnce() -> Vec<Engine>) -> Answer {
        let mut engines = Some(engines);
        self.scan_with(job, Some(&mut || engines.take().map_or_else(Vec::new, |engines| engines())))
    }

    fn scan_with(&mut self, mut job: ScanJob, engines: Option<Asking<'_>>) -> Answer {
        let are_engines = engines.is_some();
        let mut heard = Heard { engines, said: None };
        if job.death.is_none() {
            let whole = Job::Scan(Box::new(job));
            let mut hear = || heard.hear();
            let hear: Asking<'_> = &mut hear;
            let death = match self.run(&whole, are_engines.then_some(hear)) {
                Ok(answer) => return answer,
                Err(death) => death,
            };
            let Job::Scan(back) = whole else { return Answer::refused(&death.reason, death.detail) };
            job = ScanJob { death: Some(death), ..*back };
        }
        self.kit.run(&Job::Scan(Box::new(job)), |_| Said { engines: heard.hear(), ..Said::default() })
    }

    /// Tells the type of some bytes.
    pub fn sniff(&mut self, job: SniffJob) -> Answer {
        self.run(&Job::Sniff(job), None).unwrap_or_else(|death| Answer::refused(&death.reason, death.detail))
    }

    /// Reads JSON lines of texts. When the worker dies the lines are given to it again one by one, so that only the
    /// line that kills it goes unread.
    pub fn texts(&mut self, job: TextJob) -> Answer {
        match self.run(&Job::Text(job.clone()), None) {
            Ok(answer) => answer,
            Err(_) => {
                let mut all = Answer { complete: true, ..Answer::default() };
                for (first, lines) in (job.first..).zip(lines(&job.lines)) {
                    let answer = self.line(TextJob { lines, first, ..job.clone() });
                    all.decision = all.decision.max(answer.decision);
                    all.complete &= answer.complete;
                    all.refusal = all.refusal.or(answer.refusal);
                    all.output.push_str(&answer.output);
                }
                all
            }
        }
    }

    /// One line; when it kills the worker, the answer to that.
    fn line(&mut self, job: TextJob) -> Answer {
        match self.run(&Job::Text(job.clone()), None) {
            Ok(answer) => answer,
            Err(death) => match self.kit.bench() {
                Ok(bench) => bench.texts(&job, Some(&death)).unwrap_or_else(|refused| *refused),
                Err(error) => Answer::refused("bad_setup", error.to_string()),
            },
        }
    }

    fn process(&mut self) -> Result<&mut Process, Death> {
        // One that ended while it was idle, or spoke unasked, gets no job.
        let process = match self.process.take().filter(Process::is_quiet) {
            Some(process) => process,
            None => Process::start(self.kit.setup()).map_err(|error| match error {
                StartError::Ended(death) => death,
                StartError::None(error) => Death {
                    reason: Reason::WorkerDied.to_string(),
                    detail: format!("no worker could be started: {error}"),
                },
            })?,
        };
        Ok(self.process.insert(process))
    }

    fn run(&mut self, job: &Job, engines: Option<Asking<'_>>) -> Result<Answer, Death> {
        let Setup { limits, letters, .. } = self.kit.setup();
        let wall = Duration::from_secs(limits.get(Resource::Wall));
        let most = limits.get(Resource::LetterPixels);
        let reader = letters.clone().filter(|_| most > 0 && matches!(job, Job::Scan(_)));
        if !self.isolated {
            let deadline = Instant::now() + wall;
            return Ok(self.kit.run(job, |pictures| {
                let mut said = Said { engines: engines.map_or_else(Vec::new, |engines| engines()), ..Said::default() };
                if let Some(reader) = reader {
                    let (engine, letters) = reader.look(&Shown::all(pictures), deadline);
                    said.engines.push(engine);
                    said.letters = letters;
                }
                said
            }));
        }
        let beside = Beside { engines, letters: reader.map(|reader| (reader, most)) };
        let asked = self.process()?.ask(job, wall, beside);
        asked.map_err(|error| match self.process.take() {
            Some(process) => process.end(&error, self.kit.setup()),
            None => Death { reason: Reason::WorkerDied.to_string(), detail: "the worker is gone".to_owned() },
        })
    }
}
