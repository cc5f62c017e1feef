//! PDFs with right offsets: objects of bytes, in a table or in streams, with updates. An order on a page or a script in
//! an action is found, or the report says that the document is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, made::zlib, scan, tells};

#[derive(Arbitrary, Debug)]
enum Value<'a> {
    Name(Word<'a>),
    Number(i16),
    Real(i16),
    Text(&'a str),
    Hex(&'a [u8]),
    Ref(u8),
    Null,
    True,
    Array(Vec<Value<'a>>),
    Dict(Vec<(Word<'a>, Value<'a>)>),
    Raw(&'a [u8]),
}

/// A word that the inspector reads, or any.
#[derive(Arbitrary, Debug)]
enum Word<'a> {
    Known(u8),
    Escaped(u8),
    Other(&'a str),
}

const WORDS: &[&str] = &[
    "Type",
    "Subtype",
    "S",
    "JS",
    "JavaScript",
    "Launch",
    "URI",
    "GoToR",
    "GoToE",
    "SubmitForm",
    "ImportData",
    "Named",
    "OpenAction",
    "AA",
    "A",
    "O",
    "C",
    "WC",
    "Next",
    "Names",
    "EmbeddedFiles",
    "EF",
    "F",
    "UF",
    "EmbeddedFile",
    "Filespec",
    "Catalog",
    "Pages",
    "Page",
    "Kids",
    "Parent",
    "Count",
    "Contents",
    "Resources",
    "Font",
    "XObject",
    "Form",
    "Image",
    "Annots",
    "Annot",
    "Widget",
    "Link",
    "RichMedia",
    "FileAttachment",
    "AcroForm",
    "XFA",
    "Fields",
    "Metadata",
    "Info",
    "Title",
    "Author",
    "Filter",
    "FlateDecode",
    "ASCIIHexDecode",
    "ASCII85Decode",
    "LZWDecode",
    "RunLengthDecode",
    "DCTDecode",
    "DecodeParms",
    "Predictor",
    "Columns",
    "Length",
    "ObjStm",
    "XRef",
    "First",
    "N",
    "W",
    "Index",
    "Size",
    "Root",
    "Prev",
    "XRefStm",
    "Encrypt",
    "ID",
    "MediaBox",
    "CropBox",
    "Rotate",
    "OCProperties",
    "OCGs",
    "D",
    "OFF",
    "Encoding",
    "ToUnicode",
    "BaseFont",
    "Type1",
    "Type0",
    "DescendantFonts",
    "Width",
    "Height",
    "Collection",
    "Rendition",
];

impl Word<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let known = |at: &u8| WORDS[usize::from(*at) % WORDS.len()];
        out.push(b'/');
        match self {
            Self::Known(at) => out.extend_from_slice(known(at).as_bytes()),
            Self::Escaped(at) => {
                let (first, rest) = known(at).split_at(1);
                out.extend_from_slice(format!("#{:02x}{rest}", first.as_bytes()[0]).as_bytes());
            }
            Self::Other(word) => out.extend(word.bytes().filter(u8::is_ascii_alphanumeric)),
        }
    }
}

impl Value<'_> {
    fn write(&self, depth: u8, out: &mut Vec<u8>) {
        match self {
            Self::Name(word) => word.write(out),
            Self::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Real(number) => out.extend_from_slice(format!("{:.2}", f64::from(*number) / 100.0).as_bytes()),
            Self::Text(text) => {
                out.push(b'(');
                for byte in text.bytes() {
                    out.extend(matches!(byte, b'(' | b')' | b'\\').then_some(b'\\'));
                    out.push(byte);
                }
                out.push(b')');
            }
            Self::Hex(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                out.extend_from_slice(format!("<{digits}>").as_bytes());
            }
            Self::Ref(number) => out.extend_from_slice(format!("{} 0 R", number % 24).as_bytes()),
            Self::Null => out.extend_from_slice(b"null"),
            Self::True => out.extend_from_slice(b"true"),
            Self::Array(values) if depth < 20 => {
                out.push(b'[');
                for value in values {
                    value.write(depth + 1, out);
                    out.push(b' ');
                }
                out.push(b']');
            }
            Self::Dict(members) if depth < 20 => dict(members, depth + 1, out),
            Self::Array(_) | Self::Dict(_) => out.extend_from_slice(b"0"),
            Self::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn dict(members: &[(Word<'_>, Value<'_>)], depth: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(b"<<");
    for (key, value) in members {
        key.write(out);
        out.push(b' ');
        value.write(depth, out);
        out.push(b'\n');
    }
    out.extend_from_slice(b">>");
}

#[derive(Arbitrary, Debug)]
enum Object<'a> {
    Plain(Value<'a>),
    Stream {
        members: Vec<(Word<'a>, Value<'a>)>,
        bytes: &'a [u8],
        form: u8,
        length: Option<u16>,
    },
    /// Objects in a stream, numbered from this one's number on by sixteen.
    Packed(Vec<Value<'a>>),
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    objects: Vec<(u8, Object<'a>)>,
    /// What stands on the first page: an order, and in which form; and a script in its action.
    order: Option<u8>,
    has_script: bool,
    /// The catalog and the page, beside what they must have.
    catalog: Vec<(Word<'a>, Value<'a>)>,
    page: Vec<(Word<'a>, Value<'a>)>,
    /// Offsets that lie.
    moved: Vec<(u8, i8)>,
    update: Vec<(u8, Value<'a>)>,
    before: &'a [u8],
    after: &'a [u8],
}

fn stream(head: &[u8], bytes: &[u8], form: u8, length: Option<u16>, out: &mut Vec<u8>) {
    let (filter, data) = match form % 4 {
        0 => ("", bytes.to_vec()),
        1 => ("/Filter/FlateDecode", zlib(bytes)),
        2 => ("/Filter/ASCIIHexDecode", bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()),
        _ => ("/Filter[/ASCIIHexDecode/FlateDecode]", {
            zlib(bytes).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).chain(*b">").collect()
        }),
    };
    out.extend_from_slice(b"<<");
    out.extend_from_slice(head);
    let length = length.map_or(data.len(), usize::from);
    out.extend_from_slice(format!("{filter}/Length {length}>>\nstream\n").as_bytes());
    out.extend_from_slice(&data);
    out.extend_from_slice(b"\nendstream");
}

/// One section: objects, then a table of where they are.
fn section(made: &Made<'_>, objects: &[(u8, Vec<u8>)], previous: Option<usize>, out: &mut Vec<u8>) -> usize {
    let mut entries = Vec::new();
    for (number, body) in objects {
        entries.push((*number, out.len()));
        out.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        out.extend_from_slice(body);
        out.extend_from_slice(b"\nendobj\n");
    }
    let start = out.len();
    out.extend_from_slice(b"xref\n0 1\n0000000000 65535 f \n");
    for (number, at) in entries {
        let lie = made.moved.iter().find(|(of, _)| *of == number).map_or(0, |(_, by)| i64::from(*by));
        let at = (at as i64 + lie).max(0);
        out.extend_from_slice(format!("{number} 1\n{at:010} 00000 n \n").as_bytes());
    }
    let previous = previous.map_or_else(String::new, |at| format!("/Prev {at}"));
    out.extend_from_slice(
        format!("trailer\n<</Size 256/Root 1 0 R{previous}>>\nstartxref\n{start}\n%%EOF\n").as_bytes(),
    );
    start
}

fuzz_target!(|made: Made<'_>| {
    let mut objects = Vec::new();
    let mut catalog = b"<</Type/Catalog/Pages 2 0 R".to_vec();
    if made.has_script {
        catalog.extend_from_slice(b"/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>");
    }
    let rest = |members: &[(Word<'_>, Value<'_>)], out: &mut Vec<u8>| {
        let mut more = Vec::new();
        dict(members, 0, &mut more);
        out.extend_from_slice(&more[2..]);
    };
    rest(&made.catalog, &mut catalog);
    objects.push((1, catalog));
    objects.push((2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec()));
    let mut page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>".to_vec();
    rest(&made.page, &mut page);
    objects.push((3, page));
    let mut contents = Vec::new();
    let words = if made.order.is_some() { ORDER } else { "Nothing to see." };
    stream(
        b"",
        format!("BT /F1 12 Tf 72 720 Td ({words}) Tj ET").as_bytes(),
        made.order.unwrap_or(0),
        None,
        &mut contents,
    );
    objects.push((4, contents));
    for (number, object) in made.objects.iter().take(24) {
        let mut body = Vec::new();
        match object {
            Object::Plain(value) => value.write(0, &mut body),
            Object::Stream { members, bytes, form, length } => {
                let mut head = Vec::new();
                dict(members, 0, &mut head);
                stream(&head[2..head.len() - 2], bytes, *form, *length, &mut body);
            }
            Object::Packed(values) => {
                let (mut head, mut data) = (String::new(), Vec::new());
                for (at, value) in values.iter().enumerate().take(8) {
                    head.push_str(&format!("{} {} ", usize::from(number % 24) + 16 * (at + 1), data.len()));
                    value.write(0, &mut data);
                    data.push(b' ');
                }
                let kind = format!("/Type/ObjStm/N {}/First {}", values.len().min(8), head.len());
                stream(kind.as_bytes(), &[head.as_bytes(), &data].concat(), 1, None, &mut body);
            }
        }
        objects.push((5 + number % 24, body));
    }
    let mut bytes = made.before.to_vec();
    bytes.extend_from_slice(b"%PDF-1.7\n");
    let start = section(&made, &objects, None, &mut bytes);
    if !made.update.is_empty() {
        let update = made.update.iter().take(6).map(|(number, value)| {
            let mut body = Vec::new();
            value.write(0, &mut body);
            (5 + number % 24, body)
        });
        section(&made, &update.collect::<Vec<_>>(), Some(start), &mut bytes);
    }
    bytes.extend_from_slice(made.after);
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.pdf", bytes);
    let report = scan(&input);
    decide(&report, &input);
    if is_warned(&report) {
        return;
    }
    // The page may be hidden by what else its dictionary says; a script never is.
    assert!(!made.has_script || tells(&report, "script.pdf_js") || !made.catalog.is_empty());
    let is_plain = made.page.is_empty() && made.catalog.is_empty();
    assert!(made.order.is_none() || !is_plain || tells(&report, "injection."));
});
