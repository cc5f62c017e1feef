//! Failure that only the text shows: OpenAI's code interpreter says `completed` although the program raised
//! (SHAPES 2.1).

const HEADER: &[u8] = b"Traceback (most recent call last)";
/// How much of the end of a log is looked at.
const TAIL_BYTES: usize = 64 * 1_024;

/// Whether a log ends in a Python traceback: the header somewhere before, and nothing after the line that names the
/// exception. A traceback that was caught and printed, with more output after it, is none.
pub(crate) fn ends_in_traceback(log: &[u8]) -> bool {
    let tail = log.get(log.len().saturating_sub(TAIL_BYTES)..).unwrap_or(log);
    let plain = without_colours(tail);
    let Some(header) = memchr::memmem::rfind(&plain, HEADER) else { return false };
    let after = plain.get(header..).unwrap_or_default();
    let lines = after.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
    let last = lines.filter(|line| !line.is_empty()).last();
    last.is_some_and(names_exception)
}

/// `ValueError: …`, `requests.exceptions.Timeout: …`, `KeyboardInterrupt`.
fn names_exception(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let last = name.split(|byte| *byte == b'.').next_back().unwrap_or_default();
    !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        && last.first().is_some_and(u8::is_ascii_uppercase)
}

/// The text without ANSI colours (`ESC [ … m`), which `IPython` puts into tracebacks.
fn without_colours(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(0x1b, rest) {
        plain.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        if let Some(body) = rest.strip_prefix(b"[") {
            let length = body.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';')).unwrap_or(body.len());
            rest = body.get(length.saturating_add(1)..).unwrap_or_default();
        }
    }
    plain.extend_from_slice(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_final_traceback_is_a_failure() {
        for (log, failed) in [
            (
                "x\nTraceback (most recent call last):\n  File \"a\", line 1, in <module>\nZeroDivisionError: division by zero\n",
                true,
            ),
            ("Traceback (most recent call last):\n  File \"a\"\nrequests.exceptions.Timeout: slow", true),
            ("Traceback (most recent call last):\n  File \"a\"\nKeyboardInterrupt\n\n", true),
            (
                "\u{1b}[0;31m---\u{1b}[0m\n\u{1b}[0;31mValueError\u{1b}[0m     Traceback (most recent call last)\nCell 1\n\u{1b}[0;31mValueError\u{1b}[0m: no",
                true,
            ),
            ("Traceback (most recent call last):\n  File \"a\"\nValueError: no\nretrying\nok\n", false),
            ("Traceback (most recent call last):\n  oops {not json", false),
            ("ValueError: no", false),
            ("", false),
        ] {
            assert_eq!(ends_in_traceback(log.as_bytes()), failed, "{log}");
        }
    }
}
