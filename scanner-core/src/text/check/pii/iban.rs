//! Bank accounts: ISO 13616. Lengths are those of the IBAN registry.

use std::ops::Range;

use super::number::Run;

/// An account number that is right.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) range: Range<usize>,
    pub(super) country: &'static str,
    /// One that the registry or a common manual shows.
    pub(super) is_documented: bool,
}

/// Countries and how long their numbers are.
const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

/// Account parts of numbers that manuals show.
const DOCUMENTED: &[&[u8]] = &[
    b"AT611904300234573201",
    b"BE68539007547034",
    b"CH9300762011623852957",
    b"DE89370400440532013000",
    b"DK5000400440116243",
    b"ES9121000418450200051332",
    b"FI2112345600000785",
    b"FR1420041010050500013M02606",
    b"FR7630006000011234567890189",
    b"GB29NWBK60161331926819",
    b"GB82WEST12345698765432",
    b"GB33BUKB20201555555555",
    b"IE29AIBK93115212345678",
    b"IT60X0542811101000000123456",
    b"LU280019400644750000",
    b"NL91ABNA0417164300",
    b"NO9386011117947",
    b"PL61109010140000071219812874",
    b"PT50000201231234567890154",
    b"SE4550000000058398257466",
];

/// Longest number of the registry.
const LONGEST: usize = 34;

/// A number whose check digits are this run, or begin it.
pub(super) fn at(run: &Run<'_>) -> Option<Account> {
    if run.length < 2 {
        return None;
    }
    let start = run.start.checked_sub(2)?;
    let code = run.text.get(start..run.start)?;
    if !code.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let (country, length) = LENGTHS.iter().find(|(country, _)| country.as_bytes() == code)?;
    let mut compact = Vec::with_capacity(LONGEST);
    let mut at = start;
    while compact.len() < *length {
        match run.byte(at)? {
            byte if byte.is_ascii_digit() || byte.is_ascii_uppercase() => compact.push(byte),
            // Written in fours.
            b' ' if compact.len() % 4 == 0 => {}
            _ => return None,
        }
        at = at.saturating_add(1);
    }
    let range = start..at;
    (run.is_bounded(&range) && is_right(&compact)).then(|| Account {
        range,
        country,
        is_documented: DOCUMENTED.contains(&compact.as_slice()),
    })
}

/// The check of ISO 7064, MOD 97-10: country and check digits moved to the end, letters as 10 to 35, remainder one.
fn is_right(compact: &[u8]) -> bool {
    let (front, rest) = compact.split_at_checked(4).unwrap_or_default();
    let remainder = rest.iter().chain(front).fold(0_u32, |remainder, byte| {
        let value = if byte.is_ascii_digit() {
            u32::from(byte.wrapping_sub(b'0'))
        } else {
            u32::from(byte.wrapping_sub(b'A')).saturating_add(10)
        };
        let shifted = if value > 9 { remainder.saturating_mul(100) } else { remainder.saturating_mul(10) };
        shifted.saturating_add(value) % 97
    });
    // Nothing but zeros is a form to fill in.
    remainder == 1 && rest.iter().any(|byte| *byte != b'0')
}
