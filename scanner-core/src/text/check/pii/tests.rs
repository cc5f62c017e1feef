use std::ops::Range;

use proptest::prelude::*;

use super::{card, contact, iban, national, number::Run, run};
use crate::{
    finding::Severity,
    text::{check::Sink, hits::Hits},
};

/// Severity, message and place of everything found.
fn found(text: &str) -> Vec<(Severity, String, Range<usize>)> {
    let mut hits = Hits::default();
    run(text.as_bytes(), &mut Sink::new(&mut hits));
    let (kept, _, _) = hits.settle(text.as_bytes());
    kept.into_iter().map(|hit| (hit.severity, hit.message.unwrap_or_default(), hit.range)).collect()
}

/// That exactly this part of the text is told at medium, in these words.
#[track_caller]
fn tells(text: &str, part: &str, words: &str) {
    let loud: Vec<_> = found(text).into_iter().filter(|(severity, ..)| *severity > Severity::Info).collect();
    let [(_, message, range)] = loud.as_slice() else { panic!("{text}: {loud:?}") };
    assert!(message.contains(words), "{text}: {message}");
    assert_eq!(text.get(range.clone()), Some(part), "{text}");
}

/// That nothing is told but information.
#[track_caller]
fn calm(text: &str) {
    let loud: Vec<_> = found(text).into_iter().filter(|(severity, ..)| *severity > Severity::Info).collect();
    assert!(loud.is_empty(), "{text}: {loud:?}");
}

#[track_caller]
fn silent(text: &str) {
    assert!(found(text).is_empty(), "{text}: {:?}", found(text));
}

#[test]
fn cards_in_every_spelling() {
    tells("card: 4539578763621486", "4539578763621486", "Visa");
    tells("Visa 4539 5787 6362 1486 exp 04/29", "4539 5787 6362 1486", "Visa");
    tells("cardNumber=5425-2334-3010-9903;", "5425-2334-3010-9903", "Mastercard");
    tells("amex 3742 454554 00126", "3742 454554 00126", "American Express");
    tells("id,name,credit_card\n7,Ann,4539578763621486\n", "4539578763621486", "Visa");
    tells("номер карты 2200700123456781", "2200700123456781", "Mir");
}

#[test]
fn numbers_that_are_no_cards() {
    // Right check digit, no word.
    calm("order 4539578763621486 shipped");
    // A word, wrong check digit.
    silent("card: 4539578763621487");
    // Documented for tests.
    calm("card: 4242 4242 4242 4242");
    calm("visa 4111111111111111");
    // Part of something longer, of a fraction, of a token.
    silent("card 0.4539578763621486");
    silent("card 14539578763621486000");
    silent("card 4539578763621486a");
    silent("card 0000000000000000");
    // The word is only a part of a word.
    calm("discarded 4539578763621486 rows of the company");
}

#[test]
fn accounts_stand_alone() {
    tells("pay to DE12 5001 0517 0648 4898 90.", "DE12 5001 0517 0648 4898 90", "DE");
    tells("iban=NL39RABO0300065264", "NL39RABO0300065264", "NL");
    calm("DE89 3704 0044 0532 0130 00");
    silent("DE13 5001 0517 0648 4898 90");
    silent("XX12500105170648489890");
    silent("commit DE1250010517064848989012");
}

#[test]
fn national_ids_with_a_word() {
    for (text, part, country) in [
        ("SSN: 536-90-4399", "536-90-4399", "United States"),
        ("tax id (ITIN) 912-70-1234", "912-70-1234", "United States"),
        ("rijksregisternummer 85.07.30-033.28", "85.07.30-033.28", "Belgium"),
        ("CPF 529.982.247-25", "529.982.247-25", "Brazil"),
        ("cpf=52998224725", "52998224725", "Brazil"),
        ("SIN 130 692 544", "130 692 544", "Canada"),
        ("身份证号 11010519491231002X", "11010519491231002X", "China"),
        ("id_card: 440524188001010014", "440524188001010014", ""),
        ("hetu 131052-308T", "131052-308T", "Finland"),
        ("NIR 2 55 08 14 168 025 38", "2 55 08 14 168 025 38", "France"),
        ("Steuer-ID 86 095 742 719", "86 095 742 719", "Germany"),
        ("Aadhaar 2341 2341 2346", "2341 2341 2346", "India"),
        ("codice fiscale RSSMRA85T10A562S", "RSSMRA85T10A562S", "Italy"),
        ("BSN: 111222333", "111222333", "Netherlands"),
        ("fødselsnummer 12038500110", "12038500110", "Norway"),
        ("PESEL 44051401359", "44051401359", "Poland"),
        ("DNI 12345678Z", "12345678Z", "Spain"),
        ("NIE X-1234567-L", "X-1234567-L", "Spain"),
        ("personnummer 811228-9874", "811228-9874", "Sweden"),
        ("NHS number 943 476 5919", "943 476 5919", "NHS"),
        ("national insurance QQ123456C", "", ""),
        ("NINO AB 12 34 56 C", "AB 12 34 56 C", "insurance"),
    ] {
        if part.is_empty() || country.is_empty() {
            // Not given out, or before 1900.
            calm(text);
        } else {
            tells(text, part, country);
        }
    }
}

#[test]
fn numbers_that_are_no_national_ids() {
    // Right, without a word.
    for text in ["536-90-4399", "52998224725 bytes", "total 44051401359", "ref 943 476 5919", "11010519491231002X"] {
        calm(text);
    }
    // A word, wrong check digits or never given out.
    for text in ["SSN 000-12-3456", "ssn 078-05-1120", "CPF 111.111.111-11", "PESEL 44051401358", "DNI 12345678A"] {
        calm(text);
    }
}

#[test]
fn contacts_are_information() {
    let all = |text: &str| found(text).into_iter().map(|(_, _, range)| text[range].to_owned()).collect::<Vec<_>>();
    assert_eq!(all("Write to ann.b+c@mail.example.org, please."), ["ann.b+c@mail.example.org"]);
    assert_eq!(all("call +49 (30) 901820-12 now"), ["+49 (30) 901820-12"]);
    assert_eq!(all("from 8.8.8.8."), ["8.8.8.8"]);
    assert_eq!(all("from 2606:4700:4700::1111 port 53"), ["2606:4700:4700::1111"]);
    for honest in [
        "git@host:path",
        "a@b",
        "x @ y",
        "@decorator",
        "1+2",
        "1 + 49",
        "127.0.0.1 10.0.0.1 192.168.1.1",
        "v1.2.3.4",
        "version 8.8.8.8",
        "numpy==1.2.3.4",
        "1.2.3.4.5",
        "12:30:45",
        "2026:11",
        "+1e10",
        "https://u:p@h.example/",
    ] {
        silent(honest);
    }
}

#[test]
fn a_flood_of_right_numbers_hides_none_behind_it() {
    for flood in ["4539578763621486 ", "44051401359 ", "DE12 5001 0517 0648 4898 90 ", "536-90-4399 111222333 "] {
        for (number, words) in [("card 5425233430109903", "Mastercard"), ("PESEL 44051401359", "Poland")] {
            let text = format!("{}{} {number}", flood.repeat(3_000), "-".repeat(80));
            let mut hits = Hits::default();
            run(text.as_bytes(), &mut Sink::new(&mut hits));
            let end = text.len();
            let is_told = hits.any(|hit| {
                hit.severity > Severity::Info
                    && hit.range.end == end
                    && hit.message.as_ref().is_some_and(|message| message.contains(words))
            });
            assert!(is_told, "{flood}: {number}");
        }
    }
}

#[test]
fn the_first_line_names_the_columns() {
    let rows = "Ann,nothing to see here\n".repeat(20);
    tells(&format!("name,pesel\n{rows}Bob,44051401359\n"), "44051401359", "Poland");
    calm(&format!("name,number\n{rows}Bob,44051401359\n"));
}

#[test]
fn floods_are_read_once() {
    // Nothing here to time: that each ends, and that a long run is one number.
    silent(&"1".repeat(100_000));
    assert!(found(&"a@".repeat(50_000)).is_empty());
    assert!(found(&"+".repeat(50_000)).is_empty());
    assert!(found(&"card 4539578763621486 ".repeat(2_000)).len() > 10);
}

/// Numbers of every kind, whole, to be cut and mixed.
const NUMBERS: &str = "536-90-4399 85.07.30-033.28 529.982.247-25 046 454 286 11010519491231002X 131052-308T 255081416802538 \
    65 929 970 489 2341 2341 2346 RSSMRA85T10A562S 111222333 010190 12345 44051401359 12345678Z X-1234567-L 811228-9874 \
    943 476 5919 AB 12 34 56 C DE12  5001 0517 0648 4898 90 NL39RABO0300065264 8.8.8.8 2606:4700::1111 3742 454554 00126";

proptest! {
    #[test]
    fn what_is_passed_over_begins_no_number(
        pieces in proptest::collection::vec((0..NUMBERS.len(), 1..24_usize, "[0-9 ./:+A-Zx-]{0,3}"), 1..12)
    ) {
        let text: String = pieces
            .iter()
            .map(|(from, length, more)| format!("{}{more}", NUMBERS.get(*from..NUMBERS.len().min(from + length)).unwrap()))
            .collect();
        let mut at = 0;
        while let Some(run) = Run::next(text.as_bytes(), at) {
            at = run.end();
            if !run.may_begin() {
                prop_assert!(card::at(&run).is_none() && iban::at(&run).is_none(), "{text:?} {run:?}");
                prop_assert!(!national::fits(&run) && contact::address(&run).is_none(), "{text:?} {run:?}");
            }
        }
    }

    #[test]
    fn every_digit_is_in_a_run(text in "[0-9 a-zé\\n]{0,200}") {
        let (mut at, mut digits) = (0, 0);
        while let Some(run) = Run::next(text.as_bytes(), at) {
            prop_assert!(run.before(1).is_none_or(|byte| !byte.is_ascii_digit()));
            (at, digits) = (run.end(), digits + run.length);
        }
        prop_assert_eq!(digits, text.bytes().filter(u8::is_ascii_digit).count());
    }
}
