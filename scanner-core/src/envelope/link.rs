//! References: which of them a caller may fetch. Nothing is built from what a model worded.

use crate::bundle::Request;

use super::sheet;

/// Longest URL that is looked at.
pub(crate) const URL_BYTES: usize = 2_048;

/// What a URL found in an envelope is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// https, a host of the vendor, nothing odd in it.
    Vendor,
    /// It points into a private network.
    Internal,
    /// Its scheme runs code.
    Script,
    /// Anything else: somebody's server.
    Foreign,
}

/// Judges a URL against the vendor's hosts. A host of `*.example.com` takes every name below it.
pub(crate) fn judge(url: &str, hosts: &[&str]) -> Link {
    // Browsers drop white space before and control characters inside a scheme.
    let clean: String = url.chars().filter(|character| *character > ' ').take(URL_BYTES).collect();
    let scheme = clean.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if matches!(scheme.as_str(), "javascript" | "vbscript" | "livescript") {
        return Link::Script;
    }
    let Some((_, rest)) = clean.split_once("://") else { return Link::Foreign };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host_port = authority.rsplit('@').next().unwrap_or_default();
    let host = match host_port.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => host_port.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    if is_internal(&host) {
        return Link::Internal;
    }
    let plain = url.len() <= URL_BYTES
        && clean.len() == url.len()
        && url.starts_with("https://")
        && host == authority
        && url
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`'))
        && !url.contains("..");
    let of_vendor = hosts.iter().any(|known| match known.strip_prefix('*') {
        Some(below) => host.ends_with(below),
        None => host == *known,
    });
    if plain && of_vendor { Link::Vendor } else { Link::Foreign }
}

/// Names and addresses of private networks, in the spellings that resolvers take (`2130706433`, `0x7f.1`).
fn is_internal(host: &str) -> bool {
    let named = host == "localhost"
        || [".localhost", ".local", ".internal", ".localdomain", ".home.arpa"].iter().any(|end| host.ends_with(end));
    if named
        || matches!(host, "::" | "::1")
        || host.starts_with("fe80:")
        || host.starts_with("fd") && host.contains(':')
    {
        return true;
    }
    let host = host.strip_prefix("::ffff:").unwrap_or(host);
    let mut parts = Vec::new();
    for part in host.split('.').take(5) {
        let value = match part.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8),
            None => part.parse(),
        };
        let Ok(value) = value else { return false };
        parts.push(value);
    }
    let Some((last, front)) = parts.split_last() else { return false };
    if front.len() > 3 {
        return false;
    }
    // inet_aton: the last part fills what is left.
    let mut address = *last;
    for (part, shift) in front.iter().zip([24u32, 16, 8]) {
        address |= part.checked_shl(shift).unwrap_or(0);
    }
    let [a, b, ..] = address.to_be_bytes();
    matches!((a, b), (0 | 10 | 127, _) | (169, 254) | (172, 16..=31) | (192, 168) | (100, 64..=127))
}

/// A request for a path made of fixed parts and ids: `None` when an id is outside the alphabet.
pub(crate) fn request(auth: &str, parts: &[&str], ids: &[&str]) -> Option<Request> {
    if !ids.iter().all(|id| sheet::is_path_id(id)) {
        return None;
    }
    let mut url = String::new();
    for (index, part) in parts.iter().enumerate() {
        url.push_str(part);
        url.push_str(ids.get(index).copied().unwrap_or_default());
    }
    Some(Request { method: "GET", url, auth: auth.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vendors_own_https_is_fetched() {
        let hosts = ["files.example.com", "*.storage.example.com"];
        for (url, want) in [
            ("https://files.example.com/v1/a?b=c", Link::Vendor),
            ("https://a.storage.example.com/x", Link::Vendor),
            ("http://files.example.com/", Link::Foreign),
            ("https://files.example.com@evil.test/", Link::Foreign),
            ("https://evil.test#files.example.com", Link::Foreign),
            ("https://evil.test\\@files.example.com/", Link::Foreign),
            ("https://xstorage.example.com/", Link::Foreign),
            ("https://files.example.com:8443/", Link::Foreign),
            ("https://files.example.com/../x", Link::Foreign),
            ("sandbox:/mnt/data/x.csv", Link::Foreign),
            (" java\nscript:alert(1)", Link::Script),
            ("http://169.254.169.254/latest/", Link::Internal),
            ("http://2130706433/", Link::Internal),
            ("http://0x7f.1/", Link::Internal),
            ("http://[::1]:80/", Link::Internal),
            ("http://[::ffff:10.0.0.1]/", Link::Internal),
            ("https://metadata.google.internal/", Link::Internal),
            ("https://user@localhost/", Link::Internal),
            ("https://8.8.8.8/", Link::Foreign),
        ] {
            assert_eq!(judge(url, &hosts), want, "{url}");
        }
    }

    #[test]
    fn an_id_outside_the_alphabet_makes_no_request() {
        assert_eq!(request("x", &["/v1/files/", "/content"], &["file_1"]).unwrap().url, "/v1/files/file_1/content");
        for id in ["", "..", "a/b", "a?b", "a%2f", "a b", "é"] {
            assert_eq!(request("x", &["/v1/files/", "/content"], &[id]), None, "{id}");
        }
    }
}
