//! Where a terminal takes a sequence to begin, as the state machine of the VT500 does that today's terminals share:
//! a control inside of a sequence is done at once and the sequence goes on, ESC begins another one, CAN and SUB end it.

/// A control that is done, or passed over, inside of a sequence.
pub(crate) fn is_done_at_once(byte: u8) -> bool {
    matches!(byte, 0x00..=0x17 | 0x19 | 0x1c..=0x1f | 0x7f)
}

/// Where the byte stands that an ESC in front of `from` is about: behind all controls that are done at once.
pub(crate) fn introduced(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from.saturating_add(rest.iter().take_while(|byte| is_done_at_once(**byte)).count())
}

/// Whether a control stands there that no honest sequence holds. One that was cut off ends with its line.
pub(crate) fn holds_control(inside: &[u8]) -> bool {
    inside.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_passed() {
        assert_eq!(introduced(b"\x1b\0\n\x7f[2J", 1), 4);
        assert_eq!(introduced(b"\x1b[", 1), 1);
        // These begin another sequence, or none.
        for byte in [0x18, 0x1a, 0x1b] {
            assert_eq!(introduced(&[0x1b, byte, b'['], 1), 1);
        }
        assert_eq!(introduced(b"\x1b\x07", 1), 2);
    }

    #[test]
    fn a_line_end_is_no_odd_control() {
        assert!(!holds_control(b"3\r\n1") && holds_control(b"3\x07") && holds_control(b"\x7f"));
    }
}
