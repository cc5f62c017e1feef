//! Policy files: what they may say, how mistakes are told, how they extend each other.

use super::*;

/// The front door: the body starts in line 4 of `policy.toml`.
#[track_caller]
fn refused(body: &str, expect: &str) {
    let error = Policy::parse("policy.toml", &with_head(body), &shipped).expect_err(body);
    assert_eq!(error.to_string(), format!("policy.toml:{expect}"), "{body}");
}

#[test]
fn the_message_of_the_contract() {
    let text = with_head(
        "otherwise = 'review'\n\n[[when]]\ncategory = 'pii.*'\nthen = 'block'\n\n[[when]]\n\n  serverity = 'high'\n",
    );
    let error = Policy::parse("policy.toml", &text, &shipped).unwrap_err();
    assert_eq!(error.to_string(), r#"policy.toml:12:3: unknown key "serverity", did you mean "severity"?"#);
}

#[test]
fn unknown_words_are_told_with_their_place() {
    for (line, expect) in [
        ("then = 'blok'", r#"5:8: unknown decision "blok", did you mean "block"?"#),
        ("severity = 'hihg'", r#"5:12: unknown severity "hihg", did you mean "high"?"#),
        ("severity = ['high', '>=medum']", r#"5:21: unknown severity "medum", did you mean "medium"?"#),
        ("severity = '>medium'", r#"5:12: unknown severity ">medium", did you mean "medium"?"#),
        ("severity = '>=<=low'", r#"5:12: unknown severity "<=low", did you mean "low"?"#),
        ("severity = 5", r#"5:12: "severity" must be a string, found integer"#),
        ("severity = []", r#"5:1: "severity" is empty: nothing would ever fit"#),
        ("confidence = '>=critical'", r#"5:14: unknown confidence "critical", expected one of: low, medium, high"#),
        ("evidence = 'used'", r#"5:12: unknown evidence "used", did you mean "use"?"#),
        ("trust = 'user'", r#"5:9: unknown trust "user", expected one of: tool, model, caller"#),
        ("risk = 'activ'", r#"5:8: unknown risk "activ", did you mean "active"?"#),
        ("text = 'yes'", r#"5:8: "text" must be true or false, found string"#),
        ("category = 'secrets.*'", r#"5:12: unknown category "secrets.*", did you mean "secret.*"?"#),
        (
            "category = 'injection.overide'",
            r#"5:12: unknown category "injection.overide", did you mean "injection.override"?"#,
        ),
        (
            "category = 'url.secret'",
            r#"5:12: unknown category "url.secret", expected one of: url.exfiltration, url.internal, url.credentials, url.lookalike"#,
        ),
        ("category = []", r#"5:1: "category" is empty: nothing would ever fit"#),
        ("type = []", r#"5:1: "type" is empty: nothing would ever fit"#),
        ("audience = []", r#"5:1: "audience" is empty: nothing would ever fit"#),
        ("audience = 'modle'", r#"5:12: unknown audience "modle", did you mean "model"?"#),
        (
            "audience = ['page', 'store']",
            r#"5:21: unknown audience "store", expected one of: page, terminal, model, download, *"#,
        ),
        ("deliver = 'original'", r#"5:11: unknown deliver "original", expected one of: nothing"#),
        ("name = 'no_cleaner'", r#"5:8: "no_cleaner" already means something in verdicts"#),
        ("name = 'a b'", r#"5:8: a name is 1 to 64 letters, digits, "-", "_" or ".", found "a b""#),
        ("name = ''", r#"5:8: a name is 1 to 64 letters, digits, "-", "_" or ".", found """#),
        (
            "colour = 1",
            r#"5:1: unknown key "colour", expected one of: name, category, rule, severity, confidence, evidence, gap, trust, risk, type, text, audience, then, deliver"#,
        ),
    ] {
        let rest = match line.split(' ').next() {
            Some("then") => "category = '*'",
            Some("category") => "then = 'allow'",
            _ => "category = '*'\nthen = 'allow'",
        };
        refused(&format!("[[when]]\n{line}\n{rest}\n"), expect);
    }
}

#[test]
fn gaps_have_their_own_words() {
    for (line, expect) in [
        ("gap = 'encypted'", r#"5:7: unknown gap "encypted", did you mean "encrypted"?"#),
        ("gap = 'limit:dept'", r#"5:7: unknown gap "limit:dept", did you mean "limit:depth"?"#),
        ("gap = []", r#"5:1: "gap" is empty: nothing would ever fit"#),
        (
            "gap = 'encrypted'\nseverity = 'high'",
            r#"6:1: a clause about a gap cannot have "severity", which is about findings"#,
        ),
        (
            "category = 'pii.*'\ngap = 'encrypted'",
            r#"5:1: a clause about a gap cannot have "category", which is about findings"#,
        ),
    ] {
        refused(&format!("[[when]]\n{line}\nthen = 'review'\n"), expect);
    }
}

#[test]
fn the_floor_is_refused_where_it_is_certain() {
    let floored =
        |gap: &str| format!(r#""{gap}" is never answered below "review": what was not seen could be anything"#);
    for (gaps, told) in [
        ("'timeout'", "timeout"),
        ("'worker_died'", "worker_died"),
        ("'limit:depth'", "limit:depth"),
        ("'limit:*'", "limit:*"),
        ("'t*t'", "t*t"),
        ("['encrypted', 'timeout']", "timeout"),
    ] {
        for then in ["allow", "sanitize"] {
            refused(&format!("[[when]]\ngap = {gaps}\nthen = '{then}'\n"), &format!("6:8: {}", floored(told)));
        }
        for then in ["review", "block"] {
            policy(&format!("[[when]]\ngap = {gaps}\nthen = '{then}'\n"));
        }
    }
    policy("[[when]]\ngap = '*'\nthen = 'allow'\n");
}

#[test]
fn clauses_must_say_something() {
    let nothing = "4:1: a clause needs a condition; for what nobody lists there is \"otherwise\"";
    refused("[[when]]\nthen = 'block'\n", nothing);
    refused("[[when]]\nname = 'x'\nthen = 'block'\ndeliver = 'nothing'\n", nothing);
    refused("[[when]]\ncategory = 'pii.*'\n", "4:1: \"then\" is missing");
    refused(
        "[[when]]\nname = 'x'\nrisk = 'inert'\nthen = 'allow'\n[[when]]\nname = 'x'\nrisk = 'active'\nthen = 'allow'\n",
        "9:8: two clauses are named \"x\"",
    );
}

#[test]
fn exceptions_must_say_what_and_why() {
    for (lines, expect) in [
        ("rule = 'a/b'", "4:1: \"reason\" is missing"),
        ("rule = 'a/b'\nreason = ' '", "6:10: \"reason\" is empty: say why this may pass"),
        ("reason = 'x'", "4:1: an exception needs \"fingerprint\", \"rule\" or \"sha256\""),
        ("rule = 'a/*'\nreason = 'x'", "5:8: an exception names one rule; for many there is [[when]]"),
        (
            "fingerprint = '0123456789abcdef0123456789abcdeg'\nreason = 'x'",
            "5:15: \"fingerprint\" must be 32 lower-case hexadecimal digits",
        ),
        ("fingerprint = 'AB'\nreason = 'x'", "5:15: \"fingerprint\" must be 32 lower-case hexadecimal digits"),
        ("sha256 = 'ab'\nreason = 'x'", "5:10: \"sha256\" must be 64 lower-case hexadecimal digits"),
        (
            "rule = 'x'\nreason = 'x'\nexpires = '2027-01-31'",
            "7:11: \"expires\" must be a date like 2027-01-31, found string",
        ),
        ("rule = 'x'\nreason = 'x'\nexpire = 2027-01-31", "7:1: unknown key \"expire\", did you mean \"expires\"?"),
    ] {
        refused(&format!("[[except]]\n{lines}\n"), expect);
    }
    let day = with_head("[[except]]\nrule = 'x'\nreason = 'x'\nexpires = 2027-02-29\n");
    assert!(Policy::parse("p", &day, &shipped).is_err());
}

#[test]
fn the_head_is_checked() {
    for (text, expect) in [
        ("name = 'x'", "p:1:1: \"schema\" is missing"),
        (
            "schema = 'scanner.policy/v2'\nname = 'x'",
            "p:1:10: unknown schema \"scanner.policy/v2\", expected \"scanner.policy/v1\"",
        ),
        ("schema = 'scanner.policy/v1'", "p:1:1: \"name\" is missing"),
        (
            "schema = 'scanner.policy/v1'\nname = 'a/b'",
            "p:2:8: a name is 1 to 64 letters, digits, \"-\", \"_\" or \".\", found \"a/b\"",
        ),
    ] {
        assert_eq!(Policy::parse("p", text, &shipped).unwrap_err().to_string(), expect);
    }
    refused("otherwize = 'block'", "4:1: unknown key \"otherwize\", did you mean \"otherwise\"?");
    refused("otherwise = 'deny'", "4:13: unknown decision \"deny\", expected one of: allow, sanitize, review, block");
    refused("incomplete = 'blocked'", "4:14: unknown decision \"blocked\", did you mean \"block\"?");
    refused("enforced = 1", "4:12: \"enforced\" must be true or false, found integer");
}

#[test]
fn audiences_are_checked() {
    refused(
        "[audiences.model]\nmax = 1\n",
        "5:1: unknown key \"max\", expected one of: max_text_bytes, keep, inline, sandbox, like",
    );
    refused("[audiences.model]\nkeep = 'tial'\n", "5:8: unknown keep \"tial\", did you mean \"tail\"?");
    refused(
        "[audiences.model]\nmax_text_bytes = -1\n",
        "5:18: \"max_text_bytes\" must be a whole number, found integer",
    );
    refused("[audiences.page]\nlike = 'model'\n", "5:8: \"like\" is for audiences of your own, \"page\" is built in");
    refused(
        "[audiences.store]\nlike = 'vault'\n",
        "5:8: unknown audience \"vault\", expected one of: page, terminal, model, download",
    );
    refused("[audiences.'a b']\n", "4:12: a name is 1 to 64 letters, digits, \"-\", \"_\" or \".\", found \"a b\"");
}

#[test]
fn audiences_are_read_and_joined_with_those_below() {
    let own = policy(
        "extends = 'default'\n[audiences.model]\nkeep = 'tail'\n\
         [audiences.store]\nlike = 'download'\nmax_text_bytes = 10\ninline = ['image/*', 'txt']\n\
         sandbox = ['text/*', 'svg']\n",
    );
    let names: Vec<&str> = own.audiences().map(|(audience, _)| audience.name()).collect();
    assert_eq!(names, ["page", "terminal", "model", "download", "store"]);
    let model = own.settings(&Audience::MODEL).unwrap();
    assert_eq!((model.max_text_bytes, model.keep), (Some(65_536), Keep::Tail));
    assert!(model.may_inline("html", "text/html"));
    let store = own.settings(&Audience::named("store")).unwrap();
    assert_eq!((store.max_text_bytes, store.keep), (Some(10), Keep::HeadTail));
    assert!(store.may_inline("png", "image/png") && store.may_inline("txt", "text/plain"));
    assert!(!store.may_inline("html", "text/html"));
    assert!(store.is_sandboxed("html", "text/html") && store.is_sandboxed("svg", "image/svg+xml"));
    assert!(!store.is_sandboxed("png", "image/png") && !model.is_sandboxed("html", "text/html"));
    assert_eq!(named("default").settings(&Audience::MODEL).unwrap().keep, Keep::HeadTail);

    let below = with_head("[audiences.store]\nlike = 'page'\nkeep = 'tail'\ninline = 'png'\n");
    let text = with_head("extends = 'below'\n[audiences.store]\nmax_text_bytes = 1\n");
    let joined = Policy::parse("p", &text, &|_| Some(below.clone().into())).unwrap();
    let store = joined.settings(&Audience::named("store")).unwrap();
    assert_eq!((store.max_text_bytes, store.keep, &store.like), (Some(1), Keep::Tail, &Some(Audience::PAGE)));
    assert!(!store.may_inline("html", "text/html"));
}

#[test]
fn a_decision_is_found_by_its_word_alone() {
    assert_eq!(Decision::ALL.map(|decision| Decision::named(decision.name())), Decision::ALL.map(Some));
    assert_eq!(["", "Allow", "deny"].map(Decision::named), [None; 3]);
}

#[test]
fn ones_own_clauses_come_first_and_the_rest_is_joined() {
    let below = "schema = 'scanner.policy/v1'\nname = 'below'\notherwise = 'block'\nincomplete = 'review'\nenforced = false\n\
                 [[when]]\nname = 'theirs'\ncategory = 'pii.*'\nthen = 'block'\n\
                 [[except]]\nrule = 'test/pii.iban'\nreason = 'r'\n";
    let base = |name: &str| (name == "below").then(|| below.into());
    let parse = |body: &str| Policy::parse("p", &with_head(body), &base).unwrap();
    let own = parse(
        "extends = 'below'\nenforced = true\n[[when]]\nname = 'mine'\ncategory = 'pii.ip'\nthen = 'sanitize'\n\
         [[except]]\nrule = 'test/pii.email'\nreason = 'r'\n",
    );
    for (category, expect) in [
        ("pii.ip", Decision::Sanitize),
        ("pii.card", Decision::Block),
        ("pii.iban", Decision::Allow),
        ("pii.email", Decision::Allow),
        ("net.link", Decision::Block),
    ] {
        let case = case(vec![artifact(0)], vec![finding("f0", Some(0), category, Severity::Medium)], vec![]);
        assert_eq!(decide_for(&own, &case, &Audience::PAGE).decision, expect, "{category}");
    }
    let unseen = Case::default();
    assert_eq!(own.decide(&unseen, &[Audience::PAGE], None).decision, Decision::Review);
    assert!(own.enforced() && !parse("extends = 'below'").enforced());
    let other = parse("extends = 'below'\notherwise = 'allow'\nincomplete = 'block'");
    let answer = &other.decide(&unseen, &[Audience::PAGE], None).audiences[0];
    assert_eq!((answer.would_be, answer.decision), (Some(Decision::Block), Decision::Allow));
}

#[test]
fn what_is_below_is_bounded_and_never_itself() {
    let base = |name: &str| -> Option<Cow<'static, str>> {
        let below = match name {
            "a" => "b".to_owned(),
            "b" => "a".to_owned(),
            "broken" => return Some("schema = 3".into()),
            deep => format!("{deep}x"),
        };
        Some(format!("schema = 'scanner.policy/v1'\nname = 'n'\nextends = '{below}'\n").into())
    };
    for (extends, expect) in [
        ("a", "b:3:11: \"a\" extends itself: a -> b -> a"),
        ("d", "dxxx:3:11: more than 4 policies below each other: d -> dx -> dxx -> dxxx -> dxxxx"),
        ("broken", "broken:1:10: \"schema\" must be a string, found integer"),
    ] {
        let error = Policy::parse("p", &with_head(&format!("extends = '{extends}'")), &base).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    refused("extends = 'defualt'", "4:11: there is no policy \"defualt\" to extend");
}

#[test]
fn the_digest_is_of_the_text_and_of_what_is_below() {
    let digest = |text: &str, below: &'static str| {
        Policy::parse("p", text, &|_| Some(below.into())).unwrap().digest().to_owned()
    };
    let (head, other) =
        ("schema = 'scanner.policy/v1'\nname = 'b'\n", "schema = 'scanner.policy/v1'\nname = 'b'\n# x\n");
    let text = with_head("extends = 'b'\n");
    assert_eq!(digest(&text, head), digest(&text, head));
    assert_eq!(digest(&text, head).len(), 64);
    assert_ne!(digest(&text, head), digest(&text, other));
    assert_ne!(digest(&text, head), digest(&with_head("extends = 'b'\n#\n"), head));
    assert_ne!(named("default").digest(), named("report-only").digest());
}

#[test]
fn shipped_policies_are_named_as_they_are_listed() {
    for (name, _) in scanner_rules::POLICIES {
        let policy = named(name);
        assert_eq!(policy.name(), *name);
        assert_eq!(policy.enforced(), *name != "report-only");
        assert!(!policy.uses_date());
        assert!(policy.clauses.iter().all(|clause| !clause.name.contains('/')), "{name}: a clause without a name");
    }
}
