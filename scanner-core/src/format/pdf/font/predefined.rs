//! Composite fonts whose codes are text already, by the name of their map (ISO 32000-1 §9.7.5.2): Unicode in one of its
//! forms, or one of the older encodings of East Asia.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};

/// How strings in such a font read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coding {
    Utf8,
    Utf16,
    Utf32,
    Legacy(&'static Encoding),
    /// JIS X 0208 by row and cell: `EUC-JP` without its high bits.
    Rows,
}

impl Coding {
    /// The coding of a map by name, where its codes are characters. `Identity-H` has glyph numbers.
    pub(super) fn of(map: &[u8]) -> Option<Self> {
        let map = std::str::from_utf8(map).ok()?;
        // Across or down the page.
        let map = map.strip_suffix("-H").or_else(|| map.strip_suffix("-V")).unwrap_or(map);
        if map.starts_with("Uni") {
            let form = map.rsplit('-').next()?;
            return match form {
                "UTF8" => Some(Self::Utf8),
                "UTF32" => Some(Self::Utf32),
                "UTF16" | "UCS2" | "HW" => Some(Self::Utf16),
                _ => None,
            };
        }
        Some(match map {
            "GB-EUC" | "GBpc-EUC" | "GBK-EUC" | "GBKp-EUC" | "GBK2K" => Self::Legacy(GB18030),
            "B5pc" | "ETen-B5" | "ETenms-B5" | "HKscs-B5" => Self::Legacy(BIG5),
            "83pv-RKSJ" | "90ms-RKSJ" | "90msp-RKSJ" | "90pv-RKSJ" | "Add-RKSJ" | "Ext-RKSJ" => Self::Legacy(SHIFT_JIS),
            "EUC" => Self::Legacy(EUC_JP),
            "KSC-EUC" | "KSCms-UHC" | "KSCms-UHC-HW" | "KSCpc-EUC" => Self::Legacy(EUC_KR),
            "H" | "V" | "Add" | "Ext" => Self::Rows,
            _ => return None,
        })
    }

    /// Writes the characters of a string.
    pub(super) fn write(self, raw: &[u8], text: &mut String) {
        match self {
            Self::Utf8 => text.push_str(&String::from_utf8_lossy(raw)),
            Self::Utf16 => {
                let units = raw.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair));
                text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            Self::Utf32 => {
                let units = raw.as_chunks::<4>().0.iter().map(|unit| u32::from_be_bytes(*unit));
                text.extend(units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            Self::Legacy(encoding) => text.push_str(&encoding.decode_without_bom_handling(raw).0),
            Self::Rows => {
                let high: Vec<u8> = raw.iter().map(|byte| byte | 0x80).collect();
                text.push_str(&EUC_JP.decode_without_bom_handling(&high).0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_coding_reads() {
        let read = |map: &str, raw: &[u8]| {
            let mut text = String::new();
            Coding::of(map.as_bytes()).unwrap().write(raw, &mut text);
            text
        };
        assert_eq!(read("UniJIS-UTF16-H", b"\0a\xd8\x3d\xde\x00"), "a\u{1f600}");
        assert_eq!(read("UniGB-UCS2-V", b"\x4e\x2d"), "中");
        assert_eq!(read("UniJIS-UCS2-HW-H", b"\0a"), "a");
        assert_eq!(read("UniKS-UTF8-H", "é".as_bytes()), "é");
        assert_eq!(read("UniCNS-UTF32-H", b"\0\x01\xf6\0"), "\u{1f600}");
        assert_eq!(read("GBK-EUC-H", b"a\xd6\xd0"), "a中");
        assert_eq!(read("ETen-B5-V", b"\xa4\xa4"), "中");
        assert_eq!(read("90ms-RKSJ-H", b"\x93\xfa"), "日");
        assert_eq!(read("KSCms-UHC-HW-H", b"\xc7\xd1"), "한");
        assert_eq!(read("EUC-H", b"\xc6\xfc"), "日");
        assert_eq!(read("H", b"\x46\x7c"), "日");
        for unknown in ["Identity-H", "Identity-V", "Adobe-Japan1-2", ""] {
            assert!(Coding::of(unknown.as_bytes()).is_none(), "{unknown}");
        }
    }
}
