//! The parts of `docs/` that are made from the rules. `BLESS=1 cargo test -p scanner-tests --test docs` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::{borrow::Cow, collections::BTreeMap, fmt::Write, fs};

use scanner_core::{Audience, Decision, Input, Limits, Policy, Rule, RuleSet, Scanner, TextRule, rules_in_code};
use scanner_tests::{root, today};

/// Lines between which a page is made, not written.
const FROM: &str = "<!-- made from the rules: BLESS=1 cargo test -p scanner-tests --test docs -->\n";
const TO: &str = "<!-- end -->\n";

fn built_in() -> RuleSet {
    RuleSet::built_in(scanner_rules::FILES).unwrap()
}

/// Compares the made part of a page with what it should be, or writes it.
fn check(page: &str, made: &str) {
    let path = root().join("docs").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(FROM).expect("the page has a made part");
    let (found, after) = rest.split_once(TO).expect("the made part ends");
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{FROM}{made}{TO}{after}")).unwrap();
    } else {
        assert!(
            found == made,
            "docs/{page} is not what the rules say: BLESS=1 cargo test -p scanner-tests --test docs"
        );
    }
}

/// Every rule, by id, with the file it stands in when it stands in one.
fn all(rules: &RuleSet) -> BTreeMap<String, (Rule, Option<&TextRule>)> {
    let loaded = rules.rules().map(|rule| (rule.rule.id.to_string(), ((*rule.rule).clone(), Some(rule))));
    let coded = rules_in_code().map(|rule| (rule.id.to_string(), (rule.clone(), None)));
    loaded.chain(coded).collect()
}

/// Fit for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

#[test]
fn the_reference_of_rules() {
    let rules = built_in();
    let mut families: BTreeMap<String, Vec<(Rule, Option<&TextRule>)>> = BTreeMap::new();
    for (id, rule) in all(&rules) {
        let family = id.split('/').next().unwrap().to_owned();
        families.entry(family).or_default().push(rule);
    }
    let mut made = String::new();
    for (family, rules) in families {
        writeln!(made, "\n## {family}\n\n| rule | category | severity | confidence | finds | why it matters |")
            .unwrap();
        writeln!(made, "|---|---|---|---|---|---|").unwrap();
        for (rule, text) in rules {
            let beside = if text.is_some_and(|text| text.weak) { ", only beside another one" } else { "" };
            writeln!(
                made,
                "| `{}` | `{}` | {} | {} | {}{beside} | {} |",
                rule.id,
                rule.category,
                rule.severity.name(),
                rule.confidence.name(),
                cell(&rule.title),
                cell(&rule.why),
            )
            .unwrap();
        }
    }
    made.push('\n');
    check("rules.md", &made);
}

#[test]
fn the_kinds_of_secrets_and_personal_data() {
    let rules = built_in();
    let mut made = String::from("\n| kind | category | severity | proof | told in excerpts |\n|---|---|---|---|---|\n");
    let mut count = 0;
    for (id, (rule, text)) in all(&rules) {
        if !(rule.category.starts_with("secret.") || rule.category.starts_with("pii.")) {
            continue;
        }
        count += 1;
        let proof = match text {
            None => "structure, in code".to_owned(),
            Some(text) => {
                let mut parts = vec!["shape".to_owned()];
                if let Some(proof) = text.proof {
                    parts.push(proof.name().to_owned());
                }
                if text.entropy_tenths > 0 {
                    parts.push(format!("entropy {}.{}", text.entropy_tenths / 10, text.entropy_tenths % 10));
                }
                parts.join(", ")
            }
        };
        let shown = match text {
            Some(text) if text.public_prefix > 0 => format!("first {} characters", text.public_prefix),
            _ if rule.severity.name() == "info" => "as it stands".to_owned(),
            _ => "nothing".to_owned(),
        };
        writeln!(
            made,
            "| {} (`{id}`) | `{}` | {} | {proof} | {shown} |",
            cell(&rule.title),
            rule.category,
            rule.severity.name()
        )
        .unwrap();
    }
    write!(made, "\n{count} kinds.\n\n").unwrap();
    check("secrets.md", &made);
}

/// The examples of a page in TOML, in their order.
fn examples(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn parsed(policy: &str) -> Policy {
    let text = |name: &str| scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    Policy::parse("example.toml", policy, &|name| text(name).map(Cow::Borrowed)).unwrap()
}

#[test]
fn the_examples_of_the_page_on_secrets_do_what_it_says() {
    let [policy, rule, exception] = examples("secrets.md").try_into().unwrap();
    let decided = |rules: RuleSet, text: &str, policy: &Policy| {
        let report = Scanner::new(rules, Limits::default()).scan(Input::text(text.to_owned()));
        let verdict = report.decide(policy, &[Audience::PAGE, Audience::MODEL, Audience::DOWNLOAD], Some(today()));
        let fingerprint = report.findings.first().map(|finding| finding.fingerprint.to_string());
        (verdict.audiences().iter().map(|audience| audience.decision).collect::<Vec<_>>(), fingerprint)
    };
    // The policy raises what is information in the default one, for the two audiences it names.
    let mail = "Write to ann.b@mail.example.org, please.\n";
    let default = parsed("schema = \"scanner.policy/v1\"\nname = \"plain\"\nextends = \"default\"\n");
    assert_eq!(decided(built_in(), mail, &default).0, [Decision::Allow; 3]);
    assert_eq!(decided(built_in(), mail, &parsed(&policy)).0, [Decision::Review, Decision::Review, Decision::Allow]);
    // The rule passes its own examples and finds its key beside the rules built in.
    assert_eq!(RuleSet::parse(&[("own.toml", &rule)]).unwrap().test(), []);
    let rules = built_in().with(&[("own.toml", &rule)]).unwrap();
    let key = "key: bldk1_q8Zr4TkV2mXw7LpY9dNs3BhJ6cGf1Ra5\n";
    let (decisions, fingerprint) = decided(rules.clone(), key, &default);
    assert!(decisions.iter().all(|decision| *decision > Decision::Allow), "{decisions:?}");
    // The exception leaves that key out, and no other.
    let exception = exception.replace('…', &fingerprint.unwrap());
    let lenient = format!("schema = \"scanner.policy/v1\"\nname = \"lenient\"\nextends = \"default\"\n{exception}");
    let lenient = parsed(&lenient);
    assert_eq!(decided(rules.clone(), key, &lenient).0, [Decision::Allow; 3]);
    let other = key.replace("q8Zr", "r8Zq");
    assert!(decided(rules, &other, &lenient).0.iter().all(|decision| *decision > Decision::Allow));
}
