//! The service over sockets: a real process on a port of its own, and a client that sends bytes as they are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod auth;
mod bodies;
mod documents;
mod end;
mod multipart;
mod overload;
mod protocol;
mod routes;
mod same;
mod schema;
mod service;
