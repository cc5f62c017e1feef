//! Who may ask, and for what.

use crate::service::{Service, refuses};

/// A token and its lines of the configuration.
fn token(token: &str, tenant: &str, more: &str) -> String {
    let digest = scanner_core::sha256_hex(token.as_bytes());
    format!("[[tokens]]\ntenant = \"{tenant}\"\nsha256 = \"{digest}\"\n{more}\n")
}

fn bearer(path: &str, token: &str) -> String {
    format!("{path} HTTP/1.1\r\nAuthorization: Bearer {token}")
}

#[test]
fn tokens_name_a_tenant_and_its_policies() {
    let tokens =
        token("aaa", "one", "") + &token("bbb", "two", "policy = \"permissive\"\npolicies = [\"default\", \"strict\"]");
    let service = Service::start(&tokens);
    for (head, detail) in [
        ("GET /v1/rules HTTP/1.1".to_owned(), "send Authorization: Bearer TOKEN"),
        (bearer("GET /v1/rules", "aab"), "the token is not known"),
        (bearer("GET /v1/rules", ""), "send Authorization: Bearer TOKEN"),
        (bearer("GET /v1/policies", "AAA"), "the token is not known"),
        (bearer("GET /v1/capabilities", "aaa\r\nAuthorization: Bearer aaa"), "send Authorization: Bearer TOKEN"),
        ("GET /v1/rules HTTP/1.1\r\nAuthorization: Basic aaa".to_owned(), "send Authorization: Bearer TOKEN"),
        ("POST /v1/scan HTTP/1.1".to_owned(), "send Authorization: Bearer TOKEN"),
    ] {
        let answer = service.send(&head, b"");
        assert_eq!(answer.is_error(401, "unauthorized"), detail, "{head}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"scanner\""));
    }
    for open in ["/docs", "/openapi.json"] {
        assert_eq!(service.get(open).status, 200, "{open}");
    }
    let policies = |token| service.send(&bearer("GET /v1/policies", token), b"").json();
    assert_eq!(policies("aaa")["policies"].as_array().unwrap().len(), 1);
    assert_eq!(policies("bbb")["default"], "permissive");
    let scan =
        |token, query: &str| service.send(&bearer(&format!("POST /v1/scan?audience=page{query}"), token), b"hello");
    assert_eq!(scan("aaa", "").is_verdict()["scanner"]["policy"]["name"], "default");
    assert_eq!(scan("bbb", "").is_verdict()["scanner"]["policy"]["name"], "permissive");
    assert_eq!(scan("bbb", "&policy=strict").is_verdict()["scanner"]["policy"]["name"], "strict");
    for (token, policy) in [("aaa", "permissive"), ("aaa", "strict"), ("bbb", "report-only"), ("bbb", "nobody")] {
        scan(token, &format!("&policy={policy}")).is_error(403, "forbidden_policy");
    }
    let log = service.log();
    assert!(log.iter().any(|line| line.contains("\"tenant\":\"two\"")), "{log:?}");
}

#[test]
fn a_rate_is_kept() {
    let service = Service::start(&token("aaa", "one", "rate = 1"));
    let answers: Vec<_> = (0..12).map(|_| service.send(&bearer("POST /v1/scan?audience=page", "aaa"), b"x")).collect();
    assert!(answers[..10].iter().all(|answer| answer.status == 200));
    let limited = answers.iter().find(|answer| answer.status == 429).unwrap();
    limited.is_error(429, "rate");
    assert_eq!(limited.header("retry-after"), Some("1"));
}

#[test]
fn pages_of_other_sites_are_refused_where_there_are_no_tokens() {
    let service = Service::start("");
    let scan = |origin: &str| service.send(&format!("POST /v1/scan?audience=page HTTP/1.1\r\nOrigin: {origin}"), b"x");
    scan("https://evil.example").is_error(403, "forbidden_origin");
    scan("null").is_error(403, "forbidden_origin");
    scan("http://localhost").is_verdict();
}

#[track_caller]
fn check(config: &str, expect: &str) {
    let (code, said) = refuses(config);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.starts_with(&format!("scanner-http: {expect}")), "{said}");
}

#[test]
fn a_check_reads_all_files_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (config, policy) = (folder.path().join("scanner.toml"), folder.path().join("ours.toml"));
    std::fs::write(&config, format!("policies = [{policy:?}]\npolicy = \"ours\"\n")).unwrap();
    let check = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scanner-http"));
        let ran = command.arg("--check").env("SCANNER_CONFIG", &config).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let text = "schema = \"scanner.policy/v1\"\nname = \"ours\"\nextends = \"strict\"\n";
    std::fs::write(&policy, text).unwrap();
    assert_eq!(check(), (Some(0), "good\n".to_owned(), String::new()));
    std::fs::write(&policy, format!("{text}[[when]]\nserverity = \"high\"\n")).unwrap();
    let (code, _, said) = check();
    assert_eq!(code, Some(64));
    assert!(said.contains("ours.toml:5:1: unknown key \"serverity\", did you mean \"severity\"?"), "{said}");
    let missing =
        std::process::Command::new(env!("CARGO_BIN_EXE_scanner-http")).args(["--config", "/nowhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(64));
}

#[test]
fn it_does_not_start_with_a_mistake() {
    check(
        "listen = \"0.0.0.0:0\"\n",
        "listen = \"0.0.0.0:0\" is reachable from other machines and there are no tokens",
    );
    check("polici = \"x\"\n", "scanner.toml:3:1: unknown key \"polici\", expected one of \"listen\", ");
    check("policy = \"nobody\"\n", "there is no policy \"nobody\", only default, permissive, report-only, strict");
    check("policies = [\"FOLDER/none.toml\"]\n", "none.toml: No such file");
    check(&token("a", "bad name", ""), "token of \"bad name\": a tenant is 1 to 64 letters");
    check("[[tokens]]\ntenant = \"a\"\nsha256 = \"secret\"\n", "token of \"a\": sha256 must be 64 hexadecimal digits");
    check(&(token("a", "one", "") + &token("a", "two", "")), "token of \"two\": the same token is given twice");
    check(
        &token("a", "one", "policy = \"default\"\npolicies = [\"permissive\"]"),
        "token of \"one\": policy \"permissive\" is looser than \"default\": it answers ",
    );
    check(
        &token("a", "one", "policies = [\"report-only\"]"),
        "token of \"one\": policy \"report-only\" is looser than \"default\": it is not enforced",
    );
    check("[limits]\nenvelope_bytes = \"64 parsecs\"\n", "scanner.toml:4:18: invalid value");
}
