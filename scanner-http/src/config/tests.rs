use scanner_core::{Limits, Resource};

use super::*;

fn read(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scanner.toml");
    std::fs::write(&path, text).unwrap();
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let wrong = |error: ConfigError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    Config::read(Some(&path), environment).map_err(wrong)
}

#[track_caller]
fn check(text: &str, environment: &[(&str, &str)], expect: &str) {
    let error = read(text, environment).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn nothing_set_is_the_defaults() {
    let config = Config::read(None, []).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.limits(), Limits::default());
}

#[test]
fn units_are_read() {
    let config =
        read("[limits]\nenvelope_bytes = \"2MiB\"\nwall = \"3s\"\ndepth = 4\n[body]\nidle = \"250ms\"\n", &[]).unwrap();
    assert_eq!(config.limits().get(Resource::EnvelopeBytes), 2 << 20);
    assert_eq!(config.limits().get(Resource::Wall), 3);
    assert_eq!(config.limits().get(Resource::Depth), 4);
    assert_eq!(config.body.idle.0, Duration::from_millis(250));
}

#[test]
fn the_environment_is_over_the_file() {
    let set = [
        ("SCANNER__BODY__PACE", "7"),
        ("SCANNER__LISTEN", "[::1]:9"),
        ("SCANNER__POLICIES", "['a.toml']"),
        ("OTHER", "1"),
    ];
    let config = read("[body]\npace = 3\nuploads = 5\n", &set).unwrap();
    assert_eq!((config.body.pace, config.body.uploads), (7, 5));
    assert_eq!(config.listen.to_string(), "[::1]:9");
    assert_eq!(config.policies, [PathBuf::from("a.toml")]);
}

#[test]
fn a_program_that_reads_letters_turns_that_on() {
    let pixels = |text: &str| read(text, &[]).unwrap().limits().get(Resource::LetterPixels);
    assert_eq!(pixels(""), 0);
    assert_eq!(pixels("[letters]\nprogram = ''\n"), 0);
    assert_eq!(pixels("[letters]\nprogram = 'tesseract'\n"), 16 << 20);
    assert_eq!(pixels("[letters]\nprogram = 'tesseract'\npixels = 9\n"), 9);
    assert_eq!(pixels("[limits]\nletter_pixels = 7\n[letters]\nprogram = 'tesseract'\n"), 7);
    check("[letters]\nmost = 0\n", &[], "letters.most, letters.at_once and letters.pixels must be at least 1");
}

#[test]
fn mistakes_are_told_with_their_place() {
    check(
        "listen = '127.0.0.1:0'\nlisten_on = 3\n",
        &[],
        "scanner.toml:2:1: unknown key \"listen_on\", expected one of \"listen\"",
    );
    check("[body]\n  idle = 3\n", &[], "scanner.toml:2:10: invalid type: integer \"3\", expected a time like \"10s\"");
    check("[body]\nidle = '3 weeks'\n", &[], "scanner.toml:2:8: invalid value");
    check("[limits]\ndeph = 3\n", &[], "scanner.toml:2:1: unknown limit \"deph\", expected one of: envelope_bytes");
    check("[limits]\ndepth = -3\n", &[], "scanner.toml:2:9: invalid value");
    check("[[tokens]]\ntenant = 'a'\n", &[], "scanner.toml:1:1: missing field \"sha256\"");
    check("a = [", &[], "scanner.toml:1:6: ");
    check("", &[("SCANNER__BODI__IDLE", "3s")], "SCANNER__BODI__IDLE: unknown key \"bodi\"");
    check("", &[("SCANNER__BODY__IDLE", "3")], "SCANNER__BODY__IDLE: invalid type: integer");
}

#[test]
fn beyond_loopback_needs_a_token() {
    check("listen = '0.0.0.0:80'\n", &[], "listen = \"0.0.0.0:80\" is reachable from other machines");
    check("listen = '[::]:80'\n", &[], "listen = \"[::]:80\" is reachable");
    let token = format!("listen = '0.0.0.0:80'\n[[tokens]]\ntenant = 'a'\nsha256 = '{}'\n", "0".repeat(64));
    assert!(read(&token, &[]).is_ok());
}

/// docs/configuration.md has the defaults, and every key under its heading.
#[test]
fn every_key_is_documented_with_its_default() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md")).unwrap();
    let defaults = document.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let mut all = read(defaults, &[]).unwrap();
    all.workers.count = Workers::default().count;
    assert_eq!(format!("{all:?}"), format!("{:?}", Config::default()));
    for (section, heading) in [
        ("", "### Top level\n"),
        ("[workers]\n", "### `[workers]`\n"),
        ("[clamav]\n", "### `[clamav]`\n"),
        ("[journal]\n", "### `[journal]`\n"),
        ("[body]\n", "### `[body]`\n"),
        ("[connections]\n", "### `[connections]`\n"),
        ("[shutdown]\n", "### `[shutdown]`\n"),
        ("[log]\n", "### `[log]`\n"),
        ("[[tokens]]\n", "### `[[tokens]]`\n"),
    ] {
        let error = read(&format!("{section}zzzz = 1\n"), &[]).unwrap_err();
        let known: Vec<&str> = error.split_once("expected ").unwrap().1.split('"').skip(1).step_by(2).collect();
        let text = document.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let rows =
            text.split("\n### ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<_>>(), known, "{heading}");
    }
    for resource in Resource::ALL {
        assert!(document.contains(&format!("`{resource}`")), "{resource}");
    }
}
