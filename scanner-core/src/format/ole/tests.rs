use super::*;
use crate::format::{
    cfb::build::Build,
    testing::{Seen, look},
    vba,
};

fn seen(build: Build) -> Seen {
    look(&FORMAT, "ole", &build.bytes())
}

/// Severity and category of what was found, gaps.
fn facts(seen: &Seen) -> Vec<String> {
    seen.facts().into_iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Excel.
mod workbooks {
    use super::*;

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
    }

    fn begin(what: u16) -> Vec<u8> {
        record(0x809, &[&[0, 6], &what.to_le_bytes()[..], &[0; 12]].concat())
    }

    /// Globals with their own records, then sheets: state and kind of each, and what is in it.
    pub(super) fn book(globals: &[Vec<u8>], sheets: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
        let listed = |begins: u32, state: u8, kind: u8| {
            record(0x85, &[&begins.to_le_bytes()[..], &[state, kind], b"\x05\0Sheet"].concat())
        };
        let head = [begin(5), globals.concat()].concat();
        let sizes = sheets.len() * listed(0, 0, 0).len() + 4;
        let mut offset = (head.len() + sizes) as u32;
        let (mut list, mut rest) = (Vec::new(), Vec::new());
        for (state, kind, inside) in sheets {
            list.extend(listed(offset, *state, *kind));
            let sheet = [begin(if *kind == 1 { 0x40 } else { 0x10 }), inside.clone(), record(0x0a, b"")].concat();
            offset += sheet.len() as u32;
            rest.extend(sheet);
        }
        [head, list, record(0x0a, b""), rest].concat()
    }

    fn shared(texts: &[&str]) -> Vec<u8> {
        let mut data = vec![0; 8];
        for text in texts {
            data.extend((text.len() as u16).to_le_bytes());
            data.push(0);
            data.extend(text.as_bytes());
        }
        record(0xfc, &data)
    }

    fn cell(text: u32) -> Vec<u8> {
        record(0xfd, &[&[0; 6], &text.to_le_bytes()[..]].concat())
    }

    fn formula(code: &[u8]) -> Vec<u8> {
        record(0x06, &[&[0; 20], &(code.len() as u16).to_le_bytes()[..], code].concat())
    }

    fn look_at(book: Vec<u8>) -> Seen {
        seen(Build::new().stream("Workbook", &book))
    }

    #[test]
    fn an_ordinary_one_is_silent_and_read() {
        let seen = look_at(book(
            &[shared(&["first", "second"])],
            &[(0, 0, [cell(0), cell(1), formula(b"\x1e\x01\0")].concat())],
        ));
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.texts(), ["first\nsecond\n", "Sheet\n"]);
    }

    #[test]
    fn macro_sheets_run() {
        let auto = record(0x18, &[&[0x20, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0][..], &[0, 1]].concat());
        let exec = formula(b"\x17\x04\0calc\x42\x01\x6e\0");
        let found = look_at(book(&[auto], &[(2, 1, exec)]));
        let mut words = facts(&found);
        words.sort();
        assert_eq!(words, ["high macro.autoexec", "high macro.xl4", "high macro.xl4", "medium office.hidden_sheet"]);
        assert!(found.texts().concat().contains("calc"));
        let named = record(0x18, &[&[0, 0, 0, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0][..], b"\0AUTO_OPEN"].concat());
        assert_eq!(facts(&look_at(book(&[named], &[]))), ["high macro.autoexec"]);
    }

    #[test]
    fn hidden_sheets_are_read_apart() {
        let seen = look_at(book(&[shared(&["shown", "unseen"])], &[(0, 0, cell(0)), (1, 0, cell(1))]));
        assert_eq!(facts(&seen), ["low office.hidden_sheet"]);
        assert_eq!(seen.texts(), ["shown\n", "Sheet\nSheet\n", "unseen\n"]);
        assert!(seen.texts[2].hidden.is_some() && seen.texts[0].hidden.is_none());
    }

    #[test]
    fn links_out_are_told() {
        let book_of = |path: &str| {
            let data = [&[1, 0][..], &(path.len() as u16).to_le_bytes(), &[0], path.as_bytes()].concat();
            facts(&look_at(book(&[record(0x1ae, &data)], &[])))
        };
        assert_eq!(book_of("cmd\u{3}/c calc"), ["high macro.dde"]);
        assert_eq!(book_of("http://host/a.xls"), ["medium net.external_ref"]);
        assert_eq!(book_of("\u{1}other.xls"), ["low net.external_ref"]);
        assert_eq!(facts(&look_at(book(&[record(0x1ae, &[1, 0, 1, 4])], &[]))), [""; 0]);
        assert_eq!(facts(&look_at(book(&[record(0xdc, &[0; 8])], &[]))), ["medium net.external_ref"]);
        let link = record(0x1b8, &[&[0; 30][..], &wide("http://host/path")].concat());
        assert_eq!(facts(&look_at(book(&[], &[(0, 0, link)]))), ["info net.link"]);
    }

    #[test]
    fn a_password_and_what_is_cut_are_gaps() {
        assert_eq!(facts(&look_at(book(&[record(0x2f, &[0, 0, 1, 2, 3, 4])], &[]))), ["gap encrypted"]);
        let whole = book(&[shared(&["first"])], &[(0, 0, cell(0))]);
        for length in 0..whole.len() {
            assert!(!facts(&look_at(whole[..length].to_vec())).is_empty(), "{length}");
        }
    }
}

/// Word.
mod documents {
    use super::*;

    /// A document of one piece, of properties of characters, and of associated strings.
    fn document(text: &[u8], is_wide: bool, flags: u16) -> Build {
        let mut main = vec![0_u8; 0x600];
        main[..2].copy_from_slice(&0xa5ec_u16.to_le_bytes());
        main[10..12].copy_from_slice(&flags.to_le_bytes());
        let at = main.len() as u32;
        main.extend(text);
        let (units, fc) = if is_wide { (text.len() / 2, at) } else { (text.len(), (at * 2) | 0x4000_0000) };
        let pieces =
            [&0_u32.to_le_bytes()[..], &(units as u32).to_le_bytes(), &[0, 0], &fc.to_le_bytes(), &[0, 0]].concat();
        let table = [&[2][..], &(pieces.len() as u32).to_le_bytes(), &pieces].concat();
        main[0x1a2..0x1a6].copy_from_slice(&0_u32.to_le_bytes());
        main[0x1a6..0x1aa].copy_from_slice(&(table.len() as u32).to_le_bytes());
        Build::new().stream("WordDocument", &main).stream(if flags & 0x200 != 0 { "1Table" } else { "0Table" }, &table)
    }

    #[test]
    fn text_is_read_whichever_way_it_stands() {
        for (text, is_wide) in [(b"Hello\rcaf\xe9\r".to_vec(), false), (wide("Hello\rcafé\r"), true)] {
            for flags in [0, 0x200] {
                let seen = seen(document(&text, is_wide, flags));
                assert_eq!(seen.facts(), [""; 0]);
                assert_eq!(seen.texts(), ["Hello\ncafé\n"]);
            }
        }
    }

    #[test]
    fn fields_act() {
        let field =
            |code: &str| facts(&seen(document(format!("a\u{13}{code}\u{14}result\u{15}b").as_bytes(), false, 0)));
        assert_eq!(field(" DDEAUTO cmd \"/k calc\" "), ["high macro.dde"]);
        assert_eq!(field("\u{13} QUOTE 1 \u{14}DDE\u{15}AUTO x"), ["high macro.dde"]);
        assert_eq!(field(" INCLUDEPICTURE \"http://host/a.png\" "), ["medium net.external_ref"]);
        assert_eq!(field(" HYPERLINK \"http://host/\" "), ["info net.link"]);
        assert_eq!(field(" PAGE "), [""; 0]);
        let seen = seen(document(b"a\x13 PAGE \x143\x15b", false, 0));
        assert_eq!(seen.texts(), ["a3b", " PAGE \n"]);
    }

    #[test]
    fn a_password_is_a_gap() {
        assert_eq!(facts(&seen(document(b"secret", false, 0x100))), ["gap encrypted"]);
        assert_eq!(facts(&seen(Build::new().stream("EncryptedPackage", &[1; 80]))), ["gap encrypted"]);
    }

    #[test]
    fn what_is_damaged_is_a_gap_and_read_as_it_stands() {
        let main = [&0xa5ec_u16.to_le_bytes()[..], &[0; 30], b"some text that stands loose"].concat();
        let seen_loose = seen(Build::new().stream("WordDocument", &main));
        assert_eq!(facts(&seen_loose), ["gap malformed"]);
        assert_eq!(seen_loose.texts(), ["some text that stands loose"]);
        assert_eq!(facts(&seen(Build::new().stream("WordDocument", b"junk"))), ["gap malformed"]);
        assert_eq!(facts(&seen(Build::new().stream("WordDocument", b"\xec"))), ["gap malformed"]);
    }
}

/// `PowerPoint`.
mod slides {
    use super::*;

    fn record(version: u16, kind: u16, data: &[u8]) -> Vec<u8> {
        [&version.to_le_bytes()[..], &kind.to_le_bytes(), &(data.len() as u32).to_le_bytes(), data].concat()
    }

    fn look_at(records: &[Vec<u8>]) -> Seen {
        seen(Build::new().stream("PowerPoint Document", &record(0x0f, 1000, &records.concat())))
    }

    #[test]
    fn text_is_read_and_storages_are_children() {
        let packed = [&[0; 4][..], b"\x78\x9c\x03\0\0\0\0\x01"].concat();
        let seen = look_at(&[
            record(0, 0x0fa0, &wide("wide")),
            record(0, 0x0fa8, b"narrow"),
            record(0x10, 0x1011, &packed),
            record(0, 0x1011, b"\xd0\xcf"),
        ]);
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.texts(), ["wide\nnarrow\n"]);
        assert_eq!(seen.children.len(), 2);
        assert_eq!(seen.children[0].source.codec, crate::bundle::Codec::Zlib);
    }

    #[test]
    fn what_acts_is_told() {
        let action = |what: u8| record(0, 0x0ff3, &[&[0; 8][..], &[what, 0, 0, 0, 0, 0, 0, 0]].concat());
        assert_eq!(facts(&look_at(&[action(2)])), ["high exec.shortcut"]);
        assert_eq!(facts(&look_at(&[action(1)])), ["medium macro.autoexec"]);
        assert_eq!(facts(&look_at(&[action(4)])), [""; 0]);
        assert_eq!(facts(&look_at(&[record(0x0f, 0x0fee, b"")])), ["medium active.activex"]);
        assert_eq!(facts(&look_at(&[record(0x0f, 0x0fcc, b"")])), ["medium embed.ole"]);
        assert_eq!(facts(&look_at(&[record(0x0f, 0x0fce, b"")])), ["medium net.external_ref"]);
        assert_eq!(facts(&look_at(&[record(0x0f, 0x2f14, b"")])), [""; 0]);
        assert_eq!(facts(&look_at(&[record(0, 0x2f14, b"")])), ["gap encrypted"]);
    }

    #[test]
    fn a_record_that_is_longer_than_the_rest_is_a_gap() {
        let mut lying = record(0, 0x0fa8, b"text");
        lying[4] = 200;
        assert_eq!(facts(&look_at(&[lying])), ["gap malformed"]);
    }
}

/// Outlook.
mod messages {
    use super::*;

    #[test]
    fn texts_bodies_and_attachments() {
        let seen = seen(
            Build::new()
                .stream("__properties_version1.0", &[0; 32])
                .stream("__substg1.0_0037001F", &wide("The subject"))
                .stream("__substg1.0_1000001E", b"The body")
                .stream("__substg1.0_10130102", b"<html>body</html>")
                .stream("__attach_version1.0_#00000000/__substg1.0_37010102", b"MZ\x90\0")
                .stream("__attach_version1.0_#00000000/__substg1.0_3707001F", &wide("invoice.exe"))
                .stream("__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_0037001F", &wide("Inner")),
        );
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.texts(), ["The subject\nThe body\n", "invoice.exe\n", "Inner\n"]);
        let names: Vec<_> = seen.children.iter().map(|child| child.name.as_deref()).collect();
        assert_eq!(names, [Some("body.html"), Some("invoice.exe")]);
    }
}

fn native(name: &str, data: &[u8]) -> Vec<u8> {
    let package = [
        b"\x02\0",
        name.as_bytes(),
        b"\0C:\\",
        name.as_bytes(),
        b"\0\0\0\x03\0\x01\0\0\0\0",
        &(data.len() as u32).to_le_bytes(),
        data,
    ]
    .concat();
    [&(package.len() as u32).to_le_bytes()[..], &package].concat()
}

#[test]
fn objects_are_named_and_handed_on() {
    let text = seen(Build::new().stream("ObjectPool/_1/\u{1}Ole10Native", &native("a.txt", b"hello")));
    assert_eq!(facts(&text), ["medium embed.ole"]);
    assert_eq!(text.children[0].name.as_deref(), Some("a.txt"));
    let program = seen(Build::new().stream("\u{1}Ole10Native", &native("a.pdf.exe", b"hello")));
    assert_eq!(facts(&program), ["high embed.executable", "medium embed.ole"]);
    let equation = *b"\x02\xce\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46";
    assert_eq!(
        facts(&seen(Build::new().class(equation).stream("\u{1}Ole10Native", &native("", b"")))),
        ["high embed.ole", "medium embed.ole"]
    );
    let link = [&[1, 0, 0, 2][..], URL_MONIKER, &wide("http://host/a.hta")].concat();
    assert_eq!(
        facts(&seen(Build::new().stream("\u{1}Ole", &link).stream("\u{1}Ole10Native", &native("a", b"")))),
        ["high net.external_ref", "medium embed.ole"]
    );
    assert_eq!(
        facts(&seen(Build::new().stream("Ctls", b"x").stream("Equation Native", b"x"))),
        ["high embed.ole", "medium active.activex", "gap unsupported"]
    );
}

#[test]
fn documents_in_documents_are_read_in_place() {
    let inner = workbooks::book(&[], &[]);
    let build = Build::new().stream("WordDocument", b"junk").stream("ObjectPool/_1/Workbook", &inner);
    assert_eq!(facts(&seen(build)), ["low embed.ole", "gap malformed"]);
    let macros = vba::build::project(Build::new(), "Macros/VBA", &[("Module1", "Sub AutoOpen()", 0)]);
    assert_eq!(facts(&seen(macros)), ["high macro.vba", "high macro.autoexec"]);
}

#[test]
fn properties_are_read() {
    let text = b"The title\0\0\0";
    let set = [
        &64_u32.to_le_bytes()[..],
        &2_u32.to_le_bytes(),
        &[2, 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0, 44, 0, 0, 0],
        &[0x1e, 0, 0, 0, 12, 0, 0, 0],
        text,
        &[0x1e, 0, 0, 0, 16, 0, 0, 0],
        b"http://e/a.dotm\0",
    ]
    .concat();
    let stream = [&[0xfe, 0xff, 0, 0][..], &[0; 20], &[1, 0, 0, 0], &[0; 16], &48_u32.to_le_bytes(), &set].concat();
    let seen = seen(Build::new().stream("\u{5}SummaryInformation", &stream));
    assert_eq!(facts(&seen), ["high net.external_template", "gap unsupported"]);
    assert_eq!(seen.texts()[0], "The title\nhttp://e/a.dotm\n");
}

#[test]
fn what_stands_behind_the_file_is_a_child() {
    let mut bytes = Build::new().stream("EncryptedPackage", &[1; 80]).bytes();
    let end = bytes.len();
    bytes.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".repeat(30));
    let seen = look(&FORMAT, "ole", &bytes);
    assert_eq!(seen.facts(), [format!("medium type.trailing_data {end}..{}", bytes.len()), "gap encrypted".to_owned()]);
    assert_eq!(seen.children.len(), 1);
}
