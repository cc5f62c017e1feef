//! Who asks: a bearer token names a tenant and the policies it may ask for.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use axum::http::{HeaderMap, header};
use data_encoding::HEXLOWER_PERMISSIVE;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::{
    config::{Config, ConfigError, Token},
    error::{ApiError, Code},
    policies::{Policies, looser},
};

/// Seconds of its rate that a tenant may use at once.
const BURST: f64 = 10.0;

/// Who asks.
#[derive(Debug)]
pub(crate) struct Caller {
    /// The name in the configuration; `None` where there are no tokens.
    pub(crate) tenant: Option<String>,
    /// The policy of requests that name none, then those that may be asked for.
    policies: Vec<String>,
    rate: Option<Arc<Rate>>,
}

/// Every caller there may be.
#[derive(Debug)]
pub(crate) struct Callers {
    tokens: Vec<(Sha256Digest, Arc<Caller>)>,
    /// Who comes without a token, where there are none.
    anyone: Option<Arc<Caller>>,
}

#[derive(Clone, Copy)]
struct Sha256Digest([u8; 32]);

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Caller {
    /// Whose workers scan for it. Where there are no tokens there is one tenant.
    pub(crate) fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or_default()
    }

    /// The policy to decide by, if it may be asked for.
    pub(crate) fn policy(&self, asked: Option<&str>) -> Result<&str, ApiError> {
        let asked = asked.unwrap_or_else(|| self.policies.first().map_or("", String::as_str));
        if let Some(known) = self.policies.iter().find(|known| *known == asked) {
            return Ok(known);
        }
        let policies = self.policies.join(", ");
        Err(match self.tenant {
            // Which others there are is nobody's business.
            Some(_) => {
                ApiError::new(Code::ForbiddenPolicy, format!("this token may ask for these policies: {policies}"))
            }
            None => ApiError::bad(format!("there is no such policy, expected one of: {policies}")),
        })
    }

    /// The policies it may ask for, its own first.
    pub(crate) fn policies(&self) -> &[String] {
        &self.policies
    }

    /// Counts a request against its rate.
    pub(crate) fn spend(&self) -> Result<(), ApiError> {
        match &self.rate {
            Some(rate) if !rate.take(Instant::now()) => {
                Err(ApiError::new(Code::Rate, "more requests than this token may send: nothing was scanned, try again"))
            }
            _ => Ok(()),
        }
    }
}

impl Callers {
    pub(crate) fn new(config: &Config, policies: &Policies) -> Result<Self, ConfigError> {
        let known = |name: &str| {
            policies.named(name).ok_or_else(|| {
                let names: Vec<&str> = policies.all.iter().map(scanner_core::Policy::name).collect();
                ConfigError(format!(
                    "there is no policy \"{}\", only {}",
                    scanner_core::visible(name),
                    names.join(", ")
                ))
            })
        };
        known(&config.policy)?;
        let mut tokens = Vec::new();
        for token in &config.tokens {
            let wrong =
                |what: String| ConfigError(format!("token of \"{}\": {what}", scanner_core::visible(&token.tenant)));
            let own = known(token.policy.as_deref().unwrap_or(&config.policy)).map_err(|error| wrong(error.0))?;
            let mut names = vec![own.name().to_owned()];
            for name in &token.policies {
                let other = known(name).map_err(|error| wrong(error.0))?;
                if let Some(how) = looser(other, own) {
                    return Err(wrong(format!("policy \"{name}\" is looser than \"{}\": {how}", own.name())));
                }
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            let digest = digest(token).map_err(wrong)?;
            if tokens.iter().any(|(known, _): &(Sha256Digest, _)| known.0 == digest.0) {
                return Err(wrong("the same token is given twice".to_owned()));
            }
            let caller = Caller {
                tenant: Some(token.tenant.clone()),
                policies: names,
                rate: Rate::of(token.rate).map(Arc::new),
            };
            tokens.push((digest, Arc::new(caller)));
        }
        let anyone = config.tokens.is_empty().then(|| {
            let others = policies.all.iter().map(scanner_core::Policy::name).filter(|name| *name != config.policy);
            let names = std::iter::once(config.policy.as_str()).chain(others).map(str::to_owned).collect();
            Arc::new(Caller { tenant: None, policies: names, rate: None })
        });
        Ok(Self { tokens, anyone })
    }

    /// Takes over what each has used of its rate: a reload is no way to start anew.
    pub(crate) fn keep_rates(&mut self, before: &Self) {
        for (digest, caller) in &mut self.tokens {
            let known = before.tokens.iter().find(|(known, _)| known.0 == digest.0);
            if let (Some(caller), Some((_, known))) = (Arc::get_mut(caller), known) {
                caller.rate.clone_from(&known.rate);
            }
        }
    }

    /// Who sent these headers.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Result<Arc<Caller>, ApiError> {
        if let Some(anyone) = &self.anyone {
            return not_from_elsewhere(headers).map(|()| anyone.clone());
        }
        let unauthorized = |detail| ApiError::new(Code::Unauthorized, detail);
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else {
            return Err(unauthorized("send Authorization: Bearer TOKEN"));
        };
        let token = bearer(value.as_bytes()).ok_or_else(|| unauthorized("send Authorization: Bearer TOKEN"))?;
        let digest: [u8; 32] = Sha256::digest(token).into();
        // Every digest is compared, whichever it is: the time tells nothing.
        let mut at = u64::MAX;
        for (position, (known, _)) in (0_u64..).zip(&self.tokens) {
            let same: Choice = known.0.ct_eq(&digest);
            at.conditional_assign(&position, same);
        }
        let caller = usize::try_from(at).ok().and_then(|at| self.tokens.get(at));
        caller.map(|(_, caller)| caller.clone()).ok_or_else(|| unauthorized("the token is not known"))
    }
}

/// What follows `Bearer`.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(7)?;
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then(|| token.trim_ascii())
}

/// The digest of a token, and a name that may stand in logs.
fn digest(token: &Token) -> Result<Sha256Digest, String> {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    if token.tenant.is_empty() || token.tenant.len() > 64 || !token.tenant.chars().all(plain) {
        return Err("a tenant is 1 to 64 letters, digits, \".\", \"_\" and \"-\"".to_owned());
    }
    let digest = HEXLOWER_PERMISSIVE.decode(token.sha256.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    digest
        .map(Sha256Digest)
        .ok_or_else(|| "sha256 must be 64 hexadecimal digits: the digest of the token, not the token".to_owned())
}

/// Without tokens only programs of this machine are served, and pages of this very service: a page from elsewhere that
/// somebody here looks at could otherwise use it. Browsers say where a page is from, and send that with every `POST`.
fn not_from_elsewhere(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let is_here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    if is_here && origin.as_bytes() == format!("http://{host}").as_bytes() {
        return Ok(());
    }
    Err(ApiError::new(Code::ForbiddenOrigin, "a page of another site may not use this service: set up tokens"))
}

/// A bucket that fills with time.
#[derive(Debug)]
struct Rate {
    per_second: f64,
    /// What is in it, and since when.
    left: Mutex<(f64, Instant)>,
}

impl Rate {
    fn of(per_second: u32) -> Option<Self> {
        let per_second = f64::from(per_second);
        (per_second > 0.0).then(|| Self { per_second, left: Mutex::new((per_second * BURST, Instant::now())) })
    }

    fn take(&self, now: Instant) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let gained = now.saturating_duration_since(left.1).as_secs_f64() * self.per_second;
        let filled = (left.0 + gained).min(self.per_second * BURST);
        let enough = filled >= 1.0;
        *left = (if enough { filled - 1.0 } else { filled }, now);
        enough
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_bearer_token_is_one() {
        assert_eq!(bearer(b"Bearer abc"), Some(&b"abc"[..]));
        assert_eq!(bearer(b"bearer  abc "), Some(&b"abc"[..]));
        assert_eq!(bearer(b"Basic abc"), None);
        assert_eq!(bearer(b"Bearer "), None);
        assert_eq!(bearer(b"Bearer"), None);
    }

    #[test]
    fn a_rate_is_kept() {
        let rate = Rate::of(2).unwrap();
        let now = Instant::now();
        assert_eq!((0..30).filter(|_| rate.take(now)).count(), 20);
        assert!(!rate.take(now + Duration::from_millis(400)));
        assert!(rate.take(now + Duration::from_millis(600)));
        assert!(Rate::of(0).is_none());
    }

    #[test]
    fn a_page_from_elsewhere_is_refused() {
        let check = |host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            not_from_elsewhere(&headers).is_ok()
        };
        assert!(check("127.0.0.1:8080", "http://127.0.0.1:8080"));
        assert!(check("localhost:8080", "http://localhost:8080"));
        assert!(check("[::1]:8080", "http://[::1]:8080"));
        assert!(check("[::1]", "http://[::1]"));
        assert!(!check("127.0.0.1:8080", "http://evil.example"));
        assert!(!check("evil.example", "http://evil.example"), "a name that was rebound to this machine");
        assert!(!check("127.0.0.1:8080", "null"));
        assert!(not_from_elsewhere(&HeaderMap::new()).is_ok());
    }
}
