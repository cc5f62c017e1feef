//! The envelope that carries signatures: DSSE, protocol version 1. What is signed is the type and the payload together
//! ([`pae`]), so that no signature over one kind of document passes for one over another.

use std::fmt;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use super::keys::{PublicKey, SigningKey};

/// The only type of payload there is here: an in-toto statement.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// Longest envelope that is read. The receipt of a scan at its limits (5,000 artifacts, 1,000 findings) is below 2 MiB.
const LONGEST: usize = 16 << 20;
/// Most signatures that are tried: each costs a check with every key.
const SIGNATURES: usize = 16;

/// Why an envelope is not good.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DsseError {
    /// It is longer than any is.
    TooLong,
    /// It is no envelope: what is wrong.
    NotAnEnvelope(String),
    /// It carries something else than a statement, or a statement of another kind.
    OtherType(String),
    /// What it carries is not written as a statement is.
    NotAStatement(&'static str),
    /// None of its signatures is said to be by one of the keys given, and none fits one.
    OtherKey,
    /// A signature that is said to be by one of the keys is not.
    BadSignature,
}

impl fmt::Display for DsseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "longer than {} MiB", LONGEST >> 20),
            Self::NotAnEnvelope(why) => write!(f, "not a DSSE envelope: {why}"),
            Self::OtherType(kind) => write!(f, "of a kind that is not known here: {kind}"),
            Self::NotAStatement(why) => write!(f, "not a statement as they are written here: {why}"),
            Self::OtherKey => f.write_str("not signed by a key that was given"),
            Self::BadSignature => f.write_str("the signature does not fit: it was changed"),
        }
    }
}

impl std::error::Error for DsseError {}

/// A payload and the signatures over it, not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload: Vec<u8>,
    signatures: Vec<(Option<String>, [u8; 64])>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeJson {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<SignatureJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureJson {
    #[serde(default)]
    keyid: Option<String>,
    sig: String,
}

/// Pre-authentication encoding: every part goes with its length, so that no two pairs give the same bytes.
fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    message.extend_from_slice(payload);
    message
}

impl Envelope {
    /// Signs a statement, given as canonical JSON. One line, without a line end.
    pub(super) fn seal(payload: &str, key: &SigningKey) -> String {
        let signature = key.sign(&pae(PAYLOAD_TYPE, payload.as_bytes()));
        let envelope = EnvelopeJson {
            payload: BASE64.encode(payload.as_bytes()),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: vec![SignatureJson { keyid: Some(key.public().id()), sig: BASE64.encode(&signature) }],
        };
        // Strings only: this cannot fail.
        serde_json::to_string(&envelope).unwrap_or_default()
    }

    /// Reads an envelope. Nothing in it is believed before [`verify`](Self::verify).
    ///
    /// # Errors
    /// It is too long, no envelope, or carries another type of payload.
    pub fn read(line: &str) -> Result<Self, DsseError> {
        if line.len() > LONGEST {
            return Err(DsseError::TooLong);
        }
        let wrong = |why: &str| DsseError::NotAnEnvelope(why.to_owned());
        let json: EnvelopeJson = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        if json.payload_type != PAYLOAD_TYPE {
            return Err(DsseError::OtherType(json.payload_type));
        }
        if json.signatures.len() > SIGNATURES {
            return Err(wrong("too many signatures"));
        }
        let payload = BASE64.decode(json.payload.as_bytes()).map_err(|_| wrong("the payload is no base64"))?;
        let signatures = json
            .signatures
            .into_iter()
            .map(|signature| {
                let bytes = BASE64.decode(signature.sig.as_bytes()).ok()?;
                Some((signature.keyid, bytes.try_into().ok()?))
            })
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("a signature is no Ed25519 signature"))?;
        Ok(Self { payload, signatures })
    }

    /// The key of the first signature that fits one of the keys.
    ///
    /// # Errors
    /// None does: [`DsseError::BadSignature`] when one is said to, otherwise [`DsseError::OtherKey`].
    pub fn verify<'k>(&self, keys: &'k [PublicKey]) -> Result<&'k PublicKey, DsseError> {
        let message = pae(PAYLOAD_TYPE, &self.payload);
        let mut failed = DsseError::OtherKey;
        for (said, signature) in &self.signatures {
            // The name of a key only says where to look: it is not signed. One that lies is not looked at.
            for key in keys.iter().filter(|key| said.as_ref().is_none_or(|said| *said == key.id())) {
                if key.fits(&message, signature) {
                    return Ok(key);
                }
                if said.is_some() {
                    failed = DsseError::BadSignature;
                }
            }
        }
        Err(failed)
    }

    /// The keys it is said to be signed by.
    pub fn key_ids(&self) -> impl Iterator<Item = &str> {
        self.signatures.iter().filter_map(|(said, _)| said.as_deref())
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u8) -> SigningKey {
        let mut der = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
        der.extend([seed; 32]);
        SigningKey::from_pem(&format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
            BASE64.encode(&der)
        ))
        .unwrap()
    }

    #[test]
    fn the_message_is_that_of_the_protocol() {
        // The example of the DSSE protocol.
        assert_eq!(
            pae("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }

    #[test]
    fn what_was_sealed_is_good_and_any_other_bit_is_not() {
        let (key, other) = (key(1), key(2));
        let line = Envelope::seal("{\"a\":1}", &key);
        let keys = [other.public(), key.public()];
        let envelope = Envelope::read(&line).unwrap();
        assert_eq!(envelope.verify(&keys), Ok(&key.public()));
        assert_eq!(envelope.payload(), b"{\"a\":1}");
        assert_eq!(envelope.key_ids().collect::<Vec<_>>(), [key.public().id()]);
        assert_eq!(envelope.verify(&[other.public()]), Err(DsseError::OtherKey));
        assert_eq!(envelope.verify(&[]), Err(DsseError::OtherKey));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let Ok(flipped) = String::from_utf8(bytes) else { continue };
                let good = Envelope::read(&flipped).and_then(|envelope| envelope.verify(&keys).copied());
                assert!(good.is_err(), "bit {bit} of byte {at}: {flipped}");
            }
        }
    }

    #[test]
    fn several_signatures_are_looked_through() {
        let (one, two) = (key(1), key(2));
        let read = |key| serde_json::from_str::<EnvelopeJson>(&Envelope::seal("{}", key)).unwrap();
        let mut both = read(&one);
        both.signatures.extend(read(&two).signatures);
        let verify = |json: &EnvelopeJson, keys: &[PublicKey]| {
            Envelope::read(&serde_json::to_string(json).unwrap()).and_then(|envelope| envelope.verify(keys).copied())
        };
        assert_eq!(verify(&both, &[two.public()]), Ok(two.public()));
        both.signatures[1].keyid = None;
        assert_eq!(verify(&both, &[two.public()]), Ok(two.public()), "the name of the key is optional");
        both.signatures[1].keyid = Some(one.public().id());
        assert_eq!(verify(&both, &[two.public()]), Err(DsseError::OtherKey), "a name that lies");
        both.signatures.swap(0, 1);
        assert_eq!(verify(&both, &[one.public()]), Ok(one.public()), "a bad one before the good one");
        both.signatures.truncate(1);
        assert_eq!(verify(&both, &[one.public()]), Err(DsseError::BadSignature));
        both.signatures.clear();
        assert_eq!(verify(&both, &[one.public()]), Err(DsseError::OtherKey));
        both.signatures.extend((0..SIGNATURES).flat_map(|_| read(&one).signatures));
        assert!(verify(&both, &[one.public()]).is_ok(), "as many as are tried");
        both.signatures.extend(read(&one).signatures);
        assert!(matches!(verify(&both, &[one.public()]), Err(DsseError::NotAnEnvelope(_))), "and one more");
    }

    #[test]
    fn hostile_envelopes_are_errors() {
        let line = Envelope::seal("{}", &key(1));
        let other = line.replace("in-toto", "other");
        assert!(matches!(Envelope::read(&other), Err(DsseError::OtherType(_))));
        for hostile in [
            String::new(),
            "[]".to_owned(),
            "[".repeat(200_000),
            line.replace("e30=", "e31="),
            line.replace("e30=", "e30"),
            line.replace("\"sig\":\"", "\"sig\":\"AAAA"),
            line.replacen('{', "{\"payload\":\"\",", 1),
            line.replacen('{', "{\"more\":1,", 1),
            line[..line.len() - 1].to_owned(),
            format!("{line}{line}"),
        ] {
            assert!(matches!(Envelope::read(&hostile), Err(DsseError::NotAnEnvelope(_))), "{hostile:.80}");
        }
        let padded = |length: usize| format!("{line}{}", " ".repeat(length - line.len()));
        assert!(Envelope::read(&padded(LONGEST)).is_ok());
        assert_eq!(Envelope::read(&padded(LONGEST + 1)), Err(DsseError::TooLong));
    }
}
