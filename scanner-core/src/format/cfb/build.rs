//! Compound files for tests.

/// A compound file being put together: storages and streams by path, then bytes.
#[derive(Debug, Default)]
pub(crate) struct Build {
    entries: Vec<(String, Option<Vec<u8>>)>,
    class: [u8; 16],
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

impl Build {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn class(mut self, class: [u8; 16]) -> Self {
        self.class = class;
        self
    }

    /// A stream at a path; the storages on the way are made.
    pub(crate) fn stream(mut self, path: &str, bytes: &[u8]) -> Self {
        self.folders(path);
        self.entries.push((path.to_owned(), Some(bytes.to_vec())));
        self
    }

    pub(crate) fn storage(mut self, path: &str) -> Self {
        self.folders(path);
        self.entries.push((path.to_owned(), None));
        self
    }

    fn folders(&mut self, path: &str) {
        for (slash, _) in path.match_indices('/') {
            if !self.entries.iter().any(|(known, _)| *known == path[..slash]) {
                self.entries.push((path[..slash].to_owned(), None));
            }
        }
    }

    /// Directory entries of the file, the root first: position in the directory of a path.
    pub(crate) fn slot(&self, path: &str) -> usize {
        1 + self.entries.iter().position(|(known, _)| known == path).expect("it was added")
    }

    /// Version 3 with sectors of 512 bytes: header, streams, small streams, small table, directory, table.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        const SECTOR: usize = 512;
        const END: u32 = 0xffff_fffe;
        let mut sectors: Vec<u8> = Vec::new();
        let mut fat: Vec<u32> = Vec::new();
        let mut chain = |bytes: &[u8], fat: &mut Vec<u32>| -> u32 {
            if bytes.is_empty() {
                return END;
            }
            let first = fat.len();
            let needed = bytes.len().div_ceil(SECTOR);
            fat.extend((first + 1..first + needed).map(|next| next as u32));
            fat.push(END);
            sectors.extend_from_slice(bytes);
            sectors.resize(fat.len() * SECTOR, 0);
            first as u32
        };
        let (mut mini, mut mini_fat) = (Vec::new(), Vec::<u32>::new());
        let mut slots = vec![0_u8; 128 * (self.entries.len() + 1).next_multiple_of(4)];
        for slot in slots.chunks_exact_mut(128) {
            put(slot, 68, &[0xff; 12]);
        }
        let depth = |path: &str| path.matches('/').count();
        let parent = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        for (at, (path, bytes)) in self.entries.iter().enumerate() {
            let slot = &mut slots[(at + 1) * 128..][..128];
            let name = path.rsplit('/').next().unwrap();
            for (nth, unit) in name.encode_utf16().enumerate() {
                put(slot, nth * 2, &unit.to_le_bytes());
            }
            put(slot, 64, &((name.encode_utf16().count() as u16 + 1) * 2).to_le_bytes());
            slot[66] = if bytes.is_some() { 2 } else { 1 };
            slot[67] = 1;
            // Siblings as a list to the right; the first child of each storage is the first entry in it.
            let next =
                self.entries.iter().enumerate().skip(at + 1).find(|(_, (other, _))| parent(other) == parent(path));
            if let Some((next, _)) = next {
                put(slot, 72, &(next as u32 + 1).to_le_bytes());
            }
            let child = self.entries.iter().position(|(other, _)| parent(other) == *path && depth(other) > depth(path));
            if let (None, Some(child)) = (bytes, child) {
                put(slot, 76, &(child as u32 + 1).to_le_bytes());
            }
            let Some(bytes) = bytes else { continue };
            let first = if bytes.len() >= 4096 {
                chain(bytes, &mut fat)
            } else if bytes.is_empty() {
                END
            } else {
                let first = mini_fat.len();
                let needed = bytes.len().div_ceil(64);
                mini_fat.extend((first + 1..first + needed).map(|next| next as u32));
                mini_fat.push(END);
                mini.extend_from_slice(bytes);
                mini.resize(mini_fat.len() * 64, 0);
                first as u32
            };
            put(slot, 116, &first.to_le_bytes());
            put(slot, 120, &(bytes.len() as u64).to_le_bytes());
        }
        let mini_first = chain(&mini, &mut fat);
        let mini_table: Vec<u8> = mini_fat.iter().flat_map(|link| link.to_le_bytes()).collect();
        let mut mini_table_padded = mini_table.clone();
        mini_table_padded.resize(mini_table.len().next_multiple_of(SECTOR), 0xff);
        let mini_table_first = chain(&mini_table_padded, &mut fat);
        let root = &mut slots[..128];
        for (nth, unit) in "Root Entry".encode_utf16().enumerate() {
            put(root, nth * 2, &unit.to_le_bytes());
        }
        put(root, 64, &22_u16.to_le_bytes());
        root[66] = 5;
        root[67] = 1;
        put(root, 80, &self.class);
        if let Some(child) = self.entries.iter().position(|(path, _)| !path.contains('/')) {
            put(root, 76, &(child as u32 + 1).to_le_bytes());
        }
        put(root, 116, &mini_first.to_le_bytes());
        put(root, 120, &(mini.len() as u64).to_le_bytes());
        let directory_first = chain(&slots, &mut fat);
        let mut tables = 1;
        while (fat.len() + tables).div_ceil(128) > tables {
            tables += 1;
        }
        let table_first = fat.len() as u32;
        fat.extend(vec![0xffff_fffd; tables]);
        fat.resize(tables * 128, 0xffff_ffff);
        sectors.extend(fat.iter().flat_map(|link| link.to_le_bytes()));
        let mut header = vec![0_u8; SECTOR];
        put(&mut header, 0, super::SIGNATURE);
        put(&mut header, 24, &[0x3e, 0, 3, 0, 0xfe, 0xff, 9, 0, 6, 0]);
        put(&mut header, 44, &(tables as u32).to_le_bytes());
        put(&mut header, 48, &directory_first.to_le_bytes());
        put(&mut header, 56, &4096_u32.to_le_bytes());
        put(&mut header, 60, &mini_table_first.to_le_bytes());
        put(&mut header, 64, &((mini_table_padded.len() / SECTOR) as u32).to_le_bytes());
        put(&mut header, 68, &END.to_le_bytes());
        put(&mut header, 76, &[0xff; 436]);
        assert!(tables <= 109, "files for tests are small");
        for table in 0..tables {
            put(&mut header, 76 + table * 4, &(table_first + table as u32).to_le_bytes());
        }
        header.extend_from_slice(&sectors);
        header
    }
}
