//! The header: 512 bytes (MS-CFB 2.2).

use super::{CUTOFF, Faults, MINI_SHIFT, SIGNATURE, rules};
use crate::{
    finding::Stop,
    format::Out,
    reader::{Reader, Short},
};

/// Entries of the table of tables that stand in the header.
pub(super) const LISTED: usize = 109;

#[derive(Debug)]
pub(super) struct Header {
    /// log2 of the bytes of a sector.
    pub(super) shift: u32,
    pub(super) is_version_4: bool,
    pub(super) first_directory: u32,
    pub(super) cutoff: u64,
    pub(super) first_mini_table: u32,
    /// Where the table of tables goes on.
    pub(super) first_list: u32,
    /// Sectors that the table of tables goes on in, as announced.
    pub(super) lists: u32,
    /// Sectors of all tables, as announced: nothing is sized by them.
    pub(super) counts: [u32; 3],
    /// Sectors of the table of chains: the first ones.
    pub(super) tables: Vec<u32>,
}

impl Header {
    /// Reads what all readers need and says what no writer writes.
    pub(super) fn read(bytes: &[u8], faults: &mut Faults<'_>, out: &mut Out<'_>) -> Result<Self, Stop> {
        let short = |short: Short| faults.stop("the file ends in its header", usize::try_from(short.at).unwrap_or(0));
        let mut reader = Reader::new(bytes);
        if reader.take(8).map_err(short)? != SIGNATURE {
            return Err(faults.stop("this is no compound file", 0));
        }
        reader.seek(24).map_err(short)?;
        let [_, version, order, shift, mini_shift] = [(); 5].map(|()| reader.u16_le());
        let (version, order) = (version.map_err(short)?, order.map_err(short)?);
        let (shift, mini_shift) = (shift.map_err(short)?, mini_shift.map_err(short)?);
        reader.seek(44).map_err(short)?;
        let chains = reader.u32_le().map_err(short)?;
        let first_directory = reader.u32_le().map_err(short)?;
        reader.seek(56).map_err(short)?;
        let cutoff = reader.u32_le().map_err(short)?;
        let first_mini_table = reader.u32_le().map_err(short)?;
        let small = reader.u32_le().map_err(short)?;
        let first_list = reader.u32_le().map_err(short)?;
        let lists = reader.u32_le().map_err(short)?;
        let mut tables = Vec::with_capacity(LISTED);
        while tables.len() < LISTED
            && let Ok(sector) = reader.u32_le()
        {
            tables.push(sector);
        }
        // Programs know two sizes; a file of a third one is opened by nobody who is careful.
        let shift = match shift {
            9 | 12 => u32::from(shift),
            _ => {
                faults.say(&rules::STRUCTURE, 30, "the size of a sector is none that exists", out);
                return Err(faults.stop("the size of a sector is none that exists", 30));
            }
        };
        let is_version_4 = version >= 4;
        if !matches!((version, shift), (3, 9) | (4, 12)) {
            faults.say(&rules::STRUCTURE, 26, "the version and the size of a sector do not belong together", out);
        }
        if order != 0xfffe {
            faults.say(&rules::STRUCTURE, 28, "the mark of the byte order is wrong", out);
        }
        if u32::from(mini_shift) != MINI_SHIFT {
            faults.say(&rules::STRUCTURE, 32, "the size of a small sector is none that exists", out);
        }
        if u64::from(cutoff) != CUTOFF {
            faults.say(&rules::STRUCTURE, 56, "the size below which streams are small is none that exists", out);
        }
        Ok(Self {
            shift,
            is_version_4,
            first_directory,
            cutoff: u64::from(cutoff),
            first_mini_table,
            first_list,
            lists,
            counts: [chains, small, lists],
            tables,
        })
    }
}
