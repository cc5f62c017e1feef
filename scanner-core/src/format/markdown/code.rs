//! Where code stands in Markdown (CommonMark 4.4, 4.5 and 6.1): it is shown letter by letter and runs nothing.

use std::ops::Range;

use memchr::memchr;

/// A run of backticks is looked for that far behind its twin.
const SPAN_LONGEST: usize = 4096;

/// The ranges of fenced, indented and inline code, in order. What may be either is left out: it is no code.
pub(super) fn ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut fence: Option<(u8, usize, usize)> = None;
    // Behind a mark of a list four blanks may only continue the item.
    let (mut is_listed, mut is_after_blank, mut is_indented) = (false, true, false);
    let mut at = 0_usize;
    let mut paragraph = 0_usize;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let length = memchr(b'\n', rest).map_or(rest.len(), |length| length.saturating_add(1));
        let line = rest.get(..length).unwrap_or_default();
        let next = at.saturating_add(length);
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let words = line.get(indent..).unwrap_or_default();
        let is_blank = words.trim_ascii().is_empty();
        if let Some((mark, marks, start)) = fence {
            let closing = words.iter().take_while(|byte| **byte == mark).count();
            if closing >= marks && words.get(closing..).is_some_and(|rest| rest.trim_ascii().is_empty()) {
                ranges.push(start..at);
                fence = None;
                paragraph = next;
            }
            at = next;
            continue;
        }
        let opening = words.first().copied().filter(|mark| matches!(mark, b'`' | b'~')).map(|mark| {
            (mark, words.iter().take_while(|byte| **byte == mark).count())
        });
        // The words behind a fence of backticks may hold none.
        let opening = opening.filter(|(mark, marks)| {
            *marks >= 3 && (*mark == b'~' || words.get(*marks..).is_some_and(|info| memchr(b'`', info).is_none()))
        });
        if let Some((mark, marks)) = opening.filter(|_| indent < 4 || is_listed) {
            spans(text, paragraph..at, &mut ranges);
            fence = Some((mark, marks, next));
            (is_after_blank, is_indented) = (false, false);
            at = next;
            continue;
        }
        let is_code = !is_blank && !is_listed && (indent >= 4 || line.first() == Some(&b'\t')) && (is_after_blank || is_indented);
        if is_code {
            spans(text, paragraph..at, &mut ranges);
            ranges.push(at..next);
            paragraph = next;
        } else if is_blank {
            spans(text, paragraph..at, &mut ranges);
            paragraph = next;
        } else {
            let is_item = matches!(words, [b'-' | b'*' | b'+', b' ' | b'\t', ..])
                || words.iter().take_while(|byte| byte.is_ascii_digit()).count().checked_sub(1).is_some_and(|digits| {
                    matches!(words.get(digits.saturating_add(1)..), Some([b'.' | b')', b' ' | b'\t', ..]))
                });
            is_listed = is_item || (is_listed && (indent > 0 || line.first() == Some(&b'\t') || !is_after_blank));
        }
        is_indented = is_code || (is_blank && is_indented);
        is_after_blank = is_blank;
        at = next;
    }
    match fence {
        // An open fence goes on to the end.
        Some((_, _, start)) => ranges.push(start..text.len()),
        None => spans(text, paragraph..text.len(), &mut ranges),
    }
    ranges
}

/// Code between runs of backticks of one length, within a paragraph.
fn spans(text: &[u8], paragraph: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let bytes = text.get(paragraph.clone()).unwrap_or_default();
    // Runs first, so that each is looked at a bounded number of times.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut at = 0_usize;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'`', rest)) {
        let start = at.saturating_add(found);
        let length = bytes.get(start..).unwrap_or_default().iter().take_while(|byte| **byte == b'`').count();
        let is_escaped = start.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
        if !is_escaped {
            runs.push((start, length));
        }
        at = start.saturating_add(length);
    }
    let mut index = 0_usize;
    while let Some((start, length)) = runs.get(index).copied() {
        index = index.saturating_add(1);
        let twin = runs.iter().enumerate().skip(index).take(64).take_while(|(_, (at, _))| at.saturating_sub(start) < SPAN_LONGEST);
        let Some((twin, (end, _))) = twin.into_iter().find(|(_, (_, other))| *other == length) else { continue };
        let from = paragraph.start.saturating_add(start).saturating_add(length);
        ranges.push(from..paragraph.start.saturating_add(*end));
        index = twin.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<&str> {
        ranges(text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn each_kind() {
        assert_eq!(code("a `b` ``c`d`` e"), ["b", "c`d"]);
        assert_eq!(code("```html\n<b>\n```\n<i>"), ["<b>\n"]);
        assert_eq!(code("~~~\n<b>\n"), ["<b>\n"]);
        assert_eq!(code("a\n\n    <b>\n\n<i>"), ["    <b>\n"]);
        assert_eq!(code("- a\n\n    <b>\n"), Vec::<&str>::new());
        assert_eq!(code("a\n    <b>\n"), Vec::<&str>::new());
        assert_eq!(code("a `b\n\nc` d"), Vec::<&str>::new());
        assert_eq!(code("\\`<b>`"), Vec::<&str>::new());
    }
}
