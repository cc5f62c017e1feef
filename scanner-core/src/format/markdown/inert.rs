//! Markdown that shows words and follows nothing by itself: raw HTML becomes visible, addresses that run become none,
//! pictures of other machines become words. Code and all other words stay byte for byte.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use bytes::Bytes;
use memchr::{memchr, memchr_iter, memmem};

use super::{
    blank, code,
    target::{Role, Target, targets},
};
use crate::{
    format::{
        Subject,
        cleaning::{Cleaning, Uncleanable, edited},
        markup::{address::Address, carried, element::acts, letters},
        text,
    },
    limits::{Budget, Resource},
    reader::count,
};

/// Tags without attributes that stay where they stand among words.
const TAGS: [&str; 18] = [
    "b", "br", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "strong", "sub", "sup", "u",
    "var",
];
/// What is put in the place of something may change what stands around it; more often than that in no honest text.
const ROUNDS: usize = 4;
/// An address in brackets, or the title of a picture, is not longer.
const LONGEST: usize = 4096;
/// An address is read a few times, up to its longest.
const STEPS_PER_TARGET: u64 = 256;

type Edit = (Range<usize>, Vec<u8>);
type Edits = Vec<Edit>;

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let bytes = text::narrowed(subject.bytes, cleaning, budget)?;
    let bytes = text::without_zeros(&bytes, cleaning, budget)?;
    let (mark, rest) = letters::mark(&bytes);
    Ok([mark, &washed(rest, cleaning, budget)?].concat().into())
}

/// The clean version of Markdown.
pub(in crate::format) fn washed(
    text: &[u8],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Vec<u8>, Uncleanable> {
    let mut washed = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        let edits = edits(&washed, cleaning, budget)?;
        if edits.is_empty() {
            return Ok(washed.into_owned());
        }
        washed = Cow::Owned(edited(&washed, edits, budget)?);
    }
    Err("what is code in it and what is not cannot be told".into())
}

fn edits(text: &[u8], cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Edits, Uncleanable> {
    budget.spend(Resource::Steps, count(text.len()).saturating_mul(4))?;
    budget.spend(Resource::DecodedBytes, count(text.len()))?;
    let mut edits = Edits::new();
    let mut shown = text.to_vec();
    for range in code::ranges(text) {
        // In lists and notes of some dialects what is indented is no code.
        let inside = text.get(range.clone()).unwrap_or_default();
        let is_indented = inside.starts_with(b"    ") || inside.starts_with(b"\t");
        if !(is_indented && acts(inside)) {
            blank(&mut shown, range);
        }
    }
    let mut unseen = Vec::new();
    let targets = targets(&shown, &mut unseen);
    if cleaning.must_go("hidden.") {
        edits.extend(
            unseen
                .into_iter()
                .filter(|range| !shown.get(range.clone()).unwrap_or_default().trim_ascii().is_empty())
                .map(|range| (range, Vec::new())),
        );
    }
    budget.spend(Resource::Steps, count(targets.len()).saturating_mul(STEPS_PER_TARGET))?;
    for target in &targets {
        match target.role {
            Role::Picture(mark) => edits.extend(picture(text, target, mark, cleaning, budget)?),
            Role::Link | Role::Defined { .. } => {
                let plain = target.plain(&shown);
                if !plain.trim_ascii().is_empty() && !is_followed(&plain) {
                    cleaning.did("removed an address");
                    edits.push((target.address.clone(), b"#".to_vec()));
                }
            }
            Role::Bare => {
                if !is_followed(&target.plain(&shown)) {
                    let bracket = target.address.start.saturating_sub(1)..target.address.start;
                    edits.push((bracket, b"&lt;".to_vec()));
                }
            }
        }
    }
    // A picture by name could be defined anywhere.
    let marks: HashSet<usize> = targets.iter().filter_map(Target::mark).collect();
    for mark in memmem::find_iter(&shown, b"![") {
        if !marks.contains(&mark) {
            cleaning.did("made a picture a link");
            edits.push((mark..mark.saturating_add(1), b"&#33;".to_vec()));
        }
    }
    let starts = targets.iter().map(|target| target.address.start).collect();
    brackets(&shown, &starts, &mut edits, cleaning);
    Ok(edits)
}

/// An address that may be followed: of the web, of mail, or a file that the notebook carries.
fn is_followed(plain: &[u8]) -> bool {
    carried::link(plain).is_some() || plain.starts_with(b"attachment:")
}

/// What to put in the place of a picture; `None` when it may stay.
fn picture(
    text: &[u8],
    target: &Target,
    mark: usize,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<Edit>, Uncleanable> {
    let start = target.address.start;
    let rest = text.get(start..).unwrap_or_default();
    let plain = target.plain(text);
    let is_beside = Address::of(&plain) == Address::Here && carried::link(&plain).is_some();
    if plain.trim_ascii().is_empty() || is_beside && memchr(b'?', &plain).is_none() || plain.starts_with(b"attachment:")
    {
        return Ok(None);
    }
    // What a picture carries may be longer than any address.
    let is_carried = rest.get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"data:"));
    let length = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b')' | b'>'));
    let length = length.unwrap_or(rest.len());
    budget.spend(Resource::Steps, count(length))?;
    let carried = start..start.saturating_add(length);
    if is_carried && let Some(kept) = carried::picture(text.get(carried.clone()).unwrap_or_default(), cleaning, budget)?
    {
        let is_same = text.get(carried.clone()) == Some(&kept[..]);
        return Ok((!is_same).then_some((carried, kept)));
    }
    cleaning.did("removed a picture of another machine");
    let end = if is_carried { carried.end } else { target.address.end };
    let Some(end) = closing(text, end) else { return Ok(Some((mark..mark.saturating_add(1), b"&#33;".to_vec()))) };
    let host = host(&plain);
    let words = if host.is_empty() { b"{image removed}".to_vec() } else { [b"{image removed: ", host, b"}"].concat() };
    Ok(Some((mark..end, words)))
}

/// Behind the bracket that closes a picture, its title passed by.
fn closing(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let mut quote = None;
    let mut length = 0_usize;
    for byte in rest {
        length = length.saturating_add(1);
        match (quote, byte) {
            (None, b')') => return from.checked_add(length),
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>' | b' ' | b'\t' | b'\n' | b'\r') | (Some(_), _) => {}
            (None, _) => return None,
        }
    }
    None
}

/// The host of an address, as far as it is only letters.
fn host(address: &[u8]) -> &[u8] {
    let Some(at) = memmem::find(address, b"//") else { return &[] };
    let host = address.get(at.saturating_add(2)..).unwrap_or_default();
    let length = host.iter().take(100).take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    host.get(..length.count()).unwrap_or_default()
}

/// Each `<` that may begin markup and is not known to be harmless becomes visible. `starts` are those of addresses.
fn brackets(shown: &[u8], starts: &HashSet<usize>, edits: &mut Edits, cleaning: &mut Cleaning<'_>) {
    let mut passed = 0_usize;
    // Up to where the line is read, whether it has had letters, and whether it has had anything.
    let (mut read, mut has_letters, mut has_any) = (0_usize, false, false);
    for at in memchr_iter(b'<', shown) {
        for byte in shown.get(read..at).unwrap_or_default() {
            has_letters = *byte != b'\n' && (has_letters || byte.is_ascii_alphabetic());
            has_any = *byte != b'\n' && (has_any || !byte.is_ascii_whitespace());
        }
        read = at;
        let rest = shown.get(at..).unwrap_or_default();
        let begins = rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'!' | b'/' | b'?'));
        if at < passed || !begins {
            continue;
        }
        if let Some(length) = comment(rest).filter(|_| !has_any && !cleaning.must_go("hidden.")) {
            passed = at.saturating_add(length);
            continue;
        }
        if !is_harmless(rest, has_letters, starts.contains(&at.saturating_add(1))) {
            cleaning.did("made markup visible");
            edits.push((at..at.saturating_add(1), b"&lt;".to_vec()));
        }
    }
}

/// The length of a comment behind which its last line is blank, and which holds nothing that anybody could take for its
/// end (`CommonMark` 4.6: the rest of the line of its end would be HTML).
fn comment(rest: &[u8]) -> Option<usize> {
    let inside = rest.strip_prefix(b"<!--")?;
    let end = memmem::find(inside, b"--")?;
    let words = inside.get(..end)?;
    let behind = inside.get(end..)?.strip_prefix(b"-->")?;
    let is_alone = behind.iter().take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace);
    let is_plain = !words.iter().any(|byte| matches!(byte, b'<' | b'>' | b'`' | b'~' | b'[')) && !words.ends_with(b"-");
    (is_alone && is_plain).then(|| end.saturating_add(7))
}

/// Whether a bracket begins an address, or a tag of the list among words. At the start of a line a tag would make HTML
/// of all that follows it, code and all (`CommonMark` 4.6).
fn is_harmless(rest: &[u8], is_among_words: bool, is_address: bool) -> bool {
    let window = rest.get(1..).unwrap_or_default();
    let window = window.get(..LONGEST).unwrap_or(window);
    let end = window.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n'));
    let Some(inside) = end.filter(|end| window.get(*end) == Some(&b'>')).and_then(|end| window.get(..end)) else {
        return false;
    };
    let has = |byte| memchr(byte, inside).is_some();
    if has(b':') || has(b'@') {
        let is_clear = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b'"' | b'\'' | b'`');
        let is_mail = has(b'@') && !has(b':') && !has(b'/');
        return inside.iter().all(is_clear) && (is_mail || is_address && is_followed(inside));
    }
    let name = inside.strip_prefix(b"/").or_else(|| inside.strip_suffix(b"/")).unwrap_or(inside).trim_ascii();
    is_among_words && TAGS.iter().any(|tag| tag.as_bytes().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use crate::format::{cleaning::testing, markdown::FORMAT, testing::look};

    #[track_caller]
    fn cleaned(text: &str) -> String {
        let (bytes, _) = testing::clean(&FORMAT, "markdown", text.as_bytes()).unwrap();
        let facts = look(&FORMAT, "markdown", &bytes).facts();
        let loud: Vec<&String> = facts.iter().filter(|fact| !fact.starts_with("info ")).collect();
        assert_eq!(loud, Vec::<&String>::new(), "{text}");
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn markup_becomes_visible_and_addresses_that_run_become_none() {
        for (text, expected) in [
            ("a <script>1</script>", "a &lt;script>1&lt;/script>"),
            ("<img src=x onerror=1>", "&lt;img src=x onerror=1>"),
            ("<div>\n`<img onerror=1>`\n</div>", "&lt;div>\n`<img onerror=1>`\n&lt;/div>"),
            ("<b>\n`<img src=x onerror=1>`", "&lt;b>\n`<img src=x onerror=1>`"),
            ("<!-- --> `<img src=x onerror=1>`", "&lt;!-- --> `<img src=x onerror=1>`"),
            ("[a](javascript:1)", "[a](#)"),
            ("[a](java&#115;cript:1 'b')", "[a](# 'b')"),
            ("[a](data:text/html,x) [b](vbscript:1)", "[a](#) [b](#)"),
            ("[a]: javascript:1\n\n[a]", "[a]: #\n\n[a]"),
            ("<javascript:1>", "&lt;javascript:1>"),
            ("<\tjavascript:1>", "&lt;\tjavascript:1>"),
            ("<https://x/onerror=1>", "&lt;https://x/onerror=1>"),
            ("![a](https://x.example/a.png?b \"c\")d", "{image removed: x.example}d"),
            ("[![a](https://x.example/a)](https://b.example)", "[{image removed: x.example}](https://b.example)"),
            ("![a][b]\n\n[b]: https://x.example/a.png\n", "&#33;[a][b]\n\n[b]: https://x.example/a.png\n"),
            ("!![a](https://x.example/(a))(javascript:1)", "!{image removed: x.example}(javascript:1)"),
            ("![a](data:image/png,dirty)", "![a](data:image/png;base64,Y2xlYW4=)"),
            ("![a](data:text/html,x)", "{image removed}"),
            ("[^1]: a\n\n    <script>1</script>\n", "[^1]: a\n\n    &lt;script>1&lt;/script>\n"),
        ] {
            assert_eq!(cleaned(text), expected, "{text}");
        }
    }

    #[test]
    fn words_and_code_stay() {
        let text = "# A <br> b\n\nH<sub>2</sub>O, a < b, 1<2, <https://a.example/b> <a@b.example>\n\n```html\n<script>1</script>\n![a](http://x)\n```\n\n    <b>code</b>\n\n`<img onerror=1>` [a](b.md#c) [d](https://a.example \"e\")\n\n<!-- note -->\n\n![p](plots/a.png) ![q](attachment:b.png)\n- [x] done\n";
        assert_eq!(cleaned(text), text);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_words_nothing_acts(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..30)) {
            let text = parts.concat();
            let Ok((bytes, _)) = testing::clean(&FORMAT, "markdown", text.as_bytes()) else { return Ok(()) };
            let facts = look(&FORMAT, "markdown", &bytes).facts();
            proptest::prop_assert!(facts.iter().all(|fact| fact.starts_with("info ")), "{text:?} {facts:?}");
        }
    }

    const PARTS: &[&str] = &[
        "<",
        ">",
        "<b>",
        "</b>",
        "<script>",
        "`",
        "``",
        "```",
        "\n",
        "\n\n",
        "    ",
        "- ",
        "[",
        "]",
        "(",
        ")",
        "!",
        "![a](",
        "](",
        "]: ",
        "javascript:1",
        "https://x.example/",
        "data:text/html,x",
        "<!--",
        "-->",
        "a",
        " ",
        "\"",
        "<img src=x onerror=1>",
        "~~~",
        "\t",
        "&#106;",
        "\\",
        "<https://x>",
        "[a]",
        "1. ",
        "> ",
    ];
}
