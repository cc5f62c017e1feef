//! Opcodes and their operands, as `pickletools` documents them. Reading one builds nothing.

use std::ops::Range;

use crate::reader::Reader;

/// One opcode with its operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Protocol(u8),
    Frame(u64),
    Stop,
    Mark,
    Pop,
    PopMark,
    Duplicate,
    /// Makes the buffer on the stack read-only.
    ReadOnly,
    /// Pushes a thing without parts: `None`, a truth value, a fraction, a buffer given beside.
    Plain,
    /// Pushes a whole number of fixed width.
    Number(u64),
    /// Pushes a whole number written in decimal.
    Digits(Range<usize>),
    /// Pushes a whole number of many bytes.
    Long(Range<usize>),
    Text(Writing, Range<usize>),
    Bytes(Writing, Range<usize>),
    EmptyTuple,
    EmptyList,
    EmptyDict,
    EmptySet,
    /// Makes a tuple of what stands on the stack: so many, or all above the mark.
    Tuple(Option<usize>),
    /// Makes a list above the mark.
    List,
    /// Makes a dictionary above the mark.
    Dict,
    /// Makes a frozen set above the mark.
    FrozenSet,
    /// Puts one thing into the container below it.
    Append,
    /// Puts a key and its value into the container below them.
    SetItem,
    /// Puts everything above the mark into the container below it: pairs of keys and values, or single things.
    Fill {
        pairs: bool,
    },
    Put(u64),
    Memoize,
    Get(u64),
    /// Loads a name: module and name stand in the stream.
    Global(Range<usize>, Range<usize>),
    /// Loads a name: module and name stand on the stack.
    StackGlobal,
    /// Loads what a number of the extension registry stands for.
    Extension,
    /// Asks the program that loads for a thing by an id in the stream, or on the stack.
    Persistent {
        on_stack: bool,
    },
    Reduce,
    Build,
    /// Calls a named class with everything above the mark.
    Instance(Range<usize>, Range<usize>),
    /// Calls the class behind the mark with what follows it.
    Object,
    NewObject {
        keywords: bool,
    },
}

/// How the bytes of a text stand in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// As they are.
    Plain,
    /// In quotes, with the escapes of a Python literal.
    Quoted,
    /// Raw Unicode escapes: `\u0061`.
    Escaped,
}

/// Why no opcode could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes end in the middle of it.
    Cut,
    /// There is no such opcode.
    Unknown,
}

/// The opcode at the cursor.
pub(super) fn next(reader: &mut Reader<'_>) -> Result<Op, Fault> {
    let opcode = reader.u8().map_err(|_| Fault::Cut)?;
    Ok(match opcode {
        0x80 => Op::Protocol(reader.u8().map_err(|_| Fault::Cut)?),
        0x95 => Op::Frame(fixed(reader, 8)?),
        b'.' => Op::Stop,
        b'(' => Op::Mark,
        b'0' => Op::Pop,
        b'1' => Op::PopMark,
        b'2' => Op::Duplicate,
        b'N' | 0x88 | 0x89 | 0x97 => Op::Plain,
        0x98 => Op::ReadOnly,
        b'K' => Op::Number(fixed(reader, 1)?),
        b'M' => Op::Number(fixed(reader, 2)?),
        b'J' => Op::Number(fixed(reader, 4)?),
        b'G' => {
            fixed(reader, 8)?;
            Op::Plain
        }
        b'I' | b'L' => Op::Digits(line(reader)?),
        b'F' => {
            line(reader)?;
            Op::Plain
        }
        0x8a => Op::Long(counted(reader, 1)?),
        0x8b => Op::Long(counted(reader, 4)?),
        b'S' => Op::Text(Writing::Quoted, line(reader)?),
        b'V' => Op::Text(Writing::Escaped, line(reader)?),
        b'U' | 0x8c => Op::Text(Writing::Plain, counted(reader, 1)?),
        b'T' | b'X' => Op::Text(Writing::Plain, counted(reader, 4)?),
        0x8d => Op::Text(Writing::Plain, counted(reader, 8)?),
        b'C' => Op::Bytes(Writing::Plain, counted(reader, 1)?),
        b'B' => Op::Bytes(Writing::Plain, counted(reader, 4)?),
        0x8e | 0x96 => Op::Bytes(Writing::Plain, counted(reader, 8)?),
        b')' => Op::EmptyTuple,
        b']' => Op::EmptyList,
        b'}' => Op::EmptyDict,
        0x8f => Op::EmptySet,
        b't' => Op::Tuple(None),
        0x85 => Op::Tuple(Some(1)),
        0x86 => Op::Tuple(Some(2)),
        0x87 => Op::Tuple(Some(3)),
        b'l' => Op::List,
        b'd' => Op::Dict,
        0x91 => Op::FrozenSet,
        b'a' => Op::Append,
        b's' => Op::SetItem,
        b'e' | 0x90 => Op::Fill { pairs: false },
        b'u' => Op::Fill { pairs: true },
        b'p' => Op::Put(index(reader)?),
        b'q' => Op::Put(fixed(reader, 1)?),
        b'r' => Op::Put(fixed(reader, 4)?),
        0x94 => Op::Memoize,
        b'g' => Op::Get(index(reader)?),
        b'h' => Op::Get(fixed(reader, 1)?),
        b'j' => Op::Get(fixed(reader, 4)?),
        b'c' => Op::Global(line(reader)?, line(reader)?),
        0x93 => Op::StackGlobal,
        0x82 => extension(reader, 1)?,
        0x83 => extension(reader, 2)?,
        0x84 => extension(reader, 4)?,
        b'P' => {
            line(reader)?;
            Op::Persistent { on_stack: false }
        }
        b'Q' => Op::Persistent { on_stack: true },
        b'R' => Op::Reduce,
        b'b' => Op::Build,
        b'i' => Op::Instance(line(reader)?, line(reader)?),
        b'o' => Op::Object,
        0x81 => Op::NewObject { keywords: false },
        0x92 => Op::NewObject { keywords: true },
        _ => return Err(Fault::Unknown),
    })
}

fn extension(reader: &mut Reader<'_>, width: usize) -> Result<Op, Fault> {
    fixed(reader, width)?;
    Ok(Op::Extension)
}

/// A whole number of up to eight bytes, little end first.
fn fixed(reader: &mut Reader<'_>, width: usize) -> Result<u64, Fault> {
    let mut bytes = [0; 8];
    for byte in bytes.iter_mut().take(width) {
        *byte = reader.u8().map_err(|_| Fault::Cut)?;
    }
    Ok(u64::from_le_bytes(bytes))
}

/// A length of that width, then so many bytes.
fn counted(reader: &mut Reader<'_>, width: usize) -> Result<Range<usize>, Fault> {
    let length = fixed(reader, width)?;
    let from = reader.position();
    reader.take(length).map_err(|_| Fault::Cut)?;
    Ok(from..reader.position())
}

/// Bytes up to the end of the line.
fn line(reader: &mut Reader<'_>) -> Result<Range<usize>, Fault> {
    let from = reader.position();
    let line = reader.until(b'\n').ok_or(Fault::Cut)?;
    Ok(from..from.saturating_add(line.len()))
}

/// A place in the memo, in decimal. What is no number is no place that anything else can name.
fn index(reader: &mut Reader<'_>) -> Result<u64, Fault> {
    let line = reader.until(b'\n').ok_or(Fault::Cut)?;
    let digits = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX))
}

/// Text in its own letters.
pub(super) fn decoded(writing: Writing, bytes: &[u8]) -> Vec<u8> {
    match writing {
        Writing::Plain => bytes.to_vec(),
        Writing::Escaped => unescaped(bytes, false),
        Writing::Quoted => {
            let inner = bytes.trim_ascii();
            let quoted = inner.split_first().and_then(|(first, rest)| {
                let (last, inner) = rest.split_last()?;
                (first == last && matches!(first, b'"' | b'\'')).then_some(inner)
            });
            unescaped(quoted.unwrap_or(inner), true)
        }
    }
}

/// The escapes of a Python literal: all of them, or those of Unicode only. One that is none stays as it is.
fn unescaped(bytes: &[u8], all: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut reader = Reader::new(bytes);
    while let Ok(byte) = reader.u8() {
        if byte != b'\\' {
            // Raw Unicode escapes leave Latin-1 as it is.
            if all {
                text.push(byte);
            } else {
                text.extend_from_slice(char::from(byte).encode_utf8(&mut [0; 4]).as_bytes());
            }
            continue;
        }
        let Ok(kind) = reader.u8() else {
            text.push(byte);
            break;
        };
        let digits = match kind {
            b'u' => 4,
            b'U' => 8,
            b'x' if all => 2,
            _ => 0,
        };
        let code = reader
            .rest()
            .get(..digits)
            .filter(|_| digits > 0)
            .and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        if let Some(letter) = code.and_then(char::from_u32) {
            // The digits are there: they were just read.
            let _ = reader.take(u64::try_from(digits).unwrap_or(0));
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match kind {
            b'n' if all => text.push(b'\n'),
            b't' if all => text.push(b'\t'),
            b'r' if all => text.push(b'\r'),
            b'\\' | b'\'' | b'"' if all => text.push(kind),
            b'0'..=b'7' if all => {
                let mut value = kind.saturating_sub(b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = reader.rest().first().copied() else { break };
                    value = value.wrapping_mul(8).wrapping_add(digit.saturating_sub(b'0'));
                    let _ = reader.u8();
                }
                text.push(value);
            }
            _ => text.extend_from_slice(&[b'\\', kind]),
        }
    }
    text
}
