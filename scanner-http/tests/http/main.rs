//! The service over sockets: a real process on a port of its own, and a client that sends bytes as they are.
//!
//! Sixteen faults that services like this one fall over, and where each is tried. What is slow has a short form in the
//! ordinary run and a long one in `long` (`.ci/long faults`).
//!
//! | fault | |
//! |---|---|
//! | 1 heads that do not come | `bodies`, `long` |
//! | 2 bodies that stall or trickle | `bodies`, `long` |
//! | 3 bodies over the limit, longer or shorter than they say | `bodies` |
//! | 4 chunks that lie | `protocol` |
//! | 5 packed bodies | `bodies` |
//! | 6 more uploads than fit | `overload`, `long` |
//! | 7 workers that are killed | `overload`, `faults`, `long` |
//! | 8 clamd: down, silent, half an answer, a flood, over its limit | `clamav`; the real one in `.ci/long clamd` |
//! | 9 no space for bodies or receipts | `bodies`, `faults` |
//! | 10 no descriptors | `overload`, `long` |
//! | 11 the end, during requests | `end`, `faults`, `long` |
//! | 12 a clock that jumps | `faults`, `long` |
//! | 13 multipart that lies | `multipart` |
//! | 14 one request that can be read as two | `protocol` |
//! | 15 rules that are wrong, on reload | `reload` |
//! | 16 inputs that eat memory, fork, overflow, loop | `tests/worker.rs` of the workspace |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod auth;
mod bodies;
mod clamav;
mod documents;
mod end;
mod fake_clamd;
mod faults;
mod isolation;
mod letters;
mod long;
mod multipart;
mod overload;
mod protocol;
mod release;
mod reload;
mod routes;
mod same;
mod schema;
mod service;
mod soak;
