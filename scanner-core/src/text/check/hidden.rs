//! Characters that a person does not see, or sees as another: zero-width, bidi controls, tags, variation selectors,
//! look-alike letters, control characters. What scripts need stays silent: joiners of Indic and Arabic scripts and of
//! emoji, right-to-left marks beside right-to-left letters, emoji flags, a byte order mark at the start of a line.

use std::ops::Range;

use super::{About, Check, Said, Sink, saying};
use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    text::confusable::{ascii_twin, is_foreign},
};

pub(super) const CHECK: Check =
    Check { rules: &[&BIDI, &CONTROL, &HOMOGLYPH, &TAGS, &VARIATION, &ZERO_WIDTH], about: About::Shown, run };

static BIDI: Rule = Rule::built_in(
    "hidden/bidi",
    "hidden.bidi",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Controls that reorder text where no right-to-left script needs them",
        why: "They make a person read the characters in another order than a program or a model does: code and \
              instructions look like something else (\"Trojan Source\").",
        remedy: "Remove the characters U+202A–U+202E and U+2066–U+2069.",
    },
);
static CONTROL: Rule = Rule::built_in(
    "hidden/control",
    "hidden.control",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "Control characters inside words",
        why: "They are not shown, so a word that a filter or a person looks for is broken up while a model still \
              reads it.",
        remedy: "Remove the control characters.",
    },
);
static HOMOGLYPH: Rule = Rule::built_in(
    "hidden/homoglyph",
    "hidden.homoglyph",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "Words that mix letters of two scripts which look the same",
        why: "A word that looks Latin is partly made of Cyrillic or Greek letters: it slips past whoever looks for \
              the word, and may name another host or person than it seems to.",
        remedy: "Replace the look-alike letters, or do not trust names and links in this text.",
    },
);
static TAGS: Rule = Rule::built_in(
    "hidden/tags",
    "hidden.tags",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Invisible tag characters",
        why: "Tag characters (U+E0020–U+E007F) spell a text that no person sees and that a model reads. Outside of \
              emoji flags they have no honest use.",
        remedy: "Remove the characters U+E0000–U+E007F.",
    },
);
static VARIATION: Rule = Rule::built_in(
    "hidden/variation",
    "hidden.variation",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Variation selectors that carry data",
        why: "A run of variation selectors encodes bytes behind one visible character: an invisible message.",
        remedy: "Remove the characters U+FE00–U+FE0F and U+E0100–U+E01EF that do not follow a character they vary.",
    },
);
static ZERO_WIDTH: Rule = Rule::built_in(
    "hidden/zero-width",
    "hidden.zero_width",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Invisible characters inside words",
        why: "Characters without width break up words so that filters miss them, or encode a message, while a model \
              still reads the words.",
        remedy: "Remove the zero-width characters.",
    },
);

/// Suspicious characters that far apart (bytes) are told together.
const TOGETHER: usize = 96;
/// That many invisible characters in a row are a message, whatever stands around them.
const MESSAGE: usize = 8;

fn run(text: &[u8], sink: &mut Sink<'_>) {
    controls(text, sink);
    if text.is_ascii() {
        return;
    }
    let mut state = State::new(text);
    let mut base = 0_usize;
    for chunk in text.utf8_chunks() {
        islands(chunk.valid(), base, &mut state, sink);
        base = base.saturating_add(chunk.valid().len()).saturating_add(chunk.invalid().len());
        state.word_ends(base, sink);
    }
    state.finish(sink);
}

/// Reads the stretches around characters that are not ASCII, from the start of the word before to the end of the word
/// after; everything else is skipped at memory speed.
fn islands(valid: &str, base: usize, state: &mut State<'_>, sink: &mut Sink<'_>) {
    let bytes = valid.as_bytes();
    let mut from = 0_usize;
    while let Some(wide) = first_wide(bytes, from) {
        let before = bytes.get(from..wide).unwrap_or_default();
        let letters = before.iter().rev().take(64).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let start = wide.saturating_sub(letters);
        let mut last = start.checked_sub(1).and_then(|at| bytes.get(at)).map_or('\n', |byte| char::from(*byte));
        if !last.is_ascii() {
            last = ' ';
        }
        state.word_ends(base.saturating_add(start), sink);
        let mut seen_wide = false;
        let mut characters = valid.get(start..).unwrap_or_default().char_indices().peekable();
        from = bytes.len();
        while let Some((at, character)) = characters.next() {
            let here = start.saturating_add(at);
            let at = base.saturating_add(here);
            if character.is_ascii() && !character.is_ascii_alphabetic() {
                state.word_ends(at, sink);
                state.invisible_run = 0;
                state.selectors = 0;
                last = character;
                // The stretch ends at the first plain character that a plain one follows.
                if seen_wide && characters.peek().is_none_or(|(_, next)| next.is_ascii()) {
                    from = here.saturating_add(1);
                    break;
                }
                continue;
            }
            seen_wide = seen_wide || !character.is_ascii();
            let after = characters.peek().map_or('\n', |(_, next)| *next);
            state.character(character, last, after, at..at.saturating_add(character.len_utf8()), sink);
            if !is_invisible(character) {
                last = character;
            }
        }
    }
}

/// The first byte of a character that is not ASCII.
fn first_wide(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let blocks = rest.chunks(64).take_while(|block| block.is_ascii()).count().saturating_mul(64);
    let near = rest.get(blocks.min(rest.len())..)?.iter().position(|byte| *byte >= 0x80)?;
    Some(from.saturating_add(blocks).saturating_add(near))
}

/// Control characters between two letters, three times or more.
fn controls(text: &[u8], sink: &mut Sink<'_>) {
    let mut first: Option<Range<usize>> = None;
    let mut count = 0_usize;
    let is_odd = |byte: u8| matches!(byte, 0..=7 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    // Whole blocks at a time, without a way out in the middle: that runs at memory speed.
    if !text.chunks(256).any(|block| block.iter().fold(false, |odd, byte| odd | is_odd(*byte))) {
        return;
    }
    for (at, window) in text.windows(3).enumerate() {
        if let [before, control, after] = window
            && is_odd(*control)
            && before.is_ascii_alphabetic()
            && after.is_ascii_alphabetic()
        {
            let here = at.saturating_add(1);
            count = count.saturating_add(1);
            first = Some(match first.take() {
                Some(range) => range.start..here.saturating_add(1),
                None => here..here.saturating_add(1),
            });
        }
    }
    if count >= 3
        && let Some(range) = first
    {
        let end = range.end.min(range.start.saturating_add(400));
        sink.find(&CONTROL, text, range.start..end, saying(format!("{count} control characters between letters")));
    }
}

/// What of one kind stands close together.
#[derive(Debug, Default)]
struct Cluster {
    range: Option<Range<usize>>,
    count: usize,
}

struct State<'a> {
    text: &'a [u8],
    zero_width: Cluster,
    bidi: Cluster,
    tags: Cluster,
    variation: Cluster,
    /// Invisible characters in a row, of any kind.
    invisible_run: usize,
    run_start: usize,
    /// Selectors in a row.
    selectors: usize,
    /// The word being read: where it starts, its ASCII letters, its look-alikes, its other letters.
    word: Option<Word>,
    homoglyphs: Cluster,
    /// Inside an emoji flag made of tags.
    flag: bool,
}

#[derive(Debug, Default)]
struct Word {
    start: usize,
    ascii: usize,
    twins: usize,
    others: usize,
}

impl<'a> State<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            zero_width: Cluster::default(),
            bidi: Cluster::default(),
            tags: Cluster::default(),
            variation: Cluster::default(),
            invisible_run: 0,
            run_start: 0,
            selectors: 0,
            word: None,
            homoglyphs: Cluster::default(),
            flag: false,
        }
    }

    fn character(&mut self, character: char, before: char, after: char, range: Range<usize>, sink: &mut Sink<'_>) {
        if is_invisible(character) {
            if self.invisible_run == 0 {
                self.run_start = range.start;
            }
            self.invisible_run = self.invisible_run.saturating_add(1);
        } else {
            self.invisible_run = 0;
        }
        match character {
            '\u{e0000}'..='\u{e007f}' => {
                self.flag = self.flag || before == '\u{1f3f4}';
                if !self.flag || self.invisible_run > MESSAGE {
                    let start = if self.flag { self.run_start } else { range.start };
                    self.add(Kind::Tags, start..range.end, sink);
                }
            }
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                self.selectors = self.selectors.saturating_add(1);
                // Editors leave a second or third emoji selector behind; data needs more, or other selectors.
                let slip = matches!(character, '\u{fe0e}' | '\u{fe0f}') && self.selectors <= 3;
                if (self.selectors >= 2 && !slip) || before.is_ascii_alphabetic() {
                    self.add(Kind::Variation, range, sink);
                }
                return;
            }
            '\u{202d}' | '\u{202e}' => self.add(Kind::Bidi, range, sink),
            '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => {
                if !self.has_rtl_line(&range) {
                    self.add(Kind::Bidi, range, sink);
                }
            }
            _ if is_zero_width(character) => {
                if self.invisible_run >= MESSAGE {
                    self.add(Kind::ZeroWidth, self.run_start..range.end, sink);
                } else if breaks_word(character, before, after) {
                    self.add(Kind::ZeroWidth, range, sink);
                }
            }
            _ => {
                self.flag = false;
                self.letter(character, &range, sink);
            }
        }
        self.selectors = 0;
    }

    fn letter(&mut self, character: char, range: &Range<usize>, sink: &mut Sink<'_>) {
        // Punctuation and symbols end a word; what else is not ASCII is a letter, or as good as one here.
        if matches!(character, '\u{80}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff20}' | '\u{1f000}'..)
        {
            self.word_ends(range.start, sink);
            return;
        }
        let word = self.word.get_or_insert_with(|| Word { start: range.start, ..Word::default() });
        let slot = if character.is_ascii() {
            &mut word.ascii
        } else if is_foreign(character) && ascii_twin(character).is_some() {
            &mut word.twins
        } else {
            &mut word.others
        };
        *slot = slot.saturating_add(1);
    }

    fn word_ends(&mut self, end: usize, sink: &mut Sink<'_>) {
        self.flag = false;
        let Some(word) = self.word.take() else { return };
        let letters = word.ascii.saturating_add(word.twins);
        // One Greek letter before an index is a formula.
        if word.ascii > 0 && word.twins > 0 && word.others == 0 && letters >= 4 && (word.twins >= 2 || word.ascii >= 3)
        {
            self.add(Kind::Homoglyph, word.start..end, sink);
        }
    }

    fn add(&mut self, kind: Kind, range: Range<usize>, sink: &mut Sink<'_>) {
        let (text, cluster) = (self.text, self.cluster(kind));
        match &mut cluster.range {
            Some(so_far) if range.start <= so_far.end.saturating_add(TOGETHER) => {
                so_far.end = so_far.end.max(range.end);
                cluster.count = cluster.count.saturating_add(1);
            }
            _ => {
                let done = std::mem::replace(cluster, Cluster { range: Some(range), count: 1 });
                tell(kind, text, done, sink);
            }
        }
    }

    fn cluster(&mut self, kind: Kind) -> &mut Cluster {
        match kind {
            Kind::Bidi => &mut self.bidi,
            Kind::Homoglyph => &mut self.homoglyphs,
            Kind::Tags => &mut self.tags,
            Kind::Variation => &mut self.variation,
            Kind::ZeroWidth => &mut self.zero_width,
        }
    }

    fn finish(mut self, sink: &mut Sink<'_>) {
        for kind in [Kind::Bidi, Kind::Homoglyph, Kind::Tags, Kind::Variation, Kind::ZeroWidth] {
            let done = std::mem::take(self.cluster(kind));
            tell(kind, self.text, done, sink);
        }
    }

    /// Whether right-to-left letters stand in the same line, at most 200 bytes away.
    fn has_rtl_line(&self, range: &Range<usize>) -> bool {
        let from = range.start.saturating_sub(200);
        let before = self.text.get(from..range.start).unwrap_or_default();
        let before = memchr::memrchr(b'\n', before).and_then(|newline| before.get(newline..)).unwrap_or(before);
        let after = self.text.get(range.end..range.end.saturating_add(200).min(self.text.len())).unwrap_or_default();
        let after = memchr::memchr(b'\n', after).and_then(|newline| after.get(..newline)).unwrap_or(after);
        // Hebrew, Arabic, Syriac, Thaana and N'Ko begin with D6–DF in UTF-8.
        before.iter().chain(after).any(|byte| (0xd6..=0xdf).contains(byte))
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Bidi,
    Homoglyph,
    Tags,
    Variation,
    ZeroWidth,
}

fn tell(kind: Kind, text: &[u8], cluster: Cluster, sink: &mut Sink<'_>) {
    let Some(range) = cluster.range else { return };
    let count = cluster.count;
    let few = |severity| Said { severity: Some(severity), ..Said::default() };
    match kind {
        Kind::Bidi => sink.find(&BIDI, text, range, saying(format!("{count} controls that reorder text"))),
        Kind::Homoglyph => {
            sink.find(&HOMOGLYPH, text, range, saying(format!("{count} words made of letters of two scripts")));
        }
        Kind::Tags => sink.find(&TAGS, text, range, saying(format!("{count} invisible tag characters"))),
        // One selector after a letter is a slip of a font, many are a message.
        Kind::Variation if count < 2 => sink.find(&VARIATION, text, range, few(Severity::Low)),
        Kind::Variation => {
            sink.find(&VARIATION, text, range, saying(format!("{count} variation selectors that vary nothing")));
        }
        // One is what copying from a web page leaves behind.
        Kind::ZeroWidth if count < 2 => sink.find(&ZERO_WIDTH, text, range, few(Severity::Low)),
        Kind::ZeroWidth => {
            sink.find(&ZERO_WIDTH, text, range, saying(format!("{count} invisible characters inside words")));
        }
    }
}

fn is_zero_width(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}')
}

/// Everything without a shape of its own.
pub(crate) fn is_invisible(character: char) -> bool {
    is_zero_width(character)
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}')
}

/// Whether an invisible character stands in a Latin word, where nothing needs it.
fn breaks_word(character: char, before: char, after: char) -> bool {
    let plain = |near: char| near.is_ascii_graphic() || near == ' ' || is_invisible(near);
    let word = |near: char| near.is_ascii_alphanumeric();
    match character {
        // Soft hyphens are typography; marks of direction are needed beside neutral characters.
        '\u{ad}' | '\u{200e}' | '\u{200f}' => word(before) && word(after) && character != '\u{ad}',
        _ => plain(before) && plain(after) && (word(before) || word(after)),
    }
}
