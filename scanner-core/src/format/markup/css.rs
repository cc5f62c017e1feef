//! Styles: what they load, what they run, and what they take out of sight.

use std::collections::HashMap;

use memchr::memmem;

use super::address::Address;

/// What a style does beside looking well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::format) struct Acts {
    /// It loads something of another machine.
    pub(in crate::format) loads: bool,
    /// ... by what the page holds: it can tell a password letter by letter.
    pub(in crate::format) spies: bool,
    /// It runs script, in browsers that still do.
    pub(in crate::format) runs: bool,
    /// Data URLs it carries.
    pub(in crate::format) carried: Vec<Vec<u8>>,
}

/// Comments dropped and escapes undone, so that `@\69mport` and `u/**/rl(` are what they are.
fn plain(style: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(style.len());
    let mut rest = style;
    // Within a string or an address two slashes are no comment.
    let mut quote = None;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => {
                let digits = after.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
                if digits == 0 {
                    // Any other character stands for itself.
                    if let Some((escaped, after)) = after.split_first() {
                        out.push(*escaped);
                        rest = after;
                    }
                    continue;
                }
                let value = after.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok());
                let value = value.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
                let mut buffer = [0; 4];
                out.extend_from_slice(value.unwrap_or('\u{fffd}').encode_utf8(&mut buffer).as_bytes());
                rest = after.get(digits..).unwrap_or_default();
                rest = rest.strip_prefix(b" ").unwrap_or(rest);
            }
            b'/' if quote.is_none() && after.first() == Some(&b'*') => {
                let end = memmem::find(after, b"*/");
                rest = end.and_then(|end| after.get(end.saturating_add(2)..)).unwrap_or_default();
            }
            b'"' | b'\'' => {
                quote = match quote {
                    None => Some(*byte),
                    Some(open) if open == *byte => None,
                    open => open,
                };
                out.push(*byte);
            }
            b'\n' => {
                // A string ends with its line.
                quote = None;
                out.push(*byte);
            }
            _ => out.push(*byte),
        }
    }
    out
}

/// Reads a style sheet or a list of declarations.
pub(in crate::format) fn acts(style: &[u8]) -> Acts {
    let text = plain(style);
    let lower = text.to_ascii_lowercase();
    let has = |word: &[u8]| memmem::find(&lower, word).is_some();
    let mut acts = Acts {
        runs: has(b"expression(") || has(b"javascript:") || has(b"vbscript:") || has(b"-moz-binding")
            || memmem::find_iter(&lower, b"behavior").any(|at| {
                let rest = lower.get(at.saturating_add(8)..).unwrap_or_default().trim_ascii_start();
                rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"url("))
            }),
        ..Acts::default()
    };
    let mut address = |at: usize| {
        let before = lower.get(at.saturating_sub(160)..at).unwrap_or_default();
        let statement = before.rsplit(|byte| matches!(byte, b';' | b'{' | b'}')).next().unwrap_or_default();
        if memmem::find(statement, b"@namespace").is_some() {
            return;
        }
        let value = argument(text.get(at..).unwrap_or_default());
        match Address::of(value) {
            Address::Elsewhere => acts.loads = true,
            Address::Script => acts.runs = true,
            Address::Data | Address::ActiveData => acts.carried.push(value.to_vec()),
            _ => {}
        }
    };
    for word in [&b"url("[..], b"src(", b"image("] {
        for at in memmem::find_iter(&lower, word) {
            address(at.saturating_add(word.len()));
        }
    }
    for at in memmem::find_iter(&lower, b"@import") {
        let rest = lower.get(at.saturating_add(7)..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if matches!(rest.get(blanks), Some(b'"' | b'\'')) {
            address(at.saturating_add(7).saturating_add(blanks));
        }
    }
    for at in memmem::find_iter(&lower, b"image-set(") {
        let inside = at.saturating_add(10);
        let rest = lower.get(inside..).unwrap_or_default();
        let end = memmem::find(rest.get(..4096).unwrap_or(rest), b")").unwrap_or(0);
        let list = rest.get(..end).unwrap_or_default();
        for quote in list.iter().enumerate().filter(|(_, byte)| matches!(byte, b'"' | b'\'')).map(|(at, _)| at) {
            address(inside.saturating_add(quote));
        }
    }
    acts.spies = acts.loads && ["[value^=", "[value*=", "[value$="].iter().any(|word| has(word.as_bytes()));
    acts
}

/// The address that begins there, in quotes or not.
fn argument(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let (value, ends) = match text.split_first() {
        Some((quote @ (b'"' | b'\''), rest)) => (rest, *quote),
        _ => (text, b')'),
    };
    let end = memchr::memchr(ends, value).unwrap_or(value.len());
    value.get(..end).unwrap_or_default().trim_ascii()
}

/// A colour without its transparency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) struct Colour(pub(in crate::format) u8, pub(in crate::format) u8, pub(in crate::format) u8);

impl Colour {
    pub(in crate::format) const WHITE: Self = Self(255, 255, 255);

    /// Whether a person can hardly tell them apart.
    pub(in crate::format) fn is_like(self, other: Self) -> bool {
        let near = |a: u8, b: u8| a.abs_diff(b) <= 12;
        near(self.0, other.0) && near(self.1, other.1) && near(self.2, other.2)
    }
}

/// What a style says of being seen. `None`: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::format) struct Look {
    /// Not shown at all.
    pub(in crate::format) is_hidden: bool,
    /// Too small to read.
    pub(in crate::format) is_tiny: bool,
    /// Outside of the page.
    pub(in crate::format) is_away: bool,
    /// Drawn with nothing.
    pub(in crate::format) is_clear: bool,
    /// The colour of its letters.
    pub(in crate::format) colour: Option<Colour>,
    /// What is behind them; the inner `None` is something that is no colour.
    pub(in crate::format) behind: Option<Option<Colour>>,
    /// The size is said, and can be read.
    pub(in crate::format) is_sized: bool,
}

impl Look {
    /// What a later style changes.
    pub(in crate::format) fn with(self, later: Self) -> Self {
        Self {
            is_hidden: self.is_hidden || later.is_hidden,
            is_tiny: (self.is_tiny && !later.is_sized) || later.is_tiny,
            is_away: self.is_away || later.is_away,
            is_clear: self.is_clear || later.is_clear,
            colour: later.colour.or(self.colour),
            behind: later.behind.or(self.behind),
            is_sized: self.is_sized || later.is_sized,
        }
    }
}

/// Letters smaller than that (pixels) are not read.
const TINY: f64 = 2.0;
/// A box that far outside is not seen.
const AWAY: f64 = -400.0;

/// Reads a list of declarations.
pub(in crate::format) fn look(declarations: &[u8]) -> Look {
    let text = plain(declarations).to_ascii_lowercase();
    let mut look = Look::default();
    let (mut is_placed, mut is_far, mut is_cut, mut is_flat) = (false, false, false, false);
    for declaration in text.split(|byte| *byte == b';') {
        let Some(colon) = memchr::memchr(b':', declaration) else { continue };
        let name = declaration.get(..colon).unwrap_or_default().trim_ascii();
        let value = declaration.get(colon.saturating_add(1)..).unwrap_or_default().trim_ascii();
        let value = value.strip_suffix(b"!important").unwrap_or(value).trim_ascii();
        let value = value.get(..200).unwrap_or(value);
        let number = length(value);
        match name {
            b"display" => look.is_hidden |= value == b"none",
            b"visibility" => look.is_hidden |= matches!(value, b"hidden" | b"collapse"),
            b"content-visibility" => look.is_hidden |= value == b"hidden",
            b"opacity" | b"fill-opacity" => look.is_clear |= number.is_some_and(|number| number < 0.06),
            b"font-size" | b"font" => match number {
                Some(size) if size < TINY => look.is_tiny = true,
                Some(_) => look.is_sized = true,
                None => {}
            },
            b"color" | b"fill" | b"-webkit-text-fill-color" => match colour(value) {
                Some(None) => look.is_clear = true,
                Some(known) => look.colour = known,
                None => {}
            },
            b"background" | b"background-color" => look.behind = Some(colour(value).flatten()),
            b"background-image" => look.behind = Some(None),
            b"position" => is_placed = matches!(value, b"absolute" | b"fixed"),
            b"left" | b"top" | b"right" | b"bottom" => is_far |= number.is_some_and(|number| number < AWAY),
            b"text-indent" | b"margin-left" | b"margin-top" => {
                look.is_away |= number.is_some_and(|number| number < AWAY);
            }
            b"clip" => is_cut |= value.starts_with(b"rect(0") || value.starts_with(b"rect(1px"),
            b"clip-path" => {
                let value: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                look.is_hidden |= value == b"circle(0)"
                    || value.strip_prefix(b"inset(").and_then(length).is_some_and(|number| number >= 50.0);
            }
            b"transform" => look.is_hidden |= value.starts_with(b"scale(0)") || value.starts_with(b"scale(0,"),
            b"zoom" => look.is_hidden |= number.is_some_and(|number| number < 0.02),
            b"height" | b"width" | b"max-height" | b"max-width" => {
                is_flat |= number.is_some_and(|number| number < TINY) && !value.ends_with(b"%");
            }
            b"overflow" if value == b"hidden" => is_cut = true,
            _ => {}
        }
    }
    look.is_away |= is_placed && is_far;
    look.is_hidden |= is_cut && (is_flat || is_placed && memmem::find(&text, b"rect(").is_some());
    look
}

/// A length in pixels, roughly; only what stands first.
fn length(value: &[u8]) -> Option<f64> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.')).count();
    let number: f64 = std::str::from_utf8(value.get(..digits)?).ok()?.parse().ok()?;
    let unit = value.get(digits..)?;
    let factor = [
        (&b"rem"[..], 16.0),
        (b"em", 16.0),
        (b"pt", 1.33),
        (b"vw", 10.0),
        (b"vh", 10.0),
        (b"cm", 37.8),
        (b"mm", 3.8),
        (b"in", 96.0),
    ];
    Some(factor.iter().find(|(name, _)| unit.starts_with(name)).map_or(number, |(_, factor)| number * factor))
}

/// `Some(None)` is transparent, `None` something that is no colour or not known.
pub(in crate::format) fn colour(value: &[u8]) -> Option<Option<Colour>> {
    let value = value.trim_ascii().to_ascii_lowercase();
    let word = value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let named = match word {
        b"transparent" => return Some(None),
        b"white" => Colour::WHITE,
        b"black" => Colour(0, 0, 0),
        b"snow" => Colour(255, 250, 250),
        b"ivory" => Colour(255, 255, 240),
        b"whitesmoke" => Colour(245, 245, 245),
        b"ghostwhite" => Colour(248, 248, 255),
        b"floralwhite" => Colour(255, 250, 240),
        b"red" => Colour(255, 0, 0),
        b"green" => Colour(0, 128, 0),
        b"blue" => Colour(0, 0, 255),
        b"yellow" => Colour(255, 255, 0),
        b"gray" | b"grey" => Colour(128, 128, 128),
        _ => return coded(word, &value),
    };
    Some(Some(named))
}

/// `#rgb`, `#rrggbb` and `rgb(…)`, each with or without its transparency.
fn coded(word: &[u8], value: &[u8]) -> Option<Option<Colour>> {
    if let Some(digits) = word.strip_prefix(b"#") {
        let nibbles: Vec<u8> = digits.iter().map_while(|byte| char::from(*byte).to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect();
        let twice = |nibble: &u8| nibble.saturating_mul(17);
        let pair = |high: &u8, low: &u8| high.saturating_mul(16).saturating_add(*low);
        return match nibbles.as_slice() {
            [_, _, _, 0] => Some(None),
            [red, green, blue] | [red, green, blue, _] => Some(Some(Colour(twice(red), twice(green), twice(blue)))),
            [_, _, _, _, _, _, 0, 0] => Some(None),
            [a, b, c, d, e, f] | [a, b, c, d, e, f, _, _] => Some(Some(Colour(pair(a, b), pair(c, d), pair(e, f)))),
            _ => None,
        };
    }
    let inside = value.strip_prefix(b"rgba(").or_else(|| value.strip_prefix(b"rgb("))?;
    let end = memchr::memchr(b')', inside)?;
    let parts = inside.get(..end)?.split(|byte| matches!(byte, b',' | b'/' | b' ')).filter(|part| !part.is_empty());
    let numbers: Vec<f64> = parts
        .map_while(|part| {
            let (digits, factor) = part.strip_suffix(b"%").map_or((part, 1.0), |digits| (digits, 2.55));
            Some(std::str::from_utf8(digits).ok()?.parse::<f64>().ok()? * factor)
        })
        .collect();
    let byte = |number: &f64| u8::try_from(format!("{:.0}", number.clamp(0.0, 255.0)).parse::<u16>().unwrap_or(0)).unwrap_or(0);
    match numbers.as_slice() {
        [_, _, _, clear, ..] if *clear < 0.06 => Some(None),
        [red, green, blue, ..] => Some(Some(Colour(byte(red), byte(green), byte(blue)))),
        _ => None,
    }
}

/// Selectors that are remembered; more is no honest page's need.
const SELECTORS: usize = 4096;

/// What style sheets say of being seen, by the simple selectors that say it.
#[derive(Debug, Default)]
pub(in crate::format) struct Sheet {
    looks: HashMap<Vec<u8>, Look>,
}

impl Sheet {
    /// Adds the rules of a style element. Selectors of more than one part are not followed.
    pub(in crate::format) fn add(&mut self, style: &[u8]) {
        let text = plain(style);
        let mut rest: &[u8] = &text;
        while let Some(open) = memchr::memchr(b'{', rest) {
            let selectors = rest.get(..open).unwrap_or_default();
            let body = rest.get(open.saturating_add(1)..).unwrap_or_default();
            let selectors = selectors.rsplit(|byte| matches!(byte, b'}' | b';')).next().unwrap_or_default();
            // A group such as @media: what is inside counts as if it always held.
            if selectors.trim_ascii().starts_with(b"@") {
                rest = body;
                continue;
            }
            let end = memchr::memchr(b'}', body).unwrap_or(body.len());
            let look = look(body.get(..end).unwrap_or_default());
            if look != Look::default() {
                for selector in selectors.split(|byte| *byte == b',') {
                    self.remember(selector.trim_ascii(), look);
                }
            }
            rest = body.get(end.saturating_add(1)..).unwrap_or_default();
        }
    }

    fn remember(&mut self, selector: &[u8], look: Look) {
        // The last part of `p.note` is the narrowest.
        let simple = match selector.iter().rposition(|byte| matches!(byte, b'.' | b'#')) {
            Some(at) => selector.get(at..).unwrap_or_default(),
            None => selector,
        };
        let is_one = !selector.is_empty()
            && selector.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'#' | b'-' | b'_') || *byte >= 0x80);
        if is_one && self.looks.len() < SELECTORS {
            let known = self.looks.entry(simple.to_vec()).or_default();
            *known = known.with(look);
        }
    }

    pub(in crate::format) fn is_empty(&self) -> bool {
        self.looks.is_empty()
    }

    /// What the sheets say of an element: its name in lower case, its class and its id.
    pub(in crate::format) fn of(&self, name: &[u8], class: &[u8], id: &[u8]) -> Look {
        let mut look = self.looks.get(name).copied().unwrap_or_default();
        let classes = class.split(u8::is_ascii_whitespace).filter(|class| !class.is_empty());
        for key in classes.map(|class| [b".", class].concat()).chain((!id.is_empty()).then(|| [b"#", id].concat())) {
            if let Some(more) = self.looks.get(&key) {
                look = look.with(*more);
            }
        }
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_styles_load_and_run() {
        for style in [
            "@import url(https://x/a.css)",
            "@import 'https://x/a.css';",
            "@\\69mport url(//x/a)",
            "a{background:u\\72l( \"http://x\" )}",
            "a{background:ur/**/l(\\\\\\\\x)}",
            "a{background:image-set('https://x' 1x)}",
            "fill:url(https://x/a.svg#g)",
        ] {
            assert!(acts(style.as_bytes()).loads, "{style}");
        }
        for style in ["a{b:expression(alert(1))}", "behavior: url(#x)", "a{-moz-binding:url(x)}", "b:url(javascript:1)"] {
            assert!(acts(style.as_bytes()).runs, "{style}");
        }
        for style in
            ["@namespace svg url(http://www.w3.org/2000/svg);", "fill:url(#g)", "/* url(http://x) */", "scroll-behavior: smooth"]
        {
            assert_eq!(acts(style.as_bytes()), Acts::default(), "{style}");
        }
        assert!(acts(b"input[value^=a]{background:url(//x/a)}").spies);
        assert_eq!(acts(b"a{b:url(data:font/woff2;base64,AAAA)}").carried, [b"data:font/woff2;base64,AAAA"]);
    }

    #[test]
    fn what_styles_take_out_of_sight() {
        let hidden = |style: &str| look(style.as_bytes()).is_hidden;
        assert!(hidden("display : none !important"));
        assert!(hidden("visibility:hidden"));
        assert!(hidden("position:absolute;clip:rect(0,0,0,0);overflow:hidden"));
        assert!(hidden("height:0;overflow:hidden"));
        assert!(!hidden("display:block;height:100%;overflow:hidden"));
        assert!(look(b"font-size:0").is_tiny && look(b"font-size:0.05em").is_tiny && !look(b"font-size:9px").is_tiny);
        assert!(look(b"position:absolute;left:-9999px").is_away && look(b"text-indent:-999em").is_away);
        assert!(!look(b"left:-9999px").is_away);
        assert!(look(b"opacity:0").is_clear && look(b"color:rgba(0,0,0,0)").is_clear);
        let white = look(b"color:#fff;background:WHITE url(x)");
        assert_eq!((white.colour, white.behind), (Some(Colour::WHITE), Some(Some(Colour::WHITE))));
        assert_eq!(look(b"color:rgb(255, 255, 255)").colour, Some(Colour::WHITE));
    }

    #[test]
    fn sheets_are_followed_by_class_id_and_name() {
        let mut sheet = Sheet::default();
        sheet.add(b"@media print{.a, p.b{display:none}} #c{font-size:0} i{color:#fff} .d .e{display:none}");
        assert!(sheet.of(b"p", b"x a", b"").is_hidden);
        assert!(sheet.of(b"p", b"b", b"").is_hidden);
        assert!(sheet.of(b"p", b"", b"c").is_tiny);
        assert_eq!(sheet.of(b"i", b"", b"").colour, Some(Colour::WHITE));
        assert!(!sheet.of(b"p", b"e", b"").is_hidden);
    }
}
