//! Personal data that its own structure proves: card numbers, bank accounts, national ids; and, as information only,
//! mail addresses, phone numbers and public network addresses.
//!
//! Ten digits in a row are everywhere in honest output. So a number counts only when its check digits are right *and* a
//! word beside it says what it is; a card number without such a word is information. Bank accounts carry enough structure
//! (ISO 13616) to stand alone.

use std::ops::Range;

use super::{About, Check, Said, Sink, saying};
use crate::finding::{Confidence, Rule, RuleText, Severity};

mod around;
mod card;
mod contact;
mod iban;
mod national;
mod number;

use around::{Around, Kinds};
use number::Run;

pub(super) const CHECK: Check =
    Check { rules: &[&CARD, &EMAIL, &IBAN, &IP, &NATIONAL_ID, &PHONE], about: About::Data, run };

static CARD: Rule = Rule::built_in(
    "pii/card",
    "pii.card",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A payment card number",
        why: "Its check digit (ISO/IEC 7812-1) and its issuer's range are right: whoever has it may charge the card.",
        remedy: "Mask all but the last four digits, and find out how it got into the output.",
    },
);
static EMAIL: Rule = Rule::built_in(
    "pii/email",
    "pii.email",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "A mail address",
        why: "It may name a person. Most output holds some, so this is information; a policy can raise it.",
        remedy: "Nothing, unless addresses must not leave here.",
    },
);
static IBAN: Rule = Rule::built_in(
    "pii/iban",
    "pii.iban",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A bank account number (IBAN)",
        why: "Its length and check digits (ISO 13616) are right: it is somebody's bank account.",
        remedy: "Mask it, and find out how it got into the output.",
    },
);
static IP: Rule = Rule::built_in(
    "pii/ip",
    "pii.ip",
    Severity::Info,
    Confidence::Medium,
    RuleText {
        title: "A public network address",
        why: "It may lead to a person or to a machine that is not known outside. Logs hold many, so this is information.",
        remedy: "Nothing, unless addresses must not leave here.",
    },
);
static NATIONAL_ID: Rule = Rule::built_in(
    "pii/national-id",
    "pii.national_id",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A national identification number",
        why: "Its check digits are right and a word beside it says what it is: it names one person for life.",
        remedy: "Mask it, and find out how it got into the output.",
    },
);
static PHONE: Rule = Rule::built_in(
    "pii/phone",
    "pii.phone",
    Severity::Info,
    Confidence::Medium,
    RuleText {
        title: "A phone number",
        why: "It may lead to a person. Most output holds some, so this is information; a policy can raise it.",
        remedy: "Nothing, unless phone numbers must not leave here.",
    },
);

fn run(text: &[u8], sink: &mut Sink<'_>) {
    numbers(text, sink);
    contact::mail(text, sink);
    contact::phone(text, sink);
}

/// Looks at every run of digits that does not continue another one.
fn numbers(text: &[u8], sink: &mut Sink<'_>) {
    let mut around = Around::of(text);
    let mut at = 0;
    while let Some(run) = Run::next(text, at) {
        at = run.end();
        if run.goes_on() || !run.may_begin() {
            continue;
        }
        let told = if let Some(card) = card::at(&run) {
            let said = if card.is_documented || !around.says(&card.range, Kinds::CARD) {
                Said {
                    severity: Some(Severity::Info),
                    ..saying(format!("Looks like a card number of {}", card.issuer))
                }
            } else {
                saying(format!("A payment card number of {}", card.issuer))
            };
            Some((&CARD, card.range, said))
        } else if let Some(account) = iban::at(&run) {
            let severity = account.is_documented.then_some(Severity::Info);
            Some((&IBAN, account.range, Said { severity, ..saying(format!("An IBAN of {}", account.country)) }))
        } else if let Some((range, id)) = national::at(&run, &mut around) {
            Some((&NATIONAL_ID, range, saying(format!("A national identification number: {}", id.name))))
        } else {
            contact::address(&run).map(|range| (&IP, range, Said::default()))
        };
        if let Some((rule, range, said)) = told {
            at = at.max(range.end);
            hide(rule, &range, sink);
            sink.find(rule, text, range, said);
        }
    }
}

/// What is told as information is ordinary text: an attacker's address in an excerpt is evidence.
fn hide(rule: &Rule, range: &Range<usize>, sink: &mut Sink<'_>) {
    if rule.severity > Severity::Info {
        sink.hide(range.clone());
    }
}

#[cfg(test)]
mod tests;
