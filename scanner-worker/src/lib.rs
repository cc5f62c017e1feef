//! Hostile bytes are parsed in a process of their own.
//!
//! The front ([`Worker`]) starts its own executable again in worker mode, hands it a [`Setup`] and then one [`ScanJob`]
//! after the other over a pipe, and reads one [`Answer`] each. The kernel holds the worker to CPU time and memory, the
//! front holds it to the clock. A worker that dies, hangs or runs out of memory is an answer too: the front makes the
//! verdict itself from the recorded death, without parsing a byte of the input.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! use scanner_worker::{ScanJob, Setup, Worker};
//!
//! // In `main`: if this process was started as a worker, be one.
//! if std::env::args().nth(1).as_deref() == Some(scanner_worker::WORKER_ARGUMENT) {
//!     return scanner_worker::serve();
//! }
//! let mut worker = Worker::new(Setup::default());
//! let answer = worker.scan(ScanJob::new(std::fs::read("chart.png")?));
//! println!("{}", answer.output);
//! # Ok(())
//! # }
//! ```

mod bench;
mod front;
mod job;
mod serve;
mod setup;
mod wire;

pub use bench::Bench;
pub use front::Worker;
pub use job::{Answer, Attachment, Counts, Death, Kept, Released, ScanFormat, ScanJob, SniffFormat, SniffJob, TextJob};
pub use serve::{WORKER_ARGUMENT, serve};
pub use setup::{NamedPolicy, Setup, SetupError};
