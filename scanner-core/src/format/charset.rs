//! Letters of old documents: bytes in a Windows code page. Not a format of its own: a part of others.

use encoding_rs::Encoding;

use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// The code page that Windows of the West writes, and the guess where none is named.
pub(crate) const WESTERN: u16 = 1252;

/// The encoding of a code page; Western where the number is of none.
fn of_code_page(page: u16) -> &'static Encoding {
    match page {
        866 => encoding_rs::IBM866,
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 => encoding_rs::GBK,
        949 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        1253 => encoding_rs::WINDOWS_1253,
        1254 => encoding_rs::WINDOWS_1254,
        1255 => encoding_rs::WINDOWS_1255,
        1256 => encoding_rs::WINDOWS_1256,
        1257 => encoding_rs::WINDOWS_1257,
        1258 => encoding_rs::WINDOWS_1258,
        10000 => encoding_rs::MACINTOSH,
        10007 => encoding_rs::X_MAC_CYRILLIC,
        20866 => encoding_rs::KOI8_R,
        28592 => encoding_rs::ISO_8859_2,
        54936 => encoding_rs::GB18030,
        65001 => encoding_rs::UTF_8,
        _ => encoding_rs::WINDOWS_1252,
    }
}

/// The text of bytes in a code page. A byte makes at most three of UTF-8; each is paid.
///
/// # Errors
/// When the budget does not cover it.
pub(crate) fn decode(bytes: &[u8], page: u16, budget: &mut Budget) -> Result<String, Exhausted> {
    budget.spend(Resource::Steps, count(bytes.len()))?;
    let (text, _) = of_code_page(page).decode_without_bom_handling(bytes);
    budget.spend(Resource::DecodedBytes, count(text.len()))?;
    Ok(text.into_owned())
}

/// The text of bytes in UTF-16, little end first.
///
/// # Errors
/// When the budget does not cover it.
pub(crate) fn utf16(bytes: &[u8], budget: &mut Budget) -> Result<String, Exhausted> {
    budget.spend(Resource::Steps, count(bytes.len()))?;
    let units = bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    budget.spend(Resource::DecodedBytes, count(text.len()))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn letters_are_those_of_the_page() {
        let text = |bytes: &[u8], page| decode(bytes, page, &mut Budget::new(Limits::default())).unwrap();
        assert_eq!(text(b"caf\xe9 \x80", 1252), "café €");
        assert_eq!(text(b"\xef\xf0\xe8\xe2\xe5\xf2", 1251), "привет");
        assert_eq!(text(b"\x93\xfa\x96{", 932), "日本");
        assert_eq!(text(b"caf\xe9", 7), "café");
        assert_eq!(utf16(b"h\0i\0\x3d\xd8", &mut Budget::new(Limits::default())).unwrap(), "hi\u{fffd}");
    }

    #[test]
    fn every_page_of_the_table_is_read_as_itself() {
        for (page, bytes, word) in [
            (866, b"\xaf\xe0\xa8\xa2\xa5\xe2", "привет"),
            (874, b"\xe4\xb7\xc2", "ไทย"),
            (936, b"\xd6\xd0\xce\xc4", "中文"),
            (949, b"\xc7\xd1\xb1\xb9", "한국"),
            (950, b"\xa4\xa4\xa4\xe5", "中文"),
            (1250, b"\xbf\xf3\xb3w", "żółw"),
            (1253, b"\xe3\xe5\xe9\xe1", "γεια"),
            (1254, b"\xfd\xfe\xfdk", "ışık"),
            (1255, b"\xf9\xec\xe5\xed", "שלום"),
            (1256, b"\xd3\xe1\xc7\xe3", "سلام"),
            (1257, b"\xfe\xe0sis", "žąsis"),
            (1258, b"\xf0u", "đu"),
            (10000, b"\x8e", "é"),
            (10007, b"\xef\xf0\xe8\xe2\xe5\xf2", "привет"),
            (20866, b"\xd0\xd2\xc9\xd7\xc5\xd4", "привет"),
            (28592, b"\xbf\xf3\xb3w", "żółw"),
            (54936, b"\xd6\xd0\xce\xc4", "中文"),
            (65001, b"\xc5\xbc\xc3\xb3\xc5\x82w", "żółw"),
        ] as [(u16, &[u8], &str); 18]
        {
            assert_eq!(decode(bytes, page, &mut Budget::new(Limits::default())).unwrap(), word, "{page}");
        }
    }

    #[test]
    fn what_comes_out_is_paid() {
        let mut tight = Budget::new(Limits::default().with(Resource::DecodedBytes, 4));
        assert_eq!(decode(b"caf\xe9", 1252, &mut tight), Err(Exhausted(Resource::DecodedBytes)));
    }
}
