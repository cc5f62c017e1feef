//! The scans that releases take, all audiences together: the same outcome is scanned once, and cleaning costs no more
//! than so many bytes read again.

use sha2::{Digest, Sha256};

use crate::{
    reader::count,
    scan::{Input, Kind, Report, Scanner},
};

/// Bytes that are scanned again for all releases of one input. A worker has five seconds; a scan reads some ten megabytes
/// in one, and what comes first is the scan itself.
const BYTES: u64 = 24 * 1024 * 1024;
/// Reports that are kept: an outcome for each audience, and a few of parts.
const KEPT: usize = 8;

/// What was scanned for releases of one input so far.
#[derive(Debug)]
pub(crate) struct Looks {
    known: Vec<([u8; 32], Report)>,
    left: u64,
}

impl Looks {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { known: Vec::new(), left: BYTES }
    }

    /// Scans an input, or remembers the scan of the same one. `None` when that would cost too much.
    pub(crate) fn look(&mut self, scanner: &Scanner, input: &Input) -> Option<Report> {
        let mark = mark(input);
        let known = mark.and_then(|mark| self.known.iter().find(|(known, _)| *known == mark));
        if let Some((_, report)) = known {
            return Some(report.clone());
        }
        let attached = input.attachments.iter().map(|attachment| count(attachment.bytes.len()));
        let bytes = attached.fold(count(input.bytes.len()), u64::saturating_add);
        self.left = self.left.checked_sub(bytes)?;
        let report = scanner.scan(input.clone());
        if let Some(mark) = mark {
            if self.known.len() >= KEPT {
                self.known.remove(0);
            }
            self.known.push((mark, report.clone()));
        }
        Some(report)
    }
}

/// A digest over everything a scan depends on; `None` for a bundle that is no bytes.
fn mark(input: &Input) -> Option<[u8; 32]> {
    if matches!(input.kind, Kind::Bundle(_)) {
        return None;
    }
    let mut digest = Sha256::new();
    let mut part = |bytes: &[u8]| {
        digest.update(count(bytes.len()).to_be_bytes());
        digest.update(bytes);
    };
    part(input.kind.name().as_bytes());
    for word in [&input.name, &input.declared] {
        part(word.as_deref().unwrap_or("\0").as_bytes());
    }
    part(&input.bytes);
    for attachment in &input.attachments {
        part(attachment.reference.as_bytes());
        part(&attachment.bytes);
    }
    input.watch.iter().for_each(|word| part(word.as_bytes()));
    Some(digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{limits::Limits, text::RuleSet};

    #[test]
    fn the_same_is_scanned_once_and_not_more_than_there_is_room_for() {
        let scanner = Scanner::new(RuleSet::built_in(scanner_rules::FILES).unwrap(), Limits::default());
        let mut looks = Looks { left: 10, ..Looks::new() };
        for _ in 0..3 {
            assert!(looks.look(&scanner, &Input::text("0123456789")).is_some());
        }
        assert_eq!(looks.left, 0);
        assert!(looks.look(&scanner, &Input::text("x")).is_none());
        let mut other = Input::text("0123456789");
        other.watch.push("012".to_owned());
        assert!(looks.look(&scanner, &other).is_none(), "another watch list is another scan");
        // The oldest is forgotten first.
        let mut looks = Looks { left: 20, ..Looks::new() };
        let texts = || (b'a'..).take(KEPT + 1).map(|letter| Input::text(char::from(letter).to_string()));
        texts().for_each(|input| assert!(looks.look(&scanner, &input).is_some()));
        let left = looks.left;
        assert!(texts().skip(1).all(|input| looks.look(&scanner, &input).is_some()) && looks.left == left);
        assert!(texts().next().is_some_and(|input| looks.look(&scanner, &input).is_some()) && looks.left == left - 1);
    }
}
