//! Packages with one thing each that acts; what is left of them.

use proptest::prelude::*;

use crate::{
    format::{
        cleaning::{Uncleanable, testing},
        odf::FORMAT,
        ooxml::tests::zipped,
        testing::look,
        zip,
    },
    limits::{Limits, Resource},
};

const MANIFEST: &str = "<manifest:manifest><manifest:file-entry manifest:full-path=\"/\"/>\
                        <manifest:file-entry manifest:full-path=\"content.xml\"/>\
                        <manifest:file-entry manifest:full-path=\"Basic/x.xml\"/>\
                        <manifest:file-entry manifest:full-path=\"Object 1/\"/></manifest:manifest>";

fn package(content: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let content = format!("<office:document-content><office:body>{content}</office:body></office:document-content>");
    let mut members = vec![
        ("META-INF/manifest.xml", MANIFEST.as_bytes()),
        ("content.xml", content.as_bytes()),
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
    ];
    members.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    zipped(&members)
}

/// Names and texts of the members of what is left, which the judge has nothing to say about.
fn cleaned(bytes: &[u8]) -> Vec<(String, String)> {
    let (clean, _) = testing::clean(&FORMAT, "odt", bytes).unwrap();
    let seen = look(&FORMAT, "odt", &clean);
    let facts: Vec<String> = seen.facts().into_iter().filter(|fact| !fact.starts_with("info")).collect();
    assert_eq!(facts, Vec::<String>::new());
    members(&clean)
}

fn members(clean: &[u8]) -> Vec<(String, String)> {
    let seen = look(&zip::FORMAT, "zip", clean);
    let limits = Limits::default();
    let members = seen.children.iter().map(|child| {
        let mut budget = crate::limits::Budget::new(limits);
        let unpacked = crate::inflate::unpack(&child.source, &mut budget);
        (child.name.clone().unwrap(), String::from_utf8_lossy(&unpacked.bytes).into_owned())
    });
    members.collect()
}

#[track_caller]
fn check(content: &str, left: &str) {
    let parts = cleaned(&package(content, &[("Pictures/a.png", "x")]));
    let (_, text) = parts.iter().find(|(name, _)| name == "content.xml").unwrap();
    let text = text.strip_prefix("<office:document-content><office:body>").unwrap();
    assert_eq!(text.strip_suffix("</office:body></office:document-content>").unwrap(), left);
}

#[test]
fn what_acts_goes_and_the_rest_keeps_its_bytes() {
    for (content, left) in [
        ("<text:p  a = 'b'>Text &amp; more</text:p >", "<text:p  a = 'b'>Text &amp; more</text:p >"),
        ("<office:scripts><script:event-listener xlink:href='vnd.sun.star.script:x'/></office:scripts>", ""),
        ("<draw:frame><office:event-listeners><x/></office:event-listeners></draw:frame>", "<draw:frame></draw:frame>"),
        ("<draw:plugin xlink:href='http://a'/><draw:applet/><draw:floating-frame xlink:href='http://a'/>", ""),
        ("<office:dde-source office:dde-application='soffice'/>", ""),
        ("<text:p><text:execute-macro>shown</text:execute-macro></text:p>", "<text:p>shown</text:p>"),
        ("<text:a xlink:href='https://a.example/'>x</text:a>", "<text:a xlink:href='https://a.example/'>x</text:a>"),
        ("<text:a xlink:href='#here'>x</text:a>", "<text:a xlink:href='#here'>x</text:a>"),
        ("<text:a xlink:href='javascript:x'>x</text:a>", "x"),
        ("<text:a xlink:href='file:///etc/passwd'>x</text:a>", "x"),
        ("<draw:image xlink:href='http://a.example/x.png'/>", ""),
        ("<draw:image xlink:href='Pictures/a.png'/>", "<draw:image xlink:href='Pictures/a.png'/>"),
        ("<draw:image xlink:href='Pictures/none.png'/>", ""),
        ("<draw:object xlink:href='./Object 1'/>", ""),
        (
            "<table:table-cell table:formula='of:=DDE(\"cmd\";\"/c\";\"a\")' office:value='1'/>",
            "<table:table-cell office:value=\"1\"/>",
        ),
        ("<c table:formula='of:=HYPERLINK([.A1])'/>", "<c/>"),
        ("<c table:formula=\"of:=['file:///a.ods'#$S.A1]\"/>", "<c/>"),
        ("<c table:formula='of:=SUM([.A1:.A9])'/>", "<c table:formula='of:=SUM([.A1:.A9])'/>"),
        ("<text:p>SEC<text:span>RET</text:span> x</text:p>", "<text:p>[secret]<text:span></text:span> x</text:p>"),
        ("<!-- SECRET -->", ""),
    ] {
        check(content, left);
    }
}

#[test]
fn parts_that_are_not_listed_go_and_the_manifest_says_so() {
    let parts = cleaned(&package(
        "<draw:object xlink:href='./Object 1'/><draw:object xlink:href='./Object 2'/>",
        &[
            ("Basic/x.xml", "<m/>"),
            ("Scripts/python/x.py", "import os"),
            ("Configurations2/x.xml", "<m/>"),
            ("Object 1/content.xml", "<x><office:scripts/></x>"),
            ("Object 2/x.exe", "MZ"),
            ("Pictures/x.exe", "MZ"),
            ("Pictures/b", "dirty"),
            ("meta.xml", "<m><meta:template xlink:href='http://a'/><dc:title>t</dc:title></m>"),
        ],
    ));
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["mimetype", "META-INF/manifest.xml", "content.xml", "Object 1/content.xml", "Pictures/b", "meta.xml"]
    );
    let texts: String = parts.iter().map(|(_, text)| text.as_str()).collect();
    assert!(!texts.contains("Basic") && texts.contains("full-path=\"Object 1/\"") && !texts.contains("Object 2"));
    assert!(texts.contains("<m><dc:title>t</dc:title></m>") && texts.contains("clean") && texts.contains("<x></x>"));
}

#[test]
fn what_cannot_be_cleaned_is_refused() {
    let refused = |bytes: &[u8]| {
        let Uncleanable(why) = testing::clean(&FORMAT, "odt", bytes).unwrap_err();
        why.into_owned()
    };
    assert!(refused(&package("", &[("META-INF/documentsignatures.xml", "<x/>")])).contains("signed"));
    assert!(refused(&package("", &[("CONTENT.xml", "<x/>")])).contains("one name"));
    assert!(refused(&package("<open>", &[])).contains("not open"));
    assert!(refused(&zipped(&[("mimetype", b"x"), ("content.xml", b"<x/>")])).contains("list of its parts"));
    let locked = "<m><file-entry full-path=\"content.xml\"><encryption-data/></file-entry></m>";
    let locked = zipped(&[("mimetype", b"x"), ("META-INF/manifest.xml", locked.as_bytes()), ("content.xml", b"<x/>")]);
    assert!(refused(&locked).contains("encrypted"));
}

#[test]
fn the_limit_on_steps_holds_at_it_and_not_one_past() {
    let bytes = package("<text:p>Hello there</text:p>", &[]);
    let run = |limit| testing::clean_once(&FORMAT, "odt", &bytes, Limits::default().with(Resource::Steps, limit));
    let (mut least, mut most) = (0, 10_000_000);
    while least + 1 < most {
        let middle = u64::midpoint(least, most);
        if run(middle).is_ok() { most = middle } else { least = middle }
    }
    assert!(run(most).is_ok() && run(most - 1).unwrap_err().0.contains("steps"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_is_survived_and_what_is_clean_stays(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = package("<text:p a='b'>x<text:a xlink:href='http://a'>SECRET</text:a></text:p><office:scripts/>", &[("Basic/x", "x")]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok((once, _)) = testing::clean_once(&FORMAT, "odt", &bytes, Limits::default()) {
            let (twice, _) = testing::clean_once(&FORMAT, "odt", &once, Limits::default()).unwrap();
            prop_assert_eq!(once, twice);
        }
    }
}
