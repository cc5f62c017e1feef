use proptest::prelude::*;

use super::super::rules;
use crate::{
    finding::Finding,
    format::{
        Format,
        cleaning::testing::{Plain, clean, clean_once},
        cleaning::{Cleaning, Uncleanable},
        html, svg,
        testing::look,
    },
    limits::{Budget, Limits, Resource},
    sniff,
};

/// The clean version, which has to be silent.
#[track_caller]
fn silent(format: &'static Format, label: &'static str, text: &str) -> String {
    let (bytes, _) = clean(format, label, text.as_bytes()).unwrap_or_else(|why| panic!("{text}: {why:?}"));
    let clean = String::from_utf8(bytes.to_vec()).unwrap();
    let facts: Vec<String> = look(format, label, &bytes).facts();
    let loud: Vec<&String> = facts.iter().filter(|fact| !fact.starts_with("info ")).collect();
    assert_eq!(loud, Vec::<&String>::new(), "{text}\n{clean}");
    clean
}

#[track_caller]
fn page(text: &str) -> String {
    silent(&html::FORMAT, "html", text)
}

fn picture(inside: &str) -> String {
    let whole = silent(&svg::FORMAT, "svg", &format!("<svg>{inside}</svg>"));
    let inside =
        whole.strip_prefix("<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">");
    inside.and_then(|inside| inside.strip_suffix("</svg>")).expect("one picture").to_owned()
}

#[test]
fn what_acts_goes_from_a_page() {
    for (text, expected) in [
        ("a<script>alert(1)</script>b", "ab"),
        ("a<ScRiPt src=//x></sCrIpT >b", "ab"),
        ("a<script>b", "a"),
        ("<scr<script>ipt>alert(1)</script>", "ipt&gt;alert(1)"),
        ("<img src=x onerror=alert(1)>", "<img>"),
        ("<img/src=x/onerror=alert(1)>", "<img>"),
        ("<img src=\"http://x/a.png\" srcset='//x 2x' alt=\"a &amp; b\">", "<img alt=\"a &amp; b\">"),
        ("<p onclick=1 ONLOAD=2 style='color:red;background:url(//x)'>a", "<p style=\"color: red\">a</p>"),
        ("<a href='java&#x73;cript:1'>a</a>", "<a>a</a>"),
        ("<a href=' jAvA\tscript:1'>a</a>", "<a>a</a>"),
        // A control that is not written keeps no tag apart.
        ("<p title='<title></title\u{5}><script>1</script>'>a</p>", "<p>a</p>"),
        ("<p title='</title\u{5}>'>a</p>", "<p title=\"&lt;/title&gt;\">a</p>"),
        (
            "<a href='https://a.example/?b&amp;c' target=_blank ping=//x>a</a>",
            "<a href=\"https://a.example/?b&amp;c\" rel=\"noopener noreferrer nofollow\">a</a>",
        ),
        ("<iframe src=//x>a</iframe>b<iframe srcdoc='<script>1</script>'></iframe>", "b"),
        ("<object data=//x><embed src=//x>a</object>b<embed src=//x>", "b"),
        ("<form action=//x><input name=a><button formaction=//x>go</button></form>", "go"),
        ("<base href=//x><link rel=stylesheet href=//x><meta http-equiv=refresh content='0;url=//x'>a", "a"),
        ("<style>@import '//x';p{color:red;background:url(//x)}</style>", "<style>\np { color: red }\n</style>"),
        ("<style>p{background:url(//x)}</style>a", "a"),
        ("<!-- <script>1</script> -->a<!--[if IE]><script>1</script><![endif]-->b", "ab"),
        ("<?php echo 1 ?>a<!ELEMENT x>b", "ab"),
        ("<template><img src=x onerror=1></template>a", "a"),
        ("<noscript><p title='</noscript><img src=x onerror=1>'>a</p></noscript>", "<p>a</p>"),
        ("<math><mi>x</mi><annotation encoding='text/html'><script>1</script></annotation></math>", "x"),
        (
            "<svg><a xlink:href='javascript:1'><text>a</text></a></svg>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"><a><text>a</text></a></svg>",
        ),
        ("<b\0 onx\0load=1>a</b>", "a"),
        ("a\0b\u{1b}[31m", "ab[31m"),
        ("<p title='<img src=x onerror=1>'>a</p>", "<p>a</p>"),
        ("<table background=//x><tr><td background=//x>a", "<table><tr><td>a</td></tr></table>"),
        ("<video poster=//x src=//x>old</video><audio src=//x></audio>a", "olda"),
        ("<xmp><script>1</script></xmp>", "&lt;script&gt;1&lt;/script&gt;"),
        ("<textarea></textarea><img src=x onerror=1></textarea>", "<img>"),
        ("<plaintext><script>1</script>", "&lt;script&gt;1&lt;/script&gt;"),
        (
            "&lt;script&gt;1&lt;/script&gt; &rightarrow; &amp;lt;",
            "&lt;script&gt;1&lt;/script&gt; &rightarrow; &amp;lt;",
        ),
        ("+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "&#43;ADw-script+AD4-alert(1)&#43;ADw-/script+AD4-"),
        ("<a", ""),
        ("<a href='x", ""),
    ] {
        assert_eq!(page(text), expected, "{text}");
    }
}

#[test]
fn what_would_be_read_otherwise_the_second_time_is_not_written() {
    for text in [
        "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<svg><title><style><img title=\"</style><img src=x onerror=alert(1)>\"></title></svg>",
        "<svg><desc><noscript><style></noscript><img src=x onerror=alert(1)></style></desc></svg>",
        "<svg><![CDATA[><img src=x onerror=alert(1)>]]></svg>",
        "<style><!--</style><img src=x onerror=alert(1)>--></style>",
        "<title><a title='</title><img src=x onerror=alert(1)>'></title>",
        "<noembed><p title='</noembed><img src=x onerror=alert(1)>'></noembed>",
        "<select><iframe></select><img src=x onerror=alert(1)></iframe></select>",
        "<table><a><table></a><svg onload=alert(1)>",
        "<p id='\"><img src=x onerror=alert(1)>'>",
        "<p class=\"`><img src=x onerror=alert(1)>\">",
        "<svg><foreignObject><body><script>alert(1)</script></body></foreignObject></svg>",
        "<svg><animate attributeName=href values=javascript:alert(1) /><set attributeName=onload to=1 /></svg>",
        "<<script>alert(1)//<</script>",
        "</p onclick=1><br/ onclick=1>",
        "<svg/onload=alert(1)//",
        "<details open ontoggle=alert(1)><summary>a</summary></details>",
        "<isindex action=javascript:alert(1) type=submit>",
        "<svg xmlns:x='y'><x:script>alert(1)</x:script></svg>",
        "<style>a{color:red}</style ><script>alert(1)</script>",
        "<p style=\"width:expression(alert(1));-moz-binding:url(x)\">",
        "<p style='x:\\65xpression(alert(1))'>",
        "<div style='color:red;}*{background:url(//x)}'>",
    ] {
        let clean = page(text);
        assert!(!clean.contains("onerror=") || clean.contains("&lt;img"), "{text}\n{clean}");
        assert!(!clean.contains("<script") && !clean.contains("onload"), "{text}\n{clean}");
    }
}

#[test]
fn honest_pages_keep_their_words_and_their_form() {
    let table = "<table border=\"1\" class=\"dataframe\">\n  <thead>\n    <tr style=\"text-align: right\">\n      <th></th>\n      <th>a</th>\n    </tr>\n  </thead>\n  <tbody>\n    <tr>\n      <th>0</th>\n      <td>1.5 &lt; 2 &amp; \"x\" é</td>\n    </tr>\n  </tbody>\n</table>\n<p>1 rows × 1 columns</p>";
    assert_eq!(page(table), table);
    let document = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>A &amp; B</title><style>\n.a { color: red }\n</style></head><body><h1 id=\"top\">A</h1><ul><li>one</li><li>two</li></ul><pre>a &lt; b\n</pre><dl><dt>x</dt><dd>y</dd></dl><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"plot\"></body></html>";
    assert_eq!(page(document), document);
    assert_eq!(
        page("<ul><li>one<li>two</ul><p>a<p>b<table><tr><td>1<td>2<tr><td>3</table>"),
        "<ul><li>one</li><li>two</li></ul><p>a</p><p>b</p><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
    );
    assert_eq!(page("<b><i>x</b></i><td></div>y"), "<b><i>x</i></b><td>y</td>");
    assert_eq!(page("<META CHARSET=latin1><P>a&nbsp;b"), "<meta charset=\"utf-8\"><p>a&#160;b</p>");
}

#[test]
fn pictures_keep_what_draws() {
    for inside in [
        "<g id=\"axes_1\"><path d=\"M 0 0 L 1 1 z\" clip-path=\"url(#p1)\" style=\"fill: none; stroke: #1f77b4; stroke-width: 1.5; stroke-linecap: square\"></path></g>",
        "<defs><clipPath id=\"p1\"><rect x=\"1\" y=\"1\" width=\"2\" height=\"2\"></rect></clipPath><linearGradient id=\"g\" xlink:href=\"#h\"><stop offset=\"0\" stop-color=\"#fff\"></stop></linearGradient></defs>",
        "<use xlink:href=\"#m1\" x=\"1\" y=\"2\"></use><text transform=\"rotate(-45 1 2)\" text-anchor=\"middle\">a &amp; b</text>",
        "<style>\n*{stroke-linejoin: round}\n</style>",
        "<image width=\"9\" xlink:href=\"data:image/png;base64,iVBORw0KGgo=\"></image>",
        "<filter id=\"f\"><feColorMatrix type=\"matrix\" values=\"1 0 0 0 0\"></feColorMatrix></filter>",
    ] {
        let expected = inside.replace("*{stroke-linejoin: round}", "* { stroke-linejoin: round }");
        assert_eq!(picture(inside), expected);
    }
    let whole = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" standalone=\"no\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n<ns0:svg xmlns:ns0=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><ns0:title>a &nbsp;</ns0:title><metadata>m</metadata></ns0:svg>\n";
    assert_eq!(
        silent(&svg::FORMAT, "svg", whole),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 1 1\"><title>a &#160;</title></svg>"
    );
}

#[test]
fn what_acts_goes_from_a_picture() {
    for (inside, expected) in [
        ("<script>1</script><g onload='1'/>", "<g></g>"),
        ("<script href='//x'/><rect/>", "<rect></rect>"),
        ("<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='//x'/></foreignObject>a", "a"),
        (
            "<a xlink:href='javascript:1'><set attributeName='href' to='javascript:1'/><text>a</text></a>",
            "<a><text>a</text></a>",
        ),
        (
            "<use href='//x#a'/><use href='data:image/svg+xml,x#a'/><image href='//x'/>",
            "<use></use><use></use><image></image>",
        ),
        ("<rect fill='url(//x#a)' filter='url(#f)' style='mask:url(//x)'/>", "<rect filter=\"url(#f)\"></rect>"),
        (
            "<style>@import url(//x); rect{fill:url(#a);stroke:url(//x)}</style>",
            "<style>\nrect { fill: url(#a) }\n</style>",
        ),
        ("<style><![CDATA[rect{fill:red}]]></style>", "<style>\nrect { fill: red }\n</style>"),
        ("<![CDATA[<script>1</script>]]>", "&lt;script&gt;1&lt;/script&gt;"),
        ("<g xmlns='http://www.w3.org/1999/xhtml'><img src='x' onerror='1'/></g>", "<g></g>"),
        ("<x:script xmlns:x='http://www.w3.org/2000/svg'>1</x:script><handler>1</handler>", ""),
        ("</svg><script>1</script><svg>", ""),
        ("<g><path", "<g></g>"),
    ] {
        assert_eq!(picture(inside), expected, "{inside}");
    }
    let entity = "<!DOCTYPE svg [<!ENTITY x '<script>1</script>'><!ENTITY y SYSTEM 'file:///etc/passwd'>]><?xml-stylesheet href='//x'?><svg>&x;&y;</svg>";
    assert!(silent(&svg::FORMAT, "svg", entity).ends_with("\">&amp;x;&amp;y;</svg>"));
    for text in ["", "<html><svg/></html>", "<x:svg/>", "<?xml version='1.0'?>"] {
        assert!(clean(&svg::FORMAT, "svg", text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn escaped_words_are_asked_for_and_files_inside_too() {
    assert_eq!(page("<p title='&#83;ECRET'>&#83;ECRET</p>"), "<p title=\"[secret]\">[secret]</p>");
    assert_eq!(page("<img src='data:image/png,dirty'>"), "<img src=\"data:image/png;base64,Y2xlYW4=\">");
    assert_eq!(page("<img src='data:text/html,x' alt=a><img src='data:image/png'>"), "<img alt=\"a\"><img>");
}

#[test]
fn text_that_nobody_sees_goes_where_it_must() {
    let text = "<style>.h{display:none}</style><p class=h>orders</p><p>words</p><p style='font-size:0'>small</p>";
    let clean = clean_once(&html::FORMAT, "html", text.as_bytes(), Limits::default()).unwrap().0;
    assert!(String::from_utf8_lossy(&clean).contains("orders"));
    let mut washer = Plain;
    let hidden = [Finding::built_in(&rules::HIDDEN_STYLE)];
    let mut cleaning = Cleaning::new(&mut washer, &hidden);
    let bytes = bytes::Bytes::from_static(text.as_bytes());
    let subject = crate::format::Subject { bytes: &bytes, kind: sniff::type_of("html").unwrap() };
    let clean = (html::FORMAT.clean.unwrap())(&subject, &mut cleaning, &mut Budget::new(Limits::default())).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&clean),
        "<style>\n.h { display: none }\n</style><p class=\"h\"></p><p>words</p><p style=\"font-size: 0\"></p>"
    );
    assert!(cleaning.into_actions().contains_key("removed text that is not shown"));
}

#[test]
fn depth_and_budget_have_their_limits() {
    let nested = |depth: usize| format!("{}{}", "<div>".repeat(depth), "</div>".repeat(depth));
    assert_eq!(page(&nested(super::DEEPEST)), nested(super::DEEPEST));
    assert!(matches!(clean(&html::FORMAT, "html", nested(super::DEEPEST + 1).as_bytes()), Err(Uncleanable(_))));
    let limits = |bytes| Limits::default().with(Resource::DecodedBytes, bytes);
    assert!(clean_once(&html::FORMAT, "html", b"<b>a&b</b>", limits(14)).is_ok());
    assert!(clean_once(&html::FORMAT, "html", b"<b>a&b</b>", limits(13)).is_err());
    let many =
        |count: usize| format!("<p{}></p>", (0..count).map(|at| format!(" aria-label{at}=x")).collect::<String>());
    assert_eq!(page(&many(5000)), "<p></p>");
}

proptest! {
    #[test]
    fn no_soup_comes_through(tokens in prop::collection::vec(prop::sample::select(SOUP), 0..40)) {
        let text = tokens.concat();
        let html = page(&text);
        for word in ["<script", "<iframe", "<!--", "<object", "<math", "<foreign", "<noscript", "<template"] {
            prop_assert!(!html.to_ascii_lowercase().contains(word), "{html}");
        }
        if let Ok((bytes, _)) = clean(&svg::FORMAT, "svg", text.as_bytes()) {
            let facts = look(&svg::FORMAT, "svg", &bytes).facts();
            prop_assert!(facts.iter().all(|fact| fact.starts_with("info ") || fact.contains("bomb.")), "{facts:?}");
        }
    }

    #[test]
    fn no_bytes_come_through(text in "[<>!/?a-d'\"= \\[\\]&;#-]{0,60}|\\PC{0,40}") {
        page(&text);
        let whole = format!("<svg>{text}</svg>");
        let _ = clean(&svg::FORMAT, "svg", whole.as_bytes());
    }
}

const SOUP: &[&str] = &[
    "<svg>",
    "</svg>",
    "<svg ",
    "<math>",
    "</math>",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<p>",
    "</p>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<script>",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<a href=javascript:1>",
    "</a>",
    "<foreignObject>",
    "</foreignObject>",
    "<template>",
    "</template>",
    "<noscript>",
    "</noscript>",
    "<textarea>",
    "</textarea>",
    "<select>",
    "</select>",
    "<iframe>",
    "</iframe>",
    "<xmp>",
    "</xmp>",
    "\"",
    "'",
    ">",
    "<",
    "/>",
    "&lt;",
    "&#60;",
    "&",
    "x",
    " title=\"",
    " style='",
    "color:red",
    "url(//x)",
    "{",
    "}",
    "@import",
    "<desc>",
    "<g>",
    "</g>",
    "<use href=#a />",
    "<animate>",
    "<b>",
    "</b>",
    "<li>",
    "<plaintext>",
    "<mtext>",
    "<mglyph>",
    "<form>",
    "<object>",
    "</object>",
    "<!DOCTYPE html>",
    "\0",
    "<?xml ",
    "?>",
    "<li>",
    "<head>",
    "<meta charset=x>",
    "<br/>",
    "<image href=\"",
    "data:image/png,a",
];
