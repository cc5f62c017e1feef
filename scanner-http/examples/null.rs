//! The accept loop with a handler that reads the body and does nothing: what load figures are compared with.
//! Prints its address.

use std::{io::Write, sync::Arc};

use axum::{Router, body::Bytes, routing::post};
use scanner_http::{Config, Server};
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::read(None, [])?;
    let routes = Router::new().route("/", post(|body: Bytes| async move { body.len().to_string() }));
    let server = Server::bind(([127, 0, 0, 1], 0).into(), routes, &config.connections, Arc::default())?;
    writeln!(std::io::stdout(), "{}", server.address()?)?;
    let (_end, ends) = watch::channel(false);
    server.run(ends, &config.shutdown).await;
    Ok(())
}
