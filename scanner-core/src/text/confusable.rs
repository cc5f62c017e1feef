//! Letters of other scripts that look like ASCII letters.

/// The ASCII letter a character looks like, in lower case: Cyrillic, Greek, Armenian, Cherokee, phonetic and other
/// Latin letters. Full-width and mathematical letters are not here, NFKC folds them.
pub(super) const fn ascii_twin(character: char) -> Option<u8> {
    Some(match character {
        'а' | 'А' | 'ɑ' | 'α' | 'Α' | 'Ꭺ' | 'ᴀ' | 'ӑ' | 'ӓ' => b'a',
        'В' | 'Β' | 'ʙ' | 'Ᏼ' | 'Ь' | 'Ƅ' | 'ᖯ' => b'b',
        'с' | 'С' | 'ϲ' | 'Ϲ' | 'Ꮯ' | 'ᴄ' | 'ⅽ' => b'c',
        'ԁ' | 'Ԁ' | 'Ꭰ' | 'ᴅ' | 'ɗ' | 'ժ' => b'd',
        'е' | 'Е' | 'ё' | 'Ё' | 'є' | 'Є' | 'ε' | 'Ε' | 'Ꭼ' | 'ᴇ' | 'ҽ' | 'ӗ' => b'e',
        'ғ' | 'ꜰ' | 'ƒ' | 'Ϝ' | 'ք' => b'f',
        'ɡ' | 'Ԍ' | 'ԍ' | 'Ꮐ' | 'ɢ' | 'ց' | 'ǥ' => b'g',
        'һ' | 'Һ' | 'Н' | 'Η' | 'Ꮋ' | 'ʜ' | 'հ' | 'Ꮒ' => b'h',
        'і' | 'І' | 'ї' | 'ι' | 'Ι' | 'ı' | 'ɪ' | 'Ꭵ' | 'ɩ' | 'ӏ' | 'Ӏ' => b'i',
        'ј' | 'Ј' | 'ϳ' | 'Ꭻ' | 'ᴊ' | 'ʝ' => b'j',
        'К' | 'к' | 'κ' | 'Κ' | 'Ꮶ' | 'ᴋ' | 'ƙ' | 'қ' => b'k',
        'Ꮮ' | 'ʟ' | 'ⅼ' | 'ɭ' | 'ւ' => b'l',
        'М' | 'м' | 'Μ' | 'Ꮇ' | 'ᴍ' | 'ⅿ' | 'ɱ' => b'm',
        'Ν' | 'η' | 'ɴ' | 'ո' | 'п' | 'ռ' => b'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'Օ' | 'ᴏ' | 'ө' | 'Ꮎ' | 'ӧ' => b'o',
        'р' | 'Р' | 'ρ' | 'Ρ' | 'Ꮲ' | 'ᴘ' | 'ƿ' => b'p',
        'ԛ' | 'Ԛ' | 'գ' | 'ɋ' => b'q',
        'Ꭱ' | 'ʀ' | 'г' | 'ɾ' | 'ᖇ' => b'r',
        'ѕ' | 'Ѕ' | 'Տ' | 'Ꮪ' | 'ꜱ' | 'ʂ' => b's',
        'Т' | 'т' | 'τ' | 'Τ' | 'Ꭲ' | 'ᴛ' | 'է' => b't',
        'υ' | 'ս' | 'Ս' | 'ᴜ' | 'ʊ' | 'ц' => b'u',
        'ν' | 'ѵ' | 'Ѵ' | 'Ꮩ' | 'ᴠ' | 'ⅴ' => b'v',
        'ԝ' | 'Ԝ' | 'ѡ' | 'ω' | 'Ꮃ' | 'ᴡ' | 'ա' => b'w',
        'х' | 'Х' | 'χ' | 'Χ' | '᙮' | 'ⅹ' => b'x',
        'у' | 'У' | 'γ' | 'Υ' | 'ү' | 'Ү' | 'ʏ' | 'Ꭹ' | 'ყ' => b'y',
        'Ζ' | 'Ꮓ' | 'ᴢ' | 'ʐ' | 'ȥ' => b'z',
        _ => return None,
    })
}

/// Whether a look-alike comes from another script. The others are Latin letters that languages of their own use (ı, ƒ).
pub(super) const fn is_foreign(character: char) -> bool {
    !matches!(character, '\u{80}'..='\u{36f}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1eff}' | '\u{2100}'..='\u{218f}' | '\u{a720}'..='\u{a7ff}')
}
