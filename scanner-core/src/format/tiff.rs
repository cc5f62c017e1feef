//! TIFF and `BigTIFF`: the chain of directories, where each page's pixels stand, its size against them. Texts and
//! coordinates are those of camera data: [`exif`].

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
};

use crate::{
    finding::{Confidence, Place, Rule, RuleText, Severity, Stop},
    format::{
        Format, Out, Subject, exif,
        ifd::{Data, Entry},
        picture::{self, Walk, say},
    },
    limits::{Budget, Resource},
    reader::count,
    sniff::{self, sniff},
};

mod clean;
mod page;

use page::Page;

static LOOP: Rule = Rule::built_in(
    "tiff/loop",
    "bomb.recursion",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The list of pages leads back to a page that was there before",
        why: "A reader that follows the list without counting never comes to its end.",
        remedy: "Do not open it. Write the picture again with an ordinary program.",
    },
);

pub(crate) const FORMAT: Format = Format {
    name: "tiff",
    labels: &["tiff"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &LOOP,
        &picture::STRUCTURE,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &picture::RATIO,
        &picture::FRAMES,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::NOTE,
        &exif::GPS,
        &exif::BROKEN,
    ],
};

/// Steps of one entry.
const STEPS_PER_ENTRY: u64 = 10;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let Some((data, first)) = Data::open(subject.bytes) else {
        out.unsupported("a camera's own kind of TIFF");
        return Ok(());
    };
    let mut file = File { walk: Walk::over(subject.bytes), data, pages: 0, is_broken: false, end: 8 };
    let walked = first.map_err(Stop::from).and_then(|first| file.walk(first, out, budget));
    let whole = 0..subject.bytes.len();
    if let Err(stop) = exif::read(subject.bytes, whole, &Place::default(), out, budget) {
        file.walk.account.not_read(stop);
    }
    file.finish(&walked, out, budget);
    walked
}

/// A directory to be looked at.
struct Link {
    offset: u64,
    /// Where the offset stands.
    named: Range<usize>,
    chain: u32,
}

/// Chains above chains are looked through so far: no file nests deeper.
const DEEPEST: usize = 16;

/// Whether a directory met in one chain stands on the way to another.
fn is_above(met: u32, chain: u32, above: &[Option<u32>]) -> bool {
    let up = |chain: &u32| usize::try_from(*chain).ok().and_then(|at| above.get(at).copied().flatten());
    std::iter::successors(Some(chain), up).take(DEEPEST).any(|chain| chain == met)
}

/// One file being walked.
struct File<'a> {
    walk: Walk<'a>,
    data: Data<'a>,
    pages: u64,
    /// Values lie outside the file: what no directory names may be theirs.
    is_broken: bool,
    /// One behind the last byte that a directory names.
    end: usize,
}

impl<'a> File<'a> {
    /// Directories in a queue, each offset once.
    fn walk(&mut self, first: u64, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        if first == 0 {
            say(out, &picture::STRUCTURE, 0..8, "there is no picture in it");
            return Ok(());
        }
        let mut queue = VecDeque::from([Link { offset: first, named: 4..8, chain: 0 }]);
        // The chain in which each directory was met, and the chain above each chain.
        let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
        let mut above: Vec<Option<u32>> = vec![None];
        while let Some(Link { offset, named, chain }) = queue.pop_front() {
            if let Some(met) = seen.get(&offset) {
                // A directory may be named as one below and stand in a chain of those: no loop.
                if is_above(*met, chain, &above) {
                    say(out, &LOOP, named, format!("the directory at byte {offset} was there before"));
                }
                continue;
            }
            seen.insert(offset, chain);
            let Ok(mut directory) = self.data.directory(offset) else {
                say(out, &picture::TRUNCATED, named, format!("there is no directory at byte {offset}"));
                continue;
            };
            let declared = directory.left;
            let at = usize::try_from(offset).unwrap_or(usize::MAX);
            let mut page = Page::at(at..directory.position());
            let mut subs = None;
            let mut outside: Option<(Range<usize>, u64)> = None;
            while let Some(entry) = directory.entry() {
                budget.spend(Resource::Objects, 1)?;
                budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
                let Ok(entry) = entry else {
                    let what = format!("the file ends in a directory of {declared} entries");
                    say(out, &picture::TRUNCATED, at..self.walk.bytes.len(), what);
                    self.judge(page, out, budget)?;
                    return Ok(());
                };
                if entry.value.is_none() {
                    let here = entry.entry_at..directory.position();
                    let (_, many) = outside.get_or_insert((here, 0));
                    *many = many.saturating_add(1);
                }
                self.end = self.end.max(entry.range().end).max(directory.position());
                if entry.tag == 0x014a {
                    subs = Some(entry);
                } else {
                    page.take(entry);
                }
            }
            if let Some((here, many)) = outside {
                self.is_broken = true;
                let message = format!("{many} values of a directory lie outside the file");
                say(out, &picture::STRUCTURE, here, message);
            }
            let is_empty = declared == 0;
            self.follow(subs, chain, &mut above, &mut queue, budget)?;
            self.judge(page, out, budget)?;
            if is_empty {
                say(out, &picture::STRUCTURE, at..directory.position(), "a directory is empty");
            }
            let link = directory.position();
            match directory.next() {
                Ok(0) => {}
                // To its end before others: a loop comes back to its own chain.
                Ok(next) => queue.push_front(Link { offset: next, named: link..directory.position(), chain }),
                // Many writers leave the last link out.
                Err(_) => {}
            }
            self.end = self.end.max(directory.position());
        }
        Ok(())
    }

    /// Directories below a directory: each begins a chain.
    fn follow(
        &self,
        subs: Option<Entry<'a>>,
        chain: u32,
        above: &mut Vec<Option<u32>>,
        queue: &mut VecDeque<Link>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let Some(subs) = subs else { return Ok(()) };
        let named = subs.range();
        for offset in self.data.numbers(&subs).filter(|offset| *offset != 0) {
            budget.spend(Resource::Objects, 1)?;
            let next = u32::try_from(above.len()).unwrap_or(u32::MAX);
            above.push(Some(chain));
            queue.push_back(Link { offset, named: named.clone(), chain: next });
        }
        Ok(())
    }

    /// One page against the file.
    fn judge(&mut self, page: Page<'a>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let end = page.judge(self.data, self.pages == 0, &mut self.walk, out, budget)?;
        self.end = self.end.max(end);
        self.pages = self.pages.saturating_add(1);
        Ok(())
    }

    /// What no directory names at the end of the file. Camera makers keep notes there that only they can read: what is
    /// known is told.
    fn finish(mut self, walked: &Result<(), Stop>, out: &mut Out<'_>, budget: &mut Budget) {
        self.walk.unread(walked, self.end, self.pages == 0, out, budget);
        let rest = self.walk.bytes.get(self.end..).unwrap_or_default();
        if walked.is_ok() && !self.is_broken && !picture::is_padding(rest) {
            let is_known = budget.spend(Resource::Steps, sniff::STEPS.saturating_add(count(rest.len()))).is_ok() && {
                let kind = sniff(rest).kind;
                picture::is_text(rest) || kind != sniff::unknown() && !kind.is_text
            };
            if is_known {
                self.walk.behind(self.end, out, budget);
            } else {
                let place = Place::default().name("part", "behind the pages");
                self.walk.runs(self.end..self.walk.bytes.len(), &place, out, budget);
            }
        }
        self.walk.finish(0..8, out);
    }
}

#[cfg(test)]
mod tests;
