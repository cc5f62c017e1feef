//! Names made safe: such that every system takes them for the same path, and each is there once.

use std::{borrow::Cow, collections::BTreeMap};

use super::{DEEPEST, LONGEST_PART_BYTES, disguised, faults, folded, is_device, parts, turns_or_hides};
use crate::{
    format::cleaning::{Cleaning, Uncleanable},
    limits::{Budget, Resource},
    reader::count,
};

/// What a part that is too long is cut to, and the longest ending that is kept then: short of the longest part, so that
/// a number still fits.
const CUT_PART_BYTES: usize = 180;
const CUT_ENDING_BYTES: usize = 16;
/// Longer paths keep their last part alone.
const LONGEST_SAFE_BYTES: usize = 2048;
/// A name is read some ten times over, and looked up.
const STEPS_PER_BYTE: u64 = 10;
const STEPS_PER_NAME: u64 = 100;
/// Stands for a name of which nothing is left.
const UNNAMED: &str = "unnamed";

/// The names that one archive has so far.
#[derive(Debug, Default)]
pub(in crate::format) struct SafeNames {
    /// Each as the least discerning file system sees it, with the last number given to its like.
    taken: BTreeMap<String, u64>,
}

impl SafeNames {
    /// The safe name of a file. `None` where a program goes under a name made to look like a document's: it must go.
    pub(in crate::format) fn file(
        &mut self,
        name: &str,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Option<String>, Uncleanable> {
        pay(name, budget)?;
        if disguised(name).is_some() {
            cleaning.did("removed a program under a document's name");
            return Ok(None);
        }
        let safe = self.once(safe(name, cleaning, budget)?, budget)?;
        if safe != name {
            cleaning.did("renamed a file inside");
        }
        Ok(Some(safe))
    }

    /// The safe name of a folder, with a slash at its end. `None` where it is there already.
    pub(in crate::format) fn folder(
        &mut self,
        name: &str,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Option<String>, Uncleanable> {
        pay(name, budget)?;
        // The root of the archive needs no entry.
        if parts(name).all(|part| matches!(part, "" | "." | "..")) {
            return Ok(None);
        }
        let safe = safe(name, cleaning, budget)?;
        let is_new = self.taken.insert(folded(&safe), 1).is_none();
        Ok(is_new.then(|| format!("{safe}/")))
    }

    /// The name, with a number where it is taken: `chart (2).png`.
    fn once(&mut self, name: String, budget: &mut Budget) -> Result<String, Uncleanable> {
        let key = folded(&name);
        let Some(mut number) = self.taken.get(&key).copied() else {
            self.taken.insert(key, 1);
            return Ok(name);
        };
        let (folder, last) = name.rsplit_once('/').map_or(("", &*name), |(folder, last)| (folder, last));
        let slash = if folder.is_empty() { "" } else { "/" };
        let last = if last.len() > CUT_PART_BYTES { cut(last) } else { last.to_owned() };
        let (stem, dot, ending) = ending_of(&last);
        loop {
            pay(&name, budget)?;
            number = number.saturating_add(1);
            let numbered = format!("{folder}{slash}{stem} ({number}){dot}{ending}");
            let numbered_key = folded(&numbered);
            if !self.taken.contains_key(&numbered_key) {
                self.taken.insert(key, number);
                self.taken.insert(numbered_key, 1);
                return Ok(numbered);
            }
        }
    }
}

fn pay(name: &str, budget: &mut Budget) -> Result<(), Uncleanable> {
    let steps = count(name.len()).saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS_PER_NAME);
    Ok(budget.spend(Resource::Steps, steps)?)
}

/// The name as a path below the folder it is unpacked in. Never empty, without a slash at either end.
fn safe(name: &str, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<String, Uncleanable> {
    let washed = cleaning.text(name.as_bytes(), budget)?;
    let washed = String::from_utf8_lossy(&washed);
    let all: Vec<String> = parts(&washed).map(part).filter(|part| !part.is_empty()).collect();
    let last = all.get(all.len().saturating_sub(DEEPEST)..).unwrap_or_default();
    let mut safe = last.join("/");
    if safe.len() > LONGEST_SAFE_BYTES {
        safe = last.last().cloned().unwrap_or_default();
    }
    if safe.starts_with('~') {
        safe.replace_range(..1, "_");
    }
    if !faults(&safe).is_empty() {
        // Letters that some program takes for dots and slashes.
        safe = safe.replace(|letter: char| !is_plain(letter), "_");
    }
    Ok(if faults(&safe).is_empty() { safe } else { UNNAMED.to_owned() })
}

/// One part of a path as every system writes it; empty where it means nothing.
fn part(part: &str) -> String {
    let kept = part.chars().filter(|letter| !letter.is_control() && !turns_or_hides(*letter));
    // What Windows takes for a stream, a wildcard or a pipe, and a web page for markup.
    let kept: String = kept
        .map(|letter| if matches!(letter, '<' | '>' | ':' | '"' | '|' | '?' | '*') { '_' } else { letter })
        .collect();
    let kept = kept.trim_start().trim_end_matches(|letter: char| letter == '.' || letter.is_whitespace());
    let kept = if kept.len() > LONGEST_PART_BYTES { Cow::Owned(cut(kept)) } else { Cow::Borrowed(kept) };
    if is_device(kept.as_bytes()) { format!("_{kept}") } else { kept.into_owned() }
}

/// A part cut short, with its ending.
fn cut(part: &str) -> String {
    let (stem, dot, ending) = ending_of(part);
    let (stem, dot, ending) = if ending.len() > CUT_ENDING_BYTES { (part, "", "") } else { (stem, dot, ending) };
    let stem = stem.get(..stem.floor_char_boundary(CUT_PART_BYTES)).unwrap_or(stem);
    format!("{}{dot}{ending}", stem.trim_end_matches(|letter: char| letter == '.' || letter.is_whitespace()))
}

/// What stands before the last dot, the dot, and what stands behind it.
fn ending_of(part: &str) -> (&str, &'static str, &str) {
    part.rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map_or((part, "", ""), |(stem, ending)| (stem, ".", ending))
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{format::cleaning::testing::Plain, limits::Limits};

    /// The names of files, one after the other in one archive; those that must go are `None`.
    fn all(names: &[&str]) -> Vec<Option<String>> {
        let (mut washer, mut taken) = (Plain, SafeNames::default());
        let mut cleaning = Cleaning::new(&mut washer, &[]);
        let mut budget = Budget::new(Limits::default());
        names.iter().map(|name| taken.file(name, &mut cleaning, &mut budget).unwrap()).collect()
    }

    #[track_caller]
    fn becomes(names: &[&str], expected: &[&str]) {
        let safe: Vec<String> = all(names).into_iter().flatten().collect();
        assert_eq!(safe, expected);
    }

    #[test]
    fn honest_names_stay() {
        let honest =
            ["report.csv", "a/b c/größe (1).txt", ".gitignore", "日本語/表.xlsx", "a.b.c", "x-1_2+3=4,5;6&7'8"];
        becomes(&honest, &honest);
    }

    #[test]
    fn names_that_lead_elsewhere() {
        for (name, expected) in [
            ("../../etc/passwd", "etc/passwd"),
            ("..\\..\\windows\\win.ini", "windows/win.ini"),
            ("/etc/passwd", "etc/passwd"),
            ("C:\\a", "C_/a"),
            ("//server/share/a", "server/share/a"),
            ("~/.ssh/config", "_/.ssh/config"),
            ("a/. ./b", "a/b"),
            ("%2e%2e/a", "_2e_2e/a"),
            ("\u{ff0e}\u{ff0e}/a", "__/a"),
            ("..", UNNAMED),
            ("", UNNAMED),
            ("/", UNNAMED),
        ] {
            becomes(&[name], &[expected]);
        }
    }

    #[test]
    fn names_that_another_system_takes_for_something_else() {
        for (name, expected) in [
            ("nul", "_nul"),
            ("a/COM1.txt", "a/_COM1.txt"),
            ("a.txt:stream", "a.txt_stream"),
            ("a. . ", "a"),
            ("a\0b\r\n.txt", "ab.txt"),
            ("gpj\u{202e}txt.a", "gpjtxt.a"),
            ("<b>*?.txt", "_b___.txt"),
            ("SECRET.txt", "[secret].txt"),
        ] {
            becomes(&[name], &[expected]);
        }
    }

    #[test]
    fn programs_under_the_name_of_a_document_go() {
        assert_eq!(
            all(&["invoice.pdf.exe", "invoice\u{202e}fdp.exe", "setup.exe"]),
            [None, None, Some("setup.exe".into())]
        );
    }

    #[test]
    fn names_that_are_one_to_some_system_get_a_number() {
        becomes(
            &["a/x.txt", "a/X.TXT", "a/x.txt", "a/x (2).txt", "./a/x.txt", "noending", "noending", ".rc", ".rc"],
            &[
                "a/x.txt",
                "a/X (2).TXT",
                "a/x (3).txt",
                "a/x (2) (2).txt",
                "a/x (4).txt",
                "noending",
                "noending (2)",
                ".rc",
                ".rc (2)",
            ],
        );
        becomes(&["caf\u{e9}", "cafe\u{301}"], &["caf\u{e9}", "cafe\u{301} (2)"]);
    }

    #[test]
    fn folders_are_there_once_and_the_root_is_not() {
        let (mut washer, mut taken) = (Plain, SafeNames::default());
        let mut cleaning = Cleaning::new(&mut washer, &[]);
        let mut budget = Budget::new(Limits::default());
        let mut folder = |name| taken.folder(name, &mut cleaning, &mut budget).unwrap();
        assert_eq!(folder("a/b/").as_deref(), Some("a/b/"));
        assert_eq!(folder("A\\B").as_deref(), None);
        assert_eq!(folder("./").as_deref(), None);
        assert_eq!(folder("../x/").as_deref(), Some("x/"));
    }

    #[test]
    fn lengths_at_the_limit_and_past_it() {
        let name = |length: usize| format!("{}.txt", "a".repeat(length - 4));
        becomes(&[&name(255)], &[&name(255)]);
        becomes(&[&name(256)], &[&name(184)]);
        becomes(&[&name(255), &name(255)], &[&name(255), &format!("{} (2).txt", "a".repeat(180))]);
        let deep = |parts: usize| vec!["d"; parts].join("/");
        becomes(&[&deep(64)], &[&deep(64)]);
        becomes(&[&deep(65)], &[&deep(64)]);
        let folders = format!("{}/{}", vec!["d".repeat(255); 7].join("/"), "e".repeat(200));
        let wide = |last: usize| format!("{folders}/{}", "f".repeat(last));
        assert_eq!(wide(55).len(), LONGEST_SAFE_BYTES);
        becomes(&[&wide(55)], &[&wide(55)]);
        becomes(&[&wide(56)], &[&"f".repeat(56)]);
    }

    proptest! {
        #[test]
        fn what_comes_out_has_no_fault_and_stays(names in proptest::collection::vec("[a-bA-B.:/\\\\ ~%2e\u{202e}\u{ff0e}\0é]{0,40}(con|nul|\\.pdf|)(\\.exe|\\.txt|)", 0..20)) {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            let once: Vec<String> = all(&names).into_iter().flatten().collect();
            for name in &once {
                prop_assert!(faults(name).is_empty(), "{name:?}");
            }
            let folded: std::collections::BTreeSet<_> = once.iter().map(|name| folded(name)).collect();
            prop_assert_eq!(folded.len(), once.len());
            let again: Vec<String> = all(&once.iter().map(|name| &**name).collect::<Vec<_>>()).into_iter().flatten().collect();
            prop_assert_eq!(again, once);
        }
    }
}
