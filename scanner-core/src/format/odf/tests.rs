use super::*;
use crate::format::{
    ooxml::tests::zipped,
    testing::{Seen, look},
};

const HEAD: &str = "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:table='b' xmlns:xlink='x' \
                    xmlns:draw='d' xmlns:script='s' xmlns:style='y' xmlns:fo='f' xmlns:presentation='p' xmlns:svg='v'>";

fn document(label: &'static str, content: &str, more: &[(&str, &str)]) -> Seen {
    let content = format!("{HEAD}{content}</office:document-content>");
    let mut members =
        vec![("mimetype", &b"application/vnd.oasis.opendocument.text"[..]), ("content.xml", content.as_bytes())];
    if !more.iter().any(|(name, _)| *name == "META-INF/manifest.xml") {
        members.push(("META-INF/manifest.xml", b"<manifest:manifest xmlns:manifest='m'/>"));
    }
    members.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    look(&FORMAT, label, &zipped(&members))
}

fn words(seen: &Seen) -> Vec<String> {
    let facts = seen.facts();
    let mut words: Vec<_> = facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    words.sort();
    words
}

fn found(content: &str) -> Vec<String> {
    words(&document("odt", content, &[]))
}

#[test]
fn a_plain_text_is_silent() {
    let seen =
        document("odt", "<text:p>one<text:s/>&amp; <text:span>two</text:span></text:p><text:p>three</text:p>", &[]);
    assert!(seen.facts().is_empty(), "{:?}", seen.facts());
    assert!(seen.texts().iter().any(|text| text == "one & two\nthree\n"));
}

#[test]
fn what_acts_is_told() {
    let event = "<office:scripts><script:event-listener script:language='ooo:script' script:event-name='dom:load' \
                 xlink:href='vnd.sun.star.script:A.B.C?language=Basic'/></office:scripts>";
    assert_eq!(found(event), ["high macro.autoexec", "high macro.basic"]);
    let button = "<script:event-listener script:language='ooo:script' script:event-name='dom:click' \
                  xlink:href='vnd.sun.star.script:A.B.C?language=Basic'/>";
    assert_eq!(found(button), ["medium macro.basic"]);
    assert_eq!(
        found("<presentation:event-listener presentation:action='execute' xlink:href='x.exe'/>"),
        ["high exec.shortcut"]
    );
    assert_eq!(found("<office:dde-source office:dde-application='cmd'/>"), ["high macro.dde"]);
    assert_eq!(found("<draw:image xlink:href='http://a.example/p.png'/>"), ["medium net.external_ref"]);
    assert_eq!(found("<draw:image xlink:href='Pictures/p.png'/>"), [""; 0]);
    assert_eq!(found("<draw:object xlink:href='./Object 1'/>"), [""; 0]);
    assert_eq!(
        found("<draw:object xlink:href='http://a.example/x.odt'/>"),
        ["high embed.ole", "high net.external_ref"]
    );
    assert_eq!(found("<draw:floating-frame xlink:href='http://a.example/'/>"), ["high net.external_ref"]);
    assert_eq!(found("<text:a xlink:href='https://a.example/'>x</text:a>"), ["info net.link"]);
    assert_eq!(found("<text:p><text:a xlink:href='javascript:x'>x</text:a></text:p>"), ["medium html.url"]);
}

#[test]
fn scripts_in_the_package() {
    let python = document("odt", "", &[("Scripts/python/a.py", "import os\n")]);
    assert_eq!(words(&python), ["high exec.script", "high macro.basic"]);
    assert_eq!(python.children.len(), 1);
    let module = "<script:module xmlns:script='s' script:name='M'>Sub Main\nEnd Sub</script:module>";
    assert_eq!(words(&document("odt", "", &[("Basic/Standard/M.xml", module)])), ["high macro.basic"]);
    let empty = "<script:module xmlns:script='s' script:name='M'></script:module>";
    assert!(words(&document("odt", "", &[("Basic/Standard/M.xml", empty)])).is_empty());
}

#[test]
fn sheets() {
    let sheet = |rows: &str| format!("<table:table table:name='S'>{rows}</table:table>");
    assert_eq!(
        found(&sheet("<table:table-row><table:table-cell table:formula='of:=WEBSERVICE([.A1])'/></table:table-row>")),
        ["medium net.external_ref", "medium script.formula"]
    );
    let bomb = sheet(
        "<table:table-row table:number-rows-repeated='1000000'><table:table-cell table:number-columns-repeated='16000' \
         office:value='1'/></table:table-row>",
    );
    assert_eq!(found(&bomb), ["high bomb.ratio"]);
    let honest = sheet(
        "<table:table-row><table:table-cell table:number-columns-repeated='3' office:value='1'/></table:table-row>\
         <table:table-row table:number-rows-repeated='1048575'><table:table-cell table:number-columns-repeated='16384'/></table:table-row>",
    );
    assert_eq!(found(&honest), [""; 0]);
    let hidden = "<style:style style:name='ta' style:family='table'><style:table-properties table:display='false'/></style:style>\
                  <table:table table:style-name='ta'/>";
    assert_eq!(found(hidden), ["medium office.hidden_sheet"]);
}

#[test]
fn what_a_person_does_not_see_is_kept_apart() {
    let content = "<style:style style:name='W' style:family='text'><style:text-properties fo:color='#ffffff'/></style:style>\
                   <style:style style:name='N' style:family='paragraph'><style:text-properties text:display='none'/></style:style>\
                   <text:p>seen<text:span text:style-name='W'>white</text:span></text:p><text:p text:style-name='N'>off</text:p>\
                   <text:p>x<office:annotation><text:p>note</text:p></office:annotation>y</text:p>";
    let seen = document("odt", content, &[]);
    let hidden: Vec<_> = seen
        .texts
        .iter()
        .filter_map(|view| {
            Some((view.hidden?.category.to_string(), String::from_utf8_lossy(&view.text).trim().to_owned()))
        })
        .collect();
    for (category, text) in [("hidden.color", "white"), ("hidden.style", "off"), ("hidden.comment", "note")] {
        assert!(hidden.contains(&(category.to_owned(), text.to_owned())), "{hidden:?}");
    }
}

#[test]
fn parts_that_need_a_key_are_one_gap() {
    let manifest = "<m:manifest xmlns:m='m'><m:file-entry m:full-path='Pictures/a.png'><m:encryption-data/></m:file-entry></m:manifest>";
    let seen = document("odt", "", &[("META-INF/manifest.xml", manifest), ("Pictures/a.png", "noise")]);
    assert_eq!(words(&seen), ["gap encrypted"]);
    assert!(seen.children.is_empty());
}
