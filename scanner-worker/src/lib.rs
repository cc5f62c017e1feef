//! Hostile bytes are parsed in a process of their own.
//!
//! The front ([`Worker`]) starts its own executable again in worker mode, hands it a [`Setup`] and then one [`ScanJob`]
//! after the other over a pipe, and reads one [`Answer`] each. Before the first the worker gives up files, sockets,
//! processes and privileges ([`confine()`]). The kernel holds it to CPU time and memory, the front holds it to the clock.
//! A worker that dies, hangs or runs out of memory is an answer too: the front makes the verdict itself from the
//! recorded death, without parsing a byte of the input. A [`Pool`] keeps workers ready, each for one tenant.
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

mod answer;
mod bench;
mod confine;
mod deaths;
mod doors;
mod front;
mod job;
mod kit;
mod letters;
mod pool;
mod released;
mod process;
mod serve;
mod setup;
mod shown;
mod wire;

pub use answer::{Answer, Counts};
pub use bench::Bench;
pub use confine::{Isolation, Landlock, Layer, confine};
#[doc(hidden)]
pub use doors::{answer_alone, scan_alone, texts_alone, work_alone};
pub use front::Worker;
pub use job::{Attachment, Death, Engine, ReadPicture, ScanFormat, ScanJob, SniffFormat, SniffJob, TextJob};
pub use kit::Kit;
pub use letters::{LETTER_PIXELS, LETTERS_ARGUMENT, LETTERS_ENGINE, LetterReader, LettersSettings, launch};
pub use pool::{Pool, PoolSize};
pub use released::{Kept, Released};
pub use serve::{WORKER_ARGUMENT, serve};
pub use setup::{NamedPolicy, Setup, SetupError};
