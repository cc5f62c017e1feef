//! placeholder
use bytes::Bytes;
use super::file::Item;
#[derive(Debug)]
pub(super) struct Crypt {}
impl Crypt {
    pub(super) fn stream(&self, _item: &Item<'_>, packed: Bytes) -> Bytes { packed }
    pub(super) fn string(&self, _item: &Item<'_>, raw: &[u8]) -> Vec<u8> { raw.to_vec() }
}
