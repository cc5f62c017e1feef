//! The scanner over HTTP (CONTRACT §2). This process moves bytes: whatever is hostile is parsed by a worker.
//!
//! ```no_run
//! use std::sync::Arc;
//! use scanner_http::{Config, State, router};
//!
//! # fn main() -> Result<(), scanner_http::ConfigError> {
//! let state = Arc::new(State::new(Config::read(None, std::env::vars())?)?);
//! let routes = router(state); // a tower service: needs no socket to be called
//! # Ok(())
//! # }
//! ```

mod auth;
mod body;
mod clamav;
pub mod config;
mod error;
mod framing;
pub mod journal;
mod loaded;
mod metrics;
mod multipart;
mod observe;
mod parts;
mod policies;
mod pool;
mod routes;
mod server;
mod state;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};
use tower_http::catch_panic::CatchPanicLayer;

pub use config::{Config, ConfigError};
pub use error::{ApiError, Code};
pub use pool::Pool;
pub use server::Server;
pub use state::State;

/// The routes of the service.
pub fn router(state: Arc<State>) -> Router {
    let mut routes = Router::new()
        .route("/v1/scan", post(routes::scan::scan))
        .route("/v1/release", post(routes::release::release))
        .route("/v1/rules", get(routes::rules::rules))
        .route("/v1/policies", get(routes::policies::policies))
        .route("/v1/capabilities", get(routes::capabilities::capabilities))
        .route("/openapi.json", get(routes::openapi::openapi));
    if state.config.docs {
        routes = routes.route("/docs", get(routes::docs::docs));
    }
    finish(routes, state)
}

/// The routes of the admin listener.
pub fn admin_router(state: Arc<State>) -> Router {
    let routes = Router::new()
        .route("/healthz", get(routes::health::healthz))
        .route("/readyz", get(routes::health::readyz))
        .route("/metrics", get(routes::health::metrics))
        .route("/reload", post(routes::reload::reload));
    finish(routes, state)
}

/// What is the same for both.
fn finish(routes: Router<Arc<State>>, state: Arc<State>) -> Router {
    routes
        .fallback(routes::not_found)
        .method_not_allowed_fallback(routes::method_not_allowed)
        .layer(CatchPanicLayer::custom(observe::panicked))
        .layer(middleware::from_fn_with_state(state.clone(), observe::observe))
        .with_state(state)
}
