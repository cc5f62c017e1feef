//! Documents built by hand; the name of a case is its defect.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};
use proptest::prelude::*;

use super::*;
use crate::{
    format::testing::{Seen, look},
    limits::Limits,
};

pub(super) fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A stream with more in its dictionary.
pub(super) fn stream(more: &str, data: &[u8]) -> Vec<u8> {
    [format!("<<{more}/Length {}>>\nstream\n", data.len()).as_bytes(), data, b"\nendstream"].concat()
}

/// Numbered from one, with a true table; the first is the catalogue.
pub(super) fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut offsets = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        offsets.push(out.len());
        out.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let table = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for offset in offsets {
        out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    out.extend_from_slice(
        format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{table}\n%%EOF\n").as_bytes(),
    );
    out
}

pub(super) const PAGES: &str = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
pub(super) const PAGE: &str = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>\
                    /ExtGState<</G<</ca 0>>>>/XObject<</X 6 0 R>>/Properties<</L 7 0 R>>>>>>";
pub(super) const FONT: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

/// One page with that content, more in the catalogue, and more objects from number six on.
pub(super) fn document(catalogue: &str, content: &[u8], more: &[&[u8]]) -> Vec<u8> {
    let mut objects = vec![
        format!("<</Type/Catalog/Pages 2 0 R{catalogue}>>").into_bytes(),
        PAGES.into(),
        PAGE.into(),
        stream("", content),
        FONT.into(),
    ];
    objects.extend(more.iter().map(|object| object.to_vec()));
    file(&objects, "")
}

fn facts(bytes: &[u8]) -> Vec<String> {
    // Where things stand is the business of a few cases.
    look(&FORMAT, "pdf", bytes).facts().into_iter().map(|fact| words(&fact)).collect()
}

fn words(fact: &str) -> String {
    fact.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Text and the rule that it is hidden by.
fn texts(content: &str, more: &[&[u8]], catalogue: &str) -> Vec<(String, &'static str)> {
    let seen = look(&FORMAT, "pdf", &document(catalogue, content.as_bytes(), more));
    let text = |view: &TextView| String::from_utf8_lossy(&view.text).into_owned();
    seen.texts.iter().map(|view| (text(view), view.hidden.map_or("", |rule| &*rule.id))).collect()
}

#[track_caller]
fn check_text(content: &str, text: &str, hidden: &str) {
    assert_eq!(texts(content, &[], ""), [(text.to_owned(), hidden)]);
}

pub(super) const HELLO: &[u8] = b"BT /F 12 Tf 50 700 Td (Hello) Tj ET";
const NOTHING: [&str; 0] = [];

#[test]
fn an_honest_document_is_silent() {
    assert_eq!(facts(&document("", HELLO, &[])), NOTHING);
    check_text("BT /F 12 Tf 50 700 Td (Hello) Tj ET", "Hello", "");
}

#[test]
fn words_are_read_however_they_are_shown() {
    check_text("BT /F 12 Tf 50 700 Td [(He)-20(llo)-300(you)] TJ ET", "Hello you", "");
    check_text(
        "BT /F 12 Tf 14 TL 1 0 0 1 50 700 Tm (one)Tj T* (two)Tj (three)' 1 0 (four)\" ET",
        "one\ntwo\nthree\nfour",
        "",
    );
    check_text("BT /F 12 Tf 50 700 Td <48656c6c6f> Tj ET", "Hello", "");
    check_text(
        "BT /F 12 Tf 50 700 Td (a) Tj ET BI /W 1 /H 1 ID \x01EI\x02 EI BT /F 12 Tf 50 600 Td (b) Tj ET",
        "a\nb",
        "",
    );
}

#[test]
fn what_a_person_does_not_see_is_told_apart() {
    check_text("1 g BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-color");
    check_text("0 0 0 0 k BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-color");
    check_text("0 g 0 0 595 842 re f 1 g BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "");
    check_text("0 g 0 0 595 842 re f BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-color");
    check_text("BT 3 Tr /F 12 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-color");
    check_text("/G gs BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-color");
    check_text("BT /F 1 Tf 50 700 Td (x) Tj ET", "x", "pdf/hidden-size");
    check_text("BT /F 12 Tf .1 0 0 .1 50 700 Tm (x) Tj ET", "x", "pdf/hidden-size");
    check_text("BT /F 12 Tf 50 900 Td (x) Tj ET", "x", "pdf/hidden-offpage");
    check_text("q 0 0 10 10 re W n BT /F 12 Tf 50 700 Td (x) Tj ET Q", "x", "pdf/hidden-offpage");
    check_text("q W n BT /F 12 Tf 50 700 Td (x) Tj ET Q", "x", "pdf/hidden-offpage");
    check_text("BT /F 12 Tf 50 700 Td (x) Tj ET 1 1 1 rg 40 690 100 30 re f", "x", "pdf/hidden-covered");
    let drawn = |path: &str, rule| check_text(&format!("BT /F 12 Tf 50 700 Td (x) Tj ET 1 g {path} f"), "x", rule);
    for sides in
        ["140 690 l 140 720 l 40 720 l h", "40 720 l 140 720 l 140 690 l 40 690 l", "140 690 l 140 720 l 40 720 l"]
    {
        drawn(&format!("40 690 m {sides}"), "pdf/hidden-covered");
    }
    for other in
        ["140 690 l 140 720 l h", "140 690 l 150 720 l 40 720 l h", "140 690 l 140 720 l 40 720 l 30 700 l 40 690 l"]
    {
        drawn(&format!("40 690 m {other}"), "");
    }
    check_text("1 1 1 rg 40 690 100 30 re f 0 g BT /F 12 Tf 50 700 Td (x) Tj ET", "x", "");
}

#[test]
fn a_picture_covers_and_a_mask_does_not() {
    let content = "BT /F 12 Tf 50 700 Td (x) Tj ET q 595 0 0 842 0 0 cm /X Do Q";
    let image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8", b"x");
    assert_eq!(texts(content, &[&image], ""), [("x".to_owned(), "pdf/hidden-covered")]);
    let mask = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ImageMask true", b"x");
    assert_eq!(texts(content, &[&mask], ""), [("x".to_owned(), "")]);
}

#[test]
fn a_layer_that_is_off_hides() {
    let content = "/OC /L BDC BT /F 12 Tf 50 700 Td (x) Tj ET EMC BT /F 12 Tf 50 600 Td (y) Tj ET";
    let more: [&[u8]; 2] = [b"null", b"<</Type/OCG/Name(L)>>"];
    let off = texts(content, &more, "/OCProperties<</OCGs[7 0 R]/D<</OFF[7 0 R]>>>>");
    assert_eq!(off, [("y".to_owned(), ""), ("x".to_owned(), "pdf/hidden-covered")]);
    let on = texts(content, &more, "/OCProperties<</OCGs[7 0 R]/D<</ON[7 0 R]>>>>");
    assert_eq!(on, [("x\ny".to_owned(), "")]);
}

#[test]
fn forms_are_drawn_where_they_are_put() {
    let content = "q 1 0 0 1 0 -2000 cm /X Do Q";
    let form = stream("/Type/XObject/Subtype/Form/BBox[0 0 595 842]", b"BT /F 12 Tf 50 700 Td (x) Tj ET");
    assert_eq!(texts(content, &[&form], ""), [("x".to_owned(), "pdf/hidden-offpage")]);
    assert_eq!(texts("/X Do", &[&form], ""), [("x".to_owned(), "")]);
}

/// A document whose font has no map to Unicode and these keys, showing so many different codes.
fn shows(font: &str, codes: u16, more: &[&[u8]]) -> Seen {
    let text: String = (1..=codes).map(|code| format!("{code:04x}")).collect();
    let content = format!("BT /F 12 Tf 50 700 Td <{text}> Tj ET");
    let bytes = document("", content.as_bytes(), more);
    let bytes = String::from_utf8_lossy(&bytes).replace('\u{fffd}', "x");
    look(&FORMAT, "pdf", bytes.replacen(FONT, &format!("<</Type/Font{font}>>"), 1).as_bytes())
}

const GLYPHS: &str = "/Subtype/Type0/Encoding/Identity-H/DescendantFonts[6 0 R]";

#[test]
fn letters_that_lead_to_no_characters_are_told() {
    let gap = |codes: usize| {
        let seen = shows(GLYPHS, u16::try_from(codes).unwrap(), &[b"<</Subtype/CIDFontType2>>"]);
        seen.gaps.first().map(|gap| (gap.reason, gap.detail.clone()))
    };
    assert_eq!(gap(content::MOST_SYMBOLS), None);
    let (reason, detail) = gap(content::MOST_SYMBOLS + 1).unwrap();
    assert_eq!(reason, Reason::Unsupported);
    assert!(detail.starts_with("from page 1 on") && detail.contains("(9 different ones)"), "{detail}");
    assert!(gap(font::MOST_UNREAD).unwrap().1.contains("(64 or more different ones)"));
    // Fonts whose map says nothing, or names that do.
    let map = stream("", b"beginbfrange <0000> <ffff> <e000> endbfrange");
    assert!(!shows(&format!("{GLYPHS}/ToUnicode 6 0 R"), 20, &[&map]).gaps.is_empty());
    let names: String = (1..20).map(|name| format!("/q{name}")).collect();
    let drawn = format!("/Subtype/Type3/Encoding<</Differences[1{names}]>>");
    assert!(!shows(&drawn, 20, &[]).gaps.is_empty());
    assert!(shows("/Subtype/Type3/Encoding<</Differences[1/a/b/c/d/e/f/g/h/i/j/k/l]>>", 12, &[]).gaps.is_empty());
}

#[test]
fn codes_that_are_characters_are_read_by_the_name_of_their_map() {
    let seen = shows("/Subtype/Type0/Encoding/UniJIS-UTF16-H/DescendantFonts[6 0 R]", 0x50, &[b"<<>>"]);
    assert!(seen.gaps.is_empty());
    assert!(seen.texts().iter().any(|text| text.contains("ABC")), "{:?}", seen.texts());
}

#[test]
fn script_is_found_wherever_it_is() {
    let js = "<</S/JavaScript/JS(app.alert\\(1\\))>>";
    for catalogue in [
        format!("/OpenAction{js}"),
        format!("/AA<</WC{js}>>"),
        format!("/Names<</JavaScript<</Names[(a){js}]>>>>"),
        "/OpenAction 6 0 R".to_owned(),
        "/OpenAction<</S/J#61vaScript/J#53(x)>>".to_owned(),
        "/OpenAction %comment\n<</S %other )\n/JavaScript/JS<78>>>".to_owned(),
    ] {
        let seen = facts(&document(&catalogue, HELLO, &[js.as_bytes()]));
        assert!(seen.contains(&"medium script.pdf_js".to_owned()), "{catalogue}: {seen:?}");
    }
    // Nothing leads there, or only what was replaced.
    assert_eq!(facts(&document("", HELLO, &[js.as_bytes()])), ["medium script.pdf_js"]);
    let packed = zlib(format!("20 0 {js}").as_bytes());
    let container = stream("/Type/ObjStm/N 1/First 5/Filter/FlateDecode", &packed);
    assert_eq!(facts(&document("", HELLO, &[&container])), ["medium script.pdf_js"]);
    let plain = stream("", b"app.alert(1)");
    let seen = look(&FORMAT, "pdf", &document("/OpenAction<</S/JavaScript/JS 6 0 R>>", HELLO, &[&plain]));
    assert!(seen.texts().contains(&"app.alert(1)".to_owned()));
}

#[test]
fn actions_are_judged_by_what_they_do() {
    let act = |action: &str| facts(&document("", HELLO, &[action.as_bytes()]));
    let open = |action: &str| facts(&document(&format!("/OpenAction{action}"), HELLO, &[]));
    assert_eq!(act("<</S/Launch/F(calc.exe)>>"), ["high exec.pdf_launch"]);
    assert_eq!(act("<</S/SubmitForm/F(http://a.example/)>>"), ["medium html.form"]);
    assert_eq!(act("<</S/URI/URI(https://a.example/)>>"), ["info net.link"]);
    assert_eq!(act("<</S/URI/URI(java\\nscript:x)>>"), ["medium html.url"]);
    assert_eq!(act("<</S/URI/URI(search-ms:x)>>"), ["high exec.protocol"]);
    assert_eq!(act("<</S/URI/URI(\\\\\\\\host\\\\share)>>"), ["medium net.external_ref"]);
    assert_eq!(act("<</S/GoToR/F(other.pdf)/D[0/Fit]>>"), ["low net.external_ref"]);
    assert_eq!(open("<</S/URI/URI(https://a.example/)>>"), ["medium net.auto_open", "info net.link"]);
    assert_eq!(open("<</S/GoTo/D[3 0 R/Fit]>>"), NOTHING);
    assert_eq!(open("[3 0 R/Fit]"), NOTHING);
    assert_eq!(act("<</Type/StructElem/S/Sound/P 1 0 R/K 0>>"), NOTHING);
}

#[test]
fn attachments_are_children_with_their_names() {
    let seen = look(
        &FORMAT,
        "pdf",
        &document("", HELLO, &[b"<</Type/Filespec/F(a.txt)/EF<</F 7 0 R>>>>", &stream("", b"hello")]),
    );
    assert_eq!(seen.facts().iter().map(|fact| words(fact)).collect::<Vec<_>>(), ["medium embed.file"]);
    assert_eq!(seen.children[0].name.as_deref(), Some("a.txt"));
}

#[test]
fn bombs_are_seen() {
    let zeros = zlib(&vec![0; 4_000_000]);
    let content = document("", HELLO, &[&stream("/Filter/FlateDecode", &zeros)]);
    assert_eq!(facts(&content), ["high bomb.ratio", "gap limit:ratio"]);
    let twice = stream("/Filter[/FlateDecode/FlateDecode]", &zlib(&zeros));
    assert!(facts(&document("", HELLO, &[&twice])).contains(&"high bomb.ratio".to_owned()));
    let many = "/AHx".repeat(1000);
    assert_eq!(facts(&document("", HELLO, &[&stream(&format!("/Filter[{many}]"), b"00")])), ["high bomb.recursion"]);
    let deep = format!("/X {}", "[".repeat(5000));
    assert!(facts(&document(&deep, HELLO, &[])).contains(&"high bomb.recursion".to_owned()));
    let huge = stream("/Subtype/Image/Width 100000/Height 100000", b"");
    assert_eq!(facts(&document("", HELLO, &[&huge])), ["high bomb.dimensions"]);
}

#[test]
fn forms_that_unfold_without_end_are_seen() {
    let forms: Vec<Vec<u8>> = (7..17)
        .map(|next| {
            let resources = format!("/Subtype/Form/Resources<</XObject<</X {next} 0 R>>>>");
            stream(&resources, "/X Do ".repeat(10).as_bytes())
        })
        .collect();
    let forms: Vec<&[u8]> = forms.iter().map(Vec::as_slice).collect();
    assert_eq!(facts(&document("", b"/X Do", &forms)), ["high bomb.recursion"]);
    let own = stream("/Subtype/Form/Resources<</XObject<</X 6 0 R>>>>", b"/X Do");
    assert_eq!(facts(&document("", b"/X Do", &[&own])), ["medium bomb.recursion"]);
}

#[test]
fn circles_are_seen() {
    for more in ["<</Kids[6 0 R]>>", "<</Next 6 0 R>>", "<</First 7 0 R>>"] {
        let seen = facts(&document("", HELLO, &[more.as_bytes(), b"<</Next 6 0 R>>"]));
        assert_eq!(seen, ["medium bomb.recursion"], "{more}");
    }
}

#[test]
fn damage_is_told() {
    let whole = document("", HELLO, &[]);
    let text = String::from_utf8_lossy(&whole).replace('\u{fffd}', "x");
    let change = |from: &str, to: &str| facts(text.replacen(from, to, 1).as_bytes());
    assert_eq!(change("%%EOF", ""), ["medium malformed.truncated"]);
    assert_eq!(change("startxref\n", "startxref\n9"), ["medium malformed.xref"]);
    assert_eq!(change("/Size 6", "/Size 2147483647"), ["medium malformed.xref"]);
    assert_eq!(change("Count 1", "Count 9"), ["medium malformed.structure"]);
    assert_eq!(change("Length 35", "Length 34"), ["medium malformed.structure"]);
    assert_eq!(change("/Parent 2 0 R", "/A 1/A 2/B 12"), ["medium malformed.structure"]);
    assert_eq!(change("/Root 1 0 R", "/Poor 1 0 R"), ["medium malformed.structure"]);
    assert_eq!(change("/Parent 2 0 R", "/Par#00 2 0 R"), ["medium malformed.structure"]);
    assert_eq!(change("%%EOF\n", &format!("%%EOF\n{}", "x".repeat(20))), ["medium type.trailing_data"]);
    assert_eq!(change("%%EOF\n", "%%EOF\n\n \0"), NOTHING);
    let late = [b"junk\n", text.as_bytes()].concat();
    assert_eq!(facts(&late), ["medium malformed.header_offset"]);
}

#[test]
fn an_older_version_is_told_quietly() {
    let mut bytes = document("", HELLO, &[]);
    let start = bytes.len();
    bytes.extend_from_slice(b"5 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Courier>>\nendobj\n");
    let table = bytes.len();
    let old = memmem::rfind(&bytes, b"xref\n0 6").unwrap();
    bytes.extend_from_slice(format!("xref\n5 1\n{start:010} 00000 n \n").as_bytes());
    bytes.extend_from_slice(
        format!("trailer\n<</Size 6/Root 1 0 R/Prev {old}>>\nstartxref\n{table}\n%%EOF\n").as_bytes(),
    );
    assert_eq!(facts(&bytes), ["info pdf.incremental"]);
}

#[test]
fn two_objects_of_one_number_are_told() {
    let twice = |second: &str| facts(&document("", HELLO, &[format!("null\nendobj\n5 0 obj\n{second}").as_bytes()]));
    assert_eq!(twice(&FONT.replace("Helvetica", "Courier")), ["medium malformed.structure"]);
    assert_eq!(twice(FONT), NOTHING, "the same twice is no other document");
}

#[test]
fn a_cut_anywhere_is_never_silent() {
    let packed = zlib(b"20 0 <</S/JavaScript/JS(x)>>");
    let container = stream("/Type/ObjStm/N 1/First 5/Filter/FlateDecode", &packed);
    let whole = document("", HELLO, &[&container]);
    for length in 0..whole.len() - 1 {
        assert_ne!(facts(&whole[..length]), NOTHING, "cut at {length}");
    }
}

#[test]
fn a_lie_in_any_number_is_survived() {
    let packed = zlib(b"20 0 <</S/JavaScript/JS(x)>>");
    let container =
        stream("/Type/ObjStm/N 1/First 5/Filter/FlateDecode/DecodeParms<</Predictor 1/Columns 4>>", &packed);
    let whole = document("", HELLO, &[&container]);
    for at in 0..whole.len() {
        if !whole[at].is_ascii_digit() || whole[at.saturating_sub(1)].is_ascii_digit() {
            continue;
        }
        for lie in ["-1", "4294967296", "99999999999999999999", "0"] {
            let end = at + whole[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            facts(&[&whole[..at], lie.as_bytes(), &whole[end..]].concat());
        }
    }
}

#[test]
fn each_limit_holds_at_it_and_not_one_past() {
    let form = stream("/Subtype/Form", b"BT /F 12 Tf 50 700 Td (x) Tj ET");
    let bytes = document("", b"/X Do", &[&form, &stream("/Filter/FlateDecode", &zlib(b"text"))]);
    let seen = look(&FORMAT, "pdf", &bytes);
    for resource in [Resource::Steps, Resource::Objects, Resource::DecodedBytes] {
        let needed = seen.spent(resource);
        let limited = |limit| Seen::limited(&FORMAT, "pdf", &bytes, Limits::default().with(resource, limit));
        assert_eq!(limited(needed).facts(), NOTHING, "{resource}");
        assert_ne!(limited(needed - 1).facts(), NOTHING, "{resource}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damage_is_survived(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let form = stream("/Subtype/Form", b"q BT /F 12 Tf 50 700 Td [(x) 5 (y)] TJ ET Q");
        let mut bytes = document("/AcroForm<</XFA 6 0 R>>", b"/X Do", &[&form, &stream("/Filter/FlateDecode", &zlib(b"text"))]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        facts(&bytes);
    }
}
