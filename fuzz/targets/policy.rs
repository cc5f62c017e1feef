//! Policy files: an error with its place or a policy, and no policy, whatever it says, lets through what was not seen
//! or what a worker died of.
#![no_main]

use std::{borrow::Cow, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use scanner_core::{
    Audience, Date, Decision, Facts, Input, Limits, Policy, Reason, Report, Resource, Scanner, verdict_json,
};
use scanner_fuzz::{ORDER, RULES, held, limits, policy_text};

static REPORTS: LazyLock<[Report; 4]> = LazyLock::new(|| {
    let scanner = Scanner::new(RULES.clone(), limits());
    let poor = Scanner::new(RULES.clone(), limits().with(Resource::Steps, 20_000));
    let mut died = Input::file("a.png", &b"\x89PNG"[..]);
    died.facts = Facts::of_death(Reason::Timeout, "no answer");
    [
        scanner.scan(Input::text("mean: 4.2\n")),
        scanner.scan(Input::text(format!("{ORDER}\nAKIAQQQQQQQQQQQQQQQQ <script>1</script>\n"))),
        poor.scan(Input::text("word ".repeat(20_000))),
        scanner.scan(died),
    ]
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed =
        held(|| (Policy::parse("a.toml", text, &|name| policy_text(name).map(Cow::Borrowed)), Limits::default()));
    let policy = match parsed {
        Ok(policy) => policy,
        Err(error) => {
            let said = error.to_string();
            assert!(said.starts_with("a.toml:") && said.len() < 8 << 10, "{said:.300}");
            return;
        }
    };
    let mut audiences = Audience::BUILT_IN.to_vec();
    audiences.extend(policy.audiences().map(|(audience, _)| audience.clone()).take(4));
    for (number, report) in REPORTS.iter().enumerate() {
        for now in [None, Some(Date::from_unix_seconds(1_800_000_000))] {
            let verdict = report.decide(&policy, &audiences, now);
            assert!(serde_json::from_str::<serde_json::Value>(&verdict_json(&verdict)).is_ok());
            for answer in verdict.audiences() {
                assert!(policy.enforced() == answer.would_be.is_none(), "{answer:?}");
                // A death and a limit are never answered below review, where the policy is enforced.
                if number >= 2 && policy.enforced() {
                    assert!(answer.decision >= Decision::Review, "{answer:?}");
                }
            }
        }
    }
});
