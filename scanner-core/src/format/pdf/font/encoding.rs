//! The simple encodings (ISO 32000-1 annex D) and the names of glyphs.

/// Standard encoding above ASCII, from 0xa1 on; a blank where there is nothing.
const STANDARD: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß";
/// Mac OS Roman from 0x80 on.
const MAC: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
/// Windows 1252 from 0x80 to 0x9f; bullets where there is nothing (annex D.2, note 3).
const WINDOWS: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";

/// What the 256 codes of a named encoding are.
pub(super) fn table(name: &[u8]) -> Box<[Option<char>; 256]> {
    let mut table = [None; 256];
    for (slot, byte) in table.iter_mut().zip(0_u8..=255) {
        *slot = matches!(byte, 0x20..=0x7e).then(|| char::from(byte));
    }
    let (start, upper) = match name {
        b"MacRomanEncoding" => (0x80, MAC),
        b"StandardEncoding" => (0xa1, STANDARD),
        _ => (0x80, WINDOWS),
    };
    for (slot, character) in table.iter_mut().skip(start).zip(upper.chars()) {
        *slot = (character != ' ').then_some(character);
    }
    match name {
        b"StandardEncoding" => {
            // Quotes that typewriters do not have.
            for (code, character) in [(0x27, '’'), (0x60, '‘')] {
                table.get_mut(code).into_iter().for_each(|slot| *slot = Some(character));
            }
        }
        b"MacRomanEncoding" => {}
        _ => {
            for (slot, byte) in table.iter_mut().zip(0_u8..=255).skip(0xa0) {
                *slot = Some(char::from(byte));
            }
        }
    }
    Box::new(table)
}

/// Names of the glyphs that have no name by rule, from the glyph list of the format's own fonts.
const NAMES: &[(&str, char)] = &[
    ("AE", 'Æ'),
    ("Aacute", 'Á'),
    ("Acircumflex", 'Â'),
    ("Adieresis", 'Ä'),
    ("Agrave", 'À'),
    ("Aring", 'Å'),
    ("Atilde", 'Ã'),
    ("Ccaron", 'Č'),
    ("Ccedilla", 'Ç'),
    ("Eacute", 'É'),
    ("Ecircumflex", 'Ê'),
    ("Edieresis", 'Ë'),
    ("Egrave", 'È'),
    ("Eth", 'Ð'),
    ("Euro", '€'),
    ("Iacute", 'Í'),
    ("Icircumflex", 'Î'),
    ("Idieresis", 'Ï'),
    ("Igrave", 'Ì'),
    ("Lslash", 'Ł'),
    ("Ntilde", 'Ñ'),
    ("OE", 'Œ'),
    ("Oacute", 'Ó'),
    ("Ocircumflex", 'Ô'),
    ("Odieresis", 'Ö'),
    ("Ograve", 'Ò'),
    ("Oslash", 'Ø'),
    ("Otilde", 'Õ'),
    ("Scaron", 'Š'),
    ("Thorn", 'Þ'),
    ("Uacute", 'Ú'),
    ("Ucircumflex", 'Û'),
    ("Udieresis", 'Ü'),
    ("Ugrave", 'Ù'),
    ("Yacute", 'Ý'),
    ("Ydieresis", 'Ÿ'),
    ("Zcaron", 'Ž'),
    ("aacute", 'á'),
    ("acircumflex", 'â'),
    ("acute", '´'),
    ("adieresis", 'ä'),
    ("ae", 'æ'),
    ("agrave", 'à'),
    ("alpha", 'α'),
    ("ampersand", '&'),
    ("aring", 'å'),
    ("asciicircum", '^'),
    ("asciitilde", '~'),
    ("asterisk", '*'),
    ("at", '@'),
    ("atilde", 'ã'),
    ("backslash", '\\'),
    ("bar", '|'),
    ("beta", 'β'),
    ("braceleft", '{'),
    ("braceright", '}'),
    ("bracketleft", '['),
    ("bracketright", ']'),
    ("brokenbar", '¦'),
    ("bullet", '•'),
    ("caron", 'ˇ'),
    ("ccaron", 'č'),
    ("ccedilla", 'ç'),
    ("cedilla", '¸'),
    ("cent", '¢'),
    ("circumflex", 'ˆ'),
    ("colon", ':'),
    ("comma", ','),
    ("copyright", '©'),
    ("currency", '¤'),
    ("dagger", '†'),
    ("daggerdbl", '‡'),
    ("degree", '°'),
    ("delta", 'δ'),
    ("dieresis", '¨'),
    ("divide", '÷'),
    ("dollar", '$'),
    ("dotlessi", 'ı'),
    ("eacute", 'é'),
    ("ecircumflex", 'ê'),
    ("edieresis", 'ë'),
    ("egrave", 'è'),
    ("eight", '8'),
    ("ellipsis", '…'),
    ("emdash", '—'),
    ("endash", '–'),
    ("epsilon", 'ε'),
    ("equal", '='),
    ("eth", 'ð'),
    ("exclam", '!'),
    ("exclamdown", '¡'),
    ("f_f", 'ﬀ'),
    ("ff", 'ﬀ'),
    ("ffi", 'ﬃ'),
    ("ffl", 'ﬄ'),
    ("fi", 'ﬁ'),
    ("five", '5'),
    ("fl", 'ﬂ'),
    ("florin", 'ƒ'),
    ("four", '4'),
    ("fraction", '⁄'),
    ("gamma", 'γ'),
    ("germandbls", 'ß'),
    ("grave", '`'),
    ("greater", '>'),
    ("greaterequal", '≥'),
    ("guillemotleft", '«'),
    ("guillemotright", '»'),
    ("guilsinglleft", '‹'),
    ("guilsinglright", '›'),
    ("hyphen", '-'),
    ("iacute", 'í'),
    ("icircumflex", 'î'),
    ("idieresis", 'ï'),
    ("igrave", 'ì'),
    ("infinity", '∞'),
    ("lambda", 'λ'),
    ("less", '<'),
    ("lessequal", '≤'),
    ("logicalnot", '¬'),
    ("lslash", 'ł'),
    ("macron", '¯'),
    ("minus", '-'),
    ("mu", 'µ'),
    ("multiply", '×'),
    ("nbspace", ' '),
    ("nine", '9'),
    ("notequal", '≠'),
    ("ntilde", 'ñ'),
    ("numbersign", '#'),
    ("oacute", 'ó'),
    ("ocircumflex", 'ô'),
    ("odieresis", 'ö'),
    ("oe", 'œ'),
    ("ograve", 'ò'),
    ("omega", 'ω'),
    ("one", '1'),
    ("onehalf", '½'),
    ("onequarter", '¼'),
    ("onesuperior", '¹'),
    ("ordfeminine", 'ª'),
    ("ordmasculine", 'º'),
    ("oslash", 'ø'),
    ("otilde", 'õ'),
    ("paragraph", '¶'),
    ("parenleft", '('),
    ("parenright", ')'),
    ("percent", '%'),
    ("period", '.'),
    ("periodcentered", '·'),
    ("perthousand", '‰'),
    ("pi", 'π'),
    ("plus", '+'),
    ("plusminus", '±'),
    ("question", '?'),
    ("questiondown", '¿'),
    ("quotedbl", '"'),
    ("quotedblbase", '„'),
    ("quotedblleft", '“'),
    ("quotedblright", '”'),
    ("quoteleft", '‘'),
    ("quoteright", '’'),
    ("quotesinglbase", '‚'),
    ("quotesingle", '\''),
    ("registered", '®'),
    ("scaron", 'š'),
    ("section", '§'),
    ("semicolon", ';'),
    ("seven", '7'),
    ("sfthyphen", '-'),
    ("sigma", 'σ'),
    ("six", '6'),
    ("slash", '/'),
    ("space", ' '),
    ("sterling", '£'),
    ("theta", 'θ'),
    ("thorn", 'þ'),
    ("three", '3'),
    ("threequarters", '¾'),
    ("tilde", '˜'),
    ("trademark", '™'),
    ("two", '2'),
    ("uacute", 'ú'),
    ("ucircumflex", 'û'),
    ("udieresis", 'ü'),
    ("ugrave", 'ù'),
    ("underscore", '_'),
    ("yacute", 'ý'),
    ("ydieresis", 'ÿ'),
    ("yen", '¥'),
    ("zcaron", 'ž'),
    ("zero", '0'),
];

/// The character of a glyph by its name: a letter, `uniXXXX`, `uXXXXX`, or a word of the list; what follows a dot does
/// not count.
pub(super) fn character(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split_once('.').map_or(name, |(base, _)| base);
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return letter.is_ascii_alphabetic().then_some(letter);
    }
    if let Ok(at) = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)) {
        return NAMES.get(at).map(|(_, character)| *character);
    }
    let digits = name.strip_prefix("uni").and_then(|rest| rest.get(..4)).or_else(|| name.strip_prefix('u'))?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Bitmap fonts of TeX name each glyph after its own code, `a65` or `A65`, and the codes are those of ASCII where they
/// can be.
pub(super) fn named_by_code(name: &[u8], code: usize) -> Option<char> {
    let number = name.strip_prefix(b"a").or_else(|| name.strip_prefix(b"A"))?;
    let number: u8 = std::str::from_utf8(number).ok()?.parse().ok()?;
    (usize::from(number) == code && matches!(number, b' '..=b'~')).then(|| char::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_tables_are_whole() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| *name));
        assert_eq!((MAC.chars().count(), WINDOWS.chars().count()), (128, 32));
        assert_eq!(table(b"StandardEncoding")[0xfb], Some('ß'));
        assert_eq!(table(b"StandardEncoding")[0xd0], Some('—'));
        assert_eq!(table(b"StandardEncoding")[0xe1], Some('Æ'));
        assert_eq!(table(b"MacRomanEncoding")[0xff], Some('ˇ'));
        assert_eq!(table(b"WinAnsiEncoding")[0xe9], Some('é'));
    }

    #[test]
    fn glyphs_have_characters() {
        let all = ["a", "space", "uni0041", "u1F600", "eacute.alt", "g12"].map(|name| character(name.as_bytes()));
        assert_eq!(all, [Some('a'), Some(' '), Some('A'), Some('\u{1f600}'), Some('é'), None]);
        let own = [("a65", 65), ("A126", 126), ("a65", 66), ("a3", 3), ("g65", 65), ("a", 65)];
        let own = own.map(|(name, code)| named_by_code(name.as_bytes(), code));
        assert_eq!(own, [Some('A'), Some('~'), None, None, None, None]);
    }
}
