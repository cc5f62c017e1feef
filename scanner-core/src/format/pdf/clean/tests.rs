//! Documents with one part each that acts; what is left of them.

use proptest::prelude::*;

use crate::{
    format::{
        cleaning::{Uncleanable, testing},
        pdf::{
            FORMAT,
            tests::{FONT, HELLO, PAGE, PAGES, document, file, stream, zlib},
        },
        testing::look,
    },
    limits::{Limits, Resource},
};

fn cleaned(bytes: &[u8]) -> String {
    let (clean, _) = testing::clean(&FORMAT, "pdf", bytes).unwrap();
    let seen = look(&FORMAT, "pdf", &clean);
    let facts: Vec<String> = seen.facts().into_iter().filter(|fact| !fact.starts_with("info")).collect();
    assert_eq!(facts, Vec::<String>::new());
    String::from_utf8_lossy(&clean).into_owned()
}

/// What is written for a page that has that in its dictionary, with more objects from number six on.
fn page(entries: &str, more: &[&[u8]]) -> String {
    let page = PAGE.replacen("/Parent", &format!("{entries}/Parent"), 1);
    let mut objects: Vec<Vec<u8>> =
        vec!["<</Type/Catalog/Pages 2 0 R>>".into(), PAGES.into(), page.into(), stream("", HELLO), FONT.into()];
    objects.extend(more.iter().map(|object| object.to_vec()));
    cleaned(&file(&objects, ""))
}

fn refused(bytes: &[u8]) -> String {
    let Uncleanable(why) = testing::clean(&FORMAT, "pdf", bytes).unwrap_err();
    why.into_owned()
}

#[test]
fn an_honest_page_stays() {
    let form = stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 9.50 9]/PieceInfo 1 0 R/Filter/FlateDecode",
        &zlib(b"BT /F 12 Tf 50 700 Td (in a form) Tj ET"),
    );
    let bytes = document("/Lang(en)", b"BT /F 12 Tf 50 700 Td (Hello) Tj ET /X Do", &[&form]);
    let (clean, _) = testing::clean(&FORMAT, "pdf", &bytes).unwrap();
    let texts = look(&FORMAT, "pdf", &bytes).texts();
    assert!(texts.concat().contains("Hello") && texts.concat().contains("in a form"));
    assert_eq!(look(&FORMAT, "pdf", &clean).texts(), texts);
    let text = cleaned(&bytes);
    assert!(text.contains("/BBox[ 0 0 9.5 9]") && !text.contains("PieceInfo"));
    assert!(text.starts_with("%PDF-1.7\n") && text.contains("/Lang(en)"));
}

#[test]
fn what_acts_at_opening_is_gone() {
    let script: &[u8] = b"<</S/JavaScript/JS(app.alert\\(1\\))>>";
    for catalogue in [
        "/OpenAction 6 0 R",
        "/AA<</WC 6 0 R>>",
        "/Names<</JavaScript<</Names[(a) 6 0 R]>>>>",
        "/AcroForm<</Fields[]/XFA 6 0 R>>",
        "/Outlines 6 0 R",
        "/URI<</Base(file:///etc)>>",
        "/Metadata 6 0 R/PieceInfo 6 0 R/ViewerPreferences 6 0 R/Threads 6 0 R",
    ] {
        let text = cleaned(&document(catalogue, HELLO, &[script]));
        assert!(!text.contains("JavaScript") && !text.contains("file:"), "{catalogue}: {text}");
        assert!(text.contains("(Hello) Tj"), "{catalogue}");
    }
}

#[test]
fn a_resource_named_like_a_form_in_xml_is_gone() {
    let space = "/ColorSpace<</XFA[/CalGray<</WhitePoint[1 1 1]>>]/Y/DeviceRGB>>";
    let form = stream(&format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<{space}/XObject<</XFA/X>>>>"), b"");
    let text = cleaned(&document("", b"BT /F 12 Tf (Hello) Tj ET /X Do", &[&form]));
    assert!(!text.contains("XFA") && text.contains("/Y/DeviceRGB"), "{text}");
}

#[test]
fn attached_files_and_what_nothing_refers_to_are_gone() {
    let file = stream("/Type/EmbeddedFile", b"MZ program");
    let names = "/Names<</EmbeddedFiles<</Names[(a.exe)<</Type/Filespec/F(a.exe)/EF<</F 6 0 R>>>>]>>>>";
    assert!(!cleaned(&document(names, HELLO, &[&file])).contains("MZ program"));
    assert!(!cleaned(&document("", HELLO, &[&file])).contains("MZ program"));
    let note = "/Annots[<</Subtype/FileAttachment/Rect[0 0 9 9]/FS<</EF<</F 6 0 R>>>>>>]";
    assert!(!page(note, &[&file]).contains("MZ program"));
}

#[test]
fn links_to_the_web_stay_and_others_go() {
    let link = |action: &str| page(&format!("/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<<{action}>>>>]"), &[]);
    for address in ["https://example.org/a(b)", "mailto:a@example.org", "HTTP://example.org"] {
        let raw = address.replace('(', "\\(").replace(')', "\\)");
        assert!(
            link(&format!("/S/URI/URI({raw})/Next<</S/Launch/F(x)>>")).contains(&format!("/URI({raw})")),
            "{address}"
        );
    }
    for action in [
        "/S/URI/URI(javascript:x)",
        "/S/URI/URI(file:///etc/passwd)",
        "/S/URI/URI(//share/x)",
        "/S/URI/URI(https:)",
        "/S/URI/URI(https://a.example/\\n)",
        "/S/URI/URI(https://a.example/SECRET)",
        "/S/Launch/F(cmd.exe)",
        "/S/GoToR/F(other.pdf)/D[0/Fit]",
        "/S/SubmitForm/F(https://evil.example)",
        "/S/GoTo/D(nowhere)",
        "/S/GoTo/D[1 0 R/Fit]",
    ] {
        assert!(link(action).contains("/Contents[ 5 0 R]>>"), "{action}");
    }
}

#[test]
fn places_inside_are_looked_up() {
    let names = "/Names<</Dests<</Kids[6 0 R 6 0 R]>>>>/Dests<</old[3 0 R/Fit]>>\
                 /Outlines<</First 7 0 R/Last 8 0 R>>/PageLabels<</Nums[0<</S/r/P(p-)/St 3>>]>>";
    let tree: &[u8] = b"<</Names[(here)<</D[3 0 R/XYZ 1 2.50 null]>>]/Kids[6 0 R]>>";
    let one: &[u8] = b"<</Title(One SECRET)/Dest(here)/Next 8 0 R/First 9 0 R/Count -1>>";
    let two: &[u8] = b"<</Title(Two)/A<</S/GoTo/D/old>>/Prev 7 0 R/Next 7 0 R>>";
    let below: &[u8] = b"<</Title(Below)/A<</S/Launch/F(x)>>>>";
    let text = cleaned(&document(names, HELLO, &[tree, one, two, below]));
    assert!(text.contains("/Title(One [secret])/Dest[3 0 R/XYZ 1 2.5 null]"), "{text}");
    assert!(text.contains("/Title(Two)/Dest[3 0 R/Fit]"));
    assert!(text.contains("/Title(Below)/Parent"));
    assert!(text.contains("/Count 2>>") && text.contains("/Count -1>>"));
    assert!(text.contains("/PageLabels<</Nums[ 0<</S/r/P(p-)/St 3>>]>>"));
}

#[test]
fn other_annotations_are_what_they_look_like() {
    let look = stream("/Subtype/Form/BBox[0 0 9 9]", b"0 0 9 9 re f");
    let field = "/Annots[<</Subtype/Widget/FT/Btn/Rect[0 0 9 9]/AS/On/AP<</N<</On 6 0 R/Off 7 0 R>>>>/F 4\
                 /AA<</D<</S/JavaScript/JS(x)>>>>>>]";
    let off = stream("/Subtype/Form", b"off");
    let text = page(field, &[&look, &off]);
    assert!(text.contains("/Subtype/Stamp/Rect[ 0 0 9 9]/F 196/AP<</N ") && text.contains("0 0 9 9 re f"));
    assert!(!text.contains("off"));
    let mark =
        "/Annots[<</Subtype/Ink/Rect[0 0 9 9]/InkList[[1 2 3 4]]/Contents(a SECRET)/A<</S/Launch/F(x)>>/IRT 1 0 R>>]";
    let text = page(mark, &[]);
    assert!(text.contains(
        "/Annots[<</Type/Annot/Subtype/Ink/F 192/Contents(a [secret])/InkList[[ 1 2 3 4]]/Rect[ 0 0 9 9]>>]"
    ));
    for gone in [
        "/Annots[<</Subtype/Ink/Rect[0 0 9 9]/F 32/InkList[[1 2 3 4]]>>]",
        "/Annots[<</Subtype/Stamp/Rect[0 0 9 9]/F 2/AP<</N 6 0 R>>>>]",
        "/Annots[<</Subtype/Stamp/Rect[0 0 9]/AP<</N 6 0 R>>>>]",
        "/Annots[<</Subtype/RichMedia/Rect[0 0 9 9]>>]",
        "/Annots[<</Subtype/Stamp/Rect[0 0 9 9]/AP<</N 1 0 R>>>>]",
    ] {
        assert!(page(gone, &[&look]).contains("/Contents[ 5 0 R]>>"), "{gone}");
    }
}

#[test]
fn forms_from_other_files_and_programs_for_printers_are_gone() {
    for form in ["/Subtype/Form/Subtype2/PS", "/Subtype/PS", "/Subtype/Form/PS 7 0 R", ""] {
        let text = cleaned(&document("", HELLO, &[&stream(form, b"the program")]));
        assert!(!text.contains("the program"), "{form}");
    }
    let text = cleaned(&document("", HELLO, &[&stream("/Subtype/Form/Ref<</F(x.pdf)>>/OPI<</F(x)>>", b"form")]));
    assert!(text.contains("form") && !text.contains("x.pdf") && !text.contains("OPI"));
}

#[test]
fn what_cannot_be_cleaned_is_refused() {
    let sig: &[u8] = b"<</Type/Sig/Filter/Adobe.PPKLite/ByteRange[0 1 2 3]>>";
    assert!(refused(&document("", HELLO, &[sig])).contains("signed"));
    assert!(refused(&document("/Perms<</DocMDP 6 0 R>>", HELLO, &[])).contains("signed"));
    assert!(refused(&document("", b"BT /F 12 Tf 50 700 Td (a SECRET) Tj ET", &[])).contains("part of a page"));
    assert!(refused(&document("", HELLO, &[])[..400]).contains("ends early"));
    assert!(
        refused(&file(&["<</Type/Catalog/Pages 2 0 R>>".into(), "<</Kids[]/Count 0>>".into()], ""))
            .contains("no pages")
    );
    let locked = file(
        &["<</Type/Catalog/Pages 2 0 R>>".into(), PAGES.into(), PAGE.into(), stream("", HELLO), FONT.into()],
        "/Encrypt<</Filter/Other>>",
    );
    assert!(refused(&locked).contains("encrypted"));
    let deep = stream(&format!("/Subtype/Form/Filter[{}]", "/AHx".repeat(9)), b"41>");
    assert!(refused(&document("", HELLO, &[&deep])).contains("many times over"));
    let zero: &[u8] = b"<</Subtype/Type1/BaseFont/A#00>>";
    let bytes = document("", HELLO, &[&[], zero]);
    let bytes = String::from_utf8_lossy(&bytes).replace("/F 5 0 R", "/F 7 0 R");
    assert!(refused(bytes.as_bytes()).contains("zero byte"));
}

#[test]
fn each_limit_holds_at_it_and_not_one_past() {
    let bytes = document("", HELLO, &[&stream("/Subtype/Form", b"q Q")]);
    for resource in [Resource::Steps, Resource::Objects] {
        let run = |limit| testing::clean_once(&FORMAT, "pdf", &bytes, Limits::default().with(resource, limit));
        let (mut least, mut most) = (0, resource.default_limit());
        while least + 1 < most {
            let middle = u64::midpoint(least, most);
            if run(middle).is_ok() { most = middle } else { least = middle }
        }
        assert_eq!(run(most).unwrap(), run(resource.default_limit()).unwrap());
        let Uncleanable(why) = run(most - 1).unwrap_err();
        assert!(why.contains(resource.name()), "{why}");
    }
}

#[test]
fn a_large_object_that_many_refer_to_is_paid_for_each_time() {
    let large = stream(&format!("/Subtype/Form{}", "/A 1".repeat(20_000)), b"q Q");
    let names: String = (0..20_000).map(|number| format!("/X{number} 6 0 R")).collect();
    let bytes = document("", HELLO, &[&large]);
    let bytes = String::from_utf8_lossy(&bytes).replace("/X 6 0 R", &names);
    assert_eq!(refused(bytes.as_bytes()), "the limit on steps was reached while cleaning");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_is_survived_and_what_is_clean_stays(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let form = stream("/Subtype/Form", b"q BT /F 12 Tf 50 700 Td [(x) 5 (y)] TJ ET Q");
        let mut bytes = document("/OpenAction 6 0 R/Dests<</a[3 0 R/Fit]>>", b"/X Do", &[&form, &stream("/Filter/FlateDecode", &zlib(b"text"))]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok((once, _)) = testing::clean_once(&FORMAT, "pdf", &bytes, Limits::default()) {
            let (twice, _) = testing::clean_once(&FORMAT, "pdf", &once, Limits::default()).unwrap();
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn numbers_settle_at_once(whole in any::<i32>(), part in 0_u32..1_000_000_000) {
        let bytes = document("/Dests<</a[3 0 R/Fit]>>/Outlines<</First 6 0 R>>", HELLO,
            &[format!("<</Title(x)/Dest[3 0 R/XYZ {whole}.{part:09} 0.{part:09} .5]>>").as_bytes()]);
        testing::clean(&FORMAT, "pdf", &bytes).unwrap();
    }
}
