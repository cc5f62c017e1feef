//! Terminal sequences in a text that leaves. For a page, a file or a model they are taken out, and what was written over
//! stays visible. For a terminal the text becomes what it would look like after the terminal had played it.

use std::ops::Range;

use super::{Shown, place::Edit};

/// Columns that are played: beyond the last one a terminal wraps or stays, and no honest output goes there by a jump.
const COLUMNS: usize = 1_000;
/// Longest state of colours that is carried on, and how many there may be.
const STYLE_BYTES: usize = 64;
const STYLES: usize = 256;
/// What redrawing may cost for each byte of the text: blanks before a jump, cells erased.
const WORK_PER_BYTE: usize = 16;
/// A control string without its end is taken this far.
const STRING_LONGEST: usize = 4_096;

/// What stands at some place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// One character, or a byte that is none.
    Shown(Range<usize>),
    /// Colours: `ESC [ … m`.
    Colour(Range<usize>),
    /// `ESC [ … x`: its last byte and its first number.
    Move(Range<usize>, u8, Option<usize>),
    /// CR, BS.
    Back(Range<usize>, u8),
    /// Anything else that a terminal would act on.
    Other(Range<usize>),
}

/// The changes that make a text safe to be shown. What redraws more than it writes is not played: its sequences are
/// taken out.
pub(super) fn changes(text: &[u8], shown: Shown) -> Vec<Edit> {
    if let (Shown::Terminal, Some(with)) = (shown, played(text)) {
        return vec![Edit { range: 0..text.len(), with }];
    }
    let mut edits = Vec::new();
    each(text, |token| {
        let (range, with): (Range<usize>, &[u8]) = match token {
            Token::Shown(_) => return,
            // A carriage return that is not part of a line end draws over the line.
            Token::Back(range, b'\r') => match text.get(range.end) {
                Some(b'\n' | b'\r') | None => return,
                Some(_) => (range, b"\n"),
            },
            Token::Colour(range) | Token::Move(range, ..) | Token::Back(range, _) | Token::Other(range) => (range, b""),
        };
        edits.push(Edit { range, with: with.to_vec() });
    });
    edits
}

/// Hands over what stands in a text, in order. Linear.
fn each(text: &[u8], mut token: impl FnMut(Token)) {
    let mut at = 0usize;
    while let Some(byte) = text.get(at).copied() {
        let next = at.saturating_add(1);
        let found = match byte {
            0x1b => escape(text, at, text.get(next).copied(), next.saturating_add(1)),
            0xc2 if text.get(next).is_some_and(|byte| (0x80..=0x9f).contains(byte)) => {
                let kind = text.get(next).map(|byte| byte.wrapping_sub(0x40));
                escape(text, at, kind, next.saturating_add(1))
            }
            b'\r' | 0x08 => Token::Back(at..next, byte),
            b'\n' | b'\t' => Token::Shown(at..next),
            0x00..=0x1f | 0x7f => Token::Other(at..next),
            _ => {
                let length = match byte {
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => 1,
                };
                let end = at.saturating_add(length).min(text.len());
                let whole = text.get(at..end).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok());
                // A bare byte of the C1 range is an introducer to terminals that do not read UTF-8.
                match (whole, byte) {
                    (true, _) => Token::Shown(at..end),
                    (false, 0x80..=0x9f) => escape(text, at, Some(byte.wrapping_sub(0x40)), next),
                    (false, _) => Token::Shown(at..next),
                }
            }
        };
        at = match &found {
            Token::Shown(range)
            | Token::Colour(range)
            | Token::Move(range, ..)
            | Token::Back(range, _)
            | Token::Other(range) => range.end.max(next),
        };
        token(found);
    }
}

/// The sequence that begins at `start`, whose kind is known and whose body begins at `body`.
fn escape(text: &[u8], start: usize, kind: Option<u8>, body: usize) -> Token {
    match kind {
        Some(b'[') => {
            let rest = text.get(body..).unwrap_or_default();
            let length = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte)).unwrap_or(rest.len());
            let parameters = rest.get(..length).unwrap_or_default();
            let last = rest.get(length).copied().unwrap_or(0);
            let ends = usize::from(last.is_ascii());
            let range = start..body.saturating_add(length).saturating_add(ends).min(text.len());
            let first = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
            let number = std::str::from_utf8(first).ok().and_then(|first| first.parse().ok());
            let is_plain = parameters.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'));
            match last {
                b'm' if is_plain => Token::Colour(range),
                0x40..=0x7e if is_plain => Token::Move(range, last, number),
                _ => Token::Other(range),
            }
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let rest = text.get(body..).unwrap_or_default();
            let window = rest.get(..STRING_LONGEST).unwrap_or(rest);
            let end = window.iter().enumerate().find_map(|(at, byte)| match byte {
                0x07 => Some(at.saturating_add(1)),
                0x1b if window.get(at.saturating_add(1)) == Some(&b'\\') => Some(at.saturating_add(2)),
                0xc2 if window.get(at.saturating_add(1)) == Some(&0x9c) => Some(at.saturating_add(2)),
                0x1b => Some(at),
                _ => None,
            });
            Token::Other(start..body.saturating_add(end.unwrap_or(window.len())))
        }
        Some(b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'%' | b'#' | b' ') => {
            Token::Other(start..body.saturating_add(1).min(text.len()))
        }
        // ESC before a character that is none of its own stands for nothing.
        Some(byte) if byte.is_ascii() => Token::Other(start..body.min(text.len())),
        _ => Token::Other(start..start.saturating_add(1)),
    }
}

/// A character on the screen: its bytes and the colours it has.
#[derive(Clone, Copy, Debug)]
struct Cell {
    bytes: [u8; 4],
    length: usize,
    style: usize,
}

impl Cell {
    const BLANK: Self = Self { bytes: *b"    ", length: 1, style: 0 };

    fn of(character: &[u8], style: usize) -> Self {
        let mut bytes = [0; 4];
        let length = character.len().min(4);
        for (to, from) in bytes.iter_mut().zip(character) {
            *to = *from;
        }
        Self { bytes, length, style }
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// What a terminal shows, line by line. Jumps stay within the lines that were written, so a jump makes none.
#[derive(Debug)]
struct Screen {
    lines: Vec<Vec<Cell>>,
    row: usize,
    column: usize,
    /// States of colours that came; the first is none.
    styles: Vec<Vec<u8>>,
    style: usize,
    /// Work that is left; zero ends the play.
    left: usize,
}

/// The text as it looks when it was played; `None` when that costs too much.
fn played(text: &[u8]) -> Option<Vec<u8>> {
    let mut screen = Screen {
        lines: vec![Vec::new()],
        row: 0,
        column: 0,
        styles: vec![Vec::new()],
        style: 0,
        left: text.len().saturating_add(COLUMNS).saturating_mul(WORK_PER_BYTE),
    };
    each(text, |token| match token {
        Token::Shown(range) => screen.write(text.get(range).unwrap_or_default()),
        Token::Colour(range) => screen.colour(text.get(range).unwrap_or_default()),
        Token::Move(_, last, number) => screen.go(last, number),
        Token::Back(_, b'\r') => screen.column = 0,
        Token::Back(..) => screen.column = screen.column.saturating_sub(1),
        Token::Other(_) => {}
    });
    (screen.left > 0).then(|| screen.into_text(text.ends_with(b"\n")))
}

impl Screen {
    fn write(&mut self, character: &[u8]) {
        match character {
            b"\n" => {
                self.row = self.row.saturating_add(1);
                self.column = 0;
                if self.row >= self.lines.len() {
                    self.lines.push(Vec::new());
                }
            }
            b"\t" => {
                let next = self.column.div_euclid(8).saturating_add(1).saturating_mul(8);
                while self.column < next {
                    self.put(b" ");
                }
            }
            character => self.put(character),
        }
    }

    fn put(&mut self, character: &[u8]) {
        let (column, style, left) = (self.column, self.style, self.left);
        if let Some(line) = self.lines.get_mut(self.row) {
            // A jump over nothing shows blanks.
            let blanks = column.saturating_sub(line.len());
            self.left = left.saturating_sub(blanks);
            if self.left == 0 {
                return;
            }
            line.extend(std::iter::repeat_n(Cell::BLANK, blanks));
            let cell = Cell::of(character, style);
            match line.get_mut(column) {
                Some(old) => *old = cell,
                None => line.push(cell),
            }
        }
        self.column = self.column.saturating_add(1);
    }

    fn go(&mut self, last: u8, number: Option<usize>) {
        let by = number.unwrap_or(1).max(1);
        let bottom = self.lines.len().saturating_sub(1);
        match last {
            b'A' | b'F' => self.row = self.row.saturating_sub(by),
            b'B' | b'E' => self.row = self.row.saturating_add(by).min(bottom),
            b'C' => self.column = self.column.saturating_add(by).min(COLUMNS),
            b'D' => self.column = self.column.saturating_sub(by),
            b'G' => self.column = by.saturating_sub(1).min(COLUMNS),
            b'H' | b'f' => (self.row, self.column) = (by.saturating_sub(1).min(bottom), 0),
            b'K' => self.erase_in_line(number.unwrap_or(0)),
            b'J' => {
                if matches!(number, Some(2 | 3)) {
                    self.lines = vec![Vec::new()];
                    self.row = 0;
                } else {
                    self.erase_in_line(0);
                    self.lines.truncate(self.row.saturating_add(1));
                }
            }
            _ => {}
        }
        if matches!(last, b'E' | b'F') {
            self.column = 0;
        }
    }

    fn erase_in_line(&mut self, what: usize) {
        let column = self.column;
        if let Some(line) = self.lines.get_mut(self.row) {
            match what {
                0 => line.truncate(column),
                1 => {
                    self.left = self.left.saturating_sub(column.min(line.len()));
                    line.iter_mut().take(column.saturating_add(1)).for_each(|cell| *cell = Cell::BLANK);
                }
                _ => line.clear(),
            }
        }
    }

    /// A change of colours. `ESC [ m`, `ESC [ 0 m` end all; concealed text stays shown.
    fn colour(&mut self, sequence: &[u8]) {
        let plain = String::from_utf8_lossy(sequence).replace(':', ";");
        let plain = plain.trim_matches(|character: char| !character.is_ascii_digit() && character != ';');
        let mut codes = plain.split(';');
        let mut kept: Vec<&str> = Vec::new();
        while let Some(code) = codes.next() {
            match code {
                "" | "0" => {
                    self.style = 0;
                    kept.clear();
                }
                "8" => {}
                // A colour of the palette or by its parts (ITU-T T.416): its numbers are no codes.
                "38" | "48" | "58" => {
                    let form = codes.next().unwrap_or_default();
                    kept.extend([code, form]);
                    kept.extend(codes.by_ref().take(if form == "2" { 3 } else { 1 }));
                }
                code => kept.push(code),
            }
        }
        let mut state = self.styles.get(self.style).cloned().unwrap_or_default();
        if kept.is_empty() || state.len() >= STYLE_BYTES || self.styles.len() >= STYLES {
            return;
        }
        state.extend_from_slice(format!("\x1b[{}m", kept.join(";")).as_bytes());
        let known = self.styles.iter().rposition(|known| *known == state);
        self.style = known.unwrap_or_else(|| {
            self.styles.push(state);
            self.styles.len().saturating_sub(1)
        });
    }

    fn into_text(self, ends_in_line: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut style = 0usize;
        let count = self.lines.len();
        for (at, line) in self.lines.into_iter().enumerate() {
            for cell in line {
                if cell.style != style {
                    if style != 0 {
                        out.extend_from_slice(b"\x1b[0m");
                    }
                    out.extend_from_slice(self.styles.get(cell.style).map_or(&[], Vec::as_slice));
                    style = cell.style;
                }
                out.extend_from_slice(cell.text());
            }
            // A line ends as it began, so that lines may be told apart.
            if style != 0 {
                out.extend_from_slice(b"\x1b[0m");
                style = 0;
            }
            if at.saturating_add(1) < count {
                out.push(b'\n');
            }
        }
        if ends_in_line && !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, shown: Shown) -> String {
        let mut out = text.as_bytes().to_vec();
        for edit in changes(text.as_bytes(), shown).into_iter().rev() {
            out.splice(edit.range, edit.with);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_gets_what_it_would_show() {
        for (text, expected) in [
            ("10%\r50%\r100%\n", "100%\n"),
            ("rm -rf /\x1b[8D\x1b[Kls\n", "ls\n"),
            ("abc\x08\x08X\n", "aXc\n"),
            ("one\ntwo\x1b[1A\x1b[2Kup\n", "   up\ntwo\n"),
            ("\x1b]0;title\x07text\x1b]52;c;bHM=\x1b\\!", "text!"),
            ("\x1b[31mred\x1b[0m \x1b[8mseen\x1b[0m\n", "\x1b[31mred\x1b[0m seen\n"),
            (
                "\x1b[38;5;8mgrey\x1b[m \x1b[1;48;2;0;8;0mdark\n",
                "\x1b[38;5;8mgrey\x1b[0m \x1b[1;48;2;0;8;0mdark\x1b[0m\n",
            ),
            ("dirt\x1b[2J\x1b[Hclean\n", "clean\n"),
            ("\u{9b}31mred\u{9b}0m\n", "\x1b[31mred\x1b[0m\n"),
            // A letter of two bytes that begin as a control does.
            ("\u{a9}\x1b[K\n", "\u{a9}\n"),
            // Neither is a colour, nor a step: the terminal is asked to report keys otherwise, and something unknown.
            ("\x1b[>4;2mtext\x1b[?5Db\n", "textb\n"),
            // A string that ends as those do that read UTF-8.
            ("\x1b]0;t\u{9c}text\n", "text\n"),
            // Nothing goes past the lines that there are.
            ("one\ntwo\x1b[9Bx\n", "one\ntwox\n"),
            ("one\ntwo\x1b[1;1Hup\n", "upe\ntwo\n"),
            ("a\x1b[3Cb\n", "a   b\n"),
            ("abc\x1b[1Kd\n", "   d\n"),
        ] {
            assert_eq!(shown(text, Shown::Terminal), expected, "{text:?}");
        }
    }

    #[test]
    fn anyone_else_gets_everything_that_was_written() {
        for (text, expected) in [
            ("rm -rf /\x1b[8D\x1b[Kls\n", "rm -rf /ls\n"),
            ("evil\rgood\r\nnext\n", "evil\ngood\r\nnext\n"),
            ("\x1b[31mred\x1b[0m\x1b]8;;http://a\x07b\x1b]8;;\x07", "redb"),
        ] {
            assert_eq!(shown(text, Shown::Model), expected, "{text:?}");
        }
    }

    #[test]
    fn redrawing_costs_so_much_and_no_more() {
        // Each line pays for 9 bytes and draws 998 blanks; what every text has pays for 18 of them.
        let jumps = |lines: usize| "\x1b[999Gx\n".repeat(lines);
        assert!(played(jumps(18).as_bytes()).is_some());
        assert!(played(jumps(19).as_bytes()).is_none());
        assert_eq!(shown(&jumps(19), Shown::Terminal), "x\n".repeat(19), "it is not played, and harmless all the same");
        let at = |column: usize| played(format!("\x1b[{column}Gx").as_bytes()).map(|text| text.len());
        assert_eq!(at(COLUMNS + 1), Some(COLUMNS + 1));
        assert_eq!(at(COLUMNS + 2), Some(COLUMNS + 1));
    }

    #[test]
    fn colours_are_carried_on_as_long_as_there_is_room() {
        let colours = |count: usize| (0..count).map(|nth| format!("\x1b[0;38;5;{nth}mx")).collect::<String>();
        let kept = |count: usize| String::from_utf8(played(colours(count).as_bytes()).unwrap()).unwrap();
        let last = |count: usize| format!("38;5;{}m", count - 1);
        // The first state is none.
        assert!(kept(STYLES - 1).contains(&last(STYLES - 1)));
        assert!(!kept(STYLES).contains(&last(STYLES)));
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_acts_on_is_left(text in "[a\\x1b\\[\\]0-9;mKHJ\\r\\n\\x08\\x07é\u{9b}\u{9d}]{0,80}") {
            for audience in [Shown::Terminal, Shown::Page] {
                let out = shown(&text, audience);
                let mut left = Vec::new();
                each(out.as_bytes(), |token| {
                    if !matches!(token, Token::Shown(_) | Token::Colour(_) | Token::Back(_, b'\r')) {
                        left.push(token);
                    }
                });
                prop_assert!(left.is_empty(), "{:?} from {:?}", out, text);
                prop_assert!(audience == Shown::Terminal || !out.contains('\x1b'));
            }
        }
    }
}
