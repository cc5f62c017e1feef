//! Chains of sectors: the table of the file, and the small one inside it.

use std::ops::Range;

use bytes::Bytes;

use super::{Faults, header::Header, rules};
use crate::{
    finding::{Rule, Stop},
    format::Out,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// Numbers from here on are no sectors (MS-CFB 2.1).
const LARGEST: u32 = 0xffff_fffa;
const END_OF_CHAIN: u32 = 0xffff_fffe;
const FREE: u32 = 0xffff_ffff;

/// Owner of the sectors that hold tables.
const TABLES: u32 = 1;
/// Owner of the directory.
pub(super) const DIRECTORY: u32 = 2;
/// Owner of the table of small sectors.
pub(super) const MINI_TABLE: u32 = 3;
/// The first owner that is an entry.
pub(super) const FIRST_ENTRY: u32 = 4;

/// How a chain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Where it should, or where enough was there.
    Whole,
    /// At a sector that the same chain had before.
    Loop,
    /// At a sector of another chain.
    Shared,
    /// Before enough was there.
    Early,
    /// At a sector that the file does not have.
    Outside,
    /// At a sector that the table calls free, or a table.
    Wild,
}

impl End {
    /// What is said of it.
    pub(super) fn fault(self) -> Option<(&'static Rule, &'static str)> {
        Some(match self {
            Self::Whole => return None,
            Self::Loop => (&rules::LOOP, "a chain of sectors comes back to itself"),
            Self::Shared => (&rules::OVERLAP, "two chains of sectors share a sector"),
            Self::Early => (&rules::TRUNCATED, "a chain of sectors is shorter than the stream it holds"),
            Self::Outside => (&rules::TRUNCATED, "a chain of sectors leaves the file"),
            Self::Wild => (&rules::STRUCTURE, "a chain of sectors leads to one that is free"),
        })
    }
}

/// A chain that was followed.
#[derive(Debug)]
pub(super) struct Chain {
    /// Its sectors, neighbours joined, as ranges of bytes of what the table is about.
    pub(super) runs: Vec<Range<usize>>,
    pub(super) end: End,
    /// Where the last link stands, for the report.
    pub(super) at: usize,
}

/// Where the link of a sector stands.
#[derive(Debug)]
enum Links {
    /// In these sectors of the file, one after the other.
    Sectors(Vec<u32>),
    /// In these bytes.
    Bytes(Bytes),
}

/// A table: for each sector the one that follows it, and who owns it.
#[derive(Debug)]
pub(super) struct Table {
    file: Bytes,
    links: Links,
    /// log2 of the bytes of a sector.
    shift: u32,
    /// Bytes before the first sector.
    before: usize,
    /// Bytes that all sectors together have.
    length: usize,
    /// Who owns each sector; zero is nobody.
    owners: Vec<u32>,
}

impl Table {
    /// The table of the file. Its own sectors are listed in the header and in a chain of lists. No more of them are taken
    /// than the sectors of the file need, so that a list which names one table again and again costs nothing.
    pub(super) fn of_file(
        file: &Bytes,
        header: &Header,
        faults: &mut Faults<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let sector = 1_usize.checked_shl(header.shift).unwrap_or(usize::MAX);
        let length = file.len().saturating_sub(sector);
        let sectors = length.div_ceil(sector);
        budget.spend(Resource::Steps, count(sectors))?;
        let mut this = Self {
            file: file.clone(),
            links: Links::Sectors(Vec::new()),
            shift: header.shift,
            before: sector,
            length,
            owners: vec![0; sectors],
        };
        let per_sector = sector / 4;
        let needed = sectors.div_ceil(per_sector.max(1));
        let mut tables = Vec::new();
        let mut is_over = false;
        for table in header.tables.iter().copied() {
            if tables.len() < needed && !is_over {
                is_over = !this.add_table(table, &mut tables, faults, out);
            }
        }
        let mut list = if header.lists > 0 || tables.len() < needed { header.first_list } else { END_OF_CHAIN };
        while list < LARGEST {
            let Some(range) = this.range(list) else {
                faults.say(&rules::TRUNCATED, 68, "the list of tables leaves the file", out);
                break;
            };
            if !this.claim(list, TABLES) {
                faults.say(&rules::LOOP, range.start, "the list of tables comes back to itself", out);
                break;
            }
            budget.spend(Resource::Steps, count(per_sector))?;
            let mut reader = Reader::new(file.get(range).unwrap_or_default());
            for _ in 1..per_sector {
                if let Ok(table) = reader.u32_le()
                    && tables.len() < needed
                    && !is_over
                {
                    is_over = !this.add_table(table, &mut tables, faults, out);
                }
            }
            let Ok(next) = reader.u32_le() else { break };
            list = next;
        }
        let most = count(sectors);
        if header.counts.iter().any(|announced| u64::from(*announced) > most) {
            faults.say(&rules::STRUCTURE, 44, "more tables are announced than the file has room for", out);
        }
        this.links = Links::Sectors(tables);
        Ok(this)
    }

    /// Whether the list goes on behind that entry.
    fn add_table(&mut self, table: u32, tables: &mut Vec<u32>, faults: &mut Faults<'_>, out: &mut Out<'_>) -> bool {
        if table == FREE || table == END_OF_CHAIN {
            return false;
        }
        let range = self.range(table);
        if range.is_none_or(|range| range.len() < 1_usize.checked_shl(self.shift).unwrap_or(0)) {
            faults.say(&rules::TRUNCATED, 76, "a table of sectors lies outside of the file", out);
        }
        if !self.claim(table, TABLES) && self.range(table).is_some() {
            faults.say(&rules::OVERLAP, 76, "one table of sectors is listed twice", out);
            return false;
        }
        tables.push(table);
        true
    }

    /// The table of small sectors, which lie one after the other in `length` bytes.
    pub(super) fn of_mini(links: Bytes, length: usize) -> Self {
        let sectors = length.div_ceil(1 << super::MINI_SHIFT).min(links.len() / 4);
        Self {
            file: Bytes::new(),
            links: Links::Bytes(links),
            shift: super::MINI_SHIFT,
            before: 0,
            length,
            owners: vec![0; sectors],
        }
    }

    /// The bytes of a sector; the last one may be cut.
    fn range(&self, sector: u32) -> Option<Range<usize>> {
        let start = usize::try_from(u64::from(sector).checked_shl(self.shift)?).ok()?;
        let end = start.saturating_add(1_usize.checked_shl(self.shift)?).min(self.length);
        (start < end).then(|| self.before.saturating_add(start)..self.before.saturating_add(end))
    }

    /// Takes a sector that nobody has.
    fn claim(&mut self, sector: u32, owner: u32) -> bool {
        match usize::try_from(sector).ok().and_then(|at| self.owners.get_mut(at)) {
            Some(slot) if *slot == 0 => {
                *slot = owner;
                true
            }
            _ => false,
        }
    }

    /// Where the link of a sector stands, and what it says.
    fn link(&self, sector: u32) -> Option<(usize, u32)> {
        let sector = usize::try_from(sector).ok()?;
        let (bytes, at): (&[u8], usize) = match &self.links {
            Links::Bytes(bytes) => (bytes, sector.checked_mul(4)?),
            Links::Sectors(tables) => {
                let per_sector = 1_usize.checked_shl(self.shift.checked_sub(2)?)?;
                let table = *tables.get(sector.checked_div(per_sector)?)?;
                let within = sector.checked_rem(per_sector)?.checked_mul(4)?;
                (&self.file, self.range(table)?.start.checked_add(within)?)
            }
        };
        let link = bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)?;
        Some((at, link))
    }

    /// Follows a chain until it has `wanted` bytes, or to its end where none are told.
    pub(super) fn follow(
        &mut self,
        first: u32,
        wanted: Option<u64>,
        owner: u32,
        budget: &mut Budget,
    ) -> Result<Chain, Stop> {
        let mut chain = Chain { runs: Vec::new(), end: End::Whole, at: 0 };
        let mut have = 0_u64;
        let mut sector = first;
        while wanted.is_none_or(|wanted| have < wanted) {
            if sector >= LARGEST {
                chain.end = match (sector, wanted) {
                    (END_OF_CHAIN, None) => End::Whole,
                    (END_OF_CHAIN, Some(_)) => End::Early,
                    _ => End::Wild,
                };
                break;
            }
            let Some(mut range) = self.range(sector) else {
                chain.end = End::Outside;
                break;
            };
            budget.spend(Resource::Steps, 1)?;
            if !self.claim(sector, owner) {
                let before = usize::try_from(sector).ok().and_then(|at| self.owners.get(at));
                chain.end = match before {
                    Some(before) if *before == owner => End::Loop,
                    Some(_) => End::Shared,
                    None => End::Outside,
                };
                break;
            }
            if let Some(wanted) = wanted {
                let more = usize::try_from(wanted.saturating_sub(have)).unwrap_or(usize::MAX);
                range.end = range.end.min(range.start.saturating_add(more));
            }
            have = have.saturating_add(count(range.len()));
            match chain.runs.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => chain.runs.push(range),
            }
            let Some((at, next)) = self.link(sector) else {
                if wanted.is_none_or(|wanted| have < wanted) {
                    chain.end = End::Outside;
                }
                break;
            };
            (chain.at, sector) = (at, next);
        }
        Ok(chain)
    }

    /// Where the last sector ends that has an owner, or that the table does not call free.
    pub(super) fn end_of_used(&self) -> usize {
        let is_used = |at: &usize| {
            self.owners.get(*at).is_some_and(|owner| *owner != 0)
                || u32::try_from(*at).ok().and_then(|sector| self.link(sector)).is_some_and(|(_, link)| link != FREE)
        };
        let last = (0..self.owners.len()).rev().find(is_used);
        let range = last.and_then(|last| self.range(u32::try_from(last).ok()?));
        range.map_or(self.before, |range| range.end)
    }
}
