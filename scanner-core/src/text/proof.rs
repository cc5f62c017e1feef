//! Proofs of secrets beyond their shape: what an issuer put into the format so that a mistyped one is noticed, or what
//! tells a password from a word.

use crate::finding::Confidence;

/// How a rule's match is proven, by the name rule files use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Six base62 characters at the end are the CRC-32 of what stands between the first `_` and them. So GitHub's and
    /// npm's tokens are made; a token whose sum is wrong is told with less confidence, as it may be cut or invented.
    Crc32Base62,
    /// The part before the first dot is base64url of a JSON object with an `alg` (RFC 7515 §4.1.1); anything else is no
    /// token.
    JoseHeader,
    /// Letters, and digits or signs among them, and no path, address, option or name of code: a word is no password.
    Mixed,
}

impl Proof {
    pub(crate) const ALL: [Self; 3] = [Self::Crc32Base62, Self::JoseHeader, Self::Mixed];

    /// The name in rule files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crc32Base62 => "crc32-base62",
            Self::JoseHeader => "jose-header",
            Self::Mixed => "mixed",
        }
    }

    /// How sure a match is, given how sure the rule is of its shape; `None` when it is no secret.
    pub(super) fn weigh(self, secret: &[u8], confidence: Confidence) -> Option<Confidence> {
        match self {
            Self::Crc32Base62 => Some(if has_crc(secret) { confidence } else { confidence.min(Confidence::Medium) }),
            Self::JoseHeader => is_jose(secret).then_some(confidence),
            Self::Mixed => is_mixed(secret).then_some(confidence),
        }
    }
}

fn has_crc(secret: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some((_, body)) = memchr::memchr(b'_', secret).and_then(|at| secret.split_at_checked(at.saturating_add(1)))
    else {
        return false;
    };
    let Some((random, sum)) = body.len().checked_sub(6).and_then(|at| body.split_at_checked(at)) else { return false };
    let stated = sum.iter().try_fold(0_u64, |value, byte| {
        let digit = DIGITS.iter().position(|known| known == byte)?;
        value.checked_mul(62)?.checked_add(u64::try_from(digit).ok()?)
    });
    let mut crc = flate2::Crc::new();
    crc.update(random);
    stated == Some(u64::from(crc.sum()))
}

fn is_jose(token: &[u8]) -> bool {
    let head = token.split(|byte| *byte == b'.').next().unwrap_or_default();
    let mut json = Vec::with_capacity(head.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in head {
        let value = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(value);
        held = held.saturating_add(6);
        if held >= 8 {
            held = held.saturating_sub(8);
            json.push(u8::try_from((bits >> held) & 0xff).unwrap_or(0));
        }
    }
    let json = json.trim_ascii();
    json.starts_with(b"{") && json.ends_with(b"}") && memchr::memmem::find(json, b"\"alg\"").is_some()
}

fn is_mixed(secret: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| secret.iter().any(test);
    let letters = has(u8::is_ascii_alphabetic);
    let digits = has(u8::is_ascii_digit);
    let signs = has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~'));
    let is_reference = secret.starts_with(b"/")
        || secret.starts_with(b"./")
        || secret.starts_with(b"~/")
        || secret.starts_with(b"--")
        || secret.ends_with(b"...")
        || memchr::memmem::find(secret, b"://").is_some()
        || memchr::memmem::find(secret, b"::").is_some();
    // `os.environ.get`, `self.password2`, `2024-01-31`, `10.0.0.1:5432`.
    let is_dotted_name = secret.split(|byte| *byte == b'.').count() > 1
        && secret.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    letters && (digits || signs) && !is_reference && !is_dotted_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_sum_is_surer_than_a_wrong_one() {
        // CRC-32 of "123456789" is cbf43926 (the check value of the algorithm): 3jZRME in base62.
        let weigh = |secret: &[u8]| Proof::Crc32Base62.weigh(secret, Confidence::High);
        assert_eq!(weigh(b"ghp_1234567893jZRME"), Some(Confidence::High));
        assert_eq!(weigh(b"ghp_1234567893jZRM0"), Some(Confidence::Medium));
        assert_eq!(weigh(b"ghp"), Some(Confidence::Medium));
    }

    #[test]
    fn a_token_has_a_head() {
        assert!(is_jose(b"eyJhbGciOiJIUzI1NiJ9.x.y"));
        assert!(!is_jose(b"eyJmb28iOiJiYXIifQ.x.y"));
        assert!(!is_jose(b"e$.x"));
    }

    #[test]
    fn a_word_is_no_password() {
        for secret in ["tr0ub4dor-and-3", "correct!horse", "9fKq2LmZx81Vb"] {
            assert!(is_mixed(secret.as_bytes()), "{secret}");
        }
        for honest in
            ["required", "/srv/u/.ssh/id1", "https://h/1a", "os.environ2.get", "20240131", "--with-x1", "std::x1"]
        {
            assert!(!is_mixed(honest.as_bytes()), "{honest}");
        }
    }
}
