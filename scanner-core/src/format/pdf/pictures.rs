//! Pictures of a document, where somebody looks at pixels: photos become artifacts of their own, rows of plain samples
//! are looked through here. Nothing decodes the others.

use super::{
    document::Document,
    filter::{self, Decoded},
    object::Dict,
};
use crate::{
    bundle::Source,
    format::{
        Out, letters,
        picture::{Size, luma},
        qr::{self, Grey},
    },
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// Looks through every picture that can be looked through here, and says that there are others.
pub(super) fn look_through(document: &Document<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Exhausted> {
    if !qr::is_wanted(budget) {
        return Ok(());
    }
    let mut is_unread = false;
    for (index, item) in document.items.iter().enumerate() {
        let Some(dict) = item.dict().filter(|_| item.stream.is_some()) else { continue };
        budget.spend(Resource::Steps, 20)?;
        let size = size(document, dict);
        if document.get(dict, "Subtype").name() != Some(b"Image") || !letters::have_room(size) {
            continue;
        }
        let last = filter::steps(dict, Some(document)).last().map(|(name, _)| *name == b"DCTDecode" || *name == b"DCT");
        let decoded =
            document.decode(index, budget).filter(|decoded| decoded.fault.is_none() && decoded.stop.is_none());
        let bytes = decoded.as_ref().and_then(|rows| samples(document, dict, size, rows));
        match (decoded, bytes) {
            (Some(photo), _) if photo.is_picture && last == Some(true) => out.child(Source::stored(photo.bytes), None),
            (Some(rows), Some(bytes)) => {
                let Some(mut grey) = Grey::of(size, budget)? else { continue };
                let width = usize::try_from(size.width).unwrap_or(usize::MAX).saturating_mul(bytes).max(1);
                for (y, row) in rows.bytes.chunks(width).enumerate() {
                    match bytes {
                        1 => grey.row(y, row.iter().copied()),
                        _ => grey.row(y, row.as_chunks::<3>().0.iter().map(|[r, g, b]| luma(*r, *g, *b))),
                    }
                }
                qr::read(grey, item.at..item.end, out, budget)?;
            }
            _ => is_unread = true,
        }
    }
    if is_unread {
        letters::unread(
            "a picture in the document is packed as nothing here unpacks: its letters were not read",
            out,
            budget,
        );
    }
    Ok(())
}

fn size(document: &Document<'_>, dict: &Dict<'_>) -> Size {
    let side = |key: &str| document.get(dict, key).int().and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
    Size::new(side("Width"), side("Height"))
}

/// Bytes of a pixel, where each is a shade or three colours of light, and as many are there as the size says.
fn samples(document: &Document<'_>, dict: &Dict<'_>, size: Size, rows: &Decoded) -> Option<usize> {
    let length = rows.bytes.len();
    let space = document.get(dict, "ColorSpace");
    let first = space.array().and_then(<[_]>::first).map_or(space, |first| document.resolve(first));
    let bytes = match first.name()? {
        b"DeviceGray" | b"CalGray" => 1,
        b"DeviceRGB" | b"CalRGB" => 3,
        // A profile's colours are those of light as a rule; how many there are tells which.
        b"ICCBased" if count(length) == size.area() => 1,
        b"ICCBased" => 3,
        _ => return None,
    };
    let is_whole = count(length) == size.area().saturating_mul(count(bytes));
    (is_whole && !rows.is_picture && document.get(dict, "BitsPerComponent").int() == Some(8)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::{
        FORMAT,
        tests::{document, stream, zlib},
    };
    use crate::{format::testing::Seen, limits::Resource};

    /// A document with that picture, seen by who asks for letters in so many pixels.
    fn seen(dict: &str, data: &[u8], letters: u64) -> Seen {
        let picture = stream(&format!("/Type/XObject/Subtype/Image/Width 10/Height 8{dict}"), data);
        let file = document("", b"q 10 0 0 8 0 0 cm /X Do Q", &[&picture]);
        Seen::with(&FORMAT, "pdf", &file, Resource::LetterPixels, letters)
    }

    const GREY: &str = "/ColorSpace/DeviceGray/BitsPerComponent 8";

    #[test]
    fn plain_samples_are_shown() {
        let rows: Vec<u8> = (0..80).collect();
        let plain = seen(GREY, &rows, 80);
        assert_eq!((plain.pictures[0].width, plain.pictures[0].height), (10, 8));
        assert_eq!(*plain.pictures[0].shades, rows[..]);
        assert!(plain.facts().is_empty(), "{:?}", plain.facts());
        let packed = seen(&format!("{GREY}/Filter/FlateDecode"), &zlib(&rows), 80);
        assert_eq!(*packed.pictures[0].shades, rows[..]);
        let light = seen("/ColorSpace[/CalRGB<<>>]/BitsPerComponent 8", &[7; 240], 80);
        assert_eq!(*light.pictures[0].shades, [7; 80]);
        assert_eq!(seen(GREY, &rows, 79).facts(), ["gap limit:letter_pixels"]);
    }

    #[test]
    fn a_picture_inside_of_a_page_is_told() {
        let gaps = |keys: &str, letters| {
            let page = [b"q BI ", keys.as_bytes(), b" /BPC 8 /CS /G ID 0123456789 EI Q"].concat();
            Seen::with(&FORMAT, "pdf", &document("", &page, &[]), Resource::LetterPixels, letters).gaps.len()
        };
        assert_eq!(gaps("/W 10 /H 8", 80), 1);
        assert_eq!(gaps("/Height 8 /Width 10", 80), 1);
        assert_eq!((gaps("/W 10 /H 7", 80), gaps("/W 10 /H 8", 0)), (0, 0));
    }

    #[test]
    fn a_photo_is_an_artifact_of_its_own() {
        let photo = seen("/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode", b"\xff\xd8\xff", 80);
        assert_eq!(photo.children.len(), 1);
        assert!(photo.facts().is_empty(), "{:?}", photo.facts());
    }

    #[test]
    fn what_nothing_unpacks_is_told() {
        for (dict, data) in [
            ("/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode", &b"00"[..]),
            ("/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/JPXDecode", b"00"),
            ("/ColorSpace/DeviceCMYK/BitsPerComponent 8", &[0; 320]),
            ("/ColorSpace/DeviceGray/BitsPerComponent 8", &[0; 79]),
            ("/ColorSpace/DeviceGray/BitsPerComponent 1", &[0; 80]),
            ("/ImageMask true", &[0; 16]),
        ] {
            let unread = seen(dict, data, 80);
            assert!(unread.facts().contains(&"gap unsupported".to_owned()), "{dict}: {:?}", unread.facts());
            assert!(unread.pictures.is_empty() && unread.children.is_empty());
        }
    }

    #[test]
    fn nobody_looks_by_default() {
        let off = seen(GREY, &[0; 80], 0);
        assert!(off.pictures.is_empty() && off.facts().is_empty());
        let photo = seen("/Filter/DCTDecode", b"\xff\xd8\xff", 0);
        assert!(photo.children.is_empty() && photo.facts().is_empty(), "{:?}", photo.facts());
    }
}
