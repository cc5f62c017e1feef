use super::*;
use crate::{
    format::testing::{Seen, look},
    limits::Limits,
};

fn seen(text: &str) -> Seen {
    look(&FORMAT, "rtf", text.as_bytes())
}

/// Severity and category of what was found, gaps.
fn facts(seen: &Seen) -> Vec<String> {
    seen.facts().into_iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// A package of OLE 1 with a file in it.
fn package(name: &str, data: &[u8]) -> Vec<u8> {
    let path = format!("C:\\{name}\0");
    let native = [
        b"\x02\0",
        name.as_bytes(),
        b"\0",
        path.as_bytes(),
        b"\0\0\x03\0",
        &(path.len() as u32).to_le_bytes(),
        path.as_bytes(),
        &(data.len() as u32).to_le_bytes(),
        data,
    ]
    .concat();
    let head = b"\x01\x05\0\0\x02\0\0\0\x08\0\0\0Package\0\0\0\0\0\0\0\0\0";
    [&head[..], &(native.len() as u32).to_le_bytes(), &native].concat()
}

#[test]
fn an_ordinary_document_is_silent_and_read() {
    let seen = seen(
        "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fnil Arial;}{\\f1\\fcharset204 Arial;}}{\\colortbl;\\red255\\green255\\blue255;\\red0\\green0\\blue0;}\
         {\\info{\\title The report}{\\author me}}{\\*\\generator Word;}\\f0 Hello\\par caf\\'e9 \\u8364?1 \\u-10179?\\u-8704?{\\f1 \\'ef\\'f0}\\par}",
    );
    assert_eq!(seen.facts(), [""; 0]);
    assert_eq!(seen.texts(), ["Hello\ncafé €1 \u{1f600}пр\n", "The report\nme\n"]);
}

#[test]
fn text_that_nobody_sees_is_apart() {
    let text = "{\\rtf1{\\colortbl;\\red255\\green255\\blue255;}Seen {\\v vanished }{\\cf1 white }{\\fs2 tiny }{\\*\\unknown ignored }again}";
    let seen = seen(text);
    assert_eq!(seen.texts(), ["Seen again", "vanished white tiny ignored "]);
    assert!(seen.texts[1].hidden.is_some());
    let at = text.find("again").unwrap() as u64;
    assert_eq!(seen.span(0, 5, 10).0, at);
}

#[test]
fn packages_are_found_through_their_disguises() {
    let digits = hex(&package("a.exe", b"MZ\0\0"));
    let plain = format!("{{\\rtf1{{\\object\\objemb{{\\*\\objdata {digits}}}}}}}");
    let spread: String = digits.chars().map(|digit| format!("{digit}\r\n\\par{{\\*\\x 55}}\t")).collect();
    let disguised = format!("{{\\rtf1{{\\object\\objdata {spread}}}}}");
    let (head, tail) = digits.split_at(40);
    let raw = format!("{{\\rtf1{{\\*\\objdata {head}\\bin2 AB{tail}}}}}");
    for text in [plain, disguised] {
        let seen = seen(&text);
        assert_eq!(facts(&seen), ["high embed.executable", "medium embed.ole"]);
        assert_eq!(seen.children.len(), 1);
        assert_eq!(seen.children[0].name.as_deref(), Some("a.exe"));
        assert_eq!(&seen.children[0].source.packed[..], b"MZ\0\0");
    }
    assert_eq!(
        facts(&seen(&raw)),
        ["medium embed.ole", "gap unsupported"],
        "raw bytes are part of it, and break this one"
    );
}

#[test]
fn objects_that_are_loaded_or_exploited() {
    let cfb = crate::format::cfb::build::Build::new().stream("Equation Native", b"\x1c\0").bytes();
    let embedded =
        [&b"\x01\x05\0\0\x02\0\0\0\x0b\0\0\0Equation.3\0\0\0\0\0\0\0\0\0"[..], &(cfb.len() as u32).to_le_bytes(), &cfb]
            .concat();
    let seen_object = seen(&format!("{{\\rtf1{{\\object\\objemb\\objupdate{{\\*\\objdata {}}}}}}}", hex(&embedded)));
    assert_eq!(facts(&seen_object), ["high embed.ole", "high embed.ole", "medium embed.ole"]);
    assert_eq!(&seen_object.children[0].source.packed[..], &cfb);
    let linked = hex(b"\x01\x05\0\0\x01\0\0\0\x02\0\0\0X\0\x0a\0\0\0http://e/\0\0\0\0\0");
    assert_eq!(
        facts(&seen(&format!("{{\\rtf1{{\\object{{\\*\\objdata {linked}}}}}}}"))),
        ["high net.external_ref", "medium embed.ole"]
    );
    assert_eq!(facts(&seen("{\\rtf1{\\object\\objautlink}}")), ["high net.external_ref"]);
    assert_eq!(facts(&seen("{\\rtf1{\\object\\objocx}}")), ["medium active.activex"]);
    assert_eq!(facts(&seen("{\\rtf1{\\sp{\\sn pFragments}{\\sv 1;2;ffff}}}")), ["high embed.ole"]);
}

#[test]
fn fields_templates_and_links() {
    assert_eq!(
        facts(&seen("{\\rtf1{\\field{\\*\\fldinst DDEAUTO cmd \"/k echo\"}{\\fldrslt x}}}")),
        ["high macro.dde"]
    );
    let nested = "{\\rtf1{\\field{\\*\\fldinst {\\field{\\*\\fldinst QUOTE x}{\\fldrslt DDE}}{AUTO} cmd}{\\fldrslt}}}";
    assert_eq!(facts(&seen(nested)), ["high macro.dde"]);
    assert_eq!(facts(&seen("{\\rtf1{\\field{\\*\\fldinst{\\b DDE}{\\i AUTO} c}}}")), ["high macro.dde"]);
    assert_eq!(
        facts(&seen("{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE \"http://e/a\"}}}")),
        ["medium net.external_ref"]
    );
    assert_eq!(
        facts(&seen("{\\rtf1{\\field{\\*\\fldinst HYPERLINK \"http://e/a\"}{\\fldrslt here}}}")),
        ["info net.link"]
    );
    assert_eq!(facts(&seen("{\\rtf1{\\*\\template http://e/a.dot}}")), ["high net.external_template"]);
    assert_eq!(facts(&seen("{\\rtf1{\\*\\template C:\\\\a.dot}}")), [""; 0]);
}

#[test]
fn what_is_wrong_is_told() {
    assert_eq!(facts(&seen("{\\rtf1{\\b")), ["medium malformed.truncated"]);
    assert_eq!(facts(&seen("{\\rtxa}")), ["medium malformed.structure"]);
    assert_eq!(
        facts(&seen("{\\rtf1{\\*\\objdata\\bin2147483647 }}")),
        ["medium embed.ole", "medium malformed.structure"]
    );
    assert_eq!(facts(&seen("{\\rtf1\\u-99999999999999999999 \\ucX}")), ["medium malformed.structure"]);
    assert_eq!(facts(&seen("{\\rtf1 a}\r\n\0}")), [""; 0]);
    assert_eq!(facts(&seen("{\\rtf1 a}MZ and much more behind it")), ["medium type.trailing_data"]);
    let deep = format!("{{\\rtf1{}{}}}", "{".repeat(50_000), "}".repeat(50_000));
    assert_eq!(facts(&seen(&deep)), ["high bomb.recursion"]);
}

#[test]
fn a_cut_anywhere_is_never_clean() {
    let whole =
        format!("{{\\rtf1{{\\object{{\\*\\objdata {}}}}}{{\\v \\u20320 x}}}}", hex(&package("a.txt", b"hello")));
    for length in 5..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "{length}");
    }
}

#[test]
fn work_is_linear() {
    let cost = |unit: &str, times: usize| {
        let text = format!("{{\\rtf1{}}}", unit.repeat(times));
        Seen::limited(&FORMAT, "rtf", text.as_bytes(), Limits::default()).spent(Resource::Steps) as f64
    };
    for unit in [
        "{}",
        "{\\b a}",
        "{",
        "\\'e9\\u8364?",
        "{\\field{\\*\\fldinst x}}",
        "{\\field{\\*\\fldinst x",
        "{\\*\\objdata 0105}",
        "{\\fonttbl{\\f1\\fcharset204 x;}}\\f1 \\'ef\\f2 \\'ef",
        "\\v a\\v0 b",
    ] {
        let (one, two) = (cost(unit, 3_000), cost(unit, 6_000));
        assert!(two / one < 2.3, "{unit}: {one} {two}");
    }
}

proptest::proptest! {
    #[test]
    fn noise_never_panics(parts in proptest::collection::vec(0..20_usize, 0..60)) {
        const PARTS: [&str; 20] = [
            "{", "}", "\\*", "\\objdata ", "0105", "\\bin3 ", "\\u8364", "\\'e9", "\\fldinst ", "DDE", "\\template ", "\\v", "\\uc2",
            "\\fs1 ", "\\f1 ", "\\colortbl", ";", "\\fonttbl", "\\fcharset128 ", "\\sn ",
        ];
        let text: String = parts.iter().map(|part| PARTS[*part]).collect();
        let _ = seen(&format!("{{\\rtf1{text}"));
    }
}
