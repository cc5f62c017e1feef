//! Objects in RTF: hexadecimal digits that are an object of OLE 1 (MS-OLEDS 2.2), which may hold a compound file.

use bytes::Bytes;
use memchr::memmem;

use crate::{
    finding::{Finding, Place, Severity, Span, Stop},
    format::{Out, cfb, embedded, fields},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
    sniff::{self, sniff},
};

/// How an object is carried.
const LINKED: u32 = 1;
const EMBEDDED: u32 = 2;
/// Bytes before which a compound file may begin, where the head of the object is damaged.
const HEAD: usize = 4096;

/// An object as the digits hold it.
struct Object {
    class: String,
    /// The file that a linked one is in.
    topic: String,
    is_linked: bool,
    native: Bytes,
}

/// The head; Word does not look at the version.
fn read(bytes: &Bytes) -> Result<Object, Short> {
    let mut reader = Reader::new(bytes);
    reader.u32_le()?;
    let kind = reader.u32_le()?;
    if kind != LINKED && kind != EMBEDDED {
        return Err(Short { at: 4, wanted: 4 });
    }
    let mut text = || -> Result<String, Short> {
        let length = reader.u32_le()?;
        Ok(embedded::single_bytes(reader.take(length.into())?).trim_end_matches('\0').to_owned())
    };
    let (class, topic, _) = (text()?, text()?, text()?);
    let mut native = Bytes::new();
    if kind == EMBEDDED {
        let length = reader.u32_le()?;
        let rest = reader.rest();
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        native = bytes.slice_ref(rest.get(..length).unwrap_or_default());
    }
    Ok(Object { class, topic, is_linked: kind == LINKED, native })
}

/// Says what an object is and hands on what it holds. `class` is what the document calls it.
pub(super) fn tell(
    bytes: Bytes,
    class: &str,
    span: Span,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    budget.spend(Resource::Objects, 1)?;
    let find = |rule, severity, out: &mut Out<'_>| {
        out.find(Finding::built_in(rule).severity(severity).at(span.start, span.end).place(place.clone()));
    };
    find(&embedded::OBJECT, Severity::Medium, out);
    let object = read(&bytes);
    let is_exploited = |class: &str| {
        let class = class.to_ascii_lowercase();
        ["equation.", "otkloadr.", "htmlfile", "scriptlet", "shell.explorer", "mscomctllib.", "shockwaveflash"]
            .iter()
            .any(|start| class.starts_with(start))
    };
    if is_exploited(class) || object.as_ref().is_ok_and(|object| is_exploited(&object.class)) {
        find(&embedded::EXPLOITED, Severity::High, out);
    }
    match object {
        Ok(object) if object.is_linked => {
            let severity = if fields::is_remote(&object.topic) { Severity::High } else { Severity::Medium };
            find(&embedded::LINK, severity, out);
        }
        Ok(object) if object.class.eq_ignore_ascii_case("package") => match embedded::package(&object.native) {
            Ok(package) => embedded::told(&package, span, place, out, budget)?,
            Err(_) => embedded::carry(object.native, None, span, place, out, budget)?,
        },
        Ok(object) if !object.native.is_empty() => native(object.native, span, place, out, budget)?,
        _ => native(bytes, span, place, out, budget)?,
    }
    Ok(())
}

/// Data of a program: a compound file, wherever it begins, or something else that is known.
fn native(bytes: Bytes, span: Span, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let head = bytes.get(..HEAD).unwrap_or(&bytes);
    let start = memmem::find(head, cfb::SIGNATURE);
    if let Some(start) = start {
        embedded::carry(bytes.slice(start..), None, span, place, out, budget)?;
        return Ok(());
    }
    budget.spend(Resource::Steps, sniff::STEPS)?;
    if sniff(&bytes).kind != sniff::unknown() {
        embedded::carry(bytes, None, span, place, out, budget)?;
    } else if count(bytes.len()) > 64 {
        out.unsupported("an object whose data nothing here looks into");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_to_its_end_or_to_the_cut() {
        let whole = Bytes::from_static(b"\x01\x05\0\0\x02\0\0\0\x08\0\0\0Package\0\0\0\0\0\0\0\0\0\x04\0\0\0data");
        let object = read(&whole).unwrap();
        assert_eq!((&*object.class, &*object.native), ("Package", &b"data"[..]));
        assert_eq!(&*read(&whole.slice(..whole.len() - 2)).unwrap().native, b"da");
        for length in 0..32 {
            assert!(read(&whole.slice(..length)).is_err(), "{length}");
        }
        let linked = Bytes::from_static(b"\x01\x05\0\0\x01\0\0\0\x02\0\0\0X\0\x08\0\0\0\\\\h\\a.x\0\0\0\0\0");
        let object = read(&linked).unwrap();
        assert!(object.is_linked);
        assert_eq!(object.topic, "\\\\h\\a.x");
    }
}
