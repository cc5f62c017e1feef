//! `/healthz`, `/readyz`, `/metrics`: for machines that look after the service.

use std::sync::Arc;

use axum::{
    extract::State as Shared,
    http::{StatusCode, header},
    response::IntoResponse,
};

use crate::state::State;

/// The process is alive.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Requests should be sent here: a worker has answered, and nobody asked the service to end.
pub(crate) async fn readyz(Shared(state): Shared<Arc<State>>) -> (StatusCode, &'static str) {
    if state.is_ready() { (StatusCode::OK, "ready\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "not ready\n") }
}

/// For Prometheus.
pub(crate) async fn metrics(Shared(state): Shared<Arc<State>>) -> impl IntoResponse {
    #[allow(clippy::cast_precision_loss, reason = "counts of a few thousand")]
    let number = |count: usize| count as f64;
    let (workers, waiting, running) = state.pool.numbers();
    let text = state.metrics.render(&[
        ("scanner_ready", "Whether requests should be sent here.", f64::from(u8::from(state.is_ready()))),
        ("scanner_workers", "Workers.", number(workers)),
        ("scanner_scans_running", "Scans under way.", number(running)),
        ("scanner_scans_waiting", "Inputs that wait for a worker.", number(waiting)),
        ("scanner_uploads", "Bodies on their way in.", number(state.uploads())),
        ("scanner_connections", "Connections open.", number(state.connections())),
    ]);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
