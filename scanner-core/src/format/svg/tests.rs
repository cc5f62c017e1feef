use super::*;
use crate::format::testing::look;

fn said(inside: &str) -> Vec<String> {
    let whole = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"9\">{inside}</svg>"
    );
    plain(&whole)
}

fn plain(whole: &str) -> Vec<String> {
    let facts = look(&FORMAT, "svg", whole.as_bytes()).facts();
    let mut said: Vec<String> = facts.iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    said.sort();
    said.dedup();
    said
}

#[test]
fn what_a_picture_does() {
    for (inside, expected) in [
        ("<script>1</script>", &["medium html.script"][..]),
        ("<script href='https://x'/>", &["medium html.script", "medium net.external_ref"]),
        ("<a xlink:href='java&#9;script:1'/>", &["medium html.url"]),
        ("<set attributeName='onmouseover' to='1'/>", &["medium html.handler"]),
        ("<set attributeName='xlink:href' to='javascript:1'/>", &["medium html.url"]),
        ("<animate attributeName='href' values='#a;https://x'/>", &["medium net.external_ref"]),
        ("<animate attributeName='x' onbegin='1'/>", &["medium html.handler"]),
        ("<handler xmlns:ev='http://www.w3.org/2001/xml-events' ev:event='load'>1</handler>", &["medium html.script"]),
        ("<foreignObject><p>a</p></foreignObject>", &["low html.foreign_object"]),
        ("<use href='https://x/a.svg#b'/>", &["medium net.external_ref"]),
        ("<feImage href='\\\\x\\a'/>", &["medium net.external_ref"]),
        ("<rect style='fill:url(https://x/a#b)'/>", &["medium net.external_ref"]),
        ("<rect fill='url(https://x/a#b)'/>", &["medium net.external_ref"]),
        ("<style>@\\69mport url(//x)</style>", &["medium net.external_ref"]),
        ("<style><![CDATA[@import url(//x);]]></style>", &["medium net.external_ref"]),
        ("<a href='https://x'><text>site</text></a>", &["info net.link"]),
        ("<defs><g id='a'/></defs><use xlink:href='#a'/><metadata>m</metadata>", &[]),
        ("<image href='data:image/png;base64,iVBORw0KGgo='/>", &[]),
        ("<feGaussianBlur stdDeviation='100000'/>", &["medium bomb.dimensions"]),
    ] {
        assert_eq!(said(inside), expected, "{inside}");
    }
}

#[test]
fn parts_that_repeat() {
    let mut bomb = "<g id='a0'><rect/></g>".to_owned();
    for level in 1..9 {
        bomb.push_str(&format!("<g id='a{level}'>{}</g>", format!("<use href='#a{}'/>", level - 1).repeat(10)));
    }
    assert_eq!(said(&bomb), ["high bomb.recursion"]);
    assert_eq!(said("<pattern id='p'><rect fill='url(#p)'/></pattern>"), ["medium bomb.recursion"]);
    assert_eq!(said("<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>"), ["medium bomb.recursion"]);
    assert_eq!(said("<linearGradient id='a'/><linearGradient id='b' href='#a'/><rect fill='url(#b)'/>"), Vec::<String>::new());
}

#[test]
fn what_is_not_whole() {
    assert_eq!(plain("<svg><rect width="), ["medium malformed.truncated"]);
    assert_eq!(plain("<svg><g>"), ["medium malformed.truncated"]);
    assert_eq!(plain("<svg><g></svg>"), ["medium malformed.structure"]);
    assert_eq!(plain("<?xml version='1.0' encoding='utf-7'?><svg/>"), ["medium malformed.encoding"]);
    assert_eq!(plain("<svg width='1000000'/>"), ["medium bomb.dimensions"]);
}

#[test]
fn entities_of_a_picture() {
    assert_eq!(
        plain("<!DOCTYPE svg [<!ENTITY a \"<script>1</script>\">]><svg>&a;</svg>"),
        ["high xml.internal_entity", "medium html.script"]
    );
    assert_eq!(plain("<!DOCTYPE svg [<!ENTITY ns 'http://www.w3.org/2000/svg'>]><svg xmlns='&ns;'/>"), Vec::<String>::new());
    assert_eq!(
        plain("<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\"><svg/>"),
        Vec::<String>::new()
    );
}
