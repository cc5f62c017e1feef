//! Judges the output of AI code execution.
#![warn(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]

mod bundle;
mod finding;
mod format;
mod inflate;
mod json;
mod limits;
mod output;
mod policy;
mod provider;
mod reader;
mod receipt;
mod scan;
mod settings;
mod sniff;
mod text;
mod view;

pub use bundle::*;
pub use finding::*;
pub use limits::*;
pub use policy::*;
pub use reader::*;
pub use settings::SettingsError;
pub use sniff::*;
pub use text::*;
pub use view::*;
