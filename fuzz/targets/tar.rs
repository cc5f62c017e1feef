//! Tars with right checksums: members of every kind, long names by GNU and by pax, sparse maps, sizes that disagree. An
//! order in a member is found, or the report says that the archive is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, scan, tells};

#[derive(Arbitrary, Debug)]
struct Member<'a> {
    name: &'a str,
    prefix: &'a str,
    link: &'a str,
    kind: u8,
    mode: u16,
    bytes: &'a [u8],
    /// How the magic is spelled: ustar, GNU, none.
    magic: u8,
    /// What the header says of its size, and how a number is written.
    size: Option<u32>,
    form: u8,
    checksum: Option<u16>,
    /// Records of a pax header before it.
    pax: Vec<(Key<'a>, &'a str)>,
    long_name: Option<&'a str>,
}

#[derive(Arbitrary, Debug)]
enum Key<'a> {
    Path,
    LinkPath,
    Size,
    Sparse,
    Comment,
    Other(&'a str),
    Lie(i8),
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    members: Vec<Member<'a>>,
    planted: Option<u8>,
    ends: u8,
    after: &'a [u8],
}

struct Header<'a> {
    name: &'a [u8],
    prefix: &'a [u8],
    link: &'a [u8],
    kind: u8,
    mode: u16,
    size: u64,
    magic: u8,
    form: u8,
    checksum: Option<u16>,
}

fn put(block: &mut [u8; 512], at: usize, most: usize, bytes: &[u8]) {
    let length = bytes.len().min(most);
    block[at..at + length].copy_from_slice(&bytes[..length]);
}

impl Header<'_> {
    /// POSIX.1-1988, with the fields of ustar.
    fn write(&self, out: &mut Vec<u8>) {
        let mut block = [0; 512];
        put(&mut block, 0, 100, self.name);
        put(&mut block, 100, 8, format!("{:07o}", self.mode).as_bytes());
        put(&mut block, 108, 8, b"0000000");
        put(&mut block, 116, 8, b"0000000");
        match self.form % 4 {
            0 | 1 => put(&mut block, 124, 12, format!("{:011o}", self.size).as_bytes()),
            2 => put(&mut block, 124, 12, format!("{:>11o} ", self.size).as_bytes()),
            _ => {
                block[124] = 0x80;
                put(&mut block, 128, 8, &self.size.to_be_bytes());
            }
        }
        put(&mut block, 136, 12, b"00000000000");
        block[156] = self.kind;
        put(&mut block, 157, 100, self.link);
        put(&mut block, 257, 8, [&b"ustar\x0000"[..], b"ustar  \0", b""][usize::from(self.magic) % 3]);
        put(&mut block, 345, 155, self.prefix);
        put(&mut block, 148, 8, b"        ");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        let sum = self.checksum.map_or(sum, u32::from);
        put(&mut block, 148, 8, format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(&block);
    }
}

fn data(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
}

fn plain(name: &[u8], kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    let size = bytes.len() as u64;
    Header { name, prefix: b"", link: b"", kind, mode: 0o644, size, magic: 0, form: 0, checksum: None }.write(out);
    data(bytes, out);
}

impl Member<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        if !self.pax.is_empty() {
            let mut records = Vec::new();
            for (key, value) in self.pax.iter().take(6) {
                let (key, by) = match key {
                    Key::Path => ("path", 0),
                    Key::LinkPath => ("linkpath", 0),
                    Key::Size => ("size", 0),
                    Key::Sparse => ("GNU.sparse.realsize", 0),
                    Key::Comment => ("comment", 0),
                    Key::Other(key) => (*key, 0),
                    Key::Lie(by) => ("path", i64::from(*by)),
                };
                let body = format!(" {key}={value}\n");
                // The length counts its own digits.
                let length =
                    (1..).find(|digits| (body.len() + digits).to_string().len() == *digits).unwrap_or(1) + body.len();
                records.extend_from_slice(format!("{}{body}", length as i64 + by).as_bytes());
            }
            plain(b"pax", b'x', &records, out);
        }
        if let Some(name) = self.long_name {
            plain(b"././@LongLink", b'L', &[name.as_bytes(), b"\0"].concat(), out);
        }
        let kinds = b"000000005123467\0LKSxgVMD";
        Header {
            name: self.name.as_bytes(),
            prefix: self.prefix.as_bytes(),
            link: self.link.as_bytes(),
            kind: kinds[usize::from(self.kind) % kinds.len()],
            mode: self.mode,
            size: self.size.map_or(self.bytes.len() as u64, u64::from),
            magic: self.magic,
            form: self.form,
            checksum: self.checksum,
        }
        .write(out);
        data(self.bytes, out);
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut members = made.members;
    members.truncate(12);
    let mut has_order = false;
    if let Some(member) = made.planted.and_then(|at| members.get_mut(usize::from(at) % 12)) {
        member.bytes = ORDER.as_bytes();
        // A plain file whose own header is right; what stands around it may lie.
        (member.kind, member.size, member.checksum) = (0, None, None);
        has_order = true;
    }
    let mut bytes = Vec::new();
    members.iter().for_each(|member| member.write(&mut bytes));
    bytes.resize(bytes.len() + 512 * usize::from(made.ends % 4), 0);
    bytes.extend_from_slice(made.after);
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.tar", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report), "{members:?}");
});
