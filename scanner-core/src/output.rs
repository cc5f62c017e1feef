//! Wire formats. Each owns its structs; domain types never serialize themselves.

mod human;
mod manifest_v1;
mod packet;
mod sarif;
mod sniff_v1;
mod verdict_v1;

pub use human::human;
pub use manifest_v1::{Leaving, Manifest, manifest};
pub use packet::packet;
pub use sarif::{sarif, sarif_of_all};
pub use sniff_v1::{sniff_human, sniff_json, sniff_tsv};
pub(crate) use verdict_v1::{FindingV1, GapV1, findings_v1, gaps_v1};
pub use verdict_v1::{verdict_json, verdict_json_with};
