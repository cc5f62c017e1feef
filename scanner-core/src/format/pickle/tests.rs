use proptest::prelude::*;

use super::*;
use crate::format::testing::look;

#[track_caller]
fn check(bytes: &[u8], want: &[&str]) {
    let facts = look(&FORMAT, "pickle", bytes).facts();
    let facts: Vec<String> = facts
        .iter()
        .map(|fact| fact.split(' ').take(if fact.starts_with("gap") { 4 } else { 2 }).collect::<Vec<_>>().join(" "))
        .filter(|fact| fact != "info pickle.present")
        .collect();
    assert_eq!(facts, want, "{bytes:?}");
}

const DANGER: &[&str] = &["high pickle.dangerous_global"];

#[test]
fn every_way_to_name_something() {
    for bytes in [
        &b"cos\nsystem\n(S'true'\ntR."[..],
        b"(S'true'\nios\nsystem\n.",
        b"(cos\nsystem\nS'true'\no.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
        b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93\x8c\x04true\x85R.",
        b"Vo\\u0073\nV\\u0073ystem\n\x93(S'true'\ntR.",
        b"S'\\x6fs'\nS'syst\\145m'\n\x93(S'true'\ntR.",
        b"\x80\x04\x8d\x02\0\0\0\0\0\0\0osX\x06\0\0\0system\x93\x8c\x04true\x85R.",
        b"\x80\x02cos\nsystem\nq\x00X\x04\0\0\0trueq\x01\x85q\x02\x81q\x03.",
        b"\x80\x02cos\nsystem\n)}\x92.",
        b"\x80\x05N\x94cos\nsystem\n0.",
        b"c__builtin__\neval\n(S'1'\ntR.",
        b"\x80\x04\x8c\x08builtins\x8c\x07getattr\x93\x8c\x02os\x8c\x06system\x86R.",
    ] {
        check(bytes, DANGER);
    }
}

#[test]
fn what_breaks_afterwards_has_run() {
    check(b"cos\nsystem\n(S'true'\ntR\xff", &["high pickle.dangerous_global", "medium malformed.structure"]);
    check(b"cos\nsystem\n(S'true'\ntR", &["high pickle.dangerous_global", "medium malformed.truncated"]);
    check(b"cos\r\nsystem\n(S'true'\ntR.", &["high pickle.dangerous_global", "medium malformed.structure"]);
    check(b"\x80\x042cos\nsystem\n(S'true'\ntR.", &["high pickle.dangerous_global", "medium malformed.structure"]);
}

#[test]
fn lengths_that_lie() {
    check(b"\x80\x05\x96\0\0\0\0\0\x01\0\0x", &["medium malformed.truncated"]);
    check(b"\x80\x04\x8e\0\0\0\0\0\0\0@x", &["medium malformed.truncated"]);
    check(b"\x80\x02\x8b\xff\xff\xff\x7fx", &["medium malformed.truncated"]);
    check(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.", &["medium malformed.structure"]);
    check(b"\x80\x04R.", &["medium malformed.structure"]);
    check(&[b"I", b"7".repeat(5000).as_slice(), b"\n."].concat(), &["medium malformed.structure"]);
}

#[test]
fn bombs() {
    check(b"\x80\x02Nr\xff\xff\xff\x7f.", &["high bomb.objects", "medium malformed.structure"]);
    let deep = [b"\x80\x02)".as_slice(), &b"\x85".repeat(5000), b"."].concat();
    check(&deep, &["medium bomb.recursion"]);
    let mut laughs = b"\x80\x04]\x94(NNNNNNNNNNe".to_vec();
    for level in 0..12_u8 {
        laughs.extend_from_slice(b"0]\x94(");
        laughs.extend(std::iter::repeat_n([b'h', level], 10).flatten());
        laughs.push(b'e');
    }
    laughs.push(b'.');
    check(&laughs, &["high bomb.objects"]);
}

#[test]
fn nobody_knows_what_these_load() {
    for bytes in [
        &b"cmine\nf\n(S'x'\ntR."[..],
        b"\x80\x02\x82\x01.",
        b"Phttp://e.example\n.",
        b"\x80\x02K\x01Q.",
        b"\x80\x02ccollections\nOrderedDict\n)R)R.",
        b"\x80\x02cnumpy\nload\n.",
    ] {
        check(bytes, &["medium pickle.unknown_global"]);
    }
}

#[test]
fn things_are_changed_and_names_are_made() {
    check(b"\x80\x02cdecimal\nDecimal\n}X\x01\0\0\0aK\x01sb.", DANGER);
    check(
        b"\x80\x04\x8c\x02os)R\x8c\x06system\x93.",
        &["high pickle.dangerous_global", "medium pickle.unknown_global"],
    );
    check(b"\x80\x02cnumpy\nload\nX\x01\0\0\0a\x85R.", DANGER);
}

#[test]
fn honest_look_ups_are_no_alarm() {
    check(
        b"\x80\x04\x8c\x08builtins\x94\x8c\x07getattr\x94\x93\x94\x8c\x08zoneinfo\x94\x8c\x08ZoneInfo\x94\x93\x94\x8c\t_unpickle\x94\x86\x94R\x94\x8c\rEurope/Berlin\x94K\x01\x86\x94R\x94.",
        &[],
    );
    check(b"\x80\x04\x8c\tfunctools\x94\x8c\x07partial\x94\x93\x94\x8c\x08builtins\x94\x8c\x03int\x94\x93\x94\x85\x94R\x94(h\x05)}\x94\x8c\x04base\x94K\x02sNt\x94b.", &[]);
    check(b"cbuiltins\ngetattr\n(S'x'\ntR.", DANGER);
    check(b"cfunctools\npartial\n(S'x'\ntR.", DANGER);
}

#[test]
fn a_method_may_be_kept_and_not_called() {
    let method = b"\x80\x02cbuiltins\ngetattr\ncpandas\nDataFrame\n)RX\x04\0\0\0eval\x86R";
    check(&[method.as_slice(), b"."].concat(), &[]);
    check(&[method.as_slice(), b"X\x01\0\0\x001\x85R."].concat(), DANGER);
    check(b"\x80\x02cbuiltins\ngetattr\ncpandas\nDataFrame\n)RX\x09\0\0\0__class__\x86R.", DANGER);
}

#[test]
fn pickles_in_pickles() {
    let inner = b"cos\nsystem\n(S'true'\ntR.";
    let nested = [b"\x80\x04C\x17".as_slice(), inner, b"."].concat();
    check(&nested, &["high pickle.dangerous_global", "low pickle.nested"]);
    check(b"\x80\x04C\x0a\x80\x04]\x94(NNe..0N.", &["low pickle.nested"]);
    check(
        b"\x80\x04cpickle\nloads\nC\x0a\x80\x04]\x94(NNe..\x85R.",
        &["high pickle.dangerous_global", "medium pickle.nested"],
    );
    // Bytes that begin like one and are none.
    check(b"\x80\x04C\x0a\x80\x04\xff\xff\xff\xff\xff\xff\xff\xff.", &[]);
}

#[test]
fn several_in_one_stream_and_what_stands_behind() {
    check(b"\x80\x04]\x94.\x80\x04cos\nsystem\n.", DANGER);
    check(b"\x80\x04]\x94.\n\n", &["info type.trailing_data"]);
    let seen = look(&FORMAT, "pickle", b"\x80\x04]\x94.MZ and more than sixteen bytes");
    assert_eq!(seen.children.len(), 1);
}

#[test]
fn arrays_of_joblib_are_stepped_over() {
    let head = b"\x80\x03cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}(X\x05\0\0\0shapeK\x02\x85X\x05\0\0\0dtypecnumpy\ndtype\nX\x02\0\0\0f8\x89\x88\x87RX\x1b\0\0\0numpy_array_alignment_bytesK\x10ub";
    let whole = [head.as_slice(), b"\x03\xff\xff\xff", &[0xff; 16], b"."].concat();
    check(&whole, &[]);
    check(&whole[..whole.len() - 2], &["medium malformed.truncated"]);
    let danger = [head.as_slice(), b"\0", &[0xff; 16], b"0cos\nsystem\n."].concat();
    check(&danger, DANGER);
}

#[test]
fn texts_are_read_where_they_stand() {
    let seen = look(&FORMAT, "pickle", b"\x80\x04\x8c\x0bfirst text!0V\\u0041nother text\n.");
    assert_eq!(seen.texts(), ["first text!\nAnother text"]);
    assert_eq!(seen.span(0, 0, 11), (4, 15));
}

#[test]
fn a_cut_anywhere_is_told() {
    let whole = b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94\x8c\x01a\x94]\x94(K\x01K\x02es.";
    for end in 2..whole.len() {
        let seen = look(&FORMAT, "pickle", &whole[..end]);
        assert!(seen.findings.iter().any(|finding| finding.rule.category.starts_with("malformed")), "cut at {end}");
    }
    check(&[&whole[..3], &[17, 0, 0, 0, 0, 0, 0, 0], &whole[11..]].concat(), &["medium malformed.structure"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn opcodes_in_any_order_never_panic(
        picks in proptest::collection::vec((0..OPCODES.len(), any::<u8>()), 0..200),
        noise in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut bytes = b"\x80\x04".to_vec();
        for (pick, operand) in picks {
            bytes.push(OPCODES[pick]);
            bytes.push(operand);
        }
        bytes.extend(noise);
        let seen = look(&FORMAT, "pickle", &bytes);
        let total = bytes.len() as u64;
        for span in seen.findings.iter().filter_map(|finding| finding.span) {
            prop_assert!(span.start <= span.end && span.end <= total);
        }
        for view in &seen.texts {
            let span = view.map.as_ref().expect("it is in the bytes").span(0, view.text.len() as u64);
            prop_assert!(span.end <= total);
        }
    }
}

/// Every opcode that there is.
const OPCODES: &[u8] = b"(.012FINJKLMPQRSTUVXabcdeghijlopqrstuBC)]}\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98\n";
