use proptest::prelude::*;

use super::*;
use crate::limits::Limits;

/// Events in one line each, or the fault.
fn events(text: &str) -> Vec<String> {
    let mut budget = Budget::new(Limits::default());
    let mut pull = Pull::new(text.as_bytes());
    let mut out = Vec::new();
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    loop {
        out.push(match pull.next(&mut budget) {
            Ok(None) => return out,
            Err(fault) => {
                out.push(match fault {
                    Fault::Limit(limit) => limit.to_string(),
                    Fault::Malformed { what, at } => format!("{at}: {what}"),
                    Fault::Deep { at } => format!("{at}: deep"),
                });
                return out;
            }
            Ok(Some(Event::Start(tag))) => {
                let attributes = tag
                    .attributes()
                    .map(|attribute| format!(" {}={}", show(attribute.name.0), show(&attribute.value())));
                format!("<{}{}", show(tag.local()), attributes.collect::<String>())
            }
            Ok(Some(Event::End(name))) => format!(">{}", show(name.local())),
            Ok(Some(Event::Text(text))) => format!("{:?}", show(&text.value())),
            Ok(Some(Event::Comment(inside))) => format!("!{}", show(inside)),
            Ok(Some(Event::Instruction(inside))) => format!("?{}", show(inside)),
            Ok(Some(Event::Doctype(doctype))) => {
                let entities = doctype.entities().map(|entity| {
                    let mark = if entity.is_parameter { "%" } else { "" };
                    let (Value::Internal(value) | Value::External(value) | Value::Data(value)) = entity.value;
                    let kind = match entity.value {
                        Value::Internal(_) => "=",
                        Value::External(_) => "@",
                        Value::Data(_) => "~",
                    };
                    format!(" {mark}{}{kind}{}", show(entity.name), show(value))
                });
                let entities: String = entities.collect();
                format!("{}..{} {:?}{entities}", doctype.at, doctype.end, doctype.system.map(show))
            }
        });
    }
}

use doctype::Value;

#[test]
fn every_event() {
    let text = "<?xml version='1.0'?><w:a x:b = \"1 &lt; 2\" c='\"'>t&amp;<!-- n --><e/><![CDATA[<&]]></w:a>\n";
    assert_eq!(
        events(text),
        ["?xml version='1.0'", "<a x:b=1 < 2 c=\"", "\"t&\"", "! n ", "<e", ">e", "\"<&\"", ">a", "\"\\n\"",]
    );
}

#[test]
fn what_is_not_well_formed_says_where() {
    let last = |text: &str| events(text).pop().unwrap();
    assert_eq!(last(""), "0: there is no element");
    assert_eq!(last("<a>"), "3: the document ends inside an element");
    assert_eq!(last("<a></b>"), "3: an element ends that is not open");
    assert_eq!(last("<a/><b/>"), "4: a second element stands behind the document's");
    assert_eq!(last("<a/>x"), "4: characters stand outside the document's element");
    assert_eq!(last("<a b/>"), "4: an attribute has no value");
    assert_eq!(last("<a b=c/>"), "5: the value of an attribute has no quotes");
    assert_eq!(last("<a b='c/>"), "6: the value of an attribute does not end");
    assert_eq!(last("<a b='<'/>"), "6: a tag begins in the value of an attribute");
    assert_eq!(last("<a b='1'c='2'/>"), "8: a blank is missing between attributes");
    assert_eq!(last("<a b='1' b='2'/>"), "0: an attribute is given twice");
    assert_eq!(last("<a"), "2: a tag does not end");
    assert_eq!(last("<"), "0: the document ends in a tag");
    assert_eq!(last("<a><!-- "), "3: a comment does not end");
    assert_eq!(last("<!DOCTYPE a [ <!ENTITY b 'c> ]><a/>"), "0: the document type does not end");
    let wide: String = (0..9).map(|number| format!(" a{number}='' ")).collect();
    assert_eq!(last(&format!("<a {wide} a3=''/>")), "0: an attribute is given twice");
}

#[test]
fn depth_and_width_have_an_end() {
    let last = |text: String| events(&text).pop().unwrap();
    assert_eq!(last("<a>".repeat(300)), "768: deep");
    let many: String = (0..1001).map(|number| format!(" a{number}=''")).collect();
    assert!(last(format!("<a{many}/>")).ends_with("more attributes than any format knows"));
    assert!(last(format!("<{}/>", "a".repeat(1025))).ends_with("longer than any format's"));
}

#[test]
fn a_document_type_tells_its_entities() {
    let text = "<!DOCTYPE r PUBLIC \"p\" 's' [<!-- ' ] --><!ELEMENT r ANY><!ENTITY a \"b>]\"><!ENTITY % c SYSTEM \
                'file:///d'>%c;<!ENTITY e PUBLIC 'f' 'g' NDATA h>] ><r/>";
    assert_eq!(events(text)[0], "0..145 Some(\"s\") a=b>] %c@file:///d e~g");
}

fn judged(text: &str) -> (u64, Vec<String>) {
    let mut budget = Budget::new(Limits::default());
    let Ok(Some(Event::Doctype(doctype))) = Pull::new(text.as_bytes()).next(&mut budget) else { panic!("{text}") };
    let (growth, findings) = doctype.judge(&mut budget).unwrap();
    (growth.largest(), findings.iter().map(|finding| finding.rule.id.clone().into_owned()).collect())
}

#[test]
fn growth_is_counted_in_any_order_and_round_in_circles() {
    let laughs = |order: &mut dyn Iterator<Item = u32>| {
        let entities = order.map(|level| match level {
            0 => "<!ENTITY l0 'lol'>".to_owned(),
            _ => format!("<!ENTITY l{level} '{}'>", format!("&l{};", level - 1).repeat(10)),
        });
        format!("<!DOCTYPE r [{}]><r/>", entities.collect::<String>())
    };
    let (up, found) = judged(&laughs(&mut (0..10)));
    assert!(up > 3_000_000_000);
    assert_eq!(found, ["xml/entity-growth"]);
    assert_eq!(judged(&laughs(&mut (0..10).rev())).0, up);
    assert_eq!(judged("<!DOCTYPE r [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><r/>").0, u64::MAX);
    assert_eq!(judged("<!DOCTYPE r [<!ENTITY a '&a;'>]><r/>").0, u64::MAX);
    assert_eq!(judged("<!DOCTYPE r [<!ENTITY a 'x&b;&b;'><!ENTITY b 'yy'>]><r/>"), (11, vec![]));
}

#[test]
fn what_is_loaded_is_told_and_the_usual_is_not() {
    let found = |text: &str| judged(text).1;
    assert_eq!(found("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"), ["xml/external-entity"]);
    assert_eq!(found("<!DOCTYPE r [<!ENTITY % x PUBLIC '' 'http://a.example/'>]>"), ["xml/external-entity"]);
    assert_eq!(found("<!DOCTYPE r SYSTEM 'http://a.example/x.dtd'>"), ["xml/external-entity"]);
    assert_eq!(found("<!DOCTYPE r SYSTEM 'r.dtd'>"), ["xml/document-type-elsewhere"]);
    let svg = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>";
    assert_eq!(found(svg), ["xml/document-type-elsewhere"]);
    assert!(found("<!DOCTYPE html>").is_empty());
}

proptest! {
    #[test]
    fn never_panics_and_always_ends(text in "[<>/!?=\"'& a\\-\\[\\]A-D]{0,80}") {
        events(&text);
        events(&format!("<!DOCTYPE {text}"));
        events(&format!("<!DOCTYPE a [<!ENTITY {text}]><a>{text}</a>"));
    }
}
