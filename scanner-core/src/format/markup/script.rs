//! What a script says of itself: whether it builds a file for the reader, and whether it fetches.

use memchr::memmem;

/// Signs of one script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::format) struct Signs {
    /// It makes a file out of data it carries and hands it to the reader.
    pub(in crate::format) smuggles: bool,
    /// ... and what it carries begins as programs and archives do.
    pub(in crate::format) carries_program: bool,
    /// It loads or calls an address of another machine.
    pub(in crate::format) fetches: bool,
}

/// Beginnings of base64 literals of programs, archives, disk images and shortcuts.
const PACKED: [&[u8]; 8] = [b"TVqQ", b"TVpQ", b"TVo", b"UEsDB", b"f0VMR", b"TAAAA", b"N3q8rycc", b"UmFyIRo"];

/// What stands directly before the quoted address that is fetched, white space aside.
const CALLS: [&[u8]; 15] = [
    b"import", b"from", b"import(", b"fetch(", b"importScripts(", b"sendBeacon(", b"WebSocket(", b"EventSource(",
    b"Worker(", b".src=", b".href=", b".open(\"GET\",", b".open('GET',", b".open(\"POST\",", b"location=",
];

pub(in crate::format) fn signs(body: &[u8]) -> Signs {
    let has = |word: &[u8]| memmem::find(body, word).is_some();
    let makes = has(b"createObjectURL") || has(b"msSaveOrOpenBlob") || has(b"msSaveBlob") || has(b"data:application/");
    let unpacks = has(b"atob(") || has(b"Uint8Array") || has(b"new Blob") || has(b"fromCharCode") || has(b"base64");
    let hands = has(b".download") || has(b"'download'") || has(b"\"download\"") || has(b".click(") || has(b"msSave");
    let smuggles = makes && unpacks && hands;
    let quoted = |quote: u8, word: &[u8]| has(&[&[quote], word].concat());
    let carries_program = smuggles && PACKED.iter().any(|word| b"\"'`,".iter().any(|quote| quoted(*quote, word)));
    Signs { smuggles, carries_program, fetches: fetches(body) || is_map(body) }
}

/// An import map, or rules of what to load ahead, that names another machine.
fn is_map(body: &[u8]) -> bool {
    let has = |word: &[u8]| memmem::find(body, word).is_some();
    body.trim_ascii_start().starts_with(b"{")
        && (has(b"\"imports\"") || has(b"\"scopes\"") || has(b"\"prefetch\"") || has(b"\"prerender\""))
        && has(b"//")
}

/// A quoted address of another machine directly behind something that fetches.
fn fetches(body: &[u8]) -> bool {
    memmem::find_iter(body, b"//").any(|slashes| {
        let before = body.get(slashes.saturating_sub(48)..slashes).unwrap_or_default();
        let before = before.strip_suffix(b"https:").or_else(|| before.strip_suffix(b"http:")).unwrap_or(before);
        let before = before.strip_suffix(b"wss:").or_else(|| before.strip_suffix(b"ws:")).unwrap_or(before);
        let Some((b'"' | b'\'' | b'`', before)) = before.split_last() else { return false };
        let mut squeezed: Vec<u8> = before.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        squeezed.drain(..squeezed.len().saturating_sub(24));
        CALLS.iter().any(|call| squeezed.ends_with(call))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smuggling_makes_unpacks_and_hands_over() {
        let all = b"var b=atob(\"TVo=\");a.download='x';a.href=URL.createObjectURL(new Blob([b]))";
        assert_eq!(signs(all), Signs { smuggles: true, carries_program: true, fetches: false });
        assert!(!signs(b"URL.createObjectURL(stream)").smuggles);
        assert!(!signs(b"atob(x); a.click()").smuggles);
    }

    #[test]
    fn fetching_is_a_call_with_an_address() {
        for body in ["import \"https://x/a.js\"", "fetch( 'http://x' )", "s.src = '//x/a.js'", "new WebSocket('wss://x')"] {
            assert!(signs(body.as_bytes()).fetches, "{body}");
        }
        assert!(signs(b"{\"imports\":{\"a\":\"https://x/a.js\"}}").fetches);
        for body in ["var a = \"https://x\"; // see", "// from a", "x = 1 // 'fetch'"] {
            assert!(!signs(body.as_bytes()).fetches, "{body}");
        }
    }
}
