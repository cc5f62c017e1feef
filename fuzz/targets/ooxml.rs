//! Documents that are zips of parts: Word, Excel, PowerPoint, OpenDocument, EPUB, with parts of XML that is made of the
//! words of their formats. An order in a paragraph is found, or the report says that the document is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{
    ORDER, decide, is_warned,
    made::zip::{Member, Zip},
    scan, tells,
};

#[derive(Arbitrary, Debug)]
enum Node<'a> {
    Text(&'a str),
    Element {
        name: u8,
        attributes: Vec<(u8, Word<'a>)>,
        inside: Vec<Node<'a>>,
    },
    Comment(&'a str),
    Data(&'a str),
    Raw(&'a str),
    /// Opened and not closed, or the other way round.
    Open(u8),
    Close(u8),
}

#[derive(Arbitrary, Debug)]
enum Word<'a> {
    Known(u8),
    Text(&'a str),
    Address(&'a str),
    Number(u16),
}

const ELEMENTS: &[&str] = &[
    "w:p",
    "w:r",
    "w:t",
    "w:rPr",
    "w:vanish",
    "w:color",
    "w:sz",
    "w:instrText",
    "w:fldSimple",
    "w:fldChar",
    "w:tbl",
    "w:tr",
    "w:tc",
    "w:hyperlink",
    "w:del",
    "w:delText",
    "w:ins",
    "w:comment",
    "w:object",
    "o:OLEObject",
    "v:imagedata",
    "w:drawing",
    "w:altChunk",
    "mc:AlternateContent",
    "mc:Choice",
    "mc:Fallback",
    "w:attachedTemplate",
    "sheetData",
    "row",
    "c",
    "f",
    "v",
    "is",
    "t",
    "si",
    "sst",
    "sheets",
    "sheet",
    "definedName",
    "ddeLink",
    "externalReference",
    "hyperlink",
    "cols",
    "col",
    "p:sld",
    "p:cSld",
    "a:p",
    "a:r",
    "a:t",
    "a:hlinkClick",
    "p:timing",
    "Relationship",
    "Override",
    "Default",
    "text:p",
    "text:span",
    "text:a",
    "office:body",
    "office:text",
    "office:event-listeners",
    "script:event-listener",
    "table:table-cell",
    "draw:object",
    "draw:frame",
    "style:style",
    "style:text-properties",
    "package",
    "manifest",
    "item",
    "itemref",
    "spine",
    "html",
    "body",
    "p",
    "a",
    "img",
    "script",
    "svg",
];
const ATTRIBUTES: &[&str] = &[
    "w:val",
    "r:id",
    "Id",
    "Type",
    "Target",
    "TargetMode",
    "PartName",
    "Extension",
    "ContentType",
    "w:instr",
    "r",
    "t",
    "s",
    "name",
    "state",
    "hidden",
    "xml:space",
    "xlink:href",
    "text:display",
    "office:value-type",
    "table:formula",
    "style:name",
    "fo:color",
    "href",
    "src",
    "onload",
    "id",
    "idref",
    "media-type",
    "full-path",
    "xmlns:r",
    "action",
];
const WORDS: &[&str] = &[
    "External",
    "s",
    "str",
    "inlineStr",
    "hidden",
    "veryHidden",
    "none",
    "FFFFFF",
    "1",
    "preserve",
    "begin",
    "end",
    "INCLUDETEXT \"http://a.example/x\"",
    "DDEAUTO cmd calc",
    "of:=DDE(\"cmd\")",
    "application/xml",
    "javascript:alert(1)",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/oleObject",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink",
    "http://schemas.microsoft.com/office/2006/relationships/vbaProject",
    "word/document.xml",
    "../x.xml",
    "rId1",
];

fn known(list: &'static [&'static str], at: u8) -> &'static str {
    list[usize::from(at) % list.len()]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

impl Node<'_> {
    fn write(&self, depth: u8, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(&escaped(text)),
            Self::Element { name, attributes, inside } => {
                let name = known(ELEMENTS, *name);
                out.push_str(&format!("<{name}"));
                for (at, (key, word)) in attributes.iter().take(6).enumerate() {
                    // No key twice in a tag.
                    let key = known(ATTRIBUTES, key.wrapping_mul(6).wrapping_add(at as u8));
                    let word = match word {
                        Word::Known(at) => known(WORDS, *at).to_owned(),
                        Word::Text(text) => (*text).to_owned(),
                        Word::Address(path) => format!("http://a.example/{path}"),
                        Word::Number(number) => number.to_string(),
                    };
                    out.push_str(&format!(" {key}=\"{}\"", escaped(&word)));
                }
                out.push('>');
                if depth < 40 {
                    inside.iter().for_each(|node| node.write(depth + 1, out));
                }
                out.push_str(&format!("</{name}>"));
            }
            Self::Comment(text) => out.push_str(&format!("<!--{}-->", text.replace('-', ""))),
            Self::Data(text) => out.push_str(&format!("<![CDATA[{}]]>", text.replace(']', ""))),
            Self::Raw(text) => out.push_str(text),
            Self::Open(name) => out.push_str(&format!("<{}>", known(ELEMENTS, *name))),
            Self::Close(name) => out.push_str(&format!("</{}>", known(ELEMENTS, *name))),
        }
    }
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    kind: u8,
    main: Vec<Node<'a>>,
    parts: Vec<(u8, Vec<Node<'a>>)>,
    others: Zip<'a>,
    has_order: bool,
}

/// Name of the first part, its type, what it begins with and how it ends, and a paragraph of it.
type Form = (&'static str, &'static str, &'static str, &'static str, [&'static str; 2]);

const FORMS: [Form; 5] = [
    (
        "word/document.xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>",
        "</w:body></w:document>",
        ["<w:p><w:r><w:t>", "</w:t></w:r></w:p>"],
    ),
    (
        "xl/worksheets/sheet1.xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml",
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>",
        "</sheetData></worksheet>",
        ["<row><c t=\"inlineStr\"><is><t>", "</t></is></c></row>"],
    ),
    (
        "ppt/slides/slide1.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.slide+xml",
        "<p:sld xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><p:cSld>",
        "</p:cSld></p:sld>",
        ["<a:p><a:r><a:t>", "</a:t></a:r></a:p>"],
    ),
    (
        "content.xml",
        "application/vnd.oasis.opendocument.text",
        "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:text>",
        "</office:text></office:body></office:document-content>",
        ["<text:p>", "</text:p>"],
    ),
    (
        "OEBPS/a.xhtml",
        "application/epub+zip",
        "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>",
        "</body></html>",
        ["<p>", "</p>"],
    ),
];

const PARTS: &[&str] = &[
    "word/_rels/document.xml.rels",
    "_rels/.rels",
    "word/comments.xml",
    "word/settings.xml",
    "word/footnotes.xml",
    "word/_rels/settings.xml.rels",
    "xl/sharedStrings.xml",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/externalLinks/externalLink1.xml",
    "xl/externalLinks/_rels/externalLink1.xml.rels",
    "xl/comments1.xml",
    "ppt/presentation.xml",
    "ppt/notesSlides/notesSlide1.xml",
    "ppt/slides/_rels/slide1.xml.rels",
    "docProps/core.xml",
    "docProps/custom.xml",
    "META-INF/manifest.xml",
    "styles.xml",
    "meta.xml",
    "settings.xml",
    "META-INF/container.xml",
    "OEBPS/content.opf",
    "customXml/item1.xml",
    "word/vbaProject.bin",
    "Basic/script-lc.xml",
];

fuzz_target!(|made: Made<'_>| {
    let number = usize::from(made.kind) % FORMS.len();
    let (name, kind, start, end, around) = FORMS[number];
    let written = |nodes: &[Node<'_>]| {
        let mut out = String::new();
        nodes.iter().for_each(|node| node.write(0, &mut out));
        out
    };
    let order = if made.has_order { format!("{}{ORDER}{}", around[0], around[1]) } else { String::new() };
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    // The order comes first: what follows may break the document, and then there is a gap.
    let mut parts = vec![(name, format!("{declaration}{start}{order}{}{end}", written(&made.main)))];
    match number {
        0..3 => {
            let types = format!(
                "{declaration}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/{name}\" ContentType=\"{kind}\"/></Types>"
            );
            parts.insert(0, ("[Content_Types].xml", types));
        }
        3 => parts.insert(0, ("mimetype", kind.to_owned())),
        _ => {
            parts.insert(0, ("mimetype", kind.to_owned()));
            parts.push(("META-INF/container.xml", format!("{declaration}<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\" version=\"1.0\"><rootfiles><rootfile full-path=\"OEBPS/content.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>")));
            parts.push(("OEBPS/content.opf", format!("{declaration}<package xmlns=\"http://www.idpf.org/2007/opf\" version=\"3.0\"><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest><spine><itemref idref=\"a\"/></spine></package>")));
        }
    }
    for (name, nodes) in made.parts.iter().take(8) {
        parts.push((known(PARTS, *name), format!("{declaration}{}", written(nodes))));
    }
    let member = |name, bytes, is_packed| Member { name, bytes, is_packed, has_descriptor: false, extra: b"", mode: 0 };
    let mut members: Vec<_> =
        parts.iter().map(|(name, text)| member(name, text.as_bytes(), *name != "mimetype")).collect();
    let mut zip = made.others;
    zip.members.truncate(4);
    members.append(&mut zip.members);
    zip.members = members;
    let bytes = zip.write();
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.bin", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(
        !made.has_order || tells(&report, "injection.") || is_warned(&report),
        "{}",
        report.artifacts[0].kind.label
    );
});
