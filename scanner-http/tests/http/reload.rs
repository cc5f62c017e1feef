//! Rules and policies while the service runs: a mistake changes nothing, and each verdict is of one set.

use std::{fs, thread};

use rustix::process::Signal;

use crate::service::{Answer, Client, Service};

const RULE: &str = r#"
[[rule]]
id = "ours/marker"
title = "Our marker"
why = "It is ours."
remedy = "None."
category = "secret.cloud"
severity = "high"
confidence = "high"
anchors = ["PURPLE-ELEPHANT"]
regex = 'PURPLE-ELEPHANT-[0-9]+'
examples = ["PURPLE-ELEPHANT-1"]
counterexamples = ["PURPLE-ELEPHANT"]
"#;

fn service(more: &str) -> Service {
    Service::start_with(&format!("rules = [\"FOLDER/ours.rules\"]\n{more}"), &[("ours.rules", RULE)])
}

fn reload(service: &Service) -> Answer {
    Client::to(service.admin).ask("POST /reload HTTP/1.1", b"")
}

fn rules(service: &Service) -> String {
    service.scan("audience=page", b"PURPLE-ELEPHANT-1").is_verdict()["scanner"]["rules"].as_str().unwrap().to_owned()
}

#[test]
fn a_mistake_changes_nothing_and_is_told_with_its_place() {
    let service = service("");
    let path = service.folder().join("ours.rules");
    let before = rules(&service);
    let huge = RULE.replace("PURPLE-ELEPHANT-[0-9]+", r"PURPLE-ELEPHANT-(?:(?:\w{100}){100}){100}");
    let everything = "[[rule]]\nid = \"ours/all\"\ntitle = \"a\"\nwhy = \"a\"\nremedy = \"a\"\ncategory = \"exec.script\"\n\
                      severity = \"high\"\nconfidence = \"high\"\nanchors = [\"rows\"]\nregex = 'rows'\nexamples = [\"rows\"]\ncounterexamples = [\"x\"]\n";
    for (what, text) in [
        ("cut off", RULE[..RULE.len() - 30].to_owned()),
        ("an unknown key", RULE.replace("severity", "serverity")),
        ("a regex without an end", huge),
        ("an id twice", RULE.repeat(2)),
        ("a rule on everything", everything.to_owned()),
        ("not UTF-8 or not there", String::new()),
    ] {
        if text.is_empty() {
            fs::remove_file(&path).unwrap();
        } else {
            fs::write(&path, &text).unwrap();
        }
        let answer = reload(&service);
        assert_eq!(answer.status, 400, "{what}: {}", answer.text());
        let said = answer.is_error(400, "bad_request");
        assert!(said.starts_with("nothing was changed: "), "{what}: {said}");
        let has_place = said.contains("ours.rules:") || said.contains("with these rules");
        assert!(has_place, "{what}: {said}");
        assert_eq!(rules(&service), before, "{what}");
    }
    assert!(service.admin("/metrics").text().contains("scanner_reloads_total{outcome=\"refused\"} 6\n"));
    assert_eq!(service.admin("/readyz").status, 200);
}

#[test]
fn a_good_set_is_used_from_the_next_scan_on() {
    let service = service("[workers]\ncount = 1\n");
    let path = service.folder().join("ours.rules");
    let before = rules(&service);
    assert_eq!(reload(&service).json()["changed"], false);
    service.signal_workers(Signal::STOP);
    thread::scope(|scope| {
        let under_way = scope.spawn(|| rules(&service));
        service.until("scanner_scans_running 1");
        fs::write(&path, RULE.replace("[0-9]+", "[0-9]")).unwrap();
        // The workers that stand still are of the old set, and so are all this signal reached.
        let answer = reload(&service);
        assert_eq!((answer.status, &answer.json()["changed"]), (200, &true.into()), "{}", answer.text());
        service.signal_workers(Signal::CONT);
        assert_eq!(under_way.join().unwrap(), before, "a scan under way ends with the set it began with");
    });
    let after = rules(&service);
    assert_ne!(after, before);
    assert_eq!(service.get("/v1/rules").json()["digest"], after.as_str());
    let page = "POST /reload HTTP/1.1\r\nOrigin: http://evil.example";
    Client::to(service.admin).ask(page, b"").is_error(403, "forbidden_origin");
    // Not where callers can reach it.
    service.send("POST /reload HTTP/1.1", b"").is_error(404, "not_found");
}

#[test]
fn a_signal_and_a_watch_do_the_same() {
    for (config, signal) in [("", true), ("watch = \"100ms\"\n", false)] {
        let service = service(config);
        let before = rules(&service);
        fs::write(service.folder().join("ours.rules"), RULE.replace("[0-9]+", "[0-9]")).unwrap();
        if signal {
            service.signal(Signal::HUP);
        }
        service.until("scanner_reloads_total{outcome=\"changed\"} 1");
        assert_ne!(rules(&service), before);
        fs::write(service.folder().join("ours.rules"), "[[").unwrap();
        if signal {
            service.signal(Signal::HUP);
        }
        service.logs("rules and policies stay as they were");
    }
}
