//! Digests that nobody can guess back. A bare digest of something short, or of something with a secret in it, lets
//! anybody try words until one fits; with a key of the operator's, such content is bound by a keyed digest instead.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::finding::hex;

/// Least bytes of a key: as many as the digest has (RFC 2104 section 3).
const LEAST: usize = 32;
/// Content shorter than this is guessable, whatever it is (CONTRACT §6).
const GUESSABLE: u64 = 64;

const PLAIN: &str = "sha256";
const KEYED: &str = "hmac_sha256";

/// A key that guessable content is bound with.
#[derive(Clone, PartialEq, Eq)]
pub struct Binding(Vec<u8>);

impl Binding {
    /// A key of at least 32 bytes; `None` for a shorter one.
    ///
    /// ```
    /// use scanner_core::Binding;
    /// assert!(Binding::new([7; 32]).is_some());
    /// assert!(Binding::new([7; 31]).is_none());
    /// ```
    pub fn new(key: impl Into<Vec<u8>>) -> Option<Self> {
        let key = key.into();
        (key.len() >= LEAST).then_some(Self(key))
    }

    /// The key, to hand it to a worker.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// HMAC-SHA-256 over a digest as it is written, in lower-case hexadecimal. Over the digest and not the content, so
    /// that who holds key and receipt needs no more than what `sha256sum` prints.
    pub fn of(&self, sha256: &str) -> String {
        // HMAC takes a key of any length, so this cannot fail.
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).map(|mac| mac.chain_update(sha256).finalize());
        mac.map(|mac| hex(&mac.into_bytes())).unwrap_or_default()
    }
}

/// Never the key.
impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding(…)")
    }
}

/// A digest as a receipt writes it: of the content, or keyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    name: &'static str,
    hex: String,
}

impl Digest {
    /// The digest of some content, keyed where there is a key and the content is short or holds a secret.
    pub(crate) fn new(sha256: &str, size: u64, has_secret: bool, binding: Option<&Binding>) -> Self {
        match binding {
            Some(binding) if has_secret || size < GUESSABLE => Self { name: KEYED, hex: binding.of(sha256) },
            _ => Self { name: PLAIN, hex: sha256.to_owned() },
        }
    }

    /// The member of an object that is a digest; `None` when it has none, or both.
    pub fn of_member(object: &Value) -> Option<Self> {
        let member = |name| Some(Self { name, hex: object.get(name)?.as_str()?.to_owned() });
        match (member(PLAIN), member(KEYED)) {
            (Some(digest), None) | (None, Some(digest)) => digest.is_sound().then_some(digest),
            _ => None,
        }
    }

    /// Whether it is that of some content, given by its SHA-256.
    pub fn is_of(&self, sha256: &str, binding: Option<&Binding>) -> bool {
        match (self.name, binding) {
            (PLAIN, _) => self.hex == sha256,
            (_, Some(binding)) => self.hex == binding.of(sha256),
            (_, None) => false,
        }
    }

    /// The key it goes by: `sha256` or `hmac_sha256`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Lower-case hexadecimal.
    pub fn hex(&self) -> &str {
        &self.hex
    }

    /// An object with the digest alone: a `DigestSet` of in-toto.
    pub(crate) fn to_json(&self) -> Value {
        json!({ self.name: self.hex })
    }

    /// Puts it into an object.
    pub(crate) fn put(&self, mut object: Value) -> Value {
        if let Some(members) = object.as_object_mut() {
            members.insert(self.name.to_owned(), Value::from(self.hex.as_str()));
        }
        object
    }

    fn is_sound(&self) -> bool {
        self.hex.len() == 64 && self.hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::sha256_hex;

    #[test]
    fn a_keyed_digest_is_hmac() {
        // RFC 4231 section 4.7, test case 6: a key longer than a block.
        let key = Binding::new(vec![0xaa; 131]).unwrap();
        assert_eq!(
            key.of("Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn only_guessable_content_is_keyed() {
        let key = Binding::new(vec![1; 32]);
        let sha256 = sha256_hex(b"x");
        let name = |size, secret, key: Option<&Binding>| Digest::new(&sha256, size, secret, key).name();
        assert_eq!(name(63, false, key.as_ref()), KEYED);
        assert_eq!(name(64, false, key.as_ref()), PLAIN);
        assert_eq!(name(64, true, key.as_ref()), KEYED);
        assert_eq!(name(1, true, None), PLAIN);
    }

    #[test]
    fn a_digest_is_one_and_whole() {
        let sha256 = sha256_hex(b"x");
        let digest = Digest::of_member(&json!({ "sha256": sha256 })).unwrap();
        assert!(digest.is_of(&sha256, None) && !digest.is_of(&sha256_hex(b"y"), None));
        assert_eq!(Digest::of_member(&json!({ "sha256": sha256, "hmac_sha256": sha256 })), None);
        assert_eq!(Digest::of_member(&json!({ "sha256": sha256.to_uppercase() })), None);
        assert_eq!(Digest::of_member(&json!({ "sha256": &sha256[1..] })), None);
        assert_eq!(Digest::of_member(&json!([])), None);
    }

    #[test]
    fn a_key_is_never_printed() {
        assert_eq!(format!("{:?}", Binding::new(*b"0123456789abcdef0123456789abcdef").unwrap()), "Binding(…)");
    }
}
