//! Folders of a 7z: chains of coders, each of which takes what the one before puts out.

use bytes::Bytes;
use lzma_rust2::{FilterConfig, filter::StreamFilter};

use crate::{
    bundle::{Codec, Source},
    finding::Stop,
    inflate::{self, Coding, Unpacked},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// One step of unpacking, as the header describes it.
#[derive(Clone, Debug)]
pub(super) struct Coder {
    /// Up to eight bytes, as one number.
    pub(super) method: u64,
    pub(super) inputs: u64,
    pub(super) outputs: u64,
    pub(super) props: Bytes,
}

/// A folder: its coders, and how they are tied together.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    pub(super) coders: Vec<Coder>,
    /// Pairs of an input and the output that feeds it.
    pub(super) bonds: Vec<(u64, u64)>,
    /// Inputs that are fed by packed streams.
    pub(super) packed: Vec<u64>,
    /// The first of its packed streams.
    pub(super) first_stream: usize,
    /// Unpacked size of each output.
    pub(super) sizes: Vec<u64>,
    /// Unpacked size of what comes out of the last coder.
    pub(super) size: u64,
    pub(super) crc: Option<u32>,
    /// Members in it.
    pub(super) members: u64,
}

/// Why a folder cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closed {
    Encrypted,
    Unsupported(u64),
}

/// Encryption by AES-256 with SHA-256, and the numbers of the other methods (7-Zip, `Methods.txt`).
const AES: u64 = 0x06f1_0701;
const BCJ2: u64 = 0x0303_011b;
const COPY: u64 = 0;
const LZMA: u64 = 0x03_0101;
const LZMA2: u64 = 0x21;
const DEFLATE: u64 = 0x04_0108;
const DEFLATE64: u64 = 0x04_0109;
const BZIP2: u64 = 0x04_0202;
const ZSTD: u64 = 0x04f7_1101;

/// Longest chain: a filter, packing, and encryption are three.
const MOST_CODERS: usize = 4;
/// Filters run at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 4;

/// One coder that can be followed.
enum Link {
    Copy,
    Packed(Coding),
    Codec(Codec),
    Filter(FilterConfig),
}

/// A folder whose coders each have one input and one output, in the order in which they unpack.
pub(super) struct Chain {
    links: Vec<Link>,
    size: u64,
}

impl Folder {
    /// Whether nothing comes out.
    pub(super) const fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The output that no input takes: what the folder is.
    pub(super) fn main_output(&self) -> usize {
        let taken = |output: &usize| self.bonds.iter().any(|(_, from)| *from == count(*output));
        (0..self.sizes.len()).find(|output| !taken(output)).unwrap_or(0)
    }
}

impl Chain {
    pub(super) fn of(folder: &Folder) -> Result<Self, Closed> {
        if folder.coders.iter().any(|coder| coder.method == AES) {
            return Err(Closed::Encrypted);
        }
        let first = folder.coders.first().map_or(0, |coder| coder.method);
        let is_plain = folder.coders.len() <= MOST_CODERS
            && folder.coders.iter().all(|coder| coder.inputs == 1 && coder.outputs == 1)
            && folder.packed.len() == 1;
        if !is_plain {
            let odd = folder.coders.iter().find(|coder| coder.inputs != 1).map_or(first, |coder| coder.method);
            return Err(Closed::Unsupported(if odd == 0 { BCJ2 } else { odd }));
        }
        // With one input and one output each, the coder and its streams have one number.
        let mut next = folder.packed.first().copied();
        let mut links = Vec::new();
        while let Some(number) = next {
            let coder = usize::try_from(number).ok().and_then(|number| folder.coders.get(number));
            let (Some(coder), true) = (coder, links.len() < folder.coders.len()) else {
                return Err(Closed::Unsupported(first));
            };
            let size = usize::try_from(number).ok().and_then(|number| folder.sizes.get(number)).copied();
            links.push(coder.link(size.unwrap_or(0))?);
            next = folder.bonds.iter().find(|(_, output)| *output == number).map(|(input, _)| *input);
        }
        Ok(Self { links, size: folder.size })
    }

    /// What comes out of the last coder. `used` says how much that is.
    pub(super) fn unpack(&self, packed: Bytes, budget: &mut Budget) -> Unpacked {
        let mut bytes = packed;
        let mut stop = None;
        for link in &self.links {
            let unpacked = match link {
                Link::Copy => inflate::unpack(&Source::stored(bytes), budget),
                Link::Packed(coding) => inflate::raw(&bytes, *coding, None, budget),
                Link::Codec(codec) => inflate::unpack(&Source { packed: bytes, codec: *codec }, budget),
                Link::Filter(config) => filtered(&bytes, config, budget),
            };
            bytes = unpacked.bytes;
            stop = unpacked.stop;
            if stop.is_some() {
                break;
            }
        }
        let most = usize::try_from(self.size).unwrap_or(usize::MAX).min(bytes.len());
        let used = count(most);
        Unpacked { bytes: bytes.slice(..most), used, stop }
    }
}

/// Branch addresses or deltas put back, over the whole of it.
fn filtered(bytes: &Bytes, config: &FilterConfig, budget: &mut Budget) -> Unpacked {
    let size = count(bytes.len());
    // A copy is kept beside the original for as long as the folder is looked at.
    let paid = budget
        .spend(Resource::Steps, size.div_ceil(BYTES_PER_STEP))
        .and_then(|()| budget.spend(Resource::UnpackedBytes, size));
    let failed = |stop: Stop| Unpacked { bytes: Bytes::new(), used: 0, stop: Some(stop) };
    if let Err(exhausted) = paid {
        return failed(exhausted.into());
    }
    let Ok(mut filter) = StreamFilter::new(config) else {
        return failed(Stop::malformed("a filter has wrong parameters", 0));
    };
    let mut plain = bytes.to_vec();
    filter.decode(&mut plain);
    Unpacked { bytes: plain.into(), used: size, stop: None }
}

impl Coder {
    fn link(&self, size: u64) -> Result<Link, Closed> {
        let props = &self.props;
        let wrong = Closed::Unsupported(self.method);
        let start = || {
            let mut reader = Reader::new(props);
            if props.is_empty() { Ok(0) } else { reader.u32_le().map_err(|_| wrong) }
        };
        Ok(match self.method {
            COPY => Link::Copy,
            LZMA => {
                let mut reader = Reader::new(props);
                let (Ok(props), Ok(dictionary)) = (reader.u8(), reader.u32_le()) else { return Err(wrong) };
                Link::Packed(Coding::Lzma { props, dictionary, size })
            }
            LZMA2 => {
                let bits = u32::from(props.first().copied().unwrap_or(u8::MAX));
                // 7-Zip: the lowest bit is the mantissa, 2 or 3, of a power of two; 40 is the whole of 4 GiB.
                let dictionary = match bits {
                    0..40 => (2 | bits & 1).checked_shl((bits >> 1).saturating_add(11)).unwrap_or(u32::MAX),
                    40 => u32::MAX,
                    _ => return Err(wrong),
                };
                Link::Packed(Coding::Lzma2 { dictionary })
            }
            DEFLATE => Link::Codec(Codec::Deflate),
            DEFLATE64 => Link::Codec(Codec::Deflate64),
            BZIP2 => Link::Codec(Codec::Bzip2),
            ZSTD => Link::Codec(Codec::Zstd),
            3 => {
                Link::Filter(FilterConfig::new_delta(u32::from(props.first().copied().unwrap_or(0)).saturating_add(1)))
            }
            4 | 0x0303_0103 => Link::Filter(FilterConfig::new_bcj_x86(start()?)),
            5 | 0x0303_0205 => Link::Filter(FilterConfig::new_bcj_ppc(start()?)),
            6 | 0x0303_0401 => Link::Filter(FilterConfig::new_bcj_ia64(start()?)),
            7 | 0x0303_0501 => Link::Filter(FilterConfig::new_bcj_arm(start()?)),
            8 | 0x0303_0701 => Link::Filter(FilterConfig::new_bcj_arm_thumb(start()?)),
            9 | 0x0303_0805 => Link::Filter(FilterConfig::new_bcj_sparc(start()?)),
            10 => Link::Filter(FilterConfig::new_bcj_arm64(start()?)),
            11 => Link::Filter(FilterConfig::new_bcj_risc_v(start()?)),
            _ => return Err(wrong),
        })
    }
}
