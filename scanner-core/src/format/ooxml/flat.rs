//! Documents of Office that are one XML and no zip: flat packages (MS-DOCX 2.1), Word and Excel of 2003.

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Finding, Place, Severity, Span, Stop},
    format::{
        Out, embedded, odf,
        office::{self, Page, Sight, Spot, Tell, Waiting, Walk, link, look::Styles, rules},
        pull::{self, Event, Name, Pull, Tag},
        vba,
    },
    limits::Budget,
    reader::count,
};

use super::{other::Other, package, sheet};

/// What the first element is, by its name and a name space that it declares.
const ROOTS: [(&[u8], &[u8]); 3] = [
    (b"package", b"http://schemas.microsoft.com/office/2006/xmlPackage"),
    (b"wordDocument", b"http://schemas.microsoft.com/office/word/2003/wordml"),
    (b"Workbook", b"urn:schemas-microsoft-com:office:spreadsheet"),
];
const OPEN_DOCUMENT: (&[u8], &[u8]) = (b"document", b"urn:oasis:names:tc:opendocument:xmlns:office:1.0");

/// Looks into XML that is a document of an office program. `false` when it is none: nothing was written then.
///
/// # Errors
/// When the budget is used up.
pub(crate) fn inspect(bytes: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<bool, Stop> {
    let text = pull::utf8(bytes, budget)?;
    let mut pull = Pull::new(&text);
    let root = loop {
        match pull.next(budget) {
            Ok(Some(Event::Start(tag))) => break tag,
            Ok(Some(_)) => {}
            Err(pull::Fault::Limit(exhausted)) => return Err(exhausted.into()),
            Ok(None) | Err(_) => return Ok(false),
        }
    };
    let is = |(name, space): (&[u8], &[u8])| {
        root.local() == name && root.attributes().any(|attribute| attribute.raw == space)
    };
    if is(OPEN_DOCUMENT) {
        odf::flat(&text, out, budget)?;
        return Ok(true);
    }
    if !ROOTS.into_iter().any(is) {
        return Ok(false);
    }
    let spot = Spot { place: Place::default(), span: Span { start: 0, end: count(bytes.len()) } };
    let (styles, mut tell, mut waiting) = (Styles::default(), Tell::default(), Waiting::default());
    let mut page = Page::new(spot.clone(), &mut tell, out);
    let mut flat = Flat::new(&styles);
    let walked = office::walk(&text, &mut flat, &mut page, budget);
    let (files, texts, has_macros) = (flat.files, page.texts, flat.has_macros);
    waiting.read(texts, "paragraph", &spot, out, budget);
    tell.finish(out);
    let mut has_project = false;
    for file in files {
        if file.is_project {
            has_project = true;
            let read = vba::inspect(&file.bytes.into(), Some(spot.span), &spot.place, out, budget);
            office::carry_on(read, &spot, out)?;
        } else {
            out.child(Source::stored(file.bytes), file.name);
        }
    }
    if has_macros && !has_project {
        out.find(
            Finding::built_in(&vba::PROJECT)
                .at(spot.span.start, spot.span.end)
                .message("the document says it has macros"),
        );
    }
    Ok(walked.map(|()| true)?)
}

/// A file that was kept as base64.
struct File {
    bytes: Vec<u8>,
    name: Option<String>,
    is_project: bool,
}

struct Flat<'a> {
    other: Other<'a>,
    files: Vec<File>,
    name: Option<String>,
    kind: String,
    is_binary: bool,
    has_macros: bool,
    /// Characters of a cell, or of the state of a sheet (Excel 2003).
    in_data: bool,
    in_state: bool,
}

impl<'a> Flat<'a> {
    fn new(styles: &'a Styles) -> Self {
        Self {
            other: Other::new(styles, Sight::Seen),
            files: Vec::new(),
            name: None,
            kind: String::new(),
            is_binary: false,
            has_macros: false,
            in_data: false,
            in_state: false,
        }
    }
}

impl Walk for Flat<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        let value = |name: &[u8]| tag.value(name).map(|value| String::from_utf8_lossy(&value).into_owned());
        match tag.local() {
            b"part" => {
                self.name = value(b"name");
                self.kind = value(b"contentType").unwrap_or_default().to_ascii_lowercase();
                if self.kind.contains("macrosheet") {
                    page.say(&rules::XL4, "a sheet of Excel 4 macros");
                }
            }
            b"binaryData" => self.is_binary = true,
            b"binData" => {
                self.is_binary = true;
                self.name = value(b"name");
                self.kind = String::new();
            }
            b"wordDocument" => self.has_macros |= value(b"macrosPresent").is_some_and(|present| present == "yes"),
            b"Relationship" => {
                // What stays inside is a part of this same file.
                let _is_outside = package::judge_outside(tag, page);
            }
            b"Cell" => {
                if let Some(target) = tag.value(b"HRef") {
                    page.link(link::Use::Link, &target);
                }
            }
            b"Data" => self.in_data = true,
            b"Visible" => self.in_state = true,
            _ => {}
        }
        if let Some(formula) = tag.value(b"Formula") {
            page.formula(&formula);
        }
        self.other.start(tag, page);
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        if self.is_binary {
            page.binary(text);
        } else if self.in_data {
            page.texts.push(Sight::Seen, text);
        } else if self.in_state {
            let state = match text.trim_ascii() {
                b"SheetHidden" => sheet::State::Hidden,
                b"SheetVeryHidden" => sheet::State::VeryHidden,
                _ => sheet::State::Visible,
            };
            sheet::hidden(state, false, page);
        } else {
            self.other.text(text, page);
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        match name.local() {
            b"binaryData" | b"binData" => {
                self.is_binary = false;
                let name = self.name.take();
                // Word of 2003 keeps its macros in a part of that name.
                let is_macros = name.as_deref().is_some_and(|name| name.ends_with("editdata.mso"));
                self.has_macros |= is_macros;
                let is_project = self.kind.ends_with("vbaproject");
                self.has_macros |= is_project;
                if self.kind.ends_with("oleobject") {
                    page.say_as(&embedded::OBJECT, Severity::Medium, "an object of another program is inside");
                }
                if let Some(bytes) = page.take_binary() {
                    self.files.push(File { bytes, name, is_project });
                }
            }
            b"Data" => {
                self.in_data = false;
                page.texts.break_off(Sight::Seen, b'\t');
            }
            b"Row" => page.texts.break_all(b'\n'),
            b"Visible" => self.in_state = false,
            _ => {}
        }
        self.other.end(name, page);
    }
}
