//! How common four bytes are in honest text: an anchor is looked for by its rarest.

use super::GRAM;

/// How common pairs of bytes are in honest text (program output, logs, sources, manuals in many languages): a row for
/// each first byte, a column for each second, letters first, then the blank, then everything else; logarithms from 0
/// to f.
const PAIRS: [&[u8; 28]; 28] = [
    b"79a97796957bab494bab987786ab",
    b"967796759949668647759446857a",
    b"a787b75a849965b6497a8546748a",
    b"9778b766a65765964786855564bc",
    b"a8aba986756aab798cba7a7975cc",
    b"a7778855a45856b54877844464aa",
    b"7575a577946769764886865455aa",
    b"a566b5469456659547597444549a",
    b"99ab99a5657aacb859aa68575889",
    b"7444834454455495546474444449",
    b"8555a56474565664357664544489",
    b"a568b755b46a55a74589965485aa",
    b"b868b5649458959945867544649a",
    b"b59aaaa5967768b745ab975575bb",
    b"78a969857679ab994caaa99655b9",
    b"a567a568846965984b8986449489",
    b"4444444444454444444584444457",
    b"a689c695b4a78ab64a99987494ab",
    b"8686b579a477669869ab9674a5bb",
    b"a587c65bb45765a94a99957695bb",
    b"888896768459996849ba5547458a",
    b"9554a554a444646644545444547a",
    b"94457448944556a4477444654489",
    b"7565754674467457465844455579",
    b"65656454644677884698545446aa",
    b"6444844563355464465455545798",
    b"babaab99c98aaabb6abb9aa886fe",
    b"babbbb9ab98babaa7bbbaaa98aff",
];

/// The commonest grams in honest text, one a line and sorted, each with the logarithm of how often it stood there, from
/// 0 to f; a blank is written `B`. No anchor is found by one of them if it has another. Made by `tests/anchors.rs`.
const COMMONEST: &str = include_str!("commonest.txt");
/// Bytes of such a line.
const LINE: usize = GRAM + 2;

/// How much worse the least of [`COMMONEST`] is than what is none of them.
const TOO_COMMON: u32 = 40;

/// How common a gram is in honest text, as a sum of logarithms.
pub(super) fn commonness(gram: [u8; GRAM]) -> u32 {
    let (lines, _) = COMMONEST.as_bytes().as_chunks::<LINE>();
    let written = gram.map(|byte| if byte == b' ' { b'B' } else { byte });
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0);
    if let Ok(at) = lines.binary_search_by(|[a, b, c, d, ..]| [*a, *b, *c, *d].cmp(&written)) {
        let times = lines.get(at).map_or(0, |[.., times, _]| digit(*times));
        return TOO_COMMON.saturating_add(times.saturating_mul(2));
    }
    let class = |byte: u8| match byte {
        b'a'..=b'z' => usize::from(byte.wrapping_sub(b'a')),
        b' ' => 26,
        _ => 27,
    };
    gram.windows(2)
        .map(|pair| match pair {
            [first, second] => {
                PAIRS.get(class(*first)).and_then(|row| row.get(class(*second))).map_or(0, |times| digit(*times))
            }
            _ => 0,
        })
        .sum()
}

/// How often a literal is likely to stand in honest text, for want of a count: as often as its rarest four bytes.
pub(in crate::text) fn expected_rate(literal: &str) -> f64 {
    let grams = literal.as_bytes().windows(GRAM).filter_map(|gram| gram.first_chunk::<GRAM>());
    let rarest = grams.map(|gram| commonness(*gram)).min().unwrap_or(TOO_COMMON);
    f64::from(rarest).exp2()
}
