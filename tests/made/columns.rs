//! Tables in columns: Parquet and Arrow.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
        Style,
    },
    defect::{Kind, ORDER},
};

const PARQUET: Kind = Kind::new("columns", "parquet", parquet);
const ARROW: Kind = Kind::new("columns", "arrow", arrow);
const STREAM: Kind = Kind::new("columns", "arrows", stream);

pub(super) fn make(cases: &mut Cases) {
    for kind in [PARQUET, ARROW, STREAM] {
        kind.make(cases);
    }
    footers(cases);
}

/// A small number of Thrift is its double.
fn twice(b: &mut Build, name: &'static str, means: super::build::Means, value: usize) {
    b.le(name, means, 1, value * 2);
}

fn parquet(b: &mut Build) {
    b.part("letters of parquet");
    b.raw(b"PAR1");
    b.part("page");
    b.raw([0x15, 0, 0x15, 8, 0x15, 8, 0]);
    b.raw([7, 0, 0, 0]);
    b.part("description");
    let from = b.at();
    b.raw([0x15]);
    twice(b, "version", Choice, 1);
    b.raw([0x19]);
    b.le("list of the schema", Choice, 1, 0x1c);
    b.raw([0x48]);
    let name = b.says("name of the schema", "schema");
    b.le("name length of the schema", Length, 1, name.len());
    b.raw(name);
    b.raw([0]);
    b.raw([0x16]);
    twice(b, "rows", Count, 1);
    b.raw([0x19, 0x1c, 0x19, 0x1c, 0x26]);
    twice(b, "place of the column", Offset, 4);
    b.raw([0x1c, 0x15, 2]);
    b.raw([0x19, 0x15, 0]);
    b.raw([0x19, 0x18, 1, b'a']);
    b.raw([0x15]);
    twice(b, "packing of the column", Choice, 0);
    b.raw([0x16]);
    twice(b, "values of the column", Count, 1);
    b.raw([0x16]);
    twice(b, "unpacked size of the column", Length, 11);
    b.raw([0x16]);
    twice(b, "packed size of the column", Length, 11);
    b.raw([0x26]);
    twice(b, "place of the page", Offset, 4);
    b.raw([0, 0]);
    b.raw([0x16, 22, 0x16, 2, 0]);
    b.raw([0x19, 0x1c, 0x18]);
    let key = b.says("key of the metadata", "writer");
    b.le("key length of the metadata", Length, 1, key.len());
    b.raw(key);
    b.raw([0x18]);
    let value = b.says("value of the metadata", "a test");
    b.le("value length of the metadata", Length, 1, value.len());
    b.raw(value);
    b.raw([0]);
    b.raw([0x18]);
    let by = b.says("name of the writer", "made for a test");
    b.le("name length of the writer", Length, 1, by.len());
    b.raw(by);
    b.raw([0]);
    let length = b.at() - from;
    b.part("tail");
    b.le("description length", Length, 4, length);
    b.raw(b"PAR1");
}

/// A file whose description names one batch.
fn arrow(b: &mut Build) {
    b.part("letters of arrow");
    b.raw(b"ARROW1\0\0");
    b.part("batch");
    b.raw([0xff; 4]);
    b.zeros(12);
    b.part("footer");
    let from = b.at();
    b.le("place of the table", Offset, 4, 16);
    // The list of fields: its length, the length of the table, then where each field stands.
    b.le("length of the field list", Length, 2, 12);
    b.raw([12, 0]);
    b.raw([0, 0, 0, 0, 0, 0]);
    b.le("place of the batches", Offset, 2, 4);
    b.le("way back to the field list", Offset, 4, 12);
    b.le("way to the batches", Offset, 4, 4);
    b.le("batches", Count, 4, 1);
    b.le("place of the batch", Offset, 8, 8);
    b.le("description length of the batch", Length, 4, 8);
    b.zeros(4);
    b.le("body length of the batch", Length, 8, 8);
    let length = b.at() - from;
    b.part("arrow tail");
    b.le("footer length", Length, 4, length);
    b.raw(b"ARROW1");
}

/// Two messages, the first with a body.
fn stream(b: &mut Build) {
    b.part("first message");
    b.raw([0xff; 4]);
    let length = b.hole("message length", Length, 4, Style::Little);
    let from = b.at();
    message(b, 8);
    b.fill(length, b.at() - from);
    b.part("body");
    b.zeros(8);
    b.part("end of the stream");
    b.raw([0xff; 4]);
    b.zeros(4);
}

fn message(b: &mut Build, body: usize) {
    b.le("place of the message table", Offset, 4, 16);
    b.le("length of the message list", Length, 2, 12);
    b.raw([16, 0]);
    b.raw([0, 0, 0, 0, 0, 0]);
    b.le("place of the body length", Offset, 2, 8);
    b.le("way back to the message list", Offset, 4, 12);
    b.zeros(4);
    b.le("body length", Length, 8, body);
}

fn footers(cases: &mut Cases) {
    let with = |footer: &[u8]| {
        [b"PAR1", footer, &u32::try_from(footer.len()).unwrap_or_default().to_le_bytes(), b"PAR1"].concat()
    };
    let key = |key: &[u8], value: &[u8]| {
        let length = |text: &[u8]| [0x18, u8::try_from(text.len()).unwrap_or_default()];
        with(&[&[0x59, 0x1c][..], &length(key), key, &length(value), value, &[0, 0]].concat())
    };
    let deep = [vec![0x1c; 60], vec![0; 61]].concat();
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("description-of-nothing", "the description has no bytes", with(b"")),
        ("description-never-ends", "the description has no end", with(&[0x15, 2])),
        ("description-of-a-wrong-type", "a field has a type that there is not", with(&[0x1f, 0])),
        ("description-60-deep", "structures in structures, sixty deep", with(&deep)),
        ("description-text-past-the-end", "a text leads past the description", with(&[0x18, 0xff, 0xff, 3, b'a', 0])),
        (
            "description-number-of-eleven-bytes",
            "a number of more bytes than a number has",
            with(&[[0x16].as_slice(), &[0xff; 11], &[0]].concat()),
        ),
        (
            "description-list-of-structures-of-nothing",
            "a list of sixteen million structures of no bytes",
            with(&[0x19, 0xfc, 0xff, 0xff, 0xff, 7, 0]),
        ),
        (
            "description-field-numbers-wrap",
            "the numbers of fields go past the largest",
            with(&[0x05, 0xff, 0xff, 3, 0, 0x15, 0, 0]),
        ),
        ("attack-in-pandas-block", "the description of pandas is an order", key(b"pandas", ORDER.as_bytes())),
        (
            "key-of-metadata-twice",
            "the metadata say one thing twice",
            with(&[0x59, 0x2c, 0x18, 1, b'a', 0x18, 1, b'b', 0, 0x18, 1, b'a', 0x18, 1, b'c', 0, 0]),
        ),
        ("key-without-value", "a key of the metadata has no value", with(&[0x59, 0x1c, 0x18, 1, b'a', 0, 0])),
    ];
    for (name, why, bytes) in rows {
        PARQUET.add(cases, name, why, &bytes, &[]);
    }
}
