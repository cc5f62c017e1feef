//! Records of PAX headers: a length, a key and a value on one line each (POSIX.1-2001).

use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

/// What they say that counts here.
#[derive(Clone, Debug, Default)]
pub(super) struct Extended {
    pub(super) path: Option<String>,
    pub(super) target: Option<String>,
    pub(super) size: Option<u64>,
    /// Name and size of a sparse file, whose header has others (GNU tar).
    pub(super) sparse_name: Option<String>,
    pub(super) real_size: Option<u64>,
}

impl Extended {
    /// Reads all records. Whether each is built as it should be; those that are count.
    pub(super) fn read(&mut self, data: &[u8], budget: &mut Budget) -> Result<bool, Exhausted> {
        let mut reader = Reader::new(data);
        while !reader.is_at_end() {
            // Some programs fill up with zeros.
            if reader.rest().iter().all(|byte| *byte == 0) {
                return Ok(true);
            }
            budget.spend(Resource::Objects, 1)?;
            let Some((key, value)) = record(&mut reader) else { return Ok(false) };
            let text = || Some(String::from_utf8_lossy(value).into_owned());
            let number = || std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            match key {
                b"path" => self.path = text(),
                b"linkpath" => self.target = text(),
                b"GNU.sparse.name" => self.sparse_name = text(),
                b"size" | b"GNU.sparse.size" | b"GNU.sparse.realsize" => {
                    let Some(number) = number() else { return Ok(false) };
                    let into = if key == b"size" { &mut self.size } else { &mut self.real_size };
                    *into = Some(number);
                }
                _ => {}
            }
            if matches!(key, b"path" | b"linkpath" | b"GNU.sparse.name") && value.contains(&0) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `LENGTH KEY=VALUE\n`, the length being that of the whole line.
fn record<'a>(reader: &mut Reader<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let start = reader.position();
    // A length has few digits: nothing further away is looked for.
    let head = reader.rest().get(..reader.left().min(20))?;
    let digits = head.split(|byte| *byte == b' ').next().filter(|digits| digits.len() < head.len())?;
    let length: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    reader.take(count(digits.len()).checked_add(1)?).ok()?;
    let used = count(reader.position().checked_sub(start)?);
    let line = reader.take(length.checked_sub(used)?).ok()?;
    let line = line.strip_suffix(b"\n")?;
    let equals = memchr::memchr(b'=', line)?;
    Some((line.get(..equals)?, line.get(equals.checked_add(1)?..)?))
}
