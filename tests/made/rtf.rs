//! Rich text.

use super::{
    Cases,
    defect::{KEY, ORDER},
};

pub(super) fn make(cases: &mut Cases) {
    let document = |body: &str| format!("{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0 Arial;}}}}\\f0 {body}\\par}}\n");
    let field = |code: &str| document(&format!("{{\\field{{\\*\\fldinst {{{code}}}}}{{\\fldrslt a}}}}"));
    let rows: Vec<(&str, &str, String)> = vec![
        ("honest-made", "nothing is wrong", document("Dear reader, all is {\\b well}.")),
        ("never-closed", "the document has no end", "{\\rtf1\\ansi words".to_owned()),
        ("closed-too-early", "the document ends before its words", "{\\rtf1\\ansi} words\\par}\n".to_owned()),
        ("closed-too-often", "brackets close that were not opened", format!("{}}}}}}}", document("words").trim_end())),
        ("version-missing", "there is no version", "{\\rtf\\ansi words}\n".to_owned()),
        ("version-huge", "a version that there is not", "{\\rtf999999\\ansi words}\n".to_owned()),
        ("head-with-space", "a blank stands in the head", "{ \\rtf1\\ansi words}\n".to_owned()),
        ("bytes-past-the-end", "a run of bytes is longer than the document", document("\\bin999999 words")),
        ("bytes-below-zero", "a run of a negative number of bytes", document("\\bin-5 words")),
        ("bytes-hide-brackets", "a run of bytes hides brackets", document("\\bin4 }}}} words")),
        ("escape-of-no-hex", "an escape has letters that are no digits", document("caf\\'zz")),
        ("escape-cut", "the document ends in an escape", "{\\rtf1\\ansi caf\\'".to_owned()),
        ("letter-below-zero", "a letter by its negative number, which is allowed", document("\\u-10179?\\u-8704?")),
        ("letter-half-pair", "half of a pair of letters", document("\\u-10179? words")),
        ("letters-hidden-by-skips", "the letters to skip are more than there are", document("\\uc9999\\u65 words")),
        (
            "word-of-300-letters",
            "a control word of three hundred letters",
            document(&format!("\\{} words", "a".repeat(300))),
        ),
        (
            "groups-300-deep",
            "three hundred groups in each other",
            document(&format!("{}a{}", "{".repeat(300), "}".repeat(300))),
        ),
        ("font-that-is-not-there", "a font that the table has not", document("\\f99 words")),
        (
            "table-of-fonts-never-closed",
            "the table of fonts has no end",
            "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial; words".to_owned(),
        ),
        ("picture-of-no-kind", "a picture of no kind", document("{\\pict 0102}")),
        ("picture-odd-digits", "a picture with half a byte", document("{\\pict\\pngblip 89504e4}")),
        (
            "picture-cut",
            "a picture is a PNG that is cut",
            document("{\\pict\\pngblip 89504e470d0a1a0a0000000d49484452}"),
        ),
        ("object-of-no-class", "an object has no class", document("{\\object\\objemb{\\*\\objdata 0105000002000000}}")),
        ("object-of-garbage", "the data of an object are none", document("{\\object\\objemb{\\*\\objdata zzzz}}")),
        (
            "object-digits-cut-by-groups",
            "the digits of an object are cut by groups, to hide them",
            document("{\\object\\objemb{\\*\\objdata 01{\\x}05{\\y}0000020000000800000057{\\z}6f72642e38}}"),
        ),
        (
            "object-class-length-lies",
            "the class of an object is longer than the object",
            document("{\\object\\objemb{\\*\\objdata 0105000002000000ffffff7f41}}"),
        ),
        (
            "object-in-head",
            "an object stands in the head",
            "{\\rtf1{\\object\\objemb\\objupdate{\\*\\objdata 0105000002000000}}words}\n".to_owned(),
        ),
        ("field-exchange", "a field asks another program", field("DDEAUTO cmd \"/k calc\"")),
        ("field-of-a-link", "a field leads elsewhere", field("HYPERLINK \"https://host.example/\"")),
        ("field-of-a-script", "a field is a script", field("HYPERLINK \"javascript:go()\"")),
        ("field-of-a-picture", "a field fetches a picture", field("INCLUDEPICTURE \"https://host.example/a.png\"")),
        (
            "field-in-pieces",
            "the code of a field is cut over groups",
            document("{\\field{\\*\\fldinst {D}{DE}{AUTO} cmd \"/k calc\"}{\\fldrslt a}}"),
        ),
        ("field-never-closed", "a field has no end", "{\\rtf1\\ansi{\\field{\\*\\fldinst HYPERLINK".to_owned()),
        ("attack-in-title", "the title is an order", document(&format!("{{\\info{{\\title {ORDER}}}}}words"))),
        ("attack-in-author", "the author is an order", document(&format!("{{\\info{{\\author {ORDER}}}}}words"))),
        (
            "attack-in-comment-of-info",
            "the comment of the document is an order",
            document(&format!("{{\\info{{\\doccomm {ORDER}}}}}words")),
        ),
        (
            "attack-in-unknown-destination",
            "a part that readers skip is an order",
            document(&format!("{{\\*\\unknown {ORDER}}}words")),
        ),
        ("attack-in-footnote", "a footnote is an order", document(&format!("words{{\\footnote {ORDER}}}"))),
        ("attack-in-annotation", "a note is an order", document(&format!("words{{\\*\\annotation {ORDER}}}"))),
        (
            "attack-in-deleted-text",
            "deleted text that is kept is an order",
            document(&format!("{{\\deleted {ORDER}}} words")),
        ),
        (
            "attack-in-escapes",
            "an order is written in escapes",
            document(&ORDER.bytes().map(|byte| format!("\\'{byte:02x}")).collect::<String>()),
        ),
        ("attack-behind-the-end", "an order follows the document", format!("{}{ORDER}\n", document("words"))),
        (
            "key-in-variable",
            "a variable of the document is a key",
            document(&format!("{{\\*\\docvar {{a}}{{{KEY}}}}}words")),
        ),
    ];
    for (name, why, text) in rows {
        cases.text("rtf", &format!("{name}.rtf"), why, text);
    }
}
