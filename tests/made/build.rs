//! Bytes under construction, which remember where their parts, numbers and texts stand, and can be told one lie.

/// What a number of a file means to its reader. It says which lies make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// So many bytes follow, or are used.
    Length,
    /// So many things follow.
    Count,
    /// Something stands there.
    Offset,
    /// A version, a method, a type: one of a few values.
    Kind,
    /// A checksum.
    Sum,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// Octal digits and a NUL, as tar has them.
    Octal,
    /// Decimal digits with zeros in front, as PDF tables have them.
    Decimal,
}

/// A number that was written.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) name: &'static str,
    pub(crate) means: Means,
    pub(crate) at: usize,
    pub(crate) width: usize,
    pub(crate) style: Style,
    pub(crate) value: u64,
}

/// The one thing that is not as it should be.
#[derive(Clone, Debug)]
pub(crate) enum Lie {
    /// The number of that name has another value.
    Number(&'static str, u64),
    /// The text of that name says something else.
    Text(&'static str, Vec<u8>),
}

/// A place that was left for a number.
#[must_use]
pub(crate) struct Hole {
    name: &'static str,
    means: Means,
    at: usize,
    width: usize,
    style: Style,
}

/// A file under construction.
#[derive(Default)]
pub(crate) struct Build {
    pub(crate) bytes: Vec<u8>,
    pub(crate) parts: Vec<(&'static str, usize)>,
    pub(crate) numbers: Vec<Number>,
    pub(crate) texts: Vec<&'static str>,
    lie: Option<Lie>,
}

impl Build {
    /// What that function writes, with one lie or none.
    pub(crate) fn of(write: fn(&mut Self), lie: Option<Lie>) -> Self {
        let mut build = Self { lie, ..Self::default() };
        write(&mut build);
        build
    }

    /// Where the next byte goes.
    pub(crate) fn at(&self) -> usize {
        self.bytes.len()
    }

    /// From here on stands that part.
    pub(crate) fn part(&mut self, name: &'static str) {
        self.parts.push((name, self.bytes.len()));
    }

    /// Bytes that nobody lies about.
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.bytes.extend_from_slice(bytes.as_ref());
    }

    /// So many zeros.
    pub(crate) fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Zeros up to a multiple of that.
    pub(crate) fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    /// What the text of that name says: the honest words, unless the lie is about it.
    pub(crate) fn says(&mut self, name: &'static str, honest: &str) -> Vec<u8> {
        self.texts.push(name);
        match &self.lie {
            Some(Lie::Text(of, words)) if *of == name => words.clone(),
            _ => honest.as_bytes().to_vec(),
        }
    }

    /// A number, least significant byte first.
    pub(crate) fn le(&mut self, name: &'static str, means: Means, width: usize, value: usize) {
        let hole = self.hole(name, means, width, Style::Little);
        self.fill(hole, value);
    }

    /// A number, most significant byte first.
    pub(crate) fn be(&mut self, name: &'static str, means: Means, width: usize, value: usize) {
        let hole = self.hole(name, means, width, Style::Big);
        self.fill(hole, value);
    }

    /// Leaves room for a number that is not known yet.
    pub(crate) fn hole(&mut self, name: &'static str, means: Means, width: usize, style: Style) -> Hole {
        let at = self.bytes.len();
        self.zeros(width);
        Hole { name, means, at, width, style }
    }

    /// Writes a number where room was left for it.
    pub(crate) fn fill(&mut self, hole: Hole, value: usize) {
        let honest = value as u64;
        let value = match &self.lie {
            Some(Lie::Number(name, value)) if *name == hole.name => *value,
            _ => honest,
        };
        let Hole { name, means, at, width, style } = hole;
        self.numbers.push(Number { name, means, at, width, style, value: honest });
        let digits = match style {
            Style::Little => value.to_le_bytes().into_iter().take(width).collect(),
            Style::Big => value.to_be_bytes().into_iter().skip(8 - width).collect(),
            Style::Octal => format!("{value:0w$o}\0", w = width - 1).into_bytes(),
            Style::Decimal => format!("{value:0width$}").into_bytes(),
        };
        // A lie may need more digits than there is room for: the last ones count.
        let cut = digits.len().saturating_sub(width);
        for (to, digit) in self.bytes.iter_mut().skip(at).zip(digits.into_iter().skip(cut)) {
            *to = digit;
        }
    }
}
