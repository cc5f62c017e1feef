use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::limits::Limits;

fn parse(text: &[u8]) -> Doc {
    Doc::parse(&Bytes::copy_from_slice(text), &mut Budget::new(Limits::default()))
}

fn strings(doc: &Doc) -> Vec<String> {
    let mut budget = Budget::new(Limits::default());
    doc.ids()
        .filter_map(|id| doc.text(id, &mut budget).unwrap())
        .map(|text| String::from_utf8(text.bytes.to_vec()).unwrap())
        .collect()
}

#[test]
fn duplicate_keys_are_both_there_and_listed() {
    let doc = parse(br#"{"a":"one","b":2,"\u0061":"two"}"#);
    assert_eq!(strings(&doc), ["one", "two"]);
    assert_eq!(doc.duplicates.len(), 1);
    assert_eq!(doc.pointer(doc.duplicates[0]), "/a");
    assert_eq!(doc.quirks.of(Quirk::DuplicateKey), Some((1, 18)));
    assert_eq!(doc.stop, None);
}

#[test]
fn what_is_odd_is_read_and_noted() {
    for (input, quirk, want) in [
        (&b"\"a\\ud83d\\ude00b\""[..], None, "a\u{1f600}b"),
        (b"\"a\\ud800b\"", Some(Quirk::LoneSurrogate), "a\u{fffd}b"),
        (b"\"\\udc00\\ud83d\"", Some(Quirk::LoneSurrogate), "\u{fffd}\u{fffd}"),
        (b"\"caf\xe9\"", Some(Quirk::InvalidUtf8), "caf\u{fffd}"),
        (b"\"a\nb\"", Some(Quirk::Control), "a\nb"),
        (b"\"\\x41\"", Some(Quirk::Structure), "\\x41"),
        (b"\"\\u00zz\"", Some(Quirk::Structure), "\\u00zz"),
        (b"\xef\xbb\xbf\"a\"", Some(Quirk::ByteOrderMark), "a"),
    ] {
        let doc = parse(input);
        assert_eq!(strings(&doc), [want]);
        assert_eq!(doc.stop, None);
        for each in Quirks::ALL {
            assert_eq!(doc.quirks.of(each).is_some(), Some(each) == quirk, "{input:?} {each:?}");
        }
    }
}

#[test]
fn a_number_that_json_does_not_have_is_noted() {
    for good in ["0", "-0", "10", "1.5", "-1.50e+7", "1E-2", "0.0"] {
        assert_eq!(parse(good.as_bytes()).quirks.of(Quirk::Structure), None, "{good}");
    }
    for bad in ["01", "-", "--1", "1.", ".5", "1.e3", "1e", "1e+", "1-2", "1.2.3", "-01", "NaN"] {
        let doc = parse(bad.as_bytes());
        assert!(doc.quirks.of(Quirk::Structure).is_some() || doc.stop.is_some(), "{bad}");
    }
}

#[test]
fn a_cut_input_keeps_what_came() {
    let doc = parse(br#"{"a":["one","tw"#);
    assert_eq!(strings(&doc), ["one", "tw"]);
    assert_eq!(doc.stop, Some(Stop::malformed("the JSON ends in the middle", 15)));
    let doc = parse(br#"{"a":1,"dangling"#);
    assert_eq!(strings(&doc), ["dangling"]);
    let doc = parse(br#""the whole"#);
    assert_eq!(strings(&doc), ["the whole"]);
    assert_eq!(doc.stop, Some(Stop::malformed("the JSON ends in the middle", 10)));
    let doc = parse(br#"["a" "b"]"#);
    assert_eq!(strings(&doc), ["a"]);
    assert_eq!(doc.stop, Some(Stop::malformed("a comma or a closing bracket was expected", 5)));
    for nothing in [&b""[..], b" \n", b"\xef\xbb\xbf"] {
        assert!(parse(nothing).root().is_none());
        assert!(parse(nothing).stop.is_some());
    }
    assert_eq!(parse(b"hello").stop, Some(Stop::malformed("a JSON value was expected", 0)));
}

#[test]
fn a_second_document_is_not_lost() {
    let input = b"{\"a\":1} \n{\"b\":2}";
    let doc = parse(input);
    assert_eq!(doc.stop, None);
    assert_eq!(&input[doc.end..], b"{\"b\":2}");
    assert_eq!(parse(b"[1] \n").end, 5);
}

#[test]
fn nesting_is_followed_to_the_limit_and_no_further() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(parse(deep(NESTING).as_bytes()).stop, None);
    let over = parse(deep(NESTING + 1).as_bytes());
    assert_eq!(over.stop, Some(Stop::Limit(Exhausted(Resource::Depth))));
    assert_eq!(over.len(), NESTING);
    assert_eq!(parse(&vec![b'['; 1_000_000]).len(), NESTING);
}

#[test]
fn every_value_is_paid_for_before_it_is_kept() {
    let input = Bytes::from_static(b"[1,2,[3],{\"a\":4}]");
    let parse = |objects| {
        let mut budget = Budget::new(Limits::default().with(Resource::Objects, objects));
        (Doc::parse(&input, &mut budget), budget.spent().get(Resource::Objects))
    };
    let (doc, spent) = parse(7);
    assert_eq!((doc.stop, spent), (None, 7));
    let (doc, spent) = parse(6);
    assert_eq!((doc.stop, spent), (Some(Stop::Limit(Exhausted(Resource::Objects))), 6));
}

#[test]
fn numbers_are_integers_only_when_exact() {
    for (spelling, want) in [
        ("0", Some(0)),
        ("-9", Some(-9)),
        ("0.0", Some(0)),
        ("1e2", Some(100)),
        ("9223372036854775807", Some(i64::MAX)),
        ("1000000000000000000000000000000", None),
        ("1e999", None),
        ("1.5", None),
        ("NaN", None),
        ("-Infinity", None),
    ] {
        let doc = parse(spelling.as_bytes());
        assert_eq!(doc.stop, None, "{spelling}");
        assert_eq!(doc.integer(doc.root().unwrap()), want, "{spelling}");
    }
    let long = parse("1".repeat(1_000_000).as_bytes());
    assert_eq!(long.integer(long.root().unwrap()), None);
}

#[test]
fn pointers_escape_and_are_cut() {
    let doc = parse(br#"{"a/b":[{"c~d":[0,"x"]}]}"#);
    let id = doc.ids().last().unwrap();
    assert_eq!(doc.pointer(id), "/a~1b/0/c~0d/1");
    assert_eq!(doc.pointer(doc.root().unwrap()), "");
    let long = format!("{{\"{}\":1}}", "K".repeat(100_000));
    let doc = parse(long.as_bytes());
    assert!(doc.pointer(doc.ids().last().unwrap()).len() < 300);
}

#[test]
fn decoded_text_knows_the_way_back() {
    let input = br#"["ab\u0041\nc"]"#;
    let doc = parse(input);
    let id = doc.ids().last().unwrap();
    let text = doc.text(id, &mut Budget::new(Limits::default())).unwrap().unwrap();
    assert_eq!(text.bytes, "abA\nc");
    assert_eq!(text.map.span(0, 2), Span { start: 2, end: 4 });
    assert_eq!(text.map.span(2, 3), Span { start: 4, end: 10 });
    assert_eq!(text.map.span(3, 5), Span { start: 10, end: 13 });
}

#[test]
fn pieces_of_a_stream_are_joined_before_they_are_decoded() {
    let mut budget = Budget::new(Limits::default());
    assert_eq!(joined(br"x='\ud83d\ude00'", &mut budget).unwrap(), "x='\u{1f600}'");
    assert_eq!(joined(br"caf\u00e9", &mut budget).unwrap(), "caf\u{e9}");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::vec(("[a-z\"\\\\/é]{0,6}", inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn rebuilt(doc: &Doc, id: NodeId) -> Value {
    match doc.kind(id) {
        Kind::Null => Value::Null,
        Kind::Bool(value) => value.into(),
        Kind::Number => doc.integer(id).unwrap().into(),
        Kind::Text => {
            let text = doc.text(id, &mut Budget::new(Limits::default())).unwrap().unwrap();
            String::from_utf8(text.bytes.to_vec()).unwrap().into()
        }
        Kind::Array => doc.children(id).map(|child| rebuilt(doc, child)).collect(),
        Kind::Object => Value::Object(
            doc.children(id).map(|child| (doc.key(child).unwrap().into_owned(), rebuilt(doc, child))).collect(),
        ),
    }
}

proptest! {
    #[test]
    fn reads_what_serde_json_reads(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        let doc = parse(&text);
        prop_assert_eq!(&doc.stop, &None);
        prop_assert_eq!(rebuilt(&doc, doc.root().unwrap()), value.clone());
        for id in doc.ids() {
            let pointed = value.pointer(&doc.pointer(id));
            prop_assert_eq!(pointed, Some(&rebuilt(&doc, id)));
        }
    }

    #[test]
    fn says_yes_where_serde_json_does(text in "[\\[\\]{},:\"a0-9.eE \\\\u-]{0,24}") {
        let doc = parse(text.as_bytes());
        if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
            prop_assert_eq!(&doc.stop, &None);
            prop_assert_eq!(doc.end, text.len());
        }
    }

    #[test]
    fn never_panics_and_never_leaves_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), json in any::<bool>()) {
        let bytes = if json { let mut all = b"{\"k\":[\"".to_vec(); all.extend(bytes); all } else { bytes };
        let doc = parse(&bytes);
        prop_assert!(doc.end <= bytes.len());
        for id in doc.ids() {
            let span = doc.span(id);
            prop_assert!(span.start <= span.end && span.end <= offset(bytes.len()));
            let _ = doc.pointer(id);
            if let Some(text) = doc.text(id, &mut Budget::new(Limits::default())).unwrap() {
                let back = text.map.span(0, offset(text.bytes.len()));
                prop_assert_eq!(back, span);
            }
        }
    }
}
