//! Encryption by the standard handler (ISO 32000-2 §7.6), opened where the password is empty: such a document opens for
//! everybody, and filters that stop at the word see nothing of it.

use std::{borrow::Cow, fmt};

use aes::{Aes128, Aes256};
use bytes::Bytes;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use md5::{Digest, Md5};
use rc4::{KeyInit, Rc4, StreamCipher};
use sha2::{Sha256, Sha384, Sha512};

use super::{
    document::{Document, Lock},
    file::Item,
    object::{Dict, Object},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
};

/// What an empty password is filled up with (algorithm 2).
const PADDING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e, 0x2e, 0x00,
    0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];
/// Rounds of the slow hash end by chance; this many never happen.
const MOST_ROUNDS: u32 = 1024;
/// Steps of making a key.
const STEPS_PER_KEY: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    None,
    Rc4,
    /// With a key of its own for each object.
    Aes128,
    Aes256,
}

/// A key, and what it opens.
pub(super) struct Crypt {
    key: Vec<u8>,
    streams: Method,
    strings: Method,
    opens_metadata: bool,
}

impl fmt::Debug for Crypt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crypt").field("streams", &self.streams).finish_non_exhaustive()
    }
}

/// Whether a document is encrypted, and the key if the empty password gives one.
pub(super) fn lock(document: &Document<'_>, budget: &mut Budget) -> Result<Lock, Stop> {
    let named = document.trailers.iter().find(|trailer| trailer.has("Encrypt"));
    let Some(trailer) = named else { return Ok(Lock::None) };
    let Some(dict) = document.get(trailer, "Encrypt").dict() else { return Ok(Lock::None) };
    budget.spend(Resource::Steps, STEPS_PER_KEY)?;
    let id = document.trailers.iter().find_map(|trailer| document.get(trailer, "ID").array()?.first()?.string());
    let crypt = dict.is("Filter", "Standard").then(|| open(document, dict, &id.unwrap_or_default())).flatten();
    Ok(crypt.map_or(Lock::Closed, Lock::Open))
}

/// What an encryption dictionary says, as far as it is needed.
struct Said<'x> {
    revision: i64,
    key_bytes: usize,
    owner: Cow<'x, [u8]>,
    user: Cow<'x, [u8]>,
    permissions: [u8; 4],
    opens_metadata: bool,
}

fn open<'a>(document: &Document<'a>, dict: &Dict<'a>, id: &[u8]) -> Option<Crypt> {
    let number = |key: &str| document.get(dict, key).int();
    let version = number("V").unwrap_or(0);
    let (streams, strings) = match version {
        1 | 2 => (Method::Rc4, Method::Rc4),
        4 | 5 => (method(document, dict, "StmF")?, method(document, dict, "StrF")?),
        _ => return None,
    };
    let bits = if version == 4 { 128 } else { number("Length").unwrap_or(40) };
    let permissions = number("P").unwrap_or(0);
    // Written as a number with a sign, or without one.
    let [permissions @ .., _, _, _, _] = permissions.to_le_bytes();
    let said = Said {
        revision: number("R").unwrap_or(0),
        key_bytes: usize::try_from(bits / 8).ok().filter(|bytes| (5..=32).contains(bytes))?,
        owner: document.get(dict, "O").string()?,
        user: document.get(dict, "U").string()?,
        permissions,
        opens_metadata: *document.get(dict, "EncryptMetadata") != Object::Bool(false),
    };
    let key = match said.revision {
        2..=4 => old_key(&said, id)?,
        5 | 6 => new_key(&said, &document.get(dict, "UE").string()?)?,
        _ => return None,
    };
    Some(Crypt { key, streams, strings, opens_metadata: said.opens_metadata })
}

/// The method of a crypt filter (table 25).
fn method<'a>(document: &Document<'a>, dict: &Dict<'a>, key: &str) -> Option<Method> {
    let Some(name) = document.get(dict, key).name() else { return Some(Method::None) };
    if name == b"Identity" {
        return Some(Method::None);
    }
    let filters = document.get(dict, "CF").dict()?;
    let filter = document.get(filters, std::str::from_utf8(name).ok()?).dict()?;
    match document.get(filter, "CFM").name()? {
        b"None" => Some(Method::None),
        b"V2" => Some(Method::Rc4),
        b"AESV2" => Some(Method::Aes128),
        b"AESV3" => Some(Method::Aes256),
        _ => None,
    }
}

/// Algorithms 2, 4 and 5: the key of the empty password, if it is the right one.
fn old_key(said: &Said<'_>, id: &[u8]) -> Option<Vec<u8>> {
    let length = if said.revision == 2 { 5 } else { said.key_bytes.min(16) };
    let mut digest = Md5::new();
    digest.update(PADDING);
    digest.update(said.owner.get(..32)?);
    digest.update(said.permissions);
    digest.update(id);
    if said.revision >= 4 && !said.opens_metadata {
        digest.update([0xff; 4]);
    }
    let mut key = digest.finalize().to_vec();
    if said.revision >= 3 {
        for _ in 0..50 {
            key = Md5::digest(key.get(..length)?).to_vec();
        }
    }
    key.truncate(length);
    let is_right = if said.revision == 2 {
        rc4(&key, &PADDING) == *said.user
    } else {
        let mut check = Md5::new();
        check.update(PADDING);
        check.update(id);
        let mut check = check.finalize().to_vec();
        for round in 0..20_u8 {
            let turned: Vec<u8> = key.iter().map(|byte| byte ^ round).collect();
            check = rc4(&turned, &check);
        }
        said.user.get(..16) == Some(&check)
    };
    is_right.then_some(key)
}

/// Algorithm 2.A: the key of the empty password, if it is the right one.
fn new_key(said: &Said<'_>, packed_key: &[u8]) -> Option<Vec<u8>> {
    let hash = |salt: &[u8]| if said.revision == 5 { Some(Sha256::digest(salt).to_vec()) } else { slow_hash(salt) };
    let is_right = hash(said.user.get(32..40)?)?.get(..32) == said.user.get(..32);
    if !is_right {
        return None;
    }
    let between = hash(said.user.get(40..48)?)?;
    Some(aes256(&between, &[0; 16], packed_key.get(..32)?))
}

/// Algorithm 2.B for the empty password of a user.
fn slow_hash(salt: &[u8]) -> Option<Vec<u8>> {
    let mut key = Sha256::digest(salt).to_vec();
    for round in 0..MOST_ROUNDS {
        let (cipher_key, rest) = key.split_at_checked(16)?;
        let mut engine = cbc::Encryptor::<Aes128>::new_from_slices(cipher_key, rest.get(..16)?).ok()?;
        let repeated = key.repeat(64);
        let mut out = Vec::with_capacity(repeated.len());
        for block in repeated.as_chunks::<16>().0 {
            let mut block = (*block).into();
            engine.encrypt_block(&mut block);
            out.extend_from_slice(&block);
        }
        // 256 is one more than a multiple of three: the digits of the number add up.
        let sum: u32 = out.iter().take(16).map(|byte| u32::from(*byte)).fold(0, u32::saturating_add);
        key = match sum.checked_rem(3) {
            Some(0) => Sha256::digest(&out).to_vec(),
            Some(1) => Sha384::digest(&out).to_vec(),
            _ => Sha512::digest(&out).to_vec(),
        };
        let last = out.last().copied().unwrap_or(0);
        if round >= 63 && u32::from(last) <= round.saturating_sub(31) {
            key.truncate(32);
            return Some(key);
        }
    }
    None
}

fn rc4(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    if let Ok(mut engine) = Rc4::new_from_slice(key) {
        engine.apply_keystream(&mut data);
    }
    data
}

fn aes256(key: &[u8], start: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    if let Ok(mut engine) = cbc::Decryptor::<Aes256>::new_from_slices(key, start) {
        for block in data.as_chunks::<16>().0 {
            let mut block = (*block).into();
            engine.decrypt_block(&mut block);
            out.extend_from_slice(&block);
        }
    }
    out
}

fn aes128(key: &[u8], start: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    if let Ok(mut engine) = cbc::Decryptor::<Aes128>::new_from_slices(key, start) {
        for block in data.as_chunks::<16>().0 {
            let mut block = (*block).into();
            engine.decrypt_block(&mut block);
            out.extend_from_slice(&block);
        }
    }
    out
}

impl Crypt {
    /// The bytes of a stream.
    pub(super) fn stream(&self, item: &Item<'_>, packed: Bytes) -> Bytes {
        let is_plain = item.dict().is_some_and(|dict| {
            // Tables are never encrypted; a filter of its own may say that a stream is not.
            dict.is("Type", "XRef")
                || dict.is("Type", "Metadata") && !self.opens_metadata
                || dict.is("Filter", "Crypt")
                || dict
                    .get("Filter")
                    .and_then(Object::array)
                    .is_some_and(|filters| filters.first().and_then(Object::name) == Some(b"Crypt"))
        });
        if is_plain { packed } else { self.undo(self.streams, item, &packed).map_or(packed, Bytes::from) }
    }

    /// The bytes of a string.
    pub(super) fn string(&self, item: &Item<'_>, raw: &[u8]) -> Vec<u8> {
        self.undo(self.strings, item, raw).unwrap_or_else(|| raw.to_vec())
    }

    fn undo(&self, method: Method, item: &Item<'_>, data: &[u8]) -> Option<Vec<u8>> {
        if method == Method::Rc4 {
            return Some(rc4(&self.key_of(item, b""), data));
        }
        let (start, data) = data.split_at_checked(16)?;
        let mut plain = match method {
            Method::Aes128 => aes128(&self.key_of(item, b"sAlT"), start, data),
            Method::Aes256 => aes256(&self.key, start, data),
            Method::None | Method::Rc4 => return None,
        };
        // The last byte says how many were filled in; where it lies, all stay.
        if let Some(filled @ 1..=16) = plain.last().map(|last| usize::from(*last)) {
            plain.truncate(plain.len().saturating_sub(filled));
        }
        Some(plain)
    }

    /// Algorithm 1: the key of one object.
    fn key_of(&self, item: &Item<'_>, salt: &[u8]) -> Vec<u8> {
        let mut digest = Md5::new();
        digest.update(&self.key);
        digest.update(item.number.to_le_bytes().get(..3).unwrap_or_default());
        digest.update(item.generation.to_le_bytes().get(..2).unwrap_or_default());
        digest.update(salt);
        let mut key = digest.finalize().to_vec();
        key.truncate(self.key.len().saturating_add(5).min(16));
        key
    }
}
