//! Payment cards: issuer ranges and lengths as the networks publish them, check digit of ISO/IEC 7812-1.

use std::ops::Range;

use super::number::{Number, Run, luhn};

/// A number that a card may have.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) range: Range<usize>,
    pub(super) issuer: &'static str,
    /// A number that payment services document for tests.
    pub(super) is_documented: bool,
}

/// Words that say that a number is one of a card.
pub(super) const WORDS: &[&str] = &[
    "card",
    "cards",
    "cardno",
    "cardnumber",
    "cardnum",
    "cardholder",
    "cc",
    "ccn",
    "ccnum",
    "ccnumber",
    "credit",
    "creditcard",
    "debit",
    "debitcard",
    "pan",
    "visa",
    "mastercard",
    "maestro",
    "amex",
    "discover",
    "diners",
    "jcb",
    "unionpay",
    "rupay",
    "mir",
    "cvv",
    "cvc",
    "cvn",
    "expiry",
    "expires",
    "expiration",
    "exp",
    "payment",
    "payments",
    "billing",
    "kreditkarte",
    "kartennummer",
    "karte",
    "carte",
    "carta",
    "tarjeta",
    "cartao",
    "cartão",
    "kaart",
    "kort",
    "karta",
    "карта",
    "карты",
    "カード",
    "信用卡",
    "银行卡",
    "卡号",
];

struct Issuer {
    name: &'static str,
    /// Digits of the prefixes, and the prefixes: first and last.
    prefixes: &'static [(usize, u64, u64)],
    lengths: &'static [usize],
}

const ISSUERS: &[Issuer] = &[
    Issuer { name: "Visa", prefixes: &[(1, 4, 4)], lengths: &[13, 16, 19] },
    Issuer { name: "Mastercard", prefixes: &[(2, 51, 55), (4, 2221, 2720)], lengths: &[16] },
    Issuer { name: "American Express", prefixes: &[(2, 34, 34), (2, 37, 37)], lengths: &[15] },
    Issuer { name: "Discover", prefixes: &[(4, 6011, 6011), (3, 644, 649), (2, 65, 65)], lengths: &[16, 17, 18, 19] },
    Issuer {
        name: "Diners Club",
        prefixes: &[(3, 300, 305), (4, 3095, 3095), (2, 36, 36), (2, 38, 39)],
        lengths: &[14, 16],
    },
    Issuer { name: "JCB", prefixes: &[(4, 3528, 3589)], lengths: &[16, 17, 18, 19] },
    Issuer { name: "UnionPay", prefixes: &[(2, 62, 62)], lengths: &[16, 17, 18, 19] },
    Issuer { name: "Mir", prefixes: &[(4, 2200, 2204)], lengths: &[16, 17, 18, 19] },
    Issuer {
        name: "Maestro",
        prefixes: &[
            (4, 5018, 5018),
            (4, 5020, 5020),
            (4, 5038, 5038),
            (4, 5893, 5893),
            (4, 6304, 6304),
            (4, 6759, 6763),
        ],
        lengths: &[12, 13, 14, 15, 16, 17, 18, 19],
    },
    Issuer { name: "RuPay", prefixes: &[(3, 508, 508), (2, 60, 60), (2, 81, 82)], lengths: &[16] },
];

/// Numbers that payment services name in their documentation for tests.
const DOCUMENTED: &[u64] = &[
    4_242_424_242_424_242,
    4_111_111_111_111_111,
    4_012_888_888_881_881,
    4_222_222_222_222,
    4_000_056_655_665_556,
    4_000_000_000_000_002,
    4_000_000_000_009_995,
    4_000_002_500_003_155,
    4_005_519_200_000_004,
    4_009_348_888_881_881,
    4_012_000_033_330_026,
    4_012_000_077_777_777,
    4_217_651_111_111_119,
    4_500_600_000_000_061,
    4_000_000_000_000_119,
    5_555_555_555_554_444,
    5_105_105_105_105_100,
    5_200_828_282_828_210,
    5_431_111_111_111_111,
    5_424_000_000_000_015,
    2_223_003_122_003_222,
    2_223_000_048_400_011,
    378_282_246_310_005,
    371_449_635_398_431,
    378_734_493_671_000,
    6_011_111_111_111_117,
    6_011_000_990_139_424,
    6_011_981_111_111_113,
    30_569_309_025_904,
    38_520_000_023_237,
    36_227_206_271_667,
    3_056_930_009_020_004,
    3_530_111_333_300_000,
    3_566_002_020_360_505,
    6_200_000_000_000_005,
    6_205_500_000_000_000_004,
    6_304_000_000_000_000,
    6_759_649_826_438_453,
];

/// Ways to write a card number: at once, in fours, as American Express and Diners Club print it.
const SPELLINGS: &[&[usize]] =
    &[&[12], &[13], &[14], &[15], &[16], &[17], &[18], &[19], &[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4]];

pub(super) fn at(run: &Run<'_>) -> Option<Card> {
    if !matches!(run.length, 4 | 12..=19) {
        return None;
    }
    let number = SPELLINGS.iter().find_map(|groups| run.groups(groups, b" -"))?;
    let issuer = issuer_of(&number)?;
    if !luhn(number.digits()) || is_pattern(number.digits()) {
        return None;
    }
    let is_documented = DOCUMENTED.contains(&number.leading(number.digits().len()));
    Some(Card { range: number.range, issuer, is_documented })
}

fn issuer_of(number: &Number) -> Option<&'static str> {
    let fits = |issuer: &&Issuer| {
        issuer.lengths.contains(&number.digits().len())
            && issuer.prefixes.iter().any(|(digits, first, last)| (*first..=*last).contains(&number.leading(*digits)))
    };
    ISSUERS.iter().find(fits).map(|issuer| issuer.name)
}

/// One or two different digits, or most of them zeros: made up, or a counter.
fn is_pattern(digits: &[u8]) -> bool {
    let mut seen = [false; 10];
    for digit in digits {
        if let Some(seen) = seen.get_mut(usize::from(*digit)) {
            *seen = true;
        }
    }
    let zeros = digits.iter().filter(|digit| **digit == 0).count();
    seen.iter().filter(|seen| **seen).count() < 3 && !DOCUMENTED.contains(&super::number::value(digits))
        || zeros.saturating_mul(3) > digits.len().saturating_mul(2)
}
