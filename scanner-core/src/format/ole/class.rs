//! Classes of objects, as a storage names them: sixteen bytes, the first eight in little end order.

/// Classes whose programs run what they are given, or were broken again and again.
const EXPLOITED: &[([u8; 16], &str)] = &[
    (guid(0x0002_ce02, 0x0000, 0x0000, 0xc000_0000_0000_0046), "the equation editor"),
    (guid(0xbdd1_f04b, 0x858b, 0x11d1, 0xb16a_00c0_f028_3628), "the list control of MSCOMCTL"),
    (guid(0x996b_f5e0, 0x8044, 0x4650, 0xadeb_0b01_3914_e99c), "the list control of MSCOMCTL"),
    (guid(0xc741_90b6, 0x8589, 0x11d1, 0xb16a_00c0_f028_3628), "the tree control of MSCOMCTL"),
    (guid(0xd27c_db6e, 0xae6d, 0x11cf, 0x96b8_4445_5354_0000), "the Flash player"),
    (guid(0x8856_f961, 0x340a, 0x11d0, 0xa96b_00c0_4fd7_05a2), "the web browser"),
    (guid(0xeab2_2ac3, 0x30c1, 0x11cf, 0xa7eb_0000_c05b_ae0b), "the web browser"),
    (guid(0x2533_6920, 0x03f9, 0x11cf, 0x8fd0_00aa_0068_6f13), "the HTML viewer"),
    (guid(0x3050_f4d8, 0x98b5, 0x11cf, 0xbb82_00aa_00bd_ce0b), "an HTML application"),
    (guid(0x0629_0bd3, 0x48aa, 0x11d2, 0x8432_0060_08c3_fbfc), "a scriptlet"),
    (guid(0xecab_b0c7, 0x7f19, 0x11d2, 0x978e_0000_f875_7e2a), "a moniker that loads code"),
];

/// The class as it is stored.
const fn guid(first: u32, second: u16, third: u16, rest: u64) -> [u8; 16] {
    let [a, b, c, d] = first.to_le_bytes();
    let [e, f] = second.to_le_bytes();
    let [g, h] = third.to_le_bytes();
    let [i, j, k, l, m, n, o, p] = rest.to_be_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// What an object of that class is, when it is one that was exploited.
pub(super) fn exploited(class: &[u8; 16]) -> Option<&'static str> {
    EXPLOITED.iter().find(|(known, _)| known == class).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_stored_with_their_halves_turned() {
        let stored = *b"\x02\xce\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46";
        assert_eq!(exploited(&stored), Some("the equation editor"));
        assert_eq!(exploited(&[0; 16]), None);
    }
}
