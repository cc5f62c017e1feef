use super::*;
use crate::format::testing::look;

fn said(whole: &str) -> Vec<String> {
    let facts = look(&FORMAT, "xml", whole.as_bytes()).facts();
    let mut said: Vec<String> =
        facts.iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    said.sort();
    said.dedup();
    said
}

#[test]
fn entities() {
    assert_eq!(said("<!DOCTYPE a [<!ENTITY x SYSTEM 'b.txt'>]><a>&x;</a>"), ["high xml.external_entity"]);
    assert_eq!(
        said("<!DOCTYPE a [<!ENTITY % p PUBLIC 'i' \"http://x/a.dtd\">%p;]><a/>"),
        ["high xml.external_entity", "medium net.external_ref"]
    );
    assert_eq!(
        said("<!DOCTYPE a SYSTEM 'http://x/a.dtd'><a/>"),
        ["high xml.external_entity", "medium net.external_ref"]
    );
    assert_eq!(said("<!DOCTYPE a SYSTEM 'a.dtd'><a/>"), Vec::<String>::new());
    assert_eq!(
        said(
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\"><plist/>"
        ),
        Vec::<String>::new()
    );
    assert_eq!(said("<!DOCTYPE a [<!ENTITY x SYSTEM 'a.gif' NDATA gif>]><a/>"), ["low xml.external_entity"]);
    assert_eq!(said("<!DOCTYPE a [<!-- <!ENTITY x SYSTEM 'b'> -->]><a/>"), Vec::<String>::new());
    assert_eq!(
        said("<!DOCTYPE a [<!ENTITY x '&y;'><!ENTITY y '&x;'>]><a>&x;</a>"),
        ["high bomb.xml_entities", "medium malformed.structure"]
    );
    let mut laughs = "<!DOCTYPE a [<!ENTITY a0 'ha'>".to_owned();
    for level in 1..10 {
        laughs.push_str(&format!("<!ENTITY a{level} '{}'>", format!("&a{};", level - 1).repeat(10)));
    }
    assert_eq!(said(&format!("{laughs}]><a>&a9;</a>")), ["high bomb.xml_entities"]);
    let long = format!("<!DOCTYPE a [<!ENTITY x '{}'>]><a>{}</a>", "a".repeat(20_000), "&x;".repeat(6000));
    assert_eq!(said(&long), ["high bomb.xml_entities"]);
    assert_eq!(said("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;&x;</a>"), Vec::<String>::new());
}

#[test]
fn style_sheets_that_run() {
    let sheet = |space: &str, inside: &str| {
        said(&format!(
            "<x:stylesheet version='1.0' xmlns:x='http://www.w3.org/1999/XSL/Transform' {space}>{inside}</x:stylesheet>"
        ))
    };
    let microsoft = "xmlns:ms='urn:schemas-microsoft-com:xslt'";
    assert_eq!(sheet(microsoft, "<ms:script language='JScript'>1</ms:script>"), ["high exec.script"]);
    assert_eq!(
        sheet(
            "xmlns:r='http://xml.apache.org/xalan/java/java.lang.Runtime'",
            "<x:value-of select=\"r:exec(r:getRuntime(),'id')\"/>"
        ),
        ["high exec.script"]
    );
    assert_eq!(sheet("", "<x:value-of select=\"document('file:///etc/passwd')\"/>"), ["medium net.external_ref"]);
    assert_eq!(sheet("", "<x:include href='http://x/a.xsl'/>"), ["medium net.external_ref"]);
    assert_eq!(sheet(microsoft, "<x:value-of select='a'/><x:include href='b.xsl'/>"), Vec::<String>::new());
}

#[test]
fn only_what_is_shown_is_judged_as_a_page() {
    assert_eq!(
        said("<rules><script on='x' onerror='y'>1</script><link href='http://x'/></rules>"),
        Vec::<String>::new()
    );
    assert_eq!(said("<r xmlns:h='http://www.w3.org/1999/xhtml'><h:script>1</h:script></r>"), ["medium html.script"]);
    assert_eq!(said("<?xml-stylesheet href='http://x/a.xsl'?><a/>"), ["medium net.external_ref"]);
    assert_eq!(
        said("<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include parse='text' href='file:///etc/passwd'/></a>"),
        ["medium net.external_ref"]
    );
}

#[test]
fn what_is_wrong_in_any_markup() {
    assert_eq!(said("<a><b></a>"), ["medium malformed.structure"]);
    assert_eq!(said("<a><b/>"), ["medium malformed.truncated"]);
    assert_eq!(said(&format!("<a{}/>", " b='1'".repeat(2000))), ["medium bomb.entries"]);
    assert_eq!(said(&format!("{}{}", "<a>".repeat(5000), "</a>".repeat(5000))), ["high bomb.recursion"]);
    assert_eq!(said("<?xml version='1.0'?><a b='1'>x &lt; y<![CDATA[<z>]]><!-- c --></a>"), Vec::<String>::new());
}

#[test]
fn a_cut_document_never_panics_and_is_never_silent() {
    let text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x '&y;'><!ENTITY y \"z\">]><a b='c'>d&x;<![CDATA[e]]><!-- f --><g/></a>";
    for at in 22..text.len() {
        let facts = said(&text[..at]);
        assert!(
            !facts.is_empty() || text[..at].ends_with("?>") || !text[..at].contains("<!") || text[..at].ends_with("]>"),
            "{}",
            &text[..at]
        );
    }
}

#[test]
fn a_clean_document_has_no_type_and_no_orders() {
    let cleaned = |text: &str| {
        let cleaned = crate::format::cleaning::testing::clean(&FORMAT, "xml", text.as_bytes());
        cleaned.map(|(bytes, _)| String::from_utf8(bytes.to_vec()).unwrap()).map_err(|why| why.0.into_owned())
    };
    for (text, expected) in [
        (
            "<?xml version='1.0'?>\n<a b='c'>&amp;<!-- d --><![CDATA[<x>]]></a>\n",
            "<?xml version='1.0'?>\n<a b='c'>&amp;<!-- d --><![CDATA[<x>]]></a>\n",
        ),
        ("<?xml-stylesheet href='//x'?><!DOCTYPE a SYSTEM '//x'><a/>", "<a/>"),
    ] {
        assert_eq!(cleaned(text).as_deref(), Ok(expected));
    }
    for text in [
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<a xmlns='http://www.w3.org/1999/xhtml'><script>1</script></a>",
        "<a>< <?x?>!DOCTYPE b></a>",
        "<a",
    ] {
        assert!(cleaned(text).is_err(), "{text}");
    }
}
