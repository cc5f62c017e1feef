//! National identification numbers with check digits, as their issuers define them. Each needs a word beside it that
//! says what it is: right check digits alone are one number in ten.

use std::ops::Range;

use super::{
    around::{Around, Kinds},
    number::{Number, Run, is_date, luhn, value, weighted},
};

/// One kind of number.
#[derive(Debug)]
pub(super) struct Id {
    /// Country and name, for people.
    pub(super) name: &'static str,
    words: &'static [&'static str],
    /// How many digits the run has that it begins with.
    begins: &'static [usize],
    /// Where the number stands whose first digits are the run, when its check digits are right.
    find: fn(&Run<'_>) -> Option<Range<usize>>,
}

const ALL: &[Id] = &[
    Id { name: "Belgium (national register)", words: BELGIAN, begins: &[2, 11], find: belgian },
    Id { name: "Brazil (CPF)", words: &["cpf", "contribuinte"], begins: &[3, 11], find: brazilian },
    Id { name: "Canada (SIN)", words: &["sin", "nas", "insurance"], begins: &[3], find: canadian },
    Id { name: "China (resident identity card)", words: CHINESE, begins: &[17, 18], find: chinese },
    Id { name: "Finland (henkilötunnus)", words: FINNISH, begins: &[6], find: finnish },
    Id { name: "France (NIR)", words: FRENCH, begins: &[1, 13, 15], find: french },
    Id { name: "Germany (Steuer-ID)", words: GERMAN, begins: &[2, 11], find: german },
    Id {
        name: "India (Aadhaar)",
        words: &["aadhaar", "aadhar", "uidai", "uid", "आधार"],
        begins: &[4, 12],
        find: indian,
    },
    Id {
        name: "Italy (codice fiscale)",
        words: &["codice", "fiscale", "cf", "codicefiscale"],
        begins: &[2],
        find: italian,
    },
    Id { name: "Netherlands (BSN)", words: DUTCH, begins: &[9], find: dutch },
    Id { name: "Norway (fødselsnummer)", words: NORWEGIAN, begins: &[6, 11], find: norwegian },
    Id { name: "Poland (PESEL)", words: &["pesel"], begins: &[11], find: polish },
    Id {
        name: "Spain (DNI, NIE)",
        words: &["dni", "nif", "nie", "documento", "identidad"],
        begins: &[7, 8],
        find: spanish,
    },
    Id { name: "Sweden (personnummer)", words: SWEDISH, begins: &[6, 8, 10, 12], find: swedish },
    Id { name: "United Kingdom (NHS number)", words: &["nhs", "patient"], begins: &[3, 10], find: british_health },
    Id {
        name: "United Kingdom (national insurance)",
        words: &["nino", "ni", "nin", "insurance"],
        begins: &[2, 6],
        find: british,
    },
    Id { name: "United States (SSN)", words: AMERICAN, begins: &[3], find: american },
];

const AMERICAN: &[&str] = &["ssn", "ssns", "socsec", "social", "itin", "tin", "taxpayer"];
const BELGIAN: &[&str] = &["rijksregister", "rijksregisternummer", "niss", "insz", "nrn", "national", "registre"];
const CHINESE: &[&str] =
    &["id", "idcard", "idno", "citizen", "resident", "identity", "shenfenzheng", "身份证", "身份證"];
const DUTCH: &[&str] = &["bsn", "burgerservicenummer", "sofi", "sofinummer"];
const FINNISH: &[&str] = &["hetu", "henkilotunnus", "henkilötunnus", "personbeteckning", "ssn"];
const FRENCH: &[&str] = &["nir", "insee", "securite", "sécurité", "sociale", "secu", "sécu", "vitale", "ssn"];
const GERMAN: &[&str] = &[
    "steuer",
    "steuerid",
    "steuernummer",
    "idnr",
    "tin",
    "identifikationsnummer",
    "steueridentifikationsnummer",
    "steueridnr",
];
const NORWEGIAN: &[&str] = &["fodselsnummer", "fødselsnummer", "fnr", "personnummer", "fodselsnr"];
const SWEDISH: &[&str] = &["personnummer", "personnr", "pnr", "samordningsnummer"];

/// The words of each kind.
pub(super) fn words() -> impl Iterator<Item = (Kinds, &'static [&'static str])> {
    ALL.iter().enumerate().map(|(place, id)| (Kinds::national(place), id.words))
}

/// The number that begins at a run, if a word beside it says so.
pub(super) fn at(run: &Run<'_>, around: &mut Around<'_>) -> Option<(Range<usize>, &'static Id)> {
    let mut kinds = BY_LENGTH.get(run.length).copied().unwrap_or(0);
    while kinds != 0 {
        let place = usize::try_from(kinds.trailing_zeros()).unwrap_or(0);
        kinds &= kinds.saturating_sub(1);
        let id = ALL.get(place)?;
        if let Some(range) = (id.find)(run).filter(|range| around.says(range, Kinds::national(place))) {
            return Some((range, id));
        }
    }
    None
}

/// Whether a number of any kind begins there, whatever stands around it.
#[cfg(test)]
pub(super) fn fits(run: &Run<'_>) -> bool {
    ALL.iter().any(|id| id.begins.contains(&run.length) && (id.find)(run).is_some())
}

/// No number here begins with more digits than an identity card of China has.
const LONGEST: usize = 18;

/// Which of [`ALL`] begin with a run of so many digits, a bit each: most runs of honest output begin none.
#[expect(clippy::indexing_slicing, reason = "done by the compiler, to which an index out of bounds is an error")]
const BY_LENGTH: [u32; LONGEST + 1] = {
    let mut by_length = [0; LONGEST + 1];
    let mut place = 0;
    while place < ALL.len() {
        let begins = ALL[place].begins;
        let mut one = 0;
        while one < begins.len() {
            by_length[begins[one]] |= 1 << place;
            one += 1;
        }
        place += 1;
    }
    by_length
};

/// The first spelling that fits.
fn spelled(run: &Run<'_>, spellings: &[&[usize]], between: &[u8]) -> Option<Number> {
    spellings.iter().find_map(|groups| run.groups(groups, between))
}

/// A number's digits as an array, to take apart.
fn digits<const N: usize>(number: &Number) -> Option<[u8; N]> {
    number.digits().try_into().ok()
}

/// Areas 000, 666 and from 900 on are not given out; neither are the groups 00 and 0000 (SSA, randomisation of 2011).
/// From 900 on it is a taxpayer number, with its own groups (IRS, ITIN).
fn american(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[3, 2, 4], b"- ")?;
    let [a, b, c, d, e, rest @ ..]: [u8; 9] = digits(&number)?;
    let (area, group, serial) = (value(&[a, b, c]), value(&[d, e]), value(&rest));
    let is_taxpayer = area >= 900 && matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99);
    // Two that were printed in advertisements.
    let is_known = matches!((area, group, serial), (78, 5, 1120) | (219, 9, 9999) | (123, 45, 6789));
    ((area < 900 && area != 0 && area != 666 || is_taxpayer) && group != 0 && serial != 0 && !is_known)
        .then_some(number.range)
}

/// 97 less the first nine digits modulo 97, with a two in front for those born from 2000 on.
fn belgian(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[11], b"").or_else(|| run.shaped(b"dd.dd.dd-ddd.dd"))?;
    let [.., tens, ones] = digits::<11>(&number)?;
    let (birth, check) = (number.leading(9), value(&[tens, ones]));
    let is_right = |number: u64| 97_u64.saturating_sub(number % 97) == check;
    (is_right(birth) || is_right(birth.saturating_add(2_000_000_000))).then_some(number.range)
}

/// Two check digits, each of weights going down, modulo 11 (Receita Federal).
fn brazilian(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[11], b"").or_else(|| run.shaped(b"ddd.ddd.ddd-dd"))?;
    let all: [u8; 11] = digits(&number)?;
    let check = |digits: &[u8], weights: &[u32]| (weighted(digits, weights).saturating_mul(10) % 11) % 10;
    let first = check(&all, &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
    let second = check(&all, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    let [head, .., tens, ones] = all;
    (first == u32::from(tens) && second == u32::from(ones) && all.iter().any(|digit| *digit != head))
        .then_some(number.range)
}

/// Luhn, written in threes; 0 and 8 are not first digits. At once it could be anything.
fn canadian(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[3, 3, 3], b" -")?;
    let [first, ..] = digits::<9>(&number)?;
    (luhn(number.digits()) && !matches!(first, 0 | 8)).then_some(number.range)
}

/// GB 11643: seventeen digits with a date of birth, and a check character of ISO 7064, MOD 11-2.
fn chinese(run: &Run<'_>) -> Option<Range<usize>> {
    let range = run.start..run.start.checked_add(18)?;
    let (check, body) = run.text.get(range.clone())?.split_last()?;
    let fits = match run.length {
        17 => matches!(check, b'X' | b'x'),
        18 => true,
        _ => false,
    };
    (fits && run.is_bounded(&range) && chinese_is_right(body, *check)).then_some(range)
}

/// Body and check character of an identity card.
fn chinese_is_right(body: &[u8], check: u8) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: &[u8; 11] = b"10X98765432";
    let digits: Vec<u8> = body.iter().map(|byte| byte.wrapping_sub(b'0')).collect();
    let part = |range: Range<usize>| value(digits.get(range).unwrap_or_default());
    let expected = usize::try_from(weighted(&digits, &WEIGHTS) % 11).ok().and_then(|at| CHECKS.get(at));
    (1900..=2099).contains(&part(6..10))
        && is_date(part(10..12), part(12..14))
        && expected == Some(&check.to_ascii_uppercase())
}

/// Weights from nine down, the last digit counting as -1, divisible by 11.
fn dutch(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[9], b"")?;
    let [.., last] = digits::<9>(&number)?;
    let sum = weighted(number.digits(), &[9, 8, 7, 6, 5, 4, 3, 2]);
    (number.leading(9) > 0 && sum % 11 == u32::from(last)).then_some(number.range)
}

/// Six digits of birth, a sign of the century, three digits and a character chosen by the rest of 31.
fn finnish(run: &Run<'_>) -> Option<Range<usize>> {
    const CHECKS: &[u8; 31] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    if run.length != 6 {
        return None;
    }
    let sign = run.byte(run.end())?;
    let range = run.start..run.end().checked_add(5)?;
    let birth = run.text.get(run.start..run.end())?;
    let [serial @ .., check] = run.text.get(run.end().checked_add(1)?..range.end)? else { return None };
    let digits: Vec<u8> = birth.iter().chain(serial).map(|byte| byte.wrapping_sub(b'0')).collect();
    let part = |range: Range<usize>| value(digits.get(range).unwrap_or_default());
    let expected = usize::try_from(value(&digits) % 31).ok().and_then(|at| CHECKS.get(at));
    (matches!(sign, b'-' | b'+' | b'A'..=b'F' | b'U'..=b'Y')
        && serial.iter().all(u8::is_ascii_digit)
        && is_date(part(2..4), part(0..2))
        && expected == Some(&check.to_ascii_uppercase())
        && run.is_bounded(&range))
    .then_some(range)
}

/// Thirteen digits and a key: 97 less the number modulo 97 (INSEE). The letters of Corsica are not read.
fn french(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[15], &[1, 2, 2, 2, 3, 3, 2], &[13, 2]], b" ")?;
    let [sex, _, _, m, n, .., tens, ones] = digits::<15>(&number)?;
    let month = value(&[m, n]);
    let is_month = matches!(month, 1..=12 | 20 | 30..=42 | 50..=99);
    (matches!(sex, 1 | 2) && is_month && 97_u64.saturating_sub(number.leading(13) % 97) == value(&[tens, ones]))
        .then_some(number.range)
}

/// Eleven digits: ISO 7064, MOD 11,10; of the first ten one digit occurs two or three times, none more often
/// (Bundeszentralamt für Steuern).
fn german(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[11], &[2, 3, 3, 3]], b" /")?;
    let all: [u8; 11] = digits(&number)?;
    let (ten, check) = all.split_at_checked(10)?;
    let mut counts = [0_u8; 10];
    for digit in ten {
        let count = counts.get_mut(usize::from(*digit))?;
        *count = count.saturating_add(1);
    }
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let product = ten.iter().fold(10_u32, |product, digit| {
        let sum = u32::from(*digit).saturating_add(product) % 10;
        (if sum == 0 { 10 } else { sum }).saturating_mul(2) % 11
    });
    let expected = 11_u32.saturating_sub(product) % 10;
    (!ten.starts_with(&[0])
        && repeated == 1
        && counts.iter().all(|count| *count <= 3)
        && check.iter().all(|digit| u32::from(*digit) == expected))
    .then_some(number.range)
}

/// Twelve digits with a check digit of Verhoeff's scheme; the first is 2 to 9 (UIDAI).
fn indian(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[12], &[4, 4, 4]], b" -")?;
    let [first, ..] = digits::<12>(&number)?;
    (first >= 2 && verhoeff(number.digits())).then_some(number.range)
}

/// J. Verhoeff's scheme over the dihedral group of order ten.
fn verhoeff(digits: &[u8]) -> bool {
    // Multiplication: i and j below five turn, from five on they mirror.
    let times = |i: u8, j: u8| match (i < 5, j < 5) {
        (true, true) => (i.saturating_add(j)) % 5,
        (true, false) => ((i.saturating_add(j.saturating_sub(5))) % 5).saturating_add(5),
        (false, true) => ((i.saturating_sub(5).saturating_add(5).saturating_sub(j)) % 5).saturating_add(5),
        (false, false) => (i.saturating_add(5).saturating_sub(j)) % 5,
    };
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |digit: u8, rounds: usize| {
        (0..rounds % 8).fold(digit, |digit, _| PERMUTATION.get(usize::from(digit)).copied().unwrap_or(digit))
    };
    digits.iter().rev().enumerate().fold(0, |state, (place, digit)| times(state, permuted(*digit, place))) == 0
}

/// `RSSMRA85T10A562S`: letters, digits and a check letter (DM 23/12/1976). The run is the year.
fn italian(run: &Run<'_>) -> Option<Range<usize>> {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let start = run.start.checked_sub(6).filter(|_| run.length == 2)?;
    let range = start..start.checked_add(16)?;
    let code = run.text.get(range.clone())?;
    let fits = code
        .iter()
        .zip(b"LLLLLLddLddLdddL")
        .all(|(byte, shape)| if *shape == b'L' { byte.is_ascii_alphabetic() } else { byte.is_ascii_digit() });
    if !fits {
        return None;
    }
    let (check, body) = code.split_last()?;
    let value_of = |byte: &u8| {
        let upper = byte.to_ascii_uppercase();
        u32::from(if upper.is_ascii_digit() { upper.wrapping_sub(b'0') } else { upper.wrapping_sub(b'A') })
    };
    let sum = body.iter().enumerate().fold(0_u32, |sum, (place, byte)| {
        let value = value_of(byte);
        // Places count from one: the first is odd.
        let odd = || usize::try_from(value).ok().and_then(|at| ODD.get(at)).copied().unwrap_or(0);
        sum.saturating_add(if place % 2 == 0 { odd() } else { value })
    });
    (sum % 26 == value_of(check) && run.is_bounded(&range)).then_some(range)
}

/// A date and five digits, the last two being checks modulo 11 (Skatteetaten).
fn norwegian(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[11], &[6, 5]], b" ")?;
    let all: [u8; 11] = digits(&number)?;
    let [d, e, m, n, ..] = all;
    let is_right = |weights: &[u32]| weighted(&all, weights).is_multiple_of(11);
    (is_date(value(&[m, n]), value(&[d, e]) % 40)
        && is_right(&[3, 7, 6, 1, 8, 9, 4, 5, 2, 1])
        && is_right(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]))
    .then_some(number.range)
}

/// A date, with the century in the month, and a check digit of weights 1, 3, 7, 9.
fn polish(run: &Run<'_>) -> Option<Range<usize>> {
    let number = run.groups(&[11], b"")?;
    let [_, _, m, n, d, e, ..] = digits::<11>(&number)?;
    let sum = weighted(number.digits(), &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    (is_date(value(&[m, n]) % 20, value(&[d, e])) && sum.is_multiple_of(10)).then_some(number.range)
}

/// Eight digits, or X, Y, Z and seven, and the letter chosen by the rest of 23.
fn spanish(run: &Run<'_>) -> Option<Range<usize>> {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let body =
        value(&run.text.get(run.start..run.end())?.iter().map(|byte| byte.wrapping_sub(b'0')).collect::<Vec<_>>());
    let dash = usize::from(run.byte(run.end()) == Some(b'-'));
    let letter_at = run.end().saturating_add(dash);
    let letter = run.byte(letter_at)?.to_ascii_uppercase();
    let (start, number) = match run.length {
        8 => (run.start, body),
        7 => {
            let dash = usize::from(run.before(1) == Some(b'-'));
            let first = run.before(dash.saturating_add(1))?.to_ascii_uppercase();
            let prefix = b"XYZ".iter().position(|known| *known == first)?;
            let prefix = u64::try_from(prefix).ok()?;
            (run.start.checked_sub(dash.saturating_add(1))?, prefix.saturating_mul(10_000_000).saturating_add(body))
        }
        _ => return None,
    };
    let range = start..letter_at.saturating_add(1);
    let expected = usize::try_from(number % 23).ok().and_then(|at| LETTERS.get(at));
    (body > 0 && expected == Some(&letter) && run.is_bounded(&range)).then_some(range)
}

/// A date, three digits and a check digit (Luhn over ten digits), with the century or without.
fn swedish(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[6, 4], &[8, 4], &[10], &[12]], b"-+")?;
    let ten = number.digits().get(number.digits().len().checked_sub(10)?..)?;
    let month = value(ten.get(2..4)?);
    // From 61 on the day is that of a coordination number.
    (is_date(month, value(ten.get(4..6)?) % 60) && luhn(ten)).then_some(number.range)
}

/// Weights from ten down, modulo 11.
fn british_health(run: &Run<'_>) -> Option<Range<usize>> {
    let number = spelled(run, &[&[10], &[3, 3, 4]], b" -")?;
    let [.., last] = digits::<10>(&number)?;
    let check = 11_u32.saturating_sub(weighted(number.digits(), &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
    (number.leading(10) > 0 && check % 11 == u32::from(last)).then_some(number.range)
}

/// Two letters, six digits, a suffix A to D. It has no check digit: which letters are given out is all there is (HMRC,
/// NIM39110).
fn british(run: &Run<'_>) -> Option<Range<usize>> {
    let spaced = usize::from(run.before(1) == Some(b' '));
    let start = run.start.checked_sub(spaced.saturating_add(2))?;
    let [first, second] = run.text.get(start..start.checked_add(2)?)? else { return None };
    let allowed = |letter: u8, none: &[u8]| letter.is_ascii_uppercase() && !none.contains(&letter);
    let pair = [*first, *second];
    if !allowed(*first, b"DFIQUV")
        || !allowed(*second, b"DFIOQUV")
        || [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"].contains(&&pair)
    {
        return None;
    }
    let mut digits = 0_u8;
    let mut at = run.start;
    while digits < 6 {
        match run.byte(at)? {
            byte if byte.is_ascii_digit() => digits = digits.saturating_add(1),
            b' ' if digits.is_multiple_of(2) => {}
            _ => return None,
        }
        at = at.saturating_add(1);
    }
    at = at.saturating_add(usize::from(run.byte(at) == Some(b' ')));
    let range = start..at.saturating_add(1);
    (matches!(run.byte(at)?, b'A'..=b'D') && run.is_bounded(&range)).then_some(range)
}
