//! Untrusted words made fit to be repeated.

/// Longest name, declared type or pointer that a record repeats, in bytes. A member's path repeats those around it.
const LONGEST_WORDS: usize = 1_024;

/// Cuts untrusted words at [`LONGEST_WORDS`], and says so.
pub(super) fn shorten(words: &mut String) {
    if words.len() > LONGEST_WORDS {
        let end = words.floor_char_boundary(LONGEST_WORDS);
        words.truncate(end);
        words.push('…');
    }
}

/// One segment of a path: `!`, `%` and control characters percent-encoded, byte by byte.
pub(super) fn path_segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '!' | '%') || character.is_control() {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}
