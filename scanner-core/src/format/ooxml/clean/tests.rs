//! Packages with one thing each that acts; what is left of them.

use proptest::prelude::*;

use crate::{
    format::{
        cleaning::{Uncleanable, testing},
        ooxml::{
            FORMAT,
            tests::{package, relationships, zipped},
        },
        testing::look,
        zip,
    },
    limits::{Budget, Limits, Resource},
};

const NAMESPACES: &str = "xmlns:w='w' xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";

/// Names and texts of the parts that are left, which the judge has nothing to say about.
fn cleaned(bytes: &[u8]) -> Vec<(String, String)> {
    let (clean, _) = testing::clean(&FORMAT, "docx", bytes).unwrap();
    let seen = look(&FORMAT, "docx", &clean);
    let facts: Vec<String> =
        seen.facts().into_iter().filter(|fact| !fact.starts_with("info") && !fact.starts_with("low")).collect();
    assert_eq!(facts, Vec::<String>::new());
    let members = look(&zip::FORMAT, "zip", &clean);
    let members = members.children.iter().map(|child| {
        let unpacked = crate::inflate::unpack(&child.source, &mut Budget::new(Limits::default()));
        (child.name.clone().unwrap(), String::from_utf8_lossy(&unpacked.bytes).into_owned())
    });
    members.collect()
}

fn part<'p>(parts: &'p [(String, String)], name: &str) -> &'p str {
    parts.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text)
}

/// The body of a document with these relationships.
fn body(content: &str, list: &[(&str, &str, &str)]) -> (String, String) {
    let text = format!("<w:document {NAMESPACES}><w:body>{content}</w:body></w:document>");
    let rels = relationships(list);
    let parts = cleaned(&package(
        "word/document.xml",
        &[
            ("word/document.xml", &*text),
            ("word/_rels/document.xml.rels", &*rels),
            ("word/media/a.png", "x"),
            ("word/vbaProject.bin", "x"),
            ("word/embeddings/a.bin", "x"),
        ],
    ));
    let text = part(&parts, "word/document.xml");
    let text = text.strip_prefix(&*format!("<w:document {NAMESPACES}><w:body>")).unwrap();
    let text = text.strip_suffix("</w:body></w:document>").unwrap();
    (text.to_owned(), part(&parts, "word/_rels/document.xml.rels").to_owned())
}

#[track_caller]
fn check(content: &str, list: &[(&str, &str, &str)], left: &str) {
    let (text, rels) = body(content, list);
    assert_eq!(text, left);
    let is_referred = left.contains("rId9");
    assert_eq!(rels.contains("rId9"), is_referred, "{rels}");
}

#[test]
fn references_go_with_what_they_lead_to() {
    let run = "<w:r><w:t>x</w:t></w:r>";
    let link = "<w:hyperlink r:id='rId9'><w:r><w:t>x</w:t></w:r></w:hyperlink>";
    check(link, &[("rId9", "hyperlink", "https://a.example/")], link);
    check(link, &[("rId9", "hyperlink", "file:///c:/x.exe")], run);
    check(link, &[("rId9", "hyperlink", "javascript:x")], run);
    check(link, &[("rId9", "hyperlink", "https://a.example/SECRET")], run);
    check(link, &[], run);
    let picture = "<a:blip r:embed='rId9'/>";
    check(picture, &[("rId9", "image", "media/a.png")], picture);
    check("<a:blip r:link='rId9'/>", &[("rId9", "image", "https://a.example/x.png")], "<a:blip/>");
    check("<v:imagedata src='http://a.example/x.png'/>", &[], "<v:imagedata/>");
    check(
        "<w:object><v:shape/><o:OLEObject r:id='rId9'/></w:object>",
        &[("rId9", "oleObject", "embeddings/a.bin")],
        "<w:object><v:shape/></w:object>",
    );
    check("<w:altChunk r:id='rId9'/>", &[("rId9", "aFChunk", "embeddings/a.bin")], "");
    check("<w:attachedTemplate r:id='rId9'/>", &[("rId9", "attachedTemplate", "https://a.example/x.dotm")], "");
    let jump = "<a:hlinkClick r:id='' action='ppaction://hlinkshowjump?jump=nextslide'/>";
    check(jump, &[], jump);
    check("<a:hlinkClick r:id='' action='ppaction://macro?name=x'/>", &[], "");
    let frame = "<p:graphicFrame><a:t>x</a:t><p:oleObj r:id='rId9'/></p:graphicFrame>";
    check(frame, &[("rId9", "oleObject", "embeddings/a.bin")], "");
    check("<w:unknown r:id='rId9'/>", &[("rId9", "frame", "https://a.example/")], "");
    check("<w:bookmark w:id='1'/>", &[("rId9", "vbaProject", "vbaProject.bin")], "<w:bookmark w:id='1'/>");
}

#[test]
fn fields_that_act_go_and_their_results_stay() {
    let field = |instruction: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r>\
             <w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>x</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r>"
        )
    };
    let bare = "<w:r></w:r><w:r></w:r><w:r></w:r><w:r><w:t>x</w:t></w:r><w:r></w:r>";
    for kept in ["PAGE", " HYPERLINK \"https://a.example/\" ", "HYPERLINK \\l \"place\"", "= 1 + 2", "=1+2"] {
        check(&field(kept), &[], &field(kept));
    }
    let split = "DDEA</w:instrText></w:r><w:r><w:instrText>UTO c \"x\" \"y\"";
    check(&field(split), &[], "<w:r></w:r><w:r></w:r><w:r></w:r><w:r></w:r><w:r><w:t>x</w:t></w:r><w:r></w:r>");
    for gone in ["INCLUDEPICTURE \"https://a.example/\"", "HYPERLINK \"file:///x\"", "MACROBUTTON x y", "dde a b c"] {
        check(&field(gone), &[], bare);
    }
    // A field that computes what another will do.
    let nested = "<w:fldChar w:fldCharType='begin'/><w:fldChar w:fldCharType='begin'/><w:instrText>QUOTE 68 68 69</w:instrText>\
                  <w:fldChar w:fldCharType='end'/><w:instrText> c x</w:instrText><w:fldChar w:fldCharType='end'/>";
    check(nested, &[], "");
    check("<w:fldChar w:fldCharType='begin'/><w:instrText>DDE a b c</w:instrText>", &[], "");
    check("<w:fldSimple w:instr='DDE a b c'><w:t>x</w:t></w:fldSimple>", &[], "<w:t>x</w:t>");
    check(
        "<w:fldSimple w:instr='PAGE'><w:t>x</w:t></w:fldSimple>",
        &[],
        "<w:fldSimple w:instr='PAGE'><w:t>x</w:t></w:fldSimple>",
    );
}

#[test]
fn a_secret_that_stands_over_several_runs_goes() {
    check(
        "<w:p><w:r><w:t>a SEC</w:t></w:r><w:r><w:t>RET b</w:t></w:r></w:p>",
        &[],
        "<w:p><w:r><w:t>a [secret]</w:t></w:r><w:r><w:t> b</w:t></w:r></w:p>",
    );
}

#[test]
fn parts_that_nothing_listed_leads_to_go() {
    let rels = relationships(&[
        ("rId1", "vbaProject", "vbaProject.bin"),
        ("rId2", "styles", "styles.xml"),
        ("rId3", "customXml", "../customXml/item1.xml"),
    ]);
    let bytes = package(
        "word/document.xml",
        &[
            ("word/document.xml", "<w:document/>"),
            ("word/_rels/document.xml.rels", &*rels),
            ("word/vbaProject.bin", "x"),
            ("word/_rels/vbaProject.bin.rels", "<Relationships/>"),
            ("word/styles.xml", "<w:styles/>"),
            ("customXml/item1.xml", "<x/>"),
            ("loose.exe", "MZ"),
        ],
    );
    let parts = cleaned(&bytes);
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/_rels/document.xml.rels", "word/styles.xml"]
    );
    assert!(!part(&parts, "[Content_Types].xml").contains("workbook"));
}

#[test]
fn a_document_with_macros_becomes_one_without() {
    let types = "<Types><Default Extension='bin' ContentType='application/vnd.ms-office.vbaProject'/>\
                 <Override PartName='/word/document.xml' ContentType='application/vnd.ms-word.document.macroEnabled.main+xml'/></Types>";
    let root = relationships(&[("rId1", "officeDocument", "word/document.xml")]);
    let parts = cleaned(&zipped(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", b"<w:document/>"),
        ("word/vbaProject.bin", b"x"),
    ]));
    assert_eq!(
        part(&parts, "[Content_Types].xml"),
        "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>"
    );
}

/// The sheet that is left of one with these cells.
fn sheet(cells: &str) -> String {
    let rels = relationships(&[
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "externalLink", "externalLinks/e.xml"),
        ("rId3", "worksheet", "macro.xml"),
    ]);
    let workbook = format!(
        "<workbook {NAMESPACES}><bookViews><workbookView x='1' activeTab='1'/></bookViews><sheets><sheet name='a' state='veryHidden' r:id='rId1'/><sheet name='b' r:id='rId3'/></sheets>\
         <externalReferences><externalReference r:id='rId2'/></externalReferences>\
         <definedNames><definedName name='_xlnm.Auto_Open'>b!A1</definedName><definedName name='n'>[1]S!A1</definedName><definedName name='m'>a!A1</definedName><definedName name='o'>$b!A1</definedName><definedName name='p' localSheetId='1'>a!A1</definedName></definedNames></workbook>"
    );
    let text = format!("<worksheet {NAMESPACES}>{cells}</worksheet>");
    let parts = cleaned(&package(
        "xl/workbook.xml",
        &[
            ("xl/workbook.xml", &*workbook),
            ("xl/_rels/workbook.xml.rels", &*rels),
            ("xl/worksheets/sheet1.xml", &*text),
            ("xl/macro.xml", "<macrosheet/>"),
            ("xl/externalLinks/e.xml", "<externalLink><ddeLink/></externalLink>"),
        ],
    ));
    assert_eq!(
        part(&parts, "xl/workbook.xml"),
        format!(
            "<workbook {NAMESPACES}><bookViews><workbookView x=\"1\"/></bookViews><sheets><sheet name=\"a\" state=\"hidden\" r:id=\"rId1\"/></sheets><definedNames><definedName name='m'>a!A1</definedName></definedNames></workbook>"
        )
    );
    let text = part(&parts, "xl/worksheets/sheet1.xml").strip_prefix(&*format!("<worksheet {NAMESPACES}>")).unwrap();
    text.strip_suffix("</worksheet>").unwrap().to_owned()
}

#[test]
fn formulas_that_act_go_and_their_values_stay() {
    for (cells, left) in [
        ("<c r='A1'><f>SUM(B1:B9)</f><v>3</v></c>", "<c r='A1'><f>SUM(B1:B9)</f><v>3</v></c>"),
        ("<c r='A1'><f>cmd|'/c calc'!A0</f><v>3</v></c>", "<c r='A1'><v>3</v></c>"),
        ("<c><f>WEBSERVICE(\"http://a\")</f><v>3</v></c>", "<c><v>3</v></c>"),
        ("<c><f>HYPERLINK(\"file:///x\")</f><v>3</v></c>", "<c><v>3</v></c>"),
        ("<c><f>HYPERLINK(\"http://a\"&amp;A1)</f><v>3</v></c>", "<c><v>3</v></c>"),
        ("<c><f>HYPERLINK(\"http://a\")</f><v>3</v></c>", "<c><f>HYPERLINK(\"http://a\")</f><v>3</v></c>"),
        ("<c><f>[1]S!A1</f><v>3</v></c>", "<c><v>3</v></c>"),
        (
            "<c><f t='shared' si='0'>CALL(1)</f><v>1</v></c><c><f t='shared' si='0'/><v>2</v></c>",
            "<c><v>1</v></c><c><v>2</v></c>",
        ),
        ("<dataValidations><dataValidation><formula1>DDE(1)</formula1></dataValidation></dataValidations>", ""),
        ("<hyperlinks><hyperlink ref='A1' r:id='rId7'/></hyperlinks>", ""),
        (
            "<hyperlinks><hyperlink ref='A1' location='b!A1'/></hyperlinks>",
            "<hyperlinks><hyperlink ref='A1' location='b!A1'/></hyperlinks>",
        ),
        ("<oleObjects><oleObject r:id='rId7'/></oleObjects><pageSetup r:id='rId7' a='b'/>", "<pageSetup a=\"b\"/>"),
        ("<c t='str'><v>SECRET</v></c>", "<c t='str'><v>[secret]</v></c>"),
    ] {
        assert_eq!(sheet(cells), left, "{cells}");
    }
}

#[test]
fn what_cannot_be_cleaned_is_refused() {
    let refused = |bytes: &[u8]| {
        let Uncleanable(why) = testing::clean(&FORMAT, "docx", bytes).unwrap_err();
        why.into_owned()
    };
    let document = |text: &str| package("word/document.xml", &[("word/document.xml", text)]);
    assert!(refused(&document("<a>")).contains("ends inside"));
    assert!(refused(&document("<!DOCTYPE a><a/>")).contains("document type"));
    assert!(refused(&document("\0\0\0")).contains("main part"));
    assert!(refused(&package("word/none.xml", &[])).contains("main part"));
    let number = "<worksheet><c><v>SECRET</v></c></worksheet>";
    assert!(refused(&package("xl/workbook.xml", &[("xl/workbook.xml", number)])).contains("cannot be replaced"));
    let signed = relationships(&[("rId1", "officeDocument", "a.xml"), ("rId2", "digital-signature/origin", "o")]);
    assert!(refused(&zipped(&[("_rels/.rels", signed.as_bytes()), ("a.xml", b"<a/>")])).contains("signed"));
    let twice = package("word/document.xml", &[("word/document.xml", "<a/>"), ("word/Document.xml", "<a/>")]);
    assert!(refused(&twice).contains("one name"));
}

#[test]
fn the_limit_on_steps_holds_at_it_and_not_one_past() {
    let bytes = package("word/document.xml", &[("word/document.xml", "<w:p><w:t>Hello there</w:t></w:p>")]);
    let run = |limit| testing::clean_once(&FORMAT, "docx", &bytes, Limits::default().with(Resource::Steps, limit));
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
        let rels = relationships(&[("rId1", "hyperlink", "http://a"), ("rId2", "image", "media/a.png")]);
        let text = format!("<w:document {NAMESPACES}><w:p><w:hyperlink r:id='rId1'><w:t>SECRET</w:t></w:hyperlink><a:blip r:embed='rId2'/><w:fldSimple w:instr='DDE a b c'/></w:p></w:document>");
        let mut bytes = package("word/document.xml", &[("word/document.xml", &*text), ("word/_rels/document.xml.rels", &*rels), ("word/media/a.png", "x")]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok((once, _)) = testing::clean_once(&FORMAT, "docx", &bytes, Limits::default()) {
            let (twice, _) = testing::clean_once(&FORMAT, "docx", &once, Limits::default()).unwrap();
            prop_assert_eq!(once, twice);
        }
    }
}
