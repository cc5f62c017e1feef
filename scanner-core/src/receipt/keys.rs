//! Ed25519 keys as files: PKCS#8 and SPKI in PEM, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`
//! write them. RFC 8410 leaves one way to write each, so a key is a fixed head and 32 bytes.

use std::fmt;

use data_encoding::BASE64;
use ed25519_dalek::{Signature, Signer, VerifyingKey};

use crate::finding::sha256_hex;

/// A key file is some 120 bytes; one with comments around the key may be a little longer.
const LONGEST_FILE: usize = 4_096;
/// RFC 8410 section 7: version 0, the algorithm 1.3.101.112 without parameters, and the seed in two octet strings.
const PRIVATE_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// RFC 8410 section 4: the algorithm, and the key in a bit string.
const PUBLIC_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Why a file is no key. Says nothing of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError(&'static str);

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for KeyError {}

/// What signs receipts and reviews.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// Reads a private key in PEM.
    ///
    /// # Errors
    /// The text is no such key: in words, without any of it.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        const MISSING: KeyError =
            KeyError("no Ed25519 private key in PEM, as `openssl genpkey -algorithm ed25519` writes one");
        if pem.contains("ENCRYPTED PRIVATE KEY") {
            return Err(KeyError("the private key is encrypted: `openssl pkey` writes it in the clear"));
        }
        let seed = content(pem, "PRIVATE KEY", &PRIVATE_HEAD).ok_or(MISSING)?;
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// The public key that its signatures are checked with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

/// Never the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {})", self.public().id())
    }
}

/// What signatures are checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads a public key in PEM.
    ///
    /// # Errors
    /// The text is no such key, or one of the few keys that everything is signed by.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        const MISSING: KeyError = KeyError("no Ed25519 public key in PEM, as `openssl pkey -pubout` writes one");
        let point = content(pem, "PUBLIC KEY", &PUBLIC_HEAD).ok_or(MISSING)?;
        let key = VerifyingKey::from_bytes(&point).map_err(|_| MISSING)?;
        // A point of small order fits signatures that nobody made.
        if key.is_weak() {
            return Err(KeyError("the public key is a weak one: anybody could sign for it"));
        }
        Ok(Self(key))
    }

    /// What the key is called in envelopes: SHA-256 of its 32 bytes, in lower-case hexadecimal.
    pub fn id(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }

    pub(super) fn fits(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

/// The 32 bytes behind the head, in the only block of that label.
fn content(pem: &str, label: &str, head: &[u8]) -> Option<[u8; 32]> {
    if pem.len() > LONGEST_FILE {
        return None;
    }
    let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, rest) = rest.split_once(&format!("-----END {label}-----"))?;
    if rest.contains("-----BEGIN") {
        return None;
    }
    let body: String = body.split_ascii_whitespace().collect();
    let der = BASE64.decode(body.as_bytes()).ok()?;
    der.strip_prefix(head)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    /// RFC 8410 section 10.3 and 10.1: the private key without attributes, and its public key.
    const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn the_keys_of_rfc_8410_belong_together() {
        let private = SigningKey::from_pem(PRIVATE).unwrap();
        assert_eq!(private.public(), PublicKey::from_pem(PUBLIC).unwrap());
        assert_eq!(private.public().id().len(), 64);
        assert!(!format!("{private:?}").contains("d4ee72db"));
    }

    #[test]
    fn signatures_are_those_of_rfc_8032() {
        // RFC 8032 section 7.1, test 3.
        let seed = HEXLOWER.decode(b"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7").unwrap();
        let wanted = "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                      18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a";
        let mut der = PRIVATE_HEAD.to_vec();
        der.extend(&seed);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", BASE64.encode(&der));
        let key = SigningKey::from_pem(&pem).unwrap();
        let signature = key.sign(&[0xaf, 0x82]);
        assert_eq!(HEXLOWER.encode(&signature), wanted);
        assert!(key.public().fits(&[0xaf, 0x82], &signature));
        assert!(!key.public().fits(&[0xaf, 0x83], &signature));
    }

    #[test]
    fn what_is_no_key_is_told_without_its_content() {
        let is_bad = |pem: &str| {
            let told = SigningKey::from_pem(pem).unwrap_err().to_string();
            assert!(told.contains("openssl") && !told.contains("MC4C"), "{told}");
        };
        is_bad("");
        is_bad(PUBLIC);
        is_bad(&PRIVATE.replace("MC4C", "MC4D"));
        is_bad(&PRIVATE.replace("PRIVATE", "ENCRYPTED PRIVATE"));
        is_bad(&format!("{PRIVATE}{PRIVATE}"));
        is_bad(&format!("{}{PRIVATE}", " ".repeat(LONGEST_FILE)));
        assert!(PublicKey::from_pem(PRIVATE).is_err());
        // The neutral element.
        let mut weak = PUBLIC_HEAD.to_vec();
        weak.extend([1_u8].into_iter().chain([0; 31]));
        let weak = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", BASE64.encode(&weak));
        assert!(PublicKey::from_pem(&weak).unwrap_err().to_string().contains("weak"));
    }
}
