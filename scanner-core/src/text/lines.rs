//! Line and column of an offset.

/// Counts forward through a text. Lines and columns are counted from one, columns in characters (bytes that are not
/// UTF-8 count one each). Offsets asked in ascending order cost one pass over the text, all together.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    column: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    /// Line and column of an offset that is not before the last one asked.
    pub(super) fn place(&mut self, offset: usize) -> (u64, u64) {
        let between = self.text.get(self.at..offset).unwrap_or_default();
        let newlines = memchr::memchr_iter(b'\n', between).count();
        let last_line = match memchr::memrchr(b'\n', between) {
            Some(newline) => {
                self.column = 1;
                between.get(newline.saturating_add(1)..).unwrap_or_default()
            }
            None => between,
        };
        self.line = self.line.saturating_add(u64::try_from(newlines).unwrap_or(u64::MAX));
        let characters = last_line.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count();
        self.column = self.column.saturating_add(u64::try_from(characters).unwrap_or(u64::MAX));
        self.at = self.at.max(offset);
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let mut lines = Lines::of("é x\nab\n\nc".as_bytes());
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(3), (1, 3));
        assert_eq!(lines.place(5), (2, 1));
        assert_eq!(lines.place(6), (2, 2));
        assert_eq!(lines.place(6), (2, 2));
        assert_eq!(lines.place(9), (4, 1));
    }
}
