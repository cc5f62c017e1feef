//! PDF documents: one page with a line of text.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
        Style,
    },
    defect::{Kind, ORDER},
};

const PDF: Kind = Kind::new("pdf", "pdf", document);

pub(super) fn make(cases: &mut Cases) {
    PDF.make(cases);
    objects(cases);
    actions(cases);
    streams(cases);
}

/// A decimal number without zeros in front would change its length with its value: these keep their places.
fn number(b: &mut Build, name: &'static str, means: super::build::Means, width: usize, value: usize) {
    let hole = b.hole(name, means, width, Style::Decimal);
    b.fill(hole, value);
}

fn document(b: &mut Build) {
    b.part("head");
    b.raw(b"%PDF-1.7\n");
    let mut places = Vec::new();
    b.part("catalog");
    places.push(b.at());
    b.raw(b"1 0 obj\n<</Type/Catalog/Pages ");
    number(b, "number of the pages object", Offset, 1, 2);
    b.raw(b" 0 R>>\nendobj\n");
    b.part("pages");
    places.push(b.at());
    b.raw(b"2 0 obj\n<</Type/Pages/Count ");
    number(b, "pages", Count, 1, 1);
    b.raw(b"/Kids[");
    number(b, "number of the page object", Offset, 1, 3);
    b.raw(b" 0 R]>>\nendobj\n");
    b.part("page");
    places.push(b.at());
    b.raw(b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 ");
    number(b, "width", Length, 3, 200);
    b.raw(b" 100]/Resources<</Font<</F 4 0 R>>>>/Contents ");
    number(b, "number of the contents object", Offset, 1, 5);
    b.raw(b" 0 R>>\nendobj\n");
    b.part("font");
    places.push(b.at());
    b.raw(b"4 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/");
    let font = b.says("font", "Helvetica");
    b.raw(font.iter().map(|byte| if *byte == b' ' { b'-' } else { *byte }).collect::<Vec<u8>>());
    b.raw(b">>\nendobj\n");
    b.part("contents");
    places.push(b.at());
    let says = b.says("line", "Total for the month");
    let text = [&b"BT /F 12 Tf 10 50 Td ("[..], &says, b") Tj ET"].concat();
    b.raw(b"5 0 obj\n<</Length ");
    number(b, "stream length", Length, 3, text.len());
    b.raw(b">>\nstream\n");
    b.raw(text);
    b.raw(b"\nendstream\nendobj\n");
    b.part("information");
    places.push(b.at());
    b.raw(b"6 0 obj\n<<");
    for (key, name) in [("Title", "title"), ("Author", "author"), ("Subject", "subject"), ("Keywords", "keywords")] {
        let says = b.says(name, "report");
        b.raw([b"/", key.as_bytes(), b"(", &says, b")"].concat());
    }
    b.raw(b">>\nendobj\n");
    b.part("table");
    let table = b.at();
    b.raw(b"xref\n0 ");
    number(b, "entries of the table", Count, 1, 7);
    b.raw(b"\n0000000000 65535 f \n");
    for (index, place) in places.into_iter().enumerate() {
        if index == 0 {
            number(b, "place of the catalog", Offset, 10, place);
        } else if index == 4 {
            number(b, "place of the contents", Offset, 10, place);
        } else {
            b.raw(format!("{place:010}"));
        }
        b.raw(b" 00000 n \n");
    }
    b.part("trailer");
    b.raw(b"trailer\n<</Size ");
    number(b, "size in the trailer", Count, 1, 7);
    b.raw(b"/Root ");
    number(b, "number of the root", Choice, 1, 1);
    b.raw(b" 0 R/Info 6 0 R>>\nstartxref\n");
    number(b, "place of the table", Offset, 4, table);
    b.raw(b"\n%%EOF\n");
}

/// A document of these objects behind the first three, with what the catalog and the page say besides.
fn with(catalog: &str, page: &str, more: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        format!("<</Type/Catalog/Pages 2 0 R{catalog}>>"),
        "<</Type/Pages/Count 1/Kids[3 0 R]>>".to_owned(),
        format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]{page}>>"),
    ];
    objects.extend(more.iter().map(|object| (*object).to_owned()));
    written(&objects, "")
}

fn written(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut out = "%PDF-1.7\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    let at = out.len();
    let size = objects.len() + 1;
    out.push_str(&format!("{table}trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{at}\n%%EOF\n"));
    out.into_bytes()
}

fn add(cases: &mut Cases, rows: Vec<(&str, &str, Vec<u8>)>) {
    for (name, why, bytes) in rows {
        cases.text("pdf", &format!("{name}.pdf"), why, bytes);
    }
}

fn objects(cases: &mut Cases) {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let rows = vec![
        (
            "catalog-missing",
            "the trailer leads to an object that is not there",
            written(&["<</Type/Pages>>".to_owned()], "/Root 9 0 R"),
        ),
        ("catalog-is-a-number", "the catalog is a number", written(&["7".to_owned()], "")),
        (
            "page-without-size",
            "a page has no size",
            written(
                &[
                    "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
                    "<</Type/Pages/Count 1/Kids[3 0 R]>>".to_owned(),
                    "<</Type/Page/Parent 2 0 R>>".to_owned(),
                ],
                "",
            ),
        ),
        (
            "page-turned-inside-out",
            "the corners of a page are exchanged and out of range",
            with("", "/Rotate 45/CropBox[9999999999 9999999999 -1 -1]", &[]),
        ),
        (
            "kids-is-its-own-kid",
            "the list of pages holds itself",
            written(
                &["<</Type/Catalog/Pages 2 0 R>>".to_owned(), "<</Type/Pages/Count 1/Kids[2 0 R]>>".to_owned()],
                "",
            ),
        ),
        ("reference-to-itself", "an object is a reference to itself", with("/Extra 4 0 R", "", &["4 0 R"])),
        (
            "references-in-a-ring",
            "two objects are references to each other",
            with("/Extra 4 0 R", "", &["5 0 R", "4 0 R"]),
        ),
        ("arrays-200-deep", "arrays in arrays, two hundred deep", with("/Extra 4 0 R", "", &[&deep])),
        ("string-without-end", "a string has no end", with("/Extra 4 0 R", "", &["(never ends"])),
        ("dictionary-without-end", "a dictionary has no end", with("/Extra 4 0 R", "", &["<</A 1"])),
        ("hex-string-of-no-hex", "a string of hexadecimal has other letters", with("/Extra 4 0 R", "", &["<zz41>"])),
        ("name-with-zero", "a name holds a NUL in its escape", with("/Extra 4 0 R", "", &["/A#00B"])),
        (
            "number-of-many-digits",
            "a number has two hundred digits",
            with("/Extra 4 0 R", "", &["9".repeat(200).as_str()]),
        ),
        (
            "object-number-zero",
            "an object has the number nought",
            [&b"%PDF-1.4\n0 0 obj\n<<>>\nendobj\n"[..], &with("", "", &[])].concat(),
        ),
        ("generation-too-large", "an object has a generation that cannot be", with("/Extra 4 99999 R", "", &["1"])),
        (
            "two-trailers",
            "an older trailer stands behind the newer one",
            [with("", "", &[]), b"trailer\n<</Root 3 0 R/Size 99>>\n%%EOF\n".to_vec()].concat(),
        ),
        ("earlier-table-is-itself", "the earlier table is the table itself", {
            let honest = with("", "", &[]);
            let at = String::from_utf8_lossy(&honest).find("xref").unwrap_or_default();
            written(
                &[
                    "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
                    "<</Type/Pages/Count 1/Kids[3 0 R]>>".to_owned(),
                    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>".to_owned(),
                ],
                &format!("/Prev {at}"),
            )
        }),
        (
            "earlier-table-past-the-end",
            "the earlier table is past the end",
            written(&["<</Type/Catalog>>".to_owned()], "/Prev 99999999"),
        ),
        ("version-in-catalog", "the catalog says another version", with("/Version/9.9", "", &[])),
        ("lines-end-in-carriage-returns", "every line ends as on an old Mac", {
            let bytes = with("", "", &[]);
            bytes.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect()
        }),
    ];
    add(cases, rows);
}

fn actions(cases: &mut Cases) {
    let annotation = |action: &str| {
        with("", "/Annots[4 0 R]", &[&format!("<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S{action}>>>>")])
    };
    let rows = vec![
        (
            "goes-to-another-file",
            "a link opens another file",
            annotation("/GoToR/F(\\\\\\\\host\\\\share\\\\a.pdf)/D[0/Fit]"),
        ),
        (
            "goes-to-an-attached-file",
            "a link opens a file inside the file",
            annotation("/GoToE/T<</R/C/N(a.pdf)>>/D[0/Fit]"),
        ),
        ("imports-data", "a link reads data in from a file", annotation("/ImportData/F(a.fdf)")),
        ("plays-a-sound", "a link plays a sound", annotation("/Sound/Sound 5 0 R")),
        ("hides-a-field", "a link hides a field", annotation("/Hide/T(field)")),
        ("prints-itself", "a named action prints the document", annotation("/Named/N/Print")),
        ("sets-layers", "a link shows what was hidden", annotation("/SetOCGState/State[/ON 5 0 R]")),
        (
            "actions-in-a-ring",
            "an action is followed by itself",
            with("/OpenAction 4 0 R", "", &["<</S/Named/N/NextPage/Next 4 0 R>>"]),
        ),
        ("action-of-no-meaning", "an action of a kind that nobody knows", annotation("/Dance")),
        (
            "link-with-a-name-in-it",
            "a link holds the name of a user",
            annotation("/URI/URI(https://user:word@host.example/)"),
        ),
        ("link-to-a-local-file", "a link leads to a file of the reader", annotation("/URI/URI(file:///etc/passwd)")),
        (
            "script-when-a-page-closes",
            "a script runs when the page is left",
            with("", "/AA<</C<</S/JavaScript/JS(app.alert(1))>>>>", &[]),
        ),
        (
            "script-when-printed",
            "a script runs before the document is printed",
            with("/AA<</WP<</S/JavaScript/JS(app.alert(1))>>>>", "", &[]),
        ),
        (
            "script-in-a-bookmark",
            "a bookmark runs a script",
            with(
                "/Outlines 4 0 R",
                "",
                &[
                    "<</Type/Outlines/First 5 0 R/Last 5 0 R/Count 1>>",
                    "<</Title(a)/Parent 4 0 R/A<</S/JavaScript/JS(app.alert(1))>>>>",
                ],
            ),
        ),
        (
            "script-in-names",
            "a script has a name and runs at opening",
            with("/Names<</JavaScript<</Names[(a) 4 0 R]>>>>", "", &["<</S/JavaScript/JS(app.alert(1))>>"]),
        ),
        (
            "script-in-a-stream",
            "the script stands in a stream",
            with("/OpenAction<</S/JavaScript/JS 4 0 R>>", "", &["<</Length 12>>\nstream\napp.alert(1)\nendstream"]),
        ),
        (
            "script-in-a-field",
            "a field of a form runs a script when a key is pressed",
            with("/AcroForm<</Fields[4 0 R]>>", "", &["<</FT/Tx/T(f)/AA<</K<</S/JavaScript/JS(app.alert(1))>>>>>>"]),
        ),
        (
            "attack-in-a-note",
            "a note on the page is an order",
            with("", "/Annots[4 0 R]", &[&format!("<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents({ORDER})>>")]),
        ),
        (
            "attack-in-a-field",
            "the value of a field is an order",
            with("/AcroForm<</Fields[4 0 R]>>", "", &[&format!("<</FT/Tx/T(f)/V({ORDER})>>")]),
        ),
        (
            "attack-in-a-bookmark",
            "a bookmark is an order",
            with(
                "/Outlines 4 0 R",
                "",
                &["<</Type/Outlines/First 5 0 R/Last 5 0 R/Count 1>>", &format!("<</Title({ORDER})/Parent 4 0 R>>")],
            ),
        ),
        (
            "attack-in-alternative-text",
            "the words for those who cannot see are an order",
            with(
                "/StructTreeRoot 4 0 R/MarkInfo<</Marked true>>",
                "",
                &["<</Type/StructTreeRoot/K 5 0 R>>", &format!("<</S/Figure/P 4 0 R/Alt({ORDER})>>")],
            ),
        ),
        (
            "attack-in-xmp",
            "the metadata order a model about",
            with(
                "/Metadata 4 0 R",
                "",
                &[&format!(
                    "<</Type/Metadata/Subtype/XML/Length 89>>\nstream\n<x:xmpmeta><dc:title>{ORDER}</dc:title></x:xmpmeta>\nendstream"
                )],
            ),
        ),
        (
            "attack-in-page-label",
            "the label of the pages is an order",
            with(&format!("/PageLabels<</Nums[0<</P({ORDER})>>]>>"), "", &[]),
        ),
        (
            "attack-in-name-of-attachment",
            "an attached file has an order for a name",
            with(
                "/Names<</EmbeddedFiles<</Names[(a) 4 0 R]>>>>",
                "",
                &[
                    &format!("<</Type/Filespec/F({ORDER})/EF<</F 5 0 R>>>>"),
                    "<</Type/EmbeddedFile/Length 5>>\nstream\nwords\nendstream",
                ],
            ),
        ),
        (
            "attachment-climbs-out",
            "an attached file has a name that leads out",
            with(
                "/Names<</EmbeddedFiles<</Names[(a) 4 0 R]>>>>",
                "",
                &[
                    "<</Type/Filespec/F(../../start.bat)/EF<</F 5 0 R>>>>",
                    "<</Type/EmbeddedFile/Length 5>>\nstream\nwords\nendstream",
                ],
            ),
        ),
        (
            "attachment-is-a-program",
            "an attached file is a program",
            with(
                "/Names<</EmbeddedFiles<</Names[(a) 4 0 R]>>>>",
                "",
                &[
                    "<</Type/Filespec/F(a.exe)/EF<</F 5 0 R>>>>",
                    "<</Type/EmbeddedFile/Length 16>>\nstream\nMZ0123456789abcd\nendstream",
                ],
            ),
        ),
    ];
    add(cases, rows);
}

fn streams(cases: &mut Cases) {
    let stream = |dictionary: &str, data: &str| {
        with("", "/Contents 4 0 R", &[&format!("<<{dictionary}>>\nstream\n{data}\nendstream")])
    };
    let rows = vec![
        (
            "filter-of-no-meaning",
            "a stream is packed in a way that nobody knows",
            stream("/Length 4/Filter/Pack", "data"),
        ),
        (
            "filter-flate-of-garbage",
            "a stream says it is packed and is not",
            stream("/Length 4/Filter/FlateDecode", "data"),
        ),
        (
            "filter-hex-of-garbage",
            "a stream of hexadecimal has other letters",
            stream("/Length 4/Filter/ASCIIHexDecode", "zz@@"),
        ),
        (
            "filter-base85-of-garbage",
            "a stream of base 85 has letters that are too large",
            stream("/Length 6/Filter/ASCII85Decode", "zzuuu~"),
        ),
        (
            "filter-lzw-of-garbage",
            "a stream of LZW begins with a code that is not there",
            stream("/Length 4/Filter/LZWDecode", "data"),
        ),
        (
            "filters-ten",
            "a stream is packed ten times",
            stream(&format!("/Length 3/Filter[{}]", "/ASCIIHexDecode".repeat(10)), "00>"),
        ),
        (
            "filter-predictor-too-wide",
            "rows of the stream are wider than memory",
            stream(
                "/Length 4/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 2147483647/Colors 32/BitsPerComponent 16>>",
                "data",
            ),
        ),
        (
            "stream-in-another-file",
            "the data of a stream stand in another file",
            stream("/Length 0/F(../data.bin)", ""),
        ),
        (
            "length-is-another-object",
            "the length of a stream is an object",
            with("", "/Contents 4 0 R", &["<</Length 5 0 R>>\nstream\nBT ET\nendstream", "5"]),
        ),
        (
            "length-is-itself",
            "the length of a stream is the stream",
            with("", "/Contents 4 0 R", &["<</Length 4 0 R>>\nstream\nBT ET\nendstream"]),
        ),
        ("length-below-zero", "the length of a stream is below nought", stream("/Length -1", "BT ET")),
        ("length-missing", "a stream has no length", stream("", "BT ET")),
        ("stream-without-end", "a stream has no end", with("", "/Contents 4 0 R", &["<</Length 5>>\nstream\nBT ET"])),
        ("contents-are-a-page", "the contents of a page are the page", with("", "/Contents 3 0 R", &[])),
        ("contents-never-close", "the drawing opens states and closes none", stream("/Length 64", &"q ".repeat(32))),
        (
            "contents-close-too-much",
            "the drawing closes states that were not opened",
            stream("/Length 64", &"Q ".repeat(32)),
        ),
        ("contents-of-garbage", "the drawing is no drawing", stream("/Length 20", "]]>> (( }{ <<< /// %")),
        (
            "form-draws-itself",
            "a form draws itself",
            with(
                "",
                "/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>",
                &[
                    "<</Length 5>>\nstream\n/X Do\nendstream",
                    "<</Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 5>>\nstream\n/X Do\nendstream",
                ],
            ),
        ),
        (
            "object-stream-of-lies",
            "a stream of objects says it has a thousand",
            with("/Extra 5 0 R", "", &["<</Type/ObjStm/N 1000/First 9/Length 12>>\nstream\n5 0 <<>>    \nendstream"]),
        ),
        (
            "object-stream-extends-itself",
            "a stream of objects is the rest of itself",
            with(
                "/Extra 5 0 R",
                "",
                &["<</Type/ObjStm/N 1/First 4/Extends 4 0 R/Length 8>>\nstream\n5 0 <<>>\nendstream"],
            ),
        ),
        (
            "inline-picture-without-end",
            "a picture in the drawing has no end",
            stream("/Length 40", "BI /W 2 /H 2 /BPC 8 /CS /G ID 1234567890"),
        ),
        (
            "inline-picture-of-gigabytes",
            "a picture in the drawing is a million wide",
            stream("/Length 52", "BI /W 1000000 /H 1000000 /BPC 8 /CS /G ID 1234 EI   "),
        ),
        (
            "colours-refer-to-themselves",
            "a space of colours stands on itself",
            with("", "/Resources<</ColorSpace<</C 4 0 R>>>>", &["[/Indexed 4 0 R 1 <00>]"]),
        ),
        (
            "function-of-functions",
            "a function is made of itself",
            with(
                "",
                "/Resources<</ExtGState<</G<</TR 4 0 R>>>>>>",
                &["<</FunctionType 3/Domain[0 1]/Functions[4 0 R]/Bounds[]/Encode[0 1]>>"],
            ),
        ),
    ];
    add(cases, rows);
}
