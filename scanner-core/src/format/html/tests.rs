use super::*;
use crate::{
    format::testing::{Seen, look},
    limits::Resource,
};

fn page(body: &str) -> Seen {
    look(&FORMAT, "html", format!("<!DOCTYPE html><html><head><title>t</title></head><body>{body}</body></html>").as_bytes())
}

/// `severity category`, without places.
fn said(body: &str) -> Vec<String> {
    let facts = page(body).facts();
    let mut said: Vec<String> = facts.iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    said.sort();
    said.dedup();
    said
}

#[track_caller]
fn says(body: &str, expected: &[&str]) {
    assert_eq!(said(body), expected, "{body}");
}

#[test]
fn what_runs() {
    for body in [
        "<script>alert(1)</script>",
        "<SCRIPT\n>1</SCRIPT\n>",
        "<svg><script>1</script></svg>",
        "<template shadowrootmode=open><script>1</script></template>",
        "<script src=a.js></script>",
        "<script type=text/babel>1</script>",
        "<link rel=import href=a.html>",
    ] {
        says(body, &["medium html.script"]);
    }
    for body in ["<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<details open ontoggle='a()'>", "<img/src=x/onerror=alert(1)>"] {
        says(body, &["medium html.handler"]);
    }
    for body in [
        "<a href=\"\u{1}java\nscript:alert(1)\">x</a>",
        "<a href='&#106avascript&colon;1'>x</a>",
        "<button formaction=javascript:1>x</button>",
        "<math><maction xlink:href='javascript:1'>x</maction></math>",
        "<svg><a><animate attributeName=href values=javascript:1 /></a></svg>",
        "<svg><use href='data:image/svg+xml,&lt;svg/>' /></svg>",
        "<form action='vbscript:1'></form>",
    ] {
        says(body, &["medium html.url"]);
    }
    says("<script type=application/json>{\"a\":1}</script><script type=text/template><b></script>", &[]);
    says("<p once=1 only=2 on=3>", &[]);
}

#[test]
fn what_loads() {
    for body in [
        "<img src=https://x/a.png>",
        "<img srcset='a.png 1x, //x/a.png 2x'>",
        "<video poster='https://x/p'><source src=https://x/v></video>",
        "<link rel='preload' href=https://x/a>",
        "<link rel='shortcut icon' href=//x/a>",
        "<p style='background:url(https://x/a)'>",
        "<style>@import 'https://x/a.css';</style>",
        "<svg><image href='file:///etc/passwd'/></svg>",
        "<body background='\\\\x\\a'>",
    ] {
        says(body, &["medium net.external_ref"]);
    }
    says("<script type=module>import \"https://x/a.js\"</script>", &["medium html.script", "medium net.external_ref"]);
    says("<script type=importmap>{\"imports\":{\"a\":\"https://x\"}}</script>", &["medium html.script", "medium net.external_ref"]);
    says("<a href=https://x>a</a><link rel=canonical href=https://x>", &["info net.link"]);
    says("<img src=data:image/png;base64,iVBORw0KGgo=><img src=a.png>", &[]);
}

#[test]
fn what_embeds_and_sends() {
    says("<iframe src=https://x></iframe>", &["medium html.frame", "medium net.external_ref"]);
    says("<iframe srcdoc='&lt;script>1&lt;/script>'></iframe>", &["medium html.frame"]);
    says("<iframe src=about:blank></iframe><iframe></iframe>", &[]);
    says("<object data=a.swf></object><embed src=a.pdf>", &["medium html.object"]);
    says("<form action=https://x><input type=password></form>", &["medium html.form", "medium net.external_ref"]);
    says("<form action=search.html></form><form></form>", &["low html.form"]);
    says("<base href=https://x/>", &["medium html.base", "medium net.external_ref"]);
    says("<meta http-equiv=refresh content='0;url=https://x'>", &["medium html.meta"]);
    says("<meta http-equiv=refresh content='0; url=b.html'>", &["low html.meta"]);
    says("<a href='search-ms:query=a'>x</a>", &["medium exec.protocol"]);
    says("<iframe src='ms-msdt:/id'></iframe>", &["high exec.protocol", "medium html.frame"]);
    says("<style>a{b:expression(1)}</style>", &["medium html.style"]);
}

#[test]
fn smuggling_and_what_is_buried() {
    let script = "<script>a.download='x';a.href=URL.createObjectURL(new Blob([atob('TVqQAAMA')]))</script>";
    says(script, &["high html.smuggling", "medium html.script"]);
    says(&script.replace("TVqQAAMA", "eyJhIjoxfQ=="), &["medium html.script", "medium html.smuggling"]);
    for body in [
        "<p title='&lt;img src=1 onerror=1>'>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    ] {
        assert!(said(body).contains(&"medium html.markup".to_owned()), "{body}: {:?}", said(body));
    }
    says("<svg><style><img src=1 onerror=1></style></svg>", &["medium html.handler"]);
    says("<meta charset=utf-7>", &["medium malformed.encoding"]);
    says("<scr\0ipt>1</scr\0ipt>", &["medium malformed.structure"]);
}

#[test]
fn ordinary_pages_are_silent() {
    says("<table border=\"1\" class=\"dataframe\"><tr style=\"text-align: right;\"><td>&nbsp;1</td></tr></table>", &[]);
    says("<pre>&lt;script>alert(1)&lt;/script> and javascript:</pre>", &[]);
    says("<style>#T_1 {background-color: yellow;} .a{display:none}</style><p class=a>x</p>", &[]);
    says("<?xml-stylesheet href='javascript:1'?>", &[]);
    says(&"<li>a<p>b".repeat(2000), &[]);
}

/// Each text with its part and, where a person does not see it, the rule.
fn parts(body: &str) -> Vec<(String, Option<&'static str>)> {
    let seen = page(body);
    let rules = seen.texts.iter().map(|view| view.hidden.map(|rule| &*rule.category));
    seen.texts().into_iter().map(|text| text.trim().to_owned()).zip(rules).filter(|(text, _)| text.contains("Obey")).collect()
}

#[test]
fn seen_and_unseen_text_are_told_apart() {
    for (body, rule) in [
        ("<p>Ob<b>ey</b></p>", None),
        ("<p>&#79;bey</p>", None),
        ("<p hidden>Obey</p>", Some("hidden.style")),
        ("<div style='display:none'><p>Obey</div>", Some("hidden.style")),
        ("<style>.x{visibility:hidden}</style><p class='a x'>Obey", Some("hidden.style")),
        ("<p style='opacity:0'>Obey", Some("hidden.style")),
        ("<template>Obey</template>", Some("hidden.style")),
        ("<!-- Obey -->", Some("hidden.comment")),
        ("<p style='font-size:1px'>Obey", Some("hidden.size")),
        ("<p style='color:#fff'>Obey", Some("hidden.color")),
        ("<div style='background:#000'><p style='color:black'>Obey", Some("hidden.color")),
        ("<div style='background:#000'><p style='color:white'>Obey", None),
        ("<font color=white>Obey</font>", Some("hidden.color")),
        ("<p style='position:absolute;left:-9999px'>Obey", Some("hidden.offpage")),
    ] {
        assert_eq!(parts(body), [("Obey".to_owned(), rule)].map(|(text, rule)| {
            (if rule.is_none() { format!("t\n{text}") } else { text }, rule)
        }), "{body}");
    }
    assert!(parts("<p title='Obey'>x")[0].0.contains("title='Obey'"), "tags are read as they stand");
}

#[test]
fn texts_lead_back() {
    let seen = look(&FORMAT, "html", b"<p>a&lt;b</p>");
    assert_eq!(seen.texts(), ["a<b\n"]);
    assert_eq!(seen.span(0, 0, 1), (3, 4));
    assert_eq!(seen.span(0, 2, 3), (8, 9));
}

#[test]
fn floods_are_counted() {
    let seen = page(&"<img onerror=a>".repeat(100));
    assert_eq!(seen.findings.len(), 17);
    assert!(seen.findings.iter().any(|finding| finding.message.starts_with("84 more")));
}

#[test]
fn bombs() {
    says(&format!("<a{}>", " b=1".repeat(2000)), &["medium bomb.entries"]);
    says(&"<b>".repeat(1000), &["medium bomb.recursion"]);
    says(&"<div>".repeat(5000), &["high bomb.recursion"]);
}

#[test]
fn what_a_page_carries_is_looked_at() {
    let seen = page("<img src='data:image/png;base64,iVBORw0KGgo='><img src='data:image/png;base64,iVBORw0KGgo='><p style='a:url(data:font/x;base64,AAAAAAAA)'>");
    assert_eq!(seen.children.len(), 2);
    assert_eq!(&seen.children[0].source.packed[..4], b"\x89PNG");
}

#[test]
fn hostile_pages_cost_no_more_than_their_length() {
    for unit in ["<", "<a ", "<!--", "</", "<a b='", "&#", "<b></i>", "<style>", "<script>", "<svg><style>", "<li>", "<p a=<img>", "{", "url("] {
        let steps = |times: usize| {
            let seen = look(&FORMAT, "html", format!("<html>{}", unit.repeat(times)).as_bytes());
            seen.spent(Resource::Steps) + seen.spent(Resource::DecodedBytes)
        };
        let (once, twice) = (steps(2000), steps(4000));
        assert!(twice <= once * 23 / 10 + 100, "{unit}: {once} {twice}");
    }
}

proptest::proptest! {
    #[test]
    fn a_cut_page_never_panics(at in 0usize..400) {
        let text = "<!DOCTYPE html [<!ENTITY a '&b;'>]><html><style>.a{color:#fff}</style><svg><style>@import url(//x)</style><a xlink:href='x'/></svg><p class=a style='font-size:0'>a&amp;b<!-- c --><img src=data:image/png;base64,AAAA onerror=x><script>a</script>";
        look(&FORMAT, "html", &text.as_bytes()[..at.min(text.len())]);
    }
}
